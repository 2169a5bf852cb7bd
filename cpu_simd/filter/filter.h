/* The host rungs of the filter ladder; their contract stands with lap_filter_fn in backend.h. Each
 * file keeps its compiler flags beside its function. */
#ifndef LAP_CPU_FILTER_H
#define LAP_CPU_FILTER_H

#include "base/rung.h"

extern const char lap_filter_c_flags[], lap_filter_openmp_flags[], lap_filter_sse_flags[];
lap_filter_fn lap_filter_c, lap_filter_openmp, lap_filter_sse;

extern const char lap_filter_sse41_flags[], lap_filter_avx2_flags[], lap_filter_avx512_flags[];
lap_filter_fn lap_filter_sse41, lap_filter_avx2, lap_filter_avx512;

#endif
