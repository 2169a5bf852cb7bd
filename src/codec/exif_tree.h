/* The directories of an EXIF payload: which entries are kept, why others are dropped, and which entry owns
 * each byte. Any bytes are safe input. Sources: EXIF 2.32, TIFF 6.0. One thread at a time. */
#ifndef LAP_EXIF_TREE_H
#define LAP_EXIF_TREE_H

#include "codec/exif.h"
#include "codec/exif_tags.h"
#include "codec/tiff.h"

enum {
    LAP_EXIF_DIRECTORIES = 64,
    LAP_TAG_WIDTH = 0x0100,
    LAP_TAG_HEIGHT = 0x0101,
    LAP_TAG_ORIENTATION = 0x0112,
    LAP_TAG_SUB_IFDS = 0x014A,
    LAP_TAG_THUMBNAIL = 0x0201,
    LAP_TAG_THUMBNAIL_SIZE = 0x0202,
    LAP_TAG_EXIF = 0x8769,
    LAP_TAG_GPS = 0x8825,
    LAP_TAG_PIXEL_X = 0xA002,
    LAP_TAG_PIXEL_Y = 0xA003,
    LAP_TAG_INTEROP = 0xA005
};

typedef struct lap_exif_entry {
    uint32_t tag, type, values;
    size_t at;    /* offset of the entry's twelve bytes */
    size_t value; /* offset of its value, inside the entry or elsewhere */
    size_t size;  /* size of its value; 0 if the type is unknown */
    bool is_outside, fits;
} lap_exif_entry;

typedef struct lap_exif_directory {
    lap_exif_group group;
    size_t at, entries;
    bool has_link; /* a link to the next directory follows the entries */
    bool stays;
} lap_exif_directory;

typedef enum lap_exif_owner {
    LAP_OWNER_NONE,
    LAP_OWNER_STAYS,
    LAP_OWNER_GOES,
    LAP_OWNER_DIRECTORY
} lap_exif_owner;

typedef struct lap_exif_tree {
    lap_tiff tiff;
    unsigned keep;
    lap_exif_directory directories[LAP_EXIF_DIRECTORIES];
    size_t count;
    size_t entries; /* in all directories */
    uint64_t work;  /* bytes of all values, and bytes marked as dropped */
    int broken;     /* directories that should be kept but cannot be read */
    uint8_t *map;   /* lap_exif_owner of each byte */
} lap_exif_tree;

/* Builds the tree. keep has LAP_KEEP_... bits; without a list, all but the thumbnail. LAP_E_DAMAGED: the
 * first directory cannot be read, there are too many directories or entries, or they share their values.
 * LAP_E_MEMORY. Release the tree even after a failure. */
lap_code lap_exif_tree_build(
    lap_exif_tree *tree, const uint8_t *payload, size_t size, unsigned keep, lap_error *err);
void lap_exif_tree_release(lap_exif_tree *tree);

lap_exif_entry lap_exif_entry_at(const lap_exif_tree *tree, const lap_exif_directory *d, size_t i);
/* Finds the first entry with this tag; returns false if no entry has it. */
bool lap_exif_entry_find(
    const lap_exif_tree *tree, const lap_exif_directory *d, uint32_t tag, lap_exif_entry *entry);
/* Returns the directory that an entry points to, if it is kept; NULL: it is not kept, or the entry is no
 * pointer. */
const lap_exif_directory *lap_exif_tree_led_to(const lap_exif_tree *tree, const lap_exif_entry *entry);
/* Finds the bytes that a directory names as its thumbnail; false if it names none. */
bool lap_exif_tree_thumbnail(
    const lap_exif_tree *tree, const lap_exif_directory *d, size_t *begin, size_t *size);
/* Returns why entry i is dropped ("thumbnail", "location", ...); NULL: it is kept. */
const char *lap_exif_tree_why(const lap_exif_tree *tree, const lap_exif_directory *d, size_t i);
/* Records every dropped entry, and bytes that nothing refers to. */
void lap_exif_tree_report(const lap_exif_tree *tree, lap_meta_drops *drops);
/* Writes new EXIF from the entries that are kept, as a TIFF structure, to `to`, which has room for
 * LAP_EXIF_ROOM bytes including the signature. Returns its size; 0: no tag is kept. Records in change->drops
 * values that no longer fit. */
size_t lap_exif_write(const lap_exif_tree *tree, const lap_exif_change *change, uint8_t *to);

#endif
