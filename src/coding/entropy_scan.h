/* Where the rows of MCUs of a sequential Huffman scan begin, found by many threads at once.
 *
 * Each piece of the data is walked over from a guess; the walk over the piece before goes on until it comes
 * upon the same MCU beginning at the same bit. From there on both are one, so numbers of MCUs and DC values
 * add up from the first piece to the last, and nothing of the result is guessed. */
#ifndef LAP_ENTROPY_SCAN_H
#define LAP_ENTROPY_SCAN_H

#include "base/control.h"
#include "base/pool.h"
#include "coding/entropy_bytes.h"
#include "coding/entropy_walk.h"

typedef struct lap_scan_row { /* a row of MCUs */
    uint64_t bit;             /* from the first bit of the scan, stuffing and markers not counted */
    int16_t dc[4];            /* prediction for its first MCU; 0 behind a restart marker */
} lap_scan_row;

typedef struct lap_scan_mark { /* a restart marker */
    uint64_t bit;              /* the first behind it; padding ends there */
    uint8_t padding;           /* bits before it */
    int16_t dc[4];             /* what the prediction would be without it */
} lap_scan_mark;

typedef struct lap_scan_plan {
    lap_coded coded;
    int mcus_wide, mcus_high;
    int restart_interval; /* MCUs; 0: none */
    size_t max_bytes;     /* for rows, marks and begins; past that: UNBOUNDED */
} lap_scan_plan;

typedef struct lap_scan_team { /* who looks through a scan */
    lap_pool *pool;            /* or NULL: the caller alone */
    int threads;               /* at most so many of the pool, and the caller */
    const lap_control *control;
} lap_scan_team;

typedef struct lap_scan_index { /* zeroed is empty */
    lap_scan_row *rows;         /* mcus_high + 1; the last one is the end of the data */
    lap_scan_mark *marks;
    size_t mark_count;
    uint64_t *begins;     /* bit that each piece begins with; piece_count + 1 */
    size_t piece_count;   /* up to the one that the scan ends in */
    size_t guessed_wrong; /* pieces whose walk did not come into step in time, and was done again */
} lap_scan_index;

/* LAP_OK with *odd FINE: index is whole; or with what is odd, and no index. Else LAP_E_MEMORY,
 * LAP_E_CANCELLED, LAP_E_TIMEOUT. */
lap_code lap_scan_index_make(const lap_scan_plan *plan, const lap_walk_tables *tables,
    const lap_scan_team *team, lap_scan_index *index, lap_huff_odd *odd, lap_error *err);
void lap_scan_index_free(lap_scan_index *index);

#endif
