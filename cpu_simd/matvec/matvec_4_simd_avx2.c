/* simd-avx2: 256-bit registers; the loops stand in matvec_lanes.h.
 * Since simd-sse41: the width of vectors.
 * Memory: the matrix once.
 * Limit: reading the matrix, nearly (simd-avx512 takes 0.9 of its time). */
#define LAP_VECTOR 32
#define LAP_MATVEC_NAME lap_matvec_simd_avx2
#include "matvec_lanes.h"

const char lap_matvec_simd_avx2_flags[] = LAP_RUNG_FLAGS;
