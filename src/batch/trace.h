/* When each photo was read, worked on and written, for a browser's timeline (Chrome's trace format). Thread
 * safe; NULL in place of a trace is fine everywhere and keeps nothing. */
#ifndef LAP_TRACE_H
#define LAP_TRACE_H

#include "lapedge_program.h"

typedef struct lap_trace lap_trace;

enum { LAP_TRACE_CPU = -1 }; /* in place of a device: the calling thread */

lap_code lap_trace_create(lap_trace **trace, lap_error *err);
void lap_trace_destroy(lap_trace *trace);
typedef struct lap_trace_event {
    const char *what;   /* a literal */
    double from_ms, ms; /* from lap_now_ms on, for that long */
    uint64_t photo;     /* any number that the photo keeps */
    int device, lane;   /* or LAP_TRACE_CPU, 0 */
} lap_trace_event;
void lap_trace_add(lap_trace *trace, lap_trace_event event);
/* The same for the calling thread, until now. */
void lap_trace_thread(lap_trace *trace, const char *what, double from_ms, uint64_t photo);
/* Stages one after the other on a lane, the last of which has just ended. */
void lap_trace_stages(lap_trace *trace, int device, int lane, const lap_times *ms, uint64_t photo);
/* Complete, or as it was: lap_side_write. */
lap_code lap_trace_write(const lap_trace *trace, const char *path, bool sync, lap_error *err);

#endif
