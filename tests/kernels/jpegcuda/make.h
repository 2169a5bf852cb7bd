/* Makes JPEGs with libjpeg: of the kinds that the CUDA decoder takes, and of some that it must refuse. */
#ifndef JPEGCUDA_MAKE_H
#define JPEGCUDA_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum make_sampling { GRAY, S444, S422, S420, S440, SAMPLINGS, S411 = SAMPLINGS } make_sampling;
/* Tables: the standard ones; made for the picture; mostly codes of 16 bits; lengths of all kinds. */
typedef enum make_tables { STANDARD, OPTIMISED, LONGEST, MIXED, TABLES } make_tables;
typedef enum make_content { PHOTO, NOISE, FLAT, STRIPES, CONTENTS } make_content;

typedef struct make_kind {
    int width, height;
    make_sampling sampling;
    int quality, restart; /* restart: MCUs */
    make_tables tables;
    make_content content;
    unsigned seed;
} make_kind;

typedef struct make_bytes {
    uint8_t *data;
    unsigned long size;
} make_bytes;

make_bytes make_jpeg(const make_kind *kind);
/* Every coefficient is set by `value` (block numbers count within a component, k in zigzag order), all
 * quantisers are `quant`. */
typedef int make_value_fn(int component, int block, int k, unsigned seed);
make_bytes make_from_values(const make_kind *kind, int quant, make_value_fn *value);
/* As NEVER of make_from_values, with tables of which only the shortest code, a single 0, is used: a
 * stream of zeros, in which each restart of the walk stays out of step. */
make_bytes make_out_of_step(int width, int height);
const char *make_sampling_name(make_sampling sampling);
const char *make_name(const make_kind *kind); /* of a static buffer */
unsigned make_random(unsigned *state);

#endif
