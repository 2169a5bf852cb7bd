#include "jpeg/encode_band.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

enum { WORK_ALIGNMENT = 64 };

lap_code lap_band_encoder_open(
    const lap_encode_plan *plan, lap_encode_fn *run, lap_band_encoder *encoder, lap_error *err)
{
    *encoder = (lap_band_encoder){.plan = plan, .run = run};
    /* aligned_alloc for each photo of a folder leaves the heap in pieces: ten megabytes after 10,000 photos.
     */
    encoder->memory = malloc(LAP_ENCODE_WORK + WORK_ALIGNMENT);
    if (!encoder->memory)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the JPEG encoder");
    const uintptr_t at = (uintptr_t)encoder->memory;
    encoder->state.work = (uint8_t *)encoder->memory + (WORK_ALIGNMENT - at % WORK_ALIGNMENT);
    return LAP_OK;
}

void lap_band_encoder_close(lap_band_encoder *encoder)
{
    free(encoder->memory);
    encoder->memory = NULL;
}

void lap_band_encoder_restart(lap_band_encoder *encoder)
{
    encoder->state = (lap_encode_state){.work = encoder->state.work};
}

static lap_code encode_mcu_row(
    lap_band_encoder *encoder, const lap_encode_rows *rows, lap_chunk *chunk, lap_error *err)
{
    const lap_encode_plan *plan = encoder->plan;
    const int unit = lap_encode_unit_mcus(plan);
    const size_t room = (size_t)(unit * plan->mcu_blocks * LAP_ENCODE_BLOCK_BYTES) + LAP_ENCODE_SLACK;
    for (int first = 0; first < plan->mcus; first += unit) {
        const int left = plan->mcus - first;
        const lap_code code = lap_chunk_reserve(chunk, room, err);
        if (code != LAP_OK)
            return code;
        chunk->size += encoder->run(
            plan, &encoder->state, rows, first, left < unit ? left : unit, chunk->data + chunk->size);
    }
    return LAP_OK;
}

lap_code lap_band_encode(lap_band_encoder *encoder, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    const int high = 8 * encoder->plan->v;
    lap_code code = LAP_OK;
    for (int y = 0; y < rows->height && code == LAP_OK; y += high) {
        const lap_encode_rows mcus = {.base = rows->base + (ptrdiff_t)y * rows->stride,
            .stride = rows->stride,
            .count = rows->height - y < high ? rows->height - y : high};
        code = lap_control_check(encoder->control, err);
        if (code == LAP_OK)
            code = encode_mcu_row(encoder, &mcus, chunk, err);
    }
    return code;
}

lap_code lap_band_encoder_finish(lap_band_encoder *encoder, lap_chunk *chunk, lap_error *err)
{
    const lap_code code = lap_chunk_reserve(chunk, LAP_ENCODE_FINISH, err);
    if (code == LAP_OK)
        chunk->size += lap_encode_finish(&encoder->state, chunk->data + chunk->size);
    return code;
}
