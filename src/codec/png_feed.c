#include "codec/png_feed.h"

#if LAP_HAVE_PNG

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "codec/png_late.h"

enum {
    MAX_SEGMENT = 65533, /* largest data of a JPEG segment, without its length field */
    EXIF_HEAD = 6,
    ICC_HEAD = 14,
    MAX_ICC_PIECES = 255,
    ROWS_A_LOOK = 16 /* rows between two checks of the clock */
};

_Noreturn void lap_png_leave(png_structp png, const char *message)
{
    lap_decoder *decoder = png_get_error_ptr(png);
    lap_png_state *state = decoder->state;
    if (state->cause.code != LAP_OK)
        ; /* a callback has already set the cause */
    else if (state->no_memory)
        lap_fail(&state->cause, LAP_E_MEMORY, "out of memory");
    else if (state->ended)
        lap_fail(&state->cause, LAP_E_TRUNCATED, "data ends early");
    else
        lap_fail(&state->cause, LAP_E_DAMAGED, "%s", message);
    png_longjmp(png, 1);
}

void lap_png_note(lap_decoder *decoder, const char *message)
{
    if (decoder->damage.warnings++ == 0)
        snprintf(decoder->damage.first, sizeof decoder->damage.first, "%s", message);
}

void lap_png_drop(lap_decoder *decoder, const char *message)
{
    lap_png_state *state = decoder->state;
    state->dropped++;
    lap_png_note(decoder, message);
}

/* libpng before 1.6.48 warns about a chunk that check_chunk has already noted; newer versions still do for
 * some chunks. */
static bool is_about_size(const char *message)
{
    return strstr(message, "too large") || strstr(message, "exceeds memory limits");
}

static void warn(png_structp png, const char *message)
{
    lap_decoder *decoder = png_get_error_ptr(png);
    const lap_png_state *state = decoder->state;
    if (!state->is_large || !is_about_size(message))
        lap_png_note(decoder, message);
}

static void *allocate(png_structp png, size_t size)
{
    lap_decoder *decoder = png_get_mem_ptr(png);
    lap_png_state *state = decoder->state;
    uint64_t limit = decoder->options.max_memory;
    if (limit == 0 || limit > LAP_PNG_MAX_CHUNK)
        limit = LAP_PNG_MAX_CHUNK;
    /* libpng trusts the length that a chunk states. If an allocation failed here, it would lose its
     * position. */
    if (state->in_chunks && size > limit + LAP_PNG_OVERHEAD) {
        lap_fail_over_limit(&state->cause, "a chunk asks for", size, limit, LAP_REMEDY_NONE);
        lap_png_leave(png, "memory");
    }
    void *p = malloc(size);
    if (!p)
        state->no_memory = true;
    return p;
}

static void release(png_structp png, void *p)
{
    (void)png;
    free(p);
}

static void check_chunk(lap_decoder *decoder)
{
    lap_png_state *state = decoder->state;
    const uint32_t length = png_get_uint_32(state->chunk_head);
    const char *type = (const char *)state->chunk_head + 4;
    char text[64];
    state->chunk_left = (uint64_t)length + 4; /* data and checksum */
    state->is_large = length > LAP_PNG_MAX_CHUNK && memcmp(type, "IDAT", 4) != 0;
    if (!state->is_large)
        return;
    snprintf(text, sizeof text, "%.4s: chunk data is too large", type);
    lap_png_note(decoder, text);
}

/* Parses what libpng reads, because newer versions skip an unknown chunk of any size. */
static void follow_chunks(lap_decoder *decoder, const uint8_t *bytes, size_t size)
{
    lap_png_state *state = decoder->state;
    while (size > 0) {
        size_t n = size < state->chunk_left ? size : (size_t)state->chunk_left;
        state->chunk_left -= n;
        if (n == 0) {
            n = 1;
            state->chunk_head[state->chunk_head_bytes++] = *bytes;
            if (state->chunk_head_bytes == sizeof state->chunk_head) {
                state->chunk_head_bytes = 0;
                check_chunk(decoder);
            }
        }
        bytes += n;
        size -= n;
    }
}

static void fetch(png_structp png, uint8_t *to, size_t size)
{
    lap_decoder *decoder = png_get_io_ptr(png);
    lap_png_state *state = decoder->state;
    while (size > 0) {
        if (state->left == 0) {
            if (lap_source_next(decoder->source, &state->at, &state->left, &state->cause) != LAP_OK)
                lap_png_leave(png, "read error");
            if (state->left == 0) {
                state->ended = true;
                lap_png_leave(png, "end of input");
            }
        }
        size_t n = size < state->left ? size : state->left;
        memcpy(to, state->at, n);
        follow_chunks(decoder, to, n);
        state->at += n;
        state->left -= n;
        to += n;
        size -= n;
    }
}

lap_code lap_png_guard(lap_decoder *decoder, void (*work)(lap_decoder *), lap_error *err)
{
    lap_png_state *state = decoder->state;
    state->cause.code = LAP_OK;
    if (setjmp(png_jmpbuf(state->png)) == 0)
        work(decoder);
    if (state->cause.code == LAP_OK && state->no_memory) /* libpng then skips a chunk */
        lap_fail(&state->cause, LAP_E_MEMORY, "out of memory");
    if (state->cause.code == LAP_OK)
        return LAP_OK;
    return lap_error_set(err, &state->cause);
}

void lap_png_look_at_clock(lap_decoder *decoder, int row)
{
    lap_png_state *state = decoder->state;
    if (row % ROWS_A_LOOK == 0 && lap_control_check(decoder->options.control, &state->cause) != LAP_OK)
        lap_png_leave(state->png, "stopped");
}

lap_code lap_png_create(lap_decoder *decoder, lap_error *err)
{
    lap_png_state *state = calloc(1, sizeof *state);
    decoder->state = state;
    if (state)
        state->png = png_create_read_struct_2(
            PNG_LIBPNG_VER_STRING, decoder, lap_png_leave, warn, decoder, allocate, release);
    if (state && state->png)
        state->info = png_create_info_struct(state->png);
    if (state && !state->png && !state->no_memory)
        return lap_fail(err, LAP_E_BACKEND, "the loaded libpng is %.20s, but lapedge was built with %s",
            png_get_libpng_ver(NULL), PNG_LIBPNG_VER_STRING);
    if (!state || !state->info)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    state->chunk_left = 8; /* length of the signature */
    png_set_read_fn(state->png, decoder, fetch);
    return LAP_OK;
}

void lap_png_destroy(lap_decoder *decoder)
{
    lap_png_state *state = decoder->state;
    if (!state)
        return;
    if (state->png)
        png_destroy_read_struct(&state->png, &state->info, NULL);
    free(state->segments);
    free(state->metadata);
    lap_png_texts_free(&state->texts);
    lap_chunk_free(&state->late_exif);
    free(state->line);
    free(state->whole);
    free(state);
}

/* ---- metadata ------------------------------------------------------------------------------------ */

/* libpng calls this for each chunk that it does not read itself. The function owns no memory when it leaves
 * by longjmp. */
static int take_text(png_structp png, png_unknown_chunkp chunk)
{
    lap_decoder *decoder = png_get_user_chunk_ptr(png);
    lap_png_state *state = decoder->state;
    const char *type = (const char *)chunk->name;
    if (strcmp(type, "tEXt") != 0 && strcmp(type, "zTXt") != 0 && strcmp(type, "iTXt") != 0)
        return 1; /* ignore it */
    if (chunk->location & PNG_AFTER_IDAT) {
        const bool is_xmp = chunk->size >= 17 && memcmp(chunk->data, "XML:com.adobe.xmp", 17) == 0;
        /* ImageMagick ends its files with the times at which it wrote them. */
        const bool is_date = chunk->size >= 5 && memcmp(chunk->data, "date:", 5) == 0;
        decoder->header.late_texts += !is_xmp && !is_date;
        decoder->header.late_xmp |= is_xmp;
    } else if (lap_png_text_take(&state->texts, type, chunk->data, chunk->size, &state->cause) != LAP_OK) {
        return -1; /* libpng then leaves by lap_png_leave */
    }
    return 1;
}

void lap_png_want_text(lap_decoder *decoder)
{
    static const png_byte text[] = "tEXt\0zTXt\0iTXt",
                          unused[] = "sPLT\0hIST"; /* skipped, not read into memory */
    lap_png_state *state = decoder->state;
    png_set_read_user_chunk_fn(state->png, decoder, take_text);
    png_set_keep_unknown_chunks(state->png, PNG_HANDLE_CHUNK_ALWAYS, text, sizeof text / 5);
    png_set_keep_unknown_chunks(state->png, PNG_HANDLE_CHUNK_NEVER, unused, sizeof unused / 5);
}

typedef struct profile {
    png_bytep bytes;
    png_uint_32 size;
} profile;

static uint8_t *put_exif(lap_decoder *decoder, const profile *exif, uint8_t *to)
{
    lap_png_state *state = decoder->state;
    if (exif->size == 0)
        return to;
    memcpy(to, "Exif\0", EXIF_HEAD); /* the literal's final zero is the second one */
    memcpy(to + EXIF_HEAD, exif->bytes, exif->size);
    state->segments[decoder->header.segment_count++] =
        (lap_segment){.marker = 0xE1, .data = to, .size = EXIF_HEAD + exif->size};
    return to + EXIF_HEAD + exif->size;
}

static uint8_t *put_profile(lap_decoder *decoder, const profile *icc, size_t pieces, uint8_t *to)
{
    const size_t piece = MAX_SEGMENT - ICC_HEAD;
    lap_png_state *state = decoder->state;
    for (size_t i = 0; i < pieces; i++) {
        size_t size = i + 1 < pieces ? piece : icc->size - i * piece;
        memcpy(to, "ICC_PROFILE", 12);
        to[12] = (uint8_t)(i + 1);
        to[13] = (uint8_t)pieces;
        memcpy(to + ICC_HEAD, icc->bytes + i * piece, size);
        state->segments[decoder->header.segment_count++] =
            (lap_segment){.marker = 0xE2, .data = to, .size = ICC_HEAD + size};
        to += ICC_HEAD + size;
    }
    return to;
}

/* EXIF in text is used only if there is no eXIf chunk. */
static void put_texts(lap_decoder *decoder)
{
    lap_png_state *state = decoder->state;
    lap_header *header = &decoder->header;
    for (size_t i = 0; i < state->texts.count; i++) {
        const lap_png_piece *p = &state->texts.pieces[i];
        const uint8_t *data = state->texts.bytes.data + p->at;
        const bool is_exif = p->marker == 0xE1 && lap_exif_is(data, p->size);
        state->segments[header->segment_count++] =
            (lap_segment){.marker = is_exif && state->has_exif ? 0 : p->marker,
                .data = data,
                .size = p->size,
                .keyword = p->keyword};
        state->has_exif |= is_exif;
    }
}

/* Finds the EXIF before or after the picture. Sets size to 0 if the file has no EXIF, or too much of it. */
static lap_code find_exif(lap_decoder *decoder, profile *exif, lap_error *err)
{
    lap_png_state *state = decoder->state;
    lap_code code = LAP_OK;
    if (!png_get_eXIf_1(state->png, state->info, &exif->size, &exif->bytes)) {
        code = lap_png_late_exif(decoder->source, MAX_SEGMENT - EXIF_HEAD, &state->late_exif, err);
        *exif = (profile){state->late_exif.data, (png_uint_32)state->late_exif.size};
    }
    if (exif->size > MAX_SEGMENT - EXIF_HEAD) {
        lap_png_drop(decoder, "EXIF is too large and left out");
        exif->size = 0;
    }
    return code;
}

lap_code lap_png_keep_metadata(lap_decoder *decoder, lap_error *err)
{
    lap_png_state *state = decoder->state;
    lap_header *header = &decoder->header;
    profile exif = {.size = 0}, icc = {.size = 0};
    png_charp name;
    int method;
    const lap_code code = find_exif(decoder, &exif, err);
    if (code != LAP_OK)
        return code;
    if (!png_get_iCCP(state->png, state->info, &name, &method, &icc.bytes, &icc.size))
        icc.size = 0;
    if (state->texts.refused > 0)
        lap_png_note(decoder, "text is damaged or too large, and left out");
    const size_t piece = MAX_SEGMENT - ICC_HEAD;
    size_t pieces = (icc.size + piece - 1) / piece;
    if (pieces > MAX_ICC_PIECES)
        pieces = 0;
    if (exif.size == 0 && pieces == 0 && state->texts.count == 0)
        return LAP_OK;
    state->segments = calloc(1 + pieces + state->texts.count, sizeof *state->segments);
    state->metadata = malloc(EXIF_HEAD + exif.size + pieces * ICC_HEAD + icc.size);
    if (!state->segments || !state->metadata)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    state->has_exif = exif.size > 0;
    header->segments = state->segments;
    put_profile(decoder, &icc, pieces, put_exif(decoder, &exif, state->metadata));
    put_texts(decoder);
    for (size_t i = 0; i < header->segment_count; i++)
        if (header->segments[i].marker == 0xE1 &&
            lap_exif_is(header->segments[i].data, header->segments[i].size))
            header->orientation = lap_exif_orientation(header->segments[i].data, header->segments[i].size);
    return LAP_OK;
}

#endif
