/* Includes the operations of encode_samples.h and encode_dct.h in the instruction set that the including file
 * is compiled for: the type of vectors, and the colour conversion. */
#ifndef LAP_ENCODE_WORDS_H
#define LAP_ENCODE_WORDS_H

#if defined(__aarch64__)
#include "encode_colour_neon.h"
#elif defined(__AVX512VBMI2__)
#include "encode_colour_avx512vbmi2.h"
#elif defined(__AVX2__)
#include "encode_colour_avx2.h"
#else
#error "compile with -mavx2 or -mavx512vbmi2"
#endif

#endif
