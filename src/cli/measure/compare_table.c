#include "cli/measure/compare_table.h"

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

/* Of the first ladder, which gives a photo its times; of all of them, whether they agree. */
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
    line->stddev_ms = hypot(line->stddev_ms, row->stddev_ms); /* of a sum of independent times */
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

bool lap_compare_end_photo(lap_compare_result *result, const char *path, const lap_error *failure)
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
