#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/border.h"
#include "cuda/device/device.h"

enum { GUARD = 0xA5, GUARD_ROWS = 2, GUARD_BYTES = 64, DEVICE_GUARD = 128 };

uint64_t check_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void give_up(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(1);
}

static uint8_t sample(const check_case *c, int y, int x, int channel, uint64_t *state)
{
    int noise;
    switch (c->fill) {
    case FILL_0:
        return 0;
    case FILL_255:
        return 255;
    case FILL_CHECKER:
        return (x + y) % 2 ? 255 : 0;
    case FILL_PHOTO: /* slopes, an edge, and a few levels of noise */
        noise = (int)(check_random(state) % 7);
        return (uint8_t)(40 + (2 * x + 3 * y + 11 * channel) % 90 + (x > y ? 80 : 0) + noise);
    default:
        return (uint8_t)check_random(state);
    }
}

static void fill(check_subject *s)
{
    const check_case *c = &s->c;
    uint64_t state = c->seed;
    for (int y = 0; y < c->height; y++) {
        uint8_t *row = s->in.base + y * s->in.stride;
        for (int i = 0; i < c->width * c->channels; i++)
            row[i] = sample(c, y, i / c->channels, i % c->channels, &state);
    }
    lap_border_fill(&s->in, c->border);
}

void check_prepare(check_subject *s, const check_case *c, const lap_rung *reference)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t pixel = (size_t)c->channels, row = ((size_t)c->width + 2 * LAP_APRON) * pixel;
    const size_t stride = row + (size_t)c->in_gap, rows = (size_t)c->height + 2 * LAP_APRON;
    /* No gap after the last row: its apron ends where the memory ends. */
    const size_t used = stride * (rows - 1) + row, inner = (used + page - 1) / page * page;
    *s = (check_subject){.c = *c, .pages_size = inner + 2 * page};
    s->pages = mmap(NULL, s->pages_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    s->expected = malloc((size_t)c->width * (size_t)c->height * pixel);
    if (s->pages == MAP_FAILED || !s->expected)
        give_up("out of memory");
    uint8_t *first = (uint8_t *)s->pages + page;
    if (mprotect(s->pages, page, PROT_NONE) || mprotect(first + inner, page, PROT_NONE))
        give_up("mprotect failed");
    memset(first, GUARD, inner);
    first += c->at_end ? inner - used : 0;
    s->in = (lap_view){.base = first + LAP_APRON * stride + LAP_APRON * pixel,
        .stride = (ptrdiff_t)stride,
        .width = c->width,
        .height = c->height,
        .channels = c->channels,
        .apron = LAP_APRON,
        .place = LAP_ON_HOST};
    fill(s);
    lap_view out = s->in;
    out.base = s->expected;
    out.stride = (ptrdiff_t)pixel * c->width;
    out.apron = 0;
    if (reference->run.filter(&s->in, &out, &c->params, &(lap_exec){0}) != LAP_OK)
        give_up("the reference itself failed");
}

void check_release(check_subject *s)
{
    munmap(s->pages, s->pages_size);
    free(s->expected);
}

static void describe(const check_subject *s, const char *what, char *message, size_t size)
{
    static const char *const fills[FILLS] = {"random", "0", "255", "checkerboard", "photo"};
    const check_case *c = &s->c;
    snprintf(message, size,
        "%s; %dx%dx%d fill %s seed %llu border %d kernel %s (h[0] %g) range %s scale %g offset %g "
        "invert %d threshold %d gaps %d %d",
        what, c->width, c->height, c->channels, fills[c->fill], (unsigned long long)c->seed, (int)c->border,
        c->params.kernel.name, (double)c->params.kernel.h[0], c->params.range == LAP_ABS ? "abs" : "clamp",
        (double)c->params.scale, (double)c->params.offset, c->params.invert, c->params.threshold, c->in_gap,
        c->out_gap);
}

static bool compare(const check_subject *s, const lap_view *out, char *message, size_t size)
{
    char what[160];
    const int n = s->c.width * s->c.channels;
    for (int y = 0; y < s->c.height; y++) {
        for (int i = 0; i < n; i++) {
            const int got = out->base[y * out->stride + i], expected = s->expected[(size_t)y * (size_t)n + i];
            if (got == expected)
                continue;
            snprintf(what, sizeof what, "x %d y %d channel %d is %d, by c %d", i / s->c.channels, y,
                i % s->c.channels, got, expected);
            describe(s, what, message, size);
            return false;
        }
    }
    return true;
}

/* What lies around the interior of a device view, brought to the host, must still be guards. */
static bool device_guards_whole(const lap_view *whole, const lap_view *out, lap_error *err)
{
    const int n = out->width * out->channels;
    for (int y = 0; y < whole->height; y++) {
        for (int i = 0; i < whole->width; i++) {
            const int row = y - GUARD_ROWS, at = i - DEVICE_GUARD;
            const bool inside = row >= 0 && row < out->height && at >= 0 && at < n;
            if (inside || whole->base[y * whole->stride + i] == GUARD)
                continue;
            snprintf(err->message, sizeof err->message, "wrote outside, at byte %d of row %d", at, row);
            return false;
        }
    }
    return true;
}

/* The result is a part of a larger piece of device memory, with guards on all sides. */
static bool on_device(
    const check_subject *s, const lap_rung *rung, const lap_exec *exec, lap_view *out, lap_error *err)
{
    const check_case *c = &s->c;
    const int width = (c->width * c->channels + 127) / 128 * 128 + 2 * DEVICE_GUARD;
    lap_view in = {0}, memory = {0}, result = *out;
    lap_view whole = {.stride = width, .width = width, .height = c->height + 2 * GUARD_ROWS, .channels = 1};
    lap_exec how = *exec;
    how.err = err;
    whole.place = LAP_ON_HOST;
    whole.base = malloc((size_t)whole.stride * (size_t)whole.height);
    if (!whole.base)
        give_up("out of memory");
    memset(whole.base, GUARD, (size_t)whole.stride * (size_t)whole.height);
    bool ok = lap_cuda_view_create(0, c->width, c->height, c->channels, LAP_APRON, &in, err) == LAP_OK &&
              lap_cuda_view_create(0, width, whole.height, 1, 0, &memory, err) == LAP_OK;
    result.base = memory.base + GUARD_ROWS * memory.stride + DEVICE_GUARD;
    result.stride = memory.stride;
    result.place = 0;
    ok = ok && lap_cuda_upload(&s->in, &in, NULL, err) == LAP_OK &&
         lap_cuda_upload(&whole, &memory, NULL, err) == LAP_OK &&
         lap_cuda_upload(out, &result, NULL, err) == LAP_OK && /* the poison */
         lap_cuda_border(&in, c->border, NULL, err) == LAP_OK &&
         rung->run.filter(&in, &result, &c->params, &how) == LAP_OK &&
         lap_cuda_download(&result, out, NULL, err) == LAP_OK &&
         lap_cuda_download(&memory, &whole, NULL, err) == LAP_OK && lap_cuda_sync(0, NULL, err) == LAP_OK &&
         device_guards_whole(&whole, out, err);
    lap_cuda_view_destroy(&in);
    lap_cuda_view_destroy(&memory);
    free(whole.base);
    return ok;
}

bool check_rung(const check_subject *s, const lap_rung *rung, const lap_exec *exec, lap_pool *pool,
    char *message, size_t size)
{
    const check_case *c = &s->c;
    const size_t row = (size_t)c->width * (size_t)c->channels;
    const size_t stride = row + (size_t)c->out_gap, rows = (size_t)c->height;
    const size_t before = GUARD_ROWS * stride + GUARD_BYTES, bytes = stride * rows + 2 * before;
    uint8_t *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    lap_error err = {0};
    bool ok = true;
    if (!memory)
        give_up("out of memory");
    memset(memory, GUARD, bytes);
    lap_view out = s->in;
    out.base = memory + before;
    out.stride = (ptrdiff_t)stride;
    out.apron = 0;
    for (size_t y = 0; y < rows; y++) { /* the poison: no sample is right before the run */
        for (size_t i = 0; i < row; i++)
            out.base[y * stride + i] = (uint8_t)~s->expected[y * row + i];
    }
    if (rung->device) {
        ok = on_device(s, rung, exec, &out, &err);
    } else {
        lap_resources use = {.exec = *exec, .pool = pool};
        use.exec.err = &err;
        ok = lap_rung_filter(rung, &use, &s->in, &out, &c->params, c->border) == LAP_OK;
    }
    if (!ok)
        describe(s, err.message[0] ? err.message : "the rung reported an error", message, size);
    ok = ok && compare(s, &out, message, size);
    for (size_t y = 0; ok && y < rows; y++) { /* leaves nothing but guards */
        memset(out.base + y * stride, GUARD, row);
    }
    for (size_t i = 0; ok && i < bytes; i++) {
        if (memory[i] != GUARD) {
            char what[80];
            snprintf(what, sizeof what, "wrote outside, at byte %td from the first pixel",
                (ptrdiff_t)i - (ptrdiff_t)before);
            describe(s, what, message, size);
            ok = false;
        }
    }
    free(memory);
    return ok;
}
