#include "device/device_cargo.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cuda/device/device.h"
#include "device/device_target.h"
#include "jpeg/jpeg_frame_read.h"

lap_code lap_device_cargo_create(int device, size_t most, lap_device_cargo **cargo, lap_error *err)
{
    *cargo = calloc(1, sizeof **cargo);
    if (!*cargo)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    (*cargo)->device = device;
    (*cargo)->most = most;
    return LAP_OK;
}

void lap_device_cargo_destroy(lap_device_cargo *cargo)
{
    if (!cargo)
        return;
    lap_cuda_pinned_free(cargo->file.bytes);
    lap_cuda_pinned_free(cargo->staging.bytes);
    lap_cuda_pinned_free(cargo->scan.bytes);
    lap_cuda_pinned_free(cargo->verdicts.bytes);
    free(cargo);
}

void lap_device_cargo_abandon(lap_device_cargo *cargo)
{
    free(cargo);
}

size_t lap_device_cargo_bytes(const lap_device_cargo *cargo)
{
    return cargo->file.room + cargo->staging.room + cargo->scan.room + cargo->verdicts.room;
}

/* Pinning takes longer than a photo: an eighth more, so that the next one fits that is a little larger. */
static lap_code grow(lap_device_cargo *cargo, lap_pinned *pinned, size_t bytes, lap_error *err)
{
    size_t room;
    if (bytes <= pinned->room)
        return LAP_OK;
    const size_t others = lap_device_cargo_bytes(cargo) - pinned->room;
    if (!lap_add(bytes, bytes / 8 + 4096, &room) ||
        (cargo->most && (room > cargo->most || others > cargo->most - room)))
        return lap_fail(err, LAP_E_LIMIT, "more pinned memory than it may take");
    lap_cuda_pinned_free(pinned->bytes);
    *pinned = (lap_pinned){0};
    void *memory;
    lap_code code = lap_cuda_pinned_alloc(cargo->device, room, &memory, err);
    if (code == LAP_OK)
        *pinned = (lap_pinned){memory, room};
    return code;
}

lap_code lap_device_cargo_file(lap_device_cargo *cargo, size_t bytes, lap_error *err)
{
    return grow(cargo, &cargo->file, bytes, err);
}

static bool make_plans(lap_device_cargo *cargo, bool gray, const lap_jpeg_parts *parts)
{
    lap_jpeg_frame *frame = &cargo->decode.frame;
    const size_t size = cargo->file_bytes;
    lap_jpeg_frame *read = malloc(sizeof *read);
    const bool mine =
        read && lap_jpeg_frame_read(cargo->file.bytes, size, read) && read->scan_begin < size &&
        lap_cuda_jpeg_decode_plan(read, gray, size - (size_t)read->scan_begin, NULL, &cargo->decode);
    free(read);
    if (!mine)
        return false;
    cargo->width = frame->width;
    cargo->height = frame->height;
    cargo->channels = cargo->decode.channels;
    const lap_cuda_jpeg_target target =
        lap_device_target(cargo->width, cargo->height, cargo->channels, parts);
    return (parts->components == 1) == (cargo->channels == 1) &&
           lap_cuda_jpeg_encode_plan_make(&target, 0, &cargo->encode);
}

lap_code lap_device_cargo_plan(
    lap_device_cargo *cargo, bool gray, const lap_jpeg_parts *parts, bool *mine, lap_error *err)
{
    const size_t head = (sizeof *cargo->decoded + 63) / 64 * 64;
    *mine = make_plans(cargo, gray, parts);
    if (!*mine)
        return LAP_OK;
    const uint8_t *staging = cargo->staging.bytes;
    lap_code code = grow(cargo, &cargo->staging, cargo->decode.staging_bytes, err);
    if (code == LAP_OK)
        code = grow(cargo, &cargo->scan, cargo->encode.capacity, err);
    if (code == LAP_OK)
        code = grow(cargo, &cargo->verdicts, head + sizeof *cargo->encoded, err);
    if (code != LAP_OK)
        return code;
    cargo->decoded = (lap_cuda_jpeg_result *)(void *)cargo->verdicts.bytes;
    cargo->encoded = (lap_cuda_jpeg_encoded *)(void *)(cargo->verdicts.bytes + head);
    /* A device that reports success and does nothing is found out. */
    memset(cargo->verdicts.bytes, 0xFF, head + sizeof *cargo->encoded);
    cargo->is_staged = cargo->is_staged && staging == cargo->staging.bytes;
    lap_cuda_jpeg_decode_stage_tables(&cargo->decode, cargo->staging.bytes, cargo->is_staged);
    cargo->is_staged = true;
    return LAP_OK;
}

bool lap_device_cargo_scan(const lap_device_cargo *cargo, const uint8_t **scan, size_t *bytes)
{
    *scan = cargo->scan.bytes;
    *bytes = cargo->encoded->bytes;
    return lap_cuda_jpeg_odd(cargo->decoded) == 0 && !cargo->encoded->overflow &&
           *bytes <= cargo->encode.capacity;
}
