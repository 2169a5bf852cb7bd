/* When each photo was read, worked on and written, for a browser's timeline (Chrome's trace format). Thread
 * safe; NULL in place of a trace is fine everywhere and keeps nothing. */
#ifndef LAP_TRACE_H
#define LAP_TRACE_H

#include "lapedge.h"

typedef struct lap_trace lap_trace;

enum { LAP_TRACE_CPU = -1 }; /* in place of a device: the calling thread */

lap_code lap_trace_create(lap_trace **trace, lap_error *err);
void lap_trace_destroy(lap_trace *trace);
/* From from_ms (lap_now_ms) for that long, on a lane of a device (or LAP_TRACE_CPU, 0). what: a literal;
 * photo: any number that the photo keeps. */
void lap_trace_add(
    lap_trace *trace, const char *what, int device, int lane, double from_ms, double ms, uint64_t photo);
/* The same for the calling thread, until now. */
void lap_trace_thread(lap_trace *trace, const char *what, double from_ms, uint64_t photo);
/* Stages one after the other on a lane, the last of which has just ended. */
void lap_trace_stages(lap_trace *trace, int device, int lane, const lap_times *ms, uint64_t photo);
/* Complete, or as it was: lap_side_write. */
lap_code lap_trace_write(const lap_trace *trace, const char *path, bool sync, lap_error *err);

#endif
