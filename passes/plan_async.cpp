// Needs: vector widths.
// Gives: stores to shared buffers that can be asynchronous copies their mark, with one width for the load and
// the
//        store, and their loop the number of slices that are under way or in use at once. The meaning of the
//        module stays: each iteration loads, stores and uses its own slice.
// Why here: what one instruction copies is a vector width; before shared memory is laid out, since a ring of
//        slices takes a place for each, and a copy narrower than its load has other bank conflicts.
//
//   loop loop_k: N / 16 {                                    loop loop_k: N / 16 stages(4) {
//     %2 = load %a[i, k + 16 * loop_k] vector(4)               %2 = load %a[i, k + 16 * loop_k]
//     store %2 -> %shared[k, i]                     becomes    store %2 -> %shared[k, i] async
//
// A store is a copy where its load has no other use and gives 0 where it is masked (what cp.async writes
// there); it fills a buffer that nothing outside of the loop touches, before anything in the loop reads it;
// nothing writes the tensor; its address and mask can be computed for another iteration; and one instruction
// moves 4, 8 or 16 bytes, contiguous on both sides.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "passes/analysis/loop_slice.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::Opcode;
using ir::TileModule;
using ir::TileOp;
using ir::TileOpId;

constexpr int32_t kMostStages = 4;
// Threads of a multiprocessor that have 128 registers each, what tiles of contractions take; and what it
// keeps of shared memory for itself for each block. Source: CUDA C++ Programming Guide, "Compute
// Capabilities".
constexpr int64_t kThreads = 512;
constexpr int64_t kReservedBytes = 1024;
constexpr int64_t kWidestAccess = 16;

// The shared memory with which a block leaves room for as many others as its registers do.
int64_t shared_budget(const Target& target, const ir::TileKernel& kernel) {
  int64_t blocks = std::max<int64_t>(1, kThreads / (int64_t{kernel.warps} * 32));
  return std::min<int64_t>(target.shared_per_block, target.shared_per_sm / blocks - kReservedBytes);
}

class AsyncPlan {
 public:
  AsyncPlan(TileModule& module, const ir::TileKernel& kernel, PassContext& context)
      : module_(module),
        kernel_(kernel),
        context_(context),
        uses_(count_uses(module, kernel)),
        accesses_(module.buffers.size(), 0) {
    for (TileOpId id : ir::reachable_ops(module, kernel)) {
      const TileOp& op = module.ops[id];
      if (op.buffer.valid()) ++accesses_[op.buffer];
      if (op.op == Opcode::kStore && op.tensor.valid()) written_.insert(op.tensor);
    }
    for (auto [input, output] : module.same_memory)
      if (written_.contains(output)) written_.insert(input);
  }

  void run(ir::RegionId region) {
    for (TileOpId id : module_.regions[region].ops) {
      for (ir::RegionId inner : module_.ops[id].regions) run(inner);
      if (module_.ops[id].op == Opcode::kLoop && !module_.ops[id].unroll) plan_loop(id);
    }
  }

 private:
  void plan_loop(TileOpId loop) {
    ir::RegionId region = module_.ops[loop].regions[0];
    std::vector<TileOpId> copies;
    for (TileOpId id : module_.regions[region].ops) {
      const TileOp& op = module_.ops[id];
      if (op.op != Opcode::kStore || !op.buffer.valid() || !fills_buffer(op)) continue;
      std::string obstacle = why_not(loop, id);
      if (obstacle.empty()) {
        copies.push_back(id);
      } else {
        remark(op,
               fmt::format("the copy{} to shared memory stays synchronous: {}", source_name(op), obstacle));
      }
    }
    int32_t stages = copies.empty() ? 0 : stages_for(loop, copies);
    module_.ops[loop].stages = stages;
    if (stages == 0) return;
    for (TileOpId id : copies) annotate(module_.ops[id]);
    remark(module_.ops[loop], fmt::format("asynchronous copies in {} stages", stages));
  }

  // " of x", where what is stored is loaded from x.
  std::string source_name(const TileOp& store) const {
    TileOpId definition = module_.values[store.operands[0]].definition;
    bool loads = definition.valid() && module_.ops[definition].tensor.valid();
    return loads ? " of " + module_.tensors[module_.ops[definition].tensor].name : "";
  }

  void annotate(TileOp& store) {
    TileOp& load = module_.ops[module_.values[store.operands[0]].definition];
    store.async = true;
    store.vector = load.vector = std::min(store.vector, load.vector);
  }

  // What keeps a store from being an asynchronous copy; empty where nothing does.
  std::string why_not(TileOpId loop, TileOpId id) const {
    const TileOp& store = module_.ops[id];
    TileOpId definition = module_.values[store.operands[0]].definition;
    bool loads = store.operands.size() == 1 && definition.valid() && is_direct(loop, definition) &&
                 module_.ops[definition].op == Opcode::kLoad && module_.ops[definition].tensor.valid() &&
                 uses_[store.operands[0]] == 1;
    if (!loads) return "what it stores is not just loaded";
    const TileOp& load = module_.ops[definition];
    if (!gives_zero(load)) return "what it loads is not 0 outside of its mask";
    if (written_.contains(load.tensor)) return "the launch writes what it reads";
    if (!same_axes(load, store)) return "its mask has axes that its address has not";
    if (!is_private(loop, id)) return "its buffer has other uses";
    if (!loop_slice(module_, module_.ops[loop].regions[0], access_values(module_, load)))
      return "its address depends on values of the iteration before or on memory";
    const ir::Buffer& buffer = module_.buffers[store.buffer];
    int64_t bytes = int64_t{std::min(load.vector, store.vector)} * byte_size(buffer.element);
    if (buffer.element == ElementType::kBool || bytes < 4)
      return fmt::format("a thread moves only {} contiguous bytes", bytes);
    return {};
  }

  bool is_direct(TileOpId loop, TileOpId id) const {
    const std::vector<TileOpId>& ops = module_.regions[module_.ops[loop].regions[0]].ops;
    return std::find(ops.begin(), ops.end(), id) != ops.end();
  }

  // Rank 0 comes as a parameter and is no memory.
  bool gives_zero(const TileOp& load) const {
    if (load.subscripts.empty()) return false;
    if (load.operands.empty()) return true;
    TileOpId elsewhere = module_.values[load.operands[1]].definition;
    return elsewhere.valid() && module_.ops[elsewhere].op == Opcode::kConst &&
           module_.ops[elsewhere].bits == 0;
  }

  // Each position of the tile is an element of the buffer, and there are no others.
  bool fills_buffer(const TileOp& store) const {
    const ir::Buffer& buffer = module_.buffers[store.buffer];
    std::vector<ir::AxisId> axes;
    for (size_t d = 0; d < store.subscripts.size(); ++d) {
      const ir::IndexNode& node = module_.index[store.subscripts[d]];
      if (node.kind != ir::IndexKind::kAxis) return false;
      ir::AxisId axis(node.reference);
      const ir::TileAxis& declared = module_.axes[axis];
      if (declared.kind != ir::TileAxis::Kind::kTile || declared.extent != buffer.shape[d]) return false;
      axes.push_back(axis);
    }
    std::sort(axes.begin(), axes.end());
    return axes == module_.values[store.operands[0]].type.axes;
  }

  // The load's subscripts mention all axes of its result; not its mask alone.
  bool same_axes(const TileOp& load, const TileOp& store) const {
    TileOp address = store;
    address.op = Opcode::kCopyAsync;
    address.operands.clear();
    address.subscripts = load.subscripts;
    return ir::accessed_type(module_, address).axes == module_.values[store.operands[0]].type.axes;
  }

  // Every other access to the buffer is a load behind the store, in the loop.
  bool is_private(TileOpId loop, TileOpId store) const {
    int behind = 0;
    bool stored = false;
    for (TileOpId id : module_.regions[module_.ops[loop].regions[0]].ops) {
      stored = stored || id == store;
      if (stored && id != store) behind += count_loads(id, module_.ops[store].buffer);
    }
    return behind + 1 == accesses_[module_.ops[store].buffer];
  }

  int count_loads(TileOpId id, ir::BufferId buffer) const {
    const TileOp& op = module_.ops[id];
    int count = op.op == Opcode::kLoad && op.buffer == buffer ? 1 : 0;
    for (ir::RegionId region : op.regions)
      for (TileOpId inner : module_.regions[region].ops) count += count_loads(inner, buffer);
    return count;
  }

  // As the schedule asks; else the most that leave other blocks their room. 0 where two do not fit, or where
  // the loop has but one iteration.
  int32_t stages_for(TileOpId loop, const std::vector<TileOpId>& copies) const {
    int64_t rest = 0;
    for (const ir::Buffer& buffer : module_.buffers) rest += buffer.byte_count();
    int64_t slice = 0;
    for (TileOpId id : copies) {
      rest -= module_.buffers[module_.ops[id].buffer].byte_count();
      slice += slice_bytes(module_.ops[id]);
    }
    auto fits = [&](int64_t stages, int64_t budget) { return rest + stages * slice <= budget; };
    if (int32_t pinned = module_.ops[loop].stages; pinned != 0)
      return fits(pinned, context_.target->shared_per_block) ? pinned : 0;
    auto count = module_.index.as_constant(module_.axes[module_.ops[loop].axis].count);
    for (int32_t stages = static_cast<int32_t>(std::min<int64_t>(kMostStages, count.value_or(kMostStages)));
         stages >= 2; --stages)
      if (fits(stages, shared_budget(*context_.target, kernel_))) return stages;
    return 0;
  }

  // With the vector by which allocate-shared makes rows longer where copies are narrow and reads are wide.
  int64_t slice_bytes(const TileOp& store) const {
    const ir::Buffer& buffer = module_.buffers[store.buffer];
    bool narrow = store.vector * byte_size(buffer.element) < kWidestAccess;
    return buffer.byte_count() + (narrow ? buffer.element_count() / buffer.shape.back() * kWidestAccess : 0);
  }

  void remark(const TileOp& op, std::string text) {
    std::span<const Span> from = places(module_, op);
    context_.remark("plan-async", from.empty() ? Span() : from[0], std::move(text));
  }

  TileModule& module_;
  const ir::TileKernel& kernel_;
  PassContext& context_;
  SideTable<ir::TileValue, int> uses_;
  // By buffer: the loads and stores that access it.
  SideTable<ir::Buffer, int> accesses_;
  std::set<ir::TensorId> written_;
};

}  // namespace

void plan_async(TileModule& module, PassContext& context) {
  if (context.target == nullptr || !context.target->async_copy) return;
  for (const ir::TileKernel& kernel : module.kernels) AsyncPlan(module, kernel, context).run(kernel.body);
}

}  // namespace tenon::passes
