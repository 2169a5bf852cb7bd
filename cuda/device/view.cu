/* Allocates views in device memory, and copies pixels there and back. */
#include <string.h>

#include "launch.cuh"
#include "queue.h"

constexpr size_t ALIGNMENT = 128; /* bytes, of interiors and strides: one cache line, four sectors */

/* The left apron of a row is stored at the end of the row before it; 128 bytes precede the first row. */
static bool row_bytes(int width, int channels, int apron, size_t *stride)
{
    size_t pixels, bytes;
    if (!lap_add((size_t)width, 2 * (size_t)apron, &pixels) || !lap_mul(pixels, (size_t)channels, &bytes) ||
        !lap_add(bytes, ALIGNMENT - 1, &bytes))
        return false;
    *stride = bytes / ALIGNMENT * ALIGNMENT;
    return true;
}

extern "C" bool lap_cuda_view_bytes(int width, int height, int channels, int apron, size_t *bytes)
{
    size_t stride;
    return row_bytes(width, channels, apron, &stride) &&
           lap_mul(stride, (size_t)height + 2 * (size_t)apron, bytes) && lap_add(*bytes, ALIGNMENT, bytes);
}

extern "C" lap_view lap_cuda_view_in(int device, void *memory, int width, int height, int channels, int apron)
{
    lap_view view = {};
    size_t stride = 0;
    (void)row_bytes(width, channels, apron, &stride); /* lap_cuda_view_bytes succeeded before */
    view.base = (uint8_t *)memory + ALIGNMENT + (size_t)apron * stride;
    view.stride = (ptrdiff_t)stride;
    view.width = width;
    view.height = height;
    view.channels = channels;
    view.apron = apron;
    view.place = device;
    return view;
}

/* keeps: allocate with lap_cuda_kept_alloc. The memory is cleared before this returns, because kernels on any
 * stream may read whole vectors, which include padding. */
static lap_code make(int device, int width, int height, int channels, int apron, bool keeps, void *stream,
    lap_view *view, lap_error *err)
{
    size_t bytes;
    void *memory;
    memset(view, 0, sizeof *view);
    if (!lap_cuda_view_bytes(width, height, channels, apron, &bytes))
        return lap_fail(err, LAP_E_MEMORY, "%dx%d pixels do not fit the address space", width, height);
    lap_code code = keeps ? lap_cuda_kept_alloc(device, bytes, &memory, err)
                          : lap_cuda_alloc(device, bytes, &memory, err);
    if (code)
        return code;
    code = lap_cuda_clear(device, memory, bytes, stream, err);
    if (!code)
        code = lap_cuda_sync(device, stream, err);
    if (!code)
        *view = lap_cuda_view_in(device, memory, width, height, channels, apron);
    else if (keeps)
        lap_cuda_kept_free(device, memory, bytes);
    else
        lap_cuda_free(device, memory);
    return code;
}

extern "C" lap_code lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err)
{
    return make(device, width, height, channels, apron, false, NULL, view, err);
}

static void *memory_of(const lap_view *view)
{
    return view->base - view->apron * view->stride - ALIGNMENT;
}

extern "C" void lap_cuda_view_destroy(lap_view *view)
{
    if (view->base)
        lap_cuda_free(view->place, memory_of(view));
    memset(view, 0, sizeof *view);
}

extern "C" lap_code lap_cuda_view_take(
    int device, int width, int height, int channels, int apron, void *stream, lap_view *view, lap_error *err)
{
    return make(device, width, height, channels, apron, true, stream, view, err);
}

extern "C" void lap_cuda_view_give(lap_view *view)
{
    size_t bytes;
    if (view->base && lap_cuda_view_bytes(view->width, view->height, view->channels, view->apron, &bytes))
        lap_cuda_kept_free(view->place, memory_of(view), bytes);
    memset(view, 0, sizeof *view);
}

static lap_code copy_rows(
    const lap_view *from, const lap_view *to, cudaMemcpyKind kind, void *stream, lap_error *err)
{
    lap_code code = lap_cuda_use(kind == cudaMemcpyHostToDevice ? to->place : from->place, err);
    if (!code)
        code = LAP_CUDA(cudaMemcpy2DAsync(to->base, (size_t)to->stride, from->base, (size_t)from->stride,
                            (size_t)from->width * (size_t)from->channels, (size_t)from->height, kind,
                            (cudaStream_t)stream),
            err);
    return code;
}

extern "C" lap_code lap_cuda_upload(
    const lap_view *host, const lap_view *device, void *stream, lap_error *err)
{
    return copy_rows(host, device, cudaMemcpyHostToDevice, stream, err);
}

extern "C" lap_code lap_cuda_download(
    const lap_view *device, const lap_view *host, void *stream, lap_error *err)
{
    return copy_rows(device, host, cudaMemcpyDeviceToHost, stream, err);
}

extern "C" lap_code lap_cuda_view_copy(const lap_view *from, const lap_view *to, void *stream, lap_error *err)
{
    return copy_rows(from, to, cudaMemcpyDeviceToDevice, stream, err);
}

extern "C" lap_code lap_cuda_check_place(const lap_view *view, const char *which, lap_error *err)
{
    if (view->place < 0 || view->place >= lap_cuda_count(NULL))
        return lap_fail(
            err, LAP_E_USAGE, "%s: place %d, but this machine has no such device", which, view->place);
    cudaPointerAttributes memory = {};
    lap_code code = lap_cuda_use(view->place, err);
    if (!code)
        code = LAP_CUDA(cudaPointerGetAttributes(&memory, view->base), err);
    if (code)
        return code;
    if (memory.type == cudaMemoryTypeUnregistered || memory.type == cudaMemoryTypeHost)
        return lap_fail(
            err, LAP_E_USAGE, "%s: place %d, but the pixels lie in host memory", which, view->place);
    if (memory.type == cudaMemoryTypeDevice && memory.device != view->place)
        return lap_fail(err, LAP_E_USAGE, "%s: place %d, but the pixels lie on device %d", which, view->place,
            memory.device);
    return LAP_OK;
}
