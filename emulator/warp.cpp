#include "emulator/warp.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "emulator/block.h"
#include "emulator/thread_ops.h"

namespace tenon::emulator {
namespace {

// Records that a fragment runs before another one of its warp gets a turn, and atomic accesses after which it
// is taken to be waiting for somebody.
constexpr uint64_t kFragmentTurn = uint64_t{1} << 16;
constexpr uint32_t kPollTurn = 64;

uint32_t special_value(SpecialRegister source, const Block& block, const Launch& launch, const Warp& warp,
                       unsigned lane) {
  const auto thread = block.thread_index(warp.thread_of(lane));
  const LaneMask bit = LaneMask{1} << lane;
  switch (source) {
    case SpecialRegister::kTidX:
      return thread[0];
    case SpecialRegister::kTidY:
      return thread[1];
    case SpecialRegister::kTidZ:
      return thread[2];
    case SpecialRegister::kNtidX:
      return launch.block[0];
    case SpecialRegister::kNtidY:
      return launch.block[1];
    case SpecialRegister::kNtidZ:
      return launch.block[2];
    case SpecialRegister::kCtaidX:
      return block.block_index()[0];
    case SpecialRegister::kCtaidY:
      return block.block_index()[1];
    case SpecialRegister::kCtaidZ:
      return block.block_index()[2];
    case SpecialRegister::kNctaidX:
      return launch.grid[0];
    case SpecialRegister::kNctaidY:
      return launch.grid[1];
    case SpecialRegister::kNctaidZ:
      return launch.grid[2];
    case SpecialRegister::kLaneId:
      return lane;
    case SpecialRegister::kWarpId:
      return warp.index;
    case SpecialRegister::kNwarpId:
      return block.warp_count();
    case SpecialRegister::kLanemaskEq:
      return bit;
    case SpecialRegister::kLanemaskLt:
      return bit - 1;
    case SpecialRegister::kLanemaskLe:
      return bit | (bit - 1);
    case SpecialRegister::kLanemaskGt:
      return ~(bit | (bit - 1));
    case SpecialRegister::kLanemaskGe:
      return ~(bit - 1);
    case SpecialRegister::kSmId:
      return static_cast<uint32_t>(block.linear_block_index() % launch.multiprocessors);
    case SpecialRegister::kNsmId:
      return launch.multiprocessors;
    case SpecialRegister::kDynamicSharedSize:
      return static_cast<uint32_t>(launch.dynamic_shared_bytes);
    case SpecialRegister::kTotalSharedSize:
      return static_cast<uint32_t>(block.shared_bytes());
    case SpecialRegister::kGridId:
      return static_cast<uint32_t>(launch.grid_id);
    case SpecialRegister::kZero:
      return 0;
  }
  return 0;
}

}  // namespace

void Warp::start(Block& owner, const Program& code, std::byte* registers, uint32_t warp_index,
                 LaneMask lane_mask) {
  block = &owner;
  program = &code;
  bases[0] = registers;
  bases[1] = code.constants.data();
  index = warp_index;
  live = existing = lane_mask;
  carry = 0;
  counters_ = owner.counters_data();
  copies.clear();
  std::memset(committed, 0, sizeof committed);
  std::memset(registers, 0, code.register_bytes);
  for (const SpecialBinding& binding : code.specials) {
    auto* values = lanes<uint32_t>(binding.target);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      values[lane] = special_value(binding.source, owner, owner.launch(), *this, lane);
    }
  }
  fragments_.clear();
  current_ = -1;
  clock_ = 0;
  add_fragment(0, kNoReconvergence, lane_mask, -1);
}

bool Warp::runnable() const {
  for (const Fragment& fragment : fragments_) {
    if (fragment.state == FragmentState::kRunnable) return true;
  }
  return false;
}

// The deepest runnable fragment, unless it has just had its turn and another one waits.
bool Warp::select() {
  int32_t best = -1;
  for (size_t i = 0; i < fragments_.size(); ++i) {
    if (fragments_[i].state != FragmentState::kRunnable) continue;
    if (best < 0 || fragments_[i].last_run <= fragments_[static_cast<size_t>(best)].last_run) {
      best = static_cast<int32_t>(i);
    }
  }
  current_ = best;
  if (best < 0) return false;
  const Fragment& fragment = fragments_[static_cast<size_t>(best)];
  pc = fragment.pc;
  active = fragment.mask;
  reconvergence_ = fragment.reconvergence;
  switch_ = false;
  return true;
}

void Warp::save() {
  Fragment& fragment = fragments_[static_cast<size_t>(current_)];
  fragment.pc = pc;
  fragment.mask = active;
}

uint64_t Warp::run(uint64_t budget) {
  uint64_t executed = 0;
  const Record* code = program->records.data();
  while (executed < budget && select()) {
    uint64_t turn = 0;
    polls = 0;
    while (true) {
      if (pc == reconvergence_) {
        const int32_t parent = fragments_[static_cast<size_t>(current_)].parent;
        fragments_[static_cast<size_t>(parent)].mask |= active;
        finish(current_);
        break;
      }
      const Record& record = code[pc];
      LaneMask mask = active;
      if (record.guard != kNoOperand) mask &= predicate(record.guard);
      if (record.counts) {
        Counters& counters = counters_[record.instruction];
        ++counters.warps;
        counters.lanes += static_cast<unsigned>(std::popcount(active));
        counters.enabled_lanes += static_cast<unsigned>(std::popcount(mask));
        counters.divergent += active != live;
      }
      ++pc;
      if (mask != 0) record.handler(record, *this, mask);
      ++turn;
      if (switch_) break;
      if (turn >= kFragmentTurn || polls >= kPollTurn) {
        yield();
        break;
      }
    }
    executed += turn;
  }
  return executed;
}

// The fragment has had its turn. Lanes that wait for it at a reconvergence point go on without it: it may be
// spinning until one of them does something.
void Warp::yield() {
  save();
  fragments_[static_cast<size_t>(current_)].last_run = ++clock_;
  int32_t above = fragments_[static_cast<size_t>(current_)].parent;
  while (above >= 0) {
    Fragment& parent = fragments_[static_cast<size_t>(above)];
    const Fragment waiting = parent;
    parent.mask = 0;
    if (waiting.mask != 0) {
      const int32_t freed = add_fragment(waiting.pc, waiting.reconvergence, waiting.mask, waiting.parent);
      fragments_[static_cast<size_t>(freed)].last_run = clock_ - 1;
    }
    above = waiting.parent;
  }
}

int32_t Warp::add_fragment(uint32_t at, uint32_t reconvergence, LaneMask mask, int32_t parent) {
  Fragment fragment;
  fragment.pc = at;
  fragment.reconvergence = reconvergence;
  fragment.mask = mask;
  fragment.parent = parent;
  fragment.state = FragmentState::kRunnable;
  fragment.last_run = clock_;
  if (parent >= 0) ++fragments_[static_cast<size_t>(parent)].children;
  // A slot behind the parent's keeps the deepest fragments last.
  for (size_t i = static_cast<size_t>(parent + 1); i < fragments_.size(); ++i) {
    if (fragments_[i].state == FragmentState::kEnded) {
      fragments_[i] = fragment;
      return static_cast<int32_t>(i);
    }
  }
  fragments_.push_back(fragment);
  return static_cast<int32_t>(fragments_.size() - 1);
}

// Ends a fragment; a parent left without children goes on with the lanes that have come to it, or ends too.
void Warp::finish(int32_t ended) {
  while (ended >= 0) {
    Fragment& fragment = fragments_[static_cast<size_t>(ended)];
    fragment.state = FragmentState::kEnded;
    if (ended == current_) switch_ = true;
    const int32_t above = fragment.parent;
    if (above < 0) return;
    Fragment& parent = fragments_[static_cast<size_t>(above)];
    if (--parent.children > 0) return;
    if (parent.mask == 0) {
      ended = above;
      continue;
    }
    parent.state = FragmentState::kRunnable;
    parent.is_call = false;
    parent.last_run = clock_;
    return;
  }
}

void Warp::branch(LaneMask taken, uint32_t target, uint32_t reconvergence) {
  if (taken == active) {
    pc = target;
    return;
  }
  uint32_t targets[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) targets[lane] = taken >> lane & 1 ? target : pc;
  split(targets, active, reconvergence);
}

void Warp::branch_indexed(LaneMask mask, const uint32_t* lane_targets, uint32_t reconvergence) {
  uint32_t targets[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) targets[lane] = mask >> lane & 1 ? lane_targets[lane] : pc;
  const unsigned first = static_cast<unsigned>(std::countr_zero(active));
  LaneMask same = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (targets[lane] == targets[first]) same |= LaneMask{1} << lane;
  }
  if ((active & ~same) == 0) {
    pc = targets[first];
    return;
  }
  split(targets, active, reconvergence);
}

void Warp::split(const uint32_t* targets, LaneMask mask, uint32_t reconvergence) {
  int32_t parent = fragments_[static_cast<size_t>(current_)].parent;
  const bool in_place = reconvergence == kNoReconvergence || reconvergence == reconvergence_;
  const int32_t self = current_;
  if (in_place) {
    reconvergence = reconvergence_;
  } else {
    Fragment& fragment = fragments_[static_cast<size_t>(self)];
    fragment.pc = reconvergence;
    fragment.mask = 0;
    fragment.state = FragmentState::kParent;
    parent = self;
  }
  while (mask != 0) {
    const uint32_t target = targets[std::countr_zero(mask)];
    LaneMask group = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((mask >> lane & 1) && targets[lane] == target) group |= LaneMask{1} << lane;
    }
    mask &= ~group;
    if (parent >= 0 && target == reconvergence) {
      fragments_[static_cast<size_t>(parent)].mask |= group;
    } else {
      add_fragment(target, reconvergence, group, parent);
    }
  }
  switch_ = true;
  // In place, the pieces are siblings of the fragment that was divided, which ends.
  if (in_place) finish(self);
}

void Warp::call(LaneMask mask, uint32_t target) {
  const int32_t self = current_;
  Fragment& fragment = fragments_[static_cast<size_t>(self)];
  fragment.pc = pc;
  fragment.mask = active & ~mask;
  fragment.state = FragmentState::kParent;
  fragment.is_call = true;
  add_fragment(target, kNoReconvergence, mask, self);
  switch_ = true;
}

void Warp::return_lanes(LaneMask mask) {
  int32_t parent = fragments_[static_cast<size_t>(current_)].parent;
  while (parent >= 0 && !fragments_[static_cast<size_t>(parent)].is_call) {
    parent = fragments_[static_cast<size_t>(parent)].parent;
  }
  if (parent < 0) return exit_lanes(mask);
  fragments_[static_cast<size_t>(parent)].mask |= mask;
  drop(mask);
}

void Warp::drop(LaneMask mask) {
  active &= ~mask;
  if (active == 0) finish(current_);
}

void Warp::exit_lanes(LaneMask mask) {
  live &= ~mask;
  drop(mask);
  retry_waiting();
  block->lanes_exited();
}

void Warp::retry_waiting() {
  for (Fragment& fragment : fragments_) {
    if (fragment.state == FragmentState::kAtSync) fragment.state = FragmentState::kRunnable;
  }
}

bool Warp::synchronise(const Record& record, LaneMask mask, LaneMask needed, LaneMask& joined) {
  joined = mask;
  if ((needed & ~mask) == 0) return true;
  for (const Fragment& fragment : fragments_) {
    if (fragment.state == FragmentState::kAtSync && fragment.waiting == &record)
      joined |= fragment.waiting_mask;
  }
  if ((needed & ~joined) == 0) {
    for (Fragment& fragment : fragments_) {
      if (fragment.state != FragmentState::kAtSync || fragment.waiting != &record) continue;
      fragment.state = FragmentState::kRunnable;
      ++fragment.pc;
    }
    return true;
  }
  Fragment& fragment = fragments_[static_cast<size_t>(current_)];
  --pc;
  save();
  fragment.state = FragmentState::kAtSync;
  fragment.waiting = &record;
  fragment.waiting_mask = mask;
  switch_ = true;
  // It will be executed again.
  Counters& counters = counters_[record.instruction];
  --counters.warps;
  counters.lanes -= static_cast<unsigned>(std::popcount(active));
  counters.enabled_lanes -= static_cast<unsigned>(std::popcount(mask));
  counters.divergent -= active != live;
  return false;
}

void Warp::wait_at_barrier(const Record& record, LaneMask mask, uint32_t barrier) {
  save();
  Fragment& fragment = fragments_[static_cast<size_t>(current_)];
  fragment.state = FragmentState::kAtBarrier;
  fragment.waiting = &record;
  fragment.waiting_mask = mask;
  fragment.barrier = barrier;
  switch_ = true;
}

bool Warp::waits_elsewhere(const Record& record, uint32_t barrier) const {
  for (const Fragment& fragment : fragments_) {
    if (fragment.state == FragmentState::kAtBarrier && fragment.barrier == barrier &&
        fragment.waiting != &record) {
      return true;
    }
  }
  return false;
}

const Record* Warp::divergent_barrier() const {
  for (const Fragment& fragment : fragments_) {
    if (fragment.state == FragmentState::kAtBarrier && (fragment.waiting->flags & kBarrierAligned) != 0 &&
        fragment.waiting_mask != live) {
      return fragment.waiting;
    }
  }
  return nullptr;
}

std::string Warp::describe_waiting() const {
  std::string text;
  for (const Fragment& fragment : fragments_) {
    if (fragment.state != FragmentState::kAtSync && fragment.state != FragmentState::kAtBarrier) continue;
    const InstructionInfo& info = program->instructions[fragment.waiting->instruction];
    text += fmt::format("{}warp {}: lanes {:08x} wait at line {}: {}", text.empty() ? "" : "\n", index,
                        fragment.mask, info.line, info.text);
  }
  return text;
}

void Warp::fault(FaultKind kind, const Record& record, unsigned lane, uint64_t address, uint32_t bytes,
                 std::string detail) {
  const InstructionInfo& info = program->instructions[record.instruction];
  Launch& launch = block->launch();
  if (stops(kind)) {
    switch_ = true;
    // The warp is left as it is; nothing of the launch runs any more.
    for (Fragment& fragment : fragments_) fragment.state = FragmentState::kEnded;
  }
  {
    const std::lock_guard lock(launch.mutex);
    if (!stops(kind)) {
      const std::pair key(kind, record.instruction);
      for (const auto& known : launch.reported) {
        if (known == key) return;
      }
      launch.reported.push_back(key);
    }
  }
  Fault fault;
  fault.kind = kind;
  fault.kernel = program->name;
  fault.instruction = info.text;
  fault.line = info.line;
  fault.source_line = info.source_line;
  fault.block = block->block_index();
  fault.thread = block->thread_index(thread_of(lane));
  fault.address = address;
  fault.bytes = bytes;
  fault.detail = std::move(detail);
  launch.report(std::move(fault));
}

}  // namespace tenon::emulator
