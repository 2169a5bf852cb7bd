/* Whether a JPEG is turned without decoding its pixels: what lossless.c keeps of a photo. */
#ifndef LAP_LOSSLESS_WAY_H
#define LAP_LOSSLESS_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lap_lossless_way {
    bool is_taken;       /* so far */
    bool done;           /* the file was written so */
    const char *reason;  /* why not, where it was asked for; else NULL */
    char room[160];      /* that the reason may stand in */
    bool trims;          /* partial MCUs are left out: width and height are what stays */
    int width, height;   /* of the stored picture */
    uint64_t memory;     /* it takes, about */
    bool suspect;        /* too many scans, or one that is missing: judged before */
    const uint8_t *file; /* the input's bytes, held by the source */
    size_t file_size;
} lap_lossless_way;

#endif
