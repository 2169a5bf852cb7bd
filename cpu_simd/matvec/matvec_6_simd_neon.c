/* simd-neon: 128-bit registers of aarch64; the loops are in matvec_lanes.h.
 * Since openmp: 16 partial sums per row, and four rows for each load of x.
 * Memory: the matrix once.
 * Limit: not measured. */
#define LAP_VECTOR 16
#define LAP_MATVEC_NAME lap_matvec_simd_neon
#include "matvec_lanes.h"

const char lap_matvec_simd_neon_flags[] = LAP_RUNG_FLAGS;
