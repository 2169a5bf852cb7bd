/* Tables of histograms, sums and products with rungs that are wrong in one place only: linked before the
 * library, they stand in for the real ones. */
#include <math.h>

#include "cpu_simd/host_rungs.h"

/* The last value of the last channel is counted once too often. */
static lap_code last_value(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    lap_code code = lap_histogram_c(in, counts, exec);
    counts[3][255]++;
    return code;
}

static lap_code one_more(const lap_array *in, double *sum, const lap_exec *exec)
{
    lap_code code = lap_reduce_c(in, sum, exec);
    *sum += 1;
    return code;
}

static lap_code last_row(const lap_gemv *g, const lap_exec *exec)
{
    lap_code code = lap_matvec_c(g, exec);
    g->y[g->rows - 1] += 1;
    return code;
}

static lap_code nan_row(const lap_gemv *g, const lap_exec *exec)
{
    lap_code code = lap_matvec_c(g, exec);
    g->y[g->rows / 2] = NAN;
    return code;
}

const lap_rung lap_histogram_table[] = {
    {.op = LAP_OP_HISTOGRAM, .name = "c", .family = "c", .run.histogram = lap_histogram_c},
    {.op = LAP_OP_HISTOGRAM, .name = "last-value", .family = "c", .run.histogram = last_value},
    {.op = LAP_OP_HISTOGRAM, .name = "auto", .family = "auto", .resolves = "c"},
    {0},
};

const lap_rung lap_reduce_table[] = {
    {.op = LAP_OP_REDUCE, .name = "c", .family = "c", .run.reduce = lap_reduce_c},
    {.op = LAP_OP_REDUCE, .name = "one-more", .family = "c", .run.reduce = one_more},
    {.op = LAP_OP_REDUCE, .name = "auto", .family = "auto", .resolves = "c"},
    {0},
};

const lap_rung lap_matvec_table[] = {
    {.op = LAP_OP_MATVEC, .name = "c", .family = "c", .run.matvec = lap_matvec_c},
    {.op = LAP_OP_MATVEC, .name = "last-row", .family = "c", .run.matvec = last_row},
    {.op = LAP_OP_MATVEC, .name = "nan", .family = "c", .run.matvec = nan_row},
    {.op = LAP_OP_MATVEC, .name = "auto", .family = "auto", .resolves = "c"},
    {0},
};
