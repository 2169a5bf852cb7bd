/* What the report of a run says: every note and warning, word by word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <zlib.h>

#include "lapedge_program.h"
#include "tests/support/jpeg_make.h"

enum { SMALL = 64, WIDE = 600, HIGH = 520 }; /* WIDE x HIGH is worth several threads */

static jpeg_bytes file_of(const void *head, size_t head_size, const void *rest, size_t rest_size)
{
    jpeg_bytes file = {malloc(head_size + rest_size), head_size + rest_size};
    assert_non_null(file.data);
    memcpy(file.data, head, head_size);
    memcpy(file.data + head_size, rest, rest_size);
    return file;
}

static jpeg_bytes ppm(void)
{
    static const uint8_t zero[SMALL * SMALL * 3];
    char head[32];
    const int size = snprintf(head, sizeof head, "P6 %d %d 255\n", SMALL, SMALL);
    return file_of(head, (size_t)size, zero, sizeof zero);
}

static jpeg_bytes jpeg(const char *sampling, int components, int width, int height)
{
    const jpeg_kind kind = {
        .components = components, .space = components == 1 ? JCS_GRAYSCALE : JCS_YCbCr, .sampling = sampling};
    return jpeg_make(&kind, width, height);
}

/* A small JPEG with a segment behind its SOI. */
static jpeg_bytes jpeg_with(int marker, const void *body, size_t size)
{
    uint8_t head[200] = {0xff, 0xd8, 0xff, (uint8_t)marker, 0, (uint8_t)(size + 2)};
    jpeg_bytes plain = jpeg("22 11 11", 3, SMALL, SMALL);
    memcpy(head + 6, body, size);
    const jpeg_bytes file = file_of(head, 6 + size, plain.data + 2, plain.size - 2);
    free(plain.data);
    return file;
}

static jpeg_bytes tagged(int orientation)
{
    const uint8_t exif[] = {'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0,
        0, 0, 1, 0, (uint8_t)orientation, 0, 0, 0, 0, 0, 0};
    return jpeg_with(0xE1, exif, sizeof exif);
}

static jpeg_bytes profiled(void)
{
    uint8_t icc[14 + 128] = "ICC_PROFILE\0\1\1";
    icc[14 + 3] = 128;
    memcpy(icc + 14 + 16, "RGB ", 4);
    memcpy(icc + 14 + 36, "acsp", 4);
    return jpeg_with(0xE2, icc, sizeof icc);
}

/* Appends a PNG chunk: its type and data. */
static void add_chunk(jpeg_bytes *png, const void *chunk, size_t size)
{
    const uLong crc = crc32(0, chunk, (uInt)size);
    const uint8_t before[] = {0, 0, (uint8_t)((size - 4) >> 8), (uint8_t)(size - 4)},
                  after[] = {(uint8_t)(crc >> 24), (uint8_t)(crc >> 16), (uint8_t)(crc >> 8), (uint8_t)crc};
    memcpy(png->data + png->size, before, 4);
    memcpy(png->data + png->size + 4, chunk, size);
    memcpy(png->data + png->size + 4 + size, after, 4);
    png->size += size + 8;
}

/* A gray PNG of 8 or 16 bits with so many texts, and XMP or none, behind the picture. */
static jpeg_bytes png(int bits, int texts, bool has_xmp)
{
    static const char text[] = "tEXtTitle\0words", xmp[] = "iTXtXML:com.adobe.xmp\0\0\0\0\0<x/>";
    static const uint8_t rows[SMALL * (1 + 2 * SMALL)];
    const uint8_t head[] = {'I', 'H', 'D', 'R', 0, 0, 0, SMALL, 0, 0, 0, SMALL, (uint8_t)bits, 0, 0, 0, 0};
    uint8_t data[1000] = "IDAT";
    uLongf packed = sizeof data - 4;
    jpeg_bytes file = {malloc(4096), 8};
    assert_non_null(file.data);
    memcpy(file.data, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&file, head, sizeof head);
    assert_int_equal(compress(data + 4, &packed, rows, SMALL * (1 + SMALL * (uLong)bits / 8)), Z_OK);
    add_chunk(&file, data, 4 + packed);
    for (int i = 0; i < texts; i++)
        add_chunk(&file, text, sizeof text - 1);
    if (has_xmp)
        add_chunk(&file, xmp, sizeof xmp - 1);
    add_chunk(&file, "IEND", 4);
    return file;
}

enum {
    PPM,
    JPEG,
    ODD,
    GRAY,
    LARGE,
    LARGE_GRAY,
    TAG_2,
    TAG_6,
    TAG_8,
    ICC,
    COMMENT,
    TEXT,
    TEXTS,
    XMP,
    PNG_16,
    TINY,
    FOREIGN,
    CUT,
    INPUTS
};

static jpeg_bytes inputs[INPUTS];

static int make_inputs(void **state)
{
    (void)state;
    inputs[PPM] = ppm();
    inputs[JPEG] = jpeg("22 11 11", 3, SMALL, SMALL);
    inputs[ODD] = jpeg("22 11 11", 3, SMALL + 1, SMALL);
    inputs[GRAY] = jpeg("11", 1, SMALL, SMALL);
    inputs[LARGE] = jpeg("22 11 11", 3, WIDE, HIGH);
    inputs[LARGE_GRAY] = jpeg("11", 1, WIDE, HIGH);
    inputs[TAG_2] = tagged(2);
    inputs[TAG_6] = tagged(6);
    inputs[TAG_8] = tagged(8);
    inputs[ICC] = profiled();
    inputs[COMMENT] = jpeg_with(0xFE, "words", 5);
    inputs[TEXT] = png(8, 1, false);
    inputs[TEXTS] = png(8, 2, true);
    inputs[XMP] = png(8, 0, true);
    inputs[PNG_16] = png(16, 0, false);
    inputs[TINY] = jpeg("22 11 11", 3, 5, 5);
    inputs[FOREIGN] = jpeg("42 11 11", 3, SMALL, SMALL);
    inputs[CUT] = jpeg("22 11 11", 3, SMALL, SMALL);
    inputs[CUT].size -= 300;
    return 0;
}

static int free_inputs(void **state)
{
    (void)state;
    for (int i = 0; i < INPUTS; i++)
        free(inputs[i].data);
    return 0;
}

typedef struct want {
    int in;
    const char *format, *kernel, *backend;
    lap_turn turn;
    lap_codec_place codec;
    lap_decode decode;
    lap_lossless lossless;
    lap_fail_on fail_on;
    unsigned keep;
    int threads, quality;
    float scale;
    bool filter, gray, upright, strip, progressive, off;
    lap_code code;
    const char *note, *warning;
    int warnings;
    lap_remedy remedy;
    bool recoded;
} want;

static void check(const want *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const want *w = &cases[i];
        lap_settings s = lap_settings_default();
        lap_context *context = lap_context_create(w->threads ? w->threads : 1, NULL);
        lap_report report;
        lap_error err = {0};
        void *out;
        size_t size;
        s.backend = w->backend ? w->backend : "c";
        s.filter = w->filter || w->kernel;
        s.format = w->format;
        s.turn = w->turn ? w->turn : LAP_TURN_NONE;
        s.codec = w->codec ? w->codec : LAP_CODEC_C;
        s.decode = w->decode;
        s.lossless = w->lossless;
        s.fail_on = w->fail_on;
        s.keep = w->keep;
        s.quality = w->quality ? w->quality : 90;
        s.gray = w->gray;
        s.auto_orient = w->upright;
        s.strip = w->strip;
        s.progressive = w->progressive;
        s.restart = w->off ? LAP_RESTART_OFF : LAP_RESTART_AUTO;
        if (w->kernel)
            assert_int_equal(lap_kernel_parse(w->kernel, &s.params.kernel, NULL), LAP_OK);
        s.params.scale = w->scale != 0 ? w->scale : 1;
        const lap_code code =
            lap_run_memory(context, inputs[w->in].data, inputs[w->in].size, &out, &size, &s, &report, &err);
        if (code == LAP_E_BACKEND) { /* this machine has no vectors */
            lap_context_destroy(context);
            continue;
        }
        assert_int_equal(code, w->code);
        assert_string_equal(w->backend ? strpbrk(report.note, " ") : report.note, w->note);
        assert_string_equal(code == LAP_OK ? report.warning : err.message, w->warning ? w->warning : "");
        assert_int_equal(report.warnings, w->warnings);
        assert_int_equal(code == LAP_OK ? report.warning_remedy : err.remedy, w->remedy);
        assert_int_equal(report.recoded, w->recoded);
        free(out);
        lap_context_destroy(context);
    }
}
#define CHECK(cases) check(cases, sizeof cases / sizeof *cases)

static void how_it_was_decoded(void **state)
{
    (void)state;
    static const want cases[] = {
        {PPM, "ppm", .filter = true, .note = ""},
        {PNG_16, "ppm", .filter = true, .note = "reduced from 16 to 8 bits per sample"},
        {PNG_16, "jpg",
            .note = "reduced from 16 to 8 bits per sample; decoded and re-encoded, with a quality of 90; "
                    "encoded by c"},
        {FOREIGN, "jpg", .filter = true,
            .note = "decoded by turbo, not by c: lapedge's decoder does not support its sampling; encoded by "
                    "turbo, not by c: its sampling is not 4:4:4, 4:2:2, 4:2:0, 4:4:0 or 4:1:1"},
        {CUT, "jpg", .filter = true, .note = "decoded by turbo, not by c: its data is unusual; encoded by c",
            .warning = "data ends 75 % into the image", .warnings = 2},
        {CUT, "jpg", .filter = true, .fail_on = LAP_FAIL_TRUNCATED, .code = LAP_E_TRUNCATED,
            .remedy = LAP_REMEDY_FAIL_ON,
            .note = "decoded by turbo, not by c: its data is unusual; encoded by c",
            .warning = "data ends 75 % into the image"},
        {JPEG, "jpg", .note = "decoded and re-encoded, with a quality of 90; decoded by c; encoded by c"},
        {JPEG, "jpg", .quality = 33,
            .note = "decoded and re-encoded, with a quality of 33; decoded by c; encoded by c"},
        {JPEG, "ppm", .note = "decoded by c"},
        {JPEG, "jpg", .filter = true, .note = "decoded by c; encoded by c"},
        {JPEG, "none", .filter = true, .note = "decoded by c"},
        {JPEG, "jpg", .codec = LAP_CODEC_TURBO, .filter = true, .note = "decoded by turbo; encoded by turbo"},
        {JPEG, "jpg", .filter = true, .progressive = true,
            .note = "decoded by c; encoded by turbo, not by c: the file is progressive"},
        {JPEG, "jpg", .filter = true, .codec = LAP_CODEC_CPU, .note = ""},
        {LARGE, "jpg", .filter = true, .threads = 3, .note = "decoded by c; encoded by c"},
        {LARGE, "jpg", .threads = 2,
            .note = "decoded and re-encoded, with a quality of 90; decoded by c; encoded by c"},
        {LARGE, "jpg", .threads = 3, .filter = true, .decode = LAP_DECODE_SERIAL,
            .note = "decoded by c; encoded by c"},
        {LARGE, "jpg", .threads = 3, .filter = true, .decode = LAP_DECODE_PARALLEL,
            .note = "decoded in parallel; decoded by c; encoded by c"},
        {LARGE, "ppm", .threads = 3, .filter = true, .decode = LAP_DECODE_PARALLEL,
            .note = "decoded serially: this output needs rows in order; decoded by c"},
        {LARGE, "ppm", .threads = 3, .filter = true, .note = "decoded by c"},
        {LARGE, "ppm", .threads = 3, .turn = LAP_TURN_180, .decode = LAP_DECODE_PARALLEL,
            .note = "decoded in parallel; decoded by c"},
        {LARGE, "jpg", .threads = 3, .filter = true, .off = true, .decode = LAP_DECODE_PARALLEL,
            .note = "decoded in parallel; decoded by c; encoded by c"},
        {LARGE, "jpg", .threads = 3, .filter = true, .off = true, .codec = LAP_CODEC_TURBO,
            .decode = LAP_DECODE_PARALLEL,
            .note = "decoded serially: this output needs rows in order; decoded by turbo; encoded by turbo"},
        {LARGE, "jpg", .threads = 3, .filter = true, .progressive = true, .decode = LAP_DECODE_PARALLEL,
            .note = "decoded serially: this output needs rows in order; decoded by c; encoded by turbo, not "
                    "by c: the file is progressive"},
        {LARGE_GRAY, "jpg", .threads = 3, .filter = true, .decode = LAP_DECODE_PARALLEL,
            .note = "decoded in parallel; decoded by c; encoded by c"},
        {PPM, "jpg", .decode = LAP_DECODE_PARALLEL,
            .note = "decoded and re-encoded, with a quality of 90; encoded by c"},
    };
    CHECK(cases);
}

static void what_the_kernel_promises(void **state)
{
    (void)state;
    static const want cases[] = {
        {PPM, "ppm", "identity", .scale = 1e9f, .note = ""},
        {PPM, "ppm", "0 0 0 0 .5 0 0 0 0", "simd",
            .note = " ran its float form: the kernel does not consist of small integers; "
                    "backends may differ by one level with this kernel"},
        {PPM, "ppm", "0 0 0 0 .5 0 0 0 0", .note = "backends may differ by one level with this kernel"},
        {PPM, "ppm", "0 0 0 0 .5 0 0 0 0", .scale = 2401,
            .note = "with this kernel and scale, backends may differ by any amount"},
        {PPM, "ppm", "0 0 0 0 70000 0 0 0 0", .scale = 0.001f,
            .note = "backends may differ by one level with this kernel"},
    };
    CHECK(cases);
}

static void how_it_was_turned(void **state)
{
    (void)state;
    static const want cases[] = {
        {JPEG, "jpg", .turn = LAP_TURN_90, .lossless = LAP_LOSSLESS_AUTO, .note = "turned without loss"},
        {JPEG, "jpg", .turn = LAP_TURN_90, .lossless = LAP_LOSSLESS_AUTO, .decode = LAP_DECODE_PARALLEL,
            .note = "turned without loss, no pixels are decoded"},
        {ODD, "jpg", .turn = LAP_TURN_H, .lossless = LAP_LOSSLESS_AUTO,
            .note = "decoded and re-encoded: 65 x 64 has partial MCUs; trimmed to 64 x 64 it would not; "
                    "decoded by c; encoded by c",
            .recoded = true},
        {ODD, "jpg", .turn = LAP_TURN_H, .lossless = LAP_LOSSLESS_TRIM,
            .note = "turned without loss, partial MCUs left out"},
        {ODD, "jpg", .turn = LAP_TURN_H, .lossless = LAP_LOSSLESS_PERFECT, .remedy = LAP_REMEDY_TRIM,
            .code = LAP_E_UNSUPPORTED, .note = "",
            .warning =
                "cannot be turned without loss: 65 x 64 has partial MCUs; trimmed to 64 x 64 it would not",
            .recoded = true},
        {ODD, "jpg", .turn = LAP_TURN_V, .lossless = LAP_LOSSLESS_PERFECT, .note = "turned without loss"},
        {JPEG, "png", .turn = LAP_TURN_H, .lossless = LAP_LOSSLESS_AUTO,
            .note = "decoded and re-encoded: the output is not a JPEG; decoded by c"},
        {JPEG, "png", .turn = LAP_TURN_H, .lossless = LAP_LOSSLESS_TRIM, .code = LAP_E_USAGE, .note = "",
            .warning = "the transform must be lossless, but the output is not a JPEG"},
        {TINY, "jpg", .turn = LAP_TURN_V, .lossless = LAP_LOSSLESS_AUTO,
            .note = "decoded and re-encoded: it is smaller than one MCU; decoded by c; encoded by c",
            .recoded = true},
        {TINY, "jpg", .turn = LAP_TURN_V, .lossless = LAP_LOSSLESS_TRIM, .code = LAP_E_UNSUPPORTED,
            .note = "", .warning = "cannot be turned without loss: it is smaller than one MCU",
            .recoded = true},
        {PPM, "jpg", .turn = LAP_TURN_H, .lossless = LAP_LOSSLESS_AUTO,
            .note = "decoded and re-encoded: the input is not a JPEG; encoded by c"},
        {PPM, "jpg", .turn = LAP_TURN_H, .lossless = LAP_LOSSLESS_PERFECT, .code = LAP_E_UNSUPPORTED,
            .note = "", .warning = "cannot be turned without loss: the input is not a JPEG"},
        {JPEG, "jpg", .turn = LAP_TURN_H, .gray = true, .lossless = LAP_LOSSLESS_AUTO,
            .note = "decoded and re-encoded: one channel is requested; decoded by c; encoded by c"},
        {TAG_6, "jpg", .upright = true, .lossless = LAP_LOSSLESS_AUTO, .note = "turned without loss"},
        {TAG_6, "jpg", .turn = LAP_TURN_90, .lossless = LAP_LOSSLESS_AUTO, .note = "turned without loss"},
    };
    CHECK(cases);
}

static void what_is_lost(void **state)
{
    (void)state;
    static const want cases[] = {
        {TAG_6, "ppm", .filter = true, .note = "decoded by c; metadata left out: .ppm has no place for it",
            .warning = ".ppm has no place for the orientation tag, so this is shown as stored", .warnings = 1,
            .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_6, "ppm", .filter = true, .strip = true, .note = "decoded by c",
            .warning = ".ppm has no place for the orientation tag, so this is shown as stored", .warnings = 1,
            .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_6, "ppm", .filter = true, .upright = true,
            .note = "decoded by c; metadata left out: .ppm has no place for it"},
        {TAG_6, "ppm", .filter = true, .fail_on = LAP_FAIL_WARNING,
            .note = "decoded by c; metadata left out: .ppm has no place for it",
            .warning = ".ppm has no place for the orientation tag, so this is shown as stored", .warnings = 1,
            .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_6, "none", .filter = true, .note = "decoded by c"},
        {TAG_6, "jpg", .filter = true, .strip = true,
            .note = "decoded by c; encoded by c; metadata left out: 1 EXIF tag",
            .warning = "the orientation tag is removed, so this is shown as stored", .warnings = 1,
            .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_6, "jpg", .filter = true, .keep = LAP_KEEP_LISTED | LAP_KEEP_ICC,
            .note = "decoded by c; encoded by c; metadata left out: 1 EXIF tag",
            .warning = "the orientation tag is removed, so this is shown as stored", .warnings = 1,
            .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_6, "jpg", .filter = true, .keep = LAP_KEEP_LISTED | LAP_KEEP_EXIF,
            .note = "decoded by c; encoded by c"},
        {TAG_6, "jpg", .filter = true, .turn = LAP_TURN_90, .note = "decoded by c; encoded by c"},
        {TAG_6, "jpg", .filter = true, .turn = LAP_TURN_H, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this mirrored top to bottom",
            .warnings = 1, .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_6, "jpg", .filter = true, .turn = LAP_TURN_180, .note = "decoded by c; encoded by c"},
        {TAG_6, "jpg", .filter = true, .turn = LAP_TURN_V, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this mirrored left to right",
            .warnings = 1, .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_6, "jpg", .filter = true, .turn = LAP_TURN_TRANSPOSE, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this transposed along the other diagonal",
            .warnings = 1, .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_6, "jpg", .filter = true, .turn = LAP_TURN_TRANSVERSE, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this transposed", .warnings = 1,
            .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_8, "jpg", .filter = true, .turn = LAP_TURN_H, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this mirrored top to bottom",
            .warnings = 1, .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_2, "jpg", .filter = true, .turn = LAP_TURN_90, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this rotated by 270 degrees",
            .warnings = 1, .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_2, "jpg", .filter = true, .turn = LAP_TURN_270, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this rotated by 90 degrees", .warnings = 1,
            .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_2, "jpg", .filter = true, .turn = LAP_TURN_TRANSPOSE, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this transposed along the other diagonal",
            .warnings = 1, .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_2, "jpg", .filter = true, .turn = LAP_TURN_TRANSVERSE, .note = "decoded by c; encoded by c",
            .warning = "viewers apply the orientation tag, and see this transposed", .warnings = 1,
            .remedy = LAP_REMEDY_AUTO_ORIENT},
        {TAG_2, "jpg", .filter = true, .turn = LAP_TURN_TRANSVERSE, .upright = true,
            .note = "decoded by c; encoded by c"},
        {ICC, "jpg", .filter = true, .gray = true,
            .note = "decoded by c; encoded by c; the colour profile is dropped: it is not for gray images"},
        {ICC, "jpg", .filter = true, .note = "decoded by c; encoded by c"},
        {ICC, "ppm", .filter = true, .gray = true,
            .note = "decoded by c; metadata left out: .ppm has no place for it"},
        {COMMENT, "ppm", .filter = true, .note = "decoded by c; metadata left out: .ppm has no place for it"},
        {COMMENT, "ppm", .filter = true, .strip = true, .note = "decoded by c"},
        {COMMENT, "bmp", .filter = true, .note = "decoded by c; metadata left out: .bmp has no place for it"},
        {COMMENT, "none", .filter = true, .note = "decoded by c"},
        {TEXT, "png", .filter = true, .note = "", .warning = "text after the picture is left out: 1 chunk",
            .warnings = 1},
        {TEXT, "png", .filter = true, .fail_on = LAP_FAIL_WARNING, .code = LAP_E_UNSUPPORTED, .note = "",
            .warning = "text after the picture is left out: 1 chunk", .warnings = 1},
        {TEXT, "ppm", .filter = true, .note = ""},
        {TEXT, "png", .filter = true, .keep = LAP_KEEP_LISTED | LAP_KEEP_XMP, .note = ""},
        {TEXTS, "png", .filter = true, .note = "", .warning = "XMP after the picture is left out",
            .warnings = 2},
        {TEXTS, "png", .filter = true, .keep = LAP_KEEP_LISTED | LAP_KEEP_COMMENT, .note = "",
            .warning = "text after the picture is left out: 2 chunks", .warnings = 1},
        {TEXTS, "png", .filter = true, .strip = true, .note = ""},
        {TEXTS, "none", .filter = true, .note = ""},
        {XMP, "png", .filter = true, .note = "", .warning = "XMP after the picture is left out",
            .warnings = 1},
        {XMP, "png", .filter = true, .fail_on = LAP_FAIL_WARNING, .code = LAP_E_UNSUPPORTED, .note = "",
            .warning = "XMP after the picture is left out", .warnings = 1},
    };
    CHECK(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_it_was_decoded),
        cmocka_unit_test(what_the_kernel_promises),
        cmocka_unit_test(how_it_was_turned),
        cmocka_unit_test(what_is_lost),
    };
    return cmocka_run_group_tests(tests, make_inputs, free_inputs);
}
