/* The ladder `decode`: decoders of JPEG on the CPU. Each rung outputs the same pixels. The first rung,
 * libjpeg-turbo, decides for every file whether it is valid. */
#ifndef LAP_DECODE_LADDER_H
#define LAP_DECODE_LADDER_H

#include "jpeg/ladders.h"

typedef lap_coder lap_decode_rung;

static inline const lap_decode_rung *lap_decode_row_at(int i)
{
    return lap_coders_row(&lap_decoders, i);
}

static inline const char *lap_decode_missing(const lap_decode_rung *rung)
{
    return lap_coders_missing(&lap_decoders, rung);
}

static inline lap_code lap_decode_choose(lap_codec_place codec, const lap_decode_rung **rung, lap_error *err)
{
    return lap_coders_choose(&lap_decoders, codec, rung, err);
}

#endif
