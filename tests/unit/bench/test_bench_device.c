/* The benches of all ladders on a device that is host memory: which bytes each run reads, what is copied,
 * what the rows say. Each call of CUDA fails in turn, and all memory is freed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/image.h"
#include "base/status.h"
#include "bench/bench.h"
#include "cuda/device/device.h"
#include "cuda/device/device_rungs.h"
#include "lapedge_program.h"
#include "rungs/backend.h"
#include "rungs/run_rung.h"

enum { DEVICE = 2, RUNS = 5, MOST = 200, STEP = 16 /* of a row's times */ };

/* ---- a device ------------------------------------------------------------------------------------------ */

static struct device {
    int count, fails; /* calls; which one fails, counted from 1; 0: none */
    int alive;        /* allocations */
    int rotation;     /* the buffers that it asks for */
    size_t set_bytes; /* for sets of so many bytes */
    int borders, uploads, syncs, batches;
    lap_border border;
    char runs[MOST]; /* what a timed job did: a letter for its source, one for its target */
    const void *known[26];
    size_t copied[MOST];
    int copies, length;
} there;

/* A letter for each address, in the order in which they are seen. */
static char letter(const void *address)
{
    int i = 0;
    while (i < 25 && there.known[i] && there.known[i] != address)
        i++;
    there.known[i] = address;
    return (char)('a' + i);
}

static void ran(const void *from, const void *to)
{
    const char first = letter(from), second = to ? letter(to) : 0;
    assert_true(there.length < MOST - 4);
    there.length += snprintf(there.runs + there.length, 4, to ? "%c%c " : "%c ", first, second);
}

static lap_code called(int device, lap_error *err)
{
    assert_int_equal(device, DEVICE);
    return ++there.count == there.fails ? lap_fail(err, LAP_E_DEVICE, "call %d", there.count) : LAP_OK;
}

lap_code __wrap_lap_cuda_alloc(int device, size_t bytes, void **memory, lap_error *err);
lap_code __wrap_lap_cuda_alloc(int device, size_t bytes, void **memory, lap_error *err)
{
    const lap_code code = called(device, err);
    *memory = code == LAP_OK ? calloc(1, bytes) : NULL;
    there.alive += *memory != NULL;
    return code;
}

void __wrap_lap_cuda_free(int device, void *memory);
void __wrap_lap_cuda_free(int device, void *memory)
{
    assert_int_equal(device, DEVICE);
    there.alive -= memory != NULL;
    free(memory);
}

static bool is_timed;
static size_t ceiling_bytes; /* of the copy on the host */
static int peaks;            /* how often multiply-adds were measured */

lap_code __wrap_lap_cuda_copy(
    int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_copy(
    int device, void *to, const void *from, size_t bytes, void *stream, lap_error *err)
{
    assert_int_equal(stream != NULL, is_timed);
    if (is_timed)
        ran(from, to);
    assert_true(there.copies < MOST);
    there.copied[there.copies++] = bytes;
    memmove(to, from, bytes);
    return called(device, err);
}

lap_code __wrap_lap_cuda_sync(int device, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_sync(int device, void *stream, lap_error *err)
{
    assert_null(stream);
    there.syncs++;
    return called(device, err);
}

lap_code __wrap_lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err);
lap_code __wrap_lap_cuda_view_create(
    int device, int width, int height, int channels, int apron, lap_view *view, lap_error *err)
{
    const lap_code code = called(device, err);
    lap_image image = {0};
    *view = (lap_view){0};
    if (code != LAP_OK)
        return code;
    assert_int_equal(lap_image_create(&image, width, height, channels, apron, NULL), LAP_OK);
    memset(image.memory, 0xEE, image.bytes);
    there.alive++;
    *view = image.view;
    view->place = DEVICE;
    return LAP_OK;
}

/* An image's memory begins before its interior; the same size tells how far. */
void __wrap_lap_cuda_view_destroy(lap_view *view);
void __wrap_lap_cuda_view_destroy(lap_view *view)
{
    if (!view->base)
        return;
    lap_image same;
    assert_int_equal(
        lap_image_create(&same, view->width, view->height, view->channels, view->apron, NULL), LAP_OK);
    free(view->base - (same.view.base - (uint8_t *)same.memory));
    lap_image_destroy(&same);
    there.alive--;
    *view = (lap_view){0};
}

static lap_code copied(const lap_view *from, const lap_view *to, void *stream, lap_error *err)
{
    assert_int_equal(stream != NULL, is_timed);
    if (is_timed)
        ran(from->base, to->base);
    there.uploads += !is_timed;
    lap_view_copy(from, to);
    return called(DEVICE, err);
}

lap_code __wrap_lap_cuda_upload(const lap_view *host, const lap_view *device, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_upload(const lap_view *host, const lap_view *device, void *stream, lap_error *err)
{
    assert_true(host->place == LAP_ON_HOST && device->place == DEVICE);
    return copied(host, device, stream, err);
}

lap_code __wrap_lap_cuda_download(const lap_view *device, const lap_view *host, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_download(const lap_view *device, const lap_view *host, void *stream, lap_error *err)
{
    assert_true(host->place == LAP_ON_HOST && device->place == DEVICE);
    return copied(device, host, stream, err);
}

lap_code __wrap_lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err);
lap_code __wrap_lap_cuda_border(const lap_view *view, lap_border border, void *stream, lap_error *err)
{
    assert_true(!stream && view->apron == LAP_APRON && view->place == DEVICE);
    there.borders++;
    there.border = border;
    return called(DEVICE, err);
}

static lap_code copied_by_kernel(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    assert_true(exec->stream && in->place == DEVICE && out->place == DEVICE);
    ran(in->base, out->base);
    return called(DEVICE, exec->err);
}

lap_code __wrap_lap_cuda_copy_kernel(const lap_view *in, const lap_view *out, const lap_exec *exec);
lap_code __wrap_lap_cuda_copy_kernel(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return copied_by_kernel(in, out, exec);
}

lap_code __wrap_lap_cuda_copy_shared(const lap_view *in, const lap_view *out, const lap_exec *exec);
lap_code __wrap_lap_cuda_copy_shared(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    return copied_by_kernel(in, out, exec);
}

int __wrap_lap_cuda_rotation(int device, size_t set_bytes);
int __wrap_lap_cuda_rotation(int device, size_t set_bytes)
{
    assert_int_equal(device, DEVICE);
    there.set_bytes = set_bytes;
    return there.rotation;
}

size_t __wrap_lap_cuda_scratch_bytes(size_t n, size_t size);
size_t __wrap_lap_cuda_scratch_bytes(size_t n, size_t size)
{
    return LAP_SCRATCH_HEAD + n * size + size;
}

/* Job i of batch b takes STEP * (4 * b + i + 1) ms, and one more from run to run. Only the rounds that count
 * are done. A bar separates jobs in the text of what was done. */
lap_code __wrap_lap_cuda_time(int device, const lap_cuda_job *jobs, int count, int runs, lap_error *err);
lap_code __wrap_lap_cuda_time(int device, const lap_cuda_job *jobs, int count, int runs, lap_error *err)
{
    static int stream;
    lap_code code = called(device, err);
    assert_int_equal(runs, RUNS);
    is_timed = true;
    for (int i = 0; i < count; i++) {
        for (int turn = 0; turn < runs && code == LAP_OK; turn++) {
            code = jobs[i].fn(jobs[i].argument, turn, &stream, err);
            jobs[i].ms[turn] = STEP * (4 * there.batches + i + 1) + turn;
        }
        there.length += snprintf(there.runs + there.length, 3, "| ");
    }
    is_timed = false;
    there.batches++;
    return code;
}

/* The host's ceilings take long, and others test them. */
lap_code __wrap_lap_bench_memcpy(
    lap_bench_run *run, lap_bench_row *row, size_t bytes, double pixels, lap_error *err);
lap_code __wrap_lap_bench_memcpy(
    lap_bench_run *run, lap_bench_row *row, size_t bytes, double pixels, lap_error *err)
{
    (void)run, (void)row, (void)pixels, (void)err;
    ceiling_bytes = bytes;
    return LAP_OK;
}

lap_code __wrap_lap_bench_peak(lap_bench_run *run, const lap_bench_row *row, lap_error *err);
lap_code __wrap_lap_bench_peak(lap_bench_run *run, const lap_bench_row *row, lap_error *err)
{
    (void)run, (void)row, (void)err;
    peaks++;
    return LAP_OK;
}

/* ---- a rung -------------------------------------------------------------------------------------------- */

static bool is_wrong, is_broken; /* its result, on the host */
static const void *scratch;      /* the one of the last timed run */
static bool was_unchecked;

static lap_code timed(const lap_exec *exec, const void *from, const void *to)
{
    assert_true(exec->stream && exec->threads == 1);
    ran(from, to);
    scratch = exec->scratch;
    was_unchecked = exec->unchecked;
    return called(DEVICE, exec->err);
}

static lap_code card_filter(
    const lap_view *in, const lap_view *out, const lap_params *params, const lap_exec *exec)
{
    assert_true(params->scale == 2 && in->place == DEVICE && exec->block_x == 8 && exec->block_y == 4);
    return timed(exec, in->base, out->base);
}

static lap_code card_transpose(const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    assert_true(in->place == DEVICE && in->width == out->height && in->height == out->width);
    return timed(exec, in->base, out->base);
}

static lap_code card_reduce(const lap_array *in, double *sum, const lap_exec *exec)
{
    (void)sum;
    assert_true(in->place == DEVICE && in->n == 1001 && exec->scratch);
    const double first = in->is_double ? *(const double *)in->base : (double)*(const float *)in->base;
    assert_true(fabs(first - 2.5) < 1e-6);
    return timed(exec, in->base, NULL);
}

static lap_code card_histogram(const lap_view *in, uint64_t counts[4][256], const lap_exec *exec)
{
    assert_true(in->place == DEVICE && !counts && exec->scratch);
    return timed(exec, in->base, NULL);
}

static lap_code card_matvec(const lap_gemv *g, const lap_exec *exec)
{
    assert_true(g->place == DEVICE && g->rows == 64 && g->cols == 64 && g->lda == 64);
    assert_true(g->x[0] == -4 && g->x[13] == 0);
    return timed(exec, g->a, g->y);
}

static lap_rung card = {.name = "card", .device = 1, .flags = "-flags", .unchecked = true};

/* Each ladder has its reference, and the card. */
lap_code __wrap_lap_rung_walk(lap_op op, const char *list, const lap_control *control,
    lap_rung_visit_fn *visit, void *user, lap_error *err);
lap_code __wrap_lap_rung_walk(lap_op op, const char *list, const lap_control *control,
    lap_rung_visit_fn *visit, void *user, lap_error *err)
{
    (void)control;
    (void)list;
    card.op = op;
    switch (op) {
    case LAP_OP_FILTER:
        card.run.filter = card_filter;
        break;
    case LAP_OP_TRANSPOSE:
        card.run.transpose = card_transpose;
        break;
    case LAP_OP_REDUCE:
        card.run.reduce = card_reduce;
        break;
    case LAP_OP_HISTOGRAM:
        card.run.histogram = card_histogram;
        break;
    default:
        card.run.matvec = card_matvec;
    }
    const lap_code code = visit(user, &card, &card, NULL, NULL, err);
    return code == LAP_OK ? visit(user, &card, &card, NULL, NULL, err) : code; /* the same rung, again */
}

/* From host memory to host memory the card gives what the reference gives, unless it is wrong. */
lap_code __wrap_lap_rung_filter(const lap_rung *rung, const lap_resources *use, const lap_view *in,
    const lap_view *out, const lap_params *params, lap_border border);
lap_code __wrap_lap_rung_filter(const lap_rung *rung, const lap_resources *use, const lap_view *in,
    const lap_view *out, const lap_params *params, lap_border border)
{
    const lap_code code =
        lap_rung_reference(LAP_OP_FILTER)->run.filter(in, out, params, &(lap_exec){.threads = 1});
    assert_int_equal(border, LAP_WRAP);
    if (rung == &card && is_wrong)
        out->base[3 * out->stride + 3 * 7 + 1] ^= 16;
    if (rung == &card)
        assert_true(use->device == DEVICE && !use->exec.scratch);
    return rung == &card && is_broken ? lap_fail(use->exec.err, LAP_E_DEVICE, "gone") : code;
}

lap_code __wrap_lap_rung_transpose(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, const lap_view *out);
lap_code __wrap_lap_rung_transpose(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, const lap_view *out)
{
    const lap_code code =
        lap_rung_reference(LAP_OP_TRANSPOSE)->run.transpose(in, out, &(lap_exec){.threads = 1});
    if (is_wrong)
        out->base[5 * out->stride + out->width * out->channels - 1] ^= 1;
    assert_true(rung == &card && use->device == DEVICE && !use->exec.scratch);
    return is_broken ? LAP_E_DEVICE : code;
}

lap_code __wrap_lap_rung_reduce(
    const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum);
lap_code __wrap_lap_rung_reduce(
    const lap_rung *rung, const lap_resources *use, const lap_array *in, double *sum)
{
    const lap_code code = lap_rung_reference(LAP_OP_REDUCE)->run.reduce(in, sum, &(lap_exec){.threads = 1});
    *sum += is_wrong;
    assert_true(rung == &card && use->device == DEVICE && !use->exec.scratch);
    return is_broken ? LAP_E_DEVICE : code;
}

lap_code __wrap_lap_rung_histogram(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, uint64_t counts[4][256]);
lap_code __wrap_lap_rung_histogram(
    const lap_rung *rung, const lap_resources *use, const lap_view *in, uint64_t counts[4][256])
{
    const lap_code code =
        lap_rung_reference(LAP_OP_HISTOGRAM)->run.histogram(in, counts, &(lap_exec){.threads = 1});
    counts[2][255] += is_wrong;
    assert_true(rung == &card && use->device == DEVICE && !use->exec.scratch);
    return is_broken ? LAP_E_DEVICE : code;
}

lap_code __wrap_lap_rung_matvec(const lap_rung *rung, const lap_resources *use, const lap_gemv *g);
lap_code __wrap_lap_rung_matvec(const lap_rung *rung, const lap_resources *use, const lap_gemv *g)
{
    const lap_code code = lap_rung_reference(LAP_OP_MATVEC)->run.matvec(g, &(lap_exec){.threads = 1});
    g->y[63] += is_wrong;
    assert_true(rung == &card && use->device == DEVICE && !use->exec.scratch);
    return is_broken ? LAP_E_DEVICE : code;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static struct rows {
    lap_bench_row row[40];
    char reason[40][200];
    int count;
} rows;

static void keep(void *user, const lap_bench_row *row)
{
    (void)user;
    assert_true(rows.count < 40);
    snprintf(rows.reason[rows.count], sizeof *rows.reason, "%s", row->reason ? row->reason : "");
    rows.row[rows.count++] = *row;
}

static lap_context *context;

static lap_code bench(lap_op op, const char *type, bool warm, int fails, lap_error *err)
{
    const int rotation = there.rotation;
    lap_bench_options options = {.width = 33,
        .height = 19,
        .channels = 3,
        .runs = RUNS,
        .threads = 1,
        .params = lap_params_default(),
        .border = LAP_WRAP,
        .block_x = 8,
        .block_y = 4,
        .n = op == LAP_OP_MATVEC ? 64 : 1001,
        .value = 2.5,
        .type = type,
        .warm = warm,
        .device = DEVICE,
        .backends = "card"};
    options.params.scale = 2;
    there = (struct device){.fails = fails, .rotation = rotation};
    rows = (struct rows){.count = 0};
    scratch = NULL;
    peaks = 0;
    return lap_bench(context, op, &options, keep, NULL, err);
}

/* A row of the card or of a copy: job i of batch b moved so many bytes in the median of its runs. */
static void check_row(int at, const char *name, int job, double bytes, const char *form)
{
    const lap_bench_row *row = &rows.row[at];
    const double median = STEP * job + 2;
    const bool is_card = strcmp(name, "card") == 0;
    assert_true(at < rows.count);
    assert_string_equal(row->backend, name);
    assert_string_equal(row->resolved, name);
    assert_string_equal(rows.reason[at], "");
    if (is_card)
        assert_string_equal(row->flags, "-flags");
    assert_int_equal(row->runs, RUNS);
    assert_true(row->median_ms == median && row->kernel_ms == median && row->min_ms == median - 2);
    assert_true(row->max_ms == median + 2 && row->mean_ms == median && isnan(row->speedup));
    assert_true(fabs(row->gb_per_s - bytes / median / 1e6) < 1e-12);
    if (form)
        assert_string_equal(row->form, form);
    else
        assert_null(row->form);
}

static void check_shape(lap_op op, int width, int height, int channels, const char *type)
{
    for (int i = 0; i < rows.count; i++) {
        const lap_bench_row *row = &rows.row[i];
        assert_true(
            row->op == op && row->width == width && row->height == height && row->channels == channels);
        assert_true(row->threads == 1);
        if (type)
            assert_string_equal(row->type, type);
        else
            assert_null(row->type);
    }
}

/* The rung first, then the copy by itself; transfers last. */
static void test_filter(void **state)
{
    (void)state;
    const double bytes = 33 * 19 * 3;
    lap_error err = {0};
    there.rotation = 3;
    assert_int_equal(bench(LAP_OP_FILTER, NULL, false, 0, &err), LAP_OK);
    assert_string_equal(there.runs, "ab cd ef ab cd | ab cd ef ab cd | ga gc ge ga gc | bh dh fh bh dh | ");
    assert_int_equal(there.set_bytes, 2 * bytes);
    assert_true(ceiling_bytes == bytes && peaks == 1);
    assert_true(there.borders == 3 && there.uploads == 3 && there.border == LAP_WRAP && there.alive == 0);
    assert_int_equal(rows.count, 3);
    check_row(0, "copy", 5, 2 * bytes, NULL);
    check_row(1, "card", 1, 2 * bytes, NULL);
    check_row(2, "card", 1, 2 * bytes, NULL);
    check_shape(LAP_OP_FILTER, 33, 19, 3, NULL);
    assert_true(rows.row[0].roof_share == 1);
    assert_true(fabs(rows.row[1].roof_share - rows.row[1].gb_per_s / rows.row[0].gb_per_s) < 1e-12);
    assert_true(rows.row[1].upload_ms == STEP * 9 + 2 && rows.row[1].download_ms == STEP * 13 + 2);
    assert_true(rows.row[1].first_ms > 0 && rows.row[1].end_to_end_ms > 0);
    assert_true(fabs(rows.row[1].flops_per_byte - 24.5) < 1e-12 && isnan(rows.row[0].flops_per_byte));
    assert_true(isnan(rows.row[0].upload_ms) && isnan(rows.row[1].convert_ms));
    for (int copies = 1; copies <= 100; copies += 99) { /* one buffer, or as many as there may be */
        there.rotation = copies == 1 ? 3 : 100;
        assert_int_equal(bench(LAP_OP_FILTER, "u8", copies == 1, 0, &err), LAP_OK);
        assert_int_equal(there.uploads, copies == 1 ? 1 : 64);
        assert_int_equal(there.alive, 0);
    }
}

static void test_transpose(void **state)
{
    (void)state;
    lap_error err = {0};
    static const char *const types[] = {NULL, "f32", "f64"};
    for (int i = 0; i < 3; i++) {
        const double bytes = 33 * 19 * (i ? 4 * i : 3);
        there.rotation = 3;
        assert_int_equal(bench(LAP_OP_TRANSPOSE, types[i], false, 0, &err), LAP_OK);
        assert_string_equal(
            there.runs, "ab cd ef ab cd | cd ef ab cd ef | ac ce ea ac ce | ac ce ea ac ce | ");
        assert_true(there.set_bytes == 2 * bytes && there.borders == 0 && there.alive == 0);
        assert_true(ceiling_bytes == bytes && peaks == 0);
        assert_true(there.copied[0] == bytes && there.copies == RUNS);
        assert_int_equal(rows.count, 5);
        check_row(0, "copy", 2, 2 * bytes, NULL);
        check_row(1, "copy-kernel", 3, 2 * bytes, NULL);
        check_row(2, "copy-shared", 4, 2 * bytes, NULL);
        check_row(3, "card", 1, 2 * bytes, NULL);
        check_row(4, "card", 1, 2 * bytes, NULL);
        check_shape(LAP_OP_TRANSPOSE, 33, 19, i ? 1 : 3, types[i]);
        assert_true(rows.row[0].roof_share == 1 && rows.row[1].roof_share < 1);
        assert_true(isnan(rows.row[3].flops_per_byte) && isnan(rows.row[3].first_ms));
    }
    there.rotation = 1; /* nothing to copy to */
    assert_int_equal(bench(LAP_OP_TRANSPOSE, NULL, false, 0, &err), LAP_OK);
    assert_string_equal(there.runs, "ab ab ab ab ab | ab ab ab ab ab | ");
    assert_int_equal(rows.count, 3);
}

static void test_reduce(void **state)
{
    (void)state;
    lap_error err = {0};
    for (int is_double = 0; is_double < 2; is_double++) {
        const size_t bytes = 1001 * (is_double ? 8 : 4);
        there.rotation = 4;
        assert_int_equal(bench(LAP_OP_REDUCE, is_double ? "f64" : "f32", false, 0, &err), LAP_OK);
        assert_string_equal(there.runs, "a b c d a | ce de ae be ce | ");
        assert_int_equal(there.set_bytes, bytes);
        assert_true(ceiling_bytes == bytes && peaks == 1);
        assert_true(there.alive == 0 && there.copies == 5 + RUNS);
        for (int i = 0; i < 4; i++)
            assert_int_equal(there.copied[i], bytes);
        assert_int_equal(there.copied[4], LAP_SCRATCH_HEAD);
        assert_int_equal(there.copied[5], bytes / 512 * 256);
        assert_int_equal(rows.count, 3);
        check_row(0, "copy", 2, (double)(bytes / 512 * 512), NULL);
        check_row(1, "card", 1, (double)bytes, NULL);
        check_shape(LAP_OP_REDUCE, 1001, 1, 1, is_double ? "f64" : "f32");
        assert_true(rows.row[1].value == 2502.5 && rows.row[1].relative_error == 0);
        assert_true(fabs(rows.row[1].flops_per_byte - (is_double ? 0.125 : 0.25)) < 1e-12);
    }
    assert_int_equal(bench(LAP_OP_REDUCE, NULL, true, 0, &err), LAP_OK);
    assert_int_equal(rows.count, 5); /* both types; the copy is the ceiling of both */
}

static void test_histogram(void **state)
{
    (void)state;
    const double bytes = 33 * 19 * 3;
    lap_error err = {0};
    there.rotation = 3;
    assert_int_equal(bench(LAP_OP_HISTOGRAM, NULL, false, 0, &err), LAP_OK);
    assert_string_equal(there.runs, "a b c a b | ab bc ca ab bc | ");
    assert_true(ceiling_bytes == bytes && peaks == 0);
    assert_true(there.set_bytes == bytes && there.borders == 0 && there.uploads == 3 && there.alive == 0);
    assert_true(there.copied[0] == LAP_SCRATCH_HEAD && there.copied[1] == bytes && there.copies == 1 + RUNS);
    assert_int_equal(rows.count, 3);
    check_row(0, "copy", 2, 2 * bytes, NULL);
    check_row(1, "card", 1, bytes, NULL);
    check_shape(LAP_OP_HISTOGRAM, 33, 19, 3, NULL);
    assert_true(isnan(rows.row[1].flops_per_byte));
    assert_int_equal(bench(LAP_OP_HISTOGRAM, "u8", true, 0, &err), LAP_OK);
    assert_string_equal(there.runs, "a a a a a | "); /* nothing to copy to */
    assert_int_equal(rows.count, 2);
}

/* A second form, without bounds checks; there is no copy. */
static void test_matvec(void **state)
{
    (void)state;
    const double bytes = (64 * 64 + 2 * 64) * 4;
    lap_error err = {0};
    assert_int_equal(bench(LAP_OP_MATVEC, NULL, false, 0, &err), LAP_OK);
    assert_string_equal(there.runs, "ab ab ab ab ab | ab ab ab ab ab | ");
    assert_true(there.alive == 0 && there.copies == 2 && was_unchecked);
    assert_true(ceiling_bytes == bytes && peaks == 1);
    assert_true(there.copied[0] == 64 * 64 * 4 && there.copied[1] == 64 * 4);
    assert_int_equal(rows.count, 4);
    check_row(0, "card", 1, bytes, NULL);
    check_row(1, "card", 5, bytes, "unchecked");
    check_row(2, "card", 1, bytes, NULL);
    check_row(3, "card", 5, bytes, "unchecked");
    check_shape(LAP_OP_MATVEC, 64, 64, 1, "f32");
    assert_true(fabs(rows.row[0].flops_per_byte - 0.5) < 1e-12 && isnan(rows.row[0].roof_share));
}

/* ---- what is refused, and what fails ---------------------------------------------------------------------
 */

static void test_wrong_results(void **state)
{
    (void)state;
    static const struct {
        lap_op op;
        const char *type, *wrong, *broken;
    } cases[] = {{LAP_OP_FILTER, NULL, "refused: at x=7 y=3 channel 1 it gives ", "failed: gone"},
        {LAP_OP_TRANSPOSE, NULL, "refused: row 5 of its result differs from c's", "failed: device"},
        {LAP_OP_REDUCE, "f64", "refused: whole numbers sum to 3500004, c gives 3500003", "failed: device"},
        {LAP_OP_HISTOGRAM, NULL, "refused: value 255 of channel 2: c counts ", "failed: device"},
        {LAP_OP_MATVEC, NULL, "refused: row 63 gives ", "failed: device"}};
    for (int i = 0; i < 5; i++)
        for (int fails = 0; fails < 2; fails++) {
            lap_error err = {0};
            is_wrong = !fails, is_broken = fails;
            const char *want = fails ? cases[i].broken : cases[i].wrong;
            assert_int_equal(bench(cases[i].op, cases[i].type, false, 0, &err), LAP_OK);
            is_wrong = is_broken = false;
            assert_int_equal(rows.count, cases[i].op == LAP_OP_MATVEC ? 4 : 2);
            for (int k = 0; k < rows.count; k++) {
                if (strncmp(rows.reason[k], want, strlen(want)) != 0)
                    fail_msg("%s", rows.reason[k]);
                assert_true(rows.row[k].runs == 0 && isnan(rows.row[k].median_ms));
            }
            assert_true(there.count == 0 && there.length == 0); /* nothing is timed */
        }
}

static void test_each_call_fails(void **state)
{
    (void)state;
    static const lap_op ops[] = {
        LAP_OP_FILTER, LAP_OP_TRANSPOSE, LAP_OP_REDUCE, LAP_OP_HISTOGRAM, LAP_OP_MATVEC};
    for (int i = 0; i < 5; i++) {
        int calls = 1;
        for (int fails = 0; fails <= calls; fails++) {
            const char *type = ops[i] == LAP_OP_REDUCE ? "f64" : NULL;
            lap_error err = {0};
            char said[32];
            there.rotation = 2;
            const lap_code code = bench(ops[i], type, false, fails, &err);
            calls = fails == 0 ? there.count : calls;
            snprintf(said, sizeof said, "call %d", fails);
            assert_int_equal(code, fails ? LAP_E_DEVICE : LAP_OK);
            assert_string_equal(err.message, fails ? said : "");
            assert_int_equal(there.alive, 0);
            assert_int_equal(there.count, fails ? fails : calls);
        }
        assert_true(calls > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_filter), cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_reduce), cmocka_unit_test(test_histogram), cmocka_unit_test(test_matvec),
        cmocka_unit_test(test_wrong_results), cmocka_unit_test(test_each_call_fails)};
    lap_error err = {0};
    context = lap_context_create(1, &err);
    if (!context)
        return 1;
    const int failed = cmocka_run_group_tests_name("bench_device", tests, NULL, NULL);
    lap_context_destroy(context);
    return failed;
}
