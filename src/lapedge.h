/* lapedge finds the edges of photos by a 5x5 Laplace filter. This is the library's only public header.
 *
 * THREE EXAMPLES. All begin with
 *
 *     lap_error error = {0};
 *     lap_context *context = lap_context_create(0, &error); // a pool of threads, one per core
 *     lap_settings settings = lap_settings_default();
 *
 * 1. One photo, from file to file:
 *
 *     if (lap_run_file(context, "photo.jpg", "edges.jpg", &settings, NULL, &error) != LAP_OK)
 *         fprintf(stderr, "%s\n", lap_error_text(&error, (char[800]){0}, 800));
 *
 * 2. A folder of photos, to another folder. Started again, it continues where it was stopped:
 *
 *     const char *inputs[] = {"photos"};
 *     lap_batch_options options = {.inputs = inputs, .input_count = 1, .out_dir = "edges"};
 *     lap_batch_counts counts;
 *     if (lap_batch(context, &options, &settings, NULL, NULL, &counts, &error) == LAP_OK)
 *         printf("%d photos done, %d failed\n", (int)counts.ok, (int)counts.failed);
 *
 * 3. Your own pixels, here 480 rows of 640 pixels with 3 bytes each:
 *
 *     static uint8_t pixels[480][640][3], edges[480][640][3];
 *     const lap_view in = {pixels[0][0], 3 * 640, 640, 480, 3, 0, LAP_ON_HOST};
 *     const lap_view out = {edges[0][0], 3 * 640, 640, 480, 3, 0, LAP_ON_HOST};
 *     lap_filter(context, &in, &out, "auto", &settings.params, LAP_REFLECT, &error);
 *
 * THE FILTER works on each channel alone. With p the source extended past its edges and h the 25 coefficients
 * row by row, o correlates; round is to nearest, ties to even; the last line applies in that order:
 *
 *     o(y,x) = sum over fy,fx in -2..2 of  h[5*(fy+2) + fx+2] * p(y+fy, x+fx)
 *     r      = scale * o + offset     one float32 multiply, then one float32 add, never fused
 *     out    = clamp: min(255, max(0, round(r)))     abs: min(255, round(|r|))
 *     invert: out = 255 - out         threshold T >= 0: out = 255 where out >= T, else 0
 *
 * THE BORDER, for a line of n samples and an index i outside 0..n-1:
 *
 *     zero        p(i) = 0
 *     replicate   p(i) = p(min(n-1, max(0, i)))
 *     reflect     p(i) = p(j), j = i mod 2n,      j > n-1: 2n-1-j          (edge sample repeated)
 *     reflect101  p(i) = p(j), j = i mod (2n-2),  j > n-1: 2n-2-j          (n = 1: p(0))
 *     wrap        p(i) = p(i mod n)
 *     constant:V  p(i) = V, 0 to 255
 *
 * EXACTNESS. With integer coefficients and 255 * sum|h| < 2^24 all backends give the same bytes; with others
 * they differ by at most 1 level while |scale| * sum|h| <= 1200, and beyond that nothing is promised.
 *
 * THREADS. There is no global state. Several threads may use one lap_context at the same time; every other
 * object belongs to one thread at a time. Functions that take no object are thread safe.
 *
 * ERRORS. A function that can fail returns a lap_code and fills the caller's lap_error, which may be NULL.
 * All may return LAP_E_MEMORY, and with a context LAP_E_CANCELLED. No function exits, prints, or installs a
 * signal handler. Other pointers may be NULL only if the text says so. What callbacks get lives for the call.
 *
 * COMPATIBILITY. A program keeps working with every later library of the same SONAME. Functions and
 * enumerators are added, never changed. Structs that the caller allocates keep their size: new fields come
 * out of `reserved`, where 0 means "as before the field existed"; so start from lap_..._default() or all
 * zero. Structs that only callbacks get may grow at their end. lap_view and lap_times are final. */
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
#define LAP_VERSION "0.1.0"
#define LAP_VERSION_MAJOR 0
#define LAP_VERSION_MINOR 1
#define LAP_VERSION_PATCH 0
#define LAP_VERSION_NUMBER (LAP_VERSION_MAJOR * 10000 + LAP_VERSION_MINOR * 100 + LAP_VERSION_PATCH)
LAP_API const char *lap_version(void);    /* of the library that runs, which may be newer than this header */
LAP_API int lap_version_number(void);     /* its LAP_VERSION_NUMBER, which grows with every release */
LAP_API const char *lap_build_info(void); /* compiler, libraries and CUDA with their versions, a line each */

/* ---- errors ---------------------------------------------------------------------------------- */

typedef enum lap_code {
    LAP_OK = 0,
    LAP_E_USAGE,       /* a setting is out of range, or two settings contradict each other */
    LAP_E_MISSING,     /* no such input */
    LAP_E_UNREADABLE,  /* the input exists but cannot be read, or is not a regular file */
    LAP_E_NOT_IMAGE,   /* the input is not an image of a kind that can be read */
    LAP_E_UNSUPPORTED, /* a valid image of a kind that is refused (12-bit, lossless, ...) */
    LAP_E_TRUNCATED,   /* the data ends too early */
    LAP_E_DAMAGED,     /* the data is wrong */
    LAP_E_LIMIT,       /* refused by a limit (pixels, scans, memory) */
    LAP_E_MEMORY,      /* out of memory */
    LAP_E_TIMEOUT,     /* over the time limit */
    LAP_E_EXISTS,      /* the output exists, and is not an unchanged output of ours; or a link leads to it */
    LAP_E_CHANGED,     /* the input was written to, or replaced, while it was read */
    LAP_E_CLASH,       /* two inputs have one output, or an output is an input */
    LAP_E_DISK_FULL,   /* no space for the output */
    LAP_E_WRITE,       /* the output cannot be written */
    LAP_E_BACKEND,     /* the named backend or codec cannot run here */
    LAP_E_DEVICE,      /* a CUDA device failed */
    LAP_E_CANCELLED,   /* lap_context_cancel was called */
    LAP_E_DIFFERENT,   /* two images cannot be compared: sizes or channels differ */
    LAP_E_INTERNAL     /* a bug in lapedge */
} lap_code;
#define LAP_CODES 32 /* more than this version of the interface will ever have */

/* Both texts are one line of UTF-8 that is safe to show on a terminal. */
typedef struct lap_error {
    lap_code code;
    char subject[256];  /* the file or folder; only the end of a long path; empty if there is none */
    char message[480];  /* repeats neither subject nor kind */
    int remedy, unused; /* remedy: for the program's hints */
    uint64_t reserved[3];
} lap_error;
LAP_API const char *lap_code_name(lap_code code); /* as JSON spells it: "missing", ...; never NULL */
/* Writes the error as one line, "photo.jpg: truncated: data ends 40 % into the image", cut at size bytes with
 * the final zero; 800 bytes are always enough. Returns text. */
LAP_API char *lap_error_text(const lap_error *err, char *text, size_t size);

/* ---- threads, stopping, progress --------------------------------------------------------------- */

typedef struct lap_context lap_context; /* a pool of threads that all work given to it shares */
/* threads: 1 to 1024; 0: one for each core that this process may use. NULL on failure: LAP_E_USAGE or
 * LAP_E_MEMORY. Destroy it only after everything that was given the context has returned; NULL is fine. */
LAP_API lap_context *lap_context_create(int threads, lap_error *err);
LAP_API void lap_context_destroy(lap_context *context);
LAP_API int lap_context_threads(const lap_context *context);
/* Stops all work in the context, for good, at the next band of rows. May be called by a signal handler. */
LAP_API void lap_context_cancel(lap_context *context);
/* Called with the rows done so far, from any thread of the pool, but never twice at once for one image. */
typedef void lap_progress_fn(void *user, int rows_done, int rows_total);

/* ---- settings -------------------------------------------------------------------------------- */

typedef struct lap_kernel {
    char name[64];                /* preset name, or "custom" */
    float h[25];                  /* row by row */
    int32_t hi[25];               /* the same as integers, valid if is_integer */
    bool is_integer, is_laplace5; /* whole numbers; 24 in the centre and -1 elsewhere */
    bool is_symmetric;            /* unchanged by quarter turns and mirroring */
    double abs_sum;               /* sum |h|, at most 2^22 */
    uint64_t reserved[2];
} lap_kernel;
/* spec: a preset's name, a file with numbers, or numbers separated by commas, spaces or '/': 25, or 9, framed
 * by zeros. "1/256" is a fraction if that gives 25 or 9; # begins a comment. sum |h| is at most 2^22. */
LAP_API lap_code lap_kernel_parse(const char *spec, lap_kernel *kernel, lap_error *err);
LAP_API void lap_kernel_flip(lap_kernel *kernel); /* by 180 degrees: makes the correlation a convolution */
LAP_API const char *lap_kernel_preset(int i);     /* name of preset i = 0, 1, ...; NULL past the last */
typedef enum lap_range { LAP_CLAMP, LAP_ABS } lap_range;
typedef struct lap_params {
    lap_kernel kernel;
    lap_range range;
    float scale, offset; /* finite */
    bool invert;
    int threshold; /* 0..255; -1: none */
    uint64_t reserved[4];
} lap_params;
LAP_API lap_params lap_params_default(void); /* laplace5, clamp, scale 1, offset 0, threshold -1 */
/* clang-format off */
/* LAP_CONSTANT + V: V, 0 to 255, everywhere beyond the edges. LAP_WRAP needs the image whole. */
typedef enum lap_border { LAP_ZERO, LAP_REPLICATE, LAP_REFLECT, LAP_REFLECT101, LAP_WRAP,
    LAP_CONSTANT = 256, LAP_CONSTANT_LAST = LAP_CONSTANT + 255 } lap_border;
/* EXIF's orientation values. H mirrors left and right, V top and bottom; 90 and 270 turn clockwise;
 * TRANSVERSE mirrors along the diagonal that TRANSPOSE does not. */
typedef enum lap_turn { LAP_TURN_NONE = 1, LAP_TURN_H = 2, LAP_TURN_180 = 3, LAP_TURN_V = 4,
    LAP_TURN_TRANSPOSE = 5, LAP_TURN_90 = 6, LAP_TURN_TRANSVERSE = 7, LAP_TURN_270 = 8 } lap_turn;
/* Whether a turned JPEG (filter false) keeps its coded blocks, without loss. AUTO: if the picture consists of
 * whole MCUs and no setting asks for new coefficients (quality is ignored then); else by pixels, and the
 * report's note says why. TRIM leaves out partial MCUs that would end up left or above, PERFECT refuses them;
 * what both cannot do is LAP_E_USAGE or LAP_E_UNSUPPORTED. All but NO hold the picture twice. */
typedef enum lap_lossless { LAP_LOSSLESS_NO, LAP_LOSSLESS_AUTO,
    LAP_LOSSLESS_TRIM, LAP_LOSSLESS_PERFECT } lap_lossless;
typedef enum lap_fail_on { LAP_FAIL_NONE, LAP_FAIL_TRUNCATED, LAP_FAIL_WARNING } lap_fail_on;
typedef enum lap_restart { LAP_RESTART_AUTO, LAP_RESTART_ON, LAP_RESTART_OFF } lap_restart;
typedef enum lap_subsampling { LAP_SUB_SAME, LAP_SUB_444, LAP_SUB_422, LAP_SUB_420 } lap_subsampling;
/* How the CPU decodes a JPEG, to the same pixels. PARALLEL: by several threads if the file allows it. */
typedef enum lap_decode { LAP_DECODE_AUTO, LAP_DECODE_SERIAL, LAP_DECODE_PARALLEL } lap_decode;
/* Where JPEGs are coded, to the same bytes. AUTO: on the device if a CUDA backend runs and the device takes
 * the file, else on the CPU. CUDA: LAP_E_USAGE with a backend of the CPU. TURBO to NEON: coders on the CPU.
 * Another one codes what this one does not take, and the note says so. LAP_E_BACKEND: cannot run here. */
typedef enum lap_codec_place { LAP_CODEC_AUTO, LAP_CODEC_CPU, LAP_CODEC_CUDA, LAP_CODEC_TURBO, LAP_CODEC_C,
    LAP_CODEC_AVX2, LAP_CODEC_AVX512, LAP_CODEC_NEON } lap_codec_place;
/* Bits of lap_settings.keep; every list has LISTED in it. GPS and THUMBNAIL are parts of EXIF. With a list,
 * EXIF and IPTC are rebuilt from what is known to be harmless; without GPS, XMP and IPTC lose the place. */
enum { LAP_KEEP_EXIF = 1, LAP_KEEP_GPS = 2, LAP_KEEP_XMP = 4, LAP_KEEP_IPTC = 8, LAP_KEEP_ICC = 16,
    LAP_KEEP_COMMENT = 32, LAP_KEEP_THUMBNAIL = 64, LAP_KEEP_LISTED = 128 };
/* clang-format on */
LAP_API const char *lap_range_name(lap_range range); /* as the program's options spell it; NULL: unknown */
LAP_API const char *lap_border_name(lap_border border);
typedef struct lap_run_stats lap_run_stats; /* below, under statistics */

/* All zero: pixels pass unfiltered, nothing is synced or limited. backend NULL, turn 0, quality 0 and params
 * all zero mean the values of lap_settings_default, so `filter = true` alone filters. */
typedef struct lap_settings {
    bool filter;         /* false: turn or convert only */
    const char *backend; /* a name of lap_rung_at, which never falls back; or "auto" */
    lap_params params;
    lap_border border;
    bool gray;           /* one component: the stored luma, or BT.601 of RGB */
    int threads, device; /* of the context's threads at most (0: all); number of the CUDA device */
    bool auto_orient;    /* turn by the EXIF tag, which is reset, and then by `turn` */
    lap_turn turn;
    const char *format; /* "jpg", "png", "bmp", "tga", "ppm", "pgm", "tsv"; NULL: by the output's extension */
    int quality;        /* of JPEG, 1..100 */
    lap_subsampling subsampling;
    lap_restart restart;       /* restart markers, between which threads can encode */
    bool sync, strip;          /* fsync before the rename; drop all metadata */
    bool preserve, in_place;   /* keep the input's time and mode; allow the output to be the input */
    uint64_t max_pixels;       /* of one image; 0, here and below: no limit */
    uint64_t max_memory;       /* bytes for all files in work in the context; others wait */
    int max_scans;             /* of a progressive JPEG */
    double timeout_s;          /* seconds for one file */
    lap_fail_on fail_on;       /* the least damage that fails a file */
    lap_run_stats *stats;      /* filled with statistics of input and result; or NULL. Not for folders */
    lap_progress_fn *progress; /* or NULL. Not for folders */
    void *progress_user;
    lap_decode decode;
    lap_codec_place codec;
    bool no_clobber;            /* one photo: LAP_E_EXISTS if the output exists */
    bool progressive, optimize; /* of JPEG: several scans; optimised Huffman tables. Coded on the CPU */
    unsigned keep;              /* LAP_KEEP_... bits; 0: all metadata but thumbnails and maker's notes */
    lap_lossless lossless;
    uint64_t reserved[13];
} lap_settings;
/* Filters by "auto" with laplace5; quality 90; syncs; 268 million pixels, 100 scans; fails on truncation. */
LAP_API lap_settings lap_settings_default(void);

/* ---- one photo ------------------------------------------------------------------------------- */

typedef enum lap_status { LAP_DONE, LAP_WARNED, LAP_SKIPPED, LAP_FAILED } lap_status;
LAP_API const char *lap_status_name(lap_status status); /* as JSON spells it */
typedef struct lap_times { /* milliseconds: busy time summed over threads, but total is wall time */
    double read, decode, upload, filter, download, encode, write, total;
} lap_times;
typedef struct lap_report {
    lap_status status;
    lap_error error;             /* of a failed run; else its code is LAP_OK */
    int width, height, channels; /* of the output */
    const char *resolved;        /* the backend that filtered, never "auto"; NULL if none did */
    lap_times ms;
    uint64_t bytes_in, bytes_out;
    int warnings;      /* harmless oddities, and damage that fail_on let through */
    char warning[240]; /* the first of them */
    char note[240];    /* worth knowing, such as which coder ran and why; or empty */
    int warning_remedy, unused;
    uint64_t reserved[7];
} lap_report;

/* File to file; "-" is standard input or output. Reads JPEG, PNG and PNM, recognised by content. The output
 * is complete or absent: it is written beside its place, then renamed. report may be NULL. */
LAP_API lap_code lap_run_file(lap_context *context, const char *in, const char *out,
    const lap_settings *settings, lap_report *report, lap_error *err);
/* Memory to memory. *out is allocated with malloc and the caller frees it. settings->format NULL: JPEG. */
LAP_API lap_code lap_run_memory(lap_context *context, const void *in, size_t in_size, void **out,
    size_t *out_size, const lap_settings *settings, lap_report *report, lap_error *err);

/* ---- a folder of photos ------------------------------------------------------------------------ */

/* Which files of folders are taken; all zero: JPEGs by extension, and files without an extension by content.
 * Patterns are those of fnmatch(3), in any case; one with a slash matches the path below the named folder. */
typedef struct lap_batch_take {
    const char *const *include; /* images of every kind that is read which match one of these */
    size_t include_count;
    const char *const *exclude; /* no files and no folders that match one of these */
    size_t exclude_count;
    const char *extensions; /* "jpg,png": files with one of these; LAP_E_USAGE for kinds that are not read */
    bool follow;            /* follow symbolic links to files and folders */
    uint64_t reserved[4];
} lap_batch_take;

typedef struct lap_batch_options {
    const char *const *inputs; /* files, and folders whose content is mirrored under out_dir */
    size_t input_count;
    const char *files_from;   /* a file with a path on each line ("-": standard input), or NULL */
    bool nul_separated;       /* paths in files_from end in a zero byte instead */
    const char *out_dir;      /* created if missing */
    int jobs;                 /* files at once; 0: one per thread of the context */
    bool fail_fast;           /* stop at the first failure */
    bool force;               /* replace outputs that are not ours too */
    bool dry_run;             /* report what would be done, write nothing */
    bool rebuild;             /* make outputs again that are up to date */
    const char *const *sides; /* files that the caller writes meanwhile: LAP_E_CLASH if one is in or output */
    size_t side_count;
    uint32_t shard, shards;          /* take share `shard` (from 0) of `shards`; shards 0 or 1: everything */
    const lap_batch_take *take;      /* or NULL */
    struct lap_batch_others *others; /* the program's, as are the next three: leave them NULL */
    const char *suffix;              /* of the outputs' names, before the extension; or NULL */
    bool flat;                       /* all outputs directly in out_dir */
    bool skip_existing;              /* an output that exists counts as up to date, unread */
    bool no_clobber;                 /* never replace an output: skipped with LAP_E_EXISTS */
    const struct lap_batch_devices *devices;
    void (*warn)(void *user, const lap_error *warning); /* what does not stop the run; or NULL */
    struct lap_batch_work *work;
    struct lap_batch_prune *prune;
} lap_batch_options;

typedef struct lap_batch_counts { /* of this shard */
    uint64_t found, expected;     /* inputs seen so far; inputs in all, known before work begins */
    uint64_t other_shards, links; /* inputs of other shards; symbolic links that were not followed */
    uint64_t ok, warned, skipped, failed;
    uint64_t waiting, waiting_pixels;     /* finished, but not renamed before their group is synced */
    uint64_t kinds[LAP_CODES];            /* failed and skipped by lap_code; LAP_OK: skipped as up to date */
    uint64_t pixels, bytes_in, bytes_out; /* of ok and warned */
    double ms;                            /* wall time so far */
    uint64_t reserved[8];
} lap_batch_counts;
typedef struct lap_batch_file {
    const char *input, *output;
    const lap_report *report; /* SKIPPED: error.code LAP_OK is up to date, LAP_E_EXISTS not ours */
} lap_batch_file;
/* For each finished input, and with file NULL ten times a second; on the thread that called lap_batch. */
typedef void lap_batch_fn(void *user, const lap_batch_file *file, const lap_batch_counts *counts);

/* Runs over many files; each may be NULL. LAP_OK: it came to its end, and counts say with what success.
 * Outputs are recorded in out_dir/.lapedge/, and the next run with the same settings skips them.
 * LAP_E_MISSING: an operand. LAP_E_WRITE: the output folder. LAP_E_DISK_FULL: stopped early. */
LAP_API lap_code lap_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err);

/* ---- what is in a file ------------------------------------------------------------------------- */

enum { LAP_INFO_KINDS = 8 };
typedef struct lap_info {
    const char *format; /* "jpeg", "png", "pnm" */
    uint64_t bytes;
    int width, height, components; /* as stored */
    const char *frame;             /* of a JPEG "baseline", "extended sequential", "progressive"; else NULL */
    bool arithmetic;
    int sample_h[4], sample_v[4]; /* of a JPEG: sampling factors of each component */
    int quantization_tables, huffman_tables, scans;
    int restart_interval, orientation; /* MCUs, 0: none; EXIF, 1 to 8 */
    size_t metadata_count;
    struct {
        const char *kind; /* "EXIF", "XMP", "ICC", "IPTC", "comment", ... */
        int segments;
        uint64_t bytes;
    } metadata[LAP_INFO_KINDS];
    int longest_scan, longest_percent; /* scans decoded side by side: from 1; share of the file; else 0 */
    uint64_t reserved[7];
} lap_info;
/* Reads the structure of an image file ("-": standard input) without decoding pixels. Its strings stay valid.
 * Errors: those of reading, and what a run would refuse the file for. */
LAP_API lap_code lap_info_read(const char *path, lap_info *info, lap_error *err);

/* ---- your own pixels --------------------------------------------------------------------------- */

#define LAP_APRON 2            /* pixels beyond each side that the 5x5 window reads */
#define LAP_MAX_SIDE (1 << 28) /* pixels of a side, at most */
#define LAP_ON_HOST (-1)       /* lap_view.place; 0 and up: the CUDA device of that number */

/* A rectangle of interleaved 8-bit samples in memory that somebody else owns: sample (y, x, c) is
 * base[y * stride + x * channels + c]. With apron = LAP_APRON rows -2..height+1 and columns -2..width+1 are
 * readable and hold the extension; with 0 only the interior is. */
typedef struct lap_view {
    uint8_t *base;
    ptrdiff_t stride; /* bytes from one row to the next, at least width * channels */
    int width, height, channels;
    int apron, place; /* 0 or LAP_APRON; LAP_ON_HOST or a device number */
} lap_view;

/* Filters in to out: views of one place, size and number of channels (1, 3 or 4), sides of 1 to LAP_MAX_SIDE,
 * that do not overlap. An apron of in is used as it stands, so tiles of one picture join without a seam;
 * without one the border rule applies. On a device a CUDA backend runs where the pixels are, on the default
 * stream, and this function waits; a backend of the CPU is LAP_E_USAGE there. LAP_E_BACKEND, LAP_E_DEVICE. */
LAP_API lap_code lap_filter(lap_context *context, const lap_view *in, const lap_view *out,
    const char *backend, const lap_params *params, lap_border border, lap_error *err);
/* Pixels on the host (1, 3 or 4 channels, the fourth dropped if need be) to a file in memory, which the
 * caller frees, on the calling thread. Uses of settings: format (NULL: JPEG), quality, subsampling (SAME is
 * 444), restart, progressive, optimize, codec. LAP_E_UNSUPPORTED: a side too large for the format. */
LAP_API lap_code lap_encode(
    const lap_view *pixels, const lap_settings *settings, void **out, size_t *out_size, lap_error *err);

typedef struct lap_pixels lap_pixels; /* a decoded image; its apron is not filled */
/* Decodes an image from a file ("-": standard input) or its bytes. Uses of settings: gray, auto_orient,
 * limits, timeout, fail_on, decode, codec. *pixels is NULL after a failure. Errors: those of reading. */
LAP_API lap_code lap_pixels_read(lap_context *context, const char *path, const lap_settings *settings,
    lap_pixels **pixels, lap_error *err);
LAP_API lap_code lap_pixels_decode(lap_context *context, const void *file, size_t size,
    const lap_settings *settings, lap_pixels **pixels, lap_error *err);
/* lap_pixels_decode into *view, on the host: channels 0 (the file's), 3 (gray repeated) or 1 (BT.601 of RGB).
 * base NULL: is filled in, rows side by side, for free(); else of the picture's size, or LAP_E_DIFFERENT. A
 * failure leaves *view as it was, the caller's pixels undefined. report may be NULL. */
LAP_API lap_code lap_decode_view(lap_context *context, const void *file, size_t size,
    const lap_settings *settings, lap_view *view, lap_report *report, lap_error *err);
LAP_API const lap_view *lap_pixels_view(const lap_pixels *pixels); /* valid until the pixels are freed */
LAP_API void lap_pixels_free(lap_pixels *pixels);                  /* NULL is fine */

/* ---- statistics ------------------------------------------------------------------------------ */

/* Of one channel. All figures come from exact counts, so every backend gives the same to the last bit. */
typedef struct lap_channel_stats {
    const char *name; /* "gray", "red", "green", "blue", "alpha" */
    uint64_t histogram[256];
    uint64_t count, sum;
    int min, max;
    double mean, stddev; /* of the whole population: divided by count */
    double entropy;      /* bits per sample */
    int p1, p50, p99;    /* percentiles: the smallest v such that at least 1, 50, 99 % of samples are <= v */
    double above;        /* share of samples >= threshold; NaN without one */
    uint64_t reserved[4];
} lap_channel_stats;
typedef struct lap_stats {
    int channels, threshold; /* threshold: 0..255; -1: none */
    lap_channel_stats channel[4];
    uint64_t reserved[4];
} lap_stats;
struct lap_run_stats {
    lap_stats input, edges;
    uint64_t reserved[4];
};

typedef struct lap_measure_options {
    int threshold;        /* for `above`, 0..255; -1: none. The edges stay as they are */
    bool profiles;        /* also row and column profiles of the luma's edges */
    const float *weights; /* for the profiles; NULL: means */
    size_t weight_count;  /* width (weights of a row's pixels), height (of a column's), or their sum (both) */
    int mask_border;      /* pixels at each side that the edges' statistics leave out */
    uint64_t reserved[3];
} lap_measure_options;

typedef struct lap_measurement {
    int width, height, channels;
    const char *resolved;  /* the backend that filtered */
    lap_run_stats stats;   /* edges.channels is 0 if mask_border leaves no pixel */
    float *rows, *columns; /* height and width values; NULL without profiles */
    int mask_border;
    char *note; /* as in lap_report, or NULL */
    uint64_t reserved[2];
} lap_measurement;

/* Statistics of an image file ("-": standard input, without profiles) and of its edges; writes no image.
 * Errors: as lap_run_file. Free what the measurement points to; all zero is fine. */
LAP_API lap_code lap_measure_file(lap_context *context, const char *in, const lap_settings *settings,
    const lap_measure_options *options, lap_measurement *measurement, lap_error *err);
LAP_API void lap_measurement_free(lap_measurement *measurement);

/* Of a view (1 to 4 channels), by a backend of LAP_OP_HISTOGRAM. A CUDA backend uploads pixels of the host to
 * `device`; pixels on a device must be there. LAP_E_USAGE, LAP_E_BACKEND, LAP_E_DEVICE. */
LAP_API lap_code lap_stats_of_view(lap_context *context, const lap_view *view, const char *backend,
    int device, int threshold, lap_stats *stats, lap_error *err);
/* Of a view with one channel: rows[y] = sum over x of p(y,x) * row_weights[x], columns[x] = sum over y of
 * p(y,x) * column_weights[y]. NULL weights: means. rows has height values, columns width. Errors as above. */
LAP_API lap_code lap_profiles(lap_context *context, const lap_view *plane, const float *row_weights,
    const float *column_weights, float *rows, float *columns, lap_error *err);

/* ---- how two images differ --------------------------------------------------------------------- */

/* b compared with a, over all samples (pixels times channels) that were compared. */
typedef struct lap_difference {
    bool identical;
    uint64_t samples, pixels;
    int max_abs; /* levels, as are the next two */
    double mean_abs, rmse;
    double psnr;               /* dB against 255; NaN if identical */
    double ssim;               /* -1..1, 1 if identical; NaN if not asked for, or below 11x11 pixels */
    uint64_t differing_pixels; /* in any channel */
    uint64_t differing_border; /* of these, in the two pixels at the image's edges */
    int first_x, first_y, first_channel, first_a, first_b; /* in raster order; x is -1 if identical */
    bool first_at_border;                                  /* it lies in the two pixels at the edges */
    uint64_t reserved[4];
} lap_difference;
/* Host views of the same size and channels, else LAP_E_DIFFERENT. mask_border: pixels at each side to leave
 * out. with_ssim: the mean over channels (Wang et al. 2004: Gaussian window 11x11, sigma 1.5). */
LAP_API lap_code lap_compare_views(const lap_view *a, const lap_view *b, int mask_border, bool with_ssim,
    lap_difference *difference, lap_error *err);

/* ---- pixels on a GPU ----------------------------------------------------------------------------- */

/* A CUDA stream of the caller's, and device memory for work on it, which grows to the largest picture and is
 * reused. Work takes its place in the stream, after what was queued before. Functions marked "queued" return
 * at once, and their views must stay as they are until the stream has passed them; all others wait. Objects
 * with different streams work side by side. Their device becomes the calling thread's current one. Views with
 * a base and stride that are multiples of 128 are used in place (an apron only if 128 bytes before it and its
 * last row's whole stride are readable), others are copied on the device. Errors of all: LAP_E_BACKEND (no
 * device, or a backend that cannot run), LAP_E_USAGE (a CPU's backend, a view elsewhere), LAP_E_DEVICE. */
typedef struct lap_stream lap_stream;
/* cuda_stream: a cudaStream_t of the device; NULL: its default stream. It and the context must outlive the
 * object. *stream is NULL after a failure. Destroying waits; NULL is fine. */
LAP_API lap_code lap_stream_create(
    lap_context *context, int device, void *cuda_stream, lap_stream **stream, lap_error *err);
LAP_API void lap_stream_destroy(lap_stream *stream);
LAP_API lap_code lap_stream_wait(lap_stream *stream, lap_error *err); /* until all that was queued is done */
/* Cleared device memory; apron 0 or LAP_APRON. *view is zero after a failure. Destroy it as it was made. */
LAP_API lap_code lap_stream_view_create(
    lap_stream *stream, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
LAP_API void lap_stream_view_destroy(lap_stream *stream, lap_view *view);
/* Queued: copies an interior (a view on the host is waited for); fills an apron by the border rule. */
LAP_API lap_code lap_stream_copy(lap_stream *stream, const lap_view *in, const lap_view *out, lap_error *err);
LAP_API lap_code lap_stream_border(lap_stream *stream, const lap_view *view, lap_border rule, lap_error *err);
/* As lap_filter, queued; as lap_stats_of_view. */
LAP_API lap_code lap_stream_filter(lap_stream *stream, const lap_view *in, const lap_view *out,
    const char *backend, const lap_params *params, lap_border border, lap_error *err);
LAP_API lap_code lap_stream_stats(lap_stream *stream, const lap_view *view, const char *backend,
    int threshold, lap_stats *stats, lap_error *err);
/* An image file in host memory to pixels on the device, those of lap_pixels_read. Uses of settings: gray,
 * limits, timeout_s, fail_on, decode, codec; auto_orient and turn are LAP_E_USAGE. *view: all zero, to be
 * allocated without an apron; or of the picture's size and channels, else LAP_E_DIFFERENT. report or NULL. */
LAP_API lap_code lap_stream_decode(lap_stream *stream, const void *file, size_t size,
    const lap_settings *settings, lap_view *view, lap_report *report, lap_error *err);
/* As lap_encode, and with timeout_s. Formats other than JPEG are made on the CPU. report may be NULL. */
LAP_API lap_code lap_stream_encode(lap_stream *stream, const lap_view *view, const lap_settings *settings,
    void **out, size_t *out_size, lap_report *report, lap_error *err);

/* ---- what can run here --------------------------------------------------------------------------- */

/* Each operation has a ladder: its backends in order, from plain C to the fastest; a rung is one of them.
 * LAP_OP_CODEC has none; the ladders of ENCODE and DECODE are JPEG coders on the CPU. */
/* clang-format off */
typedef enum lap_op { LAP_OP_FILTER, LAP_OP_TRANSPOSE, LAP_OP_REDUCE, LAP_OP_HISTOGRAM, LAP_OP_MATVEC,
    LAP_OP_COUNT, LAP_OP_CODEC = LAP_OP_COUNT, LAP_OP_ENCODE, LAP_OP_DECODE } lap_op;
/* clang-format on */
LAP_API const char *lap_op_name(lap_op op);

typedef struct lap_rung_info {
    lap_op op;
    const char *name;     /* as in settings.backend */
    const char *aliases;  /* comma separated, or NULL */
    const char *family;   /* c, openmp, sse, simd, cuda, auto */
    const char *resolves; /* comma separated candidates, best first; NULL: runs itself */
    const char *what;     /* a short description */
    const char *flags;    /* compiler flags of its file */
    const char *reason;   /* why it cannot run here; NULL: it can */
    const char *resolved; /* what it resolves to here; NULL if it cannot run */
    uint64_t reserved[4];
} lap_rung_info;
/* Row i = 0, 1, ... of a ladder; false past the last. Strings stay valid. Starts CUDA only with
 * probe_devices; without it the reason of a CUDA row is about the build alone. */
LAP_API bool lap_rung_at(lap_op op, int i, bool probe_devices, lap_rung_info *info);
LAP_API bool lap_coder_at(lap_op op, int i, lap_rung_info *info); /* the same for LAP_OP_ENCODE and _DECODE */

typedef struct lap_device_info {
    int device;
    char name[128];
    size_t memory_bytes, free_bytes;
    int cc_major, cc_minor, sms;
    char driver[32];
    uint64_t reserved[4];
} lap_device_info;
/* CUDA device i = 0, 1, ...; false past the last, with why there are none in *reason (or NULL). */
LAP_API bool lap_device_at(int i, lap_device_info *info, const char **reason);

#ifdef __cplusplus
}
#endif
#endif
