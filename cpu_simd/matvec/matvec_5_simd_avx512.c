/* Matrix times vector with 512-bit registers. */
#define LAP_VECTOR 64
#define LAP_MATVEC_NAME lap_matvec_simd_avx512
#include "matvec_lanes.h"

const char lap_matvec_simd_avx512_flags[] = LAP_RUNG_FLAGS;
