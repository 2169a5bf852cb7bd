/* Finds this task's number among the job's tasks on this machine, which share the CUDA devices. */
#include <stdlib.h>

#include "lapedge_program.h"

typedef struct launcher {
    const char *rank, *size;
} launcher;

/* MPI launchers first, as for shards. Slurm's "4(x2),3" lists the step's tasks on each node. */
static const launcher launchers[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
};

/* Parses the whole number at the start of a text; -1: the text begins with something else. */
static long leading(const char *text)
{
    if (!text || *text < '0' || *text > '9')
        return -1;
    const long value = strtol(text, NULL, 10);
    return value <= 1 << 20 ? value : -1;
}

bool lap_shard_local(uint32_t *rank, uint32_t *size)
{
    *rank = 0;
    *size = 1;
    if (getenv("SLURM_GPUS_PER_TASK")) /* each task sees only its assigned devices */
        return false;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const long r = leading(getenv(launchers[i].rank)), n = leading(getenv(launchers[i].size));
        if (r < 0)
            continue;
        *rank = (uint32_t)r;
        *size = (uint32_t)(n > r ? n : r + 1); /* nodes of a job may differ */
        return true;
    }
    return false;
}
