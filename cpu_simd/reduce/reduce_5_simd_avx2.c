/* simd-avx2: 256-bit registers; the loops stand in reduce_lanes.h.
 * Since simd-sse41: the width of vectors.
 * Memory: each value once.
 * Limit: reading memory, nearly (simd-avx512 takes 0.9 of its time). */
#define LAP_VECTOR 32
#define LAP_REDUCE_NAME lap_reduce_simd_avx2
#include "reduce_lanes.h"

const char lap_reduce_simd_avx2_flags[] = LAP_RUNG_FLAGS;
