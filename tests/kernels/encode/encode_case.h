/* Pictures, and the scans that libjpeg-turbo and our encoders make of them. */
#ifndef ENCODE_CASE_H
#define ENCODE_CASE_H

#include "base/image.h"
#include "codec/codec.h"
#include "coding/encode_plan.h"
#include "cpu_simd/jpeg/encode.h"

enum { CASE_SAMPLINGS = 6 };
typedef struct case_sampling {
    const char *name;
    int components, h, v; /* factors of luma; those of chroma are 1 */
} case_sampling;
extern const case_sampling case_samplings[CASE_SAMPLINGS];

/* Pixels of many kinds: see encode_case.c. */
enum { CASE_FILLS = 14 };
extern const char *const case_fills[CASE_FILLS];

typedef struct encode_case {
    int width, height, channels, sampling, quality, fill;
    int interval_rows; /* rows of MCUs of a restart interval; 0: no markers */
    uint64_t seed;
} encode_case;

void case_describe(const encode_case *c, char text[200]);
/* view: of the case's size. */
void case_fill(const encode_case *c, const lap_view *view);
lap_encode_target case_target(const encode_case *c);

/* Returns the whole file that libjpeg makes, malloc'ed; *scan receives the start of its entropy-coded
 * data, which ends before the last two bytes. */
uint8_t *case_reference(const encode_case *c, const lap_view *view, size_t *size, size_t *scan);
/* Makes the scan with one of our encoders, including the markers between intervals. False: out of
 * memory. */
bool case_encode(const encode_case *c, const lap_view *view, lap_encode_fn *run, lap_chunk *scan);

uint64_t case_random(uint64_t *state); /* splitmix64 */

#endif
