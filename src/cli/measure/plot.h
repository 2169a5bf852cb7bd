/* Small bar plots of eighth blocks, or of letters where the terminal has no UTF-8. */
#ifndef LAP_CLI_PLOT_H
#define LAP_CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { LAP_PLOT_COLUMNS = 64 }; /* at most */

/* count values as that many bars, `lines` lines high, each bar the mean of its values, the highest one
 * full. Heights are square roots where root is set, so that small counts beside a huge one show. */
void lap_plot(FILE *to, const double *values, size_t count, int columns, int lines, bool root);

typedef struct lap_peak {
    size_t at;
    double value;
} lap_peak;
/* The highest local maxima that stand two standard deviations above the mean and at least a hundredth of
 * the length apart, highest first; returns how many. */
int lap_find_peaks(const float *values, size_t count, lap_peak *peaks, int most);

#endif
