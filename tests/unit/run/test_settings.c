#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/params.h"
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

static void each_setting_is_checked_at_its_limits(void **state)
{
    (void)state;
    lap_settings cases[44], *fine = cases, *bad = cases + 22;
    static const char *const messages[] = {"no backend is given", "threshold 256 is not in 0..255",
        "-1 threads requested; 0 means one per core", "turn 0 is not in 1..8", "turn 9 is not in 1..8",
        "unknown output format 'gif'", "quality 0 is not in 1..100", "quality 101 is not in 1..100",
        "subsampling 4 is unknown", "restart 3 is unknown", "codec 8 is unknown", "fail-on 3 is unknown",
        "decode 3 is unknown", "lossless 4 is unknown",
        "a filtered picture cannot be lossless: set lossless or filter, not both",
        "gps and thumbnail are parts of exif; keep exif too",
        "gps and thumbnail are parts of exif; keep exif too",
        "the limit of -1 scans is not valid; 0 means no limit",
        "the timeout must be a number of seconds, 0 for none",
        "the timeout must be a number of seconds, 0 for none", "keep has unknown bits: 0x100",
        "the kernel is not set; start from lap_params_default()"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cases[i] = lap_settings_default();
    fine[0].filter = false, fine[0].backend = NULL, fine[0].params.threshold = 256; /* not looked at */
    fine[1].threads = 0, fine[1].turn = LAP_TURN_NONE, fine[1].quality = 1;
    fine[2].threads = 1 << 20, fine[2].turn = LAP_TURN_270, fine[2].quality = 100;
    fine[3].subsampling = LAP_SUB_420, fine[3].restart = LAP_RESTART_OFF, fine[3].codec = LAP_CODEC_NEON;
    fine[4].fail_on = LAP_FAIL_WARNING, fine[4].decode = LAP_DECODE_PARALLEL, fine[4].fail_on = 0;
    fine[5].lossless = LAP_LOSSLESS_PERFECT, fine[5].filter = false;
    fine[6].keep = LAP_KEEP_LISTED | LAP_KEEP_EXIF | LAP_KEEP_GPS | LAP_KEEP_THUMBNAIL;
    fine[7].keep = LAP_KEEP_LISTED | LAP_KEEP_XMP;
    fine[8].max_scans = 0, fine[8].timeout_s = 0;
    fine[9].timeout_s = 1e-9, fine[9].format = "PNG";
    fine[10].keep = 2 * LAP_KEEP_LISTED - 1;
    bad[0].backend = NULL, bad[1].params.threshold = 256, bad[2].threads = -1;
    bad[3].turn = 0, bad[4].turn = LAP_TURN_270 + 1, bad[5].format = "gif";
    bad[6].quality = 0, bad[7].quality = 101, bad[8].subsampling = LAP_SUB_420 + 1;
    bad[9].restart = LAP_RESTART_OFF + 1, bad[10].codec = LAP_CODEC_NEON + 1;
    bad[11].fail_on = LAP_FAIL_WARNING + 1, bad[12].decode = LAP_DECODE_PARALLEL + 1;
    bad[13].lossless = LAP_LOSSLESS_PERFECT + 1, bad[13].filter = false;
    bad[14].lossless = LAP_LOSSLESS_AUTO;
    bad[15].keep = LAP_KEEP_LISTED | LAP_KEEP_GPS, bad[16].keep = LAP_KEEP_LISTED | LAP_KEEP_THUMBNAIL;
    bad[17].max_scans = -1, bad[18].timeout_s = -1e-9, bad[19].timeout_s = (double)INFINITY;
    bad[20].keep = 2 * LAP_KEEP_LISTED | LAP_KEEP_XMP;
    bad[21].params.kernel = (lap_kernel){0};
    for (int i = 0; i < 22; i++) {
        lap_error err = {0};
        if (lap_settings_check(&fine[i], &err) != LAP_OK)
            fail_msg("fine %d: %s", i, err.message);
        assert_int_equal(lap_settings_check(&bad[i], &err), LAP_E_USAGE);
        assert_string_equal(err.message, messages[i]);
    }
}

static void the_defaults_are_those_of_the_header(void **state)
{
    (void)state;
    const lap_settings d = lap_settings_default(), none = {0};
    const lap_settings full = lap_settings_complete(&none);
    assert_true(d.filter && d.sync && !d.gray && !d.auto_orient && !d.strip && !d.preserve && !d.format);
    assert_string_equal(d.backend, "auto");
    assert_true(d.border == LAP_ZERO && d.turn == LAP_TURN_NONE && d.quality == 90 && d.threads == 0);
    assert_true(d.subsampling == LAP_SUB_SAME && d.restart == LAP_RESTART_AUTO && d.codec == LAP_CODEC_AUTO);
    assert_true(d.max_pixels == 268000000 && d.max_scans == 100 && d.fail_on == LAP_FAIL_TRUNCATED);
    assert_true(d.max_memory == 0 && d.timeout_s == 0 && d.decode == LAP_DECODE_AUTO && d.keep == 0);
    assert_string_equal(full.backend, "auto");
    assert_true(full.turn == LAP_TURN_NONE && full.quality == 90 && full.params.kernel.is_laplace5);
    assert_true(!full.filter && !full.sync && full.max_pixels == 0 && full.fail_on == LAP_FAIL_NONE);
    lap_settings own = {.backend = "c", .turn = LAP_TURN_V, .quality = 1, .params.scale = 2};
    const lap_settings kept = lap_settings_complete(&own);
    own.params = lap_params_complete(&own.params);
    assert_memory_equal(&kept, &own, sizeof own);
}

static void the_text_has_all_that_changes_bytes(void **state)
{
    (void)state;
    lap_settings s = lap_settings_default();
    char text[LAP_SETTINGS_TEXT];
    (void)lap_settings_text(&s, text);
    assert_string_equal(text,
        "settings=1\nfilter=1\nkernel=-0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 "
        "-0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 0x1.8p+4 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 "
        "-0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0 -0x1p+0\nborder=zero\nrange=clamp\nscale=0x1p+0\noffset=0x0p+0\n"
        "invert=0\nthreshold=-1\ngray=0\nauto-orient=0\nturn=1\nformat=\nquality=90\nsubsampling=0\n"
        "restart=0\nstrip=0\nfail-on=1\n");
    s.filter = false;
    s.gray = s.auto_orient = s.progressive = true;
    s.turn = LAP_TURN_180;
    s.format = "JPEG";
    s.quality = 7;
    s.subsampling = LAP_SUB_422;
    s.restart = LAP_RESTART_ON;
    s.fail_on = LAP_FAIL_WARNING;
    s.keep = LAP_KEEP_LISTED | LAP_KEEP_EXIF;
    s.lossless = LAP_LOSSLESS_TRIM;
    const size_t length = lap_settings_text(&s, text);
    assert_string_equal(text,
        "settings=1\nfilter=0\ngray=1\nauto-orient=1\nturn=3\nformat=jpg\nquality=7\nsubsampling=2\n"
        "restart=1\nstrip=0\nfail-on=2\nprogressive=1\noptimize=0\nkeep=129\nlossless=2\nmetadata=2\n");
    assert_int_equal(length, strlen(text));
}

/* The options that decoders and encoders get hold each setting. */
static void options_carry_the_settings(void **state)
{
    (void)state;
    const lap_control control = {.limit_s = 1};
    lap_settings s = lap_settings_default();
    s.gray = s.strip = s.progressive = s.auto_orient = true;
    s.max_pixels = 11;
    s.max_memory = 12;
    s.max_scans = 13;
    s.fail_on = LAP_FAIL_WARNING;
    s.decode = LAP_DECODE_PARALLEL;
    s.codec = LAP_CODEC_TURBO;
    s.quality = 14;
    s.subsampling = LAP_SUB_422;
    s.restart = LAP_RESTART_OFF;
    s.keep = 15;
    const lap_read_options r = lap_read_options_of(&s, &control);
    assert_true(r.gray && r.max_pixels == 11 && r.max_memory == 12 && r.max_scans == 13);
    assert_true(r.fail_on == LAP_FAIL_WARNING && r.control == &control && r.decode == LAP_DECODE_PARALLEL);
    assert_int_equal(r.codec, LAP_CODEC_TURBO);
    for (int optimize = 0; optimize < 2; optimize++) {
        s.optimize = optimize;
        s.progressive = s.strip = s.auto_orient = !optimize;
        const lap_write_options w = lap_write_options_of(&s, 3, 4, 1, &control);
        assert_true(w.width == 3 && w.height == 4 && w.channels == 1 && w.quality == 14 && w.keep == 15);
        assert_true(w.subsampling == LAP_SUB_422 && w.restart == LAP_RESTART_OFF && w.control == &control);
        assert_true(w.strip == !optimize && w.progressive == !optimize && w.oriented == !optimize);
        assert_true(w.optimize == optimize && w.codec == LAP_CODEC_TURBO && w.fail_on == LAP_FAIL_WARNING);
    }
}

/* A pipe or a device without an extension gets a JPEG, like standard output; a file is asked for one. */
static void outputs_name_their_format(void **state)
{
    (void)state;
    static const char names_none[] = "no extension names the format (jpg jpeg png bmp tga ppm pgm tsv)";
    static const char unknown[] = "the extension names no known format (jpg jpeg png bmp tga ppm pgm tsv)";
    static const struct {
        const char *given, *out, *format;
        bool in_place;
        lap_remedy remedy;
    } cases[] = {{NULL, "a.jpeg", "jpg", false, 0}, {NULL, "b.c/a.PNG", "png", false, 0},
        {"tga", "a.png", "tga", false, 0}, {"tga", "a", "tga", false, 0}, {NULL, "-", "jpg", false, 0},
        {NULL, "/dev/null", "jpg", false, 0}, {NULL, "/dev/null.png", "png", false, 0},
        {NULL, "/dev", names_none, false, LAP_REMEDY_FORMAT_OR_FOLDER},
        {NULL, "a", names_none, false, LAP_REMEDY_FORMAT_OR_FOLDER},
        {NULL, "/proc/self/status", names_none, false, LAP_REMEDY_FORMAT_OR_FOLDER},
        {NULL, "b.png/a", names_none, false, LAP_REMEDY_FORMAT_OR_FOLDER},
        {NULL, "b.png/a", names_none, true, LAP_REMEDY_NONE},
        {NULL, "a.gif", unknown, false, LAP_REMEDY_FORMAT}, {NULL, "b/a.gif", unknown, true, LAP_REMEDY_NONE},
        {NULL, "/dev/null.gif", unknown, false, LAP_REMEDY_FORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = lap_settings_default(), full;
        lap_error err = {0};
        s.format = cases[i].given;
        s.in_place = cases[i].in_place;
        s.quality = 33;
        const lap_code code = lap_settings_with_format(&s, cases[i].out, &full, &err);
        assert_int_equal(code, strchr(cases[i].format, ' ') ? LAP_E_USAGE : LAP_OK);
        assert_string_equal(code == LAP_OK ? full.format : err.message, cases[i].format);
        assert_int_equal(err.remedy, cases[i].remedy);
        assert_int_equal(full.quality, 33);
    }
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
        cmocka_unit_test(each_setting_is_checked_at_its_limits),
        cmocka_unit_test(the_defaults_are_those_of_the_header),
        cmocka_unit_test(the_text_has_all_that_changes_bytes),
        cmocka_unit_test(options_carry_the_settings),
        cmocka_unit_test(outputs_name_their_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
