/* The data of a scan without the zeros that follow 0xFF, a piece at a time, up to the next marker. */
#ifndef LAP_DECODE_BYTES_H
#define LAP_DECODE_BYTES_H

#include "cpu_simd/jpeg/decode.h"

enum {
    LAP_BYTES_BLOCK = 256, /* bytes of a block at most: 11 + 16 bits and 63 x (16 + 15), or what a progressive
                            * scan has of it */
    LAP_BYTES_MARKER_0 = 0xD0,
    LAP_BYTES_MARKERS = 8,
    LAP_BYTES_END = 0xD9
};

typedef struct lap_decode_bytes {
    size_t (*unstuff)(const uint8_t *in, size_t size, uint8_t *out, size_t *taken);
    const uint8_t *next, *end; /* of the file: those that still have their stuffing */
    uint8_t *memory;           /* those without: lap_decode_bytes_room(most) */
    size_t most;               /* that a unit needs */
    bool is_whole;             /* state.end is the end of the interval */
    lap_decode_state state;
} lap_decode_bytes;

size_t lap_decode_bytes_room(size_t most);
/* unstuff, next, end, memory and most are set: begins there. */
void lap_decode_bytes_begin(lap_decode_bytes *bytes);
/* As many bytes as a unit can need, or all of the interval. */
void lap_decode_bytes_fill(lap_decode_bytes *bytes);
/* Whether less than a byte is left of the interval, and its marker is this one. */
bool lap_decode_bytes_at_end(lap_decode_bytes *bytes, unsigned marker);
/* The same, and goes on behind the marker. */
bool lap_decode_bytes_pass(lap_decode_bytes *bytes, unsigned marker);

#endif
