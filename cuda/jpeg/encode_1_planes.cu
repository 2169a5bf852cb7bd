/* Turns pixels into planes of samples: converts colours, and averages the pixels of a sample. The first stage
 * of encoding in its simple form, for any sampling: a thread per four samples of one component. Global
 * memory: 3 bytes read per pixel and component, one by one, 1.5 written per pixel with 4:2:0. Shared memory:
 * none. 256 threads, four samples each. Measured: issue slots 81 % busy, L1 30, DRAM 30; L2 was not counted
 * (bench photo, H200). */
#include "encode_colour.cuh"

constexpr unsigned THREADS = 256, EACH = 4;

LAP_DEVICE int convert(const uint8_t *pixel, unsigned component, int channels)
{
    if (channels == 1)
        return pixel[0];
    const unsigned rgb = pixel[0] | (unsigned)pixel[1] << 8 | (unsigned)pixel[2] << 16;
    return (int)((component == 0 ? luma(rgb) : component == 1 ? blue(rgb) : red(rgb)) >> FRACTION);
}

/* Returns sample x, y of a plane. At the right edge, pixels are repeated. At the bottom, pixels are repeated
 * up to a whole group of rows, and then the last row of samples is repeated. */
LAP_DEVICE int sample(const lap_jpeg_out &out, unsigned component, unsigned x, unsigned y)
{
    const lap_jpeg_plane &plane = out.plane[component];
    const unsigned last = out.groups * plane.v - 1;
    const unsigned x0 = x * plane.expand_h, y0 = min(y, last) * plane.expand_v;
    int sum = 0;
    for (unsigned dy = 0; dy < plane.expand_v; dy++) {
        const uint8_t *row = out.pixels + min(y0 + dy, (unsigned)out.height - 1) * out.pixel_stride;
        for (unsigned dx = 0; dx < plane.expand_h; dx++)
            sum += convert(row + (size_t)min(x0 + dx, (unsigned)out.width - 1) * (unsigned)out.channels,
                component, out.channels);
    }
    return mean(sum, plane.expand_h, plane.expand_v, x);
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) planes_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.z / 3);
    const unsigned component = blockIdx.z % 3;
    if ((!PHOTOS::is_alone && out.way != LAP_JPEG_SIMPLE) || component >= out.components)
        return;
    const lap_jpeg_plane &plane = out.plane[component];
    const unsigned x = (blockIdx.x * THREADS + threadIdx.x) * EACH;
    if (x >= plane.across * 8)
        return;
    for (unsigned row = blockIdx.y; row < plane.down * 8; row += gridDim.y) {
        unsigned four = 0;
#pragma unroll 1
        for (unsigned i = 0; i < EACH; i++)
            four |= (unsigned)sample(out, component, x + i, row) << (8 * i);
        *reinterpret_cast<unsigned *>(plane.base + (size_t)row * plane.stride + x) = four;
    }
}

static unsigned largest_plane(const lap_jpeg_out &out, bool is_across)
{
    unsigned most = 0;
    for (unsigned c = 0; c < out.components && out.way == LAP_JPEG_SIMPLE; c++)
        most = max(most, (is_across ? out.plane[c].across : out.plane[c].down) * 8);
    return most;
}

lap_code lap_jpeg_run_planes(const lap_jpeg_outs &outs, const lap_launch &where)
{
    const unsigned across =
        lap_jpeg_most(outs, [](const lap_jpeg_out &out) { return largest_plane(out, true); });
    const unsigned down =
        lap_jpeg_most(outs, [](const lap_jpeg_out &out) { return largest_plane(out, false); });
    const lap_code code = lap_jpeg_run_wide_planes(outs, where);
    if (code || across == 0)
        return code;
    lap_launch launch = lap_jpeg_grid(outs, where, lap_blocks(across, THREADS * EACH), THREADS);
    launch.grid.y = min(down, 32768u);
    launch.grid.z = outs.count * 3;
    return LAP_JPEG_LAUNCH(launch, outs, planes_kernel<lap_jpeg_out_one>, planes_kernel<lap_jpeg_out_many>);
}
