#define TENON_LANE_OPS lane_ops_internal::avx512
#include "emulator/lane_ops.inc"
