#include "bench/bench_buffers.h"

#include <string.h>

#include "cuda/device/device.h"

size_t lap_bench_pairs(const lap_bench_run *bench, size_t bytes)
{
    /* Bytes of all pairs: more than the last-level cache of 32 to 128 MiB that one core can use. */
    const size_t enough = (size_t)256 << 20;
    if (bench->options->warm || bytes == 0 || bytes >= enough)
        return 1;
    size_t pairs = (enough + 2 * bytes - 1) / (2 * bytes);
    return pairs < LAP_BENCH_PAIRS ? pairs : LAP_BENCH_PAIRS;
}

size_t lap_bench_bytes(const lap_view *view)
{
    return (size_t)view->width * (size_t)view->height * (size_t)view->channels;
}

void lap_bench_poison(const lap_view *view)
{
    for (int y = 0; y < view->height; y++)
        memset(view->base + y * view->stride, 0xA5, (size_t)view->width * (size_t)view->channels);
}

lap_code lap_bench_buffers_create(
    const lap_bench_run *bench, lap_bench_buffers *buffers, int width, int height, lap_error *err)
{
    const lap_view *in = &buffers->in[0].view;
    lap_code code = LAP_OK;
    buffers->pairs = (int)lap_bench_pairs(bench, lap_bench_bytes(in));
    for (int i = 0; code == LAP_OK && i < buffers->pairs; i++) {
        if (i > 0)
            code = lap_image_create(&buffers->in[i], in->width, in->height, in->channels, in->apron, err);
        if (code == LAP_OK && i > 0)
            lap_view_copy(in, &buffers->in[i].view);
        if (code == LAP_OK && width > 0)
            code = lap_image_create(&buffers->out[i], width, height, in->channels, 0, err);
        if (code == LAP_OK && width > 0)
            lap_bench_poison(&buffers->out[i].view);
    }
    return code;
}

lap_code lap_bench_buffers_on_device(
    const lap_bench_run *bench, lap_bench_buffers *buffers, int apron, size_t set_bytes, lap_error *err)
{
    const int device = bench->options->device;
    const lap_view *in = &buffers->in[0].view, *out = &buffers->out[0].view;
    const int pairs = bench->options->warm ? 1 : lap_cuda_rotation(device, set_bytes);
    lap_code code = LAP_OK;
    buffers->device_pairs = pairs < LAP_BENCH_PAIRS ? pairs : LAP_BENCH_PAIRS;
    for (int i = 0; code == LAP_OK && i < buffers->device_pairs; i++) {
        code = lap_cuda_view_create(
            device, in->width, in->height, in->channels, apron, &buffers->device_in[i], err);
        if (code == LAP_OK && out->base)
            code = lap_cuda_view_create(
                device, out->width, out->height, out->channels, 0, &buffers->device_out[i], err);
        if (code == LAP_OK)
            code = lap_cuda_upload(in, &buffers->device_in[i], NULL, err);
    }
    return code == LAP_OK ? lap_cuda_sync(device, NULL, err) : code;
}

void lap_bench_buffers_destroy(lap_bench_buffers *buffers)
{
    for (int i = 0; i < LAP_BENCH_PAIRS; i++) {
        lap_image_destroy(&buffers->in[i]);
        lap_image_destroy(&buffers->out[i]);
        lap_cuda_view_destroy(&buffers->device_in[i]);
        lap_cuda_view_destroy(&buffers->device_out[i]);
    }
}
