/* Parts of one JPEG for several threads: baseline and extended Huffman coding, one interleaved scan, held
 * whole in memory. */
#ifndef LAP_JPEG_SPLIT_H
#define LAP_JPEG_SPLIT_H

#include "libjpeg/jpeg_reader.h"
#include "libjpeg/jpeg_scan.h"
#include "libjpeg/part_build.h"

typedef struct lap_jpeg_split {
    const uint8_t *bytes; /* the file */
    size_t size;
    size_t coded; /* where the entropy-coded data begins */
    lap_part_plan plan;
} lap_jpeg_split;

/* How many threads may decode a picture of so many pixels, the calling one counted. */
int lap_jpeg_split_threads(const lap_read_options *options, int64_t pixels);
/* Before libjpeg reads the header: holds the file, if options and header speak for parts, or for holding it,
 * and it fits in memory. *bytes: the header's, which may have moved. Not to have parts is no failure. */
lap_code lap_jpeg_split_hold(
    lap_jpeg_reader *reader, const lap_jpeg_scan *scan, const uint8_t **bytes, lap_error *err);
/* After libjpeg read it: looks through the scan. decoder->opens says how it went. */
lap_code lap_jpeg_split_open(lap_jpeg_reader *reader, lap_error *err);
void lap_jpeg_split_close(lap_jpeg_reader *reader);

#endif
