/* Parses numbers in options and in files of numbers. */
#include "base/decimal.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lapedge_program.h"

static locale_t plain; /* the "C" locale; 0: out of memory, so the program's locale is used */

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t plain_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_plain);
    return plain;
}

float lap_decimal_float(const char *text, char **end)
{
    const locale_t locale = plain_locale();
    return locale ? strtof_l(text, end, locale) : strtof(text, end);
}

locale_t lap_decimal_begin(void)
{
    return uselocale(plain_locale());
}

void lap_decimal_end(locale_t before)
{
    (void)uselocale(before);
}

const char *lap_decimal(const char *text, double *value)
{
    const size_t length = strspn(text, "0123456789+-.eE");
    const locale_t locale = plain_locale();
    char *end;
    errno = 0;
    *value = locale ? strtod_l(text, &end, locale) : strtod(text, &end);
    const bool is_lost = errno == ERANGE && *value == 0;
    return end > text && end <= text + length && isfinite(*value) && !is_lost ? end : NULL;
}
