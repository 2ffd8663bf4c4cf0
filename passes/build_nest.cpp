#include "passes/build_nest.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "ir/tile_builder.h"
#include "support/check.h"

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::BufferId;
using ir::IndexId;
using ir::IndexKind;
using ir::Kernel;
using ir::Opcode;
using ir::TensorId;
using ir::TensorOp;
using ir::TensorOpId;
using ir::TileBuilder;
using ir::TileModule;
using ir::TileValueId;
using ir::ValueId;

// A place in the nest where values are computed: for every axis of the group that is bound there its
// position, and what is known to be computed already. A child context sees what its parents hold.
struct Context {
  TileBuilder* builder = nullptr;
  Context* parent = nullptr;
  std::map<AxisId, IndexId> positions;
  // Per loop dimension: its position, absent where it is not bound here.
  std::map<uint32_t, IndexId> dim_positions;
  // The bool tile that is true inside the domain, for dimensions that a tile may overrun.
  std::map<uint32_t, TileValueId> masks;
  std::map<IndexId, TileValueId> index_values;
  std::map<std::pair<ElementType, uint64_t>, TileValueId> constants;
  std::map<std::pair<uint32_t, uint32_t>, TileValueId> body_values;  // (op, value)
  std::map<TensorId, TileValueId> tensors;
};

class Nest {
 public:
  Nest(const Kernel& kernel, const ir::Group& group, const Schedule& schedule, std::string name)
      : kernel_(kernel),
        group_(group),
        schedule_(schedule),
        module_(ir::make_tile_module(kernel, std::move(name))) {}

  TileModule build() {
    for (TensorOpId id : group_.ops)
      for (const ir::OpOutput& output : kernel_.ops[id].outputs) producers_[output.tensor] = id;
    find_external();
    build_main_launch();
    if (schedule_.split > 1) build_merge_launch();
    return std::move(module_);
  }

 private:
  // Tensors of the group that others read or that are results; they are stored.
  void find_external() {
    std::set<TensorOpId> inside(group_.ops.begin(), group_.ops.end());
    for (uint32_t i = 0; i < kernel_.ops.size(); ++i) {
      if (inside.contains(TensorOpId(i))) continue;
      for (const ir::Instruction& read : kernel_.ops[TensorOpId(i)].body)
        if (read.op == Opcode::kRead && producers_.contains(read.tensor)) external_.insert(read.tensor);
    }
    for (auto [tensor, op] : producers_)
      if (kernel_.tensors[tensor].role == ir::Tensor::Role::kResult) external_.insert(tensor);
  }

  IndexId dim_extent(const LoopDim& dim) {
    IndexId extent = module_.index.constant(1);
    for (AxisId axis : dim.axes) extent = module_.index.mul(extent, kernel_.axes[axis].extent);
    return extent;
  }

  std::string dim_name(const LoopDim& dim) const {
    std::string name;
    for (AxisId axis : dim.axes) name += (name.empty() ? "" : "_") + kernel_.axes[axis].name;
    return name.empty() ? "one" : name;
  }

  // Gives the axes of a dimension their positions, from the flattened one.
  void bind(Context& context, uint32_t d, IndexId position) {
    const LoopDim& dim = schedule_.dims[d];
    context.dim_positions[d] = position;
    IndexId rest = position;
    for (size_t i = dim.axes.size(); i-- > 0;) {
      IndexId extent = kernel_.axes[dim.axes[i]].extent;
      context.positions[dim.axes[i]] = i == 0 ? rest : module_.index.floor_mod(rest, extent);
      if (i > 0) rest = module_.index.floor_div(rest, extent);
    }
  }

  // Whether a tile of the dimension may reach beyond its extent.
  bool overruns(uint32_t d) {
    const LoopDim& dim = schedule_.dims[d];
    int64_t tile = dim.tile() * (dim.placement == Placement::kSplit ? schedule_.split : 1);
    auto extent = module_.index.as_constant(dim_extent(dim));
    if (tile == 1 && dim.placement != Placement::kFit) return false;
    return !(extent && (dim.placement == Placement::kFit ? *extent == tile : *extent % tile == 0));
  }

  ir::TileKernel& new_launch(std::string name) {
    ir::TileKernel launch;
    launch.name = std::move(name);
    launch.warps = schedule_.warps;
    launch.body = module_.regions.add({});
    module_.kernels.push_back(std::move(launch));
    return module_.kernels.back();
  }

  void build_main_launch() {
    new_launch(module_.name);
    TileBuilder builder(module_, module_.kernels.back().body);
    Context main;
    main.builder = &builder;
    std::vector<ir::Layout::Block> home;
    std::vector<AxisId> grid;
    tile_axes_.resize(schedule_.dims.size());
    for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
      const LoopDim& dim = schedule_.dims[d];
      if (dim.tile() > 1) {
        tile_axes_[d] = builder.tile_axis(dim_name(dim), dim.tile());
        home.push_back({tile_axes_[d], dim.vector, dim.lane, dim.warp, dim.repeat});
      }
      IndexId in_tile = dim.tile() > 1 ? module_.index.axis(tile_axes_[d]) : module_.index.constant(0);
      if (dim.placement == Placement::kGrid) {
        AxisId block =
            builder.grid_axis("block_" + dim_name(dim), module_.index.ceil_div(dim_extent(dim), dim.tile()));
        grid.push_back(block);
        grid_axes_[d] = block;
        bind(main, d, module_.index.add(module_.index.scale(module_.index.axis(block), dim.tile()), in_tile));
      } else if (dim.placement == Placement::kFit) {
        bind(main, d, in_tile);
      } else if (dim.placement == Placement::kSplit) {
        split_axis_ = builder.grid_axis("part", module_.index.constant(schedule_.split));
        grid.push_back(split_axis_);
      }
    }
    module_.homes.push_back(ir::Layout::blocked(home, schedule_.warps));
    module_.kernels.back().grid = std::move(grid);
    for (TensorOpId id : group_.ops) build_op(main, id);
    builder.yield({});
  }

  std::vector<uint32_t> unbound_dims(const Context& context, const TensorOp& op) const {
    std::vector<uint32_t> dims;
    for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
      if (bound(context, d)) continue;
      const std::vector<AxisId>& axes = schedule_.dims[d].axes;
      bool used = std::any_of(axes.begin(), axes.end(), [&](AxisId axis) {
        return std::find(op.parallel.begin(), op.parallel.end(), axis) != op.parallel.end() ||
               std::find(op.reduction.begin(), op.reduction.end(), axis) != op.reduction.end();
      });
      if (used) dims.push_back(d);
    }
    return dims;
  }

  static bool bound(const Context& context, uint32_t d) {
    for (const Context* c = &context; c != nullptr; c = c->parent)
      if (c->dim_positions.contains(d)) return true;
    return false;
  }

  void build_op(Context& main, TensorOpId id) {
    const TensorOp& op = kernel_.ops[id];
    main.builder->set_spans(op.spans);
    std::vector<uint32_t> serial = unbound_dims(main, op);
    if (op.op == Opcode::kReduce) {
      build_reduction(main, id, serial);
    } else if (serial.empty()) {
      for (const ir::OpOutput& output : op.outputs)
        main.tensors[output.tensor] = body_value(main, id, output.values[0]);
    }
    bool stored = std::any_of(op.outputs.begin(), op.outputs.end(),
                              [&](const ir::OpOutput& output) { return external_.contains(output.tensor); });
    if (!stored || (op.op == Opcode::kReduce && schedule_.split > 1)) return;
    if (op.op == Opcode::kReduce || serial.empty()) {
      store_outputs(main, op);
    } else {
      in_loops(main, serial, {}, [&](Context& inner, std::span<const TileValueId>) {
        for (const ir::OpOutput& output : op.outputs)
          inner.tensors[output.tensor] = body_value(inner, id, output.values[0]);
        store_outputs(inner, op);
        return std::vector<TileValueId>{};
      });
    }
  }

  void store_outputs(Context& context, const TensorOp& op) {
    for (const ir::OpOutput& output : op.outputs) {
      if (!external_.contains(output.tensor)) continue;
      std::vector<IndexId> subscripts;
      for (AxisId axis : op.parallel) subscripts.push_back(position(context, axis));
      TileValueId value = find_tensor(context, output.tensor);
      context.builder->store(output.tensor, std::move(subscripts), value, domain_mask(context, op.parallel));
    }
  }

  // Runs `body` inside loops over `dims`, carrying `initial`.
  using InLoops = std::function<std::vector<TileValueId>(Context&, std::span<const TileValueId>)>;
  std::vector<TileValueId> in_loops(Context& outer, std::span<const uint32_t> dims,
                                    std::span<const TileValueId> initial, const InLoops& body) {
    if (dims.empty()) return body(outer, initial);
    uint32_t d = dims.front();
    const LoopDim& dim = schedule_.dims[d];
    bool split = dim.placement == Placement::kSplit;
    int64_t step = dim.tile() * (split ? schedule_.split : 1);
    AxisId counter =
        outer.builder->loop_axis("loop_" + dim_name(dim), module_.index.ceil_div(dim_extent(dim), step));
    return outer.builder->loop(
        counter, initial, [&](TileBuilder& builder, std::span<const TileValueId> carried) {
          Context inner;
          inner.builder = &builder;
          inner.parent = &outer;
          IndexId tile = module_.index.axis(counter);
          if (split)
            tile = module_.index.add(module_.index.scale(tile, schedule_.split),
                                     module_.index.axis(split_axis_));
          IndexId in_tile = dim.tile() > 1 ? module_.index.axis(tile_axes_[d]) : module_.index.constant(0);
          bind(inner, d, module_.index.add(module_.index.scale(tile, dim.tile()), in_tile));
          return in_loops(inner, dims.subspan(1), carried, body);
        });
  }

  void build_reduction(Context& main, TensorOpId id, const std::vector<uint32_t>& serial) {
    const TensorOp& op = kernel_.ops[id];
    for (const Schedule::Contraction& contraction : schedule_.contractions) {
      if (contraction.op != id) continue;
      build_contraction(main, contraction, serial);
      return;
    }
    std::vector<AxisId> reduced = reduced_tile_axes(op);
    std::vector<TileValueId> state;
    if (serial.empty()) {
      state = masked_lifts(main, id);
    } else {
      std::vector<TileValueId> initial = identities(main, op);
      state = in_loops(main, serial, initial, [&](Context& inner, std::span<const TileValueId> carried) {
        return merged(inner, op, carried, masked_lifts(inner, id));
      });
    }
    size_t next = 0;
    for (const ir::OpOutput& output : op.outputs) {
      size_t slots = output.monoid->slots();
      std::span<const TileValueId> own(state.data() + next, slots);
      next += slots;
      std::vector<TileValueId> result(own.begin(), own.end());
      if (!reduced.empty()) result = main.builder->reduce(*output.monoid, own, reduced);
      if (schedule_.split > 1) {
        store_partials(main, op, output, result);
      } else {
        main.tensors[output.tensor] = project(main, *output.monoid, result);
      }
    }
  }

  std::vector<AxisId> reduced_tile_axes(const TensorOp& op) const {
    std::vector<AxisId> axes;
    for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
      if (!tile_axes_[d].valid()) continue;
      const std::vector<AxisId>& dim = schedule_.dims[d].axes;
      if (std::find(op.reduction.begin(), op.reduction.end(), dim.front()) != op.reduction.end())
        axes.push_back(tile_axes_[d]);
    }
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  TileValueId project(Context& context, const ir::Monoid& monoid, std::span<const TileValueId> state) {
    ValueId wanted[] = {monoid.projected};
    return context.builder->inline_body(monoid.project, state, wanted)[0];
  }

  // The identity of each slot of each result, as tiles over all tile axes of the operation, so that each
  // thread accumulates its own positions.
  std::vector<TileValueId> identities(Context& context, const TensorOp& op) {
    std::vector<AxisId> axes = reduced_tile_axes(op);
    for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
      if (!tile_axes_[d].valid()) continue;
      if (std::find(op.parallel.begin(), op.parallel.end(), schedule_.dims[d].axes.front()) !=
          op.parallel.end())
        axes.push_back(tile_axes_[d]);
    }
    std::sort(axes.begin(), axes.end());
    std::vector<TileValueId> values;
    for (const ir::OpOutput& output : op.outputs)
      for (const ir::Constant& identity : output.monoid->identity)
        values.push_back(splat(context, identity, axes));
    return values;
  }

  TileValueId splat(Context& context, const ir::Constant& constant, std::vector<AxisId> axes) {
    ir::TileOp op;
    op.op = Opcode::kConst;
    op.bits = constant.bits;
    return context.builder->result(context.builder->append(std::move(op)), constant.type, std::move(axes));
  }

  std::vector<TileValueId> merged(Context& context, const TensorOp& op, std::span<const TileValueId> left,
                                  const std::vector<TileValueId>& right) {
    std::vector<TileValueId> result;
    size_t next = 0;
    for (const ir::OpOutput& output : op.outputs) {
      size_t slots = output.monoid->slots();
      std::vector<TileValueId> arguments(left.begin() + next, left.begin() + next + slots);
      arguments.insert(arguments.end(), right.begin() + next, right.begin() + next + slots);
      auto values = context.builder->inline_body(output.monoid->merge, arguments, output.monoid->merged);
      result.insert(result.end(), values.begin(), values.end());
      next += slots;
    }
    return result;
  }

  // The lifted states of all results, the identity where the domain or the predicate leaves elements out.
  std::vector<TileValueId> masked_lifts(Context& context, TensorOpId id) {
    const TensorOp& op = kernel_.ops[id];
    TileValueId mask = domain_mask(context, op.reduction);
    if (op.predicate.valid()) mask = both(context, mask, body_value(context, id, op.predicate));
    std::vector<TileValueId> lifts;
    for (const ir::OpOutput& output : op.outputs) {
      for (size_t slot = 0; slot < output.values.size(); ++slot) {
        TileValueId value = body_value(context, id, output.values[slot]);
        const ir::Constant& identity = output.monoid->identity[slot];
        if (mask.valid()) {
          value = context.builder->elementwise(Opcode::kSelect, identity.type,
                                               {mask, value, constant(context, identity)});
        }
        lifts.push_back(value);
      }
    }
    return lifts;
  }

  // ---- Contractions on CUDA cores ----

  void build_contraction(Context& main, const Schedule::Contraction& contraction,
                         const std::vector<uint32_t>& serial) {
    const TensorOp& op = kernel_.ops[contraction.op];
    const ir::OpOutput& output = op.outputs[0];
    TENON_CHECK(serial.size() == 1, "a contraction has one serial dimension");
    uint32_t k = serial[0];
    std::vector<AxisId> accumulated;
    for (uint32_t d = 0; d < schedule_.dims.size(); ++d)
      if (d != k && tile_axes_[d].valid()) accumulated.push_back(tile_axes_[d]);
    std::sort(accumulated.begin(), accumulated.end());
    TileValueId zero = splat(main, output.monoid->identity[0], accumulated);
    std::vector<TileValueId> initial{zero};
    auto result = in_loops(main, serial, initial, [&](Context& inner, std::span<const TileValueId> carried) {
      TileBuilder& builder = *inner.builder;
      std::pair<BufferId, const StagedRead*> a = stage(inner, staged_read(contraction.op, contraction.a));
      std::pair<BufferId, const StagedRead*> b = stage(inner, staged_read(contraction.op, contraction.b));
      AxisId step = builder.loop_axis("step_" + dim_name(schedule_.dims[k]),
                                      module_.index.constant(schedule_.dims[k].tile()));
      auto sum =
          builder.loop(step, carried, [&](TileBuilder& unrolled, std::span<const TileValueId> accumulator) {
            TileValueId fragment_a = load_staged(unrolled, a, k, step);
            TileValueId fragment_b = load_staged(unrolled, b, k, step);
            return std::vector<TileValueId>{unrolled.mma(fragment_a, fragment_b, accumulator[0])};
          });
      module_.ops[module_.values[sum[0]].definition].unroll = true;
      return sum;
    });
    main.tensors[output.tensor] = project(main, *output.monoid, result);
  }

  const StagedRead& staged_read(TensorOpId op, ValueId value) const {
    for (const StagedRead& staged : schedule_.staged)
      if (staged.op == op && staged.value == value) return staged;
    TENON_UNREACHABLE("the schedule does not say how an operand is staged");
  }

  // Copies the tile of a body value to a new shared buffer, by the copy's own thread mapping; elements
  // outside the domain are 0.
  std::pair<BufferId, const StagedRead*> stage(Context& context, const StagedRead& staged) {
    TensorOpId id = staged.op;
    ValueId value = staged.value;
    TileBuilder& builder = *context.builder;
    Context copy;
    copy.builder = &builder;
    copy.parent = nullptr;
    std::vector<ir::Layout::Block> blocks;
    std::map<uint32_t, IndexId> in_tile;
    for (const StagedRead::Factor& factor : staged.factors) {
      ir::Layout::Block block{{}, factor.vector, factor.lane, factor.warp, factor.repeat};
      block.axis = builder.tile_axis("copy_" + dim_name(schedule_.dims[factor.dim]), block.extent());
      blocks.push_back(block);
      in_tile[factor.dim] = module_.index.axis(block.axis);
    }
    module_.homes.push_back(ir::Layout::blocked(blocks, schedule_.warps));
    for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
      auto position = dim_position(context, d);
      if (!position) continue;
      // The main mapping's position with the copy's place in the tile instead of its own.
      IndexId moved = module_.index.substitute(*position, [&](IndexId atom) {
        const ir::IndexNode& node = module_.index[atom];
        bool own =
            node.kind == IndexKind::kAxis && tile_axes_[d].valid() && AxisId(node.reference) == tile_axes_[d];
        return own && in_tile.contains(d) ? in_tile[d] : IndexId();
      });
      bind(copy, d, moved);
    }
    in_copy_ = true;
    TileValueId tile = body_value(copy, id, value);
    in_copy_ = false;
    const TensorOp& op = kernel_.ops[id];
    std::vector<AxisId> domain;
    for (const StagedRead::Factor& factor : staged.factors)
      for (AxisId axis : schedule_.dims[factor.dim].axes) domain.push_back(axis);
    ElementType element = op.body.type(value);
    if (TileValueId mask = domain_mask(copy, domain); mask.valid()) {
      tile = builder.elementwise(Opcode::kSelect, element, {mask, tile, constant(copy, {element, 0})});
    }
    ir::Buffer buffer;
    buffer.name = "shared_" + std::to_string(module_.buffers.size());
    buffer.element = element;
    std::vector<IndexId> subscripts;
    for (uint32_t d : staged.buffer_order) {
      buffer.shape.push_back(schedule_.dims[d].tile());
      subscripts.push_back(in_tile[d]);
    }
    buffer.strides.assign(buffer.shape.size(), 1);
    for (size_t i = buffer.shape.size() - 1; i-- > 0;)
      buffer.strides[i] = buffer.strides[i + 1] * buffer.shape[i + 1];
    BufferId id_of_buffer = module_.buffers.add(std::move(buffer));
    builder.store(id_of_buffer, std::move(subscripts), tile);
    return {id_of_buffer, &staged};
  }

  // A read of a map that runs across the main mapping: copied to shared memory, taken out in the main
  // mapping.
  TileValueId build_staged_read(Context& context, const StagedRead& staged) {
    BufferId buffer = stage(context, staged).first;
    std::vector<IndexId> subscripts;
    for (uint32_t d : staged.buffer_order) subscripts.push_back(module_.index.axis(tile_axes_[d]));
    return context.builder->load(buffer, std::move(subscripts), module_.buffers[buffer].element);
  }

  // The fragment of a staged tile at one step of the serial dimension, in the main mapping.
  TileValueId load_staged(TileBuilder& builder, std::pair<BufferId, const StagedRead*> staged,
                          uint32_t serial, AxisId step) {
    std::vector<IndexId> subscripts;
    for (uint32_t d : staged.second->buffer_order)
      subscripts.push_back(module_.index.axis(d == serial ? step : tile_axes_[d]));
    return builder.load(staged.first, std::move(subscripts), module_.buffers[staged.first].element);
  }

  // ---- Splitting ----

  // Workspace of one slot: the parallel axes of the operation, then the parts.
  void store_partials(Context& context, const TensorOp& op, const ir::OpOutput& output,
                      std::span<const TileValueId> state) {
    for (size_t slot = 0; slot < state.size(); ++slot) {
      ir::Tensor partial;
      partial.name = kernel_.tensors[output.tensor].name + ".part" + std::to_string(slot);
      partial.element = output.monoid->identity[slot].type;
      std::vector<IndexId> subscripts;
      for (AxisId axis : op.parallel) {
        partial.shape.push_back(kernel_.axes[axis].extent);
        subscripts.push_back(position(context, axis));
      }
      partial.shape.push_back(module_.index.constant(schedule_.split));
      subscripts.push_back(module_.index.axis(split_axis_));
      TensorId tensor = module_.tensors.add(std::move(partial));
      partials_[output.tensor].push_back(tensor);
      context.builder->store(tensor, std::move(subscripts), state[slot], domain_mask(context, op.parallel));
    }
  }

  // The second launch: a block for each tile of the parallel axes merges the parts and runs the maps that
  // follow.
  void build_merge_launch() {
    std::vector<AxisId> first_tile_axes =
        std::exchange(tile_axes_, std::vector<AxisId>(schedule_.dims.size()));
    new_launch(module_.name + ".merge");
    TileBuilder builder(module_, module_.kernels.back().body);
    Context main;
    main.builder = &builder;
    std::vector<AxisId> grid;
    int32_t lanes = std::min(32, schedule_.split);
    int32_t warps = std::min(schedule_.warps, std::max(1, schedule_.split / 32));
    AxisId parts = builder.tile_axis("parts", schedule_.split);
    ir::Layout::Block block{parts, 1, lanes, warps, schedule_.split / (lanes * warps)};
    module_.homes.push_back(ir::Layout::blocked(std::span(&block, 1), schedule_.warps));
    for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
      const LoopDim& dim = schedule_.dims[d];
      if (dim.placement == Placement::kSplit) continue;
      AxisId axis = builder.grid_axis("block_" + dim_name(dim), dim_extent(dim));
      grid.push_back(axis);
      bind(main, d, module_.index.axis(axis));
    }
    module_.kernels.back().grid = std::move(grid);
    for (TensorOpId id : group_.ops) {
      const TensorOp& op = kernel_.ops[id];
      builder.set_spans(op.spans);
      for (const ir::OpOutput& output : op.outputs) {
        if (op.op == Opcode::kReduce) {
          std::vector<TileValueId> state;
          for (TensorId partial : partials_[output.tensor]) {
            std::vector<IndexId> subscripts;
            for (AxisId axis : op.parallel) subscripts.push_back(position(main, axis));
            subscripts.push_back(module_.index.axis(parts));
            state.push_back(builder.load(partial, std::move(subscripts)));
          }
          state = builder.reduce(*output.monoid, state, {parts});
          main.tensors[output.tensor] = project(main, *output.monoid, state);
        } else {
          main.tensors[output.tensor] = body_value(main, id, output.values[0]);
        }
      }
      store_outputs(main, op);
    }
    builder.yield({});
  }

  // ---- Values ----

  std::optional<IndexId> dim_position(const Context& context, uint32_t d) const {
    for (const Context* c = &context; c != nullptr; c = c->parent)
      if (auto at = c->dim_positions.find(d); at != c->dim_positions.end()) return at->second;
    return std::nullopt;
  }

  IndexId position(const Context& context, AxisId axis) const {
    for (const Context* c = &context; c != nullptr; c = c->parent)
      if (auto at = c->positions.find(axis); at != c->positions.end()) return at->second;
    TENON_UNREACHABLE("an axis has no position here");
  }

  TileValueId find_tensor(const Context& context, TensorId tensor) const {
    for (const Context* c = &context; c != nullptr; c = c->parent)
      if (auto at = c->tensors.find(tensor); at != c->tensors.end()) return at->second;
    return {};
  }

  // The outermost context in which all of an expression's axes have positions.
  Context& hoisted(Context& context, const std::vector<IndexId>& indices) {
    Context* best = &context;
    for (Context* c = context.parent; c != nullptr; c = c->parent) {
      bool all = true;
      for (IndexId index : indices) {
        kernel_.index.for_each_atom(index, [&](IndexId atom) {
          const ir::IndexNode& node = kernel_.index[atom];
          if (node.kind == IndexKind::kValue) all = false;
          if (node.kind == IndexKind::kAxis) {
            bool found = false;
            for (const Context* up = c; up != nullptr; up = up->parent)
              found = found || up->positions.contains(AxisId(node.reference));
            all = all && found;
          }
        });
      }
      if (!all) break;
      best = c;
    }
    return *best;
  }

  TileValueId constant(Context& context, const ir::Constant& constant) {
    auto key = std::pair(constant.type, constant.bits);
    if (auto at = context.constants.find(key); at != context.constants.end()) return at->second;
    return context.constants[key] = context.builder->constant(constant);
  }

  TileValueId index_value(Context& context, IndexId index) {
    if (auto at = context.index_values.find(index); at != context.index_values.end()) return at->second;
    return context.index_values[index] = context.builder->index_value(index);
  }

  TileValueId both(Context& context, TileValueId a, TileValueId b) {
    if (!a.valid()) return b;
    if (!b.valid()) return a;
    return context.builder->elementwise(Opcode::kAnd, ElementType::kBool, {a, b});
  }

  // True inside the domain of the dimensions that hold `axes`; invalid where no tile overruns them.
  TileValueId domain_mask(Context& context, const std::vector<AxisId>& axes) {
    TileValueId mask;
    for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
      const std::vector<AxisId>& own = schedule_.dims[d].axes;
      bool used = std::any_of(own.begin(), own.end(), [&](AxisId axis) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
      });
      if (!used || !dim_position(context, d) || !overruns(d)) continue;
      mask = both(context, mask, dim_mask(context, d));
    }
    return mask;
  }

  TileValueId dim_mask(Context& context, uint32_t d) {
    Context* owner = &context;
    while (!owner->dim_positions.contains(d)) owner = owner->parent;
    if (auto at = owner->masks.find(d); at != owner->masks.end()) return at->second;
    TileValueId position = index_value(*owner, owner->dim_positions[d]);
    TileValueId extent = index_value(*owner, dim_extent(schedule_.dims[d]));
    return owner->masks[d] = owner->builder->elementwise(Opcode::kLt, ElementType::kBool, {position, extent});
  }

  // A body's index expression at the context's positions, its values replaced by tiles.
  IndexId placed(Context& context, TensorOpId id, IndexId index) {
    return module_.index.substitute(index, [&](IndexId atom) {
      const ir::IndexNode node = module_.index[atom];
      if (node.kind == IndexKind::kAxis) {
        AxisId axis(node.reference);
        return module_.axes[axis].kind == ir::TileAxis::Kind::kDomain ? position(context, axis) : IndexId();
      }
      if (node.kind == IndexKind::kValue) {
        return module_.index.value(ValueId(body_value(context, id, ValueId(node.reference)).index()));
      }
      return IndexId();
    });
  }

  TileValueId body_value(Context& context, TensorOpId id, ValueId value) {
    auto key = std::pair(id.index(), value.index());
    for (const Context* c = &context; c != nullptr; c = c->parent)
      if (auto at = c->body_values.find(key); at != c->body_values.end()) return at->second;
    // Operands come before uses, so the needed part of the body is built in order, without recursion.
    const ir::Body& body = kernel_.ops[id].body;
    std::vector<bool> needed(value.index() + 1, false);
    needed[value.index()] = true;
    for (uint32_t i = value.index() + 1; i-- > 0;) {
      if (!needed[i] || known(context, id, ValueId(i))) continue;
      const ir::Instruction& instruction = body[ValueId(i)];
      for (unsigned k = 0; k < instruction.operand_count(); ++k)
        needed[instruction.operands[k].index()] = true;
      auto mark = [&](IndexId index) {
        kernel_.index.for_each_atom(index, [&](IndexId atom) {
          const ir::IndexNode& node = kernel_.index[atom];
          if (node.kind == IndexKind::kValue) needed[node.reference] = true;
        });
      };
      if (instruction.index.valid()) mark(instruction.index);
      for (IndexId subscript : instruction.subscripts) mark(subscript);
    }
    TileValueId result;
    for (uint32_t i = 0; i <= value.index(); ++i) {
      if (!needed[i]) continue;
      if (auto have = known(context, id, ValueId(i))) {
        result = *have;
        continue;
      }
      result = build_instruction(context, id, ValueId(i));
      context.body_values[{id.index(), i}] = result;
    }
    return result;
  }

  std::optional<TileValueId> known(const Context& context, TensorOpId id, ValueId value) const {
    for (const Context* c = &context; c != nullptr; c = c->parent)
      if (auto at = c->body_values.find({id.index(), value.index()}); at != c->body_values.end())
        return at->second;
    return std::nullopt;
  }

  TileValueId build_instruction(Context& context, TensorOpId id, ValueId value) {
    const ir::Instruction& instruction = kernel_.ops[id].body[value];
    switch (instruction.op) {
      case Opcode::kConst:
        return constant(context, {instruction.type, instruction.bits});
      case Opcode::kIndex:
        return index_value(hoisted(context, {instruction.index}), placed(context, id, instruction.index));
      case Opcode::kRead:
        return build_read(context, id, value);
      default:
        break;
    }
    std::vector<TileValueId> operands;
    for (unsigned i = 0; i < instruction.operand_count(); ++i)
      operands.push_back(body_value(context, id, instruction.operands[i]));
    return context.builder->elementwise(instruction.op, instruction.type, operands, instruction.approx);
  }

  TileValueId build_read(Context& context, TensorOpId id, ValueId value) {
    const ir::Instruction& read = kernel_.ops[id].body[value];
    if (!in_copy_) {
      for (const StagedRead& staged : schedule_.staged)
        if (staged.op == id && staged.value == value) return build_staged_read(context, staged);
    }
    if (auto producer = producers_.find(read.tensor); producer != producers_.end()) {
      if (TileValueId value = find_tensor(context, read.tensor); value.valid()) return value;
      const TensorOp& op = kernel_.ops[producer->second];
      TENON_CHECK(op.op == Opcode::kMap, "a reduction is read before it is computed");
      for (const ir::OpOutput& output : op.outputs)
        if (output.tensor == read.tensor)
          return context.tensors[read.tensor] = body_value(context, producer->second, output.values[0]);
    }
    bool predicated = read.operands[0].valid();
    Context& where = predicated ? context : hoisted(context, read.subscripts);
    std::vector<IndexId> subscripts;
    std::vector<AxisId> axes;
    for (IndexId subscript : read.subscripts) {
      subscripts.push_back(placed(where, id, subscript));
      collect_axes(id, subscript, axes);
    }
    TileValueId mask = domain_mask(where, axes);
    TileValueId otherwise;
    if (predicated) {
      mask = both(where, mask, body_value(where, id, read.operands[0]));
      otherwise = body_value(where, id, read.operands[1]);
    } else if (mask.valid()) {
      otherwise = constant(where, {read.type, 0});
    }
    return where.builder->load(read.tensor, std::move(subscripts), mask, otherwise);
  }

  // The domain axes that a subscript depends on, through body values too.
  void collect_axes(TensorOpId id, IndexId index, std::vector<AxisId>& axes) const {
    kernel_.index.for_each_atom(index, [&](IndexId atom) {
      const ir::IndexNode& node = kernel_.index[atom];
      if (node.kind == IndexKind::kAxis) axes.push_back(AxisId(node.reference));
      if (node.kind == IndexKind::kValue) collect_value_axes(id, ValueId(node.reference), axes);
    });
  }

  void collect_value_axes(TensorOpId id, ValueId value, std::vector<AxisId>& axes) const {
    const ir::Body& body = kernel_.ops[id].body;
    std::vector<bool> needed(value.index() + 1, false);
    needed[value.index()] = true;
    for (uint32_t i = value.index() + 1; i-- > 0;) {
      if (!needed[i]) continue;
      const ir::Instruction& instruction = body[ValueId(i)];
      for (unsigned k = 0; k < instruction.operand_count(); ++k)
        needed[instruction.operands[k].index()] = true;
      auto visit = [&](IndexId index) {
        kernel_.index.for_each_atom(index, [&](IndexId atom) {
          const ir::IndexNode& node = kernel_.index[atom];
          if (node.kind == IndexKind::kAxis) axes.push_back(AxisId(node.reference));
          if (node.kind == IndexKind::kValue) needed[node.reference] = true;
        });
      };
      if (instruction.index.valid()) visit(instruction.index);
      for (IndexId subscript : instruction.subscripts) visit(subscript);
    }
  }

  const Kernel& kernel_;
  const ir::Group& group_;
  const Schedule& schedule_;
  TileModule module_;
  std::map<TensorId, TensorOpId> producers_;
  std::set<TensorId> external_;
  std::vector<AxisId> tile_axes_;
  std::map<uint32_t, AxisId> grid_axes_;
  AxisId split_axis_;
  // Inside the copy of a staged value, which is then read itself.
  bool in_copy_ = false;
  std::map<TensorId, std::vector<TensorId>> partials_;
};

}  // namespace

TileModule build_nest(const Kernel& kernel, const ir::Group& group, const Schedule& schedule,
                      std::string name) {
  return Nest(kernel, group, schedule, std::move(name)).build();
}

}  // namespace tenon::passes
