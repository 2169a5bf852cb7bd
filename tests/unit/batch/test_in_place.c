/* Photos in place: what other programs do between two steps, records that cannot be written, and limits. */
#include "tests/support/scratch.h"
#include "tests/support/tick.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "batch/executor.h"
#include "batch/in_place_record.h"
#include "batch/known.h"
#include "io/sink.h"
#include "io/source.h"
#include "lapedge_program.h"

enum { FOLDERS = 150, OTHERS = 30, WIDTH = 16, LONGEST = 255 };

/* ---- between the steps ----------------------------------------------------------------------------- */

static struct between {
    void (*before_rename)(void);
    void (*after_reading)(void);  /* called once, by the thread that has read the first photo */
    void (*before_reading)(void); /* called once, by the thread that reads the first photo */
    lap_code add, judge, known;   /* what they return without being asked */
    int fails;                    /* how many lines are refused; then they are written */
    int begun, done, synced;
    bool warns;   /* the executor has one warning */
    rlim_t files; /* how many the process may open; 0: as it is */
    lap_manifest_line last;
} between;

lap_code __real_lap_sink_publish(lap_sink *sink, lap_error *err);
lap_code __wrap_lap_sink_publish(lap_sink *sink, lap_error *err);
lap_code __wrap_lap_sink_publish(lap_sink *sink, lap_error *err)
{
    if (between.before_rename)
        between.before_rename();
    return __real_lap_sink_publish(sink, err);
}

lap_code __real_lap_source_result(const lap_source *source, const char *path, lap_code code, lap_error *err);
lap_code __wrap_lap_source_result(const lap_source *source, const char *path, lap_code code, lap_error *err);
lap_code __wrap_lap_source_result(const lap_source *source, const char *path, lap_code code, lap_error *err)
{
    void (*const strike)(void) = between.after_reading;
    between.after_reading = NULL;
    if (strike)
        strike();
    return __real_lap_source_result(source, path, code, err);
}

lap_code __real_lap_source_open(const char *path, lap_source **source, lap_error *err);
lap_code __wrap_lap_source_open(const char *path, lap_source **source, lap_error *err);
lap_code __wrap_lap_source_open(const char *path, lap_source **source, lap_error *err)
{
    void (*const strike)(void) = between.before_reading;
    between.before_reading = NULL;
    if (strike)
        strike();
    return __real_lap_source_open(path, source, err);
}

lap_code __real_lap_known_in_place(lap_known *known, int folder, const char *shown, lap_error *err);
lap_code __wrap_lap_known_in_place(lap_known *known, int folder, const char *shown, lap_error *err);
lap_code __wrap_lap_known_in_place(lap_known *known, int folder, const char *shown, lap_error *err)
{
    if (!between.known)
        return __real_lap_known_in_place(known, folder, shown, err);
    *err = (lap_error){.code = between.known};
    strcpy(err->subject, "its folder");
    strcpy(err->message, "cannot be read");
    return between.known;
}

lap_code __real_lap_record_add(
    lap_record *record, int folder, const lap_manifest_line *line, bool sync, lap_error *err);
lap_code __wrap_lap_record_add(
    lap_record *record, int folder, const lap_manifest_line *line, bool sync, lap_error *err);
lap_code __wrap_lap_record_add(
    lap_record *record, int folder, const lap_manifest_line *line, bool sync, lap_error *err)
{
    between.begun += !line->is_done;
    between.done += line->is_done;
    between.synced += sync;
    between.last = *line;
    if (!between.add || between.fails-- <= 0)
        return __real_lap_record_add(record, folder, line, sync, err);
    if (err) {
        *err = (lap_error){.code = between.add};
        strcpy(err->subject, "the record");
        strcpy(err->message, "cannot be written");
    }
    return between.add;
}

lap_code __real_lap_record_judge(
    const lap_record *record, const lap_candidate *candidate, lap_was *was, lap_error *err);
lap_code __wrap_lap_record_judge(
    const lap_record *record, const lap_candidate *candidate, lap_was *was, lap_error *err);
lap_code __wrap_lap_record_judge(
    const lap_record *record, const lap_candidate *candidate, lap_was *was, lap_error *err)
{
    if (!between.judge)
        return __real_lap_record_judge(record, candidate, was, err);
    *err = (lap_error){.code = between.judge};
    return between.judge;
}

bool __real_lap_executor_warning(lap_executor *executor, lap_error *warning);
int __real_getrlimit(int resource, struct rlimit *limit);
int __wrap_getrlimit(int resource, struct rlimit *limit);
int __wrap_getrlimit(int resource, struct rlimit *limit)
{
    const int rc = __real_getrlimit(resource, limit);
    if (resource == RLIMIT_NOFILE && between.files)
        limit->rlim_cur = between.files;
    return rc;
}

bool __wrap_lap_executor_warning(lap_executor *executor, lap_error *warning);
bool __wrap_lap_executor_warning(lap_executor *executor, lap_error *warning)
{
    const bool warns = between.warns;
    between.warns = false;
    if (!warns)
        return __real_lap_executor_warning(executor, warning);
    *warning = (lap_error){.code = LAP_E_DEVICE};
    return true;
}

/* ---- photos and runs ------------------------------------------------------------------------------- */

static int open_scratch(void **state)
{
    (void)state;
    between = (struct between){0};
    return make_scratch() ? 0 : -1;
}

static void put_photo(const char *path, int rows)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "P5\n%d %d\n255\n", WIDTH, rows);
    for (int i = 0; i < WIDTH * rows; i++)
        putc((i * 37 + rows) & 255, file);
    assert_int_equal(fclose(file), 0);
}

static bool is_photo(const char *path, int rows) /* the one that put_photo makes */
{
    char mine[4096], theirs[4096];
    put_photo(at("like.pgm"), rows);
    FILE *a = fopen(at("like.pgm"), "r"), *b = fopen(path, "r");
    assert_non_null(a);
    assert_non_null(b);
    const size_t size = fread(mine, 1, sizeof mine, a), other = fread(theirs, 1, sizeof theirs, b);
    fclose(a);
    fclose(b);
    return size == other && memcmp(mine, theirs, size) == 0;
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    FILE *a = fopen(from, "r"), *b = fopen(to, "w");
    assert_non_null(a);
    assert_non_null(b);
    const size_t size = fread(bytes, 1, sizeof bytes, a);
    assert_int_equal(fwrite(bytes, 1, size, b), size);
    fclose(a);
    assert_int_equal(fclose(b), 0);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

typedef struct result {
    lap_code code;
    lap_error err;
    lap_batch_counts counts;
    lap_report last, reports[4]; /* of the first four */
    int files, most_descriptors;
} result;

static void on_event(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    result *r = user;
    (void)counts;
    if (!file)
        return;
    if (r->files < 4)
        r->reports[r->files] = *file->report;
    r->files++;
    const int now = open_descriptors();
    r->most_descriptors = now > r->most_descriptors ? now : r->most_descriptors;
}

static lap_settings unsynced(void)
{
    lap_settings s = lap_settings_default();
    s.sync = false;
    return s;
}

static result run(lap_batch_options options, lap_in_place order, lap_settings settings)
{
    result r = {0};
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    order.options = &options;
    order.each = on_event;
    order.user = &r;
    r.code = lap_batch_in_place(context, &order, &settings, &r.counts, &r.err);
    lap_context_destroy(context);
    return r;
}

static const char *two[2];

static lap_batch_options two_photos(void)
{
    static char paths[2][128];
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d.pgm", scratch, i);
        put_photo(paths[i], 20 + i);
        two[i] = paths[i];
    }
    return (lap_batch_options){.inputs = two, .input_count = 2, .jobs = 1};
}

/* ---- the record ------------------------------------------------------------------------------------ */

static void a_line_says_what_was_replaced_and_by_whom(void **state)
{
    struct stat photo;
    (void)state;
    for (int sync = 0; sync < 2; sync++) {
        lap_batch_options o = two_photos();
        lap_settings s = unsynced();
        s.sync = sync;
        assert_int_equal(stat(two[1], &photo), 0);
        between = (struct between){0};
        const result r = run(o, (lap_in_place){.again = true}, s);
        assert_int_equal(r.code, LAP_OK);
        assert_int_equal(r.counts.ok, 2);
        assert_int_equal(r.counts.found, 2);
        assert_int_equal(between.begun, 2);
        assert_int_equal(between.done, 2);
        assert_int_equal(between.synced, sync ? 2 : 0);
        assert_int_equal(between.last.maker, LAP_MAKER_RUN);
        assert_int_equal(between.last.input_size, photo.st_size);
        assert_int_equal(between.last.input_mtime_s, photo.st_mtim.tv_sec);
        assert_int_equal(between.last.input_mtime_ns, photo.st_mtim.tv_nsec);
    }
}

/* Without its line an output would be filtered again, so the photo stays. */
static void no_line_no_rename(void **state)
{
    (void)state;
    lap_batch_options o = two_photos();
    between = (struct between){.add = LAP_E_WRITE, .fails = 1};
    result r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(r.code, LAP_E_WRITE);
    assert_int_equal(r.counts.failed, 2);
    assert_int_equal(between.begun, 1); /* the record is not trusted any more */
    assert_int_equal(between.done, 0);
    for (int i = 0; i < 2; i++) {
        assert_true(is_photo(two[i], 20 + i));
        assert_int_equal(r.reports[i].error.code, LAP_E_WRITE);
        assert_non_null(strstr(r.reports[i].error.message, "is left alone, because of the record"));
    }
    between = (struct between){.add = LAP_E_WRITE, .fails = 1};
    r = run(o, (lap_in_place){.again = true}, unsynced());
    assert_int_equal(r.code, LAP_OK);
    assert_int_equal(r.counts.ok, 2);
    assert_int_equal(between.begun, 1);
    assert_int_equal(between.done, 0);
    assert_false(is_photo(two[0], 20) || is_photo(two[1], 21));
}

static void a_full_disk_stops_the_run(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        lap_batch_options o = two_photos();
        between = (struct between){.add = LAP_E_DISK_FULL, .fails = 1};
        const result r = run(o, (lap_in_place){.again = again}, unsynced());
        assert_int_equal(r.code, LAP_E_DISK_FULL);
        assert_non_null(strstr(r.err.message, "stopped early"));
        assert_int_equal(r.reports[0].error.code, LAP_E_DISK_FULL);
        assert_null(strstr(r.reports[0].error.message, "left alone"));
        assert_true(is_photo(two[0], 20)); /* the other one may have been finished before */
    }
}

static void memory_that_runs_out_costs_one_photo(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        lap_batch_options o = two_photos();
        between = (struct between){.add = LAP_E_MEMORY, .fails = 1};
        const result r = run(o, (lap_in_place){.again = again}, unsynced());
        assert_int_equal(r.code, LAP_OK);
        assert_int_equal(r.reports[0].error.code, LAP_E_MEMORY);
        assert_int_equal(r.reports[1].status, LAP_DONE);
        assert_true(is_photo(two[0], 20) && !is_photo(two[1], 21));
    }
}

static void an_error_of_the_judge_names_the_photo(void **state)
{
    (void)state;
    lap_batch_options o = two_photos();
    between.judge = LAP_E_UNREADABLE;
    const result r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(r.counts.failed, 2);
    assert_string_equal(r.reports[0].error.subject, two[0]);
    assert_true(is_photo(two[0], 20));
}

/* ---- other programs -------------------------------------------------------------------------------- */

static void another_photo_comes(void)
{
    put_photo(at("new.pgm"), 33);
    assert_int_equal(rename(at("new.pgm"), two[1]), 0);
}

static void an_output_comes(void) /* as from another run */
{
    copy_file(two[0], at("new.pgm"));
    assert_int_equal(rename(at("new.pgm"), two[1]), 0);
}

static void a_photo_that_comes_before_the_rename_stays(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        lap_batch_options o = two_photos();
        o.inputs++;
        o.input_count--;
        between = (struct between){.before_rename = another_photo_comes};
        const result r = run(o, (lap_in_place){.again = again}, unsynced());
        assert_int_equal(r.reports[0].status, LAP_FAILED);
        assert_int_equal(r.reports[0].error.code, LAP_E_CHANGED);
        assert_int_equal(between.done, 0); /* nothing was */
        assert_true(is_photo(two[1], 33));
        assert_int_equal(count_temps(scratch), 1); /* the record */
    }
}

static void an_output_that_comes_before_the_rename_is_known(void **state)
{
    (void)state;
    lap_batch_options o = two_photos(), first = o;
    first.input_count = 1;
    assert_int_equal(run(first, (lap_in_place){0}, unsynced()).counts.ok, 1);
    o.inputs++;
    o.input_count--;
    for (int again = 0; again < 2; again++) {
        put_photo(two[1], 21);
        between.before_rename = an_output_comes;
        const result r = run(o, (lap_in_place){.again = again}, unsynced());
        assert_int_equal(r.reports[0].status, again ? LAP_FAILED : LAP_SKIPPED);
        assert_int_equal(r.reports[0].error.code, again ? LAP_E_CHANGED : LAP_OK);
    }
}

static lap_batch_counts of_another;

static void another_run_filters(void)
{
    const lap_batch_options first = {.inputs = two, .input_count = 1, .jobs = 1};
    of_another = run(first, (lap_in_place){0}, unsynced()).counts;
}

/* That photo has not failed: it must not end the run, although its reader finds that it changed. */
static void an_output_that_comes_while_its_photo_is_read_ends_no_run(void **state)
{
    static char paths[OTHERS][128];
    const char *inputs[OTHERS + 1];
    (void)state;
    (void)two_photos();
    inputs[0] = two[0];
    for (int i = 0; i < OTHERS; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/other-%d.pgm", scratch, i);
        put_photo(paths[i], 20);
        inputs[i + 1] = paths[i];
    }
    between.after_reading = another_run_filters;
    const lap_batch_options o = {.inputs = inputs, .input_count = OTHERS + 1, .jobs = 1, .fail_fast = true};
    const result r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(of_another.ok, 1);
    assert_int_equal(r.code, LAP_OK);
    assert_int_equal(r.counts.skipped, 1);
    assert_int_equal(r.counts.ok, OTHERS);
    assert_int_equal(r.counts.failed, 0);
}

typedef struct folder_result {
    lap_batch_counts counts;
    lap_batch_others others;
    lap_error failed, left, warning; /* the last ones */
    int warnings;
} folder_result;

static void on_folder_event(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    folder_result *r = user;
    (void)counts;
    if (file && file->report->status == LAP_FAILED)
        r->failed = file->report->error;
    if (file && file->report->status == LAP_SKIPPED)
        r->left = file->report->error;
}

static void on_folder_warning(void *user, const lap_error *warning)
{
    folder_result *r = user;
    r->warning = *warning;
    r->warnings++;
}

static char out[128];

static folder_result run_into_with(const lap_batch_options *given, const lap_settings *settings)
{
    folder_result r = {.others.finds_made = true};
    lap_batch_options o = *given;
    (void)snprintf(out, sizeof out, "%s/out", scratch);
    o.inputs = two;
    o.input_count = 2;
    o.out_dir = out;
    o.jobs = 1;
    o.others = &r.others;
    o.warn = on_folder_warning;
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    assert_int_equal(lap_batch(context, &o, settings, on_folder_event, &r, &r.counts, NULL), LAP_OK);
    lap_context_destroy(context);
    return r;
}

static folder_result run_into(bool rebuild)
{
    const lap_settings settings = unsynced();
    return run_into_with(&(lap_batch_options){.rebuild = rebuild}, &settings);
}

static lap_settings inverted(void)
{
    lap_settings settings = unsynced();
    settings.params.invert = true;
    return settings;
}

static folder_result of_rival;

static void another_run_of_mine(void)
{
    (void)run_into(false);
}

static void a_rival_makes_both(void)
{
    const lap_settings settings = inverted();
    of_rival = run_into_with(&(lap_batch_options){0}, &settings);
}

static void a_rival_turns_both(void)
{
    lap_settings settings = unsynced();
    settings.filter = false;
    of_rival = run_into_with(&(lap_batch_options){0}, &settings);
}

/* -f replaces what another command made, but not what it has made since. */
static void force_leaves_what_another_command_makes_meanwhile(void **state)
{
    const lap_settings mine = unsynced();
    (void)state;
    (void)two_photos();
    between.before_reading = a_rival_turns_both;
    const folder_result r = run_into_with(&(lap_batch_options){.force = true}, &mine);
    assert_int_equal(of_rival.counts.ok, 2);
    assert_int_equal(r.counts.kinds[LAP_E_EXISTS], 2);
    assert_string_equal(
        r.left.message, "exists and was made by another run, with other settings, during this one");
    assert_int_equal(run_into(false).counts.kinds[LAP_E_EXISTS], 2);
    assert_int_equal(run_into_with(&(lap_batch_options){.force = true}, &mine).counts.ok, 2);
}

static void (*at_event)(void);

static void on_strike(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    void (*const strike)(void) = at_event;
    on_folder_event(user, file, counts);
    at_event = NULL;
    if (strike)
        strike();
}

/* A run over a folder; both are below the scratch folder. */
static folder_result run_folder(const char *from, const char *to, const lap_settings *settings)
{
    folder_result r = {.others.finds_made = true};
    char in[128], into[128];
    (void)snprintf(in, sizeof in, "%s/%s", scratch, from);
    (void)snprintf(into, sizeof into, "%s/%s", scratch, to);
    const char *const inputs[] = {in};
    const lap_batch_take take = {.extensions = "pgm"};
    const lap_batch_options o = {
        .inputs = inputs, .input_count = 1, .out_dir = into, .take = &take, .jobs = 1, .others = &r.others};
    lap_context *context = lap_context_create(2, NULL);
    assert_non_null(context);
    assert_int_equal(lap_batch(context, &o, settings, on_strike, &r, &r.counts, NULL), LAP_OK);
    lap_context_destroy(context);
    return r;
}

static void a_rival_works_below(void)
{
    const lap_settings settings = inverted();
    of_rival = run_folder("in/below", "edges/below", &settings);
}

/* The rival's records are in a folder that this run has not reached when the rival works. */
static void what_a_rival_makes_below_meanwhile_is_left_alone(void **state)
{
    const lap_settings mine = unsynced();
    (void)state;
    assert_int_equal(mkdir(at("in"), 0777), 0);
    assert_int_equal(mkdir(at("in/below"), 0777), 0);
    put_photo(at("in/0.pgm"), 20);
    assert_int_equal(run_folder("in", "edges", &mine).counts.ok, 1);
    put_photo(at("in/below/1.pgm"), 21);
    at_event = a_rival_works_below;
    const folder_result r = run_folder("in", "edges", &mine);
    assert_int_equal(of_rival.counts.ok, 1);
    assert_int_equal(r.counts.kinds[LAP_E_EXISTS], 1);
    assert_string_equal(
        r.left.message, "exists and was made by another run, with other settings, during this one");
    assert_true(await_tick(scratch));
    assert_int_equal(run_folder("in", "edges", &mine).counts.ok, 1); /* after it has ended */
}

/* The outputs would be a mix of both settings, and no run would say so. */
static void two_runs_with_different_settings_at_once_are_told(void **state)
{
    const lap_settings mine = unsynced();
    (void)state;
    (void)two_photos();
    for (int way = 0; way < 4; way++) {
        const lap_batch_options o = {.force = way & 1, .rebuild = way & 1};
        if (way >= 2) /* the outputs of an earlier run, which both want to replace */
            assert_int_equal(run_into(true).counts.ok, 2);
        between.before_reading = a_rival_makes_both;
        put_photo(two[0], 50 + way);
        put_photo(two[1], 60 + way);
        const folder_result r = run_into_with(&o, &mine);
        assert_int_equal(of_rival.counts.ok, 2);
        assert_int_equal(r.counts.ok, 0);
        assert_int_equal(r.counts.kinds[LAP_E_EXISTS], 2);
        assert_string_equal(
            r.left.message, "exists and was made by another run, with other settings, during this one");
        /* One after the other, they replace each other's outputs. */
        assert_int_equal(run_into(false).counts.ok, 2);
        a_rival_makes_both();
        assert_int_equal(of_rival.counts.ok, 2);
    }
    between.before_reading = another_run_of_mine;
    put_photo(two[0], 20);
    assert_int_equal(run_into(false).counts.kinds[LAP_OK], 2); /* with the same settings they agree */
}

/* Of a folder run: it finds the photo when it begins, and edges when it reads the file. */
static void a_photo_that_is_filtered_before_it_is_read_is_counted(void **state)
{
    (void)state;
    (void)two_photos();
    between.before_reading = another_run_filters;
    folder_result r = run_into(false);
    assert_int_equal(of_another.ok, 1);
    assert_int_equal(r.counts.ok, 2);
    assert_int_equal(r.others.made, 1);
    assert_string_equal(r.others.made_first, two[0]);
    assert_int_equal(run_into(true).others.made, 1); /* known from the beginning, and counted once */
    put_photo(two[0], 20);
    assert_int_equal(run_into(false).others.made, 0);
}

static void the_record_becomes_unreadable(void)
{
    copy_file(two[0], at(".lapedge-in-place.jsonl"));
    between.known = LAP_E_UNREADABLE;
}

static void memory_runs_out(void)
{
    copy_file(two[0], at(".lapedge-in-place.jsonl"));
    between.known = LAP_E_MEMORY;
}

/* New outputs come with one warning; none that is there already is replaced. */
static void in_doubt_no_output_is_replaced(void **state)
{
    (void)state;
    (void)two_photos();
    between.before_reading = memory_runs_out;
    folder_result r = run_into(false);
    assert_int_equal(r.counts.kinds[LAP_E_MEMORY], 2);
    for (int again = 0; again < 2; again++) {
        between = (struct between){.before_reading = the_record_becomes_unreadable};
        r = run_into(again);
        assert_int_equal(r.counts.ok, again ? 0 : 2);
        assert_int_equal(r.counts.kinds[LAP_E_UNREADABLE], again ? 2 : 0);
        assert_int_equal(r.warnings, again ? 0 : 1);
        assert_int_equal(r.others.made, 0);
        if (again)
            assert_string_equal(r.failed.message, "may be an output already: its folder: cannot be read");
        else
            assert_string_equal(r.warning.message, "cannot be read; photos there may be filtered already");
    }
}

/* ---- names and folders ----------------------------------------------------------------------------- */

static void folders_are_left_one_by_one(void **state)
{
    static char paths[FOLDERS][128];
    const char *inputs[FOLDERS];
    (void)state;
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d", scratch, i);
        assert_int_equal(mkdir(paths[i], 0755), 0);
        strcat(paths[i], "/same.pgm");
        put_photo(paths[i], 20);
        inputs[i] = paths[i];
    }
    const int before = open_descriptors();
    const lap_batch_options o = {.inputs = inputs, .input_count = FOLDERS, .jobs = 1};
    const result r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(r.code, LAP_OK);
    assert_int_equal(r.counts.ok, FOLDERS); /* one name in each folder is a photo each */
    assert_true(r.most_descriptors < before + FOLDERS);
    assert_int_equal(open_descriptors(), before);
}

/* No more photos at once than there are descriptors for. */
static void the_jobs_are_as_many_as_the_files_allow(void **state)
{
    (void)state;
    static const struct {
        rlim_t files;
        uint64_t jobs;
    } cases[] = {{31, 1}, {32, 2}, {1000, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_batch_work work = {0};
        lap_batch_options o = two_photos();
        o.jobs = 0; /* as many as the context has threads: two */
        o.work = &work;
        between.files = cases[i].files;
        assert_int_equal(run(o, (lap_in_place){.again = true}, unsynced()).counts.ok, 2);
        assert_int_equal(work.jobs, cases[i].jobs);
    }
}

static void a_photo_that_is_named_twice_is_done_once(void **state)
{
    (void)state;
    lap_batch_options o = two_photos();
    two[1] = two[0];
    const result r = run(o, (lap_in_place){.again = true}, unsynced());
    assert_int_equal(r.counts.ok, 1);
    assert_int_equal(r.counts.expected, 1);
    assert_int_equal(r.counts.found, 1);
    assert_int_equal(r.counts.skipped, 0);
    assert_string_equal(r.reports[1].note, "the same file as an earlier one, and handled once");
    assert_int_equal(between.done, 1);
}

static void the_name_of_a_backup_may_be_as_long_as_a_name(void **state)
{
    char path[512], kept[520];
    const char *const inputs[] = {path};
    (void)state;
    for (int over = 0; over < 2; over++) {
        const int name = LONGEST - 5 + over;
        snprintf(path, sizeof path, "%s/%0*d.pgm", scratch, name - 4, 0);
        put_photo(path, 20);
        const lap_batch_options o = {.inputs = inputs, .input_count = 1};
        const result r = run(o, (lap_in_place){.backup = ".orig"}, unsynced());
        assert_int_equal(r.reports[0].status, over ? LAP_FAILED : LAP_DONE);
        assert_true(!over || is_photo(path, 20));
        snprintf(kept, sizeof kept, "%s.orig", path);
        assert_true(over || is_photo(kept, 20));
        if (over)
            assert_string_equal(r.reports[0].error.message, "the name of its backup is too long");
    }
}

static void the_longest_name_is_a_name(void **state)
{
    char path[512];
    const char *const inputs[] = {path};
    (void)state;
    snprintf(path, sizeof path, "%s/%0*d.pgm", scratch, LONGEST - 4, 0);
    put_photo(path, 20);
    const lap_batch_options o = {.inputs = inputs, .input_count = 1};
    assert_int_equal(run(o, (lap_in_place){0}, unsynced()).counts.ok, 1);
    assert_false(is_photo(path, 20));
}

static void a_run_without_standard_input(void **state)
{
    (void)state;
    const lap_batch_options o = two_photos();
    const int kept = dup(STDIN_FILENO);
    assert_int_equal(close(STDIN_FILENO), 0);
    const result r = run(o, (lap_in_place){0}, unsynced());
    if (kept >= 0)
        assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
    close(kept);
    assert_int_equal(r.counts.ok, 2);
}

static void what_stopped_runs_left_goes(void **state)
{
    (void)state;
    lap_batch_options o = two_photos();
    const char *dead = ".lapedge-00000000-1-1-0000000b.tmp";
    const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    put(at(dead), "");
    assert_int_equal(utimensat(AT_FDCWD, at(dead), long_ago, 0), 0);
    o.dry_run = true;
    assert_int_equal(run(o, (lap_in_place){0}, unsynced()).counts.ok, 2);
    assert_int_equal(access(at(dead), F_OK), 0);
    o.dry_run = false;
    assert_int_equal(run(o, (lap_in_place){0}, unsynced()).counts.ok, 2);
    assert_int_equal(access(at(dead), F_OK), -1);
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static void the_first_failure_is_the_last_photo(void **state)
{
    static char paths[FOLDERS][128];
    const char *inputs[FOLDERS];
    (void)state;
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d.pgm", scratch, i);
        put_photo(paths[i], 20);
        inputs[i] = paths[i];
    }
    put(paths[0], "no photo");
    const lap_batch_options o = {.inputs = inputs, .input_count = FOLDERS, .jobs = 1, .fail_fast = true};
    const result r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(r.files, 1);
    assert_int_equal(r.counts.failed, 1);
    assert_true(r.counts.found < FOLDERS);
    for (int i = 1; i < FOLDERS; i++)
        assert_true(is_photo(paths[i], 20));
}

static void a_dry_run_foresees_what_the_name_rules_out(void **state)
{
    (void)state;
    lap_batch_options o = two_photos();
    assert_int_equal(rename(two[0], at("0.orig")), 0);
    two[0] = at("0.orig");
    o.dry_run = true;
    const result r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(r.reports[0].status, LAP_FAILED);
    assert_int_equal(r.reports[0].error.code, LAP_E_USAGE);
    assert_int_equal(r.reports[1].status, LAP_DONE);
    assert_int_equal(between.begun, 0);
}

static void rows(void *user, int rows_done, int rows_total)
{
    (void)rows_done, (void)rows_total;
    *(int *)user = 1;
}

static void statistics_and_progress_are_of_one_photo(void **state)
{
    (void)state;
    for (int count = 1; count <= 2; count++) {
        lap_run_stats stats, untouched;
        int moved = 0;
        lap_batch_options o = two_photos();
        o.input_count = (size_t)count;
        memset(&stats, 7, sizeof stats);
        memset(&untouched, 7, sizeof untouched);
        lap_settings s = unsynced();
        s.stats = &stats;
        s.progress = rows;
        s.progress_user = &moved;
        assert_int_equal(run(o, (lap_in_place){.again = true}, s).counts.ok, count);
        assert_int_equal(moved, count == 1);
        assert_int_equal(memcmp(&stats, &untouched, sizeof stats) == 0, count == 2);
    }
}

typedef struct listener {
    int ticks, files, warnings;
    lap_code warning;
} listener;

static void on_slow_event(void *user, const lap_batch_file *file, const lap_batch_counts *counts)
{
    listener *l = user;
    (void)counts;
    l->ticks += !file;
    l->files += file != NULL;
    if (file)
        usleep(150000); /* longer than until the next tick */
}

static void on_warning(void *user, const lap_error *warning)
{
    listener *l = user;
    l->warnings++;
    l->warning = warning->code;
}

/* Both reach the caller with its own pointer; and nobody has to listen. */
static void time_that_passes_and_warnings_are_told(void **state)
{
    (void)state;
    for (int listens = 0; listens < 2; listens++) {
        listener l = {0};
        lap_batch_counts counts;
        lap_error err;
        lap_batch_options o = two_photos();
        lap_context *context = lap_context_create(2, NULL);
        assert_non_null(context);
        const lap_in_place order = {
            .options = &o, .each = listens ? on_slow_event : NULL, .user = &l, .again = true};
        const lap_settings s = unsynced();
        o.warn = listens ? on_warning : NULL;
        between.warns = listens;
        assert_int_equal(lap_batch_in_place(context, &order, &s, &counts, &err), LAP_OK);
        assert_int_equal(counts.ok, 2);
        assert_int_equal(l.files, listens ? 2 : 0);
        assert_true(listens ? l.ticks > 0 : l.ticks == 0);
        assert_int_equal(l.warnings, listens);
        assert_int_equal(l.warning, listens ? LAP_E_DEVICE : LAP_OK);
        lap_context_destroy(context);
    }
}

static void what_is_refused_is_refused_before_the_first_photo(void **state)
{
    (void)state;
    lap_batch_options o = two_photos();
    const char *const sides[] = {two[1]}, *const folder[] = {two[0], scratch}, *list[1];
    const result empty = {0};
    lap_settings bad = unsynced();
    bad.quality = 101;
    result r = run(o, (lap_in_place){0}, bad);
    assert_int_equal(r.code, LAP_E_USAGE);
    o.inputs = folder;
    r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(r.code, LAP_E_USAGE);
    assert_string_equal(r.err.subject, scratch);
    o.input_count = 1; /* the element behind the inputs is not read */
    r = run(o, (lap_in_place){.again = true}, unsynced());
    assert_int_equal(r.counts.ok, 1);
    o = two_photos();
    o.sides = sides;
    o.side_count = 1;
    r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(r.code, LAP_E_CLASH);
    assert_int_equal(r.counts.expected, empty.counts.expected);
    put(at("list"), two[0]);
    list[0] = o.files_from = at("list");
    o.inputs = NULL;
    o.input_count = 0;
    o.sides = list;
    r = run(o, (lap_in_place){0}, unsynced());
    assert_int_equal(r.code, LAP_E_CLASH);
    assert_true(is_photo(two[0], 20) && is_photo(two[1], 21));
}

int main(void)
{
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, open_scratch, remove_scratch)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(a_line_says_what_was_replaced_and_by_whom),
        IN_SCRATCH(no_line_no_rename),
        IN_SCRATCH(a_full_disk_stops_the_run),
        IN_SCRATCH(memory_that_runs_out_costs_one_photo),
        IN_SCRATCH(an_error_of_the_judge_names_the_photo),
        IN_SCRATCH(a_photo_that_comes_before_the_rename_stays),
        IN_SCRATCH(an_output_that_comes_before_the_rename_is_known),
        IN_SCRATCH(an_output_that_comes_while_its_photo_is_read_ends_no_run),
        IN_SCRATCH(a_photo_that_is_filtered_before_it_is_read_is_counted),
        IN_SCRATCH(in_doubt_no_output_is_replaced),
        IN_SCRATCH(two_runs_with_different_settings_at_once_are_told),
        IN_SCRATCH(what_a_rival_makes_below_meanwhile_is_left_alone),
        IN_SCRATCH(force_leaves_what_another_command_makes_meanwhile),
        IN_SCRATCH(folders_are_left_one_by_one),
        IN_SCRATCH(the_jobs_are_as_many_as_the_files_allow),
        IN_SCRATCH(a_photo_that_is_named_twice_is_done_once),
        IN_SCRATCH(the_name_of_a_backup_may_be_as_long_as_a_name),
        IN_SCRATCH(the_longest_name_is_a_name),
        IN_SCRATCH(a_run_without_standard_input),
        IN_SCRATCH(what_stopped_runs_left_goes),
        IN_SCRATCH(the_first_failure_is_the_last_photo),
        IN_SCRATCH(a_dry_run_foresees_what_the_name_rules_out),
        IN_SCRATCH(statistics_and_progress_are_of_one_photo),
        IN_SCRATCH(time_that_passes_and_warnings_are_told),
        IN_SCRATCH(what_is_refused_is_refused_before_the_first_photo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
