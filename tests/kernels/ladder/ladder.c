/* filter_ladder [--seed=N] [--rung=NAME] [--every=N] [--part=I/N] [--whole]: compares every filter rung
 * that can run here with rung c, directly, never through a name that resolves. TAP on stdout. --rung:
 * only this rung, or the rungs of this family; --every: only each Nth case; --part: of the rungs, only
 * each Nth, beginning with number I (from 0). --whole: kernels on the CPU run all cases, also for steps
 * between other rungs. */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "wrong.h"

/* One fork per pixel is slow: the window loop of openmp gets the smaller images. */
enum { MAX_RUNGS = 64, THREADS = 3, WINDOW_PIXELS = 2000 };

/* Kernels compiled for the CPU are the only rungs, and run without a GPU: tests/kernels/cudacpu. */
#ifdef LAP_CUDACPU
#define ON_GPU ""
#define DEFAULT_RUNGS "cuda"
/* Steps between other rungs, which nothing else chooses: they run every fifth case (5 is prime to the
 * periods of the grid), unless all are requested. */
#define STEPS "cuda-global-int,cuda-pixels,cuda-words,cuda-box-sum,cuda-slide,cuda-pairs,cuda-shuffle"
#else
#define STEPS ""
#define ON_GPU " on GPU"
#define DEFAULT_RUNGS NULL
#endif

typedef struct tally { /* of one rung in one group */
    const lap_rung *rung;
    lap_exec exec;
    const char *how; /* how exec differs from the default, or "" */
    int every, cases, failed;
    char first[640];
} tally;

typedef struct run {
    const lap_rung *reference;
    tally rungs[MAX_RUNGS];
    int count, every, step_every, seen, tests, failures;
    lap_pool *pool;
} run;

static void report(run *r, bool ok, const char *rung, const char *what)
{
    r->failures += !ok;
    printf("%s %d - %s: %s\n", ok ? "ok" : "not ok", ++r->tests, rung, what);
}

static void check_one(void *user, const check_case *c)
{
    run *r = user;
    char message[640];
    check_subject subject;
    if (r->seen++ % r->every != 0)
        return;
    check_prepare(&subject, c, r->reference);
    for (int i = 0; i < r->count; i++) {
        tally *t = &r->rungs[i];
        if (t->exec.omp_loop == LAP_OMP_WINDOW && c->width * c->height > WINDOW_PIXELS)
            continue;
        if ((r->seen - 1) / r->every % t->every != 0)
            continue;
        t->cases++;
        t->exec.threads = r->pool ? THREADS : 1;
        if (check_rung(&subject, t->rung, &t->exec, r->pool, message, sizeof message))
            continue;
        if (t->failed++ == 0)
            memcpy(t->first, message, sizeof t->first);
    }
    check_release(&subject);
}

static void start(run *r)
{
    r->seen = 0; /* the first case of each group is always run */
    for (int i = 0; i < r->count; i++)
        r->rungs[i].cases = r->rungs[i].failed = 0;
}

static void finish(run *r, const char *group)
{
    char what[160];
    for (int i = 0; i < r->count; i++) {
        tally *t = &r->rungs[i];
        snprintf(
            what, sizeof what, "%s%s%s, %d cases", group, t->how, t->rung->device ? ON_GPU : "", t->cases);
        report(r, t->failed == 0 && t->cases > 0, t->rung->name, what);
        if (t->failed)
            printf("# %d failed; the first: %s\n", t->failed, t->first);
    }
}

/* Rows spread over a pool, and rungs that start threads: sizes of many parts. */
static void check_threads(run *r, uint64_t seed)
{
    lap_error err;
    r->pool = lap_pool_create(THREADS, &err);
    if (!r->pool) {
        printf("Bail out! %s\n", err.message);
        exit(1);
    }
    start(r);
    for (int i = 0; i < 24; i++) {
        const uint64_t most = i < 4 ? 40 : 500;
        check_case c = {.width = 1 + (int)(check_random(&seed) % most),
            .height = 1 + (int)(check_random(&seed) % most),
            .channels = i % 3 == 0 ? 1 : i % 3 + 2,
            .border = (lap_border)(i % 4),
            .params = lap_params_default(),
            .out_gap = i % 2 * 13,
            .seed = check_random(&seed)};
        check_one(r, &c);
    }
    finish(r, "three threads");
    lap_pool_destroy(r->pool);
    r->pool = NULL;
}

static void check_wrong_rungs(run *r, uint64_t seed)
{
    char message[640];
    check_case c = {.width = 33, .height = 7, .channels = 3, .params = lap_params_default(), .seed = seed};
    check_subject subject;
    check_prepare(&subject, &c, r->reference);
    report(r, check_rung(&subject, r->reference, &(lap_exec){0}, NULL, message, sizeof message), "c",
        "agrees with itself");
    for (const lap_rung *wrong = wrong_rungs; wrong->name; wrong++) {
        bool rejected = !check_rung(&subject, wrong, &(lap_exec){0}, NULL, message, sizeof message);
        report(r, rejected, "a wrong rung is rejected", wrong->name);
        printf("# %s\n", rejected ? message : "it passed");
    }
    check_release(&subject);
}

static void add(run *r, const lap_rung *row, lap_exec exec, const char *how)
{
    if (r->count < MAX_RUNGS)
        r->rungs[r->count++] = (tally){.rung = row,
            .exec = exec,
            .how = how,
            .every = lap_rung_is_listed(row, STEPS) ? r->step_every : 1};
    else
        report(r, false, row->name, "too many rungs for the harness");
}

/* A row, and the other ways in which exec may run it. */
static void add_ways(run *r, const lap_rung *row)
{
    add(r, row, (lap_exec){0}, "");
    if (strcmp(row->family, "openmp") == 0) {
        add(r, row, (lap_exec){.omp_loop = LAP_OMP_X}, ", parallel over x");
        add(r, row, (lap_exec){.omp_loop = LAP_OMP_WINDOW}, ", parallel over the window");
    }
    if (strcmp(row->family, "simd") == 0)
        add(r, row, (lap_exec){.past_caches = true}, ", stores around the caches");
    if (strcmp(row->name, "cuda-global") == 0) {
        add(r, row, (lap_exec){.block_x = 32, .block_y = 16}, ", blocks of 32x16");
        add(r, row, (lap_exec){.block_x = 32, .block_y = 32}, ", blocks of 32x32");
    }
}

typedef struct part {
    int index, parts;
} part;

/* Stores in r the rungs that can run; the others are skipped by name. */
static void choose(run *r, const char *only, part of)
{
    const lap_rung *row;
    int wanted = 0;
    r->reference = lap_rung_row(LAP_OP_FILTER, 0);
    for (int i = 0; (row = lap_rung_row(LAP_OP_FILTER, i)); i++) {
        if (row == r->reference || row->resolves)
            continue;
        if (only && strcmp(only, row->name) != 0 && strcmp(only, row->family) != 0)
            continue;
        if (wanted++ % of.parts != of.index)
            continue;
        const char *reason = row->available ? row->available() : NULL;
        if (reason)
            printf("ok %d - %s%s # SKIP %s\n", ++r->tests, row->name, row->device ? ON_GPU : "", reason);
        else
            add_ways(r, row);
    }
}

static const char *value_of(const char *argument, const char *option)
{
    size_t n = strlen(option);
    return strncmp(argument, option, n) == 0 ? argument + n : NULL;
}

int main(int argc, char **argv)
{
    static run r = {.every = 1, .step_every = 5};
    const char *only = DEFAULT_RUNGS, *value;
    uint64_t seed = 20261122;
    part of = {0, 1};
    for (int i = 1; i < argc; i++) {
        if ((value = value_of(argv[i], "--seed=")))
            seed = strtoull(value, NULL, 0);
        else if ((value = value_of(argv[i], "--rung=")))
            only = value;
        else if ((value = value_of(argv[i], "--every=")) && atoi(value) > 0)
            r.every = atoi(value);
        else if (strcmp(argv[i], "--whole") == 0)
            r.step_every = 1;
        else if ((value = value_of(argv[i], "--part=")) &&
                 sscanf(value, "%d/%d", &of.index, &of.parts) == 2 && of.parts > 0)
            continue;
        else {
            fprintf(
                stderr, "usage: filter_ladder [--seed=N] [--rung=NAME] [--every=N] [--part=I/N] [--whole]\n");
            return 2;
        }
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("# seed %llu\n", (unsigned long long)seed);
    choose(&r, only, of);
    check_wrong_rungs(&r, seed);
    for (const case_group *group = case_groups; r.count && group->name; group++) {
        uint64_t random = seed;
        start(&r);
        group->list(&random, check_one, &r);
        finish(&r, group->name);
    }
    if (r.count)
        check_threads(&r, seed);
    printf("1..%d\n", r.tests);
    return r.failures > 0 || (only && r.count == 0);
}
