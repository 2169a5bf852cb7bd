/* Rotates or mirrors a JPEG without decoding its pixels: moves, mirrors and transposes its blocks of
 * coefficients. */
#ifndef LAP_JPEG_TURN_H
#define LAP_JPEG_TURN_H

#include "codec/codec.h"
#include "libjpeg/jpeg_scan.h"

/* Returns NULL if the blocks of this picture can be written again; else a reason that can end a sentence. */
const char *lap_jpeg_turn_obstacle(const lap_jpeg_scan *scan);
/* Blocks are mirrored in whole MCUs. So a partial MCU at the right or lower edge is lost if that edge moves
 * to the left or to the top. Sets *width and *height to the size of the part of the stored picture that can
 * be kept; *whole: it is the whole picture. Returns false if nothing is left. */
bool lap_jpeg_turn_trim(const lap_jpeg_scan *scan, lap_turn turn, int *width, int *height, bool *whole);
/* Returns the bytes for decoding and for both arrays of coefficients; UINT64_MAX on overflow. */
uint64_t lap_jpeg_turn_memory(const lap_header *header);

typedef struct lap_jpeg_turned lap_jpeg_turned;

typedef struct lap_jpeg_turning {
    lap_turn turn;
    int width, height; /* of the stored picture, as set by lap_jpeg_turn_trim */
    bool progressive;  /* write a progressive file */
    const lap_control *control;
} lap_jpeg_turning;

/* Reads the coefficients of the whole JPEG into the decoder, and checks the data as decoding does: warnings,
 * scans, left-over bytes, and a missing end. The decoder must read a JPEG and have output no rows yet.
 * Afterwards it can output rows, from these coefficients. */
lap_code lap_jpeg_turn_read(lap_decoder *decoder, lap_error *err);
/* Moves the coefficients of a decoder that lap_jpeg_turn_read has filled. The decoder must outlive *turned.
 * LAP_E_UNSUPPORTED if they cannot be written again without loss, with a message that can end a sentence;
 * LAP_E_MEMORY, LAP_E_CANCELLED, LAP_E_TIMEOUT. */
lap_code lap_jpeg_turn_move(
    lap_decoder *decoder, const lap_jpeg_turning *turning, lap_jpeg_turned **turned, lap_error *err);
/* Writes the file with the metadata and the density of options->from. The only encoder setting that it uses
 * is `optimize`. May be called only once. */
lap_code lap_jpeg_turn_write(
    lap_jpeg_turned *turned, const lap_write_options *options, lap_sink *sink, lap_error *err);
void lap_jpeg_turned_free(lap_jpeg_turned *turned); /* NULL is allowed */

#endif
