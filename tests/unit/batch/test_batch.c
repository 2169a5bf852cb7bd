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
#include "batch/jobs.h"
#include "lapedge_program.h"
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
