/* ops_time: milliseconds of processor time of the operations' backends on one core, the least of many runs,
 * for tools/measure/parts: a line for each: operation, backend, milliseconds; backend "memcpy" is a copy of
 * as many bytes as the operation reads. The histogram takes three pictures: "histogram" is uniform noise,
 * "histogram smooth" has neighbours that are near each other, as a photo's are, "histogram flat" has one
 * colour. */
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
static lap_image noise, smooth, flat, matrix, turned;
static void *to;

static double processor_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return 1e3 * (double)at.tv_sec + 1e-6 * (double)at.tv_nsec;
}

static lap_code run(lap_op op, void (*fn)(void), const lap_image *picture, size_t bytes)
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
        return ((lap_histogram_fn *)fn)(&picture->view, counts, &exec);
    default:
        memcpy(to, values.base, bytes);
    }
    return LAP_OK;
}

static const struct {
    lap_op op;
    const char *words, *name;
    void (*fn)(void);
    const lap_image *picture; /* of a histogram */
    size_t bytes;             /* of the copy */
} all[] = {
#define ROW(OP, op, name, word)                                            \
    {                                                                      \
        LAP_OP_##OP, #op, word, (void (*)(void))lap_##op##_##name, NULL, 0 \
    }
#define HISTOGRAM(words, name, picture)                                                    \
    {                                                                                      \
        LAP_OP_HISTOGRAM, words, #name, (void (*)(void))lap_histogram_##name, (picture), 0 \
    }
    {LAP_OP_REDUCE, "reduce", "memcpy", NULL, NULL, VALUES * sizeof(float)},
    ROW(REDUCE, reduce, c, "c"),
    ROW(REDUCE, reduce, pairwise, "pairwise"),
    ROW(REDUCE, reduce, openmp, "openmp"),
    ROW(REDUCE, reduce, simd_sse41, "simd-sse41"),
    ROW(REDUCE, reduce, simd_avx2, "simd-avx2"),
    ROW(REDUCE, reduce, simd_avx512, "simd-avx512"),
    {LAP_OP_MATVEC, "matvec", "memcpy", NULL, NULL, (size_t)SIDE *SIDE * sizeof(float)},
    ROW(MATVEC, matvec, c, "c"),
    ROW(MATVEC, matvec, openmp, "openmp"),
    ROW(MATVEC, matvec, simd_sse41, "simd-sse41"),
    ROW(MATVEC, matvec, simd_avx2, "simd-avx2"),
    ROW(MATVEC, matvec, simd_avx512, "simd-avx512"),
    {LAP_OP_TRANSPOSE, "transpose", "memcpy", NULL, NULL, (size_t)WIDTH *HEIGHT * sizeof(float)},
    ROW(TRANSPOSE, transpose, c, "c"),
    ROW(TRANSPOSE, transpose, simd_sse41, "simd-sse41"),
    ROW(TRANSPOSE, transpose, simd_avx2, "simd-avx2"),
    {LAP_OP_HISTOGRAM, "histogram", "memcpy", NULL, NULL, (size_t)3 * WIDTH *HEIGHT},
    HISTOGRAM("histogram", c, &noise),
    HISTOGRAM("histogram", simd, &noise),
    HISTOGRAM("histogram smooth", c, &smooth),
    HISTOGRAM("histogram smooth", simd, &smooth),
    HISTOGRAM("histogram flat", c, &flat),
    HISTOGRAM("histogram flat", simd, &flat),
};

static uint32_t random_bits(void) /* Marsaglia's xorshift */
{
    static uint32_t state = 2463534242;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* A sample of "smooth" differs by up to three from the one three bytes before it, which is of the same
 * channel. */
static void draw(void)
{
    uint8_t *to_noise = noise.memory, *to_smooth = smooth.memory;
    memset(smooth.memory, 128, smooth.bytes);
    memset(flat.memory, 77, flat.bytes);
    for (size_t i = 0; i < noise.bytes; i++)
        to_noise[i] = (uint8_t)(random_bits() >> 24);
    for (size_t i = 3; i < smooth.bytes; i++)
        to_smooth[i] = (uint8_t)(to_smooth[i - 3] + random_bits() % 7 - 3);
}

/* Memory for all, random: the matrix is the largest. */
static int prepare(void)
{
    const size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
    float *from = malloc(bytes), *x = calloc(SIDE, sizeof *x), *y = calloc(SIDE, sizeof *y);
    lap_error err;
    to = malloc(bytes);
    if (!from || !x || !y || !to || lap_image_create(&noise, WIDTH, HEIGHT, 3, 0, &err) ||
        lap_image_create(&smooth, WIDTH, HEIGHT, 3, 0, &err) ||
        lap_image_create(&flat, WIDTH, HEIGHT, 3, 0, &err) ||
        lap_image_create(&matrix, WIDTH, HEIGHT, 4, 0, &err) ||
        lap_image_create(&turned, HEIGHT, WIDTH, 4, 0, &err))
        return 1;
    for (size_t i = 0; i < bytes / sizeof *from; i++)
        from[i] = (float)(i * 2654435761u % 1000);
    draw();
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
            if (run(all[i].op, all[i].fn, all[i].picture, all[i].bytes))
                return 1;
            const double took = processor_ms() - start;
            least[i] = turn > 0 && least[i] < took ? least[i] : took;
        }
    for (int i = 0; i < COUNT; i++)
        printf("%s\t%s\t%.4f\n", all[i].words, all[i].name, least[i]);
    return 0;
}
