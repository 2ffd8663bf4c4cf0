#include "ir/tile_verifier_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <span>
#include <utility>

#include "ir/tensor.h"
#include "ir/type_rules.h"
#include "ir/verifier_body.h"

namespace tenon::ir {
namespace {

using Axes = std::span<const AxisId>;

bool is_power(int64_t n) { return n > 0 && std::has_single_bit(static_cast<uint64_t>(n)); }

bool contains(Axes axes, AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

bool within(Axes part, Axes all) {
  return std::all_of(part.begin(), part.end(), [&](AxisId axis) { return contains(all, axis); });
}

class TileOpVerifier {
 public:
  TileOpVerifier(const TileOpContext& context, const TileOp& op)
      : context_(context), module_(context.module), op_(op) {}

  void verify() {
    if (row(op_.op).stage == Stage::kTensor || op_.op == Opcode::kRead || op_.op == Opcode::kArg)
      return report("is no operation on tiles");
    for (TileValueId operand : op_.operands) {
      if (!operand.valid() || operand.index() >= module_.values.size())
        return report("has an operand that there is not");
      if (!context_.visible(operand))
        return report(fmt::format("uses %{}, which is not defined before it", operand.index()));
    }
    for (TileValueId result : op_.results) {
      if (!result.valid() || result.index() >= module_.values.size())
        return report("has a result that there is not");
      if (!type_is_sound(module_.values[result].type, result)) return;
    }
    unused_fields();
    if (!counts()) return;
    operation();
    vector_width();
  }

 private:
  void report(std::string message) { context_.report(std::move(message)); }

  const TileType& type(TileValueId id) const { return module_.values[id].type; }
  const TileType& operand(size_t i) const { return type(op_.operands[i]); }
  const TileType& result(size_t i) const { return type(op_.results[i]); }
  const std::string& axis_name(AxisId axis) const { return module_.axes[axis].name; }

  bool type_is_sound(const TileType& type, TileValueId id) {
    for (size_t i = 0; i < type.axes.size(); ++i) {
      AxisId axis = type.axes[i];
      if (!axis.valid() || axis.index() >= module_.axes.size() ||
          module_.axes[axis].kind != TileAxis::Kind::kTile)
        return report(fmt::format("%{} has an axis that is no tile axis", id.index())), false;
      if (i > 0 && axis <= type.axes[i - 1])
        return report(fmt::format("the axes of %{} do not ascend", id.index())), false;
    }
    if (!type.layout) return true;
    std::vector<AxisId> axes = type.layout->axes();
    std::sort(axes.begin(), axes.end());
    if (AxisList(axes) != type.axes)
      return report(fmt::format("the layout of %{} is not over its axes", id.index())), false;
    std::string error = layout_error(module_, *type.layout, context_.kernel.warps);
    if (!error.empty()) report(fmt::format("the layout of %{} {}", id.index(), error));
    return error.empty();
  }

  void unused_fields() {
    bool copy = op_.op == Opcode::kCopyAsync;
    bool access = op_.op == Opcode::kLoad || op_.op == Opcode::kStore || copy;
    if (op_.op != Opcode::kConst && op_.op != Opcode::kCopyWait && op_.bits != 0)
      report("has bits of its own");
    if (op_.op != Opcode::kIndex && op_.index.valid()) report("has an index expression of its own");
    if (!access && (op_.tensor.valid() || op_.buffer.valid() || !op_.subscripts.empty()))
      report("has an access of its own");
    if (!copy && !op_.target_subscripts.empty()) report("has an access of its own");
    if (op_.op != Opcode::kStore && op_.async) report("is asynchronous and no store");
    if (op_.op != Opcode::kTileReduce && (op_.monoid || !op_.reduced.empty()))
      report("has a monoid of its own");
    bool loop = op_.op == Opcode::kLoop;
    if (!loop && (op_.axis.valid() || op_.unroll || op_.stages != 0 || !op_.regions.empty()))
      report("has a loop of its own");
    if (op_.approx && row(op_.op).stage != Stage::kBody) report("has no approximate form");
  }

  // Numbers of operands and results.
  bool counts() {
    int arity = row(op_.op).arity;
    if (arity >= 0 && op_.operands.size() != static_cast<size_t>(arity))
      return report(fmt::format("takes {} operands, not {}", arity, op_.operands.size())), false;
    bool gives_nothing = op_.op == Opcode::kStore || op_.op == Opcode::kCopyAsync ||
                         op_.op == Opcode::kYield || row(op_.op).rule == TypeRule::kNone;
    size_t results = gives_nothing ? 0 : 1;
    if (op_.op == Opcode::kLoop) results = op_.operands.size();
    if (op_.op == Opcode::kTileReduce) results = op_.monoid ? op_.monoid->slots() : 1;
    if (op_.results.size() != results)
      return report(fmt::format("gives {} results, not {}", op_.results.size(), results)), false;
    return true;
  }

  void operation() {
    switch (op_.op) {
      case Opcode::kConst:
        return constant();
      case Opcode::kIndex:
        return index();
      case Opcode::kLoad:
        return load();
      case Opcode::kStore:
        return store();
      case Opcode::kTileReduce:
        return reduce();
      case Opcode::kMma:
        return mma();
      case Opcode::kLoop:
        return loop();
      case Opcode::kCopyAsync:
        return copy();
      case Opcode::kYield:
      case Opcode::kBarrier:
      case Opcode::kCopyCommit:
      case Opcode::kCopyWait:
        return;
      default:
        return elementwise();
    }
  }

  // ---- axes and layouts ----

  // Adds the tile axes that an expression mentions; false where the expression is not sound.
  bool expression(IndexId id, std::set<AxisId>& axes) {
    auto has_axis = [&](AxisId axis) {
      return module_.axes[axis].kind == TileAxis::Kind::kTile || context_.bound(axis);
    };
    std::string error = tile_index_error(module_, id, has_axis, context_.visible);
    if (!error.empty()) return report(error), false;
    module_.index.for_each_atom(id, [&](IndexId atom) {
      const IndexNode& node = module_.index[atom];
      if (node.kind == IndexKind::kAxis) {
        if (module_.axes[AxisId(node.reference)].kind == TileAxis::Kind::kTile)
          axes.insert(AxisId(node.reference));
      } else if (node.kind == IndexKind::kValue) {
        const AxisList& own = type(TileValueId(node.reference)).axes;
        axes.insert(own.begin(), own.end());
      }
    });
    return true;
  }

  void add_operand_axes(std::set<AxisId>& axes) const {
    for (TileValueId id : op_.operands) axes.insert(type(id).axes.begin(), type(id).axes.end());
  }

  void result_axes(const std::set<AxisId>& axes) {
    if (result(0).axes != AxisList(axes.begin(), axes.end()))
      report("the result has not the axes that its operands have");
  }

  // The operand meets a tile of type `at`.
  void meets(size_t i, const TileType& at) {
    const TileType& own = operand(i);
    if (own.axes.empty() || !own.layout || !at.layout || !within(own.axes, at.axes)) return;
    bool agrees = own.axes == at.axes ? own.layout == at.layout : *own.layout == at.layout->project(own.axes);
    if (!agrees) report(fmt::format("%{} is not in the layout in which it is used", op_.operands[i].index()));
  }

  // ---- operations ----

  void constant() {
    ElementType element = result(0).element;
    unsigned width = element == ElementType::kBool ? 1 : bit_width(element);
    if (width < 64 && op_.bits >> width != 0)
      report(fmt::format("has bits {:#x}, more than {} has", op_.bits, name(element)));
  }

  void index() {
    std::set<AxisId> axes;
    if (!expression(op_.index, axes)) return;
    if (result(0).element != ElementType::kIndex) report("is not of type index");
    result_axes(axes);
  }

  void elementwise() {
    std::vector<ElementType> types;
    for (TileValueId id : op_.operands) types.push_back(type(id).element);
    if (auto error = type_error(op_.op, types, result(0).element)) report(*error);
    std::set<AxisId> axes;
    add_operand_axes(axes);
    result_axes(axes);
    for (size_t i = 0; i < op_.operands.size(); ++i) meets(i, result(0));
  }

  // The element type of what is accessed, if it is sound; adds the axes of the subscripts.
  std::optional<ElementType> access(std::set<AxisId>& axes) {
    bool tensor = op_.tensor.valid();
    if (tensor == op_.buffer.valid()) return report("accesses not one tensor or buffer"), std::nullopt;
    if (tensor ? op_.tensor.index() >= module_.tensors.size() : op_.buffer.index() >= module_.buffers.size())
      return report("accesses what there is not"), std::nullopt;
    size_t rank =
        tensor ? module_.tensors[op_.tensor].shape.size() : module_.buffers[op_.buffer].shape.size();
    if (op_.subscripts.size() != rank)
      return report(fmt::format("has {} subscripts for {} dimensions", op_.subscripts.size(), rank)),
             std::nullopt;
    for (IndexId subscript : op_.subscripts)
      if (!expression(subscript, axes)) return std::nullopt;
    bool masked = op_.operands.size() > (op_.op == Opcode::kStore ? 1 : 0);
    if (!tensor && !masked) in_bounds(op_.subscripts);
    return tensor ? module_.tensors[op_.tensor].element : module_.buffers[op_.buffer].element;
  }

  void load() {
    std::set<AxisId> axes;
    auto element = access(axes);
    if (!element) return;
    if (result(0).element != *element)
      report(fmt::format("gives {} of {}", name(result(0).element), name(*element)));
    if (op_.operands.size() > 2) return report("has a mask and the value elsewhere, and no more");
    if (!op_.operands.empty()) mask(0);
    if (op_.operands.size() > 1 && operand(1).element != *element)
      report(fmt::format("has {} where it is masked, not {}", name(operand(1).element), name(*element)));
    add_operand_axes(axes);
    result_axes(axes);
    for (size_t i = 0; i < op_.operands.size(); ++i) meets(i, result(0));
  }

  void mask(size_t i) {
    if (operand(i).element != ElementType::kBool)
      report(fmt::format("has a mask of {}, not bool", name(operand(i).element)));
  }

  void store() {
    std::set<AxisId> axes;
    auto element = access(axes);
    if (!element) return;
    if (op_.operands.empty() || op_.operands.size() > 2)
      return report(fmt::format("takes a value and perhaps a mask, not {} operands", op_.operands.size()));
    if (operand(0).element != *element)
      report(fmt::format("stores {} to {}", name(operand(0).element), name(*element)));
    if (op_.operands.size() > 1) mask(1);
    for (size_t i = 0; i < op_.operands.size(); ++i)
      for (AxisId axis : operand(i).axes)
        if (!axes.contains(axis))
          return report(
              fmt::format("no subscript mentions axis {} of %{}", axis_name(axis), op_.operands[i].index()));
    const TileType& value = operand(0);
    if (op_.operands.size() > 1 && value.axes.size() == axes.size()) meets(1, value);
    if (op_.async) asynchronous();
  }

  void asynchronous() {
    if (!op_.buffer.valid()) return report("is asynchronous and does not go to a buffer");
    if (op_.operands.size() != 1) return report("is asynchronous and has a mask");
    TileOpId definition = module_.values[op_.operands[0]].definition;
    bool loads = definition.valid() && module_.ops[definition].op == Opcode::kLoad &&
                 module_.ops[definition].tensor.valid();
    if (!loads) return report("is asynchronous and stores what no load from a tensor gives");
    if (module_.ops[definition].vector != op_.vector)
      report("is asynchronous and not as wide as the load of what it stores");
    copied_bytes();
  }

  // What one instruction copies.
  void copied_bytes() {
    int64_t bytes = int64_t{op_.vector} * byte_size(module_.buffers[op_.buffer].element);
    if (bytes != 4 && bytes != 8 && bytes != 16)
      report(fmt::format("copies {} bytes at once, not 4, 8 or 16", bytes));
  }

  void copy() {
    bool known = op_.tensor.valid() && op_.tensor.index() < module_.tensors.size() && op_.buffer.valid() &&
                 op_.buffer.index() < module_.buffers.size();
    if (!known) return report("copies not from a tensor to a buffer");
    const Tensor& tensor = module_.tensors[op_.tensor];
    const Buffer& buffer = module_.buffers[op_.buffer];
    if (op_.subscripts.size() != tensor.shape.size() || op_.target_subscripts.size() != buffer.shape.size())
      return report("has not one subscript for each dimension");
    std::set<AxisId> from, to;
    for (IndexId subscript : op_.subscripts)
      if (!expression(subscript, from)) return;
    for (IndexId subscript : op_.target_subscripts)
      if (!expression(subscript, to)) return;
    if (from != to) report("reads and writes over different axes");
    if (tensor.element != buffer.element || tensor.element == ElementType::kBool)
      report(fmt::format("copies {} to {}", name(tensor.element), name(buffer.element)));
    if (op_.operands.size() > 1) return report("takes a mask and nothing else");
    if (!op_.operands.empty()) {
      mask(0);
      if (!std::includes(from.begin(), from.end(), operand(0).axes.begin(), operand(0).axes.end()))
        report("has a mask over other axes");
    }
    in_bounds(op_.target_subscripts);
    copied_bytes();
    if (op_.vector != 1) fills_registers(accessed_type(module_, op_));
  }

  void reduce() {
    if (!op_.monoid || op_.operands.empty()) return report("has no monoid or no operand");
    const Monoid& monoid = *op_.monoid;
    if (!monoid_is_sound(monoid)) return;
    if (op_.product ? op_.operands.size() != 2 : op_.operands.size() != monoid.slots())
      return report(fmt::format("takes a state of {} slots, not {}", op_.product ? 2 : monoid.slots(),
                                op_.operands.size()));
    if (op_.product && !(monoid.kind == MonoidKind::kSum && is_float(monoid.identity[0].type)))
      report("multiplies for a monoid that is no sum of floats");
    const TileType* widest = &operand(0);
    for (TileValueId id : op_.operands)
      if (type(id).axes.size() > widest->axes.size()) widest = &type(id);
    const TileType& whole = *widest;
    if (op_.reduced.empty()) report("reduces along no axis");
    if (!within(op_.reduced, whole.axes)) report("reduces along an axis that its operands have not");
    for (size_t i = 0; i < op_.operands.size(); ++i) {
      ElementType slot = monoid.identity[op_.product ? 0 : i].type;
      if (operand(i).element != slot)
        report(fmt::format("takes {} for slot {}, which is {}", name(operand(i).element), i, name(slot)));
      if (!within(operand(i).axes, whole.axes)) return report("has no operand with all axes of the others");
      meets(i, whole);
    }
    AxisList kept;
    for (AxisId axis : whole.axes)
      if (!contains(op_.reduced, axis)) kept.push_back(axis);
    for (size_t i = 0; i < monoid.slots(); ++i) {
      ElementType slot = monoid.identity[i].type;
      if (result(i).element != slot)
        report(fmt::format("gives {} for slot {}, which is {}", name(result(i).element), i, name(slot)));
      if (result(i).axes != kept) return report("a result has not the axes that are left");
      if (whole.layout && !kept.empty() && result(i).layout != whole.layout->project(kept))
        report("a result is not in the projection of its operands' layout");
    }
  }

  bool monoid_is_sound(const Monoid& monoid) {
    bool sound = monoid.slots() == slots(monoid.kind) && monoid.merged.size() == monoid.slots();
    if (!sound) return report("has a monoid with the wrong slots"), false;
    std::vector<ElementType> state;
    for (int side = 0; side < 2; ++side)
      for (const Constant& slot : monoid.identity) state.push_back(slot.type);
    Kernel nothing;
    BodyContext body{nothing, {}, {}, state, [&](ValueId value, std::string message) {
                       sound = false;
                       report(fmt::format("merging: %{} {}", value.index(), message));
                     }};
    verify_body(monoid.merge, body);
    for (size_t i = 0; i < monoid.slots() && sound; ++i) {
      ValueId merged = monoid.merged[i];
      sound = merged.valid() && merged.index() < monoid.merge.size() && monoid.merge.type(merged) == state[i];
      if (!sound) report("merging does not give a value for each slot");
    }
    return sound;
  }

  void mma() {
    const TileType& sum = result(0);
    if (operand(2).element != sum.element || operand(2).axes != sum.axes)
      report("the accumulator is not of the result's type");
    bool floats = is_float(sum.element);
    for (size_t i = 0; i < 2; ++i)
      if (is_float(operand(i).element) != floats || operand(i).element == ElementType::kBool)
        report(fmt::format("multiplies {} for a sum of {}", name(operand(i).element), name(sum.element)));
    for (size_t i = 0; i < 2; ++i)
      for (AxisId axis : operand(i).axes)
        if (!contains(sum.axes, axis) && !contains(operand(1 - i).axes, axis))
          report(fmt::format("axis {} of %{} is neither the accumulator's nor summed over", axis_name(axis),
                             op_.operands[i].index()));
    for (size_t i = 0; i < 3; ++i) meets(i, sum);
  }

  void loop() {
    bool known = op_.axis.valid() && op_.axis.index() < module_.axes.size() &&
                 module_.axes[op_.axis].kind == TileAxis::Kind::kLoop;
    if (!known) return report("has no loop axis");
    std::set<AxisId> axes;
    IndexId count = module_.axes[op_.axis].count;
    if (!expression(count, axes)) return;
    if (!axes.empty()) report("has a count for each position of a tile");
    if (op_.unroll && !module_.index.as_constant(count)) report("is unrolled and has no constant count");
    bool ring = op_.stages >= 2 && !op_.unroll;
    if (op_.stages != 0 && !ring) report(fmt::format("has {} stages", op_.stages));
    if (op_.regions.size() != 1 || op_.regions[0].index() >= module_.regions.size())
      return report("has not one region");
    const Region& region = module_.regions[op_.regions[0]];
    if (region.arguments.size() != op_.operands.size())
      return report(
          fmt::format("carries {} values into {} arguments", op_.operands.size(), region.arguments.size()));
    for (size_t i = 0; i < region.arguments.size(); ++i) {
      TileValueId argument = region.arguments[i];
      if (!argument.valid() || argument.index() >= module_.values.size())
        return report("has an argument that there is not");
      if (!type_is_sound(type(argument), argument)) return;
      carries(op_.operands[i], type(argument), "starts with");
      const TileType& last = result(i);
      if (last.element != type(argument).element || last.axes != type(argument).axes ||
          last.layout != type(argument).layout)
        report(fmt::format("result %{} is not of its argument's type", op_.results[i].index()));
    }
    yielded(region);
  }

  void carries(TileValueId value, const TileType& to, std::string_view how) {
    const TileType& from = type(value);
    bool fits = from.element == to.element && within(from.axes, to.axes);
    bool placed = !from.layout || !to.layout ||
                  (from.axes == to.axes ? from.layout == to.layout
                                        : fits && *from.layout == to.layout->project(from.axes));
    if (!fits || !placed) report(fmt::format("{} %{}, which is not of the carried type", how, value.index()));
  }

  void yielded(const Region& region) {
    if (region.ops.empty() || region.ops.back().index() >= module_.ops.size()) return;
    const TileOp& yield = module_.ops[region.ops.back()];
    if (yield.op != Opcode::kYield) return;
    if (yield.operands.size() != region.arguments.size())
      return report(
          fmt::format("yields {} values for {} carried", yield.operands.size(), region.arguments.size()));
    for (size_t i = 0; i < yield.operands.size(); ++i)
      if (yield.operands[i].index() < module_.values.size())
        carries(yield.operands[i], type(region.arguments[i]), "yields");
  }

  // ---- widths and bounds ----

  void vector_width() {
    if (op_.vector == 1) return;
    bool copy = op_.op == Opcode::kCopyAsync;
    bool access = op_.op == Opcode::kLoad || op_.op == Opcode::kStore || copy;
    if (!access && row(op_.op).rule != TypeRule::kCompare) return report("has a vector width");
    if (!is_power(op_.vector))
      return report(fmt::format("has a vector width of {}, no power of two", op_.vector));
    if (copy) return;
    TileValueId tile = op_.op == Opcode::kStore ? op_.operands.front() : op_.results.front();
    const TileType& type = this->type(tile);
    // A store may have more axes than its value; its registers are then not known here.
    if (op_.op == Opcode::kStore && type.axes.empty()) return;
    fills_registers(type);
  }

  void fills_registers(const TileType& type) {
    if (!type.layout || type.layout->register_count() % op_.vector != 0)
      report(fmt::format("has a vector width of {}, which its registers do not fill", op_.vector));
  }

  void in_bounds(std::span<const IndexId> subscripts) {
    const Buffer& buffer = module_.buffers[op_.buffer];
    for (size_t i = 0; i < subscripts.size(); ++i) {
      auto range = index_range(module_, subscripts[i]);
      if (range && (range->least < 0 || range->most >= buffer.shape[i]))
        report(fmt::format("accesses {} to {} of dimension {}, which has {} positions", range->least,
                           range->most, i, buffer.shape[i]));
    }
  }

  const TileOpContext& context_;
  const TileModule& module_;
  const TileOp& op_;
};

}  // namespace

void verify_tile_op(const TileOpContext& context, const TileOp& op) { TileOpVerifier(context, op).verify(); }

}  // namespace tenon::ir
