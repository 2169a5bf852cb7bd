#include "cli/folder_work.h"

#include <stdio.h>
#include <string.h>

#include "cli/folder_counts.h"
#include "cli/term.h"

lap_batch_devices lap_folder_devices(const lap_cli *cli)
{
    lap_batch_devices devices = {.numbers = cli->device_count > 0 ? cli->devices : NULL,
        .count = cli->device_count,
        .memory = cli->device_memory,
        .trace = cli->trace};
    if (!cli->shard || strcmp(cli->shard, "auto") != 0)
        return devices;
    (void)lap_shard_local(&devices.share, &devices.shares);
    if (devices.count == 0)
        devices.count = -1;
    return devices;
}

lap_batch_options lap_folder_inputs(
    lap_cli *cli, int count, const lap_batch_devices *devices, lap_batch_others *others, lap_batch_work *work)
{
    lap_folder_take(cli);
    return (lap_batch_options){.inputs = (const char *const *)cli->operands,
        .input_count = (size_t)count,
        .files_from = cli->files_from,
        .nul_separated = cli->null_separated,
        .jobs = cli->jobs,
        .fail_fast = cli->fail_fast,
        .take = &cli->take,
        .others = others,
        .devices = devices,
        .work = work};
}

void lap_folder_warn(const lap_cli *cli, lap_folder_progress *progress, const lap_error *warning)
{
    char text[800];
    if (cli->quiet)
        return;
    lap_folder_progress_hide(progress);
    lap_cli_message("warning: %s", lap_cli_error_text(warning, text, sizeof text));
}

void lap_folder_print_work(const lap_batch_work *work)
{
    lap_cli_print_detail("by", work->how);
    fprintf(stderr, "  at once   up to %llu\n", (unsigned long long)work->jobs);
    for (int i = 0; i < work->device_count; i++)
        fprintf(stderr, "  device %d  %llu photos%s\n", work->device[i].device,
            (unsigned long long)work->device[i].done, work->device[i].is_lost ? ", then lost" : "");
    lap_times busy = work->busy; /* its total: how long each photo took, whatever was done at once for it */
    busy.total =
        busy.read + busy.decode + busy.upload + busy.filter + busy.download + busy.encode + busy.write;
    lap_cli_print_times(&busy, "added up");
}
