#include "coding/entropy_join.h"

#include <stdlib.h>
#include <string.h>

/* ---- the current walk --------------------------------------------------------------------------- */

static uint64_t bit_of(const lap_join *j, size_t note)
{
    return j->begin + j->piece.notes.at[note].bit;
}

static uint64_t total(const lap_join *j)
{
    return (uint64_t)j->plan->mcus_wide * (uint64_t)j->plan->mcus_high;
}

/* Converts the DC sums of a walk to predictions. False if one does not fit 16 bits. Between two notes a sum
 * may have exceeded 16 bits and come back; that is harmless, since a coefficient keeps only the lowest 16
 * bits. */
static bool predict(const lap_join *j, const int32_t sums[4], bool is_absolute, int16_t dc[4])
{
    for (int c = 0; c < 4; c++) {
        int32_t value = (int32_t)((uint32_t)sums[c] + (is_absolute ? 0 : (uint32_t)j->base[c]));
        if (value < INT16_MIN || value > INT16_MAX)
            return false;
        dc[c] = (int16_t)value;
    }
    return true;
}

static bool is_odd(lap_join *j, lap_huff_odd odd)
{
    j->odd = odd;
    return false;
}

/* ---- into the index ---------------------------------------------------------------------------- */

static bool put_mark(lap_join *j, const lap_track_mark *mark, bool is_first, lap_code *code)
{
    lap_scan_index *index = j->index;
    uint64_t mcu = j->mcu + (mark->note - j->note), number = index->mark_count;
    if (mcu != (number + 1) * (uint64_t)j->plan->restart_interval)
        return is_odd(
            j, mcu < (number + 1) * (uint64_t)j->plan->restart_interval ? LAP_HUFF_SHORT : LAP_HUFF_LONG);
    if (mark->code != 0xD0 + (number & 7))
        return is_odd(j, LAP_HUFF_MARKER);
    if (number == j->mark_room) {
        size_t room = j->mark_room ? 2 * j->mark_room : 64;
        if (room > j->plan->max_bytes / sizeof *index->marks)
            return is_odd(j, LAP_HUFF_UNBOUNDED);
        lap_scan_mark *marks = realloc(index->marks, room * sizeof *marks);
        if (!marks) {
            *code = LAP_E_MEMORY;
            return false;
        }
        index->marks = marks;
        j->mark_room = room;
    }
    lap_scan_mark *to = &index->marks[number];
    to->bit = j->begin + mark->bit;
    to->padding = (uint8_t)(mark->bit - mark->end_bit);
    if (!predict(j, mark->dc, !is_first, to->dc))
        return is_odd(j, LAP_HUFF_RANGE);
    index->mark_count++;
    return true;
}

/* Adds the rows and restart markers of the walk to the index, up to its MCU `note`, which may be one past the
 * last. */
static bool follow(lap_join *j, size_t note, lap_code *code)
{
    const lap_track *p = &j->piece;
    uint64_t wide = (uint64_t)j->plan->mcus_wide, end = j->mcu + (note - j->note);
    if (end > total(j))
        return is_odd(j, LAP_HUFF_LONG);
    for (uint64_t row = (j->mcu + wide - 1) / wide; row * wide < end; row++) {
        size_t at = j->note + (size_t)(row * wide - j->mcu);
        lap_scan_row *to = &j->index->rows[row];
        to->bit = bit_of(j, at);
        if (!predict(j, p->notes.at[at].dc, lap_track_is_absolute(p, at), to->dc))
            return is_odd(j, LAP_HUFF_RANGE);
    }
    for (; j->mark < p->mark_count && p->marks[j->mark].note <= note; j->mark++)
        if (!put_mark(j, &p->marks[j->mark], j->mark == 0, code))
            return false;
    j->mcu = end;
    j->note = note;
    return true;
}

/* A walk may end after its piece. Adds to the index where each piece up to `bit` begins. */
static lap_code reach(lap_join *j, uint64_t bit)
{
    lap_scan_index *index = j->index;
    const size_t pieces = lap_coded_pieces(&j->plan->coded);
    lap_code code = LAP_OK;
    while (index->begins[index->piece_count] < bit && index->piece_count < pieces && code == LAP_OK) {
        code = lap_stretch_fill(&j->stretch, &j->plan->coded, index->piece_count, 0, 0);
        uint64_t begin = index->begins[index->piece_count++];
        index->begins[index->piece_count] = begin + (uint64_t)j->stretch.own * 8;
    }
    return code;
}

/* Handles the end of a walk, at the end of the scan or at an error. Returns false, since no walk can be
 * joined after it. */
static bool finish(lap_join *j, lap_code *code)
{
    const lap_track *p = &j->piece;
    if (!p->ends)
        return is_odd(j, p->odd != LAP_HUFF_FINE ? p->odd : LAP_HUFF_SHORT);
    if (!follow(j, p->notes.count, code))
        return false;
    uint64_t interval = (uint64_t)j->plan->restart_interval;
    if (j->mcu < total(j))
        return is_odd(j, LAP_HUFF_SHORT);
    if (p->end_code != 0xD9 || (interval && j->index->mark_count != (total(j) - 1) / interval))
        return is_odd(j, LAP_HUFF_MARKER);
    lap_scan_row *end = &j->index->rows[j->plan->mcus_high];
    end->bit = j->begin + p->end_bit;
    if (!predict(j, p->end_dc, p->mark_count > 0, end->dc))
        return is_odd(j, LAP_HUFF_RANGE);
    *code = reach(j, end->bit);
    j->done = *code == LAP_OK;
    return false;
}

/* ---- from one walk to the next ------------------------------------------------------------------- */

/* Continues with the walk over `piece`. Its MCU `to` is the MCU `from` of the current walk. */
static bool change(lap_join *j, size_t from, lap_track *piece, uint64_t begin, size_t to, lap_code *code)
{
    if (!follow(j, from, code))
        return false;
    const lap_note *old = &j->piece.notes.at[from], *now = &piece->notes.at[to];
    bool was_absolute = lap_track_is_absolute(&j->piece, from);
    for (int c = 0; c < 4; c++) {
        int32_t base = was_absolute ? 0 : j->base[c];
        j->base[c] = (int32_t)((uint32_t)base + (uint32_t)old->dc[c] - (uint32_t)now->dc[c]);
    }
    lap_track_free(&j->piece);
    j->piece = *piece;
    *piece = (lap_track){0};
    j->begin = begin;
    j->note = to;
    j->mark = 0;
    while (j->mark < j->piece.mark_count && j->piece.marks[j->mark].note <= to)
        j->mark++;
    return true;
}

/* Looks for an MCU that begins at the same bit in both walks, starting at MCU `from` of the current walk. */
static bool meet(const lap_join *j, size_t *from, const lap_track *piece, uint64_t begin, size_t *to)
{
    size_t a = *from, b = 0;
    while (a < j->piece.notes.count && b < piece->notes.count) {
        uint64_t old = bit_of(j, a), now = begin + piece->notes.at[b].bit;
        if (old == now) {
            *from = a;
            *to = b;
            return true;
        }
        a += old < now;
        b += now < old;
    }
    return false;
}

/* Returns whether the current walk continues into the next piece. */
static bool go_on(lap_join *j, lap_code *code)
{
    return j->piece.ends || j->piece.odd != LAP_HUFF_FINE ? finish(j, code) : true;
}

bool lap_join_next(lap_join *j, size_t number, lap_track *piece, lap_code *code)
{
    uint64_t begin = j->index->begins[number], end = begin + piece->own_bits;
    size_t from = j->note, to = 0;
    j->index->begins[number + 1] = end;
    j->index->piece_count = number + 1;
    *code = LAP_OK;
    if (number == 0) {
        j->piece = *piece;
        *piece = (lap_track){0};
        return go_on(j, code);
    }
    while (from < j->piece.notes.count && bit_of(j, from) < begin)
        from++;
    if (from == j->piece.notes.count)
        return is_odd(j, LAP_HUFF_SHORT);
    if (bit_of(j, from) >= end) /* no MCU begins in this piece */
        return true;
    if (meet(j, &from, piece, begin, &to))
        return change(j, from, piece, begin, to, code) && go_on(j, code);
    const lap_track_plan plan = {.coded = &j->plan->coded,
        .tables = j->tables,
        .index = number,
        .known = (int64_t)(bit_of(j, from) - begin),
        .stretch = &j->stretch};
    *code = lap_track_make(piece, &plan);
    return *code == LAP_OK && change(j, from, piece, begin, 0, code) && go_on(j, code);
}

void lap_join_free(lap_join *j)
{
    lap_track_free(&j->piece);
    lap_stretch_free(&j->stretch);
}
