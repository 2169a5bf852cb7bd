/* cpu_controls WIDTH HEIGHT RUNS: milliseconds of processor time of filters that differ from a backend, or
 * from each other, in one thing; cpu_controls --once NAME WIDTH HEIGHT runs one of them, for valgrind.
 * tools/measure/parts builds it: the files of the backends are compiled several times, with other constants
 * and under other names. Each result is compared with c's. */
#include <emmintrin.h>
#include <stdio.h>
#include <time.h>

#include "base/image.h"
#include "cpu_simd/filter/conv_row.h"

extern lap_filter_fn control_sse_alone, control_box_rows_1, control_box_rows_1_ahead, control_box_rows_4,
    control_box_all;

/* ---- c with another clamp, and with other orders of its loops -------------------------------------------
 */

static void load(const float4_job *job, int first, int count)
{
    for (int y = first; y < first + count; y++)
        float4_from_bytes(job, y);
}

static void store(const float4_job *job, int first, int count)
{
    for (int y = first; y < first + count; y++)
        float4_to_bytes(job, y);
}

static inline __attribute__((always_inline)) void clamp(const float4_job *job, float *dst, bool branches)
{
    if (branches)
        conv_range(job->params, dst);
    for (int c = 0; c < COMPONENTS && !branches; c++) /* scale 1, offset 0 */
        _mm_store_ss(
            dst + c, _mm_min_ss(_mm_max_ss(_mm_load_ss(dst + c), _mm_setzero_ps()), _mm_set_ss(255.0f)));
}

/* One pixel, as conv_pixel has it. */
static inline __attribute__((always_inline)) void pixel(const float4_job *job, int x, int y, bool branches)
{
    float *dst = float4_dst(job, y) + (size_t)x * COMPONENTS;
    conv_pixel(job->src_width, job->params->kernel.h, float4_src(job, y) + (size_t)x * COMPONENTS, dst);
    clamp(job, dst, branches);
}

static void rows_first(const float4_job *job, int first, int count)
{
    for (int y = first; y < first + count; y++)
        for (int x = 0; x < job->out->width; x++)
            pixel(job, x, y, true);
}

static void rows_first_without_branches(const float4_job *job, int first, int count)
{
    for (int y = first; y < first + count; y++)
        for (int x = 0; x < job->out->width; x++)
            pixel(job, x, y, false);
}

static void columns_first(const float4_job *job, int first, int count)
{
    for (int x = 0; x < job->out->width; x++)
        for (int y = first; y < first + count; y++)
            pixel(job, x, y, true);
}

/* The window's loops outside, the image's inside: the sums go to memory and back 25 times. */
static void window_first(const float4_job *job, int first, int count)
{
    const int width = job->out->width;
    for (int y = first; y < first + count; y++)
        memset(float4_dst(job, y), 0, (size_t)width * COMPONENTS * sizeof(float));
    for (int fy = 0; fy < 5; fy++)
        for (int fx = 0; fx < 5; fx++)
            for (int y = first; y < first + count; y++) {
                const float h = job->params->kernel.h[5 * fy + fx],
                            *src = float4_src(job, y + fy) + fx * COMPONENTS;
                float *dst = float4_dst(job, y);
                for (int x = 0; x < width * COMPONENTS; x++)
                    dst[x] += h * src[x];
            }
    for (int y = first; y < first + count; y++)
        for (int x = 0; x < width; x++)
            clamp(job, float4_dst(job, y) + (size_t)x * COMPONENTS, true);
}

#define BY_LOOPS(name)                                                                           \
    static lap_code by_##name(                                                                   \
        const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec) \
    {                                                                                            \
        return float4_run(in, out, params, exec, load, name, store);                             \
    }
BY_LOOPS(rows_first)
BY_LOOPS(rows_first_without_branches)
BY_LOOPS(columns_first)
BY_LOOPS(window_first)

/* ---- all of them ----------------------------------------------------------------------------------------
 */

enum { PIECE = 480 }; /* as the program has it: MOST_FILTER_ROWS of src/rungs/run_rung.c */

static const struct control {
    const char *name;
    lap_filter_fn *run;
    bool past_caches; /* a result larger than the caches goes around them */
    int smaller;      /* the image's sides are divided by this, and there are fewer runs: slow ones */
    bool flat;        /* an image of one colour: every branch of the clamp goes the same way each time */
    int rows;         /* of a piece of the image, which are filtered one after the other */
} controls[] = {
    {"c", lap_filter_c, false, 4, false, PIECE},
    {"c, rows first", by_rows_first, false, 4, false, PIECE},
    {"c, columns first", by_columns_first, false, 4, false, PIECE},
    {"c, window first", by_window_first, false, 4, false, PIECE},
    {"c, clamp without branches", by_rows_first_without_branches, false, 4, false, PIECE},
    {"c, flat image", lap_filter_c, false, 4, true, PIECE},
    {"c, clamp without branches, flat image", by_rows_first_without_branches, false, 4, true, PIECE},
    {"sse, one pixel at a time", control_sse_alone, false, 4, false, PIECE},
    {"sse", lap_filter_sse, false, 4, false, PIECE},
    {"sse-box, 3744 rows at once", lap_filter_sse_box, false, 1, false, 3744},
    {"sse-box, 1872 rows at once", lap_filter_sse_box, false, 1, false, 1872},
    {"sse-box, 936 rows at once", lap_filter_sse_box, false, 1, false, 936},
    {"sse-box, 468 rows at once", lap_filter_sse_box, false, 1, false, 468},
    {"sse-box, 234 rows at once", lap_filter_sse_box, false, 1, false, 234},
    {"sse-box, 117 rows at once", lap_filter_sse_box, false, 1, false, 117},
    {"sse-slide", lap_filter_sse_slide, false, 1, false, PIECE},
    {"one row a pass", control_box_rows_1, false, 1, false, PIECE},
    {"one row a pass, fetched ahead", control_box_rows_1_ahead, false, 1, false, PIECE},
    {"one row a pass, around the caches", control_box_rows_1, true, 1, false, PIECE},
    {"four rows a pass", control_box_rows_4, false, 1, false, PIECE},
    {"four rows a pass, fetched ahead", control_box_all, false, 1, false, PIECE},
    {"four rows a pass, around the caches", control_box_rows_4, true, 1, false, PIECE},
    {"four rows a pass, fetched ahead, around the caches", control_box_all, true, 1, false, PIECE},
    {"simd-sse41", lap_filter_simd_sse41, true, 1, false, PIECE},
};
enum { COUNT = sizeof controls / sizeof *controls, MOST_RUNS = 200 };

static lap_error err;

static void need(lap_code code)
{
    if (code == LAP_OK)
        return;
    fprintf(stderr, "cpu_controls: %s\n", err.message);
    exit(1);
}

/* Steps and noise of five bits, as bench's images have them, or one colour; in the apron too. */
static lap_image picture(int width, int height, int apron, bool flat)
{
    lap_image image;
    uint32_t state = 2463534242;
    need(lap_image_create(&image, width, height, 3, apron, &err));
    for (int y = -apron; y < height + apron; y++)
        for (int i = -3 * apron; i < 3 * (width + apron); i++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            image.view.base[y * image.view.stride + i] =
                flat ? 100 : (uint8_t)((y + 2 + (i + 6) / 3) / 32 % 224 + (int)(state >> 27));
        }
    return image;
}

/* The time of this thread: the time that other programs take meanwhile does not count. */
static double processor_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return 1e3 * (double)at.tv_sec + 1e-6 * (double)at.tv_nsec;
}

static __attribute__((noinline)) double run_control(
    const struct control *c, const lap_image *in, const lap_image *out)
{
    const lap_params params = lap_params_default();
    const lap_exec exec = {.threads = 1, .past_caches = c->past_caches, .err = &err};
    const int height = out->view.height;
    const double start = processor_ms();
    for (int y = 0; y < height; y += c->rows) {
        const int n = height - y < c->rows ? height - y : c->rows;
        const lap_view from = lap_view_rows(&in->view, y, n), to = lap_view_rows(&out->view, y, n);
        need(c->run(&from, &to, &params, &exec));
    }
    return processor_ms() - start;
}

static bool same(const lap_view *a, const lap_view *b)
{
    for (int y = 0; y < a->height; y++)
        if (memcmp(a->base + y * a->stride, b->base + y * b->stride, 3 * (size_t)a->width) != 0)
            return false;
    return true;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Runs the filters of one size in turn. */
static void measure(int smaller, int width, int height, int runs)
{
    static double ms[COUNT][MOST_RUNS];
    width /= smaller;
    height /= smaller;
    lap_image in[2], right[2], out = picture(width, height, 0, false);
    const int turns = runs / smaller + 1;
    for (int flat = 0; flat < 2; flat++) {
        in[flat] = picture(width, height, LAP_APRON, flat);
        right[flat] = picture(width, height, 0, false);
        run_control(&controls[0], &in[flat], &right[flat]);
    }
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < COUNT; i++) {
            if (controls[i].smaller != smaller)
                continue;
            ms[i][turn] = run_control(&controls[i], &in[controls[i].flat], &out);
            if (!same(&out.view, &right[controls[i].flat].view))
                need(lap_fail(&err, LAP_E_DEVICE, "%s gives another result", controls[i].name));
        }
    for (int i = 0; i < COUNT; i++) {
        if (controls[i].smaller != smaller)
            continue;
        qsort(ms[i], (size_t)turns, sizeof(double), by_size);
        printf("%s\t%d\t%d\t%d\t%.4f\t%.4f\n", controls[i].name, width, height, turns, ms[i][turns / 2],
            ms[i][0]);
    }
    for (int flat = 0; flat < 2; flat++) {
        lap_image_destroy(&in[flat]);
        lap_image_destroy(&right[flat]);
    }
    lap_image_destroy(&out);
}

static int once(const char *name, int width, int height)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(controls[i].name, name) == 0) {
            lap_image in = picture(width, height, LAP_APRON, controls[i].flat),
                      out = picture(width, height, 0, false);
            run_control(&controls[i], &in, &out);
            lap_image_destroy(&in);
            lap_image_destroy(&out);
            return 0;
        }
    fprintf(stderr, "cpu_controls: no control %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--once") == 0)
        return once(argv[2], atoi(argv[3]), atoi(argv[4]));
    if (argc != 4 || atoi(argv[1]) < 64 || atoi(argv[2]) < 64 || atoi(argv[3]) < 1 ||
        atoi(argv[3]) >= MOST_RUNS) {
        fprintf(stderr, "usage: cpu_controls WIDTH HEIGHT RUNS, or --once NAME WIDTH HEIGHT\n");
        return 2;
    }
    measure(4, atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
    measure(1, atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
    return 0;
}
