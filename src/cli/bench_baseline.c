#include "cli/bench_baseline.h"

#include <string.h>

#include "cli/term.h"

json_t *lap_bench_baseline(const char *path)
{
    json_error_t problem;
    json_t *object = json_load_file(path, 0, &problem);
    const char *schema = json_string_value(json_object_get(object, "schema"));
    if (object && schema && strcmp(schema, "lapedge.bench/1") == 0 && json_object_get(object, "rows"))
        return object;
    lap_cli_message(
        "--baseline: %s: %s", path, object ? "not the output of lapedge bench --json" : problem.text);
    json_decref(object);
    return NULL;
}

static bool same_case(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {
        "op", "backend", "threads", "width", "height", "channels", "type", "form"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return true;
}

void lap_bench_set_beside(json_t *rows, const json_t *baseline)
{
    size_t i, j;
    json_t *now, *then;
    json_array_foreach(rows, i, now)
    {
        json_object_set_new(now, "baseline_ms", json_null());
        json_array_foreach(json_object_get(baseline, "rows"), j, then)
        {
            if (same_case(now, then))
                json_object_set(now, "baseline_ms", json_object_get(then, "median_ms"));
        }
    }
}

lap_cli_exit lap_bench_judge(const lap_cli *cli, const json_t *rows)
{
    size_t i;
    json_t *row;
    int slower = 0, compared = 0;
    json_array_foreach(rows, i, row)
    {
        const double now_ms = json_number_value(json_object_get(row, "median_ms"));
        const double then_ms = json_number_value(json_object_get(row, "baseline_ms"));
        if (!(then_ms > 0) || !(now_ms > 0))
            continue;
        compared++;
        if (now_ms <= then_ms * (1 + cli->tolerance))
            continue;
        slower++;
        int digits = 3; /* after the point, so that the two can be told apart */
        for (double unit = 1e-3; digits < 9 && now_ms - then_ms < unit; unit /= 10)
            digits++;
        const long long threads = json_integer_value(json_object_get(row, "threads"));
        lap_cli_message("slower: %s %s, %lld thread%s: %.*f ms, %.*f in the baseline (%+.0f %%)",
            json_string_value(json_object_get(row, "op")), json_string_value(json_object_get(row, "backend")),
            threads, threads == 1 ? "" : "s", digits, now_ms, digits, then_ms, 100 * (now_ms / then_ms - 1));
    }
    if (compared == 0)
        return lap_cli_usage("--baseline: %s has no row in common with this run", cli->baseline);
    return slower ? LAP_EXIT_FAILED : LAP_EXIT_OK;
}
