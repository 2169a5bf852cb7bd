/* All coefficients of a progressive picture, decoded by as many threads as come.
 *
 * A scan goes through the picture row of MCUs by row of MCUs, and cannot begin in the middle. But scans work
 * side by side: a scan may decode a row of MCUs as soon as the scan before it has decoded that row. For a
 * scan of DC values, that is the last one in the file that has DC values of one of its components; for a scan
 * of AC coefficients, the last one that has AC coefficients of the same component.
 *
 *     scan 1, DC of all components     ======----          =  rows that are decoded
 *     scan 2, luma 1..5, first         ========--
 *     scan 5, luma 6..63, first        =====-----          waits for scan 2
 *     scan 6, luma 1..63, refinement   ====------          waits for scan 5
 *     scan 7, DC, refinement           ======----          waits for scan 1
 *
 * Whatever is odd in any of them ends all: no row of pixels has been given before the last scan is done. */
#ifndef LAP_DECODE_HELD_H
#define LAP_DECODE_HELD_H

#include "base/control.h"
#include "coding/jpeg_script.h"
#include "cpu_simd/jpeg/decode.h"

typedef struct lap_held lap_held;

typedef struct lap_held_source { /* all of it stays there as long as the coefficients do */
    const lap_jpeg_script *script;
    const uint8_t *bytes; /* the file */
    size_t size;
    const lap_decode_stages *stages;
    const lap_control *control; /* or NULL */
} lap_held_source;

/* The scan of a file with most bytes, from 1 on, and how many percent of the file it has: no number of
 * threads is done before it is. 0 and 0: not a progressive picture for us. LAP_E_MEMORY. */
lap_code lap_held_bound(const uint8_t *bytes, size_t size, int *scan, int *percent, lap_error *err);

/* Bytes that the coefficients take, with what their scans need; SIZE_MAX: more than can be counted. */
size_t lap_held_memory(const lap_jpeg_script *script);
/* LAP_E_MEMORY; *held is NULL then. Nothing is decoded yet. */
lap_code lap_held_open(const lap_held_source *source, lap_held **held, lap_error *err);
void lap_held_close(lap_held *held); /* NULL is fine */

/* Decodes scans until none is left, beside other threads that called it, and then *is_fine says whether all
 * were in order. LAP_E_CANCELLED, LAP_E_TIMEOUT, LAP_E_MEMORY. Thread safe. */
lap_code lap_held_work(lap_held *held, bool *is_fine, lap_error *err);

typedef struct lap_held_row {    /* a row of blocks, once all scans are done */
    const int16_t *coefficients; /* 64 a block, in the order of the rung; blocks of zeros up to the next
                                  * multiple of LAP_DECODE_GROUP */
    const uint64_t *nonzero;     /* one a block: bit 63 - k for coefficient k > 0 */
} lap_held_row;
/* The zigzag position of a block's last coefficient that is not 0; 0: DC alone. */
static inline uint8_t lap_held_last(uint64_t nonzero)
{
    return nonzero ? (uint8_t)(63 - __builtin_ctzll(nonzero)) : 0;
}
lap_held_row lap_held_blocks(const lap_held *held, int component, int row);

#endif
