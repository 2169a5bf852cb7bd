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

/* Creates a report; subject is its title, usually a file name. NULL: out of memory. */
json_t *lap_report_create(const lap_cli *cli, const char *subject, int threads);
/* Adds results, which the report then owns, and the devices that CUDA backends used. */
void lap_report_add_results(json_t *report, json_t *results);

/* Adds photo and edges and their details. Both are host views of the same size and channels. */
lap_code lap_report_add_pictures(
    json_t *report, lap_context *context, const lap_view *photo, const lap_view *edges, lap_error *err);
/* Adds one row of a comparison: pictures, statistics, and where the backend differs from c. `photo` has the
 * pixels of `input`. Ignores the rows of all ladders except the filter's. With several inputs, shows the
 * pictures of the first input for which a backend differs, or else of the first input. */
lap_code lap_report_add_row(json_t *report, lap_context *context, const char *input, const lap_view *photo,
    const lap_compare_row *row, lap_error *err);
/* Adds the images row->a and b, and how row->a and row->b differ. b is shown in place of the edges; row->b is
 * b, or a copy of b in which ignored differences are removed. Views as above. */
lap_code lap_report_add_pair(
    json_t *report, lap_context *context, const lap_view *b, const lap_compare_row *row, lap_error *err);
/* Reads and filters a file with these settings; adds pictures, and statistics if the report has none. */
lap_code lap_report_add_file(
    json_t *report, lap_context *context, const char *path, const lap_settings *settings, lap_error *err);

/* Writes the page completely or not at all, and frees the report. Returns LAP_EXIT_OK, or an exit code after
 * a message. */
int lap_report_write(const char *path, json_t *report);

/* ---- reports on folders: counts, the slowest photos, failures, and a contact sheet --------------------- */

/* Collects the files of a run for the contact sheet. It stores only names and figures; pictures are read at
 * the end of the run. */
typedef struct lap_sheet lap_sheet;

/* Creates a sheet; NULL: out of memory. All functions accept a NULL sheet. */
lap_sheet *lap_sheet_create(void);
void lap_sheet_free(lap_sheet *sheet);

/* Adds a finished input of run or transform. The sheet shows 60 inputs, chosen by a hash of their names, so
 * that the choice does not depend on the order in which they finish. */
void lap_sheet_add_file(lap_sheet *sheet, const lap_batch_file *file);
/* Adds two images that diff found different; `what` names the outcome. The sheet shows the 60 pairs with the
 * largest RMSE. */
void lap_sheet_add_pair(lap_sheet *sheet, const lap_pair *pair, const char *what, bool is_equal);

/* Reads the pictures of the sheet and writes the page. results is the object of --json, without rows; the
 * function frees it. Omits pictures that can no longer be read. Returns LAP_EXIT_OK, or an exit code after a
 * message. */
int lap_sheet_write(lap_sheet *sheet, const lap_cli *cli, lap_context *context, json_t *results);

/* ---- pictures as text (report_pixels.c) ---------------------------------------------------------- */

/* Encodes pixels, scaled down or cut out, as data: URIs for a page. */

typedef struct lap_box {
    int x, y, width, height;
} lap_box;

/* A binary PNM in memory; the caller frees bytes. */
typedef struct lap_pnm {
    uint8_t *bytes;
    size_t size;
} lap_pnm;

/* How a pixel of a reduced picture is computed from the pixels that it covers. */
typedef enum lap_mean {
    LAP_MEAN_PLAIN,
    LAP_MEAN_SQUARE /* root mean square: thin bright lines on black stay visible */
} lap_mean;

/* What a picture shows: a box of view, or, if `other` is set, of |view - other| in gray. A pixel of such a
 * difference is the largest of the samples that it covers, so even a single differing sample stays visible.
 */
typedef struct lap_picture {
    const lap_view *view, *other;
    lap_box box;
    int width, height; /* size of the picture, at most that of the box */
    lap_mean mean;     /* used without `other` */
} lap_picture;

/* Makes the PNM. LAP_E_MEMORY. */
lap_code lap_pnm_of(const lap_picture *picture, lap_pnm *pnm, lap_error *err);

/* Encodes the picture as a data: URI: as JPEG of that quality, or for quality 0 losslessly as PNG (in a build
 * without PNG: as JPEG of quality 100). */
lap_code lap_data_uri(lap_context *context, const lap_pnm *pnm, int quality, json_t **uri, lap_error *err);

lap_code lap_report_no_memory(lap_error *err); /* fills err with LAP_E_MEMORY and a message */

/* ---- the pieces of the page (made by tools/embed) ------------------------------------------------ */

/* The pieces of the report's page as arrays, which tools/embed makes from files at build time
 * (src/cli/report/, and the chart library if it was found). */

extern const unsigned char lap_asset_page[], lap_asset_style[], lap_asset_script[];
extern const unsigned char lap_asset_chart[]; /* empty if the library was not found */
extern const size_t lap_asset_page_size, lap_asset_style_size, lap_asset_script_size, lap_asset_chart_size;

#endif
