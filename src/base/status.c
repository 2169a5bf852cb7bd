#include "base/status.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char *const code_names[] = {
    [LAP_OK] = "ok",
    [LAP_E_USAGE] = "usage",
    [LAP_E_MISSING] = "missing",
    [LAP_E_UNREADABLE] = "unreadable",
    [LAP_E_NOT_IMAGE] = "not_jpeg",
    [LAP_E_UNSUPPORTED] = "unsupported",
    [LAP_E_TRUNCATED] = "truncated",
    [LAP_E_DAMAGED] = "damaged",
    [LAP_E_LIMIT] = "limit",
    [LAP_E_MEMORY] = "memory",
    [LAP_E_TIMEOUT] = "timeout",
    [LAP_E_EXISTS] = "exists",
    [LAP_E_CHANGED] = "changed",
    [LAP_E_CLASH] = "clash",
    [LAP_E_DISK_FULL] = "disk_full",
    [LAP_E_WRITE] = "write",
    [LAP_E_BACKEND] = "backend",
    [LAP_E_DEVICE] = "device",
    [LAP_E_CANCELLED] = "cancelled",
    [LAP_E_DIFFERENT] = "different",
    [LAP_E_INTERNAL] = "internal",
};

const char *lap_code_name(lap_code code)
{
    if ((int)code < 0 || (size_t)code >= sizeof code_names / sizeof *code_names)
        return "unknown";
    return code_names[code];
}

/* Returns the length of the character at text if a line may show it unescaped; 0: its first byte must be
 * escaped. */
static size_t shown_length(const char *text)
{
    unsigned code;
    const size_t size = lap_utf8_decode(text, &code);
    return size && lap_utf8_is_shown(code) ? size : 0;
}

enum { ESCAPED = sizeof "\\x00" - 1 };

void lap_shown_path(char *shown, size_t size, const char *path)
{
    size_t length, total = 0, room = size - 1;
    for (const char *at = path; *at; at += length ? length : 1) {
        length = shown_length(at);
        total += length ? length : ESCAPED;
    }
    if (total > room) {
        room -= sizeof "..." - 1;
        for (; total > room; path += length ? length : 1) {
            length = shown_length(path);
            total -= length ? length : ESCAPED;
        }
        shown = stpcpy(shown, "...");
    }
    for (; *path; path += length ? length : 1) {
        length = shown_length(path);
        if (length)
            shown = mempcpy(shown, path, length);
        else
            shown += snprintf(shown, ESCAPED + 1, "\\x%02x", (unsigned char)*path);
    }
    *shown = '\0';
}

/* Replaces each character that a line must not contain with a question mark. */
static void make_shown(char *text)
{
    char *to = text;
    unsigned code;
    for (size_t length; *text; text += length ? length : 1) {
        length = lap_utf8_decode(text, &code);
        if (length && lap_utf8_is_shown(code))
            to = (char *)memmove(to, text, length) + length;
        else
            *to++ = '?';
    }
    *to = '\0';
}

static void fill(lap_error *err, lap_code code, const char *subject, const char *format, va_list args)
{
    err->code = code;
    err->remedy = LAP_REMEDY_NONE;
    lap_shown_path(err->subject, sizeof err->subject, subject);
    vsnprintf(err->message, sizeof err->message, format, args);
    make_shown(err->message);
}

lap_code lap_fail(lap_error *err, lap_code code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        fill(err, code, "", format, args);
        va_end(args);
    }
    return code;
}

lap_code lap_fail_at(lap_error *err, lap_code code, const char *subject, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        fill(err, code, subject, format, args);
        va_end(args);
    }
    return code;
}

lap_code lap_fail_missing(lap_error *err, const char *path)
{
    struct stat link;
    const size_t length = strlen(path);
    const bool is_folder = length > 0 && path[length - 1] == '/', is_link = lstat(path, &link) == 0;
    return lap_fail_at(err, LAP_E_MISSING, path,
        is_link     ? "a broken symbolic link"
        : is_folder ? "no such folder"
                    : "no such file");
}

lap_code lap_error_remedy(lap_error *err, lap_code code, lap_remedy remedy)
{
    if (err)
        err->remedy = remedy;
    return code;
}

lap_code lap_error_set(lap_error *err, const lap_error *why)
{
    if (err)
        *err = *why;
    return why->code;
}

lap_code lap_error_about(lap_error *err, lap_code code, const char *subject)
{
    if (err && code != LAP_OK && !err->subject[0])
        lap_shown_path(err->subject, sizeof err->subject, subject);
    return code;
}

enum { MILLION = 1000000 };

void lap_millions(uint64_t n, int decimals, char text[LAP_MILLIONS])
{
    enum { ALL = 6 };
    unsigned unit = MILLION; /* value of the last decimal place */
    for (int i = 0; i < decimals; i++)
        unit /= 10;
    const uint64_t units = n / unit + (unit > 1 && n % unit >= unit / 2), per = MILLION / unit;
    const int length = snprintf(
        text, LAP_MILLIONS, "%llu.%06u", (unsigned long long)(units / per), (unsigned)(units % per) * unit);
    text[length - (decimals > 0 ? ALL - decimals : ALL + 1)] = '\0';
}

enum { KB = 1000, LEAST_MB = 100000 }; /* below this size, megabytes with one decimal are too coarse */

char *lap_size_text(uint64_t bytes, char text[LAP_SIZE_TEXT])
{
    if (bytes < KB)
        snprintf(text, LAP_SIZE_TEXT, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
    else if (bytes < LEAST_MB)
        snprintf(text, LAP_SIZE_TEXT, "%u kB", (unsigned)((bytes + KB - 1) / KB));
    else {
        lap_millions(bytes, 1, text);
        memcpy(text + strlen(text), " MB", sizeof " MB");
    }
    return text;
}

/* Reports that a limit below 0.1 MB is exceeded. Formats both numbers in one unit, so that the texts
 * differ. */
static lap_code fail_over_small(lap_error *err, const char *what, uint64_t bytes, uint64_t limit)
{
    const bool is_kb = limit >= KB;
    const uint64_t takes = is_kb ? bytes / KB + (bytes % KB > 0) : bytes, may = is_kb ? limit / KB : limit;
    const char *unit = is_kb ? "kB" : "bytes";
    return lap_fail(err, LAP_E_LIMIT, "%s %llu %s of memory, more than the limit of %llu %s", what,
        (unsigned long long)takes, unit, (unsigned long long)may, unit);
}

lap_code lap_fail_over_limit(
    lap_error *err, const char *what, uint64_t bytes, uint64_t limit, lap_remedy remedy)
{
    if (limit < LEAST_MB)
        return lap_error_remedy(err, fail_over_small(err, what, bytes, limit), remedy);
    char takes[LAP_MILLIONS], may[LAP_MILLIONS];
    int decimals = 0;
    uint64_t unit = MILLION; /* rounded up, so that the printed number suffices as a limit */
    do {
        unit /= 10;
        lap_millions(bytes < UINT64_MAX - unit ? (bytes + unit - 1) / unit * unit : bytes, ++decimals, takes);
        lap_millions(limit, decimals, may);
    } while (strcmp(takes, may) == 0 && decimals < 6);
    const lap_code code =
        lap_fail(err, LAP_E_LIMIT, "%s %s MB of memory, more than the limit of %s MB", what, takes, may);
    return lap_error_remedy(err, code, remedy);
}

/* The word to print before messages that do not name their kind: "data ends early" needs "truncated". */
static const char *kind_word(lap_code code)
{
    switch (code) {
    case LAP_E_UNSUPPORTED:
    case LAP_E_TRUNCATED:
    case LAP_E_DAMAGED:
    case LAP_E_LIMIT:
    case LAP_E_TIMEOUT:
        return lap_code_name(code);
    case LAP_E_DISK_FULL:
        return "disk full";
    case LAP_E_INTERNAL:
        return "internal error";
    default:
        return NULL;
    }
}

char *lap_error_text(const lap_error *err, char *text, size_t size)
{
    const char *kind = kind_word(err->code);
    snprintf(text, size, "%s%s%s%s%s", err->subject, err->subject[0] ? ": " : "", kind ? kind : "",
        kind ? ": " : "", err->message);
    return text;
}

double lap_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* If an error names no file and is not about the settings, names the input in it. */
lap_code lap_report_conclude(
    lap_code code, lap_error *why, const char *in, double start, lap_report *report, lap_error *err)
{
    if (in && code != LAP_E_USAGE && code != LAP_E_BACKEND)
        lap_error_about(why, code, strcmp(in, "-") == 0 ? "standard input" : in);
    if (report) {
        report->ms.total = lap_now_ms() - start;
        report->status = code == LAP_E_EXISTS   ? LAP_SKIPPED
                         : code != LAP_OK       ? LAP_FAILED
                         : report->warnings > 0 ? LAP_WARNED
                                                : LAP_DONE;
        report->error = code != LAP_OK ? *why : (lap_error){0};
    }
    if (code != LAP_OK && err && (!report || err != &report->error))
        *err = *why;
    return code;
}
