/* JPEG in: who decodes a file is decided when it is opened, for the whole file. */
#include "codec/codec.h"
#include "libjpeg/jpeg_scan.h"
#include "libjpeg/libjpeg.h"

static lap_code jpeg_open(lap_decoder *decoder, lap_error *err)
{
    decoder->ops = &lap_libjpeg_decoder;
    return decoder->ops->open(decoder, err);
}

const lap_decoder_ops lap_jpeg_decoder = {.name = "jpeg", .probe = lap_jpeg_probe, .open = jpeg_open};
