/* Pieces of a JPEG's coded data: walks that guess, what parts hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coding/entropy_scan.h"
#include "coding/entropy_track.h"
#include "coding/jpeg_frame_read.h"
#include "tests/support/jpeg_make.h"
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
            assert_int_equal(lap_decoder_opens_at(decoder[k]), k);
        }
        const size_t alone = lap_decoder_header(decoder[0])->memory_estimate, held = decoder[1]->held;
        assert_int_equal(decoder[0]->held, 0);
        const size_t rows = (300 / 16 + 2) * sizeof(lap_scan_row);
        assert_in_range(held, i ? 0 : rows, i ? 0 : rows + 1000);
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

static void same_track(const lap_track *a, const lap_track *b)
{
    assert_int_equal(a->notes.count, b->notes.count);
    if (a->notes.count > 0)
        assert_memory_equal(a->notes.at, b->notes.at, a->notes.count * sizeof *a->notes.at);
    assert_int_equal(a->mark_count, b->mark_count);
    for (size_t i = 0; i < a->mark_count; i++) {
        const lap_track_mark *x = &a->marks[i], *y = &b->marks[i];
        assert_int_equal(x->note, y->note);
        assert_int_equal(x->end_bit, y->end_bit);
        assert_int_equal(x->bit, y->bit);
        assert_memory_equal(x->dc, y->dc, sizeof x->dc);
        assert_int_equal(x->code, y->code);
    }
    assert_int_equal(a->odd, b->odd);
    assert_int_equal(a->ends, b->ends);
    if (a->ends) {
        assert_int_equal(a->end_bit, b->end_bit);
        assert_memory_equal(a->end_dc, b->end_dc, sizeof a->end_dc);
    }
}

/* Two walks side by side find what each finds alone: with markers and without, in whole and damaged data, and
 * where one piece is much shorter than the other. */
static void two_walks_are_each_as_alone(void **state)
{
    enum { PIECE = 4000 };
    static const int restarts[] = {0, 0, 3, 90};
    (void)state;
    size_t notes = 0;
    for (int i = 0; i < 16; i++) {
        const jpeg_kind kind = {.components = 3,
            .space = JCS_YCbCr,
            .sampling = i % 3 ? "22 11 11" : "11 11 11",
            .restart = restarts[i % 4]};
        jpeg_bytes file = jpeg_make(&kind, 300, 400);
        static lap_jpeg_frame frame;
        static lap_walk_tables tables;
        assert_true(lap_jpeg_frame_read(file.data, file.size, &frame));
        lap_walk_tables_init(&tables, &frame.huffman);
        for (size_t at = file.size - 9; i >= 8 && at > frame.scan_begin + 7001; at -= 7001)
            file.data[at] ^= 0x55;
        const lap_coded coded = {.bytes = file.data + frame.scan_begin,
            .size = file.size - (size_t)frame.scan_begin,
            .piece = PIECE,
            .restarts = kind.restart > 0};
        const size_t count = lap_coded_pieces(&coded);
        assert_true(count > 4);
        for (size_t k = 0; k + 1 < count; k++) {
            lap_track alone[2] = {0}, both[2] = {0};
            lap_stretch stretches[2] = {0};
            lap_track_plan plans[2];
            for (size_t m = 0; m < 2; m++) {
                plans[m] = (lap_track_plan){&coded, &tables, k + m, k + m == 0 ? 0 : -1, &stretches[m]};
                assert_int_equal(lap_track_make(&alone[m], &plans[m]), LAP_OK);
            }
            assert_int_equal(lap_track_make_two(both, plans), LAP_OK);
            for (size_t m = 0; m < 2; m++) {
                same_track(&alone[m], &both[m]);
                notes += both[m].notes.count;
                lap_track_free(&alone[m]);
                lap_track_free(&both[m]);
                lap_stretch_free(&stretches[m]);
            }
        }
        free(file.data);
    }
    assert_true(notes > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(a_wrong_guess_is_forgotten),
        cmocka_unit_test(two_walks_are_each_as_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
