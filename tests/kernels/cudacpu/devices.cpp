/* Devices, and the messages for errors. */
#include "state.h"

static const struct {
    cudaError_t error;
    const char *name, *words;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
        "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
        "pointer does not correspond to a registered memory region"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &e : errors)
        if (e.error == error)
            return e.words;
    return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &e : errors)
        if (e.error == error)
            return e.name;
    return "unrecognized error code";
}

cudaError_t cudaDriverGetVersion(int *version)
{
    lap_cudacpu_call call(__func__, true);
    *version = lap_cudacpu().set.driver;
    return call.error;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    lap_cudacpu_call call(__func__, true);
    *version = CUDART_VERSION;
    return call.error;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    lap_cudacpu_call call(__func__, true);
    *count = call.error ? 0 : lap_cudacpu().set.devices;
    return call.error ? call.error : call(*count ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    lap_cudacpu_call call(__func__, true);
    *device = lap_cudacpu_current;
    return call.error;
}

static bool exists(int device)
{
    return device >= 0 && device < lap_cudacpu().set.devices;
}

/* For a lost device, returns its error, but still makes it the current device. */
cudaError_t cudaSetDevice(int device)
{
    lap_cudacpu_call call(__func__, true);
    if (call.error)
        return call.error;
    if (!exists(device))
        return call(cudaErrorInvalidDevice);
    lap_cudacpu_current = device;
    return call(lap_cudacpu().devices[(size_t)device].dead);
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    lap_cudacpu_call call(__func__, true);
    const lap_cudacpu_settings &set = lap_cudacpu().set;
    if (call.error)
        return call.error;
    if (!exists(device))
        return call(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = 1024;
        break;
    case cudaDevAttrWarpSize:
        *value = 32;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = (int)std::min<size_t>(set.shared, 48 << 10);
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = (int)set.shared;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = (int)set.shared + 1024;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = set.sms;
        break;
    case cudaDevAttrL2CacheSize:
        *value = (int)set.l2;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = set.cc / 10;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = set.cc % 10;
        break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = 2048;
        break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        *value = 32;
        break;
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
        *value = set.registers;
        break;
    }
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    lap_cudacpu_call call(__func__, true);
    const lap_cudacpu_settings &set = lap_cudacpu().set;
    if (call.error)
        return call.error;
    if (!exists(device))
        return call(cudaErrorInvalidDevice);
    *p = cudaDeviceProp{};
    snprintf(p->name, sizeof p->name, "CPU in disguise");
    p->totalGlobalMem = set.memory;
    p->major = set.cc / 10;
    p->minor = set.cc % 10;
    p->multiProcessorCount = set.sms;
    p->l2CacheSize = (int)set.l2;
    p->sharedMemPerBlock = std::min<size_t>(set.shared, 48 << 10);
    p->sharedMemPerBlockOptin = set.shared;
    p->maxThreadsPerBlock = 1024;
    p->warpSize = 32;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    const size_t used = lap_cudacpu().devices[(size_t)lap_cudacpu_current].allocated;
    *total = lap_cudacpu().set.memory;
    *unused = *total > used ? *total - used : 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    lap_cudacpu().counts["device syncs"]++;
    return call(lap_cudacpu_finish_device(call.hold, lap_cudacpu_current));
}
