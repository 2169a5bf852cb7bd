/* Turns a JPEG without loss: moves its coded blocks, and computes no pixel. */
#ifndef LAP_LOSSLESS_H
#define LAP_LOSSLESS_H

#include "run/photo.h"

/* Checks the settings alone, before any file is opened. LAP_E_USAGE if they contradict a demanded lossless
 * turn. */
lap_code lap_lossless_check(const lap_settings *settings, lap_error *err);
/* Decides by settings and header whether this file is turned without loss; if not, its pixels are decoded and
 * re-encoded. Call it before the decoder is opened. LAP_E_UNSUPPORTED if the settings demand a lossless turn
 * and the file does not allow it. */
lap_code lap_lossless_plan(lap_photo *photo, lap_error *err);
/* Turns the photo and writes it. Call it after the decoder was opened. photo->lossless.done: the output is
 * written; else the caller decodes the pixels with the same decoder and re-encodes them. Nothing is written
 * before the whole input has been judged and turned. LAP_E_LIMIT if the coefficients take more than
 * plan->max_memory. */
lap_code lap_lossless_run(lap_photo *photo, lap_error *err);

#endif
