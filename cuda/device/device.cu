#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch.cuh"

/* The oldest compute capability that this build has code for; the Makefile usually sets it. */
#ifndef LAP_CUDA_OLDEST
#define LAP_CUDA_OLDEST 75
#endif

static pthread_once_t probed = PTHREAD_ONCE_INIT;
static char no_device[200];
static int usable;
static pid_t probed_by; /* a child of the process that started CUDA cannot use it */
static const char *const in_child =
    "this process was forked after CUDA had started; start it by exec or spawn instead of fork";

extern "C" lap_code lap_cuda_check(
    cudaError_t error, const char *call, const char *file, int line, lap_error *err)
{
    if (error == cudaSuccess)
        return LAP_OK;
    cudaGetLastError(); /* clears the error, so that the next call does not report it again */
    return lap_fail(err, error == cudaErrorMemoryAllocation ? LAP_E_MEMORY : LAP_E_DEVICE,
        "CUDA: %s (%s) at %s:%d: %s", cudaGetErrorString(error), cudaGetErrorName(error), file, line, call);
}

extern "C" cudaError_t lap_cuda_after_launch(void *stream)
{
    return getenv("LAP_CUDA_DEBUG") ? cudaStreamSynchronize((cudaStream_t)stream) : cudaSuccess;
}

static bool is_forked(void)
{
    return probed_by != 0 && probed_by != getpid();
}

extern "C" lap_code lap_cuda_use(int device, lap_error *err)
{
    if (is_forked())
        return lap_fail(err, LAP_E_BACKEND, "%s", in_child);
    return LAP_CUDA(cudaSetDevice(device), err);
}

/* Queries only counts and attributes, which does not create a context. */
static void probe(void)
{
    int driver = 0, count = 0, major = 0, minor = 0;
    cudaError_t error = cudaDriverGetVersion(&driver);
    if (!error && driver != 0)
        probed_by = getpid();
    if (!error && driver == 0) {
        snprintf(no_device, sizeof no_device, "no NVIDIA driver is installed");
        return;
    }
    if (!error)
        error = cudaGetDeviceCount(&count);
    for (int i = 0; i < count && !error; i++) {
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i);
        if (!error)
            error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, i);
        if (error || 10 * major + minor < LAP_CUDA_OLDEST)
            break; /* CUDA numbers devices from the most capable one down */
        usable++;
    }
    cudaGetLastError();
    if (usable)
        return;
    if (error)
        snprintf(no_device, sizeof no_device, "%s (CUDA driver %d.%d, runtime %d.%d)",
            cudaGetErrorString(error), driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
            CUDART_VERSION % 1000 / 10);
    else if (count == 0)
        snprintf(no_device, sizeof no_device, "the driver sees no CUDA device");
    else
        snprintf(no_device, sizeof no_device, "compute capability %d.%d is older than this build's %d.%d",
            major, minor, LAP_CUDA_OLDEST / 10, LAP_CUDA_OLDEST % 10);
}

extern "C" const char *lap_cuda_unavailable(void)
{
    pthread_once(&probed, probe);
    if (usable && is_forked())
        return in_child;
    return usable ? NULL : no_device;
}

extern "C" int lap_cuda_count(const char **reason)
{
    const char *why = lap_cuda_unavailable();
    if (reason)
        *reason = why;
    return why ? 0 : usable;
}

extern "C" lap_code lap_cuda_info(int device, lap_device_info *info, lap_error *err)
{
    const char *reason = NULL;
    if (device < 0 || device >= lap_cuda_count(&reason))
        return lap_fail(err, LAP_E_BACKEND, reason ? "CUDA device %d: %s" : "CUDA device %d does not exist",
            device, reason);
    cudaDeviceProp properties;
    int driver = 0;
    lap_code code = lap_cuda_use(device, err);
    if (!code)
        code = LAP_CUDA(cudaGetDeviceProperties(&properties, device), err);
    if (!code)
        code = LAP_CUDA(cudaMemGetInfo(&info->free_bytes, &info->memory_bytes), err);
    if (!code)
        code = LAP_CUDA(cudaDriverGetVersion(&driver), err);
    if (code)
        return code;
    info->device = device;
    info->cc_major = properties.major;
    info->cc_minor = properties.minor;
    info->sms = properties.multiProcessorCount;
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties.name);
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    return LAP_OK;
}

extern "C" bool lap_device_at(int i, lap_device_info *info, const char **reason)
{
    if (i < 0 || i >= lap_cuda_count(reason))
        return false;
    lap_error err;
    if (lap_cuda_info(i, info, &err) == LAP_OK)
        return true;
    if (reason)
        *reason = "the device does not answer";
    return false;
}

extern "C" lap_code lap_cuda_alloc(int device, size_t bytes, void **memory, lap_error *err)
{
    *memory = NULL;
    lap_code code = lap_cuda_use(device, err);
    if (code)
        return code;
    cudaError_t error = cudaMalloc(memory, bytes ? bytes : 1);
    if (error == cudaErrorMemoryAllocation && lap_cuda_kept_empty(device)) {
        cudaGetLastError();
        error = cudaMalloc(memory, bytes ? bytes : 1);
    }
    if (error != cudaErrorMemoryAllocation)
        return LAP_CUDA(error, err);
    cudaGetLastError();
    *memory = NULL;
    size_t unused = 0, total = 0;
    if (cudaMemGetInfo(&unused, &total))
        cudaGetLastError();
    return lap_fail(err, LAP_E_MEMORY, "CUDA device %d: out of memory: %zu MB wanted, %zu MB of %zu MB free",
        device, bytes / 1000000, unused / 1000000, total / 1000000);
}

extern "C" void lap_cuda_free(int device, void *memory)
{
    if (!memory)
        return;
    /* Frees the memory even if the device cannot be made current: CUDA finds memory by its address. */
    if (cudaSetDevice(device) != cudaSuccess)
        cudaGetLastError();
    if (cudaFree(memory) != cudaSuccess)
        cudaGetLastError();
}

extern "C" lap_code lap_cuda_copy(
    int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err)
{
    lap_code code = lap_cuda_use(device, err);
    if (!code)
        code = LAP_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, (cudaStream_t)stream), err);
    return code;
}

extern "C" lap_code lap_cuda_sync(int device, void *stream, lap_error *err)
{
    lap_code code = lap_cuda_use(device, err);
    if (!code)
        code = LAP_CUDA(cudaStreamSynchronize((cudaStream_t)stream), err);
    return code;
}

extern "C" lap_code lap_cuda_stream_create(int device, void **stream, lap_error *err)
{
    *stream = NULL;
    lap_code code = lap_cuda_use(device, err);
    if (!code)
        code = LAP_CUDA(cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking), err);
    return code;
}

extern "C" void lap_cuda_stream_destroy(int device, void *stream)
{
    if (!stream)
        return;
    /* Destroys the stream even if the device cannot be made current. */
    (void)lap_cuda_use(device, NULL);
    if (cudaStreamDestroy((cudaStream_t)stream) != cudaSuccess)
        cudaGetLastError();
}
