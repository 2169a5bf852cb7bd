/* simd-avx512: 512-bit registers; the loops are in matvec_lanes.h.
 * Since simd-avx2: wider vectors.
 * Memory: the matrix once.
 * Measured: this rung takes 0.95 times as long as simd-avx2 (a matrix of 4000x4000, one thread,
 * Zen 4). */
#define LAP_VECTOR 64
#define LAP_MATVEC_NAME lap_matvec_simd_avx512
#include "matvec_lanes.h"

const char lap_matvec_simd_avx512_flags[] = LAP_RUNG_FLAGS;
