/* c: plain C, one function for each stage of the decoder, to be read from the top down.
 * Since libjpeg-turbo's C: two symbols per look-up; the zeros after 0xFF are removed before bits are read.
 * Memory: a unit's coefficients, 12 KB, and the tables, 34 KB, stay in the first- and second-level cache.
 * Limit: not measured; docs/decoder.md has the times. */
#include "coding/zigzag.h"
#include "decode_entropy.h"
#include "decode_script.h"

/* ---- bits to coefficients ------------------------------------------------------------------------ */

static bool entropy(
    const lap_decode_plan *plan, lap_decode_state *state, int count, const lap_decode_unit *unit)
{
    return lap_decode_entropy(plan, state, count, unit);
}

static bool script(const lap_held_scan *scan, lap_held_state *state, const lap_held_unit *unit)
{
    return lap_decode_script(scan, state, unit);
}

/* ---- coefficients to samples --------------------------------------------------------------------- */

enum {
    CONSTANT_BITS = 13, /* fraction of the constants */
    EXTRA_BITS = 2,     /* kept between the passes */
    SCALE_BITS = 3,     /* both passes together scale by 8 */
    LIMIT = 1 << 14,    /* see lap_decode_stages */
    RESULT_LIMIT = 512,
    CENTRE = 128
};

/* round(c * 2^13) of c = */
enum {
    C_0_298631336 = 2446,
    C_0_390180644 = 3196,
    C_0_541196100 = 4433,
    C_0_765366865 = 6270,
    C_0_899976223 = 7373,
    C_1_175875602 = 9633,
    C_1_501321110 = 12299,
    C_1_847759065 = 15137,
    C_1_961570560 = 16069,
    C_2_053119869 = 16819,
    C_2_562915447 = 20995,
    C_3_072711026 = 25172
};

/* Returns 0 if value is inside -limit .. limit - 1; limit is a power of 2. */
static unsigned beyond(int value, unsigned limit)
{
    return ((unsigned)value + limit) & ~(2 * limit - 1);
}

/* Transforms eight values, `step` apart, in place: the inverse of the DCT of Loeffler, Ligtenberg and
 * Moschytz (1989).
 *
 *     v0 v2 v4 v6 --> even half: a rotation, two butterflies --+-- sum ---------> v0 .. v3
 *     v1 v3 v5 v7 --> odd half:  four rotations ---------------+-- difference --> v7 .. v4
 */
static void transform(int *v, int step, int shift)
{
    const int half = 1 << (shift - 1);
    const int turn = (v[2 * step] + v[6 * step]) * C_0_541196100;
    const int low = turn - v[6 * step] * C_1_847759065, high = turn + v[2 * step] * C_0_765366865;
    const int sum = (v[0] + v[4 * step]) * (1 << CONSTANT_BITS) + half;
    const int difference = (v[0] - v[4 * step]) * (1 << CONSTANT_BITS) + half;
    const int even[4] = {sum + high, difference + low, difference - low, sum - high};

    const int v1 = v[step], v3 = v[3 * step], v5 = v[5 * step], v7 = v[7 * step];
    const int common = (v1 + v3 + v5 + v7) * C_1_175875602;
    const int a = common - (v7 + v3) * C_1_961570560, b = common - (v5 + v1) * C_0_390180644;
    const int c = -(v7 + v1) * C_0_899976223, d = -(v5 + v3) * C_2_562915447;
    const int odd[4] = {v1 * C_1_501321110 + c + b, v3 * C_3_072711026 + d + a, v5 * C_2_053119869 + d + b,
        v7 * C_0_298631336 + c + a};
    for (int i = 0; i < 4; i++) {
        v[i * step] = (even[i] + odd[i]) >> shift;
        v[(7 - i) * step] = (even[i] - odd[i]) >> shift;
    }
}

static unsigned beyond_any(const int v[64], unsigned limit)
{
    unsigned any = 0;
    for (int i = 0; i < 64; i++)
        any |= beyond(v[i], limit);
    return any;
}

static uint8_t clamp(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static bool inverse_block(const int16_t *block, const uint16_t *quant, uint8_t *samples, ptrdiff_t stride)
{
    int v[64];
    for (int i = 0; i < 64; i++)
        v[i] = block[i] * quant[i];
    if (beyond_any(v, LIMIT))
        return false;
    for (int x = 0; x < 8; x++)
        transform(v + x, 8, CONSTANT_BITS - EXTRA_BITS);
    if (beyond_any(v, LIMIT))
        return false;
    for (int y = 0; y < 8; y++)
        transform(v + 8 * y, 1, CONSTANT_BITS + EXTRA_BITS + SCALE_BITS);
    for (int i = 0; i < 64; i++)
        samples[i / 8 * stride + i % 8] = clamp(v[i] + CENTRE);
    return !beyond_any(v, RESULT_LIMIT);
}

static bool inverse(const lap_decode_blocks *blocks, uint8_t *samples, ptrdiff_t stride)
{
    bool is_fine = true;
    for (int i = 0; i < blocks->count; i++)
        is_fine &= inverse_block(
            blocks->coefficients + (ptrdiff_t)64 * i, blocks->quant, samples + (ptrdiff_t)8 * i, stride);
    return is_fine;
}

/* ---- samples to pixels --------------------------------------------------------------------------- */

/* Computes the chroma of pixel x. A sample lies in the middle of the pixels that it represents. So the
 * nearest sample has a weight of three quarters and the second nearest one a quarter, across and down. Halves
 * are rounded down and up alternately.
 *
 *     samples       |     a     |     b     |          pixel 1: (3 a + b) / 4
 *     pixels        |  0  |  1  |  2  |  3  |          pixel 2: (3 b + a) / 4
 *
 * At the left and right edges a sample is its own neighbour. Chroma of half width with at most two columns is
 * repeated instead. */
static int chroma_at(const lap_decode_row *row, int component, int x)
{
    const uint8_t *near = row->near[component], *far = row->far[component];
    if (!row->h2)
        return row->v2 ? (3 * near[x] + far[x] + (row->upper ? 1 : 2)) >> 2 : near[x];
    const int i = x / 2, last = row->chroma_width - 1;
    if (row->chroma_width <= 2)
        return near[i];
    const int side = x % 2 == 0 ? (i > 0 ? i - 1 : 0) : (i < last ? i + 1 : last);
    if (!row->v2)
        return (3 * near[i] + near[side] + (x % 2 == 0 ? 1 : 2)) >> 2;
    return (3 * (3 * near[i] + far[i]) + 3 * near[side] + far[side] + (x % 2 == 0 ? 8 : 7)) >> 4;
}

/* Converts YCbCr to RGB with the weights of ITU-T T.871, rounded to 16 bits of fraction. */
static void colour(int y, int cb, int cr, uint8_t rgb[3])
{
    enum { FRACTION = 16, HALF = 1 << (FRACTION - 1) };
    rgb[0] = clamp(y + ((91881 * cr + HALF) >> FRACTION));
    rgb[1] = clamp(y + ((-22554 * cb - 46802 * cr + HALF) >> FRACTION));
    rgb[2] = clamp(y + ((116130 * cb + HALF) >> FRACTION));
}

/* Multiplies the light that each ink lets through by the light that black lets through. */
static void print(const lap_decode_row *row, int x, uint8_t rgb[3])
{
    const bool is_turned = row->is_ycc == row->is_inverted;
    const int left = row->is_inverted ? row->black[x] : 255 - row->black[x];
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)(((is_turned ? 255 - rgb[c] : rgb[c]) * left + 127) / 255);
}

static void pixels(const lap_decode_row *row, uint8_t *rgb)
{
    for (int x = 0; x < row->width; x++, rgb += 3) {
        const int first = row->y[x], second = chroma_at(row, 0, x), third = chroma_at(row, 1, x);
        rgb[0] = (uint8_t)first;
        rgb[1] = (uint8_t)second;
        rgb[2] = (uint8_t)third;
        if (row->is_ycc)
            colour(first, second - CENTRE, third - CENTRE, rgb);
        if (row->black)
            print(row, x, rgb);
    }
}

const lap_decode_stages lap_decode_c = {.index = lap_zigzag,
    .flags = LAP_RUNG_FLAGS,
    .unstuff = lap_unstuff,
    .walk = lap_walk_together,
    .entropy = entropy,
    .script = script,
    .inverse = inverse,
    .pixels = pixels};
