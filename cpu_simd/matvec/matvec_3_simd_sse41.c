/* simd-sse41: 128-bit registers; the loops stand in matvec_lanes.h.
 * Since openmp: 16 partial sums per row, and four rows for each load of x.
 * Memory: the matrix once.
 * Limit: instructions, at least in part: simd-avx2 takes 0.9 of its time; then reading the matrix. */
#define LAP_VECTOR 16
#define LAP_MATVEC_NAME lap_matvec_simd_sse41
#include "matvec_lanes.h"

const char lap_matvec_simd_sse41_flags[] = LAP_RUNG_FLAGS;
