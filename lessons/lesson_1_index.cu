/* Lesson 1: which thread computes which pixel, and where the image ends. (15 minutes; ladder: filter
 * cuda-global)
 *
 * The filter: a byte of the result is 24 times the byte at its place minus the 24 bytes around it (5 rows
 * of 5 pixels), cut off at 0 and 255. Flat areas become black, edges bright. A pixel has 3 bytes, red,
 * green and blue, and each colour is filtered separately.
 *
 * A GPU runs this function, the kernel, once for each pixel, in threads. Threads come in blocks, here of 16
 * x 16; the blocks form a grid that covers the image. Each thread is told its place: threadIdx.x and .y in
 * its block, blockIdx.x and .y of its block in the grid; blockDim.x and .y are the size of a block. An
 * image of 40 x 23 pixels takes 3 x 2 blocks, 48 x 32 threads: some threads have no pixel, and must not
 * touch memory.
 *
 * `in` points at pixel (0, 0), rows are `pitch` bytes apart. Two pixels beyond each side of the image can
 * be read, as if the image went on: the window needs no special case there. `out` has rows without gaps,
 * width * 3 bytes.
 *
 * Your part: fill the hole, so that each thread knows its pixel (x, y), and returns if it has none.
 *
 * Before you check, predict. A GPU fetches memory in sectors of 32 bytes. 32 threads, a warp, load
 * together: here two rows of 16 pixels, whose bytes of one colour are 3 apart. How many sectors does such a
 * load touch, on average?
 *
 * PREDICT sectors: ?
 *
 * make check-1 judges this file without a GPU. With one: nvcc -O3 lesson_1_index.cu && ./a.out */
constexpr int BLOCK_X = 16, BLOCK_Y = 16;

__global__ void laplace(const unsigned char *in, unsigned char *out, int width, int height, int pitch)
{
    /* HOLE: x, y, and which threads have nothing to do */
    const int x = 0, y = 0;
    /* END OF THE HOLE */
    for (int c = 0; c < 3; c++) {
        int sum = 0;
        for (int fy = -2; fy <= 2; fy++)
            for (int fx = -2; fx <= 2; fx++) {
                const int weight = fx == 0 && fy == 0 ? 24 : -1;
                sum += weight * in[(y + fy) * pitch + (x + fx) * 3 + c];
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
    const dim3 block(BLOCK_X, BLOCK_Y),
        grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
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
