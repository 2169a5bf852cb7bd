/* src/device/device_slot.h on the CPU runtime: a photo in a chain has the same result as alone, whatever
 * the other photos are, and if a call fails, the whole chain fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/turn.h"
#include "coding/jpeg_frame_read.h"
#include "cuda/device/device.h"
#include "device/device_slot.h"
#include "libjpeg/jpeg_head.h"
#include "rungs/backend.h"
#include "tests/kernels/cudacpu/control.h"
#include "tests/kernels/jpegcuda/make.h"
#include "tests/kernels/jpegcuda/tap.h"

#ifdef LAP_FEW_SIZES
/* What follows a call that fails is the same code for many calls: whether it races shows in some. --each: as
 * many as without ThreadSanitizer. */
enum { MOST_SIDE = 24 };
static int calls_apart = 35, launches_apart = 3;
static const int counts[] = {1, 2, 5};
#else
enum { MOST_SIDE = 67 };
static int calls_apart = 7, launches_apart = 1;
static const int counts[] = {1, 2, 3, 7, 20, LAP_DEVICE_CHAIN};
#endif
enum { CASES = sizeof counts / sizeof *counts };

typedef enum task { ENCODES, COUNTS, BOTH, TASKS } task;

typedef struct photo {
    lap_device_staging *staging;
    lap_jpeg_head head;
    lap_photo_counts counts; /* as it comes out alone, */
    uint8_t *scan;           /* and so */
    size_t scan_bytes;
    bool is_done;
} photo;

static lap_views_filter filter;
static lap_params params;

static lap_jpeg_head head_of(int width, int height, int channels, int i)
{
    lap_header from = {.format = "jpeg", .components = channels, .is_ycc = true};
    lap_jpeg_head head;
    for (int c = 0; c < 3; c++)
        from.sample_h[c] = from.sample_v[c] = c == 0 && channels == 3 ? 1 + i % 2 : 1;
    const lap_write_options options = {.width = width,
        .height = height,
        .channels = channels,
        .quality = 40 + i % 50,
        .subsampling = LAP_SUB_SAME,
        .from = &from};
    need(lap_jpeg_head_make(&options, &head, &err) == LAP_OK, "a header");
    return head;
}

static lap_code plan(photo *p, const make_kind *kind, task what, int i)
{
    const lap_turn turn = (lap_turn)(1 + i % 8);
    const bool swap = lap_turn_transposes(turn);
    const int channels = kind->sampling == GRAY ? 1 : 3;
    const int width = swap ? kind->height : kind->width, height = swap ? kind->width : kind->height;
    if (!p->head.header.size)
        p->head = head_of(width, height, channels, i);
    const lap_device_wish wish = {.turn = turn,
        .width = width,
        .height = height,
        .channels = channels,
        .filters = true,
        .head = what == COUNTS ? NULL : &p->head,
        .capacity = i % 9 == 4 ? 32 : 0, /* some scans do not fit */
        .counts = what != ENCODES};
    bool handled = false;
    const lap_code code = lap_device_staging_plan(p->staging, &wish, &handled, &err);
    return code == LAP_OK && !handled ? LAP_E_UNSUPPORTED : code;
}

static make_kind kind_of(int i)
{
    return (make_kind){.width = 1 + i * 13 % MOST_SIDE,
        .height = 1 + i * 29 % MOST_SIDE,
        .sampling = (make_sampling)(i % SAMPLINGS),
        .quality = 30 + i % 60,
        .restart = i % 4,
        .tables = (make_tables)(i % TABLES),
        .content = (make_content)(i % CONTENTS),
        .seed = (unsigned)i};
}

/* Every fifth has a flipped bit. */
static void make_photo(photo *p, int i, task what)
{
    const make_kind kind = kind_of(i);
    make_bytes jpeg = make_jpeg(&kind);
    *p = (photo){0};
    if (i % 5 == 3)
        jpeg.data[jpeg.size - 5 - jpeg.size % 7] ^= 16;
    need(lap_device_staging_create(0, LAP_HOST_PINNED, 0, &p->staging, &err) == LAP_OK &&
             lap_device_staging_file(p->staging, jpeg.size, &err) == LAP_OK,
        "memory");
    memcpy(p->staging->file.bytes, jpeg.data, jpeg.size);
    p->staging->file_bytes = jpeg.size;
    free(jpeg.data);
    need(plan(p, &kind, what, i) == LAP_OK, "a plan");
}

static void free_photo(photo *p)
{
    lap_device_staging_destroy(p->staging);
    lap_chunk_free(&p->head.header);
    free(p->scan);
}

static void keep_alone(photo *p, lap_device_slot *slot)
{
    lap_times ms = {0};
    need(lap_device_slot_run(slot, p->staging, &filter, &ms, &err) == LAP_OK, "a photo alone");
    p->is_done = lap_device_staging_is_done(p->staging);
    if (p->staging->is_counted)
        p->counts = *p->staging->counts;
    if (p->is_done && p->staging->is_encoded) {
        p->scan_bytes = p->staging->encoded->bytes;
        p->scan = malloc(p->scan_bytes + 1);
        need(p->scan != NULL, "memory");
        memcpy(p->scan, p->staging->scan.bytes, p->scan_bytes);
    }
}

static bool is_same(const photo *p)
{
    const lap_device_staging *s = p->staging;
    if (lap_device_staging_is_done(s) != p->is_done)
        return false;
    return !p->is_done || ((!s->is_counted || memcmp(&p->counts, s->counts, sizeof p->counts) == 0) &&
                              (!s->is_encoded || (s->encoded->bytes == p->scan_bytes &&
                                                     memcmp(p->scan, s->scan.bytes, p->scan_bytes) == 0)));
}

static lap_code begin(lap_device_slot *slot, photo *photos, int count)
{
    const lap_device_staging *stagings[LAP_DEVICE_CHAIN];
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        stagings[i] = photos[i].staging;
        bytes += lap_device_slot_needs(photos[i].staging);
    }
    lap_code code = LAP_OK;
    if (lap_device_slot_room(slot) < lap_device_slot_chain_needs(bytes, count))
        code = lap_device_slot_resize(slot, lap_device_slot_chain_needs(bytes, count), &err);
    return code == LAP_OK ? lap_device_slot_start(slot, stagings, count, &filter, &err) : code;
}

static lap_code start(lap_device_slot *slot, photo *photos, int count)
{
    const lap_code code = begin(slot, photos, count);
    const lap_code waited = lap_device_slot_wait(slot, code == LAP_OK ? &err : NULL);
    return code == LAP_OK ? waited : code;
}

/* The number of launches does not grow with the number of photos. */
static void check_chain(task what, int count)
{
    static const char *const names[] = {"encoded", "counted", "encoded and counted"};
    static photo photos[LAP_DEVICE_CHAIN];
    lap_device_slot *slot;
    char text[160];
    int same = 0, done = 0;
    need(lap_device_slot_create(0, &slot, &err) == LAP_OK, "a slot");
    for (int i = 0; i < count; i++) {
        const make_kind kind = kind_of(i);
        make_photo(&photos[i], i, what);
        keep_alone(&photos[i], slot);
        done += photos[i].is_done;
        need(plan(&photos[i], &kind, what, i) == LAP_OK, "a plan"); /* clears what it left */
    }
    need(start(slot, photos, count) == LAP_OK, "a chain");
    for (int i = 0; i < count; i++)
        same += is_same(&photos[i]);
    snprintf(text, sizeof text, "a chain of %d, %s: %d as each alone, of which %d are done", count,
        names[what], same, done);
    check(same == count && done > 0 && (count < 5 || done < count), text);
    for (int i = 0; i < count; i++)
        free_photo(&photos[i]);
    lap_device_slot_destroy(slot);
}

/* Makes each call fail in turn: the failure is reported, and no photo of the chain counts as done unless
 * it is right. */
static void check_failures(int count)
{
    photo photos[LAP_DEVICE_CHAIN];
    int failed = 0, wrong = 0, calls = 0;
    char text[160];
    for (bool goes_on = true; goes_on; calls += calls_apart) {
        lap_device_slot *slot;
        char fault[60];
        need(lap_cudacpu_configure("devices=1") == 0 && lap_device_slot_create(0, &slot, &err) == LAP_OK,
            "a slot");
        for (int i = 0; i < count; i++) {
            const make_kind kind = kind_of(i);
            make_photo(&photos[i], i, BOTH);
            keep_alone(&photos[i], slot);
            need(plan(&photos[i], &kind, BOTH, i) == LAP_OK, "a plan");
        }
        snprintf(fault, sizeof fault, "devices=1,fail=%d:700", calls + 1);
        const uint64_t before = lap_cudacpu_count("calls");
        need(lap_cudacpu_configure(fault) == 0, "a fault");
        const lap_code code = start(slot, photos, count);
        goes_on = lap_cudacpu_count("calls") > (uint64_t)calls;
        (void)before;
        need(lap_cudacpu_configure("devices=1") == 0, "no faults");
        failed += code != LAP_OK;
        for (int i = 0; i < count; i++) {
            wrong += code == LAP_OK && !is_same(&photos[i]);
            free_photo(&photos[i]);
        }
        lap_device_slot_destroy(slot);
    }
    snprintf(text, sizeof text, "each %dth of %d calls fails: %d chains fail, %d are wrong", calls_apart,
        calls, failed, wrong);
    check(failed > 2 && wrong == 0, text);
}

/* A launch fails without memory, and the next chain of the slot begins at once: its tables take the place of
 * those that the first chain's copies and kernels read. */
static void check_next(void)
{
    enum { COUNT = 3 };
    photo photos[COUNT];
    lap_device_slot *slot;
    int failed = 0, wrong = 0;
    char text[120];
    need(lap_cudacpu_configure("devices=1") == 0 && lap_device_slot_create(0, &slot, &err) == LAP_OK,
        "a slot");
    for (int i = 0; i < COUNT; i++) {
        make_photo(&photos[i], i, BOTH);
        keep_alone(&photos[i], slot);
    }
    for (bool fails = true; fails; failed += fails) {
        const int launch = 1 + failed * launches_apart;
        char fault[80];
        for (int i = 0; i < COUNT; i++) {
            const make_kind kind = kind_of(i);
            need(plan(&photos[i], &kind, BOTH, i) == LAP_OK, "a plan");
        }
        snprintf(fault, sizeof fault, "devices=1,seed=%d,fail=cudaLaunchKernel:%d:2", failed, launch);
        need(lap_cudacpu_configure(fault) == 0, "a fault");
        fails = begin(slot, photos, COUNT) != LAP_OK;
        if (fails)
            wrong +=
                start(slot, photos + 1, COUNT - 1) != LAP_OK || !is_same(&photos[1]) || !is_same(&photos[2]);
        else
            need(lap_device_slot_wait(slot, &err) == LAP_OK, "the end");
    }
    need(lap_cudacpu_configure("devices=1") == 0, "no faults");
    for (int i = 0; i < COUNT; i++)
        free_photo(&photos[i]);
    lap_device_slot_destroy(slot);
    snprintf(text, sizeof text, "%d launches fail in turn, and the next chain begins: %d are wrong", failed,
        wrong);
    check(failed > 5 && wrong == 0, text);
}

/* A chain without memory for its tables fails like a device: LAP_E_MEMORY would make callers try again with
 * less of the device's memory. */
static void check_tables(void)
{
    photo photos[2];
    lap_device_slot *slot;
    for (int i = 0; i < 2; i++)
        make_photo(&photos[i], i, BOTH);
    need(lap_device_slot_create(0, &slot, &err) == LAP_OK, "a slot");
    keep_alone(&photos[0], slot);
    keep_alone(&photos[1], slot);
    need(lap_cudacpu_configure("devices=1,fail=cudaMallocHost:1:2") == 0, "a fault");
    check(start(slot, photos, 2) == LAP_E_DEVICE && strstr(err.message, "tables of several photos"),
        "no pinned memory for tables: the device fails");
    check(start(slot, photos, 1) == LAP_OK && is_same(&photos[0]), "a photo alone needs no tables");
    need(lap_cudacpu_configure("devices=1") == 0, "no faults");
    check(start(slot, photos, 2) == LAP_OK && is_same(&photos[0]) && is_same(&photos[1]),
        "later the same slot has memory for a chain");
    for (int i = 0; i < 2; i++)
        free_photo(&photos[i]);
    lap_device_slot_destroy(slot);
}

/* Photos that cannot share a chain are refused before any work. */
static void check_refusals(void)
{
    photo photos[2];
    lap_device_slot *slot;
    make_photo(&photos[0], 0, ENCODES);
    make_photo(&photos[1], 1, COUNTS);
    need(lap_device_slot_create(0, &slot, &err) == LAP_OK, "a slot");
    check(start(slot, photos, 2) == LAP_E_INTERNAL, "photos with different steps are refused");
    for (int i = 0; i < 2; i++)
        free_photo(&photos[i]);
    lap_device_slot_destroy(slot);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--each") == 0)
        calls_apart = 7, launches_apart = 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    params = lap_params_default();
    need(lap_cudacpu_configure("devices=1") == 0 &&
             lap_rung_find(LAP_OP_FILTER, "cuda-fast", &filter.rung, &err) == LAP_OK,
        "set-up");
    filter.params = &params;
    for (int b = 0; b < CASES; b++) {
        filter.border = b % 2 ? LAP_REFLECT : LAP_ZERO;
        params.range = b % 3 ? LAP_CLAMP : LAP_ABS;
        check_chain((task)(b % TASKS), counts[b]);
    }
    need(lap_rung_find(LAP_OP_FILTER, "cuda-global", &filter.rung, &err) == LAP_OK, "a rung");
    check_chain(BOTH, counts[2]);
    need(lap_rung_find(LAP_OP_FILTER, "cuda-fast", &filter.rung, &err) == LAP_OK, "a rung");
    check_failures(3);
    check_next();
    check_tables();
    check_refusals();
    printf("1..%d\n", number);
    return failures > 0;
}
