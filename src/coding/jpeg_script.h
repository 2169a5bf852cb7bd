/* The scans of a progressive JPEG, in their order, before any of them is decoded. */
#ifndef LAP_JPEG_SCRIPT_H
#define LAP_JPEG_SCRIPT_H

#include "coding/jpeg_frame.h"

typedef struct lap_script_scan {
    int components;                         /* 1, or those of an interleaved scan of DC values */
    uint8_t component[LAP_JPEG_COMPONENTS]; /* of the frame, ascending */
    uint8_t first, last;                    /* the band, in zigzag order: 0, 0 is DC; else AC */
    uint8_t high, low; /* bits of the coefficients that are missing before and after the scan; high 0:
                        * it is the first of its band */
    int interval;      /* MCUs between restart markers, 0: none */
    lap_huff_code codes[LAP_JPEG_COMPONENTS]; /* a first DC scan: of each component; an AC scan: [0]; else
                                               * unused */
    uint64_t begin, end; /* of its data, in the file: the first byte, and the marker behind the last */
} lap_script_scan;

enum { LAP_SCRIPT_SCANS = 64 }; /* at most; encoders make 6 to 20 */

typedef struct lap_jpeg_script {
    lap_jpeg_frame frame; /* no codes, no restart interval: each scan has its own */
    int count;
    lap_script_scan scans[LAP_SCRIPT_SCANS];
} lap_jpeg_script;

/* Whether it is a first scan of its band, or refines one; whether it has DC values, or a band of others. */
static inline bool lap_script_refines(const lap_script_scan *scan)
{
    return scan->high > 0;
}
static inline bool lap_script_is_dc(const lap_script_scan *scan)
{
    return scan->first == 0;
}

static inline uint64_t lap_script_bytes(const lap_script_scan *scan)
{
    return scan->end - scan->begin;
}

/* The number, from 0 on, of the scan with most bytes: no number of threads is done before it is. */
static inline int lap_script_longest(const lap_jpeg_script *script)
{
    int longest = 0;
    for (int i = 1; i < script->count; i++)
        if (lap_script_bytes(&script->scans[i]) > lap_script_bytes(&script->scans[longest]))
            longest = i;
    return longest;
}

/* How much of a file of SIZE bytes it has. */
static inline int lap_script_percent(const lap_jpeg_script *script, int scan, uint64_t size)
{
    return (int)(lap_script_bytes(&script->scans[scan]) * 100 / size);
}

#endif
