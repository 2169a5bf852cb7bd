/* Benches the transpose ladder, on 8-bit images, or float and double matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench_buffers.h"
#include "bench/bench_image.h"
#include "bench/bench_ladder.h"
#include "cuda/device/device_rungs.h"

typedef struct transpose_bench {
    lap_bench_buffers buffers;
    lap_image reference; /* the result of c for in[0] */
} transpose_bench;

static lap_code run_host(lap_ladder *ladder, int turn, lap_error *err)
{
    (void)err;
    transpose_bench *t = ladder->state;
    const int pair = turn % t->buffers.pairs;
    const lap_resources use = lap_bench_resources(ladder);
    return lap_rung_transpose(ladder->rung, &use, &t->buffers.in[pair].view, &t->buffers.out[pair].view);
}

static const char *compare(const transpose_bench *t, char message[160])
{
    const lap_view *a = &t->reference.view, *b = &t->buffers.out[0].view;
    const size_t row = (size_t)a->width * (size_t)a->channels;
    for (int y = 0; y < a->height; y++) {
        if (memcmp(a->base + y * a->stride, b->base + y * b->stride, row) != 0)
            return lap_bench_refusal(message, "refused: row %d of its result differs from c's", y);
    }
    return NULL;
}

/* ---- on a device ------------------------------------------------------------------------------- */

static lap_code run_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    (void)stream;
    (void)err;
    transpose_bench *t = ladder->state;
    const int pair = turn % t->buffers.device_pairs;
    return ladder->rung->run.transpose(
        &t->buffers.device_in[pair], &t->buffers.device_out[pair], &ladder->exec);
}

/* Copies a pair that the rung did not use in the same turn, since the pair that it used is in the cache. */
static lap_code copy_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    transpose_bench *t = ladder->state;
    const int pair = (turn + t->buffers.device_pairs / 2) % t->buffers.device_pairs;
    return lap_cuda_copy(ladder->bench->options->device, t->buffers.device_out[pair].base,
        t->buffers.device_in[pair].base, lap_bench_bytes(&t->buffers.in[0].view), stream, err);
}

/* Copies one input to the next; this changes nothing, since all inputs hold the same pixels. */
static lap_code copy_by_kernel(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    transpose_bench *t = ladder->state;
    const lap_exec exec = {.stream = stream, .err = err};
    return lap_cuda_copy_kernel(&t->buffers.device_in[turn % t->buffers.device_pairs],
        &t->buffers.device_in[(turn + 1) % t->buffers.device_pairs], &exec);
}

static lap_code copy_shared(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    transpose_bench *t = ladder->state;
    const lap_exec exec = {.stream = stream, .err = err};
    return lap_cuda_copy_shared(&t->buffers.device_in[turn % t->buffers.device_pairs],
        &t->buffers.device_in[(turn + 1) % t->buffers.device_pairs], &exec);
}

static lap_code prepare_device(lap_ladder *ladder, lap_error *err)
{
    transpose_bench *t = ladder->state;
    lap_code code = lap_bench_buffers_on_device(ladder->bench, &t->buffers, 0, ladder->bytes, err);
    ladder->device_copy_kernel = t->buffers.device_pairs > 1 ? copy_by_kernel : NULL;
    ladder->device_copy_shared = copy_shared;
    return code;
}

static const char *differs(lap_ladder *ladder, lap_bench_row *row, char message[160])
{
    (void)row;
    transpose_bench *t = ladder->state;
    lap_bench_poison(&t->buffers.out[0].view);
    lap_code code = run_host(ladder, 0, NULL);
    if (code != LAP_OK)
        return lap_bench_refusal(message, "failed: %s", lap_code_name(code));
    return compare(t, message);
}

/* ---- pixels ------------------------------------------------------------------------------------ */

/* Makes the bench's pixels, or the same number of elements of 4 or 8 bytes; their values do not matter. */
static lap_code make_input(const lap_bench_options *options, int size, lap_image *image, lap_error *err)
{
    lap_code code = lap_bench_image(options, image, err);
    if (code != LAP_OK || size == 0)
        return code;
    const lap_view pixels = image->view;
    lap_image matrix = {0};
    code = lap_image_create(&matrix, pixels.width, pixels.height, size, 0, err);
    for (int y = 0; code == LAP_OK && y < pixels.height; y++) {
        uint8_t *to = matrix.view.base + y * matrix.view.stride;
        for (int i = 0; i < pixels.width * size; i++) {
            to[i] =
                (uint8_t)(pixels.base[y * pixels.stride + i % (pixels.width * pixels.channels)] + i % 251);
        }
    }
    lap_image_destroy(image);
    *image = matrix;
    return code;
}

static lap_code prepare(lap_ladder *ladder, int size, lap_error *err)
{
    transpose_bench *t = ladder->state;
    lap_bench_run *bench = ladder->bench;
    lap_code code = make_input(bench->options, size, &t->buffers.in[0], err);
    if (code != LAP_OK)
        return code;
    const lap_view *in = &t->buffers.in[0].view;
    const size_t bytes = lap_bench_bytes(in);
    lap_bench_ladder_shape(ladder, in);
    ladder->channels = size ? 1 : in->channels;
    ladder->bytes = ladder->copy_bytes = 2 * bytes;
    code = lap_bench_buffers_create(bench, &t->buffers, in->height, in->width, err);
    if (code == LAP_OK)
        code = lap_image_create(&t->reference, in->height, in->width, in->channels, 0, err);
    if (code == LAP_OK)
        code = lap_rung_reference(LAP_OP_TRANSPOSE)
                   ->run.transpose(in, &t->reference.view, &(lap_exec){.threads = 1});
    if (code == LAP_OK)
        code = lap_bench_ladder_memcpy(ladder, bytes, err);
    return code;
}

lap_code lap_bench_transpose(lap_bench_run *bench, lap_error *err)
{
    const char *type = bench->options->type ? bench->options->type : "u8";
    const int size = strcmp(type, "f32") == 0 ? 4 : strcmp(type, "f64") == 0 ? 8 : 0;
    if (size == 0 && strcmp(type, "u8") != 0)
        return lap_fail(err, LAP_E_USAGE, "bench: unknown type \"%s\"; use u8, f32 or f64", type);
    transpose_bench *t = calloc(1, sizeof *t);
    if (!t)
        return lap_fail(err, LAP_E_MEMORY, "bench: out of memory");
    lap_ladder ladder = {.bench = bench,
        .op = LAP_OP_TRANSPOSE,
        .type = size ? type : NULL,
        .flops_per_byte = NAN,
        .state = t,
        .host = run_host,
        .prepare_device = prepare_device,
        .device = run_device,
        .device_copy = copy_device,
        .differs = differs};
    lap_code code = prepare(&ladder, size, err);
    if (code == LAP_OK)
        code = lap_bench_ladder(&ladder, err);
    lap_bench_buffers_destroy(&t->buffers);
    lap_image_destroy(&t->reference);
    free(t);
    return code;
}
