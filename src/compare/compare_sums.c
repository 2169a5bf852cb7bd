/* Compares ladders whose results are numbers. The check uses whole numbers, whose sums are exact in any
 * order, so a rung is either right or wrong. Its rounding error on fractions is reported separately. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compare/compare.h"

/* Enough values to show rounding errors; 256 MB as doubles. */
enum { MAX_VALUES = 1 << 25 };

/* 255 * columns < 2^24, so products of samples with -1, 0 and 1 have exact sums in float. */
enum { MAX_COLUMNS = 65536 };
_Static_assert(255 * MAX_COLUMNS < 1 << 24, "whole products must be exact");

static void differs(lap_compare_row *row, char detail[160])
{
    row->difference.identical = !detail[0];
    row->detail = detail[0] ? detail : NULL;
}

/* ---- histogram ---------------------------------------------------------------------------------- */

typedef struct counting {
    const lap_comparison *comparison;
    uint64_t reference[4][256];
    char detail[160];
} counting;

typedef struct counting_run {
    const counting *counting;
    const lap_rung *rung;
    uint64_t counts[4][256];
} counting_run;

static lap_code count(const counting *c, const lap_rung *rung, uint64_t counts[4][256], lap_error *err)
{
    const lap_resources use = lap_compare_resources(c->comparison, err);
    return lap_rung_histogram(rung, &use, c->comparison->pixels, counts);
}

static lap_code count_once(void *argument, lap_times *times, lap_error *err)
{
    counting_run *run = argument;
    (void)times;
    memset(run->counts, 0, sizeof run->counts);
    return count(run->counting, run->rung, run->counts, err);
}

static lap_code run_histogram(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err)
{
    counting *c = state;
    counting_run run = {.counting = c, .rung = rung};
    lap_code code = lap_compare_repeat(c->comparison, count_once, &run, row, err);
    c->detail[0] = 0;
    for (int i = 0; i < 4 * 256 && !c->detail[0]; i++) {
        const unsigned long long a = c->reference[i / 256][i % 256], b = run.counts[i / 256][i % 256];
        if (a != b)
            snprintf(c->detail, sizeof c->detail, "value %d of channel %d: c counts %llu, this rung %llu",
                i % 256, i / 256, a, b);
    }
    differs(row, c->detail);
    return code;
}

lap_code lap_compare_histogram(const lap_comparison *comparison, lap_error *err)
{
    counting c = {.comparison = comparison};
    lap_code code = count(&c, lap_rung_reference(LAP_OP_HISTOGRAM), c.reference, err);
    return code == LAP_OK ? lap_compare_ladder(comparison, LAP_OP_HISTOGRAM, run_histogram, &c, err) : code;
}

/* ---- reduce: the sum of the samples -------------------------------------------------------------- */

typedef struct summing {
    const lap_comparison *comparison;
    size_t n;
    double *whole;    /* the samples */
    float *fractions; /* the samples divided by 255 */
    double reference, exact;
    char detail[160];
} summing;

static lap_code sum_up(const summing *s, const lap_rung *rung, bool is_double, double *sum, lap_error *err)
{
    const lap_resources use = lap_compare_resources(s->comparison, err);
    const lap_array array = {is_double ? (const void *)s->whole : s->fractions, s->n, is_double, LAP_ON_HOST};
    return lap_rung_reduce(rung, &use, &array, sum);
}

typedef struct summing_run {
    const summing *s;
    const lap_rung *rung;
    double sum;
} summing_run;

static lap_code sum_once(void *argument, lap_times *times, lap_error *err)
{
    summing_run *run = argument;
    (void)times;
    return sum_up(run->s, run->rung, false, &run->sum, err);
}

static lap_code run_reduce(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err)
{
    summing *s = state;
    double whole = NAN;
    summing_run run = {s, rung, NAN};
    lap_code code = sum_up(s, rung, true, &whole, err);
    if (code == LAP_OK)
        code = lap_compare_repeat(s->comparison, sum_once, &run, row, err);
    s->detail[0] = 0;
    if (!(whole == s->reference))
        snprintf(s->detail, sizeof s->detail, "%zu samples: c sums %.17g, this rung %.17g", s->n,
            s->reference, whole);
    differs(row, s->detail);
    row->relative_error = s->exact > 0 ? fabs(run.sum - s->exact) / s->exact : fabs(run.sum);
    return code;
}

static void take_samples(summing *s, const lap_view *pixels)
{
    const size_t line = (size_t)pixels->width * (size_t)pixels->channels;
    for (size_t i = 0; i < s->n; i++) {
        s->whole[i] = pixels->base[(ptrdiff_t)(i / line) * pixels->stride + (ptrdiff_t)(i % line)];
        s->fractions[i] = (float)s->whole[i] / 255;
        s->exact += (double)s->fractions[i];
    }
}

lap_code lap_compare_reduce(const lap_comparison *comparison, lap_error *err)
{
    const lap_view *pixels = comparison->pixels;
    summing s = {.comparison = comparison};
    s.n = (size_t)pixels->width * (size_t)pixels->height * (size_t)pixels->channels;
    s.n = s.n < MAX_VALUES ? s.n : MAX_VALUES;
    s.whole = malloc(s.n * sizeof *s.whole);
    s.fractions = malloc(s.n * sizeof *s.fractions);
    lap_code code = LAP_OK;
    if (!s.whole || !s.fractions)
        code = lap_fail(err, LAP_E_MEMORY, "out of memory for %zu samples as numbers", s.n);
    if (code == LAP_OK) {
        take_samples(&s, pixels);
        code = sum_up(&s, lap_rung_reference(LAP_OP_REDUCE), true, &s.reference, err);
    }
    if (code == LAP_OK)
        code = lap_compare_ladder(comparison, LAP_OP_REDUCE, run_reduce, &s, err);
    free(s.whole);
    free(s.fractions);
    return code;
}

/* ---- matvec: the first channel as a matrix ------------------------------------------------------- */

typedef struct product {
    const lap_comparison *comparison;
    size_t rows, cols;
    float *a, *signs, *weights, *reference, *y; /* signs: -1, 0, 1; weights: fractions */
    char detail[160];
} product;

static lap_code multiply(const product *p, const lap_rung *rung, const float *x, float *y, lap_error *err)
{
    const lap_resources use = lap_compare_resources(p->comparison, err);
    const lap_gemv g = {p->a, p->cols, p->rows, p->cols, x, y, LAP_ON_HOST};
    memset(y, 0xA5, p->rows * sizeof *y);
    return lap_rung_matvec(rung, &use, &g);
}

typedef struct product_run {
    const product *p;
    const lap_rung *rung;
} product_run;

static lap_code multiply_once(void *argument, lap_times *times, lap_error *err)
{
    const product_run *run = argument;
    (void)times;
    return multiply(run->p, run->rung, run->p->weights, run->p->y, err);
}

/* The largest relative error of all rows. No term is negative, so the exact sum is also their magnitude. */
static double largest_error(const product *p)
{
    double largest = 0;
    for (size_t i = 0; i < p->rows; i++) {
        double exact = 0;
        for (size_t j = 0; j < p->cols; j++)
            exact += (double)p->a[i * p->cols + j] * (double)p->weights[j];
        const double off = fabs((double)p->y[i] - exact), error = exact > 0 ? off / exact : off;
        if (!(error <= largest) && !isnan(largest)) /* a NaN counts as largest */
            largest = error;
    }
    return largest;
}

static lap_code run_matvec(void *state, const lap_rung *rung, lap_compare_row *row, lap_error *err)
{
    product *p = state;
    lap_code code = multiply(p, rung, p->signs, p->y, err);
    p->detail[0] = 0;
    for (size_t i = 0; i < p->rows && !p->detail[0]; i++)
        if (!(p->y[i] == p->reference[i]))
            snprintf(p->detail, sizeof p->detail, "row %zu: c gives %.9g, this rung %.9g", i,
                (double)p->reference[i], (double)p->y[i]);
    differs(row, p->detail);
    product_run run = {p, rung};
    if (code == LAP_OK)
        code = lap_compare_repeat(p->comparison, multiply_once, &run, row, err);
    row->relative_error = code == LAP_OK ? largest_error(p) : NAN;
    return code;
}

static void take_matrix(product *p, const lap_view *pixels)
{
    for (size_t i = 0; i < p->rows; i++)
        for (size_t j = 0; j < p->cols; j++)
            p->a[i * p->cols + j] =
                pixels->base[(ptrdiff_t)i * pixels->stride + (ptrdiff_t)j * pixels->channels];
    for (size_t j = 0; j < p->cols; j++) {
        p->signs[j] = (float)(j % 3) - 1;
        p->weights[j] = 1 / (float)(j % 97 + 3);
    }
}

lap_code lap_compare_matvec(const lap_comparison *comparison, lap_error *err)
{
    const lap_view *pixels = comparison->pixels;
    product p = {.comparison = comparison, .rows = (size_t)pixels->height, .cols = (size_t)pixels->width};
    p.cols = p.cols < MAX_COLUMNS ? p.cols : MAX_COLUMNS;
    p.rows = p.rows * p.cols <= MAX_VALUES ? p.rows : MAX_VALUES / p.cols;
    float *memory = malloc((p.rows * p.cols + 2 * p.cols + 2 * p.rows) * sizeof *memory);
    lap_code code = LAP_OK;
    if (!memory)
        code = lap_fail(err, LAP_E_MEMORY, "out of memory for a matrix of %zu x %zu", p.rows, p.cols);
    if (code == LAP_OK) {
        p.a = memory;
        p.signs = p.a + p.rows * p.cols;
        p.weights = p.signs + p.cols;
        p.reference = p.weights + p.cols;
        p.y = p.reference + p.rows;
        take_matrix(&p, pixels);
        code = multiply(&p, lap_rung_reference(LAP_OP_MATVEC), p.signs, p.reference, err);
    }
    if (code == LAP_OK)
        code = lap_compare_ladder(comparison, LAP_OP_MATVEC, run_matvec, &p, err);
    free(memory);
    return code;
}
