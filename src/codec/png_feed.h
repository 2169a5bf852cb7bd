/* Connects libpng and a decoder: state, input from the source, error exits, and metadata. Only lap_png_guard
 * calls setjmp. One thread at a time. */
#ifndef LAP_PNG_FEED_H
#define LAP_PNG_FEED_H

#include "codec/codec.h"
#include "codec/png_text.h"

#if LAP_HAVE_PNG

#include <png.h>

enum {
    LAP_PNG_MAX_CHUNK = 8 * 1000 * 1000, /* limit for an unpacked chunk; profiles are smaller, bombs larger */
    LAP_PNG_OVERHEAD = 64 << 10          /* what libpng itself allocates at its start */
};

typedef struct lap_png_state {
    png_structp png;
    png_infop info;
    const uint8_t *at; /* position in the piece that the source returned last */
    size_t left;
    bool ended;     /* the source has no more data */
    bool no_memory; /* malloc failed inside libpng */
    /* state of our own parser of chunks: bytes before the next chunk header, and the part of that header read
     * so far */
    uint64_t chunk_left;
    uint8_t chunk_head[8];
    int chunk_head_bytes;
    bool is_large;   /* the last chunk exceeds the limit; a warning was recorded */
    bool in_chunks;  /* libpng reads chunks other than pixels, so its allocations are limited */
    lap_error cause; /* why the work in libpng was aborted */
    bool lost;       /* damage was tolerated; the remaining pixels are black */
    uint8_t *line;   /* a row of RGB, for conversion to gray */
    uint8_t *whole;  /* all rows of an interlaced image */
    size_t line_bytes;
    const lap_view *rows; /* rows that the guarded work fills */
    lap_segment *segments;
    uint8_t *metadata;   /* bytes of the metadata */
    lap_png_texts texts; /* texts of the chunks before the picture */
    lap_chunk late_exif; /* data of an eXIf chunk after the picture */
    bool has_exif;       /* EXIF is among the segments */
    int dropped;         /* warnings by lap_png_drop */
} lap_png_state;

/* Creates decoder->state. Call lap_png_destroy even after a failure. */
lap_code lap_png_create(lap_decoder *decoder, lap_error *err);
void lap_png_destroy(lap_decoder *decoder);
/* Calls work, which may call libpng and may be left by longjmp. So it must not own anything that would leak.
 */
lap_code lap_png_guard(lap_decoder *decoder, void (*work)(lap_decoder *), lap_error *err);
/* Aborts the work: fails with state->cause if it is set, else with this message as damage. */
_Noreturn void lap_png_leave(png_structp png, const char *message);
/* Counts a warning, and stores the first one. */
void lap_png_note(lap_decoder *decoder, const char *message);
/* The same for something that is dropped, although the file is not damaged. */
void lap_png_drop(lap_decoder *decoder, const char *message);
/* For work: aborts it if the run was cancelled or timed out. Looks at the clock only once in several rows. */
void lap_png_look_at_clock(lap_decoder *decoder, int row);
/* For work, before the first chunk: makes libpng read text, within limits. */
void lap_png_want_text(lap_decoder *decoder);
/* Converts EXIF, colour profile and text to JPEG segments. Drops what exceeds the limits, with a warning. */
lap_code lap_png_keep_metadata(lap_decoder *decoder, lap_error *err);

#endif

#endif
