/* Bad JPEGs, limits and stopping: what is refused, with which code, and what is let through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/image.h"
#include "base/status.h"
#include "libjpeg/jpeg_scan.h"
#include "run/formats.h"
#include "run/pixels.h"
#include "tests/support/jpeg_make.h"
#include "tests/support/temporary.h"

static const jpeg_kind baseline = {
    .name = "baseline", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"};
static const jpeg_kind kinds[] = {
    {.name = "baseline", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
    {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"},
    {.name = "restarts", .components = 3, .space = JCS_YCbCr, .sampling = "21 11 11", .restart = 2},
    {.name = "a scan each", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .separate = true},
    {.name = "progressive", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .progressive = true},
    {.name = "CMYK", .components = 4, .space = JCS_CMYK, .sampling = "11 11 11 11"},
    {.name = "arithmetic", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .arithmetic = true},
    {.name = "arithmetic progressive",
        .components = 3,
        .space = JCS_YCbCr,
        .sampling = "22 11 11",
        .arithmetic = true,
        .progressive = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct outcome {
    lap_code code;
    lap_error err;
    lap_damage damage;
} outcome;

/* The whole way through the decoder. A decoder that refused must go on refusing. */
static outcome decode(const uint8_t *bytes, size_t size, const lap_read_options *options)
{
    outcome o = {.code = LAP_OK};
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    uint8_t *copy = malloc(size ? size : 1), *pixels = NULL; /* a read beyond the end is seen */
    if (size)
        memcpy(copy, bytes, size);
    assert_int_equal(lap_source_memory(copy, size, "bad.jpg", &source, &o.err), LAP_OK);
    o.code = lap_decoder_open(source, options, &decoder, &o.err);
    if (o.code == LAP_OK) {
        const lap_header *h = lap_decoder_header(decoder);
        lap_view view = {.stride = (ptrdiff_t)h->width * h->channels,
            .width = h->width,
            .height = h->height,
            .channels = h->channels,
            .place = LAP_ON_HOST};
        view.base = pixels = calloc((size_t)view.stride, (size_t)h->height);
        o.code = lap_decoder_rows(decoder, &view, &o.err);
        if (o.code == LAP_OK)
            o.code = lap_decoder_finish(decoder, &o.damage, &o.err);
        else
            assert_int_equal(lap_decoder_rows(decoder, &view, NULL), o.code);
    }
    if (o.code != LAP_OK) {
        assert_int_equal(o.err.code, o.code);
        assert_string_equal(o.err.subject, "bad.jpg");
    }
    lap_decoder_close(decoder);
    lap_source_close(source);
    free(pixels);
    free(copy);
    return o;
}

static lap_read_options options_of(lap_fail_on fail_on)
{
    return (lap_read_options){.max_pixels = 1000000, .max_scans = 100, .fail_on = fail_on};
}

/* Each cut is refused; the one that takes only the end marker passes with a warning, unless the last
 * coded bytes cannot be distinguished from missing ones (arithmetic coding). */
static void each_cut_is_refused(void **state)
{
    (void)state;
    lap_read_options options = options_of(LAP_FAIL_TRUNCATED);
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 70, 50);
        for (size_t size = 1; size < jpeg.size; size++) {
            outcome o = decode(jpeg.data, size, &options);
            bool only_marker = size + 2 >= jpeg.size;
            if (only_marker && o.code == LAP_OK) {
                assert_int_equal(o.damage.warnings, 1);
                assert_false(o.damage.truncated);
                continue;
            }
            lap_code expected = size == 1 ? LAP_E_NOT_IMAGE : LAP_E_TRUNCATED;
            if (o.code != expected || (only_marker && !kinds[k].arithmetic))
                fail_msg("%s cut to %zu of %lu: %s", kinds[k].name, size, jpeg.size,
                    o.code ? o.err.message : "ok");
        }
        free(jpeg.data);
    }
}

static void cuts_are_let_through_when_asked(void **state)
{
    (void)state;
    lap_read_options options = options_of(LAP_FAIL_NONE);
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 70, 50);
        outcome o = decode(jpeg.data, jpeg.size * 3 / 4, &options);
        assert_int_equal(o.code, LAP_OK);
        assert_true(o.damage.truncated);
        assert_true(o.damage.warnings >= 1);
        assert_non_null(strstr(o.damage.first, "data ends"));
        free(jpeg.data);
    }
}

static void messages_say_where(void **state)
{
    (void)state;
    lap_read_options options = options_of(LAP_FAIL_TRUNCATED);
    jpeg_bytes jpeg = jpeg_make(&baseline, 160, 160); /* 10 rows of MCUs */
    outcome o = decode(jpeg.data, 600 + (jpeg.size - 600) / 2, &options);
    int percent = 0;
    assert_int_equal(sscanf(o.err.message, "data ends %d", &percent), 1);
    assert_in_range(percent, 30, 70);
    assert_non_null(strstr(o.err.message, " % into the image"));
    for (int k = 3; k <= 4; k++) {
        jpeg_bytes scans = jpeg_make(&kinds[k], 160, 160);
        o = decode(scans.data, 600 + (scans.size - 600) / 2, &options);
        assert_non_null(strstr(o.err.message, " % into scan "));
        free(scans.data);
    }
    o = decode(jpeg.data, 300, &options);
    assert_string_equal(o.err.message, "data ends inside the header, after 300 bytes");
    options.fail_on = LAP_FAIL_WARNING;
    o = decode(jpeg.data, jpeg.size - 2, &options);
    assert_string_equal(o.err.message, "the end marker is missing");
    free(jpeg.data);
}

/* A file whose second half is lost, closed by an end marker as repair programs do. */
static void an_early_end_marker_is_damage(void **state)
{
    (void)state;
    lap_read_options options = options_of(LAP_FAIL_TRUNCATED);
    for (int k = 0; k < KINDS; k++) {
        if (kinds[k].arithmetic) /* zeros follow by definition: valid */
            continue;
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 70, 50);
        size_t half = jpeg.size * 2 / 3;
        memcpy(jpeg.data + half, "\xFF\xD9", 2);
        lap_code code = decode(jpeg.data, half + 2, &options).code;
        if (k == 3 || k == 4) /* the marker may lie inside a table between scans */
            assert_true(code == LAP_E_DAMAGED || code == LAP_E_TRUNCATED);
        else
            assert_int_equal(code, LAP_E_DAMAGED);
        free(jpeg.data);
    }
}

/* Any flipped bit: no crash, no endless work, and a refusal has one of the codes for bad input. */
static void flipped_bits_are_survived(void **state)
{
    (void)state;
    uint32_t seed = 7;
    int refused = 0, passed = 0;
    for (int round = 0; round < 4000; round++) {
        lap_read_options options = options_of((lap_fail_on)(round % 3));
        jpeg_bytes jpeg = jpeg_make(&kinds[round / 3 % KINDS], 40, 33);
        for (int flips = 1 + round % 2; flips > 0; flips--) {
            seed = seed * 1664525u + 1013904223u;
            jpeg.data[(seed >> 3) % jpeg.size] ^= (uint8_t)(1u << (seed >> 29));
        }
        outcome o = decode(jpeg.data, jpeg.size, &options);
        switch (o.code) {
        case LAP_OK:
            passed++;
            break;
        case LAP_E_NOT_IMAGE:
        case LAP_E_UNSUPPORTED:
        case LAP_E_TRUNCATED:
        case LAP_E_DAMAGED:
        case LAP_E_LIMIT:
            refused++;
            break;
        default:
            fail_msg("round %d: %s: %s", round, lap_code_name(o.code), o.err.message);
        }
        free(jpeg.data);
    }
    assert_true(refused > 100 && passed > 100);
}

static void harmless_oddities_are_counted(void **state)
{
    (void)state;
    jpeg_bytes jpeg = jpeg_make(&baseline, 40, 33);
    uint8_t *odd = malloc(jpeg.size + 3);
    memcpy(odd, jpeg.data, 2);
    memcpy(odd + 2, "\1\2\3", 3); /* stray bytes before the first segment */
    memcpy(odd + 5, jpeg.data + 2, jpeg.size - 2);
    for (int fail_on = LAP_FAIL_NONE; fail_on <= LAP_FAIL_WARNING; fail_on++) {
        lap_read_options options = options_of((lap_fail_on)fail_on);
        outcome o = decode(odd, jpeg.size + 3, &options);
        assert_int_equal(o.code, fail_on == LAP_FAIL_WARNING ? LAP_E_DAMAGED : LAP_OK);
        if (o.code == LAP_OK) {
            assert_int_equal(o.damage.warnings, 1);
            assert_false(o.damage.damaged || o.damage.truncated);
            assert_non_null(strstr(o.damage.first, "extraneous"));
        }
    }
    free(odd);
    free(jpeg.data);
}

/* Where a restart marker is due: bytes too many before one are damage; another marker is said by its name. */
static void markers_that_are_not_due(void **state)
{
    (void)state;
    static const struct {
        uint8_t marker;
        const char *words;
    } cases[] = {{0xD0, "extraneous bytes before marker 0xd0"}, {0xD7, "extraneous bytes before marker 0xd7"},
        {0xD8, "found marker 0xd8 instead of RST0"}, {0xCF, "found marker 0xcf instead of RST0"}};
    lap_read_options options = options_of(LAP_FAIL_TRUNCATED);
    jpeg_bytes jpeg = jpeg_make(&kinds[2], 70, 50);
    enum { MORE = 200 };
    uint8_t *odd = malloc(jpeg.size + MORE);
    size_t at = 0;
    while (jpeg.data[at] != 0xFF || jpeg.data[at + 1] != 0xD0)
        at++;
    memcpy(odd, jpeg.data, at);
    memset(odd + at, 0, MORE);
    memcpy(odd + at + MORE, jpeg.data + at, jpeg.size - at);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        odd[at + MORE + 1] = cases[i].marker;
        outcome o = decode(odd, jpeg.size + MORE, &options);
        assert_int_equal(o.code, LAP_E_DAMAGED);
        if (!strstr(o.err.message, cases[i].words))
            fail_msg("'%s' does not say '%s'", o.err.message, cases[i].words);
    }
    free(odd);
    free(jpeg.data);
}

/* In words of our own, where libjpeg's name its macros and tables. */
static void errors_are_in_plain_words(void **state)
{
    (void)state;
    lap_read_options options = options_of(LAP_FAIL_TRUNCATED);
    jpeg_bytes jpeg = jpeg_make(&baseline, 70, 50);
    size_t at = 2;
    while (jpeg.data[at + 1] != 0xC4)
        at += 2 + ((size_t)jpeg.data[at + 2] << 8 | jpeg.data[at + 3]);
    jpeg.data[at + 5] += 3; /* codes of one bit: more than there can be, taken from the longer ones */
    for (int n = 2, left = 3; n <= 16 && left > 0; n++) {
        const int taken = jpeg.data[at + 4 + n] < left ? jpeg.data[at + 4 + n] : left;
        jpeg.data[at + 4 + n] -= (uint8_t)taken;
        left -= taken;
    }
    outcome o = decode(jpeg.data, jpeg.size, &options);
    assert_int_equal(o.code, LAP_E_DAMAGED);
    assert_string_equal(o.err.message, "a Huffman table is invalid");
    free(jpeg.data);
}

/* However long a file is, its picture may be at its beginning. */
static void what_follows_does_not_matter(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH];
    const lap_read_options options = options_of(LAP_FAIL_TRUNCATED);
    jpeg_bytes jpeg = jpeg_make(&baseline, 70, 50);
    lap_source *source;
    lap_decoder *decoder;
    lap_damage damage;
    lap_image image;
    const int fd = mkstemp(temporary(path, "faults"));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, jpeg.data, jpeg.size), jpeg.size);
    assert_int_equal(ftruncate(fd, (off_t)4 * LAP_JPEG_MAX_HEADER), 0); /* takes no room on the disk */
    assert_int_equal(lap_source_open(path, &source, NULL), LAP_OK);
    assert_int_equal(lap_decoder_open(source, &options, &decoder, NULL), LAP_OK);
    assert_int_equal(lap_image_create(&image, 70, 50, 3, 0, NULL), LAP_OK);
    const lap_collect collect = {.decoder = decoder, .turn = LAP_TURN_NONE, .to = &image.view};
    assert_int_equal(lap_collect_image(&collect, &damage, NULL), LAP_OK);
    assert_int_equal(damage.warnings, 0);
    lap_image_destroy(&image);
    lap_decoder_close(decoder);
    lap_source_close(source);
    close(fd);
    unlink(path);
    free(jpeg.data);
}

static void limits_come_before_pixels(void **state)
{
    (void)state;
    jpeg_bytes jpeg = jpeg_make(&kinds[4], 100, 90);
    lap_read_options options = {.max_pixels = 8999, .fail_on = LAP_FAIL_TRUNCATED};
    outcome o = decode(jpeg.data, jpeg.size, &options);
    assert_int_equal(o.code, LAP_E_LIMIT);
    assert_non_null(strstr(o.err.message, "100x90"));
    options.max_pixels = 9000;
    assert_int_equal(decode(jpeg.data, jpeg.size, &options).code, LAP_OK);
    options.max_pixels = 0;
    options.max_memory = 1000;
    assert_int_equal(decode(jpeg.data, jpeg.size, &options).code, LAP_E_LIMIT);
    options.max_memory = 1 << 24;
    assert_int_equal(decode(jpeg.data, jpeg.size, &options).code, LAP_OK);
    lap_source *source;
    lap_decoder *decoder;
    assert_int_equal(lap_source_memory(jpeg.data, jpeg.size, "made", &source, NULL), LAP_OK);
    options.codec = LAP_CODEC_TURBO;
    assert_int_equal(lap_decoder_open(source, &options, &decoder, NULL), LAP_OK);
    options.max_memory = lap_decoder_header(decoder)->memory_estimate;
    lap_decoder_close(decoder);
    lap_source_close(source);
    /* Ours takes more, and leaves the file to libjpeg-turbo. */
    for (int i = 0; i < 2; i++) {
        options.codec = i ? LAP_CODEC_C : LAP_CODEC_TURBO;
        assert_int_equal(decode(jpeg.data, jpeg.size, &options).code, LAP_OK);
        options.max_memory--;
        assert_int_equal(decode(jpeg.data, jpeg.size, &options).code, LAP_E_LIMIT);
        options.max_memory++;
    }
    free(jpeg.data);
}

/* The last scan of a progressive file again and again. */
static void scan_bombs_are_stopped(void **state)
{
    (void)state;
    jpeg_bytes jpeg = jpeg_make(&kinds[4], 100, 90);
    size_t last = jpeg.size - 2, count = 200;
    while (jpeg.data[last] != 0xFF || jpeg.data[last + 1] != 0xDA)
        last--;
    size_t scan = jpeg.size - 2 - last;
    uint8_t *bomb = malloc(jpeg.size + count * scan);
    memcpy(bomb, jpeg.data, jpeg.size - 2);
    for (size_t i = 0; i < count; i++)
        memcpy(bomb + jpeg.size - 2 + i * scan, jpeg.data + last, scan);
    memcpy(bomb + jpeg.size - 2 + count * scan, "\xFF\xD9", 2);
    lap_read_options options = options_of(LAP_FAIL_NONE);
    outcome o = decode(bomb, jpeg.size + count * scan, &options);
    assert_int_equal(o.code, LAP_E_LIMIT);
    assert_non_null(strstr(o.err.message, "100"));
    options.max_scans = 0;
    assert_int_equal(decode(bomb, jpeg.size + count * scan, &options).code, LAP_OK);
    /* As many as the defaults allow, and one more. */
    size_t scans = 0;
    for (size_t i = 0; i + 1 < jpeg.size; i++)
        scans += jpeg.data[i] == 0xFF && jpeg.data[i + 1] == 0xDA;
    options.max_scans = lap_settings_default().max_scans;
    for (size_t all = 100; all <= 101; all++) {
        memcpy(bomb + jpeg.size - 2 + (all - scans) * scan, "\xFF\xD9", 2);
        assert_int_equal(
            decode(bomb, jpeg.size + (all - scans) * scan, &options).code, all == 100 ? LAP_OK : LAP_E_LIMIT);
        memcpy(bomb + jpeg.size - 2 + (all - scans) * scan, jpeg.data + last, 2);
    }
    free(bomb);
    free(jpeg.data);
}

static void stopping_from_outside(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 100, 90);
        atomic_int cancel = 1;
        lap_control cancelled = {.cancel = &cancel}, late = {.deadline_ms = lap_now_ms() - 1};
        lap_read_options options = options_of(LAP_FAIL_TRUNCATED);
        options.control = &cancelled;
        assert_int_equal(decode(jpeg.data, jpeg.size, &options).code, LAP_E_CANCELLED);
        options.control = &late;
        assert_int_equal(decode(jpeg.data, jpeg.size, &options).code, LAP_E_TIMEOUT);
        free(jpeg.data);
    }
}

static void other_files_are_no_images(void **state)
{
    (void)state;
    lap_read_options options = options_of(LAP_FAIL_TRUNCATED);
    outcome o = decode((const uint8_t *)"", 0, &options);
    assert_int_equal(o.code, LAP_E_NOT_IMAGE);
    assert_string_equal(o.err.message, "the file is empty");
    o = decode((const uint8_t *)"Dear reader, this is text.", 26, &options);
    assert_int_equal(o.code, LAP_E_NOT_IMAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cut_is_refused),
        cmocka_unit_test(cuts_are_let_through_when_asked),
        cmocka_unit_test(messages_say_where),
        cmocka_unit_test(an_early_end_marker_is_damage),
        cmocka_unit_test(flipped_bits_are_survived),
        cmocka_unit_test(harmless_oddities_are_counted),
        cmocka_unit_test(markers_that_are_not_due),
        cmocka_unit_test(errors_are_in_plain_words),
        cmocka_unit_test(what_follows_does_not_matter),
        cmocka_unit_test(limits_come_before_pixels),
        cmocka_unit_test(scan_bombs_are_stopped),
        cmocka_unit_test(stopping_from_outside),
        cmocka_unit_test(other_files_are_no_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
