/* The timeline of a run, to the last byte. The clock is the test's, and the file stays in memory. */
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/trace.h"

#define HEAD "{\"schema\":\"lapedge.trace/1\",\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
#define THREADS "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":\"threads\"}}"

static double now;
double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return now;
}

static bool no_memory;
void *__real_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
    return no_memory ? NULL : __real_lap_grow(array, capacity, wanted, size);
}

/* What would have been written. */
static struct {
    char *text;
    char path[64];
    bool sync;
    lap_code code; /* that the next call returns */
} file;
lap_code __wrap_lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err);
lap_code __wrap_lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err)
{
    free(file.text);
    file.text = strndup(bytes, size);
    assert_non_null(file.text);
    assert_int_equal(strlen(file.text), size);
    snprintf(file.path, sizeof file.path, "%s", path);
    file.sync = sync;
    return file.code == LAP_OK ? LAP_OK : lap_fail_at(err, file.code, path, "a reason");
}

static int setup(void **state)
{
    lap_trace *trace;
    no_memory = false;
    file.code = LAP_OK;
    now = 5000;
    *state = NULL;
    if (lap_trace_create(&trace, NULL) != LAP_OK)
        return -1;
    *state = trace;
    return 0;
}

static int teardown(void **state)
{
    lap_trace_destroy(*state);
    free(file.text);
    file.text = NULL;
    return 0;
}

static void assert_document(const lap_trace *trace, const char *text)
{
    const locale_t before = uselocale((locale_t)0);
    assert_int_equal(lap_trace_write(trace, "run.json", false, NULL), LAP_OK);
    assert_string_equal(file.text, text);
    assert_true(uselocale((locale_t)0) == before);
}

/* ---- documents --------------------------------------------------------------------------------- */

static void a_run_without_events(void **state)
{
    assert_document(*state, HEAD THREADS "\n]}\n");
}

static void the_file(void **state)
{
    lap_error err = {0};
    for (int sync = 0; sync <= 1; sync++) {
        assert_int_equal(lap_trace_write(*state, "deep/run.json", sync, &err), LAP_OK);
        assert_string_equal(file.path, "deep/run.json");
        assert_int_equal(file.sync, sync);
    }
    file.code = LAP_E_WRITE;
    assert_int_equal(lap_trace_write(*state, "run.json", false, &err), LAP_E_WRITE);
    assert_string_equal(err.message, "a reason");
}

/* Times count from the start of the run, in microseconds with three decimals. */
static void events_in_their_order(void **state)
{
    lap_trace *trace = *state;
    lap_trace_add(trace, (lap_trace_event){"read", 5000, 1.5, 7, LAP_TRACE_CPU, 3});
    lap_trace_add(trace, (lap_trace_event){"write", 5000.0625, 0.000125, UINT64_MAX, LAP_TRACE_CPU, 12});
    lap_trace_add(trace, (lap_trace_event){"early", 4999, 0, 0, 0, 1});
    assert_document(trace, HEAD THREADS
        ",\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"CUDA device 0\"}},\n"
        "{\"name\":\"read\",\"ph\":\"X\",\"ts\":0.000,\"dur\":1500.000,\"pid\":0,\"tid\":3,\"args\":{"
        "\"photo\":7}},\n"
        "{\"name\":\"write\",\"ph\":\"X\",\"ts\":62.500,\"dur\":0.125,\"pid\":0,\"tid\":12,\"args\":{"
        "\"photo\":18446744073709551615}},\n"
        "{\"name\":\"early\",\"ph\":\"X\",\"ts\":-1000.000,\"dur\":0.000,\"pid\":1,\"tid\":1,\"args\":{"
        "\"photo\":0}}\n]}\n");
}

/* All devices up to the highest one have a name, whatever the order of their events. */
static void devices_have_names(void **state)
{
    lap_trace *trace = *state;
    lap_trace_add(trace, (lap_trace_event){"a", 5000, 0, 1, 2, 0});
    lap_trace_add(trace, (lap_trace_event){"b", 5000, 0, 2, 1, 0});
    assert_document(trace, HEAD THREADS
        ",\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"CUDA device 0\"}},\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":2,\"args\":{\"name\":\"CUDA device 1\"}},\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":3,\"args\":{\"name\":\"CUDA device 2\"}},\n"
        "{\"name\":\"a\",\"ph\":\"X\",\"ts\":0.000,\"dur\":0.000,\"pid\":3,\"tid\":0,\"args\":{\"photo\":1}},"
        "\n"
        "{\"name\":\"b\",\"ph\":\"X\",\"ts\":0.000,\"dur\":0.000,\"pid\":2,\"tid\":0,\"args\":{\"photo\":2}}"
        "\n]}\n");
}

/* Stages follow one another, and the last one ends now. */
static void stages_end_now(void **state)
{
    lap_trace *trace = *state;
    const lap_times ms = {.upload = 1,
        .decode = 2,
        .filter = 4,
        .encode = 8,
        .download = 16,
        .read = 100,
        .write = 200,
        .total = 400};
    now = 5040;
    lap_trace_stages(trace, 0, 5, &ms, 9);
#define STAGE(name, ts, dur)                                         \
    "{\"name\":\"" name "\",\"ph\":\"X\",\"ts\":" ts ",\"dur\":" dur \
    ",\"pid\":1,\"tid\":5,\"args\":{\"photo\":9}}"
    assert_document(trace, HEAD THREADS
        ",\n"
        "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"CUDA device 0\"}},\n" STAGE(
            "upload", "9000.000", "1000.000") ",\n" STAGE("decode", "10000.000",
            "2000.000") ",\n" STAGE("filter", "12000.000", "4000.000") ",\n" STAGE("encode", "16000.000",
            "8000.000") ",\n" STAGE("download", "24000.000", "16000.000") "\n]}\n");
}

/* ---- threads ----------------------------------------------------------------------------------- */

static void *add_from_thread(void *user)
{
    lap_trace_thread(user, "other", 5001, 2);
    return NULL;
}

/* A thread keeps its number, and each has its own; its events end now. */
static void threads_have_numbers(void **state)
{
    lap_trace *trace = *state;
    pthread_t other;
    now = 5003;
    lap_trace_thread(trace, "first", 5001, 1);
    assert_int_equal(pthread_create(&other, NULL, add_from_thread, trace), 0);
    assert_int_equal(pthread_join(other, NULL), 0);
    now = 5006;
    lap_trace_thread(trace, "again", 5002, 3);
    assert_document(trace, HEAD THREADS
        ",\n"
        "{\"name\":\"first\",\"ph\":\"X\",\"ts\":1000.000,\"dur\":2000.000,\"pid\":0,\"tid\":1,\"args\":{"
        "\"photo\":1}},\n"
        "{\"name\":\"other\",\"ph\":\"X\",\"ts\":1000.000,\"dur\":2000.000,\"pid\":0,\"tid\":2,\"args\":{"
        "\"photo\":2}},\n"
        "{\"name\":\"again\",\"ph\":\"X\",\"ts\":2000.000,\"dur\":4000.000,\"pid\":0,\"tid\":1,\"args\":{"
        "\"photo\":3}}\n]}\n");
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* An event for which there is no memory is lost; those before and after it are not. */
static void events_are_lost_alone(void **state)
{
    lap_trace *trace = *state;
    lap_trace_add(trace, (lap_trace_event){"a", 5000, 0, 1, LAP_TRACE_CPU, 1});
    no_memory = true;
    lap_trace_add(trace, (lap_trace_event){"b", 5000, 0, 2, LAP_TRACE_CPU, 1});
    no_memory = false;
    lap_trace_add(trace, (lap_trace_event){"c", 5000, 0, 3, LAP_TRACE_CPU, 1});
    assert_document(trace, HEAD THREADS
        ",\n"
        "{\"name\":\"a\",\"ph\":\"X\",\"ts\":0.000,\"dur\":0.000,\"pid\":0,\"tid\":1,\"args\":{\"photo\":1}},"
        "\n"
        "{\"name\":\"c\",\"ph\":\"X\",\"ts\":0.000,\"dur\":0.000,\"pid\":0,\"tid\":1,\"args\":{\"photo\":3}}"
        "\n]}\n");
}

/* More events than one page of memory holds are all there, the lock is free after each. */
static void many_events(void **state)
{
    enum { EVENTS = 1000 };
    lap_trace *trace = *state;
    for (uint64_t i = 0; i < EVENTS; i++)
        lap_trace_add(trace, (lap_trace_event){"step", 5000 + (double)i, 0.5, i, LAP_TRACE_CPU, 1});
    assert_int_equal(lap_trace_write(trace, "run.json", false, NULL), LAP_OK);
    const char *line = strstr(file.text, "{\"name\":\"step\"");
    for (unsigned i = 0; i < EVENTS; i++) {
        char wanted[200];
        const int length = snprintf(wanted, sizeof wanted,
            "{\"name\":\"step\",\"ph\":\"X\",\"ts\":%u.000,\"dur\":500.000,\"pid\":0,\"tid\":1,\"args\":{"
            "\"photo\":%u}}%s\n",
            1000 * i, i, i + 1 < EVENTS ? "," : "");
        assert_memory_equal(line, wanted, length);
        line += length;
    }
    assert_string_equal(line, "]}\n");
}

static void no_trace(void **state)
{
    (void)state;
    lap_trace_add(NULL, (lap_trace_event){"a", 0, 0, 0, 0, 0});
    lap_trace_thread(NULL, "a", 0, 0);
    lap_trace_stages(NULL, 0, 0, &(lap_times){0}, 0);
    lap_trace_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_have_numbers), /* the first one, because the threads of a process are numbered once */
        TEST(a_run_without_events),
        TEST(the_file),
        TEST(events_in_their_order),
        TEST(devices_have_names),
        TEST(stages_end_now),
        TEST(events_are_lost_alone),
        TEST(many_events),
        TEST(no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
