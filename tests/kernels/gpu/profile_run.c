/* profile_run LADDER SIZE...: runs every CUDA rung of a ladder once on random bytes, for a profiler.
 *
 *   profile_run filter WIDTH HEIGHT CHANNELS      profile_run transpose WIDTH HEIGHT BYTES
 *   profile_run histogram WIDTH HEIGHT CHANNELS   profile_run reduce N BYTES   profile_run matvec N
 *
 * Before each rung it copies one byte with a kernel that nothing else here uses, copy_kernel<unsigned
 * char>, and prints "rung NAME". This marks which kernels of a profile belong to which rung, even if a
 * rung has several. */
#include <stdlib.h>
#include <string.h>

#include "base/image.h"
#include "base/status.h"
#include "cuda/device/device_rungs.h"
#include "rungs/backend.h"

static lap_error err;
static lap_view mark_from, mark_to;

static void need(lap_code code)
{
    if (code == LAP_OK)
        return;
    fprintf(stderr, "profile_run: %s\n", err.message);
    exit(1);
}

static void begin(const char *name)
{
    const lap_exec exec = {.err = &err};
    need(lap_cuda_copy_kernel(&mark_from, &mark_to, &exec));
    printf("rung %s\n", name);
    fflush(stdout);
}

/* A device view whose interior is random; its apron is zero. */
static lap_view random_view(int width, int height, int channels, int apron)
{
    lap_image image = {0};
    lap_view view = {0};
    uint64_t noise = 1;
    need(lap_image_create(&image, width, height, channels, 0, &err));
    for (size_t i = 0; i < image.bytes; i++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        ((uint8_t *)image.memory)[i] = (uint8_t)(noise >> 56);
    }
    need(lap_cuda_view_create(0, width, height, channels, apron, &view, &err));
    need(lap_cuda_upload(&image.view, &view, NULL, &err));
    need(lap_cuda_sync(0, NULL, &err));
    lap_image_destroy(&image);
    return view;
}

static lap_view empty_view(int width, int height, int channels)
{
    lap_view view = {0};
    need(lap_cuda_view_create(0, width, height, channels, 0, &view, &err));
    return view;
}

/* Device memory of n floats or doubles below 1, or as many floats below 1. */
static void *random_values(size_t n, size_t size)
{
    void *host = malloc(n * size), *memory = NULL;
    uint64_t noise = 1;
    if (!host)
        need(lap_fail(&err, LAP_E_MEMORY, "out of memory"));
    for (size_t i = 0; i < n; i++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        if (size == sizeof(double))
            ((double *)host)[i] = (double)(noise >> 11) * 0x1p-53;
        else
            ((float *)host)[i] = (float)(noise >> 40) * 0x1p-24f;
    }
    need(lap_cuda_alloc(0, n * size, &memory, &err));
    need(lap_cuda_copy(0, memory, host, n * size, NULL, &err));
    need(lap_cuda_sync(0, NULL, &err));
    free(host);
    return memory;
}

/* The next row of a ladder that runs on a device. */
static const lap_rung *next_rung(lap_op op, int *i)
{
    const lap_rung *row;
    while ((row = lap_rung_row(op, (*i)++)))
        if (row->device && !row->resolves)
            return row;
    return NULL;
}

static void filter(int width, int height, int channels)
{
    const lap_view in = random_view(width, height, channels, LAP_APRON);
    const lap_view out = empty_view(width, height, channels);
    lap_params params = lap_params_default();
    lap_exec exec = {.err = &err};
    const lap_rung *row, *last = NULL, *first = NULL;
    for (int i = 0; (row = next_rung(LAP_OP_FILTER, &i)); last = row) {
        first = first ? first : row;
        begin(row->name);
        need(row->run.filter(&in, &out, &params, &exec));
    }
    exec.block_x = 32, exec.block_y = 16;
    begin("cuda-global 32x16");
    need(first->run.filter(&in, &out, &params, &exec));
    params.range = LAP_ABS;
    begin("cuda-fast abs");
    need(last->run.filter(&in, &out, &params, &exec));
    need(lap_kernel_parse("npp5", &params.kernel, &err));
    begin("cuda-fast npp5");
    need(last->run.filter(&in, &out, &params, &exec));
}

static void transpose(int width, int height, int size)
{
    const lap_view in = random_view(width, height, size, 0), same = empty_view(width, height, size);
    const lap_view out = empty_view(height, width, size);
    const lap_exec exec = {.err = &err};
    const lap_rung *row;
    begin("copy-kernel");
    need(lap_cuda_copy_kernel(&in, &same, &exec));
    begin("copy-shared");
    need(lap_cuda_copy_shared(&in, &same, &exec));
    for (int i = 0; (row = next_rung(LAP_OP_TRANSPOSE, &i));) {
        begin(row->name);
        need(row->run.transpose(&in, &out, &exec));
    }
}

static void histogram(int width, int height, int channels)
{
    const lap_view in = random_view(width, height, channels, 0);
    const lap_exec exec = {.err = &err};
    static uint64_t counts[4][256];
    const lap_rung *row;
    for (int i = 0; (row = next_rung(LAP_OP_HISTOGRAM, &i));) {
        begin(row->name);
        need(row->run.histogram(&in, counts, &exec));
    }
}

static void reduce(size_t n, size_t size)
{
    const lap_array in = {random_values(n, size), n, size == sizeof(double), 0};
    const lap_exec exec = {.err = &err};
    const lap_rung *row;
    double sum;
    for (int i = 0; (row = next_rung(LAP_OP_REDUCE, &i));) {
        begin(row->name);
        need(row->run.reduce(&in, &sum, &exec));
    }
}

static void matvec(size_t n)
{
    const lap_gemv g = {random_values(n * n, sizeof(float)), n, n, n, random_values(n, sizeof(float)),
        random_values(n, sizeof(float)), 0};
    lap_exec exec = {.err = &err};
    const lap_rung *row;
    char name[80];
    for (int i = 0; (row = next_rung(LAP_OP_MATVEC, &i));) {
        begin(row->name);
        need(row->run.matvec(&g, &exec));
        if (!row->unchecked)
            continue;
        snprintf(name, sizeof name, "%s unchecked", row->name);
        begin(name);
        exec.unchecked = true;
        need(row->run.matvec(&g, &exec));
        exec.unchecked = false;
    }
}

int main(int argc, char **argv)
{
    const char *ladder = argc > 1 ? argv[1] : "";
    int number[3] = {0};
    for (int i = 0; i < 3 && i + 2 < argc; i++)
        number[i] = atoi(argv[i + 2]);
    mark_from = empty_view(1, 1, 1), mark_to = empty_view(1, 1, 1);
    if (strcmp(ladder, "filter") == 0 && argc == 5)
        filter(number[0], number[1], number[2]);
    else if (strcmp(ladder, "transpose") == 0 && argc == 5)
        transpose(number[0], number[1], number[2]);
    else if (strcmp(ladder, "histogram") == 0 && argc == 5)
        histogram(number[0], number[1], number[2]);
    else if (strcmp(ladder, "reduce") == 0 && argc == 4)
        reduce((size_t)number[0], (size_t)number[1]);
    else if (strcmp(ladder, "matvec") == 0 && argc == 3)
        matvec((size_t)number[0]);
    else {
        fprintf(stderr,
            "usage: profile_run filter|transpose|histogram WIDTH HEIGHT CHANNELS, reduce N BYTES,\n"
            "       matvec N\n");
        return 2;
    }
    need(lap_cuda_sync(0, NULL, &err));
    return 0;
}
