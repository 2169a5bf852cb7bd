/* Decodes binary PNM: P5 and P6 with maxval 255. Skips comments in the header, and ignores data after the
 * image. Source: pgm(5), ppm(5). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/luma.h"
#include "base/status.h"
#include "codec/codec.h"

enum { MAX_HEADER = 64 * 1024 /* a longer header is an error */ };

typedef struct pnm_state {
    const uint8_t *at; /* position in the piece that the source returned last */
    size_t left;
    size_t header_bytes;
    uint8_t *line; /* a stored row that needs conversion */
    bool ended;
} pnm_state;

static bool pnm_probe(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7' &&
           (isspace(head[2]) || head[2] == '#');
}

/* Gets more input if no bytes are left; at the end of the input, `left` stays 0. */
static lap_code refill(lap_decoder *decoder, lap_error *err)
{
    pnm_state *state = decoder->state;
    return state->left ? LAP_OK : lap_source_next(decoder->source, &state->at, &state->left, err);
}

/* Reads the next byte of the header into *byte; -1: end of input. */
static lap_code next_byte(lap_decoder *decoder, int *byte, lap_error *err)
{
    pnm_state *state = decoder->state;
    *byte = -1;
    const lap_code code = refill(decoder, err);
    if (code != LAP_OK || state->left == 0)
        return code;
    if (++state->header_bytes > MAX_HEADER)
        return lap_fail(err, LAP_E_DAMAGED, "the PNM header is too long");
    *byte = *state->at++;
    state->left--;
    return LAP_OK;
}

/* Reads a positive decimal number of the header and the byte after it. Skips white space and comments before
 * it. */
static lap_code number(lap_decoder *decoder, int *value, lap_error *err)
{
    int byte = ' ';
    bool comment = false;
    while (isspace(byte) || comment || byte == '#') {
        comment = (comment || byte == '#') && byte != '\n' && byte != '\r';
        lap_code code = next_byte(decoder, &byte, err);
        if (code != LAP_OK)
            return code;
        if (byte < 0)
            return lap_fail(err, LAP_E_TRUNCATED, "the PNM header ends early");
    }
    *value = 0;
    while (byte >= '0' && byte <= '9') {
        if (*value > 99999999)
            return lap_fail(err, LAP_E_LIMIT, "a number in the PNM header is too large");
        *value = *value * 10 + (byte - '0');
        lap_code code = next_byte(decoder, &byte, err);
        if (code != LAP_OK)
            return code;
    }
    if (byte < 0)
        return lap_fail(err, LAP_E_TRUNCATED, "the PNM header ends early");
    if (*value == 0 || !isspace(byte))
        return lap_fail(err, LAP_E_DAMAGED, "the PNM header is invalid");
    return LAP_OK;
}

static lap_code read_header(lap_decoder *decoder, lap_error *err)
{
    lap_header *header = &decoder->header;
    int maxval = 0, kind = 0, byte;
    lap_code code = next_byte(decoder, &byte, err);
    if (code == LAP_OK)
        code = next_byte(decoder, &kind, err);
    if (code != LAP_OK)
        return code;
    if (kind != '5' && kind != '6')
        return lap_fail(err, LAP_E_UNSUPPORTED, "PNM of kind P%c; binary P5 and P6 are read", (char)kind);
    code = number(decoder, &header->width, err);
    if (code == LAP_OK)
        code = number(decoder, &header->height, err);
    if (code == LAP_OK)
        code = number(decoder, &maxval, err);
    if (code == LAP_OK && maxval != 255)
        return lap_fail(err, LAP_E_UNSUPPORTED, "PNM with maximum value %d; only 255 is read", maxval);
    header->components = kind == '5' ? 1 : 3;
    return code;
}

static lap_code pnm_open(lap_decoder *decoder, lap_error *err)
{
    lap_header *header = &decoder->header;
    pnm_state *state = calloc(1, sizeof *state);
    if (!state)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    decoder->state = state;
    lap_code code = read_header(decoder, err);
    if (code != LAP_OK)
        return code;
    header->format = "pnm";
    header->orientation = 1;
    header->channels = decoder->options.gray ? 1 : header->components;
    size_t line = (size_t)header->width * (size_t)header->components; /* both are small: no overflow */
    header->memory_estimate = header->channels == header->components ? 0 : line;
    code = lap_decoder_limits(decoder, err);
    if (code == LAP_OK && header->channels != header->components) {
        state->line = malloc(line);
        if (!state->line)
            return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    return code;
}

/* Copies size bytes of the image to `to`; *got is smaller only if the input ends. */
static lap_code take(lap_decoder *decoder, uint8_t *to, size_t size, size_t *got, lap_error *err)
{
    pnm_state *state = decoder->state;
    for (*got = 0; *got < size;) {
        const lap_code code = refill(decoder, err);
        if (code != LAP_OK || state->left == 0)
            return code;
        size_t n = size - *got < state->left ? size - *got : state->left;
        memcpy(to + *got, state->at, n);
        state->at += n;
        state->left -= n;
        *got += n;
    }
    return LAP_OK;
}

static lap_code note_truncation(lap_decoder *decoder, lap_error *err)
{
    pnm_state *state = decoder->state;
    if (decoder->options.fail_on != LAP_FAIL_NONE)
        return lap_error_remedy(err, lap_fail(err, LAP_E_TRUNCATED, "data ends early"), LAP_REMEDY_FAIL_ON);
    if (!state->ended) {
        state->ended = true;
        decoder->damage.truncated = true;
        if (decoder->damage.warnings++ == 0)
            snprintf(
                decoder->damage.first, sizeof decoder->damage.first, "data ends early; the rest is black");
    }
    return LAP_OK;
}

static lap_code pnm_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err)
{
    pnm_state *state = decoder->state;
    size_t line = (size_t)rows->width * (size_t)decoder->header.components;
    for (int y = 0; y < rows->height; y++) {
        uint8_t *to = rows->base + y * rows->stride, *stored = state->line ? state->line : to;
        size_t got = 0;
        lap_code code = lap_control_check(decoder->options.control, err);
        if (code == LAP_OK)
            code = take(decoder, stored, line, &got, err);
        if (code == LAP_OK && got < line) {
            memset(stored + got, 0, line - got);
            code = note_truncation(decoder, err);
        }
        if (code != LAP_OK)
            return code;
        if (state->line)
            lap_luma_row(stored, to, (size_t)rows->width);
    }
    return LAP_OK;
}

static lap_code pnm_finish(lap_decoder *decoder, lap_error *err)
{
    (void)decoder;
    (void)err;
    return LAP_OK;
}

static void pnm_close(lap_decoder *decoder)
{
    pnm_state *state = decoder->state;
    if (!state)
        return;
    free(state->line);
    free(state);
}

const lap_decoder_ops lap_pnm_decoder = {
    .name = "pnm",
    .probe = pnm_probe,
    .open = pnm_open,
    .rows = pnm_rows,
    .finish = pnm_finish,
    .close = pnm_close,
};
