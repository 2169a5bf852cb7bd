/* How far two images differ: what compare and diff share in judging and reporting it. */
#ifndef LAP_CLI_DIFFERENCE_H
#define LAP_CLI_DIFFERENCE_H

#include "cli/json.h"
#include "cli/term.h"

/* Whether it is within what the command line allows. All that is asked for must hold; where nothing is,
 * the images must be identical. */
bool lap_cli_is_equal(const lap_cli *cli, const lap_difference *difference);

/* What diff leaves out. */
lap_diff_rules lap_cli_diff_rules(const lap_cli *cli, bool with_ssim);

/* The object under `tolerance`. promised: what lap_params_tolerance says; below -1: does not apply. */
json_t *lap_json_tolerance(const lap_cli *cli, int promised);
/* identical, max_abs, ..., first_difference; difference NULL: nulls. has_figures false: all but identical
 * are null, since the results are not images. */
void lap_json_difference(json_t *object, const lap_difference *difference, bool has_figures);

/* "x 3, y 4, channel 1: a 12, b 13, in the interior" into text. */
void lap_cli_first_difference(
    const lap_difference *difference, const char *a, const char *b, char *text, size_t size);
/* What keeps a comparison from taking place is 2, unless a backend or a limit of the system is the reason. */
lap_cli_exit lap_cli_no_comparison(const char *path, const lap_error *err);

#endif
