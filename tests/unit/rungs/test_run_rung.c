/* The test simulates rungs, and a device in host memory. It checks which rung is found, in which pieces
 * it runs, and the order of the calls to CUDA. Each call fails in turn, and all memory must be freed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "cuda/device/device.h"
#include "cuda/device/queue.h"
#include "lapedge_program.h"
#include "ops/ops.h"
#include "rungs/run_rung.h"
#include "rungs/run_views.h"

enum { DEVICE = 3, ALIGNED = 128 };

/* ---- a device ------------------------------------------------------------------------------------------ */

static struct device {
    char calls[200];  /* one letter per call */
    int count, fails; /* which call fails, counted from 1; 0: none */
    int alive;        /* streams, events and memory that are not yet freed */
    int streams, events, marks;
    size_t bytes[20]; /* of each allocation and copy */
    int sizes;
    lap_view views[4]; /* in order of creation */
    int created;
    int place;        /* the device that all calls must name */
    bool is_hopeless; /* waiting fails, too */
} there;

static lap_code called(char letter, int device, lap_error *err)
{
    assert_int_equal(device, there.place);
    assert_true(there.count < (int)sizeof there.calls - 1);
    there.calls[there.count++] = letter;
    return there.count == there.fails || (letter == 'w' && there.is_hopeless)
               ? lap_fail(err, LAP_E_DEVICE, "call %d", there.count)
               : LAP_OK;
}

static void note(size_t bytes)
{
    assert_true(there.sizes < 20);
    there.bytes[there.sizes++] = bytes;
}

static lap_code made(char letter, int device, size_t bytes, void **memory, lap_error *err)
{
    const lap_code code = called(letter, device, err);
    *memory = code == LAP_OK ? aligned_alloc(ALIGNED, (bytes + ALIGNED) / ALIGNED * ALIGNED) : NULL;
    there.alive += *memory != NULL;
    return code;
}

static void freed(int device, void *memory)
{
    assert_int_equal(device, there.place);
    there.alive -= memory != NULL;
    free(memory);
}

lap_code __wrap_lap_cuda_stream_create(int device, void **stream, lap_error *err);
lap_code __wrap_lap_cuda_stream_create(int device, void **stream, lap_error *err)
{
    return made('S', device, 1, stream, err);
}

void __wrap_lap_cuda_stream_destroy(int device, void *stream);
void __wrap_lap_cuda_stream_destroy(int device, void *stream)
{
    freed(device, stream);
}

lap_code __wrap_lap_cuda_event_create(int device, void **event, lap_error *err);
lap_code __wrap_lap_cuda_event_create(int device, void **event, lap_error *err)
{
    return made('E', device, sizeof(int), event, err);
}

void __wrap_lap_cuda_event_destroy(int device, void *event);
void __wrap_lap_cuda_event_destroy(int device, void *event)
{
    freed(device, event);
}

/* Numbers the events in order. */
lap_code __wrap_lap_cuda_event_record(int device, void *event, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_event_record(int device, void *event, void *stream, lap_error *err)
{
    assert_non_null(stream);
    *(int *)event = there.marks++;
    return called('r', device, err);
}

lap_code __wrap_lap_cuda_event_ms(int device, void *from, void *to, double *ms, lap_error *err);
lap_code __wrap_lap_cuda_event_ms(int device, void *from, void *to, double *ms, lap_error *err)
{
    *ms = *(int *)from * 10 + *(int *)to;
    return called('m', device, err);
}

lap_code __wrap_lap_cuda_alloc(int device, size_t bytes, void **memory, lap_error *err);
lap_code __wrap_lap_cuda_alloc(int device, size_t bytes, void **memory, lap_error *err)
{
    note(bytes);
    return made('a', device, bytes, memory, err);
}

void __wrap_lap_cuda_free(int device, void *memory);
void __wrap_lap_cuda_free(int device, void *memory)
{
    freed(device, memory);
}

lap_code __wrap_lap_cuda_copy(
    int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_copy(
    int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err)
{
    assert_null(stream);
    note(bytes);
    if (bytes)
        memcpy(to, from, bytes);
    return called('c', device, err);
}

/* After a failure, a second one is not reported: err must be NULL. */
lap_code __wrap_lap_cuda_sync(int device, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_sync(int device, void *stream, lap_error *err)
{
    (void)stream;
    if (there.fails && there.count >= there.fails)
        assert_null(err);
    return called('w', device, err);
}

lap_code __wrap_lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
lap_code __wrap_lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err)
{
    void *memory;
    const ptrdiff_t row = (ptrdiff_t)(width + 2 * apron) * channels;
    const ptrdiff_t stride = (row + ALIGNED - 1) / ALIGNED * ALIGNED + ALIGNED * (apron > 0);
    const lap_code code = made('V', device, (size_t)stride * (size_t)(height + 2 * apron + 1), &memory, err);
    *view = (lap_view){0};
    if (code != LAP_OK)
        return code;
    memset(memory, 0xEE, (size_t)stride * (size_t)(height + 2 * apron + 1));
    *view = (lap_view){.base = (uint8_t *)memory + (apron ? apron * stride + ALIGNED : 0),
        .stride = stride,
        .width = width,
        .height = height,
        .channels = channels,
        .apron = apron,
        .place = device};
    assert_true(there.created < 4);
    there.views[there.created++] = *view;
    return LAP_OK;
}

void __wrap_lap_cuda_view_destroy(lap_view *view);
void __wrap_lap_cuda_view_destroy(lap_view *view)
{
    if (view->base) {
        there.alive--;
        free(view->base - (view->apron ? view->apron * view->stride + ALIGNED : 0));
    }
    *view = (lap_view){0};
}

static lap_code copied(char letter, const lap_view *from, const lap_view *to, int device, lap_error *err)
{
    assert_true(from->width == to->width && from->height == to->height && from->channels == to->channels);
    const lap_code code = called(letter, device, err);
    if (code == LAP_OK)
        lap_view_copy(from, to);
    return code;
}

lap_code __wrap_lap_cuda_upload(const lap_view *host, const lap_view *device, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_upload(const lap_view *host, const lap_view *device, void *stream, lap_error *err)
{
    (void)stream;
    return copied('u', host, device, device->place, err);
}

lap_code __wrap_lap_cuda_download(const lap_view *device, const lap_view *host, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_download(const lap_view *device, const lap_view *host, void *stream, lap_error *err)
{
    (void)stream;
    return copied('d', device, host, device->place, err);
}

lap_code __wrap_lap_cuda_view_copy(const lap_view *from, const lap_view *to, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_view_copy(const lap_view *from, const lap_view *to, void *stream, lap_error *err)
{
    (void)stream;
    return copied('v', from, to, from->place, err);
}

lap_code __wrap_lap_cuda_check_place(const lap_view *view, const char *which, lap_error *err);
lap_code __wrap_lap_cuda_check_place(const lap_view *view, const char *which, lap_error *err)
{
    (void)which;
    return called('p', view->place, err);
}

/* Fills the apron with the border's number. */
lap_code __wrap_lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err)
{
    (void)stream;
    const int apron = LAP_APRON;
    for (int y = -apron; y < view->height + apron; y++)
        for (int i = -apron * view->channels; i < (view->width + apron) * view->channels; i++)
            if (y < 0 || y >= view->height || i < 0 || i >= view->width * view->channels)
                view->base[y * view->stride + i] = (uint8_t)border;
    return called('b', view->place, err);
}

/* ---- rungs --------------------------------------------------------------------------------------------- */

enum { MOST = 300 };

static struct told {
    lap_code code;       /* what a rung returns */
    const char *message; /* or NULL */
    lap_exec exec;       /* the last one */
    lap_view in[MOST], out[MOST];
    lap_array array[MOST];
    lap_gemv gemv[MOST];
    int calls;
} told;

static lap_code answer(const lap_exec *exec)
{
    assert_true(told.calls < MOST);
    told.exec = *exec;
    told.calls++;
    if (told.message && exec->err)
        lap_fail(exec->err, told.code, "%s", told.message);
    return told.code;
}

static lap_code host_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)params;
    told.in[told.calls] = *in;
    told.out[told.calls] = *out;
    return answer(exec);
}

static lap_code host_transpose(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return host_filter(in, out, NULL, exec);
}

static lap_code host_reduce(const lap_array *in, double *sum, const lap_exec *exec)
{
    told.array[told.calls] = *in;
    *sum = (double)in->n;
    return answer(exec);
}

static lap_code host_histogram(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    told.in[told.calls] = *in;
    for (int i = 0; i < 4 * 256; i++)
        counts[i / 256][i % 256] += (uint64_t)i + 1;
    return answer(exec);
}

static lap_code host_matvec(const lap_gemv *g, const lap_exec *exec)
{
    told.gemv[told.calls] = *g;
    return answer(exec);
}

/* The device's filter adds two samples to each sample: the one two columns to the left and two rows up,
 * and the one two columns to the right and two rows down. So the result shows whether the apron was
 * filled. */
static lap_code device_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    (void)params;
    told.in[told.calls] = *in;
    told.out[told.calls] = *out;
    assert_true(lap_view_is_aligned(in) && lap_view_is_aligned(out));
    const ptrdiff_t far = 2 * in->stride + 2 * in->channels;
    for (int y = 0; y < in->height; y++)
        for (int i = 0; i < in->width * in->channels; i++) {
            const uint8_t *p = in->base + y * in->stride + i;
            out->base[y * out->stride + i] = (uint8_t)(p[-far] + p[far] + *p);
        }
    const lap_code code = answer(exec);
    return code == LAP_OK ? called('F', in->place, exec->err) : code;
}

static lap_code device_transpose(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            out->base[x * out->stride + y] = in->base[y * in->stride + x];
    (void)answer(exec);
    return called('T', in->place, exec->err);
}

static lap_code device_histogram(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    for (int y = 0; y < in->height; y++)
        for (int i = 0; i < in->width * in->channels; i++)
            counts[i % in->channels][in->base[y * in->stride + i]]++;
    (void)answer(exec);
    return called('H', in->place, exec->err);
}

static lap_code device_reduce(const lap_array *in, double *sum, const lap_exec *exec)
{
    *sum = 0;
    for (size_t i = 0; i < in->n; i++)
        *sum += in->is_double ? ((const double *)in->base)[i] : (double)((const float *)in->base)[i];
    assert_int_equal(in->place, DEVICE);
    (void)answer(exec);
    return called('R', in->place, exec->err);
}

static lap_code device_matvec(const lap_gemv *g, const lap_exec *exec)
{
    for (size_t i = 0; i < g->rows; i++)
        for (size_t j = 0; j < g->cols; j++)
            g->y[i] += g->a[i * g->lda + j] * g->x[j];
    (void)answer(exec);
    return called('M', g->place, exec->err);
}

/* Why rungs cannot run (NULL: they can), and how often a device was looked for. */
static const char *why_open, *why_shut = "shut for good", *why_card;
static int probes;

static const char *see_open(void)
{
    return why_open;
}

static const char *see_shut(void)
{
    return why_shut;
}

static const char *see_card(void)
{
    probes++;
    return why_card;
}

static const char *see_gone(void)
{
    return "gone";
}

static const char *see_lost(void)
{
    return "lost";
}

#define ROW .op = LAP_OP_FILTER

const lap_rung lap_filter_table[] = {
    {ROW, .name = "c", .family = "c", .what = "the first", .flags = "-O9", .run.filter = host_filter},
    {ROW, .name = "split", .family = "s", .threading = LAP_THREADS_SPLIT, .run.filter = host_filter},
    {ROW, .name = "gone", .family = "g", .available = see_gone},
    {ROW, .name = "lost", .family = "g", .available = see_lost},
    {ROW, .name = "shut", .family = "s", .available = see_shut, .run.filter = host_filter},
    {ROW, .name = "open", .aliases = "door,gate", .family = "o", .available = see_open,
        .run.filter = host_filter},
    {ROW, .name = "family", .family = "f", .resolves = "gone,shut,open"},
    {ROW, .name = "shut-first", .family = "f", .resolves = "shut,gone"},
    {ROW, .name = "unbuilt", .family = "f", .resolves = "gone,lost"},
    {ROW, .name = "nobody", .family = "f", .resolves = "nothing"},
    {ROW, .name = "nested", .family = "f", .resolves = "shut-first,nobody"},
    {ROW, .name = "card-old", .family = "d", .device = 1, .available = see_card},
    {ROW, .name = "card", .aliases = "gpu", .family = "d", .device = 1, .available = see_card,
        .run.filter = device_filter},
    {ROW, .name = "auto", .family = "a", .resolves = "family,c"},
    {0},
};

const lap_rung lap_transpose_table[] = {
    {.op = LAP_OP_TRANSPOSE, .name = "c", .family = "c", .run.transpose = host_transpose},
    {.op = LAP_OP_TRANSPOSE, .name = "auto", .family = "a", .resolves = "c"}, {0}};
const lap_rung lap_reduce_table[] = {
    {.op = LAP_OP_REDUCE, .name = "c", .family = "c", .run.reduce = host_reduce}, {0}};
const lap_rung lap_histogram_table[] = {
    {.op = LAP_OP_HISTOGRAM, .name = "c", .family = "c", .run.histogram = host_histogram},
    {.op = LAP_OP_HISTOGRAM, .name = "card", .family = "d", .device = 1, .run.histogram = device_histogram},
    {0}};
const lap_rung lap_matvec_table[] = {
    {.op = LAP_OP_MATVEC, .name = "c", .family = "c", .run.matvec = host_matvec},
    {.op = LAP_OP_MATVEC, .name = "auto", .family = "a", .resolves = "c"}, {0}};

/* ---- which rung is found ------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    (void)state;
    there = (struct device){.place = DEVICE};
    told = (struct told){.calls = 0};
    why_open = why_card = NULL;
    probes = 0;
    return 0;
}

static void test_rows(void **state)
{
    (void)state;
    static const char *const ops[] = {"filter", "transpose", "reduce", "histogram", "matvec"};
    for (int op = 0; op < LAP_OP_COUNT; op++) {
        assert_string_equal(lap_op_name((lap_op)op), ops[op]);
        assert_string_equal(lap_rung_reference((lap_op)op)->name, "c");
        assert_ptr_equal(lap_rung_row((lap_op)op, 0), lap_rung_reference((lap_op)op));
    }
    assert_string_equal(lap_op_name(LAP_OP_CODEC), "codec");
    assert_string_equal(lap_op_name(LAP_OP_ENCODE), "encode");
    assert_string_equal(lap_op_name(LAP_OP_DECODE), "decode");
    assert_string_equal(lap_op_name((lap_op)-1), "unknown");
    assert_null(lap_rung_row((lap_op)-1, 0));
    assert_null(lap_rung_row(LAP_OP_FILTER, -1));
    assert_string_equal(lap_rung_row(LAP_OP_FILTER, 13)->name, "auto");
    assert_null(lap_rung_row(LAP_OP_FILTER, 14));
    assert_null(lap_rung_row(LAP_OP_MATVEC, 2));
    assert_true(lap_rung_takes_bands(&lap_filter_table[0]));
    assert_false(lap_rung_takes_bands(&lap_filter_table[12]));
}

/* What each name resolves to, or why it cannot run, if the rung `open` can run and if it cannot. */
static void test_resolving(void **state)
{
    (void)state;
    static const struct {
        const char *name, *resolved[2], *reason[2];
    } cases[] = {{"c", {"c", "c"}, {NULL, NULL}}, {"gone", {NULL, NULL}, {"gone", "gone"}},
        {"shut", {NULL, NULL}, {"shut for good", "shut for good"}},
        {"open", {"open", NULL}, {NULL, "closed"}}, {"gate", {"open", NULL}, {NULL, "closed"}},
        {"family", {"open", NULL}, {NULL, "closed"}},
        {"shut-first", {NULL, NULL}, {"shut for good", "shut for good"}},
        {"unbuilt", {NULL, NULL}, {"lost", "lost"}},
        {"nobody", {NULL, NULL}, {"none of its rungs is built", "none of its rungs is built"}},
        {"nested", {NULL, NULL}, {"none of its rungs is built", "none of its rungs is built"}},
        {"auto", {"open", "c"}, {NULL, NULL}}, {"card", {"card", "card"}, {NULL, NULL}}};
    for (int closed = 0; closed < 2; closed++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const lap_rung *rung = &lap_filter_table[3];
            lap_error err = {0};
            char wanted[120] = "";
            why_open = closed ? "closed" : NULL;
            const lap_code code = lap_rung_find(LAP_OP_FILTER, cases[i].name, &rung, &err);
            if (cases[i].reason[closed])
                snprintf(wanted, sizeof wanted, "backend '%s' cannot run here: %s", cases[i].name,
                    cases[i].reason[closed]);
            assert_string_equal(err.message, wanted);
            assert_int_equal(code, cases[i].resolved[closed] ? LAP_OK : LAP_E_BACKEND);
            if (cases[i].resolved[closed])
                assert_string_equal(rung->name, cases[i].resolved[closed]);
            else
                assert_null(rung);
        }
}

/* All information about a row; devices are looked for only on request. */
static void test_info(void **state)
{
    (void)state;
    lap_rung_info info;
    why_card = "no card";
    assert_true(lap_rung_at(LAP_OP_FILTER, 0, false, &info));
    assert_int_equal(info.op, LAP_OP_FILTER);
    assert_string_equal(info.name, "c");
    assert_string_equal(info.family, "c");
    assert_string_equal(info.what, "the first");
    assert_string_equal(info.flags, "-O9");
    assert_true(!info.aliases && !info.resolves && !info.reason);
    assert_string_equal(info.resolved, "c");
    assert_true(lap_rung_at(LAP_OP_FILTER, 6, false, &info));
    assert_string_equal(info.resolves, "gone,shut,open");
    assert_string_equal(info.resolved, "open");
    assert_true(lap_rung_at(LAP_OP_FILTER, 12, false, &info));
    assert_string_equal(info.aliases, "gpu");
    assert_string_equal(info.resolved, "card");
    assert_true(!info.reason && probes == 0);
    assert_true(lap_rung_at(LAP_OP_FILTER, 12, true, &info));
    assert_true(!info.resolved && strcmp(info.reason, "no card") == 0 && probes == 1);
    assert_true(lap_rung_at(LAP_OP_FILTER, 11, false, &info)); /* it is not built: known anyway */
    assert_true(!info.resolved && strcmp(info.reason, "no card") == 0 && probes == 2);
    why_shut = "shut now";
    assert_true(lap_rung_at(LAP_OP_FILTER, 4, false, &info));
    assert_true(!info.resolved && strcmp(info.reason, "shut now") == 0);
    why_shut = "shut for good";
    assert_false(lap_rung_at(LAP_OP_FILTER, 14, false, &info));
    assert_false(lap_rung_at(LAP_OP_COUNT, 0, false, &info));
}

/* The nearest name, and the message for an unknown name. */
static void test_nearest(void **state)
{
    (void)state;
    static const char longest[] = "cardcardcardcardcardcardcardcardcardcardcardcardcardcardcardcardcard";
    static const struct {
        const char *name, *nearest;
    } cases[] = {{"opem", "open"}, {"pen", "open"}, {"opn", "open"}, {"doro", "open"}, {"gat", "open"},
        {"gpus", "card"}, {"caed", "card"}, {"fam", "family"}, {"unb", "unbuilt"}, {"un", NULL},
        {"shu", "shut"}, {"shut-f", "shut"}, {"shut-firs", "shut-first"}, {"aut", "auto"}, {"au", NULL},
        {"xxxx", NULL}, {"cc", "c"}, {"x", NULL}, {"", NULL}, {"spli", "split"}, {"lot", "lost"},
        {"spxxt", "split"}, {"sxxxt", NULL}, {longest, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_rung *rung = lap_filter_table;
        lap_error err = {0};
        char wanted[160];
        const char *nearest = lap_rung_nearest(LAP_OP_FILTER, cases[i].name);
        if (!nearest || !cases[i].nearest ? nearest != cases[i].nearest : strcmp(nearest, cases[i].nearest))
            fail_msg("%s: %s", cases[i].name, nearest ? nearest : "none");
        snprintf(wanted, sizeof wanted,
            cases[i].nearest ? "unknown backend '%s'; the nearest is '%s'" : "unknown backend '%s'",
            cases[i].name, cases[i].nearest);
        assert_int_equal(lap_rung_find(LAP_OP_FILTER, cases[i].name, &rung, &err), LAP_E_USAGE);
        assert_string_equal(err.message, wanted);
        assert_null(rung);
    }
}

static void test_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        int row;
        bool is_listed;
    } cases[] = {{NULL, 0, true}, {"", 0, false}, {"c", 0, true}, {"c,open", 5, true}, {"open,c", 0, true},
        {"open", 0, false}, {"ope,n", 5, false}, {"gate", 5, true}, {"door", 5, true}, {"door,", 5, true},
        {",door", 5, true}, {"gat", 5, false}, {"gates", 5, false}, {"gpu", 12, true}, {"x,gpu,y", 12, true},
        {"x,,gpu", 12, true}, {"door,gate", 12, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            lap_rung_is_listed(&lap_filter_table[cases[i].row], cases[i].list), cases[i].is_listed);
    /* A name in a list is cut after 63 letters. */
    char list[100];
    lap_rung named = lap_filter_table[0];
    for (int length = 62; length <= 64; length++) {
        char name[80];
        memset(name, 'n', sizeof name);
        name[length] = 0;
        named.name = name;
        snprintf(list, sizeof list, "%s,x", name);
        assert_int_equal(lap_rung_is_listed(&named, list), length <= 63);
    }
}

typedef struct visits {
    char names[200];
    int count, fails_at;
} visits;

static lap_code visit(void *user, const lap_rung *row, const lap_rung *rung, const char *reason,
    const lap_error *why, lap_error *err)
{
    visits *v = user;
    const size_t at = strlen(v->names);
    snprintf(v->names + at, sizeof v->names - at, " %s>%s:%s", row->name, rung ? rung->name : "",
        reason ? reason : "");
    assert_int_equal(why->code, rung ? LAP_OK : LAP_E_BACKEND);
    assert_true(rung ? !why->message[0] : strstr(why->message, "cannot run here") != NULL);
    return ++v->count == v->fails_at ? lap_fail(err, LAP_E_DEVICE, "stopped") : LAP_OK;
}

static void test_walk(void **state)
{
    (void)state;
    atomic_int cancel = 0;
    const lap_control control = {.cancel = &cancel};
    lap_error err = {0};
    visits v = {.count = 0};
    const char *list = "auto,nobody,shut,gate,c";
    assert_int_equal(lap_rung_walk(LAP_OP_FILTER, list, &control, visit, &v, &err), LAP_OK);
    assert_string_equal(v.names, " c>c: shut>:shut for good open>open: nobody>: auto>open:");
    v = (visits){.fails_at = 3};
    assert_int_equal(lap_rung_walk(LAP_OP_FILTER, list, &control, visit, &v, &err), LAP_E_DEVICE);
    assert_string_equal(v.names, " c>c: shut>:shut for good open>open:");
    assert_string_equal(err.message, "stopped");
    v = (visits){.count = 0};
    assert_int_equal(lap_rung_walk(LAP_OP_FILTER, NULL, NULL, visit, &v, &err), LAP_OK);
    assert_int_equal(v.count, 14);
    cancel = 1;
    v = (visits){.count = 0};
    assert_int_equal(lap_rung_walk(LAP_OP_FILTER, "nothing", &control, visit, &v, &err), LAP_OK);
    assert_int_equal(lap_rung_walk(LAP_OP_FILTER, "c", &control, visit, &v, &err), LAP_E_CANCELLED);
    assert_int_equal(v.count, 0);
}

static void test_devices(void **state)
{
    (void)state;
    assert_string_equal(lap_rung_fastest_on_device(LAP_OP_FILTER), "card");
    assert_string_equal(lap_rung_fastest_on_device(LAP_OP_REDUCE), "auto");
    assert_string_equal(lap_rung_companion(LAP_OP_FILTER, &lap_filter_table[12]), "card");
    assert_string_equal(lap_rung_companion(LAP_OP_FILTER, &lap_filter_table[0]), "auto");
    static const struct {
        const char *name, *found, *said;
    } cases[] = {{NULL, "card", ""}, {"auto", "card", ""}, {"gpu", "card", ""},
        {"c", NULL,
            "backend 'c' runs on the CPU, and the pixels lie on device 7; for host memory, set place "
            "to LAP_ON_HOST"},
        {"family", NULL,
            "backend 'family' runs on the CPU, and the pixels lie on device 7; for host memory, set place "
            "to LAP_ON_HOST"},
        {"gone", NULL, "backend 'gone' cannot run here: gone"}, {"x", NULL, "unknown backend 'x'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_rung *rung = lap_filter_table;
        lap_error err = {0};
        const lap_code code = lap_rung_find_on_device(LAP_OP_FILTER, cases[i].name, 7, &rung, &err);
        assert_int_equal(code, cases[i].found ? LAP_OK : i == 5 ? LAP_E_BACKEND : LAP_E_USAGE);
        assert_string_equal(err.message, cases[i].said);
        assert_ptr_equal(rung, cases[i].found ? &lap_filter_table[12] : NULL);
    }
    static const struct {
        const char *backend;
        int rung;
        bool fell_back;
    } falls[] = {{"family", 2, false}, {"family", 3, false}, {"family", 5, true}, {"shut-first", 1, false},
        {"shut-first", 5, true}, {"nobody", 0, false}, {"c", 5, false}, {"x", 5, false}, {"auto", 6, false},
        {"auto", 0, true}};
    for (size_t i = 0; i < sizeof falls / sizeof *falls; i++)
        assert_int_equal(
            lap_rung_fell_back(LAP_OP_FILTER, falls[i].backend, &lap_filter_table[falls[i].rung]),
            falls[i].fell_back);
}

/* A device is started if a rung of the list can run there. */
static void test_start(void **state)
{
    (void)state;
    static const struct {
        const char *list, *why;
        const char *calls;
    } cases[] = {{NULL, NULL, "a"}, {"gpu", NULL, "a"}, {"card-old,card", NULL, "a"}, {"card-old", NULL, ""},
        {"c,auto", NULL, ""}, {NULL, "no card", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int fails = 0; fails < 2; fails++) {
            there = (struct device){.place = DEVICE, .fails = fails};
            why_card = cases[i].why;
            lap_rung_start_device(LAP_OP_FILTER, cases[i].list, DEVICE);
            assert_string_equal(there.calls, cases[i].calls);
            assert_true(there.alive == 0 && (!there.calls[0] || there.bytes[0] == 1));
        }
    there = (struct device){.place = DEVICE};
    lap_rung_start_device(LAP_OP_REDUCE, NULL, DEVICE);
    assert_string_equal(there.calls, "");
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

static lap_pool *pool; /* has one thread, so that pieces come in order */

static lap_view fake_view(int width, int height, int channels, ptrdiff_t stride)
{
    static uint8_t pixel;
    return (lap_view){.base = &pixel,
        .stride = stride,
        .width = width,
        .height = height,
        .channels = channels,
        .place = LAP_ON_HOST};
}

static void check_bands(const lap_view *views, bool is_out, int height, int rows)
{
    const lap_view whole = fake_view(views->width, height, views->channels, views->stride);
    assert_int_equal(told.calls, (height + rows - 1) / rows);
    for (int i = 0; i < told.calls; i++) {
        const int n = i + 1 < told.calls ? rows : height - i * rows;
        assert_int_equal(views[i].height, n);
        assert_int_equal(views[i].width, whole.width);
        assert_ptr_equal(views[i].base, whole.base + (is_out ? 1 : i * rows * whole.stride));
    }
}

static void test_pieces_of_filter(void **state)
{
    (void)state;
    static const int heights[] = {1, 48, 49, 96, 97, 383, 384, 480, 481, 9000}, threads[] = {1, 2, 3};
    const lap_params params = lap_params_default();
    for (int i = 0; i < 30; i++)
        for (int kind = 0; kind < 4; kind++) {
            const int height = heights[i % 10], use_threads = threads[i / 10];
            const bool splits = kind < 2, shares = kind == 0 && use_threads > 1;
            lap_rung rung = lap_filter_table[1];
            rung.threading = kind == 2 ? LAP_THREADS_ONE : kind == 3 ? LAP_THREADS_OWN : LAP_THREADS_SPLIT;
            lap_error err = {0};
            const lap_resources use = {
                .exec = {.threads = use_threads, .block_x = 9, .err = &err}, .pool = kind == 1 ? NULL : pool};
            const lap_view in = fake_view(10, height, 3, 64), out = fake_view(10, height, 3, 32);
            told = (struct told){.calls = 0};
            assert_int_equal(lap_rung_filter(&rung, &use, &in, &out, &params, LAP_ZERO), LAP_OK);
            const int least = height / (shares ? 4 * use_threads : 1) + 1;
            const int rows = least < 48 ? 48 : least > 480 ? 480 : least;
            check_bands(told.in, false, height, splits && rows < height ? rows : height);
            for (int k = 0; k < told.calls; k++)
                assert_ptr_equal(told.out[k].base, out.base + (told.in[k].base - in.base) / 2);
            assert_int_equal(told.exec.threads, splits && rows < height ? 1 : use_threads);
            assert_true(told.exec.block_x == 9 && told.exec.err && !told.exec.past_caches);
        }
    /* A result bypasses the caches only if it has more than 16 MB or the caller asks for it. */
    for (int i = 0; i < 4; i++) {
        const lap_resources use = {.exec = {.threads = 1, .past_caches = i == 3}};
        const lap_view in = fake_view(10, 15 + i % 3, 1, 16), out = fake_view(10, 15 + i % 3, 1, 1 << 20);
        told = (struct told){.calls = 0};
        assert_int_equal(lap_rung_filter(&lap_filter_table[0], &use, &in, &out, &params, LAP_ZERO), LAP_OK);
        assert_int_equal(told.exec.past_caches, i >= 2);
    }
}

static void test_pieces_of_transpose(void **state)
{
    (void)state;
    static const lap_rung rung = {.op = LAP_OP_TRANSPOSE,
        .name = "fake",
        .threading = LAP_THREADS_SPLIT,
        .run.transpose = host_transpose};
    static const int widths[] = {1, 127, 128, 129, 256, 500};
    for (int i = 0; i < 12; i++) {
        const int width = widths[i % 6], threads = 1 + i / 6;
        const lap_resources use = {.exec.threads = threads, .pool = pool};
        const lap_view in = fake_view(width, 9, 3, 2000), out = fake_view(9, width, 3, 50);
        told = (struct told){.calls = 0};
        assert_int_equal(lap_rung_transpose(&rung, &use, &in, &out), LAP_OK);
        assert_int_equal(told.calls, threads == 1 ? 1 : (width + 127) / 128);
        for (int k = 0; k < told.calls; k++) {
            const int n = threads == 1 || 128 * (k + 1) > width ? width - 128 * k : 128;
            assert_true(told.in[k].width == n && told.in[k].height == 9);
            assert_true(told.out[k].height == n && told.out[k].width == 9);
            assert_ptr_equal(told.in[k].base, in.base + k * 128 * 3);
            assert_ptr_equal(told.out[k].base, out.base + k * 128 * 50);
        }
    }
}

static void test_pieces_of_reduce(void **state)
{
    (void)state;
    enum { BLOCK = 1 << 16 };
    static const lap_rung rung = {
        .op = LAP_OP_REDUCE, .name = "fake", .threading = LAP_THREADS_SPLIT, .run.reduce = host_reduce};
    static const size_t sizes[] = {1, BLOCK - 1, BLOCK, BLOCK + 1, 10 * BLOCK, 255 * BLOCK, 256 * BLOCK - 1,
        256 * BLOCK, 256 * BLOCK + 1, 511 * BLOCK, 512 * BLOCK, 700 * BLOCK + 5};
    for (int i = 0; i < 24; i++) {
        const size_t n = sizes[i % 12], size = i < 12 ? sizeof(float) : sizeof(double);
        const lap_resources use = {.exec.threads = 2, .pool = pool};
        static const double none;
        const lap_array array = {&none, n, i >= 12, LAP_ON_HOST};
        double sum = -1;
        told = (struct told){.calls = 0};
        assert_int_equal(lap_rung_reduce(&rung, &use, &array, &sum), LAP_OK);
        assert_true(sum == (double)n);
        const size_t piece = (n / 256 / BLOCK + 1) * BLOCK; /* so that 256 sums suffice */
        assert_int_equal(told.calls, (n + piece - 1) / piece);
        for (int k = 0; k < told.calls; k++) {
            assert_int_equal(told.array[k].n, k + 1 < told.calls ? piece : n - (size_t)k * piece);
            assert_ptr_equal(told.array[k].base, (const char *)array.base + (size_t)k * piece * size);
            assert_int_equal(told.array[k].is_double, i >= 12);
        }
        const lap_resources alone = {.exec.threads = 1, .pool = pool};
        told = (struct told){.calls = 0};
        assert_int_equal(lap_rung_reduce(&rung, &alone, &array, &sum), LAP_OK);
        assert_true(told.calls == 1 && sum == (double)n);
    }
}

static void test_pieces_of_histogram(void **state)
{
    (void)state;
    enum { BYTES = 4 << 20 };
    static const lap_rung rung = {.op = LAP_OP_HISTOGRAM,
        .name = "fake",
        .threading = LAP_THREADS_SPLIT,
        .run.histogram = host_histogram};
    static const int sizes[][3] = {{1 << 20, 9, 4}, {1 << 20, 9, 1}, {(1 << 20) + 1, 9, 2}, {1 << 23, 3, 4},
        {1 << 22, 5, 1}, {10, 10, 1}};
    for (int i = 0; i < 6; i++) {
        const int rows = BYTES / (sizes[i][0] * sizes[i][2]) + 1;
        const lap_resources use = {.exec.threads = 2, .pool = pool};
        const lap_view in = fake_view(sizes[i][0], sizes[i][1], sizes[i][2], 64);
        uint64_t counts[4][256];
        told = (struct told){.calls = 0};
        for (int k = 0; k < 4 * 256; k++)
            counts[k / 256][k % 256] = 7;
        assert_int_equal(lap_rung_histogram(&rung, &use, &in, counts), LAP_OK);
        check_bands(told.in, false, sizes[i][1], rows);
        for (int k = 0; k < 4 * 256; k++)
            assert_int_equal(counts[k / 256][k % 256], 7 + told.calls * (k + 1));
    }
}

static void test_pieces_of_matvec(void **state)
{
    (void)state;
    static const lap_rung rung = {
        .op = LAP_OP_MATVEC, .name = "fake", .threading = LAP_THREADS_SPLIT, .run.matvec = host_matvec};
    static const size_t rows[] = {1, 63, 64, 65, 128, 200};
    static float memory[200 * 5], x[4], y[200];
    for (int i = 0; i < 12; i++) {
        const int threads = 1 + i / 6;
        const size_t n = rows[i % 6];
        const lap_resources use = {.exec.threads = threads, .pool = pool};
        const lap_gemv g = {memory, 5, n, 4, x, y, LAP_ON_HOST};
        told = (struct told){.calls = 0};
        assert_int_equal(lap_rung_matvec(&rung, &use, &g), LAP_OK);
        assert_int_equal(told.calls, threads == 1 ? 1 : (n + 63) / 64);
        for (int k = 0; k < told.calls; k++) {
            const lap_gemv *part = &told.gemv[k];
            assert_int_equal(part->rows, threads == 1 ? n : k + 1 < told.calls ? 64 : n - 64 * (size_t)k);
            assert_true(part->lda == 5 && part->cols == 4 && part->x == x);
            assert_ptr_equal(part->a, memory + (size_t)k * 64 * 5);
            assert_ptr_equal(part->y, y + (size_t)k * 64);
        }
    }
}

/* The message for a rung that fails, alone or in pieces; the rung's own message is kept. */
static void test_messages(void **state)
{
    (void)state;
    static const lap_code codes[] = {LAP_OK, LAP_E_MEMORY, LAP_E_DEVICE};
    static const char *const names[] = {"filter", "transpose", "reduce", "histogram", "matvec"};
    const lap_params params = lap_params_default();
    for (int i = 0; i < 5 * 3 * 2 * 2 * 2; i++) {
        const int op = i % 5;
        const lap_code code = codes[i / 5 % 3];
        const bool speaks = i / 15 % 2, in_pieces = i / 30 % 2, hears = i / 60 % 2;
        lap_rung rung = {.op = (lap_op)op, .name = "fake", .threading = LAP_THREADS_SPLIT};
        const lap_view v = fake_view(200, 200, 1, 1 << 15), wide = fake_view(1 << 14, 1000, 1, 1);
        const lap_array array = {&v, 1 << 20, false, LAP_ON_HOST};
        const lap_gemv g = {NULL, 0, 100, 0, NULL, NULL, LAP_ON_HOST};
        lap_error err = {0};
        double sum;
        uint64_t counts[4][256] = {0};
        const lap_resources use = {
            .exec = {.threads = in_pieces ? 2 : 1, .err = hears ? &err : NULL}, .pool = pool};
        told = (struct told){.code = code, .message = code != LAP_OK && speaks ? "its own words" : NULL};
        lap_code got = LAP_OK;
        switch (op) {
        case LAP_OP_FILTER:
            rung.run.filter = host_filter;
            got = lap_rung_filter(&rung, &use, &v, &v, &params, LAP_ZERO);
            break;
        case LAP_OP_TRANSPOSE:
            rung.run.transpose = host_transpose;
            got = lap_rung_transpose(&rung, &use, &v, &v);
            break;
        case LAP_OP_REDUCE:
            rung.run.reduce = host_reduce;
            got = lap_rung_reduce(&rung, &use, &array, &sum);
            break;
        case LAP_OP_HISTOGRAM:
            rung.run.histogram = host_histogram;
            got = lap_rung_histogram(&rung, &use, &wide, counts);
            break;
        default:
            rung.run.matvec = host_matvec;
            got = lap_rung_matvec(&rung, &use, &g);
        }
        char wanted[100] = "";
        if (code != LAP_OK && hears)
            snprintf(wanted, sizeof wanted, speaks ? "its own words" : "%s in the %s rung fake",
                code == LAP_E_MEMORY ? "out of memory" : lap_code_name(code), names[op]);
        assert_int_equal(got, code);
        assert_string_equal(err.message, wanted);
        assert_int_equal(told.calls > 1, in_pieces && code == LAP_OK);
    }
}

/* ---- on a device --------------------------------------------------------------------------------------- */

enum { W = 13, H = 7 };
static uint8_t pixels[(H + 4) * 64 + 256], result[W * H * 64];

static lap_view here(uint8_t *base, int width, int height, int channels, ptrdiff_t stride)
{
    return (lap_view){.base = base,
        .stride = stride,
        .width = width,
        .height = height,
        .channels = channels,
        .place = LAP_ON_HOST};
}

static int sample(int x, int y)
{
    return (17 * y + 5 * x) % 251;
}

static void fill(void)
{
    memset(pixels, 0x55, sizeof pixels);
    memset(result, 0, sizeof result);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            pixels[y * 64 + x] = (uint8_t)sample(x, y);
}

/* Returns what the device's filter computes if the whole apron has one value. */
static int filtered(int x, int y, int around)
{
    const bool left = x >= 2 && y >= 2, right = x < W - 2 && y < H - 2;
    return (uint8_t)((left ? sample(x - 2, y - 2) : around) + (right ? sample(x + 2, y + 2) : around) +
                     sample(x, y));
}

static lap_code run_pixels(int op, lap_times *times, uint64_t counts[4][256], lap_error *err)
{
    static const lap_rung rungs[] = {
        {.op = LAP_OP_FILTER, .name = "card", .device = 1, .run.filter = device_filter},
        {.op = LAP_OP_TRANSPOSE, .name = "card", .device = 1, .run.transpose = device_transpose},
        {.op = LAP_OP_HISTOGRAM, .name = "card", .device = 1, .run.histogram = device_histogram}};
    const lap_params params = lap_params_default();
    const lap_resources use = {
        .exec = {.threads = 5, .block_y = 4, .err = err}, .pool = pool, .device = DEVICE, .times = times};
    const lap_view in = here(pixels, W, H, 1, 64),
                   out = here(result, op == 1 ? H : W, op == 1 ? W : H, 1, 20);
    return op == 0   ? lap_rung_filter(&rungs[0], &use, &in, &out, &params, 200)
           : op == 1 ? lap_rung_transpose(&rungs[1], &use, &in, &out)
                     : lap_rung_histogram(&rungs[2], &use, &in, counts);
}

static void test_visits(void **state)
{
    (void)state;
    static const char *const calls[] = {"SEEEEVVrurbFrdrw", "SEEEEVVrurTrdrw", "SEEEEVrurHrrw"};
    for (int op = 0; op < 3; op++)
        for (int timed = 0; timed < 2; timed++) {
            char whole[40];
            snprintf(whole, sizeof whole, "%s%s", calls[op], timed ? "mmm" : "");
            const int count = (int)strlen(whole);
            for (int fails = 0; fails <= count; fails++) {
                lap_times times = {.upload = -1, .filter = -1, .download = -1};
                uint64_t counts[4][256] = {0};
                lap_error err = {0};
                char wanted[48];
                there = (struct device){.place = DEVICE, .fails = fails};
                told = (struct told){.calls = 0};
                fill();
                const lap_code code = run_pixels(op, timed ? &times : NULL, counts, &err);
                assert_int_equal(there.alive, 0);
                assert_int_equal(code, fails ? LAP_E_DEVICE : LAP_OK);
                /* The program waits for enqueued work before it frees the memory. */
                const bool waits = fails > 1 && fails < (int)strlen(calls[op]);
                snprintf(wanted, sizeof wanted, "%.*s%s", fails ? fails : count, whole, waits ? "w" : "");
                assert_string_equal(there.calls, wanted);
                snprintf(wanted, sizeof wanted, "call %d", fails);
                assert_string_equal(err.message, fails ? wanted : "");
                assert_true(timed && !fails ? times.upload == 1 && times.filter == 12 && times.download == 23
                                            : times.upload == -1 && times.filter == -1);
                if (fails)
                    continue;
                assert_true(told.exec.threads == 1 && told.exec.stream && told.exec.block_y == 4);
                assert_true(there.views[0].apron == (op == 0 ? LAP_APRON : 0));
                assert_int_equal(there.created, op == 2 ? 1 : 2);
                for (int y = 0; y < H; y++)
                    for (int x = 0; x < W; x++)
                        assert_int_equal(op == 0   ? result[y * 20 + x]
                                         : op == 1 ? result[x * 20 + y]
                                                   : sample(x, y),
                            op == 0 ? filtered(x, y, 200) : sample(x, y));
                uint64_t total = 0;
                for (int i = 0; i < 256; i++)
                    total += counts[0][i];
                assert_int_equal(total, op == 2 ? W * H : 0);
            }
        }
}

static void test_numbers(void **state)
{
    (void)state;
    static const lap_rung reduce = {.op = LAP_OP_REDUCE, .device = 1, .run.reduce = device_reduce};
    static const float floats[] = {1, 2, 4.5F};
    static const double doubles[] = {1, 2, 4.5};
    for (int is_double = 0; is_double < 2; is_double++)
        for (int fails = 0; fails <= 4; fails++) {
            lap_error err = {0};
            double sum = 0;
            const lap_array array = {
                is_double ? (const void *)doubles : floats, 3, is_double == 1, LAP_ON_HOST};
            const lap_resources use = {.exec = {.threads = 5, .err = &err}, .device = DEVICE};
            there = (struct device){.place = DEVICE, .fails = fails};
            told = (struct told){.calls = 0};
            assert_int_equal(lap_rung_reduce(&reduce, &use, &array, &sum), fails ? LAP_E_DEVICE : LAP_OK);
            assert_string_equal(there.calls, fails == 1   ? "a"
                                             : fails == 2 ? "ac"
                                             : fails == 3 ? "acw"
                                                          : "acwR");
            assert_int_equal(there.alive, 0);
            assert_true(fails || (sum == 7.5 && told.exec.threads == 1 && !told.exec.stream));
            assert_int_equal(there.bytes[0], 3 * (is_double ? sizeof(double) : sizeof(float)));
        }
}

static void test_products(void **state)
{
    (void)state;
    static const lap_rung rung = {.op = LAP_OP_MATVEC, .device = 1, .run.matvec = device_matvec};
    static const char whole[] = "acwacwacwMcw";
    static const float a[] = {1, 2, -9, 3, 4}, x[] = {10, 100};
    for (int fails = 0; fails <= 12; fails++) {
        float y[] = {1000, 2000};
        char wanted[20];
        lap_error err = {0};
        const lap_gemv g = {a, 3, 2, 2, x, y, LAP_ON_HOST};
        const lap_resources use = {.exec = {.threads = 5, .err = &err}, .device = DEVICE};
        there = (struct device){.place = DEVICE, .fails = fails};
        assert_int_equal(lap_rung_matvec(&rung, &use, &g), fails ? LAP_E_DEVICE : LAP_OK);
        snprintf(wanted, sizeof wanted, "%.*s", fails ? fails : 12, whole);
        assert_string_equal(there.calls, wanted);
        assert_int_equal(there.alive, 0);
        if (fails)
            continue;
        assert_true(y[0] == 1210 && y[1] == 2430);
        static const size_t bytes[] = {20, 20, 8, 8, 8, 8, 8};
        assert_memory_equal(there.bytes, bytes, sizeof bytes);
    }
    const lap_gemv none = {a, 3, 0, 2, x, (float[]){0}, LAP_ON_HOST};
    const lap_resources use = {.device = DEVICE};
    there = (struct device){.place = DEVICE};
    assert_int_equal(lap_rung_matvec(&rung, &use, &none), LAP_OK);
    assert_true(there.bytes[0] == 0 && there.bytes[2] == 8 && there.bytes[4] == 0);
}

/* ---- views on a device --------------------------------------------------------------------------------- */

/* Returns a picture on the device, with all bytes around it 9; `off` and `stride` decide whether it is
 * aligned. */
static lap_view there_view(uint8_t *memory, int apron, size_t off, ptrdiff_t stride)
{
    lap_view v = {.base = memory + 2 * 256 + ALIGNED + off,
        .stride = stride,
        .width = W,
        .height = H,
        .channels = 1,
        .apron = apron,
        .place = DEVICE};
    memset(memory, 9, 256 * (H + 5));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            v.base[y * stride + x] = (uint8_t)sample(x, y);
    return v;
}

static _Alignas(128) uint8_t source_memory[256 * (H + 5)], out_memory[256 * (H + 5)];

static void test_filter_of_views(void **state)
{
    (void)state;
    const lap_rung rung = {.op = LAP_OP_FILTER, .device = 1, .run.filter = device_filter};
    const lap_params params = lap_params_default();
    const lap_views_filter filter = {&rung, &params, 200};
    static const struct {
        int apron;
        size_t off, out_off;
        ptrdiff_t stride, out_stride;
        const char *calls;
    } cases[] = {{LAP_APRON, 0, 0, 128, 256, "F"}, {LAP_APRON, 1, 0, 128, 128, "VvF"},
        {LAP_APRON, 0, 0, 130, 128, "VvF"}, {LAP_APRON, 0, 64, 128, 128, "VFv"},
        {LAP_APRON, 0, 0, 256, 129, "VFv"}, {0, 0, 0, 128, 128, "VvbF"}, {0, 3, 5, 131, 133, "VvVbFv"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int count = (int)strlen(cases[i].calls);
        for (int fails = 0; fails <= count; fails++) {
            lap_views_space space = {0};
            lap_error err = {0};
            char wanted[20];
            const lap_view in = there_view(source_memory, cases[i].apron, cases[i].off, cases[i].stride),
                           out = there_view(out_memory, 0, cases[i].out_off, cases[i].out_stride);
            there = (struct device){.place = DEVICE, .fails = fails};
            told = (struct told){.calls = 0};
            assert_int_equal(lap_views_run_filter(&filter, &space, &in, &out, &there, &err),
                fails ? LAP_E_DEVICE : LAP_OK);
            snprintf(wanted, sizeof wanted, "%.*s", fails ? fails : count, cases[i].calls);
            assert_string_equal(there.calls, wanted);
            for (int y = 0; y < H && !fails; y++)
                for (int x = 0; x < W; x++)
                    assert_int_equal(out.base[y * out.stride + x], filtered(x, y, cases[i].apron ? 9 : 200));
            assert_true(fails || (told.exec.threads == 1 && told.exec.stream == &there));
            lap_views_space_free(&space);
            assert_int_equal(there.alive, 0);
        }
    }
}

/* Memory for copies is kept while it is large enough and on the same device. */
static void test_space(void **state)
{
    (void)state;
    static const struct {
        int place, width, height, channels;
        const char *calls;
    } steps[] = {{DEVICE, 40, 5, 1, "V"}, {DEVICE, 40, 5, 1, ""}, {DEVICE, 39, 4, 1, ""},
        {DEVICE, 128, 5, 1, ""}, {DEVICE, 32, 5, 4, ""}, {DEVICE, 129, 5, 1, "wV"}, {DEVICE, 129, 6, 1, "wV"},
        {DEVICE, 64, 6, 4, ""}, {DEVICE, 65, 6, 4, "wV"}};
    lap_views_space space = {0};
    lap_error err = {0};
    there = (struct device){.place = DEVICE};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const lap_view like = {.width = steps[i].width,
            .height = steps[i].height,
            .channels = steps[i].channels,
            .place = steps[i].place};
        lap_view v;
        memset(there.calls, 0, sizeof there.calls);
        there.count = there.created = 0;
        assert_int_equal(lap_views_result(&space, &like, NULL, &v, &err), LAP_OK);
        assert_string_equal(there.calls, steps[i].calls);
        assert_true(v.width == like.width && v.height == like.height && v.channels == like.channels);
        assert_true(v.base == space.result.base && v.stride == space.result.stride && v.place == DEVICE);
        assert_int_equal(there.alive, 1);
    }
    lap_views_space_free(&space);
    assert_int_equal(there.alive, 0);
    /* It lies on another device; and waiting for the work there fails. */
    uint8_t *other = aligned_alloc(ALIGNED, 4096);
    assert_non_null(other);
    space.result = (lap_view){other, 128, 40, 5, 1, 0, DEVICE};
    const lap_view like = {.width = 50, .height = 9, .channels = 1, .place = DEVICE};
    lap_view v;
    there = (struct device){.place = DEVICE, .fails = 1, .alive = 1};
    assert_int_equal(lap_views_result(&space, &like, NULL, &v, &err), LAP_E_DEVICE);
    assert_string_equal(there.calls, "w");
    assert_true(there.alive == 0 && !space.result.base);
}

static int many_calls;

static lap_code filter_many(
    const lap_view_pairs *pairs, lap_border border, const lap_params *params, const lap_exec *exec)
{
    (void)params, (void)exec;
    many_calls += pairs->count + border;
    return LAP_OK;
}

static void test_many(void **state)
{
    (void)state;
    lap_rung rung = {.op = LAP_OP_FILTER, .device = 1, .run.filter = device_filter};
    const lap_params params = lap_params_default();
    const lap_views_filter filter = {&rung, &params, 100};
    const lap_view in = there_view(source_memory, LAP_APRON, 0, 256), out = there_view(out_memory, 0, 0, 256);
    lap_view_pair rows[] = {{in, out}, {in, out}, {in, out}};
    const lap_view_pairs pairs = {rows, NULL, 3};
    lap_error err = {0};
    const lap_exec exec = {.threads = 1, .err = &err};
    static const char *const calls[] = {"bFbFbF", "b", "bF", "bFb", "bFbF"};
    for (int fails = 0; fails < 5; fails++) {
        there = (struct device){.place = DEVICE, .fails = fails};
        told = (struct told){.calls = 0};
        assert_int_equal(
            lap_views_fill_and_filter_many(&filter, &pairs, &exec), fails ? LAP_E_DEVICE : LAP_OK);
        assert_string_equal(there.calls, calls[fails]);
    }
    rung.filter_many = filter_many;
    there = (struct device){.place = DEVICE};
    assert_int_equal(lap_views_fill_and_filter_many(&filter, &pairs, &exec), LAP_OK);
    assert_true(there.count == 0 && many_calls == 103);
}

static void test_counts_and_downloads(void **state)
{
    (void)state;
    const lap_rung rung = {.op = LAP_OP_HISTOGRAM, .device = 1, .run.histogram = device_histogram};
    static const char *const calls[] = {"Hw", "VvHw"};
    for (int off = 0; off < 2; off++)
        for (int fails = 0; fails <= 4 - 2 * !off; fails++) {
            const lap_view v = there_view(source_memory, 0, (size_t)off, 256);
            lap_views_space space = {0};
            uint64_t counts[4][256] = {0};
            lap_error err = {0};
            char wanted[20];
            there = (struct device){.place = DEVICE, .fails = fails};
            told = (struct told){.calls = 0};
            assert_int_equal(
                lap_views_histogram(&rung, &space, &v, counts, &there, &err), fails ? LAP_E_DEVICE : LAP_OK);
            const int last = off ? 4 : 2;
            snprintf(wanted, sizeof wanted, "%.*s%s", fails ? fails : last, calls[off],
                fails && fails < last ? "w" : "");
            assert_string_equal(there.calls, wanted);
            for (int y = 0; y < H && !fails; y++)
                for (int x = 0; x < W; x++)
                    assert_true(counts[0][sample(x, y)] > 0);
            assert_true(fails || (told.exec.stream == &there && told.exec.threads == 1));
            lap_views_space_free(&space);
            assert_int_equal(there.alive, 0);
        }
    for (int fails = 0; fails <= 2; fails++) {
        const lap_view v = there_view(source_memory, 0, 1, 256), host = here(result, W, H, 1, W);
        lap_error err = {0};
        there = (struct device){.place = DEVICE, .fails = fails};
        assert_int_equal(lap_views_download(&v, &host, NULL, &err), fails ? LAP_E_DEVICE : LAP_OK);
        assert_string_equal(there.calls, "dw");
        assert_int_equal(result[W + 1], sample(1, 1));
    }
    there = (struct device){.place = DEVICE};
    assert_int_equal(lap_views_wait(DEVICE, NULL, NULL), LAP_OK);
    assert_string_equal(there.calls, "w");
}

/* ---- operations on pixels that lie on a device --------------------------------------------------------- */

static void test_filter(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(1, NULL);
    assert_non_null(context);
    const lap_params params = lap_params_default();
    static const struct {
        int apron;
        size_t off;
        const char *calls;
    } cases[] = {{LAP_APRON, 0, "ppFw"}, {0, 0, "ppVvbFw"}, {LAP_APRON, 1, "ppVvFw"}};
    for (int i = 0; i < 3; i++)
        for (int fails = 0; fails <= (int)strlen(cases[i].calls); fails++)
            for (int named = 0; named < 3; named++) {
                const lap_view in = there_view(source_memory, cases[i].apron, cases[i].off, 256),
                               out = there_view(out_memory, 0, 0, 256);
                lap_error err = {0};
                char wanted[20], said[20];
                there = (struct device){.place = DEVICE, .fails = fails};
                told = (struct told){.calls = 0};
                const int last = (int)strlen(cases[i].calls);
                const lap_code code = lap_filter(context, &in, &out,
                    named == 0   ? NULL
                    : named == 1 ? "auto"
                                 : "gpu",
                    &params, LAP_CONSTANT + 200, &err);
                assert_int_equal(code, fails ? LAP_E_DEVICE : LAP_OK);
                snprintf(wanted, sizeof wanted, "%.*s%s", fails ? fails : last, cases[i].calls,
                    fails > 2 && fails < last ? "w" : "");
                snprintf(said, sizeof said, "call %d", fails);
                assert_string_equal(there.calls, wanted);
                assert_string_equal(err.message, fails ? said : "");
                assert_int_equal(there.alive, 0);
                assert_true(fails || out.base[1] == filtered(1, 0, cases[i].apron ? 9 : 200));
            }
    /* A CPU's rung is refused, and so is a missing device. */
    const lap_view in = there_view(source_memory, 0, 0, 256), out = there_view(out_memory, 0, 0, 256);
    lap_error err = {0};
    there = (struct device){.place = DEVICE};
    assert_int_equal(lap_filter(context, &in, &out, "c", &params, LAP_ZERO, &err), LAP_E_USAGE);
    assert_string_equal(err.message, "backend 'c' runs on the CPU, and the pixels lie on device 3; for host "
                                     "memory, set place to LAP_ON_HOST");
    why_card = "no card";
    assert_int_equal(lap_filter(context, &in, &out, NULL, &params, LAP_ZERO, &err), LAP_E_BACKEND);
    assert_string_equal(there.calls, "");
    lap_context_destroy(context);
}

/* Pixels on the host, and a rung of a device: the device fills the apron, or gets the caller's apron as
 * pixels. */
static void test_whole_filter(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(1, NULL);
    assert_non_null(context);
    const lap_params params = lap_params_default();
    for (int apron = 0; apron <= LAP_APRON; apron += LAP_APRON)
        for (int fails = 0; fails <= 16; fails++) {
            lap_view in = there_view(source_memory, apron, 3, 77), out = here(result, W, H, 1, W + 3);
            lap_error err = {0};
            in.place = LAP_ON_HOST;
            memset(result, 0x77, sizeof result);
            there = (struct device){.place = 0, .fails = fails};
            told = (struct told){.calls = 0};
            assert_int_equal(lap_filter(context, &in, &out, "card", &params, LAP_CONSTANT + 200, &err),
                fails ? LAP_E_DEVICE : LAP_OK);
            assert_int_equal(there.alive, 0);
            for (int i = 0; i < (W + 3) * H; i++) {
                const int x = i % (W + 3), y = i / (W + 3);
                if (!fails || x >= W || fails < 14)
                    assert_int_equal(result[i], fails || x >= W ? 0x77 : filtered(x, y, apron ? 9 : 200));
            }
            assert_int_equal(told.calls ? told.in[0].width : W + 2 * apron, W + 2 * apron);
        }
    lap_context_destroy(context);
}

static void test_statistics(void **state)
{
    (void)state;
    lap_context *context = lap_context_create(1, NULL);
    assert_non_null(context);
    for (int fails = 0; fails <= 3; fails++) {
        const lap_view v = there_view(source_memory, 0, 0, 256);
        lap_stats stats;
        lap_error err = {0};
        there = (struct device){.place = DEVICE, .fails = fails};
        assert_int_equal(
            lap_stats_of_view(context, &v, "auto", DEVICE, -1, &stats, &err), fails ? LAP_E_DEVICE : LAP_OK);
        assert_string_equal(there.calls, fails == 1 ? "p" : "pHw");
        assert_int_equal(there.alive, 0);
        if (!fails)
            assert_int_equal(stats.channel[0].count, W * H);
    }
    /* A CPU's rung cannot count pixels on a device. */
    const lap_view v = there_view(source_memory, 0, 0, 256);
    lap_stats stats;
    lap_error err = {0};
    there = (struct device){.place = DEVICE};
    assert_int_equal(lap_stats_of_view(context, &v, "c", DEVICE, -1, &stats, &err), LAP_E_USAGE);
    assert_string_equal(err.message, "backend 'c' runs on the CPU, and the pixels lie on device 3; for host "
                                     "memory, set place to LAP_ON_HOST");
    assert_string_equal(there.calls, "");
    /* The pixels are downloaded first; this test's rung for products only records its calls. */
    for (int fails = 0; fails <= 3; fails++) {
        float rows[H], columns[W];
        there = (struct device){.place = DEVICE, .fails = fails};
        told = (struct told){.calls = 0};
        assert_int_equal(
            lap_profiles(context, &v, NULL, NULL, rows, columns, &err), fails ? LAP_E_DEVICE : LAP_OK);
        assert_string_equal(there.calls, fails == 1 ? "p" : "pdw");
        assert_int_equal(told.calls, fails ? 0 : 3);
    }
    lap_context_destroy(context);
}

static int make_pool(void **state)
{
    (void)state;
    pool = lap_pool_create(1, NULL);
    return pool ? 0 : -1;
}

static int end_pool(void **state)
{
    (void)state;
    lap_pool_destroy(pool);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_rows, set_up),
        cmocka_unit_test_setup(test_resolving, set_up),
        cmocka_unit_test_setup(test_info, set_up),
        cmocka_unit_test_setup(test_nearest, set_up),
        cmocka_unit_test_setup(test_lists, set_up),
        cmocka_unit_test_setup(test_walk, set_up),
        cmocka_unit_test_setup(test_devices, set_up),
        cmocka_unit_test_setup(test_start, set_up),
        cmocka_unit_test_setup(test_pieces_of_filter, set_up),
        cmocka_unit_test_setup(test_pieces_of_transpose, set_up),
        cmocka_unit_test_setup(test_pieces_of_reduce, set_up),
        cmocka_unit_test_setup(test_pieces_of_histogram, set_up),
        cmocka_unit_test_setup(test_pieces_of_matvec, set_up),
        cmocka_unit_test_setup(test_messages, set_up),
        cmocka_unit_test_setup(test_visits, set_up),
        cmocka_unit_test_setup(test_numbers, set_up),
        cmocka_unit_test_setup(test_products, set_up),
        cmocka_unit_test_setup(test_filter_of_views, set_up),
        cmocka_unit_test_setup(test_space, set_up),
        cmocka_unit_test_setup(test_many, set_up),
        cmocka_unit_test_setup(test_counts_and_downloads, set_up),
        cmocka_unit_test_setup(test_filter, set_up),
        cmocka_unit_test_setup(test_whole_filter, set_up),
        cmocka_unit_test_setup(test_statistics, set_up),
    };
    return cmocka_run_group_tests_name("run rung", tests, make_pool, end_pool);
}
