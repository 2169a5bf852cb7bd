#include "libjpeg/jpeg_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"

/* Marker codes, T.81 table B.1 (low bytes). */
enum {
    M_SOF0 = 0xC0,
    M_DHT = 0xC4,
    M_JPG = 0xC8,
    M_DAC = 0xCC,
    M_RST0 = 0xD0,
    M_RST7 = 0xD7,
    M_SOI = 0xD8,
    M_EOI = 0xD9,
    M_SOS = 0xDA,
    M_DQT = 0xDB,
    M_DNL = 0xDC,
    M_DRI = 0xDD,
    M_DHP = 0xDE,
    M_EXP = 0xDF,
    M_APP0 = 0xE0,
    M_APP1 = 0xE1,
    M_APP2 = 0xE2,
    M_APP13 = 0xED,
    M_APP15 = 0xEF,
    M_SOF48 = 0xF7,
    M_COM = 0xFE,
    M_TEM = 0x01
};

typedef struct segment {
    uint8_t marker;
    const uint8_t *data; /* after the length field */
    size_t size, offset;
} segment;

static unsigned be16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

bool lap_jpeg_probe(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0xFF && bytes[1] == M_SOI;
}

static bool begins(const segment *s, const char *text, size_t length)
{
    return s->size >= length && memcmp(s->data, text, length) == 0;
}

/* A signature ends with a zero byte, which sizeof counts in a string literal. */
#define BEGINS(segment, literal) begins(segment, literal, sizeof literal)

static bool is_worth_keeping(const segment *s)
{
    switch (s->marker) {
    case M_APP1:
        return begins(s, "Exif\0\0", 6) || BEGINS(s, "http://ns.adobe.com/xap/1.0/") ||
               BEGINS(s, "http://ns.adobe.com/xmp/extension/");
    case M_APP2: /* not MPF: its offsets into the other images would be wrong */
        return BEGINS(s, "ICC_PROFILE");
    case M_APP13:
        return BEGINS(s, "Photoshop 3.0");
    default:
        return s->marker == M_COM;
    }
}

static lap_code keep(lap_jpeg_scan *scan, const segment *s, lap_error *err)
{
    size_t n = scan->span_count;
    lap_jpeg_span *spans = lap_grow(scan->spans, &scan->span_room, n + 1, sizeof *spans);
    if (!spans)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    scan->spans = spans;
    scan->spans[n] = (lap_jpeg_span){.marker = s->marker, .offset = s->offset, .size = s->size};
    scan->span_count = n + 1;
    scan->kept_bytes += s->size;
    return LAP_OK;
}

/* Refuses the kinds of frames that lapedge never decodes, with a message that names them. */
static lap_code frame_kind(uint8_t marker, lap_error *err)
{
    switch (marker - M_SOF0) {
    case 0: /* baseline, extended, progressive; extended and progressive with arithmetic coding */
    case 1:
    case 2:
    case 9:
    case 10:
        return LAP_OK;
    case 3:
    case 11:
        return lap_fail(err, LAP_E_UNSUPPORTED, "lossless JPEG (SOF%d) is not supported", marker - M_SOF0);
    default:
        return lap_fail(
            err, LAP_E_UNSUPPORTED, "hierarchical JPEG (SOF%d) is not supported", marker - M_SOF0);
    }
}

static lap_code frame_sampling(lap_jpeg_scan *scan, const uint8_t *p, lap_error *err)
{
    int max_h = 1, max_v = 1;
    for (int i = 0; i < scan->components; i++, p += 3) {
        int h = p[1] >> 4, v = p[1] & 15;
        if (h < 1 || h > 4 || v < 1 || v > 4)
            return lap_fail(err, LAP_E_DAMAGED, "sampling factors %dx%d are invalid", h, v);
        scan->sample_h[i] = h;
        scan->sample_v[i] = v;
        max_h = h > max_h ? h : max_h;
        max_v = v > max_v ? v : max_v;
    }
    for (int i = 0; i < scan->components; i++)
        if (max_h % scan->sample_h[i] || max_v % scan->sample_v[i])
            return lap_fail(err, LAP_E_UNSUPPORTED,
                "component %d has %dx%d samples where another has %dx%d: fractions are not supported", i + 1,
                scan->sample_h[i], scan->sample_v[i], max_h, max_v);
    return LAP_OK;
}

static lap_code frame(lap_jpeg_scan *scan, const segment *s, lap_error *err)
{
    lap_code code = frame_kind(s->marker, err);
    if (code != LAP_OK)
        return code;
    if (scan->sof)
        return lap_fail(err, LAP_E_DAMAGED, "two frame headers");
    if (s->size < 6 || s->size != 6 + 3 * (size_t)s->data[5])
        return lap_fail(err, LAP_E_DAMAGED, "the frame header's length is wrong");
    int precision = s->data[0];
    if (precision != 8)
        return lap_fail(err, precision >= 2 && precision <= 16 ? LAP_E_UNSUPPORTED : LAP_E_DAMAGED,
            "%d bits per sample are not supported, only 8", precision);
    scan->sof = s->marker;
    scan->height = (int)be16(s->data + 1);
    scan->width = (int)be16(s->data + 3);
    scan->components = s->data[5];
    if (scan->width == 0 || scan->components == 0)
        return lap_fail(
            err, LAP_E_DAMAGED, "%s is 0", scan->width ? "the number of components" : "the width");
    if (scan->height == 0)
        return lap_fail(
            err, LAP_E_UNSUPPORTED, "the height is given only after the picture (DNL): not supported");
    if (scan->width > LAP_JPEG_MAX_SIDE || scan->height > LAP_JPEG_MAX_SIDE)
        return lap_fail(err, LAP_E_LIMIT, "%dx%d pixels, and a side may have at most %d", scan->width,
            scan->height, LAP_JPEG_MAX_SIDE);
    if (scan->components != 1 && scan->components != 3 && scan->components != 4)
        return lap_fail(
            err, LAP_E_UNSUPPORTED, "%d components: only 1, 3 and 4 are supported", scan->components);
    return frame_sampling(scan, s->data + 6, err);
}

static lap_code first_scan(lap_jpeg_scan *scan, const segment *s, lap_error *err)
{
    if (!scan->sof)
        return lap_fail(err, LAP_E_DAMAGED, "a scan comes before the frame header");
    if (s->size < 1 || s->data[0] < 1 || s->data[0] > scan->components ||
        s->size != 4 + 2 * (size_t)s->data[0])
        return lap_fail(err, LAP_E_DAMAGED, "the scan header is invalid");
    scan->scan_components = s->data[0];
    scan->done = true;
    return LAP_OK;
}

static lap_code take(lap_jpeg_scan *scan, const segment *s, lap_error *err)
{
    if (s->marker == M_SOS)
        return first_scan(scan, s, err);
    if (s->marker == M_DHP || s->marker == M_EXP)
        return lap_fail(err, LAP_E_UNSUPPORTED, "hierarchical JPEG is not supported");
    if (s->marker == M_DHT || s->marker == M_DAC || s->marker == M_DQT || s->marker == M_DNL)
        return LAP_OK;
    if (s->marker >= M_SOF0 && s->marker <= 0xCF && s->marker != M_JPG)
        return frame(scan, s, err);
    if (s->marker == M_DRI) {
        if (s->size != 2)
            return lap_fail(err, LAP_E_DAMAGED, "the restart segment's length is wrong");
        scan->restart_interval = (int)be16(s->data);
        return LAP_OK;
    }
    if (s->marker == M_SOF48)
        return lap_fail(err, LAP_E_UNSUPPORTED, "JPEG-LS is not supported");
    if ((s->marker >= M_APP0 && s->marker <= M_APP15) || s->marker == M_COM)
        return is_worth_keeping(s) ? keep(scan, s, err) : LAP_OK;
    return lap_fail(err, LAP_E_DAMAGED, "unknown marker 0x%02x in the header", s->marker);
}

static lap_code more(const lap_jpeg_scan *scan, size_t end, bool at_end, size_t *need, lap_error *err)
{
    if (scan->stray > LAP_JPEG_MAX_STRAY || end > LAP_JPEG_MAX_HEADER)
        return lap_fail(err, LAP_E_LIMIT, "%zu MB of header without a picture",
            scan->stray > LAP_JPEG_MAX_STRAY ? LAP_JPEG_MAX_STRAY >> 20 : LAP_JPEG_MAX_HEADER >> 20);
    if (at_end)
        return lap_fail(err, LAP_E_TRUNCATED, "data ends inside the header");
    *need = end;
    return LAP_OK;
}

static bool stands_alone(uint8_t marker)
{
    return (marker >= M_RST0 && marker <= M_RST7) || marker == M_TEM;
}

/* Skips to the next marker, as libjpeg does, and counts the skipped bytes as stray. False: no marker before
 * the data ends. */
static bool find_marker(lap_jpeg_scan *scan, const uint8_t *bytes, size_t size, uint8_t *marker)
{
    size_t i = scan->position;
    while (i + 1 < size && (bytes[i] != 0xFF || bytes[i + 1] == 0xFF || bytes[i + 1] == 0))
        i++;
    scan->stray += i - scan->position;
    scan->position = i;
    if (i + 1 >= size)
        return false;
    *marker = bytes[i + 1];
    return true;
}

lap_code lap_jpeg_scan_header(
    lap_jpeg_scan *scan, const uint8_t *bytes, size_t size, bool at_end, size_t *need, lap_error *err)
{
    if (scan->position == 0) {
        if (size >= 2 && !lap_jpeg_probe(bytes, size))
            return lap_fail(err, LAP_E_NOT_IMAGE, "not a JPEG");
        if (size < 2)
            return more(scan, 2, at_end, need, err);
        scan->position = 2;
    }
    while (!scan->done) {
        uint8_t marker = 0;
        if (!find_marker(scan, bytes, size, &marker) || scan->stray > LAP_JPEG_MAX_STRAY)
            return more(scan, size + 1, at_end, need, err);
        if (++scan->markers > LAP_JPEG_MAX_MARKERS)
            return lap_fail(err, LAP_E_LIMIT, "more than %d segments in the header", LAP_JPEG_MAX_MARKERS);
        if (marker == M_SOI)
            return lap_fail(err, LAP_E_DAMAGED, "a second start marker inside the header");
        if (marker == M_EOI)
            return lap_fail(err, LAP_E_DAMAGED, "the end marker comes before any picture");
        if (stands_alone(marker)) {
            scan->position += 2;
            continue;
        }
        size_t begin = scan->position + 2; /* of the length field; the length includes the field */
        size_t end = begin + 2;
        size_t length = size >= end ? be16(bytes + begin) : 0;
        if (size >= end && length < 2)
            return lap_fail(err, LAP_E_DAMAGED, "a segment's length is wrong");
        if (size >= end)
            end = begin + length;
        if (size < end) {
            scan->markers--; /* the next call reads it again */
            return more(scan, end, at_end, need, err);
        }
        segment s = {.marker = marker, .data = bytes + begin + 2, .size = length - 2, .offset = begin + 2};
        lap_code code = take(scan, &s, err);
        if (code != LAP_OK)
            return code;
        scan->position = end;
        if (end > LAP_JPEG_MAX_HEADER)
            return more(scan, end, at_end, need, err);
    }
    return LAP_OK;
}

/* ---- the whole file ---------------------------------------------------------------------------- */

/* Counts the tables in a segment. Each is a byte with kind and number, and data whose size depends on the
 * kind. */
static int tables_in(uint8_t marker, const uint8_t *data, size_t size)
{
    int count = 0;
    for (size_t at = 0; at < size; count++) {
        size_t length = 1;
        if (marker == M_DQT)
            length += data[at] >> 4 ? 128 : 64;
        else if (size - at >= 17)
            for (int i = 1; i <= 16; i++)
                length += data[at + (size_t)i] + (size_t)(i == 1) * 16;
        else
            break;
        if (length > size - at)
            break;
        at += length;
    }
    return count;
}

/* Returns the position of the next marker from `at` on; stuffing and restart markers are skipped. Returns
 * size if there is no marker. */
static size_t next_marker(const uint8_t *bytes, size_t size, size_t at)
{
    for (; at + 1 < size; at++)
        if (bytes[at] == 0xFF && bytes[at + 1] != 0 && bytes[at + 1] != 0xFF &&
            (bytes[at + 1] < M_RST0 || bytes[at + 1] > M_RST7))
            return at;
    return size;
}

lap_jpeg_census lap_jpeg_count(const uint8_t *bytes, size_t size)
{
    lap_jpeg_census all = {0};
    size_t at = next_marker(bytes, size, 2);
    while (at + 3 < size && bytes[at + 1] != M_EOI) {
        const uint8_t marker = bytes[at + 1];
        const size_t length = be16(bytes + at + 2);
        if (length < 2 || length > size - at - 2)
            break;
        if (marker == M_DQT)
            all.quantization_tables += tables_in(marker, bytes + at + 4, length - 2);
        if (marker == M_DHT)
            all.huffman_tables += tables_in(marker, bytes + at + 4, length - 2);
        all.scans += marker == M_SOS;
        at = next_marker(bytes, size, at + 2 + length);
    }
    if (at + 1 < size && bytes[at + 1] == M_EOI)
        all.end = at + 2;
    return all;
}
