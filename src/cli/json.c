#include "cli/json.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term.h"

/* ---- memory -------------------------------------------------------------------------------------- */

/* Whether an allocation for JSON has failed. jansson then continues without an error: the document lacks a
 * member, or its text is incomplete. */
static atomic_bool lacks;

static void *noted(void *memory)
{
    if (!memory)
        atomic_store(&lacks, true);
    return memory;
}

static void *allocate(size_t size)
{
    return noted(malloc(size));
}

void lap_json_watch_memory(void)
{
    json_set_alloc_funcs(allocate, free);
}

/* ---- values -------------------------------------------------------------------------------------- */

json_t *lap_json_object(const char *schema)
{
    json_t *object = json_object();
    json_object_set_new(object, "schema", json_string(schema));
    return object;
}

json_t *lap_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *lap_json_text(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    if (!text)
        return json_null();
    char *clean = allocate(strlen(text) * (sizeof replacement - 1) + 1);
    if (!clean)
        return NULL;
    char *to = clean;
    for (unsigned code; *text;) {
        const size_t size = lap_utf8_decode(text, &code);
        to = size ? mempcpy(to, text, size) : mempcpy(to, replacement, sizeof replacement - 1);
        text += size ? size : 1;
    }
    json_t *string = json_stringn(clean, (size_t)(to - clean));
    free(clean);
    return string;
}

static json_t *percent_encoded(const char *path)
{
    char *text = allocate(3 * strlen(path) + 1), *to = text;
    if (!text)
        return NULL;
    for (; *path; path++) {
        const unsigned char byte = (unsigned char)*path;
        if (byte > 0x20 && byte < 0x7f && byte != '%')
            *to++ = *path;
        else
            to += sprintf(to, "%%%02X", byte);
    }
    json_t *string = json_stringn(text, (size_t)(to - text));
    free(text);
    return string;
}

static bool is_utf8(const char *text)
{
    unsigned code;
    for (size_t size; *text; text += size)
        if ((size = lap_utf8_decode(text, &code)) == 0)
            return false;
    return true;
}

void lap_json_path(json_t *object, const char *key, const char *path)
{
    char raw[64];
    json_object_set_new(object, key, lap_json_text(path));
    if (!path || is_utf8(path))
        return;
    snprintf(raw, sizeof raw, "%s_raw", key);
    json_object_set_new(object, raw, percent_encoded(path));
}

/* ---- text ------------------------------------------------------------------------------------------ */

/* Writes the fewest digits that read back to the same double. `end` points after the 17 digits of `number`.
 */
static char *shorten(char *to, const char *number, const char *end)
{
    enum { FEW = 15, ALL = 17 };
    const double value = strtod(number, NULL);
    char text[40];
    int length = 0;
    for (int digits = FEW; digits < ALL; digits++) {
        length = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
        length = 0;
    }
    /* Some readers distinguish reals from integers by the decimal point, so 5.0 stays 5.0. */
    if (length == 0 || !strpbrk(text, ".e") || length >= end - number)
        return memmove(to, number, (size_t)(end - number)), to + (end - number);
    return mempcpy(to, text, (size_t)length);
}

/* Shortens the numbers in place; they never grow. */
static void shorten_numbers(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        const size_t number = strspn(at, "0123456789+-.eE");
        if (*at == '"') { /* skip a string and its escapes */
            do
                for (int n = 1 + (*at == '\\'); n > 0; n--)
                    *to++ = *at++;
            while (*at != '"');
            *to++ = *at++;
        } else if (memchr(at, '.', number)) {
            to = shorten(to, at, at + number);
            at += number;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

char *lap_json_dump(const json_t *object, size_t flags)
{
    /* 17 digits distinguish any two doubles. */
    char *text = object ? json_dumps(object, flags | JSON_REAL_PRECISION(17)) : NULL;
    if (atomic_load(&lacks)) {
        free(text);
        return NULL;
    }
    if (text)
        shorten_numbers(text);
    unsigned code;
    size_t length = 0, hidden = 0;
    for (size_t size; text && text[length]; length += size) {
        size = lap_utf8_decode(text + length, &code);
        /* jansson has already escaped C0 characters; line ends outside strings are jansson's. */
        hidden += code >= 0x7f && !lap_utf8_is_shown(code);
    }
    char *shown = hidden ? malloc(length + hidden * (sizeof "\\u0000" - 1) + 1) : NULL;
    if (!hidden)
        return text;
    char *to = shown;
    for (size_t at = 0, size; shown && at < length; at += size) {
        size = lap_utf8_decode(text + at, &code);
        if (code >= 0x7f && !lap_utf8_is_shown(code))
            to += sprintf(to, "\\u%04x", code);
        else
            to = mempcpy(to, text + at, size);
    }
    if (shown)
        *to = '\0';
    free(text);
    return shown;
}

/* ---- where objects go ---------------------------------------------------------------------------- */

static struct {
    bool to_stdout, printed;
    size_t form;      /* flags for jansson */
    const char *path; /* file of --json-file, or NULL */
    char *text;       /* future content of the file */
    size_t size;
} outlet;

void lap_json_direct(bool to_stdout, const char *path, bool lines)
{
    outlet.form = lines ? JSON_COMPACT : JSON_INDENT(2);
    outlet.to_stdout = to_stdout;
    outlet.path = path;
}

bool lap_json_printed(void)
{
    return outlet.printed;
}

static bool keep(const char *text)
{
    const size_t size = text ? strlen(text) : 0;
    char *grown = text ? realloc(outlet.text, outlet.size + size + 1) : NULL;
    if (grown) {
        memcpy(grown + outlet.size, text, size + 1);
        grown[outlet.size + size] = '\n'; /* replaces the final null */
        outlet.text = grown;
        outlet.size += size + 1;
    }
    return grown != NULL;
}

char *lap_json_made(json_t *object)
{
    char *text = lap_json_dump(object, outlet.form);
    json_decref(object);
    return text;
}

int lap_json_print_made(const char *text)
{
    outlet.printed = true;
    const bool made = text && (!outlet.path || keep(text));
    if (outlet.to_stdout && made)
        puts(text);
    if (!made)
        lap_cli_message("out of memory for JSON");
    return (int)(made ? lap_cli_flush(LAP_EXIT_OK) : LAP_EXIT_FAILED);
}

int lap_json_print(json_t *object)
{
    char *text = lap_json_made(object);
    const int exit_code = lap_json_print_made(text);
    free(text);
    return exit_code;
}

void lap_json_keep_off(const lap_error *clash)
{
    outlet.to_stdout = outlet.to_stdout && strcmp(clash->subject, "/dev/stdout") != 0;
    outlet.path = NULL; /* lap_json_finish frees the text */
}

int lap_json_finish(void)
{
    lap_error err;
    const lap_code code = outlet.path && outlet.text
                              ? lap_side_write(outlet.path, outlet.text, outlet.size, true, &err)
                              : LAP_OK;
    free(outlet.text);
    outlet.text = NULL;
    outlet.size = 0;
    if (code != LAP_OK)
        lap_cli_print_error(&err, outlet.path);
    return code == LAP_OK ? LAP_EXIT_OK : LAP_EXIT_FAILED;
}

int lap_json_print_failure(const char *command, int exit_code)
{
    const char *kind, *message = lap_cli_last_problem(&kind);
    json_t *object = lap_json_object("lapedge.error/1");
    json_object_set_new(object, "command", json_string(command));
    json_object_set_new(object, "exit_code", json_integer(exit_code));
    json_object_set_new(
        object, "error", json_pack("{ss so}", "kind", kind, "message", lap_json_text(message)));
    return lap_json_print(object);
}

/* Clocks count nanoseconds; further digits come only from subtraction. */
json_t *lap_json_ms(double ms)
{
    return lap_json_real(round(ms * 1e6) / 1e6);
}

static json_t *times_of(const lap_times *ms)
{
    /* Only devices transfer data. */
    const bool device = ms->upload > 0 || ms->download > 0;
    return json_pack("{so so so so so so so so}", "read", lap_json_ms(ms->read), "decode",
        lap_json_ms(ms->decode), "upload", lap_json_ms(device ? ms->upload : NAN), "filter",
        lap_json_ms(ms->filter), "download", lap_json_ms(device ? ms->download : NAN), "encode",
        lap_json_ms(ms->encode), "write", lap_json_ms(ms->write), "total", lap_json_ms(ms->total));
}

static json_t *count(uint64_t value)
{
    return value ? json_integer((json_int_t)value) : json_null();
}

json_t *lap_json_error(const lap_error *err)
{
    char text[1024];
    if (err->code == LAP_OK)
        return json_null();
    lap_cli_error_text(err, text, sizeof text);
    return json_pack("{ss so}", "kind", lap_code_name(err->code), "message", lap_json_text(text));
}

void lap_json_counts(json_t *object, const lap_json_count *counts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, counts[i].key, json_integer((json_int_t)counts[i].value));
}

static void set_sum(json_t *object, const lap_params *params)
{
    json_t *h = json_array();
    for (int i = 0; i < 25; i++)
        json_array_append_new(h, lap_json_real((double)params->kernel.h[i]));
    json_object_set_new(object, "coefficients", h);
    json_object_set_new(object, "scale", lap_json_real((double)params->scale));
    json_object_set_new(object, "offset", lap_json_real((double)params->offset));
    json_object_set_new(object, "invert", json_boolean(params->invert));
}

void lap_json_filter(json_t *object, const lap_params *params)
{
    set_sum(object, params);
    json_object_set_new(object, "threshold", json_integer(params->threshold));
}

void lap_json_edges(json_t *object, const lap_settings *settings)
{
    json_object_set_new(object, "kernel", lap_json_text(settings->params.kernel.name));
    json_object_set_new(object, "border", json_string(lap_border_name(settings->border)));
    json_object_set_new(object, "range", json_string(lap_range_name(settings->params.range)));
    set_sum(object, &settings->params);
}

/* All settings that are needed to make the same bytes again. */
static json_t *settings_of(const lap_settings *s)
{
    static const char *const subsamplings[] = {"same", "444", "422", "420"};
    static const char *const restarts[] = {"auto", "on", "off"},
                             *const fails[] = {"none", "truncated", "warning"},
                             *const losslesses[] = {"no", "auto", "trim", "perfect"};
    static const char *const kinds[] = {"exif", "gps", "xmp", "iptc", "icc", "comment", "thumbnail"};
    json_t *keep = s->keep ? json_array() : json_null();
    for (size_t i = 0; s->keep && i < sizeof kinds / sizeof *kinds; i++)
        if (s->keep >> i & 1)
            json_array_append_new(keep, json_string(kinds[i]));
    json_t *object = json_pack("{sb ss ss sb sb si so si ss ss sb sb sb so ss ss}", "filter", s->filter,
        "border", lap_border_name(s->border), "range", lap_range_name(s->params.range), "gray", s->gray,
        "auto_orient", s->auto_orient, "turn", (int)s->turn, "format", lap_json_text(s->format), "quality",
        s->quality, "subsampling", subsamplings[s->subsampling], "restart", restarts[s->restart],
        "progressive", s->progressive, "optimize", s->optimize, "strip", s->strip, "keep", keep, "fail_on",
        fails[s->fail_on], "lossless", losslesses[s->lossless]);
    lap_json_filter(object, &s->params);
    return object;
}

json_t *lap_json_log(const lap_settings *settings)
{
    json_t *object = lap_json_object("lapedge.log/1");
    json_object_set_new(object, "version", json_string(lap_version()));
    json_object_set_new(object, "settings", settings_of(settings));
    return object;
}

void lap_json_warnings(json_t *object, const lap_report *report)
{
    char warning[512];
    json_object_set_new(object, "warnings", json_integer(report->warnings));
    json_object_set_new(object, "warning",
        lap_json_text(report->warnings > 0 ? lap_cli_warning_text(report, warning, sizeof warning) : NULL));
}

void lap_json_run(json_t *object, time_t started, int exit_code)
{
    char text[40] = "";
    struct tm utc;
    if (gmtime_r(&started, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_object_set_new(object, "started", lap_json_text(*text ? text : NULL));
    json_object_set_new(object, "exit_code", exit_code < 0 ? json_null() : json_integer(exit_code));
}

json_t *lap_json_line(const char *in, const char *out, const lap_settings *settings, const lap_report *report)
{
    const bool filter = settings->filter;
    const bool is_written = report->status == LAP_DONE || report->status == LAP_WARNED;
    json_t *object = lap_json_object("lapedge.file/1");
    lap_json_path(object, "input", in);
    lap_json_path(object, "output", out);
    json_object_set_new(object, "status", json_string(lap_status_name(report->status)));
    json_object_set_new(object, "error", lap_json_error(&report->error));
    json_object_set_new(object, "width", count((uint64_t)report->width));
    json_object_set_new(object, "height", count((uint64_t)report->height));
    json_object_set_new(object, "channels", count((uint64_t)report->channels));
    json_object_set_new(object, "backend", lap_json_text(filter ? settings->backend : NULL));
    json_object_set_new(object, "resolved", lap_json_text(report->resolved));
    json_object_set_new(object, "kernel", lap_json_text(filter ? settings->params.kernel.name : NULL));
    json_object_set_new(object, "border", lap_json_text(filter ? lap_border_name(settings->border) : NULL));
    json_object_set_new(
        object, "range", lap_json_text(filter ? lap_range_name(settings->params.range) : NULL));
    json_object_set_new(object, "ms", times_of(&report->ms));
    json_object_set_new(object, "bytes_in", json_integer((json_int_t)report->bytes_in));
    json_object_set_new(object, "bytes_out", json_integer(is_written ? (json_int_t)report->bytes_out : 0));
    lap_json_warnings(object, report);
    json_object_set_new(object, "recoded", json_boolean(is_written && report->recoded));
    json_object_set_new(object, "note", lap_json_text(report->note[0] ? report->note : NULL));
    return object;
}

json_t *lap_json_file(const char *in, const char *out, const lap_settings *settings, const lap_report *report)
{
    json_t *object = lap_json_line(in, out, settings, report);
    json_object_set_new(object, "settings", settings_of(settings));
    return object;
}

json_t *lap_json_work(const lap_batch_work *work)
{
    json_t *object = json_object(), *devices = json_array();
    for (int i = 0; i < work->device_count; i++) {
        const lap_batch_device *d = &work->device[i];
        json_array_append_new(devices,
            json_pack("{si sI sb}", "device", d->device, "done", (json_int_t)d->done, "lost", d->is_lost));
    }
    json_object_set_new(object, "how", lap_json_text(work->how));
    json_object_set_new(object, "jobs", json_integer((json_int_t)work->jobs));
    json_object_set_new(object, "devices", devices);
    json_object_set_new(object, "ms", times_of(&work->busy));
    return object;
}
