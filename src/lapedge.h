/* lapedge: the 2D 5x5 Laplace filter on photos, as a library.
 *
 * The only public header. Every name begins with lap_ or LAP_.
 *
 * THE FILTER. For every channel on its own, with p the source extended past its edges and h the 25
 * coefficients row by row:
 *
 *     o(y,x) = sum over fy,fx in -2..2 of  h[5*(fy+2) + fx+2] * p(y+fy, x+fx)     (correlation)
 *     r      = scale * o + offset     one float32 multiply, then one float32 add, never fused
 *     out    = clamp: min(255, max(0, round(r)))     abs: min(255, round(|r|))
 *     invert: out = 255 - out         threshold T >= 0: out = 255 where out >= T, else 0
 *
 * round is to nearest, ties to even; the last line applies in that order, after the range.
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
 * EXACTNESS. With integer coefficients and 255 * sum|h| < 2^24 every backend gives the same bytes.
 * Other kernels: at most 1 level apart while |scale| * sum|h| <= 1200; beyond that no promise.
 *
 * THREADS. No function keeps global state. A lap_context may be used from several threads at once;
 * every other object belongs to one thread at a time.
 *
 * ERRORS. Functions that can fail return a lap_code and fill the caller's lap_error (which may be
 * NULL). No function exits, prints, or leaves a signal handler behind.
 *
 * COMPATIBILITY. A program keeps working with every later library of the same SONAME. Functions and
 * enumerators are added, never changed. A struct that the caller allocates keeps its size: it ends in
 * `reserved`, which new fields are taken from, and in which 0 always means "as before the field
 * existed". So begin with lap_..._default(), or with all zero, and leave reserved alone. Structs that
 * callbacks are given (lap_..._row, lap_batch_file) may grow at their end; lap_view and lap_times are
 * final.
 */
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
/* Grows with every release: compare with it what a feature needs, as in #if LAP_VERSION_NUMBER >= 200. */
#define LAP_VERSION_NUMBER (LAP_VERSION_MAJOR * 10000 + LAP_VERSION_MINOR * 100 + LAP_VERSION_PATCH)

/* ---- status ---------------------------------------------------------------------------------- */

typedef enum lap_code {
    LAP_OK = 0,
    LAP_E_USAGE,       /* a setting is out of its range, or two settings contradict each other */
    LAP_E_MISSING,     /* no such input */
    LAP_E_UNREADABLE,  /* input exists and cannot be read, or is no regular file */
    LAP_E_NOT_IMAGE,   /* input is no image of a kind that can be read */
    LAP_E_UNSUPPORTED, /* valid, of a kind that is refused (12-bit, lossless, ...) */
    LAP_E_TRUNCATED,   /* data ends too early */
    LAP_E_DAMAGED,     /* data is wrong */
    LAP_E_LIMIT,       /* refused by a limit (pixels, scans, memory) */
    LAP_E_MEMORY,      /* out of memory */
    LAP_E_TIMEOUT,     /* over the time limit */
    LAP_E_EXISTS,      /* output exists and was not made by us, or was changed since; or a link leads to it */
    LAP_E_CHANGED,     /* input was written to, or replaced, while it was read */
    LAP_E_CLASH,       /* two inputs, one output; or output equal to input */
    LAP_E_DISK_FULL,   /* no space for the output */
    LAP_E_WRITE,       /* output cannot be written */
    LAP_E_BACKEND,     /* the named backend or codec cannot run here */
    LAP_E_DEVICE,      /* a CUDA device failed */
    LAP_E_CANCELLED,   /* the cancel flag was set */
    LAP_E_DIFFERENT,   /* two images cannot be compared (sizes or channels differ) */
    LAP_E_INTERNAL     /* a bug in lapedge */
} lap_code;
#define LAP_CODES 32 /* more than there will be in this version of the interface */

/* What the caller may change so that an error or a warning goes away. The texts of the library name no option
 * of the program; the program adds its own. */
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

/* What went wrong, in three parts: code says of which kind, subject what it is about, message the rest.
 * Both texts are one line of UTF-8 whose characters lap_utf8_is_shown: in a path \x1b stands for a byte of
 * another one, elsewhere a ? for the character. */
typedef struct lap_error {
    lap_code code;
    char subject[256]; /* the file or folder (of a long path the end); empty where there is none */
    char message[480]; /* repeats neither subject nor kind */
    lap_remedy remedy;
    int unused;
    uint64_t reserved[3];
} lap_error;

/* The kind as the JSON objects spell it ("missing", "not_jpeg", ...); never NULL. */
LAP_API const char *lap_code_name(lap_code code);
/* The error as one line, "photo.jpg: truncated: data ends 40 % into the image": the parts that there are,
 * the kind only where the message cannot do without it. Cut at size bytes, zero included; 800 are enough.
 * Returns text. */
LAP_API char *lap_error_text(const lap_error *err, char *text, size_t size);
/* LAP_VERSION and LAP_VERSION_NUMBER of the library that runs, which may be newer than this header. */
LAP_API const char *lap_version(void);
LAP_API int lap_version_number(void);
/* Compiler, libraries and their versions, CUDA: one line each, separated by newlines. The version is that of
 * the library that runs; "(built with ...)" follows where this one was built with another. */
LAP_API const char *lap_build_info(void);
/* LAP_E_BACKEND: a library that runs cannot be used by this one, which was built with another version of its
 * interface, and what needs it fails so. LAP_E_MEMORY: there is none to find out. */
LAP_API lap_code lap_libraries_check(lap_error *err);

/* ---- text on a terminal ------------------------------------------------------------------------ */

/* Length in bytes of the UTF-8 character at text (not the final 0), and its code point; 0 if it is not well
 * formed: overlong, a surrogate, beyond U+10FFFF, cut. */
LAP_API size_t lap_utf8_decode(const char *text, unsigned *code);
/* Whether a line may show the character as it is: false for those that steer a terminal (C0, DEL, C1), end
 * a line, or change the direction of writing. */
LAP_API bool lap_utf8_is_shown(unsigned code);

/* ---- pixels ---------------------------------------------------------------------------------- */

#define LAP_APRON 2            /* pixels beyond each side that the 5x5 window reads */
#define LAP_MAX_SIDE (1 << 28) /* pixels of a side, at most: rows and columns are counted in an int */
#define LAP_ON_HOST (-1)       /* lap_view.place; 0 and up: the CUDA device of that number */

/* A rectangle of 8-bit interleaved pixels, owned by somebody else. base is row 0, column 0, channel
 * 0 of the interior; sample (y, x, c) is base[y * stride + x * channels + c]. With apron = 2, rows
 * -2..height+1 and columns -2..width+1 are readable and hold the extension; with 0 only the interior
 * is. Views as matrices: an element of 1, 3, 4 or 8 bytes is a pixel of that many channels. */
typedef struct lap_view {
    uint8_t *base;
    ptrdiff_t stride; /* bytes from one row to the next, >= width * channels, apart from the apron */
    int width, height, channels;
    int apron; /* 0 or LAP_APRON */
    int place; /* LAP_ON_HOST or a device number */
} lap_view;

/* ---- the filter ------------------------------------------------------------------------------ */

/* LAP_CONSTANT + V: V everywhere beyond, 0 to 255. LAP_WRAP holds an image whole. */
typedef enum lap_border {
    LAP_ZERO,
    LAP_REPLICATE,
    LAP_REFLECT,
    LAP_REFLECT101,
    LAP_WRAP,
    LAP_CONSTANT = 256,
    LAP_CONSTANT_LAST = LAP_CONSTANT + 255
} lap_border;
typedef enum lap_range { LAP_CLAMP, LAP_ABS } lap_range;
/* As the command line spells them; NULL for a value that is none. */
LAP_API const char *lap_border_name(lap_border border);
LAP_API const char *lap_range_name(lap_range range);

typedef struct lap_kernel {
    char name[64];     /* preset name, or "custom" */
    float h[25];       /* row by row */
    int32_t hi[25];    /* the same as integers, valid if is_integer */
    bool is_integer;   /* all 25 are whole numbers */
    bool is_laplace5;  /* 24 in the centre and -1 elsewhere: sliding sums apply */
    bool is_symmetric; /* unchanged by quarter turns and mirroring: filter and turn commute */
    double abs_sum;    /* sum |h|, at most 2^22 */
    uint64_t reserved[2];
} lap_kernel;

typedef struct lap_params {
    lap_kernel kernel;
    lap_range range;
    float scale, offset;
    bool invert;
    int threshold; /* 0..255, or -1 for none */
    uint64_t reserved[4];
} lap_params;

/* Preset name, path of a file with numbers, or numbers separated by commas, spaces or '/': 25, or 9, which
 * are framed by zeros. "1/256" without a space is a fraction if so there are 25 or 9. A # begins a comment.
 */
LAP_API lap_code lap_kernel_parse(const char *spec, lap_kernel *kernel, lap_error *err);
/* Turns the kernel by 180 degrees, which makes a convolution of the correlation. */
LAP_API void lap_kernel_flip(lap_kernel *kernel);
/* i = 0, 1, ... until NULL: the presets' names. */
LAP_API const char *lap_kernel_preset(int i);
/* laplace5, clamp, scale 1, offset 0, no invert, no threshold. */
LAP_API lap_params lap_params_default(void);
/* How far backends may differ: 0 levels (integer coefficients: the same bytes), 1 level, or -1: no promise.
 * See EXACTNESS above. */
LAP_API int lap_params_tolerance(const lap_params *params);

/* ---- backends -------------------------------------------------------------------------------- */

typedef enum lap_op {
    LAP_OP_FILTER,
    LAP_OP_TRANSPOSE,
    LAP_OP_REDUCE,
    LAP_OP_HISTOGRAM,
    LAP_OP_MATVEC,
    LAP_OP_COUNT,
    LAP_OP_CODEC = LAP_OP_COUNT, /* no ladder: lap_bench times what surrounds the filter */
    LAP_OP_ENCODE,               /* ladders of JPEG coders on the CPU: see lap_coder_at */
    LAP_OP_DECODE
} lap_op;
/* Each op has a ladder: its backends in order, from plain C to the fastest; a rung is a place on it. */

typedef struct lap_rung_info {
    lap_op op;
    const char *name;     /* as given to --backend */
    const char *aliases;  /* comma separated, or NULL */
    const char *family;   /* c, openmp, sse, simd, cuda, auto */
    const char *resolves; /* comma separated candidates, best first, or NULL: runs itself */
    const char *what;     /* a short description */
    const char *flags;    /* compiler flags of its file */
    const char *reason;   /* NULL: can run here; else why not */
    const char *resolved; /* what it resolves to here; NULL if it cannot run */
    uint64_t reserved[4];
} lap_rung_info;

LAP_API const char *lap_op_name(lap_op op);
/* Row i of a ladder, in ladder order; false past the end. Touches CUDA for CUDA rows only if
 * probe_devices is set (else their reason is only about the build). Strings stay valid. */
LAP_API bool lap_rung_at(lap_op op, int i, bool probe_devices, lap_rung_info *info);
/* The same for the ladders of JPEG encoders and decoders on the CPU, LAP_OP_ENCODE and LAP_OP_DECODE: names
 * as given to lap_settings.codec. */
LAP_API bool lap_coder_at(lap_op op, int i, lap_rung_info *info);
/* The known backend name nearest to a misspelt one, or NULL. */
LAP_API const char *lap_rung_nearest(lap_op op, const char *name);
/* How many letters have to be inserted, left out, replaced or swapped with their neighbour to make one word
 * of the other, letters' case aside: for suggestions. A word of more than 63 bytes is 63 away from any. */
LAP_API int lap_word_distance(const char *a, const char *b);

typedef struct lap_device_info {
    int device;
    char name[128];
    size_t memory_bytes, free_bytes;
    int cc_major, cc_minor, sms;
    char driver[32];
    uint64_t reserved[4];
} lap_device_info;
/* Device i; false past the end. *reason (may be NULL) says why there are none. Touches CUDA. */
LAP_API bool lap_device_at(int i, lap_device_info *info, const char **reason);
/* False where there can be no device: a build without CUDA, or none of the files by which a driver is
 * reached. *reason (may be NULL) says which. At once, and without touching CUDA. */
LAP_API bool lap_device_possible(const char **reason);

/* ---- context --------------------------------------------------------------------------------- */

typedef struct lap_context lap_context; /* a pool of threads, shared by everything given to it */

/* threads: 1 to 1024, or 0 for one per core that this process may use. NULL on failure: LAP_E_USAGE,
 * LAP_E_MEMORY. Everything given the context must have returned before it is destroyed; NULL is fine. */
LAP_API lap_context *lap_context_create(int threads, lap_error *err);
LAP_API void lap_context_destroy(lap_context *context);
LAP_API int lap_context_threads(const lap_context *context);
/* Bytes of memory that this process may use: of the machine, or fewer in a control group (cgroup 1 or 2). */
LAP_API uint64_t lap_memory_here(void);
/* Everything running in the context stops at the next band with LAP_E_CANCELLED. Safe in a signal
 * handler. */
LAP_API void lap_context_cancel(lap_context *context);

/* Called from any thread of the pool, never two at once for one image; done out of total rows. */
typedef void lap_progress_fn(void *user, int rows_done, int rows_total);

/* ---- settings of a run ----------------------------------------------------------------------- */

typedef enum lap_fail_on { LAP_FAIL_NONE, LAP_FAIL_TRUNCATED, LAP_FAIL_WARNING } lap_fail_on;
typedef enum lap_restart { LAP_RESTART_AUTO, LAP_RESTART_ON, LAP_RESTART_OFF } lap_restart;
typedef enum lap_subsampling { LAP_SUB_SAME, LAP_SUB_444, LAP_SUB_422, LAP_SUB_420 } lap_subsampling;
/* What turns stored pixels into output pixels; the values are EXIF's orientation values: 1 leaves
 * as it is, 3 turns by 180 degrees, 6 by 90 clockwise, 8 by 270, 2 and 4 mirror left-right and
 * top-bottom, 5 transposes, 7 mirrors along the other diagonal. */
typedef enum lap_turn {
    LAP_TURN_NONE = 1,
    LAP_TURN_H = 2,
    LAP_TURN_180 = 3,
    LAP_TURN_V = 4,
    LAP_TURN_TRANSPOSE = 5,
    LAP_TURN_90 = 6,
    LAP_TURN_TRANSVERSE = 7,
    LAP_TURN_270 = 8
} lap_turn;

typedef struct lap_run_stats lap_run_stats; /* see statistics below */

/* Bits of lap_settings.keep. GPS and THUMBNAIL are parts of EXIF. A profile is kept where it fits the output.
 * With a list EXIF and IPTC are written anew from what is known to be harmless; without GPS in it the place
 * is taken out of XMP and IPTC, too. */
enum {
    LAP_KEEP_EXIF = 1,
    LAP_KEEP_GPS = 2,
    LAP_KEEP_XMP = 4,
    LAP_KEEP_IPTC = 8,
    LAP_KEEP_ICC = 16,
    LAP_KEEP_COMMENT = 32,
    LAP_KEEP_THUMBNAIL = 64, /* it shows the unfiltered photo */
    LAP_KEEP_LISTED = 128    /* set in every list, so that none is not 0 */
};

/* How a JPEG is decoded on the CPU; the pixels are the same. PARALLEL: where the file
 * allows it, else serially; the report's note says why. */
typedef enum lap_decode { LAP_DECODE_AUTO, LAP_DECODE_SERIAL, LAP_DECODE_PARALLEL } lap_decode;

/* Where JPEGs are coded; the bytes are the same. AUTO: on the device where the backend is one of CUDA and it
 * can be, else on the CPU. CUDA: LAP_E_BACKEND where there is no device, LAP_E_USAGE with a CPU backend;
 * a file that the device does not take is coded on the CPU all the same, and the report's note says so. */
typedef enum lap_codec_place {
    LAP_CODEC_AUTO,
    LAP_CODEC_CPU,
    LAP_CODEC_CUDA,
    /* On the CPU, decoded and encoded by this rung of the ladders: LAP_E_BACKEND where it cannot run. What
     * none of ours decodes (other samplings, incomplete scans, too large to be held, anything odd) or encodes
     * (other samplings, progressive, optimized tables) libjpeg-turbo does, and the note says so. */
    LAP_CODEC_TURBO,
    LAP_CODEC_C,
    LAP_CODEC_AVX2,
    LAP_CODEC_AVX512,
    LAP_CODEC_NEON
} lap_codec_place;

/* Whether a turned JPEG (filter false) keeps its coded blocks, so that nothing is lost. AUTO: if the picture
 * consists of whole MCUs, its coefficients can be coded again and no other setting asks for coding anew
 * (quality is not used then); else by pixels, and the report's note says why. TRIM: partial MCUs that would
 * come to lie left or above are left out. PERFECT: LAP_E_UNSUPPORTED if there are some. TRIM and PERFECT
 * never go by pixels: LAP_E_USAGE for settings that need them, LAP_E_UNSUPPORTED for files. All three hold
 * the picture twice, as coefficients; LAP_E_LIMIT if that is more than max_memory. */
typedef enum lap_lossless {
    LAP_LOSSLESS_NO,
    LAP_LOSSLESS_AUTO,
    LAP_LOSSLESS_TRIM,
    LAP_LOSSLESS_PERFECT
} lap_lossless;

/* All zero: the pixels pass unfiltered, nothing is synced, and there are no limits. A backend, turn or
 * quality of 0 and params that are all zero mean those of lap_settings_default, so `filter = true` alone
 * filters. */
typedef struct lap_settings {
    /* filter */
    bool filter; /* false: the pixels pass unfiltered, to be turned or converted */
    const char *backend;
    lap_params params;
    lap_border border;
    bool gray;
    int threads; /* at most this many of the context's threads; 0: all */
    int device;  /* CUDA device number */
    /* orientation: auto_orient first, then turn */
    bool auto_orient;
    lap_turn turn;
    /* output */
    const char *format; /* "jpg", "png", ...; NULL: by the extension of the output */
    int quality;        /* 1..100 */
    lap_subsampling subsampling;
    lap_restart restart;
    bool sync;     /* fsync before the rename */
    bool strip;    /* no metadata */
    bool preserve; /* time and mode of the input */
    bool in_place; /* output equal to input is meant: it is replaced, atomically */
    /* limits, 0 means none */
    uint64_t max_pixels;
    uint64_t max_memory; /* bytes for all files under way in the context: one that does not fit beside the
                            others waits, one that never fits is LAP_E_LIMIT */
    int max_scans;
    double timeout_s;
    lap_fail_on fail_on;
    /* statistics of source and result, counted as the bands pass; NULL: none */
    lap_run_stats *stats;
    /* callbacks */
    lap_progress_fn *progress;
    void *progress_user;
    lap_decode decode; /* of a JPEG, on the CPU */
    lap_codec_place codec;
    bool no_clobber; /* an output that exists is left alone: LAP_E_EXISTS. Of one image; of folders see there
                      */
    bool progressive, optimize; /* JPEG: several scans; Huffman tables of its own. Held whole, on the CPU */
    unsigned keep;              /* LAP_KEEP_... of metadata; 0: all but thumbnails and maker's notes */
    lap_lossless lossless;
    uint64_t reserved[13];
} lap_settings;

LAP_API lap_settings lap_settings_default(void);

/* ---- a run over one image -------------------------------------------------------------------- */

typedef enum lap_status { LAP_DONE, LAP_WARNED, LAP_SKIPPED, LAP_FAILED } lap_status;
LAP_API const char *lap_status_name(lap_status status);

/* Busy milliseconds summed over threads; total is wall time. */
typedef struct lap_times {
    double read, decode, upload, filter, download, encode, write, total;
} lap_times;

typedef struct lap_stats lap_stats; /* see statistics below */

typedef struct lap_report {
    lap_status status;
    lap_error error;   /* of a failed run; code LAP_OK else */
    int width, height; /* of the output */
    int channels;
    const char *resolved; /* the backend that filtered, never "auto"; NULL if none did */
    lap_times ms;
    uint64_t bytes_in, bytes_out;
    int warnings;      /* harmless oddities and, with fail_on none, damage that was let through */
    char warning[240]; /* the first of them */
    char note[240];    /* what a user may want to know with -v, e.g. which form of a backend ran */
    lap_remedy warning_remedy;
    int unused;
    uint64_t reserved[7];
} lap_report;

/* File to file. "-" is standard input or output. Output is complete or absent. */
LAP_API lap_code lap_run_file(lap_context *context, const char *in, const char *out,
    const lap_settings *settings, lap_report *report, lap_error *err);
/* What lap_run_file would refuse before it decodes: settings, names, a missing input, a missing folder. Reads
 * and writes nothing. */
LAP_API lap_code lap_run_check(const char *in, const char *out, const lap_settings *settings, lap_error *err);
/* Memory to memory; *out is malloc'ed and the caller's to free. settings->format NULL: JPEG. */
LAP_API lap_code lap_run_memory(lap_context *context, const void *in, size_t in_size, void **out,
    size_t *out_size, const lap_settings *settings, lap_report *report, lap_error *err);
/* A caller's pixels: views of the same place, size and channels (1, 3 or 4), not overlapping (with the apron
 * of in either), sides up to LAP_MAX_SIDE; an apron of in is used as it stands, without one the border rule
 * applies. On a device a CUDA backend runs where the pixels are ("auto": the fastest), on the default stream,
 * and this function waits for it; lap_stream_filter does not. LAP_E_USAGE: a backend of the CPU for pixels on
 * a device, two places, or memory that is not in its view's place. */
LAP_API lap_code lap_filter(lap_context *context, const lap_view *in, const lap_view *out,
    const char *backend, const lap_params *params, lap_border border, lap_error *err);

/* ---- statistics ------------------------------------------------------------------------------ */

/* Of one channel. All are computed from the exact counts, so they are equal to the last bit on every
 * backend. */
typedef struct lap_channel_stats {
    const char *name; /* "gray", "red", "green", "blue", "alpha" */
    uint64_t histogram[256];
    uint64_t count, sum;
    int min, max;
    double mean, stddev; /* of the whole population: divided by count */
    double entropy;      /* bits per sample */
    int p1, p50, p99;    /* percentiles: the smallest value v such that at least 1, 50, 99 % of the
                            samples are <= v (NumPy's "inverted_cdf") */
    double above;        /* share of samples >= threshold; NaN without one */
    uint64_t reserved[4];
} lap_channel_stats;

struct lap_stats {
    int channels;
    int threshold; /* 0..255, or -1 for none */
    lap_channel_stats channel[4];
    uint64_t reserved[4];
};

struct lap_run_stats {
    lap_stats input, edges;
    uint64_t reserved[4];
};

typedef struct lap_measure_options {
    int threshold; /* for the share above it, 0..255; -1: none. The edges themselves stay as they are */
    bool profiles; /* row and column profiles of the luma's edges */
    const float *weights; /* for the profiles; NULL: uniform (means) */
    size_t weight_count;  /* width (they weigh a row's pixels), height (a column's), or their sum (both) */
    int mask_border;      /* outer pixels at each side that the edges' statistics leave out */
    uint64_t reserved[3];
} lap_measure_options;

typedef struct lap_measurement {
    int width, height, channels;
    const char *resolved;  /* the backend that filtered */
    lap_run_stats stats;   /* of edges without a pixel (mask_border) channels is 0 */
    float *rows, *columns; /* height and width of them; NULL without profiles */
    int mask_border;       /* pixels at each side that the edges' statistics leave out */
    char *note;            /* what is worth knowing, as lap_report has it; or NULL */
    uint64_t reserved[2];
} lap_measurement;

/* Statistics of an image and of its edges, without writing any. settings: as for a run; in "-" is
 * standard input, for which profiles are refused. With a CUDA backend the counting is done on the device
 * too. Errors: those of lap_run_file, except for its output. */
LAP_API lap_code lap_measure_file(lap_context *context, const char *in, const lap_settings *settings,
    const lap_measure_options *options, lap_measurement *measurement, lap_error *err);
LAP_API void lap_measurement_free(lap_measurement *measurement); /* what it points to; all zero is fine */

/* Statistics from counts: counts[c][v] samples of channel c have value v. 1 to 4 channels; the first
 * three are red, green, blue where there are three or more. LAP_E_USAGE where a channel is empty or
 * has 2^48 samples or more. */
LAP_API lap_code lap_stats_of_counts(
    uint64_t counts[4][256], int channels, int threshold, lap_stats *stats, lap_error *err);
/* Of a caller's pixels (1 to 4 channels), counted by a backend of the histogram ladder. On the host: on the
 * context's threads; CUDA backends upload the pixels to `device` first. On a device, which must be `device`:
 * there, as lap_filter does. Errors: LAP_E_USAGE, LAP_E_BACKEND, LAP_E_DEVICE, LAP_E_MEMORY. */
LAP_API lap_code lap_stats_of_view(lap_context *context, const lap_view *view, const char *backend,
    int device, int threshold, lap_stats *stats, lap_error *err);

/* Profiles of a one-channel plane (on a device: downloaded first): rows[y] = sum over x of plane(y,x) *
 * row_weights[x], and columns[x] = sum over y of plane(y,x) * column_weights[y]; NULL weights are uniform,
 * 1/width and 1/height: means. Both are products of the matrix-vector ladder, the second after a transpose.
 * rows holds height values, columns width. */
LAP_API lap_code lap_profiles(lap_context *context, const lap_view *plane, const float *row_weights,
    const float *column_weights, float *rows, float *columns, lap_error *err);

/* Pixels in host memory (1, 3 or 4 channels; of 4 the last is left out where the format has none) to a file
 * in memory, malloc'ed and the caller's to free, by the calling thread: the bytes of lap_run_memory on these
 * pixels without metadata. Of settings: format (NULL: JPEG), quality, subsampling (SAME is 444), restart,
 * progressive, optimize, codec. Errors: LAP_E_USAGE, LAP_E_UNSUPPORTED (a side that the format cannot hold),
 * LAP_E_BACKEND, LAP_E_MEMORY. Thread safe. */
LAP_API lap_code lap_encode(
    const lap_view *pixels, const lap_settings *settings, void **out, size_t *out_size, lap_error *err);

/* ---- pixels on a device ---------------------------------------------------------------------- */

/* For programs whose pixels lie on a CUDA device: a stream of that device, and the memory that work on it
 * needs, which grows to the largest picture and is used again. What is asked of it happens after whatever the
 * program queued on the CUDA stream before, and before whatever it queues there afterwards. "Queued" below:
 * the function returns at once, and its views must stay as they are until the stream has come past. All
 * others have waited for the stream when they return.
 *
 * An object belongs to one thread at a time; objects with CUDA streams of their own work side by side, in one
 * context too. The device is the calling thread's current one afterwards. Views must lie on the device, else
 * LAP_E_USAGE; those whose base and stride are multiples of 128 are worked on in place, with an apron only if
 * 128 bytes before it and all bytes of its last row's stride are readable, as lap_stream_view_create makes
 * them; others are copied on the device first. LAP_E_BACKEND: no CUDA, no such device, or a backend that
 * cannot run here; LAP_E_USAGE: a backend of the CPU; LAP_E_DEVICE: the device failed; LAP_E_MEMORY. */
typedef struct lap_stream lap_stream;

/* cuda_stream: a cudaStream_t of the device; NULL: its default stream. The context and it must outlive the
 * object. *stream is NULL after a failure. */
LAP_API lap_code lap_stream_create(
    lap_context *context, int device, void *cuda_stream, lap_stream **stream, lap_error *err);
LAP_API void lap_stream_destroy(lap_stream *stream); /* has waited; NULL is fine */
/* Until all that was queued is done. */
LAP_API lap_code lap_stream_wait(lap_stream *stream, lap_error *err);

/* Device memory for pixels, cleared, apron 0 or LAP_APRON, to be destroyed; *view is zero after a failure. */
LAP_API lap_code lap_stream_view_create(
    lap_stream *stream, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
/* The view as it was made; a zeroed one is fine. */
LAP_API void lap_stream_view_destroy(lap_stream *stream, lap_view *view);
/* Interiors of the same size and channels, one of them or both on the device; queued if both are. */
LAP_API lap_code lap_stream_copy(
    lap_stream *stream, const lap_view *from, const lap_view *to, lap_error *err);
/* Fills the apron of a view by the border rule; queued. */
LAP_API lap_code lap_stream_border(
    lap_stream *stream, const lap_view *view, lap_border border, lap_error *err);

/* As lap_filter; queued. */
LAP_API lap_code lap_stream_filter(lap_stream *stream, const lap_view *in, const lap_view *out,
    const char *backend, const lap_params *params, lap_border border, lap_error *err);
/* As lap_stats_of_view. */
LAP_API lap_code lap_stream_stats(lap_stream *stream, const lap_view *view, const char *backend,
    int threshold, lap_stats *stats, lap_error *err);

/* An image file in host memory to pixels on the device, those that lap_pixels_read gives. Of settings: gray,
 * limits, timeout, fail_on, decode, codec; auto_orient and turn are LAP_E_USAGE. What the device does not
 * decode is decoded on the CPU and uploaded; report (or NULL) has a note that says which. *view: all zero,
 * then it is made, without an apron; or a view of the picture's size and channels, else
 * LAP_E_DIFFERENT. Errors else: those of lap_run_memory. */
LAP_API lap_code lap_stream_decode(lap_stream *stream, const void *file, size_t size,
    const lap_settings *settings, lap_view *view, lap_report *report, lap_error *err);
/* Pixels on the device (1, 3 or 4 channels) to a file in host memory, malloc'ed and the caller's to free: the
 * bytes of lap_run_memory on these pixels without metadata. Of settings: format (NULL: JPEG), quality,
 * subsampling (SAME is 444), restart, progressive, optimize, timeout, codec. No JPEG: made on the CPU. */
LAP_API lap_code lap_stream_encode(lap_stream *stream, const lap_view *view, const lap_settings *settings,
    void **out, size_t *out_size, lap_report *report, lap_error *err);

/* ---- what a file is made of ------------------------------------------------------------------ */

enum { LAP_INFO_KINDS = 8 };
typedef struct lap_info {
    const char *format; /* "jpeg", "png", "pnm" */
    uint64_t bytes;
    int width, height, components; /* as stored */
    const char *frame;             /* of a JPEG "baseline", "extended sequential", "progressive"; else NULL */
    bool arithmetic;
    int sample_h[4], sample_v[4]; /* of a JPEG: sampling factors of each component */
    int quantization_tables, huffman_tables, scans;
    int restart_interval; /* MCUs; 0: none */
    int orientation;      /* EXIF, 1 to 8 */
    size_t metadata_count;
    struct {
        const char *kind; /* "EXIF", "XMP", "ICC", "IPTC", "comment", ... */
        int segments;
        uint64_t bytes;
    } metadata[LAP_INFO_KINDS];
    /* Of a progressive JPEG whose scans several threads can decode side by side: the scan with most bytes,
     * from 1 on, and how many percent of the file it has; 0: no such file. */
    int longest_scan, longest_percent;
    uint64_t reserved[7];
} lap_info;

/* A piece of metadata that an output lacks. Strings live until the callback returns; none is NULL. */
typedef struct lap_dropped {
    const char *kind;  /* "EXIF", "XMP", "IPTC", "ICC", "comment", "other" */
    const char *place; /* the directory of an EXIF tag: "IFD0", "GPS", ...; else empty, "IPTC", "Photoshop" */
    const char *name;  /* of the tag or property; empty: unknown */
    const char *reason; /* "location", "thumbnail", "not in the list", ... */
    int tag;            /* of EXIF; of IPTC record * 256 + data set; of Photoshop the resource; else -1 */
    uint64_t bytes;
} lap_dropped;
typedef void lap_dropped_fn(void *user, const lap_dropped *dropped);

/* The output format that settings->format or an extension names, letters' case aside: "jpg" of "JPEG", "png",
 * ...; NULL: none that a file can have. Thread safe, as is the next one. */
LAP_API const char *lap_format_named(const char *name);
/* The input format of a file that begins with these bytes (16 are enough), as lap_info has it; NULL: none
 * that is read. */
LAP_API const char *lap_format_of_bytes(const void *bytes, size_t size);

/* The structure of an image file ("-": standard input), without decoding pixels. Errors: those of reading,
 * and what lapedge would refuse the file for. Strings stay valid. Thread safe. */
LAP_API lap_code lap_info_read(const char *path, lap_info *info, lap_error *err);

/* The same, and what of the file's metadata a run with these settings leaves out (strip, keep, format and
 * gray count): each piece alone is given to the callback. */
LAP_API lap_code lap_info_dropped(const char *path, const lap_settings *settings, lap_info *info,
    lap_dropped_fn *each, void *user, lap_error *err);

/* ---- files beside the outputs ---------------------------------------------------------------- */

/* For what a program writes besides its outputs (statistics, a log, a report): LAP_E_CLASH where path leads
 * to the same regular file as one of others, through links of any kind, or would be created under the same
 * name. Empty names and NULL are passed over; "-" stands for what standard input and output are redirected
 * to. */
LAP_API lap_code lap_side_check(const char *path, const char *const *others, size_t count, lap_error *err);
/* Writes a file complete or not at all, as an output is written: a file of that name is replaced at the end,
 * through a link its target; devices and pipes are written to. */
LAP_API lap_code lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err);

/* ---- comparison ------------------------------------------------------------------------------ */

typedef struct lap_pixels lap_pixels; /* a decoded image, with an apron that is not filled */

/* Decodes a whole image file ("-": standard input) under the limits of settings; settings->gray and
 * auto_orient apply. */
LAP_API lap_code lap_pixels_read(lap_context *context, const char *path, const lap_settings *settings,
    lap_pixels **pixels, lap_error *err);
/* The same from memory, which is not needed afterwards. */
LAP_API lap_code lap_pixels_decode(lap_context *context, const void *file, size_t size,
    const lap_settings *settings, lap_pixels **pixels, lap_error *err);
LAP_API const lap_view *lap_pixels_view(const lap_pixels *pixels);
/* How a JPEG was decoded: by whom, and by several threads or why not; else empty. */
LAP_API const char *lap_pixels_note(const lap_pixels *pixels);
LAP_API void lap_pixels_free(lap_pixels *pixels); /* NULL is fine */

/* b compared with a, over all samples (pixels times channels) that were compared. */
typedef struct lap_difference {
    bool identical;
    uint64_t samples, pixels;
    int max_abs;
    double mean_abs, rmse;
    double psnr;               /* dB against 255; NaN when identical */
    double ssim;               /* -1..1, 1 for identical images; NaN where it was not asked for, or for
                                  images smaller than its window of 11x11 */
    uint64_t differing_pixels; /* in any channel */
    uint64_t differing_border; /* of these, in the two pixels at the edges of the image */
    int first_x, first_y, first_channel, first_a, first_b; /* in raster order; x is -1 if identical */
    bool first_at_border;                                  /* it lies in the two pixels at the edges */
    uint64_t reserved[4];
} lap_difference;

/* Host views of the same size and channels (else LAP_E_DIFFERENT). mask_border leaves out that many
 * pixels at each side (LAP_E_DIFFERENT where nothing is left). with_ssim: the mean over all channels of the
 * index of Wang, Bovik, Sheikh and Simoncelli (2004), Gaussian window 11x11 with sigma 1.5, K1 0.01,
 * K2 0.03, windows inside the image only. */
LAP_API lap_code lap_compare_views(const lap_view *a, const lap_view *b, int mask_border, bool with_ssim,
    lap_difference *difference, lap_error *err);
/* Adds one more comparison to a sum, which begins all zero: counts add up, means are those of all samples,
 * and the first difference is that of the first comparison that has one. */
LAP_API void lap_difference_add(lap_difference *sum, const lap_difference *more);

/* A PNG of where and how much b differs from a, the largest of each pixel's channels: zero is dark gray,
 * 1 to `top` run from dark blue to yellow in steps that look equal. Pixels keep their places; strips at
 * the right and below collect what lies in their rows and columns, so that a single pixel is found, and
 * under them stands the scale. top 0: the largest difference there is. Views as in lap_compare_views;
 * LAP_E_BACKEND where PNG output was not built in. */
LAP_API lap_code lap_heatmap_write(
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
LAP_API lap_code lap_compare(lap_context *context, lap_op op, lap_pixels *pixels,
    const lap_compare_options *options, const lap_settings *settings, lap_compare_fn *each, void *user,
    lap_error *err);

/* ---- folders --------------------------------------------------------------------------------- */

/* Which files of folders a run takes; all zero: those named *.jpg *.jpeg *.jpe *.jfif in any case, and in
 * doubt (no extension) those that begin like a JPEG. Patterns are those of fnmatch(3), in any case of
 * letters, without "./" before them; one with a slash is about the path below the folder that was named, or
 * about that with the folder before it; else about the name alone. A slash at the end means folders. */
typedef struct lap_batch_take {
    const char *const *include; /* images of every kind that is read which match one of these */
    size_t include_count;
    const char *const *exclude; /* but no files and no folders that match one of these */
    size_t exclude_count;
    const char *extensions; /* "jpg,png": files with one of these, in any case; LAP_E_USAGE if one is of a
                               kind that is not read */
    bool follow;            /* symbolic links, to files and to folders */
    uint64_t reserved[4];
} lap_batch_take;

/* What was found in folders beside the inputs. */
enum { LAP_OTHER_KINDS = 32 };
typedef struct lap_batch_others {
    uint64_t files;   /* not taken, hidden ones not counted */
    uint64_t outputs; /* folders of outputs of earlier runs, which are walked only if named */
    size_t kind_count;
    struct {
        char extension[16]; /* small letters, cut; empty: none */
        uint64_t files;
    } kinds[LAP_OTHER_KINDS]; /* in the order in which they were found; of more kinds only files has a count
                               */
    uint64_t include_used, exclude_used; /* bit i: pattern i of the first 64 of take matched something */
    uint64_t reserved[2];
} lap_batch_others;

/* CUDA devices for a run, where one is used. */
typedef struct lap_batch_devices {
    const int *numbers;     /* NULL: that of the settings */
    int count;              /* of numbers; -1: all that there are */
    uint64_t memory;        /* bytes of photos under way on each, at most; 0: 3.4 GB */
    uint32_t share, shares; /* of these: each shares-th, from the share-th on (counted from 0), or one where
                               they are fewer; shares 0 or 1: all. See lap_shard_local */
    const char *trace;      /* a file for the timeline of reading, devices and writing, which chrome://tracing
                               and Perfetto show; also without devices. NULL: none */
    uint64_t reserved[3];
} lap_batch_devices;

#define LAP_BATCH_DEVICES 64

typedef struct lap_batch_device {
    int device;
    bool is_ready, is_lost; /* neither: it starts */
    int under_way;          /* photos on it now */
    uint64_t done;          /* photos that it decoded, filtered and encoded */
    uint64_t reserved[2];
} lap_batch_device;

/* Who does the work of a run over many files, and how much. */
typedef struct lap_batch_work {
    char how[200];    /* the CPU alone, or which devices, and why */
    lap_times busy;   /* of all files so far, as lap_report has it */
    int device_count; /* 0: the CPU alone */
    lap_batch_device device[LAP_BATCH_DEVICES];
    uint64_t jobs; /* files at once, at most */
    uint64_t reserved[7];
} lap_batch_work;

/* Outputs of earlier runs whose photo is gone: removed after a run. Only files that are ours by device,
 * inode, size, time and content, whose input lay in a folder of this run, is not there any more, and leaves
 * no other input for that output. None where a folder or file could not be examined, a folder of the inputs
 * is missing or holds no photo, or the run was stopped; refused is LAP_E_CHANGED where a folder of the inputs
 * and that of a record do not agree in absolute name and inode. With force the one is taken for the other
 * unless that one still stands, and options->warn is told. LAP_E_USAGE with shards, files_from, filters. */
typedef struct lap_batch_prune {
    /* Each output that was removed (with dry_run: would be), or, with problem, could not be; or NULL. */
    void (*each)(void *user, const char *output, const lap_error *problem);
    void *user;
    uint64_t removed, failed;
    uint64_t kept;     /* the folder of their photo is there and empty, as one that is not mounted is */
    lap_error refused; /* why none was looked for; LAP_OK: they were */
    uint64_t reserved[4];
} lap_batch_prune;

typedef struct lap_batch_options {
    const char *const *inputs; /* files, and folders whose content is mirrored under out_dir */
    size_t input_count;
    /* A file with one path per line ("-": standard input), or NULL. A large file is read several times, and
     * LAP_E_CHANGED if it does not stay as it is; a pipe of more than half of max_memory is LAP_E_LIMIT. */
    const char *files_from;
    bool nul_separated;       /* files_from: paths end in a NUL byte instead */
    const char *out_dir;      /* created if it is not there */
    int jobs;                 /* files at once; 0: one per thread of the context */
    bool fail_fast;           /* stop at the first failure */
    bool force;               /* replace outputs that are not ours too */
    bool dry_run;             /* say what would be done, write nothing */
    bool rebuild;             /* make outputs again that are up to date */
    const char *const *sides; /* files that the caller writes during the run, such as a log: LAP_E_CLASH
                                 before anything is touched if one is an input, the list or an output */
    size_t side_count;
    uint32_t shard, shards;     /* take share `shard` of `shards`; shards 0 or 1: everything */
    const lap_batch_take *take; /* or NULL */
    lap_batch_others *others;   /* the caller's, filled before work begins; or NULL */
    const char *suffix;         /* of the outputs' names, before the extension; or NULL */
    bool flat;                  /* outputs directly in out_dir, without the inputs' folders */
    bool skip_existing; /* what stands under an output's name is not looked at: skipped, as up to date */
    bool no_clobber;    /* nor replaced: skipped, as LAP_E_EXISTS */
    const lap_batch_devices *devices; /* or NULL: that of the settings */
    /* What did not stop the run: a device that was lost, a folder that was taken for another, records that
     * are not believed. On the thread that called lap_batch; or NULL. */
    void (*warn)(void *user, const lap_error *warning);
    lap_batch_work *work;   /* the caller's, brought up to date before each call of the callbacks; or NULL */
    lap_batch_prune *prune; /* or NULL: outputs stay; room for new fields is in it */
} lap_batch_options;

typedef struct lap_batch_counts {
    uint64_t found;        /* inputs seen so far, this shard's */
    uint64_t expected;     /* inputs in all, this shard's; known before work begins */
    uint64_t other_shards; /* inputs that belong to other shards */
    uint64_t links;        /* symbolic links in folders, to folders or named like photos, not followed */
    uint64_t ok, warned, skipped, failed;
    uint64_t waiting, waiting_pixels; /* finished, and not under their names before their group is synced */
    uint64_t kinds[LAP_CODES];        /* failed and skipped by kind; LAP_OK: skipped, up to date */
    uint64_t pixels, bytes_in, bytes_out; /* of ok and warned */
    double ms;                            /* wall time so far */
    uint64_t reserved[8];
} lap_batch_counts;

typedef struct lap_batch_file {
    const char *input, *output;
    const lap_report *report; /* status SKIPPED: error.code LAP_OK is up to date, LAP_E_EXISTS not ours */
} lap_batch_file;

/* Called on the thread that called lap_batch: with each finished input, and with file NULL about ten
 * times a second. Strings live until it returns. */
typedef void lap_batch_fn(void *user, const lap_batch_file *file, const lap_batch_counts *counts);

/* Runs over many files. Returns LAP_OK when the run came to its end (counts say with what success);
 * LAP_E_CANCELLED, LAP_E_DISK_FULL (stopped early), LAP_E_USAGE, LAP_E_MISSING (an operand),
 * LAP_E_WRITE (output folder). Finished outputs are listed in out_dir/.lapedge/ and skipped by the
 * next run with the same settings. */
LAP_API lap_code lap_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, lap_batch_fn *each, void *user, lap_batch_counts *counts, lap_error *err);

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
LAP_API lap_code lap_batch_in_place(lap_context *context, const lap_in_place *order,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err);

typedef struct lap_measured {
    const char *input;
    const lap_measurement *measurement; /* NULL where it failed */
    const lap_report *report;           /* status and error; without an output */
} lap_measured;

/* Called on the thread that called lap_measure_batch: with each input, in the order of the folders, and with
 * file NULL about ten times a second. What it points to lives until it returns. */
typedef void lap_measure_fn(void *user, const lap_measured *file, const lap_batch_counts *counts);

/* lap_measure_file over many files, several at once. Of options inputs, files_from, nul_separated, jobs,
 * fail_fast, take, others, devices (but for its trace), warn and work count. Returns LAP_OK when the run came
 * to its end (counts say with what success); LAP_E_CANCELLED, LAP_E_USAGE, LAP_E_BACKEND, LAP_E_MISSING (the
 * list), LAP_E_MEMORY. */
LAP_API lap_code lap_measure_batch(lap_context *context, const lap_batch_options *options,
    const lap_settings *settings, const lap_measure_options *measure, lap_measure_fn *each, void *user,
    lap_batch_counts *counts, lap_error *err);

typedef struct lap_pair { /* of files with the same path below two folders */
    const char *a, *b;    /* NULL: there is none in this folder */
    const char *relative;
    int width, height, channels;      /* of a; 0 where it could not be read */
    const lap_difference *difference; /* of both; NULL where one is missing, or they could not be compared */
    const lap_error *error;           /* why they could not be; else its code is LAP_OK */
    const char *note;                 /* lap_pixels_note of a; empty where there is none */
} lap_pair;

/* Called on the thread that called lap_compare_folders: with each pair, in the order of a and then what b
 * alone has, and with pair NULL about ten times a second. What it points to lives until it returns. */
typedef void lap_pair_fn(void *user, const lap_pair *pair, const lap_batch_counts *counts);

/* The images of two folders, compared in pairs as lap_pixels_read and lap_compare_views do, several at once.
 * Of options jobs, take and others (of both folders) count. counts: ok are those that were compared, or are
 * in one folder alone. LAP_OK when all pairs had their turn; LAP_E_CANCELLED, LAP_E_MISSING, LAP_E_USAGE (no
 * folder; settings), LAP_E_MEMORY. */
LAP_API lap_code lap_compare_folders(lap_context *context, const char *a, const char *b,
    const lap_batch_options *options, const lap_settings *settings, int mask_border, bool with_ssim,
    lap_pair_fn *each, void *user, lap_batch_counts *counts, lap_error *err);

/* Called for each input; problem (else NULL) says why it cannot be taken. Anything but LAP_OK ends it. */
typedef lap_code lap_inputs_fn(void *user, const char *path, const lap_error *problem, lap_error *err);
/* The files that lap_batch would take from these operands, in the order of the folders. */
LAP_API lap_code lap_inputs(
    const char *const *operands, size_t count, lap_inputs_fn *each, void *user, lap_error *err);

/* "I/N" (I from 0), or "auto": from Slurm, Open MPI, MPICH or a Kubernetes indexed job. */
LAP_API lap_code lap_shard_parse(const char *spec, uint32_t *shard, uint32_t *shards, lap_error *err);
/* Which of how many processes of a Slurm step or MPI job on this machine this one is; false, and 0 of 1,
 * where there is no such launcher, or it has given each its own devices (SLURM_GPUS_PER_TASK). */
LAP_API bool lap_shard_local(uint32_t *rank, uint32_t *size);

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
LAP_API lap_code lap_bench(lap_context *context, lap_op op, const lap_bench_options *options,
    lap_bench_fn *each, void *user, lap_error *err);

#ifdef __cplusplus
}
#endif
#endif
