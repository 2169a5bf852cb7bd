#include <string.h>

#include "cli/args.h"

enum { LONGEST = 40 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Letters inserted, left out, replaced or swapped with their neighbour. */
static int distance(const char *a, const char *b)
{
    const int m = (int)strlen(a), n = (int)strlen(b);
    int row[3][LONGEST + 1]; /* of i - 2, i - 1 and i, each at i % 3 */
    if (m > LONGEST || n > LONGEST)
        return LONGEST;
    for (int j = 0; j <= n; ++j)
        row[0][j] = j;
    for (int i = 1; i <= m; ++i) {
        int *now = row[i % 3];
        const int *above = row[(i + 2) % 3], *two_above = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n; ++j) {
            now[j] = least(least(above[j], now[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], two_above[j - 2] + 1);
        }
    }
    return row[m % 3][n];
}

const char *lap_cli_nearest(const char *word, const char *(*next)(int i))
{
    const char *best = NULL;
    const int length = (int)strlen(word);
    int limit = length / 3 + 1;
    for (int i = 0; next(i); ++i) {
        const char *candidate = next(i);
        /* Somebody who stops halfway means this one, however much is missing. */
        int d = length >= 3 && strncmp(word, candidate, (size_t)length) == 0 ? 1 : distance(word, candidate);
        if (d < limit) {
            limit = d;
            best = candidate;
        }
    }
    return best;
}
