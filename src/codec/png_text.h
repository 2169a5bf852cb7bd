/* Converts the text of a PNG (tEXt, zTXt, iTXt) to JPEG metadata segments: XMP, profiles stored as text,
 * comments. One thread at a time. */
#ifndef LAP_PNG_TEXT_H
#define LAP_PNG_TEXT_H

#include "codec/codec.h"

enum {
    LAP_PNG_MAX_TEXT = 4 * 1000 * 1000, /* limit for all unpacked text together, against bombs */
    LAP_PNG_MAX_TEXTS = 1000
};

typedef struct lap_png_piece {
    uint8_t marker; /* marker of the segment; 0: an unknown profile, only recorded */
    size_t at, size, keyword;
} lap_png_piece;

typedef struct lap_png_texts {
    lap_chunk bytes; /* bytes of all segments */
    lap_png_piece *pieces;
    size_t count, room;
    size_t refused; /* chunks that exceed the limits or cannot be read */
} lap_png_texts;

/* Converts and adds the data of a text chunk of this type. LAP_E_MEMORY. */
lap_code lap_png_text_take(
    lap_png_texts *texts, const char *type, const uint8_t *data, size_t size, lap_error *err);
void lap_png_texts_free(lap_png_texts *texts);

#endif
