/* Parses and prints numbers with a decimal point, as in options, files and records, whatever locale the
 * program has set. */
#ifndef LAP_DECIMAL_H
#define LAP_DECIMAL_H

#include <locale.h>

/* Like strtof. */
float lap_decimal_float(const char *text, char **end);
/* Between these calls the thread prints numbers with a decimal point. */
locale_t lap_decimal_begin(void);
void lap_decimal_end(locale_t before);

#endif
