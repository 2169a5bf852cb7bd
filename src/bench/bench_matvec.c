/* Benches the matrix-vector ladder, on a square matrix of whole numbers, so that every rung must give the
 * same bits as c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench_ladder.h"
#include "cuda/device/device_rungs.h"

/* The size in the lecture. */
enum { DEFAULT_N = 16000 };

/* |a|, |x| <= 4 and n <= 2^20: partial sums stay below 2^24. */
enum { MAX_N = 1 << 20 };

typedef struct matvec_bench {
    lap_gemv g;       /* on the host */
    float *reference; /* the result of c */
    void *a, *x, *y;  /* on the device */
} matvec_bench;

static lap_code run_host(lap_ladder *ladder, int turn, lap_error *err)
{
    (void)turn;
    (void)err;
    const matvec_bench *m = ladder->state;
    const lap_resources use = lap_bench_resources(ladder);
    return lap_rung_matvec(ladder->rung, &use, &m->g);
}

static lap_code run_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    (void)turn;
    (void)stream;
    (void)err;
    const matvec_bench *m = ladder->state;
    lap_gemv g = m->g;
    g.a = m->a, g.x = m->x, g.y = m->y;
    g.place = ladder->bench->options->device;
    return ladder->rung->run.matvec(&g, &ladder->exec);
}

/* One matrix is enough: at the default size it is larger than any cache. */
static lap_code prepare_device(lap_ladder *ladder, lap_error *err)
{
    matvec_bench *m = ladder->state;
    const int device = ladder->bench->options->device;
    const size_t n = m->g.rows, row = n * sizeof(float);
    lap_code code = lap_cuda_alloc(device, n * row, &m->a, err);
    if (code == LAP_OK)
        code = lap_cuda_alloc(device, row, &m->x, err);
    if (code == LAP_OK)
        code = lap_cuda_alloc(device, row, &m->y, err);
    if (code == LAP_OK)
        code = lap_cuda_copy(device, m->a, m->g.a, n * row, NULL, err);
    if (code == LAP_OK)
        code = lap_cuda_copy(device, m->x, m->g.x, row, NULL, err);
    return code == LAP_OK ? lap_cuda_sync(device, NULL, err) : code;
}

static void destroy_device(lap_ladder *ladder)
{
    matvec_bench *m = ladder->state;
    const int device = ladder->bench->options->device;
    lap_cuda_free(device, m->a);
    lap_cuda_free(device, m->x);
    lap_cuda_free(device, m->y);
}

static const char *differs(lap_ladder *ladder, lap_bench_row *row, char message[160])
{
    (void)row;
    const matvec_bench *m = ladder->state;
    memset(m->g.y, 0xA5, m->g.rows * sizeof(float));
    lap_code code = run_host(ladder, 0, NULL);
    if (code != LAP_OK)
        return lap_bench_refusal(message, "failed: %s", lap_code_name(code));
    for (size_t i = 0; i < m->g.rows; i++) {
        if (!(m->g.y[i] == m->reference[i]))
            return lap_bench_refusal(message, "refused: row %zu gives %.9g, c gives %.9g", i,
                (double)m->g.y[i], (double)m->reference[i]);
    }
    return NULL;
}

/* Any whole numbers are fine. */
static void fill(float *a, float *x, size_t n)
{
    uint32_t r = 1; /* Lehmer's generator */
    for (size_t i = 0; i < n * n; i++) {
        r = (uint32_t)((uint64_t)r * 48271 % 2147483647);
        a[i] = (float)(r >> 8 & 7) - 4;
    }
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(i % 9) - 4;
}

static lap_code bench_matrix(lap_bench_run *bench, matvec_bench *m, lap_error *err)
{
    const size_t n = m->g.rows;
    lap_ladder ladder = {.bench = bench,
        .op = LAP_OP_MATVEC,
        .width = (int)n,
        .height = (int)n,
        .channels = 1,
        .type = "f32",
        .has_unchecked = n % 32 == 0,
        .bytes = (n * n + 2 * n) * sizeof(float),
        .pixels = (double)n * (double)n,
        .flops_per_byte = 0.5, /* a multiplication and an addition per element of 4 bytes */
        .state = m,
        .host = run_host,
        .prepare_device = prepare_device,
        .device = run_device,
        .differs = differs};
    lap_gemv g = m->g;
    g.y = m->reference;
    lap_code code = lap_rung_reference(LAP_OP_MATVEC)->run.matvec(&g, &(lap_exec){.threads = 1});
    if (code == LAP_OK)
        code = lap_bench_ladder_memcpy(&ladder, ladder.bytes, err);
    if (code == LAP_OK)
        code = lap_bench_ladder(&ladder, err);
    destroy_device(&ladder);
    return code;
}

lap_code lap_bench_matvec(lap_bench_run *bench, lap_error *err)
{
    const size_t n = bench->options->n ? bench->options->n : DEFAULT_N;
    size_t bytes;
    if (bench->options->type && strcmp(bench->options->type, "f32") != 0)
        return lap_fail(err, LAP_E_USAGE, "bench: type \"%s\" does not fit: matrices have type f32",
            bench->options->type);
    if (n > MAX_N || !lap_mul(n * n, sizeof(float), &bytes))
        return lap_fail(err, LAP_E_USAGE, "bench: %zu rows; at most %d", n, MAX_N);
    float *a = malloc(bytes), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y),
          *reference = malloc(n * sizeof *reference);
    matvec_bench m = {.g = {a, n, n, n, x, y, LAP_ON_HOST}, .reference = reference};
    lap_code code = LAP_OK;
    if (a && x && y && reference) {
        fill(a, x, n);
        code = bench_matrix(bench, &m, err);
    } else {
        code = lap_fail(err, LAP_E_MEMORY, "bench: no memory for %zu x %zu floats", n, n);
    }
    free(a);
    free(x);
    free(y);
    free(reference);
    return code;
}
