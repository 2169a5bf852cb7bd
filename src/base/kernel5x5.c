#include "base/kernel5x5.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/status.h"

enum { TAPS = 25, INNER = 9, FILE_MAX = 4096, MOST_SUM = 1 << 22 };

static const struct preset {
    const char *name;
    signed char h[TAPS];
} presets[] = {
    {"laplace5",
        {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 24, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}},
    {"laplace3-4", {0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, -1, 4, -1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0}},
    {"laplace3-8", {0, 0, 0, 0, 0, 0, -1, -1, -1, 0, 0, -1, 8, -1, 0, 0, -1, -1, -1, 0, 0, 0, 0, 0, 0}},
    {"log5", {0, 0, -1, 0, 0, 0, -1, -2, -1, 0, -1, -2, 16, -2, -1, 0, -1, -2, -1, 0, 0, 0, -1, 0, 0}},
    {"npp5", {-1, -3, -4, -3, -1, -3, 0, 6, 0, -3, -4, 6, 20, 6, -4, -3, 0, 6, 0, -3, -1, -3, -4, -3, -1}},
    {"opencv5", {2, 4, 4, 4, 2, 4, 0, -8, 0, 4, 4, -8, -24, -8, 4, 4, 0, -8, 0, 4, 2, 4, 4, 4, 2}},
    {"identity", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
};
enum { PRESETS = sizeof presets / sizeof *presets };

const char *lap_kernel_preset(int i)
{
    return i >= 0 && i < PRESETS ? presets[i].name : NULL;
}

static bool is_laplace5(const lap_kernel *kernel)
{
    for (int i = 0; i < TAPS; i++) {
        if (kernel->h[i] != (i == TAPS / 2 ? 24.0f : -1.0f))
            return false;
    }
    return true;
}

/* A quarter turn and a mirror image generate all eight symmetries, so it suffices that both leave the kernel
 * unchanged. */
static bool is_symmetric(const lap_kernel *kernel)
{
    for (int y = 0; y < 5; y++) {
        for (int x = 0; x < 5; x++) {
            float h = kernel->h[5 * y + x];
            if (h != kernel->h[5 * x + 4 - y] || h != kernel->h[5 * y + 4 - x])
                return false;
        }
    }
    return true;
}

void lap_kernel_derive(lap_kernel *kernel)
{
    double sum = 0;
    for (int i = 0; i < TAPS; i++)
        sum += fabs((double)kernel->h[i]);
    kernel->is_integer = sum <= MOST_SUM;
    for (int i = 0; i < TAPS; i++)
        kernel->is_integer = kernel->is_integer && kernel->h[i] == truncf(kernel->h[i]);
    for (int i = 0; i < TAPS; i++)
        kernel->hi[i] = kernel->is_integer ? (int32_t)kernel->h[i] : 0;
    kernel->abs_sum = sum;
    kernel->is_laplace5 = is_laplace5(kernel);
    kernel->is_symmetric = is_symmetric(kernel);
}

lap_code lap_kernel_check(const lap_kernel *kernel, lap_error *err)
{
    if (!isfinite(kernel->abs_sum))
        return lap_fail(err, LAP_E_USAGE, "kernel: a coefficient is not a finite number");
    if (kernel->abs_sum > MOST_SUM)
        return lap_fail(err, LAP_E_USAGE,
            "kernel: the coefficients' absolute values add up to %.9g, more than 2^22", kernel->abs_sum);
    return LAP_OK;
}

static lap_code finish(lap_kernel *kernel, lap_error *err)
{
    lap_kernel_derive(kernel);
    return lap_kernel_check(kernel, err);
}

bool lap_kernel_is_exact(const lap_kernel *kernel)
{
    return kernel->is_integer && 255 * kernel->abs_sum < 16777216.0;
}

static const char separators[] = ", ;/\t\r\n\v\f";

/* Comments go from a # to the end of their line. */
static const char *skip_separators(const char *s)
{
    for (s += strspn(s, separators); *s == '#'; s += strspn(s, separators))
        s += strcspn(s, "\n");
    return s;
}

/* Parses one number, or, if fractions, "1/256" without a space in it. Returns its end, or NULL. */
static const char *parse_number(const char *text, bool fractions, float *value)
{
    double number;
    const char *end = lap_decimal(text, &number);
    if (!end)
        return NULL;
    *value = lap_decimal_float(text, NULL); /* rounds the decimal number only once */
    if (fractions && *end == '/' && strchr("+-.0123456789", end[1]) && end[1]) {
        end = lap_decimal(end + 1, &number);
        if (!end)
            return NULL;
        *value = (float)((double)*value / number);
    }
    return !*end || *end == '#' || strchr(separators, *end) ? end : NULL;
}

/* Reads up to 25 numbers of the text into h. Returns how many numbers the text has. *bad: the text after them
 * if it is not a number; else NULL. */
static int parse_numbers(const char *text, bool fractions, float h[TAPS], const char **bad)
{
    int n = 0;
    *bad = NULL;
    for (text = skip_separators(text); *text; text = skip_separators(text), n++) {
        float value;
        const char *end = parse_number(text, fractions, &value);
        if (!end) {
            *bad = text;
            break;
        }
        if (n < TAPS)
            h[n] = value;
        text = end;
    }
    return n;
}

/* Surrounds 3x3 coefficients with zeros. */
static void frame(float h[TAPS])
{
    float inner[INNER];
    memcpy(inner, h, sizeof inner);
    memset(h, 0, TAPS * sizeof *h);
    for (int i = 0; i < INNER; i++)
        h[(i / 3 + 1) * 5 + i % 3 + 1] = inner[i];
}

/* A slash separates rows, or makes a fraction: whichever reading gives 25 or 9 numbers. Only one reading can,
 * since each fraction uses up a slash. source: the name of the text in messages. */
static lap_code parse_list(const char *text, const char *source, lap_kernel *kernel, lap_error *err)
{
    const char *bad, *below;
    int n = parse_numbers(text, false, kernel->h, &bad);
    if (!bad && n != TAPS && n != INNER && strchr(text, '/')) {
        float h[TAPS];
        const int fractions = parse_numbers(text, true, h, &below);
        if (!below && (fractions == TAPS || fractions == INNER)) {
            n = fractions;
            memcpy(kernel->h, h, sizeof h);
        }
    }
    if (bad)
        return lap_fail(err, LAP_E_USAGE,
            "kernel %s: number %d is not a decimal number, or out of range: '%.*s'", source, n + 1,
            (int)(strcspn(bad, separators) < 20 ? strcspn(bad, separators) : 20), bad);
    if (n != TAPS && n != INNER)
        return lap_fail(
            err, LAP_E_USAGE, "kernel %s: %d numbers where 25 (5x5) or 9 (3x3) are needed", source, n);
    for (int i = 0; i < n; i++)
        if (!isfinite(kernel->h[i]))
            return lap_fail(err, LAP_E_USAGE, "kernel %s: number %d is not a finite number", source, i + 1);
    if (n == INNER)
        frame(kernel->h);
    return finish(kernel, err);
}

/* Opens a kernel file. O_NONBLOCK, so that a FIFO without a writer does not block; a shell's <(...) is a
 * descriptor that has a writer. Returns -1 with errno; ESPIPE if it is not a regular file. */
static int open_file(const char *path)
{
    struct stat st;
    bool named = strncmp(path, "/dev/fd/", 8) == 0 || strcmp(path, "/dev/stdin") == 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (named ? 0 : O_NONBLOCK));
    if (fd >= 0 && !named && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        close(fd);
        errno = S_ISDIR(st.st_mode) ? EISDIR : ESPIPE;
        fd = -1;
    }
    return fd;
}

static lap_code parse_file(const char *path, lap_kernel *kernel, lap_error *err)
{
    char text[FILE_MAX + 1];
    size_t size = 0;
    int fd = open_file(path);
    if (fd < 0)
        return lap_fail(err, LAP_E_USAGE,
            "kernel '%s': not a preset, not a list of 25 or 9 numbers, and cannot be read as a file: %s",
            path, errno == ESPIPE ? "not a regular file" : strerror(errno));
    ssize_t got = 1;
    while (size < sizeof text && (got > 0 || (got < 0 && errno == EINTR))) {
        got = read(fd, text + size, sizeof text - size);
        size += got > 0 ? (size_t)got : 0;
    }
    int failed = got < 0 ? errno : 0;
    close(fd);
    if (failed)
        return lap_fail(err, LAP_E_USAGE, "kernel %s: %s", path, strerror(failed));
    if (memchr(text, 0, size))
        return lap_fail(err, LAP_E_USAGE, "kernel %s: not a text of 25 or 9 numbers", path);
    if (size > FILE_MAX)
        return lap_fail(err, LAP_E_USAGE,
            "kernel %s: has more than %d bytes, the most that a kernel file may have", path, FILE_MAX);
    text[size] = 0;
    return parse_list(text, path, kernel, err);
}

/* A list has only numbers between separators, at least two; a path may have slashes too. Text that begins
 * like a list, has no slash and is not the name of a file counts as a list, so that the error names its bad
 * number. */
static bool is_list(const char *spec)
{
    int n = 0;
    for (const char *at = skip_separators(spec); *at; n++) {
        char *end;
        (void)lap_decimal_float(at, &end);
        if (end == at || !strchr(separators, *end))
            return n > 0 && !strchr(spec, '/') && access(spec, F_OK) != 0;
        at = skip_separators(end);
    }
    return n > 1;
}

lap_code lap_kernel_parse(const char *spec, lap_kernel *kernel, lap_error *err)
{
    *kernel = (lap_kernel){.name = "custom"};
    for (int i = 0; i < PRESETS; i++) {
        if (strcmp(spec, presets[i].name) == 0) {
            snprintf(kernel->name, sizeof kernel->name, "%s", spec);
            for (int k = 0; k < TAPS; k++)
                kernel->h[k] = presets[i].h[k];
            return finish(kernel, err);
        }
    }
    return is_list(spec) ? parse_list(spec, "list", kernel, err) : parse_file(spec, kernel, err);
}

void lap_kernel_flip(lap_kernel *kernel)
{
    for (int i = 0, j = 24; i < j; i++, j--) {
        const float h = kernel->h[i];
        const int32_t hi = kernel->hi[i];
        kernel->h[i] = kernel->h[j];
        kernel->h[j] = h;
        kernel->hi[i] = kernel->hi[j];
        kernel->hi[j] = hi;
    }
}
