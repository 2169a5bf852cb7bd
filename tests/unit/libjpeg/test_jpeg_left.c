/* Damage that nothing but the bytes left over at the end of a scan shows, and what must not be taken for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <jerror.h>

#include "run/formats.h"
#include "tests/support/jpeg_make.h"

static const jpeg_kind kinds[] = {
    {.name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
    {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"},
    {.name = "restarts", .components = 3, .space = JCS_YCbCr, .sampling = "11 11 11", .restart = 4},
    {.name = "scans", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .separate = true},
    {.name = "progressive", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .progressive = true},
    {.name = "arithmetic", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .arithmetic = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds, ARITHMETIC = KINDS - 1 };

typedef struct outcome {
    lap_code code;
    lap_error err;
    lap_damage damage;
} outcome;

static outcome decode_once(const uint8_t *bytes, size_t size, lap_fail_on fail_on, bool walk_scans)
{
    outcome o = {.code = LAP_OK};
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_read_options options = {.max_scans = 100, .fail_on = fail_on, .walk_scans = walk_scans};
    o.code = lap_source_memory(bytes, size, "x.jpg", &source, &o.err);
    if (o.code == LAP_OK)
        o.code = lap_decoder_open(source, &options, &decoder, &o.err);
    if (o.code == LAP_OK) {
        const lap_header *h = lap_decoder_header(decoder);
        lap_view view = {.stride = (ptrdiff_t)h->width * h->channels,
            .width = h->width,
            .height = h->height,
            .channels = h->channels,
            .place = LAP_ON_HOST};
        uint8_t *pixels = view.base = malloc((size_t)view.stride * (size_t)view.height);
        o.code = lap_decoder_rows(decoder, &view, &o.err);
        if (o.code == LAP_OK)
            o.code = lap_decoder_finish(decoder, &o.damage, &o.err);
        free(pixels);
    }
    lap_decoder_close(decoder);
    lap_source_close(source);
    return o;
}

/* What libjpeg's buffer shows and what our own walk counts come to the same: verdict, message and number. */
static outcome decode(const uint8_t *bytes, size_t size, lap_fail_on fail_on)
{
    outcome o = decode_once(bytes, size, fail_on, false), walked = decode_once(bytes, size, fail_on, true);
    if (o.code != walked.code || strcmp(o.err.message, walked.err.message) != 0 ||
        o.damage.warnings != walked.damage.warnings || strcmp(o.damage.first, walked.damage.first) != 0)
        fail_msg("by libjpeg's buffer: %s '%s' %d '%s'; by the walk: %s '%s' %d '%s'", lap_code_name(o.code),
            o.err.message, o.damage.warnings, o.damage.first, lap_code_name(walked.code), walked.err.message,
            walked.damage.warnings, walked.damage.first);
    return o;
}

/* Where the first (nth 1), second, ... scan of a JPEG ends: at the marker after its data. */
static size_t end_of_scan(const jpeg_bytes *jpeg, int nth)
{
    size_t i = 2;
    while (nth > 0) {
        bool is_scan = jpeg->data[i + 1] == 0xDA;
        i += 2 + (size_t)(jpeg->data[i + 2] << 8 | jpeg->data[i + 3]);
        if (is_scan) {
            while (jpeg->data[i] != 0xFF || jpeg->data[i + 1] == 0 || (jpeg->data[i + 1] & 0xF8) == 0xD0)
                i++;
            nth--;
        }
    }
    return i;
}

/* Decodes the JPEG with that number of bytes put in before the marker that ends a scan. */
static outcome decode_with(const jpeg_bytes *jpeg, int nth, const uint8_t *stray, size_t count, lap_fail_on f)
{
    size_t at = end_of_scan(jpeg, nth);
    uint8_t *bytes = malloc(jpeg->size + count);
    memcpy(bytes, jpeg->data, at);
    memcpy(bytes + at, stray, count);
    memcpy(bytes + at + count, jpeg->data + at, jpeg->size - at);
    outcome o = decode(bytes, jpeg->size + count, f);
    free(bytes);
    return o;
}

/* ---- by construction ------------------------------------------------------------------------------ */

/* From none, all in the decoder's bit buffer, to more than it holds; in a first and in a later scan. */
static void each_stray_byte_counts(void **state)
{
    (void)state;
    uint8_t stray[40];
    for (int i = 0; i < 40; i++)
        stray[i] = (uint8_t)(3 * i + 1);
    for (int k = 0; k < ARITHMETIC; k++) {
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 70, 50);
        for (int nth = 1; nth <= (kinds[k].progressive || kinds[k].separate ? 3 : 1); nth++)
            for (size_t count = 0; count <= 40; count++) {
                outcome o = decode_with(&jpeg, nth, stray, count, LAP_FAIL_TRUNCATED);
                if (o.code != (count <= 6 ? LAP_OK : LAP_E_DAMAGED))
                    fail_msg("%s, scan %d, %zu bytes: %s %s", kinds[k].name, nth, count,
                        lap_code_name(o.code), o.err.message);
                char where[40] = "before the end marker", said[120];
                if (kinds[k].progressive || kinds[k].separate)
                    snprintf(where, sizeof where, "at the end of scan %d", nth);
                snprintf(said, sizeof said, "%zu bytes of data are left over %s: the decoder lost its place",
                    count, where);
                assert_string_equal(o.err.message, o.code == LAP_OK ? "" : said);
            }
        free(jpeg.data);
    }
}

/* The arithmetic decoder has no such buffer, but may stop up to two bytes early. */
static void arithmetic_scans_too(void **state)
{
    (void)state;
    uint8_t stray[20];
    memset(stray, 0x55, sizeof stray);
    jpeg_bytes jpeg = jpeg_make(&kinds[ARITHMETIC], 70, 50);
    assert_int_equal(decode(jpeg.data, jpeg.size, LAP_FAIL_WARNING).code, LAP_OK);
    assert_int_equal(decode_with(&jpeg, 1, stray, 20, LAP_FAIL_TRUNCATED).code, LAP_E_DAMAGED);
    free(jpeg.data);
}

/* Some good Huffman encoders leave a byte, arithmetic ones none: a byte in their files was added. */
static void one_byte_is_warned_of_in_arithmetic_scans(void **state)
{
    (void)state;
    const uint8_t stray[] = {0x55, 0x55, 0x55, 0x55, 0x55};
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 70, 50);
        int left = 0; /* of those that a decoder did not take for its own */
        for (size_t count = 1; count <= sizeof stray && left == 0; count++) {
            outcome o = decode_with(&jpeg, 1, stray, count, LAP_FAIL_TRUNCATED);
            assert_int_equal(o.code, LAP_OK);
            left = o.damage.warnings > 0 ? atoi(o.damage.first) : 0;
        }
        assert_int_equal(left, k == ARITHMETIC ? 1 : 2);
        free(jpeg.data);
    }
}

static void padding_is_harmless(void **state)
{
    (void)state;
    enum { MOST = 64 << 10 };
    static uint8_t zeros[MOST + 8], fill[MOST], ones[MOST];
    memset(fill, 0xFF, sizeof fill); /* before a marker any number of these may stand */
    for (int i = 0; i < MOST; i++)
        ones[i] = i % 2 ? 0 : 0xFF; /* as data: 32768 bytes of ones */
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 70, 50);
        for (int nth = 1; nth <= (kinds[k].progressive ? 2 : 1); nth++) {
            const size_t lengths[] = {2, 8, 1000, MOST};
            for (int i = 0; i < 4; i++) {
                assert_int_equal(decode_with(&jpeg, nth, zeros, lengths[i], LAP_FAIL_TRUNCATED).code, LAP_OK);
                assert_int_equal(decode_with(&jpeg, nth, fill, lengths[i], LAP_FAIL_TRUNCATED).code, LAP_OK);
                assert_int_equal(decode_with(&jpeg, nth, ones, lengths[i], LAP_FAIL_TRUNCATED).code, LAP_OK);
            }
            outcome o = decode_with(&jpeg, nth, zeros, MOST + 8, LAP_FAIL_TRUNCATED);
            assert_int_equal(o.code, LAP_E_DAMAGED);
        }
        free(jpeg.data);
    }
}

static void it_can_be_let_through(void **state)
{
    (void)state;
    jpeg_bytes jpeg = jpeg_make(&kinds[0], 70, 50);
    uint8_t stray[100];
    memset(stray, 0x55, sizeof stray);
    outcome o = decode_with(&jpeg, 1, stray, 100, LAP_FAIL_NONE);
    assert_int_equal(o.code, LAP_OK);
    assert_int_equal(o.damage.warnings, 1);
    assert_true(o.damage.damaged);
    assert_non_null(strstr(o.damage.first, "100 bytes of data"));
    o = decode_with(&jpeg, 1, stray, 6, LAP_FAIL_TRUNCATED);
    assert_int_equal(o.code, LAP_OK);
    assert_false(o.damage.damaged);
    free(jpeg.data);
}

/* Data that ends early, in a hole and at the end of the file: libjpeg goes on with zeros, which are not left
 * over. */
static void missing_data_is_not_left_over(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        jpeg_bytes jpeg = jpeg_make(&kinds[k], 70, 50);
        uint8_t *bytes = malloc(jpeg.size);
        assert_non_null(bytes);
        int warned = 0;
        for (int nth = 1; nth <= (kinds[k].progressive || kinds[k].separate ? 3 : 1); nth++)
            for (size_t at = end_of_scan(&jpeg, nth), cut = 1; cut <= 60; cut++) {
                memcpy(bytes, jpeg.data, at - cut);
                memcpy(bytes + at - cut, jpeg.data + at, jpeg.size - at);
                const outcome hole = decode(bytes, jpeg.size - cut, LAP_FAIL_NONE);
                (void)decode(jpeg.data, at - cut, LAP_FAIL_NONE);
                warned += hole.code == LAP_OK && hole.damage.warnings > 0 &&
                          !strstr(hole.damage.first, "left over");
            }
        assert_true(k == ARITHMETIC || warned > 50);
        free(bytes);
        free(jpeg.data);
    }
}

/* ---- by overwriting photos ------------------------------------------------------------------------ */

static int foreign, stray_before_end; /* of one plain decode: other warnings, and the one in question */

static void on_message(j_common_ptr cinfo, int level)
{
    if (level >= 0)
        return;
    bool is_it = cinfo->err->msg_code == JWRN_EXTRANEOUS_DATA && cinfo->err->msg_parm.i[1] == JPEG_EOI;
    stray_before_end += is_it;
    foreign += !is_it;
}

/* Whether libjpeg by itself finds nothing but stray bytes before the end marker: what passed once. */
static bool passed_once(const uint8_t *bytes, size_t size)
{
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr error;
    c.err = jpeg_std_error(&error);
    error.emit_message = on_message;
    foreign = stray_before_end = 0;
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, bytes, size);
    jpeg_read_header(&c, TRUE);
    jpeg_start_decompress(&c);
    uint8_t *row = malloc((size_t)c.output_width * 3);
    while (c.output_scanline < c.output_height)
        jpeg_read_scanlines(&c, &row, 1);
    free(row);
    jpeg_finish_decompress(&c);
    jpeg_destroy_decompress(&c);
    return stray_before_end > 0 && foreign == 0;
}

static jpeg_bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    jpeg_bytes jpeg = {malloc(1 << 20), 0};
    jpeg.size = fread(jpeg.data, 1, 1 << 20, file);
    fclose(file);
    return jpeg;
}

static uint32_t random_bits(void)
{
    static uint32_t seed = 2026;
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Overwrites 16 bytes of the scan, and leaves no marker behind. */
static void overwrite(uint8_t *bytes, size_t begin, size_t end)
{
    size_t at = begin + 1 + random_bits() % (end - begin - 18);
    for (int i = 0; i < 16; i++)
        bytes[at + (size_t)i] = (uint8_t)(random_bits() % 255);
    bytes[at - 1] = bytes[at - 1] == 0xFF ? 0 : bytes[at - 1];
}

static void overwritten_photos_are_damaged(void **state)
{
    (void)state;
    static const char *const photos[] = {
        "samples/astronaut.jpg", "samples/chelsea.jpg", "samples/coffee.jpg"};
    for (int p = 0; p < 3; p++) {
        jpeg_bytes jpeg = read_file(photos[p]);
        assert_int_equal(decode(jpeg.data, jpeg.size, LAP_FAIL_WARNING).code, LAP_OK);
        uint8_t *bytes = malloc(jpeg.size);
        assert_non_null(bytes);
        size_t end = end_of_scan(&jpeg, 1), begin = end;
        while (!(jpeg.data[begin] == 0xFF && jpeg.data[begin + 1] == 0xDA))
            begin--;
        int variants = 0, silent = 0, tries = 0, refused = 0;
        for (; variants < 150; tries++) {
            memcpy(bytes, jpeg.data, jpeg.size);
            overwrite(bytes, begin + 14, end);
            lap_code code = decode(bytes, jpeg.size, LAP_FAIL_TRUNCATED).code;
            refused += code != LAP_OK;
            if (!passed_once(bytes, jpeg.size))
                continue;
            variants++;
            silent += code == LAP_OK;
        }
        print_message("# %s: of %d variants %d are refused; of 150 that end in stray bytes %d pass\n",
            photos[p], tries, refused, silent);
        free(bytes);
        free(jpeg.data);
        assert_true(silent <= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stray_byte_counts),
        cmocka_unit_test(arithmetic_scans_too),
        cmocka_unit_test(one_byte_is_warned_of_in_arithmetic_scans),
        cmocka_unit_test(padding_is_harmless),
        cmocka_unit_test(it_can_be_let_through),
        cmocka_unit_test(missing_data_is_not_left_over),
        cmocka_unit_test(overwritten_photos_are_damaged),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
