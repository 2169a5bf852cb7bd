/* Each step of a photo is timed once, in the part of the report that it belongs to: with a clock that goes
 * one step further whenever it is read, a part's time is the number of its steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lapedge_program.h"
#include "tests/support/jpeg_make.h"

double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    static double now;
    return ++now;
}

/* The strips are as wide as to have the 32 rows of those that are turned. */
enum { BAND = 128, BANDS = 2, WIDTH = 2400, HEIGHT = BAND * BANDS, STRIPS = HEIGHT / 32, PARTS = 2 };
enum { SOME = -1 };
#define SERIAL LAP_DECODE_SERIAL

static const jpeg_kind colour = {.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"};

static void steps_are_counted_once(void **state)
{
    (void)state;
    static const struct {
        const char *what, *format;
        bool filter;
        lap_turn turn;
        lap_decode decode;
        lap_lossless lossless;
        lap_codec_place codec;
        lap_restart restart;
        int decoded, filtered, encoded; /* wanted: opening, each band or strip, the end */
    } cases[] = {
        {"encoded in strips", "jpg", false, 1, SERIAL, 0, LAP_CODEC_C, 0, 1 + BANDS + 1, 0,
            1 + STRIPS + BANDS + 1},
        {"filtered, too", "jpg", true, 1, SERIAL, 0, LAP_CODEC_C, 0, 1 + BANDS + 1, SOME,
            1 + STRIPS + BANDS + 1},
        {"by turbo", "jpg", true, 1, SERIAL, 0, LAP_CODEC_TURBO, 0, 1 + BANDS + 1, SOME, 1 + 2 * BANDS + 1},
        {"by turbo in one piece", "jpg", true, 1, SERIAL, 0, LAP_CODEC_TURBO, LAP_RESTART_OFF, 1 + BANDS + 1,
            SOME, 1 + 2 * BANDS + 1},
        {"by parts", "jpg", true, 1, LAP_DECODE_PARALLEL, 0, LAP_CODEC_C, 0, 1 + PARTS + STRIPS + 1, SOME,
            1 + STRIPS + BANDS + 1},
        {"by parts, no filter", "jpg", false, 1, LAP_DECODE_PARALLEL, 0, LAP_CODEC_C, 0,
            1 + PARTS + STRIPS + 1, 0, 1 + STRIPS + BANDS + 1},
        {"rows in order", "ppm", true, 1, SERIAL, 0, LAP_CODEC_C, 0, 1 + BANDS + 1, SOME, 1 + 2 * BANDS + 1},
        {"nothing written", "none", true, 1, SERIAL, 0, LAP_CODEC_C, 0, 1 + BANDS + 1, SOME,
            1 + 2 * BANDS + 1},
        {"turned", "jpg", false, LAP_TURN_180, SERIAL, 0, LAP_CODEC_C, 0, 1 + STRIPS + 1, STRIPS,
            1 + STRIPS + BANDS + 1},
        {"turned without loss", "jpg", false, LAP_TURN_180, SERIAL, LAP_LOSSLESS_AUTO, LAP_CODEC_C, 0, 1 + 1,
            0, 1 + 1},
    };
    jpeg_bytes file = jpeg_make(&colour, WIDTH, HEIGHT);
    lap_context *context = lap_context_create(1, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = lap_settings_default();
        lap_report report;
        void *out;
        size_t size;
        s.backend = "c";
        s.format = cases[i].format;
        s.filter = cases[i].filter;
        s.turn = cases[i].turn;
        s.decode = cases[i].decode;
        s.lossless = cases[i].lossless;
        s.codec = cases[i].codec;
        s.restart = cases[i].restart;
        assert_int_equal(
            lap_run_memory(context, file.data, file.size, &out, &size, &s, &report, NULL), LAP_OK);
        const bool is_filtered =
            cases[i].filtered == SOME ? report.ms.filter > 0 : report.ms.filter == cases[i].filtered;
        if (report.ms.decode != cases[i].decoded || report.ms.encode != cases[i].encoded || !is_filtered)
            fail_msg("%s: %g, %g and %g steps", cases[i].what, report.ms.decode, report.ms.filter,
                report.ms.encode);
        assert_true(report.ms.read == 0 && report.ms.write == 1); /* only the end of the output */
        free(out);
    }
    lap_context_destroy(context);
    free(file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
