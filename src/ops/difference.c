/* Measures how much two images differ. Sums are integers until the last step, so that results do not depend
 * on the order of summing; only SSIM is a floating-point sum, in raster order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

enum { WINDOW = 11, LEVELS = 255 };

typedef struct region { /* the rectangle that is compared */
    int x0, y0, x1, y1;
} region;

static const uint8_t *sample(const lap_view *v, int x, int y)
{
    return v->base + y * v->stride + (ptrdiff_t)x * v->channels;
}

static bool at_border(const lap_view *v, int x, int y)
{
    return x < LAP_APRON || y < LAP_APRON || x >= v->width - LAP_APRON || y >= v->height - LAP_APRON;
}

typedef struct sums {
    uint64_t absolute, squared;
} sums;

static void compare_row(
    const lap_view *a, const lap_view *b, const region *r, int y, lap_difference *d, sums *s)
{
    const uint8_t *pa = sample(a, r->x0, y), *pb = sample(b, r->x0, y);
    /* Most rows are equal: memcmp is the fast path of the whole comparison. */
    if (!memcmp(pa, pb, (size_t)(r->x1 - r->x0) * (size_t)a->channels))
        return;
    for (int x = r->x0; x < r->x1; x++) {
        bool differs = false;
        for (int c = 0; c < a->channels; c++, pa++, pb++) {
            int delta = abs(*pa - *pb);
            if (!delta)
                continue;
            if (d->identical) {
                d->identical = false;
                d->first_x = x;
                d->first_y = y;
                d->first_channel = c;
                d->first_a = *pa;
                d->first_b = *pb;
                d->first_at_border = at_border(a, x, y);
            }
            differs = true;
            d->max_abs = delta > d->max_abs ? delta : d->max_abs;
            s->absolute += (unsigned)delta;
            s->squared += (unsigned)(delta * delta);
        }
        d->differing_pixels += differs;
        d->differing_border += differs && at_border(a, x, y);
    }
}

/* ---- SSIM --------------------------------------------------------------------------------------- */

typedef struct moments { /* weighted means of a, b, a^2, b^2 and ab over a window */
    double a, b, aa, bb, ab;
} moments;

static double index_of(const moments *m)
{
    const double c1 = 0.01 * LEVELS * 0.01 * LEVELS, c2 = 0.03 * LEVELS * 0.03 * LEVELS;
    double va = m->aa - m->a * m->a, vb = m->bb - m->b * m->b, cov = m->ab - m->a * m->b;
    return (2 * m->a * m->b + c1) * (2 * cov + c2) / ((m->a * m->a + m->b * m->b + c1) * (va + vb + c2));
}

static void gaussian(double g[WINDOW])
{
    double total = 0;
    for (int i = 0; i < WINDOW; i++)
        total += g[i] = exp(-(i - WINDOW / 2) * (i - WINDOW / 2) / (2 * 1.5 * 1.5));
    for (int i = 0; i < WINDOW; i++)
        g[i] /= total;
}

/* Applies the horizontal half of the window at every position of one row, channels interleaved. */
static void filter_row(
    const lap_view *a, const lap_view *b, const region *r, int y, const double g[WINDOW], moments *out)
{
    int ch = a->channels, n = (r->x1 - r->x0 - WINDOW + 1) * ch;
    const uint8_t *pa = sample(a, r->x0, y), *pb = sample(b, r->x0, y);
    for (int i = 0; i < n; i++) {
        moments m = {0};
        for (int k = 0; k < WINDOW; k++) {
            double va = pa[i + k * ch], vb = pb[i + k * ch];
            m.a += g[k] * va;
            m.b += g[k] * vb;
            m.aa += g[k] * va * va;
            m.bb += g[k] * vb * vb;
            m.ab += g[k] * va * vb;
        }
        out[i] = m;
    }
}

static double sum_of_row(moments *const rows[WINDOW], const double g[WINDOW], int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        moments m = {0};
        for (int k = 0; k < WINDOW; k++) {
            const moments *p = &rows[k][i];
            m.a += g[k] * p->a;
            m.b += g[k] * p->b;
            m.aa += g[k] * p->aa;
            m.bb += g[k] * p->bb;
            m.ab += g[k] * p->ab;
        }
        sum += index_of(&m);
    }
    return sum;
}

/* Sets d->ssim. Every window of identical regions has the index 1, so none is computed. */
static lap_code mean_ssim(
    const lap_view *a, const lap_view *b, const region *r, lap_difference *d, lap_error *err)
{
    int columns = r->x1 - r->x0 - WINDOW + 1, lines = r->y1 - r->y0 - WINDOW + 1;
    double g[WINDOW], sum = 0;
    size_t n, bytes;
    if (columns < 1 || lines < 1)
        return LAP_OK;
    if (d->identical) {
        d->ssim = 1;
        return LAP_OK;
    }
    n = (size_t)columns * (size_t)a->channels;
    moments *memory = lap_mul(n, WINDOW * sizeof(moments), &bytes) ? malloc(bytes) : NULL;
    if (!memory)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for SSIM");
    gaussian(g);
    for (int y = r->y0; y < r->y1; y++) {
        moments *rows[WINDOW];
        filter_row(a, b, r, y, g, memory + (size_t)((y - r->y0) % WINDOW) * n);
        for (int k = 0; k < WINDOW; k++)
            rows[k] = memory + (size_t)((y - r->y0 + 1 + k) % WINDOW) * n;
        if (y - r->y0 >= WINDOW - 1)
            sum += sum_of_row(rows, g, (int)n);
    }
    free(memory);
    d->ssim = sum / ((double)n * lines);
    return LAP_OK;
}

/* ---- all measures ------------------------------------------------------------------------------ */

static lap_code check_view(const lap_view *v, lap_error *err)
{
    if (v->place != LAP_ON_HOST)
        return lap_fail(err, LAP_E_USAGE,
            "a view lies on device %d; only views in host memory, whose place is LAP_ON_HOST, are compared",
            v->place);
    if (!v->base || v->width < 1 || v->height < 1 || v->channels < 1)
        return lap_fail(err, LAP_E_USAGE, "a view has no pixels (%dx%d, %d channels, %s)", v->width,
            v->height, v->channels, v->base ? "base is set" : "base is NULL");
    return LAP_OK;
}

lap_code lap_compare_views(
    const lap_view *a, const lap_view *b, int mask_border, bool with_ssim, lap_difference *d, lap_error *err)
{
    if (check_view(a, err) != LAP_OK || check_view(b, err) != LAP_OK)
        return LAP_E_USAGE;
    if (a->width != b->width || a->height != b->height)
        return lap_fail(
            err, LAP_E_DIFFERENT, "sizes differ: %dx%d and %dx%d", a->width, a->height, b->width, b->height);
    if (a->channels != b->channels)
        return lap_fail(err, LAP_E_DIFFERENT, "channels differ: %d and %d", a->channels, b->channels);
    if (mask_border < 0 || mask_border > (a->width - 1) / 2 || mask_border > (a->height - 1) / 2)
        return lap_fail(err, LAP_E_DIFFERENT, "a border of %d pixels covers all of %dx%d", mask_border,
            a->width, a->height);
    region r = {mask_border, mask_border, a->width - mask_border, a->height - mask_border};
    sums s = {0};
    *d = (lap_difference){.identical = true, .first_x = -1, .first_y = -1, .psnr = NAN, .ssim = NAN};
    d->pixels = (uint64_t)(r.x1 - r.x0) * (uint64_t)(r.y1 - r.y0);
    d->samples = d->pixels * (uint64_t)a->channels;
    for (int y = r.y0; y < r.y1; y++)
        compare_row(a, b, &r, y, d, &s);
    d->mean_abs = (double)s.absolute / (double)d->samples;
    d->rmse = sqrt((double)s.squared / (double)d->samples);
    if (!d->identical)
        d->psnr = 20 * log10(LEVELS / d->rmse);
    return with_ssim ? mean_ssim(a, b, &r, d, err) : LAP_OK;
}

/* ---- ignored differences ------------------------------------------------------------------------- */

static bool is_near(const uint8_t *a, const uint8_t *b, int channels, int threshold)
{
    for (int c = 0; c < channels; c++)
        if (abs(a[c] - b[c]) > threshold)
            return false;
    return true;
}

static bool is_masked(const lap_view *v, int x, int y, int mask)
{
    return x < mask || y < mask || x >= v->width - mask || y >= v->height - mask;
}

static bool excuse_near(const lap_view *a, const lap_view *b, const lap_diff_rules *rules)
{
    bool any = false;
    for (int y = 0; y < a->height; y++)
        for (int x = 0; x < a->width; x++) {
            const uint8_t *from = sample(a, x, y);
            uint8_t *to = b->base + y * b->stride + (ptrdiff_t)x * b->channels;
            const size_t size = (size_t)a->channels;
            if (!memcmp(to, from, size) || !is_near(from, to, a->channels, rules->pixel_threshold))
                continue;
            any = any || !is_masked(a, x, y, rules->mask_border);
            memcpy(to, from, size);
        }
    return any;
}

static int clipped(int64_t value, int limit)
{
    return value < 0 ? 0 : value > limit ? limit : (int)value;
}

static bool excuse_box(const lap_view *a, const lap_view *b, const lap_diff_box *box, int mask)
{
    const int left = clipped(box->x, a->width), right = clipped((int64_t)box->x + box->width, a->width),
              bottom = clipped((int64_t)box->y + box->height, a->height);
    const size_t size = (size_t)a->channels;
    bool any = false;
    for (int y = clipped(box->y, a->height); y < bottom; y++)
        for (int x = left; x < right; x++) {
            uint8_t *to = b->base + y * b->stride + (ptrdiff_t)x * b->channels;
            any = any || (!is_masked(a, x, y, mask) && memcmp(to, sample(a, x, y), size) != 0);
            memcpy(to, sample(a, x, y), size);
        }
    return any;
}

/* Returns the first pixel from x to end that no box covers in row y, or end if boxes cover all of them. */
static int64_t first_left(const lap_diff_rules *rules, int x, int y, int end)
{
    int64_t at = x;
    for (size_t i = 0; i < rules->ignore_count && at < end; i++) {
        const lap_diff_box *box = &rules->ignore[i];
        if (y >= box->y && y < (int64_t)box->y + box->height && at >= box->x &&
            at < (int64_t)box->x + box->width) {
            at = (int64_t)box->x + box->width;
            i = (size_t)-1; /* an earlier box may continue here */
        }
    }
    return at < end ? at : end;
}

bool lap_difference_has_pixels(const lap_view *view, const lap_diff_rules *rules)
{
    const int mask = rules->mask_border, end = view->width - mask;
    for (int y = mask; y < view->height - mask; y++)
        if (first_left(rules, mask, y, end) < end)
            return true;
    return false;
}

bool lap_difference_excuse(const lap_view *a, const lap_view *b, const lap_diff_rules *rules)
{
    bool any = false;
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        return false;
    for (size_t i = 0; i < rules->ignore_count; i++)
        any |= excuse_box(a, b, &rules->ignore[i], rules->mask_border);
    if (rules->pixel_threshold > 0)
        any |= excuse_near(a, b, rules);
    return any;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static double weighted(double a, uint64_t na, double b, uint64_t nb)
{
    return (a * (double)na + b * (double)nb) / ((double)na + (double)nb);
}

void lap_difference_add(lap_difference *sum, const lap_difference *more)
{
    if (sum->samples == 0) {
        *sum = *more;
        return;
    }
    const uint64_t n = sum->samples, m = more->samples;
    const bool first = sum->identical && !more->identical;
    lap_difference both = first ? *more : *sum;
    both.samples = n + m;
    both.pixels = sum->pixels + more->pixels;
    both.max_abs = sum->max_abs > more->max_abs ? sum->max_abs : more->max_abs;
    both.mean_abs = weighted(sum->mean_abs, n, more->mean_abs, m);
    both.rmse = sqrt(weighted(sum->rmse * sum->rmse, n, more->rmse * more->rmse, m));
    both.psnr = both.identical ? NAN : 20 * log10(LEVELS / both.rmse);
    both.ssim = weighted(sum->ssim, n, more->ssim, m);
    both.differing_pixels = sum->differing_pixels + more->differing_pixels;
    both.differing_border = sum->differing_border + more->differing_border;
    *sum = both;
}
