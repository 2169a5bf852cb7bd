/* Our own scan of a JPEG's header, up to and including its first SOS: what kind of JPEG it is, so that
 * refusals have names and come before any pixel is allocated, whatever the JPEG library knows.
 * Any bytes are safe input. Source: ITU-T T.81, annex B. Thread safe. */
#ifndef LAP_JPEG_SCAN_H
#define LAP_JPEG_SCAN_H

#include "io/source.h"

/* More than any camera writes, and little enough to hold while the header is looked at. */
#define LAP_JPEG_MAX_HEADER ((size_t)64 << 20)
#define LAP_JPEG_MAX_MARKERS 4096
#define LAP_JPEG_MAX_STRAY ((size_t)1 << 20) /* fill bytes and garbage between segments */
#define LAP_JPEG_MAX_SIDE 65500              /* libjpeg's limit */

typedef struct lap_jpeg_span { /* a segment worth keeping */
    uint8_t marker;
    size_t offset, size; /* of its data, after the length field, from the start of the file */
} lap_jpeg_span;

typedef struct lap_jpeg_scan { /* zeroed before the first call */
    uint8_t sof;               /* low byte of the frame marker: 0xC0, C1, C2, C9 or CA once done */
    int width, height, components;
    int sample_h[4], sample_v[4];
    int scan_components; /* of the first scan; fewer than components: several scans follow */
    int restart_interval;
    bool done;

    lap_jpeg_span *spans; /* EXIF, XMP, ICC, IPTC and COM in file order; free() is the caller's */
    size_t span_count, span_room, kept_bytes;

    size_t position, stray; /* where the next call goes on */
    int markers;
} lap_jpeg_scan;

bool lap_jpeg_probe(const uint8_t *bytes, size_t size);

/* Goes on over the first size bytes of the file; at_end: there are no more. LAP_OK with scan->done, or
 * with *need = how many bytes of the file the next call must be given. Else a refusal:
 * LAP_E_NOT_IMAGE, _TRUNCATED, _DAMAGED, _UNSUPPORTED, _LIMIT or _MEMORY; the message names no file. */
lap_code lap_jpeg_scan_header(
    lap_jpeg_scan *scan, const uint8_t *bytes, size_t size, bool at_end, size_t *need, lap_error *err);
/* The same over the first bytes of a source that is still at its beginning, and stays there. *bytes are
 * the source's, until it is asked for others; the spans of scan count from there. */
lap_code lap_jpeg_scan_source(lap_source *source, lap_jpeg_scan *scan, const uint8_t **bytes, lap_error *err);

typedef struct lap_jpeg_census {
    int quantization_tables, huffman_tables, scans;
} lap_jpeg_census;
/* Those of the whole file, whatever it says about lengths. */
lap_jpeg_census lap_jpeg_count(const uint8_t *bytes, size_t size);

#endif
