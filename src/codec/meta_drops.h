/* What of the input's metadata an output lacks: counted by kind, told one by one to the caller if it wants
 * a list, and the warnings that follow. One thread at a time. */
#ifndef LAP_META_DROPS_H
#define LAP_META_DROPS_H

#include "lapedge_program.h"

enum { LAP_DROP_KINDS = 6 };

typedef struct lap_meta_drops {
    uint64_t count[LAP_DROP_KINDS]; /* EXIF, XMP, IPTC, ICC, comment, other */
    int warnings;
    char warning[200];    /* the first */
    lap_dropped_fn *each; /* or NULL */
    void *user;
} lap_meta_drops;

/* Counts by dropped->kind, and tells. drops NULL: nothing happens. */
void lap_meta_drop(lap_meta_drops *drops, const lap_dropped *dropped);
/* Something is lost that the caller did not ask to lose. */
void lap_meta_warn(lap_meta_drops *drops, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "metadata left out: 3 EXIF tags, 1 comment"; false if nothing is. */
bool lap_meta_drops_text(const lap_meta_drops *drops, char *text, size_t size);

#endif
