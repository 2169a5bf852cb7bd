/* Values that only the comparisons take. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/options/values.h"

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

/* X,Y,W,H: a rectangle of pixels. */
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
