#include "codec/meta_drops.h"

#include <stdarg.h>
#include <string.h>

/* The name of a kind in lap_dropped, in the singular and in the plural. */
static const char *const kinds[LAP_DROP_KINDS][3] = {
    {"EXIF", "EXIF tag", "EXIF tags"},
    {"XMP", "XMP property", "XMP properties"},
    {"IPTC", "IPTC data set", "IPTC data sets"},
    {"ICC", "part of a profile", "parts of a profile"},
    {"comment", "comment", "comments"},
    {"other", "other piece", "other pieces"},
};

void lap_meta_drop(lap_meta_drops *drops, const lap_dropped *dropped)
{
    if (!drops)
        return;
    int i = 0;
    while (i < LAP_DROP_KINDS - 1 && strcmp(kinds[i][0], dropped->kind) != 0)
        i++;
    drops->count[i]++;
    if (drops->each)
        drops->each(drops->user, dropped);
}

void lap_meta_warn(lap_meta_drops *drops, const char *format, ...)
{
    if (!drops || drops->warnings++ > 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(drops->warning, sizeof drops->warning, format, args);
    va_end(args);
}

bool lap_meta_drops_text(const lap_meta_drops *drops, char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < LAP_DROP_KINDS; i++) {
        const unsigned long long n = drops->count[i];
        if (n == 0 || length >= size)
            continue;
        const int more = snprintf(text + length, size - length, "%s%llu %s",
            length ? ", " : "metadata left out: ", n, kinds[i][n == 1 ? 1 : 2]);
        length += more > 0 ? (size_t)more : 0;
    }
    return length > 0;
}
