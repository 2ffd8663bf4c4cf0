// Needs: loops with stages and stores marked by plan-async.
// Gives: rings of asynchronous copies: each such buffer has a slice for every stage. The first slices are on
//        their way before the loop; each iteration, when it has used its own, waits for the next one and
//        starts another in the place that is free now.
// Why here: the last pass but those that place buffers and barriers, so that all before it see a module of
//        sequential meaning, and it alone knows what a ring is.
//
//   loop loop_k: 64 stages(3) {                  copy.async .. -> %shared[0, k, i]; copy.commit; .. [2, k, i]
//     %2 = load %a[i, k + 16 * loop_k]           copy.wait 2
//     store %2 -> %shared[k, i] async            loop loop_k: 64 {
//     %3 = load %shared[step, i.1]     becomes     %3 = load %shared[loop_k % 3, step, i.1]
//     ..                                           ..
//     yield                                        copy.wait 1
//   }                                              loop copies: loop_k + 3 < 64 {
//                                                    copy.async %a[i, k + 16 * loop_k + 48]
//                                                        -> %shared[(loop_k + 3) % 3, k, i]
//                                                  }
//                                                  copy.commit
//                                                  yield
//                                                }
//                                                copy.wait 0
//
// Between the wait and the copies place-barriers puts the one barrier of an iteration: behind it the next
// slice is there for all threads, and this one is read by none. An iteration commits a group even where it
// starts no copy, so that the number of groups behind a slice is the same in each. After the loop nothing is
// under way.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ir/tile_builder.h"
#include "passes/analysis/loop_slice.h"
#include "passes/pass.h"
#include "passes/region_copy.h"

namespace tenon::passes {
namespace {

using ir::IndexId;
using ir::IndexKind;
using ir::Opcode;
using ir::TileBuilder;
using ir::TileModule;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

// A slice starts where the widest access may.
constexpr int64_t kWidestAccess = 16;

struct AsyncCopy {
  TileOpId load;
  TileOpId store;
};

class Ring {
 public:
  Ring(TileModule& module, TileOpId loop) : module_(module), loop_(loop), stages_(module.ops[loop].stages) {
    std::vector<TileValueId> inputs;
    for (TileOpId id : module.regions[body()].ops) {
      if (!module.ops[id].async) continue;
      AsyncCopy copy{module.values[module.ops[id].operands[0]].definition, id};
      std::vector<TileValueId> more = access_values(module, module.ops[copy.load]);
      inputs.insert(inputs.end(), more.begin(), more.end());
      copies_.push_back(copy);
    }
    slice_ = loop_slice(module, body(), inputs);
  }

  // Whether there is something to copy, of which other iterations can compute the address.
  bool possible() const { return !copies_.empty() && slice_.has_value(); }

  // Replaces the loop by the ring; `builder` is of the region around it.
  void build(TileBuilder& builder) {
    for (const AsyncCopy& copy : copies_) add_stages(module_.ops[copy.store].buffer);
    add_slots(body());
    builder.set_places(module_.ops[loop_].places);
    for (int32_t ahead = 0; ahead < stages_; ++ahead) start(builder, module_.index.constant(ahead));
    builder.copy_wait(static_cast<uint64_t>(stages_ - 1));
    rebuild_body();
    module_.ops[loop_].stages = 0;
    module_.regions[builder.region()].ops.push_back(loop_);
    builder.copy_wait(0);
  }

 private:
  ir::RegionId body() const { return module_.ops[loop_].regions[0]; }
  IndexId counter() { return module_.index.axis(module_.ops[loop_].axis); }

  void add_stages(ir::BufferId id) {
    ir::Buffer& buffer = module_.buffers[id];
    int64_t unit = std::max<int64_t>(1, kWidestAccess / byte_size(buffer.element));
    int64_t slice = (buffer.element_count() + unit - 1) / unit * unit;
    buffer.shape.insert(buffer.shape.begin(), stages_);
    buffer.strides.insert(buffer.strides.begin(), slice);
    rings_.insert(id);
  }

  IndexId slot(IndexId iteration) {
    return module_.index.floor_mod(iteration, module_.index.constant(stages_));
  }

  // What the loop reads of a ring is the slice of its iteration.
  void add_slots(ir::RegionId region) {
    for (TileOpId id : module_.regions[region].ops) {
      TileOp& op = module_.ops[id];
      if (op.op == Opcode::kLoad && rings_.contains(op.buffer))
        op.subscripts.insert(op.subscripts.begin(), slot(counter()));
      for (ir::RegionId inner : SmallVector(op.regions)) add_slots(inner);
    }
  }

  // Starts the copies of an iteration, if the loop has it, and ends their group.
  void start(TileBuilder& builder, IndexId iteration) {
    IndexId count = module_.axes[module_.ops[loop_].axis].count;
    IndexId exists = module_.index.less(iteration, count);
    if (module_.index.is_constant(exists, 1)) {
      copy_slices(builder, iteration);
    } else if (!module_.index.is_constant(exists, 0)) {
      builder.loop(builder.loop_axis("copies", exists), {},
                   [&](TileBuilder& inner, std::span<const TileValueId>) {
                     copy_slices(inner, iteration);
                     return std::vector<TileValueId>{};
                   });
    }
    builder.copy_commit();
  }

  // Copies as those of the loop would be in the iteration.
  void copy_slices(TileBuilder& builder, IndexId iteration) {
    std::map<TileValueId, TileValueId> image;
    auto value = [&](TileValueId id) {
      auto found = image.find(id);
      return found == image.end() ? id : found->second;
    };
    auto placed = [&](IndexId index) {
      return module_.index.substitute(index, [&](IndexId atom) {
        const ir::IndexNode& node = module_.index[atom];
        if (atom == counter()) return iteration;
        if (node.kind != IndexKind::kValue) return IndexId();
        TileValueId moved = value(TileValueId(node.reference));
        return module_.index.value(ir::ValueId(moved.index()));
      });
    };
    for (TileOpId id : *slice_) {
      TileOp op = module_.ops[id];
      for (TileValueId& operand : op.operands) operand = value(operand);
      if (op.index.valid()) op.index = placed(op.index);
      op.results.clear();
      TileValueId original = module_.ops[id].results[0];
      ir::TileType type = module_.values[original].type;
      TileOpId moved = builder.append(std::move(op));
      TileValueId result = module_.values.add({std::move(type), moved});
      module_.ops[moved].results = {result};
      image[original] = result;
    }
    for (const AsyncCopy& copy : copies_) {
      const TileOp& load = module_.ops[copy.load];
      const TileOp& store = module_.ops[copy.store];
      TileOp op;
      op.op = Opcode::kCopyAsync;
      op.tensor = load.tensor;
      op.buffer = store.buffer;
      for (IndexId subscript : SmallVector(load.subscripts)) op.subscripts.push_back(placed(subscript));
      op.target_subscripts = {slot(iteration)};
      std::copy(store.subscripts.begin(), store.subscripts.end(), std::back_inserter(op.target_subscripts));
      if (!load.operands.empty()) op.operands = {value(load.operands[0])};
      op.vector = store.vector;
      op.places = load.places;
      builder.append(std::move(op));
    }
  }

  void rebuild_body() {
    std::vector<TileOpId> ops = std::exchange(module_.regions[body()].ops, {});
    TileBuilder builder(module_, body());
    builder.set_places(module_.ops[loop_].places);
    for (TileOpId id : ops) {
      if (module_.ops[id].op == Opcode::kYield) {
        builder.copy_wait(static_cast<uint64_t>(stages_ - 2));
        start(builder, module_.index.add(counter(), module_.index.constant(stages_)));
      }
      if (!module_.ops[id].async) module_.regions[body()].ops.push_back(id);
    }
    remove_unused(module_, body());
  }

  TileModule& module_;
  TileOpId loop_;
  int32_t stages_;
  std::vector<AsyncCopy> copies_;
  std::set<ir::BufferId> rings_;
  // What the copies' addresses and masks are computed from.
  std::optional<std::vector<TileOpId>> slice_;
};

// The loop as it is meant without its marks.
void forget_stages(TileModule& module, TileOpId loop) {
  module.ops[loop].stages = 0;
  for (TileOpId id : module.regions[module.ops[loop].regions[0]].ops) module.ops[id].async = false;
}

void lower_region(TileModule& module, ir::RegionId region) {
  std::vector<TileOpId> ops = std::exchange(module.regions[region].ops, {});
  TileBuilder builder(module, region);
  for (TileOpId id : ops) {
    for (ir::RegionId inner : SmallVector(module.ops[id].regions)) lower_region(module, inner);
    if (module.ops[id].stages != 0) {
      if (Ring ring(module, id); ring.possible()) {
        ring.build(builder);
        continue;
      }
      forget_stages(module, id);
    }
    module.regions[region].ops.push_back(id);
  }
}

}  // namespace

void lower_async(TileModule& module, PassContext&) {
  for (const ir::TileKernel& kernel : module.kernels) lower_region(module, kernel.body);
}

}  // namespace tenon::passes
