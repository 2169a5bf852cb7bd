/* Compares whole documents of the program: each field and its order, numbers that read back exactly,
 * names that are not UTF-8. Also checks where the documents are written. */
#include "tests/support/said.h"
#include "tests/support/strike.h"

#include <math.h>

#include "cli/json.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- the system ------------------------------------------------------------------------------------ */

static struct {
    const char *call; /* the call that fails once, after `after` successful ones; NULL: none */
    int after;
    char path[64], file[4096]; /* the last file that was written */
    int writes;
    bool sync;
} sys;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return strike_once(&sys.call, "malloc", &sys.after, ENOMEM, true) ? NULL : __real_malloc(size);
}

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size)
{
    return strike(sys.call, "realloc", &sys.after, ENOMEM) ? NULL : __real_realloc(memory, size);
}

lap_code __wrap_lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err);
lap_code __wrap_lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err)
{
    sys.writes++;
    sys.sync = sync;
    snprintf(sys.path, sizeof sys.path, "%s", path);
    snprintf(sys.file, sizeof sys.file, "%.*s", (int)size, (const char *)bytes);
    assert_int_equal(strlen(sys.file), size);
    if (!strike(sys.call, "side", &sys.after, 0))
        return LAP_OK;
    *err = (lap_error){.code = LAP_E_DISK_FULL, .message = "no room"};
    return LAP_E_DISK_FULL;
}

lap_cli_exit __real_lap_cli_flush(lap_cli_exit so_far);
lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far);
lap_cli_exit __wrap_lap_cli_flush(lap_cli_exit so_far)
{
    return strike(sys.call, "flush", &sys.after, 0) ? LAP_EXIT_PIPE : __real_lap_cli_flush(so_far);
}

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    return 0;
}

/* Returns the document on one line, and frees its object. */
static const char *line(json_t *object)
{
    static char copy[1 << 14];
    char *text = lap_json_dump(object, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    snprintf(copy, sizeof copy, "%s", text);
    free(text);
    json_decref(object);
    return copy;
}

/* ---- values ---------------------------------------------------------------------------------------- */

static void numbers(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0.0"}, {-0.0, "-0.0"}, {1, "1.0"}, {0.1, "0.1"}, {-2.5, "-2.5"}, {1e15, "1e+15"},
        {123456789012345, "123456789012345.0"}, {1e22, "1e22"}, {1e-7, "1e-07"}, {NAN, "null"},
        {INFINITY, "null"}, {-INFINITY, "null"}, {1.23456789012345678e17, "1.2345678901234568e17"},
        {1000000, "1000000.0"}, {1.0 / 3, "0.3333333333333333"}, {2.0 / 3, "0.6666666666666666"},
        {0.1 + 0.2, "0.30000000000000004"}, {5e-324, "4.94065645841247e-324"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(line(lap_json_real(cases[i].value)), cases[i].text);
    assert_string_equal(line(lap_json_ms(1.23456749)), "1.234567");
    assert_string_equal(line(lap_json_ms(1.2345675)), "1.234568");
    assert_string_equal(line(lap_json_ms(NAN)), "null");
}

/* Doubles of any size read back as the same value, and have the fewest digits that allow this. */
static void shortest(void **state)
{
    uint64_t bits = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        char full[40], want[44];
        double value;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        if (i % 3 == 0)
            memcpy(&value, &bits, sizeof value);
        else
            value = (double)(bits >> 40) / (i % 3 == 1 ? 1000 : 7);
        if (!isfinite(value))
            continue;
        json_t *number = json_real(value);
        char *text = json_dumps(number, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        snprintf(full, sizeof full, "%s", text);
        free(text);
        snprintf(want, sizeof want, "%.15g", value);
        if (strtod(want, NULL) != value)
            snprintf(want, sizeof want, "%.16g", value);
        if (!strpbrk(want, ".e"))
            strcat(want, ".0");
        if (strtod(want, NULL) != value || strlen(want) >= strlen(full))
            strcpy(want, full);
        const char *got = line(number);
        assert_string_equal(got, want);
        assert_true(strtod(got, NULL) == value);
    }
}

/* Text that only looks like a number is not changed; characters that affect the line are escaped. */
static void strings(void **state)
{
    static const struct {
        const char *text, *json;
    } cases[] = {{"", "\"\""}, {"1.10000000000000001", "\"1.10000000000000001\""},
        {"a\\\"1.10000000000000001", "\"a\\\\\\\"1.10000000000000001\""}, {"\\", "\"\\\\\""},
        {"\\\\\"", "\"\\\\\\\\\\\"\""}, {"\x01\n", "\"\\u0001\\n\""}, {"\x7f", "\"\\u007f\""},
        {"\xc2\x9f\xc2\xa0", "\"\\u009f\xc2\xa0\""},
        {"a\xe2\x80\xae"
         "b",
            "\"a\\u202eb\""},
        {"\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff"
         "a\xc3",
            "\"\xef\xbf\xbd"
            "a\xef\xbf\xbd\""},
        {"\xe2\x82z", "\"\xef\xbf\xbd\xef\xbf\xbdz\""}, {"~}", "\"~}\""}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(line(lap_json_text(cases[i].text)), cases[i].json);
    assert_string_equal(line(lap_json_text(NULL)), "null");
    assert_string_equal(
        line(json_pack("{s[ffi]sf}", "1.50000000000000001", 2.5, 0.1, -12, "\xe2\x80\xae", -1e300)),
        "{\"1.50000000000000001\":[2.5,0.1,-12],\"\\u202e\":-1e+300}");
    assert_string_equal(line(json_pack("[bbn]", 1, 0)), "[true,false,null]");
    json_t *object = json_pack("{s[fi]s{}}", "a", 0.1, 3, "b");
    char *text = lap_json_dump(object, JSON_INDENT(2));
    assert_string_equal(text, "{\n  \"a\": [\n    0.1,\n    3\n  ],\n  \"b\": {}\n}");
    free(text);
    json_decref(object);
    assert_null(lap_json_dump(NULL, 0));
}

static void paths(void **state)
{
    (void)state;
    json_t *object = lap_json_object("s/1");
    lap_json_path(object, "none", NULL);
    lap_json_path(object, "plain", "a b%\x01.jpg");
    lap_json_path(object, "odd", "\x1f !%/~\x7f\xff\xc3\xa4");
    assert_string_equal(line(object),
        "{\"schema\":\"s/1\",\"none\":null,\"plain\":\"a b%\\u0001.jpg\",\"odd\":\"\\u001F !%/~\\u007f"
        "\xef\xbf\xbd\xc3\xa4\",\"odd_raw\":\"%1F%20!%25/~%7F%FF%C3%A4\"}");
}

/* ---- documents ------------------------------------------------------------------------------------- */

#define ERROR(kind, message) "{\"kind\":\"" kind "\",\"message\":\"" message "\"}"
#define COEFFICIENTS                                                                                     \
    "\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0," \
    "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0]"

static void settings(void **state)
{
    lap_settings s = lap_settings_default();
    (void)state;
    assert_text(line(lap_json_log(&s)),
        "{\"schema\":\"lapedge.log/1\",\"version\":\"" LAP_VERSION "\",\"settings\":{\"filter\":true,"
        "\"border\":\"zero\",\"range\":\"clamp\",\"gray\":false,\"auto_orient\":false,\"turn\":1,"
        "\"format\":null,\"quality\":90,\"subsampling\":\"same\",\"restart\":\"auto\",\"progressive\":false,"
        "\"optimize\":false,\"strip\":false,\"keep\":null,\"fail_on\":\"truncated\",\"lossless\":"
        "\"no\"," COEFFICIENTS ",\"scale\":1.0,\"offset\":0.0,\"invert\":false,\"threshold\":-1}}");
    s.filter = false;
    s.border = LAP_CONSTANT + 7;
    s.params.range = LAP_ABS;
    s.gray = s.auto_orient = s.progressive = s.optimize = s.strip = s.params.invert = true;
    s.turn = LAP_TURN_90;
    s.format = "png";
    s.quality = 33;
    s.subsampling = LAP_SUB_422;
    s.restart = LAP_RESTART_OFF;
    s.keep = LAP_KEEP_LISTED | LAP_KEEP_GPS | LAP_KEEP_THUMBNAIL;
    s.fail_on = LAP_FAIL_WARNING;
    s.lossless = LAP_LOSSLESS_TRIM;
    for (int i = 0; i < 25; i++)
        s.params.kernel.h[i] = (float)i / 4;
    s.params.scale = 0.5f;
    s.params.offset = -3;
    s.params.threshold = 77;
    assert_text(line(lap_json_log(&s)),
        "{\"schema\":\"lapedge.log/1\",\"version\":\"" LAP_VERSION "\",\"settings\":{\"filter\":false,"
        "\"border\":\"constant:7\",\"range\":\"abs\",\"gray\":true,\"auto_orient\":true,\"turn\":6,"
        "\"format\":\"png\",\"quality\":33,\"subsampling\":\"422\",\"restart\":\"off\",\"progressive\":true,"
        "\"optimize\":true,\"strip\":true,\"keep\":[\"gps\",\"thumbnail\"],\"fail_on\":\"warning\","
        "\"lossless\":\"trim\",\"coefficients\":[0.0,0.25,0.5,0.75,1.0,1.25,1.5,1.75,2.0,2.25,2.5,2.75,3.0,"
        "3.25,3.5,3.75,4.0,4.25,4.5,4.75,5.0,5.25,5.5,5.75,6.0],\"scale\":0.5,\"offset\":-3.0,"
        "\"invert\":true,\"threshold\":77}}");
    s.keep = LAP_KEEP_LISTED;
    json_t *log = lap_json_log(&s);
    assert_int_equal(json_array_size(json_object_get(json_object_get(log, "settings"), "keep")), 0);
    json_decref(log);
}

#define LINE_OF_A "{\"schema\":\"lapedge.file/1\",\"input\":\"a.jpg\",\"output\":\"b.jpg\","
#define TIMES_OF_A                                                                                         \
    "\"ms\":{\"read\":1.5,\"decode\":2.0,\"upload\":null,\"filter\":4.0,\"download\":null,\"encode\":6.0," \
    "\"write\":7.0,\"total\":8.0}"

static void files(void **state)
{
    lap_settings s = lap_settings_default();
    lap_report r = {.width = 640,
        .height = 480,
        .channels = 3,
        .resolved = "simd-avx2",
        .ms = {1.5, 2, 0, 4, 0, 6, 7, 8},
        .bytes_in = 1000,
        .bytes_out = 500,
        .warning = "unseen",
        .note = "a note",
        .recoded = 1};
    (void)state;
    assert_text(line(lap_json_line("a.jpg", "b.jpg", &s, &r)), LINE_OF_A
        "\"status\":\"ok\",\"error\":null,\"width\":640,\"height\":480,\"channels\":3,"
        "\"backend\":\"auto\",\"resolved\":\"simd-avx2\",\"kernel\":\"laplace5\","
        "\"border\":\"zero\",\"range\":\"clamp\"," TIMES_OF_A ",\"bytes_in\":1000,\"bytes_out\":500,"
        "\"warnings\":0,\"warning\":null,\"recoded\":true,\"note\":\"a note\"}");
    r.status = LAP_WARNED;
    r.warnings = 2;
    r.warning_remedy = LAP_REMEDY_FAIL_ON;
    r.ms.upload = 0.25;
    assert_text(line(lap_json_line("a.jpg", NULL, &s, &r)),
        "{\"schema\":\"lapedge.file/1\",\"input\":\"a.jpg\",\"output\":null,\"status\":\"warned\","
        "\"error\":null,\"width\":640,\"height\":480,\"channels\":3,\"backend\":\"auto\","
        "\"resolved\":\"simd-avx2\",\"kernel\":\"laplace5\",\"border\":\"zero\",\"range\":\"clamp\","
        "\"ms\":{\"read\":1.5,\"decode\":2.0,\"upload\":0.25,\"filter\":4.0,\"download\":0.0,\"encode\":6.0,"
        "\"write\":7.0,\"total\":8.0},\"bytes_in\":1000,\"bytes_out\":500,\"warnings\":2,"
        "\"warning\":\"unseen; --fail-on=none keeps what can be read\",\"recoded\":true,\"note\":\"a "
        "note\"}");
    /* For a photo that fails or is skipped, the fields about its output are null or 0. */
    r = (lap_report){.status = LAP_FAILED,
        .error = {.code = LAP_E_TRUNCATED, .subject = "a.jpg", .message = "ends early"},
        .bytes_in = 9,
        .bytes_out = 8,
        .recoded = 1,
        .ms = {.download = 3}};
    s.filter = false;
    for (int i = 0; i < 2; i++) {
        char want[2048];
        snprintf(want, sizeof want,
            LINE_OF_A "\"status\":\"%s\",\"error\":%s,\"width\":null,\"height\":null,\"channels\":null,"
                      "\"backend\":null,\"resolved\":null,\"kernel\":null,\"border\":null,\"range\":null,"
                      "\"ms\":{\"read\":0.0,\"decode\":0.0,\"upload\":0.0,\"filter\":0.0,\"download\":3.0,"
                      "\"encode\":0.0,\"write\":0.0,\"total\":0.0},\"bytes_in\":9,\"bytes_out\":0,"
                      "\"warnings\":0,\"warning\":null,\"recoded\":false,\"note\":null}",
            i ? "skipped" : "failed", i ? "null" : ERROR("truncated", "a.jpg: truncated: ends early"));
        assert_text(line(lap_json_line("a.jpg", "b.jpg", &s, &r)), want);
        r.status = LAP_SKIPPED;
        r.error = (lap_error){.message = "not an error"};
    }
    json_t *whole = lap_json_file("a.jpg", "b.jpg", &s, &r), *log = lap_json_log(&s);
    json_t *its = json_object_get(whole, "settings");
    assert_true(its && json_equal(its, json_object_get(log, "settings")));
    json_decref(log);
    assert_int_equal(json_object_del(whole, "settings"), 0);
    log = lap_json_line("a.jpg", "b.jpg", &s, &r);
    assert_true(json_equal(whole, log));
    json_decref(log);
    json_decref(whole);
}

/* Dates are in UTC; an exit code that is not known is null. */
static void ends_of_runs(void **state)
{
    static const struct {
        time_t started;
        int exit_code;
        const char *want;
    } cases[] = {{0, 0, "{\"started\":\"1970-01-01T00:00:00Z\",\"exit_code\":0}"},
        {1000000000, 141, "{\"started\":\"2001-09-09T01:46:40Z\",\"exit_code\":141}"},
        {1709251199, -1, "{\"started\":\"2024-02-29T23:59:59Z\",\"exit_code\":null}"},
        {253402300799, 1, "{\"started\":\"9999-12-31T23:59:59Z\",\"exit_code\":1}"},
        {INT64_MAX, 2, "{\"started\":null,\"exit_code\":2}"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *object = json_object();
        lap_json_run(object, cases[i].started, cases[i].exit_code);
        assert_text(line(object), cases[i].want);
    }
}

static void edges(void **state)
{
    lap_settings s = lap_settings_default();
    (void)state;
    s.border = LAP_CONSTANT + 7;
    s.params.range = LAP_ABS;
    s.params.scale = 0.5f;
    s.params.offset = 3;
    s.params.invert = true;
    s.params.threshold = 9; /* is not among them */
    for (int i = 0; i < 25; i++)
        s.params.kernel.h[i] = (float)i;
    json_t *object = json_object();
    lap_json_edges(object, &s);
    assert_text(line(object),
        "{\"kernel\":\"laplace5\",\"border\":\"constant:7\",\"range\":\"abs\",\"coefficients\":[0.0,1.0,2.0,"
        "3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0,11.0,12.0,13.0,14.0,15.0,16.0,17.0,18.0,19.0,20.0,21.0,22.0,23.0,"
        "24.0],\"scale\":0.5,\"offset\":3.0,\"invert\":true}");
}

static void work(void **state)
{
    lap_batch_work w = {.how = "two devices", .busy = {1.5, 2, 0, 4, 0, 6, 7, 8}, .jobs = 12};
    (void)state;
    assert_text(
        line(lap_json_work(&w)), "{\"how\":\"two devices\",\"jobs\":12,\"devices\":[]," TIMES_OF_A "}");
    w.device_count = 2;
    w.device[0] = (lap_batch_device){.device = 3, .done = 40, .is_ready = true};
    w.device[1] = (lap_batch_device){.device = 0, .done = 41, .is_lost = true};
    assert_text(line(lap_json_work(&w)),
        "{\"how\":\"two devices\",\"jobs\":12,\"devices\":[{\"device\":3,\"done\":40,\"lost\":false},"
        "{\"device\":0,\"done\":41,\"lost\":true}]," TIMES_OF_A "}");
    json_t *object = json_object();
    lap_json_counts(object, (lap_json_count[]){{"a", 1}, {"b", 1ull << 62}, {"c", 3}}, 2);
    assert_text(line(object), "{\"a\":1,\"b\":4611686018427387904}");
    assert_text(line(lap_json_error(&(lap_error){.code = LAP_OK, .message = "m"})), "null");
    assert_text(line(lap_json_error(&(lap_error){.code = LAP_E_LIMIT, .message = "\xff"})),
        ERROR("limit", "limit: \xef\xbf\xbd"));
}

/* ---- where they go --------------------------------------------------------------------------------- */

static json_t *document(int n)
{
    return json_pack("{si}", "n", n);
}

static int print(int n)
{
    said_listen();
    const int code = lap_json_print(document(n));
    said_end();
    assert_true(lap_json_printed());
    return code;
}

static int finish(void)
{
    said_listen();
    const int code = lap_json_finish();
    said_end();
    return code;
}

/* To standard output, to a file, or to both; on one line or on several. */
static void outlets(void **state)
{
    (void)state;
    assert_false(lap_json_printed());
    for (int i = 0; i < 8; i++) {
        const bool to_stdout = i & 1, to_file = i & 2, lines = i & 4;
        const char *one = lines ? "{\"n\":1}\n" : "{\n  \"n\": 1\n}\n";
        const char *both = lines ? "{\"n\":1}\n{\"n\":22}\n" : "{\n  \"n\": 1\n}\n{\n  \"n\": 22\n}\n";
        begin(NULL);
        lap_json_direct(to_stdout, to_file ? "o.json" : NULL, lines);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(print(k ? 22 : 1), LAP_EXIT_OK);
            assert_text(said_out(), !to_stdout ? "" : k ? both + strlen(one) : one);
            assert_text(said_err(), "");
        }
        assert_int_equal(sys.writes, 0);
        assert_int_equal(finish(), LAP_EXIT_OK);
        assert_int_equal(sys.writes, to_file);
        assert_text(sys.file, to_file ? both : "");
        assert_text(sys.path, to_file ? "o.json" : "");
        assert_int_equal(sys.sync, to_file);
        assert_int_equal(finish(), LAP_EXIT_OK); /* nothing is left to write */
        assert_int_equal(sys.writes, to_file);
    }
}

static void lost(void **state)
{
    (void)state;
    lap_json_direct(true, "o.json", true);
    sys.call = "flush";
    assert_int_equal(print(1), LAP_EXIT_PIPE);
    sys.call = "side";
    sys.after = 0;
    assert_int_equal(finish(), LAP_EXIT_FAILED);
    assert_text(said_err(), "lapedge: o.json: disk full: no room\n");
    assert_int_equal(sys.writes, 1);
    sys.call = NULL;
    assert_int_equal(finish(), LAP_EXIT_OK);
    assert_int_equal(sys.writes, 1);
    sys.call = "realloc"; /* text that could not be kept is not printed, either */
    sys.after = 0;
    assert_int_equal(print(1), LAP_EXIT_FAILED);
    assert_text(said_out(), "");
    assert_text(said_err(), "lapedge: out of memory for JSON\n");
    sys.call = NULL;
    assert_int_equal(finish(), LAP_EXIT_OK);
    assert_int_equal(sys.writes, 1);
}

/* A file that may be an input or output is not written; neither is standard output if it is that file. */
static void kept_off(void **state)
{
    (void)state;
    for (int is_out = 0; is_out < 2; is_out++) {
        lap_error clash = {.code = LAP_E_CLASH};
        snprintf(clash.subject, sizeof clash.subject, "%s", is_out ? "/dev/stdout" : "o.json");
        lap_json_direct(true, "o.json", true);
        assert_int_equal(print(1), LAP_EXIT_OK);
        lap_json_keep_off(&clash);
        assert_int_equal(print(2), LAP_EXIT_OK);
        assert_text(said_out(), is_out ? "" : "{\"n\":2}\n");
        assert_int_equal(finish(), LAP_EXIT_OK);
        assert_int_equal(sys.writes, 0);
    }
    lap_json_direct(false, NULL, true);
    lap_json_keep_off(&(lap_error){.code = LAP_E_CLASH, .subject = "x"});
    assert_int_equal(print(2), LAP_EXIT_OK);
    assert_text(said_out(), "");
}

static void failure(void **state)
{
    (void)state;
    lap_json_direct(true, NULL, true);
    said_listen();
    (void)lap_cli_usage("\xff is wrong");
    const int code = lap_json_print_failure("run", 2);
    said_end();
    assert_int_equal(code, LAP_EXIT_OK);
    assert_text(
        said_out(), "{\"schema\":\"lapedge.error/1\",\"command\":\"run\",\"exit_code\":2,\"error\":" ERROR(
                        "usage", "\xef\xbf\xbd is wrong") "}\n");
}

/* ---- without memory -------------------------------------------------------------------------------- */

static void no_memory(void **state)
{
    (void)state;
    json_t *object = lap_json_object("s/1");
    lap_json_path(object, "a", "\xe2\x80\xae");
    char *whole = lap_json_dump(object, JSON_COMPACT);
    assert_string_equal(whole, "{\"schema\":\"s/1\",\"a\":\"\\u202e\"}");
    free(whole);
    sys.call = "malloc"; /* for the escaped text */
    assert_null(lap_json_dump(object, JSON_COMPACT));
    assert_null(sys.call);
    json_decref(object);
    /* After the first object that cannot be created, no other is created. */
    lap_json_watch_memory();
    sys.call = "malloc";
    sys.after = 0;
    assert_null(lap_json_object("s/1"));
    assert_null(sys.call);
    object = document(1);
    assert_null(lap_json_dump(object, 0));
    assert_int_equal(json_object_size(object), 1);
    lap_json_direct(true, NULL, true);
    said_listen();
    const int code = lap_json_print(object);
    said_end();
    assert_int_equal(code, LAP_EXIT_FAILED);
    assert_text(said_out(), "");
    assert_text(said_err(), "lapedge: out of memory for JSON\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(numbers), TEST(shortest), TEST(strings), TEST(paths),
        TEST(settings), TEST(files), TEST(ends_of_runs), TEST(edges), TEST(work), TEST(outlets), TEST(lost),
        TEST(kept_off), TEST(failure), TEST(no_memory)};
    if (!make_scratch() || !said_open())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed | said_close() | remove_scratch(NULL);
}
