/* All of an input in memory, before it is read as usual. */
#include <string.h>

#include "base/status.h"
#include "io/source_state.h"

/* Room for all of a regular file at once; else it doubles. */
static size_t room_to_hold(const lap_source *source)
{
    off_t size = source->is_regular ? source->stat.st_size : 0;
    size_t room = source->filled < LAP_SOURCE_PIECE ? 2 * LAP_SOURCE_PIECE : 2 * source->filled;
    bool is_known = size > 0 && (uintmax_t)size < SIZE_MAX - 1 && (size_t)size + 1 > source->filled;
    return is_known ? (size_t)size + 1 : room;
}

void lap_source_hold_until(lap_source *source, size_t from, const uint8_t pair[2])
{
    if (source->is_regular)
        return;
    memcpy(source->last_pair, pair, sizeof source->last_pair);
    source->looked = from;
    source->has_last_pair = true;
}

/* Looks at each byte once, however small the pieces are that come. */
static bool is_last_pair_there(lap_source *source)
{
    while (source->has_last_pair && !source->saw_last_pair && source->filled >= 2 &&
           source->looked < source->filled - 1) {
        const uint8_t *from = source->buffer + source->looked;
        const size_t left = source->filled - 1 - source->looked;
        const uint8_t *first = memchr(from, source->last_pair[0], left);
        source->saw_last_pair = first && first[1] == source->last_pair[1];
        source->looked += first ? (size_t)(first - from) + 1 : left;
    }
    return source->saw_last_pair;
}

lap_code lap_source_hold(
    lap_source *source, size_t limit, const uint8_t **bytes, size_t *size, bool *whole, lap_error *err)
{
    lap_code code = LAP_OK;
    if (source->started)
        return lap_fail(err, LAP_E_INTERNAL, "%s: held after reading began", source->name);
    bool fits = !source->is_regular || (uintmax_t)source->stat.st_size <= limit;
    if (source->fd >= 0 && fits && !source->held) {
        if (source->filled > 0)
            source->peeked = source->filled + (source->is_regular ? 0 : LAP_SOURCE_PIECE);
        while (code == LAP_OK && !source->ended && source->filled <= limit && !is_last_pair_there(source)) {
            if (source->filled == source->capacity)
                code = lap_source_reserve(source, room_to_hold(source), err);
            if (code == LAP_OK)
                code = lap_source_read_some(source, source->capacity - source->filled, err);
        }
        source->memory = source->buffer;
        source->memory_size = source->filled;
        source->bytes = 0; /* counted when given out */
        source->held = true;
    }
    *bytes = source->memory;
    *size = source->memory_size;
    *whole =
        source->fd < 0 || (fits && (source->ended || source->saw_last_pair) && source->memory_size <= limit);
    return code;
}

lap_code lap_source_hold_in(
    lap_source *source, uint8_t *memory, size_t room, size_t *size, bool *whole, lap_error *err)
{
    lap_code code = LAP_OK;
    *size = 0;
    *whole = false;
    if (source->started || source->held || source->fd < 0 || source->filled > 0)
        return lap_fail(err, LAP_E_INTERNAL, "%s: held after reading began", source->name);
    uint8_t *const own = source->buffer;
    source->buffer = memory;
    while (code == LAP_OK && !source->ended && source->filled < room)
        code = lap_source_read_some(source, room - source->filled, err);
    *size = source->filled;
    *whole = code == LAP_OK && source->ended;
    source->buffer = own;
    source->filled = 0;
    source->memory = memory;
    source->memory_size = *size;
    source->bytes = 0;
    source->held = true;
    return code;
}

void lap_source_held_is_read(lap_source *source)
{
    source->bytes += source->memory_size;
    source->memory_size = 0;
    source->started = true;
}
