/* Times work on the device with events. */
#include <stdlib.h>

#include "launch.cuh"

constexpr int MAX_JOBS = 16, WARM_UPS = 3, MIN_ROTATION = 4, MAX_ROTATION = 64;

extern "C" lap_code lap_cuda_elapsed(cudaEvent_t from, cudaEvent_t to, double *ms, lap_error *err)
{
    float value = 0;
    lap_code code = LAP_CUDA(cudaEventElapsedTime(&value, from, to), err);
    *ms = value;
    return code;
}

extern "C" lap_code lap_cuda_time(int device, const lap_cuda_job *jobs, int count, int runs, lap_error *err)
{
    size_t pairs = 0, bytes = 0;
    cudaStream_t stream = NULL;
    cudaEvent_t *events = NULL;
    if (count < 1 || count > MAX_JOBS || runs < 1 || !lap_mul((size_t)runs, (size_t)count, &pairs) ||
        !lap_mul(pairs, 2 * sizeof *events, &bytes))
        return lap_fail(err, LAP_E_USAGE, "%d runs of %d jobs cannot be timed", runs, count);
    lap_code code = lap_cuda_use(device, err);
    if (!code && !(events = (cudaEvent_t *)calloc(1, bytes)))
        code = lap_fail(err, LAP_E_MEMORY, "out of memory for %zu events", 2 * pairs);
    if (!code)
        code = LAP_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), err);
    for (size_t i = 0; i < 2 * pairs && !code; i++)
        code = LAP_CUDA(cudaEventCreate(&events[i]), err);
    for (int turn = 0; turn < WARM_UPS + runs && !code; turn++)
        for (int j = 0; j < count && !code; j++) {
            cudaEvent_t *pair = turn < WARM_UPS ? NULL : &events[2 * ((turn - WARM_UPS) * (size_t)count + j)];
            if (pair)
                code = LAP_CUDA(cudaEventRecord(pair[0], stream), err);
            if (!code)
                code = jobs[j].fn(jobs[j].argument, turn, stream, err);
            if (!code && pair)
                code = LAP_CUDA(cudaEventRecord(pair[1], stream), err);
        }
    if (stream) {
        lap_code waited = LAP_CUDA(cudaStreamSynchronize(stream), code ? NULL : err);
        code = code ? code : waited;
    }
    for (size_t i = 0; i < pairs && !code; i++)
        code = lap_cuda_elapsed(events[2 * i], events[2 * i + 1], &jobs[i % count].ms[i / count], err);
    for (size_t i = 0; events && i < 2 * pairs; i++)
        if (events[i])
            cudaEventDestroy(events[i]);
    if (stream)
        cudaStreamDestroy(stream);
    free(events);
    return code;
}

extern "C" int lap_cuda_rotation(int device, size_t set_bytes)
{
    int l2 = 0;
    size_t unused = 0, total = 0;
    if (cudaSetDevice(device) || cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device) ||
        cudaMemGetInfo(&unused, &total)) {
        cudaGetLastError();
        return 1;
    }
    const size_t bytes = set_bytes ? set_bytes : 1, room = unused / 2 / bytes;
    size_t sets = 2 * (size_t)l2 / bytes + 2;
    sets = sets < MIN_ROTATION ? MIN_ROTATION : sets > MAX_ROTATION ? MAX_ROTATION : sets;
    return (int)(sets <= room ? sets : room ? room : 1);
}
