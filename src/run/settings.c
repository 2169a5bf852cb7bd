#include "run/settings.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <xxhash.h>

#include "base/params.h"
#include "base/status.h"
#include "run/formats.h"

lap_settings lap_settings_default(void)
{
    return (lap_settings){
        .filter = true,
        .backend = "auto",
        .params = lap_params_default(),
        .border = LAP_ZERO,
        .turn = LAP_TURN_NONE,
        .quality = 90,
        .subsampling = LAP_SUB_SAME,
        .restart = LAP_RESTART_AUTO,
        .sync = true,
        .max_pixels = 268000000,
        .max_scans = 100,
        .fail_on = LAP_FAIL_TRUNCATED,
    };
}

lap_code lap_settings_check(const lap_settings *s, lap_error *err)
{
    if (s->filter && !s->backend)
        return lap_fail(err, LAP_E_USAGE, "no backend named");
    if (s->filter && lap_params_check(&s->params, s->border, err) != LAP_OK)
        return LAP_E_USAGE;
    if (s->threads < 0)
        return lap_fail(err, LAP_E_USAGE, "%d threads asked for", s->threads);
    if (s->turn < LAP_TURN_NONE || s->turn > LAP_TURN_270)
        return lap_fail(err, LAP_E_USAGE, "turn %d is not in 1..8", (int)s->turn);
    if (s->format && !lap_format_find(s->format))
        return lap_fail(err, LAP_E_USAGE, "unknown output format '%s'", s->format);
    if (s->quality < 1 || s->quality > 100)
        return lap_fail(err, LAP_E_USAGE, "quality %d is not in 1..100", s->quality);
    if ((unsigned)s->subsampling > LAP_SUB_420)
        return lap_fail(err, LAP_E_USAGE, "subsampling %d is unknown", (int)s->subsampling);
    if ((unsigned)s->restart > LAP_RESTART_OFF)
        return lap_fail(err, LAP_E_USAGE, "restart %d is unknown", (int)s->restart);
    if ((unsigned)s->codec > LAP_CODEC_NEON)
        return lap_fail(err, LAP_E_USAGE, "codec %d is unknown", (int)s->codec);
    if ((unsigned)s->fail_on > LAP_FAIL_WARNING)
        return lap_fail(err, LAP_E_USAGE, "fail-on %d is unknown", (int)s->fail_on);
    if ((unsigned)s->decode > LAP_DECODE_PARALLEL)
        return lap_fail(err, LAP_E_USAGE, "decode %d is unknown", (int)s->decode);
    if ((unsigned)s->lossless > LAP_LOSSLESS_PERFECT || (s->lossless && s->filter))
        return lap_fail(err, LAP_E_USAGE, "lossless %d is unknown, or not for a filter", (int)s->lossless);
    if (s->keep && !(s->keep & LAP_KEEP_EXIF) && (s->keep & (LAP_KEEP_GPS | LAP_KEEP_THUMBNAIL)))
        return lap_fail(
            err, LAP_E_USAGE, "gps and thumbnail are parts of exif, which is not among what is kept");
    if (s->max_scans < 0)
        return lap_fail(err, LAP_E_USAGE, "at most %d scans asked for", s->max_scans);
    if (!(s->timeout_s >= 0) || !isfinite(s->timeout_s))
        return lap_fail(err, LAP_E_USAGE, "the timeout must be a number of seconds, 0 for none");
    return LAP_OK;
}

typedef struct text {
    char *to;
    size_t length;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->to + t->length, LAP_SETTINGS_TEXT - t->length, format, args);
    va_end(args);
    if (n > 0)
        t->length += (size_t)n;
    if (t->length >= LAP_SETTINGS_TEXT)
        t->length = LAP_SETTINGS_TEXT - 1;
}

static void put_filter(text *t, const lap_settings *s)
{
    /* The coefficients, not the name: a preset and the same numbers from a file are one thing.
     * Hexadecimal floats hold every bit, in 16 characters at most. */
    put(t, "kernel=");
    for (int i = 0; i < 25; i++)
        put(t, i ? " %a" : "%a", (double)s->params.kernel.h[i]);
    put(t, "\nborder=%s\nrange=%s\nscale=%a\noffset=%a\ninvert=%d\nthreshold=%d\n",
        lap_border_name(s->border), lap_range_name(s->params.range), (double)s->params.scale,
        (double)s->params.offset, s->params.invert, s->params.threshold);
}

size_t lap_settings_text(const lap_settings *s, char to[LAP_SETTINGS_TEXT])
{
    text t = {.to = to};
    put(&t, "settings=1\nfilter=%d\n", s->filter);
    if (s->filter)
        put_filter(&t, s);
    const char *format = s->format ? lap_format_find(s->format) : NULL;
    put(&t, "gray=%d\nauto-orient=%d\nturn=%d\n", s->gray, s->auto_orient, (int)s->turn);
    put(&t, "format=%s\nquality=%d\nsubsampling=%d\nrestart=%d\nstrip=%d\nfail-on=%d\n", format ? format : "",
        s->quality, (int)s->subsampling, (int)s->restart, s->strip, (int)s->fail_on);
    /* What came later, only where it is asked for: the hash of what was made before stays. */
    if (s->progressive || s->optimize)
        put(&t, "progressive=%d\noptimize=%d\n", s->progressive, s->optimize);
    if (s->keep)
        put(&t, "keep=%u\n", s->keep);
    if (s->lossless)
        put(&t, "lossless=%d\n", (int)s->lossless);
    return t.length;
}

void lap_settings_hash(const lap_settings *settings, char hash[LAP_SETTINGS_HASH])
{
    char of[LAP_SETTINGS_TEXT];
    size_t length = lap_settings_text(settings, of);
    snprintf(hash, LAP_SETTINGS_HASH, "%016llx", (unsigned long long)XXH3_64bits(of, length));
}
