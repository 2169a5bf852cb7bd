/* Removes the zeros that follow 0xFF, a vector at a time, with the operations of decode_words.h. */
#ifndef LAP_DECODE_UNSTUFF_H
#define LAP_DECODE_UNSTUFF_H

#include "decode.h"
#include "decode_words.h"

typedef struct lap_bytes { /* copied from `at` to `to` */
    const uint8_t *at, *end;
    uint8_t *to;
} lap_bytes;

/* Copies while more than a vector of input is left. Stops at a marker or less than a vector before it. */
#ifdef __AVX512VBMI2__
/* A mask of the vector finds the zeros to remove, so no branch depends on their positions. */
static inline void lap_unstuff_vectors(lap_bytes *b)
{
    uint64_t first = 0; /* 1 if the first byte is such a zero */
    while (b->end - b->at > V_BYTES) {
        const vec v = v_load_any(b->at), next = v_load_any(b->at + 1);
        const uint64_t ff = _mm512_cmpeq_epi8_mask(v, v_set16(-1));
        if (ff & _mm512_test_epi8_mask(next, next))
            break;
        const uint64_t kept = ~(ff << 1 | first);
        v_store_any(b->to, _mm512_maskz_compress_epi8(kept, v));
        b->to += _mm_popcnt_u64(kept);
        b->at += V_BYTES;
        first = ff >> (V_BYTES - 1);
    }
    b->at += first;
}
#else
/* One byte in 256 is 0xFF, so most vectors are copied unchanged. After each 0xFF and its zero, the next
 * vector is loaded. */
static inline void lap_unstuff_vectors(lap_bytes *b)
{
    while (b->end - b->at > V_BYTES) {
        const vec v = v_load_any(b->at);
        const size_t plain = v_first_ff(v);
        v_store_any(b->to, v);
        b->at += plain;
        b->to += plain;
        if (plain == V_BYTES)
            continue;
        if (b->at[1] != 0)
            break;
        *b->to++ = 0xFF;
        b->at += 2;
    }
}
#endif

/* See lap_decode_stages. */
static size_t lap_decode_unstuff(const uint8_t *in, size_t size, uint8_t *out, size_t *taken)
{
    lap_bytes b = {.at = in, .end = in + size, .to = out};
    lap_unstuff_vectors(&b);
    while (b.at < b.end) {
        const bool is_ff = *b.at == 0xFF;
        if (is_ff && (b.end - b.at < 2 || b.at[1] != 0))
            break;
        *b.to++ = *b.at;
        b.at += is_ff ? 2 : 1;
    }
    *taken = (size_t)(b.at - in);
    return (size_t)(b.to - out);
}

#endif
