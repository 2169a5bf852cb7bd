/* Parts of an image: what all formats that have them share. */
#include <stdlib.h>

#include "base/status.h"
#include "codec/codec.h"

bool lap_decoder_has_parts(const lap_decoder *decoder)
{
    return decoder->has_parts;
}

bool lap_decoder_disagrees(const lap_decoder *decoder)
{
    return atomic_load(&decoder->disagrees);
}

void lap_decoder_without_parts(lap_decoder *decoder)
{
    decoder->has_parts = false;
    decoder->header.memory_estimate -= decoder->held;
    decoder->held = 0;
    atomic_store(&decoder->disagrees, false);
}

lap_code lap_part_open(lap_decoder *decoder, int y0, int y1, lap_part **part, lap_error *err)
{
    *part = NULL;
    if (!decoder->has_parts || y0 < 0 || y1 <= y0 || y1 > decoder->header.height)
        return lap_fail(err, LAP_E_INTERNAL, "%s: a part asked for that the image does not have",
            lap_source_name(decoder->source));
    lap_part *p = calloc(1, sizeof *p);
    if (!p)
        return lap_fail(err, LAP_E_MEMORY, "%s: out of memory", lap_source_name(decoder->source));
    *p = (lap_part){.decoder = decoder, .y0 = y0, .y1 = y1, .next_row = y0};
    lap_code code = decoder->ops->part_open(p, err);
    if (code != LAP_OK) {
        lap_part_close(p);
        return code;
    }
    *part = p;
    return LAP_OK;
}

lap_code lap_part_rows(lap_part *part, const lap_view *rows, lap_error *err)
{
    const lap_header *header = &part->decoder->header;
    if (rows->width != header->width || rows->channels != header->channels || rows->place != LAP_ON_HOST ||
        rows->height < 0 || rows->height > part->y1 - part->next_row)
        return lap_fail(err, LAP_E_INTERNAL, "%s: rows asked for that the part does not have",
            lap_source_name(part->decoder->source));
    lap_code code = part->decoder->ops->part_rows(part, rows, err);
    if (code == LAP_OK)
        part->next_row += rows->height;
    return code;
}

void lap_part_close(lap_part *part)
{
    if (!part)
        return;
    part->decoder->ops->part_close(part);
    free(part);
}
