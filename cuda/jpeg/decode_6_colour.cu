/* Turns samples into pixels: triangle upsampling ("fancy", with libjpeg's biases) and YCbCr to RGB in 16 bits
 * of fraction. Beyond an edge the edge's sample is repeated, which gives the result of libjpeg's special
 * cases. Reads a byte per sample, 4 or 8 at a time (chroma rows three times, from the caches); writes 3 bytes
 * per pixel, 8 at a time. No shared memory. 256 threads; each computes 8 pixels of one row, or of the two
 * rows that share their chroma. Measured: issue slots 65 % busy, DRAM 55, L1 26; L2 was not counted (bench
 * photo, H100). */
#include "decode.cuh"

constexpr unsigned ACROSS = 32, DOWN = 8, PIXELS = 8;

LAP_DEVICE unsigned byte_of(unsigned word, unsigned i)
{
    return word >> (8 * i) & 0xFF;
}

/* Loads samples first - 1 .. first + 4 of a row; first is a multiple of 4. */
LAP_DEVICE void load_half(const lap_jpeg_component &c, int y, int first, unsigned s[6])
{
    const int last = (int)c.width - 1, row = min(max(y, 0), (int)c.height - 1);
    const uint8_t *samples = c.plane + (size_t)row * c.stride;
    const unsigned word = *reinterpret_cast<const unsigned *>(samples + first), end = samples[last];
    s[0] = samples[max(first - 1, 0)];
    s[5] = first + 4 <= last ? samples[first + 4] : end;
#pragma unroll
    for (int i = 0; i < 4; i++)
        s[1 + i] = first + i <= last ? byte_of(word, i) : end;
}

LAP_DEVICE void load_full(const lap_jpeg_component &c, int y, int first, unsigned s[PIXELS])
{
    const int row = min(max(y, 0), (int)c.height - 1);
    const uint2 v = *reinterpret_cast<const uint2 *>(c.plane + (size_t)row * c.stride + first);
#pragma unroll
    for (unsigned i = 0; i < PIXELS; i++)
        s[i] = byte_of(i < 4 ? v.x : v.y, i % 4);
}

/* Computes a component's samples for PIXELS pixels of V rows; y is a row of the component. */
template <int H, int V, bool FANCY>
LAP_DEVICE void upsample(const lap_jpeg_component &c, int x, int y, unsigned out[V][PIXELS])
{
    constexpr int N = H == 2 ? 6 : PIXELS;
    unsigned near[N], far[N];
    if (H == 2)
        load_half(c, y, x / 2, near);
    else
        load_full(c, y, x, near);
#pragma unroll
    for (int v = 0; v < V; v++) {
        unsigned s[N], four = 0; /* s: samples, times 4 if two rows are mixed */
        if (V == 2 && FANCY) {
            if (H == 2)
                load_half(c, v ? y + 1 : y - 1, x / 2, far);
            else
                load_full(c, v ? y + 1 : y - 1, x, far);
            four = 1;
        }
#pragma unroll
        for (int i = 0; i < N; i++)
            s[i] = four ? near[i] * 3 + far[i] : near[i];
#pragma unroll
        for (int i = 0; i < (int)PIXELS; i++) {
            if (H == 1)
                out[v][i] = four ? (s[i] + (v ? 2 : 1)) >> 2 : s[i];
            else if (!FANCY)
                out[v][i] = s[1 + i / 2];
            else if (four) /* left, right */
                out[v][i] = i % 2 ? (s[1 + i / 2] * 3 + s[2 + i / 2] + 7) >> 4
                                  : (s[1 + i / 2] * 3 + s[i / 2] + 8) >> 4;
            else
                out[v][i] = i % 2 ? (s[1 + i / 2] * 3 + s[2 + i / 2] + 2) >> 2
                                  : (s[1 + i / 2] * 3 + s[i / 2] + 1) >> 2;
        }
    }
}

/* A pixel with 16 bits of fraction below each sample: the sample is byte 2. */
struct pixel {
    unsigned red, green, blue;
};

/* luma is also in byte 2, without a fraction. 1.402, 0.71414, 0.34414 and 1.772 are scaled by 2^16 and
 * rounded as in libjpeg. One addition subtracts 128 from chroma and rounds, for all terms at once; since luma
 * has no fraction, the results equal libjpeg's. */
LAP_DEVICE pixel to_rgb(unsigned luma, unsigned cb, unsigned cr)
{
    constexpr int RED = 91881, GREEN_R = 46802, GREEN_B = 22554, BLUE = 116130, HALF = 1 << 15,
                  MOST = 0xFFFFFF;
    const int y = (int)luma, b = (int)cb, r = (int)cr;
    return {(unsigned)__viaddmin_s32_relu(y + RED * r, HALF - 128 * RED, MOST),
        (unsigned)__viaddmin_s32_relu(y - GREEN_B * b - GREEN_R * r, HALF + 128 * (GREEN_B + GREEN_R), MOST),
        (unsigned)__viaddmin_s32_relu(y + BLUE * b, HALF - 128 * BLUE, MOST)};
}

/* Stores COUNT words, or fewer bytes at the end of the row. */
template <unsigned COUNT>
LAP_DEVICE void store(uint8_t *to, const unsigned words[COUNT], int bytes)
{
    if (bytes >= (int)COUNT * 4) {
#pragma unroll
        for (unsigned i = 0; i < COUNT / 2; i++)
            reinterpret_cast<uint2 *>(to)[i] = make_uint2(words[2 * i], words[2 * i + 1]);
        return;
    }
#pragma unroll
    for (int i = 0; i < (int)COUNT * 4; i++)
        if (i < bytes)
            to[i] = (uint8_t)byte_of(words[i / 4], i % 4);
}

LAP_DEVICE bool is_odd(const lap_jpeg_control &control)
{
    return control.odd[LAP_JPEG_AT_BYTES] | control.odd[LAP_JPEG_AT_BLOCKS] | control.odd[LAP_JPEG_AT_PIXELS];
}

LAP_DEVICE uint2 load_luma(const lap_jpeg_component &c, int x, int y)
{
    return *reinterpret_cast<const uint2 *>(c.plane + (size_t)y * c.stride + x);
}

/* H, V: luma samples per chroma sample, across and down. Skips pictures of the batch that need another
 * kernel. nvcc 13.5 allows 1x2 too few registers on compute capability 10.0 and spills, unless it is told
 * that four blocks per multiprocessor suffice. */
template <int H, int V, bool FANCY, typename PHOTOS>
static __global__ void __launch_bounds__(ACROSS *DOWN, H < V ? 4 : 0)
    colour_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.z);
    const int x = (int)((blockIdx.x * ACROSS + threadIdx.x) * PIXELS);
    const int y = (int)(blockIdx.y * DOWN + threadIdx.y) * V;
    if (job.way != lap_jpeg_way<H, V, FANCY> || is_odd(job.tables->control) || x >= job.width ||
        y >= job.height)
        return;
    unsigned cb[V][PIXELS], cr[V][PIXELS];
    upsample<H, V, FANCY>(job.component[1], x, y / V, cb);
    upsample<H, V, FANCY>(job.component[2], x, y / V, cr);
#pragma unroll
    for (int v = 0; v < V; v++) {
        if (y + v >= job.height)
            break;
        const uint2 luma = load_luma(job.component[0], x, y + v);
        pixel p[PIXELS];
        unsigned words[6];
#pragma unroll
        for (int i = 0; i < (int)PIXELS; i++)
            p[i] = to_rgb(__byte_perm(i < 4 ? luma.x : luma.y, 0, 0x4044 | (i % 4) << 8), cb[v][i], cr[v][i]);
#pragma unroll
        for (int i = 0; i < (int)PIXELS; i += 4) {
            unsigned *to = words + i / 4 * 3;
            to[0] = lap_jpeg_four<2>(p[i].red, p[i].green, p[i].blue, p[i + 1].red);
            to[1] = lap_jpeg_four<2>(p[i + 1].green, p[i + 1].blue, p[i + 2].red, p[i + 2].green);
            to[2] = lap_jpeg_four<2>(p[i + 2].blue, p[i + 3].red, p[i + 3].green, p[i + 3].blue);
        }
        store<6>(job.pixels + (y + v) * job.pixel_stride + 3 * x, words, (job.width - x) * 3);
    }
}

template <typename PHOTOS>
static __global__ void __launch_bounds__(ACROSS *DOWN) gray_kernel(const __grid_constant__ PHOTOS photos)
{
    const lap_jpeg_job &job = lap_jpeg_photo(photos, blockIdx.z);
    const int x = (int)((blockIdx.x * ACROSS + threadIdx.x) * PIXELS);
    const int y = (int)(blockIdx.y * DOWN + threadIdx.y);
    if (job.way != LAP_JPEG_GRAY || is_odd(job.tables->control) || x >= job.width || y >= job.height)
        return;
    const uint2 luma = load_luma(job.component[0], x, y);
    const unsigned words[2] = {luma.x, luma.y};
    store<2>(job.pixels + y * job.pixel_stride + x, words, job.width - x);
}

/* Launches a kernel for the pictures that need it, if there are any. V: rows of pixels per thread. */
static lap_code run_way(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run, unsigned way, unsigned v,
    void (*one)(lap_jpeg_job_one), void (*many)(lap_jpeg_job_many))
{
    lap_launch launch = lap_jpeg_launch(jobs, run, 1, 1);
    const unsigned width =
        lap_jpeg_most(jobs, [=](const lap_jpeg_job &job) { return job.way == way ? job.width : 0; });
    const unsigned height =
        lap_jpeg_most(jobs, [=](const lap_jpeg_job &job) { return job.way == way ? job.height : 0; });
    launch.block = dim3(ACROSS, DOWN);
    launch.grid = dim3(lap_blocks(width, ACROSS * PIXELS), lap_blocks(height, DOWN * v), jobs.count);
    return width > 0 ? LAP_JPEG_LAUNCH(launch, jobs, one, many) : LAP_OK;
}

template <int H, int V, bool FANCY>
static lap_code run_colour(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    return run_way(jobs, run, lap_jpeg_way<H, V, FANCY>, V, colour_kernel<H, V, FANCY, lap_jpeg_job_one>,
        colour_kernel<H, V, FANCY, lap_jpeg_job_many>);
}

static lap_code run_gray(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    return run_way(
        jobs, run, LAP_JPEG_GRAY, 1, gray_kernel<lap_jpeg_job_one>, gray_kernel<lap_jpeg_job_many>);
}

lap_code lap_jpeg_run_colour(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run)
{
    typedef lap_code one(const lap_jpeg_jobs &jobs, const lap_jpeg_run &run);
    static one *const ways[] = {run_gray, run_colour<1, 1, true>, run_colour<1, 2, true>,
        run_colour<2, 1, true>, run_colour<2, 1, false>, run_colour<2, 2, true>, run_colour<2, 2, false>};
    lap_code code = LAP_OK;
    for (unsigned i = 0; i < sizeof ways / sizeof *ways && !code; i++)
        code = ways[i](jobs, run);
    return code;
}
