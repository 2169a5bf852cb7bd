#include "rungs/backend.h"

#include <string.h>

#include "base/status.h"

enum { NAME_MAX_LENGTH = 63 };

static const lap_rung *const tables[LAP_OP_COUNT] = {
    [LAP_OP_FILTER] = lap_filter_table,
    [LAP_OP_TRANSPOSE] = lap_transpose_table,
    [LAP_OP_REDUCE] = lap_reduce_table,
    [LAP_OP_HISTOGRAM] = lap_histogram_table,
    [LAP_OP_MATVEC] = lap_matvec_table,
};

static const char *const op_names[LAP_OP_COUNT] = {
    [LAP_OP_FILTER] = "filter",
    [LAP_OP_TRANSPOSE] = "transpose",
    [LAP_OP_REDUCE] = "reduce",
    [LAP_OP_HISTOGRAM] = "histogram",
    [LAP_OP_MATVEC] = "matvec",
};

static bool is_op(lap_op op)
{
    return (int)op >= 0 && op < LAP_OP_COUNT;
}

const char *lap_op_name(lap_op op)
{
    if (op == LAP_OP_CODEC)
        return "codec";
    if (op == LAP_OP_ENCODE)
        return "encode";
    if (op == LAP_OP_DECODE)
        return "decode";
    return is_op(op) ? op_names[op] : "unknown";
}

const lap_rung *lap_rung_row(lap_op op, int i)
{
    if (!is_op(op) || i < 0)
        return NULL;
    for (const lap_rung *row = tables[op]; row->name; row++) {
        if (i-- == 0)
            return row;
    }
    return NULL;
}

/* ---- names ------------------------------------------------------------------------------------- */

/* Copies the next name of a comma separated list to name; false at the end of the list. */
static bool next_name(const char **list, char name[NAME_MAX_LENGTH + 1])
{
    if (!*list || !**list)
        return false;
    size_t n = strcspn(*list, ",");
    snprintf(name, NAME_MAX_LENGTH + 1, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == ',');
    return true;
}

static bool is_called(const lap_rung *row, const char *name)
{
    char alias[NAME_MAX_LENGTH + 1];
    if (strcmp(row->name, name) == 0)
        return true;
    for (const char *list = row->aliases; next_name(&list, alias);) {
        if (strcmp(alias, name) == 0)
            return true;
    }
    return false;
}

bool lap_rung_is_listed(const lap_rung *rung, const char *list)
{
    char name[NAME_MAX_LENGTH + 1];
    if (!list)
        return true;
    while (next_name(&list, name))
        if (is_called(rung, name))
            return true;
    return false;
}

static const lap_rung *look_up(lap_op op, const char *name)
{
    const lap_rung *row;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        if (is_called(row, name))
            return row;
    }
    return NULL;
}

const char *lap_rung_nearest(lap_op op, const char *name)
{
    const char *nearest = NULL;
    char alias[NAME_MAX_LENGTH + 1];
    const size_t length = strlen(name);
    int best = NAME_MAX_LENGTH;
    const lap_rung *row;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        int d = lap_word_distance(name, row->name);
        for (const char *list = row->aliases; next_name(&list, alias);) {
            const int by_alias = lap_word_distance(name, alias);
            d = by_alias < d ? by_alias : d;
        }
        /* A name is not a misspelling if more than half of its letters are wrong; but the first letters of a
         * name, at least three, count as a misspelling of it. */
        bool begins = length >= 3 && strncmp(name, row->name, length) == 0;
        if (d < best && (begins || d <= (int)length / 2)) {
            best = d;
            nearest = row->name;
        }
    }
    return nearest;
}

/* ---- which rungs can run ----------------------------------------------------------------------- */

static bool is_built(const lap_rung *row)
{
    return row->run.filter != NULL;
}

/* Returns the row that runs here if `row` is requested. NULL: none can run, and *reason is that of the last
 * candidate that was built, which has the fewest requirements. Without probe_devices, devices count as
 * available. */
static const lap_rung *resolve(const lap_rung *row, bool probe_devices, const char **reason)
{
    char name[NAME_MAX_LENGTH + 1];
    const char *why;
    bool has_built = false;
    *reason = NULL;
    for (const char *list = row->resolves; next_name(&list, name);) {
        const lap_rung *candidate = look_up(row->op, name);
        const lap_rung *runs = candidate ? resolve(candidate, probe_devices, &why) : NULL;
        if (runs) {
            *reason = NULL;
            return runs;
        }
        if (candidate && (is_built(candidate) || !has_built))
            *reason = why;
        has_built = has_built || (candidate && is_built(candidate));
    }
    if (row->resolves)
        return NULL;
    if (row->available && (probe_devices || !row->device || !is_built(row)))
        *reason = row->available();
    return *reason ? NULL : row;
}

bool lap_rung_at(lap_op op, int i, bool probe_devices, lap_rung_info *info)
{
    const lap_rung *row = lap_rung_row(op, i);
    const char *reason;
    if (!row)
        return false;
    const lap_rung *runs = resolve(row, probe_devices, &reason);
    *info = (lap_rung_info){.op = op,
        .name = row->name,
        .aliases = row->aliases,
        .family = row->family,
        .resolves = row->resolves,
        .what = row->what,
        .flags = row->flags,
        .reason = reason,
        .resolved = runs ? runs->name : NULL};
    return true;
}

lap_code lap_rung_find(lap_op op, const char *name, const lap_rung **rung, lap_error *err)
{
    const char *reason;
    const lap_rung *row = look_up(op, name);
    *rung = NULL;
    if (!row) {
        const char *nearest = lap_rung_nearest(op, name);
        return nearest
                   ? lap_fail(err, LAP_E_USAGE, "unknown backend '%s'; the nearest is '%s'", name, nearest)
                   : lap_fail(err, LAP_E_USAGE, "unknown backend '%s'", name);
    }
    *rung = resolve(row, true, &reason);
    if (!*rung)
        return lap_fail(err, LAP_E_BACKEND, "backend '%s' cannot run here: %s", name,
            reason ? reason : "none of its rungs is built");
    return LAP_OK;
}

lap_code lap_rung_walk(lap_op op, const char *list, const lap_control *control, lap_rung_visit_fn *visit,
    void *user, lap_error *err)
{
    const lap_rung *row, *rung;
    lap_code code = LAP_OK;
    for (int i = 0; code == LAP_OK && (row = lap_rung_row(op, i)); i++) {
        lap_error why = {0};
        lap_rung_info info;
        if (!lap_rung_is_listed(row, list))
            continue;
        code = lap_control_check(control, err);
        if (code != LAP_OK)
            return code;
        const char *reason = NULL;
        if (lap_rung_find(op, row->name, &rung, &why) == LAP_E_BACKEND && lap_rung_at(op, i, true, &info))
            reason = info.reason;
        code = visit(user, row, rung, reason, &why, err);
    }
    return code;
}

const lap_rung *lap_rung_reference(lap_op op)
{
    return lap_rung_row(op, 0);
}

bool lap_rung_takes_bands(const lap_rung *rung)
{
    return !rung->device;
}

const char *lap_rung_fastest_on_device(lap_op op)
{
    const char *name = "auto";
    const lap_rung *row;
    for (int i = 0; (row = lap_rung_row(op, i)); i++) {
        if (row->device)
            name = row->name;
    }
    return name;
}

const char *lap_rung_companion(lap_op op, const lap_rung *rung)
{
    return rung->device ? lap_rung_fastest_on_device(op) : "auto";
}

lap_code lap_rung_find_on_device(
    lap_op op, const char *name, int device, const lap_rung **rung, lap_error *err)
{
    const bool any = !name || strcmp(name, "auto") == 0;
    lap_error why = {0};
    lap_code code = lap_rung_find(op, any ? lap_rung_fastest_on_device(op) : name, rung, &why);
    if (code == LAP_OK && !(*rung)->device)
        code = lap_fail(err, LAP_E_USAGE,
            "backend '%s' runs on the CPU, and the pixels lie on device %d; for host memory, set "
            "place to LAP_ON_HOST",
            name, device);
    else if (code == LAP_E_BACKEND && any)
        code =
            lap_fail(err, code, "the pixels lie on device %d (for host memory, set place to LAP_ON_HOST); %s",
                device, why.message);
    else if (code != LAP_OK)
        lap_error_set(err, &why);
    if (code != LAP_OK)
        *rung = NULL;
    return code;
}

bool lap_rung_fell_back(lap_op op, const char *backend, const lap_rung *rung)
{
    char name[NAME_MAX_LENGTH + 1];
    const lap_rung *row = look_up(op, backend);
    const char *list = row ? row->resolves : NULL;
    const lap_rung *first = next_name(&list, name) ? look_up(op, name) : NULL;
    return first && strcmp(first->family, rung->family) != 0;
}
