/* Photos on the stream of a device that the test makes up: which way each of them goes, in which order, and
 * what is reported of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/status.h"
#include "device/devices.h"
#include "lapedge_program.h"
#include "run/stream_photos.h"
#include "rungs/backend.h"
#include "tests/support/jpeg_make.h"

enum { DEVICE = 3, WINDOW = LAP_DEVICE_CHAIN, MOST = 200, WIDTH = 20, HEIGHT = 10 };
#define MB ((size_t)1 << 20)

/* ---- the device ----------------------------------------------------------------------------------- */

static lap_device_staging pinned, paged, lane_pinned, lane_paged, small[LAP_STREAM_WINDOWS * WINDOW];
static lap_cuda_jpeg_encoded encoded = {.bytes = 4};
static uint8_t scan_bytes[] = {'s', 'c', 'a', 'n'};
static const lap_rung rung = {.op = LAP_OP_FILTER, .name = "rung", .family = "cuda", .device = 1};

static struct {
    bool counts_time;
    double now;
    char log[512];             /* the calls */
    const char *fails;         /* each call of this name fails */
    lap_code code;             /* with this code */
    bool handles, encodes;     /* what is planned */
    bool has_source, has_scan; /* what a run has made */
    size_t needs;              /* bytes of a photo on the device; 0: it is too large */
    size_t extra;              /* bytes for each photo of a chain more */
    const char *reason;        /* why the device does not code */
    unsigned direction;
    lap_device_wish wish;
    size_t lent;
    const void *lent_bytes;
    bool is_busy;   /* another thread uses the stream */
    lap_lane *lane; /* that is free; NULL: none */
    int stagings, waits, members, teams;
    double later;                /* so much later it is with each turn of the windows */
    bool is_alone;               /* nobody joins a team */
    int chains[16], chain_count; /* photos of each chain */
    const lap_device_staging *first[16];
    lap_views_filter filter;
    lap_params params; /* its parameters */
    bool is_timed;
    bool no_photos;
} dev;

static lap_code step(const char *what, lap_error *err)
{
    if (strlen(dev.log) + strlen(what) + 2 < sizeof dev.log)
        strcat(strcat(dev.log, what), " ");
    const bool fails = dev.fails && strcmp(dev.fails, what) == 0;
    return fails ? lap_fail(err, dev.code, "%s failed", what) : LAP_OK;
}

static lap_code step_with(const char *what, const lap_device_staging *staging, lap_error *err)
{
    char text[40];
    snprintf(text, sizeof text, "%s:%s", what,
        staging == &pinned        ? "pinned"
        : staging == &paged       ? "paged"
        : staging == &lane_pinned ? "lane-pinned"
        : staging == &lane_paged  ? "lane-paged"
                                  : "small");
    return step(text, err);
}

double __real_lap_now_ms(void);
double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return dev.counts_time ? ++dev.now : __real_lap_now_ms();
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return dev.no_photos && size == sizeof(lap_stream_photo) ? NULL : __real_calloc(count, size);
}

int __real_pthread_mutex_trylock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *lock)
{
    return dev.is_busy ? EBUSY : __real_pthread_mutex_trylock(lock);
}

void __real_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument);
void __wrap_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument);
void __wrap_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument)
{
    dev.members = members;
    dev.teams++;
    dev.now += dev.later;
    __real_lap_pool_team(dev.is_alone ? NULL : pool, members, fn, argument);
}

lap_code __wrap_lap_stream_check(
    const lap_stream *s, const lap_view *view, const char *which, lap_error *err);
lap_code __wrap_lap_stream_check(const lap_stream *s, const lap_view *view, const char *which, lap_error *err)
{
    assert_true(s && view);
    return step(which, err);
}

lap_code __wrap_lap_stream_copy(lap_stream *s, const lap_view *in, const lap_view *out, lap_error *err);
lap_code __wrap_lap_stream_copy(lap_stream *s, const lap_view *in, const lap_view *out, lap_error *err)
{
    assert_non_null(s);
    assert_true(in->width == out->width && in->height == out->height && in->channels == out->channels);
    for (int y = 0; y < in->height; y++) /* all memory of this device is on the host */
        memcpy(out->base + y * out->stride, in->base + y * in->stride, (size_t)(in->width * in->channels));
    return step("copy", err);
}

lap_code __wrap_lap_stream_wait(lap_stream *s, lap_error *err);
lap_code __wrap_lap_stream_wait(lap_stream *s, lap_error *err)
{
    (void)s, (void)err;
    dev.waits++;
    return LAP_OK;
}

lap_code __wrap_lap_stream_view_create(
    lap_stream *s, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
lap_code __wrap_lap_stream_view_create(
    lap_stream *s, int width, int height, int channels, int apron, lap_view *view, lap_error *err)
{
    assert_true(s && apron == 0);
    const lap_code code = step("view", err);
    if (code == LAP_OK)
        *view = (lap_view){malloc((size_t)(width * height * channels)), (ptrdiff_t)width * channels, width,
            height, channels, 0, LAP_ON_HOST};
    return code;
}

void __wrap_lap_stream_view_destroy(lap_stream *s, lap_view *view);
void __wrap_lap_stream_view_destroy(lap_stream *s, lap_view *view)
{
    (void)s;
    (void)step("-view", NULL);
    free(view->base);
    *view = (lap_view){0};
}

lap_lane *__wrap_lap_stream_lane_take(lap_stream *s);
lap_lane *__wrap_lap_stream_lane_take(lap_stream *s)
{
    (void)s;
    (void)step("take", NULL);
    return dev.lane;
}

void __wrap_lap_stream_lane_give(lap_stream *s, lap_lane *lane);
void __wrap_lap_stream_lane_give(lap_stream *s, lap_lane *lane)
{
    (void)s;
    assert_ptr_equal(lane, dev.lane);
    (void)step("give", NULL);
}

void __wrap_lap_stream_lanes_free(lap_stream *s);
void __wrap_lap_stream_lanes_free(lap_stream *s)
{
    (void)s;
    (void)step("free", NULL);
}

lap_code __wrap_lap_device_codec_choose(
    lap_codec_place codec, unsigned directions, const char **unavailable, lap_error *err);
lap_code __wrap_lap_device_codec_choose(
    lap_codec_place codec, unsigned directions, const char **unavailable, lap_error *err)
{
    assert_true(codec == LAP_CODEC_AUTO || codec == LAP_CODEC_CUDA);
    dev.direction = directions;
    *unavailable = dev.reason;
    return step("choose", err);
}

lap_code __wrap_lap_rung_find_on_device(
    lap_op op, const char *backend, int device, const lap_rung **found, lap_error *err);
lap_code __wrap_lap_rung_find_on_device(
    lap_op op, const char *backend, int device, const lap_rung **found, lap_error *err)
{
    assert_true(op == LAP_OP_FILTER && device == DEVICE);
    assert_string_equal(backend, "the backend");
    *found = &rung;
    return step("rung", err);
}

lap_code __wrap_lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err);
lap_code __wrap_lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err)
{
    assert_true(device == DEVICE && kind == LAP_HOST_PINNED);
    assert_int_equal(most, LAP_DEVICE_SMALL_STAGING / LAP_STREAM_WINDOWS);
    const lap_code code = step("staging", err);
    if (code == LAP_OK)
        *staging = &small[dev.stagings++ % (LAP_STREAM_WINDOWS * WINDOW)];
    return code;
}

void __wrap_lap_device_staging_lend(lap_device_staging *staging, const uint8_t *bytes, size_t size);
void __wrap_lap_device_staging_lend(lap_device_staging *staging, const uint8_t *bytes, size_t size)
{
    (void)staging;
    dev.lent_bytes = bytes;
    dev.lent = size;
}

lap_code __wrap_lap_device_staging_copy(
    lap_device_staging *staging, const void *file, size_t size, lap_error *err);
lap_code __wrap_lap_device_staging_copy(
    lap_device_staging *staging, const void *file, size_t size, lap_error *err)
{
    dev.lent_bytes = file;
    dev.lent = size;
    return step_with("pin", staging, err);
}

lap_code __wrap_lap_device_staging_plan(
    lap_device_staging *staging, const lap_device_wish *wish, bool *handled, lap_error *err);
lap_code __wrap_lap_device_staging_plan(
    lap_device_staging *staging, const lap_device_wish *wish, bool *handled, lap_error *err)
{
    dev.wish = *wish;
    staging->is_encoded = dev.encodes;
    staging->encoded = &encoded;
    staging->scan.bytes = scan_bytes;
    const lap_code code = step_with("plan", staging, err);
    *handled = code == LAP_OK && (dev.handles || wish->pixels);
    return code;
}

bool __wrap_lap_device_staging_has_source(const lap_device_staging *staging);
bool __wrap_lap_device_staging_has_source(const lap_device_staging *staging)
{
    (void)staging;
    return dev.has_source;
}

bool __wrap_lap_device_staging_has_scan(const lap_device_staging *staging);
bool __wrap_lap_device_staging_has_scan(const lap_device_staging *staging)
{
    (void)staging;
    return dev.has_scan;
}

size_t __wrap_lap_device_slot_needs(const lap_device_staging *staging);
size_t __wrap_lap_device_slot_needs(const lap_device_staging *staging)
{
    (void)staging;
    return dev.needs;
}

size_t __wrap_lap_device_slot_chain_needs(size_t bytes, int count);
size_t __wrap_lap_device_slot_chain_needs(size_t bytes, int count)
{
    return bytes + (size_t)count * dev.extra;
}

lap_code __wrap_lap_device_slot_run(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_views_filter *filter, lap_times *times, lap_error *err);
lap_code __wrap_lap_device_slot_run(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_views_filter *filter, lap_times *times, lap_error *err)
{
    const bool is_lane = staging == &lane_pinned || staging == &lane_paged;
    assert_ptr_equal(slot, is_lane ? &lane_pinned : &pinned);
    dev.is_timed = times;
    if (filter)
        dev.filter = *filter;
    if (times)
        times->filter += 1000;
    return step_with("run", staging, err);
}

lap_code __wrap_lap_device_slot_run_chain(lap_device_slot *slot, const lap_device_staging *const stagings[],
    int count, const lap_views_filter *filter, lap_times *times, lap_error *err);
lap_code __wrap_lap_device_slot_run_chain(lap_device_slot *slot, const lap_device_staging *const stagings[],
    int count, const lap_views_filter *filter, lap_times *times, lap_error *err)
{
    assert_ptr_equal(slot, &pinned);
    dev.filter = *filter;
    dev.first[dev.chain_count % 16] = stagings[0];
    dev.chains[dev.chain_count++ % 16] = count;
    times->filter += 7;
    return step("chain", err);
}

lap_code __wrap_lap_device_slot_scan(
    lap_device_slot *slot, const lap_device_staging *staging, lap_chunk *scan, lap_error *err);
lap_code __wrap_lap_device_slot_scan(
    lap_device_slot *slot, const lap_device_staging *staging, lap_chunk *scan, lap_error *err)
{
    assert_ptr_equal(slot, staging == &lane_paged ? &lane_pinned : &pinned);
    assert_int_equal(lap_chunk_reserve(scan, 4, NULL), LAP_OK);
    memcpy(scan->data, "SCAN", scan->size = 4);
    return step_with("scan", staging, err);
}

/* ---- the stream ----------------------------------------------------------------------------------- */

static lap_context *context;
static lap_stream stream;
static lap_lane lane;

static void reset(void)
{
    memset(&dev, 0, sizeof dev);
    memset(&stream, 0, sizeof stream);
    stream.context = context;
    stream.device = DEVICE;
    stream.own = (lap_lane){.slot = (lap_device_slot *)&pinned, .pinned = &pinned, .paged = &paged};
    lane = (lap_lane){.slot = (lap_device_slot *)&lane_pinned, .pinned = &lane_pinned, .paged = &lane_paged};
    dev.handles = dev.encodes = dev.has_source = dev.has_scan = true;
    dev.needs = MB;
    dev.code = LAP_E_DEVICE;
}

/* ---- windows of photos, whatever is done with them -------------------------------------------------- */

static int begun[MOST], finished[MOST], events, bad_begin, bad_finish;
static bool was_chained[MOST], was_done[MOST], has_staging[MOST], plans;

static lap_code begin_photo(lap_stream_photo *p, lap_error *err)
{
    assert_int_equal(begun[p->number], 0);
    begun[p->number] = ++events;
    has_staging[p->number] = p->staging != NULL;
    if (p->staging && plans) {
        const lap_device_wish wish = {.width = 1};
        lap_stream_plan(p, &wish, (const uint8_t *)"file", 4);
    }
    if ((int)p->number == bad_begin)
        return lap_fail(err, LAP_E_DAMAGED, "begin %zu", p->number);
    return LAP_OK;
}

static lap_code finish_photo(lap_stream_photo *p, lap_error *err)
{
    assert_int_equal(finished[p->number], 0);
    finished[p->number] = ++events;
    was_chained[p->number] = p->is_chained;
    was_done[p->number] = p->is_done;
    if (p->code == LAP_OK && (int)p->number == bad_finish)
        return lap_fail(err, LAP_E_TRUNCATED, "finish %zu", p->number);
    return p->code;
}

static lap_view views[MOST];
static lap_report reports[MOST];
static lap_settings settings;

static lap_stream_work work_for(size_t count)
{
    memset(begun, 0, sizeof begun);
    memset(finished, 0, sizeof finished);
    memset(has_staging, 0, sizeof has_staging);
    events = 0;
    bad_begin = bad_finish = -1;
    plans = false;
    settings = lap_settings_default();
    for (int i = 0; i < MOST; i++) {
        views[i] = (lap_view){.width = 100 + i, .height = 300 + i, .channels = 3};
        memset(&reports[i], 0x55, sizeof reports[i]);
    }
    return (lap_stream_work){.stream = &stream,
        .settings = &settings,
        .on_device = true,
        .count = count,
        .views = views,
        .begin = begin_photo,
        .finish = finish_photo,
        .is_right = lap_device_staging_has_source};
}

static const size_t counts[] = {0, 1, 2, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW - 1, 2 * WINDOW,
    2 * WINDOW + 1, 3 * WINDOW, 3 * WINDOW + 1, MOST};

/* A window is finished before the next but one begins. */
static void each_photo_is_begun_and_finished(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof counts / sizeof *counts; i++) {
        const size_t count = counts[i / 2];
        const bool reports_it = i % 2;
        lap_error why = {0}, err = {0};
        reset();
        lap_stream_work work = work_for(count);
        dev.counts_time = true;
        dev.now = 1e15; /* later than it is by the clock that the conclusion reads */
        assert_int_equal(lap_stream_photos(&work, LAP_OK, &why, reports_it ? reports : NULL, &err), LAP_OK);
        dev.counts_time = false;
        assert_int_equal(dev.members > 0, count > 0);
        assert_int_equal(dev.teams, count > 0 ? (int)((count - 1) / WINDOW + 1) + 2 : 0);
        for (size_t k = 0; k < MOST; k++) {
            assert_int_equal(begun[k] > 0, k < count);
            assert_int_equal(finished[k] > 0, k < count);
            if (k >= count)
                continue;
            const size_t next = (k / WINDOW + 1) * WINDOW, after = next + WINDOW;
            assert_true(finished[k] > begun[k]);
            if (next < count)
                assert_true(finished[k] > begun[(after < count ? after : count) - 1]);
            if (after < count)
                assert_true(finished[k] < begun[after]);
            if (!reports_it)
                continue;
            assert_int_equal(reports[k].width, 100 + (int)k);
            assert_int_equal(reports[k].height, 300 + (int)k);
            assert_int_equal(reports[k].status, LAP_DONE);
            assert_true(reports[k].ms.total < 0); /* since it was begun */
            assert_int_equal(reports[k].bytes_in, 0);
        }
        assert_int_equal(err.code, LAP_OK);
    }
}

/* The first failure by number is the call's; each photo has its own. */
static void the_first_failure_is_the_calls(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        lap_error why = {0}, err = {0};
        reset();
        lap_stream_work work = work_for(150);
        bad_begin = n % 2 ? 3 : 140;
        bad_finish = n % 2 ? 70 : 9;
        const lap_code code = lap_stream_photos(&work, LAP_OK, &why, n / 2 ? reports : NULL, &err);
        assert_int_equal(code, n % 2 ? LAP_E_DAMAGED : LAP_E_TRUNCATED);
        assert_string_equal(err.message, n % 2 ? "begin 3" : "finish 9");
        for (int k = 0; k < 150; k++) {
            assert_true(finished[k] > begun[k] && begun[k] > 0);
            if (n / 2 == 0)
                continue;
            const bool is_bad = k == bad_begin || k == bad_finish;
            assert_int_equal(reports[k].status, is_bad ? LAP_FAILED : LAP_DONE);
            assert_int_equal(reports[k].error.code, k == bad_begin    ? LAP_E_DAMAGED
                                                    : k == bad_finish ? LAP_E_TRUNCATED
                                                                      : LAP_OK);
            assert_int_equal(reports[k].width, is_bad ? 0 : 100 + k);
        }
    }
}

static void no_photo_is_begun_after_a_failure(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        const bool no_memory = n / 2;
        lap_error why = {.code = LAP_E_USAGE, .message = "why"}, err = {0};
        reset();
        lap_stream_work work = work_for(3);
        dev.no_photos = no_memory;
        const lap_code code =
            lap_stream_photos(&work, no_memory ? LAP_OK : LAP_E_USAGE, &why, n % 2 ? reports : NULL, &err);
        assert_int_equal(code, no_memory ? LAP_E_MEMORY : LAP_E_USAGE);
        assert_string_equal(err.message, no_memory ? "out of memory" : "why");
        assert_int_equal(events, 0);
        for (int k = 0; k < 3 && n % 2; k++) {
            assert_int_equal(reports[k].status, LAP_FAILED);
            assert_int_equal(reports[k].error.code, code);
            assert_int_equal(reports[k].width, 0);
        }
        if (n % 2)
            assert_int_equal(reports[3].width, 0x55555555);
    }
    lap_error why = {0}, err = {0}; /* cancelled: begin is not called, but finish is */
    reset();
    lap_stream_work work = work_for(70);
    lap_context *const kept = stream.context = lap_context_create(1, NULL);
    lap_context_cancel(kept);
    assert_int_equal(lap_stream_photos(&work, LAP_OK, &why, reports, &err), LAP_E_CANCELLED);
    for (int k = 0; k < 70; k++) {
        assert_true(begun[k] == 0 && finished[k] > 0);
        assert_int_equal(reports[k].error.code, LAP_E_CANCELLED);
    }
    lap_context_destroy(kept);
}

/* Only photos of a batch that the device codes; for each place in the windows once. */
static void photos_get_stagings(void **state)
{
    (void)state;
    static const struct {
        size_t count;
        bool on_device, fails;
        int stagings, waits;
    } cases[] = {{1, true, false, 0, 0}, {2, true, false, 2, 1}, {2, false, false, 0, 0},
        {2, true, true, 0, 1}, {WINDOW + 1, true, false, WINDOW + 1, 1}, {MOST, true, false, 3 * WINDOW, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error why = {0};
        reset();
        lap_stream_work work = work_for(cases[i].count);
        work.on_device = cases[i].on_device;
        dev.fails = cases[i].fails ? "staging" : NULL;
        stream.is_short = true;
        assert_int_equal(lap_stream_photos(&work, LAP_OK, &why, NULL, NULL), LAP_OK);
        assert_int_equal(dev.stagings, cases[i].stagings);
        assert_int_equal(dev.waits, cases[i].waits);
        assert_false(stream.is_short);
        for (size_t k = 0; k < cases[i].count; k++)
            assert_int_equal(has_staging[k], cases[i].stagings > 0);
        assert_int_equal(dev.chain_count, 0); /* nothing is planned */
    }
}

static void a_batch_uses_the_threads_it_may(void **state)
{
    (void)state;
    static const int wanted[] = {3, 1, 2, 3, 3}; /* of 0 to 4 threads, if there are three */
    lap_context *three = lap_context_create(3, NULL);
    for (int threads = 0; threads < 5; threads++)
        for (size_t count = 1; count < 3; count++) {
            lap_error why = {0};
            reset();
            lap_stream_work work = work_for(count);
            stream.context = three;
            dev.is_alone = true;
            settings.threads = threads;
            assert_int_equal(lap_stream_photos(&work, LAP_OK, &why, NULL, NULL), LAP_OK);
            assert_int_equal(dev.members, count == 1 ? 1 : wanted[threads]);
        }
    lap_context_destroy(three);
}

/* As many as fit, in the order of their numbers. */
static void small_photos_are_chained(void **state)
{
    (void)state;
    static const struct {
        size_t count, needs, extra;
        int bad, chains[8];
        bool fails, has_source;
    } cases[] = {
        {2, MB, 0, -1, {2}, false, true},
        {2, MB, 0, -1, {2}, false, false},
        {2, MB, 0, -1, {2}, true, true},
        {2, MB, 0, 1, {1}, false, true},
        {2, 8 * MB, 0, -1, {2}, false, true},
        {2, 8 * MB + 1, 0, -1, {0}, false, true},
        {2, 0, 0, -1, {0}, false, true},
        {WINDOW + 2, MB, 0, -1, {WINDOW, 2}, false, true},
        {WINDOW, 8 * MB, 0, -1, {32, 32}, false, true},
        {WINDOW, 8 * MB, 1, -1, {31, 31, 2}, false, true},
        {WINDOW, 8 * MB, 1, 5, {31, 31, 1}, false, true},
        {40, 8 * MB - 1, 1, -1, {32, 8}, false, true},
        {WINDOW, MB, 4 * MB, -1, {51, 13}, false, true},
        {3 * WINDOW + 2, MB, 0, -1, {WINDOW, WINDOW, WINDOW, 2}, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error why = {0};
        int chains = 0, planned = 0;
        reset();
        lap_stream_work work = work_for(cases[i].count);
        plans = true;
        bad_begin = cases[i].bad;
        dev.needs = cases[i].needs;
        dev.extra = cases[i].extra;
        dev.has_source = cases[i].has_source;
        dev.fails = cases[i].fails ? "chain" : NULL;
        work.filter.border = LAP_WRAP;
        const lap_code code = lap_stream_photos(&work, LAP_OK, &why, reports, NULL);
        assert_int_equal(code, cases[i].bad < 0 ? LAP_OK : LAP_E_DAMAGED);
        while (chains < 8 && cases[i].chains[chains])
            chains++;
        assert_int_equal(dev.chain_count, chains);
        for (int k = 0; k < chains; k++) {
            assert_int_equal(dev.chains[k], cases[i].chains[k]);
            planned += dev.chains[k];
        }
        if (chains > 0) {
            assert_int_equal(dev.filter.border, LAP_WRAP);
            assert_ptr_equal(dev.first[0], &small[0]);
        }
        for (size_t k = 0; k < cases[i].count; k++) {
            const bool is_chained = planned > 0 && (int)k != cases[i].bad && !cases[i].fails;
            assert_int_equal(was_chained[k], is_chained);
            assert_int_equal(was_done[k], is_chained && cases[i].has_source);
            assert_true(reports[k].ms.filter == (is_chained ? 7 : 0));
        }
    }
}

static void what_goes_into_a_chain(void **state)
{
    (void)state;
    static const struct {
        bool has_file, has_head, handles, encodes;
        size_t needs;
        const char *fails;
        bool is_planned;
    } cases[] = {
        {true, false, true, false, LAP_DEVICE_SMALL_BYTES, NULL, true},
        {true, false, true, false, LAP_DEVICE_SMALL_BYTES + 1, NULL, false},
        {true, false, true, false, 1, NULL, true},
        {true, false, true, false, 0, NULL, false},
        {true, false, false, false, 1, NULL, false},
        {true, false, true, false, 1, "plan:small", false},
        {true, false, true, false, 1, "pin:small", false},
        {false, false, true, false, 1, "pin:small", true}, /* pixels are not pinned */
        {false, true, true, true, 1, NULL, true},
        {false, true, true, false, 1, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_jpeg_head head = {.components = 3};
        const lap_device_wish wish = {.head = cases[i].has_head ? &head : NULL, .width = 17};
        lap_stream_photo p = {.staging = &small[0]};
        reset();
        dev.handles = cases[i].handles;
        dev.encodes = cases[i].encodes;
        dev.needs = cases[i].needs;
        dev.fails = cases[i].fails;
        lap_stream_plan(&p, &wish, cases[i].has_file ? "a file" : NULL, cases[i].has_file ? 6 : 0);
        assert_int_equal(p.is_planned, cases[i].is_planned);
        assert_int_equal(dev.lent, cases[i].has_file ? 6 : 0);
        assert_int_equal(dev.wish.width, 17);
    }
}

static void a_device_is_chosen(void **state)
{
    (void)state;
    static const struct {
        lap_codec_place codec;
        const char *reason, *fails;
        lap_code code;
        bool is_asked, on_device;
    } cases[] = {
        {LAP_CODEC_AUTO, NULL, NULL, LAP_OK, true, true},
        {LAP_CODEC_AUTO, "rounds", NULL, LAP_OK, true, false},
        {LAP_CODEC_CUDA, NULL, NULL, LAP_OK, true, true},
        {LAP_CODEC_CUDA, "none", "choose", LAP_E_DEVICE, true, false},
        {LAP_CODEC_CPU, NULL, "choose", LAP_OK, false, false},
        {LAP_CODEC_TURBO, NULL, "choose", LAP_OK, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reset();
        lap_stream_work work = work_for(1);
        settings.codec = cases[i].codec;
        dev.reason = cases[i].reason;
        dev.fails = cases[i].fails;
        assert_int_equal(lap_stream_choose(&work, LAP_DEVICE_ENCODES, NULL), cases[i].code);
        assert_int_equal(work.on_device, cases[i].on_device);
        assert_int_equal(dev.direction, cases[i].is_asked ? LAP_DEVICE_ENCODES : 0);
    }
}

/* ---- decoding ------------------------------------------------------------------------------------- */

static jpeg_bytes jpeg;
static lap_view expected; /* its pixels, as the CPU decodes them */

/* What is prepared for one photo, and its calls. */
typedef struct way {
    const char *log, *fails;
    lap_code why; /* of the failure */
    int photos;   /* that the stream or the lane has had before */
    bool not_handled, no_source, no_scan, not_encoded, is_busy, has_lane, is_large, is_there;
    lap_code code;
    const char *note;
    bool by_lane; /* scan or pixels come from it */
} way;

static void prepare(const way *w)
{
    reset();
    stream.own.photos = w->photos;
    lane.photos = w->photos;
    dev.fails = w->fails;
    dev.code = w->why ? w->why : LAP_E_DEVICE;
    dev.handles = !w->not_handled;
    dev.has_source = !w->no_source;
    dev.has_scan = !w->no_scan;
    dev.encodes = !w->not_encoded;
    dev.is_busy = w->is_busy;
    dev.lane = w->has_lane ? &lane : NULL;
    dev.needs = w->is_large ? LAP_STREAM_LANE + 1 : LAP_STREAM_LANE;
    settings = lap_settings_default();
    settings.backend = "the backend";
    settings.filter = false;
}

static void assert_pixels(const lap_view *v)
{
    assert_true(v->width == WIDTH && v->height == HEIGHT && v->channels == 3);
    for (int y = 0; y < HEIGHT; y++)
        assert_memory_equal(v->base + y * v->stride, expected.base + y * expected.stride, WIDTH * 3);
}

static const char by_device[] = "decoded on the device", by_cpu[] = "decoded on the CPU";

static const way decodings[] = {
    {"choose view plan:paged run:paged ", .note = by_device},
    {"choose view plan:pinned pin:pinned run:pinned ", .photos = 1, .note = by_device},
    {"choose view plan:pinned plan:paged run:paged ", "plan:pinned", LAP_E_DEVICE, 1, .note = by_device},
    {"choose view plan:pinned pin:pinned plan:paged run:paged ", "pin:pinned", LAP_E_DEVICE, 1,
        .note = by_device},
    {"choose view plan:pinned copy ", .photos = 1, .not_handled = true, .note = by_cpu},
    {"choose view plan:paged copy ", .not_handled = true, .note = by_cpu},
    {"choose view plan:paged run:paged copy ", .no_source = true, .note = by_cpu},
    {"choose view plan:pinned pin:pinned run:pinned copy ", .photos = 1, .no_source = true, .note = by_cpu},
    {"choose view plan:paged -view ", "plan:paged", LAP_E_DEVICE, .code = LAP_E_DEVICE, .note = by_cpu},
    {"choose view plan:paged run:paged -view ", "run:paged", LAP_E_DEVICE, .code = LAP_E_DEVICE,
        .note = by_cpu},
    {"choose view plan:paged run:paged free plan:pinned pin:pinned run:pinned ", "run:paged", LAP_E_MEMORY,
        .note = by_device},
    {"choose view plan:paged free plan:pinned pin:pinned run:pinned ", "plan:paged", LAP_E_MEMORY,
        .note = by_device},
    {"choose view plan:pinned pin:pinned run:pinned free plan:pinned pin:pinned run:pinned -view ",
        "run:pinned", LAP_E_MEMORY, 1, .code = LAP_E_MEMORY, .note = by_cpu},
    {"choose view take plan:paged run:paged ", .is_busy = true, .note = by_device},
    {"choose view take plan:lane-pinned run:lane-pinned give ", .is_busy = true, .has_lane = true,
        .note = by_device},
    {"choose view take plan:lane-pinned pin:lane-pinned run:lane-pinned give ", .photos = 1, .is_busy = true,
        .has_lane = true, .note = by_device},
    {"choose view take plan:lane-pinned give plan:paged run:paged ", .is_busy = true, .has_lane = true,
        .is_large = true, .note = by_device},
    {"choose view take plan:lane-pinned pin:lane-pinned give plan:pinned pin:pinned run:pinned ",
        "pin:lane-pinned", LAP_E_DEVICE, 1, .is_busy = true, .has_lane = true, .note = by_device},
    {"choose view take plan:lane-pinned give plan:paged run:paged ", "plan:lane-pinned", LAP_E_DEVICE,
        .is_busy = true, .has_lane = true, .note = by_device},
    {"choose view take plan:lane-pinned give copy ", .not_handled = true, .is_busy = true, .has_lane = true,
        .note = by_cpu},
    {"choose view take plan:lane-pinned run:lane-pinned give copy ", .no_source = true, .is_busy = true,
        .has_lane = true, .note = by_cpu},
    {"choose view take plan:lane-pinned run:lane-pinned give plan:paged run:paged ", "run:lane-pinned",
        LAP_E_MEMORY, .is_busy = true, .has_lane = true, .note = by_device},
    {"choose view take plan:lane-pinned run:lane-pinned give -view ", "run:lane-pinned", LAP_E_DEVICE,
        .is_busy = true, .has_lane = true, .code = LAP_E_DEVICE, .note = by_cpu},
    {"choose view plan:paged copy -view ", "copy", LAP_E_DEVICE, .not_handled = true, .code = LAP_E_DEVICE,
        .note = by_cpu},
    {"choose view ", "view", LAP_E_MEMORY, .code = LAP_E_MEMORY, .note = by_cpu},
    {"choose output plan:paged run:paged ", .is_there = true, .note = by_device},
    {"choose output plan:paged copy ", .is_there = true, .not_handled = true, .note = by_cpu},
    {"choose output ", "output", LAP_E_USAGE, .is_there = true, .code = LAP_E_USAGE, .note = by_cpu},
    {"choose output plan:paged ", "plan:paged", LAP_E_DEVICE, .is_there = true, .code = LAP_E_DEVICE,
        .note = by_cpu},
};

static void each_way_to_decode(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof decodings / sizeof *decodings; i++) {
        const way *w = &decodings[i / 2];
        const bool reports_it = i % 2;
        static uint8_t own[WIDTH * HEIGHT * 3];
        lap_view view = {0};
        lap_report report = {.bytes_in = 1};
        lap_error err = {0};
        prepare(w);
        if (w->is_there)
            view = (lap_view){own, WIDTH * 3, WIDTH, HEIGHT, 3, 0, LAP_ON_HOST};
        settings.gray = false;
        dev.counts_time = true;
        const lap_code code = lap_stream_decode(
            &stream, jpeg.data, jpeg.size, &settings, &view, reports_it ? &report : NULL, &err);
        dev.counts_time = false;
        assert_string_equal(dev.log, w->log);
        assert_int_equal(code, w->code);
        assert_int_equal(dev.direction, LAP_DEVICE_DECODES);
        const bool has_run = strstr(w->log, "run:"), is_copied = strstr(w->log, "copy") && code == LAP_OK;
        if (has_run)
            assert_int_equal(dev.is_timed, reports_it);
        if (strstr(w->log, "plan:")) {
            assert_ptr_equal(dev.lent_bytes, jpeg.data);
            assert_int_equal(dev.lent, jpeg.size);
            assert_true(dev.wish.source == &view && !dev.wish.result && !dev.wish.pixels);
            assert_true(!dev.wish.filters && !dev.wish.head && !dev.wish.counts && !dev.wish.gray);
            assert_true(dev.wish.width == WIDTH && dev.wish.height == HEIGHT && dev.wish.channels == 3);
            assert_int_equal(dev.wish.turn, LAP_TURN_NONE);
        }
        if (is_copied)
            assert_pixels(&view);
        if (code != LAP_OK)
            assert_string_equal(strstr(err.message, " failed"), " failed");
        if (reports_it) {
            assert_string_equal(report.note, w->note);
            assert_int_equal(report.bytes_in, jpeg.size);
            assert_null(report.resolved);
            assert_int_equal(report.width, code == LAP_OK ? WIDTH : 0);
            assert_int_equal(report.warnings, 0);
            assert_true(report.ms.upload == (strstr(w->log, "copy") ? 1 : 0));
            assert_true((report.ms.decode > 0) == (strstr(w->log, "copy") != NULL));
        }
        if (w->is_there)
            assert_ptr_equal(view.base, own);
        else if (code == LAP_OK)
            free(view.base);
        else
            assert_null(view.base);
    }
}

/* Filtered where they are decoded; pixels that the CPU has decoded are filtered there, too. */
static void each_way_to_filter(void **state)
{
    (void)state;
    static const way filterings[] = {
        {"rung choose view plan:paged run:paged ", .note = by_device},
        {"rung choose view plan:paged plan:paged run:paged ", .not_handled = true, .note = by_cpu},
        {"rung choose view plan:pinned plan:paged run:paged ", .photos = 1, .not_handled = true,
            .note = by_cpu},
        {"rung ", "rung", LAP_E_BACKEND, .code = LAP_E_BACKEND, .note = ""},
        {"rung choose ", "choose", LAP_E_BACKEND, .code = LAP_E_BACKEND, .note = ""},
        {"rung choose view plan:paged run:paged -view ", "run:paged", LAP_E_DEVICE, .code = LAP_E_DEVICE,
            .note = by_cpu},
    };
    for (size_t i = 0; i < sizeof filterings / sizeof *filterings; i++) {
        const way *w = &filterings[i];
        const void *const file = jpeg.data;
        const size_t size = jpeg.size;
        lap_view view = {0};
        lap_report report;
        lap_error err = {0};
        prepare(w);
        settings.border = LAP_WRAP;
        const int photos = stream.own.photos;
        const lap_code code =
            lap_stream_edges_batch(&stream, &file, &size, 1, &settings, &view, &report, &err);
        assert_string_equal(dev.log, w->log);
        assert_int_equal(code, w->code);
        assert_string_equal(report.note, w->note);
        if (code == LAP_OK)
            assert_string_equal(report.resolved, "rung");
        else
            assert_null(report.resolved);
        if (strstr(w->log, "run:")) {
            assert_true(dev.filter.rung == &rung && dev.filter.border == LAP_WRAP);
            assert_true(dev.wish.result == &view && !dev.wish.source && dev.wish.filters);
            assert_int_equal(dev.wish.pixels != NULL, w->not_handled);
            assert_int_equal(stream.own.photos, photos + 1); /* pixels are no file */
        }
        assert_true(report.ms.upload == 0);
        free(view.base);
    }
}

/* If the pixels are to be filtered, with what is looked at first. */
static void a_filter_is_checked(void **state)
{
    (void)state;
    for (int filters = 0; filters < 2; filters++) {
        const void *const file = jpeg.data;
        const size_t size = jpeg.size;
        lap_view view = {0};
        lap_error err = {0};
        prepare(&(way){.log = ""});
        settings.border = (lap_border)99;
        const lap_code code =
            filters ? lap_stream_edges_batch(&stream, &file, &size, 1, &settings, &view, NULL, &err)
                    : lap_stream_decode_batch(&stream, &file, &size, 1, &settings, &view, NULL, &err);
        assert_int_equal(code, filters ? LAP_E_USAGE : LAP_OK);
        assert_string_equal(err.message, filters ? "unknown border 99" : "");
        assert_int_equal(dev.log[0] == 0, filters);
        free(view.base);
    }
}

static void what_a_stream_does_not_decode(void **state)
{
    (void)state;
    static const char turned[] = "a stream decodes pixels as stored: it cannot rotate or mirror them";
    static uint8_t own[WIDTH * HEIGHT * 3];
    static const struct {
        bool upright;
        lap_turn turn;
        int quality;
        lap_view view;
        size_t size; /* of the file; 0: all of it */
        lap_code code;
        const char *message;
    } cases[] = {
        {true, LAP_TURN_NONE, 90, {0}, 0, LAP_E_USAGE, turned},
        {false, LAP_TURN_H, 90, {0}, 0, LAP_E_USAGE, turned},
        {true, LAP_TURN_H, 101, {0}, 0, LAP_E_USAGE, "quality 101 is not in 1..100"},
        {false, LAP_TURN_NONE, 90, {own, 60, 19, 10, 3, 0, LAP_ON_HOST}, 0, LAP_E_DIFFERENT,
            "the picture has the shape 20x10x3, the view 19x10x3"},
        {false, LAP_TURN_NONE, 90, {own, 60, 20, 9, 3, 0, LAP_ON_HOST}, 0, LAP_E_DIFFERENT,
            "the picture has the shape 20x10x3, the view 20x9x3"},
        {false, LAP_TURN_NONE, 90, {own, 60, 20, 10, 1, 0, LAP_ON_HOST}, 0, LAP_E_DIFFERENT,
            "the picture has the shape 20x10x3, the view 20x10x1"},
        {false, LAP_TURN_NONE, 90, {0}, 1, LAP_E_NOT_IMAGE, "not a JPEG, PNG or binary PNM image"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_view view = cases[i].view;
        lap_report report;
        lap_error err = {0};
        prepare(&(way){.log = ""});
        settings.auto_orient = cases[i].upright;
        settings.turn = cases[i].turn;
        settings.quality = cases[i].quality;
        assert_int_equal(lap_stream_decode(&stream, jpeg.data, cases[i].size ? cases[i].size : jpeg.size,
                             &settings, &view, &report, &err),
            cases[i].code);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(report.error.code, cases[i].code);
        assert_null(strstr(dev.log, "-view"));
        assert_ptr_equal(view.base, cases[i].view.base);
    }
}

/* Without a device, or by a codec of the CPU's; a warning is reported. */
static void the_cpu_decodes_for_a_stream(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        const bool is_turbo = n % 2, is_cut = n / 2;
        lap_view view = {0};
        lap_report report;
        prepare(&(way){.log = ""});
        settings.codec = is_turbo ? LAP_CODEC_TURBO : LAP_CODEC_AUTO;
        settings.fail_on = LAP_FAIL_NONE;
        dev.reason = "it rounds differently";
        assert_int_equal(lap_stream_decode(&stream, jpeg.data, jpeg.size - (is_cut ? 40 : 0), &settings,
                             &view, &report, NULL),
            LAP_OK);
        assert_string_equal(dev.log, is_turbo ? "view copy " : "choose view copy ");
        assert_string_equal(report.note, by_cpu);
        assert_int_equal(report.warnings > 0, is_cut);
        assert_int_equal(report.status, is_cut ? LAP_WARNED : LAP_DONE);
        if (!is_cut)
            assert_pixels(&view);
        free(view.base);
    }
}

/* The time limit is that of a photo, not of those that it waits for. */
static void waiting_does_not_count(void **state)
{
    (void)state;
    static const double limits[] = {0, 1, 0.002}; /* the last is too short to decode it */
    for (int n = 0; n < 3; n++) {
        const void *const files[] = {jpeg.data, jpeg.data};
        const size_t sizes[] = {jpeg.size, jpeg.size};
        lap_view both[2] = {{0}};
        prepare(&(way){.log = ""});
        settings.codec = LAP_CODEC_TURBO;
        settings.timeout_s = limits[n];
        dev.counts_time = true;
        dev.now = 1e6;
        dev.later = n < 2 ? 1e6 : 0;
        const lap_code code = lap_stream_decode_batch(&stream, files, sizes, 2, &settings, both, NULL, NULL);
        dev.counts_time = false;
        assert_int_equal(code, n < 2 ? LAP_OK : LAP_E_TIMEOUT);
        for (int k = 0; k < 2; k++)
            free(both[k].base);
    }
}

/* ---- encoding ------------------------------------------------------------------------------------- */

static const char on_device[] = "encoded on the device", on_cpu[] = "encoded on the CPU";

static const way encodings[] = {
    {"choose pixels plan:paged run:paged scan:paged ", .note = on_device, .by_lane = true},
    {"choose pixels plan:pinned run:pinned ", .photos = 1, .note = on_device},
    {"choose pixels plan:pinned plan:paged run:paged scan:paged ", "plan:pinned", LAP_E_DEVICE, 1,
        .note = on_device, .by_lane = true},
    {"choose pixels plan:paged copy ", .not_encoded = true, .note = on_cpu},
    {"choose pixels plan:paged run:paged copy ", .no_scan = true, .note = on_cpu},
    {"choose pixels plan:paged ", "plan:paged", LAP_E_DEVICE, .code = LAP_E_DEVICE, .note = on_cpu},
    {"choose pixels plan:paged run:paged ", "run:paged", LAP_E_DEVICE, .code = LAP_E_DEVICE, .note = on_cpu},
    {"choose pixels plan:paged run:paged free plan:pinned run:pinned ", "run:paged", LAP_E_MEMORY,
        .note = on_device},
    {"choose pixels plan:paged run:paged scan:paged free plan:pinned run:pinned ", "scan:paged", LAP_E_MEMORY,
        .note = on_device},
    {"choose pixels plan:pinned run:pinned free plan:pinned run:pinned ", "run:pinned", LAP_E_MEMORY, 1,
        .code = LAP_E_MEMORY, .note = on_cpu},
    {"choose pixels plan:paged run:paged scan:paged ", "scan:paged", LAP_E_DEVICE, .code = LAP_E_DEVICE,
        .note = on_cpu},
    {"choose pixels take plan:paged run:paged scan:paged ", .is_busy = true, .note = on_device,
        .by_lane = true},
    {"choose pixels take plan:lane-paged run:lane-paged scan:lane-paged give ", .is_busy = true,
        .has_lane = true, .note = on_device, .by_lane = true},
    {"choose pixels take plan:lane-pinned run:lane-pinned give ", .photos = 1, .is_busy = true,
        .has_lane = true, .note = on_device},
    {"choose pixels take plan:lane-paged give plan:paged run:paged scan:paged ", .is_busy = true,
        .has_lane = true, .is_large = true, .note = on_device, .by_lane = true},
    {"choose pixels take plan:lane-paged give copy ", .not_encoded = true, .is_busy = true, .has_lane = true,
        .note = on_cpu},
    {"choose pixels take plan:lane-paged run:lane-paged give plan:paged run:paged scan:paged ",
        "run:lane-paged", LAP_E_MEMORY, .is_busy = true, .has_lane = true, .note = on_device,
        .by_lane = true},
    {"choose pixels take plan:lane-paged run:lane-paged give ", "run:lane-paged", LAP_E_DEVICE,
        .is_busy = true, .has_lane = true, .code = LAP_E_DEVICE, .note = on_cpu},
    {"choose pixels plan:paged copy ", "copy", LAP_E_DEVICE, .not_encoded = true, .code = LAP_E_DEVICE,
        .note = on_cpu},
    {"choose pixels ", "pixels", LAP_E_USAGE, .code = LAP_E_USAGE, .note = on_cpu},
};

/* What the CPU makes of the pixels. */
static void assert_encoded_here(const void *out, size_t size)
{
    void *file;
    size_t its;
    lap_settings s = settings;
    s.codec = LAP_CODEC_CPU;
    assert_int_equal(lap_encode(&expected, &s, &file, &its, NULL), LAP_OK);
    assert_int_equal(size, its);
    assert_memory_equal(out, file, size);
    free(file);
}

static void each_way_to_encode(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof encodings / sizeof *encodings; i++) {
        const way *w = &encodings[i / 2];
        const bool reports_it = i % 2;
        lap_report report = {.bytes_out = 1};
        lap_error err = {0};
        void *out = &report;
        size_t size = 7;
        prepare(w);
        dev.counts_time = true;
        const lap_code code =
            lap_stream_encode(&stream, &expected, &settings, &out, &size, reports_it ? &report : NULL, &err);
        dev.counts_time = false;
        assert_string_equal(dev.log, w->log);
        assert_int_equal(code, w->code);
        assert_int_equal(dev.direction, LAP_DEVICE_ENCODES);
        const bool is_there = w->note == on_device;
        if (strstr(w->log, "plan:")) {
            assert_true(dev.wish.result == &expected && dev.wish.head && !dev.wish.filters);
            assert_true(dev.wish.width == WIDTH && dev.wish.height == HEIGHT && dev.wish.channels == 3);
        }
        if (code != LAP_OK) {
            assert_null(out);
            assert_int_equal(size, 0);
            assert_non_null(strstr(err.message, " failed"));
        } else if (is_there) { /* it ends with the scan and the marker */
            assert_memory_equal(out, "\xff\xd8", 2);
            assert_memory_equal((uint8_t *)out + size - 6, w->by_lane ? "SCAN\xff\xd9" : "scan\xff\xd9", 6);
        } else {
            assert_encoded_here(out, size);
        }
        if (reports_it) {
            assert_string_equal(report.note, w->note);
            assert_int_equal(report.bytes_out, size);
            assert_int_equal(report.status, code == LAP_OK ? LAP_DONE : LAP_FAILED);
            assert_int_equal(report.width, code == LAP_OK ? WIDTH : 0);
            const int scans = strstr(w->log, "scan:paged free")     ? 2
                              : is_there || strstr(w->log, "scan:") ? 1
                                                                    : 0;
            if (code == LAP_OK) /* of the device, writing and finishing */
                assert_true(report.ms.encode == (is_there ? 2 : 1));
            assert_true(report.ms.download == scans + (strstr(w->log, "copy") ? 1 : 0));
        }
        free(out);
    }
}

static void what_the_cpu_encodes_for_a_stream(void **state)
{
    (void)state;
    for (int n = 0; n < 7; n++) {
        lap_report report;
        void *out = NULL;
        size_t size;
        prepare(&(way){.log = ""});
        settings.progressive = n == 1;
        settings.optimize = n == 2;
        settings.format = n == 3 ? "png" : n == 6 ? "jpg" : NULL;
        settings.codec = n == 4 ? LAP_CODEC_TURBO : LAP_CODEC_AUTO;
        dev.reason = n == 5 ? "none" : NULL;
        dev.code = LAP_E_UNSUPPORTED;
        const lap_code code = lap_stream_encode(&stream, &expected, &settings, &out, &size, &report, NULL);
        assert_int_equal(code, LAP_OK);
        assert_string_equal(report.note, n == 0 || n == 6 ? on_device : on_cpu);
        assert_string_equal(dev.log, n == 0 || n == 6 ? "choose pixels plan:paged run:paged scan:paged "
                                     : n == 4         ? "pixels copy "
                                                      : "choose pixels copy ");
        if (n > 0 && n < 6)
            assert_encoded_here(out, size);
        free(out);
    }
}

static void what_a_stream_does_not_encode(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        lap_view view = expected;
        lap_report report;
        lap_error err = {0};
        void *out = &report;
        size_t size = 7;
        prepare(&(way){.log = ""});
        view.channels = n == 0 ? 2 : 3;
        settings.quality = n == 1 ? 101 : 90;
        dev.fails = n == 2 ? "choose" : NULL;
        const lap_code code = lap_stream_encode(&stream, &view, &settings, &out, &size, &report, &err);
        assert_int_equal(code, n == 2 ? LAP_E_DEVICE : LAP_E_USAGE);
        assert_string_equal(err.message, n == 0   ? "pixels with 2 channels cannot be encoded"
                                         : n == 1 ? "quality 101 is not in 1..100"
                                                  : "choose failed");
        assert_null(out);
        assert_int_equal(size, 0);
        assert_int_equal(report.error.code, code);
    }
}

/* Of two photos in a chain; if it failed, or made no right scan, each is encoded alone, or by the CPU. */
static void a_chain_is_encoded(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        const lap_view both[] = {expected, expected};
        lap_report two[2];
        void *out[2];
        size_t sizes[2];
        prepare(&(way){.log = ""});
        dev.needs = n == 3 ? LAP_DEVICE_SMALL_BYTES + 1 : MB; /* 3: too large for a chain */
        dev.has_scan = n != 1;
        dev.fails = n == 2 ? "chain" : NULL;
        assert_int_equal(lap_stream_encode_batch(&stream, both, 2, &settings, out, sizes, two, NULL), LAP_OK);
        assert_int_equal(dev.chain_count, n < 3);
        for (int k = 0; k < 2; k++) {
            assert_string_equal(two[k].note, n == 1 ? on_cpu : on_device);
            if (n == 1)
                assert_encoded_here(out[k], sizes[k]);
            else
                assert_memory_equal(
                    (uint8_t *)out[k] + sizes[k] - 6, n >= 2 && k == 0 ? "SCAN\xff\xd9" : "scan\xff\xd9", 6);
            free(out[k]);
        }
    }
}

static void a_chain_is_decoded(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        const void *const files[] = {jpeg.data, jpeg.data};
        const size_t sizes[] = {jpeg.size, jpeg.size};
        lap_view both[2] = {{0}};
        lap_report two[2];
        prepare(&(way){.log = ""});
        dev.needs = n == 3 ? LAP_DEVICE_SMALL_BYTES + 1 : MB;
        dev.has_source = n != 1;
        dev.fails = n == 2 ? "chain" : NULL;
        assert_int_equal(
            lap_stream_decode_batch(&stream, files, sizes, 2, &settings, both, two, NULL), LAP_OK);
        assert_int_equal(dev.chain_count, n < 3);
        for (int k = 0; k < 2; k++) {
            assert_string_equal(two[k].note, n == 1 ? by_cpu : by_device);
            assert_true((two[k].ms.filter >= 1000) == (n >= 2)); /* alone */
            if (n == 1)
                assert_pixels(&both[k]);
            free(both[k].base);
        }
    }
}

/* ---- pixels on the device --------------------------------------------------------------------------- */

lap_code __wrap_lap_views_run_filter(const lap_views_filter *filter, lap_views_space *space,
    const lap_view *in, const lap_view *out, void *queue, lap_error *err);
lap_code __wrap_lap_views_run_filter(const lap_views_filter *filter, lap_views_space *space,
    const lap_view *in, const lap_view *out, void *queue, lap_error *err)
{
    assert_true(space == &stream.space && queue == &dev && in && out);
    dev.filter = *filter;
    dev.params = *filter->params;
    return step("filter", err);
}

lap_code __wrap_lap_count_on_device(const lap_view *view, const char *backend, lap_views_space *space,
    void *queue, uint64_t sums[4][256], lap_error *err);
lap_code __wrap_lap_count_on_device(const lap_view *view, const char *backend, lap_views_space *space,
    void *queue, uint64_t sums[4][256], lap_error *err)
{
    assert_true(view->channels == 3 && space == &stream.space && queue == &dev);
    assert_string_equal(backend, "the backend");
    for (int c = 0; c < 3; c++)
        sums[c][9] += 5;
    return step("count", err);
}

static void pixels_are_filtered_and_counted(void **state)
{
    (void)state;
    static const char *const fails[] = {NULL, "input", "output", "rung", "filter"};
    static const char *const logs[] = {"input output rung filter ", "input ", "input output ",
        "input output rung ", "input output rung filter "};
    static uint8_t edges[WIDTH * HEIGHT * 3];
    const lap_view out = {edges, WIDTH * 3, WIDTH, HEIGHT, 3, 0, LAP_ON_HOST};
    for (int n = 0; n < 6; n++) {
        lap_error err = {0};
        lap_params params = lap_settings_default().params;
        prepare(&(way){.log = ""});
        params.scale = 3;
        stream.stream = &dev;
        dev.fails = n < 5 ? fails[n] : NULL;
        dev.code = LAP_E_DEVICE;
        const lap_code code = lap_stream_filter(
            &stream, &expected, &out, "the backend", &params, n == 5 ? (lap_border)99 : LAP_WRAP, &err);
        assert_int_equal(code, n == 0 ? LAP_OK : n == 5 ? LAP_E_USAGE : LAP_E_DEVICE);
        assert_string_equal(dev.log, n == 5 ? "" : logs[n]);
        if (n == 0) {
            assert_true(dev.filter.rung == &rung && dev.filter.border == LAP_WRAP);
            assert_true(dev.params.scale == 3 && dev.params.kernel.abs_sum == params.kernel.abs_sum);
        }
    }
    const lap_params none = {.scale = 0}; /* means the defaults */
    prepare(&(way){.log = ""});
    stream.stream = &dev;
    assert_int_equal(
        lap_stream_filter(&stream, &expected, &out, "the backend", &none, LAP_WRAP, NULL), LAP_OK);
    assert_true(dev.params.scale == lap_settings_default().params.scale);
    assert_string_equal(dev.params.kernel.name, lap_settings_default().params.kernel.name);
    for (int n = 0; n < 4; n++) {
        lap_stats stats;
        prepare(&(way){.log = ""});
        stream.stream = &dev;
        dev.fails = n == 1 ? "pixels" : n == 2 ? "count" : NULL;
        dev.code = LAP_E_DEVICE;
        const lap_code code =
            lap_stream_stats(&stream, &expected, "the backend", n == 3 ? 256 : 8, &stats, NULL);
        assert_int_equal(code, n == 0 ? LAP_OK : n == 3 ? LAP_E_USAGE : LAP_E_DEVICE);
        assert_string_equal(dev.log, n == 1 ? "pixels " : "pixels count ");
        if (n == 0) {
            assert_true(stats.threshold == 8 && stats.channels == 3);
            assert_int_equal(stats.channel[2].histogram[9], 5);
        }
    }
}

static int begin_tests(void **state)
{
    (void)state;
    const jpeg_kind kind = {.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"};
    context = lap_context_create(1, NULL);
    jpeg = jpeg_make(&kind, WIDTH, HEIGHT);
    settings = lap_settings_default();
    expected = (lap_view){.place = LAP_ON_HOST};
    if (!context)
        return -1;
    return lap_decode_view(context, jpeg.data, jpeg.size, &settings, &expected, NULL, NULL) == LAP_OK ? 0
                                                                                                      : -1;
}

static int end_tests(void **state)
{
    (void)state;
    lap_context_destroy(context);
    free(jpeg.data);
    free(expected.base);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_photo_is_begun_and_finished),
        cmocka_unit_test(the_first_failure_is_the_calls),
        cmocka_unit_test(no_photo_is_begun_after_a_failure),
        cmocka_unit_test(photos_get_stagings),
        cmocka_unit_test(a_batch_uses_the_threads_it_may),
        cmocka_unit_test(small_photos_are_chained),
        cmocka_unit_test(what_goes_into_a_chain),
        cmocka_unit_test(a_device_is_chosen),
        cmocka_unit_test(each_way_to_decode),
        cmocka_unit_test(each_way_to_filter),
        cmocka_unit_test(a_filter_is_checked),
        cmocka_unit_test(what_a_stream_does_not_decode),
        cmocka_unit_test(the_cpu_decodes_for_a_stream),
        cmocka_unit_test(waiting_does_not_count),
        cmocka_unit_test(each_way_to_encode),
        cmocka_unit_test(what_the_cpu_encodes_for_a_stream),
        cmocka_unit_test(what_a_stream_does_not_encode),
        cmocka_unit_test(a_chain_is_encoded),
        cmocka_unit_test(a_chain_is_decoded),
        cmocka_unit_test(pixels_are_filtered_and_counted),
    };
    return cmocka_run_group_tests(tests, begin_tests, end_tests);
}
