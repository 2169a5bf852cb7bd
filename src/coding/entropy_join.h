/* Joins the walks over the pieces of a scan, one after the other, into the index of the scan. */
#ifndef LAP_ENTROPY_JOIN_H
#define LAP_ENTROPY_JOIN_H

#include "coding/entropy_scan.h"
#include "coding/entropy_track.h"

typedef struct lap_join {
    const lap_scan_plan *plan;
    const lap_walk_tables *tables;
    lap_scan_index *index;
    lap_stretch stretch; /* for pieces that must be walked again */
    size_t mark_room;

    lap_track piece; /* the current walk */
    uint64_t begin;  /* bit of the scan at which the walk's piece begins */
    size_t note;     /* the walk's MCU up to which rows are in the index */
    size_t mark;     /* the walk's next restart marker to be indexed */
    uint64_t mcu;    /* number in the scan of the MCU `note` */
    int32_t base[4]; /* DC sums where the walk began */
    bool done;       /* the index is complete */
    lap_huff_odd odd;
} lap_join;

/* Joins the next piece, `number`, and takes ownership of its memory. False: there is nothing more to join,
 * since the index is complete, or because of join->odd or *code. */
bool lap_join_next(lap_join *join, size_t number, lap_track *piece, lap_code *code);
void lap_join_free(lap_join *join);

#endif
