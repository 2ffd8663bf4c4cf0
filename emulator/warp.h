// A warp: its registers, and its lanes grouped into fragments that are at the same place.
//
// Divergence makes a tree of fragments. Where a branch divides the lanes, the fragment becomes the parent of
// two: it waits at the branch's immediate post-dominator while its children run, collects the lanes that
// arrive there, and goes on when no child is left. Only leaves run. Any leaf may run next, so a fragment that
// spins for another's lanes does not starve it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/program.h"
#include "emulator/report.h"

namespace tenon::emulator {

class Block;

enum class FragmentState : uint8_t { kEnded, kRunnable, kParent, kAtSync, kAtBarrier };

struct Fragment {
  uint32_t pc = 0;
  uint32_t reconvergence = kNoReconvergence;
  LaneMask mask = 0;
  int32_t parent = -1;
  uint32_t children = 0;
  FragmentState state = FragmentState::kEnded;
  // A parent that waits for a called function: lanes come back by `ret`.
  bool is_call = false;
  // While at a sync or barrier: the instruction, and the lanes whose guard held.
  const Record* waiting = nullptr;
  LaneMask waiting_mask = 0;
  uint32_t barrier = 0;
  uint64_t last_run = 0;
};

// One 16-byte cp.async of a warp whose data is read but not yet visible.
struct PendingCopy {
  LaneMask mask = 0;
  unsigned bytes = 0;
  bool committed = false;
  uint32_t group[kLanes];
  uint64_t to[kLanes];
  uint8_t data[kLanes][16];
};

class Warp {
 public:
  // Registers are zeroed and special registers set. `lanes` are the threads that exist.
  void start(Block& block, const Program& program, std::byte* registers, uint32_t index, LaneMask lanes);

  // Runs until nothing can run or about `budget` records are executed; returns how many were.
  uint64_t run(uint64_t budget);
  bool done() const { return live == 0; }
  bool runnable() const;

  template <class T>
  T* lanes(LaneRef ref) {
    return reinterpret_cast<T*>(bases[ref >> 31] + (ref & kOffsetBits));
  }
  LaneMask predicate(LaneRef ref) {
    const LaneMask bits = *lanes<LaneMask>(ref);
    return ref & kNegated ? ~bits : bits;
  }
  void set_predicate(LaneRef ref, LaneMask mask, LaneMask value) {
    LaneMask& bits = *lanes<LaneMask>(ref);
    bits = (bits & ~mask) | (value & mask);
  }

  // For control-flow handlers; `pc` is already behind the record.
  void branch(LaneMask taken, uint32_t target, uint32_t reconvergence);
  // Several targets at once: `targets[lane]` for the lanes active.
  void branch_indexed(LaneMask mask, const uint32_t* targets, uint32_t reconvergence);
  void call(LaneMask mask, uint32_t target);
  void return_lanes(LaneMask mask);
  void exit_lanes(LaneMask mask);

  // Whether `mask`, with lanes that wait at the same record, has all of `needed`. If so the joined lanes are
  // in `joined` and go on together with this fragment's; if not, this fragment waits and the handler must
  // return.
  bool synchronise(const Record& record, LaneMask mask, LaneMask needed, LaneMask& joined);
  // This fragment waits at a barrier of the block, behind the record.
  void wait_at_barrier(const Record& record, LaneMask mask, uint32_t barrier);
  // Whether lanes of this warp wait at the barrier in another instruction.
  bool waits_elsewhere(const Record& record, uint32_t barrier) const;
  // The instruction at which only a part of the warp waits, though it is an aligned barrier; null if there is
  // none.
  const Record* divergent_barrier() const;
  // The fragments that wait at the barrier go on; `result` is called with each.
  template <class F>
  void release_barrier(uint32_t barrier, F result) {
    for (Fragment& fragment : fragments_) {
      if (fragment.state != FragmentState::kAtBarrier || fragment.barrier != barrier) continue;
      result(*fragment.waiting, fragment.waiting_mask);
      fragment.state = FragmentState::kRunnable;
    }
  }
  // "warp 2: lanes ffff0000 wait at line 17: bar.sync 0".
  std::string describe_waiting() const;

  // Reports a fault of a lane; after one that stops, the warp does not go on.
  void fault(FaultKind kind, const Record& record, unsigned lane, uint64_t address = 0, uint32_t bytes = 0,
             std::string detail = {});
  Counters& counters(const Record& record) { return counters_[record.instruction]; }
  unsigned thread_of(unsigned lane) const { return index * kLanes + lane; }

  // Registers and constants of the program.
  std::byte* bases[2] = {nullptr, nullptr};
  Block* block = nullptr;
  const Program* program = nullptr;
  uint32_t pc = 0;
  // Lanes of the running fragment, and those that have not exited.
  LaneMask active = 0;
  LaneMask live = 0;
  LaneMask existing = 0;
  // The carry flag of add.cc and the like.
  LaneMask carry = 0;
  uint32_t index = 0;
  std::vector<PendingCopy> copies;
  // Groups committed by each lane.
  uint32_t committed[kLanes] = {};
  // Atomic and volatile accesses since the fragment was chosen.
  uint32_t polls = 0;

 private:
  bool select();
  void save();
  void yield();
  int32_t add_fragment(uint32_t pc, uint32_t reconvergence, LaneMask mask, int32_t parent);
  void finish(int32_t fragment);
  void drop(LaneMask mask);
  void split(const uint32_t* targets, LaneMask mask, uint32_t reconvergence);
  void retry_waiting();

  std::vector<Fragment> fragments_;
  int32_t current_ = -1;
  uint32_t reconvergence_ = kNoReconvergence;
  // The running fragment ended or waits; another must be chosen.
  bool switch_ = false;
  uint64_t clock_ = 0;
  Counters* counters_ = nullptr;
};

}  // namespace tenon::emulator
