/* Checks what the ladders' host code does when a CUDA call fails, and on devices with less shared
 * memory. */
#include <atomic>
#include <cstdio>
#include <cstring>

#include "check.h"
#include "cuda/device/device.h"
#include "cuda/device/device_rungs.h"

extern "C" {
#include "base/border.h"
#include "base/image.h"
/* base/control.h has the name that C gives it. */
using std::atomic_int;
#include "rungs/run_rung.h"
}

namespace
{

constexpr int WIDTH = 37, HEIGHT = 11;

/* A picture, and the result of laplace5 for it. */
struct pictures {
    lap_image in = {}, expected = {}, out = {};
    lap_params params = lap_params_default();

    explicit pictures(int channels)
    {
        lap_error err;
        lap_exec exec = {};
        if (lap_image_create(&in, WIDTH, HEIGHT, channels, LAP_APRON, &err) ||
            lap_image_create(&expected, WIDTH, HEIGHT, channels, 0, &err) ||
            lap_image_create(&out, WIDTH, HEIGHT, channels, 0, &err))
            abort();
        for (int y = 0; y < HEIGHT; y++)
            for (int i = 0; i < WIDTH * channels; i++)
                in.view.base[y * in.view.stride + i] = (uint8_t)(31 * y + 7 * i + (i * y) % 13);
        lap_border_fill(&in.view, LAP_REPLICATE);
        params.range = LAP_ABS;
        if (channels != 2 &&
            lap_rung_reference(LAP_OP_FILTER)->run.filter(&in.view, &expected.view, &params, &exec))
            abort();
    }

    ~pictures()
    {
        lap_image_destroy(&in);
        lap_image_destroy(&expected);
        lap_image_destroy(&out);
    }

    bool is_right() const
    {
        bool same = true;
        for (int y = 0; y < HEIGHT; y++)
            same = same && memcmp(out.view.base + y * out.view.stride,
                               expected.view.base + y * expected.view.stride, WIDTH) == 0;
        return same;
    }
};

enum verdict { OVERLOOKED, REPORTED, DONE };

verdict verdict_of(lap_code code, bool right, const lap_error &err)
{
    if (code == LAP_OK)
        return right ? DONE : OVERLOOKED;
    return err.message[0] ? REPORTED : OVERLOOKED;
}

verdict whole_run(pictures &p)
{
    lap_error err = {};
    lap_rung rung = {};
    lap_times times = {};
    lap_resources use = {};
    use.exec.err = &err;
    use.times = &times;
    memset(p.out.memory, 0xAA, p.out.bytes);
    rung.op = LAP_OP_FILTER;
    rung.name = "cuda-global";
    rung.device = 1;
    rung.run.filter = lap_filter_cuda_global;
    const lap_code code = lap_rung_filter(&rung, &use, &p.in.view, &p.out.view, &p.params, LAP_REPLICATE);
    return verdict_of(code, p.is_right(), err);
}

struct copying { /* a job that is timed */
    void *from, *to;
    int calls;
};

lap_code copy_once(void *argument, int turn, void *stream, lap_error *err)
{
    auto *c = static_cast<copying *>(argument);
    if (turn != c->calls++)
        return LAP_E_INTERNAL; /* turns are counted */
    return lap_cuda_copy(0, c->to, c->from, 1 << 12, stream, err);
}

/* Passes if there is a time for each run, and three runs to warm up. */
verdict timing(pictures &)
{
    constexpr int RUNS = 2;
    lap_error err = {};
    double ms[2][RUNS] = {{-1, -1}, {-1, -1}};
    copying c[2] = {};
    const lap_cuda_job jobs[2] = {{copy_once, &c[0], ms[0]}, {copy_once, &c[1], ms[1]}};
    lap_code code = LAP_OK;
    for (copying &one : c) {
        code = code ? code : lap_cuda_alloc(0, 1 << 12, &one.from, &err);
        code = code ? code : lap_cuda_alloc(0, 1 << 12, &one.to, &err);
    }
    code = code ? code : lap_cuda_time(0, jobs, 2, RUNS, &err);
    bool all = c[0].calls == 3 + RUNS && c[1].calls == 3 + RUNS;
    for (auto &row : ms)
        for (double time : row)
            all = all && time >= 0;
    for (copying &one : c) {
        lap_cuda_free(0, one.from);
        lap_cuda_free(0, one.to);
    }
    return verdict_of(code, all, err);
}

/* Makes each call fail in turn, once or permanently: success is never reported without a result, and
 * nothing leaks. */
bool honest_at_every_call(const char *how, verdict (*f)(pictures &), pictures &p)
{
    for (unsigned n = 1; n < 1000; n++) {
        char settings[60];
        snprintf(settings, sizeof settings, "devices=2,fail=%u:%s", n, how);
        begin(settings, n);
        const verdict v = f(p);
        const bool all = lap_cudacpu_count("calls") < n; /* none failed */
        if (v == OVERLOOKED || lap_cudacpu_alive() || (all && v != DONE)) {
            printf("# call %u: %s\n", n, v ? "something is left behind" : "an error was overlooked");
            return false;
        }
        if (all)
            return n > 10;
    }
    return false;
}

/* Counts this picture with the rung. */
bool counted_right(const pictures &p, const char *settings)
{
    lap_error err = {};
    lap_view v = {};
    lap_exec exec = {};
    uint64_t counts[4][256] = {}, right[4][256] = {};
    begin(settings, 1);
    exec.err = &err;
    const lap_view &host = p.in.view;
    bool ok = lap_cuda_view_create(0, WIDTH, HEIGHT, host.channels, 0, &v, &err) == LAP_OK &&
              lap_cuda_upload(&host, &v, nullptr, &err) == LAP_OK &&
              lap_histogram_cuda_fast(&v, counts, &exec) == LAP_OK;
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < WIDTH * host.channels; i++)
            right[i % host.channels][host.base[y * host.stride + i]]++;
    if (!ok)
        printf("# %s\n", err.message);
    lap_cuda_view_destroy(&v);
    return ok && memcmp(counts, right, sizeof counts) == 0;
}

bool counts_with(const char *settings)
{
    bool ok = true;
    for (int channels = 1; channels <= 4; channels++)
        ok = counted_right(pictures(channels), settings) && ok;
    return ok;
}

} // namespace

void check_scaffold()
{
    pictures p(1);
    report(honest_at_every_call("2", whole_run, p),
        "a whole run: each call fails in turn, and every failure is reported");
    report(honest_at_every_call("700:sticky", whole_run, p),
        "a whole run: the device is lost at each call in turn");
    report(honest_at_every_call("2", timing, p),
        "timing: each call fails in turn, and every failure is reported");
    report(
        in_orders("devices=2", [&] { return whole_run(p) == DONE; }) == ORDERS, "a whole run in any order");
    report(in_orders("devices=2", [&] { return timing(p) == DONE; }) == ORDERS, "timing in any order");
    report(counts_with("shared=227K") && counts_with("shared=100K") && counts_with("shared=64K"),
        "cuda-fast histograms with 227, 100 and 64 KB of shared memory");
}
