/* The host rungs of all ladders; base/rung.h documents their contracts at the function types. Each file
 * defines a function and a string with the file's compiler flags: LAP_HOST_RUNG declares both. */
#ifndef LAP_HOST_RUNGS_H
#define LAP_HOST_RUNGS_H

#include "base/rung.h"

#define LAP_HOST_RUNG(ladder, name)                    \
    extern const char lap_##ladder##_##name##_flags[]; \
    lap_##ladder##_fn lap_##ladder##_##name

LAP_HOST_RUNG(filter, c);
LAP_HOST_RUNG(filter, openmp);
LAP_HOST_RUNG(filter, sse);
LAP_HOST_RUNG(filter, sse_samples);
LAP_HOST_RUNG(filter, sse_taps);
LAP_HOST_RUNG(filter, sse_box);
LAP_HOST_RUNG(filter, sse_slide);
LAP_HOST_RUNG(filter, simd_sse41);
LAP_HOST_RUNG(filter, simd_avx2);
LAP_HOST_RUNG(filter, simd_avx512);
LAP_HOST_RUNG(filter, simd_neon);

LAP_HOST_RUNG(transpose, c);
LAP_HOST_RUNG(transpose, simd_sse41);
LAP_HOST_RUNG(transpose, simd_avx2);
LAP_HOST_RUNG(transpose, simd_neon);

LAP_HOST_RUNG(reduce, c);
LAP_HOST_RUNG(reduce, pairwise);
LAP_HOST_RUNG(reduce, openmp);
LAP_HOST_RUNG(reduce, simd_sse41);
LAP_HOST_RUNG(reduce, simd_avx2);
LAP_HOST_RUNG(reduce, simd_avx512);
LAP_HOST_RUNG(reduce, simd_neon);

LAP_HOST_RUNG(histogram, c);
LAP_HOST_RUNG(histogram, simd);

LAP_HOST_RUNG(matvec, c);
LAP_HOST_RUNG(matvec, openmp);
LAP_HOST_RUNG(matvec, simd_sse41);
LAP_HOST_RUNG(matvec, simd_avx2);
LAP_HOST_RUNG(matvec, simd_avx512);
LAP_HOST_RUNG(matvec, simd_neon);

#endif
