/* lapedge finds the edges of photos by a 5x5 Laplace filter. This is the library's only public header.
 *
 * THREE EXAMPLES. All begin with
 *     lap_error error = {0};
 *     lap_context *context = lap_context_create(0, &error); // a pool of threads, one per core
 *     lap_settings settings = lap_settings_default();
 *
 * 1. One photo, from file to file:
 *     if (lap_run_file(context, "photo.jpg", "edges.jpg", &settings, NULL, &error) != LAP_OK)
 *         fprintf(stderr, "%s\n", lap_error_text(&error, (char[800]){0}, 800));
 *
 * 2. A folder of photos, to another folder. If the run is stopped, the same call continues it:
 *     const char *inputs[] = {"photos"};
 *     lap_batch_options options = {.inputs = inputs, .input_count = 1, .out_dir = "edges"};
 *     lap_batch_counts counts;
 *     if (lap_batch(context, &options, &settings, NULL, NULL, &counts, &error) == LAP_OK)
 *         printf("%d photos done, %d failed\n", (int)counts.ok, (int)counts.failed);
 *
 * 3. Your own pixels, here 480 rows of 640 pixels with 3 bytes each:
 *     static uint8_t pixels[480][640][3], edges[480][640][3];
 *     const lap_view in = {pixels[0][0], 3 * 640, 640, 480, 3, 0, LAP_ON_HOST};
 *     const lap_view out = {edges[0][0], 3 * 640, 640, 480, 3, 0, LAP_ON_HOST};
 *     lap_filter(context, &in, &out, "auto", &settings.params, LAP_REFLECT, &error);
 *
 * THE FILTER works on each channel separately. p is the source, extended by the border rule; h holds the 25
 * coefficients row by row; round is to nearest, ties to even. invert comes before threshold:
 *     o(y,x) = sum over fy,fx in -2..2 of  h[5*(fy+2) + fx+2] * p(y+fy, x+fx)
 *     r      = scale * o + offset     one float32 multiply, then one float32 add, never fused
 *     out    = clamp: min(255, max(0, round(r)))     abs: min(255, round(|r|))
 *     invert: out = 255 - out         threshold T >= 0: out = 255 where out >= T, else 0
 *
 * THE BORDER, for a line of n samples and an index i outside 0..n-1:
 *     zero        p(i) = 0
 *     replicate   p(i) = p(min(n-1, max(0, i)))
 *     reflect     p(i) = p(j), j = i mod 2n,      j > n-1: 2n-1-j          (edge sample repeated)
 *     reflect101  p(i) = p(j), j = i mod (2n-2),  j > n-1: 2n-2-j          (n = 1: p(0))
 *     wrap        p(i) = p(i mod n)
 *     constant:V  p(i) = V, 0 to 255
 *
 * EXACTNESS. With integer coefficients and 255 * sum|h| < 2^24 all backends give the same bytes. Otherwise
 * they differ by at most 1 level if |scale| * sum|h| <= 1200, and by any amount beyond that.
 *
 * THREADS. The only global state is a cache of device memory. Several threads may use one lap_context at the
 * same time; every other object may be used by one thread at a time. Functions that take no object are thread
 * safe.
 *
 * ERRORS. A function that can fail returns a lap_code and fills the caller's lap_error, which may be NULL.
 * Any may return LAP_E_MEMORY; with a context also LAP_E_CANCELLED. No function exits, prints or catches
 * signals. Other pointers may be NULL only if documented. A callback's pointers are valid until it returns.
 *
 * COMPATIBILITY. A program keeps working with every later library of the same SONAME. Functions and
 * enumerators are added, never changed. Structs that the caller allocates keep their size: new fields replace
 * `reserved` ones, and 0 keeps the old behaviour, so start from lap_..._default() or all zero. Structs that
 * only callbacks receive may grow at their end. lap_view and lap_times are final. */
#ifndef LAPEDGE_H
#define LAPEDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#define LAP_API __attribute__((visibility("default")))
#else
#define LAP_API
#endif
#define LAP_VERSION "1.0.0"
#define LAP_VERSION_MAJOR 1
#define LAP_VERSION_MINOR 0
#define LAP_VERSION_PATCH 0
#define LAP_VERSION_NUMBER (LAP_VERSION_MAJOR * 10000 + LAP_VERSION_MINOR * 100 + LAP_VERSION_PATCH)
LAP_API const char *lap_version(void);    /* version of the running library; may be newer than the header */
LAP_API int lap_version_number(void);     /* the same as a number, which grows with each release */
LAP_API const char *lap_build_info(void); /* compiler, libraries and CUDA versions, one per line */

/* ---- errors ---------------------------------------------------------------------------------- */

typedef enum lap_code {
    LAP_OK = 0,
    LAP_E_USAGE,       /* a setting is out of range, or two settings contradict each other */
    LAP_E_MISSING,     /* an input does not exist */
    LAP_E_UNREADABLE,  /* the input exists but cannot be read, or is not a regular file */
    LAP_E_NOT_IMAGE,   /* the input is not an image of a supported kind */
    LAP_E_UNSUPPORTED, /* an unsupported kind of image (12-bit, ...); LAP_FAIL_WARNING: metadata is lost */
    LAP_E_TRUNCATED,   /* the image data ends too early */
    LAP_E_DAMAGED,     /* the image data is invalid */
    LAP_E_LIMIT,       /* the input exceeds a limit (pixels, scans, memory) */
    LAP_E_MEMORY,      /* no memory could be allocated */
    LAP_E_TIMEOUT,     /* the time limit was exceeded */
    LAP_E_EXISTS,    /* the output exists and is not an unchanged output of lapedge, or a link leads there */
    LAP_E_CHANGED,   /* the input was modified or replaced while it was read */
    LAP_E_CLASH,     /* two inputs have the same output, or an output is also an input */
    LAP_E_DISK_FULL, /* no space for the output */
    LAP_E_WRITE,     /* the output cannot be written */
    LAP_E_BACKEND,   /* the named backend or codec cannot run here */
    LAP_E_DEVICE,    /* a CUDA device failed */
    LAP_E_CANCELLED, /* lap_context_cancel was called */
    LAP_E_DIFFERENT, /* two images cannot be compared: sizes or channels differ */
    LAP_E_INTERNAL   /* a bug in lapedge */
} lap_code;
#define LAP_CODES 32 /* no version with this interface will have more codes */

/* subject and message are each one line of UTF-8, safe to show on a terminal. */
typedef struct lap_error {
    lap_code code;
    char subject[256];  /* file or folder (a long path is cut at its start); empty if the error names none */
    char message[480];  /* describes the error without subject and kind */
    int remedy, unused; /* remedy: an internal hint for the program */
    uint64_t reserved[3];
} lap_error;
LAP_API const char *lap_code_name(lap_code code); /* name as in JSON: "missing", ...; never NULL */
/* Writes the error as one line, cut to size bytes with the final zero (800 suffice). Returns text. */
LAP_API char *lap_error_text(const lap_error *err, char *text, size_t size);

/* ---- threads, stopping, progress --------------------------------------------------------------- */

typedef struct lap_context lap_context; /* a thread pool shared by all calls that use this context */
/* threads: 1 to 1024; 0 means one for each core that this process may use. NULL on failure: LAP_E_USAGE or
 * LAP_E_MEMORY. Destroy the context only after all calls that use it have returned; NULL is allowed. */
LAP_API lap_context *lap_context_create(int threads, lap_error *err);
LAP_API void lap_context_destroy(lap_context *context);
LAP_API int lap_context_threads(const lap_context *context);
/* Stops all work in the context for good, at the next band of rows. Signal handlers may call it. */
LAP_API void lap_context_cancel(lap_context *context);
/* Receives the number of rows done. Any thread of the pool may call it; calls for one image never overlap. */
typedef void lap_progress_fn(void *user, int rows_done, int rows_total);

/* ---- settings -------------------------------------------------------------------------------- */

/* To make a kernel by hand, set h and leave the rest zero: functions that take settings or parameters
 * read only name and h, and compute the others. The sum of |h| is at most 2^22, else LAP_E_USAGE. */
typedef struct lap_kernel {
    char name[64];                /* name of the preset, or "custom" */
    float h[25];                  /* coefficients, row by row, finite */
    int32_t hi[25];               /* the same coefficients as integers, valid if is_integer */
    bool is_integer, is_laplace5; /* all h are integers; 24 in the centre, else -1 */
    bool is_symmetric;            /* rotating by 90 degrees and mirroring do not change it */
    double abs_sum;               /* sum |h|, at most 2^22 */
    uint64_t reserved[2];
} lap_kernel;
/* spec: a preset, a file of numbers, or 25 numbers separated by commas, spaces or '/'; 9 numbers get a frame
 * of zeros. "1/256" is a fraction if that gives 25 or 9 numbers; # begins a comment. sum |h| <= 2^22. */
LAP_API lap_code lap_kernel_parse(const char *spec, lap_kernel *kernel, lap_error *err);
LAP_API void lap_kernel_flip(lap_kernel *kernel); /* rotates by 180 degrees: convolution, not correlation */
LAP_API const char *lap_kernel_preset(int i);     /* name of preset i = 0, 1, ...; NULL past the last */
typedef enum lap_range { LAP_CLAMP, LAP_ABS } lap_range;
/* If all fields are zero, the defaults apply, also in lap_filter. If others are set, a kernel of zeros
 * without a name is refused. */
typedef struct lap_params {
    lap_kernel kernel;
    lap_range range;
    float scale, offset; /* must be finite */
    bool invert;
    int threshold; /* 0..255; -1: no threshold */
    uint64_t reserved[4];
} lap_params;
LAP_API lap_params lap_params_default(void); /* laplace5, clamp, scale 1, offset 0, threshold -1 */
/* clang-format off */
/* LAP_CONSTANT + V: every pixel beyond the edges is V, 0 to 255. LAP_WRAP holds the whole image in memory. */
typedef enum lap_border { LAP_ZERO, LAP_REPLICATE, LAP_REFLECT, LAP_REFLECT101, LAP_WRAP,
    LAP_CONSTANT = 256, LAP_CONSTANT_LAST = LAP_CONSTANT + 255 } lap_border;
/* The values are those of the EXIF tag. H mirrors left and right, V top and bottom; 90 and 270 rotate
 * clockwise. TRANSPOSE mirrors along the main diagonal, TRANSVERSE along the other one. */
typedef enum lap_turn { LAP_TURN_NONE = 1, LAP_TURN_H = 2, LAP_TURN_180 = 3, LAP_TURN_V = 4,
    LAP_TURN_TRANSPOSE = 5, LAP_TURN_90 = 6, LAP_TURN_TRANSVERSE = 7, LAP_TURN_270 = 8 } lap_turn;
/* Whether to transform a JPEG losslessly (filter false), by moving its coded blocks. AUTO does so if the
 * picture has only whole MCUs and no setting needs new coefficients (quality is ignored); else it re-encodes,
 * and the note says why. TRIM drops partial MCUs that would end up left or above; PERFECT refuses them. Both
 * fail with LAP_E_USAGE or _UNSUPPORTED if that is impossible. All but NO need memory for two pictures. */
typedef enum lap_lossless { LAP_LOSSLESS_NO, LAP_LOSSLESS_AUTO,
    LAP_LOSSLESS_TRIM, LAP_LOSSLESS_PERFECT } lap_lossless;
typedef enum lap_fail_on { LAP_FAIL_NONE, LAP_FAIL_TRUNCATED, LAP_FAIL_WARNING } lap_fail_on;
typedef enum lap_restart { LAP_RESTART_AUTO, LAP_RESTART_ON, LAP_RESTART_OFF } lap_restart;
typedef enum lap_subsampling { LAP_SUB_SAME, LAP_SUB_444, LAP_SUB_422, LAP_SUB_420 } lap_subsampling;
/* How the CPU decodes JPEGs; the pixels never differ. PARALLEL uses several threads if the file allows it. */
typedef enum lap_decode { LAP_DECODE_AUTO, LAP_DECODE_SERIAL, LAP_DECODE_PARALLEL } lap_decode;
/* Which coder decodes and encodes JPEGs; all give the same bytes. AUTO: the device if a CUDA backend runs and
 * the device supports the file, else the CPU. CUDA needs a CUDA backend, else LAP_E_USAGE. TURBO to NEON run
 * on the CPU. LAP_E_BACKEND: cannot run here. Unsupported files go to another coder, and the note says so. */
typedef enum lap_codec_place { LAP_CODEC_AUTO, LAP_CODEC_CPU, LAP_CODEC_CUDA, LAP_CODEC_TURBO, LAP_CODEC_C,
    LAP_CODEC_AVX2, LAP_CODEC_AVX512, LAP_CODEC_NEON } lap_codec_place;
/* Bits of lap_settings.keep: LISTED and the kinds to keep. GPS and THUMBNAIL need EXIF. With LISTED, EXIF and
 * IPTC are rebuilt from entries known to be harmless; without GPS, XMP and IPTC lose their location. */
enum { LAP_KEEP_EXIF = 1, LAP_KEEP_GPS = 2, LAP_KEEP_XMP = 4, LAP_KEEP_IPTC = 8, LAP_KEEP_ICC = 16,
    LAP_KEEP_COMMENT = 32, LAP_KEEP_THUMBNAIL = 64, LAP_KEEP_LISTED = 128 };
/* clang-format on */
LAP_API const char *lap_range_name(lap_range range); /* the option's value; NULL: unknown range */
LAP_API const char *lap_border_name(lap_border border);
typedef struct lap_run_stats lap_run_stats; /* see "statistics" below */

/* All zero: no filter, fsync or limits. backend NULL, turn 0, quality 0, params all zero mean the default. */
typedef struct lap_settings {
    bool filter;         /* false: only rotate, mirror or convert */
    const char *backend; /* a backend's name (see lap_rung_at; no fallback) or "auto" */
    lap_params params;
    lap_border border;
    bool gray;           /* use one component: the stored luma, or BT.601 of RGB */
    int threads, device; /* maximum number of threads (0: all of the context); CUDA device */
    bool auto_orient;    /* apply the EXIF orientation and reset it, then apply `turn` */
    lap_turn turn;
    const char *format; /* "jpg", "png", "bmp", "tga", "ppm", "pgm", "tsv"; NULL: by the output's extension */
    int quality;        /* JPEG quality, 1..100 */
    lap_subsampling subsampling;
    lap_restart restart;       /* write restart markers, so that several threads can encode */
    bool sync, strip;          /* fsync before the rename; drop all metadata */
    bool preserve, in_place;   /* keep the input's time and mode; see lap_run_file */
    uint64_t max_pixels;       /* limit for one image; 0 means no limit, also for the next three */
    uint64_t max_memory;       /* bytes for all files in progress in the context; other files wait */
    int max_scans;             /* limit for a progressive JPEG */
    double timeout_s;          /* time limit for one file, in seconds */
    lap_fail_on fail_on;       /* how much damage makes a file fail */
    lap_run_stats *stats;      /* receives statistics of input and result, or NULL. Not for folders */
    lap_progress_fn *progress; /* or NULL. Not for folders */
    void *progress_user;
    lap_decode decode;
    lap_codec_place codec;
    bool no_clobber;            /* for one photo: fail with LAP_E_EXISTS if the output exists */
    bool progressive, optimize; /* JPEG: several scans; optimised Huffman tables. Both need the CPU */
    unsigned keep;              /* LAP_KEEP_... bits; 0: drop only thumbnails and maker's notes */
    lap_lossless lossless;
    uint64_t reserved[13];
} lap_settings;
/* "auto", laplace5, quality 90, fsync, 268 million pixels, 100 scans; truncated files fail. */
LAP_API lap_settings lap_settings_default(void);

/* ---- one photo ------------------------------------------------------------------------------- */

typedef enum lap_status { LAP_DONE, LAP_WARNED, LAP_SKIPPED, LAP_FAILED } lap_status;
LAP_API const char *lap_status_name(lap_status status); /* name as in JSON */
typedef struct lap_times { /* milliseconds of work, summed over threads; total is wall time */
    double read, decode, upload, filter, download, encode, write, total;
} lap_times;
typedef struct lap_report {
    lap_status status;
    lap_error error;             /* why the run failed; else its code is LAP_OK */
    int width, height, channels; /* size and channels of the output */
    const char *resolved;        /* the backend that filtered, never "auto"; NULL if nothing was filtered */
    lap_times ms;
    uint64_t bytes_in, bytes_out;
    int warnings;                /* number of harmless defects, plus damage that fail_on tolerates */
    char warning[240];           /* the first warning */
    char note[240];              /* information, such as which coder ran and why; may be empty */
    int warning_remedy, recoded; /* recoded 1: a lossless `turn` was impossible; `note` says why. Else 0 */
    uint64_t reserved[7];
} lap_report;

/* Processes a JPEG, PNG or PNM ("-": a standard stream); the output appears only when complete. report may be
 * NULL. If settings->in_place is set, out may be the input file, otherwise LAP_E_CLASH. No backup or record
 * is kept: a second call filters the edges, and the photo is lost. Other functions ignore in_place. */
LAP_API lap_code lap_run_file(lap_context *context, const char *in, const char *out,
    const lap_settings *settings, lap_report *report, lap_error *err);
/* Does the same in memory; the caller frees *out. If settings->format is NULL, the output is a JPEG. */
LAP_API lap_code lap_run_memory(lap_context *context, const void *in, size_t in_size, void **out,
    size_t *out_size, const lap_settings *settings, lap_report *report, lap_error *err);

/* ---- a folder of photos ------------------------------------------------------------------------ */

/* Selects files in folders. All zero: JPEGs by extension, and files without extension by content. Patterns
 * are those of fnmatch(3), ignoring case; with a slash they match paths below the named folder. */
typedef struct lap_batch_take {
    const char *const *include; /* select images of all readable kinds that match a pattern */
    size_t include_count;
    const char *const *exclude; /* skip files and folders that match a pattern */
    size_t exclude_count;
    const char *extensions; /* "jpg,png": select files with these extensions; LAP_E_USAGE: not readable */
    bool follow;            /* follow symbolic links to files and folders */
    uint64_t reserved[4];
} lap_batch_take;

typedef struct lap_batch_options {
    const char *const *inputs; /* files, and folders, whose structure is kept under out_dir */
    size_t input_count;
    const char *files_from;   /* a file with one path per line ("-": standard input), or NULL */
    bool nul_separated;       /* paths in files_from end in a zero byte, not a newline */
    const char *out_dir;      /* output folder; created if missing */
    int jobs;                 /* files to process at once; 0: one per thread, but 8 small ones per device */
    bool fail_fast;           /* stop at the first failure */
    bool force;               /* also replace outputs that lapedge did not write */
    bool dry_run;             /* report what would be done, but write nothing */
    bool rebuild;             /* redo outputs that are up to date */
    const char *const *sides; /* other files that the caller writes; LAP_E_CLASH: one is an input or output */
    size_t side_count;
    uint32_t shard, shards;     /* process share `shard` (0, 1, ...) of `shards`; shards 0 or 1: all files */
    const lap_batch_take *take; /* which files of folders to process, or NULL */
    struct lap_batch_others *others; /* only for the program, like devices, work and prune: leave NULL */
    const char *suffix;              /* added to each output's name before the extension; or NULL */
    bool flat;                       /* put all outputs directly into out_dir */
    bool skip_existing;              /* count an existing output as up to date without reading it */
    bool no_clobber;                 /* never replace an output: skip it with LAP_E_EXISTS */
    const struct lap_batch_devices *devices;
    void (*warn)(void *user, const lap_error *warning); /* or NULL; for problems that do not stop the run */
    struct lap_batch_work *work;
    struct lap_batch_prune *prune;
} lap_batch_options;
typedef struct lap_batch_counts { /* counts for this shard */
    uint64_t found, expected;     /* inputs seen so far; all inputs, counted before work begins */
    uint64_t other_shards, links; /* inputs of other shards; symbolic links not followed */
    uint64_t ok, warned, skipped, failed;
    uint64_t waiting, waiting_pixels; /* finished outputs that get their names when their group is synced */
    uint64_t kinds[LAP_CODES];        /* failed and skipped files by code; LAP_OK: skipped as up to date */
    uint64_t pixels, bytes_in, bytes_out;    /* sums over files with status ok or warned */
    double ms;                               /* wall time so far, in milliseconds */
    uint64_t recoded, vanished, reserved[6]; /* outputs re-encoded; inputs that vanished (also in failed) */
} lap_batch_counts;
typedef struct lap_batch_file {
    const char *input, *output;
    const lap_report *report; /* SKIPPED with error.code LAP_OK: up to date; LAP_E_EXISTS: not our output */
} lap_batch_file;
/* Called on lap_batch's thread for each finished input, and with file NULL ten times a second. */
typedef void lap_batch_fn(void *user, const lap_batch_file *file, const lap_batch_counts *counts);
/* Processes many files. LAP_OK: the run finished, but files may have failed (see counts). each may be NULL.
 * Outputs are recorded in out_dir/.lapedge/; the next run with the same settings skips them. LAP_E_MISSING:
 * an input does not exist. LAP_E_WRITE: out_dir cannot be written. LAP_E_DISK_FULL: the run stopped early. */
LAP_API lap_code lap_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err);

/* ---- the structure of a file ------------------------------------------------------------------- */

enum { LAP_INFO_KINDS = 8 };
typedef struct lap_info {
    const char *format; /* "jpeg", "png", "pnm" */
    uint64_t bytes;
    int width, height, components; /* as stored, before any rotation */
    const char *frame;             /* JPEG: "baseline", "extended sequential" or "progressive"; else NULL */
    bool arithmetic;
    int sample_h[4], sample_v[4]; /* JPEG: the sampling factors of each component */
    int quantization_tables, huffman_tables, scans;
    int restart_interval, orientation; /* in MCUs, 0: no restarts; EXIF value, 1 to 8 */
    size_t metadata_count;
    struct {
        const char *kind; /* "EXIF", "XMP", "ICC", "IPTC", "comment", ... */
        int segments;
        uint64_t bytes;
    } metadata[LAP_INFO_KINDS];
    int longest_scan, longest_percent; /* largest of the scans decoded in parallel: number, % of file; or 0 */
    uint64_t reserved[7];
} lap_info;
/* Reads a file's structure ("-": standard input), no pixels. Strings are static. Fails as a run would. */
LAP_API lap_code lap_info_read(const char *path, lap_info *info, lap_error *err);

/* ---- your own pixels --------------------------------------------------------------------------- */

#define LAP_APRON 2            /* rows and columns around an image that the 5x5 window reads */
#define LAP_MAX_SIDE (1 << 28) /* largest width or height in pixels */
#define LAP_ON_HOST (-1)       /* value of lap_view.place; 0 and up: CUDA device number */

/* Interleaved 8-bit samples that the view does not own: (y, x, c) is base[y * stride + x * channels + c].
 * With apron = LAP_APRON, rows -2..height+1 and columns -2..width+1 are readable and hold the border. */
typedef struct lap_view {
    uint8_t *base;
    ptrdiff_t stride; /* bytes from one row to the next, at least width * channels */
    int width, height, channels;
    int apron, place; /* 0 or LAP_APRON; LAP_ON_HOST or a device number */
} lap_view;

/* Filters in to out. Both views have the same place, size and channels (1, 3 or 4), and do not overlap; sides
 * are 1 to LAP_MAX_SIDE. If in has an apron, its samples are the border, so tiles of one picture join without
 * a seam; otherwise the border rule applies. Device pixels need a CUDA backend, else LAP_E_USAGE; it runs on
 * the default stream, and the function waits for it. LAP_E_BACKEND, LAP_E_DEVICE. */
LAP_API lap_code lap_filter(lap_context *context, const lap_view *in, const lap_view *out,
    const char *backend, const lap_params *params, lap_border border, lap_error *err);
/* Encodes host pixels (1, 3 or 4 channels; alpha is dropped if the format has none) on the calling thread.
 * The caller frees *out. Reads format (NULL: JPEG), quality, subsampling (SAME: 444), restart, progressive,
 * optimize, codec. LAP_E_UNSUPPORTED: a side is too large. Cancelling and timeout_s stop lap_encode_view. */
LAP_API lap_code lap_encode(
    const lap_view *pixels, const lap_settings *settings, void **out, size_t *out_size, lap_error *err);
LAP_API lap_code lap_encode_view(lap_context *context, const lap_view *pixels, const lap_settings *settings,
    void **out, size_t *out_size, lap_error *err);

typedef struct lap_pixels lap_pixels; /* a decoded image */
/* Decodes an image from a file ("-": standard input) or from memory. Reads from settings: gray, auto_orient,
 * limits, timeout, fail_on, decode, codec. On failure *pixels is NULL. */
LAP_API lap_code lap_pixels_read(lap_context *context, const char *path, const lap_settings *settings,
    lap_pixels **pixels, lap_error *err);
LAP_API lap_code lap_pixels_decode(lap_context *context, const void *file, size_t size,
    const lap_settings *settings, lap_pixels **pixels, lap_error *err);
/* Like lap_pixels_decode, but into *view on the host. channels: 0 (as in the file), 3 (gray is repeated) or 1
 * (BT.601 of RGB). base NULL: allocates unpadded rows, to be released by free(); else the size must match, or
 * LAP_E_DIFFERENT. On failure *view is unchanged, the caller's pixels undefined. report may be NULL. */
LAP_API lap_code lap_decode_view(lap_context *context, const void *file, size_t size,
    const lap_settings *settings, lap_view *view, lap_report *report, lap_error *err);
/* Fills in the size, channels and stride that lap_decode_view would allocate. It reads only headers, so it
 * does not notice damaged data. base must be NULL and stays NULL. On failure *view is unchanged. */
LAP_API lap_code lap_decode_size(lap_context *context, const void *file, size_t size,
    const lap_settings *settings, lap_view *view, lap_error *err);
/* Returns a view on the host without an apron, valid until the pixels are freed. */
LAP_API const lap_view *lap_pixels_view(const lap_pixels *pixels);
LAP_API void lap_pixels_free(lap_pixels *pixels); /* does nothing for NULL */

/* ---- statistics ------------------------------------------------------------------------------ */

/* Statistics of one channel. All come from exact counts, so every backend gives identical values. */
typedef struct lap_channel_stats {
    const char *name; /* "gray", "red", "green", "blue", "alpha" */
    uint64_t histogram[256];
    uint64_t count, sum;
    int min, max;
    double mean, stddev; /* standard deviation divides by count, not by count - 1 */
    double entropy;      /* bits per sample */
    int p1, p50, p99;    /* percentiles: the smallest v with at least 1, 50, 99 % of samples <= v */
    double above;        /* share of samples >= threshold; NaN without a threshold */
    uint64_t reserved[4];
} lap_channel_stats;
typedef struct lap_stats {
    int channels, threshold; /* threshold: 0..255; -1: no threshold */
    lap_channel_stats channel[4];
    uint64_t reserved[4];
} lap_stats;
struct lap_run_stats {
    lap_stats input, edges;
    uint64_t reserved[4];
};

typedef struct lap_measure_options {
    int threshold;        /* for `above`: 0..255; -1: no threshold. Does not change the edges */
    bool profiles;        /* also compute row and column profiles of the luma's edges */
    const float *weights; /* weights for the profiles; NULL: profiles are means */
    size_t weight_count;  /* width (for rows), height (for columns) or width + height (for both) */
    int mask_border;      /* pixels at each side to leave out of the edges' statistics */
    uint64_t reserved[3];
} lap_measure_options;
typedef struct lap_measurement {
    int width, height, channels;
    const char *resolved;  /* the backend that filtered */
    lap_run_stats stats;   /* edges.channels is 0 if mask_border leaves no pixel */
    float *rows, *columns; /* height and width values; NULL without profiles */
    int mask_border;
    char *note; /* like lap_report.note, or NULL */
    uint64_t reserved[2];
} lap_measurement;

/* Statistics of an image file ("-": standard input, no profiles) and its edges. Errors: lap_run_file's. */
LAP_API lap_code lap_measure_file(lap_context *context, const char *in, const lap_settings *settings,
    const lap_measure_options *options, lap_measurement *measurement, lap_error *err);
LAP_API void lap_measurement_free(lap_measurement *measurement); /* all zero is allowed */

/* Computes statistics of a view (1 to 4 channels) with a backend of LAP_OP_HISTOGRAM. A CUDA backend uploads
 * host pixels to `device`; device pixels must already be there. LAP_E_USAGE, LAP_E_BACKEND, LAP_E_DEVICE. */
LAP_API lap_code lap_stats_of_view(lap_context *context, const lap_view *view, const char *backend,
    int device, int threshold, lap_stats *stats, lap_error *err);
/* For a one-channel view: rows[y] = sum over x of p(y,x) * row_weights[x], columns[x] = sum over y of
 * p(y,x) * column_weights[y]. NULL weights: means. rows has height values, columns width. Errors as above. */
LAP_API lap_code lap_profiles(lap_context *context, const lap_view *plane, const float *row_weights,
    const float *column_weights, float *rows, float *columns, lap_error *err);

/* ---- how two images differ --------------------------------------------------------------------- */

/* The difference between images a and b, over all compared samples (pixels times channels). */
typedef struct lap_difference {
    bool identical;
    uint64_t samples, pixels;
    int max_abs; /* max_abs, mean_abs and rmse are in levels, 0 to 255 */
    double mean_abs, rmse;
    double psnr;               /* dB relative to 255; NaN if identical */
    double ssim;               /* -1..1, 1 if identical; NaN if not requested, or below 11x11 pixels */
    uint64_t differing_pixels; /* pixels that differ in any channel */
    uint64_t differing_border; /* differing pixels among the outer two rows and columns */
    int first_x, first_y, first_channel, first_a, first_b; /* first in raster order; x is -1 if identical */
    bool first_at_border;                                  /* the first difference is among these pixels */
    uint64_t reserved[4];
} lap_difference;
/* Compares two views on the host, each with pixels (else LAP_E_USAGE), of the same size and channels (else
 * LAP_E_DIFFERENT). mask_border: pixels to skip at each side. with_ssim: the mean over channels (Wang et al.
 * 2004: Gaussian window 11x11, sigma 1.5). */
LAP_API lap_code lap_compare_views(const lap_view *a, const lap_view *b, int mask_border, bool with_ssim,
    lap_difference *difference, lap_error *err);

/* ---- pixels on a GPU ----------------------------------------------------------------------------- */

/* A caller's CUDA stream, with device memory that grows to the largest picture and is reused. Work runs in
 * stream order, after what was queued before. Functions marked "queued" return at once; do not touch their
 * views until the work is done. All others wait. Different streams work in parallel. Calls make the device
 * current in their thread. Views whose base and stride are multiples of 128 are used in place (an apron needs
 * 128 readable bytes before it, and its last row's full stride); others are copied. LAP_E_BACKEND: no usable
 * device or backend; LAP_E_USAGE: a CPU backend or a view elsewhere; LAP_E_DEVICE. */
typedef struct lap_stream lap_stream;
/* cuda_stream: a cudaStream_t of the device; NULL: its default stream. It and the context must outlive the
 * object. On failure *stream is NULL. Destroying waits for queued work; NULL is allowed. */
LAP_API lap_code lap_stream_create(
    lap_context *context, int device, void *cuda_stream, lap_stream **stream, lap_error *err);
LAP_API void lap_stream_destroy(lap_stream *stream);
LAP_API lap_code lap_stream_wait(lap_stream *stream, lap_error *err); /* waits for all queued work */
/* Allocates zeroed device memory; apron 0 or LAP_APRON. Keep *view unchanged; after a failure it is zero. */
LAP_API lap_code lap_stream_view_create(
    lap_stream *stream, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
LAP_API void lap_stream_view_destroy(lap_stream *stream, lap_view *view);
/* Queued. The first copies an interior (it waits if a view is on the host); the second fills an apron. */
LAP_API lap_code lap_stream_copy(lap_stream *stream, const lap_view *in, const lap_view *out, lap_error *err);
LAP_API lap_code lap_stream_border(lap_stream *stream, const lap_view *view, lap_border rule, lap_error *err);
/* The first is like lap_filter, but queued; the second is like lap_stats_of_view. */
LAP_API lap_code lap_stream_filter(lap_stream *stream, const lap_view *in, const lap_view *out,
    const char *backend, const lap_params *params, lap_border border, lap_error *err);
LAP_API lap_code lap_stream_stats(lap_stream *stream, const lap_view *view, const char *backend,
    int threshold, lap_stats *stats, lap_error *err);
/* Decodes an image file in host memory to device pixels equal to lap_pixels_read's. Reads from settings:
 * gray, limits, timeout_s, fail_on, decode, codec; auto_orient and turn are LAP_E_USAGE. An all-zero *view is
 * allocated without an apron; else size and channels must match, or LAP_E_DIFFERENT. report may be NULL. */
LAP_API lap_code lap_stream_decode(lap_stream *stream, const void *file, size_t size,
    const lap_settings *settings, lap_view *view, lap_report *report, lap_error *err);
/* Like lap_encode, but also uses timeout_s. The CPU encodes formats other than JPEG. report may be NULL. */
LAP_API lap_code lap_stream_encode(lap_stream *stream, const lap_view *view, const lap_settings *settings,
    void **out, size_t *out_size, lap_report *report, lap_error *err);
/* The same for `count` photos, in arrays by number; edges_batch also filters (backend, params, border). Small
 * photos share their launches, and up to 256 MiB of device and 256 MiB of pinned memory stay allocated. One
 * photo's failure affects no other; the first one by number is returned, with err. reports may be NULL. */
LAP_API lap_code lap_stream_decode_batch(lap_stream *stream, const void *const files[], const size_t sizes[],
    size_t count, const lap_settings *settings, lap_view views[], lap_report reports[], lap_error *err);
LAP_API lap_code lap_stream_edges_batch(lap_stream *stream, const void *const files[], const size_t sizes[],
    size_t count, const lap_settings *settings, lap_view views[], lap_report reports[], lap_error *err);
LAP_API lap_code lap_stream_encode_batch(lap_stream *stream, const lap_view views[], size_t count,
    const lap_settings *settings, void *out[], size_t out_sizes[], lap_report reports[], lap_error *err);

/* ---- what can run here --------------------------------------------------------------------------- */

/* Each operation has a ladder: its backends in order, from plain C to the fastest; one backend is a rung.
 * LAP_OP_CODEC has no ladder; the ladders of ENCODE and DECODE hold the JPEG coders on the CPU. */
/* clang-format off */
typedef enum lap_op { LAP_OP_FILTER, LAP_OP_TRANSPOSE, LAP_OP_REDUCE, LAP_OP_HISTOGRAM, LAP_OP_MATVEC,
    LAP_OP_COUNT, LAP_OP_CODEC = LAP_OP_COUNT, LAP_OP_ENCODE, LAP_OP_DECODE } lap_op;
/* clang-format on */
LAP_API const char *lap_op_name(lap_op op);

typedef struct lap_rung_info { /* strings are static */
    lap_op op;
    const char *name;     /* name for settings.backend */
    const char *aliases;  /* other names, separated by commas, or NULL */
    const char *family;   /* "c", "openmp", "sse", "simd", "cuda" or "auto" */
    const char *resolves; /* backends that the name stands for, best first, with commas; or NULL */
    const char *what;     /* a short description */
    const char *flags;    /* compiler flags of its source file */
    const char *reason;   /* why it cannot run here; NULL if it can */
    const char *resolved; /* the backend that would run here; NULL if it cannot run */
    uint64_t reserved[4];
} lap_rung_info;
/* Row i = 0, 1, ...; false past the last. probe_devices starts CUDA; else reason describes the build. */
LAP_API bool lap_rung_at(lap_op op, int i, bool probe_devices, lap_rung_info *info);
LAP_API bool lap_coder_at(lap_op op, int i, lap_rung_info *info); /* same for LAP_OP_ENCODE and _DECODE */

typedef struct lap_device_info {
    int device;
    char name[128];
    size_t memory_bytes, free_bytes;
    int cc_major, cc_minor, sms;
    char driver[32];
    uint64_t reserved[4];
} lap_device_info;
/* Describes CUDA device i; false past the last one. Stores in *reason (or NULL) why none can be used. */
LAP_API bool lap_device_at(int i, lap_device_info *info, const char **reason);

#ifdef __cplusplus
}
#endif
#endif
