/* Photoshop's resources and their IPTC data sets: what stays byte by byte, and what is reported of the rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/resources.h"
#include "tests/support/drops.h"
#include "tests/support/edge.h"

enum {
    ANY = 0,
    LIST = LAP_KEEP_LISTED | LAP_KEEP_IPTC,
    PLACE = LIST | LAP_KEEP_GPS,
    RESOLUTION = 0x3ED,
    IPTC = 0x404,
    OLD_THUMBNAIL = 0x409,
    COPYRIGHT = 0x40A,
    URL = 0x40B,
    THUMBNAIL = 0x40C,
    XMP = 0x424
};

typedef struct bytes {
    uint8_t at[2000];
    size_t size;
} bytes;

static void add(bytes *b, const void *from, size_t size)
{
    assert_true(b->size + size <= sizeof b->at);
    memcpy(b->at + b->size, from, size);
    b->size += size;
}

#define ADD(to, literal) add(to, literal, sizeof literal - 1)

static void add_number(bytes *b, size_t value, int width)
{
    for (int i = width - 1; i >= 0; i--)
        add(b, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

/* A block with a name; what fills it up to an even size is this byte. */
static void add_block(bytes *b, int number, const char *name, const void *data, size_t size, uint8_t fill)
{
    const size_t length = strlen(name);
    ADD(b, "8BIM");
    add_number(b, (size_t)number, 2);
    add_number(b, length, 1);
    add(b, name, length);
    if (length % 2 == 0)
        ADD(b, "\0");
    add_number(b, size, 4);
    add(b, data, size);
    if (size % 2)
        add(b, &fill, 1);
}

static void add_set(bytes *b, int record, int number, const char *text)
{
    add(b, (uint8_t[]){0x1C, (uint8_t)record, (uint8_t)number}, 3);
    add_number(b, strlen(text), 2);
    add(b, text, strlen(text));
}

static void becomes(const bytes *from, unsigned keep, const bytes *expected, const char *said)
{
    static drops d;
    uint8_t to[sizeof from->at];
    memset(to, 0xA5, sizeof to);
    const size_t size =
        lap_resources_clean(at_edge(from->at, from->size), from->size, keep, to, drops_begin(&d));
    assert_string_equal(drops_text(&d), said);
    assert_int_equal(size, expected->size);
    assert_memory_equal(to, expected->at, size);
    assert_int_equal(lap_resources_clean(from->at, from->size, keep, to, NULL), size);
}

static void a_block_becomes(
    int number, const bytes *data, unsigned keep, const bytes *expected, const char *said)
{
    bytes from = {.size = 0}, to = {.size = 0};
    add_block(&from, number, "", data->at, data->size, 0);
    if (expected)
        add_block(&to, number, "", expected->at, expected->size, 0);
    becomes(&from, keep, &to, said);
}

static void blocks_stay_as_they_are_without_a_list(void **state)
{
    (void)state;
    bytes b = {.size = 0};
    add_block(&b, IPTC, "odd", "\x1C\2\5\0\3abc", 8, 0);
    add_block(&b, 0x1234, "even", "xyz", 3, 0x77);
    add_block(&b, COPYRIGHT, "", "", 0, 0);
    add_block(&b, URL, "n", "u", 1, 0x55);
    for (size_t whole = b.size; b.size > 0; b.size--) /* however it is cut */
        becomes(&b, ANY, &b, whole ? "" : NULL);
}

static void a_list_keeps_four_kinds_of_blocks(void **state)
{
    (void)state;
    for (int number = RESOLUTION - 1; number <= THUMBNAIL + 1; number++) {
        bytes from = {.size = 0}, to = {.size = 0}, none = {.size = 0};
        char said[100];
        add_block(&from, number, "its name", "\0\1\2", 3, 0x77);
        add_block(&to, number, "", "\0\1\2", 3, 0); /* neither the name nor what fills up */
        const bool is_thumbnail = number == THUMBNAIL || number == OLD_THUMBNAIL;
        snprintf(said, sizeof said, "IPTC Photoshop  %d 3: %s\n", number,
            is_thumbnail ? "thumbnail" : "unknown resource");
        if (number == RESOLUTION || number == COPYRIGHT || number == URL)
            becomes(&from, LIST, &to, "");
        else if (number != IPTC)
            becomes(&from, LIST, &none, said);
        if (is_thumbnail)
            becomes(&from, ANY, &none, said);
        else
            becomes(&from, ANY, &from, "");
    }
    bytes photo = {.size = 0};
    ADD(&photo, "ab\xFF\xD8\xFF");
    for (unsigned keep = 0; keep <= LIST; keep += LIST) {
        a_block_becomes(RESOLUTION, &photo, keep, NULL, "IPTC Photoshop  1005 5: thumbnail\n");
        a_block_becomes(0xABCD, &photo, keep, NULL, "IPTC Photoshop  43981 5: thumbnail\n");
    }
}

/* IIM 4.2: the envelope, and the data sets of record 2, with those of a place. */
static void each_data_set_has_its_rule(void **state)
{
    (void)state;
    static const char envelope[] = " 0 20 22 30 40 50 60 70 80 90 100 ",
                      places[] = " 26 27 90 92 95 100 101 ",
                      known[] =
                          " 0 3 4 5 7 8 10 12 15 20 22 25 30 35 37 38 40 42 45 47 50 55 60 62 63 65 70 75 "
                          "80 85 103 105 110 115 116 118 120 121 122 130 131 135 ",
                      previews[] = " 200 201 202 ";
    for (int record = 0; record <= 9; record++)
        for (int number = 0; number < 256; number++) {
            char word[16], said[100];
            bytes set = {.size = 0};
            add_set(&set, record, number, "value");
            snprintf(word, sizeof word, " %d ", number);
            const bool is_preview = record == 8 || (record == 2 && strstr(previews, word));
            const bool is_place = record == 2 && strstr(places, word);
            const bool is_known =
                (record == 1 && strstr(envelope, word)) || (record == 2 && strstr(known, word));
            for (int i = 0; i < 2; i++) {
                const char *why = is_preview ? "thumbnail"
                                  : is_place ? i ? NULL : "location"
                                  : is_known ? NULL
                                             : "unknown data set";
                snprintf(said, sizeof said, "IPTC IPTC  %d 5: %s\n", record << 8 | number, why ? why : "");
                a_block_becomes(IPTC, &set, i ? PLACE : LIST, why ? NULL : &set, why ? said : "");
            }
        }
}

/* Without a list only pictures go out of the data sets; the head says the new size. */
static void data_sets_are_cut_out(void **state)
{
    (void)state;
    bytes from = {.size = 0}, to = {.size = 0};
    add_set(&from, 2, 5, "title");
    add_set(&from, 2, 25, "\xFF\xD8\xFF");
    add_set(&from, 2, 26, "town");
    add_set(&from, 2, 201, "preview");
    add_set(&from, 3, 9, "three");
    add_set(&to, 2, 5, "title");
    add_set(&to, 2, 26, "town");
    add_set(&to, 3, 9, "three");
    a_block_becomes(IPTC, &from, ANY, &to, "IPTC IPTC  537 3: thumbnail\nIPTC IPTC  713 7: thumbnail\n");
    to.size = 0;
    add_set(&to, 2, 5, "title");
    a_block_becomes(IPTC, &from, LIST, &to,
        "IPTC IPTC  537 3: thumbnail\nIPTC IPTC  538 4: location\nIPTC IPTC  713 7: thumbnail\n"
        "IPTC IPTC  777 5: unknown data set\n");
    /* Odd sizes get a zero byte. */
    from.size = to.size = 0;
    add_set(&from, 2, 5, "abcd");
    add_set(&from, 8, 1, "xx");
    add_set(&to, 2, 5, "abcd");
    a_block_becomes(IPTC, &from, LIST, &to, "IPTC IPTC  2049 2: thumbnail\n");
}

/* A preview goes in any format; the block that loses it also loses its name. */
static void previews_are_no_jpeg(void **state)
{
    (void)state;
    bytes sets = {.size = 0}, left = {.size = 0}, from = {.size = 0}, to = {.size = 0};
    add_set(&left, 2, 5, "title");
    add_set(&sets, 2, 5, "title");
    add_set(&sets, 2, 202, "BMP");
    add_block(&from, IPTC, "name", sets.at, sets.size, 0x77);
    add_block(&to, IPTC, "", left.at, left.size, 0);
    becomes(&from, ANY, &to, "IPTC IPTC  714 3: thumbnail\n");
}

#define RDF(inner)                                                 \
    "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'" \
    " xmlns:a='http://ns.adobe.com/xap/1.0/' xmlns:n='http://ns.adobe.com/xmp/note/'>" inner "</r:RDF>"

static void xmp_blocks_lose_their_thumbnails(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *said;
    } packets[] = {
        {RDF("<a:Thumbnails>iVBOR</a:Thumbnails><a:Rating n:HasExtendedXMP='1'>5</a:Rating>"),
            RDF("<a:Rating n:HasExtendedXMP='1'>5</a:Rating>"), "XMP  a:Thumbnails -1 14: thumbnail\n"},
        {RDF("<a:Rating>12/9j/</a:Rating>"), RDF("<a:Rating>12/9j/</a:Rating>"), ""},
        {RDF("<a:Rating><![CDATA[/9j/]]></a:Rating>"), NULL,
            "IPTC Photoshop  1060 185: cannot be read\n1! XMP in Photoshop's resources is left out: it may "
            "contain a "
            "thumbnail, and is too unusual to check\n"}};
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        bytes from = {.size = 0}, to = {.size = 0}, none = {.size = 0};
        char said[100];
        add_block(&from, XMP, "name", packets[i].from, strlen(packets[i].from), 0x77);
        if (packets[i].to && !*packets[i].said) /* unchanged */
            to = from;
        else if (packets[i].to)
            add_block(&to, XMP, "", packets[i].to, strlen(packets[i].to), 0);
        becomes(&from, ANY, &to, packets[i].said);
        snprintf(said, sizeof said, "IPTC Photoshop  1060 %zu: unknown resource\n", strlen(packets[i].from));
        becomes(&from, LIST, &none, said);
    }
    bytes plain = {.size = 0};
    add_block(
        &plain, XMP, "name", RDF("<a:Rating>5</a:Rating>"), sizeof RDF("<a:Rating>5</a:Rating>") - 1, 0x77);
    becomes(&plain, ANY, &plain, "");
}

static void exif_blocks_have_no_makers_notes(void **state)
{
    (void)state;
    for (int number = 0x421; number <= 0x423; number++)
        for (int big = 0; big < 2; big++) {
            const char *tag = big ? "MM\0*\x92\x7C" : "II*\0\x7C\x92";
            bytes from = {.size = 0}, cut = {.size = 0}, none = {.size = 0};
            char said[200];
            add_block(&from, number, "", tag, 6, 0);
            add_block(&cut, number, "", tag, 5, 0);
            snprintf(said, sizeof said,
                "IPTC Photoshop  %d 6: may contain a maker's note\n"
                "1! EXIF in Photoshop's resources is left out: it may contain a maker's note\n",
                number);
            becomes(&from, ANY, number == 0x421 ? &from : &none, number == 0x421 ? "" : said);
            becomes(&cut, ANY, &cut, "");
        }
}

static void lengths_of_data_sets_have_limits(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *said; /* NULL: stays */
    } sets[] = {
        {"\x1C\2\5\x80\2\0\3abc", 10, NULL},
        {"\x1C\2\5\x80\4\0\0\0\3abc", 12, NULL},
        {"\x1C\2\5\x80\0", 5, NULL}, /* a length of no bytes is 0 */
        {"\x1C\2\5\0\0", 5, NULL},
        {"\x1C\2\5\0", 4, "IPTC IPTC  -1 4: broken\n1! IPTC ends in 4 bytes"},
        {"\x1C\2\5\x80\5\0\0\0\0\3abc", 13, "IPTC IPTC  -1 13: broken\n1! IPTC ends in 13 bytes"},
        {"\x1C\2\5\x80\4\0\0\0\4abc", 12, "IPTC IPTC  -1 12: broken\n1! IPTC ends in 12 bytes"},
        {"\x1C\2\5\x80\4\0\0\0", 8, "IPTC IPTC  -1 8: broken\n1! IPTC ends in 8 bytes"},
        {"\x1C\2\5\0\4abc", 8, "IPTC IPTC  -1 8: broken\n1! IPTC ends in 8 bytes"},
        {"\x1D\2\5\0\3abc", 8, "IPTC IPTC  -1 8: broken\n1! IPTC ends in 8 bytes"},
        {"\0\0\0\0\0\0\1", 7, "IPTC IPTC  -1 7: broken\n1! IPTC ends in 7 bytes"},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char said[200];
        bytes set = {.size = 0}, all = {.size = 0}, first = {.size = 0};
        add(&set, sets[i].bytes, sets[i].size);
        add_set(&all, 2, 5, "one");
        add_set(&first, 2, 5, "one");
        add(&all, set.at, set.size);
        snprintf(
            said, sizeof said, "%s that cannot be read and are left out\n", sets[i].said ? sets[i].said : "");
        a_block_becomes(IPTC, &all, LIST, sets[i].said ? &first : &all, sets[i].said ? said : "");
        a_block_becomes(IPTC, &all, ANY, &all, "");
    }
    bytes zeros = {.size = 0}, set = {.size = 0}, photo = {.size = 0};
    add_set(&set, 2, 5, "one");
    add_set(&zeros, 2, 5, "one");
    ADD(&zeros, "\0\0\0\0\0\0\0");
    a_block_becomes(IPTC, &zeros, LIST, &set, ""); /* what fills up is not missed */
    add_set(&photo, 2, 5, "one");
    ADD(&photo, "\1\xFF\xD8\xFF");
    for (unsigned keep = 0; keep <= LIST; keep += LIST)
        a_block_becomes(IPTC, &photo, keep, &set,
            "IPTC IPTC  -1 4: broken\n1! IPTC ends in 4 bytes that cannot be read and are left out\n");
    bytes none = {.size = 0};
    a_block_becomes(IPTC, &none, LIST, NULL, "");
}

static void what_follows_the_blocks_is_broken(void **state)
{
    (void)state;
    for (int photo = 0; photo < 2; photo++)
        for (size_t size = 1; size < 12; size++) {
            char said[200];
            bytes from = {.size = 0}, to = {.size = 0};
            add_block(&from, URL, "", "ab", 2, 0);
            add_block(&to, URL, "", "ab", 2, 0);
            ADD(&from, "8BIM\4\4\0\0\0\0\0\0");
            from.size -= 12 - size;
            if (photo && size >= 3)
                memcpy(from.at + from.size - 3, "\xFF\xD8\xFF", 3);
            snprintf(said, sizeof said,
                "IPTC Photoshop  -1 %zu: broken\n"
                "1! Photoshop's resources end in %zu bytes that cannot be read and are left out\n",
                size, size);
            becomes(&from, LIST, &to, said);
            if (photo && size >= 3)
                becomes(&from, ANY, &to, said);
            else
                becomes(&from, ANY, &from, "");
        }
}

static void blocks_are_whole_or_not(void **state)
{
    (void)state;
    bytes b = {.size = 0};
    size_t ends[6] = {0};
    add_block(&b, 1, "", "", 0, 0);
    ends[1] = b.size;
    assert_int_equal(b.size, 12);
    add_block(&b, 2, "a", "xyz", 3, 0);
    ends[2] = b.size;
    add_block(&b, 3, "ab", "wxyz", 4, 0);
    ends[3] = b.size;
    char name[256] = {0};
    memset(name, 'n', 255);
    add_block(&b, 4, name, "q", 1, 0);
    ends[4] = b.size;
    assert_int_equal(b.size - ends[3], 4 + 2 + 256 + 4 + 2);
    for (size_t size = 0, k = 0; size <= b.size; size++) {
        const bool is_whole = size == ends[k];
        k += is_whole;
        assert_int_equal(lap_resources_are_whole(at_edge(b.at, size), size), is_whole);
    }
    b.at[ends[2]] = '9';
    assert_false(lap_resources_are_whole(b.at, ends[3]));
    assert_true(lap_resources_is((const uint8_t *)"Photoshop 3.0", 14));
    assert_false(lap_resources_is((const uint8_t *)"Photoshop 3.0", 13));
    assert_false(lap_resources_is((const uint8_t *)"Photoshop 3.1", 14));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_stay_as_they_are_without_a_list),
        cmocka_unit_test(a_list_keeps_four_kinds_of_blocks),
        cmocka_unit_test(each_data_set_has_its_rule),
        cmocka_unit_test(data_sets_are_cut_out),
        cmocka_unit_test(previews_are_no_jpeg),
        cmocka_unit_test(xmp_blocks_lose_their_thumbnails),
        cmocka_unit_test(exif_blocks_have_no_makers_notes),
        cmocka_unit_test(lengths_of_data_sets_have_limits),
        cmocka_unit_test(what_follows_the_blocks_is_broken),
        cmocka_unit_test(blocks_are_whole_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
