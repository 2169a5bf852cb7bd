/* Finds where symbols and blocks begin. Each group of subsequences of the scan is decoded from its first bit
 * with a guessed state. Then chains continue from the end of each group into the following ones, until they
 * reach the end of a subsequence in the state that is recorded there. A record is a number: the chain's group
 * in the upper bits, what the chain found in the lower ones. The smallest number stays: an earlier chain
 * always wins, a later chain that reaches its record stops, and the order of events does not matter.
 * These records may be wrong: the next stage walks from record to record and checks everything. Reads the
 * scan about twice, 4 bytes at a time. Lanes read at distant addresses, so L1 reads separate sectors for
 * them.
 * Shared memory: the tables, 8 KB per code, random banks.
 * 128 threads per block, one group or chain per thread.
 * Measured: guess: issue slots 14 % busy, L1 7, DRAM 1; chain: issue slots 17, L1 2, DRAM 0; L2 was not
 * counted (bench photo, H200). */
#include "walk.cuh"

constexpr unsigned SYNC_THREADS = 128;
/* The least number of thread blocks that must fit a multiprocessor; 0: no such request. Without it, nvcc 13.0
 * spills registers of guess_kernel for many pictures on these compute capabilities. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 1200)
constexpr unsigned SYNC_BLOCKS = 8;
#else
constexpr unsigned SYNC_BLOCKS = 0;
#endif

/* Decodes the symbols of an entry, or one symbol. Returns how many blocks ended: 0 or 1. A walk that began
 * with a guess must continue after an error, and two walks in the same state must continue in the same
 * way. */
LAP_DEVICE unsigned walk(const lap_jpeg_job &job, const lap_jpeg_codes &codes, lap_jpeg_cursor &p,
    lap_jpeg_bases &bases, bool many)
{
    const unsigned window = lap_jpeg_window(p.reader), base = p.k ? bases.ac : bases.dc;
    const lap_huff_entry entry = codes.look[base][window >> (32 - LAP_JPEG_LOOK)];
    lap_jpeg_step step;
    if (!many || !lap_jpeg_take_many(entry, p.k, step)) {
        if (lap_jpeg_take_one(&codes.code[base], entry, window, p.k, step)) {
            step.bits = 1;
            step.ends = false;
            p.k = 0;
        }
    }
    lap_jpeg_skip(p.reader, step.bits);
    if (step.ends) {
        p.k = 0;
        p.block = p.block + 1 < job.mcu_blocks ? p.block + 1 : 0;
        bases = lap_jpeg_bases_of(job, p.block);
    }
    return step.ends;
}

/* Walks to the first symbol at or after `end`. Returns how many blocks ended. */
LAP_DEVICE unsigned walk_to(
    const lap_jpeg_job &job, const lap_jpeg_codes &codes, lap_jpeg_cursor &p, unsigned end)
{
    unsigned count = 0;
    while (p.reader.at < end) {
        const unsigned limit = min(end, p.segment_end), many_end = lap_jpeg_many_end(limit);
        lap_jpeg_bases bases = lap_jpeg_bases_of(job, p.block);
        while (p.reader.at < many_end)
            count += walk(job, codes, p, bases, true);
        while (p.reader.at < limit)
            count += walk(job, codes, p, bases, false);
        if (p.reader.at >= p.segment_end)
            lap_jpeg_next_segment(job, p);
    }
    return count;
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(SYNC_THREADS, PHOTOS::is_alone ? 0 : SYNC_BLOCKS)
    guess_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo_copy(photos, blockIdx.y);
    LAP_DYNAMIC_SHARED(uint4, shared);
    const lap_jpeg_control &control = job.tables->control;
    if (control.odd[LAP_JPEG_AT_BYTES] || blockIdx.x * SYNC_THREADS * job.group >= control.subs)
        return;
    lap_jpeg_load_codes(job, job.code_count, shared);
    const lap_jpeg_codes &codes = *reinterpret_cast<const lap_jpeg_codes *>(shared);
    const unsigned owner = blockIdx.x * SYNC_THREADS + threadIdx.x, first = owner * job.group;
    if (first >= control.subs)
        return;
    lap_jpeg_cursor p = {};
    lap_jpeg_enter(job, p, first * job.sub_bits, 0, 0);
    if (first > 0 && p.segment_end < lap_jpeg_sub_end(job, control, first))
        lap_jpeg_next_segment(job, p); /* a restart interval begins in a known state */
    for (unsigned i = first; i < first + job.group && i < control.subs; i++) {
        const unsigned end = lap_jpeg_sub_end(job, control, i), count = walk_to(job, codes, p, end);
        const unsigned record = lap_jpeg_record(p, end, count);
        job.records[i] = (unsigned long long)owner << 32 | record;
        job.firsts[owner] = record;
    }
}

/* Returns whether the chain of this group must continue from its end, subsequence i. It must not if an
 * earlier chain has found a different state there. */
LAP_DEVICE bool begin_chain(
    const lap_jpeg_job &job, const lap_jpeg_control &control, lap_jpeg_cursor &p, unsigned owner, unsigned i)
{
    const unsigned first = job.firsts[owner];
    const unsigned long long record = atomicMin(job.records + i, ~0ull); /* an atomic read */
    if (record >> 32 < owner && ((unsigned)record ^ first) & LAP_JPEG_STATE)
        return false;
    lap_jpeg_enter_behind(job, control, p, i, first);
    return true;
}

/* Returns the next chain for a lane that has finished its first one. */
LAP_DEVICE unsigned next_chain(lap_jpeg_control &control, unsigned lanes, unsigned chains)
{
    return lanes < chains ? lanes + atomicAdd(&control.ticket, 1u) : chains;
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(SYNC_THREADS) chain_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo_copy(photos, blockIdx.y);
    LAP_DYNAMIC_SHARED(uint4, shared);
    lap_jpeg_control &control = job.tables->control;
    const unsigned chains = control.subs ? (control.subs - 1) / job.group : 0;
    if (control.odd[LAP_JPEG_AT_BYTES] || blockIdx.x * SYNC_THREADS >= chains)
        return;
    lap_jpeg_load_codes(job, job.code_count, shared);
    const lap_jpeg_codes &codes = *reinterpret_cast<const lap_jpeg_codes *>(shared);
    const unsigned lanes = gridDim.x * SYNC_THREADS;
    unsigned owner = blockIdx.x * SYNC_THREADS + threadIdx.x, i = 0, left = 0;
    bool walks = false;
    lap_jpeg_cursor p = {};
    for (;;) {
        while (!walks && owner < chains) {
            i = owner * job.group + job.group - 1;
            left = job.longest_chain;
            walks = begin_chain(job, control, p, owner, i);
            if (!walks)
                owner = next_chain(control, lanes, chains);
        }
        if (!walks)
            break;
        const unsigned end = lap_jpeg_sub_end(job, control, ++i), count = walk_to(job, codes, p, end);
        const unsigned long long record = (unsigned long long)owner << 32 | lap_jpeg_record(p, end, count);
        const unsigned long long was = atomicMin(job.records + i, record);
        walks =
            was > record && ((unsigned)(was ^ record) & LAP_JPEG_STATE) && i + 1 < control.subs && --left > 0;
        if (!walks)
            owner = next_chain(control, lanes, chains);
    }
}

/* is_limited: the launch has no more lanes than may follow chains at the same time. */
static lap_launch launch_of(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run, bool is_limited)
{
    const unsigned lanes = lap_jpeg_most(jobs, [=](const lap_jpeg_job &job) {
        const unsigned groups = lap_blocks(job.most_subs, job.group);
        return is_limited && job.chain_lanes < groups ? job.chain_lanes : groups;
    });
    lap_launch launch = lap_jpeg_launch(jobs, run, lap_blocks(lanes, SYNC_THREADS), SYNC_THREADS);
    launch.shared = lap_jpeg_most_codes_bytes(jobs);
    return launch;
}

lap_code lap_jpeg_run_guess(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    return LAP_JPEG_LAUNCH(
        launch_of(jobs, run, false), jobs, guess_kernel<lap_jpeg_job_one>, guess_kernel<lap_jpeg_job_many>);
}

lap_code lap_jpeg_run_chains(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    return LAP_JPEG_LAUNCH(
        launch_of(jobs, run, true), jobs, chain_kernel<lap_jpeg_job_one>, chain_kernel<lap_jpeg_job_many>);
}
