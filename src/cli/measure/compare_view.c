/* The tables of compare on the terminal. */
#include <math.h>
#include <string.h>

#include "cli/measure/bench_table.h"
#include "cli/measure/compare_table.h"
#include "cli/term.h"

/* Which columns a ladder's table has: in a pipe all of them, in a terminal those that it has room for. */
typedef struct columns {
    int name;          /* width */
    bool largest;      /* and how many pixels, which say nothing where all agree */
    bool means;        /* mean, RMSE, PSNR */
    bool stages;       /* of a device */
    bool stages_below; /* on a line of their own */
} columns;

static void name_of(const lap_compare_line *line, char name[64])
{
    lap_cli_name_rung(name, 64, line->backend, line->resolved);
}

static columns columns_of(const lap_compare_result *result, lap_op op)
{
    enum { SAME = 4, LARGEST = 8 + 12, MEANS = 11 + 11 + 8, TIMES = 10 + 8 + 2, STAGES = 3 * 10 };
    columns c = {.name = 8};
    char name[64];
    bool differs = false;
    for (int i = 0; i < result->count; i++) {
        const lap_compare_line *line = &result->lines[i];
        if (line->op != op || line->reason)
            continue;
        name_of(line, name);
        c.name = (int)strlen(name) > c.name ? (int)strlen(name) : c.name;
        differs = differs || !line->sum.identical;
        c.stages = c.stages || !isnan(line->kernel_ms);
    }
    c.name += 2;
    int left = lap_term_width() - c.name - SAME - TIMES;
    c.stages_below = c.stages && differs && left < LARGEST + STAGES;
    left -= c.stages && !c.stages_below ? STAGES : 0;
    c.largest = left >= LARGEST;
    left -= LARGEST;
    c.means = left >= MEANS;
    if (!lap_compare_has_pictures(op))
        c.largest = c.means = c.stages = false;
    return c;
}

static void print_titles(const lap_cli *cli, lap_op op, const columns *c)
{
    printf("%s%-*ssame", lap_term_bold(cli, stdout), c->name, lap_op_name(op));
    if (!lap_compare_has_pictures(op))
        printf("%16s", "relative error");
    if (c->largest)
        printf("%8s", "largest");
    if (c->means)
        printf("%11s%11s%8s", "mean", "RMSE", "PSNR");
    if (c->largest)
        printf("%12s", "pixels");
    printf("%10s%8s", "ms", "spread");
    if (c->stages && !c->stages_below)
        printf("%10s%10s%10s", "upload", "kernel", "download");
    printf("%s\n", lap_term_plain(cli, stdout));
}

static void print_difference(const lap_difference *d, const columns *c)
{
    printf("%-4s", d->identical ? "yes" : "NO");
    if (c->largest)
        printf("%8d", d->max_abs);
    if (c->means && d->identical)
        printf("%11s%11s%8s", "0", "0", "-");
    else if (c->means)
        printf("%11.3g%11.3g%8.2f", d->mean_abs, d->rmse, d->psnr);
    if (c->largest)
        printf("%12llu", (unsigned long long)d->differing_pixels);
}

static void print_ms(double ms)
{
    if (isnan(ms))
        printf("%10s", "-");
    else
        printf("%10.*f", ms < 0.1 ? 4 : ms < 10 ? 3 : 2, ms);
}

static void print_times(const lap_compare_line *line, const columns *c)
{
    char spread[16] = "-";
    print_ms(line->ms);
    if (line->runs > 1 && line->ms > 0)
        snprintf(spread, sizeof spread, "%.0f %%", 100 * line->stddev_ms / line->ms);
    printf("%8s", spread);
    if (c->stages && !c->stages_below) {
        print_ms(line->upload_ms);
        print_ms(line->kernel_ms);
        print_ms(line->download_ms);
    }
    puts(lap_compare_line_is_noisy(line) ? " ~" : "");
    if (c->stages_below && !isnan(line->kernel_ms))
        printf("    upload %.3f, kernel %.3f, download %.3f ms\n", line->upload_ms, line->kernel_ms,
            line->download_ms);
}

/* Where a backend differs first. */
static void print_place(const lap_compare_result *result, const lap_compare_line *line)
{
    const lap_difference *d = &line->sum;
    char first[160], text[400];
    if (line->detail)
        printf("    %s\n", line->detail);
    if (d->identical || !lap_compare_has_pictures(line->op))
        return;
    lap_cli_first_difference(d, "c", "it", first, sizeof first);
    int length = snprintf(text, sizeof text, "first at %s", first);
    if (d->differing_pixels > 1)
        snprintf(text + length, sizeof text - (size_t)length, "; %llu of %llu in the border of two",
            (unsigned long long)d->differing_border, (unsigned long long)d->differing_pixels);
    fputs("    ", stdout);
    lap_cli_print_wrapped(text, 4, lap_term_width());
    if (result->files > 1) {
        fputs("    in ", stdout);
        lap_cli_print_safely(stdout, line->input);
        putchar('\n');
    }
}

static bool has_cause_of(const lap_compare_line *line, const lap_compare_line *other)
{
    return line == other ||
           (line->op == other->op && line->cause && other->cause && strcmp(line->cause, other->cause) == 0);
}

/* Backends with the same cause share a line. */
static void print_absent(const lap_compare_result *result, lap_op op)
{
    for (int i = 0; i < result->count; i++) {
        const lap_compare_line *line = &result->lines[i];
        int first = 0;
        if (line->op != op || !line->reason)
            continue;
        while (!has_cause_of(&result->lines[first], line))
            first++;
        if (first < i)
            continue; /* printed with that one */
        char text[1200];
        int length = snprintf(text, sizeof text, "%s: ", line->resolved ? "failed" : "cannot run here");
        for (int j = i; j < result->count && length < 600; j++)
            if (has_cause_of(&result->lines[j], line))
                length += snprintf(text + length, sizeof text - (size_t)length, "%s%s", j == i ? "" : ", ",
                    result->lines[j].backend);
        snprintf(
            text + length, sizeof text - (size_t)length, ": %s", line->cause ? line->cause : line->reason);
        lap_cli_print_wrapped(text, 0, lap_term_width());
    }
}

static void print_ladder(const lap_cli *cli, const lap_compare_result *result, lap_op op)
{
    const columns c = columns_of(result, op);
    int noisy = 0;
    print_titles(cli, op, &c);
    for (int i = 0; i < result->count; i++) {
        const lap_compare_line *line = &result->lines[i];
        char name[64];
        if (line->op != op || line->reason)
            continue;
        name_of(line, name);
        printf("%-*s", c.name, name);
        if (lap_compare_has_pictures(op))
            print_difference(&line->sum, &c);
        else if (isnan(line->relative_error))
            printf("%-4s%16s", line->sum.identical ? "yes" : "NO", "-");
        else
            printf("%-4s%16.2g", line->sum.identical ? "yes" : "NO", line->relative_error);
        print_times(line, &c);
        print_place(result, line);
        noisy += lap_compare_line_is_noisy(line);
    }
    print_absent(result, op);
    if (noisy == 0)
        return;
    fputs("~ ", stdout);
    lap_cli_print_wrapped(
        "the machine was busy, or its clocks changed: times vary by more than 10 % of the median. "
        "More runs (--runs) are steadier.",
        2, lap_term_width());
}

void lap_compare_print(const lap_cli *cli, const lap_compare_result *result)
{
    bool first = true;
    if (!result->photos)
        printf("%d x %d, %d channel%s\n", result->width, result->height, result->channels,
            result->channels == 1 ? "" : "s");
    else
        printf("\n%d file%s together\n", result->files, result->files == 1 ? "" : "s");
    for (int op = 0; op < LAP_OP_COUNT && result->files > 0; op++) {
        if (!(cli->ops >> op & 1))
            continue;
        if (!first)
            putchar('\n');
        first = false;
        print_ladder(cli, result, (lap_op)op);
        const int promised = lap_params_tolerance(&cli->settings.params);
        if (op == LAP_OP_FILTER && promised > 0)
            printf("These coefficients are not exact in float: backends may differ by %d (--max-abs=%d).\n",
                promised, promised);
        else if (op == LAP_OP_FILTER && promised < 0)
            puts("With these coefficients and this scale, differences by rounding are not bounded.");
    }
}

/* ---- the photos of a folder ---------------------------------------------------------------------- */

enum { PHOTO_FIGURES = 12 + 5 + 8 + 10 + 10, PHOTO_NAME = 40 };

/* What is left of a terminal's line beside the figures and a backend's name. */
static int photo_name_width(void)
{
    enum { BACKEND = 16, LEAST = 12 };
    const int left = lap_term_width() - PHOTO_FIGURES - BACKEND;
    return left > PHOTO_NAME ? PHOTO_NAME : left < LEAST ? LEAST : left;
}

void lap_compare_print_photo(const lap_cli *cli, const lap_compare_result *result)
{
    const size_t count = json_array_size(result->photos);
    const json_t *row = json_array_get(result->photos, count - 1);
    const int width = photo_name_width();
    const lap_compare_photo *photo = &result->photo;
    const size_t folder = strlen(cli->operands[0]);
    const char *name = json_string_value(json_object_get(row, "input"));
    char size[32];
    if (count == 1)
        printf("%s%-*s%12s%5s%8s%10s%10s  backend%s\n", lap_term_bold(cli, stdout), width, "photo", "size",
            "same", "largest", "c ms", "fastest", lap_term_plain(cli, stdout));
    if (strncmp(name, cli->operands[0], folder) == 0)
        name += folder + strspn(name + folder, "/");
    lap_cli_print_safely(stdout, name);
    const int printed = (int)strlen(name); /* a longer name has a line of its own */
    if (printed >= width)
        printf("\n%*s", width, "");
    else
        printf("%*s", width - printed, "");
    if (!json_is_null(json_object_get(row, "error"))) {
        printf("%12s\n", "failed");
        return;
    }
    snprintf(size, sizeof size, "%dx%d", result->width, result->height);
    printf("%12s%5s%8d", size, photo->identical ? "yes" : "NO", photo->max_abs);
    print_ms(photo->c_ms);
    print_ms(photo->fastest_ms);
    printf("  %s\n", photo->worst ? photo->worst : photo->fastest ? photo->fastest : "-");
    fflush(stdout);
}
