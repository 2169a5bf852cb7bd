/* simd-avx2: 256-bit registers; the loops are in matvec_lanes.h.
 * Since simd-sse41: wider vectors.
 * Memory: the matrix once.
 * Measured: simd-avx512 takes 0.95 times as long as this rung (a matrix of 4000x4000, one thread,
 * Zen 4). */
#define LAP_VECTOR 32
#define LAP_MATVEC_NAME lap_matvec_simd_avx2
#include "matvec_lanes.h"

const char lap_matvec_simd_avx2_flags[] = LAP_RUNG_FLAGS;
