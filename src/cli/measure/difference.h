/* Judges and reports how far two images differ, for compare and diff. */
#ifndef LAP_CLI_DIFFERENCE_H
#define LAP_CLI_DIFFERENCE_H

#include "cli/json.h"
#include "cli/term.h"

/* Whether the difference is within the limits of the command line. All given limits must hold; without limits
 * the images must be identical. */
bool lap_cli_is_equal(const lap_cli *cli, const lap_difference *difference);

/* Returns the rules for what diff leaves out. */
lap_diff_rules lap_cli_diff_rules(const lap_cli *cli, bool with_ssim);

/* Makes the `tolerance` object. promised is the result of lap_params_tolerance; below -1: does not apply. */
json_t *lap_json_tolerance(const lap_cli *cli, int promised);
/* Sets identical, max_abs, ..., first_difference. With difference NULL all are null. With has_figures false
 * all but identical are null, because the results are not images. */
void lap_json_difference(json_t *object, const lap_difference *difference, bool has_figures);

/* Writes "x 3, y 4, channel 1: a 12, b 13, in the interior" to text. */
void lap_cli_first_difference(
    const lap_difference *difference, const char *a, const char *b, char *text, size_t size);
/* Returns the exit code if a comparison was impossible: 2, unless a backend or a system limit is the
 * reason. */
lap_cli_exit lap_cli_no_comparison(const char *path, const lap_error *err);

#endif
