/* One command line as a value: what was asked for. */
#ifndef LAP_CLI_H
#define LAP_CLI_H

#include "lapedge_program.h"

typedef enum lap_cli_exit {
    LAP_EXIT_OK = 0,
    LAP_EXIT_FAILED = 1,
    LAP_EXIT_USAGE = 2,
    LAP_EXIT_BACKEND = 3,
    LAP_EXIT_NOTHING = 4, /* nothing could be done */
    LAP_EXIT_LIMIT = 5,
    LAP_EXIT_PIPE = 141 /* who read standard output has left: 128 + SIGPIPE */
} lap_cli_exit;

typedef enum lap_cli_when { LAP_CLI_AUTO, LAP_CLI_ALWAYS, LAP_CLI_NEVER } lap_cli_when;

enum { LAP_CLI_SIZES = 16, LAP_CLI_DEVICES = 64, LAP_CLI_GLOBS = 64 };

typedef struct lap_cli_size {
    int width, height;
} lap_cli_size;

typedef struct lap_cli_tolerance { /* how far two images may differ; negative: not asked for */
    int max_abs;
    double max_differing, max_differing_share; /* pixels, or a share of them */
    double min_psnr;
    int mask_border;
    int pixel_threshold; /* 0: each difference counts */
} lap_cli_tolerance;

enum { LAP_CLI_BOXES = 64 };
typedef struct lap_cli_boxes { /* of --ignore */
    lap_diff_box box[LAP_CLI_BOXES];
    size_t count;
} lap_cli_boxes;

typedef struct lap_cli {
    const struct lap_cli_command *command;
    unsigned forms; /* of this command line: LAP_CLI_ONE, ... (args.h) */
    char **words;   /* the command line as it was given */
    int word_count;
    char **operands;
    int operand_count;
    lap_settings settings;
    const char *kernel; /* the word of --kernel; NULL: the default */
    bool in_place, flip_kernel;
    int devices[LAP_CLI_DEVICES];
    int device_count; /* -1: all */
    uint64_t device_memory;
    const char *trace; /* the timeline of a run over a folder */

    int jobs; /* 0: one per core */
    bool fail_fast, force, rebuild, dry_run, null_separated;
    const char *shard, *files_from, *log;
    const char *include[LAP_CLI_GLOBS], *exclude[LAP_CLI_GLOBS];
    lap_batch_take take; /* extensions and follow; the lists above */
    const char *suffix;
    bool flat, skip_existing, prune;
    bool filter_again;  /* in place: what was filtered, too */
    const char *backup; /* in place: behind the names of the photos that are kept */

    int rotate, flip; /* index of the word given, or -1 */
    bool transpose, transverse, trim, perfect;
    bool has_quality; /* --quality was given */
    bool profiles, csv;
    const char *weights, *stats; /* stats: the file that --stats of a run writes */

    unsigned ops; /* of compare: bit 1 << lap_op */
    lap_cli_tolerance allowed;
    lap_cli_boxes ignore;
    const char *heatmap;

    lap_bench_options bench;
    lap_cli_size sizes[LAP_CLI_SIZES];
    int size_count;
    const char *baseline;
    double tolerance; /* share, 0.1 for 10 % */

    const char *report;  /* the HTML file that --report writes */
    bool may_be_command; /* the first operand stands where a command could, but names none */
    bool is_command_named, help_short, help_full, version, json, quiet, verbose, sandbox;
    lap_cli_when color, progress;
    const char *json_file; /* the objects of --json go there (too) */
} lap_cli;

static inline bool lap_cli_wants_json(const lap_cli *cli)
{
    return cli->json || cli->json_file;
}

#endif
