/* The ladder `encode`: who makes the entropy-coded data of a JPEG on the CPU. Each with the same bytes; the
 * first is the reference. Thread safe. */
#ifndef LAP_ENCODE_LADDER_H
#define LAP_ENCODE_LADDER_H

#include "cpu_simd/jpeg/encode.h"
#include "lapedge.h"

typedef struct lap_coder {
    const char *name, *what, *flags;
    lap_codec_place codec;          /* that names it */
    const char *(*available)(void); /* NULL when the processor can run it, else the reason */
    lap_encode_fn *run;             /* NULL: libjpeg-turbo, or not built */
} lap_coder;

/* Row i, or NULL past the end. */
const lap_coder *lap_encoder_row(int i);
/* NULL when its files are those of the library here, and it can run; else the reason. */
const char *lap_encoder_missing(const lap_coder *coder);
/* The one that settings ask for: AUTO, CPU and CUDA get the fastest that can run here. LAP_E_BACKEND with the
 * reason where a named one cannot. */
lap_code lap_encoder_choose(lap_codec_place codec, const lap_coder **coder, lap_error *err);

#endif
