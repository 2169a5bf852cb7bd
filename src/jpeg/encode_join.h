/* Bands of a scan without markers, encoded side by side: each begins with a whole byte, is encoded without
 * the zeros behind 0xFF, and is joined to the band above it by shifting its bits. What it cannot know is the
 * DC of the blocks before it. So its first unit is left out, and encoded when the band is joined; a copy of
 * the unit's pixels waits until then.
 *
 *     band          | unit 0 | unit 1 | unit 2 | ...         first row of MCUs
 *                     pixels   bits of units 1 .. and of all rows below
 *     joined        ... bits of the band above | unit 0, from its pixels | bits, shifted, with zeros
 */
#ifndef LAP_ENCODE_JOIN_H
#define LAP_ENCODE_JOIN_H

#include "jpeg/encode_band.h"

/* An encoder that was restarted; rows: the first of the band, at least its first row of MCUs. Appends what
 * the other two need to the chunk, which is empty. LAP_E_MEMORY. */
lap_code lap_band_apart_begin(
    lap_band_encoder *encoder, const lap_view *rows, lap_chunk *chunk, lap_error *err);
/* After the band's last row. */
void lap_band_apart_end(const lap_band_encoder *encoder, lap_chunk *chunk);

/* encoder: of the joined scan, up to the band above. Appends a band's bytes to `bytes`. LAP_E_MEMORY. */
lap_code lap_band_join(lap_band_encoder *encoder, const lap_chunk *apart, lap_chunk *bytes, lap_error *err);

#endif
