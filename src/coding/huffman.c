#include "coding/huffman.h"

#include <string.h>

const char *lap_huff_odd_text(lap_huff_odd odd)
{
    static const char *const texts[] = {"nothing unusual", "a Huffman table is invalid or missing",
        "bits that are no valid code", "coefficients past the end of a block", "data that ends too early",
        "data left over before a marker", "a marker in the wrong place", "a DC value outside of 16 bits",
        "data whose symbols cannot be aligned"};
    return (unsigned)odd < sizeof texts / sizeof *texts ? texts[odd] : "unknown";
}

lap_huff_odd lap_huff_make(const uint8_t bits[17], const uint8_t values[256], bool is_dc, lap_huff_code *code)
{
    uint32_t next = 0; /* the next code of this length */
    int count = 0;
    memset(code, 0, sizeof *code);
    code->is_dc = is_dc;
    for (int n = 1; n <= 16; n++) {
        code->offset[n] = count - (int32_t)next;
        count += bits[n];
        next += bits[n];
        /* No code may be all ones (T.81, C.2); libjpeg-turbo refuses such a table. */
        if (count > 256 || (bits[n] && next >= 1u << n))
            return LAP_HUFF_TABLE;
        if (bits[n])
            code->longest = (uint8_t)n;
        code->limit[n] = next << (16 - n);
        next <<= 1;
    }
    code->limit[17] = UINT32_MAX;
    memcpy(code->values, values, (size_t)count);
    for (int i = 0; i < count && is_dc; i++)
        if (values[i] > 15)
            return LAP_HUFF_TABLE;
    return LAP_HUFF_FINE;
}

/* Makes the entry for the symbols in the first `room` bits of window. */
static lap_huff_entry entry_of(const lap_huff_code *code, uint64_t window, int room)
{
    unsigned skip = 0, advance = 0, first_bits = 0, first = 0;
    int symbols = 0;
    while (advance < 64) {
        int length = 0, symbol = lap_huff_symbol(code, window << skip, &length);
        unsigned run = (unsigned)symbol >> 4, size = (unsigned)symbol & 15;
        bool has_code = symbol >= 0 && (int)skip + length <= room;
        bool is_whole = has_code && (code->is_dc || (int)(skip + size) + length <= room);
        if (!has_code || (!is_whole && symbols) || (!code->is_dc && size == 0 && run > 0 && run < 15))
            break;
        if (symbols++ == 0) {
            first_bits = (unsigned)length;
            first = (unsigned)symbol;
        }
        skip += (unsigned)length + size;
        advance += code->is_dc ? 1 : symbol ? run + 1 : LAP_HUFF_EOB;
        if (code->is_dc || !is_whole)
            break;
    }
    if (symbols == 0)
        advance = LAP_HUFF_LONG_CODE;
    return skip | advance << 8 | first_bits << 16 | (symbols == 1 ? 1u << 21 : 0) | first << 24;
}

void lap_huff_fill(const lap_huff_code *code, int index_bits, lap_huff_entry *entries)
{
    for (uint32_t i = 0; i < 1u << index_bits; i++)
        entries[i] = entry_of(code, (uint64_t)i << (64 - index_bits), index_bits);
}
