/* The simd rungs: one algorithm, written with the operations of simd_sse41.h, simd_avx2.h, simd_avx512.h or
 * simd_neon.h; the compiler flags of the including file choose the header (simd_words.h).
 *
 * Rows are strings of samples. With c channels, neighbours in the window lie c bytes apart, so the same code
 * works for 1, 3 and 4 channels. An image is cut into strips of columns, and each strip is processed from top
 * to bottom, so that the data kept from row to row stays in the first-level cache. Three forms:
 *
 *   box    laplace5: o = 25 p - box. The five bytes of a row are summed once (unaligned loads; one
 *          instruction widens pairs of samples and adds them), and the sums of rows slide down:
 *          box += new row - row that leaves. 16-bit integers throughout.
 *   taps   integer kernels whose sums fit 16 bits: two taps per multiply-add.
 *   float  all others, in the order of c's sums: the same bits as c.
 *
 * static inline only. */
#ifndef LAP_CPU_SIMD_FILTER_H
#define LAP_CPU_SIMD_FILTER_H

#include <string.h>

#include "cpu_simd/host_rungs.h"
#include "simd_box.h"
#include "simd_float.h"
#include "simd_taps.h"

typedef void plane_form(const plane *p, const lap_params *params);

static inline void run_plane(const plane *p, const lap_params *params)
{
    const finish f = finish_of(params);
    if (params->kernel.is_laplace5)
        run_box(p, &f);
    else if (taps_fit(&params->kernel))
        run_taps(p, params, &f);
    else
        run_float(p, params, &f);
}

/* Filters an image narrower than a vector: copies a few rows at a time to a buffer with room on the right. */
static inline void run_narrow(plane_form *form, const plane *p, const lap_params *params)
{
    enum { ROWS = 32, STRIDE = VB + 2 * LAP_APRON * 4 };
    uint8_t src[(ROWS + 2 * LAP_APRON) * STRIDE] = {0}, dst[ROWS * VB];
    const ptrdiff_t left = LAP_APRON * p->step;
    for (int y0 = 0; y0 < p->height; y0 += ROWS) {
        const int rows = p->height - y0 < ROWS ? p->height - y0 : ROWS;
        for (int y = 0; y < rows + 2 * LAP_APRON; y++) {
            memcpy(src + y * STRIDE, p->src + (y0 + y - LAP_APRON) * p->src_stride - left,
                (size_t)p->n + 2 * (size_t)left);
        }
        plane copy = {.src = src + LAP_APRON * STRIDE + left,
            .dst = dst,
            .src_stride = STRIDE,
            .dst_stride = VB,
            .n = VB,
            .height = rows,
            .step = p->step};
        form(&copy, params);
        for (int y = 0; y < rows; y++)
            memcpy(p->dst + (y0 + y) * p->dst_stride, dst + y * VB, (size_t)p->n);
    }
}

/* Filters the whole view with a form. past_caches: stores may bypass the caches. */
static inline lap_code simd_filter_by(
    plane_form *form, const lap_view *in, const lap_view *out, const lap_params *params, bool past_caches)
{
    plane p = {.src = in->base,
        .dst = out->base,
        .src_stride = in->stride,
        .dst_stride = out->stride,
        .n = (ptrdiff_t)out->width * out->channels,
        .height = out->height,
        .step = out->channels};
    p.stream = past_caches && ((uintptr_t)p.dst | (uintptr_t)p.dst_stride) % VB == 0;
    if (p.n < VB)
        run_narrow(form, &p, params);
    else
        form(&p, params);
    if (p.stream)
        v_fence();
    return LAP_OK;
}

static inline lap_code simd_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    return simd_filter_by(run_plane, in, out, params, exec->past_caches);
}

#endif
