/* folder.c, which runs over folders share: options, lines of the summary, objects and exit codes. */
#include "tests/unit/cli/folder_stubs.h"

static lap_folder f;

static void restart(void)
{
    start(LAP_COMMAND_RUN, LAP_CLI_FOLDER);
    f = (lap_folder){.cli = &cli};
    sys.shown_counts = &f.counts;
}

static int begin(void **state)
{
    (void)state;
    restart();
    return 0;
}

/* ---- the request ----------------------------------------------------------------------------------- */

static void requests(void **state)
{
    (void)state;
    set_operands("a", "b", "out");
    cli.include[0] = "*.png", cli.include[1] = "x/";
    cli.exclude[0] = "z*";
    cli.files_from = "list", cli.null_separated = true, cli.jobs = 7, cli.fail_fast = true;
    cli.devices[0] = 4, cli.device_count = 2, cli.device_memory = 99, cli.trace = "t";
    lap_folder_begin(&f, &cli, 2);
    assert_ptr_equal(f.cli, &cli);
    assert_ptr_equal(f.options.inputs, cli.operands);
    assert_int_equal(f.options.input_count, 2);
    assert_string_equal(f.options.files_from, "list");
    assert_true(f.options.nul_separated && f.options.fail_fast);
    assert_int_equal(f.options.jobs, 7);
    assert_true(f.options.take == &cli.take && f.options.others == &f.others);
    assert_true(f.options.devices == &f.devices && f.options.work == &f.work);
    assert_true(cli.take.include == cli.include && cli.take.exclude == cli.exclude);
    assert_int_equal(cli.take.include_count, 2);
    assert_int_equal(cli.take.exclude_count, 1);
    assert_ptr_equal(f.devices.numbers, cli.devices);
    assert_int_equal(f.devices.count, 2);
    assert_int_equal(f.devices.memory, 99);
    assert_string_equal(f.devices.trace, "t");
    restart();
    lap_folder_begin(&f, &cli, 1);
    assert_int_equal(cli.take.include_count + cli.take.exclude_count, 0);
    assert_false(f.options.nul_separated || f.options.fail_fast || f.devices.numbers || f.devices.trace);
    restart();
    cli.take.extensions = "not a pattern"; /* what stands behind the lists */
    for (int i = 0; i < LAP_CLI_GLOBS; i++)
        cli.include[i] = cli.exclude[i] = "x";
    lap_folder_begin(&f, &cli, 1);
    assert_int_equal(cli.take.include_count, LAP_CLI_GLOBS);
    assert_int_equal(cli.take.exclude_count, LAP_CLI_GLOBS);
}

/* Tasks on one machine share all devices, or those that were named. */
static void shared_devices(void **state)
{
    static const struct {
        const char *shard;
        int given, count;
        bool named, shares;
    } cases[] = {{NULL, 0, 0, false, false}, {NULL, 1, 1, true, false}, {NULL, -1, -1, false, false},
        {"1/3", 0, 0, false, false}, {"1/3", 2, 2, true, false}, {"auto", 0, -1, false, true},
        {"auto", -1, -1, false, true}, {"auto", 1, 1, true, true}, {"auto", 2, 2, true, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart();
        sys.rank = 2, sys.size = 5;
        cli.shard = cases[i].shard;
        cli.device_count = cases[i].given;
        lap_folder_begin(&f, &cli, 1);
        assert_int_equal(f.devices.count, cases[i].count);
        assert_ptr_equal(f.devices.numbers, cases[i].named ? cli.devices : NULL);
        assert_int_equal(f.devices.share, cases[i].shares ? 2 : 0);
        assert_int_equal(f.devices.shares, cases[i].shares ? 5 : 0);
    }
}

static void warnings_of_the_run(void **state)
{
    const lap_error lost = {.code = LAP_E_DEVICE, .subject = "device 3", .message = "is lost"};
    (void)state;
    sys.draws = true;
    lap_folder_begin(&f, &cli, 0);
    assert_says(f.options.warn(&f, &lost), "", "]lapedge: warning: device 3: is lost\n");
    cli.quiet = true;
    assert_says(f.options.warn(&f, &lost), "", "");
}

static void standard_input_among_files(void **state)
{
    static const char message[] = L "- cannot be used with folders or several files\n";
    (void)state;
    set_operands("a", "b", "c");
    assert_says(assert_int_equal(lap_folder_check_names(&cli), LAP_EXIT_OK), "", "");
    for (int i = 0; i < 3; i++) {
        set_operands(i == 0 ? "-" : "a", i == 1 ? "-" : "b", i == 2 ? "-" : "c");
        assert_says(assert_int_equal(lap_folder_check_names(&cli), LAP_EXIT_USAGE), "", message);
    }
    cli.operand_count = 2; /* the third word is no operand */
    assert_says(assert_int_equal(lap_folder_check_names(&cli), LAP_EXIT_OK), "", "");
}

/* ---- while it runs --------------------------------------------------------------------------------- */

static void how_many_at_once(void **state)
{
    static const struct {
        int jobs;
        bool verbose;
        const char *what, *said;
    } cases[] = {{0, true, "photos", L "up to 3 photos at once, 3 threads\n["},
        {2, true, "photos", L "up to 2 photos at once, 3 threads\n["},
        {1, true, "pairs", L "up to 1 pairs at once, 3 threads\n["},
        {4, true, "photos", L "up to 3 photos at once, 3 threads\n["}, {2, true, NULL, "["},
        {2, false, "photos", "["}, {2, false, NULL, "["}};
    lap_context *context = lap_context_create(3, NULL);
    (void)state;
    sys.draws = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        cli.jobs = cases[i].jobs;
        cli.verbose = cases[i].verbose;
        f = (lap_folder){.cli = &cli};
        assert_says(lap_folder_start(&f, context, cases[i].what), "", cases[i].said);
        assert_ptr_equal(f.context, context);
        assert_null(f.progress.name);
    }
    assert_says(lap_folder_show(&f, &f.counts), "", "=");
    assert_says(lap_folder_stop(&f), "", "]");
    lap_context_destroy(context);
}

static void output_that_is_lost(void **state)
{
    (void)state;
    f.context = lap_context_create(1, NULL);
    lap_folder_flush(&f);
    assert_int_equal(f.lost, LAP_EXIT_OK);
    assert_int_equal(sys.cancels, 0);
    lose_output(0, LAP_EXIT_PIPE);
    lap_folder_flush(&f);
    assert_int_equal(f.lost, LAP_EXIT_PIPE);
    assert_int_equal(sys.cancels, 1);
    lose_output(0, LAP_EXIT_FAILED); /* the first counts */
    lap_folder_flush(&f);
    assert_int_equal(f.lost, LAP_EXIT_PIPE);
    assert_int_equal(sys.cancels, 1);
    assert_int_equal(lap_folder_exit(&f, LAP_OK), LAP_EXIT_PIPE);
    assert_int_equal(lap_folder_exit(&f, LAP_E_LIMIT), LAP_EXIT_PIPE);
    lap_context_destroy(f.context);
}

/* Ten messages of a kind, where a progress line is. */
static void messages_of_a_kind(void **state)
{
    const lap_report truncated = {.error = {.code = LAP_E_TRUNCATED}}, warned = {.error = {.code = LAP_OK}};
    (void)state;
    for (int i = 0; i < 12; i++) {
        f.progress.on = true;
        cli.verbose = false;
        assert_int_equal(lap_folder_may_tell(&f, &truncated), i < 10);
        assert_int_equal(f.told[LAP_E_TRUNCATED], i + 1);
    }
    assert_true(lap_folder_may_tell(&f, &warned));
    assert_int_equal(f.told[LAP_OK], 1);
    cli.verbose = true;
    assert_true(lap_folder_may_tell(&f, &truncated));
    cli.verbose = false;
    f.progress.on = false;
    assert_true(lap_folder_may_tell(&f, &truncated));
    f.progress.on = true;
    assert_false(lap_folder_may_tell(&f, &truncated));
    assert_int_equal(f.told[LAP_E_TRUNCATED], 15);
}

static void what_is_left(void **state)
{
    (void)state;
    f.counts = (lap_batch_counts){.expected = 100, .ok = 1, .warned = 2, .skipped = 4, .failed = 8};
    assert_int_equal(lap_folder_left(&f), 85);
    assert_says(lap_folder_print_left(&f), "", ", 85 left");
    for (unsigned expected = 14; expected < 17; expected++) {
        f.counts.expected = expected;
        assert_int_equal(lap_folder_left(&f), expected > 15);
        assert_says(lap_folder_print_left(&f), "", expected > 15 ? ", 1 left" : "");
    }
}

/* ---- for a person ---------------------------------------------------------------------------------- */

static void patterns_that_match_nothing(void **state)
{
    static const struct {
        const char *option, *pattern, *said;
    } cases[] = {
        {"include", "*.{a,b}",
            L "--include=*.{a,b} matches nothing (braces are matched literally; repeat the option for each "
              "pattern)\n"},
        {"exclude", "a/{",
            L "--exclude=a/{ matches nothing (braces are matched literally; repeat the option for each "
              "pattern)\n"},
        {"include", "a/b",
            L
            "--include=a/b matches nothing (a pattern with a slash begins at the named folder; */ before it "
            "matches at any depth)\n"},
        {"exclude", "a/",
            L "--exclude=a/ matches nothing (a pattern with a slash begins at the named folder; */ before it "
              "matches at any depth)\n"},
        {"include", "sea",
            L "--include=sea matches nothing (a pattern without a slash matches file names; end it with a "
              "slash for folders)\n"},
        {"exclude", "sea", L "--exclude=sea matches nothing\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart();
        const bool is_include = strcmp(cases[i].option, "include") == 0;
        (is_include ? cli.include : cli.exclude)[0] = cases[i].pattern;
        assert_says(lap_folder_print_others(&f), "", cases[i].said);
        f.err.code = LAP_E_CANCELLED; /* perhaps it would have matched later */
        assert_says(lap_folder_print_others(&f), "", "");
        f.err.code = LAP_OK;
        *(is_include ? &f.others.include_used : &f.others.exclude_used) = 1;
        assert_says(lap_folder_print_others(&f), "", "");
    }
    restart();
    cli.exclude[0] = "a", cli.exclude[1] = "b", cli.exclude[2] = "c";
    f.others.exclude_used = 1 << 1, f.others.include_used = 7;
    assert_says(
        lap_folder_print_others(&f), "", L "--exclude=a matches nothing\n" L "--exclude=c matches nothing\n");
    cli.take.include = cli.exclude; /* behind the lists */
    for (int i = 0; i < LAP_CLI_GLOBS; i++)
        cli.include[i] = cli.exclude[i] = i == LAP_CLI_GLOBS - 1 ? "last" : "other";
    f.others.include_used = UINT64_MAX;
    f.others.exclude_used = UINT64_MAX >> 1;
    assert_says(lap_folder_print_others(&f), "", L "--exclude=last matches nothing\n");
    f.others.include_used--; /* a shift by too much takes the first bit */
    f.others.exclude_used = UINT64_MAX;
    assert_says(lap_folder_print_others(&f), "",
        L
        "--include=other matches nothing (a pattern without a slash matches file names; end it with a slash "
        "for folders)\n");
}

static void files_of_other_kinds(void **state)
{
    (void)state;
    lap_batch_others *others = &f.others;
    others->kind_count = 1;
    strcpy(others->kinds[0].extension, "heic");
    others->kinds[0].files = 1;
    assert_says(lap_folder_print_others(&f), "", "");
    others->files = 1;
    assert_says(lap_folder_print_others(&f), "", L "1 other file not taken: 1 .heic\n");
    others->files = 2;
    assert_says(lap_folder_print_others(&f), "", L "2 other files not taken: 1 .heic, ...\n");
    others->kind_count = LAP_OTHER_KINDS;
    char want[2000] = L "1000 other files not taken: 1 .heic, 2 without extension";
    others->kinds[1].files = 2;
    others->files = 1000;
    for (unsigned i = 2; i < LAP_OTHER_KINDS; i++) {
        snprintf(others->kinds[i].extension, sizeof others->kinds[i].extension, "fifteen letter%c",
            (char)('@' + i));
        others->kinds[i].files = i == 31 ? 1000 - 3 - 29 * 5 : 5;
        snprintf(want + strlen(want), 60, ", %d .fifteen letter%c", i == 31 ? 1000 - 3 - 29 * 5 : 5,
            (char)('@' + i));
    }
    strcat(want, "\n");
    assert_says(lap_folder_print_others(&f), "", want);
    restart();
    f.others.apple_doubles = 1;
    assert_says(lap_folder_print_others(&f), "",
        L "1 AppleDouble file not taken: macOS keeps metadata in ._NAME, not photos\n");
    f.others.apple_doubles = 2;
    assert_says(lap_folder_print_others(&f), "",
        L "2 AppleDouble files not taken: macOS keeps metadata in ._NAME, not photos\n");
}

static void outputs_and_photos_left_out(void **state)
{
    lap_batch_others *others = &f.others;
    (void)state;
    *others = (lap_batch_others){.outputs = 3,
        .left_count = 3,
        .left = {{"a/out", "a/out/1.jpg", 2, 0}, {"b", "b/2.jpg", 0, 3}, {"c", "c/3.jpg", 1, 1}}};
    assert_says(lap_folder_print_others(&f), "",
        L "3 outputs of earlier runs not taken: 2 in a/out, 1 in c; to take outputs, name their folder\n");
    others->outputs = 4;
    assert_says(lap_folder_print_others(&f), "",
        L "4 outputs of earlier runs not taken: 2 in a/out, 1 in c, ...; to take outputs, name their "
          "folder\n");
    others->outputs = 1, others->left_count = 1, others->left[0].outputs = 1;
    assert_says(lap_folder_print_others(&f), "",
        L "1 output of earlier runs not taken: 1 in a/out; to take outputs, name their folder\n");
    others->outputs = 0, others->left_count = 3, others->out_photos = 4;
    assert_says(lap_folder_print_others(&f), "",
        L "4 photos in the output folder not taken (b/2.jpg, ...); move them, or write elsewhere\n");
    others->out_photos = 1;
    assert_says(lap_folder_print_others(&f), "",
        L "1 photo in the output folder not taken (b/2.jpg); move it, or write elsewhere\n");
    others->outputs = 3;
    assert_says(lap_folder_print_others(&f), "",
        L
        "3 outputs of earlier runs not taken: 1 in a/out, 1 in c, ...; to take outputs, name their folder\n" L
        "1 photo in the output folder not taken (b/2.jpg); move it, or write elsewhere\n");
    /* All names fit. */
    static char want[LAP_OTHER_FOLDERS * 1100];
    restart();
    others->outputs = 80, others->left_count = LAP_OTHER_FOLDERS;
    strcpy(want, L "80 outputs of earlier runs not taken: ");
    for (int i = 0; i < LAP_OTHER_FOLDERS; i++) {
        memset(others->left[i].folder, 'a' + i, sizeof others->left[i].folder - 1);
        others->left[i].outputs = 10;
        snprintf(want + strlen(want), 1100, "%s10 in %s", i ? ", " : "", others->left[i].folder);
    }
    strcat(want, "; to take outputs, name their folder\n");
    assert_says(lap_folder_print_others(&f), "", want);
}

static void photos_filtered_before(void **state)
{
    (void)state;
    assert_says(lap_folder_print_made(&f), "", "");
    strcpy(f.others.made_first, "a.jpg");
    f.others.made = 1;
    assert_says(lap_folder_print_made(&f), "",
        L "warning: 1 input was filtered by lapedge before (a.jpg): its output is edges of edges\n");
    f.others.made = 2;
    assert_says(lap_folder_print_made(&f), "",
        L "warning: 2 inputs were filtered by lapedge before (a.jpg, ...): their outputs are edges of "
          "edges\n");
}

static void kinds_of_failures(void **state)
{
    (void)state;
    f.counts =
        (lap_batch_counts){.pixels = 9, .kinds = {[LAP_OK] = 4, [LAP_E_EXISTS] = 5, [LAP_E_LIMIT] = 6}};
    assert_says(lap_folder_print_failed(&f), "", "");
    f.counts.failed = 1;
    assert_says(lap_folder_print_failed(&f), "", ", 1 failed (6 limit)");
    f.counts.kinds[LAP_E_USAGE] = 1;
    f.counts.kinds[LAP_CODES - 1] = 7;
    assert_says(lap_folder_print_failed(&f), "", ", 1 failed (1 usage, 6 limit, 7 unknown)");
    f.counts = (lap_batch_counts){.failed = 3, .kinds = {[LAP_OK] = 4, [LAP_E_EXISTS] = 5}};
    assert_says(lap_folder_print_failed(&f), "", ", 3 failed");
}

static void messages_left_out(void **state)
{
    static const struct {
        bool on, verbose;
        uint64_t ok, limit, last;
        const char *log;
        int command;
        const char *said;
    } cases[] = {{true, false, 10, 10, 10, NULL, LAP_COMMAND_RUN, ""},
        {true, false, 11, 0, 0, NULL, LAP_COMMAND_RUN,
            L "and 1 more warnings: -v prints all, --log=FILE keeps them\n"},
        {true, false, 11, 30, 0, NULL, LAP_COMMAND_STATS,
            L "and 1 more warnings, 20 more limit: -v prints all\n"},
        {true, false, 0, 30, 12, "l", LAP_COMMAND_RUN, L "and 20 more limit, 2 more unknown: see l\n"},
        {true, false, 0, 0, 11, "l", LAP_COMMAND_STATS, L "and 1 more unknown: see l\n"},
        {false, false, 11, 11, 11, "l", LAP_COMMAND_RUN, ""},
        {true, true, 11, 11, 11, "l", LAP_COMMAND_RUN, ""},
        {false, true, 11, 11, 11, NULL, LAP_COMMAND_RUN, ""}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        f.progress.on = cases[i].on;
        f.context = (lap_context *)&f; /* behind the counts */
        f.told[LAP_OK] = cases[i].ok;
        f.told[LAP_E_LIMIT] = cases[i].limit;
        f.told[LAP_CODES - 1] = cases[i].last;
        cli.verbose = cases[i].verbose;
        cli.log = cases[i].log;
        cli.command = &lap_cli_commands[cases[i].command];
        assert_says(lap_folder_print_untold(&f), "", cases[i].said);
    }
}

static void links_and_photos_that_went(void **state)
{
    (void)state;
    assert_says(lap_folder_print_links(&f), "", "");
    f.counts.links = 1;
    assert_says(lap_folder_print_links(&f), "", L "1 symbolic link not followed; --follow does\n");
    f.counts.vanished = 1;
    f.counts.links = 2;
    assert_says(lap_folder_print_links(&f), "",
        L "1 photo was found at first, but gone when the run reached it\n" L
          "2 symbolic links not followed; --follow does\n");
    f.counts.vanished = 2;
    f.counts.links = 0;
    assert_says(lap_folder_print_links(&f), "",
        L "2 photos were found at first, but gone when the run reached them\n");
}

static void no_photo(void **state)
{
    static const char none[] = L "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)";
    char want[300];
    (void)state;
    snprintf(want, sizeof want, "%s\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    f.counts.expected = 1;
    assert_says(lap_folder_print_none(&f), "", "");
    f.counts.expected = 0, f.counts.other_shards = 1;
    assert_says(lap_folder_print_none(&f), "", "");
    f.counts.other_shards = 0;
    f.others.kind_count = 7;
    static const char *const names[] = {"pnm", "heic", "png", "", "ppm", "pgm", "jpg"};
    for (size_t i = 0; i < COUNT(names); i++)
        strcpy(f.others.kinds[i].extension, names[i]);
    snprintf(want, sizeof want, "%s; to take the others: --ext=pnm,png,ppm,pgm\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    f.others.kind_count = 2;
    snprintf(want, sizeof want, "%s; to take the others: --ext=pnm\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    cli.exclude[0] = "x";
    snprintf(want, sizeof want, "%s, after --exclude; to take the others: --ext=pnm\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    cli.exclude[0] = NULL;
    cli.include[0] = "x";
    snprintf(want, sizeof want, "%s, after --include\n", none);
    assert_says(lap_folder_print_none(&f), "", want);
    cli.include[0] = NULL;
    cli.take.extensions = "jpg";
    assert_says(lap_folder_print_none(&f), "", L "no photo found (--ext=jpg)\n");
    cli.files_from = "list";
    assert_says(lap_folder_print_none(&f), "", L "no photo found: the list names none\n");
}

static void which_files_are_taken(void **state)
{
    char text[LAP_TAKEN_TEXT], whole[300];
    (void)state;
    memset(whole, 'x', sizeof whole);
    whole[299] = '\0';
    for (int i = 0; i < 8; i++) {
        cli.take.extensions = i & 1 ? "png,ppm" : NULL;
        cli.include[0] = i & 2 ? "a" : NULL;
        cli.exclude[0] = i & 4 ? "b" : NULL;
        static const char *const wants[] = {"(*.jpg)", "(--ext=png,ppm)", "(*.jpg), after --include",
            "(--ext=png,ppm), after --include", "(*.jpg), after --exclude",
            "(--ext=png,ppm), after --exclude", "(*.jpg), after --include and --exclude",
            "(--ext=png,ppm), after --include and --exclude"};
        assert_ptr_equal(lap_folder_taken(&cli, "*.jpg", text), text);
        assert_string_equal(text, wants[i]);
    }
    cli.take.extensions = whole;
    lap_folder_taken(&cli, "", text);
    assert_int_equal(strlen(text), strlen("(--ext=") + 200 + strlen("), after --include and --exclude"));
    assert_string_equal(text + 7 + 200, "), after --include and --exclude");
}

static void processors_and_times(void **state)
{
    (void)state;
    f.work = (lap_batch_work){.how = "two devices",
        .jobs = 12,
        .device_count = 2,
        .device = {{.device = 3, .done = 40}, {.device = 5, .done = 2, .is_lost = true}, {.device = 9}},
        .busy = {1, 2, 4, 8, 16, 32, 64, 5}};
    assert_says(lap_folder_print_work(&f), "",
        "  by        two devices\n  at once   up to 12\n  device 3  40 photos\n  device 5  2 photos, then "
        "lost\n"
        "  ms        read 1.0, decode 2.0, upload 4.0, filter 8.0, download 16.0, encode 32.0, write 64.0, "
        "added up 127.0\n");
    f.work = (lap_batch_work){.how = "the CPU", .jobs = 1};
    assert_says(lap_folder_print_work(&f), "",
        "  by        the CPU\n  at once   up to 1\n  ms        added up 0.0\n");
}

/* ---- for a script ---------------------------------------------------------------------------------- */

static void assert_new(json_t *object, const char *text)
{
    assert_object(object, text);
    json_decref(object);
}

static void objects_of_a_folder(void **state)
{
    json_t *object;
    (void)state;
    f.counts.pixels = 9; /* behind the kinds */
    assert_new(lap_folder_json_kinds(&f), "{}");
    f.counts.kinds[LAP_OK] = 3, f.counts.kinds[LAP_E_EXISTS] = 2, f.counts.kinds[LAP_CODES - 1] = 1;
    assert_new(lap_folder_json_kinds(&f), "{'up_to_date': 3, 'exists': 2, 'unknown': 1}");
    assert_new(lap_folder_json_others(&f),
        "{'files': 0, 'kinds': {}, 'apple_doubles': 0, 'output_folders': 0, 'outputs': 0, "
        "'photos_in_outdir': 0, 'left_in': [], 'unused_patterns': []}");
    cli.include[0] = "x\xFF", cli.include[1] = "y", cli.exclude[0] = "z";
    f.others = (lap_batch_others){.files = 10,
        .apple_doubles = 11,
        .outputs = 12,
        .output_folders = 13,
        .out_photos = 14,
        .left_count = 2,
        .left = {{"a", "a/1", 2, 3}, {"b\xFF", "", 4, 5}},
        .include_used = 2,
        .kind_count = 2,
        .kinds = {{"gif", 6}, {"", 7}, {"no", 8}}};
    static const char others[] =
        "{'files': 10, 'kinds': {'gif': 6, '': 7}, 'apple_doubles': 11, 'output_folders': 13, 'outputs': 12, "
        "'photos_in_outdir': 14, 'left_in': [{'path': 'a', 'outputs': 2, 'photos': 3}, {'path': "
        "'b\xEF\xBF\xBD', 'path_raw': 'b%FF', 'outputs': 4, 'photos': 5}], 'unused_patterns': [{'option': "
        "'--include', 'pattern': 'x\xEF\xBF\xBD'}, {'option': '--exclude', 'pattern': 'z'}]}";
    char left[2000];
    assert_new(lap_folder_json_others(&f), others);
    f.others.made = 15;
    snprintf(left, sizeof left, "{'schema': 'lapedge.not_taken/1', 'not_taken': %s, 'filtered_before': 15}",
        others);
    assert_new(lap_folder_json_left(&f), left);
    for (int i = 0; i < 4; i++) { /* each of the three is enough */
        f.others.outputs = i == 0, f.others.out_photos = i == 1, f.others.made = i == 2;
        object = lap_folder_json_left(&f);
        assert_int_equal(object != NULL, i < 3);
        json_decref(object);
    }
    f.counts.ms = 1234.5;
    object = json_object();
    lap_folder_json_end(&f, object);
    assert_object(object, "{'ms': 1234.5, 'error': null}");
    f.err = (lap_error){.code = LAP_E_WRITE, .subject = "out", .message = "is full"};
    lap_folder_json_end(&f, object);
    assert_object(object, "{'ms': 1234.5, 'error': {'kind': 'write', 'message': 'out: is full'}}");
    json_decref(object);
}

/* A log gets its first line even if no file was found, and a last line only if something was left out. */
static void ends_of_logs(void **state)
{
    (void)state;
    cli.log = "log";
    for (unsigned made = 0; made < 2; made++) {
        lap_cli_log log = {0};
        assert_true(lap_cli_log_open(&log, &cli));
        f.others.made = made;
        lap_folder_end_log(&f, &log);
        assert_int_equal(lap_cli_log_end(&log, cli.log, 3), 3);
        assert_string_equal(log_of("log"), made ? "ln" : "l");
        (void)unlink("log");
    }
}

/* ---- the exit code --------------------------------------------------------------------------------- */

static void exit_codes(void **state)
{
    static const struct {
        lap_code code;
        lap_batch_counts counts;
        int exit;
    } cases[] = {{LAP_OK, {0}, LAP_EXIT_NOTHING}, {LAP_OK, {.other_shards = 1}, LAP_EXIT_OK},
        {LAP_OK, {.expected = 2, .ok = 2}, LAP_EXIT_OK},
        {LAP_OK, {.expected = 2, .ok = 1, .failed = 1}, LAP_EXIT_FAILED},
        {LAP_OK, {.expected = 2, .failed = 2}, LAP_EXIT_NOTHING},
        {LAP_OK, {.expected = 2, .failed = 3}, LAP_EXIT_NOTHING},
        {LAP_OK, {.expected = 2, .ok = 1, .kinds = {[LAP_E_EXISTS] = 1}}, LAP_EXIT_FAILED},
        {LAP_OK, {.expected = 2, .kinds = {[LAP_OK] = 2}}, LAP_EXIT_OK},
        {LAP_E_CANCELLED, {.expected = 2, .ok = 1}, LAP_EXIT_FAILED},
        {LAP_E_USAGE, {.expected = 2, .ok = 1}, LAP_EXIT_USAGE},
        {LAP_E_BACKEND, {.expected = 2, .ok = 1}, LAP_EXIT_BACKEND},
        {LAP_E_LIMIT, {.expected = 2, .ok = 1}, LAP_EXIT_LIMIT},
        {LAP_E_MEMORY, {.expected = 2}, LAP_EXIT_FAILED},
        {LAP_E_DISK_FULL, {.expected = 2, .kinds = {[LAP_OK] = 1}}, LAP_EXIT_FAILED}};
    static const lap_code without_inputs[] = {
        LAP_E_DISK_FULL, LAP_E_WRITE, LAP_E_EXISTS, LAP_E_MISSING, LAP_E_UNREADABLE};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        f.counts = cases[i].counts;
        if (lap_folder_exit(&f, cases[i].code) != cases[i].exit)
            fail_msg("case %zu: %d", i, lap_folder_exit(&f, cases[i].code));
    }
    bool by_counts[LAP_CODES] = {false};
    for (size_t i = 0; i < COUNT(without_inputs); i++)
        for (int way = 0; way < 5; way++) {
            by_counts[without_inputs[i]] = true;
            f.counts = (lap_batch_counts){.expected = 9,
                .ok = way == 1,
                .warned = way == 2,
                .skipped = way > 2,
                .failed = way == 4 ? 8 : 0,
                .kinds = {[LAP_OK] = way > 2}};
            /* What is up to date counts, unless the folder perhaps cannot be written. */
            const bool is_done =
                way == 1 || way == 2 || (way == 3 && without_inputs[i] != LAP_E_WRITE) || way == 4;
            assert_int_equal(
                lap_folder_exit(&f, without_inputs[i]), is_done ? LAP_EXIT_FAILED : LAP_EXIT_NOTHING);
        }
    for (int code = LAP_OK + 1; code <= LAP_E_INTERNAL; code++)
        for (int done = 0; done < 2 && !by_counts[code]; done++) {
            f.counts = (lap_batch_counts){.expected = 2, .ok = (unsigned)done};
            assert_int_equal(lap_folder_exit(&f, (lap_code)code), lap_cli_exit_of((lap_code)code));
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(requests), TEST(shared_devices), TEST(warnings_of_the_run),
        TEST(standard_input_among_files), TEST(how_many_at_once), TEST(output_that_is_lost),
        TEST(messages_of_a_kind), TEST(what_is_left), TEST(patterns_that_match_nothing),
        TEST(files_of_other_kinds), TEST(outputs_and_photos_left_out), TEST(photos_filtered_before),
        TEST(kinds_of_failures), TEST(messages_left_out), TEST(links_and_photos_that_went), TEST(no_photo),
        TEST(which_files_are_taken), TEST(processors_and_times), TEST(objects_of_a_folder),
        TEST(ends_of_logs), TEST(exit_codes)};
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
