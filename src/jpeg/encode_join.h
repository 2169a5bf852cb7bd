/* Encodes the bands of a scan without restart markers in parallel. Each band is encoded as if it began at a
 * byte boundary, and without stuffing. Joining it to the band above shifts its bits and stuffs its bytes.
 * A band cannot know the DC values of the blocks before it. So its first unit is encoded only when the band
 * is joined, from a copy of the unit's pixels.
 *
 *     band          | unit 0 | unit 1 | unit 2 | ...         first row of MCUs
 *                     pixels   bits of units 1 .. and of all rows below
 *     joined        ... bits of the band above | unit 0, from its pixels | bits, shifted and stuffed
 */
#ifndef LAP_ENCODE_JOIN_H
#define LAP_ENCODE_JOIN_H

#include "jpeg/encode_band.h"

/* Begins a band: copies its first unit to the chunk, which must be empty. encoder must have been restarted;
 * rows holds at least the band's first row of MCUs. LAP_E_MEMORY. */
lap_code lap_band_apart_begin(
    lap_band_encoder *encoder, const lap_view *rows, lap_chunk *chunk, lap_error *err);
/* Ends a band after its last row: stores the encoder's state in the chunk. */
void lap_band_apart_end(const lap_band_encoder *encoder, lap_chunk *chunk);

/* Joins the next piece of the band `apart` and appends its bytes to `bytes`. Joining piece by piece needs
 * little memory, even for a long band. *at: 0 for the first piece; after the last one the size of the chunk.
 * encoder holds the state at the end of the piece above. LAP_E_MEMORY. */
lap_code lap_band_join(
    lap_band_encoder *encoder, const lap_chunk *apart, size_t *at, lap_chunk *bytes, lap_error *err);

#endif
