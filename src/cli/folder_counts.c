#include "cli/folder_counts.h"

#include <stdio.h>

#include "cli/commands.h"

void lap_folder_take(lap_cli *cli)
{
    cli->take.include = cli->include;
    cli->take.exclude = cli->exclude;
    while (cli->take.include_count < LAP_CLI_GLOBS && cli->include[cli->take.include_count])
        cli->take.include_count++;
    while (cli->take.exclude_count < LAP_CLI_GLOBS && cli->exclude[cli->take.exclude_count])
        cli->take.exclude_count++;
}

void lap_folder_print_failed(const lap_batch_counts *counts)
{
    const char *before = " (";
    if (!counts->failed)
        return;
    fprintf(stderr, ", %llu failed", (unsigned long long)counts->failed);
    for (int kind = LAP_OK + 1; kind < LAP_CODES; kind++) {
        if (!counts->kinds[kind] || kind == LAP_E_EXISTS)
            continue;
        fprintf(stderr, "%s%llu %s", before, (unsigned long long)counts->kinds[kind],
            lap_code_name((lap_code)kind));
        before = ", ";
    }
    if (*before == ',')
        fputc(')', stderr);
}

json_t *lap_folder_kinds_json(const lap_batch_counts *counts)
{
    json_t *kinds = json_object();
    for (int kind = LAP_OK; kind < LAP_CODES; kind++)
        if (counts->kinds[kind])
            json_object_set_new(kinds, kind == LAP_OK ? "up_to_date" : lap_code_name((lap_code)kind),
                json_integer((json_int_t)counts->kinds[kind]));
    return kinds;
}

/* What the counts of a run that came to its end amount to. */
static lap_cli_exit verdict(const lap_batch_counts *counts)
{
    if (!counts->expected)
        return counts->other_shards ? LAP_EXIT_OK : LAP_EXIT_NOTHING;
    if (counts->failed && counts->failed >= counts->expected) /* not with --fail-fast: others had no turn */
        return LAP_EXIT_NOTHING;
    return counts->failed || counts->kinds[LAP_E_EXISTS] ? LAP_EXIT_FAILED : LAP_EXIT_OK;
}

int lap_folder_exit(lap_code code, const lap_batch_counts *counts)
{
    switch (code) {
    case LAP_OK:
        return (int)verdict(counts);
    case LAP_E_CANCELLED:
        return (int)lap_cli_exit_of(code);
    case LAP_E_DISK_FULL:
        return counts->ok + counts->warned ? LAP_EXIT_FAILED : LAP_EXIT_NOTHING;
    case LAP_E_WRITE:
    case LAP_E_MISSING:
        return LAP_EXIT_NOTHING;
    default:
        return (int)lap_cli_exit_of(code);
    }
}
