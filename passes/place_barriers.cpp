// Needs: tile IR with accesses to shared buffers, asynchronous copies among them.
// Gives: a barrier before every access that could meet another thread's earlier one: a read after a write, a
//        write after a read or a write, around loops too. A copy writes where its thread waits for it, and
//        must not start while others may read what was there.
// Why here: last of the passes that move accesses.
//
//   store %a -> shared_0[..]    %b = load shared_0[..]
// becomes
//   store %a -> shared_0[..]    barrier    %b = load shared_0[..]
//
// That copies under way go to other places than what is read meanwhile is for lower-async to see to.
#include <set>
#include <utility>
#include <vector>

#include "passes/analysis/masks.h"
#include "passes/analysis/private_buffers.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

// Buffers touched since the last barrier, and those that asynchronous copies are on their way to: a copy
// writes where its thread waits for it, so that a barrier before the wait does nothing for it.
struct Pending {
  std::set<ir::BufferId> read;
  std::set<ir::BufferId> written;
  std::set<ir::BufferId> awaited;

  void join(const Pending& other) {
    read.insert(other.read.begin(), other.read.end());
    written.insert(other.written.begin(), other.written.end());
    awaited.insert(other.awaited.begin(), other.awaited.end());
  }
  void clear() {
    read.clear();
    written.clear();
  }
};

class BarrierPlacement {
 public:
  explicit BarrierPlacement(ir::TileModule& module) : module_(module), private_(private_buffers(module)) {}

  void run(ir::RegionId region) {
    Pending pending;
    walk(region, pending, true);
  }

 private:
  // Follows a region; with `insert` it writes the barriers, else it only tells what is pending at the end.
  void walk(ir::RegionId region, Pending& pending, bool insert) {
    std::vector<ir::TileOpId> ops;
    // What is pending before the loop that was last.
    ir::TileOpId last;
    Pending before_last;
    for (ir::TileOpId id : std::vector(module_.regions[region].ops)) {
      if (last.valid() && are_alternatives(module_.index, count_of(last), count_of(id))) {
        Pending alternative = before_last;
        if (place(id, alternative, insert, ops)) pending.clear();
        pending.join(alternative);
      } else {
        before_last = pending;
        place(id, pending, insert, ops);
      }
      last = module_.ops[id].op == ir::Opcode::kLoop ? id : ir::TileOpId();
    }
    if (insert) module_.regions[region].ops = std::move(ops);
  }

  // Follows an operation; true where a barrier stands before it.
  bool place(ir::TileOpId id, Pending& pending, bool insert, std::vector<ir::TileOpId>& ops) {
    bool conflict = conflicts(module_.ops[id], pending);
    if (conflict) pending.clear();
    note(module_.ops[id], pending);
    // One barrier before a loop rather than one in each iteration.
    bool in_region = meets(module_.ops[id], pending);
    if (in_region) pending.clear();
    if (insert && (conflict || in_region)) ops.push_back(new_barrier());
    for (ir::RegionId inner : SmallVector(module_.ops[id].regions)) {
      const ir::TileOp& op = module_.ops[id];
      if (op.op == ir::Opcode::kLoop && !runs_at_most_once(module_, op)) {
        // What one iteration leaves is pending when the next begins.
        Pending around = pending;
        walk(inner, around, false);
        pending.join(around);
      }
      Pending before = pending;
      walk(inner, pending, insert);
      // The region may not run at all.
      pending.join(before);
    }
    ops.push_back(id);
    return conflict || in_region;
  }

  ir::IndexId count_of(ir::TileOpId id) const {
    const ir::TileOp& op = module_.ops[id];
    return op.op == ir::Opcode::kLoop ? module_.axes[op.axis].count : ir::IndexId();
  }

  ir::TileOpId new_barrier() {
    ir::TileOp op;
    op.op = ir::Opcode::kBarrier;
    return module_.ops.add(std::move(op));
  }

  // Whether something in the regions of an operation conflicts.
  bool meets(const ir::TileOp& op, const Pending& pending) const {
    for (ir::RegionId region : op.regions) {
      for (ir::TileOpId id : module_.regions[region].ops)
        if (conflicts(module_.ops[id], pending) || meets(module_.ops[id], pending)) return true;
    }
    return false;
  }

  bool conflicts(const ir::TileOp& op, const Pending& pending) const {
    if (!op.buffer.valid() || private_.contains(op.buffer)) return false;
    if (op.op == ir::Opcode::kLoad) return pending.written.contains(op.buffer);
    return pending.written.contains(op.buffer) || pending.read.contains(op.buffer);
  }

  static void note(const ir::TileOp& op, Pending& pending) {
    if (op.op == ir::Opcode::kBarrier) pending.clear();
    // Not all of them need have arrived; what has is not told apart.
    if (op.op == ir::Opcode::kCopyWait)
      pending.written.insert(pending.awaited.begin(), pending.awaited.end());
    if (op.op == ir::Opcode::kCopyWait && op.bits == 0) pending.awaited.clear();
    if (!op.buffer.valid()) return;
    bool copy = op.op == ir::Opcode::kCopyAsync;
    (op.op == ir::Opcode::kLoad ? pending.read : copy ? pending.awaited : pending.written).insert(op.buffer);
  }

  ir::TileModule& module_;
  // Buffers in which no thread meets another.
  std::set<ir::BufferId> private_;
};

}  // namespace

void place_barriers(ir::TileModule& module, PassContext&) {
  for (const ir::TileKernel& kernel : module.kernels) BarrierPlacement(module).run(kernel.body);
}

}  // namespace tenon::passes
