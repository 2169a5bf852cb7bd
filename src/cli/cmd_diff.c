/* diff: how far two image files differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/measure/difference.h"
#include "cli/report/report.h"
#include "cli/term.h"

static json_t *object_of(const lap_cli *cli, const lap_view *view, const lap_difference *d, bool equal)
{
    json_t *object = lap_json_object("lapedge.diff/1");
    lap_json_path(object, "a", cli->operands[0]);
    lap_json_path(object, "b", cli->operands[1]);
    json_object_set_new(object, "width", json_integer(view->width));
    json_object_set_new(object, "height", json_integer(view->height));
    json_object_set_new(object, "channels", json_integer(view->channels));
    json_object_set_new(object, "equal", json_boolean(equal));
    json_object_set_new(object, "tolerance", lap_json_tolerance(cli, -2));
    lap_json_difference(object, d, true);
    json_object_set_new(object, "ssim", lap_json_real(d->ssim));
    return object;
}

static int write_report(
    const lap_cli *cli, lap_context *context, const lap_view *b, const lap_compare_row *row, bool equal)
{
    char subject[1024];
    lap_error err = {0};
    snprintf(subject, sizeof subject, "%s and %s", cli->operands[0], cli->operands[1]);
    json_t *report = lap_report_create(cli, subject, lap_context_threads(context));
    lap_report_add_results(report, object_of(cli, row->a, &row->difference, equal));
    if (lap_report_add_pair(report, context, b, row, &err) == LAP_OK)
        return lap_report_write(cli->report, report);
    json_decref(report);
    return (int)lap_cli_no_comparison(cli->report, &err);
}

static void print_text(const lap_cli *cli, const lap_view *view, const lap_difference *d, bool equal)
{
    enum { AT = 20 };
    char first[160], pixels[160];
    printf("%s%d x %d, %d channel%s%s\n", lap_term_bold(cli, stdout), view->width, view->height,
        view->channels, view->channels == 1 ? "" : "s", lap_term_plain(cli, stdout));
    if (d->identical) {
        puts("identical");
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
    puts(equal ? "equal within the tolerance" : "different");
}

/* b, with what does not count made equal to a: b itself, or a copy, since a report shows b as it is. copy: to
 * be freed. LAP_E_MEMORY. */
static lap_code excused(
    const lap_cli *cli, const lap_view *a, const lap_view *b, lap_view *counted, uint8_t **copy)
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
    lap_difference_excuse(a, counted, &rules);
    return LAP_OK;
}

/* A rectangle that lies outside the image would be passed over in silence. */
static lap_cli_exit check_boxes(const lap_cli *cli, const lap_view *view)
{
    for (size_t i = 0; i < cli->ignore.count; i++) {
        const lap_diff_box *box = &cli->ignore.box[i];
        if (box->x >= view->width || box->y >= view->height)
            return lap_cli_usage("--ignore=%d,%d,%d,%d lies outside the image, which has %d x %d pixels",
                box->x, box->y, box->width, box->height, view->width, view->height);
    }
    return LAP_EXIT_OK;
}

static lap_cli_exit compare_counted(
    lap_cli *cli, lap_context *context, const lap_view *b, lap_compare_row *row)
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
    const bool equal = lap_cli_is_equal(cli, &row->difference);
    if (lap_cli_wants_json(cli) && lap_json_print(object_of(cli, a, &row->difference, equal)) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    if (!cli->json && !cli->quiet)
        print_text(cli, a, &row->difference, equal);
    if (cli->report && write_report(cli, context, b, row, equal) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    return equal ? LAP_EXIT_OK : LAP_EXIT_FAILED;
}

static lap_cli_exit compare(lap_cli *cli, lap_context *context, const lap_view *a, const lap_view *b)
{
    lap_view counted;
    uint8_t *copy = NULL;
    lap_compare_row row = {.a = a, .b = &counted};
    if (check_boxes(cli, a) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    if (excused(cli, a, b, &counted, &copy) != LAP_OK)
        return lap_cli_no_comparison(
            cli->operands[1], &(lap_error){.code = LAP_E_MEMORY, .message = "out of memory"});
    const lap_cli_exit code = compare_counted(cli, context, b, &row);
    free(copy);
    return code;
}

int lap_cli_diff(lap_cli *cli)
{
    lap_pixels *pictures[2] = {NULL, NULL};
    lap_error err = {0};
    if (cli->operand_count != 2)
        return lap_cli_usage("diff takes two images, or two folders: lapedge diff A B");
    if (cli->forms == LAP_CLI_DIFF_FOLDER)
        return lap_diff_folders(cli);
    if (strcmp(cli->operands[0], "-") == 0 && strcmp(cli->operands[1], "-") == 0)
        return lap_cli_usage("only one of A and B can be standard input");
    if (lap_report_check(cli) != LAP_EXIT_OK)
        return LAP_EXIT_USAGE;
    lap_context *context = lap_cli_begin(cli, &err);
    if (!context)
        return (int)lap_cli_no_comparison("", &err);
    int exit_code = LAP_EXIT_OK;
    const double began = lap_cli_now_ms();
    for (int i = 0; i < 2 && exit_code == LAP_EXIT_OK; i++)
        if (lap_pixels_read(context, cli->operands[i], &cli->settings, &pictures[i], &err) != LAP_OK)
            exit_code = (int)lap_cli_no_comparison(cli->operands[i], &err);
    if (cli->verbose && exit_code == LAP_EXIT_OK)
        lap_cli_message("both read with up to %d threads, %.1f ms%s%s", lap_context_threads(context),
            lap_cli_now_ms() - began, *lap_pixels_note(pictures[0]) ? "; the first " : "",
            lap_pixels_note(pictures[0]));
    if (exit_code == LAP_EXIT_OK)
        exit_code = (int)compare(cli, context, lap_pixels_view(pictures[0]), lap_pixels_view(pictures[1]));
    lap_pixels_free(pictures[0]);
    lap_pixels_free(pictures[1]);
    lap_cli_end(context);
    return exit_code;
}
