#include "libjpeg/jpeg_floor.h"

#include <stdlib.h>

#include "base/status.h"
#include "libjpeg/jpeg_error.h"

enum { ROWS_A_CALL = 16, FIRST_CAPACITY = 64 << 10 };

struct lap_jpeg_floor {
    struct jpeg_decompress_struct in;
    struct jpeg_compress_struct out;
    lap_jpeg_error error;
    unsigned char *buffer, *written; /* reused; this image, maybe in a larger buffer */
    unsigned long capacity, size;
    /* arguments of the guarded work */
    const void *bytes;
    unsigned long byte_count;
    const lap_view *view;
    int quality, h[3], v[3];
};

static void on_warning(void *user, j_common_ptr cinfo, lap_jpeg_class class)
{
    lap_jpeg_floor *floor = user;
    char text[JMSG_LENGTH_MAX];
    if (class == LAP_JPEG_HARMLESS)
        return;
    lap_jpeg_text(cinfo, text);
    lap_fail(&floor->error.cause, LAP_E_DAMAGED, "%s", text);
    lap_jpeg_raise(&floor->error);
}

static void create_objects(void *argument)
{
    lap_jpeg_floor *floor = argument;
    jpeg_create_decompress(&floor->in);
    jpeg_create_compress(&floor->out);
}

lap_code lap_jpeg_floor_create(lap_jpeg_floor **made, lap_error *err)
{
    lap_jpeg_floor *floor = calloc(1, sizeof *floor);
    *made = floor;
    if (!floor)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for libjpeg");
    floor->in.err = floor->out.err = lap_jpeg_error_init(&floor->error);
    floor->error.warn = on_warning;
    floor->error.user = floor;
    for (int i = 0; i < 3; i++)
        floor->h[i] = floor->v[i] = i ? 1 : 2;
    floor->capacity = FIRST_CAPACITY; /* a buffer that libjpeg allocated would leak if encoding fails */
    floor->buffer = malloc(floor->capacity);
    if (!floor->buffer)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for libjpeg");
    lap_code code = lap_jpeg_guard(&floor->error, create_objects, floor);
    if (code != LAP_OK && err)
        *err = floor->error.cause;
    return code;
}

void lap_jpeg_floor_destroy(lap_jpeg_floor *floor)
{
    if (!floor)
        return;
    jpeg_destroy_decompress(&floor->in);
    jpeg_destroy_compress(&floor->out);
    free(floor->buffer);
    free(floor);
}

static lap_code work(lap_jpeg_floor *floor, void (*what)(void *), lap_error *err)
{
    lap_code code = lap_jpeg_guard(&floor->error, what, floor);
    if (code == LAP_OK)
        return LAP_OK;
    jpeg_abort_decompress(&floor->in);
    jpeg_abort_compress(&floor->out);
    if (err)
        *err = floor->error.cause;
    return code;
}

static void open_work(void *argument)
{
    lap_jpeg_floor *floor = argument;
    jpeg_mem_src(&floor->in, floor->bytes, floor->byte_count);
    jpeg_read_header(&floor->in, TRUE);
    floor->in.out_color_space = floor->in.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    for (int i = 0; i < 3 && i < floor->in.num_components; i++) {
        floor->h[i] = floor->in.comp_info[i].h_samp_factor;
        floor->v[i] = floor->in.comp_info[i].v_samp_factor;
    }
}

lap_code lap_jpeg_floor_open(
    lap_jpeg_floor *floor, const void *bytes, size_t size, int shape[3], lap_error *err)
{
    floor->bytes = bytes;
    floor->byte_count = size;
    lap_code code = work(floor, open_work, err);
    if (code != LAP_OK)
        return code;
    shape[0] = (int)floor->in.image_width;
    shape[1] = (int)floor->in.image_height;
    shape[2] = floor->in.num_components == 1 ? 1 : 3;
    return LAP_OK;
}

static void decode_work(void *argument)
{
    lap_jpeg_floor *floor = argument;
    const lap_view *view = floor->view;
    jpeg_start_decompress(&floor->in);
    while (floor->in.output_scanline < floor->in.output_height) {
        JSAMPROW lines[ROWS_A_CALL];
        JDIMENSION y = floor->in.output_scanline, n = 0;
        for (; n < ROWS_A_CALL && (int)(y + n) < view->height; n++)
            lines[n] = view->base + (ptrdiff_t)(y + n) * view->stride;
        jpeg_read_scanlines(&floor->in, lines, n);
    }
    jpeg_finish_decompress(&floor->in);
}

lap_code lap_jpeg_floor_decode(lap_jpeg_floor *floor, const lap_view *view, lap_error *err)
{
    floor->view = view;
    return work(floor, decode_work, err);
}

static void encode_work(void *argument)
{
    lap_jpeg_floor *floor = argument;
    const lap_view *view = floor->view;
    j_compress_ptr out = &floor->out;
    floor->written = floor->buffer;
    floor->size = floor->capacity;
    jpeg_mem_dest(out, &floor->written, &floor->size);
    out->image_width = (JDIMENSION)view->width;
    out->image_height = (JDIMENSION)view->height;
    out->input_components = view->channels;
    out->in_color_space = view->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(out);
    jpeg_set_quality(out, floor->quality, TRUE);
    for (int i = 0; i < out->num_components; i++) {
        out->comp_info[i].h_samp_factor = view->channels == 1 ? 1 : floor->h[i];
        out->comp_info[i].v_samp_factor = view->channels == 1 ? 1 : floor->v[i];
    }
    jpeg_start_compress(out, TRUE);
    while (out->next_scanline < out->image_height) {
        JSAMPROW lines[ROWS_A_CALL];
        JDIMENSION n = 0;
        for (; n < ROWS_A_CALL && (int)(out->next_scanline + n) < view->height; n++)
            lines[n] = view->base + (ptrdiff_t)(out->next_scanline + n) * view->stride;
        jpeg_write_scanlines(out, lines, n);
    }
    jpeg_finish_compress(out);
}

lap_code lap_jpeg_floor_encode(lap_jpeg_floor *floor, const lap_view *view, int quality,
    const unsigned char **bytes, size_t *size, lap_error *err)
{
    floor->view = view;
    floor->quality = quality;
    lap_code code = work(floor, encode_work, err);
    if (code != LAP_OK)
        return code;
    /* libjpeg does not free the buffer that it was given, even if it allocated a larger one. */
    if (floor->written != floor->buffer) {
        free(floor->buffer);
        floor->buffer = floor->written;
        floor->capacity = floor->size;
    }
    *bytes = floor->buffer;
    *size = floor->size;
    return LAP_OK;
}
