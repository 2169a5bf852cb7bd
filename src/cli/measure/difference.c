#include "cli/measure/measure.h"

#include <float.h>
#include <math.h>

#include "cli/commands.h"

static bool has_limit(const lap_cli_tolerance *allowed)
{
    return allowed->max_differing >= 0 || allowed->max_differing_share >= 0 || allowed->min_psnr >= 0;
}

/* Returns the limit of --max-abs: 0 if no limit was given at all; -1: any difference is allowed. */
static int allowed_abs(const lap_cli_tolerance *allowed)
{
    return allowed->max_abs >= 0 ? allowed->max_abs : has_limit(allowed) ? -1 : 0;
}

/* 0.7 % of 1000 pixels must be 7 pixels, however the two factors are rounded. */
static bool is_within_share(const lap_difference *d, double share)
{
    return (double)d->differing_pixels <= share * (double)d->pixels * (1 + 4 * DBL_EPSILON);
}

bool lap_cli_is_equal(const lap_cli *cli, const lap_difference *d)
{
    const lap_cli_tolerance *allowed = &cli->allowed;
    const int max_abs = allowed_abs(allowed);
    if (d->identical)
        return true;
    return (max_abs < 0 || d->max_abs <= max_abs) &&
           (allowed->max_differing < 0 || (double)d->differing_pixels <= allowed->max_differing) &&
           (allowed->max_differing_share < 0 || is_within_share(d, allowed->max_differing_share)) &&
           (allowed->min_psnr < 0 || d->psnr >= allowed->min_psnr);
}

lap_diff_rules lap_cli_diff_rules(const lap_cli *cli, bool with_ssim)
{
    return (lap_diff_rules){.mask_border = cli->allowed.mask_border,
        .with_ssim = with_ssim,
        .pixel_threshold = cli->allowed.pixel_threshold,
        .ignore = cli->ignore.box,
        .ignore_count = cli->ignore.count};
}

static json_t *boxes_of(const lap_cli_boxes *boxes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < boxes->count; i++) {
        const lap_diff_box *box = &boxes->box[i];
        json_array_append_new(list, json_pack("[iiii]", box->x, box->y, box->width, box->height));
    }
    return list;
}

static json_t *whole_or_null(double value)
{
    return value < 0 ? json_null() : json_integer((json_int_t)value);
}

json_t *lap_json_tolerance(const lap_cli *cli, int promised)
{
    const lap_cli_tolerance *allowed = &cli->allowed;
    json_t *object = json_object();
    json_object_set_new(object, "max_abs", whole_or_null(allowed_abs(allowed)));
    json_object_set_new(object, "max_differing", whole_or_null(allowed->max_differing));
    json_object_set_new(object, "max_differing_share",
        lap_json_real(allowed->max_differing_share < 0 ? NAN : allowed->max_differing_share));
    json_object_set_new(object, "min_psnr", lap_json_real(allowed->min_psnr < 0 ? NAN : allowed->min_psnr));
    json_object_set_new(object, "mask_border", json_integer(allowed->mask_border));
    if (cli->forms & (LAP_CLI_DIFF | LAP_CLI_DIFF_FOLDER)) {
        json_object_set_new(object, "threshold_per_pixel", json_integer(allowed->pixel_threshold));
        json_object_set_new(object, "ignore", boxes_of(&cli->ignore));
    }
    if (promised >= -1)
        json_object_set_new(object, "promised", whole_or_null(promised));
    return object;
}

static json_t *first_of(const lap_difference *d)
{
    if (d->identical)
        return json_null();
    return json_pack("{si si si si si sb}", "x", d->first_x, "y", d->first_y, "channel", d->first_channel,
        "a", d->first_a, "b", d->first_b, "at_border", d->first_at_border);
}

void lap_json_difference(json_t *object, const lap_difference *d, bool has_figures)
{
    const bool has = d && has_figures;
    json_object_set_new(object, "identical", d ? json_boolean(d->identical) : json_null());
    json_object_set_new(object, "max_abs", has ? json_integer(d->max_abs) : json_null());
    json_object_set_new(object, "mean_abs", lap_json_real(has ? d->mean_abs : NAN));
    json_object_set_new(object, "rmse", lap_json_real(has ? d->rmse : NAN));
    json_object_set_new(object, "psnr", lap_json_real(has ? d->psnr : NAN));
    json_object_set_new(
        object, "differing_pixels", has ? json_integer((json_int_t)d->differing_pixels) : json_null());
    json_object_set_new(object, "first_difference", has ? first_of(d) : json_null());
}

void lap_json_excused(json_t *object, const lap_difference *d, bool excused)
{
    lap_json_difference(object, d, true);
    if (d && excused)
        json_object_set_new(object, "identical", json_false());
}

void lap_cli_first_difference(const lap_difference *d, const char *a, const char *b, char *text, size_t size)
{
    snprintf(text, size, "x %d, y %d, channel %d: %s %d, %s %d, in the %s", d->first_x, d->first_y,
        d->first_channel, a, d->first_a, b, d->first_b, d->first_at_border ? "border" : "interior");
}

lap_cli_exit lap_cli_no_comparison(const char *path, const lap_error *err)
{
    if (err->code == LAP_E_CANCELLED && lap_cli_caught())
        return lap_cli_exit_of(err->code);
    lap_cli_print_error(err, path);
    return err->code == LAP_E_BACKEND ? LAP_EXIT_BACKEND : LAP_EXIT_USAGE;
}
