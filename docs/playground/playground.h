/* The functions that playground.js calls by name. */
#ifndef LAP_PLAYGROUND_H
#define LAP_PLAYGROUND_H

#include "lapedge.h"

/* Of one sample: what is under the window, apron included, the coefficients, their products and the sum, all
 * as float32 in raster order; result: what the last run wrote. 77 floats, which JavaScript reads in this
 * order. */
typedef struct lap_play_window {
    float pixel[25], weight[25], product[25], sum, result;
} lap_play_window;

/* Backend i and its words from the ladder's table, from plain C upwards; NULL past the last. */
const char *lap_play_backend(int i);
const char *lap_play_what(int i);
/* What went wrong in the last call that failed, as one line. */
const char *lap_play_error(void);

/* Room for a photo, 4 bytes per pixel as a canvas has them; NULL: no memory. The photo before it is dropped.
 */
uint8_t *lap_play_photo(int width, int height);
void lap_play_take(void); /* the room's bytes become the photo, without their fourth */
void lap_play_give(void); /* the result goes into the room, opaque */

/* kernel: as --kernel has it; border, range: as lapedge.h numbers them. A lap_code; where it is not LAP_OK
 * the settings before stay. To be called after lap_play_take, since it fills what lies beyond the photo's
 * edges. */
int lap_play_set(const char *kernel, int border, int range);
int lap_play_tolerance(void);  /* lap_params_tolerance of these settings */
int lap_play_run(int backend); /* a lap_code */
/* NULL outside of the photo. Valid until the next call. */
const lap_play_window *lap_play_look(int x, int y, int channel);

#endif
