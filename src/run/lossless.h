/* Rotates or mirrors a JPEG without loss: moves its coded blocks, and decodes no pixels. */
#ifndef LAP_LOSSLESS_H
#define LAP_LOSSLESS_H

#include "run/photo.h"

/* Checks the settings alone, before any file is opened. LAP_E_USAGE if they demand a lossless transform but
 * rule it out. */
lap_code lap_lossless_check(const lap_settings *settings, lap_error *err);
/* Decides by settings and header whether this file is transformed without loss; if not, its pixels are
 * decoded and re-encoded. Call it before the decoder is opened. LAP_E_UNSUPPORTED if the settings demand a
 * lossless transform and the file does not allow it. */
lap_code lap_lossless_plan(lap_photo *photo, lap_error *err);
/* Rotates or mirrors the photo and writes it. Call it after the decoder was opened. photo->lossless.done: the
 * output is written; else the caller decodes the pixels with the same decoder and re-encodes them. Nothing is
 * written before the whole input has been read, judged and transformed. LAP_E_LIMIT if the coefficients need
 * more than plan->max_memory. */
lap_code lap_lossless_run(lap_photo *photo, lap_error *err);

#endif
