/* judge_check [--fewer] [--damaged=N] [--streams=N] [--only-streams] [--seed=N] [FILE...]: compares the
 * decoder of JPEG files with each rung of the ladder `decode` and with libjpeg-turbo alone: headers, codes,
 * messages, warnings and rows must be equal, from a file and through a pipe. TAP on stdout.
 * --fewer: 500 damaged files and 200 streams. Of the corpus every eighth file; all with CORPUS_WHOLE=1. */
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <sys/mman.h>
#include <unistd.h>

#include "decode_case.h"
#include "jpeg/ladders.h"
#include "run/formats.h"
#include "run/pixels.h"
#include "stream_case.h"

static int tests, failures, corpus_share = 8;
static long cases, wrong, decoded, handed_over;
static char first_wrong[1600];

static void need(bool ok, const char *what)
{
    if (!ok) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static void report(const char *what, bool ok)
{
    tests++;
    ok = ok && cases > 0 && wrong == 0;
    printf("%s %d - %s: %ld cases, %ld decoded by ours, %ld handed over\n", ok ? "ok" : "not ok", tests, what,
        cases, decoded, handed_over);
    if (wrong)
        printf("# %ld differ; the first: %s\n", wrong, first_wrong);
    failures += !ok;
    cases = wrong = decoded = handed_over = 0;
    fflush(stdout);
}

/* ---- one file by one decoder ---------------------------------------------------------------------- */

typedef struct settings {
    lap_fail_on fail_on;
    bool gray, by_pipe;
    int rows; /* a call */
    uint64_t memory;
    int threads;  /* 0: rows in order; else this many at once, wherever the decoder can begin */
    size_t piece; /* bytes that a thread scans at once; 0: the default */
    bool is_ours; /* our decoder must decode the file to its end */
} settings;

typedef struct outcome {
    lap_code code;
    int rows; /* delivered */
    lap_error error;
    lap_damage damage;
    lap_header header;
    lap_image image;
    bool opened, is_ours, handed_over, held; /* held: in memory, at least up to the first end marker */
} outcome;

typedef struct feed {
    const uint8_t *bytes;
    size_t size;
    int fd;
} feed;

static void *write_all(void *argument)
{
    const feed *f = argument;
    for (size_t at = 0; at < f->size;) {
        const size_t left = f->size - at;
        const ssize_t n = write(f->fd, f->bytes + at, left < 1000 ? left : 1000);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    close(f->fd);
    return NULL;
}

/* Decodes with all threads, as statistics and comparisons do. */
static void collect(lap_decoder *decoder, outcome *o)
{
    const lap_collect all = {.decoder = decoder, .turn = LAP_TURN_NONE, .to = &o->image.view};
    o->code = lap_collect_image(&all, &o->damage, &o->error);
    o->rows = o->code == LAP_OK ? o->header.height : 0;
}

static void decode_from(lap_source *source, const lap_read_options *options, int rows, outcome *o)
{
    lap_decoder *decoder = NULL;
    o->code = lap_decoder_open(source, options, &decoder, &o->error);
    if (o->code != LAP_OK)
        return;
    o->header = *lap_decoder_header(decoder);
    o->opened = true;
    const int height = o->header.height;
    need(lap_image_create(&o->image, o->header.width, height, o->header.channels, 0, NULL) == LAP_OK,
        "memory");
    if (options->threads > 0)
        collect(decoder, o);
    for (int y = o->rows; y < height && o->code == LAP_OK; y += rows) {
        const lap_view band = lap_view_rows(&o->image.view, y, height - y < rows ? height - y : rows);
        o->code = lap_decoder_rows(decoder, &band, &o->error);
        o->rows = o->code == LAP_OK ? y + band.height : o->rows;
    }
    if (o->code == LAP_OK && options->threads == 0)
        o->code = lap_decoder_finish(decoder, &o->damage, &o->error);
    o->is_ours = decoder->coder && !decoder->coder_asked && strcmp(decoder->coder, "turbo") != 0;
    o->held = decoder->bytes != NULL;
    o->handed_over = decoder->why_not && strcmp(decoder->why_not, "its data is unusual") == 0;
    lap_decoder_close(decoder);
}

static lap_pool *pool_of(int threads)
{
    enum { MOST = 16 };
    static lap_pool *pools[MOST + 1];
    need(threads <= MOST, "threads");
    if (!pools[threads])
        pools[threads] = lap_pool_create(threads, NULL);
    need(pools[threads] != NULL, "threads");
    return pools[threads];
}

/* A regular file without a name. */
static int file_of(const uint8_t *bytes, size_t size)
{
    const int fd = memfd_create("case", 0);
    need(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0, "a file");
    return fd;
}

static outcome decode(const uint8_t *bytes, size_t size, const settings *s, lap_codec_place codec)
{
    /* A pipe delivers pieces of arbitrary size, and libjpeg-turbo's warnings about damaged data depend on
     * where the pieces end. So the verdict without our decoders is always that on a file. */
    const bool by_pipe = s->by_pipe && codec != LAP_CODEC_TURBO;
    const lap_read_options options = {.gray = s->gray,
        .decode = s->threads > 0 ? LAP_DECODE_PARALLEL : LAP_DECODE_AUTO,
        .pool = s->threads > 0 ? pool_of(s->threads) : NULL,
        .threads = s->threads,
        .max_scans = 100,
        .max_memory = s->memory ? s->memory : 1 << 30,
        .max_pixels = 100000000,
        .fail_on = s->fail_on,
        .piece_bytes = s->piece,
        .codec = codec};
    outcome o = {0};
    lap_source *source = NULL;
    pthread_t thread;
    feed f = {bytes, size, -1};
    int ends[2] = {-1, -1};
    char path[40];
    if (by_pipe) {
        need(pipe(ends) == 0, "a pipe");
        f.fd = ends[1];
        need(pthread_create(&thread, NULL, write_all, &f) == 0, "a thread");
    } else {
        ends[0] = file_of(bytes, size);
    }
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    need(lap_source_open(path, &source, NULL) == LAP_OK, path);
    decode_from(source, &options, s->rows, &o);
    lap_source_close(source);
    close(ends[0]);
    if (by_pipe)
        pthread_join(thread, NULL);
    return o;
}

static const char *difference(const outcome *a, const outcome *b)
{
    if (a->code != b->code)
        return "another code";
    if (strcmp(a->error.message, b->error.message) != 0 && a->code != LAP_OK)
        return "another message";
    if (a->rows != b->rows)
        return "other rows before an error";
    if (a->code == LAP_OK &&
        (a->damage.warnings != b->damage.warnings || a->damage.truncated != b->damage.truncated ||
            a->damage.damaged != b->damage.damaged || strcmp(a->damage.first, b->damage.first) != 0))
        return "other warnings";
    if (a->header.width != b->header.width || a->header.height != b->header.height ||
        a->header.channels != b->header.channels)
        return "another header";
    for (int y = 0; y < a->rows; y++)
        if (memcmp(a->image.view.base + y * a->image.view.stride,
                b->image.view.base + y * b->image.view.stride,
                (size_t)a->header.width * (size_t)a->header.channels) != 0)
            return "other pixels";
    return NULL;
}

/* Returns whether data follows the first end marker after the first scan's begin. */
static bool goes_on(const uint8_t *bytes, size_t size)
{
    static const uint8_t begin[] = {0xFF, 0xDA}, end[] = {0xFF, 0xD9};
    const uint8_t *scan = memmem(bytes, size, begin, sizeof begin);
    const uint8_t *last = scan ? memmem(scan, (size_t)(bytes + size - scan), end, sizeof end) : NULL;
    return last && last + sizeof end < bytes + size;
}

/* Decodes from a pipe only what is held then: of all else, libjpeg-turbo gets pieces. */
static outcome decode_by(const uint8_t *bytes, size_t size, const settings *s, lap_codec_place codec)
{
    settings by_file = *s;
    by_file.by_pipe = s->by_pipe && !goes_on(bytes, size);
    outcome o = decode(bytes, size, &by_file, codec);
    if (!by_file.by_pipe || o.held || !o.opened)
        return o;
    by_file.by_pipe = false;
    lap_image_destroy(&o.image);
    return decode(bytes, size, &by_file, codec);
}

static void judge(const uint8_t *bytes, size_t size, const settings *s, const char *name)
{
    outcome reference = decode(bytes, size, s, LAP_CODEC_TURBO);
    for (int i = 1; lap_coders_row(&lap_decoders, i); i++) {
        const lap_coder *rung = lap_coders_row(&lap_decoders, i);
        if (lap_coders_missing(&lap_decoders, rung))
            continue;
        outcome o = decode_by(bytes, size, s, rung->codec);
        const char *what = difference(&o, &reference);
        if (!what && s->is_ours && (!o.is_ours || o.code != LAP_OK))
            what = "not decoded by ours";
        cases++;
        decoded += o.is_ours && o.code == LAP_OK;
        handed_over += o.handed_over;
        if (what && wrong++ == 0)
            snprintf(first_wrong, sizeof first_wrong, "%s by %s: %s; %d rows, %s; libjpeg-turbo: %d rows, %s",
                name, rung->name, what, o.rows, o.code == LAP_OK ? o.damage.first : o.error.message,
                reference.rows, reference.code == LAP_OK ? reference.damage.first : reference.error.message);
        lap_image_destroy(&o.image);
    }
    lap_image_destroy(&reference.image);
}

/* ---- files ---------------------------------------------------------------------------------------- */

static settings some_settings(uint64_t *seed)
{
    static const int rows[] = {1, 7, 16, 32, 33, 1000}, threads[] = {0, 0, 0, 1, 2, 3, 7, 16};
    return (settings){.fail_on = (lap_fail_on)(case_random(seed) % 3),
        .gray = case_random(seed) % 6 == 0,
        .by_pipe = case_random(seed) % 6 == 0,
        .rows = rows[case_random(seed) % 6],
        .memory = case_random(seed) % 4 ? 0 : (uint64_t)(500 << 10) + case_random(seed) % (3 << 20),
        .threads = threads[case_random(seed) % 8]};
}

static decode_case some_case(uint64_t *seed)
{
    decode_case c = {.picture = {.width = 1 + (int)(case_random(seed) % 150),
                         .height = 1 + (int)(case_random(seed) % 150),
                         .sampling = (int)(case_random(seed) % CASE_SAMPLINGS),
                         .fill = (int)(case_random(seed) % CASE_FILLS),
                         .quality = 1 + (int)(case_random(seed) % 100),
                         .seed = case_random(seed)},
        .tables = (decode_tables)(case_random(seed) % TABLE_KINDS),
        .interval = case_random(seed) % 2 ? 0 : 1 + (int)(case_random(seed) % 20)};
    c.picture.channels = case_samplings[c.picture.sampling].components;
    if (c.picture.sampling > 0 && case_random(seed) % 2)
        decode_set_colours(&c, (decode_colours)(case_random(seed) % COLOURS));
    if (case_random(seed) % 2) {
        c.script = (decode_script)(case_random(seed) % SCRIPTS);
        c.tables = OPTIMIZED_TABLES;
    }
    return c;
}

static void check_whole(int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        const decode_case c = some_case(&seed);
        const settings s = some_settings(&seed);
        size_t size;
        char text[300];
        uint8_t *file = decode_file(&c, &size);
        decode_describe(&c, text);
        judge(file, size, &s, text);
        free(file);
    }
    report("files in order", decoded > 0 && handed_over == 0);
}

/* Anywhere in the file, its header included. */
static size_t damage(uint8_t *file, size_t size, uint64_t *seed)
{
    const size_t at = case_random(seed) % size;
    switch (case_random(seed) % 6) {
    case 0:
        return at;
    case 1:
        file[at] = (uint8_t)case_random(seed);
        return size;
    case 2: /* a byte is missing */
        memmove(file + at, file + at + 1, size - at - 1);
        return size - 1;
    case 3: /* a marker */
        file[at] = 0xFF;
        if (at + 1 < size)
            file[at + 1] = (uint8_t)(0xC0 + case_random(seed) % 64);
        return size;
    default:
        file[at] ^= (uint8_t)(1u << case_random(seed) % 8);
        return size;
    }
}

static void check_damaged(int count, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        const decode_case c = some_case(&seed);
        const settings s = some_settings(&seed);
        size_t size;
        char text[300], name[340];
        uint8_t *file = decode_file(&c, &size);
        size = damage(file, size, &seed);
        decode_describe(&c, text);
        snprintf(name, sizeof name, "damaged file %d of %s", i, text);
        judge(file, size, &s, name);
        free(file);
    }
    report("damaged files", handed_over > 0);
}

/* Files that are made symbol by symbol, half of them damaged. The threads scan small pieces, too. */
static void check_streams(int count, uint64_t seed)
{
    static const size_t pieces[] = {0, 7, 64, 300};
    for (int i = 0; i < count; i++) {
        const uint64_t number = case_random(&seed);
        settings s = some_settings(&seed);
        size_t size;
        char name[60];
        bool is_ours;
        uint8_t *file = stream_file(number, &size, &is_ours);
        s.piece = pieces[case_random(&seed) % 4];
        s.is_ours = is_ours && i % 2 == 0 && s.memory == 0;
        for (int n = i % 2 ? 1 + (int)(case_random(&seed) % 3) : 0; n > 0 && size > 1; n--)
            size = damage(file, size, &seed);
        snprintf(
            name, sizeof name, "%s %llu", i % 2 ? "damaged stream" : "stream", (unsigned long long)number);
        judge(file, size, &s, name);
        free(file);
    }
    report("files made symbol by symbol", decoded > 0 && handed_over > 0);
}

/* Changes the sampling factors of a gray file, which change only how many rows libjpeg-turbo decodes at once.
 */
static void set_factors(uint8_t *file, uint8_t factors)
{
    enum { FACTORS = 11 };
    size_t at = 2;
    while (file[at + 1] != 0xC0)
        at += 2 + (size_t)(file[at + 2] << 8 | file[at + 3]);
    file[at + FACTORS] = factors;
}

/* A row of MCUs is an interval; for each row in turn, the marker after it is replaced by another one, or
 * the data is cut off there. */
static void check_each_row(uint64_t seed)
{
    static const int heights[] = {55, 56, 57, 104, 111, 112, 113};
    static const uint8_t factors[] = {0x11, 0x22, 0x13, 0x14, 0x41, 0x12, 0x34};
    for (int s = 0; s < CASE_SAMPLINGS; s++)
        for (size_t h = 0; h < sizeof heights / sizeof *heights; h++) {
            decode_case c = {
                .picture = {.width = 90, .height = heights[h], .sampling = s, .fill = 3, .quality = 80}};
            size_t size;
            int row = 0;
            c.picture.channels = case_samplings[s].components;
            c.interval = (90 - 1) / (8 * case_samplings[s].h) + 1;
            uint8_t *file = decode_file(&c, &size);
            if (s == 0)
                set_factors(file, factors[h]);
            for (size_t at = 2; at + 1 < size; at++) {
                if (file[at] != 0xFF || (file[at + 1] & 0xF8) != 0xD0)
                    continue;
                char name[100];
                const uint8_t kept = file[at + 1];
                snprintf(name, sizeof name, "%s, %d rows, row of MCUs %d", case_samplings[s].name, heights[h],
                    ++row);
                for (int way = 0; way < 4; way++) {
                    const settings all[] = {{LAP_FAIL_NONE, false, false, 16, 0, 0, 0, false},
                        {LAP_FAIL_TRUNCATED, false, true, 9, 0, 0, 0, false},
                        {LAP_FAIL_NONE, true, false, 1, 0, 0, 0, false},
                        {LAP_FAIL_WARNING, false, false, 1, 0, 0, 0, false}};
                    file[at + 1] = 0xD0 + (kept + 3) % 8;
                    judge(file, size, &all[way], name);
                    file[at + 1] = kept;
                    judge(file, at + 1, &all[way], name);
                    judge(file, at + 5, &all[way], name);
                }
            }
            need(row > 0, "markers");
            free(file);
        }
    (void)seed;
    report("something odd in each row of MCUs", handed_over > 0);
}

/* ---- other files ---------------------------------------------------------------------------------- */

static void judge_file(const char *path)
{
    static const settings all[] = {{LAP_FAIL_NONE, false, false, 128, 0, 0, 0, false},
        {LAP_FAIL_TRUNCATED, false, false, 16, 0, 3, 0, false},
        {LAP_FAIL_WARNING, true, true, 50, 0, 0, 0, false}};
    FILE *f = fopen(path, "rb");
    need(f && fseek(f, 0, SEEK_END) == 0, path);
    const size_t size = (size_t)ftell(f);
    uint8_t *bytes = malloc(size + !size); /* no more: a sanitizer sees what is read beyond */
    rewind(f);
    need(bytes && fread(bytes, 1, size, f) == size, path);
    fclose(f);
    for (size_t i = 0; i < sizeof all / sizeof *all && size > 0; i++)
        judge(bytes, size, &all[i], path);
    free(bytes);
}

static int judge_entry(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
    const size_t length = strlen(path);
    static int seen;
    (void)stat;
    (void)ftw;
    if (type == FTW_F && length > 4 && strcasecmp(path + length - 4, ".jpg") == 0 &&
        seen++ % corpus_share == 0)
        judge_file(path);
    return 0;
}

int main(int argc, char **argv)
{
    enum { OPEN_FOLDERS = 8 };
    int damaged = 4000, streams = 1000;
    uint64_t seed = 28;
    const char *corpus = getenv("LAPEDGE_CORPUS");
    bool files = false, only_streams = false;
    if (getenv("CORPUS_WHOLE"))
        corpus_share = 1;
    signal(SIGPIPE, SIG_IGN); /* some pipes are not read to their end */
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--fewer") == 0) {
            damaged = 500, streams = 200;
        } else if (strncmp(argv[i], "--damaged=", 10) == 0) {
            damaged = atoi(argv[i] + 10);
        } else if (strncmp(argv[i], "--seed=", 7) == 0) {
            seed = strtoull(argv[i] + 7, NULL, 10);
        } else if (strncmp(argv[i], "--streams=", 10) == 0) {
            streams = atoi(argv[i] + 10);
        } else if (strcmp(argv[i], "--only-streams") == 0) {
            only_streams = true;
        } else {
            judge_file(argv[i]);
            files = true;
        }
    printf("# seed %llu\n", (unsigned long long)seed);
    if (files) {
        report("files", true);
    } else if (only_streams) {
        check_streams(streams, seed);
    } else {
        check_whole(400, seed);
        check_each_row(seed);
        check_damaged(damaged, seed);
        check_streams(streams, seed);
        if (corpus && *corpus) {
            need(nftw(corpus, judge_entry, OPEN_FOLDERS, FTW_PHYS) == 0, corpus);
            report("the corpus", true);
        }
    }
    printf("1..%d\n", tests);
    return failures > 0;
}
