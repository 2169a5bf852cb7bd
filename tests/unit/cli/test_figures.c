/* Tables and objects of bench, compare and stats, whole, at each width of a terminal: which columns it has
 * room for, what a row is called, what was not timed and what is noisy. */
#include "tests/unit/cli/command_stubs.h"

#include <langinfo.h>
#include <math.h>

#include "cli/measure/measure.h"

/* ---- the machine ----------------------------------------------------------------------------------- */

static struct {
    const char *cpu; /* text of /proc/cpuinfo */
    bool is_tty, has_utf8, writes;
    char path[40], file[1 << 16]; /* what was written last */
} sys;

STUB(isatty);
int __wrap_isatty(int fd)
{
    assert_int_equal(fd, STDOUT_FILENO);
    return sys.is_tty;
}

STUB(nl_langinfo);
char *__wrap_nl_langinfo(nl_item item)
{
    assert_int_equal(item, CODESET);
    return sys.has_utf8 ? "utf-8" : "ANSI";
}

STUB(lap_side_write);
lap_code __wrap_lap_side_write(const char *path, const void *bytes, size_t size, bool sync, lap_error *err)
{
    snprintf(sys.path, sizeof sys.path, "%s", path);
    snprintf(sys.file, sizeof sys.file, "%.*s", (int)size, (const char *)bytes);
    assert_int_equal(strlen(sys.file), size);
    assert_false(sync);
    if (sys.writes)
        return LAP_OK;
    *err = (lap_error){.code = LAP_E_WRITE, .subject = "s.json", .message = "no"};
    return err->code;
}

__typeof__(fopen) __real_fopen;
STUB(fopen);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    if (strcmp(path, "/proc/cpuinfo") != 0)
        return __real_fopen(path, mode);
    return sys.cpu ? fmemopen((void *)sys.cpu, strlen(sys.cpu), mode) : NULL;
}

static int begin(void **state)
{
    static const rung rungs[] = {{{.name = "c", .flags = "-O2"}, NULL},
        {{.name = "sse", .flags = "-O2 -msse4.1"}, NULL}, {{.name = "openmp", .flags = "-O2"}, NULL},
        {{.name = "cuda"}, NULL}, {{.name = "avx2", .flags = "-O2 -mavx2"}, NULL},
        {{.name = "sse-b", .flags = "-O2 -msse4.1"}, NULL}};
    (void)state;
    begin_command(LAP_COMMAND_RUN);
    cli.bench.device = around.first_device = 3;
    around.device_count = 1;
    around.build = "gcc 12\nlibjpeg 2\n";
    around.rungs = rungs, around.rung_count = COUNT(rungs), around.probes_not = true;
    sys.cpu = "vendor\t: x\nmodel name\t: Some CPU @ 1 GHz\nmodel name\t: Another\n";
    sys.is_tty = sys.has_utf8 = false;
    sys.writes = true;
    return 0;
}

/* The first lines that `print` prints at each width, from wide to narrow, where they differ from those of the
 * width before. */
static const char *at_widths(void (*print)(void), int widest, int narrowest, int lines)
{
    static char all[1 << 16], last[1 << 16];
    size_t at = 0;
    last[0] = '\0';
    for (around.width = widest; around.width >= narrowest; around.width--) {
        said_listen();
        print();
        said_end();
        assert_text(said_err(), "");
        char *end = said_.text[0];
        for (int i = 0; i < lines && end; i++)
            end = strchr(end, '\n') ? strchr(end, '\n') + 1 : NULL;
        if (end)
            *end = '\0';
        if (strcmp(last, said_out()) != 0)
            at += (size_t)snprintf(all + at, sizeof all - at, "%d:\n%s", around.width, said_out());
        snprintf(last, sizeof last, "%s", said_out());
    }
    return all;
}

/* ---- bench ----------------------------------------------------------------------------------------- */

static const double steady[] = {1, 1, 1};

static lap_bench_row timed(lap_op op, const char *backend, const char *resolved)
{
    return (lap_bench_row){.op = op,
        .backend = backend,
        .resolved = resolved,
        .threads = 2,
        .width = 640,
        .height = 480,
        .channels = 3,
        .times_ms = steady,
        .runs = 3,
        .median_ms = 12.3456,
        .min_ms = 9.8765,
        .convert_ms = NAN,
        .upload_ms = NAN,
        .kernel_ms = NAN,
        .download_ms = NAN,
        .end_to_end_ms = NAN,
        .mpix_per_s = 24.6,
        .gb_per_s = 0.126,
        .roof_share = 0.2545,
        .speedup = 99.994,
        .gflop_per_s = NAN,
        .value = NAN,
        .relative_error = NAN};
}

static lap_bench_table table;

static void print_host(void)
{
    lap_bench_row row = timed(LAP_OP_FILTER, "c", "c");
    lap_bench_table_begin(&table, &cli);
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_FILTER, "simd", "simd-avx2");
    row.speedup = 100;
    row.convert_ms = 0.00999;
    row.median_ms = 0.01;
    row.min_ms = 10;
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_FILTER, "auto", "simd-avx2");
    row.roof_share = row.speedup = row.gb_per_s = row.mpix_per_s = NAN;
    row.convert_ms = 9.9999;
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_FILTER, "multiply-add", "simd-avx2");
    row.gflop_per_s = 123.5;
    row.gb_per_s = NAN;
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_FILTER, "copy", "copy");
    row.gflop_per_s = 5;
    lap_bench_table_row(&table, &row);
    lap_bench_table_end(&table);
}

static void print_device(void)
{
    lap_bench_row row = timed(LAP_OP_FILTER, "cuda", "cuda-tile");
    row.kernel_ms = 0.5;
    row.upload_ms = 1;
    row.download_ms = 2;
    row.end_to_end_ms = 3.5;
    row.convert_ms = 7;
    lap_bench_table_begin(&table, &cli);
    lap_bench_table_row(&table, &row);
    row.roof_share = NAN;
    row.gflop_per_s = 7;
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_FILTER, "c", "c"); /* another table in between */
    lap_bench_table_row(&table, &row);
    lap_bench_table_end(&table);
}

static void print_sums(void)
{
    lap_bench_row row = timed(LAP_OP_REDUCE, "c", "c");
    row.height = row.channels = 1;
    row.type = "f32";
    row.value = 1234567.891;
    row.relative_error = 1.5e-7;
    lap_bench_table_begin(&table, &cli);
    lap_bench_table_row(&table, &row);
    row.value = NAN;
    row.backend = "simd";
    lap_bench_table_row(&table, &row);
    row.kernel_ms = 1;
    lap_bench_table_row(&table, &row);
    lap_bench_table_end(&table);
}

/* Titles and names of each operation. */
static void print_others(void)
{
    lap_bench_row row = timed(LAP_OP_MATVEC, "c", "c");
    row.type = "f32";
    row.form = "unchecked";
    lap_bench_table_begin(&table, &cli);
    lap_bench_table_row(&table, &row);
    row.form = NULL;
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_TRANSPOSE, "c", "c");
    row.type = "f64";
    row.channels = 0;
    table.titled = 0;
    lap_bench_table_row(&table, &row);
    row.resolved = "simd";
    lap_bench_table_row(&table, &row);
    row.resolved = NULL;
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_CODEC, "run", "run");
    row.width = 65535;
    table.titled = 0;
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_ENCODE, "c", "c");
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_DECODE, "auto", "simd-avx2");
    lap_bench_table_row(&table, &row);
    for (int i = 0; i < 4; i++) {
        static const int widths[] = {65536, 149999, 2449999, 2450000};
        row = timed(LAP_OP_CODEC, "run", "run");
        row.width = widths[i];
        row.channels = 0;
        table.titled = 0;
        lap_bench_table_row(&table, &row);
    }
    row.end_to_end_ms = 3;
    lap_bench_table_row(&table, &row);
    lap_bench_table_row(&table, &row);
    around.device_count = 0;
    table.titled = 0;
    lap_bench_table_row(&table, &row);
    row = timed(LAP_OP_HISTOGRAM, "c", "c");
    row.kernel_ms = 1;
    cli.bench.warm = true;
    lap_bench_table_row(&table, &row);
    lap_bench_table_end(&table);
    cli.bench.warm = false;
    around.device_count = 1;
}

static void bench_tables(void **state)
{
    (void)state;
    assert_text(at_widths(print_host, 107, 105, 8),
        "107:\n"
        "\n"
        "640 x 480 x 3, host\n"
        "backend                threads median ms    min ms  Mpixel/s    GB/s of memcpy    vs "
        "c convert ms\n"
        "c                            2     12.35     9.877        25    0.13      25 %   "
        "99.99          -\n"
        "simd (avx2)                  2     0.010     10.00        25    0.13      25 %     "
        "100    0.00999 ~\n"
        "auto (simd-avx2)             2     12.35     9.877         -       -         -       "
        "-     10.000\n"
        "multiply-add (avx2)          2     12.35     9.877       124 GFLOP/s\n"
        "copy                         2     12.35     9.877        25    0.13      25 %   "
        "99.99          -\n"
        "105:\n"
        "\n"
        "640 x 480 x 3, host\n"
        "backend                threads median ms  Mpixel/s    GB/s of memcpy    vs c\n"
        "c                            2     12.35        25    0.13      25 %   99.99\n"
        "simd (avx2)                  2     0.010        25    0.13      25 %     100 ~\n"
        "auto (simd-avx2)             2     12.35         -       -         -       -\n"
        "multiply-add (avx2)          2     12.35       124 GFLOP/s\n"
        "copy                         2     12.35        25    0.13      25 %   99.99\n");
    assert_text(at_widths(print_device, 107, 104, 99),
        "107:\n"
        "\n"
        "640 x 480 x 3, device, cold\n"
        "A device, compute capability 9.1, 132 multiprocessors, driver 1.2\n"
        "backend                median us    min us upload ms downl. ms   all ms     GB/s of "
        "copy    vs c\n"
        "cuda (tile)              12345.6    9876.5     1.000     2.000    3.500      0.1    "
        "25 %   99.99\n"
        "cuda (tile)              12345.6    9876.5     1.000     2.000    3.500      0.1      "
        " -   99.99\n"
        "\n"
        "640 x 480 x 3, host\n"
        "backend                threads median ms    min ms  Mpixel/s    GB/s of memcpy    vs "
        "c convert ms\n"
        "c                            2     12.35     9.877        25    0.13      25 %   "
        "99.99          -\n"
        "105:\n"
        "\n"
        "640 x 480 x 3, device, cold\n"
        "A device, compute capability 9.1, 132 multiprocessors, driver 1.2\n"
        "backend                median us upload ms downl. ms   all ms     GB/s of copy    vs c\n"
        "cuda (tile)              12345.6     1.000     2.000    3.500      0.1    25 %   99.99\n"
        "cuda (tile)              12345.6     1.000     2.000    3.500      0.1       -   99.99\n"
        "\n"
        "640 x 480 x 3, host\n"
        "backend                threads median ms  Mpixel/s    GB/s of memcpy    vs c\n"
        "c                            2     12.35        25    0.13      25 %   99.99\n");
    assert_text(at_widths(print_sums, 107, 104, 99),
        "107:\n"
        "\n"
        "640 values, host\n"
        "backend                threads median ms    min ms  Mvalue/s    GB/s of memcpy    vs "
        "c            value rel.error\n"
        "c f32                        2     12.35     9.877        25    0.13      25 %   "
        "99.99       1234567.89   1.5e-07\n"
        "simd (c)                     2     12.35     9.877        25    0.13      25 %   "
        "99.99                -         -\n"
        "\n"
        "640 values, device, cold\n"
        "A device, compute capability 9.1, 132 multiprocessors, driver 1.2\n"
        "backend                median us    min us upload ms downl. ms   all ms     GB/s of "
        "copy    vs c            value rel.error\n"
        "simd (c)                 12345.6    9876.5         -         -        -      0.1    "
        "25 %   99.99                -         -\n"
        "105:\n"
        "\n"
        "640 values, host\n"
        "backend                threads median ms  Mvalue/s    GB/s of memcpy    vs c\n"
        "c f32                        2     12.35        25    0.13      25 %   99.99\n"
        "simd (c)                     2     12.35        25    0.13      25 %   99.99\n"
        "\n"
        "640 values, device, cold\n"
        "A device, compute capability 9.1, 132 multiprocessors, driver 1.2\n"
        "backend                median us upload ms downl. ms   all ms     GB/s of copy    vs c\n"
        "simd (c)                 12345.6         -         -        -      0.1    25 %   99.99\n");
    assert_text(at_widths(print_others, 200, 200, 99),
        "200:\n"
        "\n"
        "640 x 480 x 3, host\n"
        "backend                threads median ms    min ms  Mvalue/s    GB/s of memcpy    vs c\n"
        "c unchecked                  2     12.35     9.877        25    0.13      25 %   99.99\n"
        "c                            2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "640 x 480, host\n"
        "backend                threads median ms    min ms  Mpixel/s    GB/s of memcpy    vs c\n"
        "c f64                        2     12.35     9.877        25    0.13      25 %   99.99\n"
        "c (simd)                     2     12.35     9.877        25    0.13      25 %   99.99\n"
        "c                            2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "65535 x 480 x 3, host\n"
        "backend                threads median ms    min ms  Mpixel/s    GB/s  of floor    vs c\n"
        "run                          2     12.35     9.877        25    0.13      25 %   99.99\n"
        "encode c                     2     12.35     9.877        25    0.13      25 %   99.99\n"
        "decode auto                  2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "480 photos of 0.1 Mpixel, host\n"
        "backend                threads median ms    min ms  Mpixel/s    GB/s  of floor    vs c\n"
        "run                          2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "480 photos of 0.1 Mpixel, host\n"
        "backend                threads median ms    min ms  Mpixel/s    GB/s  of floor    vs c\n"
        "run                          2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "480 photos of 2.4 Mpixel, host\n"
        "backend                threads median ms    min ms  Mpixel/s    GB/s  of floor    vs c\n"
        "run                          2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "480 photos of 2.5 Mpixel, host\n"
        "backend                threads median ms    min ms  Mpixel/s    GB/s  of floor    vs c\n"
        "run                          2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "480 photos of 2.5 Mpixel, device\n"
        "A device, compute capability 9.1, 132 multiprocessors, driver 1.2\n"
        "backend                streams median ms    min ms  Mpixel/s    GB/s    of bus    vs c\n"
        "run                          2     12.35     9.877        25    0.13      25 %   99.99\n"
        "run                          2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "480 photos of 2.5 Mpixel, device\n"
        "backend                streams median ms    min ms  Mpixel/s    GB/s    of bus    vs c\n"
        "run                          2     12.35     9.877        25    0.13      25 %   99.99\n"
        "\n"
        "640 x 480 x 3, device, warm\n"
        "backend                median us    min us upload ms downl. ms   all ms     GB/s of "
        "copy    vs c\n"
        "c                        12345.6    9876.5         -         -        -      0.1    "
        "25 %   99.99\n");
}

static void bench_heads(void **state)
{
    char name[12];
    (void)state;
    cli.color = LAP_CLI_ALWAYS;
    assert_says(lap_bench_table_head(&cli, LAP_OP_FILTER, 1),
        "\033[1mfilter\033[0m\n"
        "machine   Some CPU @ 1 GHz, 1 thread\n"
        "build     gcc 12, libjpeg 2\n"
        "flags     c, openmp: -O2\n"
        "flags     sse, sse-b: -O2 -msse4.1\n"
        "flags     avx2: -O2 -mavx2\n",
        "");
    cli.color = LAP_CLI_NEVER;
    around.width = 20;
    sys.cpu = NULL;
    assert_says(lap_bench_table_head(&cli, LAP_OP_FILTER, 2),
        "filter\n"
        "machine   unknown processor, 2 threads\n"
        "build     gcc 12,\n"
        "          libjpeg 2\n"
        "flags     c, openmp:\n"
        "          -O2\n"
        "flags     sse,\n"
        "          sse-b: -O2\n"
        "          -msse4.1\n"
        "flags     avx2: -O2\n"
        "          -mavx2\n",
        "");
    char build[700];
    memset(build, 'x', sizeof build - 1);
    build[sizeof build - 1] = '\0';
    around.build = build;
    said_listen();
    lap_bench_table_head(&cli, LAP_OP_FILTER, 2);
    said_end();
    assert_int_equal(strspn(strchr(said_out(), 'x'), "x"), 597);
    static const struct {
        const char *cpu, *name;
    } cpus[] = {{"model name\t: Ten chars.\nmodel name\t: B\n", "Ten chars."},
        {"model name\t: Eleven char\n", "Eleven char"}, {"model name\t: Twelve chars\n", "Twelve char"},
        {"model nam\t: x\nmodel name without\nmodel name\t: last", "last"}, {"other: x\n", "unknown pro"}};
    for (size_t i = 0; i < COUNT(cpus); i++) {
        sys.cpu = cpus[i].cpu;
        lap_cpu_name(name, sizeof name);
        assert_string_equal(name, cpus[i].name);
    }
    char text[200] = "x";
    assert_true(lap_device_text(3, text, sizeof text));
    assert_string_equal(text, "A device, compute capability 9.1, 132 multiprocessors, driver 1.2");
    assert_false(lap_device_text(2, text, sizeof text));
    assert_string_equal(text, "");
}

static void names(void **state)
{
    static const struct {
        const char *backend, *resolved, *name;
    } cases[] = {{"c", "c", "c"}, {"c", NULL, "c"}, {"simd", "simd-avx2", "simd (avx2)"},
        {"auto", "simd-avx2", "auto (simd-avx2)"}, {"simd", "simdx", "simd (simdx)"},
        {"simd-avx2", "simd", "simd-avx2 (simd)"}};
    char name[64];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        lap_cli_name_rung(name, sizeof name, cases[i].backend, cases[i].resolved);
        assert_string_equal(name, cases[i].name);
    }
}

/* Which times are noisy: a spread above 10 %, or a first run above 1.3 times the median. */
static void noise(void **state)
{
    static const struct {
        int runs;
        double median, stddev, first, noise;
        const char *text;
    } cases[] = {{2, 4, 1, 8, 0, NULL}, {3, 0, 1, 8, 0, NULL}, {3, -1, 1, 8, 0, NULL},
        {3, NAN, 1, 8, 0, NULL},
        {3, 4, 1, 2, 0.25, "noisy: simd, threads 2, 640 x 480: standard deviation 25 % of the median"},
        {3, 4, 1, 8, 1, "noisy: simd, threads 2, 640 x 480: standard deviation 25 % of the median"},
        {3, 8, 0.8, 8, 0, NULL},
        {3, 8, 0.81, 8, 0.10125, "noisy: simd, threads 2, 640 x 480: standard deviation 10 % of the median"},
        {3, 4, 0, 5.19, 0, NULL},
        {3, 4, 0, 5.21, 0.3025, "noisy: simd, threads 2, 640 x 480: the first run took 1.3 times the median"},
        {9, 4, 0.25, 8, 1, "noisy: simd, threads 2, 640 x 480: the first run took 2.0 times the median"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        lap_bench_row row = timed(LAP_OP_FILTER, "simd", "simd-avx2");
        char text[LAP_BENCH_NOTE] = "unchanged";
        row.runs = cases[i].runs;
        row.median_ms = cases[i].median;
        row.stddev_ms = cases[i].stddev;
        row.times_ms = &cases[i].first;
        assert_true(fabs(lap_bench_noise(&row, text) - cases[i].noise) < 1e-12);
        assert_string_equal(text, cases[i].text ? cases[i].text : "unchanged");
    }
}

static lap_bench_row noisy_row(const char *backend, const char *resolved, double median, double stddev)
{
    lap_bench_row row = timed(LAP_OP_FILTER, backend, resolved);
    row.median_ms = median;
    row.stddev_ms = stddev;
    return row;
}

/* A measurement that several names show counts once; the noisiest is named. */
static void noisy_rows(void **state)
{
    static const struct {
        const char *backend, *resolved;
        double median, stddev;
    } rows[] = {{"simd-avx2", "simd-avx2", 1, 0.5}, {"simd", "simd-avx2", 1, 0.5}, {"c", "c", 1, 0.5},
        {"auto", "simd-avx2", 2, 0.5}, {"auto", "simd-avx2", 1, 0.75}, {"x", NULL, 1, 0.5},
        {"y", NULL, 1, 0.5}, {"last", "c", 1, 0.25}, {"latest", "c", 1, 0.75}};
    static const int counts[] = {1, 1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    lap_bench_table_begin(&table, &cli);
    said_listen();
    for (size_t i = 0; i < COUNT(rows); i++) {
        lap_bench_row row = noisy_row(rows[i].backend, rows[i].resolved, rows[i].median, rows[i].stddev);
        lap_bench_table_row(&table, &row);
        assert_int_equal(table.noisy_count, counts[i]);
    }
    said_end();
    assert_true(fabs(table.noisiest - 0.75) < 1e-12);
    around.width = 100;
    assert_says(lap_bench_table_end(&table),
        "\n"
        "~ noisy: 8 measurements, most of all auto, threads 2,"
        " 640 x 480: standard deviation 75 % of the\n"
        "  median. The mark ~ means a standard deviation above 10 % of the median,"
        " or a first run longer than\n"
        "  1.3 times the median. A quieter machine, or more --runs, gives steadier times.\n",
        "");
    table.noisy_count = 1;
    assert_says(lap_bench_table_end(&table),
        "\n"
        "~ noisy: 1 measurement, auto, threads 2, 640 x 480: standard deviation 75 % of the "
        "median. The mark\n"
        "  ~ means a standard deviation above 10 % of the median,"
        " or a first run longer than 1.3 times the\n"
        "  median. A quieter machine, or more --runs, gives steadier times.\n",
        "");
    table.noisy_count = 0;
    assert_says(lap_bench_table_end(&table), "", "");
    lap_bench_table_begin(&table, &cli);
    said_listen();
    for (int i = 0; i < LAP_BENCH_NOISY + 2; i++) {
        lap_bench_row row = noisy_row("c", "c", 1 + i, 0.5 + i);
        lap_bench_table_row(&table, &row);
        assert_int_equal(table.noisy_count, i < LAP_BENCH_NOISY ? i + 1 : LAP_BENCH_NOISY);
    }
    said_end();
}

/* Backends that cannot run, by reason, each once. */
static void absent_rows(void **state)
{
    static const char *const rows[][2] = {{"cuda-padded16", "no device"}, {"cuda-padded", "no device"},
        {"neon", "no NEON"}, {"padded", "no device"}, {"cuda-padded", "no device"}, {"neon", "no NEON"},
        {"cuda-padded16", "no device"}, {"eon", "no NEON"}};
    char reason[40];
    (void)state;
    lap_bench_table_begin(&table, &cli);
    for (size_t i = 0; i < COUNT(rows); i++) {
        lap_bench_row row = timed(LAP_OP_FILTER, rows[i][0], NULL);
        row.reason = rows[i][1];
        assert_says(lap_bench_table_row(&table, &row), "", "");
    }
    around.width = 40;
    assert_says(lap_bench_table_end(&table),
        "\n"
        "not timed: cuda-padded16, cuda-padded,\n"
        "           padded: no device\n"
        "not timed: neon, eon: no NEON\n",
        "");
    lap_bench_table_begin(&table, &cli);
    for (int i = 0; i < LAP_BENCH_REASONS + 2; i++) {
        lap_bench_row row = timed(LAP_OP_FILTER, "b", NULL);
        snprintf(reason, sizeof reason, "reason %d", i);
        row.reason = reason;
        lap_bench_table_row(&table, &row);
    }
    assert_int_equal(table.absent_count, LAP_BENCH_REASONS);
    lap_bench_row row = timed(LAP_OP_FILTER, "d", NULL);
    row.reason = "reason 23";
    lap_bench_table_row(&table, &row);
    assert_string_equal(table.absent[LAP_BENCH_REASONS - 1].names, "b, d");
    memset(reason, 'n', sizeof reason - 1);
    for (int i = 0; i < 12; i++) { /* as many names as there is room for */
        reason[sizeof reason - 1] = '\0';
        reason[0] = (char)('a' + i);
        row.backend = reason;
        lap_bench_table_row(&table, &row);
    }
    assert_int_equal(strlen(table.absent[LAP_BENCH_REASONS - 1].names), 299);
}

/* ---- compare --------------------------------------------------------------------------------------- */

static lap_compare_result result;

static lap_compare_row compared(lap_op op, const char *backend, const char *resolved)
{
    return (lap_compare_row){.op = op,
        .backend = backend,
        .resolved = resolved,
        .difference =
            {.identical = true, .samples = 300, .pixels = 100, .psnr = NAN, .ssim = NAN, .first_x = -1},
        .relative_error = NAN,
        .ms = 1.25,
        .upload_ms = NAN,
        .kernel_ms = NAN,
        .download_ms = NAN,
        .runs = 4,
        .min_ms = 1,
        .max_ms = 1.5,
        .stddev_ms = 0.125};
}

static lap_compare_row differing(lap_op op, const char *backend, const char *resolved)
{
    lap_compare_row row = compared(op, backend, resolved);
    row.difference = (lap_difference){.samples = 300,
        .pixels = 100,
        .max_abs = 7,
        .mean_abs = 0.5,
        .rmse = 0.75,
        .psnr = 50.629,
        .ssim = NAN,
        .differing_pixels = 12,
        .differing_border = 3,
        .first_x = 4,
        .first_y = 5,
        .first_channel = 1,
        .first_a = 100,
        .first_b = 107};
    return row;
}

static void take(const lap_compare_row *row)
{
    assert_true(lap_compare_take(&result, row, "in/a.jpg"));
}

static void take_rows(void)
{
    memset(&result, 0, sizeof result);
    lap_compare_begin_photo(&result);
    lap_compare_row row = compared(LAP_OP_FILTER, "c", "c");
    take(&row);
    row = compared(LAP_OP_FILTER, "simd", "simd-avx2");
    row.ms = 0.09;
    row.stddev_ms = 0.01;
    take(&row);
    row = differing(LAP_OP_FILTER, "off-by-one", "off-by-one");
    row.ms = 10;
    take(&row);
    row = differing(LAP_OP_FILTER, "fails", "fails");
    row.reason = "fails: it broke";
    take(&row);
    row = compared(LAP_OP_FILTER, "neon", NULL);
    row.reason = "neon: no NEON";
    row.cause = "no NEON";
    take(&row);
    row.backend = "neon-b";
    row.reason = "neon-b: no NEON";
    take(&row);
    row.backend = "avx512";
    row.reason = "avx512: no AVX-512";
    row.cause = "no AVX-512";
    take(&row);
    row = compared(LAP_OP_REDUCE, "c", "c");
    row.relative_error = 1.25e-7;
    row.runs = 1;
    row.ms = 0.1;
    take(&row);
    row = compared(LAP_OP_REDUCE, "neon", NULL);
    row.reason = "neon: no NEON";
    row.cause = "no NEON";
    take(&row);
    row = compared(LAP_OP_HISTOGRAM, "c", "c");
    row.difference.identical = false;
    row.detail = "channel 1: value 7 is counted 8 times, not 9";
    row.runs = 2;
    row.ms = 0;
    take(&row);
    result.files = 1;
    result.width = 10;
    result.height = 10;
    result.channels = 3;
    cli.ops = 1 << LAP_OP_FILTER | 1 << LAP_OP_REDUCE | 1 << LAP_OP_HISTOGRAM;
}

static void print_compared(void)
{
    lap_compare_print(&cli, &result);
}

static void compare_tables(void **state)
{
    (void)state;
    operands[0] = "in";
    take_rows();
    assert_text(at_widths(print_compared, 120, 40, 5),
        "120:\n"
        "10 x 10, 3 channels\n"
        "filter       same largest       mean       RMSE    PSNR      pixels        ms  spread\n"
        "c            yes        0          0          0       -           0     1.250    10 %\n"
        "simd (avx2)  yes        0          0          0       -           0    0.0900    11 % "
        "~\n"
        "off-by-one   NO         7        0.5       0.75   50.63          12     10.00     1 %\n"
        "86:\n"
        "10 x 10, 3 channels\n"
        "filter       same largest      pixels        ms  spread\n"
        "c            yes        0           0     1.250    10 %\n"
        "simd (avx2)  yes        0           0    0.0900    11 % ~\n"
        "off-by-one   NO         7          12     10.00     1 %\n"
        "56:\n"
        "10 x 10, 3 channels\n"
        "filter       same        ms  spread\n"
        "c            yes      1.250    10 %\n"
        "simd (avx2)  yes     0.0900    11 % ~\n"
        "off-by-one   NO       10.00     1 %\n");
    around.width = 60;
    assert_says(print_compared(),
        "10 x 10, 3 channels\n"
        "filter       same largest      pixels        ms  spread\n"
        "c            yes        0           0     1.250    10 %\n"
        "simd (avx2)  yes        0           0    0.0900    11 % ~\n"
        "off-by-one   NO         7          12     10.00     1 %\n"
        "    first at x 4, y 5, channel 1: c 100, it 107, in the\n"
        "    interior; 3 of 12 in the border of two\n"
        "failed: fails: fails: it broke\n"
        "cannot run here: neon, neon-b: no NEON\n"
        "cannot run here: avx512: no AVX-512\n"
        "~ the machine was busy, or its clocks changed: times vary by\n"
        "  more than 10 % of the median. More runs (--runs) are\n"
        "  steadier.\n"
        "\n"
        "reduce    same  relative error        ms  spread\n"
        "c         yes          1.2e-07     0.100       -\n"
        "cannot run here: neon: no NEON\n"
        "\n"
        "histogram same  relative error        ms  spread\n"
        "c         NO                 -    0.0000       -\n"
        "    channel 1: value 7 is counted 8 times, not 9\n",
        "");
    around.width = 10000;
    result.channels = 1;
    result.files = 2;
    result.photos = json_array();
    cli.ops = 1 << LAP_OP_FILTER;
    cli.settings.params.kernel.is_integer = false;
    assert_says(print_compared(),
        "\n"
        "2 files together\n"
        "filter       same largest       mean       RMSE    PSNR      pixels        ms  spread\n"
        "c            yes        0          0          0       -           0     1.250    10 %\n"
        "simd (avx2)  yes        0          0          0       -           0    0.0900    11 % "
        "~\n"
        "off-by-one   NO         7        0.5       0.75   50.63          12     10.00     1 %\n"
        "    first at x 4, y 5, channel 1: c 100, it 107,"
        " in the interior; 3 of 12 in the border of two\n"
        "    in in/a.jpg\n"
        "failed: fails: fails: it broke\n"
        "cannot run here: neon, neon-b: no NEON\n"
        "cannot run here: avx512: no AVX-512\n"
        "~ the machine was busy, or its clocks changed: times vary by more than 10 % of the "
        "median. More runs (--runs) are steadier.\n"
        "These coefficients are not exact in float: backends may differ by 1 (--max-abs=1).\n",
        "");
    cli.settings.params.scale = 1e6f;
    result.files = 1;
    assert_says(print_compared(),
        "\n"
        "1 file together\n"
        "filter       same largest       mean       RMSE    PSNR      pixels        ms  spread\n"
        "c            yes        0          0          0       -           0     1.250    10 %\n"
        "simd (avx2)  yes        0          0          0       -           0    0.0900    11 % "
        "~\n"
        "off-by-one   NO         7        0.5       0.75   50.63          12     10.00     1 %\n"
        "    first at x 4, y 5, channel 1: c 100, it 107,"
        " in the interior; 3 of 12 in the border of two\n"
        "failed: fails: fails: it broke\n"
        "cannot run here: neon, neon-b: no NEON\n"
        "cannot run here: avx512: no AVX-512\n"
        "~ the machine was busy, or its clocks changed: times vary by more than 10 % of the "
        "median. More runs (--runs) are steadier.\n"
        "With these coefficients and this scale, rounding may make backends differ by any "
        "amount.\n",
        "");
    result.files = 0;
    assert_says(print_compared(), "\n0 files together\n", "");
    lap_compare_free(&result);
}

/* Columns for a device's times, beside the others or below. */
static void compare_devices(void **state)
{
    (void)state;
    for (int differs = 0; differs < 2; differs++) {
        memset(&result, 0, sizeof result);
        lap_compare_begin_photo(&result);
        lap_compare_row row = compared(LAP_OP_FILTER, "c", "c");
        take(&row);
        row = (differs ? differing : compared)(LAP_OP_FILTER, "cuda", "cuda-tile");
        row.upload_ms = 0.125;
        row.kernel_ms = 0.25;
        row.download_ms = 12.5;
        take(&row);
        result.files = 1;
        result.width = result.height = 1;
        cli.ops = 1 << LAP_OP_FILTER;
        if (differs)
            assert_text(at_widths(print_compared, 130, 40, 5),
                "130:\n"
                "1 x 1, 0 channels\n"
                "filter       same largest       mean       RMSE    PSNR      pixels        ms  spread "
                "   upload    kernel  download\n"
                "c            yes        0          0          0       -           0     1.250    10 % "
                "        -         -         -\n"
                "cuda (tile)  NO         7        0.5       0.75   50.63          12     1.250    10 % "
                "    0.125     0.250     12.50\n"
                "    first at x 4, y 5, channel 1: c 100, it 107,"
                " in the interior; 3 of 12 in the border of two\n"
                "116:\n"
                "1 x 1, 0 channels\n"
                "filter       same largest      pixels        ms  spread    upload    kernel  download\n"
                "c            yes        0           0     1.250    10 %         -         -         -\n"
                "cuda (tile)  NO         7          12     1.250    10 %     0.125     0.250     12.50\n"
                "    first at x 4, y 5, channel 1: c 100, it 107,"
                " in the interior; 3 of 12 in the border of two\n"
                "93:\n"
                "1 x 1, 0 channels\n"
                "filter       same largest      pixels        ms  spread    upload    kernel  download\n"
                "c            yes        0           0     1.250    10 %         -         -         -\n"
                "cuda (tile)  NO         7          12     1.250    10 %     0.125     0.250     12.50\n"
                "    first at x 4, y 5, channel 1: c 100, it 107,"
                " in the interior; 3 of 12 in the border of\n"
                "89:\n"
                "1 x 1, 0 channels\n"
                "filter       same largest      pixels        ms  spread    upload    kernel  download\n"
                "c            yes        0           0     1.250    10 %         -         -         -\n"
                "cuda (tile)  NO         7          12     1.250    10 %     0.125     0.250     12.50\n"
                "    first at x 4, y 5, channel 1: c 100, it 107,"
                " in the interior; 3 of 12 in the border\n"
                "86:\n"
                "1 x 1, 0 channels\n"
                "filter       same largest      pixels        ms  spread\n"
                "c            yes        0           0     1.250    10 %\n"
                "cuda (tile)  NO         7          12     1.250    10 %\n"
                "    upload 0.125, kernel 0.250, download 12.500 ms\n"
                "56:\n"
                "1 x 1, 0 channels\n"
                "filter       same        ms  spread\n"
                "c            yes      1.250    10 %\n"
                "cuda (tile)  NO       1.250    10 %\n"
                "    upload 0.125, kernel 0.250, download 12.500 ms\n");
        else
            assert_text(at_widths(print_compared, 130, 40, 5),
                "130:\n"
                "1 x 1, 0 channels\n"
                "filter       same largest       mean       RMSE    PSNR      pixels        ms  spread "
                "   upload    kernel  download\n"
                "c            yes        0          0          0       -           0     1.250    10 % "
                "        -         -         -\n"
                "cuda (tile)  yes        0          0          0       -           0     1.250    10 % "
                "    0.125     0.250     12.50\n"
                "116:\n"
                "1 x 1, 0 channels\n"
                "filter       same largest      pixels        ms  spread    upload    kernel  download\n"
                "c            yes        0           0     1.250    10 %         -         -         -\n"
                "cuda (tile)  yes        0           0     1.250    10 %     0.125     0.250     12.50\n"
                "86:\n"
                "1 x 1, 0 channels\n"
                "filter       same        ms  spread    upload    kernel  download\n"
                "c            yes      1.250    10 %         -         -         -\n"
                "cuda (tile)  yes      1.250    10 %     0.125     0.250     12.50\n");
        lap_compare_free(&result);
    }
}

/* What several inputs add up to. */
static void compare_sums(void **state)
{
    (void)state;
    memset(&result, 0, sizeof result);
    lap_compare_begin_photo(&result);
    lap_compare_row row = compared(LAP_OP_FILTER, "c", "c");
    row.relative_error = 0.25;
    row.upload_ms = row.kernel_ms = row.download_ms = 1;
    take(&row);
    row.runs = 3;
    row.ms = 0.5;
    row.stddev_ms = 0.3;
    row.upload_ms = 2, row.kernel_ms = 3, row.download_ms = 4;
    row.relative_error = 0.125;
    row.min_ms = 0.25;
    row.max_ms = 2;
    take(&row);
    row.runs = 5;
    row.difference = differing(LAP_OP_FILTER, "c", "c").difference;
    row.detail = "first detail";
    assert_true(lap_compare_take(&result, &row, "in/b.jpg"));
    row.detail = "second detail";
    assert_true(lap_compare_take(&result, &row, "in/c.jpg"));
    assert_int_equal(result.count, 1);
    const lap_compare_line *line = &result.lines[0];
    assert_string_equal(line->input, "in/b.jpg");
    assert_string_equal(line->detail, "first detail");
    assert_false(line->sum.identical);
    assert_int_equal(line->sum.differing_pixels, 24);
    assert_true(line->ms == 2.75 && line->upload_ms == 7 && line->kernel_ms == 10 && line->download_ms == 13);
    assert_true(line->min_ms == 1.75 && line->max_ms == 7.5 && line->relative_error == 0.25);
    assert_true(fabs(line->stddev_ms - sqrt(0.125 * 0.125 + 3 * 0.09)) < 1e-12);
    assert_int_equal(line->runs, 3);
    row = compared(LAP_OP_HISTOGRAM, "c", "c"); /* another ladder, the same name */
    take(&row);
    row.difference = differing(LAP_OP_HISTOGRAM, "c", "c").difference;
    take(&row);
    row.difference.identical = true;
    take(&row);
    assert_int_equal(result.count, 2);
    assert_false(result.lines[1].sum.identical);
    assert_int_equal(result.lines[1].sum.differing_pixels, 0); /* no pictures */
    row.reason = "first reason";
    row.cause = "first cause";
    take(&row);
    row.reason = "second reason";
    row.cause = "second cause";
    take(&row);
    assert_string_equal(result.lines[1].reason, "first reason");
    assert_string_equal(result.lines[1].cause, "first cause");
    lap_compare_free(&result);
}

/* Which lines are equal: pictures within the tolerance, all else only if identical. */
static void equal_lines(void **state)
{
    (void)state;
    cli.allowed.max_abs = 7;
    for (int op = 0; op < LAP_OP_COUNT; op++) {
        lap_compare_line line = {.op = op, .sum = {.identical = true}};
        assert_int_equal(lap_compare_has_pictures(op), op == LAP_OP_FILTER || op == LAP_OP_TRANSPOSE);
        assert_true(lap_compare_line_is_equal(&cli, &line));
        line.sum = differing(op, "c", "c").difference;
        assert_int_equal(lap_compare_line_is_equal(&cli, &line), lap_compare_has_pictures(op));
        line.sum.max_abs = 8;
        assert_false(lap_compare_line_is_equal(&cli, &line));
    }
    for (int runs = 0; runs < 5; runs++)
        for (int i = 0; i < 3; i++) {
            const lap_compare_line line = {.runs = runs, .ms = 8, .stddev_ms = 0.79 + i / 100.0};
            assert_int_equal(lap_compare_line_is_noisy(&line), runs > 2 && i == 2);
        }
}

static const char *line_of(json_t *object)
{
    static char copy[1 << 14];
    char *text = lap_json_dump(object, JSON_COMPACT | JSON_ENCODE_ANY);
    assert_non_null(text);
    snprintf(copy, sizeof copy, "%s", text);
    free(text);
    json_decref(object);
    return copy;
}

static void compare_objects(void **state)
{
    (void)state;
    operands[0] = "in";
    take_rows();
    assert_text(line_of(lap_compare_json(&cli, &result, false)),
        "{\"schema\":\"lapedge.compare/1\",\"input\":\"in\",\"files\":1,\"failed\":0,"
        "\"left\":0,\"warnings\":0,\"warning\":null,\"width\":10,\"height\":10,\"channels\":3,"
        "\"kernel\":\"laplace5\",\"border\":\"zero\",\"range\":\"clamp\","
        "\"coefficients\":[-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,"
        "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0],\"scale\":1.0,"
        "\"offset\":0.0,\"invert\":false,\"threshold\":-1,\"decode_ms\":0.0,\"equal\":false,"
        "\"tolerance\":{\"max_abs\":0,\"max_differing\":null,\"max_differing_share\":null,"
        "\"min_psnr\":null,\"mask_border\":0,\"promised\":0},\"rows\":[{\"backend\":\"c\","
        "\"resolved\":\"c\",\"available\":true,\"reason\":null,\"identical\":true,"
        "\"max_abs\":0,\"mean_abs\":0.0,\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,"
        "\"first_difference\":null,\"ms\":1.25,\"op\":\"filter\",\"differing_border\":0,"
        "\"relative_error\":null,\"detail\":null,\"input\":null,\"upload_ms\":null,"
        "\"kernel_ms\":null,\"download_ms\":null,\"runs\":4,\"min_ms\":1.0,\"max_ms\":1.5,"
        "\"stddev_ms\":0.125,\"noisy\":false},{\"backend\":\"simd\",\"resolved\":\"simd-avx2\","
        "\"available\":true,\"reason\":null,\"identical\":true,\"max_abs\":0,\"mean_abs\":0.0,"
        "\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,\"first_difference\":null,"
        "\"ms\":0.09,\"op\":\"filter\",\"differing_border\":0,\"relative_error\":null,"
        "\"detail\":null,\"input\":null,\"upload_ms\":null,\"kernel_ms\":null,"
        "\"download_ms\":null,\"runs\":4,\"min_ms\":1.0,\"max_ms\":1.5,\"stddev_ms\":0.01,"
        "\"noisy\":true},{\"backend\":\"off-by-one\",\"resolved\":\"off-by-one\","
        "\"available\":true,\"reason\":null,\"identical\":false,\"max_abs\":7,\"mean_abs\":0.5,"
        "\"rmse\":0.75,\"psnr\":50.629,\"differing_pixels\":12,\"first_difference\":{\"x\":4,"
        "\"y\":5,\"channel\":1,\"a\":100,\"b\":107,\"at_border\":false},\"ms\":10.0,"
        "\"op\":\"filter\",\"differing_border\":3,\"relative_error\":null,\"detail\":null,"
        "\"input\":\"in/a.jpg\",\"upload_ms\":null,\"kernel_ms\":null,\"download_ms\":null,"
        "\"runs\":4,\"min_ms\":1.0,\"max_ms\":1.5,\"stddev_ms\":0.125,\"noisy\":false},"
        "{\"backend\":\"fails\",\"resolved\":\"fails\",\"available\":true,"
        "\"reason\":\"fails: it broke\",\"identical\":null,\"max_abs\":null,\"mean_abs\":null,"
        "\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,\"first_difference\":null,"
        "\"ms\":null,\"op\":\"filter\",\"differing_border\":null,\"relative_error\":null,"
        "\"detail\":null,\"input\":null,\"upload_ms\":null,\"kernel_ms\":null,"
        "\"download_ms\":null,\"runs\":0,\"min_ms\":null,\"max_ms\":null,\"stddev_ms\":null,"
        "\"noisy\":false},{\"backend\":\"neon\",\"resolved\":null,\"available\":false,"
        "\"reason\":\"neon: no NEON\",\"identical\":null,\"max_abs\":null,\"mean_abs\":null,"
        "\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,\"first_difference\":null,"
        "\"ms\":null,\"op\":\"filter\",\"differing_border\":null,\"relative_error\":null,"
        "\"detail\":null,\"input\":null,\"upload_ms\":null,\"kernel_ms\":null,"
        "\"download_ms\":null,\"runs\":0,\"min_ms\":null,\"max_ms\":null,\"stddev_ms\":null,"
        "\"noisy\":false},{\"backend\":\"neon-b\",\"resolved\":null,\"available\":false,"
        "\"reason\":\"neon-b: no NEON\",\"identical\":null,\"max_abs\":null,\"mean_abs\":null,"
        "\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,\"first_difference\":null,"
        "\"ms\":null,\"op\":\"filter\",\"differing_border\":null,\"relative_error\":null,"
        "\"detail\":null,\"input\":null,\"upload_ms\":null,\"kernel_ms\":null,"
        "\"download_ms\":null,\"runs\":0,\"min_ms\":null,\"max_ms\":null,\"stddev_ms\":null,"
        "\"noisy\":false},{\"backend\":\"avx512\",\"resolved\":null,\"available\":false,"
        "\"reason\":\"avx512: no AVX-512\",\"identical\":null,\"max_abs\":null,"
        "\"mean_abs\":null,\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,"
        "\"first_difference\":null,\"ms\":null,\"op\":\"filter\",\"differing_border\":null,"
        "\"relative_error\":null,\"detail\":null,\"input\":null,\"upload_ms\":null,"
        "\"kernel_ms\":null,\"download_ms\":null,\"runs\":0,\"min_ms\":null,\"max_ms\":null,"
        "\"stddev_ms\":null,\"noisy\":false},{\"backend\":\"c\",\"resolved\":\"c\","
        "\"available\":true,\"reason\":null,\"identical\":true,\"max_abs\":null,"
        "\"mean_abs\":null,\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,"
        "\"first_difference\":null,\"ms\":0.1,\"op\":\"reduce\",\"differing_border\":null,"
        "\"relative_error\":1.25e-07,\"detail\":null,\"input\":null,\"upload_ms\":null,"
        "\"kernel_ms\":null,\"download_ms\":null,\"runs\":1,\"min_ms\":1.0,\"max_ms\":1.5,"
        "\"stddev_ms\":0.125,\"noisy\":false},{\"backend\":\"neon\",\"resolved\":null,"
        "\"available\":false,\"reason\":\"neon: no NEON\",\"identical\":null,\"max_abs\":null,"
        "\"mean_abs\":null,\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,"
        "\"first_difference\":null,\"ms\":null,\"op\":\"reduce\",\"differing_border\":null,"
        "\"relative_error\":null,\"detail\":null,\"input\":null,\"upload_ms\":null,"
        "\"kernel_ms\":null,\"download_ms\":null,\"runs\":0,\"min_ms\":null,\"max_ms\":null,"
        "\"stddev_ms\":null,\"noisy\":false},{\"backend\":\"c\",\"resolved\":\"c\","
        "\"available\":true,\"reason\":null,\"identical\":false,\"max_abs\":null,"
        "\"mean_abs\":null,\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,"
        "\"first_difference\":null,\"ms\":0.0,\"op\":\"histogram\",\"differing_border\":null,"
        "\"relative_error\":null,\"detail\":\"channel 1: value 7 is counted 8 times, not 9\","
        "\"input\":\"in/a.jpg\",\"upload_ms\":null,\"kernel_ms\":null,\"download_ms\":null,"
        "\"runs\":2,\"min_ms\":1.0,\"max_ms\":1.5,\"stddev_ms\":0.125,\"noisy\":false}],"
        "\"photos\":null}");
    for (int i = 0; i < 2; i++) { /* several inputs have no common size */
        result.files = 1 + i;
        result.failed = !i;
        json_t *object = lap_compare_json(&cli, &result, true);
        assert_true(json_is_null(json_object_get(object, "width")));
        assert_true(json_is_null(json_object_get(object, "height")));
        assert_true(json_is_null(json_object_get(object, "channels")));
        assert_true(json_is_true(json_object_get(object, "equal")));
        json_decref(object);
    }
    lap_compare_free(&result);
}

/* The photos of a folder: which backend was the fastest, which differs the most. */
static void photos(void **state)
{
    const lap_report clean = {0}, warned = {.warnings = 2, .warning = "odd"};
    const lap_error broken = {.code = LAP_E_DAMAGED, .message = "is broken"};
    (void)state;
    operands[0] = "in";
    memset(&result, 0, sizeof result);
    result.width = 12;
    result.height = 10;
    result.channels = 3;
    lap_compare_begin_photo(&result);
    result.photo.decode_ms = 2.5;
    lap_compare_row row = compared(LAP_OP_FILTER, "simd", "simd-avx2");
    row.ms = 1.5;
    take(&row);
    row = compared(LAP_OP_FILTER, "c", "c");
    take(&row);
    row = compared(LAP_OP_FILTER, "b", "b"); /* as fast */
    take(&row);
    row = compared(LAP_OP_TRANSPOSE, "c", "c"); /* another ladder's times do not count */
    row.ms = 0.1;
    take(&row);
    assert_true(lap_compare_end_photo(&result, "in/a.jpg", &clean, NULL));
    assert_says(lap_compare_print_photo(&cli, &result),
        "photo                                           size same largest      c ms   fastest "
        " backend\n"
        "a.jpg                                          12x10  yes       0     1.250     1.250 "
        " c\n",
        "");
    lap_compare_begin_photo(&result);
    row = differing(LAP_OP_FILTER, "bad", "bad");
    take(&row);
    row.difference.differing_pixels = 99; /* differs as much: the first is named */
    row.backend = "as-bad";
    take(&row);
    row = differing(LAP_OP_TRANSPOSE, "worse", "worse");
    row.difference.max_abs = 8;
    row.difference.differing_pixels = 2;
    take(&row);
    row = differing(LAP_OP_HISTOGRAM, "h", "h");
    row.difference.max_abs = 9;
    take(&row);
    row = compared(LAP_OP_FILTER, "c", "c");
    take(&row);
    assert_true(lap_compare_end_photo(&result, "elsewhere/\x1b.jpg", &warned, NULL));
    assert_says(lap_compare_print_photo(&cli, &result),
        "elsewhere/\\x1b.jpg                             12x10   NO       8     1.250     "
        "1.250  worse\n",
        "");
    lap_compare_begin_photo(&result);
    assert_true(lap_compare_end_photo(&result, "in//c.jpg", &clean, &broken));
    assert_says(
        lap_compare_print_photo(&cli, &result), "c.jpg                                         failed\n", "");
    lap_compare_begin_photo(&result);
    assert_true(lap_compare_end_photo(&result, "in/d.jpg", &clean, NULL));
    assert_says(lap_compare_print_photo(&cli, &result),
        "d.jpg                                          12x10  yes       0         -         - "
        " -\n",
        "");
    assert_text(line_of(json_incref(result.photos)),
        "[{\"input\":\"in/a.jpg\",\"error\":null,\"width\":12,\"height\":10,\"channels\":3,"
        "\"identical\":true,\"max_abs\":0,\"differing_pixels\":0,\"worst\":null,"
        "\"decode_ms\":2.5,\"c_ms\":1.25,\"fastest\":\"c\",\"fastest_ms\":1.25,\"warnings\":0,"
        "\"warning\":null},{\"input\":\"elsewhere/\\u001B.jpg\",\"error\":null,\"width\":12,"
        "\"height\":10,\"channels\":3,\"identical\":false,\"max_abs\":8,\"differing_pixels\":2,"
        "\"worst\":\"worse\",\"decode_ms\":null,\"c_ms\":1.25,\"fastest\":\"bad\","
        "\"fastest_ms\":1.25,\"warnings\":2,\"warning\":\"odd\"},{\"input\":\"in//c.jpg\","
        "\"error\":\"damaged: is broken\",\"width\":null,\"height\":null,\"channels\":null,"
        "\"identical\":null,\"max_abs\":null,\"differing_pixels\":null,\"worst\":null,"
        "\"decode_ms\":null,\"c_ms\":null,\"fastest\":null,\"fastest_ms\":null,\"warnings\":0,"
        "\"warning\":null},{\"input\":\"in/d.jpg\",\"error\":null,\"width\":12,\"height\":10,"
        "\"channels\":3,\"identical\":true,\"max_abs\":0,\"differing_pixels\":0,\"worst\":null,"
        "\"decode_ms\":null,\"c_ms\":null,\"fastest\":null,\"fastest_ms\":null,\"warnings\":0,"
        "\"warning\":null}]");
    assert_true(lap_compare_warn(&result, "in/a.jpg", &clean));
    assert_null(result.warning);
    assert_true(lap_compare_warn(&result, "in/b.jpg", &warned));
    assert_true(lap_compare_warn(&result, "in/c.jpg", &warned));
    assert_int_equal(result.warnings, 4);
    assert_string_equal(result.warning, "in/b.jpg: odd");
    lap_compare_free(&result);
}

/* Names are padded by columns, not by bytes. */
static void photo_names(void **state)
{
    static const struct {
        const char *name;
        int columns;
    } cases[] = {{"gr\xc3\xbc\xc3\x9f"
                  "e.jpg",
                     9},
        {"gru\xcc\x88\xc3\x9f"
         "e.jpg",
            9},
        {"\xe5\x86\x99\xe7\x9c\x9f.jpg", 8}, {"a\n.jpg", 9}};
    const lap_report clean = {0};
    (void)state;
    operands[0] = "in";
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[400], path[100], *shown = lap_cli_shown(cases[i].name);
        memset(&result, 0, sizeof result);
        result.width = result.height = 1;
        lap_compare_begin_photo(&result);
        snprintf(path, sizeof path, "in/%s", cases[i].name);
        assert_true(lap_compare_end_photo(&result, path, &clean, NULL));
        snprintf(want, sizeof want,
            "%-*s        size same largest      c ms   fastest  backend\n%s%*s         1x1  yes       0     "
            "    -         -  -\n",
            40, "photo", shown, 40 - cases[i].columns, "");
        assert_says(lap_compare_print_photo(&cli, &result), want, "");
        free(shown);
        lap_compare_free(&result);
    }
}

/* The name has the columns that are left beside the figures; a longer one gets its own line. */
static void photo_widths(void **state)
{
    const lap_report clean = {0};
    (void)state;
    operands[0] = "in";
    memset(&result, 0, sizeof result);
    result.width = result.height = 1;
    lap_compare_begin_photo(&result);
    assert_true(lap_compare_end_photo(&result, "in/twenty_characters.jp", &clean, NULL));
    for (around.width = 60; around.width < 110; around.width++) {
        const int width = around.width > 101  ? 40
                          : around.width < 73 ? 12
                                              : around.width - 61,
                  own = width <= 20;
        char want[400];
        snprintf(want, sizeof want,
            "%-*s        size same largest      c ms   fastest  backend\ntwenty_characters.jp%s%*s         "
            "1x1  "
            "yes       0         -         -  -\n",
            width, "photo", own ? "\n" : "", own ? width : width - 20, "");
        assert_says(lap_compare_print_photo(&cli, &result), want, "");
    }
    lap_compare_free(&result);
}

/* ---- stats ----------------------------------------------------------------------------------------- */

static lap_measurement measurement;
static float rows[300], columns[300];

/* Counts that rise from left to right, with a high one and a low one; values of the edges are few. */
static void measure(int channels, int threshold)
{
    static const char *const channel_names[] = {"red", "green", "blue"};
    memset(&measurement, 0, sizeof measurement);
    measurement.width = 12, measurement.height = 10, measurement.channels = channels;
    measurement.resolved = "simd";
    lap_stats *both[] = {&measurement.stats.input, &measurement.stats.edges};
    for (int i = 0; i < 2; i++) {
        *both[i] = (lap_stats){.channels = channels, .threshold = threshold};
        for (int c = 0; c < channels; c++) {
            lap_channel_stats *of = &both[i]->channel[c];
            *of = (lap_channel_stats){.name = channels == 1 ? "gray" : channel_names[c],
                .count = 1000,
                .sum = 12345 + (unsigned)c,
                .min = 1 + c,
                .max = 250 + c,
                .mean = 12.3456 + c,
                .stddev = 4.25 + c,
                .entropy = 1.5 + c,
                .p1 = 3,
                .p50 = 50,
                .p99 = 99,
                .above = threshold < 0 ? NAN : 0.125 + c / 4.0};
            for (int v = 0; v < 256; v++)
                of->histogram[v] = i ? (uint64_t)(v % 64 == 5) * (unsigned)(v + 1) : (unsigned)(v * v);
            of->histogram[100] = 1;
            of->histogram[200] = 300000;
        }
    }
}

static void print_stats(void)
{
    lap_stats_text(&cli, "a\x1b.jpg", &measurement);
}

static void stats_tables(void **state)
{
    (void)state;
    measure(3, -1);
    assert_text(at_widths(print_stats, 90, 30, 7),
        "90:\n"
        "a\\x1b.jpg: 12 x 10, 3 channels, edges by simd\n"
        "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
        "  red         1  250    12.346     4.250    1.5000     3    50    99\n"
        "  green       2  251    13.346     5.250    2.5000     3    50    99\n"
        "  blue        3  252    14.346     6.250    3.5000     3    50    99\n"
        "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
        "  red         1  250    12.346     4.250    1.5000     3    50    99\n"
        "68:\n"
        "a\\x1b.jpg: 12 x 10, 3 channels, edges by simd\n"
        "input        min  max      mean    p1   p50   p99\n"
        "  red         1  250    12.346     3    50    99\n"
        "  green       2  251    13.346     3    50    99\n"
        "  blue        3  252    14.346     3    50    99\n"
        "edges        min  max      mean    p1   p50   p99\n"
        "  red         1  250    12.346     3    50    99\n"
        "41:\n"
        "a\\x1b.jpg:\n"
        "  12 x 10, 3 channels, edges by simd\n"
        "input        min  max      mean    p1   p50   p99\n"
        "  red         1  250    12.346     3    50    99\n"
        "  green       2  251    13.346     3    50    99\n"
        "  blue        3  252    14.346     3    50    99\n"
        "edges        min  max      mean    p1   p50   p99\n");
    measure(1, 77);
    measurement.stats.edges.channels = 0;
    measurement.mask_border = 6;
    assert_text(at_widths(print_stats, 90, 30, 3),
        "90:\n"
        "a\\x1b.jpg: 12 x 10, 1 channel, edges by simd\n"
        "input        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
        "  gray        1  250    12.346     4.250    1.5000     3    50    99  12.50%\n"
        "76:\n"
        "a\\x1b.jpg: 12 x 10, 1 channel, edges by simd\n"
        "input        min  max      mean    p1   p50   p99   above\n"
        "  gray        1  250    12.346     3    50    99  12.50%\n"
        "40:\n"
        "a\\x1b.jpg:\n"
        "  12 x 10, 1 channel, edges by simd\n"
        "input        min  max      mean    p1   p50   p99   above\n");
    around.width = 100;
    assert_says(print_stats(),
        "a\\x1b.jpg: 12 x 10, 1 channel, edges by simd\n"
        "input        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
        "  gray        1  250    12.346     4.250    1.5000     3    50    99  12.50%\n"
        "edges  none: a border of 6 pixels covers all of 12 x 10\n",
        "");
}

static void stats_plots(void **state)
{
    (void)state;
    sys.is_tty = true;
    measure(1, -1);
    assert_text(at_widths(print_stats, 106, 100, 99),
        "106:\n"
        "a\\x1b.jpg: 12 x 10, 1 channel, edges by simd\n"
        "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
        "  gray        1  250    12.346     4.250    1.5000     3    50    99\n"
        "                                                    #   .......:::\n"
        "                             .......:::::::|||||||################\n"
        "  .......:::::::||||||############################################\n"
        "  0                                                            255  (heights: square "
        "roots of counts)\n"
        "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
        "  gray        1  250    12.346     4.250    1.5000     3    50    99\n"
        "                                                    #             \n"
        "                                                    #             \n"
        "   .               .       .       .               .#             \n"
        "  0                                                            255  (heights: square "
        "roots of counts)\n"
        "The frame that the zero border makes is in these edges; see --mask-border.\n"
        "100:\n"
        "a\\x1b.jpg: 12 x 10, 1 channel, edges by simd\n"
        "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
        "  gray        1  250    12.346     4.250    1.5000     3    50    99\n"
        "                                                    #   .......:::\n"
        "                             .......:::::::|||||||################\n"
        "  .......:::::::||||||############################################\n"
        "  0                                                            255\n"
        "  (heights: square roots of counts)\n"
        "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
        "  gray        1  250    12.346     4.250    1.5000     3    50    99\n"
        "                                                    #             \n"
        "                                                    #             \n"
        "   .               .       .       .               .#             \n"
        "  0                                                            255\n"
        "  (heights: square roots of counts)\n"
        "The frame that the zero border makes is in these edges; see --mask-border.\n");
    around.width = 30;
    sys.has_utf8 = true;
    measurement.stats.edges.channels = 0;
    assert_says(print_stats(),
        "a\\x1b.jpg:\n"
        "  12 x 10, 1 channel, edges by simd\n"
        "input        min  max      mean    p1   p50   p99\n"
        "  gray        1  250    12.346     3    50    99\n"
        "                    \342\226\201\342\226\202\342\226\210\342\226\204\342\226\205"
        "\342\226\206\342\226\207\342\226\210\n"
        "           \342\226\201\342\226\202\342\226\203\342\226\204\342\226\205\342\226"
        "\206\342\226\207\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342"
        "\226\210\342\226\210\342\226\210\342\226\210\342\226\210\n"
        "  \342\226\201\342\226\202\342\226\203\342\226\204\342\226\205\342\226\205\342"
        "\226\206\342\226\207\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210"
        "\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226"
        "\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\342\226\210\n"
        "  0                      255\n"
        "  (heights: square roots of counts)\n"
        "edges  none: a border of 0 pixels covers all of 12 x 10\n",
        "");
    for (int i = 0; i < 8; i++) {
        static const char note[] =
            "The frame that the zero border makes is in these edges; see --mask-border.\n";
        measure(1, -1);
        around.width = 100;
        sys.is_tty = i & 1;
        cli.settings.border = i & 2 ? LAP_ZERO : LAP_WRAP;
        measurement.mask_border = i & 4 ? 2 : 1;
        said_listen();
        print_stats();
        said_end();
        assert_int_equal(strstr(said_out(), note) != NULL, i == 3);
    }
}

/* How wide plots are, and where their legend stands. */
static void plot_widths(void **state)
{
    (void)state;
    measure(1, -1);
    measurement.stats.edges.channels = 0;
    sys.is_tty = true;
    for (around.width = 10; around.width < 120; around.width++) {
        const int wide = around.width > 68 ? 64 : around.width < 20 ? 16 : around.width - 4;
        char axis[200];
        said_listen();
        print_stats();
        said_end();
        snprintf(axis, sizeof axis, "\n  0%*d%s(heights: square roots of counts)\n", wide - 1, 255,
            wide + 37 > around.width ? "\n  " : "  ");
        assert_non_null(strstr(said_out(), axis));
    }
}

static void give_profiles(int height, int width)
{
    measure(1, -1);
    measurement.stats.input.channels = 0;
    measurement.mask_border = 9;
    measurement.stats.edges.channels = 0;
    measurement.height = height;
    measurement.width = width;
    measurement.rows = rows;
    measurement.columns = columns;
    for (int i = 0; i < 300; i++)
        rows[i] = columns[i] = 1;
}

static void profiles(void **state)
{
    (void)state;
    give_profiles(300, 4);
    columns[3] = 9;                                   /* without an inner part, all values count */
    rows[0] = rows[1] = rows[298] = rows[299] = 1e9f; /* made by the border */
    rows[2] = 20;                                     /* the first of the inner part */
    rows[297] = 21.5f;
    rows[100] = 30; /* one is too close to it, the other is not */
    rows[98] = 29;
    rows[103] = 28;
    rows[150] = rows[151] = 27; /* a plateau counts once, at its end */
    rows[200] = 5;
    assert_says(print_stats(),
        "a\\x1b.jpg: 4 x 300, 1 channel, edges by simd\n"
        "edges  none: a border of 9 pixels covers all of 4 x 300\n"
        "row profile  300 values, peaks at 100 (30), 103 (28), 151 (27), 297 (21.5), 2 (20)\n"
        "column profile  4 values, no peaks\n",
        "");
    rows[200] = 40; /* the sixth: the lowest is left out */
    rows[202] = 41; /* and a close, higher one replaces it */
    assert_says(print_stats(),
        "a\\x1b.jpg: 4 x 300, 1 channel, edges by simd\n"
        "edges  none: a border of 9 pixels covers all of 4 x 300\n"
        "row profile  300 values, peaks at 202 (41), 100 (30), 103 (28), 151 (27), 297 (21.5)\n"
        "column profile  4 values, no peaks\n",
        "");
    sys.is_tty = true;
    around.width = 80;
    assert_says(print_stats(),
        "a\\x1b.jpg: 4 x 300, 1 channel, edges by simd\n"
        "edges  none: a border of 9 pixels covers all of 4 x 300\n"
        "row profile  300 values, \n"
        "  peaks at 202 (41), 100 (30), 103 (28), 151 (27), 297 (21.5)\n"
        "                      ...                    #                    \n"
        "  :                   ###         #          #                   |\n"
        "  #...................###.........#..........#...................#\n"
        "  0                                                            299\n"
        "  (y, top to bottom)\n"
        "column profile  4 values, no peaks\n"
        "                                                  ################\n"
        "                                                  ################\n"
        "  ::::::::::::::::::::::::::::::::::::::::::::::::################\n"
        "  0                                                              3\n"
        "  (x, left to right)\n",
        "");
    sys.is_tty = false;
    give_profiles(5, 40);
    rows[2] = 3;
    columns[20] = 7;
    assert_text(at_widths(print_stats, 60, 30, 99), "60:\n"
                                                    "a\\x1b.jpg: 40 x 5, 1 channel, edges by simd\n"
                                                    "edges  none: a border of 9 pixels covers all of 40 x 5\n"
                                                    "row profile  5 values, no peaks\n"
                                                    "column profile  40 values, peaks at 20 (7)\n"
                                                    "41:\n"
                                                    "a\\x1b.jpg: 40 x 5, 1 channel, edges by simd\n"
                                                    "edges  none: a border of 9 pixels covers all of 40 x 5\n"
                                                    "row profile  5 values, no peaks\n"
                                                    "column profile  40 values, \n"
                                                    "  peaks at 20 (7)\n"
                                                    "39:\n"
                                                    "a\\x1b.jpg:\n"
                                                    "  40 x 5, 1 channel, edges by simd\n"
                                                    "edges  none: a border of 9 pixels covers all of 40 x 5\n"
                                                    "row profile  5 values, no peaks\n"
                                                    "column profile  40 values, \n"
                                                    "  peaks at 20 (7)\n"
                                                    "30:\n"
                                                    "a\\x1b.jpg:\n"
                                                    "  40 x 5, 1 channel, edges by simd\n"
                                                    "edges  none: a border of 9 pixels covers all of 40 x 5\n"
                                                    "row profile  5 values, \n"
                                                    "  no peaks\n"
                                                    "column profile  40 values, \n"
                                                    "  peaks at 20 (7)\n");
    give_profiles(1, 10);
    columns[5] = columns[6] = 8;
    columns[7] = 0;
    assert_says(print_stats(),
        "a\\x1b.jpg:\n"
        "  10 x 1, 1 channel, edges by simd\n"
        "edges  none: a border of 9 pixels covers all of 10 x 1\n"
        "row profile  1 values, \n"
        "  no peaks\n"
        "column profile  10 values, \n"
        "  no peaks\n",
        "");
}

static void stats_objects(void **state)
{
    static const lap_report clean = {0}, warned = {.warnings = 1, .warning = "odd"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        measure(i == 1 ? 3 : 1, i == 1 ? 7 : -1);
        measurement.mask_border = 4;
        if (i == 2) {
            give_profiles(2, 3);
            measurement.stats.input.channels = 1;
            rows[1] = 0.5f;
        }
        json_t *object = lap_stats_json("a.jpg", &measurement.stats, i == 1 ? NULL : &measurement);
        size_t key;
        json_t *channel, *input = json_object_get(object, "input");
        json_array_foreach(json_object_get(input, "channels"), key, channel)
        {
            json_t *histogram = json_object_get(channel, "histogram");
            assert_int_equal(json_array_size(histogram), 256);
            for (size_t v = 0; v < 256; v++)
                assert_int_equal(json_integer_value(json_array_get(histogram, v)),
                    measurement.stats.input.channel[key].histogram[v]);
            json_object_del(channel, "histogram");
        }
        json_t *edges = json_object_get(object, "edges");
        assert_int_equal(json_array_size(json_object_get(edges, "channels")), i == 2 ? 0 : i == 1 ? 3 : 1);
        if (i < 2)
            json_object_set_new(object, "edges", json_string("cut"));
        if (i == 0)
            assert_text(line_of(object),
                "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"gray\",\"min\":1,"
                "\"max\":250,\"sum\":12345,\"mean\":12.3456,\"stddev\":4.25,\"entropy\":1.5,\"p1\":3,"
                "\"p50\":50,\"p99\":99,\"above\":null}],\"path\":\"a.jpg\"},\"edges\":\"cut\","
                "\"mask_border\":4,\"threshold\":null,\"profiles\":null}");
        else if (i == 1)
            assert_text(line_of(object),
                "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"red\",\"min\":1,"
                "\"max\":250,\"sum\":12345,\"mean\":12.3456,\"stddev\":4.25,\"entropy\":1.5,\"p1\":3,"
                "\"p50\":50,\"p99\":99,\"above\":0.125},{\"name\":\"green\",\"min\":2,\"max\":251,"
                "\"sum\":12346,\"mean\":13.3456,\"stddev\":5.25,\"entropy\":2.5,\"p1\":3,\"p50\":50,"
                "\"p99\":99,\"above\":0.375},{\"name\":\"blue\",\"min\":3,\"max\":252,\"sum\":12347,"
                "\"mean\":14.3456,\"stddev\":6.25,\"entropy\":3.5,\"p1\":3,\"p50\":50,\"p99\":99,"
                "\"above\":0.625}],\"path\":\"a.jpg\"},\"edges\":\"cut\",\"mask_border\":0,"
                "\"threshold\":7,\"profiles\":null}");
        else
            assert_text(line_of(object),
                "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"gray\",\"min\":1,"
                "\"max\":250,\"sum\":12345,\"mean\":12.3456,\"stddev\":4.25,\"entropy\":1.5,\"p1\":3,"
                "\"p50\":50,\"p99\":99,\"above\":null}],\"path\":\"a.jpg\"},\"edges\":null,"
                "\"mask_border\":9,\"threshold\":null,\"profiles\":{\"rows\":[1.0,0.5],"
                "\"columns\":[1.0,1.0,1.0]}}");
    }
    measure(1, -1);
    cli.stats = "s.json";
    cli.settings.sync = false;
    said_listen();
    assert_int_equal(lap_stats_write(&cli, "a.jpg", &measurement.stats, &warned), LAP_EXIT_OK);
    said_end();
    assert_text(said_err(), "");
    assert_string_equal(sys.path, "s.json");
    json_t *object = lap_stats_json("a.jpg", &measurement.stats, NULL);
    lap_json_edges(object, &cli.settings);
    lap_json_warnings(object, &warned);
    char *text = lap_json_dump(object, JSON_INDENT(2));
    assert_text(sys.file, text);
    free(text);
    json_decref(object);
    sys.writes = false;
    said_listen();
    assert_int_equal(lap_stats_write(&cli, "a.jpg", &measurement.stats, &clean), LAP_EXIT_FAILED);
    said_end();
    assert_text(said_err(), "lapedge: the statistics were not written: s.json: no\n");
}

/* A line for each figure, value and place; what a spreadsheet would read as a formula is marked as text. */
static void stats_csv(void **state)
{
    static char csv[1 << 16];
    static const char *const files[][2] = {{NULL, ""}, {"a.jpg", "a.jpg,"}, {"a\x1b,b", "\"a\\x1b,b\","},
        {"=a", "'=a,"}, {"+a", "'+a,"}, {"-a", "'-a,"}, {"@a", "'@a,"}, {"'a", "''a,"}, {"a'=", "a'=,"},
        {"=\"a", "\"'=\"\"a\","}, {"\xef\xbc\x9d", "'\xef\xbc\x9d,"}, {"\xef\xbc\x8b", "'\xef\xbc\x8b,"},
        {"\xef\xbc\x8d", "'\xef\xbc\x8d,"}, {"\xef\xbc\xa0", "'\xef\xbc\xa0,"},
        {"\xef\xbc\x9e", "\xef\xbc\x9e,"}, {"a\"", "\"a\"\"\","}};
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        char *end = csv, want[100];
        measure(1, i == 1 ? 5 : -1);
        if (i == 0) {
            measurement.rows = rows, measurement.columns = columns;
            for (int k = 0; k < 12; k++)
                rows[k] = columns[k] = 1;
            rows[1] = 0.1f;
        }
        for (int k = 0; k < 2; k++) {
            const lap_channel_stats *of = &(k ? measurement.stats.edges : measurement.stats.input).channel[0];
            snprintf(want, sizeof want, "%s%s,gray,", files[i][1], k ? "edges" : "input");
            end += sprintf(end, "%smin,,1\n%smax,,250\n%ssum,,12345\n%smean,,12.345599999999999\n", want,
                want, want, want);
            end += sprintf(end, "%sstddev,,4.25\n%sentropy,,1.5\n%sp1,,3\n%sp50,,50\n%sp99,,99\n", want, want,
                want, want, want);
            if (i == 1)
                end += sprintf(end, "%sabove,,0.125\n", want);
            for (int v = 0; v < 256; v++)
                end += sprintf(end, "%shistogram,%d,%d\n", want, v, (int)of->histogram[v]);
        }
        for (int y = 0; i == 0 && y < 10; y++)
            end += sprintf(end, "edges,luma,row_profile,%d,%s\n", y, y == 1 ? "0.100000001" : "1");
        for (int x = 0; i == 0 && x < 12; x++)
            end += sprintf(end, "edges,luma,column_profile,%d,1\n", x);
        assert_says(lap_stats_csv(files[i][0], &measurement.stats, i == 2 ? NULL : &measurement), csv, "");
    }
    assert_says(lap_stats_csv_head(true), "file,image,channel,figure,index,value\n", "");
    assert_says(lap_stats_csv_head(false), "image,channel,figure,index,value\n", "");
}

/* ---- two images ------------------------------------------------------------------------------------ */

/* Each limit at its two sides; all that are given must hold. */
static void tolerances(void **state)
{
    static const struct {
        lap_cli_tolerance allowed;
        bool equal;
        const char *json;
    } cases[] = {{{-1, -1, -1, -1, 0, 0}, false, "0,null,null,null"},
        {{6, -1, -1, -1, 0, 0}, false, "6,null,null,null"}, {{7, -1, -1, -1, 0, 0}, true, "7,null,null,null"},
        {{0, -1, -1, -1, 0, 0}, false, "0,null,null,null"},
        {{-1, 11, -1, -1, 0, 0}, false, "null,11,null,null"},
        {{-1, 12, -1, -1, 0, 0}, true, "null,12,null,null"},
        {{-1, 0, -1, -1, 0, 0}, false, "null,0,null,null"},
        {{-1, -1, 0.11, -1, 0, 0}, false, "null,null,0.11,null"},
        {{-1, -1, 0.12, -1, 0, 0}, true, "null,null,0.12,null"},
        {{-1, -1, 0, -1, 0, 0}, false, "null,null,0.0,null"},
        {{-1, -1, -1, 50.629, 0, 0}, true, "null,null,null,50.629"},
        {{-1, -1, -1, 50.63, 0, 0}, false, "null,null,null,50.63"},
        {{-1, -1, -1, 0, 0, 0}, true, "null,null,null,0.0"}, {{0, 12, -1, -1, 0, 0}, false, "0,12,null,null"},
        {{6, 12, -1, -1, 0, 0}, false, "6,12,null,null"}, {{7, 11, -1, -1, 0, 0}, false, "7,11,null,null"},
        {{7, 12, 0.11, -1, 0, 0}, false, "7,12,0.11,null"},
        {{7, 12, 0.12, 51, 0, 0}, false, "7,12,0.12,51.0"},
        {{7, 12, 0.12, 50, 0, 0}, true, "7,12,0.12,50.0"}};
    (void)state;
    const lap_difference differs = differing(LAP_OP_FILTER, "c", "c").difference,
                         same = {.identical = true, .max_abs = 9};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        cli.allowed = cases[i].allowed;
        assert_int_equal(lap_cli_is_equal(&cli, &differs), cases[i].equal);
        assert_true(lap_cli_is_equal(&cli, &same));
        json_t *object = lap_json_tolerance(&cli, -2), *values = json_array();
        const char *key;
        json_t *value;
        json_object_foreach(object, key, value) json_array_append(values, value);
        snprintf(text, sizeof text, "[%s,0]", cases[i].json);
        assert_text(line_of(values), text);
        json_decref(object);
    }
    /* 0.7 % of 1000 pixels are 7 pixels. */
    for (int n = 1; n <= 1000; n++) {
        lap_difference d = {.pixels = 1000, .differing_pixels = (uint64_t)n};
        cli.allowed = (lap_cli_tolerance){-1, -1, n / 1000.0, -1, 0, 0};
        assert_true(lap_cli_is_equal(&cli, &d));
        d.differing_pixels++;
        assert_false(lap_cli_is_equal(&cli, &d));
    }
}

static void differences(void **state)
{
    char text[200];
    (void)state;
    cli.allowed = (lap_cli_tolerance){1, -1, -1, -1, 4, 5};
    for (int promised = -3; promised < 2; promised++) {
        snprintf(text, sizeof text,
            "{\"max_abs\":1,\"max_differing\":null,\"max_differing_share\":null,\"min_psnr\":null,"
            "\"mask_border\":4%s%s}",
            promised >= -1 ? ",\"promised\":" : "",
            promised < -1    ? ""
            : promised == -1 ? "null"
            : promised       ? "1"
                             : "0");
        assert_text(line_of(lap_json_tolerance(&cli, promised)), text);
    }
    cli.ignore = (lap_cli_boxes){.box = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 9, 9, 9}}, .count = 2};
    for (int folder = 0; folder < 2; folder++) {
        cli.forms = folder ? LAP_CLI_DIFF_FOLDER : LAP_CLI_DIFF;
        assert_text(line_of(lap_json_tolerance(&cli, -2)),
            "{\"max_abs\":1,\"max_differing\":null,\"max_differing_share\":null,\"min_psnr\":null,"
            "\"mask_border\":4,\"threshold_per_pixel\":5,\"ignore\":[[1,2,3,4],[5,6,7,8]]}");
        const lap_diff_rules rules = lap_cli_diff_rules(&cli, folder);
        assert_true(rules.mask_border == 4 && rules.with_ssim == folder && rules.pixel_threshold == 5 &&
                    rules.ignore == cli.ignore.box && rules.ignore_count == 2);
    }
    lap_difference d = differing(LAP_OP_FILTER, "c", "c").difference;
    for (int i = 0; i < 6; i++) {
        json_t *object = json_object();
        if (i < 4)
            lap_json_difference(object, i % 2 ? &d : NULL, i / 2);
        else
            lap_json_excused(object, i % 2 ? &d : NULL, true);
        assert_text(line_of(object),
            i == 0 || i == 2 || i == 4
                ? "{\"identical\":null,\"max_abs\":null,\"mean_abs\":null,\"rmse\":null,\"psnr\":null,"
                  "\"differing_pixels\":null,\"first_difference\":null}"
            : i == 1
                ? "{\"identical\":false,\"max_abs\":null,\"mean_abs\":null,\"rmse\":null,\"psnr\":null,"
                  "\"differing_pixels\":null,\"first_difference\":null}"
                : "{\"identical\":false,\"max_abs\":7,\"mean_abs\":0.5,\"rmse\":0.75,\"psnr\":50.629,"
                  "\"differing_pixels\":12,\"first_difference\":{\"x\":4,\"y\":5,\"channel\":1,\"a\":100,"
                  "\"b\":107,\"at_border\":false}}");
    }
    d = (lap_difference){.identical = true, .psnr = NAN, .first_x = -1};
    for (int excused = 0; excused < 2; excused++) {
        json_t *object = json_object();
        lap_json_excused(object, &d, excused);
        snprintf(text, sizeof text,
            "{\"identical\":%s,\"max_abs\":0,\"mean_abs\":0.0,\"rmse\":0.0,\"psnr\":null,"
            "\"differing_pixels\":0,\"first_difference\":null}",
            excused ? "false" : "true");
        assert_text(line_of(object), text);
    }
    d = differing(LAP_OP_FILTER, "c", "c").difference;
    for (int border = 0; border < 2; border++) {
        d.first_at_border = border;
        lap_cli_first_difference(&d, "old", "new", text, sizeof text);
        assert_string_equal(text, border ? "x 4, y 5, channel 1: old 100, new 107, in the border"
                                         : "x 4, y 5, channel 1: old 100, new 107, in the interior");
    }
}

static void no_comparison(void **state)
{
    static const struct {
        lap_code code;
        int caught;
        lap_cli_exit exit;
        const char *said;
    } cases[] = {{LAP_E_MISSING, 0, LAP_EXIT_USAGE, "lapedge: a.jpg: m\n"},
        {LAP_E_LIMIT, 2, LAP_EXIT_USAGE, "lapedge: a.jpg: limit: m\n"},
        {LAP_E_BACKEND, 0, LAP_EXIT_BACKEND, "lapedge: m\n"},
        {LAP_E_CANCELLED, 0, LAP_EXIT_USAGE, "lapedge: a.jpg: m\n"},
        {LAP_E_CANCELLED, 2, LAP_EXIT_FAILED, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const lap_error err = {.code = cases[i].code, .message = "m"};
        around.caught = cases[i].caught;
        said_listen();
        const lap_cli_exit code = lap_cli_no_comparison("a.jpg", &err);
        said_end();
        assert_text(said_err(), cases[i].said);
        assert_int_equal(code, cases[i].exit);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, said_restore)
    static const struct CMUnitTest tests[] = {TEST(bench_tables), TEST(bench_heads), TEST(names), TEST(noise),
        TEST(noisy_rows), TEST(absent_rows), TEST(compare_tables), TEST(compare_devices), TEST(compare_sums),
        TEST(equal_lines), TEST(compare_objects), TEST(photos), TEST(photo_names), TEST(photo_widths),
        TEST(stats_tables), TEST(stats_plots), TEST(plot_widths), TEST(profiles), TEST(stats_objects),
        TEST(stats_csv), TEST(tolerances), TEST(differences), TEST(no_comparison)};
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
