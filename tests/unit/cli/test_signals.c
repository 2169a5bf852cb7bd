/* signals.c: what happens before and after each command, and when a request to stop arrives. The test sets
 * the clock. */
#include "tests/unit/cli/command_stubs.h"

#include <errno.h>

#include "cli/sandbox/sandbox.h"

/* ---- the system ------------------------------------------------------------------------------------ */

static struct {
    double now_ms;
    int abandoned, raised, cancels, sandboxed, created, destroyed, threads, tolerance;
    lap_context *cancelled;
    bool reads_inside, reads_not, sandbox_fails, context_fails;
} sys;

STUB(lap_cli_now_ms);
double __wrap_lap_cli_now_ms(void)
{
    return sys.now_ms;
}

STUB(lap_abandon_outputs);
void __wrap_lap_abandon_outputs(void)
{
    sys.abandoned++;
    errno = EDOM;
}

__typeof__(raise) __real_raise;
STUB(raise);
int __wrap_raise(int number)
{
    sys.raised = number;
    return 0;
}

STUB(lap_context_cancel);
void __wrap_lap_context_cancel(lap_context *context)
{
    sys.cancels++;
    sys.cancelled = context;
    errno = EDOM;
}

STUB(lap_cli_sandbox);
lap_code __wrap_lap_cli_sandbox(const lap_cli *of, lap_error *err)
{
    assert_ptr_equal(of, &cli);
    sys.sandboxed++;
    assert_int_equal(sys.created, 0);
    return sys.sandbox_fails ? lap_sandbox_failed(err, LAP_E_BACKEND, "why") : LAP_OK;
}

STUB(lap_cli_reads_inside);
bool __wrap_lap_cli_reads_inside(const lap_cli *of)
{
    assert_ptr_equal(of, &cli);
    return sys.reads_inside;
}

STUB(lap_cli_read_kernel);
bool __wrap_lap_cli_read_kernel(lap_cli *of, char *problem, size_t size)
{
    assert_true(of == &cli && (sys.sandboxed || !cli.sandbox));
    assert_int_equal(size, sizeof((lap_error *)NULL)->message);
    if (sys.reads_not)
        strcpy(problem, "no kernel");
    return !sys.reads_not;
}

STUB(lap_params_tolerance);
int __wrap_lap_params_tolerance(const lap_params *params)
{
    assert_ptr_equal(params, &cli.settings.params);
    return sys.tolerance;
}

__typeof__(lap_context_destroy) __real_lap_context_destroy;
STUB(lap_context_destroy);
void __wrap_lap_context_destroy(lap_context *context)
{
    sys.destroyed++;
    __real_lap_context_destroy(context);
}

__typeof__(lap_context_create) __real_lap_context_create;
STUB(lap_context_create);
lap_context *__wrap_lap_context_create(int threads, lap_error *err)
{
    sys.created++;
    sys.threads = threads;
    if (!sys.context_fails)
        return __real_lap_context_create(threads, err);
    err->code = LAP_E_MEMORY;
    return NULL;
}

/* ---- steps ----------------------------------------------------------------------------------------- */

static void start(void)
{
    memset(&sys, 0, sizeof sys);
    sys.now_ms = 100000;
    begin_command(LAP_COMMAND_RUN);
}

static int begin(void **state)
{
    (void)state;
    heed_signals();
    start();
    return 0;
}

/* ---- around a command ------------------------------------------------------------------------------ */

static void commands_begin(void **state)
{
    lap_error err;
    (void)state;
    cli.settings.threads = 2;
    lap_context *context = lap_cli_begin(&cli, &err);
    assert_non_null(context);
    assert_int_equal(err.code, LAP_OK);
    assert_int_equal(sys.threads, 2);
    assert_int_equal(sys.sandboxed, 0);
    lap_cli_end(context);
    lap_cli_end(NULL);
    assert_int_equal(sys.destroyed, 1);
    start();
    cli.sandbox = true, sys.reads_inside = true;
    context = lap_cli_begin(&cli, &err);
    assert_non_null(context);
    assert_int_equal(sys.sandboxed, 1);
    lap_cli_end(context);
    start();
    cli.sandbox = sys.sandbox_fails = true;
    assert_null(lap_cli_begin(&cli, &err));
    assert_int_equal(err.code, LAP_E_BACKEND);
    assert_string_equal(err.message, "why");
    assert_int_equal(sys.created, 0);
    start();
    sys.reads_inside = sys.reads_not = true;
    assert_null(lap_cli_begin(&cli, &err));
    assert_int_equal(err.code, LAP_E_USAGE);
    assert_string_equal(err.subject, "--kernel");
    assert_string_equal(err.message, "no kernel");
    assert_int_equal(sys.created, 0);
    start();
    sys.reads_not = true; /* it was read before */
    context = lap_cli_begin(&cli, &err);
    assert_non_null(context);
    lap_cli_end(context);
    start();
    sys.context_fails = true;
    assert_null(lap_cli_begin(&cli, &err));
    assert_int_equal(err.code, LAP_E_MEMORY);
    assert_true(handler_of(SIGINT) == SIG_DFL);
}

static void kernels_without_tolerance(void **state)
{
    static const char note[] =
        L "note: with this kernel and scale backends may differ by more than one level\n";
    static const struct {
        int command, tolerance;
        bool quiet;
        const char *said;
    } cases[] = {{LAP_COMMAND_RUN, -1, false, note}, {LAP_COMMAND_RUN, -1, true, ""},
        {LAP_COMMAND_RUN, 0, false, ""}, {LAP_COMMAND_RUN, 1, false, ""}, {LAP_COMMAND_STATS, -1, false, ""},
        {LAP_COMMAND_TRANSFORM, -1, false, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        lap_error err;
        start();
        cli.command = &lap_cli_commands[cases[i].command];
        sys.tolerance = cases[i].tolerance;
        cli.quiet = cases[i].quiet;
        assert_says(lap_cli_note_tolerance(&cli), "", cases[i].said);
        sys.reads_inside = true;
        lap_context *context = NULL;
        assert_says(context = lap_cli_begin(&cli, &err), "", cases[i].said);
        lap_cli_end(context);
        sys.reads_inside = false;
        assert_says(context = lap_cli_begin(&cli, &err), "", "");
        lap_cli_end(context);
    }
}

static void exit_codes(void **state)
{
    static const lap_cli_exit codes[] = {[LAP_E_USAGE] = LAP_EXIT_USAGE,
        [LAP_E_CLASH] = LAP_EXIT_USAGE,
        [LAP_E_DIFFERENT] = LAP_EXIT_USAGE,
        [LAP_E_BACKEND] = LAP_EXIT_BACKEND,
        [LAP_E_DEVICE] = LAP_EXIT_BACKEND,
        [LAP_E_LIMIT] = LAP_EXIT_LIMIT,
        [LAP_E_TIMEOUT] = LAP_EXIT_LIMIT,
        [LAP_E_INTERNAL] = 0};
    (void)state;
    assert_int_equal(lap_cli_exit_of(LAP_OK), LAP_EXIT_OK);
    for (int code = LAP_OK + 1; code <= LAP_E_INTERNAL; code++)
        assert_int_equal(lap_cli_exit_of((lap_code)code), codes[code] ? codes[code] : LAP_EXIT_FAILED);
}

static void handlers_are_set(void **state)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    lap_error err;
    struct sigaction passed;
    (void)state;
    for (int ignored = -1; ignored < 4; ignored++) {
        start();
        if (ignored >= 0)
            signal(numbers[ignored], SIG_IGN);
        lap_context *context = lap_cli_begin(&cli, &err);
        for (int i = 0; i < 4; i++)
            assert_int_equal(handler_of(numbers[i]) == SIG_IGN, i == ignored);
        for (int i = 0; i < 4; i++)
            assert_true(handler_of(numbers[i]) != SIG_DFL);
        if (ignored < 0) {
            assert_true(
                handler_of(SIGINT) == handler_of(SIGTERM) && handler_of(SIGINT) == handler_of(SIGHUP));
            assert_true(handler_of(SIGINT) != handler_of(SIGQUIT));
        }
        assert_int_equal(sigaction(LAP_CLI_PASSED_ON, NULL, &passed), 0);
        assert_true(passed.sa_flags & SA_SIGINFO && passed.sa_handler != SIG_DFL);
        lap_cli_end(context);
        for (int i = 0; i < 4; i++)
            assert_true(handler_of(numbers[i]) == (i == ignored ? SIG_IGN : SIG_DFL));
        if (ignored >= 0)
            signal(numbers[ignored], SIG_DFL);
    }
}

static void quitting(void **state)
{
    lap_error err;
    (void)state;
    lap_context *context = lap_cli_begin(&cli, &err);
    __real_raise(SIGQUIT);
    assert_int_equal(sys.abandoned, 1);
    assert_int_equal(sys.raised, SIGQUIT);
    assert_true(handler_of(SIGQUIT) == SIG_DFL);
    assert_int_equal(sys.cancels, 0);
    lap_cli_end(context);
    assert_int_equal(lap_cli_caught(), 0);
}

/* From here on a signal was caught. */
static void requests_to_stop(void **state)
{
    lap_error err;
    (void)state;
    lap_context *context = lap_cli_begin(&cli, &err);
    assert_int_equal(lap_cli_exit_of(LAP_E_CANCELLED), LAP_EXIT_FAILED);
    errno = ENOTTY;
    __real_raise(SIGTERM);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(sys.cancels, 1);
    assert_ptr_equal(sys.cancelled, context);
    assert_int_equal(lap_cli_caught(), SIGTERM);
    assert_int_equal(lap_cli_exit_of(LAP_E_CANCELLED), 128 + SIGTERM);
    sys.now_ms += 499; /* the same request, by another way */
    __real_raise(SIGINT);
    assert_int_equal(lap_cli_caught(), SIGTERM);
    assert_int_equal(sys.cancels, 1);
    assert_int_equal(sys.abandoned + sys.raised, 0);
    lap_cli_end(context); /* more may follow */
    assert_true(handler_of(SIGINT) != SIG_DFL && handler_of(SIGHUP) != SIG_DFL);
    const union sigval value = {.sival_int = SIGHUP};
    siginfo_t info = {0};
    struct sigaction passed;
    assert_int_equal(sigaction(LAP_CLI_PASSED_ON, NULL, &passed), 0);
    info.si_value = value;
    passed.sa_sigaction(LAP_CLI_PASSED_ON, &info, NULL);
    assert_int_equal(sys.abandoned + sys.raised, 0);
    sys.now_ms += 1; /* a second request */
    errno = ENOTTY;
    passed.sa_sigaction(LAP_CLI_PASSED_ON, &info, NULL);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(sys.abandoned, 1);
    assert_int_equal(sys.raised, SIGHUP);
    assert_true(handler_of(SIGHUP) == SIG_DFL);
    assert_int_equal(sys.cancels, 1);
    assert_int_equal(lap_cli_caught(), SIGTERM);
    signal(SIGINT, SIG_DFL), signal(SIGTERM, SIG_DFL), signal(SIGQUIT, SIG_DFL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(commands_begin), TEST(kernels_without_tolerance),
        TEST(exit_codes), TEST(handlers_are_set), TEST(quitting), TEST(requests_to_stop)};
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
