#include "device/device_staging.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cuda/device/device.h"
#include "device/device_target.h"
#include "jpeg/jpeg_frame_read.h"

lap_code lap_device_staging_create(int device, size_t most, lap_device_staging **staging, lap_error *err)
{
    *staging = calloc(1, sizeof **staging);
    if (!*staging)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    (*staging)->device = device;
    (*staging)->most = most;
    return LAP_OK;
}

void lap_device_staging_destroy(lap_device_staging *staging)
{
    if (!staging)
        return;
    lap_cuda_pinned_free(staging->file.bytes);
    lap_cuda_pinned_free(staging->tables.bytes);
    lap_cuda_pinned_free(staging->scan.bytes);
    lap_cuda_pinned_free(staging->verdicts.bytes);
    free(staging);
}

void lap_device_staging_abandon(lap_device_staging *staging)
{
    free(staging);
}

size_t lap_device_staging_bytes(const lap_device_staging *staging)
{
    return staging->file.room + staging->tables.room + staging->scan.room + staging->verdicts.room;
}

/* Pinning takes longer than a photo: an eighth more, so that the next one fits that is a little larger. */
static lap_code grow(lap_device_staging *staging, lap_pinned *pinned, size_t bytes, lap_error *err)
{
    size_t room;
    if (bytes <= pinned->room)
        return LAP_OK;
    const size_t others = lap_device_staging_bytes(staging) - pinned->room;
    if (!lap_add(bytes, bytes / 8 + 4096, &room) ||
        (staging->most && (room > staging->most || others > staging->most - room)))
        return lap_fail(err, LAP_E_LIMIT, "more pinned memory than it may take");
    lap_cuda_pinned_free(pinned->bytes);
    *pinned = (lap_pinned){0};
    void *memory;
    lap_code code = lap_cuda_pinned_alloc(staging->device, room, &memory, err);
    if (code == LAP_OK)
        *pinned = (lap_pinned){memory, room};
    return code;
}

lap_code lap_device_staging_file(lap_device_staging *staging, size_t bytes, lap_error *err)
{
    return grow(staging, &staging->file, bytes, err);
}

static bool make_plans(lap_device_staging *staging, bool gray, lap_turn turn, const lap_jpeg_parts *parts)
{
    lap_jpeg_frame *frame = &staging->decode.frame;
    const size_t size = staging->file_bytes;
    lap_jpeg_frame *read = malloc(sizeof *read);
    const bool mine =
        read && lap_jpeg_frame_read(staging->file.bytes, size, read) && read->scan_begin < size &&
        lap_cuda_jpeg_decode_plan(read, gray, size - (size_t)read->scan_begin, NULL, &staging->decode);
    free(read);
    if (!mine)
        return false;
    const bool swap = lap_turn_transposes(turn);
    staging->turn = turn;
    staging->width = swap ? frame->height : frame->width;
    staging->height = swap ? frame->width : frame->height;
    staging->channels = staging->decode.channels;
    const lap_cuda_jpeg_target target =
        lap_device_target(staging->width, staging->height, staging->channels, parts);
    return (parts->components == 1) == (staging->channels == 1) &&
           lap_cuda_jpeg_encode_plan_make(&target, 0, &staging->encode);
}

lap_code lap_device_staging_plan(lap_device_staging *staging, bool gray, lap_turn turn,
    const lap_jpeg_parts *parts, bool *mine, lap_error *err)
{
    const size_t head = (sizeof *staging->decoded + 63) / 64 * 64;
    *mine = make_plans(staging, gray, turn, parts);
    if (!*mine)
        return LAP_OK;
    const uint8_t *tables = staging->tables.bytes;
    lap_code code = grow(staging, &staging->tables, staging->decode.staging_bytes, err);
    if (code == LAP_OK)
        code = grow(staging, &staging->scan, staging->encode.capacity, err);
    if (code == LAP_OK)
        code = grow(staging, &staging->verdicts, head + sizeof *staging->encoded, err);
    if (code != LAP_OK)
        return code;
    staging->decoded = (lap_cuda_jpeg_result *)(void *)staging->verdicts.bytes;
    staging->encoded = (lap_cuda_jpeg_encoded *)(void *)(staging->verdicts.bytes + head);
    /* A device that reports success and does nothing is found out. */
    memset(staging->verdicts.bytes, 0xFF, head + sizeof *staging->encoded);
    staging->is_staged = staging->is_staged && tables == staging->tables.bytes;
    lap_cuda_jpeg_decode_stage_tables(&staging->decode, staging->tables.bytes, staging->is_staged);
    staging->is_staged = true;
    return LAP_OK;
}

bool lap_device_staging_scan(const lap_device_staging *staging, const uint8_t **scan, size_t *bytes)
{
    *scan = staging->scan.bytes;
    *bytes = staging->encoded->bytes;
    return lap_cuda_jpeg_odd(staging->decoded) == 0 && !staging->encoded->overflow &&
           *bytes <= staging->encode.capacity;
}
