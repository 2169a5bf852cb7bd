/* scan_time RUNS PHOTO: measures the processor time that each rung of the ladder `decode` takes on one thread
 * to find where the rows of a baseline JPEG begin, and its share of the time libjpeg-turbo takes to decode,
 * in turn. tools/measure/cores builds and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/image.h"
#include "jpeg/ladders.h"
#include "run/formats.h"

enum { MOST_RUNS = 1000, MOST_RUNGS = 8, ROWS_A_CALL = 128, MOST = 80 << 20 };

static double processor_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return 1e3 * (double)at.tv_sec + 1e-6 * (double)at.tv_nsec;
}

static void need(bool is_fine, const char *what)
{
    if (is_fine)
        return;
    fprintf(stderr, "scan_time: %s\n", what);
    exit(1);
}

/* Opens the file, which scans it if `scans`, else decodes it, too. */
static double once(const void *file, size_t size, const lap_coder *coder, lap_pool *pool, bool scans)
{
    static lap_image image;
    const lap_read_options options = {.max_scans = 100,
        .fail_on = LAP_FAIL_TRUNCATED,
        .decode = scans ? LAP_DECODE_PARALLEL : LAP_DECODE_SERIAL,
        .pool = pool,
        .threads = 1,
        .codec = coder->codec};
    lap_source *source = NULL;
    lap_decoder *decoder = NULL;
    lap_error err = {0};
    need(lap_source_memory(file, size, "photo", &source, &err) == LAP_OK, "memory");
    const double start = processor_ms();
    need(lap_decoder_open(source, &options, &decoder, &err) == LAP_OK, err.message);
    need(!scans || lap_decoder_opens_at(decoder), "no baseline JPEG that our decoder takes");
    const lap_header *h = lap_decoder_header(decoder);
    if (!image.memory)
        need(lap_image_create(&image, h->width, h->height, h->channels, 0, &err) == LAP_OK, "memory");
    for (int y = 0; !scans && y < h->height; y += ROWS_A_CALL) {
        const int left = h->height - y;
        const lap_view rows = lap_view_rows(&image.view, y, left < ROWS_A_CALL ? left : ROWS_A_CALL);
        need(lap_decoder_rows(decoder, &rows, &err) == LAP_OK, err.message);
    }
    lap_decoder_close(decoder);
    const double ms = processor_ms() - start;
    lap_source_close(source);
    return ms;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double ms[MOST_RUNGS][MOST_RUNS];
    const int runs = argc == 3 ? atoi(argv[1]) : 0;
    need(runs > 0 && runs <= MOST_RUNS, "usage: scan_time RUNS PHOTO");
    FILE *in = fopen(argv[2], "rb");
    char *file = malloc(MOST);
    need(in && file, argv[2]);
    const size_t size = fread(file, 1, MOST, in);
    fclose(in);
    lap_pool *pool = lap_pool_create(1, NULL);
    need(pool != NULL, "threads");
    for (int run = -1; run < runs; run++) /* the first warms up */
        for (int i = 0; i < MOST_RUNGS && lap_coders_row(&lap_decoders, i); i++) {
            const lap_coder *coder = lap_coders_row(&lap_decoders, i);
            if (i == 0 || (coder->stages && !lap_coders_missing(&lap_decoders, coder)))
                ms[i][run < 0 ? 0 : run] = once(file, size, coder, pool, i > 0);
        }
    for (int i = 0; i < MOST_RUNGS; i++)
        qsort(ms[i], (size_t)runs, sizeof ms[i][0], by_size);
    printf("decode turbo   median %7.3f min %7.3f\n", ms[0][runs / 2], ms[0][0]);
    for (int i = 1; i < MOST_RUNGS; i++)
        if (ms[i][0] > 0)
            printf("scan   %-7s median %7.3f min %7.3f, of libjpeg-turbo's decoding %.3f by medians, %.3f by "
                   "minima\n",
                lap_coders_row(&lap_decoders, i)->name, ms[i][runs / 2], ms[i][0],
                ms[i][runs / 2] / ms[0][runs / 2], ms[i][0] / ms[0][0]);
    lap_pool_destroy(pool);
    free(file);
    return 0;
}
