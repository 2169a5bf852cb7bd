/* The interface that all image formats implement. To decode: probe, open, read bands, close. To encode: open,
 * encode bands, append, finish, close. The header fields are set before pixels are decoded. */
#ifndef LAP_CODEC_H
#define LAP_CODEC_H

#include "base/control.h"
#include "base/pool.h"
#include "codec/meta_drops.h"
#include "io/sink.h"
#include "io/source.h"

/* ---- in -------------------------------------------------------------------------------------- */

typedef struct lap_segment { /* a metadata segment of a JPEG, unchanged */
    uint8_t marker;          /* 0xE1, 0xE2, 0xED, 0xFE, ... */
    const uint8_t *data;     /* after the length field; owned by the decoder */
    size_t size;             /* larger than a JPEG segment only if it came from a PNG */
    size_t keyword;          /* for text of a PNG: length of the keyword before ": " at the start of data */
} lap_segment;

typedef struct lap_header {
    const char *format;           /* "jpeg", "png", "pnm" */
    int width, height;            /* as stored, before any rotation */
    int channels;                 /* channels that rows() delivers: 1 or 3 */
    int components;               /* components in the file */
    int sample_h[4], sample_v[4]; /* JPEG sampling factors, per component; 0 for unused components */
    bool is_ycc;                  /* the first three components are Y, Cb and Cr */
    bool whole;                   /* decoder holds the whole image (several scans, interlaced) */
    bool is_16_bit;               /* 16-bit samples, delivered as 8 bits */
    bool arithmetic, progressive;
    int restart_interval;        /* in MCUs, 0: no restarts */
    int density_unit;            /* JFIF: 0 only a ratio, 1 per inch, 2 per centimetre */
    int density_x, density_y;    /* 0: unknown */
    int orientation;             /* EXIF, 1..8; 1 if it is missing or invalid */
    const lap_segment *segments; /* metadata to keep: APP1 EXIF and XMP, APP2 ICC, APP13, COM; 0: unknown */
    size_t segment_count;
    int late_texts; /* texts after a PNG's picture: too late to be kept; known after finish */
    bool late_xmp;
    size_t memory_estimate; /* maximum number of bytes that the decoder itself allocates */
} lap_header;

typedef struct lap_read_options {
    bool gray;                       /* deliver one channel: stored luma, or BT.601 of RGB */
    uint64_t max_pixels, max_memory; /* 0: no limit */
    int max_scans;
    lap_fail_on fail_on;        /* TRUNCATED: fail if data is missing or wrong; WARNING: or unusual */
    const lap_control *control; /* NULL, or must outlive the decoder */
    /* for parallel decoding, see lap_decoder_open_at */
    lap_decode decode;
    lap_pool *pool;        /* the pool's idle threads may help; NULL: no pool */
    int threads;           /* maximum number of threads for this image; 0 counts as 1 */
    int worth_threads;     /* LAP_DECODE_AUTO decodes in parallel only from this number of threads on */
    bool in_order;         /* decode is SERIAL only because rows must be output in order: threads may help
                              with the work before the first row */
    size_t piece_bytes;    /* bytes of data to scan at once; 0: a default. Results never depend on it */
    lap_codec_place codec; /* for JPEG: the coder that decodes */
    int images;            /* images of the input's size that the run holds in addition to the decoder */
    /* A format sets this: hold the whole input in memory if that needs at most a quarter of max_memory, at
     * most what `images` and the bands leave of it, and at most 80 MB. */
    bool holds;
    bool plans; /* before the first row, the caller compares the decoder's memory plus its own with
                   max_memory, so that one message can name the sum */
    /* only tests set this */
    bool walk_scans; /* counts a scan's leftover data without libjpeg's help, as for an unknown library */
} lap_read_options;

typedef struct lap_damage { /* damage that was tolerated */
    int warnings; /* count of all warnings; harmless defects (stray bytes, no end marker) only add to it */
    bool truncated, damaged; /* pixels were lost because data was missing or wrong */
    char first[200];         /* the first message */
} lap_damage;

typedef struct lap_decoder lap_decoder;

/* Checks header and limits, and prepares for rows. run/formats.h chooses ops by the file's content. The
 * source must outlive the decoder. LAP_E_NOT_IMAGE, _UNSUPPORTED, _LIMIT, _TRUNCATED, _DAMAGED. */
struct lap_decoder_ops;
lap_code lap_decoder_start(const struct lap_decoder_ops *ops, lap_source *source,
    const lap_read_options *options, lap_decoder **decoder, lap_error *err);
const lap_header *lap_decoder_header(const lap_decoder *decoder);
/* Decodes the next rows->height rows into the interior of rows, whose width and channels match the header. If
 * data is missing or wrong, fails with LAP_E_TRUNCATED or LAP_E_DAMAGED as fail_on demands; otherwise the
 * library fills in the pixels, and damage records it. */
lap_code lap_decoder_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err);
/* Call after the last row: reads to the end of the image, to find damage there. */
lap_code lap_decoder_finish(lap_decoder *decoder, lap_damage *damage, lap_error *err);
/* Call before the first row, and before memory is allocated for it: reduces the decoder's memory as far as
 * possible. why is used in messages. False: it is already reduced. */
bool lap_decoder_spare(lap_decoder *decoder, const char *why);
void lap_decoder_close(lap_decoder *decoder); /* may be called at any time; does nothing for NULL */

/* Decodes rows in several places at once. If lap_decoder_opens_at returns true, any number of decoders can be
 * opened that deliver only rows y0 .. y1 - 1, with the same pixels as the whole decoder. Each belongs to one
 * thread. Close all of them before the whole decoder; call finish only for the whole one. */
bool lap_decoder_opens_at(const lap_decoder *decoder);
lap_code lap_decoder_open_at(lap_decoder *whole, int y0, int y1, lap_decoder **decoder, lap_error *err);
/* The caller's function that reads rows and uses them. If in_order is false, it opens decoders at rows,
 * closes them, and keeps only the rows of decoders that reached their last row. If in_order is true, it reads
 * all rows from the whole decoder, or opens one decoder at the first row that is still missing, which drops
 * the rows above it. Returns the error of a decoder that fails. */
typedef lap_code lap_decoder_work(void *user, bool in_order, lap_error *err);
/* Calls work. If a decoder opened at a row finds that the parallel method does not work for this image, calls
 * work again with in_order true; the decoder then starts from the first byte. If decoders cannot be opened at
 * rows, calls work only with in_order true. Call finish afterwards. */
lap_code lap_decoder_run(lap_decoder *whole, lap_decoder_work *work, void *user, lap_error *err);

/* Names the format of a file that lapedge cannot read, by its first bytes: "a WebP image"; NULL if
 * unknown. */
const char *lap_foreign_name(const uint8_t *head, size_t size);

/* The functions of a format; run/formats.c has a table of them. */
typedef struct lap_decoder_ops {
    const char *name;
    bool (*probe)(const uint8_t *head, size_t size);
    lap_code (*open)(lap_decoder *decoder, lap_error *err);
    lap_code (*rows)(lap_decoder *decoder, const lap_view *rows, lap_error *err);
    lap_code (*finish)(lap_decoder *decoder, lap_error *err);
    void (*close)(lap_decoder *decoder);
    void (*spare)(lap_decoder *decoder, const char *why); /* called with decoder->first set; or NULL */
    /* open, rows and close of decoders that begin at a row; NULL: not supported */
    const struct lap_decoder_ops *at;
} lap_decoder_ops;

struct lap_decoder { /* common part; `state` belongs to the format */
    const lap_decoder_ops *ops;
    lap_source *source;
    lap_read_options options;
    lap_header header;
    lap_damage damage;
    int next_row, end_row; /* first row that rows() has not delivered; last row + 1 */
    void *state;
    void *first;          /* object that decodes before `state` takes over; or NULL */
    const uint8_t *bytes; /* the whole input if it is held in memory; else NULL */
    size_t size;
    const char *coder;                 /* for JPEG: the coder that decodes; NULL for other formats */
    const char *coder_asked, *why_not; /* the coder that was requested, and why it does not decode; or NULL */
    int scans, longest,
        percent;        /* scans decoded in parallel: number (from 1) and share in % of the largest one */
    lap_decoder *whole; /* for a decoder opened at a row: the whole decoder; else NULL */

    enum { LAP_AT_FIRST_ROW, LAP_AT_ANY_ROW, LAP_AT_ROWS_IN_ORDER } opens; /* open() sets this */
    atomic_bool in_doubt; /* a decoder opened at a row reported that the method does not work */
    const char *how;      /* why rows can or cannot be opened; NULL: not worth a message */
    size_t held;          /* bytes of memory_estimate that only decoders opened at a row need */
    size_t at_memory;     /* bytes that each of them needs, without its share of the coded data */
};

/* Checks width * height against options->max_pixels, and memory_estimate against max_memory unless the caller
 * plans. */
lap_code lap_decoder_limits(const lap_decoder *decoder, lap_error *err);

/* ---- out ------------------------------------------------------------------------------------- */

typedef struct lap_chunk { /* encoded bytes of one band; the memory grows and is reused */
    uint8_t *data;
    size_t size, capacity;
    bool is_lent; /* data belongs to the caller of lap_chunk_lend */
} lap_chunk;
/* Lets an empty chunk begin in memory that outlives it; if that memory is too small, the chunk moves to the
 * heap. */
void lap_chunk_lend(lap_chunk *chunk, uint8_t *memory, size_t capacity);
/* Makes room for more bytes after size; if it must grow, the capacity at least doubles. */
lap_code lap_chunk_reserve(lap_chunk *chunk, size_t more, lap_error *err);
void lap_chunk_free(lap_chunk *chunk);

typedef struct lap_write_options {
    int width, height, channels; /* 1, 3 or 4 channels (alpha is dropped if the format has none) */
    int quality;
    lap_subsampling subsampling;
    lap_restart restart;
    bool strip;
    unsigned keep;              /* LAP_KEEP_... bits; 0: drop only thumbnails and maker's notes */
    bool progressive, optimize; /* for JPEG: the image is held until the end */
    lap_codec_place codec;      /* for JPEG: the coder that encodes */
    bool in_order;              /* bands arrive in order, so they need not be joined */
    const lap_header *from;     /* source of metadata and sampling, or NULL */
    bool oriented;              /* pixels were rotated upright, so the EXIF orientation is reset */
    bool as_stored;             /* components mean the same as in the input, so any profile fits */
    bool long_segments;         /* metadata may be larger than a JPEG segment */
    lap_fail_on fail_on;        /* WARNING: fail if metadata is lost that the user did not ask to drop */
    lap_meta_drops *drops;      /* records dropped metadata; or NULL */
    const lap_control *control;
} lap_write_options;

typedef enum lap_format { /* output formats */
    LAP_FORMAT_UNKNOWN,
    LAP_FORMAT_JPG,
    LAP_FORMAT_PNG,
    LAP_FORMAT_BMP,
    LAP_FORMAT_TGA,
    LAP_FORMAT_PPM,
    LAP_FORMAT_PGM,
    LAP_FORMAT_TSV,
    LAP_FORMAT_NOTHING /* the caller needs only the bands, no file; no path names this format */
} lap_format;
const char *lap_format_name(lap_format format); /* "jpg", ...: the extension */

typedef struct lap_encoder lap_encoder;

/* format must be one that ops writes; run/formats.h chooses ops by it. LAP_E_UNSUPPORTED: the format cannot
 * hold an image of this size. LAP_E_USAGE: it cannot hold these channels. LAP_E_BACKEND: it was not built in.
 * Nothing is written before the first append. */
struct lap_encoder_ops;
lap_code lap_encoder_start(const struct lap_encoder_ops *ops, lap_format format, lap_sink *sink,
    const lap_write_options *options, lap_encoder **encoder, lap_error *err);
/* Rows of every band but the last. They depend on format, width and sampling, never on threads. */
int lap_encoder_band_rows(const lap_encoder *encoder);
/* Whether bands may be encoded at the same time; otherwise they must be encoded in order. */
bool lap_encoder_is_parallel(const lap_encoder *encoder);
/* Encodes band number index: band_rows rows, or fewer in the last band. */
lap_code lap_encoder_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err);
/* A band whose rows arrive a few at a time, so that each is encoded while it is in the cache. Before the
 * first rows, all fields must be zero but index and chunk (with size 0). It belongs to one thread at a
 * time. */
typedef struct lap_band_work {
    int index, next_row; /* number of the band; its first row that has not arrived */
    lap_chunk *chunk;
    void *state; /* belongs to the format; after a failed band the encoder releases it */
} lap_band_work;
/* Returns the step for lap_encoder_rows; 0: this encoder accepts only whole bands. */
int lap_encoder_row_step(const lap_encoder *encoder);
/* Encodes the next rows of the band: a multiple of the step, unless they end the band. */
lap_code lap_encoder_rows(lap_encoder *encoder, lap_band_work *work, const lap_view *rows, lap_error *err);
/* Appends chunks in order of index, one at a time. */
lap_code lap_encoder_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err);
lap_code lap_encoder_finish(lap_encoder *encoder, lap_error *err);
void lap_encoder_close(lap_encoder *encoder); /* does nothing for NULL */

typedef struct lap_encoder_ops {
    unsigned formats;                                       /* bits 1 << lap_format */
    lap_code (*open)(lap_encoder *encoder, lap_error *err); /* sets band_rows and parallel */
    lap_code (*band)(lap_encoder *, int index, const lap_view *rows, lap_chunk *, lap_error *err);
    /* replaces band in encoders that set row_step; is_last: these rows end the band */
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
    int bands, appended;               /* bands in the image; bands appended so far */
    const char *coder;                 /* for JPEG: the coder that encodes; NULL for other formats */
    const char *coder_asked, *why_not; /* the coder that was requested, and why it does not encode; or NULL */
    size_t memory; /* if a whole image is held: bytes needed in addition to the chunks; else 0 */
    void *state;
};

/* Tables of the formats, defined in their files. */
extern const lap_decoder_ops lap_jpeg_decoder, lap_png_decoder, lap_pnm_decoder;
extern const lap_encoder_ops lap_jpeg_encoder, lap_stb_encoder, lap_pnm_encoder, lap_tsv_encoder,
    lap_null_encoder;

#endif
