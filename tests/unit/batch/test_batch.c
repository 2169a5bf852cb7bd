#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/batch.h"
#include "batch/jobs.h"
#include "io/source.h"
#include "lapedge_program.h"
#include "run/run.h"
#include "run/settings.h"
#include "tests/support/temporary.h"

static char home[TEMPORARY_PATH], previous[4096];
enum { PHOTOS = 40 };

static void put(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* in/0.ppm .. in/39.ppm beside each other, listed by name: recognised by content, so extensions do not
 * matter. */
static int enter_folder(void **state)
{
    char name[64], photo[15 + 8 * 8 * 3];
    (void)state;
    if (!getcwd(previous, sizeof previous) || !mkdtemp(temporary(home, "batch")) || chdir(home) ||
        mkdir("in", 0755))
        return -1;
    memset(photo, 100, sizeof photo);
    memcpy(photo, "P6\n8 8\n255\n", 11);
    for (int i = 0; i < PHOTOS; i++) {
        snprintf(name, sizeof name, "in/%d.jpg", i);
        put(name, photo, 11 + 8 * 8 * 3);
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir(previous) == 0 ? nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS) : -1;
}

typedef struct watch {
    lap_context *context;
    pthread_t thread;
    int files, ticks, cancel_after;
    uint64_t last_expected;
} watch;

static void on_event(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    watch *w = user;
    assert_true(pthread_equal(w->thread, pthread_self()));
    w->ticks += !file;
    w->last_expected = counts->expected;
    if (!file)
        return;
    w->files++;
    assert_int_equal(w->files, counts->ok + counts->warned + counts->skipped + counts->failed);
    assert_int_equal(counts->waiting_pixels, counts->waiting * 64);
    assert_non_null(file->input);
    if (w->files == w->cancel_after)
        lap_context_cancel(w->context);
}

static const char *const folder_in[] = {"in"};

static lap_code run(lap_batch_options options, lap_settings settings, int cancel_after,
    lap_batch_counts *counts, lap_error *err)
{
    watch w = {
        .context = lap_context_create(3, NULL), .thread = pthread_self(), .cancel_after = cancel_after};
    assert_non_null(w.context);
    if (!options.inputs) {
        options.inputs = folder_in;
        options.input_count = 1;
    }
    options.out_dir = options.out_dir ? options.out_dir : "out";
    lap_code code = lap_batch(w.context, &options, &settings, on_event, &w, counts, err);
    lap_context_destroy(w.context);
    return code;
}

static lap_settings quick(void)
{
    lap_settings settings = lap_settings_default();
    settings.sync = false;
    return settings;
}

static void all_are_counted(void **state)
{
    lap_batch_counts counts;
    (void)state;
    put("in/bad.jpg", "x", 1);
    assert_int_equal(run((lap_batch_options){0}, quick(), 0, &counts, NULL), LAP_OK);
    assert_int_equal(counts.found, PHOTOS + 1);
    assert_int_equal(counts.expected, PHOTOS + 1);
    assert_int_equal(counts.ok, PHOTOS);
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.kinds[LAP_E_NOT_IMAGE], 1);
    assert_int_equal(counts.pixels, 64 * PHOTOS);
    assert_true(counts.bytes_in > 0 && counts.bytes_out > 0 && counts.ms > 0);
    assert_int_equal(run((lap_batch_options){.dry_run = true}, quick(), 0, &counts, NULL), LAP_OK);
    assert_int_equal(counts.kinds[LAP_OK], PHOTOS);
}

/* Finished outputs are reported once their group has its names; cancelling then keeps them. */
static void a_cancelled_run_keeps_what_is_finished(void **state)
{
    lap_batch_counts counts;
    lap_error err;
    (void)state;
    put("in/!.jpg", "x", 1); /* the first by name; fails, and is reported at once */
    /* Photos this small may all be done before the flag is seen: then the run is whole, and is tried again.
     */
    lap_code code = LAP_OK;
    lap_batch_options options = {.jobs = 1};
    char out[16];
    for (int i = 0; i < 50 && code == LAP_OK; i++) {
        snprintf(out, sizeof out, "out-%d", i);
        options.out_dir = out;
        code = run(options, quick(), 1, &counts, &err);
        assert_true(code == LAP_E_CANCELLED || counts.ok == PHOTOS);
    }
    assert_int_equal(code, LAP_E_CANCELLED);
    assert_true(err.message[0]);
    uint64_t kept = counts.ok;
    assert_true(counts.found <= PHOTOS + 1);
    options.jobs = 0;
    assert_int_equal(run(options, quick(), 0, &counts, NULL), LAP_OK);
    assert_int_equal(counts.kinds[LAP_OK], kept);
    assert_int_equal(counts.ok, PHOTOS - kept);
}

static void fail_fast_ends_the_run(void **state)
{
    lap_batch_counts counts;
    static const char *const inputs[] = {"missing.jpg", "in"};
    (void)state;
    assert_int_equal(run((lap_batch_options){.inputs = inputs, .input_count = 2, .fail_fast = true}, quick(),
                         0, &counts, NULL),
        LAP_OK);
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.found, 1);
    assert_int_equal(counts.expected, PHOTOS + 1);
}

/* What ends the walk by itself is an error, also after a failure that ends it. */
static void fail_fast_hides_no_error_of_the_walk(void **state)
{
    lap_jobs jobs = {.failed_fast = true};
    const lap_error none = {0};
    lap_error why, err = {0};
    (void)state;
    lap_fail_at(&why, LAP_E_UNREADABLE, "a list", "cannot be read");
    assert_int_equal(lap_jobs_result(&jobs, LAP_E_UNREADABLE, &why, &err), LAP_E_UNREADABLE);
    assert_string_equal(err.subject, "a list");
    assert_int_equal(lap_jobs_result(&jobs, LAP_E_CANCELLED, &none, &err), LAP_OK);
}

static void shards_add_up(void **state)
{
    lap_batch_counts counts;
    uint64_t ok = 0;
    (void)state;
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(
            run((lap_batch_options){.shard = i, .shards = 7}, quick(), 0, &counts, NULL), LAP_OK);
        assert_int_equal(counts.expected + counts.other_shards, PHOTOS);
        assert_int_equal(counts.ok, counts.expected);
        assert_int_equal(counts.skipped, 0);
        ok += counts.ok;
    }
    assert_int_equal(ok, PHOTOS);
    for (uint32_t shards = 0; shards < 3; shards++) {
        const lap_batch_options beyond = {.shard = shards ? shards : 1, .shards = shards};
        assert_int_equal(run(beyond, quick(), 0, &counts, NULL), LAP_E_USAGE);
    }
}

static void refusals(void **state)
{
    static const char *const missing[] = {"missing"}, *const file[] = {"in/0.jpg"};
    lap_batch_counts counts;
    lap_error err;
    lap_settings bad = quick();
    (void)state;
    assert_int_equal(run((lap_batch_options){.out_dir = "in"}, quick(), 0, &counts, &err), LAP_E_USAGE);
    assert_int_equal(run((lap_batch_options){.inputs = file, .input_count = 1, .out_dir = "in"}, quick(), 0,
                         &counts, &err),
        LAP_E_USAGE);
    assert_int_equal(run((lap_batch_options){.inputs = missing, .input_count = 1}, quick(), 0, &counts, &err),
        LAP_E_MISSING);
    assert_int_equal(run((lap_batch_options){.out_dir = "in/0.jpg"}, quick(), 0, &counts, &err), LAP_E_WRITE);
    assert_non_null(strstr(err.message, "is not a folder"));
    assert_int_equal(
        run((lap_batch_options){.files_from = "nolist"}, quick(), 0, &counts, &err), LAP_E_MISSING);
    bad.quality = 101;
    assert_int_equal(run((lap_batch_options){0}, bad, 0, &counts, &err), LAP_E_USAGE);
    assert_int_not_equal(access("out", F_OK), 0);
}

/* What is under way is bounded, however many photos there are. */
static void on_many(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    uint64_t *most = user;
    const uint64_t open = counts->found - counts->ok - counts->warned - counts->skipped - counts->failed;
    (void)file;
    *most = open > *most ? open : *most;
}

static void few_of_many_are_under_way(void **state)
{
    enum { MANY = 900, GROUP = 256, AHEAD = 64, JOBS = 2 };
    lap_batch_counts counts;
    lap_settings s = quick();
    char name[32];
    uint64_t most = 0;
    (void)state;
    for (int i = PHOTOS; i < MANY; i++) {
        snprintf(name, sizeof name, "in/%d.jpg", i);
        assert_int_equal(link("in/0.jpg", name), 0);
    }
    lap_context *context = lap_context_create(JOBS, NULL);
    const lap_batch_options o = {.inputs = folder_in, .input_count = 1, .out_dir = "out"};
    assert_int_equal(lap_batch(context, &o, &s, on_many, &most, &counts, NULL), LAP_OK);
    lap_context_destroy(context);
    assert_int_equal(counts.ok, MANY);
    assert_in_range(most, 1, GROUP + AHEAD + JOBS + 1);
}

/* Somebody who waits is called about ten times a second: not never, and not all the time. */
static atomic_int ticks;

static void rest(void *user, int rows_done, int rows_total)
{
    const struct timespec pause = {.tv_nsec = 350000000};
    (void)user, (void)rows_done, (void)rows_total;
    for (int i = 0; i == 0 || (i < 100 && atomic_load(&ticks) == 0); i++) /* a busy machine may take longer */
        nanosleep(&pause, NULL);
}

static void on_measured(void *user, const lap_measured *file, const lap_batch_counts *counts)
{
    (void)user, (void)counts;
    atomic_fetch_add(&ticks, !file);
}

static void who_waits_is_called(void **state)
{
    static const char *const one[] = {"in/0.jpg"};
    lap_batch_counts counts;
    const lap_measure_options m = {.threshold = -1};
    (void)state;
    atomic_store(&ticks, 0);
    lap_context *context = lap_context_create(2, NULL);
    lap_settings s = quick();
    s.progress = rest;
    const lap_batch_options o = {.inputs = one, .input_count = 1};
    const lap_measure_order order = {.options = &o, .measure = &m, .each = on_measured};
    assert_int_equal(lap_measure_batch(context, &order, &s, &counts, NULL), LAP_OK);
    lap_context_destroy(context);
    assert_int_equal(counts.ok, 1);
    assert_in_range(atomic_load(&ticks), 1, counts.ms / 50 + 2);
}

/* Texts are made on other threads, so they tell who made them; one in ten is lost, as memory may be. */
typedef struct texts {
    pthread_t owner;
    int right, lost, failed;
} texts;

static bool is_lost(const lap_measured *file)
{
    const size_t length = strlen(file->input);
    return file->input[length - sizeof "7.jpg" + 1] == '7';
}

static char *text_of(void *user, const lap_measured *file)
{
    char *text = NULL;
    assert_non_null(file->measurement);
    if (is_lost(file) || asprintf(&text, "%s %d %d", file->input, file->measurement->width,
                             pthread_equal(pthread_self(), ((texts *)user)->owner)) < 0)
        return NULL;
    return text;
}

static void on_text(void *user, const lap_measured *file, const lap_batch_counts *counts)
{
    texts *t = user;
    char expected[64];
    (void)counts;
    if (!file)
        return;
    if (!file->measurement) {
        assert_null(file->text);
        t->failed++;
    } else if (is_lost(file)) {
        assert_null(file->text);
        t->lost++;
    } else {
        snprintf(expected, sizeof expected, "%s %d 0", file->input, file->measurement->width);
        assert_string_equal(file->text, expected);
        t->right++;
    }
}

static void texts_are_made_by_threads_and_given_in_order(void **state)
{
    lap_batch_counts counts;
    const lap_measure_options m = {.threshold = -1};
    texts t = {.owner = pthread_self()};
    const lap_settings s = quick();
    (void)state;
    put("in/broken.jpg", "x", 1);
    lap_context *context = lap_context_create(3, NULL);
    const lap_batch_options o = {.inputs = folder_in, .input_count = 1};
    const lap_measure_order order = {
        .options = &o, .measure = &m, .each = on_text, .text = text_of, .user = &t};
    assert_int_equal(lap_measure_batch(context, &order, &s, &counts, NULL), LAP_OK);
    lap_context_destroy(context);
    assert_int_equal(unlink("in/broken.jpg"), 0);
    assert_int_equal(t.right + t.lost, counts.ok);
    assert_true(t.right > t.lost && t.lost > 0);
    assert_int_equal(t.failed, 1);
}

/* The first photo's text comes late, the others are large. */
enum { LARGE_TEXT = 8 << 20 };
typedef struct waiting {
    atomic_int made, given, most;
} waiting;

static char *large_text_of(void *user, const lap_measured *file)
{
    waiting *w = user;
    if (strcmp(file->input, "in/0.jpg") == 0) {
        usleep(700000);
        return strdup("first");
    }
    char *text = malloc(LARGE_TEXT);
    if (!text)
        return NULL;
    memset(text, 'x', LARGE_TEXT - 1);
    text[LARGE_TEXT - 1] = '\0';
    const int now = atomic_fetch_add(&w->made, 1) + 1 - atomic_load(&w->given);
    if (now > atomic_load(&w->most))
        atomic_store(&w->most, now);
    return text;
}

static void on_large_text(void *user, const lap_measured *file, const lap_batch_counts *counts)
{
    waiting *w = user;
    (void)counts;
    if (file && file->text && file->text[0] == 'x')
        atomic_fetch_add(&w->given, 1);
}

static void few_large_texts_wait(void **state)
{
    enum { THREADS = 3 };
    lap_batch_counts counts;
    const lap_measure_options m = {.threshold = -1};
    waiting w = {0};
    const lap_settings s = quick();
    (void)state;
    lap_context *context = lap_context_create(THREADS, NULL);
    const lap_batch_options o = {.inputs = folder_in, .input_count = 1};
    const lap_measure_order order = {
        .options = &o, .measure = &m, .each = on_large_text, .text = large_text_of, .user = &w};
    assert_int_equal(lap_measure_batch(context, &order, &s, &counts, NULL), LAP_OK);
    lap_context_destroy(context);
    assert_int_equal(counts.ok, PHOTOS);
    assert_int_equal(w.given, PHOTOS - 1);
    assert_in_range(w.most, 1, THREADS + LAP_EXECUTOR_LOW);
}

static bool on_pair(void *user, const lap_pair *pair, const lap_batch_counts *counts)
{
    (void)counts;
    if (pair)
        ((int *)user)[pair->error->code != LAP_OK ? 2 : pair->difference ? 0 : 1]++;
    return true;
}

static bool on_pair_of_five(void *user, const lap_pair *pair, const lap_batch_counts *counts)
{
    (void)counts;
    return !pair || ++*(int *)user < 5;
}

/* Equal, only in one folder, and what cannot be compared. */
static void pairs_are_counted(void **state)
{
    lap_batch_counts counts;
    lap_error err;
    int pairs[3] = {0};
    const lap_settings s = quick();
    (void)state;
    assert_int_equal(mkdir("there", 0777), 0);
    for (int i = 0; i < 10; i++) {
        char from[32], to[32];
        snprintf(from, sizeof from, "in/%d.jpg", i);
        snprintf(to, sizeof to, "there/%d.jpg", i);
        assert_int_equal(link(from, to), 0);
    }
    put("in/bad.jpg", "x", 1);
    put("there/bad.jpg", "P6 1 1 255 abc", 14);
    lap_context *context = lap_context_create(2, NULL);
    lap_pairing pairing = {"in", "there", &(lap_batch_options){0}, &(lap_diff_rules){0}, on_pair, pairs};
    assert_int_equal(lap_compare_folders(context, &pairing, &s, &counts, &err), LAP_OK);
    int until_five = 0;
    lap_batch_counts early;
    pairing.each = on_pair_of_five;
    pairing.user = &until_five;
    assert_int_equal(lap_compare_folders(context, &pairing, &s, &early, &err), LAP_OK);
    assert_int_equal(until_five, 5);
    assert_int_equal(early.expected, PHOTOS + 1);
    assert_int_equal(early.ok + early.failed, 5);
    assert_int_equal(early.vanished, 0);
    pairing.b = "nowhere";
    assert_int_equal(lap_compare_folders(context, &pairing, &s, &(lap_batch_counts){0}, &err), LAP_E_MISSING);
    lap_context_destroy(context);
    assert_int_equal(pairs[0], 10);
    assert_int_equal(pairs[1], PHOTOS - 10);
    assert_int_equal(pairs[2], 1);
    assert_int_equal(counts.expected, PHOTOS + 1);
    assert_int_equal(counts.found, PHOTOS + 1);
    assert_int_equal(counts.ok, PHOTOS);
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.pixels, 640);
    uint64_t kinds = 0;
    for (int i = 0; i < LAP_CODES; i++)
        kinds += counts.kinds[i];
    assert_int_equal(kinds, 1);
    assert_int_equal(counts.kinds[LAP_E_NOT_IMAGE], 1);
}

/* ---- photos that are removed during a run ------------------------------------------------------- */

enum { LATER = 300 };

static void link_later(void)
{
    char name[64];
    for (int i = 0; i < LATER; i++) {
        snprintf(name, sizeof name, "in/later/%d.jpg", i);
        assert_int_equal(link("in/0.jpg", name), 0);
    }
}

static void unlink_later(void)
{
    char name[64];
    for (int i = 0; i < LATER; i++) {
        snprintf(name, sizeof name, "in/later/%d.jpg", i);
        (void)unlink(name);
    }
}

static void on_file(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    (void)user, (void)counts;
    if (file)
        unlink_later();
}

static void on_row(void *user, const lap_measured *file, const lap_batch_counts *counts)
{
    (void)user, (void)counts;
    if (file)
        unlink_later();
}

/* Those that were handed in already may be read before they are removed, or fail by name. */
static void check_vanished(const lap_batch_counts *counts)
{
    assert_int_equal(counts->expected, PHOTOS + 1 + LATER);
    assert_int_equal(counts->found + counts->vanished, counts->expected);
    assert_in_range(counts->vanished, 1, LATER);
    assert_in_range(counts->kinds[LAP_E_MISSING], counts->vanished, LATER);
    assert_int_equal(counts->failed, 1 + counts->kinds[LAP_E_MISSING]);
    assert_int_equal(counts->ok + counts->failed, counts->expected);
    link_later();
}

/* Files of a folder come before those of folders in it. */
static void photos_that_vanish_have_failed(void **state)
{
    lap_batch_counts counts;
    const lap_settings s = quick();
    const lap_measure_options m = {.threshold = -1};
    lap_batch_options o = {.inputs = folder_in, .input_count = 1, .out_dir = "out", .jobs = 1};
    (void)state;
    put("in/!.jpg", "x", 1); /* the first one, which is reported at once */
    assert_int_equal(mkdir("in/later", 0777), 0);
    link_later();
    lap_context *context = lap_context_create(1, NULL);
    assert_int_equal(lap_batch(context, &o, &s, on_file, NULL, &counts, NULL), LAP_OK);
    check_vanished(&counts);
    const lap_measure_order order = {.options = &o, .measure = &m, .each = on_row};
    assert_int_equal(lap_measure_batch(context, &order, &s, &counts, NULL), LAP_OK);
    check_vanished(&counts);
    /* A run that ends early has not looked for all. */
    o.fail_fast = true;
    assert_int_equal(lap_batch(context, &o, &s, on_file, NULL, &counts, NULL), LAP_OK);
    assert_int_equal(counts.vanished, 0);
    assert_int_equal(counts.failed, 1);
    o.out_dir = NULL; /* forgotten */
    assert_int_equal(lap_batch(context, &o, &s, on_file, NULL, &counts, NULL), LAP_E_USAGE);
    lap_context_destroy(context);
}

/* A filter of any kind hides photos that are there. */
static void nothing_is_pruned_beside_a_filter(void **state)
{
    static const char *const pattern[] = {"*.jpg"};
    const lap_batch_take takes[] = {{.include = pattern, .include_count = 1},
        {.exclude = pattern, .exclude_count = 1}, {.extensions = "png"}};
    lap_batch_counts counts;
    lap_batch_prune prune = {0};
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            run((lap_batch_options){.take = &takes[i], .prune = &prune}, quick(), 0, &counts, NULL),
            LAP_E_USAGE);
    const lap_batch_take links = {.follow = true};
    assert_int_equal(
        run((lap_batch_options){.take = &links, .prune = &prune}, quick(), 0, &counts, NULL), LAP_OK);
}

static const char *two_folders[] = {"in", "more"};

typedef struct pruning {
    lap_context *context;
    int said, cancel_after;
} pruning;

static void on_pruned(void *user, const char *output, const lap_error *problem)
{
    pruning *p = user;
    assert_non_null(output);
    assert_null(problem);
    if (++p->said == p->cancel_after)
        lap_context_cancel(p->context);
}

/* Prunes after a run over both folders. What *result holds before the run must not matter. */
static lap_code prune_with(
    lap_batch_options options, pruning *p, lap_batch_prune *result, lap_batch_counts *counts, lap_error *err)
{
    const lap_settings settings = quick();
    p->context = lap_context_create(1, NULL);
    assert_non_null(p->context);
    *result = (lap_batch_prune){
        .each = on_pruned, .user = p, .removed = 7, .failed = 7, .kept = 7, .refused = {.code = LAP_E_WRITE}};
    options.inputs = two_folders;
    options.input_count = 2;
    options.out_dir = "out";
    options.prune = result;
    const lap_code code = lap_batch(p->context, &options, &settings, NULL, NULL, counts, err);
    lap_context_destroy(p->context);
    return code;
}

/* The first removal cancels the run, which removes no more; the next one removes the rest. One shard of one
 * is no share, and nobody has to listen to warnings. */
static void a_cancelled_prune_stops(void **state)
{
    lap_batch_counts counts;
    lap_batch_prune result;
    lap_error err;
    char name[64];
    pruning p = {0}, cancelled = {.cancel_after = 1};
    static const int gone[] = {
        1, 10, 11, 12, 13}; /* their records follow each other: no other line stops it */
    (void)state;
    assert_int_equal(mkdir("more", 0755), 0);
    assert_int_equal(rename("in/0.jpg", "more/x.jpg"), 0);
    assert_int_equal(prune_with((lap_batch_options){.shards = 1}, &p, &result, &counts, &err), LAP_OK);
    assert_int_equal(counts.ok, PHOTOS);
    assert_true(result.removed == 0 && result.failed == 0 && result.kept == 0);
    assert_int_equal(result.refused.code, LAP_OK);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        snprintf(name, sizeof name, "in/%d.jpg", gone[i]);
        assert_int_equal(remove(name), 0);
    }
    assert_int_equal(prune_with((lap_batch_options){0}, &cancelled, &result, &counts, &err), LAP_E_CANCELLED);
    assert_int_equal(result.removed, 1);
    assert_int_equal(cancelled.said, 1);
    assert_int_equal(rename("in", "moved"), 0);
    two_folders[0] = "moved";
    assert_int_equal(prune_with((lap_batch_options){.force = true}, &p, &result, &counts, &err), LAP_OK);
    assert_int_equal(result.removed, 4);
    assert_int_equal(p.said, 4);
}

/* A photo that is named may have an output already, beside it or elsewhere. */
static void a_named_photo_is_done_again(void **state)
{
    static const char *const one[] = {"in/0.jpg"};
    lap_batch_counts counts;
    lap_error err;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            run((lap_batch_options){.inputs = one, .input_count = 1}, quick(), 0, &counts, &err), LAP_OK);
        assert_int_equal(counts.ok, i == 0);
        assert_int_equal(counts.kinds[LAP_OK], i == 1);
    }
}

static atomic_bool no_threads; /* can be created */

int __real_pthread_create(
    pthread_t *thread, const pthread_attr_t *how, void *(*begin)(void *), void *argument);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *how, void *(*begin)(void *), void *argument);
int __wrap_pthread_create(
    pthread_t *thread, const pthread_attr_t *how, void *(*begin)(void *), void *argument)
{
    return atomic_load(&no_threads) ? EAGAIN : __real_pthread_create(thread, how, begin, argument);
}

/* A context of one thread starts it with the first job: if it cannot, the run fails, and the next one of the
 * same context does all there is. */
static void a_run_without_threads_fails(void **state)
{
    lap_context *context = lap_context_create(1, NULL);
    const lap_batch_options o = {.inputs = folder_in, .input_count = 1, .out_dir = "out"};
    const lap_settings s = quick();
    (void)state;
    assert_non_null(context);
    for (int turn = 0; turn < 2; turn++) {
        lap_batch_counts counts;
        lap_error err = {0};
        uint64_t most = 0;
        atomic_store(&no_threads, turn == 0);
        const lap_code code = lap_batch(context, &o, &s, on_many, &most, &counts, &err);
        atomic_store(&no_threads, false);
        assert_int_equal(code, turn == 0 ? LAP_E_MEMORY : LAP_OK);
        assert_string_equal(err.message, turn == 0 ? "no thread can be started" : "");
        assert_int_equal(counts.ok, turn == 0 ? 0 : PHOTOS);
    }
    lap_context_destroy(context);
}

/* ---- each step of a run fails in turn ---------------------------------------------------------------------
 */

static struct steps {
    bool is_on;
    pthread_t owner; /* those of other threads are not the run's */
    char calls[800];
    int count, fails; /* counted from 1 */
} steps;

static bool strikes(const char *name)
{
    if (!steps.is_on || !pthread_equal(steps.owner, pthread_self()))
        return false;
    const size_t at = strlen(steps.calls);
    snprintf(steps.calls + at, sizeof steps.calls - at, "%s ", name + strlen("lap_"));
    return ++steps.count == steps.fails;
}

#define STEP(name, parameters, arguments)                                             \
    lap_code __real_##name parameters;                                                \
    lap_code __wrap_##name parameters;                                                \
    lap_code __wrap_##name parameters                                                 \
    {                                                                                 \
        return strikes(#name) ? lap_fail(err, LAP_E_INTERNAL, "step %d", steps.count) \
                              : __real_##name arguments;                              \
    }

STEP(lap_settings_check, (const lap_settings *settings, lap_error *err), (settings, err))
STEP(lap_run_check_backend, (const lap_settings *settings, lap_error *err), (settings, err))
STEP(lap_list_open,
    (const lap_batch_options *options, uint64_t limit, const lap_control *control, lap_list **list,
        lap_error *err),
    (options, limit, control, list, err))
STEP(lap_prune_create, (const lap_batch_options *options, lap_prune **prune, lap_error *err),
    (options, prune, err))
STEP(lap_batch_check_operands,
    (const lap_batch_options *options, const lap_settings *settings, lap_error *err),
    (options, settings, err))
STEP(lap_batch_look, (batch * b, lap_list *list, lap_error *err), (b, list, err))
STEP(lap_batch_around, (const lap_batch_options *options, const char **around, lap_error *err),
    (options, around, err))
STEP(lap_tree_open, (const char *path, lap_tree *tree, lap_error *err), (path, tree, err))
STEP(lap_group_open, (lap_group * group, const lap_tree *tree, lap_error *err), (group, tree, err))
STEP(lap_manifest_open,
    (const lap_tree *tree, const lap_settings_mark *settings, lap_manifest **manifest, lap_error *err),
    (tree, settings, manifest, err))
static lap_batch_load load; /* of the last run */

lap_code __real_lap_jobs_open(lap_jobs *jobs, lap_context *context, lap_batch_load *its, lap_error *err);
lap_code __wrap_lap_jobs_open(lap_jobs *jobs, lap_context *context, lap_batch_load *its, lap_error *err);
lap_code __wrap_lap_jobs_open(lap_jobs *jobs, lap_context *context, lap_batch_load *its, lap_error *err)
{
    if (its)
        load = *its;
    return strikes("lap_jobs_open") ? lap_fail(err, LAP_E_INTERNAL, "step %d", steps.count)
                                    : __real_lap_jobs_open(jobs, context, its, err);
}
STEP(lap_trace_create, (lap_trace * *trace, lap_error *err), (trace, err))
STEP(lap_group_settle, (lap_group * group, lap_error *err), (group, err))
STEP(lap_prune_outputs, (lap_prune * prune, const lap_prune_run *run, lap_error *err), (prune, run, err))
STEP(lap_trace_write, (const lap_trace *trace, const char *path, bool sync, lap_error *err),
    (trace, path, sync, err))

static struct odd {       /* what is unusual */
    lap_error unwritable; /* of the output folder */
    bool is_made_up;      /* nothing is written for real: jobs are looked at */
    lap_code foreseen, name, sweep, origin, folder, source, late, publish;
    bool overlong, apart, is_new;
    int strings; /* how many can be copied; -1: all */
    int submitted, foresights, looks;
    lap_job job; /* the last one */
    lap_settings settings;
    char input[64], output[64], relative[64];
} odd = {.strings = -1};

lap_code __real_lap_batch_make_out_dir(
    const char *out_dir, bool dry_run, lap_error *unwritable, lap_error *err);
lap_code __wrap_lap_batch_make_out_dir(
    const char *out_dir, bool dry_run, lap_error *unwritable, lap_error *err);
lap_code __wrap_lap_batch_make_out_dir(
    const char *out_dir, bool dry_run, lap_error *unwritable, lap_error *err)
{
    if (strikes("lap_batch_make_out_dir"))
        return lap_fail(err, LAP_E_INTERNAL, "step %d", steps.count);
    const lap_code code = __real_lap_batch_make_out_dir(out_dir, dry_run, unwritable, err);
    if (odd.unwritable.code != LAP_OK)
        *unwritable = odd.unwritable;
    return code;
}

lap_code __real_lap_batch_foresee_folder(
    batch *b, const char *relative, lap_error *unwritable, lap_error *err);
lap_code __wrap_lap_batch_foresee_folder(
    batch *b, const char *relative, lap_error *unwritable, lap_error *err);
lap_code __wrap_lap_batch_foresee_folder(
    batch *b, const char *relative, lap_error *unwritable, lap_error *err)
{
    odd.foresights++;
    if (odd.foreseen == LAP_E_MEMORY)
        return lap_fail(err, LAP_E_MEMORY, "no memory to foresee");
    if (odd.foreseen == LAP_OK)
        return __real_lap_batch_foresee_folder(b, relative, unwritable, err);
    lap_fail_at(unwritable, odd.foreseen, "out/folder", "cannot be written");
    return LAP_OK;
}

bool __real_lap_batch_output_name(const lap_batch_options *options, const lap_settings *settings,
    const char *relative, char *name, size_t size);
bool __wrap_lap_batch_output_name(const lap_batch_options *options, const lap_settings *settings,
    const char *relative, char *name, size_t size);
bool __wrap_lap_batch_output_name(const lap_batch_options *options, const lap_settings *settings,
    const char *relative, char *name, size_t size)
{
    return __real_lap_batch_output_name(options, settings, relative, name, size) && !odd.overlong;
}

lap_code __real_lap_batch_check_format(
    const lap_settings *settings, const char *input, const char *output, lap_error *err);
lap_code __wrap_lap_batch_check_format(
    const lap_settings *settings, const char *input, const char *output, lap_error *err);
lap_code __wrap_lap_batch_check_format(
    const lap_settings *settings, const char *input, const char *output, lap_error *err)
{
    return odd.name != LAP_OK ? lap_fail(err, odd.name, "no such format")
                              : __real_lap_batch_check_format(settings, input, output, err);
}

lap_code __real_lap_batch_sweep_folder(batch *b, const char *relative, lap_error *err);
lap_code __wrap_lap_batch_sweep_folder(batch *b, const char *relative, lap_error *err);
lap_code __wrap_lap_batch_sweep_folder(batch *b, const char *relative, lap_error *err)
{
    assert_false(b->options->dry_run);
    return odd.sweep != LAP_OK ? lap_fail(err, odd.sweep, "no memory to sweep")
                               : __real_lap_batch_sweep_folder(b, relative, err);
}

lap_code __real_lap_origins_find(
    lap_origins *origins, const char *path, size_t length, const lap_origin **origin, lap_error *err);
lap_code __wrap_lap_origins_find(
    lap_origins *origins, const char *path, size_t length, const lap_origin **origin, lap_error *err);
lap_code __wrap_lap_origins_find(
    lap_origins *origins, const char *path, size_t length, const lap_origin **origin, lap_error *err)
{
    return odd.origin != LAP_OK ? lap_fail(err, odd.origin, "no memory for folders")
                                : __real_lap_origins_find(origins, path, length, origin, err);
}

lap_code __real_lap_batch_make_folder(batch *b, const char *relative, bool *apart, lap_error *err);
lap_code __wrap_lap_batch_make_folder(batch *b, const char *relative, bool *apart, lap_error *err);
lap_code __wrap_lap_batch_make_folder(batch *b, const char *relative, bool *apart, lap_error *err)
{
    if (odd.folder != LAP_OK)
        return lap_fail(err, odd.folder, "no folder");
    const lap_code code = __real_lap_batch_make_folder(b, relative, apart, err);
    *apart = *apart || odd.apart;
    return code;
}

lap_code __real_lap_source_open(const char *path, lap_source **source, lap_error *err);
lap_code __wrap_lap_source_open(const char *path, lap_source **source, lap_error *err);
lap_code __wrap_lap_source_open(const char *path, lap_source **source, lap_error *err)
{
    if (odd.source == LAP_OK)
        return __real_lap_source_open(path, source, err);
    *source = NULL;
    return lap_fail(err, odd.source, "not readable");
}

lap_code __real_lap_late_look(
    lap_late *late, const lap_job *job, lap_batch_others *others, bool *is_new, lap_error *err);
lap_code __wrap_lap_late_look(
    lap_late *late, const lap_job *job, lap_batch_others *others, bool *is_new, lap_error *err);
lap_code __wrap_lap_late_look(
    lap_late *late, const lap_job *job, lap_batch_others *others, bool *is_new, lap_error *err)
{
    odd.looks++;
    if (odd.late == LAP_OK)
        return __real_lap_late_look(late, job, others, is_new, err);
    *is_new = odd.is_new;
    return lap_fail_at(err, odd.late, "in/the record", "cannot be read");
}

lap_code __real_lap_group_publish(lap_group *group, lap_manifest *manifest, lap_error *err);
lap_code __wrap_lap_group_publish(lap_group *group, lap_manifest *manifest, lap_error *err);
lap_code __wrap_lap_group_publish(lap_group *group, lap_manifest *manifest, lap_error *err)
{
    assert_true(group->count > 0);
    const lap_code code = __real_lap_group_publish(group, manifest, err);
    return odd.publish != LAP_OK ? lap_fail(err, odd.publish, "not published") : code;
}

lap_code __real_lap_jobs_submit(lap_jobs *jobs, lap_job *job, lap_error *err);
lap_code __wrap_lap_jobs_submit(lap_jobs *jobs, lap_job *job, lap_error *err);
lap_code __wrap_lap_jobs_submit(lap_jobs *jobs, lap_job *job, lap_error *err)
{
    odd.submitted++;
    odd.job = *job;
    odd.settings = *job->settings;
    snprintf(odd.input, sizeof odd.input, "%s", job->input);
    snprintf(odd.output, sizeof odd.output, "%s", job->output);
    snprintf(odd.relative, sizeof odd.relative, "%s", job->relative);
    return __real_lap_jobs_submit(jobs, job, err);
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    if (odd.strings < 0 || !pthread_equal(steps.owner, pthread_self()))
        return __real_strdup(text);
    if (odd.strings == 0) {
        odd.strings = -1; /* only one is missing */
        return NULL;
    }
    odd.strings--;
    return __real_strdup(text);
}

/* What a run reports of its files, in words, and its warnings. */
typedef struct told {
    char files[4000], warnings[1000];
    int warned;
} told;

static void note_file(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    told *s = user;
    const size_t at = strlen(s->files);
    assert_int_equal(counts->waiting_pixels, counts->waiting * 64);
    if (file && at < sizeof s->files - 2000)
        snprintf(s->files + at, sizeof s->files - at, "%s>%s:%d%s%s; ", file->input,
            file->output ? file->output : "", (int)file->report->status, file->report->error.code ? ":" : "",
            file->report->error.message);
}

static void note_warning(void *user, const lap_error *warning)
{
    told *s = user;
    s->warned++;
    snprintf(s->warnings, sizeof s->warnings, "%s: %s", warning->subject, warning->message);
}

static const char *const one_photo[] = {"in/0.jpg"};

static lap_code run_one(lap_batch_options options, const lap_settings *settings, told *s, lap_error *err)
{
    lap_batch_counts counts;
    lap_context *context = lap_context_create(1, NULL);
    assert_non_null(context);
    options.inputs = options.inputs ? options.inputs : one_photo;
    options.input_count = options.input_count ? options.input_count : 1;
    options.out_dir = "out";
    options.warn = options.warn ? options.warn : note_warning;
    *s = (told){.warned = 0};
    *err = (lap_error){0};
    const lap_code code = lap_batch(context, &options, settings, note_file, s, &counts, err);
    lap_context_destroy(context);
    assert_true(counts.waiting == 0 && counts.waiting_pixels == 0);
    return code;
}

static void each_step_fails(void **state)
{
    static const char whole[] =
        "settings_check run_check_backend list_open prune_create batch_check_operands "
        "batch_look batch_make_out_dir batch_around tree_open group_open manifest_open "
        "jobs_open trace_create group_settle prune_outputs trace_write ";
    (void)state;
    for (int fails = 17; fails >= 0; fails--) {
        lap_settings s = lap_settings_default();
        lap_batch_prune prune = {0};
        const lap_batch_devices devices = {.trace = "trace.json"};
        told said;
        lap_error err;
        char wanted[20];
        (void)nftw("out", remove_one, 8, FTW_DEPTH | FTW_PHYS);
        steps = (struct steps){.is_on = true, .owner = pthread_self(), .fails = fails};
        const lap_code code = run_one(
            (lap_batch_options){.inputs = folder_in, .prune = &prune, .devices = &devices}, &s, &said, &err);
        steps.is_on = false;
        const bool failed = fails > 0 && fails < 17;
        assert_int_equal(code, failed ? LAP_E_INTERNAL : LAP_OK);
        snprintf(wanted, sizeof wanted, "step %d", fails);
        assert_string_equal(err.message, failed ? wanted : "");
        /* Nothing follows; but the photo was handled, and the trace is written. */
        const char *end = whole;
        for (int i = 0; i < (failed ? fails : 16); i++)
            end = strchr(end, ' ') + 1;
        char calls[800];
        snprintf(calls, sizeof calls, "%.*s%s", (int)(end - whole), whole,
            fails == 14 || fails == 15 ? "trace_write " : "");
        assert_string_equal(steps.calls, calls);
        assert_int_equal(access("out/0.jpg", F_OK) == 0, fails > 13 || fails == 0);
        if (fails < 12 && fails > 0)
            assert_int_equal(said.files[0], 0);
    }
    /* A dry run has no timeline; one without durable outputs opens no group. */
    lap_settings s = quick();
    told said;
    lap_error err;
    const lap_batch_devices devices = {.trace = "trace2.json"};
    steps = (struct steps){.is_on = true, .owner = pthread_self()};
    assert_int_equal(
        run_one((lap_batch_options){.dry_run = true, .devices = &devices}, &s, &said, &err), LAP_OK);
    steps.is_on = false;
    assert_null(strstr(steps.calls, "trace"));
    assert_null(strstr(steps.calls, "group_open"));
    assert_int_not_equal(access("trace2.json", F_OK), 0);
    assert_true(load.devices == &devices && load.is_written && load.settings);
    /* Nor does a dry run of durable outputs, or a run that has none. */
    static const char *const nothing[] = {"none*.jpg"};
    const lap_batch_take take = {.include = nothing, .include_count = 1};
    s.sync = true;
    for (int i = 0; i < 3; i++) {
        (void)nftw("out", remove_one, 8, FTW_DEPTH | FTW_PHYS);
        steps = (struct steps){.is_on = true, .owner = pthread_self()};
        (void)run_one(
            (lap_batch_options){.inputs = folder_in, .dry_run = i == 1, .take = i == 2 ? &take : NULL}, &s,
            &said, &err);
        steps.is_on = false;
        assert_int_equal(strstr(steps.calls, "group_open") != NULL, i == 0);
    }
    const lap_batch_options beyond = {.shard = 1};
    assert_int_equal(run_one(beyond, &s, &said, &err), LAP_E_USAGE);
    assert_string_equal(err.message, "share 1 of 0 does not exist: shares are numbered from 0");
}

/* A photo whose output cannot be planned, or is not published: what is said of it, and how the run ends. */
static void odd_outputs(void **state)
{
    static const struct {
        struct odd odd;
        bool dry_run;
        lap_code code;
        const char *files, *message, *warning;
    } cases[] = {
        {{.strings = -1}, false, LAP_OK, "in/0.jpg>out/0.jpg:0; ", "", ""},
        {{.strings = -1, .overlong = true}, false, LAP_OK, "in/0.jpg>:3:the path of its output is too long; ",
            "", ""},
        {{.strings = -1, .name = LAP_E_USAGE}, false, LAP_OK, "in/0.jpg>:3:no such format; ", "", ""},
        {{.strings = -1, .sweep = LAP_E_MEMORY}, false, LAP_E_MEMORY, "", "no memory to sweep", ""},
        {{.strings = -1, .origin = LAP_E_MEMORY}, false, LAP_E_MEMORY, "", "no memory for folders", ""},
        {{.strings = -1, .folder = LAP_E_EXISTS}, false, LAP_OK, "in/0.jpg>out/0.jpg:2:no folder; ", "", ""},
        {{.strings = -1, .folder = LAP_E_WRITE}, false, LAP_OK, "in/0.jpg>out/0.jpg:3:no folder; ", "", ""},
        {{.strings = -1, .publish = LAP_E_WRITE}, false, LAP_E_WRITE, "in/0.jpg>out/0.jpg:0; ",
            "not published", ""},
        {{.strings = -1}, true, LAP_OK, "in/0.jpg>out/0.jpg:0; ", "", ""},
        {{.strings = -1, .source = LAP_E_UNREADABLE}, true, LAP_OK, "in/0.jpg>out/0.jpg:3:not readable; ", "",
            ""},
        {{.strings = -1, .foreseen = LAP_E_WRITE}, true, LAP_OK, "in/0.jpg>out/0.jpg:0; ", "",
            "out/folder: cannot be written"},
        {{.strings = -1, .foreseen = LAP_E_MEMORY}, true, LAP_E_MEMORY, "", "no memory to foresee", ""},
        {{.strings = -1, .unwritable = {.code = LAP_E_WRITE, .subject = "out", .message = "no room"}}, true,
            LAP_OK, "in/0.jpg>out/0.jpg:0; ", "", "out: no room"},
        {{.strings = -1, .unwritable = {.code = LAP_E_WRITE, .subject = "out", .message = "no room"}}, false,
            LAP_E_WRITE, "", "no room", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_settings s = quick();
        told said;
        lap_error err;
        (void)unlink("out/0.jpg");
        odd = cases[i].odd;
        const lap_code code = run_one((lap_batch_options){.dry_run = cases[i].dry_run}, &s, &said, &err);
        if (code != cases[i].code || strcmp(said.files, cases[i].files) != 0)
            fail_msg("%zu: %d %s", i, code, said.files);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(said.warnings, cases[i].warning);
        assert_int_equal(said.warned, cases[i].warning[0] != 0);
        assert_int_equal(odd.foresights, cases[i].dry_run && cases[i].odd.unwritable.code == LAP_OK);
        const bool is_written = !cases[i].dry_run && strstr(cases[i].files, ">out/0.jpg:0") != NULL;
        assert_int_equal(odd.submitted, is_written);
        odd = (struct odd){.strings = -1};
    }
    /* The folder is told once, for all photos that would be in it. */
    told said;
    lap_error err;
    const lap_settings s = quick();
    for (int dry_run = 0; dry_run < 2; dry_run++) {
        odd.unwritable = (lap_error){.code = LAP_E_WRITE, .subject = "out", .message = "no room"};
        assert_int_equal(
            run_one((lap_batch_options){.inputs = folder_in, .dry_run = dry_run == 1}, &s, &said, &err),
            dry_run ? LAP_OK : LAP_E_WRITE);
        assert_int_equal(said.warned, dry_run);
    }
    odd.unwritable.code = LAP_OK;
    /* Memory for the names of a job, and others. */
    int failed = 0;
    steps.owner = pthread_self();
    for (int i = 0; i < 100 && odd.strings <= 0; i++) {
        (void)unlink("out/0.jpg");
        odd.strings = i;
        odd.submitted = 0;
        const lap_code code = run_one((lap_batch_options){.force = true}, &s, &said, &err);
        assert_true(code == LAP_OK || code == LAP_E_MEMORY);
        assert_int_equal(said.files[0] != 0, code == LAP_OK);
        assert_int_equal(odd.submitted, code == LAP_OK);
        failed += code != LAP_OK;
    }
    odd.strings = -1;
    assert_true(failed >= 3);
}

static void never(void *user, int rows_done, int rows_total)
{
    (void)user, (void)rows_done, (void)rows_total;
    fail_msg("progress of one of several photos");
}

/* What a job is told, by options and settings. */
static void what_jobs_are_told(void **state)
{
    static const char *const inputs[] = {"in/plain"};
    (void)state;
    assert_int_equal(rename("in/0.jpg", "in/plain"), 0);
    for (int i = 0; i < 64; i++) {
        const lap_batch_options o = {.inputs = inputs,
            .force = i & 1,
            .skip_existing = (i & 3) == 2,
            .no_clobber = (i & 7) == 4,
            .suffix = i & 8 ? ".ppm" : NULL};
        lap_settings s = lap_settings_default();
        lap_stats *unused[2] = {NULL, NULL};
        told said;
        lap_error err;
        (void)unlink("out/plain");
        (void)unlink("out/plain.ppm");
        s.progress = never;
        s.sync = i & 16;
        s.max_memory = 123456789;
        (void)unused;
        odd = (struct odd){.strings = -1, .apart = i & 32};
        assert_int_equal(run_one(o, &s, &said, &err), LAP_OK);
        assert_int_equal(odd.submitted, 1);
        assert_string_equal(odd.input, "in/plain");
        assert_string_equal(odd.output, i & 8 ? "out/plain.ppm" : "out/plain");
        assert_string_equal(odd.relative, i & 8 ? "plain.ppm" : "plain");
        assert_true(odd.job.work == lap_job_write && odd.job.tree && odd.job.below == 3);
        assert_int_equal(odd.job.stat.st_size, 11 + 8 * 8 * 3);
        assert_int_equal(odd.job.force, o.force);
        assert_int_equal(odd.job.skip_existing, o.skip_existing);
        assert_int_equal(odd.job.no_clobber, o.no_clobber);
        assert_true(!odd.settings.progress && !odd.settings.stats);
        assert_int_equal(odd.settings.sync, (i & 32) && (i & 16));
        assert_true(odd.settings.max_memory == 123456789);
        if (i & 8)
            assert_null(odd.settings.format);
        else
            assert_string_equal(odd.settings.format, "jpg");
    }
    odd = (struct odd){.strings = -1};
}

/* A photo that may be an output already: it fails if a file would be replaced, and otherwise is warned about.
 */
static void photos_that_may_be_outputs(void **state)
{
    static const char may[] = "may be an output already: in/the record: cannot be read",
                      filtered[] = "in/the record: cannot be read; photos there may be filtered already";
    (void)state;
    for (int i = 0; i < 64; i++) {
        const bool finds = i & 1, is_new = i & 2, is_seen = i & 4, no_memory = i & 8, filters = !(i & 16),
                   has_others = !(i & 32);
        lap_settings s = quick();
        lap_batch_others others = {.finds_made = finds};
        told said;
        lap_error err;
        char photo[11 + 8 * 8 * 3] = "P6\n8 8\n255\n";
        (void)unlink("out/0.jpg");
        s.filter = filters;
        if (is_seen) { /* an output of the photo as it was */
            assert_int_equal(run_one((lap_batch_options){0}, &s, &said, &err), LAP_OK);
            photo[50] = (char)(i + 1);
            put("in/0.jpg", photo, sizeof photo);
        }
        odd = (struct odd){.strings = -1, .is_new = is_new};
        odd.late = no_memory ? LAP_E_MEMORY : LAP_E_UNREADABLE;
        assert_int_equal(
            run_one((lap_batch_options){.others = has_others ? &others : NULL}, &s, &said, &err), LAP_OK);
        const bool looks = finds && filters && has_others;
        assert_int_equal(odd.looks, looks);
        const bool fails = looks && (is_seen || no_memory), warns = looks && !fails && is_new;
        char wanted[200];
        snprintf(wanted, sizeof wanted, "in/0.jpg>out/0.jpg:%d%s%s; ", fails ? LAP_FAILED : LAP_DONE,
            fails ? ":" : "", fails ? may : "");
        assert_string_equal(said.files, wanted);
        assert_string_equal(said.warnings, warns ? filtered : "");
        odd = (struct odd){.strings = -1};
    }
}

/* Inputs that are named twice count once; and a run without photos leaves no folder behind. */
static void inputs_that_repeat_or_are_none(void **state)
{
    static const char *const twice[] = {"in", "in"}, *const sides[] = {"/dev/stdout", "list.txt"};
    static const char *const nothing[] = {"none*.jpg"};
    (void)state;
    lap_batch_counts counts;
    lap_error err;
    assert_int_equal(
        run((lap_batch_options){.inputs = twice, .input_count = 2}, quick(), 0, &counts, &err), LAP_OK);
    assert_true(counts.found == PHOTOS && counts.expected == PHOTOS && counts.ok == PHOTOS);
    for (int i = 0; i < 4; i++) {
        const lap_batch_take take = {.include = nothing, .include_count = 1};
        const lap_batch_options o = {
            .take = &take, .out_dir = "none", .sides = sides, .side_count = (size_t)i % 3, .dry_run = i == 3};
        const lap_code code = run(o, quick(), 0, &counts, &err);
        assert_int_equal(access("none", F_OK) == 0, i == 2);
        assert_int_equal(counts.found, 0);
        assert_true(code == LAP_OK || code == LAP_E_USAGE);
        (void)nftw("none", remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_are_counted),
        TEST(a_cancelled_run_keeps_what_is_finished),
        TEST(fail_fast_ends_the_run),
        cmocka_unit_test(fail_fast_hides_no_error_of_the_walk),
        TEST(shards_add_up),
        TEST(refusals),
        TEST(few_of_many_are_under_way),
        TEST(a_run_without_threads_fails),
        TEST(who_waits_is_called),
        TEST(texts_are_made_by_threads_and_given_in_order),
        TEST(few_large_texts_wait),
        TEST(pairs_are_counted),
        TEST(photos_that_vanish_have_failed),
        TEST(nothing_is_pruned_beside_a_filter),
        TEST(a_cancelled_prune_stops),
        TEST(a_named_photo_is_done_again),
        TEST(each_step_fails),
        TEST(odd_outputs),
        TEST(what_jobs_are_told),
        TEST(photos_that_may_be_outputs),
        TEST(inputs_that_repeat_or_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
