#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "run/settings.h"

static void defaults_are_valid(void **state)
{
    (void)state;
    lap_settings s = lap_settings_default();
    assert_int_equal(lap_settings_check(&s, NULL), LAP_OK);
    assert_true(s.filter && s.sync);
    assert_int_equal(s.quality, 90);
    assert_int_equal(s.max_scans, 100);
    assert_int_equal(s.params.threshold, -1);
    assert_true(s.params.kernel.is_laplace5);
}

#define REFUSED(change, word)                                        \
    do {                                                             \
        lap_settings s = lap_settings_default();                     \
        lap_error err = {0};                                         \
        change;                                                      \
        assert_int_equal(lap_settings_check(&s, &err), LAP_E_USAGE); \
        assert_non_null(strstr(err.message, word));                  \
    } while (0)

static void each_bad_setting_is_named(void **state)
{
    (void)state;
    REFUSED(s.backend = NULL, "backend");
    REFUSED(s.border = 5, "border");
    REFUSED(s.border = 255, "border");
    REFUSED(s.border = 512, "border");
    REFUSED((s.keep = LAP_KEEP_LISTED | LAP_KEEP_GPS), "gps");
    REFUSED(s.params.range = 2, "range");
    REFUSED(s.params.scale = NAN, "scale");
    REFUSED(s.params.offset = INFINITY, "offset");
    REFUSED(s.params.threshold = 256, "threshold");
    REFUSED(s.params.threshold = -2, "threshold");
    REFUSED(s.threads = -1, "threads");
    REFUSED(s.turn = 0, "turn");
    REFUSED(s.turn = 9, "turn");
    REFUSED(s.format = "gif", "gif");
    REFUSED(s.quality = 0, "quality");
    REFUSED(s.quality = 101, "quality");
    REFUSED(s.subsampling = 4, "subsampling");
    REFUSED(s.restart = 3, "restart");
    REFUSED(s.fail_on = 3, "fail-on");
    REFUSED(s.max_scans = -1, "scans");
    REFUSED(s.timeout_s = -1, "timeout");
    REFUSED(s.timeout_s = NAN, "timeout");
}

static bool same_hash(const lap_settings *a, const lap_settings *b)
{
    return lap_settings_hash(a) == lap_settings_hash(b);
}

#define HASH(change, same)                                        \
    do {                                                          \
        lap_settings before = lap_settings_default(), s = before; \
        change;                                                   \
        assert_int_equal(same_hash(&before, &s), same);           \
    } while (0)

static void the_hash_covers_what_changes_bytes(void **state)
{
    (void)state;
    HASH(s.filter = false, false);
    HASH(s.params.kernel.h[3] = 7, false);
    HASH(s.params.range = LAP_ABS, false);
    HASH(s.params.scale = 0.1f, false);
    HASH(s.params.offset = 1e-30f, false);
    HASH(s.params.invert = true, false);
    HASH(s.params.threshold = 0, false);
    HASH(s.border = LAP_REFLECT, false);
    HASH(s.border = LAP_WRAP, false);
    HASH((s.border = (lap_border)(LAP_CONSTANT + 1)), false);
    HASH(s.progressive = true, false);
    HASH(s.optimize = true, false);
    HASH(s.keep = LAP_KEEP_LISTED, false);

    HASH(s.gray = true, false);
    HASH(s.auto_orient = true, false);
    HASH(s.turn = LAP_TURN_90, false);
    HASH(s.format = "png", false);
    HASH(s.quality = 91, false);
    HASH(s.subsampling = LAP_SUB_444, false);
    HASH(s.restart = LAP_RESTART_OFF, false);
    HASH(s.strip = true, false);
    HASH(s.fail_on = LAP_FAIL_NONE, false);

    HASH(s.backend = "c", true);
    HASH(s.codec = LAP_CODEC_C, true);
    HASH(s.threads = 1, true);
    HASH(s.decode = LAP_DECODE_SERIAL, true);
}

/* Folders that 0.1 made go on as before where its bytes are ours, and are made again where they are not. */
static void the_hash_of_metadata_has_a_version(void **state)
{
    (void)state;
    static const struct {
        unsigned keep;
        const char *format;
        bool strip, is_new;
    } cases[] = {{0, NULL, false, false}, {0, "jpg", false, false}, {0, "ppm", false, false},
        {0, "png", true, false}, {0, "png", false, true}, {LAP_KEEP_LISTED, NULL, false, false},
        {LAP_KEEP_LISTED | LAP_KEEP_ICC, NULL, false, false},
        {LAP_KEEP_LISTED | LAP_KEEP_EXIF, NULL, false, true},
        {LAP_KEEP_LISTED | LAP_KEEP_XMP, NULL, false, true},
        {LAP_KEEP_LISTED | LAP_KEEP_IPTC, "png", false, true},
        {LAP_KEEP_LISTED | LAP_KEEP_COMMENT, NULL, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = lap_settings_default();
        char text[LAP_SETTINGS_TEXT];
        s.keep = cases[i].keep;
        s.format = cases[i].format;
        s.strip = cases[i].strip;
        lap_settings_text(&s, text);
        assert_int_equal(strstr(text, "metadata=2\n") != NULL, cases[i].is_new);
    }
    lap_settings s = lap_settings_default();
    assert_int_equal(lap_settings_hash(&s), 0x0648f1006755ba8b);
}

/* fail_on changes no byte: an output serves with each that its photo passes. */
static void an_output_serves_with_each_fail_on_that_its_photo_passes(void **state)
{
    (void)state;
    lap_settings_mark marks[LAP_FAIL_WARNING + 1];
    for (int i = 0; i <= (int)LAP_FAIL_WARNING; i++) {
        lap_settings s = lap_settings_default();
        s.fail_on = (lap_fail_on)i;
        marks[i] = lap_settings_mark_of(&s);
        assert_int_equal(lap_settings_own(&marks[i]), lap_settings_hash(&s));
    }
    for (int made = 0; made <= (int)LAP_FAIL_WARNING; made++)
        for (int asked = 0; asked <= (int)LAP_FAIL_WARNING; asked++) {
            const uint64_t own = lap_settings_own(&marks[asked]);
            const uint64_t whole = lap_settings_recorded(&marks[made], true),
                           warned = lap_settings_recorded(&marks[made], false);
            assert_int_equal(lap_settings_taken(&marks[asked], whole), own);
            assert_int_equal(lap_settings_taken(&marks[asked], warned) == own, made >= asked);
        }
    lap_settings other = lap_settings_default();
    other.quality = 7;
    const uint64_t hash = lap_settings_hash(&other);
    assert_int_equal(lap_settings_taken(&marks[LAP_FAIL_NONE], hash), hash);
}

static void and_nothing_else(void **state)
{
    (void)state;
    HASH((void)s, true);
    HASH(s.backend = "c", true);
    HASH(s.threads = 3, true);
    HASH(s.device = 1, true);
    HASH(s.sync = false, true);
    HASH(s.preserve = true, true);
    HASH(s.max_pixels = 0, true);
    HASH(s.max_memory = 1, true);
    HASH(s.max_scans = 1, true);
    HASH(s.timeout_s = 5, true);
    HASH(strcpy(s.params.kernel.name, "custom"), true);
    HASH(s.filter = true, true);
}

static void the_longest_text_fits(void **state)
{
    (void)state;
    lap_settings s = lap_settings_default();
    for (int i = 0; i < 25; i++)
        s.params.kernel.h[i] = -0x1.fffffep-100f;
    s.params.scale = s.params.offset = -0x1.fffffep-100f;
    s.border = LAP_CONSTANT_LAST;
    s.progressive = s.optimize = true;
    s.keep = 255;
    char text[LAP_SETTINGS_TEXT];
    size_t length = lap_settings_text(&s, text);
    assert_int_equal(strlen(text), length);
    assert_true(length < LAP_SETTINGS_TEXT - 1);
    assert_int_equal(text[length - 1], '\n');
    assert_non_null(strstr(text, "fail-on="));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_valid),
        cmocka_unit_test(each_bad_setting_is_named),
        cmocka_unit_test(the_hash_covers_what_changes_bytes),
        cmocka_unit_test(the_hash_of_metadata_has_a_version),
        cmocka_unit_test(an_output_serves_with_each_fail_on_that_its_photo_passes),
        cmocka_unit_test(and_nothing_else),
        cmocka_unit_test(the_longest_text_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
