#include "emulator/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/thread_ops.h"

namespace tenon::emulator {
namespace {

// Records that a warp runs before the next one of its block gets a turn.
constexpr uint64_t kWarpTurn = 20000;
constexpr size_t kMaxFaults = 32;

std::string describe_variable(const std::vector<PlacedVariable>& variables, uint64_t offset,
                              std::string_view space) {
  const PlacedVariable* below = nullptr;
  for (const PlacedVariable& variable : variables) {
    if (variable.offset <= offset && (below == nullptr || variable.offset > below->offset)) below = &variable;
  }
  if (below == nullptr) return fmt::format("before every {} variable", space);
  const uint64_t distance = offset - below->offset;
  if (distance < below->bytes) {
    return fmt::format("at byte {} of {} variable '{}' ({} bytes)", distance, space, below->name,
                       below->bytes);
  }
  return fmt::format("{} bytes beyond the end of {} variable '{}' ({} bytes)", distance - below->bytes, space,
                     below->name, below->bytes);
}

}  // namespace

void Launch::report(Fault fault) {
  const bool stopping = stops(fault.kind);
  const std::lock_guard lock(mutex);
  if (stopping && stop.exchange(true)) return;
  // The one that stops is always listed.
  if (faults.size() < kMaxFaults || stopping) {
    faults.push_back(std::move(fault));
  } else {
    ++more_faults;
  }
}

Block::Block(Launch& launch) : launch_(launch), program_(*launch.program) {
  threads_ = launch.block[0] * launch.block[1] * launch.block[2];
  counters_.resize(program_.instructions.size());
  const size_t warps = (threads_ + kLanes - 1) / kLanes;
  warps_.resize(warps);
  warp_bytes_ = (program_.register_bytes + 63) / 64 * 64;
  registers_.resize(warp_bytes_ * warps);
  shared_size_ = program_.dynamic_shared_offset + launch.dynamic_shared_bytes;
  shared_data_.resize(shared_size_);
  shared_state_.resize(shared_size_);
  local_size_ = program_.local_bytes;
  local_data_.resize(local_size_ * warps * kLanes);
  local_state_.resize(local_size_ * warps * kLanes);
}

std::array<uint32_t, 3> Block::thread_index(unsigned thread) const {
  const auto& extent = launch_.block;
  return {thread % extent[0], thread / extent[0] % extent[1], thread / extent[0] / extent[1]};
}

void Block::reset(uint64_t block_index) {
  const auto& grid = launch_.grid;
  linear_block_index_ = block_index;
  block_index_ = {static_cast<uint32_t>(block_index % grid[0]),
                  static_cast<uint32_t>(block_index / grid[0] % grid[1]),
                  static_cast<uint32_t>(block_index / grid[0] / grid[1])};
  if (shared_size_ != 0) std::memset(shared_state_.data(), 0, shared_size_);
  for (const PlacedVariable& variable : program_.shared) {
    std::memset(shared_state_.data() + variable.offset, kWritable, variable.bytes);
  }
  std::fill(shared_state_.begin() + static_cast<ptrdiff_t>(program_.dynamic_shared_offset),
            shared_state_.end(), kWritable);
  if (local_size_ != 0) {
    std::memset(local_state_.data(), 0, local_state_.size());
    for (uint64_t thread = 0; thread < local_state_.size() / local_size_; ++thread) {
      for (const PlacedVariable& variable : program_.local) {
        std::memset(local_state_.data() + thread * local_size_ + variable.offset, kWritable, variable.bytes);
      }
    }
  }
  for (Barrier& barrier : barriers_) {
    barrier = Barrier{};
    barrier.lanes.assign(warps_.size(), 0);
  }
  for (uint32_t i = 0; i < warps_.size(); ++i) {
    const uint32_t lanes = std::min<uint32_t>(threads_ - i * kLanes, kLanes);
    const LaneMask mask = lanes == kLanes ? kAllLanes : (LaneMask{1} << lanes) - 1;
    warps_[i].start(*this, program_, registers_.data() + warp_bytes_ * i, i, mask);
  }
}

void Block::run(uint64_t block_index) {
  reset(block_index);
  while (!launch_.stop) {
    uint64_t executed = 0;
    bool done = true;
    for (Warp& warp : warps_) {
      if (warp.done()) continue;
      done = false;
      executed += warp.run(kWarpTurn);
      if (launch_.stop) return;
    }
    if (done) return;
    if (executed == 0) return report_deadlock();
    if (!within_limits(executed)) return;
  }
}

bool Block::within_limits(uint64_t executed) {
  const uint64_t steps = launch_.steps.fetch_add(executed, std::memory_order_relaxed) + executed;
  const bool too_long = steps > launch_.step_limit;
  if (!too_long && std::chrono::steady_clock::now() < launch_.deadline) return true;
  Fault fault;
  fault.kind = too_long ? FaultKind::kStepLimit : FaultKind::kTimeLimit;
  fault.kernel = program_.name;
  fault.block = block_index_;
  fault.detail = fmt::format("{} warp instructions executed", steps);
  launch_.report(std::move(fault));
  return false;
}

Memory Block::generic(unsigned thread, DeviceAddress address, uint64_t bytes) {
  if (address >= kGlobalWindow) return global(address, bytes);
  if (address - kSharedWindow < kWindowBytes) return shared(address - kSharedWindow, bytes);
  if (address - kLocalWindow < kWindowBytes) return local(thread, address - kLocalWindow, bytes);
  return {};
}

std::string Block::describe(StateSpace space, uint64_t address, uint64_t bytes) const {
  if (space == StateSpace::kGeneric) {
    if (address - kSharedWindow < kWindowBytes)
      return describe(StateSpace::kShared, address - kSharedWindow, bytes);
    if (address - kLocalWindow < kWindowBytes)
      return describe(StateSpace::kLocal, address - kLocalWindow, bytes);
    if (address < kGlobalWindow) return "no valid generic address";
  }
  if (space == StateSpace::kShared) {
    if (address >= program_.dynamic_shared_offset && launch_.dynamic_shared_bytes > 0) {
      const uint64_t offset = address - program_.dynamic_shared_offset;
      const uint64_t size = launch_.dynamic_shared_bytes;
      return offset < size ? fmt::format("at byte {} of dynamic shared memory ({} bytes)", offset, size)
                           : fmt::format("{} bytes beyond the end of dynamic shared memory ({} bytes)",
                                         offset - size, size);
    }
    return describe_variable(program_.shared, address, "shared");
  }
  if (space == StateSpace::kLocal) return describe_variable(program_.local, address, "local");
  return launch_.global->describe(address, bytes);
}

bool Block::complete(const Barrier& barrier) const {
  if (barrier.arrived == 0) return false;
  if (barrier.expected != 0) return barrier.arrived >= barrier.expected;
  for (size_t i = 0; i < warps_.size(); ++i) {
    if ((warps_[i].live & ~barrier.lanes[i]) != 0) return false;
  }
  return true;
}

bool Block::arrive(Warp& warp, const Record& record, LaneMask mask, uint32_t index, uint32_t expected,
                   bool waits) {
  Barrier& barrier = barriers_[index];
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  if (barrier.arrived != 0 && barrier.expected != expected) {
    warp.fault(FaultKind::kBarrier, record, lane, 0, 0,
               fmt::format("barrier {}: {} threads expected here, {} by those who came before (0: all)",
                           index, expected, barrier.expected));
    return false;
  }
  if ((barrier.lanes[warp.index] & mask) != 0) {
    warp.fault(FaultKind::kBarrier, record, lane, 0, 0,
               fmt::format("lanes {:08x} arrive at barrier {} again before it is complete",
                           barrier.lanes[warp.index] & mask, index));
    return false;
  }
  if ((record.flags & kBarrierAligned) != 0 && warp.waits_elsewhere(record, index)) {
    warp.fault(FaultKind::kDivergentBarrier, record, lane, 0, 0,
               fmt::format("lanes {:08x} are here, others of the warp wait in another instruction", mask));
    return false;
  }
  barrier.expected = expected;
  barrier.lanes[warp.index] |= mask;
  // A warp counts as 32 threads even where the block has fewer.
  barrier.arrived += static_cast<uint32_t>(std::popcount(mask));
  if (barrier.lanes[warp.index] == warp.live) {
    barrier.arrived += kLanes - static_cast<uint32_t>(std::popcount(warp.live));
  }
  if (record.c != kNoOperand && record.extra != 0) {
    const LaneMask votes = warp.predicate(record.c) & mask;
    barrier.count += static_cast<uint32_t>(std::popcount(votes));
    barrier.any |= votes != 0;
    barrier.all &= votes == mask;
  }
  if (waits) warp.wait_at_barrier(record, mask, index);
  if (complete(barrier)) finish_barrier(index);
  return true;
}

void Block::finish_barrier(uint32_t index) {
  Barrier& barrier = barriers_[index];
  for (Warp& warp : warps_) {
    warp.release_barrier(index, [&](const Record& record, LaneMask mask) {
      // extra: 0 no reduction, 1 popc, 2 and, 3 or.
      if (record.extra == 1) {
        auto* d = warp.lanes<uint32_t>(record.d);
        for (unsigned lane = 0; lane < kLanes; ++lane) d[lane] = mask >> lane & 1 ? barrier.count : d[lane];
      } else if (record.extra != 0) {
        warp.set_predicate(record.d, mask, (record.extra == 2 ? barrier.all : barrier.any) ? kAllLanes : 0);
      }
    });
  }
  barrier = Barrier{};
  barrier.lanes.assign(warps_.size(), 0);
}

void Block::lanes_exited() {
  for (uint32_t i = 0; i < kBarriers; ++i) {
    if (barriers_[i].expected == 0 && complete(barriers_[i])) finish_barrier(i);
  }
}

void Block::report_deadlock() {
  Fault fault;
  fault.kind = FaultKind::kDeadlock;
  fault.kernel = program_.name;
  fault.block = block_index_;
  for (const Warp& warp : warps_) {
    if (const Record* record = warp.divergent_barrier();
        record != nullptr && fault.kind == FaultKind::kDeadlock) {
      const InstructionInfo& info = program_.instructions[record->instruction];
      fault.kind = FaultKind::kDivergentBarrier;
      fault.instruction = info.text;
      fault.line = info.line;
      fault.source_line = info.source_line;
    }
    const std::string text = warp.describe_waiting();
    if (!text.empty()) fault.detail += (fault.detail.empty() ? "" : "\n") + text;
  }
  launch_.report(std::move(fault));
}

}  // namespace tenon::emulator
