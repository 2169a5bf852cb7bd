/* Checks of threads, warps, blocks, limits, and memory that was never written. */
#include <cmath>
#include <cstring>

#include "check.h"

namespace
{

constexpr unsigned N = 256, ALL = 0xffffffffu;

/* Calls f with n words of zeroed device memory, then copies them to `host`. */
template <typename T, typename F>
bool with_words(T *host, unsigned n, F f)
{
    T *device = nullptr;
    bool ok = !cudaMalloc(&device, n * sizeof(T)) && !cudaMemset(device, 0, n * sizeof(T)) && f(device) &&
              !cudaMemcpy(host, device, n * sizeof(T), cudaMemcpyDeviceToHost);
    return cudaFree(device) == cudaSuccess && ok;
}

/* ---- lanes that diverge ---------------------------------------------------------------------------- */

/* Each lane makes as many rounds as its number; the lanes that are still in the loop vote. */
__global__ void diverge(unsigned *out)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned mask = ALL, sum = 0;
    for (unsigned round = 0; round < 32; round++) {
        mask = __ballot_sync(mask, lane >= round);
        if (lane < round)
            break;
        sum += __shfl_sync(mask, lane, 31) + (unsigned)__popc(mask);
    }
    __syncwarp();
    unsigned halves = lane % 2 ? __reduce_add_sync(0xaaaaaaaau, 1u) : __ballot_sync(0x55555555u, lane < 8);
    out[threadIdx.x] = sum * 1000 + halves;
}

bool diverged_right()
{
    unsigned out[64];
    bool ok = with_words(out, 64, [](unsigned *d) { return !start(1, 64, 0, nullptr, diverge, d); });
    for (unsigned i = 0; i < 64 && ok; i++) {
        unsigned sum = 0;
        for (unsigned round = 0; round <= i % 32; round++)
            sum += 31 + 32 - round;
        ok = out[i] == sum * 1000 + (i % 2 ? 16 : 0x55);
    }
    return ok;
}

/* Adds with one atomic for all lanes that have the same value; the lanes that are active take part. */
__global__ void aggregate(unsigned *count)
{
    const unsigned value = threadIdx.x % 5;
    if (threadIdx.x % 3 == 0)
        return;
    const unsigned mask = __activemask(), same = __match_any_sync(mask, value);
    if ((unsigned)__ffs((int)same) - 1 == threadIdx.x % 32)
        atomicAdd(&count[value], (unsigned)__popc(same));
}

bool aggregated_right()
{
    unsigned count[5], expected[5] = {};
    for (unsigned i = 0; i < N; i++)
        expected[i % 5] += i % 3 != 0;
    return with_words(count, 5, [](unsigned *d) { return !start(1, N, 0, nullptr, aggregate, d); }) &&
           memcmp(count, expected, sizeof count) == 0;
}

/* ---- order ----------------------------------------------------------------------------------------- */

/* The sum of all blocks so far; the fault: it relies on block b - 1 having run before block b. */
__global__ void chain(unsigned *out, bool depends)
{
    if (threadIdx.x == 0)
        out[blockIdx.x] = depends && blockIdx.x > 0 ? out[blockIdx.x - 1] + 1 : blockIdx.x + 1;
}

bool chained_right(bool depends)
{
    unsigned out[40];
    bool ok = with_words(out, 40, [&](unsigned *d) { return !start(40, 32, 0, nullptr, chain, d, depends); });
    for (unsigned i = 0; i < 40; i++)
        ok = ok && out[i] == i + 1;
    return ok;
}

/* Neighbours in a warp exchange values; the fault: nothing orders them. */
__global__ void neighbours(unsigned *out, bool waits)
{
    __shared__ unsigned tile[32];
    tile[threadIdx.x] = threadIdx.x;
    if (waits)
        __syncwarp();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

bool neighbours_right(bool waits)
{
    unsigned out[32];
    bool ok =
        with_words(out, 32, [&](unsigned *d) { return !start(1, 32, 0, nullptr, neighbours, d, waits); });
    for (unsigned i = 0; i < 32; i++)
        ok = ok && out[i] == (i ^ 1);
    return ok;
}

/* Tickets from a counter; the fault: a thread relies on getting its own number. */
__global__ void tickets(unsigned *counter, unsigned *out, bool trusts)
{
    const unsigned ticket = atomicAdd(counter, 1u);
    out[trusts ? ticket : threadIdx.x] = threadIdx.x;
}

bool tickets_right(bool trusts)
{
    unsigned out[N + 1];
    bool ok = with_words(
        out, N + 1, [&](unsigned *d) { return !start(1, N, 0, nullptr, tickets, d + N, d, trusts); });
    for (unsigned i = 0; i < N; i++)
        ok = ok && out[i] == i;
    return ok;
}

/* ---- memory that nobody has written ------------------------------------------------------------------ */

__global__ void unwritten(const float *in, float *out, bool shared, bool dynamic)
{
    __shared__ float tile[32];
    LAP_DYNAMIC_SHARED(float, more);
    out[threadIdx.x] = shared ? tile[threadIdx.x] : dynamic ? more[threadIdx.x] : in[threadIdx.x];
    tile[threadIdx.x] = more[threadIdx.x] = 1; /* the next block must not see this */
}

bool is_nan_everywhere(bool shared, bool dynamic)
{
    float out[32], *in = nullptr;
    bool ok = !cudaMalloc(&in, sizeof out) && with_words(out, 32, [&](float *d) {
        return !start(3, 32, sizeof out, nullptr, unwritten, in, d, shared, dynamic);
    });
    for (float f : out)
        ok = ok && std::isnan(f);
    return !cudaFree(in) && ok;
}

bool pinned_is_nan()
{
    float *pinned = nullptr;
    bool ok = !cudaMallocHost(&pinned, 64) && std::isnan(pinned[0]) && std::isnan(pinned[15]);
    return !cudaFreeHost(pinned) && ok;
}

/* ---- limits ---------------------------------------------------------------------------------------- */

__global__ void nothing(int step)
{
    __shared__ int some[256];
    atomicAdd(&some[threadIdx.x % 256], step);
}

cudaError_t try_block(dim3 grid, dim3 block, size_t shared)
{
    cudaError_t error = start(grid, block, shared, nullptr, nothing, 0);
    cudaGetLastError();
    return error;
}

void check_limits()
{
    begin("shared=64K", 1);
    const void *kernel = (const void *)nothing;
    report(try_block(1, 1024, 0) == cudaSuccess && try_block(1, 1025, 0) == cudaErrorInvalidConfiguration &&
               try_block(1, dim3(33, 32), 0) == cudaErrorInvalidConfiguration &&
               try_block(1, dim3(1, 1, 65), 0) == cudaErrorInvalidConfiguration &&
               try_block(1, dim3(1, 1, 64), 0) == cudaSuccess && try_block(1, 0, 0) != cudaSuccess,
        "a block is at most 1024 threads, 64 deep");
    report(try_block(dim3(1, 65535), 1, 0) == cudaSuccess &&
               try_block(dim3(1, 65536), 1, 0) == cudaErrorInvalidConfiguration &&
               try_block(dim3(1, 1, 65536), 1, 0) == cudaErrorInvalidConfiguration,
        "a grid is at most 65535 blocks high and deep");
    report(try_block(1, 1, (48 << 10) - 1024) == cudaSuccess &&
               try_block(1, 1, (48 << 10) - 1020) == cudaErrorInvalidValue,
        "48 KB of shared memory, the static part counted");
    report(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 63 << 10) == cudaSuccess &&
            try_block(1, 1, 63 << 10) == cudaSuccess && try_block(1, 1, 64 << 10) != cudaSuccess,
        "more shared memory where it was asked for");
    report(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10) ==
               cudaErrorInvalidValue,
        "never more than the device has");
}

} // namespace

void check_kernels()
{
    report(in_orders("", diverged_right) == ORDERS, "lanes that diverged vote, exchange and reduce by mask");
    report(in_orders("", aggregated_right) == ORDERS, "lanes that are together match and count");
    report(in_orders("", [] { return chained_right(false); }) == ORDERS, "blocks in any order");
    report(in_orders("", [] { return chained_right(true); }) < ORDERS,
        "a block that counts on another one is seen");
    report(in_orders("", [] { return neighbours_right(true); }) == ORDERS, "lanes that wait for each other");
    report(in_orders("", [] { return neighbours_right(false); }) < ORDERS, "a missing __syncwarp is seen");
    report(in_orders("", [] { return tickets_right(false); }) == ORDERS, "atomics in any order");
    report(in_orders("", [] { return tickets_right(true); }) < ORDERS,
        "a thread that counts on the order of atomics is seen");
    begin("", 1);
    report(is_nan_everywhere(false, false), "device memory that nobody wrote is NaN");
    report(is_nan_everywhere(true, false), "so is shared memory, for each block");
    report(is_nan_everywhere(false, true), "so is dynamic shared memory, for each block");
    report(pinned_is_nan(), "so is pinned memory");
    check_limits();
}
