/* What the program needs of the library beside lapedge.h. This header is not installed, and the shared
 * library does not export these functions: they may change with every version. The head of lapedge.h
 * (threads, errors) holds here too. */
#ifndef LAPEDGE_PROGRAM_H
#define LAPEDGE_PROGRAM_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hints and text on a terminal -------------------------------------------------------------- */

/* lap_error.remedy and lap_report.warning_remedy: what to change so that the error or warning goes away.
 * Texts of the library name no option of the program; the program adds its own. */
typedef enum lap_remedy {
    LAP_REMEDY_NONE,
    LAP_REMEDY_MAX_PIXELS, /* raise settings->max_pixels */
    LAP_REMEDY_MAX_MEMORY,
    LAP_REMEDY_MAX_SCANS,
    LAP_REMEDY_CLOBBER,       /* clear settings->no_clobber */
    LAP_REMEDY_FORMAT,        /* name settings->format */
    LAP_REMEDY_GRAY,          /* set settings->gray, or write another format */
    LAP_REMEDY_IN_PLACE,      /* set settings->in_place */
    LAP_REMEDY_TRIM,          /* set settings->lossless to LAP_LOSSLESS_TRIM */
    LAP_REMEDY_AUTO_ORIENT,   /* set settings->auto_orient */
    LAP_REMEDY_FORCE,         /* set options->force */
    LAP_REMEDY_OTHER_FOLDER,  /* name another output folder, or set settings->in_place */
    LAP_REMEDY_NUL_SEPARATED, /* set options->nul_separated */
    LAP_REMEDY_FAIL_ON        /* set settings->fail_on to LAP_FAIL_NONE: what can be read is kept */
} lap_remedy;

/* Length in bytes of the UTF-8 character at text (not the final 0), and its code point; 0 if it is malformed:
 * overlong, a surrogate, beyond U+10FFFF, cut. */
size_t lap_utf8_decode(const char *text, unsigned *code);
/* Whether a line may show the character: false for those that steer a terminal (C0, DEL, C1), end a line, or
 * change the direction of writing. */
bool lap_utf8_is_shown(unsigned code);
/* How many letters to insert, leave out, replace or swap with their neighbour to make one word of the other,
 * ignoring case. A word of more than 63 bytes is 63 away from any. */
int lap_word_distance(const char *a, const char *b);

/* ---- what can run here ------------------------------------------------------------------------- */

/* The known backend name nearest to a misspelt one, or NULL. */
const char *lap_rung_nearest(lap_op op, const char *name);
/* By how many levels backends may differ: 0, 1, or -1 for no promise. See EXACTNESS in lapedge.h. */
int lap_params_tolerance(const lap_params *params);
/* False if there can be no device: a build without CUDA, or a machine without a driver's files. *reason (may
 * be NULL) says which. Answers at once and does not start CUDA. */
bool lap_device_possible(const char **reason);
/* Bytes of memory that this process may use: the machine's, or fewer in a control group (cgroup 1 or 2). */
uint64_t lap_memory_here(void);
/* LAP_E_BACKEND: a library that runs has another interface than the one that lapedge was built with, so what
 * needs it fails. LAP_E_MEMORY: the check itself ran out of memory. */
lap_code lap_libraries_check(lap_error *err);

/* ---- files ------------------------------------------------------------------------------------- */

/* The output format that settings->format or an extension names, in any case: "jpg" for "JPEG"; NULL if none.
 */
const char *lap_format_named(const char *name);
/* The input format of a file that begins with these bytes (16 are enough), as lap_info has it; NULL if
 * unknown. */
const char *lap_format_of_bytes(const void *bytes, size_t size);
/* What lap_run_file would refuse before it decodes: settings, names, a missing input, a missing folder. Reads
 * and writes nothing. */
lap_code lap_run_check(const char *in, const char *out, const lap_settings *settings, lap_error *err);

/* For files that a program writes besides its outputs (statistics, a log, a report). LAP_E_CLASH: path leads
 * to the same regular file as one of others, through links of any kind, or would be created under the same
 * name. Empty names and NULL are skipped; "-" stands for what standard input and output are redirected to. */
lap_code lap_side_check(const char *path, const char *const *others, size_t count, lap_error *err);
/* Writes a file completely or not at all, as an output is written. A file of that name is replaced at the
 * end, through a link its target; devices and pipes are written to. */
lap_code lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err);

/* A piece of metadata that an output will lack. No string is NULL. */
typedef struct lap_dropped {
    const char *kind;  /* "EXIF", "XMP", "IPTC", "ICC", "comment", "other" */
    const char *place; /* the directory of an EXIF tag: "IFD0", "GPS", ...; else empty, "IPTC", "Photoshop" */
    const char *name;  /* of the tag or property; empty: unknown */
    const char *reason; /* "location", "thumbnail", "not in the list", ... */
    int tag;            /* of EXIF; IPTC: record * 256 + data set; Photoshop: the resource; else -1 */
    uint64_t bytes;
} lap_dropped;
typedef void lap_dropped_fn(void *user, const lap_dropped *dropped);
/* As lap_info_read; each is called for each piece that a run with these settings (strip, keep, format, gray)
 * drops. */
lap_code lap_info_dropped(const char *path, const lap_settings *settings, lap_info *info,
    lap_dropped_fn *each, void *user, lap_error *err);

/* ---- folders ----------------------------------------------------------------------------------- */

/* What was found in folders beside the inputs. */
enum { LAP_OTHER_KINDS = 32 };
typedef struct lap_batch_others {
    uint64_t files;   /* not taken; hidden ones are not counted */
    uint64_t outputs; /* folders of outputs of earlier runs, which are walked only if named */
    size_t kind_count;
    struct {
        char extension[16]; /* small letters, cut; empty: none */
        uint64_t files;
    } kinds[LAP_OTHER_KINDS]; /* in the order in which they were found; `files` above counts further kinds */
    uint64_t include_used, exclude_used; /* bit i: pattern i of the first 64 of take matched something */
} lap_batch_others;

/* CUDA devices for a run, if its backend uses one. */
typedef struct lap_batch_devices {
    const int *numbers;     /* NULL: settings->device */
    int count;              /* of numbers; -1: all devices */
    uint64_t memory;        /* bytes of photos in work on each device, at most; 0: 3.4 GB */
    uint32_t share, shares; /* use every shares-th device from number `share` (from 0) on, or one if there are
                               fewer; shares 0 or 1: all. See lap_shard_local */
    const char *trace; /* file for a timeline of reading, devices and writing in Chrome's trace format, with
                          or without devices; NULL: none */
} lap_batch_devices;

#define LAP_BATCH_DEVICES 64

typedef struct lap_batch_device {
    int device;
    bool is_ready, is_lost; /* neither: it starts */
    int under_way;          /* photos on it now */
    uint64_t done;          /* photos that it decoded, filtered and encoded */
} lap_batch_device;

/* Who does the work of a run over many files, and how much. Brought up to date before each callback. */
typedef struct lap_batch_work {
    char how[200];    /* the CPU alone, or which devices, and why */
    lap_times busy;   /* of all files so far, as in lap_report */
    int device_count; /* 0: the CPU alone */
    lap_batch_device device[LAP_BATCH_DEVICES];
    uint64_t jobs; /* files at once, at most */
} lap_batch_work;

/* Outputs of earlier runs whose photo is gone: removed after a run. Takes only files that are ours by device,
 * inode, size, time and content, whose input lay in a folder of this run, is no longer there, and leaves no
 * other input for that output. Removes nothing if a folder or file could not be examined, a folder of the
 * inputs is missing or holds no photo, or the run was stopped. refused is LAP_E_CHANGED if a folder of the
 * inputs and that of a record do not agree in absolute name and inode. With force one is taken for the other
 * unless that one still stands, and options->warn is told. LAP_E_USAGE with shards, files_from, filters. */
typedef struct lap_batch_prune {
    /* Called for each output that was removed (with dry_run: would be), or, with problem, could not be; or
     * NULL. */
    void (*each)(void *user, const char *output, const lap_error *problem);
    void *user;
    uint64_t removed, failed;
    uint64_t kept;     /* the folder of their photo is there but empty, like one that is not mounted */
    lap_error refused; /* why no output was looked for; LAP_OK: they were */
} lap_batch_prune;

/* Called for each input; problem says why it cannot be taken, or is NULL. Anything but LAP_OK ends the walk.
 */
typedef lap_code lap_inputs_fn(void *user, const char *path, const lap_error *problem, lap_error *err);
/* Lists the files that lap_batch would take from these operands, in its order. */
lap_code lap_inputs(
    const char *const *operands, size_t count, lap_inputs_fn *each, void *user, lap_error *err);

/* spec: "I/N" (I from 0), or "auto": what Slurm, Open MPI, MPICH or a Kubernetes indexed job says.
 * LAP_E_USAGE. */
lap_code lap_shard_parse(const char *spec, uint32_t *shard, uint32_t *shards, lap_error *err);
/* The number of this process among those of a Slurm step or MPI job on this machine, and how many there are.
 * False, 0 and 1 without such a launcher, or if it gave each process its own devices (SLURM_GPUS_PER_TASK).
 */
bool lap_shard_local(uint32_t *rank, uint32_t *size);

/* Photos that are replaced by their outputs. */
typedef struct lap_in_place {
    /* Which, and how: inputs (files alone), files_from, nul_separated, jobs, fail_fast, dry_run, sides,
     * devices (but for its trace), warn and work count. */
    const lap_batch_options *options;
    bool again;         /* replace outputs of earlier runs, too, and where records cannot be trusted */
    const char *backup; /* or NULL: behind the name that each photo keeps, beside its output */
    lap_batch_fn *each; /* or NULL: in the order of the inputs */
    void *user;
    uint64_t reserved[8];
} lap_in_place;

/* Replaces each file by its output, once whatever it is called. What was replaced is recorded in the folder
 * of each photo, in .lapedge-in-place.jsonl, by size and content: a file that is an output already, under any
 * name, is skipped, as up to date or, by other settings, as LAP_E_EXISTS. So the same call continues what was
 * stopped. settings->stats and progress count where one file is named.
 *
 * Returns LAP_OK when the run came to its end (counts say with what success); LAP_E_WRITE after it where a
 * folder was left alone because its record cannot be written, read or trusted; LAP_E_CANCELLED,
 * LAP_E_DISK_FULL (stopped early), LAP_E_USAGE (a folder among the inputs; settings), LAP_E_BACKEND,
 * LAP_E_CLASH, LAP_E_MISSING (the list), LAP_E_MEMORY. A backup that exists is never replaced: LAP_E_EXISTS,
 * unless it is the same photo. */
lap_code lap_batch_in_place(lap_context *context, const lap_in_place *order, const lap_settings *settings,
    lap_batch_counts *counts, lap_error *err);

/* ---- statistics and differences of folders ----------------------------------------------------- */

/* Statistics from counts: counts[c][v] samples of channel c have the value v. channels: 1 to 4; of three or
 * more the first are red, green, blue. LAP_E_USAGE: a channel that is empty or has 2^48 samples or more. */
lap_code lap_stats_of_counts(
    uint64_t counts[4][256], int channels, int threshold, lap_stats *stats, lap_error *err);

typedef struct lap_measured {
    const char *input;
    const lap_measurement *measurement; /* NULL if it failed */
    const lap_report *report;           /* status and error; without an output */
} lap_measured;
/* As lap_batch_fn, but with the inputs in the order of the folders. */
typedef void lap_measure_fn(void *user, const lap_measured *file, const lap_batch_counts *counts);
/* lap_measure_file for many files, several at once. Uses of options: inputs, files_from, nul_separated, jobs,
 * fail_fast, take, others, devices without trace, warn, work. Returns LAP_OK if the run came to its end;
 * LAP_E_CANCELLED, LAP_E_USAGE, LAP_E_BACKEND, LAP_E_MISSING (the list), LAP_E_MEMORY. */
lap_code lap_measure_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, const lap_measure_options *measure, lap_measure_fn *each, void *user,
    lap_batch_counts *counts, lap_error *err);

/* How an image was decoded, if that is worth knowing: by several threads, or why not; else empty. */
const char *lap_pixels_note(const lap_pixels *pixels);
/* Adds a comparison to a sum that begins all zero. Means are those of all samples; the first difference is
 * that of the first comparison that has one. */
void lap_difference_add(lap_difference *sum, const lap_difference *more);

typedef struct lap_diff_box {
    int x, y, width, height; /* pixels */
} lap_diff_box;
/* What a comparison leaves out; all zero: nothing. */
typedef struct lap_diff_rules {
    int mask_border; /* pixels at each side, which do not count at all */
    bool with_ssim;
    int pixel_threshold;        /* 0..255: a pixel of which no channel differs by more counts as equal */
    const lap_diff_box *ignore; /* pixels in these count as equal; parts outside the image are passed over */
    size_t ignore_count;
} lap_diff_rules;
/* Copies each pixel of a that counts as equal to b, so that whoever compares the two finds no difference
 * there. Host views that do not overlap; does nothing if their sizes or channels differ. */
void lap_difference_excuse(const lap_view *a, const lap_view *b, const lap_diff_rules *rules);

typedef struct lap_pair { /* files with the same path below two folders */
    const char *a, *b;    /* NULL: this folder has none */
    const char *relative;
    int width, height, channels;      /* of a; 0 if it could not be read */
    const lap_difference *difference; /* NULL if one is missing, or they could not be compared */
    const lap_error *error;           /* why they could not; else its code is LAP_OK */
    const char *note;                 /* lap_pixels_note of a; empty if there is none */
} lap_pair;
/* Called on the thread that called lap_compare_folders: for each pair in the order of a, then for what only b
 * has; and with pair NULL about ten times a second. */
typedef void lap_pair_fn(void *user, const lap_pair *pair, const lap_batch_counts *counts);
/* Compares the images of two folders in pairs, several at once. Uses of options: jobs, take, others (of both
 * folders). counts->ok: compared, or in one folder alone. LAP_OK if all pairs had their turn;
 * LAP_E_CANCELLED, LAP_E_MISSING, LAP_E_USAGE (not a folder; settings), LAP_E_MEMORY. */
lap_code lap_compare_folders(lap_context *context, const char *a, const char *b,
    const lap_batch_options *options, const lap_settings *settings, const lap_diff_rules *rules,
    lap_pair_fn *each, void *user, lap_batch_counts *counts, lap_error *err);

/* ---- heat maps, and backends compared ------------------------------------------------------------ */

/* A PNG of where and how much b differs from a, the largest of each pixel's channels: zero is dark gray,
 * 1 to `top` run from dark blue to yellow in steps that look equal. Pixels keep their places; strips at
 * the right and below collect what lies in their rows and columns, so that a single pixel is found, and
 * under them stands the scale. top 0: the largest difference there is. Views as in lap_compare_views;
 * LAP_E_BACKEND where PNG output was not built in. */
lap_code lap_heatmap_write(
    const char *path, const lap_view *a, const lap_view *b, int mask_border, int top, lap_error *err);

typedef struct lap_compare_options {
    const char *backends; /* comma separated names; NULL: every row of the ladder */
    int mask_border;      /* filter and transpose: pixels at each side that do not count */
    int runs;             /* of each backend, 1 to 10000; 0: up to 5, as long as they take 0.25 s together */
    uint64_t reserved[4];
} lap_compare_options;

typedef struct lap_compare_row {
    lap_op op;
    const char *backend;
    const char *resolved; /* NULL: cannot run here, see reason */
    const char *reason;   /* why it cannot run, or how it failed; NULL: difference is valid */
    lap_difference
        difference;        /* from the result of c on the same pixels; of sums and counts: identical alone */
    const char *detail;    /* sums and counts that differ: which, and how; else NULL */
    double relative_error; /* reduce, matvec: the largest on fractions, against double; NaN else */
    double ms;             /* wall time of a run, transfers counted: the median */
    double upload_ms, kernel_ms, download_ms; /* of a device, medians; NaN else */
    const lap_view *a, *b; /* filter, transpose: the output of c and of this backend; else NULL */
    const char *cause;     /* of a reason why it cannot run: what is missing, without its name; else NULL */
    int runs;              /* that ms is the median of */
    double min_ms, max_ms, stddev_ms; /* of these runs; stddev_ms 0 for a single one */
} lap_compare_row;

/* The row, its strings and views live until it returns. */
typedef void lap_compare_fn(void *user, const lap_compare_row *row);

/* Runs the backends of one ladder on the same pixels, once or more, and compares every last result with that
 * of c, before any encoding. Filter and transpose: all pixels. Histogram: all counts. Reduce: the sum of up
 * to 2^25 samples, as doubles, which is exact in any order; matvec: samples times -1, 0, 1, likewise.
 * settings: filter parameters, border, threads, device, timeout. Backends that cannot run are reported with
 * their reason; one that fails does not end the comparison. Fills the apron of pixels. */
lap_code lap_compare(lap_context *context, lap_op op, lap_pixels *pixels, const lap_compare_options *options,
    const lap_settings *settings, lap_compare_fn *each, void *user, lap_error *err);

/* ---- bench ----------------------------------------------------------------------------------- */

typedef struct lap_bench_options {
    const char *image;    /* photo to take pixels from, or NULL for synthetic sensor noise */
    int width, height;    /* of the pixels, synthetic, or cut and tiled from image; 0: as the image */
    int channels;         /* 1, 3 or 4 */
    const char *backends; /* comma separated names, or NULL for every row of the ladder */
    int runs;             /* timed runs per row, at least 1; 0: 20 */
    int threads;          /* for backends that use several; 0: all of the context */
    lap_params params;
    lap_border border;
    const char *omp_loop; /* "y", "x", "window" or NULL */
    int block_x, block_y; /* cuda-global; 0: 16x16 */
    size_t n;             /* reduce: values; matvec: rows and columns; 0: the documents' sizes */
    double value;         /* reduce: every element; 0: 1.23 */
    const char *type;     /* "u8", "f32" or "f64" where a ladder has several; NULL: its own */
    bool warm;            /* CUDA: one buffer again and again instead of rotating ones */
    int device;
    uint64_t reserved[8];
} lap_bench_options;

typedef struct lap_bench_row {
    lap_op op;
    const char *backend;  /* the row's name; "memcpy", "copy" or "multiply-add" for a ceiling */
    const char *resolved; /* NULL: could not run, see reason */
    const char *reason;   /* why it could not run or was refused (result differs from c) */
    const char *flags;
    int threads, width, height, channels;
    const char *type;       /* of the elements: "u8", "f32", "f64"; NULL: "u8" */
    const char *form;       /* "unchecked" where the backend's bounds checks were left out; NULL else */
    const double *times_ms; /* runs of them */
    int runs;
    double median_ms, mean_ms, stddev_ms, min_ms, max_ms;
    double convert_ms; /* of the median run, for backends that convert; NaN: does not apply */
    double upload_ms, kernel_ms, download_ms, end_to_end_ms; /* CUDA; NaN else */
    double mpix_per_s, gb_per_s;  /* each byte read and written counted once, 10^9 bytes */
    double roof_share;            /* gb_per_s over that of the ceiling of the same run and place */
    double speedup;               /* over c on one thread; NaN where c was not run */
    double flops_per_byte;        /* arithmetic intensity of the textbook form */
    double gflop_per_s;           /* operations of the textbook form; of a ceiling: those that were done */
    double first_ms;              /* filter: the first run, from host memory to host memory, before any
                                     warm-up; the first on a device starts CUDA too. NaN else */
    double value, relative_error; /* reduce: the sum, and how far it is from n times the stored value */
} lap_bench_row;

/* Called after each row; the row and its strings live until it returns. */
typedef void lap_bench_fn(void *user, const lap_bench_row *row);
/* Ceilings first, then every row; a backend whose result is not that of c is refused, not timed.
 * LAP_OP_CODEC: for image, or all photos of that folder together, the rows decode, filter and encode
 * (processor time of one thread, memory to memory), floor (their sum divided by the threads) and run (the
 * whole pipeline, wall time, one photo after another); roof_share is the floor's share of the time. For
 * several photos width is their mean number of pixels, height their number. */
lap_code lap_bench(lap_context *context, lap_op op, const lap_bench_options *options, lap_bench_fn *each,
    void *user, lap_error *err);

#ifdef __cplusplus
}
#endif
#endif
