/* UTF-8, as far as names of files need it. */
#ifndef LAP_CLI_UTF8_H
#define LAP_CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Length in bytes of the character at text, and its code point; 0 where it is not well-formed
 * (overlong, surrogate, beyond U+10FFFF, cut). text is not at its end. */
size_t lap_utf8_decode(const char *text, unsigned *code);
bool lap_utf8_is_valid(const char *text);

#endif
