/* Turns samples into pixels: upsampling and colour of decode_1_c.c, with the operations of
 * decode_words.h, on one vector of bytes at a time.
 *
 * Even and odd pixels are in two vectors of words: upsampling produces them in this form, and a mask
 * separates bytes into this form, so that no sample moves until colours are interleaved.
 *
 *     weighted sums of two rows of chroma, in words      .. s2 s3 s4 ..
 *     even pixels: 3 s3 + s2,  odd pixels: 3 s3 + s4     three loads, one word apart
 *
 * The sums of a span are stored before the first is loaded at an odd place: a load that covers parts of two
 * recent stores waits until both have left the store buffer. */
#ifndef LAP_DECODE_PIXELS_H
#define LAP_DECODE_PIXELS_H

#include "decode.h"
#include "decode_words.h"

enum {
    LAP_SPAN = 1024,                   /* pixels */
    LAP_SPAN_SUMS = LAP_SPAN / 2 + 64, /* one more on both sides, and two vectors after the last whole one */
    LAP_WORDS = V_BYTES / 2
};
_Static_assert((int)V_BYTES <= LAP_DECODE_SLACK, "whole vectors may be read");

typedef struct lap_span_sums {
    _Alignas(64) uint16_t of[2][LAP_SPAN_SUMS];
} lap_span_sums;

/* Computes the sums of `count` samples from `first` on, and of one neighbour on each side; beyond the ends of
 * the row, its end samples are repeated. */
LAP_INLINE void lap_sums(const lap_decode_row *row, bool v2, int first, int count, lap_span_sums *sums)
{
    for (int c = 0; c < 2; c++) {
        const uint8_t *near = row->near[c] + first - 1, *far = v2 ? row->far[c] + first - 1 : NULL;
        uint16_t *to = sums->of[c];
        int i = 0;
        for (; i < count + 2; i += LAP_WORDS) {
            const vec samples = v_widen(near + i);
            v_store(to + i, v2 ? v_add16(v_mullo16(samples, v_set16(3)), v_widen(far + i)) : samples);
        }
        v_store(to + i, v_zero()); /* whole vectors are loaded */
        if (first == 0)
            to[0] = to[1];
        if (first + count == row->chroma_width)
            to[count + 1] = to[count];
    }
}

typedef struct lap_halves { /* words of even and of odd pixels */
    vec even, odd;
} lap_halves;

LAP_INLINE lap_halves lap_halves_of(const uint8_t *bytes)
{
    const vec v = v_load_any(bytes);
    return (lap_halves){v_and(v, v_set16(0xFF)), v_srl16(v, 8)};
}

/* Upsamples chroma of half width; `sums` points to the left neighbour of the first sample. */
LAP_INLINE lap_halves lap_across(const uint16_t *sums, bool v2)
{
    const int shift = v2 ? 4 : 2, even = v2 ? 8 : 1, odd = v2 ? 7 : 2;
    const vec thrice = v_add16(v_mullo16(v_load_any(sums + 1), v_set16(3)), v_set16(even));
    return (lap_halves){v_srl16(v_add16(thrice, v_load_any(sums)), shift),
        v_srl16(v_add16(v_add16(thrice, v_set16(odd - even)), v_load_any(sums + 2)), shift)};
}

/* Upsamples chroma of full width and half height. */
LAP_INLINE lap_halves lap_down(const uint8_t *near, const uint8_t *far, bool upper)
{
    const lap_halves n = lap_halves_of(near), f = lap_halves_of(far);
    const vec bias = v_set16(upper ? 1 : 2), three = v_set16(3);
    return (lap_halves){v_srl16(v_add16(v_mullo16(n.even, three), v_add16(f.even, bias)), 2),
        v_srl16(v_add16(v_mullo16(n.odd, three), v_add16(f.odd, bias)), 2)};
}

typedef struct lap_rgb {
    vec r, g, b;
} lap_rgb;

/* Converts one half of the pixels, not yet clamped. libjpeg's products with 16 bits of fraction are computed
 * as follows:
 *
 *     red    91881 * (cr - 128), rounded. v_scale16 has 15 bits: 22970 * 2 (cr - 128) gives the same
 *            result for all 256 sample values
 *     blue   116130 * (cb - 128): 29033 likewise
 *     green  22554 * (cb - 128) + 46802 * (cr - 128), rounded after the sum: both weights are even, and
 *            their halves fit in words */
LAP_INLINE lap_rgb lap_colour_half(vec y, vec cb, vec cr)
{
    const vec b = v_sub16(cb, v_set16(128)), r = v_sub16(cr, v_set16(128));
    const vec half = v_set32(1 << 14);
    const vec low = v_dot(half, v_pair_low(b, r), -11277, -23401);
    const vec high = v_dot(half, v_pair_high(b, r), -11277, -23401);
    return (lap_rgb){v_add16(y, v_scale16(v_add16(r, r), 22970)),
        v_add16(y, v_pack32(v_sra32(low, 15), v_sra32(high, 15))),
        v_add16(y, v_scale16(v_add16(b, b), 29033))};
}

/* 255 - v; v within 0 .. 255. */
LAP_INLINE vec lap_rest(vec v)
{
    return v_sub16(v_set16(255), v);
}

/* (v * left + 127) / 255 of words from -512 to 511, clamped to 0 .. 255; if is_turned, 255 minus v replaces
 * v. The sum n is below 65,408, so n / 255 is (n + 1 + n / 256) / 256. */
LAP_INLINE vec lap_ink(vec v, vec left, bool is_turned)
{
    const vec rest = v_less16(v_set16(255 + 512), v_add16(v, v_set16(512))); /* 255 - v, not below 0 */
    const vec clamped = v_less16(v_set16(255), rest);
    const vec n = v_add16(v_mullo16(is_turned ? lap_rest(clamped) : clamped, left), v_set16(127));
    return v_srl16(v_add16(v_add16(n, v_set16(1)), v_srl16(n, 8)), 8);
}

/* Converts any kind of colours: see lap_decode_row. */
LAP_INLINE lap_rgb lap_any_half(const lap_decode_row *row, vec y, vec cb, vec cr, vec black)
{
    const lap_rgb colour = row->is_ycc ? lap_colour_half(y, cb, cr) : (lap_rgb){y, cb, cr};
    const vec left = row->is_inverted ? black : lap_rest(black);
    const bool is_turned = row->is_ycc == row->is_inverted;
    if (!row->black)
        return colour;
    return (lap_rgb){lap_ink(colour.r, left, is_turned), lap_ink(colour.g, left, is_turned),
        lap_ink(colour.b, left, is_turned)};
}

/* Writes the pixels from x on. `any`: colours are of any kind; else Y, Cb, Cr. */
LAP_INLINE void lap_some_pixels(
    const lap_decode_row *row, bool any, int x, lap_halves cb, lap_halves cr, uint8_t *out)
{
    const lap_halves y = lap_halves_of(row->y + x);
    const lap_halves black = any && row->black ? lap_halves_of(row->black + x) : y;
    const lap_rgb even = any ? lap_any_half(row, y.even, cb.even, cr.even, black.even)
                             : lap_colour_half(y.even, cb.even, cr.even);
    const lap_rgb odd =
        any ? lap_any_half(row, y.odd, cb.odd, cr.odd, black.odd) : lap_colour_half(y.odd, cb.odd, cr.odd);
    v_store_pixels(v_clamp8(even.r, odd.r), v_clamp8(even.g, odd.g), v_clamp8(even.b, odd.b), out);
}

/* Callers pass constants for any, h2 and v2. */
LAP_INLINE void lap_decode_span(
    const lap_decode_row *row, bool any, bool h2, bool v2, int first, int count, uint8_t *rgb)
{
    lap_span_sums sums;
    if (h2)
        lap_sums(row, v2, first / 2, (count + 1) / 2, &sums);
    for (int x = 0; x < count; x += V_BYTES) {
        lap_halves chroma[2];
        uint8_t rest[3 * V_BYTES], *out = count - x < V_BYTES ? rest : rgb + 3 * x;
#pragma GCC unroll 2
        for (int c = 0; c < 2; c++)
            chroma[c] = h2   ? lap_across(sums.of[c] + x / 2, v2)
                        : v2 ? lap_down(row->near[c] + first + x, row->far[c] + first + x, row->upper)
                             : lap_halves_of(row->near[c] + first + x);
        lap_some_pixels(row, any, first + x, chroma[0], chroma[1], out);
        if (out == rest)
            memcpy(rgb + 3 * x, rest, 3 * (size_t)(count - x));
    }
}

/* Chroma of half width with only one or two columns is repeated instead of interpolated. */
LAP_INLINE void lap_decode_narrow(const lap_decode_row *row, uint8_t *rgb)
{
    uint8_t wide[2][V_BYTES] = {{0}};
    for (int c = 0; c < 2; c++)
        for (int x = 0; x < row->width; x++)
            wide[c][x] = row->near[c][x / 2];
    lap_decode_row full = *row;
    full.near[0] = wide[0];
    full.near[1] = wide[1];
    lap_decode_span(&full, true, false, false, 0, row->width, rgb);
}

LAP_INLINE void lap_decode_spans(const lap_decode_row *row, bool any, uint8_t *rgb)
{
    for (int x = 0; x < row->width; x += LAP_SPAN) {
        const int count = row->width - x < LAP_SPAN ? row->width - x : LAP_SPAN;
        uint8_t *to = rgb + 3 * (size_t)x;
        if (row->h2 && row->v2)
            lap_decode_span(row, any, true, true, x, count, to);
        else if (row->h2)
            lap_decode_span(row, any, true, false, x, count, to);
        else if (row->v2)
            lap_decode_span(row, any, false, true, x, count, to);
        else
            lap_decode_span(row, any, false, false, x, count, to);
    }
}

static void lap_decode_pixels(const lap_decode_row *row, uint8_t *rgb)
{
    if (row->h2 && row->chroma_width <= 2)
        lap_decode_narrow(row, rgb);
    else if (row->is_ycc && !row->black)
        lap_decode_spans(row, false, rgb);
    else
        lap_decode_spans(row, true, rgb);
}

#endif
