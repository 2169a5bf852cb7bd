/* simd-neon: 128-bit registers of aarch64; the loops are in reduce_lanes.h.
 * Since openmp: 32 partial sums side by side, widened to double every 1024 values; the same bits in every
 * width.
 * Memory: each value once.
 * Limit: not measured. */
#define LAP_VECTOR 16
#define LAP_REDUCE_NAME lap_reduce_simd_neon
#include "reduce_lanes.h"

const char lap_reduce_simd_neon_flags[] = LAP_RUNG_FLAGS;
