/* Turns pixels into samples, eight at a time: sums of products of words, two pairs for each pixel.
 *
 *     words of 8 bytes   R G R G R G R G  and  B G B G B G B G
 *     vpmaddwd           R * w0 + G * w1   +   B * w2 + G * w3       32 bits, of which byte 2 is the sample
 *
 * The weight of green in luma is too large for a signed word and is split between both pairs. Chroma is
 * rounded to nearest with halves down; its weights are negated and its samples complemented, as in
 * encode_colour_avx512vbmi2.h: 32768 does not fit a signed word, -32768 does. */
#ifndef LAP_ENCODE_COLOUR_AVX2_H
#define LAP_ENCODE_COLOUR_AVX2_H

#include "encode_vectors_avx2.h"

typedef struct lap_samples {
    vec y, cb, cr;
} lap_samples;

typedef struct lap_pixel_pairs { /* of eight pixels */
    vec rg, bg;
} lap_pixel_pairs;

/* Three bytes per pixel: the second lane is loaded from byte 8 on, so that nothing after the pixels is read.
 */
LAP_INLINE lap_pixel_pairs lap_load_pixels(const uint8_t *pixels, int channels)
{
    const __m128i *from = (const __m128i *)pixels;
    if (channels == 4) {
        const vec all = _mm256_loadu_si256((const __m256i *)from);
        const vec rg =
            v_each_lane(((const int8_t[16]){0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1}));
        const vec bg =
            v_each_lane(((const int8_t[16]){2, -1, 1, -1, 6, -1, 5, -1, 10, -1, 9, -1, 14, -1, 13, -1}));
        return (lap_pixel_pairs){_mm256_shuffle_epi8(all, rg), _mm256_shuffle_epi8(all, bg)};
    }
    const vec all = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(from)), _mm_loadu_si128((const __m128i *)(pixels + 8)), 1);
    const vec rg = _mm256_setr_epi8(0, -1, 1, -1, 3, -1, 4, -1, 6, -1, 7, -1, 9, -1, 10, -1, 4, -1, 5, -1, 7,
        -1, 8, -1, 10, -1, 11, -1, 13, -1, 14, -1);
    const vec bg = _mm256_setr_epi8(2, -1, 1, -1, 5, -1, 4, -1, 8, -1, 7, -1, 11, -1, 10, -1, 6, -1, 5, -1, 9,
        -1, 8, -1, 12, -1, 11, -1, 15, -1, 14, -1);
    return (lap_pixel_pairs){_mm256_shuffle_epi8(all, rg), _mm256_shuffle_epi8(all, bg)};
}

/* Eight samples, 32 bits each. */
LAP_INLINE vec lap_weighted(lap_pixel_pairs p, int rg, int bg, int half)
{
    const vec sum =
        _mm256_add_epi32(_mm256_madd_epi16(p.rg, v_set32(rg)), _mm256_madd_epi16(p.bg, v_set32(bg)));
    return _mm256_srai_epi32(_mm256_add_epi32(sum, v_set32(half)), 16);
}

/* Packs 32 samples of 32 bits to bytes, in order. */
LAP_INLINE vec lap_bytes_of(const vec s[4])
{
    const vec mixed = _mm256_packus_epi16(_mm256_packus_epi32(s[0], s[1]), _mm256_packus_epi32(s[2], s[3]));
    return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

LAP_INLINE lap_samples lap_colour(const uint8_t *pixels, int channels)
{
    /* Subtracting 128.5 gives the complement of the sample; adding 256 keeps it from becoming negative.
     */
    const int half = 32768, complement = -(128 * 65536 + 32768) + 256 * 65536;
    vec y[4], cb[4], cr[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const lap_pixel_pairs p = lap_load_pixels(pixels + 8 * channels * i, channels);
        y[i] = lap_weighted(p, V_PAIR(19595, 19235), V_PAIR(7471, 19235), half);
        cb[i] = lap_weighted(p, V_PAIR(11059, 21709), V_PAIR(-32768, 0), complement);
        cr[i] = lap_weighted(p, V_PAIR(-32768, 27439), V_PAIR(5329, 0), complement);
    }
    const vec ones = _mm256_set1_epi8(-1);
    return (lap_samples){
        lap_bytes_of(y), _mm256_xor_si256(lap_bytes_of(cb), ones), _mm256_xor_si256(lap_bytes_of(cr), ones)};
}

/* Stores means of four pixels across, from column x on, in a strip's row Cb Cr Cb Cr. */
LAP_INLINE void lap_store_quarters(vec cb, vec cr, uint8_t *row, int x)
{
    const vec ones = v_set16(1), two = v_set32(2);
    const vec b = v_srl32(_mm256_add_epi32(_mm256_madd_epi16(v_pairs8(cb), ones), two), 2);
    const vec r = v_srl32(_mm256_add_epi32(_mm256_madd_epi16(v_pairs8(cr), ones), two), 2);
    const vec words = _mm256_packus_epi32(b, r);
    const vec bytes = _mm256_packus_epi16(words, words);
    _mm_store_si128((__m128i *)(row + x / 2), _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
                                                  bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))));
}

#endif
