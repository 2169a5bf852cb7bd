#include "jpeg/decode_held.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/pages.h"
#include "base/status.h"
#include "coding/jpeg_frame_read.h"
#include "jpeg/decode_bytes.h"

typedef struct held_plane { /* coefficients of a component, padded to whole MCUs */
    int h, v;               /* blocks in an MCU, across and down */
    int across;             /* stride in blocks: a multiple of LAP_DECODE_GROUP */
    int wide, high;         /* blocks that a scan of only this component codes */
    size_t blocks;
    int16_t *coefficients;
    uint64_t *nonzero; /* one a block */
} held_plane;

typedef struct pass { /* the decoding of one scan */
    const lap_script_scan *scan;
    lap_held_scan share;     /* passed to the rung with each unit */
    lap_script_codes *codes; /* one for each component; allocated before the first row */
    lap_decode_bytes bytes;
    lap_held_state state; /* its bits are valid only during decode_unit, else those of bytes.state */
    int interval_left, restarts;
    int before[LAP_JPEG_COMPONENTS], befores; /* scans that it depends on */
    int16_t nowhere;                          /* receives the DC values of padding blocks */
    uint64_t weight; /* bytes of the largest scan among this one and those that depend on it */
    bool is_busy;    /* a thread decodes it; guarded by the lock */
    atomic_int rows; /* MCU rows decoded so far */
} pass;

struct lap_held {
    lap_held_source source;
    int mcus, mcu_rows, components;
    int rows_a_turn;
    held_plane planes[LAP_JPEG_COMPONENTS];
    void *memory; /* holds all planes */
    size_t bytes;
    pass *passes;
    int count;

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    int done, waiting;
    bool is_odd;
    lap_code code; /* first failure */
    lap_error why;
};

/* ---- memory -------------------------------------------------------------------------------------- */

enum { BLOCK_BYTES = 64 * sizeof(int16_t) + sizeof(uint64_t) };
/* Maximum size of a unit's data. */
static const size_t UNIT_BYTES = (size_t)LAP_HELD_UNIT * LAP_BYTES_BLOCK;

static int divided(int a, int b)
{
    return (a - 1) / b + 1;
}

static void lay_out(const lap_jpeg_frame *f, int c, held_plane *p)
{
    const bool is_alone = f->components == 1;
    const int most_h = is_alone ? 1 : f->sample_h[0], most_v = is_alone ? 1 : f->sample_v[0];
    p->h = is_alone ? 1 : f->sample_h[c];
    p->v = is_alone ? 1 : f->sample_v[c];
    p->wide = divided(f->width * p->h, 8 * most_h);
    p->high = divided(f->height * p->v, 8 * most_v);
    p->across = divided(divided(f->width, 8 * most_h) * p->h, LAP_DECODE_GROUP) * LAP_DECODE_GROUP;
    p->blocks = (size_t)p->across * (size_t)p->v * (size_t)divided(f->height, 8 * most_v);
}

/* Sums up the bytes of all planes. False on overflow. */
static bool plane_bytes(const lap_jpeg_frame *f, size_t *bytes)
{
    size_t some;
    bool fits = true;
    *bytes = 0;
    for (int c = 0; c < f->components; c++) {
        held_plane p;
        lay_out(f, c, &p);
        fits = fits && lap_mul(p.blocks, BLOCK_BYTES, &some) && lap_add(*bytes, some, bytes);
    }
    return fits;
}

lap_code lap_held_bound(const uint8_t *bytes, size_t size, int *scan, int *percent, lap_error *err)
{
    lap_jpeg_script *script = malloc(sizeof *script);
    *scan = *percent = 0;
    if (!script)
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    if (lap_jpeg_script_read(bytes, size, script) && lap_decode_takes(&script->frame)) {
        const int longest = lap_script_longest(script);
        *scan = longest + 1;
        *percent = lap_script_percent(script, longest, size);
    }
    free(script);
    return LAP_OK;
}

size_t lap_held_memory(const lap_jpeg_script *script)
{
    const size_t scan = sizeof(pass) + (size_t)script->frame.components * sizeof(lap_script_codes) +
                        lap_decode_bytes_room(UNIT_BYTES) + LAP_DECODE_SLACK;
    size_t all, scans;
    const bool fits = plane_bytes(&script->frame, &all) && lap_mul((size_t)script->count, scan, &scans) &&
                      lap_add(all, scans, &all) && lap_add(all, sizeof(lap_held), &all);
    return fits ? all : SIZE_MAX;
}

/* ---- open ---------------------------------------------------------------------------------------- */

static bool has_component(const lap_script_scan *scan, int component)
{
    for (int i = 0; i < scan->components; i++)
        if (scan->component[i] == component)
            return true;
    return false;
}

/* Finds the scans that scan i depends on: see decode_held.h. */
static void find_before(lap_held *held, int i)
{
    pass *p = &held->passes[i];
    for (int c = 0; c < p->scan->components; c++) {
        int b = i - 1;
        while (b >= 0 && (lap_script_is_dc(held->passes[b].scan) != lap_script_is_dc(p->scan) ||
                             !has_component(held->passes[b].scan, p->scan->component[c])))
            b--;
        if (b >= 0)
            p->before[p->befores++] = b;
    }
}

/* Gives each scan at least the weight of the scans that depend on it. choose() prefers the heaviest scan, so
 * the largest scan never waits for a small scan that was postponed. */
static void spread_weight(lap_held *held)
{
    for (int i = held->count - 1; i >= 0; i--)
        for (int b = 0; b < held->passes[i].befores; b++) {
            pass *before = &held->passes[held->passes[i].before[b]];
            if (before->weight < held->passes[i].weight)
                before->weight = held->passes[i].weight;
        }
}

static void set_pass(lap_held *held, int i)
{
    const lap_held_source *s = &held->source;
    const lap_script_scan *scan = &s->script->scans[i];
    pass *p = &held->passes[i];
    p->scan = scan;
    p->share = (lap_held_scan){.first = scan->first,
        .last = scan->last,
        .low = scan->low,
        .refines = lap_script_refines(scan),
        .index = s->stages->index};
    p->bytes = (lap_decode_bytes){.unstuff = s->stages->unstuff,
        .next = s->bytes + scan->begin,
        .end = s->bytes + s->size,
        .most = UNIT_BYTES};
    p->interval_left = scan->interval;
    p->weight = lap_script_bytes(scan);
    find_before(held, i);
}

/* Each turn of a thread decodes only a few rows of a scan, so that they are still in the cache when the next
 * scan decodes them. */
static int rows_a_turn(const lap_held *held)
{
    enum { TURN_BYTES = 256 << 10, LEAST_TURNS = 32 };
    size_t row = 0;
    for (int c = 0; c < held->components; c++)
        row += held->planes[c].blocks / (size_t)held->mcu_rows * 64 * sizeof(int16_t);
    const int most = held->mcu_rows / LEAST_TURNS;
    int rows = 1;
    while (rows < most && (size_t)(rows + 1) * row <= TURN_BYTES)
        rows++;
    return rows;
}

/* One zeroed allocation: the coefficients of each plane, then the nonzero masks of each plane. */
static lap_code allocate(lap_held *held, lap_error *err)
{
    if (!plane_bytes(&held->source.script->frame, &held->bytes))
        return lap_fail(err, LAP_E_MEMORY, "out of memory for coefficients");
    held->memory = lap_pages_zeroed(held->bytes);
    if (!held->memory)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for coefficients");
    int16_t *coefficients = held->memory;
    for (int c = 0; c < held->components; c++) {
        lay_out(&held->source.script->frame, c, &held->planes[c]);
        held->planes[c].coefficients = coefficients;
        coefficients += held->planes[c].blocks * 64;
    }
    uint64_t *nonzero = (uint64_t *)(void *)coefficients;
    for (int c = 0; c < held->components; c++) {
        held->planes[c].nonzero = nonzero;
        nonzero += held->planes[c].blocks;
    }
    return LAP_OK;
}

lap_code lap_held_open(const lap_held_source *source, lap_held **held, lap_error *err)
{
    const lap_jpeg_script *script = source->script;
    const lap_jpeg_frame *f = &script->frame;
    lap_held *h = calloc(1, sizeof *h);
    *held = NULL;
    if (!h)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for coefficients");
    h->source = *source;
    h->components = f->components;
    h->mcus = divided(f->width, 8 * (f->components == 1 ? 1 : f->sample_h[0]));
    h->mcu_rows = divided(f->height, 8 * (f->components == 1 ? 1 : f->sample_v[0]));
    h->count = script->count;
    h->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    h->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    h->passes = calloc((size_t)h->count, sizeof *h->passes);
    lap_code code = h->passes ? allocate(h, err) : lap_fail(err, LAP_E_MEMORY, "out of memory for scans");
    if (code != LAP_OK) {
        lap_held_close(h);
        return code;
    }
    for (int i = 0; i < h->count; i++)
        set_pass(h, i);
    spread_weight(h);
    h->rows_a_turn = rows_a_turn(h);
    *held = h;
    return LAP_OK;
}

static void end_pass(pass *p)
{
    free(p->codes);
    free(p->bytes.memory);
    p->codes = NULL;
    p->bytes.memory = NULL;
}

void lap_held_close(lap_held *held)
{
    if (!held)
        return;
    for (int i = 0; held->passes && i < held->count; i++)
        end_pass(&held->passes[i]);
    lap_pages_release(held->memory, held->bytes);
    pthread_cond_destroy(&held->changed);
    pthread_mutex_destroy(&held->lock);
    free(held->passes);
    free(held);
}

/* ---- a row of MCUs of a scan --------------------------------------------------------------------- */

static lap_code begin_pass(pass *p, lap_error *err)
{
    const lap_script_scan *scan = p->scan;
    const int codes = lap_script_is_dc(scan) && lap_script_refines(scan) ? 0 : scan->components;
    p->bytes.memory = malloc(lap_decode_bytes_room(UNIT_BYTES) + LAP_DECODE_SLACK);
    p->codes = malloc((size_t)(codes + 1) * sizeof *p->codes);
    if (!p->bytes.memory || !p->codes)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for a scan");
    for (int c = 0; c < codes; c++)
        lap_script_codes_make(scan, &scan->codes[c], &p->codes[c]);
    p->share.codes = p->codes;
    lap_decode_bytes_begin(&p->bytes);
    return LAP_OK;
}

/* Ends a restart interval. False if an EOB run reaches beyond it, or the expected marker does not follow. */
static bool pass_restart(pass *p)
{
    const unsigned marker = LAP_BYTES_MARKER_0 + (unsigned)p->restarts++ % LAP_BYTES_MARKERS;
    p->interval_left = p->scan->interval;
    return p->state.ended == 0 && lap_decode_bytes_pass(&p->bytes, marker);
}

static bool decode_unit(lap_held *held, pass *p, lap_held_unit *unit)
{
    lap_decode_bytes_fill(&p->bytes);
    p->state.bits = p->bytes.state;
    const bool is_fine = held->source.stages->script(&p->share, &p->state, unit);
    p->bytes.state = p->state.bits;
    return is_fine;
}

/* Decodes a row of `count` MCUs, unit by unit; `row` describes its first MCU. */
static bool decode_mcus(lap_held *held, pass *p, const lap_held_unit *row, int count)
{
    const int most = LAP_HELD_UNIT / row->ways;
    for (int first = 0; first < count;) {
        lap_held_unit unit = *row;
        unit.count = count - first < most ? count - first : most;
        if (p->scan->interval > 0) {
            if (p->interval_left == 0 && !pass_restart(p))
                return false;
            unit.count = unit.count < p->interval_left ? unit.count : p->interval_left;
            p->interval_left -= unit.count;
        }
        for (int w = 0; w < unit.ways; w++)
            unit.way[w].blocks += (ptrdiff_t)first * unit.way[w].step;
        if (unit.nonzero)
            unit.nonzero += first;
        if (!decode_unit(held, p, &unit))
            return false;
        first += unit.count;
    }
    return true;
}

static int16_t *block_at(const held_plane *p, int x, int y)
{
    return p->coefficients + ((ptrdiff_t)y * p->across + x) * 64;
}

/* In a scan of one component an MCU is one block, and padding blocks are not coded. */
static bool decode_single(lap_held *held, pass *p, int mcu_row)
{
    const held_plane *plane = &held->planes[p->scan->component[0]];
    const int begin = mcu_row * plane->v;
    for (int y = begin; y < begin + plane->v && y < plane->high; y++) {
        const lap_held_unit row = {.way = {{.blocks = block_at(plane, 0, y), .step = 64}},
            .ways = 1,
            .nonzero = plane->nonzero + (ptrdiff_t)y * plane->across};
        if (!decode_mcus(held, p, &row, plane->wide))
            return false;
    }
    return true;
}

/* Describes the MCUs of a row from number `mcu` on. An interleaved scan also codes the padding blocks of an
 * incomplete MCU. Their values go to p->nowhere and are dropped, since scans of one component do not refine
 * them; in the planes these blocks stay zero. */
static lap_held_unit interleaved(const lap_held *held, pass *p, int mcu, int mcu_row)
{
    lap_held_unit unit = {.ways = 0};
    for (int part = 0; part < p->scan->components; part++) {
        const held_plane *plane = &held->planes[p->scan->component[part]];
        for (int b = 0; b < plane->h * plane->v; b++) {
            const int x = mcu * plane->h + b % plane->h, y = mcu_row * plane->v + b / plane->h;
            const bool is_there = x < plane->wide && y < plane->high;
            unit.way[unit.ways++] = (lap_held_way){.blocks = is_there ? block_at(plane, x, y) : &p->nowhere,
                .step = is_there ? 64 * plane->h : 0,
                .part = part};
        }
    }
    return unit;
}

/* The last MCU is decoded separately: some of its blocks may be padding. */
static bool decode_interleaved(lap_held *held, pass *p, int mcu_row)
{
    const int last = held->mcus - 1;
    const lap_held_unit row = interleaved(held, p, 0, mcu_row), end = interleaved(held, p, last, mcu_row);
    return decode_mcus(held, p, &row, last) && decode_mcus(held, p, &end, 1);
}

/* Returns whether the scan ends with its last MCU, at the marker that the script found. */
static bool is_over(lap_held *held, pass *p)
{
    const uint8_t *end = held->source.bytes + p->scan->end;
    return p->state.ended == 0 && lap_decode_bytes_at_end(&p->bytes, end[1]) && p->bytes.next == end;
}

static bool decode_row(lap_held *held, pass *p, int mcu_row)
{
    const bool is_fine =
        p->scan->components == 1 ? decode_single(held, p, mcu_row) : decode_interleaved(held, p, mcu_row);
    return is_fine && (mcu_row + 1 < held->mcu_rows || is_over(held, p));
}

/* ---- threads ------------------------------------------------------------------------------------- */

/* Returns how many more rows of MCUs the scan may decode now. */
static int rows_ready(const lap_held *held, const pass *p)
{
    int ready = held->mcu_rows;
    for (int b = 0; b < p->befores; b++) {
        const int rows = atomic_load_explicit(&held->passes[p->before[b]].rows, memory_order_acquire);
        ready = rows < ready ? rows : ready;
    }
    return ready - atomic_load_explicit(&p->rows, memory_order_relaxed);
}

/* Call with the lock held. Chooses the scan that the largest scan waits for. Of two scans with equal weight,
 * chooses the later one: its rows are still in the cache from the earlier one. NULL if no scan can continue
 * now. */
static pass *choose(lap_held *held)
{
    pass *best = NULL;
    for (int i = 0; i < held->count; i++) {
        pass *p = &held->passes[i];
        if (!p->is_busy && (!best || p->weight >= best->weight) && rows_ready(held, p) > 0)
            best = p;
    }
    return best;
}

/* Decodes some rows of a scan. The caller has set is_busy, so no other thread decodes it. */
static lap_code take_turn(lap_held *held, pass *p, bool *is_fine, lap_error *err)
{
    const int ready = rows_ready(held, p), count = ready < held->rows_a_turn ? ready : held->rows_a_turn;
    const int first = atomic_load_explicit(&p->rows, memory_order_relaxed);
    lap_code code = lap_control_check(held->source.control, err);
    if (code == LAP_OK && first == 0)
        code = begin_pass(p, err);
    for (int i = 0; i < count && code == LAP_OK && *is_fine; i++) {
        *is_fine = decode_row(held, p, first + i);
        atomic_store_explicit(&p->rows, first + i + *is_fine, memory_order_release);
    }
    return code;
}

static void work(lap_held *held)
{
    lap_error why = {0};
    pass *p = choose(held);
    if (!p) {
        held->waiting++;
        pthread_cond_wait(&held->changed, &held->lock);
        held->waiting--;
        return;
    }
    bool is_fine = true;
    p->is_busy = true;
    pthread_mutex_unlock(&held->lock);
    const lap_code code = take_turn(held, p, &is_fine, &why);
    const bool is_done = atomic_load_explicit(&p->rows, memory_order_relaxed) == held->mcu_rows;
    if (is_done)
        end_pass(p);
    pthread_mutex_lock(&held->lock);
    p->is_busy = false;
    held->done += is_done;
    held->is_odd |= !is_fine;
    if (code != LAP_OK && held->code == LAP_OK) {
        held->code = code;
        held->why = why;
    }
    if (held->waiting > 0)
        pthread_cond_broadcast(&held->changed);
}

lap_code lap_held_work(lap_held *held, bool *is_fine, lap_error *err)
{
    pthread_mutex_lock(&held->lock);
    while (held->code == LAP_OK && !held->is_odd && held->done < held->count)
        work(held);
    const lap_code code = held->code;
    *is_fine = !held->is_odd;
    if (code != LAP_OK && err)
        *err = held->why;
    pthread_mutex_unlock(&held->lock);
    return code;
}

/* ---- afterwards ---------------------------------------------------------------------------------- */

lap_held_row lap_held_blocks(const lap_held *held, int component, int row)
{
    const held_plane *p = &held->planes[component];
    return (lap_held_row){block_at(p, 0, row), p->nonzero + (ptrdiff_t)row * p->across};
}
