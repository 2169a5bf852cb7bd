#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lapedge_program.h"

/* Everything that a scheduler may have set for the process that runs these tests. */
static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",
    "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID", "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT",
    "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_GPUS_PER_TASK"};

static int forget(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    return 0;
}

/* "NAME=VALUE NAME=VALUE": all others are unset. */
static void set_variables(const char *settings)
{
    char copy[512], *at = copy;
    forget(NULL);
    assert_true(strlen(settings) < sizeof copy);
    strcpy(copy, settings);
    for (char *word; (word = strsep(&at, " "));) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = 0;
        assert_int_equal(setenv(word, value, 1), 0);
    }
}

static void is_share(const char *spec, uint32_t wanted, uint32_t of)
{
    uint32_t shard = 77, shards = 77;
    lap_error err = {0};
    lap_code code = lap_shard_parse(spec, &shard, &shards, &err);
    if (code != LAP_OK)
        fail_msg("%s: %s", spec, err.message);
    assert_int_equal(shard, wanted);
    assert_int_equal(shards, of);
}

static void is_refused(const char *spec, const char *word)
{
    uint32_t shard, shards;
    lap_error err = {0};
    assert_int_equal(lap_shard_parse(spec, &shard, &shards, &err), LAP_E_USAGE);
    if (!strstr(err.message, word))
        fail_msg("'%s' does not speak of '%s'", err.message, word);
}

#define AUTO(settings, shard, shards) (set_variables(settings), is_share("auto", shard, shards))
#define AUTO_REFUSED(settings, word) (set_variables(settings), is_refused("auto", word))

static void a_share_is_i_of_n(void **state)
{
    (void)state;
    is_share("0/1", 0, 1);
    is_share("3/16", 3, 16);
    is_share("2147483646/2147483647", 2147483646, 2147483647);
    const char *const wrong[] = {"", "/", "1", "1/", "/2", "2/2", "3/2", "-1/2", "1/-2", "0/0", "1/2/3",
        "a/b", "1.0/2", " 1/2", "1/ 2", "1 /2", "0x1/2", "AUTO", "0/2147483648", "0/99999999999999999999",
        "00000000000000001/2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_refused(wrong[i], "I/N");
}

static void no_scheduler_is_an_error(void **state)
{
    (void)state;
    forget(NULL);
    is_refused("auto", "no scheduler");
    /* A batch script runs once, whatever the number of tasks that its job may start. */
    AUTO_REFUSED("SLURM_PROCID=0 SLURM_NTASKS=4", "no scheduler");
}

static void launchers_tell_rank_and_size(void **state)
{
    (void)state;
    AUTO("OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4", 3, 4);
    AUTO("PMI_RANK=0 PMI_SIZE=1", 0, 1);
    AUTO("SLURM_PROCID=5 SLURM_NTASKS=8 SLURM_STEP_ID=0", 5, 8);
    AUTO("JOB_COMPLETION_INDEX=9 JOB_COMPLETIONS=10", 9, 10);
    /* Slurm speaks to mpirun, not to the ranks that mpirun starts. */
    AUTO("OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_STEP_ID=0", 3, 4);
    AUTO("PMI_RANK=3 PMI_SIZE=4 SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_STEP_ID=0", 3, 4);
}

#define ARRAY(id, min, max, step, count)                                                   \
    "SLURM_ARRAY_TASK_ID=" #id " SLURM_ARRAY_TASK_MIN=" #min " SLURM_ARRAY_TASK_MAX=" #max \
    " SLURM_ARRAY_TASK_STEP=" #step " SLURM_ARRAY_TASK_COUNT=" #count " SLURM_PROCID=0 SLURM_NTASKS=1"

static void arrays_may_begin_anywhere(void **state)
{
    (void)state;
    AUTO(ARRAY(0, 0, 3, 1, 4), 0, 4);
    AUTO(ARRAY(3, 0, 3, 1, 4), 3, 4);
    AUTO(ARRAY(17, 16, 31, 1, 16), 1, 16);
    AUTO(ARRAY(30, 10, 40, 10, 4), 2, 4);
    AUTO(ARRAY(8, 8, 8, 1, 1), 0, 1);
}

static void arrays_with_gaps_are_refused(void **state)
{
    (void)state;
    AUTO_REFUSED(ARRAY(1, 1, 7, 1, 3), "gaps");
    AUTO_REFUSED(ARRAY(7, 1, 7, 1, 3), "gaps");
    AUTO_REFUSED(ARRAY(11, 10, 40, 10, 4), "gaps");
    AUTO_REFUSED("SLURM_ARRAY_TASK_ID=1", "gaps");
}

static void an_array_of_jobs_with_tasks_multiplies(void **state)
{
    (void)state;
    bool seen[12] = {false};
    for (int task = 5; task <= 9; task += 2)
        for (int rank = 0; rank < 4; rank++)
            for (int mpi = 0; mpi < 2; mpi++) {
                char settings[512];
                snprintf(settings, sizeof settings,
                    "SLURM_ARRAY_TASK_ID=%d SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_MAX=9 "
                    "SLURM_ARRAY_TASK_STEP=2 "
                    "SLURM_ARRAY_TASK_COUNT=3 SLURM_STEP_ID=0 %s=%d %s=4",
                    task, mpi ? "PMI_RANK" : "SLURM_PROCID", rank, mpi ? "PMI_SIZE" : "SLURM_NTASKS");
                uint32_t shard, shards;
                set_variables(settings);
                assert_int_equal(lap_shard_parse("auto", &shard, &shards, NULL), LAP_OK);
                assert_int_equal(shards, 12);
                assert_true(shard < 12 && seen[shard] == (mpi == 1));
                seen[shard] = true;
            }
    AUTO_REFUSED("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=100000 SLURM_STEP_ID=0 "
                 "SLURM_PROCID=0 SLURM_NTASKS=100000",
        "too many");
}

static void half_an_answer_is_no_share(void **state)
{
    (void)state;
    AUTO_REFUSED("JOB_COMPLETION_INDEX=3", "JOB_COMPLETIONS is not set");
    AUTO_REFUSED("OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK is 4");
    AUTO_REFUSED("PMI_RANK=-1 PMI_SIZE=4", "PMI_RANK");
    AUTO_REFUSED("PMI_RANK=1 PMI_SIZE=four JOB_COMPLETION_INDEX=1 JOB_COMPLETIONS=2", "PMI_SIZE is four");
    AUTO_REFUSED("SLURM_PROCID=1 SLURM_STEP_ID=0", "SLURM_NTASKS");
}

static void tasks_of_one_machine_are_counted(void **state)
{
    static const struct {
        const char *settings;
        bool found;
        uint32_t rank, size;
    } cases[] = {
        {"SLURM_PROCID=9 SLURM_NTASKS=12", false, 0, 1},
        {"OMPI_COMM_WORLD_LOCAL_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=8", true, 3, 8},
        {"MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2", true, 1, 2},
        {"SLURM_LOCALID=2 SLURM_STEP_TASKS_PER_NODE=4(x16)", true, 2, 4},
        {"SLURM_LOCALID=2 SLURM_STEP_TASKS_PER_NODE=2,4", true, 2, 3},
        {"SLURM_LOCALID=2 SLURM_STEP_TASKS_PER_NODE=4 SLURM_GPUS_PER_TASK=1", false, 0, 1},
        {"SLURM_LOCALID=x SLURM_STEP_TASKS_PER_NODE=4", false, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t rank, size;
        set_variables(cases[i].settings);
        assert_int_equal(lap_shard_local(&rank, &size), cases[i].found);
        assert_int_equal(rank, cases[i].rank);
        assert_int_equal(size, cases[i].size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_is_i_of_n),
        cmocka_unit_test_setup(no_scheduler_is_an_error, forget),
        cmocka_unit_test(launchers_tell_rank_and_size),
        cmocka_unit_test(arrays_may_begin_anywhere),
        cmocka_unit_test(arrays_with_gaps_are_refused),
        cmocka_unit_test(an_array_of_jobs_with_tasks_multiplies),
        cmocka_unit_test(half_an_answer_is_no_share),
        cmocka_unit_test(tasks_of_one_machine_are_counted),
    };
    return cmocka_run_group_tests_name("shard", tests, NULL, forget);
}
