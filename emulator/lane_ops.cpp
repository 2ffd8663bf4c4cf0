#include "emulator/lane_ops.h"

namespace tenon::emulator {

InstructionSet best_instruction_set() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma")) {
    return InstructionSet::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::kAvx2;
#endif
  return InstructionSet::kBaseline;
}

std::span<const LaneOp> lane_ops(InstructionSet set) {
  if (set > best_instruction_set()) return {};
  switch (set) {
#if defined(__x86_64__)
    case InstructionSet::kAvx512:
      return lane_ops_internal::avx512();
    case InstructionSet::kAvx2:
      return lane_ops_internal::avx2();
#else
    case InstructionSet::kAvx512:
    case InstructionSet::kAvx2:
      return {};
#endif
    case InstructionSet::kBaseline:
      return lane_ops_internal::baseline();
  }
  return {};
}

}  // namespace tenon::emulator
