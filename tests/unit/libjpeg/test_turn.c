/* JPEGs turned without loss, beside jpegtran of libjpeg-turbo: the same bytes, the same refusals. TURN_FULL=1
 * runs the whole product of kinds, turns and codings; else every 37th of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/turn.h"
#include "tests/support/jpeg_make.h"
#include "lapedge.h"
#include "tests/support/scratch.h"

static lap_context *context;
static bool has_jpegtran;

/* ---- one turn, by both -------------------------------------------------------------------------- */

static const struct {
    lap_turn turn;
    const char *words[3];
} turns[] = {{LAP_TURN_NONE, {NULL}}, {LAP_TURN_H, {"-flip", "horizontal"}},
    {LAP_TURN_180, {"-rotate", "180"}}, {LAP_TURN_V, {"-flip", "vertical"}},
    {LAP_TURN_TRANSPOSE, {"-transpose"}}, {LAP_TURN_90, {"-rotate", "90"}},
    {LAP_TURN_TRANSVERSE, {"-transverse"}}, {LAP_TURN_270, {"-rotate", "270"}}};
enum { TURNS = sizeof turns / sizeof *turns };
static const char *const codings[] = {NULL, "-optimize", "-progressive"};
enum { CODINGS = sizeof codings / sizeof *codings };

/* What jpegtran makes of the file `in`; data NULL: it refuses. */
static jpeg_bytes theirs(int turn, const char *edge, const char *coding)
{
    const char *words[12] = {"jpegtran", "-copy", "none"};
    int count = 3;
    for (int i = 0; turns[turn].words[i]; i++)
        words[count++] = turns[turn].words[i];
    if (edge)
        words[count++] = edge;
    if (coding)
        words[count++] = coding;
    words[count++] = "-outfile";
    words[count++] = at("theirs.jpg");
    words[count++] = at("in.jpg");
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(3);
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    int status = 0;
    jpeg_bytes out = {NULL, 0};
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2)) /* 2: warnings */
        return out;
    FILE *file = fopen(at("theirs.jpg"), "rb");
    assert_non_null(file);
    out.data = malloc(1 << 22);
    assert_non_null(out.data);
    out.size = fread(out.data, 1, 1 << 22, file);
    assert_int_equal(fclose(file), 0);
    return out;
}

static void put_in(const jpeg_bytes *in)
{
    FILE *file = fopen(at("in.jpg"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(in->data, 1, in->size, file), in->size);
    assert_int_equal(fclose(file), 0);
}

static lap_settings settings_of(lap_turn turn, lap_lossless lossless, int coding)
{
    lap_settings s = lap_settings_default();
    s.filter = false;
    s.strip = true;
    s.turn = turn;
    s.lossless = lossless;
    s.optimize = coding == 1;
    s.progressive = coding == 2;
    s.decode = LAP_DECODE_SERIAL;
    return s;
}

typedef struct outcome {
    lap_code code;
    lap_report report;
    jpeg_bytes out;
} outcome;

static outcome ours(const jpeg_bytes *in, const lap_settings *s)
{
    outcome made = {.code = LAP_OK};
    void *data = NULL;
    size_t size = 0;
    made.code = lap_run_memory(context, in->data, in->size, &data, &size, s, &made.report, NULL);
    made.out = (jpeg_bytes){data, size};
    assert_int_equal(made.code == LAP_OK, data != NULL); /* nothing comes out of a failure */
    return made;
}

static bool is_lossless(const outcome *made)
{
    return made->code == LAP_OK && strncmp(made->report.note, "turned without loss", 19) == 0;
}

/* ---- the grid ------------------------------------------------------------------------------------- */

static const jpeg_kind kinds[] = {
    {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"},
    {.name = "gray 2x2", .components = 1, .space = JCS_GRAYSCALE, .sampling = "22"},
    {.name = "4:4:4", .components = 3, .space = JCS_YCbCr, .sampling = "11 11 11"},
    {.name = "4:2:2", .components = 3, .space = JCS_YCbCr, .sampling = "21 11 11"},
    {.name = "4:4:0", .components = 3, .space = JCS_YCbCr, .sampling = "12 11 11"},
    {.name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
    {.name = "4:1:1", .components = 3, .space = JCS_YCbCr, .sampling = "41 11 11"},
    {.name = "4:1:0", .components = 3, .space = JCS_YCbCr, .sampling = "42 11 11"},
    {.name = "3x1", .components = 3, .space = JCS_YCbCr, .sampling = "31 11 11"},
    {.name = "1x3", .components = 3, .space = JCS_YCbCr, .sampling = "13 11 11"},
    {.name = "mixed", .components = 3, .space = JCS_YCbCr, .sampling = "22 21 12"},
    {.name = "4x2 2x1 1x2", .components = 3, .space = JCS_YCbCr, .sampling = "41 21 12"},
    {.name = "chroma finer", .components = 3, .space = JCS_YCbCr, .sampling = "11 21 12"},
    {.name = "RGB", .components = 3, .space = JCS_RGB, .sampling = "11 11 11"},
    {.name = "CMYK", .components = 4, .space = JCS_CMYK, .sampling = "11 11 11 11"},
    {.name = "CMYK 2x1", .components = 4, .space = JCS_CMYK, .sampling = "21 11 11 21"},
    {.name = "YCCK", .components = 4, .space = JCS_YCCK, .sampling = "22 11 11 22"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const struct {
    bool progressive, arithmetic, separate;
    int restart;
} inputs[] = {{0}, {.progressive = true}, {.arithmetic = true}, {.progressive = true, .arithmetic = true},
    {.separate = true}, {.restart = 3}, {.separate = true, .restart = 2}};
enum { INPUTS = sizeof inputs / sizeof *inputs };
static const int sizes[][2] = {{1, 1}, {8, 8}, {37, 21}, {96, 48}, {48, 96}, {50, 33}, {24, 71}};
enum { SIZES = sizeof sizes / sizeof *sizes };
enum { EDGES = 2 };

static void compare(const jpeg_bytes *in, const char *what, int turn, int edge, int coding)
{
    static const char *const edges[] = {"-perfect", "-trim"};
    static const lap_lossless ways[] = {LAP_LOSSLESS_PERFECT, LAP_LOSSLESS_TRIM};
    const lap_settings s = settings_of(turns[turn].turn, ways[edge], coding);
    const outcome a = ours(in, &s);
    const jpeg_bytes b = theirs(turn, edges[edge], codings[coding]);
    /* jpegtran leaves an edge as it is where nothing would remain. */
    const bool tiny = a.code == LAP_E_UNSUPPORTED && strstr(a.report.error.message, "smaller than one MCU");
    const bool same = tiny ? edge == 1 || !b.data
                           : (a.code == LAP_E_UNSUPPORTED && !b.data) ||
                                 (is_lossless(&a) && a.out.size == b.size && b.data &&
                                     memcmp(a.out.data, b.data, b.size) == 0);
    if (!same)
        fail_msg("%s, turn %d %s %s: ours %d '%s' '%s' %lu bytes, theirs %lu", what, (int)turns[turn].turn,
            edges[edge], codings[coding] ? codings[coding] : "plain", a.code, a.report.error.message,
            a.report.note, a.out.size, b.size);
    free(a.out.data);
    free(b.data);
}

static void same_bytes_as_jpegtran(void **state)
{
    (void)state;
    if (!has_jpegtran)
        skip();
    const int step = getenv("TURN_FULL") ? 1 : 37;
    int number = 0;
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < INPUTS; i++)
            for (int z = 0; z < SIZES; z++) {
                jpeg_kind kind = kinds[k];
                char what[100];
                kind.progressive = inputs[i].progressive;
                kind.arithmetic = inputs[i].arithmetic;
                kind.separate = inputs[i].separate;
                kind.restart = inputs[i].restart;
                snprintf(what, sizeof what, "%s, input %d, %dx%d", kind.name, i, sizes[z][0], sizes[z][1]);
                jpeg_bytes in = jpeg_make(&kind, sizes[z][0], sizes[z][1]);
                put_in(&in);
                for (int n = 0; n < TURNS * EDGES * CODINGS; n++)
                    if (number++ % step == 0)
                        compare(&in, what, n % TURNS, n / TURNS % EDGES, n / TURNS / EDGES);
                free(in.data);
            }
}

/* ---- coefficients --------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 24 };

typedef struct plane { /* of one component: real blocks */
    int wide, high;
    JCOEF at[MOST_BLOCKS][MOST_BLOCKS][DCTSIZE2];
} plane;

typedef struct picture {
    int width, height, components;
    const char *sampling;
    plane planes[3];
} picture;

static int factor(const picture *p, int c, int which)
{
    return p->sampling[3 * c + which] - '0';
}

static void measure(picture *p)
{
    int most[2] = {1, 1};
    for (int c = 0; c < p->components; c++)
        for (int i = 0; i < 2; i++)
            most[i] = factor(p, c, i) > most[i] ? factor(p, c, i) : most[i];
    for (int c = 0; c < p->components; c++) {
        p->planes[c].wide = (p->width * factor(p, c, 0) + 8 * most[0] - 1) / (8 * most[0]);
        p->planes[c].high = (p->height * factor(p, c, 1) + 8 * most[1] - 1) / (8 * most[1]);
        assert_true(p->planes[c].wide <= MOST_BLOCKS && p->planes[c].high <= MOST_BLOCKS);
    }
}

/* As a file that arithmetic coding makes: it holds any coefficient. COARSE: AC without their lowest ten bits.
 */
static jpeg_bytes coded(const picture *p, int restart, bool coarse)
{
    struct jpeg_compress_struct c = {.err = NULL};
    struct jpeg_error_mgr error;
    jpeg_bytes out = {NULL, 0};
    jvirt_barray_ptr arrays[3];
    c.err = jpeg_std_error(&error);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out.data, &out.size);
    c.image_width = (JDIMENSION)p->width;
    c.image_height = (JDIMENSION)p->height;
    c.input_components = p->components;
    c.in_color_space = p->components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(&c);
    c.arith_code = TRUE;
    c.restart_interval = (unsigned)restart;
    const jpeg_scan_info scans[] = {{.comps_in_scan = 1, .component_index = {0}},
        {.comps_in_scan = 1, .component_index = {0}, .Ss = 1, .Se = 63, .Al = 10}};
    if (coarse) {
        c.scan_info = scans;
        c.num_scans = 2;
    }
    for (int i = 0; i < p->components; i++) {
        c.comp_info[i].h_samp_factor = factor(p, i, 0);
        c.comp_info[i].v_samp_factor = factor(p, i, 1);
        arrays[i] = c.mem->request_virt_barray(
            (j_common_ptr)&c, JPOOL_IMAGE, TRUE, MOST_BLOCKS + 4, MOST_BLOCKS + 4, MOST_BLOCKS + 4);
    }
    c.mem->realize_virt_arrays((j_common_ptr)&c);
    for (int i = 0; i < p->components; i++) {
        JBLOCKARRAY rows = c.mem->access_virt_barray((j_common_ptr)&c, arrays[i], 0, MOST_BLOCKS + 4, TRUE);
        for (int y = 0; y < p->planes[i].high; y++)
            memcpy(rows[y], p->planes[i].at[y], (size_t)p->planes[i].wide * sizeof(JBLOCK));
    }
    jpeg_write_coefficients(&c, arrays);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return out;
}

static void on_message(j_common_ptr cinfo, int level)
{
    cinfo->err->num_warnings += level < 0;
}

static void on_error(j_common_ptr cinfo)
{
    longjmp(*(jmp_buf *)cinfo->client_data, 1);
}

/* Whether a file decodes without a warning, to the coefficients of p after the turn. */
static bool holds(const jpeg_bytes *file, const picture *p, lap_turn turn)
{
    struct jpeg_decompress_struct d = {.err = NULL};
    struct jpeg_error_mgr error;
    jmp_buf escape;
    const lap_turn_steps steps = lap_turn_steps_of(turn);
    volatile bool same = true;
    d.err = jpeg_std_error(&error);
    error.emit_message = on_message;
    error.error_exit = on_error;
    if (setjmp(escape) == 0) {
        jpeg_create_decompress(&d);
        d.client_data = &escape;
        jpeg_mem_src(&d, file->data, file->size);
        jpeg_read_header(&d, TRUE);
        jvirt_barray_ptr *arrays = jpeg_read_coefficients(&d);
        for (int c = 0; c < p->components; c++) {
            const plane *from = &p->planes[c];
            const int wide = steps.transpose ? from->high : from->wide,
                      high = steps.transpose ? from->wide : from->high;
            for (int y = 0; y < high; y++) {
                JBLOCKARRAY row =
                    d.mem->access_virt_barray((j_common_ptr)&d, arrays[c], (JDIMENSION)y, 1, FALSE);
                for (int x = 0; x < wide; x++) {
                    const int my = steps.up_down ? high - 1 - y : y, mx = steps.left_right ? wide - 1 - x : x;
                    const JCOEF *block = steps.transpose ? from->at[mx][my] : from->at[my][mx];
                    for (int k = 0; k < DCTSIZE2; k++) {
                        const int v = k / 8, u = k % 8;
                        int expected = steps.transpose ? block[u * 8 + v] : block[k];
                        expected = steps.left_right && u % 2 ? -expected : expected;
                        expected = steps.up_down && v % 2 ? -expected : expected;
                        same &= row[0][x][k] == expected;
                    }
                }
            }
        }
        jpeg_finish_decompress(&d);
        same &= error.num_warnings == 0;
    } else {
        same = false;
    }
    jpeg_destroy_decompress(&d);
    return same;
}

/* Without loss exactly where FITS; else by pixels and said so, or refused, with nothing written. */
static void turned_as(const picture *p, const jpeg_bytes *in, int turn, int coding, bool fits)
{
    lap_settings s = settings_of(turns[turn].turn, LAP_LOSSLESS_AUTO, coding);
    outcome made = ours(in, &s);
    if (made.code != LAP_OK || is_lossless(&made) != fits ||
        (!fits && !strstr(made.report.note, "re-encoded: ")))
        fail_msg("turn %d, coding %d, fits %d: %d '%s' '%s'", (int)s.turn, coding, fits, made.code,
            made.report.error.message, made.report.note);
    if (fits && !holds(&made.out, p, s.turn))
        fail_msg("turn %d, coding %d: other coefficients came out", (int)s.turn, coding);
    if (!fits) { /* as if nobody had tried, and readable */
        s.lossless = LAP_LOSSLESS_NO;
        outcome pixels = ours(in, &s);
        assert_int_equal(pixels.out.size, made.out.size);
        assert_memory_equal(pixels.out.data, made.out.data, made.out.size);
        free(pixels.out.data);
        s.turn = LAP_TURN_NONE;
        s.fail_on = LAP_FAIL_WARNING;
        s.format = "ppm";
        pixels = ours(&made.out, &s);
        assert_int_equal(pixels.code, LAP_OK);
        free(pixels.out.data);
        s = settings_of(turns[turn].turn, LAP_LOSSLESS_PERFECT, coding);
        const outcome refused = ours(in, &s);
        assert_int_equal(refused.code, LAP_E_UNSUPPORTED);
        assert_null(strstr(refused.report.note, "re-encoded"));
        s.lossless = LAP_LOSSLESS_TRIM;
        assert_int_equal(ours(in, &s).code, LAP_E_UNSUPPORTED);
    }
    free(made.out.data);
}

/* One AC coefficient in a picture that is gray otherwise. */
static void ac_coefficients(void **state)
{
    (void)state;
    static const int values[] = {1023, -1023, 1024, -1024, 2047, 4096, -16384, 32767, -32767};
    static picture p;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int turn = 0; turn < TURNS; turn++) {
            p = (picture){.width = 16, .height = 24, .components = 1, .sampling = "11"};
            measure(&p);
            p.planes[0].at[1][1][1 + (turn * 19 + (int)i * 7) % 63] = (JCOEF)values[i];
            jpeg_bytes in = coded(&p, 0, false);
            for (int coding = 0; coding < CODINGS; coding++)
                turned_as(&p, &in, turn, coding, values[i] >= -1023 && values[i] <= 1023);
            free(in.data);
        }
}

/* The one number that has no counterpart of the other sign. */
static void the_most_negative_coefficient(void **state)
{
    (void)state;
    static picture p;
    p = (picture){.width = 8, .height = 8, .components = 1, .sampling = "11"};
    measure(&p);
    p.planes[0].at[0][0][1] = p.planes[0].at[0][0][8] = -32768;
    jpeg_bytes in = coded(&p, 0, true);
    assert_true(holds(&in, &p, LAP_TURN_NONE));
    for (int n = 0; n < TURNS * CODINGS; n++)
        turned_as(&p, &in, n % TURNS, n / TURNS, false);
    free(in.data);
}

/* Restarts let an input jump where its output, which has none, cannot. */
static void differences_across_restarts(void **state)
{
    (void)state;
    static picture p;
    for (int jump = 1023; jump <= 1024; jump++) { /* 2046 and 2048 apart */
        p = (picture){.width = 16, .height = 16, .components = 1, .sampling = "11"};
        measure(&p);
        for (int i = 0; i < 4; i++)
            p.planes[0].at[i / 2][i % 2][0] = (JCOEF)(i < 2 ? jump : -jump);
        jpeg_bytes in = coded(&p, 2, false); /* each row begins anew */
        for (int n = 0; n < TURNS * CODINGS; n++)
            turned_as(&p, &in, n % TURNS, n / TURNS, jump == 1023);
        free(in.data);
    }
}

static uint32_t seed = 1;

static int pick(int below)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)below);
}

/* DC coefficients about as far apart as can be coded, in every order of MCUs: where jpegtran of
 * libjpeg-turbo 2.1 loses them, or a later one refuses, is where they do not fit. */
static void dc_differences(void **state)
{
    (void)state;
    static const char *const samplings[] = {"11", "11 11 11", "22 11 11", "21 11 11", "12 11 11", "22 21 12"};
    static picture p;
    int count[2] = {0};
    if (!has_jpegtran)
        skip();
    for (int i = 0; i < 400; i++) {
        const int which = pick(6), turn = pick(TURNS);
        const bool odd =
            lap_turn_steps_of(turns[turn].turn).left_right || lap_turn_steps_of(turns[turn].turn).up_down;
        p = (picture){.width = odd ? 16 * (1 + pick(2)) : 1 + pick(40),
            .height = odd ? 16 * (1 + pick(2)) : 1 + pick(40),
            .components = which == 0 ? 1 : 3,
            .sampling = samplings[which]};
        measure(&p);
        for (int c = 0; c < p.components; c++)
            for (int y = 0; y < p.planes[c].high; y++)
                for (int x = 0; x < p.planes[c].wide; x++)
                    p.planes[c].at[y][x][0] = (JCOEF)(1020 + pick(5) - (pick(2) ? 2044 : 0));
        if (pick(2)) /* only a few that are far apart */
            for (int c = 0; c < p.components; c++)
                for (int y = 0; y < p.planes[c].high; y++)
                    for (int x = 0; x < p.planes[c].wide; x++)
                        p.planes[c].at[y][x][0] = (JCOEF)(pick(12) ? 0 : p.planes[c].at[y][x][0] * 2);
        jpeg_bytes in = coded(&p, 0, false);
        assert_true(holds(&in, &p, LAP_TURN_NONE));
        put_in(&in);
        jpeg_bytes b = theirs(turn, "-perfect", NULL);
        const bool fits = b.data && holds(&b, &p, turns[turn].turn);
        count[fits]++;
        for (int coding = 0; coding < CODINGS; coding++)
            turned_as(&p, &in, turn, coding, fits);
        free(b.data);
        free(in.data);
    }
    assert_true(count[0] > 50 && count[1] > 50); /* both happen */
}

/* ---- what a file must have ------------------------------------------------------------------------ */

static size_t find(const jpeg_bytes *file, uint8_t marker, int number)
{
    for (size_t i = 0; i + 1 < file->size; i++)
        if (file->data[i] == 0xFF && file->data[i + 1] == marker && number-- == 0)
            return i;
    fail_msg("no marker %02x", marker);
    return 0;
}

/* The file with a copy of its quantisation tables, changed by one, before scan number SCAN. */
static jpeg_bytes with_other_tables(const jpeg_bytes *file, int scan)
{
    const size_t table = find(file, 0xDB, 0), place = find(file, 0xDA, scan);
    const size_t length = 2 + ((size_t)file->data[table + 2] << 8 | file->data[table + 3]);
    jpeg_bytes out = {malloc(file->size + length), file->size + length};
    memcpy(out.data, file->data, place);
    memcpy(out.data + place, file->data + table, length);
    out.data[place + 5]++;
    memcpy(out.data + place + length, file->data + place, file->size - place);
    return out;
}

static void tables_that_change_go_to_pixels(void **state)
{
    (void)state;
    const jpeg_kind kind = {.components = 3, .space = JCS_YCbCr, .sampling = "11 11 11", .separate = true};
    jpeg_bytes plain = jpeg_make(&kind, 16, 16);
    for (int scan = 1; scan < 3; scan++) {
        jpeg_bytes in = with_other_tables(&plain, scan);
        for (int n = 0; n < TURNS * CODINGS; n++)
            turned_as(NULL, &in, n % TURNS, n / TURNS, false);
        free(in.data);
    }
    free(plain.data);
}

/* Blocks of which an interleaved scan holds too many. */
static void large_mcus_go_to_pixels(void **state)
{
    (void)state;
    const jpeg_kind kind = {.components = 3, .space = JCS_YCbCr, .sampling = "42 21 21", .separate = true};
    jpeg_bytes in = jpeg_make(&kind, 32, 32);
    for (int n = 0; n < TURNS * CODINGS; n++)
        turned_as(NULL, &in, n % TURNS, n / TURNS, false);
    free(in.data);
}

/* In one scan their order tells them apart; several scans cannot name them. */
static void components_of_one_name(void **state)
{
    (void)state;
    const jpeg_kind kind = {.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"};
    jpeg_bytes in = jpeg_make(&kind, 32, 32);
    const size_t frame = find(&in, 0xC0, 0), scan = find(&in, 0xDA, 0);
    in.data[frame + 10 + 6] = in.data[frame + 10 + 3];
    in.data[scan + 5 + 4] = in.data[scan + 5 + 2];
    for (int turn = 0; turn < TURNS; turn++) {
        turned_as(NULL, &in, turn, 2, false);
        lap_settings s = settings_of(turns[turn].turn, LAP_LOSSLESS_PERFECT, 0);
        const outcome made = ours(&in, &s);
        assert_true(is_lossless(&made));
        s = settings_of(LAP_TURN_NONE, LAP_LOSSLESS_NO, 0);
        s.fail_on = LAP_FAIL_WARNING;
        const outcome pixels = ours(&made.out, &s);
        assert_int_equal(pixels.code, LAP_OK);
        free(pixels.out.data);
        free(made.out.data);
    }
    free(in.data);
}

/* Three bytes before the tables are worth a warning, and nothing more. */
static void a_warning_changes_no_byte(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes in = jpeg_make(&kinds[k], 96, 96), stray = {malloc(in.size + 3), in.size + 3};
        const size_t place = find(&in, 0xDB, 0);
        memcpy(stray.data, in.data, place);
        memset(stray.data + place, 0x55, 3);
        memcpy(stray.data + place + 3, in.data + place, in.size - place);
        for (int n = 0; n < TURNS * CODINGS; n++) {
            lap_settings s = settings_of(turns[n % TURNS].turn, LAP_LOSSLESS_PERFECT, n / TURNS);
            const outcome a = ours(&in, &s), b = ours(&stray, &s);
            assert_true(is_lossless(&a) && is_lossless(&b));
            assert_int_equal(b.report.warnings, 1);
            assert_true(strstr(b.report.warning, "3 extraneous bytes"));
            assert_int_equal(a.out.size, b.out.size);
            assert_memory_equal(a.out.data, b.out.data, a.out.size);
            free(a.out.data);
            free(b.out.data);
            s.fail_on = LAP_FAIL_WARNING;
            assert_int_equal(ours(&stray, &s).code, LAP_E_DAMAGED);
        }
        free(in.data);
        free(stray.data);
    }
}

/* ---- verdicts ------------------------------------------------------------------------------------- */

static void same_verdict(const jpeg_bytes *in, int turn, lap_fail_on fail_on, int max_scans, const char *what)
{
    lap_settings s = settings_of(turns[turn].turn, LAP_LOSSLESS_AUTO, 0);
    s.fail_on = fail_on;
    s.max_scans = max_scans;
    const outcome a = ours(in, &s);
    s.lossless = LAP_LOSSLESS_NO;
    const outcome b = ours(in, &s);
    const bool same_warnings =
        a.report.warnings == b.report.warnings && strcmp(a.report.warning, b.report.warning) == 0;
    if (a.code != b.code || strcmp(a.report.error.message, b.report.error.message) != 0 ||
        (a.code == LAP_OK && !same_warnings))
        fail_msg("%s: turned %d '%s', %d warnings '%s'; by pixels %d '%s', %d warnings '%s'", what, a.code,
            a.report.error.message, a.report.warnings, a.report.warning, b.code, b.report.error.message,
            b.report.warnings, b.report.warning);
    free(a.out.data);
    free(b.out.data);
}

/* Files cut off, changed, and with bytes too many: what pixels say of them, turning says. */
static void verdicts_of_damaged_files(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < INPUTS; i++) {
            jpeg_kind kind = kinds[k];
            char what[100];
            kind.progressive = inputs[i].progressive;
            kind.arithmetic = inputs[i].arithmetic;
            kind.separate = inputs[i].separate;
            kind.restart = inputs[i].restart;
            jpeg_bytes whole = jpeg_make(&kind, 96, 96);
            for (int n = 0; n < 24; n++) {
                jpeg_bytes in = {malloc(whole.size + 20), whole.size};
                memcpy(in.data, whole.data, whole.size);
                const size_t scan = find(&in, 0xDA, 0);
                const size_t place = scan + (size_t)pick((int)(whole.size - scan));
                if (n % 3 == 0) {
                    in.size = place;
                } else if (n % 3 == 1) {
                    in.data[place] = (uint8_t)(in.data[place] ^ 1 << pick(8));
                } else { /* before the end, and no end */
                    memset(in.data + whole.size - 2, 0x35, 20);
                    in.size = whole.size + 2 + (size_t)pick(16);
                    in.data[in.size - 2] = n % 2 ? 0xFF : 0;
                    in.data[in.size - 1] = n % 2 ? 0xD9 : 0;
                }
                snprintf(what, sizeof what, "%s, input %d, damage %d at %zu", kind.name, i, n, place);
                same_verdict(&in, n % TURNS, (lap_fail_on)(n % 3 == 2 ? n / 3 % 3 : pick(3)), 100, what);
                same_verdict(&in, n % TURNS, LAP_FAIL_NONE, 1 + pick(10), what);
                free(in.data);
            }
            free(whole.data);
        }
}

/* ---- memory ---------------------------------------------------------------------------------------- */

/* A limit refuses, or changes nothing; and it counts both arrays. */
static void memory_is_counted(void **state)
{
    (void)state;
    enum { WIDTH = 640, HEIGHT = 480, COEFFICIENTS = WIDTH * HEIGHT * 3 / 2 * 2 };
    for (int i = 0; i < INPUTS; i++) {
        const jpeg_kind kind = {.components = 3,
            .space = JCS_YCbCr,
            .sampling = "22 11 11",
            .progressive = inputs[i].progressive,
            .arithmetic = inputs[i].arithmetic,
            .separate = inputs[i].separate};
        jpeg_bytes in = jpeg_make(&kind, WIDTH, HEIGHT);
        lap_settings s = settings_of(LAP_TURN_90, LAP_LOSSLESS_AUTO, 0);
        const outcome free_of_limits = ours(&in, &s);
        uint64_t low = 0, high = 1 << 28; /* refused, and done */
        while (high - low > 1) {
            s.max_memory = low + (high - low) / 2;
            const outcome made = ours(&in, &s);
            if (made.code == LAP_OK) {
                high = s.max_memory;
                assert_true(is_lossless(&made));
                assert_int_equal(made.out.size, free_of_limits.out.size);
                assert_memory_equal(made.out.data, free_of_limits.out.data, made.out.size);
            } else {
                low = s.max_memory;
                assert_int_equal(made.code, LAP_E_LIMIT);
            }
            free(made.out.data);
        }
        assert_true(high > 2 * COEFFICIENTS && high < 3 * COEFFICIENTS);
        free(free_of_limits.out.data);
        free(in.data);
    }
}

static int set_up(void **state)
{
    (void)state;
    context = lap_context_create(1, NULL);
    has_jpegtran = system("command -v jpegtran >/dev/null") == 0;
    return context && make_scratch() ? 0 : 1;
}

static int tear_down(void **state)
{
    lap_context_destroy(context);
    return remove_scratch(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_as_jpegtran),
        cmocka_unit_test(ac_coefficients),
        cmocka_unit_test(the_most_negative_coefficient),
        cmocka_unit_test(differences_across_restarts),
        cmocka_unit_test(dc_differences),
        cmocka_unit_test(tables_that_change_go_to_pixels),
        cmocka_unit_test(large_mcus_go_to_pixels),
        cmocka_unit_test(components_of_one_name),
        cmocka_unit_test(a_warning_changes_no_byte),
        cmocka_unit_test(verdicts_of_damaged_files),
        cmocka_unit_test(memory_is_counted),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
