/* Shared by the lecture's versions: one thread per row, 32 threads per block. With CHECKED, as the
 * lecture asks, any size works; without it, sizes must be multiples of 32. */
#ifndef LAP_CUDA_MATVEC_CUH
#define LAP_CUDA_MATVEC_CUH

#include "cuda/device/rung.cuh"

constexpr unsigned LAP_ROWS = 32; /* rows per block: one for each thread */

struct lap_product {
    const float *a;
    size_t lda;
    unsigned rows, cols;
    const float *x;
    float *y;
};

typedef void lap_product_kernel(lap_product p);

static inline lap_code lap_rows_launch(const char *name, lap_product_kernel *checked,
    lap_product_kernel *unchecked, const lap_gemv *g, const lap_exec *exec)
{
    const lap_product p = {g->a, g->lda, (unsigned)g->rows, (unsigned)g->cols, g->x, g->y};
    return lap_cuda_launch(lap_launch_of(g->place, lap_blocks(g->rows, LAP_ROWS), LAP_ROWS, 0, exec), name,
        __FILE__, __LINE__, exec->unchecked ? unchecked : checked, p);
}

/* Computes the product of one row, term by term. */
template <bool CHECKED>
LAP_DEVICE void lap_whole_row(const lap_product &p, unsigned row)
{
    if (CHECKED && row >= p.rows)
        return;
    const float *a = p.a + row * p.lda;
    float sum = 0;
    for (unsigned j = 0; j < p.cols; j++)
        sum += a[j] * p.x[j];
    p.y[row] = sum;
}

#endif
