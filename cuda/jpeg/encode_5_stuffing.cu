/* Puts a zero after each 0xFF and restart markers between intervals, and copies the scan to the host.
 * Global memory: the scan read twice and written once.
 * Shared memory: 8.5 KB, in which bytes are placed one by one, and from which they are stored as words.
 * 256 threads, 16 bytes each; the download uses few blocks of threads, so that other kernels find room.
 * Measured: count: issue slots 47 % busy, L1 22, DRAM 33; stuff: issue slots 61, L1 57, DRAM 21; L2 was
 * not counted (bench photo, H100). The download takes 282 us; a copy of these bytes alone takes 260. */
#include "encode.cuh"

constexpr unsigned THREADS = LAP_JPEG_CHUNK_TILE, DOWNLOAD_BLOCKS = 8;
/* The most vectors of 16 bytes that a tile needs. */
constexpr unsigned STAGED = THREADS * (2 * LAP_JPEG_CHUNK + 2) / 16 + 2;

struct chunk {
    uint4 data;
    unsigned bytes;  /* 0 after the end of the scan */
    unsigned marker; /* number of the restart marker before it, plus 1; 0: no marker */
};

/* Returns the last interval that begins at or before a chunk. */
LAP_DEVICE unsigned interval_of(const lap_jpeg_out &out, unsigned at)
{
    unsigned low = 0, high = out.intervals;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (out.places[middle].chunk <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

LAP_DEVICE chunk load(const lap_jpeg_out &out, unsigned at)
{
    chunk c = {make_uint4(0, 0, 0, 0), 0, 0};
    if (at >= out.result->chunks)
        return c;
    const unsigned i = interval_of(out, at);
    const lap_jpeg_interval &interval = out.places[i];
    c.data = reinterpret_cast<const uint4 *>(out.words)[at];
    c.bytes = min(LAP_JPEG_CHUNK, interval.bytes - (at - interval.chunk) * LAP_JPEG_CHUNK);
    c.marker = i > 0 && at == interval.chunk ? (i - 1) % 8 + 1 : 0;
    return c;
}

/* Returns the highest bit of each byte that is 0xFF. */
LAP_DEVICE unsigned ones_of(unsigned word)
{
    return ~(((~word & 0x7F7F7F7Fu) + 0x7F7F7F7Fu) | ~word) & 0x80808080u;
}

/* Bytes after the end of an interval are 0, so that they are not counted. */
LAP_DEVICE unsigned stuffed_bytes(const chunk &c)
{
    const unsigned ones =
        ones_of(c.data.x) | ones_of(c.data.y) >> 1 | ones_of(c.data.z) >> 2 | ones_of(c.data.w) >> 3;
    return c.bytes + (unsigned)__popc((int)ones) + (c.marker ? 2 : 0);
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) count_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
    __shared__ unsigned sum;
    if (!PHOTOS::is_alone && blockIdx.x >= out.stuffed_sums.count)
        return;
    if (blockIdx.x * THREADS >= out.result->chunks) { /* the capacity is larger than most scans */
        if (threadIdx.x == 0)
            out.stuffed_tiles[blockIdx.x] = 0;
        return;
    }
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    const unsigned bytes = lap_warp_sum(stuffed_bytes(load(out, blockIdx.x * THREADS + threadIdx.x)));
    if (threadIdx.x % LAP_WARP == 0)
        atomicAdd(&sum, bytes);
    __syncthreads();
    if (threadIdx.x == 0)
        out.stuffed_tiles[blockIdx.x] = sum;
}

/* Puts a chunk's bytes at their places among zeros, so that nothing has to be written after an 0xFF. A byte
 * moves up by one for each 0xFF before it: one multiplication adds these up for the four bytes of a word. */
LAP_DEVICE void spread(uint8_t *to, const chunk &c)
{
    const unsigned words[4] = {c.data.x, c.data.y, c.data.z, c.data.w};
#pragma unroll
    for (unsigned i = 0; i < LAP_JPEG_CHUNK; i += 4) {
        const unsigned word = words[i / 4], ones = ones_of(word) >> 7;
        const unsigned before = ones * 0x01010100u;
#pragma unroll
        for (unsigned j = 0; j < 4; j++)
            if (i + j < c.bytes)
                to[i + j + (before >> (8 * j) & 7)] = (uint8_t)(word >> (8 * j));
        to += __popc((int)ones);
    }
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) stuff_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
    __shared__ uint4 wide[STAGED];
    uint8_t *const staged = reinterpret_cast<uint8_t *>(wide);
    if (blockIdx.x * THREADS >= out.result->chunks)
        return;
    for (unsigned i = threadIdx.x; i < STAGED; i += THREADS)
        wide[i] = make_uint4(0, 0, 0, 0);
    const chunk c = load(out, blockIdx.x * THREADS + threadIdx.x);
    const unsigned begin = out.stuffed_tiles[blockIdx.x], shift = begin % sizeof *wide;
    unsigned total;
    /* lap_block_prefix synchronises, so `staged` is all 0 afterwards. */
    uint8_t *to = staged + shift + lap_block_prefix<THREADS>(stuffed_bytes(c), &total);
    if (c.marker) {
        *to++ = 0xFF;
        *to++ = (uint8_t)(0xD0 + c.marker - 1);
    }
    spread(to, c);
    __syncthreads();
    if (begin + total > out.capacity) {
        if (threadIdx.x == 0)
            out.result->overflow = 1;
        return;
    }
    /* Stores 16 bytes where only this thread block writes them, and bytes at both ends. */
    const unsigned end = shift + total;
    uint4 *const target = reinterpret_cast<uint4 *>(out.scan + (begin - shift));
    for (unsigned i = threadIdx.x; i * sizeof *wide < end; i += THREADS) {
        const unsigned from = i * (unsigned)sizeof *wide;
        if (from >= shift && from + sizeof *wide <= end)
            target[i] = wide[i];
        else
#pragma unroll 1
            for (unsigned j = max(from, shift); j < min(from + (unsigned)sizeof *wide, end); j++)
                reinterpret_cast<uint8_t *>(target)[j] = staged[j];
    }
    if (threadIdx.x == 0 && (blockIdx.x + 1) * THREADS >= out.result->chunks)
        out.result->bytes = begin + total;
}

lap_code lap_jpeg_run_stuffing(const lap_jpeg_outs &outs, const lap_launch &where)
{
    const unsigned count =
        lap_jpeg_most(outs, [](const lap_jpeg_out &out) { return out.stuffed_sums.count; });
    const lap_launch tiles = lap_jpeg_grid(outs, where, count, THREADS);
    lap_code code =
        LAP_JPEG_LAUNCH(tiles, outs, count_kernel<lap_jpeg_out_one>, count_kernel<lap_jpeg_out_many>);
    if (!code)
        code = lap_jpeg_scan_of(outs, &lap_jpeg_out::stuffed_sums, 1, where);
    if (!code)
        code = LAP_JPEG_LAUNCH(tiles, outs, stuff_kernel<lap_jpeg_out_one>, stuff_kernel<lap_jpeg_out_many>);
    return code;
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(THREADS) download_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_out &out = lap_jpeg_photo(photos, blockIdx.y);
    const unsigned count = out.result->overflow || !out.download ? 0 : (out.result->bytes + 15) / 16;
    if (out.host_result && blockIdx.x == 0 && threadIdx.x == 0)
        *reinterpret_cast<uint4 *>(out.host_result) = *reinterpret_cast<const uint4 *>(out.result);
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS)
        out.download[i] = reinterpret_cast<const uint4 *>(out.scan)[i];
}

lap_code lap_jpeg_run_download(const lap_jpeg_outs &outs, const lap_launch &where)
{
    bool any = false;
    for (unsigned i = 0; i < outs.count; i++)
        any |= outs.photo[i].download || outs.photo[i].host_result;
    const unsigned blocks = (DOWNLOAD_BLOCKS + outs.count - 1) / outs.count; /* for one picture */
    return any ? LAP_JPEG_LAUNCH(lap_jpeg_grid(outs, where, blocks, THREADS), outs,
                     download_kernel<lap_jpeg_out_one>, download_kernel<lap_jpeg_out_many>)
               : LAP_OK;
}
