/* Turns samples into quantised coefficients: the integer DCT of Loeffler, Ligtenberg and Moschytz (1989) with
 * 13-bit constants, division with rounding, zigzag order. Also counts the bits that the AC symbols of each
 * block need. Global memory: 1 byte read per sample, 2 written per coefficient, both coalesced.
 * Shared memory: 288 bytes per block of 8x8, 16-bit values in rows of 16 bytes; 32 bytes of them are padding,
 * so that blocks of a warp cause no bank conflict. 256 threads, 8 per block of 8x8: a row each, then a column
 * each, then 8 coefficients in zigzag order; threads then process further blocks, so that the tables are
 * loaded once.
 * Measured: issue slots 79 % busy, L1 64, DRAM 28; L2 was not counted (bench photo, H100). docs/gpu-codec.md
 * has the steps. */
#include "encode.cuh"
#include "encode_codes.cuh"

constexpr unsigned THREADS = 256, LANES = 8, BLOCKS = THREADS / LANES;
constexpr int CONSTANT_BITS = 13, EXTRA_BITS = 2; /* of the constants; between the passes */
/* Sizes with padding, which avoids bank conflicts of rows and columns of blocks and of the two tables. ROWS:
 * rows of 16 bytes in a block of 16-bit values. DIVISORS: entries in a table. */
constexpr unsigned ROWS = 9, DIVISORS = 72;
/* The most thread blocks of a picture per multiprocessor: twice as many as fit at once. */
constexpr unsigned MOST = 12;

__host__ __device__ constexpr int constant(double c)
{
    return (int)(c * (1 << CONSTANT_BITS) + 0.5);
}

LAP_DEVICE int descale(int value, int bits)
{
    return (value + (1 << (bits - 1))) >> bits;
}

/* Transforms eight values in place. Pass 1 keeps EXTRA_BITS bits of fraction, pass 2 removes them; both
 * passes together scale by 8. The even half: two butterflies and one rotation; the odd half: four rotations
 * that share products. */
template <int PASS>
LAP_DEVICE void transform(int v[8])
{
    constexpr int shift = PASS == 1 ? CONSTANT_BITS - EXTRA_BITS : CONSTANT_BITS + EXTRA_BITS;
    int sum[4], difference[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        sum[i] = v[i] + v[7 - i];
        difference[i] = v[i] - v[7 - i];
    }
    const int even0 = sum[0] + sum[3], even3 = sum[0] - sum[3];
    const int even1 = sum[1] + sum[2], even2 = sum[1] - sum[2];
    v[0] = PASS == 1 ? (even0 + even1) * (1 << EXTRA_BITS) : descale(even0 + even1, EXTRA_BITS);
    v[4] = PASS == 1 ? (even0 - even1) * (1 << EXTRA_BITS) : descale(even0 - even1, EXTRA_BITS);
    const int turn = (even2 + even3) * constant(0.541196100);
    v[2] = descale(turn + even3 * constant(0.765366865), shift);
    v[6] = descale(turn - even2 * constant(1.847759065), shift);

    const int a = difference[3], b = difference[2], c = difference[1], d = difference[0];
    const int common = (a + c + b + d) * constant(1.175875602);
    const int ad = -(a + d) * constant(0.899976223), bc = -(b + c) * constant(2.562915447);
    const int ac = common - (a + c) * constant(1.961570560), bd = common - (b + d) * constant(0.390180644);
    v[7] = descale(a * constant(0.298631336) + ad + ac, shift);
    v[5] = descale(b * constant(2.053119869) + bc + bd, shift);
    v[3] = descale(c * constant(3.072711026) + bc + ac, shift);
    v[1] = descale(d * constant(1.501321110) + ad + bd, shift);
}

/* Packs two values into a word: after the first pass they need 14 bits. */
LAP_DEVICE uint4 pack(const int v[8])
{
    unsigned word[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        word[i] = __byte_perm((unsigned)v[2 * i], (unsigned)v[2 * i + 1], 0x5410);
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* Quantises a value, which is eight times the coefficient: to nearest, halves away from zero. Multiplying by
 * the reciprocal, which is too large by at most 1, gives the exact quotient for dividends below 2^16 and
 * quantisers below 256; for a negative dividend, the product is always one too small, which subtracting sign
 * corrects. */
LAP_DEVICE int quantise(int value, uint2 divisor)
{
    const int sign = value >> 31, half = ((int)divisor.y ^ sign) - sign;
    return __mulhi(value + half, (int)divisor.x) - sign;
}

/* The position of a block's samples. A dummy block, which is beyond the picture, repeats the DC of the last
 * block before it. */
struct source {
    unsigned component, across, down;
    bool is_dummy;
};

LAP_DEVICE source source_of(const lap_jpeg_out &out, unsigned block)
{
    const lap_jpeg_spot spot = lap_jpeg_spot_of(out, block);
    const lap_jpeg_plane &plane = out.plane[spot.component];
    source s = {
        spot.component, spot.across, spot.down, spot.across >= plane.across || spot.down >= plane.down};
    if (spot.down >= plane.down) {
        s.down = plane.down - 1;
        s.across = (spot.mcu - lap_jpeg_divide(spot.mcu, out.per_row) * out.mcus_x) * plane.h + plane.h - 1;
    }
    s.across = min(s.across, plane.across - 1);
    return s;
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) dct_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
    __shared__ uint4 rows[BLOCKS][ROWS], zigzag[BLOCKS][ROWS];
    __shared__ uint8_t lengths[2][LAP_JPEG_ENTRIES];
    /* In shared memory, because lanes read different entries, which the constant bank would deliver one by
     * one. */
    __shared__ uint2 divisors[2][DIVISORS];
    if (!PHOTOS::is_alone && blockIdx.x * BLOCKS >= out.blocks)
        return;
    for (unsigned i = 0; i < 16; i++) { /* all lanes of a warp read the same entry */
        const unsigned at = threadIdx.x / 32 * 16 + i;
        const uint2 divisor = out.divisor[at / 64][at % 64];
        if (threadIdx.x % 32 == i)
            divisors[at / 64][at % 64] = divisor;
    }
    lap_jpeg_load_lengths(lengths);
    const unsigned lane = threadIdx.x % LANES, slot = threadIdx.x / LANES;
    int16_t *const transposed = reinterpret_cast<int16_t *>(rows[slot]);
    int16_t *to[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        to[i] = reinterpret_cast<int16_t *>(zigzag[slot]) + lap_jpeg_zigzag.at[8 * i + lane];

    for (unsigned first = blockIdx.x * BLOCKS; first < out.blocks; first += gridDim.x * BLOCKS) {
        const bool is_there = first + slot < out.blocks;
        const unsigned block = is_there ? first + slot : out.blocks - 1;
        const source from = source_of(out, block);
        const lap_jpeg_plane &plane = out.plane[from.component];
        const unsigned table = from.component > 0;
        int v[8];
        const uint2 row = *reinterpret_cast<const uint2 *>(
            plane.base + (size_t)(from.down * 8 + lane) * plane.stride + from.across * 8);
#pragma unroll
        for (int i = 0; i < 8; i++)
            v[i] = (int)((i < 4 ? row.x : row.y) >> (8 * (i % 4)) & 255) - 128;
        transform<1>(v);
        rows[slot][lane] = pack(v);
        __syncwarp(); /* the lanes of a block are in the same warp */
#pragma unroll
        for (int i = 0; i < 8; i++)
            v[i] = transposed[8 * i + lane];
        transform<2>(v);
#pragma unroll
        for (int i = 0; i < 8; i++)
            *to[i] = (int16_t)quantise(v[i], divisors[table][8 * i + lane]);
        __syncwarp();
        uint4 packed[1] = {zigzag[slot][lane]};
        if (from.is_dummy)
            packed[0] = make_uint4(lane == 0 ? packed[0].x & 0xFFFF : 0, 0, 0, 0);
        const lap_jpeg_lane<8> mine(packed, (int)lane);
        unsigned own = mine.zrls > 0 ? mine.zrls * lengths[table][LAP_JPEG_ZRL] : 0;
        mine.symbols([&](unsigned entry, int, unsigned) { own += lengths[table][entry]; });
        unsigned bits = own;
#pragma unroll
        for (int step = 1; step < (int)LANES; step *= 2)
            bits += __shfl_xor_sync(LAP_ALL_LANES, bits, step, LANES);
        if (!is_there)
            break; /* this was the last round */
        reinterpret_cast<uint4 *>(out.coefficients + (size_t)block * LAP_JPEG_BLOCK)[lane] = packed[0];
        out.lane_bits[(size_t)block * LANES + lane] = (uint8_t)own;
        if (lane == 0) {
            out.dc[block] = (int16_t)mine.value[0];
            out.ac_bits[block] = (uint16_t)bits;
        }
    }
}

lap_code lap_jpeg_run_dct(const lap_jpeg_outs &outs, const lap_launch &where)
{
    const unsigned blocks =
        lap_jpeg_most(outs, [](const lap_jpeg_out &out) { return lap_blocks(out.blocks, BLOCKS); });
    const unsigned most = MOST * (unsigned)lap_attribute(where.device, cudaDevAttrMultiProcessorCount);
    return LAP_JPEG_LAUNCH(lap_jpeg_grid(outs, where, min(blocks, max(most, 1u)), THREADS), outs,
        dct_kernel<lap_jpeg_out_one>, dct_kernel<lap_jpeg_out_many>);
}
