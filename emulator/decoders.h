// One function an instruction, as isa.def names them.
#pragma once

#include <string_view>

#include "emulator/decoder.h"
#include "emulator/program.h"

namespace tenon::emulator {

using DecodeFunction = void (*)(Decoder& decoder);

struct Opcode {
  std::string_view spelling;
  InstructionClass instruction_class;
  DecodeFunction decode;
};

// Null for an instruction that the device does not know.
const Opcode* opcode_by_name(std::string_view spelling);

namespace decoders {
void decode_mov(Decoder& decoder);
void decode_cvta(Decoder& decoder);
void decode_cvt(Decoder& decoder);
void decode_isspacep(Decoder& decoder);
void decode_add_sub(Decoder& decoder);
void decode_mul(Decoder& decoder);
void decode_mad(Decoder& decoder);
void decode_mul24(Decoder& decoder);
void decode_div(Decoder& decoder);
void decode_rem(Decoder& decoder);
void decode_abs_neg(Decoder& decoder);
void decode_min_max(Decoder& decoder);
void decode_sad(Decoder& decoder);
void decode_dot(Decoder& decoder);
void decode_fma(Decoder& decoder);
void decode_copysign(Decoder& decoder);
void decode_testp(Decoder& decoder);
void decode_root(Decoder& decoder);
void decode_approximate(Decoder& decoder);
void decode_logic(Decoder& decoder);
void decode_unary_bits(Decoder& decoder);
void decode_bfind(Decoder& decoder);
void decode_shift(Decoder& decoder);
void decode_shf(Decoder& decoder);
void decode_bfe(Decoder& decoder);
void decode_bfi(Decoder& decoder);
void decode_bmsk(Decoder& decoder);
void decode_lop3(Decoder& decoder);
void decode_prmt(Decoder& decoder);
void decode_setp(Decoder& decoder);
void decode_set(Decoder& decoder);
void decode_selp(Decoder& decoder);
void decode_slct(Decoder& decoder);
void decode_load(Decoder& decoder);
void decode_store(Decoder& decoder);
void decode_ignored(Decoder& decoder);
void decode_atomic(Decoder& decoder);
void decode_cp(Decoder& decoder);
void decode_shfl(Decoder& decoder);
void decode_vote(Decoder& decoder);
void decode_match(Decoder& decoder);
void decode_redux(Decoder& decoder);
void decode_elect(Decoder& decoder);
void decode_activemask(Decoder& decoder);
void decode_barrier(Decoder& decoder);
void decode_nanosleep(Decoder& decoder);
void decode_bra(Decoder& decoder);
void decode_brx(Decoder& decoder);
void decode_call(Decoder& decoder);
void decode_ret(Decoder& decoder);
void decode_exit(Decoder& decoder);
void decode_trap(Decoder& decoder);
}  // namespace decoders

}  // namespace tenon::emulator
