/* The code tables that libjpeg-turbo writes by default (T.81, annex K.3), and a block's symbols as eight
 * lanes see them. */
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

/* An entry for each symbol: code << (size + 5) | bits of code and value together, at most 26. The lowest four
 * bits of a symbol are the size of the value that follows. */
struct lap_jpeg_code_table {
    unsigned dc[2][16], ac[2][256];
};

constexpr unsigned lap_jpeg_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Codes of one length are successive numbers; each length appends one bit (T.81, annex C.2). */
constexpr void lap_jpeg_assign(const lap_jpeg_standard &table, unsigned *codes)
{
    unsigned code = 0, at = 0;
    for (unsigned bits = 1; bits <= 16; bits++, code *= 2)
        for (unsigned i = 0; i < table.counts[bits - 1]; i++, at += 2) {
            const unsigned size = lap_jpeg_digit(table.symbols[at + 1]);
            codes[lap_jpeg_digit(table.symbols[at]) * 16 + size] = code++ << (size + 5) | (bits + size);
        }
}

constexpr lap_jpeg_code_table lap_jpeg_make_codes()
{
    lap_jpeg_code_table t = {};
    for (unsigned i = 0; i < 2; i++) {
        lap_jpeg_assign(LAP_JPEG_DC[i], t.dc[i]);
        lap_jpeg_assign(LAP_JPEG_AC[i], t.ac[i]);
    }
    return t;
}

/* In global memory, because the lanes of a warp read different entries: the constant cache would serve them
 * one after another. */
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

/* Copies to shared memory the bits of each AC symbol, including its value. All threads of the block must
 * call. */
LAP_DEVICE void lap_jpeg_load_lengths(uint8_t (*lengths)[256])
{
    for (unsigned i = threadIdx.x; i < 512; i += blockDim.x)
        lengths[i / 256][i % 256] = (uint8_t)(lap_jpeg_codes_of.ac[i / 256][i % 256] & 31);
    __syncthreads();
}

enum { LAP_JPEG_EOB = 0, LAP_JPEG_ZRL = 0xF0 }; /* end of block; sixteen zeros */

/* One lane's share of a block: eight lanes have eight coefficients each. All lanes of the warp must call. */
struct lap_jpeg_lane {
    int value[8];
    unsigned first;          /* zigzag index of the first one */
    unsigned long long mask; /* of the whole block: bit k is set if coefficient k is not 0; so is bit 0 */

    static __device__ __forceinline__ unsigned long long merge(unsigned long long mine)
    {
        unsigned low = (unsigned)mine, high = (unsigned)(mine >> 32);
#pragma unroll
        for (int step = 1; step < 8; step *= 2) {
            low |= __shfl_xor_sync(LAP_ALL_LANES, low, step, 8);
            high |= __shfl_xor_sync(LAP_ALL_LANES, high, step, 8);
        }
        return (unsigned long long)high << 32 | low | 1;
    }

    __device__ __forceinline__ lap_jpeg_lane(const int16_t *block, unsigned lane) : first(8 * lane)
    {
        unsigned bits = 0;
        const unsigned *words = reinterpret_cast<const unsigned *>(block) + first / 2;
#pragma unroll
        for (unsigned i = 0; i < 8; i += 2) {
            const unsigned two = words[i / 2];
            value[i] = (int16_t)two;
            value[i + 1] = (int)two >> 16;
            bits |= (value[i] != 0) << i | (value[i + 1] != 0) << (i + 1);
        }
        mask = merge((unsigned long long)bits << first);
    }

    __device__ __forceinline__ uint4 packed() const
    {
        unsigned word[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            word[i] = ((unsigned)value[2 * i] & 0xffff) | (unsigned)value[2 * i + 1] << 16;
        return make_uint4(word[0], word[1], word[2], word[3]);
    }

    /* Returns whether this lane has to write an end-of-block symbol. */
    __device__ __forceinline__ bool ends() const
    {
        return first == 56 && mask >> 63 == 0;
    }

    /* Calls f(zeros before it, value) for each nonzero AC coefficient of this lane, in order. */
    template <typename F>
    __device__ __forceinline__ void symbols(F f) const
    {
        const unsigned last = 63 - (unsigned)__clzll((long long)((mask & ((1ull << first) - 1)) | 1));
        unsigned zeros = first > 0 ? first - 1 - last : 0;
        if (first > 0 && value[0] != 0) {
            f(zeros, value[0]);
            zeros = 0;
        } else {
            zeros += first > 0;
        }
#pragma unroll
        for (unsigned i = 1; i < 8; i++) {
            if (value[i] != 0)
                f(zeros, value[i]);
            zeros = value[i] != 0 ? 0 : zeros + 1;
        }
    }

    /* Returns the bits of the AC symbols that this lane writes. */
    __device__ __forceinline__ unsigned ac_bits(const uint8_t *lengths) const
    {
        unsigned bits = ends() ? lengths[LAP_JPEG_EOB] : 0;
        symbols([&](unsigned zeros, int v) {
            bits += lengths[(zeros & 15) << 4 | lap_jpeg_size(v)];
            if (zeros > 15)
                bits += (zeros >> 4) * lengths[LAP_JPEG_ZRL];
        });
        return bits;
    }
};

#endif
