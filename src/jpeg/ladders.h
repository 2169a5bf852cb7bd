/* What the ladders `encode` and `decode` have in common: rows of coders, of which the first is libjpeg-turbo,
 * the reference. Thread safe. */
#ifndef LAP_LADDERS_H
#define LAP_LADDERS_H

#include "cpu_simd/jpeg/decode.h"
#include "cpu_simd/jpeg/encode.h"
#include "lapedge.h"

typedef struct lap_coder {
    const char *name, *what, *flags;
    lap_codec_place codec;           /* that names it */
    const char *(*available)(void);  /* NULL when the processor can run it, else the reason */
    lap_encode_fn *run;              /* of an encoder; NULL: libjpeg-turbo, or not built */
    lap_encode_join_fn *join;        /* of an encoder with run */
    const lap_decode_stages *stages; /* of a decoder, likewise */
} lap_coder;

typedef struct lap_coders {
    const lap_coder *rows; /* slower ones first, but for c, which is there to be read */
    int count;
    const char *(*differs)(void); /* why none of ours does what the library here does, or NULL */
} lap_coders;

extern const lap_coders lap_encoders, lap_decoders;

/* For `available`. */
static inline const char *lap_coder_always(void)
{
    return NULL;
}
/* Row i, or NULL past the end. */
const lap_coder *lap_coders_row(const lap_coders *ladder, int i);
/* NULL when it does what the library here does, and can run; else the reason. */
const char *lap_coders_missing(const lap_coders *ladder, const lap_coder *coder);
/* The one that settings ask for: AUTO, CPU and CUDA get the fastest that can run here. LAP_E_BACKEND with the
 * reason where a named one cannot. */
lap_code lap_coders_choose(
    const lap_coders *ladder, lap_codec_place codec, const lap_coder **coder, lap_error *err);

/* On other processors a row's files are not compiled; `missing` says so. */
#if defined(__x86_64__)
#define LAP_ON_X86(missing, ...) .available = missing, __VA_ARGS__
#else
#define LAP_ON_X86(missing, ...) .available = missing
#endif
#if defined(__aarch64__)
#define LAP_ON_ARM(missing, ...) .available = missing, __VA_ARGS__
#else
#define LAP_ON_ARM(missing, ...) .available = missing
#endif

#endif
