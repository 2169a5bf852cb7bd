/* What was dropped of metadata, as text: a line for each piece, then the number of warnings and the first
 * one. */
#ifndef DROPS_H
#define DROPS_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/meta_drops.h"

typedef struct drops {
    lap_meta_drops meta;
    char text[20000];
} drops;

static inline void drops_add(void *user, const lap_dropped *d)
{
    char *text = user;
    const size_t length = strlen(text);
    snprintf(text + length, sizeof((drops *)0)->text - length, "%s %s %s %d %" PRIu64 ": %s\n", d->kind,
        d->where, d->name, d->tag, d->bytes, d->reason);
}

static inline lap_meta_drops *drops_begin(drops *d)
{
    d->meta = (lap_meta_drops){.each = drops_add, .user = d->text};
    d->text[0] = 0;
    return &d->meta;
}

static inline const char *drops_text(drops *d)
{
    const size_t length = strlen(d->text);
    if (d->meta.warnings)
        snprintf(d->text + length, sizeof d->text - length, "%d! %s\n", d->meta.warnings, d->meta.warning);
    return d->text;
}

#endif
