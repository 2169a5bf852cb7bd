/* The page of a report and its pictures: what is said of the command and the machine, which details are
 * chosen, how large each picture is, and which pictures of several inputs are shown. Encoders and files are
 * those of the test: an encoded picture is its size, and the sum of its samples. */
#include "tests/support/said.h"
#include "tests/support/strike.h"

#include <time.h>

#include "cli/json.h"
#include "cli/report/report.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- what surrounds the page ----------------------------------------------------------------------- */

static struct {
    const char *call; /* that fails once, after so many that succeed */
    int after;
    char page[1 << 20];
    char path[40];
    bool sync;
    int uris, qualities[100];
    size_t uri_size; /* of the next pictures; 0: a short text */
    bool is_real;    /* lap_data_uri is real, and the library's encoder is not */
    lap_settings settings;
    size_t given, made; /* bytes of the picture, and of the encoded one */
    bool has_png;
    int devices;
} sys;

time_t __wrap_time(time_t *to);
time_t __wrap_time(time_t *to)
{
    assert_null(to);
    return 1000000000;
}

void __wrap_lap_cpu_name(char *name, size_t size);
void __wrap_lap_cpu_name(char *name, size_t size)
{
    snprintf(name, size, "A CPU");
}

const char *__wrap_lap_build_info(void);
const char *__wrap_lap_build_info(void)
{
    return "gcc\nlibjpeg\n";
}

bool __wrap_lap_device_text(int device, char *text, size_t size);
bool __wrap_lap_device_text(int device, char *text, size_t size)
{
    snprintf(text, size, "device %d", device);
    return device < sys.devices;
}

lap_code __wrap_lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err);
lap_code __wrap_lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err)
{
    assert_true(size < sizeof sys.page);
    memcpy(sys.page, bytes, size);
    sys.page[size] = '\0';
    sys.sync = sync;
    snprintf(sys.path, sizeof sys.path, "%s", path);
    if (!strike(sys.call, "side", &sys.after, 0))
        return LAP_OK;
    *err = (lap_error){.code = LAP_E_DISK_FULL, .subject = "page", .message = "no room"};
    return LAP_E_DISK_FULL;
}

static lap_context *context;

lap_code __real_lap_data_uri(lap_context *of, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err);
lap_code __wrap_lap_data_uri(lap_context *of, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err);
lap_code __wrap_lap_data_uri(lap_context *of, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err)
{
    char text[60];
    int kind, width, height, head;
    unsigned sum = 0;
    if (sys.is_real)
        return __real_lap_data_uri(of, pnm, quality, uri, err);
    assert_ptr_equal(of, context);
    sys.qualities[sys.uris++ % 100] = quality;
    if (strike(sys.call, "uri", &sys.after, 0)) {
        *uri = NULL;
        return lap_report_no_memory(err);
    }
    assert_int_equal(sscanf((const char *)pnm->bytes, "P%d\n%d %d\n255%n", &kind, &width, &height, &head), 3);
    const size_t samples = (size_t)width * (size_t)height * (kind == 5 ? 1 : 3);
    assert_int_equal(pnm->size, (size_t)head + 1 + samples);
    for (size_t i = 0; i < samples; i++)
        sum += pnm->bytes[(size_t)head + 1 + i];
    snprintf(text, sizeof text, "%s %dx%d %u", kind == 5 ? "gray" : "colour", width, height, sum);
    if (!sys.uri_size) {
        *uri = json_string(text);
        return LAP_OK;
    }
    char *large = malloc(sys.uri_size);
    assert_non_null(large);
    memset(large, 'x', sys.uri_size);
    *uri = json_stringn(large, sys.uri_size);
    free(large);
    return LAP_OK;
}

lap_code __wrap_lap_run_memory(lap_context *of, const void *in, size_t in_size, void **out, size_t *out_size,
    const lap_settings *settings, lap_report *report, lap_error *err);
lap_code __wrap_lap_run_memory(lap_context *of, const void *in, size_t in_size, void **out, size_t *out_size,
    const lap_settings *settings, lap_report *report, lap_error *err)
{
    assert_true(of == context && in && report);
    sys.settings = *settings;
    sys.given = in_size;
    if (!sys.has_png && strcmp(settings->format, "png") == 0) {
        *err = (lap_error){.code = LAP_E_BACKEND, .message = "no PNG"};
        return LAP_E_BACKEND;
    }
    uint8_t *bytes = malloc(sys.made + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < sys.made; i++)
        bytes[i] = (uint8_t)(i * 97 + 0xfb);
    *out = bytes;
    *out_size = sys.made;
    return LAP_OK;
}

static lap_cli cli;

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    memset(&cli, 0, sizeof cli);
    cli.settings = lap_settings_default();
    cli.command = &lap_cli_commands[LAP_COMMAND_RUN];
    return 0;
}

static const char *line(json_t *object)
{
    static char copy[1 << 15];
    char *text = lap_json_dump(object, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    snprintf(copy, sizeof copy, "%s", text);
    free(text);
    json_decref(object);
    return copy;
}

/* ---- the page -------------------------------------------------------------------------------------- */

static void frames(void **state)
{
    static char *words[] = {"lapedge", "--gray", "a b", "it's", "", "x"};
    (void)state;
    cli.words = words;
    cli.word_count = 5;
    assert_text(line(lap_report_create(&cli, "in\xff.jpg", 3)),
        "{\"schema\":\"lapedge.report/1\",\"command\":\"run\","
        "\"subject\":\"in\357\277\275.jpg\",\"version\":\"" LAP_VERSION "\","
        "\"date\":\"2001-09-09 01:46 UTC\",\"machine\":[[\"Processor\",\"A CPU\"],[\"Threads\","
        "3],[\"Built with\",\"gcc\"],[\"\",\"libjpeg\"]],\"settings\":[[\"Command\","
        "\"lapedge --gray \\\"a b\\\" \\\"it's\\\" \"],[\"Kernel\",\"laplace5\"],"
        "[\"Coefficients\",[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,"
        "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0]],[\"Border\",\"zero\"],"
        "[\"Range\",\"clamp: negative results become 0\"],[\"Scale, offset\",\"1, 0\"],"
        "[\"Promise\",\"all backends give the same bytes\"]],\"filter\":{\"h\":[-1.0,-1.0,-1.0,"
        "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"
        "-1.0,-1.0,-1.0,-1.0,-1.0],\"border\":\"zero\",\"range\":\"clamp\",\"scale\":1.0,"
        "\"offset\":0.0,\"invert\":false,\"threshold\":-1},\"statistics\":null,\"pictures\":null}");
    cli.settings.params.invert = true;
    cli.settings.params.threshold = 0;
    cli.settings.params.range = LAP_ABS;
    cli.settings.params.scale = 0.5f;
    cli.settings.params.offset = -2;
    cli.settings.border = LAP_WRAP;
    cli.settings.params.kernel.is_integer = false;
    cli.word_count = 1;
    assert_text(line(lap_report_create(&cli, "in.jpg", 3)),
        "{\"schema\":\"lapedge.report/1\",\"command\":\"run\",\"subject\":\"in.jpg\","
        "\"version\":\"" LAP_VERSION "\",\"date\":\"2001-09-09 01:46 UTC\",\"machine\":[[\"Processor\","
        "\"A CPU\"],[\"Threads\",3],[\"Built with\",\"gcc\"],[\"\",\"libjpeg\"]],"
        "\"settings\":[[\"Command\",\"lapedge\"],[\"Kernel\",\"laplace5\"],[\"Coefficients\","
        "[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,"
        "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0]],[\"Border\",\"wrap\"],[\"Range\","
        "\"abs: the absolute value of the result\"],[\"Scale, offset\",\"0.5, -2\"],"
        "[\"Inverted\",\"yes\"],[\"Threshold\",0],[\"Promise\","
        "\"backends differ by at most one level\"]],\"filter\":{\"h\":[-1.0,-1.0,-1.0,-1.0,"
        "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"
        "-1.0,-1.0,-1.0,-1.0],\"border\":\"wrap\",\"range\":\"abs\",\"scale\":0.5,"
        "\"offset\":-2.0,\"invert\":true,\"threshold\":0},\"statistics\":null,\"pictures\":null}");
    cli.settings.params.scale = 1e6f;
    assert_non_null(
        strstr(line(lap_report_create(&cli, "a", 1)), "\"none: the sums are too large for float32\""));
    cli.command = &lap_cli_commands[LAP_COMMAND_DIFF];
    assert_text(line(lap_report_create(&cli, "a and b", 3)),
        "{\"schema\":\"lapedge.report/1\",\"command\":\"diff\",\"subject\":\"a and b\","
        "\"version\":\"" LAP_VERSION "\",\"date\":\"2001-09-09 01:46 UTC\",\"machine\":[[\"Processor\","
        "\"A CPU\"],[\"Threads\",3],[\"Built with\",\"gcc\"],[\"\",\"libjpeg\"]],"
        "\"settings\":[[\"Command\",\"lapedge\"]],\"filter\":null,\"statistics\":null,"
        "\"pictures\":null}");
    /* A command line is cut to its room. */
    static char *long_words[] = {"lapedge", NULL, NULL, NULL};
    char word[900];
    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    long_words[1] = long_words[2] = long_words[3] = word;
    cli.words = long_words;
    cli.word_count = 4;
    json_t *report = lap_report_create(&cli, "a", 1);
    json_t *pair = json_array_get(json_object_get(report, "settings"), 0);
    assert_int_equal(json_string_length(json_array_get(pair, 1)), 1999);
    json_decref(report);
}

static void results(void **state)
{
    (void)state;
    sys.devices = 2;
    for (int i = 0; i < 3; i++) {
        json_t *report = json_pack("{s[]}", "machine");
        json_t *given =
            i == 0   ? json_pack("{s[{ss ss}{ss sn}{s[]}{ss ss}]}", "rows", "op", "filter", "resolved", "c",
                           "op", "filter", "resolved", "times_ms", "op", "none", "resolved", "cud")
            : i == 1 ? json_pack("{s[{ss ss}{ss ss}]}", "rows", "op", "none", "resolved", "cuda-tile", "op",
                           "none", "resolved", "none")
                     : json_object();
        lap_report_add_results(report, given);
        assert_ptr_equal(json_object_get(report, "results"), given);
        assert_int_equal(json_array_size(json_object_get(report, "machine")), i == 1 ? 2 : 0);
        json_t *notes = json_object_get(report, "notes");
        assert_int_equal(json_object_size(notes), i == 0);
        if (i == 0)
            assert_int_equal(strncmp(json_string_value(json_object_get(notes, "filter c")), "c: ", 3), 0);
        json_object_del(report, "results");
        json_object_del(report, "notes");
        assert_text(line(report), i == 1
                                      ? "{\"machine\":[[\"Device\",\"device 0\"],[\"Device\",\"device 1\"]]}"
                                      : "{\"machine\":[]}");
    }
}

/* No data ends the script or reaches a terminal unescaped, but for the notes. */
static void pages(void **state)
{
    (void)state;
    json_t *report = json_pack("{ss ss s[s{ss}] ss}", "command", "run", "subject", "<a> & \"b\"\x1b", "list",
        "</script>", "key<", "\xe2\x80\xae<<", "notes", "line\nline\x01");
    said_listen();
    const int code = lap_report_write("page.html", report);
    said_end();
    assert_int_equal(code, LAP_EXIT_OK);
    assert_text(said_err(), "");
    assert_string_equal(sys.path, "page.html");
    assert_false(sys.sync);
    assert_non_null(strstr(sys.page, "<title>lapedge run: &lt;a&gt; &amp; &quot;b&quot;\\x1b</title>"));
    assert_non_null(
        strstr(sys.page, "{\"command\":\"run\",\"subject\":\"\\u003ca> & "
                         "\\\"b\\\"\\\\x1b\",\"list\":[\"\\u003c/script>\",{\"key\\u003c\":"
                         "\"\\\\xe2\\\\x80\\\\xae\\u003c\\u003c\"}],\"notes\":\"line\\nline\\u0001\"}"));
    assert_null(strstr(sys.page, "@data@"));
    assert_null(strstr(sys.page, "@style@"));
    assert_null(strstr(sys.page, "@script@"));
    const size_t size = strlen(sys.page);
    assert_int_equal(strncmp(sys.page + size - 8, "</html>\n", 8), 0);
    sys.call = "side";
    said_listen();
    assert_int_equal(
        lap_report_write("page", json_pack("{ss ss}", "command", "a", "subject", "b")), LAP_EXIT_FAILED);
    assert_int_equal(lap_report_write("page", NULL), LAP_EXIT_FAILED);
    said_end();
    assert_text(said_err(), "lapedge: the report was not written: page: disk full: no room\n"
                            "lapedge: the report was not written: out of memory\n");
}

/* ---- a picture as text ----------------------------------------------------------------------------- */

static void uris(void **state)
{
    static const char *const tails[] = {"", "+w==", "+1w=", "+1y9", "+1y9Hg==", "+1y9Hn8=", "+1y9Hn/g"};
    (void)state;
    uint8_t bytes[] = {'P'};
    const lap_pnm pnm = {bytes, sizeof bytes};
    lap_error err;
    char want[60];
    sys.is_real = true;
    for (int png = 0; png < 2; png++)
        for (sys.made = 0; sys.made < COUNT(tails); sys.made++)
            for (int quality = 0; quality < 60; quality += 50) {
                json_t *uri = NULL;
                sys.has_png = png;
                assert_int_equal(lap_data_uri(context, &pnm, quality, &uri, &err), LAP_OK);
                snprintf(want, sizeof want, "data:image/%s;base64,%s", png && !quality ? "png" : "jpeg",
                    tails[sys.made]);
                assert_string_equal(json_string_value(uri), want);
                assert_false(sys.settings.filter);
                assert_string_equal(sys.settings.format, png && !quality ? "png" : "jpg");
                assert_int_equal(sys.settings.quality, quality ? quality : png ? 90 : 100);
                json_decref(uri);
            }
}

/* ---- pictures -------------------------------------------------------------------------------------- */

enum { MOST = 5000 * 2000 };
static uint8_t *planes[3];

/* A view of one plane, which is filled with a value. */
static lap_view view_of(int plane, int width, int height, int channels, int value)
{
    assert_true(width * height * channels <= MOST);
    memset(planes[plane], value, (size_t)width * (size_t)height * (size_t)channels);
    return (lap_view){planes[plane], (ptrdiff_t)width * channels, width, height, channels, 0, LAP_ON_HOST};
}

static uint8_t *sample(const lap_view *view, int x, int y)
{
    return view->base + y * view->stride + x * view->channels;
}

static json_t *new_report(void)
{
    return json_pack("{sn sn}", "statistics", "pictures");
}

static const char *pictures_of(json_t *report)
{
    const char *text = line(json_incref(json_object_get(report, "pictures")));
    json_decref(report);
    return text;
}

/* How large the whole picture is shown. */
static void sizes(void **state)
{
    static const struct {
        int width, height;
        const char *size;
    } cases[] = {{10, 7, "10x7"}, {1600, 3, "1600x3"}, {1601, 3, "1600x2"}, {1601, 1, "1600x1"},
        {3200, 9, "1600x4"}, {2, 3200, "2x3200"}, {2, 3201, "1x1600"}, {3, 4000, "2x2666"},
        {1, 3300, "1x3200"}, {2000, 5000, "1280x3200"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        lap_error err;
        char want[60];
        json_t *report = new_report();
        const lap_view photo = view_of(0, cases[i].width, cases[i].height, 1, 2),
                       edges = view_of(1, cases[i].width, cases[i].height, 1, 0);
        assert_int_equal(lap_report_add_pictures(report, context, &photo, &edges, &err), LAP_OK);
        json_t *pictures = json_object_get(report, "pictures");
        int width, height;
        assert_int_equal(sscanf(cases[i].size, "%dx%d", &width, &height), 2);
        snprintf(want, sizeof want, "gray %s %d", cases[i].size, 2 * width * height);
        assert_string_equal(json_string_value(json_object_get(pictures, "photo")), want);
        snprintf(want, sizeof want, "gray %s 0", cases[i].size);
        assert_string_equal(json_string_value(json_object_get(pictures, "edges")), want);
        assert_int_equal(json_is_true(json_object_get(pictures, "scaled")), width < cases[i].width);
        assert_int_equal(json_array_size(json_object_get(pictures, "crops")), 0); /* nothing but zeros */
        json_decref(report);
    }
}

/* The three heaviest details of a grid, in falling order; of equal ones the first. */
static void details(void **state)
{
    lap_error err;
    (void)state;
    lap_view photo = view_of(0, 500, 250, 3, 1), edges = view_of(1, 500, 250, 3, 0);
    *sample(&edges, 191, 191) = 5; /* the first box */
    *sample(&edges, 192, 0) = 9;   /* the second */
    *sample(&edges, 499, 249) = 5; /* the last, which ends with the picture */
    *sample(&edges, 0, 192) = 4;   /* the fourth heaviest is left out */
    json_t *report = new_report();
    assert_int_equal(lap_report_add_pictures(report, context, &photo, &edges, &err), LAP_OK);
    assert_text(pictures_of(report),
        "{\"width\":500,\"height\":250,\"channels\":3,\"scaled\":false,\"crops\":[{\"x\":192,"
        "\"y\":0,\"width\":192,\"height\":192,\"photo\":\"colour 192x192 110592\","
        "\"edges\":\"colour 192x192 9\"},{\"x\":0,\"y\":58,\"width\":192,\"height\":192,"
        "\"photo\":\"colour 192x192 110592\",\"edges\":\"colour 192x192 9\"},{\"x\":0,\"y\":0,"
        "\"width\":192,\"height\":192,\"photo\":\"colour 192x192 110592\","
        "\"edges\":\"colour 192x192 5\"}],\"differences\":[],"
        "\"photo\":\"colour 500x250 375000\",\"edges\":\"colour 500x250 23\"}");
    /* Qualities until a picture is small enough, or the last one. */
    sys.uris = 0;
    sys.uri_size = 750000;
    edges = view_of(1, 5, 5, 1, 0);
    photo = view_of(0, 5, 5, 1, 0);
    report = new_report();
    assert_int_equal(lap_report_add_pictures(report, context, &photo, &edges, &err), LAP_OK);
    assert_true(sys.uris == 2 && sys.qualities[0] == 88 && sys.qualities[1] == 88);
    json_decref(report);
    sys.uris = 0;
    sys.uri_size = 750001;
    report = new_report();
    assert_int_equal(lap_report_add_pictures(report, context, &photo, &edges, &err), LAP_OK);
    assert_int_equal(sys.uris, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(sys.qualities[i], 88 - i % 5 * 15);
    json_decref(report);
    /* Without memory. */
    sys.uri_size = 0;
    *sample(&edges, 1, 1) = 1;
    for (int after = 0; after < 4; after++) {
        report = new_report();
        sys.call = "uri";
        sys.after = after;
        assert_int_equal(lap_report_add_pictures(report, context, &photo, &edges, &err), LAP_E_MEMORY);
        assert_string_equal(err.message, "out of memory for the report");
        json_decref(report);
    }
}

static lap_compare_row row_of(const char *backend, const lap_view *a, const lap_view *b)
{
    lap_compare_row row = {.op = LAP_OP_FILTER, .backend = backend, .resolved = backend, .a = a, .b = b};
    assert_int_equal(lap_compare_views(a, b, 0, false, &row.difference, NULL), LAP_OK);
    return row;
}

/* The pictures are those of the first input that differs; details show where. */
static void comparisons(void **state)
{
    lap_error err;
    (void)state;
    const lap_view photo = view_of(0, 400, 200, 1, 3), a = view_of(1, 400, 200, 1, 50),
                   b = view_of(2, 400, 200, 1, 50);
    json_t *report = new_report();
    lap_compare_row row = row_of("c", &a, &b);
    row.op = LAP_OP_TRANSPOSE; /* these three are not shown */
    assert_int_equal(lap_report_add_row(report, context, "x", &photo, &row, &err), LAP_OK);
    row.op = LAP_OP_FILTER;
    row.reason = "broken";
    assert_int_equal(lap_report_add_row(report, context, "x", &photo, &row, &err), LAP_OK);
    row.reason = NULL;
    row.a = NULL;
    assert_int_equal(lap_report_add_row(report, context, "x", &photo, &row, &err), LAP_OK);
    assert_true(json_is_null(json_object_get(report, "pictures")));
    row.a = &a;
    assert_int_equal(lap_report_add_row(report, context, "first", &photo, &row, &err), LAP_OK);
    json_t *statistics = json_incref(json_object_get(report, "statistics"));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(statistics, "input"), "path")), "first");
    row.backend = "simd";
    assert_int_equal(lap_report_add_row(report, context, "first", &photo, &row, &err), LAP_OK);
    assert_int_equal(lap_report_add_row(report, context, "second", &photo, &row, &err), LAP_OK);
    assert_ptr_equal(json_object_get(report, "statistics"), statistics);
    json_decref(statistics);
    assert_text(line(json_incref(json_object_get(report, "pictures"))),
        "{\"width\":400,\"height\":200,\"channels\":1,\"scaled\":false,\"crops\":[{\"x\":0,"
        "\"y\":0,\"width\":192,\"height\":192,\"photo\":\"gray 192x192 110592\","
        "\"edges\":\"gray 192x192 1843200\"},{\"x\":192,\"y\":0,\"width\":192,\"height\":192,"
        "\"photo\":\"gray 192x192 110592\",\"edges\":\"gray 192x192 1843200\"},{\"x\":208,"
        "\"y\":0,\"width\":192,\"height\":192,\"photo\":\"gray 192x192 110592\","
        "\"edges\":\"gray 192x192 1843200\"}],\"differences\":[{\"backend\":\"c\","
        "\"max_abs\":0,\"differing_pixels\":0,\"overview\":null,\"crops\":[]},"
        "{\"backend\":\"simd\",\"max_abs\":0,\"differing_pixels\":0,\"overview\":null,"
        "\"crops\":[]}],\"photo\":\"gray 400x200 240000\",\"edges\":\"gray 400x200 4000000\","
        "\"input\":\"first\"}");
    /* The second input differs: its pictures replace the others. */
    *sample(&b, 300, 10) += 7;
    *sample(&b, 301, 10) -= 9;
    *sample(&b, 5, 199) += 4;
    row = row_of("simd", &a, &b);
    assert_int_equal(lap_report_add_row(report, context, "second", &photo, &row, &err), LAP_OK);
    assert_text(line(json_incref(json_object_get(report, "pictures"))),
        "{\"width\":400,\"height\":200,\"channels\":1,\"scaled\":false,\"crops\":[{\"x\":192,"
        "\"y\":0,\"width\":192,\"height\":192,\"photo\":\"gray 192x192 110592\","
        "\"edges\":\"gray 192x192 1843200\"},{\"x\":208,\"y\":0,\"width\":192,\"height\":192,"
        "\"photo\":\"gray 192x192 110592\",\"edges\":\"gray 192x192 1843200\"},{\"x\":192,"
        "\"y\":8,\"width\":192,\"height\":192,\"photo\":\"gray 192x192 110592\","
        "\"edges\":\"gray 192x192 1843200\"}],\"differences\":[{\"backend\":\"c\","
        "\"max_abs\":0,\"differing_pixels\":0,\"overview\":null,\"crops\":[]},"
        "{\"backend\":\"simd\",\"max_abs\":9,\"differing_pixels\":3,"
        "\"overview\":\"gray 400x200 20\",\"crops\":[{\"x\":192,\"y\":0,\"width\":192,"
        "\"height\":192,\"difference\":\"gray 192x192 16\",\"peak\":{\"x\":301,\"y\":10,"
        "\"value\":9}},{\"x\":208,\"y\":0,\"width\":192,\"height\":192,"
        "\"difference\":\"gray 192x192 16\",\"peak\":{\"x\":301,\"y\":10,\"value\":9}},"
        "{\"x\":192,\"y\":8,\"width\":192,\"height\":192,\"difference\":\"gray 192x192 16\","
        "\"peak\":{\"x\":301,\"y\":10,\"value\":9}}]}],\"photo\":\"gray 400x200 240000\","
        "\"edges\":\"gray 400x200 4000000\",\"input\":\"second\"}");
    assert_string_equal(json_string_value(json_object_get(
                            json_object_get(json_object_get(report, "statistics"), "input"), "path")),
        "second");
    row.backend = "third"; /* one more of the same, and a third input, which is too late */
    *sample(&b, 200, 100) += 60;
    assert_int_equal(lap_report_add_row(report, context, "second", &photo, &row, &err), LAP_OK);
    assert_int_equal(lap_report_add_row(report, context, "third", &photo, &row, &err), LAP_OK);
    assert_text(pictures_of(report),
        "{\"width\":400,\"height\":200,\"channels\":1,\"scaled\":false,\"crops\":[{\"x\":192,"
        "\"y\":0,\"width\":192,\"height\":192,\"photo\":\"gray 192x192 110592\","
        "\"edges\":\"gray 192x192 1843200\"},{\"x\":208,\"y\":0,\"width\":192,\"height\":192,"
        "\"photo\":\"gray 192x192 110592\",\"edges\":\"gray 192x192 1843200\"},{\"x\":192,"
        "\"y\":8,\"width\":192,\"height\":192,\"photo\":\"gray 192x192 110592\","
        "\"edges\":\"gray 192x192 1843200\"}],\"differences\":[{\"backend\":\"c\","
        "\"max_abs\":0,\"differing_pixels\":0,\"overview\":null,\"crops\":[]},"
        "{\"backend\":\"simd\",\"max_abs\":9,\"differing_pixels\":3,"
        "\"overview\":\"gray 400x200 20\",\"crops\":[{\"x\":192,\"y\":0,\"width\":192,"
        "\"height\":192,\"difference\":\"gray 192x192 16\",\"peak\":{\"x\":301,\"y\":10,"
        "\"value\":9}},{\"x\":208,\"y\":0,\"width\":192,\"height\":192,"
        "\"difference\":\"gray 192x192 16\",\"peak\":{\"x\":301,\"y\":10,\"value\":9}},"
        "{\"x\":192,\"y\":8,\"width\":192,\"height\":192,\"difference\":\"gray 192x192 16\","
        "\"peak\":{\"x\":301,\"y\":10,\"value\":9}}]},{\"backend\":\"third\",\"max_abs\":9,"
        "\"differing_pixels\":3,\"overview\":\"gray 400x200 80\",\"crops\":[{\"x\":192,\"y\":0,"
        "\"width\":192,\"height\":192,\"difference\":\"gray 192x192 76\",\"peak\":{\"x\":200,"
        "\"y\":100,\"value\":60}},{\"x\":192,\"y\":8,\"width\":192,\"height\":192,"
        "\"difference\":\"gray 192x192 76\",\"peak\":{\"x\":200,\"y\":100,\"value\":60}},"
        "{\"x\":208,\"y\":0,\"width\":192,\"height\":192,\"difference\":\"gray 192x192 16\","
        "\"peak\":{\"x\":301,\"y\":10,\"value\":9}}]}],\"photo\":\"gray 400x200 240000\","
        "\"edges\":\"gray 400x200 4000000\",\"input\":\"second\"}");
}

/* All differences together take at most 1.2 MB; details of photo and edges are at most six. */
static void limits(void **state)
{
    lap_error err;
    (void)state;
    for (int excess = 0; excess < 2; excess++) {
        const lap_view photo = view_of(0, 1500, 200, 1, 3), a = view_of(1, 1500, 200, 1, 50),
                       b = view_of(2, 1500, 200, 1, 50);
        json_t *report = new_report();
        sys.uri_size = 200000 + (size_t)excess;
        for (int i = 0; i < 4; i++) {
            char name[] = "b0";
            name[1] = (char)('0' + i);
            memset(planes[2], 50, 1500 * 200);
            for (int k = 0; k < 3; k++)
                *sample(&b, (3 * i + k) % 8 * 192, 0) = (uint8_t)(60 + k);
            const lap_compare_row row = row_of(name, &a, &b);
            assert_int_equal(lap_report_add_row(report, context, "x", &photo, &row, &err), LAP_OK);
        }
        json_t *pictures = json_object_get(report, "pictures"),
               *list = json_object_get(pictures, "differences");
        int overviews = 0, crops = 0;
        for (size_t i = 0; i < 4; i++) {
            overviews += json_is_string(json_object_get(json_array_get(list, i), "overview"));
            crops += (int)json_array_size(json_object_get(json_array_get(list, i), "crops"));
        }
        assert_int_equal(overviews + crops, 6 - excess);
        assert_int_equal(json_array_size(json_object_get(pictures, "crops")), 6);
        json_decref(report);
    }
}

static void two_images(void **state)
{
    lap_error err;
    (void)state;
    for (int i = 0; i < 2; i++) {
        const lap_view a = view_of(0, 700, 50, 3, 50), b = view_of(1, 700, 50, 3, 50);
        if (i)
            *sample(&b, 699, 49) = 150;
        const lap_compare_row row = row_of("B", &a, &b);
        json_t *report = new_report();
        assert_int_equal(lap_report_add_pair(report, context, &b, &row, &err), LAP_OK);
        assert_true(json_is_object(json_object_get(report, "statistics")));
        if (i)
            assert_text(pictures_of(report),
                "{\"width\":700,\"height\":50,\"channels\":3,\"scaled\":false,\"crops\":[{\"x\":508,"
                "\"y\":0,\"width\":192,\"height\":50,\"photo\":\"colour 192x50 1440000\","
                "\"edges\":\"colour 192x50 1440100\"}],\"differences\":[{\"backend\":\"B\","
                "\"max_abs\":100,\"differing_pixels\":1,\"overview\":\"gray 640x45 100\","
                "\"crops\":[{\"x\":508,\"y\":0,\"width\":192,\"height\":50,"
                "\"difference\":\"gray 192x50 100\",\"peak\":{\"x\":699,\"y\":49,\"value\":100}}]}],"
                "\"photo\":\"colour 700x50 5250000\",\"edges\":\"colour 700x50 5250100\"}");
        else
            assert_text(pictures_of(report),
                "{\"width\":700,\"height\":50,\"channels\":3,\"scaled\":false,\"crops\":[{\"x\":0,"
                "\"y\":0,\"width\":192,\"height\":50,\"photo\":\"colour 192x50 1440000\","
                "\"edges\":\"colour 192x50 1440000\"},{\"x\":192,\"y\":0,\"width\":192,\"height\":50,"
                "\"photo\":\"colour 192x50 1440000\",\"edges\":\"colour 192x50 1440000\"},{\"x\":384,"
                "\"y\":0,\"width\":192,\"height\":50,\"photo\":\"colour 192x50 1440000\","
                "\"edges\":\"colour 192x50 1440000\"}],\"differences\":[{\"backend\":\"B\","
                "\"max_abs\":0,\"differing_pixels\":0,\"overview\":null,\"crops\":[]}],"
                "\"photo\":\"colour 700x50 5250000\",\"edges\":\"colour 700x50 5250000\"}");
    }
}

/* A photo that is read and filtered for the page; its statistics stay if there are some. */
static void from_file(void **state)
{
    lap_error err;
    (void)state;
    FILE *file = fopen(at("a.pgm"), "w");
    assert_non_null(file);
    fprintf(file, "P5 3 1 255\n%c%c%c", 10, 20, 30);
    assert_int_equal(fclose(file), 0);
    for (int has = 0; has < 2; has++) {
        json_t *report = json_pack("{ss sn}", "statistics", "before", "pictures");
        if (!has)
            json_object_set_new(report, "statistics", json_null());
        assert_int_equal(lap_report_add_file(report, context, at("a.pgm"), &cli.settings, &err), LAP_OK);
        json_t *statistics = json_object_get(report, "statistics");
        assert_int_equal(json_is_string(statistics), has);
        if (!has)
            assert_string_equal(
                json_string_value(json_object_get(json_object_get(statistics, "input"), "path")),
                at("a.pgm"));
        /* 24 times a sample, less its neighbours: 190, 440 and 690, at most 255. */
        assert_text(pictures_of(report),
            "{\"width\":3,\"height\":1,\"channels\":1,\"scaled\":false,\"crops\":[{\"x\":0,"
            "\"y\":0,\"width\":3,\"height\":1,\"photo\":\"gray 3x1 60\",\"edges\":\"gray 3x1 "
            "700\"}],\"differences\":[],\"photo\":\"gray 3x1 60\",\"edges\":\"gray 3x1 700\"}");
    }
    json_t *report = new_report();
    assert_int_equal(
        lap_report_add_file(report, context, at("none.pgm"), &cli.settings, &err), LAP_E_MISSING);
    sys.call = "uri";
    sys.after = 1;
    assert_int_equal(lap_report_add_file(report, context, at("a.pgm"), &cli.settings, &err), LAP_E_MEMORY);
    assert_true(json_is_null(json_object_get(report, "statistics")));
    json_decref(report);
}

static int make(void **state)
{
    (void)state;
    context = lap_context_create(1, NULL);
    for (int i = 0; i < 3; i++)
        planes[i] = malloc(MOST);
    return !context || !planes[0] || !planes[1] || !planes[2] || !make_scratch() || !said_open();
}

static int unmake(void **state)
{
    lap_context_destroy(context);
    for (int i = 0; i < 3; i++)
        free(planes[i]);
    return said_close() | remove_scratch(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(frames), TEST(results), TEST(pages), TEST(uris),
        TEST(sizes), TEST(details), TEST(comparisons), TEST(limits), TEST(two_images), TEST(from_file)};
    return cmocka_run_group_tests(tests, make, unmake);
}
