/* bench beside an earlier run. */
#ifndef LAP_CLI_BENCH_BASELINE_H
#define LAP_CLI_BENCH_BASELINE_H

#include <jansson.h>

#include "cli/args.h"

/* The --json of an earlier bench; NULL after a message. */
json_t *lap_bench_baseline(const char *path);
/* Gives each row baseline_ms, the median of the same case, or null. */
void lap_bench_set_beside(json_t *rows, const json_t *baseline);
/* A message for each row that is slower than --tolerance allows; LAP_EXIT_FAILED if there is one,
 * LAP_EXIT_USAGE where no row has its like in the baseline. */
lap_cli_exit lap_bench_judge(const lap_cli *cli, const json_t *rows);

#endif
