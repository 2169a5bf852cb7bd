/* The ladder `encode`: encoders of a JPEG's entropy-coded data on the CPU. Each rung outputs the same bytes.
 */
#ifndef LAP_ENCODE_LADDER_H
#define LAP_ENCODE_LADDER_H

#include "jpeg/ladders.h"

static inline const lap_coder *lap_encoder_row(int i)
{
    return lap_coders_row(&lap_encoders, i);
}

static inline lap_code lap_encoder_choose(lap_codec_place codec, const lap_coder **coder, lap_error *err)
{
    return lap_coders_choose(&lap_encoders, codec, coder, err);
}

#endif
