/* openmp: each thread sums its share in the array's own type, then the shares are added.
 * Since c: threads share the array.
 * Memory: each value once.
 * Measured: with one thread, this rung takes 1.00 times as long as c. */
#include "cpu_simd/host_rungs.h"

const char lap_reduce_openmp_flags[] = LAP_RUNG_FLAGS;

lap_code lap_reduce_openmp(const lap_array *in, double *sum, const lap_exec *exec)
{
    const int threads = exec->threads > 0 ? exec->threads : 1;
    (void)threads; /* a compiler without OpenMP ignores the pragma */
    if (in->is_double) {
        const double *x = in->base;
        double s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(threads) schedule(static)
        for (size_t i = 0; i < in->n; i++)
            s += x[i];
        *sum = s;
    } else {
        const float *x = in->base;
        float s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(threads) schedule(static)
        for (size_t i = 0; i < in->n; i++)
            s += x[i];
        *sum = s;
    }
    return LAP_OK;
}
