/* Functions that only the lapedge program uses, in addition to those of lapedge.h. This header is not
 * installed, and the shared library does not export these functions; they may change with every version. The
 * rules for threads and errors at the head of lapedge.h apply here too. */
#ifndef LAPEDGE_PROGRAM_H
#define LAPEDGE_PROGRAM_H

#include "lapedge.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hints and text on a terminal -------------------------------------------------------------- */

/* Values of lap_error.remedy and lap_report.warning_remedy: which setting to change to avoid the error or
 * warning. The library's messages do not name the program's options; the program adds the option's name. */
typedef enum lap_remedy {
    LAP_REMEDY_NONE,
    LAP_REMEDY_MAX_PIXELS, /* raise settings->max_pixels */
    LAP_REMEDY_MAX_MEMORY,
    LAP_REMEDY_MAX_SCANS,
    LAP_REMEDY_CLOBBER,          /* clear settings->no_clobber */
    LAP_REMEDY_FORMAT,           /* name the format in settings->format */
    LAP_REMEDY_FORMAT_OR_FOLDER, /* the same, or end the name with a slash if a folder was meant */
    LAP_REMEDY_GRAY,             /* set settings->gray, or write another format */
    LAP_REMEDY_IN_PLACE,         /* set settings->in_place */
    LAP_REMEDY_TRIM,             /* set settings->lossless to LAP_LOSSLESS_TRIM */
    LAP_REMEDY_AUTO_ORIENT,      /* set settings->auto_orient */
    LAP_REMEDY_FORCE,            /* set options->force */
    LAP_REMEDY_OTHER_PHOTO,      /* name another output folder; options->force, if it is the same photo */
    LAP_REMEDY_LATER,            /* run again when the other run has ended */
    LAP_REMEDY_ORDER,            /* name the folders in the other order: inputs are outputs */
    LAP_REMEDY_MOVED,            /* set options->force, if the photos were moved there */
    LAP_REMEDY_OTHER_FOLDER,     /* name another output folder, or set settings->in_place */
    LAP_REMEDY_NUL_SEPARATED,    /* set options->nul_separated */
    LAP_REMEDY_LINES,            /* clear options->nul_separated */
    LAP_REMEDY_FLAT,             /* clear options->flat */
    LAP_REMEDY_APART,            /* write the inputs into different output folders */
    LAP_REMEDY_FAIL_ON,          /* set settings->fail_on to LAP_FAIL_NONE, to keep what can be read */
    LAP_REMEDY_FAIL_ON_MAY,      /* the same, but later parts of the file may prevent it */
    LAP_REMEDY_TIMEOUT           /* raise settings->timeout_s */
} lap_remedy;

/* Returns the length in bytes of the UTF-8 character at text (which is not the final 0) and stores its code
 * point. Returns 0 if the character is malformed: overlong, a surrogate, above U+10FFFF, or incomplete. */
size_t lap_utf8_decode(const char *text, unsigned *code);
/* Whether a character may be printed in a line. Returns false for control characters (C0, DEL, C1), line
 * ends, and characters that change the direction of writing. */
bool lap_utf8_is_shown(unsigned code);
/* Returns how many columns of a terminal a shown character takes: 0 if it combines with the one before, such
 * as the accents in names of macOS, 2 for East Asian characters and emoji, else 1. Looks only at the blocks
 * that names have; terminals differ for some others. */
int lap_utf8_columns(unsigned code);
/* The number of edits that turn one word into the other: insert, delete or replace a letter, or swap two
 * neighbours. Ignores case. For a word of more than 63 bytes the distance is always 63. */
int lap_word_distance(const char *a, const char *b);
/* Reads the decimal number at the start of the text: no spaces before it, no hexadecimal, no inf, no nan, and
 * neither too large nor too small for a double. Returns its end, or NULL. */
const char *lap_decimal(const char *text, double *value);

enum { LAP_SIZE_TEXT = 24 };
/* Writes a number of bytes as "1.5 MB", below 0.1 MB as "15 kB" (rounded up), below 1 kB as "15 bytes".
 * Returns text. */
char *lap_size_text(uint64_t bytes, char text[LAP_SIZE_TEXT]);

/* ---- what can run here ------------------------------------------------------------------------- */

/* Returns the number of cores that this process may use. */
int lap_usable_cores(void);
/* Returns a word of LAP_CPU_MASK that names no instruction set or feature, and sets *length; NULL if there is
 * none. */
const char *lap_cpu_mask_unknown(size_t *length);

/* Returns the known backend name nearest to a misspelt one, or NULL. */
const char *lap_rung_nearest(lap_op op, const char *name);
/* Returns by how many levels the results of two backends may differ: 0, 1, or -1 for no limit. See EXACTNESS
 * in lapedge.h. */
int lap_params_tolerance(const lap_params *params);
/* Returns false if there can be no device: the build has no CUDA, or the machine has no driver files. *reason
 * (may be NULL) says which. Returns immediately and does not start CUDA. */
bool lap_device_possible(const char **reason);
/* Bytes of memory that this process may use: the machine's memory, or the limit of its control group (cgroup
 * 1 or 2). */
uint64_t lap_memory_here(void);
/* Checks that each library loaded at run time has the interface that lapedge was built with. LAP_E_BACKEND:
 * one of them has another interface, and everything that needs it fails. LAP_E_MEMORY: the check ran out of
 * memory. */
lap_code lap_libraries_check(lap_error *err);

/* ---- files ------------------------------------------------------------------------------------- */

/* Returns the output format that settings->format or a file extension names, ignoring case: "jpg" for "JPEG".
 * NULL if there is no such format. */
const char *lap_format_named(const char *name);
/* Returns the input format of a file that begins with these bytes (16 are enough), named as in lap_info, or
 * NULL if unknown. */
const char *lap_format_of_bytes(const void *bytes, size_t size);
/* Returns the error that lap_run_file would report before it decodes: bad settings or names, a missing input,
 * a missing folder. Reads and writes no files. */
lap_code lap_run_check(const char *in, const char *out, const lap_settings *settings, lap_error *err);

/* Checks a file that a program writes in addition to its outputs (statistics, a log, a report). LAP_E_CLASH:
 * path leads to the same regular file as one of others, through any kind of link, or both would be created
 * under the same name. Skips names in others that are empty or NULL. "-" is the file that standard input or
 * output is redirected to. */
lap_code lap_side_check(const char *path, const char *const *others, size_t count, lap_error *err);
/* Returns the error for which lap_side_write would refuse the path, such as a missing folder. Creates
 * nothing. */
lap_code lap_side_reach(const char *path, lap_error *err);
/* Sets *lies_in to whether path lies below the folder, possibly through links. Neither needs to exist.
 * LAP_E_WRITE: one of them cannot be examined. */
lap_code lap_side_lies_in(const char *path, const char *folder, bool *lies_in, lap_error *err);
/* Waits up to this many seconds until a process reads the FIFO at path; LAP_E_WRITE if no process does. The
 * FIFO stays open until the program ends, because its reader waits for the data that lap_side_write will
 * write. Returns at once for all other paths. */
lap_code lap_side_await_reader(const char *path, double seconds, lap_error *err);
/* Writes a file completely or not at all, like an output. Replaces an existing file only when the new one is
 * complete; if path is a link, replaces its target. Writes directly to devices and pipes. LAP_E_WRITE at once
 * for a FIFO without a reader. */
lap_code lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err);

/* Removes the temporary files of this process's outputs, including those of finished outputs that are not
 * published yet. Async-signal-safe, for a process that is about to end. From now on no output can be begun or
 * published. */
void lap_abandon_outputs(void);

/* A piece of metadata that an output will not contain. No string is NULL. */
typedef struct lap_dropped {
    const char *kind;   /* "EXIF", "XMP", "IPTC", "ICC", "comment", "other" */
    const char *where;  /* for EXIF tags the directory: "IFD0", "GPS", ...; else empty, "IPTC", "Photoshop" */
    const char *name;   /* name of the tag or property; empty: unknown */
    const char *reason; /* "location", "thumbnail", "not in the list", ... */
    int tag;            /* EXIF tag; IPTC: record * 256 + data set; Photoshop: resource number; else -1 */
    uint64_t bytes;
} lap_dropped;
typedef void lap_dropped_fn(void *user, const lap_dropped *dropped);
/* Like lap_info_read, and calls `each` for every piece of metadata that a run with these settings (strip,
 * keep, format, gray) drops, and for the bytes after the end of a JPEG. */
lap_code lap_info_dropped(const char *path, const lap_settings *settings, lap_info *info,
    lap_dropped_fn *each, void *user, lap_error *err);
/* Reads a file and returns the number of bytes after the end of a JPEG, which a run leaves out; 0 for other
 * files. */
uint64_t lap_bytes_after_end(const char *path);

/* ---- folders ----------------------------------------------------------------------------------- */

enum { LAP_OTHER_KINDS = 32, LAP_OTHER_FOLDERS = 8 };
typedef struct lap_batch_left {     /* an output folder, below a named folder, with files left out */
    char folder[1024], first[1024]; /* paths of the folder and of the first file; shortened */
    uint64_t outputs, photos;
} lap_batch_left;
/* Files in the named folders that are not inputs, and inputs that deserve a warning. */
typedef struct lap_batch_others {
    bool finds_made;        /* set by the caller: count in `made` and `ours` */
    uint64_t files;         /* files that are not inputs, except hidden ones */
    uint64_t apple_doubles; /* macOS's ._NAME files of metadata, in folders and lists */
    uint64_t outputs; /* outputs of earlier runs below a named folder; they are processed only if their output
                         folder, or a folder below that, is named */
    uint64_t output_folders; /* number of output folders that hold them */
    uint64_t out_photos;     /* photos in this run's output folder, which is not walked */
    size_t left_count;
    lap_batch_left left[LAP_OTHER_FOLDERS]; /* where they were found; further folders are only counted */
    uint64_t made; /* inputs that are outputs of a filter: filtered in place, or in an output folder */
    char made_first[1024]; /* the path of the first one, shortened */
    uint64_t ours;         /* `made`, plus inputs that are outputs of transform */
    size_t kind_count;
    struct {
        char extension[16]; /* in lower case, shortened; empty: no extension */
        uint64_t files;
    } kinds[LAP_OTHER_KINDS]; /* in the order of discovery; `files` above also counts further kinds */
    uint64_t include_used, exclude_used; /* bit i: pattern i of take's first 64 matched something */
} lap_batch_others;

/* CUDA devices for a run. Used only if the backend uses devices. */
typedef struct lap_batch_devices {
    const int *numbers;     /* device numbers; NULL: use settings->device */
    int count;              /* length of numbers; -1: use all devices */
    uint64_t memory;        /* limit in bytes for photos in progress on each device; 0: 3.4 GB */
    uint32_t share, shares; /* use every shares-th device, from number `share` (from 0), or one if there are
                               fewer; shares 0 or 1: all. See lap_shard_local */
    const char *trace;      /* file for a timeline of reading, devices and writing in Chrome's trace format,
                               written with or without devices; NULL: no timeline */
} lap_batch_devices;

#define LAP_BATCH_DEVICES 64

typedef struct lap_batch_device {
    int device;
    bool is_ready, is_lost; /* both false while the device starts */
    int under_way;          /* photos on the device now */
    uint64_t done;          /* photos that the device decoded, filtered and encoded */
} lap_batch_device;

/* Which processors work on a run over many files, and how much each has done. Updated before each
 * callback. */
typedef struct lap_batch_work {
    char how[200];    /* CPU only, or which devices, and why */
    lap_times busy;   /* sums over all files so far, as in lap_report */
    int device_count; /* 0: CPU only */
    lap_batch_device device[LAP_BATCH_DEVICES];
    uint64_t jobs; /* the most files processed at once */
} lap_batch_work;

/* Removes, after a run, outputs of earlier runs whose photo no longer exists. An output is removed only if
 * device, inode, size, time and content show that lapedge wrote it, its input was in a folder of this run and
 * is gone, and no other input has this output. Removes nothing if a folder or file could not be examined, an
 * input folder is missing or contains no photo, or the run was stopped. refused is LAP_E_CHANGED if an input
 * folder and its recorded folder differ in absolute name or inode. With force, the input folder counts as the
 * recorded one and options->warn is called, unless the recorded one still exists, which sets refused too.
 * LAP_E_USAGE with shards, files_from or filters. */
typedef struct lap_batch_prune {
    /* Called for each output that was removed (with dry_run: would be removed). If problem is not NULL, the
     * output could not be removed. each may be NULL. */
    void (*each)(void *user, const char *output, const lap_error *problem);
    void *user;
    uint64_t removed, failed;
    uint64_t kept;   /* outputs kept because a folder in their photo's path is empty, perhaps not mounted */
    uint64_t hidden; /* outputs kept because a symbolic link is on the way to their photo, and leads nowhere
                        or is not followed */
    char hidden_by[1024]; /* the first such link, shortened */
    uint64_t changed;     /* outputs kept because they were changed or copied after they were made */
    uint64_t elsewhere;   /* outputs kept because their photo, which is gone, was in no folder of this run */
    uint64_t others; /* outputs kept although their photo is gone, because only records of a folder above or
                           below the output folder name them */
    char others_in[1024]; /* the first such folder, shortened */
    lap_error refused;    /* why the run removed nothing, or nothing more; LAP_OK: it removed what it could */
} lap_batch_prune;

/* Called for each input. problem is NULL, or says why the input cannot be processed. Returning anything but
 * LAP_OK ends the walk. */
typedef lap_code lap_inputs_fn(void *user, const char *path, const lap_error *problem, lap_error *err);
/* Lists the files that lap_batch would process for these inputs, in the same order. *links: number of
 * symbolic links not followed; links may be NULL. */
lap_code lap_inputs(const char *const *operands, size_t count, lap_inputs_fn *each, void *user,
    uint64_t *links, lap_error *err);

/* spec is "I/N" (I from 0), or "auto": use the values set by Slurm, Open MPI, MPICH or a Kubernetes indexed
 * job. LAP_E_USAGE. */
lap_code lap_shard_parse(const char *spec, uint32_t *shard, uint32_t *shards, lap_error *err);
/* Gets this process's number among the processes of a Slurm step or MPI job on this machine, and their count.
 * Returns false, with 0 and 1, if there is no such launcher, or if it gave each process separate devices
 * (SLURM_GPUS_PER_TASK). */
bool lap_shard_local(uint32_t *rank, uint32_t *size);

/* Replaces photos with their outputs. */
typedef struct lap_in_place {
    /* Uses inputs (files only), files_from, nul_separated, jobs, fail_fast, dry_run, sides, devices (without
     * trace), warn and work; in `others` only finds_made, made and ours. */
    const lap_batch_options *options;
    bool again;         /* also filter outputs of earlier runs, and photos whose records are not trusted */
    const char *backup; /* suffix under which each photo is kept beside its output; or NULL */
    lap_batch_fn *each; /* called in the order of the inputs; or NULL */
    void *user;
    uint64_t reserved[8];
} lap_in_place;

/* Replaces each file with its output; a file that has several names is replaced once. Records the size and
 * content of each output in .lapedge-in-place.jsonl in the photo's folder. A file that is already an output,
 * under any name, is skipped: as up to date, or with LAP_E_EXISTS if it was made with other settings. So
 * calling again continues a stopped run. settings->stats and progress are used only for a single file.
 *
 * Returns LAP_OK if the run finished; counts tell how many files failed. Returns LAP_E_WRITE after a finished
 * run if it skipped a folder because its record cannot be written, read or trusted. Other errors:
 * LAP_E_CANCELLED, LAP_E_DISK_FULL (stopped early), LAP_E_USAGE (a folder among the inputs; settings),
 * LAP_E_BACKEND, LAP_E_CLASH, LAP_E_MISSING (the list), LAP_E_MEMORY. An existing backup is never replaced:
 * the file gets LAP_E_EXISTS, unless the backup is the same photo. */
lap_code lap_batch_in_place(lap_context *context, const lap_in_place *order, const lap_settings *settings,
    lap_batch_counts *counts, lap_error *err);

/* ---- statistics and differences of folders ----------------------------------------------------- */

/* Computes statistics from counts: counts[c][v] samples of channel c have the value v. channels is 1 to 4;
 * with three or more, the first three are red, green and blue. LAP_E_USAGE: a channel is empty or has 2^48
 * samples or more. */
lap_code lap_stats_of_counts(
    uint64_t counts[4][256], int channels, int threshold, lap_stats *stats, lap_error *err);

typedef struct lap_measured {
    const char *input;
    const lap_measurement *measurement; /* NULL if measuring failed */
    const lap_report *report;           /* status and error; no output fields */
    const char *text;                   /* result of the order's `text`; NULL: no `text`, or out of memory */
} lap_measured;
/* Like lap_batch_fn, but inputs come in the order of the folders. */
typedef void lap_measure_fn(void *user, const lap_measured *file, const lap_batch_counts *counts);
/* Makes the text for a measured file, on the thread that measured it, so several threads may call it at once.
 * Returns memory that the library releases with free(); NULL: out of memory. */
typedef char *lap_measure_text_fn(void *user, const lap_measured *file);
typedef struct lap_measure_order {
    /* Uses inputs, files_from, nul_separated, jobs, fail_fast, take, others, devices (without trace), warn
     * and work. */
    const lap_batch_options *options;
    const lap_measure_options *measure;
    lap_measure_fn *each;
    lap_measure_text_fn *text; /* or NULL */
    void *user;
} lap_measure_order;
/* Runs lap_measure_file on many files, several at once. Returns LAP_OK if the run finished. LAP_E_CANCELLED,
 * LAP_E_USAGE, LAP_E_BACKEND, LAP_E_MISSING (the list), LAP_E_MEMORY. */
lap_code lap_measure_batch(lap_context *context, const lap_measure_order *order, const lap_settings *settings,
    lap_batch_counts *counts, lap_error *err);

/* Returns a message about how an image was decoded (by several threads, or why by only one), or "". */
const char *lap_pixels_note(const lap_pixels *pixels);
/* Returns a view of all pixels with an apron, which the caller may fill. Valid until the pixels are
 * freed. */
const lap_view *lap_pixels_with_apron(const lap_pixels *pixels);
/* Adds the warnings of decoding to a report. exact: also warns if samples of 16 bits became 8 bits. */
void lap_pixels_warn(const lap_pixels *pixels, bool exact, lap_report *report);
/* Like lap_measure_file. Also fills report, without output fields. */
lap_code lap_measure_report(lap_context *context, const char *in, const lap_settings *settings,
    const lap_measure_options *options, lap_measurement *measurement, lap_report *report, lap_error *err);
/* Adds a comparison to a sum, which starts all zero. Means cover all samples. The first difference comes from
 * the first comparison that has one. */
void lap_difference_add(lap_difference *sum, const lap_difference *more);

typedef struct lap_diff_box {
    int x, y, width, height; /* pixels */
} lap_diff_box;
/* The parts that a comparison leaves out. All zero: it compares everything. */
typedef struct lap_diff_rules {
    int mask_border; /* pixels at each side that are not compared */
    bool with_ssim;
    int pixel_threshold;        /* 0..255: pixels count as equal if no channel differs by more than this */
    const lap_diff_box *ignore; /* pixels in these boxes count as equal; boxes may extend beyond the image */
    size_t ignore_count;
} lap_diff_rules;
/* Copies each pixel of a that counts as equal to b, so that a later comparison finds no difference there.
 * Returns whether such a pixel differed inside the border: then the images are not identical, whatever that
 * comparison finds. The views are on the host and do not overlap. Does nothing if sizes or channels differ.
 */
bool lap_difference_excuse(const lap_view *a, const lap_view *b, const lap_diff_rules *rules);
/* Whether rules->ignore and rules->mask_border together leave a pixel of the view to compare. */
bool lap_difference_has_pixels(const lap_view *view, const lap_diff_rules *rules);

typedef struct lap_pair { /* files with the same path below two folders */
    const char *a, *b;    /* NULL: this folder has no such file, or the file is not an input */
    const char *relative;
    int width, height, channels;      /* size and channels of a; 0 if a could not be read */
    const lap_difference *difference; /* NULL if one file is missing, or the two could not be compared */
    bool excused;                     /* some pixels differ, but count as equal by the rules */
    const lap_error *error;           /* why they could not be compared; else its code is LAP_OK */
    const char *note;                 /* lap_pixels_note of a; may be empty */
    const lap_report *reads[2];       /* warnings of decoding a and b; all other fields are empty */
} lap_pair;
/* Called on the thread that called lap_compare_folders: for each pair in the order of a, then for each file
 * that only b has. Also called with pair NULL about ten times a second. False after a pair: no further pair
 * is compared or passed on. */
typedef bool lap_pair_fn(void *user, const lap_pair *pair, const lap_batch_counts *counts);
typedef struct lap_pairing {
    const char *a, *b;                /* the folders */
    const lap_batch_options *options; /* uses jobs, take, and others (for both folders) */
    const lap_diff_rules *rules;
    lap_pair_fn *each;
    void *user;
} lap_pairing;
/* Compares the images of two folders in pairs, several at once. counts->ok and warned count pairs that were
 * compared, and files in only one folder. Returns LAP_OK if all pairs were visited, or if `each` returned
 * false. LAP_E_CANCELLED, LAP_E_MISSING, LAP_E_USAGE (not a folder; settings), LAP_E_MEMORY. */
lap_code lap_compare_folders(lap_context *context, const lap_pairing *pairing, const lap_settings *settings,
    lap_batch_counts *counts, lap_error *err);

/* ---- heat maps, and backends compared ------------------------------------------------------------ */

/* Writes a PNG that shows where and how much b differs from a, by the largest difference of each pixel's
 * channels. Zero is dark gray; 1 to `top` run from dark blue to yellow in steps that look equal. Pixels keep
 * their places. Strips at the right and below mark the rows and columns with differences, which helps to find
 * a single pixel; the scale is below them. top 0: use the largest difference. Views as in lap_compare_views.
 * LAP_E_BACKEND: the library was built without PNG output. */
lap_code lap_heatmap_write(
    const char *path, const lap_view *a, const lap_view *b, int mask_border, int top, lap_error *err);

typedef struct lap_compare_row {
    lap_op op;
    const char *backend;
    const char *resolved; /* NULL: the backend cannot run here, see reason */
    const char *reason;   /* why the backend cannot run, or how it failed; NULL: difference is valid */
    lap_difference
        difference; /* from the result of c on the same pixels; for sums and counts, only identical is set */
    const char *detail;    /* which sums or counts differ, and how; else NULL */
    double relative_error; /* reduce, matvec: largest error on fractions, relative to double; else NaN */
    double ms;             /* median wall time of a run, including transfers */
    double upload_ms, kernel_ms, download_ms; /* medians for a device; else NaN */
    const lap_view *a, *b; /* filter, transpose: output of c and of this backend; else NULL */
    const char *cause; /* if the backend cannot run: what is missing, without the backend's name; else NULL */
    int runs;          /* number of timed runs */
    double min_ms, max_ms, stddev_ms; /* over these runs; stddev_ms is 0 for one run */
} lap_compare_row;

/* The row, its strings and its views are valid until the callback returns. */
typedef void lap_compare_fn(void *user, const lap_compare_row *row);
typedef struct lap_compare_options {
    const char *backends; /* backend names, comma separated; NULL: every row of the ladder */
    int mask_border;      /* filter and transpose: pixels at each side that are not compared */
    int runs;             /* runs per backend, 1 to 10000; 0: up to 5, within 0.25 s in total */
    lap_compare_fn *each; /* called for each backend, in the order of the ladder */
    void *user;
} lap_compare_options;

/* Runs the backends of one ladder on the same pixels, once or more, and compares each backend's last result
 * with that of c, before any encoding. Filter and transpose compare all pixels, histogram all counts. Reduce
 * compares the sum of up to 2^25 samples as doubles, which is exact in any order; matvec uses samples times
 * -1, 0, 1, also exact. Reads from settings: filter parameters, border, threads, device, timeout. Backends
 * that cannot run are reported with their reason; a failing backend does not end the comparison. Fills the
 * apron of pixels. */
lap_code lap_compare(lap_context *context, lap_op op, lap_pixels *pixels, const lap_compare_options *options,
    const lap_settings *settings, lap_error *err);

/* ---- bench ----------------------------------------------------------------------------------- */

typedef struct lap_bench_options {
    const char *image;    /* photo to take pixels from; NULL: synthetic sensor noise */
    int width, height;    /* size, cut and tiled from image, or synthetic; 0: size of image */
    int channels;         /* 1, 3 or 4 */
    const char *backends; /* backend names, comma separated; NULL: every row of the ladder */
    int runs;             /* timed runs per row, at least 1; 0: 20 */
    int threads;          /* threads for backends that use several; 0: all of the context */
    lap_params params;
    lap_border border;
    const char *omp_loop; /* "y", "x", "window" or NULL */
    int block_x, block_y; /* cuda-global's block size; 0: 16x16 */
    size_t n;         /* reduce: values; matvec: rows and columns; 0: the size used in the documentation */
    double value;     /* reduce: value of every element; 0: 1.23 */
    const char *type; /* "u8", "f32" or "f64" if the ladder has several; NULL: the ladder's default */
    bool warm;        /* CUDA: reuse one buffer instead of rotating several */
    int device;
    uint64_t reserved[8];
} lap_bench_options;

typedef struct lap_bench_row {
    lap_op op;
    const char *backend;  /* the row's name; "memcpy", "copy" or "multiply-add" for a ceiling */
    const char *resolved; /* NULL: the backend could not run, see reason */
    const char *reason;   /* why the backend could not run, or was refused (its result differs from c) */
    const char *flags;
    int threads, width, height, channels;
    const char *type;       /* element type: "u8", "f32", "f64"; NULL: "u8" */
    const char *form;       /* "unchecked" if the backend ran without bounds checks; else NULL */
    const double *times_ms; /* array of `runs` times */
    int runs;
    double median_ms, mean_ms, stddev_ms, min_ms, max_ms;
    double convert_ms; /* part of the median run, for backends that convert; else NaN */
    double upload_ms, kernel_ms, download_ms, end_to_end_ms; /* CUDA; else NaN */
    double mpix_per_s, gb_per_s; /* counts each byte read or written once; 1 GB is 10^9 bytes */
    double roof_share;           /* gb_per_s divided by the ceiling's in the same run and place */
    double speedup;              /* relative to c on one thread; NaN if c was not run */
    double flops_per_byte;       /* arithmetic intensity of the textbook form */
    double gflop_per_s;          /* operations of the textbook form; for a ceiling: operations performed */
    double first_ms; /* filter: first run from host memory to host memory, before any warm-up; on a device the
                        first one also starts CUDA. Else NaN */
    double value, relative_error; /* reduce: the sum, and its relative error from n times the stored value */
} lap_bench_row;

/* Called after each row. The row and its strings are valid until the callback returns. */
typedef void lap_bench_fn(void *user, const lap_bench_row *row);
/* Times the ceilings first, then every row. Refuses a backend whose result differs from c, without timing it.
 * LAP_OP_CODEC times image, or all photos of that folder together, in these rows: decode, filter and encode
 * (processor time of one thread, memory to memory), floor (their sum divided by the threads) and run (the
 * whole pipeline in wall time, one photo after another). roof_share is the floor's share of the time. For
 * several photos width is their mean number of pixels and height is their count. */
lap_code lap_bench(lap_context *context, lap_op op, const lap_bench_options *options, lap_bench_fn *each,
    void *user, lap_error *err);

#ifdef __cplusplus
}
#endif
#endif
