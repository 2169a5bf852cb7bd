/* Sum with 128-bit registers. */
#define LAP_VECTOR 16
#define LAP_REDUCE_NAME lap_reduce_simd_sse41
#include "reduce_lanes.h"

const char lap_reduce_simd_sse41_flags[] = LAP_RUNG_FLAGS;
