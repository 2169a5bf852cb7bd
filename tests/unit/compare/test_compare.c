/* Comparing ladders through the library, and that each comparison can fail: rungs of all five ladders are
 * made wrong by tables that stand in for the real ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/image.h"
#include "base/status.h"
#include "compare/compare.h"
#include "cpu_simd/host_rungs.h"
#include "lapedge_program.h"
#include "tests/support/temporary.h"

/* ---- a clock that the test sets, and memory that runs out --------------------------------------------- */

static double now;

double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return now;
}

/* Allocations of this size fail, and so do all that are larger than any test needs. */
static size_t missing = SIZE_MAX;
enum { LARGEST = 64 << 20 };

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return size == missing || size > LARGEST ? NULL : __real_malloc(size);
}

static int images_left = -1; /* number of images that can be created; -1: no limit */

lap_code __real_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err);
lap_code __wrap_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err);
lap_code __wrap_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err)
{
    if (images_left == 0) {
        *image = (lap_image){0};
        return lap_fail(err, LAP_E_MEMORY, "no image of %dx%dx%d", width, height, channels);
    }
    images_left -= images_left > 0;
    return __real_lap_image_create(image, width, height, channels, apron, err);
}

static int started = -1; /* the device that was started */

void __wrap_lap_rung_start_device(lap_op op, const char *list, int device);
void __wrap_lap_rung_start_device(lap_op op, const char *list, int device)
{
    (void)op, (void)list;
    started = device;
}

/* ---- a rung of each table that does as it is told ------------------------------------------------------ */

static struct told {
    int calls, fails_at;  /* counted from 1 */
    lap_code code;        /* of the call that fails */
    const char *message;  /* NULL: the rung says nothing */
    double first, more;   /* ms of the first call, and how much longer each further one takes */
    int threads;          /* the most that it may have */
    uint8_t corner;       /* of the apron */
    const float *factors; /* errors of the products with fractions: factors, or negated results */
} told;

static lap_code tell(const lap_exec *exec)
{
    now += told.first + told.more * told.calls++;
    told.threads = exec->threads;
    if (told.calls != told.fails_at)
        return LAP_OK;
    if (told.message && exec->err)
        lap_fail(exec->err, told.code, "%s", told.message);
    return told.code;
}

static lap_code told_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    const lap_code code = tell(exec);
    told.corner = in->base[-2 * in->stride - 2 * in->channels];
    return code == LAP_OK ? lap_filter_c(in, out, params, exec) : code;
}

static lap_code told_transpose(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const lap_code code = tell(exec);
    return code == LAP_OK ? lap_transpose_c(in, out, exec) : code;
}

static lap_code told_reduce(const lap_array *in, double *sum, const lap_exec *exec)
{
    const lap_code code = tell(exec);
    return code == LAP_OK ? lap_reduce_c(in, sum, exec) : code;
}

static lap_code told_histogram(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    const lap_code code = tell(exec);
    return code == LAP_OK ? lap_histogram_c(in, counts, exec) : code;
}

static lap_gemv product; /* the last one */
static float first_x[2][4], first_a[8];

static lap_code told_matvec(const lap_gemv *g, const lap_exec *exec)
{
    lap_code code = tell(exec);
    const bool is_whole = g->x[0] == -1; /* the exact check, not the rounding errors */
    product = *g;
    memcpy(first_x[is_whole ? 0 : 1], g->x, sizeof first_x[0]);
    memcpy(first_a, g->a, sizeof first_a);
    if (code == LAP_OK)
        code = lap_matvec_c(g, exec);
    for (size_t i = 0; code == LAP_OK && i < g->rows && told.factors && !is_whole; i++)
        g->y[i] = told.factors[i] > 0 ? g->y[i] * told.factors[i] : -told.factors[i];
    return code;
}

/* ---- tables with a wrong rung each --------------------------------------------------------------- */

static lap_code bad_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    lap_code code = lap_filter_c(in, out, params, exec);
    out->base[3 * out->stride + 4 * out->channels] ^= 1;
    return code;
}

static lap_code lazy_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)in, (void)out, (void)params, (void)exec;
    return LAP_OK;
}

static lap_code failing_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)in, (void)out, (void)params;
    if (exec->err)
        *exec->err = (lap_error){.code = LAP_E_DEVICE, .message = "it broke"};
    return LAP_E_DEVICE;
}

static const char *never(void)
{
    return "never here";
}

const lap_rung lap_filter_table[] = {
    {.op = LAP_OP_FILTER, .name = "c", .family = "c", .run.filter = lap_filter_c},
    {.op = LAP_OP_FILTER, .name = "bad", .family = "c", .run.filter = bad_filter},
    {.op = LAP_OP_FILTER, .name = "lazy", .family = "c", .run.filter = lazy_filter},
    {.op = LAP_OP_FILTER, .name = "failing", .family = "c", .run.filter = failing_filter},
    {.op = LAP_OP_FILTER, .name = "absent", .family = "c", .available = never},
    {.op = LAP_OP_FILTER, .name = "told", .family = "c", .run.filter = told_filter},
    {0},
};

static lap_code bad_transpose(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    lap_code code = lap_transpose_c(in, out, exec);
    out->base[0] ^= 2;
    return code;
}

const lap_rung lap_transpose_table[] = {
    {.op = LAP_OP_TRANSPOSE, .name = "c", .family = "c", .run.transpose = lap_transpose_c},
    {.op = LAP_OP_TRANSPOSE, .name = "bad", .family = "c", .run.transpose = bad_transpose},
    {.op = LAP_OP_TRANSPOSE, .name = "told", .family = "c", .run.transpose = told_transpose},
    {0},
};

static lap_code bad_reduce(const lap_array *in, double *sum, const lap_exec *exec)
{
    const lap_array fewer = {in->base, in->n - 1, in->is_double, in->place};
    return lap_reduce_c(&fewer, sum, exec);
}

const lap_rung lap_reduce_table[] = {
    {.op = LAP_OP_REDUCE, .name = "c", .family = "c", .run.reduce = lap_reduce_c},
    {.op = LAP_OP_REDUCE, .name = "bad", .family = "c", .run.reduce = bad_reduce},
    {.op = LAP_OP_REDUCE, .name = "told", .family = "c", .run.reduce = told_reduce},
    {0},
};

static lap_code bad_histogram(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    lap_code code = lap_histogram_c(in, counts, exec);
    counts[in->channels - 1][7]++;
    return code;
}

const lap_rung lap_histogram_table[] = {
    {.op = LAP_OP_HISTOGRAM, .name = "c", .family = "c", .run.histogram = lap_histogram_c},
    {.op = LAP_OP_HISTOGRAM, .name = "bad", .family = "c", .run.histogram = bad_histogram},
    {.op = LAP_OP_HISTOGRAM, .name = "told", .family = "c", .run.histogram = told_histogram},
    {0},
};

static lap_code bad_matvec(const lap_gemv *g, const lap_exec *exec)
{
    lap_gemv fewer = *g;
    fewer.rows--;
    return lap_matvec_c(&fewer, exec);
}

const lap_rung lap_matvec_table[] = {
    {.op = LAP_OP_MATVEC, .name = "c", .family = "c", .run.matvec = lap_matvec_c},
    {.op = LAP_OP_MATVEC, .name = "bad", .family = "c", .run.matvec = bad_matvec},
    {.op = LAP_OP_MATVEC, .name = "told", .family = "c", .run.matvec = told_matvec},
    {0},
};

/* ---- what is reported -------------------------------------------------------------------------------- */

typedef struct seen {
    lap_compare_row rows[8];
    char reason[8][80], detail[8][160];
    int count;
} seen;

static void take(void *user, const lap_compare_row *row)
{
    seen *t = user;
    assert_true(t->count < 8);
    snprintf(t->reason[t->count], 80, "%s", row->reason ? row->reason : "");
    snprintf(t->detail[t->count], 160, "%s", row->detail ? row->detail : "");
    t->rows[t->count++] = *row;
}

typedef struct fixture {
    lap_context *context;
    lap_pixels *pixels;
    lap_settings settings;
} fixture;

static int set_up(void **state)
{
    enum { W = 31, H = 17 };
    char path[TEMPORARY_PATH];
    fixture *f = calloc(1, sizeof *f);
    lap_error err = {0};
    const int fd = mkstemp(temporary(path, "compare"));
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f || !file)
        return -1;
    fprintf(file, "P6\n%d %d\n255\n", W, H);
    for (unsigned i = 0, seed = 1; i < W * H * 3; i++) {
        seed = seed * 1664525 + 1013904223;
        fputc((int)(seed >> 24), file);
    }
    fclose(file);
    f->settings = lap_settings_default();
    f->context = lap_context_create(2, &err);
    lap_code code = f->context ? lap_pixels_read(f->context, path, &f->settings, &f->pixels, &err) : err.code;
    unlink(path);
    *state = f;
    return code == LAP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    lap_pixels_free(f->pixels);
    lap_context_destroy(f->context);
    free(f);
    return 0;
}

static lap_code compare(fixture *f, lap_op op, const lap_compare_options *options, seen *t)
{
    lap_error err = {0};
    lap_compare_options all = *options;
    *t = (seen){.count = 0};
    all.each = take;
    all.user = t;
    return lap_compare(f->context, op, f->pixels, &all, &f->settings, &err);
}

static void test_filter(void **state)
{
    seen t;
    assert_int_equal(compare(*state, LAP_OP_FILTER, &(lap_compare_options){0}, &t), LAP_OK);
    assert_int_equal(t.count, 6);
    assert_true(t.rows[0].difference.identical && !t.rows[0].reason && t.rows[0].ms == 0);
    const lap_difference *bad = &t.rows[1].difference;
    assert_false(bad->identical);
    assert_int_equal(bad->max_abs, 1);
    assert_int_equal(bad->differing_pixels, 1);
    assert_int_equal(bad->first_x, 4);
    assert_int_equal(bad->first_y, 3);
    assert_int_equal(bad->first_channel, 0);
    assert_false(bad->first_at_border);
    /* Output is poisoned: who writes nothing is not taken for the rung before. */
    assert_false(t.rows[2].difference.identical);
    assert_int_equal(t.rows[2].difference.first_b, 0xA5);
    assert_string_equal(t.rows[3].resolved, "failing");
    assert_string_equal(t.reason[3], "it broke");
    assert_null(t.rows[4].resolved);
    assert_non_null(strstr(t.reason[4], "never here"));
}

static void test_choice_and_mask(void **state)
{
    seen t;
    assert_int_equal(
        compare(*state, LAP_OP_FILTER, &(lap_compare_options){.backends = "bad,c", .mask_border = 0}, &t),
        LAP_OK);
    assert_int_equal(t.count, 2);
    assert_string_equal(t.rows[0].backend, "c");
    assert_int_equal(
        compare(*state, LAP_OP_FILTER, &(lap_compare_options){.backends = "bad", .mask_border = 3}, &t),
        LAP_OK);
    assert_false(t.rows[0].difference.identical);
    assert_int_equal(
        compare(*state, LAP_OP_FILTER, &(lap_compare_options){.backends = "bad", .mask_border = 4}, &t),
        LAP_OK);
    assert_true(t.rows[0].difference.identical);
    assert_int_equal(
        compare(*state, LAP_OP_FILTER, &(lap_compare_options){.backends = NULL, .mask_border = 9}, &t),
        LAP_E_DIFFERENT);
    assert_int_equal(compare(*state, LAP_OP_COUNT, &(lap_compare_options){0}, &t), LAP_E_USAGE);
}

static void test_other_ladders(void **state)
{
    static const char *const details[LAP_OP_COUNT] = {
        [LAP_OP_REDUCE] = "1581 samples: c sums ",
        [LAP_OP_HISTOGRAM] = "value 7 of channel 2: c counts ",
        [LAP_OP_MATVEC] = "row 16: c gives ",
    };
    for (int op = LAP_OP_TRANSPOSE; op < LAP_OP_COUNT; op++) {
        seen t;
        assert_int_equal(compare(*state, (lap_op)op, &(lap_compare_options){0}, &t), LAP_OK);
        assert_int_equal(t.count, 3);
        assert_int_equal(t.rows[0].op, op);
        /* Nothing of the wrong row before it remains. */
        assert_true(t.rows[2].difference.identical && !t.rows[2].detail);
        assert_true(t.rows[0].difference.identical && !t.rows[0].detail);
        assert_false(t.rows[1].difference.identical);
        if (details[op])
            assert_memory_equal(t.detail[1], details[op], strlen(details[op]));
        else
            assert_int_equal(t.rows[1].difference.max_abs, 2);
        const bool sums = op == LAP_OP_REDUCE || op == LAP_OP_MATVEC;
        assert_int_equal(isnan(t.rows[0].relative_error), !sums);
        if (sums) {
            assert_true(t.rows[0].relative_error < 1e-5);
            assert_true(!(t.rows[1].relative_error < 1e-4)); /* or not a number at all */
        }
    }
}

static int value_at(const lap_view *v, int i)
{
    const int line = v->width * v->channels;
    return v->base[i / line * v->stride + i % line];
}

/* The details of wrong rungs, and the rounding errors of a right one, to the last bit. */
static void test_details(void **state)
{
    const fixture *f = *state;
    const lap_view *v = lap_pixels_view(f->pixels);
    const int n = v->width * v->height * v->channels;
    char wanted[160];
    float *fractions = malloc((size_t)n * sizeof *fractions), poison;
    assert_non_null(fractions);
    double sum = 0, exact = 0, rounded;
    long long counts = 0, row = 0;
    for (int i = 0; i < n; i++) {
        sum += value_at(v, i);
        fractions[i] = (float)value_at(v, i) / 255;
        exact += (double)fractions[i];
        counts += i % 3 == 2 && value_at(v, i) == 7;
    }
    for (int x = 0; x < v->width; x++)
        row += value_at(v, ((v->height - 1) * v->width + x) * v->channels) * (x % 3 - 1);
    const lap_array array = {fractions, (size_t)n, false, LAP_ON_HOST};
    assert_int_equal(lap_reduce_c(&array, &rounded, &(lap_exec){.threads = 1}), LAP_OK);
    seen t;
    assert_int_equal(compare(*state, LAP_OP_REDUCE, &(lap_compare_options){0}, &t), LAP_OK);
    snprintf(
        wanted, sizeof wanted, "%d samples: c sums %.17g, this rung %.17g", n, sum, sum - value_at(v, n - 1));
    assert_string_equal(t.detail[1], wanted);
    assert_true(t.rows[0].relative_error == fabs(rounded - exact) / exact);
    assert_int_equal(compare(*state, LAP_OP_HISTOGRAM, &(lap_compare_options){0}, &t), LAP_OK);
    snprintf(
        wanted, sizeof wanted, "value 7 of channel 2: c counts %lld, this rung %lld", counts, counts + 1);
    assert_string_equal(t.detail[1], wanted);
    assert_int_equal(compare(*state, LAP_OP_MATVEC, &(lap_compare_options){0}, &t), LAP_OK);
    memset(&poison, 0xA5, sizeof poison);
    snprintf(wanted, sizeof wanted, "row 16: c gives %.9g, this rung %.9g", (double)row, (double)poison);
    assert_string_equal(t.detail[1], wanted);
    free(fractions);
}

/* How many runs there are, and the figures that are computed from their times. */
static void test_times(void **state)
{
    static const struct {
        int runs;
        double first, more;
        int calls, counted;
        double least, most, median;
    } cases[] = {{1, 7, 0, 1, 1, 7, 7, 7}, {2, 7, 1, 3, 2, 8, 9, 8.5}, {4, 10, 10, 5, 4, 20, 50, 35},
        {3, 1000, 0, 4, 3, 1000, 1000, 1000}, {0, 1, 0, 6, 5, 1, 1, 1}, {0, 100, 0, 2, 1, 100, 100, 100},
        {0, 125, 0, 2, 1, 125, 125, 125}, {0, 125.25, 0, 1, 1, 125.25, 125.25, 125.25}};
    for (int op = 0; op < LAP_OP_COUNT; op++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            seen t;
            /* Reduce and matvec are first checked by a call that is not timed. */
            const int more = op == LAP_OP_REDUCE || op == LAP_OP_MATVEC;
            told = (struct told){.first = cases[i].first - more * cases[i].more, .more = cases[i].more};
            const lap_compare_options options = {.backends = "told", .runs = cases[i].runs};
            assert_int_equal(compare(*state, (lap_op)op, &options, &t), LAP_OK);
            assert_int_equal(t.count, 1);
            const lap_compare_row *row = &t.rows[0];
            assert_true(row->difference.identical && !row->reason && !row->detail);
            assert_int_equal(told.calls, cases[i].calls + more);
            assert_int_equal(row->runs, cases[i].counted);
            assert_true(row->ms == cases[i].median);
            assert_true(row->min_ms == cases[i].least && row->max_ms == cases[i].most);
            double squares = 0;
            for (int k = 0; k < row->runs; k++) {
                const double off = cases[i].least + k * cases[i].more - cases[i].median;
                squares += off * off;
            }
            const double spread = row->runs > 1 ? sqrt(squares / (row->runs - 1)) : 0;
            assert_true(fabs(row->stddev_ms - spread) < 1e-9);
            assert_true(isnan(row->upload_ms) && isnan(row->kernel_ms) && isnan(row->download_ms));
        }
}

/* A failed rung is reported with its reason; some failures end the whole comparison with their reason. */
static void test_failures(void **state)
{
    static const lap_code codes[] = {LAP_E_DEVICE, LAP_E_BACKEND, LAP_E_USAGE, LAP_E_INTERNAL, LAP_E_MEMORY,
        LAP_E_CANCELLED, LAP_E_TIMEOUT, LAP_E_DIFFERENT};
    for (int op = 0; op < LAP_OP_COUNT; op++)
        for (int i = 0; i < 8; i++)
            for (int fails_at = 1; fails_at <= 3; fails_at++)
                for (int speaks = 0; speaks < 2; speaks++) {
                    fixture *f = *state;
                    seen t = {.count = 0};
                    lap_error err = {0};
                    char wanted[80];
                    told = (struct told){.fails_at = fails_at, .code = codes[i]};
                    told.message = speaks ? "as told" : NULL;
                    snprintf(wanted, sizeof wanted, "%s in the %s rung told",
                        codes[i] == LAP_E_MEMORY ? "out of memory" : lap_code_name(codes[i]),
                        lap_op_name((lap_op)op));
                    const lap_compare_options options = {
                        .backends = "told", .runs = 3, .each = take, .user = &t};
                    const lap_code code =
                        lap_compare(f->context, (lap_op)op, f->pixels, &options, &f->settings, &err);
                    assert_int_equal(told.calls, fails_at);
                    assert_int_equal(code, i < 4 ? LAP_OK : codes[i]);
                    assert_int_equal(t.count, i < 4);
                    assert_int_equal(err.code, code);
                    assert_string_equal(i < 4 ? t.reason[0] : err.message, speaks ? "as told" : wanted);
                    if (i >= 4)
                        continue;
                    assert_string_equal(t.rows[0].resolved, "told");
                    assert_true(isnan(t.rows[0].ms) && t.rows[0].runs == 0);
                    if (op == LAP_OP_MATVEC)
                        assert_true(isnan(t.rows[0].relative_error));
                }
    told = (struct told){0};
}

static void test_limits(void **state)
{
    fixture *f = *state;
    static const struct {
        int op, runs;
        lap_code code;
        const char *said;
    } cases[] = {{0, -1, LAP_E_USAGE, "compare: -1 runs; 1 to 10000 are possible"},
        {0, 10001, LAP_E_USAGE, "compare: 10001 runs; 1 to 10000 are possible"}, {0, 10000, LAP_OK, ""},
        {-1, 1, LAP_E_USAGE, "no such ladder: -1"}, {LAP_OP_COUNT, 1, LAP_E_USAGE, "no such ladder: 5"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen t = {.count = 0};
        lap_error err = {0};
        const lap_compare_options options = {
            .backends = "told", .runs = cases[i].runs, .each = take, .user = &t};
        told = (struct told){.fails_at = 1, .code = LAP_E_DEVICE};
        started = -1;
        f->settings.device = 3;
        const lap_code code =
            lap_compare(f->context, (lap_op)cases[i].op, f->pixels, &options, &f->settings, &err);
        assert_int_equal(code, cases[i].code);
        assert_string_equal(err.message, cases[i].said);
        assert_int_equal(t.count, code == LAP_OK);
        assert_int_equal(started, code == LAP_OK ? 3 : -1);
    }
    f->settings.device = 0;
    /* The context has two threads. */
    static const int threads[][2] = {{-1, 2}, {0, 2}, {1, 1}, {2, 2}, {3, 2}};
    for (int i = 0; i < 5; i++) {
        seen t;
        told = (struct told){0};
        f->settings.threads = threads[i][0];
        assert_int_equal(compare(f, LAP_OP_FILTER, &(lap_compare_options){.backends = "told"}, &t), LAP_OK);
        assert_int_equal(told.threads, threads[i][1]);
    }
    f->settings.threads = 0;
    /* The apron is filled by the border of the settings, whatever it contained. */
    static const lap_border borders[] = {LAP_CONSTANT + 77, LAP_REPLICATE, LAP_CONSTANT + 78};
    const uint8_t corners[] = {77, lap_pixels_view(f->pixels)->base[0], 78};
    const lap_border before = f->settings.border;
    for (int i = 0; i < 3; i++) {
        seen t;
        told = (struct told){0};
        f->settings.border = borders[i];
        assert_int_equal(compare(f, LAP_OP_FILTER, &(lap_compare_options){.backends = "told"}, &t), LAP_OK);
        assert_int_equal(told.corner, corners[i]);
    }
    f->settings.border = before;
}

/* If memory runs out, no row is reported and no rung is timed. */
static void test_no_memory(void **state)
{
    fixture *f = *state;
    enum { SAMPLES = 31 * 17 * 3 };
    static const struct {
        lap_op op;
        size_t size;
        int images, calls;
        const char *said;
    } cases[] = {{LAP_OP_FILTER, 0, 0, 0, "no image of 31x17x3"},
        {LAP_OP_FILTER, 0, 1, 0, "no image of 31x17x3"}, {LAP_OP_TRANSPOSE, 0, 0, 0, "no image of 17x31x3"},
        {LAP_OP_TRANSPOSE, 0, 1, 0, "no image of 17x31x3"},
        {LAP_OP_FILTER, sizeof(double[4 * 7]), -1, 0, "out of memory for 7 timings"},
        {LAP_OP_HISTOGRAM, sizeof(double[4 * 7]), -1, 0, "out of memory for 7 timings"},
        {LAP_OP_REDUCE, sizeof(double[4 * 7]), -1, 1, "out of memory for 7 timings"},
        {LAP_OP_REDUCE, sizeof(double[SAMPLES]), -1, 0, "out of memory for 1581 samples as numbers"},
        {LAP_OP_REDUCE, sizeof(float[SAMPLES]), -1, 0, "out of memory for 1581 samples as numbers"},
        {LAP_OP_MATVEC, sizeof(float[31 * 17 + 2 * 31 + 2 * 17]), -1, 0,
            "out of memory for a matrix of 17 x 31"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen t = {.count = 0};
        lap_error err = {0};
        const lap_compare_options options = {.backends = "told", .runs = 7, .each = take, .user = &t};
        told = (struct told){0};
        missing = cases[i].size ? cases[i].size : SIZE_MAX;
        images_left = cases[i].images;
        const lap_code code = lap_compare(f->context, cases[i].op, f->pixels, &options, &f->settings, &err);
        missing = SIZE_MAX;
        images_left = -1;
        assert_int_equal(code, LAP_E_MEMORY);
        assert_string_equal(err.message, cases[i].said);
        assert_int_equal(t.count, 0);
        assert_int_equal(told.calls, cases[i].calls);
    }
}

/* Compares sums or products on a picture of any size, whose rows all share the same memory. */
static lap_code compare_rows(lap_op op, uint8_t *row, int width, int height, seen *t, lap_error *err)
{
    const lap_view pixels = {
        .base = row, .width = width, .height = height, .channels = 1, .place = LAP_ON_HOST};
    const lap_control control = {0};
    const lap_comparison comparison = {.use = {.exec.threads = 1},
        .control = &control,
        .runs = 1,
        .pixels = &pixels,
        .backends = "told",
        .each = take,
        .user = t};
    told.calls = 0;
    *t = (seen){.count = 0};
    *err = (lap_error){0};
    return op == LAP_OP_REDUCE ? lap_compare_reduce(&comparison, err) : lap_compare_matvec(&comparison, err);
}

/* The largest numbers of values that are used. Allocating memory for them fails here, and the message
 * tells their number. */
static void test_large_pictures(void **state)
{
    (void)state;
    static uint8_t row[65537];
    static const struct {
        lap_op op;
        int width, height;
        const char *said;
    } cases[] = {{LAP_OP_REDUCE, 65536, 511, "out of memory for 33488896 samples as numbers"},
        {LAP_OP_REDUCE, 65536, 512, "out of memory for 33554432 samples as numbers"},
        {LAP_OP_REDUCE, 65536, 513, "out of memory for 33554432 samples as numbers"},
        {LAP_OP_MATVEC, 65535, 511, "out of memory for a matrix of 511 x 65535"},
        {LAP_OP_MATVEC, 65536, 512, "out of memory for a matrix of 512 x 65536"},
        {LAP_OP_MATVEC, 65537, 513, "out of memory for a matrix of 512 x 65536"},
        {LAP_OP_MATVEC, 10, 3355443, "out of memory for a matrix of 3355443 x 10"},
        {LAP_OP_MATVEC, 10, 3355444, "out of memory for a matrix of 3355443 x 10"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen t;
        lap_error err;
        assert_int_equal(
            compare_rows(cases[i].op, row, cases[i].width, cases[i].height, &t, &err), LAP_E_MEMORY);
        assert_string_equal(err.message, cases[i].said);
    }
    for (int width = 65536; width <= 65537; width++) {
        seen t;
        lap_error err;
        told = (struct told){0};
        assert_int_equal(compare_rows(LAP_OP_MATVEC, row, width, 2, &t, &err), LAP_OK);
        assert_true(product.cols == 65536 && product.lda == 65536 && product.rows == 2);
    }
}

/* The matrix and the vectors of the products, and how their rounding errors are reported. */
static void test_products(void **state)
{
    (void)state;
    static uint8_t row[100], black[8];
    static const float signs[] = {-1, 0, 1, -1}, weights[] = {1 / 3.0F, 1 / 4.0F, 1 / 5.0F, 1 / 6.0F};
    for (int i = 0; i < 100; i++)
        row[i] = (uint8_t)(2 * i + 1);
    seen t;
    lap_error err;
    told = (struct told){0};
    assert_int_equal(compare_rows(LAP_OP_MATVEC, row, 100, 5, &t, &err), LAP_OK);
    assert_true(product.cols == 100 && product.rows == 5 && product.place == LAP_ON_HOST);
    assert_memory_equal(first_x[0], signs, sizeof signs);
    assert_memory_equal(first_x[1], weights, sizeof weights);
    for (int i = 0; i < 8; i++)
        assert_true(first_a[i] == (float)(2 * i + 1));
    /* The largest error is reported, wherever it is; NaN counts as the largest. */
    static const float factors[][3] = {
        {1.5F, 1.25F, 1}, {1.25F, 1, 1.5F}, {1, 0.5F, 1.25F}, {1, NAN, 1.5F}, {1.5F, 1, NAN}, {NAN, 1, 1}};
    for (int i = 0; i < 6; i++) {
        told.factors = factors[i];
        assert_int_equal(compare_rows(LAP_OP_MATVEC, row, 100, 3, &t, &err), LAP_OK);
        assert_true(t.rows[0].difference.identical);
        assert_true(i < 3 ? fabs(t.rows[0].relative_error - 0.5) < 1e-5 : isnan(t.rows[0].relative_error));
    }
    /* If the exact sum is 0, the error is absolute. */
    told.factors = (const float[]){-0.25F, -0.5F, -0.125F};
    assert_int_equal(compare_rows(LAP_OP_MATVEC, black, 8, 3, &t, &err), LAP_OK);
    assert_true(t.rows[0].relative_error == 0.5);
    told.factors = NULL;
    assert_int_equal(compare_rows(LAP_OP_MATVEC, black, 8, 3, &t, &err), LAP_OK);
    assert_true(t.rows[0].relative_error == 0);
    assert_int_equal(compare_rows(LAP_OP_REDUCE, black, 8, 3, &t, &err), LAP_OK);
    assert_true(t.rows[0].difference.identical && t.rows[0].relative_error == 0);
}

static void test_cancel(void **state)
{
    fixture *f = *state;
    seen t;
    lap_context_cancel(f->context);
    assert_int_equal(compare(f, LAP_OP_FILTER, &(lap_compare_options){0}, &t), LAP_E_CANCELLED);
    assert_int_equal(t.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_choice_and_mask),
        cmocka_unit_test(test_other_ladders),
        cmocka_unit_test(test_details),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_large_pictures),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests_name("compare", tests, set_up, tear_down);
}
