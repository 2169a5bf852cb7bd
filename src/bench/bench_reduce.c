/* Benches the reduction ladder, on n equal values in float and in double, so that each row shows its rounding
 * error and its time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench_buffers.h"
#include "bench/bench_ladder.h"
#include "cuda/device/device_rungs.h"

/* The default length and value are those of the lecture notes. */
enum { DEFAULT_N = 100000000 };

/* Before timing, a rung must sum this many whole numbers: exact in any order. */
enum { CHECK_N = 1000003 };

typedef struct reduce_bench {
    lap_array array, check; /* on the host */
    double check_sum;
    void *device_array[LAP_BENCH_PAIRS], *scratch;
    int device_arrays;
} reduce_bench;

static size_t size_of(const lap_array *array)
{
    return array->is_double ? sizeof(double) : sizeof(float);
}

static double number(const void *from, bool is_double)
{
    double d;
    float f;
    memcpy(&d, from, is_double ? sizeof d : 0);
    memcpy(&f, from, is_double ? 0 : sizeof f);
    return is_double ? d : (double)f;
}

static lap_code run_host(lap_ladder *ladder, int turn, lap_error *err)
{
    (void)turn;
    (void)err;
    const reduce_bench *r = ladder->state;
    double sum;
    const lap_resources use = lap_bench_resources(ladder);
    return lap_rung_reduce(ladder->rung, &use, &r->array, &sum);
}

static lap_code run_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    (void)stream;
    (void)err;
    const reduce_bench *r = ladder->state;
    double unused;
    const lap_array array = {r->device_array[turn % r->device_arrays], r->array.n, r->array.is_double,
        ladder->bench->options->device};
    ladder->exec.scratch = r->scratch;
    return ladder->rung->run.reduce(&array, &unused, &ladder->exec);
}

/* Copies half of the array: reading and writing it moves the number of bytes that a sum reads. */
static lap_code copy_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    const reduce_bench *r = ladder->state;
    char *array = r->device_array[(turn + r->device_arrays / 2) % r->device_arrays];
    const size_t half = ladder->bytes / 512 * 256;
    return lap_cuda_copy(
        ladder->bench->options->device, (char *)r->scratch + LAP_SCRATCH_HEAD, array, half, stream, err);
}

static lap_code prepare_device(lap_ladder *ladder, lap_error *err)
{
    reduce_bench *r = ladder->state;
    const int device = ladder->bench->options->device;
    const size_t size = size_of(&r->array), bytes = ladder->bytes;
    int arrays = ladder->bench->options->warm ? 1 : lap_cuda_rotation(device, bytes);
    r->device_arrays = arrays < LAP_BENCH_PAIRS ? arrays : LAP_BENCH_PAIRS;
    lap_code code = lap_cuda_alloc(device, lap_cuda_scratch_bytes(r->array.n, size), &r->scratch, err);
    for (int i = 0; code == LAP_OK && i < r->device_arrays; i++) {
        code = lap_cuda_alloc(device, bytes, &r->device_array[i], err);
        if (code == LAP_OK)
            code = lap_cuda_copy(device, r->device_array[i], r->array.base, bytes, NULL, err);
    }
    static const char zero[LAP_SCRATCH_HEAD];
    if (code == LAP_OK)
        code = lap_cuda_copy(device, r->scratch, zero, sizeof zero, NULL, err);
    ladder->device_copy = bytes >= 512 ? copy_device : NULL;
    ladder->copy_bytes = bytes / 512 * 512;
    return code == LAP_OK ? lap_cuda_sync(device, NULL, err) : code;
}

static void destroy_device(lap_ladder *ladder)
{
    reduce_bench *r = ladder->state;
    const int device = ladder->bench->options->device;
    for (int i = 0; i < r->device_arrays; i++)
        lap_cuda_free(device, r->device_array[i]);
    lap_cuda_free(device, r->scratch);
}

static const char *differs(lap_ladder *ladder, lap_bench_row *row, char message[160])
{
    const reduce_bench *r = ladder->state;
    const lap_resources use = lap_bench_resources(ladder);
    double sum = NAN;
    lap_code code = lap_rung_reduce(ladder->rung, &use, &r->check, &sum);
    if (code == LAP_OK && sum != r->check_sum)
        return lap_bench_refusal(
            message, "refused: whole numbers sum to %.17g, c gives %.17g", sum, r->check_sum);
    if (code == LAP_OK)
        code = lap_rung_reduce(ladder->rung, &use, &r->array, &row->value);
    if (code != LAP_OK)
        return lap_bench_refusal(message, "failed: %s", lap_code_name(code));
    const double exact = (double)r->array.n * number(r->array.base, r->array.is_double);
    row->relative_error = exact == 0 ? NAN : (row->value - exact) / exact;
    return NULL;
}

/* ---- values ------------------------------------------------------------------------------------ */

/* whole: 0, 1, ... 7 repeated; small enough that a float holds the sum. */
static void *make_values(size_t n, bool is_double, bool whole, double value)
{
    double *d = NULL;
    float *f = NULL;
    size_t bytes;
    if (!lap_mul(n, is_double ? sizeof *d : sizeof *f, &bytes))
        return NULL;
    void *memory = malloc(bytes);
    *(is_double ? (void **)&d : (void **)&f) = memory;
    for (size_t i = 0; d && i < n; i++)
        d[i] = whole ? (double)(i % 8) : value;
    for (size_t i = 0; f && i < n; i++)
        f[i] = whole ? (float)(i % 8) : (float)value;
    return memory;
}

static lap_code bench_type(lap_bench_run *bench, bool is_double, lap_error *err)
{
    const lap_bench_options *options = bench->options;
    const size_t n = options->n ? options->n : DEFAULT_N;
    reduce_bench r = {
        .array = {NULL, n, is_double, LAP_ON_HOST}, .check = {NULL, CHECK_N, is_double, LAP_ON_HOST}};
    lap_ladder ladder = {.bench = bench,
        .op = LAP_OP_REDUCE,
        .width = (int)n,
        .height = 1,
        .channels = 1,
        .type = is_double ? "f64" : "f32",
        .bytes = n * size_of(&r.array),
        .pixels = (double)n,
        .flops_per_byte = 1 / (double)size_of(&r.array),
        .state = &r,
        .host = run_host,
        .prepare_device = prepare_device,
        .device = run_device,
        .differs = differs};
    void *values = make_values(n, is_double, false, options->value != 0 ? options->value : 1.23);
    void *whole = make_values(CHECK_N, is_double, true, 0);
    r.array.base = values;
    r.check.base = whole;
    lap_code code = LAP_OK;
    if (!values || !whole)
        code = lap_fail(err, LAP_E_MEMORY, "bench: no memory for %zu values", n);
    if (code == LAP_OK)
        code =
            lap_rung_reference(LAP_OP_REDUCE)->run.reduce(&r.check, &r.check_sum, &(lap_exec){.threads = 1});
    if (code == LAP_OK)
        code = lap_bench_ladder_memcpy(&ladder, ladder.bytes, err);
    if (code == LAP_OK)
        code = lap_bench_ladder(&ladder, err);
    destroy_device(&ladder);
    free(values);
    free(whole);
    return code;
}

lap_code lap_bench_reduce(lap_bench_run *bench, lap_error *err)
{
    const char *type = bench->options->type;
    const bool f32 = !type || strcmp(type, "f32") == 0, f64 = !type || strcmp(type, "f64") == 0;
    if (!f32 && !f64)
        return lap_fail(err, LAP_E_USAGE, "bench: type \"%s\" cannot be summed; use f32 or f64", type);
    if (bench->options->n > INT32_MAX)
        return lap_fail(err, LAP_E_USAGE, "bench: %zu values; at most 2147483647", bench->options->n);
    lap_code code = f32 ? bench_type(bench, false, err) : LAP_OK;
    if (code == LAP_OK && f64)
        code = bench_type(bench, true, err);
    return code;
}
