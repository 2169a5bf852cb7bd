/* The JPEG decoder of cuda/jpeg compared with libjpeg-turbo, pixel by pixel, tolerance 0. Runs on a GPU, and
 * with the runtime of tests/kernels/cudacpu on a CPU. TAP on stdout.
 *
 *   check [--full [--part=I/N]] [--few] [--seed=N] [FILE...]
 *   --full: every width and height from 1 to 70, all or one of N shares of them; --few: some small pictures;
 * FILE: only these
 *
 * The device may refuse a picture only if something in it is odd; the pictures that the decoder must take
 * are marked here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device/device.h"
#include "make.h"
#include "subject.h"

enum { MOST_SIDE = 70, TOGETHER = 8 /* in most batches */, MANY = 200 };

static int tests, failures, taken, left;
static unsigned seed = 20261122;

static void report(bool ok, const char *what)
{
    printf("%s %d - JPEG decoder%s: %s\n", ok ? "ok" : "not ok", ++tests,
#ifdef LAP_CUDACPU
        "",
#else
        " on GPU",
#endif
        what);
    failures += !ok;
    fflush(stdout);
}

/* Returns whether the device's result is libjpeg's, or the device refused the picture where it may. Frees
 * its pixels. */
static bool is_right(device_picture *p, bool must_take, const char *name)
{
    picture expected;
    bool good = p->odd == 0 || (p->odd != BROKEN && !must_take);
    taken += p->odd == 0;
    left += p->odd != 0;
    if (!good)
        printf("# %s: not decoded (%d)\n", name, p->odd);
    if (p->odd == 0) {
        const verdict v = libjpeg_decode(p->bytes, p->size, p->gray, &expected);
        const char *difference = v != FINE ? "libjpeg finds it odd" : picture_difference(&p->got, &expected);
        if (*difference)
            printf("# %s: %s\n", name, difference);
        good = !*difference;
        free(expected.pixels);
    }
    free(p->got.pixels);
    return good;
}

static bool same(const uint8_t *bytes, size_t size, bool gray, bool must_take,
    const lap_cuda_jpeg_tuning *tuning, const char *name)
{
    device_picture one = {.bytes = bytes, .size = size, .gray = gray};
    device_decode_batch(&one, 1, tuning);
    return is_right(&one, must_take, name);
}

static bool same_kind(const make_kind *kind, const lap_cuda_jpeg_tuning *tuning)
{
    make_bytes jpeg = make_jpeg(kind);
    bool good = same(jpeg.data, jpeg.size, kind->seed % 16 == 1, true, tuning, make_name(kind));
    free(jpeg.data);
    return good;
}

static int mcus_across(const make_kind *kind)
{
    const int side = kind->sampling == S422 || kind->sampling == S420 ? 16 : 8;
    return (kind->width + side - 1) / side;
}

static make_kind kind_of(int width, int height, make_sampling sampling, unsigned turn)
{
    static const int qualities[] = {90, 1, 100, 50, 75, 25, 97};
    make_kind k = {.width = width, .height = height, .sampling = sampling, .seed = seed + turn};
    k.quality = turn % 3 == 0 ? 1 + (int)(turn / 3 % 100) : qualities[turn % 7];
    k.tables = (make_tables)(turn / 2 % TABLES);
    k.content = (make_content)(turn / 5 % CONTENTS);
    const int restarts[] = {0, 1, 2, mcus_across(&k), 7};
    k.restart = restarts[turn % 5];
    return k;
}

static const lap_cuda_jpeg_tuning tunings[] = {{0}, {.sub_bits = 256, .group = 2},
    {.sub_bits = 128, .group = 3, .chain_lanes = 128}, {.sub_bits = 4096}};

/* This process's share of the cases of all sizes and of all damage, if several processes share them. */
static unsigned part, parts = 1;

/* Every width and every height once at each sampling. */
static void check_sizes(bool full)
{
    unsigned turn = seed;
    const unsigned first = turn;
    for (int s = 0; s < SAMPLINGS; s++) {
        bool good = true;
        char what[80];
        for (int w = 1; w <= MOST_SIDE; w++)
            for (int h = full ? 1 : (w * 37 + s * 11) % MOST_SIDE + 1; h <= MOST_SIDE;
                 h += full ? 1 : MOST_SIDE, turn++) {
                const make_kind k = kind_of(w, h, (make_sampling)s, turn);
                if ((turn - first) % parts != part)
                    continue;
                good = same_kind(&k, &tunings[turn / 3 % 4]) && good;
            }
        snprintf(what, sizeof what, "%s, %s from 1 to %d", make_sampling_name((make_sampling)s),
            full ? "all widths and heights" : "each width and each height", MOST_SIDE);
        report(good, what);
    }
}

/* Larger than a tile of anything, so that walks cross blocks of threads. */
static void check_large(void)
{
    bool good = true;
    for (int s = 0; s < SAMPLINGS; s++)
        for (int t = 0; t < TABLES; t++) {
            make_kind k = kind_of(500 + 31 * s, 300 + 17 * t, (make_sampling)s, (unsigned)(5 * s + t));
            k.tables = (make_tables)t;
            k.content = t % 2 ? PHOTO : NOISE;
            k.quality = t == STANDARD ? 100 : 85;
            good = same_kind(&k, &tunings[t]) && good;
        }
    report(good, "pictures of several tiles");
    make_kind thin = kind_of(2500, 3, S420, 1), tall = kind_of(3, 2500, S440, 2);
    report(same_kind(&thin, NULL) && same_kind(&tall, NULL), "thin and tall pictures");
}

/* Decodes the pictures together. Frees them and their pixels. */
static bool all_right(device_picture *pictures, int count, const bool *must_take, char (*names)[200],
    const lap_cuda_jpeg_tuning *tuning)
{
    bool good = true;
    device_decode_batch(pictures, count, tuning);
    for (int i = 0; i < count; i++) {
        good = is_right(&pictures[i], must_take[i], names[i]) && good;
        free((void *)(uintptr_t)pictures[i].bytes);
    }
    return good;
}

/* For runtimes on which a barrier takes milliseconds. */
static void check_few(void)
{
    for (int s = 0; s < SAMPLINGS; s++) {
        make_kind k = kind_of(17 + 9 * s, 35 - 4 * s, (make_sampling)s, (unsigned)s);
        k.content = NOISE;
        k.quality = 95;
        report(same_kind(&k, &tunings[s % 2 + 1]), make_name(&k));
    }
    device_picture pictures[SAMPLINGS] = {{0}};
    bool must_take[SAMPLINGS];
    char names[SAMPLINGS][200];
    for (int s = 0; s < SAMPLINGS; s++) {
        make_kind k = kind_of(33 - 5 * s, 18 + 3 * s, (make_sampling)s, (unsigned)s);
        make_bytes jpeg = make_jpeg(&k);
        must_take[s] = true;
        snprintf(names[s], sizeof names[s], "together: %s", make_name(&k));
        pictures[s] = (device_picture){.bytes = jpeg.data, .size = jpeg.size};
    }
    report(all_right(pictures, SAMPLINGS, must_take, names, &tunings[1]), "small pictures together");
}

/* seed: the largest value */
static int loud(int component, int block, int k, unsigned largest)
{
    unsigned state = (unsigned)(block * 64 + k) * 2654435761u + (unsigned)component;
    const int value = (int)(make_random(&state) % (2 * largest + 1)) - (int)largest;
    return k == 0 ? value / 2 : (state >> 5) % 4 ? 0 : value;
}

static int one_loud(int component, int block, int k, unsigned largest)
{
    (void)component;
    return k == block % 64 ? block / 64 % 2 ? -(int)largest : (int)largest : 0;
}

static void check_range(void)
{
    static const int quants[] = {1, 3, 16, 33, 40, 255, 4000, 32767, 65535};
    const int before = taken;
    bool good = true;
    for (size_t i = 0; i < sizeof quants / sizeof *quants; i++)
        for (int bits = 0; bits <= 10; bits++) {
            const make_kind k = {
                130, 70, bits % 2 ? S420 : S444, 90, 0, STANDARD, FLAT, (1u << bits) - (bits > 0)};
            make_bytes a = make_from_values(&k, quants[i], loud),
                       b = make_from_values(&k, quants[i], one_loud);
            char name[80];
            snprintf(name, sizeof name, "values to %u by %d", k.seed, quants[i]);
            good = same(a.data, a.size, false, false, NULL, name) && good;
            good = same(b.data, b.size, false, false, NULL, name) && good;
            free(a.data);
            free(b.data);
        }
    report(good && taken > before, "coefficients up to 16 bits and past them");
}

static void check_out_of_step(void)
{
    const lap_cuda_jpeg_tuning patient = {.sub_bits = 256, .longest_chain = 4096},
                               hasty = {.longest_chain = 4};
    make_bytes jpeg = make_out_of_step(500, 300);
    picture got;
    report(same(jpeg.data, jpeg.size, false, true, &patient, "out of step"),
        "a scan that does not fall into step");
    const int odd = device_decode(jpeg.data, jpeg.size, false, &hasty, &got);
    report(odd > 0, "which is left alone where chains must be short");
    free(got.pixels);
    free(jpeg.data);
}

/* If this program accepts a picture, it must be the right picture. */
static void check_rejects(void)
{
    const make_kind one = kind_of(61, 43, S420, 3);
    make_kind other = one;
    other.quality = one.quality == 50 ? 51 : 50;
    make_bytes a = make_jpeg(&one), b = make_jpeg(&other);
    picture got, expected;
    const int odd = device_decode(a.data, a.size, false, NULL, &got);
    const verdict v = libjpeg_decode(b.data, b.size, false, &expected);
    report(odd == 0 && v == FINE && *picture_difference(&got, &expected),
        "another picture is seen to be another");
    free(a.data);
    free(b.data);
    free(got.pixels);
    free(expected.pixels);
}

static void check_others(void)
{
    make_kind k = kind_of(70, 50, S420, 0);
    make_bytes a = make_jpeg(&k), b = make_jpeg(&k);
    uint8_t *both = malloc(a.size + b.size);
    picture got;
    memcpy(both, a.data, a.size);
    memcpy(both + a.size, b.data, b.size);
    report(same(both, a.size + b.size, false, true, NULL, "two"), "another picture behind the end marker");
    both[a.size - 1] = 0xD8;
    report(device_decode(both, a.size + b.size, false, NULL, &got) > 0,
        "another marker than the end is left alone");
    report(device_decode(a.data, a.size - 2, false, NULL, &got) > 0, "no end marker is left alone");
    k.sampling = S411;
    make_bytes c = make_jpeg(&k);
    report(device_decode(c.data, c.size, false, NULL, &got) == NOT_OURS, "4:1:1 is left alone");
    report(same(a.data, a.size, true, true, NULL, "luma"), "the luma alone");
    free(a.data);
    free(b.data);
    free(c.data);
    free(both);
}

/* Flips a bit, overwrites a byte, or cuts the file: mostly after the header. */
static void damage(make_bytes *jpeg, int turn, unsigned *state, char name[200], const make_kind *k)
{
    const size_t safe = turn % 4 ? jpeg->size / 3 : 0;
    const size_t at = safe + make_random(state) % (jpeg->size - safe);
    if (turn % 7 == 0)
        jpeg->size = at;
    else if (turn % 7 == 1)
        jpeg->data[at] = (uint8_t)make_random(state);
    else
        jpeg->data[at] ^= (uint8_t)(1 << make_random(state) % 8);
    snprintf(name, 200, "damage %d at %zu of %s", turn, at, make_name(k));
}

/* Damaged files, alone and in batches of any number, in which every third picture is intact: the result
 * is libjpeg's pixels without a warning, or a refusal. The intact pictures must be decoded, whatever else
 * is in the batch. */
static void check_damage(int rounds)
{
    unsigned state = seed;
    int before_taken = taken, before_left = left, whole = 0;
    bool good = true;
    for (int i = 0, batch = 1; i < rounds; i += batch, batch = batch % TOGETHER + 1) {
        device_picture pictures[TOGETHER] = {{0}};
        bool must_take[TOGETHER];
        char names[TOGETHER][200];
        for (int j = 0; j < batch; j++) {
            const int turn = i + j;
            make_kind k =
                kind_of(40 + turn % 23, 30 + turn % 31, (make_sampling)(turn % SAMPLINGS), (unsigned)turn);
            make_bytes jpeg = make_jpeg(&k);
            must_take[j] = turn % 3 == 0 && batch > 1;
            whole += must_take[j];
            if (must_take[j])
                snprintf(names[j], sizeof names[j], "whole %d: %s", turn, make_name(&k));
            else
                damage(&jpeg, turn, &state, names[j], &k);
            pictures[j] = (device_picture){.bytes = jpeg.data, .size = jpeg.size, .gray = turn % 11 == 0};
        }
        if ((unsigned)i % parts == part)
            good = all_right(pictures, batch, must_take, names, &tunings[i % 4]) && good;
        else
            for (int j = 0; j < batch; j++)
                free((void *)(uintptr_t)pictures[j].bytes);
    }
    printf("# of %d files, %d of them whole, %d were decoded, %d left alone\n", rounds, whole,
        taken - before_taken, left - before_left);
    report(good && taken > before_taken && left > before_left, "damaged files, between whole ones");
}

/* Small and large pictures of all samplings, gray ones, and one that is not for the device: all together. */
static void check_batch(void)
{
    bool good = true;
    for (int first = 0; first < SAMPLINGS; first++) {
        device_picture pictures[TOGETHER] = {{0}};
        bool must_take[TOGETHER];
        char names[TOGETHER][200];
        for (int i = 0; i < TOGETHER; i++) {
            static const int sides[] = {1, 330, 16, 57, 5, 120, 8, 33};
            make_kind k = kind_of(sides[i], sides[(i + first) % TOGETHER],
                i == 5 ? S411 : (make_sampling)((i + first) % SAMPLINGS), (unsigned)(first + 8 * i));
            make_bytes jpeg = make_jpeg(&k);
            must_take[i] = i != 5;
            snprintf(names[i], sizeof names[i], "picture %d of batch %d: %s", i, first, make_name(&k));
            pictures[i] = (device_picture){.bytes = jpeg.data, .size = jpeg.size, .gray = i == 3};
        }
        good = all_right(pictures, TOGETHER, must_take, names, &tunings[first % 4]) && good;
    }
    report(good, "pictures of all sizes and samplings together");
    report(lap_cuda_jpeg_decode_enqueue(NULL, 0, NULL, NULL, NULL, NULL) == LAP_E_USAGE &&
               lap_cuda_jpeg_decode_enqueue(NULL, LAP_CUDA_JPEG_PHOTOS + 1, NULL, NULL, NULL, NULL) ==
                   LAP_E_USAGE,
        "no pictures, or more than go together, are refused");
}

/* 200 small pictures together, of which every seventh is damaged and one is not for the device. */
static void check_many(void)
{
    static device_picture pictures[MANY];
    static bool must_take[MANY];
    static char names[MANY][200];
    unsigned state = seed;
    for (int i = 0; i < MANY; i++) {
        make_kind k = kind_of(1 + i * 13 % 61, 1 + i * 29 % 53,
            i == 77 ? S411 : (make_sampling)(i % SAMPLINGS), (unsigned)(i / 3));
        make_bytes jpeg = make_jpeg(&k);
        must_take[i] = i % 7 && i != 77;
        if (i % 7)
            snprintf(names[i], sizeof names[i], "%d of many: %s", i, make_name(&k));
        else
            damage(&jpeg, 2 + i, &state, names[i], &k);
        pictures[i] = (device_picture){.bytes = jpeg.data, .size = jpeg.size, .gray = i % 10 == 0};
    }
    report(all_right(pictures, MANY, must_take, names, NULL), "200 pictures together, some of them odd");
}

static void check_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint8_t *bytes = size >= 0 ? malloc((size_t)size + 1) : NULL;
    bool good = bytes && fseek(file, 0, SEEK_SET) == 0 && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    const int before = taken;
    good = good && same(bytes, (size_t)size, false, false, NULL, name);
    char what[300];
    snprintf(what, sizeof what, "%s: %s", name, taken > before ? "decoded" : "left alone");
    report(good, what);
    free(bytes);
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    bool full = false;
#ifdef LAP_FEW_SIZES
    bool few = true;
#else
    bool few = false;
#endif
    int files = 0;
    const char *reason = NULL;
    if (lap_cuda_count(&reason) == 0) {
        printf("1..0 # SKIP %s\n", reason);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--full") == 0)
            full = true;
        else if (strcmp(argv[i], "--few") == 0)
            few = true;
        else if (strncmp(argv[i], "--seed=", 7) == 0)
            seed = (unsigned)strtoul(argv[i] + 7, NULL, 10);
        else if (strncmp(argv[i], "--part=", 7) == 0 &&
                 (sscanf(argv[i] + 7, "%u/%u", &part, &parts) != 2 || part >= parts)) {
            fprintf(stderr, "check: %s\n", argv[i]);
            return 2;
        }
    }
    printf("# seed %u\n", seed);
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-') {
            check_file(argv[i]);
            files++;
        }
    if (few) {
        check_few();
    } else if (files == 0) {
        check_rejects();
        check_others();
        check_sizes(full);
        check_large();
        check_batch();
        check_many();
        check_range();
        check_out_of_step();
        check_damage(full ? 20000 : 400);
    }
    printf("# %d decoded, %d left alone\n1..%d\n", taken, left, tests);
    return failures > 0 || tests == 0;
}
