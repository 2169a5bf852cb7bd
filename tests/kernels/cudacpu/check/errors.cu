/* Checks of calls that fail, and of devices that are lost or hang. */
#include <unistd.h>

#include <cstdio>

#include "check.h"

namespace
{

__global__ void one(int *out)
{
    *out = 1;
}

/* A small user of the runtime; its fault: it ignores what the third call returns. */
bool user(bool careless, int *result)
{
    int *memory = nullptr;
    cudaStream_t stream = nullptr;
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (!error)
        error = cudaMalloc(&memory, sizeof *memory);
    if (!error) {
        error = start(1, 1, 0, stream, one, memory);
        error = careless ? cudaSuccess : error;
    }
    if (!error)
        error = cudaMemcpyAsync(result, memory, sizeof *result, cudaMemcpyDeviceToHost, stream);
    if (!error)
        error = cudaStreamSynchronize(stream);
    if (memory)
        cudaFree(memory);
    if (stream)
        cudaStreamDestroy(stream);
    cudaGetLastError();
    return !error;
}

/* Makes every call fail in turn. True if each time the user noticed, or the result was right anyway. */
bool notices_all(bool careless)
{
    for (unsigned n = 1; n < 100; n++) {
        char settings[40];
        int result = 0;
        snprintf(settings, sizeof settings, "fail=%u:2", n);
        begin(settings, n);
        const bool good = user(careless, &result);
        if (good && result != 1)
            return false;
        if (good && lap_cudacpu_count("calls") < n)
            return n > 5; /* all were tried */
        if (lap_cudacpu_alive())
            return false;
    }
    return false;
}

void check_loss()
{
    int *memory = nullptr, count = 0, host = 0;
    begin("lost=2:719", 1);
    bool ok = !cudaMalloc(&memory, 4) && !start(1, 1, 0, nullptr, one, memory) && !cudaDeviceSynchronize() &&
              !start(1, 1, 0, nullptr, one, memory);
    cudaError_t seen = cudaSuccess; /* the order of work decides when */
    for (int i = 0; i < 100 && !seen; i++)
        seen = cudaStreamSynchronize(nullptr);
    report(ok && seen == cudaErrorLaunchFailure, "a kernel that fails is reported when it was waited for");
    report(cudaGetLastError() == cudaErrorLaunchFailure && cudaGetLastError() == cudaErrorLaunchFailure &&
               cudaMalloc(&memory, 4) == cudaErrorLaunchFailure &&
               cudaMemcpy(&host, memory, 4, cudaMemcpyDefault) == cudaErrorLaunchFailure &&
               cudaGetDeviceCount(&count) == cudaSuccess,
        "such an error sticks");
    begin("", 1);
    cudaFree(memory);
    begin("devices=2,fail=cudaMalloc:1:700:sticky", 1);
    ok = cudaMalloc(&memory, 4) == cudaErrorIllegalAddress &&
         cudaDeviceSynchronize() == cudaErrorIllegalAddress && !cudaSetDevice(1) && !cudaMalloc(&memory, 4) &&
         !start(1, 1, 0, nullptr, one, memory) && !cudaDeviceSynchronize();
    report(ok, "to its device alone");
    cudaFree(memory);
}

void check_hang()
{
    int *memory = nullptr;
    cudaEvent_t event = nullptr;
    begin("hang=1:3600000:702", 1);
    bool ok = !cudaMalloc(&memory, 4) && !cudaEventCreate(&event) && !start(1, 1, 0, nullptr, one, memory) &&
              !cudaEventRecord(event, nullptr);
    for (int i = 0; i < 50; i++)
        ok =
            ok && cudaEventQuery(event) == cudaErrorNotReady && cudaStreamQuery(nullptr) == cudaErrorNotReady;
    report(ok, "a device that hangs: events and streams are not ready");
    begin("", 1);
    cudaFree(memory);
    cudaEventDestroy(event);
    begin("hang=1:20:702", 1);
    ok = !cudaMalloc(&memory, 4) && !cudaEventCreate(&event) && !start(1, 1, 0, nullptr, one, memory);
    report(ok && cudaDeviceSynchronize() == cudaErrorLaunchTimeout &&
               cudaEventQuery(event) == cudaErrorLaunchTimeout,
        "at last it is lost");
    begin("hang=1:20", 1);
    report(!start(1, 1, 0, nullptr, one, memory) && !cudaDeviceSynchronize(), "or goes on");
    begin("memory=1M", 1);
    int *large = nullptr;
    report(cudaMalloc(&large, 1 << 20) == cudaErrorMemoryAllocation && !large &&
               cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess &&
               !cudaMalloc(&large, 1 << 19) && !cudaFree(large),
        "out of memory does not stick");
    cudaFree(memory);
    cudaEventDestroy(event);
}

} // namespace

void check_errors()
{
    report(notices_all(false), "every call fails in turn, and a careful user notices");
    report(!notices_all(true), "a call whose error is dropped is seen");
    check_loss();
    check_hang();
}
