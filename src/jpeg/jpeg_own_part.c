/* Decodes a part of a picture with our decoder, beginning at a row whose position is in the index of the
 * scan. */
#include <string.h>

#include "base/status.h"
#include "jpeg/jpeg_own.h"

/* Finds the piece of the data that contains a bit of the scan. */
static size_t piece_of(const lap_scan_index *index, uint64_t bit)
{
    size_t low = 0, high = index->piece_count; /* begins[low] <= bit < begins[high] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (index->begins[middle] <= bit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Skips `count` bytes of data and the restart markers directly after them. Stuffed zeros and restart markers
 * do not count. */
static const uint8_t *pass(const uint8_t *at, const uint8_t *end, uint64_t count)
{
    while (end - at >= 2) {
        const bool is_pair = at[0] == 0xFF, is_marker = is_pair && at[1] != 0;
        if (count == 0 && !is_marker)
            break;
        if (is_pair) {
            at += 2;
            count -= !is_marker;
            continue;
        }
        const uint64_t left = (uint64_t)(end - at), some = count < left ? count : left;
        const uint8_t *pair = memchr(at, 0xFF, (size_t)some);
        const uint64_t plain = pair ? (uint64_t)(pair - at) : some;
        at += plain;
        count -= plain;
    }
    return at;
}

static lap_row_start start_of(const lap_decoder *whole, int mcu_row)
{
    const lap_own_decoder *own = whole->first;
    const lap_coded *coded = &own->scan.coded;
    const lap_scan_row *row = &own->index.rows[mcu_row];
    const size_t piece = piece_of(&own->index, row->bit);
    const uint64_t bits = row->bit - own->index.begins[piece];
    const uint8_t *begin = coded->bytes + piece * coded->piece;
    if (piece > 0 && begin[-1] == 0xFF) /* a pair FF xx belongs to the piece that contains its FF */
        begin++;
    const uint8_t *at = pass(begin, coded->bytes + coded->size, bits / 8);
    lap_row_start start = {
        .mcu_row = mcu_row, .byte = (size_t)(at - whole->bytes), .bit = (unsigned)(bits % 8)};
    memcpy(start.dc, row->dc, sizeof start.dc);
    return start;
}

/* Fails because the next rows are invalid or unsupported. in_doubt makes the caller decode the picture from
 * its first row instead, so that libjpeg-turbo can take over. */
static lap_code doubt(lap_decoder *part, lap_error *err)
{
    atomic_store(&part->whole->in_doubt, true);
    return lap_fail(err, LAP_E_INTERNAL, "cannot decode the rows from %d on", part->next_row);
}

static lap_code part_open(lap_decoder *part, lap_error *err)
{
    const lap_decoder *whole = part->whole;
    const lap_own_decoder *own = whole->first;
    lap_row_decoder *rows = NULL;
    bool is_fine = true;
    lap_code code = own->is_progressive ? lap_own_coefficients(whole, &is_fine, err) : LAP_OK;
    if (code != LAP_OK)
        return code;
    if (!is_fine)
        return doubt(part, err);
    code = lap_own_take_rows(whole, &rows, err);
    part->state = rows;
    if (code != LAP_OK)
        return code;
    const int high = 8 * own->plan->v, y = part->next_row;
    const int mcu_row = (high > 8 && y > 0 ? y - 1 : y) / high;
    lap_row_start start = {.mcu_row = mcu_row};
    if (!own->is_progressive)
        start = start_of(whole, mcu_row);
    lap_row_decoder_seek(rows, &start, y);
    return LAP_OK;
}

/* The index of the scan showed no error, but it does not check the range of samples. */
static lap_code part_rows(lap_decoder *part, const lap_view *rows, lap_error *err)
{
    if (lap_row_decoder_rows(part->state, rows) == rows->height)
        return LAP_OK;
    return doubt(part, err);
}

static void part_close(lap_decoder *part)
{
    lap_own_give_rows(part->whole, part->state);
}

const lap_decoder_ops lap_own_part_decoder = {.open = part_open, .rows = part_rows, .close = part_close};
