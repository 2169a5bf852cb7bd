/* What bench, compare, diff and stats print: tables, objects, and tolerances. One section for each file. */
#ifndef LAP_CLI_MEASURE_H
#define LAP_CLI_MEASURE_H

#include "cli/json.h"
#include "cli/term.h"

/* ---- two images (difference.c) ------------------------------------------------------------------- */

/* Whether the difference is within the limits of the command line. All given limits must hold; without limits
 * the images must be identical. */
bool lap_cli_is_equal(const lap_cli *cli, const lap_difference *difference);

/* Returns the rules for what diff does not compare. */
lap_diff_rules lap_cli_diff_rules(const lap_cli *cli, bool with_ssim);

/* Makes the `tolerance` object. promised is the result of lap_params_tolerance; below -1: does not apply. */
json_t *lap_json_tolerance(const lap_cli *cli, int promised);
/* Sets identical, max_abs, ..., first_difference. With difference NULL all are null. With has_figures false
 * all but identical are null, because the results are not images. */
void lap_json_difference(json_t *object, const lap_difference *difference, bool has_figures);
/* The same for two images of diff. excused: the images count as equal, but are not identical, since pixels
 * differ that --ignore or --threshold-per-pixel excuses. */
void lap_json_excused(json_t *object, const lap_difference *difference, bool excused);

/* Writes "x 3, y 4, channel 1: a 12, b 13, in the interior" to text. */
void lap_cli_first_difference(
    const lap_difference *difference, const char *a, const char *b, char *text, size_t size);
/* Returns the exit code if a comparison was impossible: 2, unless a backend or a system limit is the
 * reason. */
lap_cli_exit lap_cli_no_comparison(const char *path, const lap_error *err);

/* ---- statistics (stats_view.c) ------------------------------------------------------------------- */

/* Makes lapedge.stats/1; without profiles in m, the object has no profiles. */
json_t *lap_stats_json(const char *input, const lap_run_stats *stats, const lap_measurement *m);
/* Writes the object, with the warnings of the report, to a file. Returns LAP_EXIT_OK, or LAP_EXIT_FAILED
 * after a message. */
int lap_stats_write(
    const lap_cli *cli, const char *input, const lap_run_stats *stats, const lap_report *report);
/* Prints a table; on a terminal also a histogram for each channel. */
void lap_stats_text(const lap_cli *cli, const char *input, const lap_measurement *m);
/* Prints the same tables without the line about the picture. */
void lap_stats_tables(const lap_cli *cli, const lap_run_stats *stats, bool plots);
/* Makes {"channels": [...]}; null if there are no statistics. */
json_t *lap_stats_image_json(const lap_stats *stats);
/* Prints image,channel,figure,index,value: one statistic, bin or profile value per line. For several files
 * (has_files, file not NULL) the file's name comes first. m has the profiles, or is NULL. */
void lap_stats_csv_head(bool has_files);
void lap_stats_csv(const char *file, const lap_run_stats *stats, const lap_measurement *m);

/* ---- bench (bench_table.c) ----------------------------------------------------------------------- */

enum { LAP_BENCH_REASONS = 24, LAP_BENCH_NOTE = 200, LAP_BENCH_NOISY = 256 };

typedef struct lap_bench_table {
    const lap_cli *cli;
    bool narrow; /* terminal of 80 columns: omit shortest times, conversion and sums */
    int titled;  /* titles printed last: 0 none, 1 host, 2 device, 3 codec on a device */
    struct {
        char reason[200], names[300];
    } absent[LAP_BENCH_REASONS]; /* backends that were not timed, by reason */
    int absent_count;
    struct {
        const char *resolved;
        double median_ms, stddev_ms;
    } noisy[LAP_BENCH_NOISY]; /* noisy measurements; rows with other names may show the same one */
    int noisy_count;
    double noisiest;
    char note[LAP_BENCH_NOTE]; /* message about that row */
} lap_bench_table;

/* If a row's times vary too much to be reliable, returns their range as a share of the median and writes a
 * one-line message to text. Otherwise returns 0. */
double lap_bench_noise(const lap_bench_row *row, char text[LAP_BENCH_NOTE]);
/* "simd (avx512)", "auto (simd-avx512)", or just "c". */
void lap_cli_name_rung(char *to, size_t size, const char *backend, const char *resolved);
/* Gets the processor's name from the system, on x86 with its family and model. */
void lap_cpu_name(char *name, size_t size);
/* Describes a CUDA device. Returns false and an empty text if there is no device with that number. Starts
 * CUDA. */
bool lap_device_text(int device, char *text, size_t size);
/* Prints machine, compiler, libraries, and the compiler flags of the ladder's files. */
void lap_bench_table_head(const lap_cli *cli, lap_op op, int threads);
void lap_bench_table_begin(lap_bench_table *table, const lap_cli *cli);
void lap_bench_table_row(lap_bench_table *table, const lap_bench_row *row);
void lap_bench_table_end(lap_bench_table *table);

/* ---- compare (compare_table.c) ------------------------------------------------------------------- */

typedef struct lap_compare_line {
    lap_op op;
    const char *backend, *resolved; /* static strings */
    char *reason;                   /* why the backend cannot run, or the first failure; NULL: it ran */
    char *cause;                    /* the cause alone, which several backends may share; NULL: no cause */
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
    int warnings;            /* of decoding all inputs */
    char *warning;           /* the first, with its file's name; or NULL */
    int left;                /* inputs that were not reached, because of --fail-fast */
    json_t *photos;          /* for a folder one row per input, as in the JSON; else NULL */
} lap_compare_result;

/* Adds one row of an input to its backend's line. False: out of memory. */
bool lap_compare_take(lap_compare_result *result, const lap_compare_row *row, const char *input);
/* Call begin_photo before and end_photo after the rows of one input. failure says why it could not be
 * compared, or is NULL. read: warnings of decoding. end_photo adds it to photos. */
void lap_compare_begin_photo(lap_compare_result *result);
bool lap_compare_end_photo(
    lap_compare_result *result, const char *path, const lap_report *read, const lap_error *failure);
/* Adds the warnings of decoding an input. False: out of memory. */
bool lap_compare_warn(lap_compare_result *result, const char *path, const lap_report *read);
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
