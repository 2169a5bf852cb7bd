/* The tables of formats: which codec reads a file, which one writes a name. Thread safe. */
#ifndef LAP_FORMATS_H
#define LAP_FORMATS_H

#include "codec/codec.h"

/* Chooses the decoder by content and starts it: lap_decoder_start. LAP_E_NOT_IMAGE where no format fits. */
lap_code lap_decoder_open(
    lap_source *source, const lap_read_options *options, lap_decoder **decoder, lap_error *err);
/* Chooses the encoder by name and starts it: lap_encoder_start. LAP_E_USAGE for an unknown name. */
lap_code lap_encoder_open(lap_sink *sink, const char *format, const lap_write_options *options,
    lap_encoder **encoder, lap_error *err);

/* The format name for a path's extension in any case ("jpg" for x.JPEG), or NULL. */
const char *lap_format_of_path(const char *path);
/* The canonical name of a --format value, or NULL. */
const char *lap_format_find(const char *name);

#endif
