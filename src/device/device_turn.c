#include "device/device_turn.h"

#include "cuda/device/queue.h"
#include "rungs/backend.h"

bool lap_device_stored_bytes(int width, int height, int channels, lap_turn turn, size_t *bytes)
{
    const bool swap = lap_turn_transposes(turn);
    return lap_cuda_view_bytes(swap ? height : width, swap ? width : height, channels, 0, bytes);
}

lap_view lap_device_stored_in(int device, void *memory, int width, int height, int channels, lap_turn turn)
{
    const bool swap = lap_turn_transposes(turn);
    return lap_cuda_view_in(device, memory, swap ? height : width, swap ? width : height, channels, 0);
}

lap_code lap_device_turn(
    const lap_view *stored, const lap_view *turned, lap_turn turn, void *stream, lap_error *err)
{
    const lap_exec exec = {.threads = 1, .stream = stream, .err = err};
    const lap_turn_parts parts = lap_turn_parts_of(turn);
    const lap_rung *rung;
    lap_view from = *stored, to = *turned;
    lap_turn_views(turn, &from, &to);
    if (!parts.transpose)
        return lap_cuda_mirror(&from, &to, parts.left_right, stream, err);
    lap_code code = lap_rung_find_on_device(LAP_OP_TRANSPOSE, NULL, stored->place, &rung, err);
    return code == LAP_OK ? rung->run.transpose(&from, &to, &exec) : code;
}
