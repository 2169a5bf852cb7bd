#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/kernel5x5.h"
#include "lapedge_program.h"
#include "tests/support/temporary.h"

static lap_kernel parsed(const char *spec)
{
    lap_kernel kernel;
    lap_error err = {0};
    if (lap_kernel_parse(spec, &kernel, &err) != LAP_OK)
        fail_msg("%s: %s", spec, err.message);
    return kernel;
}

/* The sum of a row of coefficients is what a flat area gives; the sum of magnitudes bounds all sums. */
static void test_presets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int sum, abs_sum, centre;
    } presets[] = {
        {"laplace5", 0, 48, 24},
        {"laplace3-4", 0, 8, 4},
        {"laplace3-8", 0, 16, 8},
        {"log5", 0, 32, 16},
        {"npp5", 0, 88, 20},
        {"opencv5", 0, 112, -24},
        {"identity", 1, 1, 1},
    };
    int n = 0;
    for (; lap_kernel_preset(n); n++) {
        lap_kernel kernel = parsed(lap_kernel_preset(n));
        int sum = 0;
        for (int i = 0; i < 25; i++) {
            sum += kernel.hi[i];
            assert_true((float)kernel.hi[i] == kernel.h[i]);
        }
        assert_string_equal(kernel.name, presets[n].name);
        assert_int_equal(sum, presets[n].sum);
        assert_int_equal((int)kernel.abs_sum, presets[n].abs_sum);
        assert_int_equal(kernel.hi[12], presets[n].centre);
        assert_true(kernel.is_integer && kernel.is_symmetric && lap_kernel_is_exact(&kernel));
        assert_int_equal(kernel.is_laplace5, n == 0);
    }
    assert_int_equal(n, sizeof presets / sizeof *presets);
    assert_null(lap_kernel_preset(-1));
}

static void test_lists(void **state)
{
    (void)state;
    lap_kernel kernel = parsed("1,2,3,4,5/6 7 8 9 10/11,12,13,14,15 / 16,17,18,19,20/21,22,23,24,-2.5e1");
    for (int i = 0; i < 24; i++)
        assert_int_equal(kernel.hi[i], i + 1);
    assert_int_equal(kernel.hi[24], -25);
    assert_string_equal(kernel.name, "custom");
    assert_true(kernel.is_integer && !kernel.is_symmetric && !kernel.is_laplace5);
    kernel = parsed("-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,24,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1");
    assert_true(kernel.is_laplace5 && kernel.is_symmetric);
    kernel = parsed("0.5,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0");
    assert_true(!kernel.is_integer && !lap_kernel_is_exact(&kernel));
    assert_true(kernel.abs_sum == 1.5);
}

static void test_files(void **state)
{
    (void)state;
    char path[TEMPORARY_PATH];
    static const char text[] = "0 0 -1 0 0\n0 -1 -2 -1 0\n-1 -2 16 -2 -1\n0 -1 -2 -1 0\n0 0 -1 0 0\n";
    int fd = mkstemp(temporary(path, "kernel"));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    lap_kernel file = parsed(path), preset = parsed("log5");
    assert_memory_equal(file.h, preset.h, sizeof file.h);
    /* A zero byte ends no text here. */
    assert_int_equal(write(fd, "\0", 1), 1);
    lap_error err;
    assert_int_equal(lap_kernel_parse(path, &file, &err), LAP_E_USAGE);
    assert_non_null(strstr(err.message, path));
    close(fd);
    unlink(path);
    assert_int_equal(lap_kernel_parse("/tmp", &file, &err), LAP_E_USAGE);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *message;
    } bad[] = {
        {"laplace", "not a preset"},
        {"", "not a preset"},
        {"2024/k.txt", "as a file: No such file"},
        {"1/2/x", "as a file: No such file"},
        {"1,2,3", "3 numbers where 25"},
        {"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "26 numbers where 25 (5x5) or 9"},
        {"1,1,1,1,1,1,1,1,1,1,1,1,x,1,1,1,1,1,1,1,1,1,1,1,1",
            "number 13 is not a decimal number, or out of range: 'x'"},
        {"1,1,1,1,1,1,1,1,1,1,1,1,1e,1,1,1,1,1,1,1,1,1,1,1,1", "number 13 is not a decimal"},
        {"1,1,1,1,1,1,1,1,1,1,1,1,nan,1,1,1,1,1,1,1,1,1,1,1,1", "number 13 is not a decimal"},
        {"1,1,1,1,0x1,1,1,1,1", "number 5 is not a decimal number, or out of range: '0x1'"},
        {"1e99,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "number 1 is not a finite"},
        {"4194304,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "more than 2^22"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lap_kernel kernel;
        lap_error err = {0};
        assert_int_equal(lap_kernel_parse(bad[i].spec, &kernel, &err), LAP_E_USAGE);
        if (!strstr(err.message, bad[i].message))
            fail_msg("'%s': '%s' says nothing of '%s'", bad[i].spec, err.message, bad[i].message);
        assert_null(strchr(err.message, '\n'));
    }
}

/* The limits of exactness and of the promise of one level, at their edges. */
static void test_tolerance(void **state)
{
    (void)state;
    lap_params params = lap_params_default();
    assert_int_equal(lap_params_tolerance(&params), 0);
    params.scale = 1000;
    assert_int_equal(lap_params_tolerance(&params), 0); /* exact sums: any scale */
    char spec[80];
    snprintf(spec, sizeof spec, "%d,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", 65793);
    params.scale = 1.0f / 64;
    params.kernel = parsed(spec); /* 255 * 65793 = 2^24 - 1 */
    assert_int_equal(lap_params_tolerance(&params), 0);
    params.kernel = parsed("65794,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
    assert_int_equal(lap_params_tolerance(&params), 1); /* 65794 / 64 = 1028 */
    params.scale = 1.0f / 32;
    assert_int_equal(lap_params_tolerance(&params), -1);
    params.scale = -1.0f / 64;
    params.kernel = parsed("76800,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
    assert_int_equal(lap_params_tolerance(&params), 1); /* 76800 / 64 = 1200 */
    params.kernel = parsed("76801,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
    assert_int_equal(lap_params_tolerance(&params), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
