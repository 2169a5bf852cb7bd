#include "cli/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/report/report_assets.h"
#include "cli/term.h"

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return a && b && stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

lap_cli_exit lap_report_check(const lap_cli *cli)
{
    if (!cli->report)
        return LAP_EXIT_OK;
    /* An extension that no input has: a photo named by mistake is not written over. */
    const char *dot = strrchr(cli->report, '.');
    if (!dot || (strcasecmp(dot, ".html") != 0 && strcasecmp(dot, ".htm") != 0))
        return lap_cli_usage("--report: \"%s\" does not end in .html", cli->report);
    for (int i = 0; i < cli->operand_count; ++i)
        if (is_same_file(cli->report, cli->operands[i]))
            return lap_cli_usage("--report: %s is an input too", cli->report);
    return LAP_EXIT_OK;
}

/* ---- the page ------------------------------------------------------------------------------------ */

/* "<" stands in strings only, where \u003c says the same: no data can end the script or open another. */
static int write_data(const char *buffer, size_t size, void *to)
{
    for (size_t i = 0; i < size;) {
        const char *less = memchr(buffer + i, '<', size - i);
        const size_t plain = less ? (size_t)(less - buffer) - i : size - i;
        if (fwrite(buffer + i, 1, plain, to) != plain || (less && fputs("\\u003c", to) < 0))
            return -1;
        i += plain + (less != NULL);
    }
    return 0;
}

static void write_escaped(const char *text, FILE *to)
{
    for (; text && *text; ++text)
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

static bool write_part(const char *name, size_t length, const json_t *report, FILE *to)
{
    const struct {
        const char *name;
        const unsigned char *bytes;
        size_t size;
    } files[] = {{"style", lap_asset_style, lap_asset_style_size},
        {"script", lap_asset_script, lap_asset_script_size},
        {"chart", lap_asset_chart, lap_asset_chart_size}};
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i)
        if (strlen(files[i].name) == length && memcmp(files[i].name, name, length) == 0)
            return fwrite(files[i].bytes, 1, files[i].size, to) == files[i].size;
    if (length == 4 && memcmp(name, "data", length) == 0)
        return json_dump_callback(report, write_data, to, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0;
    fputs("lapedge ", to);
    write_escaped(json_string_value(json_object_get(report, "command")), to);
    fputs(": ", to);
    write_escaped(json_string_value(json_object_get(report, "subject")), to);
    return !ferror(to);
}

/* The template, with each @name@ replaced by that part. */
static bool write_page(const json_t *report, FILE *to)
{
    const char *at = (const char *)lap_asset_page, *end = at + lap_asset_page_size;
    while (at < end) {
        const char *mark = memchr(at, '@', (size_t)(end - at));
        const char *close = mark ? memchr(mark + 1, '@', (size_t)(end - mark - 1)) : NULL;
        const size_t plain = (size_t)((close ? mark : end) - at);
        if (fwrite(at, 1, plain, to) != plain)
            return false;
        if (close && !write_part(mark + 1, (size_t)(close - mark - 1), report, to))
            return false;
        at = close ? close + 1 : end;
    }
    return true;
}

/* ---- the file ------------------------------------------------------------------------------------ */

static int write_file(const char *path, const char *temporary, const json_t *report)
{
    errno = 0;
    FILE *file = fopen(temporary ? temporary : path, temporary ? "wxe" : "we");
    bool good = file && write_page(report, file);
    int problem = errno;
    if (file && fclose(file) != 0) {
        good = false;
        problem = errno;
    }
    if (good && temporary && rename(temporary, path) != 0) {
        good = false;
        problem = errno;
    }
    if (good)
        return LAP_EXIT_OK;
    if (temporary && file)
        unlink(temporary);
    lap_cli_message(
        "%s: the report could not be written: %s", path, problem ? strerror(problem) : "out of memory");
    return LAP_EXIT_FAILED;
}

int lap_report_write(const char *path, json_t *report)
{
    struct stat there;
    int exit_code = LAP_EXIT_FAILED;
    char *temporary = NULL;
    /* Devices and pipes are written to; a link is followed, as for every other output. */
    const bool direct = stat(path, &there) == 0 && !S_ISREG(there.st_mode);
    char *target = direct ? NULL : realpath(path, NULL);
    if (!target)
        target = strdup(path);
    if (!report || !target || (!direct && asprintf(&temporary, "%s.%ld.tmp", target, (long)getpid()) < 0)) {
        temporary = NULL;
        lap_cli_message("%s: the report could not be written: out of memory", path);
    } else
        exit_code = write_file(target, temporary, report);
    free(temporary);
    free(target);
    json_decref(report);
    return exit_code;
}
