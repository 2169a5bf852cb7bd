/* controls: kernels that differ from a rung, or from each other, in one thing only, to test the reason
 * for a difference in speed.
 *
 *   controls                       compares the results of all on small images; TAP
 *   controls time W H RUNS         microseconds of each, beside the rungs that they belong to, as JSON
 *   controls profile W H           runs each once, marked as in profile_run.c, for a profiler
 *
 * Groups: filter (what a step with several ideas consists of), tall (the same on eight times the rows, for
 * what depends on the number of blocks), transpose (elements per thread), stride (the lecture's vector),
 * blocks (empty ones), branches (lanes of a warp, or whole warps, on several ways). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device/rung.cuh"
#include "cuda/filter/sliding.cuh"
#include "cuda/filter/strip.cuh"
#include "cuda/filter/tile.cuh"
#include "cuda/filter/words.cuh"
#include "cuda/transpose/tile.cuh"

/* The rungs' own kernels, each file with its constants in a namespace; their entries get other names, since
 * the library has them. */
#define lap_filter_cuda_words lap_control_words
#include "cuda/filter/filter_6c_words.cu"
#undef lap_filter_cuda_words
#define lap_filter_cuda_box_sum lap_control_box_sum
#include "cuda/filter/filter_6d_box_sum.cu"
#undef lap_filter_cuda_box_sum
#define lap_filter_cuda_pairs lap_control_pairs
#include "cuda/filter/filter_6f_pairs.cu"
#undef lap_filter_cuda_pairs
namespace shuffle
{
#define lap_filter_cuda_shuffle lap_control_shuffle
#include "cuda/filter/filter_6g_shuffle.cu"
#undef lap_filter_cuda_shuffle
} // namespace shuffle
namespace fast
{
#define lap_filter_cuda_fast lap_control_fast
#define lap_filter_cuda_fast_many lap_control_fast_many
#include "cuda/filter/filter_7_fast.cu"
#undef lap_filter_cuda_fast
#undef lap_filter_cuda_fast_many
} // namespace fast

typedef lap_code control_fn(const lap_view *in, const lap_view *out, const lap_exec *exec);
struct control {
    const char *group, *name;
    control_fn *run;
};

static lap_error err;

static void need(lap_code code)
{
    if (code == LAP_OK)
        return;
    printf("Bail out! %s\n", err.message);
    exit(1);
}

static lap_exec exec_on(void *stream, lap_error *error)
{
    lap_exec exec = {};
    exec.stream = stream;
    exec.err = error;
    return exec;
}

/* ---- filter -------------------------------------------------------------------------------------------- */

constexpr int C = 3;

template <lap_filter_fn *RUNG>
static lap_code rung(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_params params = lap_params_default();
    return RUNG(in, out, &params, exec);
}

static lap_weights<float> weights()
{
    lap_weights<float> w = {};
    for (float &h : w.h)
        h = -1;
    w.h[12] = 24;
    return w;
}

static lap_finish clamp()
{
    const lap_params params = lap_params_default();
    return lap_finish_of(&params);
}

/* cuda-pixels without its tile: four pixels per thread, one byte per load, directly from global
 * memory. */
static __global__ void __launch_bounds__(256) untiled_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_geometry g,
    const __grid_constant__ lap_weights<float> w, const __grid_constant__ lap_finish f)
{
    constexpr int DEEP = 4;
    const int x = (int)(blockIdx.x * 32 + threadIdx.x), y = (int)(blockIdx.y * 8 + threadIdx.y) * DEEP;
    if (x >= g.width)
        return;
    float sum[DEEP][C] = {};
#pragma unroll
    for (int row = 0; row < DEEP + 2 * LAP_APRON; row++) {
        const uint8_t *p = in + min(y + row - LAP_APRON, g.height + 1) * g.in_stride + (x - LAP_APRON) * C;
#pragma unroll
        for (int i = 0; i < 5 * C; i++) {
            const float sample = (float)p[i];
#pragma unroll
            for (int k = 0; k < DEEP; k++)
                if (row >= k && row - k < 5)
                    sum[k][i % C] = lap_mad(w.h[5 * (row - k) + i / C], sample, sum[k][i % C]);
        }
    }
#pragma unroll
    for (int k = 0; k < DEEP; k++)
        if (y + k < g.height)
            lap_store_pixel<C>(out + (y + k) * g.out_stride + (ptrdiff_t)x * C, sum[k], f);
}

static lap_code untiled(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_params params = lap_params_default();
    return lap_filter_launch("untiled", untiled_kernel, 32, 8, in, out, &params, weights(), exec, 4);
}

/* cuda-words with the processor's conversion of each byte instead of a permutation and an addition. */
struct converted_products : products<C, float> {
    LAP_MEMBER void enter(const unsigned (&words)[LAP_WORDS<C>], int k)
    {
        float samples[4 * LAP_WORDS<C>];
#pragma unroll
        for (int i = 0; i < 4 * LAP_WORDS<C>; i++)
            samples[i] = (float)lap_byte_of(words[i / 4], i % 4);
        add(samples, k);
    }
};

/* cuda-box-sum in floats. */
struct float_row_sums {
    float row[5][4], centre[5][4];

    LAP_MEMBER void enter(const unsigned (&words)[LAP_WORDS<C>], int k)
    {
        float samples[4 * LAP_WORDS<C>];
#pragma unroll
        for (int i = 0; i < 4 * LAP_WORDS<C>; i++)
            samples[i] = byte_to_float(words[i / 4], i % 4);
#pragma unroll
        for (int b = 0; b < 4; b++) {
            const int at = LAP_OWN<C> + b;
            row[k][b] =
                samples[at - 2 * C] + samples[at - C] + samples[at] + samples[at + C] + samples[at + 2 * C];
            centre[k][b] = samples[at];
        }
    }

    LAP_MEMBER unsigned result(int k, const lap_finish &f) const
    {
        unsigned word = 0;
#pragma unroll
        for (int b = 0; b < 4; b++) {
            const float box = row[0][b] + row[1][b] + row[2][b] + row[3][b] + row[4][b];
            word |= lap_finish_sample(25 * centre[(k + 3) % 5][b] - box, f) << (8 * b);
        }
        return word;
    }
};

enum walker { PRODUCTS, CONVERTED, INTEGERS, FLOATS, PAIRS };

template <walker W>
static __global__ void __launch_bounds__(LAP_WALK_THREADS) walker_kernel(const uint8_t *__restrict__ in,
    uint8_t *__restrict__ out, const __grid_constant__ lap_walk g,
    const __grid_constant__ lap_weights<float> w, const __grid_constant__ lap_finish f)
{
    if constexpr (W == PRODUCTS)
        lap_walk_down<C>(products<C, float>{w, {}}, in, out, g, f);
    else if constexpr (W == CONVERTED)
        lap_walk_down<C>(converted_products{{w, {}}}, in, out, g, f);
    else if constexpr (W == INTEGERS)
        lap_walk_down<C>(row_sums<C>{}, in, out, g, f);
    else if constexpr (W == FLOATS)
        lap_walk_down<C>(float_row_sums{}, in, out, g, f);
    else
        lap_walk_down<C>(pair_sums<C, LAP_LAST_CLAMP>{}, in, out, g, f);
}

template <walker W, int ROWS>
static lap_code walk(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_walk g = {
        in->width * C, (in->width + LAP_APRON) * C, in->height, ROWS, in->stride, out->stride};
    const lap_launch launch = {in->place,
        dim3((unsigned)((g.width_bytes + 4 * LAP_WALK_THREADS - 1) / (4 * LAP_WALK_THREADS)),
            (unsigned)((g.height + ROWS - 1) / ROWS)),
        dim3(LAP_WALK_THREADS), 0, exec->stream, exec->err};
    return LAP_LAUNCH(launch, walker_kernel<W>, in->base, out->base, g, weights(), clamp());
}

template <int ROWS>
static lap_code shuffled(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_strips g = lap_strips_of(in, out);
    const long long stacks = (in->height + shuffle::WARPS * ROWS - 1) / (shuffle::WARPS * ROWS);
    const lap_launch launch = {
        in->place, dim3((unsigned)(g.strips * stacks)), dim3(shuffle::THREADS), 0, exec->stream, exec->err};
    return LAP_LAUNCH(
        launch, (shuffle::shuffle_kernel<C, LAP_LAST_CLAMP, ROWS>), in->base, out->base, g, clamp());
}

/* All rows are loaded ahead, but by loads that the compiler may move. */
struct plain_load {
    LAP_MEMBER static uint4 from(const uint8_t *p)
    {
        return __ldg(reinterpret_cast<const uint4 *>(p));
    }
};

/* All rows are loaded ahead, in the order of the source, without the hint. */
struct load_without_hint {
    LAP_MEMBER static uint4 from(const uint8_t *p)
    {
#ifdef __CUDA_ARCH__
        uint4 v;
        asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "l"(p));
        return v;
#else
        return __ldg(reinterpret_cast<const uint4 *>(p));
#endif
    }
};

template <int ROWS, typename Load>
static lap_code ahead(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_params params = lap_params_default();
    return fast::launch_fast<C, LAP_LAST_CLAMP, ROWS, Load>(in, out, &params, exec);
}

/* ---- transpose: a tile of 32x32 in rows of 33, with fewer and fewer threads --------------------------- */

template <int ROWS>
static lap_code turned(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return lap_transpose_launch(
        "turned", lap_tile_kernel<uint32_t, 32, 33, ROWS>, 32, dim3(32, ROWS), in, out, exec);
}

/* ---- stride: the lecture's copy of a vector, neighbouring threads STEP elements apart ------------------ */

static __global__ void stride_kernel(
    const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned n, unsigned step)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned at = (unsigned)((unsigned long long)i * step % n);
    if (i < n)
        out[at] = in[at];
}

/* Copies each element once: no step has a factor in common with the number of elements. */
template <unsigned STEP>
static lap_code strided(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const unsigned n = (unsigned)in->width;
    return LAP_LAUNCH(lap_launch_of(in->place, lap_blocks(n, 256), 256, 0, exec), stride_kernel,
        (const unsigned *)in->base, (unsigned *)out->base, n, STEP);
}

/* ---- blocks: nothing but their start and their end ----------------------------------------------------- */

static __global__ void empty_kernel(unsigned *out)
{
    if (out == NULL && blockIdx.x == ~0u)
        *out = 0;
}

template <unsigned THREADS>
static lap_code empty(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return LAP_LAUNCH(
        lap_launch_of(in->place, lap_blocks((size_t)in->width * in->height, 24), THREADS, 0, exec),
        empty_kernel, (unsigned *)out->base);
}

/* ---- branches ----------------------------------------------------------------------------------------- */

constexpr int STEPS = 256;

/* One of 32 branches that no compiler can merge. */
template <unsigned WAY>
LAP_DEVICE unsigned way(unsigned x)
{
#pragma unroll 4
    for (int i = 0; i < STEPS; i++)
        x = (x ^ (x >> (WAY % 13 + 1))) * (2 * WAY + 3) + WAY;
    return x;
}

template <unsigned WAY>
LAP_DEVICE unsigned choose(unsigned which, unsigned x)
{
    if (which == WAY)
        return way<WAY>(x);
    if constexpr (WAY > 0)
        return choose<WAY - 1>(which, x);
    return x;
}

static __global__ void __launch_bounds__(1024)
    branch_kernel(unsigned *out, unsigned n, unsigned ways, bool by_lane)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned which = (by_lane ? threadIdx.x % LAP_WARP : threadIdx.x / LAP_WARP) % ways;
    if (i < n)
        out[i] = choose<31>(which, i);
}

/* Blocks of 32 warps, so that both forms have the same number of threads in each branch. */
template <unsigned WAYS, bool BY_LANE>
static lap_code branched(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const unsigned n = (unsigned)in->width;
    return LAP_LAUNCH(lap_launch_of(in->place, lap_blocks(n, 1024), 1024, 0, exec), branch_kernel,
        (unsigned *)out->base, n, WAYS, BY_LANE);
}

static unsigned way_of(unsigned which, unsigned x)
{
    for (int i = 0; i < STEPS; i++)
        x = (x ^ (x >> (which % 13 + 1))) * (2 * which + 3) + which;
    return x;
}

/* ---- all of them: the first of a group is what the others are compared with --------------------------- */

static const control controls[] = {
    {"filter", "cuda-pixels", rung<lap_filter_cuda_pixels>},
    {"filter", "cuda-pixels without its tile", untiled},
    {"filter", "words, 4 rows a thread, converted", walk<CONVERTED, 4>},
    {"filter", "words, 64 rows a thread, converted", walk<CONVERTED, 64>},
    {"filter", "words, 64 rows a thread (cuda-words)", walk<PRODUCTS, 64>},
    {"filter", "box-sum in floats", walk<FLOATS, 64>},
    {"filter", "box-sum in integers (cuda-box-sum)", walk<INTEGERS, 64>},
    {"filter", "pairs, 64 rows a thread (cuda-pairs)", walk<PAIRS, 64>},
    {"filter", "pairs, 16 rows a thread", walk<PAIRS, 16>},
    {"filter", "shuffle, 64 rows a warp", shuffled<64>},
    {"filter", "shuffle, 16 rows a warp (cuda-shuffle)", shuffled<16>},
    {"filter", "shuffle, 8 rows a warp", shuffled<8>},
    {"filter", "ahead, 8 rows, as the compiler orders", ahead<8, plain_load>},
    {"filter", "ahead, 8 rows, in order", ahead<8, load_without_hint>},
    {"filter", "ahead, 8 rows, in order, hint (cuda-fast)", ahead<8, fast::load_with_hint>},
    {"filter", "ahead, 4 rows, in order, hint", ahead<4, fast::load_with_hint>},
    {"tall", "cuda-pixels", rung<lap_filter_cuda_pixels>},
    {"tall", "cuda-words", rung<lap_filter_cuda_words>},
    {"tall", "cuda-box-sum", rung<lap_filter_cuda_box_sum>},
    {"tall", "cuda-slide", rung<lap_filter_cuda_slide>},
    {"tall", "cuda-pairs", rung<lap_filter_cuda_pairs>},
    {"tall", "cuda-shuffle", rung<lap_filter_cuda_shuffle>},
    {"tall", "cuda-fast", rung<lap_filter_cuda_fast>},
    {"transpose", "1 element a thread (cuda-padded)", turned<32>},
    {"transpose", "2 elements a thread", turned<16>},
    {"transpose", "4 elements a thread (cuda-padded-rows)", turned<8>},
    {"transpose", "8 elements a thread", turned<4>},
    {"stride", "step 1", strided<1>},
    {"stride", "step 3", strided<3>},
    {"stride", "step 9", strided<9>},
    {"stride", "step 33", strided<33>},
    {"stride", "step 513", strided<513>},
    {"blocks", "32 threads", empty<32>},
    {"blocks", "128 threads", empty<128>},
    {"blocks", "256 threads", empty<256>},
    {"blocks", "1024 threads", empty<1024>},
    {"branches", "1 way", branched<1, true>},
    {"branches", "2 ways, by lane", branched<2, true>},
    {"branches", "2 ways, by warp", branched<2, false>},
    {"branches", "8 ways, by lane", branched<8, true>},
    {"branches", "8 ways, by warp", branched<8, false>},
    {"branches", "32 ways, by lane", branched<32, true>},
    {"branches", "32 ways, by warp", branched<32, false>},
};
constexpr int COUNT = sizeof controls / sizeof *controls, TALL = 8, SETS = 64;

/* ---- views --------------------------------------------------------------------------------------------- */

struct sizes {
    int width, height, channels, apron;
    bool turns; /* the result has height and width changed over */
};

static sizes sizes_of(const char *group, int width, int height)
{
    if (strcmp(group, "filter") == 0)
        return {width, height, C, LAP_APRON, false};
    if (strcmp(group, "tall") == 0)
        return {width, TALL * height, C, LAP_APRON, false};
    if (strcmp(group, "transpose") == 0)
        return {width, height, 4, 0, true};
    if (strcmp(group, "blocks") == 0)
        return {width, height, 1, 0, false};
    int n = width * height; /* words in one row; 3, 11 and 19 are the prime factors of the steps */
    while (n % 3 == 0 || n % 11 == 0 || n % 19 == 0)
        n--;
    return {n, 1, 4, 0, false};
}

/* In host memory, which the caller frees. */
static lap_view host_view(int width, int height, int channels)
{
    lap_view view = {};
    view.stride = (ptrdiff_t)width * channels;
    view.width = width;
    view.height = height;
    view.channels = channels;
    view.place = LAP_ON_HOST;
    view.base = (uint8_t *)calloc((size_t)height, (size_t)view.stride);
    if (!view.base)
        need(lap_fail(&err, LAP_E_MEMORY, "out of memory"));
    return view;
}

static lap_view random_view(const sizes &s)
{
    lap_view host = host_view(s.width, s.height, s.channels), view = {};
    uint64_t noise = 1;
    for (size_t i = 0; i < (size_t)s.height * host.stride; i++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        host.base[i] = (uint8_t)(noise >> 56);
    }
    need(lap_cuda_view_create(0, s.width, s.height, s.channels, s.apron, &view, &err));
    need(lap_cuda_upload(&host, &view, NULL, &err));
    need(lap_cuda_sync(0, NULL, &err));
    free(host.base);
    return view;
}

static lap_view result_view(const sizes &s)
{
    lap_view view = {};
    need(lap_cuda_view_create(
        0, s.turns ? s.height : s.width, s.turns ? s.width : s.height, s.channels, 0, &view, &err));
    return view;
}

/* ---- check --------------------------------------------------------------------------------------------- */

static lap_view host_copy(const lap_view *view)
{
    const lap_view host = host_view(view->width, view->height, view->channels);
    need(lap_cuda_download(view, &host, NULL, &err));
    need(lap_cuda_sync(view->place, NULL, &err));
    return host;
}

static bool same(const lap_view *a, const lap_view *b)
{
    for (int y = 0; y < a->height; y++)
        if (memcmp(a->base + y * a->stride, b->base + y * b->stride, (size_t)a->width * a->channels) != 0)
            return false;
    return true;
}

/* The expected result of a group's controls: for transpose and filter that of the simplest rung, for
 * copies the source. */
static lap_code expected(const char *group, const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    if (strcmp(group, "filter") == 0 || strcmp(group, "tall") == 0)
        return rung<lap_filter_cuda_global>(in, out, exec);
    if (strcmp(group, "transpose") == 0)
        return lap_transpose_cuda_naive(in, out, exec);
    return strcmp(group, "stride") == 0 ? lap_cuda_view_copy(in, out, NULL, exec->err) : LAP_OK;
}

/* What branch_kernel computes; the control's name says how many branches there are and which threads take
 * which. */
static void expect_ways(const char *name, const lap_view *out)
{
    const unsigned ways = (unsigned)atoi(name);
    const bool by_warp = strstr(name, "by warp");
    for (unsigned i = 0; i < (unsigned)out->width; i++)
        ((unsigned *)out->base)[i] = way_of((by_warp ? i % 1024 / LAP_WARP : i % LAP_WARP) % ways, i);
}

static int check(int width, int height)
{
    int failures = 0;
    for (int i = 0; i < COUNT; i++) {
        const lap_exec exec = exec_on(NULL, &err);
        const sizes s = sizes_of(controls[i].group, width, height);
        lap_view in = random_view(s), out = result_view(s), right = result_view(s);
        need(expected(controls[i].group, &in, &right, &exec));
        need(controls[i].run(&in, &out, &exec));
        const lap_view found = host_copy(&out), wanted = host_copy(&right);
        if (strcmp(controls[i].group, "branches") == 0)
            expect_ways(controls[i].name, &wanted);
        const bool ok = same(&found, &wanted);
        printf("%s %d - control %s: %s, %d x %d\n", ok ? "ok" : "not ok", i + 1, controls[i].group,
            controls[i].name, s.width, s.height);
        failures += !ok;
        free(found.base);
        free(wanted.base);
        lap_cuda_view_destroy(&in);
        lap_cuda_view_destroy(&out);
        lap_cuda_view_destroy(&right);
    }
    printf("1..%d\n", COUNT);
    return failures > 0;
}

/* ---- time ---------------------------------------------------------------------------------------------- */

struct buffers {
    int sets;
    lap_view in[SETS], out[SETS];
};

struct timed {
    const control *what;
    const buffers *memory;
};

static lap_code turn(void *argument, int turn, void *stream, lap_error *error)
{
    const timed *job = (const timed *)argument;
    const int set = turn % job->memory->sets;
    const lap_exec exec = exec_on(stream, error);
    return job->what->run(&job->memory->in[set], &job->memory->out[set], &exec);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times one group: its controls in turn, over buffers that do not fit any cache. */
static void time_group(int first, int count, int width, int height, int runs)
{
    const sizes s = sizes_of(controls[first].group, width, height);
    const size_t bytes = 2 * (size_t)s.width * s.height * s.channels;
    buffers memory = {};
    lap_cuda_job jobs[16] = {};
    timed arguments[16] = {};
    memory.sets = lap_cuda_rotation(0, bytes);
    for (int i = 0; i < memory.sets; i++) {
        memory.out[i] = result_view(s);
        if (i == 0)
            memory.in[i] = random_view(s);
        else {
            need(lap_cuda_view_create(0, s.width, s.height, s.channels, s.apron, &memory.in[i], &err));
            need(lap_cuda_view_copy(&memory.in[0], &memory.in[i], NULL, &err));
        }
    }
    need(lap_cuda_sync(0, NULL, &err));
    for (int i = 0; i < count; i++) {
        arguments[i] = {&controls[first + i], &memory};
        jobs[i] = {turn, &arguments[i], (double *)calloc((size_t)runs, sizeof(double))};
        if (!jobs[i].ms)
            need(lap_fail(&err, LAP_E_MEMORY, "out of memory"));
    }
    need(lap_cuda_time(0, jobs, count, runs, &err));
    for (int i = 0; i < count; i++) {
        qsort(jobs[i].ms, (size_t)runs, sizeof(double), by_size);
        printf(
            "%s\n  {\"group\": \"%s\", \"name\": \"%s\", \"width\": %d, \"height\": %d, \"median_us\": %.2f, "
            "\"min_us\": %.2f}",
            first + i ? "," : "", controls[first + i].group, controls[first + i].name, s.width, s.height,
            1e3 * jobs[i].ms[runs / 2], 1e3 * jobs[i].ms[0]);
        free(jobs[i].ms);
    }
    for (int i = 0; i < memory.sets; i++) {
        lap_cuda_view_destroy(&memory.in[i]);
        lap_cuda_view_destroy(&memory.out[i]);
    }
}

static void time_all(int width, int height, int runs)
{
    lap_device_info info = {};
    need(lap_cuda_info(0, &info, &err));
    printf("{\"device\": \"%s\", \"runs\": %d, \"rows\": [", info.name, runs);
    for (int first = 0, i = 1; i <= COUNT; i++)
        if (i == COUNT || strcmp(controls[i].group, controls[first].group) != 0) {
            time_group(first, i - first, width, height, runs);
            first = i;
        }
    printf("\n]}\n");
}

/* ---- profile ------------------------------------------------------------------------------------------- */

static void profile(int width, int height)
{
    const lap_view from = result_view({1, 1, 1, 0, false}), to = result_view({1, 1, 1, 0, false});
    for (int i = 0; i < COUNT; i++) {
        const lap_exec exec = exec_on(NULL, &err);
        const sizes s = sizes_of(controls[i].group, width, height);
        lap_view in = random_view(s), out = result_view(s);
        need(lap_cuda_copy_kernel(&from, &to, &exec));
        printf("rung %s: %s\n", controls[i].group, controls[i].name);
        fflush(stdout);
        need(controls[i].run(&in, &out, &exec));
        need(lap_cuda_sync(0, NULL, &err));
        lap_cuda_view_destroy(&in);
        lap_cuda_view_destroy(&out);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "check";
    const int width = argc > 3 ? atoi(argv[2]) : 201, height = argc > 3 ? atoi(argv[3]) : 77;
    const int runs = argc > 4 ? atoi(argv[4]) : 30;
    if (argc == 1)
        return check(width, height);
    if (argc < 4 || width < 1 || height < 1 || runs < 1 ||
        (strcmp(what, "time") != 0 && strcmp(what, "profile") != 0)) {
        fprintf(stderr, "usage: controls [time WIDTH HEIGHT RUNS | profile WIDTH HEIGHT]\n");
        return 2;
    }
    if (strcmp(what, "time") == 0)
        time_all(width, height, runs);
    else
        profile(width, height);
    return 0;
}
