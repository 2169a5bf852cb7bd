#include "coding/decode_plan.h"

#include <string.h>

enum { UNIT_LUMA = 16 }; /* luma blocks across a unit */

enum { AC_ENTRIES = 1 << LAP_DECODE_INDEX, DC_ENTRIES = 1 << LAP_DECODE_DC_INDEX };

/* Returns how many successive entries begin with the same code of `length` bits; 1 if the code is longer than
 * the index, or invalid. */
static unsigned alike(int index_bits, int length)
{
    return length < index_bits ? 1U << (index_bits - length) : 1;
}

/* Makes an entry without a first symbol. */
static uint64_t entry_of(unsigned length, unsigned step, unsigned size)
{
    const uint64_t bias = 1 - ((uint64_t)1 << size);
    return length | step << 8 | (64 - length) << 16 | size << 24 | bias << 52;
}

/* Makes an entry that holds one symbol, in the fields of the second. */
static uint64_t single_entry(int symbol, int length)
{
    const unsigned run = (unsigned)symbol >> 4, size = (unsigned)symbol & 15;
    if (symbol < 0 || length > LAP_DECODE_INDEX || size > LAP_DECODE_AC_SIZE ||
        (size == 0 && run > 0 && run < 15))
        return entry_of(0, LAP_DECODE_ODD, 0);
    return entry_of((unsigned)length + size, symbol ? run + 1 : LAP_DECODE_EOB, size);
}

/* Makes the entry of `index`, with two symbols if they fit. `single` has entries that hold one symbol each.
 */
static uint64_t whole_entry(const uint64_t single[AC_ENTRIES], unsigned index)
{
    const uint64_t one = single[index];
    const unsigned length = LAP_DECODE_LENGTH(one), step = LAP_DECODE_STEP(one);
    if (step >= LAP_DECODE_EOB || length >= LAP_DECODE_INDEX)
        return one;
    const uint64_t two = single[index << length & (AC_ENTRIES - 1)];
    const unsigned both = length + LAP_DECODE_LENGTH(two), size = LAP_DECODE_SIZE_2(two);
    if (LAP_DECODE_STEP(two) == LAP_DECODE_ODD || both - size > LAP_DECODE_INDEX)
        return one;
    const unsigned code_length = length - LAP_DECODE_SIZE_2(one);
    const uint64_t window = (uint64_t)index << (64 - LAP_DECODE_INDEX + code_length);
    const uint64_t value = (uint16_t)lap_huff_value(window, (int)LAP_DECODE_SIZE_2(one));
    return entry_of(both, step + LAP_DECODE_STEP(two), size) | value << 32 | (uint64_t)(step - 1) << 48;
}

static void fill_ac(const lap_huff_code *code, uint64_t entries[AC_ENTRIES])
{
    uint64_t single[AC_ENTRIES];
    for (unsigned i = 0; i < AC_ENTRIES;) {
        int length = 0;
        const int symbol = lap_huff_symbol(code, (uint64_t)i << (64 - LAP_DECODE_INDEX), &length);
        const uint64_t entry = single_entry(symbol, length);
        for (const unsigned end = i + alike(LAP_DECODE_INDEX, length); i < end; i++)
            single[i] = entry;
    }
    for (unsigned i = 0; i < AC_ENTRIES; i++)
        entries[i] = whole_entry(single, i);
}

static void fill_dc(const lap_huff_code *code, uint16_t entries[DC_ENTRIES])
{
    for (unsigned i = 0; i < DC_ENTRIES;) {
        int length = 0;
        const int size = lap_huff_symbol(code, (uint64_t)i << (64 - LAP_DECODE_DC_INDEX), &length);
        const bool is_there = size >= 0 && size <= LAP_DECODE_DC_SIZE && length <= LAP_DECODE_DC_INDEX;
        const uint16_t entry = is_there ? (uint16_t)((length + size) | size << 8) : 0;
        for (const unsigned end = i + alike(LAP_DECODE_DC_INDEX, length); i < end; i++)
            entries[i] = entry;
    }
}

static void fill_codes(const lap_huff_code *dc, const lap_huff_code *ac, lap_decode_codes *codes)
{
    codes->all_dc = *dc;
    codes->all_ac = *ac;
    fill_ac(ac, codes->ac);
    fill_dc(dc, codes->dc);
}

/* Components with the same tables share one set. The layout of a progressive picture has no components. */
static void set_codes(const lap_huff_layout *layout, lap_decode_plan *plan)
{
    for (int c = 0; c < layout->components; c++) {
        int same = 0;
        while (same < c && (layout->dc[same] != layout->dc[c] || layout->ac[same] != layout->ac[c]))
            same++;
        if (same == c)
            fill_codes(&layout->codes[layout->dc[c]], &layout->codes[layout->ac[c]],
                &plan->codes[plan->code_count++]);
        plan->codes_of[c] = same == c ? (uint8_t)(plan->code_count - 1) : plan->codes_of[same];
    }
}

/* Lays out the blocks of a unit: component by component, row by row, each row padded to whole groups. */
static void lay_out(lap_decode_plan *plan)
{
    int next = 0;
    for (int c = 0; c < plan->components; c++)
        for (int i = 0; i < plan->across[c] * plan->down[c]; i++) {
            const int b = plan->mcu_blocks++;
            const bool begins_row = i % plan->across[c] == 0;
            plan->component[b] = (uint8_t)c;
            plan->step[b] = plan->across[c];
            plan->start[b] = begins_row ? next : plan->start[b - 1] + 1;
            if (begins_row)
                next += (plan->unit_mcus * plan->step[b] + 7) / 8 * 8;
        }
    plan->unit_blocks = next;
}

/* Supported: gray; or luma of 1 or 2 blocks across and down, or of 4 across, with chroma of one block; black
 * sampled as luma. */
bool lap_decode_takes(const lap_jpeg_frame *f)
{
    if (f->components == 1)
        return true;
    for (int c = 1; c < 3; c++)
        if (f->sample_h[c] != 1 || f->sample_v[c] != 1)
            return false;
    if (f->components == 4 && (f->sample_h[3] != f->sample_h[0] || f->sample_v[3] != f->sample_v[0]))
        return false;
    const int h = f->sample_h[0], v = f->sample_v[0];
    return (h <= 2 && v <= 2) || (h == 4 && v == 1);
}

bool lap_decode_plan_make(const lap_jpeg_frame *frame, const uint8_t *index, lap_decode_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    if (!lap_decode_takes(frame))
        return false;
    plan->width = frame->width;
    plan->height = frame->height;
    plan->components = frame->components;
    plan->is_ycc = frame->is_ycc;
    plan->is_inverted = frame->is_inverted;
    for (int c = 0; c < plan->components; c++) {
        plan->across[c] = plan->components == 1 ? 1 : frame->sample_h[c];
        plan->down[c] = plan->components == 1 ? 1 : frame->sample_v[c];
    }
    plan->h = plan->across[0];
    plan->v = plan->down[0];
    plan->together = plan->components == 1 ? frame->sample_v[0] : 1;
    plan->mcus = (plan->width - 1) / (8 * plan->h) + 1;
    plan->mcu_rows = (plan->height - 1) / (8 * plan->v) + 1;
    plan->unit_mcus = UNIT_LUMA / plan->h;
    plan->interval = frame->restart_interval;
    lay_out(plan);
    set_codes(&frame->huffman, plan);
    memcpy(plan->index, index, 64);
    for (int k = 0; k < 64; k++) {
        for (int c = 0; c < plan->components; c++)
            plan->quant[c][index[k]] = frame->quant[c][k];
    }
    return true;
}
