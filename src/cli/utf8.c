#include "cli/utf8.h"

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

bool lap_utf8_is_valid(const char *text)
{
    unsigned code;
    while (*text) {
        size_t size = lap_utf8_decode(text, &code);
        if (size == 0)
            return false;
        text += size;
    }
    return true;
}
