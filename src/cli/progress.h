/* One line on a terminal that redraws itself while one image takes long, or a folder is worked on. */
#ifndef LAP_CLI_PROGRESS_H
#define LAP_CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct lap_progress {
    const char *name; /* of one image */
    double shown_ms;  /* when it was drawn last */
    bool on, drawn;
} lap_progress;

/* Off unless lap_term_may_draw. name NULL: of a folder. */
void lap_progress_begin(lap_progress *progress, const lap_cli *cli, const char *name);
/* Both draw at most ten times a second. */
void lap_progress_rows(void *progress, int rows_done, int rows_total); /* a lap_progress_fn */
void lap_progress_files(lap_progress *progress, const lap_batch_counts *counts, const lap_batch_work *work);
/* Erases the line, so that something else can be said. */
void lap_progress_hide(lap_progress *progress);

#endif
