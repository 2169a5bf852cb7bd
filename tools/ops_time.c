/* ops_time: milliseconds of processor time of the operations' backends on one core, the least of many runs,
 * for tools/measure-parts: a line each, operation, backend, milliseconds; of "memcpy" a copy of as many bytes
 * as the operation reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/image.h"
#include "cpu_simd/host_rungs.h"

enum { VALUES = 10000000, SIDE = 4000, WIDTH = 2048, HEIGHT = 1536, RUNS = 25 };

static const lap_exec exec = {.threads = 1};
static lap_array values;
static lap_gemv product;
static lap_image picture, matrix, turned;
static void *to;

static double processor_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return 1e3 * (double)at.tv_sec + 1e-6 * (double)at.tv_nsec;
}

static lap_code run(lap_op op, void (*fn)(void), size_t bytes)
{
    static uint64_t counts[4][256];
    double sum;
    switch (fn ? op : LAP_OP_COUNT) {
    case LAP_OP_REDUCE:
        return ((lap_reduce_fn *)fn)(&values, &sum, &exec);
    case LAP_OP_MATVEC:
        return ((lap_matvec_fn *)fn)(&product, &exec);
    case LAP_OP_TRANSPOSE:
        return ((lap_transpose_fn *)fn)(&matrix.view, &turned.view, &exec);
    case LAP_OP_HISTOGRAM:
        return ((lap_histogram_fn *)fn)(&picture.view, counts, &exec);
    default:
        memcpy(to, values.base, bytes);
    }
    return LAP_OK;
}

static const struct {
    lap_op op;
    const char *words, *name;
    void (*fn)(void);
    size_t bytes; /* of the copy */
} all[] = {
#define ROW(OP, op, name, word)                                      \
    {                                                                \
        LAP_OP_##OP, #op, word, (void (*)(void))lap_##op##_##name, 0 \
    }
    {LAP_OP_REDUCE, "reduce", "memcpy", NULL, VALUES * sizeof(float)},
    ROW(REDUCE, reduce, c, "c"),
    ROW(REDUCE, reduce, pairwise, "pairwise"),
    ROW(REDUCE, reduce, openmp, "openmp"),
    ROW(REDUCE, reduce, simd_sse41, "simd-sse41"),
    ROW(REDUCE, reduce, simd_avx2, "simd-avx2"),
    ROW(REDUCE, reduce, simd_avx512, "simd-avx512"),
    {LAP_OP_MATVEC, "matvec", "memcpy", NULL, (size_t)SIDE *SIDE * sizeof(float)},
    ROW(MATVEC, matvec, c, "c"),
    ROW(MATVEC, matvec, openmp, "openmp"),
    ROW(MATVEC, matvec, simd_sse41, "simd-sse41"),
    ROW(MATVEC, matvec, simd_avx2, "simd-avx2"),
    ROW(MATVEC, matvec, simd_avx512, "simd-avx512"),
    {LAP_OP_TRANSPOSE, "transpose", "memcpy", NULL, (size_t)WIDTH *HEIGHT * sizeof(float)},
    ROW(TRANSPOSE, transpose, c, "c"),
    ROW(TRANSPOSE, transpose, simd_sse41, "simd-sse41"),
    ROW(TRANSPOSE, transpose, simd_avx2, "simd-avx2"),
    {LAP_OP_HISTOGRAM, "histogram", "memcpy", NULL, (size_t)3 * WIDTH *HEIGHT},
    ROW(HISTOGRAM, histogram, c, "c"),
    ROW(HISTOGRAM, histogram, simd, "simd"),
};

/* Memory for all, random: the matrix is the largest. */
static int prepare(void)
{
    const size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
    float *from = malloc(bytes), *x = calloc(SIDE, sizeof *x), *y = calloc(SIDE, sizeof *y);
    lap_error err;
    to = malloc(bytes);
    if (!from || !x || !y || !to || lap_image_create(&picture, WIDTH, HEIGHT, 3, 0, &err) ||
        lap_image_create(&matrix, WIDTH, HEIGHT, 4, 0, &err) ||
        lap_image_create(&turned, HEIGHT, WIDTH, 4, 0, &err))
        return 1;
    for (size_t i = 0; i < bytes / sizeof *from; i++)
        from[i] = (float)(i * 2654435761u % 1000);
    for (size_t i = 0; i < picture.bytes; i++)
        ((uint8_t *)picture.memory)[i] = (uint8_t)(i * 2654435761u >> 13);
    memset(to, 1, bytes);
    memset(turned.memory, 1, turned.bytes);
    values = (lap_array){.base = from, .n = VALUES, .place = LAP_ON_HOST};
    product = (lap_gemv){from, SIDE, SIDE, SIDE, x, y, LAP_ON_HOST};
    return 0;
}

int main(void)
{
    enum { COUNT = sizeof all / sizeof *all };
    double least[COUNT];
    if (prepare())
        return 1;
    for (int turn = 0; turn < RUNS; turn++)
        for (int i = 0; i < COUNT; i++) {
            const double start = processor_ms();
            if (run(all[i].op, all[i].fn, all[i].bytes))
                return 1;
            const double took = processor_ms() - start;
            least[i] = turn > 0 && least[i] < took ? least[i] : took;
        }
    for (int i = 0; i < COUNT; i++)
        printf("%s\t%s\t%.4f\n", all[i].words, all[i].name, least[i]);
    return 0;
}
