/* Lesson 7: several pixels per thread. (25 minutes; ladder: filter cuda-pixels)
 *
 * One pixel of one colour takes 25 loads from the tile. A thread that computes four pixels, one below the
 * other, needs 8 rows of 5 values, 40 in all, since windows overlap: 10 per pixel instead of 25, if each
 * value is loaded once and then used for all the windows that it is in. Values and sums stay in
 * registers: variables of the thread, which cost nothing to read.
 *
 * The block has 32 x 8 threads and computes 32 x 32 pixels; the tile has 36 rows of 36 pixels.
 *
 * Your part: the four sums of one colour. sum[i] is the window whose first row is row i of the thread's 8:
 * the value at (fx, r) belongs to window i as its row r - i, if that is one of 0 to 4; its weight is 24 in
 * the middle (fx = 2, row 2), else -1. Load each of the 40 values once.
 *
 * Predict how many loads from the tile a pixel takes for one colour.
 *
 * PREDICT loads: ?
 *
 * make check-7 judges this file without a GPU. With one: nvcc -O3 lesson_7_pixels.cu && ./a.out */
constexpr int BLOCK_X = 32, BLOCK_Y = 8, DEEP = 4, TALL = BLOCK_Y * DEEP;
constexpr int ROWS = TALL + 4, ROW = (BLOCK_X + 4) * 3;

__global__ void laplace(const unsigned char *in, unsigned char *out, int width, int height, int pitch)
{
    __shared__ float tile[ROWS * ROW];
    const int left = (int)blockIdx.x * BLOCK_X - 2, top = (int)blockIdx.y * TALL - 2;
    const int warp = (int)threadIdx.y, lane = (int)threadIdx.x;
    for (int row = warp; row < ROWS; row += BLOCK_Y)
        for (int column = lane; column < ROW; column += BLOCK_X)
            if (top + row < height + 2 && left * 3 + column < (width + 2) * 3)
                tile[row * ROW + column] = in[(long)(top + row) * pitch + left * 3 + column];
    __syncthreads();
    const int x = left + 2 + lane, y = top + 2 + warp * DEEP; /* the first of this thread's four pixels */
    if (x >= width || y >= height)
        return;
    const int rows = min(DEEP, height - y); /* rows within the image */
    for (int c = 0; c < 3; c++) {
        const float *window = tile + warp * DEEP * ROW + lane * 3 + c;
        float sum[DEEP] = {};
        /* HOLE: add window[r * ROW + fx * 3], r = 0 ... rows + 3, to all sums that it belongs to */
        for (int i = 0; i < rows; i++)
            for (int fy = 0; fy < 5; fy++)
                for (int fx = 0; fx < 5; fx++)
                    sum[i] += (fx == 2 && fy == 2 ? 24.0f : -1.0f) * window[(i + fy) * ROW + fx * 3];
        /* END OF THE HOLE */
        for (int i = 0; i < rows; i++)
            out[((y + i) * width + x) * 3 + c] = (unsigned char)min(max(sum[i], 0.0f), 255.0f);
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
    const dim3 block(BLOCK_X, BLOCK_Y), grid((width + BLOCK_X - 1) / BLOCK_X, (height + TALL - 1) / TALL);
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
