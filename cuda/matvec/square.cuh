/* Versions with a square of the matrix in shared memory: 32 rows of PITCH words, loaded row by row. */
#ifndef LAP_CUDA_MATVEC_SQUARE_CUH
#define LAP_CUDA_MATVEC_SQUARE_CUH

#include "matvec.cuh"

template <bool CHECKED, unsigned PITCH>
static __global__ void lap_square_kernel(const __grid_constant__ lap_product p)
{
    __shared__ float x_tile[LAP_ROWS], a_tile[LAP_ROWS][PITCH];
    const unsigned t = threadIdx.x, first = blockIdx.x * LAP_ROWS;
    const unsigned rows = !CHECKED || p.rows - first > LAP_ROWS ? LAP_ROWS : p.rows - first;
    float sum = 0;
    for (unsigned i = 0; i < p.cols; i += LAP_ROWS) {
        const unsigned n = !CHECKED || p.cols - i > LAP_ROWS ? LAP_ROWS : p.cols - i;
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

#endif
