/* Where tests make files and folders: in TMPDIR, which tests/run removes, also after a test that was killed.
 */
#ifndef TEMPORARY_H
#define TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEMPORARY_PATH = 64 };

/* Makes the template of a name for mkdtemp() or mkstemp(). A TMPDIR that is too long for it is not used. */
static inline char *temporary(char path[TEMPORARY_PATH], const char *kind)
{
    const char *place = getenv("TMPDIR");
    const size_t room = TEMPORARY_PATH - sizeof "/lapedge--XXXXXX" - strlen(kind);
    snprintf(path, TEMPORARY_PATH, "%s/lapedge-%s-XXXXXX",
        place && *place && strlen(place) < room ? place : "/tmp", kind);
    return path;
}

#endif
