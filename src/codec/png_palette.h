/* A PNG of at most 256 colours, written row by row: a third of what the same picture takes as RGB, and no
 * picture is held. */
#ifndef LAP_PNG_PALETTE_H
#define LAP_PNG_PALETTE_H

#include "io/sink.h"

typedef struct lap_png_palette {
    int width, height;
    const uint8_t (*colors)[3]; /* sRGB */
    int count;                  /* 1 to 256 */
    /* Fills row y with an index below count for each pixel. */
    void (*row)(void *user, int y, uint8_t *indices);
    void *user;
} lap_png_palette;

/* Writes the file to sink, which stays open. LAP_E_BACKEND where zlib was not built in; LAP_E_MEMORY, and
 * what lap_sink_write returns. */
lap_code lap_png_palette_write(lap_sink *sink, const lap_png_palette *picture, lap_error *err);

#endif
