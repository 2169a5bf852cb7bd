#include "coding/entropy_track.h"

#include <stdlib.h>
#include <string.h>

typedef struct course { /* of one walk over a piece */
    lap_track *piece;
    const lap_stretch *stretch;
    lap_walk walk;
    uint32_t stop; /* bit */
    size_t mark;   /* of the stretch: the next */
    bool known;    /* nothing is guessed any more */
} course;

static void begin_at(course *c, uint32_t bit)
{
    c->walk.now = (lap_note){.bit = bit};
}

static lap_code add_mark(course *c, const lap_mark *mark)
{
    lap_track *p = c->piece;
    if (p->mark_count == p->mark_room) {
        size_t room = p->mark_room ? 2 * p->mark_room : 16;
        lap_track_mark *marks = realloc(p->marks, room * sizeof *marks);
        if (!marks)
            return LAP_E_MEMORY;
        p->marks = marks;
        p->mark_room = room;
    }
    lap_track_mark *to = &p->marks[p->mark_count++];
    *to = (lap_track_mark){
        .note = p->notes.count, .end_bit = c->walk.now.bit, .bit = mark->at * 8, .code = mark->code};
    memcpy(to->dc, c->walk.now.dc, sizeof to->dc);
    return LAP_OK;
}

/* To the next marker, at byte `end`, or to `stop`. *done: the walk is over. */
static lap_huff_odd to_marker(course *c, uint32_t end, bool is_last, bool *done, lap_code *code)
{
    lap_track *p = c->piece;
    uint32_t near = end * 8 < 7 ? 0 : end * 8 - 7;
    lap_huff_odd odd = lap_walk_on(&c->walk, c->stop < near ? c->stop : near, code);
    if (odd != LAP_HUFF_FINE || *code != LAP_OK)
        return odd;
    if (c->walk.now.bit < near) {
        *done = true;
        *code = lap_walk_note(&c->walk);
        return odd;
    }
    odd = lap_walk_to_marker(&c->walk, end, code);
    if (odd != LAP_HUFF_FINE || *code != LAP_OK)
        return odd;
    if (c->known && p->notes.count == (p->mark_count ? p->marks[p->mark_count - 1].note : 0))
        return LAP_HUFF_MARKER; /* not one MCU */
    if (is_last) {
        *done = p->ends = true;
        p->end_bit = c->walk.now.bit;
        p->end_code = c->stretch->end_code;
        memcpy(p->end_dc, c->walk.now.dc, sizeof p->end_dc);
        return odd;
    }
    *code = add_mark(c, &c->stretch->marks[c->mark++]);
    begin_at(c, end * 8);
    c->known = true; /* whatever came before, an interval begins here */
    return odd;
}

static lap_huff_odd go_on(course *c, bool *done, lap_code *code)
{
    const lap_stretch *s = c->stretch;
    if (c->mark < s->mark_count)
        return to_marker(c, s->marks[c->mark].at, false, done, code);
    if (s->ends)
        return to_marker(c, s->size, true, done, code);
    lap_huff_odd odd = lap_walk_on(&c->walk, c->stop, code);
    if (odd == LAP_HUFF_FINE && *code == LAP_OK) {
        *done = true;
        *code = lap_walk_note(&c->walk);
    }
    return odd;
}

/* Something odd came of a guess, which says nothing: begins again behind it. False: nothing is left. */
static bool guess_again(course *c, lap_huff_odd odd)
{
    const lap_stretch *s = c->stretch;
    uint32_t bit = (c->walk.now.bit / 8 + 1) * 8;
    bool has_mark = c->mark < s->mark_count;
    uint32_t end = has_mark ? s->marks[c->mark].at * 8 : s->size * 8;
    c->piece->notes.count = 0;
    if (odd == LAP_HUFF_SHORT || odd == LAP_HUFF_LONG || bit >= end) {
        bit = end;
        c->known = has_mark;
        c->mark += has_mark;
    }
    begin_at(c, bit);
    return bit < c->stop && (has_mark || bit < end);
}

lap_code lap_track_make(lap_track *piece, const lap_coded *coded, const lap_walk_tables *tables, size_t index,
    int64_t known, lap_stretch *stretch)
{
    lap_code code =
        lap_stretch_fill(stretch, coded, index, (size_t)LAP_TRACK_BEHIND + LAP_WALK_SLACK, LAP_WALK_SLACK);
    if (code != LAP_OK)
        return code;
    piece->notes.count = piece->mark_count = 0;
    piece->odd = LAP_HUFF_FINE;
    piece->ends = false;
    piece->own_bits = stretch->own * 8;
    course c = {.piece = piece,
        .stretch = stretch,
        .walk = {.tables = tables, .bytes = stretch->bytes, .notes = &piece->notes},
        .stop = (stretch->own + (uint32_t)LAP_TRACK_BEHIND) * 8,
        .known = known >= 0};
    begin_at(&c, known >= 0 ? (uint32_t)known : 0);
    /* An MCU that is known to begin at a marker's place begins behind it. */
    while (c.known && index > 0 && c.mark < stretch->mark_count &&
           stretch->marks[c.mark].at * 8 <= c.walk.now.bit)
        c.mark++;
    bool done = false;
    while (!done && code == LAP_OK && piece->odd == LAP_HUFF_FINE) {
        lap_huff_odd odd = go_on(&c, &done, &code);
        if (odd == LAP_HUFF_FINE)
            continue;
        if (c.known)
            piece->odd = odd;
        else
            done = !guess_again(&c, odd);
    }
    return code;
}

void lap_track_free(lap_track *piece)
{
    free(piece->notes.at);
    free(piece->marks);
    *piece = (lap_track){0};
}
