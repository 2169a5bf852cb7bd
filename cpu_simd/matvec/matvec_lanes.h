/* Matrix times vector in lanes, for any vector width: the file that includes this defines LAP_VECTOR
 * (bytes) and LAP_MATVEC_NAME. Four rows share each load of x. A row has 16 partial sums whatever the
 * width, added up in one fixed order, so every instruction set gives the same result, bit for bit. */
#include <string.h>

#include "cpu_simd/host_rungs.h"

enum { LANES = 16, VECTORS = LANES * 4 / LAP_VECTOR, ROWS = 4 };

typedef float floats __attribute__((vector_size(LAP_VECTOR)));

static inline __attribute__((always_inline)) void rows_times_x(const lap_gemv *g, size_t first, int rows)
{
    const float *a = g->a + first * g->lda;
    const size_t whole = g->cols - g->cols % LANES;
    floats sum[ROWS][VECTORS] = {{{0}}};
    for (size_t j = 0; j < whole; j += LANES) {
        for (int v = 0; v < VECTORS; v++) {
            floats x, e;
            memcpy(&x, (const char *)(g->x + j) + v * LAP_VECTOR, sizeof x);
            for (int r = 0; r < rows; r++) {
                memcpy(&e, (const char *)(a + (size_t)r * g->lda + j) + v * LAP_VECTOR, sizeof e);
                sum[r][v] += e * x;
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        float lanes[LANES];
        memcpy(lanes, sum[r], sizeof lanes);
        for (size_t j = whole; j < g->cols; j++)
            lanes[j - whole] += a[(size_t)r * g->lda + j] * g->x[j];
        for (int half = LANES / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; i++)
                lanes[i] += lanes[i + half];
        }
        g->y[first + (size_t)r] = lanes[0];
    }
}

lap_code LAP_MATVEC_NAME(const lap_gemv *g, const lap_exec *exec)
{
    (void)exec;
    size_t i = 0;
    for (; i + ROWS <= g->rows; i += ROWS)
        rows_times_x(g, i, ROWS);
    for (; i < g->rows; i++)
        rows_times_x(g, i, 1);
    return LAP_OK;
}
