#include <string.h>

#include "cli/options/args.h"

const char *lap_cli_nearest(const char *word, const char *(*next)(int i))
{
    const char *best = NULL;
    const int length = (int)strlen(word);
    int limit = length / 3 + 1;
    for (int i = 0; next(i); i++) {
        const char *candidate = next(i);
        /* Somebody who stops halfway means this one, however much is missing. */
        int d = length >= 3 && strncmp(word, candidate, (size_t)length) == 0
                    ? 1
                    : lap_word_distance(word, candidate);
        if (d < limit) {
            limit = d;
            best = candidate;
        }
    }
    return best;
}
