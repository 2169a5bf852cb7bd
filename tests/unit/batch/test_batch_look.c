/* What the first walk of a folder run learns: how many inputs there are, which share an output's name, which
 * stand at the name of an output, and which of the caller's other files are among them. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/batch.h"
#include "io/side.h"

/* ---- the walk and the system --------------------------------------------------------------------------- */

enum { SMALL = 100, ENTRIES = 512 };

static struct {
    lap_walk_entry entries[2][ENTRIES]; /* of the two walks */
    size_t counts[2];
    int walks;
    const lap_list *list;
    const lap_batch_others *others[2]; /* of the options of each walk */
    int cancel_before;                 /* this walk is cancelled; 0: none is */
    const char *call;
    int after, why;
    uint64_t beyond; /* what new memory holds */
    char noted[512], late[256];
} sys;

static atomic_int cancel;

lap_code __wrap_lap_walk(
    const lap_batch_options *options, lap_list *list, lap_walk_fn *visit, void *user, lap_error *err);
lap_code __wrap_lap_walk(
    const lap_batch_options *options, lap_list *list, lap_walk_fn *visit, void *user, lap_error *err)
{
    lap_code code = LAP_OK;
    const int walk = sys.walks++;
    assert_in_range(walk, 0, 1);
    assert_ptr_equal(list, sys.list);
    assert_string_equal(options->out_dir, at("out"));
    sys.others[walk] = options->others;
    if (sys.walks == sys.cancel_before)
        cancel = 1;
    for (size_t i = 0; i < sys.counts[walk] && code == LAP_OK; i++)
        code = visit(user, &sys.entries[walk][i], err);
    return code;
}

uint64_t __wrap_lap_batch_small(const lap_batch_load *load);
uint64_t __wrap_lap_batch_small(const lap_batch_load *load)
{
    (void)load;
    return SMALL;
}

lap_code __wrap_lap_prune_note(
    lap_prune *prune, const lap_walk_entry *entry, const char *output, lap_error *err);
lap_code __wrap_lap_prune_note(
    lap_prune *prune, const lap_walk_entry *entry, const char *output, lap_error *err)
{
    const size_t length = strlen(sys.noted);
    (void)prune;
    if (strike(sys.call, "prune", &sys.after, 0))
        return lap_fail(err, (lap_code)sys.why, "struck");
    if (length + 64 < sizeof sys.noted)
        snprintf(sys.noted + length, sizeof sys.noted - length, "%.20s>%.20s ", entry->path,
            output ? output : "none");
    return LAP_OK;
}

lap_code __wrap_lap_late_note(lap_late *late, const char *path, lap_error *err);
lap_code __wrap_lap_late_note(lap_late *late, const char *path, lap_error *err)
{
    (void)late;
    if (strike(sys.call, "late", &sys.after, 0))
        return lap_fail(err, (lap_code)sys.why, "struck");
    strcat(strcat(sys.late, path), " ");
    return LAP_OK;
}

void *__real_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size);
void *__wrap_lap_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
    const size_t before = *capacity;
    assert_true(wanted > 0); /* there is room for one more */
    if (strike(sys.call, "grow", &sys.after, ENOMEM))
        return NULL;
    uint64_t *grown = __real_lap_grow(array, capacity, wanted, size);
    for (size_t i = before * size / 8; grown && i < *capacity * size / 8; i++)
        grown[i] = sys.beyond; /* in place of what nobody has written yet */
    return grown;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return strike(sys.call, "calloc", &sys.after, sys.why) ? NULL : __real_calloc(count, size);
}

lap_code __real_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err);
lap_code __wrap_lap_map64_put(lap_map64 *map, uint64_t key, uint64_t value, lap_error *err)
{
    return strike(sys.call, "put", &sys.after, ENOMEM) ? lap_fail(err, LAP_E_MEMORY, "struck")
                                                       : __real_lap_map64_put(map, key, value, err);
}

char *__real_lap_real_name(const char *path);
char *__wrap_lap_real_name(const char *path);
char *__wrap_lap_real_name(const char *path)
{
    return strike(sys.call, "name", &sys.after, sys.why) ? NULL : __real_lap_real_name(path);
}

lap_code __real_lap_side_look(const char *path, lap_side *side, lap_error *err);
lap_code __wrap_lap_side_look(const char *path, lap_side *side, lap_error *err);
lap_code __wrap_lap_side_look(const char *path, lap_side *side, lap_error *err)
{
    return strike(sys.call, "side", &sys.after, 0) ? lap_fail(err, LAP_E_WRITE, "struck")
                                                   : __real_lap_side_look(path, side, err);
}

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
    return strike(sys.call, "stat", &sys.after, sys.why) ? -1 : __real_stat(path, st);
}

/* ---- one run ------------------------------------------------------------------------------------------- */

static batch b;
static lap_batch_options options;
static lap_settings settings;
static lap_batch_counts counts;
static lap_batch_others others;
static lap_error err;
static struct stat stats[ENTRIES];
static char out[512];

static void forget(void)
{
    lap_map64_free(&b.claims);
    lap_map64_free(&b.endangered);
    memset(&sys, 0, sizeof sys);
    cancel = 0;
}

static int begin(void **state)
{
    static const char *const inputs[] = {"in", "more"};
    (void)state;
    snprintf(out, sizeof out, "%s", at("out"));
    options = (lap_batch_options){.inputs = inputs, .input_count = 1, .others = &others, .out_dir = out};
    settings = (lap_settings){.quality = 90};
    b = (batch){.options = &options, .settings = &settings};
    b.jobs.counts = &counts;
    b.jobs.control.cancel = &cancel;
    memset(&sys, 0, sizeof sys);
    cancel = 0;
    return mkdir(out, 0777);
}

static int end(void **state)
{
    (void)state;
    forget();
    empty_scratch();
    return 0;
}

/* Adds a file with this inode to a walk. */
static lap_walk_entry *add(int walk, const char *relative, unsigned inode)
{
    const size_t i = sys.counts[walk]++;
    assert_in_range(i, 0, ENTRIES - 1);
    stats[i] = (struct stat){.st_dev = 3, .st_ino = inode, .st_size = 5};
    sys.entries[walk][i] = (lap_walk_entry){.path = relative, .relative = relative, .stat = &stats[i]};
    return &sys.entries[walk][i];
}

static lap_code look(void)
{
    counts = (lap_batch_counts){0};
    err = (lap_error){0};
    return lap_batch_look(&b, (lap_list *)sys.list, &err);
}

static void assert_says(lap_code code, const char *subject, const char *message)
{
    assert_int_equal(err.code, code);
    assert_string_equal(err.subject, subject);
    assert_string_equal(err.message, message);
}

/* ---- counts -------------------------------------------------------------------------------------------- */

static void counted(void **state)
{
    static const off_t sizes[] = {0, SMALL - 1, SMALL, SMALL + 1, 5 * SMALL};
    static const char *const names[] = {"a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"};
    static char long_name[PATH_MAX + 2];
    lap_error problem = {.code = LAP_E_UNREADABLE, .message = "gone"};
    (void)state;
    settings.format = "png";
    for (uint32_t shard = 0; shard < 3; shard++) {
        uint64_t ours = 0, large = 0;
        forget();
        b.load = (lap_batch_load){0};
        b.shards = shard ? 2 : 0;
        options.shard = shard ? shard - 1 : 0;
        b.around = NULL;
        for (size_t i = 0; i < 5; i++) {
            add(0, names[i], (unsigned)i + 1)->is_made = i == 1 || i == 3;
            stats[i].st_size = sizes[i];
            ours += lap_batch_is_ours(&b, names[i]);
            large += lap_batch_is_ours(&b, names[i]) && sizes[i] > SMALL ? (uint64_t)sizes[i] : 0;
        }
        lap_walk_entry *wrong = add(0, "wrong.jpg", 9);
        wrong->stat = NULL;
        wrong->problem = &problem;
        for (int i = 0; i < 2; i++) {
            lap_walk_entry *link = add(0, "link.jpg", 9);
            link->stat = NULL;
            link->link = true;
        }
        lap_walk_entry *folder = add(0, "out", 9);
        folder->stat = NULL;
        folder->is_out = true;
        folder->operand = 1;
        memset(long_name, 'x', sizeof long_name - 1);
        add(0, long_name, 10);
        ours += lap_batch_is_ours(&b, "wrong.jpg") + lap_batch_is_ours(&b, long_name);
        assert_int_equal(look(), LAP_OK);
        assert_int_equal(counts.expected, ours);
        assert_int_equal(counts.other_shards, 7 - ours);
        assert_int_equal(counts.links, 2);
        assert_int_equal(counts.found, 0);
        assert_true(b.load.large_bytes == large);
        assert_string_equal(b.around, "more");
        assert_string_equal(sys.noted, "a.jpg>a.png b.jpg>b.png c.jpg>c.png d.jpg>d.png e.jpg>e.png "
                                       "wrong.jpg>wrong.png xxxxxxxxxxxxxxxxxxxx>none ");
        assert_string_equal(sys.late, "b.jpg d.jpg ");
        assert_int_equal(sys.walks, 1);
        assert_ptr_equal(sys.others[0], &others);
        assert_int_equal(b.claims.count + b.endangered.count, 0);
    }
}

/* What ends the first walk: a cancel, an input that may have been overlooked, and memory. */
static void ended(void **state)
{
    static const char *const calls[] = {"prune", "late"};
    lap_error problem = {.code = LAP_E_UNREADABLE, .message = "too many files"};
    (void)state;
    add(0, "a.jpg", 1);
    sys.cancel_before = 1;
    assert_int_equal(look(), LAP_E_CANCELLED);
    assert_int_equal(counts.expected, 0);
    forget();
    for (int may_pass = 0; may_pass < 2; may_pass++) {
        forget();
        lap_walk_entry *entry = add(0, "a.jpg", 1);
        entry->stat = NULL;
        entry->problem = &problem;
        entry->may_pass = may_pass;
        assert_int_equal(look(), may_pass ? LAP_E_UNREADABLE : LAP_OK);
        if (may_pass)
            assert_says(LAP_E_UNREADABLE, "", "too many files");
        assert_int_equal(counts.expected, !may_pass);
    }
    for (size_t i = 0; i < 2; i++) {
        forget();
        add(0, "a.jpg", 1)->is_made = true;
        sys.call = calls[i];
        sys.why = LAP_E_MEMORY;
        assert_int_equal(look(), LAP_E_MEMORY);
        assert_says(LAP_E_MEMORY, "", "struck");
        assert_int_equal(counts.expected, 0);
        assert_int_equal(strlen(sys.noted), i ? strlen("a.jpg>a.jpg ") : 0);
    }
}

/* ---- names that several inputs claim ------------------------------------------------------------------- */

static void assert_claimed(const char *name, int64_t by)
{
    const uint64_t *found = lap_map64_find(&b.claims, lap_batch_key(name));
    if (by < 0 ? found != NULL : !found || *found != (uint64_t)by)
        fail_msg("%s: %lld, not %lld", name, found ? (long long)*found : -1LL, (long long)by);
}

/* A single folder without options that change names has no clashes, so nothing is kept. */
static void who_may_clash(void **state)
{
    (void)state;
    for (int how = 0; how < 6; how++) {
        forget();
        sys.list = how == 1 ? (const lap_list *)&sys : NULL;
        options.input_count = how == 2 ? 2 : 1;
        settings.format = how == 3 ? "jpg" : NULL;
        options.flat = how == 4;
        options.suffix = how == 5 ? "-edges" : NULL;
        add(0, "a.jpg", 1);
        add(0, "a.jpg", 2);
        assert_int_equal(look(), LAP_OK);
        assert_claimed(how == 5 ? "a-edges.jpg" : "a.jpg", how ? 2 : -1);
    }
}

/* Memory behind the last claim is not read, even if it looks like a claim. */
static void the_last_claim(void **state)
{
    static const char *const names[] = {"a.jpg", "b.jpg", "c.jpg"}; /* there is room for four */
    uint64_t last = 0;
    (void)state;
    options.input_count = 2;
    for (size_t i = 0; i < 3; i++) {
        const uint64_t key = lap_batch_key(names[i]);
        last = key > last ? key : last;
        add(0, names[i], (unsigned)i);
    }
    sys.beyond = last;
    assert_int_equal(look(), LAP_OK);
    assert_int_equal(b.claims.count, 0);
}

/* Names of inputs, as inode numbers, and how many claim them. */
static void claims(void **state)
{
    static const struct {
        const char *inputs;
        int64_t by;
    } cases[] = {{"1", -1}, {"11", LAP_REPEATED}, {"111", LAP_REPEATED}, {"12", 2}, {"112", 3}, {"121", 3},
        {"211", 3}, {"123", 3}, {"1111", LAP_REPEATED}, {"1112", 4}};
    enum { CASES = sizeof cases / sizeof *cases };
    static char names[4 * CASES][16];
    size_t clashing = 0;
    (void)state;
    options.input_count = 2;
    for (size_t turn = 0; turn < 4; turn++) /* one input of each name after the other */
        for (size_t i = 0; i < 4 * CASES; i++) {
            const char *inputs = cases[i % CASES].inputs;
            snprintf(names[i], sizeof names[i], "%zu.jpg", i);
            if (turn < strlen(inputs))
                add(0, names[i], 10 * (unsigned)i + (unsigned)inputs[turn]);
        }
    assert_int_equal(look(), LAP_OK);
    for (size_t i = 0; i < 4 * CASES; i++) {
        assert_claimed(names[i], cases[i % CASES].by);
        clashing += cases[i % CASES].by >= 0;
    }
    assert_int_equal(b.claims.count, clashing);
    for (int after = 0; after < 2; after++) {
        sys.walks = 0;
        lap_map64_free(&b.claims);
        sys.call = "put", sys.after = after;
        assert_int_equal(look(), LAP_E_MEMORY);
        assert_says(LAP_E_MEMORY, "", "struck");
        assert_int_equal(b.claims.count, after);
    }
}

/* ---- inputs at the names of outputs -------------------------------------------------------------------- */

static void endangered(void **state)
{
    lap_error problem = {.code = LAP_E_UNREADABLE, .message = "too many files"};
    struct stat there[3];
    (void)state;
    put(at("out/a.jpg"), "a");
    put(at("out/b.jpg"), "b");
    assert_int_equal(symlink("b.jpg", at("out/c.jpg")), 0);
    put(at("apart.jpg"), "apart");
    assert_int_equal(stat(at("out/a.jpg"), &there[0]), 0);
    assert_int_equal(stat(at("out/b.jpg"), &there[1]), 0);
    assert_int_equal(stat(at("apart.jpg"), &there[2]), 0);
    for (int how = 0; how < 6; how++) {
        forget();
        add(0, how == 5 ? "none.jpg" : "a.jpg", 1);
        add(0, how == 5 ? "nor.jpg" : "c.jpg", 2);
        add(1, "x.jpg", 1)->stat = &there[2];
        add(1, "y.jpg", 1)->stat = how == 1 ? &there[2] : &there[1];
        add(1, "z.jpg", 1)->stat = &there[0];
        lap_walk_entry *last = add(1, "w.jpg", 1);
        last->stat = NULL;
        last->problem = &problem;
        last->may_pass = how == 2;
        sys.cancel_before = how == 3 ? 2 : 0;
        if (how == 4)
            sys.call = "put", sys.after = 1;
        static const lap_code codes[] = {
            LAP_OK, LAP_OK, LAP_E_UNREADABLE, LAP_E_CANCELLED, LAP_E_MEMORY, LAP_OK};
        assert_int_equal(look(), codes[how]);
        static const size_t found[] = {2, 1, 2, 0, 1, 0};
        assert_int_equal(b.endangered.count, found[how]);
        assert_int_equal(sys.walks, how == 5 ? 1 : 2);
        assert_ptr_equal(sys.others[0], &others);
        assert_null(sys.others[1]);
        if (found[how] == 2) {
            assert_non_null(lap_map64_find(&b.endangered, lap_batch_inode(&there[0])));
            assert_non_null(lap_map64_find(&b.endangered, lap_batch_inode(&there[1])));
        }
        assert_int_equal(counts.expected, 2);
    }
}

/* Many files at the names of outputs, of which every third is an input. */
static void many_endangered(void **state)
{
    enum { MANY = 60 };
    static struct stat there[MANY];
    static char names[MANY][16];
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        char path[32];
        snprintf(names[i], sizeof names[i], "%zu.jpg", i);
        snprintf(path, sizeof path, "out/%zu.jpg", i);
        put(at(path), "x");
        assert_int_equal(stat(at(path), &there[i]), 0);
        add(0, names[i], 1000 + (unsigned)i);
        if (i % 3 == 0)
            add(1, names[i], 0)->stat = &there[i];
        else
            add(1, names[i], 2000 + (unsigned)i);
    }
    assert_int_equal(look(), LAP_OK);
    assert_int_equal(b.endangered.count, MANY / 3);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(lap_map64_find(&b.endangered, lap_batch_inode(&there[i])) != NULL, i % 3 == 0);
}

/* An output folder, or an output, that cannot be examined for lack of something is no empty place. */
static void not_examined(void **state)
{
    static const int whys[] = {ENOMEM, EMFILE, ENFILE, EINTR, EACCES, ENOENT};
    char message[128], output[600];
    (void)state;
    snprintf(output, sizeof output, "%s/a.jpg", out);
    put(output, "a");
    for (size_t i = 0; i < 6; i++)
        for (int after = 0; after < 2; after++) {
            forget();
            add(0, "a.jpg", 1);
            sys.call = "stat", sys.after = after, sys.why = whys[i];
            assert_int_equal(look(), i < 4 ? LAP_E_UNREADABLE : LAP_OK);
            assert_int_equal(sys.walks, i < 4 && !after ? 0 : 1);
            snprintf(message, sizeof message, "cannot be examined: %s", strerror(whys[i]));
            if (i < 4)
                assert_says(LAP_E_UNREADABLE, after ? output : out, message);
        }
    static char long_name[PATH_MAX - 8];
    memset(long_name, 'x', sizeof long_name - 1);
    forget();
    add(0, long_name, 1); /* fits, but its path does not */
    sys.call = "stat", sys.after = 1, sys.why = EMFILE;
    assert_int_equal(look(), LAP_OK);
    assert_int_equal(sys.after, 0);
}

/* ---- limits and memory --------------------------------------------------------------------------------- */

/* A claim takes 16 bytes, a file at an output's name 8, and the limit is compared with four times these. */
static void limits(void **state)
{
    static const struct {
        bool may_clash, is_there;
        uint64_t limit;
        size_t names; /* that are too many; 0: all fit */
    } cases[] = {{true, false, 0, 0}, {true, false, 63, 1}, {true, false, 64, 2}, {true, false, 127, 2},
        {true, false, 128, 3}, {true, false, 192, 0}, {false, true, 31, 1}, {false, true, 32, 2},
        {false, true, 96, 0}, {true, true, 95, 2}, {true, true, 96, 4}, {true, true, 288, 0},
        {false, false, 1, 0}};
    static const char *const names[] = {"a.jpg", "b.jpg", "c.jpg", "d.jpg"};
    char message[128], size[LAP_SIZE_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forget();
        empty_scratch();
        assert_int_equal(mkdir(out, 0777), 0);
        options.input_count = cases[i].may_clash ? 2 : 1;
        settings.max_memory = cases[i].limit;
        for (size_t j = 0; j < 4; j++) {
            char path[16];
            snprintf(path, sizeof path, "out/%s", names[j]);
            if (cases[i].is_there)
                put(at(path), "x");
            add(0, names[j], (unsigned)j + 1);
        }
        const lap_code code = look();
        if (code != (cases[i].names ? LAP_E_LIMIT : LAP_OK))
            fail_msg("case %zu: %d", i, (int)code);
        snprintf(message, sizeof message, "the names of %zu files need more memory than the limit of %s",
            cases[i].names, lap_size_text(cases[i].limit, size));
        if (code != LAP_OK)
            assert_says(LAP_E_LIMIT, "", message);
    }
}

static void without_memory(void **state)
{
    char message[128];
    (void)state;
    options.input_count = 2;
    for (int after = 0; after < 4; after++) {
        forget();
        add(0, "a.jpg", 1);
        add(0, "b.jpg", 2);
        sys.call = "grow", sys.after = after;
        assert_int_equal(look(), LAP_E_MEMORY);
        snprintf(message, sizeof message, "out of memory for the names of %d files", after / 2 + 1);
        assert_says(LAP_E_MEMORY, "", message);
    }
}

/* ---- the caller's other files -------------------------------------------------------------------------- */

static const char *sides[2];

/* Looks with these two other files, of which the second matters. */
static lap_code look_beside(const char *side)
{
    static char first[512], second[512];
    snprintf(first, sizeof first, "%s", at("log.txt"));
    snprintf(second, sizeof second, "%s", side);
    sides[0] = first;
    sides[1] = second;
    options.sides = sides;
    options.side_count = 2;
    return look();
}

static void other_files(void **state)
{
    static const struct {
        const char *side;
        const char *message; /* NULL: it may be written */
    } cases[] = {{"report.html", NULL}, {"out/a.jpg", "is one of the outputs"},
        {"out/deep/b.jpg", "is one of the outputs"}, {"out2/../out/a.jpg", "is one of the outputs"},
        {"out/b.jpg", NULL}, {"out/a.jpgs", NULL}, {"out/a.jp", NULL}, {"out2/a.jpg", NULL},
        {"outa.jpg", NULL}, {"b/a.jpg", NULL}, {"out/deep", NULL}, {"photo.jpg", "is one of the inputs"},
        {"link.jpg", "is one of the inputs"},
        {"out/.lapedge/x", "lies in the folder of lapedge's own records"},
        {"out/.lapedge/deep/x", "lies in the folder of lapedge's own records"}, {"out/.lapedge2", NULL},
        {"out/.laped", NULL}};
    struct stat photo;
    (void)state;
    for (int has_out = 0; has_out < 2; has_out++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            forget();
            empty_scratch();
            put(at("photo.jpg"), "photo");
            assert_int_equal(symlink("photo.jpg", at("link.jpg")), 0);
            assert_int_equal(mkdir(at("out2"), 0777) + mkdir(at("b"), 0777), 0);
            if (has_out)
                assert_int_equal(mkdir(out, 0777) + mkdir(at("out/.lapedge"), 0777), 0);
            assert_int_equal(stat(at("photo.jpg"), &photo), 0);
            add(0, "a.jpg", 1);
            add(0, "deep/b.jpg", 2)->stat = &photo;
            const lap_code code = look_beside(at(cases[i].side));
            if (code != (cases[i].message ? LAP_E_CLASH : LAP_OK))
                fail_msg("%s: %d %s", cases[i].side, (int)code, err.message);
            if (cases[i].message)
                assert_says(LAP_E_CLASH, sides[1], cases[i].message);
            assert_int_equal(sys.walks, !cases[i].message || !strstr(cases[i].side, "lapedge/"));
        }
}

/* Without other files nothing is asked about them; with some, an output folder that cannot be examined still
 * ends the run. */
static void no_other_files(void **state)
{
    static const char *const calls[] = {"calloc", "name", "side"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        forget();
        add(0, "a.jpg", 1);
        sys.call = calls[i], sys.why = EACCES;
        assert_int_equal(look(), LAP_OK);
        assert_int_equal(sys.after, 0);
    }
    forget();
    add(0, "a.jpg", 1);
    sys.call = "stat", sys.why = EMFILE;
    assert_int_equal(look_beside(at("report.html")), LAP_E_UNREADABLE);
    assert_int_equal(sys.walks, 0);
}

/* A name that leads to an output which exists; a file that could not be examined is no input. */
static void other_names(void **state)
{
    lap_error problem = {.code = LAP_E_UNREADABLE, .message = "gone"};
    (void)state;
    put(at("out/a.jpg"), "a");
    assert_int_equal(link(at("out/a.jpg"), at("hard.jpg")), 0);
    add(0, "a.jpg", 1);
    assert_int_equal(look_beside(at("hard.jpg")), LAP_E_CLASH);
    assert_says(LAP_E_CLASH, sides[1], "is one of the outputs");
    forget();
    lap_walk_entry *entry = add(0, "a.jpg", 1);
    entry->stat = NULL;
    entry->problem = &problem;
    assert_int_equal(look_beside(at("out/a.jpg")), LAP_OK);
    forget();
    add(0, "a.jpg", 1);
    options.side_count = 0;
    assert_int_equal(look(), LAP_OK);
}

/* The list of inputs is no other file; what cannot be reached ends the run before it walks. */
static void before_the_walk(void **state)
{
    static const struct {
        const char *call;
        int after, why;
        lap_code code;
        bool is_out;
        const char *message;
    } cases[] = {{"calloc", 0, 0, LAP_E_MEMORY, false, "out of memory"},
        {"calloc", 0, EACCES, LAP_E_MEMORY, false, "out of memory"},
        {"name", 0, ENOMEM, LAP_E_MEMORY, false, "out of memory"},
        {"name", 0, EACCES, LAP_E_WRITE, true, "cannot be reached: Permission denied"},
        {"side", 0, 0, LAP_E_WRITE, false, "struck"}, {"side", 1, 0, LAP_E_WRITE, false, "struck"}};
    char list[512], message[600];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forget();
        add(0, "a.jpg", 1);
        sys.call = cases[i].call, sys.after = cases[i].after, sys.why = cases[i].why;
        assert_int_equal(look_beside(at("report.html")), cases[i].code);
        assert_says(cases[i].code, cases[i].is_out ? out : "", cases[i].message);
        assert_int_equal(sys.walks, 0);
    }
    forget();
    put(at("list.txt"), "a.jpg\n");
    snprintf(list, sizeof list, "%s", at("list.txt"));
    options.files_from = list;
    assert_int_equal(look_beside(list), LAP_E_CLASH);
    snprintf(message, sizeof message, "is the same file as %s", list);
    assert_says(LAP_E_CLASH, list, message);
    assert_int_equal(sys.walks, 0);
    assert_int_equal(look_beside(at("report.html")), LAP_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(counted), TEST(ended), TEST(who_may_clash), TEST(claims),
        TEST(the_last_claim), TEST(endangered), TEST(many_endangered), TEST(not_examined), TEST(limits),
        TEST(without_memory), TEST(other_files), TEST(no_other_files), TEST(other_names),
        TEST(before_the_walk)};
    if (!make_scratch())
        return 1;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
