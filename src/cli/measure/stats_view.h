/* Prints statistics as text, CSV or JSON. */
#ifndef LAP_CLI_STATS_VIEW_H
#define LAP_CLI_STATS_VIEW_H

#include <jansson.h>

#include "cli/options/args.h"

/* Makes lapedge.stats/1; without profiles in m, the object has no profiles. */
json_t *lap_stats_json(const char *input, const lap_run_stats *stats, const lap_measurement *m);
/* Writes the object to a file. Returns LAP_EXIT_OK, or LAP_EXIT_FAILED after a message. */
int lap_stats_write(const lap_cli *cli, const char *input, const lap_run_stats *stats);
/* Prints a table; on a terminal also a histogram for each channel. */
void lap_stats_text(const lap_cli *cli, const char *input, const lap_measurement *m);
/* Prints the same tables without the line about the picture. */
void lap_stats_tables(const lap_cli *cli, const lap_run_stats *stats, bool plots);
/* Makes {"channels": [...]}; null if there are no statistics. */
json_t *lap_stats_image_json(const lap_stats *stats);
/* Prints image,channel,figure,index,value: one statistic, bin or profile value per line. For several files
 * (has_files, file not NULL) the file's name comes first. m has the profiles, or is NULL. */
void lap_stats_csv_head(bool has_files);
void lap_stats_csv(const char *file, const lap_run_stats *stats, const lap_measurement *m);

#endif
