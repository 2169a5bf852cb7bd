#include <math.h>
#include <string.h>

#include "ops.h"

typedef struct product { /* y = A x and its memory */
    size_t rows, cols, lda;
    size_t shift; /* floats before A and x, so that neither is aligned for vectors */
    block a, x, y;
} product;

static float *floats(const block *b)
{
    return (float *)(void *)block_host(b);
}

static product product_new(int place, size_t rows, size_t cols, bool whole, bool is_dense)
{
    product p = {.rows = rows, .cols = cols, .lda = cols + (is_dense ? 0 : (size_t)random_below(9))};
    p.shift = is_dense ? 0 : (size_t)random_below(3);
    p.a = block_new(place, (p.shift + rows * p.lda) * sizeof(float));
    p.x = block_new(place, (p.shift + cols) * sizeof(float));
    p.y = block_new(place, rows * sizeof(float));
    /* NaN surrounds A and x, and fills the gaps between rows: one value too many makes a sum NaN. */
    memset(p.a.host, 0xFF, p.a.bytes + 2 * GUARD);
    memset(p.x.host, 0xFF, p.x.bytes + 2 * GUARD);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) {
            floats(&p.a)[p.shift + i * p.lda + j] =
                whole ? (float)(random_below(17) - 8) : (float)random_below(1 << 20) / 1e3f;
        }
    }
    for (size_t j = 0; j < cols; j++) {
        floats(&p.x)[p.shift + j] =
            whole ? (float)(random_below(17) - 8) : (float)random_below(1 << 20) / 1e5f - 5;
    }
    return p;
}

/* Whole numbers are exact in any order. Else one rounding per product and per sum, relative to the sum of
 * magnitudes. */
static bool holds(const product *p, bool whole, const char *name)
{
    for (size_t i = 0; i < p->rows; i++) {
        double exact = 0, magnitude = 0, y = (double)floats(&p->y)[i];
        for (size_t j = 0; j < p->cols; j++) {
            double term =
                (double)floats(&p->a)[p->shift + i * p->lda + j] * (double)floats(&p->x)[p->shift + j];
            exact += term;
            magnitude += fabs(term);
        }
        double bound = whole ? 0 : magnitude * (double)(p->cols + 1) * 0x1p-24;
        if (!(fabs(y - exact) <= bound))
            return fault("%s: %zux%zu, lda %zu: row %zu gives %.9g, exact %.9g, off by at most %g", name,
                p->rows, p->cols, p->lda, i, y, exact, bound);
    }
    return block_guards_whole(&p->y) ||
           fault("%s: %zux%zu: a guard byte was written", name, p->rows, p->cols);
}

static bool check_case(const lap_rung *rung, size_t rows, size_t cols, bool unchecked)
{
    const int place = rung->device ? 0 : LAP_ON_HOST;
    bool good = true;
    for (int whole = 0; whole < 2; whole++) {
        product p = product_new(place, rows, cols, whole, unchecked);
        lap_error err = {0};
        const lap_exec exec = {.threads = 1 + random_below(3), .unchecked = unchecked, .err = &err};
        block_push(&p.a);
        block_push(&p.x);
        block_push(&p.y);
        const lap_gemv g = {(const float *)(const void *)block_data(&p.a) + p.shift, p.lda, rows, cols,
            (const float *)(const void *)block_data(&p.x) + p.shift, (float *)(void *)block_data(&p.y),
            place};
        lap_code code = rung->run.matvec(&g, &exec);
        block_pull(&p.y);
        if (code != LAP_OK)
            good = fault("%s: %s: %s", rung->name, lap_code_name(code), err.message);
        else
            good = holds(&p, whole, rung->name) && good;
        block_free(&p.a);
        block_free(&p.x);
        block_free(&p.y);
    }
    return good;
}

static bool check_rung(const lap_rung *rung)
{
    static const size_t edges[] = {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257, 513, 600};
    enum { EDGES = sizeof edges / sizeof *edges };
    bool good = true;
    if (ONLY_RACES)
        return check_case(rung, 37, 70, false) && check_case(rung, 32, 64, true);
    for (size_t rows = 1; rows <= 9; rows++) {
        for (size_t cols = 1; cols <= 9; cols++)
            good = check_case(rung, rows, cols, false) && good;
    }
    for (int i = 0; i < EDGES; i++) {
        good = check_case(rung, edges[i], edges[random_below(EDGES)], false) && good;
        good = check_case(rung, edges[random_below(EDGES)], edges[i], false) && good;
    }
    good = check_case(rung, 1, 5000, false) && check_case(rung, 5000, 1, false) && good;
    for (size_t n = 32; n <= 256; n *= 2)
        good = check_case(rung, n, n, true) && check_case(rung, 2 * n, n, true) && good;
    return good;
}

/* ---- rungs that must be refused ------------------------------------------------------------------ */

static lap_code forgets_last(const lap_gemv *g, const lap_exec *exec)
{
    lap_gemv fewer = *g;
    fewer.rows--;
    return lap_matvec_table[0].run.matvec(&fewer, exec);
}

static lap_code ignores_lda(const lap_gemv *g, const lap_exec *exec)
{
    lap_gemv dense = *g;
    dense.lda = g->cols;
    return lap_matvec_table[0].run.matvec(&dense, exec);
}

void check_matvec(void)
{
    check_table(lap_matvec_table, check_rung);
    check_refused("leaves the last row as it was", check_rung,
        &(lap_rung){.op = LAP_OP_MATVEC, .name = "wrong", .run.matvec = forgets_last});
    check_refused("takes the matrix as dense", check_rung,
        &(lap_rung){.op = LAP_OP_MATVEC, .name = "wrong", .run.matvec = ignores_lda});
}
