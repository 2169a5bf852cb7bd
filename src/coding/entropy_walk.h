/* From MCU to MCU through Huffman-coded data, without keeping a coefficient: where each MCU begins and how
 * far the DC values have gone since. Sequential JPEG; no library, no allocation but for notes, any bytes are
 * safe. A table set may be shared by threads, a walk belongs to one. */
#ifndef LAP_ENTROPY_WALK_H
#define LAP_ENTROPY_WALK_H

#include "coding/huffman_walk.h"
#include "lapedge.h"

enum {
    LAP_WALK_AC_BITS = 13,
    LAP_WALK_FIRST_BITS = 12,
    /* Bytes that must be readable behind the last one: the longest MCU (ten blocks of 64 codes of 16 bits
     * with 15 more for the value) and a load. What they hold does not matter. */
    LAP_WALK_SLACK = LAP_HUFF_BLOCKS * 64 * 31 / 8 + 16
};

/* What the next bits of a block hold: as many whole symbols as there are, up to the block's end; value bits
 * of the last one may lie behind the index. Bits of an entry: how many bits the symbols have (0..5); how many
 * coefficients they stand for, LAP_HUFF_EOB more at the end of the block (8..15). */
typedef struct lap_walk_codes {
    uint32_t first[1 << LAP_WALK_FIRST_BITS]; /* of DC: its difference is in bits 16..31; 0: too long */
    uint16_t ac[1 << LAP_WALK_AC_BITS];       /* LAP_HUFF_LONG_CODE coefficients: too long */
} lap_walk_codes;

typedef struct lap_walk_tables {
    lap_huff_layout layout;
    const lap_walk_codes *block[LAP_HUFF_BLOCKS]; /* of an MCU */
    lap_walk_codes codes[4];
} lap_walk_tables;

/* Of a layout whose fields are set; no code of it is missing. */
void lap_walk_tables_init(lap_walk_tables *tables, const lap_huff_layout *layout);

typedef struct lap_note { /* an MCU begins here */
    uint32_t bit;         /* from the walk's first byte */
    int32_t dc[4];        /* sums of the differences since the walk began, modulo 2^32 */
} lap_note;

typedef struct lap_notes { /* grows; zeroed is empty; free(at) */
    lap_note *at;
    size_t count, room;
} lap_notes;

typedef struct lap_walk {
    const lap_walk_tables *tables;
    const uint8_t *bytes; /* without stuffing and markers; LAP_WALK_SLACK more are readable */
    lap_note now;         /* the MCU that comes next */
    lap_notes *notes;     /* what begins is added here */
} lap_walk;

/* Goes on until an MCU begins at bit `stop` or later, noting each MCU before that. FINE; CODE or RUN: the
 * MCU at walk->now is odd, and it is the last one noted. *code: LAP_OK or LAP_E_MEMORY. */
lap_huff_odd lap_walk_on(lap_walk *walk, uint32_t stop, lap_code *code);
/* Goes on with both, alternately: what one waits for, the other uses. Ends when one is at its stop, or at
 * something odd, which is not said: each is at an MCU from which lap_walk_on goes on. LAP_E_MEMORY. */
lap_code lap_walk_two(lap_walk *const walks[2], const uint32_t stops[2]);
/* Up to a marker at byte `end`: on return walk->now is where the padding before it begins. Also SHORT and
 * LONG. */
lap_huff_odd lap_walk_to_marker(lap_walk *walk, uint32_t end, lap_code *code);
/* Notes walk->now. */
lap_code lap_walk_note(lap_walk *walk);

#endif
