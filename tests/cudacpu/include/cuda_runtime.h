/* A CUDA runtime for tests: as much of it as the .cu sources use, on the CPU.
 *
 * This folder stands first on the include path, and g++ compiles the same sources as C++. A kernel is
 * a function called once a thread; blocks run one after the other, so shared memory is static; the
 * threads of a block are fibers. "Device" memory is malloc's, so the address sanitizer watches it. See
 * README.md. */
#ifndef LAP_CUDACPU_RUNTIME_H
#define LAP_CUDACPU_RUNTIME_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "cuda_atomics.h"
#include "cuda_intrinsics.h"
#include "cuda_warp.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __constant__
#define __shared__ static
#define __align__(n) alignas(n)
#define LAP_DYNAMIC_SHARED(type, name) type *name = reinterpret_cast<type *>(lap_cudacpu_dynamic())

/* ---- the thread that runs ---------------------------------------------------------------------- */

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

/* Of the thread that runs now; a switch from fiber to fiber sets them. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

/* ---- the runtime's functions -------------------------------------------------------------------- */

#define CUDART_VERSION 13000

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorNotReady = 600
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaDeviceAttr {
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrL2CacheSize,
    cudaDevAttrComputeCapabilityMajor,
    cudaDevAttrComputeCapabilityMinor,
    cudaDevAttrMaxThreadsPerMultiProcessor
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize,
    cudaFuncAttributePreferredSharedMemoryCarveout
};
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };
typedef struct lap_cudacpu_stream *cudaStream_t;
typedef struct lap_cudacpu_event *cudaEvent_t;

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount, l2CacheSize;
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
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaMemGetInfo(size_t *unused, size_t *total);
cudaError_t cudaDeviceSynchronize();
cudaError_t lap_cudacpu_malloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value);
/* Runs body(argument) for every thread of the grid. */
cudaError_t lap_cudacpu_launch(
    const cudaLaunchConfig_t &config, const void *kernel, void (*body)(void *), void *argument);

template <typename T>
static inline cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    return lap_cudacpu_malloc(reinterpret_cast<void **>(memory), bytes);
}

/* Host memory that the device can reach is any host memory here. */
template <typename T>
static inline cudaError_t cudaMallocHost(T **memory, size_t bytes)
{
    return lap_cudacpu_malloc(reinterpret_cast<void **>(memory), bytes);
}

static inline cudaError_t cudaFreeHost(void *memory)
{
    return cudaFree(memory);
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
    auto call = std::make_pair(
        kernel, std::tuple<std::decay_t<Parameters>...>(std::forward<Arguments>(arguments)...));
    return lap_cudacpu_launch(
        *config, reinterpret_cast<const void *>(kernel),
        [](void *argument) {
            auto *c = static_cast<decltype(call) *>(argument);
            std::apply(c->first, c->second);
        },
        &call);
}

#endif
