/* Appends strings of bits to a buffer of bytes. */
#ifndef LAP_ENCODE_PUT_H
#define LAP_ENCODE_PUT_H

#include "encode_strips.h"

typedef struct lap_bits { /* the lowest `count` bits, 0..7, do not fill a byte yet */
    uint64_t bits, count;
    uint8_t *to;
} lap_bits;

/* Appends at most 56 bits. Writes all whole bytes, and some bytes after them. */
LAP_INLINE void lap_put(lap_bits *b, uint64_t bits, unsigned length)
{
    b->bits = b->bits << length | bits;
    b->count += length;
    /* If there are no bits, the shift count is 0, and the bytes written are not used. */
    const uint64_t word = __builtin_bswap64(b->bits << (-b->count & 63));
    memcpy(b->to, &word, sizeof word);
    b->to += b->count / 8;
    b->count %= 8;
}

/* Continues a band with the bits left in state. */
static inline lap_bits lap_bits_of(const lap_encode_state *state, uint8_t *to)
{
    return (lap_bits){.bits = state->bits, .count = state->bit_count, .to = to};
}

static inline void lap_keep_bits(const lap_bits *b, lap_encode_state *state)
{
    state->bits = (unsigned)b->bits & ((1u << b->count) - 1);
    state->bit_count = (unsigned)b->count;
}

#endif
