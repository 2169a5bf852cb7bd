/* Measures a floor for the time of a photo, and the real time of the pipeline. The floor is the time of a
 * program that codes only with libjpeg-turbo and splits its work perfectly: the processor time of one thread
 * for decoding, filtering and encoding in memory, divided by the number of threads. The pipeline, without
 * files, may be faster than the floor, because our own coders are faster than the library. If there is a CUDA
 * device, the same work is timed there. */
#include "bench/bench_codec.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/border.h"
#include "base/status.h"
#include "batch/walk.h"
#include "bench/bench_buffers.h"
#include "bench/bench_image.h"
#include "libjpeg/jpeg_floor.h"
#include "rungs/run_rung.h"

/* PARALLEL + i: only decoding, with 1 << i threads, up to the bench's number of threads. */
enum { DECODE, FILTER, ENCODE, FLOOR, RUN, SCAN, PARALLEL, ROWS = PARALLEL + LAP_BENCH_TEAMS };
static const char *const row_names[ROWS] = {"decode", "filter", "encode", "floor", "run", "scan",
    "parallel-1", "parallel-2", "parallel-4", "parallel-8", "parallel-16"};

typedef struct codec_bench {
    lap_bench_run *bench;
    lap_context *context;
    const lap_rung *rung;
    lap_settings settings;
    lap_jpeg_floor *floor;
    lap_bench_teams teams;
    lap_coders_bench encoders, decoders;
    lap_image pixels, edges; /* as large as the last photo */
    double *times[ROWS];
    double pixel_count; /* of all photos */
    size_t bytes;       /* read and written */
    int photos, run;    /* photos of this round; number of the round */
    int width, height, channels;
    lap_codec_device device;
} codec_bench;

static lap_code make_images(codec_bench *b, const int shape[3], lap_error *err)
{
    const lap_view *now = &b->pixels.view;
    if (b->pixels.memory && now->width == shape[0] && now->height == shape[1] && now->channels == shape[2])
        return LAP_OK;
    lap_image_destroy(&b->pixels);
    lap_image_destroy(&b->edges);
    lap_code code = lap_image_create(&b->pixels, shape[0], shape[1], shape[2], LAP_APRON, err);
    if (code == LAP_OK)
        code = lap_image_create(&b->edges, shape[0], shape[1], shape[2], 0, err);
    if (code != LAP_OK)
        return code;
    /* Touch the pages before timing: their faults are not the codec's time. */
    lap_bench_poison(&b->pixels.view);
    lap_bench_poison(&b->edges.view);
    return LAP_OK;
}

static lap_code time_floor(codec_bench *b, const void *bytes, size_t size, lap_error *err)
{
    const unsigned char *out;
    size_t out_size;
    int shape[3];
    const lap_resources use = {.exec.err = err};
    double at = lap_bench_cpu_ms();
    lap_code code = lap_jpeg_floor_open(b->floor, bytes, size, shape, err);
    double opened = lap_bench_cpu_ms() - at;
    if (code == LAP_OK)
        code = make_images(b, shape, err);
    at = lap_bench_cpu_ms();
    if (code == LAP_OK)
        code = lap_jpeg_floor_decode(b->floor, &b->pixels.view, err);
    double decoded = lap_bench_cpu_ms();
    if (code == LAP_OK) {
        lap_border_fill(&b->pixels.view, b->settings.border);
        code = lap_rung_filter(
            b->rung, &use, &b->pixels.view, &b->edges.view, &b->settings.params, b->settings.border);
    }
    double filtered = lap_bench_cpu_ms();
    if (code == LAP_OK)
        code = lap_jpeg_floor_encode(b->floor, &b->edges.view, b->settings.quality, &out, &out_size, err);
    if (code != LAP_OK)
        return code;
    b->times[DECODE][b->run] += opened + decoded - at;
    b->times[FILTER][b->run] += filtered - decoded;
    b->times[ENCODE][b->run] += lap_bench_cpu_ms() - filtered;
    b->width = shape[0];
    b->height = shape[1];
    b->channels = shape[2];
    b->pixel_count += (double)shape[0] * shape[1];
    b->bytes += size + out_size;
    b->photos++;
    return LAP_OK;
}

/* The caller has stored the CPU's results for the photo in b->pixels, b->edges and out. */
static void time_on_device(codec_bench *b, const void *bytes, size_t size, const void *out, size_t out_size)
{
    const lap_rate_photo photo = {.file = bytes,
        .size = size,
        .pixels = &b->pixels.view,
        .edges = &b->edges.view,
        .out = out,
        .out_size = out_size,
        .params = b->settings.params,
        .border = b->settings.border};
    lap_codec_device_photo(&b->device, &photo);
}

static lap_code time_photo(codec_bench *b, const void *bytes, size_t size, lap_error *err)
{
    void *out = NULL;
    size_t out_size;
    lap_code code = time_floor(b, bytes, size, err);
    if (code != LAP_OK)
        return code;
    code = lap_coders_bench_encode(&b->encoders, &b->edges.view, b->settings.quality, b->run, err);
    if (code != LAP_OK)
        return code;
    code = lap_coders_bench_decode(&b->decoders, bytes, size, b->run, err);
    if (code != LAP_OK)
        return code;
    double at = lap_now_ms();
    code = lap_run_memory(b->context, bytes, size, &out, &out_size, &b->settings, NULL, err);
    b->times[RUN][b->run] += lap_now_ms() - at;
    if (code == LAP_OK && b->run == b->bench->options->runs - 1)
        time_on_device(b, bytes, size, out, out_size);
    free(out);
    if (code == LAP_OK)
        code = lap_bench_teams_decode(&b->teams, bytes, size, &b->pixels.view, err);
    if (code != LAP_OK)
        return code;
    b->times[SCAN][b->run] += b->teams.scan_ms;
    for (int i = 0; i < b->teams.count; i++)
        b->times[PARALLEL + i][b->run] += b->teams.ms[i];
    return LAP_OK;
}

static lap_code read_whole(const lap_walk_entry *entry, void **bytes, lap_error *err)
{
    size_t size = (size_t)entry->stat->st_size, at = 0;
    int fd = open(entry->path, O_RDONLY | O_CLOEXEC);
    *bytes = malloc(size + 1);
    while (fd >= 0 && *bytes && at < size) {
        const ssize_t got = read(fd, (char *)*bytes + at, size - at);
        if (got == 0 || (got < 0 && errno != EINTR))
            break;
        at += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return at == size && fd >= 0 && *bytes
               ? LAP_OK
               : lap_fail_at(err, LAP_E_UNREADABLE, entry->path, "cannot be read");
}

static lap_code visit(void *user, const lap_walk_entry *entry, lap_error *err)
{
    void *bytes = NULL;
    lap_error why;
    if (entry->link)
        return LAP_OK;
    if (entry->problem)
        return lap_error_set(err, entry->problem);
    lap_code code = read_whole(entry, &bytes, err);
    if (code == LAP_OK) {
        code = time_photo(user, bytes, (size_t)entry->stat->st_size, &why);
        if (code != LAP_OK) {
            lap_error_about(&why, code, entry->path);
            lap_error_set(err, &why);
        }
    }
    free(bytes);
    return code;
}

/* Without a photo: encodes synthetic pixels as a JPEG, and times the codec on that file. */
static lap_code time_synthetic(codec_bench *b, lap_error *err)
{
    lap_image image = {0};
    const unsigned char *bytes = NULL;
    size_t size = 0;
    void *copy = NULL;
    lap_code code = lap_bench_image(b->bench->options, &image, err);
    if (code == LAP_OK)
        code = lap_jpeg_floor_encode(b->floor, &image.view, b->settings.quality, &bytes, &size, err);
    if (code == LAP_OK) {
        copy = malloc(size); /* the encoder will reuse its buffer */
        if (!copy)
            code = lap_fail(err, LAP_E_MEMORY, "bench: no memory for a photo");
    }
    if (copy) {
        memcpy(copy, bytes, size);
        code = time_photo(b, copy, size, err);
    }
    free(copy);
    lap_image_destroy(&image);
    return code;
}

static lap_code time_round(codec_bench *b, lap_error *err)
{
    const char *image = b->bench->options->image;
    b->photos = 0;
    b->pixel_count = 0;
    b->bytes = 0;
    if (!image)
        return time_synthetic(b, err);
    const lap_batch_options one = {.inputs = &image, .input_count = 1, .out_dir = ""};
    lap_code code = lap_walk(&one, NULL, visit, b, err);
    if (code == LAP_OK && !b->photos)
        code = lap_fail_at(err, LAP_E_MISSING, image, "no photo found");
    return code;
}

static void report_rows(codec_bench *b)
{
    double floor_ms = 0;
    lap_bench_row shape = {0};
    for (int i = 0; i < PARALLEL + b->teams.count; i++) {
        lap_bench_row row = lap_bench_row_of(&(lap_rung){.op = LAP_OP_CODEC, .name = row_names[i]});
        row.resolved = i == FILTER ? b->rung->name : row_names[i];
        row.threads = i == FLOOR || i == RUN ? b->bench->threads : i >= PARALLEL ? 1 << (i - PARALLEL) : 1;
        row.width = b->photos == 1 ? b->width : (int)(b->pixel_count / b->photos);
        row.height = b->photos == 1 ? b->height : b->photos;
        row.channels = b->channels;
        row.times_ms = b->times[i];
        row.runs = b->bench->options->runs;
        lap_bench_fill_row(b->bench, LAP_ON_HOST, b->bytes, b->pixel_count, &row);
        if (i == FLOOR)
            floor_ms = row.median_ms;
        if (i == FLOOR || i == RUN)
            row.roof_share = floor_ms / row.median_ms;
        b->bench->each(b->bench->user, &row);
        if (i == FLOOR)
            shape = row;
    }
    lap_coders_bench_report(&b->encoders, &shape);
    lap_coders_bench_report(&b->decoders, &shape);
}

static lap_code time_all(codec_bench *b, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < ROWS && code == LAP_OK; i++)
        if (!(b->times[i] = calloc((size_t)b->bench->options->runs, sizeof **b->times)))
            code = lap_fail(err, LAP_E_MEMORY, "bench: no memory for the timings");
    if (code == LAP_OK)
        code = lap_bench_teams_create(&b->teams, b->bench->threads, err);
    if (code == LAP_OK)
        code = lap_jpeg_floor_create(&b->floor, err);
    for (b->run = 0; b->run < b->bench->options->runs && code == LAP_OK; b->run++) {
        code = time_round(b, err);
        b->times[FLOOR][b->run] =
            (b->times[DECODE][b->run] + b->times[FILTER][b->run] + b->times[ENCODE][b->run]) /
            b->bench->threads;
    }
    return code;
}

lap_code lap_bench_codec(lap_bench_run *bench, lap_context *context, lap_error *err)
{
    codec_bench b = {.bench = bench, .context = context, .settings = lap_settings_default()};
    b.settings.params = bench->options->params;
    b.settings.border = bench->options->border;
    b.settings.threads = bench->threads;
    lap_code code = lap_rung_find(LAP_OP_FILTER, "auto", &b.rung, err);
    if (code == LAP_OK)
        b.settings.backend = b.rung->name; /* a backend on the CPU, so that the codec also runs there */
    if (code == LAP_OK)
        code = lap_codec_device_begin(&b.device, bench, err);
    if (code == LAP_OK)
        code = lap_coders_bench_begin(&b.encoders, bench, LAP_OP_ENCODE, err);
    if (code == LAP_OK)
        code = lap_coders_bench_begin(&b.decoders, bench, LAP_OP_DECODE, err);
    if (code == LAP_OK)
        code = time_all(&b, err);
    if (code == LAP_OK)
        report_rows(&b);
    lap_codec_device_end(&b.device, code == LAP_OK);
    for (int i = 0; i < ROWS; i++)
        free(b.times[i]);
    lap_coders_bench_end(&b.encoders);
    lap_coders_bench_end(&b.decoders);
    lap_bench_teams_destroy(&b.teams);
    lap_jpeg_floor_destroy(b.floor);
    lap_image_destroy(&b.pixels);
    lap_image_destroy(&b.edges);
    return code;
}
