/* Whether a JPEG is turned without decoding its pixels: what lossless.c keeps of a photo. */
#ifndef LAP_LOSSLESS_WAY_H
#define LAP_LOSSLESS_WAY_H

#include <stdbool.h>

typedef struct lap_lossless_way {
    bool is_taken;      /* so far */
    bool done;          /* the file was written so */
    const char *reason; /* why pixels are coded anew instead; else NULL */
    char room[160];     /* that the reason may stand in */
    bool trims;         /* partial MCUs are left out: width and height are what stays */
    int width, height;  /* of the stored picture */
} lap_lossless_way;

#endif
