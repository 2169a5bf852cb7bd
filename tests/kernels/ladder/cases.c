#include "cases.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static const int all_channels[] = {1, 3, 4};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static int below(uint64_t *random, int n)
{
    return (int)(check_random(random) % (uint64_t)n);
}

/* laplace5 on random bytes, with gaps of 0 to 40 bytes and the guard page at either end. */
static check_case plain(uint64_t *random, int width, int height, int channels)
{
    check_case c = {.width = width,
        .height = height,
        .channels = channels,
        .params = lap_params_default(),
        .in_gap = below(random, 2) * below(random, 41),
        .out_gap = below(random, 2) * below(random, 41),
        .at_end = below(random, 2),
        .seed = check_random(random)};
    c.border = (lap_border)below(random, 4);
    c.params.range = (lap_range)below(random, 2);
    return c;
}

static lap_kernel kernel_of(const char *spec)
{
    lap_kernel kernel;
    lap_error err;
    if (lap_kernel_parse(spec, &kernel, &err) != LAP_OK) {
        printf("Bail out! %s\n", err.message);
        exit(1);
    }
    return kernel;
}

/* Coefficients k * step, |k| <= most: whole numbers for step 1. */
static lap_kernel random_kernel(uint64_t *random, int most, double step)
{
    char spec[25 * 24] = "";
    for (int i = 0; i < 25; i++) {
        size_t used = strlen(spec);
        snprintf(spec + used, sizeof spec - used, "%.7g,", (below(random, 2 * most + 1) - most) * step);
    }
    return kernel_of(spec);
}

static void sizes(uint64_t *random, case_fn *each, void *user)
{
    /* Around vectors (16, 32, 64 samples), strips (512, 1024 samples; 480 bytes in cuda-fast, which are
     * 480, 160 or 120 pixels), tiles (16, 32 and 20 pixels). */
    static const int around[] = {80, 96, 120, 128, 160, 171, 192, 240, 256, 341, 480, 512, 683, 1024};
    static const int heights[] = {1, 2, 4, 5, 19};
    for (int i = 0; i < COUNT(all_channels); i++) {
        for (int w = 1; w <= 67; w++) {
            for (int h = 0; h < COUNT(heights); h++) {
                check_case c = plain(random, w, heights[h], all_channels[i]);
                each(user, &c);
            }
        }
        for (int w = 0; w < COUNT(around); w++) {
            for (int d = -1; d <= 1; d++) {
                check_case c = plain(random, around[w] + d, 1 + below(random, 11), all_channels[i]);
                each(user, &c);
            }
        }
        for (int h = 1; h <= 70; h++) { /* around the 8 rows of a warp and the 32 of a block, too */
            check_case c = plain(random, 1 + below(random, 50), h, all_channels[i]);
            each(user, &c);
        }
        /* Rows on 64-byte boundaries, as images have them: stores around the caches need that. */
        for (int w = 1; w <= 1200; w += 37) {
            check_case c = plain(random, w, 1 + below(random, 9), all_channels[i]);
            c.out_gap = 63 - (w * c.channels + 63) % 64;
            each(user, &c);
        }
    }
}

static void kernels(uint64_t *random, case_fn *each, void *user)
{
    const char *name;
    for (int k = 0; (name = lap_kernel_preset(k)); k++) {
        const lap_kernel kernel = kernel_of(name);
        for (int i = 0; i < 3 * 2 * 4 * FILLS; i++) {
            check_case c = plain(random, 1 + below(random, 90), 1 + below(random, 9), all_channels[i % 3]);
            c.params.kernel = kernel;
            c.params.range = (lap_range)(i / 3 % 2);
            c.border = (lap_border)(i / 6 % 4);
            c.fill = (check_fill)(i / 24);
            each(user, &c);
        }
    }
    for (int i = 0; i < 300; i++) { /* small; just within 16-bit sums; beyond them; beyond one byte */
        static const int most[] = {2, 5, 10, 60, 128, 200, 2600};
        check_case c = plain(random, 1 + below(random, 90), 1 + below(random, 9), all_channels[i % 3]);
        c.params.kernel = random_kernel(random, most[i % COUNT(most)], 1);
        c.fill = (check_fill)below(random, FILLS);
        each(user, &c);
    }
    static const char *const one[] = {"127", "128", "-127", "-128", "65792"};
    for (int i = 0; i < COUNT(one) * 25; i++) { /* a single tap, at each of the 25 places */
        char spec[80] = "";
        for (int tap = 0; tap < 25; tap++) {
            strcat(spec, tap == i % 25 ? one[i / 25] : "0");
            strcat(spec, ",");
        }
        check_case c = plain(random, 1 + below(random, 90), 1 + below(random, 9), all_channels[i % 3]);
        c.params.kernel = kernel_of(spec);
        c.params.scale = 1.0f / 128;
        each(user, &c);
    }
}

static void finishes(uint64_t *random, case_fn *each, void *user)
{
    static const char *const names[] = {"laplace5", "npp5", "identity"};
    /* 0.5 makes ties; the large ones overflow to infinity, the small one is denormal. */
    static const float scales[] = {1, 0.5f, -1, 0.1f, 0, FLT_MAX, -1e37f, 1e-40f};
    static const float offsets[] = {0, 128, -3.5f, 0.5f, FLT_MAX, -FLT_MAX};
    static const int thresholds[] = {-1, 0, 1, 128, 255};
    const int n = COUNT(scales) * COUNT(offsets) * COUNT(thresholds) * 2 * 2;
    for (int k = 0; k < COUNT(names); k++) {
        const lap_kernel kernel = kernel_of(names[k]);
        for (int i = 0; i < n; i++) {
            check_case c = plain(random, 1 + below(random, 60), 1 + below(random, 4), all_channels[i % 3]);
            int rest = i;
            c.params.kernel = kernel;
            c.params.range = (lap_range)(rest % 2), rest /= 2;
            c.params.invert = rest % 2, rest /= 2;
            c.params.threshold = thresholds[rest % COUNT(thresholds)], rest /= COUNT(thresholds);
            c.params.scale = scales[rest % COUNT(scales)], rest /= COUNT(scales);
            c.params.offset = offsets[rest];
            each(user, &c);
        }
    }
}

static void fractions(uint64_t *random, case_fn *each, void *user)
{
    for (int i = 0; i < 300; i++) {
        check_case c = plain(random, 1 + below(random, 140), 1 + below(random, 9), all_channels[i % 3]);
        c.params.kernel = random_kernel(random, 1000, 0.00137);
        c.params.scale = i % 4 ? 1.0f : 0.37f;
        c.params.offset = i % 5 ? 0.0f : 12.25f;
        c.params.invert = i % 7 == 0;
        c.fill = (check_fill)below(random, FILLS);
        each(user, &c);
    }
}

static void anything(uint64_t *random, case_fn *each, void *user)
{
    for (int i = 0; i < 400; i++) {
        check_case c = plain(random, 1 + below(random, 400), 1 + below(random, 60), all_channels[i % 3]);
        c.params.kernel = i % 2 ? random_kernel(random, 1 + below(random, 30), 1)
                                : kernel_of(lap_kernel_preset(below(random, 7)));
        c.params.scale = i % 3 ? 1.0f : (float)(below(random, 4000) - 2000) / 512;
        c.params.offset = i % 5 ? 0.0f : (float)(below(random, 1000) - 500) / 4;
        c.params.invert = below(random, 4) == 0;
        c.params.threshold = below(random, 4) ? -1 : below(random, 256);
        c.fill = (check_fill)below(random, FILLS);
        each(user, &c);
    }
}

const case_group case_groups[] = {
    {"sizes", sizes},
    {"kernels", kernels},
    {"scale, offset, invert, threshold", finishes},
    {"fractional kernels", fractions},
    {"anything", anything},
    {0},
};
