/* What every_fault does with many photos, and with many backends. */
#include "lapedge_program.h"
#include "tests/faults/each.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- backends ---------------------------------------------------------------------------------- */

/* A row that failed says why; the others are as they would be without it. */
static void each_compared(void *user, const lap_compare_row *row)
{
    each_result *r = user;
    if (row->reason)
        r->all = r->all && !row->resolved;
    else
        each_add(r, &row->difference.identical, sizeof row->difference.identical);
}

static void compared(each_result *r)
{
    const lap_settings s = each_plain();
    const bool on_cpu = strcmp(each_backend, "c") == 0;
    const lap_compare_options o = {.backends = on_cpu ? "c,simd-sse41,pairwise,simd" : "c,cuda-fast",
        .runs = 1,
        .each = each_compared,
        .user = r};
    lap_pixels *pixels = each_pixels(r, "small.ppm");
    for (int op = 0; op < LAP_OP_COUNT && r->code == LAP_OK; op++)
        r->code = lap_compare(each_context, (lap_op)op, pixels, &o, &s, &r->err);
    lap_pixels_free(pixels);
}

static void each_benched(void *user, const lap_bench_row *row)
{
    each_result *r = user;
    if (row->reason)
        r->all = r->all && !row->resolved;
    else if (row->resolved)
        each_add(r, row->resolved, strlen(row->resolved));
}

static void bench(each_result *r, lap_op op, const char *image)
{
    const lap_bench_options o = {.image = image,
        .width = image ? 0 : 24,
        .height = image ? 0 : 16,
        .channels = 1,
        .n = 256,
        .runs = 1,
        .backends = op == LAP_OP_CODEC               ? NULL
                    : strcmp(each_backend, "c") == 0 ? "c,simd"
                                                     : "c,cuda-fast",
        .params = lap_params_default()};
    r->code = lap_bench(each_context, op, &o, each_benched, r, &r->err);
}

static void bench_filter(each_result *r)
{
    bench(r, LAP_OP_FILTER, "in/a.jpg");
}
static void bench_transpose(each_result *r)
{
    bench(r, LAP_OP_TRANSPOSE, NULL);
}
static void bench_reduce(each_result *r)
{
    bench(r, LAP_OP_REDUCE, NULL);
}
static void bench_histogram(each_result *r)
{
    bench(r, LAP_OP_HISTOGRAM, NULL);
}
static void bench_matvec(each_result *r)
{
    bench(r, LAP_OP_MATVEC, NULL);
}
static void bench_codec(each_result *r)
{
    bench(r, LAP_OP_CODEC, "in");
}

/* ---- many photos ------------------------------------------------------------------------------------- */

static const char *const folder_in[] = {"in"};
static const lap_batch_take every = {.extensions = "jpg,png"};

static void each_file(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    each_result *r = user;
    (void)counts;
    if (file && file->report->status == LAP_FAILED && file->report->error.code == LAP_OK)
        r->digest = 1; /* never: a failure without a reason */
}

/* Never right, whatever fails: the digest is another one. */
static void each_is_wrong(each_result *r)
{
    r->code = LAP_OK;
    r->all = true;
    r->digest = ~(uint64_t)0;
}

static void batch_with(each_result *r, lap_batch_options o, bool sync)
{
    lap_batch_counts counts;
    lap_settings s = each_plain();
    s.sync = sync;
    s.format = "jpg";
    if (!o.files_from && !o.inputs) {
        o.inputs = folder_in;
        o.input_count = 1;
    }
    o.out_dir = "out";
    r->code = lap_batch(each_context, &o, &s, each_file, r, &counts, &r->err);
    r->all = r->code == LAP_OK && counts.failed == 0 && counts.ok + counts.skipped == counts.expected;
    if (counts.kinds[LAP_E_EXISTS] && !o.force) /* all that stands there was made by us */
        each_is_wrong(r);
}

static void batch(each_result *r)
{
    lap_batch_others others = {0};
    batch_with(r, (lap_batch_options){.take = &every, .others = &others}, true);
}

static void batch_of_a_list(each_result *r)
{
    static const char *const sides[] = {"log"};
    const lap_batch_devices traced = {.trace = "out/trace.json"};
    lap_batch_work work;
    batch_with(r,
        (lap_batch_options){.files_from = "list",
            .sides = sides,
            .side_count = 1,
            .suffix = "-edges",
            .flat = true,
            .devices = &traced,
            .work = &work},
        false);
}

/* A name that is no text. */
static void batch_of_odd_names(each_result *r)
{
    static const char *const odd[] = {"odd"};
    batch_with(r, (lap_batch_options){.inputs = odd, .input_count = 1}, true);
}

static void batch_before(void)
{
    each_result r = {0};
    batch_with(&r, (lap_batch_options){0}, false);
    if (!r.all)
        abort();
}

static void batch_again(each_result *r)
{
    batch_with(r, (lap_batch_options){.take = &every}, true);
}

/* Whatever fails in the first run, the second one knows its outputs again. */
static void batch_twice(each_result *r)
{
    each_result first = {0};
    batch_with(&first, (lap_batch_options){.take = &every}, true);
    batch_with(r, (lap_batch_options){.take = &every}, true);
    if (first.digest)
        each_is_wrong(r);
}

static void batch_by_force(each_result *r)
{
    batch_with(r, (lap_batch_options){.force = true, .rebuild = true, .jobs = 1}, false);
}

static void batch_dry(each_result *r)
{
    batch_with(r, (lap_batch_options){.dry_run = true}, false);
}

static void one_is_gone(void)
{
    size_t size;
    void *photo = each_get("in/a.jpg", &size);
    each_put("in/gone.jpg", photo, size);
    each_put("in/other.jpg", photo, size);
    free(photo);
    batch_before();
    remove("in/gone.jpg");
    remove("in/other.jpg");
    each_put("out/other.jpg", "no longer ours", 14);
}

static void prune_with(each_result *r, lap_batch_options o)
{
    lap_batch_prune prune = {0};
    o.prune = &prune;
    batch_with(r, o, true);
    const bool is_said = prune.failed + prune.elsewhere + prune.kept > 0 || prune.refused.code != LAP_OK;
    const bool is_silent = r->code == LAP_OK && prune.removed != 1 && !is_said;
    r->all = r->all && prune.removed == 1 && !is_said;
    /* Memory that runs out here is an error of the run, and no refusal. */
    char no_memory[80];
    snprintf(no_memory, sizeof no_memory, "cannot be examined: %s", strerror(ENOMEM));
    const bool is_hidden = r->code == LAP_OK && strcmp(prune.refused.message, no_memory) == 0;
    if (is_silent || is_hidden)
        each_is_wrong(r);
}

static void pruned(each_result *r)
{
    prune_with(r, (lap_batch_options){0});
}

static void one_is_gone_of_a_moved_folder(void)
{
    static const char *const from[] = {"from"};
    size_t size;
    each_result r = {0};
    void *photo = each_get("in/a.jpg", &size);
    (void)mkdir("from", 0755);
    each_put("from/a.jpg", photo, size);
    each_put("from/gone.jpg", photo, size);
    free(photo);
    batch_with(&r, (lap_batch_options){.inputs = from, .input_count = 1}, false);
    remove("from/gone.jpg");
    remove("moved/a.jpg"); /* of the time before */
    if (!r.all || rename("from", "moved") != 0)
        abort();
}

static void pruned_by_force(each_result *r)
{
    static const char *const moved[] = {"moved"};
    prune_with(r, (lap_batch_options){.inputs = moved, .input_count = 1, .force = true});
}

static void photos_are_there(void)
{
    size_t size;
    void *photo = each_get("in/a.jpg", &size);
    each_put("out/o.jpg", photo, size);
    each_put("out/p.jpg", photo, size);
    free(photo);
}

static void photos_in_place(each_result *r)
{
    static const char *const photos[] = {"out/o.jpg", "out/p.jpg"};
    const lap_batch_options o = {.inputs = photos, .input_count = 2};
    const lap_in_place order = {.options = &o, .backup = ".orig", .each = each_file, .user = r};
    lap_batch_counts counts;
    const lap_settings s = each_plain();
    r->code = lap_batch_in_place(each_context, &order, &s, &counts, &r->err);
    r->all = r->code == LAP_OK && counts.failed == 0 && counts.ok + counts.skipped == counts.expected;
}

/* Beside outputs of a folder run, whose records tell that they are not filtered yet. */
static void photos_and_outputs(void)
{
    static const char names[] = "out/o.jpg\nout/p.jpg\n";
    batch_before();
    photos_are_there();
    each_put("photos", names, sizeof names - 1);
}

static void listed_in_place(each_result *r)
{
    lap_batch_others others = {.finds_made = true};
    const lap_batch_options o = {.files_from = "photos", .others = &others};
    const lap_in_place order = {.options = &o, .each = each_file, .user = r};
    lap_batch_counts counts;
    const lap_settings s = each_plain();
    r->code = lap_batch_in_place(each_context, &order, &s, &counts, &r->err);
    r->all = r->code == LAP_OK && counts.failed == 0 && counts.ok == 2;
}

/* Whatever fails in the first run, the second one filters nothing twice. */
static void in_place_twice(each_result *r)
{
    each_result first = {0};
    photos_in_place(&first);
    photos_in_place(r);
    if (first.digest)
        each_is_wrong(r);
}

static void each_measured(void *user, const lap_measured *file, const lap_batch_counts *counts)
{
    (void)counts;
    if (file && file->measurement)
        each_add_stats(user, &file->measurement->stats.edges);
}

static void measured_batch(each_result *r)
{
    lap_batch_counts counts;
    const lap_settings s = each_plain();
    const lap_measure_options m = {.threshold = -1, .profiles = true};
    const lap_batch_options o = {.inputs = folder_in, .input_count = 1, .take = &every};
    r->code = lap_measure_batch(each_context,
        &(lap_measure_order){.options = &o, .measure = &m, .each = each_measured, .user = r}, &s, &counts,
        &r->err);
    r->all = r->code == LAP_OK && counts.failed == 0;
}

static bool each_pair(void *user, const lap_pair *pair, const lap_batch_counts *counts)
{
    each_result *r = user;
    (void)counts;
    if (!pair)
        return true;
    each_add(r, pair->relative, strlen(pair->relative));
    if (pair->difference)
        each_add(r, &pair->difference->max_abs, sizeof(int));
    return true;
}

static void folders_compared(each_result *r)
{
    lap_batch_counts counts;
    const lap_settings s = each_plain();
    const lap_batch_options o = {.take = &every};
    const lap_diff_rules rules = {.with_ssim = true};
    r->code = lap_compare_folders(
        each_context, &(lap_pairing){"in", "there", &o, &rules, each_pair, r}, &s, &counts, &r->err);
    r->all = r->code == LAP_OK && counts.failed == 0;
}

static lap_code each_input(void *user, const char *path, const lap_error *problem, lap_error *err)
{
    each_result *r = user;
    (void)err;
    each_add(r, path, strlen(path));
    r->all = r->all && !problem;
    return LAP_OK;
}

static void listed(each_result *r)
{
    r->code = lap_inputs(folder_in, 1, each_input, r, NULL, &r->err);
}

const each_case each_many[] = {SLOW(compared), SLOW(bench_filter), SLOW(bench_transpose), SLOW(bench_reduce),
    SLOW(bench_histogram), SLOW(bench_matvec), SLOW(bench_codec), CASE(batch), CASE(batch_of_a_list),
    CASE(batch_of_odd_names), AFTER(batch_before, batch_again), CASE(batch_twice),
    AFTER(batch_before, batch_by_force), CASE(batch_dry), AFTER(one_is_gone, pruned),
    AFTER(one_is_gone_of_a_moved_folder, pruned_by_force), AFTER(photos_are_there, photos_in_place),
    AFTER(photos_are_there, in_place_twice), AFTER(photos_and_outputs, listed_in_place), CASE(measured_batch),
    CASE(folders_compared), CASE(listed), END};
