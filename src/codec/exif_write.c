#include "codec/exif_tree.h"

#include <string.h>

enum { MAX_SIZE = LAP_EXIF_ROOM - LAP_EXIF_SIGNATURE };

typedef struct writer {
    const lap_exif_tree *tree;
    const lap_exif_change *change;
    lap_meta_drops *drops;
    uint8_t *to;
    size_t size; /* bytes written so far; even */
} writer;

static void put(const writer *w, size_t at, int length, uint32_t value)
{
    lap_tiff_put(w->to + at, w->tree->tiff.is_big_endian, length, value);
}

/* Appends zeroed bytes and returns their offset, or 0 if they do not fit. */
static size_t append(writer *w, size_t size)
{
    const size_t at = w->size, even = size + size % 2;
    if (even > MAX_SIZE - at)
        return 0;
    memset(w->to + at, 0, even);
    w->size += even;
    return at;
}

/* A directory that is being filled. It was appended with room for all entries that it may get. */
typedef struct shelf {
    size_t at, entries;
} shelf;

static size_t next_entry(const writer *w, shelf *s, uint32_t tag, uint32_t type, uint32_t values)
{
    const size_t at = s->at + 2 + s->entries++ * LAP_EXIF_ENTRY;
    put(w, at, 2, tag);
    put(w, at + 2, 2, type);
    put(w, at + 4, 4, values);
    return at + 8;
}

/* Returns the output's value of a tag; 0: use the input's value. */
static uint32_t changed(const writer *w, lap_exif_group group, uint32_t tag)
{
    const bool is_main = group == LAP_EXIF_IFD0, is_exif = group == LAP_EXIF_EXIF;
    if ((is_main && tag == LAP_TAG_WIDTH) || (is_exif && tag == LAP_TAG_PIXEL_X))
        return (uint32_t)w->change->width;
    if ((is_main && tag == LAP_TAG_HEIGHT) || (is_exif && tag == LAP_TAG_PIXEL_Y))
        return (uint32_t)w->change->height;
    return is_main && tag == LAP_TAG_ORIENTATION && w->change->turned ? 1 : 0;
}

static void copy_entry(writer *w, shelf *s, const lap_exif_directory *d, const lap_exif_entry *e)
{
    const lap_tiff *t = &w->tree->tiff;
    const uint32_t own = changed(w, d->group, e->tag);
    if (own) {
        const bool is_short = own <= UINT16_MAX && e->type == LAP_EXIF_SHORT;
        const size_t at = next_entry(w, s, e->tag, is_short ? LAP_EXIF_SHORT : LAP_EXIF_LONG, 1);
        put(w, at, is_short ? 2 : 4, own);
        return;
    }
    size_t value = 0;
    if (e->is_outside && !(value = append(w, e->size))) {
        lap_meta_drop(w->drops, &(lap_dropped){.kind = "EXIF",
                                    .where = lap_exif_group_name(d->group),
                                    .name = lap_exif_tag_find(d->group, e->tag)->name,
                                    .tag = (int)e->tag,
                                    .bytes = e->size,
                                    .reason = "too large"});
        lap_meta_warn(w->drops, "EXIF is too large: a tag of %zu bytes is left out", e->size);
        return;
    }
    const size_t at = next_entry(w, s, e->tag, e->type, e->values);
    if (e->is_outside)
        put(w, at, 4, (uint32_t)value);
    memcpy(w->to + (e->is_outside ? value : at), t->bytes + e->value, e->size);
}

static size_t copy_directory(writer *w, const lap_exif_directory *d);

/* Adds entries in the order of their tags, which may differ from the input's order. */
static void fill(writer *w, shelf *s, const lap_exif_directory *d)
{
    uint32_t last = 0;
    for (size_t n = 0; n < d->entries; n++) {
        lap_exif_entry next = {.tag = UINT32_MAX};
        for (size_t i = 0; i < d->entries; i++) {
            const lap_exif_entry e = lap_exif_entry_at(w->tree, d, i);
            if (e.tag < next.tag && (n == 0 || e.tag > last) && !lap_exif_tree_why(w->tree, d, i))
                next = e;
        }
        if (next.tag == UINT32_MAX)
            return;
        last = next.tag;
        const lap_exif_directory *target = lap_exif_tree_led_to(w->tree, &next);
        if (!target) {
            copy_entry(w, s, d, &next);
            continue;
        }
        const size_t at = copy_directory(w, target);
        if (at)
            put(w, next_entry(w, s, next.tag, LAP_EXIF_LONG, 1), 4, (uint32_t)at);
    }
}

/* Copies a directory and returns its offset; 0: it does not fit, or nothing of it is kept. */
static size_t copy_directory(writer *w, const lap_exif_directory *d)
{
    size_t stays = 0;
    for (size_t i = 0; i < d->entries; i++)
        stays += lap_exif_tree_why(w->tree, d, i) == NULL;
    const size_t at = stays ? append(w, 2 + stays * LAP_EXIF_ENTRY + 4) : 0;
    if (!at)
        return 0;
    shelf s = {.at = at};
    fill(w, &s, d);
    put(w, at, 2, (uint32_t)s.entries);
    return at;
}

/* ---- the thumbnail ------------------------------------------------------------------------------- */

enum { SOF0 = 0xC0, SOF2 = 0xC2, DHT = 0xC4, EOI = 0xD9, SOS = 0xDA, DQT = 0xDB, DRI = 0xDD, COM = 0xFE };

/* Whether tables fill a segment completely: quantization tables of 64 values of one or two bytes, or Huffman
 * tables. */
static bool is_all_tables(uint8_t marker, const uint8_t *data, size_t size)
{
    while (size > 0) {
        size_t table = 1 + 16;
        if (marker == DQT)
            table = 1 + (size_t)64 * (data[0] >> 4 ? 2 : 1);
        else if (size >= 1 + 16)
            for (size_t i = 1; i <= 16; i++)
                table += data[i];
        if (table > size)
            return false;
        data += table;
        size -= table;
    }
    return true;
}

/* Whether a picture needs a segment like this one, and all of its bytes. A thumbnail must not contain
 * anything else. */
static bool is_of_picture(uint8_t marker, const uint8_t *data, size_t size)
{
    switch (marker) {
    case SOF0:
    case SOF0 + 1:
    case SOF2:
        return size >= 6 && size == 6 + (size_t)3 * data[5];
    case DQT:
    case DHT:
        return is_all_tables(marker, data, size);
    case DRI:
        return size == 2;
    case SOS:
        return size >= 1 && size == 4 + (size_t)2 * data[0];
    default:
        return false;
    }
}

/* Returns the end of the coded data that begins here: the next marker other than RST, or the end of the
 * bytes. */
static size_t end_of_data(const uint8_t *from, size_t size, size_t at)
{
    while (size - at >= 2 && (from[at] != 0xFF || from[at + 1] == 0 || (from[at + 1] & 0xF8) == 0xD0))
        at++;
    return at;
}

/* Copies a JPEG's picture, without anything after it. Returns the size; 0 if this is not a JPEG, or has
 * segments other than picture and metadata. `to` has room for the same number of bytes. */
static size_t copy_jpeg(const uint8_t *from, size_t size, uint8_t *to)
{
    size_t at = 2, left = 2;
    bool has_scan = false;
    if (size < 4 || memcmp(from, "\xFF\xD8\xFF", 3) != 0)
        return 0;
    memcpy(to, from, 2);
    while (size - at >= 2 && from[at] == 0xFF) {
        const uint8_t marker = from[at + 1];
        if (marker == 0xFF) { /* padding */
            at++;
            continue;
        }
        if (marker == EOI) {
            memcpy(to + left, from + at, 2);
            return has_scan ? left + 2 : 0;
        }
        const size_t length = size - at < 4 ? 0 : 2 + ((size_t)from[at + 2] << 8 | from[at + 3]);
        if (length < 4 || length > size - at)
            return 0;
        if (is_of_picture(marker, from + at + 4, length - 4)) {
            const size_t end = marker == SOS ? end_of_data(from, size, at + length) : at + length;
            memcpy(to + left, from + at, end - at);
            left += end - at;
            at = end;
            has_scan = has_scan || marker == SOS;
        } else if ((marker >= 0xE0 && marker <= 0xEF) || marker == COM) {
            at += length;
        } else {
            return 0;
        }
    }
    return 0;
}

static void add_thumbnail(writer *w, size_t link)
{
    const lap_exif_tree *tree = w->tree;
    const lap_exif_directory *d = NULL;
    size_t begin, size;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->directories[i].stays && tree->directories[i].group == LAP_EXIF_CHAIN)
            d = &tree->directories[i];
    if (!d || !lap_exif_tree_thumbnail(tree, d, &begin, &size))
        return;
    const size_t before = w->size;
    shelf s = {.at = append(w, 2 + 3 * LAP_EXIF_ENTRY + 4)};
    const size_t picture = s.at ? append(w, size) : 0;
    const size_t copied = picture ? copy_jpeg(tree->tiff.bytes + begin, size, w->to + picture) : 0;
    if (!copied) {
        w->size = before;
        lap_meta_warn(w->drops, "the EXIF thumbnail is not a complete baseline JPEG and is left out");
        return;
    }
    w->size = picture + copied;
    put(w, next_entry(w, &s, 0x0103, LAP_EXIF_SHORT, 1), 2, 6); /* compression: JPEG */
    put(w, next_entry(w, &s, LAP_TAG_THUMBNAIL, LAP_EXIF_LONG, 1), 4, (uint32_t)picture);
    put(w, next_entry(w, &s, LAP_TAG_THUMBNAIL_SIZE, LAP_EXIF_LONG, 1), 4, (uint32_t)copied);
    put(w, s.at, 2, (uint32_t)s.entries);
    put(w, link, 4, (uint32_t)s.at);
}

size_t lap_exif_write(const lap_exif_tree *tree, const lap_exif_change *change, uint8_t *to)
{
    writer w = {.tree = tree, .change = change, .drops = change->drops, .to = to, .size = LAP_EXIF_HEAD};
    memcpy(to, tree->tiff.bytes, 4);
    put(&w, 4, 4, LAP_EXIF_HEAD);
    const size_t at = copy_directory(&w, &tree->directories[0]);
    if (!at)
        return 0;
    if (change->keep & LAP_KEEP_THUMBNAIL)
        add_thumbnail(&w,
            at + 2 + lap_tiff_get(&(lap_tiff){to, w.size, tree->tiff.is_big_endian}, at, 2) * LAP_EXIF_ENTRY);
    return w.size;
}
