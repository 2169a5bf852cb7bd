/* Matrix times vector with 256-bit registers. */
#define LAP_VECTOR 32
#define LAP_MATVEC_NAME lap_matvec_simd_avx2
#include "matvec_lanes.h"

const char lap_matvec_simd_avx2_flags[] = LAP_RUNG_FLAGS;
