/* A whole image by parts, each thread some of its rows. */
#include "base/image.h"
#include "codec/codec.h"

/* Rows of a part: few enough that threads which come late find some left. */
enum { PARTS_PER_THREAD = 2, MIN_ROWS = 64, MCU_ROWS = 16 };

typedef struct task {
    lap_decoder *decoder;
    const lap_view *image;
} task;

static lap_code decode_part(void *argument, const lap_piece *piece, lap_error *err)
{
    const task *t = argument;
    lap_part *part;
    lap_code code = lap_control_check(t->decoder->options.control, err);
    if (code != LAP_OK)
        return code;
    lap_view rows = lap_view_rows(t->image, (int)piece->first, (int)piece->n);
    code = lap_part_open(t->decoder, (int)piece->first, (int)(piece->first + piece->n), &part, err);
    if (code == LAP_OK)
        code = lap_part_rows(part, &rows, err);
    lap_part_close(part);
    return code;
}

static lap_code by_parts(lap_decoder *decoder, const lap_view *image, lap_error *err)
{
    task t = {.decoder = decoder, .image = image};
    int threads = decoder->options.threads > 1 ? decoder->options.threads : 1;
    int rows = (image->height - 1) / (threads * PARTS_PER_THREAD) + 1;
    rows = rows < MIN_ROWS ? MIN_ROWS : (rows + MCU_ROWS - 1) / MCU_ROWS * MCU_ROWS;
    return lap_pool_for(
        decoder->options.pool, threads, (size_t)image->height, (size_t)rows, decode_part, &t, err);
}

lap_code lap_decoder_image(lap_decoder *decoder, const lap_view *image, lap_damage *damage, lap_error *err)
{
    lap_code code = LAP_OK;
    if (lap_decoder_has_parts(decoder)) {
        code = by_parts(decoder, image, err);
        if (code != LAP_OK && lap_decoder_disagrees(decoder)) {
            lap_decoder_without_parts(decoder);
            code = LAP_OK;
        }
    }
    if (code == LAP_OK && !lap_decoder_has_parts(decoder))
        code = lap_decoder_rows(decoder, image, err);
    return code == LAP_OK ? lap_decoder_finish(decoder, damage, err) : code;
}
