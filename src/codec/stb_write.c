/* Encodes PNG, BMP and TGA with stb_image_write in its callback form: collects the whole image and encodes it
 * in finish. The library counts in int and asserts if memory runs out, so sizes are checked here. zlib
 * replaces its compressor, which is the only code that asserts. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/codec.h"
#include "codec/png_meta.h"

#if LAP_HAVE_STB

#if LAP_HAVE_PNG /* libpng includes zlib */
#include <zlib.h>

/* stb's hook: returns a zlib stream that free() releases, or NULL. Searches only for runs: edges are noise
 * and flat areas, in which a search for longer matches takes time and finds nothing. */
static unsigned char *deflate_all(unsigned char *data, int size, int *out_size, int level)
{
    z_stream z = {.next_in = data, .avail_in = (uInt)size};
    unsigned char *out = NULL;
    *out_size = 0;
    if (deflateInit2(&z, level, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, Z_RLE) != Z_OK)
        return NULL;
    uLong bound = deflateBound(&z, (uLong)size);
    if (bound <= INT_MAX)
        out = malloc(bound);
    if (out) {
        z.next_out = out;
        z.avail_out = (uInt)bound;
        if (deflate(&z, Z_FINISH) == Z_STREAM_END) {
            *out_size = (int)z.total_out;
        } else {
            free(out);
            out = NULL;
        }
    }
    deflateEnd(&z);
    return out;
}
#define STBIW_ZLIB_COMPRESS deflate_all
#endif

#ifndef __clang_analyzer__ /* ignore findings in third-party code */
#define STB_IMAGE_WRITE_IMPLEMENTATION
#endif
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
/* Only three of the functions are used. gcc reports the others at the end of the file, so push and pop would
 * not help. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image_write.h>

enum { BAND_ROWS = 128, MAX_SIDE = 65535 /* TGA stores sides in 16 bits */ };

typedef struct stb_state {
    uint8_t *pixels; /* the whole image, without padding between rows */
    size_t line;
    lap_chunk metadata; /* chunks that follow a PNG's first chunk */
} stb_state;

typedef struct stb_output { /* data for the callback, and its first error */
    lap_sink *sink;
    lap_error *err;
    lap_code code;
    const lap_chunk *after_head; /* metadata, until it is written */
} stb_output;

static void collect(void *context, void *bytes, int size)
{
    stb_output *output = context;
    if (output->code == LAP_OK && output->after_head->size > 0 && size >= LAP_PNG_HEAD) {
        static const lap_chunk none = {0};
        const lap_chunk *chunks = output->after_head;
        output->after_head = &none;
        output->code = lap_sink_write(output->sink, bytes, LAP_PNG_HEAD, output->err);
        if (output->code == LAP_OK)
            output->code = lap_sink_write(output->sink, chunks->data, chunks->size, output->err);
        bytes = (uint8_t *)bytes + LAP_PNG_HEAD;
        size -= LAP_PNG_HEAD;
    }
    if (output->code == LAP_OK && size > 0)
        output->code = lap_sink_write(output->sink, bytes, (size_t)size, output->err);
}

static lap_code stb_open(lap_encoder *encoder, lap_error *err)
{
    const lap_write_options *o = &encoder->options;
    if (!LAP_HAVE_PNG && encoder->format == LAP_FORMAT_PNG)
        return lap_fail(err, LAP_E_BACKEND, "PNG output was not built in (libpng and zlib were missing)");
    /* The largest number that stb computes in an int: padded rows of three or more samples plus a file
     * header; for PNG also zlib's limit for incompressible data. */
    size_t samples = o->channels < 3 ? 3 : (size_t)o->channels;
    size_t bytes = ((size_t)o->width * samples + 4) * (size_t)o->height;
    if (o->width > MAX_SIDE || o->height > MAX_SIDE || bytes > INT_MAX - INT_MAX / 1024)
        return lap_fail(err, LAP_E_UNSUPPORTED,
            "%d x %d pixels: .%s output has sides of at most %d and at most 2 GB of pixels; write a .ppm "
            "instead",
            o->width, o->height, lap_format_name(encoder->format), MAX_SIDE);
    stb_state *state = calloc(1, sizeof *state);
    encoder->state = state;
    if (state) {
        state->line = (size_t)o->width * (size_t)o->channels;
        state->pixels = malloc(state->line * (size_t)o->height);
    }
    if (!state || !state->pixels)
        return lap_fail(err, LAP_E_MEMORY, "out of memory: .%s output holds the whole image",
            lap_format_name(encoder->format));
    /* For PNG also counts the filtered rows, the compressed rows, and a copy of those with head and tail. */
    encoder->memory = state->line * (size_t)o->height * (encoder->format == LAP_FORMAT_PNG ? 4 : 1);
    encoder->band_rows = BAND_ROWS;
    encoder->parallel = true;
    return encoder->format == LAP_FORMAT_PNG ? lap_png_meta(o, &state->metadata, err) : LAP_OK;
}

static lap_code stb_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    stb_state *state = encoder->state;
    uint8_t *to = state->pixels + (size_t)index * BAND_ROWS * state->line;
    (void)chunk; /* the chunk stays empty */
    (void)err;
    for (int y = 0; y < rows->height; y++)
        memcpy(to + (size_t)y * state->line, rows->base + y * rows->stride, state->line);
    return LAP_OK;
}

static lap_code stb_append(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    (void)index;
    (void)chunk;
    return lap_control_check(encoder->options.control, err);
}

static lap_code stb_finish(lap_encoder *encoder, lap_error *err)
{
    const lap_write_options *o = &encoder->options;
    const stb_state *state = encoder->state;
    stb_output output = {encoder->sink, err, LAP_OK, &state->metadata};
    int done = 0;
    if (encoder->format == LAP_FORMAT_PNG)
        done = stbi_write_png_to_func(
            collect, &output, o->width, o->height, o->channels, state->pixels, (int)state->line);
    else if (encoder->format == LAP_FORMAT_BMP)
        done = stbi_write_bmp_to_func(collect, &output, o->width, o->height, o->channels, state->pixels);
    else
        done = stbi_write_tga_to_func(collect, &output, o->width, o->height, o->channels, state->pixels);
    if (output.code == LAP_OK && !done)
        return lap_fail(
            err, LAP_E_MEMORY, "out of memory while encoding a .%s", lap_format_name(encoder->format));
    return output.code;
}

static void stb_close(lap_encoder *encoder)
{
    stb_state *state = encoder->state;
    if (state) {
        free(state->pixels);
        lap_chunk_free(&state->metadata);
    }
    free(state);
}

const lap_encoder_ops lap_stb_encoder = {
    .formats = 1 << LAP_FORMAT_PNG | 1 << LAP_FORMAT_BMP | 1 << LAP_FORMAT_TGA,
    .open = stb_open,
    .band = stb_band,
    .append = stb_append,
    .finish = stb_finish,
    .close = stb_close,
};

#else

static lap_code not_built(lap_encoder *encoder, lap_error *err)
{
    return lap_fail(err, LAP_E_BACKEND,
        ".%s output was not built in: lapedge was compiled without stb_image_write",
        lap_format_name(encoder->format));
}

static void nothing(lap_encoder *encoder)
{
    (void)encoder;
}

const lap_encoder_ops lap_stb_encoder = {
    .formats = 1 << LAP_FORMAT_PNG | 1 << LAP_FORMAT_BMP | 1 << LAP_FORMAT_TGA,
    .open = not_built,
    .close = nothing};

#endif
