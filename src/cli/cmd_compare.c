/* compare: runs every backend on the same decoded input and compares the results with those of plain C. */
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measure/measure.h"
#include "cli/report/report.h"
#include "cli/term.h"

typedef struct comparison {
    lap_cli *cli;
    lap_context *context;
    const char *input; /* the current file */
    lap_compare_result result;
    bool is_folder;
    bool mapped;    /* --heatmap shows a difference */
    bool drawn;     /* the report has pictures */
    json_t *report; /* NULL: no report was requested */
    const lap_view *photo;
    lap_error report_error;
    bool no_memory;
    bool has_ended; /* --fail-fast */
    int inputs;     /* counted before, with --fail-fast */
    lap_error map_error;
    lap_cli_exit prevented; /* exit code for the first input or backend that could not be compared */
} comparison;

static void draw(comparison *c, const lap_view *a, const lap_view *b)
{
    lap_error err = {0};
    if (c->map_error.code == LAP_OK &&
        lap_heatmap_write(c->cli->heatmap, a, b, c->cli->allowed.mask_border, 0, &err) != LAP_OK)
        c->map_error = err;
    c->drawn = true;
}

static void each_row(void *user, const lap_compare_row *row)
{
    comparison *c = user;
    if (!lap_compare_take(&c->result, row, c->input))
        c->no_memory = true;
    lap_error err = {0};
    if (c->report && c->report_error.code == LAP_OK &&
        lap_report_add_row(c->report, c->context, c->input, c->photo, row, &err) != LAP_OK)
        c->report_error = err; /* only after a failure: else err may hold why no PNG was made */
    if (!c->cli->heatmap || c->mapped || !row->a || row->reason || row->difference.identical)
        return;
    c->mapped = true;
    draw(c, row->a, row->b);
    if (!c->cli->quiet)
        lap_cli_message("%s shows %s of %s", c->cli->heatmap, row->backend, c->input);
}

static lap_code compare_pixels(comparison *c, lap_pixels *pixels, lap_error *err)
{
    const lap_view *view = lap_pixels_view(pixels);
    const lap_compare_options options = {.backends = c->cli->bench.backends,
        .mask_border = c->cli->allowed.mask_border,
        .runs = c->cli->bench.runs,
        .each = each_row,
        .user = c};
    lap_code code = LAP_OK;
    c->photo = view;
    c->result.width = view->width;
    c->result.height = view->height;
    c->result.channels = view->channels;
    for (int op = 0; op < LAP_OP_COUNT && code == LAP_OK; op++)
        if (c->cli->ops >> op & 1)
            code = lap_compare(c->context, (lap_op)op, pixels, &options, &c->cli->settings, err);
    if (code == LAP_OK && c->no_memory) {
        *err = (lap_error){.code = LAP_E_MEMORY, .message = "out of memory"};
        return LAP_E_MEMORY;
    }
    if (code == LAP_OK && c->cli->heatmap && !c->drawn)
        draw(c, view, view);
    return code;
}

static lap_code count_file(void *user, const char *path, const lap_error *problem, lap_error *err)
{
    comparison *c = user;
    (void)path, (void)problem;
    c->inputs++;
    if (!lap_cli_caught())
        return LAP_OK;
    *err = (lap_error){.code = LAP_E_CANCELLED};
    return LAP_E_CANCELLED;
}

static bool all_equal(const comparison *c)
{
    for (int i = 0; i < c->result.count; i++) {
        const lap_compare_line *line = &c->result.lines[i];
        if (line->reason ? line->resolved != NULL : !lap_compare_line_is_equal(c->cli, line))
            return false;
    }
    return true;
}

/* Returns LAP_OK even if this input could not be compared, so that the next inputs are. */
static lap_code compare_file(void *user, const char *path, const lap_error *problem, lap_error *unused)
{
    (void)unused; /* messages are printed here instead */
    comparison *c = user;
    lap_pixels *pixels = NULL;
    lap_report read = {0};
    lap_error why = {0};
    lap_code code = LAP_E_USAGE;
    c->input = path;
    lap_compare_begin_photo(&c->result);
    const double began = lap_cli_now_ms();
    if (problem)
        why = *problem;
    else
        code = lap_pixels_read(c->context, path, &c->cli->settings, &pixels, &why);
    const double decode_ms = lap_cli_now_ms() - began;
    c->result.decode_ms += decode_ms;
    c->result.photo.decode_ms = decode_ms;
    if (code == LAP_OK)
        lap_pixels_warn(pixels, false, &read);
    if (read.warnings && !c->cli->quiet)
        lap_cli_warn(path, &read);
    c->no_memory = !lap_compare_warn(&c->result, path, &read) || c->no_memory;
    if (code == LAP_OK && c->cli->verbose)
        lap_cli_message("%s: read in %.1f ms, up to %d threads%s%s", path, decode_ms,
            lap_context_threads(c->context), *lap_pixels_note(pixels) ? "; " : "", lap_pixels_note(pixels));
    if (code == LAP_OK)
        code = compare_pixels(c, pixels, &why);
    lap_pixels_free(pixels);
    if (c->is_folder && code != LAP_E_CANCELLED) {
        if (!lap_compare_end_photo(&c->result, path, &read, code == LAP_OK ? NULL : &why)) {
            why = (lap_error){.code = LAP_E_MEMORY, .message = "out of memory"};
            code = LAP_E_MEMORY;
        } else if (!c->cli->json && !c->cli->quiet)
            lap_compare_print_photo(c->cli, &c->result);
    }
    c->has_ended = c->is_folder && c->cli->fail_fast && (code != LAP_OK || !all_equal(c));
    if (code == LAP_OK) {
        c->result.files++;
        return c->has_ended ? LAP_E_CANCELLED : LAP_OK;
    }
    c->result.failed++;
    const lap_cli_exit exit_code = lap_cli_no_comparison(path, &why);
    c->prevented = c->prevented == LAP_EXIT_OK ? exit_code : c->prevented;
    return code == LAP_E_CANCELLED || c->has_ended ? LAP_E_CANCELLED : LAP_OK;
}

static void compare_folder(comparison *c, const char *in)
{
    lap_error err = {0};
    lap_code code = LAP_OK;
    uint64_t links = 0;
    if (c->cli->fail_fast)
        code = lap_inputs(&in, 1, count_file, c, NULL, &err);
    if (code == LAP_OK)
        code = lap_inputs(&in, 1, compare_file, c, &links, &err);
    const int over = c->result.files + c->result.failed;
    if (code != LAP_OK && !c->has_ended && c->prevented == LAP_EXIT_OK)
        c->prevented = lap_cli_no_comparison(in, &err);
    if (code == LAP_OK && over == 0)
        lap_cli_message("%s: no photo found", in);
    if (links && !c->cli->quiet)
        lap_cli_message("%llu symbolic link%s not followed", (unsigned long long)links, links > 1 ? "s" : "");
    c->result.left = c->has_ended && c->inputs > over ? c->inputs - over : 0;
    if (c->result.left && !c->cli->quiet)
        lap_cli_message("stopped early, %d left", c->result.left);
}

/* ---- the verdict --------------------------------------------------------------------------------- */

static int verdict(comparison *c, bool *equal)
{
    bool failed = false, absent = false;
    *equal = c->prevented == LAP_EXIT_OK && all_equal(c);
    for (int i = 0; i < c->result.count; i++) {
        const lap_compare_line *line = &c->result.lines[i];
        failed = failed || (line->reason && line->resolved);
        absent = absent || !line->resolved;
    }
    if (c->prevented != LAP_EXIT_OK)
        return (int)c->prevented;
    if (failed || c->result.files == 0)
        return LAP_EXIT_USAGE;
    if (!*equal)
        return LAP_EXIT_FAILED;
    /* If a backend that was named did not run, the exit code says so. */
    return absent && c->cli->bench.backends ? LAP_EXIT_BACKEND : LAP_EXIT_OK;
}

static int write_report(comparison *c, bool equal)
{
    if (c->report_error.code != LAP_OK)
        return (int)lap_cli_no_comparison(c->cli->report, &c->report_error);
    json_t *report = c->report;
    c->report = NULL;
    lap_report_add_results(report, lap_compare_json(c->cli, &c->result, equal));
    return lap_report_write(c->cli->report, report);
}

static int finish(comparison *c)
{
    bool equal;
    int exit_code = verdict(c, &equal);
    if (exit_code > 128 || c->result.files == 0)
        return exit_code;
    if (lap_cli_wants_json(c->cli) &&
        lap_json_print(lap_compare_json(c->cli, &c->result, equal)) != LAP_EXIT_OK)
        exit_code = LAP_EXIT_USAGE;
    if (!c->cli->json && !c->cli->quiet)
        lap_compare_print(c->cli, &c->result);
    if (c->report && write_report(c, equal) != LAP_EXIT_OK)
        exit_code = LAP_EXIT_USAGE;
    const bool is_table = !c->cli->json && !c->cli->quiet; /* it shows the reasons */
    for (int i = 0; i < c->result.count && exit_code == LAP_EXIT_BACKEND; i++)
        if (!c->result.lines[i].resolved)
            lap_cli_message(is_table ? "%s: named, but cannot run here" : "%s",
                is_table ? c->result.lines[i].backend : c->result.lines[i].reason);
    if (c->map_error.code != LAP_OK)
        exit_code = (int)lap_cli_no_comparison(c->cli->heatmap, &c->map_error);
    return exit_code;
}

static lap_cli_exit check(const lap_cli *cli)
{
    lap_op ops[LAP_OP_COUNT];
    int count = 0;
    if (cli->operand_count != 1)
        return lap_cli_usage(cli->operand_count ? "compare takes one IN, an image or a folder"
                                                : "IN is missing: lapedge compare IN");
    for (int op = 0; op < LAP_OP_COUNT; op++)
        if (cli->ops >> op & 1)
            ops[count++] = (lap_op)op;
    return lap_cli_check_backends(cli->bench.backends, ops, count) ? LAP_EXIT_OK : LAP_EXIT_USAGE;
}

int lap_cli_compare(lap_cli *cli)
{
    comparison c = {.cli = cli};
    const char *in = cli->operands[0];
    lap_error err = {0};
    int exit_code = (int)check(cli);
    if (exit_code != LAP_EXIT_OK)
        return exit_code;
    c.context = lap_cli_begin(cli, &err);
    if (!c.context)
        return (int)lap_cli_no_comparison(in, &err);
    if (cli->report)
        c.report = lap_report_create(cli, in, lap_context_threads(c.context));
    c.is_folder = lap_cli_is_folder(in, &err);
    if (err.code != LAP_OK) {
        c.prevented = lap_cli_no_comparison(in, &err);
    } else if (c.is_folder) {
        compare_folder(&c, in);
    } else {
        compare_file(&c, in, NULL, &err);
    }
    exit_code = finish(&c);
    lap_cli_end(c.context);
    lap_compare_free(&c.result);
    json_decref(c.report);
    return exit_code;
}
