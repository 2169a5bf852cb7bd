/* ports_time: measures the loops of the simd filters, for tools/measure/ports. A line for each backend: its
 * name, and nanoseconds for four rows of one vector, the image in the second-level cache (of a smaller one,
 * what comes before and after the loops would take too large a part); and a line "cycle", with the
 * nanoseconds of one cycle, from a chain of additions, each of which waits for the one before. Processor
 * time, the least of many runs. */
#include <stdio.h>
#include <time.h>

#include "base/image.h"
#include "cpu_simd/host_rungs.h"

enum { WIDTH = 512, HEIGHT = 128, RUNS = 2000, LINKS = 1000000 };

static double processor_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return 1e9 * (double)at.tv_sec + (double)at.tv_nsec;
}

static double cycle(void)
{
    double least = 1e18;
    for (int run = 0; run < 200; run++) {
        unsigned long x = (unsigned long)run;
        const double start = processor_ns();
        for (int i = 0; i < LINKS; i += 10)
            __asm__ volatile("add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\t"
                             "add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0"
                             : "+r"(x));
        const double took = processor_ns() - start;
        least = took < least ? took : least;
    }
    return least / LINKS;
}

static double least_ns(lap_filter_fn *filter, const lap_view *in, const lap_view *out)
{
    const lap_params params = lap_params_default();
    const lap_exec exec = {.threads = 1};
    double least = 1e18;
    for (int run = 0; run < RUNS; run++) {
        const double start = processor_ns();
        if (filter(in, out, &params, &exec))
            return 0;
        const double took = processor_ns() - start;
        least = took < least ? took : least;
    }
    return least;
}

static const struct {
    const char *name;
    lap_filter_fn *run;
    int bytes;
} rungs[] = {{"simd-sse41", lap_filter_simd_sse41, 16}, {"simd-avx2", lap_filter_simd_avx2, 32},
    {"simd-avx512", lap_filter_simd_avx512, 64}};

int main(void)
{
    lap_image in = {0}, out = {0};
    lap_error err;
    if (lap_image_create(&in, WIDTH, HEIGHT, 3, LAP_APRON, &err) ||
        lap_image_create(&out, WIDTH, HEIGHT, 3, 0, &err))
        return 1;
    printf("cycle\t%.5f\n", cycle());
    for (int i = 0; i < 3; i++)
        printf("%s\t%.4f\n", rungs[i].name,
            least_ns(rungs[i].run, &in.view, &out.view) / (3.0 * WIDTH / rungs[i].bytes * HEIGHT / 4));
    lap_image_destroy(&in);
    lap_image_destroy(&out);
    return 0;
}
