/* Finds where each block's AC symbols begin, and its DC difference. It walks from record to record, now that
 * the states are known, and makes every check. If all walks end as recorded and no check fails, the result
 * equals that of a serial decoder. Reads the scan once more, as stage 2 does; writes 8 bytes per block; each
 * lane writes a run of blocks.
 * Shared memory: the tables, 8 KB per code, random banks.
 * 256 threads per block, one subsequence per thread.
 * Measured: issue slots 69 % busy, L1 19, DRAM 2; L2 was not counted (bench photo, H200). */
#include "walk.cuh"

/* Counts the blocks of each tile of subsequences. */
template <typename PHOTOS>
static __global__ void __launch_bounds__(LAP_JPEG_SUB_TILE)
    count_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.y);
    const lap_jpeg_control &control = job.tables->control;
    const unsigned i = blockIdx.x * LAP_JPEG_SUB_TILE + threadIdx.x;
    const bool is_there = !control.odd[LAP_JPEG_AT_BYTES] && i < control.subs;
    unsigned total;
    if (!PHOTOS::is_alone && blockIdx.x * LAP_JPEG_SUB_TILE >= job.most_subs)
        return;
    lap_block_prefix<LAP_JPEG_SUB_TILE>(
        is_there ? (unsigned)job.records[i] >> LAP_JPEG_STATE_BITS : 0, &total);
    if (threadIdx.x == 0)
        job.tiles[blockIdx.x] = total;
}

struct progress {
    unsigned number, mcu;  /* the block's number in the scan, and its MCU's */
    unsigned interval_end; /* first block of the next restart interval */
    bool is_over;          /* all blocks are decoded */
};

LAP_DEVICE unsigned interval_end(const lap_jpeg_job &job, unsigned segment)
{
    const unsigned end = (segment + 1) * job.interval; /* in MCUs; the last interval may be shorter */
    return (end < job.mcus ? end : job.mcus) * job.mcu_blocks;
}

/* Ends an interval: checks that only padding is left, and begins the next interval. */
LAP_DEVICE lap_huff_odd leave_interval(const lap_jpeg_job &job, lap_jpeg_cursor &p, progress &now)
{
    const unsigned left = p.segment_end - p.reader.at;
    if (p.reader.at > p.segment_end)
        return LAP_HUFF_SHORT;
    if (!lap_huff_is_padding((uint64_t)lap_jpeg_window(p.reader) << 32, left))
        return LAP_HUFF_LONG;
    now.is_over = p.segment + 1 == job.segment_count;
    lap_jpeg_next_segment(job, p);
    now.interval_end = interval_end(job, p.segment);
    return now.is_over && now.number != job.blocks ? LAP_HUFF_SHORT : LAP_HUFF_FINE;
}

/* Called for the first symbol of a block: writes the DC difference and the bit where the AC symbols begin. */
LAP_DEVICE void write_block(const lap_jpeg_job &job, const lap_jpeg_cursor &p, const progress &now,
    unsigned window, const lap_jpeg_step &step)
{
    const unsigned luma = job.component[0].blocks, b = p.block;
    const unsigned bits = step.size ? window << (step.bits - step.size) >> (32 - step.size) : 0;
    const bool is_negative = step.size && !(bits >> (step.size - 1));
    job.starts[now.number] = p.reader.at;
    job.dc[b < luma ? now.mcu * luma + b : job.component[1 + b - luma].first + now.mcu] =
        is_negative ? bits - (1u << step.size) + 1 : bits;
}

/* Walks to the first symbol at or after `stop`. */
LAP_DEVICE lap_huff_odd walk_blocks(const lap_jpeg_job &job, const lap_jpeg_codes &codes, lap_jpeg_cursor &p,
    progress &now, unsigned stop, bool many)
{
    lap_jpeg_bases bases = lap_jpeg_bases_of(job, p.block);
    lap_jpeg_step step;
    while (p.reader.at < stop) {
        const bool is_first = p.k == 0;
        if (is_first && now.number == now.interval_end) {
            const lap_huff_odd odd = leave_interval(job, p, now);
            if (odd || now.is_over)
                return odd;
            continue;
        }
        const unsigned window = lap_jpeg_window(p.reader), base = p.k ? bases.ac : bases.dc;
        const lap_huff_entry entry = codes.look[base][window >> (32 - LAP_JPEG_LOOK)];
        if (!many || !lap_jpeg_take_many(entry, p.k, step)) {
            const lap_huff_odd odd = lap_jpeg_take_one(&codes.code[base], entry, window, p.k, step);
            if (odd)
                return odd;
        }
        lap_jpeg_skip(p.reader, step.bits);
        if (is_first)
            write_block(job, p, now, window, step);
        if (step.ends) {
            if (p.reader.at > p.segment_end)
                return LAP_HUFF_SHORT;
            p.k = 0;
            now.number++;
            if (++p.block == job.mcu_blocks) {
                p.block = 0;
                now.mcu++;
            }
            bases = lap_jpeg_bases_of(job, p.block);
        }
    }
    return LAP_HUFF_FINE;
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(LAP_JPEG_SUB_TILE)
    blocks_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.y);
    LAP_DYNAMIC_SHARED(uint4, shared);
    const lap_jpeg_control &control = job.tables->control;
    const unsigned i = blockIdx.x * LAP_JPEG_SUB_TILE + threadIdx.x;
    if (control.odd[LAP_JPEG_AT_BYTES] || blockIdx.x * LAP_JPEG_SUB_TILE >= control.subs)
        return;
    lap_jpeg_load_codes(job, job.code_count, shared);
    const unsigned record = i < control.subs ? (unsigned)job.records[i] : 0;
    unsigned total;
    progress now;
    now.number =
        job.tiles[blockIdx.x] + lap_block_prefix<LAP_JPEG_SUB_TILE>(record >> LAP_JPEG_STATE_BITS, &total);
    if (i >= control.subs)
        return;
    const unsigned first = now.number, end = lap_jpeg_sub_end(job, control, i);
    lap_jpeg_cursor p;
    if (i == 0)
        lap_jpeg_enter(job, p, 0, 0, 0);
    else
        lap_jpeg_enter_behind(job, control, p, i - 1, (unsigned)job.records[i - 1]);
    now.mcu = now.number / job.mcu_blocks;
    now.interval_end = interval_end(job, p.segment);
    now.is_over = false;
    /* Inconsistent counts are an error, and would lead to writes outside of the arrays. */
    lap_huff_odd odd = now.number % job.mcu_blocks != p.block || now.number > now.interval_end ||
                               (now.number == now.interval_end && p.k) ||
                               now.number < p.segment * job.interval * job.mcu_blocks
                           ? LAP_HUFF_UNBOUNDED
                           : LAP_HUFF_FINE;
    const lap_jpeg_codes &codes = *reinterpret_cast<const lap_jpeg_codes *>(shared);
    if (!odd)
        odd = walk_blocks(job, codes, p, now, lap_jpeg_many_end(end), true);
    if (!odd)
        odd = walk_blocks(job, codes, p, now, end, false);
    if (!odd && now.is_over && p.reader.at != end)
        odd = LAP_HUFF_LONG;
    if (!odd && lap_jpeg_record(p, end, now.number - first) != record)
        odd = LAP_HUFF_UNBOUNDED;
    if (!odd && i + 1 == control.subs && now.number != job.blocks)
        odd = LAP_HUFF_SHORT;
    if (odd)
        lap_jpeg_say(job, LAP_JPEG_AT_BLOCKS, odd);
}

lap_code lap_jpeg_run_blocks(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    lap_launch launch = lap_jpeg_launch(jobs, run,
        lap_jpeg_most(jobs, [](const lap_jpeg_job &job) { return job.sub_sums.count; }), LAP_JPEG_SUB_TILE);
    lap_code code =
        LAP_JPEG_LAUNCH(launch, jobs, count_kernel<lap_jpeg_job_one>, count_kernel<lap_jpeg_job_many>);
    if (!code)
        code = lap_jpeg_scan_of(jobs, &lap_jpeg_job::sub_sums, 1, launch);
    launch.shared = lap_jpeg_most_codes_bytes(jobs);
    if (!code)
        code =
            LAP_JPEG_LAUNCH(launch, jobs, blocks_kernel<lap_jpeg_job_one>, blocks_kernel<lap_jpeg_job_many>);
    return code;
}
