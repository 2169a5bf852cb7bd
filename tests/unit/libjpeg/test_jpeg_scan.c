#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libjpeg/jpeg_scan.h"
#include "tests/support/edge.h"

/* A JPEG's header, put together segment by segment. */
typedef struct header {
    uint8_t *bytes;
    size_t size, capacity;
} header;

static void add(header *h, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    if (h->size + size > h->capacity) {
        h->capacity = 2 * (h->size + size);
        h->bytes = realloc(h->bytes, h->capacity);
        assert_non_null(h->bytes);
    }
    memcpy(h->bytes + h->size, bytes, size);
    h->size += size;
}

static header begin(void)
{
    header h = {NULL, 0, 0};
    add(&h, "\xFF\xD8", 2);
    return h;
}

static void segment(header *h, uint8_t marker, const void *data, size_t size)
{
    uint8_t head[] = {0xFF, marker, (uint8_t)((size + 2) >> 8), (uint8_t)(size + 2)};
    add(h, head, sizeof head);
    add(h, data, size);
}

static void frame(
    header *h, uint8_t marker, int precision, int width, int height, int components, int sampling)
{
    uint8_t data[6 + 3 * 255] = {(uint8_t)precision, (uint8_t)(height >> 8), (uint8_t)height,
        (uint8_t)(width >> 8), (uint8_t)width, (uint8_t)components};
    for (int i = 0; i < components; i++) {
        data[6 + 3 * i] = (uint8_t)(i + 1);
        data[7 + 3 * i] = i == 0 ? (uint8_t)sampling : 0x11;
    }
    segment(h, marker, data, 6 + 3 * (size_t)components);
}

static void scan_of(header *h, int components)
{
    uint8_t data[4 + 2 * 4] = {(uint8_t)components};
    segment(h, 0xDA, data, 4 + 2 * (size_t)components);
}

/* Runs the scan over growing beginnings, each before a page that may not be read. */
static lap_code run(const header *h, lap_jpeg_scan *scan, lap_error *err)
{
    lap_code code = LAP_OK;
    size_t need = 1;
    memset(scan, 0, sizeof *scan);
    while (code == LAP_OK && !scan->done) {
        bool at_end = need > h->size;
        size_t size = at_end ? h->size : need;
        size_t before = need;
        code = lap_jpeg_scan_header(scan, at_edge(h->bytes, size), size, at_end, &need, err);
        if (code == LAP_OK && !scan->done)
            assert_true(!at_end && need > before);
    }
    return code;
}

static void expect(header *h, lap_code expected, const char *word)
{
    lap_jpeg_scan scan;
    lap_error err = {0};
    assert_int_equal(run(h, &scan, &err), expected);
    if (word && !strstr(err.message, word))
        fail_msg("\"%s\" does not say \"%s\"", err.message, word);
    free(scan.spans);
    free(h->bytes);
}

static void facts_are_read(void **state)
{
    (void)state;
    lap_jpeg_scan scan;
    header h = begin();
    segment(&h, 0xE0, "JFIF\0\1\1\0\0\1\0\1\0", 14);
    segment(&h, 0xE1, "Exif\0\0MM", 8);
    segment(&h, 0xE1, "http://ns.adobe.com/xap/1.0/\0<x>", 32);
    segment(&h, 0xE1, "something else", 14);
    segment(&h, 0xE2, "MPF\0abc", 7);
    segment(&h, 0xE2, "ICC_PROFILE\0\1\1", 14);
    segment(&h, 0xED, "Photoshop 3.0\0x", 15);
    segment(&h, 0xFE, "a comment", 9);
    segment(&h, 0xFE, "", 0);
    add(&h, "stray\xFF\xFF\xFF", 8);
    segment(&h, 0xDD, "\x01\x02", 2);
    frame(&h, 0xC2, 8, 640, 480, 3, 0x42);
    scan_of(&h, 1);
    assert_int_equal(run(&h, &scan, NULL), LAP_OK);
    assert_int_equal(scan.sof, 0xC2);
    assert_int_equal(scan.width, 640);
    assert_int_equal(scan.height, 480);
    assert_int_equal(scan.components, 3);
    assert_int_equal(scan.sample_h[0], 4);
    assert_int_equal(scan.sample_v[0], 2);
    assert_int_equal(scan.sample_h[2], 1);
    assert_int_equal(scan.scan_components, 1);
    assert_int_equal(scan.restart_interval, 0x102);
    assert_int_equal(scan.position, h.size);
    static const uint8_t kept[] = {0xE1, 0xE1, 0xE2, 0xED, 0xFE, 0xFE};
    static const size_t sizes[] = {8, 32, 14, 15, 9, 0};
    assert_int_equal(scan.span_count, sizeof kept);
    for (size_t i = 0; i < sizeof kept; i++) {
        assert_int_equal(scan.spans[i].marker, kept[i]);
        assert_int_equal(scan.spans[i].size, sizes[i]);
    }
    assert_memory_equal(h.bytes + scan.spans[4].offset, "a comment", 9);
    assert_int_equal(scan.kept_bytes, 8 + 32 + 14 + 15 + 9);
    free(scan.spans);
    free(h.bytes);
}

/* Markers without a length may stand between segments. */
static void markers_alone_are_passed_over(void **state)
{
    (void)state;
    lap_jpeg_scan scan;
    header h = begin();
    add(&h, "\xFF\x01\xFF\xD0\xFF\xD7", 6); /* TEM, the first restart and the last */
    frame(&h, 0xC0, 8, 16, 9, 3, 0x22);
    add(&h, "\xFF\xD3", 2);
    scan_of(&h, 3);
    assert_int_equal(run(&h, &scan, NULL), LAP_OK);
    assert_int_equal(scan.height, 9);
    assert_int_equal(scan.position, h.size);
    assert_int_equal(scan.stray, 0);
    free(scan.spans);
    free(h.bytes);
}

static void frame_is(uint8_t marker, int precision, int width, int height, int components, int sampling,
    lap_code expected, const char *word)
{
    header h = begin();
    frame(&h, marker, precision, width, height, components, sampling);
    if (components <= 4 && components > 0)
        scan_of(&h, components);
    expect(&h, expected, word);
}

static void kinds_are_refused_by_name(void **state)
{
    (void)state;
    static const uint8_t accepted[] = {0xC0, 0xC1, 0xC2, 0xC9, 0xCA};
    static const uint8_t hierarchical[] = {0xC5, 0xC6, 0xC7, 0xCD, 0xCE, 0xCF};
    for (size_t i = 0; i < sizeof accepted; i++)
        frame_is(accepted[i], 8, 16, 16, 3, 0x22, LAP_OK, NULL);
    for (size_t i = 0; i < sizeof hierarchical; i++)
        frame_is(hierarchical[i], 8, 16, 16, 3, 0x22, LAP_E_UNSUPPORTED, "hierarchical");
    frame_is(0xC3, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "lossless");
    frame_is(0xCB, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "lossless");
    frame_is(0xDE, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "hierarchical");
    frame_is(0xF7, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "JPEG-LS");
    frame_is(0xC1, 12, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "12 bits");
    frame_is(0xC0, 77, 16, 16, 3, 0x11, LAP_E_DAMAGED, "77 bits");
    frame_is(0xC0, 8, 0, 16, 3, 0x11, LAP_E_DAMAGED, "width");
    frame_is(0xC0, 8, 16, 0, 3, 0x11, LAP_E_UNSUPPORTED, "DNL");
    frame_is(0xC0, 8, 65500, 65500, 3, 0x11, LAP_OK, NULL);
    frame_is(0xC0, 8, 65501, 16, 3, 0x11, LAP_E_LIMIT, "65501");
    frame_is(0xC0, 8, 16, 65535, 3, 0x11, LAP_E_LIMIT, "65535");
    frame_is(0xC0, 8, 16, 16, 0, 0x11, LAP_E_DAMAGED, "components");
    frame_is(0xC0, 8, 16, 16, 2, 0x11, LAP_E_UNSUPPORTED, "2 components");
    frame_is(0xC0, 8, 16, 16, 5, 0x11, LAP_E_UNSUPPORTED, "5 components");
    frame_is(0xC0, 8, 16, 16, 255, 0x11, LAP_E_UNSUPPORTED, "255 components");
    frame_is(0xC0, 8, 16, 16, 3, 0x01, LAP_E_DAMAGED, "0x1");
    frame_is(0xC0, 8, 16, 16, 3, 0x15, LAP_E_DAMAGED, "1x5");
    frame_is(0xC0, 8, 16, 16, 3, 0x44, LAP_OK, NULL);
}

static void broken_headers_are_told_apart(void **state)
{
    (void)state;
    header h = {NULL, 0, 0};
    add(&h, "\x89PNG", 4);
    expect(&h, LAP_E_NOT_IMAGE, "not a JPEG");
    h = begin();
    expect(&h, LAP_E_TRUNCATED, "header");
    h = begin();
    add(&h, "\xFF\xD9", 2);
    expect(&h, LAP_E_DAMAGED, "end marker");
    h = begin();
    add(&h, "\xFF\xD8", 2);
    expect(&h, LAP_E_DAMAGED, "second start");
    h = begin();
    add(&h, "\xFF\xE0\0\1", 4);
    expect(&h, LAP_E_DAMAGED, "length");
    h = begin();
    add(&h, "\xFF\xFD\0\2", 4);
    expect(&h, LAP_E_DAMAGED, "0xfd");
    h = begin();
    scan_of(&h, 1);
    expect(&h, LAP_E_DAMAGED, "before the frame");
    h = begin();
    frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
    frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
    expect(&h, LAP_E_DAMAGED, "two frame");
    h = begin();
    segment(&h, 0xC0, "\x08\0\x10\0\x10\x03\1\x11\0", 9);
    expect(&h, LAP_E_DAMAGED, "length");
    h = begin();
    segment(&h, 0xC0, "\x08\0", 2);
    expect(&h, LAP_E_DAMAGED, "length");
    h = begin();
    frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
    segment(&h, 0xDA, "\x04\1\0\2\0\3\0\4\0\0\x3F\0", 12);
    expect(&h, LAP_E_DAMAGED, "scan header");
    h = begin();
    segment(&h, 0xDD, "\1", 1);
    expect(&h, LAP_E_DAMAGED, "restart");
    h = begin();
    uint8_t data[] = {8, 0, 16, 0, 16, 3, 1, 0x32, 0, 2, 0x21, 0, 3, 0x11, 0};
    segment(&h, 0xC0, data, sizeof data);
    expect(&h, LAP_E_UNSUPPORTED, "fractions");
}

static void each_cut_is_truncated(void **state)
{
    (void)state;
    header h = begin();
    segment(&h, 0xE1, "Exif\0\0MM", 8);
    segment(&h, 0xDB, "0123456789", 10);
    frame(&h, 0xC0, 8, 16, 16, 3, 0x22);
    scan_of(&h, 3);
    for (size_t size = 0; size < h.size; size++) {
        header cut = {NULL, 0, 0};
        add(&cut, h.bytes, size);
        expect(&cut, LAP_E_TRUNCATED, "header");
    }
    expect(&h, LAP_OK, NULL);
}

static void floods_are_limited(void **state)
{
    (void)state;
    header h = begin();
    for (int i = 0; i < LAP_JPEG_MAX_MARKERS + 1; i++)
        segment(&h, 0xFE, "x", 1);
    expect(&h, LAP_E_LIMIT, "4096");

    h = begin();
    h.capacity = h.size + LAP_JPEG_MAX_STRAY + 16;
    h.bytes = realloc(h.bytes, h.capacity);
    memset(h.bytes + h.size, 0xFF, LAP_JPEG_MAX_STRAY + 16);
    h.size = h.capacity;
    lap_jpeg_scan scan = {.sof = 0};
    size_t need = 0;
    assert_int_equal(lap_jpeg_scan_header(&scan, h.bytes, h.size, false, &need, NULL), LAP_E_LIMIT);

    static uint8_t large[65533];
    header full = begin();
    for (size_t n = 0; n <= LAP_JPEG_MAX_HEADER / sizeof large; n++)
        segment(&full, 0xE5, large, sizeof large);
    memset(&scan, 0, sizeof scan);
    assert_int_equal(lap_jpeg_scan_header(&scan, full.bytes, full.size, false, &need, NULL), LAP_E_LIMIT);
    free(full.bytes);
    free(h.bytes);
}

/* Two tables of each kind, two scans, and nothing more however the file is cut. */
static void tables_and_scans_are_counted(void **state)
{
    (void)state;
    static uint8_t tables[2 * 129] = {0, [65] = 0x10}; /* of 8 bits, and of 16 */
    static uint8_t codes[2 * 18] = {0x00, 1, [18] = 0x10, 1};
    header h = begin();
    segment(&h, 0xDB, tables, 65 + 129);
    segment(&h, 0xC4, codes, sizeof codes);
    const size_t before = h.size;
    for (int i = 0; i < 2; i++) {
        scan_of(&h, 1);
        add(&h, "\x12\xFF\0\x34\xFF\xD0\x56\xFF", 8); /* a restart marker, and a fill byte */
    }
    add(&h, "\xFF\xD9\xFF\xDA\0\2", 6); /* what follows the end does not count */
    int last = 0;
    for (size_t size = 0; size <= h.size; size++) {
        const lap_jpeg_census all = lap_jpeg_count(at_edge(h.bytes, size), size);
        const int count = 100 * all.quantization_tables + 10 * all.huffman_tables + all.scans;
        assert_true(count >= last);
        assert_int_equal(all.end, size >= h.size - 4 ? h.size - 4 : 0);
        assert_true(size < before || count >= 220);
        assert_false(lap_jpeg_probe(at_edge(h.bytes, size), size) && size < 2);
        last = count;
    }
    assert_int_equal(last, 222);
    free(h.bytes);
    /* A table that its segment cuts does not count. */
    for (size_t size = 0; size <= sizeof tables; size++) {
        h = begin();
        segment(&h, 0xDB, tables, size);
        const lap_jpeg_census all = lap_jpeg_count(at_edge(h.bytes, h.size), h.size);
        assert_int_equal(all.quantization_tables, (size >= 65) + (size >= 65 + 129));
        free(h.bytes);
    }
    for (size_t size = 0; size <= sizeof codes; size++) {
        h = begin();
        segment(&h, 0xC4, codes, size);
        const lap_jpeg_census all = lap_jpeg_count(at_edge(h.bytes, h.size), h.size);
        assert_int_equal(all.huffman_tables, size / 18);
        free(h.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_read),
        cmocka_unit_test(markers_alone_are_passed_over),
        cmocka_unit_test(kinds_are_refused_by_name),
        cmocka_unit_test(broken_headers_are_told_apart),
        cmocka_unit_test(each_cut_is_truncated),
        cmocka_unit_test(floods_are_limited),
        cmocka_unit_test(tables_and_scans_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
