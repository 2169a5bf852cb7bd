#include "coding/entropy_track.h"

#include <stdlib.h>
#include <string.h>

static void begin_at(lap_course *c, uint32_t bit)
{
    c->walk.now = (lap_note){.bit = bit};
}

static lap_code add_mark(lap_course *c, const lap_mark *mark)
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

/* Walks to bit `end`, to the walk's stop or to its pause, whichever comes first. */
static lap_huff_odd walk_up_to(lap_course *c, uint32_t end, lap_code *code)
{
    const uint32_t stop = c->stop < end ? c->stop : end;
    const lap_huff_odd odd = lap_walk_on(&c->walk, c->pause < stop ? c->pause : stop, code);
    if (odd == LAP_HUFF_FINE && *code == LAP_OK && c->walk.now.bit >= c->stop && c->walk.now.bit < end) {
        c->is_over = true;
        *code = lap_walk_note(&c->walk);
    }
    return odd;
}

/* Returns the first bit at which the padding before a marker at byte `end` can begin. */
static uint32_t near_marker(uint32_t end)
{
    return end * 8 < 7 ? 0 : end * 8 - 7;
}

/* Walks to the next marker, at byte `end`, or as far as walk_up_to goes. */
static lap_huff_odd to_marker(lap_course *c, uint32_t end, bool is_last, lap_code *code)
{
    lap_track *p = c->piece;
    lap_huff_odd odd = walk_up_to(c, near_marker(end), code);
    if (odd != LAP_HUFF_FINE || *code != LAP_OK || c->walk.now.bit < near_marker(end))
        return odd;
    odd = lap_walk_to_marker(&c->walk, end, code);
    if (odd != LAP_HUFF_FINE || *code != LAP_OK)
        return odd;
    if (c->known && p->notes.count == (p->mark_count ? p->marks[p->mark_count - 1].note : 0))
        return LAP_HUFF_MARKER; /* no MCU since the last marker */
    if (is_last) {
        c->is_over = p->ends = true;
        p->end_bit = c->walk.now.bit;
        p->end_code = c->stretch->end_code;
        memcpy(p->end_dc, c->walk.now.dc, sizeof p->end_dc);
        return odd;
    }
    *code = add_mark(c, &c->stretch->marks[c->mark++]);
    begin_at(c, end * 8);
    c->known = true; /* a restart interval begins here, even if the walk so far was only a guess */
    return odd;
}

static lap_huff_odd go_on(lap_course *c, lap_code *code)
{
    const lap_stretch *s = c->stretch;
    if (c->mark < s->mark_count)
        return to_marker(c, s->marks[c->mark].at, false, code);
    return s->ends ? to_marker(c, s->size, true, code) : walk_up_to(c, UINT32_MAX, code);
}

/* An error after a guess only means that the guess was wrong: restarts the walk after the error. False: no
 * data is left. */
static bool guess_again(lap_course *c, lap_huff_odd odd)
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

/* Walks until the walk is over, or has reached bit `pause`. */
static lap_code go(lap_course *c, uint32_t pause)
{
    lap_code code = LAP_OK;
    c->pause = pause;
    while (!c->is_over && code == LAP_OK && c->walk.now.bit < pause) {
        lap_huff_odd odd = go_on(c, &code);
        if (odd == LAP_HUFF_FINE)
            continue;
        if (c->known)
            c->piece->odd = odd;
        c->is_over = c->known || !guess_again(c, odd);
    }
    return code;
}

/* Walks alone for some bits: at first, because most wrong guesses are detected soon, and later to get past an
 * error or a marker. */
static lap_code go_alone(lap_course *c)
{
    enum { ALONE = 4096 }; /* bits */
    return go(c, c->walk.now.bit + ALONE);
}

/* Returns the bit up to which only MCUs can come: no marker and not the walk's stop. */
static uint32_t free_until(const lap_course *c)
{
    const lap_stretch *s = c->stretch;
    const bool has_mark = c->mark < s->mark_count;
    const uint32_t near = has_mark  ? near_marker(s->marks[c->mark].at)
                          : s->ends ? near_marker(s->size)
                                    : c->stop;
    return near < c->stop ? near : c->stop;
}

lap_code lap_course_begin(lap_course *c, lap_track *piece, const lap_track_plan *plan)
{
    const lap_stretch *s = plan->stretch;
    lap_code code = lap_stretch_fill(
        plan->stretch, plan->coded, plan->index, (size_t)LAP_TRACK_BEHIND + LAP_WALK_SLACK, LAP_WALK_SLACK);
    if (code != LAP_OK)
        return code;
    piece->notes.count = piece->mark_count = 0;
    piece->odd = LAP_HUFF_FINE;
    piece->ends = false;
    piece->own_bits = s->own * 8;
    *c = (lap_course){.piece = piece,
        .stretch = s,
        .walk = {.tables = plan->tables, .bytes = s->bytes, .notes = &piece->notes},
        .stop = (s->own + (uint32_t)LAP_TRACK_BEHIND) * 8,
        .known = plan->known >= 0};
    begin_at(c, plan->known >= 0 ? (uint32_t)plan->known : 0);
    /* If there are restart markers where the known MCU should begin, the MCU begins after them. */
    while (
        c->known && plan->index > 0 && c->mark < s->mark_count && s->marks[c->mark].at * 8 <= c->walk.now.bit)
        c->mark++;
    return go_alone(c);
}

lap_code lap_course_finish(lap_course *c)
{
    return go(c, UINT32_MAX);
}

lap_code lap_courses_go(lap_course *const courses[LAP_WALK_LANES])
{
    lap_walk *walks[LAP_WALK_LANES];
    uint32_t stops[LAP_WALK_LANES];
    lap_code code = LAP_OK;
    int which = 0;
    while (code == LAP_OK) {
        for (int i = 0; i < LAP_WALK_LANES; i++) {
            if (courses[i]->is_over)
                return LAP_OK;
            walks[i] = &courses[i]->walk;
            stops[i] = free_until(courses[i]);
        }
        code = walks[0]->tables->walk_together(walks, stops, &which);
        if (code == LAP_OK)
            code = go_alone(courses[which]);
    }
    return code;
}

lap_code lap_track_make(lap_track *piece, const lap_track_plan *plan)
{
    lap_course c;
    const lap_code code = lap_course_begin(&c, piece, plan);
    return code == LAP_OK ? lap_course_finish(&c) : code;
}

void lap_track_free(lap_track *piece)
{
    free(piece->notes.at);
    free(piece->marks);
    *piece = (lap_track){0};
}
