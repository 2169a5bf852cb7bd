/* What a folder run does with an input, by what stands at its output's name: every judgement of the records,
 * with and without -f and --rebuild; and what else may be there. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/batch.h"

/* ---- the records and the system ------------------------------------------------------------------------ */

static struct {
    lap_made made; /* what the records say about the file that is there */
    lap_code code; /* of reading them */
    uint64_t content;
    int judged, done, flushed, entered, left;
    lap_code noted; /* of writing a line */
    const char *call;
    int why, after;
} sys;

lap_code __wrap_lap_manifest_judge(
    lap_manifest *manifest, const lap_standing *standing, lap_made *made, uint64_t *content, lap_error *err);
lap_code __wrap_lap_manifest_judge(
    lap_manifest *manifest, const lap_standing *standing, lap_made *made, uint64_t *content, lap_error *err)
{
    (void)manifest;
    assert_string_equal(standing->output, "deep/out.jpg");
    assert_int_equal(standing->there->st_size, 5);
    assert_string_equal(standing->input.path, "in/photo.jpg");
    assert_true(standing->input.stat && standing->input.content && !standing->input.content->is_known);
    assert_int_equal(standing->input.below, 3);
    sys.judged++;
    if (sys.code != LAP_OK)
        return lap_fail(err, sys.code, "struck");
    if (sys.code == LAP_OK && err) /* a judge may leave a message behind */
        snprintf(err->message, sizeof err->message, "left behind");
    *made = sys.made;
    *content = sys.content;
    return LAP_OK;
}

lap_code __wrap_lap_manifest_done(lap_manifest *manifest, const lap_manifest_output *output,
    const lap_manifest_input *input, lap_error *err);
lap_code __wrap_lap_manifest_done(lap_manifest *manifest, const lap_manifest_output *output,
    const lap_manifest_input *input, lap_error *err)
{
    (void)manifest, (void)err;
    assert_string_equal(output->name, "deep/out.jpg");
    assert_int_equal(output->made->st_size, 5);
    assert_true(output->content == sys.content);
    assert_string_equal(input->path, "in/photo.jpg");
    sys.done++;
    return sys.noted;
}

lap_code __wrap_lap_manifest_flush(lap_manifest *manifest, bool sync, size_t ahead, lap_error *err);
lap_code __wrap_lap_manifest_flush(lap_manifest *manifest, bool sync, size_t ahead, lap_error *err)
{
    (void)manifest, (void)ahead, (void)err;
    assert_false(sync);
    sys.flushed++;
    return LAP_E_WRITE;
}

lap_code __real_lap_tree_enter(
    const lap_tree *tree, const char *relative, bool make, int *at_folder, lap_error *err);
lap_code __wrap_lap_tree_enter(
    const lap_tree *tree, const char *relative, bool make, int *at_folder, lap_error *err);
lap_code __wrap_lap_tree_enter(
    const lap_tree *tree, const char *relative, bool make, int *at_folder, lap_error *err)
{
    assert_false(make);
    if (strike(sys.call, "enter", &sys.after, 0))
        return lap_fail(err, (lap_code)sys.why, "struck");
    const lap_code code = __real_lap_tree_enter(tree, relative, make, at_folder, err);
    sys.entered += code == LAP_OK;
    return code;
}

void __real_lap_tree_leave(const lap_tree *tree, int folder);
void __wrap_lap_tree_leave(const lap_tree *tree, int folder);
void __wrap_lap_tree_leave(const lap_tree *tree, int folder)
{
    sys.left++;
    __real_lap_tree_leave(tree, folder);
}

int __real_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags);
int __wrap_fstatat(int folder, const char *name, struct stat *st, int flags)
{
    return strike(sys.call, "fstatat", &sys.after, sys.why) ? -1 : __real_fstatat(folder, name, st, flags);
}

/* ---- one input ----------------------------------------------------------------------------------------- */

static batch b;
static lap_batch_options options;
static lap_settings settings;
static lap_batch_others others;
static struct stat photo;
static lap_walk_entry entry;
static lap_job job;
static lap_error why;
static char output[512];

static int begin(void **state)
{
    (void)state;
    memset(&sys, 0, sizeof sys);
    others = (lap_batch_others){0};
    options = (lap_batch_options){.others = &others, .input_count = 1};
    settings = (lap_settings){.quality = 90};
    b = (batch){.options = &options, .settings = &settings};
    put(at("photo.jpg"), "a photo");
    assert_int_equal(mkdir(at("deep"), 0777), 0);
    put(at("deep/out.jpg"), "abcde");
    assert_int_equal(stat(at("photo.jpg"), &photo), 0);
    entry = (lap_walk_entry){.path = "in/photo.jpg", .relative = "photo.jpg", .stat = &photo};
    snprintf(output, sizeof output, "%s", at("deep/out.jpg"));
    return lap_tree_open(scratch, &b.tree, NULL) != LAP_OK;
}

static int end(void **state)
{
    (void)state;
    sys.call = NULL;
    assert_int_equal(sys.entered, sys.left);
    lap_tree_close(&b.tree);
    lap_map64_free(&b.claims);
    lap_map64_free(&b.endangered);
    empty_scratch();
    return 0;
}

static lap_status judge(void)
{
    static char relative[] = "deep/out.jpg";
    job = (lap_job){.output = output, .relative = relative, .below = 3};
    why = (lap_error){.code = LAP_E_WRITE, .message = "of before"};
    return lap_batch_judge(&b, &entry, &job, &why);
}

static void assert_silent(void)
{
    assert_int_equal(why.code, LAP_OK);
    assert_string_equal(why.message, "");
}

static void assert_says(lap_code code, const char *subject, const char *message)
{
    assert_int_equal(why.code, code);
    assert_string_equal(why.subject, subject);
    assert_string_equal(why.message, message);
}

/* ---- regular files ------------------------------------------------------------------------------------- */

/* For each judgement, what happens plainly, with -f, with --rebuild, with both: w: the output is written; r:
 * it is refused; k: it is up to date and kept. */
static const char happens[][5] = {
    [LAP_MADE_UNKNOWN] = "rwrw",
    [LAP_MADE_CHANGED] = "rwrw",
    [LAP_MADE_UNBELIEVED] = "rwrw",
    [LAP_MADE_UNHASHED] = "wwww",
    [LAP_MADE_TURNED] = "rwrw",
    [LAP_MADE_FILTERED] = "rwrw",
    [LAP_MADE_ELSEWHERE] = "rwrw",
    [LAP_MADE_SPELT] = "rrrr",
    [LAP_MADE_MEANWHILE] = "rrrr",
    [LAP_MADE_OURS] = "wwww",
    [LAP_MADE_SAID] = "kkrw",
    [LAP_MADE_SAME] = "kkww",
};

static void judgements(void **state)
{
    (void)state;
    for (lap_made made = LAP_MADE_UNKNOWN; made <= LAP_MADE_SAME; made++)
        for (int how = 0; how < 4; how++)
            for (int ours = 0; ours < 2; ours++) {
                const char as = happens[made][how];
                sys.made = made;
                others.ours = (uint64_t)ours;
                options.others = ours || how ? &others : NULL;
                options.force = how & 1;
                options.rebuild = how & 2;
                const lap_status status = judge();
                if (status != (as == 'w' ? LAP_DONE : LAP_SKIPPED))
                    fail_msg("judgement %d, options %d: %d", (int)made, how, (int)status);
                assert_true(job.is_seen && job.seen.st_size == 5);
                assert_int_equal(job.only_equal, made == LAP_MADE_UNHASHED);
                if (as != 'r') {
                    assert_silent();
                    continue;
                }
                lap_error same = {0};
                (void)lap_made_refuse(made, output, &same);
                assert_says(LAP_E_EXISTS, output, same.message);
                assert_int_equal(
                    why.remedy, made == LAP_MADE_UNKNOWN && ours ? LAP_REMEDY_ORDER : same.remedy);
            }
    assert_int_equal(sys.done, 0);
}

/* Records that cannot be read. -f does not need them, unless the file may be a photo. */
static void unreadable(void **state)
{
    (void)state;
    for (int force = 0; force < 2; force++)
        for (int around = 0; around < 2; around++) {
            options.force = force;
            b.around = around ? "in" : NULL;
            sys.code = LAP_E_MEMORY;
            assert_int_equal(judge(), LAP_FAILED);
            assert_says(LAP_E_MEMORY, output, "struck");
            sys.code = LAP_E_UNREADABLE;
            const bool is_forced = force && !around;
            assert_int_equal(judge(), is_forced ? LAP_DONE : LAP_FAILED);
            if (is_forced)
                assert_silent();
            else
                assert_says(LAP_E_UNREADABLE, output, "struck");
        }
}

/* In an output folder within the inputs, a file without a record may be a photo: it stays. */
static void among_photos(void **state)
{
    (void)state;
    b.around = "in";
    for (lap_made made = LAP_MADE_UNKNOWN; made <= LAP_MADE_SAME; made++) {
        options.force = true;
        sys.made = made;
        const lap_status status = judge();
        assert_int_equal(
            status, made != LAP_MADE_UNKNOWN && happens[made][1] == 'w' ? LAP_DONE : LAP_SKIPPED);
        if (made == LAP_MADE_UNKNOWN)
            assert_says(LAP_E_EXISTS, output,
                "exists, was not made by lapedge, and lies in in, so it may be a photo: move it, or write "
                "elsewhere");
    }
}

/* --preserve: an output that is up to date is made again if it lacks the photo's time (within 2 s) or mode.
 */
static void attributes(void **state)
{
    static const struct {
        int later;
        mode_t mode;
        bool lacks;
    } cases[] = {{0, 0, false}, {2, 0, false}, {-2, 0, false}, {3, 0, true}, {-3, 0, true}, {0, 0400, true},
        {0, 0001, true}, {0, 01000, false}, {3, 0001, true}};
    struct stat st;
    (void)state;
    assert_int_equal(stat(output, &st), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int preserve = 0; preserve < 2; preserve++) {
            sys.made = LAP_MADE_SAME;
            settings.preserve = preserve;
            photo.st_mtim.tv_sec = st.st_mtim.tv_sec + cases[i].later;
            photo.st_mode = st.st_mode ^ cases[i].mode;
            assert_int_equal(judge(), preserve && cases[i].lacks ? LAP_DONE : LAP_SKIPPED);
            assert_silent();
            sys.made = LAP_MADE_SAID;
            assert_int_equal(judge(), LAP_SKIPPED);
            assert_int_equal(why.code, preserve && cases[i].lacks ? LAP_E_EXISTS : LAP_OK);
        }
}

/* What was recognised by its content gets a new line, so that it is not read again. The line is written at
 * once: --prune of another run must see it. */
static void renewed(void **state)
{
    (void)state;
    for (lap_made made = LAP_MADE_SAID; made <= LAP_MADE_SAME; made++)
        for (int dry = 0; dry < 2; dry++)
            for (int known = 0; known < 2; known++) {
                sys.made = made;
                sys.content = known ? 77 : 0;
                options.dry_run = dry;
                sys.done = sys.flushed = 0;
                assert_int_equal(judge(), LAP_SKIPPED);
                assert_silent();
                assert_int_equal(sys.done, known && !dry);
                assert_int_equal(sys.flushed, known && !dry);
            }
    sys.content = 78;
    options.dry_run = false;
    sys.flushed = 0;
    sys.noted = LAP_E_MEMORY; /* the next run does it again */
    assert_int_equal(judge(), LAP_SKIPPED);
    assert_silent();
    assert_int_equal(sys.flushed, 0);
}

/* ---- what else is there -------------------------------------------------------------------------------- */

static void nothing(void **state)
{
    (void)state;
    assert_int_equal(unlink(at("deep/out.jpg")), 0);
    assert_int_equal(judge(), LAP_DONE);
    assert_silent();
    assert_false(job.is_seen);
    assert_int_equal(rmdir(at("deep")), 0);
    assert_int_equal(judge(), LAP_DONE);
    assert_silent();
    assert_false(job.is_seen);
    assert_int_equal(sys.judged, 0);
    static const int codes[][2] = {
        {LAP_E_EXISTS, LAP_SKIPPED}, {LAP_E_WRITE, LAP_FAILED}, {LAP_E_MEMORY, LAP_FAILED}};
    for (size_t i = 0; i < 3; i++) {
        sys.call = "enter", sys.after = 0, sys.why = (int)codes[i][0];
        assert_int_equal(judge(), codes[i][1]);
        assert_int_equal(why.code, codes[i][0]);
        assert_string_equal(why.message, "struck");
    }
    assert_int_equal(mkdir(at("deep"), 0777), 0);
    sys.call = "fstatat", sys.after = 0, sys.why = EIO;
    assert_int_equal(judge(), LAP_FAILED);
    assert_says(LAP_E_WRITE, output, "cannot be examined: Input/output error");
    assert_false(job.is_seen);
}

/* --skip-existing and --no-clobber do not ask what it is. */
static void existing(void **state)
{
    (void)state;
    for (int is_link = 0; is_link < 2; is_link++) {
        options.skip_existing = true;
        assert_int_equal(judge(), LAP_SKIPPED);
        assert_silent();
        options.skip_existing = false;
        options.no_clobber = true;
        assert_int_equal(judge(), LAP_SKIPPED);
        lap_error same = {0};
        lap_sink_exists(output, &same);
        assert_says(same.code, output, same.message);
        options.no_clobber = false;
        assert_int_equal(unlink(at("deep/out.jpg")), 0);
        assert_int_equal(symlink("nowhere", at("deep/out.jpg")), 0);
    }
    assert_int_equal(sys.judged, 0);
    for (int force = 0; force < 2; force++) { /* a link is neither replaced nor followed */
        options.force = force;
        assert_int_equal(judge(), force ? LAP_FAILED : LAP_SKIPPED);
        assert_says(force ? LAP_E_WRITE : LAP_E_EXISTS, output, "is not a regular file; remove it first");
    }
    assert_int_equal(sys.judged, 0);
}

/* An input at the place of an output is never overwritten. */
static void inputs(void **state)
{
    char message[600];
    struct stat st;
    (void)state;
    snprintf(message, sizeof message, "would overwrite an input, %.300s", output);
    assert_int_equal(stat(output, &st), 0);
    options.force = true;
    entry.stat = &st;
    assert_int_equal(judge(), LAP_FAILED);
    assert_says(LAP_E_CLASH, "in/photo.jpg", message);
    entry.stat = &photo;
    assert_int_equal(lap_map64_put(&b.endangered, lap_batch_inode(&st), 1, NULL), LAP_OK);
    assert_int_equal(judge(), LAP_FAILED);
    assert_says(LAP_E_CLASH, "in/photo.jpg", message);
    assert_int_equal(sys.judged, 0);
}

/* ---- names that several inputs claim ------------------------------------------------------------------- */

static void claims(void **state)
{
    static const struct {
        bool flat;
        size_t inputs;
        const char *list;
        lap_remedy remedy;
    } cases[] = {{true, 1, NULL, LAP_REMEDY_FLAT}, {false, 1, NULL, LAP_REMEDY_APART},
        {true, 2, NULL, LAP_REMEDY_APART}, {true, 1, "list", LAP_REMEDY_APART}};
    const uint64_t key = lap_batch_key("deep/out.jpg");
    (void)state;
    sys.made = LAP_MADE_OURS;
    for (uint64_t count = LAP_REPEATED; count < 4; count++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char message[600];
            options.flat = cases[i].flat;
            options.input_count = cases[i].inputs;
            options.files_from = cases[i].list;
            assert_int_equal(lap_map64_put(&b.claims, key, count, NULL), LAP_OK);
            const lap_status status = judge();
            if (count <= LAP_TAKEN) {
                assert_int_equal(status, LAP_DONE);
                continue;
            }
            assert_int_equal(status, LAP_FAILED);
            snprintf(message, sizeof message, "%d inputs would be written to %.300s; none was", (int)count,
                output);
            assert_says(LAP_E_CLASH, "in/photo.jpg", message);
            assert_int_equal(why.remedy, cases[i].remedy);
        }
}

/* An input that is named several times is handled once; what several inputs claim is no repetition. */
static void repeated(void **state)
{
    const uint64_t key = lap_batch_key("photo.jpg");
    static char long_name[PATH_MAX + 2];
    (void)state;
    assert_false(lap_batch_is_repeated(&b, &entry));
    assert_int_equal(lap_map64_put(&b.claims, key, LAP_REPEATED, NULL), LAP_OK);
    assert_false(lap_batch_is_repeated(&b, &entry));
    assert_int_equal(*lap_map64_find(&b.claims, key), LAP_TAKEN);
    assert_true(lap_batch_is_repeated(&b, &entry));
    assert_true(lap_batch_is_repeated(&b, &entry));
    assert_int_equal(lap_map64_put(&b.claims, key, 2, NULL), LAP_OK);
    assert_false(lap_batch_is_repeated(&b, &entry));
    assert_int_equal(*lap_map64_find(&b.claims, key), 2);
    memset(long_name, 'x', sizeof long_name - 1);
    const lap_walk_entry longer = {.path = long_name, .relative = long_name, .stat = &photo};
    assert_false(lap_batch_is_repeated(&b, &longer));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(judgements), TEST(unreadable), TEST(among_photos),
        TEST(attributes), TEST(renewed), TEST(nothing), TEST(existing), TEST(inputs), TEST(claims),
        TEST(repeated)};
    if (!make_scratch())
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
