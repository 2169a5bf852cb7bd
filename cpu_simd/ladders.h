/* The host rungs of the transpose, reduction, histogram and matrix-vector ladders; contracts stand
 * with the function types in backend.h. Each file keeps its compiler flags beside its function. */
#ifndef LAP_CPU_OPS_H
#define LAP_CPU_OPS_H

#include "base/rung.h"

extern const char lap_transpose_c_flags[], lap_transpose_simd_sse41_flags[], lap_transpose_simd_avx2_flags[];
lap_transpose_fn lap_transpose_c, lap_transpose_simd_sse41, lap_transpose_simd_avx2;

extern const char lap_reduce_c_flags[], lap_reduce_pairwise_flags[], lap_reduce_openmp_flags[],
    lap_reduce_simd_sse41_flags[], lap_reduce_simd_avx2_flags[], lap_reduce_simd_avx512_flags[];
lap_reduce_fn lap_reduce_c, lap_reduce_pairwise, lap_reduce_openmp, lap_reduce_simd_sse41,
    lap_reduce_simd_avx2, lap_reduce_simd_avx512;

extern const char lap_histogram_c_flags[], lap_histogram_pairs_flags[];
lap_histogram_fn lap_histogram_c, lap_histogram_pairs;

extern const char lap_matvec_c_flags[], lap_matvec_openmp_flags[], lap_matvec_simd_sse41_flags[],
    lap_matvec_simd_avx2_flags[], lap_matvec_simd_avx512_flags[];
lap_matvec_fn lap_matvec_c, lap_matvec_openmp, lap_matvec_simd_sse41, lap_matvec_simd_avx2,
    lap_matvec_simd_avx512;

#endif
