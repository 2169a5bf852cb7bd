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

/* ---- headers that encoders seldom write ----------------------------------------------------------- */

typedef struct header { /* all of it: each member is a byte or more of the file */
    int width, height, components, h, v;
    const char *names;     /* of the components */
    int quant, is_wide;    /* number of the table; 16 bits a value */
    int dc, ac;            /* numbers of the tables */
    int codes[2];          /* AC codes of 15 and of 16 bits */
    int extra, extra_size; /* a segment before the frame: its marker, 0: none; bytes of `body` */
    const char *body;
} header;

static const header plain = {64, 48, 3, 2, 2, "\1\2\3", 0, 0, 0, 0, {1, 2}, 0, 0, ""};

static size_t put(uint8_t *to, uint8_t marker, const uint8_t *body, size_t size)
{
    const uint8_t head[4] = {0xFF, marker, (uint8_t)((size + 2) >> 8), (uint8_t)(size + 2)};
    memcpy(to, head, sizeof head);
    memcpy(to + 4, body, size);
    return size + 4;
}

static bool is_taken(const header *h, lap_jpeg_frame *frame)
{
    static uint8_t bytes[4000], body[600];
    size_t at = 2, n = 0;
    memcpy(bytes, "\xFF\xD8", 2);
    if (h->extra)
        at += put(bytes + at, (uint8_t)h->extra, (const uint8_t *)h->body, (size_t)h->extra_size);
    body[n++] = (uint8_t)(h->is_wide << 4 | h->quant);
    for (int k = 0; k < 64; k++) { /* 1 + k, and in 16 bits 257 + k */
        if (h->is_wide)
            body[n++] = 1;
        body[n++] = (uint8_t)(1 + k);
    }
    at += put(bytes + at, 0xDB, body, n);
    memset(body, 0, sizeof body); /* a DC and an AC table in one segment */
    body[0] = (uint8_t)h->dc;
    body[1] = 1; /* one code of one bit: symbol 0 */
    body[18] = (uint8_t)(0x10 | h->ac);
    body[18 + 15] = (uint8_t)h->codes[0];
    body[18 + 16] = (uint8_t)h->codes[1];
    at += put(bytes + at, 0xC4, body, 18 + 17 + (size_t)(h->codes[0] + h->codes[1]));
    const uint8_t frame_body[] = {8, (uint8_t)(h->height >> 8), (uint8_t)h->height, (uint8_t)(h->width >> 8),
        (uint8_t)h->width, (uint8_t)h->components};
    memcpy(body, frame_body, n = sizeof frame_body);
    for (int c = 0; c < h->components; c++) {
        body[n++] = (uint8_t)h->names[c];
        body[n++] = c ? 0x11 : (uint8_t)(h->h << 4 | h->v);
        body[n++] = (uint8_t)h->quant;
    }
    at += put(bytes + at, 0xC0, body, n);
    body[0] = (uint8_t)h->components;
    n = 1;
    for (int c = 0; c < h->components; c++) {
        body[n++] = (uint8_t)h->names[c];
        body[n++] = (uint8_t)(h->dc << 4 | h->ac);
    }
    memcpy(body + n, "\0\77\0", 3);
    at += put(bytes + at, 0xDA, body, n + 3);
    const bool taken = lap_jpeg_frame_read(at_edge(bytes, at), at, frame);
    if (taken)
        assert_int_equal(frame->scan_begin, at);
    return taken;
}

static void test_numbers_of_tables(void **state)
{
    lap_jpeg_frame f;
    (void)state;
    for (int i = 0; i < 3 * 5 * 5 * 5; i++) {
        header h = plain;
        h.is_wide = i % 3;
        h.quant = i / 3 % 5;
        h.dc = i / 15 % 5;
        h.ac = i / 75;
        assert_int_equal(is_taken(&h, &f), h.is_wide < 2 && h.quant < 4 && h.dc < 4 && h.ac < 4);
        for (int k = 0; k < 64 && h.is_wide < 2 && h.quant < 4 && h.dc < 4 && h.ac < 4; k++)
            assert_int_equal(f.quant[2][k], 256 * h.is_wide + 1 + k);
    }
}

static void test_sides_and_sampling(void **state)
{
    static const int sides[] = {0, 1, 2, 65500, 65501, 65535};
    lap_jpeg_frame f;
    (void)state;
    for (int i = 0; i < 36; i++) {
        header h = plain;
        h.width = sides[i % 6];
        h.height = sides[i / 6];
        const bool fits = h.width > 0 && h.height > 0 && h.width <= 65500 && h.height <= 65500;
        assert_int_equal(is_taken(&h, &f), fits);
        if (fits)
            assert_true(f.width == h.width && f.height == h.height);
        h = plain;
        h.components = 1 + i % 2 * 2;
        h.h = i % 6;
        h.v = i / 6;
        /* Of three components, an MCU has at most ten blocks; one component has one. */
        const bool is_there = h.h >= 1 && h.h <= 4 && h.v >= 1 && h.v <= 4;
        assert_int_equal(is_taken(&h, &f), is_there && (h.components == 1 || h.h * h.v + 2 <= 10));
    }
    for (int components = 0; components <= 5; components++) {
        header h = plain;
        h.components = components;
        h.names = "\1\2\3\4\5";
        assert_int_equal(is_taken(&h, &f), components == 1 || components == 3 || components == 4);
    }
}

static void test_numbers_of_codes(void **state)
{
    lap_jpeg_frame f;
    (void)state;
    for (int few = 0; few < 4; few++) {
        header h = plain;
        h.codes[0] = few;
        h.codes[1] = 255;
        assert_int_equal(is_taken(&h, &f), few + 255 <= 256);
    }
}

/* Segments that headers may have, with any content; and with what length a known one counts. */
static void test_other_segments(void **state)
{
    static const char jfif[] = "JFIF\0\1\1\0\0\1\0\1\0\0\0", adobe[] = "Adobe\0\144\0\0\0\0\0\0\0";
    static const struct {
        const char *body, *names;
        int marker, size;
        bool is_ycc;
    } cases[] = {{jfif, "RGB", 0xE0, 14, true}, {jfif, "RGB", 0xE0, 13, false},
        {jfif, "RGB", 0xE1, 14, false}, {"JFIX\0\1\1\0\0\1\0\1\0\0", "RGB", 0xE0, 14, false},
        {adobe, "\1\2\3", 0xEE, 12, false}, {adobe, "\1\2\3", 0xEE, 13, false},
        {adobe, "\1\2\3", 0xEE, 11, true}, {adobe, "\1\2\3", 0xED, 12, true},
        {"adobe\0\144\0\0\0\0\0", "\1\2\3", 0xEE, 12, true}};
    lap_jpeg_frame f;
    (void)state;
    for (int marker = 1; marker < 0xFF; marker++) {
        header h = plain;
        h.extra = marker;
        h.extra_size = 3;
        h.body = "abc";
        assert_int_equal(is_taken(&h, &f), (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE);
        h.extra_size = 0; /* tables of nothing */
        assert_int_equal(is_taken(&h, &f),
            (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE || marker == 0xDB || marker == 0xC4);
    }
    for (int size = 0; size <= 132; size++) { /* whole tables only, also such without codes */
        char codes[132] = {0x13}, quantisers[132];
        header h = plain;
        h.extra_size = size;
        h.extra = 0xC4;
        h.body = codes;
        assert_int_equal(is_taken(&h, &f), size % 17 == 0);
        h.extra = 0xDB;
        h.body = memset(quantisers, 1, sizeof quantisers);
        assert_int_equal(is_taken(&h, &f), size % 65 == 0);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        header h = plain;
        h.extra = cases[i].marker;
        h.extra_size = cases[i].size;
        h.body = cases[i].body;
        h.names = cases[i].names;
        assert_true(is_taken(&h, &f));
        if (f.is_ycc != cases[i].is_ycc)
            fail_msg("case %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ordinary), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_inks), cmocka_unit_test(test_odd_segments), cmocka_unit_test(test_colour),
        cmocka_unit_test(test_fill_bytes), cmocka_unit_test(test_numbers_of_tables),
        cmocka_unit_test(test_sides_and_sampling), cmocka_unit_test(test_numbers_of_codes),
        cmocka_unit_test(test_other_segments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
