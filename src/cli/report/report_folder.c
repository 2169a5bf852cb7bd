/* The page for a folder. report.folder is {slowest[], failed[], more_failed, sheet[], shown_of}. slowest has
 * name, width, height, backend and ms; failed has name, what and message; sheet has name, figure and
 * pictures, which are data: URIs, or null if the file could not be read. */
#include "cli/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/term.h"

/* Limits that keep a page below 5 MB, including the chart library's 0.2 MB. A character of a name takes at
 * most six bytes, such as \u003c. */
enum {
    SHEET = 60,
    SLOWEST = 20,
    FAILED = 200,
    NAME = 200,            /* bytes shown of a name, from its end */
    MESSAGE = 300,         /* bytes shown of a message, from its beginning */
    THUMB = 220,           /* longer side of a picture in pixels */
    PICTURES = 3500 * 1000 /* bytes for all pictures */
};
_Static_assert(PICTURES + 6 * ((SHEET + SLOWEST + FAILED) * (NAME + 60) + FAILED * MESSAGE) < 4700 * 1000,
    "the page stays below 5 MB");

typedef struct entry {
    char *name, *a, *b; /* a and b: files to show; NULL: no file */
    char what[32], message[MESSAGE];
    int width, height;
    double order; /* sort key of slowest and sheet: larger values come earlier */
    double ms;
} entry;

typedef struct list {
    entry *entries;
    int count, limit;
} list;

struct lap_sheet {
    entry memory[SHEET + SLOWEST + FAILED];
    list shown, slowest, failed;
    uint64_t could_show, more_failed;
    bool out_of_memory;
};

/* ---- lists -------------------------------------------------------------------------------------- */

static void clear(entry *e)
{
    free(e->name);
    free(e->a);
    free(e->b);
    *e = (entry){0};
}

static char *copy_of(lap_sheet *sheet, const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    sheet->out_of_memory = sheet->out_of_memory || (text && !copy);
    return copy;
}

/* Keeps the entries with the largest order, sorted in falling order. An entry with an equal order comes after
 * earlier ones. */
static void keep(lap_sheet *sheet, list *to, const entry *e)
{
    int at = to->count;
    while (at > 0 && to->entries[at - 1].order < e->order)
        at--;
    if (at == to->limit)
        return;
    if (to->count == to->limit)
        clear(&to->entries[--to->count]);
    memmove(&to->entries[at + 1], &to->entries[at], (size_t)(to->count - at) * sizeof *e);
    to->entries[at] = *e;
    to->entries[at].name = copy_of(sheet, e->name);
    to->entries[at].a = copy_of(sheet, e->a);
    to->entries[at].b = copy_of(sheet, e->b);
    to->count++;
}

lap_sheet *lap_sheet_create(void)
{
    lap_sheet *sheet = calloc(1, sizeof *sheet);
    if (!sheet)
        return NULL;
    sheet->shown = (list){sheet->memory, 0, SHEET};
    sheet->slowest = (list){sheet->memory + SHEET, 0, SLOWEST};
    sheet->failed = (list){sheet->memory + SHEET + SLOWEST, 0, FAILED};
    return sheet;
}

void lap_sheet_free(lap_sheet *sheet)
{
    for (size_t i = 0; sheet && i < sizeof sheet->memory / sizeof *sheet->memory; i++)
        clear(&sheet->memory[i]);
    free(sheet);
}

/* ---- collecting ----------------------------------------------------------------------------------- */

static void add_failed(lap_sheet *sheet, entry e, const char *what, const char *message)
{
    snprintf(e.what, sizeof e.what, "%s", what);
    snprintf(e.message, sizeof e.message, "%.*s", MESSAGE - 1, message);
    e.order = 0;
    if (sheet->failed.count == sheet->failed.limit)
        sheet->more_failed++;
    else
        keep(sheet, &sheet->failed, &e);
}

/* FNV-1a, scaled to 0..1. */
static double hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return (double)(hash >> 11) / 9007199254740992.0;
}

void lap_sheet_add_file(lap_sheet *sheet, const lap_batch_file *file)
{
    const lap_report *report = file->report;
    entry e = {.name = (char *)file->input,
        .a = (char *)file->input,
        .b = (char *)file->output,
        .width = report->width,
        .height = report->height,
        .ms = report->ms.total};
    const bool done = report->status == LAP_DONE || report->status == LAP_WARNED;
    if (!sheet)
        return;
    if (report->status == LAP_FAILED || (report->status == LAP_SKIPPED && report->error.code != LAP_OK)) {
        add_failed(sheet, e, lap_code_name(report->error.code), report->error.message);
        return;
    }
    if (done) {
        snprintf(e.what, sizeof e.what, "%s", report->resolved ? report->resolved : "");
        e.order = e.ms;
        keep(sheet, &sheet->slowest, &e);
    }
    sheet->could_show++;
    e.order = hash_of(file->input);
    keep(sheet, &sheet->shown, &e);
}

void lap_sheet_add_pair(lap_sheet *sheet, const lap_pair *pair, const char *what, bool is_equal)
{
    const lap_difference *d = pair->difference;
    entry e = {.name = (char *)pair->relative,
        .a = (char *)pair->a,
        .b = (char *)pair->b,
        .width = pair->width,
        .height = pair->height};
    if (!sheet || (d && d->identical))
        return;
    if (!d) {
        add_failed(sheet, e, what, pair->error->message);
        return;
    }
    if (!is_equal) {
        snprintf(e.message, sizeof e.message, "by up to %d, %llu of %llu pixels, PSNR %.2f dB", d->max_abs,
            (unsigned long long)d->differing_pixels, (unsigned long long)d->pixels, d->psnr);
        add_failed(sheet, e, what, e.message);
    }
    sheet->could_show++;
    snprintf(e.what, sizeof e.what, "PSNR %.1f dB", d->psnr);
    e.order = d->rmse;
    keep(sheet, &sheet->shown, &e);
}

/* ---- the pictures ----------------------------------------------------------------------------------- */

typedef struct drawing {
    lap_context *context;
    const lap_cli *cli;
    size_t taken; /* bytes of pictures so far */
} drawing;

/* Adds a whole picture, reduced to the sheet's size. */
static void add_thumb(
    drawing *d, json_t *pictures, const lap_view *view, const lap_view *other, lap_mean mean)
{
    const int longer = view->width > view->height ? view->width : view->height;
    const double scale = longer > THUMB ? (double)THUMB / longer : 1;
    const int width = (int)(view->width * scale), height = (int)(view->height * scale);
    const lap_picture picture = {.view = view,
        .other = other,
        .box = {0, 0, view->width, view->height},
        .width = width > 0 ? width : 1,
        .height = height > 0 ? height : 1,
        .mean = mean};
    lap_pnm pnm = {0};
    json_t *uri = NULL;
    if (lap_pnm_of(&picture, &pnm, NULL) == LAP_OK)
        (void)lap_data_uri(d->context, &pnm, 80, &uri, NULL);
    free(pnm.bytes);
    if (uri && d->taken + json_string_length(uri) > PICTURES) {
        json_decref(uri);
        uri = NULL;
    }
    d->taken += uri ? json_string_length(uri) : 0;
    json_array_append_new(pictures, uri ? uri : json_null());
}

/* Reads a picture; NULL if it cannot be read: it vanished, exceeds a limit, or has a format that is only
 * written. */
static lap_pixels *read_picture(const drawing *d, const char *path, bool upright)
{
    lap_settings settings = d->cli->settings;
    lap_pixels *pixels = NULL;
    settings.auto_orient = upright;
    settings.gray = false;
    settings.fail_on = LAP_FAIL_NONE;
    return path && lap_pixels_read(d->context, path, &settings, &pixels, NULL) == LAP_OK ? pixels : NULL;
}

/* Makes pictures before and after, or A, B and their difference. */
static json_t *pictures_of(drawing *d, const entry *e)
{
    const bool is_diff = d->cli->forms & LAP_CLI_DIFF_FOLDER;
    const lap_mean mean = d->cli->settings.filter && !is_diff ? LAP_MEAN_SQUARE : LAP_MEAN_PLAIN;
    /* Upright, as viewers show them; a diff shows the pictures as it compared them. */
    const bool upright = !is_diff || d->cli->settings.auto_orient;
    lap_pixels *const read[] = {read_picture(d, e->a, upright), read_picture(d, e->b, upright)};
    json_t *pictures = json_array();
    for (int i = 0; i < 2; i++)
        if (read[i])
            add_thumb(d, pictures, lap_pixels_view(read[i]), NULL, i ? mean : LAP_MEAN_PLAIN);
        else
            json_array_append_new(pictures, json_null());
    if (is_diff && read[0] && read[1]) {
        const lap_view *a = lap_pixels_view(read[0]), *b = lap_pixels_view(read[1]);
        const lap_diff_rules rules = lap_cli_diff_rules(d->cli, false);
        lap_difference_excuse(a, b, &rules);
        if (a->width == b->width && a->height == b->height && a->channels == b->channels)
            add_thumb(d, pictures, a, b, LAP_MEAN_PLAIN);
    }
    lap_pixels_free(read[0]);
    lap_pixels_free(read[1]);
    return pictures;
}

/* ---- the page --------------------------------------------------------------------------------------- */

/* Shortens a name by cutting its beginning, because beginnings are often the same. */
static json_t *name_of(const entry *e)
{
    const char *name = e->name ? e->name : "";
    const size_t length = strlen(name);
    const char *end = length > NAME ? name + length - NAME : name;
    char text[NAME + 8];
    while (end > name && (*end & 0xc0) == 0x80)
        end++; /* do not split a character */
    snprintf(text, sizeof text, "%s%s", end > name ? "\u2026" : "", end);
    return lap_json_text(text);
}

static int by_name(const void *a, const void *b)
{
    const entry *one = a, *other = b;
    return strcmp(one->name ? one->name : "", other->name ? other->name : "");
}

static json_t *row_of(const entry *e)
{
    json_t *row = json_object();
    json_object_set_new(row, "name", name_of(e));
    json_object_set_new(row, "what", lap_json_text(e->what));
    json_object_set_new(row, "message", lap_json_text(e->message));
    json_object_set_new(row, "width", e->width > 0 ? json_integer(e->width) : json_null());
    json_object_set_new(row, "height", e->height > 0 ? json_integer(e->height) : json_null());
    json_object_set_new(row, "ms", lap_json_real(e->ms));
    return row;
}

static json_t *rows_of(const list *from, drawing *d)
{
    json_t *rows = json_array();
    for (int i = 0; i < from->count; i++) {
        json_t *row = row_of(&from->entries[i]);
        if (d)
            json_object_set_new(row, "pictures", pictures_of(d, &from->entries[i]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static const char *subject_of(const lap_cli *cli, char *text, size_t size)
{
    const char *of = cli->files_from ? cli->files_from : cli->operands[0];
    if (cli->forms & LAP_CLI_DIFF_FOLDER)
        snprintf(text, size, "%s and %s", cli->operands[0], cli->operands[1]);
    else
        snprintf(text, size, cli->operand_count > 2 ? "%s and %d more" : "%s", of, cli->operand_count - 2);
    return text;
}

int lap_sheet_write(lap_sheet *sheet, const lap_cli *cli, lap_context *context, json_t *results)
{
    char subject[1024];
    drawing d = {.context = context, .cli = cli};
    json_t *report = NULL;
    if (sheet && !sheet->out_of_memory)
        report =
            lap_report_create(cli, subject_of(cli, subject, sizeof subject), lap_context_threads(context));
    if (!report) {
        json_decref(results);
        return lap_report_write(cli->report, NULL);
    }
    if (!(cli->forms & LAP_CLI_DIFF_FOLDER)) /* for diff, the worst pairs come first */
        qsort(sheet->shown.entries, (size_t)sheet->shown.count, sizeof(entry), by_name);
    lap_report_add_results(report, results);
    json_t *folder = json_object();
    json_object_set_new(folder, "slowest", rows_of(&sheet->slowest, NULL));
    json_object_set_new(folder, "failed", rows_of(&sheet->failed, NULL));
    json_object_set_new(folder, "more_failed", json_integer((json_int_t)sheet->more_failed));
    json_object_set_new(folder, "sheet", rows_of(&sheet->shown, &d));
    json_object_set_new(folder, "shown_of", json_integer((json_int_t)sheet->could_show));
    json_object_set_new(report, "folder", folder);
    return lap_report_write(cli->report, report);
}
