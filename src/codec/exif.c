#include "codec/exif.h"

#include <string.h>

#include "codec/exif_tree.h"
#include "codec/tiff.h"

int lap_exif_orientation(const uint8_t *payload, size_t size)
{
    lap_tiff t;
    if (!lap_tiff_open(&t, payload, size))
        return 1;
    const size_t at = lap_tiff_get(&t, 4, 4);
    if (at < LAP_EXIF_HEAD || !lap_tiff_has(&t, at, 2))
        return 1;
    const size_t said = lap_tiff_get(&t, at, 2), room = (t.size - at - 2) / LAP_EXIF_ENTRY;
    for (size_t i = 0; i < said && i < room; i++) {
        const size_t entry = at + 2 + i * LAP_EXIF_ENTRY;
        if (lap_tiff_get(&t, entry, 2) != LAP_TAG_ORIENTATION)
            continue;
        const uint32_t type = lap_tiff_get(&t, entry + 2, 2);
        const uint32_t value = type == LAP_EXIF_SHORT  ? lap_tiff_get(&t, entry + 8, 2)
                               : type == LAP_EXIF_LONG ? lap_tiff_get(&t, entry + 8, 4)
                                                       : 0;
        return lap_tiff_get(&t, entry + 4, 4) == 1 && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

/* ---- without a list: in place -------------------------------------------------------------------- */

static void set(const lap_exif_tree *tree, const lap_exif_directory *d, uint32_t tag, int value, uint8_t *to)
{
    lap_exif_entry e;
    if (lap_exif_entry_find(tree, d, tag, &e) && e.values == 1 &&
        (e.type == LAP_EXIF_SHORT || e.type == LAP_EXIF_LONG))
        lap_tiff_put(
            to + e.at + 8, tree->tiff.is_big_endian, e.type == LAP_EXIF_SHORT ? 2 : 4, (uint32_t)value);
}

/* Moves the kept entries up; the directory no longer points to what followed. */
static void close_gaps(const lap_exif_tree *tree, const lap_exif_directory *d, uint8_t *to)
{
    size_t left = 0;
    uint8_t *entries = to + d->at + 2;
    for (size_t i = 0; i < d->entries; i++) {
        if (lap_exif_tree_why(tree, d, i))
            continue;
        memmove(entries + left * LAP_EXIF_ENTRY, entries + i * LAP_EXIF_ENTRY, LAP_EXIF_ENTRY);
        left++;
    }
    lap_tiff_put(to + d->at, tree->tiff.is_big_endian, 2, (uint32_t)left);
    memset(entries + left * LAP_EXIF_ENTRY, 0, (d->entries - left) * LAP_EXIF_ENTRY + (d->has_link ? 4 : 0));
}

static size_t patch(const lap_exif_tree *tree, const lap_exif_change *change, uint8_t *to)
{
    const lap_tiff *t = &tree->tiff;
    const lap_exif_directory *ifd0 = &tree->directories[0];
    lap_exif_entry link;
    memcpy(to, t->bytes, t->size);
    if (change->turned)
        set(tree, ifd0, LAP_TAG_ORIENTATION, 1, to);
    set(tree, ifd0, LAP_TAG_WIDTH, change->width, to);
    set(tree, ifd0, LAP_TAG_HEIGHT, change->height, to);
    const lap_exif_directory *exif =
        lap_exif_entry_find(tree, ifd0, LAP_TAG_EXIF, &link) ? lap_exif_tree_led_to(tree, &link) : NULL;
    if (exif) {
        set(tree, exif, LAP_TAG_PIXEL_X, change->width, to);
        set(tree, exif, LAP_TAG_PIXEL_Y, change->height, to);
    }
    for (size_t k = 0; k < tree->count; k++)
        if (tree->directories[k].stays)
            close_gaps(tree, &tree->directories[k], to);
    size_t size = t->size;
    while (size > LAP_EXIF_HEAD && tree->map[size - 1] == LAP_OWNER_GOES)
        size--;
    for (size_t i = 0; i < size; i++)
        if (tree->map[i] == LAP_OWNER_NONE || tree->map[i] == LAP_OWNER_GOES)
            to[i] = 0;
    return size;
}

lap_code lap_exif_choose(const uint8_t *payload, size_t size, const lap_exif_change *change, uint8_t *to,
    size_t *to_size, lap_error *err)
{
    lap_meta_drops *const drops = change->drops;
    lap_exif_tree tree;
    lap_error why;
    *to_size = 0;
    lap_code code = lap_exif_tree_build(&tree, payload, size, change->keep, &why);
    if (code == LAP_OK) {
        uint8_t *tiff = to + LAP_EXIF_SIGNATURE;
        const size_t left =
            change->keep & LAP_KEEP_LISTED ? lap_exif_write(&tree, change, tiff) : patch(&tree, change, tiff);
        memcpy(to, payload, LAP_EXIF_SIGNATURE);
        *to_size = left ? LAP_EXIF_SIGNATURE + left : 0;
        lap_exif_tree_report(&tree, drops);
        if (tree.broken)
            lap_meta_warn(drops, "a directory of EXIF is broken and left out");
    } else if (code == LAP_E_DAMAGED) {
        lap_meta_drop(drops,
            &(lap_dropped){
                .kind = "EXIF", .where = "", .name = "", .tag = -1, .bytes = size, .reason = "broken"});
        lap_meta_warn(drops, "EXIF is left out: %s", why.message);
        code = LAP_OK;
    } else if (err) {
        *err = why;
    }
    lap_exif_tree_release(&tree);
    return code;
}
