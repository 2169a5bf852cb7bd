/* The command line: what each option's value becomes, which values, options and combinations are refused and
 * in which words, which form a line has, and the pages of help. */
#include "tests/support/scratch.h"
#include "tests/support/strike.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/values.h"
#include "cli/term.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* ---- the system ---------------------------------------------------------------------------------------- */

static struct {
    const char *call; /* that fails, after so many that succeed; NULL: none */
    int why, after;
    bool once; /* it fails only once */
    uint64_t memory;
} sys;

static bool strikes(const char *call)
{
    return strike_once(&sys.call, call, &sys.after, sys.why, sys.once);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    return strikes("open") ? -1 : __real_open(path, flags);
}

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
    const int result = strikes("stat") ? -1 : __real_stat(path, st);
    if (result != 0) /* what a call that fails leaves there is not said */
        *st = (struct stat){.st_mode = S_IFDIR | 0755};
    return result;
}

ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size);
ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    return strikes("read") ? -1 : __real_read(fd, bytes, size);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    const int result = __real_close(fd);
    if (result == 0) /* what a call that succeeds leaves there is not said */
        errno = ENOTTY;
    return result;
}

uint64_t __real_lap_memory_here(void);
uint64_t __wrap_lap_memory_here(void);
uint64_t __wrap_lap_memory_here(void)
{
    return sys.memory ? sys.memory : __real_lap_memory_here();
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static lap_cli cli;
static int files, heard, streams[3];
static char text[1 << 17]; /* what was said, and printed */

/* What is printed and said from now on is heard. */
static void listen(void)
{
    fflush(stdout);
    assert_int_equal(ftruncate(heard, 0), 0);
    dup2(heard, STDOUT_FILENO);
    dup2(heard, STDERR_FILENO);
}

static const char *said(void)
{
    fflush(stdout);
    fflush(stderr);
    dup2(streams[1], STDOUT_FILENO);
    dup2(streams[2], STDERR_FILENO);
    const ssize_t size = pread(heard, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

static void put_head(const char *name, const char *head, size_t size)
{
    char bytes[32] = "";
    memcpy(bytes, head, size);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
    assert_int_equal(fclose(file), 0);
}

static void begin(void)
{
    memset(&sys, 0, sizeof sys);
    empty_scratch();
    assert_int_equal(mkdir("photos", 0777), 0);
    put_head("in.jpg", "\xff\xd8\xff\xe0\x00\x10JFIF", 10);
    put_head("in.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", 16);
    put("in.pgm", "P5 1 1 255\nx");
    put("list", "in.jpg\n");
    put("photos/a.jpg", "x");
    put("k.txt", "no numbers\n");
    assert_int_equal(symlink("loop", "loop") || symlink("nowhere", "dangling"), 0);
    files = open_files();
}

/* Parses the words of a command line, which spaces separate; '' is an empty word. */
static lap_cli_exit parse(const char *line)
{
    static char copy[3000], *words[200];
    int count = 0;
    snprintf(copy, sizeof copy, "lapedge %s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
    words[count] = NULL;
    free(cli.operands);
    memset(&cli, 0x55, sizeof cli);
    return lap_cli_parse(&cli, count, words);
}

/* A command line, its exit code, and all that is said, each line without the program's name: "" for nothing.
 */
static void expect(const char *line, lap_cli_exit expected, const char *message)
{
    char whole[3000] = "";
    for (const char *at = message; *at;) {
        const int length = (int)strcspn(at, "\n");
        const size_t size = strlen(whole);
        snprintf(whole + size, sizeof whole - size, "lapedge: %.*s\n", length, at);
        at += length + (at[length] == '\n');
    }
    listen();
    const lap_cli_exit code = parse(line);
    if (strcmp(said(), whole) != 0 || code != expected)
        fail_msg("%s\n: %d %sinstead of %d %s", line, (int)code, text, (int)expected, whole);
    assert_int_equal(open_files(), files);
}

static void is_fine(const char *line)
{
    expect(line, LAP_EXIT_OK, "");
}

static void refused(const char *line, const char *message)
{
    expect(line, LAP_EXIT_USAGE, message);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static const lap_cli_option *option_of(const char *name)
{
    const lap_cli_option *option = lap_cli_option_named(name, strlen(name));
    assert_non_null(option);
    return option;
}

static void show_lists(const lap_cli_option *option, char *shown, size_t size)
{
    size_t length = 0;
    shown[0] = '\0';
    if (option->set == lap_set_devices)
        length += (size_t)snprintf(
            shown, size, "%d %d %d:", cli.device_count, cli.settings.device, cli.bench.device);
    for (int i = 0; option->set == lap_set_devices && i < cli.device_count; i++)
        length += (size_t)snprintf(shown + length, size - length, " %d", cli.devices[i]);
    for (int i = 0; option->set == lap_set_sizes && i < cli.size_count; i++)
        length += (size_t)snprintf(
            shown + length, size - length, " %dx%d", cli.sizes[i].width, cli.sizes[i].height);
    for (size_t i = 0; option->set == lap_set_box && i < cli.ignore.count; i++)
        length += (size_t)snprintf(shown + length, size - length, " %d,%d+%dx%d", cli.ignore.box[i].x,
            cli.ignore.box[i].y, cli.ignore.box[i].width, cli.ignore.box[i].height);
    if (option->set == lap_set_block)
        snprintf(shown, size, "%dx%d", cli.bench.block_x, cli.bench.block_y);
    if (option->set == lap_set_differing)
        snprintf(shown, size, "%.15g %.15g", cli.allowed.max_differing, cli.allowed.max_differing_share);
}

/* The value that an option has stored. */
static const char *show(const lap_cli_option *option)
{
    static char shown[1000];
    const void *field = (const char *)&cli + option->field;
    lap_cli_setter *const set = option->set;
    if (set == lap_set_true || set == lap_set_false)
        return *(const bool *)field ? "true" : "false";
    if (set == lap_set_int || set == lap_set_word || set == lap_set_border || set == lap_set_ops ||
        set == lap_set_keep)
        snprintf(shown, sizeof shown, "%d", *(const int *)field);
    else if (set == lap_set_double || set == lap_set_seconds || set == lap_set_share)
        snprintf(shown, sizeof shown, "%.15g", *(const double *)field);
    else if (set == lap_set_float)
        snprintf(shown, sizeof shown, "%.6g", (double)*(const float *)field);
    else if (set == lap_set_size || set == lap_set_bytes)
        snprintf(shown, sizeof shown, "%" PRIu64, *(const uint64_t *)field);
    else if (set == lap_set_count)
        snprintf(shown, sizeof shown, "%zu", *(const size_t *)field);
    else if (set == lap_set_devices || set == lap_set_sizes || set == lap_set_box || set == lap_set_block ||
             set == lap_set_differing)
        show_lists(option, shown, sizeof shown);
    else
        return *(const char *const *)field ? *(const char *const *)field : "NULL";
    return shown;
}

/* expected: the value; or after '!' what the value is not; or after '?' the whole problem. */
static void check_value(const char *name, const char *value, const char *expected)
{
    const lap_cli_option *option = option_of(name);
    char problem[600] = "", whole[600];
    free(cli.operands);
    memset(&cli, 0, sizeof cli);
    const bool is_set = option->set((char *)&cli + option->field, option, value, problem, sizeof problem);
    if (*expected == '!')
        snprintf(whole, sizeof whole, "\"%.200s\" is not %s", value, expected + 1);
    else
        snprintf(whole, sizeof whole, "%s", expected + (*expected == '?'));
    if (is_set != (*expected != '!' && *expected != '?') ||
        strcmp(is_set ? show(option) : problem, whole) != 0)
        fail_msg("--%s=%s: %s instead of %s", name, value, is_set ? show(option) : problem, whole);
}

static void numbers_have_limits(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *low, *high, *below, *beyond, *range;
    } rows[] = {{"threads", "1", "1024", "0", "1025", "a whole number from 1 to 1024"},
        {"jobs", "1", "1024", "0", "1025", "a whole number from 1 to 1024"},
        {"threshold", "0", "255", "-1", "256", "a whole number from 0 to 255"},
        {"quality", "1", "100", "0", "101", "a whole number from 1 to 100"},
        {"channels", "1", "4", "0", "5", "a whole number from 1 to 4"},
        {"runs", "1", "10000", "0", "10001", "a whole number from 1 to 10000"},
        {"max-abs", "0", "255", "-1", "256", "a whole number from 0 to 255"},
        {"mask-border", "0", "1000000", "-1", "1000001", "a whole number from 0 to 1000000"},
        {"threshold-per-pixel", "0", "255", "-1", "256", "a whole number from 0 to 255"},
        {"max-scans", "0", "1000000", "-1", "1000001", "a whole number from 0 to 1000000"},
        {"min-psnr", "0", "1000", "-0.5", "1000.5", "a number from 0 to 1000"},
        {"value", "-1e+300", "1e+300", "-1.1e300", "1.1e300", "a number"},
        {"scale", "-3e+38", "3e+38", "-3.1e38", "3.1e38", "a number from -3e+38 to 3e+38"},
        {"offset", "-3e+38", "3e+38", "-3.1e38", "3.1e38", "a number from -3e+38 to 3e+38"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char no_number[100], range[100];
        const bool is_float = option_of(rows[i].name)->set == lap_set_float;
        snprintf(range, sizeof range, "!%s", rows[i].range);
        snprintf(no_number, sizeof no_number, "!%s", is_float ? "a number" : rows[i].range);
        check_value(rows[i].name, rows[i].low, rows[i].low);
        check_value(rows[i].name, rows[i].high, rows[i].high);
        check_value(rows[i].name, rows[i].below, range);
        check_value(rows[i].name, rows[i].beyond, range);
        check_value(rows[i].name, "x", no_number);
        check_value(rows[i].name, "", no_number);
        check_value(rows[i].name, "1x", no_number);
        if (option_of(rows[i].name)->set == lap_set_int)
            check_value(rows[i].name, "2.5", range);
    }
}

typedef struct value_row {
    const char *name, *value, *expected;
} value_row;

static void check_values(const value_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_value(rows[i].name, rows[i].value, rows[i].expected);
}

#define BYTES(least) \
    "!a whole number of bytes, at least " least ", with K, M or G for powers of 1000, Ki, Mi or Gi of 1024"
#define SIZE(least) "!a whole number of at least " least ", with K, M or G for powers of 1000"
#define SECONDS "!a number of seconds from 0 to 1000000, or of another unit, such as 500ms, 2m or 1h"

static void quantities_have_units(void **unused)
{
    (void)unused;
    static const value_row rows[] = {{"scale", "1/256", "0.00390625"}, {"scale", "-0.5/2", "-0.25"},
        {"scale", "1/0", "!a number"}, {"scale", "1/", "!a number"}, {"scale", "1/2/3", "!a number"},
        {"min-psnr", "40.5", "40.5"}, {"max-memory", "0", "0"}, {"max-memory", "5", "5"},
        {"max-memory", "5B", "5"}, {"max-memory", "5b", "5"}, {"max-memory", "2K", "2000"},
        {"max-memory", "2k", "2000"}, {"max-memory", "2KB", "2000"}, {"max-memory", "2Ki", "2048"},
        {"max-memory", "2kiB", "2048"}, {"max-memory", "3M", "3000000"}, {"max-memory", "3Mi", "3145728"},
        {"max-memory", "3G", "3000000000"}, {"max-memory", "3Gi", "3221225472"},
        {"max-memory", "3T", "3000000000000"}, {"max-memory", "3tib", "3298534883328"},
        {"max-memory", "1.5G", "1500000000"}, {"max-memory", "4.1M", "4100000"},
        {"max-memory", "9007199254740992", "9007199254740992"},
        {"max-memory", "9007199254740994", BYTES("0")}, {"max-memory", "1.5", BYTES("0")},
        {"max-memory", "-1", BYTES("0")}, {"max-memory", "5X", BYTES("0")}, {"max-memory", "5KX", BYTES("0")},
        {"max-memory", "5KiBB", BYTES("0")}, {"max-memory", "5i", BYTES("0")},
        {"max-memory", "K", BYTES("0")}, {"max-memory", "1.0001K", BYTES("0")}, {"device-memory", "1", "1"},
        {"device-memory", "0", BYTES("1")}, {"max-pixels", "0", "0"}, {"max-pixels", "12M", "12000000"},
        {"max-pixels", "12m", "12000000"}, {"max-pixels", "2G", "2000000000"},
        {"max-pixels", "12Mi", SIZE("0")}, {"max-pixels", "12MB", SIZE("0")}, {"max-pixels", "2B", SIZE("0")},
        {"max-pixels", "x", SIZE("0")}, {"max-pixels", "-1", SIZE("0")}, {"n", "1", "1"}, {"n", "2K", "2000"},
        {"n", "0", SIZE("1")}, {"n", "x", SIZE("1")}, {"timeout", "0", "0"}, {"timeout", "1.5", "1.5"},
        {"timeout", "2s", "2"}, {"timeout", "500ms", "0.5"}, {"timeout", "2m", "120"},
        {"timeout", "2min", "120"}, {"timeout", "2h", "7200"}, {"timeout", "1000000", "1000000"},
        {"timeout", "1000001", SECONDS}, {"timeout", "277h", "997200"}, {"timeout", "278h", SECONDS},
        {"timeout", "-1", SECONDS}, {"timeout", "1x", SECONDS}, {"timeout", "x", SECONDS},
        {"timeout", "", SECONDS}, {"tolerance", "5%", "0.05"}, {"tolerance", "0.05", "0.05"},
        {"tolerance", "0", "0"}, {"tolerance", "200%", "2"},
        {"tolerance", "-1", "!a share such as 5% or 0.05"},
        {"tolerance", "5%%", "!a share such as 5% or 0.05"},
        {"tolerance", "5x", "!a share such as 5% or 0.05"}, {"tolerance", "%", "!a share such as 5% or 0.05"},
        {"max-differing", "5", "5 -1"}, {"max-differing", "0", "0 -1"}, {"max-differing", "2K", "2000 -1"},
        {"max-differing", "5%", "-1 0.05"}, {"max-differing", "0%", "-1 0"},
        {"max-differing", "100%", "-1 1"},
        {"max-differing", "100.1%", "!a number of pixels, or a share such as 0.1%"},
        {"max-differing", "1.5", "!a number of pixels, or a share such as 0.1%"},
        {"max-differing", "-1", "!a number of pixels, or a share such as 0.1%"},
        {"max-differing", "%", "!a number of pixels, or a share such as 0.1%"},
        {"max-differing", "", "!a number of pixels, or a share such as 0.1%"}};
    check_values(rows, COUNT(rows));
}

#define BORDERS "!one of zero, replicate, reflect, reflect101, wrap, constant:V"
#define CODECS "!one of auto, cpu, cuda, turbo, c, avx2, avx512, neon"

static void words_are_taken_whole(void **unused)
{
    (void)unused;
    static const value_row rows[] = {{"range", "clamp", "0"}, {"range", "abs", "1"},
        {"range", "ab", "!one of clamp, abs"}, {"range", "abss", "!one of clamp, abs"},
        {"range", "", "!one of clamp, abs"}, {"border", "zero", "0"}, {"border", "replicate", "1"},
        {"border", "reflect", "2"}, {"border", "reflect101", "3"}, {"border", "wrap", "4"},
        {"border", "constant:0", "256"}, {"border", "constant:255", "511"},
        {"border", "constant:256", "!constant:V with V from 0 to 255"},
        {"border", "constant:", "!constant:V with V from 0 to 255"},
        {"border", "constant:5x", "!constant:V with V from 0 to 255"},
        {"border", "constant:-1", "!constant:V with V from 0 to 255"}, {"border", "x", BORDERS},
        {"border", "mirror",
            BORDERS "; a mirror is reflect, or reflect101, which does not repeat the edge pixel"},
        {"border", "symmetric", BORDERS "; use reflect"}, {"border", "edge", BORDERS "; use replicate"},
        {"border", "nearest", BORDERS "; use replicate"}, {"border", "clamp", BORDERS "; use replicate"},
        {"border", "extend", BORDERS "; use replicate"},
        {"border", "black", BORDERS "; use zero, or constant:V"},
        {"border", "constant", BORDERS "; use zero, or constant:V"},
        {"border", "reflect_101", BORDERS "; use reflect101"},
        {"border", "default", BORDERS "; use reflect101"}, {"decode", "auto", "0"}, {"decode", "serial", "1"},
        {"decode", "parallel", "2"}, {"codec", "auto", "0"}, {"codec", "cuda", "2"}, {"codec", "neon", "7"},
        {"codec", "gpu", CODECS}, {"subsampling", "same", "0"}, {"subsampling", "444", "1"},
        {"subsampling", "4:4:4", "1"}, {"subsampling", "4:2:2", "2"}, {"subsampling", "4:2:0", "3"},
        {"subsampling", "4:1:1", "!one of same, 444, 422, 420"}, {"restart", "off", "2"},
        {"rotate", "90", "0"}, {"rotate", "270", "2"}, {"rotate", "45", "!one of 90, 180, 270"},
        {"rotate", "horizontal", "!one of 90, 180, 270"}, {"rotate", "left", "!one of 90, 180, 270; use 270"},
        {"rotate", "-90", "!one of 90, 180, 270; use 270"},
        {"rotate", "right", "!one of 90, 180, 270; use 90"}, {"flip", "h", "0"}, {"flip", "v", "1"},
        {"flip", "horizontal", "0"}, {"flip", "vertical", "1"}, {"flip", "x", "!one of h, v"},
        {"fail-on", "warning", "2"}, {"color", "never", "2"}, {"progress", "off", "1"},
        {"format", "png", "png"}, {"format", "tsv", "tsv"},
        {"format", "gif", "!one of jpg, jpeg, png, bmp, tga, ppm, pgm, tsv"}, {"type", "f64", "f64"},
        {"type", "f16", "!one of u8, f32, f64"}, {"omp-loop", "window", "window"}, {"gray", "", "true"},
        {"no-sync", "", "false"}};
    check_values(rows, COUNT(rows));
    cli.settings.sync = true;
    assert_true(lap_set_false(&cli.settings.sync, option_of("no-sync"), "", NULL, 0));
    assert_false(cli.settings.sync);
}

static void names_of_files_are_checked(void **unused)
{
    (void)unused;
    static const char unsafe[] = "!a safe backup suffix, such as .orig", png[] = "!the name of a .png";
    const value_row rows[] = {{"log", "l", "l"}, {"log", "", "?needs a value"}, {"suffix", "-e", "-e"},
        {"suffix", "a/b", "!part of a file's name"}, {"suffix", "", "?needs a value"},
        {"backup", ".orig", ".orig"}, {"backup", "~", "~"}, {"backup", ".tiffx", ".tiffx"},
        {"backup", ".if", ".if"}, {"backup", "jpg", "jpg"},
        {"backup", ".very-long-extension", ".very-long-extension"},
        {"backup", "a/b", "!part of a file's name"}, {"backup", "", unsafe}, {"backup", ".jpg", unsafe},
        {"backup", "x.JPEG", unsafe}, {"backup", ".tif", unsafe}, {"backup", ".HTM", unsafe},
        {"backup", ".jpe", unsafe}, {"heatmap", "a.png", "a.png"}, {"heatmap", "a.PNG", "a.PNG"},
        {"heatmap", ".png", png}, {"heatmap", "apng", png}, {"heatmap", "a.png.x", png}, {"heatmap", "", png},
        {"report", "a.html", "a.html"}, {"report", "a.HTM", "a.HTM"},
        {"report", "a.txt", "?\"a.txt\" does not end in .html"},
        {"report", "html", "?\"html\" does not end in .html"}, {"stats", "s.json", "s.json"},
        {"stats", "", "?needs a value"},
        {"stats", "-", "?name a file; lapedge stats prints to standard output"}};
    check_values(rows, COUNT(rows));
}

static void lists_have_limits(void **unused)
{
    (void)unused;
    static const char ops[] = "!a list of filter, transpose, reduce, histogram, matvec; or all";
    static const char keep[] = "!a list of exif, gps, xmp, iptc, icc, comment, thumbnail; or all, or none";
    static const char parts[] = "!a whole list: gps and thumbnail are parts of exif; keep exif too";
    static const char alone[] = "!a list: none stands alone";
    static const char devices[] = "!\"all\", or device numbers separated by commas, such as 0,1";
    static const char sizes[] = "!at most 16 numbers of pixels or sizes, such as 1M,12M or 4992x3744";
    static const char block[] = "!a block of at most 1024 threads, such as 16x16 or 32x32";
    static const char box[] = "!a rectangle X,Y,W,H in pixels, such as 0,0,64,16";
    const value_row rows[] = {{"ops", "filter", "1"}, {"ops", "matvec", "16"}, {"ops", "filter,reduce", "5"},
        {"ops", "all", "31"}, {"ops", "filter,filter", "?filter is named twice"},
        {"ops", "all,reduce,x", "?reduce is named twice"}, {"ops", "codec", ops}, {"ops", "filter,", ops},
        {"ops", "fil", ops}, {"ops", "any", ops}, {"ops", "", ops}, {"keep", "exif", "129"},
        {"keep", "exif,gps", "131"}, {"keep", "xmp", "132"}, {"keep", "iptc", "136"}, {"keep", "icc", "144"},
        {"keep", "comment", "160"}, {"keep", "thumbnail,exif", "193"}, {"keep", "all", "255"},
        {"keep", "none", "128"}, {"keep", "gps", parts}, {"keep", "thumbnail", parts},
        {"keep", "none,exif", alone}, {"keep", "exif,none", alone}, {"keep", "x", keep},
        {"keep", "exif,", keep}, {"keep", "", keep}, {"keep", "any", keep}, {"keep", "al", keep},
        {"keep", "nono", keep}, {"keep", "non", keep}, {"keep", "exifs", keep}, {"devices", "0", "1 0 0: 0"},
        {"devices", "2,1", "2 2 2: 2 1"}, {"devices", "all", "-1 0 0:"},
        {"devices", "1023", "1 1023 1023: 1023"}, {"devices", "000001023", "1 1023 1023: 1023"},
        {"devices", "0000001023", devices}, {"devices", "1024", devices}, {"devices", "0,", devices},
        {"devices", "", devices}, {"devices", "0x1", devices}, {"sizes", "1M", " 1155x866"},
        {"sizes", "1,2", " 1x1 2x1"}, {"sizes", "3", " 2x2"}, {"sizes", "70000", " 306x229"},
        {"sizes", "9007199254740992", sizes}, {"sizes", "4992x3744", " 4992x3744"},
        {"sizes", "65500x1", " 65500x1"}, {"sizes", "1x65500,12M", " 1x65500 4000x3000"},
        {"sizes", "3.2G", " 65320x48990"}, {"sizes", "65501x1", sizes}, {"sizes", "1x65501", sizes},
        {"sizes", "0x1", sizes}, {"sizes", "1x0", sizes}, {"sizes", "0", sizes}, {"sizes", "3.3G", sizes},
        {"sizes", "5G", sizes}, {"sizes", "1M,", sizes}, {"sizes", "1x1x1", sizes}, {"sizes", "", sizes},
        {"sizes", "1.5", sizes}, {"sizes", "0000000000000000000000000000001", " 1x1"},
        {"sizes", "00000000000000000000000000000001", sizes}, {"block", "16x8", "16x8"},
        {"block", "32x32", "32x32"}, {"block", "1024x1", "1024x1"}, {"block", "1x1024", "1x1024"},
        {"block", "32x33", block}, {"block", "41x25", block}, {"block", "1025x1", block},
        {"block", "0x1", block}, {"block", "1x0", block}, {"block", "16", block}, {"block", "16x", block},
        {"block", "16x16x1", block}, {"ignore", "0,0,1,1", " 0,0+1x1"}, {"ignore", "9,8,7,6", " 9,8+7x6"},
        {"ignore", "268435456,0,1,268435456", " 268435456,0+1x268435456"}, {"ignore", "268435457,0,1,1", box},
        {"ignore", "0,0,0,1", box}, {"ignore", "0,0,1,0", box}, {"ignore", "1,2,3", box},
        {"ignore", "1,2,3,4,5", box}, {"ignore", "1,2,3,4,", box}, {"ignore", "-1,0,1,1", box},
        {"ignore", "1,+2,3,4", box}, {"ignore", "", box}, {"ignore", "x,0,1,1", box}};
    check_values(rows, COUNT(rows));
}

static void lists_end(void **unused)
{
    (void)unused;
    char list[600] = "", problem[600], expected[600] = "64 0 0:";
    for (int i = 0; i < 64; i++) {
        strcat(list, i ? ",0" : "0");
        strcat(expected, " 0");
    }
    check_value("devices", list, expected);
    strcat(list, ",0");
    check_value("devices", list, "!\"all\", or device numbers separated by commas, such as 0,1");
    list[0] = expected[0] = '\0';
    for (int i = 0; i < 16; i++) {
        strcat(list, i ? ",1x2" : "1x2");
        strcat(expected, " 1x2");
    }
    check_value("sizes", list, expected);
    strcat(list, ",1x2");
    check_value("sizes", list, "!at most 16 numbers of pixels or sizes, such as 1M,12M or 4992x3744");
    memset(&cli, 0, sizeof cli);
    for (int i = 0; i < 64; i++) {
        assert_true(
            lap_set_glob(cli.include, option_of("include"), i % 2 ? "b" : "a", problem, sizeof problem));
        assert_true(lap_set_box(&cli.ignore, option_of("ignore"), "1,2,3,4", problem, sizeof problem));
        assert_string_equal(cli.include[i], i % 2 ? "b" : "a");
        assert_int_equal(cli.ignore.count, i + 1);
    }
    assert_null(cli.exclude[0]);
    assert_false(lap_set_glob(cli.include, option_of("include"), "c", problem, sizeof problem));
    assert_string_equal(problem, "at most 64 patterns");
    assert_false(lap_set_box(&cli.ignore, option_of("ignore"), "1,2,3,4", problem, sizeof problem));
    assert_string_equal(problem, "\"1,2,3,4\" is not among the first 64");
    assert_false(lap_set_glob(cli.exclude, option_of("exclude"), "", problem, sizeof problem));
    assert_string_equal(problem, "needs a value");
    memset(list, 'x', 300);
    list[300] = '\0'; /* messages show the first 200 characters of a value */
    check_value("range", list, "!one of clamp, abs");
    check_value("keep", list, "!a list of exif, gps, xmp, iptc, icc, comment, thumbnail; or all, or none");
}

static void backends_are_known(void **unused)
{
    (void)unused;
    static const char unknown[] = "!a known backend; see lapedge backends";
    static const struct {
        const char *value, *meant;
        bool is_hint;
    } nearly[] = {{"smid", "simd", false}, {"gpu", "cuda-fast", true}, {"nvidia", "cuda-fast", true},
        {"cpu", "simd", true}, {"avx2", "simd-avx2", true}, {"avx512", "simd-avx512", true},
        {"sse41", "simd-sse41", true}, {"sse4.1", "simd-sse41", true}, {"simd-neo", "simd-neon", false}};
    static const value_row rows[] = {{"backend", "c", "c"}, {"backend", "auto", "auto"},
        {"backend", "cuda-shared-int", "cuda-shared-int"},
        {"backend", "cuda-shared-in", "!a known backend; did you mean cuda-shared2?"},
        {"backend", "xyzzyx", unknown}, {"backend", "", unknown}, {"backends", "all", "NULL"},
        {"backends", "c,simd,openmp", "c,simd,openmp"}, {"backends", "c,simd,c", "?c is named twice"},
        {"backends", "cuda-shared2,c,cuda-shared-int", "?cuda-shared-int is named twice"},
        {"backends", "simd,simd-avx2", "simd,simd-avx2"},
        {"backends", "c,xyzzyx,c", "?\"xyzzyx\" is not a known backend; see lapedge backends"},
        {"backends", "c,", "?\"\" is not a known backend; see lapedge backends"}};
    check_values(rows, COUNT(rows));
    for (size_t i = 0; i < COUNT(nearly); i++) {
        lap_rung_info rung;
        char expected[400];
        assert_true(lap_cli_find_rung(LAP_OP_FILTER, nearly[i].meant, strlen(nearly[i].meant), &rung));
        const bool is_lacking = nearly[i].is_hint && rung.reason;
        snprintf(expected, sizeof expected, "!a known backend; did you mean %s?%s%s%s", nearly[i].meant,
            is_lacking ? " (" : "", is_lacking ? rung.reason : "", is_lacking ? ")" : "");
        check_value("backend", nearly[i].value, expected);
        check_value("backends", nearly[i].value, expected);
    }
    char list[100], expected[200];
    memset(list, 'z', 70);
    list[70] = '\0';
    snprintf(expected, sizeof expected, "?\"%.63s\" is not a known backend; see lapedge backends", list);
    check_value("backends", list, expected);
    assert_true(lap_cli_knows_rung(LAP_OP_FILTER, "c,x", 1));
    assert_false(lap_cli_knows_rung(LAP_OP_REDUCE, "cuda-shared-int", 15));
    assert_string_equal(lap_cli_op_name(0), "filter");
    assert_string_equal(lap_cli_op_name(5), "codec");
    assert_null(lap_cli_op_name(6));
    assert_string_equal(lap_cli_rung_name(0), "c");
    assert_null(lap_cli_rung_name(1000));
}

static void kernels_are_read(void **unused)
{
    (void)unused;
    begin();
    is_fine("--kernel=log5 in.jpg out.jpg");
    assert_string_equal(cli.settings.params.kernel.name, "log5");
    assert_true(cli.settings.params.kernel.h[2] == -1 && cli.settings.params.kernel.h[12] == 16);
    is_fine("--kernel=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25 in.jpg out.jpg");
    assert_true(cli.settings.params.kernel.h[0] == 1);
    is_fine(
        "--kernel=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25 --flip-kernel in.jpg o");
    assert_true(cli.settings.params.kernel.h[0] == 25);
    refused("--kernel=laplace in.jpg out.jpg",
        "--kernel: \"laplace\" is not a known kernel; laplace5, laplace3-4 or laplace3-8");
    refused("--kernel=log in.jpg out.jpg", "--kernel: \"log\" is not a known kernel; did you mean log5?");
    refused("--kernel=k.txt in.jpg out.jpg",
        "--kernel: kernel k.txt: number 1 is not a decimal number, or out of range: 'no'");
    put("laplace", "x");
    put("log", "x");
    refused("--kernel=laplace in.jpg out.jpg",
        "--kernel: kernel laplace: number 1 is not a decimal number, or out of range: 'x'");
    refused("--kernel=log in.jpg out.jpg",
        "--kernel: kernel log: number 1 is not a decimal number, or out of range: 'x'");
    refused("--kernel=xyzzyxyz in.jpg out.jpg",
        "--kernel: kernel 'xyzzyxyz': not a preset, not a list of 25 or 9 numbers, and cannot be read as a "
        "file: No such file or directory");
    is_fine("--sandbox --kernel=k.txt in.jpg out.jpg"); /* it is read later, inside */
    refused("--sandbox --kernel=lgo5 in.jpg out.jpg",
        "--kernel: \"lgo5\" is not a known kernel; did you mean log5?");
    static const char *const gradients[] = {"sobel", "prewitt", "scharr"};
    for (size_t i = 0; i < COUNT(gradients); i++)
        assert_ptr_equal(lap_cli_hint(gradients[i]), lap_cli_hint("sobel"));
}

/* ---- words --------------------------------------------------------------------------------------------- */

static void unknown_options_are_named(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"-x.jpg out.jpg", "unknown option -x.jpg; for a file of that name write ./-x.jpg"},
        {"--x.jpg out.jpg", "unknown option --x.jpg; for a file of that name write ./--x.jpg"},
        {"-it's.jpg o", "unknown option -it's.jpg; for a file of that name write './-it'\\''s.jpg'"},
        {"--x=a.jpg o", "unknown option --x; see lapedge --help"},
        {"-k.x o", "unknown option -k in -k.x; see lapedge -h"},
        {"-k o", "unknown option -k; see lapedge -h"},
        {"-K o", "unknown option -K; for a file of that name write ./-K"},
        {"--file o", "unknown option --file; for a file of that name write ./--file"},
        {"--qualty=5 o", "unknown option --qualty; did you mean --quality?"},
        {"--qual=5 o", "unknown option --qual; did you mean --quality?"},
        {"--skip o", "unknown option --skip; did you mean --skip-existing?"},
        {"--xyzzyxyz o", "unknown option --xyzzyxyz; see lapedge --help"},
        {"--output=o", "unknown option --output; the output is the last operand: lapedge IN OUT"},
        {"--resume", "unknown option --resume; start the run again: it processes what is missing or changed"},
        {"--zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
            "unknown option --zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz; see lapedge "
            "--help"},
        {"-quality=80 o", "unknown option -quality=80; did you mean --quality=80?"},
        {"-gray o", "unknown option -gray; did you mean --gray?"},
        {"-q 80 o", "-q is quiet and takes no value; quality is -Q 80"},
        {"-q80 o", "-q is quiet and takes no value; quality is -Q 80"},
        {"-q9 o", "-q is quiet and takes no value; quality is -Q 9"},
        {"-q: o", "unknown option -: in -q:; see lapedge -h"},
        {"-q/ o", "unknown option -/ in -q/; see lapedge -h"},
        {"-v80 o", "unknown option -8 in -v80; see lapedge -h"}, {"--gray=1 o", "--gray takes no value"},
        {"-r o", "unknown option -r; folders are walked at any depth: lapedge photos/ edges/"},
        {"-vr o", "unknown option -r in -vr; folders are walked at any depth: lapedge photos/ edges/"},
        {"-rab o", "unknown option -r in -rab; see lapedge -h"},
        {"-abc o", "unknown option -a in -abc; see lapedge -h"},
        {"-resize o",
            "unknown option -r in -resize; lapedge does not resize: an output has the size of its photo"},
        {"in.jpg out.jpg --jobs", "--jobs needs a value"}, {"in.jpg out.jpg -j", "-j needs a value"},
        {"in.jpg out.jpg --jobs=0", "--jobs: \"0\" is not a whole number from 1 to 1024"},
        {"in.jpg out.jpg --log=", "--log: needs a value"}, {"in.jpg ''", "the name of a file is empty"},
        {"'' out.jpg", "the name of a file is empty"}};
    begin();
    put("-K", "x");
    put("--file", "x");
    put("7", "x");
    for (size_t i = 0; i < COUNT(rows); i++)
        refused(rows[i][0], rows[i][1]);
    is_fine("-q 7 out.jpg"); /* 7 is a file */
    is_fine("-q 8x out.jpg");
    is_fine("-n in.jpg out.jpg");
    assert_true(cli.dry_run);
    is_fine("-vfn --jobs=2 photos out");
    assert_true(cli.verbose && cli.force && cli.dry_run && cli.jobs == 2 && !cli.quiet);
    is_fine("-j3 -bc photos out");
    assert_int_equal(cli.jobs, 3);
    assert_string_equal(cli.settings.backend, "c");
    is_fine("in.jpg out.jpg -q");
    listen();
    assert_int_equal(parse("--color=always --prune in.jpg out.jpg"), LAP_EXIT_USAGE);
    assert_string_equal(
        said(), "\033[1mlapedge:\033[0m --prune does not apply to one image, only to a folder run\n");
    is_fine("in.jpg out.jpg");
}

static void commands_come_first(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"sttas in.jpg", "sttas: no such file, and no command (did you mean stats?)"},
        {"rotate in.jpg",
            "rotate: no such file, and no command; lapedge transform rotates and mirrors photos"},
        {"--help sttas", "no command is called \"sttas\"; did you mean stats?"},
        {"--help xyzzyxyz", "no command is called \"xyzzyxyz\"; see lapedge -h"},
        {"-h sttas", "no command is called \"sttas\"; did you mean stats?"},
        {"--version x", "--version takes no operand, such as x"},
        {"--version -v", "--verbose does not apply to --version"},
        {"-b c --version", "--backend does not apply to --version"}};
    begin();
    for (size_t i = 0; i < COUNT(rows); i++)
        refused(rows[i][0], rows[i][1]);
    is_fine("run run out.jpg");
    assert_true(cli.is_command_named && cli.operand_count == 2 && !cli.may_be_command);
    assert_string_equal(cli.command->name, "run");
    assert_string_equal(cli.operands[0], "run");
    assert_string_equal(cli.operands[1], "out.jpg");
    is_fine("in.jpg stats");
    assert_true(!cli.is_command_named && cli.operand_count == 2 && cli.may_be_command);
    assert_string_equal(cli.command->name, "run");
    is_fine("-- stats out.jpg");
    assert_true(!cli.is_command_named && cli.operand_count == 2 && !cli.may_be_command);
    is_fine("run sttas out.jpg");
    is_fine("-- sttas out.jpg");
    is_fine("--files-from=list sttas");
    is_fine("-v stats in.jpg");
    assert_string_equal(cli.command->name, "stats");
    is_fine("bench ''");
    is_fine("--help");
    assert_true(cli.help_full && !cli.help_short && !cli.is_command_named);
    is_fine("-h in.jpg");
    assert_true(!cli.help_full && cli.help_short);
    is_fine("--help a.b");
    is_fine("--help photos");
    is_fine("stats --help sttas");
    is_fine("-V");
    assert_true(cli.version && !cli.help_full && !cli.help_short);
    is_fine("--version");
}

/* A first word that no file has: what is said of it, if it was meant as a command, and otherwise. */
static void first_words(void **unused)
{
    (void)unused;
#define NEITHER ": no such file, and no command"
#define SPACES ": no such file; put a name with spaces in quotation marks: "
    static const struct {
        const char *words[4], *as_command, *as_name; /* what is said; NULL: nothing */
    } rows[] = {{{""}, NULL, NULL}, {{"-"}, NULL, NULL}, {{"a.b"}, NULL, NULL}, {{"a/b"}, NULL, NULL},
        {{"photos"}, NULL, NULL}, {{"dangling"}, NULL, NULL},
        {{"sttas"}, "sttas" NEITHER " (did you mean stats?)", "sttas" NEITHER " (did you mean stats?)"},
        {{"convert"}, "convert" NEITHER "; lapedge IN OUT filters, lapedge transform rotates",
            "convert" NEITHER "; lapedge IN OUT filters, lapedge transform rotates"},
        {{"xyzzyxyz"}, NULL, "xyzzyxyz" NEITHER "; see lapedge -h"},
        {{"convert", "it"}, "convert" SPACES "'convert it'", "convert" SPACES "'convert it'"},
        {{"my", "day"}, NULL, "my" NEITHER "; see lapedge -h"},
        {{"my", "first", "day"}, NULL, "my" SPACES "'my first day'"},
        {{"sttas", "of", "all"}, "sttas" SPACES "'sttas of'", "sttas" SPACES "'sttas of'"},
        {{"none", "in.jpg"}, NULL, "none" NEITHER "; see lapedge -h"}};
    begin();
    put("my first day", "x");
    put("convert it", "x");
    put("sttas of", "x");
    put("xyzzyxyz (null)", "x"); /* nothing behind the last word is looked at */
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int is_command = 0; is_command < 2; is_command++)
            for (int may_be = 0; may_be < 2; may_be++) {
                char *words[4], want[300] = "";
                lap_cli given = {.operands = words, .may_be_command = may_be};
                for (int k = 0; k < 4; k++)
                    words[k] = (char *)(uintptr_t)rows[i].words[k];
                while (words[given.operand_count])
                    given.operand_count++;
                const char *said_of_it = is_command ? rows[i].as_command : rows[i].as_name;
                if (may_be && said_of_it)
                    snprintf(want, sizeof want, "lapedge: %s\n", said_of_it);
                listen();
                const lap_cli_exit code = lap_cli_check_first_word(&given, is_command);
                if (strcmp(said(), want) != 0 || code != (*want ? LAP_EXIT_USAGE : LAP_EXIT_OK))
                    fail_msg("%s: %d, %s", words[0], (int)code, text);
            }
    char word[300], rest[PATH_MAX + 20]; /* what is too long cannot be examined, or is cut */
    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = '\0';
    memset(rest, 'y', sizeof rest);
    rest[sizeof rest - 1] = '\0';
    char *words[] = {word, rest, rest, NULL};
    lap_cli given = {.operands = words, .operand_count = 3, .may_be_command = true};
    assert_int_equal(lap_cli_check_first_word(&given, false), LAP_EXIT_OK);
    word[100] = '\0';
    listen();
    const lap_cli_exit code = lap_cli_check_first_word(&given, false);
    assert_true(strstr(said(), NEITHER "; see lapedge -h"));
    assert_int_equal(code, LAP_EXIT_USAGE);
}

static void defaults_are_known(void **unused)
{
    (void)unused;
    begin();
    is_fine("in.jpg out.jpg");
    assert_true(cli.tolerance == 0.1 && cli.rotate == -1 && cli.flip == -1 && cli.ops == 1);
    assert_true(cli.allowed.max_abs == -1 && cli.allowed.max_differing == -1 &&
                cli.allowed.max_differing_share == -1 && cli.allowed.min_psnr == -1);
    assert_true(!cli.json && !cli.has_quality && cli.word_count == 3 && cli.settings.quality == 90);
    assert_string_equal(cli.words[2], "out.jpg");
    static const struct {
        uint64_t memory, limit;
    } rows[] = {
        {100, 1000000000}, {2000000000, 1000000000}, {2000000002, 1000000001}, {6000000000, 3000000000}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        sys.memory = rows[i].memory;
        is_fine("in.jpg out.jpg");
        assert_int_equal(cli.settings.max_memory, rows[i].limit);
    }
    is_fine("--quality=5 in.jpg out.jpg");
    assert_true(cli.has_quality && cli.settings.quality == 5);
    is_fine("--quality=5 in.jpg out.png"); /* without effect */
    assert_true(!cli.has_quality && cli.settings.quality == 90);
    assert_int_equal(cli.forms, LAP_CLI_ONE);
    static const char *const objects[] = {"--jobs=0 --json", "--jobs=0 --json x", "--xyzzyxyz a --json"};
    for (size_t i = 0; i < COUNT(objects); i++) {
        listen();
        assert_int_equal(parse(objects[i]), LAP_EXIT_USAGE);
        (void)said();
        assert_true(cli.json); /* so that the refusal is an object, too */
    }
    is_fine("in.jpg -- --json");
    assert_false(cli.json);
    is_fine("in.jpg out.jpg --json-file=/dev/stdout");
    assert_true(cli.json && !cli.json_file);
    is_fine("in.jpg out.jpg --json-file=o");
    assert_true(!cli.json && cli.json_file);
    static const char *const outs[] = {
        "in.jpg /dev/stdout", "--jobs=2 in.jpg /dev/fd/1", "transform --rotate=90 in.jpg /dev/stdout"};
    for (size_t i = 0; i < COUNT(outs); i++) {
        is_fine(outs[i]);
        assert_string_equal(cli.operands[1], "-");
    }
    is_fine("stats in.jpg /dev/stdout");
    assert_string_equal(cli.operands[1], "/dev/stdout");
}

static void options_are_given_again(void **unused)
{
    (void)unused;
    begin();
    is_fine("--jobs=2 --jobs=2 -v photos out");
    is_fine("--jobs=2 --jobs=3 photos out");
    assert_int_equal(cli.jobs, 3);
    is_fine("--gray --gray --scale=2 --scale=2 in.jpg out.jpg");
    is_fine("bench --sizes=1M --sizes=1M --devices=0,1 --devices=0,1");
    assert_true(cli.size_count == 1 && cli.device_count == 2);
    is_fine("bench --devices=0,1 --devices=3");
    assert_true(cli.device_count == 1 && cli.devices[0] == 3);
    is_fine("--include=a --include=b photos out");
    assert_string_equal(cli.include[1], "b");
    is_fine("-b simd -b c in.jpg out.jpg");
    assert_string_equal(cli.settings.backend, "c");
    expect("-v --jobs=2 --jobs=3 photos out", LAP_EXIT_OK,
        "note: --jobs is given more than once; the last value counts");
    expect("-v -b simd -b c in.jpg out.jpg", LAP_EXIT_OK,
        "note: --backend is given more than once; the last value counts");
    expect("-v --jobs=2 --jobs=3 in.jpg out.jpg", LAP_EXIT_OK,
        "note: --jobs does not apply to one image, only to files in place, a folder run");
    refused(
        "--scale=1 --scale=2 in.jpg out.jpg", "--scale is given twice, as \"1\" and as \"2\"; leave one out");
    refused("--keep=exif --keep=icc in.jpg out.jpg",
        "--keep is given twice, as \"exif\" and as \"icc\"; separate values by commas");
    refused("transform --rotate=90 --rotate=90 in.jpg out.jpg", "--rotate is given twice; use one at a time");
    refused(
        "transform --transpose --transpose in.jpg out.jpg", "--transpose is given twice; use one at a time");
}

/* ---- forms --------------------------------------------------------------------------------------------- */

static void forms_follow_from_operands(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {{"", "one image"}, {"in.jpg", "one image"},
        {"in.jpg out.jpg", "one image"}, {"in.jpg out", "one image"}, {"in.jpg out/", "a folder run"},
        {"in.jpg photos", "a folder run"}, {"photos", "a folder run"}, {"photos out", "a folder run"},
        {"photos/ out.jpg", "a folder run"}, {"nosuch1.jpg/ out.jpg", "a folder run"},
        {"in.jpg in.png out", "a folder run"}, {"nosuch1 nosuch2", "a folder run"},
        {"nosuch1 nosuch2 --format=png", "one image"}, {"nosuch1.jpg nosuch2", "one image"},
        {"nosuch1 b.jpg", "one image"}, {"nosuch1 b.1", "a folder run"}, {"nosuch1 b.tiff", "one image"},
        {"nosuch1 -", "one image"}, {"- nosuch1", "one image"}, {"in.jpg/x nosuch1", "a folder run"},
        {"dangling nosuch1", "one image"}, {"loop nosuch1", "one image"},
        {"--in-place photos", "files in place"}, {"--in-place", "files in place"},
        {"--files-from=list out.jpg", "a folder run"}, {"transform photos out", "transform of folders"},
        {"transform in.jpg out.jpg", "transform of one image"}, {"stats", "stats"}, {"stats in.jpg", "stats"},
        {"stats in.jpg in.png", "stats of folders"}, {"stats photos", "stats of folders"},
        {"stats nosuch1", "stats of folders"}, {"stats nosuch1.jpg", "stats"}, {"stats -", "stats"},
        {"stats nosuch1.jpg/", "stats of folders"}, {"stats --files-from=list", "stats of folders"},
        {"diff in.jpg in.png", "diff"}, {"diff photos photos", "diff of folders"},
        {"diff in.jpg photos", "diff of folders"}, {"diff photos in.jpg", "diff of folders"},
        {"diff photos", "diff"}, {"diff photos photos photos", "diff"},
        {"compare in.jpg", "compare of filter"},
        {"compare --ops=reduce,matvec in.jpg", "compare of reduce, compare of matvec"},
        {"compare --ops=all in.jpg", "compare of filter, compare of transpose, compare of reduce, compare of "
                                     "histogram, compare of matvec"},
        {"bench", "bench of filter"}, {"bench reduce codec", "bench of reduce, bench of codec"},
        {"bench filter histogram", "bench of filter, bench of histogram"}, {"bench xyz", "bench of filter"},
        {"backends", "backends"}, {"help", "help"}, {"explain c", "help"}, {"info in.jpg", "info"},
        {"doctor", "doctor"}};
    char forms[600];
    begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        is_fine(rows[i][0]);
        lap_cli_list_forms(cli.forms, forms, sizeof forms);
        if (strcmp(forms, rows[i][1]) != 0)
            fail_msg("%s: %s instead of %s", rows[i][0], forms, rows[i][1]);
    }
    lap_cli_list_forms(~0u, forms, sizeof forms);
    assert_string_equal(forms,
        "one image, files in place, a folder run, transform of one image, stats, diff, backends, help, "
        "compare of filter, compare of transpose, compare of reduce, compare of histogram, compare of "
        "matvec, "
        "transform of folders, info, doctor, bench of filter, bench of transpose, bench of reduce, "
        "bench of histogram, bench of matvec, bench of codec, stats of folders, diff of folders");
    lap_cli_list_forms(0, forms, sizeof forms);
    assert_string_equal(forms, "");
    memset(forms, 'x', sizeof forms);
    lap_cli_list_forms(~0u, forms, 10); /* "one image" fills it */
    assert_string_equal(forms, "one image");
    assert_int_equal(forms[10], 'x');
}

static void operands_that_cannot_be_examined(void **unused)
{
    (void)unused;
    begin();
    sys.call = "stat";
    sys.why = EIO;
    expect("photos out", LAP_EXIT_FAILED, "photos: cannot be examined: Input/output error");
    sys.after = 0;
    expect("diff photos in.jpg", LAP_EXIT_USAGE, "photos: cannot be examined: Input/output error");
    static const int nowhere[] = {ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG};
    for (size_t i = 0; i < COUNT(nowhere); i++) {
        sys.after = 0;
        sys.why = nowhere[i];
        is_fine("photos out.jpg");
        assert_int_equal(cli.forms, LAP_CLI_ONE);
    }
}

/* ---- rules --------------------------------------------------------------------------------------------- */

static void options_apply_to_forms(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"--rotate=90 in.jpg out.jpg", "--rotate does not apply to run, only to transform"},
        {"--backends=c in.jpg out.jpg", "--backends does not apply to run, only to compare, bench"},
        {"compare --backend=c in.jpg",
            "--backend does not apply to compare, only to run, stats; see --backends"},
        {"backends --gray", "--gray does not apply to backends, only to run, stats, compare, diff"},
        {"explain c --json",
            "--json does not apply to explain, only to run, transform, stats, compare, diff, "
            "bench, backends, info, doctor"},
        {"--prune in.jpg out.jpg", "--prune does not apply to one image, only to a folder run"},
        {"--prune - out.jpg", "--prune does not apply to one image, only to a folder run"},
        {"--prune", "--prune does not apply to one image, only to a folder run"},
        {"--prune loop out.jpg", "--prune does not apply to one image, only to a folder run"},
        {"--flat --in-place in.jpg", "--flat does not apply to files in place, only to a folder run"},
        {"--backup=.o photos out", "--backup does not apply to a folder run, only to files in place"},
        {"--shard=0/2 in.jpg out.jpg", "--shard does not apply to one image, only to a folder run"},
        {"--shard=x in.jpg out.jpg", "--shard does not apply to one image, only to a folder run"},
        {"--trace=t in.jpg out.jpg", "--trace does not apply to one image, only to a folder run"},
        {"compare --ops=reduce --max-abs=1 in.jpg", "--max-abs does not apply to compare of reduce, only to "
                                                    "compare of filter, compare of transpose"},
        {"bench reduce --sizes=1M",
            "--sizes does not apply to bench of reduce, only to bench of filter, bench "
            "of transpose, bench of histogram, bench of codec"},
        {"diff photos photos --heatmap=h.png", "--heatmap does not apply to diff of folders, only to diff"},
        {"transform --rotate=90 --stats=s in.jpg out.jpg",
            "--stats does not apply to transform, only to run"},
        {"transform --rotate=90 --trim in.jpg out.png",
            "--trim applies only to JPEG output, and the output is .png"},
        {"transform --rotate=90 --trim --format=ppm in.jpg -",
            "--trim applies only to JPEG output, and the output is .ppm"},
        {"transform --rotate=90 --perfect in.jpg out.x",
            "--perfect applies only to JPEG output, and the output is .x"},
        {"--keep=exif in.jpg out.ppm", "--keep applies only to JPEG and PNG output, and the output is .ppm"},
        {"--no-clobber in.jpg -", "--no-clobber applies only to a file, and the output is standard output"},
        {"--preserve in.jpg -", "--preserve applies only to files, and the output is standard output"},
        {"--preserve - out.jpg", "--preserve applies only to files, and the input is a pipe"},
        {"- out.jpg --report=r.html",
            "--report applies only to named inputs, and standard input can be read only once"},
        {"stats - --report=r.html",
            "--report applies only to named inputs, and standard input can be read only once"},
        {"in.jpg a.jpg out --include=x", "--include applies only to folders, and in.jpg is not one"},
        {"in.png photos --include=x", "--include applies only to folders, and in.png is not one"},
        {"--files-from=list out --include=x",
            "--include applies only to folders, and --files-from names files"},
        {"stats in.jpg in.png --ext=jpg", "--ext applies only to folders, and in.jpg is not one"},
        {"bench --backends=c --omp-loop=x", "--omp-loop applies only to openmp, and it is not named"},
        {"bench --backends=c,openmp --block=1x1",
            "--block applies only to cuda-global, and it is not named"}};
    begin();
    put("a.jpg", "x");
    for (size_t i = 0; i < COUNT(rows); i++)
        refused(rows[i][0], rows[i][1]);
    static const char *const fine[] = {"--flat in.jpg out.jpg", "--shard=0/1 in.jpg out.jpg",
        "--shard=0/1 --in-place in.jpg", "transform --rotate=90 --trim in.jpg out.jpeg",
        "transform --rotate=90 --trim in.jpg out", "transform --rotate=90 --trim --format=jpg in.jpg -",
        "--keep=exif in.jpg out.png", "--keep=none in.jpg out.ppm", "--keep=exif photos out",
        "--no-clobber in.jpg out.jpg", "--preserve in.jpg out.jpg", "--preserve photos out",
        "in.jpg out.jpg --report=r.html", "diff - in.jpg --report=r.html", "photos - out --report=r.html",
        "photos in.jpg out --include=x", "nosuch1 out --include=x", "stats in.jpg photos --include=x",
        "diff photos photos --include=x", "stats --include=x photos", "bench --omp-loop=x",
        "bench --backends=c,openmp --omp-loop=x", "bench --backends=cuda-global --block=1x1",
        "bench filter codec --backends=c --omp-loop=x", "in.png out.png --decode=serial",
        "--rebuild --follow in.jpg out.jpg", "--jobs=2 in.jpg out.jpg", "in.jpg out.png --quality=3"};
    for (size_t i = 0; i < COUNT(fine); i++)
        is_fine(fine[i]);
    static const char *const missing[] = {"--prune missing.jpg out.jpg", "--prune --flat missing.jpg out.jpg",
        "transform --rotate=90 --prune missing.jpg out.jpg", "stats missing.jpg --include=x"};
    for (size_t i = 0; i < COUNT(missing); i++)
        expect(missing[i], LAP_EXIT_NOTHING, "missing.jpg: no such file or folder");
    expect("--prune in.jpg/x out.jpg", LAP_EXIT_NOTHING, "in.jpg/x: no such file or folder");
    refused("transform --backup=.o missing.jpg out.jpg", "--backup does not apply to transform, only to run");
    const int in = open("in.jpg", O_RDONLY); /* a file has a time and a mode, even as standard input */
    dup2(in, STDIN_FILENO);
    close(in);
    is_fine("--preserve - out.jpg");
    dup2(streams[0], STDIN_FILENO);
}

static void notes_say_what_has_no_effect(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"in.jpg out.png --quality=3", "note: --quality applies only to JPEG output, and the output is .png"},
        {"in.jpg out.x --restart=on", "note: --restart applies only to JPEG output, and the output is .x"},
        {"in.jpg - --no-sync", "note: --no-sync applies only to a file, and the output is standard output"},
        {"in.jpg out.jpg --flat", "note: --flat does not apply to one image, only to a folder run"},
        {"in.jpg out.ppm --keep=none",
            "note: --keep applies only to JPEG and PNG output, and the output is .ppm"},
        {"in.png in.jpg --decode=serial", "note: --decode applies only to JPEGs, and in.png is not one"},
        {"diff in.png in.pgm --decode=serial", "note: --decode applies only to JPEGs, and in.png is not one"},
        {"diff in.pgm in.jpg --decode=serial", ""}, {"diff in.jpg in.png --decode=serial", ""},
        {"in.png in.png photos --decode=serial", ""},
        {"transform --rotate=90 in.png photos --decode=serial", ""},
        {"missing.png out.jpg --decode=serial", ""}, {"photos/a.jpg out.jpg --decode=serial", ""},
        {"-b c --devices=0 in.jpg out.jpg",
            "note: --devices applies only to CUDA backends, and none is named"},
        {"-b simd --devices=0 in.jpg out.jpg",
            "note: --devices applies only to CUDA backends, and none is named"},
        {"-b auto --devices=0 in.jpg out.jpg", ""}, {"-b cuda-fast --devices=0 in.jpg out.jpg", ""},
        {"-b cuda-shared-int --devices=0 in.jpg out.jpg", ""}, {"--devices=0 in.jpg out.jpg", ""},
        {"--sandbox --devices=0 in.jpg out.jpg",
            "note: --devices applies only to CUDA backends, and none is named"},
        {"compare --backends=c,simd --devices=0 in.jpg",
            "note: --devices applies only to CUDA backends, and none is named"},
        {"compare --backends=c,cuda-fast --devices=0 in.jpg", ""}, {"compare --devices=0 in.jpg", ""},
        {"diff --jobs=2 in.jpg in.png", "note: --jobs does not apply to diff, only to diff of folders"},
        {"stats --fail-fast in.jpg", "note: --fail-fast does not apply to stats, only to stats of folders"},
        {"backends", "note: --verbose does not apply to backends"}};
    char line[200];
    begin();
    for (size_t i = 0; i + 1 < COUNT(rows); i++) {
        snprintf(line, sizeof line, "%s -v", rows[i][0]);
        expect(line, LAP_EXIT_OK, rows[i][1]);
        is_fine(rows[i][0]);
    }
    is_fine("backends -v"); /* says nothing about itself */
}

static void combinations_are_refused(void **unused)
{
    (void)unused;
    static const char both[] = "both transform the image; use one at a time";
    static const char others[] = "contradict each other", gone[] = "photos left out would look gone";
    const struct {
        const char *line, *first, *why;
    } rows[] = {{"--in-place --format=png in.jpg",
                    "--in-place and --format cannot be combined: ", "names keep their extensions"},
        {"--in-place --format=png in.jpg in.png",
            "--in-place and --format cannot be combined: ", "names keep their extensions"},
        {"--in-place --format=jpg in",
            "--in-place and --format cannot be combined: ", "names keep their extensions"},
        {"--in-place --format=jpg",
            "--in-place and --format cannot be combined: ", "names keep their extensions"},
        {"--in-place --format=jpg --files-from=list",
            "--in-place and --format cannot be combined: ", "names keep their extensions"},
        {"--no-clobber -f in.jpg o", "--no-clobber and --force ", others},
        {"--skip-existing -f in.jpg o", "--skip-existing and --force ", others},
        {"--skip-existing --no-clobber in.jpg o", "--skip-existing and --no-clobber ", others},
        {"--keep=exif --strip in.jpg o", "--keep and --strip ", others},
        {"transform --rotate=90 --flip=h in.jpg o", "--rotate and --flip ", both},
        {"transform --rotate=90 --transpose in.jpg o", "--rotate and --transpose ", both},
        {"transform --rotate=90 --transverse in.jpg o", "--rotate and --transverse ", both},
        {"transform --flip=h --transpose in.jpg o", "--flip and --transpose ", both},
        {"transform --flip=h --transverse in.jpg o", "--flip and --transverse ", both},
        {"transform --transpose --transverse in.jpg o", "--transpose and --transverse ", both},
        {"transform --trim --perfect in.jpg o", "--trim and --perfect ", others},
        {"transform --trim -Q3 in.jpg o", "--trim keeps the coded data; ", "leave out --quality"},
        {"transform --perfect -Q3 in.jpg o", "--perfect keeps the coded data; ", "leave out --quality"},
        {"--prune --files-from=list out", "--prune applies only to folders, and ",
            "--files-from names files"},
        {"--prune --shard=0/2 photos out",
            "--prune and --shard cannot be combined: ", "a share does not see which photos are gone"},
        {"--prune --include=x photos out", "--prune and --include cannot be combined: ", gone},
        {"--prune --exclude=x photos out", "--prune and --exclude cannot be combined: ", gone},
        {"--prune --ext=x photos out", "--prune and --ext cannot be combined: ", gone},
        {"--rebuild --skip-existing photos out", "--rebuild and --skip-existing ", others},
        {"--rebuild --no-clobber photos out", "--rebuild and --no-clobber ", others},
        {"-n --stats=s in.jpg o", "--dry-run writes nothing; ", "leave out --stats"},
        {"-n --report=r.html in.jpg o", "--dry-run writes nothing; ", "leave out --report"},
        {"-n --log=l photos out", "--dry-run writes nothing; ", "leave out --log"},
        {"-n --trace=t photos out", "--dry-run writes nothing; ", "leave out --trace"},
        {"-0 photos out", "--null needs ", "--files-from"},
        {"stats --weights=w in.jpg", "--weights needs ", "--profiles"},
        {"bench --tolerance=5%", "--tolerance needs ", "--baseline"},
        {"-q -v in.jpg o", "--quiet and --verbose ", others},
        {"stats --csv --json in.jpg", "--json and --csv cannot be ", "combined"},
        {"--format=png in.jpg out.jpeg", "--format=png: out.jpeg is a name of another format; ",
            "write out.png, or --format=jpg"},
        {"transform --rotate=90 --format=jpeg in.jpg a.b/o.pgm",
            "--format=jpeg: a.b/o.pgm is a name of another format; ", "write a.b/o.jpg, or --format=pgm"},
        {"--files-from=in.jpg out", "--files-from: in.jpg ", "is an image, not a list of names"},
        {"--files-from=in.png out", "--files-from: in.png ", "is an image, not a list of names"},
        {"--sandbox -b cuda-fast in.jpg o",
            "--sandbox runs on the CPU only: the CUDA driver cannot be confined; ",
            "leave out --backend=cuda-fast"},
        {"--sandbox --codec=cuda in.jpg o", "--sandbox runs on the CPU only; ", "leave out --codec=cuda"},
        {"--jobs=2 --sandbox --codec=cuda in.jpg o", "--sandbox runs on the CPU only; ",
            "leave out --codec=cuda"},
        {"--json in.jpg -", "--json and the image cannot both go to standard output", "; name OUT"},
        {"--json --json-file=- in.jpg -", "--json-file=- and the image cannot both go to standard output",
            "; name OUT"},
        {"--stats=/dev/stdout in.jpg -",
            "--stats=/dev/stdout and the image cannot both go to standard output", "; name OUT"},
        {"--log=- --json photos out", "--log=- and --json cannot both go ", "to standard output"},
        {"--trace=- --log=- photos out", "--trace=- and --log=- cannot both go ", "to standard output"},
        {"stats --csv --json-file=- in.jpg", "--csv and --json-file=- cannot both go ",
            "to standard output"}};
    char message[300];
    begin();
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(message, sizeof message, "%s%s", rows[i].first, rows[i].why);
        refused(rows[i].line, message);
    }
    static const char *const fine[] = {"--in-place --format=jpeg in.jpg",
        "--keep=none --strip in.jpg out.jpg", "--prune --shard=0/1 photos out", "-0 --files-from=list out",
        "stats --weights=w --profiles in.jpg", "bench --tolerance=5% --baseline=b",
        "--format=jpeg in.jpg out.jpg", "--format=png in.jpg out.x", "--format=png in.jpg out",
        "--format=png photos out.jpg/", "--files-from=in.pgm out", "--files-from=missing out",
        "--files-from=photos out", "--sandbox -b c in.jpg out.jpg", "--sandbox -b auto in.jpg out.jpg",
        "--sandbox --codec=cpu in.jpg out.jpg", "--codec=cuda in.jpg out.jpg", "-b cuda-fast in.jpg out.jpg",
        "--json --json-file=- in.jpg out.jpg", "--json --json-file=o in.jpg out.jpg", "--log=- photos out",
        "--json in.jpg out.jpg", "in.jpg -", "--stats=s in.jpg -", "-n --json photos out"};
    for (size_t i = 0; i < COUNT(fine); i++)
        is_fine(fine[i]);
}

static void lists_of_backends_are_checked(void **unused)
{
    (void)unused;
    static const lap_op ops[] = {LAP_OP_REDUCE, LAP_OP_FILTER};
    begin();
    listen();
    assert_true(lap_cli_check_backends("c,cuda-shared-int", ops, 2));
    assert_true(lap_cli_check_backends(NULL, ops, 2));
    assert_false(lap_cli_check_backends("c,cuda-shared-int,c", ops, 1));
    assert_false(lap_cli_check_backends("xyz,c", ops, 2));
    assert_string_equal(said(), "lapedge: --backends: \"cuda-shared-int\" is not a backend of reduce\n"
                                "lapedge: --backends: \"xyz\" is not a backend of these operations\n");
}

static void images_are_known_by_their_head(void **unused)
{
    (void)unused;
    char head[16];
    begin();
    assert_string_equal(lap_cli_image_at("in.jpg"), "jpeg");
    assert_string_equal(lap_cli_image_at("in.png"), "png");
    assert_string_equal(lap_cli_image_at("in.pgm"), "pnm");
    assert_null(lap_cli_image_at("list"));
    assert_null(lap_cli_image_at("missing"));
    assert_null(lap_cli_image_at("photos"));
    assert_null(lap_cli_image_at(NULL));
    put("empty", "");
    assert_null(lap_cli_image_at("empty"));
    assert_int_equal(lap_cli_read_head("list", head, sizeof head), 7);
    assert_memory_equal(head, "in.jpg\n", 7);
    assert_int_equal(lap_cli_read_head("in.png", head, 4), 4);
    assert_int_equal(lap_cli_read_head("missing", head, 4), -1);
    assert_int_equal(errno, ENOENT);
    sys.call = "read";
    sys.why = EIO;
    assert_int_equal(lap_cli_read_head("list", head, 4), -1);
    assert_int_equal(errno, EIO);
    assert_int_equal(open_files(), files);
    static const char *const calls[] = {"open", "read", "stat"};
    for (size_t i = 0; i < COUNT(calls); i++) { /* interrupted, it is called again */
        begin();
        sys.call = calls[i];
        sys.why = EINTR;
        sys.once = true;
        if (i < 2)
            assert_int_equal(lap_cli_read_head("list", head, sizeof head), 7);
        else
            is_fine("photos out.jpg");
        assert_null(sys.call);
        assert_int_equal(open_files(), files);
    }
    assert_int_equal(cli.forms, LAP_CLI_FOLDER);
    close(STDIN_FILENO); /* so that the file gets the number 0 */
    errno = EINTR;
    assert_int_equal(lap_cli_read_head("list", head, sizeof head), 7);
    errno = EINTR; /* from before: nothing is read again at the end of a file */
    assert_int_equal(lap_cli_read_head("list", head, 0), 0);
    const int left = fcntl(STDIN_FILENO, F_GETFD);
    dup2(streams[0], STDIN_FILENO);
    assert_int_equal(left, -1);
    assert_int_equal(open_files(), files);
    static const char *const names[][2] = {{"a.jpg", "jpg"}, {"a.b/c", NULL}, {"a.b/c.d.e", "e"},
        {".jpg", NULL}, {"a/.jpg", NULL}, {"a.", ""}, {"a", NULL}};
    for (size_t i = 0; i < COUNT(names); i++) {
        const char *extension = lap_cli_extension(names[i][0]);
        assert_int_equal(!extension, !names[i][1]);
        if (extension)
            assert_string_equal(extension, names[i][1]);
    }
    assert_null(lap_cli_extension(NULL));
}

/* ---- hints --------------------------------------------------------------------------------------------- */

static const char *word_of(int i)
{
    static const char *const words[] = {"trim", "trace", "ab", "threshold", "trap", NULL};
    return words[i];
}

static void nearest_words_are_found(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {{"trim", "trim"}, {"tram", "trim"}, {"trin", "trim"},
        {"tri", "trim"}, {"tr", NULL}, {"ab", "ab"}, {"ac", NULL}, {"abc", "ab"}, {"thr", "threshold"},
        {"thresholds", "threshold"}, {"threshxxx", "threshold"}, {"thresxxxx", NULL},
        {"threshoxx", "threshold"}, {"threshxxx9", NULL}, {"trcf", NULL}, {"trxce", "trace"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *nearest = lap_cli_nearest(rows[i][0], word_of);
        if (strcmp(nearest ? nearest : "", rows[i][1] ? rows[i][1] : "") != 0)
            fail_msg("%s: %s", rows[i][0], nearest ? nearest : "");
    }
}

static void hints_are_given(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {{"-r --recursive -R --recurse", "folders are walked at any depth"},
        {"-o --output --out --outfile", "lapedge IN OUT"},
        {"--out-dir --outdir --output-dir -d --dest", "lapedge IN... OUTDIR"},
        {"--resume", "start the run again"}, {"--overwrite", "--force replaces"},
        {"--gpus --gpu", "--devices=0"}, {"--decoder --encoder", "--codec=auto"},
        {"--workers -w", "--jobs=N"}, {"--bias", "--offset=F"},
        {"--grayscale --grey --greyscale", "--gray uses"}, {"--upsampling --dct", "accurate transform"},
        {"--strict", "--fail-on=warning"}, {"--max-markers", "at most 4096 segments"},
        {"--copy", "--keep=LIST"}, {"-p", "--preserve keeps"}, {"--errors --log-json", "--log=FILE writes"},
        {"-c --stdout", "lapedge IN -"}, {"-t --totals", "totals are in the summary"},
        {"--noaction --no-act", "-n prints"}, {"--warmup", "--runs=N sets"},
        {"--streams --batch-size", "--device-memory limits"}, {"batch", "folders need no command"},
        {"rotate flip mirror turn", "lapedge transform rotates"},
        {"resize scale crop thumbnail --resize --width --height --crop --size", "lapedge does not resize"},
        {"watch --watch", "run the same command again"}, {"version ver", "lapedge --version prints"},
        {"convert", "lapedge IN OUT filters"}, {"gpu nvidia", "cuda-fast"}, {"cpu", "simd"},
        {"sobel prewitt scharr",
            "--range=abs --kernel='0 0 0 0 0/0 -1 0 1 0/0 -2 0 2 0/0 -1 0 1 0/0 0 0 0 0'"},
        {"border=mirror", "a mirror is reflect"}, {"rotate=left rotate=-90", "use 270"},
        {"laplace laplacian", "laplace5, laplace3-4 or laplace3-8"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char words[200];
        snprintf(words, sizeof words, "%s", rows[i][0]);
        for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
            if (!lap_cli_hint(word) || !strstr(lap_cli_hint(word), rows[i][1]))
                fail_msg("%s: %s", word, lap_cli_hint(word));
    }
    static const char *const none[] = {"", "r", "-rr", "resiz", "rotate|flip ", "--out-",
        "a-word-that-is-longer-than-any-word-of-a-hint-and-than-the-room-for-one"};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_null(lap_cli_hint(none[i]));
}

/* ---- help ---------------------------------------------------------------------------------------------- */

/* What a line of help prints. */
static const char *page_of(const char *line)
{
    assert_int_equal(parse(line), LAP_EXIT_OK);
    listen();
    lap_cli_help(&cli, cli.help_full);
    return said();
}

/* What the shell's completion is told; words as in a command line. */
static const char *completed(const char *line)
{
    static char copy[200], *words[20];
    int count = 0;
    snprintf(copy, sizeof copy, "lapedge %s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    listen();
    const int code = lap_cli_complete(count, words);
    (void)said();
    assert_int_equal(code, LAP_EXIT_OK);
    return text;
}

static void pages_of_help(void **unused)
{
    (void)unused;
    begin();
    assert_string_equal(page_of("-h"),
        "Usage:\n"
        "  lapedge [run] [OPTIONS] IN OUT        one image; - is stdin or stdout\n"
        "  lapedge [run] [OPTIONS] IN... OUTDIR  files and folders, into a folder\n"
        "  lapedge [run] --in-place FILE...      replace each file by its edges\n"
        "  lapedge transform [OPTIONS] IN OUT    rotate or mirror, without filtering\n"
        "  lapedge stats [OPTIONS] IN...         statistics of images and their edges\n"
        "  lapedge compare [OPTIONS] IN          compare backends on the same pixels\n"
        "  lapedge diff [OPTIONS] A B            compare two images, or two folders\n"
        "  lapedge bench [OPTIONS] [OP...]       measure backends and their ceiling\n"
        "  lapedge backends [--json]             list backends and devices\n"
        "  lapedge info FILE                     structure of a file, without decoding\n"
        "  lapedge doctor                        what this machine has and can run\n"
        "  lapedge help [COMMAND]                help for a command\n"
        "  lapedge explain BACKEND               what a backend does, and its limit\n"
        "\n"
        "  -b, --backend=NAME    backend to use (auto: the fastest that can run here)\n"
        "      --kernel=...      5x5 coefficients (laplace5)\n"
        "      --border=...      pixels beyond the image (zero, which draws a bright\n"
        "                        frame of two pixels; replicate draws none)\n"
        "  -Q, --quality=N       JPEG quality, 1 to 100 (90)\n"
        "  -v, --verbose         print which backend ran, and the time of each stage\n"
        "      --json            print the result as a JSON object\n"
        "      --report=...      write a self-contained page with charts and images\n"
        "\n"
        "'lapedge --help' has all options, and examples.\n");
    assert_string_equal(page_of("transform -h"),
        "Usage:\n"
        "  lapedge transform [OPTIONS] IN OUT    rotate or mirror, without filtering\n"
        "\n"
        "  -Q, --quality=N       JPEG quality, 1 to 100 (90)\n"
        "      --rotate=...      rotate clockwise by 90, 180 or 270 degrees\n"
        "      --flip=h|v        mirror: h swaps left and right, v swaps top and bottom\n"
        "      --transpose       swap rows and columns\n"
        "      --transverse      transpose along the other diagonal\n"
        "      --trim            lossless: cut off partial MCUs that would end up at the\n"
        "                        left or upper edge\n"
        "      --perfect         lossless: refuse a JPEG with partial MCUs (default:\n"
        "                        decode and re-encode it)\n"
        "  -v, --verbose         print which backend ran, and the time of each stage\n"
        "      --json            print the result as a JSON object\n"
        "      --report=...      write a self-contained page with charts and images\n"
        "\n"
        "'lapedge transform --help' has all options, and examples.\n");
    assert_string_equal(page_of("info --help"),
        "Usage:\n"
        "  lapedge info FILE                     structure of a file, without decoding\n"
        "\n"
        "Examples:\n"
        "  lapedge info photo.jpg                        frame, tables, metadata\n"
        "\n"
        "Orientation and metadata:\n"
        "      --keep=LIST         metadata to keep: all, none, or a list of exif, gps,\n"
        "                          xmp, iptc, icc, comment, thumbnail (all but\n"
        "                          thumbnail)\n"
        "\n"
        "Folders:\n"
        "  -f, --force             also replace files that lapedge did not write: files\n"
        "                          in OUTDIR, an OUT in a format that it never writes,\n"
        "                          and files named by --log and similar options\n"
        "\n"
        "Limits:\n"
        "      --sandbox           for untrusted files: let the process only read the\n"
        "                          inputs and write to the output folders (Landlock and\n"
        "                          seccomp; CPU backends only)\n"
        "\n"
        "Messages:\n"
        "      --json              print the result as a JSON object\n"
        "      --json-file=FILE    write the result as a JSON object to FILE\n"
        "      --color=auto|always|never\n"
        "                          use colour (auto: on a terminal)\n"
        "      --help              print this help; -h prints a short one\n"
        "  -V, --version           print the versions of lapedge, compiler and libraries\n"
        "\n"
        "Defaults are in parentheses.\n"
        "\n"
        "Exit codes:\n"
        "  0              all done, or equal\n"
        "  1              a single image failed, or some of several; a file was left\n"
        "                 alone; images differ; or a bench became slower\n"
        "  2              wrong usage; for compare and diff also anything that prevents\n"
        "                 the comparison\n"
        "  3              the named backend, codec or device cannot run here\n"
        "  4              nothing could be done: no photo was found, all of several\n"
        "                 images failed, or an output or log cannot be created\n"
        "  5              a single image exceeded a limit, such as the time limit\n"
        "  129, 130, 143  hung up, interrupted, terminated\n"
        "  141            the reader of the output closed the pipe\n"
        "\n"
        "Environment:\n"
        "  NO_COLOR                if set and not empty, no colour\n"
        "  TERM                    if dumb or unset, no colour and no progress\n"
        "  LAP_CPU_MASK            instruction sets not to use: sse41,avx2,avx512,neon\n"
        "  LAP_CUDA_DEBUG          if set, synchronize after each kernel launch\n");
    static const char *const lines[] = {"--help", "run --help", "stats --help", "bench --help", "compare -h"};
    for (size_t i = 0; i < COUNT(lines); i++) {
        int lines_of_options = 0;
        for (const char *at = page_of(lines[i]); *at;
             at += at[strcspn(at, "\n")] == '\n' ? strcspn(at, "\n") + 1 : strlen(at)) {
            assert_in_range(strcspn(at, "\n"), 0, 79);
            lines_of_options +=
                strncmp(at, "      --", 8) == 0 || (strncmp(at, "  -", 3) == 0 && at[4] == ',');
        }
        int expected = 0;
        for (const lap_cli_option *option = lap_cli_options; option->name; option++)
            expected += (option->forms & cli.command->takes) != 0 && (cli.help_full || option->brief);
        assert_int_equal(lines_of_options, expected);
    }
    char info[20000];
    snprintf(info, sizeof info, "%s", page_of("info --help"));
    assert_int_equal(parse("help info"), LAP_EXIT_OK);
    listen();
    assert_int_equal(lap_cli_help_on(&cli), LAP_EXIT_OK);
    assert_string_equal(said(), info);
    snprintf(info, sizeof info, "%s", page_of("--help"));
    assert_non_null(strstr(info, "edge detection on photos"));
    assert_non_null(strstr(info, "'man lapedge' says more.\n"));
    assert_int_equal(parse("help"), LAP_EXIT_OK);
    listen();
    assert_int_equal(lap_cli_help_on(&cli), LAP_EXIT_OK);
    assert_string_equal(said(), info);
    static const char *const refusals[][2] = {
        {"help sttas", "lapedge: no command is called \"sttas\"; did you mean stats?\n"},
        {"help stats info", "lapedge: help takes one COMMAND\n"}};
    for (size_t i = 0; i < COUNT(refusals); i++) {
        assert_int_equal(parse(refusals[i][0]), LAP_EXIT_OK);
        listen();
        const int code = lap_cli_help_on(&cli);
        assert_string_equal(said(), refusals[i][1]);
        assert_int_equal(code, LAP_EXIT_USAGE);
    }
}

static void words_for_completion(void **unused)
{
    (void)unused;
    static const char commands[] =
        "run\ntransform\nstats\ncompare\ndiff\nbench\nbackends\ninfo\ndoctor\nhelp\nexplain\n";
    static const char *const rows[][2] = {{"__complete", commands}, {"__complete help x", commands},
        {"__complete doctor", "--force\n--json\n--json-file=\n--color=\n--help\n--version\n"},
        {"__complete run --border", "zero\nreplicate\nreflect\nreflect101\nwrap\nconstant:V\n"},
        {"__complete run --range", "clamp\nabs\n"}, {"__complete bench --omp-loop", "y\nx\nwindow\n"},
        {"__complete run --kernel", "laplace5\nlaplace3-4\nlaplace3-8\nlog5\nnpp5\nopencv5\nidentity\n"},
        {"__complete run --jobs", ""}, {"__complete run --nosuch", ""}, {"__complete run --log x", ""},
        {"__complete run --gray", ""}, {"__complete run x", ""}, {"__complete run -x", ""},
        {"__complete bench x", "filter\ntranspose\nreduce\nhistogram\nmatvec\ncodec\n"},
        {"__describe help",
            "--color=\tuse colour (auto: on a terminal)\n--help\tprint this help; -h prints a short "
            "one\n--version\tprint the versions of lapedge, compiler and libraries\n"}};
    begin();
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(completed(rows[i][0]), rows[i][1]) != 0)
            fail_msg("%s: %s", rows[i][0], text);
    char backends[2000] = "", run[4000];
    for (int i = 0; lap_cli_rung_name(i); i++)
        snprintf(
            backends + strlen(backends), sizeof backends - strlen(backends), "%s\n", lap_cli_rung_name(i));
    assert_string_equal(completed("__complete run --backend"), backends);
    assert_string_equal(completed("__complete bench --backends"), backends);
    assert_string_equal(completed("__complete explain x"), backends);
    snprintf(run, sizeof run, "%s", completed("__complete run"));
    assert_string_equal(completed("__complete nosuch"), run);
    assert_memory_equal(run, "--backend=\n--kernel=\n", 21);
    assert_null(strstr(run, "--rotate"));
    static const char *const table[] = {"\nquality\tQ\tN\tone image, files in place, a folder run, transform "
                                        "of one image, transform of folders\t"
                                        "JPEG quality, 1 to 100 (90)\tsame\n",
        "\nflat\t\t\ta folder run, transform of folders\twrite all outputs directly into OUTDIR; refuse "
        "names that "
        "clash (default: mirror the folders)\tsame\n",
        "\ntranspose\t\t\ttransform of one image, transform of folders\tswap rows and columns\tnever\n",
        "\ncodec\t\tauto|cpu|cuda|turbo|c|avx2|avx512|neon\t", "it depends"};
    (void)completed("__options");
    assert_memory_equal(
        text, "backend\tb\tNAME\tone image, files in place, a folder run, stats, stats of folders\t", 80);
    for (size_t i = 0; i < 4; i++)
        if (!strstr(text, table[i]))
            fail_msg("%s", table[i]);
    assert_non_null(strstr(text, "may be repeated\tadds\n"));
    assert_non_null(strstr(text, "lists them\tlast\n"));
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static char before[500];

static int open_scratch(void **state)
{
    (void)state;
    int ends[2];
    for (int i = 1; i < 3; i++)
        streams[i] = dup(i);
    heard = __real_open("/tmp", O_RDWR | O_APPEND | O_TMPFILE, 0600);
    if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0)
        return -1;
    close(ends[1]);
    streams[0] = ends[0];
    return make_scratch() && getcwd(before, sizeof before) && chdir(scratch) == 0 ? 0 : -1;
}

static int close_scratch(void **state)
{
    free(cli.operands);
    return chdir(before) == 0 ? remove_scratch(state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_limits),
        cmocka_unit_test(quantities_have_units),
        cmocka_unit_test(words_are_taken_whole),
        cmocka_unit_test(names_of_files_are_checked),
        cmocka_unit_test(lists_have_limits),
        cmocka_unit_test(lists_end),
        cmocka_unit_test(backends_are_known),
        cmocka_unit_test(kernels_are_read),
        cmocka_unit_test(unknown_options_are_named),
        cmocka_unit_test(commands_come_first),
        cmocka_unit_test(first_words),
        cmocka_unit_test(defaults_are_known),
        cmocka_unit_test(options_are_given_again),
        cmocka_unit_test(forms_follow_from_operands),
        cmocka_unit_test(operands_that_cannot_be_examined),
        cmocka_unit_test(options_apply_to_forms),
        cmocka_unit_test(notes_say_what_has_no_effect),
        cmocka_unit_test(combinations_are_refused),
        cmocka_unit_test(lists_of_backends_are_checked),
        cmocka_unit_test(images_are_known_by_their_head),
        cmocka_unit_test(nearest_words_are_found),
        cmocka_unit_test(hints_are_given),
        cmocka_unit_test(pages_of_help),
        cmocka_unit_test(words_for_completion),
    };
    return cmocka_run_group_tests(tests, open_scratch, close_scratch);
}
