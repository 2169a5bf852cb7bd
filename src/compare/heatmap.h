/* The colours of a heat map, and its scale. */
#ifndef LAP_HEATMAP_H
#define LAP_HEATMAP_H

#include "base/image.h"

enum { LAP_RAMP_STEPS = 256, LAP_HEAT_INK = 232 /* gray of the scale's numbers */ };
typedef uint8_t lap_ramp[LAP_RAMP_STEPS][3]; /* sRGB */

extern const uint8_t lap_heat_zero[3];   /* no difference */
extern const uint8_t lap_heat_ground[3]; /* around the map, and for masked pixels */

/* A ramp from dark blue over magenta to yellow. Lightness increases throughout, and neighbours are equally
 * far apart in OKLab (Ottosson 2020). */
void lap_ramp_make(lap_ramp ramp);
/* The colour of a difference of 0..255; top is the last level of the scale, and larger differences get its
 * colour. */
const uint8_t *lap_heat_color(const lap_ramp ramp, int level, int top);

/* Creates an image of the scale from 0 to top, which is at most 255, with its numbers; each dot of a digit is
 * `unit` pixels wide and high. */
lap_code lap_heat_scale(const lap_ramp ramp, int top, int unit, lap_image *image, lap_error *err);

#endif
