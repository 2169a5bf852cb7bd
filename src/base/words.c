/* The edit distance of two words. */
#include <ctype.h>
#include <string.h>

#include "lapedge_program.h"

enum { MAX_LENGTH = 63 };

static int min_of(int a, int b)
{
    return a < b ? a : b;
}

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

int lap_word_distance(const char *a, const char *b)
{
    const size_t m = strlen(a), n = strlen(b);
    int row[3][MAX_LENGTH + 1] = {{0}}; /* rows i - 2, i - 1 and i; row i is row[i % 3] */
    if (m > MAX_LENGTH || n > MAX_LENGTH)
        return MAX_LENGTH;
    for (size_t j = 0; j <= n; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int *now = row[i % 3];
        const int *above = row[(i + 2) % 3], *two_above = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            now[j] = min_of(min_of(above[j], now[j - 1]) + 1, above[j - 1] + !is_same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                now[j] = min_of(now[j], two_above[j - 2] + 1);
        }
    }
    return row[m % 3][n];
}
