/* lap_info_read: the structure of an image file, without decoding it. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "codec/exif.h"
#include "jpeg/jpeg_scan.h"
#include "run/formats.h"

enum { DHT = 0xC4, RST0 = 0xD0, RST7 = 0xD7, SOS = 0xDA, DQT = 0xDB, EOI = 0xD9 };

static size_t length_at(const uint8_t *bytes)
{
    return (size_t)bytes[0] << 8 | bytes[1];
}

/* Tables in one segment: a byte of kind and number, then data of a size that follows from it. */
static int tables_in(uint8_t marker, const uint8_t *data, size_t size)
{
    int count = 0;
    for (size_t at = 0; at < size; count++) {
        size_t length = 1;
        if (marker == DQT)
            length += data[at] >> 4 ? 128 : 64;
        else if (size - at >= 17)
            for (int i = 1; i <= 16; i++)
                length += data[at + (size_t)i] + (size_t)(i == 1) * 16;
        else
            break;
        if (length > size - at)
            break;
        at += length;
    }
    return count;
}

/* The next marker from `at` on that is neither stuffing nor a restart; size where there is none. */
static size_t next_marker(const uint8_t *bytes, size_t size, size_t at)
{
    for (; at + 1 < size; at++)
        if (bytes[at] == 0xFF && bytes[at + 1] != 0 && bytes[at + 1] != 0xFF &&
            (bytes[at + 1] < RST0 || bytes[at + 1] > RST7))
            return at;
    return size;
}

/* Tables and scans of the whole file; whatever it says about lengths stays inside. */
static void walk_markers(const uint8_t *bytes, size_t size, lap_info *info)
{
    for (size_t at = next_marker(bytes, size, 2); at + 3 < size && bytes[at + 1] != EOI;) {
        const uint8_t marker = bytes[at + 1];
        const size_t length = length_at(bytes + at + 2);
        if (length < 2 || length > size - at - 2)
            return;
        if (marker == DQT)
            info->quantization_tables += tables_in(marker, bytes + at + 4, length - 2);
        if (marker == DHT)
            info->huffman_tables += tables_in(marker, bytes + at + 4, length - 2);
        info->scans += marker == SOS;
        at = next_marker(bytes, size, at + 2 + length);
    }
}

static const char *kind_of(uint8_t marker, const uint8_t *data, size_t size)
{
    static const char xmp[] = "http://ns.adobe.com/xap/";
    if (marker == 0xE1 && lap_exif_is(data, size))
        return "EXIF";
    if (marker == 0xE1)
        return size >= sizeof xmp && memcmp(data, xmp, sizeof xmp - 1) == 0 ? "XMP" : "APP1";
    return marker == 0xE2 ? "ICC" : marker == 0xED ? "IPTC" : marker == 0xFE ? "comment" : "other";
}

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

static lap_code jpeg_info(const uint8_t *bytes, size_t size, lap_info *info, lap_error *err)
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
        for (size_t i = 0; i < scan.place_count; i++) {
            const lap_jpeg_place *p = &scan.places[i];
            const char *kind = kind_of(p->marker, bytes + p->offset, p->size);
            note_segment(info, kind, p->size);
            if (strcmp(kind, "EXIF") == 0)
                info->orientation = lap_exif_orientation(bytes + p->offset, p->size);
        }
        walk_markers(bytes, size, info);
    }
    free(scan.places);
    return code;
}

/* Of the other formats: what the decoder's header says. */
static lap_code other_info(lap_source *source, lap_info *info, lap_error *err)
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
        note_segment(info, kind_of(h->segments[i].marker, h->segments[i].data, h->segments[i].size),
            h->segments[i].size);
    lap_decoder_close(decoder);
    return LAP_OK;
}

lap_code lap_info_read(const char *path, lap_info *info, lap_error *err)
{
    enum { PROBE_BYTES = 16 };
    lap_source *source = NULL;
    const uint8_t *bytes;
    size_t size;
    bool whole = false;
    *info = (lap_info){.orientation = 1};
    lap_code code = lap_source_open(path, &source, err);
    if (code == LAP_OK)
        code = lap_source_peek(source, PROBE_BYTES, &bytes, &size, err);
    if (code == LAP_OK && lap_jpeg_probe(bytes, size)) {
        info->format = "jpeg";
        code = lap_source_hold(source, LAP_SOURCE_MOST, &bytes, &size, &whole, err);
        if (code == LAP_OK && !whole)
            code = lap_fail_at(err, LAP_E_LIMIT, path, "is larger than 1 GB");
        info->bytes = size;
        if (code == LAP_OK)
            code = jpeg_info(bytes, size, info, err);
    } else if (code == LAP_OK) {
        code = other_info(source, info, err);
        info->bytes = lap_source_stat(source) ? (uint64_t)lap_source_stat(source)->st_size : 0;
    }
    lap_source_close(source);
    lap_error_about(err, code, path);
    return code;
}
