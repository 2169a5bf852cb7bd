/* Includes the operations of decode_dct.h, decode_pixels.h and decode_unstuff.h in the instruction set that
 * the including file is compiled for. */
#ifndef LAP_DECODE_WORDS_H
#define LAP_DECODE_WORDS_H

#if defined(__aarch64__)
#include "decode_vectors_neon.h"
#elif defined(__AVX512VBMI2__)
#include "decode_vectors_avx512vbmi2.h"
#elif defined(__AVX2__)
#include "decode_vectors_avx2.h"
#else
#error "compile with -mavx2 or -mavx512vbmi2"
#endif

#endif
