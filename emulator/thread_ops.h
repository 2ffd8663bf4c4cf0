// Handlers that look at a warp as a whole or at time: shuffles, votes, barriers, clocks.
#pragma once

#include "emulator/program.h"

namespace tenon::emulator {

void execute_clock(const Record& record, Warp& warp, LaneMask mask);
void execute_clock64(const Record& record, Warp& warp, LaneMask mask);
void execute_nanosleep(const Record& record, Warp& warp, LaneMask mask);
// d: predicate; a: generic addresses; `flags`: the StateSpace.
void execute_is_space(const Record& record, Warp& warp, LaneMask mask);

// The instructions with a membership mask take it from `immediate`, a LaneRef.
enum class ShuffleMode : uint8_t { kUp, kDown, kBfly, kIdx };
// d, a: value; b: lane; c: clamp and segment mask; `extra`: predicate that the source is in range, or
// kNoOperand.
void execute_shuffle(const Record& record, Warp& warp, LaneMask mask);
enum class VoteMode : uint8_t { kAll, kAny, kUni, kBallot };
// a: predicate; d: predicate, or the mask for a ballot.
void execute_vote(const Record& record, Warp& warp, LaneMask mask);
// d: mask; a: value; `extra`: predicate of match.all; `flags`: 1 for all, 2 for 64-bit values.
void execute_match(const Record& record, Warp& warp, LaneMask mask);
enum class ReduceOp : uint8_t { kAdd, kMinS32, kMaxS32, kMinU32, kMaxU32, kAnd, kOr, kXor, kMinF32, kMaxF32 };
// d, a; `flags`: ReduceOp.
void execute_reduce(const Record& record, Warp& warp, LaneMask mask);
// d: the leader's lane; `extra`: predicate.
void execute_elect(const Record& record, Warp& warp, LaneMask mask);
void execute_sync_warp(const Record& record, Warp& warp, LaneMask mask);
void execute_activemask(const Record& record, Warp& warp, LaneMask mask);

// a: barrier number; b: thread count or kNoOperand; c: predicate of a reduction; d: its result; `extra`: 0
// none, 1 popc, 2 and, 3 or; `flags`: kBarrierArrive, kBarrierAligned.
inline constexpr uint32_t kBarrierArrive = 1;
inline constexpr uint32_t kBarrierAligned = 2;
void execute_barrier(const Record& record, Warp& warp, LaneMask mask);

}  // namespace tenon::emulator
