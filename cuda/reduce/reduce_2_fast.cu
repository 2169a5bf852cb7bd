/* cuda-fast: the blocks that fit on the device at once walk the array together.
 * Since cuda-unrolled: sums of vectors are widened to double, and one launch is enough: the block that
 * finishes last adds the block sums.
 * Global memory: each value read once, 16 bytes per load.
 * Shared memory: one double per warp. 256 threads; 16 floats (8 doubles) per thread and step.
 * Measured: L2 91 % busy, DRAM 89, L1 15, issue slots 9; longest wait: loads, 174.8 cycles per instruction
 * (10^8 floats, H200).
 *
 * Precision: a step's 16 floats are added in a tree, that sum is widened, and all further sums are
 * double: a value is rounded at most 4 times in float, so the error is at most 4 * 2^-24 of the sum of
 * magnitudes. Block sums are added in one order, so a device gives the same bits every time. */
#include "cuda/device/rung.cuh"

constexpr unsigned BLOCK = 256, WARPS = BLOCK / LAP_WARP, LOADS = 4, BLOCKS_A_SM = 8;
/* Offsets in the head of the scratch memory. */
constexpr size_t TICKET_AT = 256, SUMS_AT = 512;
constexpr unsigned MAX_BLOCKS = (LAP_SCRATCH_HEAD - SUMS_AT) / sizeof(double);

LAP_DEVICE float sum_of(const float4 &v)
{
    return (v.x + v.y) + (v.z + v.w);
}

LAP_DEVICE double sum_of(const double2 &v)
{
    return v.x + v.y;
}

/* Adds up the values of a block. Only thread 0 gets the sum. */
LAP_DEVICE double block_sum(double value, double *warps)
{
    value = lap_warp_sum(value);
    if (threadIdx.x % LAP_WARP == 0)
        warps[threadIdx.x / LAP_WARP] = value;
    __syncthreads();
    if (threadIdx.x < LAP_WARP)
        value = lap_warp_sum(threadIdx.x < WARPS ? warps[threadIdx.x] : 0.0);
    __syncthreads();
    return value;
}

/* x has n vectors and is aligned for V; `before` and `after` have fewer values than a vector. */
template <typename T, typename V>
static __global__ void __launch_bounds__(BLOCK) fast_kernel(const T *__restrict__ before, unsigned n_before,
    const V *__restrict__ x, size_t n, const T *__restrict__ after, unsigned n_after, uint8_t *head)
{
    __shared__ double warps[WARPS];
    __shared__ bool is_last;
    double *sums = reinterpret_cast<double *>(head + SUMS_AT);
    const size_t thread = (size_t)blockIdx.x * BLOCK + threadIdx.x, threads = (size_t)gridDim.x * BLOCK;
    double sum = 0;
    size_t i = thread;
    for (; i + (LOADS - 1) * threads < n; i += LOADS * threads) {
        V v[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
            v[k] = __ldcs(x + i + k * threads);
        sum += (double)((sum_of(v[0]) + sum_of(v[1])) + (sum_of(v[2]) + sum_of(v[3])));
    }
    for (; i < n; i += threads)
        sum += (double)sum_of(__ldcs(x + i));
    if (thread < n_before)
        sum += (double)before[thread];
    if (thread < n_after)
        sum += (double)after[thread];

    sum = block_sum(sum, warps);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence(); /* publishes the sum before the ticket is taken */
        /* The ticket wraps to 0 for the next launch. */
        is_last = atomicInc(reinterpret_cast<unsigned *>(head + TICKET_AT), gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last)
        return;
    __threadfence(); /* reads the other sums only after the ticket */
    sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += BLOCK)
        sum += __ldcg(sums + b);
    sum = block_sum(sum, warps);
    if (threadIdx.x == 0)
        *reinterpret_cast<double *>(head) = sum;
}

template <typename T, typename V>
static lap_code launch_fast(const lap_array *in, uint8_t *head, const lap_exec *exec)
{
    const T *x = (const T *)in->base;
    size_t before = (sizeof(V) - (uintptr_t)x % sizeof(V)) % sizeof(V) / sizeof(T);
    before = before < in->n ? before : in->n;
    const size_t each = sizeof(V) / sizeof(T), n = (in->n - before) / each;
    const T *after = x + before + n * each;
    unsigned blocks = (unsigned)lap_attribute(in->place, cudaDevAttrMultiProcessorCount) * BLOCKS_A_SM;
    const unsigned useful = lap_blocks(n, BLOCK * LOADS);
    blocks = blocks < 1 ? 1 : blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
    blocks = blocks < useful ? blocks : useful;
    return LAP_LAUNCH(lap_launch_of(in->place, blocks, BLOCK, 0, exec), (fast_kernel<T, V>), x,
        (unsigned)before, (const V *)(x + before), n, after, (unsigned)(in->n - before - n * each), head);
}

extern "C" lap_code lap_reduce_cuda_fast(const lap_array *in, double *sum, const lap_exec *exec)
{
    lap_scratch scratch;
    double result = 0;
    lap_code code = lap_scratch_get(in->place, LAP_SCRATCH_HEAD, exec, &scratch);
    if (!code)
        code = in->is_double ? launch_fast<double, double2>(in, scratch.memory, exec)
                             : launch_fast<float, float4>(in, scratch.memory, exec);
    code = lap_scratch_finish(in->place, &scratch, code, &result, sizeof result, exec);
    *sum = result;
    return code;
}
