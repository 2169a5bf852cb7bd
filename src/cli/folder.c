#include "commands.h"
#include "term.h"

int lap_cli_folder(lap_cli *cli)
{
    (void)cli;
    return lap_cli_usage("folders and several files at once are not supported by this version");
}
