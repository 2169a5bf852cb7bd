#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

static void expect(header *h, lap_code expected, const char *message)
{
    lap_jpeg_scan scan;
    lap_error err = {0};
    assert_int_equal(run(h, &scan, &err), expected);
    assert_string_equal(err.message, message ? message : "");
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
    lap_code expected, const char *message)
{
    header h = begin();
    frame(&h, marker, precision, width, height, components, sampling);
    if (components <= 4 && components > 0)
        scan_of(&h, components);
    expect(&h, expected, message);
}

static void kinds_are_refused_by_name(void **state)
{
    (void)state;
    static const uint8_t accepted[] = {0xC0, 0xC1, 0xC2, 0xC9, 0xCA};
    static const uint8_t hierarchical[] = {0xC5, 0xC6, 0xC7, 0xCD, 0xCE, 0xCF};
    for (size_t i = 0; i < sizeof accepted; i++)
        frame_is(accepted[i], 8, 16, 16, 3, 0x22, LAP_OK, NULL);
    for (size_t i = 0; i < sizeof hierarchical; i++) {
        char said[80];
        snprintf(said, sizeof said, "hierarchical JPEG (SOF%d) is not supported", hierarchical[i] - 0xC0);
        frame_is(hierarchical[i], 8, 16, 16, 3, 0x22, LAP_E_UNSUPPORTED, said);
    }
    frame_is(0xC3, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "lossless JPEG (SOF3) is not supported");
    frame_is(0xCB, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "lossless JPEG (SOF11) is not supported");
    frame_is(0xDE, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "hierarchical JPEG is not supported");
    frame_is(0xDF, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "hierarchical JPEG is not supported");
    frame_is(0xF7, 8, 16, 16, 3, 0x11, LAP_E_UNSUPPORTED, "JPEG-LS is not supported");
    frame_is(0xC0, 8, 0, 16, 3, 0x11, LAP_E_DAMAGED, "the width is 0");
    frame_is(0xC0, 8, 16, 0, 3, 0x11, LAP_E_UNSUPPORTED,
        "the height is given only after the picture (DNL): not supported");
    frame_is(0xC0, 8, 65500, 65500, 3, 0x11, LAP_OK, NULL);
    frame_is(0xC0, 8, 65501, 16, 3, 0x11, LAP_E_LIMIT, "65501x16 pixels, and a side may have at most 65500");
    frame_is(0xC0, 8, 16, 65501, 3, 0x11, LAP_E_LIMIT, "16x65501 pixels, and a side may have at most 65500");
    frame_is(0xC0, 8, 1, 1, 3, 0x11, LAP_OK, NULL);
    frame_is(0xC0, 8, 16, 16, 0, 0x11, LAP_E_DAMAGED, "the number of components is 0");
    static const int components[] = {1, 2, 3, 4, 5, 255};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        char said[80];
        const bool is_known = components[i] == 1 || components[i] == 3 || components[i] == 4;
        snprintf(said, sizeof said, "%d components: only 1, 3 and 4 are supported", components[i]);
        frame_is(0xC0, 8, 16, 16, components[i], 0x11, is_known ? LAP_OK : LAP_E_UNSUPPORTED,
            is_known ? NULL : said);
    }
}

/* 8 bits are decoded; other numbers that T.81 knows are not supported, and the rest is damage. */
static void precisions_have_limits(void **state)
{
    (void)state;
    for (int bits = 0; bits < 256; bits++) {
        char said[80];
        snprintf(said, sizeof said, "%d bits per sample are not supported, only 8", bits);
        frame_is(0xC1, bits, 16, 16, 3, 0x11,
            bits == 8                 ? LAP_OK
            : bits >= 2 && bits <= 16 ? LAP_E_UNSUPPORTED
                                      : LAP_E_DAMAGED,
            bits == 8 ? NULL : said);
    }
}

/* Each pair of factors of the first component, beside one of 1x1 and one of 2x1. */
static void sampling_factors_have_limits(void **state)
{
    (void)state;
    for (int hv = 0; hv < 256; hv++) {
        char said[120];
        const int h = hv >> 4, v = hv & 15;
        const bool is_valid = h >= 1 && h <= 4 && v >= 1 && v <= 4;
        snprintf(said, sizeof said, "sampling factors %dx%d are invalid", h, v);
        frame_is(0xC0, 8, 16, 16, 3, hv, is_valid ? LAP_OK : LAP_E_DAMAGED, is_valid ? NULL : said);
        if (!is_valid)
            continue;
        const uint8_t data[] = {8, 0, 16, 0, 16, 3, 1, 0x11, 0, 2, (uint8_t)hv, 0, 3, 0x22, 0};
        const int most_h = h > 2 ? h : 2, most_v = v > 2 ? v : 2;
        const bool is_first_of_both = most_h % h || most_v % v, is_odd = h == 3 || v == 3;
        header one = begin();
        segment(&one, 0xC0, data, sizeof data);
        scan_of(&one, 3);
        snprintf(said, sizeof said,
            "component %d has %dx%d samples where another has %dx%d: fractions are not supported",
            is_first_of_both ? 2 : 3, is_first_of_both ? h : 2, is_first_of_both ? v : 2, most_h, most_v);
        expect(&one, is_odd ? LAP_E_UNSUPPORTED : LAP_OK, is_odd ? said : NULL);
    }
}

static void restart_intervals_are_read(void **state)
{
    (void)state;
    for (size_t size = 0; size < 5; size++) {
        header h = begin();
        segment(&h, 0xDD, "\xAB\xCD\xEF\x12", size);
        frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
        scan_of(&h, 3);
        lap_jpeg_scan scan;
        lap_error err = {0};
        assert_int_equal(run(&h, &scan, &err), size == 2 ? LAP_OK : LAP_E_DAMAGED);
        assert_int_equal(scan.restart_interval, size == 2 ? 0xABCD : 0);
        assert_string_equal(err.message, size == 2 ? "" : "the restart segment's length is wrong");
        free(scan.spans);
        free(h.bytes);
    }
}

/* Every marker before the frame header, with a segment that only a restart interval may have. */
static void each_marker_has_its_answer(void **state)
{
    (void)state;
    for (int marker = 1; marker < 0xFF; marker++) {
        char said[80] = "";
        lap_code code = LAP_E_DAMAGED;
        header h = begin();
        segment(&h, (uint8_t)marker, "\1\2", 2);
        frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
        scan_of(&h, 3);
        if (marker >= 0xE0 && marker <= 0xEF)
            code = LAP_OK;
        else
            switch (marker) {
            case 0x01: /* alone: what follows it is stray */
            case 0xD0:
            case 0xD1:
            case 0xD2:
            case 0xD3:
            case 0xD4:
            case 0xD5:
            case 0xD6:
            case 0xD7:
            case 0xC4:
            case 0xCC:
            case 0xDB:
            case 0xDC:
            case 0xDD:
            case 0xFE:
                code = LAP_OK;
                break;
            case 0xC0:
            case 0xC1:
            case 0xC2:
            case 0xC9:
            case 0xCA:
                strcpy(said, "the frame header's length is wrong");
                break;
            case 0xC3:
            case 0xCB:
                code = LAP_E_UNSUPPORTED;
                snprintf(said, sizeof said, "lossless JPEG (SOF%d) is not supported", marker - 0xC0);
                break;
            case 0xC5:
            case 0xC6:
            case 0xC7:
            case 0xCD:
            case 0xCE:
            case 0xCF:
                code = LAP_E_UNSUPPORTED;
                snprintf(said, sizeof said, "hierarchical JPEG (SOF%d) is not supported", marker - 0xC0);
                break;
            case 0xDE:
            case 0xDF:
                code = LAP_E_UNSUPPORTED;
                strcpy(said, "hierarchical JPEG is not supported");
                break;
            case 0xF7:
                code = LAP_E_UNSUPPORTED;
                strcpy(said, "JPEG-LS is not supported");
                break;
            case 0xD8:
                strcpy(said, "a second start marker inside the header");
                break;
            case 0xD9:
                strcpy(said, "the end marker comes before any picture");
                break;
            case 0xDA:
                strcpy(said, "a scan comes before the frame header");
                break;
            default:
                snprintf(said, sizeof said, "unknown marker 0x%02x in the header", (unsigned)marker);
            }
        expect(&h, code, said);
    }
}

static void scan_headers_have_limits(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 14; size++)
        for (int count = 0; count <= 5; count++) {
            const uint8_t data[14] = {(uint8_t)count};
            const bool is_valid = count >= 1 && count <= 3 && size == 4 + 2 * (size_t)count;
            header h = begin();
            frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
            segment(&h, 0xDA, data, size);
            expect(&h, is_valid ? LAP_OK : LAP_E_DAMAGED, is_valid ? NULL : "the scan header is invalid");
        }
}

static void frame_headers_have_one_length(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 20; size++) {
        const uint8_t data[20] = {8, 0, 16, 0, 16, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11};
        header h = begin();
        segment(&h, 0xC0, data, size);
        scan_of(&h, 3);
        expect(&h, size == 15 ? LAP_OK : LAP_E_DAMAGED,
            size == 15 ? NULL : "the frame header's length is wrong");
    }
}

static void broken_headers_are_told_apart(void **state)
{
    (void)state;
    header h = {NULL, 0, 0};
    add(&h, "\x89PNG", 4);
    expect(&h, LAP_E_NOT_IMAGE, "not a JPEG");
    h = begin();
    h.bytes[1] = 0xD9;
    expect(&h, LAP_E_NOT_IMAGE, "not a JPEG");
    h = begin();
    expect(&h, LAP_E_TRUNCATED, "data ends inside the header");
    h = begin();
    frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
    frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
    expect(&h, LAP_E_DAMAGED, "two frame headers");
    for (uint8_t length = 0; length < 2; length++) {
        h = begin();
        add(&h, (uint8_t[]){0xFF, 0xE0, 0, length}, 4);
        expect(&h, LAP_E_DAMAGED, "a segment's length is wrong");
    }
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
        expect(&cut, LAP_E_TRUNCATED, "data ends inside the header");
    }
    expect(&h, LAP_OK, NULL);
}

static void flood_is(header *h, lap_code expected, const char *message)
{
    lap_jpeg_scan scan = {.sof = 0};
    lap_error err = {0};
    size_t need = 0;
    assert_int_equal(lap_jpeg_scan_header(&scan, h->bytes, h->size, false, &need, &err), expected);
    assert_string_equal(err.message, message);
    assert_int_equal(need, 0);
    if (expected == LAP_OK) { /* without its end it asks for the rest, to the limit itself */
        memset(&scan, 0, sizeof scan);
        assert_int_equal(lap_jpeg_scan_header(&scan, h->bytes, h->size - 1, false, &need, &err), LAP_OK);
        assert_false(scan.done);
        assert_int_equal(need, h->size);
    }
    free(scan.spans);
    free(h->bytes);
}

static void floods_are_limited(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        header h = begin();
        for (int i = 2; i < LAP_JPEG_MAX_MARKERS + more; i++) /* and the frame and the scan */
            segment(&h, 0xE5, "x", 1);
        frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
        scan_of(&h, 3);
        flood_is(&h, more ? LAP_E_LIMIT : LAP_OK, more ? "more than 4096 segments in the header" : "");

        static uint8_t stray[LAP_JPEG_MAX_STRAY + 1];
        h = begin();
        add(&h, stray, LAP_JPEG_MAX_STRAY + (size_t)more);
        frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
        scan_of(&h, 3);
        flood_is(&h, more ? LAP_E_LIMIT : LAP_OK, more ? "1 MB of header without a picture" : "");

        /* The first scan's header ends at the limit, or one byte behind it. */
        static uint8_t large[65533];
        h = begin();
        const size_t end = LAP_JPEG_MAX_HEADER + (size_t)more, last = (4 + 15) + (4 + 10);
        while (h.size + 4 + sizeof large + 4 + last <= end)
            segment(&h, 0xE5, large, sizeof large);
        segment(&h, 0xE5, large, end - last - 4 - h.size);
        frame(&h, 0xC0, 8, 16, 16, 3, 0x11);
        scan_of(&h, 3);
        assert_int_equal(h.size, end);
        flood_is(&h, more ? LAP_E_LIMIT : LAP_OK, more ? "64 MB of header without a picture" : "");
    }
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
        cmocka_unit_test(precisions_have_limits),
        cmocka_unit_test(sampling_factors_have_limits),
        cmocka_unit_test(restart_intervals_are_read),
        cmocka_unit_test(each_marker_has_its_answer),
        cmocka_unit_test(scan_headers_have_limits),
        cmocka_unit_test(frame_headers_have_one_length),
        cmocka_unit_test(broken_headers_are_told_apart),
        cmocka_unit_test(each_cut_is_truncated),
        cmocka_unit_test(floods_are_limited),
        cmocka_unit_test(tables_and_scans_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
