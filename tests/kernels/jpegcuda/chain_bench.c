/* chain_bench FILE [PHOTOS]: measures how many small photos per second a device decodes, or decodes,
 * filters and encodes, in chains of several lengths on several streams (device/device_slot.h). From a
 * JPEG in pinned memory to the scan there, or to pixels on the device; one host thread, which also does
 * the host's part of each photo: header, plan, tables. The results of a chain are compared with those of
 * the single photo. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "coding/jpeg_frame_read.h"
#include "cuda/device/device.h"
#include "device/device_slot.h"
#include "libjpeg/jpeg_head.h"
#include "rungs/backend.h"
#include "tests/kernels/jpegcuda/tap.h"

enum { MOST_STREAMS = 16, ROUNDS = 5 };

typedef struct lane {
    lap_device_slot *slot;
    lap_device_staging *stagings[LAP_DEVICE_CHAIN];
} lane;

static uint8_t *file;
static size_t file_size;
static lap_jpeg_frame frame;
static lap_jpeg_head head;
static lap_params params;
static lap_views_filter filter;
static lane lanes[MOST_STREAMS];

static void read_file(const char *name)
{
    FILE *in = fopen(name, "rb");
    need(in && fseek(in, 0, SEEK_END) == 0, name);
    file_size = (size_t)ftell(in);
    file = malloc(file_size);
    need(file && fseek(in, 0, SEEK_SET) == 0 && fread(file, 1, file_size, in) == file_size, name);
    fclose(in);
    need(lap_jpeg_frame_read(file, file_size, &frame), "a frame that a device decodes");
}

static void make_head(void)
{
    lap_header from = {.format = "jpeg", .components = frame.components, .is_ycc = true};
    for (int c = 0; c < 3; c++) {
        from.sample_h[c] = frame.components > 1 ? frame.sample_h[c] : 1;
        from.sample_v[c] = frame.components > 1 ? frame.sample_v[c] : 1;
    }
    const lap_write_options options = {.width = frame.width,
        .height = frame.height,
        .channels = frame.components,
        .quality = 90,
        .subsampling = LAP_SUB_SAME,
        .from = &from};
    need(lap_jpeg_head_make(&options, &head, &err) == LAP_OK, "a header");
}

static void plan(lap_device_staging *staging, bool encodes)
{
    bool handled = false;
    const lap_device_wish wish = {.width = frame.width,
        .height = frame.height,
        .channels = frame.components,
        .filters = encodes,
        .head = encodes ? &head : NULL};
    need(lap_device_staging_plan(staging, &wish, &handled, &err) == LAP_OK && handled, "a plan");
}

static void open_lane(lane *l)
{
    need(lap_device_slot_create(0, &l->slot, &err) == LAP_OK, "a stream");
    for (int i = 0; i < LAP_DEVICE_CHAIN; i++) {
        need(lap_device_staging_create(0, LAP_HOST_PINNED, 0, &l->stagings[i], &err) == LAP_OK &&
                 lap_device_staging_file(l->stagings[i], file_size, &err) == LAP_OK,
            "pinned memory");
        memcpy(l->stagings[i]->file.bytes, file, file_size);
        l->stagings[i]->file_bytes = file_size;
        plan(l->stagings[i], true);
    }
    const size_t bytes = LAP_DEVICE_CHAIN * lap_device_slot_needs(l->stagings[0]);
    need(lap_device_slot_resize(l->slot, lap_device_slot_chain_needs(bytes, LAP_DEVICE_CHAIN), &err) ==
                 LAP_OK &&
             lap_device_slot_wait(l->slot, &err) == LAP_OK,
        "device memory");
}

static void begin(lane *l, int together, bool encodes)
{
    for (int i = 0; i < together; i++)
        plan(l->stagings[i], encodes);
    need(lap_device_slot_start(
             l->slot, (const lap_device_staging *const *)l->stagings, together, &filter, &err) == LAP_OK,
        "a chain");
}

/* Photos a second. */
static double rate(int streams, int together, int photos, bool encodes)
{
    const double start = lap_now_ms();
    const int chains = (photos + together - 1) / together;
    for (int i = 0; i < chains; i++) {
        lane *l = &lanes[i % streams];
        if (i >= streams)
            need(lap_device_slot_wait(l->slot, &err) == LAP_OK, "waiting");
        begin(l, together, encodes);
    }
    for (int i = 0; i < streams; i++)
        need(lap_device_slot_wait(lanes[i].slot, &err) == LAP_OK, "waiting");
    return 1e3 * chains * together / (lap_now_ms() - start);
}

/* Checks that all photos of a full chain equal the single photo. */
static void compare(void)
{
    lap_times ms = {0};
    lane *l = &lanes[0];
    plan(l->stagings[0], true);
    need(lap_device_slot_run(l->slot, l->stagings[0], &filter, &ms, &err) == LAP_OK &&
             lap_device_staging_is_done(l->stagings[0]),
        "the photo alone");
    const size_t bytes = l->stagings[0]->encoded->bytes;
    uint8_t *alone = malloc(bytes);
    need(alone != NULL, "memory");
    memcpy(alone, l->stagings[0]->scan.bytes, bytes);
    for (int i = 0; i < LAP_DEVICE_CHAIN; i++)
        memset(l->stagings[i]->scan.bytes, 0, bytes);
    begin(l, LAP_DEVICE_CHAIN, true);
    need(lap_device_slot_wait(l->slot, &err) == LAP_OK, "waiting");
    int same = 0;
    for (int i = 0; i < LAP_DEVICE_CHAIN; i++)
        same += lap_device_staging_is_done(l->stagings[i]) && l->stagings[i]->encoded->bytes == bytes &&
                memcmp(alone, l->stagings[i]->scan.bytes, bytes) == 0;
    free(alone);
    check(same == LAP_DEVICE_CHAIN, "a chain gives what the photo alone gives");
}

int main(int argc, char **argv)
{
    static const int ways[][2] = {{1, 1}, {16, 1}, {4, 8}, {2, 32}, {4, 32}, {8, 32}, {4, 64}, {8, 64}};
    const int photos = argc > 2 ? atoi(argv[2]) : 20000;
    const char *reason = lap_cuda_unavailable();
    if (argc < 2 || photos < 1 || reason) {
        printf("1..0 # SKIP %s\n", reason ? reason : "usage: chain_bench FILE [PHOTOS]");
        return argc < 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    read_file(argv[1]);
    make_head();
    params = lap_params_default();
    filter = (lap_views_filter){.params = &params, .border = LAP_ZERO};
    need(lap_rung_find(LAP_OP_FILTER, "cuda-fast", &filter.rung, &err) == LAP_OK, "cuda-fast");
    for (int i = 0; i < MOST_STREAMS; i++)
        open_lane(&lanes[i]);
    compare();
    printf(
        "# %dx%d, %zu bytes; photos a second, median of %d\n", frame.width, frame.height, file_size, ROUNDS);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (int encodes = 0; encodes < 2; encodes++) {
            double rates[ROUNDS];
            for (int r = 0; r < ROUNDS; r++) {
                const double found = rate(
                    ways[w][0], ways[w][1], photos / (ways[w][0] * ways[w][1] < 4 ? 10 : 1) + 1, encodes);
                int at = r;
                for (; at > 0 && rates[at - 1] > found; at--)
                    rates[at] = rates[at - 1];
                rates[at] = found;
            }
            printf("# %2d streams, chains of %2d: %-22s %9.0f\n", ways[w][0], ways[w][1],
                encodes ? "decode, filter, encode" : "decode", rates[ROUNDS / 2]);
        }
    for (int i = 0; i < MOST_STREAMS; i++) {
        for (int k = 0; k < LAP_DEVICE_CHAIN; k++)
            lap_device_staging_destroy(lanes[i].stagings[k]);
        lap_device_slot_destroy(lanes[i].slot);
    }
    lap_chunk_free(&head.header);
    free(file);
    printf("1..%d\n", number);
    return failures > 0;
}
