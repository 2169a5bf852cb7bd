#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/exif.h"
#include "tests/support/edge.h"

enum { CAPACITY = 512 };

typedef struct builder {
    uint8_t bytes[CAPACITY]; /* the whole payload, signature first */
    size_t size;
    bool big;
} builder;

static void put(builder *b, size_t at, int width, uint32_t value)
{
    for (int i = 0; i < width; i++)
        b->bytes[6 + at + (size_t)(b->big ? width - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

static uint32_t get(const builder *b, size_t at, int width)
{
    uint32_t value = 0;
    for (int i = width - 1; i >= 0; i--)
        value = value << 8 | b->bytes[6 + at + (size_t)(b->big ? width - 1 - i : i)];
    return value;
}

static void entry(builder *b, size_t at, uint32_t tag, uint32_t type, uint32_t value)
{
    put(b, at, 2, tag);
    put(b, at + 2, 2, type);
    put(b, at + 4, 4, 1);
    put(b, at + 8, type == 3 ? 2 : 4, value);
}

/* What an output gets of a payload, in its place; its size. */
static size_t choose(uint8_t *bytes, size_t size, lap_exif_change change)
{
    uint8_t *to = malloc(LAP_EXIF_ROOM + size);
    size_t left = 0;
    assert_non_null(to);
    assert_int_equal(lap_exif_choose(bytes, size, &change, to, &left, NULL), LAP_OK);
    assert_true(left <= size || (change.keep & LAP_KEEP_LISTED));
    memcpy(bytes, to, left < size ? left : size);
    free(to);
    return left;
}

/* Without a list. */
static size_t patch(uint8_t *bytes, size_t size, int width, int height, bool turned)
{
    return choose(bytes, size, (lap_exif_change){width, height, turned, LAP_KEEP_EXIF | LAP_KEEP_GPS, NULL});
}

/* Offsets of what the fixture holds, in the TIFF structure. */
enum {
    IFD0 = 8,
    ORIENTATION = 10,
    LENGTH = 22,
    EXIF_LINK = 34,
    LINK = 46,
    EXIF = 50,
    PIXEL_X = 52,
    PIXEL_Y = 64,
    NOTE = 80,
    IFD1 = 100,
    THUMBNAIL = 140,
    THUMBNAIL_SIZE = 60
};

/* IFD0 {orientation, image length, link to EXIF}, EXIF {x as SHORT, y as LONG}, a maker's note,
 * IFD1 {offset, size}, a thumbnail at the very end. */
static builder build(bool big, int orientation)
{
    builder b = {.size = 6 + THUMBNAIL + THUMBNAIL_SIZE, .big = big};
    memcpy(b.bytes, "Exif\0\0", 6);
    memcpy(b.bytes + 6, big ? "MM" : "II", 2);
    put(&b, 2, 2, 42);
    put(&b, 4, 4, IFD0);
    put(&b, IFD0, 2, 3);
    entry(&b, ORIENTATION, 0x0112, 3, (uint32_t)orientation);
    entry(&b, LENGTH, 0x0101, 4, 4000);
    entry(&b, EXIF_LINK, 0x8769, 4, EXIF);
    put(&b, LINK, 4, IFD1);
    put(&b, EXIF, 2, 2);
    entry(&b, PIXEL_X, 0xA002, 3, 6000);
    entry(&b, PIXEL_Y, 0xA003, 4, 4000);
    memset(b.bytes + 6 + NOTE, 0xAB, 16);
    put(&b, IFD1, 2, 2);
    entry(&b, IFD1 + 2, 0x0201, 4, THUMBNAIL);
    entry(&b, IFD1 + 14, 0x0202, 4, THUMBNAIL_SIZE);
    memset(b.bytes + 6 + THUMBNAIL, 0xCD, THUMBNAIL_SIZE);
    return b;
}

static void orientation_is_read(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++)
        for (int i = 0; i <= 9; i++) {
            builder b = build(big, i);
            assert_int_equal(lap_exif_orientation(b.bytes, b.size), i >= 1 && i <= 8 ? i : 1);
        }
    builder b = build(true, 6);
    put(&b, ORIENTATION + 2, 2, 2); /* ASCII is no orientation */
    assert_int_equal(lap_exif_orientation(b.bytes, b.size), 1);
    b = build(false, 6);
    put(&b, ORIENTATION + 4, 4, 2); /* nor are two values */
    assert_int_equal(lap_exif_orientation(b.bytes, b.size), 1);
    b = build(false, 6);
    b.bytes[6] = 'X';
    assert_int_equal(lap_exif_orientation(b.bytes, b.size), 1);
    assert_int_equal(lap_exif_orientation((const uint8_t *)"Exif\0\0", 6), 1);
    assert_int_equal(lap_exif_orientation(NULL, 0), 1);
}

static void the_patch_changes_what_it_should(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++)
        for (int turned = 0; turned < 2; turned++) {
            builder b = build(big, 6), expected = b;
            size_t size = patch(b.bytes, b.size, 300, 70000, turned);
            if (turned)
                put(&expected, ORIENTATION + 8, 2, 1);
            put(&expected, LENGTH + 8, 4, 70000);
            put(&expected, PIXEL_X + 8, 2, 300);
            put(&expected, PIXEL_Y + 8, 4, 70000);
            put(&expected, LINK, 4, 0);
            memset(expected.bytes + 6 + NOTE, 0, 16); /* nothing refers to it */
            assert_int_equal(size, 6 + THUMBNAIL);
            assert_memory_equal(b.bytes, expected.bytes, size);
        }
}

static void a_thumbnail_inside_is_zeroed(void **state)
{
    (void)state;
    builder b = build(false, 1);
    b.size += 10;
    memset(b.bytes + b.size - 10, 0xEE, 10);
    assert_int_equal(patch(b.bytes, b.size, 1, 1, false), b.size);
    for (int i = 0; i < THUMBNAIL_SIZE + 10; i++) /* and what nothing refers to */
        assert_int_equal(b.bytes[6 + THUMBNAIL + i], 0);
    assert_int_equal(get(&b, LINK, 4), 0);
}

/* IFD0 {link to EXIF}, EXIF {version, note, x}, the note, another value; no thumbnail. */
static builder build_note(bool big, uint32_t note, uint32_t length)
{
    builder b = {.size = 6 + 140, .big = big};
    memcpy(b.bytes, "Exif\0\0", 6);
    memcpy(b.bytes + 6, big ? "MM" : "II", 2);
    put(&b, 2, 2, 42);
    put(&b, 4, 4, 8);
    put(&b, 8, 2, 1);
    entry(&b, 10, 0x8769, 4, 26);
    put(&b, 26, 2, 3);
    entry(&b, 28, 0x9000, 4, 0x30323332);
    entry(&b, 40, 0x927C, 7, note);
    put(&b, 44, 4, length);
    entry(&b, 52, 0xA002, 3, 6000);
    put(&b, 64, 4, 0);
    memset(b.bytes + 6 + 68, 0xAB, 60);
    memset(b.bytes + 6 + 128, 0xCD, 12);
    return b;
}

static void a_makers_note_goes(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        builder b = build_note(big, 68, 60), before = b;
        assert_int_equal(patch(b.bytes, b.size, 30, 20, false), b.size);
        assert_int_equal(get(&b, 26, 2), 2);
        assert_memory_equal(b.bytes + 6 + 28, before.bytes + 6 + 28, 12);
        assert_int_equal(get(&b, 40, 2), 0xA002);
        assert_int_equal(get(&b, 48, 2), 30);
        for (size_t i = 52; i < 128; i++) /* the link, what the entries left, the note */
            assert_int_equal(b.bytes[6 + i], 0);
        for (size_t i = 128; i < 140; i++) /* nothing refers to it */
            assert_int_equal(b.bytes[6 + i], 0);
        b = build_note(big, 68, 72); /* to the end: cut off */
        assert_int_equal(patch(b.bytes, b.size, 30, 20, false), 6 + 68);
        /* What claims to lie over the tags, or outside, does no harm to them. */
        const uint32_t lies[][2] = {{0, 140}, {8, 30}, {20, 30}, {50, 30}, {100, 41}, {0xFFFFFFF0, 0x20}};
        for (int i = 0; i < 6; i++) {
            b = build_note(big, lies[i][0], lies[i][1]);
            assert_int_equal(patch(b.bytes, b.size, 30, 20, false), b.size);
            assert_int_equal(get(&b, 26, 2), 2);
            assert_int_equal(get(&b, 48, 2), 30);
            for (size_t k = 68; k < 128; k++)
                assert_int_equal(b.bytes[6 + k], 0);
        }
    }
}

/* IFD0 {model, orientation, link to EXIF, link to GPS, unknown tag}, EXIF {x}, GPS {a value of three
 * rationals}, and what they lead to. */
enum { GPS = 120, GPS_VALUE = 140, MODEL_VALUE = 164, UNKNOWN_VALUE = 180, GPS_END = 200 };

static builder build_gps(bool big)
{
    builder b = {.size = 6 + GPS_END, .big = big};
    memcpy(b.bytes, "Exif\0\0", 6);
    memcpy(b.bytes + 6, big ? "MM" : "II", 2);
    put(&b, 2, 2, 42);
    put(&b, 4, 4, 8);
    put(&b, 8, 2, 5);
    entry(&b, 10, 0x0110, 2, MODEL_VALUE);
    put(&b, 14, 4, 16);
    entry(&b, 22, 0x0112, 3, 6);
    entry(&b, 34, 0x8769, 4, 80);
    entry(&b, 46, 0x8825, 4, GPS);
    entry(&b, 58, 0xC999, 7, UNKNOWN_VALUE);
    put(&b, 62, 4, 20);
    put(&b, 80, 2, 1);
    entry(&b, 82, 0xA002, 3, 6000);
    put(&b, GPS, 2, 1);
    entry(&b, GPS + 2, 2, 5, GPS_VALUE);
    put(&b, GPS + 6, 4, 3);
    memset(b.bytes + 6 + GPS_VALUE, 0xAB, 24);
    memcpy(b.bytes + 6 + MODEL_VALUE, "a camera's name", 16);
    memset(b.bytes + 6 + UNKNOWN_VALUE, 0xCD, 20);
    return b;
}

static bool has_byte(const builder *b, size_t size, int byte)
{
    return memchr(b->bytes + 14, byte, size - 14) != NULL;
}

static void a_list_writes_anew(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        builder b = build_gps(i & 1);
        lap_meta_drops drops = {.warnings = 0};
        const unsigned keep = LAP_KEEP_LISTED | LAP_KEEP_EXIF | (i & 2 ? LAP_KEEP_GPS : 0);
        const size_t size = choose(b.bytes, b.size, (lap_exif_change){70000, 20, i == 1, keep, &drops});
        assert_memory_equal(b.bytes + 6, i & 1 ? "MM\0*" : "II*\0", 4);
        assert_int_equal(get(&b, 8, 2), i & 2 ? 4 : 3);
        assert_int_equal(get(&b, 10, 2), 0x0110);
        assert_string_equal(b.bytes + 6 + get(&b, 18, 4), "a camera's name");
        assert_int_equal(lap_exif_orientation(b.bytes, size), i == 1 ? 1 : 6);
        const uint32_t exif = get(&b, 42, 4);
        assert_int_equal(get(&b, exif, 2), 1);
        assert_int_equal(get(&b, exif + 4, 2), 4); /* too many pixels for a SHORT */
        assert_int_equal(get(&b, exif + 10, 4), 70000);
        assert_int_equal(has_byte(&b, size, 0xAB), i / 2);
        assert_false(has_byte(&b, size, 0xCD));
        assert_int_equal(drops.count[0], i & 2 ? 1 : 3);
        assert_int_equal(drops.warnings, 0);
    }
}

/* A pointer to itself, to another's directory, or to the header is followed by nobody. */
static void pointers_in_circles_end(void **state)
{
    (void)state;
    const uint32_t targets[] = {0, 1, 7, 8, 10, GPS, GPS + 12, GPS_END - 1, GPS_END, 0xFFFFFFFF};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (int k = 0; k < 8; k++) {
            builder b = build_gps(k & 1);
            const unsigned all = LAP_KEEP_EXIF | LAP_KEEP_GPS | LAP_KEEP_THUMBNAIL;
            put(&b, k & 2 ? 42 : 54, 4, targets[i]);
            put(&b, 70, 4, targets[i]);
            choose(
                b.bytes, b.size, (lap_exif_change){1, 1, false, all | (k & 4 ? LAP_KEEP_LISTED : 0), NULL});
        }
}

static void what_is_broken_goes(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        builder b = build_gps(i & 1);
        lap_meta_drops drops = {.warnings = 0};
        if (i / 2 == 0)
            put(&b, 2, 2, 43);
        else if (i / 2 == 1)
            put(&b, 4, 4, GPS_END);
        else
            put(&b, 8, 2, 17); /* more entries than bytes */
        assert_int_equal(choose(b.bytes, b.size, (lap_exif_change){1, 1, false, LAP_KEEP_EXIF, &drops}), 0);
        assert_int_equal(drops.warnings, 1);
    }
}

/* A thumbnail that the list names is written anew, too: without its metadata, without what follows it. */
static void a_thumbnail_is_kept_clean(void **state)
{
    (void)state;
    static const uint8_t jpeg[] = {0xFF, 0xD8, 0xFF, 0xE1, 0, 6, 'E', 'x', 'i', 'f', 0xFF, 0xDA, 0, 8, 1, 1,
        0, 0, 63, 0, 1, 2, 0xFF, 0, 0xFF, 0xD9, 'x', 'x'};
    for (int kept = 0; kept < 2; kept++) {
        builder b = build(kept, 6);
        memcpy(b.bytes + 6 + THUMBNAIL, jpeg, sizeof jpeg);
        const unsigned keep = LAP_KEEP_LISTED | LAP_KEEP_EXIF | (kept ? LAP_KEEP_THUMBNAIL : 0);
        const size_t size = choose(b.bytes, b.size, (lap_exif_change){1, 1, false, keep, NULL});
        const uint8_t *found = memmem(b.bytes, size, "\xFF\xD8", 2);
        assert_true((found != NULL) == kept);
        if (found) {
            assert_int_equal(b.bytes + size - found, 18);
            assert_memory_equal(found + 2, jpeg + 10, 16);
        }
    }
}

static void lying_offsets_do_no_harm(void **state)
{
    (void)state;
    builder b = build(false, 3);
    put(&b, IFD1 + 10, 4, IFD0); /* a thumbnail on top of the tags */
    put(&b, IFD1 + 22, 4, THUMBNAIL + THUMBNAIL_SIZE - IFD0);
    assert_int_equal(patch(b.bytes, b.size, 1, 1, false), b.size);
    assert_int_equal(lap_exif_orientation(b.bytes, b.size), 3);
    b = build(false, 3);
    put(&b, LINK, 4, IFD0); /* a directory that follows itself */
    patch(b.bytes, b.size, 1, 1, false);
    b = build(false, 3);
    put(&b, EXIF_LINK + 8, 4, IFD0);
    patch(b.bytes, b.size, 1, 1, false);
    b = build(false, 3);
    put(&b, IFD0, 2, 0xFFFF); /* more entries than bytes */
    assert_int_equal(lap_exif_orientation(b.bytes, b.size), 3);
    assert_int_equal(patch(b.bytes, b.size, 1, 1, true), 0);
}

/* Every cut, and random bytes written over good ones. */
static void any_bytes_are_safe(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        builder b = build(round & 1, 5);
        size_t size = (size_t)round / 2 % (b.size + 1);
        uint8_t *copy = at_edge(b.bytes, size);
        for (int i = 0; round >= 1000 && i < 4 && size > 0; i++) {
            seed = seed * 1664525u + 1013904223u;
            copy[(seed >> 8) % size] = (uint8_t)(seed >> 24);
        }
        int orientation = lap_exif_orientation(copy, size);
        assert_in_range(orientation, 1, 8);
        choose(copy, size,
            (lap_exif_change){10, 20, true, round & 2 ? 255 : LAP_KEEP_EXIF | LAP_KEEP_LISTED, NULL});
        assert_true(patch(copy, size, 10, 20, true) <= size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientation_is_read),
        cmocka_unit_test(the_patch_changes_what_it_should),
        cmocka_unit_test(a_thumbnail_inside_is_zeroed),
        cmocka_unit_test(a_makers_note_goes),
        cmocka_unit_test(a_list_writes_anew),
        cmocka_unit_test(pointers_in_circles_end),
        cmocka_unit_test(what_is_broken_goes),
        cmocka_unit_test(a_thumbnail_is_kept_clean),
        cmocka_unit_test(lying_offsets_do_no_harm),
        cmocka_unit_test(any_bytes_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
