/* A JPEG that is only turned, without loss: its coded blocks are moved, no pixel is computed. */
#ifndef LAP_LOSSLESS_H
#define LAP_LOSSLESS_H

#include "run/photo.h"

/* Of settings alone, before any file is opened: LAP_E_USAGE, and LAP_E_BACKEND where it is demanded and was
 * not built in. */
lap_code lap_lossless_check(const lap_settings *settings, lap_error *err);
/* Whether this file will be done so; where not, and it is not demanded, pixels will. Holds the file's bytes;
 * before the decoder is opened. LAP_E_UNSUPPORTED where it is demanded and cannot be. */
lap_code lap_lossless_plan(lap_photo *photo, lap_error *err);
/* After the decoder was opened. photo->lossless.done: the output is written; else pixels are to do it. The
 * data is judged as pixels would be. */
lap_code lap_lossless_run(lap_photo *photo, lap_error *err);

#endif
