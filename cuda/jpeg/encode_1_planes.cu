/* Pixels to planes of samples: colour, and the mean of the pixels of a sample, as libjpeg-turbo rounds them.
 * The first stage of encoding; its simple form, a thread per four samples of one component.
 * Global memory: 3 bytes read per pixel and component (the L2 cache has them for the second and third), 1.5
 * written per pixel with 4:2:0.
 * Shared memory: none.
 * 256 threads, four samples each.
 * Limit: loads of single bytes; the load units are busy, DRAM waits. */
#include "encode.cuh"

constexpr unsigned THREADS = 256, EACH = 4;
constexpr int FRACTION = 16;

/* Weights of T.871's conversion, 16 bits of fraction, rounded. */
__host__ __device__ constexpr int weight(double w)
{
    return (int)(w * (1 << FRACTION) + 0.5);
}

/* One component of a pixel. Luma: rounded to nearest; chroma: to nearest, halves down, around 128. */
LAP_DEVICE int convert(const uint8_t *pixel, unsigned component, int channels)
{
    if (channels == 1)
        return pixel[0];
    const int r = pixel[0], g = pixel[1], b = pixel[2], one_half = 1 << (FRACTION - 1);
    const int chroma = (128 << FRACTION) + one_half - 1;
    if (component == 0)
        return (weight(0.29900) * r + weight(0.58700) * g + weight(0.11400) * b + one_half) >> FRACTION;
    if (component == 1)
        return (weight(0.50000) * b - weight(0.16874) * r - weight(0.33126) * g + chroma) >> FRACTION;
    return (weight(0.50000) * r - weight(0.41869) * g - weight(0.08131) * b + chroma) >> FRACTION;
}

/* Sample x, y of a plane. Pixels are repeated at the right; below, pixels up to a whole group of rows, and
 * then the last row of samples. */
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
    if (plane.expand_h == 2 && plane.expand_v == 1) /* halves down and up in turn, and so on: no drift */
        return (sum + (int)(x & 1)) >> 1;
    if (plane.expand_h == 2 && plane.expand_v == 2)
        return (sum + 1 + (int)(x & 1)) >> 2;
    const int pixels = (int)(plane.expand_h * plane.expand_v);
    return (sum + pixels / 2) / pixels;
}

static __global__ void __launch_bounds__(THREADS) planes_kernel(const __grid_constant__ lap_jpeg_out out)
{
    const unsigned component = blockIdx.z, y = blockIdx.y;
    const lap_jpeg_plane &plane = out.plane[component];
    const unsigned x = (blockIdx.x * THREADS + threadIdx.x) * EACH;
    for (unsigned row = y; row < plane.down * 8; row += gridDim.y) {
        if (x >= plane.across * 8)
            return;
        unsigned four = 0;
#pragma unroll
        for (unsigned i = 0; i < EACH; i++)
            four |= (unsigned)sample(out, component, x + i, row) << (8 * i);
        *reinterpret_cast<unsigned *>(plane.base + (size_t)row * plane.stride + x) = four;
    }
}

lap_code lap_jpeg_run_planes(const lap_jpeg_out &out, const lap_launch &where)
{
    unsigned across = 0, down = 0;
    for (unsigned c = 0; c < out.components; c++) {
        across = max(across, out.plane[c].across * 8);
        down = max(down, out.plane[c].down * 8);
    }
    lap_launch launch = lap_jpeg_grid(where, lap_blocks(across, THREADS * EACH), THREADS);
    launch.grid.y = min(down, 32768u);
    launch.grid.z = out.components;
    return LAP_LAUNCH(launch, planes_kernel, out);
}
