/* transform: rotates or mirrors images without filtering them. */
#include <limits.h>

#include "cli/commands.h"
#include "cli/term.h"

int lap_cli_transform(lap_cli *cli)
{
    static const lap_turn rotations[] = {LAP_TURN_90, LAP_TURN_180, LAP_TURN_270};
    static const lap_turn flips[] = {LAP_TURN_H, LAP_TURN_V};
    const bool turns = cli->rotate >= 0 || cli->flip >= 0 || cli->transpose || cli->transverse;
    if (!turns && !cli->settings.auto_orient)
        return lap_cli_usage(
            "nothing to do: name --rotate, --flip, --transpose, --transverse or --auto-orient");
    const bool folder = cli->forms == LAP_CLI_TRANSFORM_FOLDER;
    char quoted[PATH_MAX];
    if (!folder && cli->operand_count == 1)
        return lap_cli_usage("OUT is missing: lapedge transform %s OUT",
            lap_cli_quoted(cli->operands[0], quoted, sizeof quoted));
    if (!folder && cli->operand_count != 2)
        return lap_cli_usage("transform takes IN and OUT; see lapedge transform -h");
    cli->settings.filter = false;
    cli->settings.turn = cli->rotate >= 0  ? rotations[cli->rotate]
                         : cli->flip >= 0  ? flips[cli->flip]
                         : cli->transpose  ? LAP_TURN_TRANSPOSE
                         : cli->transverse ? LAP_TURN_TRANSVERSE
                                           : LAP_TURN_NONE;
    /* --quality implies re-encoding. */
    cli->settings.lossless = cli->trim          ? LAP_LOSSLESS_TRIM
                             : cli->perfect     ? LAP_LOSSLESS_PERFECT
                             : cli->has_quality ? LAP_LOSSLESS_NO
                                                : LAP_LOSSLESS_AUTO;
    return folder ? lap_run_folder(cli) : lap_cli_one(cli);
}
