/* Appends bits that begin at a byte boundary to a byte that is not full, by shifting them. */
#ifndef LAP_ENCODE_SHIFT_H
#define LAP_ENCODE_SHIFT_H

#include <string.h>

#include "encode.h"

static inline uint64_t lap_read_big(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return __builtin_bswap64(word);
}

/* Shifts `count` bytes and writes the same number of bytes; state keeps the last bits.
 *
 *     state  |  .....abc |      bits  | ABCDEFGH | IJKLMNOP |
 *     out                             | abcABCDE | FGHIJKLM |     state  | .....NOP | */
static inline void lap_shift_bits(lap_encode_state *state, const uint8_t *bits, size_t count, uint8_t *out)
{
    const unsigned shift = state->bit_count, mask = (1u << shift) - 1;
    unsigned before = state->bits;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const uint64_t in = lap_read_big(bits + i);
        const uint64_t word = __builtin_bswap64(in >> shift | (uint64_t)before << 1 << (63 - shift));
        memcpy(out + i, &word, sizeof word);
        before = (unsigned)in & mask;
    }
    for (; i < count; i++) {
        out[i] = (uint8_t)(before << (8 - shift) | bits[i] >> shift);
        before = bits[i] & mask;
    }
    state->bits = before;
}

#endif
