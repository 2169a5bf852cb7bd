/* Decodes PNG with libpng to 8 bits per sample, gray or RGB, at any depth of the file; palettes are resolved.
 * Transparency is dropped, not blended: the filter sees the stored colours, and a warning says so. Interlaced
 * files are decoded completely at the first row. An embedded profile, EXIF, XMP and text are passed on as
 * JPEG segments. */
#include "codec/codec.h"

#if LAP_HAVE_PNG

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/luma.h"
#include "base/status.h"
#include "codec/exif.h"
#include "codec/png_feed.h"

/* ---- header ------------------------------------------------------------------------------------ */

static bool png_probe(const uint8_t *head, size_t size)
{
    return size >= 8 && png_sig_cmp(head, 0, 8) == 0;
}

static void header_work(lap_decoder *decoder)
{
    lap_png_state *state = decoder->state;
    png_set_user_limits(state->png, INT_MAX, INT_MAX); /* our own limits follow */
    png_set_chunk_malloc_max(state->png, LAP_PNG_MAX_CHUNK);
    lap_png_want_text(decoder);
#ifdef PNG_SKIP_sRGB_CHECK_PROFILE
    png_set_option(
        state->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON); /* profiles are copied, not checked */
#endif
    state->in_chunks = true;
    png_read_info(state->png, state->info);
}

static void start_work(lap_decoder *decoder)
{
    lap_png_state *state = decoder->state;
    state->in_chunks = false; /* rows may be of any length */
    png_structp png = state->png;
    int type = png_get_color_type(png, state->info);
    if (png_get_bit_depth(png, state->info) == 16)
        png_set_scale_16(png);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    else if (type == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(png);
    if ((type & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, state->info, PNG_INFO_tRNS)) {
        png_set_strip_alpha(png);
        lap_png_drop(decoder, "transparency is dropped");
    }
    png_set_interlace_handling(png);
    png_read_update_info(png, state->info);
    if (png_get_rowbytes(png, state->info) != state->line_bytes) {
        lap_fail(&state->cause, LAP_E_INTERNAL, "rows of unexpected size");
        lap_png_leave(png, "row size");
    }
}

static lap_code fill_header(lap_decoder *decoder, lap_error *err)
{
    lap_png_state *state = decoder->state;
    lap_header *header = &decoder->header;
    int type = png_get_color_type(state->png, state->info);
    int stored = type == PNG_COLOR_TYPE_GRAY || type == PNG_COLOR_TYPE_GRAY_ALPHA ? 1 : 3;
    size_t whole = 0;
    header->format = "png";
    header->width = (int)png_get_image_width(state->png, state->info);
    header->height = (int)png_get_image_height(state->png, state->info);
    header->components = png_get_channels(state->png, state->info);
    header->channels = decoder->options.gray ? 1 : stored;
    header->orientation = 1;
    header->is_16_bit = png_get_bit_depth(state->png, state->info) == 16;
    header->whole = png_get_interlace_type(state->png, state->info) != PNG_INTERLACE_NONE;
    state->line_bytes = (size_t)header->width * (size_t)stored; /* 31 bits times 3 cannot overflow */
    if (!lap_mul(state->line_bytes, (size_t)header->height, &whole))
        return lap_fail(err, LAP_E_LIMIT, "%d x %d pixels are too many", header->width, header->height);
    /* libpng's memory: two rows of the file's depth, at most 8 bytes per pixel. */
    header->memory_estimate = (header->whole ? whole : 0) + state->line_bytes + (size_t)header->width * 16;
    return lap_decoder_limits(decoder, err);
}

static lap_code png_open(lap_decoder *decoder, lap_error *err)
{
    lap_code code = lap_png_create(decoder, err);
    lap_png_state *state = decoder->state;
    if (code == LAP_OK)
        code = lap_png_guard(decoder, header_work, err);
    if (code == LAP_OK)
        code = fill_header(decoder, err);
    if (code == LAP_OK)
        code = lap_png_keep_metadata(decoder, err);
    if (code == LAP_OK)
        code = lap_png_guard(decoder, start_work, err);
    if (code == LAP_OK &&
        state->line_bytes != (size_t)decoder->header.width * (size_t)decoder->header.channels) {
        state->line = malloc(state->line_bytes);
        if (!state->line)
            return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    return code;
}

/* ---- pixels ------------------------------------------------------------------------------------ */

static void whole_work(lap_decoder *decoder)
{
    lap_png_state *state = decoder->state;
    int passes = png_set_interlace_handling(state->png);
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < decoder->header.height; y++) {
            lap_png_look_at_clock(decoder, y);
            png_read_row(state->png, state->whole + (size_t)y * state->line_bytes, NULL);
        }
}

static void rows_work(lap_decoder *decoder)
{
    lap_png_state *state = decoder->state;
    const lap_view *rows = state->rows;
    for (int y = 0; y < rows->height; y++) {
        uint8_t *to = rows->base + y * rows->stride;
        lap_png_look_at_clock(decoder, y);
        png_read_row(state->png, state->line ? state->line : to, NULL);
        if (state->line)
            lap_luma_row(state->line, to, (size_t)rows->width);
    }
}

/* Decides whether damage is tolerated; if so, records it, and libpng is not called again. */
static lap_code let_through(lap_decoder *decoder, lap_code code, lap_error *err)
{
    lap_png_state *state = decoder->state;
    lap_damage *damage = &decoder->damage;
    if (code != LAP_E_TRUNCATED && code != LAP_E_DAMAGED)
        return code;
    if (decoder->options.fail_on != LAP_FAIL_NONE)
        return lap_error_remedy(err, code, LAP_REMEDY_FAIL_ON);
    state->lost = true;
    damage->truncated |= code == LAP_E_TRUNCATED;
    damage->damaged |= code == LAP_E_DAMAGED;
    lap_png_note(decoder,
        code == LAP_E_TRUNCATED ? "data ends early; the rest is black" : "damaged; the rest is black");
    if (err)
        *err = (lap_error){0};
    return LAP_OK;
}

static lap_code refuse_warnings(lap_decoder *decoder, lap_error *err)
{
    if (decoder->options.fail_on != LAP_FAIL_WARNING || decoder->damage.warnings == 0)
        return LAP_OK;
    const lap_png_state *state = decoder->state;
    const bool is_sound = decoder->damage.warnings == state->dropped;
    return lap_fail(err, is_sound ? LAP_E_UNSUPPORTED : LAP_E_DAMAGED, "%s", decoder->damage.first);
}

static void clear(const lap_view *rows)
{
    for (int y = 0; y < rows->height; y++)
        memset(rows->base + y * rows->stride, 0, (size_t)rows->width * (size_t)rows->channels);
}

static void from_whole(const lap_decoder *decoder, const lap_view *rows)
{
    const lap_png_state *state = decoder->state;
    for (int y = 0; y < rows->height; y++) {
        const uint8_t *from = state->whole + (size_t)(decoder->next_row + y) * state->line_bytes;
        if (state->line)
            lap_luma_row(from, rows->base + y * rows->stride, (size_t)rows->width);
        else
            memcpy(rows->base + y * rows->stride, from, state->line_bytes);
    }
}

static lap_code png_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err)
{
    lap_png_state *state = decoder->state;
    lap_code code = LAP_OK;
    if (decoder->header.whole) {
        if (!state->whole) {
            state->whole = calloc((size_t)decoder->header.height, state->line_bytes);
            if (!state->whole)
                return lap_fail(err, LAP_E_MEMORY, "out of memory");
            code = let_through(decoder, lap_png_guard(decoder, whole_work, err), err);
        }
        if (code == LAP_OK)
            from_whole(decoder, rows);
    } else {
        clear(rows); /* pixels that libpng does not reach stay black */
        state->rows = rows;
        if (!state->lost)
            code = let_through(decoder, lap_png_guard(decoder, rows_work, err), err);
    }
    return code == LAP_OK ? refuse_warnings(decoder, err) : code;
}

/* Whether EXIF data, given without its signature, has an orientation other than upright. */
static bool turns(const uint8_t *exif, size_t size)
{
    enum { HEAD = 6 };
    uint8_t *payload = malloc(HEAD + size);
    if (payload) {
        memcpy(payload, "Exif\0", HEAD); /* the literal's final zero is the second one */
        memcpy(payload + HEAD, exif, size);
    }
    const bool turned = payload && lap_exif_orientation(payload, HEAD + size) != 1;
    free(payload);
    return turned;
}

static void finish_work(lap_decoder *decoder)
{
    lap_png_state *state = decoder->state;
    state->in_chunks = true;
    png_read_end(state->png, state->info);
    png_bytep exif;
    png_uint_32 size;
    if (!state->has_exif && png_get_eXIf_1(state->png, state->info, &size, &exif))
        lap_png_drop(decoder, turns(exif, size)
                                  ? "EXIF after the picture is left out, and its orientation is not applied"
                                  : "EXIF after the picture is left out");
}

static lap_code png_finish(lap_decoder *decoder, lap_error *err)
{
    lap_png_state *state = decoder->state;
    lap_code code = LAP_OK;
    if (!state->lost)
        code = let_through(decoder, lap_png_guard(decoder, finish_work, err), err);
    return code == LAP_OK ? refuse_warnings(decoder, err) : code;
}

const lap_decoder_ops lap_png_decoder = {
    .name = "png",
    .probe = png_probe,
    .open = png_open,
    .rows = png_rows,
    .finish = png_finish,
    .close = lap_png_destroy,
};

#else

#include <string.h>

#include "base/status.h"

static bool png_probe(const uint8_t *head, size_t size)
{
    return size >= 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static lap_code not_built(lap_decoder *decoder, lap_error *err)
{
    (void)decoder;
    return lap_fail(err, LAP_E_BACKEND, "a PNG, and PNG input was not built in (libpng was missing)");
}

static void nothing(lap_decoder *decoder)
{
    (void)decoder;
}

const lap_decoder_ops lap_png_decoder = {
    .name = "png", .probe = png_probe, .open = not_built, .close = nothing};

#endif
