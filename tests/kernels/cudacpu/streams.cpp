/* Streams, events, host functions. */
#include "engine.h"
#include "state.h"

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto s = lap_cudacpu_new_stream(lap_cudacpu_current, flags, lap_cudacpu_random(&lap_cudacpu().random));
    lap_cudacpu().streams[s.get()] = s;
    *stream = s.get();
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

/* Queued work is still done. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    lap_cudacpu_call call(__func__);
    const bool existed = stream && lap_cudacpu().streams.erase(stream) > 0;
    return call.error ? call.error : call(existed ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto s = lap_cudacpu_stream_of(stream);
    if (!s)
        return call(cudaErrorInvalidResourceHandle);
    lap_cudacpu().counts["stream syncs"]++;
    if (s ==
        lap_cudacpu().devices[(size_t)s->device].legacy) /* also for what the legacy stream would wait for */
        for (const auto &q : std::vector<std::shared_ptr<lap_cudacpu_stream>>(lap_cudacpu().queues))
            if (q->device == s->device && !(q->flags & cudaStreamNonBlocking))
                lap_cudacpu_finish(call.hold, {q, q->issued});
    return call(lap_cudacpu_finish(call.hold, {s, s->issued}));
}

/* Some work may be done between two queries. */
static cudaError_t query(lap_cudacpu_call &call, const lap_cudacpu_wait &wait)
{
    if (!lap_cudacpu_is_over(wait))
        lap_cudacpu_step(call.hold);
    const cudaError_t dead =
        wait.stream ? lap_cudacpu().devices[(size_t)wait.stream->device].dead : cudaSuccess;
    return call(dead ? dead : lap_cudacpu_is_over(wait) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto s = lap_cudacpu_stream_of(stream);
    return s ? query(call, {s, s->issued}) : call(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto s = lap_cudacpu_stream_of(stream);
    if (!s)
        return call(cudaErrorInvalidResourceHandle);
    lap_cudacpu_enqueue(call.hold, s,
        {[function, argument] {
             function(argument);
             return cudaSuccess;
         },
            {}, false, true});
    return cudaSuccess;
}

/* ---- events ---------------------------------------------------------------------------------------- */

static std::shared_ptr<lap_cudacpu_event> event_of(cudaEvent_t handle)
{
    auto found = lap_cudacpu().events.find(handle);
    return found == lap_cudacpu().events.end() ? nullptr : found->second;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto e = std::make_shared<lap_cudacpu_event>();
    e->device = lap_cudacpu_current;
    e->flags = flags;
    lap_cudacpu().events[e.get()] = e;
    *event = e.get();
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    lap_cudacpu_call call(__func__);
    const bool existed = lap_cudacpu().events.erase(event) > 0;
    return call.error ? call.error : call(existed ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto s = lap_cudacpu_stream_of(stream);
    auto e = event_of(event);
    if (!s || !e || s->device != e->device)
        return call(cudaErrorInvalidResourceHandle);
    e->recorded = lap_cudacpu_enqueue(call.hold, s,
        {[e] {
             e->ms = lap_cudacpu_ms();
             return cudaSuccess;
         },
            {}, false, false});
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto s = lap_cudacpu_stream_of(stream);
    auto e = event_of(event);
    if (!s || !e)
        return call(cudaErrorInvalidResourceHandle);
    if (!lap_cudacpu_is_over(e->recorded))
        lap_cudacpu_enqueue(call.hold, s, {nullptr, {e->recorded}, false, false});
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto e = event_of(event);
    return call(e ? lap_cudacpu_finish(call.hold, e->recorded) : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto e = event_of(event);
    return e ? query(call, e->recorded) : call(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    lap_cudacpu_call call(__func__);
    if (call.error)
        return call.error;
    auto a = event_of(from), b = event_of(to);
    if (!a || !b || a->device != b->device || !a->recorded.stream || !b->recorded.stream ||
        ((a->flags | b->flags) & cudaEventDisableTiming))
        return call(cudaErrorInvalidResourceHandle);
    if (!lap_cudacpu_is_over(a->recorded) || !lap_cudacpu_is_over(b->recorded))
        return call(cudaErrorNotReady);
    *ms = (float)(b->ms - a->ms);
    return cudaSuccess;
}
