#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lapedge_program.h"
#include "rungs/backend.h"

/* The rung's name, or the message. */
static const char *found(const char *name)
{
    static lap_error err;
    const lap_rung *rung;
    return lap_rung_find(LAP_OP_FILTER, name, &rung, &err) == LAP_OK ? rung->name : err.message;
}

static void test_names(void **state)
{
    (void)state;
    const lap_rung *row;
    assert_string_equal(lap_rung_row(LAP_OP_FILTER, 0)->name, "c");
    assert_null(lap_rung_row(LAP_OP_FILTER, -1));
    assert_null(lap_rung_row(LAP_OP_COUNT, 0));
    for (int op = 0; op < LAP_OP_COUNT; op++) {
        for (int i = 0; (row = lap_rung_row((lap_op)op, i)); i++) {
            assert_int_equal(row->op, op);
            assert_true(row->family && row->what);
            /* A row runs, or resolves to others, or says why not. */
            assert_true(!!row->run.filter + !!row->resolves == 1 || (row->available && row->available()));
            assert_string_equal(lap_rung_nearest((lap_op)op, row->name), row->name);
        }
    }
    assert_string_equal(lap_op_name(LAP_OP_MATVEC), "matvec");
}

static void test_resolving(void **state)
{
    (void)state;
    unsetenv("LAP_CPU_MASK");
    assert_string_equal(found("c"), "c");
    lap_rung_info simd, automatic;
    for (int i = 0; lap_rung_at(LAP_OP_FILTER, i, false, &simd); i++) {
        if (strcmp(simd.name, "simd") == 0)
            break;
    }
    assert_string_equal(simd.name, "simd");
    for (int i = 0; lap_rung_at(LAP_OP_FILTER, i, false, &automatic); i++)
        assert_true(!automatic.resolved == !!automatic.reason);
    assert_string_equal(automatic.name, "auto");
    if (simd.resolved)
        assert_string_equal(automatic.resolved, simd.resolved);
}

static void test_masks(void **state)
{
    (void)state;
    unsetenv("LAP_CPU_MASK");
    if (strcmp(found("simd"), "simd-neon") == 0) {
        setenv("LAP_CPU_MASK", "neon", 1);
        assert_non_null(strstr(found("simd-neon"), "hidden by LAP_CPU_MASK"));
        assert_non_null(strstr(found("simd"), "cannot run here"));
        unsetenv("LAP_CPU_MASK");
        return;
    }
    if (strcmp(found("simd"), "simd-avx512") != 0)
        skip();
    setenv("LAP_CPU_MASK", "avx512", 1);
    assert_string_equal(found("simd"), "simd-avx2");
    assert_non_null(strstr(found("simd-avx512"), "hidden by LAP_CPU_MASK"));
    setenv("LAP_CPU_MASK", "avx512,avx2", 1);
    assert_string_equal(found("simd"), "simd-sse41");
    assert_string_equal(found("auto"), "simd-sse41");
    setenv("LAP_CPU_MASK", "sse41,avx512,avx2", 1);
    assert_non_null(strstr(found("simd"), "cannot run here: SSE4.1 is hidden by LAP_CPU_MASK"));
    assert_string_equal(found("auto"), strstr(found("openmp"), "cannot") ? "c" : "openmp");
    unsetenv("LAP_CPU_MASK");
}

static void test_errors(void **state)
{
    (void)state;
    const lap_rung *rung;
    lap_error err;
    assert_int_equal(lap_rung_find(LAP_OP_FILTER, "openm", &rung, &err), LAP_E_USAGE);
    assert_null(rung);
    assert_non_null(strstr(err.message, "'openm'"));
    assert_non_null(strstr(err.message, "nearest is 'openmp'"));
    assert_string_equal(lap_rung_nearest(LAP_OP_FILTER, "SIMD-AVX"), "simd-avx2");
    assert_string_equal(lap_rung_nearest(LAP_OP_FILTER, "cuda-shared-flat"), "cuda-shared4");
    assert_string_equal(lap_rung_nearest(LAP_OP_FILTER, "cuda_fast"), "cuda-fast");
    assert_string_equal(lap_rung_nearest(LAP_OP_FILTER, "cuda"), "cuda-fast");
    assert_null(lap_rung_nearest(LAP_OP_FILTER, "opengl-compute"));
    assert_null(lap_rung_nearest(LAP_OP_FILTER, ""));
    char longest[300];
    memset(longest, 'c', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_null(lap_rung_nearest(LAP_OP_FILTER, longest));
    assert_int_equal(lap_rung_find(LAP_OP_FILTER, longest, &rung, &err), LAP_E_USAGE);
    assert_int_equal(lap_rung_find(LAP_OP_FILTER, "c", &rung, &err), LAP_OK);
    assert_int_equal(lap_rung_find_on_device(LAP_OP_FILTER, "c", 0, &rung, &err), LAP_E_USAGE);
    assert_null(rung); /* of the last call, though the name is known */
    assert_string_equal(err.message,
        "backend 'c' runs on the CPU, and the pixels lie on device 0; for host memory, "
        "set place to LAP_ON_HOST");
#if !LAP_HAVE_CUDA
    lap_rung_info info;
    for (int i = 0; lap_rung_at(LAP_OP_FILTER, i, false, &info); i++) /* known without looking for a device */
        if (strcmp(info.family, "cuda") == 0 && !(info.reason && strstr(info.reason, "not built")))
            fail_msg("%s: %s", info.name, info.reason ? info.reason : "can run");
    assert_int_equal(lap_rung_find(LAP_OP_FILTER, "cuda-shared-float", &rung, &err), LAP_E_BACKEND);
    assert_non_null(strstr(err.message, "not built"));
    for (int i = 0; i < 3; i++) {
        const char *const name = (const char *[]){NULL, "auto", "cuda-box-sum"}[i];
        assert_int_equal(lap_rung_find_on_device(LAP_OP_FILTER, name, 3, &rung, &err), LAP_E_BACKEND);
        assert_true((strncmp(err.message, "the pixels lie on device 3 (", 28) == 0) == (i < 2));
        assert_non_null(strstr(err.message, i < 2 ? "'cuda-fast' cannot run" : "'cuda-box-sum' cannot run"));
        assert_null(rung);
    }
    const char *reason;
    assert_false(lap_device_at(0, NULL, &reason));
    assert_non_null(strstr(reason, "not built"));
#endif
}

static void test_distance(void **state)
{
    (void)state;
    assert_int_equal(lap_word_distance("", ""), 0);
    assert_int_equal(lap_word_distance("simd", ""), 4);
    assert_int_equal(lap_word_distance("SIMD", "simd"), 0);
    assert_int_equal(lap_word_distance("smid", "simd"), 1);      /* swapped */
    assert_int_equal(lap_word_distance("openm", "openmp"), 1);   /* left out */
    assert_int_equal(lap_word_distance("opennmp", "openmp"), 1); /* inserted */
    assert_int_equal(lap_word_distance("kitten", "sitting"), 3);
    char longest[65] = {0};
    memset(longest, 'a', 64);
    assert_int_equal(lap_word_distance(longest, longest), 63);
    assert_int_equal(lap_word_distance(longest + 1, longest + 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_resolving),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
