#include "cli/measure/measure.h"

#include <math.h>
#include <string.h>

#include "cli/term.h"

/* A larger variation, as a share of the median, makes the median of a run unreliable. */
static const double noisy = 0.10;

/* Returns whether the line of /proc/cpuinfo begins with this key; if so, writes its value to text. */
static bool value_of(const char *line, const char *key, char *text, size_t size)
{
    const size_t length = strlen(key);
    const char *colon = strchr(line, ':');
    if (strncmp(line, key, length) != 0 || line[length] != '\t' || !colon)
        return false;
    colon += 1 + strspn(colon + 1, " ");
    snprintf(text, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    return true;
}

void lap_cpu_name(char *name, size_t size)
{
    char line[256], family[16] = "", model[16] = "", called[128] = "unknown processor";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info) && !value_of(line, "model name", called, sizeof called)) {
        (void)value_of(line, "cpu family", family, sizeof family);
        (void)value_of(line, "model", model, sizeof model);
    }
    if (info)
        fclose(info);
    /* A virtual machine may report only a part of the name, such as "AMD EPYC". */
    if (*family && *model)
        snprintf(name, size, "%s, family %s, model %s", called, family, model);
    else
        snprintf(name, size, "%s", called);
}

bool lap_device_text(int device, char *text, size_t size)
{
    lap_device_info info;
    const bool there = lap_device_at(device, &info, NULL);
    *text = '\0';
    if (there)
        snprintf(text, size, "%s, compute capability %d.%d, %d multiprocessors, %s", info.name, info.cc_major,
            info.cc_minor, info.sms, info.driver);
    return there;
}

/* Prints "c, openmp: -O2 -g": one line for each set of flags in the ladder. */
static void print_flags(lap_op op)
{
    lap_rung_info info, other;
    for (int i = 0; lap_rung_at(op, i, false, &info); i++) {
        bool shown = !info.flags;
        for (int j = 0; j < i && !shown && lap_rung_at(op, j, false, &other); j++)
            shown = other.flags && strcmp(other.flags, info.flags) == 0;
        if (shown)
            continue;
        char text[600];
        int length = 0;
        for (int j = i; lap_rung_at(op, j, false, &other) && length < 300; j++)
            if (other.flags && strcmp(other.flags, info.flags) == 0)
                length += snprintf(text + length, 100, "%s%s", length ? ", " : "", other.name);
        snprintf(text + length, sizeof text - (size_t)length, ": %s", info.flags);
        fputs("flags     ", stdout);
        lap_cli_print_wrapped(text, 10, lap_term_width());
    }
}

void lap_bench_table_head(const lap_cli *cli, lap_op op, int threads)
{
    char cpu[128];
    lap_cpu_name(cpu, sizeof cpu);
    printf("%s%s%s\n", lap_term_bold(cli, stdout), lap_op_name(op), lap_term_plain(cli, stdout));
    printf("machine   %s, %d thread%s\n", cpu, threads, threads == 1 ? "" : "s");
    char build[600];
    size_t at = 0;
    for (const char *text = lap_build_info(); *text && at + 3 < sizeof build; text++) {
        if (*text == '\n' && text[1])
            build[at++] = ',';
        build[at++] = *text == '\n' ? ' ' : *text;
    }
    build[at] = '\0';
    fputs("build     ", stdout);
    lap_cli_print_wrapped(build, 10, lap_term_width());
    print_flags(op);
}

void lap_bench_table_begin(lap_bench_table *table, const lap_cli *cli)
{
    enum { FULL_WIDTH = 106 }; /* width of the widest table, that of sums */
    *table = (lap_bench_table){.cli = cli, .narrow = lap_term_width() < FULL_WIDTH};
}

/* Formats "320x200", "12 photos", "16777216 values". */
static void size_text(const lap_bench_row *row, char *text, size_t size)
{
    const int tenths = row->width / 100000 + (row->width % 100000 >= 50000); /* tenths of a million */
    if (row->op == LAP_OP_CODEC && row->width > 65535)                       /* no JPEG is wider than 65535 */
        snprintf(text, size, "%d photos of %d.%d Mpixel", row->height, tenths / 10, tenths % 10);
    else if (row->height > 1)
        snprintf(text, size, "%d x %d", row->width, row->height);
    else
        snprintf(text, size, "%d values", row->width);
}

double lap_bench_noise(const lap_bench_row *row, char text[LAP_BENCH_NOTE])
{
    char size[64];
    if (row->runs < 3 || !(row->median_ms > 0))
        return 0;
    const double spread = row->stddev_ms / row->median_ms, first = row->times_ms[0] / row->median_ms;
    size_text(row, size, sizeof size);
    if (spread > noisy)
        snprintf(text, LAP_BENCH_NOTE, "noisy: %s, threads %d, %s: standard deviation %.0f %% of the median",
            row->backend, row->threads, size, 100 * spread);
    else if (first > 1 + 3 * noisy)
        snprintf(text, LAP_BENCH_NOTE, "noisy: %s, threads %d, %s: the first run took %.1f times the median",
            row->backend, row->threads, size, first);
    else
        return 0;
    return fmax(spread, first - 1);
}

/* Counts a noisy measurement once, even if it is shown under several names ("auto", "simd", "simd-avx2"). */
static void count_noise(lap_bench_table *table, const lap_bench_row *row)
{
    for (int i = 0; i < table->noisy_count; i++)
        if (table->noisy[i].resolved && row->resolved &&
            strcmp(table->noisy[i].resolved, row->resolved) == 0 &&
            fabs(table->noisy[i].median_ms - row->median_ms) <= 0 &&
            fabs(table->noisy[i].stddev_ms - row->stddev_ms) <= 0)
            return;
    if (table->noisy_count == LAP_BENCH_NOISY)
        return;
    table->noisy[table->noisy_count].resolved = row->resolved;
    table->noisy[table->noisy_count].median_ms = row->median_ms;
    table->noisy[table->noisy_count++].stddev_ms = row->stddev_ms;
}

/* Whether a list "a, b, c" contains the name; "cuda-padded" is not in "cuda-padded16". */
static bool names_it(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

static void notice_absence(lap_bench_table *table, const lap_bench_row *row)
{
    int i = 0;
    while (i < table->absent_count && strcmp(table->absent[i].reason, row->reason) != 0)
        i++;
    if (i == LAP_BENCH_REASONS)
        return;
    char *names = table->absent[i].names;
    const size_t size = sizeof table->absent[i].names;
    if (i == table->absent_count) {
        table->absent_count++;
        snprintf(table->absent[i].reason, sizeof table->absent[i].reason, "%s", row->reason);
        snprintf(names, size, "%s", row->backend);
    } else if (!names_it(names, row->backend)) {
        const size_t length = strlen(names);
        snprintf(names + length, size - length, ", %s", row->backend);
    }
}

/* Prints a number with `digits` decimals, or a dash if the value is missing. */
static void cell(double value, int width, int digits)
{
    if (isfinite(value))
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

static void ms_cell(double value, int width)
{
    cell(value, width, value < 0.01 ? 5 : value < 10 ? 3 : 2);
}

/* On a device, the codec has one row for each number of streams; these rows use the host's columns. */
static bool is_codec_on_device(const lap_bench_row *row)
{
    return row->op == LAP_OP_CODEC && isfinite(row->end_to_end_ms);
}

static void titles(lap_bench_table *table, const lap_bench_row *row, bool device)
{
    const bool values = row->op == LAP_OP_REDUCE;
    char text[200];
    size_text(row, text, sizeof text);
    printf("\n%s%s", lap_term_bold(table->cli, stdout), text);
    if (row->channels > 0 && row->height > 1)
        printf(" x %d", row->channels);
    const bool streams = is_codec_on_device(row);
    printf(", %s\n", device    ? table->cli->bench.warm ? "device, warm" : "device, cold"
                     : streams ? "device"
                               : "host");
    if ((device || streams) && lap_device_text(table->cli->bench.device, text, sizeof text))
        printf("%s\n", text);
    if (device)
        printf("%-22s %9s%s %9s %9s %8s %8s %7s %7s", "backend", "median us",
            table->narrow ? "" : "    min us", "upload ms", "downl. ms", "all ms", "GB/s", "of copy", "vs c");
    else
        printf("%-22s %7s %9s%s %9s %7s %9s %7s", "backend", streams ? "streams" : "threads", "median ms",
            table->narrow ? "" : "    min ms",
            row->op == LAP_OP_REDUCE || row->op == LAP_OP_MATVEC ? "Mvalue/s" : "Mpixel/s", "GB/s",
            streams                   ? "of bus"
            : row->op >= LAP_OP_CODEC ? "of floor"
                                      : "of memcpy",
            "vs c");
    if (values && !table->narrow)
        printf(" %16s %9s", "value", "rel.error");
    else if (!device && row->op == LAP_OP_FILTER && !table->narrow)
        printf(" %10s", "convert ms");
    printf("%s\n", lap_term_plain(table->cli, stdout));
}

static void print_cells(const lap_bench_table *table, const lap_bench_row *row, bool device)
{
    if (device) {
        cell(row->median_ms * 1e3, 9, 1);
        if (!table->narrow)
            cell(row->min_ms * 1e3, 9, 1);
        ms_cell(row->upload_ms, 9);
        ms_cell(row->download_ms, 9);
        ms_cell(row->end_to_end_ms, 8);
        cell(row->gb_per_s, 8, 1);
    } else {
        printf(" %7d", row->threads);
        ms_cell(row->median_ms, 9);
        if (!table->narrow)
            ms_cell(row->min_ms, 9);
        cell(row->mpix_per_s, 9, 0);
        cell(row->gb_per_s, 7, 2);
    }
    if (isfinite(row->roof_share))
        printf(" %*.0f %%", device ? 5 : 7, 100 * row->roof_share);
    else
        printf(" %*s", device ? 7 : 9, "-");
    cell(row->speedup, 7, row->speedup < 100 ? 2 : 0);
    if (row->op == LAP_OP_REDUCE && !table->narrow) {
        if (isfinite(row->value))
            printf(" %16.9g %9.1e", row->value, row->relative_error);
        else
            printf(" %16s %9s", "-", "-");
    } else if (!device && row->op == LAP_OP_FILTER && !table->narrow)
        ms_cell(row->convert_ms, 10);
}

void lap_cli_name_rung(char *to, size_t size, const char *backend, const char *resolved)
{
    const size_t length = strlen(backend);
    if (!resolved || strcmp(resolved, backend) == 0)
        snprintf(to, size, "%s", backend);
    else if (strncmp(resolved, backend, length) == 0 && resolved[length] == '-')
        snprintf(to, size, "%s (%s)", backend, resolved + length + 1);
    else
        snprintf(to, size, "%s (%s)", backend, resolved);
}

/* The ceiling of additions and multiplications is not a backend, so only its instruction set is shown. */
static void name_of(char *to, size_t size, const lap_bench_row *row)
{
    const char *resolved = row->resolved;
    if (strcmp(row->backend, "multiply-add") == 0 && resolved && strncmp(resolved, "simd-", 5) == 0)
        resolved += 5;
    lap_cli_name_rung(to, size, row->backend, resolved);
    /* `bench codec` times both ladders of coders, which use the same names. */
    if (row->op == LAP_OP_ENCODE || row->op == LAP_OP_DECODE)
        snprintf(to, size, "%s %s", lap_op_name(row->op), row->backend);
    /* All matrices have the same type. */
    const char *mark = row->op == LAP_OP_MATVEC ? row->form : row->type;
    if (row->resolved && strcmp(row->resolved, row->backend) == 0 && mark)
        snprintf(to, size, "%s %s", row->backend, mark);
}

/* Prints the arithmetic ceiling in the columns of the other rows. */
static void print_peak(const lap_bench_table *table, const lap_bench_row *row)
{
    printf(" %7d", row->threads);
    ms_cell(row->median_ms, 9);
    if (!table->narrow)
        ms_cell(row->min_ms, 9);
    printf(" %9.0f GFLOP/s", row->gflop_per_s);
}

void lap_bench_table_row(lap_bench_table *table, const lap_bench_row *row)
{
    char name[64], note[LAP_BENCH_NOTE];
    const bool device = isfinite(row->kernel_ms);
    name_of(name, sizeof name, row);
    if (row->reason) {
        notice_absence(table, row);
        return;
    }
    const int kind = is_codec_on_device(row) ? 3 : 1 + device;
    if (table->titled != kind) {
        titles(table, row, device);
        table->titled = kind;
    }
    printf("%-22s", name);
    if (isfinite(row->gflop_per_s) && !isfinite(row->gb_per_s))
        print_peak(table, row);
    else
        print_cells(table, row, device);
    const double noise = lap_bench_noise(row, note);
    puts(noise > 0 ? " ~" : "");
    fflush(stdout);
    if (noise > 0)
        count_noise(table, row);
    if (noise > table->noisiest) {
        table->noisiest = noise;
        snprintf(table->note, sizeof table->note, "%s", note + strlen("noisy: "));
    }
}

void lap_bench_table_end(lap_bench_table *table)
{
    char text[LAP_BENCH_NOTE + 300];
    if (table->noisy_count + table->absent_count > 0)
        putchar('\n');
    for (int i = 0; i < table->absent_count; i++) {
        char absent[sizeof table->absent[i] + 2];
        snprintf(absent, sizeof absent, "%s: %s", table->absent[i].names, table->absent[i].reason);
        fputs("not timed: ", stdout);
        lap_cli_print_wrapped(absent, 11, lap_term_width());
    }
    if (table->noisy_count == 0)
        return;
    snprintf(text, sizeof text,
        "noisy: %d measurement%s%s. The mark ~ means a standard deviation above %.0f %% of the median, or a "
        "first run longer than %.1f times the median. A quieter machine, or more --runs, gives steadier "
        "times.",
        table->noisy_count, table->noisy_count == 1 ? ", " : "s, most of all ", table->note, 100 * noisy,
        1 + 3 * noisy);
    fputs("~ ", stdout);
    lap_cli_print_wrapped(text, 2, lap_term_width());
}
