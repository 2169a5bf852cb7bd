/* Kernels with one fault each, to show that the tests would detect it: faults NAME, or "none" for the
 * same kernels without faults. The sanitizer that this is built with must end the program. */
#include <stdio.h>
#include <string.h>

#include "cuda/device/launch.cuh"

constexpr int N = 64;

/* Every thread passes its value to the opposite thread, through shared memory. */
static __global__ void exchange(const int *in, int *out, bool barrier)
{
    __shared__ int tile[N];
    tile[threadIdx.x] = in[threadIdx.x];
    if (barrier)
        __syncthreads();
    out[threadIdx.x] = tile[N - 1 - threadIdx.x];
}

/* Twice; a thread that is ahead writes what another one has yet to read, and both come to the next barrier.
 */
static __global__ void exchange_twice(int *out, bool barrier)
{
    __shared__ int tile[N];
    tile[threadIdx.x] = 0;
    for (int i = 0; i < 2; i++) {
        __syncthreads();
        const int other = tile[N - 1 - threadIdx.x];
        if (barrier)
            __syncthreads();
        tile[threadIdx.x] = other + 1;
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
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

/* Half of the threads wait for the others, which have ended. */
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

/* Odd lanes vote with a mask that contains even lanes, too. */
static __global__ void vote(unsigned *out, bool with_all)
{
    const unsigned mine = threadIdx.x % 2 ? 0xaaaaaaaau : 0x55555555u;
    const unsigned mask = threadIdx.x % 2 && with_all ? 0xffffffffu : mine;
    out[threadIdx.x] = __ballot_sync(mask, 1);
    __syncwarp();
}

/* Halves of 64-bit numbers are not 64-bit numbers. */
static __global__ void count(unsigned *out, int odd)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out + odd), 1ull);
}

/* Faults outside of kernels: host code reads device memory, a kernel gets a host address, or runs on the
 * wrong device. */
static lap_code run_on_host(const char *fault, int *in, int *out, lap_error *err)
{
    static int table[N];
    if (strcmp(fault, "host") == 0)
        return in[0] == 0 ? LAP_E_DEVICE : LAP_OK;
    const lap_launch launch = {strcmp(fault, "device") == 0, dim3(1), dim3(N), 0, NULL, err};
    lap_code code = LAP_LAUNCH(launch, read_global, strcmp(fault, "pageable") == 0 ? table : in, out, 0);
    return code ? code : lap_cuda_sync(launch.device, NULL, err);
}

static lap_code run(const char *fault, int *in, int *out, lap_error *err)
{
    lap_launch launch = {0, dim3(1), dim3(N), N * sizeof(int), NULL, err};
    lap_code code = LAP_LAUNCH(launch, exchange, in, out, strcmp(fault, "race") != 0);
    if (!code)
        code = LAP_LAUNCH(launch, exchange_twice, out, strcmp(fault, "round") != 0);
    if (!code)
        code = LAP_LAUNCH(launch, read_shared, out, strcmp(fault, "shared") == 0);
    if (!code)
        code = LAP_LAUNCH(launch, read_dynamic, out, strcmp(fault, "dynamic") == 0);
    if (!code)
        code = LAP_LAUNCH(launch, read_global, in, out, strcmp(fault, "global") == 0);
    if (!code)
        code = LAP_LAUNCH(launch, wait_for_ever, out, strcmp(fault, "hang") == 0);
    if (!code)
        code = LAP_LAUNCH(launch, vote, (unsigned *)out, strcmp(fault, "mask") == 0);
    if (!code)
        code = LAP_LAUNCH(launch, count, (unsigned *)out, strcmp(fault, "odd") == 0);
    if (!code)
        code = lap_cuda_sync(0, NULL, err);
    return code ? code : run_on_host(fault, in, out, err);
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
