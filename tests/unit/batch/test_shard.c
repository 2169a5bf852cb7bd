#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

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
    errno = ERANGE; /* of an earlier call */
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
        {"MPI_LOCALRANKID=9 MPI_LOCALNRANKS=10", true, 9, 10},
        {"MPI_LOCALRANKID=0 MPI_LOCALNRANKS=1", true, 0, 1},
        {"MPI_LOCALRANKID=0", true, 0, 1},
        {"MPI_LOCALRANKID=3", true, 3, 4},
        {"MPI_LOCALRANKID=3 MPI_LOCALNRANKS=3", true, 3, 4},
        {"MPI_LOCALRANKID=3 MPI_LOCALNRANKS=:", true, 3, 4},
        {"MPI_LOCALRANKID=3 MPI_LOCALNRANKS=1048576", true, 3, 1048576},
        {"MPI_LOCALRANKID=3 MPI_LOCALNRANKS=1048577", true, 3, 4},
        {"MPI_LOCALRANKID=1048576", true, 1048576, 1048577},
        {"MPI_LOCALRANKID=1048577 SLURM_LOCALID=1 SLURM_STEP_TASKS_PER_NODE=2", true, 1, 2},
        {"MPI_LOCALRANKID=/ MPI_LOCALNRANKS=4", false, 0, 1},
        {"MPI_LOCALRANKID=: MPI_LOCALNRANKS=4", false, 0, 1},
        {"MPI_LOCALRANKID= MPI_LOCALNRANKS=4", false, 0, 1},
        {"OMPI_COMM_WORLD_LOCAL_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=8 SLURM_LOCALID=1", true, 3, 8},
        {"SLURM_LOCALID=x SLURM_STEP_TASKS_PER_NODE=4", false, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t rank = 77, size = 77;
        set_variables(cases[i].settings);
        assert_int_equal(lap_shard_local(&rank, &size), cases[i].found);
        assert_int_equal(rank, cases[i].rank);
        assert_int_equal(size, cases[i].size);
    }
}

/* "NAME=VALUE ..." is refused with this message. */
static void says(const char *settings, const char *message)
{
    uint32_t shard = 77, shards = 77;
    lap_error err = {0};
    set_variables(settings);
    assert_int_equal(lap_shard_parse("auto", &shard, &shards, &err), LAP_E_USAGE);
    assert_int_equal(err.code, LAP_E_USAGE);
    assert_string_equal(err.subject, "");
    assert_string_equal(err.message, message);
    assert_true(shard == 77 && shards == 77);
}

/* A task of an array is refused for each reason alone. */
static void each_reason_suffices(void **state)
{
    static const char *const refused[] = {
        "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=2",
        "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=4",
        "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=x SLURM_ARRAY_TASK_COUNT=4",
        "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0",
        "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=0",
        "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=2",
        "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_STEP=2",
        "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=2",
        "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=0 SLURM_ARRAY_TASK_COUNT=2",
        ARRAY(0, 0, 4, 2, 2),
    };
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char message[128];
        snprintf(message, sizeof message,
            "task %c is outside the Slurm array, or the array has gaps; number tasks as in 0-15",
            refused[i][strlen("SLURM_ARRAY_TASK_ID=")]);
        says(refused[i], message);
    }
    /* What a variable does not say is not held against the task. */
    AUTO("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=1", 0, 1);
    AUTO("SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=2", 1, 2);
    AUTO("SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_STEP=0", 1,
        2);
    AUTO(
        "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=0 SLURM_ARRAY_TASK_COUNT=1", 0, 1);
    AUTO("SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=2 "
         "SLURM_ARRAY_TASK_STEP=2",
        1, 2);
}

static void whole_messages(void **state)
{
    static const char *const wrong[] = {"x/2", "2/2", "1", "/2"};
    (void)state;
    says("PMI_RANK=0 PMI_SIZE=0", "PMI_RANK is 0 and PMI_SIZE is 0: this is not a valid share");
    says("PMI_RANK=1 PMI_SIZE=1", "PMI_RANK is 1 and PMI_SIZE is 1: this is not a valid share");
    says("PMI_RANK= PMI_SIZE=1", "PMI_RANK is  and PMI_SIZE is 1: this is not a valid share");
    says("PMI_RANK=: PMI_SIZE=1", "PMI_RANK is : and PMI_SIZE is 1: this is not a valid share");
    says("PMI_RANK=0 PMI_SIZE=/", "PMI_RANK is 0 and PMI_SIZE is /: this is not a valid share");
    says("JOB_COMPLETION_INDEX=3",
        "JOB_COMPLETION_INDEX is 3 and JOB_COMPLETIONS is not set: this is not a valid share");
    says("SLURM_PROCID=0 SLURM_NTASKS=4",
        "no scheduler found; looked for OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID inside srun, "
        "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX with JOB_COMPLETIONS");
    forget(NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t shard = 77, shards = 77;
        lap_error err = {0};
        assert_int_equal(lap_shard_parse(wrong[i], &shard, &shards, &err), LAP_E_USAGE);
        assert_string_equal(err.message, "expected I/N with I from 0 to N-1, or auto");
        assert_true(shard == 77 && shards == 77);
    }
}

/* Shares are numbered below 2^31, and I may have 15 digits. */
static void the_largest_shares(void **state)
{
    (void)state;
    is_share("9/10", 9, 10);
    is_share("000000000000001/2", 1, 2);
    is_refused("0000000000000001/2", "I/N");
    is_share("0/2147483647", 0, 2147483647);
    AUTO("PMI_RANK=2147483646 PMI_SIZE=2147483647", 2147483646, 2147483647);
    AUTO("SLURM_ARRAY_TASK_ID=1073741822 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=1073741823 PMI_RANK=1 "
         "PMI_SIZE=2",
        2147483645, 2147483646);
    says("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=1073741824 PMI_RANK=1 "
         "PMI_SIZE=2",
        "1073741824 times 2 shares are too many");
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
        cmocka_unit_test(each_reason_suffices),
        cmocka_unit_test(whole_messages),
        cmocka_unit_test(the_largest_shares),
    };
    return cmocka_run_group_tests_name("shard", tests, NULL, forget);
}
