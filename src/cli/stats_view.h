/* Statistics as people, spreadsheets and scripts want them. */
#ifndef LAP_CLI_STATS_VIEW_H
#define LAP_CLI_STATS_VIEW_H

#include <jansson.h>

#include "cli/args.h"

/* lapedge.stats/1; m without profiles has none in the object either. */
json_t *lap_stats_json(const char *input, const lap_run_stats *stats, const lap_measurement *m);
/* The object into a file; LAP_EXIT_OK, or LAP_EXIT_FAILED after a message. */
int lap_stats_write(const lap_cli *cli, const char *input, const lap_run_stats *stats);
/* A table; on a terminal with a histogram a channel. */
void lap_stats_text(const lap_cli *cli, const char *input, const lap_measurement *m);
/* image,channel,figure,index,value: one statistic, bin or profile value per line. */
void lap_stats_csv(const lap_measurement *m);

#endif
