/* The ladder `decode`: who makes pixels of a baseline JPEG on the CPU. Each with the same pixels; the first
 * is the reference, and the judge of every file. Thread safe. */
#ifndef LAP_DECODE_LADDER_H
#define LAP_DECODE_LADDER_H

#include "cpu_simd/jpeg/decode.h"
#include "lapedge.h"

typedef struct lap_decode_rung {
    const char *name, *what;
    lap_codec_place codec;           /* that names it */
    const char *(*available)(void);  /* NULL when the processor can run it, else the reason */
    const lap_decode_stages *stages; /* NULL: libjpeg-turbo, or not built */
} lap_decode_rung;

/* Row i, or NULL past the end. */
const lap_decode_rung *lap_decode_row_at(int i);
/* NULL when its pixels are those of the library here, and it can run; else the reason. */
const char *lap_decode_missing(const lap_decode_rung *rung);
/* The one that settings ask for: AUTO, CPU and CUDA get the fastest that can run here. LAP_E_BACKEND with the
 * reason where a named one cannot. */
lap_code lap_decode_choose(lap_codec_place codec, const lap_decode_rung **rung, lap_error *err);

#endif
