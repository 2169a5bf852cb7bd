/* Sends photos through a device that the test simulates: which calls the device gets, what is written,
 * and that nothing is left behind after a failure. */
#include "tests/support/scratch.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/status.h"
#include "run/formats.h"
#include "run/photo_device.h"
#include "run/settings.h"
#include "tests/support/jpeg_make.h"

/* ---- the device ----------------------------------------------------------------------------------- */

enum { DEVICE = 3 };
static uint8_t scan_bytes[] = {'s', 'c', 'a', 'n'};

static struct {
    bool counts_time;
    double now;
    char log[256];       /* the calls */
    int calls, fails_at; /* number of the call that fails, */
    lap_code code;       /* and its code; LAP_OK means LAP_E_DEVICE */
    const char *failed;  /* its name */
    bool handles[2];     /* whether files and pixels can be processed */
    bool has_source[2];  /* whether they were processed, after the first and the second run */
    bool has_scan;       /* whether there is a scan of the output after a run */
    bool encodes;        /* whether the plan includes encoding */
    int runs;
    lap_device_wish wishes[2];
    int wish_count;
    lap_views_filter filter;
    const lap_times *times;
    size_t room; /* requested for a file */
    int reserves;
    size_t reserved;
    int writes, write_fails;
    atomic_int *cancels; /* set by the run */
    size_t limit;        /* for holding */
    int holds;
    bool hold_fails;
    bool no_thread;
    int threads, joins, starts;
    bool no_input;
    bool no_header; /* of the output */
    int header_warnings;
    bool decodes_there, encodes_there, no_settings;
} dev;

static lap_cuda_jpeg_encoded encoded = {.bytes = sizeof scan_bytes};
static lap_photo_counts device_counts;

static void note(const char *what)
{
    assert_in_range(strlen(dev.log) + strlen(what) + 2, 0, sizeof dev.log);
    strcat(strcat(dev.log, what), " ");
}

static lap_code step(const char *what, lap_error *err)
{
    note(what);
    if (++dev.calls != dev.fails_at)
        return LAP_OK;
    dev.failed = what;
    return lap_fail(err, dev.code == LAP_OK ? LAP_E_DEVICE : dev.code, "%s failed", what);
}

double __real_lap_now_ms(void);
double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return dev.counts_time ? ++dev.now : __real_lap_now_ms();
}

double __real_lap_source_ms(const lap_source *source);
double __wrap_lap_source_ms(const lap_source *source);
double __wrap_lap_source_ms(const lap_source *source)
{
    return dev.counts_time ? 7 : __real_lap_source_ms(source);
}

lap_code __wrap_lap_jpeg_head_make(const lap_write_options *options, lap_jpeg_head *head, lap_error *err);
lap_code __wrap_lap_jpeg_head_make(const lap_write_options *options, lap_jpeg_head *head, lap_error *err)
{
    (void)options;
    *head = (lap_jpeg_head){.components = 3};
    if (dev.no_header)
        return lap_fail(err, LAP_E_UNSUPPORTED, "no such file");
    const lap_code code = step("head", err);
    if (code == LAP_OK) {
        assert_int_equal(lap_chunk_reserve(&head->header, 4, NULL), LAP_OK);
        memcpy(head->header.data, "head", head->header.size = 4);
    }
    return code;
}

lap_code __wrap_lap_device_slot_create(int device, lap_device_slot **slot, lap_error *err);
lap_code __wrap_lap_device_slot_create(int device, lap_device_slot **slot, lap_error *err)
{
    assert_int_equal(device, DEVICE);
    *slot = NULL;
    const lap_code code = step("slot", err);
    if (code == LAP_OK)
        *slot = (lap_device_slot *)malloc(1);
    return code;
}

void __wrap_lap_device_slot_destroy(lap_device_slot *slot);
void __wrap_lap_device_slot_destroy(lap_device_slot *slot)
{
    if (slot)
        note("-slot");
    free(slot);
}

lap_code __wrap_lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err);
lap_code __wrap_lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err)
{
    assert_int_equal(device, DEVICE);
    assert_int_equal(kind, LAP_HOST_PAGED);
    assert_int_equal(most, 0);
    *staging = NULL;
    const lap_code code = step("staging", err);
    if (code == LAP_OK) {
        *staging = calloc(1, sizeof **staging);
        (*staging)->encoded = &encoded;
        (*staging)->counts = &device_counts;
    }
    return code;
}

void __wrap_lap_device_staging_destroy(lap_device_staging *staging);
void __wrap_lap_device_staging_destroy(lap_device_staging *staging)
{
    if (staging)
        note("-staging");
    free(staging);
}

void __wrap_lap_device_staging_lend(lap_device_staging *staging, const uint8_t *bytes, size_t size);
void __wrap_lap_device_staging_lend(lap_device_staging *staging, const uint8_t *bytes, size_t size)
{
    note("lend");
    assert_non_null(bytes);
    staging->bytes = bytes;
    staging->file_bytes = size;
}

lap_code __wrap_lap_device_staging_file(lap_device_staging *staging, size_t bytes, lap_error *err);
lap_code __wrap_lap_device_staging_file(lap_device_staging *staging, size_t bytes, lap_error *err)
{
    dev.room = bytes;
    const lap_code code = step("file", err);
    if (code == LAP_OK)
        staging->file.bytes = staging->file.bytes ? realloc(staging->file.bytes, bytes) : malloc(bytes);
    return code;
}

lap_code __wrap_lap_device_staging_plan(
    lap_device_staging *staging, const lap_device_wish *wish, bool *handled, lap_error *err);
lap_code __wrap_lap_device_staging_plan(
    lap_device_staging *staging, const lap_device_wish *wish, bool *handled, lap_error *err)
{
    assert_in_range(dev.wish_count, 0, 1);
    dev.wishes[dev.wish_count++] = *wish;
    *handled = dev.handles[wish->pixels != NULL];
    staging->is_encoded = dev.encodes;
    return step("plan", err);
}

bool __wrap_lap_device_staging_has_source(const lap_device_staging *staging);
bool __wrap_lap_device_staging_has_source(const lap_device_staging *staging)
{
    (void)staging;
    return dev.has_source[dev.runs - 1];
}

bool __wrap_lap_device_staging_has_scan(const lap_device_staging *staging);
bool __wrap_lap_device_staging_has_scan(const lap_device_staging *staging)
{
    (void)staging;
    return dev.has_scan;
}

lap_code __wrap_lap_device_slot_run(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_views_filter *filter, lap_times *times, lap_error *err);
lap_code __wrap_lap_device_slot_run(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_views_filter *filter, lap_times *times, lap_error *err)
{
    assert_true(slot && staging);
    dev.filter = *filter;
    dev.times = times;
    dev.runs++;
    if (dev.cancels)
        *dev.cancels = 1;
    return step("run", err);
}

lap_code __wrap_lap_device_slot_scan(
    lap_device_slot *slot, const lap_device_staging *staging, lap_chunk *scan, lap_error *err);
lap_code __wrap_lap_device_slot_scan(
    lap_device_slot *slot, const lap_device_staging *staging, lap_chunk *scan, lap_error *err)
{
    assert_true(slot && staging);
    const lap_code code = step("scan", err);
    if (code == LAP_OK) {
        assert_int_equal(lap_chunk_reserve(scan, sizeof scan_bytes, NULL), LAP_OK);
        memcpy(scan->data, scan_bytes, scan->size = sizeof scan_bytes);
    }
    return code;
}

lap_code __wrap_lap_device_slot_pixels(lap_device_slot *slot, const lap_view *host, lap_error *err);
lap_code __wrap_lap_device_slot_pixels(lap_device_slot *slot, const lap_view *host, lap_error *err)
{
    assert_non_null(slot);
    assert_true(host->width == 6 && host->height == 4 && host->channels == 3 && host->apron == 0);
    return step("pixels", err);
}

lap_code __wrap_lap_photo_collect(lap_photo *p, lap_error *err);
lap_code __wrap_lap_photo_collect(lap_photo *p, lap_error *err)
{
    (void)p;
    return step("collect", err);
}

lap_code __real_lap_sink_reserve(lap_sink *sink, size_t size, lap_error *err);
lap_code __wrap_lap_sink_reserve(lap_sink *sink, size_t size, lap_error *err);
lap_code __wrap_lap_sink_reserve(lap_sink *sink, size_t size, lap_error *err)
{
    if (dev.reserves++ == 0)
        dev.reserved = size;
    if (dev.write_fails == 1)
        return lap_fail(err, LAP_E_MEMORY, "no memory");
    return __real_lap_sink_reserve(sink, size, err);
}

lap_code __real_lap_sink_write(lap_sink *sink, const void *bytes, size_t size, lap_error *err);
lap_code __wrap_lap_sink_write(lap_sink *sink, const void *bytes, size_t size, lap_error *err);
lap_code __wrap_lap_sink_write(lap_sink *sink, const void *bytes, size_t size, lap_error *err)
{
    dev.writes++;
    if (dev.write_fails == dev.writes + 1)
        return lap_fail(err, LAP_E_DISK_FULL, "write %d", dev.writes);
    return __real_lap_sink_write(sink, bytes, size, err);
}

lap_code __real_lap_source_hold(
    lap_source *source, size_t limit, const uint8_t **bytes, size_t *size, bool *whole, lap_error *err);
lap_code __wrap_lap_source_hold(
    lap_source *source, size_t limit, const uint8_t **bytes, size_t *size, bool *whole, lap_error *err);
lap_code __wrap_lap_source_hold(
    lap_source *source, size_t limit, const uint8_t **bytes, size_t *size, bool *whole, lap_error *err)
{
    dev.limit = limit;
    dev.holds++;
    return dev.hold_fails ? lap_fail(err, LAP_E_MEMORY, "no memory")
                          : __real_lap_source_hold(source, limit, bytes, size, whole, err);
}

lap_code __real_lap_input_look(lap_source *source, lap_input *kind, lap_error *err);
lap_code __wrap_lap_input_look(lap_source *source, lap_input *kind, lap_error *err);
lap_code __wrap_lap_input_look(lap_source *source, lap_input *kind, lap_error *err)
{
    const lap_code code = __real_lap_input_look(source, kind, err);
    return dev.no_input ? lap_fail(err, LAP_E_UNREADABLE, "no input") : code;
}

int __real_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (dev.no_thread)
        return EAGAIN;
    dev.threads++;
    return __real_pthread_create(thread, attributes, start, argument);
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
    dev.joins++;
    return __real_pthread_join(thread, result);
}

void __wrap_lap_rung_start_device(lap_op op, const char *list, int device);
void __wrap_lap_rung_start_device(lap_op op, const char *list, int device)
{
    dev.starts += op == LAP_OP_FILTER && strcmp(list, "rung") == 0 && device == DEVICE;
}

lap_code __real_lap_plan_settings(
    lap_plan *plan, const lap_settings *settings, const lap_rung *rung, int threads, lap_error *err);
lap_code __wrap_lap_plan_settings(
    lap_plan *plan, const lap_settings *settings, const lap_rung *rung, int threads, lap_error *err);
lap_code __wrap_lap_plan_settings(
    lap_plan *plan, const lap_settings *settings, const lap_rung *rung, int threads, lap_error *err)
{
    assert_int_equal(threads, 1);
    const lap_code code = __real_lap_plan_settings(plan, settings, rung, threads, err);
    plan->decodes_there = dev.decodes_there;
    plan->encodes_there = dev.encodes_there;
    plan->device = DEVICE;
    return dev.no_settings ? lap_fail(err, LAP_E_BACKEND, "no such backend") : code;
}

lap_code __real_lap_photo_open(lap_photo *p, lap_error *err);
lap_code __wrap_lap_photo_open(lap_photo *p, lap_error *err);
lap_code __wrap_lap_photo_open(lap_photo *p, lap_error *err)
{
    const lap_code code = __real_lap_photo_open(p, err);
    if (code == LAP_OK)
        p->decoder->damage.warnings = dev.header_warnings;
    return code;
}

static void reset(void)
{
    memset(&dev, 0, sizeof dev);
    memset(&device_counts, 0, sizeof device_counts);
    device_counts.source[0][7] = device_counts.result[2][9] = 5;
}

static const lap_rung rung = {.op = LAP_OP_FILTER, .name = "rung", .family = "cuda", .device = 1};

/* Checks that the sink has exactly these bytes; there may be none. */
static void assert_written(lap_sink *sink, const char *bytes)
{
    void *got;
    size_t size;
    lap_sink_take(sink, &got, &size);
    assert_int_equal(size, strlen(bytes));
    assert_memory_equal(got, bytes, size);
    free(got);
}

/* ---- the file for the device ------------------------------------------------------------------------ */

/* Only a JPEG within the limit is held. */
static void a_file_is_held_for_the_device(void **unused)
{
    (void)unused;
    enum { SIZE = 40 };
    static const uint64_t limits[] = {0, 1, SIZE - 1, SIZE, SIZE + 1, LAP_SOURCE_MOST - 1, LAP_SOURCE_MOST,
        LAP_SOURCE_MOST + 1, UINT64_MAX};
    static const char *const beginnings[] = {"\xff\xd8\xff", "P6 1 1 255\n", ""};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (int kind = 0; kind < 3; kind++) {
            lap_photo p = {.plan = {.rung = &rung, .device = DEVICE, .max_memory = limits[i]}};
            uint8_t bytes[SIZE] = {0};
            reset();
            memcpy(bytes, beginnings[kind], strlen(beginnings[kind]));
            FILE *file = fopen(at("held"), "wb");
            assert_non_null(file);
            assert_int_equal(fwrite(bytes, 1, kind == 2 ? 0 : SIZE, file), kind == 2 ? 0 : SIZE);
            assert_int_equal(fclose(file), 0);
            assert_int_equal(lap_source_open(at("held"), &p.source, NULL), LAP_OK);
            assert_int_equal(lap_photo_hold_file(&p, NULL), LAP_OK);
            const bool is_held = kind == 0 && (limits[i] == 0 || limits[i] >= SIZE);
            assert_int_equal(dev.holds, kind == 0);
            if (kind == 0)
                assert_int_equal(
                    dev.limit, limits[i] == 0 || limits[i] > LAP_SOURCE_MOST ? LAP_SOURCE_MOST : limits[i]);
            assert_int_equal(p.device.file != NULL, is_held);
            assert_int_equal(p.device.file_size, is_held ? SIZE : 0);
            if (is_held)
                assert_memory_equal(p.device.file, bytes, SIZE);
            lap_photo_wait_for_device(&p);
            lap_photo_wait_for_device(&p);
            assert_true(dev.threads == 1 && dev.joins == 1 && dev.starts == 1);
            assert_false(p.device.is_starting);
            lap_source_close(p.source);
        }
}

static void a_file_cannot_be_held(void **unused)
{
    (void)unused;
    for (int n = 0; n < 4; n++) {
        lap_photo p = {.plan = {.rung = &rung, .device = DEVICE}};
        lap_error err = {0};
        reset();
        dev.no_input = n == 1;
        dev.hold_fails = n == 2;
        dev.no_thread = n == 3;
        assert_int_equal(lap_source_memory("\xff\xd8\xff", 3, "given", &p.source, NULL), LAP_OK);
        const lap_code code = lap_photo_hold_file(&p, &err);
        assert_int_equal(code, n == 1 ? LAP_E_UNREADABLE : n == 2 ? LAP_E_MEMORY : LAP_OK);
        assert_int_equal(dev.holds, n != 1);
        assert_int_equal(p.device.file != NULL, code == LAP_OK);
        assert_int_equal(p.device.is_starting, n != 3);
        lap_photo_wait_for_device(&p);
        assert_int_equal(dev.joins, n != 3);
        lap_source_close(p.source);
    }
}

/* ---- the output ------------------------------------------------------------------------------------- */

static void a_file_is_put_together(void **unused)
{
    (void)unused;
    static uint8_t header_bytes[] = {'h', 'e', 'a', 'd'}, other[] = {'S', 'C', 'A', 'N'};
    const lap_chunk header = {.data = header_bytes, .size = sizeof header_bytes};
    static const char *const messages[] = {"", "no memory", "write 1", "write 2", "write 3", "scan failed"};
    for (int n = 0; n < 12; n++) {
        const bool is_downloaded = n % 2;
        const int fails = n / 2;
        lap_device_staging staging = {.scan = {.bytes = other, .room = 4}, .encoded = &encoded};
        lap_device_slot *slot = is_downloaded ? malloc(1) : NULL;
        lap_times ms = {.download = 10, .encode = 20, .write = 30};
        lap_sink *sink;
        lap_error err = {0};
        reset();
        assert_int_equal(lap_sink_memory(&sink, NULL), LAP_OK);
        dev.counts_time = true;
        dev.write_fails = fails < 5 ? fails : 0;
        dev.fails_at = fails == 5;
        const bool is_whole = fails == 0 || (fails == 5 && !is_downloaded);
        const lap_code code = lap_photo_bring_jpeg(slot, &staging, &header, sink, &ms, &err);
        dev.counts_time = false;
        assert_string_equal(err.message, is_whole ? "" : messages[fails]);
        assert_int_equal(code, err.code);
        assert_string_equal(dev.log, is_downloaded ? "scan " : "");
        assert_int_equal(dev.writes, is_whole ? 3 : fails < 5 ? fails - 1 : 0);
        if (is_whole || fails < 5)
            assert_int_equal(dev.reserved, 10);
        assert_true(ms.download == 11 && ms.write == 30);
        assert_true(ms.encode == (is_whole || fails < 5 ? 21 : 20));
        if (is_whole)
            assert_written(sink, is_downloaded ? "headscan\xff\xd9" : "headSCAN\xff\xd9");
        lap_sink_close(sink);
        free(slot);
    }
}

/* ---- a caller waits --------------------------------------------------------------------------------- */

typedef struct way { /* of a photo, and its calls if none fails */
    bool has_file, handles[2], has_source[2], encodes, has_scan, nothing, stats;
    const char *log;
    lap_code code;
    bool is_done, decoded, encoded;
} way;

static const way ways[] = {
    {true, {true, false}, {true}, true, true, false, false,
        "head slot staging lend plan run scan -staging -slot ", LAP_OK, true, true, true},
    {true, {false, true}, {true}, true, true, false, true,
        "head slot staging lend plan collect plan run scan -staging -slot ", LAP_OK, true, false, true},
    {true, {true, true}, {false, true}, true, true, false, false,
        "head slot staging lend plan run collect plan run scan -staging -slot ", LAP_OK, true, false, true},
    {false, {true, true}, {true}, true, true, false, false,
        "head slot staging collect plan run scan -staging -slot ", LAP_OK, true, false, true},
    {true, {true, true}, {true}, true, false, false, false,
        "head slot staging lend plan run pixels -staging -slot ", LAP_OK, false, true, false},
    {true, {true, true}, {true}, false, false, false, true,
        "slot staging lend plan run pixels -staging -slot ", LAP_OK, false, true, false},
    {true, {true, true}, {true}, false, false, true, false, "slot staging lend plan run -staging -slot ",
        LAP_OK, true, true, false},
    {false, {true, true}, {true}, false, false, true, true, "slot staging collect plan run -staging -slot ",
        LAP_OK, true, false, false},
    {false, {true, false}, {true}, true, true, false, false, "head slot staging collect plan -staging -slot ",
        LAP_E_DEVICE, false, false, false},
    {true, {true, true}, {false, false}, true, true, false, false,
        "head slot staging lend plan run collect plan run -staging -slot ", LAP_E_DEVICE, false, false,
        false},
};

/* Returns the calls up to number fails_at, and those that release everything. */
static void shorten(const char *log, int fails_at, char *shorter, size_t size)
{
    char all[256], *rest = NULL;
    bool has_slot = false, has_staging = false;
    int calls = 0;
    snprintf(all, sizeof all, "%s", log);
    *shorter = 0;
    for (char *word = strtok_r(all, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (word[0] == '-')
            break;
        strcat(strcat(shorter, word), " ");
        calls += strcmp(word, "lend") != 0;
        if (calls == fails_at && strcmp(word, "lend") != 0)
            break;
        has_slot |= strcmp(word, "slot") == 0;
        has_staging |= strcmp(word, "staging") == 0;
    }
    strcat(shorter, has_staging ? "-staging " : "");
    strcat(shorter, has_slot ? "-slot " : "");
    assert_true(strlen(shorter) < size);
}

static int calls_of(const char *log)
{
    int calls = 0;
    for (const char *at = log; *at; at = strchr(at, ' ') + 1)
        calls += at[0] != '-' && strncmp(at, "lend ", 5) != 0;
    return calls;
}

static void check_wishes(const lap_photo *p, const way *w)
{
    for (int i = 0; i < dev.wish_count; i++) {
        const lap_device_wish *wish = &dev.wishes[i];
        const bool is_of_file = i == 0 && w->has_file;
        assert_ptr_equal(wish->pixels, is_of_file ? NULL : &p->whole.view);
        assert_null(wish->source);
        assert_null(wish->result);
        assert_true(wish->gray && wish->filters && wish->turn == LAP_TURN_90);
        assert_true(wish->width == 6 && wish->height == 4 && wish->channels == 3);
        assert_int_equal(wish->head != NULL, w->encodes);
        assert_int_equal(wish->counts, w->stats || w->nothing);
    }
}

static void *start_nothing(void *argument)
{
    return argument;
}

/* Runs the photo, with call number fails_at failing (0: none), and compares all there is to know. */
static void check_way(const way *w, int fails_at, bool is_cancelled)
{
    static lap_run_stats stats;
    static const uint8_t file[] = "file";
    atomic_int cancel = 0;
    lap_photo_counts counts = {.source = {{0}}};
    lap_decoder decoder = {.damage = {.warnings = 4}};
    lap_error err = {0};
    char wanted[256], message[64];
    bool is_done = true;
    reset();
    lap_photo p = {.plan = {.rung = &rung,
                       .device = DEVICE,
                       .border = LAP_WRAP,
                       .gray = true,
                       .turn = LAP_TURN_90,
                       .width = 6,
                       .height = 4,
                       .channels = 3,
                       .format = w->nothing ? LAP_FORMAT_NOTHING : LAP_FORMAT_JPG,
                       .encodes_there = w->encodes,
                       .stats = w->stats ? &stats : NULL},
        .control = {.cancel = &cancel},
        .counts = w->stats ? &counts : NULL,
        .decoder = &decoder};
    counts.source[0][7] = 1;
    if (w->has_file) {
        p.device.file = file;
        p.device.file_size = 5;
    }
    assert_int_equal(lap_source_memory(file, 5, "given", &p.source, NULL), LAP_OK);
    assert_int_equal(lap_sink_memory(&p.sink, NULL), LAP_OK);
    memcpy(dev.handles, w->handles, sizeof dev.handles);
    memcpy(dev.has_source, w->has_source, sizeof dev.has_source);
    dev.has_scan = w->has_scan;
    dev.encodes = w->encodes;
    dev.fails_at = fails_at;
    dev.cancels = is_cancelled ? &cancel : NULL;
    assert_int_equal(__real_pthread_create(&p.device.starter, NULL, start_nothing, NULL), 0);
    p.device.is_starting = true;
    dev.counts_time = true;
    const lap_code code = lap_photo_on_device(&p, &is_done, &err);
    dev.counts_time = false;
    assert_true(dev.joins == 1 && !p.device.is_starting);
    const bool fails = fails_at > 0, has_run = strstr(dev.log, "run ") != NULL;
    shorten(w->log, fails_at, wanted, sizeof wanted);
    if (is_cancelled)
        assert_null(strstr(dev.log, "scan") || strstr(dev.log, "pixels") ? dev.log : NULL);
    else
        assert_string_equal(dev.log, wanted);
    assert_int_equal(code, is_cancelled ? LAP_E_CANCELLED : fails ? LAP_E_DEVICE : w->code);
    assert_int_equal(is_done, code == LAP_OK && w->is_done);
    check_wishes(&p, w);
    if (has_run) {
        assert_true(dev.filter.rung == &rung && dev.filter.params == &p.plan.params);
        assert_int_equal(dev.filter.border, LAP_WRAP);
        assert_ptr_equal(dev.times, &p.ms);
    }
    const bool fails_late = fails && (strcmp(dev.failed, "scan") == 0 || strcmp(dev.failed, "pixels") == 0);
    const bool got_counts = w->stats && (code == LAP_OK || fails_late);
    assert_int_equal(counts.source[0][7], got_counts ? 6 : 1);
    assert_int_equal(counts.result[2][9], got_counts ? 5 : 0);
    assert_int_equal(p.device.encoded, code == LAP_OK && w->encoded);
    if (code == LAP_OK || !fails) {
        assert_int_equal(p.device.decoded, w->decoded);
        assert_int_equal(p.damage.warnings, w->decoded ? 4 : 0);
        assert_true(p.ms.decode == (w->decoded ? 7 : 0));
        assert_int_equal(lap_source_bytes(p.source), w->decoded ? 5 : 0);
    }
    if (code == LAP_OK && !w->nothing) {
        assert_true(p.ms.download == 1);
        assert_true(p.ms.encode == (w->encoded ? 1 : 0));
        assert_int_equal(p.filtered.memory != NULL, !w->has_scan);
    }
    if (fails) {
        snprintf(message, sizeof message, "%s failed", dev.failed);
        assert_string_equal(err.message, message);
    } else if (code == LAP_E_DEVICE) {
        assert_string_equal(err.message, "CUDA device 3 did not process the pixels");
    }
    assert_written(p.sink, code == LAP_OK && w->encoded ? "headscan\xff\xd9" : "");
    lap_image_destroy(&p.filtered);
    lap_sink_close(p.sink);
    lap_source_close(p.source);
}

static void a_photo_goes_by_the_device(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        for (int fails_at = 0; fails_at <= calls_of(ways[i].log); fails_at++)
            check_way(&ways[i], fails_at, false);
        if (ways[i].code == LAP_OK)
            check_way(&ways[i], 0, true);
    }
}

/* ---- in pieces -------------------------------------------------------------------------------------- */

static jpeg_bytes jpeg;
static lap_context *context;

static void write_photo(const void *bytes, size_t size)
{
    FILE *file = fopen(at("in.jpg"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

typedef struct loaded { /* the expected result of loading, and its calls */
    lap_code code;
    bool handled;
    const char *log;
} loaded;

static lap_settings of_loading(void)
{
    lap_settings s = lap_settings_default();
    s.backend = "c";
    s.filter = true;
    return s;
}

static void prepare(void)
{
    reset();
    dev.decodes_there = dev.encodes_there = dev.encodes = true;
    dev.handles[0] = true;
    write_photo(jpeg.data, jpeg.size);
}

/* Loads the photo, compares the result, and closes the run. */
static void check_load(const lap_settings *s, const char *out, const loaded *wanted)
{
    lap_device_staging staging = {.encoded = &encoded, .counts = &device_counts};
    const lap_run_order order = {.context = context, .in = at("in.jpg"), .out = out, .settings = s};
    lap_async_run run;
    lap_error err = {0};
    bool handled = !wanted->handled;
    const int before = open_files();
    const lap_code code = lap_async_run_load(&run, &order, NULL, &staging, &handled, &err);
    assert_int_equal(code, wanted->code);
    assert_int_equal(handled, wanted->handled);
    assert_string_equal(dev.log, wanted->log);
    if (!handled) {
        assert_null(run.photo.decoder);
        assert_null(run.photo.source);
        assert_null(run.header.data);
        assert_int_equal(open_files(), before);
    } else {
        const lap_device_wish *wish = &dev.wishes[0];
        assert_true(run.photo.device.decoded);
        assert_int_equal(run.photo.device.encoded, out != NULL);
        assert_true(wish->filters && !wish->pixels && wish->width == 60 && wish->height == 40);
        assert_int_equal(wish->head != NULL, dev.encodes_there);
        assert_int_equal(wish->counts, s->stats != NULL || !out);
        assert_int_equal(run.header.size, dev.encodes_there ? 4 : 0);
        assert_int_equal(staging.file_bytes, jpeg.size);
        assert_memory_equal(staging.file.bytes, jpeg.data, jpeg.size);
        assert_int_equal(dev.room, jpeg.size + 1);
        assert_string_equal(run.in, at("in.jpg"));
        assert_ptr_equal(run.staging, &staging);
        lap_async_run_close(&run);
    }
    lap_async_run_close(&run); /* a second time */
    assert_int_equal(open_files(), before);
    free(staging.file.bytes);
}

static void a_photo_is_loaded_for_a_device(void **unused)
{
    (void)unused;
    lap_settings s = of_loading();
    lap_run_stats stats;
    prepare();
    check_load(&s, "o.jpg", &(loaded){LAP_OK, true, "file head plan "});
    prepare();
    s.stats = &stats;
    check_load(&s, "o.jpg", &(loaded){LAP_OK, true, "file head plan "});
    prepare();
    s.stats = NULL;
    dev.encodes_there = dev.encodes = false; /* it is only measured */
    check_load(&s, NULL, &(loaded){LAP_OK, true, "file plan "});
}

/* If the settings ask for something that a device cannot do, nothing is read. */
static void a_device_cannot_do_what_is_asked(void **unused)
{
    (void)unused;
    for (int n = 0; n < 4; n++) {
        lap_settings s = of_loading();
        prepare();
        dev.no_settings = n == 1;
        dev.decodes_there = n != 2;
        dev.encodes_there = n != 3;
        check_load(&s, n == 0 ? "o.xyz" : "o.jpg", &(loaded){LAP_OK, false, ""});
    }
}

static void a_file_is_not_one_for_a_device(void **unused)
{
    (void)unused;
    lap_settings s = of_loading();
    const loaded unread = {LAP_OK, false, ""}, unlike = {LAP_OK, false, "file "};
    prepare();
    assert_int_equal(unlink(at("in.jpg")), 0);
    check_load(&s, "o.jpg", &unread);
    prepare();
    assert_int_equal(unlink(at("in.jpg")), 0);
    assert_int_equal(mkdir(at("in.jpg"), 0700), 0);
    check_load(&s, "o.jpg", &unread);
    assert_int_equal(rmdir(at("in.jpg")), 0);
    for (size_t size = 2; size < 6; size++) { /* so short that it cannot be a JPEG */
        prepare();
        write_photo("\xff\xd8\xff\xe0\xff", size);
        check_load(&s, "o.jpg", size < 4 ? &unread : &unlike);
    }
    prepare();
    write_photo("P5 1 1 255\nx", 12);
    check_load(&s, "o.jpg", &unlike);
    for (int more = 0; more < 2; more++) { /* as large as the limit for held files, and larger */
        prepare();
        assert_int_equal(truncate(at("in.jpg"), (off_t)LAP_SOURCE_MOST + more), 0);
        dev.fails_at = 1;
        dev.code = LAP_E_LIMIT;
        check_load(&s, "o.jpg", more ? &unread : &unlike);
    }
    prepare();
    write_photo(jpeg.data, 30); /* its header is cut */
    check_load(&s, "o.jpg", &unlike);
    prepare();
    dev.header_warnings = 1;
    check_load(&s, "o.jpg", &unlike);
}

/* If the three images that the CPU needs exceed the limit, the CPU gets the photo, and reports it. */
static void a_photo_is_too_large_for_the_limit(void **unused)
{
    (void)unused;
    const uint64_t needs = 3 * 60 * 40 * 3 + jpeg.size;
    for (int less = 0; less < 2; less++) {
        lap_settings s = of_loading();
        s.max_memory = needs - (uint64_t)less;
        prepare();
        check_load(&s, "o.jpg",
            less ? &(loaded){LAP_OK, false, "file "} : &(loaded){LAP_OK, true, "file head plan "});
    }
}

static void a_plan_cannot_be_made(void **unused)
{
    (void)unused;
    static const lap_code codes[] = {
        LAP_E_DEVICE, LAP_E_MEMORY, LAP_E_LIMIT}; /* LIMIT: too much pinned memory */
    lap_settings s = of_loading();
    for (int i = 0; i < 3; i++)
        for (int fails_at = 1; fails_at <= 3; fails_at++) {
            const lap_code code = codes[i] == LAP_E_LIMIT || fails_at == 2 ? LAP_OK : codes[i];
            prepare();
            dev.fails_at = fails_at;
            dev.code = codes[i];
            check_load(&s, "o.jpg",
                &(loaded){code, false,
                    fails_at == 1   ? "file "
                    : fails_at == 2 ? "file head "
                                    : "file head plan "});
        }
    prepare();
    dev.no_header = true;
    check_load(&s, "o.jpg", &(loaded){LAP_OK, false, "file "});
    prepare();
    dev.handles[0] = false;
    check_load(&s, "o.jpg", &(loaded){LAP_OK, false, "file head plan "});
    prepare();
    dev.encodes = false; /* the device would leave it to the CPU */
    check_load(&s, "o.jpg", &(loaded){LAP_OK, false, "file head plan "});
}

/* The time that the device needs to start does not count. */
static void a_clock_is_restarted(void **unused)
{
    (void)unused;
    for (int has_limit = 0; has_limit < 2; has_limit++) {
        lap_async_run run = {.began_ms = 100, .photo.control.deadline_ms = has_limit ? 5000 : 0};
        reset();
        dev.counts_time = true;
        dev.now = 399;
        lap_async_run_restart(&run);
        dev.counts_time = false;
        assert_true(run.began_ms == 400);
        assert_true(run.photo.control.deadline_ms == (has_limit ? 5300 : 0));
    }
}

/* If the photo has changed since it was read, or the run is stopped, nothing of its output remains and no
 * descriptor stays open. */
static void what_a_device_did_is_stored(void **unused)
{
    (void)unused;
    static uint8_t header[] = {'h', 'e', 'a', 'd'};
    static const lap_code codes[] = {
        LAP_OK, LAP_OK, LAP_E_CANCELLED, LAP_E_CHANGED, LAP_E_MISSING, LAP_E_DISK_FULL, LAP_E_USAGE};
    lap_tree tree;
    assert_int_equal(lap_tree_open(scratch, &tree, NULL), LAP_OK);
    for (int n = 0; n < 7; n++) {
        lap_device_staging staging = {.scan = {.bytes = scan_bytes, .room = sizeof scan_bytes},
            .encoded = &encoded,
            .counts = &device_counts};
        atomic_int cancel = n == 2;
        lap_run_stats stats = {.input.channels = 0};
        lap_async_run f = {.in = "in.jpg",
            .staging = &staging,
            .header = {.data = header, .size = sizeof header},
            .photo = {.control = {.cancel = &cancel},
                .width = 31,
                .height = 32,
                .channels = 1,
                .plan = {.stats = n == 1 || n == 6 ? &stats : NULL}}};
        const lap_run_order order = {
            .in = "in.jpg", .tree = &tree, .out = n == 4 ? "none/o.jpg" : "o.jpg", .settings = NULL};
        lap_sink *sink = (lap_sink *)&f;
        lap_report report;
        lap_error err = {0};
        struct stat read = {0};
        empty_scratch();
        reset();
        dev.write_fails = n == 5 ? 3 : 0;
        device_counts.result[0][8] = n == 6 ? 0 : 5;
        put(at("in.jpg"), "a photo");
        assert_int_equal(lap_source_open(at("in.jpg"), &f.photo.source, NULL), LAP_OK);
        if (n == 3)
            put(at("in.jpg"), "another photo");
        const int before = open_files();
        const lap_code code = lap_async_run_store(&f, &order, n == 0 ? NULL : &read, &sink, &report, &err);
        assert_int_equal(code, codes[n]);
        assert_int_equal(report.status, code == LAP_OK ? LAP_DONE : LAP_FAILED);
        assert_int_equal(report.error.code, code);
        assert_int_equal(err.code, code);
        assert_int_equal(report.width, n == 2 || n == 4 ? 0 : 31); /* as far as known */
        assert_int_equal(read.st_ino != 0, n == 1);
        assert_null(f.photo.sink);
        if (code == LAP_OK) {
            assert_int_equal(report.bytes_out, 10);
            assert_int_equal(lap_sink_publish(sink, NULL), LAP_OK);
            lap_sink_close(sink);
            assert_holds(at("o.jpg"), "headscan\xff\xd9");
            assert_int_equal(stats.input.channels, n == 1);
            if (n == 1)
                assert_int_equal(stats.edges.channel[0].histogram[8], 5);
        } else {
            assert_null(sink);
            assert_int_equal(open_files(), before);
            assert_int_equal(access(at("o.jpg"), F_OK), -1);
            assert_int_equal(count_temps(scratch), 0);
        }
        lap_source_close(f.photo.source);
    }
    empty_scratch();
    lap_tree_close(&tree);
}

static void what_a_device_counted_is_measured(void **unused)
{
    (void)unused;
    static const lap_code codes[] = {LAP_OK, LAP_E_CANCELLED, LAP_E_USAGE, LAP_E_CHANGED};
    for (int n = 0; n < 4; n++) {
        lap_device_staging staging = {.channels = 1, .counts = &device_counts};
        atomic_int cancel = n == 1;
        lap_async_run f = {.in = "in.jpg",
            .staging = &staging,
            .photo = {.control = {.cancel = &cancel},
                .width = 31,
                .plan = {.rung = &rung, .width = 31, .height = 32, .channels = 3, .backend = "c"}}};
        const lap_measure_options options = {.threshold = n == 2 ? 256 : 8};
        lap_measurement m;
        lap_report report;
        lap_error err = {0};
        reset();
        memset(&m, 0x55, sizeof m);
        device_counts.result[0][8] = 5;
        put(at("in.jpg"), "a photo");
        assert_int_equal(lap_source_open(at("in.jpg"), &f.photo.source, NULL), LAP_OK);
        if (n == 3)
            put(at("in.jpg"), "another photo");
        assert_int_equal(lap_async_run_measure(&f, &options, &m, &report, &err), codes[n]);
        assert_int_equal(err.code, codes[n]);
        assert_int_equal(report.status, n ? LAP_FAILED : LAP_DONE);
        assert_int_equal(report.width, 31);
        assert_true(m.width == 31 && m.height == 32 && m.channels == 3);
        assert_string_equal(m.resolved, "rung");
        assert_true(!m.rows && !m.columns && !m.note && m.mask_border == 0);
        if (n == 0) {
            assert_int_equal(m.stats.input.threshold, 8);
            assert_int_equal(m.stats.input.channel[0].histogram[7], 5);
            assert_int_equal(m.stats.edges.channel[0].histogram[8], 5);
        }
        lap_source_close(f.photo.source);
    }
}

static int begin(void **unused)
{
    const jpeg_kind kind = {.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"};
    (void)unused;
    jpeg = jpeg_make(&kind, 60, 40);
    context = lap_context_create(1, NULL);
    return context ? 0 : -1;
}

static int end(void **unused)
{
    free(jpeg.data);
    lap_context_destroy(context);
    return remove_scratch(unused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_held_for_the_device),
        cmocka_unit_test(a_file_cannot_be_held),
        cmocka_unit_test(a_file_is_put_together),
        cmocka_unit_test(a_photo_goes_by_the_device),
        cmocka_unit_test(a_photo_is_loaded_for_a_device),
        cmocka_unit_test(a_device_cannot_do_what_is_asked),
        cmocka_unit_test(a_file_is_not_one_for_a_device),
        cmocka_unit_test(a_photo_is_too_large_for_the_limit),
        cmocka_unit_test(a_plan_cannot_be_made),
        cmocka_unit_test(a_clock_is_restarted),
        cmocka_unit_test(what_a_device_did_is_stored),
        cmocka_unit_test(what_a_device_counted_is_measured),
    };
    if (!make_scratch())
        return 99;
    return cmocka_run_group_tests(tests, begin, end);
}
