/* diff: compares two images, or the images of two folders in pairs. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/folder/folder.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/report/report.h"
#include "cli/term.h"

static const char within[] = "equal within the tolerance";

typedef struct finding {
    bool equal;              /* within the tolerance */
    bool excused;            /* some pixels differ, but --ignore or --threshold-per-pixel excuses them */
    const lap_report *reads; /* warnings of decoding A and B */
} finding;

static void print_warnings(const char *const paths[2], const lap_report *const reads[2])
{
    for (int i = 0; i < 2; i++)
        if (reads[i]->warnings)
            lap_cli_warn(paths[i], reads[i]);
}

/* Adds the number of warnings of both files, and the first warning with the name of its file. */
static void add_warnings(json_t *object, const char *const paths[2], const lap_report *const reads[2])
{
    char text[512], first[PATH_MAX + sizeof text];
    const int count = reads[0]->warnings + reads[1]->warnings, of = reads[0]->warnings ? 0 : 1;
    if (count)
        snprintf(
            first, sizeof first, "%s: %s", paths[of], lap_cli_warning_text(reads[of], text, sizeof text));
    json_object_set_new(object, "warnings", json_integer(count));
    json_object_set_new(object, "warning", lap_json_text(count ? first : NULL));
}

static json_t *object_of(
    const lap_cli *cli, const lap_view *view, const lap_difference *d, const finding *finds)
{
    json_t *object = lap_json_object("lapedge.diff/1");
    lap_json_path(object, "a", cli->operands[0]);
    lap_json_path(object, "b", cli->operands[1]);
    json_object_set_new(object, "width", json_integer(view->width));
    json_object_set_new(object, "height", json_integer(view->height));
    json_object_set_new(object, "channels", json_integer(view->channels));
    json_object_set_new(object, "equal", json_boolean(finds->equal));
    json_object_set_new(object, "tolerance", lap_json_tolerance(cli, -2));
    lap_json_excused(object, d, finds->excused);
    json_object_set_new(object, "ssim", lap_json_real(d->ssim));
    add_warnings(object, (const char *const *)cli->operands,
        (const lap_report *const[]){&finds->reads[0], &finds->reads[1]});
    return object;
}

static int write_report(const lap_cli *cli, lap_context *context, const lap_view *b,
    const lap_compare_row *row, const finding *finds)
{
    char subject[1024];
    lap_error err = {0};
    snprintf(subject, sizeof subject, "%s and %s", cli->operands[0], cli->operands[1]);
    json_t *report = lap_report_create(cli, subject, lap_context_threads(context));
    lap_report_add_results(report, object_of(cli, row->a, &row->difference, finds));
    if (lap_report_add_pair(report, context, b, row, &err) == LAP_OK)
        return lap_report_write(cli->report, report);
    json_decref(report);
    return (int)lap_cli_no_comparison(cli->report, &err);
}

static void print_text(
    const lap_cli *cli, const lap_view *view, const lap_difference *d, const finding *finds)
{
    enum { AT = 20 };
    char first[160], pixels[160];
    printf("%s%d x %d, %d channel%s%s\n", lap_term_bold(cli, stdout), view->width, view->height,
        view->channels, view->channels == 1 ? "" : "s", lap_term_plain(cli, stdout));
    if (d->identical) {
        puts(finds->excused ? within : "identical");
        return;
    }
    lap_cli_first_difference(d, "A", "B", first, sizeof first);
    printf("largest difference  %d\n", d->max_abs);
    printf("mean difference     %.6g\n", d->mean_abs);
    printf("RMSE                %.6g\n", d->rmse);
    printf("PSNR                %.2f dB\n", d->psnr);
    if (!isnan(d->ssim))
        printf("SSIM                %.6f\n", d->ssim);
    snprintf(pixels, sizeof pixels, "%llu of %llu (%.3g %%), %llu of them in the border of two",
        (unsigned long long)d->differing_pixels, (unsigned long long)d->pixels,
        100 * (double)d->differing_pixels / (double)d->pixels, (unsigned long long)d->differing_border);
    fputs("differing pixels    ", stdout);
    lap_cli_print_wrapped(pixels, AT, lap_term_width());
    fputs("first difference    ", stdout);
    lap_cli_print_wrapped(first, AT, lap_term_width());
    puts(finds->equal ? within : "different");
}

/* Gets a version of b in which differences that do not count are removed: b itself, or a copy, because a
 * report also shows the original b. The caller frees *copy. LAP_E_MEMORY. */
static lap_code excuse(const lap_cli *cli, const lap_view *a, const lap_view *b, lap_view *counted,
    uint8_t **copy, bool *excused)
{
    const lap_diff_rules rules = lap_cli_diff_rules(cli, true);
    const size_t row = (size_t)b->width * (size_t)b->channels;
    *counted = *b;
    if (cli->report && (rules.ignore_count || rules.pixel_threshold)) {
        *copy = calloc((size_t)b->height, row);
        if (!*copy)
            return LAP_E_MEMORY;
        for (int y = 0; y < b->height; y++)
            memcpy(*copy + (size_t)y * row, b->base + y * b->stride, row);
        *counted = (lap_view){*copy, (ptrdiff_t)row, b->width, b->height, b->channels, 0, LAP_ON_HOST};
    }
    *excused = lap_difference_excuse(a, counted, &rules);
    return LAP_OK;
}

/* Refuses a rectangle outside the image, which would otherwise be ignored without a message, and refuses
 * rectangles that together cover the whole image. */
static lap_cli_exit check_boxes(const lap_cli *cli, const lap_view *view)
{
    for (size_t i = 0; i < cli->ignore.count; i++) {
        const lap_diff_box *box = &cli->ignore.box[i];
        if (box->x >= view->width || box->y >= view->height)
            return lap_cli_usage("--ignore=%d,%d,%d,%d lies outside the image, which has %d x %d pixels",
                box->x, box->y, box->width, box->height, view->width, view->height);
    }
    const lap_diff_rules rules = lap_cli_diff_rules(cli, false);
    if (cli->ignore.count && !lap_difference_has_pixels(view, &rules))
        return lap_cli_usage("%s the whole image: no pixel is left to compare",
            rules.mask_border ? "--ignore and --mask-border cover" : "--ignore covers");
    return LAP_EXIT_OK;
}

static lap_cli_exit compare_counted(
    lap_cli *cli, lap_context *context, const lap_view *b, lap_compare_row *row, finding finds)
{
    lap_error err = {0};
    const lap_view *a = row->a;
    lap_code code = lap_compare_views(a, row->b, cli->allowed.mask_border, true, &row->difference, &err);
    if (code == LAP_OK && cli->heatmap)
        code = lap_heatmap_write(cli->heatmap, a, row->b, cli->allowed.mask_border, 0, &err);
    if (code == LAP_E_DIFFERENT) {
        lap_cli_message("%s and %s: %s%s", cli->operands[0], cli->operands[1], err.message,
            a->channels != b->channels && a->width == b->width && a->height == b->height
                ? "; --gray compares their luma"
                : "");
        return LAP_EXIT_USAGE;
    }
    if (code != LAP_OK)
        return lap_cli_no_comparison(cli->heatmap ? cli->heatmap : cli->operands[0], &err);
    finds.equal = lap_cli_is_equal(cli, &row->difference);
    if (lap_cli_wants_json(cli) && lap_json_print(object_of(cli, a, &row->difference, &finds)) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    if (!cli->json && !cli->quiet)
        print_text(cli, a, &row->difference, &finds);
    if (cli->report && write_report(cli, context, b, row, &finds) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    return finds.equal ? LAP_EXIT_OK : LAP_EXIT_FAILED;
}

static lap_cli_exit compare(
    lap_cli *cli, lap_context *context, const lap_view *a, const lap_view *b, const lap_report reads[2])
{
    lap_view counted;
    uint8_t *copy = NULL;
    finding finds = {.reads = reads};
    lap_compare_row row = {.a = a, .b = &counted};
    if (check_boxes(cli, a) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    if (excuse(cli, a, b, &counted, &copy, &finds.excused) != LAP_OK)
        return lap_cli_no_comparison(
            cli->operands[1], &(lap_error){.code = LAP_E_MEMORY, .message = "out of memory"});
    const lap_cli_exit code = compare_counted(cli, context, b, &row, finds);
    free(copy);
    return code;
}

/* ---- two folders: images with the same path below both ------------------------------------------- */

typedef enum outcome { IDENTICAL, EQUAL, DIFFERENT, ONLY_A, ONLY_B, FAILED, OUTCOMES } outcome;

static const char *const outcome_names[OUTCOMES] = {
    "identical", "equal", "different", "only_a", "only_b", "failed"};

typedef struct diff_run {
    lap_folder folder;
    uint64_t found[OUTCOMES];
    lap_cli_exit prevented; /* exit code for the first pair that could not be compared */
    json_t *rows;           /* rows of the JSON, or NULL */
    lap_sheet *sheet;       /* contact sheet for --report */
} diff_run;

/* ---- a pair ------------------------------------------------------------------------------------ */

static outcome outcome_of(const diff_run *run, const lap_pair *pair)
{
    if (pair->error->code != LAP_OK)
        return FAILED;
    if (!pair->difference)
        return pair->a ? ONLY_A : ONLY_B;
    if (pair->difference->identical)
        return pair->excused ? EQUAL : IDENTICAL;
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
    lap_json_excused(row, pair->difference, pair->excused);
    json_object_set_new(row, "ssim", lap_json_real(pair->difference ? pair->difference->ssim : NAN));
    add_warnings(row, (const char *const[]){pair->a, pair->b}, pair->reads);
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
    if (d->identical)
        printf(": %s\n", what == IDENTICAL ? "identical" : within);
    else
        printf(": %s, by up to %d, %llu of %llu pixels, PSNR %.2f dB\n", what == EQUAL ? within : "different",
            d->max_abs, (unsigned long long)d->differing_pixels, (unsigned long long)d->pixels, d->psnr);
}

static bool on_pair(void *user, const lap_pair *pair, const lap_batch_counts *counts)
{
    diff_run *run = user;
    const lap_cli *cli = run->folder.cli;
    bool goes_on = true;
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
        if (!cli->quiet && pair->reads[0]->warnings + pair->reads[1]->warnings &&
            lap_folder_may_tell(&run->folder, pair->reads[0]))
            print_warnings((const char *const[]){pair->a, pair->b}, pair->reads);
        if (cli->verbose && *pair->note)
            lap_cli_message("%s: %s", pair->relative, pair->note);
        if (run->rows)
            json_array_append_new(run->rows, row_of(pair, what));
        if (cli->report)
            lap_sheet_add_pair(run->sheet, pair, outcome_names[what], what == EQUAL);
        lap_folder_flush(&run->folder);
        goes_on = !cli->fail_fast || what == IDENTICAL || what == EQUAL;
    }
    lap_folder_show(&run->folder, counts);
    return goes_on;
}

/* ---- the verdict ------------------------------------------------------------------------------- */

static bool is_equal(const diff_run *run)
{
    return run->found[DIFFERENT] + run->found[ONLY_A] + run->found[ONLY_B] + run->found[FAILED] +
                   run->folder.counts.vanished ==
               0 &&
           run->found[IDENTICAL] + run->found[EQUAL] > 0;
}

/* Makes the object without rows. */
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
    json_object_set_new(object, "left", json_integer((json_int_t)lap_folder_left(folder)));
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
    } tallies[] = {{run->found[IDENTICAL], "identical"}, {run->found[EQUAL], within},
        {run->found[DIFFERENT], "different"}, {run->found[ONLY_A], "only in A"},
        {run->found[ONLY_B], "only in B"}, {run->found[FAILED], "could not be compared"},
        {lap_folder_left(&run->folder), "left"}};
    const lap_batch_others *others = &run->folder.others;
    const uint64_t left = others->files + others->outputs;
    const char *before = ": ";
    printf("%s%s%s", lap_term_bold(run->folder.cli, stdout), is_equal(run) ? "equal" : "not equal",
        lap_term_plain(run->folder.cli, stdout));
    for (size_t i = 0; i < sizeof tallies / sizeof *tallies; i++)
        if (tallies[i].count) {
            printf("%s%llu %s", before, (unsigned long long)tallies[i].count, tallies[i].what);
            before = ", ";
        }
    if (left)
        printf("; %llu file%s not compared", (unsigned long long)left, left > 1 ? "s" : "");
    putchar('\n');
}

static int finish(diff_run *run, lap_code code)
{
    const lap_cli *cli = run->folder.cli;
    const lap_batch_counts *counts = &run->folder.counts;
    const bool found = code == LAP_OK && counts->found > 0;
    char text[LAP_TAKEN_TEXT];
    if (run->folder.lost != LAP_EXIT_OK)
        return (int)run->folder.lost;
    int exit_code = code != LAP_OK ? (int)lap_cli_no_comparison("", &run->folder.err)
                    : !counts->found || run->prevented != LAP_EXIT_OK
                        ? (int)(run->prevented == LAP_EXIT_OK ? LAP_EXIT_USAGE : run->prevented)
                    : is_equal(run) ? LAP_EXIT_OK
                                    : LAP_EXIT_FAILED;
    if (code == LAP_OK && !counts->found)
        lap_cli_message("%s and %s: no image that lapedge reads %s", cli->operands[0], cli->operands[1],
            lap_folder_taken(cli, "*.jpg *.jpeg *.jpe *.jfif *.png *.ppm *.pgm *.pnm", text));
    if (code == LAP_OK && !cli->quiet) {
        lap_folder_print_untold(&run->folder);
        lap_folder_print_others(&run->folder);
        lap_folder_print_links(&run->folder);
    }
    if (found && !cli->json && !cli->quiet)
        print_verdict(run);
    if (run->rows && exit_code < 128 && print_json(run) != LAP_EXIT_OK)
        exit_code = LAP_EXIT_USAGE;
    return exit_code;
}

static int diff_folders(lap_cli *cli)
{
    static const char *const everything = "*";
    diff_run run = {0};
    lap_folder *folder = &run.folder;
    lap_error err = {0};
    for (int i = 0; i < 2; i++)
        if (!lap_cli_is_folder(cli->operands[i], &err)) {
            if (err.code != LAP_OK)
                return lap_cli_no_comparison(cli->operands[i], &err);
            return access(cli->operands[i], F_OK) == 0
                       ? lap_cli_usage("%s is a folder, but %s is not", cli->operands[!i], cli->operands[i])
                       : lap_cli_usage("%s: no such folder", cli->operands[i]);
        }
    lap_folder_begin(folder, cli, 0);
    if (!cli->take.include_count && !cli->take.extensions) {
        /* All readable formats, and JPEGs without an extension: outputs may be any of them. */
        cli->take.include = &everything;
        cli->take.include_count = 1;
    }
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context)
        return (int)lap_cli_no_comparison("", &err);
    run.rows = lap_cli_wants_json(cli) ? json_array() : NULL;
    run.sheet = cli->report ? lap_sheet_create() : NULL;
    lap_folder_start(folder, context, "pairs");
    const lap_diff_rules rules = lap_cli_diff_rules(cli, run.rows != NULL);
    const lap_pairing pairing = {cli->operands[0], cli->operands[1], &folder->options, &rules, on_pair, &run};
    const lap_code code =
        lap_compare_folders(context, &pairing, &cli->settings, &folder->counts, &folder->err);
    lap_folder_stop(folder);
    const bool reported = !cli->report || !folder->counts.found ||
                          lap_sheet_write(run.sheet, cli, context, json_of(&run)) == LAP_EXIT_OK;
    lap_cli_end(context);
    const int exit_code = finish(&run, code);
    json_decref(run.rows);
    lap_sheet_free(run.sheet);
    return reported || exit_code > LAP_EXIT_FAILED ? exit_code : LAP_EXIT_USAGE;
}

static int diff(lap_cli *cli)
{
    lap_pixels *pictures[2] = {NULL, NULL};
    lap_report reads[2] = {{0}};
    lap_error err = {0};
    char quoted[PATH_MAX];
    if (cli->operand_count == 1)
        return lap_cli_usage(
            "B is missing: lapedge diff %s B", lap_cli_quoted(cli->operands[0], quoted, sizeof quoted));
    if (cli->operand_count != 2)
        return lap_cli_usage("diff takes two images, or two folders: lapedge diff A B");
    if (cli->forms == LAP_CLI_DIFF_FOLDER)
        return diff_folders(cli);
    if (strcmp(cli->operands[0], "-") == 0 && strcmp(cli->operands[1], "-") == 0)
        return lap_cli_usage("only one of A and B can be standard input");
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context)
        return (int)lap_cli_no_comparison("", &err);
    int exit_code = LAP_EXIT_OK;
    const double began = lap_cli_now_ms();
    for (int i = 0; i < 2 && exit_code == LAP_EXIT_OK; i++)
        if (lap_pixels_read(context, cli->operands[i], &cli->settings, &pictures[i], &err) == LAP_OK)
            lap_pixels_warn(pictures[i], true, &reads[i]);
        else
            exit_code = (int)lap_cli_no_comparison(cli->operands[i], &err);
    if (!cli->quiet)
        print_warnings((const char *const *)cli->operands, (const lap_report *const[]){&reads[0], &reads[1]});
    if (cli->verbose && exit_code == LAP_EXIT_OK)
        lap_cli_message("both read with up to %d threads, %.1f ms%s%s", lap_context_threads(context),
            lap_cli_now_ms() - began, *lap_pixels_note(pictures[0]) ? "; the first " : "",
            lap_pixels_note(pictures[0]));
    if (exit_code == LAP_EXIT_OK)
        exit_code =
            (int)compare(cli, context, lap_pixels_view(pictures[0]), lap_pixels_view(pictures[1]), reads);
    lap_pixels_free(pictures[0]);
    lap_pixels_free(pictures[1]);
    lap_cli_end(context);
    return exit_code;
}

int lap_cli_diff(lap_cli *cli)
{
    const int exit_code = diff(cli);
    const lap_cli_exit lost = exit_code < 128 ? lap_cli_flush(LAP_EXIT_OK) : LAP_EXIT_OK;
    if (lost == LAP_EXIT_OK)
        return exit_code;
    return lost == LAP_EXIT_PIPE ? (int)lost : LAP_EXIT_USAGE; /* 1 would mean that the images differ */
}
