// cp.async. The source is read when the copy is issued; the bytes appear in shared memory only when a wait
// completes the copy, which is as late as a device may do it. Until then reading them is a fault.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/memory_request.h"

namespace tenon::emulator {
namespace {

// Shared memory of pending bytes cannot be read until the copy is complete.
void mark_pending(const Memory& to, unsigned bytes) {
  std::memset(to.state, kWritable | kAsyncPending, bytes);
}

void complete(Warp& warp, PendingCopy& copy, LaneMask mask) {
  for (LaneMask rest = copy.mask & mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Memory to = warp.block->shared(copy.to[lane], copy.bytes);
    std::memcpy(to.data, copy.data[lane], copy.bytes);
    std::memset(to.state, kReadable | kWritable, copy.bytes);
  }
  copy.mask &= ~mask;
}

// Reads `size` bytes of the source, which is aligned for `bytes`. False after a fault that stops.
bool copy_source(const Record& record, Warp& warp, unsigned lane, uint64_t address, unsigned bytes,
                 unsigned size, uint8_t* to) {
  if (address % bytes != 0) {
    warp.fault(FaultKind::kMisaligned, record, lane, address, bytes,
               warp.block->describe(StateSpace::kGlobal, address, bytes));
    return false;
  }
  for (unsigned i = 0; i < size; ++i) {
    const Memory from = check_lane<StateSpace::kGlobal>(record, warp, lane, address + i, 1, false, true);
    if (from.data == nullptr) return false;
    to[i] = *from.data;
  }
  return true;
}

}  // namespace

void execute_copy_async(const Record& record, Warp& warp, LaneMask mask) {
  const unsigned bytes = record.flags & 0xFF;
  const bool wide = record.flags >> 8 & 1;
  Request shared;
  Record to_record = record;
  to_record.immediate = static_cast<uint64_t>(static_cast<int64_t>(record.immediate) >> 32);
  read_addresses(shared, to_record, warp, mask, wide, bytes);
  classify(shared);
  count_traffic<StateSpace::kShared>(record, warp, shared, true);
  Request global;
  Record from_record = record;
  from_record.a = record.b;
  from_record.immediate = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(record.immediate)));
  read_addresses(global, from_record, warp, mask, true, bytes);
  classify(global);

  PendingCopy copy;
  copy.mask = mask;
  copy.bytes = bytes;
  LaneMask reading = 0;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned size =
        record.c == kNoOperand ? bytes : std::min(warp.lanes<uint32_t>(record.c)[lane], bytes);
    const Memory to =
        check_lane<StateSpace::kShared>(record, warp, lane, shared.addresses[lane], bytes, true, false);
    if (to.data == nullptr) return;
    std::memset(copy.data[lane], 0, sizeof copy.data[lane]);
    if (size != 0) {
      reading |= LaneMask{1} << lane;
      if (!copy_source(record, warp, lane, global.addresses[lane], bytes, size, copy.data[lane])) return;
    }
    mark_pending(to, bytes);
    copy.to[lane] = shared.addresses[lane];
    copy.group[lane] = warp.committed[lane];
  }
  if (reading != 0) {
    global.mask = reading;
    if (reading != mask) global.pattern = Pattern::kAny;
    count_traffic<StateSpace::kGeneric>(record, warp, global, false);
  }
  warp.copies.push_back(copy);
}

void execute_copy_commit(const Record& record, Warp& warp, LaneMask mask) {
  for (; mask != 0; mask &= mask - 1) ++warp.committed[std::countr_zero(mask)];
}

void execute_copy_wait(const Record& record, Warp& warp, LaneMask mask) {
  const bool all = record.extra == kAllGroups;
  for (PendingCopy& copy : warp.copies) {
    LaneMask done = 0;
    for (LaneMask rest = copy.mask & mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (all || copy.group[lane] + uint64_t{record.extra} < warp.committed[lane])
        done |= LaneMask{1} << lane;
    }
    if (done != 0) complete(warp, copy, done);
  }
  std::erase_if(warp.copies, [](const PendingCopy& copy) { return copy.mask == 0; });
}

}  // namespace tenon::emulator
