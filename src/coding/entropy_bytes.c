#include "coding/entropy_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

size_t lap_unstuff(const uint8_t *in, size_t size, uint8_t *out, size_t *taken)
{
    const uint8_t *at = in, *const end = in + size;
    uint8_t *to = out;
    while (at < end) {
        const uint8_t *ff = memchr(at, 0xFF, (size_t)(end - at));
        const uint8_t *stop = ff ? ff : end;
        memcpy(to, at, (size_t)(stop - at));
        to += stop - at;
        at = stop;
        if (!ff || end - ff < 2 || ff[1] != 0)
            break;
        *to++ = 0xFF;
        at += 2;
    }
    *taken = (size_t)(at - in);
    return (size_t)(to - out);
}

static lap_code reserve(lap_stretch *s, size_t bytes)
{
    if (bytes <= s->room)
        return LAP_OK;
    free(s->bytes);
    s->room = 0;
    s->bytes = calloc(bytes, 1); /* zeros: bytes after the data are read, but no result depends on them */
    if (!s->bytes)
        return LAP_E_MEMORY;
    s->room = bytes;
    return LAP_OK;
}

static lap_code add_mark(lap_stretch *s, uint8_t code)
{
    if (s->mark_count == s->mark_room) {
        size_t room = s->mark_room ? 2 * s->mark_room : 16;
        lap_mark *marks = realloc(s->marks, room * sizeof *marks);
        if (!marks)
            return LAP_E_MEMORY;
        s->marks = marks;
        s->mark_room = room;
    }
    s->marks[s->mark_count++] = (lap_mark){.at = s->size, .code = code};
    return LAP_OK;
}

/* Appends bytes of the file from *at up to `end`, or one byte more if that would split a pair FF xx. */
static lap_code take(lap_stretch *s, const lap_coded *coded, size_t *at, size_t end)
{
    const uint8_t *bytes = coded->bytes;
    lap_code code = LAP_OK;
    size_t i = *at;
    while (i < end && !s->ends && code == LAP_OK) {
        size_t taken = 0;
        s->size += (uint32_t)coded->unstuff(bytes + i, end - i, s->bytes + s->size, &taken);
        i += taken;
        if (i >= end)
            break;
        uint8_t second = i + 1 < coded->size ? bytes[i + 1] : 0xFF;
        if (second == 0) { /* 0xFF is the last byte before `end` */
            s->bytes[s->size++] = 0xFF;
        } else if (coded->restarts && second >= 0xD0 && second <= 0xD7) {
            code = add_mark(s, second);
        } else {
            s->ends = true;
            s->end_code = second == 0xFF ? 0 : second;
            break;
        }
        i += 2;
    }
    *at = i;
    if (i >= coded->size)
        s->ends = true;
    return code;
}

lap_code lap_stretch_fill(
    lap_stretch *stretch, const lap_coded *coded, size_t index, size_t more, size_t slack)
{
    size_t begin = index * coded->piece, room;
    size_t end = coded->size - begin < coded->piece ? coded->size : begin + coded->piece;
    stretch->size = stretch->own = 0;
    stretch->mark_count = 0;
    stretch->ends = false;
    stretch->end_code = 0;
    /* After the piece, each round reads `more` bytes of the file, until at least `more` bytes are there after
     * unstuffing. So the last round may add up to `more` bytes too many. */
    if (!lap_add(end - begin, 2 * more + 2 + LAP_UNSTUFF_SLACK, &room) || !lap_add(room, slack, &room) ||
        room > UINT32_MAX / 16)
        return LAP_E_MEMORY;
    lap_code code = reserve(stretch, room);
    if (code != LAP_OK)
        return code;
    if (begin > 0 && coded->bytes[begin - 1] == 0xFF) /* xx of a pair FF xx */
        begin++;
    code = take(stretch, coded, &begin, end);
    stretch->own = stretch->size;
    while (code == LAP_OK && !stretch->ends && stretch->size - stretch->own < more) {
        end = coded->size - begin < more ? coded->size : begin + more;
        code = take(stretch, coded, &begin, end);
    }
    return code;
}

void lap_stretch_free(lap_stretch *stretch)
{
    free(stretch->bytes);
    free(stretch->marks);
    *stretch = (lap_stretch){0};
}
