#include "batch/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/grow.h"
#include "base/status.h"

/* 48 bytes per event. A run with more events records only the beginning. */
enum { MOST_EVENTS = 2000000, LINE = 200 };

struct lap_trace {
    pthread_mutex_t lock;
    double began_ms;
    lap_trace_event *events;
    size_t count, capacity;
};

/* Numbers threads in the order in which they first add an event. */
static int this_thread(void)
{
    static atomic_int next;
    static _Thread_local int number;
    if (!number)
        number = atomic_fetch_add(&next, 1) + 1;
    return number;
}

lap_code lap_trace_create(lap_trace **trace, lap_error *err)
{
    *trace = calloc(1, sizeof **trace);
    if (!*trace)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    (*trace)->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    (*trace)->began_ms = lap_now_ms();
    return LAP_OK;
}

void lap_trace_destroy(lap_trace *trace)
{
    if (!trace)
        return;
    pthread_mutex_destroy(&trace->lock);
    free(trace->events);
    free(trace);
}

void lap_trace_add(lap_trace *trace, lap_trace_event event)
{
    if (!trace)
        return;
    pthread_mutex_lock(&trace->lock);
    if (trace->count < MOST_EVENTS) {
        lap_trace_event *grown = lap_grow(trace->events, &trace->capacity, trace->count + 1, sizeof *grown);
        if (grown) { /* otherwise this event is lost */
            trace->events = grown;
            event.from_ms -= trace->began_ms;
            grown[trace->count++] = event;
        }
    }
    pthread_mutex_unlock(&trace->lock);
}

void lap_trace_thread(lap_trace *trace, const char *what, double from_ms, uint64_t photo)
{
    if (trace)
        lap_trace_add(trace,
            (lap_trace_event){what, from_ms, lap_now_ms() - from_ms, photo, LAP_TRACE_CPU, this_thread()});
}

void lap_trace_stages(lap_trace *trace, int device, int lane, const lap_times *ms, uint64_t photo)
{
    const struct {
        const char *what;
        double ms;
    } stages[] = {{"upload", ms->upload}, {"decode", ms->decode}, {"filter", ms->filter},
        {"encode", ms->encode}, {"download", ms->download}};
    double at = lap_now_ms();
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        at -= stages[i].ms;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; at += stages[i++].ms)
        lap_trace_add(trace, (lap_trace_event){stages[i].what, at, stages[i].ms, photo, device, lane});
}

/* Writes the names of the trace's processes: one stands for the CPU's threads, and one for the lanes of each
 * device. */
static size_t write_names(const lap_trace *trace, char *to, size_t size)
{
    size_t length = 0;
    int last = LAP_TRACE_CPU;
    for (size_t i = 0; i < trace->count; i++)
        last = trace->events[i].device > last ? trace->events[i].device : last;
    for (int device = LAP_TRACE_CPU; device <= last && length + LINE < size; device++) {
        char name[32] = "threads";
        if (device >= 0)
            snprintf(name, sizeof name, "CUDA device %d", device);
        length += (size_t)snprintf(to + length, size - length,
            "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"%s\"}},\n", device + 1,
            name);
    }
    return length;
}

lap_code lap_trace_write(const lap_trace *trace, const char *path, bool sync, lap_error *err)
{
    enum { NAMES = 1025 };
    const size_t room = (trace->count + NAMES + 2) * LINE;
    char *text = malloc(room);
    if (!text)
        return lap_fail_at(err, LAP_E_MEMORY, path, "out of memory: %zu bytes", room);
    size_t length = (size_t)snprintf(
        text, room, "{\"schema\":\"lapedge.trace/1\",\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    length += write_names(trace, text + length, NAMES * LINE);
    const locale_t before = lap_decimal_begin();
    for (size_t i = 0; i < trace->count; i++) {
        const lap_trace_event *e = &trace->events[i];
        length += (size_t)snprintf(text + length, room - length,
            "{\"name\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,\"tid\":%d,\"args\":{"
            "\"photo\":%llu}},\n",
            e->what, 1e3 * e->from_ms, 1e3 * e->ms, e->device + 1, e->lane, (unsigned long long)e->photo);
    }
    lap_decimal_end(before);
    length -= strlen(",\n"); /* of the last line; there is one at least, the name of the threads */
    length += (size_t)snprintf(text + length, room - length, "\n]}\n");
    const lap_code code = lap_side_write(path, text, length, sync, err);
    free(text);
    return code;
}
