#include "coding/jpeg_frame_read.h"

#include <string.h>

enum { MAX_SIDE = 65500 }; /* libjpeg's limit */

typedef struct table { /* of DHT; length 0: not there */
    uint8_t bits[17], values[256];
    bool is_there;
} table;

typedef struct reader {
    lap_jpeg_frame *frame;
    table huffman[2][4]; /* DC, AC */
    uint16_t quant[4][64];
    bool has_quant[4], has_frame, has_jfif, has_adobe, is_ready;
    uint8_t adobe_transform, id[3], quant_of[3];
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
    if (r->has_frame || size < 6 || p[0] != 8 || (p[5] != 1 && p[5] != 3) || size != 6 + 3 * (size_t)p[5])
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

/* As libjpeg takes three components: YCbCr, unless something says otherwise. */
static bool is_ycc(const reader *r)
{
    if (r->has_jfif)
        return true;
    if (r->has_adobe)
        return r->adobe_transform == 1;
    return r->id[0] != 'R' || r->id[1] != 'G' || r->id[2] != 'B';
}

/* A component's table becomes one of the layout's codes. */
static bool add_code(reader *r, bool is_ac, unsigned number, uint8_t *index)
{
    const table *t = &r->huffman[is_ac][number & 3];
    *index = (uint8_t)(4 * is_ac + (number & 3));
    return number <= 3 && t->is_there &&
           lap_huff_make(t->bits, t->values, !is_ac, &r->frame->huffman.codes[*index]) == LAP_HUFF_FINE;
}

static bool read_sos(reader *r, const uint8_t *p, size_t size)
{
    lap_jpeg_frame *f = r->frame;
    lap_huff_layout *layout = &f->huffman;
    const int count = f->components;
    if (!r->has_frame || size != 4 + 2 * (size_t)count || p[0] != count || p[1 + 2 * count] != 0 ||
        p[2 + 2 * count] != 63 || p[3 + 2 * count] != 0 || (count == 3 && !is_ycc(r)))
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

static bool read_segment(reader *r, uint8_t marker, const uint8_t *p, size_t size)
{
    switch (marker) {
    case 0xC0:
    case 0xC1:
        return read_sof(r, p, size);
    case 0xC4:
        return read_huffman(r, p, size);
    case 0xDA:
        return read_sos(r, p, size);
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

bool lap_jpeg_frame_read(const uint8_t *bytes, size_t size, lap_jpeg_frame *frame)
{
    memset(frame, 0, sizeof *frame);
    reader r = {.frame = frame};
    size_t at = 2;
    if (size < 2 || bytes[0] != 0xFF || bytes[1] != 0xD8)
        return false;
    while (!r.is_ready) {
        while (at + 1 < size && bytes[at] == 0xFF && bytes[at + 1] == 0xFF) /* fill bytes */
            at++;
        if (size < 4 || at > size - 4 || bytes[at] != 0xFF)
            return false;
        const size_t length = be16(bytes + at + 2); /* counts itself */
        if (length < 2 || length > size - at - 2 ||
            !read_segment(&r, bytes[at + 1], bytes + at + 4, length - 2))
            return false;
        at += 2 + length;
    }
    frame->scan_begin = at;
    return true;
}
