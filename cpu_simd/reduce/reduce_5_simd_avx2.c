/* Sum with 256-bit registers. */
#define LAP_VECTOR 32
#define LAP_REDUCE_NAME lap_reduce_simd_avx2
#include "reduce_lanes.h"

const char lap_reduce_simd_avx2_flags[] = LAP_RUNG_FLAGS;
