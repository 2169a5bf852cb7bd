/* Which share of the work is ours, from a flag or from the scheduler that started us. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"

/* A whole decimal number below 2^31, or -1. */
static long number(const char *text)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return -1;
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno || *end || value > 0x7fffffff ? -1 : value;
}

static bool pair(const char *rank_name, const char *size_name, long *rank, long *size)
{
    *rank = number(getenv(rank_name));
    *size = number(getenv(size_name));
    return *rank >= 0 && *size > 0 && *rank < *size;
}

/* An array task counts as one step of the outer loop, a task inside srun as one of the inner: both at
 * once multiply. */
static bool from_slurm(long *rank, long *size)
{
    long step_rank, step_size;
    bool array = number(getenv("SLURM_ARRAY_TASK_ID")) >= 0;
    bool step = getenv("SLURM_STEP_ID") && pair("SLURM_PROCID", "SLURM_NTASKS", &step_rank, &step_size);
    if (!step) {
        step_rank = 0;
        step_size = 1;
    }
    if (!array) {
        *rank = step_rank;
        *size = step_size;
        return step;
    }
    long id = number(getenv("SLURM_ARRAY_TASK_ID")), min = number(getenv("SLURM_ARRAY_TASK_MIN"));
    long count = number(getenv("SLURM_ARRAY_TASK_COUNT")), stride = number(getenv("SLURM_ARRAY_TASK_STEP"));
    long index = (id - (min < 0 ? 0 : min)) / (stride > 0 ? stride : 1);
    if (count <= 0 || index < 0 || index >= count || count > 0x7fffffff / step_size)
        return false;
    *rank = index * step_size + step_rank;
    *size = count * step_size;
    return true;
}

static lap_code from_environment(uint32_t *shard, uint32_t *shards, lap_error *err)
{
    long rank, size;
    /* MPI launchers come first: under mpirun inside a Slurm job the SLURM_ variables describe the
     * launcher, not the rank. */
    if (!pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", &rank, &size) &&
        !pair("PMI_RANK", "PMI_SIZE", &rank, &size) && !from_slurm(&rank, &size) &&
        !pair("JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", &rank, &size))
        return lap_fail(err, LAP_E_USAGE,
            "--shard=auto: no scheduler found; looked for OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID "
            "inside "
            "srun, SLURM_ARRAY_TASK_ID, and JOB_COMPLETION_INDEX with JOB_COMPLETIONS");
    *shard = (uint32_t)rank;
    *shards = (uint32_t)size;
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
        return lap_fail(err, LAP_E_USAGE, "--shard=%.40s: expected I/N with I from 0 to N-1, or auto", spec);
    memcpy(first, spec, length);
    first[length] = 0;
    long rank = number(first), size = number(slash + 1);
    if (rank < 0 || size < 1 || rank >= size)
        return lap_fail(err, LAP_E_USAGE, "--shard=%.40s: expected I/N with I from 0 to N-1, or auto", spec);
    *shard = (uint32_t)rank;
    *shards = (uint32_t)size;
    return LAP_OK;
}
