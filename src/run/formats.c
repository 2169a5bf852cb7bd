#include "run/formats.h"

#include <string.h>
#include <strings.h>

#include "base/status.h"

/* ---- in ---------------------------------------------------------------------------------------- */

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
        return lap_fail_at(err, LAP_E_NOT_IMAGE, name, "is empty");
    const lap_decoder_ops *ops = find_format(head, size);
    const char *foreign = ops ? NULL : lap_foreign_name(head, size);
    if (foreign)
        return lap_fail_at(err, LAP_E_UNSUPPORTED, name, "%s; JPEG, PNG and binary PNM are read", foreign);
    if (!ops)
        return lap_fail_at(err, LAP_E_NOT_IMAGE, name, "not a JPEG, PNG or binary PNM image");
    return lap_decoder_start(ops, source, options, decoder, err);
}

/* ---- out --------------------------------------------------------------------------------------- */

static const lap_encoder_ops *const encoders[] = {
    &lap_jpeg_encoder,
    &lap_stb_encoder,
    &lap_pnm_encoder,
    &lap_tsv_encoder,
    &lap_null_encoder,
};
enum { ENCODERS = 5 };
_Static_assert(sizeof encoders == ENCODERS * sizeof(void *), "the loop sees every row");

/* Every name that is understood, and the one that stands for it. */
static const struct {
    const char *name, *format;
} names[] = {
    {"jpg", "jpg"},
    {"jpeg", "jpg"},
    {"jpe", "jpg"},
    {"jfif", "jpg"},
    {"png", "png"},
    {"bmp", "bmp"},
    {"tga", "tga"},
    {"ppm", "ppm"},
    {"pgm", "pgm"},
    {"tsv", "tsv"},
    {LAP_FORMAT_NONE, LAP_FORMAT_NONE},
};

const char *lap_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(names[i].name, name) == 0)
            return names[i].format;
    return NULL;
}

const char *lap_format_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    /* ".jpg" is a name, not an extension; and nothing is not to be had by a name. */
    return dot && dot != base && strcasecmp(dot + 1, LAP_FORMAT_NONE) != 0 ? lap_format_find(dot + 1) : NULL;
}

static const lap_encoder_ops *ops_of(const char *format)
{
    size_t length = strlen(format);
    for (size_t i = 0; i < ENCODERS; i++)
        for (const char *at = encoders[i]->formats; at; at = strchr(at, ',')) {
            at += *at == ',';
            if (strncmp(at, format, length) == 0 && (at[length] == ',' || at[length] == 0))
                return encoders[i];
        }
    return NULL;
}

lap_code lap_encoder_open(lap_sink *sink, const char *format, const lap_write_options *options,
    lap_encoder **encoder, lap_error *err)
{
    *encoder = NULL;
    const char *canonical = lap_format_find(format);
    const lap_encoder_ops *ops = canonical ? ops_of(canonical) : NULL;
    if (!ops)
        return lap_fail(err, LAP_E_USAGE, "unknown output format '%s'", format);
    return lap_encoder_start(ops, canonical, sink, options, encoder, err);
}
