/* cuda-global, cuda-shared and cuda-dynamic: the notes' halving, 128 values per block.
 * Since c: half of a block's threads add the other half's values, again and again. The block sums are
 * summed by the same kernel, until one is left; the notes sum them on the host.
 * Fixed: reduce_global overwrites its input, ours halves in scratch memory; reduce_dynamic loads from
 * the array of results, ours from the input; and any length works.
 * Global memory: a value read once; cuda-global also writes and reads half of the values, a quarter, ...
 * Shared memory: none, or 128 values (512 bytes of floats), neighbours in neighbouring banks.
 * 128 threads, one value per thread; every step half of them retire.
 * Limit: one load in flight a thread, then seven barriers while nothing is loaded. */
#include "cuda/device/rung.cuh"

constexpr unsigned BLOCK = 128;

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    global_kernel(const T *__restrict__ x, size_t n, T *half, T *block_sums)
{
    const unsigned t = threadIdx.x;
    const size_t first = (size_t)blockIdx.x * BLOCK;
    T *work = half + (size_t)blockIdx.x * (BLOCK / 2);
    if (t < BLOCK / 2) {
        const size_t i = first + t, j = i + BLOCK / 2;
        work[t] = (i < n ? x[i] : T(0)) + (j < n ? x[j] : T(0));
    }
    __syncthreads();
    for (unsigned offset = BLOCK / 4; offset > 0; offset /= 2) {
        if (t < offset)
            work[t] += work[t + offset];
        __syncthreads();
    }
    if (t == 0)
        block_sums[blockIdx.x] = work[0];
}

template <typename T>
LAP_DEVICE void halve(const T *x, size_t n, T *tile, T *block_sums)
{
    const unsigned t = threadIdx.x;
    const size_t i = (size_t)blockIdx.x * BLOCK + t;
    tile[t] = i < n ? x[i] : T(0);
    __syncthreads();
    for (unsigned offset = BLOCK / 2; offset > 0; offset /= 2) {
        if (t < offset)
            tile[t] += tile[t + offset];
        __syncthreads();
    }
    if (t == 0)
        block_sums[blockIdx.x] = tile[0];
}

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    shared_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    __shared__ T tile[BLOCK];
    halve(x, n, tile, block_sums);
}

template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    dynamic_kernel(const T *__restrict__ x, size_t n, T *, T *block_sums)
{
    LAP_DYNAMIC_SHARED(T, tile);
    halve(x, n, tile, block_sums);
}

/* ---- host side: from level to level ------------------------------------------------------------- */

static size_t rounded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* head | block sums | block sums of these, ... | halves */
extern "C" size_t lap_cuda_scratch_bytes(size_t n, size_t size)
{
    const size_t blocks = lap_blocks(n, BLOCK);
    return LAP_SCRATCH_HEAD + rounded(blocks * size) + rounded((blocks / BLOCK + 1) * size) +
           rounded(blocks * (BLOCK / 2) * size);
}

template <typename T>
using halving_kernel = void(const T *, size_t, T *, T *);

template <typename T>
static lap_code levels(const char *name, halving_kernel<T> *kernel, size_t shared, const lap_array *in,
    uint8_t *scratch, const lap_exec *exec)
{
    size_t n = in->n;
    const size_t blocks = lap_blocks(n, BLOCK);
    T *sums[2] = {(T *)(scratch + LAP_SCRATCH_HEAD), NULL};
    sums[1] = (T *)((uint8_t *)sums[0] + rounded(blocks * sizeof(T)));
    T *half = (T *)((uint8_t *)sums[1] + rounded((blocks / BLOCK + 1) * sizeof(T)));
    const T *from = (const T *)in->base;
    for (int level = 0;; level++) {
        const unsigned left = lap_blocks(n, BLOCK);
        T *to = left == 1 ? (T *)scratch : sums[level % 2];
        lap_code code = lap_cuda_launch(lap_launch_of(in->place, left, BLOCK, shared, exec), name, __FILE__,
            __LINE__, kernel, from, n, half, to);
        if (code || left == 1)
            return code;
        from = to;
        n = left;
    }
}

template <typename T>
static lap_code reduce(const char *name, halving_kernel<T> *kernel, size_t shared, const lap_array *in,
    double *sum, const lap_exec *exec)
{
    lap_scratch scratch;
    T result = 0;
    lap_code code = lap_scratch_get(in->place, lap_cuda_scratch_bytes(in->n, sizeof(T)), exec, &scratch);
    if (!code)
        code = levels<T>(name, kernel, shared, in, scratch.memory, exec);
    code = lap_scratch_finish(in->place, &scratch, code, &result, sizeof result, exec);
    *sum = (double)result;
    return code;
}

extern "C" lap_code lap_reduce_cuda_global(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double ? reduce<double>("cuda-global", global_kernel<double>, 0, in, sum, exec)
                         : reduce<float>("cuda-global", global_kernel<float>, 0, in, sum, exec);
}

extern "C" lap_code lap_reduce_cuda_shared(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double ? reduce<double>("cuda-shared", shared_kernel<double>, 0, in, sum, exec)
                         : reduce<float>("cuda-shared", shared_kernel<float>, 0, in, sum, exec);
}

extern "C" lap_code lap_reduce_cuda_dynamic(const lap_array *in, double *sum, const lap_exec *exec)
{
    return in->is_double
               ? reduce<double>("cuda-dynamic", dynamic_kernel<double>, BLOCK * sizeof(double), in, sum, exec)
               : reduce<float>("cuda-dynamic", dynamic_kernel<float>, BLOCK * sizeof(float), in, sum, exec);
}
