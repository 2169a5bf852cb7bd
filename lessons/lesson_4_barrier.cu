/* Lesson 4: where threads must wait for each other. (20 minutes; ladder: filter cuda-shared2)
 *
 * This kernel keeps one colour at a time in its tile: it loads the reds, filters them, loads the greens
 * into the same tile, and so on. Its threads do not run in step: one may be done with the reds while
 * another still loads them. If one thread reads an element that another writes, a barrier must be between
 * the two, in both directions: the read must come after the write whose value it needs, and before the
 * next write. Two accesses to the same element are a race if at least one of them is a write and nothing
 * orders them.
 *
 * Your part: the barriers, __syncthreads(), as few as are needed. All threads of the block must reach
 * each barrier: a GPU hangs if a barrier is inside an `if` that not all threads take, or after a
 * `return`.
 *
 * Predict how many barriers each thread passes.
 *
 * PREDICT barriers: ?
 *
 * make check-4 judges this file without a GPU. With one: nvcc -O3 lesson_4_barrier.cu && ./a.out */
constexpr int BLOCK = 16, SIDE = BLOCK + 4;

__global__ void laplace(const unsigned char *in, unsigned char *out, int width, int height, int pitch)
{
    __shared__ unsigned char tile[SIDE * SIDE];
    const int left = (int)blockIdx.x * BLOCK - 2, top = (int)blockIdx.y * BLOCK - 2;
    const int x = left + 2 + (int)threadIdx.x, y = top + 2 + (int)threadIdx.y;
    for (int c = 0; c < 3; c++) {
        for (int i = (int)(threadIdx.y * BLOCK + threadIdx.x); i < SIDE * SIDE; i += BLOCK * BLOCK) {
            const int tx = left + i % SIDE, ty = top + i / SIDE;
            if (tx < width + 2 && ty < height + 2)
                tile[i] = in[(long)ty * pitch + tx * 3 + c];
        }
        /* HOLE: what must be true before the first read? */
        /* END OF THE HOLE */
        int sum = 0;
        if (x < width && y < height)
            for (int fy = 0; fy < 5; fy++)
                for (int fx = 0; fx < 5; fx++) {
                    const int weight = fx == 2 && fy == 2 ? 24 : -1;
                    sum += weight * tile[((int)threadIdx.y + fy) * SIDE + (int)threadIdx.x + fx];
                }
        if (x < width && y < height)
            out[(y * width + x) * 3 + c] = (unsigned char)min(max(sum, 0), 255);
        /* HOLE: and before the next colour is loaded? */
        /* END OF THE HOLE */
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
