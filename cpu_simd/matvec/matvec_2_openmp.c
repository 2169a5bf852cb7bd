/* openmp: the plain loop, rows spread over threads.
 * Since c: threads share the rows.
 * Memory: as in c.
 * Measured: with one thread, this rung takes 1.00 times as long as c. */
#include "cpu_simd/host_rungs.h"

const char lap_matvec_openmp_flags[] = LAP_RUNG_FLAGS;

lap_code lap_matvec_openmp(const lap_gemv *g, const lap_exec *exec)
{
    const int threads = exec->threads > 0 ? exec->threads : 1;
    (void)threads; /* a compiler without OpenMP ignores the pragma */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < g->rows; i++) {
        const float *row = g->a + i * g->lda;
        float sum = 0;
        for (size_t j = 0; j < g->cols; j++)
            sum += row[j] * g->x[j];
        g->y[i] = sum;
    }
    return LAP_OK;
}
