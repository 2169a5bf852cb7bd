/* Who decodes or encodes a JPEG, and why it is not who was asked; where a picture is opened, and why not
 * there; and what both take in threads, pieces and memory: each at its limit and one beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"
#include "coding/jpeg_frame_read.h"
#include "jpeg/jpeg_own.h"
#include "run/formats.h"
#include "tests/support/jpeg_make.h"

typedef struct opened {
    lap_source *source;
    lap_decoder *decoder;
    lap_code code;
    lap_error err;
} opened;

static opened open_by(const jpeg_bytes *file, lap_read_options options)
{
    opened o = {0};
    assert_int_equal(lap_source_memory(file->data, file->size, "x", &o.source, NULL), LAP_OK);
    o.code = lap_decoder_open(o.source, &options, &o.decoder, &o.err);
    return o;
}

static void close_all(opened *o)
{
    lap_decoder_close(o->decoder);
    lap_source_close(o->source);
}

/* Text, or "" for NULL. */
static void same_text(const char *what, const char *got, const char *expected)
{
    if (strcmp(got ? got : "", expected) != 0)
        fail_msg("%s: '%s', not '%s'", what, got ? got : "", expected);
}

static const jpeg_kind ordinary = {
    .name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"};
static const jpeg_kind progressive = {
    .name = "progressive", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .progressive = true};
static const jpeg_kind arithmetic = {
    .name = "arithmetic", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .arithmetic = true};
static const jpeg_kind separate = {
    .name = "separate", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .separate = true};
static const jpeg_kind fine_chroma = {
    .name = "fine chroma", .components = 3, .space = JCS_YCbCr, .sampling = "22 21 11"};
static const jpeg_kind fine_chroma_later = {
    .name = "fine chroma", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 21", .progressive = true};

#define CANNOT_START "libjpeg-turbo decodes it, and cannot start inside a scan"
#define SAMPLING "lapedge's decoder does not support its sampling"

/* why_not and how with --decode=parallel, which always says how. */
static void reasons(void **state)
{
    static const struct {
        const jpeg_kind *kind;
        lap_codec_place codec;
        int max_scans;
        const char *coder, *asked, *why_not, *how;
    } cases[] = {{&ordinary, LAP_CODEC_C, 100, "c", "", "", ""},
        {&ordinary, LAP_CODEC_TURBO, 100, "turbo", "", "", CANNOT_START},
        {&arithmetic, LAP_CODEC_C, 100, "turbo", "c", "it is coded arithmetically",
            "it is coded arithmetically"},
        {&separate, LAP_CODEC_C, 100, "turbo", "c", "it is sequential, and has several scans",
            "it has several scans"},
        {&fine_chroma, LAP_CODEC_C, 100, "turbo", "c", SAMPLING, CANNOT_START},
        {&progressive, LAP_CODEC_C, 10, "c", "", "", ""}, {&progressive, LAP_CODEC_C, 0, "c", "", "", ""},
        {&progressive, LAP_CODEC_C, 9, "turbo", "c", "it has too many scans", "it is progressive"},
        {&progressive, LAP_CODEC_TURBO, 100, "turbo", "", "", "it is progressive"},
        {&fine_chroma_later, LAP_CODEC_C, 100, "turbo", "c", SAMPLING, "it is progressive"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        jpeg_bytes file = jpeg_make(cases[i].kind, 90, 50);
        opened o = open_by(&file,
            (lap_read_options){
                .codec = cases[i].codec, .max_scans = cases[i].max_scans, .decode = LAP_DECODE_PARALLEL});
        const lap_decoder *d = o.decoder;
        assert_int_equal(o.code, LAP_OK);
        same_text(cases[i].kind->name, d->coder, cases[i].coder);
        same_text(cases[i].kind->name, d->coder_asked, cases[i].asked);
        same_text(cases[i].kind->name, d->why_not, cases[i].why_not);
        same_text(cases[i].kind->name, d->how, cases[i].how);
        assert_int_equal(lap_decoder_opens_at(d), cases[i].how[0] == '\0');
        assert_int_equal(d->scans, cases[i].how[0] == '\0' && cases[i].kind == &progressive ? 10 : 0);
        close_all(&o);
        free(file.data);
    }
}

/* A segment that headers do not have: libjpeg-turbo passes over it. */
static void unusual_headers_go_to_libjpeg(void **state)
{
    (void)state;
    jpeg_bytes file = jpeg_make(&ordinary, 90, 50);
    file.data[3] = 0xDC; /* in place of JFIF's */
    opened o = open_by(&file, (lap_read_options){.codec = LAP_CODEC_C});
    assert_int_equal(o.code, LAP_OK);
    same_text("DNL", o.decoder->coder, "turbo");
    same_text("DNL", o.decoder->why_not, "its header is unusual");
    same_text("DNL", o.decoder->how, "");
    close_all(&o);
    free(file.data);
}

/* The rule of decode_plan.h, once more. */
static bool is_supported(const lap_jpeg_frame *f)
{
    static const char *const luma[] = {"11", "12", "21", "22", "41"};
    bool is_there = f->components == 1;
    for (size_t i = 0; i < sizeof luma / sizeof *luma; i++)
        is_there |= f->sample_h[0] == luma[i][0] - '0' && f->sample_v[0] == luma[i][1] - '0';
    for (int c = 1; c < f->components; c++)
        is_there = is_there && f->sample_h[c] == (c == 3 ? f->sample_h[0] : 1) &&
                   f->sample_v[c] == (c == 3 ? f->sample_v[0] : 1);
    return is_there;
}

static void samplings_that_are_supported(void **state)
{
    static lap_decode_plan plan;
    static lap_jpeg_frame frame;
    int supported = 0;
    (void)state;
    for (int components = 1; components <= 4; components++)
        for (int shape = 0; shape < 1 << 8 && components != 2; shape++)
            for (int c = 0; c < components;
                 c++) { /* component c has the lower factors, the others the usual */
                frame = (lap_jpeg_frame){.width = 40, .height = 30, .components = components};
                for (int i = 0; i < components; i++) {
                    frame.sample_h[i] = i == 3 || i == 0 ? 1 + (shape >> 4 & 3) : 1;
                    frame.sample_v[i] = i == 3 || i == 0 ? 1 + (shape >> 6) : 1;
                }
                frame.sample_h[c] = 1 + (shape & 3);
                frame.sample_v[c] = 1 + (shape >> 2 & 3);
                assert_int_equal(lap_decode_takes(&frame), is_supported(&frame));
                if (!is_supported(&frame))
                    assert_false(lap_decode_plan_make(&frame, lap_decode_c.index, &plan));
                supported += is_supported(&frame);
            }
    assert_in_range(supported, 300, 1000);
}

/* ---- memory -------------------------------------------------------------------------------------- */

/* What the estimate says is enough, and a byte less is not: then libjpeg-turbo decodes. */
static void memory_at_the_limit(void **state)
{
    static const jpeg_kind *const kinds[] = {&ordinary, &progressive};
    (void)state;
    for (int k = 0; k < 2; k++) {
        jpeg_bytes file = jpeg_make(kinds[k], 500, 300);
        lap_read_options options = {.codec = LAP_CODEC_C, .max_scans = 100};
        opened whole = open_by(&file, options);
        same_text("no limit", whole.decoder->coder, "c");
        const size_t all = whole.decoder->header.memory_estimate;
        assert_true(all / 4 > file.size); /* so it is held */
        for (int less = 0; less < 2; less++) {
            options.max_memory = all - (size_t)less;
            opened o = open_by(&file, options);
            assert_int_equal(o.code, LAP_OK);
            same_text("at the limit", o.decoder->coder, less ? "turbo" : "c");
            same_text("at the limit", o.decoder->why_not, less ? "memory is short" : "");
            if (!less) /* what libjpeg-turbo alone needs is what it would have been */
                assert_int_equal(o.decoder->header.memory_estimate, all);
            else
                assert_true(o.decoder->header.memory_estimate < all);
            const size_t alone = o.decoder->header.memory_estimate;
            if (!less) {
                assert_true(lap_decoder_spare(o.decoder, "for a test"));
                same_text("spared", o.decoder->coder, "turbo");
                same_text("spared", o.decoder->coder_asked, "c");
                same_text("spared", o.decoder->why_not, "for a test");
                assert_int_equal(o.decoder->scans, 0);
                assert_true(o.decoder->header.memory_estimate < alone);
            }
            close_all(&o);
        }
        close_all(&whole);
        free(file.data);
    }
}

/* What is kept of a picture that opens at any row: the index, and nothing else. */
static void the_index_is_counted(void **state)
{
    (void)state;
    for (int restart = 0; restart <= 5; restart += 5) {
        jpeg_kind kind = ordinary;
        kind.restart = restart;
        jpeg_bytes file = jpeg_make(&kind, 400, 300);
        opened serial = open_by(&file, (lap_read_options){.codec = LAP_CODEC_C});
        opened o = open_by(&file,
            (lap_read_options){.codec = LAP_CODEC_C, .decode = LAP_DECODE_PARALLEL, .piece_bytes = 3000});
        const lap_own_decoder *own = o.decoder->first;
        const lap_scan_index *index = &own->index;
        assert_int_equal(own->plan->mcu_rows, 19);
        assert_int_equal(index->mark_count, restart ? 25 * 19 / 5 - 1 : 0);
        assert_in_range(index->piece_count, 5, 100);
        assert_int_equal(o.decoder->held, 20 * sizeof(lap_scan_row) +
                                              index->mark_count * sizeof(lap_scan_mark) +
                                              (index->piece_count + 1) * sizeof(uint64_t));
        assert_int_equal(
            o.decoder->header.memory_estimate, serial.decoder->header.memory_estimate + o.decoder->held);
        assert_int_equal(o.decoder->at_memory, lap_row_decoder_memory(400) + LAP_WALK_LANES * (size_t)3000);
        assert_true(lap_decoder_spare(o.decoder, "for a test"));
        assert_false(lap_decoder_opens_at(o.decoder));
        same_text("spared", o.decoder->how, "for a test");
        assert_int_equal(o.decoder->held, 0);
        assert_int_equal(
            o.decoder->header.memory_estimate, serial.decoder->header.memory_estimate - file.size);
        close_all(&serial);
        close_all(&o);
        free(file.data);
    }
}

/* ---- threads ------------------------------------------------------------------------------------- */

static int threads_of(lap_pool *pool, lap_decode decode, bool in_order, int threads, int width)
{
    const lap_decoder d = {
        .options = {.pool = pool, .decode = decode, .in_order = in_order, .threads = threads},
        .header = {.width = width, .height = 1000}};
    return lap_own_threads(&d);
}

/* A million pixels are worth a second thread. A pool of three leaves the caller two idle ones. */
static void threads_that_decode(void **state)
{
    enum { LARGE = 1000, SMALL = 999 };
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    const int idle = 1 + lap_pool_idle(pool);
    assert_in_range(idle, 3, 4);
    assert_int_equal(threads_of(NULL, LAP_DECODE_PARALLEL, true, 9, LARGE), 1);
    assert_int_equal(threads_of(pool, LAP_DECODE_PARALLEL, false, 9, SMALL), 9);
    assert_int_equal(threads_of(pool, LAP_DECODE_PARALLEL, false, 0, LARGE), 1);
    assert_int_equal(threads_of(pool, LAP_DECODE_SERIAL, false, 2, LARGE), 1);
    assert_int_equal(threads_of(pool, LAP_DECODE_SERIAL, true, 2, LARGE), 2);
    assert_int_equal(threads_of(pool, LAP_DECODE_AUTO, false, 2, LARGE), 2);
    assert_int_equal(threads_of(pool, LAP_DECODE_AUTO, false, 9, LARGE), idle);
    assert_int_equal(threads_of(pool, LAP_DECODE_AUTO, false, 9, SMALL), 1);
    assert_int_equal(threads_of(pool, LAP_DECODE_AUTO, true, 1, LARGE), 1);
    lap_pool_destroy(pool);
}

/* LAP_DECODE_AUTO: from a million pixels on, and from so many threads as the caller says. */
static void where_it_is_worth_it(void **state)
{
    static const struct {
        const jpeg_kind *kind;
        int width, threads, worth;
        bool opens;
        const char *how;
    } cases[] = {{&ordinary, 999, 2, 2, false, ""}, {&ordinary, 1000, 2, 2, true, ""},
        {&ordinary, 1000, 1, 2, false, "too few threads are idle"},
        {&ordinary, 1000, 2, 3, false, "too few threads are idle"}, {&ordinary, 1000, 3, 3, true, ""},
        {&ordinary, 1000, 1, 1, false, ""}, {&ordinary, 1000, 2, 1, true, ""},
        {&progressive, 1000, 2, 5, true, ""}, {&progressive, 1000, 1, 2, false, "it is progressive"},
        {&progressive, 999, 2, 2, false, ""}};
    (void)state;
    lap_pool *pool = lap_pool_create(3, NULL);
    jpeg_bytes file = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i == 0 || cases[i].kind != cases[i - 1].kind || cases[i].width != cases[i - 1].width) {
            free(file.data);
            file = jpeg_make(cases[i].kind, cases[i].width, 1000);
        }
        opened o = open_by(&file, (lap_read_options){.codec = LAP_CODEC_C,
                                      .max_scans = 100,
                                      .decode = LAP_DECODE_AUTO,
                                      .pool = pool,
                                      .threads = cases[i].threads,
                                      .worth_threads = cases[i].worth});
        if (lap_decoder_opens_at(o.decoder) != cases[i].opens)
            fail_msg("case %zu", i);
        same_text(cases[i].kind->name, o.decoder->coder, "c");
        same_text(cases[i].kind->name, o.decoder->how, cases[i].how);
        close_all(&o);
    }
    free(file.data);
    lap_pool_destroy(pool);
}

/* The scan with the most bytes is named, from 1 on, with its share of the file. */
static void the_longest_scan_is_named(void **state)
{
    static lap_jpeg_script script;
    (void)state;
    jpeg_bytes file = jpeg_make(&progressive, 200, 100);
    opened o = open_by(&file, (lap_read_options){.codec = LAP_CODEC_C, .max_scans = 100});
    assert_true(lap_jpeg_script_read(file.data, file.size, &script));
    uint64_t most = 0;
    int which = 0, scan, percent;
    for (int i = 0; i < script.count; i++)
        if (script.scans[i].end - script.scans[i].begin > most) {
            most = script.scans[i].end - script.scans[i].begin;
            which = i + 1;
        }
    assert_int_equal(o.decoder->scans, 10);
    assert_in_range(which, 2, 10);
    assert_int_equal(o.decoder->longest, which);
    assert_int_equal(o.decoder->percent, (int)(100 * most / file.size));
    assert_int_equal(o.decoder->at_memory, lap_row_decoder_memory(200));
    assert_int_equal(lap_held_bound(file.data, file.size, &scan, &percent, NULL), LAP_OK);
    assert_int_equal(scan, which);
    assert_int_equal(percent, o.decoder->percent);
    assert_int_equal(lap_held_bound(file.data, file.size - 1, &scan, &percent, NULL), LAP_OK);
    assert_int_equal(scan, 0);
    assert_int_equal(percent, 0);
    close_all(&o);
    free(file.data);
}

/* ---- encoders ------------------------------------------------------------------------------------ */

static lap_encoder *encoder_of(lap_write_options options)
{
    lap_encoder *encoder;
    options.quality = 80;
    assert_int_equal(lap_encoder_open(NULL, LAP_FORMAT_JPG, &options, &encoder, NULL), LAP_OK);
    return encoder;
}

static void who_encodes(void **state)
{
    static const lap_header
        unusual = {.components = 3, .is_ycc = true, .sample_h = {2, 1, 2}, .sample_v = {2, 1, 1}},
        tall = {.components = 3, .is_ycc = true, .sample_h = {1, 1, 1}, .sample_v = {2, 1, 1}};
    static const struct {
        lap_write_options options;
        const char *coder, *asked, *why_not;
        int row_step;
    } cases[] = {{{.codec = LAP_CODEC_C, .channels = 3, .subsampling = LAP_SUB_420}, "c", "", "", 16},
        {{.codec = LAP_CODEC_C, .channels = 3, .subsampling = LAP_SUB_444}, "c", "", "", 8},
        {{.codec = LAP_CODEC_C, .channels = 1, .subsampling = LAP_SUB_420}, "c", "", "", 8},
        {{.codec = LAP_CODEC_C, .channels = 4, .from = &tall}, "c", "", "", 16},
        {{.codec = LAP_CODEC_TURBO, .channels = 3}, "turbo", "", "", 0},
        {{.codec = LAP_CODEC_TURBO, .channels = 3, .optimize = true}, "turbo", "", "", 0},
        {{.codec = LAP_CODEC_C, .channels = 3, .progressive = true}, "turbo", "c", "the file is progressive",
            0},
        {{.codec = LAP_CODEC_C, .channels = 3, .optimize = true}, "turbo", "c",
            "the file has optimized Huffman tables", 0},
        {{.codec = LAP_CODEC_C, .channels = 3, .progressive = true, .optimize = true}, "turbo", "c",
            "the file is progressive", 0},
        {{.codec = LAP_CODEC_C, .channels = 3, .from = &unusual}, "turbo", "c",
            "its sampling is not 4:4:4, 4:2:2, 4:2:0, 4:4:0 or 4:1:1", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_write_options options = cases[i].options;
        options.width = options.height = 40;
        lap_encoder *e = encoder_of(options);
        same_text("encoder", e->coder, cases[i].coder);
        same_text("encoder", e->coder_asked, cases[i].asked);
        same_text("encoder", e->why_not, cases[i].why_not);
        assert_int_equal(lap_encoder_row_step(e), cases[i].row_step);
        lap_encoder_close(e);
    }
}

/* From two bands on, unless they have to be joined and arrive in order anyway. */
static void bands_at_once(void **state)
{
    (void)state;
    for (int restart = LAP_RESTART_AUTO; restart <= LAP_RESTART_OFF; restart++)
        for (int in_order = 0; in_order < 2; in_order++) {
            lap_write_options options = {.codec = LAP_CODEC_C,
                .channels = 3,
                .width = 700,
                .height = 1000,
                .subsampling = LAP_SUB_420,
                .restart = (lap_restart)restart,
                .in_order = in_order};
            lap_encoder *e = encoder_of(options);
            const int rows = lap_encoder_band_rows(e);
            assert_in_range(rows, 16, 999);
            lap_encoder_close(e);
            for (int more = 0; more < 2; more++) {
                options.height = rows + more;
                e = encoder_of(options);
                assert_int_equal(
                    lap_encoder_is_parallel(e), more && (!in_order || restart != LAP_RESTART_OFF));
                lap_encoder_close(e);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons),
        cmocka_unit_test(unusual_headers_go_to_libjpeg),
        cmocka_unit_test(samplings_that_are_supported),
        cmocka_unit_test(memory_at_the_limit),
        cmocka_unit_test(the_index_is_counted),
        cmocka_unit_test(threads_that_decode),
        cmocka_unit_test(where_it_is_worth_it),
        cmocka_unit_test(the_longest_scan_is_named),
        cmocka_unit_test(who_encodes),
        cmocka_unit_test(bands_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
