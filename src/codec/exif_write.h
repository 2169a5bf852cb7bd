/* Writes new EXIF from the entries of a tree that are kept. */
#ifndef LAP_EXIF_WRITE_H
#define LAP_EXIF_WRITE_H

#include "codec/exif_tree.h"

/* Writes the TIFF structure to `to`, which has room for LAP_EXIF_ROOM bytes including the signature. Returns
 * its size; 0: no tag is kept. Records in change->drops values that no longer fit. */
size_t lap_exif_write(const lap_exif_tree *tree, const lap_exif_change *change, uint8_t *to);

#endif
