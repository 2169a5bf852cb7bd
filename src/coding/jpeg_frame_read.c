#include "coding/jpeg_frame_read.h"

#include <string.h>

enum { MAX_SIDE = 65500 }; /* libjpeg's limit */

typedef struct table { /* of a DHT segment */
    uint8_t bits[17], values[256];
    bool is_there;
} table;

typedef struct reader {
    lap_jpeg_frame *frame;
    table huffman[2][4]; /* DC, AC */
    uint16_t quant[4][64];
    bool has_quant[4], has_frame, has_jfif, has_adobe, is_ready;
    uint8_t adobe_transform, id[LAP_JPEG_COMPONENTS], quant_of[LAP_JPEG_COMPONENTS];
    /* progressive files only */
    lap_jpeg_script *script;                 /* NULL: sequential */
    bool has_scan[LAP_JPEG_COMPONENTS];      /* had a scan: its quantisers no longer change */
    int8_t missing[LAP_JPEG_COMPONENTS][64]; /* low bits of each coefficient not yet coded; -1: all bits */
} reader;

static unsigned be16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static bool read_quant(reader *r, const uint8_t *p, size_t size)
{
    while (size > 0) {
        const unsigned is_wide = p[0] >> 4, number = p[0] & 15;
        const size_t length = 1 + 64 * (size_t)(1 + is_wide);
        if (is_wide > 1 || number > 3 || size < length)
            return false;
        for (size_t k = 0; k < 64; k++) {
            r->quant[number][k] = (uint16_t)(is_wide ? be16(p + 1 + 2 * k) : p[1 + k]);
            if (r->quant[number][k] == 0)
                return false;
        }
        r->has_quant[number] = true;
        p += length;
        size -= length;
    }
    return true;
}

static bool read_huffman(reader *r, const uint8_t *p, size_t size)
{
    while (size > 0) {
        size_t count = 0;
        if (size < 17 || p[0] >> 4 > 1 || (p[0] & 15) > 3)
            return false;
        table *t = &r->huffman[p[0] >> 4][p[0] & 15];
        memset(t, 0, sizeof *t);
        for (int n = 1; n <= 16; n++) {
            t->bits[n] = p[n];
            count += p[n];
        }
        if (count > 256 || size < 17 + count)
            return false;
        memcpy(t->values, p + 17, count);
        t->is_there = true;
        p += 17 + count;
        size -= 17 + count;
    }
    return true;
}

static bool read_sof(reader *r, const uint8_t *p, size_t size)
{
    lap_jpeg_frame *f = r->frame;
    if (r->has_frame || size < 6 || p[0] != 8 || (p[5] != 1 && p[5] != 3 && p[5] != 4) ||
        size != 6 + 3 * (size_t)p[5])
        return false;
    f->height = (int)be16(p + 1);
    f->width = (int)be16(p + 3);
    f->components = p[5];
    for (int c = 0; c < f->components; c++) {
        const uint8_t *q = p + 6 + 3 * c;
        r->id[c] = q[0];
        f->sample_h[c] = q[1] >> 4;
        f->sample_v[c] = q[1] & 15;
        r->quant_of[c] = q[2];
        if (f->sample_h[c] < 1 || f->sample_h[c] > 4 || f->sample_v[c] < 1 || f->sample_v[c] > 4 || q[2] > 3)
            return false;
        for (int before = 0; before < c; before++)
            if (r->id[before] == r->id[c])
                return false;
    }
    r->has_frame = true;
    return f->width > 0 && f->height > 0 && f->width <= MAX_SIDE && f->height <= MAX_SIDE;
}

/* Finds the colour space that libjpeg would assume. False: libjpeg would warn. */
static bool find_colours(reader *r)
{
    lap_jpeg_frame *f = r->frame;
    const bool has_four = f->components == 4, is_rgb = memcmp(r->id, "RGB", 3) == 0;
    const unsigned transform = r->adobe_transform, ycc = has_four ? 2 : 1;
    if (f->components == 1)
        return true;
    f->is_inverted = has_four && r->has_adobe;
    if (!has_four && r->has_jfif)
        f->is_ycc = true;
    else if (r->has_adobe)
        f->is_ycc = transform == ycc;
    else
        f->is_ycc = !has_four && !is_rgb;
    return f->is_ycc || !r->has_adobe || transform == 0;
}

/* Returns false if a later scan would change the colour space that the first scan found. */
static bool keeps_colours(reader *r)
{
    const bool was_ycc = r->frame->is_ycc, was_inverted = r->frame->is_inverted;
    return find_colours(r) &&
           (r->script->count == 0 || (r->frame->is_ycc == was_ycc && r->frame->is_inverted == was_inverted));
}

static bool make_code(const reader *r, bool is_ac, unsigned number, lap_huff_code *code)
{
    const table *t = &r->huffman[is_ac][number & 3];
    return number <= 3 && t->is_there && lap_huff_make(t->bits, t->values, !is_ac, code) == LAP_HUFF_FINE;
}

/* Makes one of the layout's codes from a component's table. */
static bool add_code(reader *r, bool is_ac, unsigned number, uint8_t *index)
{
    *index = (uint8_t)(4 * is_ac + (number & 3));
    return make_code(r, is_ac, number, &r->frame->huffman.codes[*index]);
}

/* ---- the scan of a sequential file --------------------------------------------------------------- */

static bool read_sos(reader *r, const uint8_t *p, size_t size)
{
    lap_jpeg_frame *f = r->frame;
    lap_huff_layout *layout = &f->huffman;
    const int count = f->components;
    if (!r->has_frame || size != 4 + 2 * (size_t)count || p[0] != count || p[1 + 2 * count] != 0 ||
        p[2 + 2 * count] != 63 || p[3 + 2 * count] != 0 || !find_colours(r))
        return false;
    for (int c = 0; c < count; c++) {
        const uint8_t *q = p + 1 + 2 * c;
        const int blocks = count == 1 ? 1 : f->sample_h[c] * f->sample_v[c];
        uint8_t dc, ac;
        if (q[0] != r->id[c] || !r->has_quant[r->quant_of[c]] || !add_code(r, false, q[1] >> 4, &dc) ||
            !add_code(r, true, q[1] & 15, &ac) || !lap_huff_layout_add(layout, blocks, dc, ac))
            return false;
        memcpy(f->quant[c], r->quant[r->quant_of[c]], sizeof f->quant[c]);
    }
    r->is_ready = true;
    return true;
}

/* ---- a scan of a progressive file ---------------------------------------------------------------- */

/* A component keeps the quantisers in force at its first scan; later tables do not change them. */
static bool settle_quant(reader *r, int c)
{
    if (!r->has_quant[r->quant_of[c]])
        return false;
    if (!r->has_scan[c])
        memcpy(r->frame->quant[c], r->quant[r->quant_of[c]], sizeof r->frame->quant[c]);
    r->has_scan[c] = true;
    return true;
}

/* Every bit must be coded exactly once. A first scan must find no bits coded so far; a refinement must
 * continue at the bit where the scan before it ended. */
static bool take_bits(reader *r, int c, const lap_script_scan *scan)
{
    if (!lap_script_is_dc(scan) && r->missing[c][0] < 0)
        return false;
    for (int k = scan->first; k <= scan->last; k++) {
        if (r->missing[c][k] != (lap_script_refines(scan) ? scan->high : -1))
            return false;
        r->missing[c][k] = (int8_t)scan->low;
    }
    return true;
}

static bool is_band(const lap_script_scan *s)
{
    enum { LARGEST_LOW = 13 };
    const bool is_dc = s->first == 0 && s->last == 0;
    const bool is_ac = s->first > 0 && s->first <= s->last && s->last <= 63 && s->components == 1;
    return (is_dc || is_ac) && s->low <= LARGEST_LOW && (s->high == 0 || s->low + 1 == s->high);
}

/* Adds component i of the scan: its number in the frame and its tables. */
static bool add_component(reader *r, lap_script_scan *scan, int i, const uint8_t *p)
{
    int c = i > 0 ? scan->component[i - 1] + 1 : 0;
    const bool is_dc = lap_script_is_dc(scan);
    while (c < r->frame->components && r->id[c] != p[0])
        c++;
    if (c == r->frame->components)
        return false;
    scan->component[i] = (uint8_t)c;
    const bool has_code = !(is_dc && lap_script_refines(scan));
    return settle_quant(r, c) && take_bits(r, c, scan) &&
           (!has_code || make_code(r, !is_dc, is_dc ? p[1] >> 4 : p[1] & 15, &scan->codes[i]));
}

static bool read_script_sos(reader *r, const uint8_t *p, size_t size)
{
    lap_jpeg_script *script = r->script;
    if (!r->has_frame || script->count == LAP_SCRIPT_SCANS || size < 6 || p[0] < 1 ||
        p[0] > r->frame->components || size != 4 + 2 * (size_t)p[0] || !keeps_colours(r))
        return false;
    lap_script_scan *scan = &script->scans[script->count++];
    const uint8_t *q = p + 1 + 2 * p[0];
    scan->components = p[0];
    scan->first = q[0];
    scan->last = q[1];
    scan->high = q[2] >> 4;
    scan->low = q[2] & 15;
    scan->interval = r->frame->restart_interval;
    bool is_fine = is_band(scan);
    for (int i = 0; i < scan->components && is_fine; i++)
        is_fine = add_component(r, scan, i, p + 1 + 2 * i);
    return is_fine;
}

/* ---- segments ------------------------------------------------------------------------------------ */

static bool read_segment(reader *r, uint8_t marker, const uint8_t *p, size_t size)
{
    switch (marker) {
    case 0xC0:
    case 0xC1:
        return !r->script && read_sof(r, p, size);
    case 0xC2:
        return r->script && read_sof(r, p, size);
    case 0xC4:
        return read_huffman(r, p, size);
    case 0xDA:
        return r->script ? read_script_sos(r, p, size) : read_sos(r, p, size);
    case 0xDB:
        return read_quant(r, p, size);
    case 0xDD:
        r->frame->restart_interval = size == 2 ? (int)be16(p) : 0;
        return size == 2;
    case 0xE0:
        r->has_jfif |= size >= 14 && memcmp(p, "JFIF", 5) == 0;
        return true;
    case 0xEE:
        if (size >= 12 && memcmp(p, "Adobe", 5) == 0) {
            r->has_adobe = true;
            r->adobe_transform = p[11];
        }
        return true;
    default:
        return (marker & 0xF0) == 0xE0 || marker == 0xFE; /* APPn, COM */
    }
}

/* Reads the segment at *at, after any fill bytes, and moves *at after it. */
static bool next_segment(reader *r, const uint8_t *bytes, size_t size, size_t *at, uint8_t *marker)
{
    while (*at + 1 < size && bytes[*at] == 0xFF && bytes[*at + 1] == 0xFF)
        ++*at;
    if (size < 4 || *at > size - 4 || bytes[*at] != 0xFF)
        return false;
    const size_t length = be16(bytes + *at + 2); /* includes the two bytes of the length */
    *marker = bytes[*at + 1];
    if (length < 2 || length > size - *at - 2 || !read_segment(r, *marker, bytes + *at + 4, length - 2))
        return false;
    *at += 2 + length;
    return true;
}

static bool begins_image(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0xFF && bytes[1] == 0xD8;
}

bool lap_jpeg_frame_read(const uint8_t *bytes, size_t size, lap_jpeg_frame *frame)
{
    memset(frame, 0, sizeof *frame);
    reader r = {.frame = frame};
    size_t at = 2;
    uint8_t marker;
    if (!begins_image(bytes, size))
        return false;
    while (!r.is_ready)
        if (!next_segment(&r, bytes, size, &at, &marker))
            return false;
    frame->scan_begin = at;
    return true;
}

/* ---- all scans ----------------------------------------------------------------------------------- */

/* Returns the position of the marker that ends the data beginning at `at`, or size if there is none. */
static size_t end_of_data(const uint8_t *bytes, size_t size, size_t at)
{
    while (at < size) {
        const uint8_t *ff = memchr(bytes + at, 0xFF, size - at);
        at = ff ? (size_t)(ff - bytes) : size;
        if (size - at < 2)
            return size;
        const uint8_t next = bytes[at + 1];
        if (next != 0 && (next < 0xD0 || next > 0xD7)) /* neither stuffing nor a restart marker */
            return at;
        at += 2;
    }
    return size;
}

static bool is_complete(const reader *r)
{
    for (int c = 0; c < r->frame->components; c++)
        for (int k = 0; k < 64; k++)
            if (r->missing[c][k] != 0)
                return false;
    return true;
}

bool lap_jpeg_script_read(const uint8_t *bytes, size_t size, lap_jpeg_script *script)
{
    enum { MOST_BETWEEN = 1 << 20 }; /* most bytes of segments after the first scan, mainly tables */
    memset(script, 0, sizeof *script);
    reader r = {.frame = &script->frame, .script = script};
    size_t at = 2, between = 0;
    memset(r.missing, -1, sizeof r.missing);
    if (!begins_image(bytes, size))
        return false;
    for (bool is_end = false; !is_end;) {
        const size_t before = at;
        uint8_t marker;
        if (!next_segment(&r, bytes, size, &at, &marker))
            return false;
        between += script->count > 0 ? at - before : 0;
        if (marker != 0xDA)
            continue;
        lap_script_scan *scan = &script->scans[script->count - 1];
        scan->begin = at;
        at = scan->end = end_of_data(bytes, size, at);
        if (at == size || bytes[at + 1] == 0xFF || between > MOST_BETWEEN)
            return false;
        is_end = bytes[at + 1] == 0xD9;
    }
    script->frame.scan_begin = script->scans[0].begin;
    script->frame.restart_interval = 0;
    return is_complete(&r);
}
