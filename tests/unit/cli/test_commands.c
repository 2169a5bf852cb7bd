/* The commands diff, compare, bench, info, backends, doctor and explain: what they print, write and return.
 * The rows of compare and bench, what info finds, and the machine are those of the test. */
#include "tests/unit/cli/command_stubs.h"

#include <errno.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/explain.h"
#include "cli/measure/measure.h"
#include "cli/report/report.h"

/* ---- what surrounds the commands ------------------------------------------------------------------- */

static const rung usual[] = {{{.name = "c", .resolved = "c"}, NULL},
    {{.name = "auto", .resolved = "simd-avx2", .resolves = "simd-avx2,c"}, NULL}};

static struct {
    int cores;
    double now_ms;
    const char *note;
    int warnings[2]; /* of the files that are read, in turn */
    int reads;
    /* compare */
    const lap_compare_row *rows;
    size_t row_count;
    lap_code compare_code;
    int map_fails, maps, maps_same, report_fails, inputs_end, links, walks;
    char mapped[200], ops[200];
    lap_compare_options compared;
    /* bench */
    const lap_bench_row *timed;
    size_t timed_count;
    lap_code bench_code;
    lap_bench_options benched[3];
    int benches;
    int device_texts;
    /* the machine */
    bool no_context, bad_library, no_limit;
    /* reports */
    int report_exit, created, added_rows, pairs, added_files;
    char subject[400], results[60], reported[40];
    int threads;
    /* info */
    lap_info info;
    const lap_dropped *drops;
    size_t drop_count;
    lap_code info_code;
} sys;

STUB(lap_cli_now_ms);
double __wrap_lap_cli_now_ms(void)
{
    return sys.now_ms += 2.5;
}

STUB(time);
time_t __wrap_time(time_t *to)
{
    assert_null(to);
    return 1000000000;
}

STUB(lap_usable_cores);
int __wrap_lap_usable_cores(void)
{
    return sys.cores;
}

STUB(lap_cpu_name);
void __wrap_lap_cpu_name(char *name, size_t size)
{
    snprintf(name, size, "A CPU");
}

STUB(lap_device_text);
bool __wrap_lap_device_text(int device, char *text, size_t size)
{
    sys.device_texts++;
    snprintf(text, size, "device %d", device);
    return true;
}

STUB(lap_coder_at);
bool __wrap_lap_coder_at(lap_op op, int i, lap_rung_info *info)
{
    return __wrap_lap_rung_at(op, i, true, info);
}

__typeof__(lap_context_create) __real_lap_context_create;
STUB(lap_context_create);
lap_context *__wrap_lap_context_create(int threads, lap_error *err)
{
    if (sys.no_context) {
        *err = (lap_error){.code = LAP_E_MEMORY, .message = "no context"};
        return NULL;
    }
    return __real_lap_context_create(threads ? threads : sys.cores, err);
}

STUB(lap_memory_here);
uint64_t __wrap_lap_memory_here(void)
{
    return 16500000000;
}

STUB(lap_libraries_check);
lap_code __wrap_lap_libraries_check(lap_error *err)
{
    if (sys.bad_library)
        *err = (lap_error){.code = LAP_E_BACKEND, .message = "another interface"};
    return err->code;
}

STUB(getrlimit);
int __wrap_getrlimit(__rlimit_resource_t what, struct rlimit *limit)
{
    assert_int_equal(what, RLIMIT_NOFILE);
    *limit = (struct rlimit){.rlim_cur = 1024, .rlim_max = 4096};
    return sys.no_limit ? -1 : 0;
}

STUB(lap_pixels_note);
const char *__wrap_lap_pixels_note(const lap_pixels *pixels)
{
    assert_non_null(pixels);
    return sys.note;
}

STUB(lap_pixels_warn);
void __wrap_lap_pixels_warn(const lap_pixels *pixels, bool exact, lap_report *report)
{
    assert_non_null(pixels);
    assert_int_equal(exact, cli.command == &lap_cli_commands[LAP_COMMAND_DIFF]);
    report->warnings = sys.warnings[sys.reads++ & 1];
    if (report->warnings)
        strcpy(report->warning, "odd");
}

/* ---- reports --------------------------------------------------------------------------------------- */

STUB(lap_report_create);
json_t *__wrap_lap_report_create(const lap_cli *of, const char *subject, int threads)
{
    assert_ptr_equal(of, &cli);
    snprintf(sys.subject, sizeof sys.subject, "%s", subject);
    sys.threads = threads;
    sys.created++;
    return json_object();
}

STUB(lap_report_add_results);
void __wrap_lap_report_add_results(json_t *report, json_t *results)
{
    assert_non_null(report);
    snprintf(sys.results, sizeof sys.results, "%s", json_string_value(json_object_get(results, "schema")));
    json_decref(results);
}

static lap_code report_step(lap_error *err)
{
    if (!sys.report_fails)
        return LAP_OK;
    *err = (lap_error){.code = LAP_E_MEMORY, .message = "out of memory"};
    return LAP_E_MEMORY;
}

STUB(lap_report_add_row);
lap_code __wrap_lap_report_add_row(json_t *report, lap_context *context, const char *input,
    const lap_view *photo, const lap_compare_row *row, lap_error *err)
{
    assert_true(report && context && input && photo && row);
    sys.added_rows++;
    strcpy(err->message, "why no PNG was made");
    return report_step(err);
}

STUB(lap_report_add_pair);
lap_code __wrap_lap_report_add_pair(
    json_t *report, lap_context *context, const lap_view *b, const lap_compare_row *row, lap_error *err)
{
    assert_true(report && context && row->a && row->b);
    /* The original b, and b without the differences that do not count. */
    snprintf(sys.reported, sizeof sys.reported, "%d %d", b->base[0] - row->a->base[0],
        row->b->base[0] - row->a->base[0]);
    sys.pairs++;
    return report_step(err);
}

STUB(lap_report_add_file);
lap_code __wrap_lap_report_add_file(
    json_t *report, lap_context *context, const char *path, const lap_settings *settings, lap_error *err)
{
    assert_true(report && context && path && settings == &cli.settings);
    sys.added_files++;
    return report_step(err);
}

STUB(lap_report_write);
int __wrap_lap_report_write(const char *path, json_t *report)
{
    assert_string_equal(path, "page");
    json_decref(report);
    return sys.report_exit;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

STUB(lap_compare);
lap_code __wrap_lap_compare(lap_context *context, lap_op op, lap_pixels *pixels,
    const lap_compare_options *options, const lap_settings *settings, lap_error *err)
{
    static lap_view other;
    assert_true(context && settings == &cli.settings);
    sys.compared = *options;
    snprintf(sys.ops + strlen(sys.ops), sizeof sys.ops - strlen(sys.ops), "%s ", lap_op_name(op));
    for (size_t i = 0; i < sys.row_count; i++)
        if (sys.rows[i].op == op) {
            lap_compare_row row = sys.rows[i];
            if (row.op == LAP_OP_FILTER && !row.reason) {
                other = *lap_pixels_view(pixels);
                row.a = lap_pixels_view(pixels);
                row.b = &other;
            }
            options->each(options->user, &row);
        }
    if (sys.compare_code)
        *err = (lap_error){.code = sys.compare_code, .message = "m"};
    return sys.compare_code;
}

STUB(lap_heatmap_write);
lap_code __wrap_lap_heatmap_write(
    const char *path, const lap_view *a, const lap_view *b, int mask_border, int top, lap_error *err)
{
    assert_true(a && b && top == 0 && mask_border == cli.allowed.mask_border);
    snprintf(sys.mapped, sizeof sys.mapped, "%s", path);
    sys.maps++;
    sys.maps_same = a == b;
    if (!sys.map_fails)
        return LAP_OK;
    *err = (lap_error){.code = LAP_E_WRITE, .message = "no map"};
    return LAP_E_WRITE;
}

__typeof__(lap_inputs) __real_lap_inputs;
STUB(lap_inputs);
lap_code __wrap_lap_inputs(
    const char *const *names, size_t count, lap_inputs_fn *each, void *user, uint64_t *links, lap_error *err)
{
    static const char *const paths[] = {"in/a.pgm", "in/none.pgm", "in/b.pgm"};
    const lap_error problem = {.code = LAP_E_UNREADABLE, .subject = "in/none.pgm", .message = "is odd"};
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "in");
    sys.walks++;
    lap_code code = LAP_OK;
    for (int i = 0; i < sys.inputs_end && code == LAP_OK; i++)
        code = each(user, paths[i], i == 1 ? &problem : NULL, err);
    if (links)
        *links = (uint64_t)sys.links;
    if (code == LAP_OK && sys.inputs_end < 0) {
        *err = (lap_error){.code = LAP_E_UNREADABLE, .message = "cannot be walked"};
        code = LAP_E_UNREADABLE;
    }
    return code;
}

STUB(lap_bench);
lap_code __wrap_lap_bench(lap_context *context, lap_op op, const lap_bench_options *options,
    lap_bench_fn *each, void *user, lap_error *err)
{
    assert_non_null(context);
    if (sys.benches < 3)
        sys.benched[sys.benches] = *options;
    sys.benches++;
    for (size_t i = 0; i < sys.timed_count; i++) {
        lap_bench_row row = sys.timed[i];
        row.op = op;
        each(user, &row);
    }
    if (sys.bench_code)
        *err = (lap_error){.code = sys.bench_code, .message = "m"};
    return sys.bench_code;
}

STUB(lap_info_dropped);
lap_code __wrap_lap_info_dropped(const char *path, const lap_settings *settings, lap_info *info,
    lap_dropped_fn *each, void *user, lap_error *err)
{
    assert_string_equal(path, "in.jpg");
    assert_ptr_equal(settings, &cli.settings);
    *info = sys.info;
    for (size_t i = 0; i < sys.drop_count; i++)
        each(user, &sys.drops[i]);
    if (sys.info_code)
        *err = (lap_error){.code = sys.info_code, .message = "m"};
    return sys.info_code;
}

/* ---- a command line -------------------------------------------------------------------------------- */

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    sys.cores = 4;
    sys.note = "";
    begin_command(LAP_COMMAND_RUN);
    cli.settings.threads = 2;
    around.build = "gcc\n";
    around.rungs = usual;
    around.rung_count = COUNT(usual);
    return 0;
}

/* A gray or colour picture of 13 x 12 pixels; `more` is added to the first samples. */
static void put_picture(const char *name, int channels, const char *more)
{
    FILE *file = fopen(at(name), "w");
    assert_non_null(file);
    fprintf(file, "P%d 13 12 255\n", channels == 1 ? 5 : 6);
    for (int i = 0; i < 13 * 12 * channels; i++)
        putc(100 + i % 7 + (i < (int)strlen(more) ? more[i] - '0' : 0), file);
    assert_int_equal(fclose(file), 0);
}

/* ---- diff ------------------------------------------------------------------------------------------ */

static void give_diff(const char *a, const char *b)
{
    begin(NULL);
    cli.command = &lap_cli_commands[LAP_COMMAND_DIFF];
    cli.forms = LAP_CLI_DIFF;
    cli.operand_count = 2;
    operands[0] = (char *)a;
    operands[1] = (char *)b;
}

#define assert_diff(want) assert_text(all_of(lap_cli_diff), want)

static void diff_talks(void **state)
{
    (void)state;
    put_picture("a.pgm", 1, "");
    put_picture("b.pgm", 1, "201");
    put_picture("c.ppm", 3, "");
    put_picture("d.ppm", 3,
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000001");
    give_diff("a.pgm", "b.pgm");
    assert_diff("13 x 12, 1 channel\n"
                "largest difference  2\n"
                "mean difference     0.0192308\n"
                "RMSE                0.179029\n"
                "PSNR                63.07 dB\n"
                "SSIM                1.000000\n"
                "differing pixels    2 of 156 (1.28 %), 2 of them in the border of two\n"
                "first difference    x 0, y 0, channel 0: A 100, B 102, in the border\n"
                "different\n"
                "--\n"
                "1");
    around.width = 45;
    assert_diff("13 x 12, 1 channel\n"
                "largest difference  2\n"
                "mean difference     0.0192308\n"
                "RMSE                0.179029\n"
                "PSNR                63.07 dB\n"
                "SSIM                1.000000\n"
                "differing pixels    2 of 156 (1.28 %), 2 of\n"
                "                    them in the border of two\n"
                "first difference    x 0, y 0, channel 0: A\n"
                "                    100, B 102, in the border\n"
                "different\n"
                "--\n"
                "1");
    give_diff("c.ppm", "d.ppm");
    cli.verbose = true;
    sys.note = "two threads";
    sys.warnings[0] = 1;
    sys.warnings[1] = 3;
    assert_diff("13 x 12, 3 channels\n"
                "largest difference  1\n"
                "mean difference     0.00213675\n"
                "RMSE                0.046225\n"
                "PSNR                74.83 dB\n"
                "SSIM                0.999998\n"
                "differing pixels    1 of 156 (0.641 %), 0 of them in the border of two\n"
                "first difference    x 2, y 2, channel 2: A 102, B 103, in the interior\n"
                "different\n"
                "--\n"
                "lapedge: c.ppm: warning: odd\n"
                "lapedge: d.ppm: warning: odd (the first of 3)\n"
                "lapedge: both read with up to 2 threads, 2.5 ms; the first two threads\n"
                "1");
    cli.quiet = true;
    sys.note = "";
    assert_diff("lapedge: both read with up to 2 threads, 2.5 ms\n1");
    give_diff("a.pgm", "a.pgm");
    assert_diff("13 x 12, 1 channel\nidentical\n--\n0");
    give_diff("a.pgm", "b.pgm");
    cli.allowed.max_abs = 2;
    assert_non_null(strstr(all_of(lap_cli_diff), "\nequal within the tolerance\n--\n0"));
    give_diff("a.pgm", "b.pgm");
    cli.allowed.pixel_threshold = 1;
    assert_non_null(strstr(
        all_of(lap_cli_diff), "differing pixels    1 of 156 (0.641 %), 1 of them in the border of two\n"));
    cli.allowed.pixel_threshold = 2;
    assert_diff("13 x 12, 1 channel\nequal within the tolerance\n--\n0");
    /* A report shows the original b, also if differences do not count. */
    cli.report = "page";
    for (int i = 0; i < 4; i++) {
        cli.allowed.pixel_threshold = i & 1;
        cli.ignore = (lap_cli_boxes){.box = {{0, 0, 2, 2}}, .count = (size_t)(i >> 1)};
        assert_int_equal(code_of(lap_cli_diff), i == 3 ? 0 : 1);
        assert_string_equal(sys.reported, i > 1 ? "2 0" : "2 2");
        assert_string_equal(sys.subject, "a.pgm and b.pgm");
        assert_string_equal(sys.results, "lapedge.diff/1");
    }
    sys.report_exit = 1;
    assert_int_equal(code_of(lap_cli_diff), 2);
    sys.report_fails = 1;
    assert_int_equal(code_of(lap_cli_diff), 2);
    assert_text(said_err(), "lapedge: page: out of memory\n");
}

static void diff_ends(void **state)
{
    char *text;
    (void)state;
    put_picture("a.pgm", 1, "");
    put_picture("b.pgm", 1, "201");
    put_picture("c.ppm", 3, "");
    put(at("small.pgm"), "P5 1 1 255\nx");
    give_diff("a.pgm", "c.ppm");
    text = strdup(all_of(lap_cli_diff));
    assert_text(text, "lapedge: a.pgm and c.ppm: channels differ: 1 and 3; --gray compares their luma\n"
                      "2");
    free(text);
    give_diff("a.pgm", "small.pgm");
    assert_diff("lapedge: a.pgm and small.pgm: sizes differ: 13x12 and 1x1\n"
                "2");
    put("wide.pgm", "P5 13 1 255\nxxxxxxxxxxxxx"); /* one side is the same: no word about --gray */
    put("high.pgm", "P5 1 12 255\nxxxxxxxxxxxx");
    give_diff("a.pgm", "wide.pgm");
    assert_diff("lapedge: a.pgm and wide.pgm: sizes differ: 13x12 and 13x1\n2");
    give_diff("a.pgm", "high.pgm");
    assert_diff("lapedge: a.pgm and high.pgm: sizes differ: 13x12 and 1x12\n2");
    give_diff("c.ppm", "small.pgm");
    assert_diff("lapedge: c.ppm and small.pgm: sizes differ: 13x12 and 1x1\n2");
    give_diff("none.pgm", "b.pgm");
    assert_int_equal(code_of(lap_cli_diff), 2);
    assert_int_equal(strncmp(said_err(), "lapedge: none.pgm: ", 19), 0);
    assert_int_equal(sys.reads, 0);
    give_diff("a.pgm", "none.pgm");
    cli.verbose = true;
    assert_int_equal(code_of(lap_cli_diff), 2);
    assert_null(strstr(said_err(), "both read"));
    give_diff("a.pgm", "b.pgm");
    static const lap_diff_box boxes[] = {{12, 11, 1, 1}, {13, 0, 2, 3}, {0, 12, 2, 3}};
    for (size_t i = 0; i < COUNT(boxes); i++) {
        cli.ignore = (lap_cli_boxes){.box = {boxes[i], {99, 99, 1, 1}}, .count = 1};
        assert_int_equal(code_of(lap_cli_diff), i ? 2 : 1);
        if (i == 1)
            assert_text(
                said_err(), "lapedge: --ignore=13,0,2,3 lies outside the image, which has 13 x 12 pixels\n");
    }
    cli.ignore = (lap_cli_boxes){.box = {{0, 0, 13, 12}}, .count = 1};
    assert_diff("lapedge: --ignore covers the whole image: no pixel is left to compare\n2");
    cli.ignore = (lap_cli_boxes){.box = {{1, 1, 11, 10}}, .count = 1};
    cli.allowed.mask_border = 1;
    assert_diff("lapedge: --ignore and --mask-border cover the whole image: no pixel is left to compare\n2");
    give_diff("a.pgm", "b.pgm");
    cli.heatmap = "map.png";
    cli.quiet = true;
    assert_diff("1");
    assert_string_equal(sys.mapped, "map.png");
    sys.map_fails = 1;
    assert_diff("lapedge: map.png: no map\n2");
    give_diff("a.pgm", "b.pgm");
    wants_json();
    sys.warnings[1] = 4;
    assert_int_equal(code_of(lap_cli_diff), 1);
    json_t *object = json_loads(said_out(), 0, NULL);
    assert_non_null(object);
    assert_true(fabs(json_real_value(json_object_get(object, "psnr")) - 63.0727) < 1e-3);
    assert_true(json_real_value(json_object_get(object, "ssim")) > 0.9);
    json_object_del(object, "psnr");
    json_object_del(object, "ssim");
    json_object_del(object, "mean_abs");
    json_object_del(object, "rmse");
    text = lap_json_dump(object, JSON_COMPACT);
    assert_text(text, "{\"schema\":\"lapedge.diff/1\",\"a\":\"a.pgm\",\"b\":\"b.pgm\",\"width\":13,"
                      "\"height\":12,\"channels\":1,\"equal\":false,\"tolerance\":{\"max_abs\":0,"
                      "\"max_differing\":null,\"max_differing_share\":null,\"min_psnr\":null,"
                      "\"mask_border\":0,\"threshold_per_pixel\":0,\"ignore\":[]},\"identical\":false,"
                      "\"max_abs\":2,\"differing_pixels\":2,\"first_difference\":{\"x\":0,\"y\":0,"
                      "\"channel\":0,\"a\":100,\"b\":102,\"at_border\":true},\"warnings\":4,"
                      "\"warning\":\"b.pgm: odd\"}");
    free(text);
    json_decref(object);
    lose_output(0, LAP_EXIT_FAILED);
    assert_int_equal(code_of(lap_cli_diff), 2);
    lose_output(1, LAP_EXIT_FAILED);
    assert_int_equal(code_of(lap_cli_diff), 2);
}

/* ---- compare --------------------------------------------------------------------------------------- */

static lap_compare_row compared(lap_op op, const char *backend, const char *resolved, int max_abs)
{
    return (lap_compare_row){.op = op,
        .backend = backend,
        .resolved = resolved,
        .difference = {.identical = !max_abs,
            .samples = 156,
            .pixels = 156,
            .max_abs = max_abs,
            .differing_pixels = (uint64_t)max_abs,
            .psnr = NAN,
            .ssim = NAN},
        .relative_error = NAN,
        .ms = 1.25,
        .upload_ms = NAN,
        .kernel_ms = NAN,
        .download_ms = NAN,
        .runs = 4,
        .min_ms = 1,
        .max_ms = 1.5,
        .stddev_ms = 0.0625};
}

static lap_compare_row compare_rows[4];

static void give_compare(int max_abs)
{
    begin(NULL);
    cli.command = &lap_cli_commands[LAP_COMMAND_COMPARE];
    cli.operand_count = 1;
    operands[0] = "a.pgm";
    cli.ops = 1 << LAP_OP_FILTER;
    compare_rows[0] = compared(LAP_OP_FILTER, "c", "c", 0);
    compare_rows[1] = compared(LAP_OP_FILTER, "simd", "simd-avx2", max_abs);
    compare_rows[2] = compared(LAP_OP_REDUCE, "c", "c", 0);
    sys.rows = compare_rows;
    sys.row_count = 3;
    put_picture("a.pgm", 1, "");
}

#define assert_compare(want) assert_text(all_of(lap_cli_compare), want)

static void compare_talks(void **state)
{
    (void)state;
    give_compare(0);
    cli.verbose = true;
    sys.note = "a note";
    sys.warnings[0] = 2;
    assert_compare("13 x 12, 1 channel\n"
                   "filter       same largest       mean       RMSE    PSNR      pixels        ms  spread\n"
                   "c            yes        0          0          0       -           0     1.250     5 %\n"
                   "simd (avx2)  yes        0          0          0       -           0     1.250     5 %\n"
                   "--\n"
                   "lapedge: a.pgm: warning: odd (the first of 2)\n"
                   "lapedge: a.pgm: read in 2.5 ms, up to 2 threads; a note\n"
                   "0");
    assert_string_equal(sys.ops, "filter ");
    assert_true(!sys.compared.backends && sys.compared.mask_border == 0 && sys.compared.runs == 0);
    give_compare(3);
    cli.ops = 1 << LAP_OP_FILTER | 1 << LAP_OP_REDUCE;
    cli.bench.runs = 7;
    cli.allowed.mask_border = 1;
    sys.warnings[0] = 2;
    cli.quiet = true;
    wants_json();
    assert_compare(
        "{\"schema\":\"lapedge.compare/1\",\"input\":\"a.pgm\",\"files\":1,\"failed\":0,"
        "\"left\":0,\"warnings\":2,\"warning\":\"a.pgm: odd\",\"width\":13,\"height\":12,\"channels\":1,"
        "\"kernel\":\"laplace5\",\"border\":\"zero\",\"range\":\"clamp\","
        "\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,"
        "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],\"scale\":1.0,"
        "\"offset\":0.0,\"invert\":false,\"threshold\":-1,\"decode_ms\":2.5,\"equal\":false,"
        "\"tolerance\":{\"max_abs\":0,\"max_differing\":null,\"max_differing_share\":null,"
        "\"min_psnr\":null,\"mask_border\":1,\"promised\":0},\"rows\":[{\"backend\":\"c\","
        "\"resolved\":\"c\",\"available\":true,\"reason\":null,\"identical\":true,"
        "\"max_abs\":0,\"mean_abs\":0.0,\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,"
        "\"first_difference\":null,\"ms\":1.25,\"op\":\"filter\",\"differing_border\":0,"
        "\"relative_error\":null,\"detail\":null,\"input\":null,\"upload_ms\":null,"
        "\"kernel_ms\":null,\"download_ms\":null,\"runs\":4,\"min_ms\":1.0,\"max_ms\":1.5,"
        "\"stddev_ms\":0.0625,\"noisy\":false},{\"backend\":\"simd\","
        "\"resolved\":\"simd-avx2\",\"available\":true,\"reason\":null,\"identical\":false,"
        "\"max_abs\":3,\"mean_abs\":0.0,\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":3,"
        "\"first_difference\":{\"x\":0,\"y\":0,\"channel\":0,\"a\":0,\"b\":0,"
        "\"at_border\":false},\"ms\":1.25,\"op\":\"filter\",\"differing_border\":0,"
        "\"relative_error\":null,\"detail\":null,\"input\":\"a.pgm\",\"upload_ms\":null,"
        "\"kernel_ms\":null,\"download_ms\":null,\"runs\":4,\"min_ms\":1.0,\"max_ms\":1.5,"
        "\"stddev_ms\":0.0625,\"noisy\":false},{\"backend\":\"c\",\"resolved\":\"c\","
        "\"available\":true,\"reason\":null,\"identical\":true,\"max_abs\":null,"
        "\"mean_abs\":null,\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,"
        "\"first_difference\":null,\"ms\":1.25,\"op\":\"reduce\",\"differing_border\":null,"
        "\"relative_error\":null,\"detail\":null,\"input\":null,\"upload_ms\":null,"
        "\"kernel_ms\":null,\"download_ms\":null,\"runs\":4,\"min_ms\":1.0,\"max_ms\":1.5,"
        "\"stddev_ms\":0.0625,\"noisy\":false}],\"photos\":null}\n"
        "--\n"
        "1");
    assert_string_equal(sys.ops, "filter reduce ");
    assert_true(sys.compared.mask_border == 1 && sys.compared.runs == 7);
    cli.allowed.max_abs = 3;
    assert_int_equal(code_of(lap_cli_compare), 0);
    give_compare(3);
    cli.heatmap = "map.png";
    assert_int_equal(code_of(lap_cli_compare), 1);
    assert_int_equal(sys.maps, 1);
    assert_text(said_err(), "lapedge: map.png shows simd of a.pgm\n");
    assert_false(sys.maps_same);
    for (int i = 0; i < 4; i++) { /* only the first picture that differs, and no sums, is shown */
        give_compare(3);
        compare_rows[2] = compared(i == 1 ? LAP_OP_REDUCE : LAP_OP_FILTER, "third", "third", 3);
        compare_rows[1].difference.identical = i != 0;
        compare_rows[2].reason = i == 2 ? "it broke" : NULL;
        cli.ops = 1 << LAP_OP_FILTER | 1 << LAP_OP_REDUCE;
        cli.heatmap = i == 3 ? NULL : "map.png";
        (void)code_of(lap_cli_compare);
        assert_int_equal(sys.maps, i < 3);
        assert_int_equal(sys.maps_same, i == 1 || i == 2);
        assert_text(said_err(), i ? "" : "lapedge: map.png shows simd of a.pgm\n");
    }
    give_compare(3);
    cli.heatmap = "map.png";
    sys.map_fails = 1;
    cli.quiet = true;
    assert_compare("lapedge: map.png: no map\n2");
    give_compare(0);
    cli.heatmap = "map.png"; /* without a difference it shows none */
    cli.quiet = true;
    assert_compare("0");
    assert_true(sys.maps == 1 && sys.maps_same);
    cli.report = "page";
    assert_compare("0");
    assert_int_equal(sys.added_rows, 2);
    assert_string_equal(sys.results, "lapedge.compare/1");
    assert_string_equal(sys.subject, "a.pgm");
    assert_int_equal(sys.threads, 2);
    sys.report_exit = 1;
    assert_compare("2");
    sys.added_rows = 0;
    sys.report_fails = 1;
    assert_compare("lapedge: page: out of memory\n2");
    assert_int_equal(sys.added_rows, 1);
}

static void compare_ends(void **state)
{
    static const struct {
        const char *resolved, *reason;
        bool named;
        int code;
    } cases[] = {{"simd-avx2", "it broke", false, 2}, {NULL, "simd: absent", false, 0},
        {NULL, "simd: absent", true, 3}, {"simd-avx2", NULL, true, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int quiet = 0; quiet < 3; quiet++) {
            give_compare(0);
            compare_rows[1].resolved = cases[i].resolved;
            compare_rows[1].reason = cases[i].reason;
            cli.bench.backends = cases[i].named ? "c" : NULL;
            cli.quiet = quiet == 1;
            if (quiet == 2)
                wants_json();
            assert_int_equal(code_of(lap_cli_compare), cases[i].code);
            assert_text(said_err(), cases[i].code != 3 ? ""
                                    : quiet            ? "lapedge: simd: absent\n"
                                                       : "lapedge: simd: named, but cannot run here\n");
        }
    give_compare(0);
    sys.compare_code = LAP_E_TIMEOUT;
    assert_compare("lapedge: a.pgm: timeout: m\n2");
    give_compare(0);
    operands[0] = "none.pgm";
    assert_int_equal(code_of(lap_cli_compare), 2);
    give_compare(0);
    cli.operand_count = 2;
    assert_compare("lapedge: compare takes one IN, an image or a folder\n2");
    cli.operand_count = 0;
    assert_compare("lapedge: IN is missing: lapedge compare IN\n2");
    give_compare(0);
    cli.settings.threads = 5000;
    assert_int_equal(code_of(lap_cli_compare), 2);
    give_compare(0);
    sys.compare_code = LAP_E_CANCELLED;
    around.caught = 2;
    assert_compare("1");
    give_compare(0);
    wants_json();
    lose_output(0, LAP_EXIT_FAILED);
    assert_int_equal(code_of(lap_cli_compare), 2);
}

static void compare_folders(void **state)
{
    (void)state;
    give_compare(0);
    if (mkdir("in", 0700) == 0) {
        put_picture("in/a.pgm", 1, "");
        put_picture("in/b.pgm", 3, "");
    }
    operands[0] = "in";
    sys.inputs_end = 3;
    sys.links = 1;
    assert_compare("photo                                           size same largest      c ms   fastest "
                   " backend\n"
                   "a.pgm                                          13x12  yes       0     1.250     1.250 "
                   " c\n"
                   "none.pgm                                      failed\n"
                   "b.pgm                                          13x12  yes       0     1.250     1.250 "
                   " c\n"
                   "\n"
                   "2 files together\n"
                   "filter       same largest       mean       RMSE    PSNR      pixels        ms  spread\n"
                   "c            yes        0          0          0       -           0     2.500     4 %\n"
                   "simd (avx2)  yes        0          0          0       -           0     2.500     4 %\n"
                   "--\n"
                   "lapedge: in/none.pgm: is odd\n"
                   "lapedge: 1 symbolic link not followed\n"
                   "2");
    sys.links = 2;
    cli.fail_fast = true;
    sys.walks = 0;
    assert_compare("photo                                           size same largest      c ms   fastest "
                   " backend\n"
                   "a.pgm                                          13x12  yes       0     1.250     1.250 "
                   " c\n"
                   "none.pgm                                      failed\n"
                   "\n"
                   "1 file together\n"
                   "filter       same largest       mean       RMSE    PSNR      pixels        ms  spread\n"
                   "c            yes        0          0          0       -           0     1.250     5 %\n"
                   "simd (avx2)  yes        0          0          0       -           0     1.250     5 %\n"
                   "--\n"
                   "lapedge: in/none.pgm: is odd\n"
                   "lapedge: 2 symbolic links not followed\n"
                   "lapedge: stopped early, 1 left\n"
                   "2");
    assert_int_equal(sys.walks, 2);
    cli.quiet = true;
    assert_compare("lapedge: in/none.pgm: is odd\n2");
    wants_json();
    cli.quiet = cli.fail_fast = false;
    assert_compare("{\"schema\":\"lapedge.compare/1\",\"input\":\"in\",\"files\":2,\"failed\":1,"
                   "\"left\":0,\"warnings\":0,\"warning\":null,\"width\":null,\"height\":null,"
                   "\"channels\":null,\"kernel\":\"laplace5\",\"border\":\"zero\",\"range\":\"clamp\","
                   "\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,"
                   "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],\"scale\":1.0,"
                   "\"offset\":0.0,\"invert\":false,\"threshold\":-1,\"decode_ms\":7.5,\"equal\":false,"
                   "\"tolerance\":{\"max_abs\":0,\"max_differing\":null,\"max_differing_share\":null,"
                   "\"min_psnr\":null,\"mask_border\":0,\"promised\":0},\"rows\":[{\"backend\":\"c\","
                   "\"resolved\":\"c\",\"available\":true,\"reason\":null,\"identical\":true,"
                   "\"max_abs\":0,\"mean_abs\":0.0,\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,"
                   "\"first_difference\":null,\"ms\":2.5,\"op\":\"filter\",\"differing_border\":0,"
                   "\"relative_error\":null,\"detail\":null,\"input\":null,\"upload_ms\":null,"
                   "\"kernel_ms\":null,\"download_ms\":null,\"runs\":4,\"min_ms\":2.0,\"max_ms\":3.0,"
                   "\"stddev_ms\":0.088388,\"noisy\":false},{\"backend\":\"simd\","
                   "\"resolved\":\"simd-avx2\",\"available\":true,\"reason\":null,\"identical\":true,"
                   "\"max_abs\":0,\"mean_abs\":0.0,\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,"
                   "\"first_difference\":null,\"ms\":2.5,\"op\":\"filter\",\"differing_border\":0,"
                   "\"relative_error\":null,\"detail\":null,\"input\":null,\"upload_ms\":null,"
                   "\"kernel_ms\":null,\"download_ms\":null,\"runs\":4,\"min_ms\":2.0,\"max_ms\":3.0,"
                   "\"stddev_ms\":0.088388,\"noisy\":false}],\"photos\":[{\"input\":\"in/a.pgm\","
                   "\"error\":null,\"width\":13,\"height\":12,\"channels\":1,\"identical\":true,"
                   "\"max_abs\":0,\"differing_pixels\":0,\"worst\":null,\"decode_ms\":2.5,\"c_ms\":1.25,"
                   "\"fastest\":\"c\",\"fastest_ms\":1.25,\"warnings\":0,\"warning\":null},"
                   "{\"input\":\"in/none.pgm\",\"error\":\"in/none.pgm: is odd\",\"width\":null,"
                   "\"height\":null,\"channels\":null,\"identical\":null,\"max_abs\":null,"
                   "\"differing_pixels\":null,\"worst\":null,\"decode_ms\":null,\"c_ms\":null,"
                   "\"fastest\":null,\"fastest_ms\":null,\"warnings\":0,\"warning\":null},"
                   "{\"input\":\"in/b.pgm\",\"error\":null,\"width\":13,\"height\":12,\"channels\":3,"
                   "\"identical\":true,\"max_abs\":0,\"differing_pixels\":0,\"worst\":null,"
                   "\"decode_ms\":2.5,\"c_ms\":1.25,\"fastest\":\"c\",\"fastest_ms\":1.25,\"warnings\":0,"
                   "\"warning\":null}]}\n"
                   "--\n"
                   "lapedge: in/none.pgm: is odd\n"
                   "lapedge: 2 symbolic links not followed\n"
                   "2");
    give_compare(3);
    operands[0] = "in";
    sys.inputs_end = 1;
    cli.fail_fast = true;
    assert_int_equal(code_of(lap_cli_compare), 1); /* it differs; nothing is left */
    assert_null(strstr(said_err(), "left"));
    sys.inputs_end = 3;
    assert_int_equal(code_of(lap_cli_compare), 1);
    assert_non_null(strstr(said_err(), "lapedge: stopped early, 2 left\n"));
    give_compare(0);
    operands[0] = "in";
    assert_compare("lapedge: in: no photo found\n2");
    sys.inputs_end = -1;
    assert_compare("lapedge: in: cannot be walked\n2");
    cli.fail_fast = true;
    around.caught = 2;
    sys.inputs_end = 2;
    assert_compare("1");
}

/* ---- bench ----------------------------------------------------------------------------------------- */

static const double times_ms[] = {1.5, 1.5, 1.75};
static lap_bench_row bench_rows[3];

static lap_bench_row timed(const char *backend, const char *resolved)
{
    return (lap_bench_row){.backend = backend,
        .resolved = resolved,
        .flags = "-O2",
        .threads = 2,
        .width = 64,
        .height = 48,
        .channels = 3,
        .times_ms = times_ms,
        .runs = 3,
        .median_ms = 1.5,
        .mean_ms = 1.5625,
        .stddev_ms = 0.125,
        .min_ms = 1.25,
        .max_ms = 1.75,
        .convert_ms = NAN,
        .upload_ms = NAN,
        .kernel_ms = NAN,
        .download_ms = NAN,
        .end_to_end_ms = NAN,
        .mpix_per_s = 2,
        .gb_per_s = 0.25,
        .roof_share = 0.5,
        .speedup = 1,
        .flops_per_byte = 3,
        .gflop_per_s = NAN,
        .first_ms = 4,
        .value = NAN,
        .relative_error = NAN};
}

static void give_bench(void)
{
    begin(NULL);
    cli.command = &lap_cli_commands[LAP_COMMAND_BENCH];
    bench_rows[0] = timed("memcpy", "memcpy");
    bench_rows[1] = timed("c", "c");
    bench_rows[2] = timed("simd", "simd-avx2");
    sys.timed = bench_rows;
    sys.timed_count = 3;
    cli.bench.device = 5;
}

#define assert_bench(want) assert_text(all_of(lap_cli_bench), want)

static void bench_talks(void **state)
{
    (void)state;
    give_bench();
    assert_non_null(strstr(all_of(lap_cli_bench), "\n64 x 48 x 3, host\n"));
    assert_int_equal(sys.benched[0].threads, 2);
    assert_string_equal(sys.benched[0].params.kernel.name, "laplace5");
    assert_int_equal(sys.device_texts, 0);
    give_bench();
    wants_json();
    sys.timed_count = 1;
    cli.bench.image = "photo.jpg";
    cli.bench.warm = true;
    cli.settings.border = LAP_WRAP;
    bench_rows[0].kernel_ms = 0.5;
    bench_rows[0].type = "f32";
    bench_rows[0].form = "unchecked";
    bench_rows[0].stddev_ms = 0.75;
    assert_bench("{\"schema\":\"lapedge.bench/1\",\"version\":\"" LAP_VERSION "\",\"date\":\"2001-09-09\","
                 "\"machine\":\"A CPU\",\"device\":\"device 5\",\"threads\":2,\"build\":\"gcc\\n\","
                 "\"filter\":{\"kernel\":\"laplace5\",\"border\":\"wrap\",\"range\":\"clamp\","
                 "\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,"
                 "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],\"scale\":1.0,"
                 "\"offset\":0.0,\"invert\":false,\"threshold\":-1},\"warm\":true,"
                 "\"image\":\"photo.jpg\",\"warnings\":[\"noisy: memcpy, threads 2,"
                 " 64 x 48: standard deviation 50 % of the median\"],\"baseline\":null,"
                 "\"tolerance\":null,\"rows\":[{\"op\":\"filter\",\"backend\":\"memcpy\","
                 "\"resolved\":\"memcpy\",\"reason\":null,\"flags\":\"-O2\",\"threads\":2,\"width\":64,"
                 "\"height\":48,\"channels\":3,\"type\":\"f32\",\"form\":\"unchecked\","
                 "\"times_ms\":[1.5,1.5,1.75],\"median_ms\":1.5,\"mean_ms\":1.5625,\"stddev_ms\":0.75,"
                 "\"min_ms\":1.25,\"max_ms\":1.75,\"convert_ms\":null,\"upload_ms\":null,"
                 "\"kernel_ms\":0.5,\"download_ms\":null,\"end_to_end_ms\":null,\"mpix_per_s\":2.0,"
                 "\"gb_per_s\":0.25,\"roof_share\":0.5,\"speedup\":1.0,\"flops_per_byte\":3.0,"
                 "\"gflop_per_s\":null,\"first_ms\":4.0,\"value\":null,\"relative_error\":null,"
                 "\"noisy\":true}]}\n"
                 "--\n"
                 "0");
    give_bench();
    wants_json();
    operands[0] = "transpose";
    operands[1] = "codec";
    cli.operand_count = 2;
    sys.timed_count = 0;
    sys.cores = 1;
    cli.sizes[0] = (lap_cli_size){16, 8};
    cli.sizes[1] = (lap_cli_size){32, 4};
    cli.size_count = 1;
    assert_bench("{\"schema\":\"lapedge.bench/1\",\"version\":\"" LAP_VERSION "\",\"date\":\"2001-09-09\","
                 "\"machine\":\"A CPU\",\"device\":null,\"threads\":2,\"build\":\"gcc\\n\","
                 "\"filter\":{\"kernel\":\"laplace5\",\"border\":\"zero\",\"range\":\"clamp\","
                 "\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,"
                 "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],\"scale\":1.0,"
                 "\"offset\":0.0,\"invert\":false,\"threshold\":-1},\"warm\":false,\"image\":null,"
                 "\"warnings\":[\"2 threads share 1 core\"],\"baseline\":null,\"tolerance\":null,"
                 "\"rows\":[]}\n"
                 "--\n"
                 "lapedge: note: 2 threads share 1 core\n"
                 "0");
    assert_int_equal(sys.benches, 2);
    assert_true(sys.benched[1].width == 16 && sys.benched[1].height == 8);
    sys.cores = 2;
    cli.size_count = 2;
    cli.operand_count = 1;
    sys.benches = 0;
    assert_bench("{\"schema\":\"lapedge.bench/1\",\"version\":\"" LAP_VERSION "\",\"date\":\"2001-09-09\","
                 "\"machine\":\"A CPU\",\"device\":null,\"threads\":2,\"build\":\"gcc\\n\","
                 "\"filter\":null,\"warm\":false,\"image\":null,\"warnings\":[],\"baseline\":null,"
                 "\"tolerance\":null,\"rows\":[]}\n"
                 "--\n"
                 "0");
    assert_true(sys.benches == 2 && sys.benched[1].width == 32);
    give_bench();
    cli.quiet = true;
    cli.report = "page";
    assert_bench("0");
    assert_string_equal(sys.subject, "synthetic data");
    assert_int_equal(sys.added_files, 0);
    cli.bench.image = "photo.jpg";
    assert_bench("0");
    assert_string_equal(sys.subject, "photo.jpg");
    assert_int_equal(sys.added_files, 1);
    sys.report_exit = 1;
    assert_bench("1");
    sys.report_fails = 1;
    assert_bench("lapedge: photo.jpg: out of memory\n1");
}

static void bench_verdicts(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        give_bench();
        cli.quiet = true;
        cli.bench.backends = i & 1 ? "c" : NULL;
        if (i & 2)
            bench_rows[1].reason = "absent", bench_rows[1].resolved = NULL;
        if (i & 4)
            bench_rows[2].reason = "refused";
        assert_int_equal(code_of(lap_cli_bench), i & 4 ? 1 : (i & 3) == 3 ? 3 : 0);
        char want[200];
        snprintf(want, sizeof want, "%s%s",
            (i & 3) == 3 ? "lapedge: backend 'c' cannot run here: absent\n" : "",
            i & 4 ? "lapedge: filter simd: refused\n" : "");
        assert_text(said_err(), want);
    }
    static const struct {
        lap_code code;
        int exit;
        const char *said;
    } ends[] = {{LAP_E_MEMORY, 4, "lapedge: m\n"}, {LAP_E_USAGE, 2, "lapedge: m\n"}, {LAP_E_CANCELLED, 4, ""},
        {LAP_E_BACKEND, 3, "lapedge: m\n"}, {LAP_E_LIMIT, 5, "lapedge: limit: m\n"}};
    for (size_t i = 0; i < COUNT(ends); i++) {
        give_bench();
        cli.quiet = true;
        wants_json();
        sys.bench_code = ends[i].code;
        assert_int_equal(code_of(lap_cli_bench), ends[i].exit);
        assert_text(said_err(), ends[i].said);
        assert_text(said_out(), "");
    }
    give_bench();
    cli.settings.threads = 5000;
    assert_int_equal(code_of(lap_cli_bench), 1);
    give_bench();
    wants_json();
    lose_output(0, LAP_EXIT_FAILED);
    assert_int_equal(code_of(lap_cli_bench), 1);
}

static void bench_usage(void **state)
{
    static const struct {
        const char *ops[2], *type, *image;
        int channels, sizes;
        const char *says; /* NULL: it runs */
    } cases[] = {{{"filtr"}, NULL, NULL, 0, 0, "bench: unknown operation \"filtr\"; did you mean filter?"},
        {{"zzzzzzzzzzzz"}, NULL, NULL, 0, 0,
            "bench: unknown operation \"zzzzzzzzzzzz\"; use filter, transpose, reduce, histogram, matvec, "
            "codec"},
        {{"filter", "filter"}, NULL, NULL, 0, 0, "bench: filter is named twice"},
        {{"filter", "codec"}, NULL, NULL, 2, 0, "--channels: \"2\" is not 1, 3 or 4"},
        {{"filter"}, "f32", NULL, 0, 0, "--type=f32: bench filter runs only on u8"},
        {{"transpose"}, "f64", NULL, 0, 0, NULL},
        {{"reduce"}, "u8", NULL, 0, 0, "--type=u8: bench reduce runs only on f32 and f64"},
        {{"matvec"}, "f64", NULL, 0, 0, "--type=f64: bench matvec runs only on f32"},
        {{"transpose"}, "f32", NULL, 3, 0, "--channels=3: bench transpose of f32 has one channel"},
        {{"transpose"}, "f64", NULL, 3, 0, "--channels=3: bench transpose of f64 has one channel"},
        {{"transpose"}, "f32", NULL, 1, 0, NULL}, {{"transpose"}, "u8", NULL, 3, 0, NULL},
        {{"codec"}, NULL, "p", 0, 1, "--sizes: bench codec uses the photos of --image unchanged"},
        {{"codec"}, NULL, "p", 3, 0, "--channels: bench codec uses the photos of --image unchanged"},
        {{"codec"}, NULL, "p", 0, 0, NULL}, {{"codec"}, NULL, NULL, 3, 1, NULL},
        {{"filter", "codec"}, NULL, NULL, 4, 0, "--channels=4: a JPEG of bench codec has 1 or 3 channels"},
        {{"filter"}, NULL, "p", 4, 1, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[200];
        give_bench();
        cli.quiet = true;
        operands[0] = (char *)cases[i].ops[0];
        operands[1] = (char *)cases[i].ops[1];
        cli.operand_count = 1 + (cases[i].ops[1] != NULL);
        cli.bench.type = cases[i].type;
        cli.bench.image = cases[i].image;
        cli.bench.channels = cases[i].channels;
        cli.size_count = cases[i].sizes;
        snprintf(want, sizeof want, "lapedge: %s\n", cases[i].says ? cases[i].says : "");
        assert_int_equal(code_of(lap_cli_bench), cases[i].says ? 2 : 0);
        assert_text(said_err(), cases[i].says ? want : "");
    }
}

/* A comparison with an earlier run: which rows are compared, and which are slower. */
static void baselines(void **state)
{
    static const char head[] = "{\"schema\":\"lapedge.bench/1\",\"rows\":[";
    static const char rest[] =
        "\"threads\":2,\"width\":64,\"height\":48,\"channels\":3,\"type\":\"u8\",\"form\":null}";
    static const struct {
        const char *c, *simd, *more; /* medians; keys after the rows */
        double tolerance;
        const char *says;
    } cases[] = {{"1.5", "1.5", "", 0, "0"},
        {"1.25", "1", "", 0,
            "lapedge: slower: filter c, 2 threads: 1.500 ms, 1.250 in the baseline (+20 %)\nlapedge: slower: "
            "filter "
            "simd, 2 threads: 1.500 ms, 1.000 in the baseline (+50 %)\n1"},
        {"1.25", "1.25", "", 0.2, "0"},
        {"1.4998", "1.5", "", 0,
            "lapedge: slower: filter c, 2 threads: 1.5000 ms, 1.4998 in the baseline (+0 %)\n1"},
        {"1.49999999999", "1.5", "", 0,
            "lapedge: slower: filter c, 2 threads: 1.500000000 ms, 1.500000000 in the baseline (+0 %)\n1"},
        {"null", "1.5", "", 0, "lapedge: not compared: base has no row for filter c in this size\n0"},
        {"0", "0", "", 0,
            "lapedge: not compared: base has no row for filter c in this size\nlapedge: not compared: base "
            "has no row "
            "for filter simd in this size\nlapedge: --baseline: base has no row in common with this run\n2"},
        {"1.5", "1.5", ",\"warm\":true", 0,
            "lapedge: --baseline: base was measured with buffers in another state (--warm)\n2"},
        {"1.5", "1.5", ",\"warm\":false,\"image\":null,\"filter\":null", 0, "0"},
        {"1.5", "1.5", ",\"image\":\"x\"", 0, "lapedge: --baseline: base was measured with another image\n2"},
        {"1.5", "1.5", ",\"filter\":{}", 0, "lapedge: --baseline: base was measured with another filter\n2"}};
    char text[2000];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        give_bench();
        cli.quiet = true;
        cli.baseline = "base";
        cli.tolerance = cases[i].tolerance;
        snprintf(text, sizeof text,
            "%s{\"op\":\"filter\",\"backend\":\"memcpy\",\"median_ms\":0.1,%s,"
            "{\"op\":\"filter\",\"backend\":\"c\",\"median_ms\":%s,%s,"
            "{\"op\":\"filter\",\"backend\":\"simd\",\"median_ms\":%s,%s]%s}",
            head, rest, cases[i].c, rest, cases[i].simd, rest, cases[i].more);
        put(at("base"), text);
        assert_bench(cases[i].says);
    }
    /* A row of another kind is not the same. */
    static const char *const keys[] = {
        "op", "backend", "threads", "width", "height", "channels", "type", "form"};
    for (size_t i = 0; i < COUNT(keys); i++) {
        give_bench();
        cli.quiet = true;
        cli.baseline = "base";
        json_t *base = json_pack("{ss s[{ss ss si si si si ss sn sf}]}", "schema", "lapedge.bench/1", "rows",
            "op", "filter", "backend", "c", "threads", 2, "width", 64, "height", 48, "channels", 3, "type",
            "u8", "form", "median_ms", 1.5);
        json_object_set_new(json_array_get(json_object_get(base, "rows"), 0), keys[i], json_string("other"));
        assert_int_equal(json_dump_file(base, "base", 0), 0);
        json_decref(base);
        assert_int_equal(code_of(lap_cli_bench), 2);
    }
    static const char *const ceilings[] = {"memcpy", "multiply-add", "copy", "copy-kernel", "copy-shared",
        "copy-up", "copy-down", "copy-both", "copy-device"};
    for (size_t i = 0; i < COUNT(ceilings); i++) {
        give_bench();
        cli.quiet = true;
        cli.baseline = "base";
        bench_rows[0].backend = ceilings[i];
        bench_rows[2].threads = 1;
        snprintf(
            text, sizeof text, "%s{\"op\":\"filter\",\"backend\":\"c\",\"median_ms\":1.5,%s]}", head, rest);
        put(at("base"), text);
        assert_bench("lapedge: not compared: base has no row for filter simd in this size\n0");
    }
    give_bench();
    wants_json();
    cli.baseline = "base";
    cli.tolerance = 0.25;
    sys.timed_count = 2;
    assert_non_null(strstr(all_of(lap_cli_bench), "\"noisy\":false,\"baseline_ms\":1.5}"));
    assert_non_null(strstr(said_out(), "\"baseline\":\"base\",\"tolerance\":0.25,"));
    assert_non_null(strstr(said_out(), "\"noisy\":false,\"baseline_ms\":null}"));
    static const char *const others[] = {"{}", "[]", "{\"schema\":\"lapedge.bench/1\"}",
        "{\"schema\":\"x\",\"rows\":[]}", "{\"schema\":3,\"rows\":[]}"};
    for (size_t i = 0; i < COUNT(others); i++) {
        put(at("base"), others[i]);
        assert_bench("lapedge: --baseline: base: not the output of lapedge bench --json\n2");
    }
    put(at("base"), "{");
    assert_int_equal(code_of(lap_cli_bench), 2);
    assert_int_equal(
        strncmp(said_err(), "lapedge: --baseline: base: not the output of lapedge bench --json: ", 67), 0);
    cli.baseline = "none";
    assert_bench("lapedge: --baseline: none: cannot be read: No such file or directory\n2");
}

/* ---- info ------------------------------------------------------------------------------------------ */

static void give_info(void)
{
    begin(NULL);
    cli.command = &lap_cli_commands[LAP_COMMAND_INFO];
    cli.operand_count = 1;
    operands[0] = "in.jpg";
    sys.info = (lap_info){.format = "jpeg",
        .bytes = 12345,
        .width = 640,
        .height = 480,
        .components = 3,
        .frame = "baseline",
        .sample_h = {2, 1, 1},
        .sample_v = {2, 1, 1},
        .quantization_tables = 2,
        .huffman_tables = 4,
        .scans = 1,
        .orientation = 1};
}

#define assert_info(want) assert_text(all_of(lap_cli_info), want)

static void info_talks(void **state)
{
    static const lap_dropped drops[] = {{"EXIF", "GPS", "GPSLatitude", "location", 2, 24},
        {"IPTC", "IPTC", "", "not in the list", 2 * 256 + 5, 7}, {"XMP", "", "a\x1b", "location", -1, 8},
        {"other", "Photoshop", "", "other", 0x40D, 9}};
    static const lap_dropped zeros[] = {{"IPTC", "IPTC", "", "r", 0, 1}, {"EXIF", "GPS", "", "r", 0, 1}};
    (void)state;
    give_info();
    assert_info("in.jpg: jpeg, 12345 bytes\n"
                "  size         640 x 480, 3 components\n"
                "  frame        baseline, Huffman coding\n"
                "  sampling     2x2 1x1 1x1 (4:2:0)\n"
                "  tables       2 quantization, 4 Huffman\n"
                "  restart      none\n"
                "  scans        1\n"
                "  orientation  1\n"
                "  metadata     none\n"
                "  would run    simd-avx2; can be decoded by several threads\n"
                "--\n"
                "0");
    sys.drops = drops;
    sys.drop_count = COUNT(drops);
    sys.info.metadata_count = 2;
    sys.info.metadata[0].kind = "EXIF", sys.info.metadata[0].bytes = 100, sys.info.metadata[0].segments = 2;
    sys.info.metadata[1].kind = "ICC", sys.info.metadata[1].bytes = 200, sys.info.metadata[1].segments = 3;
    sys.info.orientation = 6;
    sys.info.restart_interval = 40;
    sys.info.arithmetic = true;
    sys.info.scans = 10;
    sys.info.frame = "progressive";
    assert_info("in.jpg: jpeg, 12345 bytes\n"
                "  size         640 x 480, 3 components\n"
                "  frame        progressive, arithmetic coding\n"
                "  sampling     2x2 1x1 1x1 (4:2:0)\n"
                "  tables       2 quantization, 4 Huffman\n"
                "  restart      every 40 MCUs\n"
                "  scans        10\n"
                "  orientation  6 (EXIF; --auto-orient rotates it)\n"
                "  metadata     EXIF 100 bytes, ICC 200 bytes\n"
                "  left out     EXIF GPS 0x0002 GPSLatitude, 24 bytes: location\n"
                "               IPTC IPTC 2:05, 7 bytes: not in the list\n"
                "               XMP a\\x1b, 8 bytes: location\n"
                "               other Photoshop 0x040D, 9 bytes: other\n"
                "  would run    simd-avx2; decoded by one thread\n"
                "--\n"
                "0");
    sys.info.metadata[2].kind = "not counted";
    cli.settings.keep = LAP_KEEP_LISTED;
    sys.info.longest_scan = 3;
    sys.info.longest_percent = 44;
    sys.info.components = 1;
    sys.info.sample_h[0] = sys.info.sample_v[0] = 1;
    assert_info("in.jpg: jpeg, 12345 bytes\n"
                "  size         640 x 480, 1 component\n"
                "  frame        progressive, arithmetic coding\n"
                "  sampling     1x1\n"
                "  tables       2 quantization, 4 Huffman\n"
                "  restart      every 40 MCUs\n"
                "  scans        10; scan 3 has 44 % of the bytes\n"
                "  orientation  6 (EXIF; --auto-orient rotates it)\n"
                "  metadata     EXIF 100 bytes, ICC 200 bytes\n"
                "  not kept     EXIF GPS 0x0002 GPSLatitude, 24 bytes: location\n"
                "               IPTC IPTC 2:05, 7 bytes: not in the list\n"
                "               XMP a\\x1b, 8 bytes: location\n"
                "               other Photoshop 0x040D, 9 bytes: other\n"
                "  would run    simd-avx2; can be decoded by several threads\n"
                "--\n"
                "0");
    wants_json();
    assert_info("{\"schema\":\"lapedge.info/1\",\"input\":\"in.jpg\",\"format\":\"jpeg\","
                "\"bytes\":12345,\"width\":640,\"height\":480,\"components\":1,"
                "\"frame\":\"progressive\",\"arithmetic\":true,\"sampling\":[[1,1]],"
                "\"quantization_tables\":2,\"huffman_tables\":4,\"restart_interval\":40,\"scans\":10,"
                "\"orientation\":6,\"metadata\":{\"EXIF\":{\"segments\":2,\"bytes\":100},"
                "\"ICC\":{\"segments\":3,\"bytes\":200}},\"left_out\":[{\"kind\":\"EXIF\","
                "\"place\":\"GPS\",\"tag\":\"0x0002\",\"name\":\"GPSLatitude\",\"reason\":\"location\","
                "\"bytes\":24},{\"kind\":\"IPTC\",\"place\":\"IPTC\",\"tag\":\"2:05\",\"name\":null,"
                "\"reason\":\"not in the list\",\"bytes\":7},{\"kind\":\"XMP\",\"place\":null,"
                "\"tag\":null,\"name\":\"a\\u001B\",\"reason\":\"location\",\"bytes\":8},"
                "{\"kind\":\"other\",\"place\":\"Photoshop\",\"tag\":\"0x040D\",\"name\":null,"
                "\"reason\":\"other\",\"bytes\":9}],\"decodes_in_parallel\":true,"
                "\"backend\":\"simd-avx2\"}\n"
                "--\n"
                "0");
    give_info();
    sys.info.frame = NULL;
    sys.info.format = "png";
    assert_info("in.jpg: png, 12345 bytes\n"
                "  size         640 x 480, 3 components\n"
                "  orientation  1\n"
                "  metadata     none\n"
                "  would run    simd-avx2\n"
                "--\n"
                "0");
    wants_json();
    assert_info("{\"schema\":\"lapedge.info/1\",\"input\":\"in.jpg\",\"format\":\"png\","
                "\"bytes\":12345,\"width\":640,\"height\":480,\"components\":3,\"frame\":null,"
                "\"arithmetic\":false,\"sampling\":[],\"quantization_tables\":2,\"huffman_tables\":4,"
                "\"restart_interval\":0,\"scans\":1,\"orientation\":1,\"metadata\":{},\"left_out\":[],"
                "\"decodes_in_parallel\":false,\"backend\":\"simd-avx2\"}\n"
                "--\n"
                "0");
    give_info();
    sys.drops = zeros;
    sys.drop_count = COUNT(zeros);
    (void)code_of(lap_cli_info);
    assert_non_null(
        strstr(said_out(), " IPTC IPTC 0:00, 1 bytes: r\n               EXIF GPS 0x0000, 1 bytes: r\n"));
    sys.info_code = LAP_E_LIMIT;
    assert_info("lapedge: in.jpg: limit: m\n5");
    cli.operand_count = 0;
    assert_info("lapedge: FILE is missing: lapedge info FILE\n2");
    cli.operand_count = 2;
    assert_info("lapedge: info takes one FILE\n2");
}

/* The names of layouts, and which of them several threads can decode. */
static void layouts(void **state)
{
    (void)state;
    for (int components = 1; components < 5; components++)
        for (int first = 0; first < 9; first++)
            for (int other = -1; other < 4; other++) {
                char sampling[80], *end = sampling;
                give_info();
                sys.info.components = components;
                for (int c = 0; c < 4; c++)
                    sys.info.sample_h[c] = sys.info.sample_v[c] = 1;
                const int h = 1 + first % 3, v = 1 + first / 3;
                sys.info.sample_h[0] = h;
                sys.info.sample_v[0] = v;
                if (other >= 0)
                    (other % 2 ? sys.info.sample_v : sys.info.sample_h)[1 + other / 2] = 2;
                const bool is_plain = components == 3 && other < 0 && h < 3 && v < 3;
                static const char *const by_size[] = {"4:4:4", "4:2:2", "4:4:0", "4:2:0"};
                for (int c = 0; c < components; c++)
                    end += sprintf(end, " %dx%d", sys.info.sample_h[c], sys.info.sample_v[c]);
                if (is_plain)
                    end += sprintf(end, " (%s)", by_size[h - 1 + 2 * (v - 1)]);
                sprintf(end, "\n");
                (void)code_of(lap_cli_info);
                const char *got = strstr(said_out(), "  sampling    ");
                assert_non_null(got);
                assert_int_equal(strncmp(got + 14, sampling, strlen(sampling)), 0);
                assert_int_equal(
                    strstr(said_out(), "by several threads") != NULL, components == 1 || is_plain);
            }
    for (int i = 0; i < 16; i++) { /* of several scans the largest one counts */
        give_info();
        sys.info.scans = 1 + (i & 1);
        sys.info.frame = i & 2 ? "progressive" : "baseline";
        sys.info.arithmetic = i & 4;
        sys.info.longest_scan = i >> 3;
        (void)code_of(lap_cli_info);
        assert_int_equal(strstr(said_out(), "by several threads") != NULL, i == 0 || i >= 8);
    }
}

/* ---- the machine ----------------------------------------------------------------------------------- */

static const rung many[] = {{{.op = LAP_OP_FILTER,
                                 .name = "c",
                                 .family = "c",
                                 .resolved = "c",
                                 .what = "plain loops over the pixels, one after another"},
                                NULL},
    {{.op = LAP_OP_FILTER, .name = "avx512", .family = "simd", .what = "wide", .aliases = "a5,simd-512"},
        "no AVX-512"},
    {{.op = LAP_OP_FILTER,
         .name = "simd",
         .family = "simd",
         .aliases = "fast",
         .resolves = "avx512,c",
         .resolved = "c",
         .what = "the widest that runs"},
        NULL},
    {{.op = LAP_OP_FILTER, .name = "cuda", .family = "cuda", .reason = "no CUDA", .what = "a device"},
        "no CUDA"},
    {{.op = LAP_OP_FILTER, .name = "last", .family = "c", .resolved = "last"}, NULL},
    {{.op = LAP_OP_REDUCE, .name = "c", .family = "c", .resolved = "c", .what = "sums"}, NULL},
    {{.op = LAP_OP_ENCODE, .name = "c", .family = "c", .resolved = "c", .what = "codes"}, NULL},
    {{.op = LAP_OP_DECODE, .name = "avx2", .family = "simd", .what = "decodes"}, "no AVX-512"}};

static void give_machine(int command)
{
    begin(NULL);
    cli.command = &lap_cli_commands[command];
    around.rungs = many;
    around.rung_count = COUNT(many);
    around.no_device = "no driver";
}

static void backends(void **state)
{
    static rung rows[20];
    static char reasons[20][24];
    (void)state;
    give_machine(LAP_COMMAND_BACKENDS);
    assert_text(all_of(lap_cli_backends),
        "filter                   runs here  what it is\n"
        "  c                      yes        plain loops over the pixels, one after another\n"
        "  avx512                 no [1]     wide\n"
        "    = a5,simd-512\n"
        "  simd                   c          the widest that runs\n"
        "    = fast\n"
        "  cuda                   no [2]     a device\n"
        "  last                   yes        \n"
        "\n"
        "reduce                   runs here  what it is\n"
        "  c                      yes        sums\n"
        "\n"
        "encode                   runs here  what it is\n"
        "  c                      yes        codes\n"
        "\n"
        "decode                   runs here  what it is\n"
        "  avx2                   no [1]     decodes\n"
        "\n"
        "[1] no AVX-512\n"
        "[2] no CUDA\n"
        "\n"
        "CUDA devices\n"
        "  none: no driver\n"
        "--\n"
        "0");
    around.no_device = NULL;
    around.device_count = 2;
    around.width = 66;
    assert_text(all_of(lap_cli_backends), "filter                   runs here  what it is\n"
                                          "  c                      yes        plain loops over the pixels,\n"
                                          "                                    one after another\n"
                                          "  avx512                 no [1]     wide\n"
                                          "    = a5,simd-512\n"
                                          "  simd                   c          the widest that runs\n"
                                          "    = fast\n"
                                          "  cuda                   no [2]     a device\n"
                                          "  last                   yes        \n"
                                          "\n"
                                          "reduce                   runs here  what it is\n"
                                          "  c                      yes        sums\n"
                                          "\n"
                                          "encode                   runs here  what it is\n"
                                          "  c                      yes        codes\n"
                                          "\n"
                                          "decode                   runs here  what it is\n"
                                          "  avx2                   no [1]     decodes\n"
                                          "\n"
                                          "[1] no AVX-512\n"
                                          "[2] no CUDA\n"
                                          "\n"
                                          "CUDA devices\n"
                                          "  0  A device, 2.1 GB (1.0 free), compute capability 9.1, 132\n"
                                          "     multiprocessors, driver driver 1.2\n"
                                          "  1  A device, 2.1 GB (1.0 free), compute capability 9.1, 132\n"
                                          "     multiprocessors, driver driver 1.2\n"
                                          "--\n"
                                          "0");
    around.width = 65;
    assert_text(all_of(lap_cli_backends), "filter                   runs here\n"
                                          "  c                      yes\n"
                                          "    plain loops over the pixels, one after another\n"
                                          "  avx512                 no [1]\n"
                                          "    wide\n"
                                          "    = a5,simd-512\n"
                                          "  simd                   c\n"
                                          "    the widest that runs\n"
                                          "    = fast\n"
                                          "  cuda                   no [2]\n"
                                          "    a device\n"
                                          "  last                   yes\n"
                                          "    \n"
                                          "\n"
                                          "reduce                   runs here\n"
                                          "  c                      yes\n"
                                          "    sums\n"
                                          "\n"
                                          "encode                   runs here\n"
                                          "  c                      yes\n"
                                          "    codes\n"
                                          "\n"
                                          "decode                   runs here\n"
                                          "  avx2                   no [1]\n"
                                          "    decodes\n"
                                          "\n"
                                          "[1] no AVX-512\n"
                                          "[2] no CUDA\n"
                                          "\n"
                                          "CUDA devices\n"
                                          "  0  A device, 2.1 GB (1.0 free), compute capability 9.1, 132\n"
                                          "     multiprocessors, driver driver 1.2\n"
                                          "  1  A device, 2.1 GB (1.0 free), compute capability 9.1, 132\n"
                                          "     multiprocessors, driver driver 1.2\n"
                                          "--\n"
                                          "0");
    around.device_count = 0;
    wants_json();
    assert_text(all_of(lap_cli_backends),
        "{\"schema\":\"lapedge.backends/1\",\"rows\":[{\"op\":\"filter\",\"name\":\"c\","
        "\"aliases\":[],\"family\":\"c\",\"available\":true,\"reason\":null,"
        "\"resolved\":\"c\"},{\"op\":\"filter\",\"name\":\"avx512\",\"aliases\":[\"a5\","
        "\"simd-512\"],\"family\":\"simd\",\"available\":false,\"reason\":\"no AVX-512\","
        "\"resolved\":null},{\"op\":\"filter\",\"name\":\"simd\",\"aliases\":[\"fast\"],"
        "\"family\":\"simd\",\"available\":true,\"reason\":null,\"resolved\":\"c\"},"
        "{\"op\":\"filter\",\"name\":\"cuda\",\"aliases\":[],\"family\":\"cuda\","
        "\"available\":false,\"reason\":\"no CUDA\",\"resolved\":null},{\"op\":\"filter\","
        "\"name\":\"last\",\"aliases\":[],\"family\":\"c\",\"available\":true,\"reason\":null,"
        "\"resolved\":\"last\"},{\"op\":\"reduce\",\"name\":\"c\",\"aliases\":[],"
        "\"family\":\"c\",\"available\":true,\"reason\":null,\"resolved\":\"c\"},"
        "{\"op\":\"encode\",\"name\":\"c\",\"aliases\":[],\"family\":\"c\",\"available\":true,"
        "\"reason\":null,\"resolved\":\"c\"},{\"op\":\"decode\",\"name\":\"avx2\","
        "\"aliases\":[],\"family\":\"simd\",\"available\":false,\"reason\":\"no AVX-512\","
        "\"resolved\":null}]}\n"
        "--\n"
        "0");
    cli.operand_count = 1;
    operands[0] = "x";
    assert_text(all_of(lap_cli_backends), "lapedge: backends takes no operands, but \"x\" is given\n2");
    /* Sixteen reasons get a number. */
    give_machine(LAP_COMMAND_BACKENDS);
    for (int i = 0; i < 18; i++) {
        snprintf(reasons[i], sizeof reasons[i], "reason %d", i);
        rows[i] = (rung){{.op = LAP_OP_FILTER, .name = "b", .family = "c", .what = "w"}, reasons[i]};
    }
    around.rungs = rows;
    around.rung_count = 18;
    (void)code_of(lap_cli_backends);
    assert_non_null(strstr(said_out(), "\n[16] reason 15\n\nCUDA devices\n  none: no driver\n"));
    assert_non_null(strstr(said_out(), "no [16]"));
    assert_non_null(strstr(said_out(), "no [0]"));
    assert_null(strstr(said_out(), "[17]"));
    around.no_device = NULL;
    (void)code_of(lap_cli_backends);
    assert_non_null(strstr(said_out(), "\n  none: no reason known\n"));
}

static void doctor(void **state)
{
    (void)state;
    unsetenv("LAP_CPU_MASK");
    give_machine(LAP_COMMAND_DOCTOR);
    assert_text(all_of(lap_cli_doctor), "build     lapedge " LAP_VERSION ", gcc\n"
                                        "machine   A CPU, 4 threads\n"
                                        "memory    16.5 GB for this process\n"
                                        "limits    1024 open files\n"
                                        "start     threads 2.5 ms, CUDA 2.5 ms\n"
                                        "backend   simd -> c\n"
                                        "device    none: no driver\n"
                                        "verdict   everything that was built can run\n"
                                        "--\n"
                                        "0");
    setenv("LAP_CPU_MASK", "", 1);
    sys.cores = 1;
    around.device_count = 1;
    sys.no_limit = true;
    assert_text(all_of(lap_cli_doctor), "build     lapedge " LAP_VERSION ", gcc\n"
                                        "machine   A CPU, 1 thread\n"
                                        "memory    16.5 GB for this process\n"
                                        "limits    0 open files\n"
                                        "start     threads 2.5 ms, CUDA 2.5 ms\n"
                                        "backend   simd -> c\n"
                                        "device    0: A device, 2.1 GB (1.0 free), driver driver 1.2\n"
                                        "verdict   everything that was built can run\n"
                                        "--\n"
                                        "0");
    setenv("LAP_CPU_MASK", "avx2", 1);
    (void)code_of(lap_cli_doctor);
    assert_non_null(
        strstr(said_out(), "verdict   everything that was built can run, except what LAP_CPU_MASK hides\n"));
    unsetenv("LAP_CPU_MASK");
    wants_json();
    sys.no_limit = false;
    assert_text(all_of(lap_cli_doctor),
        "{\"schema\":\"lapedge.doctor/1\",\"version\":\"" LAP_VERSION "\",\"build\":\"gcc\\n\","
        "\"cpu\":\"A CPU\",\"threads\":1,\"memory_bytes\":16500000000,\"open_files\":1024,"
        "\"threads_start_ms\":2.5,\"device_start_ms\":2.5,\"devices\":[{\"device\":0,"
        "\"name\":\"A device\",\"memory_bytes\":2100000000,\"free_bytes\":1000000000,"
        "\"driver\":\"driver 1.2\"}],\"no_device\":\"no driver\",\"library\":null,"
        "\"healthy\":true}\n"
        "--\n"
        "0");
    sys.bad_library = true;
    cli.json = false;
    lap_json_direct(false, NULL, true);
    around.device_count = 0;
    around.no_device = NULL;
    assert_text(all_of(lap_cli_doctor), "build     lapedge " LAP_VERSION ", gcc\n"
                                        "machine   A CPU, 1 thread\n"
                                        "memory    16.5 GB for this process\n"
                                        "limits    1024 open files\n"
                                        "start     threads 2.5 ms, CUDA 2.5 ms\n"
                                        "backend   simd -> c\n"
                                        "device    none: no reason known\n"
                                        "verdict   not everything that was built can run\n"
                                        "library   another interface\n"
                                        "--\n"
                                        "3");
    sys.bad_library = false;
    sys.no_context = true;
    assert_text(all_of(lap_cli_doctor), "lapedge: no context\n1");
    cli.operand_count = 1;
    operands[0] = "x";
    assert_text(all_of(lap_cli_doctor), "lapedge: doctor takes no operands, but \"x\" is given\n2");
}

/* Which rows that cannot run make a machine unhealthy. */
static void health(void **state)
{
    static const struct {
        lap_op op;
        const char *name, *family, *resolves, *built, *here;
        bool healthy;
    } cases[] = {{LAP_OP_FILTER, "b", "c", NULL, NULL, "m", false},
        {LAP_OP_MATVEC, "b", "c", NULL, NULL, "m", false}, {LAP_OP_FILTER, "b", "c", NULL, NULL, NULL, true},
        {LAP_OP_FILTER, "b", "cuda", NULL, "m", "m", true},
        {LAP_OP_FILTER, "b", "cuda", NULL, NULL, "m", false},
        {LAP_OP_FILTER, "b", "simd", NULL, "m", "m", false},
        {LAP_OP_FILTER, "avx512", "simd", NULL, NULL, "m", true},
        {LAP_OP_FILTER, "c", "simd", NULL, NULL, "m", true},
        {LAP_OP_FILTER, "avx51", "simd", NULL, NULL, "m", false},
        {LAP_OP_FILTER, "avx512,c", "simd", NULL, NULL, "m", false},
        {LAP_OP_REDUCE, "avx512", "simd", NULL, NULL, "m", false},
        {LAP_OP_FILTER, "avx512", "simd", "c", NULL, "m", false},
        {LAP_OP_ENCODE, "b", "c", NULL, NULL, "m", false}, {LAP_OP_DECODE, "b", "c", NULL, NULL, "m", false},
        {LAP_OP_ENCODE, "b", "simd", NULL, NULL, "m", true},
        {LAP_OP_DECODE, "b", "c", NULL, NULL, NULL, true}};
    static rung rows[140];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        give_machine(LAP_COMMAND_DOCTOR);
        rows[0] = many[2]; /* simd stands for avx512 and c */
        rows[1] = (rung){{.op = cases[i].op,
                             .name = cases[i].name,
                             .family = cases[i].family,
                             .resolves = cases[i].resolves,
                             .reason = cases[i].built},
            cases[i].here};
        around.rungs = rows;
        around.rung_count = 2;
        assert_int_equal(code_of(lap_cli_doctor), cases[i].healthy ? 0 : LAP_EXIT_BACKEND);
        char want[100];
        snprintf(want, sizeof want,
            "verdict   not everything that was built can run\n  %s %s cannot run: m\n",
            lap_op_name(cases[i].op), cases[i].name);
        assert_int_equal(strstr(said_out(), want) != NULL, !cases[i].healthy);
    }
    for (int i = 0; i < 140; i++) /* as many as there is room for */
        rows[i] = (rung){{.op = LAP_OP_FILTER, .name = "b", .family = "c"}, "m"};
    around.rung_count = 140;
    (void)code_of(lap_cli_doctor);
    int lines = 0;
    for (const char *at = said_out(); (at = strstr(at, "cannot run: m\n")); at++)
        lines++;
    assert_int_equal(lines, 128);
}

#define assert_explain(want) assert_text(all_of(lap_cli_explain), want)

static void explain(void **state)
{
    (void)state;
    give_machine(LAP_COMMAND_EXPLAIN);
    cli.operand_count = 1;
    operands[0] = "fast";
    assert_int_equal(code_of(lap_cli_explain), 0);
    static const char head[] =
        "filter simd\n  the widest that runs\n  stands for the first that can run here of: avx512, "
        "c\n  which is c:\n";
    assert_int_equal(strncmp(said_out(), head, sizeof head - 1), 0);
    const char *notes = lap_explained("filter", "c");
    assert_non_null(notes);
    /* Each line of the notes, indented. */
    const char *at = said_out() + sizeof head - 1;
    for (; *notes; notes += strcspn(notes, "\n") + 1) {
        assert_int_equal(strncmp(at, "  ", 2), 0);
        at = strchr(at, '\n') + 1;
    }
    assert_int_equal(strncmp(at, "  Read on: ", 11), 0);
    assert_non_null(strstr(at, ", docs/ladder-cpu.md\n\n"));
    operands[0] = "c";
    (void)code_of(lap_cli_explain);
    assert_int_equal(strncmp(said_out(), "filter c\n", 9), 0);
    assert_non_null(strstr(said_out(), ", docs/ladder-cpu.md; next: lapedge explain openmp\n\nreduce c\n"));
    assert_non_null(strstr(said_out(), ", docs/claims.md; next: lapedge explain pairwise\n\nencode c\n"));
    assert_non_null(strstr(said_out(), ", docs/encoder.md; next: lapedge explain avx2\n"));
    operands[0] = "simd-512";
    assert_explain("filter avx512\n"
                   "  wide\n"
                   "\n"
                   "--\n"
                   "0");
    operands[0] = "a5";
    assert_explain("filter avx512\n"
                   "  wide\n"
                   "\n"
                   "--\n"
                   "0");
    operands[0] = "avx2";
    (void)code_of(lap_cli_explain);
    assert_int_equal(strncmp(said_out(), "decode avx2\n", 12), 0);
    operands[0] = "a5,simd-512";
    assert_explain("lapedge: \"a5,simd-512\" is not a known backend; see lapedge backends\n2");
    operands[0] = "auot";
    assert_explain("lapedge: \"auot\" is not a known backend; did you mean auto?\n2");
    cli.operand_count = 2;
    assert_explain("lapedge: explain takes the name of one backend; see lapedge backends\n2");
    assert_null(lap_explained("filter", "none"));
    assert_null(lap_explained("none", "c"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(diff_talks), TEST(diff_ends), TEST(compare_talks),
        TEST(compare_ends), TEST(compare_folders), TEST(bench_talks), TEST(bench_verdicts), TEST(bench_usage),
        TEST(baselines), TEST(info_talks), TEST(layouts), TEST(backends), TEST(doctor), TEST(health),
        TEST(explain)};
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
