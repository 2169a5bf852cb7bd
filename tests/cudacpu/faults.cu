/* Kernels with a fault each, to show that the tests would see it: faults NAME, or "none" for the same
 * kernels without. The sanitizer that this is built with must end the program. */
#include <stdio.h>
#include <string.h>

#include "cuda/device/launch.cuh"

constexpr int N = 64;

/* Every thread hands its value to the thread opposite, through shared memory. */
static __global__ void exchange(const int *in, int *out, bool barrier)
{
    __shared__ int tile[N];
    tile[threadIdx.x] = in[threadIdx.x];
    if (barrier)
        __syncthreads();
    out[threadIdx.x] = tile[N - 1 - threadIdx.x];
}

static __global__ void read_shared(int *out, int beyond)
{
    __shared__ int tile[N];
    tile[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    const int *first = tile;
    out[threadIdx.x] = first[threadIdx.x + beyond];
}

static __global__ void read_dynamic(int *out, int beyond)
{
    LAP_DYNAMIC_SHARED(int, tile);
    tile[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + beyond];
}

static __global__ void read_global(const int *in, int *out, int beyond)
{
    out[threadIdx.x] = in[threadIdx.x + beyond];
}

/* Half of the threads wait for the others, which went home. */
static __global__ void wait_for_ever(int *out, bool some)
{
    __shared__ int tile[N];
    tile[threadIdx.x] = 1;
    if (!some || threadIdx.x % 2)
        __syncwarp();
    out[threadIdx.x] = tile[threadIdx.x];
    if (!some || threadIdx.x % 2 == 0)
        __syncthreads();
}

static lap_code run(const char *fault, int *in, int *out, lap_error *err)
{
    lap_launch launch = {0, dim3(1), dim3(N), N * sizeof(int), NULL, err};
    lap_code code = LAP_LAUNCH(launch, exchange, in, out, strcmp(fault, "race") != 0);
    if (!code)
        code = LAP_LAUNCH(launch, read_shared, out, strcmp(fault, "shared") == 0);
    if (!code)
        code = LAP_LAUNCH(launch, read_dynamic, out, strcmp(fault, "dynamic") == 0);
    if (!code)
        code = LAP_LAUNCH(launch, read_global, in, out, strcmp(fault, "global") == 0);
    if (!code)
        code = LAP_LAUNCH(launch, wait_for_ever, out, strcmp(fault, "hang") == 0);
    return code;
}

int main(int argc, char **argv)
{
    lap_error err = {};
    void *in = NULL, *out = NULL;
    lap_code code = lap_cuda_alloc(0, N * sizeof(int), &in, &err);
    if (!code)
        code = lap_cuda_alloc(0, N * sizeof(int), &out, &err);
    if (!code)
        code = run(argc > 1 ? argv[1] : "none", (int *)in, (int *)out, &err);
    lap_cuda_free(0, in);
    lap_cuda_free(0, out);
    if (code)
        fprintf(stderr, "%s\n", err.message);
    return code != LAP_OK;
}
