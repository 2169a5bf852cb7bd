#include "device/device_staging.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/status.h"
#include "coding/jpeg_frame_read.h"
#include "cuda/device/device.h"
#include "rungs/run_views.h"

enum { MEMORIES = 4, PAGE = 4096, LARGE = 4 << 20 };

lap_code lap_device_staging_create(
    int device, lap_host_memory kind, size_t most, lap_device_staging **staging, lap_error *err)
{
    *staging = calloc(1, sizeof **staging);
    if (!*staging)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    (*staging)->device = device;
    (*staging)->kind = kind;
    (*staging)->most = most;
    return LAP_OK;
}

static lap_pinned *memory_of(lap_device_staging *s, int i)
{
    lap_pinned *const all[MEMORIES] = {&s->file, &s->tables, &s->scan, &s->verdicts};
    return all[i];
}

static void drop(const lap_device_staging *staging, lap_pinned *p)
{
    if (staging->kind == LAP_HOST_PINNED) {
        lap_cuda_pinned_free(p->bytes);
    } else {
        if (p->is_pinned)
            lap_cuda_unpin(p->bytes);
        free(p->bytes);
    }
    *p = (lap_pinned){0};
}

void lap_device_staging_destroy(lap_device_staging *staging)
{
    if (!staging)
        return;
    for (int i = 0; i < MEMORIES; i++)
        drop(staging, memory_of(staging, i));
    free(staging);
}

void lap_device_staging_abandon(lap_device_staging *staging)
{
    for (int i = 0; i < MEMORIES; i++) /* only memory that was never pinned */
        if (staging->kind != LAP_HOST_PINNED && !memory_of(staging, i)->is_pinned)
            free(memory_of(staging, i)->bytes);
    free(staging);
}

static size_t bytes_of(const lap_device_staging *staging)
{
    return staging->file.room + staging->tables.room + staging->scan.room + staging->verdicts.room;
}

/* Allocates whole pages and touches each, so that the kernel provides and clears them now, on this thread,
 * and not while CUDA pins them. */
static void *make_pages(size_t room)
{
    void *memory = NULL;
    if (room >= LARGE)
        memory = lap_pages_alloc(room);
    else if (posix_memalign(&memory, PAGE, room) != 0)
        memory = NULL;
    for (size_t i = 0; memory && i < room; i += PAGE)
        ((uint8_t *)memory)[i] = 0;
    return memory;
}

/* Grows to an eighth more than requested: the next photo may be a little larger, and pinning takes longer
 * than processing a photo. */
static lap_code grow(lap_device_staging *staging, lap_pinned *pinned, size_t bytes, lap_error *err)
{
    size_t room;
    if (bytes <= pinned->room)
        return LAP_OK;
    const size_t others = bytes_of(staging) - pinned->room;
    if (!lap_add(bytes, bytes / 8 + PAGE, &room) ||
        (staging->most && (room > staging->most || others > staging->most - room))) {
        staging->is_short = true;
        return lap_fail(err, LAP_E_LIMIT, "more pinned memory than the limit");
    }
    room = room / PAGE * PAGE;
    drop(staging, pinned);
    void *memory = NULL;
    lap_code code = LAP_OK;
    if (staging->kind == LAP_HOST_PINNED)
        code = lap_cuda_pinned_alloc(staging->device, room, &memory, err);
    else if (!(memory = make_pages(room)))
        code = lap_fail(err, LAP_E_MEMORY, "out of memory: %zu bytes", room);
    if (code == LAP_OK)
        *pinned = (lap_pinned){memory, room, false};
    return code;
}

lap_code lap_device_staging_file(lap_device_staging *staging, size_t bytes, lap_error *err)
{
    staging->is_short = false;
    const lap_code code = grow(staging, &staging->file, bytes, err);
    staging->bytes = staging->file.bytes;
    return code;
}

lap_code lap_device_staging_copy(lap_device_staging *staging, const void *file, size_t size, lap_error *err)
{
    const lap_code code = lap_device_staging_file(staging, size, err);
    if (code == LAP_OK && staging->file.bytes)
        memcpy(staging->file.bytes, file, size);
    return code;
}

void lap_device_staging_lend(lap_device_staging *staging, const uint8_t *bytes, size_t size)
{
    staging->bytes = bytes;
    staging->file_bytes = size;
}

lap_code lap_device_staging_pin(lap_device_staging *staging, lap_error *err)
{
    lap_code code = LAP_OK;
    for (int i = 0; i < MEMORIES && staging->kind == LAP_HOST_PINS && code == LAP_OK; i++) {
        lap_pinned *p = memory_of(staging, i);
        if (p->bytes && !p->is_pinned)
            code = lap_cuda_pin(staging->device, p->bytes, p->room, err);
        p->is_pinned = p->bytes && code == LAP_OK;
    }
    return code;
}

bool lap_device_staging_is_pinned(const lap_device_staging *s)
{
    return s->kind != LAP_HOST_PINS ||
           (s->file.is_pinned && s->tables.is_pinned && s->verdicts.is_pinned &&
               (!s->scan.bytes || s->scan.is_pinned)); /* a photo that is only measured has no scan */
}

bool lap_device_staging_go_together(const lap_device_staging *a, const lap_device_staging *b)
{
    return a->kind != LAP_HOST_PAGED && b->kind == a->kind && !a->pixels.base && !b->pixels.base &&
           a->is_decoded == b->is_decoded && a->is_filtered == b->is_filtered &&
           a->is_encoded == b->is_encoded && a->is_counted == b->is_counted;
}

/* Plans the encoder to match the header that the CPU writes. */
static bool plan_encode(lap_device_staging *staging, const lap_device_wish *wish)
{
    const lap_jpeg_head *head = wish->head;
    lap_cuda_jpeg_target target = {.width = staging->width,
        .height = staging->height,
        .channels = staging->channels,
        .restart_interval = head->interval};
    for (int c = 0; c < 3; c++) {
        target.sample_h[c] = c < head->components ? head->h[c] : 1;
        target.sample_v[c] = c < head->components ? head->v[c] : 1;
    }
    memcpy(target.quant, head->quant, sizeof target.quant);
    return (head->components == 1) == (staging->channels == 1) &&
           lap_cuda_jpeg_encode_plan_make(&target, wish->capacity, &staging->encode);
}

static bool plan_decode(lap_device_staging *staging, const lap_device_wish *wish)
{
    const size_t size = staging->file_bytes;
    lap_jpeg_frame *read = malloc(sizeof *read);
    const bool takes =
        read && lap_jpeg_frame_read(staging->bytes, size, read) && read->scan_begin < size &&
        lap_cuda_jpeg_decode_plan(read, wish->gray, size - (size_t)read->scan_begin, NULL, &staging->decode);
    free(read);
    if (!takes)
        return false;
    const lap_jpeg_frame *frame = &staging->decode.frame;
    staging->turn = wish->turn ? wish->turn : LAP_TURN_NONE;
    const bool swap = lap_turn_transposes(staging->turn);
    staging->width = swap ? frame->height : frame->width;
    staging->height = swap ? frame->width : frame->height;
    staging->channels = staging->decode.channels;
    return true;
}

/* Returns the caller's view for an output if the device can write to it directly. Otherwise the output goes
 * to the slot's memory, and is copied to the caller's view at the end. */
static lap_view output_in(lap_device_staging *staging, const lap_view *wished, bool is_last)
{
    if (!wished)
        return (lap_view){0};
    if (!is_last || lap_view_is_aligned(wished))
        return *wished;
    staging->copy = *wished;
    return (lap_view){0};
}

/* Plans without a file if pixels are given, on the host or on the device. */
static bool make_plans(lap_device_staging *staging, const lap_device_wish *wish)
{
    const lap_view *there = wish->pixels ? wish->pixels : wish->source || wish->filters ? NULL : wish->result;
    staging->pixels = wish->pixels ? *wish->pixels : (lap_view){0};
    staging->copy = (lap_view){0};
    staging->source = output_in(staging, wish->source, !wish->filters);
    staging->result = output_in(staging, wish->result, wish->filters);
    staging->is_decoded = !there;
    staging->is_filtered = wish->filters;
    staging->is_counted = wish->counts;
    staging->decode = (lap_cuda_jpeg_plan){0};
    staging->encode = (lap_cuda_jpeg_encode_plan){0};
    if (there) {
        staging->turn = LAP_TURN_NONE;
        staging->width = there->width;
        staging->height = there->height;
        staging->channels = there->channels;
    } else if (!plan_decode(staging, wish)) {
        return false;
    }
    staging->is_encoded = wish->head && plan_encode(staging, wish);
    return true;
}

/* Makes room for the device's verdicts, and fills it with 0xFF, which detects a device that reports success
 * but writes nothing. */
static lap_code clear_verdicts(lap_device_staging *staging, lap_error *err)
{
    const size_t decoded = (sizeof *staging->decoded + 63) / 64 * 64;
    const size_t encoded = (sizeof *staging->encoded + 63) / 64 * 64;
    const size_t bytes = decoded + encoded + sizeof *staging->counts;
    lap_code code = grow(staging, &staging->verdicts, bytes, err);
    if (code != LAP_OK)
        return code;
    uint8_t *at = staging->verdicts.bytes;
    if (!at) /* grow never leaves it NULL; this check is for the static analyzer */
        return lap_fail(err, LAP_E_INTERNAL, "no room for verdicts");
    memset(at, 0xFF, bytes);
    staging->decoded = (lap_cuda_jpeg_result *)(void *)at;
    staging->encoded = (lap_cuda_jpeg_encoded *)(void *)(at + decoded);
    staging->counts = (lap_photo_counts *)(void *)(at + decoded + encoded);
    return LAP_OK;
}

lap_code lap_device_staging_plan(
    lap_device_staging *staging, const lap_device_wish *wish, bool *handled, lap_error *err)
{
    *handled = make_plans(staging, wish) && staging->width == wish->width &&
               staging->height == wish->height && staging->channels == wish->channels;
    if (!*handled)
        return LAP_OK;
    const size_t room = staging->tables.room; /* memory that grows may get the same address again */
    lap_code code = grow(staging, &staging->tables, staging->decode.staging_bytes, err);
    staging->is_staged = staging->is_staged && room == staging->tables.room;
    if (code == LAP_OK && staging->kind != LAP_HOST_PAGED)
        code = grow(staging, &staging->scan, staging->encode.capacity, err);
    if (code == LAP_OK)
        code = clear_verdicts(staging, err);
    if (code != LAP_OK || !staging->is_decoded)
        return code;
    lap_cuda_jpeg_decode_stage_tables(&staging->decode, staging->tables.bytes, staging->is_staged);
    staging->is_staged = true;
    return LAP_OK;
}

/* Whether each channel's counts add up to the number of pixels. */
static bool counts_add_up(const lap_device_staging *staging)
{
    const uint64_t pixels = (uint64_t)staging->width * (uint64_t)staging->height;
    bool good = true;
    for (int c = 0; c < staging->channels; c++) {
        uint64_t source = 0, result = 0;
        for (int v = 0; v < 256; v++) {
            source += staging->counts->source[c][v];
            result += staging->counts->result[c][v];
        }
        good = good && source == pixels && result == pixels;
    }
    return good;
}

bool lap_device_staging_has_source(const lap_device_staging *staging)
{
    return (!staging->is_decoded || lap_cuda_jpeg_odd(staging->decoded) == 0) &&
           (!staging->is_counted || counts_add_up(staging));
}

bool lap_device_staging_has_scan(const lap_device_staging *staging)
{
    return staging->is_encoded && !staging->encoded->overflow &&
           staging->encoded->bytes <= staging->encode.capacity;
}

bool lap_device_staging_is_done(const lap_device_staging *staging)
{
    return lap_device_staging_has_source(staging) &&
           (!staging->is_encoded || lap_device_staging_has_scan(staging));
}
