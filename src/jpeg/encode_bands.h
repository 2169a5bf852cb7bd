/* The encoders of our own that a picture's bands need: one for each band under way, kept for the next. Thread
 * safe. */
#ifndef LAP_ENCODE_BANDS_H
#define LAP_ENCODE_BANDS_H

#include "jpeg/encode_band.h"
#include "jpeg/ladders.h"

typedef struct lap_band_encoders lap_band_encoders;

/* *made stays NULL where the picture is none of ours: *why_not says so then. LAP_E_MEMORY. */
lap_code lap_band_encoders_open(const lap_coder *coder, const lap_encode_target *target,
    const lap_control *control, lap_band_encoders **made, const char **why_not, lap_error *err);
/* Those that were not given back, too; NULL is fine. */
void lap_band_encoders_close(lap_band_encoders *encoders);

typedef enum lap_band_kind {
    LAP_BAND_GOES_ON,  /* where the band before ended, whose encoder was given back */
    LAP_BAND_INTERVAL, /* behind a marker, but for the first */
    LAP_BAND_APART     /* to be joined: encode_join.h */
} lap_band_kind;

/* work->state: an encoder for this band, a lap_band_encoder. */
lap_code lap_band_encoders_take(
    lap_band_encoders *encoders, lap_band_kind kind, lap_band_work *work, lap_error *err);
void lap_band_encoders_give_back(lap_band_encoders *encoders, lap_band_work *work);

#endif
