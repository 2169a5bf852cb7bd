/* Which segments an output gets, byte by byte, and what is reported of the others; formats that are foreign.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/meta.h"
#include "tests/support/drops.h"

enum { APP1 = 0xE1, APP2 = 0xE2, APP13 = 0xED, COM = 0xFE, MOST = 65533 };

#define SEGMENT(number, text)                                                    \
    {                                                                            \
        .marker = number, .data = (const uint8_t *)text, .size = sizeof text - 1 \
    }
#define PROFILE(part, parts, space) "ICC_PROFILE\0" part parts "0123456789abcdef" space
#define XMP "http://ns.adobe.com/xap/1.0/\0"
#define PACKET(attribute)                                                                                  \
    "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:n='http://ns.adobe.com/xmp/note/'" \
    " xmlns:p='http://ns.adobe.com/photoshop/1.0/'><r:Description" attribute "/></r:RDF>"
#define HASH "0123456789abcdef0123456789abcdef"
#define EXTENDED(offset) "http://ns.adobe.com/xmp/extension/\0" HASH "\0\0\1\0\0\0\0" offset
#define EXIF(value) "Exif\0\0II*\0\x8\0\0\0\1\0\x12\1\3\0\1\0\0\0" value "\0\0\0\0\0\0\0"
#define DATA_SET(number, value) "\x1C\2" number "\0\4" value
#define BLOCK(size, value) "8BIM\4\4\0\0\0\0\0" size value
#define RESOURCES "Photoshop 3.0\0"

typedef struct choice {
    const lap_segment *from;
    size_t count;
    lap_write_options options;
} choice;

#define CHOICE(...)                                                               \
    {                                                                             \
        .from = (const lap_segment[]){__VA_ARGS__},                               \
        .count = sizeof((const lap_segment[]){__VA_ARGS__}) / sizeof(lap_segment) \
    }

static lap_code choose(choice c, lap_meta *meta, drops *d, lap_error *err)
{
    const lap_header from = {.segments = c.from, .segment_count = c.count};
    lap_write_options o = c.options;
    o.from = &from;
    o.channels = o.channels ? o.channels : 3;
    o.width = o.height = 1;
    o.drops = drops_begin(d);
    return lap_meta_choose(&o, meta, err);
}

static void becomes(choice c, choice expected, const char *said)
{
    static drops d;
    lap_meta meta;
    lap_error err;
    assert_int_equal(choose(c, &meta, &d, &err), LAP_OK);
    assert_string_equal(drops_text(&d), said);
    assert_int_equal(meta.count, expected.count);
    for (size_t i = 0; i < meta.count; i++) {
        assert_int_equal(meta.segments[i].marker, expected.from[i].marker);
        assert_int_equal(meta.segments[i].size, expected.from[i].size);
        assert_memory_equal(meta.segments[i].data, expected.from[i].data, meta.segments[i].size);
    }
    lap_meta_free(&meta);
    assert_null(meta.segments);
    c.options.fail_on = LAP_FAIL_WARNING;
    const lap_code code = choose(c, &meta, &d, &err);
    assert_int_equal(code, strchr(said, '!') ? LAP_E_UNSUPPORTED : LAP_OK);
    if (code != LAP_OK) {
        assert_string_equal(err.message, d.meta.warning);
        assert_null(meta.copies);
        assert_int_equal(meta.count, 0);
    }
    lap_meta_free(&meta);
}

static choice with(choice c, lap_write_options options)
{
    c.options = options;
    return c;
}

static const choice nothing = {.count = 0};

static void the_list_names_kinds(void **state)
{
    (void)state;
    const choice all = CHOICE(SEGMENT(COM, "words"), SEGMENT(APP1, XMP PACKET("")), SEGMENT(APP1, EXIF("\6")),
        SEGMENT(APP2, PROFILE("\1", "\1", "RGB ")),
        SEGMENT(APP13, RESOURCES BLOCK("\x9", DATA_SET("\5", "town") "\0")), SEGMENT(0xE5, "odd"),
        SEGMENT(APP2, "MPF\0"));
    static const struct {
        unsigned bit;
        const char *name;
        lap_segment kept;
    } kinds[] = {{LAP_KEEP_COMMENT, "comment", SEGMENT(COM, "words")},
        {LAP_KEEP_XMP, "XMP", SEGMENT(APP1, XMP PACKET(""))},
        {LAP_KEEP_EXIF, "EXIF", SEGMENT(APP1, EXIF("\6"))},
        {LAP_KEEP_ICC, "ICC", SEGMENT(APP2, PROFILE("\1", "\1", "RGB "))},
        {LAP_KEEP_IPTC, "IPTC", SEGMENT(APP13, RESOURCES BLOCK("\x9", DATA_SET("\5", "town") "\0"))}};
    for (int only = 0; only <= 5; only++) {
        char said[500] = "";
        for (int k = 0; k < 5; k++)
            if (k != only)
                snprintf(said + strlen(said), sizeof said - strlen(said), "%s   -1 %d: not in the list\n",
                    kinds[k].name, (int)kinds[k].kept.size);
        strcat(said, "other   -1 3: not in the list\nICC   -1 4: not in the list\n");
        choice one = nothing;
        if (only < 5)
            one = (choice){.from = &kinds[only].kept, .count = 1};
        if (only < 5)
            becomes(with(all, (lap_write_options){.keep = kinds[only].bit}), one, said);
        else
            becomes(with(all, (lap_write_options){.strip = true, .keep = LAP_KEEP_XMP}), nothing, said);
    }
    becomes(all,
        (choice)CHOICE(SEGMENT(APP1, EXIF("\6")), SEGMENT(COM, "words"), SEGMENT(APP1, XMP PACKET("")),
            SEGMENT(APP2, PROFILE("\1", "\1", "RGB ")),
            SEGMENT(APP13, RESOURCES BLOCK("\x9", DATA_SET("\5", "town") "\0"))),
        "other   -1 3: not in the list\nICC   -1 4: not in the list\n");
    becomes(nothing, nothing, "");
}

static void profiles_fit_or_go(void **state)
{
    (void)state;
    static const struct {
        lap_segment one;
        lap_write_options options;
        bool fits;
    } cases[] = {
        {SEGMENT(APP2, PROFILE("\1", "\2", "RGB ")), {.channels = 3}, true},
        {SEGMENT(APP2, PROFILE("\1", "\2", "RGB ")), {.channels = 4}, true},
        {SEGMENT(APP2, PROFILE("\1", "\2", "RGB ")), {.channels = 1}, false},
        {SEGMENT(APP2, PROFILE("\1", "\2", "GRAY")), {.channels = 1}, true},
        {SEGMENT(APP2, PROFILE("\1", "\2", "GRAY")), {.channels = 3}, false},
        {SEGMENT(APP2, PROFILE("\1", "\2", "GRAY")), {.channels = 3, .as_stored = true}, true},
        {SEGMENT(APP2, PROFILE("\1", "\2", "RGB")), {.channels = 3}, false},
        {SEGMENT(APP2, PROFILE("\2", "\2", "RGB ")), {.channels = 3}, false},
        {SEGMENT(APP2, "ICC_PROFILE\0\1\1"), {.channels = 3}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_segment second = SEGMENT(APP2, "ICC_PROFILE\0\2\2more");
        const lap_segment both[] = {second, cases[i].one};
        const choice from = {.from = both, .count = 2, .options = cases[i].options};
        becomes(from, cases[i].fits ? from : nothing, "");
        const lap_header header = {.segments = both, .segment_count = 2};
        lap_write_options o = cases[i].options;
        assert_false(lap_meta_drops_profile(&o));
        o.from = &header;
        assert_int_equal(lap_meta_drops_profile(&o), !cases[i].fits);
        o.keep = LAP_KEEP_EXIF;
        assert_false(lap_meta_drops_profile(&o));
        o.keep = LAP_KEEP_EXIF | LAP_KEEP_ICC;
        assert_int_equal(lap_meta_drops_profile(&o), !cases[i].fits);
        o.strip = true;
        assert_false(lap_meta_drops_profile(&o));
        const lap_segment others[] = {SEGMENT(APP2, "ICC_PROFILE\0\1"),
            SEGMENT(APP2, "MPF\0 and more than that"), SEGMENT(APP1, PROFILE("\1", "\2", "CMYK"))};
        const lap_header without = {.segments = others, .segment_count = 3};
        o = cases[i].options;
        o.from = &without;
        assert_false(lap_meta_drops_profile(&o));
    }
    const choice cut = CHOICE(SEGMENT(APP2, "ICC_PROFILE\0\1"));
    becomes(cut, nothing, "ICC   -1 13: not in the list\n");
}

static void of_two_exif_the_first_counts(void **state)
{
    (void)state;
    const choice two = CHOICE(SEGMENT(APP1, EXIF("\6")), SEGMENT(COM, "x"), SEGMENT(APP1, EXIF("\3")));
    becomes(two, (choice)CHOICE(SEGMENT(APP1, EXIF("\6")), SEGMENT(APP1, EXIF("\3")), SEGMENT(COM, "x")), "");
    becomes(with(two, (lap_write_options){.oriented = true}),
        (choice)CHOICE(SEGMENT(APP1, EXIF("\1")), SEGMENT(APP1, EXIF("\1")), SEGMENT(COM, "x")), "");
    becomes(with(two, (lap_write_options){.keep = LAP_KEEP_EXIF | LAP_KEEP_COMMENT}),
        (choice)CHOICE(SEGMENT(APP1, EXIF("\6")), SEGMENT(COM, "x")),
        "EXIF   -1 32: stands twice\n1! EXIF occurs twice: the second one is left out\n");
    becomes((choice)CHOICE(SEGMENT(APP1, "Exif\0\0II"), SEGMENT(COM, "x")), (choice)CHOICE(SEGMENT(COM, "x")),
        "EXIF   -1 8: broken\n1! EXIF is left out: EXIF does not begin with a TIFF header\n");
}

static void long_segments_need_a_place(void **state)
{
    (void)state;
    static uint8_t large[MOST + 1];
    memset(large, 'x', sizeof large);
    for (size_t size = MOST; size <= MOST + 1; size++) {
        const lap_segment one = {.marker = COM, .data = large, .size = size};
        const choice from = {.from = &one, .count = 1};
        becomes(from, size == MOST ? from : nothing,
            size == MOST
                ? ""
                : "comment   -1 65534: too large\n1! comment of 65534 bytes is left out: a JPEG has no place "
                  "for it\n");
        becomes(with(from, (lap_write_options){.long_segments = true}), from, "");
    }
}

static void comments_have_keywords(void **state)
{
    (void)state;
    static const char *const known[] = {"Title", "Author", "Description", "Copyright", "Creation Time",
        "Software", "Disclaimer", "Warning", "Source", "Comment", "Collection"};
    static const char *const others[] = {"title", "Titl", "Title2", "GPS", "exif:GPSLatitude"};
    const lap_write_options list = {.keep = LAP_KEEP_COMMENT};
    for (size_t i = 0; i < 11 + 5; i++) {
        const char *keyword = i < 11 ? known[i] : others[i - 11];
        char text[60], said[80];
        snprintf(text, sizeof text, "%s: words", keyword);
        const lap_segment one = {
            .marker = COM, .data = (const uint8_t *)text, .size = strlen(text), .keyword = strlen(keyword)};
        const choice from = {.from = &one, .count = 1, .options = list};
        snprintf(said, sizeof said, "comment   -1 %zu: unknown keyword\n", one.size);
        becomes(from, i < 11 ? from : nothing, i < 11 ? "" : said);
        becomes(with(from, (lap_write_options){.keep = LAP_KEEP_COMMENT | LAP_KEEP_GPS}), from, "");
        becomes(with(from, (lap_write_options){.keep = 0}), from, "");
    }
    const choice plain = CHOICE(SEGMENT(COM, "GPS: words"));
    becomes(with(plain, list), plain, "");
}

static void xmp_goes_with_its_continuation(void **state)
{
    (void)state;
    const choice both = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
                     SEGMENT(APP1, EXTENDED("\0") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/'"),
                     SEGMENT(APP1, EXTENDED("\x2f") "/>")),
                 odd = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
                     SEGMENT(APP1, EXTENDED("\0") "<o:a xmlns:o='http://example.org/'/>")),
                 photo = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
                     SEGMENT(APP1, EXTENDED("\0") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/'>/9"),
                     SEGMENT(APP1, EXTENDED("\x32") "j/</r:a>")),
                 gap = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
                     SEGMENT(APP1, EXTENDED("\1") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/'/>")),
                 behind = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
                     SEGMENT(APP1, EXTENDED("\0") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/'"),
                     SEGMENT(APP1, EXTENDED("\x2e") "/>")),
                 turned = CHOICE(SEGMENT(APP1, EXTENDED("\x2f") "/>"),
                     SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
                     SEGMENT(APP1, EXTENDED("\0") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/'")),
                 turned_photo = CHOICE(SEGMENT(APP1, EXTENDED("\x32") "j/</r:a>"),
                     SEGMENT(APP1, EXTENDED("\0") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/'>/9"),
                     SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'"))),
                 bare = CHOICE(SEGMENT(APP1, XMP PACKET("")));
    const lap_write_options list = {.keep = LAP_KEEP_XMP}, place = {.keep = LAP_KEEP_XMP | LAP_KEEP_GPS},
                            all = {.keep = 127};
#define GONE "XMP  n:HasExtendedXMP -1 21: its continuation is left out\n"
    becomes(both, both, "");
    becomes(with(both, list), both, "");
    becomes(with(both, place), both, "");
    becomes(odd, odd, "");
    becomes(with(odd, list), bare,
        GONE "XMP   -1 111: location or unknown\n"
             "1! the second part of XMP may contain the location and is left out\n");
    becomes(with(odd, place), odd, "");
    becomes(photo, bare, GONE "XMP   -1 125: thumbnail\nXMP   -1 83: thumbnail\n");
    becomes(with(photo, place), bare, GONE "XMP   -1 125: thumbnail\nXMP   -1 83: thumbnail\n");
    becomes(with(photo, all), photo, "");
    /* Parts may be in any order, and are judged in the order in which a reader joins them. */
    becomes(turned, turned, "");
    becomes(with(turned, list), turned, "");
    becomes(turned_photo, bare, "XMP   -1 83: thumbnail\nXMP   -1 125: thumbnail\n" GONE);
    becomes(with(turned_photo, all), turned_photo, "");
    /* The text goes whole: a loss of more than pictures is a warning. */
    const choice mixed = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
                     SEGMENT(APP1,
                         EXTENDED("\0") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/' r:b='/9j/'/>")),
                 unusual = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
                     SEGMENT(APP1,
                         EXTENDED(
                             "\0") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/'><![CDATA[/9j/]]></r:a>"));
    becomes(mixed, bare,
        GONE "XMP   -1 135: thumbnail\n1! the second part of XMP contains a thumbnail and is left out as a "
             "whole\n");
    becomes(with(mixed, place), bare,
        GONE "XMP   -1 135: thumbnail\n1! the second part of XMP contains a thumbnail and is left out as a "
             "whole\n");
    becomes(with(mixed, all), mixed, "");
    becomes(unusual, bare,
        GONE "XMP   -1 145: cannot be read\n1! the second part of XMP is left out: it may contain a "
             "thumbnail, and is "
             "too unusual to check\n");
    becomes(with(unusual, all), unusual, "");
    /* Nobody can judge parts that give no text. */
#define DAMAGED "1! the second part of XMP is damaged and is left out: it may contain a thumbnail\n"
    becomes(gap, bare, GONE "XMP   -1 124: damaged\n" DAMAGED);
    becomes(with(gap, list), bare,
        GONE "XMP   -1 124: location or unknown\n"
             "1! the second part of XMP may contain the location and is left out\n");
    becomes(with(gap, all), gap, "");
    becomes(behind, bare, GONE "XMP   -1 122: damaged\nXMP   -1 77: damaged\n" DAMAGED);
    becomes(with(behind, all), behind, "");
    static const char *const odd_parts[] = {EXTENDED("\0"), /* no text */
        "http://ns.adobe.com/xmp/extension/\0"
        "GPSLatitude 48,8.1N 11,34.2E home", /* no head */
        "http://ns.adobe.com/xmp/extension/\0"
        "1123456789abcdef0123456789abcdef"
        "\0\0\1\0\0\0\0\x31"
        " ",
        "http://ns.adobe.com/xmp/extension/\0"
        "0123456789abcdef 123456789abcdef"
        "\0\0\1\0\0\0\0\x31"
        " "};
    static const size_t odd_sizes[] = {75, 68, 76, 76};
    for (int i = 0; i < 4; i++)
        for (int first = 0; first < 2; first++) { /* beside two good parts, before and behind them */
            choice from = both, expected = bare;
            lap_segment three[4];
            memcpy(three, both.from, sizeof *three);
            memcpy(three + 1 + first, both.from + 1, 2 * sizeof *three);
            three[first ? 1 : 3] =
                (lap_segment){.marker = APP1, .data = (const uint8_t *)odd_parts[i], .size = odd_sizes[i]};
            from.from = three, from.count = 4;
            char said[400], odd_one[40];
            snprintf(odd_one, sizeof odd_one, "XMP   -1 %zu: damaged\n", odd_sizes[i]);
            snprintf(said, sizeof said, "%s%sXMP   -1 122: damaged\nXMP   -1 77: damaged\n%s" DAMAGED, GONE,
                first ? odd_one : "", first ? "" : odd_one);
            becomes(from, expected, said);
            becomes(with(from, all), from, "");
        }
    static const char alone[] = EXTENDED("\0") "<r:a xmlns:r='http://purl.org/dc/elements/1.1/'/>";
    for (const char *digit = "09afAF/:`g@G"; *digit; digit++) {
        uint8_t part[sizeof alone - 1];
        memcpy(part, alone, sizeof part);
        part[35] = part[66] = (uint8_t)*digit;
        const choice from = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'")),
            {.marker = APP1, .data = part, .size = sizeof part});
        becomes(from, strchr("09afAF", *digit) ? from : bare,
            strchr("09afAF", *digit) ? "" : GONE "XMP   -1 124: damaged\n" DAMAGED);
    }
    /* A reference to what is not there, with words around that cannot be read. */
    const choice dangling = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1'"))),
                 unread = CHOICE(SEGMENT(APP1, XMP "HasExtendedXMP<")),
                 town = CHOICE(SEGMENT(APP1, XMP PACKET(" p:City='1'"))),
                 picture = CHOICE(SEGMENT(APP1, XMP PACKET(" p:a='/9j/'"))),
                 dangling_picture = CHOICE(SEGMENT(APP1, XMP PACKET(" n:HasExtendedXMP='1' p:a='/9j/'"))),
                 cut = CHOICE(SEGMENT(APP1, XMP "/9j/<")),
                 wide = CHOICE(SEGMENT(APP1, XMP "\xFE\xFF\0<\0r\0:\0R\0D\0F\0>")),
                 wide_picture = CHOICE(SEGMENT(APP1, XMP "\xFE\xFF\0<\0r\0:\0R\0D\0F\0>\0/\0"
                                                         "9\0j\0/")),
                 unknown =
                     CHOICE(SEGMENT(APP1, "another name\0"), SEGMENT(APP1, "http://ns.adobe.com/xap/1.0/"));
    becomes(dangling, bare, GONE);
    becomes(unread, unread, "");
    becomes(with(unread, list), nothing,
        "XMP   -1 44: cannot be read\n1! XMP is left out: it may contain the place, and is too unusual to "
        "check\n");
    becomes(town, town, "");
    becomes(with(town, list), bare, "XMP  p:City -1 11: location\n");
    becomes(with(town, place), town, "");
    becomes(picture, bare, "XMP  p:a -1 11: thumbnail\n");
    becomes(with(picture, all), picture, "");
    becomes(with(dangling_picture, all), picture, GONE);
    becomes(wide, wide, "");
    becomes(wide_picture, nothing,
        "XMP   -1 53: cannot be read\n1! XMP is left out: it may contain a thumbnail, and is too unusual to "
        "check\n");
    becomes(with(wide_picture, all), wide_picture, "");
    becomes(cut, nothing,
        "XMP   -1 34: cannot be read\n1! XMP is left out: it may contain a thumbnail, and is too unusual to "
        "check\n");
    becomes(unknown, nothing, "XMP   -1 13: unknown\nXMP   -1 28: unknown\n");
}

static void resources_are_joined_if_need_be(void **state)
{
    (void)state;
    static const char first[] = RESOURCES BLOCK("\x12", DATA_SET("\5", "name") DATA_SET("\x1A", "town"));
    const choice one = CHOICE(SEGMENT(APP13, RESOURCES BLOCK("\x9", DATA_SET("\5", "name") "\0"))),
                 apart = CHOICE(SEGMENT(APP13, RESOURCES BLOCK("\x9", DATA_SET("\5", "name") "\0")),
                     SEGMENT(APP13, "odd"), SEGMENT(COM, "x"), SEGMENT(APP13, first)),
                 empty = CHOICE(SEGMENT(APP13, RESOURCES));
    const lap_write_options list = {.keep = LAP_KEEP_IPTC | LAP_KEEP_COMMENT};
    becomes(apart,
        (choice)CHOICE(SEGMENT(APP13, RESOURCES BLOCK("\x9", DATA_SET("\5", "name") "\0")),
            SEGMENT(APP13, first), SEGMENT(COM, "x")),
        "IPTC   -1 3: unknown\n");
    becomes(with(apart, list),
        (choice)CHOICE(SEGMENT(APP13, RESOURCES BLOCK("\x9", DATA_SET("\5", "name") "\0")
                                          BLOCK("\x9", DATA_SET("\5", "name") "\0")),
            SEGMENT(COM, "x")),
        "IPTC   -1 3: unknown\nIPTC IPTC  538 4: location\n");
    becomes(one, one, "");
    becomes(with(one, list), one, "");
    becomes(empty, empty, "");
    becomes(with(empty, list), nothing, "");
    /* Cut anywhere in two, they are one again. */
    const size_t size = sizeof first - 1;
    for (size_t cut = 14; cut <= size; cut++) {
        uint8_t rest[100] = RESOURCES;
        memcpy(rest + 14, first + cut, size - cut);
        const lap_segment two[] = {{.marker = APP13, .data = (const uint8_t *)first, .size = cut},
            {.marker = APP13, .data = rest, .size = 14 + size - cut}};
        const bool is_whole = cut == 14 || cut == size;
        const choice from = {.from = two, .count = 2};
        becomes(from,
            is_whole ? from : (choice)CHOICE({.marker = APP13, .data = (const uint8_t *)first, .size = size}),
            "");
        becomes(with(from, list), one, "IPTC IPTC  538 4: location\n");
    }
    /* Those that are too long for one are cut into full ones. */
    static uint8_t large[2][MOST], expected[2][MOST];
    for (int i = 0; i < 2; i++) {
        memset(large[i], 'a' + i, MOST);
        memcpy(large[i], RESOURCES, 14);
        memcpy(expected[i], RESOURCES, 14);
    }
    memcpy(large[0] + 14, "8BIM\4\4\0\0\0\1\xFF\x80", 12); /* 130944 bytes of data */
    const size_t whole = 12 + 130944;
    const lap_segment two[] = {{.marker = APP13, .data = large[0], .size = MOST - 1},
        {.marker = APP13, .data = large[1], .size = 14 + whole - (MOST - 15)}};
    memcpy(expected[0] + 14, large[0] + 14, MOST - 15);
    expected[0][MOST - 1] = 'b';
    memset(expected[1] + 14, 'b', MOST - 14);
    const lap_segment cut[] = {{.marker = APP13, .data = expected[0], .size = MOST},
        {.marker = APP13, .data = expected[1], .size = 14 + whole - (MOST - 14)}};
    becomes((choice){.from = two, .count = 2}, (choice){.from = cut, .count = 2}, "");
}

/* Four times outside; four copies here, except of extended XMP. */
static void memory_counts_all_copies(void **state)
{
    (void)state;
    lap_segment some[] = {SEGMENT(COM, "words"), SEGMENT(APP1, XMP PACKET("")),
        SEGMENT(APP1, EXTENDED("\0") "words"), SEGMENT(APP13, RESOURCES)};
    lap_header from = {.segments = some, .segment_count = 0};
    assert_int_equal(lap_meta_memory(&from), 0);
    from.segment_count = 4;
    assert_int_equal(
        lap_meta_memory(&from), 8 * (some[0].size + some[1].size + some[3].size) + 4 * some[2].size);
    some[0].size = some[3].size = SIZE_MAX / 16 + 1;
    assert_int_equal(lap_meta_memory(&from), SIZE_MAX);
    from.segment_count = 1;
    assert_int_equal(lap_meta_memory(&from), SIZE_MAX / 2 + 1);
    some[0].size = SIZE_MAX / 8 + 1;
    assert_int_equal(lap_meta_memory(&from), SIZE_MAX);
}

static void the_report_counts_by_kind(void **state)
{
    (void)state;
    static const char *const kinds[] = {"EXIF", "XMP", "IPTC", "ICC", "comment", "other"};
    lap_meta_drops d = {.warnings = 0};
    char text[200] = "";
    assert_false(lap_meta_drops_text(&d, text, sizeof text));
    for (size_t i = 0; i < 6; i++)
        lap_meta_drop(&d, &(lap_dropped){.kind = kinds[i]});
    assert_true(lap_meta_drops_text(&d, text, sizeof text));
    assert_string_equal(text,
        "metadata left out: 1 EXIF tag, 1 XMP property, 1 IPTC data set, 1 part of a profile, "
        "1 comment, 1 other piece");
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k <= i; k++)
            lap_meta_drop(&d, &(lap_dropped){.kind = i < 5 ? kinds[i] : "unheard of"});
    lap_meta_drops_text(&d, text, sizeof text);
    assert_string_equal(text,
        "metadata left out: 2 EXIF tags, 3 XMP properties, 4 IPTC data sets, 5 parts of a "
        "profile, 6 comments, 7 other pieces");
    memset(text, 'x', sizeof text);
    assert_true(lap_meta_drops_text(&d, text, 33));
    assert_string_equal(text, "metadata left out: 2 EXIF tags, ");
    lap_meta_warn(NULL, "no place to warn");
    lap_meta_warn(&d, "the %dst", 1);
    lap_meta_warn(&d, "the %dnd", 2);
    assert_int_equal(d.warnings, 2);
    assert_string_equal(d.warning, "the 1st");
}

static void foreign_files_are_named(void **state)
{
    (void)state;
#define AT(place, text) place, sizeof text - 1, text
    static const struct {
        const char *name;
        size_t at, size;
        const char *bytes;
    } files[] = {
        {"a GIF", AT(0, "GIF8")},
        {"a WebP image", AT(8, "WEBP")},
        {"a JPEG 2000 image", AT(4, "jP  \r\n\x87\n")},
        {"a JPEG 2000 code stream", AT(0, "\xFF\x4F\xFF\x51")},
        {"a JPEG XL image", AT(4, "JXL \r\n\x87\n")},
        {"a JPEG XL image", AT(0, "\xFF\x0A")},
        {"a raw photo (CR3)", AT(4, "ftypcrx")},
        {"an AVIF image", AT(4, "ftypavi")},
        {"a HEIC image", AT(4, "ftyphei")},
        {"a HEIC image", AT(4, "ftyphev")},
        {"a HEIC image", AT(4, "ftypmif1")},
        {"a HEIC image", AT(4, "ftypmsf1")},
        {"a film (MP4 or QuickTime)", AT(4, "ftyp")},
        {"a raw photo (CR2)", AT(0, "II*\0\1\2\3\4CR")},
        {"a raw photo (RW2)", AT(0, "IIU\0")},
        {"a raw photo (ORF)", AT(0, "IIRO")},
        {"a raw photo (ORF)", AT(0, "IIRS")},
        {"a raw photo (RAF)", AT(0, "FUJIFILM")},
        {"a raw photo (X3F)", AT(0, "FOVb")},
        {"a TIFF image, or a raw photo based on TIFF", AT(0, "II*\0")},
        {"a TIFF image, or a raw photo based on TIFF", AT(0, "MM\0*")},
        {"a Photoshop document", AT(0, "8BPS")},
        {"a BMP image", AT(0, "BM")},
        {"a PDF document", AT(0, "%PDF-")},
        {"an AppleDouble file, metadata that macOS keeps beside a photo", AT(0, "\x00\x05\x16\x07")},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const size_t whole = files[i].at + files[i].size;
        uint8_t head[40];
        memset(head, 0xA5, sizeof head);
        memcpy(head + files[i].at, files[i].bytes, files[i].size);
        assert_string_equal(lap_foreign_name(head, whole), files[i].name);
        assert_string_equal(lap_foreign_name(head, sizeof head), files[i].name);
        const char *shorter = lap_foreign_name(head, whole - 1);
        assert_true(!shorter || strcmp(shorter, files[i].name) != 0);
        head[whole - 1] ^= 0x80;
        const char *other = lap_foreign_name(head, sizeof head);
        assert_true(!other || strcmp(other, files[i].name) != 0);
    }
    assert_null(lap_foreign_name((const uint8_t *)"12345678CR", 10));
    assert_null(lap_foreign_name((const uint8_t *)"", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_names_kinds),
        cmocka_unit_test(profiles_fit_or_go),
        cmocka_unit_test(of_two_exif_the_first_counts),
        cmocka_unit_test(long_segments_need_a_place),
        cmocka_unit_test(comments_have_keywords),
        cmocka_unit_test(xmp_goes_with_its_continuation),
        cmocka_unit_test(resources_are_joined_if_need_be),
        cmocka_unit_test(memory_counts_all_copies),
        cmocka_unit_test(the_report_counts_by_kind),
        cmocka_unit_test(foreign_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
