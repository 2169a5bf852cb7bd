#include "codec/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/exif.h"

enum { APP1 = 0xE1, APP2 = 0xE2, APP13 = 0xED, COM = 0xFE };

/* An APP2 segment of a profile: this name with its zero byte, its number from 1, how many there are. */
static const char icc_name[12] = "ICC_PROFILE";
enum { ICC_HEAD = 14, ICC_SPACE = 16 };

static bool is_icc(const lap_segment *s)
{
    return s->marker == APP2 && s->size >= ICC_HEAD && memcmp(s->data, icc_name, sizeof icc_name) == 0;
}

/* ICC.1:2010, 7.2: bytes 16..19 of the profile name the colour space of the data. */
static bool icc_fits(const lap_write_options *o)
{
    const lap_header *from = o->from;
    if (o->as_stored)
        return true;
    for (size_t i = 0; i < from->segment_count; i++) {
        const lap_segment *s = &from->segments[i];
        if (is_icc(s) && s->data[sizeof icc_name] == 1)
            return s->size >= ICC_HEAD + ICC_SPACE + 4 &&
                   memcmp(s->data + ICC_HEAD + ICC_SPACE, o->channels == 1 ? "GRAY" : "RGB ", 4) == 0;
    }
    return false;
}

static bool is_exif(const lap_segment *s)
{
    return s->marker == APP1 && lap_exif_is(s->data, s->size);
}

enum { KEPT_UNASKED = ~(unsigned)LAP_KEEP_THUMBNAIL };

static bool is_kept(const lap_segment *s, unsigned keep)
{
    switch (s->marker) {
    case APP1:
        return !is_exif(s) && (keep & LAP_KEEP_XMP);
    case APP13:
        return keep & LAP_KEEP_IPTC;
    case COM:
        return keep & LAP_KEEP_COMMENT;
    default:
        return (keep & LAP_KEEP_ICC) && is_icc(s);
    }
}

bool lap_meta_drops_profile(const lap_write_options *o)
{
    if (o->strip || !o->from || (o->keep && !(o->keep & LAP_KEEP_ICC)) || icc_fits(o))
        return false;
    for (size_t i = 0; i < o->from->segment_count; i++)
        if (is_icc(&o->from->segments[i]))
            return true;
    return false;
}

/* APP13: this name with its zero byte, then blocks of "8BIM", a number, a name of even length (its first
 * byte counts), four bytes of size, data of even length. */
static const char resources_name[14] = "Photoshop 3.0";
enum { THUMBNAIL_OLD = 1033, THUMBNAIL = 1036 };

/* Length of the block of image resources at p; 0 where there is none, or it does not fit. */
static size_t resource_length(const uint8_t *p, size_t left)
{
    if (left < 12 || memcmp(p, "8BIM", 4) != 0)
        return 0;
    size_t name = ((size_t)p[6] + 2) / 2 * 2, head = 6 + name + 4;
    if (left < head)
        return 0;
    const uint8_t *at = p + head - 4;
    size_t data = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
    data += data % 2;
    return left - head < data ? 0 : head + data;
}

/* Copies an APP13 segment without the thumbnails, which would show the unfiltered photo; what cannot be
 * read as blocks is copied as it is. Returns the size of the copy. */
static size_t copy_resources(const lap_segment *s, uint8_t *to)
{
    size_t at = s->size < sizeof resources_name || memcmp(s->data, resources_name, sizeof resources_name) != 0
                    ? s->size
                    : sizeof resources_name,
           size = at, length;
    memcpy(to, s->data, at);
    for (; (length = resource_length(s->data + at, s->size - at)) > 0; at += length) {
        int number = s->data[at + 4] << 8 | s->data[at + 5];
        if (number == THUMBNAIL || number == THUMBNAIL_OLD)
            continue;
        memcpy(to + size, s->data + at, length);
        size += length;
    }
    memcpy(to + size, s->data + at, s->size - at);
    return size + s->size - at;
}

lap_code lap_meta_choose(const lap_write_options *o, lap_meta *meta, lap_error *err)
{
    *meta = (lap_meta){0};
    if (o->strip || !o->from || o->from->segment_count == 0)
        return LAP_OK;
    const lap_segment *all = o->from->segments;
    size_t n = o->from->segment_count, bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += is_exif(&all[i]) || all[i].marker == APP13 ? all[i].size : 0;
    meta->segments = calloc(n, sizeof *meta->segments);
    meta->copies = malloc(bytes ? bytes : 1);
    if (!meta->segments || !meta->copies) {
        lap_meta_free(meta);
        return lap_fail(err, LAP_E_MEMORY, "out of memory for metadata");
    }
    uint8_t *copy = meta->copies;
    unsigned keep = o->keep ? o->keep : KEPT_UNASKED;
    for (size_t i = 0; i < n && (keep & LAP_KEEP_EXIF); i++) {
        if (!is_exif(&all[i]))
            continue;
        memcpy(copy, all[i].data, all[i].size);
        size_t size = lap_exif_patch(copy, all[i].size, o->width, o->height, o->oriented, keep);
        meta->segments[meta->count++] = (lap_segment){APP1, copy, size};
        copy += all[i].size;
    }
    if (!icc_fits(o))
        keep &= ~(unsigned)LAP_KEEP_ICC;
    for (size_t i = 0; i < n; i++) {
        if (!is_kept(&all[i], keep))
            continue;
        lap_segment *kept = &meta->segments[meta->count++];
        *kept = all[i];
        if (kept->marker == APP13) {
            kept->data = copy;
            kept->size = copy_resources(&all[i], copy);
            copy += all[i].size;
        }
    }
    return LAP_OK;
}

void lap_meta_free(lap_meta *meta)
{
    free(meta->segments);
    free(meta->copies);
    *meta = (lap_meta){0};
}
