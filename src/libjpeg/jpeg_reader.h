/* The state of a libjpeg decoder. Three files share it: jpeg_feed.c feeds bytes to libjpeg and stops it,
 * jpeg_note.c notes warnings and losses, jpeg_read.c opens, reads rows and closes. */
#ifndef LAP_JPEG_READER_H
#define LAP_JPEG_READER_H

#include "codec/codec.h"
#include "libjpeg/jpeg_walk.h"

typedef struct lap_jpeg_reader {
    struct jpeg_decompress_struct cinfo; /* cinfo's client_data is the reader */
    lap_jpeg_error error;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    lap_decoder *decoder;
    const lap_view *rows; /* the rows requested by the current call */
    int row;              /* the next of them to be filled */
    bool created;         /* cinfo must be destroyed */
    bool started;         /* jpeg_start_decompress was called */
    bool putting_out;     /* coefficients are held, and jpeg_start_output was called */
    bool ended;           /* the source has no more bytes; libjpeg gets end markers */
    bool has_verdict;     /* error.cause was found by lap_jpeg_lose, not by libjpeg */
    lap_jpeg_walk *walk;  /* counts the bytes that a scan leaves over; NULL: libjpeg shows them */
    int begun_scan;       /* the last scan that begin_scan has seen; 0: no scan yet */
    int checked_scan;     /* the last scan whose end was checked; 0: no scan yet */
    int short_scan;       /* the last scan whose data ended early; 0: no scan yet */
    uint64_t advanced_at; /* bytes read when the last row of MCUs was finished */
    lap_code refused;     /* the first failure: all later calls fail with it */
    uint8_t *inks;        /* one row of CMYK */
    lap_segment *segments;
    uint8_t *segment_bytes;
    jvirt_barray_ptr *coefficients; /* all coefficients of each component; NULL: not held */
} lap_jpeg_reader;

/* Call it before the first row is read: reads all coefficients and checks all data up to the end of the
 * image. Afterwards rows are computed from reader->coefficients; the pixels are the same. */
lap_code lap_jpeg_read_whole(lap_jpeg_reader *reader, lap_error *err);
/* Fills some of ROWS, from `row` on, and returns how many. At least one, unless libjpeg raises an error. */
int lap_jpeg_read_rows(lap_jpeg_reader *reader, const lap_view *rows, int row);

#endif
