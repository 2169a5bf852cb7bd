/* explain: shows what a backend does, what it changes, what was measured, and further reading. */
#include <string.h>

#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/term.h"

static const lap_explain *explain_of(lap_op op, const char *name)
{
    for (const lap_explain *each = lap_explains; each->name; each++)
        if (strcmp(each->ladder, lap_op_name(op)) == 0 && strcmp(each->name, name) == 0)
            return each;
    return NULL;
}

const char *lap_explained(const char *ladder, const char *name)
{
    for (const lap_explain *each = lap_explains; each->name; each++)
        if (strcmp(each->ladder, ladder) == 0 && strcmp(each->name, name) == 0)
            return each->notes;
    return NULL;
}

static bool is_called(const lap_rung_info *info, const char *name)
{
    const char *list = info->aliases;
    const size_t length = strlen(name);
    if (strcmp(info->name, name) == 0)
        return true;
    for (; list && *list; list += strcspn(list, ",") + (list[strcspn(list, ",")] == ','))
        if (strcspn(list, ",") == length && strncmp(list, name, length) == 0)
            return true;
    return false;
}

/* Returns the name of the ladder's step after this one, or NULL. The numbers in the file names give the
 * order of the steps; the table of backends differs, since it lists the widest vectors first. */
static const char *next_step(const lap_explain *step)
{
    for (const lap_explain *each = step + 1; each->name; each++)
        if (strcmp(each->ladder, step->ladder) == 0)
            return each->name;
    return NULL;
}

/* Returns the documentation page of the ladder. */
static const char *page_of(lap_op op, const char *file)
{
    return op == LAP_OP_ENCODE              ? "docs/encoder.md"
           : op == LAP_OP_DECODE            ? "docs/decoder.md"
           : op != LAP_OP_FILTER            ? "docs/claims.md"
           : strncmp(file, "cuda/", 5) == 0 ? "docs/ladder.md"
                                            : "docs/ladder-cpu.md";
}

enum { LINE = 2000 };

/* Prints a line indented by two columns; drops indentation beyond four columns. */
static void print_line(const char *text)
{
    fputs("  ", stdout);
    lap_cli_print_wrapped(text, 4, lap_term_width());
}

static void print_notes(const lap_explain *notes)
{
    for (const char *line = notes->notes; *line; line += strcspn(line, "\n") + 1) {
        char text[LINE];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
        print_line(text);
    }
}

/* Prints "stands for the first that can run here of: a, b, c" for the list "a,b,c". */
static void print_family(const char *list)
{
    char text[LINE];
    int length = snprintf(text, sizeof text, "stands for the first that can run here of: ");
    for (; *list && length + 3 < LINE; list++)
        length += snprintf(text + length, sizeof text - (size_t)length, *list == ',' ? ", " : "%c", *list);
    print_line(text);
}

static void print_one(const lap_cli *cli, lap_op op, const lap_rung_info *info)
{
    const char *name = info->name;
    printf("%s%s %s%s\n", lap_term_bold(cli, stdout), lap_op_name(op), name, lap_term_plain(cli, stdout));
    if (info->resolves) {
        print_line(info->what);
        print_family(info->resolves);
        name = info->resolved;
        if (name)
            printf("  which is %s:\n", name);
    }
    const lap_explain *notes = name ? explain_of(op, name) : NULL;
    if (notes) {
        char text[LINE];
        const char *next = info->resolves ? NULL : next_step(notes);
        print_notes(notes);
        snprintf(text, sizeof text, "Read on: %s, %s%s%s", notes->file, page_of(op, notes->file),
            next ? "; next: lapedge explain " : "", next ? next : "");
        print_line(text);
    } else if (name && !info->resolves) {
        print_line(info->what);
    }
    putchar('\n');
}

int lap_cli_explain(lap_cli *cli)
{
    lap_rung_info info;
    if (cli->operand_count != 1)
        return lap_cli_usage("explain takes the name of one backend; see lapedge backends");
    const char *name = cli->operands[0];
    int found = 0;
    for (int op = 0; op <= LAP_OP_DECODE; op++)
        for (int i = 0; lap_cli_row_at((lap_op)op, i, false, &info); i++)
            if (is_called(&info, name)) {
                print_one(cli, (lap_op)op, &info);
                found++;
            }
    if (found)
        return LAP_EXIT_OK;
    for (int op = 0; op < LAP_OP_COUNT; op++) {
        const char *nearest = lap_rung_nearest((lap_op)op, name);
        if (nearest)
            return lap_cli_usage("\"%s\" is not a known backend; did you mean %s?", name, nearest);
    }
    return lap_cli_usage("\"%s\" is not a known backend; see lapedge backends", name);
}
