/* Coefficients to a flat stream of symbols, and that to bits: the scheme of encode_symbols_avx2.h. */
#ifndef LAP_ENCODE_SYMBOLS_NEON_H
#define LAP_ENCODE_SYMBOLS_NEON_H

#include "encode_coded.h"
#include "encode_put.h"
#include "encode_vectors_neon.h"

enum {
    LAP_STEP = 8,    /* symbols at once */
    LAP_BATCH = 128, /* of one loop before the next */
    LAP_PLACE_CHROMA = 64,
    LAP_SYMBOLS = LAP_ENCODE_UNIT_BLOCKS * LAP_BLOCK,
    LAP_UNIT_BYTES = LAP_ENCODE_UNIT_BLOCKS * LAP_ENCODE_BLOCK_BYTES / 2
};

typedef struct lap_symbols {
    _Alignas(64) int16_t value[LAP_SYMBOLS + LAP_GROUP];
    _Alignas(64) uint8_t before[LAP_GROUP]; /* the last byte stands before the first place */
    uint8_t place[LAP_SYMBOLS + LAP_GROUP];
    _Alignas(64) uint16_t number[LAP_BATCH];
    _Alignas(64) uint32_t entry[LAP_BATCH];
    int count;
} lap_symbols;

/* ---- coefficients to symbols --------------------------------------------------------------------- */

/* Of sixteen coefficients, a bit for each that is not 0; one of eight in each byte. */
LAP_INLINE uint8x16_t lap_flags(const int16_t *block)
{
    const uint8x16_t weights = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const int16x8_t a = vld1q_s16(block), b = vld1q_s16(block + 8);
    return vandq_u8(vcombine_u8(vmovn_u16(vtstq_s16(a, a)), vmovn_u16(vtstq_s16(b, b))), weights);
}

LAP_INLINE uint64_t lap_nonzero(const int16_t *block)
{
    const uint8x16_t low = vpaddq_u8(lap_flags(block), lap_flags(block + 16));
    const uint8x16_t high = vpaddq_u8(lap_flags(block + 32), lap_flags(block + 48));
    const uint8x16_t sums = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

/* The bits that are set in a byte: NEON counts them by way of a vector. */
#define LAP_COUNT_4(n) (n), (n) + 1, (n) + 1, (n) + 2
#define LAP_COUNT_16(n) LAP_COUNT_4(n), LAP_COUNT_4((n) + 1), LAP_COUNT_4((n) + 1), LAP_COUNT_4((n) + 2)
#define LAP_COUNT_64(n) LAP_COUNT_16(n), LAP_COUNT_16((n) + 1), LAP_COUNT_16((n) + 1), LAP_COUNT_16((n) + 2)
static const uint8_t lap_count[256] = {LAP_COUNT_64(0), LAP_COUNT_64(1), LAP_COUNT_64(1), LAP_COUNT_64(2)};

/* Eight coefficients: those that are coded are moved together, by a table of all 256 selections. */
LAP_INLINE int lap_append_eight(
    lap_symbols *s, int at, const int16_t *eight, unsigned coded, const uint8_t ones[256][8], int first)
{
    const uint8x8_t places = vld1_u8(ones[coded]);
    const uint8x16_t both = vcombine_u8(places, places), twice = vaddq_u8(both, both);
    const uint8x16_t order = vaddq_u8(vzip1q_u8(twice, twice), vreinterpretq_u8_u16(vdupq_n_u16(1 << 8)));
    vst1q_u8((uint8_t *)(s->value + at), vqtbl1q_u8(vld1q_u8((const uint8_t *)eight), order));
    vst1_u8(s->place + at, vadd_u8(places, vdup_n_u8((uint8_t)first)));
    return at + lap_count[coded];
}

LAP_INLINE void lap_append_block(
    lap_symbols *s, const int16_t *block, int dc_before, int chroma, const uint8_t ones[256][8])
{
    const uint64_t coded = lap_coded(lap_nonzero(block));
    int at = s->count;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        at = lap_append_eight(s, at, block + 8 * i, coded >> (8 * i) & 255, ones, 8 * i + chroma);
    s->value[s->count] = (int16_t)(block[0] - dc_before);
    s->count = at;
}

static inline void lap_unit_symbols(
    const lap_encode_plan *plan, lap_encode_state *state, int mcus, const int16_t *blocks, lap_symbols *s)
{
    const int luma = plan->h * plan->v;
    s->count = 0;
    for (int mcu = 0; mcu < mcus; mcu++)
        for (int i = 0; i < plan->mcu_blocks; i++, blocks += LAP_BLOCK) {
            const int component = i < luma ? 0 : i - luma + 1;
            lap_append_block(s, blocks, state->dc[component], component ? LAP_PLACE_CHROMA : 0, plan->ones);
            state->dc[component] = blocks[0];
        }
    /* Symbols of DC without bits fill the last step. */
    memset(s->place + s->count, 0, LAP_STEP);
    vst1q_s16(s->value + s->count, vdupq_n_s16(0));
}

/* Numbers of entries of the eight symbols from i on. */
LAP_INLINE uint16x8_t lap_entries(const lap_symbols *s, int i)
{
    const uint16x8_t place = vmovl_u8(vld1_u8(s->place + i)), before = vmovl_u8(vld1_u8(s->place + i - 1));
    const int16x8_t value = vld1q_s16(s->value + i);
    const uint16x8_t in_block = vtstq_u16(place, vdupq_n_u16(63)); /* not DC */
    const uint16x8_t distance = vandq_u16(vsubq_u16(place, before), in_block);
    const uint16x8_t zeros = vclzq_u16(vreinterpretq_u16_s16(vabsq_s16(value)));
    const uint16x8_t sign = vshlq_n_u16(vshrq_n_u16(vreinterpretq_u16_s16(value), 15), 4);
    const uint16x8_t chroma = vshlq_n_u16(vandq_u16(place, vdupq_n_u16(LAP_PLACE_CHROMA)), 4);
    const uint16x8_t size = vsubq_u16(vdupq_n_u16(16), zeros);
    return vaddq_u16(vaddq_u16(vshlq_n_u16(distance, 5), chroma), vaddq_u16(size, sign));
}
_Static_assert(LAP_PLACE_CHROMA << 4 == LAP_ENCODE_CHROMA && LAP_ENCODE_NEGATIVE == 1 << 4,
    "chroma's bit of a place, and a sign, lead to their entries");

LAP_INLINE void lap_look_up(lap_symbols *s, int i, int count, const uint32_t *entries)
{
    for (int k = 0; k < count; k += LAP_STEP)
        vst1q_u16(s->number + k, lap_entries(s, i + k));
    for (int k = 0; k < count; k += LAP_STEP)
#pragma GCC unroll 8
        for (int n = k; n < k + LAP_STEP; n++)
            s->entry[n] = entries[s->number[n]];
    for (int k = count; k % LAP_STEP; k++)
        s->entry[k] = 0;
}

/* ---- symbols to bits ----------------------------------------------------------------------------- */

typedef struct lap_twos { /* four symbols, two and two merged in lanes of 64 bits */
    uint64x2_t bits, length;
} lap_twos;

LAP_INLINE lap_twos lap_merge(const uint32_t *entries, int16x4_t values)
{
    const uint32x4_t s = vaddq_u32(vld1q_u32(entries), vreinterpretq_u32_s32(vmovl_s16(values)));
    const uint32x4_t length = vshrq_n_u32(s, LAP_ENCODE_LENGTH_SHIFT);
    const uint64x2_t bits =
        vreinterpretq_u64_u32(vandq_u32(s, vdupq_n_u32((1u << LAP_ENCODE_LENGTH_SHIFT) - 1)));
    const uint64x2_t second = vshrq_n_u64(vreinterpretq_u64_u32(length), 32);
    /* The first to the left, and the second into what it leaves. */
    const uint64x2_t first = vshrq_n_u64(vshlq_n_u64(bits, 32), 32);
    return (lap_twos){vorrq_u64(vshlq_u64(first, vreinterpretq_s64_u64(second)), vshrq_n_u64(bits, 32)),
        vpaddlq_u32(length)};
}

/* Eight symbols: two and two, then four and four. */
LAP_INLINE void lap_put_step(lap_bits *b, const uint32_t *entries, const int16_t *values)
{
    const int16x8_t value = vld1q_s16(values);
    const lap_twos s = lap_merge(entries, vget_low_s16(value)),
                   t = lap_merge(entries + 4, vget_high_s16(value));
    const uint64x2_t first = vzip1q_u64(s.bits, t.bits), next = vzip2q_u64(s.bits, t.bits);
    const uint64x2_t next_length = vzip2q_u64(s.length, t.length);
    const uint64x2_t length = vaddq_u64(vzip1q_u64(s.length, t.length), next_length);
    const uint64x2_t four = vorrq_u64(vshlq_u64(first, vreinterpretq_s64_u64(next_length)), next);
    const unsigned one = (unsigned)vgetq_lane_u64(length, 0), two = (unsigned)vgetq_lane_u64(length, 1);
    if (__builtin_expect(one > 56 || two > 56, 0)) {
        lap_put(b, vgetq_lane_u64(s.bits, 0), (unsigned)vgetq_lane_u64(s.length, 0));
        lap_put(b, vgetq_lane_u64(s.bits, 1), (unsigned)vgetq_lane_u64(s.length, 1));
        lap_put(b, vgetq_lane_u64(t.bits, 0), (unsigned)vgetq_lane_u64(t.length, 0));
        lap_put(b, vgetq_lane_u64(t.bits, 1), (unsigned)vgetq_lane_u64(t.length, 1));
    } else {
        lap_put(b, vgetq_lane_u64(four, 0), one);
        lap_put(b, vgetq_lane_u64(four, 1), two);
    }
}

/* bytes: gets the bits before stuffing. Returns how many of them are whole; state keeps the rest. */
static inline size_t lap_unit_bits(
    const lap_encode_plan *plan, lap_encode_state *state, lap_symbols *s, uint8_t *bytes)
{
    lap_bits b = lap_bits_of(state, bytes);
    for (int i = 0; i < s->count; i += LAP_BATCH) {
        const int count = s->count - i < LAP_BATCH ? s->count - i : LAP_BATCH;
        lap_look_up(s, i, count, plan->entries);
        for (int k = 0; k < count; k += LAP_STEP)
            lap_put_step(&b, s->entry + k, s->value + i + k);
    }
    lap_keep_bits(&b, state);
    return (size_t)(b.to - bytes);
}

/* ---- bits to bytes of a file --------------------------------------------------------------------- */

/* A zero follows every 0xFF: sixteen bytes are copied if none of them is one. */
static inline size_t lap_stuff(const uint8_t *bytes, size_t count, uint8_t *out)
{
    uint8_t *to = out;
    size_t i = 0;
    while (i < count) {
        const uint8x16_t in = vld1q_u8(bytes + i);
        size_t left = count - i < 16 ? count - i : 16;
        if (left == 16 && vmaxvq_u8(in) != 0xFF) {
            vst1q_u8(to, in);
            to += 16;
            i += 16;
            continue;
        }
        for (; left > 0; left--, i++) {
            *to++ = bytes[i];
            if (bytes[i] == 0xFF)
                *to++ = 0;
        }
    }
    return (size_t)(to - out);
}

#endif
