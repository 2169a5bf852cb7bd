/* Turns blocks into samples: each lane decodes the values of one block into shared memory, dequantised, and
 * does its inverse DCT there, so that AC coefficients never reach global memory. A warp processes the same
 * block of 32 successive MCUs: all its lanes use one table and one quantiser, and write adjacent samples.
 * Reads the scan once more, 8 bytes per block, writes a byte per sample, 8 at a time.
 * Shared memory: the tables, and 33 words per block, so that 32 lanes at the same coefficient hit 32 banks.
 * 256 threads per block, 32 blocks of the picture per warp and round; as many thread blocks as fit on the
 * device.
 * Measured: issue slots 69 % busy, L1 28, DRAM 3; L2 was not counted (bench photo, H200). */
#include "idct.cuh"
#include "walk.cuh"

constexpr unsigned PIXELS_THREADS = 256, PIXELS_BLOCKS = 4, BLOCK_WORDS = 33;
constexpr size_t PIXELS_SHARED = (3 * 64 + PIXELS_THREADS * BLOCK_WORDS) * sizeof(unsigned);
static_assert(PIXELS_SHARED % 16 == 0, "the tables behind are copied by 16 bytes");

struct block_place {
    unsigned number;          /* of the block in the scan */
    unsigned at;              /* its index in dc[] */
    unsigned first;           /* index in dc[] of its component's first block in the restart interval */
    unsigned component, x, y; /* its component, and the position of its first sample */
};

LAP_DEVICE block_place place_of(const lap_jpeg_job &job, unsigned mcu, unsigned b)
{
    block_place p;
    const unsigned luma = job.component[0].blocks;
    p.component = b < luma ? 0 : 1 + b - luma;
    const lap_jpeg_component &c = job.component[p.component];
    const unsigned inner = b < luma ? b : 0, interval = mcu / job.interval * job.interval;
    p.number = mcu * job.mcu_blocks + b;
    p.at = c.first + mcu * c.blocks + inner;
    p.first = c.first + interval * c.blocks;
    p.x = (mcu % job.mcus_across * c.across + inner % c.across) * 8;
    p.y = (mcu / job.mcus_across * (c.blocks / c.across) + inner / c.across) * 8;
    return p;
}

/* Stores a value times its quantiser. Returns bits that are not all 0 if either is beyond the limit. */
LAP_DEVICE unsigned put(int16_t *block, unsigned quant, int value)
{
    const unsigned beyond = lap_idct_beyond(value);
    const int product = (int)((unsigned)value * (quant & 0xFFFF));
    block[quant >> 16] = (int16_t)product;
    return beyond | lap_idct_beyond(product);
}

/* Decodes and dequantises a block into zeroed memory. Stage 3 has checked its symbols. */
LAP_DEVICE unsigned decode_block(const lap_jpeg_job &job, const lap_jpeg_codes &codes, unsigned ac,
    const unsigned *quant, const block_place &place, int16_t *block)
{
    const unsigned before = place.first ? job.dc[place.first - 1] : 0;
    unsigned beyond = put(block, quant[0], (int)(job.dc[place.at] - before));
    lap_jpeg_reader reader;
    reader.words = job.words;
    lap_jpeg_open(reader, job.starts[place.number]);
    for (unsigned k = 1; k < 64;) {
        const unsigned window = lap_jpeg_window(reader);
        const lap_huff_entry entry = codes.look[ac][window >> (32 - LAP_JPEG_LOOK)];
        int length = (int)LAP_HUFF_FIRST_BITS(entry), symbol = (int)LAP_HUFF_FIRST(entry);
        if (length == 0)
            symbol = lap_huff_symbol(&codes.code[ac], (uint64_t)window << 32, &length);
        if (symbol <= 0)
            break;
        const unsigned size = (unsigned)symbol & 15;
        k += (unsigned)symbol >> 4;
        if (size && k < 64) {
            const int bits = (int)(window << length >> (32 - size));
            beyond |= put(block, quant[k], bits >> (size - 1) ? bits : bits - (1 << size) + 1);
        }
        k++;
        lap_jpeg_skip(reader, (unsigned)length + size);
    }
    return beyond;
}

LAP_DEVICE unsigned columns(unsigned *words)
{
    unsigned beyond = 0;
#pragma unroll 1
    for (int pair = 0; pair < 4; pair++) {
        int left[8], right[8];
#pragma unroll
        for (int y = 0; y < 8; y++) {
            const unsigned word = words[4 * y + pair];
            left[y] = (int16_t)word;
            right[y] = (int)word >> 16;
        }
        lap_idct<LAP_IDCT_COLUMNS>(left);
        lap_idct<LAP_IDCT_COLUMNS>(right);
#pragma unroll
        for (int y = 0; y < 8; y++) {
            beyond |= lap_idct_beyond(left[y]) | lap_idct_beyond(right[y]);
            words[4 * y + pair] = ((unsigned)left[y] & 0xFFFF) | (unsigned)right[y] << 16;
        }
    }
    return beyond;
}

LAP_DEVICE unsigned rows(const unsigned *words, uint8_t *out, unsigned stride)
{
    unsigned beyond = 0;
#pragma unroll 1
    for (int y = 0; y < 8; y++, out += stride) {
        int v[8];
        unsigned packed[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            v[2 * i] = (int16_t)words[4 * y + i];
            v[2 * i + 1] = (int)words[4 * y + i] >> 16;
        }
        lap_idct<LAP_IDCT_ROWS>(v);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            beyond |= ((unsigned)v[i] + 512) & ~1023u;
            packed[i / 4] |= (unsigned)min(max(v[i] + 128, 0), 255) << (8 * (i % 4));
        }
        *reinterpret_cast<uint2 *>(out) = make_uint2(packed[0], packed[1]);
    }
    return beyond;
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(PIXELS_THREADS, PIXELS_BLOCKS)
    pixels_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.y);
    LAP_DYNAMIC_SHARED(uint4, shared);
    unsigned *quant = reinterpret_cast<unsigned *>(shared), *blocks = quant + 3 * 64;
    uint4 *tables = shared + (3 * 64 + PIXELS_THREADS * BLOCK_WORDS) / 4;
    const lap_jpeg_control &control = job.tables->control;
    if (control.odd[LAP_JPEG_AT_BYTES] | control.odd[LAP_JPEG_AT_BLOCKS])
        return;
    for (unsigned i = threadIdx.x; i < 3 * 64; i += PIXELS_THREADS)
        quant[i] = job.tables->quant[i];
    lap_jpeg_load_codes(job, job.ac_count, tables);
    const lap_jpeg_codes &codes = *reinterpret_cast<const lap_jpeg_codes *>(tables);
    unsigned *words = blocks + threadIdx.x * BLOCK_WORDS;
    /* If only luma of three components is wanted, the chroma blocks of each MCU are skipped. */
    const unsigned used = job.components == 1 ? job.component[0].blocks : job.mcu_blocks;
    const unsigned warps = gridDim.x * (PIXELS_THREADS / LAP_WARP);
    const unsigned tasks = (job.mcus + LAP_WARP - 1) / LAP_WARP * used;
    for (unsigned task = (blockIdx.x * PIXELS_THREADS + threadIdx.x) / LAP_WARP; task < tasks;
         task += warps) {
        const unsigned b = task % used, mcu = task / used * LAP_WARP + threadIdx.x % LAP_WARP;
        const bool is_there = mcu < job.mcus;
        const block_place place = place_of(job, is_there ? mcu : 0, b);
        const lap_jpeg_component &c = job.component[place.component];
        unsigned beyond = 0;
#pragma unroll
        for (unsigned i = 0; i < 32; i++)
            words[i] = 0;
        /* Lanes reconverge here. This also makes the compiler write all words before halves of them are
         * accessed. */
        __syncwarp();
        if (is_there)
            beyond = decode_block(job, codes, lap_jpeg_bases_of(job, b).ac, quant + 64 * place.component,
                place, reinterpret_cast<int16_t *>(words));
        __syncwarp();
        if (is_there && !beyond)
            beyond = columns(words);
        if (is_there && !beyond)
            beyond = rows(words, c.plane + (size_t)place.y * c.stride + place.x, c.stride);
        if (beyond)
            lap_jpeg_say(job, LAP_JPEG_AT_PIXELS, LAP_HUFF_RANGE);
    }
}

lap_code lap_jpeg_run_pixels(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    const unsigned needed = lap_jpeg_most(jobs, [](const lap_jpeg_job &job) {
        return lap_blocks((size_t)lap_blocks(job.mcus, LAP_WARP) * job.mcu_blocks, PIXELS_THREADS / LAP_WARP);
    });
    const unsigned all = PIXELS_BLOCKS * (unsigned)lap_attribute(run.device, cudaDevAttrMultiProcessorCount);
    const unsigned fit = all ? max(all / jobs.count, 1u) : needed;
    lap_launch launch = lap_jpeg_launch(jobs, run, min(fit, needed), PIXELS_THREADS);
    launch.shared = PIXELS_SHARED + lap_jpeg_codes_bytes(lap_jpeg_most(
                                        jobs, [](const lap_jpeg_job &job) { return job.ac_count; }));
    return LAP_JPEG_LAUNCH(launch, jobs, pixels_kernel<lap_jpeg_job_one>, pixels_kernel<lap_jpeg_job_many>);
}
