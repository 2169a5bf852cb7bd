/* Parsers for values specific to this program: backends, kernels, devices, sizes for bench. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/values.h"

bool lap_cli_find_rung(lap_op op, const char *name, size_t length, lap_rung_info *rung)
{
    for (int i = 0; lap_rung_at(op, i, false, rung); i++) {
        if (strlen(rung->name) == length && strncmp(rung->name, name, length) == 0)
            return true;
        for (const char *alias = rung->aliases; alias && *alias;) {
            const size_t size = strcspn(alias, ",");
            if (size == length && strncmp(alias, name, length) == 0)
                return true;
            alias += size + (alias[size] == ',');
        }
    }
    return false;
}

bool lap_cli_knows_rung(lap_op op, const char *name, size_t length)
{
    lap_rung_info rung;
    return lap_cli_find_rung(op, name, length, &rung);
}

static const char *rung_of_any(const char *name, size_t length)
{
    lap_rung_info rung;
    for (int op = 0; op < LAP_OP_COUNT; op++)
        if (lap_cli_find_rung((lap_op)op, name, length, &rung))
            return rung.name;
    return NULL;
}

/* Whether the part of the list before `name` already contains the same backend, perhaps by an alias. */
static bool is_named_before(const char *list, const char *name, size_t length)
{
    const char *rung = rung_of_any(name, length);
    for (const char *each = list; each < name;) {
        const size_t size = strcspn(each, ",");
        const char *other = rung_of_any(each, size);
        if (other && strcmp(other, rung) == 0)
            return true;
        each += size + (each[size] == ',');
    }
    return false;
}

const char *lap_cli_rung_name(int i)
{
    lap_rung_info info;
    return lap_rung_at(LAP_OP_FILTER, i, false, &info) ? info.name : NULL;
}

const char *lap_cli_op_name(int i)
{
    return i <= LAP_OP_CODEC ? lap_op_name((lap_op)i) : NULL;
}

static bool refuse_rung(const char *name, char *problem, size_t size)
{
    const char *hint = lap_cli_hint(name), *meant = hint ? hint : lap_rung_nearest(LAP_OP_FILTER, name);
    lap_rung_info rung;
    if (!meant)
        return lap_cli_refuse(problem, size, name, "a known backend; see lapedge backends");
    const bool is_lacking =
        hint && lap_cli_find_rung(LAP_OP_FILTER, meant, strlen(meant), &rung) && rung.reason;
    return lap_cli_refuse(problem, size, name, "a known backend; did you mean %s?%s%s%s", meant,
        is_lacking ? " (" : "", is_lacking ? rung.reason : "", is_lacking ? ")" : "");
}

bool lap_set_backend(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option;
    if (!lap_cli_knows_rung(LAP_OP_FILTER, value, strlen(value)))
        return refuse_rung(value, problem, size);
    *(const char **)field = value;
    return true;
}

bool lap_set_backends(
    void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option;
    if (strcmp(value, "all") == 0) {
        *(const char **)field = NULL;
        return true;
    }
    for (const char *name = value;; name++) {
        const size_t length = strcspn(name, ",");
        char one[64];
        snprintf(one, sizeof one, "%.*s", (int)(length < 63 ? length : 63), name);
        if (!rung_of_any(name, length))
            return refuse_rung(one, problem, size);
        if (is_named_before(value, name, length)) {
            snprintf(problem, size, "%s is named twice", one);
            return false;
        }
        name += length;
        if (!*name)
            break;
    }
    *(const char **)field = value;
    return true;
}

bool lap_set_kernel(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option, (void)problem, (void)size;
    *(const char **)field = value;
    return true;
}

bool lap_cli_read_kernel(lap_cli *cli, char *problem, size_t size)
{
    lap_error err;
    lap_kernel *kernel = &cli->settings.params.kernel;
    const char *value = cli->kernel;
    if (value && lap_kernel_parse(value, kernel, &err) != LAP_OK) {
        const char *hint = lap_cli_hint(value), *nearest = lap_cli_nearest(value, lap_kernel_preset);
        if (hint && access(value, F_OK) != 0)
            return lap_cli_refuse(problem, size, value, "a known kernel; %s", hint);
        if (nearest && access(value, F_OK) != 0)
            return lap_cli_refuse(problem, size, value, "a known kernel; did you mean %s?", nearest);
        snprintf(problem, size, "%s", err.message);
        return false;
    }
    if (cli->flip_kernel)
        lap_kernel_flip(kernel);
    return true;
}

bool lap_cli_reads_inside(const lap_cli *cli)
{
    return cli->sandbox && cli->kernel && access(cli->kernel, F_OK) == 0;
}

/* Parses a whole number from 0 to most, followed by one of the characters in `after` or by the end. */
static const char *whole(const char *text, int most, const char *after, int *value)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9)
        return NULL;
    *value = atoi(text);
    text += digits;
    return *value <= most && (*text == '\0' || strchr(after, *text)) ? text : NULL;
}

bool lap_set_devices(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    lap_cli *cli = field;
    (void)option;
    cli->device_count = strcmp(value, "all") == 0 ? -1 : 0;
    for (const char *at = value; cli->device_count >= 0;) {
        at = cli->device_count < LAP_CLI_DEVICES ? whole(at, 1023, ",", &cli->devices[cli->device_count])
                                                 : NULL;
        if (!at) {
            return lap_cli_refuse(
                problem, size, value, "\"all\", or device numbers separated by commas, such as 0,1");
        }
        cli->device_count++;
        if (!*at)
            break;
        at++;
    }
    cli->settings.device = cli->bench.device = cli->device_count > 0 ? cli->devices[0] : 0;
    return true;
}

/* Parses 12M or 4992x3744. A number of pixels becomes a 4:3 shape, like most photos. */
static const char *one_size(const char *text, lap_cli_size *size)
{
    enum { ANY = 999999999, MOST = 65500 };
    const char *end = whole(text, ANY, "x", &size->width);
    if (end && *end == 'x')
        end = whole(end + 1, ANY, ",", &size->height);
    else {
        const lap_cli_option least = {.low = 1};
        char word[32], ignored[128];
        uint64_t pixels;
        const size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : 0, text);
        end = text + length;
        if (!lap_set_size(&pixels, &least, word, ignored, sizeof ignored))
            return NULL;
        size->width = (int)lround(sqrt((double)pixels * 4 / 3));
        size->height = (int)lround((double)pixels / size->width);
    }
    return end && size->width > 0 && size->height > 0 && size->width <= MOST && size->height <= MOST ? end
                                                                                                     : NULL;
}

bool lap_set_sizes(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    lap_cli *cli = field;
    (void)option;
    cli->size_count = 0;
    for (const char *at = value;;) {
        at = cli->size_count < LAP_CLI_SIZES ? one_size(at, &cli->sizes[cli->size_count]) : NULL;
        if (!at) {
            return lap_cli_refuse(problem, size, value,
                "at most %d numbers of pixels or sizes, such as 1M,12M or 4992x3744", LAP_CLI_SIZES);
        }
        cli->size_count++;
        if (!*at)
            return true;
        at++;
    }
}

bool lap_set_block(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    lap_cli *cli = field;
    (void)option;
    const char *end = whole(value, 1024, "x", &cli->bench.block_x);
    if (end && *end == 'x')
        end = whole(end + 1, 1024, "", &cli->bench.block_y);
    else
        end = NULL;
    if (end && cli->bench.block_x > 0 && cli->bench.block_y > 0 &&
        cli->bench.block_x * cli->bench.block_y <= 1024)
        return true;
    return lap_cli_refuse(problem, size, value, "a block of at most 1024 threads, such as 16x16 or 32x32");
}

bool lap_set_border(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    static const char constant[] = "constant:";
    const size_t length = sizeof constant - 1;
    int level;
    if (strncmp(value, constant, length) == 0) {
        if (!whole(value + length, 255, "", &level))
            return lap_cli_refuse(problem, size, value, "constant:V with V from 0 to 255");
        *(lap_border *)field = (lap_border)(LAP_CONSTANT + level);
        return true;
    }
    return lap_set_word(field, option, value, problem, size);
}

bool lap_set_keep(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    static const char *const words[] = {"exif", "gps", "xmp", "iptc", "icc", "comment", "thumbnail"};
    enum { WORDS = sizeof words / sizeof *words };
    unsigned keep = LAP_KEEP_LISTED;
    (void)option;
    if (strncmp(value, "none,", 5) == 0 || strstr(value, ",none"))
        return lap_cli_refuse(problem, size, value, "a list: none stands alone");
    for (const char *word = value;; word++) {
        const size_t length = strcspn(word, ",");
        unsigned bits = length == 3 && strncmp(word, "all", 3) == 0 ? (1u << WORDS) - 1 : 0;
        for (int i = 0; i < WORDS; i++)
            if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
                bits = 1u << i;
        if (!bits && !(length == 4 && strncmp(word, "none", 4) == 0))
            return lap_cli_refuse(problem, size, value,
                "a list of exif, gps, xmp, iptc, icc, comment, thumbnail; or all, or none");
        keep |= bits;
        word += length;
        if (!*word)
            break;
    }
    if (keep & (LAP_KEEP_GPS | LAP_KEEP_THUMBNAIL) && !(keep & LAP_KEEP_EXIF))
        return lap_cli_refuse(
            problem, size, value, "a whole list: gps and thumbnail are parts of exif; keep exif too");
    *(unsigned *)field = keep;
    return true;
}
