/* Events, for a host thread that polls many streams and never waits for one. */
#include "queue.h"

#include "launch.cuh"

#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define LAP_HAVE_NVTX 1
#endif
#endif

extern "C" lap_code lap_cuda_event_create(int device, void **event, lap_error *err)
{
    *event = NULL;
    lap_code code = lap_cuda_use(device, err);
    if (!code)
        code = LAP_CUDA(cudaEventCreate((cudaEvent_t *)event), err);
    if (code)
        *event = NULL;
    return code;
}

extern "C" void lap_cuda_event_destroy(int device, void *event)
{
    if (!event)
        return;
    (void)lap_cuda_use(device, NULL); /* as with streams */
    if (cudaEventDestroy((cudaEvent_t)event) != cudaSuccess)
        cudaGetLastError();
}

extern "C" lap_code lap_cuda_event_record(int device, void *event, void *stream, lap_error *err)
{
    lap_code code = lap_cuda_use(device, err);
    if (!code)
        code = LAP_CUDA(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream), err);
    return code;
}

extern "C" lap_code lap_cuda_event_happened(int device, void *event, bool *happened, lap_error *err)
{
    *happened = false;
    lap_code code = lap_cuda_use(device, err);
    if (code)
        return code;
    const cudaError_t error = cudaEventQuery((cudaEvent_t)event);
    *happened = error == cudaSuccess;
    return error == cudaErrorNotReady ? LAP_OK : LAP_CUDA(error, err);
}

extern "C" lap_code lap_cuda_event_ms(int device, void *from, void *to, double *ms, lap_error *err)
{
    lap_code code = lap_cuda_use(device, err);
    return code ? code : lap_cuda_elapsed((cudaEvent_t)from, (cudaEvent_t)to, ms, err);
}

extern "C" lap_code lap_cuda_clear(int device, void *memory, size_t bytes, void *stream, lap_error *err)
{
    lap_code code = lap_cuda_use(device, err);
    return code ? code : LAP_CUDA(cudaMemsetAsync(memory, 0, bytes, (cudaStream_t)stream), err);
}

extern "C" void lap_cuda_range_begin(const char *name)
{
#ifdef LAP_HAVE_NVTX
    nvtxRangePushA(name);
#else
    (void)name;
#endif
}

extern "C" void lap_cuda_range_end(void)
{
#ifdef LAP_HAVE_NVTX
    nvtxRangePop();
#endif
}
