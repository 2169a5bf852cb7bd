/* PNG whose checksums are right whatever the rest says, so that damage gets past them: the chunks of the
 * input, each with its CRC made anew, or any bytes as the contents of one chunk. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fuzz.h"
#include "lapedge.h"

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static uint32_t get32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lap_context *context;
    if (size < 8 || memcmp(data, "\x89PNG\r\n\x1a\n", 8) != 0 ||
        (!context && !(context = lap_context_create(1, NULL))))
        return 0;
    uint8_t *png = malloc(size);
    if (!png)
        return 0;
    memcpy(png, data, size);
    for (size_t at = 8; size - at >= 12;) {
        const size_t length = get32(png + at);
        if (length > size - at - 12)
            break;
        put32(png + at + 8 + length, (uint32_t)crc32(0, png + at + 4, (uInt)length + 4));
        at += 12 + length;
    }
    lap_settings s = lap_settings_default();
    void *out = NULL;
    size_t made = 0;
    lap_error err = {0};
    s.filter = false;
    s.backend = "c";
    s.format = "ppm";
    s.sync = false;
    s.max_pixels = 1 << 18;
    s.max_memory = 1 << 25;
    s.fail_on = (lap_fail_on)(data[size / 2] % 3);
    lap_code code = lap_run_memory(context, png, size, &out, &made, &s, NULL, &err);
    FUZZ_REQUIRE(code == err.code && (code == LAP_OK) == (out != NULL) && code != LAP_E_INTERNAL);
    free(out);
    free(png);
    return 0;
}
