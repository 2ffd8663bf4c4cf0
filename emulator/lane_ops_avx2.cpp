#define TENON_LANE_OPS lane_ops_internal::avx2
#include "emulator/lane_ops.inc"
