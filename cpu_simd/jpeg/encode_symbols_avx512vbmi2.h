/* Turns coefficients into a flat stream of symbols, and these into bits. See docs/encoder.md for the
 * drawings. */
#ifndef LAP_ENCODE_SYMBOLS_AVX512VBMI2_H
#define LAP_ENCODE_SYMBOLS_AVX512VBMI2_H

#include <immintrin.h>

#include "encode_symbols.h"

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define LAP_MSAN 1
#endif
#endif

enum {
    LAP_STEP = 32, /* symbols at once */
    LAP_BATCH = 16 /* steps that a loop processes before the next loop starts: 6 KB of lap_pieces */
};

/* ---- coefficients to symbols --------------------------------------------------------------------- */

LAP_INLINE __m512i lap_positions(bool is_chroma)
{
    const __m512i iota = _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47,
        46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22,
        21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return is_chroma ? _mm512_add_epi8(iota, _mm512_set1_epi8(LAP_POSITION_CHROMA)) : iota;
}

LAP_INLINE int lap_append_block(lap_symbols *s, int at, const int16_t *block, int dc_before, bool is_chroma,
    const lap_encode_tables *tables)
{
    (void)tables;
    const __m512i low = _mm512_load_si512(block), high = _mm512_load_si512(block + 32);
    const uint64_t nonzero =
        (uint64_t)_mm512_test_epi16_mask(high, high) << 32 | _mm512_test_epi16_mask(low, low);
    const uint64_t coded = lap_coded(nonzero);
    int16_t *value = s->value + at;
    _mm512_storeu_si512(value, _mm512_maskz_compress_epi16((__mmask32)coded, low));
    _mm512_storeu_si512(value + __builtin_popcount((uint32_t)coded),
        _mm512_maskz_compress_epi16((__mmask32)(coded >> 32), high));
    _mm512_storeu_si512(s->position + at, _mm512_maskz_compress_epi8(coded, lap_positions(is_chroma)));
    value[0] = (int16_t)(block[0] - dc_before);
    return at + __builtin_popcountll(coded);
}

/* ---- symbols to bits ----------------------------------------------------------------------------- */

/* Constants in memory. If the compiler knew their values, it would rebuild them from general registers in
 * every iteration of the loop, and a processor can move only one of these to a vector per cycle. So
 * lap_constants_of hides the values from the compiler. */
typedef struct lap_constants {
    _Alignas(64) uint16_t word[7][32];               /* each has 32 equal words; the names are below */
    _Alignas(64) uint64_t seven[8], most[8], all[8]; /* the last lane; the longest string; bits of a lane */
    _Alignas(64) uint8_t reversed[64];               /* reverses each group of four words */
    _Alignas(64) uint8_t here[64],
        there[64]; /* 32 words from bytes 1 .., and from bytes 0 .., reversed in the same way */
    _Alignas(64) uint8_t turn_a[64],
        turn_b[64];                   /* words 2 and 1 of the lower and of the upper group of a lane */
    _Alignas(64) uint8_t earlier[64]; /* lane i: the lengths of strings 0 to i - 1, else a byte that is 0 */
    _Alignas(64) uint8_t swapped[64]; /* reverses each group of eight bytes */
    _Alignas(64) uint16_t size[64];   /* bits of the numbers 0 .. 63 */
    uint64_t low_bytes;               /* mask of the lower bytes of words */
} lap_constants;
enum { K_ONE, K_SIXTEEN, K_32, K_63, K_64, K_128, K_DC };

#define LAP_4(...) __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define LAP_16(...) LAP_4(LAP_4(__VA_ARGS__))
#define LAP_32(x)            \
    {                        \
        LAP_16(x), LAP_16(x) \
    }
#define LAP_8(x)           \
    {                      \
        LAP_4(x), LAP_4(x) \
    }
static const lap_constants lap_constants_known = {
    .word = {LAP_32(1), LAP_32(16), LAP_32(32), LAP_32(63), LAP_32(64), LAP_32(128), LAP_32(LAP_ENCODE_DC)},
    .seven = LAP_8(7),
    .most = LAP_8(57),
    .all = LAP_8(64),
    .reversed = {LAP_4(6, 7, 4, 5, 2, 3, 0, 1, 14, 15, 12, 13, 10, 11, 8, 9)},
    .here = {4, 0, 3, 0, 2, 0, 1, 0, 8, 0, 7, 0, 6, 0, 5, 0, 12, 0, 11, 0, 10, 0, 9, 0, 16, 0, 15, 0, 14, 0,
        13, 0, 20, 0, 19, 0, 18, 0, 17, 0, 24, 0, 23, 0, 22, 0, 21, 0, 28, 0, 27, 0, 26, 0, 25, 0, 32, 0, 31,
        0, 30, 0, 29, 0},
    .there = {3, 0, 2, 0, 1, 0, 0, 0, 7, 0, 6, 0, 5, 0, 4, 0, 11, 0, 10, 0, 9, 0, 8, 0, 15, 0, 14, 0, 13, 0,
        12, 0, 19, 0, 18, 0, 17, 0, 16, 0, 23, 0, 22, 0, 21, 0, 20, 0, 27, 0, 26, 0, 25, 0, 24, 0, 31, 0, 30,
        0, 29, 0, 28, 0},
    .turn_a = {LAP_4(2, 3, 128, 128, 128, 128, 128, 128, 4, 5, 128, 128, 128, 128, 128, 128)},
    .turn_b = {LAP_4(10, 11, 128, 128, 128, 128, 128, 128, 12, 13, 128, 128, 128, 128, 128, 128)},
    .earlier = {1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 8, 1, 1, 1, 1, 1, 1, 0, 8, 16, 1, 1, 1, 1,
        1, 0, 8, 16, 24, 1, 1, 1, 1, 0, 8, 16, 24, 32, 1, 1, 1, 0, 8, 16, 24, 32, 40, 1, 1, 0, 8, 16, 24, 32,
        40, 48, 1},
    .swapped = {LAP_4(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)},
    .size = {0, 1, 2, 2, LAP_4(3), LAP_4(4, 4), LAP_16(5), LAP_16(6, 6)},
    .low_bytes = 0x5555555555555555};

LAP_INLINE const lap_constants *lap_constants_of(void)
{
    const lap_constants *k = &lap_constants_known;
    __asm__("" : "+r"(k));
    return k;
}

LAP_INLINE __m512i lap_word(const lap_constants *k, int name)
{
    return _mm512_load_si512(k->word[name]);
}

typedef struct lap_code_table { /* 192 codes and lengths in vectors */
    __m512i code[6], length[3];
} lap_code_table;

typedef struct lap_tables {
    lap_code_table codes[2]; /* luma, chroma */
} lap_tables;

LAP_INLINE lap_tables lap_tables_of(const lap_encode_plan *plan)
{
    lap_tables t;
    for (int c = 0; c < 2; c++) {
#pragma GCC unroll 8
        for (int i = 0; i < 6; i++)
            t.codes[c].code[i] = _mm512_load_si512(plan->tables->codes[c].code + 32 * i);
#pragma GCC unroll 8
        for (int i = 0; i < 3; i++)
            t.codes[c].length[i] = _mm512_load_si512(plan->tables->codes[c].length + 64 * i);
    }
    return t;
}

/* Looks up entry `number` of a table for 32 symbols; a permutation of two vectors covers 64 words. from_64:
 * mask of the numbers 64 .. 127; from_128: of larger ones. */
LAP_INLINE __m512i lap_code_of(const lap_code_table *t, __m512i number, __mmask32 from_64, __mmask32 from_128)
{
    __m512i code = _mm512_permutex2var_epi16(t->code[0], number, t->code[1]);
    code = _mm512_mask_blend_epi16(from_64, code, _mm512_permutex2var_epi16(t->code[2], number, t->code[3]));
    return _mm512_mask_blend_epi16(from_128, code, _mm512_permutex2var_epi16(t->code[4], number, t->code[5]));
}

/* Looks up lengths in the same way; a permutation covers 128 bytes. The upper byte of each word looks up
 * number 0, which has no bits, or is masked out. */
LAP_INLINE __m512i lap_length_of(
    const lap_code_table *t, __m512i number, __mmask32 from_128, __mmask64 low_bytes)
{
    return _mm512_mask_blend_epi16(from_128, _mm512_permutex2var_epi8(t->length[0], number, t->length[1]),
        _mm512_maskz_permutexvar_epi8(low_bytes, number, t->length[2]));
}

/* Returns the number of bits of each value, with a table of 64 entries. */
LAP_INLINE __m512i lap_sizes(const lap_constants *k, __m512i value)
{
    const __m512i magnitude = _mm512_abs_epi16(value);
    const __mmask32 is_large = _mm512_cmpgt_epi16_mask(magnitude, lap_word(k, K_63));
    const __m512i index = _mm512_mask_srli_epi16(magnitude, is_large, magnitude, 6);
    const __m512i size =
        _mm512_permutex2var_epi16(_mm512_load_si512(k->size), index, _mm512_load_si512(k->size + 32));
    return _mm512_mask_add_epi16(size, is_large, size, _mm512_set1_epi16(6));
}

typedef struct lap_pieces {    /* 32 symbols: the first of each four is in the highest word */
    __m512i number;            /* in the tables of codes */
    __m512i code, code_length; /* at the right of 16 bits */
    __m512i bits, size;        /* of the value, at the left */
    __mmask32 chroma;
} lap_pieces;

typedef struct lap_scratch {
    lap_pieces pieces[LAP_BATCH];
} lap_scratch;

/* Computes the numbers of the next 32 symbols, or of `left` if fewer are left. The result is returned through
 * a pointer, because compilers copy a returned structure of vectors through memory. */
LAP_INLINE void lap_number(const lap_constants *k, const lap_symbols *s, int i, int left, lap_pieces *p)
{
    const __m512i bytes = _mm512_loadu_si512(s->position + i - 1);
    const __m512i value =
        _mm512_shuffle_epi8(_mm512_loadu_si512(s->value + i), _mm512_load_si512(k->reversed));
    const __m512i position = _mm512_maskz_permutexvar_epi8(k->low_bytes, _mm512_load_si512(k->here), bytes);
    const __m512i before = _mm512_maskz_permutexvar_epi8(k->low_bytes, _mm512_load_si512(k->there), bytes);
    __m512i size = lap_sizes(k, value);
    __m512i number = _mm512_add_epi16(_mm512_sub_epi16(position, before), _mm512_slli_epi16(size, 4));
    const __mmask32 is_dc = _mm512_testn_epi16_mask(position, lap_word(k, K_63));
    number = _mm512_mask_add_epi16(number, is_dc, size, lap_word(k, K_DC));
    if (left < LAP_STEP) { /* no bits after the last symbol */
        const __mmask32 is_there =
            _mm512_cmple_epi16_mask(_mm512_and_si512(_mm512_load_si512(k->here), _mm512_set1_epi16(255)),
                _mm512_set1_epi16((short)left));
        number = _mm512_maskz_mov_epi16(is_there, number);
        size = _mm512_maskz_mov_epi16(is_there, size);
    }
    /* A negative value is written as value - 1. */
    const __m512i bits = _mm512_mask_sub_epi16(value, _mm512_movepi16_mask(value), value, lap_word(k, K_ONE));
    p->number = number;
    p->size = size;
    p->bits = _mm512_sllv_epi16(bits, _mm512_sub_epi16(lap_word(k, K_SIXTEEN), size));
    p->chroma = _mm512_test_epi16_mask(position, lap_word(k, K_64)); /* LAP_POSITION_CHROMA */
}

LAP_INLINE void lap_look_up(
    const lap_constants *k, const lap_code_table *table, lap_pieces *p, __mmask32 which)
{
    const __m512i number = p->number;
    const __mmask32 from_64 = _mm512_test_epi16_mask(number, lap_word(k, K_64));
    const __mmask32 from_128 = _mm512_test_epi16_mask(number, lap_word(k, K_128));
    p->code = _mm512_mask_mov_epi16(p->code, which, lap_code_of(table, number, from_64, from_128));
    p->code_length =
        _mm512_mask_mov_epi16(p->code_length, which, lap_length_of(table, number, from_128, k->low_bytes));
}

/* Looks up each step in both tables. */
LAP_INLINE void lap_look_up_both(
    const lap_constants *k, const lap_tables *tables, lap_pieces *pieces, int steps)
{
    for (int i = 0; i < steps; i++) {
        lap_look_up(k, &tables->codes[0], &pieces[i], (__mmask32)-1);
        lap_look_up(k, &tables->codes[1], &pieces[i], pieces[i].chroma);
    }
}

/* Looks up each step only in the tables that it needs, usually one. This is faster on a processor that starts
 * one permutation every two cycles. Lists replace branches, so that only the end of a list is
 * mispredicted. */
LAP_INLINE void lap_look_up_needed(
    const lap_constants *k, const lap_tables *tables, lap_pieces *pieces, int steps)
{
    int list[2][LAP_BATCH], count[2] = {0, 0};
    for (int i = 0; i < steps; i++) {
        list[0][count[0]] = list[1][count[1]] = i;
        count[0] += pieces[i].chroma != (__mmask32)-1;
        count[1] += pieces[i].chroma != 0;
    }
    for (int i = 0; i < count[0]; i++)
        lap_look_up(k, &tables->codes[0], &pieces[list[0][i]], (__mmask32)-1);
    for (int i = 0; i < count[1]; i++)
        lap_look_up(k, &tables->codes[1], &pieces[list[1][i]], pieces[list[1][i]].chroma);
}

typedef struct lap_strings { /* of eight groups of four symbols */
    __m512i first, second;   /* two symbols each: at the right of 64 bits, at the left of them */
    __m512i first_length, length;
    __m512i second_length; /* in the lower half; ignore the upper half */
} lap_strings;

/* To merge two strings, both are shifted so that they meet in the middle:
 *
 *     word          code | value              code at the right of 16 bits, value at the left
 *     first symbol  00 code value             shifted right until the value ends
 *     second            code value 00         shifted left until the code begins
 *     together      00 code value code value 00
 */
LAP_INLINE lap_strings lap_merge(const lap_constants *k, const lap_pieces *p)
{
    const __mmask32 seconds = (__mmask32)k->low_bytes; /* words of every second symbol */
    const __m512i sixteen = lap_word(k, K_SIXTEEN), half = lap_word(k, K_32);
    const __m512i turn =
        _mm512_mask_sub_epi16(_mm512_add_epi16(p->size, sixteen), seconds, sixteen, p->code_length);
    const __m512i a =
        _mm512_rolv_epi32(_mm512_unpacklo_epi16(p->bits, p->code), _mm512_unpacklo_epi16(turn, turn));
    const __m512i b =
        _mm512_rolv_epi32(_mm512_unpackhi_epi16(p->bits, p->code), _mm512_unpackhi_epi16(turn, turn));

    /* The first two symbols are shifted right, the next two left. Word 2 of four (the second symbol) and word
     * 1 (the third) give the distance. */
    const __m512i length = _mm512_add_epi16(p->code_length, p->size);
    const __m512i turn2 = _mm512_mask_add_epi16(_mm512_sub_epi16(half, length), seconds, half, length);
    const __m512i a2 = _mm512_rolv_epi64(a, _mm512_shuffle_epi8(turn2, _mm512_load_si512(k->turn_a)));
    const __m512i b2 = _mm512_rolv_epi64(b, _mm512_shuffle_epi8(turn2, _mm512_load_si512(k->turn_b)));
    const __m512i twos = _mm512_madd_epi16(length, lap_word(k, K_ONE));
    return (lap_strings){.first = _mm512_unpackhi_epi64(a2, b2),
        .second = _mm512_unpacklo_epi64(a2, b2),
        .first_length = _mm512_srli_epi64(twos, 32),
        .second_length = twos,
        .length = _mm512_sad_epu8(length, _mm512_setzero_si512())};
}

/* Stored strings overlap: a string of at most 57 bits begins inside a byte whose upper bits are the last bits
 * of the string before it. The later store writes these bits again.
 *
 * left: the string, at the left of 64 bits. before: the bits before the string, at the right. at: the
 * position of the string's first bit. */
LAP_INLINE __m512i lap_in_byte(const lap_constants *k, __m512i left, __m512i before, __m512i at)
{
    const __m512i word = _mm512_shrdv_epi64(left, before, _mm512_and_si512(at, _mm512_load_si512(k->seven)));
    return _mm512_shuffle_epi8(word, _mm512_load_si512(k->swapped));
}

/* Returns the byte positions of eight strings, 16 bits each: a unit has fewer than 2^16 bytes. */
LAP_INLINE __m128i lap_bytes_of(__m512i at)
{
    return _mm512_cvtepi64_epi16(_mm512_srli_epi64(at, 3));
}
_Static_assert(LAP_UNIT_BYTES < 1 << 16, "where a string begins is a number of 16 bits");

LAP_INLINE void lap_store_two(uint8_t *out, __m128i words, uint32_t bytes)
{
    const uint64_t first = (uint64_t)_mm_cvtsi128_si64(words), second = (uint64_t)_mm_extract_epi64(words, 1);
    memcpy(out + (uint16_t)bytes, &first, sizeof first);
    memcpy(out + (bytes >> 16), &second, sizeof second);
}

/* Stores eight strings in order: by eight stores, or by a scatter, which also writes its elements in order.
 */
LAP_INLINE void lap_scatter_eight(uint8_t *out, __m512i words, __m512i at)
{
    _mm512_i64scatter_epi64(out, _mm512_srli_epi64(at, 3), words, 1);
#ifdef LAP_MSAN /* MemorySanitizer does not see what a scatter writes */
    uint64_t places[8];
    _mm512_storeu_si512(places, at);
    for (int i = 0; i < 8; i++)
        __msan_unpoison(out + places[i] / 8, 8);
#endif
}

LAP_INLINE void lap_store_eight(uint8_t *out, __m512i words, __m512i at)
{
    const __m128i bytes = lap_bytes_of(at);
    const uint64_t low = (uint64_t)_mm_cvtsi128_si64(bytes), high = (uint64_t)_mm_extract_epi64(bytes, 1);
    lap_store_two(out, _mm512_castsi512_si128(words), (uint32_t)low);
    lap_store_two(out, _mm512_extracti64x2_epi64(words, 1), (uint32_t)(low >> 32));
    lap_store_two(out, _mm512_extracti64x2_epi64(words, 2), (uint32_t)high);
    lap_store_two(out, _mm512_extracti64x2_epi64(words, 3), (uint32_t)(high >> 32));
}

typedef void lap_put_eight_fn(uint8_t *out, __m512i words, __m512i at);

typedef struct lap_words { /* eight strings and their byte positions, to be stored one by one */
    _Alignas(64) uint64_t word[8];
    uint16_t byte[8];
} lap_words;

LAP_INLINE void lap_words_of(
    const lap_constants *k, __m512i left, __m512i before, __m512i at, lap_words *words)
{
    _mm512_store_si512(words->word, lap_in_byte(k, left, before, at));
    _mm_storeu_si128((__m128i *)words->byte, lap_bytes_of(at));
}

/* Stores strings that are too long: the first two symbols of each, and then the second two. */
static __attribute__((noinline)) void lap_store_long(
    const lap_constants *k, uint8_t *out, const lap_pieces *p, __m512i before, __m512i at, int count)
{
    lap_words first, second;
    const lap_strings s = lap_merge(k, p);
    const __m512i left =
        _mm512_sllv_epi64(s.first, _mm512_sub_epi64(_mm512_load_si512(k->all), s.first_length));
    const __m512i between = _mm512_or_si512(_mm512_sllv_epi64(before, s.first_length), s.first);
    lap_words_of(k, left, before, at, &first);
    lap_words_of(k, s.second, between, _mm512_add_epi64(at, s.first_length), &second);
    for (int i = 0; i < count; i++) {
        memcpy(out + first.byte[i], &first.word[i], 8);
        memcpy(out + second.byte[i], &second.word[i], 8);
    }
}

typedef struct lap_bits { /* the position of the next string, and the eight strings before it */
    __m512i position, tail;
    uint8_t *bytes;
} lap_bits;

/* Writes the next 32 symbols, or `left` if fewer are left. */
LAP_INLINE void lap_put(
    lap_bits *b, const lap_constants *k, const lap_pieces *p, int left, lap_put_eight_fn *put_eight)
{
    const __m512i zero = _mm512_setzero_si512();
    const lap_strings s = lap_merge(k, p);
    /* For each lane, the sum of the lengths of the strings before its own. */
    const __m512i sums =
        _mm512_sad_epu8(_mm512_permutexvar_epi8(_mm512_load_si512(k->earlier), s.length), zero);
    const __m512i at = _mm512_add_epi64(b->position, sums);
    b->position = _mm512_permutexvar_epi64(_mm512_load_si512(k->seven), _mm512_add_epi64(at, s.length));
    const __m512i whole = _mm512_shldv_epi64(s.first, s.second, s.second_length);
    const __m512i before = _mm512_alignr_epi64(whole, b->tail, 7);
    const int count = left < LAP_STEP ? (left + 3) / 4 : LAP_STEP / 4;
    b->tail = whole;
    if (__builtin_expect(_mm512_cmpgt_epu64_mask(s.length, _mm512_load_si512(k->most)), 0)) {
        lap_store_long(k, b->bytes, p, before, at, count);
    } else {
        const __m512i at_left =
            _mm512_sllv_epi64(whole, _mm512_sub_epi64(_mm512_load_si512(k->all), s.length));
        if (left >= LAP_STEP) {
            put_eight(b->bytes, lap_in_byte(k, at_left, before, at), at);
        } else {
            lap_words words;
            lap_words_of(k, at_left, before, at, &words);
            for (int i = 0; i < count; i++)
                memcpy(b->bytes + words.byte[i], &words.word[i], 8);
        }
    }
}

/* The steps whose fastest form depends on the processor; docs/encoder.md has the measurements. */
typedef struct lap_form {
    void (*look_up)(const lap_constants *k, const lap_tables *tables, lap_pieces *pieces, int steps);
    lap_put_eight_fn *put_eight;
} lap_form;

/* Writes the unstuffed bits to `bytes`. Returns the number of whole bytes; state keeps the rest.
 *
 * The dependent steps from a symbol to its place in memory take about 100 cycles, and a processor looks only
 * a few hundred instructions ahead. So three loops overlap more iterations than one loop would.
 */
LAP_INLINE size_t lap_bits_by(const lap_encode_plan *plan, lap_encode_state *state, const lap_symbols *s,
    lap_scratch *scratch, uint8_t *bytes, const lap_form *form)
{
    lap_pieces *pieces = scratch->pieces;
    const lap_tables tables = lap_tables_of(plan);
    const lap_constants *k = lap_constants_of();
    const int symbols = s->count;
    lap_bits b = {.position = _mm512_set1_epi64(state->bit_count),
        .tail = _mm512_set1_epi64(state->bits),
        .bytes = bytes};
    int i = 0;
    while (i + LAP_STEP <= symbols) {
        int steps = 0;
        for (; steps < LAP_BATCH && i + LAP_STEP <= symbols; i += LAP_STEP)
            lap_number(k, s, i, LAP_STEP, &pieces[steps++]);
        form->look_up(k, &tables, pieces, steps);
        for (int step = 0; step < steps; step++)
            lap_put(&b, k, &pieces[step], LAP_STEP, form->put_eight);
    }
    if (i < symbols) {
        lap_number(k, s, i, symbols - i, pieces);
        form->look_up(k, &tables, pieces, 1);
        lap_put(&b, k, pieces, symbols - i, form->put_eight);
    }
    const uint64_t end = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(b.position));
    state->bit_count = end % 8;
    state->bits = state->bit_count ? (unsigned)bytes[end / 8] >> (8 - state->bit_count) : 0;
    return end / 8;
}

static size_t lap_bits_by_stores(const lap_encode_plan *plan, lap_encode_state *state, const lap_symbols *s,
    lap_scratch *scratch, uint8_t *bytes)
{
    const lap_form form = {lap_look_up_both, lap_store_eight};
    return lap_bits_by(plan, state, s, scratch, bytes, &form);
}

static size_t lap_bits_by_scatter(const lap_encode_plan *plan, lap_encode_state *state, const lap_symbols *s,
    lap_scratch *scratch, uint8_t *bytes)
{
    const lap_form form = {lap_look_up_needed, lap_scatter_eight};
    return lap_bits_by(plan, state, s, scratch, bytes, &form);
}

/* ---- bits to bytes of a file --------------------------------------------------------------------- */

/* Writes a zero after every 0xFF, for 32 bytes at a time. A mask has two bits for each byte: one for
 * the byte, one for a zero after it. Removing the bits of zeros that are not needed leaves a mask of where
 * the bytes go. May overwrite up to 63 bytes after the output. */
LAP_INLINE size_t lap_stuff(const uint8_t *bytes, size_t count, uint8_t *out)
{
    const uint64_t are_bytes = 0x5555555555555555;
    const __m256i all_ones = _mm256_set1_epi8(-1);
    uint8_t *to = out;
    for (size_t i = 0; i < count; i += 32) {
        const __m256i in = _mm256_loadu_si256((const __m256i *)(bytes + i));
        uint32_t is_ff = _mm256_cmpeq_epi8_mask(in, all_ones);
        uint64_t have = 32;
        if (count - i < 32) {
            have = count - i;
            is_ff &= ((uint32_t)1 << have) - 1;
        }
        const uint64_t there = are_bytes | _pdep_u64(is_ff, ~are_bytes);
        const __mmask64 places = _pext_u64(are_bytes, there);
        _mm512_storeu_si512(to, _mm512_maskz_expand_epi8(places, _mm512_zextsi256_si512(in)));
        to += have + (unsigned)__builtin_popcount(is_ff);
    }
    return (size_t)(to - out);
}

#endif
