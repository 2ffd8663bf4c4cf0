// What a launch tells ptxas about the blocks that it wants on a multiprocessor.
#include <algorithm>

#include "codegen/emitter.h"
#include "passes/analysis/held_registers.h"
#include "passes/analysis/masks.h"

namespace tenon::codegen {

using ir::Opcode;
using ir::TileOp;
using ir::TileOpId;

namespace {

// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr int64_t kRegisters = 65536;
// Half of the registers that a thread has where 2048 of them are on a multiprocessor.
constexpr int64_t kManyHeld = 16;
// Blocks that keep a multiprocessor busy, whatever each waits for.
constexpr int32_t kEnoughBlocks = 4;
// For addresses, counters and what one element is computed with; and the least for these and a vector on its
// way.
constexpr int64_t kOthers = 24;
constexpr int64_t kLeastOthers = 40;

}  // namespace

// Left to itself, ptxas makes room for as many blocks as it thinks it can, and spills a few registers for one
// more. Here it is told a number that leaves it twice the registers that are held, so that reads can be ahead
// of what computes: for loops with enough on its way in each thread, and for code that holds so many values
// that a full multiprocessor is out of reach. A second block, which computes while the first one waits, is
// worth fewer. Others do best by what ptxas chooses: short code, products, which need most of the registers
// and are counted on two blocks, elements with an address each, and code of which one block fits. Loops in 64
// bits are there to be right: one block is enough.
int32_t Emitter::wanted_blocks() const {
  Demand demand = demand_of(kernel_.body);
  if (!kernel_.narrow_index) return demand.repeats ? 1 : 0;
  int64_t held = passes::held_registers(module_, kernel_.body);
  if (demand.products || demand.scattered || !(demand.streams || held > kManyHeld)) return 0;
  auto fitting = [&](int64_t registers) {
    return static_cast<int32_t>(kRegisters / (entry_.threads * registers));
  };
  if (int32_t blocks = fitting(2 * held + kOthers); blocks >= 2) return std::min(blocks, kEnoughBlocks);
  if (fitting(held + kLeastOthers) >= 2) return 2;
  return demand.streams ? 1 : 0;
}

Emitter::Demand Emitter::demand_of(ir::RegionId region) const {
  Demand demand;
  for (TileOpId id : module_.regions[region].ops) {
    const TileOp& op = module_.ops[id];
    demand.products = demand.products || op.op == Opcode::kMma;
    if (op.op == Opcode::kLoad && op.tensor.valid())
      demand.scattered = demand.scattered || !split(offset_of(op)).other.empty();
    bool repeats = op.op == Opcode::kLoop && !op.unroll && !passes::runs_at_most_once(module_, op);
    for (ir::RegionId inner : op.regions) {
      Demand own = demand_of(inner);
      demand.products = demand.products || own.products;
      demand.scattered = demand.scattered || own.scattered;
      demand.repeats = demand.repeats || own.repeats || repeats;
      demand.streams =
          demand.streams || own.streams || (repeats && bytes_in_flight(inner) >= kEnoughInFlight);
    }
  }
  return demand;
}

}  // namespace tenon::codegen
