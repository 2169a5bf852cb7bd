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

#include "cpu_simd/host_rungs.h"
#include "lapedge_program.h"
#include "tests/support/temporary.h"

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
    assert_int_equal(t.count, 5);
    assert_true(t.rows[0].difference.identical && !t.rows[0].reason && t.rows[0].ms >= 0);
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
        assert_int_equal(t.count, 2);
        assert_int_equal(t.rows[0].op, op);
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
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests_name("compare", tests, set_up, tear_down);
}
