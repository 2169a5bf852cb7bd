/* Turns coefficients into bits, and puts each block's bits at their place. Lanes build the bits of eight
 * coefficients each; the bits of 32 blocks are joined in shared memory, and stored as whole words. Global
 * memory: 2 bytes read per coefficient, coalesced; the scan written once, the words at both ends of a
 * block of threads by atomic OR. Shared memory: the codes, 2 KB, and at most 7 KB of bits; writes are
 * atomic ORs of words. 256 threads, 8 per block of 8x8. Measured: issue slots 81 % busy, L1 36, DRAM 15;
 * L2 was not counted (bench photo, H200). docs/gpu-codec.md has the steps. */
#include "encode.cuh"
#include "encode_codes.cuh"

constexpr unsigned THREADS = 256, LANES = 8, BLOCKS = THREADS / LANES;
constexpr unsigned CLEARS = 8; /* chunks that a thread clears, if all of the capacity is used */
/* Room for blocks of the greatest length, and for the rest of a chunk after each, in case an interval ends.
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

    /* count: 0..31, and 0 only with value 0, where any shift does */
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

    __device__ __forceinline__ void finish()
    {
        if (room < 32)
            atomicOr(word, bits);
    }
};

/* Writes a symbol and its value; a negative value is written as value - 1 (T.81, F.1.2.1). Entry 0 and value
 * 0 write nothing. */
LAP_DEVICE void put_symbol(writer &to, unsigned entry, int value, unsigned size)
{
    to.put(entry >> 5 | ((unsigned)(value + (value >> 31)) & ((1u << size) - 1)), entry & 31);
}

/* Writes a lane's symbols: the first lane of a block also writes DC, the last one the end of block. */
LAP_DEVICE void put_lane(writer &to, const lap_jpeg_lane &mine, bool is_first, int difference,
    const unsigned *ac, const unsigned *dc)
{
    if (is_first) {
        const unsigned size = lap_jpeg_size(difference);
        put_symbol(to, dc[size], difference, size);
    }
    for (unsigned i = 0; i < mine.zrls; i++)
        to.put(ac[LAP_JPEG_ZRL] >> 5, ac[LAP_JPEG_ZRL] & 31);
    mine.coefficients(
        [&](unsigned symbol, int value, unsigned size) { put_symbol(to, ac[symbol], value, size); });
    if (mine.ends)
        to.put(ac[LAP_JPEG_EOB] >> 5, ac[LAP_JPEG_EOB] & 31);
}

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
    const unsigned table = head >> 1 & 1;
    const lap_jpeg_lane mine(
        reinterpret_cast<const uint4 *>(out.coefficients + (size_t)block * LAP_JPEG_BLOCK)[lane], lane);
    unsigned own = out.lane_bits[(size_t)block * LANES + lane];
    if (lane == 0)
        own += codes.dc[table][lap_jpeg_size(difference)] & 31;
    unsigned end = own; /* end of this lane's bits, relative to the block */
#pragma unroll
    for (unsigned step = 1; step < LANES; step *= 2) {
        const unsigned before = __shfl_up_sync(LAP_ALL_LANES, end, step, LANES);
        end += lane >= step ? before : 0;
    }
    end += out.starts[block] - origin;
    if (first + threadIdx.x / LANES <= last) {
        writer to(words, end - own);
        put_lane(to, mine, lane == 0, difference, codes.ac[table], codes.dc[table]);
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
