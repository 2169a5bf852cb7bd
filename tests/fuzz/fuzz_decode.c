/* Decoding any bytes, in bands, under small limits: every format recognised by content. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "run/formats.h"

enum { BAND = 24 };

static lap_code decode(lap_decoder *decoder)
{
    const lap_header *header = lap_decoder_header(decoder);
    size_t line = (size_t)header->width * (size_t)header->channels;
    uint8_t *pixels = calloc(BAND, line); /* exactly as large as the rows: a write beyond them is seen */
    lap_code code = LAP_OK;
    unsigned sum = 0;
    if (!pixels)
        return LAP_E_MEMORY;
    FUZZ_REQUIRE(header->channels == 1 || header->channels == 3);
    FUZZ_REQUIRE(header->orientation >= 1 && header->orientation <= 8);
    for (size_t i = 0; i < header->segment_count; i++)
        for (size_t j = 0; j < header->segments[i].size; j++)
            sum += header->segments[i].data[j];
    for (int y = 0; y < header->height && code == LAP_OK; y += BAND) {
        lap_view view = {.base = pixels,
            .stride = (ptrdiff_t)line,
            .width = header->width,
            .height = header->height - y < BAND ? header->height - y : BAND,
            .channels = header->channels,
            .place = LAP_ON_HOST};
        code = lap_decoder_rows(decoder, &view, NULL);
    }
    for (size_t i = 0; i < BAND * line; i++)
        sum += pixels[i];
    if (code == LAP_OK)
        code = lap_decoder_finish(decoder, NULL, NULL);
    free(pixels);
    return sum == 1u << 31 ? LAP_E_INTERNAL : code; /* the sum is used */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_error err = {0};
    /* The options vary with the input, and not from run to run. */
    unsigned choice = size ? data[size / 2] : 0;
    lap_read_options options = {.gray = choice & 1,
        .max_pixels = 1 << 18,
        .max_memory = 1 << 24,
        .max_scans = 20,
        .fail_on = (lap_fail_on)(choice / 2 % 3)};
    if (lap_source_memory(data, size, "fuzz", &source, &err) != LAP_OK)
        return 0;
    lap_code code = lap_decoder_open(source, &options, &decoder, &err);
    FUZZ_REQUIRE(code == err.code && (code == LAP_OK) == (decoder != NULL));
    if (code == LAP_OK)
        code = decode(decoder);
    FUZZ_REQUIRE(code != LAP_E_INTERNAL);
    lap_decoder_close(decoder);
    lap_source_close(source);
    return 0;
}
