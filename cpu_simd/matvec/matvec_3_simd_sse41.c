/* simd-sse41: 128-bit registers; the loops are in matvec_lanes.h.
 * Since openmp: 16 partial sums per row, and four rows for each load of x.
 * Memory: the matrix once.
 * Measured: simd-avx2 takes 0.86 times as long as this rung (a matrix of 4000x4000, one thread,
 * Zen 4). */
#define LAP_VECTOR 16
#define LAP_MATVEC_NAME lap_matvec_simd_sse41
#include "matvec_lanes.h"

const char lap_matvec_simd_sse41_flags[] = LAP_RUNG_FLAGS;
