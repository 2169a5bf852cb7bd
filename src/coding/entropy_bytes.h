/* Splits the entropy-coded bytes of a scan into pieces of a fixed number of bytes of the file. Pieces are not
 * stored: each is copied from the file when it is needed, without stuffing (FF00) and without restart
 * markers. A pair FF xx belongs to the piece that contains its FF. */
#ifndef LAP_ENTROPY_BYTES_H
#define LAP_ENTROPY_BYTES_H

#include "lapedge.h"

/* Copies in[0 .. size - 1] to `out` without the zero after each 0xFF. Stops before a marker, that is 0xFF
 * and a byte other than zero, and before a 0xFF that is the last byte. Returns the number of bytes written;
 * *taken receives the number of bytes read. `out` must have room for size + LAP_UNSTUFF_SLACK bytes and must
 * not overlap `in`. */
typedef size_t lap_unstuff_fn(const uint8_t *in, size_t size, uint8_t *out, size_t *taken);
enum { LAP_UNSTUFF_SLACK = 64 };
lap_unstuff_fn lap_unstuff; /* plain C; the rungs of the ladder `decode` have faster ones */

typedef struct lap_coded { /* from the first byte after SOS to the end of the file */
    const uint8_t *bytes;
    size_t size;
    size_t piece;  /* bytes a piece, >= 1 */
    bool restarts; /* restart markers are expected; if not, any marker ends the scan */
    lap_unstuff_fn *unstuff;
} lap_coded;

typedef struct lap_mark { /* a restart marker that was removed */
    uint32_t at;          /* the marker was before this byte of the stretch */
    uint8_t code;         /* 0xD0..0xD7 */
} lap_mark;

typedef struct lap_stretch { /* one piece and some bytes after it; may be refilled; zeros: empty */
    uint8_t *bytes;
    size_t room;
    uint32_t own, size; /* bytes of the piece, and of the whole stretch */
    lap_mark *marks;
    size_t mark_count, mark_room;
    bool ends;        /* the scan's data ends at `size` */
    uint8_t end_code; /* the marker that ends it; 0: a fill byte, or the end of the file */
} lap_stretch;

/* Fills the stretch with piece `index` and at least `more` bytes after it, or up to the end of the scan;
 * `slack` further bytes are readable. LAP_E_MEMORY. */
lap_code lap_stretch_fill(
    lap_stretch *stretch, const lap_coded *coded, size_t index, size_t more, size_t slack);
void lap_stretch_free(lap_stretch *stretch);

static inline size_t lap_coded_pieces(const lap_coded *coded)
{
    return coded->size / coded->piece + (coded->size % coded->piece != 0);
}

#endif
