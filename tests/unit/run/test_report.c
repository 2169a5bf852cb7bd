/* What the report of a run says: every note and warning, word by word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <zlib.h>

#include "lapedge_program.h"
#include "run/photo.h"
#include "run/settings.h"
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

static int make_ends(void **state), close_ends(void **state);

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
    return make_ends(state);
}

static int free_inputs(void **state)
{
    (void)state;
    for (int i = 0; i < INPUTS; i++)
        free(inputs[i].data);
    return close_ends(state);
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

enum { PNG_HEAD = 8 + 25 + 8 }; /* up to the first byte of the picture */

/* Warnings about whole pictures: damage comes first, and the loss of 16 bits only if it matters to the
 * caller. */
static void what_pixels_lack(void **state)
{
    (void)state;
    static const char reduced[] = "reduced from 16 to 8 bits per sample";
    lap_context *context = lap_context_create(1, NULL);
    for (int n = 0; n < 16; n++) {
        const bool is_16_bit = n & 1, is_cut = n & 2, is_exact = n & 4, has_warned = n & 8;
        const jpeg_bytes *file = &inputs[is_16_bit ? PNG_16 : XMP];
        const bool is_reduced = is_16_bit && is_exact;
        char wanted[240];
        lap_pixels *pixels = NULL;
        lap_settings s = lap_settings_default();
        lap_report report = {.warnings = has_warned ? 5 : 0};
        strcpy(report.warning, has_warned ? "before" : "");
        s.fail_on = LAP_FAIL_NONE;
        assert_int_equal(
            lap_pixels_decode(context, file->data, is_cut ? PNG_HEAD + 4 : file->size, &s, &pixels, NULL),
            LAP_OK);
        lap_pixels_warn(pixels, is_exact, &report);
        lap_pixels_free(pixels);
        assert_int_equal(report.warnings, (has_warned ? 5 : 0) + is_cut + is_reduced);
        snprintf(wanted, sizeof wanted, "%s%s%s", is_cut ? "data ends early; the rest is black" : "",
            is_cut && is_reduced ? "; " : "", is_reduced ? reduced : "");
        assert_string_equal(report.warning, has_warned ? "before" : wanted);
    }
    lap_context_destroy(context);
}

/* ---- photos that the test makes up: states that no file reaches on this machine ---------------------- */

static struct {
    bool is_on;
    double source_ms, sink_ms, opening_ms; /* what source and sink took */
    double now;                            /* each call of the clock adds one step */
    const char *lost;                      /* what the sink could not keep */
    lap_code finish;
    int finishes;
    bool syncs, has_like;
    lap_like like;
} fake;

double __real_lap_now_ms(void);
double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return fake.is_on ? ++fake.now : __real_lap_now_ms();
}

double __real_lap_source_ms(const lap_source *source);
double __wrap_lap_source_ms(const lap_source *source);
double __wrap_lap_source_ms(const lap_source *source)
{
    return fake.is_on ? fake.source_ms : __real_lap_source_ms(source);
}

double __real_lap_sink_ms(const lap_sink *sink);
double __wrap_lap_sink_ms(const lap_sink *sink);
double __wrap_lap_sink_ms(const lap_sink *sink)
{
    return fake.is_on ? fake.sink_ms : __real_lap_sink_ms(sink);
}

double __real_lap_sink_opening_ms(const lap_sink *sink);
double __wrap_lap_sink_opening_ms(const lap_sink *sink);
double __wrap_lap_sink_opening_ms(const lap_sink *sink)
{
    return fake.is_on ? fake.opening_ms : __real_lap_sink_opening_ms(sink);
}

const char *__real_lap_sink_lost(const lap_sink *sink);
const char *__wrap_lap_sink_lost(const lap_sink *sink);
const char *__wrap_lap_sink_lost(const lap_sink *sink)
{
    return fake.is_on ? fake.lost : __real_lap_sink_lost(sink);
}

lap_code __real_lap_sink_finish(lap_sink *sink, bool sync, const lap_like *like, lap_error *err);
lap_code __wrap_lap_sink_finish(lap_sink *sink, bool sync, const lap_like *like, lap_error *err);
lap_code __wrap_lap_sink_finish(lap_sink *sink, bool sync, const lap_like *like, lap_error *err)
{
    if (!fake.is_on)
        return __real_lap_sink_finish(sink, sync, like, err);
    fake.finishes++;
    fake.syncs = sync;
    fake.has_like = like;
    if (like)
        fake.like = *like;
    fake.now += 100;
    return fake.finish;
}

typedef struct made { /* a photo, and what it points to */
    lap_photo photo;
    lap_decoder decoder;
    lap_encoder encoder;
    lap_rung rung;
} made;

static lap_source *source;
static lap_sink *sink;

/* Makes a photo that is read from a JPEG in memory and written as a JPEG; no step has run yet. */
static void make_photo(made *m)
{
    memset(m, 0, sizeof *m);
    m->decoder.header.orientation = 1;
    m->rung.name = m->rung.family = "c";
    m->photo.source = source;
    m->photo.decoder = &m->decoder;
    m->photo.plan.turn = LAP_TURN_NONE;
    m->photo.plan.format = LAP_FORMAT_JPG;
    m->photo.plan.backend = "c";
    m->photo.plan.params = lap_settings_default().params;
    m->photo.plan.write.channels = 3;
    memset(&fake, 0, sizeof fake);
    fake.is_on = true;
    fake.lost = "";
}

/* Fills a report that contained other bytes: nothing of them may remain. */
static lap_report report_of(const made *m)
{
    lap_report report;
    memset(&report, 0x55, sizeof report);
    lap_photo_report(&m->photo, &report);
    return report;
}

static void assert_note(const made *m, const char *note)
{
    const lap_report report = report_of(m);
    assert_string_equal(report.note, note);
}

static int make_ends(void **state)
{
    (void)state;
    fake.is_on = false;
    return lap_source_memory("1234567", 7, "given", &source, NULL) == LAP_OK &&
                   lap_sink_memory(&sink, NULL) == LAP_OK && lap_sink_write(sink, "12345", 5, NULL) == LAP_OK
               ? 0
               : -1;
}

static int close_ends(void **state)
{
    (void)state;
    fake.is_on = false;
    lap_source_close(source);
    lap_sink_close(sink);
    return 0;
}

/* The measured times of decoding include reading, those of encoding include writing; the report separates
 * them. */
static void times_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        double decode, encode, wanted_decode, wanted_encode, without_sink;
    } cases[] = {{50, 60, 43, 55, 60}, {7, 5, 0, 0, 5}, {8, 6, 1, 1, 6}, {2, 3, 0, 0, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int has_sink = 0; has_sink < 2; has_sink++) {
            made m;
            make_photo(&m);
            m.photo.ms = (lap_times){1000, cases[i].decode, 11, 12, 13, cases[i].encode, 900, 14};
            m.photo.sink = has_sink ? sink : NULL;
            fake.source_ms = 7;
            fake.sink_ms = 20;
            fake.opening_ms = 15;
            const lap_report report = report_of(&m);
            assert_true(report.ms.read == 7);
            assert_true(report.ms.decode == cases[i].wanted_decode);
            assert_true(report.ms.upload == 11 && report.ms.filter == 12 && report.ms.download == 13);
            assert_true(report.ms.encode == (has_sink ? cases[i].wanted_encode : cases[i].without_sink));
            assert_true(report.ms.write == (has_sink ? 20 : 0));
            assert_true(report.ms.total == 14);
            assert_int_equal(report.bytes_out, has_sink ? 5 : 0);
        }
}

static void figures_are_those_of_the_photo(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        made m;
        make_photo(&m);
        m.photo.width = 31;
        m.photo.height = 32;
        m.photo.channels = 3;
        m.photo.lossless.loses = n % 2;
        m.photo.plan.rung = n / 2 ? &m.rung : NULL;
        m.photo.decoder = NULL;
        const lap_report report = report_of(&m);
        assert_true(report.width == 31 && report.height == 32 && report.channels == 3);
        assert_int_equal(report.recoded, n % 2);
        assert_int_equal(report.warnings, 0);
        assert_int_equal(report.warning_remedy, LAP_REMEDY_NONE);
        assert_string_equal(report.warning, "");
        assert_string_equal(report.note, "");
        assert_ptr_equal(report.resolved, n / 2 ? "c" : NULL);
        assert_int_equal(report.bytes_in, 0); /* for memory, the bytes that were read */
    }
}

/* Notes are joined; the end that does not fit is cut off. */
static void notes_are_joined_and_cut(void **state)
{
    (void)state;
    for (int length = 0; length < 300; length++) {
        char reason[301] = "", all[600];
        made m;
        make_photo(&m);
        memset(reason, 'r', (size_t)length);
        m.photo.lossless.reason = reason;
        m.decoder.scans = 3;
        m.decoder.longest = 2;
        m.decoder.percent = 71;
        snprintf(all, sizeof all,
            "decoded and re-encoded: %s; several scans at once: the largest, scan 2 of 3, has 71 %% of the "
            "bytes",
            reason);
        all[239] = 0;
        assert_note(&m, all);
    }
}

static void where_a_device_worked(void **state)
{
    (void)state;
    for (int n = 0; n < 128; n++) {
        const bool turned = n & 1, decoded = n & 2, encoded = n & 4, none = n & 8, why = n & 16,
                   loses = n & 32;
        const bool has_decoder = n & 64;
        char wanted[240] = "";
        made m;
        make_photo(&m);
        m.photo.plan.on_device = true;
        m.photo.plan.turn = turned ? LAP_TURN_90 : LAP_TURN_NONE;
        m.photo.plan.format = none ? LAP_FORMAT_NOTHING : LAP_FORMAT_JPG;
        m.photo.plan.no_device = why ? "its reason" : NULL;
        m.photo.device.decoded = decoded;
        m.photo.device.encoded = encoded;
        m.photo.lossless.loses = loses;
        m.photo.lossless.reason = "partial";
        m.photo.decoder = has_decoder ? &m.decoder : NULL;
        m.photo.plan.write.codec = m.decoder.options.codec = LAP_CODEC_CUDA;
        if (loses)
            strcat(wanted, "re-encoded: partial");
        if (loses && (has_decoder || decoded))
            strcat(wanted, "; ");
        if (has_decoder || decoded) {
            strcat(wanted, turned ? "decoded and turned on " : "decoded on ");
            strcat(wanted, decoded ? "the device" : "the CPU");
            if (!none)
                strcat(wanted, encoded ? ", encoded on the device" : ", encoded on the CPU");
            if (why)
                strcat(wanted, ": its reason");
        }
        assert_note(&m, wanted);
    }
}

/* A device that filters but does not decode, without a device's plan. */
static void why_no_device_worked(void **state)
{
    (void)state;
    made m;
    make_photo(&m);
    m.photo.plan.no_device = "codec 'cpu'";
    assert_note(&m, "decoded and encoded on the CPU: codec 'cpu'");
    m.photo.lossless.done = true;
    assert_note(&m, "turned without loss");
}

static void how_rows_were_read(void **state)
{
    (void)state;
    for (int n = 0; n < 48; n++) {
        const int opens = n % 3;
        const bool by_parts = n / 3 & 1, holds = n / 6 & 1, has_how = n / 12 & 1, plan_has_how = n / 24 & 1;
        const bool in_parallel = by_parts || (holds && opens != LAP_AT_FIRST_ROW);
        made m;
        make_photo(&m);
        m.decoder.opens = opens == 0 ? LAP_AT_FIRST_ROW : opens == 1 ? LAP_AT_ANY_ROW : LAP_AT_ROWS_IN_ORDER;
        m.decoder.how = has_how ? "the decoder's" : NULL;
        m.photo.plan.how = plan_has_how ? "the plan's" : NULL;
        m.photo.plan.by_parts = by_parts;
        m.photo.plan.holds_whole = holds;
        const char *wanted = in_parallel && opens == 1      ? "decoded in parallel"
                             : in_parallel && has_how       ? "decoded serially: the decoder's"
                             : !in_parallel && plan_has_how ? "decoded serially: the plan's"
                                                            : "";
        assert_note(&m, wanted);
    }
}

static void what_is_known_of_a_lossless_turn(void **state)
{
    (void)state;
    for (int n = 0; n < 6; n++) {
        static const char *const wanted[] = {"turned without loss",
            "turned without loss, partial MCUs left out", "turned without loss, no pixels are decoded",
            "turned without loss, partial MCUs left out, no pixels are decoded"};
        made m;
        make_photo(&m);
        m.photo.lossless.done = true;
        m.photo.lossless.reason = "not said";
        m.photo.lossless.trims = n % 2;
        m.photo.plan.decode = n / 2 == 0   ? LAP_DECODE_AUTO
                              : n / 2 == 1 ? LAP_DECODE_SERIAL
                                           : LAP_DECODE_PARALLEL;
        m.decoder.coder = "c";
        m.decoder.options.codec = LAP_CODEC_C;
        assert_note(&m, wanted[n % 2 + (n / 2 ? 2 : 0)]);
    }
}

static void how_a_rung_ran(void **state)
{
    (void)state;
    static const struct {
        const char *backend, *family;
        bool integers;
        lap_threading threading;
        int bands;
        const char *note;
    } cases[] = {
        {"c", "c", false, LAP_THREADS_ONE, 9, ""},
        {"c", "c", false, LAP_THREADS_SPLIT, 9, ""},
        {"c", "c", false, LAP_THREADS_OWN, 1, ""},
        {"c", "c", false, LAP_THREADS_OWN, 2,
            "threads work on different bands; within a band, rung uses one"},
        {"auto", "simd", false, LAP_THREADS_SPLIT, 9, ""},
        {"auto", "c", false, LAP_THREADS_SPLIT, 9, "auto fell back to rung"},
        {"c", "c", true, LAP_THREADS_SPLIT, 9, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made m;
        make_photo(&m);
        m.rung = (lap_rung){.name = "rung",
            .family = cases[i].family,
            .integers = cases[i].integers,
            .threading = cases[i].threading};
        m.photo.plan.rung = &m.rung;
        m.photo.plan.backend = cases[i].backend;
        m.photo.plan.bands = cases[i].bands;
        assert_note(&m, cases[i].note);
    }
}

static void which_coders_ran(void **state)
{
    (void)state;
    static const struct {
        const char *coder, *asked, *why;
        lap_codec_place codec;
        bool holds, has_bytes, on_device;
        const char *decoded, *encoded;
    } cases[] = {
        {NULL, NULL, NULL, LAP_CODEC_C, false, false, false, "", ""},
        {NULL, "c", "odd", LAP_CODEC_C, false, false, false, "", ""},
        {"c", NULL, NULL, LAP_CODEC_AUTO, false, false, false, "", ""},
        {"c", NULL, NULL, LAP_CODEC_CPU, false, false, false, "", ""},
        {"c", NULL, NULL, LAP_CODEC_CUDA, false, false, false, "", ""},
        {"c", NULL, NULL, LAP_CODEC_TURBO, false, false, false, "decoded by c", "encoded by c"},
        {"c", NULL, NULL, LAP_CODEC_C, false, false, true, "", ""},
        {"turbo", "c", "odd", LAP_CODEC_C, false, false, false, "decoded by turbo, not by c: odd",
            "encoded by turbo, not by c: odd"},
        {"turbo", "c", NULL, LAP_CODEC_C, false, false, false, "decoded by turbo", "encoded by turbo"},
        {"turbo", NULL, "odd", LAP_CODEC_C, false, false, false, "decoded by turbo", NULL},
        /* if the settings name no coder, there is a note only for a file that is too large to be held */
        {"turbo", "c", "odd", LAP_CODEC_AUTO, true, false, false, "decoded by turbo, not by c: odd", NULL},
        {"turbo", "c", "odd", LAP_CODEC_AUTO, true, true, false, "", NULL},
        {"turbo", "c", "odd", LAP_CODEC_AUTO, false, false, false, "", NULL},
        {"turbo", NULL, "odd", LAP_CODEC_AUTO, true, false, false, "", NULL},
        {"turbo", "c", "odd", LAP_CODEC_AUTO, true, false, true, "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const uint8_t bytes[1];
        made m;
        make_photo(&m);
        m.decoder.coder = cases[i].coder;
        m.decoder.coder_asked = cases[i].asked;
        m.decoder.why_not = cases[i].why;
        m.decoder.options.codec = cases[i].codec;
        m.decoder.options.holds = cases[i].holds;
        m.decoder.bytes = cases[i].has_bytes ? bytes : NULL;
        m.photo.device.decoded = cases[i].on_device;
        assert_note(&m, cases[i].decoded);
        if (!cases[i].encoded)
            continue;
        make_photo(&m);
        m.photo.decoder = NULL;
        m.photo.encoder = &m.encoder;
        m.photo.plan.write.codec = cases[i].codec;
        m.encoder.coder = cases[i].coder;
        m.encoder.coder_asked = cases[i].asked;
        m.encoder.why_not = cases[i].why;
        m.photo.device.encoded = cases[i].on_device;
        assert_note(&m, cases[i].encoded);
    }
}

/* A colour profile for gray images, and metadata that the writer has dropped and counted. */
static void what_else_the_output_lacks(void **state)
{
    (void)state;
    uint8_t icc[14 + 128] = "ICC_PROFILE\0\1\1";
    const lap_segment segment = {.marker = 0xE2, .data = icc, .size = sizeof icc};
    made m;
    icc[14 + 3] = 128;
    memcpy(icc + 14 + 16, "GRAY", 4);
    memcpy(icc + 14 + 36, "acsp", 4);
    make_photo(&m);
    m.photo.device.encoded = true;
    m.decoder.header.segments = m.photo.plan.from.segments = &segment;
    m.decoder.header.segment_count = m.photo.plan.from.segment_count = 1;
    m.photo.plan.write.from = &m.photo.plan.from;
    assert_note(&m, "the colour profile is dropped: it is not for RGB images");
    m.photo.plan.write.channels = 1;
    assert_note(&m, "");
    m.photo.drops.count[0] = 2;
    m.photo.drops.count[4] = 1;
    assert_note(&m, "metadata left out: 2 EXIF tags, 1 comment");
    m.photo.plan.format = LAP_FORMAT_PPM;
    m.photo.drops = (lap_meta_drops){.warnings = 0};
    assert_note(&m, "metadata left out: .ppm has no place for it");
    m.photo.plan.write.strip = true;
    assert_note(&m, "");
    m.photo.plan.write.strip = false;
    m.decoder.header.segment_count = 0;
    assert_note(&m, "");
    m.decoder.header.segment_count = 1;
    m.photo.device.encoded = false; /* nothing is written */
    assert_note(&m, "");
}

/* All warnings are counted, and the first one is shown. */
static void warnings_are_counted(void **state)
{
    (void)state;
    for (int n = 0; n < 8; n++) {
        const int damages = n & 1 ? 2 : 0, late = n & 2 ? 1 : 0, drops = n & 4 ? 3 : 0;
        made m;
        make_photo(&m);
        m.photo.device.encoded = true;
        m.photo.damage.warnings = damages;
        if (damages)
            strcpy(m.photo.damage.first, "damage");
        m.decoder.header.orientation = late ? 6 : 1;
        m.photo.plan.write.keep = LAP_KEEP_ICC;
        m.photo.drops.warnings = drops;
        strcpy(m.photo.drops.warning, "dropped");
        const lap_report report = report_of(&m);
        assert_int_equal(report.warnings, damages + late + drops);
        assert_string_equal(report.warning, damages ? "damage"
                                            : late
                                                ? "the orientation tag is removed, so this is shown as stored"
                                            : drops ? "dropped"
                                                    : "");
        assert_int_equal(report.warning_remedy, !damages && late ? LAP_REMEDY_AUTO_ORIENT : LAP_REMEDY_NONE);
    }
}

/* Metadata after the picture counts as lost if it should be kept and the output's format can keep it. */
static void what_comes_late_is_lost(void **state)
{
    (void)state;
    static const unsigned keeps[] = {0, LAP_KEEP_XMP, LAP_KEEP_COMMENT, LAP_KEEP_EXIF, ~0u};
    static const lap_format formats[] = {LAP_FORMAT_JPG, LAP_FORMAT_PNG, LAP_FORMAT_PPM, LAP_FORMAT_NOTHING};
    for (int n = 0; n < 2 * 3 * 5 * 2 * 4 * 4 * 3; n++) {
        const bool xmp = n % 2, strip = n / 30 % 2;
        const int texts = n / 2 % 3, way = n / 60 % 4;
        const unsigned keep = keeps[n / 6 % 5];
        const lap_format format = formats[n / 240 % 4];
        const lap_fail_on fail_on = (lap_fail_on)(n / 960);
        const bool is_kept = way > 0 && !strip && (format == LAP_FORMAT_JPG || format == LAP_FORMAT_PNG);
        const bool lost_xmp = is_kept && xmp && (keep == 0 || keep & LAP_KEEP_XMP);
        const bool lost_texts = is_kept && texts > 0 && (keep == 0 || keep & LAP_KEEP_COMMENT);
        const char *wanted = lost_xmp                  ? "XMP after the picture is left out"
                             : lost_texts && texts > 1 ? "text after the picture is left out: 2 chunks"
                             : lost_texts              ? "text after the picture is left out: 1 chunk"
                                                       : "";
        made m;
        lap_error err = {0};
        make_photo(&m);
        m.photo.encoder = way == 1 ? &m.encoder : NULL;
        m.photo.device.encoded = way == 2;
        m.photo.lossless.done = way == 3;
        m.photo.plan.format = format;
        m.photo.plan.write.keep = keep;
        m.photo.plan.write.strip = strip;
        m.photo.plan.write.fail_on = fail_on;
        m.decoder.header.late_xmp = xmp;
        m.decoder.header.late_texts = texts;
        const lap_report report = report_of(&m);
        assert_int_equal(report.warnings, lost_xmp + lost_texts);
        assert_string_equal(report.warning, wanted);
        assert_int_equal(report.warning_remedy, LAP_REMEDY_NONE);
        const bool is_refused = fail_on == LAP_FAIL_WARNING && *wanted;
        assert_int_equal(lap_photo_refuse_losses(&m.photo, &err), is_refused ? LAP_E_UNSUPPORTED : LAP_OK);
        assert_string_equal(err.message, is_refused ? wanted : "");
    }
}

/* The matrix of each turn, row by row: it moves the point (x, y) of a picture whose centre is (0, 0). */
static const int matrices[9][4] = {{0}, {1, 0, 0, 1}, {-1, 0, 0, 1}, {-1, 0, 0, -1}, {1, 0, 0, -1},
    {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, -1, 0}, {0, 1, -1, 0}};

static void multiply(const int a[4], const int b[4], int product[4])
{
    for (int i = 0; i < 4; i++)
        product[i] = a[i / 2 * 2] * b[i % 2] + a[i / 2 * 2 + 1] * b[i % 2 + 2];
}

/* If the orientation tag stays, viewers apply it to the turned pixels. */
static void what_viewers_make_of_a_tag(void **state)
{
    (void)state;
    static const char *const as[] = {NULL, NULL, "mirrored left to right", NULL, "mirrored top to bottom",
        "transposed", "rotated by 90 degrees", "transposed along the other diagonal",
        "rotated by 270 degrees"};
    for (int tag = 1; tag <= 8; tag++)
        for (int turn = 1; turn <= 8; turn++)
            for (int oriented = 0; oriented < 2; oriented++) {
                int back[4], product[4], seen[4], number = 1;
                char wanted[160] = "";
                made m;
                lap_error err = {0};
                make_photo(&m);
                m.photo.device.encoded = true;
                m.photo.plan.turn = (lap_turn)turn;
                m.photo.plan.write.oriented = oriented;
                m.photo.plan.write.fail_on = LAP_FAIL_WARNING;
                m.decoder.header.orientation = tag;
                for (int i = 0; i < 4; i++) /* the matrix is orthogonal: its inverse is its transpose */
                    back[i] = matrices[tag][i / 2 + i % 2 * 2];
                multiply(matrices[turn], back, product); /* the upright picture as stored, turned, ... */
                multiply(matrices[tag], product, seen);  /* ... and seen by the tag */
                while (memcmp(matrices[number], seen, sizeof seen) != 0)
                    number++;
                if (!oriented && number != turn)
                    snprintf(wanted, sizeof wanted, "viewers apply the orientation tag, and see this %s",
                        as[number]);
                const lap_report report = report_of(&m);
                assert_string_equal(report.warning, wanted);
                assert_int_equal(report.warnings, *wanted != 0);
                assert_int_equal(lap_photo_refuse_losses(&m.photo, &err), LAP_OK); /* the user chose it */
            }
}

/* ---- its steps ---- */

static void a_photo_is_made_from_an_order(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(1, NULL);
    lap_settings s = lap_settings_default();
    s.timeout_s = 3;
    s.format = "png";
    s.quality = 37;
    for (int n = 0; n < 4; n++) {
        const lap_run_order order = {
            .context = context, .out = n % 2 ? "o" : NULL, .settings = &s, .left_by_device = n / 2};
        const lap_photo p = lap_photo_of(&order, 5000);
        assert_ptr_equal(p.context, context);
        assert_int_equal(p.settings.quality, 37);
        assert_string_equal(p.settings.format, n % 2 ? "png" : "none");
        assert_int_equal(p.left_by_device, n / 2);
        assert_true(p.control.deadline_ms == 8000);
        assert_null(p.source);
        assert_null(p.decoder);
    }
    lap_context_destroy(context);
}

static void a_photo_is_opened(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(1, NULL);
    lap_settings s = lap_settings_default();
    s.decode = LAP_DECODE_PARALLEL;
    s.turn = LAP_TURN_90;
    for (int is_lossless = 0; is_lossless < 2; is_lossless++) {
        lap_photo p = {.context = context, .settings = s, .lossless.is_taken = is_lossless, .ms.decode = 10};
        memset(&fake, 0, sizeof fake);
        fake.is_on = true;
        assert_int_equal(lap_plan_settings(&p.plan, &s, NULL, 3, NULL), LAP_OK);
        assert_int_equal(
            lap_source_memory(inputs[ODD].data, inputs[ODD].size, "given", &p.source, NULL), LAP_OK);
        const double began = fake.now;
        assert_int_equal(lap_photo_open(&p, NULL), LAP_OK);
        assert_true(p.ms.decode == 10 + fake.now - began - 1);
        assert_int_equal(p.decoder->options.decode, is_lossless ? LAP_DECODE_SERIAL : LAP_DECODE_PARALLEL);
        assert_true(p.width == SMALL && p.height == SMALL + 1 && p.channels == 3);
        assert_ptr_equal(p.plan.write.drops, &p.drops);
        assert_int_equal(lap_photo_collect(&p, NULL), LAP_OK);
        assert_true(p.whole.view.width == SMALL && p.whole.view.height == SMALL + 1);
        assert_true(p.whole.view.channels == 3 && p.whole.view.apron == LAP_APRON);
        lap_image_destroy(&p.whole);
        p.plan.width = 0; /* no image can be created, so the decoder is not called */
        lap_decoder *const decoder = p.decoder;
        p.decoder = NULL;
        assert_int_equal(lap_photo_collect(&p, NULL), LAP_E_INTERNAL);
        lap_decoder_close(decoder);
        lap_source_close(p.source);

        p = (lap_photo){.context = context, .settings = s, .ms.decode = 10};
        assert_int_equal(lap_plan_settings(&p.plan, &s, NULL, 3, NULL), LAP_OK);
        assert_int_equal(lap_source_memory("no photo", 8, "given", &p.source, NULL), LAP_OK);
        assert_int_equal(lap_photo_open(&p, NULL), LAP_E_NOT_IMAGE);
        assert_true(p.ms.decode > 10);
        assert_null(p.decoder);
        assert_int_equal(p.width, 0);
        lap_source_close(p.source);
    }
    lap_context_destroy(context);
}

static void statistics_are_of_both_pictures(void **state)
{
    (void)state;
    lap_photo_counts counts = {.source = {{0}}};
    lap_run_stats stats;
    lap_error err = {0};
    counts.source[0][7] = 3;
    counts.result[0][9] = 5;
    assert_int_equal(lap_photo_stats(&counts, 1, 8, &stats, &err), LAP_OK);
    assert_int_equal(stats.input.channel[0].histogram[7], 3);
    assert_int_equal(stats.edges.channel[0].histogram[9], 5);
    assert_int_equal(stats.input.threshold, 8);
    assert_int_equal(stats.edges.threshold, 8);
    for (int i = 0; i < 2; i++) { /* one of the two has no samples */
        counts = (lap_photo_counts){.source = {{0}}};
        (i ? counts.source : counts.result)[0][7] = 3;
        assert_int_equal(lap_photo_stats(&counts, 1, 8, &stats, &err), LAP_E_USAGE);
        assert_string_equal(err.message, "cannot compute statistics of no samples");
    }
}

/* The output is finished as the plan says, unless its statistics fail. */
static void an_output_is_finished(void **state)
{
    (void)state;
    for (int n = 0; n < 32; n++) {
        const bool sync = n & 1, preserves = n & 2, is_file = n & 4, lost = n & 8, fails = n & 16;
        lap_photo_counts counts = {.source = {{0}}};
        lap_run_stats stats = {.input.channels = 0};
        lap_report report = {.ms.write = 3, .warnings = 0};
        lap_source *file = NULL;
        made m;
        make_photo(&m);
        counts.source[0][7] = counts.result[0][7] = 1;
        assert_int_equal(lap_source_open("/proc/self/exe", &file, NULL), LAP_OK);
        m.photo.source = is_file ? file : source;
        m.photo.sink = sink;
        m.photo.counts = &counts;
        m.photo.channels = 1;
        m.photo.plan.stats = &stats;
        m.photo.plan.params.threshold = 5;
        m.photo.plan.sync = sync;
        m.photo.plan.preserves = preserves;
        fake.lost = lost ? "the owner" : "";
        fake.finish = fails ? LAP_E_DISK_FULL : LAP_OK;
        assert_int_equal(lap_photo_store(&m.photo, &report, NULL), fails ? LAP_E_DISK_FULL : LAP_OK);
        assert_int_equal(fake.finishes, 1);
        assert_int_equal(fake.syncs, sync);
        assert_int_equal(fake.has_like, preserves && is_file);
        if (fake.has_like) {
            assert_int_equal(fake.like.fd, lap_source_fd(file));
            assert_ptr_equal(fake.like.stat, lap_source_stat(file));
        }
        assert_true(report.ms.write == 3 + 101);
        assert_int_equal(report.bytes_out, 5);
        assert_int_equal(report.warnings, lost);
        assert_string_equal(report.warning, lost ? "the owner" : "");
        assert_int_equal(report.warning_remedy, LAP_REMEDY_NONE);
        assert_int_equal(stats.input.threshold, 5);
        counts.result[0][7] = 0;
        fake.finish = LAP_OK;
        assert_int_equal(lap_photo_store(&m.photo, &report, NULL), LAP_E_USAGE);
        assert_int_equal(fake.finishes, 1);
        m.photo.plan.stats = NULL;
        m.photo.counts = NULL;
        assert_int_equal(lap_photo_store(&m.photo, &report, NULL), LAP_OK);
        assert_int_equal(report.warnings, lost * 3);
        lap_source_close(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_it_was_decoded),
        cmocka_unit_test(what_the_kernel_promises),
        cmocka_unit_test(how_it_was_turned),
        cmocka_unit_test(what_is_lost),
        cmocka_unit_test(what_pixels_lack),
        cmocka_unit_test(times_are_taken_apart),
        cmocka_unit_test(figures_are_those_of_the_photo),
        cmocka_unit_test(notes_are_joined_and_cut),
        cmocka_unit_test(where_a_device_worked),
        cmocka_unit_test(why_no_device_worked),
        cmocka_unit_test(how_rows_were_read),
        cmocka_unit_test(what_is_known_of_a_lossless_turn),
        cmocka_unit_test(how_a_rung_ran),
        cmocka_unit_test(which_coders_ran),
        cmocka_unit_test(what_else_the_output_lacks),
        cmocka_unit_test(warnings_are_counted),
        cmocka_unit_test(what_comes_late_is_lost),
        cmocka_unit_test(what_viewers_make_of_a_tag),
        cmocka_unit_test(a_photo_is_made_from_an_order),
        cmocka_unit_test(a_photo_is_opened),
        cmocka_unit_test(statistics_are_of_both_pictures),
        cmocka_unit_test(an_output_is_finished),
    };
    return cmocka_run_group_tests(tests, make_inputs, free_inputs);
}
