/* The header reader of decoders that do not go through libjpeg: what it takes, and that it leaves the rest
 * alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coding/jpeg_frame_read.h"
#include "tests/support/edge.h"
#include "tests/support/jpeg_make.h"

static const jpeg_kind ordinary = {
    .name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .restart = 5};

static bool takes(const jpeg_kind *kind, lap_jpeg_frame *frame)
{
    jpeg_bytes jpeg = jpeg_make(kind, 50, 35);
    const bool taken = lap_jpeg_frame_read(jpeg.data, jpeg.size, frame);
    free(jpeg.data);
    return taken;
}

static void test_ordinary(void **state)
{
    (void)state;
    lap_jpeg_frame f;
    jpeg_bytes jpeg = jpeg_make(&ordinary, 50, 35);
    assert_true(lap_jpeg_frame_read(jpeg.data, jpeg.size, &f));
    assert_int_equal(f.width, 50);
    assert_int_equal(f.height, 35);
    assert_int_equal(f.components, 3);
    assert_int_equal(f.sample_h[0] * 10 + f.sample_v[0], 22);
    assert_int_equal(f.sample_h[2] * 10 + f.sample_v[2], 11);
    assert_int_equal(f.restart_interval, 5);
    assert_int_equal(f.huffman.blocks, 6);
    assert_int_equal(f.huffman.component[3], 0);
    assert_int_equal(f.huffman.component[5], 2);
    assert_int_equal(f.quant[0][0], 5); /* the table of T.81, K.1, at quality 85: (16 * 30 + 50) / 100 */
    assert_int_equal(f.quant[1][0], 5);
    assert_true(f.huffman.codes[f.huffman.dc[1]].is_dc);
    assert_false(f.huffman.codes[f.huffman.ac[1]].is_dc);
    assert_int_equal(
        jpeg.data[f.scan_begin - 13], 0xDA); /* 2 + 10 bytes behind: length, 3 components, band */
    /* A header that is cut anywhere before its last byte is refused. */
    for (size_t size = 0; size < f.scan_begin; size++) {
        lap_jpeg_frame cut;
        assert_false(lap_jpeg_frame_read(at_edge(jpeg.data, size), size, &cut));
    }
    assert_true(lap_jpeg_frame_read(jpeg.data, (size_t)f.scan_begin, &f));
    free(jpeg.data);
}

static void test_kinds(void **state)
{
    (void)state;
    lap_jpeg_frame f;
    assert_true(takes(&(jpeg_kind){"gray", 1, JCS_GRAYSCALE, "11", .restart = 0}, &f));
    assert_int_equal(f.huffman.blocks, 1);
    assert_true(takes(&(jpeg_kind){"gray 2x2", 1, JCS_GRAYSCALE, "22", .restart = 0}, &f));
    assert_int_equal(f.huffman.blocks, 1); /* a scan of one component has a block an MCU */
    assert_true(takes(&(jpeg_kind){"4:4:0", 3, JCS_YCbCr, "12 11 11", .restart = 0}, &f));
    assert_false(takes(&(jpeg_kind){"progressive", 3, JCS_YCbCr, "22 11 11", .progressive = true}, &f));
    assert_false(takes(&(jpeg_kind){"arithmetic", 3, JCS_YCbCr, "22 11 11", .arithmetic = true}, &f));
    assert_false(takes(&(jpeg_kind){"a scan each", 3, JCS_YCbCr, "22 11 11", .separate = true}, &f));
}

/* The colours of whole headers. */
static void test_inks(void **state)
{
    (void)state;
    lap_jpeg_frame f;
    assert_true(takes(&(jpeg_kind){"RGB", 3, JCS_RGB, "11 11 11", .restart = 0}, &f));
    assert_false(f.is_ycc || f.is_inverted);
    assert_true(takes(&(jpeg_kind){"RGB by names", 3, JCS_RGB, "11 11 11", .no_adobe = true}, &f));
    assert_false(f.is_ycc || f.is_inverted);
    assert_true(takes(&(jpeg_kind){"CMYK", 4, JCS_CMYK, "11 11 11 11", .restart = 0}, &f));
    assert_true(!f.is_ycc && f.is_inverted);
    assert_int_equal(f.huffman.components, 4);
    assert_true(takes(&(jpeg_kind){"CMYK", 4, JCS_CMYK, "11 11 11 11", .no_adobe = true}, &f));
    assert_false(f.is_ycc || f.is_inverted);
    assert_true(takes(&(jpeg_kind){"YCCK", 4, JCS_YCCK, "22 11 11 22", .restart = 0}, &f));
    assert_true(f.is_ycc && f.is_inverted);
    assert_int_equal(f.huffman.blocks, 10);
}

/* The segment with this marker, from its 0xFF on. */
static uint8_t *segment(const jpeg_bytes *jpeg, uint8_t marker)
{
    for (size_t at = 2; at + 4 <= jpeg->size;
         at += 2 + ((size_t)jpeg->data[at + 2] << 8 | jpeg->data[at + 3]))
        if (jpeg->data[at + 1] == marker)
            return jpeg->data + at;
    fail_msg("no marker %02x", marker);
    return NULL;
}

/* Changes a byte of a segment; whether the header is still taken. */
static bool taken_with(uint8_t marker, size_t offset, uint8_t value)
{
    lap_jpeg_frame f;
    jpeg_bytes jpeg = jpeg_make(&ordinary, 50, 35);
    segment(&jpeg, marker)[offset] = value;
    const bool taken = lap_jpeg_frame_read(jpeg.data, jpeg.size, &f);
    free(jpeg.data);
    return taken;
}

static void test_odd_segments(void **state)
{
    (void)state;
    assert_true(taken_with(0xC0, 1, 0xC1));  /* extended sequential */
    assert_false(taken_with(0xC0, 1, 0xC2)); /* frame of another kind */
    assert_false(taken_with(0xC0, 4, 12));   /* bits a sample */
    assert_false(taken_with(0xC0, 6, 0));    /* height 0: DNL would say */
    assert_false(taken_with(0xC0, 13, 1));   /* two components of one name */
    assert_false(taken_with(0xC0, 14, 0));   /* sampling */
    assert_false(taken_with(0xC0, 15, 3));   /* a quantiser that is not there */
    assert_false(taken_with(0xDA, 5, 2));    /* components in another order */
    assert_false(taken_with(0xDA, 6, 0x22)); /* a Huffman table that is not there */
    assert_false(taken_with(0xDA, 11, 1));   /* a band that begins late */
    assert_false(taken_with(0xDA, 13, 1));   /* approximation */
    assert_false(taken_with(0xDB, 7, 0));    /* a quantiser of 0 */
    assert_false(taken_with(0xDB, 4, 0x20)); /* of 24 bits */
    assert_false(taken_with(0xC4, 5, 2));    /* two codes of one bit: one is all ones */
    assert_false(taken_with(0xDD, 3, 5));    /* an interval of another length */
    assert_false(taken_with(0xE0, 0, 0xFE)); /* no marker where one should be */
    assert_false(taken_with(0xE0, 1, 0xDC)); /* a marker that headers do not have */
}

/* Without JFIF's segment three components are YCbCr, unless Adobe's segment or their names say otherwise. */
static void test_colour(void **state)
{
    (void)state;
    static const struct {
        int transform; /* of Adobe's segment; -1: there is none */
        const char *names;
        bool taken, is_ycc;
    } cases[] = {{-1, "\1\2\3", true, true}, {-1, "RGB", true, false}, {-1, "RGX", true, true},
        {0, "\1\2\3", true, false}, {1, "\1\2\3", true, true}, {1, "RGB", true, true},
        {2, "\1\2\3", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_jpeg_frame f;
        jpeg_bytes jpeg = jpeg_make(&ordinary, 50, 35);
        uint8_t *first = segment(&jpeg, 0xE0); /* 14 bytes: Adobe's has 12, and may have more */
        memcpy(first + 4, "Adobe\0\0\0\0\0\0", 11);
        first[1] = cases[i].transform < 0 ? 0xEC : 0xEE;
        first[15] = (uint8_t)cases[i].transform;
        for (int c = 0; c < 3; c++) {
            segment(&jpeg, 0xC0)[10 + 3 * c] = (uint8_t)cases[i].names[c];
            segment(&jpeg, 0xDA)[5 + 2 * c] = (uint8_t)cases[i].names[c];
        }
        if (lap_jpeg_frame_read(jpeg.data, jpeg.size, &f) != cases[i].taken ||
            (cases[i].taken && f.is_ycc != cases[i].is_ycc))
            fail_msg("case %zu", i);
        free(jpeg.data);
    }
}

/* Any number of bytes 0xFF may stand in front of a marker. */
static void test_fill_bytes(void **state)
{
    (void)state;
    jpeg_bytes jpeg = jpeg_make(&ordinary, 50, 35);
    uint8_t *filled = malloc(jpeg.size + 3);
    const size_t at = (size_t)(segment(&jpeg, 0xC0) - jpeg.data);
    lap_jpeg_frame plain, f;
    memcpy(filled, jpeg.data, at);
    memset(filled + at, 0xFF, 3);
    memcpy(filled + at + 3, jpeg.data + at, jpeg.size - at);
    assert_true(lap_jpeg_frame_read(jpeg.data, jpeg.size, &plain));
    assert_true(lap_jpeg_frame_read(filled, jpeg.size + 3, &f));
    assert_int_equal(f.scan_begin, plain.scan_begin + 3);
    assert_int_equal(f.width, plain.width);
    free(filled);
    free(jpeg.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ordinary), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_inks), cmocka_unit_test(test_odd_segments), cmocka_unit_test(test_colour),
        cmocka_unit_test(test_fill_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
