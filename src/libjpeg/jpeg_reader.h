/* What the JPEG decoder's files share: jpeg_feed.c gives libjpeg its bytes and says when to stop,
 * jpeg_note.c judges what is odd or lost, jpeg_read.c opens, asks for rows and closes. */
#ifndef LAP_JPEG_READER_H
#define LAP_JPEG_READER_H

#include "codec/codec.h"
#include "libjpeg/jpeg_walk.h"

typedef struct lap_jpeg_reader {
    struct jpeg_decompress_struct cinfo; /* its client_data is the reader */
    lap_jpeg_error error;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    lap_decoder *decoder;
    const lap_view *rows; /* of the call in progress */
    int row;              /* of it: the next to be filled */
    bool created;         /* cinfo must be destroyed */
    bool started;         /* jpeg_start_decompress was called */
    bool putting_out;     /* of coefficients: jpeg_start_output was called */
    bool ended;           /* the source has no more bytes; libjpeg gets end markers */
    bool has_verdict;     /* error.cause was found by lap_jpeg_lose, not by libjpeg */
    lap_jpeg_walk *walk;  /* counts beside libjpeg what a scan leaves over; NULL: libjpeg shows it */
    int begun_scan;       /* the last one whose begin was looked at; 0: none */
    int checked_scan;     /* the last one whose end was looked at; 0: none */
    int short_scan;       /* the last one whose data ended early; 0: none */
    uint64_t advanced_at; /* bytes read when the last row of MCUs was finished */
    lap_code refused;     /* a decoder that failed once stays failed */
    uint8_t *inks;        /* one row of CMYK */
    lap_segment *segments;
    uint8_t *segment_bytes;
    jvirt_barray_ptr *coefficients; /* of each component, all of them; NULL: rows are read as they come */
} lap_jpeg_reader;

/* Call it instead of asking for the first row: reads all coefficients and judges everything up to the end of
 * the image. Rows come from reader->coefficients afterwards, with the same pixels. */
lap_code lap_jpeg_read_whole(lap_jpeg_reader *reader, lap_error *err);
/* Some rows from `row` of ROWS on: how many, one at least where libjpeg raises nothing. */
int lap_jpeg_read_rows(lap_jpeg_reader *reader, const lap_view *rows, int row);

#endif
