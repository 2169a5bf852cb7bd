#include "cli/measure/plot.h"

#include <locale.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include <langinfo.h>

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const letters[] = {" ", ".", ".", ":", ":", "|", "|", "#", "#"};
enum { STEPS = 8 };

static bool has_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* The mean of the values that fall to a column; an image smaller than the plot repeats its values. */
static double column_value(const double *values, size_t count, int column, int columns)
{
    size_t first = count * (size_t)column / (size_t)columns;
    size_t end = count * (size_t)(column + 1) / (size_t)columns;
    double sum = 0;
    end = end > first ? end : first + 1;
    for (size_t i = first; i < end; i++)
        sum += values[i];
    return sum / (double)(end - first);
}

void lap_plot(FILE *to, const double *values, size_t count, int columns, int lines, bool root)
{
    const char *const *marks = has_utf8() ? blocks : letters;
    double heights[LAP_PLOT_COLUMNS], highest = 0;
    for (int x = 0; x < columns; x++) {
        double value = column_value(values, count, x, columns);
        heights[x] = value > 0 ? root ? sqrt(value) : value : 0;
        highest = fmax(highest, heights[x]);
    }
    for (int line = lines - 1; line >= 0; line--) {
        fputs("  ", to);
        for (int x = 0; x < columns; x++) {
            double eighths = highest > 0 ? heights[x] / highest * lines * STEPS : 0;
            /* What is not zero shows, however small it is beside the highest. */
            int left = (int)ceil(eighths) - line * STEPS;
            fputs(marks[left < 0 ? 0 : left > STEPS ? STEPS : left], to);
        }
        fputc('\n', to);
    }
}

static bool is_peak(const float *values, size_t count, size_t at, double floor)
{
    return values[at] > floor && (at == 0 || values[at] >= values[at - 1]) &&
           (at + 1 == count || values[at] > values[at + 1]);
}

/* Keeps peaks sorted, the highest first, and none too close to a higher one. */
static int insert(lap_peak *peaks, int found, int most, lap_peak peak, size_t apart)
{
    for (int i = 0; i < found; i++) {
        size_t distance = peak.at > peaks[i].at ? peak.at - peaks[i].at : peaks[i].at - peak.at;
        if (distance >= apart)
            continue;
        if (peaks[i].value >= peak.value)
            return found;
        memmove(peaks + i, peaks + i + 1, (size_t)(found - i - 1) * sizeof *peaks);
        found--;
        i--;
    }
    int at = found;
    while (at > 0 && peaks[at - 1].value < peak.value)
        at--;
    if (at == most)
        return found;
    found = found < most ? found + 1 : most;
    memmove(peaks + at + 1, peaks + at, (size_t)(found - at - 1) * sizeof *peaks);
    peaks[at] = peak;
    return found;
}

int lap_find_peaks(const float *values, size_t count, lap_peak *peaks, int most)
{
    double sum = 0, squares = 0;
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        squares += (double)values[i] * values[i];
    }
    double mean = sum / (double)count, variance = squares / (double)count - mean * mean;
    double floor = mean + 2 * sqrt(variance > 0 ? variance : 0);
    for (size_t i = 0; i < count; i++)
        if (is_peak(values, count, i, floor))
            found = insert(peaks, found, most, (lap_peak){i, values[i]}, count / 100 + 1);
    return found;
}
