/* The one interface that image formats sit behind: probe, open, next band, close on the way in;
 * open, encode band, append, finish, close on the way out. Header facts come before pixels. */
#ifndef LAP_CODEC_H
#define LAP_CODEC_H

#include "base/control.h"
#include "base/pool.h"
#include "codec/meta_drops.h"
#include "io/sink.h"
#include "io/source.h"

/* ---- in -------------------------------------------------------------------------------------- */

typedef struct lap_segment { /* a metadata segment of a JPEG, as it stood in the file */
    uint8_t marker;          /* 0xE1, 0xE2, 0xED, 0xFE, ... */
    const uint8_t *data;     /* after the length field; owned by the decoder */
    size_t size;             /* more than a JPEG's segment holds only where a PNG had it */
    size_t keyword;          /* of a PNG's text: bytes of its keyword, which data begins with, before ": " */
} lap_segment;

typedef struct lap_header {
    const char *format;           /* "jpeg", "png", "pnm" */
    int width, height;            /* stored orientation */
    int channels;                 /* that rows() delivers: 1 or 3 */
    int components;               /* in the file */
    int sample_h[4], sample_v[4]; /* JPEG sampling factors, per component; 0 where there is none */
    bool is_ycc;                  /* the first three are Y, Cb and Cr */
    bool whole;                   /* decoder holds the whole image (several scans, interlaced) */
    bool is_16_bit;               /* samples of 16 bits, delivered as 8 */
    bool arithmetic, progressive;
    int restart_interval;        /* MCUs, 0: none */
    int density_unit;            /* JFIF: 0 only the ratio, 1 a inch, 2 a centimetre */
    int density_x, density_y;    /* 0: unknown */
    int orientation;             /* EXIF, 1..8; 1 where there is none or it is invalid */
    const lap_segment *segments; /* what may be kept: APP1 EXIF and XMP, APP2 ICC, APP13, COM; 0: unknown */
    size_t segment_count;
    int late_texts; /* of a PNG, behind its picture: too late to be kept; known after finish */
    bool late_xmp;
    size_t memory_estimate; /* bytes the decoder itself will take, at most */
} lap_header;

typedef struct lap_read_options {
    bool gray;                       /* one channel: stored luma, or BT.601 of RGB */
    uint64_t max_pixels, max_memory; /* 0: none */
    int max_scans;
    lap_fail_on fail_on;        /* truncated: refuses data that is missing or wrong; warning: oddities too */
    const lap_control *control; /* outlives the decoder; or NULL */
    /* decoding in several places at once, see lap_decoder_open_at */
    lap_decode decode;
    lap_pool *pool;     /* its idle threads may help; or NULL */
    int threads;        /* at most, on this image; 0 counts as 1 */
    int worth_threads;  /* with LAP_DECODE_AUTO: only from this number of threads on */
    bool in_order;      /* decode is SERIAL only because rows leave in order: threads may help with what comes
                         * before the first row */
    size_t piece_bytes; /* of the data looked through at once; 0: a good number. Results never depend on it */
    lap_codec_place codec; /* of JPEG: who decodes it */
    int images;            /* of the input's size that the run holds beside the decoder */
    /* Set by a format for itself: the whole input is held in memory where that takes a quarter of max_memory,
     * what `images` and the bands leave of it, and 80 MB, at most. */
    bool holds;
    /* tests set it */
    bool walk_scans; /* counts what a scan leaves over without libjpeg's help, as for a library not known */
} lap_read_options;

typedef struct lap_damage {  /* what was let through */
    int warnings;            /* all of them; an oddity (stray bytes, no end marker) is only counted */
    bool truncated, damaged; /* pixels were lost: data was missing, or wrong */
    char first[200];         /* first message */
} lap_damage;

typedef struct lap_decoder lap_decoder;

/* Checks header and limits, and gets ready for rows; run/formats.h chooses ops by content. The source must
 * outlive the decoder. Refusals: LAP_E_NOT_IMAGE, _UNSUPPORTED, _LIMIT, _TRUNCATED, _DAMAGED. */
struct lap_decoder_ops;
lap_code lap_decoder_start(const struct lap_decoder_ops *ops, lap_source *source,
    const lap_read_options *options, lap_decoder **decoder, lap_error *err);
const lap_header *lap_decoder_header(const lap_decoder *decoder);
/* The next rows->height rows into the interior of rows (width and channels as the header says).
 * LAP_E_TRUNCATED / LAP_E_DAMAGED as fail_on asks; else data that is missing is filled by the
 * library and noted in damage. */
lap_code lap_decoder_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err);
/* After the last row: reads to the end of the image, so that late damage is noticed. */
lap_code lap_decoder_finish(lap_decoder *decoder, lap_damage *damage, lap_error *err);
/* Before the first row, and before any memory is taken for it: from now on the decoder takes as little as it
 * can, WHY: for messages. False: it does so already. */
bool lap_decoder_spare(lap_decoder *decoder, const char *why);
void lap_decoder_close(lap_decoder *decoder); /* at any point; NULL is fine */

/* Rows in several places at once. Where lap_decoder_opens_at, a decoder of rows y0 .. y1 - 1 alone can be
 * had, as many times as one likes: lap_decoder_rows gives the pixels that the whole one would give. It
 * belongs to one thread, several may be open, and all are closed before the whole one, which alone is
 * finished. */
bool lap_decoder_opens_at(const lap_decoder *decoder);
lap_code lap_decoder_open_at(lap_decoder *whole, int y0, int y1, lap_decoder **decoder, lap_error *err);
/* Whether a decoder that was opened at a row has failed, with LAP_E_INTERNAL, because its way of decoding
 * does not do for this image; true once. Rows down to there are right if all decoders that they came from
 * have come to their last row; what came from others is void, and so is all below. None may be open. From now
 * on one decoder at a time can be opened, further and further down: it starts from the first byte, drops the
 * rows above its own, and judges the file as lap_decoder_rows does. */
bool lap_decoder_goes_on(lap_decoder *whole);

/* "a WebP image": what a file is that is not read, by its first bytes; NULL where that is not known. */
const char *lap_foreign_name(const uint8_t *head, size_t size);

/* What a format implements; rows of the table in run/formats.c. */
typedef struct lap_decoder_ops {
    const char *name;
    bool (*probe)(const uint8_t *head, size_t size);
    lap_code (*open)(lap_decoder *decoder, lap_error *err);
    lap_code (*rows)(lap_decoder *decoder, const lap_view *rows, lap_error *err);
    lap_code (*finish)(lap_decoder *decoder, lap_error *err);
    void (*close)(lap_decoder *decoder);
    void (*spare)(lap_decoder *decoder, const char *why); /* decoder->first is there; or NULL */
    /* open, rows and close of decoders that begin at a row; NULL where a format has none */
    const struct lap_decoder_ops *at;
} lap_decoder_ops;

struct lap_decoder { /* common part; `state` is the format's own */
    const lap_decoder_ops *ops;
    lap_source *source;
    lap_read_options options;
    lap_header header;
    lap_damage damage;
    int next_row, end_row; /* the first that rows() has not delivered; the last + 1 */
    void *state;
    void *first;          /* what decodes before `state` has to; or NULL */
    const uint8_t *bytes; /* the whole input, where it is held; else NULL */
    size_t size;
    const char *coder;                 /* of JPEG: the rung that decodes; NULL for other formats */
    const char *coder_asked, *why_not; /* the rung that was to, and why it does not; or NULL */
    int scans, longest,
        percent;        /* decoded side by side; the one with most bytes, from 1 on; what share it has */
    lap_decoder *whole; /* of one that was opened at a row; else NULL */

    enum { LAP_AT_FIRST_ROW, LAP_AT_ANY_ROW, LAP_AT_ROWS_IN_ORDER } opens; /* set by open() */
    atomic_bool in_doubt; /* a decoder that was opened at a row says that this way does not do */
    const char *how;      /* why it opens so; NULL: not worth a message */
    size_t held;          /* bytes of memory_estimate that only decoders opened at a row need */
    size_t at_memory;     /* bytes that one of them takes, apart from its share of the coded data */
};

/* width * height compared with options->max_pixels, and memory_estimate with max_memory. */
lap_code lap_decoder_limits(const lap_decoder *decoder, lap_error *err);

/* ---- out ------------------------------------------------------------------------------------- */

typedef struct lap_chunk { /* encoded bytes of one band; reused, grows */
    uint8_t *data;
    size_t size, capacity;
} lap_chunk;
/* Room for more bytes after size; capacity at least doubles when it grows. */
lap_code lap_chunk_reserve(lap_chunk *chunk, size_t more, lap_error *err);
void lap_chunk_free(lap_chunk *chunk);

typedef struct lap_write_options {
    int width, height, channels; /* 1, 3 or 4 (alpha is dropped where the format has none) */
    int quality;
    lap_subsampling subsampling;
    lap_restart restart;
    bool strip;
    unsigned keep;              /* LAP_KEEP_...; 0: all but thumbnails and maker's notes */
    bool progressive, optimize; /* of JPEG: held whole until the end */
    lap_codec_place codec;      /* of JPEG: who encodes it */
    bool in_order;              /* bands come one after the other: none has to be joined to another */
    const lap_header *from;     /* metadata and sampling of the input, or NULL */
    bool oriented;              /* pixels were turned: reset the EXIF tag */
    bool as_stored;             /* components and their meaning are those of the input: any profile fits */
    bool long_segments;         /* metadata may be larger than a JPEG's segment */
    lap_fail_on fail_on;        /* warning: metadata that is lost unasked is an error */
    lap_meta_drops *drops;      /* gets what of the metadata is left out; or NULL */
    const lap_control *control;
} lap_write_options;

typedef enum lap_format { /* of an output */
    LAP_FORMAT_UNKNOWN,
    LAP_FORMAT_JPG,
    LAP_FORMAT_PNG,
    LAP_FORMAT_BMP,
    LAP_FORMAT_TGA,
    LAP_FORMAT_PPM,
    LAP_FORMAT_PGM,
    LAP_FORMAT_TSV,
    LAP_FORMAT_NOTHING /* for those who want only the bands; no path names it */
} lap_format;
const char *lap_format_name(lap_format format); /* "jpg", ...: the extension */

typedef struct lap_encoder lap_encoder;

/* format: one that ops writes; run/formats.h chooses ops by it. LAP_E_UNSUPPORTED where it cannot hold an
 * image of this size, LAP_E_USAGE where it cannot hold these channels, LAP_E_BACKEND where it was not built
 * in. Nothing is written before the first append. */
struct lap_encoder_ops;
lap_code lap_encoder_start(const struct lap_encoder_ops *ops, lap_format format, lap_sink *sink,
    const lap_write_options *options, lap_encoder **encoder, lap_error *err);
/* Rows of every band but the last: fixed by format, width and sampling, never by threads. */
int lap_encoder_band_rows(const lap_encoder *encoder);
/* Whether encode() may run for several bands at once; else it must be called in order. */
bool lap_encoder_is_parallel(const lap_encoder *encoder);
/* Band number index (band_rows rows; the last may have fewer) to bytes. */
lap_code lap_encoder_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err);
/* A band whose rows come a few at a time, so that each is encoded while it is in the cache. Zeroed but for
 * index and chunk, whose size is 0, before the first rows; belongs to one thread at a time. */
typedef struct lap_band_work {
    int index, next_row; /* of the band: the first that has not come */
    lap_chunk *chunk;
    void *state; /* the format's own; what a failed band leaves is the encoder's to release */
} lap_band_work;
/* 0: this encoder takes whole bands alone. Else lap_encoder_rows may be called. */
int lap_encoder_row_step(const lap_encoder *encoder);
/* The next rows of the band: a multiple of the step, unless they are its last. */
lap_code lap_encoder_rows(lap_encoder *encoder, lap_band_work *work, const lap_view *rows, lap_error *err);
/* Chunks in order of index, one at a time. */
lap_code lap_encoder_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err);
lap_code lap_encoder_finish(lap_encoder *encoder, lap_error *err);
void lap_encoder_close(lap_encoder *encoder); /* NULL is fine */

typedef struct lap_encoder_ops {
    unsigned formats;                                       /* a bit 1 << lap_format for each */
    lap_code (*open)(lap_encoder *encoder, lap_error *err); /* sets band_rows and parallel */
    lap_code (*band)(lap_encoder *, int index, const lap_view *rows, lap_chunk *, lap_error *err);
    /* instead of band, by encoders that set row_step; is_last: the band ends with these */
    lap_code (*rows)(lap_encoder *, lap_band_work *, const lap_view *rows, bool is_last, lap_error *err);
    lap_code (*append)(lap_encoder *, int index, const lap_chunk *, lap_error *err);
    lap_code (*finish)(lap_encoder *, lap_error *err);
    void (*close)(lap_encoder *);
} lap_encoder_ops;

struct lap_encoder {
    const lap_encoder_ops *ops;
    lap_sink *sink;
    lap_format format;
    lap_write_options options;
    int band_rows, row_step;
    bool parallel;
    int bands, appended;               /* of the image; appended so far */
    const char *coder;                 /* of JPEG: the rung that encodes; NULL for other formats */
    const char *coder_asked, *why_not; /* the rung that was to, and why it does not; or NULL */
    size_t memory; /* bytes it will take beside the chunks, where it holds a whole image; else 0 */
    void *state;
};

/* Formats' tables, defined in their files. */
extern const lap_decoder_ops lap_jpeg_decoder, lap_png_decoder, lap_pnm_decoder;
extern const lap_encoder_ops lap_jpeg_encoder, lap_stb_encoder, lap_pnm_encoder, lap_tsv_encoder,
    lap_null_encoder;

#endif
