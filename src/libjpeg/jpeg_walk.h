/* Our own walk over the Huffman-coded scans of a JPEG while libjpeg decodes them. It finds the last bit that
 * the image needs, and so the bytes that are left over at the end of a scan, with any JPEG library.
 *
 * It keeps no coefficients; for a progressive image it keeps one bit for each. It reads damaged data as
 * libjpeg does: an invalid code counts as the symbol 0 after 17 bits, and a run past the end of a block ends
 * the block. */
#ifndef LAP_JPEG_WALK_H
#define LAP_JPEG_WALK_H

#include "libjpeg/jpeg_error.h"

typedef struct lap_jpeg_left {   /* whole bytes between the last bit of a scan and the marker after it */
    uint64_t bytes, zeros, ones; /* all bytes; how many are 0x00; how many are 0xFF */
} lap_jpeg_left;

void lap_jpeg_left_add(lap_jpeg_left *left, unsigned byte);

typedef struct lap_jpeg_walk lap_jpeg_walk;

/* An upper bound for the bytes of a walk, not counting the bits for a progressive image. */
#define LAP_JPEG_WALK_MEMORY ((size_t)144 << 10)

lap_jpeg_walk *lap_jpeg_walk_create(void);       /* NULL: out of memory */
void lap_jpeg_walk_destroy(lap_jpeg_walk *walk); /* NULL is allowed */

/* Begins a scan of CINFO. Its header must have been read, but none of its data. LAP_E_MEMORY. */
lap_code lap_jpeg_walk_begin(lap_jpeg_walk *walk, const struct jpeg_decompress_struct *cinfo);
/* Processes the next bytes of the file; ignores bytes after the end of the scan. LAP_E_MEMORY. */
lap_code lap_jpeg_walk_feed(lap_jpeg_walk *walk, const uint8_t *bytes, size_t size);
/* Counts the bytes left over. False if the scan has not ended yet, or if its data ends before its last MCU,
 * which libjpeg warns of. */
bool lap_jpeg_walk_left(const lap_jpeg_walk *walk, lap_jpeg_left *left);

#endif
