/* What a heat map is made of: colours, and the scale that explains them. */
#ifndef LAP_HEATMAP_H
#define LAP_HEATMAP_H

#include "base/image.h"

enum { LAP_RAMP_STEPS = 256, LAP_HEAT_INK = 232 /* gray of the scale's numbers */ };
typedef uint8_t lap_ramp[LAP_RAMP_STEPS][3]; /* sRGB */

extern const uint8_t lap_heat_zero[3];   /* no difference */
extern const uint8_t lap_heat_ground[3]; /* beside the map, and what does not count */

/* From dark blue over magenta to yellow: lightness only grows, and neighbours are equally far apart in
 * OKLab (Ottosson 2020). */
void lap_ramp_make(lap_ramp ramp);
/* The colour of a difference of 0..255 where top is the last of the scale; larger ones look like top. */
const uint8_t *lap_heat_color(const lap_ramp ramp, int level, int top);

/* A new image with the scale from 0 to top and its numbers, `unit` pixels a dot of a digit. */
lap_code lap_heat_scale(const lap_ramp ramp, int top, int unit, lap_image *image, lap_error *err);

#endif
