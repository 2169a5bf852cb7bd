/* Contexts: as many threads as lapedge.h promises, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "lapedge.h"

static void threads_have_the_limit_of_the_header(void **state)
{
    (void)state;
    static const int refused[] = {-1, 1025, 4096, 1 << 30};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        lap_error err = {0};
        assert_null(lap_context_create(refused[i], &err));
        assert_int_equal(err.code, LAP_E_USAGE);
        assert_non_null(strstr(err.message, "1024"));
    }
    lap_context *context = lap_context_create(3, NULL);
    assert_int_equal(lap_context_threads(context), 3);
    lap_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_the_limit_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
