/* Walks from MCU to MCU through the Huffman-coded data of a sequential JPEG. It keeps no coefficients, only
 * where each MCU begins and the DC sums there. It calls no JPEG library, allocates only notes, and is safe
 * with any bytes. Threads may share tables, but not a walk. */
#ifndef LAP_ENTROPY_WALK_H
#define LAP_ENTROPY_WALK_H

#include "coding/huffman_walk.h"
#include "lapedge.h"

enum {
    LAP_WALK_LANES = 3, /* walks that one thread interleaves */
    LAP_WALK_AC_BITS = 13,
    LAP_WALK_FIRST_BITS = 12,
    /* Bytes that must be readable after the data: the longest MCU (ten blocks of 64 codes of 16 bits, each
     * with a value of 15 bits) and one load. No result depends on them. */
    LAP_WALK_SLACK = LAP_HUFF_BLOCKS * 64 * 31 / 8 + 16
};

/* Look-up tables, indexed by the next bits of a block. An entry holds all symbols whose codes the index
 * contains, up to the end of the block; the value of the last one may extend beyond the index. Bits 0..5 of
 * an entry are the number of bits of these symbols; bits 8..15 are the number of coefficients that they
 * cover, plus LAP_HUFF_EOB at the end of the block. */
typedef struct lap_walk_codes {
    uint32_t first[1 << LAP_WALK_FIRST_BITS]; /* for DC; bits 16..31: the difference; 0: too long */
    uint16_t ac[1 << LAP_WALK_AC_BITS];       /* for AC; LAP_HUFF_LONG_CODE coefficients: code too long */
} lap_walk_codes;

typedef struct lap_walk lap_walk;

/* Advances walks interleaved: while one walk waits for a load, the others compute. Returns when one of them,
 * *which, reaches its stop or an error, and does not report the error. All walks are then at the start of an
 * MCU, so call lap_walk_on for that walk to get the error. LAP_E_MEMORY. */
typedef lap_code lap_lanes_fn(
    lap_walk *const walks[LAP_WALK_LANES], const uint32_t stops[LAP_WALK_LANES], int *which);

typedef struct lap_walk_tables {
    lap_huff_layout layout;
    const lap_walk_codes *block[LAP_HUFF_BLOCKS]; /* for each block of an MCU */
    lap_walk_codes codes[4];
    lap_lanes_fn *walk_together; /* lap_walk_together, or a rung's function */
} lap_walk_tables;

/* Makes the tables for a layout. All fields and all codes of the layout must be set. */
void lap_walk_tables_init(lap_walk_tables *tables, const lap_huff_layout *layout);

typedef struct lap_note { /* an MCU begins here */
    uint32_t bit;         /* from the walk's first byte */
    int32_t dc[4];        /* sums of the DC differences since the walk began, modulo 2^32 */
} lap_note;

typedef struct lap_notes { /* a growing array; zeros: empty; free it with free(at) */
    lap_note *at;
    size_t count, room;
} lap_notes;

struct lap_walk {
    const lap_walk_tables *tables;
    const uint8_t *bytes; /* without stuffing and markers; LAP_WALK_SLACK more must be readable */
    lap_note now;         /* the MCU that comes next */
    lap_notes *notes;     /* each MCU that the walk passes is appended here */
};

/* Walks until an MCU begins at bit `stop` or later, and notes each MCU before that. Returns FINE; or CODE or
 * RUN if the MCU at walk->now, the last one noted, has that error. *code: LAP_OK or LAP_E_MEMORY. */
lap_huff_odd lap_walk_on(lap_walk *walk, uint32_t stop, lap_code *code);
lap_lanes_fn lap_walk_together; /* in plain C; the rungs of the ladder `decode` have faster ones */
/* Walks up to a marker at byte `end`; afterwards the padding before it begins at walk->now. Returns the same
 * as lap_walk_on, or SHORT or LONG. */
lap_huff_odd lap_walk_to_marker(lap_walk *walk, uint32_t end, lap_code *code);
/* Notes walk->now. */
lap_code lap_walk_note(lap_walk *walk);

#endif
