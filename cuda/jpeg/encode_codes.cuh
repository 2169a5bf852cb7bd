/* The code tables that libjpeg-turbo writes by default (T.81, annex K.3), and the symbols in one lane's share
 * of a block. */
#ifndef LAP_CUDA_JPEG_ENCODE_CODES_CUH
#define LAP_CUDA_JPEG_ENCODE_CODES_CUH

#include "encode.cuh"

/* The number of codes of each length from 1 to 16 bits, and the symbols in order, two hexadecimal digits
 * each. */
struct lap_jpeg_standard {
    uint8_t counts[16];
    const char *symbols;
};
constexpr lap_jpeg_standard LAP_JPEG_DC[2] = {
    {{0, 1, 5, 1, 1, 1, 1, 1, 1}, "000102030405060708090a0b"},
    {{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "000102030405060708090a0b"},
};
constexpr lap_jpeg_standard LAP_JPEG_AC[2] = {
    {{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
        "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728"
        "292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a83848586878889"
        "8a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2"
        "e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"},
    {{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
        "000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a26"
        "2728292a35363738393a434445464748494a535455565758595a636465666768696a737475767778797a828384858687"
        "88898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9da"
        "e2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa"},
};

/* For luma and chroma, an entry for each AC symbol, and after these one for each size of a DC difference:
 * code << (size + 5) | bits of code and value together, at most 26. The lowest four bits of an AC symbol are
 * the size of the value that follows. EOB and ZRL are moved to entries that no symbol has, so that a
 * coefficient of 0, whose size is 0, finds an entry of 0 bits. */
constexpr unsigned LAP_JPEG_EOB = 0x0F, LAP_JPEG_ZRL = 0x1F, LAP_JPEG_DC_SIZE = 256, LAP_JPEG_ENTRIES = 272;
struct lap_jpeg_code_table {
    unsigned of[2][LAP_JPEG_ENTRIES];
};

constexpr unsigned lap_jpeg_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

constexpr unsigned lap_jpeg_ac_entry(unsigned symbol)
{
    return symbol == 0x00 ? LAP_JPEG_EOB : symbol == 0xF0 ? LAP_JPEG_ZRL : symbol;
}

/* Codes of one length are successive numbers; each length appends one bit (T.81, annex C.2). */
constexpr void lap_jpeg_assign(const lap_jpeg_standard &table, bool is_ac, unsigned *codes)
{
    unsigned code = 0, at = 0;
    for (unsigned bits = 1; bits <= 16; bits++, code *= 2)
        for (unsigned i = 0; i < table.counts[bits - 1]; i++, at += 2) {
            const unsigned size = lap_jpeg_digit(table.symbols[at + 1]);
            const unsigned symbol = lap_jpeg_digit(table.symbols[at]) * 16 + size;
            codes[is_ac ? lap_jpeg_ac_entry(symbol) : symbol] = code++ << (size + 5) | (bits + size);
        }
}

constexpr lap_jpeg_code_table lap_jpeg_make_codes()
{
    lap_jpeg_code_table t = {};
    for (unsigned i = 0; i < 2; i++) {
        lap_jpeg_assign(LAP_JPEG_DC[i], false, t.of[i] + LAP_JPEG_DC_SIZE);
        lap_jpeg_assign(LAP_JPEG_AC[i], true, t.of[i]);
    }
    return t;
}

/* In global memory, because the lanes of a warp read different entries: the constant cache would deliver them
 * one by one. */
static __device__ const lap_jpeg_code_table lap_jpeg_codes_of = lap_jpeg_make_codes();

/* [k]: the index, row by row, of coefficient k in zigzag order (T.81, figure 5). */
struct lap_jpeg_order {
    uint8_t at[64];
};

constexpr lap_jpeg_order lap_jpeg_make_order()
{
    lap_jpeg_order order = {};
    unsigned place = 0;
    for (int sum = 0; sum < 15; sum++)
        for (int i = 0; i <= sum; i++) {
            const int y = sum % 2 ? i : sum - i, x = sum - y;
            if (x < 8 && y < 8)
                order.at[8 * y + x] = (uint8_t)place++;
        }
    return order;
}

static __device__ const lap_jpeg_order lap_jpeg_zigzag = lap_jpeg_make_order();

/* Copies to shared memory the bits of each symbol, including its value; DC has none. All threads of the block
 * must call. */
LAP_DEVICE void lap_jpeg_load_lengths(uint8_t (*lengths)[LAP_JPEG_ENTRIES])
{
    for (unsigned i = threadIdx.x; i < 2 * LAP_JPEG_ENTRIES; i += blockDim.x) {
        const unsigned table = i / LAP_JPEG_ENTRIES, entry = i % LAP_JPEG_ENTRIES;
        lengths[table][entry] =
            entry < LAP_JPEG_DC_SIZE ? (uint8_t)(lap_jpeg_codes_of.of[table][entry] & 31) : (uint8_t)0;
    }
    __syncthreads();
}

/* One lane's share of a block: N coefficients in zigzag order, 8 or 16. All lanes of the warp must construct
 * it together. */
template <int N>
struct lap_jpeg_lane {
    static constexpr int LANES = (int)LAP_JPEG_BLOCK / N; /* of a block */
    int value[N];
    int zeros;     /* zeros between the last nonzero coefficient before the lane, and value[0] */
    unsigned zrls; /* before the lane's first symbol; `zeros` excludes the zeros that they stand for */
    bool is_first; /* value[0] is DC */
    bool ends;     /* the lane writes the end of the block */

    /* packed: the coefficients, two to a word */
    __device__ __forceinline__ lap_jpeg_lane(const uint4 (&packed)[N / 8], int lane) : is_first(lane == 0)
    {
        unsigned bits = 0; /* bit i: value[i] is not 0, and not DC */
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            const uint4 &four = packed[i / 8];
            const unsigned two = i % 8 == 0 ? four.x : i % 8 == 2 ? four.y : i % 8 == 4 ? four.z : four.w;
            value[i] = (int16_t)two;
            value[i + 1] = (int)two >> 16;
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            bits |= (unsigned)(value[i] != 0) << i;
        bits &= is_first ? ~1u : ~0u;
        const int first = N * lane;
        /* DC, coefficient 0, ends a run of zeros whatever its value is. */
        int last = __shfl_up_sync(LAP_ALL_LANES, bits ? first + 31 - __clz((int)bits) : 0, 1, LANES);
        last = is_first ? 0 : last;
#pragma unroll
        for (int step = 1; step < LANES; step *= 2)
            last = max(last, __shfl_up_sync(LAP_ALL_LANES, last, (unsigned)step, LANES));
        zeros = first - 1 - last;
        /* Only the first symbol can follow more than 15 zeros, since the lane has no room for more. */
        zrls = bits ? (unsigned)(zeros + __ffs((int)bits) - 1) >> 4 : 0;
        zeros -= 16 * (int)zrls;
        ends = lane == LANES - 1 && value[N - 1] == 0;
    }

    /* Calls f(entry in the table, value, its size) for each coefficient of this lane, in order. A coefficient
     * of 0 gets an entry of 0 bits; a lane that skipped it would only wait for the others. A 0 at the end of
     * the block gets the entry of EOB. */
    template <typename F>
    __device__ __forceinline__ void symbols(F f) const
    {
        unsigned run = (unsigned)zeros << 4;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const unsigned size = lap_jpeg_size(value[i]);
            unsigned entry = (run & 0xF0) | size;
            if (i == 0 && is_first)
                entry = LAP_JPEG_DC_SIZE + size;
            if (i == N - 1 && ends)
                entry = LAP_JPEG_EOB;
            f(entry, value[i], size);
            run = value[i] != 0 ? 0 : run + 0x10;
        }
    }
};

#endif
