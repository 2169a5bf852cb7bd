/* Coefficients to a flat stream of symbols, and that to bits. A symbol is an entry of lap_encode_plan, with
 * the value added: its bits and how many they are, in one word of 32. */
#ifndef LAP_ENCODE_SYMBOLS_AVX2_H
#define LAP_ENCODE_SYMBOLS_AVX2_H

#include "encode_coded.h"
#include "encode_vectors_avx2.h"

enum {
    LAP_STEP = 8, /* symbols at once */
    LAP_SYMBOLS = LAP_ENCODE_UNIT_BLOCKS * LAP_BLOCK,
    LAP_UNIT_BYTES = LAP_ENCODE_UNIT_BLOCKS * LAP_ENCODE_BLOCK_BYTES / 2
};

typedef struct lap_symbols {
    _Alignas(64) uint32_t symbol[LAP_SYMBOLS + LAP_STEP];
    _Alignas(
        64) uint8_t size[LAP_BLOCK]; /* of a block's coefficients: bits of the value, 16 more if negative */
    int count;
} lap_symbols;

/* ---- coefficients to symbols --------------------------------------------------------------------- */

/* 32 coefficients as bytes in order: saturated, with their signs; and their magnitudes, at most 255. */
typedef struct lap_32 {
    vec value, magnitude;
} lap_32;

LAP_INLINE lap_32 lap_narrow(const int16_t *block)
{
    const vec a = v_load(block), b = v_load(block + 16);
    const vec value = _mm256_packs_epi16(a, b), magnitude = _mm256_packus_epi16(v_abs16(a), v_abs16(b));
    return (lap_32){_mm256_permute4x64_epi64(value, 0xD8), _mm256_permute4x64_epi64(magnitude, 0xD8)};
}

LAP_INLINE uint32_t lap_nonzero(vec v)
{
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, v_zero()));
}

/* Bits of each magnitude: those of its upper four bits and 4, or of its lower four. */
LAP_INLINE vec lap_sizes(lap_32 c)
{
    const vec low_four = _mm256_set1_epi8(15);
    const vec low = v_each_lane(((const uint8_t[16]){0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4}));
    const vec high = v_each_lane(((const uint8_t[16]){0, 5, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8, 8}));
    const vec size = _mm256_max_epu8(_mm256_shuffle_epi8(low, _mm256_and_si256(c.magnitude, low_four)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(v_srl16(c.magnitude, 4), low_four)));
    const vec is_negative = _mm256_cmpgt_epi8(v_zero(), c.value);
    return _mm256_or_si256(size, _mm256_and_si256(is_negative, _mm256_set1_epi8(LAP_ENCODE_NEGATIVE)));
}

static inline uint8_t lap_size(int value)
{
    const uint32_t magnitude = (uint32_t)(value < 0 ? -value : value);
    return (uint8_t)(32 - _lzcnt_u32(magnitude) + (value < 0 ? LAP_ENCODE_NEGATIVE : 0));
}

/* Magnitudes of 255 and more are rare. */
static __attribute__((noinline)) void lap_large_sizes(lap_symbols *s, const int16_t *block)
{
    for (int k = 1; k < LAP_BLOCK; k++)
        s->size[k] = lap_size(block[k]);
}

LAP_INLINE void lap_append_block(
    lap_symbols *s, const int16_t *block, int dc_before, const uint32_t entries[LAP_ENCODE_ENTRIES])
{
    const lap_32 low = lap_narrow(block), high = lap_narrow(block + 32);
    const vec most = _mm256_set1_epi8(-1);
    const uint64_t nonzero = (uint64_t)lap_nonzero(high.value) << 32 | lap_nonzero(low.value);
    const uint64_t large = (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high.magnitude, most))
                               << 32 |
                           (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low.magnitude, most));
    v_store(s->size, lap_sizes(low));
    v_store(s->size + 32, lap_sizes(high));
    if (__builtin_expect((large & ~(uint64_t)1) != 0, 0))
        lap_large_sizes(s, block);
    const int difference = block[0] - dc_before;
    uint32_t *to = s->symbol + s->count;
    *to++ = entries[lap_size(difference)] + (uint32_t)difference;
    int before = 0;
    for (uint64_t coded = lap_coded(nonzero) & ~(uint64_t)1; coded; coded = _blsr_u64(coded)) {
        const int k = (int)_tzcnt_u64(coded);
        *to++ = entries[32 * (k - before) + s->size[k]] + (uint32_t)block[k];
        before = k;
    }
    s->count = (int)(to - s->symbol);
}

static inline void lap_unit_symbols(
    const lap_encode_plan *plan, lap_encode_state *state, int mcus, const int16_t *blocks, lap_symbols *s)
{
    const int luma = plan->h * plan->v;
    s->count = 0;
    for (int mcu = 0; mcu < mcus; mcu++)
        for (int i = 0; i < plan->mcu_blocks; i++, blocks += LAP_BLOCK) {
            const int component = i < luma ? 0 : i - luma + 1;
            lap_append_block(s, blocks, state->dc[component], plan->entries[component > 0]);
            state->dc[component] = blocks[0];
        }
}

/* ---- symbols to bits ----------------------------------------------------------------------------- */

typedef struct lap_bits { /* the lowest `count` of bits, 0..7, wait for a whole byte */
    uint64_t bits;
    unsigned count;
    uint8_t *to;
} lap_bits;

/* At most 56 bits. All whole bytes are written, and some behind them. */
LAP_INLINE void lap_put(lap_bits *b, uint64_t bits, unsigned length)
{
    b->bits = b->bits << length | bits;
    b->count += length;
    const uint64_t word = __builtin_bswap64(b->bits << (63 - b->count) << 1);
    memcpy(b->to, &word, sizeof word);
    b->to += b->count / 8;
    b->count %= 8;
}

/* Eight symbols: first two and two are merged in lanes of 64 bits, then those two and two. */
LAP_INLINE void lap_put_step(lap_bits *b, const uint32_t *symbols)
{
    const vec s = v_load(symbols), low_half = _mm256_set1_epi64x(0xFFFFFFFF);
    const vec length = v_srl32(s, LAP_ENCODE_LENGTH_SHIFT);
    const vec bits = _mm256_and_si256(s, v_set32((1 << LAP_ENCODE_LENGTH_SHIFT) - 1));
    const vec second = _mm256_srli_epi64(length, 32);
    const vec two = _mm256_or_si256(
        _mm256_sllv_epi64(_mm256_and_si256(bits, low_half), second), _mm256_srli_epi64(bits, 32));
    const vec two_length = _mm256_add_epi64(_mm256_and_si256(length, low_half), second);
    const vec next_length = _mm256_unpackhi_epi64(two_length, two_length);
    const vec four = _mm256_or_si256(_mm256_sllv_epi64(two, next_length), _mm256_unpackhi_epi64(two, two));
    const vec four_length = _mm256_add_epi64(two_length, next_length);
    const __m128i upper = _mm256_extracti128_si256(four_length, 1);
    const unsigned first_four = (unsigned)_mm_cvtsi128_si32(_mm256_castsi256_si128(four_length));
    const unsigned next_four = (unsigned)_mm_cvtsi128_si32(upper);
    if (__builtin_expect(first_four > 56 || next_four > 56, 0)) {
        _Alignas(32) uint64_t word[4], count[4];
        v_store(word, two);
        v_store(count, two_length);
        for (int i = 0; i < 4; i++)
            lap_put(b, word[i], (unsigned)count[i]);
        return;
    }
    lap_put(b, (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(four)), first_four);
    lap_put(b, (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(four, 1)), next_four);
}

/* bytes: gets the bits before stuffing. Returns how many of them are whole; state keeps the rest. */
static inline size_t lap_unit_bits(lap_encode_state *state, lap_symbols *s, uint8_t *bytes)
{
    lap_bits b = {.bits = state->bits, .count = state->bit_count, .to = bytes};
    v_storeu(s->symbol + s->count, v_zero()); /* symbols without bits fill the last step */
    for (int i = 0; i < s->count; i += LAP_STEP)
        lap_put_step(&b, s->symbol + i);
    state->bits = (unsigned)b.bits & ((1u << b.count) - 1);
    state->bit_count = b.count;
    return (size_t)(b.to - bytes);
}

/* ---- bits to bytes of a file --------------------------------------------------------------------- */

/* A zero follows every 0xFF: 32 bytes are copied, and again from behind the first 0xFF among them. Writes up
 * to 32 bytes more. */
static inline size_t lap_stuff(const uint8_t *bytes, size_t count, uint8_t *out)
{
    uint8_t *to = out;
    for (size_t i = 0; i < count;) {
        const vec in = _mm256_loadu_si256((const __m256i *)(bytes + i));
        const size_t left = count - i < 32 ? count - i : 32;
        const size_t first =
            _tzcnt_u32((uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(in, _mm256_set1_epi8(-1))));
        v_storeu(to, in);
        if (first < left) {
            to[first + 1] = 0;
            to += first + 2;
            i += first + 1;
        } else {
            to += left;
            i += left;
        }
    }
    return (size_t)(to - out);
}

#endif
