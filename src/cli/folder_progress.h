/* One line on a terminal while a folder is worked on: files, rate, time left. */
#ifndef LAP_CLI_FOLDER_PROGRESS_H
#define LAP_CLI_FOLDER_PROGRESS_H

#include "cli/args.h"

typedef struct lap_folder_progress {
    double shown_ms; /* of the counts' clock */
    bool on, drawn;
} lap_folder_progress;

/* Off unless lap_term_may_draw. */
void lap_folder_progress_begin(lap_folder_progress *progress, const lap_cli *cli);
/* Draws at most ten times a second. */
void lap_folder_progress_show(
    lap_folder_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work);
/* Erases the line, so that something else can be said. */
void lap_folder_progress_hide(lap_folder_progress *progress);

#endif
