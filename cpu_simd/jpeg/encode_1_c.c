/* c: plain C, one function for each stage of the encoder, to be read from the bottom up.
 * Since libjpeg-turbo's C: a mask of 64 bits says which coefficients of a block are not 0.
 * Memory: a unit of 128 pixels across passes through all stages before the next one; its samples,
 * coefficients and bits, 26 KB, stay in the first-level cache.
 * Limit: not measured; docs/encoder.md has the times. */
#include <string.h>

#include "coding/zigzag.h"
#include "encode_dummies.h"
#include "encode_put.h"
#include "encode_shift.h"

const char lap_encode_c_flags[] = LAP_RUNG_FLAGS;

enum { STRIDE = LAP_ENCODE_UNIT, MAX_ROWS = 16 };

typedef struct unit { /* the data between the stages */
    uint8_t luma[MAX_ROWS][STRIDE];
    uint8_t chroma[2][8][STRIDE];
    uint8_t full[2][2][STRIDE]; /* chroma of the rows that become one row, before downsampling */
    int16_t blocks[LAP_ENCODE_UNIT_BLOCKS][64];
    uint8_t
        bytes[LAP_ENCODE_UNIT_BLOCKS * LAP_ENCODE_BLOCK_BYTES / 2 + LAP_ENCODE_SLACK]; /* not yet stuffed */
} unit;
_Static_assert(sizeof(unit) <= LAP_ENCODE_WORK, "a unit fits the work memory");

/* ---- pixels to samples --------------------------------------------------------------------------- */

/* Weights of the conversion (ITU-T T.871), 16 bits of fraction, rounded. */
enum { FRACTION = 16, HALF = 1 << (FRACTION - 1), CENTRE = (128 << FRACTION) + HALF - 1 };

static uint8_t luma_of(int r, int g, int b)
{
    return (uint8_t)((19595 * r + 38470 * g + 7471 * b + HALF) >> FRACTION);
}

/* Chroma is centred at 128; halves are rounded down. */
static uint8_t blue_of(int r, int g, int b)
{
    return (uint8_t)((32768 * b - 11059 * r - 21709 * g + CENTRE) >> FRACTION);
}

static uint8_t red_of(int r, int g, int b)
{
    return (uint8_t)((32768 * r - 27439 * g - 5329 * b + CENTRE) >> FRACTION);
}

/* Converts a row of pixels; the last pixel is repeated up to `padded`. */
static void colour(
    const uint8_t *pixel, int channels, int pixels, int padded, uint8_t *y, uint8_t *cb, uint8_t *cr)
{
    for (int x = 0; x < pixels; x++, pixel += channels) {
        const int r = pixel[0], g = pixel[1], b = pixel[2];
        y[x] = luma_of(r, g, b);
        cb[x] = blue_of(r, g, b);
        cr[x] = red_of(r, g, b);
    }
    const size_t more = (size_t)(padded - pixels);
    memset(y + pixels, y[pixels - 1], more);
    memset(cb + pixels, cb[pixels - 1], more);
    memset(cr + pixels, cr[pixels - 1], more);
}

/* A sample is the mean of h x v pixels. Halves (h = 2) or quarters (2 x 2) are rounded down and up
 * alternately, so that the picture does not become brighter. The other means are rounded to nearest. */
static void downsample(const uint8_t (*full)[STRIDE], int h, int v, int samples, uint8_t *out)
{
    const int shift = h * v / 2; /* of 1, 2 or 4 pixels */
    for (int x = 0; x < samples; x++) {
        int sum = h == 2 ? x % 2 + v - 1 : h * v / 2;
        for (int dx = x * h; dx < x * h + h; dx++)
            sum += full[0][dx] + (v == 2 ? full[1][dx] : 0);
        out[x] = (uint8_t)(sum >> shift);
    }
}

static void gray_samples(const lap_encode_rows *rows, int x0, int pixels, int padded, unit *u)
{
    for (int y = 0; y < rows->count; y++) {
        memcpy(u->luma[y], rows->base + y * rows->stride + x0, (size_t)pixels);
        memset(u->luma[y] + pixels, u->luma[y][pixels - 1], (size_t)(padded - pixels));
    }
}

/* Below the picture, the last row of samples is repeated. If the second row of a pair of pixel rows is
 * missing, the first is repeated. */
static void colour_samples(
    const lap_encode_plan *plan, const lap_encode_rows *rows, int x0, int pixels, int padded, unit *u)
{
    const int v = plan->v;
    for (int y = 0; y < rows->count; y += v) {
        for (int i = 0; i < v; i++) {
            const int row = y + i < rows->count ? y + i : rows->count - 1;
            colour(rows->base + row * rows->stride + (ptrdiff_t)x0 * plan->channels, plan->channels, pixels,
                padded, u->luma[y + i], u->full[0][i], u->full[1][i]);
        }
        for (int c = 0; c < 2; c++)
            downsample(u->full[c], plan->h, v, padded / plan->h, u->chroma[c][y / v]);
    }
}

static void repeat_rows(uint8_t (*rows)[STRIDE], int have, int need)
{
    for (int y = have; y < need; y++)
        memcpy(rows[y], rows[have - 1], STRIDE);
}

static void samples_of(
    const lap_encode_plan *plan, const lap_encode_rows *rows, int first, int count, unit *u)
{
    const int x0 = first * 8 * plan->h, padded = count * 8 * plan->h;
    const int pixels = plan->width - x0 < padded ? plan->width - x0 : padded;
    const int groups = (rows->count + plan->v - 1) / plan->v;
    if (plan->components == 1)
        gray_samples(rows, x0, pixels, padded, u);
    else
        colour_samples(plan, rows, x0, pixels, padded, u);
    repeat_rows(u->luma, groups * plan->v, 8 * plan->v);
    for (int c = 0; c < 2 && plan->components == 3; c++)
        repeat_rows(u->chroma[c], groups, 8);
}

/* ---- samples to coefficients --------------------------------------------------------------------- */

enum { CONSTANT_BITS = 13, EXTRA_BITS = 2 }; /* fraction of the constants; kept between the passes */

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

static int rounded(int value, int bits)
{
    return (value + (1 << (bits - 1))) >> bits;
}

/* Transforms eight values, `step` apart, in place: the DCT of Loeffler, Ligtenberg and Moschytz (1989).
 *
 *     v0 --+-- sum ---------> even half: two butterflies and a rotation  --> v0 v2 v4 v6
 *     v7 --+-- difference --> odd half:  four rotations                  --> v1 v3 v5 v7
 *
 * The first pass keeps two bits of fraction, the second removes them; both together scale by 8. */
LAP_INLINE void transform(int *v, int step, bool is_first)
{
    const int shift = is_first ? CONSTANT_BITS - EXTRA_BITS : CONSTANT_BITS + EXTRA_BITS;
    const int s0 = v[0] + v[7 * step], s1 = v[step] + v[6 * step];
    const int s2 = v[2 * step] + v[5 * step], s3 = v[3 * step] + v[4 * step];
    const int d0 = v[0] - v[7 * step], d1 = v[step] - v[6 * step];
    const int d2 = v[2 * step] - v[5 * step], d3 = v[3 * step] - v[4 * step];
    const int e0 = s0 + s3, e1 = s1 + s2, e2 = s1 - s2, e3 = s0 - s3;
    v[0] = is_first ? (e0 + e1) * (1 << EXTRA_BITS) : rounded(e0 + e1, EXTRA_BITS);
    v[4 * step] = is_first ? (e0 - e1) * (1 << EXTRA_BITS) : rounded(e0 - e1, EXTRA_BITS);
    const int turn = (e2 + e3) * C_0_541196100;
    v[2 * step] = rounded(turn + e3 * C_0_765366865, shift);
    v[6 * step] = rounded(turn - e2 * C_1_847759065, shift);

    const int common = (d0 + d1 + d2 + d3) * C_1_175875602;
    const int a = common - (d3 + d1) * C_1_961570560, b = common - (d2 + d0) * C_0_390180644;
    const int c = -(d3 + d0) * C_0_899976223, d = -(d2 + d1) * C_2_562915447;
    v[7 * step] = rounded(d3 * C_0_298631336 + c + a, shift);
    v[5 * step] = rounded(d2 * C_2_053119869 + d + b, shift);
    v[3 * step] = rounded(d1 * C_3_072711026 + d + a, shift);
    v[step] = rounded(d0 * C_1_501321110 + c + b, shift);
}

static void forward_dct(const uint8_t *samples, int v[64])
{
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++)
            v[8 * y + x] = samples[y * STRIDE + x] - 128;
        transform(v + 8 * y, 1, true);
    }
    for (int x = 0; x < 8; x++)
        transform(v + x, 8, false);
}

/* Quantises a block, see lap_encode_divisors, and stores it in zigzag order. */
static void quantise(const int v[64], const lap_encode_divisors *divisors, int16_t block[64])
{
    for (int k = 0; k < 64; k++) {
        const int at = lap_zigzag[k], sign = -(v[at] < 0);
        const uint32_t magnitude = (uint32_t)((v[at] ^ sign) - sign);
        const uint32_t product = (magnitude + divisors->correction[at]) * divisors->reciprocal[at] >> 16;
        block[k] = (int16_t)(((int)(product * divisors->scale[at] >> 16) ^ sign) - sign);
    }
}

/* Computes the coefficients of all blocks of the unit, in scan order. */
static void coefficients_of(const lap_encode_plan *plan, int count, unit *u)
{
    int v[64];
    int16_t(*block)[64] = u->blocks;
    for (int mcu = 0; mcu < count; mcu++) {
        for (int i = 0; i < plan->h * plan->v; i++) {
            forward_dct(u->luma[i / plan->h * 8] + (mcu * plan->h + i % plan->h) * 8, v);
            quantise(v, &plan->divisors[0], *block++);
        }
        for (int c = 0; c < plan->components - 1; c++) {
            forward_dct(u->chroma[c][0] + mcu * 8, v);
            quantise(v, &plan->divisors[1], *block++);
        }
    }
}

/* ---- coefficients to bits ------------------------------------------------------------------------ */

/* Writes the code of symbol number base + step * size, and then the value's bits. A negative value is written
 * as value - 1, so that its first bit is 0 (T.81, F.1.2.1). */
static void put_value(lap_bits *b, const lap_encode_codes *codes, int base, int step, int value)
{
    const unsigned magnitude = (unsigned)(value < 0 ? -value : value);
    const unsigned size = magnitude ? 32 - (unsigned)__builtin_clz(magnitude) : 0;
    const unsigned low = (unsigned)(value - (value < 0)) & ((1u << size) - 1);
    const int symbol = base + step * (int)size;
    lap_put(b, (unsigned)codes->code[symbol] << size | low, codes->length[symbol] + size);
}

static void put_symbol(lap_bits *b, const lap_encode_codes *codes, int symbol)
{
    lap_put(b, codes->code[symbol], codes->length[symbol]);
}

/* Returns a mask: bit k is set if coefficient k is not 0. */
static uint64_t mask_of(const int16_t block[64])
{
    uint64_t mask = 0;
#pragma GCC unroll 16
    for (int k = 0; k < 64; k++)
        mask |= (uint64_t)(block[k] != 0) << k;
    return mask;
}

static void put_block(lap_bits *b, const lap_encode_codes *codes, const int16_t block[64], int dc_before)
{
    put_value(b, codes, LAP_ENCODE_DC, 1, block[0] - dc_before);
    int before = 0; /* the last coefficient that was coded */
    for (uint64_t mask = mask_of(block) & ~(uint64_t)1; mask; mask &= mask - 1) {
        const int k = __builtin_ctzll(mask);
        int distance = k - before;
        for (; distance > 16; distance -= 16)
            put_symbol(b, codes, LAP_ENCODE_ZRL);
        put_value(b, codes, distance, LAP_ENCODE_SIZE_STEP, block[k]);
        before = k;
    }
    if (before != 63)
        put_symbol(b, codes, LAP_ENCODE_EOB);
}

static void scan(const lap_encode_plan *plan, lap_encode_state *state, int count, const unit *u, lap_bits *b)
{
    const int luma = plan->h * plan->v;
    const int16_t(*block)[64] = u->blocks;
    for (int mcu = 0; mcu < count; mcu++)
        for (int i = 0; i < plan->mcu_blocks; i++, block++) {
            const int component = i < luma ? 0 : i - luma + 1;
            put_block(b, &plan->tables->codes[component > 0], *block, state->dc[component]);
            state->dc[component] = (*block)[0];
        }
}

/* ---- bits to bytes of a file --------------------------------------------------------------------- */

/* Writes a zero after each 0xFF, so that it is not mistaken for a marker. */
static size_t stuff(const uint8_t *bytes, size_t count, uint8_t *out)
{
    uint8_t *to = out;
    for (size_t i = 0; i < count; i++) {
        to[0] = bytes[i];
        to[1] = 0;
        to += 1 + (bytes[i] == 0xFF);
    }
    return (size_t)(to - out);
}

/* ---- all stages ---------------------------------------------------------------------------------- */

size_t lap_encode_c(const lap_encode_plan *plan, lap_encode_state *state, const lap_encode_rows *rows,
    int first, int count, uint8_t *out)
{
    unit *u = state->work;
    lap_bits b = lap_bits_of(state, u->bytes);
    samples_of(plan, rows, first, count, u);
    coefficients_of(plan, count, u);
    lap_encode_dummies(plan, rows, first, count, u->blocks[0]);
    scan(plan, state, count, u, &b);
    lap_keep_bits(&b, state);
    const size_t bytes = (size_t)(b.to - u->bytes);
    if (!state->is_raw)
        return stuff(u->bytes, bytes, out);
    memcpy(out, u->bytes, bytes);
    return bytes;
}

size_t lap_encode_join_c(lap_encode_state *state, const uint8_t *bits, size_t count, uint8_t *out)
{
    unit *u = state->work;
    uint8_t *to = out;
    for (size_t i = 0, n; i < count; i += n) {
        n = count - i < sizeof u->bytes ? count - i : sizeof u->bytes;
        lap_shift_bits(state, bits + i, n, u->bytes);
        to += stuff(u->bytes, n, to);
    }
    return (size_t)(to - out);
}
