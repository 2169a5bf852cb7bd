/* Contexts: as many threads as lapedge.h promises, and no more. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/condition.h"
#include "base/context.h"
#include "base/status.h"

static void threads_have_the_limit_of_the_header(void **state)
{
    (void)state;
    static const int refused[] = {-1, 1025, 4096, 1 << 30};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        lap_error err = {0};
        assert_null(lap_context_create(refused[i], &err));
        assert_int_equal(err.code, LAP_E_USAGE);
        char message[100];
        snprintf(message, sizeof message,
            "%d threads requested; allowed are 1 to 1024, or 0 for one per core", refused[i]);
        assert_string_equal(err.message, message);
    }
    lap_context *context = lap_context_create(3, NULL);
    assert_int_equal(lap_context_threads(context), 3);
    lap_context_destroy(context);
}

/* One per core that the process may use, and one alone. */
static void no_number_means_the_cores_of_the_process(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    lap_context *context = lap_context_create(0, NULL);
    assert_int_equal(lap_context_threads(context), CPU_COUNT(&all));
    lap_context_destroy(context);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    context = lap_context_create(0, NULL);
    assert_int_equal(lap_context_threads(context), 1);
    lap_context_destroy(context);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(lap_context_threads(NULL), 1);
    lap_context_destroy(NULL);
}

static void a_run_stops_when_cancelled_or_late(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(1, NULL);
    const double now = lap_now_ms();
    lap_error err = {0};
    lap_control control = lap_context_control(context, 2.5, 1000);
    assert_true(control.deadline_ms == 3500 && control.limit_s == 2.5);
    control = lap_context_control(context, 0, now);
    assert_true(control.deadline_ms == 0 && control.limit_s == 0);
    assert_int_equal(lap_control_check(&control, &err), LAP_OK);
    assert_int_equal(lap_control_check(NULL, &err), LAP_OK);
    control = lap_context_control(context, 3600, now);
    assert_int_equal(lap_control_check(&control, &err), LAP_OK);
    control = lap_context_control(context, 0.5, now - 1000);
    assert_int_equal(lap_control_check(&control, &err), LAP_E_TIMEOUT);
    assert_string_equal(err.message, "over the time limit of 0.5 s");
    assert_int_equal(err.remedy, LAP_REMEDY_TIMEOUT);
    control.limit_s = 0;
    control.cancel = NULL;
    assert_int_equal(lap_control_check(&control, &err), LAP_E_TIMEOUT);
    assert_string_equal(err.message, "over the time limit");
    assert_int_equal(err.remedy, LAP_REMEDY_TIMEOUT);
    control = lap_context_control(context, 0, now);
    lap_context_cancel(context);
    assert_int_equal(lap_control_check(&control, &err), LAP_E_CANCELLED);
    assert_string_equal(err.message, "cancelled");
    assert_int_equal(err.remedy, LAP_REMEDY_NONE);
    lap_context_destroy(context);
}

static int64_t nanoseconds(struct timespec t)
{
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void a_wait_ends_that_much_later(void **state)
{
    (void)state;
    static const int64_t waits[] = {0, 1, 999, 100000, 999999, 1000000, 1000001, 1999999, 3600000000};
    struct timespec before, after;
    for (int turn = 0; turn < 20; turn++)
        for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
            clock_gettime(CLOCK_MONOTONIC, &before);
            const struct timespec until = lap_condition_until(waits[i]);
            clock_gettime(CLOCK_MONOTONIC, &after);
            assert_true(until.tv_nsec >= 0 && until.tv_nsec < 1000000000);
            assert_true(nanoseconds(until) >= nanoseconds(before) + 1000 * waits[i]);
            assert_true(nanoseconds(until) <= nanoseconds(after) + 1000 * waits[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_the_limit_of_the_header),
        cmocka_unit_test(no_number_means_the_cores_of_the_process),
        cmocka_unit_test(a_run_stops_when_cancelled_or_late),
        cmocka_unit_test(a_wait_ends_that_much_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
