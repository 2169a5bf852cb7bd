/* Launches: checks the device's limits, then puts the launch into the stream's queue. */
#include "engine.h"
#include "sanitizers.h"
#include "state.h"

#if LAP_CUDACPU_TSAN
/* A queued launch holds its arguments by a shared_ptr. Its last release orders by a fence in libstdc++, which
 * ThreadSanitizer does not see; what is tested has none of these. */
extern "C" const char *__tsan_default_suppressions(void);
extern "C" const char *__tsan_default_suppressions(void)
{
    return "race:_Sp_counted_ptr_inplace\n";
}
#endif

constexpr size_t SHARED_DEFAULT = 48 * 1024;

static size_t static_shared(const void *kernel)
{
    size_t bytes = 0;
    for (const lap_cudacpu_range &variable : lap_cudacpu_shared_of(kernel))
        bytes += variable.bytes;
    return bytes;
}

static cudaError_t check(const cudaLaunchConfig_t &config, const void *kernel)
{
    const dim3 &grid = config.gridDim, &block = config.blockDim;
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    const std::map<const void *, size_t> &raised =
        lap_cudacpu().devices[(size_t)lap_cudacpu_current].dynamic_limit;
    auto limit = raised.find(kernel);
    if (threads == 0 || threads > LAP_CUDACPU_MAX_THREADS || block.x > 1024 || block.y > 1024 ||
        block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > 65535 ||
        grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    const size_t fixed = static_shared(kernel);
    if (fixed > SHARED_DEFAULT || config.dynamicSmemBytes > lap_cudacpu().set.shared - fixed ||
        config.dynamicSmemBytes > (limit == raised.end() ? SHARED_DEFAULT - fixed : limit->second))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* Applies to this kernel on the current device, as in CUDA: on another device it must be requested
 * again. */
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || (size_t)value + static_shared(kernel) > lap_cudacpu().set.shared)
        return call(cudaErrorInvalidValue);
    lap_cudacpu().devices[(size_t)lap_cudacpu_current].dynamic_limit[kernel] = (size_t)value;
    return cudaSuccess;
}

cudaError_t lap_cudacpu_launch(const cudaLaunchConfig_t &config, const void *kernel, void (*body)(void *),
    std::shared_ptr<void> argument, size_t argument_bytes, std::vector<uintptr_t> words)
{
    lap_cudacpu_call call("cudaLaunchKernel");
    if (call.error)
        return call.error;
    lap_cudacpu_state &s = lap_cudacpu();
    auto stream = lap_cudacpu_stream_of(config.stream);
    if (!stream || stream->device != lap_cudacpu_current)
        return call(cudaErrorInvalidResourceHandle);
    cudaError_t error = check(config, kernel);
    if (error)
        return call(error);
    const lap_cudacpu_grid grid = {kernel, config.gridDim, config.blockDim, config.dynamicSmemBytes, body,
        argument.get(), argument_bytes, s.set.seed + ++s.counts["launches"]};
    s.shapes[s.counts["launches"] % std::size(s.shapes)] = {
        {config.gridDim.x, config.gridDim.y, config.gridDim.z},
        {config.blockDim.x, config.blockDim.y, config.blockDim.z}, config.dynamicSmemBytes};
    const int device = lap_cudacpu_current;
    s.counts["legacy launches"] += stream == s.devices[(size_t)device].legacy;
    auto run = [grid, device, argument, words = std::move(words)] {
        if (lap_cudacpu_holds_host_address(words)) {
            fprintf(stderr, "CUDA on CPU: a kernel gets an address of the host's pageable memory\n");
            return cudaErrorIllegalAddress;
        }
        lap_cudacpu_open(device, true);
        lap_cudacpu_run(grid);
        lap_cudacpu_open(device, false);
        return cudaSuccess;
    };
    lap_cudacpu_enqueue(call.hold, stream, {run, {}, true, false});
    return call(cudaSuccess);
}

int lap_cudacpu_launched(unsigned back, lap_cudacpu_shape *shape)
{
    lap_cudacpu_state &s = lap_cudacpu();
    std::lock_guard<std::mutex> hold(s.lock);
    const uint64_t launches = s.counts["launches"];
    if (back >= launches || back >= std::size(s.shapes))
        return -1;
    *shape = s.shapes[(launches - back) % std::size(s.shapes)];
    return 0;
}
