/* Writes a PNG of at most 256 colours row by row, without holding the picture. Such a file is a third as
 * large as one with RGB pixels. */
#ifndef LAP_PNG_PALETTE_H
#define LAP_PNG_PALETTE_H

#include "io/sink.h"

typedef struct lap_png_palette {
    int width, height;
    const uint8_t (*colors)[3]; /* sRGB */
    int count;                  /* 1 to 256 colours */
    /* Fills row y with one index below count per pixel. */
    void (*row)(void *user, int y, uint8_t *indices);
    void *user;
    const char *software; /* at most 70 bytes: a text with the keyword "Software"; NULL: none */
} lap_png_palette;

/* Writes the file to sink, which stays open. LAP_E_BACKEND: zlib was not built in. LAP_E_MEMORY, and errors
 * of lap_sink_write. */
lap_code lap_png_palette_write(lap_sink *sink, const lap_png_palette *picture, lap_error *err);

#endif
