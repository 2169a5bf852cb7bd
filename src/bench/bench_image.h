/* Pixels for benches: from a photo, cut and tiled, or synthetic. */
#ifndef LAP_BENCH_IMAGE_H
#define LAP_BENCH_IMAGE_H

#include "base/image.h"
#include "lapedge_program.h"

/* Creates an image of options' size and channels with an apron that is not filled yet. Without a photo: a
 * gradient with sensor noise from a fixed seed, the same on every machine. Without a size: the photo's, or
 * 4992x3744. A gray photo gives three equal channels; a fourth channel is 255. */
lap_code lap_bench_image(const lap_bench_options *options, lap_image *image, lap_error *err);

#endif
