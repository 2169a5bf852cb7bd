/* Macros that call CUDA or start a kernel and check the result, for .cu files. */
#ifndef LAP_CUDA_LAUNCH_CUH
#define LAP_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>

#include "base/status.h"
#include "device.h"

/* Evaluates call exactly once, in every build. Returns LAP_OK, or converts the error to code and message. */
#define LAP_CUDA(call, err) lap_cuda_check((call), #call, __FILE__, __LINE__, err)
/* Starts kernel<<<...>>>(arguments...). Put a template with commas in parentheses. */
#define LAP_LAUNCH(launch, kernel, ...) \
    lap_cuda_launch(launch, #kernel, __FILE__, __LINE__, kernel, __VA_ARGS__)

/* A device function of one .cu file. */
#define LAP_DEVICE static __device__ __forceinline__
/* A device function of a struct. */
#define LAP_MEMBER __device__ __forceinline__

extern "C" lap_code lap_cuda_check(
    cudaError_t error, const char *call, const char *file, int line, lap_error *err);
/* Called after each launch: synchronises if LAP_CUDA_DEBUG is set. */
extern "C" cudaError_t lap_cuda_after_launch(void *stream);
extern "C" lap_code lap_cuda_use(int device, lap_error *err);
/* Computes the time between two events, both of which must have happened. */
extern "C" lap_code lap_cuda_elapsed(cudaEvent_t from, cudaEvent_t to, double *ms, lap_error *err);

struct lap_launch {
    int device;
    dim3 grid, block;
    size_t shared; /* bytes of dynamic shared memory */
    void *stream;
    lap_error *err;
};

/* Shared memory that every block may use; more requires the attribute set below. */
constexpr size_t LAP_SHARED_DEFAULT = 48 * 1024;

template <typename... Parameters, typename... Arguments>
static lap_code lap_cuda_launch(const lap_launch &launch, const char *name, const char *file, int line,
    void (*kernel)(Parameters...), Arguments... arguments)
{
    lap_code code = lap_cuda_use(launch.device, launch.err);
    if (code)
        return code;
    cudaError_t error = cudaSuccess;
    if (launch.shared > LAP_SHARED_DEFAULT)
        error = cudaFuncSetAttribute(
            (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)launch.shared);
    cudaLaunchConfig_t config = {};
    config.gridDim = launch.grid;
    config.blockDim = launch.block;
    config.dynamicSmemBytes = launch.shared;
    config.stream = (cudaStream_t)launch.stream;
    if (!error)
        error = cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
    if (!error)
        error = lap_cuda_after_launch(launch.stream);
    return lap_cuda_check(error, name, file, line, launch.err);
}

#endif
