/* Turns a JPEG without decoding its pixels: moves and mirrors its blocks of coefficients. */
#ifndef LAP_JPEG_TURN_H
#define LAP_JPEG_TURN_H

#include "codec/codec.h"
#include "libjpeg/jpeg_scan.h"

/* NULL if the blocks of this picture can be written again; else a reason that ends a sentence. */
const char *lap_jpeg_turn_obstacle(const lap_jpeg_scan *scan);
/* Blocks are mirrored in whole MCUs. A partial MCU at the right or lower edge has no place if the turn moves
 * that edge to the left or to the top. Cuts *width and *height of the stored picture to what can be turned;
 * returns false if nothing is left. *whole: nothing is cut. */
bool lap_jpeg_turn_trim(const lap_jpeg_scan *scan, lap_turn turn, int *width, int *height, bool *whole);
/* Bytes that decoding takes plus both arrays of coefficients; UINT64_MAX if that number does not fit. */
uint64_t lap_jpeg_turn_memory(const lap_header *header);

typedef struct lap_jpeg_turned lap_jpeg_turned;

typedef struct lap_jpeg_turning {
    lap_turn turn;
    int width, height; /* of the stored picture, what lap_jpeg_turn_trim left of it */
    bool progressive;  /* the output is to have several scans */
    const lap_control *control;
} lap_jpeg_turning;

/* Reads the whole JPEG into the decoder, as coefficients; judges its data as decoding does: warnings, scans,
 * left-over bytes, and a missing end. The decoder is one of a JPEG that delivered no rows yet. It still
 * delivers them afterwards, from these coefficients. */
lap_code lap_jpeg_turn_read(lap_decoder *decoder, lap_error *err);
/* Moves the coefficients of a decoder that lap_jpeg_turn_read has filled. LAP_E_UNSUPPORTED, with a message
 * that ends a sentence, if they cannot be written again without loss; LAP_E_MEMORY, LAP_E_CANCELLED,
 * LAP_E_TIMEOUT. The decoder must outlive *turned. */
lap_code lap_jpeg_turn_move(
    lap_decoder *decoder, const lap_jpeg_turning *turning, lap_jpeg_turned **turned, lap_error *err);
/* Writes the file, with the metadata and the density that options->from has; of options optimize counts too.
 * Once only. */
lap_code lap_jpeg_turn_write(
    lap_jpeg_turned *turned, const lap_write_options *options, lap_sink *sink, lap_error *err);
void lap_jpeg_turned_free(lap_jpeg_turned *turned); /* NULL is fine */

#endif
