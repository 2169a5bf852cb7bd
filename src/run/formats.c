#include "run/formats.h"

#include <string.h>
#include <strings.h>

#include "base/status.h"
#include "lapedge_program.h"

/* ---- decoders ---------------------------------------------------------------------------------- */

/* Enough for the probe of every format. */
enum { PROBE_BYTES = 16 };

static const lap_decoder_ops *const decoders[] = {
    &lap_jpeg_decoder,
    &lap_png_decoder,
    &lap_pnm_decoder,
};

static const lap_decoder_ops *find_format(const uint8_t *head, size_t size)
{
    for (size_t i = 0; i < sizeof decoders / sizeof *decoders; i++)
        if (decoders[i]->probe(head, size))
            return decoders[i];
    return NULL;
}

const char *lap_format_of_bytes(const void *bytes, size_t size)
{
    const lap_decoder_ops *ops = find_format(bytes, size);
    return ops ? ops->name : NULL;
}

lap_code lap_decoder_open(
    lap_source *source, const lap_read_options *options, lap_decoder **decoder, lap_error *err)
{
    const char *name = lap_source_name(source);
    const uint8_t *head = NULL;
    size_t size = 0;
    *decoder = NULL;
    lap_source_watch(source, options->control);
    lap_code code = lap_source_peek(source, PROBE_BYTES, &head, &size, err);
    if (code != LAP_OK)
        return code;
    if (size == 0)
        return lap_fail_at(err, LAP_E_NOT_IMAGE, name, "the file is empty");
    const lap_decoder_ops *ops = find_format(head, size);
    const char *foreign = ops ? NULL : lap_foreign_name(head, size);
    if (foreign)
        return lap_fail_at(err, LAP_E_UNSUPPORTED, name, "%s; JPEG, PNG and binary PNM are read", foreign);
    if (!ops)
        return lap_fail_at(err, LAP_E_NOT_IMAGE, name, "not a JPEG, PNG or binary PNM image");
    return lap_decoder_start(ops, source, options, decoder, err);
}

lap_code lap_input_look(lap_source *source, lap_input *kind, lap_error *err)
{
    const uint8_t *head = NULL;
    size_t size = 0;
    const lap_code code = lap_source_peek(source, PROBE_BYTES, &head, &size, err);
    *kind = size == 0                            ? LAP_INPUT_EMPTY
            : lap_jpeg_decoder.probe(head, size) ? LAP_INPUT_JPEG
                                                 : LAP_INPUT_OTHER;
    return code;
}

/* ---- encoders ---------------------------------------------------------------------------------- */

static const lap_encoder_ops *const encoders[] = {
    &lap_jpeg_encoder,
    &lap_stb_encoder,
    &lap_pnm_encoder,
    &lap_tsv_encoder,
    &lap_null_encoder,
};
enum { ENCODERS = 5 };
_Static_assert(sizeof encoders == ENCODERS * sizeof(void *), "the loop sees every row");

/* Every format name that settings and extensions may use. */
static const struct {
    const char *name;
    lap_format format;
} names[] = {
    {"jpg", LAP_FORMAT_JPG},
    {"jpeg", LAP_FORMAT_JPG},
    {"jpe", LAP_FORMAT_JPG},
    {"jfif", LAP_FORMAT_JPG},
    {"png", LAP_FORMAT_PNG},
    {"bmp", LAP_FORMAT_BMP},
    {"tga", LAP_FORMAT_TGA},
    {"ppm", LAP_FORMAT_PPM},
    {"pgm", LAP_FORMAT_PGM},
    {"tsv", LAP_FORMAT_TSV},
    {"none", LAP_FORMAT_NOTHING},
};

lap_format lap_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(names[i].name, name) == 0)
            return names[i].format;
    return LAP_FORMAT_UNKNOWN;
}

const char *lap_format_named(const char *name)
{
    const lap_format format = name ? lap_format_find(name) : LAP_FORMAT_UNKNOWN;
    return format == LAP_FORMAT_UNKNOWN || format == LAP_FORMAT_NOTHING ? NULL : lap_format_name(format);
}

lap_format lap_format_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    /* ".jpg" is a whole name, not an extension. An extension "none" must not select LAP_FORMAT_NOTHING. */
    const lap_format format = dot && dot != base ? lap_format_find(dot + 1) : LAP_FORMAT_UNKNOWN;
    return format == LAP_FORMAT_NOTHING ? LAP_FORMAT_UNKNOWN : format;
}

lap_code lap_encoder_open(lap_sink *sink, lap_format format, const lap_write_options *options,
    lap_encoder **encoder, lap_error *err)
{
    *encoder = NULL;
    for (size_t i = 0; i < ENCODERS && format != LAP_FORMAT_UNKNOWN; i++)
        if (encoders[i]->formats & 1u << format)
            return lap_encoder_start(encoders[i], format, sink, options, encoder, err);
    return lap_fail(err, LAP_E_USAGE, "unknown output format");
}
