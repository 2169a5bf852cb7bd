/* Records when each photo was read, processed and written, for a browser's timeline (Chrome's trace format).
 * Thread safe. All functions accept a NULL trace and then record nothing. */
#ifndef LAP_TRACE_H
#define LAP_TRACE_H

#include "lapedge_program.h"

typedef struct lap_trace lap_trace;

enum { LAP_TRACE_CPU = -1 }; /* in place of a device number: a thread of the CPU */

lap_code lap_trace_create(lap_trace **trace, lap_error *err);
void lap_trace_destroy(lap_trace *trace);
typedef struct lap_trace_event {
    const char *what;   /* a string literal */
    double from_ms, ms; /* start as in lap_now_ms, and duration */
    uint64_t photo;     /* any number that identifies the photo */
    int device, lane;   /* device and lane, or LAP_TRACE_CPU and the number of the thread */
} lap_trace_event;
void lap_trace_add(lap_trace *trace, lap_trace_event event);
/* Records an event of the calling thread that ends now. */
void lap_trace_thread(lap_trace *trace, const char *what, double from_ms, uint64_t photo);
/* Records consecutive stages on a lane, the last of which ends now. */
void lap_trace_stages(lap_trace *trace, int device, int lane, const lap_times *ms, uint64_t photo);
/* Writes the file completely or not at all (lap_side_write). */
lap_code lap_trace_write(const lap_trace *trace, const char *path, bool sync, lap_error *err);

#endif
