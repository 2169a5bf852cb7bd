/* Lesson 2: what a warp's loads and stores cost, by where they go. (10 minutes; ladder: transpose
 * cuda-naive-write)
 *
 * A matrix of floats is transposed, that is, mirrored at its diagonal: element (x, y) goes to (y, x).
 * Memory is fetched and written in sectors of 32 bytes, 8 floats. If the 32 threads of a warp touch
 * neighbours, a load of 32 floats needs few sectors: that is called coalesced. If they touch a column,
 * each float lies in a different sector, and 28 of the sector's 32 bytes are transferred for nothing.
 *
 * transpose_read, below, reads rows of the source: its loads are coalesced, its stores go down a column. A
 * transpose in global memory alone cannot have both coalesced, but it can choose which.
 *
 * Your part: transpose_write, in which a row of threads writes a row of the result. Its grid covers the
 * result, which is `height` wide and `width` high: a thread's x in the grid is a column of the result,
 * its y is a row.
 *
 * Blocks are 16 x 16: a warp is two rows of 16. Predict how many sectors a store of transpose_read touches,
 * and a load of transpose_write. (The two rows of a warp touch neighbours in a column: look which floats
 * share a sector.)
 *
 * PREDICT sectors-stored: ?
 * PREDICT sectors-loaded: ?
 *
 * make check-2 judges this file without a GPU. With one: nvcc -O3 lesson_2_coalescing.cu && ./a.out */
constexpr int BLOCK = 16;

__global__ void transpose_read(const float *in, float *out, int width, int height)
{
    const int x = (int)(blockIdx.x * BLOCK + threadIdx.x), y = (int)(blockIdx.y * BLOCK + threadIdx.y);
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

__global__ void transpose_write(const float *in, float *out, int width, int height)
{
    /* HOLE: as above, but neighbouring threads write neighbouring floats */
    /* END OF THE HOLE */
}

#ifdef __CUDACC__ /* what follows runs on a GPU only: 4992 x 3744 floats, timed */
#include <cstdio>
#include <vector>

static float time_of(void (*kernel)(const float *, float *, int, int), dim3 grid, const float *in, float *out,
    int width, int height)
{
    const int runs = 20;
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int i = -1; i < runs; i++) { /* the first run also loads the kernel: it is not timed */
        if (i == 0)
            cudaEventRecord(from);
        kernel<<<grid, dim3(BLOCK, BLOCK)>>>(in, out, width, height);
    }
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    float ms = 0;
    cudaEventElapsedTime(&ms, from, to);
    return 1000 * ms / runs;
}

int main()
{
    const int width = 4992, height = 3744;
    const std::vector<float> values((size_t)width * height, 1);
    float *in, *out;
    cudaMalloc(&in, values.size() * sizeof(float));
    cudaMalloc(&out, values.size() * sizeof(float));
    cudaMemcpy(in, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    const float read = time_of(transpose_read, dim3(width / BLOCK, height / BLOCK), in, out, width, height);
    const float write = time_of(transpose_write, dim3(height / BLOCK, width / BLOCK), in, out, width, height);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s: reads in rows %.1f us, writes in rows %.1f us\n", cudaGetErrorString(error), read, write);
    return error != cudaSuccess;
}
#endif
