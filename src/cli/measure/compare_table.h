/* What compare gathers, one line per backend over all inputs, and how it shows it. */
#ifndef LAP_CLI_COMPARE_TABLE_H
#define LAP_CLI_COMPARE_TABLE_H

#include "cli/measure/difference.h"

typedef struct lap_compare_line {
    lap_op op;
    const char *backend, *resolved; /* of the tables: they live for ever */
    char *reason;                   /* why it cannot run, or the first failure; NULL: none */
    char *cause;                    /* of the reason, as others may have it too; NULL: none */
    char *detail, *input;           /* of the first difference; NULL: none */
    lap_difference sum;
    double relative_error;                        /* the largest */
    double ms, upload_ms, kernel_ms, download_ms; /* sums over the inputs, each a median of its runs */
    double min_ms, max_ms, stddev_ms;
    int runs; /* of each input; the fewest */
} lap_compare_line;

typedef struct lap_compare_photo { /* one input of a folder, over all backends */
    lap_op op;                     /* whose times these are: the first ladder */
    bool identical;
    int max_abs;
    uint64_t differing_pixels; /* of the backend that differs most */
    const char *worst;         /* that backend; NULL: none differs */
    const char *fastest;       /* resolved */
    double decode_ms, c_ms, fastest_ms;
} lap_compare_photo;

typedef struct lap_compare_result {
    lap_compare_line *lines;
    int count;
    int files, failed;           /* inputs compared, inputs that could not be */
    int width, height, channels; /* of the last input */
    double decode_ms;
    lap_compare_photo photo; /* the one at hand */
    json_t *photos;          /* of a folder: a row each, as in the JSON; NULL else */
} lap_compare_result;

/* Takes one more row of an input into its line; false without memory. */
bool lap_compare_take(lap_compare_result *result, const lap_compare_row *row, const char *input);
/* Around the rows of one input. failure: why it could not be compared, or NULL. end_photo adds it to photos.
 */
void lap_compare_begin_photo(lap_compare_result *result);
bool lap_compare_end_photo(lap_compare_result *result, const char *path, const lap_error *failure);
/* Whether its runs took times too far apart to be relied on. */
bool lap_compare_line_is_noisy(const lap_compare_line *line);
void lap_compare_free(lap_compare_result *result);
/* Whether results of a ladder are images, which can differ by any amount. */
bool lap_compare_has_pictures(lap_op op);
bool lap_compare_line_is_equal(const lap_cli *cli, const lap_compare_line *line);

/* The table on the terminal; of a folder before it, photo by photo, those that were added
 * last (with the titles before the first). */
void lap_compare_print_photo(const lap_cli *cli, const lap_compare_result *result);
void lap_compare_print(const lap_cli *cli, const lap_compare_result *result);
/* lapedge.compare/1 */
json_t *lap_compare_json(const lap_cli *cli, const lap_compare_result *result, bool equal);

#endif
