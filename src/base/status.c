#include "base/status.h"

#include <stdarg.h>
#include <time.h>

static const char *const code_names[] = {
    [LAP_OK] = "ok",
    [LAP_E_USAGE] = "usage",
    [LAP_E_MISSING] = "missing",
    [LAP_E_UNREADABLE] = "unreadable",
    [LAP_E_NOT_JPEG] = "not_jpeg",
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

lap_code lap_fail(lap_error *err, lap_code code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return code;
}

double lap_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
