// Branches, calls and exits: their handlers, and where divergent lanes meet again.
#pragma once

#include "emulator/program.h"

namespace tenon::emulator {

// `extra`: the target; a guard chooses the lanes.
void execute_branch(const Record& record, Warp& warp, LaneMask mask);
// a: the index; `extra`: a list of `immediate` targets.
void execute_branch_indexed(const Record& record, Warp& warp, LaneMask mask);
// `extra`: the first record of the function.
void execute_call(const Record& record, Warp& warp, LaneMask mask);
void execute_return(const Record& record, Warp& warp, LaneMask mask);
void execute_exit(const Record& record, Warp& warp, LaneMask mask);
void execute_trap(const Record& record, Warp& warp, LaneMask mask);
void execute_nothing(const Record& record, Warp& warp, LaneMask mask);

// Fills `reconvergence` of the branches in the records [begin, end), one function: the start of the block's
// immediate post-dominator. Paths that end in an exit, a trap or an early return do not count where another
// path goes on.
void set_reconvergence(Program& program, uint32_t begin, uint32_t end);

}  // namespace tenon::emulator
