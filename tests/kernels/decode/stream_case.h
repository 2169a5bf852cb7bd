/* Makes JPEG files symbol by symbol, as no encoder writes them. */
#ifndef STREAM_CASE_H
#define STREAM_CASE_H

#include <stddef.h>
#include <stdint.h>

/* Returns a file, malloc'ed; everything in it follows from the seed. It has random Huffman tables, of which a
 * symbol may have several codes; random symbols, scans, quantisers, restart intervals and samplings; fill
 * bytes before markers, and segments between scans. Most files are in order. In the others, coefficients or
 * segments are odd. */
uint8_t *stream_file(uint64_t seed, size_t *size);

#endif
