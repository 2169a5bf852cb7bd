#include "jpeg/decode_bytes.h"

#include <string.h>

enum { CHUNK = 32 << 10 /* bytes of the file that one call unstuffs */, MARKER_BYTES = 2 };

size_t lap_decode_bytes_room(size_t most)
{
    return most + CHUNK + LAP_DECODE_PAD;
}

/* Unstuffing stops at the end of the file, and at a 0xFF that is the file's last byte or is followed by a
 * byte other than zero. */
static bool is_at_marker(const lap_decode_bytes *b)
{
    return b->next == b->end || (b->next[0] == 0xFF && (b->end - b->next == 1 || b->next[1] != 0));
}

void lap_decode_bytes_begin(lap_decode_bytes *b)
{
    b->state = (lap_decode_state){.at = b->memory, .end = b->memory};
    b->is_whole = is_at_marker(b);
    if (b->is_whole)
        memset(b->memory, 0, LAP_DECODE_PAD);
}

void lap_decode_bytes_fill(lap_decode_bytes *b)
{
    lap_decode_state *s = &b->state;
    while (!b->is_whole && (size_t)(s->end - s->at) < b->most) {
        const size_t left = (size_t)(s->end - s->at), rest = (size_t)(b->end - b->next);
        size_t taken = 0;
        memmove(b->memory, s->at, left);
        s->at = b->memory;
        s->end =
            b->memory + left + b->unstuff(b->next, rest < CHUNK ? rest : CHUNK, b->memory + left, &taken);
        b->next += taken;
        b->is_whole = is_at_marker(b);
        if (b->is_whole)
            memset(b->memory + (s->end - b->memory), 0, LAP_DECODE_PAD);
    }
}

bool lap_decode_bytes_at_end(lap_decode_bytes *b, unsigned marker)
{
    lap_decode_bytes_fill(b);
    return b->is_whole && lap_decode_left(&b->state) < 8 && b->end - b->next >= MARKER_BYTES &&
           b->next[1] == marker;
}

bool lap_decode_bytes_pass(lap_decode_bytes *b, unsigned marker)
{
    if (!lap_decode_bytes_at_end(b, marker))
        return false;
    b->next += MARKER_BYTES;
    lap_decode_bytes_begin(b);
    return true;
}
