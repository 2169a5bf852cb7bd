#include "codec/resources.h"

#include <string.h>

#include "codec/xmp.h"

enum {
    RESOLUTION = 0x03ED,
    IPTC = 0x0404,
    THUMBNAIL_OLD = 0x0409,
    COPYRIGHT = 0x040A,
    URL = 0x040B,
    THUMBNAIL = 0x040C,
    EXIF_1 = 0x0422,
    EXIF_3 = 0x0423,
    XMP = 0x0424,
    PREVIEW = 202,   /* data set of record 2 with a small copy of the picture */
    DATA_SET = 0x1C, /* first byte of each data set */
    DATA_HEAD = 5
};

/* A block: "8BIM", a number, a name of even length (its first byte is the length), four bytes of size, data
 * of even length. */
typedef struct block {
    int number;
    const uint8_t *data;
    size_t size, whole;
} block;

static uint32_t big_endian(const uint8_t *p, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | p[i];
    return value;
}

static bool read_block(const uint8_t *p, size_t left, block *b)
{
    if (left < 12 || memcmp(p, "8BIM", 4) != 0)
        return false;
    const size_t name = ((size_t)p[6] + 2) / 2 * 2, head = 6 + name + 4;
    if (left < head)
        return false;
    b->number = (int)big_endian(p + 4, 2);
    b->size = big_endian(p + head - 4, 4);
    b->data = p + head;
    const size_t padded = b->size + b->size % 2;
    b->whole = head + padded;
    return padded <= left - head;
}

bool lap_resources_is(const uint8_t *payload, size_t size)
{
    return size >= LAP_RESOURCES_HEAD && memcmp(payload, LAP_RESOURCES_NAME, LAP_RESOURCES_HEAD) == 0;
}

bool lap_resources_are_whole(const uint8_t *blocks, size_t size)
{
    block b;
    size_t at = 0;
    while (at < size && read_block(blocks + at, size - at, &b))
        at += b.whole;
    return at == size;
}

static bool holds_jpeg(const uint8_t *data, size_t size)
{
    return memmem(data, size, "\xFF\xD8\xFF", 3) != NULL;
}

/* Whether EXIF contains the tag of a maker's note in either byte order. */
static bool may_hold_makers_note(const uint8_t *data, size_t size)
{
    return memmem(data, size, "\x92\x7C", 2) || memmem(data, size, "\x7C\x92", 2);
}

static void tell(lap_meta_drops *drops, const char *where, int tag, size_t bytes, const char *reason)
{
    lap_meta_drop(
        drops, &(lap_dropped){
                   .kind = "IPTC", .where = where, .name = "", .tag = tag, .bytes = bytes, .reason = reason});
}

/* ---- IPTC ---------------------------------------------------------------------------------------- */

typedef struct data_set {
    int record, number;
    size_t size, whole; /* size of its value; size with its header */
    const uint8_t *value;
} data_set;

static bool read_data_set(const uint8_t *p, size_t left, data_set *s)
{
    if (left < DATA_HEAD || p[0] != DATA_SET)
        return false;
    size_t head = DATA_HEAD, size = big_endian(p + 3, 2);
    if (size & 0x8000) { /* an extended length follows */
        const size_t bytes = size & 0x7FFF;
        if (bytes > 4 || left - head < bytes)
            return false;
        size = big_endian(p + head, (int)bytes);
        head += bytes;
    }
    *s = (data_set){p[1], p[2], size, head + size, p + head};
    return size <= left - head;
}

static bool is_among(int number, const uint8_t *list, size_t count)
{
    return memchr(list, number, count) != NULL;
}

/* Returns why a data set is dropped; NULL: it is kept. */
static const char *why(const data_set *s, unsigned keep)
{
    static const uint8_t envelope[] = {0, 20, 22, 30, 40, 50, 60, 70, 80, 90, 100};
    static const uint8_t places[] = {26, 27, 90, 92, 95, 100, 101};
    static const uint8_t known[] = {0, 3, 4, 5, 7, 8, 10, 12, 15, 20, 22, 25, 30, 35, 37, 38, 40, 42, 45, 47,
        50, 55, 60, 62, 63, 65, 70, 75, 80, 85, 103, 105, 110, 115, 116, 118, 120, 121, 122, 130, 131, 135};
    if ((s->record == 2 && s->number >= 200 && s->number <= PREVIEW) || s->record == 8 ||
        holds_jpeg(s->value, s->size))
        return "thumbnail";
    if (!(keep & LAP_KEEP_LISTED))
        return NULL;
    if (s->record == 2 && is_among(s->number, places, sizeof places))
        return keep & LAP_KEEP_GPS ? NULL : "location";
    const bool is_known = (s->record == 1 && is_among(s->number, envelope, sizeof envelope)) ||
                          (s->record == 2 && is_among(s->number, known, sizeof known));
    return is_known ? NULL : "unknown data set";
}

/* Copies the data sets that are kept; returns their size. */
static size_t clean_iptc(const block *b, unsigned keep, uint8_t *to, lap_meta_drops *drops)
{
    data_set s;
    size_t at = 0, size = 0;
    for (; read_data_set(b->data + at, b->size - at, &s); at += s.whole) {
        const char *reason = why(&s, keep);
        if (reason) {
            tell(drops, "IPTC", s.record << 8 | s.number, s.size, reason);
            continue;
        }
        memcpy(to + size, b->data + at, s.whole);
        size += s.whole;
    }
    const size_t rest = b->size - at;
    if (!(keep & LAP_KEEP_LISTED) && !holds_jpeg(b->data + at, rest)) {
        memcpy(to + size, b->data + at, rest);
        return size + rest;
    }
    bool blank = true;
    for (size_t i = at; i < b->size; i++)
        blank = blank && b->data[i] == 0;
    if (!blank) {
        tell(drops, "IPTC", -1, rest, "broken");
        lap_meta_warn(drops, "IPTC ends in %zu bytes that cannot be read and are left out", rest);
    }
    return size;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

enum { HEAD = 12 }; /* size of a block's head with an empty name */

static void put_head(uint8_t *to, int number, size_t size)
{
    memcpy(to, "8BIM", 4);
    to[4] = (uint8_t)(number >> 8);
    to[5] = (uint8_t)number;
    to[6] = to[7] = 0; /* empty name */
    for (int i = 0; i < 4; i++)
        to[8 + i] = (uint8_t)(size >> (24 - 8 * i));
}

/* Completes a block whose cleaned data is behind the place of its head. Without a list, a block that lost
 * nothing keeps its name, too. Returns the size of what is kept. */
static size_t finish_block(const uint8_t *p, const block *b, unsigned keep, size_t size, uint8_t *to)
{
    if (!(keep & LAP_KEEP_LISTED) && size == b->size) {
        memcpy(to, p, b->whole);
        return b->whole;
    }
    put_head(to, b->number, size);
    if (size % 2)
        to[HEAD + size] = 0;
    return HEAD + size + size % 2;
}

/* Removes thumbnails from XMP. False: it may contain one, and cannot be read. */
static bool clean_xmp(const block *b, uint8_t *to, size_t *size, lap_meta_drops *drops)
{
    const lap_xmp_cleaning cleaning = {.rule = LAP_XMP_PICTURES, .extended = true, .drops = drops};
    *size = b->size;
    if (!lap_xmp_has_picture(b->data, b->size) || lap_xmp_clean(b->data, b->size, &cleaning, to, size))
        return true;
    tell(drops, "Photoshop", XMP, b->size, "cannot be read");
    lap_meta_warn(drops,
        "XMP in Photoshop's resources is left out: it may contain a thumbnail, and is too unusual to check");
    return false;
}

/* Cleans one block; returns the size of what is kept. */
static size_t clean_block(const uint8_t *p, const block *b, unsigned keep, uint8_t *to, lap_meta_drops *drops)
{
    const bool is_listed = keep & LAP_KEEP_LISTED;
    const bool is_known = b->number == RESOLUTION || b->number == COPYRIGHT || b->number == URL;
    const bool is_picture =
        b->number == THUMBNAIL || b->number == THUMBNAIL_OLD || holds_jpeg(b->data, b->size);
    size_t size = b->size;
    if (b->number == IPTC) {
        size = clean_iptc(b, keep, to + HEAD, drops);
        return size > 0 || (b->size == 0 && !is_listed) ? finish_block(p, b, keep, size, to) : 0;
    }
    if (is_picture || (is_listed && !is_known)) {
        tell(drops, "Photoshop", b->number, b->size, is_picture ? "thumbnail" : "unknown resource");
        return 0;
    }
    if ((b->number == EXIF_1 || b->number == EXIF_3) && may_hold_makers_note(b->data, b->size)) {
        tell(drops, "Photoshop", b->number, b->size, "may contain a maker's note");
        lap_meta_warn(drops, "EXIF in Photoshop's resources is left out: it may contain a maker's note");
        return 0;
    }
    if (b->number == XMP)
        return clean_xmp(b, to + HEAD, &size, drops) ? finish_block(p, b, keep, size, to) : 0;
    memcpy(to + HEAD, b->data, size);
    return finish_block(p, b, keep, size, to);
}

size_t lap_resources_clean(
    const uint8_t *blocks, size_t size, unsigned keep, uint8_t *to, lap_meta_drops *drops)
{
    block b;
    size_t at = 0, left = 0;
    for (; read_block(blocks + at, size - at, &b); at += b.whole)
        left += clean_block(blocks + at, &b, keep, to + left, drops);
    const size_t rest = size - at;
    if (rest == 0)
        return left;
    if (!(keep & LAP_KEEP_LISTED) && !holds_jpeg(blocks + at, rest)) {
        memcpy(to + left, blocks + at, rest);
        return left + rest;
    }
    tell(drops, "Photoshop", -1, rest, "broken");
    lap_meta_warn(drops, "Photoshop's resources end in %zu bytes that cannot be read and are left out", rest);
    return left;
}
