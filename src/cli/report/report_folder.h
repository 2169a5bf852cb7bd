/* --report of a folder: counts, the slowest photos, those that failed, and a contact sheet. Gathered while
 * the run goes on, as names and figures alone; the pictures are read at its end. */
#ifndef LAP_CLI_REPORT_FOLDER_H
#define LAP_CLI_REPORT_FOLDER_H

#include "cli/report/report.h"

typedef struct lap_sheet lap_sheet;

/* NULL without memory, which every function takes. */
lap_sheet *lap_sheet_create(void);
void lap_sheet_free(lap_sheet *sheet);

/* A finished input of run or transform. The contact sheet has 60 of them, chosen by a hash of their names:
 * the same ones whatever finished first. */
void lap_sheet_add_file(lap_sheet *sheet, const lap_batch_file *file);
/* A pair of diff that is not identical; of those the sheet has the 60 with the largest RMSE. what: the
 * outcome. */
void lap_sheet_add_pair(lap_sheet *sheet, const lap_pair *pair, const char *what, bool is_equal);

/* Reads the pictures of the sheet and writes the page; results: what --json prints, without rows, which this
 * takes over. A picture that cannot be read any more is left out. LAP_EXIT_OK, or a message. */
int lap_sheet_write(lap_sheet *sheet, const lap_cli *cli, lap_context *context, json_t *results);

#endif
