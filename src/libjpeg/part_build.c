#include "libjpeg/part_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "libjpeg/part_bits.h"

enum { HEADER_ROOM = 128 };

/* ---- DC tables ------------------------------------------------------------------------------------ */

static void note_codes(struct lap_part_dc *dc)
{
    unsigned code = 0, at = 0;
    for (unsigned n = 1; n <= 16; n++, code <<= 1)
        for (int i = 0; i < dc->bits[n]; i++, at++, code++) {
            dc->code[dc->values[at]] = (uint16_t)code;
            dc->length[dc->values[at]] = (uint8_t)n;
        }
}

void lap_part_extend(const uint8_t bits[17], const uint8_t values[256], struct lap_part_dc *dc)
{
    unsigned longest = 0, count = 0;
    memset(dc, 0, sizeof *dc);
    for (unsigned n = 1; n <= 16; n++) {
        dc->bits[n] = bits[n];
        count += bits[n];
        longest = bits[n] ? n : longest;
    }
    memcpy(dc->values, values, count);
    note_codes(dc);
    if (longest == 0)
        return;
    /* The word of `longest` ones is free: 15 codes lie under it four bits further down, at least. */
    unsigned length = longest + 4 < 16 ? longest + 4 : 16;
    unsigned room = (1u << (length - longest)) - 1;
    for (unsigned category = 0; category < 16 && room > 0; category++)
        if (dc->length[category] == 0) {
            dc->values[count++] = (uint8_t)category;
            dc->bits[length]++;
            room--;
        }
    note_codes(dc);
}

/* ---- rows to bits --------------------------------------------------------------------------------- */

typedef struct build {
    const lap_part_plan *plan;
    lap_part_buffer *buffer;
    lap_bits out;
    size_t piece; /* that the stretch holds, and `more` bytes behind it */
    size_t more;
    bool has_stretch;
} build;

static uint64_t begin_of(const build *b, size_t piece)
{
    return b->plan->index.begins[piece];
}

/* The stretch begins with the piece that `bit` lies in. */
static lap_code fetch(build *b, uint64_t bit, size_t more)
{
    const lap_scan_index *index = &b->plan->index;
    size_t low = 0, high = index->piece_count; /* begins[low] <= bit < begins[high] */
    if (b->has_stretch && bit >= begin_of(b, b->piece) && bit < begin_of(b, b->piece + 1) && more <= b->more)
        return LAP_OK;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (index->begins[middle] <= bit)
            low = middle;
        else
            high = middle;
    }
    b->piece = low;
    b->more = more;
    b->has_stretch = true;
    return lap_stretch_fill(&b->buffer->stretch, &b->plan->scan.coded, low, more, LAP_WALK_SLACK);
}

static bool put_dc(build *b, int table, int value)
{
    const struct lap_part_dc *dc = &b->plan->dc_codes[table];
    int category = lap_huff_category(value);
    if (category > 15 || dc->length[category] == 0)
        return false;
    lap_bits_put(&b->out, dc->code[category], dc->length[category]);
    uint32_t low = (uint32_t)(value < 0 ? value - 1 : value) & ((1u << category) - 1);
    lap_bits_put(&b->out, low, (unsigned)category);
    return true;
}

static uint64_t window_at(const uint8_t *bytes, uint64_t bit)
{
    uint64_t window = 0;
    for (int i = 0; i < 8; i++)
        window = window << 8 | bytes[(bit >> 3) + (unsigned)i];
    return window << (bit & 7);
}

/* The MCU at *bit, each component's first DC difference changed by `add`; *bit: behind it. */
static lap_code put_mcu(build *b, uint64_t *bit, const int add[4])
{
    const lap_huff_layout *layout = &b->plan->tables->layout;
    lap_code code = fetch(b, *bit, LAP_WALK_SLACK);
    if (code != LAP_OK)
        return code;
    const uint8_t *bytes = b->buffer->stretch.bytes;
    uint64_t at = *bit - begin_of(b, b->piece);
    lap_huff_state state = {0};
    bool is_changed[4] = {false};
    do {
        lap_huff_token token;
        int block = state.block, component = layout->component[block];
        bool is_dc = state.k == 0 && !is_changed[component];
        if (lap_huff_step(layout, window_at(bytes, at), &state, &token) != LAP_HUFF_FINE)
            return LAP_E_INTERNAL; /* the scan had it fine */
        if (is_dc && !put_dc(b, layout->dc[component], token.value + add[component]))
            return LAP_E_UNSUPPORTED;
        if (!is_dc)
            lap_bits_copy(&b->out, bytes, at, at + (unsigned)token.bits);
        is_changed[component] |= is_dc;
        at += (unsigned)token.bits;
    } while (state.k != 0 || state.block != 0);
    *bit = at + begin_of(b, b->piece);
    return LAP_OK;
}

static lap_code put_bits(build *b, uint64_t begin, uint64_t end)
{
    lap_code code = LAP_OK;
    while (begin < end && code == LAP_OK) {
        code = fetch(b, begin, 0);
        uint64_t first = begin_of(b, b->piece), next = begin_of(b, b->piece + 1);
        uint64_t stop = end < next ? end : next;
        if (code == LAP_OK)
            lap_bits_copy(&b->out, b->buffer->stretch.bytes, begin - first, stop - first);
        begin = stop;
    }
    return code;
}

static size_t first_mark_behind(const lap_scan_index *index, uint64_t bit)
{
    size_t low = 0, high = index->mark_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->marks[middle].bit <= bit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static lap_code put_rows(build *b, int row, int end_row)
{
    const lap_scan_index *index = &b->plan->index;
    uint64_t bit = index->rows[row].bit, end = index->rows[end_row].bit;
    int add[4] = {0};
    for (int c = 0; c < 4; c++)
        add[c] = index->rows[row].dc[c];
    lap_code code = put_mcu(b, &bit, add);
    for (size_t m = first_mark_behind(index, index->rows[row].bit); code == LAP_OK && bit < end; m++) {
        bool is_mark = m < index->mark_count && index->marks[m].bit < end;
        /* A row that a marker stands before ends before the marker's padding. */
        bool is_last = m < index->mark_count && index->marks[m].bit == end;
        uint64_t stop = is_mark || is_last ? index->marks[m].bit - index->marks[m].padding : end;
        code = put_bits(b, bit, stop);
        bit = is_mark ? index->marks[m].bit : end;
        if (!is_mark || code != LAP_OK)
            break;
        for (int c = 0; c < 4; c++)
            add[c] = -index->marks[m].dc[c];
        code = put_mcu(b, &bit, add);
    }
    return code;
}

/* ---- the whole -------------------------------------------------------------------------------------- */

static void put_headers(const lap_part_plan *plan, int height, uint8_t **at)
{
    const lap_huff_layout *layout = &plan->tables->layout;
    int n = layout->components;
    uint8_t *to = *at;
    const uint8_t frame[] = {0xFF, 0xD8, 0xFF, 0xC1, 0, (uint8_t)(8 + 3 * n), 8, (uint8_t)(height >> 8),
        (uint8_t)height, (uint8_t)(plan->width >> 8), (uint8_t)plan->width, (uint8_t)n};
    memcpy(to, frame, sizeof frame);
    to += sizeof frame;
    for (int c = 0; c < n; c++) {
        *to++ = (uint8_t)(c + 1);
        *to++ = plan->sampling[c];
        *to++ = plan->quantiser[c];
    }
    const uint8_t scan[] = {0xFF, 0xDA, 0, (uint8_t)(6 + 2 * n), (uint8_t)n};
    memcpy(to, scan, sizeof scan);
    to += sizeof scan;
    for (int c = 0; c < n; c++) {
        *to++ = (uint8_t)(c + 1);
        *to++ = (uint8_t)(layout->dc[c] << 4 | (layout->ac[c] - 4));
    }
    const uint8_t end[] = {0, 63, 0};
    memcpy(to, end, sizeof end);
    *at = to + sizeof end;
}

/* Room for rows: FF may stand in every byte, and each MCU begun anew may need 15 more bytes a component. */
static bool room_for(const lap_part_plan *plan, int row, int end_row, size_t *room)
{
    const lap_scan_index *index = &plan->index;
    uint64_t bit = index->rows[row].bit, end = index->rows[end_row].bit;
    size_t marks = first_mark_behind(index, end) - first_mark_behind(index, bit) + 1, bytes, more;
    return lap_mul((size_t)((end - bit) / 8 + 16), 2, &bytes) && lap_mul(marks, 120, &more) &&
           lap_add(bytes, more, &bytes) && lap_add(bytes, HEADER_ROOM + LAP_PART_BEHIND, room);
}

lap_code lap_part_build(const lap_part_plan *plan, int row, int end_row, lap_part_buffer *buffer)
{
    size_t room;
    if (!room_for(plan, row, end_row, &room))
        return LAP_E_MEMORY;
    if (room > buffer->room) {
        free(buffer->bytes);
        buffer->room = 0;
        buffer->bytes = malloc(room);
        if (!buffer->bytes)
            return LAP_E_MEMORY;
        buffer->room = room;
    }
    int top = row * plan->mcu_height, bottom = end_row * plan->mcu_height;
    uint8_t *to = buffer->bytes;
    put_headers(plan, (bottom < plan->height ? bottom : plan->height) - top, &to);
    build b = {.plan = plan, .buffer = buffer, .out = {.to = to}};
    lap_code code = put_rows(&b, row, end_row);
    if (code != LAP_OK)
        return code;
    lap_bits_flush(&b.out);
    *b.out.to++ = 0xFF;
    *b.out.to++ = 0xD9;
    memset(b.out.to, 0, LAP_PART_BEHIND);
    buffer->size = (size_t)(b.out.to - buffer->bytes) + LAP_PART_BEHIND;
    return LAP_OK;
}

void lap_part_buffer_free(lap_part_buffer *buffer)
{
    free(buffer->bytes);
    lap_stretch_free(&buffer->stretch);
    *buffer = (lap_part_buffer){0};
}
