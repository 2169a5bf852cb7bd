/* Bytes without the zeros that follow 0xFF, a vector at a time, in the words of decode_words.h. One byte in
 * 256 is 0xFF: most vectors are copied as they are; behind each 0xFF a new one begins. */
#ifndef LAP_DECODE_UNSTUFF_H
#define LAP_DECODE_UNSTUFF_H

#include "decode.h"
#include "decode_words.h"

/* See lap_decode_stages. */
static size_t lap_decode_unstuff(const uint8_t *in, size_t size, uint8_t *out, size_t *taken)
{
    const uint8_t *at = in, *const end = in + size;
    uint8_t *to = out;
    while (at < end) {
        size_t plain = 0; /* bytes before the next 0xFF */
        if (end - at >= V_BYTES) {
            const vec v = v_load_any(at);
            v_store_any(to, v);
            plain = v_first_ff(v);
        } else {
            while (plain < (size_t)(end - at) && at[plain] != 0xFF) {
                to[plain] = at[plain];
                plain++;
            }
        }
        at += plain;
        to += plain;
        if (plain == V_BYTES)
            continue;
        if (end - at < 2 || at[1] != 0)
            break;
        *to++ = 0xFF;
        at += 2;
    }
    *taken = (size_t)(at - in);
    return (size_t)(to - out);
}

#endif
