#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/exif.h"

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
            size_t size = lap_exif_patch(b.bytes, b.size, 300, 70000, turned, LAP_KEEP_GPS);
            if (turned)
                put(&expected, ORIENTATION + 8, 2, 1);
            put(&expected, LENGTH + 8, 4, 70000);
            put(&expected, PIXEL_X + 8, 2, 300);
            put(&expected, PIXEL_Y + 8, 4, 70000);
            put(&expected, LINK, 4, 0);
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
    assert_int_equal(lap_exif_patch(b.bytes, b.size, 1, 1, false, LAP_KEEP_GPS), b.size);
    for (int i = 0; i < THUMBNAIL_SIZE; i++)
        assert_int_equal(b.bytes[6 + THUMBNAIL + i], 0);
    assert_int_equal(b.bytes[b.size - 1], 0xEE);
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
        assert_int_equal(lap_exif_patch(b.bytes, b.size, 30, 20, false, LAP_KEEP_GPS), b.size);
        assert_int_equal(get(&b, 26, 2), 2);
        assert_memory_equal(b.bytes + 6 + 28, before.bytes + 6 + 28, 12);
        assert_int_equal(get(&b, 40, 2), 0xA002);
        assert_int_equal(get(&b, 48, 2), 30);
        for (size_t i = 52; i < 128; i++) /* the link, what the entries left, the note */
            assert_int_equal(b.bytes[6 + i], 0);
        for (size_t i = 128; i < 140; i++)
            assert_int_equal(b.bytes[6 + i], 0xCD);
        b = build_note(big, 68, 72); /* to the end: cut off */
        assert_int_equal(lap_exif_patch(b.bytes, b.size, 30, 20, false, LAP_KEEP_GPS), 6 + 68);
        /* What claims to lie over the tags, or outside, wipes nothing. */
        const uint32_t lies[][2] = {{0, 140}, {8, 30}, {20, 30}, {50, 30}, {100, 41}, {0xFFFFFFF0, 0x20}};
        for (int i = 0; i < 6; i++) {
            b = build_note(big, lies[i][0], lies[i][1]);
            assert_int_equal(lap_exif_patch(b.bytes, b.size, 30, 20, false, LAP_KEEP_GPS), b.size);
            assert_int_equal(get(&b, 26, 2), 2);
            assert_int_equal(get(&b, 48, 2), 30);
            for (size_t k = 68; k < 128; k++)
                assert_int_equal(b.bytes[6 + k], 0xAB);
        }
    }
}

/* GPS {a value of three rationals} right behind the TIFF header, IFD0 {orientation, link to GPS}, the
 * rationals, somebody else's bytes. */
enum { GPS = 8, GPS_IFD0 = 26, GPS_VALUE = 64, GPS_BEHIND = 88 };

static builder build_gps(bool big, uint32_t type, uint32_t link)
{
    builder b = {.size = 6 + 100, .big = big};
    memcpy(b.bytes, "Exif\0\0", 6);
    memcpy(b.bytes + 6, big ? "MM" : "II", 2);
    put(&b, 2, 2, 42);
    put(&b, 4, 4, GPS_IFD0);
    put(&b, GPS, 2, 1);
    entry(&b, GPS + 2, 2, type, GPS_VALUE);
    put(&b, GPS + 6, 4, 3);
    put(&b, GPS_IFD0, 2, 2);
    entry(&b, GPS_IFD0 + 2, 0x0112, 3, 6);
    entry(&b, GPS_IFD0 + 14, 0x8825, 4, link);
    memset(b.bytes + 6 + GPS_VALUE, 0xAB, GPS_BEHIND - GPS_VALUE);
    memset(b.bytes + 6 + GPS_BEHIND, 0xCD, 12);
    return b;
}

static void the_place_goes(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        builder b = build_gps(i & 1, i & 2 ? 10 : 5, GPS); /* signed rationals and plain ones: 8 bytes each */
        assert_int_equal(lap_exif_patch(b.bytes, b.size, 30, 20, false, 0), b.size);
        for (size_t k = 0; k < 14; k++)
            assert_int_equal(b.bytes[6 + GPS + k], 0);
        for (size_t k = GPS_VALUE; k < GPS_BEHIND; k++)
            assert_int_equal(b.bytes[6 + k], 0);
        for (size_t k = GPS_BEHIND; k < 100; k++)
            assert_int_equal(b.bytes[6 + k], 0xCD);
        assert_int_equal(get(&b, GPS_IFD0, 2), 1);
        assert_int_equal(lap_exif_orientation(b.bytes, b.size), 6);
    }
    builder b = build_gps(false, 5, GPS_IFD0); /* said to lie on the tags: they stay */
    assert_int_equal(lap_exif_patch(b.bytes, b.size, 30, 20, false, 0), b.size);
    assert_int_equal(get(&b, GPS_IFD0, 2), 1);
    assert_int_equal(lap_exif_orientation(b.bytes, b.size), 6);
}

static void lying_offsets_do_no_harm(void **state)
{
    (void)state;
    builder b = build(false, 3);
    put(&b, IFD1 + 10, 4, IFD0); /* a thumbnail on top of the tags */
    put(&b, IFD1 + 22, 4, THUMBNAIL + THUMBNAIL_SIZE - IFD0);
    assert_int_equal(lap_exif_patch(b.bytes, b.size, 1, 1, false, LAP_KEEP_GPS), b.size);
    assert_int_equal(lap_exif_orientation(b.bytes, b.size), 3);
    b = build(false, 3);
    put(&b, LINK, 4, IFD0); /* a directory that follows itself */
    lap_exif_patch(b.bytes, b.size, 1, 1, false, LAP_KEEP_GPS);
    b = build(false, 3);
    put(&b, EXIF_LINK + 8, 4, IFD0);
    lap_exif_patch(b.bytes, b.size, 1, 1, false, LAP_KEEP_GPS);
    b = build(false, 3);
    put(&b, IFD0, 2, 0xFFFF); /* more entries than bytes */
    assert_int_equal(lap_exif_orientation(b.bytes, b.size), 3);
    assert_int_equal(lap_exif_patch(b.bytes, b.size, 1, 1, true, LAP_KEEP_GPS), b.size);
}

/* Every cut, and random bytes written over good ones, on the heap, so that a sanitizer sees each
 * access beyond the end. */
static void any_bytes_are_safe(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        builder b = build(round & 1, 5);
        size_t size = (size_t)round / 2 % (b.size + 1);
        uint8_t *copy = malloc(size + 1);
        memcpy(copy, b.bytes, size);
        for (int i = 0; round >= 1000 && i < 4 && size > 0; i++) {
            seed = seed * 1664525u + 1013904223u;
            copy[(seed >> 8) % size] = (uint8_t)(seed >> 24);
        }
        copy = realloc(copy, size ? size : 1);
        int orientation = lap_exif_orientation(copy, size);
        assert_in_range(orientation, 1, 8);
        assert_true(lap_exif_patch(copy, size, 10, 20, true, LAP_KEEP_GPS) <= size);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientation_is_read),
        cmocka_unit_test(the_patch_changes_what_it_should),
        cmocka_unit_test(a_thumbnail_inside_is_zeroed),
        cmocka_unit_test(a_makers_note_goes),
        cmocka_unit_test(the_place_goes),
        cmocka_unit_test(lying_offsets_do_no_harm),
        cmocka_unit_test(any_bytes_are_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
