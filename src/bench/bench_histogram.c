/* Benches the histogram ladder, on the same pixels as the filter's bench. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench_buffers.h"
#include "bench/bench_image.h"
#include "bench/bench_ladder.h"
#include "cuda/device/device_rungs.h"

typedef uint64_t counters[4][256];

typedef struct histogram_bench {
    lap_bench_buffers buffers; /* only inputs */
    counters reference;        /* the result of c for in[0] */
    void *scratch;             /* on the device */
} histogram_bench;

static lap_code run_host(lap_ladder *ladder, int turn, lap_error *err)
{
    (void)err;
    histogram_bench *h = ladder->state;
    counters counts = {{0}};
    const lap_resources use = lap_bench_resources(ladder);
    return lap_rung_histogram(ladder->rung, &use, &h->buffers.in[turn % h->buffers.pairs].view, counts);
}

static lap_code run_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    (void)stream;
    (void)err;
    histogram_bench *h = ladder->state;
    ladder->exec.scratch = h->scratch;
    return ladder->rung->run.histogram(
        &h->buffers.device_in[turn % h->buffers.device_pairs], NULL, &ladder->exec);
}

/* Copies one image over the next. That moves twice the bytes that counting one image reads. */
static lap_code copy_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    histogram_bench *h = ladder->state;
    const int from = turn % h->buffers.device_pairs, to = (turn + 1) % h->buffers.device_pairs;
    return lap_cuda_copy(ladder->bench->options->device, h->buffers.device_in[to].base,
        h->buffers.device_in[from].base, ladder->bytes, stream, err);
}

static lap_code prepare_device(lap_ladder *ladder, lap_error *err)
{
    histogram_bench *h = ladder->state;
    const int device = ladder->bench->options->device;
    static const char zero[LAP_SCRATCH_HEAD];
    lap_code code = lap_cuda_alloc(device, lap_cuda_scratch_bytes(0, 1), &h->scratch, err);
    if (code == LAP_OK)
        code = lap_cuda_copy(device, h->scratch, zero, sizeof zero, NULL, err);
    if (code == LAP_OK)
        code = lap_bench_buffers_on_device(ladder->bench, &h->buffers, 0, ladder->bytes, err);
    /* All images hold the same pixels, so the copies change nothing. */
    ladder->device_copy = h->buffers.device_pairs > 1 ? copy_device : NULL;
    ladder->copy_bytes = 2 * ladder->bytes;
    return code;
}

static const char *differs(lap_ladder *ladder, lap_bench_row *row, char message[160])
{
    (void)row;
    histogram_bench *h = ladder->state;
    counters counts = {{0}};
    const lap_resources use = lap_bench_resources(ladder);
    lap_code code = lap_rung_histogram(ladder->rung, &use, &h->buffers.in[0].view, counts);
    if (code != LAP_OK)
        return lap_bench_refusal(message, "failed: %s", lap_code_name(code));
    for (int i = 0; i < 4 * 256; i++) {
        if (counts[i / 256][i % 256] != h->reference[i / 256][i % 256])
            return lap_bench_refusal(message, "refused: value %d of channel %d: c counts %llu, it %llu",
                i % 256, i / 256, (unsigned long long)h->reference[i / 256][i % 256],
                (unsigned long long)counts[i / 256][i % 256]);
    }
    return NULL;
}

static lap_code prepare(lap_ladder *ladder, lap_error *err)
{
    histogram_bench *h = ladder->state;
    lap_bench_run *bench = ladder->bench;
    lap_code code = lap_bench_image(bench->options, &h->buffers.in[0], err);
    if (code != LAP_OK)
        return code;
    const lap_view *in = &h->buffers.in[0].view;
    lap_bench_ladder_shape(ladder, in);
    ladder->bytes = lap_bench_bytes(in);
    code = lap_bench_buffers_create(bench, &h->buffers, 0, 0, err);
    if (code == LAP_OK)
        code =
            lap_rung_reference(LAP_OP_HISTOGRAM)->run.histogram(in, h->reference, &(lap_exec){.threads = 1});
    if (code == LAP_OK)
        code = lap_bench_ladder_memcpy(ladder, ladder->bytes, err);
    return code;
}

lap_code lap_bench_histogram(lap_bench_run *bench, lap_error *err)
{
    if (bench->options->type && strcmp(bench->options->type, "u8") != 0)
        return lap_fail(err, LAP_E_USAGE, "bench: type \"%s\" does not fit: histograms have type u8",
            bench->options->type);
    histogram_bench *h = calloc(1, sizeof *h);
    if (!h)
        return lap_fail(err, LAP_E_MEMORY, "bench: out of memory");
    lap_ladder ladder = {.bench = bench,
        .op = LAP_OP_HISTOGRAM,
        .flops_per_byte = NAN,
        .state = h,
        .host = run_host,
        .prepare_device = prepare_device,
        .device = run_device,
        .differs = differs};
    lap_code code = prepare(&ladder, err);
    if (code == LAP_OK)
        code = lap_bench_ladder(&ladder, err);
    lap_cuda_free(bench->options->device, h->scratch);
    lap_bench_buffers_destroy(&h->buffers);
    free(h);
    return code;
}
