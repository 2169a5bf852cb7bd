#include "device/device_slot.h"

#include <stdlib.h>

#include "base/status.h"
#include "base/times.h"
#include "cuda/device/device_rungs.h"
#include "cuda/device/queue.h"
#include "rungs/backend.h"

enum mark { BEGIN, UP, DECODED, FILTERED, ENCODED, DOWN, MARKS };
enum { ALIGNMENT = 256 };

struct lap_device_slot {
    int device;
    void *stream, *memory;
    bool owns_stream, is_untimed;
    size_t room;
    void *marks[MARKS];
    void *rows;       /* pinned memory for the tables of chains; or NULL */
    lap_view result;  /* the result of the photo that was started last */
    const void *scan; /* the scan of that photo, on the device */
};

/* ---- the slot ----------------------------------------------------------------------------------- */

lap_code lap_device_slot_create_on(int device, void *stream, lap_device_slot **slot, lap_error *err)
{
    lap_device_slot *made = calloc(1, sizeof *made);
    *slot = NULL;
    if (!made)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    made->device = device;
    made->stream = stream;
    *slot = made;
    return LAP_OK;
}

/* Creates the events with the first photo, since creating an event starts the device. */
static lap_code make_marks(lap_device_slot *slot, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < MARKS && code == LAP_OK; i++)
        if (!slot->marks[i] && !slot->is_untimed)
            code = lap_cuda_event_create(slot->device, &slot->marks[i], err);
    return code;
}

lap_code lap_device_slot_create(int device, lap_device_slot **slot, lap_error *err)
{
    lap_code code = lap_device_slot_create_on(device, NULL, slot, err);
    if (code != LAP_OK)
        return code;
    (*slot)->owns_stream = true;
    code = lap_cuda_stream_create(device, &(*slot)->stream, err);
    if (code == LAP_OK)
        code = make_marks(*slot, err);
    if (code != LAP_OK) {
        lap_device_slot_destroy(*slot);
        *slot = NULL;
    }
    return code;
}

void lap_device_slot_destroy(lap_device_slot *slot)
{
    if (!slot)
        return;
    lap_cuda_free(slot->device, slot->memory);
    lap_cuda_pinned_free(slot->rows);
    for (int i = 0; i < MARKS; i++)
        lap_cuda_event_destroy(slot->device, slot->marks[i]);
    if (slot->owns_stream)
        lap_cuda_stream_destroy(slot->device, slot->stream);
    free(slot);
}

void lap_device_slot_without_times(lap_device_slot *slot)
{
    slot->is_untimed = true;
    for (int i = 0; i < MARKS; i++) {
        lap_cuda_event_destroy(slot->device, slot->marks[i]);
        slot->marks[i] = NULL;
    }
}

void lap_device_slot_abandon(lap_device_slot *slot)
{
    free(slot);
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* Decoding, counting and encoding share one workspace, because they run one after the other. Source and
 * result follow it, unless the caller provides memory for them. A picture that is to be rotated or mirrored
 * is decoded into the result's memory, and then written, rotated or mirrored, to the source's. */
typedef struct layout {
    size_t source, result, bytes;
} layout;

static bool next_area(size_t *at, size_t bytes)
{
    if (!lap_add(*at, bytes, at) || !lap_add(*at, ALIGNMENT - 1, at))
        return false;
    *at = *at / ALIGNMENT * ALIGNMENT;
    return true;
}

static size_t counter_bytes(void)
{
    return (lap_cuda_scratch_bytes(0, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Computes the size of the picture before it is rotated or mirrored. False: the size overflows. */
static bool stored_bytes(const lap_device_staging *staging, size_t *bytes)
{
    const bool swap = lap_turn_transposes(staging->turn);
    return lap_cuda_view_bytes(swap ? staging->height : staging->width,
        swap ? staging->width : staging->height, staging->channels, 0, bytes);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static bool lay_out(const lap_device_staging *staging, layout *at)
{
    const size_t counters = staging->is_counted ? 2 * counter_bytes() : 0;
    const size_t coders = larger(staging->decode.workspace_bytes, staging->encode.workspace_bytes);
    const bool has_source = staging->is_decoded || staging->is_filtered;
    size_t source = 0, result = 0, stored = 0;
    *at = (layout){0};
    if (has_source && !staging->source.base &&
        !lap_cuda_view_bytes(staging->width, staging->height, staging->channels, LAP_APRON, &source))
        return false;
    if (staging->is_filtered && !staging->result.base &&
        !lap_cuda_view_bytes(staging->width, staging->height, staging->channels, 0, &result))
        return false;
    if ((staging->turn != LAP_TURN_NONE && !stored_bytes(staging, &stored)) ||
        !next_area(&at->source, larger(coders, counters)))
        return false;
    at->result = at->source;
    if (!next_area(&at->result, source))
        return false;
    at->bytes = at->result;
    return next_area(&at->bytes, larger(result, stored));
}

size_t lap_device_slot_needs(const lap_device_staging *staging)
{
    layout at;
    return lay_out(staging, &at) ? at.bytes : 0;
}

/* Returns the bytes of a chain's tables. They lie one behind the other; each has one row per photo. */
static size_t rows_bytes(int count)
{
    return (size_t)count * (LAP_CUDA_JPEG_DECODE_ROW + LAP_CUDA_JPEG_ENCODE_ROW + sizeof(lap_view_pair));
}

size_t lap_device_slot_chain_needs(size_t bytes, int count)
{
    return count > 1 ? bytes + rows_bytes(count) : bytes;
}

size_t lap_device_slot_room(const lap_device_slot *slot)
{
    return slot->room;
}

lap_code lap_device_slot_resize(lap_device_slot *slot, size_t bytes, lap_error *err)
{
    if (bytes == slot->room)
        return LAP_OK;
    lap_cuda_free(slot->device, slot->memory);
    slot->memory = NULL;
    slot->room = 0;
    if (bytes == 0)
        return LAP_OK;
    lap_code code = lap_cuda_alloc(slot->device, bytes, &slot->memory, err);
    /* Kernels load whole vectors, which may reach past the bytes that were written; zeros there make runs
     * reproducible. */
    if (code == LAP_OK)
        code = lap_cuda_clear(slot->device, slot->memory, bytes, slot->stream, err);
    if (code == LAP_OK)
        slot->room = bytes;
    return code;
}

/* ---- the steps ---------------------------------------------------------------------------------- */

typedef struct way { /* one photo's work on a slot */
    lap_device_slot *slot;
    const lap_device_staging *staging;
    uint8_t *memory;
    lap_view stored, source, result; /* stored: the picture as decoded; the source, unless it is rotated or
                                        mirrored */
} way;

typedef struct ways { /* the work of all photos of a chain */
    way *way;
    int count;
    lap_device_slot *slot;
    lap_cuda_table decode, encode; /* the tables of a chain of several photos */
    lap_view_pairs pairs;          /* the views of a chain of several photos */
    lap_error *err;
} ways;

static way way_of(lap_device_slot *slot, const lap_device_staging *staging, uint8_t *memory, const layout *at)
{
    const int width = staging->width, height = staging->height, channels = staging->channels;
    const bool swap = lap_turn_transposes(staging->turn);
    way w = {.slot = slot, .staging = staging, .memory = memory};
    w.source = staging->source;
    w.result = staging->result;
    if (!w.source.base)
        w.source = lap_cuda_view_in(slot->device, memory + at->source, width, height, channels, LAP_APRON);
    if (!w.result.base)
        w.result = lap_cuda_view_in(slot->device, memory + at->result, width, height, channels, 0);
    w.stored = staging->turn == LAP_TURN_NONE
                   ? w.source
                   : lap_cuda_view_in(slot->device, memory + at->result, swap ? height : width,
                         swap ? width : height, channels, 0);
    return w;
}

static lap_code record(const ways *all, int first, int end)
{
    lap_code code = LAP_OK;
    const lap_device_slot *slot = all->slot;
    for (int i = first; i < end && code == LAP_OK && !slot->is_untimed; i++)
        code = lap_cuda_event_record(slot->device, slot->marks[i], slot->stream, all->err);
    return code;
}

static lap_code decode(const ways *all)
{
    lap_cuda_jpeg_photo photos[LAP_DEVICE_CHAIN];
    lap_device_slot *slot = all->slot;
    void *marks[LAP_CUDA_JPEG_STAGES + 1] = {0};
    if (!slot->is_untimed) {
        marks[0] = slot->marks[BEGIN];
        marks[1] = slot->marks[UP];
        marks[LAP_CUDA_JPEG_STAGES] = slot->marks[DECODED];
    }
    for (int i = 0; i < all->count; i++) {
        const way *w = &all->way[i];
        const lap_device_staging *staging = w->staging;
        photos[i] = (lap_cuda_jpeg_photo){.scan = staging->bytes + staging->decode.frame.scan_begin,
            .staging = staging->tables.bytes,
            .workspace = w->memory,
            .result = staging->decoded,
            .plan = &staging->decode,
            .pixels = &w->stored};
    }
    return lap_cuda_jpeg_decode_enqueue(photos, all->count, &all->decode, slot->stream, marks, all->err);
}

/* Decodes or uploads the source, unless the device has it already. */
static lap_code bring_source(const ways *all)
{
    const way *w = all->way;
    if (w->staging->is_decoded)
        return decode(all);
    lap_code code = record(all, BEGIN, UP);
    if (code == LAP_OK && w->staging->pixels.base)
        code = lap_cuda_upload(&w->staging->pixels, &w->source, all->slot->stream, all->err);
    return code == LAP_OK ? record(all, UP, FILTERED) : code;
}

/* Rotates or mirrors the picture; transposes with the fastest rung. That rung may write up to 3 bytes past
 * each row, so the apron is filled later. */
static lap_code turn(const way *w, lap_error *err)
{
    const lap_exec exec = {.threads = 1, .stream = w->slot->stream, .err = err};
    const lap_turn_steps steps = lap_turn_steps_of(w->staging->turn);
    const lap_rung *rung;
    lap_view from = w->stored, to = w->source;
    if (w->staging->turn == LAP_TURN_NONE)
        return LAP_OK;
    lap_turn_views(w->staging->turn, &from, &to);
    if (!steps.transpose)
        return lap_cuda_mirror(&from, &to, steps.left_right, w->slot->stream, err);
    lap_code code = lap_rung_find_on_device(LAP_OP_TRANSPOSE, NULL, w->slot->device, &rung, err);
    return code == LAP_OK ? rung->run.transpose(&from, &to, &exec) : code;
}

static lap_code filter(const ways *all, const lap_views_filter *f)
{
    const lap_exec exec = {.threads = 1, .stream = all->slot->stream, .err = all->err};
    const way *w = all->way;
    lap_code code = LAP_OK;
    for (int i = 0; i < all->count && code == LAP_OK; i++)
        code = turn(&w[i], all->err);
    if (code != LAP_OK || !w->staging->is_filtered)
        return code;
    if (all->count == 1)
        return lap_views_fill_and_filter(f, &w->source, &w->result, &exec);
    for (int i = 0; i < all->count; i++)
        all->pairs.rows[i] = (lap_view_pair){w[i].source, w[i].result};
    return lap_views_fill_and_filter_many(f, &all->pairs, &exec);
}

/* Copies pictures to views that rungs cannot write directly. */
static lap_code copy(const ways *all)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < all->count && code == LAP_OK; i++) {
        const way *w = &all->way[i];
        if (w->staging->copy.base)
            code = lap_cuda_view_copy(w->staging->is_filtered ? &w->result : &w->source, &w->staging->copy,
                all->slot->stream, all->err);
    }
    return code;
}

static lap_code count_view(const way *w, const lap_view *view, int i, void *to, lap_error *err)
{
    lap_device_slot *slot = w->slot;
    uint8_t *counter = w->memory + (size_t)i * counter_bytes();
    const lap_exec exec = {.threads = 1, .stream = slot->stream, .scratch = counter, .err = err};
    const lap_rung *rung;
    lap_code code = lap_rung_find_on_device(LAP_OP_HISTOGRAM, NULL, slot->device, &rung, err);
    if (code == LAP_OK)
        code = lap_cuda_clear(slot->device, counter, LAP_SCRATCH_HEAD, slot->stream, err);
    if (code == LAP_OK)
        code = rung->run.histogram(view, NULL, &exec);
    return code == LAP_OK ? lap_cuda_copy(slot->device, to, counter, sizeof w->staging->counts->source,
                                slot->stream, err)
                          : code;
}

static lap_code count(const ways *all)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < all->count && code == LAP_OK; i++) {
        const way *w = &all->way[i];
        lap_photo_counts *counts = w->staging->counts;
        if (!w->staging->is_counted)
            continue;
        code = count_view(w, &w->source, 0, counts->source, all->err);
        if (code == LAP_OK)
            code = count_view(w, &w->result, 1, counts->result, all->err);
    }
    return code;
}

static lap_code encode(const ways *all)
{
    lap_cuda_jpeg_picture pictures[LAP_DEVICE_CHAIN];
    lap_device_slot *slot = all->slot;
    void *marks[LAP_CUDA_JPEG_ENCODE_STAGES + 1] = {0};
    if (!slot->is_untimed) {
        marks[0] = slot->marks[FILTERED];
        marks[LAP_CUDA_JPEG_ENCODE_STAGES - 1] = slot->marks[ENCODED];
        marks[LAP_CUDA_JPEG_ENCODE_STAGES] = slot->marks[DOWN];
    }
    if (!all->way->staging->is_encoded)
        return record(all, FILTERED, MARKS);
    for (int i = 0; i < all->count; i++) {
        const way *w = &all->way[i];
        const lap_device_staging *staging = w->staging;
        pictures[i] = (lap_cuda_jpeg_picture){.plan = &staging->encode,
            .pixels = &w->result,
            .workspace = w->memory,
            .scan = staging->kind == LAP_HOST_PAGED ? NULL : staging->scan.bytes,
            .result = staging->encoded};
    }
    slot->scan = lap_cuda_jpeg_encode_scan(&all->way->staging->encode, all->way->memory);
    return lap_cuda_jpeg_encode_enqueue(pictures, all->count, &all->encode, slot->stream, marks, all->err);
}

/* ---- a chain ------------------------------------------------------------------------------------ */

static void place_rows(ways *all, uint8_t *there)
{
    const size_t count = (size_t)all->count, encode = count * LAP_CUDA_JPEG_DECODE_ROW,
                 pairs = encode + count * LAP_CUDA_JPEG_ENCODE_ROW;
    uint8_t *rows = all->slot->rows;
    all->decode = (lap_cuda_table){rows, there};
    all->encode = (lap_cuda_table){rows + encode, there + encode};
    all->pairs = (lap_view_pairs){(lap_view_pair *)(void *)(rows + pairs), there + pairs, all->count};
}

/* Assigns memory to each photo, and, in a chain of several photos, to the tables, which lie behind the
 * photos. */
static lap_code place(ways *all, const lap_device_staging *const stagings[], lap_error *err)
{
    lap_device_slot *slot = all->slot;
    uint8_t *memory = slot->memory, *const end = memory + slot->room;
    /* Not LAP_E_MEMORY: the caller would then try again with less device memory. */
    if (all->count > 1 && !slot->rows &&
        lap_cuda_pinned_alloc(slot->device, rows_bytes(LAP_DEVICE_CHAIN), &slot->rows, err) != LAP_OK)
        return lap_fail(err, LAP_E_DEVICE, "no pinned memory for the tables of several photos");
    for (int i = 0; i < all->count; i++) {
        layout at;
        if (!lay_out(stagings[i], &at) || at.bytes > (size_t)(end - memory))
            return lap_fail(err, LAP_E_INTERNAL, "a slot without room for its photo");
        all->way[i] = way_of(slot, stagings[i], memory, &at);
        memory += at.bytes;
    }
    if (all->count == 1)
        return LAP_OK;
    if (rows_bytes(all->count) > (size_t)(end - memory))
        return lap_fail(err, LAP_E_INTERNAL, "a slot without room for its tables");
    place_rows(all, memory);
    return LAP_OK;
}

static lap_code enqueue(const ways *all, const lap_views_filter *f)
{
    lap_cuda_range_begin("lapedge: decode");
    lap_code code = bring_source(all);
    lap_cuda_range_end();
    lap_cuda_range_begin("lapedge: filter");
    code = code == LAP_OK ? filter(all, f) : code;
    if (code == LAP_OK)
        code = copy(all);
    lap_cuda_range_end();
    if (code == LAP_OK)
        code = count(all);
    lap_cuda_range_begin("lapedge: encode");
    if (code == LAP_OK)
        code = encode(all);
    lap_cuda_range_end();
    return code;
}

lap_code lap_device_slot_wait(lap_device_slot *slot, lap_error *err)
{
    return lap_cuda_sync(slot->device, slot->stream, err);
}

/* Waits, also after a failure: the device may still use memory that the caller frees or fills next. */
static lap_code waited(lap_device_slot *slot, lap_code code, lap_error *err)
{
    const lap_code synced = lap_device_slot_wait(slot, code == LAP_OK ? err : NULL);
    return code == LAP_OK ? synced : code;
}

lap_code lap_device_slot_start(lap_device_slot *slot, const lap_device_staging *const stagings[], int count,
    const lap_views_filter *f, lap_error *err)
{
    way each[LAP_DEVICE_CHAIN];
    ways all = {.way = each, .count = count, .slot = slot, .err = err};
    for (int i = 0; i < count; i++)
        if (count > LAP_DEVICE_CHAIN || (i > 0 && !lap_device_staging_go_together(stagings[0], stagings[i])))
            return lap_fail(err, LAP_E_INTERNAL, "photos that do not go together");
    lap_code code = make_marks(slot, err);
    if (code == LAP_OK)
        code = place(&all, stagings, err);
    if (code != LAP_OK)
        return code;
    slot->result = each->result;
    code = enqueue(&all, f);
    return code == LAP_OK ? LAP_OK : waited(slot, code, NULL);
}

lap_code lap_device_slot_is_through(lap_device_slot *slot, bool *through, lap_error *err)
{
    return lap_cuda_event_happened(slot->device, slot->marks[DOWN], through, err);
}

lap_code lap_device_slot_run_chain(lap_device_slot *slot, const lap_device_staging *const stagings[],
    int count, const lap_views_filter *f, lap_times *times, lap_error *err)
{
    const bool was_untimed = slot->is_untimed;
    lap_times ms = {0};
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        const size_t needs = lap_device_slot_needs(stagings[i]);
        if (needs == 0 || !lap_add(bytes, needs, &bytes))
            return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    bytes = lap_device_slot_chain_needs(bytes, count);
    lap_code code = bytes > slot->room ? lap_device_slot_resize(slot, bytes, err) : LAP_OK;
    slot->is_untimed |= !times;
    if (code == LAP_OK)
        code = waited(slot, lap_device_slot_start(slot, stagings, count, f, err), err);
    if (code == LAP_OK)
        code = lap_device_slot_times(slot, &ms, err);
    slot->is_untimed = was_untimed;
    if (!times)
        return code;
    ms = lap_times_share(&ms, count);
    lap_times_add(times, &ms);
    return code;
}

lap_code lap_device_slot_run(lap_device_slot *slot, const lap_device_staging *staging,
    const lap_views_filter *f, lap_times *times, lap_error *err)
{
    return lap_device_slot_run_chain(slot, &staging, 1, f, times, err);
}

lap_code lap_device_slot_scan(
    lap_device_slot *slot, const lap_device_staging *staging, lap_chunk *scan, lap_error *err)
{
    const size_t bytes = staging->encoded->bytes;
    lap_code code = lap_chunk_reserve(scan, bytes, err);
    if (code != LAP_OK)
        return code;
    code = lap_cuda_copy(slot->device, scan->data + scan->size, slot->scan, bytes, slot->stream, err);
    code = waited(slot, code, err);
    scan->size += code == LAP_OK ? bytes : 0;
    return code;
}

lap_code lap_device_slot_pixels(lap_device_slot *slot, const lap_view *host, lap_error *err)
{
    return waited(slot, lap_cuda_download(&slot->result, host, slot->stream, err), err);
}

lap_code lap_device_slot_times(lap_device_slot *slot, lap_times *times, lap_error *err)
{
    double *const to[] = {&times->upload, &times->decode, &times->filter, &times->encode, &times->download};
    lap_code code = LAP_OK;
    for (int i = 0; i < MARKS - 1 && code == LAP_OK && !slot->is_untimed; i++) {
        double ms;
        code = lap_cuda_event_ms(slot->device, slot->marks[i], slot->marks[i + 1], &ms, err);
        *to[i] += code == LAP_OK ? ms : 0;
    }
    return code;
}
