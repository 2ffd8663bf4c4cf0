#define TENON_LANE_OPS lane_ops_internal::baseline
#include "emulator/lane_ops.inc"
