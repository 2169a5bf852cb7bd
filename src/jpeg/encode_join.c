#include "jpeg/encode_join.h"

#include <string.h>

enum {
    MAX_ROWS = 16,
    MAX_CHANNELS = 4,
    PIECE = 128 * 1024, /* bytes joined by one call */
    UNIT_BYTES = LAP_ENCODE_UNIT_BLOCKS * LAP_ENCODE_BLOCK_BYTES + LAP_ENCODE_SLACK /* at most */
};

typedef struct band_head { /* begins a chunk; the band's bytes follow */
    lap_encode_state end;  /* DC values of the last blocks, and the bits after the last whole byte */
    int rows;              /* rows of pixels in the first unit */
    uint8_t pixels[MAX_ROWS][LAP_ENCODE_UNIT * MAX_CHANNELS];
} band_head;

/* Copies the pixels of the first unit; it has fewer rows at the bottom of the picture. */
static void copy_pixels(const lap_encode_plan *plan, const lap_view *rows, band_head *head)
{
    const int high = 8 * plan->v, width = plan->width < LAP_ENCODE_UNIT ? plan->width : LAP_ENCODE_UNIT;
    head->rows = rows->height < high ? rows->height : high;
    for (int y = 0; y < head->rows; y++)
        memcpy(head->pixels[y], rows->base + y * rows->stride, (size_t)width * (size_t)plan->channels);
}

/* The caller has set encoder->state.work. */
static size_t encode_first(lap_band_encoder *encoder, const band_head *head, uint8_t *out)
{
    const lap_encode_plan *plan = encoder->plan;
    const int unit = lap_encode_unit_mcus(plan);
    const lap_encode_rows rows = {
        .base = head->pixels[0], .stride = sizeof head->pixels[0], .count = head->rows};
    return encoder->run(plan, &encoder->state, &rows, 0, plan->mcus < unit ? plan->mcus : unit, out);
}

lap_code lap_band_apart_begin(
    lap_band_encoder *encoder, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    _Alignas(LAP_ENCODE_ALIGNMENT) uint8_t room[LAP_ENCODE_WORK];
    uint8_t unused[UNIT_BYTES];
    const lap_code code = lap_chunk_reserve(chunk, sizeof(band_head), err);
    if (code != LAP_OK)
        return code;
    band_head *head = (band_head *)chunk->data;
    copy_pixels(encoder->plan, rows, head);
    /* Encodes the unit only to get the DC values of its last blocks, which do not depend on the band
     * above. */
    encoder->state.work = room;
    encode_first(encoder, head, unused);
    encoder->state.work = NULL;
    encoder->state.bits = encoder->state.bit_count = 0;
    encoder->state.is_raw = true;
    encoder->first = lap_encode_unit_mcus(encoder->plan);
    chunk->size = sizeof *head;
    return LAP_OK;
}

void lap_band_apart_end(const lap_band_encoder *encoder, lap_chunk *chunk)
{
    ((band_head *)chunk->data)->end = encoder->state;
}

/* Appends the bits after the band's last whole byte. Returns how many bytes were written. */
static size_t join_rest(lap_encode_state *state, const lap_encode_state *end, uint8_t *out)
{
    const unsigned bits = state->bits << end->bit_count | end->bits;
    const unsigned count = state->bit_count + end->bit_count, left = count % 8;
    state->bits = bits & ((1u << left) - 1);
    state->bit_count = left;
    if (count < 8)
        return 0;
    out[0] = (uint8_t)(bits >> left);
    out[1] = 0; /* stuffing; used only after 0xFF */
    return out[0] == 0xFF ? 2 : 1;
}

lap_code lap_band_join(
    lap_band_encoder *encoder, const lap_chunk *apart, size_t *at, lap_chunk *bytes, lap_error *err)
{
    const band_head *head = (const band_head *)apart->data;
    const bool is_first = *at == 0;
    const size_t begin = is_first ? sizeof *head : *at, left = apart->size - begin;
    const size_t count = left < PIECE ? left : PIECE;
    const lap_code code = lap_chunk_reserve(bytes, 2 * count + UNIT_BYTES, err);
    if (code != LAP_OK)
        return code;
    _Alignas(LAP_ENCODE_ALIGNMENT) uint8_t room[LAP_ENCODE_WORK];
    lap_encode_state *state = &encoder->state;
    state->work = room;
    if (is_first)
        bytes->size += encode_first(encoder, head, bytes->data + bytes->size);
    bytes->size += encoder->join(state, apart->data + begin, count, bytes->data + bytes->size);
    state->work = NULL;
    *at = begin + count;
    if (*at == apart->size) {
        bytes->size += join_rest(state, &head->end, bytes->data + bytes->size);
        memcpy(state->dc, head->end.dc, sizeof state->dc);
    }
    return LAP_OK;
}
