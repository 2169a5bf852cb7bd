/* Lesson 3: a tile with its halo in shared memory. (20 minutes; ladder: filter cuda-shared2)
 *
 * In lesson 1 each byte is loaded 25 times, by 25 threads. Now a block first loads its pixels and two
 * pixels on each side, the halo, into shared memory, which belongs to the block and is faster; then all
 * 25 reads go there. The tile has 20 rows of 20 pixels, 60 bytes a row, for a block of 16 x 16: 1200
 * bytes for 256 threads.
 *
 * Your part: load the tile. Byte (column, row) of the tile is byte first + row * pitch + column of `in`,
 * where `first` is computed for you. Let each thread load every 256th byte. At the right and lower side of
 * the image a tile goes beyond what can be read: only bytes of rows up to height + 1 and of columns up to
 * (width + 2) * 3 - 1, counted from pixel (0, 0), exist; the others are not needed, and must not be
 * loaded. __syncthreads() is the barrier: no thread goes on before all threads have reached it. So no
 * thread may return before it.
 *
 * Predict how many bytes of global memory are loaded for each pixel of the result; in lesson 1 it is 75.
 *
 * PREDICT bytes: ?
 *
 * make check-3 judges this file without a GPU. With one: nvcc -O3 lesson_3_tile.cu && ./a.out */
constexpr int BLOCK = 16, SIDE = BLOCK + 4, ROW = SIDE * 3;

__global__ void laplace(const unsigned char *in, unsigned char *out, int width, int height, int pitch)
{
    __shared__ unsigned char tile[SIDE * ROW];
    /* The tile's first pixel. */
    const int left = (int)blockIdx.x * BLOCK - 2, top = (int)blockIdx.y * BLOCK - 2;
    const long first = (long)top * pitch + left * 3;
    const int t = (int)(threadIdx.y * BLOCK + threadIdx.x); /* 0 to 255 */
    /* HOLE: tile[row * ROW + column] for all bytes of the tile that are there */
    /* END OF THE HOLE */
    __syncthreads();
    const int x = left + 2 + (int)threadIdx.x, y = top + 2 + (int)threadIdx.y;
    if (x >= width || y >= height)
        return;
    for (int c = 0; c < 3; c++) {
        int sum = 0;
        for (int fy = 0; fy < 5; fy++)
            for (int fx = 0; fx < 5; fx++) {
                const int weight = fx == 2 && fy == 2 ? 24 : -1;
                sum += weight * tile[((int)threadIdx.y + fy) * ROW + ((int)threadIdx.x + fx) * 3 + c];
            }
        out[(y * width + x) * 3 + c] = (unsigned char)min(max(sum, 0), 255);
    }
}

#ifdef __CUDACC__ /* what follows runs on a GPU only: one image of 4992 x 3744 pixels, timed */
#include <cstdio>
#include <vector>

int main()
{
    const int width = 4992, height = 3744, pitch = 128 + width * 3 + 128, runs = 20;
    std::vector<unsigned char> pixels((size_t)pitch * (height + 4), 100);
    unsigned char *in, *out;
    cudaMalloc(&in, pixels.size());
    cudaMalloc(&out, (size_t)width * height * 3);
    cudaMemcpy(in, pixels.data(), pixels.size(), cudaMemcpyHostToDevice);
    const dim3 block(BLOCK, BLOCK), grid((width + BLOCK - 1) / BLOCK, (height + BLOCK - 1) / BLOCK);
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int i = -1; i < runs; i++) { /* the first run also loads the kernel: it is not timed */
        if (i == 0)
            cudaEventRecord(from);
        laplace<<<grid, block>>>(in + 2 * pitch + 128, out, width, height, pitch);
    }
    cudaEventRecord(to);
    const cudaError_t error = cudaDeviceSynchronize();
    float ms = 0;
    cudaEventElapsedTime(&ms, from, to);
    printf(
        "%s: %.1f us for an image of %d x %d\n", cudaGetErrorString(error), 1000 * ms / runs, width, height);
    return error != cudaSuccess;
}
#endif
