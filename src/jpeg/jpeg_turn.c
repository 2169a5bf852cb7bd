#include "jpeg/jpeg_turn.h"

#include <stdlib.h>
#include <string.h>

#if LAP_HAVE_TURBOJPEG
#include <turbojpeg.h>
#endif

#include "base/status.h"
#include "codec/meta.h"
#include "jpeg/jpeg_optimize.h"

enum { BLOCK = 8, APP0 = 0xE0, APP14 = 0xEE, RST0 = 0xD0, RST7 = 0xD7, SOS = 0xDA, EOI = 0xD9 };

/* ---- what is known before ---------------------------------------------------------------------- */

const char *lap_jpeg_turn_unavailable(void)
{
#if LAP_HAVE_TURBOJPEG
    return NULL;
#else
    return "TurboJPEG was not built in";
#endif
}

/* Of an MCU in pixels. With one component it is a block, whatever its sampling factors say. */
static void mcu_of(const lap_jpeg_scan *scan, int *width, int *height)
{
    int h = 1, v = 1;
    for (int i = 0; scan->components > 1 && i < scan->components && i < 4; i++) {
        h = scan->sample_h[i] > h ? scan->sample_h[i] : h;
        v = scan->sample_v[i] > v ? scan->sample_v[i] : v;
    }
    *width = BLOCK * h;
    *height = BLOCK * v;
}

bool lap_jpeg_turn_trim(const lap_jpeg_scan *scan, lap_turn turn, int *width, int *height, bool *whole)
{
    /* Whether the right edge comes to lie left or above, and the lower one. */
    const bool right = turn == LAP_TURN_H || turn == LAP_TURN_180 || turn == LAP_TURN_270 ||
                       turn == LAP_TURN_TRANSVERSE,
               lower = turn == LAP_TURN_V || turn == LAP_TURN_180 || turn == LAP_TURN_90 ||
                       turn == LAP_TURN_TRANSVERSE;
    int mcu_width, mcu_height;
    mcu_of(scan, &mcu_width, &mcu_height);
    *width = scan->width - (right ? scan->width % mcu_width : 0);
    *height = scan->height - (lower ? scan->height % mcu_height : 0);
    *whole = *width == scan->width && *height == scan->height;
    return *width > 0 && *height > 0;
}

uint64_t lap_jpeg_turn_memory(const lap_jpeg_scan *scan, size_t size)
{
    /* All coefficients as they come and as they go; the file, and its output while that grows. */
    enum { COEFFICIENTS = 2 * sizeof(int16_t) * BLOCK * BLOCK, FILES = 5 };
    int mcu_width, mcu_height;
    uint64_t blocks = 0;
    mcu_of(scan, &mcu_width, &mcu_height);
    for (int i = 0; i < scan->components && i < 4; i++)
        blocks += scan->components > 1 ? (uint64_t)scan->sample_h[i] * (uint64_t)scan->sample_v[i] : 1;
    const uint64_t mcus = ((uint64_t)scan->width / (uint64_t)mcu_width + 1) *
                          ((uint64_t)scan->height / (uint64_t)mcu_height + 1);
    return mcus * blocks * COEFFICIENTS + FILES * (uint64_t)size;
}

/* The next marker from `at` on that is neither stuffing nor a restart; size where there is none. */
static size_t next_marker(const uint8_t *bytes, size_t size, size_t at)
{
    while (at + 1 < size) {
        const uint8_t *found = memchr(bytes + at, 0xFF, size - at - 1);
        if (!found)
            break;
        at = (size_t)(found - bytes);
        if (bytes[at + 1] != 0 && bytes[at + 1] != 0xFF && (bytes[at + 1] < RST0 || bytes[at + 1] > RST7))
            return at;
        at++;
    }
    return size;
}

int lap_jpeg_turn_scans(const lap_jpeg_scan *scan, const uint8_t *bytes, size_t size, bool *missing)
{
    bool seen[256] = {false};
    int scans = 0, found = 0;
    for (size_t at = next_marker(bytes, size, 2); at + 4 < size && bytes[at + 1] != EOI;) {
        const size_t length = (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if (length < 2 || length > size - at - 2)
            break;
        const uint8_t *const data = bytes + at + 4; /* of an SOS: a count, then two bytes a component */
        const bool is_scan = bytes[at + 1] == SOS;
        scans += is_scan;
        for (size_t i = 0; is_scan && i < data[0] && 2 * i + 2 < length - 2; i++) {
            found += !seen[data[1 + 2 * i]];
            seen[data[1 + 2 * i]] = true;
        }
        at = next_marker(bytes, size, at + 2 + length);
    }
    *missing = found < scan->components;
    return scans;
}

/* ---- turning ----------------------------------------------------------------------------------- */

void lap_jpeg_turned_free(lap_jpeg_turned *turned)
{
    if (turned->is_plain)
        free(turned->bytes);
#if LAP_HAVE_TURBOJPEG
    else
        tjFree(turned->bytes);
#endif
    *turned = (lap_jpeg_turned){0};
}

#if LAP_HAVE_TURBOJPEG

/* Versions before 3 of TurboJPEG cannot. */
static lap_code optimize(lap_jpeg_turned *turned, lap_error *err)
{
    lap_chunk made = {0};
    const lap_code code = lap_jpeg_optimize(turned->bytes, turned->size, &made, err);
    if (code != LAP_OK) {
        lap_chunk_free(&made);
        return code;
    }
    const bool odd = turned->odd;
    lap_jpeg_turned_free(turned);
    *turned = (lap_jpeg_turned){.bytes = made.data, .size = made.size, .is_plain = true, .odd = odd};
    return LAP_OK;
}

/* Called for each row of blocks: nothing is changed, but a run that is to stop stops. */
static int go_on(
    short *coefficients, tjregion array, tjregion plane, int component, int number, tjtransform *transform)
{
    (void)coefficients, (void)array, (void)plane, (void)component, (void)number;
    return lap_control_check(transform->data, NULL) == LAP_OK ? 0 : -1;
}

lap_code lap_jpeg_turn(const uint8_t *bytes, size_t size, lap_turn turn, bool trim,
    const lap_write_options *o, lap_jpeg_turned *turned, lap_error *err)
{
    static const int operations[] = {[LAP_TURN_NONE] = TJXOP_NONE,
        [LAP_TURN_H] = TJXOP_HFLIP,
        [LAP_TURN_180] = TJXOP_ROT180,
        [LAP_TURN_V] = TJXOP_VFLIP,
        [LAP_TURN_TRANSPOSE] = TJXOP_TRANSPOSE,
        [LAP_TURN_90] = TJXOP_ROT90,
        [LAP_TURN_TRANSVERSE] = TJXOP_TRANSVERSE,
        [LAP_TURN_270] = TJXOP_ROT270};
    const int options =
        TJXOPT_COPYNONE | (trim ? TJXOPT_TRIM : TJXOPT_PERFECT) | (o->progressive ? TJXOPT_PROGRESSIVE : 0);
    tjtransform transform = {
        .op = operations[turn], .options = options, .data = (void *)o->control, .customFilter = go_on};
    unsigned char *out = NULL;
    unsigned long out_size = 0;
    *turned = (lap_jpeg_turned){0};
    tjhandle handle = tjInitTransform();
    if (!handle)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    const int failed = tjTransform(handle, bytes, (unsigned long)size, 1, &out, &out_size, &transform, 0);
    const bool warned = failed && tjGetErrorCode(handle) == TJERR_WARNING;
    lap_code code = lap_control_check(o->control, err);
    if (code == LAP_OK && failed && !warned) {
        const char *text = tjGetErrorStr2(handle); /* it has no number for each error */
        code = lap_fail(err, strstr(text, "emory") ? LAP_E_MEMORY : LAP_E_UNSUPPORTED, "TurboJPEG: %s", text);
    }
    tjDestroy(handle);
    *turned = (lap_jpeg_turned){.bytes = out, .size = out_size, .odd = warned};
    if (code == LAP_OK && o->optimize && !o->progressive) /* whose tables are made for it anyway */
        code = optimize(turned, err);
    if (code != LAP_OK)
        lap_jpeg_turned_free(turned);
    return code;
}

#else

lap_code lap_jpeg_turn(const uint8_t *bytes, size_t size, lap_turn turn, bool trim,
    const lap_write_options *o, lap_jpeg_turned *turned, lap_error *err)
{
    (void)bytes, (void)size, (void)turn, (void)trim, (void)o;
    *turned = (lap_jpeg_turned){0};
    return lap_fail(err, LAP_E_BACKEND, "%s", lap_jpeg_turn_unavailable());
}

#endif

/* ---- the file ---------------------------------------------------------------------------------- */

/* JFIF's segment: its name, two bytes of version, the unit, two bytes for each direction. */
static void set_density(uint8_t *segment, const lap_header *from)
{
    enum { UNIT = 11, X = 12, Y = 14 };
    if (from->density_x <= 0 || segment[1] != APP0 || memcmp(segment + 4, "JFIF", 5) != 0)
        return;
    segment[UNIT] = (uint8_t)from->density_unit;
    segment[X] = (uint8_t)(from->density_x >> 8);
    segment[X + 1] = (uint8_t)from->density_x;
    segment[Y] = (uint8_t)(from->density_y >> 8);
    segment[Y + 1] = (uint8_t)from->density_y;
}

/* Metadata stands behind what the library itself writes in front, as in every other output. */
static size_t length_of_head(const lap_jpeg_turned *turned, const lap_header *from)
{
    enum { JFIF = 18 }; /* with marker and length */
    size_t at = 2;
    while (at + JFIF <= turned->size && (turned->bytes[at + 1] == APP0 || turned->bytes[at + 1] == APP14)) {
        set_density(turned->bytes + at, from);
        at += 2 + ((size_t)turned->bytes[at + 2] << 8 | turned->bytes[at + 3]);
    }
    return at < turned->size ? at : turned->size;
}

static lap_code write_segment(const lap_segment *s, lap_sink *sink, lap_error *err)
{
    const size_t length = s->size + 2;
    const uint8_t head[] = {0xFF, s->marker, (uint8_t)(length >> 8), (uint8_t)length};
    const lap_code code = lap_sink_write(sink, head, sizeof head, err);
    return code == LAP_OK ? lap_sink_write(sink, s->data, s->size, err) : code;
}

lap_code lap_jpeg_turned_write(
    const lap_jpeg_turned *turned, const lap_write_options *o, lap_sink *sink, lap_error *err)
{
    lap_meta meta;
    lap_code code = lap_meta_choose(o, &meta, err);
    if (code != LAP_OK)
        return code;
    const size_t head = length_of_head(turned, o->from);
    code = lap_sink_write(sink, turned->bytes, head, err);
    for (size_t i = 0; code == LAP_OK && i < meta.count; i++)
        code = write_segment(&meta.segments[i], sink, err);
    if (code == LAP_OK)
        code = lap_sink_write(sink, turned->bytes + head, turned->size - head, err);
    lap_meta_free(&meta);
    return code;
}
