/* Collects the results of compare, one line per backend over all inputs, and prints them. */
#ifndef LAP_CLI_COMPARE_TABLE_H
#define LAP_CLI_COMPARE_TABLE_H

#include "cli/measure/difference.h"

typedef struct lap_compare_line {
    lap_op op;
    const char *backend, *resolved; /* static strings */
    char *reason;                   /* why the backend cannot run, or the first failure; NULL: it ran */
    char *cause;                    /* the cause of the reason, which backends may share; NULL: no cause */
    char *detail, *input;           /* where the results first differ; NULL: they never differ */
    lap_difference sum;
    double relative_error;                        /* the largest error */
    double ms, upload_ms, kernel_ms, download_ms; /* sums over the inputs; each summand is a median */
    double min_ms, max_ms, stddev_ms;
    int runs; /* the smallest number of runs for an input */
} lap_compare_line;

typedef struct lap_compare_photo { /* one input of a folder, with all backends */
    lap_op op;                     /* the first ladder, which the times come from */
    bool identical;
    int max_abs;
    uint64_t differing_pixels; /* count of the backend that differs most */
    const char *worst;         /* name of that backend; NULL: no backend differs */
    const char *fastest;       /* name of the fastest backend, resolved */
    double decode_ms, c_ms, fastest_ms;
} lap_compare_photo;

typedef struct lap_compare_result {
    lap_compare_line *lines;
    int count;
    int files, failed;           /* inputs that were compared; inputs that could not be */
    int width, height, channels; /* size and channels of the last input */
    double decode_ms;
    lap_compare_photo photo; /* the current input */
    json_t *photos;          /* for a folder one row per input, as in the JSON; else NULL */
} lap_compare_result;

/* Adds one row of an input to its backend's line. False: out of memory. */
bool lap_compare_take(lap_compare_result *result, const lap_compare_row *row, const char *input);
/* Call begin_photo before and end_photo after the rows of one input. failure says why it could not be
 * compared, or is NULL. end_photo adds it to photos. */
void lap_compare_begin_photo(lap_compare_result *result);
bool lap_compare_end_photo(lap_compare_result *result, const char *path, const lap_error *failure);
/* Whether the times of its runs vary too much to be reliable. */
bool lap_compare_line_is_noisy(const lap_compare_line *line);
void lap_compare_free(lap_compare_result *result);
/* Whether the results of a ladder are images, which may differ by any amount. */
bool lap_compare_has_pictures(lap_op op);
bool lap_compare_line_is_equal(const lap_cli *cli, const lap_compare_line *line);

/* Prints the table on the terminal. For a folder, print_photo is called after each photo and prints its rows,
 * with the titles before the first one. */
void lap_compare_print_photo(const lap_cli *cli, const lap_compare_result *result);
void lap_compare_print(const lap_cli *cli, const lap_compare_result *result);
/* Makes lapedge.compare/1. */
json_t *lap_compare_json(const lap_cli *cli, const lap_compare_result *result, bool equal);

#endif
