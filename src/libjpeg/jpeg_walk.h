/* Our own walk over the Huffman-coded scans of a JPEG while libjpeg decodes them. It knows the last bit that
 * the image needs, and so what is left over at the end of a scan, whatever library decodes.
 *
 * It keeps no coefficient; of a progressive image one bit a coefficient. It reads damaged data as libjpeg
 * does: a code that the table lacks is the symbol 0 after 17 bits, and a run past the end of a block ends the
 * block. */
#ifndef LAP_JPEG_WALK_H
#define LAP_JPEG_WALK_H

#include "libjpeg/jpeg_error.h"

typedef struct lap_jpeg_left { /* whole bytes behind the last bit of a scan, up to the marker that ends it */
    uint64_t bytes, zeros, ones; /* all; those that are 0x00; those that are 0xFF */
} lap_jpeg_left;

void lap_jpeg_left_add(lap_jpeg_left *left, unsigned byte);

typedef struct lap_jpeg_walk lap_jpeg_walk;

/* An upper bound of the memory that a walk takes, without the bits of a progressive image. */
#define LAP_JPEG_WALK_MEMORY ((size_t)144 << 10)

lap_jpeg_walk *lap_jpeg_walk_create(void);       /* NULL: out of memory */
void lap_jpeg_walk_destroy(lap_jpeg_walk *walk); /* NULL is fine */

/* A scan of CINFO begins: its header was read, none of its data. LAP_E_MEMORY. */
lap_code lap_jpeg_walk_begin(lap_jpeg_walk *walk, const struct jpeg_decompress_struct *cinfo);
/* The next bytes of the file; those behind the end of the scan are ignored. LAP_E_MEMORY. */
lap_code lap_jpeg_walk_feed(lap_jpeg_walk *walk, const uint8_t *bytes, size_t size);
/* False: the scan has no end yet, or its data ends before its last MCU, which libjpeg warns of. */
bool lap_jpeg_walk_left(const lap_jpeg_walk *walk, lap_jpeg_left *left);

#endif
