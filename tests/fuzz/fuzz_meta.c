/* What an output carries of any metadata: the bytes as XMP, as Photoshop's resources, as text of a PNG, and
 * as segments one after the other (a marker, two bytes of length, data), by every rule. */
#include <stdlib.h>
#include <string.h>

#include "codec/meta.h"
#include "codec/png_meta.h"
#include "codec/png_text.h"
#include "codec/resources.h"
#include "codec/xmp.h"
#include "fuzz.h"

static void xmp(const uint8_t *data, size_t size, lap_xmp_rule rule)
{
    uint8_t *once = malloc(size + 1), *twice = malloc(size + 1);
    size_t left, again;
    lap_meta_drops drops = {.warnings = 0};
    const lap_xmp_cleaning silent = {.rule = rule}, told = {.rule = rule, .drops = &drops};
    if (once && twice && lap_xmp_clean(data, size, &silent, once, &left)) {
        FUZZ_REQUIRE(left <= size);
        FUZZ_REQUIRE(lap_xmp_clean(once, left, &told, twice, &again));
        FUZZ_REQUIRE(again == left && drops.count[1] == 0);
    }
    free(once);
    free(twice);
}

static void resources(const uint8_t *data, size_t size, unsigned keep)
{
    uint8_t *once = malloc(size + 1), *twice = malloc(size + 1);
    lap_meta_drops drops = {.warnings = 0};
    if (once && twice) {
        const size_t left = lap_resources_clean(data, size, keep, once, NULL);
        FUZZ_REQUIRE(left <= size);
        if (keep & LAP_KEEP_LISTED) {
            FUZZ_REQUIRE(lap_resources_are_whole(once, left));
            FUZZ_REQUIRE(lap_resources_clean(once, left, keep, twice, &drops) == left && drops.count[2] == 0);
        }
    }
    free(once);
    free(twice);
}

#if LAP_HAVE_PNG
static void texts(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"tEXt", "zTXt", "iTXt"};
    lap_png_texts all = {.count = 0};
    for (size_t i = 0; i < 3; i++)
        if (lap_png_text_take(&all, types[i], data, size, NULL) != LAP_OK)
            break;
    FUZZ_REQUIRE(all.bytes.size <= 3 * (size_t)LAP_PNG_MAX_TEXT);
    lap_png_texts_free(&all);
}
#endif

static void segments(const uint8_t *data, size_t size)
{
    enum { MAX = 32 };
    static const uint8_t markers[] = {0xE1, 0xE2, 0xED, 0xFE, 0};
    lap_segment all[MAX];
    lap_header header = {.segments = all};
    for (size_t at = 0; size - at > 3 && header.segment_count < MAX;) {
        const size_t said = (size_t)data[at + 1] << 8 | data[at + 2], left = size - at - 3;
        const size_t length = said < left ? said : left;
        all[header.segment_count++] =
            (lap_segment){.marker = markers[data[at] % 5], .data = data + at + 3, .size = length};
        at += 3 + length;
    }
    static const unsigned keeps[] = {0, 255, 128 | 1, 128 | 4 | 8 | 32, 128 | 1 | 2 | 4 | 8};
    for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++) {
        lap_meta meta;
        lap_chunk chunks = {0};
        lap_meta_drops drops = {.warnings = 0};
        const lap_write_options o = {
            .width = 9, .height = 9, .channels = 3, .keep = keeps[i], .from = &header, .drops = &drops};
        if (lap_meta_choose(&o, &meta, NULL) == LAP_OK)
            for (size_t k = 0; k < meta.count; k++)
                FUZZ_REQUIRE(meta.segments[k].size <= 65533);
        lap_meta_free(&meta);
        if (lap_png_meta(&o, &chunks, NULL) == LAP_OK)
            FUZZ_REQUIRE(chunks.size <= 16 * size + 4096);
        lap_chunk_free(&chunks);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    xmp(data, size, LAP_XMP_REFERENCE);
    xmp(data, size, LAP_XMP_PICTURES);
    xmp(data, size, LAP_XMP_HARMLESS);
    resources(data, size, 127 & ~LAP_KEEP_THUMBNAIL);
    resources(data, size, LAP_KEEP_LISTED | LAP_KEEP_IPTC);
#if LAP_HAVE_PNG
    texts(data, size);
#endif
    segments(data, size);
    return 0;
}
