/* Determines this process's share of the work from an option, or from the scheduler that started the
 * process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Parses a decimal number below 2^31; -1 for anything else. */
static long number(const char *text)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return -1;
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno || *end || value > 0x7fffffff ? -1 : value;
}

/* The variables in which a launcher stores the process's number and the number of processes. */
typedef struct launcher {
    const char *rank, *size;
    const char *only_if; /* used only if this variable is set too; NULL: always */
} launcher;

/* Launchers that start processes inside a job. MPI launchers come first: under mpirun inside a Slurm job the
 * SLURM_ variables describe the launcher, not the rank. A Slurm batch script also has a PROCID of 0, but only
 * a task of srun has a step. */
static const launcher inner[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
    {"PMI_RANK", "PMI_SIZE", NULL},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
};
static const launcher kubernetes = {"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", NULL};

/* found: whether this launcher started us. If it did, its variables must be valid. */
static lap_code ask(const launcher *l, long *rank, long *size, bool *found, lap_error *err)
{
    const char *rank_text = getenv(l->rank), *size_text = getenv(l->size);
    *found = rank_text && (!l->only_if || getenv(l->only_if));
    if (!*found)
        return LAP_OK;
    *rank = number(rank_text);
    *size = number(size_text);
    if (*rank >= 0 && *rank < *size) /* so there is at least one */
        return LAP_OK;
    return lap_fail(err, LAP_E_USAGE, "%s is %.40s and %s is %.40s: this is not a valid share", l->rank,
        rank_text, l->size, size_text ? size_text : "not set");
}

/* An array may start at any number and have a step (--array=10-40:10). But in a list with gaps
 * (--array=1,3,7), a task cannot tell its position. */
static lap_code ask_array(long *index, long *count, bool *found, lap_error *err)
{
    const char *id_text = getenv("SLURM_ARRAY_TASK_ID");
    *found = id_text;
    *index = 0;
    *count = 1;
    if (!*found)
        return LAP_OK;
    long id = number(id_text), min = number(getenv("SLURM_ARRAY_TASK_MIN"));
    long max = number(getenv("SLURM_ARRAY_TASK_MAX")), step = number(getenv("SLURM_ARRAY_TASK_STEP"));
    *count = number(getenv("SLURM_ARRAY_TASK_COUNT"));
    if (step < 1)
        step = 1;
    *index = (id - min) / step;
    if (id < min || min < 0 || *index >= *count || (id - min) % step ||
        (max >= 0 && (max - min) / step + 1 != *count))
        return lap_fail(err, LAP_E_USAGE,
            "task %.20s is outside the Slurm array, or the array has gaps; number tasks as in 0-15", id_text);
    return LAP_OK;
}

/* Multiplies the tasks of an array by the processes inside each of them. */
static lap_code from_environment(uint32_t *shard, uint32_t *shards, lap_error *err)
{
    long rank = 0, size = 1, index, count;
    bool inside = false, array = false, indexed = false;
    lap_code code = LAP_OK;
    for (size_t i = 0; code == LAP_OK && !inside && i < sizeof inner / sizeof *inner; i++)
        code = ask(&inner[i], &rank, &size, &inside, err);
    if (code == LAP_OK)
        code = ask_array(&index, &count, &array, err);
    if (code == LAP_OK && !inside && !array)
        code = ask(&kubernetes, &rank, &size, &indexed, err);
    if (code != LAP_OK)
        return code;
    if (!inside && !array && !indexed)
        return lap_fail(err, LAP_E_USAGE,
            "no scheduler found; looked for OMPI_COMM_WORLD_RANK, PMI_RANK, "
            "SLURM_PROCID inside srun, SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX with JOB_COMPLETIONS");
    if (count > 0x7fffffff / size)
        return lap_fail(err, LAP_E_USAGE, "%ld times %ld shares are too many", count, size);
    *shard = (uint32_t)(index * size + rank);
    *shards = (uint32_t)(count * size);
    return LAP_OK;
}

lap_code lap_shard_parse(const char *spec, uint32_t *shard, uint32_t *shards, lap_error *err)
{
    if (!strcmp(spec, "auto"))
        return from_environment(shard, shards, err);
    char first[16];
    const char *slash = strchr(spec, '/');
    size_t length = slash ? (size_t)(slash - spec) : 0;
    if (!length || length >= sizeof first)
        return lap_fail(err, LAP_E_USAGE, "expected I/N with I from 0 to N-1, or auto");
    memcpy(first, spec, length);
    first[length] = 0;
    long rank = number(first), size = number(slash + 1);
    if (rank < 0 || rank >= size)
        return lap_fail(err, LAP_E_USAGE, "expected I/N with I from 0 to N-1, or auto");
    *shard = (uint32_t)rank;
    *shards = (uint32_t)size;
    return LAP_OK;
}
