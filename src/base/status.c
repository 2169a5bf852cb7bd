#include "base/status.h"

#include <stdarg.h>
#include <string.h>
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

/* Whether byte i of a path is part of a control character: C0, DEL, or C1 in UTF-8. */
static bool is_control(const char *path, size_t i)
{
    const unsigned char c = (unsigned char)path[i], before = i ? (unsigned char)path[i - 1] : 0;
    return c < 0x20 || c == 0x7F || (c == 0xC2 && (path[i + 1] & 0xE0) == 0x80) ||
           (before == 0xC2 && (c & 0xE0) == 0x80);
}

/* Where the part of path begins that can be shown in room bytes. */
static size_t end_that_fits(const char *path, size_t room)
{
    size_t from = strlen(path);
    for (size_t used = 0; from > 0; from--) {
        used += is_control(path, from - 1) ? sizeof "\\x00" - 1 : 1;
        if (used > room)
            break;
    }
    return from;
}

void lap_shown_path(char *shown, size_t size, const char *path)
{
    size_t from = end_that_fits(path, size - 1);
    if (from > 0) {
        from = end_that_fits(path, size - sizeof "...");
        while ((path[from] & 0xC0) == 0x80) /* not inside a UTF-8 sequence */
            from++;
        shown = stpcpy(shown, "...");
    }
    for (; path[from]; from++) {
        if (is_control(path, from))
            shown += snprintf(shown, sizeof "\\x00", "\\x%02x", (unsigned char)path[from]);
        else
            *shown++ = path[from];
    }
    *shown = '\0';
}

static void fill(lap_error *err, lap_code code, const char *subject, const char *format, va_list args)
{
    err->code = code;
    lap_shown_path(err->subject, sizeof err->subject, subject);
    vsnprintf(err->message, sizeof err->message, format, args);
    for (char *c = err->message; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
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

lap_code lap_error_about(lap_error *err, lap_code code, const char *subject)
{
    if (err && code != LAP_OK && !err->subject[0])
        lap_shown_path(err->subject, sizeof err->subject, subject);
    return code;
}

/* The word of kinds that their messages do not name: "data ends early" needs "truncated" before it. */
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
