/* What an output gets of EXIF, tag by tag, and what is reported of the rest; limits on both sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/exif.h"
#include "tests/support/drops.h"
#include "tests/support/edge.h"

enum {
    ROOM = 140000,
    BYTE = 1,
    ASCII,
    SHORT,
    LONG,
    RATIONAL,
    UNDEFINED = 7,
    UTF8 = 129,
    LIST = LAP_KEEP_LISTED | LAP_KEEP_EXIF,
    UNASKED = LAP_KEEP_EXIF | LAP_KEEP_GPS,
    IFD0 = 8
};

/* A TIFF structure that grows; offsets count from its beginning. */
typedef struct tiff {
    uint8_t bytes[ROOM];
    size_t size;
    bool is_big;
} tiff;

static void put(tiff *t, size_t at, int width, size_t value)
{
    for (int i = 0; i < width; i++)
        t->bytes[at + (size_t)(t->is_big ? width - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

static size_t get(const tiff *t, size_t at, int width)
{
    size_t value = 0;
    for (int i = 0; i < width; i++)
        value |= (size_t)t->bytes[at + (size_t)(t->is_big ? width - 1 - i : i)] << 8 * i;
    return value;
}

static size_t directory(tiff *t, size_t entries)
{
    const size_t at = t->size;
    t->size += 2 + 12 * entries + 4;
    memset(t->bytes + at, 0, t->size - at);
    put(t, at, 2, entries);
    return at;
}

static void begin(tiff *t, bool is_big, size_t entries)
{
    t->size = IFD0;
    t->is_big = is_big;
    memcpy(t->bytes, is_big ? "MM" : "II", 2);
    put(t, 2, 2, 42);
    put(t, 4, 4, IFD0);
    directory(t, entries);
}

static size_t data(tiff *t, const void *bytes, size_t size)
{
    const size_t at = t->size;
    memcpy(t->bytes + at, bytes, size);
    t->size += size;
    return at;
}

static void tag(tiff *t, size_t at, size_t i, size_t number, size_t type, size_t values, size_t value)
{
    at += 2 + 12 * i;
    put(t, at, 2, number);
    put(t, at + 2, 2, type);
    put(t, at + 4, 4, values);
    put(t, at + 8, type == SHORT && values == 1 ? 2 : 4, value);
}

/* The text goes outside, if it is long. */
static void text(tiff *t, size_t at, size_t i, size_t number, size_t type, const char *value)
{
    const size_t size = strlen(value) + 1;
    tag(t, at, i, number, type, size, size > 4 ? data(t, value, size) : 0);
    if (size <= 4)
        memcpy(t->bytes + at + 2 + 12 * i + 8, value, size);
}

/* A directory and those below it, as text: {tag:type:values=value ...}, a value as text or as a number. */
static void dump(const tiff *t, size_t at, char *to)
{
    static const uint8_t sizes[14] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    const size_t count = get(t, at, 2);
    strcat(to, "{");
    for (size_t i = 0; i < count; i++) {
        const size_t e = at + 2 + 12 * i, number = get(t, e, 2), type = get(t, e + 2, 2),
                     values = get(t, e + 4, 4), size = (type < 14 ? sizes[type] : type == UTF8) * values,
                     from = size > 4 ? get(t, e + 8, 4) : e + 8;
        to += strlen(to);
        sprintf(to, "%s%zx:%zu:%zu=", i ? " " : "", number, type, values);
        if (number == 0x8769 || number == 0x8825 || number == 0xA005)
            dump(t, get(t, e + 8, 4), to);
        else if (from + size > t->size)
            strcat(to, "outside");
        else if (type == ASCII || type == UTF8)
            sprintf(to + strlen(to), "%.*s", (int)size, (const char *)t->bytes + from);
        else
            for (size_t k = 0; k < size; k += 4 < size ? 4 : size)
                sprintf(to + strlen(to), "%s%zu", k ? "," : "", get(t, from + k, size < 4 ? (int)size : 4));
    }
    strcat(to, "}");
    const size_t next = get(t, at + 2 + 12 * count, 4);
    if (next)
        dump(t, next, to);
}

/* The output is left in `t`. */
static const char *chosen(tiff *t, lap_exif_change change)
{
    static drops d;
    static uint8_t payload[ROOM + 6], to[LAP_EXIF_ROOM + ROOM];
    size_t size = 0;
    change.drops = drops_begin(&d);
    memcpy(payload, "Exif\0", 6);
    memcpy(payload + 6, t->bytes, t->size);
    memset(to, 0xA5, sizeof to);
    assert_int_equal(
        lap_exif_choose(at_edge(payload, t->size + 6), t->size + 6, &change, to, &size, NULL), LAP_OK);
    assert_true(size == 0 || memcmp(to, "Exif\0", 6) == 0);
    t->size = size ? size - 6 : 0;
    memcpy(t->bytes, to + 6, t->size);
    return drops_text(&d);
}

static void becomes(tiff t, lap_exif_change change, const char *expected, const char *said)
{
    char found[4000] = "";
    assert_string_equal(chosen(&t, change), said);
    if (t.size)
        dump(&t, IFD0, found);
    assert_string_equal(found, expected);
}

/* One of each reason. */
static void build_all(tiff *t, bool is_big)
{
    begin(t, is_big, 15);
    text(t, IFD0, 0, 0x010E, ASCII, "a title");
    tag(t, IFD0, 1, 0x0110, SHORT, 1, 7);
    tag(t, IFD0, 2, 0x010F, ASCII, 100, ROOM);
    tag(t, IFD0, 3, 0x0131, 0, 1, 0);
    tag(t, IFD0, 4, 0x0132, 14, 1, 0);
    text(t, IFD0, 5, 0x010E, ASCII, "another");
    tag(t, IFD0, 6, 0x0112, SHORT, 1, 6);
    text(t, IFD0, 10, 0x013B, UTF8, "an artist");
    tag(t, IFD0, 11, 0xC4A5, UNDEFINED, 4, 1);
    tag(t, IFD0, 13, 0x8298, ASCII, 0, 0);
    const size_t exif = directory(t, 5), gps = directory(t, 2), interop = directory(t, 1),
                 second = directory(t, 1);
    tag(t, IFD0, 7, 0x8769, LONG, 1, exif);
    tag(t, IFD0, 8, 0x8825, LONG, 1, gps);
    tag(t, IFD0, 12, 0xA005, LONG, 1, interop);
    tag(t, exif, 0, 0xA002, LONG, 1, 6000);
    tag(t, exif, 1, 0xA003, SHORT, 1, 4000);
    tag(t, exif, 2, 0xA005, LONG, 1, interop);
    text(t, exif, 3, 0x927C, UNDEFINED, "a maker's note");
    text(t, exif, 4, 0x9286, UNDEFINED, "a photo: \xFF\xD8\xFF");
    text(t, gps, 0, 0x0001, ASCII, "N");
    tag(t, gps, 1, 0x0002, RATIONAL, 1, data(t, "12345678", 8));
    put(t, t->size - 8, 4, 47);
    put(t, t->size - 4, 4, 10);
    text(t, interop, 0, 0x0001, ASCII, "R98");
    text(t, second, 0, 0x0110, ASCII, "in the second");
    put(t, second - 4, 4, 0);
    put(t, IFD0 + 2 + 12 * 15, 4, second);
    const size_t sub = directory(t, 1), other = directory(t, 1);
    tag(t, sub, 0, 0x0100, LONG, 1, 16);
    tag(t, other, 0, 0x4242, LONG, 1, 16);
    uint8_t both[8] = {0};
    const size_t at = data(t, both, 8);
    put(t, at, 4, sub);
    put(t, at + 4, 4, other);
    tag(t, IFD0, 9, 0x014A, LONG, 2, at);
    tag(t, IFD0, 14, 0x0201, LONG, 1, at);
    data(t, "loose", 5);
}

#define WITHOUT_A_LIST                                   \
    "EXIF IFD0 Software 305 0: unknown type\n"           \
    "EXIF IFD0 DateTime 306 0: unknown type\n"           \
    "EXIF IFD0 SubIFDs 330 8: thumbnail\n"               \
    "EXIF IFD0 JPEGInterchangeFormat 513 4: thumbnail\n" \
    "EXIF Exif MakerNote 37500 15: maker's note\n"       \
    "EXIF Exif UserComment 37510 13: thumbnail\n"        \
    "EXIF IFD1 Model 272 14: thumbnail\n"
#define WITH_A_LIST(gps)                                                                          \
    "EXIF IFD0 Model 272 2: unusual type\n"                                                       \
    "EXIF IFD0 Make 271 100: broken\n"                                                            \
    "EXIF IFD0 Software 305 0: unknown type\n"                                                    \
    "EXIF IFD0 DateTime 306 0: unknown type\n"                                                    \
    "EXIF IFD0 ImageDescription 270 8: stands twice\n" gps "EXIF IFD0 SubIFDs 330 8: thumbnail\n" \
    "EXIF IFD0  50341 4: unknown tag\n"                                                           \
    "EXIF IFD0 InteropIFD 40965 4: unusual pointer\n"                                             \
    "EXIF IFD0 Copyright 33432 0: broken\n"                                                       \
    "EXIF IFD0 JPEGInterchangeFormat 513 4: thumbnail\n"                                          \
    "EXIF Exif MakerNote 37500 15: maker's note\n"                                                \
    "EXIF Exif UserComment 37510 13: thumbnail\n"                                                 \
    "EXIF IFD1 Model 272 14: thumbnail\n"
#define AT_THE_END                                  \
    "EXIF SubIFD ImageWidth 256 4: unknown place\n" \
    "EXIF SubIFD  16962 4: unknown place\n"         \
    "EXIF   -1 5: nothing refers to it\n"
#define EXIF_OF(height) "8769:4:1={a002:4:1=640 a003:" height " a005:4:1={1:2:4=R98}}"
#define PLACE "8825:4:1={1:2:2=N 2:5:1=47,10}"

static void each_reason_is_told(void **state)
{
    (void)state;
    static tiff t;
    for (int big = 0; big < 2; big++) {
        build_all(&t, big);
        becomes(t, (lap_exif_change){.width = 640, .height = 70000, .turned = true, .keep = LIST},
            "{10e:2:8=a title 112:3:1=1 13b:129:10=an artist " EXIF_OF("4:1=70000") "}",
            WITH_A_LIST(
                "EXIF IFD0 GPSInfo 34853 4: location\n") "EXIF GPS GPSLatitudeRef 1 2: location\nEXIF GPS "
                                                         "GPSLatitude 2 8: location\n" AT_THE_END);
        becomes(t, (lap_exif_change){.width = 640, .height = 65535, .keep = LIST | LAP_KEEP_GPS},
            "{10e:2:8=a title 112:3:1=6 13b:129:10=an artist " EXIF_OF("3:1=65535") " " PLACE "}",
            WITH_A_LIST("") AT_THE_END);
        becomes(t, (lap_exif_change){.width = 640, .height = 480, .keep = UNASKED},
            "{10e:2:8=a title 110:3:1=7 10f:2:100=outside 10e:2:8=another 112:3:1=6 " EXIF_OF(
                "3:1=480") " " PLACE " 13b:129:10=an artist c4a5:7:4=1 a005:4:1={1:2:4=R98} 8298:2:0=}",
            WITHOUT_A_LIST AT_THE_END);
        chosen(&t, (lap_exif_change){.width = 640, .height = 480, .keep = UNASKED});
        assert_null(memmem(t.bytes, t.size, "maker", 5));
        assert_null(memmem(t.bytes, t.size, "photo", 5));
        assert_null(memmem(t.bytes, t.size, "loose", 5));
    }
}

/* The size goes into tags of integers, and into no others. */
static void sizes_are_put_in_their_place(void **state)
{
    (void)state;
    static tiff t;
    for (int big = 0; big < 2; big++) {
        begin(&t, big, 4);
        tag(&t, IFD0, 0, 0x0100, LONG, 1, 1);
        tag(&t, IFD0, 1, 0x0101, SHORT, 1, 2);
        tag(&t, IFD0, 2, 0x0112, SHORT, 1, 8);
        const size_t exif = directory(&t, 4);
        tag(&t, IFD0, 3, 0x8769, LONG, 1, exif);
        tag(&t, exif, 0, 0x0100, LONG, 1, 3);
        tag(&t, exif, 1, 0x0112, SHORT, 1, 7);
        tag(&t, exif, 2, 0xA002, SHORT, 2, 4);
        tag(&t, exif, 3, 0xA003, UNDEFINED, 1, 5);
        lap_exif_change change = {.width = 300, .height = 200, .turned = true, .keep = UNASKED};
        becomes(t, change,
            big ? "{100:4:1=300 101:3:1=200 112:3:1=1 8769:4:1={100:4:1=3 112:3:1=7 a002:3:2=4 a003:7:1=0}}"
                : "{100:4:1=300 101:3:1=200 112:3:1=1 8769:4:1={100:4:1=3 112:3:1=7 a002:3:2=4 a003:7:1=5}}",
            "");
        change.keep = LIST;
        becomes(t, change, "{100:4:1=300 101:3:1=200 112:3:1=1 8769:4:1={a002:3:1=300}}",
            "EXIF Exif  256 4: unknown tag\nEXIF Exif  274 2: unknown tag\n"
            "EXIF Exif PixelYDimension 40963 1: unusual type\n");
        change.turned = false;
        put(&t, IFD0 + 2 + 24 + 2, 2, ASCII);
        becomes(t, change, "{100:4:1=300 101:3:1=200 8769:4:1={a002:3:1=300}}",
            "EXIF IFD0 Orientation 274 1: unusual type\nEXIF Exif  256 4: unknown tag\n"
            "EXIF Exif  274 2: unknown tag\nEXIF Exif PixelYDimension 40963 1: unusual type\n");
        uint8_t payload[200] = "Exif\0";
        for (size_t type = SHORT; type <= LONG; type++) {
            tag(&t, IFD0, 2, 0x0112, type, 1, 5);
            memcpy(payload + 6, t.bytes, t.size);
            assert_int_equal(lap_exif_orientation(payload, t.size + 6), 5);
        }
    }
}

static void pointers_lead_where_they_should(void **state)
{
    (void)state;
    static tiff t;
    const lap_exif_change listed = {.width = 1, .height = 1, .keep = LIST | LAP_KEEP_GPS};
    /* A directory of tags that all go is not pointed to. */
    begin(&t, false, 2);
    text(&t, IFD0, 0, 0x0110, ASCII, "abc");
    size_t exif = directory(&t, 1);
    tag(&t, IFD0, 1, 0x8769, LONG, 1, exif);
    tag(&t, exif, 0, 0x4242, LONG, 1, 1);
    becomes(t, listed, "{110:2:4=abc}",
        "EXIF IFD0 ExifIFD 34665 4: points to nothing\nEXIF Exif  16962 4: unknown tag\n");
    /* A pointer of type 13, and of others. */
    tag(&t, exif, 0, 0xA001, SHORT, 1, 1);
    tag(&t, IFD0, 1, 0x8769, 13, 1, exif);
    becomes(t, listed, "{110:2:4=abc 8769:4:1={a001:3:1=1}}", "");
    tag(&t, IFD0, 1, 0x8769, 12, 1, exif);
    becomes(t, listed, "{110:2:4=abc}",
        "EXIF IFD0 ExifIFD 34665 8: unusual pointer\nEXIF Exif ColorSpace 40961 2: unknown place\n");
    tag(&t, IFD0, 1, 0x8769, LONG, 2, exif);
    becomes(t, listed, "{110:2:4=abc}",
        "EXIF IFD0 ExifIFD 34665 8: unusual pointer\nEXIF Exif ColorSpace 40961 2: unknown place\n");
    /* Past the end. */
    tag(&t, IFD0, 1, 0x8769, LONG, 1, t.size - 1);
    becomes(t, listed, "{110:2:4=abc}",
        "EXIF IFD0 ExifIFD 34665 4: broken\nEXIF   -1 6: nothing refers to it\n"
        "1! a directory of EXIF is broken and left out\n");
    /* The place, pointed to from the Exif directory. */
    begin(&t, false, 1);
    exif = directory(&t, 1);
    const size_t gps = directory(&t, 1);
    tag(&t, IFD0, 0, 0x8769, LONG, 1, exif);
    tag(&t, exif, 0, 0x8825, LONG, 1, gps);
    text(&t, gps, 0, 1, ASCII, "N");
    becomes(t, listed, "{8769:4:1={8825:4:1={1:2:2=N}}}", "");
    becomes(t, (lap_exif_change){.keep = LIST}, "",
        "EXIF IFD0 ExifIFD 34665 4: points to nothing\nEXIF Exif GPSInfo 34853 4: location\n"
        "EXIF GPS GPSLatitudeRef 1 2: location\n");
    /* A value that lies over what goes. */
    begin(&t, false, 3);
    const size_t at = data(&t, "0123456789", 10);
    tag(&t, IFD0, 0, 0x0110, ASCII, 6, at);
    tag(&t, IFD0, 1, 0x4242, ASCII, 5, at + 5);
    tag(&t, IFD0, 2, 0x010F, ASCII, 5, at);
    becomes(t, listed, "{10f:2:5=01234}",
        "EXIF IFD0 Model 272 6: overlaps a removed part\nEXIF IFD0  16962 5: unknown tag\n");
    put(&t, IFD0 + 2 + 24 + 8, 4, at - 1);
    becomes(t, listed, "",
        "EXIF IFD0 Model 272 6: overlaps a removed part\nEXIF IFD0  16962 5: unknown tag\n"
        "EXIF IFD0 Make 271 5: overlaps a removed part\nEXIF   -1 5: nothing refers to it\n");
}

/* The bytes of a maker's note are cleared, unless it claims a byte of a directory that is kept: its last will
 * do. */
static void a_claim_on_a_directory_is_ignored(void **state)
{
    (void)state;
    static const char *const said[] = {
        "EXIF Exif MakerNote 37500 5: maker's note\n", "EXIF Exif MakerNote 37500 6: maker's note\n"};
    static tiff t;
    for (size_t more = 0; more < 2; more++) {
        begin(&t, false, 2);
        const size_t at = data(&t, "01234", 5), exif = directory(&t, 1);
        tag(&t, IFD0, 0, 0x0110, ASCII, 5, at); /* in the same place */
        tag(&t, IFD0, 1, 0x8769, LONG, 1, exif);
        tag(&t, exif, 0, 0x927C, UNDEFINED, 5 + more, at);
        becomes(t, (lap_exif_change){.width = 1, .height = 1},
            more ? "{110:2:5=01234 8769:4:1={}}" : "{110:2:5= 8769:4:1={}}", said[more]);
    }
}

static void each_type_has_its_size(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0};
    static tiff t;
    for (int type = 0; type <= 130; type++) {
        char said[100];
        begin(&t, false, 1);
        tag(&t, IFD0, 0, 0x4242, (size_t)type, 3, t.size);
        t.size += 24;
        const int size = type < 15 ? sizes[type] : type == UTF8;
        snprintf(
            said, sizeof said, "EXIF IFD0  16962 %d: %s\n", 3 * size, size ? "unknown tag" : "unknown type");
        assert_string_equal(chosen(&t, (lap_exif_change){.keep = LIST}), said);
    }
    /* A value may not begin in the head, but right behind it. */
    for (size_t at = IFD0 - 1; at <= IFD0; at++) {
        begin(&t, false, 1);
        tag(&t, IFD0, 0, 0x0110, ASCII, 5, at);
        assert_string_equal(chosen(&t, (lap_exif_change){.keep = LIST}),
            at < IFD0 ? "EXIF IFD0 Model 272 5: broken\n"
                      : "EXIF IFD0 Model 272 5: overlaps a removed part\n");
    }
}

/* Directories, tags and overlapping values. */
static void complex_exif_is_left_out(void **state)
{
    (void)state;
    static tiff t;
    char said[200];
    const lap_exif_change plain = {.width = 1, .height = 1, .keep = UNASKED}, listed = {.keep = LIST};
    static const char many[] = "EXIF   -1 %zu: broken\n1! EXIF is left out: %s\n";
    for (size_t more = 0; more < 2; more++) {
        begin(&t, false, 0);
        for (size_t i = 1; i < 63 + more; i++) {
            const size_t link = t.size - 4;
            put(&t, link, 4, directory(&t, 0));
        }
        snprintf(said, sizeof said, many, t.size + 6, "EXIF has too many directories or tags");
        assert_string_equal(chosen(&t, plain), more ? said : "");

        begin(&t, false, 2000 + more);
        for (size_t i = 0; i < 2000 + more; i++)
            tag(&t, IFD0, i, 0x4242, LONG, 1, i);
        snprintf(said, sizeof said, many, t.size + 6, "EXIF has too many directories or tags");
        assert_string_equal(chosen(&t, plain), more ? said : "");

        /* All values together may be 8 times as large as the EXIF; those that go count twice. */
        for (size_t times = 1; times <= 2; times++) {
            const size_t whole = 8 / times, head = IFD0 + 2 + 12 * (whole + 1) + 4;
            begin(&t, false, whole + 1);
            assert_int_equal(t.size, head);
            memset(t.bytes + head, 'x', 65536);
            t.size += 65536;
            for (size_t i = 0; i < whole; i++)
                tag(&t, IFD0, i, 0x4242, UNDEFINED, 65536, head);
            tag(&t, IFD0, whole, 0x4242, UNDEFINED, whole * head + more, head);
            snprintf(said, sizeof said, many, t.size + 6, "the tags of EXIF share their values");
            const char *found = chosen(&t, times == 1 ? plain : listed);
            if (more)
                assert_string_equal(found, said);
            else if (times == 1)
                assert_string_equal(found, "");
            else
                assert_null(strstr(found, "share"));
        }
    }
}

static void what_no_longer_fits_is_told(void **state)
{
    (void)state;
    static tiff t;
    static char large[66000];
    memset(large, 'x', sizeof large);
    for (size_t size = 65500; size <= 65502; size++) {
        begin(&t, false, 1);
        tag(&t, IFD0, 0, 0x010E, ASCII, size, data(&t, large, size));
        const bool fits = size == 65500;
        char said[200];
        snprintf(said, sizeof said,
            "EXIF IFD0 ImageDescription 270 %zu: too large\n1! EXIF is too large: a tag of %zu bytes is left "
            "out\n",
            size, size);
        assert_string_equal(chosen(&t, (lap_exif_change){.keep = LIST}), fits ? "" : said);
        assert_int_equal(t.size, 26 + (fits ? size : 0));
        assert_int_equal(get(&t, IFD0, 2), fits);
    }
}

static void thumbnails_are_copied_part_by_part(void **state)
{
    (void)state;
#define SOI "\xFF\xD8"
#define SOS "\xFF\xDA\0\x8\1\1\0\0\x3F\0"
#define EOI "\xFF\xD9"
#define CODE "\x12\xFF\0\x34\xFF\xD0\x56\xFF\xD7\x78"
#define FRAME(marker) "\xFF" marker "\0\xB\x8\0\x8\0\x8\1\1\x11\0"
#define IS(text) text, sizeof text - 1
    static const struct {
        const char *from;
        size_t size;
        const char *to;
        size_t to_size;
    } cases[] = {
        {IS(SOI SOS CODE EOI), IS(SOI SOS CODE EOI)},
        {IS(SOI FRAME("\xC0") SOS EOI "behind"), IS(SOI FRAME("\xC0") SOS EOI)},
        {IS(SOI FRAME("\xC1") "\xFF\xFF" SOS EOI), IS(SOI FRAME("\xC1") SOS EOI)},
        {IS(SOI FRAME("\xC2") SOS CODE SOS CODE EOI), IS(SOI FRAME("\xC2") SOS CODE SOS CODE EOI)},
        {IS(SOI FRAME("\xC3") SOS EOI), NULL, 0},
        {IS(SOI "\xFF\xC0\0\xC\x8\0\x8\0\x8\1\1\x11\0\0" SOS EOI), NULL, 0},
        {IS(SOI "\xFF\xC0\0\x7\x8\0\x8\0\x8" SOS EOI), NULL, 0},
        {IS(SOI "\xFF\xDD\0\4\0\1" SOS EOI), IS(SOI "\xFF\xDD\0\4\0\1" SOS EOI)},
        {IS(SOI "\xFF\xDD\0\5\0\1\0" SOS EOI), NULL, 0},
        {IS(SOI "\xFF\xDA\0\x9\1\1\0\0\x3F\0\0" EOI), NULL, 0},
        {IS(SOI "\xFF\xE0\0\3a\xFF\xEF\0\3b\xFF\xFE\0\2" SOS CODE "\xFF\xE1\0\3c" EOI), IS(SOI SOS CODE EOI)},
        {IS(SOI "\xFF\xF0\0\3a" SOS EOI), NULL, 0},
        {IS(SOI "\xFF\xDC\0\3a" SOS EOI), NULL, 0},
        {IS(SOI "\xFF\xE0\0\1" SOS EOI), NULL, 0},
        {IS(SOI SOS CODE), NULL, 0},
        {IS(SOI SOS CODE "\xFF"), NULL, 0},
        {IS(SOI SOS CODE "\xFF\xE0\0"), NULL, 0},
        {IS(SOI SOS CODE "\xFF\xE0\0\5ab"), NULL, 0},
        {IS(SOI SOS CODE "\xFF\xE0\0\4ab"), NULL, 0},
        {IS(SOI EOI), NULL, 0},
        {IS(SOI "\xFF\xDD\0\4\0\1" EOI), NULL, 0},
        {IS(SOI "x" SOS EOI), NULL, 0},
        {IS("\xFF\xD9" SOS EOI), NULL, 0},
        {IS(SOI "\xFF"), NULL, 0},
    };
    static tiff t;
    char expected[200], said[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&t, i % 2, 1);
        text(&t, IFD0, 0, 0x0110, ASCII, "abc");
        const size_t link = t.size - 4, second = directory(&t, 2);
        put(&t, link, 4, second);
        tag(&t, second, 0, 0x0201, LONG, 1, data(&t, cases[i].from, cases[i].size));
        tag(&t, second, 1, 0x0202, LONG, 1, cases[i].size);
        const tiff before = t;
        const char *warning = chosen(&t, (lap_exif_change){.keep = LIST | LAP_KEEP_THUMBNAIL});
        if (strcmp(warning,
                cases[i].to ? "" : "1! the EXIF thumbnail is not a complete baseline JPEG and is left out\n"))
            fail_msg("case %zu: %s", i, warning);
        char found[200] = "";
        dump(&t, IFD0, found);
        snprintf(expected, sizeof expected, "{110:2:4=abc}");
        if (cases[i].to)
            snprintf(expected, sizeof expected, "{110:2:4=abc}{103:3:1=6 201:4:1=68 202:4:1=%zu}",
                cases[i].to_size);
        assert_string_equal(found, expected);
        assert_int_equal(t.size, cases[i].to ? 68 + cases[i].to_size : 26);
        if (cases[i].to)
            assert_memory_equal(t.bytes + 68, cases[i].to, cases[i].to_size);
        /* Without a thumbnail in the list it goes like all of its directory. */
        t = before;
        snprintf(said, sizeof said,
            "EXIF IFD1 JPEGInterchangeFormat 513 4: thumbnail\nEXIF IFD1 JPEGInterchangeFormatLength 514 4: "
            "thumbnail\n");
        becomes(t, (lap_exif_change){.keep = LIST}, "{110:2:4=abc}", said);
    }
}

static void tables_of_thumbnails_fill_their_segments(void **state)
{
    (void)state;
    static tiff t;
    static const struct {
        uint8_t marker;
        size_t size;
        uint8_t first, at_64;
        bool is_table;
    } tables[] = {{0xDB, 0, 0, 0, true}, {0xDB, 65, 0, 0, true}, {0xDB, 64, 0, 0, false},
        {0xDB, 66, 0, 0, false}, {0xDB, 130, 0, 0, true}, {0xDB, 129, 0x10, 0, true},
        {0xDB, 128, 0x10, 0, false}, {0xDB, 130, 0x10, 0, false}, {0xC4, 17, 0, 0, true},
        {0xC4, 16, 0, 0, false}, {0xC4, 18, 0, 0, false}, {0xC4, 34, 0, 0, true}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int codes = 0; codes < (tables[i].marker == 0xC4 ? 3 : 1); codes++) {
            const size_t size = tables[i].size + (codes && tables[i].is_table ? 5 : 0);
            uint8_t jpeg[400] = {0xFF, 0xD8, 0xFF, tables[i].marker, 0, (uint8_t)(2 + size), tables[i].first};
            if (codes) /* so many in the first length, or in the last one */
                jpeg[6 + (codes == 1 ? 1 : 16)] = 5;
            memcpy(jpeg + 6 + size, SOS EOI, sizeof SOS EOI - 1);
            if (size == 0)
                jpeg[6] = 0xFF;
            const size_t whole = 6 + size + sizeof SOS EOI - 1;
            begin(&t, false, 1);
            text(&t, IFD0, 0, 0x0110, ASCII, "abc");
            const size_t link = t.size - 4, second = directory(&t, 2);
            put(&t, link, 4, second);
            tag(&t, second, 0, 0x0201, LONG, 1, data(&t, jpeg, whole));
            tag(&t, second, 1, 0x0202, LONG, 1, whole);
            chosen(&t, (lap_exif_change){.keep = LIST | LAP_KEEP_THUMBNAIL});
            if (t.size != (tables[i].is_table ? 68 + whole : 26))
                fail_msg("table %zu with codes %d", i, codes);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_is_told),
        cmocka_unit_test(sizes_are_put_in_their_place),
        cmocka_unit_test(pointers_lead_where_they_should),
        cmocka_unit_test(a_claim_on_a_directory_is_ignored),
        cmocka_unit_test(each_type_has_its_size),
        cmocka_unit_test(complex_exif_is_left_out),
        cmocka_unit_test(what_no_longer_fits_is_told),
        cmocka_unit_test(thumbnails_are_copied_part_by_part),
        cmocka_unit_test(tables_of_thumbnails_fill_their_segments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
