/* The tables of formats: which codec reads a file, which one writes a name. Thread safe. */
#ifndef LAP_FORMATS_H
#define LAP_FORMATS_H

#include "codec/codec.h"

/* Chooses the decoder by content and starts it: lap_decoder_start. LAP_E_NOT_IMAGE where no format fits. */
lap_code lap_decoder_open(
    lap_source *source, const lap_read_options *options, lap_decoder **decoder, lap_error *err);
typedef enum lap_input { LAP_INPUT_EMPTY, LAP_INPUT_JPEG, LAP_INPUT_OTHER } lap_input;
/* By the first bytes, which are still to be read. */
lap_code lap_input_look(lap_source *source, lap_input *kind, lap_error *err);
/* Chooses the encoder by format and starts it: lap_encoder_start. LAP_E_USAGE for LAP_FORMAT_UNKNOWN. */
lap_code lap_encoder_open(lap_sink *sink, lap_format format, const lap_write_options *options,
    lap_encoder **encoder, lap_error *err);

/* By a path's extension, in any case: LAP_FORMAT_JPG for x.JPEG. LAP_FORMAT_UNKNOWN where it names none. */
lap_format lap_format_of_path(const char *path);
/* By the name that settings have, or LAP_FORMAT_UNKNOWN. */
lap_format lap_format_find(const char *name);

#endif
