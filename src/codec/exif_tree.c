#include "codec/exif_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Limits against EXIF that an attacker made so complex that reading it takes seconds. A camera writes about a
 * hundred entries, and each byte belongs to only one of them. A file may hold a thousand EXIF segments, so
 * the work on each is limited to a multiple of its size. */
enum { MAX_ENTRIES = 2000, MAX_SHARES = 8 };

/* ---- bytes --------------------------------------------------------------------------------------- */

static void own(lap_exif_tree *tree, size_t at, size_t size, lap_exif_owner owner)
{
    memset(tree->map + at, (int)owner, size);
}

static bool is_owned_by(const lap_exif_tree *tree, size_t at, size_t size, lap_exif_owner owner)
{
    return memchr(tree->map + at, (int)owner, size) != NULL;
}

/* ---- entries ------------------------------------------------------------------------------------- */

/* Returns the size of a value of this type; 0: unknown. Type 13 is an offset. */
static size_t size_of_type(uint32_t type)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    return type < sizeof sizes ? sizes[type] : type == LAP_EXIF_UTF8;
}

lap_exif_entry lap_exif_entry_at(const lap_exif_tree *tree, const lap_exif_directory *d, size_t i)
{
    const lap_tiff *t = &tree->tiff;
    const size_t at = d->at + 2 + i * LAP_EXIF_ENTRY;
    lap_exif_entry e = {.tag = lap_tiff_get(t, at, 2),
        .type = lap_tiff_get(t, at + 2, 2),
        .values = lap_tiff_get(t, at + 4, 4),
        .at = at,
        .value = at + 8};
    e.size = e.values * size_of_type(e.type); /* 32 bits times 8 cannot overflow */
    e.is_outside = e.size > 4;
    if (e.is_outside)
        e.value = lap_tiff_get(t, at + 8, 4);
    e.fits = e.size > 0 && e.value >= LAP_EXIF_HEAD && lap_tiff_has(t, e.value, e.size);
    return e;
}

bool lap_exif_entry_find(
    const lap_exif_tree *tree, const lap_exif_directory *d, uint32_t tag, lap_exif_entry *entry)
{
    for (size_t i = 0; i < d->entries; i++) {
        *entry = lap_exif_entry_at(tree, d, i);
        if (entry->tag == tag)
            return true;
    }
    return false;
}

/* ---- directories --------------------------------------------------------------------------------- */

static const lap_exif_directory *directory_at(const lap_exif_tree *tree, size_t at)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->directories[i].at == at)
            return &tree->directories[i];
    return NULL;
}

/* Gets the group of the directory that a tag points to; false if the tag is no pointer. */
static bool leads_to(uint32_t tag, lap_exif_group *group)
{
    *group = tag == LAP_TAG_EXIF      ? LAP_EXIF_EXIF
             : tag == LAP_TAG_GPS     ? LAP_EXIF_GPS
             : tag == LAP_TAG_INTEROP ? LAP_EXIF_INTEROP
                                      : LAP_EXIF_SUB;
    return *group != LAP_EXIF_SUB || tag == LAP_TAG_SUB_IFDS;
}

const lap_exif_directory *lap_exif_tree_led_to(const lap_exif_tree *tree, const lap_exif_entry *e)
{
    lap_exif_group group;
    if (!leads_to(e->tag, &group))
        return NULL;
    const lap_exif_directory *d = directory_at(tree, lap_tiff_get(&tree->tiff, e->at + 8, 4));
    return d && d->stays && d->group == group ? d : NULL;
}

/* Adds a directory, unless it is already known. If it is to be kept, it must be complete and must not overlap
 * another; if it is to be dropped, the part that exists is added. False: it cannot be read, or there are too
 * many. */
static bool add(lap_exif_tree *tree, size_t at, lap_exif_group group, bool stays)
{
    const lap_tiff *t = &tree->tiff;
    if (directory_at(tree, at))
        return true;
    if (at < LAP_EXIF_HEAD || !lap_tiff_has(t, at, 2) || tree->count == LAP_EXIF_DIRECTORIES)
        return false;
    const size_t said = lap_tiff_get(t, at, 2), room = (t->size - at - 2) / LAP_EXIF_ENTRY;
    tree->entries += said < room ? said : room;
    lap_exif_directory d = {.group = group, .at = at, .entries = said < room ? said : room, .stays = stays};
    const size_t end = at + 2 + d.entries * LAP_EXIF_ENTRY;
    d.has_link = said <= room && lap_tiff_has(t, end, 4);
    const size_t size = end + (d.has_link ? 4 : 0) - at;
    if (stays && (said > room || is_owned_by(tree, at, size, LAP_OWNER_DIRECTORY)))
        return false;
    if (stays)
        own(tree, at, size, LAP_OWNER_DIRECTORY);
    tree->directories[tree->count++] = d;
    return true;
}

static bool is_first(const lap_exif_tree *tree, const lap_exif_directory *d, const lap_exif_entry *e)
{
    lap_exif_entry first;
    return lap_exif_entry_find(tree, d, e->tag, &first) && first.at == e->at;
}

/* Whether this pointer is followed so that its target is kept. */
static bool is_kept_pointer(
    const lap_exif_tree *tree, const lap_exif_directory *d, const lap_exif_entry *e, lap_exif_group group)
{
    lap_exif_entry other;
    if (group == LAP_EXIF_SUB || !d->stays || d->group == LAP_EXIF_CHAIN)
        return false;
    if (!(tree->keep & LAP_KEEP_LISTED))
        return true;
    if (e->values != 1 || (e->type != LAP_EXIF_LONG && e->type != 13) || !is_first(tree, d, e))
        return false;
    switch (group) {
    case LAP_EXIF_EXIF:
        return d->group == LAP_EXIF_IFD0;
    case LAP_EXIF_INTEROP:
        return d->group == LAP_EXIF_EXIF;
    default: /* some programs put the GPS pointer into the Exif IFD */
        return (tree->keep & LAP_KEEP_GPS) &&
               (d->group == LAP_EXIF_IFD0 ||
                   (d->group == LAP_EXIF_EXIF &&
                       !lap_exif_entry_find(tree, &tree->directories[0], e->tag, &other)));
    }
}

static void add_staying(lap_exif_tree *tree)
{
    lap_exif_group group;
    for (size_t k = 0; k < tree->count; k++)
        for (size_t i = 0; i < tree->directories[k].entries; i++) {
            const lap_exif_directory d = tree->directories[k];
            const lap_exif_entry e = lap_exif_entry_at(tree, &d, i);
            if (leads_to(e.tag, &group) && is_kept_pointer(tree, &d, &e, group) &&
                !add(tree, lap_tiff_get(&tree->tiff, e.at + 8, 4), group, true))
                tree->broken++;
        }
}

/* Returns the link after the entries; 0: the directory has no link. */
static size_t link_of(const lap_exif_tree *tree, const lap_exif_directory *d)
{
    return d->has_link ? lap_tiff_get(&tree->tiff, d->at + 2 + d->entries * LAP_EXIF_ENTRY, 4) : 0;
}

/* Adds all other directories that can be reached, so that their contents are known to be dropped. */
static void add_going(lap_exif_tree *tree)
{
    lap_exif_group group;
    for (size_t k = 0; k < tree->count; k++) {
        const lap_exif_directory d = tree->directories[k];
        const size_t next = link_of(tree, &d);
        if (next)
            add(tree, next, LAP_EXIF_CHAIN,
                k == 0 && (tree->keep & LAP_KEEP_LISTED) && (tree->keep & LAP_KEEP_THUMBNAIL));
        for (size_t i = 0; i < d.entries && tree->count < LAP_EXIF_DIRECTORIES; i++) {
            const lap_exif_entry e = lap_exif_entry_at(tree, &d, i);
            if (!leads_to(e.tag, &group))
                continue;
            add(tree, lap_tiff_get(&tree->tiff, e.at + 8, 4), group, false);
            for (size_t n = 0; group == LAP_EXIF_SUB && e.is_outside && e.fits && n + 4 <= e.size; n += 4)
                add(tree, lap_tiff_get(&tree->tiff, e.value + n, 4), group, false);
        }
    }
}

/* ---- dropped entries ----------------------------------------------------------------------------- */

static bool holds_jpeg(const lap_exif_tree *tree, const lap_exif_entry *e)
{
    return e->is_outside && e->fits && memmem(tree->tiff.bytes + e->value, e->size, "\xFF\xD8\xFF", 3);
}

/* Returns why an entry is not known to be harmless. */
static const char *why_unlisted(
    const lap_exif_tree *tree, const lap_exif_directory *d, const lap_exif_entry *e)
{
    const lap_exif_tag *row = lap_exif_tag_find(d->group, e->tag);
    const uint32_t type = e->type == LAP_EXIF_UTF8 ? LAP_EXIF_ASCII : e->type;
    if (!row)
        return "unknown tag";
    if (!(row->types >> type & 1))
        return "unusual type";
    return !e->fits ? "broken" : !is_first(tree, d, e) ? "stands twice" : NULL;
}

/* Returns why an entry is dropped, without looking at other entries. */
static const char *why_alone(const lap_exif_tree *tree, const lap_exif_directory *d, const lap_exif_entry *e)
{
    const char *name, *picture = lap_exif_tag_picture(e->tag, &name);
    lap_exif_group group;
    if (!d->stays)
        return d->group == LAP_EXIF_GPS     ? "location"
               : d->group == LAP_EXIF_CHAIN ? "thumbnail"
                                            : "unknown place";
    if (leads_to(e->tag, &group) && group != LAP_EXIF_SUB) {
        if (!is_kept_pointer(tree, d, e, group))
            return group == LAP_EXIF_GPS ? "location" : "unusual pointer";
        return lap_exif_tree_led_to(tree, e) ? NULL : "broken";
    }
    if (picture)
        return picture;
    if (size_of_type(e->type) == 0)
        return "unknown type";
    const char *why = tree->keep & LAP_KEEP_LISTED ? why_unlisted(tree, d, e) : NULL;
    return why || !holds_jpeg(tree, e) ? why : "thumbnail";
}

static bool is_empty(const lap_exif_tree *tree, const lap_exif_directory *d)
{
    for (size_t i = 0; i < d->entries; i++)
        if (!lap_exif_tree_why(tree, d, i))
            return false;
    return true;
}

const char *lap_exif_tree_why(const lap_exif_tree *tree, const lap_exif_directory *d, size_t i)
{
    const lap_exif_entry e = lap_exif_entry_at(tree, d, i);
    const char *why = why_alone(tree, d, &e);
    if (why || !(tree->keep & LAP_KEEP_LISTED))
        return why;
    const lap_exif_directory *target = lap_exif_tree_led_to(tree, &e);
    if (target)
        return is_empty(tree, target) ? "points to nothing" : NULL;
    if (!e.is_outside)
        return NULL;
    return is_owned_by(tree, e.value, e.size, LAP_OWNER_GOES) ||
                   is_owned_by(tree, e.value, e.size, LAP_OWNER_DIRECTORY)
               ? "overlaps a removed part"
               : NULL;
}

static bool works_too_much(const lap_exif_tree *tree)
{
    return tree->work > (uint64_t)MAX_SHARES * tree->tiff.size;
}

/* Marks bytes as dropped. If an entry claims bytes of a directory that is kept, the claim is ignored. */
static void give_up(lap_exif_tree *tree, size_t at, size_t size)
{
    const bool is_listed = tree->keep & LAP_KEEP_LISTED;
    if (at < LAP_EXIF_HEAD || at >= tree->tiff.size)
        return;
    const size_t room = tree->tiff.size - at;
    tree->work += size < room ? size : room;
    if (works_too_much(tree))
        return;
    if (!is_listed && (size > room || is_owned_by(tree, at, size, LAP_OWNER_DIRECTORY)))
        return;
    for (size_t i = 0; i < size && i < room; i++)
        if (tree->map[at + i] != LAP_OWNER_DIRECTORY)
            tree->map[at + i] = LAP_OWNER_GOES;
}

/* Returns element i of an array of integers; 0 past its end. */
static uint32_t element(const lap_exif_tree *tree, const lap_exif_entry *e, size_t i)
{
    const size_t width = e->type == LAP_EXIF_SHORT ? 2 : 4;
    return e->fits && (i + 1) * width <= e->size ? lap_tiff_get(&tree->tiff, e->value + i * width, (int)width)
                                                 : 0;
}

/* Drops the pictures that pairs of tags (offsets and sizes) point to. */
static void give_up_pictures(lap_exif_tree *tree, const lap_exif_directory *d)
{
    static const uint16_t pairs[][2] = {
        {LAP_TAG_THUMBNAIL, LAP_TAG_THUMBNAIL_SIZE}, {0x0111, 0x0117}, {0x0144, 0x0145}, {0xBCC0, 0xBCC1}};
    lap_exif_entry at, size;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (lap_exif_entry_find(tree, d, pairs[k][0], &at) &&
            lap_exif_entry_find(tree, d, pairs[k][1], &size))
            for (size_t i = 0; i < at.values && element(tree, &at, i); i++)
                give_up(tree, element(tree, &at, i), element(tree, &size, i));
}

/* Without a list IFD1 is only unlinked: its bytes stay, except those that its unknown tags point to. */
static bool is_unlinked(const lap_exif_tree *tree, const lap_exif_directory *d)
{
    return d->group == LAP_EXIF_CHAIN && !(tree->keep & LAP_KEEP_LISTED) &&
           d->at == link_of(tree, &tree->directories[0]);
}

static bool is_thumbnail_kept(const lap_exif_tree *tree, const lap_exif_directory *d)
{
    return d->stays && d->group == LAP_EXIF_CHAIN && (tree->keep & LAP_KEEP_THUMBNAIL);
}

static bool goes(const lap_exif_tree *tree, const lap_exif_directory *d, const lap_exif_entry *e)
{
    return is_unlinked(tree, d) ? !lap_exif_tag_find(LAP_EXIF_IFD0, e->tag) || holds_jpeg(tree, e)
                                : why_alone(tree, d, e) != NULL;
}

static void give_up_all(lap_exif_tree *tree, const lap_exif_directory *d)
{
    if (!is_thumbnail_kept(tree, d))
        give_up_pictures(tree, d);
    if (!d->stays && !is_unlinked(tree, d))
        give_up(tree, d->at, 2 + d->entries * LAP_EXIF_ENTRY + (d->has_link ? 4 : 0));
    for (size_t i = 0; i < d->entries; i++) {
        const lap_exif_entry e = lap_exif_entry_at(tree, d, i);
        if (!goes(tree, d, &e))
            continue;
        if (e.is_outside)
            give_up(tree, e.value, e.size);
        else if (e.size == 0 && e.values > 0) /* unknown type: assume the largest size */
            give_up(tree, lap_tiff_get(&tree->tiff, e.at + 8, 4), (size_t)e.values * 8);
    }
}

static void keep_free(lap_exif_tree *tree, size_t at, size_t size)
{
    for (size_t b = at; b < at + size; b++)
        if (tree->map[b] == LAP_OWNER_NONE)
            tree->map[b] = LAP_OWNER_STAYS;
}

bool lap_exif_tree_thumbnail(
    const lap_exif_tree *tree, const lap_exif_directory *d, size_t *begin, size_t *size)
{
    lap_exif_entry place, bytes;
    if (!lap_exif_entry_find(tree, d, LAP_TAG_THUMBNAIL, &place) ||
        !lap_exif_entry_find(tree, d, LAP_TAG_THUMBNAIL_SIZE, &bytes))
        return false;
    *begin = element(tree, &place, 0);
    *size = element(tree, &bytes, 0);
    return *begin >= LAP_EXIF_HEAD && *size > 0 && lap_tiff_has(&tree->tiff, *begin, *size);
}

static void keep_all(lap_exif_tree *tree, const lap_exif_directory *d)
{
    size_t begin, size;
    if (is_thumbnail_kept(tree, d) && lap_exif_tree_thumbnail(tree, d, &begin, &size))
        keep_free(tree, begin, size);
    const bool unlinked = is_unlinked(tree, d);
    if (unlinked)
        keep_free(tree, d->at, 2 + d->entries * LAP_EXIF_ENTRY + (d->has_link ? 4 : 0));
    for (size_t i = 0; i < d->entries; i++) {
        const lap_exif_entry e = lap_exif_entry_at(tree, d, i);
        if (e.is_outside && e.fits && !(unlinked ? goes(tree, d, &e) : lap_exif_tree_why(tree, d, i) != NULL))
            keep_free(tree, e.value, e.size);
    }
}

static void count_values(lap_exif_tree *tree)
{
    for (size_t k = 0; k < tree->count; k++)
        for (size_t i = 0; i < tree->directories[k].entries; i++) {
            const lap_exif_entry e = lap_exif_entry_at(tree, &tree->directories[k], i);
            tree->work += e.is_outside && e.fits ? e.size : 0;
        }
}

lap_code lap_exif_tree_build(
    lap_exif_tree *tree, const uint8_t *payload, size_t size, unsigned keep, lap_error *err)
{
    tree->map = NULL;
    tree->keep = keep;
    tree->count = tree->entries = 0;
    tree->work = 0;
    tree->broken = 0;
    if (!lap_tiff_open(&tree->tiff, payload, size))
        return lap_fail(err, LAP_E_DAMAGED, "EXIF does not begin with a TIFF header");
    tree->map = calloc(tree->tiff.size, 1);
    if (!tree->map)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for EXIF");
    if (!add(tree, lap_tiff_get(&tree->tiff, 4, 4), LAP_EXIF_IFD0, true))
        return lap_fail(err, LAP_E_DAMAGED, "the first directory of EXIF is broken");
    add_staying(tree);
    add_going(tree);
    if (tree->count == LAP_EXIF_DIRECTORIES || tree->entries > MAX_ENTRIES)
        return lap_fail(err, LAP_E_DAMAGED, "EXIF has too many directories or tags");
    own(tree, 0, LAP_EXIF_HEAD, LAP_OWNER_DIRECTORY);
    count_values(tree);
    for (size_t k = 0; k < tree->count && !works_too_much(tree); k++)
        give_up_all(tree, &tree->directories[k]);
    if (works_too_much(tree))
        return lap_fail(err, LAP_E_DAMAGED, "the tags of EXIF share their values");
    for (size_t k = 0; k < tree->count; k++)
        keep_all(tree, &tree->directories[k]);
    return LAP_OK;
}

void lap_exif_tree_release(lap_exif_tree *tree)
{
    free(tree->map);
    tree->map = NULL;
}

/* ---- the report ---------------------------------------------------------------------------------- */

static const char *name_of(lap_exif_group group, uint32_t tag)
{
    static const struct {
        uint32_t tag;
        const char *name;
    } pointers[] = {{LAP_TAG_EXIF, "ExifIFD"}, {LAP_TAG_GPS, "GPSInfo"}, {LAP_TAG_INTEROP, "InteropIFD"}};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
        if (pointers[i].tag == tag)
            return pointers[i].name;
    const lap_exif_tag *row =
        lap_exif_tag_find(group == LAP_EXIF_CHAIN || group == LAP_EXIF_SUB ? LAP_EXIF_IFD0 : group, tag);
    if (!row && (group == LAP_EXIF_GPS || group == LAP_EXIF_INTEROP))
        return "";
    return row ? row->name : lap_exif_tag_picture(tag, &name) ? name : "";
}

void lap_exif_tree_report(const lap_exif_tree *tree, lap_meta_drops *drops)
{
    const lap_tiff *t = &tree->tiff;
    uint64_t loose = 0;
    for (size_t k = 0; k < tree->count; k++) {
        const lap_exif_directory *d = &tree->directories[k];
        for (size_t i = 0; i < d->entries; i++) {
            const lap_exif_entry e = lap_exif_entry_at(tree, d, i);
            const char *why = is_thumbnail_kept(tree, d) ? NULL : lap_exif_tree_why(tree, d, i);
            if (why)
                lap_meta_drop(drops, &(lap_dropped){.kind = "EXIF",
                                         .where = lap_exif_group_name(d->group),
                                         .name = name_of(d->group, e.tag),
                                         .tag = (int)e.tag,
                                         .bytes = e.size,
                                         .reason = why});
        }
    }
    for (size_t i = 0; i < t->size; i++)
        loose += tree->map[i] == LAP_OWNER_NONE && t->bytes[i];
    if (loose)
        lap_meta_drop(drops, &(lap_dropped){.kind = "EXIF",
                                 .where = "",
                                 .name = "",
                                 .tag = -1,
                                 .bytes = loose,
                                 .reason = "nothing refers to it"});
}
