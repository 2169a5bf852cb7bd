/* Unstuffs the entropy-coded data of a scan: drops the zero after each 0xFF, one chunk at a time, up to the
 * next marker. */
#ifndef LAP_DECODE_BYTES_H
#define LAP_DECODE_BYTES_H

#include "cpu_simd/jpeg/decode.h"

enum {
    LAP_BYTES_BLOCK = 256, /* maximum bytes of a block: 11 + 16 bits for DC and 63 x (16 + 15) for AC; a scan
                            * of a progressive file has no more */
    LAP_BYTES_MARKER_0 = 0xD0,
    LAP_BYTES_MARKERS = 8,
    LAP_BYTES_END = 0xD9
};

typedef struct lap_decode_bytes {
    size_t (*unstuff)(const uint8_t *in, size_t size, uint8_t *out, size_t *taken);
    const uint8_t *next, *end; /* the rest of the file, still stuffed */
    uint8_t *memory;           /* unstuffed bytes, with room for lap_decode_bytes_room(most) */
    size_t most;               /* maximum number of bytes that a unit can need */
    bool is_whole;             /* the interval is unstuffed up to its end, state.end */
    lap_decode_state state;
} lap_decode_bytes;

size_t lap_decode_bytes_room(size_t most);
/* Begins an interval at bytes->next. The caller has set unstuff, next, end, memory and most. */
void lap_decode_bytes_begin(lap_decode_bytes *bytes);
/* Unstuffs until `most` bytes are there, or the whole rest of the interval. */
void lap_decode_bytes_fill(lap_decode_bytes *bytes);
/* Returns whether less than one byte of the interval is left and `marker` follows it. */
bool lap_decode_bytes_at_end(lap_decode_bytes *bytes, unsigned marker);
/* Does the same check; if it holds, begins the interval after the marker. */
bool lap_decode_bytes_pass(lap_decode_bytes *bytes, unsigned marker);

#endif
