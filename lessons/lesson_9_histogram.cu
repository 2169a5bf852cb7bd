/* Lesson 9: atomics, and a histogram with fewer collisions. (25 minutes)
 *
 * How often does each of the 256 values occur? If two threads execute counts[value]++ at once, one
 * increment is lost: both read 7, both write 8. atomicAdd(&counts[value], 1u) reads, adds and writes in
 * one step, so nothing is lost; but atomics on the same counter run one after the other, and each one
 * travels to the L2 cache and back.
 *
 * in_global does that. Better: each block counts in shared memory, where atomics are faster, and adds its
 * 256 counters to those of the image at the end. Then there are 256 atomics on global memory per block,
 * not one per value.
 *
 * Your part: in_shared. Three phases, with barriers between: 256 threads set 256 counters to zero; all
 * count; 256 threads add 256 counters to counts[]. Thread t counts the block's values t,
 * t + BLOCK, t + 2 * BLOCK ..., PER of them, as in in_global.
 *
 * Predict how many passes an atomic of a warp takes if the whole image has one value, so that all lanes
 * add to one counter. And predict how many atomics on global memory are done for each value, if a block
 * counts 4096 values.
 *
 * PREDICT passes-flat: ?
 * PREDICT atomics: ?
 *
 * make check-9 judges this file without a GPU. With one: nvcc -O3 lesson_9_histogram.cu && ./a.out */
constexpr unsigned BLOCK = 256, PER = 16; /* threads per block, values per thread */

__global__ void in_global(const unsigned char *in, unsigned *counts, unsigned n)
{
    const unsigned first = blockIdx.x * BLOCK * PER + threadIdx.x;
    for (unsigned i = first; i < first + BLOCK * PER && i < n; i += BLOCK)
        atomicAdd(&counts[in[i]], 1u);
}

__global__ void in_shared(const unsigned char *in, unsigned *counts, unsigned n)
{
    __shared__ unsigned mine[256];
    const unsigned first = blockIdx.x * BLOCK * PER + threadIdx.x;
    /* HOLE: zero, count, add */
    if (first < n)
        mine[threadIdx.x] += counts[threadIdx.x];
    /* END OF THE HOLE */
}

#ifdef __CUDACC__ /* what follows runs on a GPU only: 56 million bytes, timed */
#include <cstdio>
#include <vector>

int main()
{
    const unsigned n = 4992u * 3744 * 3, blocks = (n + BLOCK * PER - 1) / (BLOCK * PER);
    const int runs = 20;
    std::vector<unsigned char> values(n);
    for (unsigned i = 0; i < n; i++)
        values[i] = (unsigned char)(i * 2654435761u >> 24);
    unsigned char *in;
    unsigned *counts;
    cudaMalloc(&in, n);
    cudaMalloc(&counts, 256 * sizeof(unsigned));
    cudaMemcpy(in, values.data(), n, cudaMemcpyHostToDevice);
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    const struct {
        const char *name;
        void (*kernel)(const unsigned char *, unsigned *, unsigned);
    } ways[] = {{"in global memory", in_global}, {"in shared memory", in_shared}};
    for (const auto &way : ways) {
        for (int i = -1; i < runs; i++) { /* the first run also loads the kernel: it is not timed */
            if (i == 0)
                cudaEventRecord(from);
            way.kernel<<<blocks, BLOCK>>>(in, counts, n);
        }
        cudaEventRecord(to);
        const cudaError_t error = cudaDeviceSynchronize();
        float ms = 0;
        cudaEventElapsedTime(&ms, from, to);
        printf("%s, %s: %.1f us for %u bytes\n", way.name, cudaGetErrorString(error), 1000 * ms / runs, n);
    }
    return cudaGetLastError() != cudaSuccess;
}
#endif
