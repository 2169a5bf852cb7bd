/* The encoders of our own that a picture's bands need: one for each band under way, kept for the next. Thread
 * safe. */
#ifndef LAP_ENCODE_BANDS_H
#define LAP_ENCODE_BANDS_H

#include "jpeg/encode_band.h"

typedef struct lap_band_encoders lap_band_encoders;

/* *made stays NULL where the picture is none of ours: *why_not says so then. LAP_E_MEMORY. */
lap_code lap_band_encoders_open(lap_encode_fn *run, const lap_encode_target *target,
    const lap_control *control, lap_band_encoders **made, const char **why_not, lap_error *err);
/* Those that were not given back, too; NULL is fine. */
void lap_band_encoders_close(lap_band_encoders *encoders);

/* work->state: an encoder for this band, a lap_band_encoder. is_interval: it begins an interval, behind a
 * marker but for the first; else it goes on where the band before ended, whose encoder was given back. */
lap_code lap_band_encoders_take(
    lap_band_encoders *encoders, bool is_interval, lap_band_work *work, lap_error *err);
void lap_band_encoders_give_back(lap_band_encoders *encoders, lap_band_work *work);

#endif
