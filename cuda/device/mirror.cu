/* Copies rows, or mirrors them left to right; together with a transpose, this makes every rotation. Negative
 * strides of the views reverse the order of rows. Reads and writes each pixel once, by words: four pixels of
 * 3 bytes are three words. If a row ends inside a word, each word of the mirrored row is combined from two by
 * shifts. No shared memory. 64x4 threads, four pixels each.
 * Limit: not measured. */
#include "launch.cuh"

constexpr int ACROSS = 64, DOWN = 4, PIXELS = 4;

/* Reverses the order of four pixels. A digit of a selector names a byte: 0 to 3 of the first word, 4 to 7 of
 * the second; the last digit is the lowest byte. */
LAP_DEVICE void mirror_pixels(unsigned (&r)[1])
{
    r[0] = __byte_perm(r[0], 0, 0x0123);
}

/* r0 g0 b0 r1 | g1 b1 r2 g2 | b2 r3 g3 b3  ->  r3 g3 b3 r2 | g2 b2 r1 g1 | b1 r0 g0 b0 */
LAP_DEVICE void mirror_pixels(unsigned (&r)[3])
{
    const unsigned b2_r1 = __byte_perm(r[2], r[0], 0x0070), middle = __byte_perm(r[1], b2_r1, 0x0543);
    const unsigned first = __byte_perm(r[1], r[2], 0x2765), last = __byte_perm(r[0], r[1], 0x2105);
    r[0] = first;
    r[1] = middle;
    r[2] = last;
}

/* Loads pixels x .. x + 3 of the mirrored row, which end x pixels before the end of the source row. Up to 3
 * of them may lie before the source row, that is, after the mirrored row. */
template <int SIZE>
LAP_DEVICE void load_mirrored(const uint8_t *row, int width, int x, unsigned (&r)[SIZE])
{
    const ptrdiff_t at = ((ptrdiff_t)width - PIXELS - x) * SIZE;
    const unsigned inside = (unsigned)(at & 3), shift = 8 * inside;
    const unsigned *words = reinterpret_cast<const unsigned *>(row + (at - (ptrdiff_t)inside));
    unsigned low = words[0];
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        /* Memory after the last word of the view may not be readable. */
        const unsigned high = k + 1 < SIZE || inside ? words[k + 1] : 0;
        r[k] = __funnelshift_r(low, high, shift);
        low = high;
    }
    mirror_pixels(r);
}

template <int SIZE, bool MIRRORED>
static __global__ void __launch_bounds__(ACROSS *DOWN) rows_kernel(const uint8_t *__restrict__ in,
    ptrdiff_t in_stride, uint8_t *__restrict__ out, ptrdiff_t out_stride, int width, int height)
{
    const int x = (int)(blockIdx.x * ACROSS + threadIdx.x) * PIXELS;
    const ptrdiff_t first = (ptrdiff_t)x * SIZE, end = (ptrdiff_t)width * SIZE;
    if (x >= width)
        return;
    for (int y = (int)(blockIdx.y * DOWN + threadIdx.y); y < height; y += (int)gridDim.y * DOWN) {
        const uint8_t *row = in + y * in_stride;
        unsigned *to = reinterpret_cast<unsigned *>(out + y * out_stride + first);
        unsigned r[SIZE];
        if (MIRRORED)
            load_mirrored<SIZE>(row, width, x, r);
#pragma unroll
        for (int k = 0; k < SIZE; k++)
            if (first + 4 * k < end)
                to[k] = MIRRORED ? r[k] : reinterpret_cast<const unsigned *>(row + first)[k];
    }
}

extern "C" lap_code lap_cuda_mirror(
    const lap_view *in, const lap_view *out, bool left_right, void *stream, lap_error *err)
{
    constexpr unsigned MOST_ROWS = 65535;
    const unsigned across = (unsigned)((in->width - 1) / (ACROSS * PIXELS) + 1);
    const unsigned down = (unsigned)((in->height - 1) / DOWN + 1);
    const lap_launch launch = {
        in->place, dim3(across, down < MOST_ROWS ? down : MOST_ROWS), dim3(ACROSS, DOWN), 0, stream, err};
    if (in->channels == 1)
        return LAP_LAUNCH(launch, (left_right ? rows_kernel<1, true> : rows_kernel<1, false>), in->base,
            in->stride, out->base, out->stride, in->width, in->height);
    if (in->channels == 3)
        return LAP_LAUNCH(launch, (left_right ? rows_kernel<3, true> : rows_kernel<3, false>), in->base,
            in->stride, out->base, out->stride, in->width, in->height);
    return lap_fail(err, LAP_E_INTERNAL, "cannot mirror pixels of %d channels", in->channels);
}
