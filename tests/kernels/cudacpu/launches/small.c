/* The rungs of the transpose, reduction, histogram and matrix-vector ladders at work, at few small sizes
 * around their blocks, pieces and tails; reductions and histograms with scratch memory that they use again.
 */
#include "cuda/device/device_rungs.h"
#include "launches.h"
#include "rungs/run_rung.h"

enum { BYTES = 1 << 17, FRAME = 0xA5 };

/* Device memory, and what it holds or should hold. */
typedef struct pair {
    void *there;
    uint8_t here[BYTES];
} pair;

static pair first, second, third;

static void put(pair *p)
{
    need(lap_cuda_copy(0, p->there, p->here, BYTES, NULL, &err) == LAP_OK &&
             lap_cuda_sync(0, NULL, &err) == LAP_OK,
        "upload");
}

static bool holds(const pair *p)
{
    static uint8_t seen[BYTES];
    need(lap_cuda_copy(0, seen, p->there, BYTES, NULL, &err) == LAP_OK &&
             lap_cuda_sync(0, NULL, &err) == LAP_OK,
        "download");
    return memcmp(seen, p->here, BYTES) == 0;
}

static bool is_right(bool good, const char *rung, const char *what, int a, int b)
{
    static int said;
    if (!good && said++ < 5)
        printf("# %s: %s %dx%d is wrong: %s\n", rung, what, a, b, err.message);
    return good;
}

/* ---- reduction ----------------------------------------------------------------------------------- */

static double value_at(size_t i)
{
    return (double)(i * 7 % 17) - 5;
}

/* before_end: values between the array and the end of the memory. */
static bool reduces(const lap_rung *rung, size_t n, size_t before_end, bool is_double)
{
    const size_t size = is_double ? sizeof(double) : sizeof(float);
    const bool is_wide = is_double || strcmp(rung->name, "cuda-fast") == 0; /* the result */
    const size_t at = BYTES / size - before_end - n;
    const lap_array array = {(uint8_t *)first.there + at * size, n, is_double, 0};
    const lap_exec exec = {.scratch = second.there, .err = &err};
    double ignored, expected = 0, sum = -1;
    float f = -1;
    for (size_t i = at; i < at + n; i++)
        expected += value_at(i);
    bool good = rung->run.reduce(&array, &ignored, &exec) == LAP_OK &&
                lap_cuda_copy(0, is_wide ? (void *)&sum : &f, second.there, is_wide ? sizeof sum : sizeof f,
                    NULL, &err) == LAP_OK &&
                lap_cuda_sync(0, NULL, &err) == LAP_OK;
    good = good && (is_wide ? sum : (double)f) == expected;
    return is_right(good, rung->name, is_double ? "doubles" : "floats", (int)n, (int)before_end);
}

static void check_sums(void)
{
    /* Large ones before small ones, which would find what is left of them. */
    static const size_t lengths[] = {8200, 1, 4103, 0, 2049, 2, 513, 3, 258, 5, 129, 128, 127, 9, 64, 33};
    const lap_rung *rung;
    bool good = true;
    for (int is_double = 0; is_double < 2; is_double++) {
        for (size_t i = 0; i < BYTES / (is_double ? 8 : 4); i++) {
            const double x = value_at(i);
            const float f = (float)x;
            memcpy(
                first.here + i * (is_double ? 8 : 4), is_double ? (const void *)&x : &f, is_double ? 8 : 4);
        }
        put(&first);
        memset(second.here, 0, BYTES);
        put(&second);
        for (int r = 0; (rung = lap_rung_row(LAP_OP_REDUCE, r)); r++)
            for (size_t i = 0; rung->device && !rung->resolves && i < sizeof lengths / sizeof *lengths; i++)
                good = reduces(rung, lengths[i], (i + (size_t)r) % 4 / 2 * 3 % 5, is_double) && good;
        good = holds(&first) && good; /* the input is not written */
    }
    check(good, "sums of few values, with the scratch memory of many");
}

/* ---- histogram ----------------------------------------------------------------------------------- */

static bool counts(const lap_rung *rung, int width, int height, int channels)
{
    const ptrdiff_t stride = ((ptrdiff_t)width * channels + 127) / 128 * 128;
    const ptrdiff_t at = BYTES - stride * height;
    const lap_view view = {(uint8_t *)first.there + at, stride, width, height, channels, 0, 0};
    const lap_exec exec = {.scratch = second.there, .err = &err};
    uint64_t *expected = (uint64_t *)(void *)second.here;
    for (int y = 0; y < height; y++)
        for (int i = 0; i < width * channels; i++)
            expected[i % channels * 256 + first.here[at + y * stride + i]]++;
    return is_right(rung->run.histogram(&view, NULL, &exec) == LAP_OK && holds(&second), rung->name,
        "histogram of", width, height);
}

static void check_counts(void)
{
    static const int sizes[][2] = {{1, 1}, {5, 3}, {16, 2}, {33, 5}, {7, 400}, {128, 2}, {130, 200}};
    static const char *const settings[] = {"devices=2,sms=1", "devices=2,shared=48K,sms=1"};
    const lap_rung *rung;
    bool good = true;
    for (int i = 0; i < BYTES; i++)
        first.here[i] = (uint8_t)((unsigned)i * (unsigned)i / 3 + (unsigned)i / 700);
    put(&first);
    memset(second.here, 0, BYTES);
    for (int s = 0; s < 2; s++) {
        need(lap_cudacpu_configure(settings[s]) == 0, settings[s]);
        for (int r = 0; (rung = lap_rung_row(LAP_OP_HISTOGRAM, r)); r++)
            for (int i = 0; rung->device && !rung->resolves && i < 7 * 4; i++) {
                if (s && 1 + i % 4 == 4)
                    continue; /* 64 KB of shared memory */
                memset(second.here, 0, LAP_SCRATCH_HEAD);
                put(&second);
                good = counts(rung, sizes[i / 4][0], sizes[i / 4][1], 1 + i % 4) && good;
                if (i == 5) /* counts are added */
                    good = counts(rung, 40, 3, 1 + i % 4) && good;
            }
    }
    go_on();
    check(good, "histograms of few pixels, with much and little shared memory");
}

/* ---- matrix times vector ---------------------------------------------------------------------------- */

/* A and x end at the end of their memory, or begin on 16 bytes. */
static bool multiplies(
    const lap_rung *rung, unsigned rows, unsigned cols, unsigned lda, bool is_aligned, bool unchecked)
{
    const unsigned unit = is_aligned ? 4 : 1;
    const unsigned a_at = (BYTES / 4 - (rows - 1) * lda - cols) / unit * unit,
                   x_at = (BYTES / 4 - cols) / unit * unit;
    float *a = (float *)(void *)first.here, *x = (float *)(void *)second.here,
          *y = (float *)(void *)third.here;
    const lap_gemv g = {
        (float *)first.there + a_at, lda, rows, cols, (float *)second.there + x_at, (float *)third.there, 0};
    memset(third.here, FRAME, BYTES);
    put(&third);
    for (unsigned i = 0; i < rows; i++) {
        float sum = 0;
        for (unsigned j = 0; j < cols; j++)
            sum += a[a_at + i * lda + j] * x[x_at + j];
        y[i] = sum;
    }
    const lap_exec exec = {.unchecked = unchecked, .err = &err};
    return is_right(rung->run.matvec(&g, &exec) == LAP_OK && holds(&third), rung->name, "the product of",
        (int)rows, (int)cols);
}

static void check_products(void)
{
    static const unsigned sizes[][2] = {
        {1, 1}, {3, 4}, {4, 31}, {5, 32}, {31, 33}, {33, 3}, {65, 70}, {9, 600}};
    const lap_rung *rung;
    bool good = true;
    for (unsigned i = 0; i < BYTES / 4; i++) {
        const float a = (float)value_at(i), x = (float)value_at(i * i + 3);
        memcpy(first.here + 4ul * i, &a, 4);
        memcpy(second.here + 4ul * i, &x, 4);
    }
    put(&first);
    put(&second);
    for (int r = 0; (rung = lap_rung_row(LAP_OP_MATVEC, r)); r++) {
        if (!rung->device || rung->resolves)
            continue;
        for (unsigned i = 0; i < 8; i++) {
            const unsigned wide = (sizes[i][1] + 3) / 4 * 4;
            good = multiplies(rung, sizes[i][0], sizes[i][1], sizes[i][1] + i % 3, false, false) &&
                   multiplies(rung, sizes[i][0], sizes[i][1], wide, true, false) && good;
        }
        if (rung->unchecked)
            good = multiplies(rung, 32, 32, 32, true, true) && multiplies(rung, 64, 96, 101, false, true) &&
                   good;
    }
    check(good, "products of small matrices");
}

/* ---- transpose ----------------------------------------------------------------------------------- */

static bool turns(lap_transpose_fn *run, const char *name, int width, int height, int size, bool copies)
{
    const ptrdiff_t in_stride = ((ptrdiff_t)width * size + 127) / 128 * 128,
                    out_stride = copies ? in_stride : ((ptrdiff_t)height * size + 127) / 128 * 128;
    const ptrdiff_t from = BYTES - in_stride * height, to = BYTES - out_stride * (copies ? height : width);
    const lap_view in = {(uint8_t *)first.there + from, in_stride, width, height, size, 0, 0},
                   out = {(uint8_t *)second.there + to, out_stride, copies ? width : height,
                       copies ? height : width, size, 0, 0};
    memset(second.here, FRAME, BYTES);
    put(&second);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            memcpy(second.here + to + (copies ? y * out_stride + x * size : x * out_stride + y * size),
                first.here + from + y * in_stride + x * size, (size_t)size);
    return is_right(run(&in, &out, &(lap_exec){.err = &err}) == LAP_OK && holds(&second), name,
        "the transpose of", width, height);
}

static void check_turns(void)
{
    static const int sizes[] = {1, 3, 4, 8}, sides[][2] = {{1, 1}, {15, 17}, {17, 4}, {33, 31}, {5, 65},
                                                 {66, 33}, {130, 3}, {4, 131}, {128, 5}};
    const lap_rung *rung;
    bool good = true;
    for (int i = 0; i < BYTES; i++)
        first.here[i] = (uint8_t)(i * 31 + i / 251);
    put(&first);
    for (int k = 0; k < 9 * 4; k++) {
        const int w = sides[k / 4][0], h = sides[k / 4][1], size = sizes[k % 4];
        for (int r = 0; (rung = lap_rung_row(LAP_OP_TRANSPOSE, r)); r++)
            if (rung->device && !rung->resolves)
                good = turns(rung->run.transpose, rung->name, w, h, size, false) && good;
        good = turns(lap_cuda_copy_kernel, "copy-kernel", w, h, size, true) &&
               turns(lap_cuda_copy_shared, "copy-shared", w, h, size, true) && good;
    }
    check(good, "transposes of small pictures");
}

/* ---- mirroring ------------------------------------------------------------------------------------ */

/* Up to 3 bytes after a row may be written. The source's rows are read in the reverse order, too. */
static bool mirrors(int width, int height, int channels, bool left_right, bool is_reversed)
{
    static uint8_t seen[BYTES];
    const ptrdiff_t row = (ptrdiff_t)width * channels, stride = (row + 127) / 128 * 128,
                    at = BYTES - stride * height, source = is_reversed ? at + (height - 1) * stride : at,
                    step = is_reversed ? -stride : stride;
    const lap_view in = {(uint8_t *)first.there + source, step, width, height, channels, 0, 0},
                   out = {(uint8_t *)second.there + at, stride, width, height, channels, 0, 0};
    memset(second.here, FRAME, BYTES);
    put(&second);
    bool good = lap_cuda_mirror(&in, &out, left_right, NULL, &err) == LAP_OK &&
                lap_cuda_copy(0, seen, second.there, BYTES, NULL, &err) == LAP_OK &&
                lap_cuda_sync(0, NULL, &err) == LAP_OK;
    for (int y = 0; y < height; y++) {
        const uint8_t *from = first.here + source + y * step;
        uint8_t *to = seen + at + y * stride;
        for (ptrdiff_t i = 0; i < row; i++)
            good =
                good && to[i] == from[left_right ? (width - 1 - i / channels) * channels + i % channels : i];
        memset(to, FRAME, (size_t)((row + 3) / 4 * 4));
    }
    return is_right(good && memcmp(seen, second.here, BYTES) == 0, "mirror", "the picture", width, height);
}

static void check_mirrors(void)
{
    static const int widths[] = {1, 2, 3, 4, 5, 6, 7, 8, 43, 64, 128, 255, 256, 257};
    bool good = true;
    for (int i = 0; i < 14 * 4; i++)
        good = mirrors(widths[i / 4], i % 3 ? 1 + i % 6 : 9, i % 2 ? 3 : 1, i % 4 < 2, i % 5 == 0) && good;
    check(good, "rows are mirrored");
}

void check_small(void)
{
    pair *const pairs[] = {&first, &second, &third};
    go_on();
    err.message[0] = 0;
    for (int i = 0; i < 3; i++)
        need(lap_cuda_alloc(0, BYTES, &pairs[i]->there, &err) == LAP_OK, "memory");
    check_sums();
    check_counts();
    check_products();
    check_turns();
    check_mirrors();
    for (int i = 0; i < 3; i++)
        lap_cuda_free(0, pairs[i]->there);
}
