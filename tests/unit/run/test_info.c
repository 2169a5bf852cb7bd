/* What lap_info_read says of files of every kind, and which metadata a run would drop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "lapedge_program.h"
#include "tests/support/jpeg_make.h"
#include "tests/support/temporary.h"

static char path[TEMPORARY_PATH];

static void write_bytes(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void frames_and_their_parts(void **state)
{
    (void)state;
    static const struct {
        jpeg_kind kind;
        const char *frame;
        int quantization, huffman, scans;
    } cases[] = {
        {{.components = 1, .space = JCS_GRAYSCALE, .sampling = "11"}, "baseline", 1, 2, 1},
        {{.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"}, "baseline", 2, 4, 1},
        {{.components = 3, .space = JCS_YCbCr, .sampling = "21 11 12", .restart = 7}, "baseline", 2, 4, 1},
        {{.components = 3, .space = JCS_YCbCr, .sampling = "41 11 11", .separate = true}, "baseline", 2, 6,
            3},
        {{.components = 4, .space = JCS_CMYK, .sampling = "11 21 12 22"}, "baseline", 1, 2, 1},
        {{.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .progressive = true}, "progressive", 2,
            10, 10},
        {{.components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .arithmetic = true},
            "extended sequential", 2, 0, 1},
        {{.components = 3,
             .space = JCS_YCbCr,
             .sampling = "22 11 11",
             .arithmetic = true,
             .progressive = true},
            "progressive", 2, 0, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const jpeg_kind *kind = &cases[i].kind;
        jpeg_bytes file = jpeg_make(kind, 61, 47);
        lap_info info;
        write_bytes(file.data, file.size);
        assert_int_equal(lap_info_read(path, &info, NULL), LAP_OK);
        assert_string_equal(info.format, "jpeg");
        assert_string_equal(info.frame, cases[i].frame);
        assert_true(info.bytes == file.size && info.width == 61 && info.height == 47);
        assert_int_equal(info.components, kind->components);
        assert_int_equal(info.arithmetic, kind->arithmetic);
        for (int c = 0; c < 4; c++) {
            const bool is_there = c < kind->components;
            assert_int_equal(info.sample_h[c], is_there ? kind->sampling[3 * c] - '0' : 0);
            assert_int_equal(info.sample_v[c], is_there ? kind->sampling[3 * c + 1] - '0' : 0);
        }
        assert_int_equal(info.restart_interval, kind->restart);
        assert_int_equal(info.orientation, 1);
        if (info.quantization_tables != cases[i].quantization || info.scans != cases[i].scans ||
            info.huffman_tables != cases[i].huffman)
            fail_msg("case %zu: %d, %d tables, %d scans", i, info.quantization_tables, info.huffman_tables,
                info.scans);
        const bool has_held = kind->progressive && !kind->arithmetic;
        assert_int_equal(info.longest_scan > 0, has_held);
        assert_true(info.longest_scan <= info.scans && info.longest_percent <= 100);
        assert_int_equal(info.longest_percent > 0, has_held);
        free(file.data);
    }
}

enum { EXIF = 0xE1, ICC = 0xE2, IPTC = 0xED, COM = 0xFE };

/* A gray JPEG with these segments behind its SOI, and so many bytes behind its end. */
static void write_segments(
    const int *markers, const char *const *bodies, const size_t *sizes, int count, size_t after)
{
    static const uint8_t zero[64];
    const jpeg_kind kind = {.components = 1, .space = JCS_GRAYSCALE, .sampling = "11"};
    jpeg_bytes plain = jpeg_make(&kind, 9, 9);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(plain.data, 1, 2, file);
    for (int i = 0; i < count; i++) {
        const uint8_t head[] = {0xff, (uint8_t)markers[i], 0, (uint8_t)(sizes[i] + 2)};
        fwrite(head, 1, sizeof head, file);
        fwrite(bodies[i], 1, sizes[i], file);
    }
    fwrite(plain.data + 2, 1, plain.size - 2, file);
    fwrite(zero, 1, after, file);
    assert_int_equal(fclose(file), 0);
    free(plain.data);
}

static const char turned[] = "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0"; /* and a 0 */
static const char profile[] = "ICC_PROFILE\0\1\1abcdefghijklmnopqrstuvwxyz";

static const int markers[] = {COM, EXIF, COM, ICC, COM};
static const char *const bodies[] = {"one", turned, "three", profile, "fourth"};
static const size_t sizes[] = {3, sizeof turned, 5, sizeof profile - 1, 6};

static void segments_are_counted_by_kind(void **state)
{
    (void)state;
    lap_info info;
    write_segments(markers, bodies, sizes, 5, 0);
    assert_int_equal(lap_info_read(path, &info, NULL), LAP_OK);
    assert_int_equal(info.orientation, 6);
    assert_int_equal(info.metadata_count, 3);
    static const char *const kinds[] = {"comment", "EXIF", "ICC"};
    static const int segments[] = {3, 1, 1};
    static const uint64_t bytes[] = {14, sizeof turned, sizeof profile - 1};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(info.metadata[i].kind, kinds[i]);
        assert_int_equal(info.metadata[i].segments, segments[i]);
        assert_int_equal(info.metadata[i].bytes, bytes[i]);
    }
}

static char said[1000];

static void say(void *user, const lap_dropped *d)
{
    (void)user;
    const size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s%s/%s/%s/%d/%d: %s", used ? "; " : "", d->kind, d->where,
        d->name, d->tag, (int)d->bytes, d->reason);
}

static void what_a_run_drops_is_listed(void **state)
{
    (void)state;
#define COLOURS "ICC///-1/40: for other colours than those of the output"
#define BEHIND "follows the end of the JPEG"
#define EACH(reason)                                                                                         \
    "comment///-1/3: " reason "; EXIF///-1/32: " reason "; comment///-1/5: " reason "; ICC///-1/40: " reason \
    "; comment///-1/6: " reason
    static const struct {
        const char *format;
        unsigned keep;
        bool strip;
        size_t after;
        const char *said;
    } cases[] = {
        {NULL, 0, false, 0, COLOURS},
        {"jpg", 0, true, 0, EACH("not in the list")},
        {"jpg", LAP_KEEP_LISTED | LAP_KEEP_COMMENT, false, 7,
            "EXIF///-1/32: not in the list; ICC///-1/40: not in the list; other///-1/7: " BEHIND},
        {"ppm", 0, false, 0, EACH("no place in this format")},
        {"bmp", 0, false, 64, EACH("no place in this format") "; other///-1/64: " BEHIND},
        {"png", 0, false, 1, COLOURS "; other///-1/1: " BEHIND},
        {"none", 0, false, 0, EACH("no place in this format")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_settings s = lap_settings_default();
        lap_info info;
        s.format = cases[i].format;
        s.keep = cases[i].keep;
        s.strip = cases[i].strip;
        said[0] = '\0';
        write_segments(markers, bodies, sizes, 5, cases[i].after);
        assert_int_equal(lap_info_dropped(path, &s, &info, say, NULL, NULL), LAP_OK);
        assert_string_equal(said, cases[i].said);
    }
}

static void what_follows_the_end_is_counted(void **state)
{
    (void)state;
    for (size_t after = 0; after < 3; after++) {
        write_segments(markers, bodies, sizes, 5, after);
        assert_int_equal(lap_bytes_after_end(path), after);
    }
    write_bytes("P5 1 1 255\nabc", 14);
    assert_int_equal(lap_bytes_after_end(path), 0);
    assert_int_equal(lap_bytes_after_end("/no/such"), 0);
}

static void other_files_have_a_header(void **state)
{
    (void)state;
    lap_info info;
    lap_error err = {0};
    write_bytes("P6 2 1 255\n123456", 17);
    assert_int_equal(lap_info_read(path, &info, NULL), LAP_OK);
    assert_string_equal(info.format, "pnm");
    assert_true(info.bytes == 17 && info.width == 2 && info.height == 1 && info.components == 3);
    assert_true(!info.frame && info.orientation == 1 && info.metadata_count == 0 && info.scans == 0);
    lap_settings s = lap_settings_default();
    s.format = "gif";
    assert_int_equal(lap_info_dropped(path, &s, &info, say, NULL, &err), LAP_E_USAGE);
    assert_string_equal(err.message, "unknown output format 'gif'");
    assert_string_equal(err.subject, path);
    write_bytes("", 0);
    assert_int_equal(lap_info_read(path, &info, &err), LAP_E_NOT_IMAGE);
    assert_string_equal(err.message, "the file is empty");
    assert_true(info.orientation == 1 && !info.format);
    write_bytes("GIF89a", 6);
    assert_int_equal(lap_info_read(path, &info, &err), LAP_E_UNSUPPORTED);
    write_bytes("words", 5);
    assert_int_equal(lap_info_read(path, &info, &err), LAP_E_NOT_IMAGE);
    assert_string_equal(err.message, "not a JPEG, PNG or binary PNM image");
    assert_string_equal(err.subject, path);
    assert_int_equal(lap_info_read("/no/such", &info, &err), LAP_E_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_and_their_parts),
        cmocka_unit_test(segments_are_counted_by_kind),
        cmocka_unit_test(what_a_run_drops_is_listed),
        cmocka_unit_test(what_follows_the_end_is_counted),
        cmocka_unit_test(other_files_have_a_header),
    };
    const int fd = mkstemp(temporary(path, "info"));
    if (fd < 0)
        return 1;
    close(fd);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
