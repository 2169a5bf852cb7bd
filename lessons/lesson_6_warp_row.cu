/* Lesson 6: a warp that reads a row. (20 minutes; ladder: filter cuda-shared4-wide)
 *
 * Lesson 5 padded rows, since a warp was two rows of 16 threads. A block of 32 x 8 has the same number of
 * threads, but its warps are rows of 32: lane l reads word 3 * l, and 3 has no divisor in common with 32,
 * so no bank is used twice and no padding is needed. Stores are faster, too: 32 pixels of a row are 96
 * consecutive bytes.
 *
 * Your part: load the tile so that each warp loads whole rows: warp w loads rows w, w + 8, w + 16 ..., and
 * each lane loads bytes lane, lane + 32, lane + 64 ... of a row. The tile has 12 rows of 36 pixels, 108
 * bytes, here floats. Only bytes of rows up to height + 1 and of columns up to (width + 2) * 3 - 1 exist, as
 * in lesson 3; `left` and `top` are in pixels, and may be -2.
 *
 * Predict the sectors of a store (a warp writes 32 bytes that are 3 apart), and the passes of a load from
 * the tile.
 *
 * PREDICT sectors-stored: ?
 * PREDICT passes: ?
 *
 * make check-6 judges this file without a GPU. With one: nvcc -O3 lesson_6_warp_row.cu && ./a.out */
constexpr int BLOCK_X = 32, BLOCK_Y = 8, ROWS = BLOCK_Y + 4, ROW = (BLOCK_X + 4) * 3;

__global__ void laplace(const unsigned char *in, unsigned char *out, int width, int height, int pitch)
{
    __shared__ float tile[ROWS * ROW];
    const int left = (int)blockIdx.x * BLOCK_X - 2, top = (int)blockIdx.y * BLOCK_Y - 2;
    const int warp = (int)threadIdx.y, lane = (int)threadIdx.x;
    /* HOLE: tile[row * ROW + column], one row per warp */
    /* END OF THE HOLE */
    __syncthreads();
    const int x = left + 2 + lane, y = top + 2 + warp;
    if (x >= width || y >= height)
        return;
    for (int c = 0; c < 3; c++) {
        float sum = 0;
        for (int fy = 0; fy < 5; fy++)
            for (int fx = 0; fx < 5; fx++) {
                const float weight = fx == 2 && fy == 2 ? 24 : -1;
                sum += weight * tile[(warp + fy) * ROW + (lane + fx) * 3 + c];
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
