/* Turns coefficients into bits, and stores each block's bits at their position. Lanes build the bits of 16
 * coefficients each; the bits of 64 blocks are joined in shared memory, and stored as whole words. Global
 * memory: 2 bytes read per coefficient, coalesced; the scan written once, the words at both ends of a block
 * of threads by atomic OR. Shared memory: the codes, 2 KB, and at most 15 KB of bits; writes are atomic ORs
 * of words. 256 threads, 4 per block of 8x8. Measured: issue slots 79 % busy, L1 43, DRAM 35; L2 was not
 * counted (bench photo, H100). docs/gpu-codec.md has the steps. */
#include "encode.cuh"
#include "encode_codes.cuh"

typedef lap_jpeg_lane<16> share;
constexpr unsigned THREADS = 256, LANES = (unsigned)share::LANES, BLOCKS = THREADS / LANES;
constexpr unsigned CLEARS = 8; /* chunks that a thread clears, if all of the capacity is used */
/* Room for blocks of the greatest length, and for the rest of a chunk after each: an interval may end there.
 */
constexpr unsigned WORDS = (BLOCKS * (LAP_JPEG_MAX_BLOCK_BITS / 8) + BLOCKS * LAP_JPEG_CHUNK) / 4 + 2;

/* Fills words with bits, from the highest down. A full word is OR-ed into shared memory. */
struct writer {
    unsigned *word; /* the word of shared memory that is being filled */
    unsigned bits;  /* its bits so far, highest first; 0 before this lane's first bit */
    int room;       /* free bits: 1..32 */

    __device__ __forceinline__ writer(unsigned *words, unsigned bit)
        : word(words + bit / 32), bits(0), room(32 - (int)(bit % 32))
    {
    }

    /* count: 0..31; 0 only with value 0, for which any shift is correct */
    __device__ __forceinline__ void put(unsigned value, unsigned count)
    {
        room -= (int)count;
        const unsigned long long both = (unsigned long long)value << ((room + 32) & 63);
        bits |= (unsigned)(both >> 32);
        if (room <= 0) {
            atomicOr(word, bits);
            word++;
            bits = (unsigned)both;
            room += 32;
        }
    }

    /* Writes a symbol and its value; a negative value is written as value - 1 (T.81, F.1.2.1). */
    __device__ __forceinline__ void put_symbol(unsigned entry, int value, unsigned size)
    {
        put(entry >> 5 | ((unsigned)(value + (value >> 31)) & ((1u << size) - 1)), entry & 31);
    }

    __device__ __forceinline__ void finish()
    {
        if (room < 32)
            atomicOr(word, bits);
    }
};

template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) bits_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
    __shared__ unsigned words[WORDS];
    __shared__ lap_jpeg_code_table codes;
    __shared__ unsigned stop; /* the bit after the last block */
    if ((!PHOTOS::is_alone && blockIdx.x * BLOCKS >= out.blocks) || out.result->overflow)
        return;
    const unsigned lane = threadIdx.x % LANES, first = blockIdx.x * BLOCKS;
    const unsigned last = min(first + BLOCKS, out.blocks) - 1, block = min(first + threadIdx.x / LANES, last);
    const unsigned origin = out.starts[first] / 32 * 32;
    /* The last block is followed by another block, or by an interval that begins at a later chunk. */
    const unsigned used =
        last + 1 < out.blocks ? min(WORDS, (out.starts[last + 1] - origin) / 32 + 1) : WORDS;
    for (unsigned i = threadIdx.x; i < sizeof codes / 4; i += THREADS)
        reinterpret_cast<unsigned *>(&codes)[i] = reinterpret_cast<const unsigned *>(&lap_jpeg_codes_of)[i];
    for (unsigned i = threadIdx.x; i < used; i += THREADS)
        words[i] = 0;
    __syncthreads();

    const int head = out.heads[block], difference = head >> 2;
    const unsigned *const entries = codes.of[head >> 1 & 1];
    const size_t eight = (size_t)block * 8 + lane * 2; /* the lane's first group of eight coefficients */
    const uint4 *const from = reinterpret_cast<const uint4 *>(out.coefficients) + eight;
    const uint4 packed[2] = {from[0], from[1]};
    share mine(packed, (int)lane);
    const unsigned bits_of = *reinterpret_cast<const uint16_t *>(out.lane_bits + eight);
    unsigned own = (bits_of & 255) + (bits_of >> 8);
    if (lane == 0) {
        mine.value[0] = difference;
        own += entries[LAP_JPEG_DC_SIZE + lap_jpeg_size(difference)] & 31;
    }
    unsigned end = own; /* end of this lane's bits, relative to the block */
#pragma unroll
    for (unsigned step = 1; step < LANES; step *= 2) {
        const unsigned before = __shfl_up_sync(LAP_ALL_LANES, end, step, LANES);
        end += lane >= step ? before : 0;
    }
    end += out.starts[block] - origin;
    if (first + threadIdx.x / LANES <= last) {
        writer to(words, end - own);
        for (unsigned i = 0; i < mine.zrls; i++)
            to.put(entries[LAP_JPEG_ZRL] >> 5, entries[LAP_JPEG_ZRL] & 31);
        mine.symbols(
            [&](unsigned entry, int value, unsigned size) { to.put_symbol(entries[entry], value, size); });
        if (lane == LANES - 1) {
            /* After the last block of an interval, ones pad the byte (T.81, F.1.2.3). */
            const unsigned fill = head & 1 ? (8 - end % 8) % 8 : 0;
            if (fill > 0)
                to.put((1u << fill) - 1, fill);
            if (block == last)
                stop = end + fill;
        }
        to.finish();
    }
    __syncthreads();
    const unsigned count = (stop + 31) / 32;
    unsigned *to = out.words + origin / 32;
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const unsigned word = __byte_perm(words[i], 0, 0x0123); /* to big-endian */
        if (i == 0 || i == count - 1)
            atomicOr(&to[i], word);
        else
            to[i] = word;
    }
}

/* Zeroes the words that bits are OR-ed into, up to the end of the last chunk. */
static __global__ void __launch_bounds__(THREADS)
    clear_kernel(const __grid_constant__ lap_jpeg_out_many photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
    uint4 *chunks = reinterpret_cast<uint4 *>(out.words);
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < out.result->chunks; i += gridDim.x * THREADS)
        chunks[i] = make_uint4(0, 0, 0, 0);
}

/* For a single picture, one fill clears the whole capacity; for many, one launch clears what they use. */
static lap_code clear(const lap_jpeg_outs &outs, const lap_launch &where)
{
    const unsigned clears = lap_jpeg_most(
        outs, [](const lap_jpeg_out &out) { return lap_blocks(out.capacity_chunks, THREADS * CLEARS); });
    const lap_jpeg_out *one = outs.photo;
    if (outs.count > 1)
        return LAP_LAUNCH(
            lap_jpeg_grid(outs, where, clears, THREADS), clear_kernel, lap_jpeg_out_many{outs.there});
    return LAP_CUDA(cudaMemsetAsync(one->words, 0, (size_t)one->capacity_chunks * LAP_JPEG_CHUNK,
                        (cudaStream_t)where.stream),
        where.err);
}

lap_code lap_jpeg_run_bits(const lap_jpeg_outs &outs, const lap_launch &where)
{
    const unsigned blocks =
        lap_jpeg_most(outs, [](const lap_jpeg_out &out) { return lap_blocks(out.blocks, BLOCKS); });
    lap_code code = clear(outs, where);
    if (!code)
        code = LAP_JPEG_LAUNCH(lap_jpeg_grid(outs, where, blocks, THREADS), outs,
            bits_kernel<lap_jpeg_out_one>, bits_kernel<lap_jpeg_out_many>);
    return code;
}
