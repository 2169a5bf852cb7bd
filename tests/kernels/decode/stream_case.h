/* Makes JPEG files symbol by symbol, as no encoder writes them. */
#ifndef STREAM_CASE_H
#define STREAM_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a file, malloc'ed; everything in it follows from the seed. It has random Huffman tables, of which a
 * symbol may have several codes; random symbols, scans, quantisers, restart intervals and samplings; and
 * segments between scans. *is_ours says that our decoder must take it. In the other files, there are fill
 * bytes before markers, or values, runs, segments or scans are odd. */
uint8_t *stream_file(uint64_t seed, size_t *size, bool *is_ours);

#endif
