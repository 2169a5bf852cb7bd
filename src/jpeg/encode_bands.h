/* The bands of a picture by an encoder of our own: several at once, each a restart interval, or one after the
 * other. Thread safe in the former case. */
#ifndef LAP_ENCODE_BANDS_H
#define LAP_ENCODE_BANDS_H

#include "jpeg/encode_band.h"

typedef struct lap_band_encoders lap_band_encoders;

/* *made stays NULL where the picture is none of ours: *why_not says so then. LAP_E_MEMORY. */
lap_code lap_band_encoders_open(lap_encode_fn *run, const lap_encode_target *target,
    const lap_control *control, lap_band_encoders **made, const char **why_not, lap_error *err);
void lap_band_encoders_close(lap_band_encoders *encoders); /* NULL is fine */

/* A band as a restart interval: behind a marker, but for the first. */
lap_code lap_encode_interval(
    lap_band_encoders *encoders, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err);
/* The next band of the one interval that the picture has. */
lap_code lap_encode_next(
    lap_band_encoders *encoders, const lap_view *rows, bool is_last, lap_chunk *chunk, lap_error *err);

#endif
