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

/* Call with the lock held. Joins the next pieces, up to the first one whose walk has not finished. */
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

typedef struct place { /* one of the walks of a thread */
    lap_course course;
    lap_track piece;
    lap_stretch stretch;
    size_t index; /* of the piece */
    bool is_busy;
} place;

/* Begins to walk over the next piece, if one is left. */
static lap_code begin_piece(scan *s, place *p, lap_error *why)
{
    if (atomic_load(&s->stop) || (p->index = atomic_fetch_add(&s->next, 1)) >= s->count)
        return LAP_OK;
    const lap_track_plan plan = {.coded = &s->plan->coded,
        .tables = s->tables,
        .index = p->index,
        .known = p->index == 0 ? 0 : -1,
        .stretch = &p->stretch};
    const lap_code code = lap_control_check(s->control, why);
    if (code != LAP_OK)
        return code;
    p->piece = (lap_track){0};
    p->is_busy = true;
    return lap_course_begin(&p->course, &p->piece, &plan) == LAP_OK ? LAP_OK : fail_for_memory(why);
}

static void hand_over(scan *s, place *p)
{
    pthread_mutex_lock(&s->lock);
    s->pieces[p->index] = p->piece;
    s->walked[p->index] = true;
    join_walked(s);
    pthread_mutex_unlock(&s->lock);
    p->is_busy = false;
}

/* Gives each idle walk a new piece, and continues until one of the walks is done. */
static lap_code walk_on(scan *s, place places[LAP_WALK_LANES], int *busy, lap_error *why)
{
    lap_course *courses[LAP_WALK_LANES];
    lap_code code = LAP_OK;
    *busy = 0;
    for (int i = 0; i < LAP_WALK_LANES && code == LAP_OK; i++) {
        if (!places[i].is_busy)
            code = begin_piece(s, &places[i], why);
        if (places[i].is_busy)
            courses[(*busy)++] = &places[i].course;
    }
    if (code != LAP_OK || *busy == 0)
        return code;
    code = *busy == LAP_WALK_LANES ? lap_courses_go(courses) : lap_course_finish(courses[0]);
    return code == LAP_OK ? LAP_OK : fail_for_memory(why);
}

static void work(void *argument)
{
    scan *s = argument;
    place places[LAP_WALK_LANES] = {0};
    lap_error why = {0};
    lap_code code = LAP_OK;
    for (int busy = 1; busy > 0 && code == LAP_OK;) {
        code = walk_on(s, places, &busy, &why);
        for (int i = 0; i < LAP_WALK_LANES && code == LAP_OK; i++)
            if (places[i].is_busy && places[i].course.is_over)
                hand_over(s, &places[i]);
    }
    if (code != LAP_OK) {
        pthread_mutex_lock(&s->lock);
        fail(s, code, &why);
        pthread_mutex_unlock(&s->lock);
    }
    for (int i = 0; i < LAP_WALK_LANES; i++) {
        if (places[i].is_busy)
            lap_track_free(&places[i].piece);
        lap_stretch_free(&places[i].stretch);
    }
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
