#include "run/settings.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/decimal.h"
#include "base/params.h"
#include "base/status.h"
#include "run/formats.h"

enum { KEEP_BITS = 2 * LAP_KEEP_LISTED - 1 }; /* LAP_KEEP_LISTED is the highest bit */

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

lap_settings lap_settings_complete(const lap_settings *settings)
{
    const lap_settings defaults = lap_settings_default();
    lap_settings s = *settings;
    if (!s.backend)
        s.backend = defaults.backend;
    s.params = lap_params_complete(&s.params);
    if (s.turn == 0)
        s.turn = defaults.turn;
    if (s.quality == 0)
        s.quality = defaults.quality;
    return s;
}

lap_code lap_settings_check(const lap_settings *s, lap_error *err)
{
    if (s->filter && !s->backend)
        return lap_fail(err, LAP_E_USAGE, "no backend is given");
    if (s->filter && lap_params_check(&s->params, s->border, err) != LAP_OK)
        return LAP_E_USAGE;
    if (s->threads < 0)
        return lap_fail(err, LAP_E_USAGE, "%d threads requested; 0 means one per core", s->threads);
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
    if ((unsigned)s->lossless > LAP_LOSSLESS_PERFECT)
        return lap_fail(err, LAP_E_USAGE, "lossless %d is unknown", (int)s->lossless);
    if (s->lossless && s->filter)
        return lap_fail(
            err, LAP_E_USAGE, "a filtered picture cannot be lossless: set lossless or filter, not both");
    if (s->keep & ~(unsigned)KEEP_BITS)
        return lap_fail(err, LAP_E_USAGE, "keep has unknown bits: 0x%x", s->keep & ~(unsigned)KEEP_BITS);
    if (s->keep && !(s->keep & LAP_KEEP_EXIF) && (s->keep & (LAP_KEEP_GPS | LAP_KEEP_THUMBNAIL)))
        return lap_fail(err, LAP_E_USAGE, "gps and thumbnail are parts of exif; keep exif too");
    if (s->max_scans < 0)
        return lap_fail(
            err, LAP_E_USAGE, "the limit of %d scans is not valid; 0 means no limit", s->max_scans);
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
    /* Writes the coefficients, not the name: a preset and the same numbers from a file must give the same
     * text. Hexadecimal floats keep every bit, in at most 16 characters. */
    const locale_t before = lap_decimal_begin();
    put(t, "kernel=");
    for (int i = 0; i < 25; i++)
        put(t, i ? " %a" : "%a", (double)s->params.kernel.h[i]);
    put(t, "\nborder=%s\nrange=%s\nscale=%a\noffset=%a\ninvert=%d\nthreshold=%d\n",
        lap_border_name(s->border), lap_range_name(s->params.range), (double)s->params.scale,
        (double)s->params.offset, s->params.invert, s->params.threshold);
    lap_decimal_end(before);
}

size_t lap_settings_text(const lap_settings *s, char to[LAP_SETTINGS_TEXT])
{
    text t = {.to = to};
    put(&t, "settings=1\nfilter=%d\n", s->filter);
    if (s->filter)
        put_filter(&t, s);
    put(&t, "gray=%d\nauto-orient=%d\nturn=%d\n", s->gray, s->auto_orient, (int)s->turn);
    put(&t, "format=%s\nquality=%d\nsubsampling=%d\nrestart=%d\nstrip=%d\nfail-on=%d\n",
        s->format ? lap_format_name(lap_format_find(s->format)) : "", s->quality, (int)s->subsampling,
        (int)s->restart, s->strip, (int)s->fail_on);
    /* Newer settings only if they are set: hashes that older versions recorded stay valid. */
    if (s->progressive || s->optimize)
        put(&t, "progressive=%d\noptimize=%d\n", s->progressive, s->optimize);
    if (s->keep)
        put(&t, "keep=%u\n", s->keep);
    if (s->lossless)
        put(&t, "lossless=%d\n", (int)s->lossless);
    /* Version 2: with these settings version 0.1 wrote different metadata. */
    const unsigned rewritten = LAP_KEEP_EXIF | LAP_KEEP_XMP | LAP_KEEP_IPTC | LAP_KEEP_COMMENT;
    const bool is_png = s->format && lap_format_find(s->format) == LAP_FORMAT_PNG;
    if (s->keep ? s->keep & rewritten : is_png && !s->strip)
        put(&t, "metadata=2\n");
    return t.length;
}

uint64_t lap_settings_hash(const lap_settings *settings)
{
    char of[LAP_SETTINGS_TEXT];
    const size_t length = lap_settings_text(settings, of);
    return XXH3_64bits(of, length);
}

lap_settings_mark lap_settings_mark_of(const lap_settings *settings)
{
    lap_settings_mark mark = {.fail_on = settings->fail_on, .turns = !settings->filter};
    lap_settings s = *settings;
    for (s.fail_on = LAP_FAIL_NONE; s.fail_on <= LAP_FAIL_WARNING; s.fail_on++)
        mark.hashes[s.fail_on] = lap_settings_hash(&s);
    return mark;
}

uint64_t lap_settings_own(const lap_settings_mark *mark)
{
    return mark->hashes[mark->fail_on];
}

uint64_t lap_settings_recorded(const lap_settings_mark *mark, bool is_whole)
{
    return mark->hashes[is_whole ? LAP_FAIL_WARNING : mark->fail_on];
}

uint64_t lap_settings_taken(const lap_settings_mark *mark, uint64_t recorded)
{
    for (int i = (int)mark->fail_on; i <= (int)LAP_FAIL_WARNING; i++)
        if (recorded == mark->hashes[i])
            return lap_settings_own(mark);
    return recorded;
}

/* Whether out is standard output, or has no extension and is a pipe, a device or a socket. */
static bool is_stream(const char *out)
{
    struct stat st;
    const char *slash = strrchr(out, '/');
    if (strcmp(out, "-") == 0)
        return true;
    return !strchr(slash ? slash : out, '.') && stat(out, &st) == 0 && !S_ISREG(st.st_mode) &&
           !S_ISDIR(st.st_mode);
}

lap_code lap_settings_with_format(
    const lap_settings *settings, const char *out, lap_settings *full, lap_error *err)
{
    *full = *settings;
    if (full->format)
        return LAP_OK;
    const lap_format format = is_stream(out) ? LAP_FORMAT_JPG : lap_format_of_path(out);
    full->format = lap_format_name(format);
    if (format != LAP_FORMAT_UNKNOWN)
        return LAP_OK;
    const char *slash = strrchr(out, '/');
    const bool has_extension = strchr(slash ? slash : out, '.') != NULL;
    const lap_code code = lap_fail(err, LAP_E_USAGE, "%s (jpg jpeg png bmp tga ppm pgm tsv)",
        has_extension ? "the extension names no known format" : "no extension names the format");
    if (full->in_place) /* the format is fixed */
        return code;
    return lap_error_remedy(err, code, has_extension ? LAP_REMEDY_FORMAT : LAP_REMEDY_FORMAT_OR_FOLDER);
}

/* ---- options of decoder and encoder ------------------------------------------------------------ */

lap_read_options lap_read_options_of(const lap_settings *s, const lap_control *control)
{
    return (lap_read_options){.gray = s->gray,
        .max_pixels = s->max_pixels,
        .max_memory = s->max_memory,
        .max_scans = s->max_scans,
        .fail_on = s->fail_on,
        .control = control,
        .decode = s->decode,
        .codec = s->codec};
}

lap_write_options lap_write_options_of(
    const lap_settings *s, int width, int height, int channels, const lap_control *control)
{
    return (lap_write_options){.width = width,
        .height = height,
        .channels = channels,
        .quality = s->quality,
        .subsampling = s->subsampling,
        .restart = s->restart,
        .strip = s->strip,
        .keep = s->keep,
        .progressive = s->progressive,
        .optimize = s->optimize,
        .codec = s->codec,
        .fail_on = s->fail_on,
        .oriented = s->auto_orient,
        .control = control};
}
