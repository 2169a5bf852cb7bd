/* The bench of the histogram ladder: pixels as the filter's bench has them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/bench_image.h"
#include "bench/bench_ladder.h"
#include "cuda/device/device_rungs.h"

typedef uint64_t counters[4][256];

typedef struct histogram_bench {
    lap_image in[LAP_BENCH_PAIRS]; /* rotated */
    int images;
    counters law; /* of in[0], by c */
    lap_view device_in[LAP_BENCH_PAIRS];
    void *scratch;
    int device_images; /* 0: no rung runs on a device */
} histogram_bench;

static lap_code run_host(lap_ladder *ladder, int turn, lap_error *err)
{
    (void)err;
    histogram_bench *h = ladder->state;
    counters counts = {{0}};
    const lap_resources use = lap_bench_resources(ladder);
    return lap_rung_histogram(ladder->rung, &use, &h->in[turn % h->images].view, counts);
}

static lap_code run_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    (void)stream;
    (void)err;
    histogram_bench *h = ladder->state;
    ladder->exec.scratch = h->scratch;
    return ladder->rung->run.histogram(&h->device_in[turn % h->device_images], NULL, &ladder->exec);
}

/* From one image to the other moves twice the bytes that counting one reads. */
static lap_code copy_device(lap_ladder *ladder, int turn, void *stream, lap_error *err)
{
    histogram_bench *h = ladder->state;
    const int from = turn % h->device_images, to = (turn + 1) % h->device_images;
    return lap_cuda_copy(ladder->bench->options->device, h->device_in[to].base, h->device_in[from].base,
        ladder->bytes, stream, err);
}

static lap_code prepare_device(lap_ladder *ladder, lap_error *err)
{
    histogram_bench *h = ladder->state;
    const lap_bench_options *options = ladder->bench->options;
    const lap_view *in = &h->in[0].view;
    static const char zero[LAP_SCRATCH_HEAD];
    if (!lap_bench_ladder_on_device(ladder))
        return LAP_OK;
    int images = options->warm ? 1 : lap_cuda_rotation(options->device, ladder->bytes);
    h->device_images = images < LAP_BENCH_PAIRS ? images : LAP_BENCH_PAIRS;
    lap_code code = lap_cuda_alloc(options->device, lap_cuda_scratch_bytes(0, 1), &h->scratch, err);
    if (code == LAP_OK)
        code = lap_cuda_copy(options->device, h->scratch, zero, sizeof zero, NULL, err);
    for (int i = 0; code == LAP_OK && i < h->device_images; i++) {
        code = lap_cuda_view_create(
            options->device, in->width, in->height, in->channels, 0, &h->device_in[i], err);
        if (code == LAP_OK)
            code = lap_cuda_upload(in, &h->device_in[i], NULL, err);
    }
    ladder->device = run_device;
    /* All images hold the same pixels, so the copies change nothing. */
    ladder->device_copy = h->device_images > 1 ? copy_device : NULL;
    ladder->copy_bytes = 2 * ladder->bytes;
    return code == LAP_OK ? lap_cuda_sync(options->device, NULL, err) : code;
}

static void destroy_device(lap_ladder *ladder)
{
    histogram_bench *h = ladder->state;
    for (int i = 0; i < h->device_images; i++) {
        lap_cuda_view_destroy(&h->device_in[i]);
    }
    lap_cuda_free(ladder->bench->options->device, h->scratch);
}

static const char *differs(lap_ladder *ladder, lap_bench_row *row, char message[160])
{
    (void)row;
    histogram_bench *h = ladder->state;
    counters counts = {{0}};
    const lap_resources use = lap_bench_resources(ladder);
    lap_code code = lap_rung_histogram(ladder->rung, &use, &h->in[0].view, counts);
    if (code != LAP_OK)
        return lap_bench_refusal(message, "failed: %s", lap_code_name(code));
    for (int i = 0; i < 4 * 256; i++) {
        if (counts[i / 256][i % 256] != h->law[i / 256][i % 256])
            return lap_bench_refusal(message, "refused: value %d of channel %d: c counts %llu, it %llu",
                i % 256, i / 256, (unsigned long long)h->law[i / 256][i % 256],
                (unsigned long long)counts[i / 256][i % 256]);
    }
    return NULL;
}

static lap_code prepare(lap_ladder *ladder, lap_error *err)
{
    histogram_bench *h = ladder->state;
    lap_bench_run *bench = ladder->bench;
    lap_code code = lap_bench_image(bench->options, &h->in[0], err);
    if (code != LAP_OK)
        return code;
    const lap_view *in = &h->in[0].view;
    ladder->width = in->width;
    ladder->height = in->height;
    ladder->channels = in->channels;
    ladder->pixels = (double)in->width * in->height;
    ladder->bytes = (size_t)in->width * (size_t)in->height * (size_t)in->channels;
    h->images = (int)lap_bench_pairs(bench, ladder->bytes);
    for (int i = 1; code == LAP_OK && i < h->images; i++) {
        code = lap_image_create(&h->in[i], in->width, in->height, in->channels, 0, err);
        if (code == LAP_OK)
            lap_view_copy(in, &h->in[i].view);
    }
    if (code == LAP_OK)
        code = lap_rung_reference(LAP_OP_HISTOGRAM)->run.histogram(in, h->law, &(lap_exec){.threads = 1});
    if (code == LAP_OK)
        code = prepare_device(ladder, err);
    if (code == LAP_OK)
        code = lap_bench_ladder_memcpy(ladder, ladder->bytes, err);
    return code;
}

lap_code lap_bench_histogram(lap_bench_run *bench, lap_error *err)
{
    if (bench->options->type && strcmp(bench->options->type, "u8") != 0)
        return lap_fail(err, LAP_E_USAGE, "bench: type \"%s\"; histograms are of u8", bench->options->type);
    histogram_bench *h = calloc(1, sizeof *h);
    if (!h)
        return lap_fail(err, LAP_E_MEMORY, "bench: out of memory");
    lap_ladder ladder = {.bench = bench,
        .op = LAP_OP_HISTOGRAM,
        .flops_per_byte = NAN,
        .state = h,
        .host = run_host,
        .differs = differs};
    lap_code code = prepare(&ladder, err);
    if (code == LAP_OK)
        code = lap_bench_ladder(&ladder, err);
    destroy_device(&ladder);
    for (int i = 0; i < LAP_BENCH_PAIRS; i++) {
        lap_image_destroy(&h->in[i]);
    }
    free(h);
    return code;
}
