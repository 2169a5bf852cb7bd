/* Shared by the halving reductions: each launch computes one sum per block, and the same kernel then adds
 * these sums, until one is left (the notes add them on the host). cuda-fast is launched separately. */
#ifndef LAP_CUDA_REDUCE_CUH
#define LAP_CUDA_REDUCE_CUH

#include "cuda/device/rung.cuh"

constexpr unsigned LAP_BLOCK = 128, LAP_WARPS = LAP_BLOCK / LAP_WARP;

/* half: room for half of the values of every block; only cuda-global uses it. */
template <typename T>
using lap_halving_kernel = void(const T *x, size_t n, T *half, T *block_sums);

/* Adds up a block's values in `tile`: the first half of the threads adds the second half of the values, then
 * the first quarter adds the second quarter, and so on. */
template <typename T>
LAP_DEVICE void lap_halve(T *tile, T *block_sums)
{
    const unsigned t = threadIdx.x;
    __syncthreads();
    for (unsigned offset = LAP_BLOCK / 2; offset > 0; offset /= 2) {
        if (t < offset)
            tile[t] += tile[t + offset];
        __syncthreads();
    }
    if (t == 0)
        block_sums[blockIdx.x] = tile[0];
}

/* Adds up one value per thread: within warps by shuffles, then over the sums of the warps. */
template <typename T>
LAP_DEVICE void lap_halve_by_shuffles(T value, T *warps, T *block_sums)
{
    value = lap_warp_sum(value);
    if (threadIdx.x % LAP_WARP == 0)
        warps[threadIdx.x / LAP_WARP] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        block_sums[blockIdx.x] = (warps[0] + warps[1]) + (warps[2] + warps[3]);
}
static_assert(LAP_WARPS == 4, "four sums of warps");

/* ---- host side: one launch per level ------------------------------------------------------------ */

static inline size_t lap_rounded_up(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Returns the number of blocks for n values, `piece` values per block; at most `most`, unless `most` is 0. */
static inline unsigned lap_reduce_blocks(size_t n, unsigned piece, unsigned most)
{
    const unsigned blocks = lap_blocks(n, piece);
    return most && blocks > most ? most : blocks;
}

/* head | block sums | block sums of these, ... | halves: lap_cuda_scratch_bytes */
template <typename T>
static lap_code lap_levels(const char *name, lap_halving_kernel<T> *kernel, unsigned piece, unsigned most,
    size_t shared, const lap_array *in, uint8_t *scratch, const lap_exec *exec)
{
    size_t n = in->n;
    const size_t blocks = lap_blocks(n, LAP_BLOCK);
    T *sums[2] = {(T *)(scratch + LAP_SCRATCH_HEAD), NULL};
    sums[1] = (T *)((uint8_t *)sums[0] + lap_rounded_up(blocks * sizeof(T)));
    T *half = (T *)((uint8_t *)sums[1] + lap_rounded_up((blocks / LAP_BLOCK + 1) * sizeof(T)));
    const T *from = (const T *)in->base;
    for (int level = 0;; level++) {
        /* If `most` limits the number of block sums, one block adds them up. */
        const unsigned left = level && most ? 1 : lap_reduce_blocks(n, piece, most);
        T *to = left == 1 ? (T *)scratch : sums[level % 2];
        lap_code code = lap_cuda_launch(lap_launch_of(in->place, left, LAP_BLOCK, shared, exec), name,
            __FILE__, __LINE__, kernel, from, n, half, to);
        if (code || left == 1)
            return code;
        from = to;
        n = left;
    }
}

/* piece: values per block. per_sm: blocks per SM, which then loop over the array; 0: a block for each piece.
 */
template <typename T>
static lap_code lap_reduce_by(const char *name, lap_halving_kernel<T> *kernel, unsigned piece,
    unsigned per_sm, size_t shared, const lap_array *in, double *sum, const lap_exec *exec)
{
    lap_scratch scratch;
    T result = 0;
    const unsigned most =
        per_sm ? (unsigned)lap_attribute(in->place, cudaDevAttrMultiProcessorCount) * per_sm : 0;
    lap_code code = lap_scratch_get(in->place, lap_cuda_scratch_bytes(in->n, sizeof(T)), exec, &scratch);
    if (!code)
        code = lap_levels<T>(name, kernel, piece, most, shared, in, scratch.memory, exec);
    code = lap_scratch_finish(in->place, &scratch, code, &result, sizeof result, exec);
    *sum = (double)result;
    return code;
}

#endif
