#include "emulator/thread_ops.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>

#include "emulator/block.h"
#include "emulator/warp.h"
#include "support/numeric.h"

namespace tenon::emulator {
namespace {

unsigned first_lane(LaneMask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

template <class F>
void for_lanes(LaneMask mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(first_lane(mask));
}

uint64_t now() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

// Calls `group(lanes, member)` for each set of lanes with the same membership mask, when all that the mask
// names and that have not exited are here. False: the fragment waits, or a fault was reported.
template <class F>
bool synchronised(const Record& record, Warp& warp, LaneMask mask, F group) {
  const auto* members = warp.lanes<uint32_t>(static_cast<LaneRef>(record.immediate));
  LaneMask needed = 0;
  bool outside = false;
  for_lanes(mask, [&](unsigned lane) {
    needed |= members[lane];
    outside |= !(members[lane] >> lane & 1);
  });
  if (outside) {
    warp.fault(
        FaultKind::kLaneMask, record, first_lane(mask), 0, 0,
        fmt::format("executing lanes {:08x}, membership mask {:08x}", mask, members[first_lane(mask)]));
    return false;
  }
  LaneMask joined = 0;
  if (!warp.synchronise(record, mask, needed & warp.live, joined)) return false;
  while (joined != 0) {
    const LaneMask member = members[first_lane(joined)];
    LaneMask lanes = 0;
    for_lanes(joined, [&](unsigned lane) { lanes |= members[lane] == member ? LaneMask{1} << lane : 0; });
    joined &= ~lanes;
    group(lanes);
  }
  return true;
}

// What a lane gets that reads from one that takes no part.
constexpr uint32_t kPoison = 0xDEADBEEF;

}  // namespace

void execute_clock(const Record& record, Warp& warp, LaneMask mask) {
  const auto value = static_cast<uint32_t>(now() >> record.flags);
  for_lanes(mask, [&](unsigned lane) { warp.lanes<uint32_t>(record.d)[lane] = value; });
  ++warp.polls;
}

void execute_clock64(const Record& record, Warp& warp, LaneMask mask) {
  const uint64_t value = now();
  for_lanes(mask, [&](unsigned lane) { warp.lanes<uint64_t>(record.d)[lane] = value; });
  ++warp.polls;
}

void execute_nanosleep(const Record& record, Warp& warp, LaneMask mask) { warp.polls += 1000; }

void execute_is_space(const Record& record, Warp& warp, LaneMask mask) {
  const auto* a = warp.lanes<uint64_t>(record.a);
  LaneMask bits = 0;
  for_lanes(mask, [&](unsigned lane) {
    bool inside = false;
    switch (static_cast<StateSpace>(record.flags)) {
      case StateSpace::kShared:
        inside = a[lane] - kSharedWindow < kWindowBytes;
        break;
      case StateSpace::kLocal:
        inside = a[lane] - kLocalWindow < kWindowBytes;
        break;
      case StateSpace::kGlobal: {
        const Allocation* allocation = warp.block->launch().global->find(a[lane]);
        inside = a[lane] >= kGlobalWindow && (allocation == nullptr || !allocation->read_only);
        break;
      }
      default: {
        const Allocation* allocation = warp.block->launch().global->find(a[lane]);
        inside = allocation != nullptr && allocation->read_only;
      }
    }
    bits |= inside ? LaneMask{1} << lane : 0;
  });
  warp.set_predicate(record.d, mask, bits);
}

void execute_shuffle(const Record& record, Warp& warp, LaneMask mask) {
  synchronised(record, warp, mask, [&](LaneMask lanes) {
    auto* d = warp.lanes<uint32_t>(record.d);
    const auto* a = warp.lanes<uint32_t>(record.a);
    const auto* b = warp.lanes<uint32_t>(record.b);
    const auto* c = warp.lanes<uint32_t>(record.c);
    uint32_t result[kLanes];
    LaneMask in_range = 0;
    LaneMask undefined = 0;
    const auto mode = static_cast<ShuffleMode>(record.flags);
    for_lanes(lanes, [&](unsigned lane) {
      const unsigned clamp = c[lane] & 31;
      const unsigned segment = c[lane] >> 8 & 31;
      const unsigned greatest = (lane & segment) | (clamp & ~segment);
      const unsigned least = lane & segment;
      const unsigned offset = b[lane] & 31;
      unsigned from = lane;
      bool valid = true;
      switch (mode) {
        case ShuffleMode::kUp:
          // The clamp of .up is the least lane.
          valid = static_cast<int>(lane) - static_cast<int>(offset) >= static_cast<int>(greatest);
          from = lane - offset;
          break;
        case ShuffleMode::kDown:
          from = lane + offset;
          valid = from <= greatest;
          break;
        case ShuffleMode::kBfly:
          from = lane ^ offset;
          valid = from <= greatest;
          break;
        case ShuffleMode::kIdx:
          from = least | (offset & ~segment);
          valid = from <= greatest;
          break;
      }
      if (!valid) from = lane;
      in_range |= valid ? LaneMask{1} << lane : 0;
      const bool takes_part = lanes >> (from & 31) & 1;
      if (!takes_part) undefined |= LaneMask{1} << lane;
      result[lane] = takes_part ? a[from & 31] : kPoison;
    });
    for_lanes(lanes, [&](unsigned lane) { d[lane] = result[lane]; });
    if (record.extra != kNoOperand) warp.set_predicate(record.extra, lanes, in_range);
    if (undefined != 0) {
      warp.fault(FaultKind::kInactiveLane, record, first_lane(undefined), 0, 0,
                 fmt::format("lanes {:08x} read from lanes outside {:08x}", undefined, lanes));
    }
  });
}

void execute_vote(const Record& record, Warp& warp, LaneMask mask) {
  synchronised(record, warp, mask, [&](LaneMask lanes) {
    const LaneMask votes = warp.predicate(record.a) & lanes;
    switch (static_cast<VoteMode>(record.flags)) {
      case VoteMode::kAll:
        return warp.set_predicate(record.d, lanes, votes == lanes ? kAllLanes : 0);
      case VoteMode::kAny:
        return warp.set_predicate(record.d, lanes, votes != 0 ? kAllLanes : 0);
      case VoteMode::kUni:
        return warp.set_predicate(record.d, lanes, votes == lanes || votes == 0 ? kAllLanes : 0);
      case VoteMode::kBallot:
        for_lanes(lanes, [&](unsigned lane) { warp.lanes<uint32_t>(record.d)[lane] = votes; });
    }
  });
}

void execute_match(const Record& record, Warp& warp, LaneMask mask) {
  const bool wide = record.flags & 2;
  synchronised(record, warp, mask, [&](LaneMask lanes) {
    const auto value = [&](unsigned lane) -> uint64_t {
      return wide ? warp.lanes<uint64_t>(record.a)[lane] : warp.lanes<uint32_t>(record.a)[lane];
    };
    LaneMask same[kLanes] = {};
    for_lanes(lanes, [&](unsigned lane) {
      for_lanes(lanes, [&](unsigned other) {
        same[lane] |= value(lane) == value(other) ? LaneMask{1} << other : 0;
      });
    });
    const bool all = record.flags & 1;
    const bool equal = same[first_lane(lanes)] == lanes;
    for_lanes(lanes, [&](unsigned lane) {
      warp.lanes<uint32_t>(record.d)[lane] = !all ? same[lane] : equal ? lanes : 0;
    });
    if (record.extra != kNoOperand) warp.set_predicate(record.extra, lanes, equal ? kAllLanes : 0);
  });
}

namespace {

uint32_t reduce(ReduceOp op, uint32_t a, uint32_t b) {
  const auto x = static_cast<int32_t>(a);
  const auto y = static_cast<int32_t>(b);
  switch (op) {
    case ReduceOp::kAdd:
      return a + b;
    case ReduceOp::kMinS32:
      return x < y ? a : b;
    case ReduceOp::kMaxS32:
      return x > y ? a : b;
    case ReduceOp::kMinU32:
      return a < b ? a : b;
    case ReduceOp::kMaxU32:
      return a > b ? a : b;
    case ReduceOp::kAnd:
      return a & b;
    case ReduceOp::kOr:
      return a | b;
    case ReduceOp::kXor:
      return a ^ b;
    case ReduceOp::kMinF32:
      return std::bit_cast<uint32_t>(minimum_number(std::bit_cast<float>(a), std::bit_cast<float>(b)));
    case ReduceOp::kMaxF32:
      return std::bit_cast<uint32_t>(maximum_number(std::bit_cast<float>(a), std::bit_cast<float>(b)));
  }
  return a;
}

}  // namespace

void execute_reduce(const Record& record, Warp& warp, LaneMask mask) {
  synchronised(record, warp, mask, [&](LaneMask lanes) {
    const auto* a = warp.lanes<uint32_t>(record.a);
    uint32_t result = a[first_lane(lanes)];
    for_lanes(lanes & (lanes - 1),
              [&](unsigned lane) { result = reduce(static_cast<ReduceOp>(record.flags), result, a[lane]); });
    for_lanes(lanes, [&](unsigned lane) { warp.lanes<uint32_t>(record.d)[lane] = result; });
  });
}

void execute_elect(const Record& record, Warp& warp, LaneMask mask) {
  synchronised(record, warp, mask, [&](LaneMask lanes) {
    const unsigned leader = first_lane(lanes);
    for_lanes(lanes, [&](unsigned lane) { warp.lanes<uint32_t>(record.d)[lane] = leader; });
    if (record.extra != kNoOperand) warp.set_predicate(record.extra, lanes, LaneMask{1} << leader);
  });
}

void execute_sync_warp(const Record& record, Warp& warp, LaneMask mask) {
  synchronised(record, warp, mask, [](LaneMask) {});
}

void execute_activemask(const Record& record, Warp& warp, LaneMask mask) {
  for_lanes(mask, [&](unsigned lane) { warp.lanes<uint32_t>(record.d)[lane] = mask; });
}

void execute_barrier(const Record& record, Warp& warp, LaneMask mask) {
  const unsigned lane = first_lane(mask);
  const uint32_t number = warp.lanes<uint32_t>(record.a)[lane];
  const uint32_t expected = record.b == kNoOperand ? 0 : warp.lanes<uint32_t>(record.b)[lane];
  if (number >= kBarriers || expected % kLanes != 0) {
    return warp.fault(FaultKind::kBarrier, record, lane, 0, 0,
                      number >= kBarriers
                          ? fmt::format("there is no barrier {}", number)
                          : fmt::format("{} threads are no multiple of the warp size", expected));
  }
  warp.block->arrive(warp, record, mask, number, expected, !(record.flags & kBarrierArrive));
}

}  // namespace tenon::emulator
