/* Sum with 512-bit registers. */
#define LAP_VECTOR 64
#define LAP_REDUCE_NAME lap_reduce_simd_avx512
#include "reduce_lanes.h"

const char lap_reduce_simd_avx512_flags[] = LAP_RUNG_FLAGS;
