/* The settings of one command line. */
#ifndef LAP_CLI_H
#define LAP_CLI_H

#include <time.h>

#include "lapedge_program.h"

typedef enum lap_cli_exit {
    LAP_EXIT_OK = 0,
    LAP_EXIT_FAILED = 1,
    LAP_EXIT_USAGE = 2,
    LAP_EXIT_BACKEND = 3,
    LAP_EXIT_NOTHING = 4, /* no input could be processed */
    LAP_EXIT_LIMIT = 5,
    LAP_EXIT_PIPE = 141 /* the reader of standard output closed it: 128 + SIGPIPE */
} lap_cli_exit;

typedef enum lap_cli_when { LAP_CLI_AUTO, LAP_CLI_ALWAYS, LAP_CLI_NEVER } lap_cli_when;

enum { LAP_CLI_SIZES = 16, LAP_CLI_DEVICES = 64, LAP_CLI_GLOBS = 64 };

typedef struct lap_cli_size {
    int width, height;
} lap_cli_size;

typedef struct lap_cli_tolerance { /* how far two images may differ; negative: no limit was given */
    int max_abs;
    double max_differing, max_differing_share; /* limits in pixels, and as a share of all pixels */
    double min_psnr;
    int mask_border;
    int pixel_threshold; /* 0: count every difference */
} lap_cli_tolerance;

enum { LAP_CLI_BOXES = 64 };
typedef struct lap_cli_boxes { /* rectangles of --ignore */
    lap_diff_box box[LAP_CLI_BOXES];
    size_t count;
} lap_cli_boxes;

typedef struct lap_cli {
    const struct lap_cli_command *command;
    unsigned forms; /* forms of this command line: LAP_CLI_ONE, ... (args.h) */
    time_t started; /* set by main */
    char **words;   /* the words of the command line, unchanged */
    int word_count;
    char **operands;
    int operand_count;
    lap_settings settings;
    const char *kernel; /* argument of --kernel; NULL: the default */
    bool in_place, flip_kernel;
    int devices[LAP_CLI_DEVICES];
    int device_count; /* -1: all */
    uint64_t device_memory;
    const char *trace; /* timeline file of a folder run */

    int jobs; /* files at once; 0: one per core */
    bool fail_fast, force, rebuild, dry_run, null_separated;
    const char *shard, *files_from, *log;
    const char *include[LAP_CLI_GLOBS], *exclude[LAP_CLI_GLOBS];
    lap_batch_take take; /* parsing sets extensions and `follow`; patterns are in the lists above */
    const char *suffix;
    bool flat, skip_existing, prune;
    bool filter_again;  /* in place: also filter photos that were already filtered */
    const char *backup; /* in place: suffix of the names under which the original photos are kept */

    int rotate, flip; /* index of the option's word; -1: not given */
    bool transpose, transverse, trim, perfect;
    bool has_quality; /* --quality was given */
    bool profiles, csv;
    const char *weights, *stats; /* stats: the file for a run's --stats */

    unsigned ops; /* compare: bit 1 << lap_op for each operation */
    lap_cli_tolerance allowed;
    lap_cli_boxes ignore;
    const char *heatmap;

    lap_bench_options bench;
    lap_cli_size sizes[LAP_CLI_SIZES];
    int size_count;
    const char *baseline;
    double tolerance; /* as a share: 0.1 for 10 % */

    const char *report;  /* HTML file for --report */
    bool may_be_command; /* the first operand is in the place of a command, but is not a known one */
    bool is_command_named, help_short, help_full, version, json, quiet, verbose, sandbox;
    lap_cli_when color, progress;
    const char *json_file; /* file for the objects of --json */
} lap_cli;

static inline bool lap_cli_wants_json(const lap_cli *cli)
{
    return cli->json || cli->json_file;
}

#endif
