/* A pool of our own encoders for the bands of a picture: each band borrows an encoder, and the next band can
 * use it when it is returned. Thread safe. */
#ifndef LAP_ENCODE_BANDS_H
#define LAP_ENCODE_BANDS_H

#include "jpeg/encode_band.h"
#include "jpeg/ladders.h"

typedef struct lap_band_encoders lap_band_encoders;

/* If our encoder does not support the picture, returns LAP_OK with *made NULL and the reason in *why_not.
 * LAP_E_MEMORY. */
lap_code lap_band_encoders_open(const lap_coder *coder, const lap_encode_target *target,
    const lap_control *control, lap_band_encoders **made, const char **why_not, lap_error *err);
/* Also frees encoders that were not returned. NULL is allowed. */
void lap_band_encoders_close(lap_band_encoders *encoders);

typedef enum lap_band_kind {
    LAP_BAND_GOES_ON,  /* continues the band before, whose encoder was returned */
    LAP_BAND_INTERVAL, /* a restart interval; writes the marker before it, if it is not the first */
    LAP_BAND_APART     /* encoded separately, to be joined later: encode_join.h */
} lap_band_kind;

/* Sets work->state to a lap_band_encoder for this band. LAP_E_MEMORY. */
lap_code lap_band_encoders_take(
    lap_band_encoders *encoders, lap_band_kind kind, lap_band_work *work, lap_error *err);
void lap_band_encoders_give_back(lap_band_encoders *encoders, lap_band_work *work);

#endif
