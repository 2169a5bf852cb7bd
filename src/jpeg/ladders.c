#include "jpeg/ladders.h"

#include "base/status.h"

const char *lap_coder_always(void)
{
    return NULL;
}

const lap_coder *lap_coders_row(const lap_coders *ladder, int i)
{
    return i >= 0 && i < ladder->count ? &ladder->rows[i] : NULL;
}

const char *lap_coders_missing(const lap_coders *ladder, const lap_coder *coder)
{
    const char *reason = coder->available();
    return reason || !(coder->run || coder->stages) ? reason : ladder->differs();
}

static const lap_coder *fastest(const lap_coders *ladder)
{
    for (int i = ladder->count - 1; i > 0; i--)
        if (ladder->rows[i].codec != LAP_CODEC_C && !lap_coders_missing(ladder, &ladder->rows[i]))
            return &ladder->rows[i];
    return &ladder->rows[0];
}

lap_code lap_coders_choose(
    const lap_coders *ladder, lap_codec_place codec, const lap_coder **coder, lap_error *err)
{
    for (int i = 0; i < ladder->count; i++)
        if (ladder->rows[i].codec == codec) {
            *coder = &ladder->rows[i];
            const char *reason = lap_coders_missing(ladder, *coder);
            return reason ? lap_fail(
                                err, LAP_E_BACKEND, "codec '%s' cannot run here: %s", (*coder)->name, reason)
                          : LAP_OK;
        }
    *coder = fastest(ladder);
    return LAP_OK;
}

bool lap_coder_at(lap_op op, int i, lap_rung_info *info)
{
    const lap_coders *ladder = op == LAP_OP_ENCODE   ? &lap_encoders
                               : op == LAP_OP_DECODE ? &lap_decoders
                                                     : NULL;
    const lap_coder *row = ladder ? lap_coders_row(ladder, i) : NULL;
    if (!row)
        return false;
    *info = (lap_rung_info){.op = op,
        .name = row->name,
        .family = row->name,
        .what = row->what,
        .flags = row->stages ? row->stages->flags : row->flags,
        .reason = lap_coders_missing(ladder, row)};
    info->resolved = info->reason ? NULL : info->name;
    return true;
}
