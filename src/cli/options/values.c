#include "cli/options/values.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

_Static_assert(sizeof(lap_border) == sizeof(int) && sizeof(lap_fail_on) == sizeof(int) &&
                   sizeof(lap_decode) == sizeof(int),
    "lap_set_word stores an int where an enum stands");

bool lap_cli_refuse(char *problem, size_t size, const char *value, const char *allowed, ...)
{
    va_list args;
    const int length = snprintf(problem, size, "\"%.200s\" is not ", value);
    va_start(args, allowed);
    vsnprintf(problem + length, size - (size_t)length, allowed, args);
    va_end(args);
    return false;
}

bool lap_set_true(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option, (void)value, (void)problem, (void)size;
    *(bool *)field = true;
    return true;
}

bool lap_set_false(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option, (void)value, (void)problem, (void)size;
    *(bool *)field = false;
    return true;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static bool number(const char *text, double *value, const char **end)
{
    *end = lap_decimal(text, value);
    return *end != NULL;
}

/* Parses a number, or a fraction such as 1/256. */
static bool fraction(const char *text, double *value, const char **end)
{
    double divisor = 1;
    if (!number(text, value, end) || (**end == '/' && !number(*end + 1, &divisor, end)))
        return false;
    *value /= divisor;
    return isfinite(*value);
}

static bool in_range(
    const lap_cli_option *option, const char *value, bool whole, double *result, char *problem, size_t size)
{
    const char *end;
    const char *kind = whole ? "a whole number" : "a number";
    if (number(value, result, &end) && !*end && (!whole || *result == floor(*result)) &&
        *result >= option->low && *result <= option->high)
        return true;
    if (option->low <= -1e30)
        return lap_cli_refuse(problem, size, value, "a number");
    return lap_cli_refuse(problem, size, value, "%s from %.15g to %.15g", kind, option->low, option->high);
}

bool lap_set_int(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    double result;
    if (!in_range(option, value, true, &result, problem, size))
        return false;
    *(int *)field = (int)result;
    return true;
}

bool lap_set_double(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    return in_range(option, value, false, field, problem, size);
}

bool lap_set_float(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    const char *end;
    double result;
    if (!fraction(value, &result, &end) || *end)
        return lap_cli_refuse(problem, size, value, "a number");
    if (result < option->low || result > option->high)
        return lap_cli_refuse(problem, size, value, "a number from %.2g to %.2g", option->low, option->high);
    *(float *)field = (float)result;
    return true;
}

/* Parses "12M" as 12,000,000; for bytes also "12MB", and "12MiB" as 12 * 2^20. *end is after the unit. */
static bool sized(const char *text, bool is_bytes, double *value, const char **end)
{
    static const char units[] = "KMGT";
    if (!number(text, value, end))
        return false;
    const char *unit = **end ? strchr(units, **end >= 'a' ? **end - 'a' + 'A' : **end) : NULL;
    *end += unit != NULL;
    const bool binary = unit && is_bytes && **end == 'i';
    *end += binary;
    *end += is_bytes && (**end == 'B' || **end == 'b');
    if (unit)
        *value *= pow(binary ? 1024 : 1000, (double)(unit - units + 1));
    /* 4.1 * 1e6 is not 4100000, but the next double. */
    const double whole = round(*value);
    if (fabs(*value - whole) <= 4 * DBL_EPSILON * whole)
        *value = whole;
    /* Up to here a double represents every whole number. */
    return *value >= 0 && *value <= 0x1p53 && *value == floor(*value);
}

bool lap_set_bytes(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    double result;
    const char *end;
    if (!sized(value, true, &result, &end) || *end || result < option->low)
        return lap_cli_refuse(problem, size, value,
            "a whole number of bytes, at least %.15g, with K, M or G for powers of 1000, Ki, Mi or Gi of "
            "1024",
            option->low);
    *(uint64_t *)field = (uint64_t)result;
    return true;
}

bool lap_set_seconds(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
    double result;
    const char *end;
    const bool is_number = number(value, &result, &end);
    for (size_t i = 0; is_number && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && result >= 0 && result * units[i].seconds <= option->high) {
            *(double *)field = result * units[i].seconds;
            return true;
        }
    return lap_cli_refuse(problem, size, value,
        "a number of seconds from 0 to %.15g, or of another unit, such as 500ms, 2m or 1h", option->high);
}

bool lap_set_size(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    double result;
    const char *end;
    if (!sized(value, false, &result, &end) || *end || result < option->low)
        return lap_cli_refuse(problem, size, value,
            "a whole number of at least %.15g, with K, M or G for powers of 1000", option->low);
    *(uint64_t *)field = (uint64_t)result;
    return true;
}

bool lap_set_count(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    uint64_t count = 0;
    if (!lap_set_size(&count, option, value, problem, size))
        return false;
    *(size_t *)field = (size_t)count;
    return true;
}

bool lap_set_share(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    double result;
    const char *end;
    (void)option;
    if (!number(value, &result, &end) || result < 0 || (*end && strcmp(end, "%") != 0))
        return lap_cli_refuse(problem, size, value, "a share such as 5%% or 0.05");
    *(double *)field = *end ? result / 100 : result;
    return true;
}

/* ---- words ------------------------------------------------------------------------------------- */

static int index_of(const char *words, const char *value)
{
    for (int i = 0; words; i++) {
        const size_t length = strcspn(words, "|");
        if (strlen(value) == length && strncmp(words, value, length) == 0)
            return i;
        words = words[length] ? words + length + 1 : NULL;
    }
    return -1;
}

/* Returns our word for another program's word with the same meaning. */
static const char *synonym(const lap_cli_option *option, const char *value)
{
    static const struct {
        const char *option, *theirs, *ours;
    } rows[] = {{"flip", "horizontal", "h"}, {"flip", "vertical", "v"}, {"subsampling", "4:4:4", "444"},
        {"subsampling", "4:2:2", "422"}, {"subsampling", "4:2:0", "420"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(option->name, rows[i].option) == 0 && strcmp(value, rows[i].theirs) == 0)
            return rows[i].ours;
    return value;
}

static bool one_of(const lap_cli_option *option, const char *value, int *index, char *problem, size_t size)
{
    char pair[80];
    *index = index_of(option->argument, synonym(option, value));
    if (*index >= 0)
        return true;
    char words[160];
    size_t at = 0;
    for (const char *word = option->argument; *word && at + 3 < sizeof words; word++) {
        if (*word == '|')
            words[at++] = ',';
        words[at++] = *word == '|' ? ' ' : *word;
    }
    words[at] = '\0';
    snprintf(pair, sizeof pair, "%s=%.40s", option->name, value);
    const char *hint = lap_cli_hint(pair);
    return lap_cli_refuse(problem, size, value, "one of %s%s%s", words, hint ? "; " : "", hint ? hint : "");
}

bool lap_set_word(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    return one_of(option, value, field, problem, size);
}

bool lap_set_choice(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    int index;
    if (!one_of(option, value, &index, problem, size))
        return false;
    *(const char **)field = value;
    return true;
}

bool lap_set_text(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option;
    if (!*value) {
        snprintf(problem, size, "needs a value");
        return false;
    }
    *(const char **)field = value;
    return true;
}

bool lap_set_glob(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    const char **list = field;
    int at = 0;
    while (at < LAP_CLI_GLOBS && list[at])
        at++;
    if (at == LAP_CLI_GLOBS) {
        snprintf(problem, size, "at most %d patterns", LAP_CLI_GLOBS);
        return false;
    }
    return lap_set_text(&list[at], option, value, problem, size);
}

bool lap_set_suffix(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    if (strchr(value, '/'))
        return lap_cli_refuse(problem, size, value, "part of a file's name");
    return lap_set_text(field, option, value, problem, size);
}

bool lap_cli_is_common_ending(const char *ending)
{
    static const char others[] =
        "|jpe|jfif|pnm|webp|gif|tif|tiff|heic|heif|avif|jxl|jp2|svg|psd|xcf|"
        "dng|cr2|cr3|crw|nef|nrw|arw|sr2|srf|raf|orf|rw2|rwl|raw|pef|srw|x3f|3fr|fff|iiq|mrw|erf|kdc|dcr|mef|"
        "mos|xmp|"
        "mp4|m4v|mov|avi|mkv|mts|webm|thm|lrv|mp3|m4a|wav|flac|"
        "zip|tar|gz|tgz|bz2|tbz2|xz|txz|zst|lz4|7z|rar|iso|dmg|"
        "pdf|txt|md|rtf|doc|docx|odt|xls|xlsx|ods|ppt|pptx|odp|csv|json|jsonl|xml|html|htm|";
    char word[16];
    const bool fits = snprintf(word, sizeof word, "|%s|", ending) < (int)sizeof word;
    return lap_format_named(ending) || (fits && strcasestr(others, word));
}

/* Refuses the extensions of images and of other common files: the next run would filter a backup named like
 * an image, and another program might open a backup named like a document. */
bool lap_set_backup(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    const char *dot = strrchr(value, '.');
    if (!*value || (dot && lap_cli_is_common_ending(dot + 1)))
        return lap_cli_refuse(problem, size, value, "a safe backup suffix, such as .orig");
    return lap_set_suffix(field, option, value, problem, size);
}

/* ---- values of options for comparisons ----------------------------------------------------------- */

bool lap_set_ops(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option;
    unsigned ops = 0;
    for (const char *name = value;; name++) {
        const size_t length = strcspn(name, ",");
        unsigned bits = length == 3 && strncmp(name, "all", 3) == 0 ? (1u << LAP_OP_COUNT) - 1 : 0;
        for (int op = 0; op < LAP_OP_COUNT; op++)
            if (strlen(lap_op_name((lap_op)op)) == length &&
                strncmp(lap_op_name((lap_op)op), name, length) == 0)
                bits = 1u << op;
        if (!bits)
            return lap_cli_refuse(
                problem, size, value, "a list of filter, transpose, reduce, histogram, matvec; or all");
        if (ops & bits) {
            snprintf(problem, size, "%.*s is named twice", (int)length, name);
            return false;
        }
        ops |= bits;
        name += length;
        if (!*name)
            break;
    }
    *(unsigned *)field = ops;
    return true;
}

bool lap_set_differing(
    void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    lap_cli_tolerance *allowed = field;
    const lap_cli_option any = {.low = 0, .high = 1e15, .argument = option->argument};
    const size_t length = strlen(value);
    const bool is_share = length > 0 && value[length - 1] == '%';
    double share = 0;
    uint64_t pixels = 0;
    if (is_share ? !lap_set_share(&share, &any, value, problem, size) || share > 1
                 : !lap_set_size(&pixels, &any, value, problem, size))
        return lap_cli_refuse(problem, size, value, "a number of pixels, or a share such as 0.1%%");
    allowed->max_differing = is_share ? -1 : (double)pixels;
    allowed->max_differing_share = is_share ? share : -1;
    return true;
}

/* Parses X,Y,W,H: a rectangle of pixels. */
bool lap_set_box(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    lap_cli_boxes *boxes = field;
    lap_diff_box box;
    int *const numbers[] = {&box.x, &box.y, &box.width, &box.height};
    const char *at = value;
    (void)option;
    for (int i = 0; i < 4; i++) {
        char *end;
        const long number = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1;
        if (number < i / 2 || number > LAP_MAX_SIDE || *end != (i < 3 ? ',' : '\0'))
            return lap_cli_refuse(problem, size, value, "a rectangle X,Y,W,H in pixels, such as 0,0,64,16");
        *numbers[i] = (int)number;
        at = end + 1;
    }
    if (boxes->count == LAP_CLI_BOXES)
        return lap_cli_refuse(problem, size, value, "among the first %d", LAP_CLI_BOXES);
    boxes->box[boxes->count++] = box;
    return true;
}

bool lap_set_png(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option;
    const size_t length = strlen(value);
    if (length < 5 || strcasecmp(value + length - 4, ".png") != 0)
        return lap_cli_refuse(problem, size, value, "the name of a .png");
    *(const char **)field = value;
    return true;
}

bool lap_set_html(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option;
    /* No input has this extension, so a photo named by mistake is not overwritten. */
    const char *dot = strrchr(value, '.');
    const bool ends = dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
    if (!ends)
        snprintf(problem, size, "\"%s\" does not end in .html", value);
    *(const char **)field = value;
    return ends;
}

bool lap_set_stats(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    if (strcmp(value, "-") != 0)
        return lap_set_text(field, option, value, problem, size);
    snprintf(problem, size, "name a file; lapedge stats prints to standard output");
    return false;
}

/* ---- values that change nothing ----------------------------------------------------------------- */

bool lap_same_always(const lap_cli *cli)
{
    (void)cli;
    return true;
}

bool lap_same_one_share(const lap_cli *cli)
{
    uint32_t shard, shards;
    lap_error err;
    return lap_shard_parse(cli->shard, &shard, &shards, &err) == LAP_OK && shards <= 1;
}

bool lap_same_keep_none(const lap_cli *cli)
{
    return cli->settings.keep == LAP_KEEP_LISTED; /* and no kind */
}

bool lap_same_format(const lap_cli *cli)
{
    bool is_same = cli->operand_count > 0 && !cli->files_from;
    for (int i = 0; i < cli->operand_count && is_same; i++) {
        const char *dot = strrchr(cli->operands[i], '.'), *of_name = dot ? lap_format_named(dot + 1) : NULL;
        is_same = of_name && strcmp(of_name, lap_format_named(cli->settings.format)) == 0;
    }
    return is_same;
}
