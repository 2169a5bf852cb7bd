/* Which call of the system fails in a test that wraps calls. */
#ifndef STRIKE_H
#define STRIKE_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Whether this call is the one to fail: planned names it (NULL: none does), and *after counts how many
 * succeed before. Sets errno to why. */
static inline bool strike(const char *planned, const char *call, int *after, int why)
{
    if (!planned || strcmp(planned, call) != 0 || (*after)-- > 0)
        return false;
    errno = why;
    return true;
}

/* The same; with `once`, no further call fails. */
static inline bool strike_once(const char **planned, const char *call, int *after, int why, bool once)
{
    const bool fails = strike(*planned, call, after, why);
    if (fails && once)
        *planned = NULL;
    return fails;
}

#endif
