#include "cli/compare_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
}

/* ---- as a table ---------------------------------------------------------------------------------- */

static void name_of(const lap_compare_line *line, char name[64])
{
    if (line->resolved && strcmp(line->resolved, line->backend) != 0)
        snprintf(name, 64, "%s = %s", line->backend, line->resolved);
    else
        snprintf(name, 64, "%s", line->backend);
}

static int widest(const lap_compare_result *result, lap_op op)
{
    int width = 8;
    char name[64];
    for (int i = 0; i < result->count; i++) {
        name_of(&result->lines[i], name);
        if (result->lines[i].op == op && !result->lines[i].reason && (int)strlen(name) > width)
            width = (int)strlen(name);
    }
    return width;
}

/* What a device's time went into. */
static void print_stages(const lap_compare_line *line)
{
    if (!isnan(line->upload_ms))
        printf("    upload %.2f, kernel %.2f, download %.2f ms\n", line->upload_ms, line->kernel_ms,
            line->download_ms);
}

static void print_picture(const lap_compare_result *result, const lap_compare_line *line)
{
    const lap_difference *d = &line->sum;
    char first[160];
    if (d->identical) {
        printf("yes%9s%11s%11s%8s%12s%10.2f\n", "0", "0", "0", "-", "0", line->ms);
        return;
    }
    printf("NO %9d%11.3g%11.3g%8.2f%12llu%10.2f\n", d->max_abs, d->mean_abs, d->rmse, d->psnr,
        (unsigned long long)d->differing_pixels, line->ms);
    lap_cli_first_difference(d, "c", "it", first, sizeof first);
    fputs("    first at ", stdout);
    fputs(first, stdout);
    if (d->differing_pixels > 1)
        printf("; %llu of %llu in the border of two", (unsigned long long)d->differing_border,
            (unsigned long long)d->differing_pixels);
    if (result->files > 1) {
        fputs("\n    in ", stdout);
        lap_cli_print_safely(stdout, line->input);
    }
    putchar('\n');
}

static void print_number(const lap_compare_line *line)
{
    printf("%s", line->sum.identical ? "yes" : "NO ");
    if (isnan(line->relative_error))
        printf("%16s", "-");
    else
        printf("%16.2g", line->relative_error);
    printf("%10.2f\n", line->ms);
    if (line->detail)
        printf("    %s\n", line->detail);
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
    const int width = widest(result, op) + 2;
    printf("%s%-*ssame", lap_term_bold(cli, stdout), width, lap_op_name(op));
    if (lap_compare_has_pictures(op))
        printf("%8s%11s%11s%8s%12s", "largest", "mean", "RMSE", "PSNR", "pixels");
    else
        printf("%15s", "relative error");
    printf("%10s%s\n", "ms", lap_term_plain(cli, stdout));
    for (int i = 0; i < result->count; i++) {
        const lap_compare_line *line = &result->lines[i];
        char name[64];
        if (line->op != op || line->reason)
            continue;
        name_of(line, name);
        printf("%-*s", width, name);
        if (lap_compare_has_pictures(op))
            print_picture(result, line);
        else
            print_number(line);
        if (cli->verbose)
            print_stages(line);
    }
    print_absent(result, op);
}

void lap_compare_print(const lap_cli *cli, const lap_compare_result *result)
{
    bool first = true;
    if (result->files == 1)
        printf("%d x %d, %d channel%s\n", result->width, result->height, result->channels,
            result->channels == 1 ? "" : "s");
    else
        printf("%d files\n", result->files);
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
    json_object_set_new(row, "ms", lap_json_real(ran ? line->ms : NAN));
    json_object_set_new(row, "op", json_string(lap_op_name(line->op)));
    json_object_set_new(row, "differing_border",
        ran && lap_compare_has_pictures(line->op) ? json_integer((json_int_t)line->sum.differing_border)
                                                  : json_null());
    json_object_set_new(row, "relative_error", lap_json_real(line->relative_error));
    json_object_set_new(row, "detail", lap_json_text(line->detail));
    lap_json_path(row, "input", line->input);
    json_object_set_new(row, "upload_ms", lap_json_real(ran ? line->upload_ms : NAN));
    json_object_set_new(row, "kernel_ms", lap_json_real(ran ? line->kernel_ms : NAN));
    json_object_set_new(row, "download_ms", lap_json_real(ran ? line->download_ms : NAN));
    return row;
}

json_t *lap_compare_json(const lap_cli *cli, const lap_compare_result *result, bool equal)
{
    const lap_params *params = &cli->settings.params;
    const bool one = result->files == 1 && result->failed == 0;
    json_t *object = lap_json_object("lapedge.compare/1"), *rows = json_array();
    lap_json_path(object, "input", cli->operands[0]);
    json_object_set_new(object, "files", json_integer(result->files));
    json_object_set_new(object, "failed", json_integer(result->failed));
    json_object_set_new(object, "width", one ? json_integer(result->width) : json_null());
    json_object_set_new(object, "height", one ? json_integer(result->height) : json_null());
    json_object_set_new(object, "channels", one ? json_integer(result->channels) : json_null());
    json_object_set_new(object, "kernel", lap_json_text(params->kernel.name));
    json_object_set_new(object, "border", json_string(lap_border_name(cli->settings.border)));
    json_object_set_new(object, "range", json_string(lap_range_name(params->range)));
    json_object_set_new(object, "decode_ms", lap_json_real(result->decode_ms));
    json_object_set_new(object, "equal", json_boolean(equal));
    json_object_set_new(object, "tolerance", lap_json_tolerance(cli, lap_params_tolerance(params)));
    for (int i = 0; i < result->count; i++)
        json_array_append_new(rows, row_of(&result->lines[i]));
    json_object_set_new(object, "rows", rows);
    return object;
}
