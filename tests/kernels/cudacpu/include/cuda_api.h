/* The functions of the CUDA runtime that host code calls. */
#ifndef LAP_CUDACPU_API_H
#define LAP_CUDACPU_API_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define CUDART_VERSION 13000

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchTimeout = 702,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotPermitted = 800,
    cudaErrorNotSupported = 801
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock,
    cudaDevAttrWarpSize,
    cudaDevAttrMaxSharedMemoryPerBlock,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor,
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrL2CacheSize,
    cudaDevAttrComputeCapabilityMajor,
    cudaDevAttrComputeCapabilityMinor,
    cudaDevAttrMaxThreadsPerMultiProcessor,
    cudaDevAttrMaxBlocksPerMultiprocessor,
    cudaDevAttrHostRegisterSupported,
    cudaDevAttrCanUseHostPointerForRegisteredMem
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize,
    cudaFuncAttributePreferredSharedMemoryCarveout
};
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum {
    cudaHostAllocDefault = 0,
    cudaHostAllocPortable = 1,
    cudaHostAllocMapped = 2,
    cudaHostAllocWriteCombined = 4
};
enum { cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1 };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice };
typedef void (*cudaHostFn_t)(void *);
typedef struct lap_cudacpu_stream *cudaStream_t;
typedef struct lap_cudacpu_event *cudaEvent_t;

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount, l2CacheSize;
    size_t sharedMemPerBlock, sharedMemPerBlockOptin;
    int maxThreadsPerBlock, warpSize;
};

struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};

struct cudaLaunchAttribute {
    int id;
};

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaMemGetInfo(size_t *unused, size_t *total);
cudaError_t cudaDeviceSynchronize();
cudaError_t lap_cudacpu_malloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t lap_cudacpu_malloc_host(const char *name, void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *memory);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyPeerAsync(
    void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
/* Enqueues body(argument) for every thread of the grid; words: the kernel's own arguments, which are
 * searched for addresses. */
cudaError_t lap_cudacpu_launch(const cudaLaunchConfig_t &config, const void *kernel, void (*body)(void *),
    std::shared_ptr<void> argument, size_t argument_bytes, std::vector<uintptr_t> words);

/* Each argument begins at a new word. Padding is cleared, also inside arguments: padding bytes hold
 * whatever was there before, and an int beside such bytes can look like an address. */
template <typename... Values>
static inline std::vector<uintptr_t> lap_cudacpu_words(Values &...values)
{
    std::vector<uintptr_t> words;
    auto append = [&words](auto &value) {
        __builtin_clear_padding(&value);
        const size_t at = words.size();
        words.resize(at + (sizeof value + sizeof words[0] - 1) / sizeof words[0]);
        std::memcpy(&words[at], &value, sizeof value);
    };
    (append(values), ...);
    return words;
}

template <typename T>
static inline cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    return lap_cudacpu_malloc(reinterpret_cast<void **>(memory), bytes);
}

template <typename T>
static inline cudaError_t cudaMallocHost(T **memory, size_t bytes)
{
    return lap_cudacpu_malloc_host("cudaMallocHost", reinterpret_cast<void **>(memory), bytes);
}

template <typename T>
static inline cudaError_t cudaHostAlloc(T **memory, size_t bytes, unsigned)
{
    return lap_cudacpu_malloc_host("cudaHostAlloc", reinterpret_cast<void **>(memory), bytes);
}

template <typename Kernel>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, Kernel, int block_size, size_t)
{
    *blocks = std::max(1, 2048 / block_size);
    return cudaSuccess;
}

template <typename... Parameters, typename... Arguments>
static inline cudaError_t cudaLaunchKernelEx(
    const cudaLaunchConfig_t *config, void (*kernel)(Parameters...), Arguments &&...arguments)
{
    using values = std::tuple<std::decay_t<Parameters>...>;
    using call = std::pair<void (*)(Parameters...), values>;
    auto c = std::make_shared<call>(kernel, values(std::forward<Arguments>(arguments)...));
    return lap_cudacpu_launch(
        *config, reinterpret_cast<const void *>(kernel),
        [](void *argument) {
            auto *held = static_cast<call *>(argument);
            std::apply(held->first, held->second);
        },
        c, sizeof *c, std::apply(lap_cudacpu_words<std::decay_t<Parameters>...>, c->second));
}

#endif
