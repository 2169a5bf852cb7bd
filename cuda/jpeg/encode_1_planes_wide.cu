/* Turns pixels into planes of samples for 4:4:4, 4:2:2, 4:2:0, 4:4:0 and gray: a thread per eight pixels
 * across and all rows of a chroma sample. Since the simple form: each pixel is read once, in words, and
 * converted for all components. Global memory: 3 bytes read per pixel, 8 at a time; 1.5 written per pixel
 * with 4:2:0, 4 at a time. Shared memory: none. 256 threads, 8 or 16 pixels each.
 * Measured: issue slots 75 % busy, DRAM 44, L1 19; L2 was not counted (bench photo, H200). */
#include "encode_colour.cuh"

constexpr unsigned THREADS = 256, WIDE = 8;

/* Loads eight pixels from x on; beyond the row, its last pixel is repeated. */
template <int C>
LAP_DEVICE void load(uint8_t (&bytes)[WIDE * C], const lap_jpeg_out &out, unsigned x, unsigned y)
{
    const uint8_t *row = out.pixels + (ptrdiff_t)y * out.pixel_stride;
    if (x + WIDE <= (unsigned)out.width) {
        const uint2 *words = reinterpret_cast<const uint2 *>(row + (size_t)x * C);
#pragma unroll
        for (int i = 0; i < C; i++) {
            const uint2 two = __ldg(words + i);
#pragma unroll
            for (int j = 0; j < 8; j++)
                bytes[8 * i + j] = (uint8_t)((j < 4 ? two.x : two.y) >> (8 * (j % 4)));
        }
        return;
    }
#pragma unroll
    for (unsigned i = 0; i < WIDE; i++)
#pragma unroll
        for (int c = 0; c < C; c++)
            bytes[i * C + c] = row[(size_t)min(x + i, (unsigned)out.width - 1) * C + c];
}

/* Stores N samples, if the plane reaches that far. */
template <int N>
LAP_DEVICE void store(const lap_jpeg_plane &plane, unsigned x, unsigned y, const int (&values)[N])
{
    if (x >= plane.across * 8 || y >= plane.down * 8)
        return;
    unsigned *to = reinterpret_cast<unsigned *>(plane.base + (size_t)y * plane.stride + x);
#pragma unroll
    for (int i = 0; i < N; i += 4)
        to[i / 4] = (unsigned)values[i] | (unsigned)values[i + 1] << 8 | (unsigned)values[i + 2] << 16 |
                    (unsigned)values[i + 3] << 24;
}

/* Rows of chroma samples, or of luma samples if chroma has fewer: EV rows of pixels each. */
template <int C, int EH, int EV>
static __host__ __device__ unsigned groups_of(const lap_jpeg_out &out)
{
    const unsigned luma = (out.plane[0].down * 8 + EV - 1) / EV, chroma = C > 1 ? out.plane[1].down * 8 : 0;
    return luma > chroma ? luma : chroma;
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
        int chroma[2][WIDE / EH] = {};
#pragma unroll
        for (unsigned j = 0; j < EV; j++) {
            const unsigned y = group * EV + j;
            const unsigned chroma_row = min(min(group, out.groups - 1) * EV + j, bottom);
            uint8_t p[WIDE * C];
            int values[WIDE];
            load<C>(p, out, x, min(y, bottom));
#pragma unroll
            for (int i = 0; i < (int)WIDE; i++)
                values[i] = C == 1 ? p[i] : luma(p[C * i], p[C * i + 1 % C], p[C * i + 2 % C]);
            store(out.plane[0], x, y, values);
            if (C == 1)
                continue;
            if (chroma_row != min(y, bottom)) /* beyond the bottom of the picture */
                load<C>(p, out, x, chroma_row);
#pragma unroll
            for (int i = 0; i < (int)WIDE; i++) {
                chroma[0][i / EH] += blue(p[C * i], p[C * i + 1 % C], p[C * i + 2 % C]);
                chroma[1][i / EH] += red(p[C * i], p[C * i + 1 % C], p[C * i + 2 % C]);
            }
        }
        for (int c = 0; c < (C == 1 ? 0 : 2); c++) {
#pragma unroll
            for (unsigned i = 0; i < WIDE / EH; i++)
                chroma[c][i] = mean(chroma[c][i], EH, EV, i);
            store(out.plane[1 + c], x / EH, group, chroma[c]);
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
