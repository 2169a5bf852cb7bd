/* The walk from symbol to symbol through the bits of a scan: a reader of bits, a step, a cursor. */
#ifndef LAP_CUDA_JPEG_WALK_CUH
#define LAP_CUDA_JPEG_WALK_CUH

#include "decode.cuh"

/* Keeps the next 32 bits in registers, and has already begun to load the word after them. */
struct lap_jpeg_reader {
    const unsigned *words;
    unsigned at; /* bit */
    unsigned high, low, next;
};

LAP_DEVICE void lap_jpeg_open(lap_jpeg_reader &r, unsigned at)
{
    const unsigned *from = r.words + at / 32;
    r.at = at;
    r.high = from[0];
    r.low = from[1];
    r.next = from[2];
}

LAP_DEVICE unsigned lap_jpeg_window(const lap_jpeg_reader &r)
{
    return __funnelshift_l(r.low, r.high, r.at); /* by at modulo 32 */
}

/* bits: 0 .. 32 */
LAP_DEVICE void lap_jpeg_skip(lap_jpeg_reader &r, unsigned bits)
{
    const unsigned to = r.at + bits;
    if ((to ^ r.at) >= 32) {
        r.high = r.low;
        r.low = r.next;
        r.next = r.words[to / 32 + 2];
    }
    r.at = to;
}

struct lap_jpeg_step {
    unsigned bits; /* bits of the decoded symbols */
    unsigned size; /* bits of the first symbol's value */
    bool ends;     /* the block is complete */
};

/* Decodes all symbols of the entry. False if the block ends before the last of them, or at an error: see the
 * rule in huffman_walk.h. k is as in lap_huff_state, but undefined after the end of a block. */
LAP_DEVICE bool lap_jpeg_take_many(lap_huff_entry entry, unsigned &k, lap_jpeg_step &step)
{
    const unsigned to = k + (LAP_HUFF_ADVANCE(entry) & (LAP_HUFF_EOB - 1));
    if (to > 63)
        return false;
    step.bits = LAP_HUFF_SKIP(entry);
    step.size = LAP_HUFF_FIRST(entry) & 15;
    step.ends = LAP_HUFF_ADVANCE(entry) & LAP_HUFF_EOB;
    k = to;
    return true;
}

/* Decodes only the first symbol. */
LAP_DEVICE lap_huff_odd lap_jpeg_take_one(
    const lap_huff_code *code, lap_huff_entry entry, unsigned window, unsigned &k, lap_jpeg_step &step)
{
    int length = (int)LAP_HUFF_FIRST_BITS(entry), symbol = (int)LAP_HUFF_FIRST(entry);
    if (length == 0)
        symbol = lap_huff_symbol(code, (uint64_t)window << 32, &length);
    if (symbol < 0)
        return LAP_HUFF_CODE;
    const unsigned run = (unsigned)symbol >> 4;
    step.size = (unsigned)symbol & 15;
    step.bits = (unsigned)length + step.size;
    step.ends = k > 0 && symbol == 0;
    if (step.ends)
        return LAP_HUFF_FINE;
    if (k > 0 && step.size == 0 && run < 15)
        return LAP_HUFF_CODE;
    k += run + 1;
    step.ends = k == 64;
    return k > 64 ? LAP_HUFF_RUN : LAP_HUFF_FINE;
}

/* The tables for a block of the MCU, as indices into look[]: for its DC symbol and for the AC symbols. */
struct lap_jpeg_bases {
    unsigned dc, ac;
};

LAP_DEVICE lap_jpeg_bases lap_jpeg_bases_of(const lap_jpeg_job &job, unsigned block)
{
    const unsigned codes = job.codes_of >> (4 * block);
    return {job.ac_count + (codes & 3), codes >> 2 & 3};
}

/* Returns the restart interval that contains this bit: the last one that begins at or before it. */
LAP_DEVICE unsigned lap_jpeg_segment_at(const lap_jpeg_job &job, unsigned bit)
{
    unsigned low = 0, high = job.segment_count;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (job.segments[middle] * 8 <= bit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The state of a walk: its position in the scan, and the symbol that it expects there. */
struct lap_jpeg_cursor {
    lap_jpeg_reader reader;
    unsigned block, k; /* as in lap_huff_state */
    unsigned segment, segment_end;
};

LAP_DEVICE void lap_jpeg_enter(
    const lap_jpeg_job &job, lap_jpeg_cursor &p, unsigned at, unsigned block, unsigned k)
{
    p.reader.words = job.words;
    lap_jpeg_open(p.reader, at);
    p.block = block;
    p.k = k;
    p.segment = lap_jpeg_segment_at(job, at);
    p.segment_end = job.segments[p.segment + 1] * 8;
}

/* Moves to the start of the next restart interval; after the last one, to the end of the data. */
LAP_DEVICE void lap_jpeg_next_segment(const lap_jpeg_job &job, lap_jpeg_cursor &p)
{
    p.block = p.k = 0;
    p.reader.at = p.segment_end;
    if (p.segment + 1 < job.segment_count) {
        lap_jpeg_open(p.reader, p.segment_end);
        p.segment_end = job.segments[++p.segment + 1] * 8;
    }
}

/* Returns the bit up to which whole entries may be used. In the last bits before limit, every walk stops at
 * each symbol, so that walks which have synchronised end in the same state. */
LAP_DEVICE unsigned lap_jpeg_many_end(unsigned limit)
{
    return limit < LAP_JPEG_LOOK ? 0 : limit - LAP_JPEG_LOOK + 1;
}

/* Returns the bit at which subsequence i ends. */
LAP_DEVICE unsigned lap_jpeg_sub_end(const lap_jpeg_job &job, const lap_jpeg_control &control, unsigned i)
{
    const unsigned end = (i + 1) * job.sub_bits, bits = control.bytes * 8;
    return end < bits ? end : bits;
}

/* Packs a state and `count`, the blocks that ended in the subsequence. */
LAP_DEVICE unsigned lap_jpeg_record(const lap_jpeg_cursor &p, unsigned end, unsigned count)
{
    return count << LAP_JPEG_STATE_BITS | (p.reader.at - end) << 9 | p.block << 6 | p.k;
}

/* Sets the cursor to the recorded state at the end of subsequence i. */
LAP_DEVICE void lap_jpeg_enter_behind(
    const lap_jpeg_job &job, const lap_jpeg_control &control, lap_jpeg_cursor &p, unsigned i, unsigned record)
{
    lap_jpeg_enter(
        job, p, lap_jpeg_sub_end(job, control, i) + (record >> 9 & 31), record >> 6 & 7, record & 63);
}

#endif
