#include "libjpeg/part_bits.h"

#include <string.h>

static inline void put_byte(lap_bits *bits, uint8_t byte)
{
    *bits->to++ = byte;
    if (byte == 0xFF)
        *bits->to++ = 0;
}

void lap_bits_put(lap_bits *bits, uint32_t value, unsigned count)
{
    bits->pending = bits->pending << count | value;
    bits->count += count;
    while (bits->count >= 8) {
        bits->count -= 8;
        put_byte(bits, (uint8_t)(bits->pending >> bits->count));
    }
    bits->pending &= (1u << bits->count) - 1;
}

/* The 32 bits from `bit` on. */
static inline uint32_t load32(const uint8_t *from, uint64_t bit)
{
    const uint8_t *p = from + (bit >> 3);
    uint64_t word = 0;
    for (int i = 0; i < 5; i++)
        word = word << 8 | p[i];
    return (uint32_t)(word >> (8 - (bit & 7)));
}

static inline uint64_t load64(const uint8_t *p, unsigned shift)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word << shift | (unsigned)p[8] >> (8 - shift);
}

static inline void store64(uint8_t *to, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(to, &word, sizeof word);
}

/* Whole bytes of output are eight at a time, unless one of them is FF. */
static uint64_t copy_words(lap_bits *bits, const uint8_t *from, uint64_t begin, uint64_t end)
{
    const uint64_t ones = 0x0101010101010101u;
    const uint8_t *p = from + (begin >> 3);
    unsigned shift = begin & 7;
    uint8_t *to = bits->to;
    for (; begin + 64 <= end; begin += 64, p += 8) {
        uint64_t word = load64(p, shift);
        store64(to, word);
        to += 8;
        if ((~word - ones) & word & ones << 7) {
            to -= 8;
            for (int i = 56; i >= 0; i -= 8) {
                *to++ = (uint8_t)(word >> i);
                if ((uint8_t)(word >> i) == 0xFF)
                    *to++ = 0;
            }
        }
    }
    bits->to = to;
    return begin;
}

void lap_bits_copy(lap_bits *bits, const uint8_t *from, uint64_t begin, uint64_t end)
{
    uint64_t first = bits->count ? 8 - bits->count : 0; /* then the output is at a byte */
    if (begin + first <= end) {
        if (first)
            lap_bits_put(bits, load32(from, begin) >> (32 - first), (unsigned)first);
        begin = copy_words(bits, from, begin + first, end);
    }
    while (begin < end) {
        unsigned n = end - begin < 24 ? (unsigned)(end - begin) : 24;
        lap_bits_put(bits, load32(from, begin) >> (32 - n), n);
        begin += n;
    }
}

void lap_bits_flush(lap_bits *bits)
{
    if (bits->count)
        lap_bits_put(bits, 0xFFu >> bits->count, 8 - bits->count);
}
