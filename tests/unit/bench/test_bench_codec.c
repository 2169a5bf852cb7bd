/* The codec's rows of a device, by rates that the test makes up; and each allocation of a bench that fails in
 * turn. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/status.h"
#include "bench/bench.h"
#include "bench/bench_codec.h"
#include "bench/bench_ladder.h"
#include "cuda/device/device.h"
#include "device/devices.h"
#include "rungs/backend.h"

enum { DEVICE = 3, RUNS = 5, STEP = 64, W = 24, H = 10, N = 64, VALUES = 1000 };

/* ---- a clock, and memory that runs out ------------------------------------------------------------ */

static int looks;

double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return STEP * ++looks;
}

static int allocations = -1; /* how many there are; -1: enough */

#define FAKE(type, name, parameters) \
    type __wrap_##name parameters;   \
    type __wrap_##name parameters

/* Each takes milliseconds, so only some benches measure it. */
static bool skips_peak;

lap_code __real_lap_bench_peak(lap_bench_run *run, const lap_bench_row *row, lap_error *err);
FAKE(lap_code, lap_bench_peak, (lap_bench_run * run, const lap_bench_row *row, lap_error *err))
{
    return skips_peak ? LAP_OK : __real_lap_bench_peak(run, row, err);
}

static size_t copied; /* what is to be measured, instead of doing so */
static double copied_pixels;
static bool skips_copies;

lap_code __real_lap_bench_memcpy(
    lap_bench_run *run, lap_bench_row *row, size_t bytes, double pixels, lap_error *err);
FAKE(lap_code, lap_bench_memcpy,
    (lap_bench_run * run, lap_bench_row *row, size_t bytes, double pixels, lap_error *err))
{
    copied = bytes;
    copied_pixels = pixels;
    return skips_copies ? LAP_OK : __real_lap_bench_memcpy(run, row, bytes, pixels, err);
}

/* ---- rates of coding on the device ---------------------------------------------------------------- */

static struct rates {
    const char *unavailable, *codec;
    int count, fails;      /* calls; which of them fails, counted from 1 */
    int compared, differs; /* which comparison finds a difference, counted from 1; 0: none */
    int objects, created;  /* that exist; that were made */
    double alone;          /* ms of a photo on one stream */
    char timed[1000];      /* streams and photos of each timing */
    const lap_rung *rung;
} rates;

static lap_code rated(lap_error *err)
{
    return ++rates.count == rates.fails ? lap_fail(err, LAP_E_DEVICE, "rate %d", rates.count) : LAP_OK;
}

static const lap_rung card = {.op = LAP_OP_FILTER, .name = "cuda-fast", .device = 1};

lap_code __real_lap_rung_find(lap_op op, const char *name, const lap_rung **rung, lap_error *err);
FAKE(lap_code, lap_rung_find, (lap_op op, const char *name, const lap_rung **rung, lap_error *err))
{
    if (strcmp(name, card.name) != 0)
        return __real_lap_rung_find(op, name, rung, err);
    *rung = &card;
    return LAP_OK;
}

FAKE(const char *, lap_cuda_unavailable, (void))
{
    return rates.unavailable;
}

FAKE(const char *, lap_device_codec_unavailable, (unsigned directions))
{
    assert_int_equal(directions, LAP_DEVICE_CODES);
    return rates.codec;
}

FAKE(lap_code, lap_bench_rates_create,
    (int device, const lap_rate_photo *photo, int slots, lap_bench_rates **made_rates, lap_error *err))
{
    assert_true(device == DEVICE && slots == 16);
    rates.rung = photo->rung;
    *made_rates = NULL;
    const lap_code code = rated(err);
    if (code != LAP_OK)
        return code;
    rates.objects++;
    rates.created++;
    *made_rates = (lap_bench_rates *)&rates;
    return LAP_OK;
}

FAKE(void, lap_bench_rates_destroy, (lap_bench_rates * of))
{
    rates.objects -= of != NULL;
}

FAKE(size_t, lap_bench_rates_bytes, (const lap_bench_rates *of, lap_rate rate))
{
    (void)of;
    return 1000 * ((size_t)rate + 1);
}

/* A photo takes a tenth of the time on several streams. */
FAKE(lap_code, lap_bench_rates_time,
    (lap_bench_rates * of, lap_rate rate, int slots, int photos, double *ms, lap_error *err))
{
    (void)of;
    const size_t at = strlen(rates.timed);
    snprintf(rates.timed + at, sizeof rates.timed - at, "%d/%d:%d ", (int)rate, slots, photos);
    *ms = rates.alone / (slots > 1 ? 10 : 1) + (int)rate;
    return rated(err);
}

FAKE(lap_code, lap_bench_rates_spoil, (lap_bench_rates * of, lap_rate rate, int slots, lap_error *err))
{
    (void)of;
    const size_t at = strlen(rates.timed);
    snprintf(rates.timed + at, sizeof rates.timed - at, "s%d/%d ", (int)rate, slots);
    return rated(err);
}

FAKE(lap_code, lap_bench_rates_compare,
    (lap_bench_rates * of, lap_rate rate, int slots, bool *same, lap_error *err))
{
    (void)of;
    const size_t at = strlen(rates.timed);
    snprintf(rates.timed + at, sizeof rates.timed - at, "c%d/%d ", (int)rate, slots);
    *same = ++rates.compared != rates.differs;
    return rated(err);
}

/* Only one is missing. */
static bool is_missing(void)
{
    return allocations >= 0 && allocations-- == 0;
}

void *__real_calloc(size_t count, size_t size);
FAKE(void *, calloc, (size_t count, size_t size))
{
    return is_missing() ? NULL : __real_calloc(count, size);
}

void *__real_malloc(size_t size);
FAKE(void *, malloc, (size_t size))
{
    return is_missing() ? NULL : __real_malloc(size);
}

/* ---- rows ----------------------------------------------------------------------------------------- */

enum { MOST = 50 };
typedef struct rows {
    lap_bench_row row[MOST];
    char names[2000];        /* of the rows, with their reasons */
    char reasons[MOST][100]; /* copies: a row's strings are valid until its callback returns */
    int count;
    bool varies; /* times of a true clock */
} rows;

static void keep(void *user, const lap_bench_row *row)
{
    rows *all = user;
    assert_true(all->count < MOST);
    const size_t at = strlen(all->names);
    snprintf(all->names + at, sizeof all->names - at, "%s%s%s%s%s ", row->backend, row->form ? "/" : "",
        row->form ? row->form : "", row->reason ? ":" : "", row->reason ? row->reason : "");
    for (int i = 0; i < row->runs; i++)
        assert_true(row->times_ms[i] == row->median_ms || all->varies);
    lap_bench_row *kept = &all->row[all->count];
    *kept = *row;
    kept->times_ms = NULL;
    if (row->reason) {
        snprintf(all->reasons[all->count], sizeof *all->reasons, "%s", row->reason);
        kept->reason = all->reasons[all->count];
    }
    all->count++;
}

static bool is_about(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(b);
}

/* Each allocation fails in turn. */
static void test_no_memory(void **state)
{
    (void)state;
    rates = (struct rates){.unavailable = "no device"};
    for (int op = 0; op < LAP_OP_COUNT; op++) {
        int failed = 0;
        for (int left = 0; left < 300; left++) {
            rows all;
            lap_error err = {0};
            lap_context *context = lap_context_create(1, NULL);
            assert_non_null(context);
            const lap_bench_options options = {.width = W,
                .height = H,
                .n = op == LAP_OP_REDUCE ? VALUES : N,
                .channels = 3,
                .runs = RUNS,
                .warm = true,
                .type = op == LAP_OP_REDUCE ? "f32" : NULL,
                .backends = "c",
                .params = lap_params_default()};
            skips_peak = op != LAP_OP_MATVEC;
            all = (rows){.count = 0};
            allocations = left;
            const lap_code code = lap_bench(context, (lap_op)op, &options, keep, &all, &err);
            const bool is_through = allocations >= 0;
            allocations = -1;
            lap_context_destroy(context);
            if (is_through) {
                assert_int_equal(code, LAP_OK);
                break;
            }
            assert_true(code == LAP_E_MEMORY ? err.code == LAP_E_MEMORY && err.message[0] : code == LAP_OK);
            failed += code == LAP_E_MEMORY;
        }
        assert_true(failed >= 4);
    }
}

/* The largest sizes, for which there is no memory here. */
static void test_largest(void **state)
{
    (void)state;
    static const struct {
        lap_op op;
        size_t n;
        lap_code code;
        const char *said;
    } cases[] = {{LAP_OP_MATVEC, 1 << 20, LAP_E_MEMORY, "bench: no memory for 1048576 x 1048576 floats"},
        {LAP_OP_MATVEC, (1 << 20) + 1, LAP_E_USAGE, "bench: 1048577 rows; at most 1048576"},
        {LAP_OP_REDUCE, INT32_MAX, LAP_E_MEMORY, "bench: no memory for 2147483647 values"},
        {LAP_OP_REDUCE, (size_t)INT32_MAX + 1, LAP_E_USAGE, "bench: 2147483648 values; at most 2147483647"}};
    rates = (struct rates){.unavailable = "no device"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err = {0};
        rows all = {.count = 0};
        lap_context *context = lap_context_create(1, NULL);
        assert_non_null(context);
        const lap_bench_options options = {
            .n = cases[i].n, .runs = 1, .backends = "c", .params = lap_params_default()};
        allocations = cases[i].code == LAP_E_MEMORY ? 0 : -1;
        const lap_code code = lap_bench(context, cases[i].op, &options, keep, &all, &err);
        allocations = -1;
        lap_context_destroy(context);
        assert_int_equal(code, cases[i].code);
        assert_string_equal(err.message, cases[i].said);
        assert_int_equal(all.count, 0);
    }
    /* At most 256 MB are copied to measure how fast that is; the row then is not about the pixels. */
    enum { MOST_BYTES = 256 << 20 };
    skips_copies = true;
    for (int more = -1; more <= 1; more++) {
        const lap_bench_options options = {.runs = 1};
        lap_bench_run run = {.options = &options, .c_ms = 5};
        lap_ladder ladder = {.bench = &run, .op = LAP_OP_MATVEC, .pixels = 77, .flops_per_byte = NAN};
        lap_error err;
        assert_int_equal(lap_bench_ladder_memcpy(&ladder, (size_t)(MOST_BYTES + more), &err), LAP_OK);
        assert_int_equal(copied, more < 0 ? MOST_BYTES - 1 : MOST_BYTES);
        assert_true(more < 0 ? copied_pixels == 77 : isnan(copied_pixels));
        assert_true(run.c_ms == 0);
    }
    skips_copies = false;
}

/* ---- the codec on a device ------------------------------------------------------------------------ */

enum { CODEC_ROWS = 16 };

static void time_photos(int photos, bool is_reported, rows *all)
{
    static uint8_t pixel;
    const lap_bench_options options = {.runs = RUNS, .device = DEVICE};
    lap_bench_run run = {.options = &options, .each = keep, .user = all};
    const lap_view pixels = {&pixel, W * 3, W, H, 3, 0, LAP_ON_HOST};
    const lap_rate_photo photo = {.pixels = &pixels};
    lap_codec_device device;
    lap_error err = {0};
    *all = (rows){.count = 0};
    rates.timed[0] = 0;
    rates.count = rates.compared = 0;
    assert_int_equal(lap_codec_device_begin(&device, &run, &err), LAP_OK);
    for (int i = 0; i < photos; i++)
        lap_codec_device_photo(&device, &photo);
    lap_codec_device_end(&device, is_reported);
    assert_int_equal(rates.objects, 0);
}

static void test_codec_rows(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int rate, streams, roof;
    } wanted[CODEC_ROWS] = {{"copy-up", 0, 1, 0}, {"copy-down", 1, 1, 1}, {"copy-both", 2, 1, 2},
        {"copy-device", 3, 1, -1}, {"decode-cuda", 4, 1, 0}, {"decode-cuda", 4, 4, 0},
        {"decode-cuda", 4, 8, 0}, {"decode-cuda", 4, 16, 0}, {"encode-cuda", 5, 1, 1},
        {"encode-cuda", 5, 4, 1}, {"encode-cuda", 5, 8, 1}, {"encode-cuda", 5, 16, 1},
        {"chain-cuda", 6, 1, 2}, {"chain-cuda", 6, 4, 2}, {"chain-cuda", 6, 8, 2}, {"chain-cuda", 6, 16, 2}};
    for (int photos = 1; photos <= 2; photos++) {
        rows all;
        rates = (struct rates){.alone = 20};
        time_photos(photos, true, &all);
        assert_int_equal(all.count, CODEC_ROWS);
        assert_ptr_equal(rates.rung, &card);
        for (int i = 0; i < CODEC_ROWS; i++) {
            const lap_bench_row *row = &all.row[i];
            const double alone = 20, ms = alone / (wanted[i].streams > 1 ? 10 : 1) + wanted[i].rate;
            assert_string_equal(row->backend, wanted[i].name);
            assert_string_equal(row->resolved, wanted[i].name);
            assert_true(row->op == LAP_OP_CODEC && !row->reason && row->runs == RUNS);
            assert_int_equal(row->threads, wanted[i].streams);
            assert_int_equal(row->width, photos == 1 ? W : W * H); /* pixels of a photo, and photos */
            assert_int_equal(row->height, photos == 1 ? H : 2);
            assert_int_equal(row->channels, 3);
            assert_true(is_about(row->median_ms, ms * photos) && row->end_to_end_ms == row->median_ms);
            assert_true(is_about(row->gb_per_s, 1000 * (wanted[i].rate + 1) / ms / 1e6));
            assert_true(is_about(row->mpix_per_s, W * H / ms / 1e3));
            assert_true(wanted[i].roof < 0 ? isnan(row->roof_share)
                                           : is_about(row->roof_share, (alone + wanted[i].roof) / ms));
        }
    }
    /* How often each is done: long enough, by the time of one photo alone; and compared before and after. */
    static const struct {
        double alone;
        int turns;
    } cases[] = {{20, 2}, {10, 3}, {0.5, 11}, {-3.5, 64}, {100, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rows all;
        char decoding[200] = "", copying[100] = "";
        rates = (struct rates){.alone = cases[i].alone};
        time_photos(1, true, &all);
        for (int k = 0; k < RUNS; k++) {
            const size_t at = strlen(decoding), to = strlen(copying);
            snprintf(decoding + at, sizeof decoding - at, "4/4:%d ", 4 * cases[i].turns);
            snprintf(copying + to, sizeof copying - to, "3/1:20 ");
        }
        char all_of_four[400];
        snprintf(all_of_four, sizeof all_of_four, "s4/4 4/4:4 c4/4 4/4:4 %sc4/4 ", decoding);
        assert_non_null(strstr(rates.timed, all_of_four));
        snprintf(all_of_four, sizeof all_of_four, "s3/1 3/1:1 c3/1 3/1:1 %sc3/1 ", copying);
        assert_non_null(strstr(rates.timed, all_of_four));
    }
}

/* A device is timed once for each photo, in the last round, and with the results of the CPU. */
static void test_rounds(void **state)
{
    (void)state;
    for (int runs = 1; runs <= 3; runs++) {
        rows all = {.varies = true};
        lap_error err = {0};
        lap_context *context = lap_context_create(1, NULL);
        assert_non_null(context);
        const lap_bench_options options = {.width = 16,
            .height = 16,
            .channels = 3,
            .runs = runs,
            .device = DEVICE,
            .params = lap_params_default()};
        rates = (struct rates){.alone = 20};
        skips_peak = true;
        assert_int_equal(lap_bench(context, LAP_OP_CODEC, &options, keep, &all, &err), LAP_OK);
        lap_context_destroy(context);
        assert_true(rates.created == 1 && rates.objects == 0);
        assert_non_null(strstr(all.names, "copy-up copy-down copy-both copy-device decode-cuda "));
    }
}

/* What differs is not timed; what fails gives a reason to all that have none; without a device, nothing is
 * done. */
static void test_codec_refusals(void **state)
{
    (void)state;
    rows all;
    for (int differs = 1; differs <= 2 * CODEC_ROWS; differs++) {
        rates = (struct rates){.alone = 20, .differs = differs};
        time_photos(1, true, &all);
        for (int i = 0; i < CODEC_ROWS; i++) {
            const bool is_it = i == (differs - 1) / 2;
            assert_int_equal(all.row[i].reason != NULL, is_it);
            assert_string_equal(all.row[i].resolved, all.row[i].backend);
            if (is_it) {
                assert_string_equal(all.row[i].reason, "differs from the CPU's result");
                assert_true(all.row[i].runs == 0 && isnan(all.row[i].median_ms));
            }
            if (differs == 1)
                break; /* the first row is the roof of others */
        }
    }
    for (int fails = 1; fails < 300; fails++) {
        char said[20];
        rates = (struct rates){.alone = 20, .fails = fails};
        time_photos(2, true, &all);
        if (rates.count < fails)
            break;
        snprintf(said, sizeof said, "rate %d", fails);
        for (int i = 0; i < CODEC_ROWS; i++) {
            assert_string_equal(all.row[i].reason, said);
            assert_true(!all.row[i].resolved && all.row[i].runs == 0);
        }
        assert_int_equal(rates.count, fails); /* no other photo is tried */
    }
    rates = (struct rates){.codec = "it rounds otherwise"};
    time_photos(1, true, &all);
    assert_true(all.count == CODEC_ROWS && rates.count == 0 && all.row[0].width == 0);
    assert_string_equal(all.row[15].reason, "it rounds otherwise");
    rates = (struct rates){.alone = 20};
    time_photos(1, false, &all);
    assert_true(all.count == 0 && rates.count > 0);
    rates = (struct rates){.unavailable = "no device"};
    time_photos(1, true, &all);
    assert_true(all.count == 0 && rates.count == 0);
    /* Memory for the times. */
    rates = (struct rates){.alone = 20};
    for (int left = 0; left < CODEC_ROWS; left++) {
        const lap_bench_options options = {.runs = RUNS};
        lap_bench_run run = {.options = &options};
        lap_codec_device device;
        lap_error err = {0};
        allocations = left;
        assert_int_equal(lap_codec_device_begin(&device, &run, &err), LAP_E_MEMORY);
        allocations = -1;
        assert_string_equal(err.message, "bench: no memory for the timings");
        lap_codec_device_end(&device, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_codec_rows),
        cmocka_unit_test(test_codec_refusals),
        cmocka_unit_test(test_rounds),
    };
    return cmocka_run_group_tests_name("bench on a device", tests, NULL, NULL);
}
