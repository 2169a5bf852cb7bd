/* A group of outputs: what is written in which order, what fails when a step fails, and which files are
 * replaced. The manifest's answers, and the file system's, are made up here. */
#include "tests/support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/group.h"

/* ---- what the others say ------------------------------------------------------------------------------ */

enum { JOBS = 3 };

static struct {
    char log[400];     /* what was done, in order */
    int sync;          /* why a sync fails */
    lap_code flush[4]; /* of each flush */
    int temps[4];      /* temporary files at that time */
    int flushes, judged, published;
    const char *begin, *done; /* the output whose line cannot be queued */
    lap_code judge, hash;     /* their result */
    lap_made made;
    bool is_taken;        /* each attempt to publish fails */
    const char *appears;  /* a file that gets a name just before the first attempt */
    const char *vanishes; /* a folder that loses its name after the first attempt */
    double now;
    const lap_job *job; /* that is judged */
} sys;

static void note(const char *what, const char *of, size_t number)
{
    const size_t used = strlen(sys.log);
    snprintf(sys.log + used, sizeof sys.log - used, number ? "%s %s %zu; " : "%s %s; ", what, of, number);
}

double __wrap_lap_now_ms(void);
double __wrap_lap_now_ms(void)
{
    return sys.now;
}

int __wrap_syncfs(int fd);
int __wrap_syncfs(int fd)
{
    assert_true(fd >= 0);
    note("sync", "", 0);
    errno = sys.sync;
    return sys.sync ? -1 : 0;
}

lap_code __wrap_lap_manifest_begin(lap_manifest *m, const lap_manifest_output *output, lap_error *err);
lap_code __wrap_lap_manifest_begin(lap_manifest *m, const lap_manifest_output *output, lap_error *err)
{
    (void)m;
    assert_int_equal(output->made->st_size, 4);
    if (sys.begin && strcmp(sys.begin, output->name) == 0)
        return lap_fail(err, LAP_E_MEMORY, "no line");
    note("begin", output->name, 0);
    return LAP_OK;
}

lap_code __wrap_lap_manifest_done(
    lap_manifest *m, const lap_manifest_output *output, const lap_manifest_input *input, lap_error *err);
lap_code __wrap_lap_manifest_done(
    lap_manifest *m, const lap_manifest_output *output, const lap_manifest_input *input, lap_error *err)
{
    (void)m;
    assert_int_equal(output->made->st_size, 4);
    assert_non_null(strstr(input->path, "photo"));
    if (sys.done && strcmp(sys.done, output->name) == 0)
        return lap_fail(err, LAP_E_MEMORY, "no line");
    note("done", output->name, 0);
    return LAP_OK;
}

lap_code __wrap_lap_manifest_flush(lap_manifest *m, bool sync, size_t ahead, lap_error *err);
lap_code __wrap_lap_manifest_flush(lap_manifest *m, bool sync, size_t ahead, lap_error *err)
{
    (void)m;
    const lap_code code = sys.flushes < 4 ? sys.flush[sys.flushes] : LAP_OK;
    sys.temps[sys.flushes++ % 4] = access(at("sub"), F_OK) == 0 ? count_temps(at("sub")) : 0;
    note(sync ? "flush and sync" : "flush", "", ahead);
    return code == LAP_OK ? code : lap_fail_at(err, code, "the records", "cannot be written");
}

lap_code __wrap_lap_manifest_judge(
    lap_manifest *m, const lap_standing *standing, lap_made *made, uint64_t *content, lap_error *err);
lap_code __wrap_lap_manifest_judge(
    lap_manifest *m, const lap_standing *standing, lap_made *made, uint64_t *content, lap_error *err)
{
    struct stat there;
    (void)m;
    sys.judged++;
    assert_string_equal(standing->output, sys.job->relative);
    assert_ptr_equal(standing->input.path, sys.job->input);
    assert_int_equal(fstatat(standing->folder, strrchr(standing->output, '/') + 1, &there, 0), 0);
    assert_int_equal(there.st_ino, standing->there->st_ino);
    *made = sys.made;
    *content = 0;
    return sys.judge == LAP_OK ? LAP_OK : lap_fail(err, sys.judge, "cannot be judged");
}

lap_code __real_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err);
lap_code __wrap_lap_content_hash(
    int folder, const char *name, const struct stat *there, uint64_t *hash, lap_error *err)
{
    return sys.hash == LAP_OK ? __real_lap_content_hash(folder, name, there, hash, err)
                              : lap_fail(err, sys.hash, "cannot be read");
}

lap_code __real_lap_sink_publish(lap_sink *sink, lap_error *err);
lap_code __wrap_lap_sink_publish(lap_sink *sink, lap_error *err);
lap_code __wrap_lap_sink_publish(lap_sink *sink, lap_error *err)
{
    sys.published++;
    if (sys.appears)
        put(at(sys.appears), "they");
    sys.appears = NULL;
    if (!sys.is_taken && !sys.vanishes)
        return __real_lap_sink_publish(sink, err);
    if (sys.vanishes)
        assert_int_equal(rename(at(sys.vanishes), at("gone")), 0);
    sys.vanishes = NULL;
    return lap_fail_at(err, LAP_E_EXISTS, "it", "is taken");
}

/* ---- a group --------------------------------------------------------------------------------------------
 */

static lap_tree tree;
static lap_job jobs[JOBS];
static lap_group group;
static lap_origin origin = {"/photos", 1, 2};

/* Three finished outputs, tree/sub/0 to 2, of which none has its name. */
static void begin_group(void)
{
    lap_error err;
    memset(&sys, 0, sizeof sys);
    group = (lap_group){.count = JOBS, .sync_fd = 1};
    for (int i = 0; i < JOBS; i++) {
        char relative[16], photo[32];
        int folder;
        lap_job *job = &jobs[i];
        snprintf(relative, sizeof relative, "sub/%d", i);
        snprintf(photo, sizeof photo, "photo%d", i);
        put(at(photo), "photo");
        *job = (lap_job){
            .input = strdup(at(photo)), .output = strdup(at(relative)), .relative = strdup(relative)};
        job->origin = i == 1 ? &origin : NULL;
        assert_int_equal(stat(job->input, &job->stat), 0);
        assert_int_equal(lap_tree_enter(&tree, relative, true, &folder, &err), LAP_OK);
        lap_tree_leave(&tree, folder);
        assert_int_equal(lap_sink_open_below(&tree, relative, &job->sink, &err), LAP_OK);
        assert_int_equal(lap_sink_write(job->sink, "ours", 4, &err), LAP_OK);
        assert_int_equal(lap_sink_finish(job->sink, false, NULL, &err), LAP_OK);
        group.jobs[i] = job;
    }
    sys.job = &jobs[0];
}

static bool is_published(int i)
{
    char relative[16], got[8] = "";
    snprintf(relative, sizeof relative, "sub/%d", i);
    const int fd = openat(tree.fd, relative, O_RDONLY);
    if (fd < 0)
        return false;
    assert_int_equal(read(fd, got, sizeof got), 4);
    close(fd);
    return strcmp(got, "ours") == 0;
}

/* Checks that what has failed has given its disk space back; removes all. */
static void end_group(void)
{
    int unnamed = 0;
    for (int i = 0; i < JOBS; i++)
        unnamed += jobs[i].sink && !is_published(i);
    if (access(at("sub"), F_OK) == 0) /* else the next run removes them */
        assert_int_equal(count_temps(at("sub")), unnamed);
    for (int i = 0; i < JOBS; i++) {
        lap_sink_close(jobs[i].sink);
        free(jobs[i].input);
        free(jobs[i].output);
        free(jobs[i].relative);
    }
    char command[128];
    snprintf(command, sizeof command, "cd '%s' && rm -rf sub gone", scratch);
    assert_int_equal(system(command), 0);
}

static void assert_failed(int i, lap_status status, lap_code code, const char *subject, const char *message)
{
    assert_null(jobs[i].sink);
    assert_false(is_published(i));
    assert_int_equal(jobs[i].report.status, status);
    assert_int_equal(jobs[i].report.error.code, code);
    assert_string_equal(jobs[i].report.error.subject, subject);
    assert_string_equal(jobs[i].report.error.message, message);
}

static void assert_good(int i)
{
    assert_true(is_published(i));
    assert_non_null(jobs[i].sink);
    assert_int_equal(jobs[i].report.error.code, LAP_OK);
}

/* The bytes of the done lines of the first n jobs, as far as they are known before. */
static size_t ahead(int n)
{
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += 800 + strlen(jobs[i].relative) + strlen(jobs[i].input) +
                 (jobs[i].origin ? strlen(jobs[i].origin->name) : 0);
    return bytes;
}

#define assert_log(...)                                   \
    do {                                                  \
        char expected[400];                               \
        snprintf(expected, sizeof expected, __VA_ARGS__); \
        assert_string_equal(sys.log, expected);           \
    } while (0)

/* ---- tests ----------------------------------------------------------------------------------------------
 */

static void a_group_is_due_by_number_or_time(void **unused)
{
    (void)unused;
    static const struct {
        int count;
        double age;
        bool is_due;
    } cases[] = {{0, 9000, false}, {1, 1999, false}, {1, 2000, true}, {255, 0, false}, {256, 0, true}};
    sys.now = 10000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_group one = {.count = cases[i].count, .since_ms = sys.now - cases[i].age};
        assert_int_equal(lap_group_is_due(&one), cases[i].is_due);
    }
}

static void renames_are_made_durable(void **unused)
{
    (void)unused;
    static const struct {
        int why;
        lap_code code;
    } cases[] = {{ENOSPC, LAP_E_DISK_FULL}, {EDQUOT, LAP_E_DISK_FULL}, {EIO, LAP_E_WRITE}, {0, LAP_OK}};
    lap_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&sys, 0, sizeof sys);
        sys.sync = cases[i].why;
        lap_group one = {.sync_fd = 1, .unsettled = true};
        assert_int_equal(lap_group_settle(&one, &err), cases[i].code);
        if (cases[i].why)
            assert_non_null(strstr(err.message, strerror(cases[i].why)));
        assert_int_equal(lap_group_settle(&one, &err), LAP_OK); /* once */
        assert_log("sync ; ");
    }
    memset(&sys, 0, sizeof sys);
    lap_group none = {.sync_fd = -1, .unsettled = true};
    assert_int_equal(lap_group_settle(&none, &err), LAP_OK);
    assert_log("%s", "");
}

/* Number 0 is a descriptor like others. */
static bool is_opened_as_zero(void)
{
    lap_error err;
    lap_group one = {.unsettled = true};
    close(0);
    const int files = open_files();
    bool good = lap_group_open(&one, &tree, &err) == LAP_OK && one.sync_fd == 0 &&
                lap_group_settle(&one, &err) == LAP_OK && strcmp(sys.log, "sync ; ") == 0;
    begin_group();
    group.sync_fd = 0;
    good = good && lap_group_publish(&group, NULL, &err) == LAP_OK && strstr(sys.log, "flush and sync");
    end_group();
    lap_group_close(&one);
    lap_group_close(&one);
    return good && one.sync_fd == -1 && open_files() == files;
}

static void the_folder_is_opened(void **unused)
{
    (void)unused;
    int status;
    lap_error err;
    lap_group one;
    memset(&sys, 0, sizeof sys);
    assert_int_equal(lap_group_open(&one, &(lap_tree){-1, "the folder"}, &err), LAP_E_WRITE);
    assert_string_equal(err.subject, "the folder");
    assert_non_null(strstr(err.message, strerror(EBADF)));
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(is_opened_as_zero() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void all_is_written_in_order(void **unused)
{
    (void)unused;
    lap_error err;
    for (int sync = 0; sync < 2; sync++) {
        begin_group();
        group.sync_fd = sync ? 1 : -1;
        const int files = open_files();
        assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
        assert_int_equal(open_files(), files);
        assert_log("%sbegin sub/0; begin sub/1; begin sub/2; flush%s  %zu; done sub/0; done sub/1; done "
                   "sub/2; flush ; ",
            sync ? "sync ; " : "", sync ? " and sync" : "", ahead(JOBS));
        for (int i = 0; i < JOBS; i++)
            assert_good(i);
        assert_true(group.unsettled);
        end_group();
    }
}

/* A photo that was modified after it was read, and a job that failed before. */
static void the_others_are_published(void **unused)
{
    (void)unused;
    lap_error err;
    begin_group();
    put(jobs[0].input, "an edited photo");
    lap_sink_close(jobs[2].sink);
    jobs[2].sink = NULL;
    jobs[2].report.error.code = LAP_E_TRUNCATED;
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
    assert_failed(0, LAP_FAILED, LAP_E_CHANGED, jobs[0].input, "changed after it was read");
    assert_good(1);
    assert_int_equal(jobs[2].report.error.code, LAP_E_TRUNCATED);
    assert_log("sync ; begin sub/1; flush and sync  %zu; done sub/1; flush ; ", ahead(2) - ahead(1));
    end_group();
}

static void nothing_gets_a_name_without_a_sync(void **unused)
{
    (void)unused;
    lap_error err;
    begin_group();
    sys.sync = ENOSPC;
    lap_sink_close(jobs[2].sink);
    jobs[2].sink = NULL;
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_E_DISK_FULL);
    assert_non_null(strstr(err.message, strerror(ENOSPC)));
    for (int i = 0; i < 2; i++)
        assert_failed(i, LAP_FAILED, LAP_E_DISK_FULL, jobs[i].input, err.message);
    assert_int_equal(jobs[2].report.error.code, LAP_OK); /* it has a report already */
    assert_log("sync ; flush ; ");
    assert_false(group.unsettled);
    end_group();
}

/* The last outputs make room for the lines of the first. */
static void a_full_disk_costs_the_last(void **unused)
{
    (void)unused;
    lap_error err;
    for (int left = JOBS - 1; left >= 0; left--) {
        begin_group();
        for (int i = 0; i < JOBS - left; i++)
            sys.flush[i] = LAP_E_DISK_FULL;
        assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_E_DISK_FULL);
        assert_string_equal(err.subject, "the records");
        for (int i = 0; i <= JOBS - left; i++) /* it makes room before it tries again */
            assert_int_equal(sys.temps[i], JOBS - i);
        for (int i = 0; i < JOBS; i++)
            if (i < left)
                assert_good(i);
            else
                assert_failed(
                    i, LAP_FAILED, LAP_E_DISK_FULL, jobs[i].input, "the records: cannot be written");
        if (left == 1)
            assert_log("sync ; begin sub/0; begin sub/1; begin sub/2; flush and sync  %zu; begin sub/0; "
                       "begin sub/1; "
                       "flush and sync  %zu; begin sub/0; flush and sync  %zu; done sub/0; flush ; ",
                ahead(3), ahead(2), ahead(1));
        end_group();
    }
}

static void lines_that_cannot_be_written(void **unused)
{
    (void)unused;
    lap_error err;
    begin_group();
    sys.flush[0] = LAP_E_WRITE;
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_E_WRITE);
    for (int i = 0; i < JOBS; i++)
        assert_failed(i, LAP_FAILED, LAP_E_WRITE, jobs[i].input, "the records: cannot be written");
    end_group();

    begin_group();
    sys.begin = "sub/1";
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_E_MEMORY);
    for (int i = 0; i < JOBS; i++)
        assert_failed(i, LAP_FAILED, LAP_E_MEMORY, jobs[i].input, "no line");
    assert_log("sync ; begin sub/0; flush ; ");
    end_group();

    begin_group(); /* the outputs have their names: they stay, and the run ends */
    sys.done = "sub/1";
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_E_MEMORY);
    assert_string_equal(err.message, "no line");
    for (int i = 0; i < JOBS; i++)
        assert_good(i);
    assert_log("sync ; begin sub/0; begin sub/1; begin sub/2; flush and sync  %zu; done sub/0; ", ahead(3));
    end_group();

    begin_group();
    sys.flush[1] = LAP_E_WRITE;
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_E_WRITE);
    assert_string_equal(err.message, "cannot be written");
    for (int i = 0; i < JOBS; i++)
        assert_good(i);
    end_group();

    begin_group(); /* nobody asks why */
    sys.sync = EIO;
    assert_int_equal(lap_group_publish(&group, NULL, NULL), LAP_E_WRITE);
    end_group();
}

/* ---- names that are taken ---------------------------------------------------------------------------------
 */

static void judge_by(lap_made made)
{
    begin_group();
    sys.made = made;
    sys.appears = "sub/0";
}

/* The file stays, and the job says why. */
static void assert_kept(lap_made made, const char *message)
{
    assert_failed(0, LAP_SKIPPED, made >= LAP_MADE_SAID ? LAP_OK : LAP_E_EXISTS,
        made >= LAP_MADE_SAID ? "" : jobs[0].output, message);
    assert_holds(at("sub/0"), "they");
    assert_good(1);
}

/* Another run makes a file of that name after this one has looked. */
static void what_appears_is_judged(void **unused)
{
    (void)unused;
    lap_error err;
    for (lap_made made = LAP_MADE_UNKNOWN; made <= LAP_MADE_SAME; made++) {
        judge_by(made);
        jobs[0].only_equal = true; /* of a file that stood there before */
        const int files = open_files();
        assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
        assert_int_equal(open_files(), files);
        assert_int_equal(sys.judged, 1);
        lap_error why = {0};
        if (made < LAP_MADE_SAID)
            (void)lap_made_refuse(made, jobs[0].output, &why);
        if (made == LAP_MADE_OURS)
            assert_good(0);
        else
            assert_kept(made, why.message);
        end_group();
    }
    for (int i = 0; i < 3; i++) { /* refused without a question, or not to be judged */
        judge_by(LAP_MADE_SAME);
        sys.appears = NULL;
        if (i == 0)
            assert_int_equal(mkdir(at("sub/0"), 0700), 0);
        else if (i == 1)
            assert_int_equal(symlink("1", at("sub/0")), 0);
        else
            put(at("sub/0"), "they");
        sys.judge = LAP_E_UNREADABLE;
        assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
        assert_int_equal(sys.judged, i == 2);
        assert_null(jobs[0].sink);
        assert_int_equal(jobs[0].report.status, i == 2 ? LAP_FAILED : LAP_SKIPPED);
        assert_string_equal(jobs[0].report.error.subject, jobs[0].output);
        assert_string_equal(jobs[0].report.error.message,
            i == 2 ? "cannot be judged" : "is not a regular file; remove it first");
        end_group();
    }
}

/* With --skip-existing the file that appears is there already; with --no-clobber it is reported. */
static void what_appears_stays_if_asked(void **unused)
{
    (void)unused;
    lap_error err, why;
    lap_sink_exists(at("sub/0"), &why);
    for (int i = 0; i < 4; i++) {
        judge_by(LAP_MADE_OURS); /* else it would be replaced */
        jobs[0].skip_existing = i != 1;
        jobs[0].no_clobber = i == 1 || i == 2;
        if (i == 3) { /* whatever it is */
            sys.appears = NULL;
            assert_int_equal(symlink("nowhere", at("sub/0")), 0);
        }
        assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
        assert_int_equal(sys.judged, 0);
        assert_failed(0, LAP_SKIPPED, i == 1 ? LAP_E_EXISTS : LAP_OK, i == 1 ? jobs[0].output : "",
            i == 1 ? why.message : "");
        assert_good(1);
        end_group();
    }
}

/* A file without a record of its content is replaced by the same content only. */
static void an_old_output_is_compared(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"ours", "they", "longer"};
    lap_error err;
    for (int i = 0; i < 3; i++)
        for (int before = 0; before < 2; before++) { /* seen before, or only when it is in the way */
            begin_group();
            put(at("sub/0"), texts[i]);
            sys.made = LAP_MADE_UNHASHED;
            jobs[0].is_seen = jobs[0].only_equal = before;
            if (before)
                assert_int_equal(stat(jobs[0].output, &jobs[0].seen), 0);
            const int files = open_files();
            struct stat st, now;
            assert_int_equal(stat(jobs[0].output, &st), 0);
            assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
            assert_int_equal(open_files(), files);
            assert_int_equal(stat(at("sub/0"), &now), 0);
            assert_int_equal(now.st_ino == st.st_ino, i > 0);
            assert_int_equal(sys.judged, !before);
            if (i == 0)
                assert_good(0);
            else
                assert_string_equal(jobs[0].report.error.message,
                    "exists and its record is too old to tell whether it was changed");
            assert_int_equal(jobs[0].report.status == LAP_SKIPPED, i > 0);
            assert_holds(at("sub/0"), texts[i]);
            end_group();
        }
    static const struct {
        lap_code hash, code;
        lap_status status;
        const char *message;
    } cases[] = {{LAP_E_CHANGED, LAP_E_EXISTS, LAP_SKIPPED, "exists and was changed since lapedge made it"},
        {LAP_E_UNREADABLE, LAP_E_UNREADABLE, LAP_FAILED, "cannot be read"}};
    for (int i = 0; i < 2; i++) {
        begin_group();
        put(at("sub/0"), "they");
        jobs[0].is_seen = jobs[0].only_equal = true;
        assert_int_equal(stat(jobs[0].output, &jobs[0].seen), 0);
        sys.hash = cases[i].hash;
        assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
        assert_failed(0, cases[i].status, cases[i].code, jobs[0].output, cases[i].message);
        assert_holds(at("sub/0"), "they");
        end_group();
    }
}

static void what_was_seen_is_replaced(void **unused)
{
    (void)unused;
    lap_error err;
    for (int force = 0; force < 2; force++) {
        begin_group();
        put(at("sub/0"), "they");
        jobs[0].force = force;
        jobs[0].is_seen = !force;
        assert_int_equal(stat(jobs[0].output, &jobs[0].seen), 0);
        assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
        assert_good(0);
        assert_int_equal(sys.judged, force);
        end_group();
    }
    judge_by(LAP_MADE_MEANWHILE); /* even so nothing of a run with other settings is, */
    jobs[0].force = true;
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
    assert_kept(
        LAP_MADE_MEANWHILE, "exists and was made by another run, with other settings, during this one");
    end_group();
    begin_group(); /* and no folder */
    assert_int_equal(mkdir(at("sub/0"), 0700), 0);
    jobs[0].force = true;
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
    assert_int_equal(jobs[0].report.error.code, LAP_E_EXISTS);
    assert_int_equal(sys.published, JOBS);
    assert_int_equal(sys.judged, 0);
    end_group();
}

static void names_that_come_and_go(void **unused)
{
    (void)unused;
    lap_error err;
    begin_group(); /* taken, and free again when it is looked at: each time */
    sys.is_taken = true;
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
    for (int i = 0; i < JOBS; i++)
        assert_failed(i, LAP_SKIPPED, LAP_E_EXISTS, "it", "is taken");
    assert_int_equal(sys.published, 5 * JOBS);
    assert_int_equal(sys.judged, 0);
    assert_false(group.unsettled);
    end_group();

    begin_group(); /* the folder itself goes: after an attempt, and before the first */
    sys.vanishes = "sub";
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
    for (int i = 0; i < JOBS; i++)
        assert_failed(i, LAP_FAILED, LAP_E_MISSING, at("sub"), strerror(ENOENT));
    assert_int_equal(sys.published, JOBS);
    end_group();
    begin_group();
    jobs[0].is_seen = jobs[0].only_equal = true;
    assert_int_equal(rename(at("sub"), at("gone")), 0);
    assert_int_equal(lap_group_publish(&group, NULL, &err), LAP_OK);
    assert_failed(0, LAP_FAILED, LAP_E_MISSING, at("sub"), strerror(ENOENT));
    assert_int_equal(sys.published, JOBS - 1);
    end_group();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_group_is_due_by_number_or_time),
        cmocka_unit_test(renames_are_made_durable),
        cmocka_unit_test(the_folder_is_opened),
        cmocka_unit_test(all_is_written_in_order),
        cmocka_unit_test(the_others_are_published),
        cmocka_unit_test(nothing_gets_a_name_without_a_sync),
        cmocka_unit_test(a_full_disk_costs_the_last),
        cmocka_unit_test(lines_that_cannot_be_written),
        cmocka_unit_test(what_appears_is_judged),
        cmocka_unit_test(what_appears_stays_if_asked),
        cmocka_unit_test(an_old_output_is_compared),
        cmocka_unit_test(what_was_seen_is_replaced),
        cmocka_unit_test(names_that_come_and_go),
    };
    if (!make_scratch() || lap_tree_open(scratch, &tree, NULL) != LAP_OK)
        return 99;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
