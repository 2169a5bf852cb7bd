#include "cli/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term.h"

bool lap_compare_has_pictures(lap_op op)
{
    return op == LAP_OP_FILTER || op == LAP_OP_TRANSPOSE;
}

bool lap_compare_line_is_equal(const lap_cli *cli, const lap_compare_line *line)
{
    return lap_compare_has_pictures(line->op) ? lap_cli_is_equal(cli, &line->sum) : line->sum.identical;
}

/* ---- gathering ----------------------------------------------------------------------------------- */

static lap_compare_line *line_of(lap_compare_result *result, const lap_compare_row *row)
{
    for (int i = 0; i < result->count; i++)
        if (result->lines[i].op == row->op && result->lines[i].backend == row->backend)
            return &result->lines[i];
    lap_compare_line *grown = reallocarray(result->lines, (size_t)result->count + 1, sizeof *result->lines);
    if (!grown)
        return NULL;
    result->lines = grown;
    grown[result->count] = (lap_compare_line){
        .op = row->op, .backend = row->backend, .relative_error = NAN, .sum = {.identical = true}};
    return &grown[result->count++];
}

static bool keep(char **text, const char *from)
{
    if (!*text && from)
        *text = strdup(from);
    return *text || !from;
}

/* Adds a row to the current photo: the times come from the first ladder, the agreement from all ladders. */
static void take_photo(lap_compare_result *result, const lap_compare_row *row)
{
    lap_compare_photo *photo = &result->photo;
    const lap_difference *d = &row->difference;
    photo->identical = photo->identical && d->identical;
    if (lap_compare_has_pictures(row->op) && d->max_abs > photo->max_abs) {
        photo->max_abs = d->max_abs;
        photo->differing_pixels = d->differing_pixels;
        photo->worst = row->backend;
    }
    if (photo->op == LAP_OP_COUNT)
        photo->op = row->op;
    if (photo->op != row->op)
        return;
    if (strcmp(row->backend, "c") == 0)
        photo->c_ms = row->ms;
    if (!(photo->fastest_ms <= row->ms)) {
        photo->fastest = row->resolved;
        photo->fastest_ms = row->ms;
    }
}

void lap_compare_begin_photo(lap_compare_result *result)
{
    result->photo = (lap_compare_photo){
        .op = LAP_OP_COUNT, .identical = true, .c_ms = NAN, .fastest_ms = NAN, .decode_ms = NAN};
}

bool lap_compare_line_is_noisy(const lap_compare_line *line)
{
    enum { FEWEST = 3 };
    return line->runs >= FEWEST && line->stddev_ms > 0.10 * line->ms;
}

bool lap_compare_take(lap_compare_result *result, const lap_compare_row *row, const char *input)
{
    lap_compare_line *line = line_of(result, row);
    if (!line)
        return false;
    line->resolved = row->resolved;
    if (row->reason)
        return keep(&line->reason, row->reason) && keep(&line->cause, row->cause);
    const bool first = line->sum.identical && !row->difference.identical;
    if (lap_compare_has_pictures(row->op))
        lap_difference_add(&line->sum, &row->difference);
    else
        line->sum.identical = line->sum.identical && row->difference.identical;
    line->relative_error = fmax(line->relative_error, row->relative_error);
    line->ms += row->ms;
    line->upload_ms += row->upload_ms;
    line->kernel_ms += row->kernel_ms;
    line->download_ms += row->download_ms;
    line->min_ms += row->min_ms;
    line->max_ms += row->max_ms;
    line->stddev_ms = hypot(line->stddev_ms, row->stddev_ms); /* of the sum of independent times */
    line->runs = line->runs == 0 || row->runs < line->runs ? row->runs : line->runs;
    take_photo(result, row);
    return !first || (keep(&line->input, input) && keep(&line->detail, row->detail));
}

void lap_compare_free(lap_compare_result *result)
{
    for (int i = 0; i < result->count; i++) {
        free(result->lines[i].reason);
        free(result->lines[i].cause);
        free(result->lines[i].detail);
        free(result->lines[i].input);
    }
    free(result->lines);
    free(result->warning);
    json_decref(result->photos);
}

/* ---- as JSON ------------------------------------------------------------------------------------- */

static json_t *row_of(const lap_compare_line *line)
{
    json_t *row = json_object();
    const bool ran = !line->reason;
    json_object_set_new(row, "backend", json_string(line->backend));
    json_object_set_new(row, "resolved", lap_json_text(line->resolved));
    json_object_set_new(row, "available", json_boolean(line->resolved != NULL));
    json_object_set_new(row, "reason", lap_json_text(line->reason));
    lap_json_difference(row, ran ? &line->sum : NULL, lap_compare_has_pictures(line->op));
    json_object_set_new(row, "ms", lap_json_ms(ran ? line->ms : NAN));
    json_object_set_new(row, "op", json_string(lap_op_name(line->op)));
    json_object_set_new(row, "differing_border",
        ran && lap_compare_has_pictures(line->op) ? json_integer((json_int_t)line->sum.differing_border)
                                                  : json_null());
    json_object_set_new(row, "relative_error", lap_json_real(line->relative_error));
    json_object_set_new(row, "detail", lap_json_text(line->detail));
    lap_json_path(row, "input", line->input);
    json_object_set_new(row, "upload_ms", lap_json_ms(ran ? line->upload_ms : NAN));
    json_object_set_new(row, "kernel_ms", lap_json_ms(ran ? line->kernel_ms : NAN));
    json_object_set_new(row, "download_ms", lap_json_ms(ran ? line->download_ms : NAN));
    json_object_set_new(row, "runs", json_integer(ran ? line->runs : 0));
    json_object_set_new(row, "min_ms", lap_json_ms(ran ? line->min_ms : NAN));
    json_object_set_new(row, "max_ms", lap_json_ms(ran ? line->max_ms : NAN));
    json_object_set_new(row, "stddev_ms", lap_json_ms(ran ? line->stddev_ms : NAN));
    json_object_set_new(row, "noisy", json_boolean(ran && lap_compare_line_is_noisy(line)));
    return row;
}

bool lap_compare_warn(lap_compare_result *result, const char *path, const lap_report *read)
{
    char text[512];
    result->warnings += read->warnings;
    return read->warnings == 0 || result->warning ||
           asprintf(&result->warning, "%s: %s", path, lap_cli_warning_text(read, text, sizeof text)) >= 0;
}

bool lap_compare_end_photo(
    lap_compare_result *result, const char *path, const lap_report *read, const lap_error *failure)
{
    const lap_compare_photo *photo = &result->photo;
    char why[1024] = "";
    json_t *row = json_object();
    if (!result->photos)
        result->photos = json_array();
    if (failure)
        lap_cli_error_text(failure, why, sizeof why);
    lap_json_path(row, "input", path);
    json_object_set_new(row, "error", lap_json_text(failure ? why : NULL));
    json_object_set_new(row, "width", failure ? json_null() : json_integer(result->width));
    json_object_set_new(row, "height", failure ? json_null() : json_integer(result->height));
    json_object_set_new(row, "channels", failure ? json_null() : json_integer(result->channels));
    json_object_set_new(row, "identical", failure ? json_null() : json_boolean(photo->identical));
    json_object_set_new(row, "max_abs", failure ? json_null() : json_integer(photo->max_abs));
    json_object_set_new(
        row, "differing_pixels", failure ? json_null() : json_integer((json_int_t)photo->differing_pixels));
    json_object_set_new(row, "worst", lap_json_text(failure ? NULL : photo->worst));
    json_object_set_new(row, "decode_ms", lap_json_ms(failure ? NAN : photo->decode_ms));
    json_object_set_new(row, "c_ms", lap_json_ms(failure ? NAN : photo->c_ms));
    json_object_set_new(row, "fastest", lap_json_text(failure ? NULL : photo->fastest));
    json_object_set_new(row, "fastest_ms", lap_json_ms(failure ? NAN : photo->fastest_ms));
    lap_json_warnings(row, read);
    const bool is_whole = json_object_get(row, "input") && json_object_get(row, "error");
    return json_array_append_new(result->photos, row) == 0 && is_whole;
}

json_t *lap_compare_json(const lap_cli *cli, const lap_compare_result *result, bool equal)
{
    const lap_params *params = &cli->settings.params;
    const bool one = result->files == 1 && result->failed == 0;
    json_t *object = lap_json_object("lapedge.compare/1"), *rows = json_array();
    lap_json_path(object, "input", cli->operands[0]);
    json_object_set_new(object, "files", json_integer(result->files));
    json_object_set_new(object, "failed", json_integer(result->failed));
    json_object_set_new(object, "left", json_integer(result->left));
    json_object_set_new(object, "warnings", json_integer(result->warnings));
    json_object_set_new(object, "warning", lap_json_text(result->warning));
    json_object_set_new(object, "width", one ? json_integer(result->width) : json_null());
    json_object_set_new(object, "height", one ? json_integer(result->height) : json_null());
    json_object_set_new(object, "channels", one ? json_integer(result->channels) : json_null());
    json_object_set_new(object, "kernel", lap_json_text(params->kernel.name));
    json_object_set_new(object, "border", json_string(lap_border_name(cli->settings.border)));
    json_object_set_new(object, "range", json_string(lap_range_name(params->range)));
    lap_json_filter(object, params);
    json_object_set_new(object, "decode_ms", lap_json_ms(result->decode_ms));
    json_object_set_new(object, "equal", json_boolean(equal));
    json_object_set_new(object, "tolerance", lap_json_tolerance(cli, lap_params_tolerance(params)));
    for (int i = 0; i < result->count; i++)
        json_array_append_new(rows, row_of(&result->lines[i]));
    json_object_set_new(object, "rows", rows);
    json_object_set(object, "photos", result->photos ? result->photos : json_null());
    return object;
}

/* ---- the tables on the terminal ------------------------------------------------------------------ */

/* The columns of a ladder's table: in a pipe all of them, on a terminal those that fit. */
typedef struct columns {
    int name;          /* width of the name */
    bool largest;      /* largest difference and number of pixels; omitted if all results agree */
    bool means;        /* mean, RMSE, PSNR */
    bool stages;       /* times of a device's stages */
    bool stages_below; /* stages on a separate line */
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

/* Prints where a backend first differs. */
static void print_first(const lap_compare_result *result, const lap_compare_line *line)
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

/* Prints backends with the same cause on one line. */
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
            continue; /* already printed with the earlier backend */
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
        print_first(result, line);
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
            puts("With these coefficients and this scale, rounding may make backends differ by any amount.");
    }
}

/* ---- the photos of a folder ---------------------------------------------------------------------- */

enum { PHOTO_FIGURES = 12 + 5 + 8 + 10 + 10, PHOTO_NAME = 40 };

/* Returns the columns that remain beside the figures and a backend's name. */
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
    const int printed = lap_cli_print_safely(stdout, name); /* a longer name gets a separate line */
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
