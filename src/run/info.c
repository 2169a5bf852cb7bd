/* lap_info_read: reads the structure of an image file without decoding it. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "codec/meta.h"
#include "codec/png_meta.h"
#include "jpeg/decode_held.h"
#include "libjpeg/jpeg_scan.h"
#include "run/formats.h"

static void note_segment(lap_info *info, const char *kind, size_t size)
{
    size_t i = 0;
    while (i < info->metadata_count && strcmp(info->metadata[i].kind, kind) != 0)
        i++;
    if (i == LAP_INFO_KINDS)
        return;
    info->metadata_count += i == info->metadata_count;
    info->metadata[i].kind = kind;
    info->metadata[i].segments++;
    info->metadata[i].bytes += size;
}

/* ---- metadata that a run drops ------------------------------------------------------------------- */

typedef struct listener { /* the listener for dropped metadata, or NULL */
    const lap_settings *settings;
    lap_dropped_fn *each;
    void *user;
} listener;

static void tell_segment(lap_meta_drops *drops, const lap_segment *s, const char *reason)
{
    lap_meta_drop(drops, &(lap_dropped){.kind = lap_meta_kind(s),
                             .where = "",
                             .name = "",
                             .tag = -1,
                             .bytes = s->size,
                             .reason = reason});
}

static lap_code tell_all(const lap_write_options *o, lap_format format, lap_error *err)
{
    lap_meta meta = {0};
    lap_chunk chunks = {0};
    const bool is_png = format == LAP_FORMAT_PNG;
    lap_code code = LAP_OK;
    if (!is_png && format != LAP_FORMAT_JPG) {
        for (size_t i = 0; i < o->from->segment_count; i++)
            tell_segment(o->drops, &o->from->segments[i], "no place in this format");
        return code;
    }
    code = is_png ? lap_png_meta(o, &chunks, err) : lap_meta_choose(o, &meta, err);
    lap_meta_free(&meta);
    lap_chunk_free(&chunks);
    for (size_t i = 0; code == LAP_OK && lap_meta_drops_profile(o) && i < o->from->segment_count; i++)
        if (o->from->segments[i].marker == 0xE2)
            tell_segment(o->drops, &o->from->segments[i], "for other colours than those of the output");
    return code;
}

static lap_code tell_header(const listener *to, const lap_header *header, lap_error *err)
{
    const lap_settings *s = to->settings;
    const lap_format format = s->format ? lap_format_find(s->format) : LAP_FORMAT_JPG;
    lap_meta_drops drops = {.each = to->each, .user = to->user};
    const lap_write_options o = {.width = header->width,
        .height = header->height,
        .channels = s->gray || header->components == 1 ? 1 : 3,
        .strip = s->strip,
        .keep = s->keep,
        .from = header,
        .drops = &drops};
    return format ? tell_all(&o, format, err)
                  : lap_fail(err, LAP_E_USAGE, "unknown output format '%s'", s->format);
}

/* Builds the header that a JPEG decoder would return, and reports the metadata that a run would drop. */
static lap_code tell_scan(const listener *to, const lap_jpeg_scan *scan, const uint8_t *bytes, lap_error *err)
{
    lap_segment *segments = calloc(scan->span_count + 1, sizeof *segments);
    if (!segments)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    for (size_t i = 0; i < scan->span_count; i++)
        segments[i] = (lap_segment){.marker = scan->spans[i].marker,
            .data = bytes + scan->spans[i].offset,
            .size = scan->spans[i].size};
    const lap_header header = {.width = scan->width,
        .height = scan->height,
        .components = scan->components,
        .segments = segments,
        .segment_count = scan->span_count};
    const lap_code code = tell_header(to, &header, err);
    free(segments);
    return code;
}

static const char after_end[] =
    "follows the end of the JPEG"; /* the video of a motion photo, or a second picture */

/* ---- the structure of a file --------------------------------------------------------------------- */

static const char *frame_name(uint8_t sof)
{
    switch (sof) {
    case 0xC0:
        return "baseline";
    case 0xC1:
    case 0xC9:
        return "extended sequential";
    default:
        return "progressive";
    }
}

static lap_code jpeg_info(
    const uint8_t *bytes, size_t size, const listener *to, lap_info *info, lap_error *err)
{
    lap_jpeg_scan scan = {0};
    size_t need = size;
    lap_code code = lap_jpeg_scan_header(&scan, bytes, size, true, &need, err);
    if (code == LAP_OK) {
        info->frame = frame_name(scan.sof);
        info->arithmetic = scan.sof >= 0xC9;
        info->width = scan.width;
        info->height = scan.height;
        info->components = scan.components;
        for (int i = 0; i < scan.components && i < 4; i++) {
            info->sample_h[i] = scan.sample_h[i];
            info->sample_v[i] = scan.sample_v[i];
        }
        info->restart_interval = scan.restart_interval;
        for (size_t i = 0; i < scan.span_count; i++) {
            const lap_jpeg_span *p = &scan.spans[i];
            const lap_segment segment = {.marker = p->marker, .data = bytes + p->offset, .size = p->size};
            note_segment(info, lap_meta_kind(&segment), p->size);
            if (p->marker == 0xE1 && lap_exif_is(bytes + p->offset, p->size))
                info->orientation = lap_exif_orientation(bytes + p->offset, p->size);
        }
        const lap_jpeg_census all = lap_jpeg_count(bytes, size);
        info->quantization_tables = all.quantization_tables;
        info->huffman_tables = all.huffman_tables;
        info->scans = all.scans;
        code = to ? tell_scan(to, &scan, bytes, err) : LAP_OK;
        if (code == LAP_OK && to && all.end && size > all.end)
            to->each(to->user, &(lap_dropped){.kind = "other",
                                   .where = "",
                                   .name = "",
                                   .tag = -1,
                                   .bytes = size - all.end,
                                   .reason = after_end});
        if (code == LAP_OK && scan.sof == 0xC2)
            code = lap_held_bound(bytes, size, &info->longest_scan, &info->longest_percent, err);
    }
    free(scan.spans);
    return code;
}

/* Formats other than JPEG: copies what the decoder's header says. */
static lap_code other_info(lap_source *source, const listener *to, lap_info *info, lap_error *err)
{
    const lap_read_options options = {.fail_on = LAP_FAIL_NONE};
    lap_decoder *decoder = NULL;
    lap_code code = lap_decoder_open(source, &options, &decoder, err);
    if (code != LAP_OK)
        return code;
    const lap_header *h = lap_decoder_header(decoder);
    info->format = h->format;
    info->width = h->width;
    info->height = h->height;
    info->components = h->components;
    info->orientation = h->orientation;
    for (size_t i = 0; i < h->segment_count; i++)
        note_segment(info, lap_meta_kind(&h->segments[i]), h->segments[i].size);
    code = to ? tell_header(to, h, err) : LAP_OK;
    lap_decoder_close(decoder);
    return code;
}

static lap_code read_info(const char *path, const listener *to, lap_info *info, lap_error *err)
{
    lap_source *source = NULL;
    const uint8_t *bytes;
    size_t size;
    lap_input kind = LAP_INPUT_EMPTY;
    bool whole = false;
    *info = (lap_info){.orientation = 1};
    lap_code code = lap_source_open(path, &source, err);
    if (code == LAP_OK)
        code = lap_input_look(source, &kind, err);
    if (code == LAP_OK && kind == LAP_INPUT_JPEG) {
        info->format = "jpeg";
        code = lap_source_hold(source, LAP_SOURCE_MOST, &bytes, &size, &whole, err);
        if (code == LAP_OK && !whole)
            code = lap_fail_at(err, LAP_E_LIMIT, path, "is larger than 1 GB");
        info->bytes = size;
        if (code == LAP_OK)
            code = jpeg_info(bytes, size, to, info, err);
    } else if (code == LAP_OK) {
        code = other_info(source, to, info, err);
        info->bytes = lap_source_stat(source) ? (uint64_t)lap_source_stat(source)->st_size : 0;
    }
    lap_source_close(source);
    lap_error_about(err, code, path);
    return code;
}

lap_code lap_info_read(const char *path, lap_info *info, lap_error *err)
{
    return read_info(path, NULL, info, err);
}

lap_code lap_info_dropped(const char *path, const lap_settings *settings, lap_info *info,
    lap_dropped_fn *each, void *user, lap_error *err)
{
    return read_info(path, &(listener){settings, each, user}, info, err);
}

static void count_after_end(void *user, const lap_dropped *d)
{
    uint64_t *bytes = user;
    if (d->reason == after_end)
        *bytes += d->bytes;
}

uint64_t lap_bytes_after_end(const char *path)
{
    const lap_settings settings = lap_settings_default();
    lap_info info;
    uint64_t bytes = 0;
    const lap_code code = lap_info_dropped(path, &settings, &info, count_after_end, &bytes, NULL);
    return code == LAP_OK ? bytes : 0;
}
