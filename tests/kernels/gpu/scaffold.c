/* Checks the CUDA scaffold: devices, memory, copies, the border on the device, whole runs, timing,
 * errors. Runs on a GPU, and with the runtime of tests/kernels/cudacpu on a CPU. TAP on stdout. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/border.h"
#include "base/image.h"
#include "cuda/device/device.h"
#include "rungs/run_rung.h"

enum { MOST = 90 };

static int tests, failures;
static lap_error err;

static void report(bool ok, const char *what)
{
    printf("%s %d - scaffold%s: %s\n", ok ? "ok" : "not ok", ++tests,
#ifdef LAP_CUDACPU
        "",
#else
        " on GPU",
#endif
        what);
    if (!ok)
        printf("# %s\n", err.message);
    failures += !ok;
}

static void need(bool ok, const char *what)
{
    if (!ok) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static const lap_rung *rung_named(const char *name)
{
    const lap_rung *row;
    for (int i = 0; (row = lap_rung_row(LAP_OP_FILTER, i)); i++)
        if (strcmp(row->name, name) == 0)
            return row;
    need(false, name);
    return NULL;
}

static lap_image image_of(int width, int height, int channels, int apron)
{
    lap_image image;
    need(lap_image_create(&image, width, height, channels, apron, &err) == LAP_OK, err.message);
    memset(image.memory, 0x5A, image.bytes);
    for (int y = 0; y < height; y++)
        for (int i = 0; i < width * channels; i++)
            image.view.base[y * image.view.stride + i] = (uint8_t)(31 * y + 7 * i + (i * y) % 13);
    return image;
}

static bool same(const lap_view *a, const lap_view *b, int apron)
{
    for (int y = -apron; y < a->height + apron; y++)
        if (memcmp(a->base + y * a->stride - apron * a->channels,
                b->base + y * b->stride - apron * b->channels,
                (size_t)(a->width + 2 * apron) * (size_t)a->channels))
            return false;
    return true;
}

static void devices(void)
{
    lap_device_info info;
    const char *reason = NULL;
    report(lap_device_at(0, &info, &reason) && info.name[0] && info.memory_bytes > 0 && info.sms > 0 &&
               info.free_bytes <= info.memory_bytes,
        "device 0 has a name, memory and multiprocessors");
    printf("# %s, compute capability %d.%d, %s\n", info.name, info.cc_major, info.cc_minor, info.driver);
    report(!lap_device_at(lap_cuda_count(NULL), &info, NULL), "there is no device past the last");
    report(lap_cuda_info(-1, &info, &err) == LAP_E_BACKEND, "device -1 is refused");
}

/* Kernels read whole vectors, so padding is read as well. */
static bool view_is_clear(int width, int height, int channels)
{
    lap_view view;
    if (lap_cuda_view_create(0, width, height, channels, LAP_APRON, &view, &err) != LAP_OK)
        return false;
    const size_t bytes = (size_t)view.stride * (size_t)(height + 2 * LAP_APRON) + 128;
    uint8_t *host = malloc(bytes);
    need(host != NULL, "out of memory");
    memset(host, 1, bytes);
    bool ok =
        lap_cuda_copy(0, host, view.base - LAP_APRON * view.stride - 128, bytes, NULL, &err) == LAP_OK &&
        lap_cuda_sync(0, NULL, &err) == LAP_OK;
    for (size_t i = 0; i < bytes; i++)
        ok = ok && host[i] == 0;
    free(host);
    lap_cuda_view_destroy(&view);
    return ok;
}

static void memory(void)
{
    void *pointer = &err;
    lap_code code = lap_cuda_alloc(0, (size_t)1 << 50, &pointer, &err);
    report(code == LAP_E_MEMORY && !pointer && strstr(err.message, "wanted") && strstr(err.message, "free"),
        "out of memory says what was wanted and what is free");
    lap_view view;
    report(lap_cuda_view_create(0, 1 << 30, 1 << 30, 8, 2, &view, &err) == LAP_E_MEMORY && !view.base,
        "a view beyond memory fails, and is empty");
    lap_cuda_view_destroy(&view);
    report(lap_cuda_view_create(0, 33, 5, 3, 2, &view, &err) == LAP_OK && (uintptr_t)view.base % 128 == 0 &&
               view.stride % 128 == 0 && view.stride >= (33 + 4) * 3,
        "the interior of a view starts on 128 bytes, strides are a multiple");
    lap_cuda_view_destroy(&view);
    lap_cuda_view_destroy(&view);
    report(!view.base, "a view may be destroyed twice");
    report(view_is_clear(33, 5, 3), "a new view is cleared, aprons and padding too");
}

/* Rows with the apron of a device view, brought back as one wide view without. */
static void fetch(const lap_view *device, const lap_view *host)
{
    lap_view all = *device, to = *host;
    const int pixels = device->width + 2 * LAP_APRON;
    all.base -= LAP_APRON * all.stride + LAP_APRON * all.channels;
    to.base -= LAP_APRON * to.stride + LAP_APRON * to.channels;
    all.width = to.width = pixels;
    all.height = to.height = device->height + 2 * LAP_APRON;
    need(lap_cuda_download(&all, &to, NULL, &err) == LAP_OK && lap_cuda_sync(0, NULL, &err) == LAP_OK,
        err.message);
}

static bool border_agrees(int width, int height, int channels, lap_border border)
{
    lap_image reference = image_of(width, height, channels, LAP_APRON),
              got = image_of(width, height, channels, LAP_APRON);
    lap_view view;
    lap_border_fill(&reference.view, border);
    bool ok = lap_cuda_view_create(0, width, height, channels, LAP_APRON, &view, &err) == LAP_OK &&
              lap_cuda_upload(&got.view, &view, NULL, &err) == LAP_OK &&
              lap_cuda_border(&view, border, NULL, &err) == LAP_OK;
    if (ok)
        fetch(&view, &got.view);
    ok = ok && same(&reference.view, &got.view, LAP_APRON);
    if (!ok)
        printf("# %dx%dx%d border %d\n", width, height, channels, (int)border);
    lap_cuda_view_destroy(&view);
    lap_image_destroy(&reference);
    lap_image_destroy(&got);
    return ok;
}

static void borders(void)
{
    static const lap_border all[] = {LAP_ZERO, LAP_REPLICATE, LAP_REFLECT, LAP_REFLECT101, LAP_WRAP,
        LAP_CONSTANT, (lap_border)(LAP_CONSTANT + 200), LAP_CONSTANT_LAST};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const lap_border border = all[i];
        char what[80];
        bool ok = true;
        for (int side = 1; side < MOST && ok; side = side < 6 ? side + 1 : side * 2) {
            ok = border_agrees(side, 3, 3, border) && border_agrees(2, side, 1, border) &&
                 border_agrees(side, side, 4, border);
        }
        snprintf(what, sizeof what, "border %s as on the host", lap_border_name(border));
        report(ok, what);
    }
}

static void runs(void)
{
    const lap_params params = lap_params_default();
    const lap_rung *fast = rung_named("cuda-fast");
    lap_image in = image_of(57, 41, 3, LAP_APRON), reference = image_of(57, 41, 3, 0),
              out = image_of(57, 41, 3, 0);
    lap_times times = {0};
    const lap_exec exec = {.threads = 1};
    lap_border_fill(&in.view, LAP_REFLECT);
    need(rung_named("c")->run.filter(&in.view, &reference.view, &params, &exec) == LAP_OK, "c failed");
    const lap_resources use = {.exec.err = &err, .times = &times};
    report(lap_rung_filter(fast, &use, &in.view, &out.view, &params, LAP_REFLECT) == LAP_OK &&
               same(&reference.view, &out.view, 0) && times.upload >= 0 && times.filter >= 0 &&
               times.download >= 0,
        "host to host");
    lap_image_destroy(&in);
    lap_image_destroy(&reference);
    lap_image_destroy(&out);
}

typedef struct copies {
    void *from, *to;
    int calls, fails_at;
} copies;

static lap_code copy_one(void *argument, int turn, void *stream, lap_error *e)
{
    copies *c = argument;
    if (turn == c->fails_at)
        return lap_cuda_copy(99, c->to, c->from, 1, stream, e);
    c->calls++;
    return lap_cuda_copy(0, c->to, c->from, 1000, stream, e);
}

static void timing(void)
{
    static const uint8_t zeros[1000];
    copies one = {.fails_at = -1}, two = {.fails_at = -1};
    double ms[2][3] = {{-1, -1, -1}, {-1, -1, -1}};
    need(lap_cuda_alloc(0, 1000, &one.from, &err) == LAP_OK &&
             lap_cuda_alloc(0, 1000, &one.to, &err) == LAP_OK &&
             lap_cuda_copy(0, one.from, zeros, sizeof zeros, NULL, &err) == LAP_OK &&
             lap_cuda_sync(0, NULL, &err) == LAP_OK,
        err.message);
    two.from = one.from, two.to = one.to;
    const lap_cuda_job jobs[2] = {{copy_one, &one, ms[0]}, {copy_one, &two, ms[1]}};
    bool ok = lap_cuda_time(0, jobs, 2, 3, &err) == LAP_OK && one.calls == two.calls && one.calls > 3;
    for (int i = 0; i < 6; i++)
        ok = ok && ms[i / 3][i % 3] >= 0;
    report(ok, "timing gives a time for every run of each job, after runs to warm up");
    two.fails_at = 1;
    report(lap_cuda_time(0, jobs, 2, 3, &err) == LAP_E_DEVICE, "a job that fails ends the timing");
    report(lap_cuda_time(0, jobs, 0, 3, &err) == LAP_E_USAGE &&
               lap_cuda_time(0, jobs, 1, 0, &err) == LAP_E_USAGE,
        "no job, or no run, is refused");
    lap_cuda_free(0, one.from);
    lap_cuda_free(0, one.to);
}

/* More rows of blocks than a grid can have: 1x1 blocks on a narrow, tall image. */
static bool tall_agrees(int height)
{
    const lap_params params = lap_params_default();
    lap_image in = image_of(1, height, 1, LAP_APRON), reference = image_of(1, height, 1, 0),
              got = image_of(1, height, 1, 0);
    lap_view from = {0}, to = {0};
    const lap_exec exec = {.threads = 1, .block_x = 1, .block_y = 1, .err = &err};
    lap_border_fill(&in.view, LAP_ZERO);
    need(rung_named("c")->run.filter(&in.view, &reference.view, &params, &exec) == LAP_OK, "c failed");
    bool ok = lap_cuda_view_create(0, 1, height, 1, LAP_APRON, &from, &err) == LAP_OK &&
              lap_cuda_view_create(0, 1, height, 1, 0, &to, &err) == LAP_OK &&
              lap_cuda_upload(&in.view, &from, NULL, &err) == LAP_OK &&
              lap_cuda_border(&from, LAP_ZERO, NULL, &err) == LAP_OK &&
              rung_named("cuda-global")->run.filter(&from, &to, &params, &exec) == LAP_OK &&
              lap_cuda_download(&to, &got.view, NULL, &err) == LAP_OK &&
              lap_cuda_sync(0, NULL, &err) == LAP_OK && same(&reference.view, &got.view, 0);
    lap_cuda_view_destroy(&from);
    lap_cuda_view_destroy(&to);
    lap_image_destroy(&in);
    lap_image_destroy(&reference);
    lap_image_destroy(&got);
    return ok;
}

/* Returns whether cuda-fast fails on these views with this message. */
static bool fast_refuses(lap_view in, lap_view out, const char *words)
{
    const lap_params params = lap_params_default();
    const lap_exec exec = {.threads = 1, .err = &err};
    err.message[0] = 0;
    return rung_named("cuda-fast")->run.filter(&in, &out, &params, &exec) == LAP_E_DEVICE &&
           strstr(err.message, words);
}

/* Views that lap_cuda_view_create would not make; nothing is read or written. */
static void refusals_of_fast(void)
{
    lap_view in = {0}, out = {0};
    need(lap_cuda_view_create(0, 33, 9, 1, LAP_APRON, &in, &err) == LAP_OK &&
             lap_cuda_view_create(0, 33, 9, 1, 0, &out, &err) == LAP_OK,
        err.message);
    bool ok = true;
    for (int k = 0; k < 4 && ok; k++) {
        lap_view from = in, to = out;
        from.base += k == 0 ? 8 : 0;
        from.stride -= k == 1 ? 4 : 0;
        to.base += k == 2 ? 1 : 0;
        to.stride += k == 3 ? 8 : 0;
        ok = fast_refuses(from, to, "multiples of 16 bytes");
    }
    report(ok, "cuda-fast refuses rows that are not on 16 bytes");
    lap_view from = in, to = out;
    from.apron = 1;
    report(
        fast_refuses(from, to, "apron of 2 pixels, and this view has 1"), "cuda-fast refuses a small apron");
    from = in;
    from.width = to.width = INT_MAX / 4;
    report(fast_refuses(from, to, "too long"), "cuda-fast refuses rows that are too long");
    lap_cuda_view_destroy(&in);
    lap_cuda_view_destroy(&out);
}

static void refusals(void)
{
    const lap_params params = lap_params_default();
    lap_view two = {0}, out = {0};
    lap_exec exec = {.threads = 1, .err = &err};
    need(lap_cuda_view_create(0, 9, 9, 2, LAP_APRON, &two, &err) == LAP_OK &&
             lap_cuda_view_create(0, 9, 9, 2, 0, &out, &err) == LAP_OK,
        err.message);
    report(rung_named("cuda-fast")->run.filter(&two, &out, &params, &exec) == LAP_E_DEVICE &&
               strstr(err.message, "2 channels"),
        "2 channels are refused by name");
    two.channels = out.channels = 1;
    exec.block_x = exec.block_y = 64;
    report(rung_named("cuda-global")->run.filter(&two, &out, &params, &exec) == LAP_E_DEVICE &&
               strstr(err.message, "64x64"),
        "a block of 4096 threads is refused");
    exec.block_x = 33;
    exec.block_y = 32;
    bool ok = rung_named("cuda-global")->run.filter(&two, &out, &params, &exec) == LAP_E_DEVICE &&
              strstr(err.message, "33x32");
    exec.block_x = 1024;
    exec.block_y = 1;
    ok = ok && rung_named("cuda-global")->run.filter(&two, &out, &params, &exec) == LAP_OK &&
         lap_cuda_sync(0, NULL, &err) == LAP_OK;
    report(ok, "a block of 1056 threads is refused, one of 1024 is not");
    lap_cuda_view_destroy(&two);
    report(
        lap_cuda_border(&out, LAP_ZERO, NULL, &err) == LAP_E_INTERNAL, "a view without apron has no border");
    lap_cuda_view_destroy(&out);
    report(lap_cuda_sync(99, NULL, &err) == LAP_E_DEVICE && strstr(err.message, "cuda/device/device.cu:"),
        "an error of CUDA names call, file and line");
}

/* Tests a child of fork whose parent has used the device: 0 if every function refuses at once. */
static int refused_in_child(void)
{
    lap_view view;
    lap_device_info info;
    const char *reason = lap_cuda_unavailable();
    alarm(20); /* which ends the child if a call hangs */
    if (!reason || !strstr(reason, "fork") || lap_cuda_count(&reason) != 0)
        return 1;
    if (lap_cuda_info(0, &info, &err) != LAP_E_BACKEND || lap_device_at(0, &info, &reason))
        return 2;
    if (lap_cuda_view_create(0, 8, 8, 1, 0, &view, &err) != LAP_E_BACKEND || !strstr(err.message, "fork"))
        return 3;
    return lap_cuda_sync(0, NULL, &err) == LAP_E_BACKEND ? 0 : 4;
}

static void forked(void)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(refused_in_child());
    const bool ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
    snprintf(err.message, sizeof err.message, "status %d", ended ? WEXITSTATUS(status) : status);
    report(ended && WEXITSTATUS(status) == 0, "a child of fork is refused, and does not hang");
    report(!lap_cuda_unavailable() && lap_cuda_sync(0, NULL, &err) == LAP_OK, "the parent goes on");
}

int main(void)
{
    const char *reason = lap_cuda_unavailable();
    if (reason) {
        printf("ok 1 - scaffold on GPU # SKIP %s\n1..1\n", reason);
        return 0;
    }
    devices();
    memory();
    borders();
    runs();
    timing();
    report(tall_agrees(65535 + 3), "an image of more rows than a grid");
    refusals();
    refusals_of_fast();
    forked();
    printf("1..%d\n", tests);
    return failures > 0;
}
