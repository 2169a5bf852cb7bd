/* every_fault [--all] [CASE]: each allocation and each call of the C library that a call of the library makes
 * fails in turn, once and from then on, within one process. After every run: outputs are complete or absent,
 * nothing temporary is left, a failure has a reason, success is the whole result, and as many blocks of
 * memory and descriptors are held as before. With all reads and writes interrupted or short the result is the
 * whole one. */
#include "tests/faults/each.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#ifdef LAP_CUDACPU
#include "tests/kernels/cudacpu/control.h"
#endif
#include "tests/faults/nth_call.h"
#include "tests/support/temporary.h"

/* ---- faults ------------------------------------------------------------------------------------------ */

typedef struct fault {
    const char *name;
    bool of_memory, of_device, ever, storm;
    int number; /* an errno, or NTH_CALL_SHORT */
} fault;

#ifdef LAP_CUDACPU
static const fault faults[] = {{"a call of CUDA", .of_device = true, .number = 2},
    {"all calls of CUDA", .of_device = true, .ever = true, .number = 700}, {"EIO", .number = EIO},
    {"EIO for good", .number = EIO, .ever = true}};
#else
static const fault faults[] = {{"an allocation", .of_memory = true},
    {"all allocations", .of_memory = true, .ever = true}, {"EIO", .number = EIO},
    {"EIO for good", .number = EIO, .ever = true}, {"ENOSPC", .number = ENOSPC}, {"EACCES", .number = EACCES},
    {"EINVAL", .number = EINVAL}, {"ENOSYS", .number = ENOSYS}, {"EROFS", .number = EROFS},
    {"EDQUOT", .number = EDQUOT}, {"EEXIST", .number = EEXIST}, {"one EINTR", .number = EINTR}};
#endif
static const fault storms[] = {
    {"EINTR", .number = EINTR, .storm = true}, {"short", .number = NTH_CALL_SHORT, .storm = true}};

static atomic_bool armed, struck, no_removal;
static atomic_long blocks, calls;
static long at;
static const fault *now;

/* Whether the call at hand is the one. */
static bool is_due(void)
{
    const long call = atomic_fetch_add(&calls, 1) + 1;
    const bool due = now->storm ? call % 2 == 0 : now->ever ? call >= at : call == at;
    if (due)
        atomic_store(&struck, true);
    return due;
}

/* The CPU runtime and its sanitizers allocate for themselves. */
#ifndef LAP_CUDACPU
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

static bool no_memory(void)
{
    if (!atomic_load(&armed) || !now->of_memory || !is_due())
        return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *block)
{
    atomic_fetch_add(&blocks, block != NULL);
    return block;
}

void *malloc(size_t size)
{
    return no_memory() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return no_memory() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    if (no_memory())
        return NULL;
    void *moved = __libc_realloc(block, size);
    atomic_fetch_add(&blocks, (moved != NULL) - (block != NULL && (moved || size == 0)));
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return no_memory() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = no_memory() ? NULL : counted(__libc_memalign(alignment, size));
    return *block ? 0 : ENOMEM;
}

void free(void *block)
{
    atomic_fetch_sub(&blocks, block != NULL);
    __libc_free(block);
}

#endif

static bool is_read_or_write(const char *call)
{
    return strcmp(call, "read") == 0 || strcmp(call, "pread") == 0 || strcmp(call, "write") == 0;
}

int nth_call_fails(const char *call)
{
    if (!atomic_load(&armed) || now->of_memory || now->of_device || (now->storm && !is_read_or_write(call)) ||
        !is_due())
        return 0;
    if (strncmp(call, "unlink", 6) == 0 || now->ever) /* the folder may not be reached either */
        atomic_store(&no_removal, true);
    return now->number;
}

/* Nothing is recorded here. */
bool record_begin(void)
{
    return false;
}
void record_path(const char *call, long result, int folder, const char *path)
{
    (void)call, (void)result, (void)folder, (void)path;
}
void record_two(const char *call, long result, int from, const char *old, int to, const char *new)
{
    (void)call, (void)result, (void)from, (void)old, (void)to, (void)new;
}
void record_fd(const char *call, long result, int fd, off_t size)
{
    (void)call, (void)result, (void)fd, (void)size;
}
void record_write(long result, int fd, const void *bytes, off_t where)
{
    (void)result, (void)fd, (void)bytes, (void)where;
}
off_t record_position(int fd)
{
    return fd;
}

/* ---- files ------------------------------------------------------------------------------------------- */

lap_context *each_context;
const char *each_backend = "c";

void each_put(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        abort();
}

void *each_get(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    if (!file || fstat(fileno(file), &st) != 0)
        abort();
    void *bytes = malloc((size_t)st.st_size + 1);
    *size = bytes ? fread(bytes, 1, (size_t)st.st_size, file) : 0;
    fclose(file);
    if (!bytes || *size != (size_t)st.st_size)
        abort();
    return bytes;
}

enum { MOST_FILES = 32 };
typedef struct listing { /* of out: hashes of names and contents */
    uint64_t name[MOST_FILES], content[MOST_FILES];
    int count, temporary;
} listing;

static listing *into;

static int list_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    size_t size;
    (void)st;
    if (type != FTW_F || strstr(path, "/.lapedge/") || strstr(path, "trace.json")) /* which has times */
        return 0;
    if (strcmp(path + ftw->base, ".lapedge-in-place.jsonl") == 0) /* has times, too */
        return 0;
    if (strncmp(path + ftw->base, ".lapedge-", 9) == 0) {
        into->temporary++;
        return 0;
    }
    void *bytes = each_get(path, &size);
    if (into->count == MOST_FILES)
        abort();
    into->name[into->count] = XXH3_64bits(path, strlen(path));
    into->content[into->count++] = XXH3_64bits(bytes, size);
    free(bytes);
    return 0;
}

static listing list_out(void)
{
    listing l = {0};
    into = &l;
    nftw("out", list_one, 8, FTW_PHYS);
    return l;
}

static bool has(const listing *l, uint64_t name, uint64_t content)
{
    for (int i = 0; i < l->count; i++)
        if (l->name[i] == name && l->content[i] == content)
            return true;
    return false;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* ---- the walk ---------------------------------------------------------------------------------------- */

typedef struct outcome {
    each_result result;
    listing before, after;
    long blocks;
    int descriptors;
    bool on_device; /* something is left there */
    bool struck, no_removal;
} outcome;

#ifdef LAP_CUDACPU
/* What the next run's device is like. */
static void set_device(const fault *f, long nth)
{
    char text[64] = "devices=1";
    if (f && f->of_device && nth > 0)
        snprintf(text, sizeof text, "devices=1,fail=%ld:%d%s", nth, f->number, f->ever ? ":sticky" : "");
    if (lap_cudacpu_configure(text) != 0)
        abort();
}

static long device_calls(void)
{
    return (long)lap_cudacpu_count("calls");
}

static uint64_t device_things(void)
{
    return lap_cudacpu_alive();
}
#else
static void set_device(const fault *f, long nth)
{
    (void)f, (void)nth;
}

static long device_calls(void)
{
    return 0;
}

static uint64_t device_things(void)
{
    return 0;
}
#endif

static outcome run_once(const each_case *c, const fault *f, long nth)
{
    outcome o = {.result.all = true};
    nftw("out", remove_one, 8, FTW_DEPTH | FTW_PHYS);
    if (mkdir("out", 0777) != 0)
        abort();
    if (c->before)
        c->before();
    o.before = list_out();
    const int open = descriptors();
    const long held = atomic_load(&blocks);
    set_device(f, nth);
    const uint64_t things = device_things();
    now = f;
    at = nth;
    atomic_store(&calls, 0);
    atomic_store(&struck, false);
    atomic_store(&no_removal, false);
    atomic_store(&armed, f != NULL);
    c->run(&o.result);
    atomic_store(&armed, false);
    o.blocks = atomic_load(&blocks) - held;
    o.descriptors = descriptors() - open;
    o.struck = f && f->of_device ? nth > 0 && device_calls() >= nth : atomic_load(&struck);
    /* What a lost device has is given back by nobody; a folder run gives a device up at its first error. */
    const bool is_lost = f && f->of_device && (f->ever || strstr(c->name, "batch"));
    o.on_device = device_things() != things && !is_lost;
    o.no_removal = atomic_load(&no_removal);
    o.after = list_out();
    return o;
}

/* What is wrong with it, or NULL. */
static const char *judge(const outcome *o, const outcome *whole, bool has_to_do, int lost)
{
    const bool is_whole = o->result.code == LAP_OK && o->result.all;
    for (int i = 0; i < o->after.count; i++)
        if (!has(&whole->after, o->after.name[i], o->after.content[i]) &&
            !has(&o->before, o->after.name[i], o->after.content[i]))
            return "an output is not complete";
    for (int i = 0; i < whole->after.count && is_whole; i++)
        if (!has(&o->after, whole->after.name[i], whole->after.content[i]))
            return "an output is missing, and nothing was said";
    if (o->after.temporary && !o->no_removal)
        return "a temporary file is left";
    if (o->result.code != LAP_OK && (o->result.err.code != o->result.code || !o->result.err.message[0]))
        return "a failure without a reason";
    if (is_whole && o->result.digest != whole->result.digest)
        return "another result";
    if (has_to_do && !is_whole)
        return "this has to work";
    if (o->blocks < 0 || o->blocks > lost)
        return "memory is not given back";
    if (o->on_device)
        return "something is left on the device";
    return o->descriptors ? "a descriptor is left open" : NULL;
}

static int number, failures;
static bool all_of_them;

/* Allocations or calls that the case makes, if none fails. */
static long count(const each_case *c, const fault *f)
{
    fault never = *f;
    never.storm = never.ever = false;
    run_once(c, &never, 0);
    return f->of_device ? device_calls() : atomic_load(&calls);
}

static void walk(const each_case *c, const fault *f, const outcome *whole)
{
    const bool on_cpu = strcmp(each_backend, "c") == 0;
    enum { SHORT = 150 }; /* allocations of a case that has each of them fail in every run of the tests */
    const long total = f->storm ? 1 : count(c, f),
               few = !f->of_memory   ? 5
                     : total > SHORT ? 12
                                     : SHORT,
               slow = all_of_them    ? 40
                      : f->of_memory ? 3
                                     : 1,
               most = !on_cpu       ? all_of_them ? 60 : 4
                      : c->is_slow  ? slow
                      : all_of_them ? 1000000
                                    : few;
    const long runs = total < most ? total : most, begin = 1 + number % (total / (runs ? runs : 1) + 1);
    const char *wrong = NULL;
    long fired = 0, nth = 0;
    outcome o;
    for (long i = 0; i < runs && !wrong; i++) {
        nth = runs == total ? i + 1 : begin + i * total / runs;
        o = run_once(c, f, nth);
        wrong = judge(&o, whole, f->storm || !o.struck, f->of_memory ? c->lost : 0);
        fired += o.struck;
    }
    printf(
        "%sok %d - %s: %s, %ld runs of %ld\n", wrong ? "not " : "", ++number, c->name, f->name, fired, total);
    if (wrong)
        printf("# the %ld-th: %s: code %d, all %d, %ld blocks, %d descriptors: %s\n", nth, wrong,
            (int)o.result.code, o.result.all, o.blocks, o.descriptors, o.result.err.message);
    failures += wrong != NULL;
}

/* What has something to do with a device. */
static bool is_for_devices(const each_case *c)
{
    static const char *const names[] = {"synced", "to_png", "turned", "in_place", "with_stats", "damaged",
        "measured", "compared", "bench_filter", "bench_transpose", "bench_reduce", "bench_histogram",
        "bench_matvec", "bench_codec", "callers_pixels", "batch", "measured_batch"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(c->name, names[i]) == 0)
            return true;
    return false;
}

static void check(const each_case *c)
{
    run_once(c, NULL, 0); /* what is kept for good is there now */
    outcome whole = run_once(c, NULL, 0);
    const char *wrong = judge(&whole, &whole, true, 0);
#ifdef LAP_CUDACPU
    if (!wrong && !c->is_slow) { /* the CPU's, where no names of backends are in it */
        each_backend = "c";
        const outcome on_cpu = run_once(c, NULL, 0);
        each_backend = "cuda-fast";
        wrong = judge(&whole, &on_cpu, true, 0);
    }
#endif
    printf("%sok %d - %s\n", wrong ? "not " : "", ++number, c->name);
    if (wrong)
        printf("# %s: %ld blocks: %s\n", wrong, whole.blocks, whole.result.err.message);
    failures += wrong != NULL;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i += c->is_slow ? 2 : 1)
        walk(c, &faults[i], &whole);
    for (size_t i = 0; i < sizeof storms / sizeof *storms; i++)
        walk(c, &storms[i], &whole);
}

int main(int argc, char **argv)
{
    char folder[TEMPORARY_PATH];
    lap_error err;
    setvbuf(stdout, NULL, _IOLBF, 0);
    set_device(NULL, 0);
    if (!mkdtemp(temporary(folder, "each")) || chdir(folder) != 0 || mkdir("in", 0777) != 0 ||
        mkdir("in/sub", 0777) != 0 || mkdir("there", 0777) != 0 || mkdir("there/sub", 0777) != 0 ||
        mkdir("odd", 0777) != 0 || !(each_context = lap_context_create(2, &err)))
        return 1;
    each_prepare();
#ifdef LAP_CUDACPU
    each_backend = "cuda-fast";
#endif
    all_of_them = argc > 1 && strcmp(argv[1], "--all") == 0;
    const char *only = argc > 1 + all_of_them ? argv[argc - 1] : NULL;
    const each_case *const lists[] = {each_photo, each_many};
    for (int i = 0; i < 2; i++)
        for (const each_case *c = lists[i]; c->name; c++)
            if (only ? strcmp(only, c->name) == 0
                     : strcmp(each_backend, "c") == 0 || (is_for_devices(c) && (all_of_them || !c->is_slow)))
                check(c);
    printf("1..%d\n", number);
    lap_context_destroy(each_context);
    if (chdir("/") != 0 || nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
        return 1;
    return failures > 0;
}
