/* stats and diff over folders: tables, objects and exit codes. The test makes up what the library measures
 * and compares. */
#include "tests/unit/cli/folder_stubs.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

/* ---- the library's runs ---------------------------------------------------------------------------- */

static const lap_measured *measured;
static const lap_pair *pairs;
static size_t measured_count, pair_count, asked_pairs;
/* What was given. */
static lap_measure_options asked;
static lap_diff_rules rules;
static bool has_text;

STUB(lap_measure_batch);
lap_code __wrap_lap_measure_batch(lap_context *context, const lap_measure_order *order,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err)
{
    assert_non_null(context);
    asked = *order->measure;
    has_text = order->text;
    sys.shown_counts = counts;
    order->each(order->user, NULL, counts);
    for (size_t i = 0; i < measured_count; i++) {
        lap_measured one = measured[i];
        char *text = order->text && one.measurement ? order->text(order->user, &one) : NULL;
        one.text = text;
        order->each(order->user, &one, counts);
        free(text);
    }
    return finish(order->options, settings, counts, err);
}

STUB(lap_compare_folders);
lap_code __wrap_lap_compare_folders(lap_context *context, const lap_pairing *pairing,
    const lap_settings *settings, lap_batch_counts *counts, lap_error *err)
{
    assert_non_null(context);
    assert_string_equal(pairing->a, "a");
    assert_string_equal(pairing->b, "b");
    rules = *pairing->rules;
    sys.shown_counts = counts;
    bool goes_on = pairing->each(pairing->user, NULL, counts);
    assert_true(goes_on);
    for (asked_pairs = 0; asked_pairs < pair_count && goes_on; asked_pairs++)
        goes_on = pairing->each(pairing->user, &pairs[asked_pairs], counts);
    return finish(pairing->options, settings, counts, err);
}

static int begin(void **state)
{
    (void)state;
    empty_scratch();
    return 0;
}

#define assert_stats(want) assert_text(all_of(lap_cli_stats), want)
#define assert_diff(want) assert_text(all_of(lap_cli_diff), want)

/* ---- stats ----------------------------------------------------------------------------------------- */

enum { GRAY, COLOR, MASKED, MEASURED };
static lap_measurement measurements[MEASURED];

/* Small histograms, whose means and deviations are whole numbers: of gray 10 and 20, of edges 1 and 249. */
static void measure(void)
{
    memset(measurements, 0, sizeof measurements);
    for (int i = 0; i < MEASURED; i++) {
        lap_measurement *m = &measurements[i];
        uint64_t counts[4][256] = {{0}}, edges[4][256] = {{0}};
        *m = (lap_measurement){.width = 4, .height = 1, .channels = i == GRAY ? 1 : 3, .resolved = "simd"};
        for (int c = 0; c < m->channels; c++) {
            counts[c][10 + c] = counts[c][20 + 3 * c] = 2;
            edges[c][1] = edges[c][249 - 2 * c] = 2;
        }
        assert_int_equal(lap_stats_of_counts(counts, m->channels, 15, &m->stats.input, NULL), LAP_OK);
        m->stats.input.channels = m->channels;
        m->stats.input.threshold = 15;
        if (i == MASKED)
            continue;
        assert_int_equal(lap_stats_of_counts(edges, m->channels, 15, &m->stats.edges, NULL), LAP_OK);
        m->stats.edges.channels = m->channels;
        m->stats.edges.threshold = 15;
    }
}

static const lap_report stats_reports[] = {{.status = LAP_DONE, .ms = {.total = 1.25}},
    {.status = LAP_WARNED, .warnings = 2, .warning = "odd", .ms = {.total = 2}},
    {.status = LAP_FAILED, .error = {.code = LAP_E_TRUNCATED, .message = "m"}}};
static const lap_measured all_measured[] = {{"in/g\x1b.jpg", &measurements[GRAY], &stats_reports[0], NULL},
    {"in/c.jpg", &measurements[COLOR], &stats_reports[1], NULL},
    {"in/bad.jpg", NULL, &stats_reports[2], NULL},
    {"in/m.jpg", &measurements[MASKED], &stats_reports[0], NULL}};

static void give_measured(size_t first, size_t count)
{
    start(LAP_COMMAND_STATS, LAP_CLI_STATS_FOLDER);
    set_operands("in", NULL, NULL);
    measure();
    measurements[COLOR].note = "a note";
    measured = all_measured + first;
    measured_count = count;
    sys.counts = (lap_batch_counts){.found = count, .expected = count, .pixels = 3000000, .ms = 2000};
    for (size_t i = 0; i < count; i++) {
        const lap_report *report = measured[i].report;
        sys.counts.ok += report->status == LAP_DONE;
        sys.counts.warned += report->status == LAP_WARNED;
        sys.counts.failed += report->status == LAP_FAILED;
        sys.counts.kinds[report->error.code] += report->status == LAP_FAILED;
    }
}

/* The numbers of a histogram with many zeros, as they stand in JSON, are left out of what is compared. */
static const char *without_zeros(const char *text)
{
    static char copy[1 << 16];
    char *to = copy;
    for (const char *at = text; *at; at++)
        if (strncmp(at, ",0,0", 4) == 0)
            at++;
        else
            *to++ = *at;
    *to = '\0';
    return copy;
}

/* The keys of the default filter. */
#define EDGES                                                                                            \
    ",\"kernel\":\"laplace5\",\"border\":\"zero\",\"range\":\"clamp\",\"coefficients\":[-1.0,-1.0,-1.0," \
    "-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,24.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,-1.0,"    \
    "-1.0,-1.0,-1.0],\"scale\":1.0,\"offset\":0.0,\"invert\":false"

static void stats_talk(void **state)
{
    (void)state;
    give_measured(0, 4);
    assert_stats("  input mean  stddev  edges mean  stddev  p99     width x height  file\n"
                 "      15.000   5.000     125.000 124.000  249        4 x 1       in/g\\x1b.jpg\n"
                 "      17.000   6.272     124.000 123.005  249        4 x 1       in/c.jpg\n"
                 "      17.000   6.272           -       -    -        4 x 1       in/m.jpg\n"
                 "\n"
                 "1 photo in gray together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  gray       10   20    15.000     5.000    1.0000    10    10    20\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  gray        1  249   125.000   124.000    1.0000     1     1   249\n"
                 "\n"
                 "2 photos in colour together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red        10   20    15.000     5.000    1.0000    10    10    20\n"
                 "  green      11   23    17.000     6.000    1.0000    11    11    23\n"
                 "  blue       12   26    19.000     7.000    1.0000    12    12    26\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red         1  249   125.000   124.000    1.0000     1     1   249\n"
                 "  green       1  247   124.000   123.000    1.0000     1     1   247\n"
                 "  blue        1  245   123.000   122.000    1.0000     1     1   245\n"
                 "--\n"
                 "lapedge: in/c.jpg: warning: odd (the first of 2)\n"
                 "lapedge: in/bad.jpg: truncated: m\n"
                 "3 measured, 1 failed (1 truncated); 2.0 s, 2 Mpixel/s\n"
                 "lapedge: --mask-border covers all edges of 1 photo\n"
                 "1");
    cli.verbose = true;
    cli.settings.params.threshold = 21;
    assert_stats("  input mean  stddev  edges mean  stddev  p99     width x height  file\n"
                 "      15.000   5.000     125.000 124.000  249        4 x 1       in/g\\x1b.jpg\n"
                 "      17.000   6.272     124.000 123.005  249        4 x 1       in/c.jpg\n"
                 "      17.000   6.272           -       -    -        4 x 1       in/m.jpg\n"
                 "\n"
                 "1 photo in gray together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
                 "  gray       10   20    15.000     5.000    1.0000    10    10    20   0.00%\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
                 "  gray        1  249   125.000   124.000    1.0000     1     1   249  50.00%\n"
                 "\n"
                 "2 photos in colour together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
                 "  red        10   20    15.000     5.000    1.0000    10    10    20   0.00%\n"
                 "  green      11   23    17.000     6.000    1.0000    11    11    23  50.00%\n"
                 "  blue       12   26    19.000     7.000    1.0000    12    12    26  50.00%\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99   above\n"
                 "  red         1  249   125.000   124.000    1.0000     1     1   249  50.00%\n"
                 "  green       1  247   124.000   123.000    1.0000     1     1   247  50.00%\n"
                 "  blue        1  245   123.000   122.000    1.0000     1     1   245  50.00%\n"
                 "--\n"
                 "lapedge: up to 3 files at once, 3 threads\n"
                 "lapedge: in/g\\x1b.jpg: backend simd, 1.2 ms\n"
                 "lapedge: in/c.jpg: backend simd, 2.0 ms; a note\n"
                 "lapedge: in/c.jpg: warning: odd (the first of 2)\n"
                 "lapedge: in/bad.jpg: truncated: m\n"
                 "lapedge: in/m.jpg: backend simd, 1.2 ms\n"
                 "3 measured, 1 failed (1 truncated); 2.0 s, 2 Mpixel/s\n"
                 "lapedge: --mask-border covers all edges of 1 photo\n"
                 "  by        \n"
                 "  at once   up to 0\n"
                 "  ms        added up 0.0\n"
                 "1");
    assert_int_equal(asked.threshold, 21);
    assert_int_equal(sys.settings.params.threshold, -1);
    cli.quiet = true;
    cli.verbose = false;
    assert_stats("lapedge: in/bad.jpg: truncated: m\n1");
    give_measured(0, 4);
    wants_json();
    cli.allowed.mask_border = 2;
    cli.settings.params.threshold = 15;
    assert_text(without_zeros(all_of(lap_cli_stats)),
        "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"gray\","
        "\"min\":10,\"max\":20,\"sum\":60,\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,"
        "\"p1\":10,\"p50\":10,\"p99\":20,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]}],"
        "\"path\":\"in/g\\u001B.jpg\"},\"edges\":{\"channels\":[{\"name\":\"gray\",\"min\":1,"
        "\"max\":249,\"sum\":500,\"mean\":125.0,\"stddev\":124.0,\"entropy\":1.0,\"p1\":1,"
        "\"p50\":1,\"p99\":249,\"above\":0.5,\"histogram\":[0,2,0,2,0]}]},\"mask_border\":0,"
        "\"threshold\":15,\"profiles\":null" EDGES ",\"warnings\":0,\"warning\":null}\n"
        "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"red\",\"min\":10,"
        "\"max\":20,\"sum\":60,\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,\"p1\":10,"
        "\"p50\":10,\"p99\":20,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]},{\"name\":\"green\","
        "\"min\":11,\"max\":23,\"sum\":68,\"mean\":17.0,\"stddev\":6.0,\"entropy\":1.0,"
        "\"p1\":11,\"p50\":11,\"p99\":23,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]},"
        "{\"name\":\"blue\",\"min\":12,\"max\":26,\"sum\":76,\"mean\":19.0,\"stddev\":7.0,"
        "\"entropy\":1.0,\"p1\":12,\"p50\":12,\"p99\":26,\"above\":0.5,\"histogram\":[0,0,2,0,"
        "2,0]}],\"path\":\"in/c.jpg\"},\"edges\":{\"channels\":[{\"name\":\"red\",\"min\":1,"
        "\"max\":249,\"sum\":500,\"mean\":125.0,\"stddev\":124.0,\"entropy\":1.0,\"p1\":1,"
        "\"p50\":1,\"p99\":249,\"above\":0.5,\"histogram\":[0,2,0,2,0]},{\"name\":\"green\","
        "\"min\":1,\"max\":247,\"sum\":496,\"mean\":124.0,\"stddev\":123.0,\"entropy\":1.0,"
        "\"p1\":1,\"p50\":1,\"p99\":247,\"above\":0.5,\"histogram\":[0,2,0,2,0]},"
        "{\"name\":\"blue\",\"min\":1,\"max\":245,\"sum\":492,\"mean\":123.0,\"stddev\":122.0,"
        "\"entropy\":1.0,\"p1\":1,\"p50\":1,\"p99\":245,\"above\":0.5,\"histogram\":[0,2,0,2,"
        "0]}]},\"mask_border\":0,\"threshold\":15,\"profiles\":null" EDGES ",\"warnings\":2,"
        "\"warning\":\"odd\"}\n"
        "{\"schema\":\"lapedge.stats_failed/1\",\"input\":\"in/bad.jpg\","
        "\"error\":{\"kind\":\"truncated\",\"message\":\"truncated: m\"}}\n"
        "{\"schema\":\"lapedge.stats/1\",\"input\":{\"channels\":[{\"name\":\"red\",\"min\":10,"
        "\"max\":20,\"sum\":60,\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,\"p1\":10,"
        "\"p50\":10,\"p99\":20,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]},{\"name\":\"green\","
        "\"min\":11,\"max\":23,\"sum\":68,\"mean\":17.0,\"stddev\":6.0,\"entropy\":1.0,"
        "\"p1\":11,\"p50\":11,\"p99\":23,\"above\":0.5,\"histogram\":[0,0,2,0,2,0]},"
        "{\"name\":\"blue\",\"min\":12,\"max\":26,\"sum\":76,\"mean\":19.0,\"stddev\":7.0,"
        "\"entropy\":1.0,\"p1\":12,\"p50\":12,\"p99\":26,\"above\":0.5,\"histogram\":[0,0,2,0,"
        "2,0]}],\"path\":\"in/m.jpg\"},\"edges\":null,\"mask_border\":0,\"threshold\":15,"
        "\"profiles\":null" EDGES ",\"warnings\":0,\"warning\":null}\n"
        "{\"schema\":\"lapedge.stats_totals/1\",\"expected\":4,\"ok\":2,\"warned\":1,"
        "\"failed\":1,\"links\":0,\"pixels\":3000000,\"kinds\":{\"truncated\":1},"
        "\"not_taken\":{\"files\":0,\"kinds\":{},\"apple_doubles\":0,\"output_folders\":0,"
        "\"outputs\":0,\"photos_in_outdir\":0,\"left_in\":[],\"unused_patterns\":[]},"
        "\"mask_border\":2,\"masked_out\":1,\"threshold\":15" EDGES ",\"gray\":{\"photos\":1,"
        "\"input\":{\"channels\":[{\"name\":\"gray\",\"min\":10,\"max\":20,\"sum\":60,"
        "\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,\"p1\":10,\"p50\":10,\"p99\":20,"
        "\"above\":0.5,\"histogram\":[0,0,2,0,2,0]}]},"
        "\"edges\":{\"channels\":[{\"name\":\"gray\",\"min\":1,\"max\":249,\"sum\":500,"
        "\"mean\":125.0,\"stddev\":124.0,\"entropy\":1.0,\"p1\":1,\"p50\":1,\"p99\":249,"
        "\"above\":0.5,\"histogram\":[0,2,0,2,0]}]}},\"color\":{\"photos\":2,"
        "\"input\":{\"channels\":[{\"name\":\"red\",\"min\":10,\"max\":20,\"sum\":120,"
        "\"mean\":15.0,\"stddev\":5.0,\"entropy\":1.0,\"p1\":10,\"p50\":10,\"p99\":20,"
        "\"above\":0.5,\"histogram\":[0,0,4,0,4,0]},{\"name\":\"green\",\"min\":11,\"max\":23,"
        "\"sum\":136,\"mean\":17.0,\"stddev\":6.0,\"entropy\":1.0,\"p1\":11,\"p50\":11,"
        "\"p99\":23,\"above\":0.5,\"histogram\":[0,0,4,0,4,0]},{\"name\":\"blue\",\"min\":12,"
        "\"max\":26,\"sum\":152,\"mean\":19.0,\"stddev\":7.0,\"entropy\":1.0,\"p1\":12,"
        "\"p50\":12,\"p99\":26,\"above\":0.5,\"histogram\":[0,0,4,0,4,0]}]},"
        "\"edges\":{\"channels\":[{\"name\":\"red\",\"min\":1,\"max\":249,\"sum\":500,"
        "\"mean\":125.0,\"stddev\":124.0,\"entropy\":1.0,\"p1\":1,\"p50\":1,\"p99\":249,"
        "\"above\":0.5,\"histogram\":[0,2,0,2,0]},{\"name\":\"green\",\"min\":1,\"max\":247,"
        "\"sum\":496,\"mean\":124.0,\"stddev\":123.0,\"entropy\":1.0,\"p1\":1,\"p50\":1,"
        "\"p99\":247,\"above\":0.5,\"histogram\":[0,2,0,2,0]},{\"name\":\"blue\",\"min\":1,"
        "\"max\":245,\"sum\":492,\"mean\":123.0,\"stddev\":122.0,\"entropy\":1.0,\"p1\":1,"
        "\"p50\":1,\"p99\":245,\"above\":0.5,\"histogram\":[0,2,0,2,0]}]}},\"ms\":2000.0,"
        "\"error\":null,\"work\":{\"how\":\"\",\"jobs\":0,\"devices\":[],\"ms\":{\"read\":0.0,"
        "\"decode\":0.0,\"upload\":null,\"filter\":0.0,\"download\":null,\"encode\":0.0,"
        "\"write\":0.0,\"total\":0.0}}}\n"
        "--\n"
        "lapedge: in/c.jpg: warning: odd (the first of 2)\n"
        "lapedge: in/bad.jpg: truncated: m\n"
        "3 measured, 1 failed (1 truncated); 2.0 s, 2 Mpixel/s\n"
        "lapedge: --mask-border covers all edges of 1 photo\n"
        "1");
    assert_int_equal(asked.mask_border, 2);
    assert_true(has_text);
    give_measured(0, 1);
    cli.csv = cli.quiet = true;
    assert_int_equal(code_of(lap_cli_stats), 0);
    assert_false(has_text);
    /* A head, and for the photo and for all photos each figure and value of input and edges. */
    int lines = 0;
    for (const char *at = said_out(); *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 1 + 2 * 2 * (9 + 256) + 2);
    static const char first[] = "file,image,channel,figure,index,value\nin/g\\x1b.jpg,input,gray,min,,10\n";
    assert_int_equal(strncmp(said_out(), first, sizeof first - 1), 0);
    assert_non_null(strstr(said_out(), "\n,input,gray,min,,10\n"));
    assert_text(said_err(), "");
}

static void stats_ends(void **state)
{
    (void)state;
    give_measured(0, 1);
    sys.begins_not = true, sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "no context"};
    assert_stats("lapedge: limit: no context\n5");
    give_measured(0, 1);
    operands[0] = "-";
    assert_stats("lapedge: - cannot be used with folders or several files\n2");
    cli.files_from = "list";
    assert_stats("lapedge: --files-from names the inputs: lapedge stats --files-from=FILE\n2");
    cli.forms = LAP_CLI_STATS;
    cli.operand_count = 0;
    assert_stats("lapedge: IN is missing: lapedge stats IN\n2");
    give_measured(1, 1);
    sys.counts.expected = 3;
    sys.counts.ms = 0;
    sys.err = (lap_error){.code = LAP_E_CANCELLED, .message = "m"};
    sys.counts.links = 1;
    assert_stats("  input mean  stddev  edges mean  stddev  p99     width x height  file\n"
                 "      17.000   6.272     124.000 123.005  249        4 x 1       in/c.jpg\n"
                 "\n"
                 "1 photo in colour together\n"
                 "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red        10   20    15.000     5.000    1.0000    10    10    20\n"
                 "  green      11   23    17.000     6.000    1.0000    11    11    23\n"
                 "  blue       12   26    19.000     7.000    1.0000    12    12    26\n"
                 "edges        min  max      mean    stddev   entropy    p1   p50   p99\n"
                 "  red         1  249   125.000   124.000    1.0000     1     1   249\n"
                 "  green       1  247   124.000   123.000    1.0000     1     1   247\n"
                 "  blue        1  245   123.000   122.000    1.0000     1     1   245\n"
                 "--\n"
                 "lapedge: in/c.jpg: warning: odd (the first of 2)\n"
                 "lapedge: m\n"
                 "1 measured, 2 left\n"
                 "lapedge: 1 symbolic link not followed; --follow does\n"
                 "1");
    give_measured(0, 0);
    assert_stats("0 measured; 2.0 s, 2 Mpixel/s\n"
                 "lapedge: no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n"
                 "4");
    for (int channels = 0; channels < 4; channels += 3) { /* one photo whose edges are covered */
        give_measured(3, 1);
        measurements[MASKED].stats.edges.channels = channels;
        sys.counts.pixels = 1499999;
        assert_stats("  input mean  stddev  edges mean  stddev  p99     width x height  file\n"
                     "      17.000   6.272           -       -    -        4 x 1       in/m.jpg\n"
                     "\n"
                     "1 photo in colour together\n"
                     "input        min  max      mean    stddev   entropy    p1   p50   p99\n"
                     "  red        10   20    15.000     5.000    1.0000    10    10    20\n"
                     "  green      11   23    17.000     6.000    1.0000    11    11    23\n"
                     "  blue       12   26    19.000     7.000    1.0000    12    12    26\n"
                     "--\n"
                     "1 measured; 2.0 s, 1 Mpixel/s\n"
                     "lapedge: --mask-border covers all edges of 1 photo\n"
                     "0");
    }
    give_measured(1, 2);
    cli.quiet = sys.draws = true;
    assert_stats("[=]=]lapedge: in/bad.jpg: truncated: m\n"
                 "=]1");
    /* A reader that has left: no more photos, and no message. */
    give_measured(0, 2);
    cli.quiet = true;
    lose_output(1, LAP_EXIT_PIPE);
    assert_int_equal(code_of(lap_cli_stats), LAP_EXIT_PIPE);
    assert_int_equal(sys.cancels, 1);
    give_measured(0, 1);
    cli.quiet = true;
    lose_output(0, LAP_EXIT_FAILED);
    sys.err = (lap_error){.code = LAP_E_CANCELLED, .message = "m"};
    assert_stats("1");
    give_measured(0, 1);
    cli.weights = "none";
    assert_stats("lapedge: --weights: none: cannot be read: No such file or directory\n2");
}

/* Which files of weights are read, and what is wrong with others. */
static void weights(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        const char *says;
    } cases[] = {{"1 2,3;4\n5\t-6e1", 6, NULL}, {" 1 ,2 ; 3", 3, NULL}, {"0.1,", 1, NULL},
        {"", 0, "has no numbers"}, {" \n", 0, "has no numbers"},
        {"1 x", 0, "number 2 is not a decimal number, or out of range"},
        {"0x10", 0, "number 1 is not a decimal number, or out of range"},
        {"3.5e38", 0, "number 1 is not a decimal number, or out of range"}, {"3.4e38", 1, NULL},
        {"-3.4028234663852886e38", 1, NULL},
        {"-3.5e38", 0, "number 1 is not a decimal number, or out of range"},
        {"1,,2", 0, "number 2 is not a decimal number, or out of range"},
        {"nan", 0, "number 1 is not a decimal number, or out of range"}};
    char text[12000], want[200];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        give_measured(0, 1);
        cli.quiet = true;
        put("w", cases[i].text);
        cli.weights = "w";
        const int code = code_of(lap_cli_stats);
        assert_int_equal(code, cases[i].says ? 2 : 0);
        snprintf(want, sizeof want, "lapedge: --weights: w: %s\n", cases[i].says ? cases[i].says : "");
        assert_text(said_err(), cases[i].says ? want : "");
        if (!cases[i].says)
            assert_int_equal(asked.weight_count, cases[i].count);
    }
    for (int digits = 398; digits < 403; digits++) {
        give_measured(0, 1);
        cli.quiet = true;
        cli.weights = "w";
        snprintf(text, sizeof text, "1.%0*d 2", digits - 2, 0);
        put("w", text);
        assert_int_equal(code_of(lap_cli_stats), digits < 400 ? 0 : 2);
    }
    for (int numbers = 4095; numbers < 4098; numbers++) {
        give_measured(0, 1);
        cli.quiet = true;
        cli.weights = "w";
        for (int i = 0; i < numbers; i++)
            memcpy(text + 2 * i, "1 ", 3);
        put("w", text);
        assert_int_equal(code_of(lap_cli_stats), 0);
        assert_int_equal(asked.weight_count, numbers);
    }
}

/* ---- diff ------------------------------------------------------------------------------------------ */

static const lap_report clean = {.status = LAP_DONE},
                        odd = {.status = LAP_WARNED, .warnings = 2, .warning = "odd"};
static const lap_error none = {.code = LAP_OK}, broken = {.code = LAP_E_DAMAGED, .message = "m"};
static const lap_difference same = {.identical = true,
                                .samples = 300,
                                .pixels = 100,
                                .psnr = NAN,
                                .ssim = 1,
                                .first_x = -1},
                            differs = {.samples = 300,
                                .pixels = 100,
                                .max_abs = 7,
                                .mean_abs = 0.5,
                                .rmse = 0.75,
                                .psnr = 50.629,
                                .ssim = NAN,
                                .differing_pixels = 12,
                                .first_x = 4};
static const lap_pair all_pairs[] = {
    {"a/1", "b/1", "1", 10, 10, 3, &same, false, &none, "", {&clean, &clean}},
    {"a/2", "b/2", "2", 10, 10, 3, &same, true, &none, "a note", {&odd, &clean}},
    {"a/3", "b/3", "3\x1b", 10, 10, 3, &differs, false, &none, "", {&clean, &odd}},
    {"a/4", NULL, "4", 10, 10, 3, NULL, false, &none, "", {&clean, &clean}},
    {NULL, "b/5", "5\x1b", 0, 0, 0, NULL, false, &none, "", {&clean, &clean}},
    {"a/6", "b/6", "6", 0, 0, 0, NULL, false, &broken, "", {&clean, &clean}}};

static void give_pairs(size_t first, size_t count)
{
    start(LAP_COMMAND_DIFF, LAP_CLI_DIFF_FOLDER);
    set_operands("a", "b", NULL);
    assert_int_equal(mkdir("a", 0700) && errno != EEXIST, 0);
    assert_int_equal(mkdir("b", 0700) && errno != EEXIST, 0);
    pairs = all_pairs + first;
    pair_count = count;
    sys.counts = (lap_batch_counts){.found = count, .expected = count, .ok = count, .ms = 2000};
}

static void diff_talks(void **state)
{
    (void)state;
    give_pairs(0, 6);
    assert_diff("3\\x1b: different, by up to 7, 12 of 100 pixels, PSNR 50.63 dB\n"
                "only in a: 4\n"
                "only in b: 5\\x1b\n"
                "not equal: 1 identical, 1 equal within the tolerance, 1 different, 1 only in A,"
                " 1 only in B, 1 could not be compared\n"
                "--\n"
                "lapedge: a/2: warning: odd (the first of 2)\n"
                "lapedge: b/3: warning: odd (the first of 2)\n"
                "lapedge: 6: damaged: m\n"
                "2");
    assert_int_equal(cli.take.include_count, 1);
    assert_string_equal(cli.take.include[0], "*");
    assert_true(!rules.with_ssim && sys.options.input_count == 0);
    cli.verbose = true;
    cli.report = "page";
    assert_diff("1: identical\n"
                "2: equal within the tolerance\n"
                "3\\x1b: different, by up to 7, 12 of 100 pixels, PSNR 50.63 dB\n"
                "only in a: 4\n"
                "only in b: 5\\x1b\n"
                "not equal: 1 identical, 1 equal within the tolerance, 1 different, 1 only in A,"
                " 1 only in B, 1 could not be compared\n"
                "--\n"
                "lapedge: up to 3 pairs at once, 3 threads\n"
                "lapedge: a/2: warning: odd (the first of 2)\n"
                "lapedge: 2: a note\n"
                "lapedge: b/3: warning: odd (the first of 2)\n"
                "lapedge: 6: damaged: m\n"
                "2");
    assert_int_equal(sys.sheet_pairs, 6);
    assert_string_equal(
        json_string_value(json_object_get(sys.sheet_json, "schema")), "lapedge.diff_folders/1");
    give_pairs(0, 6);
    cli.allowed.max_abs = 7;
    sys.others = (lap_batch_others){.files = 1, .outputs = 1};
    sys.counts.expected = 8;
    assert_diff("only in a: 4\n"
                "only in b: 5\\x1b\n"
                "not equal: 1 identical, 2 equal within the tolerance, 1 only in A, 1 only in B,"
                " 1 could not be compared, 2 left; 2 files not compared\n"
                "--\n"
                "lapedge: a/2: warning: odd (the first of 2)\n"
                "lapedge: b/3: warning: odd (the first of 2)\n"
                "lapedge: 6: damaged: m\n"
                "lapedge: 1 other file not taken: , ...\n"
                "lapedge: 1 output of earlier runs not taken: , ...; to take outputs, name their folder\n"
                "2");
    cli.quiet = true;
    assert_diff("lapedge: 6: damaged: m\n2");
    wants_json();
    sys.counts.links = 3;
    assert_diff("{\"schema\":\"lapedge.diff_folders/1\",\"a\":\"a\",\"b\":\"b\",\"equal\":false,"
                "\"tolerance\":{\"max_abs\":7,\"max_differing\":null,\"max_differing_share\":null,"
                "\"min_psnr\":null,\"mask_border\":0,\"threshold_per_pixel\":0,\"ignore\":[]},"
                "\"outcomes\":{\"identical\":1,\"equal\":2,\"different\":0,\"only_a\":1,\"only_b\":1,"
                "\"failed\":1},\"not_taken\":{\"files\":1,\"kinds\":{},\"apple_doubles\":0,"
                "\"output_folders\":0,\"outputs\":1,\"photos_in_outdir\":0,\"left_in\":[],"
                "\"unused_patterns\":[]},\"links\":3,\"left\":2,\"ms\":2000.0,\"error\":null,"
                "\"rows\":[{\"path\":\"1\",\"outcome\":\"identical\",\"error\":null,\"width\":10,"
                "\"height\":10,\"channels\":3,\"identical\":true,\"max_abs\":0,\"mean_abs\":0.0,"
                "\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,\"first_difference\":null,"
                "\"ssim\":1.0,\"warnings\":0,\"warning\":null},{\"path\":\"2\",\"outcome\":\"equal\","
                "\"error\":null,\"width\":10,\"height\":10,\"channels\":3,\"identical\":false,"
                "\"max_abs\":0,\"mean_abs\":0.0,\"rmse\":0.0,\"psnr\":null,\"differing_pixels\":0,"
                "\"first_difference\":null,\"ssim\":1.0,\"warnings\":2,\"warning\":\"a/2: odd\"},"
                "{\"path\":\"3\\u001B\",\"outcome\":\"equal\",\"error\":null,\"width\":10,"
                "\"height\":10,\"channels\":3,\"identical\":false,\"max_abs\":7,\"mean_abs\":0.5,"
                "\"rmse\":0.75,\"psnr\":50.629,\"differing_pixels\":12,\"first_difference\":{\"x\":4,"
                "\"y\":0,\"channel\":0,\"a\":0,\"b\":0,\"at_border\":false},\"ssim\":null,"
                "\"warnings\":2,\"warning\":\"b/3: odd\"},{\"path\":\"4\",\"outcome\":\"only_a\","
                "\"error\":null,\"width\":10,\"height\":10,\"channels\":3,\"identical\":null,"
                "\"max_abs\":null,\"mean_abs\":null,\"rmse\":null,\"psnr\":null,"
                "\"differing_pixels\":null,\"first_difference\":null,\"ssim\":null,\"warnings\":0,"
                "\"warning\":null},{\"path\":\"5\\u001B\",\"outcome\":\"only_b\",\"error\":null,"
                "\"width\":null,\"height\":null,\"channels\":null,\"identical\":null,\"max_abs\":null,"
                "\"mean_abs\":null,\"rmse\":null,\"psnr\":null,\"differing_pixels\":null,"
                "\"first_difference\":null,\"ssim\":null,\"warnings\":0,\"warning\":null},"
                "{\"path\":\"6\",\"outcome\":\"failed\",\"error\":{\"kind\":\"damaged\","
                "\"message\":\"damaged: m\"},\"width\":null,\"height\":null,\"channels\":null,"
                "\"identical\":null,\"max_abs\":null,\"mean_abs\":null,\"rmse\":null,\"psnr\":null,"
                "\"differing_pixels\":null,\"first_difference\":null,\"ssim\":null,\"warnings\":0,"
                "\"warning\":null}]}\n"
                "--\n"
                "lapedge: 6: damaged: m\n"
                "2");
    assert_true(rules.with_ssim);
    give_pairs(0, 2);
    sys.others.files = 1;
    assert_diff("equal: 1 identical, 1 equal within the tolerance; 1 file not compared\n"
                "--\n"
                "lapedge: a/2: warning: odd (the first of 2)\n"
                "lapedge: 1 other file not taken: , ...\n"
                "0");
    sys.counts.vanished = 1;
    assert_int_equal(code_of(lap_cli_diff), 1);
    give_pairs(0, 6);
    sys.draws = true;
    assert_diff("3\\x1b: different, by up to 7, 12 of 100 pixels, PSNR 50.63 dB\n"
                "only in a: 4\n"
                "only in b: 5\\x1b\n"
                "not equal: 1 identical, 1 equal within the tolerance, 1 different, 1 only in A,"
                " 1 only in B, 1 could not be compared\n"
                "--\n"
                "[=]=]lapedge: a/2: warning: odd (the first of 2)\n"
                "=]lapedge: b/3: warning: odd (the first of 2)\n"
                "=]=]=]lapedge: 6: damaged: m\n"
                "=]2");
    give_pairs(2, 2);
    cli.fail_fast = true;
    assert_int_equal(code_of(lap_cli_diff), 1);
    assert_int_equal(asked_pairs, 1);
    give_pairs(0, 2);
    cli.fail_fast = true;
    assert_int_equal(code_of(lap_cli_diff), 0);
    assert_int_equal(asked_pairs, 2);
}

static void diff_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(all_pairs); i++) { /* each pair alone */
        give_pairs(i, 1);
        assert_int_equal(code_of(lap_cli_diff), i < 2 ? 0 : i < 5 ? 1 : 2);
        cli.report = "page";
        sys.sheet_code = 1;
        assert_int_equal(code_of(lap_cli_diff), 2);
    }
    give_pairs(0, 2);
    wants_json();
    assert_int_equal(code_of(lap_cli_diff), 0);
    lose_output(2, LAP_EXIT_FAILED); /* after the pairs comes the object */
    assert_int_equal(code_of(lap_cli_diff), 2);
    give_pairs(0, 0);
    assert_diff("lapedge: a and b: no image that lapedge reads (*.jpg *.jpeg *.jpe *.jfif *.png *.ppm *.pgm "
                "*.pnm)\n2");
    wants_json(); /* nothing is not equal */
    (void)code_of(lap_cli_diff);
    assert_non_null(strstr(said_out(), "\"equal\":false"));
    cli.json = false;
    sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "m"};
    assert_diff("lapedge: limit: m\n2");
    give_pairs(0, 1);
    sys.begins_not = true, sys.err = (lap_error){.code = LAP_E_LIMIT, .message = "no context"};
    assert_diff("lapedge: limit: no context\n2");
    give_pairs(0, 1);
    cli.take.extensions = "png";
    (void)code_of(lap_cli_diff);
    assert_int_equal(cli.take.include_count, 0);
    cli.take.extensions = NULL;
    cli.include[0] = "x";
    (void)code_of(lap_cli_diff);
    assert_int_equal(cli.take.include_count, 1);
    assert_string_equal(cli.take.include[0], "x");
    give_pairs(0, 1);
    operands[1] = "none";
    assert_diff("lapedge: none: no such folder\n2");
    put("a file", "x");
    operands[1] = "a file";
    assert_diff("lapedge: a is a folder, but a file is not\n2");
    operands[0] = "a file", operands[1] = "b";
    assert_diff("lapedge: b is a folder, but a file is not\n2");
    cli.operand_count = 1;
    assert_diff("lapedge: B is missing: lapedge diff 'a file' B\n2");
    cli.operand_count = 3;
    assert_diff("lapedge: diff takes two images, or two folders: lapedge diff A B\n2");
    cli.operand_count = 2;
    cli.forms = LAP_CLI_DIFF;
    operands[0] = operands[1] = "-";
    assert_diff("lapedge: only one of A and B can be standard input\n2");
    /* Lost output. */
    give_pairs(0, 2);
    lose_output(1, LAP_EXIT_PIPE);
    assert_int_equal(code_of(lap_cli_diff), LAP_EXIT_PIPE);
    give_pairs(0, 2);
    lose_output(2, LAP_EXIT_FAILED);
    assert_int_equal(code_of(lap_cli_diff), LAP_EXIT_USAGE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(stats_talk), TEST(stats_ends), TEST(weights), TEST(diff_talks), TEST(diff_ends)};
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
