/* Compares the judge's counts of the ladders' kernels with those of the H200's profiler
 * (docs/profile/gpu-counters.json). The kernels run on smaller images, whose blocks are those of the
 * large one; counts are scaled up by the number of pixels or values. Binding rungs must agree within 5
 * percent, the others are printed. */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "cuda/device/device_rungs.h"
#include "judge.h"

namespace
{

constexpr double TOLERANCE = 0.05, PIXELS = 4992.0 * 3744, VALUES = 1e8, ORDER = 16000;
int tests, failures;

struct counter {
    const char *name;
    judge::what of;
    double judge::counts::*part;
};
const counter counters[] = {{"load_requests", judge::what::LOADS, &judge::counts::requests},
    {"load_sectors", judge::what::LOADS, &judge::counts::sectors},
    {"store_requests", judge::what::STORES, &judge::counts::requests},
    {"store_sectors", judge::what::STORES, &judge::counts::sectors},
    {"shared_loads", judge::what::SHARED_LOADS, &judge::counts::requests},
    {"shared_waves", judge::what::SHARED_LOADS, &judge::counts::wavefronts},
    {"shared_stores", judge::what::SHARED_STORES, &judge::counts::requests}};

/* Loads of the source that nvcc merges into one: docs/profile/sass.json has the instruction once. */
struct merged {
    const char *instruction;
    double values;        /* that a block adds */
    double loads, passes; /* that a block saves */
};
/* Both values of the first step, side by side: two warps load once instead of twice, by halves and without
 * conflicts, so that each takes 2 passes instead of 4. */
const merged FIRST_STEP = {"LDS.64", 128, 2, 4};
/* One lane adds the sums of four warps. */
const merged FOUR_WARPS = {"LDS.128", 256, 3, 3};

struct named {
    const char *name;
    bool binding; /* must agree */
    const merged *wide = nullptr;
};

struct scales {
    double loads, stores;
};

/* Returns by how much nvcc's wider loads reduce a counter. */
double saved(const named &rung, const char *counter)
{
    if (!rung.wide)
        return 0;
    const std::string kernel = "reduce " + std::string(rung.name);
    if (judge::kept_instructions(kernel.c_str(), rung.wide->instruction) != 1)
        return 0;
    const double blocks = VALUES / rung.wide->values;
    return blocks * (!strcmp(counter, "shared_loads")      ? rung.wide->loads
                        : !strcmp(counter, "shared_waves") ? rung.wide->passes
                                                           : 0);
}

/* What the profiler counted. Of passes it counts those of other traffic through L1, too, in copy-shared 1.17
 * a load where no bank is asked twice; so those that the addresses need are taken where they were counted. */
double kept_counter(const char *section, const char *rung, const counter &c)
{
    const bool passes = !strcmp(c.name, "shared_waves");
    const double needed = passes ? judge::kept_passes(section, rung) : -1;
    return needed >= 0 ? needed : judge::kept(section, rung, c.name);
}

void compare(const char *section, const named &rung, const scales &scale)
{
    bool agrees = true;
    printf("# %s, %s:", section, rung.name);
    for (const counter &c : counters) {
        const double by = strncmp(c.name, "store", 5) ? scale.loads : scale.stores;
        const double less = saved(rung, c.name);
        const double ours = judge::total(c.of).*c.part * by - less,
                     kept = kept_counter(section, rung.name, c);
        if (ours == 0 && kept <= 0)
            continue;
        const double off = kept > 0 ? ours / kept - 1 : 1;
        printf(" %s %.0f/%.0f %+.1f%%", c.name, ours, kept, 100 * off);
        if (less > 0)
            printf(" (%.0f fewer by %s)", less, rung.wide->instruction);
        agrees = agrees && fabs(off) <= TOLERANCE;
    }
    printf("\n");
    if (rung.binding) {
        failures += !agrees;
        printf("%s %d - %s, %s: counts as the profiler's\n", agrees ? "ok" : "not ok", ++tests, section,
            rung.name);
    }
}

void run(const std::function<lap_code(const lap_exec *)> &rung)
{
    lap_error err = {};
    lap_exec exec = {};
    exec.threads = 1;
    exec.err = &err;
    judge::begin_counts("");
    judge::only_count();
    if (rung(&exec) != LAP_OK) {
        printf("Bail out! %s\n", err.message);
        exit(1);
    }
    cudaDeviceSynchronize();
}

template <typename F>
struct rung : named {
    F *run;
};

const rung<lap_filter_fn> filters[] = {{{"cuda-global", true}, lap_filter_cuda_global},
    {{"cuda-shared2", true}, lap_filter_cuda_shared2}, {{"cuda-shared3", true}, lap_filter_cuda_shared3},
    {{"cuda-shared4-conflict", true}, lap_filter_cuda_shared4_conflict},
    {{"cuda-shared4-pad", true}, lap_filter_cuda_shared4_pad},
    {{"cuda-shared4-wide", true}, lap_filter_cuda_shared4_wide},
    {{"cuda-pixels", true}, lap_filter_cuda_pixels}, {{"cuda-words", true}, lap_filter_cuda_words},
    {{"cuda-box-sum", true}, lap_filter_cuda_box_sum}, {{"cuda-slide", true}, lap_filter_cuda_slide},
    {{"cuda-pairs", true}, lap_filter_cuda_pairs}, {{"cuda-shuffle", true}, lap_filter_cuda_shuffle},
    {{"cuda-fast", true}, lap_filter_cuda_fast}};
const rung<lap_transpose_fn> transposes[] = {{{"cuda-naive", true}, lap_transpose_cuda_naive},
    {{"cuda-naive-write", true}, lap_transpose_cuda_naive_write},
    {{"cuda-shared", true}, lap_transpose_cuda_shared},
    {{"cuda-padded16", true}, lap_transpose_cuda_padded16},
    {{"cuda-shared32", true}, lap_transpose_cuda_shared32},
    {{"cuda-padded", true}, lap_transpose_cuda_padded},
    {{"cuda-padded-rows", true}, lap_transpose_cuda_padded_rows},
    {{"cuda-fast", true}, lap_transpose_cuda_fast}};
const rung<lap_reduce_fn> reductions[] = {{{"cuda-global", true}, lap_reduce_cuda_global},
    {{"cuda-divergent", true}, lap_reduce_cuda_divergent},
    {{"cuda-interleaved", true, &FIRST_STEP}, lap_reduce_cuda_interleaved},
    {{"cuda-shared", true}, lap_reduce_cuda_shared}, {{"cuda-dynamic", true}, lap_reduce_cuda_dynamic},
    {{"cuda-first-add", true}, lap_reduce_cuda_first_add},
    {{"cuda-shuffle", true, &FOUR_WARPS}, lap_reduce_cuda_shuffle}};
const rung<lap_matvec_fn> products[] = {{{"cuda-simple", true}, lap_matvec_cuda_simple},
    {{"cuda-strided", true}, lap_matvec_cuda_strided}, {{"cuda-tile-x", true}, lap_matvec_cuda_tile_x},
    {{"cuda-tile-ax", true}, lap_matvec_cuda_tile_ax}, {{"cuda-tile-pad", true}, lap_matvec_cuda_tile_pad}};

/* Rows begin at multiples of 128 bytes, and so they do on the large image. */
lap_view view(unsigned char *base, size_t pitch, int width, int height, int channels)
{
    return {base, (ptrdiff_t)pitch, width, height, channels, 2, 0};
}

void filter_counts()
{
    constexpr int W = 640, H = 64;
    const judge::image p = judge::picture(W, H, 3, 1);
    unsigned char *in = judge::given("in", p.bytes), *out = judge::given("out", p.bytes);
    const lap_view from = view(in + p.origin, p.pitch, W, H, 3), to = view(out + p.origin, p.pitch, W, H, 3);
    const lap_params params = lap_params_default();
    for (const auto &f : filters) {
        run([&](const lap_exec *exec) { return f.run(&from, &to, &params, exec); });
        compare("filter 4992 3744 3", f, {PIXELS / (W * H), PIXELS / (W * H)});
    }
}

void transpose_counts(int bytes)
{
    constexpr int W = 256, H = 128;
    std::vector<unsigned char> pixels((size_t)W * H * bytes);
    unsigned char *in = judge::given("in", pixels), *out = judge::given("out", pixels);
    const lap_view from = view(in, (size_t)W * bytes, W, H, bytes),
                   to = view(out, (size_t)H * bytes, H, W, bytes);
    const std::string section = "transpose 4992 3744 " + std::to_string(bytes);
    for (const auto &t : transposes) {
        run([&](const lap_exec *exec) { return t.run(&from, &to, exec); });
        compare(section.c_str(), t, {PIXELS / (W * H), PIXELS / (W * H)});
    }
}

void reduce_counts()
{
    constexpr size_t N = 128 * 128;
    const std::vector<float> values(N, 1);
    const lap_array array = {judge::given("in", values), N, false, 0};
    for (const auto &r : reductions) {
        double sum;
        run([&](const lap_exec *exec) { return r.run(&array, &sum, exec); });
        compare("reduce 100000000 4", r, {VALUES / N, VALUES / N});
    }
}

void product_counts()
{
    /* All rows: with fewer, rows that are 513 apart modulo their number would be neighbours. */
    constexpr size_t ROWS = (size_t)ORDER, COLUMNS = 32;
    const std::vector<float> matrix(ROWS * COLUMNS, 1), vector(COLUMNS, 1), result(ROWS);
    const lap_gemv g = {judge::given("a", matrix), COLUMNS, ROWS, COLUMNS, judge::given("x", vector),
        judge::given("y", result), 0};
    for (const auto &m : products) {
        run([&](const lap_exec *exec) { return m.run(&g, exec); });
        compare("matvec 16000", m, {ORDER * ORDER / (ROWS * COLUMNS), ORDER / ROWS});
    }
}

} // namespace

int main()
{
    judge::begin(0, "none");
    filter_counts();
    transpose_counts(4);
    transpose_counts(8);
    reduce_counts();
    product_counts();
    printf("1..%d\n", tests);
    return failures > 0;
}
