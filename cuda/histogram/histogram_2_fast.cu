/* cuda-fast: each lane has its own counters, so that no two lanes of a warp add to the same one.
 * Since cuda-shared: a counter for each value, channel and lane, 16-byte loads, and few large blocks that
 * walk the image together.
 * Global memory: each byte read once, 16 bytes per load; the next load is in flight while a thread counts
 * the bytes of this one. At the end, each block of three channels performs 768 additions.
 * Shared memory: 32 KB per channel; lane l always uses bank l, whatever the pixels are: no conflicts. A
 * flat image takes as long as noise. On devices with less shared memory, a block has 16 counters per
 * value, each shared by two lanes.
 * 768 threads, at least 48 bytes per thread.
 * Measured: L1 75 % busy, issue slots 70, L2 64, DRAM 61; longest wait: loads, 9.4 cycles per instruction
 * (4992x3744x3, H200). */
#include "cuda/device/rung.cuh"

/* A multiple of 3, so that all 16-byte pieces of a thread begin with the same channel. Two blocks with three
 * channels use 192 of the 228 KB of shared memory of a large SM. */
constexpr unsigned BLOCK = 768, PIECE = 16;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned BLOCKS_AN_SM = 1; /* an SM has room for only 1024 threads */
#else
constexpr unsigned BLOCKS_AN_SM = 2;
#endif
static_assert(BLOCK % 3 == 0 && BLOCK % LAP_WARP == 0, "pieces keep their channel, warps are full");

struct pieces { /* of an image: rows of `across` pieces; the last of a row may be partial */
    const uint8_t *in;
    ptrdiff_t stride;
    unsigned row_bytes, across, step_rows, step_across; /* a step: gridDim.x * BLOCK pieces */
    unsigned rows;
};

/* The counters of successive values are LANES words apart, those of successive channels 256 * LANES words. */
template <int CHANNELS, int LANES>
struct counter {
    static constexpr unsigned SHIFT = LANES == 32 ? 7 : 6; /* log2 of the bytes of a value's counters */
    unsigned offset[CHANNELS]; /* bytes: this lane's counter of value 0, channel of byte 0, 1, ... */

    __device__ counter(unsigned phase)
    {
#pragma unroll
        for (unsigned c = 0; c < CHANNELS; c++)
            offset[c] = ((phase + c) % CHANNELS << (8 + SHIFT)) + threadIdx.x % LANES * 4;
    }

    __device__ void add(uint8_t *counts, const uint4 &v) const
    {
        const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (unsigned i = 0; i < PIECE; i++) {
            const unsigned down = i % 4 * 8;
            /* The value, shifted so that it is the byte offset of its counters. */
            const unsigned at =
                (down < SHIFT ? word[i / 4] << (SHIFT - down) : word[i / 4] >> (down - SHIFT));
            atomicAdd(
                reinterpret_cast<unsigned *>(counts + ((at & (255u << SHIFT)) | offset[i % CHANNELS])), 1u);
        }
    }

    __device__ void add_one(uint8_t *counts, unsigned value, unsigned channel) const
    {
        const unsigned first = (channel << (8 + SHIFT)) + threadIdx.x % LANES * 4;
        atomicAdd(reinterpret_cast<unsigned *>(counts + ((value << SHIFT) | first)), 1u);
    }
};

template <int CHANNELS, int LANES>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_AN_SM)
    fast_kernel(const __grid_constant__ pieces p, unsigned long long *counts)
{
    LAP_DYNAMIC_SHARED(uint4, clear);
    uint8_t *count = reinterpret_cast<uint8_t *>(clear);
    for (unsigned i = threadIdx.x; i < CHANNELS * 256 * LANES / 4; i += BLOCK)
        clear[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();

    unsigned piece = blockIdx.x * BLOCK + threadIdx.x, y = piece / p.across, i = piece % p.across;
    counter<CHANNELS, LANES> counter(i * PIECE % CHANNELS);
    uint4 next = make_uint4(0, 0, 0, 0);
    /* A piece that begins inside the row ends inside the stride, since both are multiples of 16. */
    if (y < p.rows && i * PIECE < p.row_bytes)
        next = __ldcs(reinterpret_cast<const uint4 *>(p.in + y * p.stride) + i);
    while (y < p.rows) {
        const uint4 now = next;
        const unsigned first = i * PIECE, row = y;
        y += p.step_rows;
        i += p.step_across;
        if (i >= p.across) {
            i -= p.across;
            y++;
        }
        if (y < p.rows && i * PIECE < p.row_bytes)
            next = __ldcs(reinterpret_cast<const uint4 *>(p.in + y * p.stride) + i);
        if (first + PIECE <= p.row_bytes)
            counter.add(count, now);
        else
            for (unsigned at = first; at < p.row_bytes; at++)
                counter.add_one(count, p.in[row * p.stride + at], at % CHANNELS);
    }
    __syncthreads();

    /* Each thread sums up one value's counters. Lanes begin at different words, to avoid bank conflicts. */
    const unsigned *words = reinterpret_cast<const unsigned *>(count);
    for (unsigned v = threadIdx.x; v < CHANNELS * 256; v += BLOCK) {
        unsigned sum = 0;
#pragma unroll 4
        for (unsigned lane = 0; lane < LANES; lane++)
            sum += words[v * LANES + (lane + threadIdx.x) % LANES];
        if (sum > 0)
            atomicAdd(&counts[v], (unsigned long long)sum);
    }
}

/* ---- host side ---------------------------------------------------------------------------------- */

template <int CHANNELS, int LANES>
static lap_code launch_fast(const lap_view *in, uint8_t *scratch, const lap_exec *exec)
{
    const size_t shared = (size_t)CHANNELS * 256 * LANES * sizeof(unsigned);
    const size_t row_bytes = (size_t)in->width * CHANNELS;
    /* A multiple of three pieces, so that a piece in another row begins with the same channel. */
    const unsigned across = (unsigned)((row_bytes + 3 * PIECE - 1) / (3 * PIECE) * 3);
    /* An SM has room for two blocks of up to three channels. No counter of a block reaches 2^32. */
    unsigned blocks = (unsigned)lap_attribute(in->place, cudaDevAttrMultiProcessorCount) * 2;
    const unsigned useful = lap_blocks((size_t)across * (size_t)in->height, BLOCK * 3);
    blocks = blocks < 1 ? 1 : blocks < useful ? blocks : useful;
    const unsigned step = blocks * BLOCK;
    const pieces p = {in->base, in->stride, (unsigned)row_bytes, across, step / across, step % across,
        (unsigned)in->height};
    return LAP_LAUNCH(lap_launch_of(in->place, blocks, BLOCK, shared, exec), (fast_kernel<CHANNELS, LANES>),
        p, (unsigned long long *)scratch);
}

template <int CHANNELS>
static lap_code by_room(const lap_view *in, uint8_t *scratch, const lap_exec *exec)
{
    const size_t room = (size_t)lap_attribute(in->place, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    return room >= (size_t)CHANNELS * 256 * 32 * sizeof(unsigned)
               ? launch_fast<CHANNELS, 32>(in, scratch, exec)
               : launch_fast<CHANNELS, 16>(in, scratch, exec);
}

extern "C" lap_code lap_histogram_cuda_fast(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    lap_scratch scratch;
    uint64_t added[4][256] = {};
    lap_code code = lap_scratch_get(in->place, LAP_SCRATCH_HEAD, exec, &scratch);
    if (!code)
        code = in->channels == 1   ? by_room<1>(in, scratch.memory, exec)
               : in->channels == 2 ? by_room<2>(in, scratch.memory, exec)
               : in->channels == 3 ? by_room<3>(in, scratch.memory, exec)
                                   : by_room<4>(in, scratch.memory, exec);
    code = lap_scratch_finish(in->place, &scratch, code, added, sizeof added, exec);
    for (int i = 0; i < 4 * 256 && counts; i++)
        counts[i / 256][i % 256] += added[i / 256][i % 256];
    return code;
}
