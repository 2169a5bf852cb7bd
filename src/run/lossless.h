/* A JPEG that is only turned, without loss: its coded blocks are moved, no pixel is computed. */
#ifndef LAP_LOSSLESS_H
#define LAP_LOSSLESS_H

#include "run/photo.h"

/* Checks the settings alone, before any file is opened: LAP_E_USAGE. */
lap_code lap_lossless_check(const lap_settings *settings, lap_error *err);
/* Decides by settings and header whether this file is turned without loss; if not, pixels are coded anew.
 * Call it before the decoder is opened. LAP_E_UNSUPPORTED if the settings demand what the file cannot have.
 */
lap_code lap_lossless_plan(lap_photo *photo, lap_error *err);
/* Call it after the decoder was opened. photo->lossless.done: the output is written; else pixels are coded
 * anew, by the same decoder. Nothing is written before the whole input has been judged and turned.
 * LAP_E_LIMIT if the coefficients take more than plan->max_memory. */
lap_code lap_lossless_run(lap_photo *photo, lap_error *err);

#endif
