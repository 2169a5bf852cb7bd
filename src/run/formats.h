/* The tables of formats: which decoder reads a file, which encoder writes one. Thread safe. */
#ifndef LAP_FORMATS_H
#define LAP_FORMATS_H

#include "codec/codec.h"

/* Chooses the decoder by content and starts it with lap_decoder_start. LAP_E_NOT_IMAGE if no format fits. */
lap_code lap_decoder_open(
    lap_source *source, const lap_read_options *options, lap_decoder **decoder, lap_error *err);
typedef enum lap_input { LAP_INPUT_EMPTY, LAP_INPUT_JPEG, LAP_INPUT_OTHER } lap_input;
/* Tells the kind of input by its first bytes, without consuming them. */
lap_code lap_input_look(lap_source *source, lap_input *kind, lap_error *err);
/* Chooses the encoder by format and starts it with lap_encoder_start. LAP_E_USAGE for LAP_FORMAT_UNKNOWN. */
lap_code lap_encoder_open(lap_sink *sink, lap_format format, const lap_write_options *options,
    lap_encoder **encoder, lap_error *err);

/* The format that a path's extension names, in upper or lower case: LAP_FORMAT_JPG for x.JPEG.
 * LAP_FORMAT_UNKNOWN if it names no format. */
lap_format lap_format_of_path(const char *path);
/* The format with this name in settings; LAP_FORMAT_UNKNOWN if there is no such format. */
lap_format lap_format_find(const char *name);

#endif
