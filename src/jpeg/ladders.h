/* The ladders `encode`, whose rungs write a JPEG's entropy-coded data on the CPU, and `decode`. Each rung of
 * a ladder outputs the same bytes or pixels. The first is the reference, libjpeg-turbo; as a decoder, it
 * decides for every file whether it is valid. Thread safe. */
#ifndef LAP_LADDERS_H
#define LAP_LADDERS_H

#include "cpu_simd/jpeg/decode.h"
#include "cpu_simd/jpeg/encode.h"
#include "lapedge.h"

typedef struct lap_coder {
    const char *name, *what, *flags;
    lap_codec_place codec;           /* the setting that selects it */
    const char *(*available)(void);  /* returns NULL if the processor can run it, else the reason */
    lap_encode_fn *run;              /* encoders only; NULL: libjpeg-turbo, or not built */
    lap_encode_join_fn *join;        /* encoders with run only */
    const lap_decode_stages *stages; /* decoders only; NULL: libjpeg-turbo, or not built */
} lap_coder;

typedef struct lap_coders {
    const lap_coder *rows; /* slowest first, except `c`, which is written for readability */
    int count;
    const char *(*differs)(void); /* NULL, or why our output differs from the installed library's */
} lap_coders;

extern const lap_coders lap_encoders, lap_decoders;

/* Returns row i, or NULL past the last row. */
const lap_coder *lap_coders_row(const lap_coders *ladder, int i);
/* Returns NULL if the coder can run here and its output equals the installed library's; else the reason. */
const char *lap_coders_missing(const lap_coders *ladder, const lap_coder *coder);
/* Chooses the coder for a setting: AUTO, CPU and CUDA get the fastest one that can run here. If a coder that
 * was named cannot run, fails with LAP_E_BACKEND and the reason. */
lap_code lap_coders_choose(
    const lap_coders *ladder, lap_codec_place codec, const lap_coder **coder, lap_error *err);

#endif
