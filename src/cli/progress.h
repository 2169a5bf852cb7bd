/* A progress line on a terminal, for a folder or for one image that is slow to process. */
#ifndef LAP_CLI_PROGRESS_H
#define LAP_CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct lap_progress {
    const char *name; /* name of the image; NULL: a folder */
    double shown_ms;  /* when the line was last drawn */
    bool on, drawn;
} lap_progress;

/* Does nothing unless lap_term_may_draw. name is NULL for a folder. */
void lap_progress_begin(lap_progress *progress, const lap_cli *cli, const char *name);
/* Both functions draw at most ten times a second. */
void lap_progress_rows(void *progress, int rows_done, int rows_total); /* a lap_progress_fn */
void lap_progress_files(lap_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work);
/* Erases the line, so that a message can be printed. */
void lap_progress_hide(lap_progress *progress);

#endif
