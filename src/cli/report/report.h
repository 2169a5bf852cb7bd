/* --report: one HTML file that holds everything it shows: results, pictures, charts, settings, machine.
 *
 * A report is gathered as a JSON object, which the page's script reads: command, subject, version, date,
 * machine and settings (pairs of name and value), filter (for the lens; null: nothing was filtered), results
 * (what --json prints), statistics (lapedge.stats/1 or null), and pictures (null, or see report_pictures.c).
 */
#ifndef LAP_CLI_REPORT_H
#define LAP_CLI_REPORT_H

#include <jansson.h>

#include "cli/options/args.h"

/* LAP_EXIT_OK, or a message where --report names no .html file. */
lap_cli_exit lap_report_check(const lap_cli *cli);
/* subject: the title, a file's name as a rule. NULL without memory. */
json_t *lap_report_create(const lap_cli *cli, const char *subject, int threads);
/* Takes over results, and adds the devices that CUDA backends ran on. */
void lap_report_add_results(json_t *report, json_t *results);

/* Photo and edges, and their details; both are host views of the same size and channels. */
lap_code lap_report_add_pictures(
    json_t *report, lap_context *context, const lap_view *photo, const lap_view *edges, lap_error *err);
/* One row of a comparison of input, whose pixels are photo: pictures, statistics, and where the rung differs
 * from c. Only the filter's rows count. Of several inputs the pictures are those of the first one where a
 * rung differs, or of the first one. */
lap_code lap_report_add_row(json_t *report, lap_context *context, const char *input, const lap_view *photo,
    const lap_compare_row *row, lap_error *err);
/* Two images, row->a and b, which is shown instead of the edges, and how row->a and row->b differ: row->b is
 * b, or b with what does not count made equal. Views as above. */
lap_code lap_report_add_pair(
    json_t *report, lap_context *context, const lap_view *b, const lap_compare_row *row, lap_error *err);
/* Reads and filters a file as settings say; adds pictures, and statistics unless the report has some. */
lap_code lap_report_add_file(
    json_t *report, lap_context *context, const char *path, const lap_settings *settings, lap_error *err);

/* Writes the page, complete or not at all, and frees the report; LAP_EXIT_OK, or a message. */
int lap_report_write(const char *path, json_t *report);

/* ---- of a folder: counts, the slowest photos, those that failed, and a contact sheet --------------------
 */

/* Gathered while the run goes on, as names and figures alone; the pictures are read at its end. */
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
