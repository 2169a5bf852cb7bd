#include "cli/report/report.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/json.h"
#include "cli/report/report_assets.h"
#include "cli/term.h"

lap_cli_exit lap_report_check(const lap_cli *cli)
{
    if (!cli->report)
        return LAP_EXIT_OK;
    /* An extension that no input has: a photo named by mistake is not written over. */
    const char *dot = strrchr(cli->report, '.');
    if (!dot || (strcasecmp(dot, ".html") != 0 && strcasecmp(dot, ".htm") != 0))
        return lap_cli_usage("--report: \"%s\" does not end in .html", cli->report);
    return LAP_EXIT_OK;
}

/* ---- the page ------------------------------------------------------------------------------------ */

/* "<" stands in strings only, where \u003c says the same: no data can end the script or open another. */
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

/* Names and messages as a terminal shows them: a page turns its writing round for the same characters, and
 * what is copied from it may be pasted into a terminal. */
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

/* All but the notes, which are ours and have lines. */
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

/* The template, with each @name@ replaced by that piece. */
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
    if (memory && fclose(memory) != 0)
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
