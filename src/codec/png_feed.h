/* Between libpng and a decoder: its state, feeding it from the source, leaving it on errors, and the
 * metadata. setjmp is called in one place, lap_png_guard. One thread at a time. */
#ifndef LAP_PNG_FEED_H
#define LAP_PNG_FEED_H

#include "codec/codec.h"
#include "codec/png_text.h"

#if LAP_HAVE_PNG

#include <png.h>

enum {
    LAP_PNG_MAX_CHUNK = 8 * 1000 * 1000, /* unpacked, of a chunk: profiles are smaller, bombs larger */
    LAP_PNG_OVERHEAD = 64 << 10          /* libpng's own at its start */
};

typedef struct lap_png_state {
    png_structp png;
    png_infop info;
    const uint8_t *at; /* in the piece that the source gave last */
    size_t left;
    bool ended;     /* the source has no more */
    bool no_memory; /* malloc failed inside libpng */
    /* our own look at the chunks that pass: bytes before the next head, and what there is of that */
    uint64_t chunk_left;
    uint8_t chunk_head[8];
    int chunk_head_bytes;
    bool is_large;   /* the last chunk is larger than any may be, which was noted */
    bool in_chunks;  /* libpng reads chunks other than pixels: its allocations have a limit */
    lap_error cause; /* why libpng was left */
    bool lost;       /* damage was let through: the rest is black */
    uint8_t *line;   /* a row of RGB, where gray is asked for */
    uint8_t *whole;  /* interlaced: all rows */
    size_t line_bytes;
    const lap_view *rows; /* what the guarded work is to fill */
    lap_segment *segments;
    uint8_t *metadata;   /* their bytes */
    lap_png_texts texts; /* of the chunks before the picture */
    bool has_exif;       /* before the picture */
} lap_png_state;

/* Makes decoder->state, ready to read. lap_png_destroy must be called even after a failure. */
lap_code lap_png_create(lap_decoder *decoder, lap_error *err);
void lap_png_destroy(lap_decoder *decoder);
/* Calls work, which may call libpng and leave; it must own nothing that would be lost. */
lap_code lap_png_guard(lap_decoder *decoder, void (*work)(lap_decoder *), lap_error *err);
/* Leaves the work: with state->cause where that is filled, else as damage with this message. */
_Noreturn void lap_png_leave(png_structp png, const char *message);
/* Counts a warning, and keeps the first. */
void lap_png_note(lap_decoder *decoder, const char *message);
/* For work: leaves it when the run was cancelled or its time is up. Cheap for most rows. */
void lap_png_look_at_clock(lap_decoder *decoder, int row);
/* For work, before the first chunk: text is read, within limits. */
void lap_png_want_text(lap_decoder *decoder);
/* Hands EXIF, the colour profile and text on as the segments of a JPEG. What is over the limits is left out
 * with a warning. */
lap_code lap_png_keep_metadata(lap_decoder *decoder, lap_error *err);

#endif

#endif
