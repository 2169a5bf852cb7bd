/* backends: lists every backend of every ladder, whether it can run here, and if not, why. */
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/term.h"

enum { MAX_REASONS = 16, NAME = 23, LEAST = 30 /* columns; a longer description moves to the next line */ };

typedef struct reasons { /* reasons; each is printed once, below the tables */
    const char *text[MAX_REASONS];
    int count;
} reasons;

static int number_of(reasons *known, const char *reason)
{
    for (int i = 0; i < known->count; i++)
        if (strcmp(known->text[i], reason) == 0)
            return i + 1;
    if (known->count == MAX_REASONS)
        return 0;
    known->text[known->count] = reason;
    return ++known->count;
}

static void state_of(const lap_rung_info *info, reasons *known, char state[64])
{
    if (info->reason)
        snprintf(state, 64, "no [%d]", number_of(known, info->reason));
    else if (info->resolved && strcmp(info->resolved, info->name) != 0)
        snprintf(state, 64, "%s", info->resolved);
    else
        snprintf(state, 64, "yes");
}

/* Returns the width of the longest state in the ladder, plus two spaces. */
static int state_width(lap_op op, reasons *known)
{
    int width = (int)strlen("runs here");
    lap_rung_info info;
    char state[64];
    for (int i = 0; lap_cli_row_at(op, i, true, &info); i++) {
        state_of(&info, known, state);
        width = (int)strlen(state) > width ? (int)strlen(state) : width;
    }
    return width + 2;
}

static void print_row(const lap_rung_info *info, int state_columns, reasons *known)
{
    char state[64];
    int at = 2 + NAME + state_columns;
    state_of(info, known, state);
    printf("  %-*s", NAME, info->name);
    if (lap_term_width() < at + LEAST) {
        at = 4;
        printf("%s\n%*s", state, at, "");
    } else {
        printf("%-*s", state_columns, state);
    }
    lap_cli_print_wrapped(info->what ? info->what : "", at, lap_term_width());
    if (info->aliases)
        printf("    = %s\n", info->aliases);
}

static void print_ladder(const lap_cli *cli, lap_op op, reasons *known)
{
    lap_rung_info info;
    if (!lap_cli_row_at(op, 0, true, &info))
        return;
    const int columns = state_width(op, known);
    const bool narrow = lap_term_width() < 2 + NAME + columns + LEAST;
    printf("%s%-*s%-*s%s%s\n", lap_term_bold(cli, stdout), 2 + NAME, lap_op_name(op), narrow ? 0 : columns,
        "runs here", narrow ? "" : "what it is", lap_term_plain(cli, stdout));
    for (int i = 0; lap_cli_row_at(op, i, true, &info); i++)
        print_row(&info, columns, known);
    putchar('\n');
}

static void print_devices(const lap_cli *cli)
{
    lap_device_info device;
    const char *reason = NULL;
    int i = 0;
    printf("%sCUDA devices%s\n", lap_term_bold(cli, stdout), lap_term_plain(cli, stdout));
    for (; lap_device_at(i, &device, &reason); i++) {
        char text[400];
        snprintf(text, sizeof text,
            "%s, %.1f GB (%.1f free), compute capability %d.%d, %d multiprocessors, driver %s", device.name,
            (double)device.memory_bytes / 1e9, (double)device.free_bytes / 1e9, device.cc_major,
            device.cc_minor, device.sms, device.driver);
        printf("  %d  ", device.device);
        lap_cli_print_wrapped(text, 5, lap_term_width());
    }
    if (i == 0) {
        fputs("  none: ", stdout);
        lap_cli_print_wrapped(reason ? reason : "no reason known", 8, lap_term_width());
    }
}

static json_t *aliases_of(const char *list)
{
    json_t *array = json_array();
    while (list && *list) {
        const size_t length = strcspn(list, ",");
        json_array_append_new(array, json_stringn(list, length));
        list += length + (list[length] == ',');
    }
    return array;
}

static int print_json(void)
{
    json_t *object = lap_json_object("lapedge.backends/1"), *rows = json_array();
    lap_rung_info info;
    for (int op = 0; op <= LAP_OP_DECODE; op++)
        for (int i = 0; lap_cli_row_at((lap_op)op, i, true, &info); i++)
            json_array_append_new(rows,
                json_pack("{ss ss so ss sb so so}", "op", lap_op_name(info.op), "name", info.name, "aliases",
                    aliases_of(info.aliases), "family", info.family, "available", info.reason == NULL,
                    "reason", lap_json_text(info.reason), "resolved", lap_json_text(info.resolved)));
    json_object_set_new(object, "rows", rows);
    return lap_json_print(object);
}

int lap_cli_backends(lap_cli *cli)
{
    if (cli->operand_count > 0)
        return lap_cli_usage("backends takes no operands, but \"%s\" is given", cli->operands[0]);
    const int printed = lap_cli_wants_json(cli) ? print_json() : LAP_EXIT_OK;
    if (cli->json)
        return printed;
    reasons known = {.count = 0};
    for (int op = 0; op <= LAP_OP_DECODE; op++)
        print_ladder(cli, (lap_op)op, &known);
    for (int i = 0; i < known.count; i++) {
        printf("[%d] ", i + 1);
        lap_cli_print_wrapped(known.text[i], 4, lap_term_width());
    }
    if (known.count > 0)
        putchar('\n');
    print_devices(cli);
    return printed;
}
