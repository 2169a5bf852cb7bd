/* Tables of histograms, sums and products with rungs that are wrong in one place only: linked before the
 * library, they replace the real tables. */
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

/* Rungs that do nothing must not pass with the results that the rung before has left. */
static lap_code no_row(const lap_gemv *g, const lap_exec *exec)
{
    (void)g, (void)exec;
    return LAP_OK;
}

static lap_code no_count(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    (void)in, (void)counts, (void)exec;
    return LAP_OK;
}

const lap_rung lap_histogram_table[] = {
    {.op = LAP_OP_HISTOGRAM, .name = "c", .family = "c", .run.histogram = lap_histogram_c},
    {.op = LAP_OP_HISTOGRAM, .name = "last-value", .family = "c", .run.histogram = last_value},
    {.op = LAP_OP_HISTOGRAM, .name = "no-count", .family = "c", .run.histogram = no_count},
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
    {.op = LAP_OP_MATVEC, .name = "no-row", .family = "c", .run.matvec = no_row},
    {.op = LAP_OP_MATVEC, .name = "auto", .family = "auto", .resolves = "c"},
    {0},
};
