/* Finds where the rows of MCUs of a sequential Huffman scan begin, with many threads.
 *
 * Each piece of the data is walked from a guessed position. The walk of the previous piece goes on into this
 * piece until both walks find an MCU at the same bit. From there on both walks are the same, so MCU numbers
 * and DC values can be added up from the first piece to the last. The result does not depend on any guess. */
#ifndef LAP_ENTROPY_SCAN_H
#define LAP_ENTROPY_SCAN_H

#include "base/control.h"
#include "base/pool.h"
#include "coding/entropy_bytes.h"
#include "coding/entropy_walk.h"

typedef struct lap_scan_row { /* a row of MCUs */
    uint64_t bit;             /* counted from the first bit of the scan, without stuffing and markers */
    int16_t dc[4];            /* predictions for its first MCU; 0 after a restart marker */
} lap_scan_row;

typedef struct lap_scan_mark { /* a restart marker */
    uint64_t bit;              /* the first bit after it, and after the padding before it */
    uint8_t padding;           /* bits of padding before it */
    int16_t dc[4];             /* the predictions at this point if there were no marker */
} lap_scan_mark;

typedef struct lap_scan_plan {
    lap_coded coded;
    int mcus_wide, mcus_high;
    int restart_interval; /* MCUs; 0: none */
    size_t max_bytes;     /* limit for rows, marks and begins; above it: LAP_HUFF_UNBOUNDED */
} lap_scan_plan;

typedef struct lap_scan_team { /* the threads that index a scan */
    lap_pool *pool;            /* NULL: only the calling thread */
    int threads;               /* maximum number of the pool's threads to use, in addition to the caller */
    const lap_control *control;
} lap_scan_team;

typedef struct lap_scan_index { /* zeros: empty */
    lap_scan_row *rows;         /* mcus_high + 1; the last one is the end of the data */
    lap_scan_mark *marks;
    size_t mark_count;
    uint64_t *begins;   /* the bit at which each piece begins; piece_count + 1 of them */
    size_t piece_count; /* pieces up to the one in which the scan ends */
} lap_scan_index;

/* Returns LAP_OK with *odd LAP_HUFF_FINE and a complete index, or LAP_OK with the reason in *odd and no
 * index. Else LAP_E_MEMORY, LAP_E_CANCELLED, LAP_E_TIMEOUT. */
lap_code lap_scan_index_make(const lap_scan_plan *plan, const lap_walk_tables *tables,
    const lap_scan_team *team, lap_scan_index *index, lap_huff_odd *odd, lap_error *err);
void lap_scan_index_free(lap_scan_index *index);

#endif
