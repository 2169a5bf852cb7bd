/* Fills the apron of a view from its interior, on the device.
 *
 * One thread per sample: rows -2, -1, height, height + 1 over their full width, then the four apron
 * pixels of each row between. A sample depends only on the interior (in a corner, both rules apply at once),
 * so the threads may run in any order. */
#include "launch.cuh"

/* The same as lap_border_index in src/base/border.h. */
static __device__ int source_index(int i, int n, lap_border border)
{
    if (i >= 0 && i < n)
        return i;
    switch (border) {
    case LAP_ZERO:
    case LAP_CONSTANT:
    case LAP_CONSTANT_LAST:
        return -1;
    case LAP_WRAP:
        i %= n;
        return i < 0 ? i + n : i;
    case LAP_REPLICATE:
        return i < 0 ? 0 : n - 1;
    default: /* reflects i until it is inside, usually once; no division, since 2 * n could overflow */
        const int skips = border == LAP_REFLECT101;
        if (n == 1)
            return 0;
        while (i < 0 || i >= n)
            i = i < 0 ? skips - 1 - i : n - 1 - skips - (i - n);
        return i;
    }
}

static __host__ __device__ long long samples_of(const lap_view &view)
{
    const long long pixels = 2LL * LAP_APRON * (view.width + 2 * LAP_APRON) + 2LL * LAP_APRON * view.height;
    return pixels * view.channels;
}

LAP_DEVICE void fill_sample(const lap_view &view, const lap_border border)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples_of(view))
        return;
    int c = (int)(i % view.channels), x, y;
    i /= view.channels;
    const long long full = view.width + 2 * LAP_APRON;
    if (i < 2 * LAP_APRON * full) {
        y = (int)(i / full);
        y = y < LAP_APRON ? y - LAP_APRON : view.height + y - LAP_APRON;
        x = (int)(i % full) - LAP_APRON;
    } else {
        i -= 2 * LAP_APRON * full;
        y = (int)(i / (2 * LAP_APRON));
        x = (int)(i % (2 * LAP_APRON));
        x = x < LAP_APRON ? x - LAP_APRON : view.width + x - LAP_APRON;
    }
    int sy = source_index(y, view.height, border), sx = source_index(x, view.width, border);
    if (border > LAP_CONSTANT) /* LAP_CONSTANT + V: no case of source_index */
        sy = -1;
    const uint8_t beyond = border >= LAP_CONSTANT ? (uint8_t)(border - LAP_CONSTANT) : 0;
    uint8_t value =
        sy < 0 || sx < 0 ? beyond : view.base[sy * view.stride + (ptrdiff_t)sx * view.channels + c];
    view.base[y * view.stride + (ptrdiff_t)x * view.channels + c] = value;
}

static __global__ void fill_apron(const lap_view view, const lap_border border)
{
    fill_sample(view, border);
}

static __global__ void fill_aprons(const lap_view_pair *pairs, const lap_border border)
{
    fill_sample(pairs[blockIdx.y].in, border);
}

static lap_launch launch_of(int device, long long samples, int views, void *stream, lap_error *err)
{
    constexpr int THREADS = 256;
    const unsigned blocks = (unsigned)((samples + THREADS - 1) / THREADS);
    return {device, dim3(blocks, (unsigned)views), dim3(THREADS), 0, stream, err};
}

extern "C" lap_code lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err)
{
    if (view->apron != LAP_APRON)
        return lap_fail(err, LAP_E_INTERNAL, "this view has no apron to fill");
    return LAP_LAUNCH(launch_of(view->place, samples_of(*view), 1, stream, err), fill_apron, *view, border);
}

extern "C" lap_code lap_cuda_border_many(
    const lap_view_pairs *pairs, lap_border border, void *stream, lap_error *err)
{
    long long most = 0;
    for (int i = 0; i < pairs->count; i++) {
        const lap_view *view = &pairs->rows[i].in;
        if (view->apron != LAP_APRON)
            return lap_fail(err, LAP_E_INTERNAL, "this view has no apron to fill");
        most = samples_of(*view) > most ? samples_of(*view) : most;
    }
    return LAP_LAUNCH(launch_of(pairs->rows->in.place, most, pairs->count, stream, err), fill_aprons,
        (const lap_view_pair *)pairs->there, border);
}
