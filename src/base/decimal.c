/* Numbers in options and in files of numbers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lapedge_program.h"

const char *lap_decimal(const char *text, double *value)
{
    const size_t length = strspn(text, "0123456789+-.eE");
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    const bool is_lost = errno == ERANGE && *value == 0;
    return end > text && end <= text + length && isfinite(*value) && !is_lost ? end : NULL;
}
