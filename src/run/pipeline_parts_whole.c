/* A whole image by parts, turned on its way. */
#include "base/status.h"
#include "ops/orient.h"
#include "run/pipeline_parts.h"

/* Rows of a part, and those that are turned while they are in the cache. */
enum { PART_ROWS = 256, STRIP_ROWS = 64 };

/* Rows y .. y + strip->height - 1 of the input to their place. */
static lap_code place_rows(lap_pipeline *pipe, lap_part *part, const lap_view *strip, int y, lap_error *err)
{
    const lap_view *whole = &pipe->whole.view;
    const int height = lap_decoder_header(pipe->decoder)->height;
    if (lap_turn_reorders(pipe->turn)) {
        lap_view place = lap_orient_place(whole, pipe->turn, height, y, y + strip->height);
        lap_code code = lap_part_rows(part, strip, err);
        return code == LAP_OK ? lap_orient(strip, &place, pipe->turn, NULL, err) : code;
    }
    lap_view rows = lap_view_rows(whole, y, strip->height);
    lap_code code = lap_part_rows(part, &rows, err);
    if (code == LAP_OK && pipe->turn == LAP_TURN_H)
        lap_orient_mirror(&rows);
    return code;
}

static lap_code collect_part(void *argument, const lap_piece *piece, lap_error *err)
{
    lap_pipeline *pipe = argument;
    const lap_header *header = lap_decoder_header(pipe->decoder);
    const int y0 = (int)piece->first, y1 = (int)(piece->first + piece->n);
    const double start = lap_now_ms();
    lap_part *part = NULL;
    lap_image image = {.view = {.width = header->width}};
    lap_code code = lap_control_check(pipe->control, err);
    if (code == LAP_OK && lap_turn_reorders(pipe->turn))
        code = lap_image_create(&image, header->width, STRIP_ROWS, pipe->channels, 0, err);
    if (code == LAP_OK)
        code = lap_part_open(pipe->decoder, y0, y1, &part, err);
    for (int y = y0; y < y1 && code == LAP_OK; y += STRIP_ROWS) {
        lap_view strip = image.view;
        strip.height = y1 - y < STRIP_ROWS ? y1 - y : STRIP_ROWS;
        code = place_rows(pipe, part, &strip, y, err);
    }
    lap_part_close(part);
    lap_image_destroy(&image);
    pthread_mutex_lock(&pipe->lock);
    pipe->ms.decode += lap_now_ms() - start;
    pthread_mutex_unlock(&pipe->lock);
    return code;
}

lap_code lap_pipeline_collect_parts(lap_pipeline *pipe, lap_error *err)
{
    const int height = lap_decoder_header(pipe->decoder)->height;
    return lap_pool_for(
        pipe->pool, pipe->threads, (size_t)height, (size_t)PART_ROWS, collect_part, pipe, err);
}
