#include "codec/exif.h"

#include <string.h>

/* Tags and types, EXIF 2.32 tables 1, 4 and 7 and TIFF 6.0. */
enum {
    TAG_IMAGE_WIDTH = 0x0100,
    TAG_IMAGE_LENGTH = 0x0101,
    TAG_ORIENTATION = 0x0112,
    TAG_THUMBNAIL_OFFSET = 0x0201,
    TAG_THUMBNAIL_SIZE = 0x0202,
    TAG_EXIF_IFD = 0x8769,
    TAG_GPS_IFD = 0x8825,
    TAG_MAKER_NOTE = 0x927C,
    TAG_PIXEL_X = 0xA002,
    TAG_PIXEL_Y = 0xA003,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    SIGNATURE = 6, /* bytes of "Exif\0\0" */
    ENTRY = 12     /* bytes of a directory entry */
};

/* The TIFF structure inside the payload; offsets count from its start. */
typedef struct tiff {
    uint8_t *bytes;
    size_t size;
    bool is_big_endian;
} tiff;

static bool has(const tiff *t, size_t offset, size_t length)
{
    return offset <= t->size && length <= t->size - offset;
}

/* Callers have checked the bounds. */
static uint32_t get(const tiff *t, size_t offset, int length)
{
    uint32_t value = 0;
    for (int i = 0; i < length; i++)
        value = value << 8 | t->bytes[offset + (size_t)(t->is_big_endian ? i : length - 1 - i)];
    return value;
}

static void put(const tiff *t, size_t offset, int length, uint32_t value)
{
    for (int i = 0; i < length; i++)
        t->bytes[offset + (size_t)(t->is_big_endian ? length - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

bool lap_exif_is(const uint8_t *payload, size_t size)
{
    return size >= SIGNATURE && memcmp(payload, "Exif\0\0", SIGNATURE) == 0;
}

/* The payload is only written to through put and memset, which readers never call. */
static bool tiff_open(tiff *t, const uint8_t *payload, size_t size)
{
    if (!lap_exif_is(payload, size) || size < SIGNATURE + 8)
        return false;
    t->bytes = (uint8_t *)payload + SIGNATURE;
    t->size = size - SIGNATURE;
    t->is_big_endian = t->bytes[0] == 'M';
    return (memcmp(t->bytes, "II", 2) == 0 || memcmp(t->bytes, "MM", 2) == 0) && get(t, 2, 2) == 42;
}

bool lap_exif_is_tiff(const uint8_t *payload, size_t size)
{
    tiff t;
    return tiff_open(&t, payload, size);
}

/* Number of entries of the directory at offset that lie inside the data; 0: none. */
static size_t entries(const tiff *t, size_t directory)
{
    if (directory < 8 || !has(t, directory, 2))
        return 0;
    size_t count = get(t, directory, 2), room = (t->size - directory - 2) / ENTRY;
    return count < room ? count : room;
}

/* Offset of the entry with this tag; 0: there is none. */
static size_t find(const tiff *t, size_t directory, uint32_t tag)
{
    size_t count = entries(t, directory);
    for (size_t i = 0; i < count; i++) {
        size_t entry = directory + 2 + i * ENTRY;
        if (get(t, entry, 2) == tag)
            return entry;
    }
    return 0;
}

/* Bytes of the single integer that an entry holds in itself: 2, 4, or 0 where it is another thing. */
static int width_of(const tiff *t, size_t entry)
{
    if (entry == 0 || get(t, entry + 4, 4) != 1)
        return 0;
    uint32_t type = get(t, entry + 2, 2);
    return type == TYPE_SHORT ? 2 : type == TYPE_LONG ? 4 : 0;
}

static uint32_t value_of(const tiff *t, size_t directory, uint32_t tag)
{
    size_t entry = find(t, directory, tag);
    int width = width_of(t, entry);
    return width ? get(t, entry + 8, width) : 0;
}

static void set_value(const tiff *t, size_t directory, uint32_t tag, uint32_t value)
{
    size_t entry = find(t, directory, tag);
    int width = width_of(t, entry);
    if (width)
        put(t, entry + 8, width, value);
}

int lap_exif_orientation(const uint8_t *payload, size_t size)
{
    tiff t;
    if (!tiff_open(&t, payload, size))
        return 1;
    uint32_t value = value_of(&t, get(&t, 4, 4), TAG_ORIENTATION);
    return value >= 1 && value <= 8 ? (int)value : 1;
}

/* Where the link to the next directory stands; 0: outside the data. */
static size_t link_of(const tiff *t, size_t directory)
{
    if (directory < 8 || !has(t, directory, 2))
        return 0;
    size_t link = directory + 2 + (size_t)get(t, directory, 2) * ENTRY;
    return has(t, link, 4) ? link : 0;
}

static bool touches(const tiff *t, size_t begin, size_t length, size_t directory)
{
    size_t link = link_of(t, directory);
    return link && begin < link + 4 && directory < begin + length;
}

/* Zeroes these bytes, or cuts them off where they are the last ones. Not where a lying entry would wipe the
 * header or the tags that stay. */
static void wipe(tiff *t, size_t begin, size_t length, size_t ifd0, size_t exif)
{
    if (begin < 8 || length == 0 || !has(t, begin, length) || touches(t, begin, length, ifd0) ||
        touches(t, begin, length, exif))
        return;
    if (begin + length == t->size)
        t->size = begin;
    else
        memset(t->bytes + begin, 0, length);
}

static void drop_thumbnail(tiff *t, size_t ifd0, size_t exif)
{
    size_t link = link_of(t, ifd0);
    size_t ifd1 = link ? get(t, link, 4) : 0;
    if (!ifd1)
        return;
    size_t begin = value_of(t, ifd1, TAG_THUMBNAIL_OFFSET);
    size_t length = value_of(t, ifd1, TAG_THUMBNAIL_SIZE);
    put(t, link, 4, 0);
    wipe(t, begin, length, ifd0, exif);
}

/* Its form is the maker's own, and many hold a preview. The entry goes, nothing else changes its place. */
static void drop_maker_note(tiff *t, size_t ifd0, size_t exif)
{
    size_t entry = find(t, exif, TAG_MAKER_NOTE), link = link_of(t, exif);
    if (!entry || !link)
        return;
    size_t begin = get(t, entry + 8, 4), length = get(t, entry + 4, 4); /* of bytes */
    put(t, exif, 2, get(t, exif, 2) - 1);
    memmove(t->bytes + entry, t->bytes + entry + ENTRY, link + 4 - (entry + ENTRY));
    memset(t->bytes + link + 4 - ENTRY, 0, ENTRY);
    if (length > 4)
        wipe(t, begin, length, ifd0, exif);
}

/* The directory of the place: all its values are zeroed where they lie, then itself, then the link to it. */
static void drop_gps(tiff *t, size_t ifd0, size_t exif)
{
    const size_t link = find(t, ifd0, TAG_GPS_IFD), gps = value_of(t, ifd0, TAG_GPS_IFD);
    static const size_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8};
    if (!link)
        return;
    const size_t count = gps >= 8 && has(t, gps, 2) ? get(t, gps, 2) : 0;
    for (size_t i = 0; i < count && has(t, gps + 2 + i * ENTRY, ENTRY); i++) {
        const size_t entry = gps + 2 + i * ENTRY, type = get(t, entry + 2, 2), n = get(t, entry + 4, 4);
        const size_t size = type < sizeof sizes / sizeof *sizes && n < t->size ? n * sizes[type] : 0;
        const size_t at = get(t, entry + 8, 4);
        /* Zeroed, never cut off: what lies behind may be somebody else's. */
        if (size > 4 && at >= 8 && has(t, at, size) && !touches(t, at, size, ifd0) &&
            !touches(t, at, size, exif))
            memset(t->bytes + at, 0, size);
    }
    const size_t length = 2 + count * ENTRY;
    if (count > 0 && has(t, gps, length) && !touches(t, gps, length, ifd0) && !touches(t, gps, length, exif))
        memset(t->bytes + gps, 0, length);
    /* The entry itself goes as the maker's note does. */
    const size_t last = link_of(t, ifd0);
    if (!last)
        return;
    put(t, ifd0, 2, get(t, ifd0, 2) - 1);
    memmove(t->bytes + link, t->bytes + link + ENTRY, last + 4 - (link + ENTRY));
    memset(t->bytes + last + 4 - ENTRY, 0, ENTRY);
}

size_t lap_exif_patch(uint8_t *payload, size_t size, int width, int height, bool turned, unsigned keep)
{
    tiff t;
    if (!tiff_open(&t, payload, size))
        return size;
    size_t ifd0 = get(&t, 4, 4);
    if (turned)
        set_value(&t, ifd0, TAG_ORIENTATION, 1);
    set_value(&t, ifd0, TAG_IMAGE_WIDTH, (uint32_t)width);
    set_value(&t, ifd0, TAG_IMAGE_LENGTH, (uint32_t)height);
    size_t exif = value_of(&t, ifd0, TAG_EXIF_IFD);
    set_value(&t, exif, TAG_PIXEL_X, (uint32_t)width);
    set_value(&t, exif, TAG_PIXEL_Y, (uint32_t)height);
    if (!(keep & LAP_KEEP_GPS))
        drop_gps(&t, ifd0, exif);
    if (!(keep & LAP_KEEP_THUMBNAIL))
        drop_thumbnail(&t, ifd0, exif);
    drop_maker_note(&t, ifd0, exif);
    return SIGNATURE + t.size;
}
