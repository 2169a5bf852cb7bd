/* Decodes all coefficients of a progressive picture. All threads that call lap_held_work share the work.
 *
 * A scan decodes one row of MCUs after the other, and cannot begin in the middle. But scans run in parallel:
 * a scan may decode a row of MCUs as soon as the scans that it depends on have decoded that row. A DC scan
 * depends, for each of its components, on the last DC scan before it that contains the component; an AC scan
 * depends on the last AC scan before it of the same component.
 *
 *     scan 1, DC of all components     ======----          =  rows that are decoded
 *     scan 2, luma 1..5, first         ========--
 *     scan 5, luma 6..63, first        =====-----          waits for scan 2
 *     scan 6, luma 1..63, refinement   ====------          waits for scan 5
 *     scan 7, DC, refinement           ======----          waits for scan 1
 *
 * An error in any scan stops all of them. This loses no pixels, since none are output before the last scan is
 * decoded. */
#ifndef LAP_DECODE_HELD_H
#define LAP_DECODE_HELD_H

#include "base/control.h"
#include "coding/jpeg_script.h"
#include "cpu_simd/jpeg/decode.h"

typedef struct lap_held lap_held;

typedef struct lap_held_source { /* must outlive the coefficients */
    const lap_jpeg_script *script;
    const uint8_t *bytes; /* the file */
    size_t size;
    const lap_decode_stages *stages;
    const lap_control *control; /* or NULL */
} lap_held_source;

/* Finds the largest scan of a file: its number, counted from 1, and its share of the file in percent. It
 * limits the speed: however many threads decode, they take at least as long as this scan. Sets both to 0 if
 * the file is not a progressive picture that our decoder supports. LAP_E_MEMORY. */
lap_code lap_held_bound(const uint8_t *bytes, size_t size, int *scan, int *percent, lap_error *err);

/* Returns the bytes of the coefficients and of the state that their scans need; SIZE_MAX on overflow. */
size_t lap_held_memory(const lap_jpeg_script *script);
/* Allocates the coefficients; decodes nothing yet. LAP_E_MEMORY; *held is NULL then. */
lap_code lap_held_open(const lap_held_source *source, lap_held **held, lap_error *err);
void lap_held_close(lap_held *held); /* NULL is fine */

/* Decodes scans until all are done; any number of threads may call it at the same time and share the work.
 * Then sets *is_fine to whether all scans were valid. LAP_E_CANCELLED, LAP_E_TIMEOUT, LAP_E_MEMORY. Thread
 * safe. */
lap_code lap_held_work(lap_held *held, bool *is_fine, lap_error *err);

typedef struct lap_held_row {    /* a row of blocks, once all scans are done */
    const int16_t *coefficients; /* 64 a block, in the order of the rung; zero blocks pad the row to a
                                  * multiple of LAP_DECODE_GROUP */
    const uint64_t *nonzero;     /* one a block: bit 63 - k for coefficient k > 0 */
} lap_held_row;
/* Returns the zigzag position of a block's last nonzero AC coefficient; 0 if all of them are 0. */
static inline uint8_t lap_held_last(uint64_t nonzero)
{
    return nonzero ? (uint8_t)(63 - __builtin_ctzll(nonzero)) : 0;
}
lap_held_row lap_held_blocks(const lap_held *held, int component, int row);

#endif
