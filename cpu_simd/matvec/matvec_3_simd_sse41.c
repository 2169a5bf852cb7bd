/* Matrix times vector with 128-bit registers. */
#define LAP_VECTOR 16
#define LAP_MATVEC_NAME lap_matvec_simd_sse41
#include "matvec_lanes.h"

const char lap_matvec_simd_sse41_flags[] = LAP_RUNG_FLAGS;
