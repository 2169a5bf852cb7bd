#include "coding/encode_plan.h"

#include <pthread.h>
#include <string.h>

#include "coding/standard_codes.h"

enum {
    MAX_WIDTH = 65500,
    DIVISOR_BITS = 16,
    DCT_SCALE = 8 /* the forward DCT gives eight times the coefficient */
};

/* The reciprocal is 2^(16 + shift) / divisor, where `shift` is one less than the number of the divisor's
 * bits, so that the reciprocal uses all 16 bits. A reciprocal that is rounded down may give a quotient that
 * is one too small; adding one to the dividend corrects that. For a power of two the reciprocal would need 17
 * bits, so it is halved. */
static void set_divisor(lap_encode_divisors *d, int i, unsigned divisor)
{
    int shift = 0;
    while (divisor >> (shift + 1))
        shift++;
    const uint32_t one = 1u << (DIVISOR_BITS + shift);
    uint32_t reciprocal = one / divisor, correction = divisor / 2;
    const uint32_t rest = one % divisor;
    if (rest == 0) {
        reciprocal /= 2;
        shift--;
    } else if (rest <= divisor / 2) {
        correction++;
    } else {
        reciprocal++;
    }
    d->reciprocal[i] = (uint16_t)reciprocal;
    d->correction[i] = (uint16_t)correction;
    d->scale[i] = (uint16_t)(1u << (DIVISOR_BITS - shift));
    d->shift[i] = (int16_t)-shift;
}

static bool set_divisors(lap_encode_plan *plan, int chroma, const uint16_t quant[64])
{
    for (int i = 0; i < 64; i++) {
        if (quant[i] < 1 || quant[i] > 255)
            return false;
        set_divisor(&plan->divisors[chroma], i, (unsigned)quant[i] * DCT_SCALE);
        set_divisor(&plan->turned[chroma], i, (unsigned)quant[lap_encode_turned(i)] * DCT_SCALE);
    }
    return true;
}

/* The symbols of T.81 are run << 4 | size. */
static void set_codes(lap_encode_codes *codes, int chroma)
{
    lap_standard_code dc[LAP_STANDARD_DC], ac[LAP_STANDARD_AC];
    const int dc_count = lap_standard_codes(true, chroma, dc),
              ac_count = lap_standard_codes(false, chroma, ac);
    for (int i = 0; i < dc_count; i++) {
        codes->code[LAP_ENCODE_DC + dc[i].symbol] = dc[i].code;
        codes->length[LAP_ENCODE_DC + dc[i].symbol] = dc[i].bits;
    }
    for (int i = 0; i < ac_count; i++) {
        const int at = (ac[i].symbol >> 4) + 1 + (ac[i].symbol & 15) * LAP_ENCODE_SIZE_STEP;
        codes->code[at] = ac[i].code;
        codes->length[at] = ac[i].bits;
    }
}

/* Makes the entries of the symbols with this size. `bits` is the length of the code; `less` is subtracted
 * from each entry. */
static void set_entry(uint32_t *entry, uint32_t code, unsigned bits, unsigned less, unsigned size)
{
    const uint32_t positive =
        ((bits + size) << LAP_ENCODE_LENGTH_SHIFT | code << (size + LAP_ENCODE_BITS_SHIFT)) - less;
    entry[size] = positive;
    if (size > 0)
        entry[size + LAP_ENCODE_NEGATIVE] = positive + (((1u << size) - 1) << LAP_ENCODE_BITS_SHIFT);
}

static void set_entries(const lap_encode_codes *codes, unsigned less, uint32_t *entries)
{
    for (unsigned size = 0; size <= 11; size++)
        set_entry(
            entries, codes->code[LAP_ENCODE_DC + size], codes->length[LAP_ENCODE_DC + size], less, size);
    for (unsigned distance = 1; distance <= 16; distance++)
        for (unsigned size = 0; size <= 10; size++) {
            const unsigned number = distance + LAP_ENCODE_SIZE_STEP * size;
            set_entry(entries + 32 * distance, codes->code[number], codes->length[number], less, size);
        }
}

static void set_selections(lap_encode_tables *t)
{
    for (int byte = 0; byte < 256; byte++)
        for (int bit = 0, n = 0; bit < 8; bit++)
            if (byte >> bit & 1) {
                t->orders[byte][2 * n] = (uint8_t)(2 * bit);
                t->orders[byte][2 * n + 1] = (uint8_t)(2 * bit + 1);
                t->ones[0][byte][n] = (uint8_t)bit;
                t->ones[1][byte][n++] = (uint8_t)(bit + LAP_ENCODE_POSITION_CHROMA);
            }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static lap_encode_tables tables;

static void make_tables(void)
{
    for (int i = 0; i < 2; i++) {
        set_codes(&tables.codes[i], i);
        set_entries(&tables.codes[i], i * LAP_ENCODE_CHROMA_LESS, tables.entries + i * LAP_ENCODE_CHROMA);
    }
    set_selections(&tables);
}

const lap_encode_tables *lap_encode_tables_get(void)
{
    pthread_once(&once, make_tables);
    return &tables;
}

/* Supported: luma of h x v blocks in an MCU, chroma of one. */
static bool is_ours(const lap_encode_target *t)
{
    const int shape = t->h[0] * 8 + t->v[0];
    for (int c = 1; c < 3; c++)
        if (t->h[c] != 1 || t->v[c] != 1)
            return false;
    return shape == 011 || shape == 021 || shape == 022 || shape == 012 || shape == 041;
}

bool lap_encode_plan_make(const lap_encode_target *t, lap_encode_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    if (t->width < 1 || t->width > MAX_WIDTH || (t->channels != 1 && t->channels != 3 && t->channels != 4))
        return false;
    plan->width = t->width;
    plan->channels = t->channels;
    plan->components = t->channels == 1 ? 1 : 3;
    plan->h = plan->v = 1;
    if (plan->components == 3) {
        if (!is_ours(t))
            return false;
        plan->h = t->h[0];
        plan->v = t->v[0];
    }
    plan->mcu_blocks = plan->h * plan->v + plan->components - 1;
    plan->mcus = (t->width - 1) / (8 * plan->h) + 1;
    plan->luma_blocks = (t->width - 1) / 8 + 1;
    plan->tables = lap_encode_tables_get();
    return set_divisors(plan, 0, t->quant[0]) && set_divisors(plan, 1, t->quant[1]);
}
