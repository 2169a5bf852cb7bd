/* Lesson 10: sums that slide. (25 minutes; ladder: filter cuda-slide)
 *
 * The filter again, computed differently: 24 times the middle minus the other 24 is 25 times the middle
 * minus the sum of all 25. And that sum is five sums of rows; the window one pixel further down has four
 * of the five in common. So a thread that walks down a column keeps the sums of five rows: at each step
 * it loads one new row, 5 bytes, and forgets the oldest. 25 loads a pixel become 5, and a few more at the
 * beginning.
 *
 * `in` is an image of one byte per pixel here; two pixels beyond each side of it can be read. Each thread
 * walks down DEEP pixels of column x from row `top` on.
 *
 * Your part: the walk. row_sum(in, pitch, x, y) adds the 5 bytes around (x, y). Before pixel y the sums of
 * rows y - 2 to y + 1 are known; add row y + 2; when the pixel is done, subtract row y - 2. Keep the last
 * five sums in an array. The byte in the middle may be loaded once more.
 *
 * Predict how many loads a pixel takes, with DEEP = 32: five for each row, of which there are 36, and one
 * for the middle.
 *
 * PREDICT loads: ?
 *
 * make check-10 judges this file without a GPU. With one: nvcc -O3 lesson_10_sliding.cu && ./a.out */
constexpr int BLOCK = 64, DEEP = 32;

__device__ int row_sum(const unsigned char *in, int pitch, int x, int y)
{
    int sum = 0;
    for (int fx = -2; fx <= 2; fx++)
        sum += in[(long)y * pitch + x + fx];
    return sum;
}

__global__ void laplace(const unsigned char *in, unsigned char *out, int width, int height, int pitch)
{
    const int x = (int)blockIdx.x * BLOCK + (int)threadIdx.x, top = (int)blockIdx.y * DEEP;
    if (x >= width)
        return;
    const int end = min(top + DEEP, height);
    /* HOLE: all pixels (x, y) with y = top ... end - 1, each row's sum computed once */
    for (int y = top; y < end; y++) {
        int box = 0;
        for (int fy = -2; fy <= 2; fy++)
            box += row_sum(in, pitch, x, y + fy);
        const int value = 25 * in[(long)y * pitch + x] - box;
        out[(long)y * width + x] = (unsigned char)min(max(value, 0), 255);
    }
    /* END OF THE HOLE */
}

#ifdef __CUDACC__ /* what follows runs on a GPU only: one image of 14976 x 3744 bytes, timed */
#include <cstdio>
#include <vector>

int main()
{
    const int width = 14976, height = 3744, pitch = 128 + width + 128, runs = 20;
    std::vector<unsigned char> pixels((size_t)pitch * (height + 4), 100);
    unsigned char *in, *out;
    cudaMalloc(&in, pixels.size());
    cudaMalloc(&out, (size_t)width * height);
    cudaMemcpy(in, pixels.data(), pixels.size(), cudaMemcpyHostToDevice);
    const dim3 grid((width + BLOCK - 1) / BLOCK, (height + DEEP - 1) / DEEP);
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int i = -1; i < runs; i++) { /* the first run also loads the kernel: it is not timed */
        if (i == 0)
            cudaEventRecord(from);
        laplace<<<grid, BLOCK>>>(in + 2 * pitch + 128, out, width, height, pitch);
    }
    cudaEventRecord(to);
    const cudaError_t error = cudaDeviceSynchronize();
    float ms = 0;
    cudaEventElapsedTime(&ms, from, to);
    printf("%s: %.1f us for as many bytes as an image of 4992 x 3744 has\n", cudaGetErrorString(error),
        1000 * ms / runs);
    return error != cudaSuccess;
}
#endif
