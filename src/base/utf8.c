/* Decodes UTF-8, and tells which characters a line of text must not hold. */
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
