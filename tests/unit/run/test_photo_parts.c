/* Photos decoded by parts: the bytes that serial decoding leads to, for every form of run, and one that finds
 * out half-way that its parts will not do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/status.h"
#include "run/photo.h"
#include "tests/support/jpeg_make.h"
#include "tests/support/temporary.h"

static const jpeg_kind kinds[] = {
    {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"},
    {.name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11"},
    {.name = "4:4:0, restarts", .components = 3, .space = JCS_YCbCr, .sampling = "12 11 11", .restart = 5},
    {.name = "4:4:4", .components = 3, .space = JCS_YCbCr, .sampling = "11 11 11"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct outcome {
    lap_code code;
    lap_error err;
    lap_report report;
    void *bytes;
    size_t size;
} outcome;

static outcome run(const jpeg_bytes *in, lap_settings settings, lap_decode decode, lap_context *context,
    lap_photo_counts *counts)
{
    outcome o = {0};
    lap_source *source = NULL;
    lap_sink *sink = NULL;
    settings.decode = decode;
    assert_int_equal(lap_source_memory(in->data, in->size, "picture", &source, NULL), LAP_OK);
    assert_int_equal(lap_sink_memory(&sink, NULL), LAP_OK);
    lap_photo photo = {
        .context = context, .settings = settings, .source = source, .sink = sink, .counts = counts};
    o.code = lap_photo_run(&photo, &o.report, &o.err);
    if (o.code == LAP_OK) {
        assert_int_equal(lap_sink_finish(sink, false, NULL, NULL), LAP_OK);
        lap_sink_take(sink, &o.bytes, &o.size);
    }
    lap_sink_close(sink);
    lap_source_close(source);
    return o;
}

static void expect_same(const jpeg_bytes *in, const lap_settings *settings, lap_context *context,
    const char *what, const char *note)
{
    outcome serial = run(in, *settings, LAP_DECODE_SERIAL, context, NULL);
    outcome parts = run(in, *settings, LAP_DECODE_PARALLEL, context, NULL);
    if (serial.code != LAP_OK || parts.code != LAP_OK || serial.size != parts.size ||
        memcmp(serial.bytes, parts.bytes, serial.size) != 0)
        fail_msg("%s: %s | %s, %zu and %zu bytes", what, serial.err.message, parts.err.message, serial.size,
            parts.size);
    if (!strstr(parts.report.note, note))
        fail_msg("%s: %s", what, parts.report.note);
    assert_null(strstr(serial.report.note, "parallel"));
    assert_int_equal(serial.report.bytes_in, parts.report.bytes_in);
    free(serial.bytes);
    free(parts.bytes);
}

/* Several bands and strips, the last ones of one row and of two. */
static void same_bytes(void **state)
{
    static const int heights[] = {1, 2, 64, 65, 127, 128, 129, 130, 257, 641};
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
            for (int threads = 1; threads <= 5; threads += 2) {
                lap_settings s = lap_settings_default();
                char what[80];
                lap_context *context = lap_context_create(threads, NULL);
                jpeg_bytes in = jpeg_make(&kinds[k], 70 + 9 * k, heights[i]);
                snprintf(what, sizeof what, "%s, %d rows, %d threads", kinds[k].name, heights[i], threads);
                s.border = (lap_border)(i % 4);
                s.gray = i % 3 == 2;
                s.filter = i % 5 != 4;
                if (i % 4 == 3)
                    s.turn = LAP_TURN_H;
                expect_same(&in, &s, context, what, heights[i] > 128 ? "decoded in parallel" : "one piece");
                free(in.data);
                lap_context_destroy(context);
            }
}

static void same_bytes_turned(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(3, NULL);
    jpeg_bytes in = jpeg_make(&kinds[1], 201, 700);
    for (int turn = 1; turn <= 8; turn++) {
        lap_settings s = lap_settings_default();
        s.turn = (lap_turn)turn;
        s.filter = turn % 2;
        s.format = turn % 3 ? "jpg" : "ppm";
        expect_same(&in, &s, context, "turned",
            turn % 3 || (turn > 2 && turn != LAP_TURN_H) ? "decoded in parallel" : "rows in order");
    }
    free(in.data);
    lap_context_destroy(context);
}

/* Where nothing is written bands are independent, and the parts' pixels are those that are counted. */
static void same_counts(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(3, NULL);
    jpeg_bytes in = jpeg_make(&kinds[1], 201, 700);
    lap_settings s = lap_settings_default();
    static lap_photo_counts counts[2];
    s.format = "none";
    for (int i = 0; i < 2; i++) {
        outcome o = run(&in, s, i ? LAP_DECODE_PARALLEL : LAP_DECODE_SERIAL, context, &counts[i]);
        assert_int_equal(o.code, LAP_OK);
        assert_int_equal(strstr(o.report.note, "decoded in parallel") != NULL, i);
        uint64_t samples = 0;
        for (int v = 0; v < 256; v++)
            samples += counts[i].result[2][v];
        assert_int_equal(samples, 201 * 700);
        free(o.bytes);
    }
    assert_memory_equal(&counts[0], &counts[1], sizeof *counts);
    free(in.data);
    lap_context_destroy(context);
}

/* ---- a disagreement ---------------------------------------------------------------------------- */

/* The same picture with a coefficient in a row of MCUs that leaves the range of our decoders: the scan does
 * not see it, since only the inverse DCT looks at values. */
static jpeg_bytes out_of_range(const jpeg_bytes *file, int mcu_row)
{
    struct jpeg_decompress_struct from;
    struct jpeg_compress_struct to;
    struct jpeg_error_mgr error;
    jpeg_bytes out = {NULL, 0};
    memset(&from, 0, sizeof from);
    memset(&to, 0, sizeof to);
    from.err = to.err = jpeg_std_error(&error);
    jpeg_create_decompress(&from);
    jpeg_create_compress(&to);
    jpeg_mem_src(&from, file->data, file->size);
    jpeg_read_header(&from, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&from);
    for (JDIMENSION y = 0; y < from.comp_info[0].height_in_blocks; y++) {
        JBLOCKROW *row = from.mem->access_virt_barray((j_common_ptr)&from, coefficients[0], y, 1, TRUE);
        for (JDIMENSION x = 0; x < from.comp_info[0].width_in_blocks; x++)
            row[0][x][63] = 0;
        if (y == 2 * (JDIMENSION)mcu_row)
            row[0][0][63] = 1000;
    }
    from.quant_tbl_ptrs[from.comp_info[0].quant_tbl_no]->quantval[63] = 255;
    from.comp_info[0].quant_table->quantval[63] = 255;
    jpeg_mem_dest(&to, &out.data, &out.size);
    jpeg_copy_critical_parameters(&from, &to);
    to.optimize_coding = TRUE;
    jpeg_write_coefficients(&to, coefficients);
    jpeg_finish_compress(&to);
    jpeg_destroy_compress(&to);
    jpeg_destroy_decompress(&from);
    return out;
}

/* The file's bytes, by way of path. */
static uint8_t *run_into(const char *path, const jpeg_bytes *in, const lap_settings *settings,
    lap_context *context, lap_photo_counts *counts, size_t *size)
{
    lap_source *source = NULL;
    lap_sink *sink = NULL;
    lap_report report = {0};
    lap_error err = {0};
    assert_int_equal(lap_source_memory(in->data, in->size, "picture", &source, NULL), LAP_OK);
    assert_int_equal(lap_sink_open(path, NULL, &sink, NULL), LAP_OK);
    lap_photo photo = {
        .context = context, .settings = *settings, .source = source, .sink = sink, .counts = counts};
    if (lap_photo_run(&photo, &report, &err) != LAP_OK)
        fail_msg("%s", err.message);
    if (!strstr(report.note, "decoded serially: its rows disagree with the scan"))
        fail_msg("%s", report.note);
    assert_int_equal(lap_sink_finish(sink, false, NULL, NULL), LAP_OK);
    assert_int_equal(lap_sink_publish(sink, NULL), LAP_OK);
    lap_sink_close(sink);
    lap_source_close(source);
    FILE *file = fopen(path[1] == 'd' ? "parts-again.bin" : path, "rb");
    uint8_t *got = malloc(1 << 20);
    assert_non_null(file);
    *size = fread(got, 1, 1 << 20, file);
    fclose(file);
    return got;
}

/* Bands that were appended before the disagreement shows stay, the others are made again, and each is counted
 * once: by one thread and by several, at the top, in the middle and at the bottom. */
static void check_again(const char *path, lap_settings settings, int fd)
{
    enum { HEIGHT = 1500, LAST_ROW = (HEIGHT - 1) / 16 };
    static const int rows[] = {0, 1, 50, LAST_ROW - 1, LAST_ROW};
    enum { ROWS = sizeof rows / sizeof *rows };
    jpeg_bytes whole = jpeg_make(&kinds[1], 150, HEIGHT);
    for (int i = 0; i < 2 * ROWS; i++) {
        jpeg_bytes in = out_of_range(&whole, rows[i / 2]);
        lap_context *context = lap_context_create(i % 2 ? 4 : 1, NULL);
        lap_photo_counts counts = {0}, expected = {0};
        size_t size;
        settings.codec = LAP_CODEC_TURBO;
        outcome serial = run(&in, settings, LAP_DECODE_SERIAL, context, &expected);
        assert_int_equal(serial.code, LAP_OK);
        settings.codec = LAP_CODEC_AUTO;
        settings.decode = LAP_DECODE_PARALLEL;
        if (fd >= 0)
            assert_true(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
        uint8_t *got = run_into(path, &in, &settings, context, &counts, &size);
        if (size != serial.size || memcmp(got, serial.bytes, size) != 0)
            fail_msg("row %d, %d threads: other bytes", rows[i / 2], i % 2 ? 4 : 1);
        assert_memory_equal(&counts, &expected, sizeof counts);
        free(got);
        free(serial.bytes);
        free(in.data);
        lap_context_destroy(context);
    }
    free(whole.data);
}

static void again_into_a_file(void **state)
{
    (void)state;
    check_again("parts-again.jpg", lap_settings_default(), -1);
    lap_settings turned = lap_settings_default();
    turned.turn = LAP_TURN_180;
    check_again("parts-again.jpg", turned, -1);
    unlink("parts-again.jpg");
}

/* Written directly: what has gone out stays. */
static void again_into_a_descriptor(void **state)
{
    (void)state;
    char path[32];
    int fd = open("parts-again.bin", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    check_again(path, lap_settings_default(), fd);
    close(fd);
    unlink("parts-again.bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(same_bytes_turned),
        cmocka_unit_test(same_counts),
        cmocka_unit_test(again_into_a_file),
        cmocka_unit_test(again_into_a_descriptor),
    };
    char folder[TEMPORARY_PATH];
    if (!mkdtemp(temporary(folder, "parts")) || chdir(folder) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return rmdir(folder) != 0 || failed;
}
