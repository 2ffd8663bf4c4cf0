// Shuffles, votes, barriers, control flow.
#include <fmt/format.h>

#include "emulator/control_flow.h"
#include "emulator/decoders.h"
#include "emulator/thread_ops.h"

namespace tenon::emulator::decoders {
namespace {

// The membership mask operand, as the handlers want it.
uint64_t members(Decoder& decoder, size_t index) { return decoder.source(index, PtxType::kB32); }

}  // namespace

void decode_shfl(Decoder& decoder) {
  if (!decoder.take("sync")) return decoder.fail("shfl without .sync is not supported");
  constexpr std::string_view kModes[] = {"up", "down", "bfly", "idx"};
  uint32_t mode = 0;
  while (mode < std::size(kModes) && !decoder.take(kModes[mode])) ++mode;
  if (mode == std::size(kModes)) return decoder.fail("expected a shuffle mode");
  decoder.expect_type();
  const Operand& target = decoder.operand(0);
  const LaneRef a = decoder.source(1, PtxType::kB32);
  const LaneRef b = decoder.source(2, PtxType::kB32);
  const LaneRef c = decoder.source(3, PtxType::kB32);
  const uint64_t mask = members(decoder, 4);
  const LaneRef d = decoder.destination(target, PtxType::kB32);
  const LaneRef p = target.has_second ? decoder.destination_predicate(target.elements[0]) : kNoOperand;
  Record& record = decoder.emit(execute_shuffle);
  record.d = d;
  record.a = a;
  record.b = b;
  record.c = c;
  record.extra = p;
  record.flags = mode;
  record.immediate = mask;
}

void decode_vote(Decoder& decoder) {
  if (!decoder.take("sync")) return decoder.fail("vote without .sync is not supported");
  constexpr std::string_view kModes[] = {"all", "any", "uni", "ballot"};
  uint32_t mode = 0;
  while (mode < std::size(kModes) && !decoder.take(kModes[mode])) ++mode;
  if (mode == std::size(kModes)) return decoder.fail("expected a vote mode");
  decoder.expect_type();
  const LaneRef a = decoder.predicate(decoder.operand(1));
  const uint64_t mask = members(decoder, 2);
  const LaneRef d = mode == static_cast<uint32_t>(VoteMode::kBallot)
                        ? decoder.destination(0, PtxType::kB32)
                        : decoder.destination_predicate(decoder.operand(0));
  Record& record = decoder.emit(execute_vote);
  record.d = d;
  record.a = a;
  record.flags = mode;
  record.immediate = mask;
}

void decode_match(Decoder& decoder) {
  const bool all = decoder.take("all");
  if (!all && !decoder.take("any")) return decoder.fail("expected .any or .all");
  decoder.take("sync");
  const PtxType type = decoder.expect_type();
  const Operand& target = decoder.operand(0);
  const LaneRef a = decoder.source(1, type);
  const uint64_t mask = members(decoder, 2);
  const LaneRef d = decoder.destination(target, PtxType::kB32);
  const LaneRef p = target.has_second ? decoder.destination_predicate(target.elements[0]) : kNoOperand;
  Record& record = decoder.emit(execute_match);
  record.d = d;
  record.a = a;
  record.extra = p;
  record.flags = (all ? 1u : 0u) | (bit_width(type) == 64 ? 2u : 0u);
  record.immediate = mask;
}

namespace {

std::optional<ReduceOp> reduce_op(std::string_view op, PtxType type) {
  const bool is_signed_type = is_signed(type);
  if (op == "add") return ReduceOp::kAdd;
  if (op == "min" && type == PtxType::kF32) return ReduceOp::kMinF32;
  if (op == "max" && type == PtxType::kF32) return ReduceOp::kMaxF32;
  if (op == "min") return is_signed_type ? ReduceOp::kMinS32 : ReduceOp::kMinU32;
  if (op == "max") return is_signed_type ? ReduceOp::kMaxS32 : ReduceOp::kMaxU32;
  if (op == "and") return ReduceOp::kAnd;
  if (op == "or") return ReduceOp::kOr;
  if (op == "xor") return ReduceOp::kXor;
  return std::nullopt;
}

}  // namespace

void decode_redux(Decoder& decoder) {
  decoder.take("sync");
  const std::string_view name = decoder.take_any({"add", "min", "max", "and", "or", "xor"});
  const PtxType type = decoder.expect_type();
  const auto op = reduce_op(name, type);
  if (!op || bit_width(type) != 32) return decoder.fail("unknown reduction");
  const LaneRef a = decoder.source(1, type);
  const uint64_t mask = members(decoder, 2);
  const LaneRef d = decoder.destination(0, type);
  Record& record = decoder.emit(execute_reduce);
  record.d = d;
  record.a = a;
  record.flags = static_cast<uint32_t>(*op);
  record.immediate = mask;
}

void decode_elect(Decoder& decoder) {
  decoder.take("sync");
  const Operand& target = decoder.operand(0);
  const uint64_t mask = members(decoder, 1);
  const LaneRef d = decoder.destination(target, PtxType::kB32);
  const LaneRef p = target.has_second ? decoder.destination_predicate(target.elements[0]) : kNoOperand;
  Record& record = decoder.emit(execute_elect);
  record.d = d;
  record.extra = p;
  record.immediate = mask;
}

void decode_activemask(Decoder& decoder) {
  decoder.expect_type();
  const LaneRef d = decoder.destination(0, PtxType::kB32);
  decoder.emit(execute_activemask).d = d;
}

namespace {

void decode_barrier_reduction(Decoder& decoder, std::string_view op, uint32_t flags) {
  const bool count = op == "popc";
  decoder.expect_type();
  const LaneRef d =
      count ? decoder.destination(0, PtxType::kB32) : decoder.destination_predicate(decoder.operand(0));
  const LaneRef a = decoder.source(1, PtxType::kB32);
  const bool counted = decoder.operand_count() > 3;
  const LaneRef b = counted ? decoder.source(2, PtxType::kB32) : kNoOperand;
  const LaneRef c = decoder.predicate(decoder.operand(counted ? 3 : 2));
  Record& record = decoder.emit(execute_barrier);
  record.d = d;
  record.a = a;
  record.b = b;
  record.c = c;
  record.extra = count ? 1 : op == "and" ? 2 : 3;
  record.flags = flags;
}

}  // namespace

void decode_barrier(Decoder& decoder) {
  decoder.take("cta");
  if (decoder.take("warp")) {
    decoder.take("sync");
    const uint64_t mask = members(decoder, 0);
    decoder.emit(execute_sync_warp).immediate = mask;
    return;
  }
  // bar is barrier.aligned.
  uint32_t flags = decoder.take("aligned") || decoder.opcode() == "bar" ? kBarrierAligned : 0;
  if (decoder.take("red")) {
    const std::string_view op = decoder.take_any({"popc", "and", "or"});
    if (op.empty()) return decoder.fail("expected .popc, .and or .or");
    return decode_barrier_reduction(decoder, op, flags);
  }
  if (decoder.take("arrive")) flags |= kBarrierArrive;
  if ((flags & kBarrierArrive) == 0 && !decoder.take("sync")) return decoder.fail("unknown barrier");
  const LaneRef a = decoder.source(0, PtxType::kB32);
  const LaneRef b = decoder.operand_count() > 1 ? decoder.source(1, PtxType::kB32) : kNoOperand;
  if ((flags & kBarrierArrive) != 0 && b == kNoOperand)
    return decoder.fail("an arrival names a thread count");
  Record& record = decoder.emit(execute_barrier);
  record.a = a;
  record.b = b;
  record.flags = flags;
}

void decode_nanosleep(Decoder& decoder) {
  decoder.take_type();
  decoder.emit(execute_nanosleep);
}

void decode_ignored(Decoder& decoder) { decoder.take_everything(); }

void decode_bra(Decoder& decoder) {
  decoder.take("uni");
  const Operand& target = decoder.operand(0);
  if (target.kind != Operand::Kind::kSymbol) return decoder.fail(target.position, "expected a label");
  decoder.branch_to(decoder.emit(execute_branch), target.name, target.position);
}

void decode_brx(Decoder& decoder) {
  decoder.take("uni");
  if (!decoder.take("idx")) return decoder.fail("expected .idx");
  const LaneRef a = decoder.source(0, PtxType::kB32);
  const Operand& list = decoder.operand(1);
  const BranchTargets* targets = decoder.branch_targets(list.name);
  if (targets == nullptr) return decoder.fail(list.position, "expected the name of a .branchtargets list");
  const uint32_t start = decoder.add_branch_list(*targets, list.position);
  Record& record = decoder.emit(execute_branch_indexed);
  record.a = a;
  record.extra = start;
  record.immediate = targets->labels.size();
}

void decode_call(Decoder& decoder) {
  decoder.take("uni");
  std::span<const Operand> results;
  std::span<const Operand> arguments;
  size_t next = 0;
  if (decoder.operand(0).kind == Operand::Kind::kGroup) results = decoder.operand(next++).elements;
  const Operand& function = decoder.operand(next++);
  if (function.kind != Operand::Kind::kSymbol) {
    return decoder.fail(function.position, "only calls of functions by name are supported");
  }
  if (decoder.operand_count() > next) arguments = decoder.operand(next++).elements;
  if (decoder.operand_count() > next) return decoder.fail("too many operands");
  decoder.call(function.name, results, arguments, function.position);
}

void decode_ret(Decoder& decoder) {
  decoder.take("uni");
  decoder.emit(decoder.in_entry() ? execute_exit : execute_return);
}

void decode_exit(Decoder& decoder) { decoder.emit(execute_exit); }

void decode_trap(Decoder& decoder) { decoder.emit(execute_trap); }

}  // namespace tenon::emulator::decoders
