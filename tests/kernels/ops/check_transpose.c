#include <string.h>

#include "cuda/device/device_rungs.h"
#include "ops.h"

static const int sizes[] = {1, 3, 4, 8};

/* Where a view lies between the guards. On the host any offset and stride; on a device as backend.h
 * promises it: rows begin on multiples of 128 bytes. */
typedef struct matrix {
    block memory;
    size_t offset;
    lap_view view;
} matrix;

static matrix matrix_new(int place, int width, int height, int size)
{
    const bool host = place == LAP_ON_HOST;
    matrix m = {.offset = host ? (size_t)random_below(64) : 0};
    size_t stride = (size_t)width * (size_t)size;
    stride +=
        host ? (size_t)random_below(3) * (size_t)random_below(70) : -stride % 128 + 128 * random64() % 2;
    m.memory = block_new(place, m.offset + stride * (size_t)height);
    m.view = (lap_view){.base = block_data(&m.memory) + m.offset,
        .stride = (ptrdiff_t)stride,
        .width = width,
        .height = height,
        .channels = size,
        .place = place};
    return m;
}

static uint8_t *host_row(const matrix *m, int y)
{
    return block_host(&m->memory) + m->offset + y * m->view.stride;
}

/* Checks that the inside is exact and that nothing else was written: guards, gaps between rows, the
 * input. */
static bool holds(const matrix *in, const matrix *out, const uint8_t *before, const char *name)
{
    const int w = in->view.width, h = in->view.height, size = in->view.channels;
    uint8_t *expected = block_host(&out->memory);
    if (!block_guards_whole(&out->memory))
        return fault("%s: %dx%d of %d bytes: a guard byte was written", name, w, h, size);
    if (memcmp(before, in->memory.host, in->memory.bytes + 2 * GUARD) != 0)
        return fault("%s: %dx%d of %d bytes: the input was written", name, w, h, size);
    for (int x = 0; x < w; x++) {
        for (int y = 0; y < h; y++) {
            if (memcmp(host_row(out, x) + y * size, host_row(in, y) + x * size, (size_t)size) != 0)
                return fault("%s: %dx%d of %d bytes, strides %td and %td: wrong at row %d, column %d", name,
                    w, h, size, in->view.stride, out->view.stride, x, y);
        }
        memset(host_row(out, x), POISON, (size_t)h * (size_t)size);
    }
    for (size_t i = 0; i < out->memory.bytes; i++) {
        if (expected[i] != POISON)
            return fault("%s: %dx%d of %d bytes: a byte between rows was written", name, w, h, size);
    }
    return true;
}

static bool check_case(const lap_rung *rung, int width, int height, int size)
{
    static uint8_t before[2 << 20];
    const int place = rung->device ? 0 : LAP_ON_HOST;
    matrix in = matrix_new(place, width, height, size), out = matrix_new(place, height, width, size);
    lap_error err = {0};
    const lap_exec exec = {.threads = 1 + random_below(3), .err = &err};
    bool good = false;
    for (int y = 0; y < height; y++)
        random_fill(host_row(&in, y), (size_t)width * (size_t)size);
    if (in.memory.bytes + 2 * GUARD > sizeof before) {
        fault("%dx%d of %d bytes is too large for this test", width, height, size);
        goto end;
    }
    memcpy(before, in.memory.host, in.memory.bytes + 2 * GUARD);
    block_push(&in.memory);
    block_push(&out.memory);
    lap_code code = rung->run.transpose(&in.view, &out.view, &exec);
    if (code != LAP_OK) {
        fault("%s: %s: %s", rung->name, lap_code_name(code), err.message);
        goto end;
    }
    block_pull(&in.memory);
    block_pull(&out.memory);
    good = holds(&in, &out, before, rung->name);
end:
    block_free(&in.memory);
    block_free(&out.memory);
    return good;
}

static bool check_rung(const lap_rung *rung)
{
    /* Around the blocks (2..32), tiles (16, 32, 64) and strips (64, 256) of the rungs. */
    static const int edges[] = {15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 79, 127, 128, 129, 255, 257};
    enum { EDGES = sizeof edges / sizeof *edges };
    bool good = true;
    for (int s = 0; s < 4 && ONLY_RACES; s++) {
        good = check_case(rung, 35, 19, sizes[s]) && good;
        if (strcmp(rung->name, "cuda-fast") == 0)
            good = check_case(rung, 70, 66, sizes[s]) && good;
    }
    for (int s = 0; s < 4 && !ONLY_RACES; s++) {
        for (int w = 1; w <= 9; w++) {
            for (int h = 1; h <= 9; h++)
                good = check_case(rung, w, h, sizes[s]) && good;
        }
        for (int i = 0; i < EDGES; i++) {
            good = check_case(rung, edges[i], edges[random_below(EDGES)], sizes[s]) && good;
            good = check_case(rung, edges[random_below(EDGES)], edges[i], sizes[s]) && good;
            good = check_case(rung, 1 + random_below(200), 1 + random_below(200), sizes[s]) && good;
        }
        good = check_case(rung, 1, 3000, sizes[s]) && check_case(rung, 3000, 1, sizes[s]) && good;
        /* So large that a processor stores results around its caches. */
        if (!rung->device)
            good =
                check_case(rung, 130 + random_below(9), 8200 / sizes[s] + random_below(9), sizes[s]) && good;
    }
    return good;
}

/* ---- the copying kernels, which benches use as ceilings ------------------------------------------- */

typedef lap_code copy_fn(const lap_view *in, const lap_view *out, const lap_exec *exec);

static bool copies(copy_fn *copy, int width, int height, int size)
{
    matrix in = matrix_new(0, width, height, size), out = matrix_new(0, width, height, size);
    lap_error err = {0};
    bool good = true;
    for (int y = 0; y < height; y++)
        random_fill(host_row(&in, y), (size_t)width * (size_t)size);
    block_push(&in.memory);
    block_push(&out.memory);
    if (copy(&in.view, &out.view, &(lap_exec){.err = &err}) != LAP_OK)
        good = fault("a copy of %dx%d of %d bytes: %s", width, height, size, err.message);
    block_pull(&out.memory);
    for (int y = 0; good && y < height; y++)
        if (memcmp(host_row(&in, y), host_row(&out, y), (size_t)width * (size_t)size) != 0)
            good = fault("a copy of %dx%d of %d bytes is wrong in row %d", width, height, size, y);
    good = good && (block_guards_whole(&out.memory) || fault("a copy wrote a guard byte"));
    block_free(&in.memory);
    block_free(&out.memory);
    return good;
}

static bool check_copies(const lap_rung *unused)
{
    bool good = true;
    (void)unused;
    for (int s = 0; s < 4; s++)
        for (int n = 1; n < 70; n += ONLY_RACES ? 34 : 11)
            good = copies(lap_cuda_copy_kernel, n, 40 - n / 2, sizes[s]) &&
                   copies(lap_cuda_copy_shared, n, 40 - n / 2, sizes[s]) && good;
    return good;
}

/* ---- rungs that must be refused ------------------------------------------------------------------ */

static lap_code forgets_last(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_view fewer = {in->base, in->stride, in->width, in->height - 1, in->channels, 0, in->place};
    return lap_transpose_table[0].run.transpose(&fewer, out, exec);
}

static lap_code writes_past(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    out->base[(out->height - 1) * out->stride + out->width * out->channels] ^= 1;
    return lap_transpose_table[0].run.transpose(in, out, exec);
}

void check_transpose(void)
{
    check_table(lap_transpose_table, check_rung);
    check_table((lap_rung[]){{.op = LAP_OP_TRANSPOSE,
                                 .name = "copy-kernel and copy-shared",
                                 .device = 1,
                                 .available = lap_cuda_unavailable},
                    {0}},
        check_copies);
    check_refused("leaves the last column as it was", check_rung,
        &(lap_rung){.op = LAP_OP_TRANSPOSE, .name = "wrong", .run.transpose = forgets_last});
    check_refused("writes one byte too many", check_rung,
        &(lap_rung){.op = LAP_OP_TRANSPOSE, .name = "wrong", .run.transpose = writes_past});
}
