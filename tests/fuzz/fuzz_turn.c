/* Turning without loss. The verdict on the input is that of decoding. What comes out decodes without a
 * warning, and turned back it is the input, coded again: the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/turn.h"
#include "fuzz.h"

enum { SIDE = 512 };

typedef struct file {
    lap_code code;
    void *bytes;
    size_t size;
    lap_report report;
} file;

static lap_context *context;

static file run(const void *data, size_t size, const lap_settings *s)
{
    file f = {.code = LAP_OK};
    f.code = lap_run_memory(context, data, size, &f.bytes, &f.size, s, &f.report, NULL);
    FUZZ_REQUIRE((f.code == LAP_OK) == (f.bytes != NULL) && f.code != LAP_E_INTERNAL);
    return f;
}

static bool is_lossless(const file *f)
{
    return f->code == LAP_OK && strncmp(f->report.note, "turned without loss", 19) == 0;
}

static bool is_same(const file *a, const file *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static lap_settings chosen(const uint8_t *data, size_t size)
{
    lap_settings s = lap_settings_default();
    unsigned c = 0;
    for (size_t i = 0; i < size; i++)
        c = (c ^ data[i]) * 16777619u;
    c >>= 7;
    s.filter = false;
    s.sync = false;
    s.strip = true;
    s.turn = (lap_turn)(1 + c % 8);
    s.lossless = c / 8 % 2 ? LAP_LOSSLESS_TRIM : LAP_LOSSLESS_AUTO;
    s.optimize = c / 16 % 3 == 1;
    s.progressive = c / 16 % 3 == 2;
    s.fail_on = (lap_fail_on)(c / 64 % 3);
    s.max_pixels = (uint64_t)SIDE * SIDE;
    s.max_memory = 0;
    s.max_scans = 20;
    return s;
}

static lap_turn back_from(lap_turn turn)
{
    int back = LAP_TURN_NONE;
    while (lap_turn_compose(turn, (lap_turn)back) != LAP_TURN_NONE)
        back++;
    return (lap_turn)back;
}

/* There, back, and there again. Going back may meet DC coefficients in an order in which they are too far
 * apart. */
static void go_back(const uint8_t *data, size_t size, const file *there, lap_settings s, bool cut)
{
    const lap_settings first = s;
    s.lossless = LAP_LOSSLESS_AUTO;
    s.fail_on = LAP_FAIL_WARNING;
    s.turn = back_from(first.turn);
    const file back = run(there->bytes, there->size, &s);
    FUZZ_REQUIRE(back.code == LAP_OK && (is_lossless(&back) || strstr(back.report.note, "DC coefficients")));
    if (is_lossless(&back)) {
        s.turn = first.turn;
        const file again = run(back.bytes, back.size, &s);
        FUZZ_REQUIRE(is_lossless(&again) && is_same(&again, there));
        free(again.bytes);
        s = first;
        s.turn = LAP_TURN_NONE;
        s.lossless = LAP_LOSSLESS_AUTO;
        const file plain = run(data, size, &s);
        FUZZ_REQUIRE(plain.code == LAP_OK && (cut || !is_lossless(&plain) || is_same(&plain, &back)));
        free(plain.bytes);
    }
    free(back.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!context && !(context = lap_context_create(1, NULL)))
        return 0;
    lap_settings s = chosen(data, size);
    const file there = run(data, size, &s);
    const bool lossless = is_lossless(&there);
    if (lossless)
        go_back(data, size, &there, s, strstr(there.report.note, "left out") != NULL);
    const bool declined =
        there.code == LAP_E_UNSUPPORTED && strstr(there.report.error.message, "without loss");
    s.lossless = LAP_LOSSLESS_NO;
    const file pixels = run(data, size, &s);
    FUZZ_REQUIRE(declined || there.code == pixels.code);
    if (there.code != LAP_OK && !declined)
        FUZZ_REQUIRE(strcmp(there.report.error.message, pixels.report.error.message) == 0);
    if (there.code == LAP_OK) {
        FUZZ_REQUIRE(there.report.warnings == pixels.report.warnings);
        FUZZ_REQUIRE(strcmp(there.report.warning, pixels.report.warning) == 0);
        FUZZ_REQUIRE(lossless || is_same(&there, &pixels));
    }
    free(there.bytes);
    free(pixels.bytes);
    return 0;
}
