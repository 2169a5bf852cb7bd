/* The jobs of a run over many files: what their reports add up to, in which order results come, how many wait
 * for their turn, what ends a run early, and what such a run says at its end. The clock is the test's. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "batch/jobs.h"

enum { MOST = 2, AHEAD = 4 * LAP_EXECUTOR_LOW, ROOM = MOST + AHEAD, FEW = MOST + LAP_EXECUTOR_LOW };

static double now;
double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return now;
}

/* What the owner was given, by turn, and the counts that its ticks saw. */
static uint64_t given[4 * ROOM];
static size_t given_count;
static int ticks, steps;
static double tick_ms;

typedef struct fixture {
    lap_context *context;
    lap_batch_options options;
    lap_batch_work work;
    lap_batch_counts counts;
    lap_jobs jobs;
} fixture;

static void give(void *user, lap_job *job)
{
    fixture *f = user;
    given[given_count++] = job->turn;
    if (!lap_jobs_was_stopped(&f->jobs, job))
        lap_jobs_count(&f->jobs, &job->report);
    lap_job_free(job);
}

static void step(void *user)
{
    (void)user;
    steps++;
}

static void tick(void *user)
{
    fixture *f = user;
    ticks++;
    tick_ms = f->counts.ms;
}

static void begin(fixture *f, bool in_order)
{
    lap_error err;
    given_count = 0;
    ticks = steps = 0;
    tick_ms = -1;
    now = 5000;
    f->counts = (lap_batch_counts){.ok = 99};
    f->work = (lap_batch_work){.jobs = 99};
    lap_jobs_begin(&f->jobs, f->context, &f->options, &f->counts);
    assert_int_equal(f->counts.ok, 0);
    assert_int_equal(f->work.jobs, 0);
    f->jobs.give = give;
    f->jobs.step = step;
    f->jobs.tick = tick;
    f->jobs.user = f;
    f->jobs.in_order = in_order;
    assert_int_equal(lap_jobs_open(&f->jobs, f->context, NULL, &err), LAP_OK);
}

static int setup(void **state)
{
    static fixture f;
    lap_error err;
    f = (fixture){.context = lap_context_create(MOST, &err), .options = {.work = &f.work}};
    *state = &f;
    return f.context ? 0 : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    lap_context_destroy(f->context);
    return 0;
}

static lap_job *job_of(lap_status status, lap_code code)
{
    lap_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->input = strdup("a.jpg");
    job->report.status = status;
    if (code != LAP_OK)
        lap_fail_at(&job->report.error, code, "out/a.jpg", "a reason");
    return job;
}

static void add(fixture *f, lap_status status, lap_code code)
{
    lap_jobs_add(&f->jobs, job_of(status, code));
}

/* ---- counts ------------------------------------------------------------------------------------ */

static void reports_add_up(void **state)
{
    fixture *f = *state;
    const lap_times ms = {.read = 1,
        .decode = 2,
        .upload = 4,
        .filter = 8,
        .download = 16,
        .encode = 32,
        .write = 64,
        .total = 128};
    const lap_report reports[] = {
        {.status = LAP_DONE,
            .width = 70000,
            .height = 65000,
            .bytes_in = 1,
            .bytes_out = 10,
            .recoded = 1,
            .ms = ms},
        {.status = LAP_DONE, .width = 3, .height = 5, .bytes_in = 2, .bytes_out = 20},
        {.status = LAP_DONE, .width = 1, .height = 1, .bytes_in = 4, .bytes_out = 40, .recoded = 1},
        {.status = LAP_WARNED, .width = 2, .height = 1, .bytes_in = 8, .bytes_out = 80, .ms = ms},
        {.status = LAP_WARNED, .width = 2, .height = 1, .bytes_in = 16, .bytes_out = 160},
        {.status = LAP_SKIPPED, .width = 9, .height = 9, .bytes_in = 1000, .bytes_out = 1000, .recoded = 1},
        {.status = LAP_SKIPPED, .error = {.code = LAP_E_EXISTS}},
        {.status = LAP_SKIPPED, .error = {.code = LAP_E_EXISTS}},
        {.status = LAP_FAILED, .error = {.code = LAP_E_NOT_IMAGE}, .width = 9, .height = 9, .bytes_in = 1000},
        {.status = LAP_FAILED, .error = {.code = LAP_E_MISSING}},
        {.status = LAP_FAILED, .error = {.code = LAP_E_MISSING}},
        {.status = LAP_FAILED, .error = {.code = LAP_E_NOT_IMAGE}},
    };
    lap_batch_counts wanted = {.ok = 3,
        .warned = 2,
        .skipped = 3,
        .failed = 4,
        .bytes_in = 31,
        .bytes_out = 310,
        .pixels = (uint64_t)70000 * 65000 + 20,
        .recoded = 2,
        .ms = 250};
    lap_error err;
    wanted.kinds[LAP_OK] = 1;
    wanted.kinds[LAP_E_EXISTS] = wanted.kinds[LAP_E_NOT_IMAGE] = wanted.kinds[LAP_E_MISSING] = 2;
    begin(f, false);
    now = 5250;
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        lap_jobs_count(&f->jobs, &reports[i]);
    assert_memory_equal(&f->counts, &wanted, sizeof wanted);
    const lap_times twice = {2, 4, 8, 16, 32, 64, 128, 256}, *busy = &f->work.busy;
    assert_true(busy->read == 2 && busy->decode == 4 && busy->upload == 8 && busy->filter == 16);
    assert_true(
        busy->download == 32 && busy->encode == 64 && busy->write == 128 && busy->total == twice.total);

    /* Inputs that were there when they were counted, and were not found: they failed. */
    f->counts.expected = 17;
    f->counts.found = 12;
    wanted.expected = 17;
    wanted.found = 12;
    wanted.vanished = 5;
    wanted.failed += 5;
    wanted.kinds[LAP_E_MISSING] += 5;
    const lap_error fine = {.code = LAP_OK};
    assert_int_equal(lap_jobs_result(&f->jobs, LAP_OK, &fine, &err), LAP_OK);
    assert_memory_equal(&f->counts, &wanted, sizeof wanted);
    f->counts = (lap_batch_counts){.expected = 3, .found = 4};
    assert_int_equal(lap_jobs_result(&f->jobs, LAP_OK, &fine, &err), LAP_OK);
    assert_int_equal(f->counts.vanished + f->counts.failed + f->counts.kinds[LAP_E_MISSING], 0);
    now = 5300;
    lap_jobs_close(&f->jobs);
    assert_true(f->counts.ms == 300);
}

/* ---- order ------------------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_open;

static void set_gate(bool open)
{
    pthread_mutex_lock(&mutex);
    is_open = open;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void pass_gate(lap_context *context, lap_job *job, const lap_settings *settings)
{
    (void)context, (void)settings;
    pthread_mutex_lock(&mutex);
    while (!is_open)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    job->report.status = LAP_DONE;
}

static void submit(fixture *f, const char *text)
{
    lap_error err;
    lap_job *job = job_of(LAP_FAILED, LAP_OK);
    job->work = pass_gate;
    job->text = text ? strdup(text) : NULL;
    assert_int_equal(lap_jobs_submit(&f->jobs, job, &err), LAP_OK);
}

/* Jobs that need no work overtake one that still runs, unless results are wanted in order. */
static void results_in_order(void **state)
{
    fixture *f = *state;
    for (int in_order = 0; in_order <= 1; in_order++) {
        begin(f, in_order);
        set_gate(false);
        submit(f, NULL);
        add(f, LAP_SKIPPED, LAP_OK);
        submit(f, NULL);
        add(f, LAP_SKIPPED, LAP_OK);
        assert_int_equal(given_count, in_order ? 0 : 2);
        set_gate(true);
        now += 99;
        lap_jobs_finish(&f->jobs, false);
        assert_int_equal(given_count, 4);
        for (uint64_t i = 0; in_order && i < 4; i++)
            assert_int_equal(given[i], i);
        if (!in_order)
            assert_true(given[0] == 1 && given[1] == 3);
        assert_int_equal(f->counts.ok, 2);
        assert_int_equal(f->counts.skipped, 2);
        assert_true(steps >= 2);
        assert_int_equal(ticks, 0);
        lap_jobs_close(&f->jobs);
    }
}

/* Ten ticks a second, with the time in the counts. */
static void ticks_of_the_clock(void **state)
{
    fixture *f = *state;
    static const struct {
        double after;
        int ticks;
    } steps_of[] = {{99, 0}, {100, 1}, {199, 1}, {200, 2}, {350, 3}, {449, 3}, {450, 4}};
    begin(f, false);
    set_gate(true);
    for (size_t i = 0; i < sizeof steps_of / sizeof *steps_of; i++) {
        now = 5000 + steps_of[i].after;
        f->counts.ms = -1;
        submit(f, NULL);
        /* the result alone, without another wait */
        while (given_count <= i)
            lap_jobs_finish(&f->jobs, false);
        assert_int_equal(ticks, steps_of[i].ticks);
        if (ticks > 0 && (i == 0 || steps_of[i - 1].ticks < ticks))
            assert_true(tick_ms == steps_of[i].after);
    }
    lap_jobs_close(&f->jobs);
}

/* How many results may wait for the first one depends on how large results are. */
static void results_that_wait(void **state)
{
    fixture *f = *state;
    static const struct {
        bool in_order;
        size_t text; /* bytes of the first result */
        uint64_t room;
    } cases[] = {{false, 0, ROOM}, {true, 0, FEW}, {true, 1, ROOM}, {true, (size_t)3 << 20, 21},
        {true, (size_t)5 << 20, FEW}, {true, (size_t)70 << 20, FEW}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        begin(f, cases[i].in_order);
        set_gate(true);
        if (cases[i].text) {
            text = malloc(cases[i].text + 1);
            assert_non_null(text);
            memset(text, 'x', cases[i].text);
            text[cases[i].text] = '\0';
            submit(f, text);
            lap_jobs_finish(&f->jobs, false);
        }
        set_gate(false);
        submit(f, NULL);
        uint64_t waiting = 1;
        for (; waiting < cases[i].room; waiting++) {
            assert_int_equal(lap_jobs_make_room(&f->jobs), LAP_OK); /* and does not wait for the gate */
            submit(f, NULL);
        }
        set_gate(true);
        const int before = steps;
        assert_int_equal(lap_jobs_make_room(&f->jobs), LAP_OK); /* waits for one */
        assert_true(steps > before);
        lap_jobs_finish(&f->jobs, false);
        lap_jobs_close(&f->jobs);
        free(text);
    }
}

/* ---- the end ----------------------------------------------------------------------------------- */

/* What ends a run early, and what the run then says. */
static void ends(void **state)
{
    fixture *f = *state;
    const lap_error fine = {.code = LAP_OK};
    lap_error walk = {.code = LAP_OK};
    lap_fail_at(&walk, LAP_E_UNREADABLE, "in", "cannot be listed");
    const struct {
        lap_status status;
        lap_code code;
        bool fail_fast;
        lap_code end, result, after_walk; /* of make_room; of a run whose walk ends well, or badly */
    } cases[] = {
        {LAP_DONE, LAP_OK, true, LAP_OK, LAP_OK, LAP_E_UNREADABLE},
        {LAP_SKIPPED, LAP_E_EXISTS, true, LAP_OK, LAP_OK, LAP_E_UNREADABLE},
        {LAP_FAILED, LAP_E_NOT_IMAGE, false, LAP_OK, LAP_OK, LAP_E_UNREADABLE},
        {LAP_FAILED, LAP_E_NOT_IMAGE, true, LAP_E_CANCELLED, LAP_OK, LAP_E_UNREADABLE},
        {LAP_FAILED, LAP_E_DISK_FULL, false, LAP_E_CANCELLED, LAP_E_DISK_FULL, LAP_E_DISK_FULL},
        {LAP_FAILED, LAP_E_DISK_FULL, true, LAP_E_CANCELLED, LAP_E_DISK_FULL, LAP_E_DISK_FULL},
        {LAP_SKIPPED, LAP_E_DISK_FULL, false, LAP_OK, LAP_OK, LAP_E_UNREADABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_error err = {.code = LAP_OK};
        f->options.fail_fast = cases[i].fail_fast;
        begin(f, false);
        f->counts.expected = 3;
        f->counts.found = 1;
        add(f, cases[i].status, cases[i].code);
        assert_int_equal(lap_jobs_make_room(&f->jobs), cases[i].end);
        assert_int_equal(f->jobs.failed_fast, cases[i].status == LAP_FAILED && cases[i].fail_fast);
        if (cases[i].end != LAP_OK) { /* jobs that have not begun come back as cancelled */
            set_gate(true);
            submit(f, NULL);
            lap_jobs_finish(&f->jobs, false);
            assert_int_equal(given_count, 2);
            assert_int_equal(f->counts.ok, 0);
        }
        assert_int_equal(lap_jobs_result(&f->jobs, LAP_E_UNREADABLE, &walk, &err), cases[i].after_walk);
        assert_int_equal(f->counts.vanished, 0);
        assert_string_equal(err.message, cases[i].result == LAP_OK ? walk.message : f->jobs.stop.message);
        assert_int_equal(lap_jobs_result(&f->jobs, LAP_E_CANCELLED, &fine, &err),
            cases[i].result != LAP_OK ? cases[i].result
            : f->jobs.failed_fast     ? LAP_OK
                                      : LAP_E_CANCELLED);
        assert_int_equal(lap_jobs_result(&f->jobs, LAP_OK, &fine, &err), cases[i].result);
        assert_int_equal(f->counts.vanished, cases[i].end == LAP_OK ? 2 : 0);
        if (cases[i].result != LAP_OK) {
            assert_string_equal(err.subject, "out/a.jpg");
            assert_string_equal(err.message, "stopped early: a reason");
        }
        lap_jobs_close(&f->jobs);
    }
    f->options.fail_fast = false;
}

/* The first reason counts; jobs that a stop has cancelled are no failures. */
static void stops(void **state)
{
    fixture *f = *state;
    const lap_error fine = {.code = LAP_OK};
    lap_error first = {.code = LAP_OK}, second = {.code = LAP_OK}, err = {.code = LAP_OK};
    lap_fail_at(&first, LAP_E_WRITE, "a", "the first");
    lap_fail_at(&second, LAP_E_MEMORY, "b", "the second");
    begin(f, false);
    lap_jobs_note(&f->jobs, &first);
    lap_jobs_note(&f->jobs, &second);
    assert_int_equal(lap_jobs_make_room(&f->jobs), LAP_E_CANCELLED);
    assert_int_equal(lap_jobs_result(&f->jobs, LAP_OK, &fine, &err), LAP_E_WRITE);
    assert_string_equal(err.message, "the first");
    lap_jobs_close(&f->jobs);

    begin(f, false);
    set_gate(false);
    for (int i = 0; i < 4; i++)
        submit(f, NULL);
    lap_context_cancel(f->context);
    assert_int_equal(lap_jobs_make_room(&f->jobs), LAP_E_CANCELLED);
    set_gate(true);
    lap_jobs_finish(&f->jobs, true);
    assert_int_equal(given_count, 4);
    assert_int_equal(f->counts.failed, 0);
    assert_int_equal(lap_jobs_result(&f->jobs, LAP_OK, &fine, &err), LAP_E_CANCELLED);
    lap_jobs_close(&f->jobs);
}

/* The owner ends the run as a failure would. */
static void ends_early(void **state)
{
    fixture *f = *state;
    const lap_error fine = {.code = LAP_OK};
    lap_error err;
    begin(f, false);
    lap_jobs_end_early(&f->jobs);
    assert_true(f->jobs.failed_fast);
    assert_int_equal(lap_jobs_make_room(&f->jobs), LAP_E_CANCELLED);
    assert_int_equal(lap_jobs_result(&f->jobs, LAP_E_CANCELLED, &fine, &err), LAP_OK);
    lap_jobs_close(&f->jobs);
}

/* No more jobs at once than the context has threads, or than were asked for. */
static void jobs_at_once(void **state)
{
    fixture *f = *state;
    static const int asked[][2] = {{0, MOST}, {-1, MOST}, {1, 1}, {MOST, MOST}, {MOST + 1, MOST}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        f->options.jobs = asked[i][0];
        begin(f, false);
        assert_int_equal(f->jobs.most, asked[i][1]);
        lap_jobs_close(&f->jobs);
    }
    f->options.jobs = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reports_add_up, setup, teardown),
        cmocka_unit_test_setup_teardown(results_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(ticks_of_the_clock, setup, teardown),
        cmocka_unit_test_setup_teardown(results_that_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(ends, setup, teardown),
        cmocka_unit_test_setup_teardown(stops, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_early, setup, teardown),
        cmocka_unit_test_setup_teardown(jobs_at_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
