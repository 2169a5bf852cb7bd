/* Statistics as people, spreadsheets and scripts want them. */
#ifndef LAP_CLI_STATS_VIEW_H
#define LAP_CLI_STATS_VIEW_H

#include <jansson.h>

#include "cli/options/args.h"

/* lapedge.stats/1; m without profiles has none in the object either. */
json_t *lap_stats_json(const char *input, const lap_run_stats *stats, const lap_measurement *m);
/* The object into a file; LAP_EXIT_OK, or LAP_EXIT_FAILED after a message. */
int lap_stats_write(const lap_cli *cli, const char *input, const lap_run_stats *stats);
/* A table; on a terminal with a histogram a channel. */
void lap_stats_text(const lap_cli *cli, const char *input, const lap_measurement *m);
/* The same without a line about the picture. */
void lap_stats_tables(const lap_cli *cli, const lap_run_stats *stats, bool plots);
/* {"channels": [...]}; null where there are none. */
json_t *lap_stats_image_json(const lap_stats *stats);
/* image,channel,figure,index,value: one statistic, bin or profile value per line; of several files
 * (has_files, file not NULL) with the file before it. m (or NULL) has the profiles. */
void lap_stats_csv_head(bool has_files);
void lap_stats_csv(const char *file, const lap_run_stats *stats, const lap_measurement *m);

#endif
