/* Pieces that were walked over, joined one after the other into the index of the scan. */
#ifndef LAP_ENTROPY_JOIN_H
#define LAP_ENTROPY_JOIN_H

#include "coding/entropy_scan.h"
#include "coding/entropy_track.h"

typedef struct lap_join {
    const lap_scan_plan *plan;
    const lap_walk_tables *tables;
    lap_scan_index *index;
    lap_stretch stretch; /* for walks that are done again */
    size_t mark_room;

    lap_track piece; /* whose walk is followed */
    uint64_t begin;  /* its first bit */
    size_t note;     /* of it: rows before this MCU are in the index */
    size_t mark;     /* of it: the next to be counted */
    uint64_t mcu;    /* number of that MCU in the scan */
    int32_t base[4]; /* DC sums where the walk began */
    bool done;       /* the scan is whole */
    lap_huff_odd odd;
} lap_join;

/* Joins piece `number`, which comes next; takes its memory over. False: done, or odd, or *code. */
bool lap_join_next(lap_join *join, size_t number, lap_track *piece, lap_code *code);
void lap_join_free(lap_join *join);

#endif
