#include "jpeg/encode_band.h"

void lap_band_encoder_restart(lap_band_encoder *encoder)
{
    encoder->state = (lap_encode_state){0};
    encoder->first = 0;
}

static lap_code encode_mcu_row(
    lap_band_encoder *encoder, const lap_encode_rows *rows, lap_chunk *chunk, lap_error *err)
{
    const lap_encode_plan *plan = encoder->plan;
    const int unit = lap_encode_unit_mcus(plan);
    const size_t room = (size_t)(unit * plan->mcu_blocks * LAP_ENCODE_BLOCK_BYTES) + LAP_ENCODE_SLACK;
    for (int first = encoder->first; first < plan->mcus; first += unit) {
        const int left = plan->mcus - first;
        const lap_code code = lap_chunk_reserve(chunk, room, err);
        if (code != LAP_OK)
            return code;
        chunk->size += encoder->run(
            plan, &encoder->state, rows, first, left < unit ? left : unit, chunk->data + chunk->size);
    }
    encoder->first = 0;
    return LAP_OK;
}

lap_code lap_band_encode(lap_band_encoder *encoder, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    /* On the stack, because page faults on fresh heap memory take a fifth of the time of a small picture. */
    _Alignas(LAP_ENCODE_ALIGNMENT) uint8_t room[LAP_ENCODE_WORK];
    const int high = 8 * encoder->plan->v;
    lap_code code = LAP_OK;
    encoder->state.work = room;
    for (int y = 0; y < rows->height && code == LAP_OK; y += high) {
        const lap_encode_rows mcus = {.base = rows->base + (ptrdiff_t)y * rows->stride,
            .stride = rows->stride,
            .count = rows->height - y < high ? rows->height - y : high};
        code = lap_control_check(encoder->control, err);
        if (code == LAP_OK)
            code = encode_mcu_row(encoder, &mcus, chunk, err);
    }
    encoder->state.work = NULL;
    return code;
}

lap_code lap_band_encoder_finish(lap_band_encoder *encoder, lap_chunk *chunk, lap_error *err)
{
    const lap_code code = lap_chunk_reserve(chunk, LAP_ENCODE_FINISH, err);
    if (code == LAP_OK)
        chunk->size += lap_encode_finish(&encoder->state, chunk->data + chunk->size);
    return code;
}
