/* Text of a PNG: which segment each chunk becomes, and which chunks are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/png_text.h"
#include "tests/support/edge.h"

#if LAP_HAVE_PNG

#include <zlib.h>

#define XMP "http://ns.adobe.com/xap/1.0/\0"
#define PHOTOSHOP "Photoshop 3.0\0"
#define KEY_79 "0123456789012345678901234567890123456789012345678901234567890123456789012345678"
#define L(literal) literal, sizeof literal - 1

static const struct {
    const char *type, *data;
    size_t size;
    int marker; /* -1: refused */
    const char *becomes;
    size_t becomes_size, keyword;
} chunks[] = {
    {"tEXt", L("Comment\0a comment"), 0xFE, L("a comment"), 0},
    {"tEXt", L("Comment\0"), 0xFE, L(""), 0},
    {"tEXt", L("Title\0a title"), 0xFE, L("Title: a title"), 5},
    {"tEXt", L("T\0\x7F\x80\xBF\xC0\xE9\xFF"), 0xFE, L("T: \x7F\xC2\x80\xC2\xBF\xC3\x80\xC3\xA9\xC3\xBF"), 1},
    {"tEXt", L(KEY_79 "\0x"), 0xFE, L(KEY_79 ": x"), 79},
    {"tEXt", L(KEY_79 "9\0x"), -1, L(""), 0},
    {"tEXt", L("\0x"), -1, L(""), 0},
    {"tEXt", L("Title"), -1, L(""), 0},
    {"tEXt", L(""), -1, L(""), 0},
    {"iTXt", L("Title\0\0\0de\0Titel\0\xC3\xA9"), 0xFE, L("Title: \xC3\xA9"), 5},
    {"iTXt", L("Title\0\0\0\0\0"), 0xFE, L("Title: "), 5},
    {"iTXt", L("Title\0\0\1\0\0x"), -1, L(""), 0},
    {"iTXt", L("Title\0\2\0\0\0x"), -1, L(""), 0},
    {"iTXt", L("Title\0\0\0de"), -1, L(""), 0},
    {"iTXt", L("Title\0\0\0de\0x"), -1, L(""), 0},
    {"iTXt", L("Title\0\0"), -1, L(""), 0},
    {"iTXt", L("Title\0"), -1, L(""), 0},
    {"iTXt", L("XML:com.adobe.xmp\0\0\0\0\0<x/>"), 0xE1, L(XMP "<x/>"), 0},
    {"tEXt", L("Title\0\0x"), 0xFE, L("Title: \0x"), 5},
    {"zTXt", L("Title\0\1x"), -1, L(""), 0},
    {"zTXt", L("Title\0"), -1, L(""), 0},
    {"zTXt", L("Title\0\0not packed"), -1, L(""), 0},
    {"tEXt", L("Raw profile type exif\0\nexif\n       8\n457869660000\n4d4D\n"), 0xE1, L("Exif\0\0MM"), 0},
    {"tEXt", L("Raw profile type APP1\0\n\ngeneric profile\n 8\n4578 6966 0000 4d4d"), 0xE1, L("Exif\0\0MM"),
        0},
    {"tEXt", L("Raw profile type exif\0\nexif\n 7\n4578696600004d4d"), -1, L(""), 0},
    {"tEXt", L("Raw profile type exif\0\nexif\n 9\n4578696600004d4d"), -1, L(""), 0},
    {"tEXt", L("Raw profile type exif\0\nexif\n 0\n"), -1, L(""), 0},
    {"tEXt", L("Raw profile type exif\0"), -1, L(""), 0},
    {"tEXt", L("Raw profile type other\0\nother\n6\n09afAF90:@/`gG55"), 0, L("\x09\xAF\xAF\x90\x55"), 99},
    {"tEXt", L("Raw profile type other\0\nother\n5\n09afAF90:@/`gG55"), 0, L("\x09\xAF\xAF\x90\x55"), 0},
    {"tEXt", L("Raw profile type other\0\nother\n       9\n000102030405060708"), 0, L("\0\1\2\3\4\5\6\7\x08"),
        0},
    {"tEXt", L("Raw profile type other\0\nother\n      10\n00010203040506070809"), 0,
        L("\0\1\2\3\4\5\6\7\x08\x09"), 0},
    {"tEXt", L("Raw profile type xmp\0\nxmp\n4\n3c782f3e"), 0xE1, L(XMP "<x/>"), 0},
    {"tEXt",
        L("Raw profile type "
          "xmp\0\nxmp\n33\n687474703a2f2f6e732e61646f62652e636f6d2f7861702f312e302f003c782f3e"),
        0xE1, L(XMP "<x/>"), 0},
    {"tEXt", L("Raw profile type iptc\0\niptc\n3\n1c0205"), 0xED,
        L(PHOTOSHOP "8BIM\4\4\0\0\0\0\0\3\x1C\2\5\0"), 0},
    {"tEXt", L("Raw profile type 8bim\0\niptc\n4\n1c020500"), 0xED,
        L(PHOTOSHOP "8BIM\4\4\0\0\0\0\0\4\x1C\2\5\0"), 0},
    {"tEXt", L("Raw profile type iptc\0\niptc\n5\n3842494d04"), 0xED, L(PHOTOSHOP "8BIM\4"), 0},
    {"tEXt", L("Raw profile type iptc\0\niptc\n15\n50686f746f73686f7020332e300038"), 0xED, L(PHOTOSHOP "8"),
        0},
};

static void each_chunk_becomes_a_segment(void **state)
{
    (void)state;
    lap_png_texts all = {.count = 0};
    size_t count = 0, bytes = 0, refused = 0;
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        lap_png_texts texts = {.count = 0};
        const bool is_refused = chunks[i].marker < 0 || chunks[i].keyword == 99; /* 99: says a wrong size */
        const uint8_t *data = at_edge(chunks[i].data, chunks[i].size);
        assert_int_equal(lap_png_text_take(&texts, chunks[i].type, data, chunks[i].size, NULL), LAP_OK);
        if (texts.refused != is_refused || texts.count != !is_refused)
            fail_msg("chunk %zu: %zu refused, %zu kept", i, texts.refused, texts.count);
        if (!is_refused) {
            const lap_png_piece *p = texts.pieces;
            if (p->size != chunks[i].becomes_size)
                fail_msg("chunk %zu has %zu bytes, not %zu", i, p->size, chunks[i].becomes_size);
            assert_int_equal(p->marker, chunks[i].marker);
            assert_int_equal(p->keyword, chunks[i].keyword);
            assert_int_equal(p->at, 0);
            assert_int_equal(texts.bytes.size, p->size);
            assert_memory_equal(texts.bytes.data, chunks[i].becomes, p->size);
        }
        lap_png_texts_free(&texts);
        assert_true(!texts.pieces && texts.count == 0 && texts.refused == 0 && !texts.bytes.data);
        assert_int_equal(lap_png_text_take(&all, chunks[i].type, data, chunks[i].size, NULL), LAP_OK);
        refused += is_refused;
        if (is_refused)
            continue;
        assert_int_equal(all.pieces[count].at, bytes); /* one after the other */
        bytes += chunks[i].becomes_size;
        count++;
    }
    assert_int_equal(all.count, count);
    assert_int_equal(all.refused, refused);
    assert_int_equal(all.bytes.size, bytes);
    lap_png_texts_free(&all);
}

/* A text of so many bytes x, in a chunk of this type. */
static void take(lap_png_texts *texts, const char *type, size_t size, bool is_cut)
{
    uint8_t *text = malloc(size + 1), *data;
    uLongf packed = compressBound((uLong)size);
    const bool is_packed = strcmp(type, "tEXt") != 0;
    const size_t head = strcmp(type, "iTXt") == 0 ? 12 : strcmp(type, "zTXt") == 0 ? 9 : 8;
    data = malloc(head + packed + size);
    assert_true(text && data);
    memset(text, 'x', size);
    memcpy(data, "Comment\0\0\0\0\0", head);
    if (is_packed)
        assert_int_equal(compress2(data + head, &packed, text, (uLong)size, 1), Z_OK);
    else
        memcpy(data + head, text, packed = size);
    if (head == 12)
        data[8] = 1;
    assert_int_equal(lap_png_text_take(texts, type, data, head + packed - is_cut, NULL), LAP_OK);
    free(text);
    free(data);
}

static void texts_are_limited_together(void **state)
{
    (void)state;
    static const char *const types[] = {"tEXt", "zTXt", "iTXt"};
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 12345};
    for (size_t t = 0; t < 3; t++) {
        lap_png_texts texts = {.count = 0};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            take(&texts, types[t], sizes[i], false);
            assert_int_equal(texts.count, i + 1);
            assert_int_equal(texts.pieces[i].size, sizes[i]);
        }
        if (t > 0)
            take(&texts, types[t], 100, true); /* data that is cut */
        assert_int_equal(texts.refused, t > 0);
        lap_png_texts_free(&texts);
        take(&texts, "zTXt", 400000, false);
        take(&texts, types[t], LAP_PNG_MAX_TEXT - 400000 + 1, false);
        assert_int_equal(texts.refused, 1);
        assert_int_equal(texts.count, 1);
        take(&texts, types[t], LAP_PNG_MAX_TEXT - 400000, false);
        assert_int_equal(texts.refused, 1);
        assert_int_equal(texts.count, 2);
        assert_int_equal(texts.bytes.size, LAP_PNG_MAX_TEXT);
        take(&texts, types[t], 1, false);
        assert_int_equal(texts.refused, 2);
        take(&texts, types[t], 0, false);
        assert_int_equal(texts.count, t == 0 ? 3 : 2); /* packed, even nothing takes some bytes */
        lap_png_texts_free(&texts);
    }
    lap_png_texts texts = {.count = 0};
    for (int i = 0; i < LAP_PNG_MAX_TEXTS + 2; i++)
        assert_int_equal(lap_png_text_take(&texts, "tEXt", (const uint8_t *)"a\0b", 3, NULL), LAP_OK);
    assert_int_equal(texts.count, 1000);
    assert_int_equal(texts.refused, 2);
    lap_png_texts_free(&texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_chunk_becomes_a_segment),
        cmocka_unit_test(texts_are_limited_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 0;
}

#endif
