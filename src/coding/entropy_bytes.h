/* The entropy-coded bytes of a scan in pieces of a fixed number of bytes of the file: each without its
 * stuffing (FF00) and with the restart markers taken out, made from the file's bytes whenever it is needed.
 * A pair FF xx belongs to the piece that FF lies in. */
#ifndef LAP_ENTROPY_BYTES_H
#define LAP_ENTROPY_BYTES_H

#include "lapedge.h"

typedef struct lap_coded { /* from behind SOS to the end of the file */
    const uint8_t *bytes;
    size_t size;
    size_t piece;  /* bytes a piece, >= 1 */
    bool restarts; /* RST markers are expected; else one ends the scan as any other marker does */
} lap_coded;

typedef struct lap_mark { /* a restart marker that was taken out */
    uint32_t at;          /* before this byte */
    uint8_t code;         /* 0xD0..0xD7 */
} lap_mark;

typedef struct lap_stretch { /* one piece and some bytes more; reused; zeroed is empty */
    uint8_t *bytes;
    size_t room;
    uint32_t own, size; /* bytes of the piece itself, and all */
    lap_mark *marks;
    size_t mark_count, mark_room;
    bool ends;        /* at `size` the data ends: */
    uint8_t end_code; /* by this marker; 0: by a fill byte or the end of the file */
} lap_stretch;

/* Piece `index` and at least `more` bytes behind it, if the scan has them; `slack` more are readable.
 * LAP_E_MEMORY. */
lap_code lap_stretch_fill(
    lap_stretch *stretch, const lap_coded *coded, size_t index, size_t more, size_t slack);
void lap_stretch_free(lap_stretch *stretch);

static inline size_t lap_coded_pieces(const lap_coded *coded)
{
    return coded->size / coded->piece + (coded->size % coded->piece != 0);
}

#endif
