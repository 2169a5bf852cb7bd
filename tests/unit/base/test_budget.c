/* Memory shared by several files, and how much there is. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/memory.h"
#include "lapedge_program.h"
#include "tests/support/temporary.h"

enum { LIMIT = 100, THREADS = 8, ROUNDS = 200 };

static lap_budget budget;
static atomic_int inside, most, failures;

static void *take_and_give(void *argument)
{
    uint64_t bytes = *(const uint64_t *)argument;
    lap_control control = {.cancel = NULL};
    for (int i = 0; i < ROUNDS; i++) {
        if (lap_budget_take(&budget, bytes, LIMIT, &control, NULL) != LAP_OK) {
            atomic_fetch_add(&failures, 1);
            continue;
        }
        int now = atomic_fetch_add(&inside, (int)bytes) + (int)bytes, before = atomic_load(&most);
        while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
            ;
        sched_yield();
        atomic_fetch_sub(&inside, (int)bytes);
        lap_budget_give(&budget, bytes);
    }
    return NULL;
}

static void never_more_than_the_limit(void **state)
{
    (void)state;
    static const uint64_t shares[THREADS] = {40, 100, 30, 60, 1, 99, 50, 50};
    pthread_t threads[THREADS];
    assert_int_equal(lap_budget_init(&budget, NULL), LAP_OK);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, (void *)&shares[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(atomic_load(&most) <= LIMIT);
    assert_int_equal(atomic_load(&failures), 0);
    assert_int_equal(budget.used, 0);
    assert_null(budget.first);
    lap_budget_destroy(&budget);
}

typedef struct asking {
    atomic_int cancel;
    uint64_t bytes;
    lap_control control;
    lap_code code;
    pthread_t thread;
} asking;

static atomic_int served;

static void *ask(void *argument)
{
    asking *a = argument;
    a->control.cancel = &a->cancel;
    a->code = lap_budget_take(&budget, a->bytes, LIMIT, &a->control, NULL);
    atomic_fetch_add(&served, 1);
    return NULL;
}

static bool has_queued(struct lap_budget_waiter **before)
{
    pthread_mutex_lock(&budget.lock);
    bool has = budget.last != before;
    pthread_mutex_unlock(&budget.lock);
    return has;
}

/* A large one that waits is not passed by small ones; one that is cancelled leaves, and the others go on. */
static void in_order_and_until_cancelled(void **state)
{
    (void)state;
    asking asks[3] = {{.bytes = 90}, {.bytes = 70}, {.bytes = 10}};
    lap_control control = {.cancel = NULL};
    assert_int_equal(lap_budget_init(&budget, NULL), LAP_OK);
    assert_int_equal(lap_budget_take(&budget, 20, LIMIT, &control, NULL), LAP_OK);
    for (int i = 0; i < 3; i++) {
        struct lap_budget_waiter **before = budget.last;
        asks[i].control.deadline_ms = 1; /* long over: waiting does not count */
        assert_int_equal(pthread_create(&asks[i].thread, NULL, ask, &asks[i]), 0);
        while (!has_queued(before))
            sched_yield();
    }
    assert_int_equal(atomic_load(&served), 0); /* 10 would fit, and does not pass */
    atomic_store(&asks[0].cancel, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(asks[i].thread, NULL);
    assert_int_equal(asks[0].code, LAP_E_CANCELLED);
    assert_int_equal(asks[1].code, LAP_OK);
    assert_int_equal(asks[2].code, LAP_OK);
    assert_true(asks[2].control.deadline_ms > 1);
    assert_int_equal(budget.used, LIMIT);
    lap_budget_give(&budget, LIMIT);
    lap_budget_destroy(&budget);
}

static void write_file(const char *root, const char *path, const char *text)
{
    char name[300];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void limits_of_groups(void **state)
{
    (void)state;
    char root[TEMPORARY_PATH], command[TEMPORARY_PATH + 64];
    assert_non_null(mkdtemp(temporary(root, "groups")));
    assert_true(lap_memory_of_groups(root) == UINT64_MAX);
    /* version 2: the least of the group and those around it */
    write_file(root, "/proc/self/cgroup", "0::/user.slice/app.scope\n");
    assert_true(lap_memory_of_groups(root) == UINT64_MAX);
    write_file(root, "/sys/fs/cgroup/user.slice/app.scope/memory.max", "max\n");
    assert_true(lap_memory_of_groups(root) == UINT64_MAX);
    write_file(root, "/sys/fs/cgroup/user.slice/memory.max", "3000000000\n");
    assert_int_equal(lap_memory_of_groups(root), 3000000000);
    write_file(root, "/sys/fs/cgroup/user.slice/app.scope/memory.max", "2000000000\n");
    assert_int_equal(lap_memory_of_groups(root), 2000000000);
    /* a container: the path is that of the outside */
    write_file(root, "/proc/self/cgroup", "0::/docker/0123\n");
    write_file(root, "/sys/fs/cgroup/memory.max", "1500000000\n");
    assert_int_equal(lap_memory_of_groups(root), 1500000000);
    /* version 1, where the unlimited value is a huge number */
    write_file(root, "/proc/self/cgroup", "12:cpuset:/a\n4:cpu,memory:/box/in\n1:name=systemd:/\n");
    write_file(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(lap_memory_of_groups(root) == 9223372036854771712u);
    write_file(root, "/sys/fs/cgroup/memory/box/in/memory.limit_in_bytes", "700000000\n");
    assert_int_equal(lap_memory_of_groups(root), 700000000);
    write_file(root, "/proc/self/cgroup", "no line of this kind\n::\n:\n");
    assert_true(lap_memory_of_groups(root) >= 1500000000);
    assert_true(lap_memory_here() > 0 && lap_memory_here() < UINT64_MAX);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_more_than_the_limit),
        cmocka_unit_test(in_order_and_until_cancelled),
        cmocka_unit_test(limits_of_groups),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
