/* EXIF written anew from the entries of a tree that stay. */
#ifndef LAP_EXIF_WRITE_H
#define LAP_EXIF_WRITE_H

#include "codec/exif_tree.h"

/* Writes the TIFF structure to `to`, which has room for LAP_EXIF_ROOM bytes with the signature, and returns
 * its size; 0: no tag stays. Values that do not fit any more are given to change->drops. */
size_t lap_exif_write(const lap_exif_tree *tree, const lap_exif_change *change, uint8_t *to);

#endif
