#include "codec/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "codec/resources.h"
#include "codec/xmp.h"

enum { APP1 = 0xE1, APP2 = 0xE2, APP13 = 0xED, COM = 0xFE };

/* An APP2 profile segment begins with this name and its zero byte. Its number, counted from 1, and the total
 * number follow. */
static const char icc_name[12] = "ICC_PROFILE";
enum { ICC_HEAD = 14, ICC_SPACE = 16 };

static bool is_icc(const lap_segment *s)
{
    return s->marker == APP2 && s->size >= ICC_HEAD && memcmp(s->data, icc_name, sizeof icc_name) == 0;
}

/* ICC.1:2010, 7.2: bytes 16..19 of the profile name the data's colour space. */
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

static bool begins(const lap_segment *s, const char *name, size_t size)
{
    return s->marker == APP1 && s->size >= size && memcmp(s->data, name, size) == 0;
}

bool lap_meta_is_xmp(const lap_segment *s)
{
    static const char name[LAP_META_XMP] = "http://ns.adobe.com/xap/1.0/";
    return begins(s, name, sizeof name);
}

enum { EXTENDED_NAME = 35 }; /* length, including the zero byte */

static bool is_extended(const lap_segment *s)
{
    static const char name[EXTENDED_NAME] = "http://ns.adobe.com/xmp/extension/";
    return begins(s, name, sizeof name);
}

const char *lap_meta_kind(const lap_segment *s)
{
    switch (s->marker) {
    case APP1:
        return is_exif(s) ? "EXIF" : "XMP";
    case APP2:
        return "ICC";
    case APP13:
        return "IPTC";
    default:
        return s->marker == COM ? "comment" : "other";
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

/* ---- choosing ------------------------------------------------------------------------------------ */

enum {
    MAX_SEGMENT = 65533,
    DIGEST = 32,
    EXTENDED_HEAD = EXTENDED_NAME + DIGEST + 8,
    KEPT_UNASKED = 127 & ~LAP_KEEP_THUMBNAIL
};

typedef struct chooser {
    const lap_write_options *options;
    const lap_segment *all;
    size_t count;
    unsigned keep;               /* with LAP_KEEP_LISTED if the user gave a list */
    bool has_extended;           /* XMP continues in other segments, which are kept */
    const char *why_no_extended; /* why these segments are dropped */
    lap_meta *meta;
    size_t room;   /* capacity of meta->segments */
    uint8_t *copy; /* free memory after the copies */
    lap_meta_drops *drops;
} chooser;

static void drop(const chooser *c, const lap_segment *s, const char *reason)
{
    lap_meta_drop(c->drops, &(lap_dropped){.kind = lap_meta_kind(s),
                                .where = "",
                                .name = "",
                                .tag = -1,
                                .bytes = s->size,
                                .reason = reason});
}

/* Adds a segment; drops it if a JPEG segment cannot hold it. */
static void add(chooser *c, lap_segment s)
{
    if (s.size <= MAX_SEGMENT || c->options->long_segments) {
        c->meta->segments[c->meta->count++] = s;
        return;
    }
    drop(c, &s, "too large");
    lap_meta_warn(
        c->drops, "%s of %zu bytes is left out: a JPEG has no place for it", lap_meta_kind(&s), s.size);
}

static bool is_kept_kind(const chooser *c, const lap_segment *s)
{
    switch (s->marker) {
    case APP1:
        return c->keep & (is_exif(s) ? LAP_KEEP_EXIF : LAP_KEEP_XMP);
    case APP2:
        return (c->keep & LAP_KEEP_ICC) && is_icc(s);
    case APP13:
        return c->keep & LAP_KEEP_IPTC;
    default:
        return s->marker == COM && (c->keep & LAP_KEEP_COMMENT);
    }
}

static lap_code choose_exif(chooser *c, lap_error *err)
{
    const lap_write_options *o = c->options;
    const lap_exif_change change = {o->width, o->height, o->oriented, c->keep, c->drops};
    bool has_one = false;
    for (size_t i = 0; i < c->count; i++) {
        const lap_segment *s = &c->all[i];
        size_t size = 0;
        if (!is_exif(s) || !is_kept_kind(c, s))
            continue;
        if (has_one && (c->keep & LAP_KEEP_LISTED)) {
            drop(c, s, "stands twice");
            lap_meta_warn(c->drops, "EXIF occurs twice: the second one is left out");
            continue;
        }
        has_one = true;
        const lap_code code = lap_exif_choose(s->data, s->size, &change, c->copy, &size, err);
        if (code != LAP_OK)
            return code;
        if (size > 0)
            add(c, (lap_segment){.marker = APP1, .data = c->copy, .size = size});
        c->copy += size;
    }
    return LAP_OK;
}

/* ---- XMP ----------------------------------------------------------------------------------------- */

static bool is_harmless_wanted(const chooser *c)
{
    return (c->keep & LAP_KEEP_LISTED) && !(c->keep & LAP_KEEP_GPS);
}

/* Whether a part has the digest of the first part, and this is one: 32 hexadecimal digits. */
static bool has_digest(const uint8_t *digest, const uint8_t *first)
{
    bool is_hex = true;
    for (int i = 0; i < DIGEST; i++)
        is_hex &= (digest[i] >= '0' && digest[i] <= '9') ||
                  ((digest[i] | 0x20) >= 'a' && (digest[i] | 0x20) <= 'f');
    return is_hex && memcmp(digest, first, DIGEST) == 0;
}

/* Joins the parts of extended XMP, which may be in any order: the head of each ends with its place in the
 * text. Needs room for two texts. Returns false if the parts do not give a text without gaps and overlaps, or
 * are not all of one text: then nobody knows what a reader makes of them. */
static bool join_extended(const chooser *c, uint8_t *to, size_t *size)
{
    const uint8_t *first = NULL;
    *size = 0;
    for (size_t i = 0; i < c->count; i++)
        if (is_extended(&c->all[i]) && c->all[i].size > EXTENDED_HEAD)
            *size += c->all[i].size - EXTENDED_HEAD;
    uint8_t *taken = to + *size;
    memset(taken, 0, *size);
    for (size_t i = 0; i < c->count; i++) {
        if (!is_extended(&c->all[i]))
            continue;
        if (c->all[i].size <= EXTENDED_HEAD)
            return false;
        const uint8_t *text = c->all[i].data + EXTENDED_HEAD, *digest = c->all[i].data + EXTENDED_NAME;
        const size_t length = c->all[i].size - EXTENDED_HEAD,
                     at = (size_t)text[-4] << 24 | (size_t)text[-3] << 16 | (size_t)text[-2] << 8 | text[-1];
        first = first ? first : digest;
        if (!has_digest(digest, first) || at > *size || length > *size - at || memchr(taken + at, 1, length))
            return false;
        memcpy(to + at, text, length);
        memset(taken + at, 1, length);
    }
    return true;
}

/* Decides whether extended XMP is kept unchanged or dropped as a whole: each part contains the length and the
 * hash of all. Text that is dropped for more than a thumbnail gives a warning. */
static void judge_text(chooser *c, uint8_t *joined)
{
    size_t size;
    const bool is_whole = join_extended(c, joined, &size);
    size_t cleaned = size;
    bool keeps_any = false;
    const bool harmless = is_harmless_wanted(c);
    const bool picture = !(c->keep & LAP_KEEP_THUMBNAIL) && (!is_whole || lap_xmp_has_picture(joined, size));
    const lap_xmp_cleaning cleaning = {
        .rule = harmless ? LAP_XMP_HARMLESS : LAP_XMP_PICTURES, .extended = true, .keeps_any = &keeps_any};
    const bool is_examined = harmless || picture;
    const bool is_plain =
        is_examined && is_whole && lap_xmp_clean(joined, size, &cleaning, joined + size, &cleaned);
    c->has_extended = !is_examined || (is_plain && cleaned == size);
    if (c->has_extended)
        return;
    c->why_no_extended = harmless    ? "location or unknown"
                         : !is_whole ? "damaged"
                         : !is_plain ? "cannot be read"
                                     : "thumbnail";
    if (harmless)
        lap_meta_warn(c->drops, "the second part of XMP may contain the location and is left out");
    else if (!is_whole)
        lap_meta_warn(
            c->drops, "the second part of XMP is damaged and is left out: it may contain a thumbnail");
    else if (!is_plain)
        lap_meta_warn(c->drops,
            "the second part of XMP is left out: it may contain a thumbnail, and is too unusual to check");
    else if (keeps_any)
        lap_meta_warn(c->drops, "the second part of XMP contains a thumbnail and is left out as a whole");
}

static lap_code judge_extended(chooser *c, lap_error *err)
{
    enum { ROOM = 2 }; /* the text, and the bytes that were taken or the cleaned text */
    size_t size = 0, bytes;
    for (size_t i = 0; i < c->count; i++)
        size += is_extended(&c->all[i]) ? c->all[i].size : 0;
    if (size == 0 || !(c->keep & LAP_KEEP_XMP))
        return LAP_OK;
    uint8_t *joined = lap_mul(size, ROOM, &bytes) ? malloc(bytes) : NULL;
    if (!joined)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for metadata");
    judge_text(c, joined);
    free(joined);
    return LAP_OK;
}

static void choose_xmp(chooser *c, const lap_segment *s)
{
    if (is_extended(s)) {
        if (c->has_extended)
            add(c, *s);
        else
            drop(c, s, c->why_no_extended);
        return;
    }
    if (!lap_meta_is_xmp(s)) {
        drop(c, s, "unknown");
        return;
    }
    const uint8_t *packet = s->data + LAP_META_XMP;
    const size_t size = s->size - LAP_META_XMP;
    const bool harmless = is_harmless_wanted(c);
    const bool picture = !(c->keep & LAP_KEEP_THUMBNAIL) && lap_xmp_has_picture(packet, size);
    const bool dangling = !c->has_extended && memmem(packet, size, "HasExtendedXMP", 14);
    size_t left;
    if (!harmless && !picture && !dangling) {
        add(c, *s);
        return;
    }
    const lap_xmp_cleaning cleaning = {.rule = harmless  ? LAP_XMP_HARMLESS
                                               : picture ? LAP_XMP_PICTURES
                                                         : LAP_XMP_REFERENCE,
        .extended = c->has_extended,
        .drops = c->drops};
    if (!lap_xmp_clean(packet, size, &cleaning, c->copy + LAP_META_XMP, &left)) {
        if (!harmless && !picture) {
            add(c, *s);
            return;
        }
        drop(c, s, "cannot be read");
        lap_meta_warn(c->drops, "XMP is left out: it may contain %s, and is too unusual to check",
            harmless ? "the place" : "a thumbnail");
        return;
    }
    memcpy(c->copy, s->data, LAP_META_XMP);
    add(c, (lap_segment){.marker = APP1, .data = c->copy, .size = LAP_META_XMP + left});
    c->copy += LAP_META_XMP + left;
}

/* ---- IPTC ---------------------------------------------------------------------------------------- */

/* Cleans blocks and cuts them into segments. Without a list, a segment is kept even if it is empty. */
static void choose_blocks(chooser *c, const uint8_t *blocks, size_t size)
{
    enum { PIECE = MAX_SEGMENT - LAP_RESOURCES_HEAD };
    uint8_t *cleaned = c->copy;
    const size_t left = lap_resources_clean(blocks, size, c->keep, cleaned, c->drops);
    c->copy += left;
    for (size_t at = 0; at < left || (at == 0 && !(c->keep & LAP_KEEP_LISTED)); at += PIECE) {
        const size_t piece = left - at < PIECE ? left - at : PIECE;
        memcpy(c->copy, LAP_RESOURCES_NAME, LAP_RESOURCES_HEAD);
        memcpy(c->copy + LAP_RESOURCES_HEAD, cleaned + at, piece);
        add(c, (lap_segment){.marker = APP13, .data = c->copy, .size = LAP_RESOURCES_HEAD + piece});
        c->copy += LAP_RESOURCES_HEAD + piece;
    }
}

static bool is_resources(const chooser *c, const lap_segment *s)
{
    return s->marker == APP13 && is_kept_kind(c, s) && lap_resources_is(s->data, s->size);
}

/* Whether each segment can be read separately. This needs settings without a list, and either a single
 * segment or segments that all end at the end of a block. */
static bool are_apart(const chooser *c)
{
    size_t count = 0, whole = 0;
    for (size_t i = 0; i < c->count; i++) {
        const lap_segment *s = &c->all[i];
        if (!is_resources(c, s))
            continue;
        count++;
        whole += lap_resources_are_whole(s->data + LAP_RESOURCES_HEAD, s->size - LAP_RESOURCES_HEAD);
    }
    return !(c->keep & LAP_KEEP_LISTED) && (whole == count || count == 1);
}

/* Cleans all resource segments. If they cannot be read separately, a block may continue in the next segment,
 * so they are joined first. */
static void choose_resources(chooser *c)
{
    const bool apart = are_apart(c);
    size_t count = 0, size = 0;
    uint8_t *joined = c->copy;
    for (size_t i = 0; i < c->count; i++) {
        const lap_segment *s = &c->all[i];
        if (!is_resources(c, s)) {
            if (s->marker == APP13 && is_kept_kind(c, s))
                drop(c, s, "unknown");
            continue;
        }
        const uint8_t *blocks = s->data + LAP_RESOURCES_HEAD;
        const size_t blocks_size = s->size - LAP_RESOURCES_HEAD;
        if (apart) {
            choose_blocks(c, blocks, blocks_size);
            continue;
        }
        memcpy(joined + size, blocks, blocks_size);
        size += blocks_size;
        count++;
    }
    if (count == 0)
        return;
    c->copy += size;
    choose_blocks(c, joined, size);
}

/* ---- comments ------------------------------------------------------------------------------------ */

/* Whether the PNG specification registers the keyword. Other keywords may name anything, including a
 * location. */
static bool is_harmless_keyword(const lap_segment *s)
{
    static const char *const known[] = {"Title", "Author", "Description", "Copyright", "Creation Time",
        "Software", "Disclaimer", "Warning", "Source", "Comment", "Collection"};
    if (s->keyword == 0)
        return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == s->keyword && memcmp(known[i], s->data, s->keyword) == 0)
            return true;
    return false;
}

static void choose_other(chooser *c, const lap_segment *s)
{
    if (s->marker == COM && is_harmless_wanted(c) && !is_harmless_keyword(s))
        drop(c, s, "unknown keyword");
    else
        add(c, *s);
}

/* Returns how often the memory of the copies holds a segment, which may be joined with others, cleaned and
 * cut again. Extended XMP is never changed. */
static size_t copies_of(const lap_segment *s)
{
    enum { COPIES = 4 };
    return is_extended(s) ? 0 : COPIES;
}

static bool reserve(chooser *c)
{
    size_t bytes = 1, exif = 0, sum;
    for (size_t i = 0; i < c->count; i++) {
        if (!lap_mul(c->all[i].size, copies_of(&c->all[i]), &sum) || !lap_add(bytes, sum, &bytes))
            return false;
        exif |= is_exif(&c->all[i]) ? LAP_EXIF_ROOM : 0;
    }
    c->room = c->count + bytes / 32768 + 1;
    if (!lap_add(bytes, exif, &bytes))
        return false;
    c->meta->segments = calloc(c->room, sizeof *c->meta->segments);
    c->meta->copies = malloc(bytes);
    c->copy = c->meta->copies;
    return c->meta->segments && c->meta->copies;
}

static lap_code choose(chooser *c, lap_error *err)
{
    if (!reserve(c))
        return lap_fail(err, LAP_E_MEMORY, "out of memory for metadata");
    lap_code code = choose_exif(c, err);
    if (code == LAP_OK)
        code = judge_extended(c, err);
    if (code != LAP_OK)
        return code;
    bool resources_done = false;
    for (size_t i = 0; i < c->count; i++) {
        const lap_segment *s = &c->all[i];
        if (!is_kept_kind(c, s))
            drop(c, s, "not in the list");
        else if (s->marker == APP13 && !resources_done) {
            resources_done = true;
            choose_resources(c);
        } else if (s->marker == APP1 && !is_exif(s))
            choose_xmp(c, s);
        else if (s->marker == COM || (s->marker == APP2 && icc_fits(c->options)))
            choose_other(c, s);
    }
    return LAP_OK;
}

lap_code lap_meta_choose(const lap_write_options *o, lap_meta *meta, lap_error *err)
{
    lap_meta_drops unseen = {.warnings = 0}, *drops = o->drops ? o->drops : &unseen;
    *meta = (lap_meta){0};
    *drops = (lap_meta_drops){.each = drops->each, .user = drops->user};
    if (!o->from || o->from->segment_count == 0)
        return LAP_OK;
    chooser c = {.options = o,
        .all = o->from->segments,
        .count = o->from->segment_count,
        .keep = o->strip  ? LAP_KEEP_LISTED
                : o->keep ? o->keep | LAP_KEEP_LISTED
                          : KEPT_UNASKED,
        .meta = meta,
        .drops = drops};
    lap_code code = choose(&c, err);
    if (code == LAP_OK && drops->warnings > 0 && o->fail_on == LAP_FAIL_WARNING)
        code = lap_fail(err, LAP_E_UNSUPPORTED, "%s", drops->warning);
    if (code != LAP_OK)
        lap_meta_free(meta);
    return code;
}

size_t lap_meta_memory(const lap_header *from)
{
    /* In the source's buffer, in the decoder's segments, and in the encoder's header, which may have room for
     * twice as much. Before the encoder writes it, extended XMP is joined and cleaned. */
    enum { ELSEWHERE = 4 };
    size_t all = 0, sum;
    for (size_t i = 0; i < from->segment_count; i++) {
        const lap_segment *s = &from->segments[i];
        if (!lap_mul(s->size, ELSEWHERE + copies_of(s), &sum) || !lap_add(all, sum, &all))
            return SIZE_MAX;
    }
    return all;
}

void lap_meta_free(lap_meta *meta)
{
    free(meta->segments);
    free(meta->copies);
    *meta = (lap_meta){0};
}
