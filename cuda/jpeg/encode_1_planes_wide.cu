/* Turns pixels into planes of samples for 4:4:4, 4:2:2, 4:2:0, 4:4:0 and gray: a thread per eight pixels
 * across and all rows of a chroma sample. Since the simple form: each pixel is read once, in words, and
 * converted for all components. Global memory: 3 bytes read per pixel, 8 at a time; 1.5 written per pixel
 * with 4:2:0, 4 at a time. Shared memory: none. 256 threads, 8 or 16 pixels each.
 * Measured: issue slots 67 % busy, DRAM 69, L1 21; L2 was not counted (bench photo, H100). */
#include "encode_colour.cuh"

constexpr unsigned THREADS = 256, WIDE = 8;

/* Loads eight pixels from x on, four bytes to a word; beyond the row, its last pixel is repeated. */
template <int C>
LAP_DEVICE void load(unsigned (&words)[2 * C], const lap_jpeg_out &out, unsigned x, unsigned y)
{
    const uint8_t *row = out.pixels + (ptrdiff_t)y * out.pixel_stride;
    if (x + WIDE <= (unsigned)out.width) {
        const uint2 *twos = reinterpret_cast<const uint2 *>(row + (size_t)x * C);
#pragma unroll
        for (int i = 0; i < C; i++) {
            const uint2 two = __ldg(twos + i);
            words[2 * i] = two.x;
            words[2 * i + 1] = two.y;
        }
        return;
    }
#pragma unroll
    for (unsigned i = 0; i < 2 * C; i++) {
        words[i] = 0;
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            const unsigned at = 4 * i + j, pixel = min(x + at / C, (unsigned)out.width - 1);
            words[i] |= (unsigned)row[(size_t)pixel * C + at % C] << (8 * j);
        }
    }
}

/* Returns pixel i in the lowest three bytes. */
LAP_DEVICE unsigned pixel_of(const unsigned (&words)[6], int i)
{
    const int at = 3 * i / 4, shift = 3 * i % 4 * 8;
    return shift <= 8 ? words[at] >> shift : __funnelshift_r(words[at], words[at + 1], shift);
}

/* Stores byte BYTE of N values as samples, if they lie inside the plane. */
template <unsigned BYTE, int N>
LAP_DEVICE void store(const lap_jpeg_plane &plane, unsigned x, unsigned y, const unsigned (&values)[N])
{
    if (x >= plane.across * 8 || y >= plane.down * 8)
        return;
    unsigned *to = reinterpret_cast<unsigned *>(plane.base + (size_t)y * plane.stride + x);
#pragma unroll
    for (int i = 0; i < N; i += 4)
        to[i / 4] = lap_jpeg_four<BYTE>(values[i], values[i + 1], values[i + 2], values[i + 3]);
}

/* Adds to each sum the EH samples of a row, which are in byte 2. */
template <int EH>
LAP_DEVICE void add(unsigned (&sums)[WIDE / EH], const unsigned (&samples)[WIDE])
{
#pragma unroll
    for (int i = 0; i < (int)WIDE / EH; i++)
        sums[i] =
            EH == 1 ? sums[i] + (samples[i] >> FRACTION)
                    : __dp4a(__byte_perm(samples[EH * i], samples[EH * i + 1 % EH], 0x62), 0x0101u, sums[i]);
}

/* Gray: the eight samples are the pixels. */
LAP_DEVICE void store_gray(const lap_jpeg_plane &plane, unsigned x, unsigned y, const unsigned (&words)[2])
{
    if (x < plane.across * 8 && y < plane.down * 8)
        *reinterpret_cast<uint2 *>(plane.base + (size_t)y * plane.stride + x) =
            make_uint2(words[0], words[1]);
}

/* Converts a row of pixels: stores its luma, and adds its chroma to the sums. */
template <int EH>
LAP_DEVICE void convert(const lap_jpeg_out &out, unsigned x, unsigned y, unsigned chroma_row,
    unsigned (&blues)[WIDE / EH], unsigned (&reds)[WIDE / EH])
{
    const unsigned bottom = (unsigned)out.height - 1;
    unsigned words[6], samples[WIDE];
    load<3>(words, out, x, min(y, bottom));
#pragma unroll
    for (int i = 0; i < (int)WIDE; i++)
        samples[i] = luma(pixel_of(words, i));
    store<FRACTION / 8>(out.plane[0], x, y, samples);
    if (chroma_row != min(y, bottom)) /* beyond the bottom of the picture */
        load<3>(words, out, x, chroma_row);
#pragma unroll
    for (int i = 0; i < (int)WIDE; i++)
        samples[i] = blue(pixel_of(words, i));
    add<EH>(blues, samples);
#pragma unroll
    for (int i = 0; i < (int)WIDE; i++)
        samples[i] = red(pixel_of(words, i));
    add<EH>(reds, samples);
}

/* Returns how many groups of EV rows of pixels the planes need: one for each row of chroma samples, or more
 * if luma needs more. */
template <int C, int EH, int EV>
static __host__ __device__ unsigned groups_of(const lap_jpeg_out &out)
{
    const unsigned luma = (out.plane[0].down * 8 + EV - 1) / EV, chroma = C > 1 ? out.plane[1].down * 8 : 0;
    return luma > chroma ? luma : chroma;
}

template <int EH, int EV>
LAP_DEVICE void store_means(
    const lap_jpeg_plane &plane, unsigned x, unsigned group, unsigned (&sums)[WIDE / EH])
{
#pragma unroll
    for (unsigned i = 0; i < WIDE / EH; i++)
        sums[i] = (unsigned)mean((int)sums[i], EH, EV, i);
    store<0>(plane, x / EH, group, sums);
}

template <int C, int EH, int EV, typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) wide_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.z);
    if (!PHOTOS::is_alone && out.way != lap_jpeg_wide_way<C, EH, EV>)
        return;
    const unsigned groups = groups_of<C, EH, EV>(out);
    const unsigned x = (blockIdx.x * THREADS + threadIdx.x) * WIDE, bottom = (unsigned)out.height - 1;
    for (unsigned group = blockIdx.y; group < groups; group += gridDim.y) {
        if constexpr (C == 1) {
            unsigned words[2];
            load<1>(words, out, x, min(group, bottom));
            store_gray(out.plane[0], x, group, words);
        } else {
            unsigned blues[WIDE / EH] = {}, reds[WIDE / EH] = {};
#pragma unroll
            for (unsigned j = 0; j < EV; j++)
                convert<EH>(
                    out, x, group * EV + j, min(min(group, out.groups - 1) * EV + j, bottom), blues, reds);
            store_means<EH, EV>(out.plane[1], x, group, blues);
            store_means<EH, EV>(out.plane[2], x, group, reds);
        }
    }
}

/* Launches the kernel for the pictures that need it, if there are any. */
template <int C, int EH, int EV>
static lap_code run_wide(const lap_jpeg_outs &outs, const lap_launch &where)
{
    constexpr unsigned way = lap_jpeg_wide_way<C, EH, EV>;
    const unsigned across = lap_jpeg_most(outs, [](const lap_jpeg_out &out) {
        const unsigned luma = out.plane[0].across * 8, chroma = C > 1 ? out.plane[1].across * 8 * EH : 0;
        return out.way == way ? max(luma, chroma) : 0;
    });
    const unsigned groups = lap_jpeg_most(
        outs, [](const lap_jpeg_out &out) { return out.way == way ? groups_of<C, EH, EV>(out) : 0; });
    lap_launch launch = lap_jpeg_grid(outs, where, lap_blocks(across, THREADS * WIDE), THREADS);
    launch.grid.y = min(groups, 32768u);
    launch.grid.z = outs.count;
    return across > 0 ? LAP_JPEG_LAUNCH(launch, outs, (wide_kernel<C, EH, EV, lap_jpeg_out_one>),
                            (wide_kernel<C, EH, EV, lap_jpeg_out_many>))
                      : LAP_OK;
}

lap_code lap_jpeg_run_wide_planes(const lap_jpeg_outs &outs, const lap_launch &where)
{
    typedef lap_code one(const lap_jpeg_outs &outs, const lap_launch &where);
    static one *const ways[] = {
        run_wide<1, 1, 1>, run_wide<3, 1, 1>, run_wide<3, 1, 2>, run_wide<3, 2, 1>, run_wide<3, 2, 2>};
    lap_code code = LAP_OK;
    for (unsigned i = 0; i < sizeof ways / sizeof *ways && !code; i++)
        code = ways[i](outs, where);
    return code;
}
