/* The script of a progressive JPEG: the parameters of its scans, in order, read before any scan is decoded.
 */
#ifndef LAP_JPEG_SCRIPT_H
#define LAP_JPEG_SCRIPT_H

#include "coding/jpeg_frame.h"

typedef struct lap_script_scan {
    int components;                         /* 1; more only in an interleaved DC scan */
    uint8_t component[LAP_JPEG_COMPONENTS]; /* their numbers in the frame, ascending */
    uint8_t first, last;                    /* the band, in zigzag order: 0, 0 is DC; else AC */
    uint8_t high, low; /* low bits of the coefficients that are missing before and after the scan; high
                        * is 0 in the first scan of a band */
    int interval;      /* MCUs between restart markers; 0: no markers */
    lap_huff_code codes[LAP_JPEG_COMPONENTS]; /* first DC scan: one for each component; AC scan: [0]; DC
                                               * refinement: unused */
    uint64_t begin, end; /* offsets in the file of its first byte of data, and of the marker after it */
} lap_script_scan;

enum { LAP_SCRIPT_SCANS = 64 }; /* maximum number of scans; encoders write 6 to 20 */

typedef struct lap_jpeg_script {
    lap_jpeg_frame frame; /* without codes and restart interval, which each scan has */
    int count;
    lap_script_scan scans[LAP_SCRIPT_SCANS];
} lap_jpeg_script;

/* Returns whether the scan is a refinement, that is, not the first scan of its band. */
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

/* Returns the number, counted from 0, of the largest scan. A scan cannot be split, so decoding takes at least
 * as long as this scan, however many threads there are. */
static inline int lap_script_longest(const lap_jpeg_script *script)
{
    int longest = 0;
    for (int i = 1; i < script->count; i++)
        if (lap_script_bytes(&script->scans[i]) > lap_script_bytes(&script->scans[longest]))
            longest = i;
    return longest;
}

/* Returns the share of a scan in a file of SIZE bytes, in percent. */
static inline int lap_script_percent(const lap_jpeg_script *script, int scan, uint64_t size)
{
    return (int)(lap_script_bytes(&script->scans[scan]) * 100 / size);
}

#endif
