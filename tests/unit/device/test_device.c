/* Photos on a device that is host memory: the calls of CUDA for each photo, in order, where its pixels lie,
 * and what becomes of memory if a call fails; the memory of hosts and streams, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "coding/jpeg_frame_read.h"
#include "cuda/device/device_rungs.h"
#include "cuda/device/queue.h"
#include "device/device_stream.h"
#include "device/devices.h"
#include "libjpeg/known_picture.h"
#include "rungs/backend.h"

enum { DEVICE = 3, COUNTER = 20224 /* 20000, rounded up */ };

/* ---- a device that is host memory ------------------------------------------------------------------------
 */

static struct device {
    char calls[400];
    int count, fails; /* which call fails, counted from 1; 0: none */
    lap_code how;     /* with which code; LAP_OK: LAP_E_DEVICE */
    int alive;        /* memory, streams and events */
    int marks;
    bool overflows, is_quiet, happened; /* quiet: only what does work is noted */
    lap_cuda_jpeg_photo photos[LAP_DEVICE_CHAIN];
    lap_cuda_jpeg_picture pictures[LAP_DEVICE_CHAIN];
    lap_view decoded[LAP_DEVICE_CHAIN], encoded[LAP_DEVICE_CHAIN];
    lap_cuda_table tables[2];
    bool has_marks[2][3];    /* of decoding and encoding: first, last but one, last */
    lap_view from[2], to[2]; /* of a filter or a turn, and of a copy */
    size_t bytes[20];
    int sizes, allocations; /* allocations: how many there are; -1: enough */
    bool is_kept;
    lap_cuda_jpeg_target target;
    const char *unavailable, *decoding, *encoding;
} there;

static lap_code called(const char *what, lap_error *err)
{
    const size_t at = strlen(there.calls);
    assert_true(at + 8 < sizeof there.calls);
    if (!there.is_quiet || strchr("DXuvmbFTHcd", *what))
        snprintf(there.calls + at, sizeof there.calls - at, "%s", what);
    if (++there.count != there.fails)
        return LAP_OK;
    const lap_code code = there.how == LAP_OK ? LAP_E_DEVICE : there.how;
    return lap_fail(err, code, "call %d", there.count);
}

static lap_code made(const char *what, size_t bytes, void **memory, lap_error *err)
{
    const lap_code code = called(what, err);
    *memory = code == LAP_OK ? aligned_alloc(4096, (bytes / 4096 + 1) * 4096) : NULL;
    there.alive += *memory != NULL;
    if (there.sizes < 20)
        there.bytes[there.sizes++] = bytes;
    return code;
}

static void freed(void *memory)
{
    there.alive -= memory != NULL;
    free(memory);
}

#define FAKE(type, name, parameters) \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

FAKE(lap_code, lap_cuda_stream_create, (int device, void **stream, lap_error *err))
{
    assert_int_equal(device, DEVICE);
    return made("S", 1, stream, err);
}

FAKE(void, lap_cuda_stream_destroy, (int device, void *stream))
{
    assert_int_equal(device, DEVICE);
    freed(stream);
}

FAKE(lap_code, lap_cuda_event_create, (int device, void **event, lap_error *err))
{
    assert_int_equal(device, DEVICE);
    return made("E", sizeof(int), event, err);
}

FAKE(void, lap_cuda_event_destroy, (int device, void *event))
{
    assert_int_equal(device, DEVICE);
    freed(event);
}

FAKE(lap_code, lap_cuda_event_record, (int device, void *event, void *stream, lap_error *err))
{
    (void)stream;
    assert_int_equal(device, DEVICE);
    *(int *)event = there.marks++;
    return called("r", err);
}

FAKE(lap_code, lap_cuda_event_happened, (int device, void *event, bool *happened, lap_error *err))
{
    assert_int_equal(device, DEVICE);
    *happened = there.happened && *(int *)event == there.marks - 1;
    return called("?", err);
}

/* Marks that follow each other are 1, 10, 100, ... apart. */
FAKE(lap_code, lap_cuda_event_ms, (int device, void *from, void *to, double *ms, lap_error *err))
{
    assert_int_equal(device, DEVICE);
    assert_int_equal(*(int *)from + 1, *(int *)to);
    *ms = 1;
    for (int i = 0; i < *(int *)from; i++)
        *ms *= 10;
    return called("t", err);
}

FAKE(lap_code, lap_cuda_alloc, (int device, size_t bytes, void **memory, lap_error *err))
{
    assert_int_equal(device, DEVICE);
    return made("a", bytes, memory, err);
}

FAKE(void, lap_cuda_free, (int device, void *memory))
{
    assert_int_equal(device, DEVICE);
    freed(memory);
}

FAKE(lap_code, lap_cuda_pinned_alloc, (int device, size_t bytes, void **memory, lap_error *err))
{
    assert_int_equal(device, DEVICE);
    return made("p", bytes, memory, err);
}

FAKE(void, lap_cuda_pinned_free, (void *memory))
{
    freed(memory);
}

static int pinned; /* memories of the caller */

FAKE(lap_code, lap_cuda_pin, (int device, void *memory, size_t bytes, lap_error *err))
{
    assert_int_equal(device, DEVICE);
    assert_true(memory && bytes % 4096 == 0 && (uintptr_t)memory % 64 == 0);
    const lap_code code = called("i", err);
    pinned += code == LAP_OK;
    return code;
}

FAKE(void, lap_cuda_unpin, (void *memory))
{
    assert_non_null(memory);
    pinned--;
}

FAKE(lap_code, lap_cuda_copy,
    (int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err))
{
    (void)stream;
    assert_int_equal(device, DEVICE);
    if (there.sizes < 20)
        there.bytes[there.sizes++] = bytes;
    memcpy(to, from, bytes);
    return called("c", err);
}

FAKE(lap_code, lap_cuda_clear, (int device, void *memory, size_t bytes, void *stream, lap_error *err))
{
    (void)stream;
    assert_int_equal(device, DEVICE);
    if (there.sizes < 20)
        there.bytes[there.sizes++] = bytes;
    memset(memory, 0, bytes);
    return called("0", err);
}

/* After a failure, nobody hears of a second one. */
FAKE(lap_code, lap_cuda_sync, (int device, void *stream, lap_error *err))
{
    (void)stream;
    assert_int_equal(device, DEVICE);
    if (there.fails && there.count >= there.fails)
        assert_null(err);
    return called("w", err);
}

FAKE(bool, lap_cuda_view_bytes, (int width, int height, int channels, int apron, size_t *bytes))
{
    *bytes = (size_t)((width + 2 * apron) * (height + 2 * apron) * channels);
    return !there.overflows;
}

/* The view begins where its memory does: for the test to see where that is. */
FAKE(lap_view, lap_cuda_view_in, (int device, void *memory, int width, int height, int channels, int apron))
{
    return (lap_view){.base = memory,
        .stride = (ptrdiff_t)(width + 2 * apron) * channels,
        .width = width,
        .height = height,
        .channels = channels,
        .apron = apron,
        .place = device};
}

static lap_code moved(const char *what, int i, const lap_view *from, const lap_view *to, lap_error *err)
{
    there.from[i] = *from;
    there.to[i] = *to;
    return called(what, err);
}

FAKE(lap_code, lap_cuda_upload, (const lap_view *host, const lap_view *device, void *stream, lap_error *err))
{
    (void)stream;
    return moved("u", 1, host, device, err);
}

FAKE(
    lap_code, lap_cuda_download, (const lap_view *device, const lap_view *host, void *stream, lap_error *err))
{
    (void)stream;
    return moved("d", 1, device, host, err);
}

FAKE(lap_code, lap_cuda_view_copy, (const lap_view *from, const lap_view *to, void *stream, lap_error *err))
{
    (void)stream;
    return moved("v", 1, from, to, err);
}

FAKE(lap_code, lap_cuda_mirror,
    (const lap_view *in, const lap_view *out, bool left_right, void *stream, lap_error *err))
{
    (void)stream;
    return moved(left_right ? "m-" : "m|", 0, in, out, err);
}

FAKE(lap_code, lap_cuda_border, (const lap_view *view, lap_border border, void *stream, lap_error *err))
{
    (void)stream, (void)view, (void)border;
    return called("b", err);
}

FAKE(lap_code, lap_cuda_check_place, (const lap_view *view, const char *which, lap_error *err))
{
    (void)view, (void)which;
    return called("l", err);
}

static size_t scratch = 20000;

FAKE(size_t, lap_cuda_scratch_bytes, (size_t n, size_t size))
{
    assert_true(n == 0 && size == 1);
    return scratch;
}

FAKE(lap_code, lap_cuda_jpeg_decode_enqueue,
    (const lap_cuda_jpeg_photo *photos, int count, const lap_cuda_table *table, void *stream,
        void *const *events, lap_error *err))
{
    (void)stream;
    memcpy(there.photos, photos, (size_t)count * sizeof *photos);
    for (int i = 0; i < count; i++)
        there.decoded[i] = *photos[i].pixels;
    there.tables[0] = *table;
    for (int i = 0; i < 3; i++)
        there.has_marks[0][i] = events[i < 2 ? i : LAP_CUDA_JPEG_STAGES] != NULL;
    for (int i = 0; i <= LAP_CUDA_JPEG_STAGES; i++)
        if (events[i])
            *(int *)events[i] = there.marks++;
    char what[8];
    snprintf(what, sizeof what, "D%d", count);
    return called(what, err);
}

FAKE(lap_code, lap_cuda_jpeg_encode_enqueue,
    (const lap_cuda_jpeg_picture *pictures, int count, const lap_cuda_table *table, void *stream,
        void *const *events, lap_error *err))
{
    (void)stream;
    memcpy(there.pictures, pictures, (size_t)count * sizeof *pictures);
    for (int i = 0; i < count; i++)
        there.encoded[i] = *pictures[i].pixels;
    there.tables[1] = *table;
    for (int i = 0; i < 3; i++)
        there.has_marks[1][i] = events[i == 0 ? 0 : LAP_CUDA_JPEG_ENCODE_STAGES - 2 + i] != NULL;
    for (int i = 0; i <= LAP_CUDA_JPEG_ENCODE_STAGES; i++)
        if (events[i] && !(i == 0 && there.marks == 0))
            *(int *)events[i] = there.marks++;
    char what[8];
    snprintf(what, sizeof what, "X%d", count);
    return called(what, err);
}

FAKE(const void *, lap_cuda_jpeg_encode_scan, (const lap_cuda_jpeg_encode_plan *plan, const void *workspace))
{
    (void)plan;
    return (const uint8_t *)workspace + 5;
}

static char ranges[100]; /* for profilers: those that were begun and ended */
static int open_ranges;

FAKE(void, lap_cuda_range_begin, (const char *name))
{
    assert_int_equal(open_ranges++, 0);
    strncat(ranges, strchr(name, ' '), sizeof ranges - strlen(ranges) - 1);
}

FAKE(void, lap_cuda_range_end, (void))
{
    assert_int_equal(--open_ranges, 0);
}

/* The stream's mutex is locked once at a time, and unlocked by those who have it. */
static lap_stream *the_stream;
static int locks;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
FAKE(int, pthread_mutex_lock, (pthread_mutex_t * mutex))
{
    if (the_stream && mutex == &the_stream->lock)
        assert_int_equal(locks++, 0);
    return __real_pthread_mutex_lock(mutex);
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
FAKE(int, pthread_mutex_unlock, (pthread_mutex_t * mutex))
{
    if (the_stream && mutex == &the_stream->lock)
        assert_int_equal(--locks, 0);
    return __real_pthread_mutex_unlock(mutex);
}

static int broadcasts;

int __real_pthread_cond_broadcast(pthread_cond_t *condition);
FAKE(int, pthread_cond_broadcast, (pthread_cond_t * condition))
{
    broadcasts++;
    return __real_pthread_cond_broadcast(condition);
}

static int devices, kept; /* how many there are; users of kept memory */
static const char *why_none;

FAKE(int, lap_cuda_count, (const char **reason))
{
    if (reason)
        *reason = why_none;
    return devices;
}

FAKE(void, lap_cuda_kept_begin, (void))
{
    kept++;
}

FAKE(void, lap_cuda_kept_end, (void))
{
    kept--;
}

FAKE(lap_code, lap_cuda_view_take,
    (int device, int width, int height, int channels, int apron, void *stream, lap_view *view,
        lap_error *err))
{
    void *memory;
    (void)stream;
    assert_int_equal(device, DEVICE);
    const lap_code code =
        made("k", (size_t)((width + 2 * apron) * (height + 2 * apron) * channels), &memory, err);
    *view = code == LAP_OK ? __wrap_lap_cuda_view_in(device, memory, width, height, channels, apron)
                           : (lap_view){0};
    return code;
}

FAKE(void, lap_cuda_view_give, (lap_view * view))
{
    freed(view->base);
    *view = (lap_view){0};
}

static void (*meanwhile)(void); /* what another thread does while this one waits */

int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
FAKE(int, pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex))
{
    if (!meanwhile)
        return __real_pthread_cond_wait(condition, mutex);
    pthread_mutex_unlock(mutex);
    meanwhile(); /* another thread has the mutex meanwhile */
    return pthread_mutex_lock(mutex);
}

static bool may;

FAKE(lap_code, lap_cuda_info, (int device, lap_device_info *info, lap_error *err))
{
    assert_int_equal(device, DEVICE);
    info->free_bytes = 12345;
    return called("n", err);
}

FAKE(bool, lap_device_possible, (const char **reason))
{
    *reason = "none here";
    return may;
}

FAKE(int, lap_cuda_to_start, (void))
{
    return 7;
}

FAKE(bool, lap_cuda_may_pin, (int device))
{
    assert_int_equal(device, DEVICE);
    return may;
}

/* ---- rungs ------------------------------------------------------------------------------------------------
 */

static lap_code do_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)params;
    assert_true(exec->threads == 1);
    return moved("F", 0, in, out, exec->err);
}

static lap_view_pairs pairs;

static lap_code do_filter_many(
    const lap_view_pairs *rows, lap_border border, const lap_params *params, const lap_exec *exec)
{
    (void)border, (void)params;
    pairs = *rows;
    return called("F+", exec->err);
}

static lap_code do_transpose(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return moved("T", 0, in, out, exec->err);
}

static lap_code do_histogram(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    assert_null(counts);
    ((uint64_t *)exec->scratch)[5] = (uint64_t)in->apron + 7;
    return called("H", exec->err);
}

FAKE(lap_code, lap_rung_find_on_device,
    (lap_op op, const char *name, int device, const lap_rung **rung, lap_error *err))
{
    static const lap_rung transpose = {.device = 1, .run.transpose = do_transpose},
                          histogram = {.device = 1, .run.histogram = do_histogram};
    assert_true(!name && device == DEVICE);
    *rung = op == LAP_OP_TRANSPOSE ? &transpose : &histogram;
    return called("", err);
}

/* ---- plans and reasons ------------------------------------------------------------------------------------
 */

static lap_jpeg_frame frame;
static int unreadable; /* 1: the file; 2: it cannot be decoded there */

FAKE(bool, lap_jpeg_frame_read, (const uint8_t *bytes, size_t size, lap_jpeg_frame *to))
{
    (void)bytes, (void)size;
    *to = frame;
    return unreadable != 1;
}

FAKE(bool, lap_cuda_jpeg_decode_plan,
    (const lap_jpeg_frame *of, bool gray, size_t scan_bytes, const lap_cuda_jpeg_tuning *tuning,
        lap_cuda_jpeg_plan *plan))
{
    assert_null(tuning);
    *plan = (lap_cuda_jpeg_plan){
        .frame = *of, .channels = gray ? 1 : 3, .scan_bytes = scan_bytes, .staging_bytes = 5000};
    return unreadable != 2;
}

FAKE(void, lap_cuda_jpeg_decode_stage_tables, (const lap_cuda_jpeg_plan *plan, void *staging, bool is_kept))
{
    memset(staging, 1, plan->staging_bytes);
    there.is_kept = is_kept;
}

FAKE(bool, lap_cuda_jpeg_encode_plan_make,
    (const lap_cuda_jpeg_target *target, size_t capacity, lap_cuda_jpeg_encode_plan *plan))
{
    there.target = *target;
    *plan = (lap_cuda_jpeg_encode_plan){.target = *target, .capacity = capacity ? capacity : 9000};
    return target->width != 13;
}

FAKE(const char *, lap_cuda_unavailable, (void))
{
    return there.unavailable;
}

FAKE(const char *, lap_known_decoding_differs, (void))
{
    return there.decoding;
}

FAKE(const char *, lap_known_encoding_differs, (void))
{
    return there.encoding;
}

void *__real_calloc(size_t count, size_t size);
FAKE(void *, calloc, (size_t count, size_t size))
{
    if (there.allocations == 0)
        return NULL;
    there.allocations -= there.allocations > 0;
    return __real_calloc(count, size);
}

static int set_up(void **state)
{
    (void)state;
    there = (struct device){.allocations = -1};
    unreadable = pinned = 0;
    frame = (lap_jpeg_frame){.width = 20, .height = 10, .components = 3, .scan_begin = 40};
    return 0;
}

static void assert_calls(const char *wanted, const char *file, int line)
{
    if (strcmp(there.calls, wanted) != 0)
        fail_msg("%s:%d: \"%s\" instead of \"%s\"", file, line, there.calls, wanted);
    there.calls[0] = 0;
}
#define CALLS(wanted) assert_calls(wanted, __FILE__, __LINE__)

/* ---- how much memory a photo needs ---------------------------------------------------------------- */

enum { W = 20, H = 10, CH = 3 };

/* With all steps. Its source needs 24 x 14 x 3 bytes, its result 20 x 10 x 3: 1024 and 768, rounded up. */
static lap_device_staging whole(void)
{
    static uint8_t file[100], tables[100], scan[100];
    static lap_cuda_jpeg_result decoded;
    static lap_cuda_jpeg_encoded encoded;
    static lap_photo_counts counts;
    lap_device_staging s = {.device = DEVICE,
        .kind = LAP_HOST_PINNED,
        .decoded = &decoded,
        .encoded = &encoded,
        .counts = &counts,
        .bytes = file,
        .turn = LAP_TURN_NONE,
        .width = W,
        .height = H,
        .channels = CH,
        .is_decoded = true,
        .is_filtered = true,
        .is_encoded = true};
    s.tables.bytes = tables;
    s.scan.bytes = scan;
    s.decode.workspace_bytes = 300;
    s.encode.workspace_bytes = 700;
    s.decode.frame.scan_begin = 40;
    return s;
}

static void test_needs(void **state)
{
    (void)state;
    enum { SOURCE = 1024, RESULT = 768, CODERS = 768 };
    static uint8_t pixel;
    lap_device_staging s = whole();
    assert_int_equal(lap_device_slot_needs(&s), CODERS + SOURCE + RESULT);
    s.decode.workspace_bytes = 769;
    assert_int_equal(lap_device_slot_needs(&s), 1024 + SOURCE + RESULT);
    s.decode.workspace_bytes = 768;
    assert_int_equal(lap_device_slot_needs(&s), CODERS + SOURCE + RESULT);
    s.is_counted = true;
    assert_int_equal(lap_device_slot_needs(&s), 2 * COUNTER + SOURCE + RESULT);
    scratch = COUNTER;
    assert_int_equal(lap_device_slot_needs(&s), 2 * COUNTER + SOURCE + RESULT);
    scratch = 20000;
    s = whole();
    s.source.base = &pixel;
    assert_int_equal(lap_device_slot_needs(&s), CODERS + RESULT);
    s.result.base = &pixel;
    assert_int_equal(lap_device_slot_needs(&s), CODERS);
    s = whole();
    s.result.base = &pixel;
    assert_int_equal(lap_device_slot_needs(&s), CODERS + SOURCE);
    for (int turn = 2; turn <= 8; turn++) { /* the picture as it is stored lies where the result will */
        s.turn = (lap_turn)turn;
        assert_int_equal(lap_device_slot_needs(&s), CODERS + SOURCE + RESULT);
    }
    s = whole();
    s.is_filtered = false;
    assert_int_equal(lap_device_slot_needs(&s), CODERS + SOURCE);
    s.is_decoded = false;
    assert_int_equal(lap_device_slot_needs(&s), CODERS);
    s.is_filtered = true;
    assert_int_equal(lap_device_slot_needs(&s), CODERS + SOURCE + RESULT);
    s = whole();
    s.decode.workspace_bytes = SIZE_MAX;
    assert_int_equal(lap_device_slot_needs(&s), 0);
    s.decode.workspace_bytes = SIZE_MAX - 1023;
    assert_int_equal(lap_device_slot_needs(&s), 0);
    s.decode.workspace_bytes = SIZE_MAX - 255 - 1024 - 768;
    assert_int_equal(lap_device_slot_needs(&s), SIZE_MAX - 255);
    s.decode.workspace_bytes += 1;
    assert_int_equal(lap_device_slot_needs(&s), 0);
    there.overflows = true;
    s = whole();
    assert_int_equal(lap_device_slot_needs(&s), 0);
    s.source.base = &pixel;
    assert_int_equal(lap_device_slot_needs(&s), 0);
    s.result.base = &pixel;
    assert_int_equal(lap_device_slot_needs(&s), CODERS);
    s.turn = LAP_TURN_90;
    assert_int_equal(lap_device_slot_needs(&s), 0);
    const size_t row = 512 + 1536 + sizeof(lap_view_pair);
    assert_int_equal(lap_device_slot_chain_needs(1000, 1), 1000);
    assert_int_equal(lap_device_slot_chain_needs(1000, 2), 1000 + 2 * row);
    assert_int_equal(lap_device_slot_chain_needs(1000, 64), 1000 + 64 * row);
}

/* ---- slots ---------------------------------------------------------------------------------------- */

static const lap_rung card = {.device = 1, .run.filter = do_filter},
                      card_many = {.device = 1, .run.filter = do_filter, .filter_many = do_filter_many};
static lap_params params;

static void test_slots(void **state)
{
    (void)state;
    lap_device_slot *slot;
    lap_error err = {0};
    for (int fails = 7; fails >= 0; fails--) {
        there = (struct device){.fails = fails, .allocations = -1};
        assert_int_equal(lap_device_slot_create(DEVICE, &slot, &err), fails ? LAP_E_DEVICE : LAP_OK);
        assert_int_equal(slot != NULL, fails == 0);
        assert_int_equal(strlen(there.calls), fails ? fails : 7);
        assert_int_equal(there.alive, fails ? 0 : 7);
    }
    CALLS("SEEEEEE");
    lap_device_slot_without_times(slot);
    assert_int_equal(there.alive, 1);
    lap_device_slot_destroy(slot);
    assert_int_equal(there.alive, 0);
    lap_device_slot_destroy(NULL);
    lap_device_slot_abandon(NULL);
    there.allocations = 0;
    assert_int_equal(lap_device_slot_create(DEVICE, &slot, &err), LAP_E_MEMORY);
    assert_true(!slot && strcmp(err.message, "out of memory") == 0);
    there.allocations = -1;
    /* The caller's stream stays. */
    int stream;
    assert_int_equal(lap_device_slot_create_on(DEVICE, &stream, &slot, &err), LAP_OK);
    assert_true(there.alive == 0 && lap_device_slot_room(slot) == 0);
    static const struct {
        size_t bytes, room;
        int fails;
        const char *calls;
    } steps[] = {{0, 0, 0, ""}, {1000, 1000, 0, "a0"}, {1000, 1000, 0, ""}, {999, 999, 0, "a0"},
        {2000, 0, 1, "a"}, {3000, 3000, 0, "a0"}, {0, 0, 0, ""}, {2000, 0, 2, "a0"}, {0, 0, 0, ""},
        {1001, 1001, 0, "a0"}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        there.count = there.sizes = 0;
        there.fails = steps[i].fails;
        assert_int_equal(
            lap_device_slot_resize(slot, steps[i].bytes, &err), steps[i].fails ? LAP_E_DEVICE : LAP_OK);
        assert_int_equal(lap_device_slot_room(slot), steps[i].room);
        assert_true(!steps[i].calls[0] || there.bytes[0] == steps[i].bytes);
        assert_true(strlen(steps[i].calls) < 2 || there.bytes[1] == steps[i].bytes);
        CALLS(steps[i].calls);
        assert_true(there.alive <= 1);
        if (steps[i].bytes == 0 && steps[i].room == 0 && i != 8)
            assert_int_equal(there.alive, 0);
    }
    there.fails = 0;
    lap_device_slot_destroy(slot);
    assert_int_equal(there.alive, 0);
}

/* The steps of one photo, each call of which fails in turn. */
static void test_steps(void **state)
{
    (void)state;
    static uint8_t pixel, host_pixel;
    static const struct {
        const char *what;
        bool decodes, filters, encodes, counts, uploads, copies;
        int turn;
        const char *calls;
    } cases[] = {
        {"all", true, true, true, false, false, false, 1, "D1bFX1"},
        {"pixels that are there", false, true, true, false, false, false, 1, "rrrbFX1"},
        {"pixels of the host", false, true, true, false, true, false, 1, "rurrbFX1"},
        {"only decoded", true, false, false, false, false, false, 1, "D1rrr"},
        {"decoded and copied", true, false, false, false, false, true, 1, "D1vrrr"},
        {"filtered and copied", true, true, false, false, false, true, 1, "D1bFvrrr"},
        {"counted", true, true, true, true, false, false, 1, "D1bF0Hc0HcX1"},
        {"mirrored", true, true, true, false, false, false, LAP_TURN_H, "D1m-bFX1"},
        {"upside down", true, true, true, false, false, false, LAP_TURN_V, "D1m|bFX1"},
        {"by half", true, false, true, false, false, false, LAP_TURN_180, "D1m-X1"},
        {"by a quarter", true, true, true, false, false, false, LAP_TURN_90, "D1TbFX1"},
        {"transposed", true, false, false, false, false, false, LAP_TURN_TRANSPOSE, "D1Trrr"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int timed = 0; timed < 2; timed++)
            for (int fails = 0; fails < 30; fails++) {
                lap_device_staging s = whole();
                const lap_device_staging *stagings[] = {&s};
                const lap_views_filter f = {&card, &params, LAP_ZERO};
                lap_device_slot *slot;
                lap_error err = {0};
                lap_times times = {0};
                s.is_decoded = cases[i].decodes;
                s.is_filtered = cases[i].filters;
                s.is_encoded = cases[i].encodes;
                s.is_counted = cases[i].counts;
                s.turn = (lap_turn)cases[i].turn;
                s.pixels.base = cases[i].uploads ? &host_pixel : NULL;
                s.copy.base = cases[i].copies ? &pixel : NULL;
                there = (struct device){.allocations = -1};
                assert_int_equal(lap_device_slot_create(DEVICE, &slot, &err), LAP_OK);
                if (!timed)
                    lap_device_slot_without_times(slot);
                const size_t needs = lap_device_slot_needs(&s);
                assert_int_equal(lap_device_slot_resize(slot, needs, &err), LAP_OK);
                there.calls[0] = 0;
                there.count = 0;
                there.fails = fails;
                ranges[0] = 0;
                const lap_code code = lap_device_slot_start(slot, stagings, 1, &f, &err);
                assert_string_equal(ranges, " decode filter encode");
                const int made_calls = there.count;
                char wanted[60] = "";
                for (const char *c = cases[i].calls; *c; c++)
                    if (timed || *c != 'r')
                        strncat(wanted, c, 1);
                if (fails == 0) {
                    CALLS(wanted);
                    assert_int_equal(code, LAP_OK);
                    /* Where everything lies. */
                    uint8_t *memory = cases[i].decodes   ? there.photos[0].workspace
                                      : cases[i].encodes ? there.pictures[0].workspace
                                                         : NULL;
                    const size_t source = cases[i].counts ? 2 * COUNTER : 768, result = source + 1024;
                    if (cases[i].decodes) {
                        const lap_cuda_jpeg_photo *p = &there.photos[0];
                        assert_ptr_equal(p->scan, s.bytes + 40);
                        assert_true(p->staging == s.tables.bytes && p->result == s.decoded);
                        assert_true(p->plan == &s.decode && there.tables[0].host == NULL);
                        assert_ptr_equal(
                            there.decoded[0].base, memory + (cases[i].turn > 1 ? result : source));
                        const bool swaps = cases[i].turn > 4;
                        assert_int_equal(there.decoded[0].width, swaps ? H : W);
                        assert_int_equal(there.decoded[0].height, swaps ? W : H);
                        assert_int_equal(there.decoded[0].apron, cases[i].turn > 1 ? 0 : LAP_APRON);
                        for (int k = 0; k < 3; k++)
                            assert_int_equal(there.has_marks[0][k], timed);
                    }
                    if (cases[i].encodes) {
                        const lap_cuda_jpeg_picture *p = &there.pictures[0];
                        assert_true(
                            p->plan == &s.encode && p->scan == s.scan.bytes && p->result == s.encoded);
                        assert_ptr_equal(there.encoded[0].base, memory + result);
                        for (int k = 0; k < 3; k++)
                            assert_int_equal(there.has_marks[1][k], timed);
                    }
                    if (cases[i].filters) {
                        assert_true(there.from[0].width == W && there.from[0].apron == LAP_APRON);
                        assert_true(!memory || (there.from[0].base == memory + source &&
                                                   there.to[0].base == memory + result));
                    }
                    if (cases[i].copies)
                        assert_ptr_equal(there.from[1].base, memory + (cases[i].filters ? result : source));
                    if (cases[i].uploads)
                        assert_true(there.from[1].base == &host_pixel && there.to[1].width == W);
                    if (cases[i].counts)
                        assert_true(s.counts->source[0][5] == LAP_APRON + 7 && s.counts->result[0][5] == 7);
                    there.happened = true;
                    bool through = false;
                    if (timed && strstr(cases[i].calls, "rrr") != NULL && !cases[i].encodes) {
                        assert_int_equal(lap_device_slot_is_through(slot, &through, &err), LAP_OK);
                        assert_true(through);
                    }
                    there.count = 0;
                    assert_int_equal(lap_device_slot_times(slot, &times, &err), LAP_OK);
                    assert_int_equal(there.count, timed ? 5 : 0);
                    if (timed)
                        assert_true(times.upload == 1 && times.decode == 10 && times.filter == 100 &&
                                    times.encode == 1000 && times.download == 10000);
                } else if (code != LAP_OK) {
                    /* It waits for what is enqueued already, and says what failed. */
                    char said[20];
                    snprintf(said, sizeof said, "call %d", fails);
                    assert_string_equal(err.message, said);
                    assert_int_equal(there.calls[strlen(there.calls) - 1], 'w');
                    there.calls[strlen(there.calls) - 1] = 0;
                    assert_memory_equal(wanted, there.calls, strlen(there.calls));
                    assert_int_equal(made_calls, fails + 1);
                }
                lap_device_slot_destroy(slot);
                assert_int_equal(there.alive, 0);
                if (fails > 0 && code == LAP_OK) {
                    assert_true(made_calls < fails);
                    break;
                }
            }
}

/* Memory of the caller for the source and the result; and a measured photo that is not decoded there. */
static void test_callers_memory(void **state)
{
    (void)state;
    static uint8_t source, result;
    for (int i = 0; i < 4; i++) {
        lap_device_staging s = whole();
        const lap_device_staging *stagings[] = {&s};
        const lap_views_filter f = {&card, &params, LAP_ZERO};
        lap_device_slot *slot;
        lap_error err = {0};
        if (i & 1)
            s.source = (lap_view){&source, 77, W, H, CH, LAP_APRON, DEVICE};
        if (i & 2)
            s.result = (lap_view){&result, 78, W, H, CH, 0, DEVICE};
        there = (struct device){.allocations = -1};
        assert_int_equal(lap_device_slot_create(DEVICE, &slot, &err), LAP_OK);
        assert_int_equal(lap_device_slot_resize(slot, lap_device_slot_needs(&s), &err), LAP_OK);
        assert_int_equal(lap_device_slot_start(slot, stagings, 1, &f, &err), LAP_OK);
        uint8_t *memory = there.photos[0].workspace, *behind = memory + 768;
        assert_ptr_equal(there.decoded[0].base, i & 1 ? &source : behind);
        assert_int_equal(there.decoded[0].stride, i & 1 ? 77 : (W + 4) * CH);
        assert_ptr_equal(there.encoded[0].base, i & 2 ? &result : behind + (i & 1 ? 0 : 1024));
        assert_int_equal(there.encoded[0].stride, i & 2 ? 78 : W * CH);
        assert_true(there.from[0].base == there.decoded[0].base && there.to[0].base == there.encoded[0].base);
        lap_device_slot_destroy(slot);
        assert_int_equal(there.alive, 0);
    }
}

/* Several photos together: one behind the other, and their tables behind them. */
static void test_chains(void **state)
{
    (void)state;
    enum { EACH = 768 + 1024 + 768 };
    const size_t row = 512 + 1536 + sizeof(lap_view_pair);
    for (int count = 1; count <= 3; count++)
        for (int less = 0; less < 2; less++)
            for (int many = 0; many < 2; many++) {
                lap_device_staging s[3] = {whole(), whole(), whole()};
                const lap_device_staging *stagings[] = {&s[0], &s[1], &s[2]};
                const lap_views_filter f = {many ? &card_many : &card, &params, LAP_ZERO};
                lap_device_slot *slot;
                lap_error err = {0};
                there = (struct device){.allocations = -1};
                assert_int_equal(lap_device_slot_create(DEVICE, &slot, &err), LAP_OK);
                const size_t needs = lap_device_slot_chain_needs((size_t)count * EACH, count);
                assert_int_equal(lap_device_slot_resize(slot, needs - (size_t)less, &err), LAP_OK);
                there.calls[0] = 0;
                const lap_code code = lap_device_slot_start(slot, stagings, count, &f, &err);
                if (less) {
                    assert_int_equal(code, LAP_E_INTERNAL);
                    assert_string_equal(err.message, count == 1 ? "a slot without room for its photo"
                                                                : "a slot without room for its tables");
                    CALLS(count == 1 ? "" : "p");
                } else {
                    static const char *const calls[] = {
                        "D1bFX1", "pD2bFbFX2", "pD3bFbFbFX3", "D1bFX1", "pD2F+X2", "pD3F+X3"};
                    assert_int_equal(code, LAP_OK);
                    CALLS(calls[count - 1 + 3 * many]);
                    uint8_t *memory = there.photos[0].workspace, *tables = memory + count * EACH;
                    for (int i = 0; i < count; i++) {
                        assert_ptr_equal(there.photos[i].workspace, memory + i * EACH);
                        assert_ptr_equal(there.pictures[i].workspace, memory + i * EACH);
                        assert_ptr_equal(there.decoded[i].base, memory + i * EACH + 768);
                        assert_ptr_equal(there.encoded[i].base, memory + i * EACH + 768 + 1024);
                        assert_true(there.photos[i].plan == &s[i].decode);
                    }
                    if (count > 1) {
                        uint8_t *host = there.tables[0].host;
                        assert_ptr_equal(there.tables[0].device, tables);
                        assert_ptr_equal(there.tables[1].device, tables + count * 512);
                        assert_ptr_equal(there.tables[1].host, host + count * 512);
                        assert_int_equal(there.bytes[there.sizes - 1], 64 * row);
                    }
                    if (count > 1 && many) {
                        assert_true(pairs.count == count && pairs.there == tables + count * (512 + 1536));
                        assert_ptr_equal(pairs.rows[1].in.base, memory + EACH + 768);
                        assert_ptr_equal(pairs.rows[1].out.base, memory + EACH + 768 + 1024);
                    }
                    /* The memory for tables is kept. */
                    assert_int_equal(lap_device_slot_start(slot, stagings, count, &f, &err), LAP_OK);
                    assert_null(strchr(there.calls, 'p'));
                }
                lap_device_slot_destroy(slot);
                assert_int_equal(there.alive, 0);
            }
    /* What does not go together, and no memory for tables. */
    lap_device_staging s[2] = {whole(), whole()};
    const lap_device_staging *stagings[] = {&s[0], &s[1]}, *many[65];
    const lap_views_filter f = {&card, &params, LAP_ZERO};
    lap_device_slot *slot;
    lap_error err = {0};
    there = (struct device){.allocations = -1};
    assert_int_equal(lap_device_slot_create(DEVICE, &slot, &err), LAP_OK);
    assert_int_equal(lap_device_slot_resize(slot, 1 << 20, &err), LAP_OK);
    there.calls[0] = 0;
    there.fails = there.count + 1;
    there.how = LAP_E_MEMORY;
    assert_int_equal(lap_device_slot_start(slot, stagings, 2, &f, &err), LAP_E_DEVICE);
    assert_string_equal(err.message, "no pinned memory for the tables of several photos");
    CALLS("p");
    there.fails = 0;
    s[1].is_counted = true;
    assert_int_equal(lap_device_slot_start(slot, stagings, 2, &f, &err), LAP_E_INTERNAL);
    assert_string_equal(err.message, "photos that do not go together");
    for (int i = 0; i < 65; i++)
        many[i] = &s[0];
    assert_int_equal(lap_device_slot_start(slot, many, 65, &f, &err), LAP_E_INTERNAL);
    CALLS("");
    assert_int_equal(lap_device_slot_start(slot, many, 64, &f, &err), LAP_OK);
    lap_device_slot_destroy(slot);
    assert_int_equal(there.alive, 0);
}

/* A photo, or a chain, that is waited for: in memory that it needs. */
static void test_runs(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        const int count = 1 + i % 2;
        const bool is_timed = i & 4, has_room = i & 2;
        lap_device_staging s[2] = {whole(), whole()};
        const lap_device_staging *stagings[] = {&s[0], &s[1]};
        const lap_views_filter f = {&card, &params, LAP_ZERO};
        lap_device_slot *slot;
        lap_error err = {0};
        lap_times times = {.upload = 1000000};
        there = (struct device){.allocations = -1};
        assert_int_equal(lap_device_slot_create_on(DEVICE, NULL, &slot, &err), LAP_OK);
        if (has_room)
            assert_int_equal(lap_device_slot_resize(slot, 1 << 20, &err), LAP_OK);
        there.calls[0] = 0;
        there.count = 0;
        there.fails = i >= 8 ? (has_room ? 0 : 3) + (is_timed ? 6 : 0) + 3 : 0;
        const lap_code code =
            count == 1 ? lap_device_slot_run(slot, &s[0], &f, is_timed ? &times : NULL, &err)
                       : lap_device_slot_run_chain(slot, stagings, 2, &f, is_timed ? &times : NULL, &err);
        assert_int_equal(code, i >= 8 ? LAP_E_DEVICE : LAP_OK);
        const size_t needs = lap_device_slot_chain_needs((size_t)(2560 * count), count);
        assert_int_equal(lap_device_slot_room(slot), has_room ? 1 << 20 : needs);
        if (i < 8) {
            char wanted[60];
            snprintf(wanted, sizeof wanted, "%s%s%sw%s", has_room ? "" : "a0", is_timed ? "EEEEEE" : "",
                count == 1 ? "D1bFX1" : "pD2bFbFX2", is_timed ? "ttttt" : "");
            CALLS(wanted);
            assert_true(!is_timed || (times.upload == 1000000 + 1.0 / count && times.decode == 10.0 / count &&
                                         times.download == 10000.0 / count));
        } else {
            assert_int_equal(there.calls[strlen(there.calls) - 1], 'w');
            assert_true(times.upload == 1000000);
        }
        there.fails = 0;
        lap_device_slot_destroy(slot);
        assert_int_equal(there.alive, 0);
    }
    lap_device_staging s = whole();
    const lap_device_staging *many[3] = {&s, &s, &s};
    lap_device_slot *slot;
    lap_error err = {0};
    there = (struct device){.allocations = -1};
    assert_int_equal(lap_device_slot_create_on(DEVICE, NULL, &slot, &err), LAP_OK);
    s.decode.workspace_bytes = SIZE_MAX;
    assert_int_equal(lap_device_slot_run(slot, &s, NULL, NULL, &err), LAP_E_MEMORY);
    assert_string_equal(err.message, "out of memory");
    s.decode.workspace_bytes = SIZE_MAX / 2; /* more than there is, together */
    assert_int_equal(lap_device_slot_run_chain(slot, many, 3, NULL, NULL, &err), LAP_E_MEMORY);
    CALLS("");
    lap_device_slot_destroy(slot);
}

/* What is fetched after a photo. */
static void test_fetching(void **state)
{
    (void)state;
    lap_device_staging s = whole();
    const lap_device_staging *stagings[] = {&s};
    const lap_views_filter f = {&card, &params, LAP_ZERO};
    lap_error err = {0};
    for (int fails = 0; fails <= 2; fails++) {
        lap_device_slot *slot;
        lap_chunk scan = {0};
        uint8_t pixel;
        there = (struct device){.allocations = -1};
        s.kind = LAP_HOST_PAGED;
        assert_int_equal(lap_device_slot_create_on(DEVICE, NULL, &slot, &err), LAP_OK);
        assert_int_equal(lap_device_slot_resize(slot, 1 << 20, &err), LAP_OK);
        lap_device_slot_without_times(slot);
        assert_int_equal(lap_device_slot_start(slot, stagings, 1, &f, &err), LAP_OK);
        assert_null(there.pictures[0].scan); /* it stays there */
        uint8_t *memory = there.pictures[0].workspace;
        for (int i = 0; i < 9; i++)
            memory[5 + i] = (uint8_t)(i + 1);
        s.encoded->bytes = 9;
        for (int turn = 0; turn < 2; turn++) {
            there.calls[0] = 0;
            there.count = 0;
            there.fails = turn == 1 ? fails : 0;
            assert_int_equal(
                lap_device_slot_scan(slot, &s, &scan, &err), there.fails ? LAP_E_DEVICE : LAP_OK);
            CALLS("cw");
            assert_int_equal(scan.size, there.fails ? 9 : 9 + 9 * turn);
            for (size_t i = 0; i < scan.size; i++)
                assert_int_equal(scan.data[i], i % 9 + 1);
        }
        const lap_view host = {.base = &pixel, .width = W, .height = H, .channels = CH};
        there.count = 0;
        there.fails = fails;
        assert_int_equal(lap_device_slot_pixels(slot, &host, &err), fails ? LAP_E_DEVICE : LAP_OK);
        CALLS("dw");
        assert_ptr_equal(there.from[1].base, memory + 768 + 1024);
        there.count = 0;
        there.fails = 0;
        assert_int_equal(lap_device_slot_wait(slot, &err), LAP_OK);
        free(scan.data);
        lap_device_slot_destroy(slot);
        assert_int_equal(there.alive, 0);
    }
    s.encoded->bytes = 0;
}

/* ---- the memory of hosts -------------------------------------------------------------------------- */

static const uint8_t some_file[90000];

/* How memory grows: by an eighth and a page, in whole pages, within the limit. */
static void test_growing(void **state)
{
    (void)state;
    static const struct {
        size_t most, bytes, room; /* room 0: too much */
    } cases[] = {{0, 1, 4096}, {0, 0, 0}, {0, 3640, 4096}, {0, 3641, 8192}, {0, 4096, 8192}, {0, 7281, 8192},
        {0, 7282, 12288}, {0, 5 << 20, 5902336}, {8192, 3641, 8192}, {8191, 3641, 0}, {8192, 3640, 4096},
        {8191, 7282, 0}};
    for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
        const lap_host_memory kind = (lap_host_memory)(i % 3);
        const size_t bytes = cases[i / 3].bytes, room = cases[i / 3].room;
        lap_device_staging *s;
        lap_error err = {0};
        there = (struct device){.allocations = -1};
        assert_int_equal(lap_device_staging_create(DEVICE, kind, cases[i / 3].most, &s, &err), LAP_OK);
        assert_true(s->device == DEVICE && s->kind == kind && s->most == cases[i / 3].most);
        const bool fits = room > 0 || bytes == 0;
        s->is_short = true;
        assert_int_equal(lap_device_staging_file(s, bytes, &err), fits ? LAP_OK : LAP_E_LIMIT);
        assert_string_equal(err.message, fits ? "" : "more pinned memory than the limit");
        assert_int_equal(s->is_short, !fits);
        assert_int_equal(s->file.room, room);
        assert_true(s->bytes == s->file.bytes && !s->file.is_pinned);
        CALLS(kind == LAP_HOST_PINNED && room ? "p" : "");
        assert_true(there.sizes == 0 || there.bytes[0] == room);
        if (room) { /* what there is suffices */
            uint8_t *memory = s->file.bytes;
            memset(memory, 1, room);
            assert_int_equal(lap_device_staging_file(s, room, &err), LAP_OK);
            assert_ptr_equal(s->file.bytes, memory);
        }
        lap_device_staging_destroy(s);
        assert_int_equal(there.alive, 0);
    }
    lap_device_staging *s;
    lap_error err = {0};
    there = (struct device){.allocations = 0};
    assert_int_equal(lap_device_staging_create(DEVICE, LAP_HOST_PAGED, 0, &s, &err), LAP_E_MEMORY);
    assert_true(!s && strcmp(err.message, "out of memory") == 0);
    lap_device_staging_destroy(NULL);
    /* All memories of a photo count; a size that overflows; and pinned memory that is missing. */
    there = (struct device){.allocations = -1};
    assert_int_equal(lap_device_staging_create(DEVICE, LAP_HOST_PINNED, 12288, &s, &err), LAP_OK);
    assert_int_equal(lap_device_staging_copy(s, "abc", 3, &err), LAP_OK);
    assert_memory_equal(s->bytes, "abc", 3);
    for (size_t more = 0; more < 2; more++) { /* 5000 bytes want 9721 at first */
        s->tables.room = s->scan.room = 1000;
        s->verdicts.room = 12288 - 9721 - 2000 + 1 - more;
        assert_int_equal(lap_device_staging_file(s, 5000, &err), more ? LAP_OK : LAP_E_LIMIT);
        assert_int_equal(s->file.room, more ? 8192 : 4096);
    }
    s->tables.room = s->scan.room = s->verdicts.room = 0;
    assert_int_equal(lap_device_staging_file(s, SIZE_MAX - 100, &err), LAP_E_LIMIT);
    there.count = 0;
    there.fails = 1;
    s->most = 0;
    assert_int_equal(lap_device_staging_copy(s, some_file, 90000, &err), LAP_E_DEVICE);
    assert_true(!s->file.bytes && s->file.room == 0 && there.alive == 0);
    there.fails = 0;
    uint8_t lent;
    lap_device_staging_lend(s, &lent, 77);
    assert_true(s->bytes == &lent && s->file_bytes == 77);
    lap_device_staging_destroy(s);
}

/* Memory that is pinned after it was made. */
static void test_pinning(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (int fails = 0; fails <= 4; fails++)
            for (int abandons = 0; abandons < 2; abandons++) {
                lap_device_staging *s;
                lap_error err = {0};
                there = (struct device){.allocations = -1};
                pinned = 0;
                assert_int_equal(
                    lap_device_staging_create(DEVICE, (lap_host_memory)kind, 0, &s, &err), LAP_OK);
                assert_int_equal(lap_device_staging_is_pinned(s), kind != LAP_HOST_PINS);
                frame.scan_begin = 40;
                const lap_jpeg_head head = {.components = 3};
                const lap_device_wish wish = {.width = W,
                    .height = H,
                    .channels = CH,
                    .filters = true,
                    .head = fails == 4 ? NULL : &head}; /* 4: there is no scan */
                bool handled = false;
                assert_int_equal(lap_device_staging_copy(s, some_file, 90, &err), LAP_OK);
                s->file_bytes = 90;
                assert_int_equal(lap_device_staging_plan(s, &wish, &handled, &err), LAP_OK);
                assert_true(handled);
                there.calls[0] = 0;
                there.count = 0;
                there.fails = kind == LAP_HOST_PINS && fails < 4 ? fails : 0;
                const lap_code code = lap_device_staging_pin(s, &err);
                assert_int_equal(code, there.fails ? LAP_E_DEVICE : LAP_OK);
                static const char *const calls[] = {"iiii", "i", "ii", "iii", "iii"};
                CALLS(kind == LAP_HOST_PINS ? calls[fails] : "");
                assert_int_equal(lap_device_staging_is_pinned(s), code == LAP_OK);
                if (there.fails) { /* the rest, later */
                    there.fails = 0;
                    assert_int_equal(lap_device_staging_pin(s, &err), LAP_OK);
                    CALLS(&calls[0][fails - 1]);
                }
                assert_int_equal(pinned, kind == LAP_HOST_PINS ? 4 - (fails == 4) : 0);
                if (!abandons) {
                    lap_device_staging_destroy(s);
                    assert_true(there.alive == 0 && pinned == 0);
                    continue;
                }
                /* What is pinned may still be in use: it is not freed. */
                void *left[4] = {s->file.bytes, s->tables.bytes, s->scan.bytes, s->verdicts.bytes};
                const int alive = there.alive;
                lap_device_staging_abandon(s);
                assert_int_equal(there.alive, alive);
                for (int i = 0; i < 4 && kind != LAP_HOST_PAGED; i++)
                    free(left[i]);
            }
}

static void test_going_together(void **state)
{
    (void)state;
    static uint8_t pixel;
    for (int i = 0; i < 12; i++)
        for (int turned = 0; turned < 2; turned++) {
            lap_device_staging s[2] = {whole(), whole()};
            lap_device_staging *one = &s[turned];
            bool together = false;
            switch (i) {
            case 0:
                one->is_decoded = false;
                break;
            case 1:
                one->is_filtered = false;
                break;
            case 2:
                one->is_encoded = false;
                break;
            case 3:
                one->is_counted = true;
                break;
            case 4:
                one->pixels.base = &pixel;
                break;
            case 5:
                one->kind = LAP_HOST_PINS;
                break;
            case 6:
                one->kind = LAP_HOST_PAGED;
                break;
            case 7:
                s[0].kind = s[1].kind = LAP_HOST_PAGED;
                break;
            case 8:
                s[0].kind = s[1].kind = LAP_HOST_PINS;
                together = true;
                break;
            default:
                one->turn = (lap_turn)(i - 7);
                together = true;
            }
            assert_int_equal(lap_device_staging_go_together(&s[0], &s[1]), together);
        }
}

/* What a device does of what is wished. */
static void test_plans(void **state)
{
    (void)state;
    static _Alignas(128) uint8_t host[128], device[256];
    const lap_view pixels = {host, W * CH, W, H, CH, 0, LAP_ON_HOST},
                   aligned = {device, 128, W, H, CH, 0, DEVICE}, odd = {device + 1, 128, W, H, CH, 0, DEVICE};
    const lap_jpeg_head head = {.components = 3, .h = {2, 1, 1}, .v = {2, 1, 1}, .interval = 7},
                        gray = {.components = 1, .h = {3}, .v = {3}};
    static const struct {
        const char *what;
        int source, result; /* 1: aligned, 2: not */
        bool pixels, filters, gray;
        int head, turn, width, height, channels;
        bool handled, decodes, encodes, keeps_source, keeps_result, copies;
    } cases[] = {
        {"a file", 0, 0, false, true, false, 1, 0, 20, 10, 3, true, true, true, false, false, false},
        {"not encoded", 0, 0, false, true, false, 0, 0, 20, 10, 3, true, true, false, false, false, false},
        {"turned", 0, 0, false, true, false, 1, 6, 10, 20, 3, true, true, true, false, false, false},
        {"mirrored", 0, 0, false, true, false, 1, 2, 20, 10, 3, true, true, true, false, false, false},
        {"another width", 0, 0, false, true, false, 1, 0, 21, 10, 3, false, true, true, false, false, false},
        {"another height", 0, 0, false, true, false, 1, 0, 20, 11, 3, false, true, true, false, false, false},
        {"other channels", 0, 0, false, true, false, 1, 0, 20, 10, 1, false, true, true, false, false, false},
        {"gray, with a head of colours", 0, 0, false, true, true, 1, 0, 20, 10, 1, true, true, false, false,
            false, false},
        {"gray", 0, 0, false, true, true, 2, 0, 20, 10, 1, true, true, true, false, false, false},
        {"pixels", 0, 0, true, true, false, 1, 6, 20, 10, 3, true, false, true, false, false, false},
        {"pixels, gray head", 0, 0, true, true, false, 2, 0, 20, 10, 3, true, false, false, false, false,
            false},
        {"decoded to a view", 1, 0, false, false, false, 0, 0, 20, 10, 3, true, true, false, true, false,
            false},
        {"decoded to any view", 2, 0, false, false, false, 0, 0, 20, 10, 3, true, true, false, false, false,
            true},
        {"filtered to a view", 0, 1, false, true, false, 0, 0, 20, 10, 3, true, true, false, false, true,
            false},
        {"filtered to any view", 0, 2, false, true, false, 0, 0, 20, 10, 3, true, true, false, false, false,
            true},
        {"through any view", 2, 1, false, true, false, 0, 0, 20, 10, 3, true, true, false, true, true, false},
        {"a view that is encoded", 0, 2, false, false, false, 1, 0, 20, 10, 3, true, false, true, false, true,
            false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int counts = 0; counts < 2; counts++) {
            lap_device_staging *s;
            lap_error err = {0};
            bool handled = false;
            const lap_device_wish wish = {.pixels = cases[i].pixels ? &pixels : NULL,
                .source = cases[i].source == 0   ? NULL
                          : cases[i].source == 1 ? &aligned
                                                 : &odd,
                .result = cases[i].result == 0   ? NULL
                          : cases[i].result == 1 ? &aligned
                                                 : &odd,
                .gray = cases[i].gray,
                .turn = (lap_turn)cases[i].turn,
                .width = cases[i].width,
                .height = cases[i].height,
                .channels = cases[i].channels,
                .filters = cases[i].filters,
                .head = cases[i].head == 0   ? NULL
                        : cases[i].head == 1 ? &head
                                             : &gray,
                .capacity = counts ? 6000 : 0,
                .counts = counts == 1};
            there = (struct device){.allocations = -1};
            assert_int_equal(lap_device_staging_create(DEVICE, LAP_HOST_PINNED, 0, &s, &err), LAP_OK);
            assert_int_equal(lap_device_staging_copy(s, host, 100, &err), LAP_OK);
            s->file_bytes = 100;
            assert_int_equal(lap_device_staging_plan(s, &wish, &handled, &err), LAP_OK);
            if (handled != cases[i].handled || s->is_decoded != cases[i].decodes ||
                s->is_encoded != cases[i].encodes)
                fail_msg("%s: %d %d %d", cases[i].what, handled, s->is_decoded, s->is_encoded);
            assert_int_equal(s->is_filtered, cases[i].filters);
            assert_int_equal(s->is_counted, counts);
            assert_int_equal(s->source.base != NULL, cases[i].keeps_source);
            assert_int_equal(s->result.base != NULL, cases[i].keeps_result);
            assert_int_equal(s->copy.base != NULL, cases[i].copies);
            assert_ptr_equal(s->pixels.base, cases[i].pixels ? host : NULL);
            if (!handled) {
                lap_device_staging_destroy(s);
                continue;
            }
            assert_true(s->width == cases[i].width && s->height == cases[i].height);
            assert_int_equal(s->channels, cases[i].channels);
            assert_int_equal(s->turn, cases[i].decodes && cases[i].turn ? cases[i].turn : LAP_TURN_NONE);
            if (cases[i].decodes)
                assert_true(s->decode.scan_bytes == 60 && s->tables.bytes[4999] == 1 && s->is_staged);
            if (cases[i].encodes) {
                const lap_jpeg_head *of = cases[i].head == 1 ? &head : &gray;
                assert_true(there.target.width == s->width && there.target.height == s->height);
                assert_true(there.target.channels == s->channels);
                assert_int_equal(there.target.restart_interval, of->interval);
                for (int c = 0; c < 3; c++) {
                    assert_int_equal(there.target.sample_h[c], c < of->components ? of->h[c] : 1);
                    assert_int_equal(there.target.sample_v[c], c < of->components ? of->v[c] : 1);
                }
                assert_int_equal(s->encode.capacity, counts ? 6000 : 9000);
                assert_true(s->scan.room >= s->encode.capacity);
            }
            /* Verdicts that say nothing yet: none is good. */
            assert_true(s->decoded->odd[2] == UINT32_MAX && s->encoded->bytes == UINT32_MAX &&
                        s->counts->result[3][255] == UINT64_MAX);
            assert_false(lap_device_staging_is_done(s) && (s->is_decoded || s->is_encoded || counts));
            assert_true((uint8_t *)(s->counts + 1) <= s->verdicts.bytes + s->verdicts.room);
            assert_true((uint8_t *)s->encoded >= (uint8_t *)(s->decoded + 1) &&
                        (uint8_t *)s->counts >= (uint8_t *)(s->encoded + 1));
            assert_int_equal((uintptr_t)s->encoded % 64 + (uintptr_t)s->counts % 64, 0);
            lap_device_staging_destroy(s);
            assert_int_equal(there.alive, 0);
        }
}

/* Files that no device decodes; tables that are kept; and memory that is missing. */
static void test_more_plans(void **state)
{
    (void)state;
    lap_device_staging *s;
    lap_error err = {0};
    bool handled;
    const lap_jpeg_head head = {.components = 3};
    const lap_device_wish wish = {.width = W, .height = H, .channels = CH, .filters = true, .head = &head};
    for (int i = 0; i < 6; i++) {
        there = (struct device){.allocations = -1};
        assert_int_equal(lap_device_staging_create(DEVICE, LAP_HOST_PAGED, 0, &s, &err), LAP_OK);
        assert_int_equal(lap_device_staging_copy(s, "abc", 4, &err), LAP_OK);
        s->file_bytes = 100;
        unreadable = i < 3 ? i : 0;
        frame.scan_begin = i == 3 ? 100 : i == 4 ? 99 : 40;
        frame.width = i == 5 ? 13 : W; /* the encoder refuses it */
        lap_device_wish its = wish;
        its.width = frame.width;
        assert_int_equal(lap_device_staging_plan(s, &its, &handled, &err), LAP_OK);
        assert_int_equal(handled, i == 0 || i > 3);
        if (handled)
            assert_true(s->is_encoded == (i != 5) && !s->scan.bytes && !there.is_kept);
        if (i == 0) { /* the same memory still has the tables; if it grows, it has not */
            assert_int_equal(lap_device_staging_plan(s, &wish, &handled, &err), LAP_OK);
            assert_true(there.is_kept);
            s->tables.room = 100;
            assert_int_equal(lap_device_staging_plan(s, &wish, &handled, &err), LAP_OK);
            assert_true(!there.is_kept && s->is_staged);
            s->tables.room = 100; /* also if there is no more memory behind that of the tables */
            s->most = 8192 + s->verdicts.room + 100;
            s->file.room = s->verdicts.room;
            s->verdicts.room = 0;
            assert_int_equal(lap_device_staging_plan(s, &wish, &handled, &err), LAP_E_LIMIT);
            s->verdicts.room = s->file.room;
            s->file.room = 4096;
            s->most = 0;
            assert_int_equal(lap_device_staging_plan(s, &wish, &handled, &err), LAP_OK);
            assert_true(!there.is_kept);
        }
        lap_device_staging_destroy(s);
    }
    set_up(NULL);
    for (int fails = 1; fails <= 4; fails++) {
        there = (struct device){.allocations = -1};
        assert_int_equal(lap_device_staging_create(DEVICE, LAP_HOST_PINNED, 0, &s, &err), LAP_OK);
        s->file_bytes = 100;
        s->bytes = (const uint8_t *)"abc";
        there.fails = fails;
        assert_int_equal(
            lap_device_staging_plan(s, &wish, &handled, &err), fails < 4 ? LAP_E_DEVICE : LAP_OK);
        assert_true(handled);
        CALLS(fails == 1 ? "p" : fails == 2 ? "pp" : "ppp");
        lap_device_staging_destroy(s);
        assert_int_equal(there.alive, 0);
    }
}

/* What the device says of its work. */
static void test_verdicts(void **state)
{
    (void)state;
    static const struct {
        bool decodes, encodes, counts;
        uint32_t odd[3], overflow, bytes;
        int missing; /* 1: a pixel of the source; 2: one of the result */
        bool source, scan, done;
    } cases[] = {{true, true, true, {0}, 0, 500, 0, true, true, true},
        {true, true, true, {1}, 0, 500, 0, false, true, false},
        {true, true, true, {0, 1}, 0, 500, 0, false, true, false},
        {true, true, true, {0, 0, 1}, 0, 500, 0, false, true, false},
        {true, true, true, {0}, 1, 500, 0, true, false, false},
        {true, true, true, {0}, 0, 1000, 0, true, true, true},
        {true, true, true, {0}, 0, 1001, 0, true, false, false},
        {true, true, true, {0}, 0, 500, 1, false, true, false},
        {true, true, true, {0}, 0, 500, 2, false, true, false},
        {true, true, false, {0}, 0, 500, 1, true, true, true},
        {false, true, true, {1}, 0, 500, 0, true, true, true},
        {true, false, true, {0}, 1, 9999, 0, true, false, true},
        {false, false, false, {1, 1, 1}, 1, 9999, 2, true, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int channel = 0; channel < 3; channel++) {
            lap_device_staging s = whole();
            s.is_decoded = cases[i].decodes;
            s.is_encoded = cases[i].encodes;
            s.is_counted = cases[i].counts;
            s.encode.capacity = 1000;
            memcpy(s.decoded->odd, cases[i].odd, sizeof s.decoded->odd);
            s.encoded->overflow = cases[i].overflow;
            s.encoded->bytes = cases[i].bytes;
            *s.counts = (lap_photo_counts){0};
            for (int c = 0; c < 3; c++) {
                s.counts->source[c][0] = s.counts->result[c][7 * c] = W * H - 5;
                s.counts->source[c][255] = s.counts->result[c][255] = 5;
            }
            s.counts->source[channel][255] -= cases[i].missing == 1;
            s.counts->result[channel][255] -= cases[i].missing == 2;
            assert_int_equal(lap_device_staging_has_source(&s), cases[i].source);
            assert_int_equal(lap_device_staging_has_scan(&s), cases[i].scan);
            assert_int_equal(lap_device_staging_is_done(&s), cases[i].done);
        }
}

/* ---- which devices there are ---------------------------------------------------------------------- */

static void test_codecs(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++)
        for (unsigned directions = 0; directions <= 3; directions++) {
            there.unavailable = i & 1 ? "no device" : NULL;
            there.decoding = i & 2 ? "it decodes otherwise" : NULL;
            there.encoding = i & 4 ? "it encodes otherwise" : NULL;
            const char *wanted = there.unavailable                    ? there.unavailable
                                 : (directions & 1) && there.decoding ? there.decoding
                                 : (directions & 2)                   ? there.encoding
                                                                      : NULL;
            const char *why = "";
            lap_error err = {0};
            assert_ptr_equal(lap_device_codec_unavailable(directions), wanted);
            assert_int_equal(lap_device_codec_choose(LAP_CODEC_AUTO, directions, &why, &err), LAP_OK);
            assert_ptr_equal(why, wanted);
            why = "";
            assert_int_equal(lap_device_codec_choose(LAP_CODEC_CUDA, directions, &why, &err),
                wanted ? LAP_E_BACKEND : LAP_OK);
            assert_ptr_equal(why, wanted);
            char said[100] = "";
            if (wanted)
                snprintf(said, sizeof said, "codec 'cuda' cannot run here: %s", wanted);
            assert_string_equal(err.message, said);
        }
}

static void test_devices(void **state)
{
    (void)state;
    lap_error err = {0};
    devices = 5;
    assert_int_equal(lap_device_count(), 5);
    assert_int_equal(lap_device_to_start(), 7);
    for (int i = 0; i < 2; i++) {
        const char *why = NULL;
        size_t unused = 0;
        may = i == 1;
        assert_int_equal(lap_device_may_be(&why), i);
        assert_string_equal(why, "none here");
        assert_int_equal(lap_device_pins(DEVICE), i);
        there.count = 0;
        there.fails = i;
        assert_int_equal(lap_device_open(DEVICE, &unused, &err), i ? LAP_E_DEVICE : LAP_OK);
        assert_int_equal(unused, 12345);
    }
    assert_string_equal(err.message, "call 1");
}

/* ---- streams -------------------------------------------------------------------------------------- */

static void open_stream(void)
{
    lap_error err = {0};
    set_up(NULL);
    devices = DEVICE + 1;
    why_none = NULL;
    assert_int_equal(lap_stream_create(NULL, DEVICE, NULL, &the_stream, &err), LAP_OK);
    CALLS("");
    assert_int_equal(kept, 1);
}

static void close_stream(void)
{
    there.calls[0] = 0;
    there.fails = 0;
    lap_stream_destroy(the_stream);
    the_stream = NULL;
    CALLS("w");
    assert_true(kept == 0 && there.alive == 0 && locks == 0);
}

static void test_streams(void **state)
{
    (void)state;
    static const struct {
        int device, devices;
        const char *why, *said;
    } cases[] = {{-1, 4, NULL, "CUDA device -1 does not exist"}, {4, 4, NULL, "CUDA device 4 does not exist"},
        {0, 0, "no driver", "CUDA device 0: no driver"}, {3, 4, NULL, ""}};
    for (int i = 0; i < 4; i++) {
        lap_error err = {0};
        devices = cases[i].devices;
        why_none = cases[i].why;
        const lap_code code = lap_stream_create(NULL, cases[i].device, &err, &the_stream, &err);
        assert_int_equal(code, i < 3 ? LAP_E_BACKEND : LAP_OK);
        assert_string_equal(err.message, cases[i].said);
        assert_int_equal(the_stream != NULL, i == 3);
    }
    assert_true(the_stream->device == 3 && the_stream->own.pinned->kind == LAP_HOST_PINNED &&
                the_stream->own.paged->kind == LAP_HOST_PAGED);
    assert_true(the_stream->own.pinned->most == LAP_STREAM_PINNED && the_stream->own.paged->most == 0);
    lap_error err;
    assert_int_equal(lap_stream_wait(the_stream, &err), LAP_OK);
    close_stream();
    lap_stream_destroy(NULL);
    for (int i = 0; i < 4; i++) { /* the the_stream, its slot, and two stagings */
        there.allocations = i;
        assert_int_equal(lap_stream_create(NULL, 3, NULL, &the_stream, &err), LAP_E_MEMORY);
        assert_true(!the_stream && kept == 0);
        assert_string_equal(err.message, "out of memory");
    }
}

static lap_lane *taken;

static void give_one(void)
{
    lap_stream_lane_give(the_stream, taken);
}

static void make_short(void)
{
    pthread_mutex_lock(&the_stream->lock);
    the_stream->is_short = true;
    pthread_mutex_unlock(&the_stream->lock);
}

/* Sixteen lanes, which are made when they are first used. */
static void test_lanes(void **state)
{
    (void)state;
    lap_lane *lanes[LAP_STREAM_LANES];
    open_stream();
    for (int i = 0; i < LAP_STREAM_LANES; i++) {
        lanes[i] = lap_stream_lane_take(the_stream);
        assert_ptr_equal(lanes[i], &the_stream->lanes[i]);
        assert_true(lanes[i]->slot && lanes[i]->pinned && lanes[i]->paged && lanes[i]->is_taken);
        CALLS("SEEEEEE");
    }
    taken = lanes[5];
    broadcasts = 0;
    meanwhile = give_one;
    assert_ptr_equal(lap_stream_lane_take(the_stream), lanes[5]);
    assert_int_equal(broadcasts, 1);
    CALLS("");
    meanwhile = make_short;
    assert_null(lap_stream_lane_take(the_stream));
    meanwhile = NULL;
    for (int i = 0; i < LAP_STREAM_LANES; i++)
        if (i != 7)
            lap_stream_lane_give(the_stream, lanes[i]);
    assert_null(lap_stream_lane_take(the_stream)); /* memory ran short */
    taken = lanes[7];
    meanwhile = give_one;
    broadcasts = 0;
    lap_stream_lanes_free(the_stream); /* waits for the last one */
    assert_int_equal(broadcasts, 2);
    meanwhile = NULL;
    assert_true(there.alive == 0 && the_stream->is_short && !the_stream->lanes[7].slot);
    the_stream->is_short = false;
    /* A lane that cannot be made is given back. */
    for (int fails = 0; fails < 4; fails++) {
        there.count = 0;
        there.fails = fails == 0 ? 1 : 0;
        /* Its slot, then its stagings; what was made is kept. */
        there.allocations = fails == 0 ? -1 : fails > 1;
        assert_null(lap_stream_lane_take(the_stream));
        assert_false(the_stream->lanes[0].is_taken);
    }
    there.fails = 0;
    there.allocations = -1;
    assert_ptr_equal(lap_stream_lane_take(the_stream), &the_stream->lanes[0]);
    lap_stream_lane_give(the_stream, &the_stream->lanes[0]);
    close_stream();
}

/* Which views a stream takes: one thing is wrong at a time. */
static void test_views(void **state)
{
    (void)state;
    static uint8_t pixel;
    enum { MOST = LAP_MAX_SIDE };
    static const struct {
        int width, height, channels, apron;
        ptrdiff_t stride;
        int place;
        bool is_missing;
        const char *said;
    } cases[] = {
        {1, 1, 1, 0, 1, DEVICE, false, ""},
        {MOST, 1, 1, 0, MOST, DEVICE, false, ""},
        {1, MOST, 4, LAP_APRON, 4, DEVICE, false, ""},
        {0, 1, 1, 0, 1, DEVICE, false, "a view cannot have 0x1 pixels, 1 channels and apron 0"},
        {1, 0, 1, 0, 1, DEVICE, false, "a view cannot have 1x0 pixels, 1 channels and apron 0"},
        {1, 1, 0, 0, 1, DEVICE, false, "a view cannot have 1x1 pixels, 0 channels and apron 0"},
        {1, 1, 5, 0, 9, DEVICE, false, "a view cannot have 1x1 pixels, 5 channels and apron 0"},
        {1, 1, 1, 1, 9, DEVICE, false, "a view cannot have 1x1 pixels, 1 channels and apron 1"},
        {1, 1, 1, 3, 9, DEVICE, false, "a view cannot have 1x1 pixels, 1 channels and apron 3"},
        {MOST + 1, 1, 1, 0, MOST + 1, DEVICE, false,
            "a view cannot have 268435457x1 pixels, 1 channels and apron 0"},
        {1, MOST + 1, 1, 0, 1, DEVICE, false,
            "a view cannot have 1x268435457 pixels, 1 channels and apron 0"},
        {2, 1, 3, 0, 6, DEVICE, true, "input has no pixels, or a stride of 6 bytes for rows of 6"},
        {2, 1, 3, 0, 5, DEVICE, false, "input has no pixels, or a stride of 5 bytes for rows of 6"},
        {2, 1, 3, 0, 6, LAP_ON_HOST, false, "input lies in host memory, the stream on device 3"},
        {2, 1, 3, 0, 6, 2, false, "input lies on device 2, the stream on device 3"},
    };
    open_stream();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_view v = {cases[i].is_missing ? NULL : &pixel, cases[i].stride, cases[i].width,
            cases[i].height, cases[i].channels, cases[i].apron, cases[i].place};
        lap_error err = {0};
        assert_int_equal(
            lap_stream_check(the_stream, &v, "input", &err), cases[i].said[0] ? LAP_E_USAGE : LAP_OK);
        assert_string_equal(err.message, cases[i].said);
        CALLS(cases[i].said[0] ? "" : "l");
    }
    there.count = 0;
    there.fails = 1;
    lap_error err = {0};
    const lap_view v = {&pixel, 1, 1, 1, 1, 0, DEVICE};
    assert_int_equal(lap_stream_check(the_stream, &v, "input", &err), LAP_E_DEVICE);
    /* Memory of idle lanes is freed for a view that finds none. */
    for (int i = 0; i < 4; i++) {
        lap_view made;
        there = (struct device){.allocations = -1};
        the_stream->is_short = false;
        lap_stream_lane_give(the_stream, lap_stream_lane_take(the_stream));
        there.calls[0] = 0;
        there.count = 0;
        there.fails = i > 0;
        there.how = i == 1 ? LAP_E_MEMORY : LAP_E_DEVICE;
        const lap_code code = lap_stream_view_create(the_stream, i == 3 ? 0 : 7, 5, 3, 0, &made, &err);
        CALLS(i == 1 ? "kk" : i == 3 ? "" : "k");
        assert_int_equal(code, i == 2 ? LAP_E_DEVICE : i == 3 ? LAP_E_USAGE : LAP_OK);
        assert_int_equal(the_stream->lanes[0].slot == NULL, i == 1);
        assert_int_equal(the_stream->is_short, i == 1);
        assert_int_equal(made.base != NULL, code == LAP_OK);
        lap_stream_view_destroy(the_stream, &made);
        assert_null(made.base);
        there.fails = 0;
        lap_stream_lanes_free(the_stream);
        assert_int_equal(there.alive, 0);
    }
    close_stream();
}

static void test_copies(void **state)
{
    (void)state;
    static uint8_t pixel, other;
    static const struct {
        int from, to, more[3]; /* places; how much wider, higher, and of more channels the output is */
        int missing;
        const char *calls, *said;
    } cases[] = {{LAP_ON_HOST, DEVICE, {0}, 0, "luw", ""}, {DEVICE, LAP_ON_HOST, {0}, 0, "ldw", ""},
        {DEVICE, DEVICE, {0}, 0, "llv", ""},
        {LAP_ON_HOST, LAP_ON_HOST, {0}, 0, "",
            "a copy needs two views with pixels, at least one of them on the device"},
        {DEVICE, DEVICE, {0}, 1, "",
            "a copy needs two views with pixels, at least one of them on the device"},
        {DEVICE, DEVICE, {0}, 2, "",
            "a copy needs two views with pixels, at least one of them on the device"},
        {DEVICE, DEVICE, {1, 0, 0}, 0, "", "cannot copy 2x3x1 to 3x3x1"},
        {DEVICE, DEVICE, {0, 1, 0}, 0, "", "cannot copy 2x3x1 to 2x4x1"},
        {DEVICE, DEVICE, {0, 0, 1}, 0, "", "cannot copy 2x3x1 to 2x3x2"},
        {2, DEVICE, {0}, 0, "", "input lies on device 2, the stream on device 3"},
        {DEVICE, 2, {0}, 0, "l", "output lies on device 2, the stream on device 3"}};
    open_stream();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int fails = 0; fails <= (cases[i].said[0] ? 0 : 3); fails++) {
            const lap_view from = {cases[i].missing == 1 ? NULL : &pixel, 9, 2, 3, 1, 0, cases[i].from},
                           to = {cases[i].missing == 2 ? NULL : &other, 9, 2 + cases[i].more[0],
                               3 + cases[i].more[1], 1 + cases[i].more[2], 0, cases[i].to};
            lap_error err = {0};
            char wanted[8];
            there.count = 0;
            there.fails = fails;
            const lap_code code = lap_stream_copy(the_stream, &from, &to, &err);
            assert_int_equal(code, cases[i].said[0] ? LAP_E_USAGE : fails ? LAP_E_DEVICE : LAP_OK);
            /* It waits for a copy that has failed, too, because of the host's memory. */
            const bool waits = fails == 2 && strchr(cases[i].calls, 'w') != NULL;
            snprintf(wanted, sizeof wanted, "%.*s%s", fails ? fails : 3, cases[i].calls, waits ? "w" : "");
            CALLS(wanted);
            if (!fails) {
                assert_string_equal(err.message, cases[i].said);
                assert_true(code != LAP_OK || (there.from[1].base == &pixel && there.to[1].base == &other));
            }
        }
    there.fails = 0;
    static const struct {
        int apron;
        lap_border border;
        const char *calls, *said;
    } borders[] = {{LAP_APRON, LAP_WRAP, "lb", ""}, {LAP_APRON, LAP_CONSTANT_LAST, "lb", ""},
        {0, LAP_ZERO, "l", "the view has no apron to fill"},
        {LAP_APRON, (lap_border)(LAP_WRAP + 1), "l", "unknown border 5"},
        {LAP_APRON, (lap_border)(LAP_CONSTANT_LAST + 1), "l", "unknown border 512"}};
    for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
        const lap_view v = {&pixel, 9, 2, 3, 1, borders[i].apron, DEVICE};
        lap_error err = {0};
        assert_int_equal(lap_stream_border(the_stream, &v, borders[i].border, &err),
            borders[i].said[0] ? LAP_E_USAGE : LAP_OK);
        CALLS(borders[i].calls);
        assert_string_equal(err.message, borders[i].said);
    }
    there.count = 0;
    there.fails = 1;
    lap_error err = {0};
    const lap_view v = {&pixel, 9, 2, 3, 1, 0, DEVICE};
    assert_int_equal(lap_stream_border(the_stream, &v, LAP_ZERO, &err), LAP_E_DEVICE);
    assert_string_equal(err.message, "call 1");
    close_stream();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_needs, set_up),
        cmocka_unit_test_setup(test_slots, set_up),
        cmocka_unit_test_setup(test_steps, set_up),
        cmocka_unit_test_setup(test_callers_memory, set_up),
        cmocka_unit_test_setup(test_chains, set_up),
        cmocka_unit_test_setup(test_runs, set_up),
        cmocka_unit_test_setup(test_fetching, set_up),
        cmocka_unit_test_setup(test_growing, set_up),
        cmocka_unit_test_setup(test_pinning, set_up),
        cmocka_unit_test_setup(test_going_together, set_up),
        cmocka_unit_test_setup(test_plans, set_up),
        cmocka_unit_test_setup(test_more_plans, set_up),
        cmocka_unit_test_setup(test_verdicts, set_up),
        cmocka_unit_test_setup(test_codecs, set_up),
        cmocka_unit_test_setup(test_devices, set_up),
        cmocka_unit_test_setup(test_streams, set_up),
        cmocka_unit_test_setup(test_lanes, set_up),
        cmocka_unit_test_setup(test_views, set_up),
        cmocka_unit_test_setup(test_copies, set_up),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
