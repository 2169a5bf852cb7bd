/* Copies and fills. As in CUDA, a copy from pageable memory takes the bytes during the call, and a copy
 * to pageable memory waits until it is done; pinned memory is accessed when the copy runs. */
#include <cstdlib>
#include <cstring>

#include "engine.h"
#include "sanitizers.h"
#include "state.h"

namespace
{

struct rows {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
};

size_t span(size_t pitch, size_t width, size_t height)
{
    return width && height ? pitch * (height - 1) + width : 0;
}

void copy(const rows &r)
{
    for (size_t y = 0; y < r.height; y++)
        lap_cudacpu_raw_copy(r.to + y * r.to_pitch, r.from + y * r.from_pitch, r.width);
}

/* Pageable memory is ordinary host memory: the address sanitizer knows its bounds. */
void look(const lap_cudacpu_memory &what, [[maybe_unused]] const char *at, [[maybe_unused]] const rows &r,
    [[maybe_unused]] size_t pitch)
{
    if (what.kind != LAP_CUDACPU_PAGEABLE)
        return;
#if LAP_CUDACPU_ASAN
    for (size_t y = 0; y < r.height; y++)
        if (void *bad = __asan_region_is_poisoned(const_cast<char *>(at) + y * pitch, r.width)) {
            fprintf(stderr, "CUDA on CPU: a copy leaves host memory\n");
            __asan_describe_address(bad);
            abort();
        }
#endif
}

bool direction_fits(cudaMemcpyKind kind, bool from_device, bool to_device)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
        return !from_device && !to_device;
    case cudaMemcpyHostToDevice:
        return !from_device && to_device;
    case cudaMemcpyDeviceToHost:
        return from_device && !to_device;
    case cudaMemcpyDeviceToDevice:
        return from_device && to_device;
    default:
        return true;
    }
}

cudaError_t enqueue_copy(
    lap_cudacpu_call &call, rows r, cudaMemcpyKind kind, cudaStream_t handle, bool wait, bool is_async)
{
    lap_cudacpu_state &s = lap_cudacpu();
    const auto stream = lap_cudacpu_stream_of(handle);
    const lap_cudacpu_memory from = lap_cudacpu_what_is(r.from, span(r.from_pitch, r.width, r.height)),
                             to = lap_cudacpu_what_is(r.to, span(r.to_pitch, r.width, r.height));
    const bool from_device = from.kind == LAP_CUDACPU_DEVICE, to_device = to.kind == LAP_CUDACPU_DEVICE;
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (r.width == 0 || r.height == 0)
        return cudaSuccess;
    if (from.kind == LAP_CUDACPU_BAD || to.kind == LAP_CUDACPU_BAD || r.width > r.to_pitch ||
        r.width > r.from_pitch)
        return cudaErrorInvalidValue;
    if (!direction_fits(kind, from_device, to_device))
        return cudaErrorInvalidMemcpyDirection;
    look(from, r.from, r, r.from_pitch);
    look(to, r.to, r, r.to_pitch);
    s.counts["copies"]++;
    s.counts["legacy copies"] += is_async && stream == s.devices[(size_t)stream->device].legacy;
    const bool pageable = from.kind == LAP_CUDACPU_PAGEABLE || to.kind == LAP_CUDACPU_PAGEABLE;
    if (pageable && is_async) {
        s.counts["pageable copies"]++;
        if (s.set.pageable_fails) {
            fprintf(stderr, "CUDA on CPU: an asynchronous copy from or to pageable memory\n");
            return cudaErrorNotSupported;
        }
    }
    std::shared_ptr<std::vector<char>> staged;
    if (from.kind == LAP_CUDACPU_PAGEABLE) {
        staged = std::make_shared<std::vector<char>>(r.width * r.height);
        copy({staged->data(), r.from, r.width, r.from_pitch, r.width, r.height});
        r.from = staged->data();
        r.from_pitch = r.width;
    }
    const lap_cudacpu_wait done = lap_cudacpu_enqueue(call.hold, stream,
        {[r, staged] {
             copy(r);
             return cudaSuccess;
         },
            {}, true, false});
    if (to.kind == LAP_CUDACPU_PAGEABLE || (wait && !(from_device && to_device)) ||
        (!from_device && !to_device))
        return lap_cudacpu_finish(call.hold, done);
    return cudaSuccess;
}

cudaError_t enqueue_fill(lap_cudacpu_call &call, char *to, int value, size_t bytes, cudaStream_t handle)
{
    const auto stream = lap_cudacpu_stream_of(handle);
    const lap_cudacpu_memory what = lap_cudacpu_what_is(to, bytes);
    if (!stream || stream->device != lap_cudacpu_current)
        return cudaErrorInvalidResourceHandle;
    if (bytes == 0)
        return cudaSuccess;
    if (what.kind != LAP_CUDACPU_DEVICE && what.kind != LAP_CUDACPU_PINNED)
        return cudaErrorInvalidValue;
    lap_cudacpu_enqueue(call.hold, stream,
        {[to, value, bytes] {
             lap_cudacpu_raw_fill(to, value, bytes);
             return cudaSuccess;
         },
            {}, true, false});
    return cudaSuccess;
}

} // namespace

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    lap_cudacpu_call call(__func__);
    const rows r = {static_cast<char *>(to), static_cast<const char *>(from), bytes, bytes, bytes, 1};
    return call.error ? call.error : call(enqueue_copy(call, r, kind, nullptr, true, false));
}

cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    lap_cudacpu_call call(__func__);
    const rows r = {static_cast<char *>(to), static_cast<const char *>(from), bytes, bytes, bytes, 1};
    return call.error ? call.error : call(enqueue_copy(call, r, kind, stream, false, true));
}

cudaError_t cudaMemcpyPeerAsync(
    void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream)
{
    lap_cudacpu_call call(__func__);
    const rows r = {static_cast<char *>(to), static_cast<const char *>(from), bytes, bytes, bytes, 1};
    if (call.error)
        return call.error;
    if (lap_cudacpu_what_is(to, bytes).device != to_device ||
        lap_cudacpu_what_is(from, bytes).device != from_device)
        return call(cudaErrorInvalidValue);
    return call(enqueue_copy(call, r, cudaMemcpyDeviceToDevice, stream, false, true));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, cudaMemcpyKind kind)
{
    lap_cudacpu_call call(__func__);
    const rows r = {
        static_cast<char *>(to), static_cast<const char *>(from), to_pitch, from_pitch, width, height};
    return call.error ? call.error : call(enqueue_copy(call, r, kind, nullptr, true, false));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    lap_cudacpu_call call(__func__);
    const rows r = {
        static_cast<char *>(to), static_cast<const char *>(from), to_pitch, from_pitch, width, height};
    return call.error ? call.error : call(enqueue_copy(call, r, kind, stream, false, true));
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    lap_cudacpu_call call(__func__);
    return call.error ? call.error
                      : call(enqueue_fill(call, static_cast<char *>(memory), value, bytes, nullptr));
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    lap_cudacpu_call call(__func__);
    return call.error ? call.error
                      : call(enqueue_fill(call, static_cast<char *>(memory), value, bytes, stream));
}
