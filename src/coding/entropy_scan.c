#include "coding/entropy_scan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/status.h"
#include "coding/entropy_join.h"

typedef struct scan {
    const lap_scan_plan *plan;
    const lap_walk_tables *tables;
    const lap_control *control;
    size_t count; /* pieces of the scan */
    atomic_size_t next;
    atomic_bool stop;

    pthread_mutex_t lock; /* guards the members below */
    lap_track *pieces;    /* walked but not yet joined */
    bool *walked;
    size_t joined;
    lap_join join;
    lap_code code; /* the first failure */
    lap_error err;
} scan;

static void fail(scan *s, lap_code code, const lap_error *why)
{
    if (s->code == LAP_OK) {
        s->code = code;
        s->err = *why;
    }
    atomic_store(&s->stop, true);
}

static lap_code fail_for_memory(lap_error *err)
{
    return lap_fail(err, LAP_E_MEMORY, "out of memory for the scan");
}

/* Call with the lock held. Joins the pieces that come next, as far as they have been walked. */
static void join_walked(scan *s)
{
    lap_code code = LAP_OK;
    while (s->joined < s->count && s->walked[s->joined] && !atomic_load(&s->stop)) {
        bool goes_on = lap_join_next(&s->join, s->joined, &s->pieces[s->joined], &code);
        lap_track_free(&s->pieces[s->joined++]);
        if (!goes_on)
            atomic_store(&s->stop, true);
    }
    if (code != LAP_OK) {
        lap_error why = {0};
        fail(s, fail_for_memory(&why), &why);
    }
}

/* Walks over pieces i and i + 1, or only over i if it is the last. */
static lap_code walk_over(const scan *s, size_t i, lap_track pieces[2], lap_stretch stretches[2])
{
    lap_track_plan plans[2];
    for (size_t k = 0; k < 2; k++)
        plans[k] = (lap_track_plan){.coded = &s->plan->coded,
            .tables = s->tables,
            .index = i + k,
            .known = i + k == 0 ? 0 : -1,
            .stretch = &stretches[k]};
    return i + 1 < s->count ? lap_track_make_two(pieces, plans) : lap_track_make(pieces, plans);
}

static void work(void *argument)
{
    scan *s = argument;
    lap_stretch stretches[2] = {0};
    for (size_t i; !atomic_load(&s->stop) && (i = atomic_fetch_add(&s->next, 2)) < s->count;) {
        lap_error why = {0};
        lap_track pieces[2] = {0};
        lap_code code = lap_control_check(s->control, &why);
        if (code == LAP_OK) {
            code = walk_over(s, i, pieces, stretches);
            if (code != LAP_OK)
                code = fail_for_memory(&why);
        }
        pthread_mutex_lock(&s->lock);
        for (size_t k = 0; k < 2 && i + k < s->count; k++) {
            s->pieces[i + k] = pieces[k];
            s->walked[i + k] = true;
        }
        if (code != LAP_OK)
            fail(s, code, &why);
        join_walked(s);
        pthread_mutex_unlock(&s->lock);
    }
    lap_stretch_free(&stretches[0]);
    lap_stretch_free(&stretches[1]);
}

static lap_code reserve(scan *s, lap_scan_index *index, lap_error *err)
{
    s->count = lap_coded_pieces(&s->plan->coded);
    s->pieces = calloc(s->count + 1, sizeof *s->pieces);
    s->walked = calloc(s->count + 1, sizeof *s->walked);
    index->rows = calloc((size_t)s->plan->mcus_high + 1, sizeof *index->rows);
    index->begins = calloc(s->count + 1, sizeof *index->begins);
    if (!s->pieces || !s->walked || !index->rows || !index->begins)
        return fail_for_memory(err);
    return LAP_OK;
}

lap_code lap_scan_index_make(const lap_scan_plan *plan, const lap_walk_tables *tables,
    const lap_scan_team *team, lap_scan_index *index, lap_huff_odd *odd, lap_error *err)
{
    scan s = {.lock = PTHREAD_MUTEX_INITIALIZER, .plan = plan, .tables = tables, .control = team->control};
    *index = (lap_scan_index){0};
    *odd = LAP_HUFF_FINE;
    s.join = (lap_join){.plan = plan, .tables = tables, .index = index};
    lap_code code = reserve(&s, index, err);
    if (code == LAP_OK) {
        lap_pool_team(team->pool, team->threads, work, &s);
        code = s.code;
        if (code != LAP_OK && err)
            *err = s.err;
    }
    if (code == LAP_OK && !s.join.done)
        *odd = s.join.odd != LAP_HUFF_FINE ? s.join.odd : LAP_HUFF_SHORT;
    for (size_t i = 0; s.pieces && i < s.count; i++)
        lap_track_free(&s.pieces[i]);
    pthread_mutex_destroy(&s.lock);
    lap_join_free(&s.join);
    free(s.pieces);
    free(s.walked);
    if (code != LAP_OK || *odd != LAP_HUFF_FINE)
        lap_scan_index_free(index);
    return code;
}

void lap_scan_index_free(lap_scan_index *index)
{
    free(index->rows);
    free(index->marks);
    free(index->begins);
    *index = (lap_scan_index){0};
}
