/* Lesson 8: a sum: idle lanes, bank conflicts, and shuffles. (30 minutes; ladder: reduce cuda-shuffle)
 *
 * A block of 128 threads adds up a group of 128 floats, stores the sum, and goes on with the group that
 * is gridDim.x further on, until there is none. (A GPU starts about one block in each clock cycle: with a
 * block for each group, starting blocks would take most of the time.) Three ways:
 *
 * divergent: in each step every 2nd, 4th, 8th ... thread adds its right neighbour's value. In every warp a
 * few lanes work and the others wait for them: the warp takes as long as if all lanes worked.
 * interleaved: the same additions by adjacent threads, so that whole warps work or are idle. But lane l
 * reads word 2 * step * l, so that with each step more lanes use the same bank, until few lanes are left.
 * shuffled: __shfl_down_sync(0xffffffff, value, n) returns the value of the lane n further on in the warp,
 * without shared memory or a barrier; the mask has a bit for each lane that takes part. After five
 * shuffles, n = 16, 8, 4, 2, 1, lane 0 has the warp's sum. Shared memory then holds one value a warp,
 * four in all.
 *
 * Your part: shuffled. Lane 0 of each warp stores its warp's sum in warps[]; after a barrier, thread 0
 * adds the four sums. The barrier after the hole is there already.
 *
 * Predict: the lanes that take part in a load from shared memory, on average over all steps and warps, in
 * divergent (up to 32); the passes that such a load takes in interleaved.
 *
 * PREDICT lanes-divergent: ?
 * PREDICT passes-interleaved: ?
 *
 * make check-8 judges this file without a GPU. With one: nvcc -O3 lesson_8_reduction.cu && ./a.out */
constexpr unsigned BLOCK = 128, WARPS = BLOCK / 32;

__global__ void divergent(const float *in, float *sums, unsigned groups)
{
    __shared__ float tile[BLOCK];
    const unsigned t = threadIdx.x;
    for (unsigned group = blockIdx.x; group < groups; group += gridDim.x) {
        tile[t] = in[group * BLOCK + t];
        __syncthreads();
        for (unsigned step = 1; step < BLOCK; step *= 2) {
            if (t % (2 * step) == 0)
                tile[t] += tile[t + step];
            __syncthreads();
        }
        if (t == 0)
            sums[group] = tile[0];
    }
}

__global__ void interleaved(const float *in, float *sums, unsigned groups)
{
    __shared__ float tile[BLOCK];
    const unsigned t = threadIdx.x;
    for (unsigned group = blockIdx.x; group < groups; group += gridDim.x) {
        tile[t] = in[group * BLOCK + t];
        __syncthreads();
        for (unsigned step = 1; step < BLOCK; step *= 2) {
            if (2 * step * t < BLOCK)
                tile[2 * step * t] += tile[2 * step * t + step];
            __syncthreads();
        }
        if (t == 0)
            sums[group] = tile[0];
    }
}

__global__ void shuffled(const float *in, float *sums, unsigned groups)
{
    __shared__ float warps[WARPS];
    const unsigned t = threadIdx.x;
    for (unsigned group = blockIdx.x; group < groups; group += gridDim.x) {
        float value = in[group * BLOCK + t];
        /* HOLE: the sum of the group's 128 values into sums[group] */
        if (t == 0)
            sums[group] = value + warps[0];
        /* END OF THE HOLE */
        __syncthreads(); /* before warps[] is written for the next group */
    }
}

#ifdef __CUDACC__ /* what follows runs on a GPU only: 4 million floats, which stay in its L2 cache, timed */
#include <cstdio>
#include <vector>

int main()
{
    const unsigned groups = 32768, blocks = 2048; /* as many as run at once on an H200 */
    const int runs = 200;
    const std::vector<float> values((size_t)groups * BLOCK, 1);
    float *in, *sums;
    cudaMalloc(&in, values.size() * sizeof(float));
    cudaMalloc(&sums, groups * sizeof(float));
    cudaMemcpy(in, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    const struct {
        const char *name;
        void (*kernel)(const float *, float *, unsigned);
    } ways[] = {{"divergent", divergent}, {"interleaved", interleaved}, {"shuffled", shuffled}};
    for (const auto &way : ways) {
        for (int i = -1; i < runs; i++) { /* the first run also loads the kernel: it is not timed */
            if (i == 0)
                cudaEventRecord(from);
            way.kernel<<<blocks, BLOCK>>>(in, sums, groups);
        }
        cudaEventRecord(to);
        const cudaError_t error = cudaDeviceSynchronize();
        float ms = 0;
        cudaEventElapsedTime(&ms, from, to);
        printf("%s, %s: %.1f us for %zu floats\n", way.name, cudaGetErrorString(error), 1000 * ms / runs,
            values.size());
    }
    return cudaGetLastError() != cudaSuccess;
}
#endif
