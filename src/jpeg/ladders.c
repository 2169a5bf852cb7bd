/* Both ladders of JPEG coders, for those who list them. */
#include "jpeg/decode_ladder.h"
#include "jpeg/encode_ladder.h"

static bool encoder_at(int i, lap_rung_info *info)
{
    const lap_coder *row = lap_encoder_row(i);
    if (row)
        *info = (lap_rung_info){
            .name = row->name, .what = row->what, .flags = row->flags, .reason = lap_encoder_missing(row)};
    return row != NULL;
}

static bool decoder_at(int i, lap_rung_info *info)
{
    const lap_decode_rung *row = lap_decode_row_at(i);
    if (row)
        *info = (lap_rung_info){.name = row->name,
            .what = row->what,
            .flags = row->stages ? row->stages->flags : NULL,
            .reason = lap_decode_missing(row)};
    return row != NULL;
}

bool lap_coder_at(lap_op op, int i, lap_rung_info *info)
{
    const bool is_there =
        op == LAP_OP_ENCODE ? encoder_at(i, info) : op == LAP_OP_DECODE && decoder_at(i, info);
    if (!is_there)
        return false;
    info->op = op;
    info->family = info->name;
    info->resolved = info->reason ? NULL : info->name;
    return true;
}
