/* The host's side of a device: the driver's files, and pinned memory. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch.cuh"

extern "C" bool lap_device_possible(const char **reason)
{
    /* Device files of NVIDIA's driver, of WSL 2, and of two generations of Jetson. */
    static const char *const files[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvgpu", "/dev/nvhost-ctrl"};
    bool found = false;
    for (const char *file : files)
        found = found || access(file, F_OK) == 0;
#ifdef LAP_CUDACPU
    found = true; /* the tests' runtime needs no driver */
#endif
    if (!found && reason)
        *reason = "no NVIDIA driver is installed";
    return found;
}

/* Counts the GPUs that the driver's files show, or the ones in CUDA_VISIBLE_DEVICES if these are fewer. */
extern "C" int lap_cuda_to_start(void)
{
    enum { MOST = 64 };
    int there = 0, listed = 1;
#ifdef LAP_CUDACPU
    if (cudaGetDeviceCount(&there) != cudaSuccess)
        return 1;
#else
    for (int i = 0; i < MOST; i++) {
        char file[32];
        snprintf(file, sizeof file, "/dev/nvidia%d", i);
        there += access(file, F_OK) == 0;
    }
#endif
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    for (const char *at = list; at && *at; at++)
        listed += *at == ',';
    if (list && listed < there)
        there = listed;
    return there > 0 ? there : 1;
}

extern "C" lap_code lap_cuda_pinned_alloc(int device, size_t bytes, void **memory, lap_error *err)
{
    *memory = NULL;
    lap_code code = lap_cuda_use(device, err);
    if (!code)
        code = LAP_CUDA(cudaMallocHost(memory, bytes ? bytes : 1), err);
    if (code)
        *memory = NULL;
    return code;
}

extern "C" void lap_cuda_pinned_free(void *memory)
{
    if (memory)
        cudaFreeHost(memory);
}

/* Pinning works only if the device can use the host's addresses. */
extern "C" bool lap_cuda_may_pin(int device)
{
    int registers = 0, same = 0;
    const bool known =
        cudaDeviceGetAttribute(&registers, cudaDevAttrHostRegisterSupported, device) == cudaSuccess &&
        cudaDeviceGetAttribute(&same, cudaDevAttrCanUseHostPointerForRegisteredMem, device) == cudaSuccess;
    if (!known)
        cudaGetLastError();
    return known && registers && same;
}

extern "C" lap_code lap_cuda_pin(int device, void *memory, size_t bytes, lap_error *err)
{
    lap_code code = lap_cuda_use(device, err);
    return code ? code : LAP_CUDA(cudaHostRegister(memory, bytes, cudaHostRegisterDefault), err);
}

extern "C" void lap_cuda_unpin(void *memory)
{
    if (memory && cudaHostUnregister(memory) != cudaSuccess)
        cudaGetLastError();
}
