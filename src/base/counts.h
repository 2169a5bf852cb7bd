/* Counts how often each value of each channel occurs in a photo, before and after the filter. */
#ifndef LAP_COUNTS_H
#define LAP_COUNTS_H

#include <stdint.h>

typedef struct lap_photo_counts {
    uint64_t source[4][256], result[4][256];
} lap_photo_counts;

static inline void lap_photo_counts_add(lap_photo_counts *to, const lap_photo_counts *from)
{
    for (int i = 0; i < 4 * 256; i++) {
        to->source[i / 256][i % 256] += from->source[i / 256][i % 256];
        to->result[i / 256][i % 256] += from->result[i / 256][i % 256];
    }
}

#endif
