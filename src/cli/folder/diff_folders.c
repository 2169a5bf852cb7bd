/* diff of two folders: images with the same path below both, compared in pairs. */
#include <math.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
#include "cli/json.h"
#include "cli/measure/difference.h"
#include "cli/report/report_folder.h"
#include "cli/term.h"

typedef enum outcome { IDENTICAL, EQUAL, DIFFERENT, ONLY_A, ONLY_B, FAILED, OUTCOMES } outcome;

static const char *const outcome_names[OUTCOMES] = {
    "identical", "equal", "different", "only_a", "only_b", "failed"};

typedef struct diff_run {
    lap_folder folder;
    uint64_t found[OUTCOMES];
    lap_cli_exit prevented; /* the exit code of the first pair that could not be compared */
    json_t *rows;           /* or NULL */
    lap_sheet *sheet;       /* of --report */
} diff_run;

/* ---- a pair ------------------------------------------------------------------------------------ */

static outcome outcome_of(const diff_run *run, const lap_pair *pair)
{
    if (pair->error->code != LAP_OK)
        return FAILED;
    if (!pair->difference)
        return pair->a ? ONLY_A : ONLY_B;
    if (pair->difference->identical)
        return IDENTICAL;
    return lap_cli_is_equal(run->folder.cli, pair->difference) ? EQUAL : DIFFERENT;
}

static json_t *row_of(const lap_pair *pair, outcome what)
{
    const bool has_size = pair->width > 0;
    json_t *row = json_object();
    lap_json_path(row, "path", pair->relative);
    json_object_set_new(row, "outcome", json_string(outcome_names[what]));
    json_object_set_new(row, "error", lap_json_error(pair->error));
    json_object_set_new(row, "width", has_size ? json_integer(pair->width) : json_null());
    json_object_set_new(row, "height", has_size ? json_integer(pair->height) : json_null());
    json_object_set_new(row, "channels", has_size ? json_integer(pair->channels) : json_null());
    lap_json_difference(row, pair->difference, true);
    json_object_set_new(row, "ssim", lap_json_real(pair->difference ? pair->difference->ssim : NAN));
    return row;
}

static void print_pair(const diff_run *run, const lap_pair *pair, outcome what)
{
    const lap_difference *d = pair->difference;
    if (what == ONLY_A || what == ONLY_B) {
        fputs("only in ", stdout);
        lap_cli_print_safely(stdout, run->folder.cli->operands[what == ONLY_B]);
        fputs(": ", stdout);
        lap_cli_print_safely(stdout, pair->relative);
        putchar('\n');
        return;
    }
    lap_cli_print_safely(stdout, pair->relative);
    if (what == IDENTICAL)
        puts(": identical");
    else
        printf(": %s, by up to %d, %llu of %llu pixels, PSNR %.2f dB\n",
            what == EQUAL ? "equal within the tolerance" : "different", d->max_abs,
            (unsigned long long)d->differing_pixels, (unsigned long long)d->pixels, d->psnr);
}

static void on_pair(void *user, const lap_pair *pair, const lap_batch_counts *counts)
{
    diff_run *run = user;
    const lap_cli *cli = run->folder.cli;
    if (pair) {
        const outcome what = outcome_of(run, pair);
        const bool is_told = (what != IDENTICAL && what != EQUAL) || cli->verbose;
        run->found[what]++;
        lap_progress_hide(&run->folder.progress);
        if (what == FAILED) {
            const lap_cli_exit code = lap_cli_no_comparison(pair->relative, pair->error);
            run->prevented = run->prevented == LAP_EXIT_OK ? code : run->prevented;
        } else if (is_told && !cli->quiet && !cli->json) {
            print_pair(run, pair, what);
        }
        if (cli->verbose && *pair->note)
            lap_cli_message("%s: %s", pair->relative, pair->note);
        if (run->rows)
            json_array_append_new(run->rows, row_of(pair, what));
        if (cli->report)
            lap_sheet_add_pair(run->sheet, pair, outcome_names[what], what == EQUAL);
    }
    lap_folder_show(&run->folder, counts);
}

/* ---- the verdict ------------------------------------------------------------------------------- */

static bool is_equal(const diff_run *run)
{
    return run->found[DIFFERENT] + run->found[ONLY_A] + run->found[ONLY_B] + run->found[FAILED] == 0 &&
           run->found[IDENTICAL] + run->found[EQUAL] > 0;
}

/* Without rows. */
static json_t *json_of(const diff_run *run)
{
    const lap_folder *folder = &run->folder;
    json_t *object = lap_json_object("lapedge.diff_folders/1"), *found = json_object();
    for (int i = 0; i < OUTCOMES; i++)
        json_object_set_new(found, outcome_names[i], json_integer((json_int_t)run->found[i]));
    lap_json_path(object, "a", run->folder.cli->operands[0]);
    lap_json_path(object, "b", run->folder.cli->operands[1]);
    json_object_set_new(object, "equal", json_boolean(is_equal(run) && folder->err.code == LAP_OK));
    json_object_set_new(object, "tolerance", lap_json_tolerance(run->folder.cli, -2));
    json_object_set_new(object, "outcomes", found);
    json_object_set_new(object, "not_taken", lap_folder_json_others(folder));
    json_object_set_new(object, "links", json_integer((json_int_t)folder->counts.links));
    lap_folder_json_end(folder, object);
    return object;
}

static int print_json(diff_run *run)
{
    json_t *object = json_of(run);
    json_object_set_new(object, "rows", run->rows);
    run->rows = NULL;
    return lap_json_print(object);
}

static void print_verdict(const diff_run *run)
{
    const struct {
        uint64_t count;
        const char *what;
    } tallies[] = {{run->found[IDENTICAL], "identical"}, {run->found[EQUAL], "equal within the tolerance"},
        {run->found[DIFFERENT], "different"}, {run->found[ONLY_A], "only in A"},
        {run->found[ONLY_B], "only in B"}, {run->found[FAILED], "not compared"}};
    const char *before = ": ";
    printf("%s%s%s", lap_term_bold(run->folder.cli, stdout), is_equal(run) ? "equal" : "not equal",
        lap_term_plain(run->folder.cli, stdout));
    for (size_t i = 0; i < sizeof tallies / sizeof *tallies; i++)
        if (tallies[i].count) {
            printf("%s%llu %s", before, (unsigned long long)tallies[i].count, tallies[i].what);
            before = ", ";
        }
    putchar('\n');
}

static int finish(diff_run *run, lap_code code)
{
    const lap_cli *cli = run->folder.cli;
    const lap_batch_counts *counts = &run->folder.counts;
    const bool found = code == LAP_OK && counts->found > 0;
    int exit_code = code != LAP_OK ? (int)lap_cli_no_comparison("", &run->folder.err)
                    : !counts->found || run->prevented != LAP_EXIT_OK
                        ? (int)(run->prevented == LAP_EXIT_OK ? LAP_EXIT_USAGE : run->prevented)
                    : is_equal(run) ? LAP_EXIT_OK
                                    : LAP_EXIT_FAILED;
    if (code == LAP_OK && !counts->found)
        lap_cli_message("%s and %s: no image found (*.jpg *.jpeg *.jpe *.jfif *.png *.ppm *.pgm *.pnm)",
            cli->operands[0], cli->operands[1]);
    if (found && !cli->quiet) {
        lap_folder_print_others(&run->folder);
        lap_folder_print_links(&run->folder);
    }
    if (found && !cli->json && !cli->quiet)
        print_verdict(run);
    if (run->rows && exit_code < 128 && print_json(run) != LAP_EXIT_OK)
        exit_code = LAP_EXIT_USAGE;
    return exit_code;
}

int lap_diff_folders(lap_cli *cli)
{
    diff_run run = {0};
    lap_folder *folder = &run.folder;
    lap_error err = {0};
    for (int i = 0; i < 2; i++)
        if (!lap_cli_is_folder(cli->operands[i], &err))
            return err.code != LAP_OK ? (int)lap_cli_no_comparison(cli->operands[i], &err)
                                      : (int)lap_cli_usage("%s is a folder, but %s is not", cli->operands[!i],
                                            cli->operands[i]);
    if (lap_report_check(cli) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    lap_folder_begin(folder, cli, 0);
    if (!cli->take.include_count &&
        !cli->take.extensions) /* all that is read, since outputs may be any of them */
        cli->take.extensions = "jpg,jpeg,jpe,jfif,png,ppm,pgm,pnm";
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context)
        return (int)lap_cli_no_comparison("", &err);
    run.rows = lap_cli_wants_json(cli) ? json_array() : NULL;
    run.sheet = cli->report ? lap_sheet_create() : NULL;
    lap_folder_start(folder, context, "pairs");
    const lap_diff_rules rules = lap_cli_diff_rules(cli, run.rows != NULL);
    const lap_code code = lap_compare_folders(context, cli->operands[0], cli->operands[1], &folder->options,
        &cli->settings, &rules, on_pair, &run, &folder->counts, &folder->err);
    lap_folder_stop(folder);
    const bool reported = !cli->report || !folder->counts.found ||
                          lap_sheet_write(run.sheet, cli, context, json_of(&run)) == LAP_EXIT_OK;
    lap_cli_end(context);
    const int exit_code = finish(&run, code);
    json_decref(run.rows);
    lap_sheet_free(run.sheet);
    return reported || exit_code > LAP_EXIT_FAILED ? exit_code : LAP_EXIT_USAGE;
}
