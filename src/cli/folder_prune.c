#include "cli/folder_prune.h"

#include "cli/json.h"
#include "cli/term.h"

static void on_output(void *user, const char *output, const lap_error *problem)
{
    lap_folder_prune *prune = user;
    const lap_cli *cli = prune->cli;
    lap_folder_progress_hide(prune->progress);
    if (problem) {
        lap_cli_print_error(problem, output);
        return;
    }
    json_array_append_new(prune->outputs, lap_json_text(output));
    if (cli->quiet || !(cli->verbose || cli->dry_run))
        return;
    FILE *to = cli->dry_run && !cli->json ? stdout : stderr; /* as the list of -n */
    fputs(cli->dry_run ? "remove " : "removed ", to);
    lap_cli_print_safely(to, output);
    fputc('\n', to);
}

lap_batch_prune *lap_folder_prune_begin(
    lap_folder_prune *prune, const lap_cli *cli, lap_folder_progress *progress)
{
    *prune = (lap_folder_prune){.cli = cli, .progress = progress};
    if (!cli->prune)
        return NULL;
    prune->outputs = json_array();
    prune->work = (lap_batch_prune){.each = on_output, .user = prune};
    return &prune->work;
}

lap_cli_exit lap_folder_prune_end(lap_folder_prune *prune, lap_code code, const lap_error *err)
{
    lap_batch_prune *work = &prune->work;
    char why[1024];
    if (code != LAP_OK) /* which has been said */
        work->refused = *err;
    else if (work->refused.code != LAP_OK)
        lap_cli_message(
            "--prune: nothing was removed: %s", lap_cli_error_text(&work->refused, why, sizeof why));
    if (work->kept > 0 && !prune->cli->quiet)
        lap_cli_message(
            "--prune: %llu output%s left: the folder of the photo is there but empty, as one that is "
            "not mounted is",
            (unsigned long long)work->kept, work->kept > 1 ? "s" : "");
    return work->refused.code != LAP_OK || work->failed > 0 ? LAP_EXIT_FAILED : LAP_EXIT_OK;
}

json_t *lap_folder_prune_json(const lap_folder_prune *prune)
{
    const lap_batch_prune *work = &prune->work;
    if (!prune->cli->prune)
        return json_null();
    return json_pack("{sI sI sI sO so}", "files", (json_int_t)work->removed, "failed",
        (json_int_t)work->failed, "kept", (json_int_t)work->kept, "outputs", prune->outputs, "refused",
        lap_json_error(&work->refused));
}

void lap_folder_prune_free(lap_folder_prune *prune)
{
    json_decref(prune->outputs);
    prune->outputs = NULL;
}
