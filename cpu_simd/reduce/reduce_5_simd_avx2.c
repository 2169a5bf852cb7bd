/* simd-avx2: 256-bit registers; the loops are in reduce_lanes.h.
 * Since simd-sse41: wider vectors.
 * Memory: each value once.
 * Measured: simd-avx512 takes 0.89 times as long as this rung (10^7 floats, one thread, Zen 4). */
#define LAP_VECTOR 32
#define LAP_REDUCE_NAME lap_reduce_simd_avx2
#include "reduce_lanes.h"

const char lap_reduce_simd_avx2_flags[] = LAP_RUNG_FLAGS;
