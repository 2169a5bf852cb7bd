/* Lesson 5: banks of shared memory, and padding that works. (25 minutes; ladder: filter cuda-shared4-pad)
 *
 * Shared memory has 32 banks; word number w (4 bytes) is in bank w % 32. In one pass each bank delivers
 * one word. If the 32 lanes of a warp ask for words in 32 different banks, or some for the same word, one
 * pass is enough; if two lanes ask one bank for two different words, the load takes two passes (the profiler
 * calls a pass a wavefront), and all lanes wait.
 *
 * The tile holds floats now, 20 rows of 60 words; each row begins PITCH words after the row before it. A
 * warp is two rows of 16 threads, and a thread's word is 3 from its neighbour's: lane l of the first row
 * reads word 3 * l, lane 16 + l, in the second, word PITCH + 3 * l. Words 0, 3, ... 45 and those of the
 * second row should all be in different banks.
 *
 * Your part: a PITCH from 60 to 127 without conflicts: each load takes one pass. Popular advice is to make
 * the pitch odd, 65 say. Draw the banks of both rows for 60 and 65 before you choose.
 *
 * Predict the passes a load takes, on average, with rows of 60, of 65 and of 80 words.
 *
 * PREDICT pitch-60: ?
 * PREDICT pitch-65: ?
 * PREDICT pitch-80: ?
 *
 * make check-5 judges this file without a GPU. With one: nvcc -O3 lesson_5_banks.cu && ./a.out */
constexpr int BLOCK = 16, SIDE = BLOCK + 4, ROW = SIDE * 3;
/* HOLE: words from one row of the tile to the next */
constexpr int MY_PITCH = 60;
/* END OF THE HOLE */

template <int PITCH>
__global__ void laplace(const unsigned char *in, unsigned char *out, int width, int height, int pitch)
{
    __shared__ float tile[SIDE * PITCH];
    const int left = (int)blockIdx.x * BLOCK - 2, top = (int)blockIdx.y * BLOCK - 2;
    for (int i = (int)(threadIdx.y * BLOCK + threadIdx.x); i < SIDE * ROW; i += BLOCK * BLOCK) {
        const int row = i / ROW, column = i % ROW;
        if (top + row < height + 2 && left * 3 + column < (width + 2) * 3)
            tile[row * PITCH + column] = in[(long)(top + row) * pitch + left * 3 + column];
    }
    __syncthreads();
    const int x = left + 2 + (int)threadIdx.x, y = top + 2 + (int)threadIdx.y;
    if (x >= width || y >= height)
        return;
    for (int c = 0; c < 3; c++) {
        float sum = 0;
        for (int fy = 0; fy < 5; fy++)
            for (int fx = 0; fx < 5; fx++) {
                const float weight = fx == 2 && fy == 2 ? 24 : -1;
                sum += weight * tile[((int)threadIdx.y + fy) * PITCH + ((int)threadIdx.x + fx) * 3 + c];
            }
        out[(y * width + x) * 3 + c] = (unsigned char)min(max(sum, 0.0f), 255.0f);
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
        laplace<MY_PITCH><<<grid, block>>>(in + 2 * pitch + 128, out, width, height, pitch);
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
