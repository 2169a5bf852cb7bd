#include "cli/measure/measure.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/term.h"

enum { BINS = 256, HISTOGRAM_LINES = 3, PROFILE_LINES = 3, PEAKS = 5 };

typedef struct shown { /* statistics of the photo or of the edges */
    const char *name;
    const lap_stats *stats;
} shown;

/* ---- bar plots ------------------------------------------------------------------------------------ */

enum { PLOT_COLUMNS = 64 }; /* maximum */

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const letters[] = {" ", ".", ".", ":", ":", "|", "|", "#", "#"};
enum { STEPS = 8 };

static bool has_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* Returns the mean of the values in a column. An image smaller than the plot repeats its values. */
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

/* Plots count values as `columns` bars of eighth blocks, or of letters if the terminal has no UTF-8. The plot
 * is `lines` lines high. Each bar is the mean of its values, and the highest one is full. With root, heights
 * are square roots, so that small counts remain visible beside a huge one. */
static void plot(const double *values, size_t count, int columns, int lines, bool root)
{
    const char *const *marks = has_utf8() ? blocks : letters;
    double heights[PLOT_COLUMNS], highest = 0;
    for (int x = 0; x < columns; x++) {
        double value = column_value(values, count, x, columns);
        heights[x] = value > 0 ? root ? sqrt(value) : value : 0;
        highest = fmax(highest, heights[x]);
    }
    for (int line = lines - 1; line >= 0; line--) {
        fputs("  ", stdout);
        for (int x = 0; x < columns; x++) {
            double eighths = highest > 0 ? heights[x] / highest * lines * STEPS : 0;
            /* A value above zero is always visible, however small it is beside the highest. */
            int left = (int)ceil(eighths) - line * STEPS;
            fputs(marks[left < 0 ? 0 : left > STEPS ? STEPS : left], stdout);
        }
        putchar('\n');
    }
}

typedef struct peak {
    size_t at;
    double value;
} peak;

static bool is_peak(const float *values, size_t count, size_t at, double floor)
{
    return values[at] > floor && (at == 0 || values[at] >= values[at - 1]) &&
           (at + 1 == count || values[at] > values[at + 1]);
}

/* Inserts a peak. Keeps peaks sorted, the highest first, with no peak too close to a higher one. */
static int insert(peak *peaks, int found, int most, peak new, size_t apart)
{
    for (int i = 0; i < found; i++) {
        size_t distance = new.at > peaks[i].at ? new.at - peaks[i].at : peaks[i].at - new.at;
        if (distance >= apart)
            continue;
        if (peaks[i].value >= new.value)
            return found;
        memmove(peaks + i, peaks + i + 1, (size_t)(found - i - 1) * sizeof *peaks);
        found--;
        i--;
    }
    int at = found;
    while (at > 0 && peaks[at - 1].value < new.value)
        at--;
    if (at == most)
        return found;
    found = found < most ? found + 1 : most;
    memmove(peaks + at + 1, peaks + at, (size_t)(found - at - 1) * sizeof *peaks);
    peaks[at] = new;
    return found;
}

/* Finds the highest local maxima that exceed the mean by two standard deviations and are at least a hundredth
 * of the length apart. Sorts them, the highest first, and returns their number. */
static int find_peaks(const float *values, size_t count, peak *peaks, int most)
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
            found = insert(peaks, found, most, (peak){i, values[i]}, count / 100 + 1);
    return found;
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static json_t *channel_json(const lap_channel_stats *c)
{
    json_t *histogram = json_array();
    for (int v = 0; v < BINS; v++)
        json_array_append_new(histogram, json_integer((json_int_t)c->histogram[v]));
    return json_pack("{ss si si sI so so so si si si so so}", "name", c->name, "min", c->min, "max", c->max,
        "sum", (json_int_t)c->sum, "mean", lap_json_real(c->mean), "stddev", lap_json_real(c->stddev),
        "entropy", lap_json_real(c->entropy), "p1", c->p1, "p50", c->p50, "p99", c->p99, "above",
        lap_json_real(c->above), "histogram", histogram);
}

json_t *lap_stats_image_json(const lap_stats *stats)
{
    if (stats->channels == 0)
        return json_null();
    json_t *channels = json_array();
    for (int c = 0; c < stats->channels; c++)
        json_array_append_new(channels, channel_json(&stats->channel[c]));
    return json_pack("{so}", "channels", channels);
}

static json_t *floats_json(const float *values, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, lap_json_real((double)values[i]));
    return array;
}

json_t *lap_stats_json(const char *input, const lap_run_stats *stats, const lap_measurement *m)
{
    const int threshold = stats->input.threshold;
    json_t *object = lap_json_object("lapedge.stats/1");
    json_t *inner = lap_stats_image_json(&stats->input);
    lap_json_path(inner, "path", input);
    json_object_set_new(object, "input", inner);
    json_object_set_new(object, "edges", lap_stats_image_json(&stats->edges));
    json_object_set_new(object, "mask_border", json_integer(m ? m->mask_border : 0));
    json_object_set_new(object, "threshold", threshold >= 0 ? json_integer(threshold) : json_null());
    json_object_set_new(object, "profiles",
        m && m->rows ? json_pack("{so so}", "rows", floats_json(m->rows, m->height), "columns",
                           floats_json(m->columns, m->width))
                     : json_null());
    return object;
}

int lap_stats_write(
    const lap_cli *cli, const char *input, const lap_run_stats *stats, const lap_report *report)
{
    json_t *object = lap_stats_json(input, stats, NULL);
    lap_json_edges(object, &cli->settings);
    lap_json_warnings(object, report);
    char *text = lap_json_dump(object, JSON_INDENT(2));
    lap_error err = {.code = LAP_E_MEMORY, .message = "out of memory"};
    const lap_code code =
        text ? lap_side_write(cli->stats, text, strlen(text), cli->settings.sync, &err) : LAP_E_MEMORY;
    free(text);
    json_decref(object);
    if (code == LAP_OK)
        return LAP_EXIT_OK;
    char why[1024];
    lap_cli_message("the statistics were not written: %s", lap_cli_error_text(&err, why, sizeof why));
    return LAP_EXIT_FAILED;
}

/* ---- text ---------------------------------------------------------------------------------------- */

/* Returns the number of bars that fit on this terminal after two blanks, so that no line wraps. */
static int plot_columns(void)
{
    enum { LEAST = 16, BLANKS = 4 };
    const int columns = lap_term_width() - BLANKS;
    return columns > PLOT_COLUMNS ? PLOT_COLUMNS : columns < LEAST ? LEAST : columns;
}

/* Prints "  0          255", and a description of the plot: on the same line, or below on a narrow
 * terminal. */
static void axis_text(int last, const char *what)
{
    const int columns = plot_columns();
    printf("  0%*d", columns - 1, last);
    printf("%s(%s)\n", columns + 6 + (int)strlen(what) > lap_term_width() ? "\n  " : "  ", what);
}

static void histogram_text(const lap_channel_stats *c)
{
    double counts[BINS];
    for (int v = 0; v < BINS; v++)
        counts[v] = (double)c->histogram[v];
    plot(counts, BINS, plot_columns(), HISTOGRAM_LINES, true);
}

static void image_text(const lap_cli *cli, const shown *p, bool plots)
{
    enum { FULL_WIDTH = 69, ABOVE = 8 };
    const bool has_above = p->stats->threshold >= 0;
    const bool narrow = lap_term_width() < FULL_WIDTH + (has_above ? ABOVE : 0);
    printf("%s%-8s     min  max      mean%s    p1   p50   p99%s%s\n", lap_term_bold(cli, stdout), p->name,
        narrow ? "" : "    stddev   entropy", has_above ? "   above" : "", lap_term_plain(cli, stdout));
    for (int i = 0; i < p->stats->channels; i++) {
        const lap_channel_stats *c = &p->stats->channel[i];
        printf("  %-8s %4d %4d %9.3f", c->name, c->min, c->max, c->mean);
        if (!narrow)
            printf(" %9.3f %9.4f", c->stddev, c->entropy);
        printf(" %5d %5d %5d", c->p1, c->p50, c->p99);
        if (has_above)
            printf(" %6.2f%%", 100 * c->above);
        putchar('\n');
        if (plots)
            histogram_text(c);
    }
    if (plots)
        axis_text(BINS - 1, "heights: square roots of counts");
}

/* Continues the line at column `at`. */
static void peaks_text(const float *values, size_t count, size_t skipped, int at)
{
    peak peaks[PEAKS];
    char text[400];
    const int found = find_peaks(values, count, peaks, PEAKS);
    int length = snprintf(text, sizeof text, "%s", found ? "peaks at" : "no peaks");
    for (int i = 0; i < found; i++)
        length += snprintf(text + length, sizeof text - (size_t)length, "%s %zu (%.4g)", i ? "," : "",
            peaks[i].at + skipped, peaks[i].value);
    const bool fits = at + length <= lap_term_width();
    fputs(fits ? "" : "\n  ", stdout);
    lap_cli_print_wrapped(text, fits ? at : 2, lap_term_width());
}

static void profile_text(
    const lap_cli *cli, const char *name, const char *unit, const float *values, int count, bool plots)
{
    double bars[PLOT_COLUMNS];
    /* The border rule creates edges at both ends that are higher than most; they do not count as peaks. */
    const int skipped = count > 2 * LAP_APRON ? LAP_APRON : 0;
    const size_t inner = (size_t)(count - 2 * skipped), columns = (size_t)plot_columns();
    values += skipped;
    char head[80];
    const int length = snprintf(head, sizeof head, "%s  %d values, ", name, count);
    printf("%s%s%s%s", lap_term_bold(cli, stdout), name, lap_term_plain(cli, stdout), head + strlen(name));
    peaks_text(values, inner, (size_t)skipped, length);
    if (!plots)
        return;
    /* A bar shows its highest value, because a mean would hide peaks. */
    for (size_t b = 0; b < columns; b++) {
        size_t i = inner * b / columns, end = inner * (b + 1) / columns;
        for (bars[b] = (double)values[i]; i < end; i++)
            bars[b] = fmax(bars[b], (double)values[i]);
    }
    plot(bars, columns, (int)columns, PROFILE_LINES, false);
    axis_text(count - 1, unit);
}

void lap_stats_tables(const lap_cli *cli, const lap_run_stats *stats, bool plots)
{
    const shown both[] = {{"input", &stats->input}, {"edges", &stats->edges}};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        if (both[i].stats->channels > 0)
            image_text(cli, &both[i], plots);
}

void lap_stats_text(const lap_cli *cli, const char *input, const lap_measurement *m)
{
    const bool plots = isatty(STDOUT_FILENO);
    char text[200];
    const int length = snprintf(text, sizeof text, "%d x %d, %d channel%s, edges by %s", m->width, m->height,
        m->channels, m->channels == 1 ? "" : "s", m->resolved);
    lap_cli_print_safely(stdout, input);
    printf("%s%s\n", (int)strlen(input) + 2 + length > lap_term_width() ? ":\n  " : ": ", text);
    lap_stats_tables(cli, &m->stats, plots);
    if (m->stats.edges.channels == 0)
        printf("%sedges%s  none: a border of %d pixels covers all of %d x %d\n", lap_term_bold(cli, stdout),
            lap_term_plain(cli, stdout), m->mask_border, m->width, m->height);
    else if (plots && cli->settings.border == LAP_ZERO && m->mask_border < LAP_APRON)
        lap_cli_print_wrapped("The frame that the zero border makes is in these edges; see --mask-border.", 0,
            lap_term_width());
    if (!m->rows)
        return;
    profile_text(cli, "row profile", "y, top to bottom", m->rows, m->height, plots);
    profile_text(cli, "column profile", "x, left to right", m->columns, m->width, plots);
}

/* ---- CSV ----------------------------------------------------------------------------------------- */

/* Whether a spreadsheet would read a cell as a formula; some of the characters exist in full width too. */
static bool begins_formula(const char *cell)
{
    static const char *const signs[] = {
        "=", "+", "-", "@", "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(cell, signs[i], strlen(signs[i])) == 0)
            return true;
    return false;
}

/* Prints a name as messages show it, with a comma after it, in quotation marks if RFC 4180 requires them. An
 * apostrophe before a formula turns it into text. A name that begins with an apostrophe also gets one, so
 * that a reader can remove the first. */
static void csv_name(const char *name)
{
    const bool is_plain = strpbrk(name, ",\"") == NULL, is_marked = *name == '\'' || begins_formula(name);
    if (is_marked && is_plain)
        putchar('\'');
    if (is_plain)
        lap_cli_print_safely(stdout, name);
    else
        lap_cli_print_quoted(stdout, is_marked ? "'" : "", name);
    putchar(',');
}

static void csv_begin(const char *file, const char *image)
{
    if (file)
        csv_name(file);
    fputs(image, stdout);
}

static void channel_csv(const char *file, const char *image, const lap_channel_stats *c)
{
    const struct {
        const char *name;
        double value;
    } values[] = {{"min", c->min}, {"max", c->max}, {"sum", (double)c->sum}, {"mean", c->mean},
        {"stddev", c->stddev}, {"entropy", c->entropy}, {"p1", c->p1}, {"p50", c->p50}, {"p99", c->p99},
        {"above", c->above}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (isfinite(values[i].value)) {
            csv_begin(file, image);
            printf(",%s,%s,,%.17g\n", c->name, values[i].name, values[i].value);
        }
    for (int v = 0; v < BINS; v++) {
        csv_begin(file, image);
        printf(",%s,histogram,%d,%llu\n", c->name, v, (unsigned long long)c->histogram[v]);
    }
}

static void profile_csv(const char *file, const char *name, const float *values, int count)
{
    for (int i = 0; values && i < count; i++) {
        csv_begin(file, "edges");
        printf(",luma,%s,%d,%.9g\n", name, i, (double)values[i]);
    }
}

void lap_stats_csv_head(bool has_files)
{
    printf("%simage,channel,figure,index,value\n", has_files ? "file," : "");
}

void lap_stats_csv(const char *file, const lap_run_stats *stats, const lap_measurement *m)
{
    for (int c = 0; c < stats->input.channels; c++)
        channel_csv(file, "input", &stats->input.channel[c]);
    for (int c = 0; c < stats->edges.channels; c++)
        channel_csv(file, "edges", &stats->edges.channel[c]);
    if (!m)
        return;
    profile_csv(file, "row_profile", m->rows, m->height);
    profile_csv(file, "column_profile", m->columns, m->width);
}
