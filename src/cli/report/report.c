#include "cli/report/report.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cli/explain.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/term.h"

/* ---- the page ------------------------------------------------------------------------------------ */

/* "<" occurs only inside strings, where \u003c means the same. So no data can end the script or open
 * another. */
static bool write_data(const json_t *report, FILE *to)
{
    char *text = lap_json_dump(report, JSON_COMPACT);
    bool whole = text != NULL;
    for (const char *at = text; whole && *at;) {
        const size_t plain = strcspn(at, "<");
        whole = fwrite(at, 1, plain, to) == plain && (!at[plain] || fputs("\\u003c", to) >= 0);
        at += plain + (at[plain] != '\0');
    }
    free(text);
    return whole;
}

/* Replaces the same characters as in text for a terminal: some of them reverse the text of a page too, and
 * users may copy text from the page to a terminal. */
static bool make_shown(json_t *value)
{
    const char *key;
    size_t i;
    json_t *item;
    bool done = true;
    if (json_is_string(value)) {
        char *shown = lap_cli_shown(json_string_value(value));
        done = shown && json_string_set(value, shown) == 0;
        free(shown);
    }
    json_array_foreach(value, i, item) done = done && make_shown(item);
    json_object_foreach(value, key, item) done = done && make_shown(item);
    return done;
}

/* Replaces them in the whole report, except in the notes, which come from lapedge's own sources and have line
 * ends. */
static bool make_report_shown(json_t *report)
{
    const char *key;
    json_t *item;
    bool done = true;
    json_object_foreach(report, key, item) done = done && (strcmp(key, "notes") == 0 || make_shown(item));
    return done;
}

static void write_escaped(const char *text, FILE *to)
{
    for (; text && *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            putc(*text, to);
        }
}

static bool write_piece(const char *name, size_t length, const json_t *report, FILE *to)
{
    const struct {
        const char *name;
        const unsigned char *bytes;
        size_t size;
    } files[] = {{"style", lap_asset_style, lap_asset_style_size},
        {"script", lap_asset_script, lap_asset_script_size},
        {"chart", lap_asset_chart, lap_asset_chart_size}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strlen(files[i].name) == length && memcmp(files[i].name, name, length) == 0)
            return fwrite(files[i].bytes, 1, files[i].size, to) == files[i].size;
    if (length == 4 && memcmp(name, "data", length) == 0)
        return write_data(report, to);
    fputs("lapedge ", to);
    write_escaped(json_string_value(json_object_get(report, "command")), to);
    fputs(": ", to);
    write_escaped(json_string_value(json_object_get(report, "subject")), to);
    return !ferror(to);
}

/* Writes the template, with each @name@ replaced by its piece. */
static bool write_page(const json_t *report, FILE *to)
{
    const char *at = (const char *)lap_asset_page, *end = at + lap_asset_page_size;
    while (at < end) {
        const char *mark = memchr(at, '@', (size_t)(end - at));
        const char *close = mark ? memchr(mark + 1, '@', (size_t)(end - mark - 1)) : NULL;
        const size_t plain = (size_t)((close ? mark : end) - at);
        if (fwrite(at, 1, plain, to) != plain)
            return false;
        if (close && !write_piece(mark + 1, (size_t)(close - mark - 1), report, to))
            return false;
        at = close ? close + 1 : end;
    }
    return true;
}

/* ---- the file ------------------------------------------------------------------------------------ */

int lap_report_write(const char *path, json_t *report)
{
    char *page = NULL;
    size_t size = 0;
    lap_error err = {.code = LAP_E_MEMORY, .message = "out of memory"};
    FILE *memory = report ? open_memstream(&page, &size) : NULL;
    bool whole = memory && make_report_shown(report) && write_page(report, memory);
    if (memory && (fclose(memory) != 0 || !page)) /* glibc makes page NULL, and fclose returns 0 */
        whole = false;
    const lap_code code = whole ? lap_side_write(path, page, size, false, &err) : LAP_E_MEMORY;
    free(page);
    json_decref(report);
    if (code == LAP_OK)
        return LAP_EXIT_OK;
    char text[1024];
    lap_cli_message("the report was not written: %s", lap_cli_error_text(&err, text, sizeof text));
    return LAP_EXIT_FAILED;
}

/* ---- the frame: what was requested, and on what machine ---------------------------------------------- */

static void put(json_t *pairs, const char *name, json_t *value)
{
    json_t *pair = json_array();
    json_array_append_new(pair, json_string(name));
    json_array_append_new(pair, value);
    json_array_append_new(pairs, pair);
}

/* Returns the command line as given, quoted for people to read rather than for a shell. */
static json_t *command_line(const lap_cli *cli)
{
    char text[2000];
    size_t length = (size_t)snprintf(text, sizeof text, "lapedge");
    for (int i = 1; i < cli->word_count && length < sizeof text; i++) {
        const char *quote = strpbrk(cli->words[i], " \t\n'\"\\$&;<>()|*?") ? "\"" : "";
        length +=
            (size_t)snprintf(text + length, sizeof text - length, " %s%s%s", quote, cli->words[i], quote);
    }
    return lap_json_text(text);
}

static bool filters(const lap_cli *cli)
{
    return strcmp(cli->command->name, "diff") != 0;
}

static json_t *settings_of(const lap_cli *cli)
{
    static const char *const ranges[] = {
        "clamp: negative results become 0", "abs: the absolute value of the result"};
    const lap_params *params = &cli->settings.params;
    json_t *pairs = json_array(), *kernel = json_array();
    for (int i = 0; i < 25; i++)
        json_array_append_new(kernel, lap_json_real((double)params->kernel.h[i]));
    put(pairs, "Command", command_line(cli));
    if (!filters(cli)) {
        json_decref(kernel);
        return pairs;
    }
    put(pairs, "Kernel", lap_json_text(params->kernel.name));
    put(pairs, "Coefficients", kernel);
    put(pairs, "Border", json_string(lap_border_name(cli->settings.border)));
    put(pairs, "Range", json_string(ranges[params->range]));
    put(pairs, "Scale, offset", json_sprintf("%g, %g", (double)params->scale, (double)params->offset));
    if (params->invert)
        put(pairs, "Inverted", json_string("yes"));
    if (params->threshold >= 0)
        put(pairs, "Threshold", json_integer(params->threshold));
    const int tolerance = lap_params_tolerance(params);
    put(pairs, "Promise",
        json_string(tolerance == 0   ? "all backends give the same bytes"
                    : tolerance == 1 ? "backends differ by at most one level"
                                     : "none: the sums are too large for float32"));
    return pairs;
}

/* Describes the filter for the page's computations. */
static json_t *filter_of(const lap_cli *cli)
{
    const lap_params *params = &cli->settings.params;
    json_t *kernel = json_array();
    for (int i = 0; i < 25; i++)
        json_array_append_new(kernel, lap_json_real((double)params->kernel.h[i]));
    return json_pack("{so ss ss so so sb si}", "h", kernel, "border", lap_border_name(cli->settings.border),
        "range", lap_range_name(params->range), "scale", lap_json_real((double)params->scale), "offset",
        lap_json_real((double)params->offset), "invert", params->invert, "threshold", params->threshold);
}

static json_t *machine_of(int threads)
{
    char cpu[128];
    json_t *pairs = json_array();
    lap_cpu_name(cpu, sizeof cpu);
    put(pairs, "Processor", lap_json_text(cpu));
    put(pairs, "Threads", json_integer(threads));
    for (const char *line = lap_build_info(); *line;) {
        const size_t length = strcspn(line, "\n");
        char text[200];
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        put(pairs, line == lap_build_info() ? "Built with" : "", lap_json_text(text));
        line += length + (line[length] == '\n');
    }
    return pairs;
}

json_t *lap_report_create(const lap_cli *cli, const char *subject, int threads)
{
    char date[32] = "";
    struct tm day;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &day))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &day);
    json_t *report = lap_json_object("lapedge.report/1");
    json_object_set_new(report, "command", json_string(cli->command->name));
    json_object_set_new(report, "subject", lap_json_text(subject));
    json_object_set_new(report, "version", json_string(lap_version()));
    json_object_set_new(report, "date", json_string(date));
    json_object_set_new(report, "machine", machine_of(threads));
    json_object_set_new(report, "settings", settings_of(cli));
    json_object_set_new(report, "filter", filters(cli) ? filter_of(cli) : json_null());
    json_object_set_new(report, "statistics", json_null());
    json_object_set_new(report, "pictures", json_null());
    return report;
}

/* Collects the notes of the rows' backends, by ladder and name. */
static json_t *notes_of(const json_t *rows)
{
    json_t *notes = json_object();
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *op = json_string_value(json_object_get(row, "op"));
        const char *name = json_string_value(json_object_get(row, "resolved"));
        const char *text = op && name ? lap_explained(op, name) : NULL;
        char key[96];
        snprintf(key, sizeof key, "%s %s", op ? op : "", name ? name : "");
        if (text)
            json_object_set_new(notes, key, json_string(text));
    }
    return notes;
}

/* Calls CUDA for the list of devices only if CUDA was used. */
void lap_report_add_results(json_t *report, json_t *results)
{
    size_t i;
    json_t *row;
    char device[200];
    bool on_device = false;
    json_array_foreach(json_object_get(results, "rows"), i, row)
    {
        const char *resolved = json_string_value(json_object_get(row, "resolved"));
        on_device = on_device || (resolved && strncmp(resolved, "cuda", 4) == 0);
    }
    for (int d = 0; on_device && lap_device_text(d, device, sizeof device); d++)
        put(json_object_get(report, "machine"), "Device", json_string(device));
    json_object_set_new(report, "notes", notes_of(json_object_get(results, "rows")));
    json_object_set_new(report, "results", results);
}
