/* Our own scan of a JPEG's header, up to and including its first SOS. It determines the kind of JPEG. So,
 * with every JPEG library, an unsupported kind is refused with a message that names it, before memory for
 * pixels is allocated. Any bytes are safe input. Source: ITU-T T.81, annex B. Thread safe. */
#ifndef LAP_JPEG_SCAN_H
#define LAP_JPEG_SCAN_H

#include "io/source.h"

/* More than any camera writes, and small enough to hold in memory while the header is read. */
#define LAP_JPEG_MAX_HEADER ((size_t)64 << 20)
#define LAP_JPEG_MAX_MARKERS 4096
#define LAP_JPEG_MAX_STRAY ((size_t)1 << 20) /* fill bytes and garbage between segments */
#define LAP_JPEG_MAX_SIDE 65500              /* libjpeg's limit */

typedef struct lap_jpeg_span { /* a segment worth keeping */
    uint8_t marker;
    size_t offset, size; /* of its data, which follows the length field; offset in the file */
} lap_jpeg_span;

typedef struct lap_jpeg_scan { /* set to zeros before the first call */
    uint8_t sof;               /* low byte of the frame marker: 0xC0, C1, C2, C9 or CA once done */
    int width, height, components;
    int sample_h[4], sample_v[4];
    int scan_components; /* in the first scan; if fewer than components, more scans follow */
    int restart_interval;
    bool done;

    lap_jpeg_span *spans; /* EXIF, XMP, ICC, IPTC and COM in file order; the caller frees it with free() */
    size_t span_count, span_room, kept_bytes;

    size_t position, stray; /* where the next call continues; stray bytes so far */
    int markers;
} lap_jpeg_scan;

bool lap_jpeg_probe(const uint8_t *bytes, size_t size);

/* Continues the scan; bytes are the first `size` bytes of the file, or all of it if at_end is true. Returns
 * LAP_OK with scan->done set, or LAP_OK with *need set to the number of bytes that the next call needs. Else
 * LAP_E_NOT_IMAGE, LAP_E_TRUNCATED, LAP_E_DAMAGED, LAP_E_UNSUPPORTED, LAP_E_LIMIT or LAP_E_MEMORY; the
 * message names no file. */
lap_code lap_jpeg_scan_header(
    lap_jpeg_scan *scan, const uint8_t *bytes, size_t size, bool at_end, size_t *need, lap_error *err);
/* Scans the header of a source. The source must be at its beginning, and stays there. *bytes points into the
 * source's buffer and is valid until its next call; the offsets in scan->spans count from *bytes. */
lap_code lap_jpeg_scan_source(lap_source *source, lap_jpeg_scan *scan, const uint8_t **bytes, lap_error *err);

typedef struct lap_jpeg_census {
    int quantization_tables, huffman_tables, scans;
    size_t end; /* offset of the first byte after the end marker; 0: the file has no end marker */
} lap_jpeg_census;
/* Counts tables and scans up to the end marker; stops at a segment with a wrong length. */
lap_jpeg_census lap_jpeg_count(const uint8_t *bytes, size_t size);

#endif
