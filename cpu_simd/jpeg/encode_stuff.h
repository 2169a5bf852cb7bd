/* Turns bits into bytes of a file: puts a zero after every 0xFF. The including file chooses the vector
 * operations. */
#ifndef LAP_ENCODE_STUFF_H
#define LAP_ENCODE_STUFF_H

#include "encode_words.h"

/* Copies a vector of bytes; if it contains 0xFF, continues after the first one. May overwrite up to a vector
 * after the output. */
static inline size_t lap_stuff(const uint8_t *bytes, size_t count, uint8_t *out)
{
    uint8_t *to = out;
    for (size_t i = 0; i < count;) {
        const vec in = v_load_any(bytes + i);
        const size_t left = count - i < V_BYTES ? count - i : V_BYTES;
        const size_t first = v_first_ff(in);
        v_store_any(to, in);
        if (first < left) {
            to[first + 1] = 0;
            to += first + 2;
            i += first + 1;
        } else {
            to += left;
            i += left;
        }
    }
    return (size_t)(to - out);
}

#endif
