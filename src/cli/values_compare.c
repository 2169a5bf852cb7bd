/* Values that only the comparisons take. */
#include <string.h>
#include <strings.h>

#include "cli/values.h"

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

bool lap_set_png(void *field, const lap_cli_option *option, const char *value, char *problem, size_t size)
{
    (void)option;
    const size_t length = strlen(value);
    if (length < 5 || strcasecmp(value + length - 4, ".png") != 0)
        return lap_cli_refuse(problem, size, value, "the name of a .png");
    *(const char **)field = value;
    return true;
}
