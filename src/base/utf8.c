/* Decodes UTF-8, and tells which characters a line of text must not hold, and how wide the others are. */
#include "lapedge_program.h"

size_t lap_utf8_decode(const char *text, unsigned *code)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text[0];
    size_t size = first < 0x80   ? 1
                  : first < 0xc0 ? 0
                  : first < 0xe0 ? 2
                  : first < 0xf0 ? 3
                  : first < 0xf8 ? 4
                                 : 0;
    if (size <= 1) {
        *code = first;
        return size;
    }
    *code = first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return *code >= least[size] && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff) ? size : 0;
}

bool lap_utf8_is_shown(unsigned code)
{
    static const struct {
        unsigned first, last;
    } hidden[] = {
        {0x00, 0x1f},     /* C0: escape sequences, line ends */
        {0x7f, 0x9f},     /* DEL, C1: escape sequences in one character */
        {0x061c, 0x061c}, /* marks, embeddings, overrides and isolates: change the direction of text */
        {0x200e, 0x200f},
        {0x2028, 0x202e}, /* U+2028 and U+2029 end a line */
        {0x2066, 0x2069},
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return true;
}

int lap_utf8_columns(unsigned code)
{
    static const struct {
        unsigned first, last;
        int columns;
    } blocks[] = {
        {0x0300, 0x036f, 0},   /* accents */
        {0x1100, 0x115f, 2},   /* first parts of Korean syllables */
        {0x1160, 0x11ff, 0},   /* further parts, drawn into the first one */
        {0x200b, 0x200d, 0},   /* joiners */
        {0x20d0, 0x20ff, 0},   /* marks around symbols */
        {0x2e80, 0x303e, 2},   /* radicals, and East Asian punctuation */
        {0x3041, 0x3098, 2},   /* kana */
        {0x3099, 0x309a, 0},   /* sound marks of kana */
        {0x309b, 0x4dbf, 2},   /* kana, and Chinese characters */
        {0x4e00, 0xa4cf, 2},   /* Chinese characters, and Yi */
        {0xac00, 0xd7a3, 2},   /* Korean syllables */
        {0xf900, 0xfaff, 2},   /* Chinese characters */
        {0xfe00, 0xfe0f, 0},   /* selectors of variants */
        {0xfe20, 0xfe2f, 0},   /* halves of accents */
        {0xfe30, 0xfe6f, 2},   /* vertical and small forms */
        {0xff01, 0xff60, 2},   /* full width */
        {0xffe0, 0xffe6, 2},   /* full width */
        {0x1f300, 0x1f64f, 2}, /* emoji */
        {0x1f680, 0x1f6ff, 2}, /* emoji */
        {0x1f900, 0x1f9ff, 2}, /* emoji */
        {0x20000, 0x3fffd, 2}, /* Chinese characters */
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (code >= blocks[i].first && code <= blocks[i].last)
            return blocks[i].columns;
    return 1;
}
