/* What is freed is empty: it holds no pointer any more, and freeing it again does nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "codec/codec.h"
#include "codec/meta.h"
#include "codec/png_text.h"
#include "coding/entropy_bytes.h"
#include "coding/entropy_scan.h"
#include "coding/entropy_track.h"
#include "io/map64.h"
#include "io/side.h"
#include "io/target.h"
#include "lapedge.h"

static int frees; /* of pointers that are not NULL */

void __real_free(void *pointer);
void __wrap_free(void *pointer);
void __wrap_free(void *pointer)
{
    frees += pointer != NULL;
    __real_free(pointer);
}

/* Fills in every pointer that the type owns, so many of them, and frees it twice. */
#define FREES(type, function, owned, none, ...)          \
    do {                                                 \
        type full = __VA_ARGS__;                         \
        const type empty = none;                         \
        frees = 0;                                       \
        function(&full);                                 \
        assert_memory_equal(&full, &empty, sizeof full); \
        function(&full);                                 \
        assert_memory_equal(&full, &empty, sizeof full); \
        assert_int_equal(frees, owned);                  \
    } while (0)

static void frees_twice(void **state)
{
    static uint8_t lent[8];
    (void)state;
    FREES(lap_chunk, lap_chunk_free, 1, {0}, {.data = malloc(8), .size = 3, .capacity = 8});
    FREES(lap_chunk, lap_chunk_free, 0, {0}, {.data = lent, .size = 3, .capacity = 8, .is_lent = true});
    FREES(lap_meta, lap_meta_free, 2, {0}, {.segments = malloc(8), .count = 1, .copies = malloc(8)});
    FREES(lap_png_texts, lap_png_texts_free, 2, {0},
        {.bytes = {.data = malloc(8), .size = 8, .capacity = 8}, .pieces = malloc(8), .count = 1});
    FREES(lap_stretch, lap_stretch_free, 2, {0}, {.bytes = malloc(8), .room = 8, .marks = malloc(8)});
    FREES(lap_scan_index, lap_scan_index_free, 3, {0},
        {.rows = malloc(8), .marks = malloc(8), .begins = malloc(8), .piece_count = 1});
    FREES(
        lap_track, lap_track_free, 2, {0}, {.notes = {.at = malloc(8)}, .marks = malloc(8), .mark_room = 1});
    FREES(lap_side, lap_side_free, 1, {0}, {.path = "a", .name = malloc(8), .is_file = true});
    FREES(lap_target, lap_target_free, 2, {.folder = -1},
        {.folder = -1, .path = malloc(8), .relative = malloc(8), .name = "a"});
}

/* Also descriptor 0 is one. */
static void a_target_closes_its_folder(void **state)
{
    const int kept = dup(STDIN_FILENO);
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        lap_target target = {.folder = turn == 0 ? 0 : open(".", O_RDONLY | O_DIRECTORY)};
        const int folder = target.folder;
        if (turn == 0)
            assert_int_equal(dup2(open("/dev/null", O_RDONLY), 0), 0);
        lap_target_free(&target);
        assert_int_equal(fcntl(folder, F_GETFD), -1);
        assert_int_equal(target.folder, -1);
    }
    if (kept >= 0)
        assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
}

static void a_map_is_empty(void **state)
{
    lap_map64 map = {0};
    const lap_map64 empty = {0};
    (void)state;
    assert_int_equal(lap_map64_put(&map, 7, 8, NULL), LAP_OK);
    frees = 0;
    lap_map64_free(&map);
    assert_int_equal(frees, 1);
    assert_memory_equal(&map, &empty, sizeof map);
    assert_null(lap_map64_find(&map, 7));
    assert_int_equal(lap_map64_put(&map, 7, 9, NULL), LAP_OK);
    assert_int_equal(*lap_map64_find(&map, 7), 9);
    lap_map64_free(&map);
}

/* Its figures stay. */
static void a_measurement_keeps_no_pointer(void **state)
{
    lap_measurement m = {.width = 3, .rows = malloc(8), .columns = malloc(8), .note = malloc(8)};
    (void)state;
    frees = 0;
    for (int i = 0; i < 2; i++) {
        lap_measurement_free(&m);
        assert_int_equal(frees, 3);
        assert_null(m.rows);
        assert_null(m.columns);
        assert_null(m.note);
        assert_int_equal(m.width, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frees_twice),
        cmocka_unit_test(a_target_closes_its_folder),
        cmocka_unit_test(a_map_is_empty),
        cmocka_unit_test(a_measurement_keeps_no_pointer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
