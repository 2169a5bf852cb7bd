#include "coding/decode_plan.h"

#include <string.h>

enum { UNIT_LUMA = 16 }; /* blocks of luma side by side in a unit */

typedef struct symbol {
    unsigned length; /* of the code */
    unsigned run, size, step;
} symbol;

/* The symbol that begins window, if `room` bits hold its code. False: they do not, or no sequential scan has
 * such a symbol. */
static bool find_symbol(const lap_huff_code *code, uint64_t window, unsigned room, symbol *s)
{
    int length = 0;
    const int value = lap_huff_symbol(code, window, &length);
    if (value < 0 || (unsigned)length > room)
        return false;
    s->length = (unsigned)length;
    s->run = (unsigned)value >> 4;
    s->size = (unsigned)value & 15;
    s->step = value ? s->run + 1 : LAP_DECODE_EOB;
    return s->size > 0 || s->run == 0 || s->run == 15;
}

static uint64_t ac_entry(const lap_huff_code *code, uint64_t window)
{
    symbol one, two;
    if (!find_symbol(code, window, LAP_DECODE_INDEX, &one))
        return (uint64_t)LAP_DECODE_ODD << 6;
    const unsigned whole = one.length + one.size;
    if (one.step == LAP_DECODE_EOB || whole >= LAP_DECODE_INDEX ||
        !find_symbol(code, window << whole, LAP_DECODE_INDEX - whole, &two))
        return whole | one.step << 6 | one.size << 14;
    const uint64_t value = (uint16_t)lap_huff_value(window << one.length, (int)one.size);
    return (whole + two.length + two.size) | (one.step + two.step) << 6 | two.size << 14 | one.step << 18 |
           (uint64_t)whole << 23 | (uint64_t)one.run << 28 | value << 48;
}

static uint16_t dc_entry(const lap_huff_code *code, uint64_t window)
{
    int length = 0;
    const int size = lap_huff_symbol(code, window, &length);
    return size < 0 || size > LAP_DECODE_DC_SIZE || length > LAP_DECODE_DC_INDEX
               ? 0
               : (uint16_t)((length + size) | size << 8);
}

static void fill_codes(const lap_huff_code *dc, const lap_huff_code *ac, lap_decode_codes *codes)
{
    codes->all_dc = *dc;
    codes->all_ac = *ac;
    for (uint64_t i = 0; i < 1 << LAP_DECODE_INDEX; i++)
        codes->ac[i] = ac_entry(ac, i << (64 - LAP_DECODE_INDEX));
    for (uint64_t i = 0; i < 1 << LAP_DECODE_DC_INDEX; i++)
        codes->dc[i] = dc_entry(dc, i << (64 - LAP_DECODE_DC_INDEX));
}

/* Components that have the same tables share one set. */
static void set_codes(const lap_huff_layout *layout, lap_decode_plan *plan)
{
    for (int c = 0; c < plan->components; c++) {
        int same = 0;
        while (same < c && (layout->dc[same] != layout->dc[c] || layout->ac[same] != layout->ac[c]))
            same++;
        if (same == c)
            fill_codes(&layout->codes[layout->dc[c]], &layout->codes[layout->ac[c]],
                &plan->codes[plan->code_count++]);
        plan->codes_of[c] = same == c ? (uint8_t)(plan->code_count - 1) : plan->codes_of[same];
    }
}

/* Of each component its blocks side by side, row by row, each row with the place for a whole group more. */
static void lay_out(lap_decode_plan *plan)
{
    const int luma = plan->h * plan->v;
    int next = 0;
    for (int b = 0; b < plan->mcu_blocks; b++) {
        const bool is_luma = b < luma;
        plan->component[b] = is_luma ? 0 : (uint8_t)(b - luma + 1);
        plan->step[b] = is_luma ? plan->h : 1;
        plan->start[b] = is_luma && b % plan->h > 0 ? plan->start[b - 1] + 1 : next;
        if (!is_luma || b % plan->h == 0)
            next += (plan->unit_mcus * plan->step[b] + 7) / 8 * 8;
    }
    plan->unit_blocks = next;
}

/* Gray; or luma of 1 or 2 blocks across and down, chroma of one block. */
bool lap_decode_takes(const lap_jpeg_frame *f)
{
    if (f->components == 1)
        return true;
    for (int c = 1; c < 3; c++)
        if (f->sample_h[c] != 1 || f->sample_v[c] != 1)
            return false;
    return f->components == 3 && f->sample_h[0] <= 2 && f->sample_v[0] <= 2;
}

bool lap_decode_plan_make(const lap_jpeg_frame *frame, const uint8_t *place, lap_decode_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    if (!lap_decode_takes(frame))
        return false;
    plan->width = frame->width;
    plan->height = frame->height;
    plan->components = frame->components;
    plan->h = plan->components == 1 ? 1 : frame->sample_h[0];
    plan->v = plan->components == 1 ? 1 : frame->sample_v[0];
    plan->mcu_blocks = plan->h * plan->v + plan->components - 1;
    plan->mcus = (plan->width - 1) / (8 * plan->h) + 1;
    plan->mcu_rows = (plan->height - 1) / (8 * plan->v) + 1;
    plan->unit_mcus = UNIT_LUMA / plan->h;
    plan->interval = frame->restart_interval;
    lay_out(plan);
    set_codes(&frame->huffman, plan);
    memcpy(plan->place, place, 64);
    for (int k = 0; k < 64; k++) {
        for (int c = 0; c < plan->components; c++)
            plan->quant[c][place[k]] = frame->quant[c][k];
    }
    return true;
}
