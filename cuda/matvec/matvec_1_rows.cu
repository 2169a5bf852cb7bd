/* cuda-simple, cuda-strided, cuda-tile-x and cuda-tile-ax: the lecture's versions 1.0, 1.1, 2 and 3.
 * Since c: one thread per row. 1.1 gives neighbouring threads rows 513 apart; 2 keeps a piece of x in shared
 * memory; 3 a square of the matrix too, loaded row by row.
 * Fixed: versions 2 and 3 lack the barrier after the inner loop, without which fast threads overwrite
 * the tile that slow ones still read; 1.1 takes its rows modulo the number of rows rounded up to 32,
 * with which every row is done once (513 is 1 modulo 32), and leaves out those past the end.
 * Global memory: 4 bytes per element. In 1.0 to 2 a warp reads 32 rows at once, one 32-byte sector of each,
 * and relies on a cache to keep the other 28 bytes; 3 reads 128 bytes of one row. Shared memory: 2: 128
 * bytes, one word for all lanes. 3: 4 KB more; lane t reads word 32 t + j: all 32 lanes on one bank, kept as
 * the lecture has it. 32 threads, one row per thread. CHECKED is what the lecture asks for: without it sizes
 * are multiples of 32. Limit: too few threads (as many as rows) to have enough loads in flight. */
#include "cuda/device/rung.cuh"

constexpr unsigned BLOCK = 32;

struct product {
    const float *a;
    size_t lda;
    unsigned rows, cols;
    const float *x;
    float *y;
};

template <bool CHECKED>
LAP_DEVICE void whole_row(const product &p, unsigned row)
{
    if (CHECKED && row >= p.rows)
        return;
    const float *a = p.a + row * p.lda;
    float sum = 0;
    for (unsigned j = 0; j < p.cols; j++)
        sum += a[j] * p.x[j];
    p.y[row] = sum;
}

template <bool CHECKED>
static __global__ void simple_kernel(const __grid_constant__ product p)
{
    whole_row<CHECKED>(p, blockIdx.x * BLOCK + threadIdx.x);
}

template <bool CHECKED>
static __global__ void strided_kernel(const __grid_constant__ product p)
{
    const unsigned rounded = (p.rows + BLOCK - 1) / BLOCK * BLOCK;
    whole_row<CHECKED>(p, (blockIdx.x * BLOCK + 513 * threadIdx.x) % rounded);
}

template <bool CHECKED>
static __global__ void tile_x_kernel(const __grid_constant__ product p)
{
    __shared__ float x_tile[BLOCK];
    const unsigned t = threadIdx.x, row = blockIdx.x * BLOCK + t;
    const bool has_row = !CHECKED || row < p.rows;
    float sum = 0;
    for (unsigned i = 0; i < p.cols; i += BLOCK) {
        const unsigned n = !CHECKED || p.cols - i > BLOCK ? BLOCK : p.cols - i;
        if (t < n)
            x_tile[t] = p.x[i + t];
        __syncthreads();
        for (unsigned j = 0; j < n && has_row; j++)
            sum += p.a[row * p.lda + i + j] * x_tile[j];
        __syncthreads();
    }
    if (has_row)
        p.y[row] = sum;
}

template <bool CHECKED>
static __global__ void tile_ax_kernel(const __grid_constant__ product p)
{
    __shared__ float x_tile[BLOCK], a_tile[BLOCK][BLOCK];
    const unsigned t = threadIdx.x, first = blockIdx.x * BLOCK;
    const unsigned rows = !CHECKED || p.rows - first > BLOCK ? BLOCK : p.rows - first;
    float sum = 0;
    for (unsigned i = 0; i < p.cols; i += BLOCK) {
        const unsigned n = !CHECKED || p.cols - i > BLOCK ? BLOCK : p.cols - i;
        if (t < n) {
            x_tile[t] = p.x[i + t];
            for (unsigned k = 0; k < rows; k++)
                a_tile[k][t] = p.a[(first + k) * p.lda + i + t];
        }
        __syncthreads();
        for (unsigned j = 0; j < n && t < rows; j++)
            sum += a_tile[t][j] * x_tile[j];
        __syncthreads();
    }
    if (t < rows)
        p.y[first + t] = sum;
}

typedef void product_kernel(product p);

static lap_code launch_rows(const char *name, product_kernel *checked, product_kernel *unchecked,
    const lap_gemv *g, const lap_exec *exec)
{
    const product p = {g->a, g->lda, (unsigned)g->rows, (unsigned)g->cols, g->x, g->y};
    return lap_cuda_launch(lap_launch_of(g->place, lap_blocks(g->rows, BLOCK), BLOCK, 0, exec), name,
        __FILE__, __LINE__, exec->unchecked ? unchecked : checked, p);
}

extern "C" lap_code lap_matvec_cuda_simple(const lap_gemv *g, const lap_exec *exec)
{
    return launch_rows("cuda-simple", simple_kernel<true>, simple_kernel<false>, g, exec);
}

extern "C" lap_code lap_matvec_cuda_strided(const lap_gemv *g, const lap_exec *exec)
{
    return launch_rows("cuda-strided", strided_kernel<true>, strided_kernel<false>, g, exec);
}

extern "C" lap_code lap_matvec_cuda_tile_x(const lap_gemv *g, const lap_exec *exec)
{
    return launch_rows("cuda-tile-x", tile_x_kernel<true>, tile_x_kernel<false>, g, exec);
}

extern "C" lap_code lap_matvec_cuda_tile_ax(const lap_gemv *g, const lap_exec *exec)
{
    return launch_rows("cuda-tile-ax", tile_ax_kernel<true>, tile_ax_kernel<false>, g, exec);
}
