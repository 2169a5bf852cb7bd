/* The runtime's functions: devices, memory, copies, streams, events. Everything is done at once. */
#include "engine.h"
#include "state.h"

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>

struct lap_cudacpu_stream {
    unsigned flags;
};

struct lap_cudacpu_event {
    double ms;
};

static thread_local cudaError_t last_error;
static std::mutex memory_lock;
static std::map<void *, size_t> allocations;
static size_t allocated;

static cudaError_t result(cudaError_t error)
{
    if (error)
        last_error = error;
    return error;
}

/* What this device pretends to have. */
constexpr size_t MEMORY = (size_t)4 << 30;

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorInvalidDevice:
        return "invalid device ordinal";
    default:
        return "invalid argument";
    }
}

const char *cudaGetErrorName(cudaError_t error)
{
    return error == cudaSuccess ? "cudaSuccess" : "cudaError";
}

cudaError_t cudaGetLastError()
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError()
{
    return last_error;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    switch (attribute) {
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = 227 * 1024;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = 2;
        break;
    case cudaDevAttrL2CacheSize:
        *value = 1 << 20;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = 9;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = 0;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = 2048;
        break;
    }
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
{
    *properties = cudaDeviceProp{"CPU in disguise", MEMORY, 9, 0, 2, 1 << 20};
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
    std::lock_guard<std::mutex> hold(memory_lock);
    *total = MEMORY;
    *unused = *total > allocated ? *total - allocated : 0;
    return cudaSuccess;
}

cudaError_t lap_cudacpu_malloc(void **memory, size_t bytes)
{
    std::lock_guard<std::mutex> hold(memory_lock);
    if (bytes > MEMORY || allocated > MEMORY - bytes || posix_memalign(memory, 256, bytes))
        return result(cudaErrorMemoryAllocation);
    memset(*memory, 0xa5, bytes);
    allocations[*memory] = bytes;
    allocated += bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    std::lock_guard<std::mutex> hold(memory_lock);
    auto entry = allocations.find(memory);
    if (entry == allocations.end())
        return result(memory ? cudaErrorInvalidValue : cudaSuccess);
    allocated -= entry->second;
    allocations.erase(entry);
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t)
{
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, cudaMemcpyKind, cudaStream_t)
{
    if (width > to_pitch || width > from_pitch)
        return result(cudaErrorInvalidValue);
    for (size_t y = 0; y < height; y++)
        memcpy((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    memset(memory, value, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t)
{
    return cudaMemset(memory, value, bytes);
}

cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = new lap_cudacpu_stream{flags};
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new lap_cudacpu_event{0};
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    return cudaEventCreate(event);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(to->ms - from->ms);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

/* ---- launches ------------------------------------------------------------------------------------- */

static std::mutex one_launch; /* kernels keep shared memory in static variables */
static std::map<const void *, size_t> dynamic_limit;
static uint64_t launches;

static cudaError_t check(const cudaLaunchConfig_t &config, const void *kernel)
{
    const dim3 &grid = config.gridDim, &block = config.blockDim;
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    auto limit = dynamic_limit.find(kernel);
    if (threads == 0 || threads > LAP_CUDACPU_MOST_THREADS || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
        grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (config.dynamicSmemBytes > (limit == dynamic_limit.end() ? 48 * 1024 : limit->second))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    std::lock_guard<std::mutex> hold_it(one_launch);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value > 227 * 1024)
            return result(cudaErrorInvalidValue);
        dynamic_limit[kernel] = (size_t)value;
    }
    return cudaSuccess;
}

cudaError_t lap_cudacpu_launch(
    const cudaLaunchConfig_t &config, const void *kernel, void (*body)(void *), void *argument)
{
    std::lock_guard<std::mutex> hold_it(one_launch);
    cudaError_t error = check(config, kernel);
    if (error)
        return result(error);
    lap_cudacpu_run({kernel, config.gridDim, config.blockDim, config.dynamicSmemBytes, body, argument,
        lap_cudacpu_seed() + ++launches});
    return cudaSuccess;
}

uint64_t lap_cudacpu_seed()
{
    static const uint64_t seed = [] {
        const char *given = getenv("LAP_CUDACPU_SEED");
        timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        const uint64_t s = given ? strtoull(given, nullptr, 0)
                                 : (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
        fprintf(stderr, "# CUDA on CPU: LAP_CUDACPU_SEED=%llu\n", (unsigned long long)s);
        return s;
    }();
    return seed;
}
