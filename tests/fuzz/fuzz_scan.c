/* The JPEG header scan on any bytes, handed over whole and in growing pieces: same result. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "libjpeg/jpeg_scan.h"

static lap_code scan(const uint8_t *data, size_t size, bool is_whole, lap_jpeg_scan *result)
{
    lap_code code = LAP_OK;
    size_t need = is_whole ? size + 1 : 1;
    memset(result, 0, sizeof *result);
    while (code == LAP_OK && !result->done) {
        size_t before = need, given = need < size ? need : size;
        bool at_end = need > size;
        uint8_t *copy = malloc(given ? given : 1); /* exactly the length that is passed */
        if (!copy)
            abort();
        if (given)
            memcpy(copy, data, given);
        code = lap_jpeg_scan_header(result, copy, given, at_end, &need, NULL);
        free(copy);
        FUZZ_REQUIRE(code != LAP_OK || result->done || (need > before && before <= size));
        if (need < before + before / 8) /* a few bytes at first, not too many rounds later */
            need = before + before / 8;
    }
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lap_jpeg_scan whole, pieces;
    lap_code code = scan(data, size, true, &whole);
    FUZZ_REQUIRE(scan(data, size, false, &pieces) == code);
    FUZZ_REQUIRE(whole.span_count == pieces.span_count && whole.kept_bytes == pieces.kept_bytes);
    for (size_t i = 0; i < whole.span_count; i++)
        FUZZ_REQUIRE(whole.spans[i].offset <= size && whole.spans[i].size <= size - whole.spans[i].offset);
    if (code == LAP_OK) {
        FUZZ_REQUIRE(whole.width >= 1 && whole.width <= LAP_JPEG_MAX_SIDE);
        FUZZ_REQUIRE(whole.height >= 1 && whole.height <= LAP_JPEG_MAX_SIDE);
        FUZZ_REQUIRE(whole.components >= 1 && whole.components <= 4 && whole.components != 2);
        FUZZ_REQUIRE(whole.position <= size && whole.width == pieces.width);
    }
    (void)lap_jpeg_count(data, size);
    free(whole.spans);
    free(pieces.spans);
    return 0;
}
