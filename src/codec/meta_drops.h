/* Records which metadata an output lacks: counts by kind, calls the caller's function for each piece, and
 * collects warnings. One thread at a time. */
#ifndef LAP_META_DROPS_H
#define LAP_META_DROPS_H

#include "lapedge_program.h"

enum { LAP_DROP_KINDS = 6 };

typedef struct lap_meta_drops {
    uint64_t count[LAP_DROP_KINDS]; /* EXIF, XMP, IPTC, ICC, comment, other */
    int warnings;
    char warning[200];    /* the first warning */
    lap_dropped_fn *each; /* called for each piece; or NULL */
    void *user;
} lap_meta_drops;

/* Counts by dropped->kind, and calls each. Does nothing if drops is NULL. */
void lap_meta_drop(lap_meta_drops *drops, const lap_dropped *dropped);
/* Adds a warning: metadata is lost that the user did not ask to drop. */
void lap_meta_warn(lap_meta_drops *drops, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes "metadata left out: 3 EXIF tags, 1 comment"; false if nothing was dropped. */
bool lap_meta_drops_text(const lap_meta_drops *drops, char *text, size_t size);

#endif
