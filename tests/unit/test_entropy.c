/* Pieces of a JPEG's coded data: walks that guess, bits that are put together, what parts hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coding/entropy_track.h"
#include "coding/jpeg_frame_read.h"
#include "jpeg_make.h"
#include "libjpeg/part_bits.h"
#include "run/formats.h"

/* What only decoders need that are opened at a row is said. */
static void memory_is_counted(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const jpeg_kind kind = {
            .name = "4:2:0", .components = 3, .space = JCS_YCbCr, .sampling = "22 11 11", .progressive = i};
        jpeg_bytes file = jpeg_make(&kind, 200, 300);
        lap_source *source[2];
        lap_decoder *decoder[2]; /* serial, parallel */
        for (int k = 0; k < 2; k++) {
            lap_read_options options = {.max_scans = 100, .fail_on = LAP_FAIL_WARNING};
            options.decode = k ? LAP_DECODE_PARALLEL : LAP_DECODE_SERIAL;
            assert_int_equal(lap_source_memory(file.data, file.size, "x", &source[k], NULL), LAP_OK);
            assert_int_equal(lap_decoder_open(source[k], &options, &decoder[k], NULL), LAP_OK);
            assert_int_equal(lap_decoder_opens_at(decoder[k]), k && !i);
        }
        const size_t alone = lap_decoder_header(decoder[0])->memory_estimate, held = decoder[1]->held;
        assert_int_equal(decoder[0]->held, 0);
        assert_in_range(held, i ? 0 : file.size + 1, i ? 0 : SIZE_MAX);
        assert_int_equal(lap_decoder_header(decoder[1])->memory_estimate, alone + held);
        for (int k = 0; k < 2; k++) {
            lap_decoder_close(decoder[k]);
            lap_source_close(source[k]);
        }
        free(file.data);
    }
}

/* A walk that began with a guess forgets what it had noted before something odd. */
static void a_wrong_guess_is_forgotten(void **state)
{
    (void)state;
    enum { ODD = 6 };
    const jpeg_kind gray = {.name = "gray", .components = 1, .space = JCS_GRAYSCALE, .sampling = "11"};
    jpeg_bytes file = jpeg_make(&gray, 64, 64);
    static lap_jpeg_frame frame;
    static lap_walk_tables tables;
    assert_true(lap_jpeg_frame_read(file.data, file.size, &frame));
    lap_walk_tables_init(&tables, &frame.huffman);
    const size_t size = file.size - 2 - (size_t)frame.scan_begin;
    uint8_t *twice = malloc(2 * size + ODD + 2);
    memcpy(twice, file.data + frame.scan_begin, size);
    for (size_t i = 0; i < ODD; i++) /* ones: no code is all ones */
        twice[size + i] = i % 2 ? 0 : 0xFF;
    memcpy(twice + size + ODD, file.data + frame.scan_begin, size);
    memcpy(twice + 2 * size + ODD, "\xFF\xD9", 2);
    const lap_coded coded = {.bytes = twice, .size = 2 * size + ODD + 2, .piece = 4 * size};
    lap_track known = {0}, guessed = {0};
    lap_stretch stretch = {0};
    assert_int_equal(lap_track_make(&known, &(lap_track_plan){&coded, &tables, 0, 0, &stretch}), LAP_OK);
    assert_int_not_equal(known.odd, LAP_HUFF_FINE);
    assert_in_range(known.notes.count, 64, 66);
    assert_int_equal(lap_track_make(&guessed, &(lap_track_plan){&coded, &tables, 0, -1, &stretch}), LAP_OK);
    assert_int_equal(guessed.odd, LAP_HUFF_FINE);
    assert_true(guessed.ends);
    assert_in_range(guessed.notes.count, 1, 80);
    assert_true(guessed.notes.at[0].bit > known.notes.at[63].bit);
    lap_track_free(&known);
    lap_track_free(&guessed);
    lap_stretch_free(&stretch);
    free(twice);
    free(file.data);
}

/* The last byte is filled with ones, as far as it is not full, and nothing is left over. */
static void bits_end_with_ones(void **state)
{
    (void)state;
    for (unsigned count = 0; count < 8; count++) {
        uint8_t bytes[8] = {0};
        lap_bits bits = {.to = bytes};
        lap_bits_put(&bits, 0, count);
        lap_bits_flush(&bits);
        assert_ptr_equal(bits.to, bytes + (count > 0));
        assert_int_equal(bits.count, 0);
        assert_int_equal(bytes[0], count ? 0xFF >> count : 0);
        assert_int_equal(bytes[1], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(a_wrong_guess_is_forgotten),
        cmocka_unit_test(bits_end_with_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
