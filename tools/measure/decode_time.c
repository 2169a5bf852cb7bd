/* decode_time RUNS FILE...: milliseconds of processor time that one thread takes to decode image files in
 * memory, for tools/measure/pipeline: a line of RUNS numbers for each file. The pixels go to new memory,
 * which is freed each time. */
#include <lapedge.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 4 << 20 };

static double processor_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return 1e3 * (double)at.tv_sec + 1e-6 * (double)at.tv_nsec;
}

static lap_code decode(lap_context *context, const void *file, size_t size, double *ms, lap_error *err)
{
    const lap_settings settings = lap_settings_default();
    lap_view view = {.place = LAP_ON_HOST, .channels = 3};
    const double start = processor_ms();
    const lap_code code = lap_decode_view(context, file, size, &settings, &view, NULL, err);
    free(view.base);
    *ms = processor_ms() - start;
    return code;
}

int main(int argc, char **argv)
{
    static unsigned char file[MOST];
    lap_error err = {0};
    lap_code code = LAP_OK;
    double ms;
    lap_context *context = lap_context_create(1, &err);
    for (int i = 2; i < argc && context && code == LAP_OK; i++) {
        FILE *in = fopen(argv[i], "rb");
        const size_t size = in ? fread(file, 1, sizeof file, in) : 0;
        if (in)
            fclose(in);
        code = decode(context, file, size, &ms, &err); /* warms up */
        for (int run = 0; run < atoi(argv[1]) && code == LAP_OK; run++) {
            code = decode(context, file, size, &ms, &err);
            printf("%.6f%c", ms, run + 1 < atoi(argv[1]) ? ' ' : '\n');
        }
    }
    lap_context_destroy(context);
    if (err.code != LAP_OK)
        fprintf(stderr, "decode_time: %s\n", err.message);
    return err.code != LAP_OK;
}
