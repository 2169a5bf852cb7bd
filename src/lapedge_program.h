/* Functions of the library that only the program uses, beside lapedge.h. This header is not installed, and
 * the shared library does not export these functions: they may change with every version. What the head of
 * lapedge.h says about threads and errors applies here too. */
#ifndef LAPEDGE_PROGRAM_H
#define LAPEDGE_PROGRAM_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hints and text on a terminal -------------------------------------------------------------- */

/* Values of lap_error.remedy and lap_report.warning_remedy: what the user can change to avoid the error or
 * warning. The library's texts name no option of the program; the program adds the option. */
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
    LAP_REMEDY_FAIL_ON        /* set settings->fail_on to LAP_FAIL_NONE to keep what can be read */
} lap_remedy;

/* Decodes the UTF-8 character at text (not the final 0): returns its length in bytes, and its code point.
 * Returns 0 if it is malformed: overlong, a surrogate, beyond U+10FFFF, or truncated. */
size_t lap_utf8_decode(const char *text, unsigned *code);
/* Whether a line may show the character: false for those that steer a terminal (C0, DEL, C1), end a line, or
 * change the direction of writing. */
bool lap_utf8_is_shown(unsigned code);
/* The edit distance of two words, ignoring case: how many letters to insert, delete, replace or swap with
 * their neighbour. The distance of a word of more than 63 bytes is always 63. */
int lap_word_distance(const char *a, const char *b);

/* ---- what this machine can run ----------------------------------------------------------------- */

/* The known backend name nearest to a misspelt one, or NULL. */
const char *lap_rung_nearest(lap_op op, const char *name);
/* By how many levels backends may differ: 0, 1, or -1 for no promise. See EXACTNESS in lapedge.h. */
int lap_params_tolerance(const lap_params *params);
/* False if no device is possible: in a build without CUDA, or on a machine without a driver's files. *reason
 * (may be NULL) says which. Answers at once and does not start CUDA. */
bool lap_device_possible(const char **reason);
/* Bytes of memory that this process may use: the machine's, or fewer if a control group (cgroup 1 or 2)
 * limits it. */
uint64_t lap_memory_here(void);
/* LAP_E_BACKEND: a loaded library's interface differs from the one that lapedge was built with, so functions
 * that need it fail. LAP_E_MEMORY: the check itself ran out of memory. */
lap_code lap_libraries_check(lap_error *err);

/* ---- files ------------------------------------------------------------------------------------- */

/* The output format that settings->format or an extension names, in upper or lower case: "jpg" for "JPEG".
 * NULL if it names none. */
const char *lap_format_named(const char *name);
/* The input format of a file that begins with these bytes (16 are enough), named as in lap_info; NULL if
 * unknown. */
const char *lap_format_of_bytes(const void *bytes, size_t size);
/* Reports what lap_run_file would refuse before it decodes: settings, names, a missing input, a missing
 * folder. Reads and writes nothing. */
lap_code lap_run_check(const char *in, const char *out, const lap_settings *settings, lap_error *err);

/* Checks a file that a program writes beside its outputs (statistics, a log, a report). LAP_E_CLASH: path
 * leads to the same regular file as one of others, also by way of links, or would be created under the same
 * name. Skips empty names and NULL; "-" stands for the files to which standard input and output are
 * redirected. */
lap_code lap_side_check(const char *path, const char *const *others, size_t count, lap_error *err);
/* Writes a file completely or not at all, like an output. Replaces an existing file at the end; if path is a
 * link, replaces its target. Devices and pipes are written directly. */
lap_code lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err);

/* A piece of metadata that an output will lack. No string is NULL. */
typedef struct lap_dropped {
    const char *kind;  /* "EXIF", "XMP", "IPTC", "ICC", "comment", "other" */
    const char *place; /* the directory of an EXIF tag: "IFD0", "GPS", ...; else empty, "IPTC", "Photoshop" */
    const char *name;  /* the tag's or property's; empty: unknown */
    const char *reason; /* "location", "thumbnail", "not in the list", ... */
    int tag; /* EXIF: its number; IPTC: record * 256 + data set; Photoshop: the resource; else -1 */
    uint64_t bytes;
} lap_dropped;
typedef void lap_dropped_fn(void *user, const lap_dropped *dropped);
/* As lap_info_read, and calls each for each piece of metadata that a run with these settings (strip, keep,
 * format, gray) drops. */
lap_code lap_info_dropped(const char *path, const lap_settings *settings, lap_info *info,
    lap_dropped_fn *each, void *user, lap_error *err);

/* ---- folders ----------------------------------------------------------------------------------- */

/* Files and folders that were found beside the inputs. */
enum { LAP_OTHER_KINDS = 32 };
typedef struct lap_batch_others {
    uint64_t files;   /* files that are not inputs; hidden ones are not counted */
    uint64_t outputs; /* output folders of earlier runs; they are walked only if named */
    size_t kind_count;
    struct {
        char extension[16]; /* lower case, truncated; empty: none */
        uint64_t files;
    } kinds[LAP_OTHER_KINDS]; /* in the order of finding; `files` above also counts further kinds */
    uint64_t include_used, exclude_used; /* bit i: pattern i of the first 64 of take matched something */
} lap_batch_others;

/* CUDA devices for a run, if its backend uses one. */
typedef struct lap_batch_devices {
    const int *numbers;     /* NULL: settings->device */
    int count;              /* number of numbers; -1: all devices */
    uint64_t memory;        /* most bytes of photos in work on each device; 0: 3.4 GB */
    uint32_t share, shares; /* use every shares-th device from number `share` (from 0) on, or one if there are
                               fewer; shares 0 or 1: all. See lap_shard_local */
    const char *trace; /* file for a timeline of reading, devices and writing in Chrome's trace format, with
                          or without devices; NULL: none */
} lap_batch_devices;

#define LAP_BATCH_DEVICES 64

typedef struct lap_batch_device {
    int device;
    bool is_ready, is_lost; /* neither: it is starting */
    int under_way;          /* photos on it now */
    uint64_t done;          /* photos that it decoded, filtered and encoded */
} lap_batch_device;

/* Which processors and devices do the work of a run over many files, and how much. Updated before each
 * callback. */
typedef struct lap_batch_work {
    char how[200];    /* the CPU alone, or which devices, and why */
    lap_times busy;   /* sum over all files so far, as in lap_report */
    int device_count; /* 0: the CPU alone */
    lap_batch_device device[LAP_BATCH_DEVICES];
    uint64_t jobs; /* the most files at once */
} lap_batch_work;

/* Removes outputs of earlier runs whose photo is gone, after a run. Removes only files that are ours by
 * device, inode, size, time and content, whose input was in a folder of this run and is gone, if no other
 * input leads to that output. Removes nothing if a folder or file could not be examined, if a folder of the
 * inputs is missing or holds no photo, or if the run was stopped. refused is LAP_E_CHANGED if a folder of the
 * inputs and the folder in a record differ in absolute name or inode. With force, one is taken for the other
 * unless the recorded folder still exists, and options->warn is told. LAP_E_USAGE with shards, files_from,
 * filters. */
typedef struct lap_batch_prune {
    /* Called for each output that was removed (with dry_run: would be). With problem: for each that could not
     * be removed. Or NULL. */
    void (*each)(void *user, const char *output, const lap_error *problem);
    void *user;
    uint64_t removed, failed;
    uint64_t kept;     /* kept: their photo's folder is empty, as if not mounted */
    lap_error refused; /* why nothing was removed; its code is LAP_OK if pruning ran */
} lap_batch_prune;

/* Called for each input. problem: why the input cannot be used, or NULL. Any result but LAP_OK ends the walk.
 */
typedef lap_code lap_inputs_fn(void *user, const char *path, const lap_error *problem, lap_error *err);
/* Lists the files that lap_batch would take from these operands, in its order. */
lap_code lap_inputs(
    const char *const *operands, size_t count, lap_inputs_fn *each, void *user, lap_error *err);

/* Parses spec: "I/N" (I from 0), or "auto": as Slurm, Open MPI, MPICH or a Kubernetes indexed job says.
 * LAP_E_USAGE. */
lap_code lap_shard_parse(const char *spec, uint32_t *shard, uint32_t *shards, lap_error *err);
/* The number of this process among the processes of a Slurm step or MPI job on this machine, and how many
 * they are. False, 0 and 1 without such a launcher, or if it gave each process separate devices
 * (SLURM_GPUS_PER_TASK). */
bool lap_shard_local(uint32_t *rank, uint32_t *size);

/* Which photos to replace by their outputs, and how. */
typedef struct lap_in_place {
    /* Uses inputs (only files), files_from, nul_separated, jobs, fail_fast, dry_run, sides, devices (without
     * trace), warn and work. */
    const lap_batch_options *options;
    bool again;         /* also replace outputs of earlier runs, and ignore records that cannot be trusted */
    const char *backup; /* or NULL; suffix of the name under which each photo is kept, beside its output */
    lap_batch_fn *each; /* or NULL; called in the order of the inputs */
    void *user;
    uint64_t reserved[8];
} lap_in_place;

/* Replaces each file by its output, only once, whatever name the file has later. Records each replacement by
 * size and content in .lapedge-in-place.jsonl in the photo's folder. A file that is an output already, under
 * any name, is skipped: as up to date, or, if the settings differ, as LAP_E_EXISTS. So the same call
 * continues a stopped run. settings->stats and progress are used only for a single file.
 *
 * Returns LAP_OK if the run came to its end (counts tell the results). LAP_E_WRITE, also at the end: a folder
 * was skipped because its record cannot be written, read or trusted. LAP_E_CANCELLED, LAP_E_DISK_FULL
 * (stopped early), LAP_E_USAGE (a folder among the inputs; settings), LAP_E_BACKEND, LAP_E_CLASH,
 * LAP_E_MISSING (the list), LAP_E_MEMORY. An existing backup is never replaced: LAP_E_EXISTS, unless it is
 * the same photo. */
lap_code lap_batch_in_place(lap_context *context, const lap_in_place *order, const lap_settings *settings,
    lap_batch_counts *counts, lap_error *err);

/* ---- statistics and differences of folders ----------------------------------------------------- */

/* Computes statistics from counts: counts[c][v] samples of channel c have the value v. channels: 1 to 4; with
 * three or more, the first are red, green, blue. LAP_E_USAGE: a channel is empty or has 2^48 samples or more.
 */
lap_code lap_stats_of_counts(
    uint64_t counts[4][256], int channels, int threshold, lap_stats *stats, lap_error *err);

typedef struct lap_measured {
    const char *input;
    const lap_measurement *measurement; /* NULL if it failed */
    const lap_report *report;           /* status and error; nothing about an output */
} lap_measured;
/* As lap_batch_fn, but with the inputs in the order of the folders. */
typedef void lap_measure_fn(void *user, const lap_measured *file, const lap_batch_counts *counts);
/* Calls lap_measure_file for many files, several at once. Reads these options: inputs, files_from,
 * nul_separated, jobs, fail_fast, take, others, devices without trace, warn, work. Returns LAP_OK if the run
 * came to its end; LAP_E_CANCELLED, LAP_E_USAGE, LAP_E_BACKEND, LAP_E_MISSING (the list), LAP_E_MEMORY. */
lap_code lap_measure_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, const lap_measure_options *measure, lap_measure_fn *each, void *user,
    lap_batch_counts *counts, lap_error *err);

/* How an image was decoded: by several threads, or why not. Empty if there is nothing to say. */
const char *lap_pixels_note(const lap_pixels *pixels);
/* Adds a comparison to a sum, which starts as all zero. Means are over all samples; the first difference is
 * that of the first comparison that has one. */
void lap_difference_add(lap_difference *sum, const lap_difference *more);

typedef struct lap_diff_box {
    int x, y, width, height; /* pixels */
} lap_diff_box;
/* What a comparison ignores; all zero: nothing. */
typedef struct lap_diff_rules {
    int mask_border; /* pixels at each side that are not compared at all */
    bool with_ssim;
    int pixel_threshold;        /* 0..255: a pixel counts as equal if no channel differs by more */
    const lap_diff_box *ignore; /* pixels in these count as equal; parts outside the image are ignored */
    size_t ignore_count;
} lap_diff_rules;
/* Copies each pixel of a that counts as equal to b, so that a later comparison finds no difference there.
 * Host views that do not overlap. Does nothing if their sizes or channels differ. */
void lap_difference_excuse(const lap_view *a, const lap_view *b, const lap_diff_rules *rules);

typedef struct lap_pair { /* files with the same path below two folders */
    const char *a, *b;    /* NULL: this folder has no such file */
    const char *relative;
    int width, height, channels;      /* of a; 0 if it could not be read */
    const lap_difference *difference; /* NULL if one is missing, or they could not be compared */
    const lap_error *error;           /* why they could not be compared; else its code is LAP_OK */
    const char *note;                 /* lap_pixels_note of a; empty if there is none */
} lap_pair;
/* Called on the thread that called lap_compare_folders: for each pair in the order of a, then for files that
 * only b has. Also called about ten times a second with pair NULL. */
typedef void lap_pair_fn(void *user, const lap_pair *pair, const lap_batch_counts *counts);
/* Compares the images of two folders in pairs, several at once. Reads these options: jobs, take, others (of
 * both folders). counts->ok: pairs that were compared, or that are in one folder alone. LAP_OK if all pairs
 * were visited; LAP_E_CANCELLED, LAP_E_MISSING, LAP_E_USAGE (not a folder; settings), LAP_E_MEMORY. */
lap_code lap_compare_folders(lap_context *context, const char *a, const char *b,
    const lap_batch_options *options, const lap_settings *settings, const lap_diff_rules *rules,
    lap_pair_fn *each, void *user, lap_batch_counts *counts, lap_error *err);

/* ---- heat maps, and comparing backends ----------------------------------------------------------- */

/* Writes a PNG that shows where and how much b differs from a, by each pixel's largest channel difference:
 * zero is dark gray; 1 to `top` run from dark blue to yellow in steps that look equal. Pixels keep their
 * places. Strips at the right and below show the maximum of each row and column, so that a single pixel is
 * easy to find; the scale is under them. top 0: the largest difference in the pictures. Views as in
 * lap_compare_views; LAP_E_BACKEND if the build has no PNG output. */
lap_code lap_heatmap_write(
    const char *path, const lap_view *a, const lap_view *b, int mask_border, int top, lap_error *err);

typedef struct lap_compare_options {
    const char *backends; /* comma separated names; NULL: every row of the ladder */
    int mask_border;      /* filter and transpose: pixels at each side that are not compared */
    int runs;             /* runs of each backend, 1 to 10000; 0: up to 5, if they take 0.25 s together */
    uint64_t reserved[4];
} lap_compare_options;

typedef struct lap_compare_row {
    lap_op op;
    const char *backend;
    const char *resolved; /* NULL: cannot run here, see reason */
    const char *reason;   /* why it cannot run, or how it failed; NULL: difference is valid */
    lap_difference
        difference;        /* from the result of c on the same pixels; for sums and counts only `identical` */
    const char *detail;    /* which sum or count differs, and how; else NULL */
    double relative_error; /* reduce, matvec: largest error on fractions, against double; else NaN */
    double ms;             /* median wall time of a run, with transfers */
    double upload_ms, kernel_ms, download_ms; /* medians on a device; else NaN */
    const lap_view *a, *b;            /* filter, transpose: the output of c and of this backend; else NULL */
    const char *cause;                /* the reason without the backend's name, if it cannot run; else NULL */
    int runs;                         /* number of runs behind ms */
    double min_ms, max_ms, stddev_ms; /* of these runs; stddev_ms 0 for a single one */
} lap_compare_row;

/* The row, its strings and views live until it returns. */
typedef void lap_compare_fn(void *user, const lap_compare_row *row);

/* Runs the backends of one ladder on the same pixels, once or more, and compares each backend's last result
 * with that of c, before any encoding. Filter and transpose: all pixels. Histogram: all counts. Reduce: the
 * sum of up to 2^25 samples as doubles, which is exact in any order; matvec: samples times -1, 0, 1, also
 * exact. Reads these settings: filter parameters, border, threads, device, timeout. Reports backends that
 * cannot run with their reason; a backend that fails does not end the comparison. Fills the apron of pixels.
 */
lap_code lap_compare(lap_context *context, lap_op op, lap_pixels *pixels, const lap_compare_options *options,
    const lap_settings *settings, lap_compare_fn *each, void *user, lap_error *err);

/* ---- bench ----------------------------------------------------------------------------------- */

typedef struct lap_bench_options {
    const char *image;    /* photo to take pixels from, or NULL for synthetic sensor noise */
    int width, height;    /* of the pixels: synthetic, or cut and tiled; 0: as the image */
    int channels;         /* 1, 3 or 4 */
    const char *backends; /* comma separated names, or NULL for every row of the ladder */
    int runs;             /* timed runs per row, at least 1; 0: 20 */
    int threads;          /* for backends that use several; 0: as many as the context has */
    lap_params params;
    lap_border border;
    const char *omp_loop; /* "y", "x", "window" or NULL */
    int block_x, block_y; /* cuda-global; 0: 16x16 */
    size_t n;             /* reduce: values; matvec: rows and columns; 0: the sizes in the documents */
    double value;         /* reduce: value of every element; 0: 1.23 */
    const char *type; /* "u8", "f32" or "f64" for ladders with several types; NULL: the ladder's default */
    bool warm;        /* CUDA: reuse one buffer instead of rotating through several */
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
    const char *type;       /* element type: "u8", "f32", "f64"; NULL: "u8" */
    const char *form;       /* "unchecked" if the backend ran without bounds checks; else NULL */
    const double *times_ms; /* `runs` values */
    int runs;
    double median_ms, mean_ms, stddev_ms, min_ms, max_ms;
    double convert_ms;                                       /* median, for backends that convert; else NaN */
    double upload_ms, kernel_ms, download_ms, end_to_end_ms; /* CUDA; else NaN */
    double mpix_per_s, gb_per_s; /* counts each byte read and written once; 10^9 bytes */
    double roof_share;           /* gb_per_s divided by the ceiling's, in the same run and place */
    double speedup;              /* over c on one thread; NaN if c was not run */
    double flops_per_byte;       /* arithmetic intensity of the textbook form */
    double gflop_per_s;          /* operations of the textbook form; for a ceiling: those done */
    double first_ms; /* filter: the first run, from host memory to host memory, before any warm-up; on a
                        device it includes the start of CUDA. Else NaN */
    double value, relative_error; /* reduce: the sum, and its relative error against n times the value */
} lap_bench_row;

/* Called after each row; the row and its strings live until it returns. */
typedef void lap_bench_fn(void *user, const lap_bench_row *row);
/* Measures the ceilings, then every row. A backend whose result differs from that of c is refused, not timed.
 * LAP_OP_CODEC: takes image, or all photos of that folder together. Its rows: decode, filter and encode
 * (processor time of one thread, memory to memory), floor (their sum divided by the threads) and run (the
 * whole pipeline, wall time, one photo after another); roof_share is the floor's share of the time. For
 * several photos, width is their mean number of pixels, and height their number. */
lap_code lap_bench(lap_context *context, lap_op op, const lap_bench_options *options, lap_bench_fn *each,
    void *user, lap_error *err);

#ifdef __cplusplus
}
#endif
#endif
