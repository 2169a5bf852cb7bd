/* Writes the scan's bytes without stuffing and restart markers, and finds where the restart intervals and the
 * scan end. Reads each byte twice, writes it once (words, edges of a tile by bytes).
 * Shared memory: a tile of 4096 bytes, scattered by bytes (neighbours share a word, which is no conflict).
 * 256 threads, 16 bytes each.
 * Measured: count: issue slots 51 % busy, DRAM 9, L1 8; scatter: issue slots 66, L1 25, DRAM 7; L2 was not
 * counted (bench photo, H200). */
#include "decode.cuh"

constexpr unsigned BYTES_THREADS = 256, PIECE = 16;
static_assert(BYTES_THREADS * PIECE == LAP_JPEG_BYTE_TILE, "a tile is a piece a thread");

struct piece {
    unsigned at;              /* position of its first byte */
    unsigned byte[PIECE + 2]; /* with the byte before and the byte after */
    unsigned kept, marks;     /* a bit for each byte: it is data; it begins a restart marker */
    unsigned end;             /* first byte of the marker that ends the scan, or ~0 */
};

LAP_DEVICE bool is_restart(unsigned byte)
{
    return (byte & ~7u) == 0xD0;
}

LAP_DEVICE void look_at(const lap_jpeg_job &job, unsigned at, piece &p)
{
    p.at = at;
    p.kept = p.marks = 0;
    p.end = ~0u;
    if (at >= job.size)
        return;
    unsigned word[4] = {0, 0, 0, 0};
    if (at + PIECE <= job.size) {
        const uint4 v = *reinterpret_cast<const uint4 *>(job.bytes + at);
        word[0] = v.x;
        word[1] = v.y;
        word[2] = v.z;
        word[3] = v.w;
    } else {
#pragma unroll
        for (unsigned i = 0; i < PIECE; i++)
            word[i / 4] |= at + i < job.size ? (unsigned)job.bytes[at + i] << (i % 4 * 8) : 0;
    }
    p.byte[0] = at ? job.bytes[at - 1] : 0;
    p.byte[PIECE + 1] = at + PIECE < job.size ? job.bytes[at + PIECE] : 0xFF;
#pragma unroll
    for (unsigned i = 0; i < PIECE; i++) /* bytes after the data look like an invalid marker */
        p.byte[i + 1] = at + i < job.size ? word[i / 4] >> (i % 4 * 8) & 0xFF : 0xFF;
#pragma unroll
    for (unsigned i = 0; i < PIECE; i++) {
        const unsigned before = p.byte[i], byte = p.byte[i + 1], next = p.byte[i + 2];
        const bool is_second = before == 0xFF && (byte == 0 || is_restart(byte));
        const bool is_mark = byte == 0xFF && is_restart(next);
        const bool is_end = byte == 0xFF && next != 0 && !is_mark;
        p.kept |= !is_second && !is_mark && !is_end ? 1u << i : 0;
        p.marks |= is_mark ? 1u << i : 0;
        if (is_end && p.end == ~0u)
            p.end = at + i;
    }
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(BYTES_THREADS) count_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.y);
    piece p;
    unsigned total;
    if (!PHOTOS::is_alone && blockIdx.x >= job.byte_sums.count)
        return;
    look_at(job, blockIdx.x * LAP_JPEG_BYTE_TILE + threadIdx.x * PIECE, p);
    if (p.end < job.size)
        atomicMax(&job.tables->control.end_inverse, ~p.end);
    lap_block_prefix<BYTES_THREADS>((unsigned)__popc(p.kept) | (unsigned)__popc(p.marks) << 16, &total);
    if (threadIdx.x == 0) {
        job.tiles[blockIdx.x] = total & 0xFFFF;
        job.tiles[job.byte_sums.count + blockIdx.x] = total >> 16;
    }
}

/* Bytes that walks may read after the end: the rest of a word, and the words loaded ahead. */
constexpr unsigned BEHIND = 20;

/* Ends the scan: stores its size, zeroes the bytes after it, and reports an error if the end or the size
 * cannot be right. */
LAP_DEVICE void at_end(const lap_jpeg_job &job, unsigned end, unsigned bytes, unsigned marks)
{
    lap_jpeg_control *control = &job.tables->control;
    control->bytes = bytes;
    control->subs = (bytes * 8 + job.sub_bits - 1) / job.sub_bits;
    job.segments[job.segment_count] = bytes;
    for (unsigned q = bytes; q < bytes + BEHIND; q++)
        reinterpret_cast<uint8_t *>(job.words)[q ^ 3] = 0;
    if (end + 1 >= job.size || job.bytes[end + 1] != 0xD9)
        lap_jpeg_say(job, LAP_JPEG_AT_BYTES, LAP_HUFF_MARKER);
    if (marks + 1 != job.segment_count || bytes == 0)
        lap_jpeg_say(job, LAP_JPEG_AT_BYTES, LAP_HUFF_SHORT);
}

/* Writes the staged bytes from `first` up to `end` to their words. */
LAP_DEVICE void write_words(const lap_jpeg_job &job, const uint8_t *staged, unsigned first, unsigned end)
{
    const unsigned base = first & ~3u;
    for (unsigned w = base + threadIdx.x * 4; w < end; w += BYTES_THREADS * 4) {
        if (w >= first && w + 4 <= end) {
            job.words[w / 4] = *reinterpret_cast<const unsigned *>(staged + (w - base));
            continue;
        }
        uint8_t *bytes = reinterpret_cast<uint8_t *>(job.words); /* another tile writes the rest */
        for (unsigned q = w < first ? first : w; q < w + 4 && q < end; q++)
            bytes[q ^ 3] = staged[(q - base) ^ 3];
    }
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(BYTES_THREADS) scatter_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.y);
    __shared__ unsigned staged_words[LAP_JPEG_BYTE_TILE / 4 + 2];
    uint8_t *staged = reinterpret_cast<uint8_t *>(staged_words);
    const unsigned end = ~job.tables->control.end_inverse;
    if (!PHOTOS::is_alone && blockIdx.x >= job.byte_sums.count)
        return;
    piece p;
    unsigned total;
    look_at(job, blockIdx.x * LAP_JPEG_BYTE_TILE + threadIdx.x * PIECE, p);
    const unsigned mine = end <= p.at ? 0 : end - p.at >= PIECE ? 0xFFFF : (1u << (end - p.at)) - 1;
    p.kept &= mine;
    p.marks &= mine;
    const unsigned first = job.tiles[blockIdx.x];
    const unsigned before =
        lap_block_prefix<BYTES_THREADS>((unsigned)__popc(p.kept) | (unsigned)__popc(p.marks) << 16, &total);
    unsigned to = first + (before & 0xFFFF),
             mark = job.tiles[job.byte_sums.count + blockIdx.x] + (before >> 16);
#pragma unroll
    for (unsigned i = 0; i < PIECE; i++) {
        if (p.kept >> i & 1)
            staged[(to++ - (first & ~3u)) ^ 3] = (uint8_t)p.byte[i + 1];
        if (p.marks >> i & 1) {
            if (++mark < job.segment_count)
                job.segments[mark] = to;
            if (p.byte[i + 2] != 0xD0 + (mark - 1) % 8)
                lap_jpeg_say(job, LAP_JPEG_AT_BYTES, LAP_HUFF_MARKER);
        }
    }
    if (end >= p.at && end - p.at < PIECE)
        at_end(job, end, to, mark);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        job.segments[0] = 0;
        if (end == ~0u)
            lap_jpeg_say(job, LAP_JPEG_AT_BYTES, LAP_HUFF_MARKER);
    }
    __syncthreads();
    write_words(job, staged, first, first + (total & 0xFFFF));
}

lap_code lap_jpeg_run_bytes(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    const unsigned tiles = lap_jpeg_most(jobs, [](const lap_jpeg_job &job) { return job.byte_sums.count; });
    const lap_launch launch = lap_jpeg_launch(jobs, run, tiles, BYTES_THREADS);
    lap_code code =
        LAP_JPEG_LAUNCH(launch, jobs, count_kernel<lap_jpeg_job_one>, count_kernel<lap_jpeg_job_many>);
    if (!code)
        code = lap_jpeg_scan_of(jobs, &lap_jpeg_job::byte_sums, 2, launch);
    if (!code)
        code = LAP_JPEG_LAUNCH(
            launch, jobs, scatter_kernel<lap_jpeg_job_one>, scatter_kernel<lap_jpeg_job_many>);
    return code;
}
