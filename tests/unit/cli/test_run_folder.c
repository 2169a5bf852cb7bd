/* run_folder.c: what a run over folders asks the library for, prints, logs and returns. */
#include "tests/unit/cli/folder_stubs.h"

#include <errno.h>
#include <sys/stat.h>

/* What -v prints at the end. */
#define BY(how) "  by        " how "\n  at once   up to 0\n  ms        added up 0.0\n"

/* A run that ends well, and says nothing. */
static void restart(void)
{
    start(LAP_COMMAND_RUN, LAP_CLI_FOLDER);
    set_operands("photos", "out", NULL);
    sys.counts = (lap_batch_counts){.found = 3, .expected = 3, .ok = 3};
    cli.quiet = true;
}

static int begin(void **state)
{
    (void)state;
    empty_scratch();
    restart();
    return 0;
}

static void operands_of_folders(void **state)
{
    static const struct {
        const char *from, *words[3], *said; /* NULL: the run begins */
    } cases[] = {{"list", {"a", "b"},
                     L "--files-from takes OUTDIR as its only operand: lapedge --files-from=FILE OUTDIR\n"},
        {"list", {NULL}, L "OUTDIR is missing: lapedge --files-from=FILE OUTDIR\n"},
        {NULL, {"a b"}, L "OUTDIR is missing: lapedge 'a b' OUTDIR\n"},
        {NULL, {"-", "out"}, L "- cannot be used with folders or several files\n"},
        {NULL, {"photos", "out.jpg"},
            L "out.jpg: no such folder, and the name looks like a file's; write out.jpg/ to create it\n"},
        {"list", {"out.zip"},
            L "out.zip: no such folder, and the name looks like a file's; write out.zip/ to create it\n"},
        {NULL, {"photos", "file"},
            L "file, the last of 2 operands, is taken for OUTDIR, but is not a folder; add one: photos file "
              "OUTDIR\n"},
        {NULL, {"a b", "photos", "file.jpg"},
            L
            "file.jpg, the last of 3 operands, is taken for OUTDIR, but is not a folder; add one: 'a b' ... "
            "file.jpg OUTDIR\n"},
        {"list", {"file"}, L "file is taken for OUTDIR, but is not a folder\n"}, {"list", {"out"}, NULL},
        {NULL, {"photos", "out"}, NULL}, {NULL, {"photos", "out.d"}, NULL},
        {NULL, {"photos", "folder.jpg"}, NULL}, {NULL, {"photos", "out.jpg/"}, NULL},
        {NULL, {"photos", "file/out.jpg"}, NULL}, {NULL, {"photos", "dangling.jpg"}, NULL},
        {NULL, {"a", "photos", "photos"}, NULL}};
    (void)state;
    put("file", "x");
    put("file.jpg", "x");
    assert_int_equal(
        mkdir("folder.jpg", 0777) | mkdir("photos", 0777) | symlink("nothing", "dangling.jpg"), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart();
        set_operands(cases[i].words[0], cases[i].words[1], cases[i].words[2]);
        cli.files_from = cases[i].from;
        assert_runs(lap_run_folder, cases[i].said ? LAP_EXIT_USAGE : LAP_EXIT_OK, "",
            cases[i].said ? cases[i].said : "");
        assert_int_equal(sys.ended, !cases[i].said);
        if (!cases[i].said)
            assert_string_equal(sys.options.out_dir, operands[cli.operand_count - 1]);
    }
}

static void what_a_folder_run_asks_for(void **state)
{
    static bool *const flags[] = {&cli.force, &cli.rebuild, &cli.dry_run, &cli.flat, &cli.skip_existing,
        &cli.settings.no_clobber, &cli.fail_fast};
    (void)state;
    for (size_t on = 0; on <= COUNT(flags); on++) { /* each alone, and none */
        const lap_batch_options *got = &sys.options;
        restart();
        set_operands("a", "b", "out");
        if (on < COUNT(flags))
            *flags[on] = true;
        assert_runs(lap_run_folder, LAP_EXIT_OK, "", "");
        const bool given[] = {got->force, got->rebuild, got->dry_run, got->flat, got->skip_existing,
            got->no_clobber, got->fail_fast};
        for (size_t i = 0; i < COUNT(flags); i++)
            assert_int_equal(given[i], i == on);
        assert_int_equal(got->input_count, 2);
        assert_string_equal(sys.inputs[0], "a");
        assert_string_equal(sys.inputs[1], "b");
        assert_string_equal(got->out_dir, "out");
        assert_true(sys.finds_made && sys.has_devices);
        assert_false(got->prune || got->suffix || got->shards || sys.sheet_written);
        assert_int_equal(sys.ended, 1);
        assert_int_equal(got->side_count, cli.dry_run); /* the list of -n, which is in a file */
    }
    restart();
    cli.dry_run = true;
    cli.suffix = "-edges", cli.shard = "1/3", cli.report = "r.html";
    assert_runs(lap_run_folder, LAP_EXIT_OK, "", "");
    assert_string_equal(sys.options.suffix, "-edges");
    assert_int_equal(sys.options.shard, 1);
    assert_int_equal(sys.options.shards, 3);
    assert_int_equal(sys.sheet_written, 1);
    assert_int_equal(sys.options.side_count, 2);
    assert_string_equal(sys.sides[0], "r.html");
    assert_string_equal(sys.sides[1], "/dev/stdout");
    for (int lost = 0; lost < 2; lost++) {
        restart();
        cli.settings.backend = "cuda-global", cli.settings.codec = LAP_CODEC_CUDA, cli.settings.quality = 3;
        sys.has_lost_worker = lost;
        strcpy(sys.work.how, "device 0");
        cli.quiet = false, cli.verbose = true;
        assert_runs(lap_run_folder, LAP_EXIT_OK, "",
            lost ? "3 done\n" BY("the CPU alone: the process with the devices has died")
                 : "3 done\n" BY("device 0"));
        assert_string_equal(sys.settings.backend, lost ? "auto" : "cuda-global");
        assert_int_equal(sys.settings.codec, lost ? LAP_CODEC_CPU : LAP_CODEC_CUDA);
        assert_int_equal(sys.settings.quality, 3);
    }
    static const char *const shards[] = {"3", "1234567890123456789012345678901234567890123"};
    for (int i = 0; i < 2; i++) {
        uint32_t shard, count;
        lap_error err;
        char want[800];
        restart();
        cli.shard = shards[i];
        assert_int_equal(lap_shard_parse(shards[i], &shard, &count, &err), LAP_E_USAGE);
        snprintf(want, sizeof want, L "--shard=%.40s: %s\n", shards[i], err.message);
        assert_runs(lap_run_folder, LAP_EXIT_USAGE, "", want);
        assert_int_equal(sys.ended, 0);
    }
}

static void photos_of_a_folder(void **state)
{
    enum { QUIET = 1, VERBOSE = 2, DRY = 4, JSON = 8, DRAWS = 16 };
    static const struct {
        event what;
        int flags;
        const char *out, *err;
    } cases[] = {{{"a", LAP_DONE, .code = LAP_OK}, 0, "", ""},
        {{"a", LAP_DONE, .code = LAP_OK}, DRAWS, "", "[==]"},
        {{"a", LAP_DONE, .code = LAP_OK}, VERBOSE, "", "a -> out/a  64 x 48, 12.3 ms\n"},
        {{"a\033", LAP_DONE, .code = LAP_OK}, VERBOSE | DRAWS, "",
            "[=]a\\x1b -> out/a\\x1b  64 x 48, 12.3 ms\n=]"},
        {{"a", LAP_DONE, .code = LAP_OK}, VERBOSE | QUIET, "", ""},
        {{"a", LAP_DONE, .code = LAP_OK}, DRY, "a -> out/a\n", ""},
        {{"a", LAP_DONE, .code = LAP_OK}, DRY | QUIET, "", ""},
        {{"a", LAP_DONE, .code = LAP_OK}, DRY | JSON, "", "a -> out/a\n"},
        {{"a", LAP_DONE, .code = LAP_OK}, VERBOSE | JSON, "", "a -> out/a  64 x 48, 12.3 ms\n"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, 0, "", L "a: warning: odd\n"},
        {{"a", .status = LAP_WARNED, .warnings = 2}, DRAWS, "",
            "[=]" L "a: warning: odd (the first of 2)\n=]"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, QUIET | DRAWS, "", "[==]"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, VERBOSE, "",
            L "a: warning: odd\na -> out/a  64 x 48, 12.3 ms\n"},
        {{"a", LAP_SKIPPED, .code = LAP_OK}, VERBOSE | DRAWS, "", "[==]"},
        {{"a", LAP_SKIPPED, .code = LAP_E_EXISTS}, DRAWS, "", "[=]" L "a: why\n=]"},
        {{"a", LAP_SKIPPED, .code = LAP_E_EXISTS}, QUIET, "", L "a: why\n"},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, QUIET, "", L "a: limit: why\n"},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, VERBOSE | DRY, "", L "a: limit: why\n"},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, DRAWS, "", "[=]" L "a: limit: why\n=]"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char want[400];
        const int flags = cases[i].flags;
        restart();
        sys.events[0] = cases[i].what;
        sys.draws = flags & DRAWS;
        cli.quiet = flags & QUIET, cli.verbose = flags & VERBOSE, cli.dry_run = flags & DRY;
        cli.json = flags & JSON;
        cli.report = "r.html";
        const bool works = flags & VERBOSE && !(flags & DRY);
        snprintf(want, sizeof want, "%s%s%s", cases[i].err,
            flags & QUIET ? ""
            : flags & DRY ? "3 to be done\n"
                          : "3 done\n",
            works ? BY("") : "");
        assert_runs(lap_run_folder, LAP_EXIT_OK, cases[i].out, want);
        assert_int_equal(sys.shown, 2);
        assert_int_equal(sys.sheet_files, 1);
    }
    restart();
    sys.events[0] = (event){"a", LAP_DONE, .code = LAP_OK};
    assert_runs(lap_run_folder, LAP_EXIT_OK, "", "");
    assert_int_equal(sys.sheet_files, 0); /* there is no report */
    /* Of many with the same trouble ten are shown. */
    for (int warned = 0; warned < 2; warned++) {
        char want[2000] = "[=";
        restart();
        sys.draws = true;
        cli.quiet = false;
        for (int i = 0; i < 12; i++) {
            sys.events[i] = warned ? (event){"a", .status = LAP_WARNED, .warnings = 1}
                                   : (event){"a", LAP_FAILED, .code = LAP_E_LIMIT};
            strcat(want, i >= 10 ? "=" : warned ? "]" L "a: warning: odd\n=" : "]" L "a: limit: why\n=");
        }
        strcat(want, "]3 done\n" L);
        strcat(want, warned ? "and 2 more warnings: -v prints all, --log=FILE keeps them\n"
                            : "and 2 more limit: -v prints all, --log=FILE keeps them\n");
        assert_runs(lap_run_folder, LAP_EXIT_OK, "", want);
    }
}

static void summaries_of_folders(void **state)
{
    static const struct {
        lap_batch_counts counts;
        const char *said;
        int exit;
        bool dry, skips, no_clobber;
        uint64_t removed;
    } cases[] = {{{.found = 5, .expected = 5, .ok = 3, .warned = 2, .ms = 2000, .pixels = 4000000},
                     .said = "5 done (2 with warnings); 2.0 s, 2 Mpixel/s\n"},
        {{.found = 5, .expected = 5, .ok = 5, .ms = 2000}, .said = "5 done; 2.0 s\n"},
        {{.found = 5, .expected = 5, .ok = 5, .pixels = 4000000}, .said = "5 done\n"},
        {{.found = 5, .expected = 5, .ok = 5, .ms = 2000, .pixels = 1}, .said = "5 to be done\n",
            .dry = true},
        {{.found = 5, .expected = 5, .ok = 3, .skipped = 2, .kinds = {[LAP_OK] = 2}},
            .said = "3 done, 2 up to date\n"},
        {{.found = 5, .expected = 5, .ok = 3, .skipped = 2, .kinds = {[LAP_OK] = 2}},
            .said = "3 done, 2 there already\n", .skips = true},
        {{.found = 5, .expected = 5, .ok = 3, .skipped = 2, .kinds = {[LAP_E_EXISTS] = 2}},
            .said = "3 done, 2 left alone (not made by lapedge, changed since, made from other photos, or by "
                    "another run)\n",
            .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 3, .skipped = 2, .kinds = {[LAP_E_EXISTS] = 2}},
            .said = "3 done, 2 left alone (--no-clobber)\n", .exit = LAP_EXIT_FAILED, .no_clobber = true},
        {{.found = 5, .expected = 5, .ok = 4, .failed = 1, .ms = 100, .kinds = {[LAP_E_LIMIT] = 1}},
            .said = "4 done, 1 failed (1 limit); 0.1 s\n", .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 5}, .said = "5 done, 2 removed (photo gone)\n", .removed = 2},
        {{.found = 5, .expected = 5, .ok = 5}, .said = "5 to be done, 2 to be removed (photo gone)\n",
            .dry = true, .removed = 2},
        {{.found = 5, .expected = 5, .ok = 5, .links = 2},
            .said = "5 done\n" L "2 symbolic links not followed; --follow does\n"},
        {{0}, .said = "0 done\n" L "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n",
            .exit = LAP_EXIT_NOTHING}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart();
        cli.quiet = false;
        sys.counts = cases[i].counts;
        cli.dry_run = cases[i].dry, cli.skip_existing = cases[i].skips;
        cli.settings.no_clobber = cases[i].no_clobber;
        sys.prune.removed = cases[i].removed;
        cli.prune = cases[i].removed;
        assert_runs(lap_run_folder, cases[i].exit, "", cases[i].said);
    }
    for (int filter = 0; filter < 2; filter++) { /* what else was found comes before */
        restart();
        cli.quiet = false;
        sys.others = (lap_batch_others){
            .files = 1, .kind_count = 1, .kinds = {{"gif", 1}}, .made = 1, .made_first = "m"};
        cli.settings.filter = filter;
        assert_runs(lap_run_folder, LAP_EXIT_OK, "",
            filter ? L "1 other file not taken: 1 .gif\n" L
                       "warning: 1 input was filtered by lapedge before (m): its output is edges of edges\n"
                       "3 done\n"
                   : L "1 other file not taken: 1 .gif\n3 done\n");
    }
}

static void photos_that_were_recoded(void **state)
{
    char name[300];
    (void)state;
    for (int i = 0; i < 4; i++) {
        char want[600];
        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        restart();
        cli.quiet = false;
        sys.counts.recoded = i < 2 ? 1 : 2;
        sys.events[0] = (event){i == 1 ? "a" : "x", LAP_DONE, .code = LAP_OK, .recoded = i == 1};
        sys.events[1] = (event){i == 1   ? "b"
                                : i == 0 ? name + 299 - 40
                                         : name + 299 - 60,
            i == 3 ? LAP_WARNED : LAP_DONE, .code = LAP_OK, .recoded = i != 1, .warnings = i == 3};
        sys.events[2] = (event){"c", LAP_DONE, .code = LAP_OK, .recoded = 1};
        snprintf(want, sizeof want,
            "%s%s%s" L
            "note: %s re-encoded, because a lossless transformation is impossible (%s%s); --trim cuts "
            "to whole MCUs, --perfect refuses, -v says why\n3 done\n",
            i == 3 ? L : "", i == 3 ? name + 299 - 60 : "", i == 3 ? ": warning: odd\n" : "",
            i < 2 ? "1 JPEG was" : "2 JPEGs were", i == 1 ? "a" : sys.events[1].input, i < 2 ? "" : ", ...");
        assert_runs(lap_run_folder, LAP_EXIT_OK, "", want);
    }
    restart(); /* what failed or was left was not */
    cli.quiet = false;
    sys.counts.recoded = 1;
    sys.events[0] = (event){"a", LAP_SKIPPED, .code = LAP_OK, .recoded = 1};
    assert_runs(lap_run_folder, LAP_EXIT_OK, "",
        L "note: 1 JPEG was re-encoded, because a lossless transformation is impossible (); --trim cuts to "
          "whole MCUs, --perfect refuses, -v says why\n3 done\n");
}

/* Of many failures the first three are named again at the end. */
static void first_to_fail(void **state)
{
    static const char *const names[] = {"a\033", "b", "c", "d", "e"};
    static const char *const lines[] = {L "a\\x1b: limit: why\n", L "b: limit: why\n", L "c: limit: why\n",
        L "d: limit: why\n", L "e: limit: why\n"};
    (void)state;
    for (int failed = 1; failed <= 5; failed++)
        for (int with_names = 0; with_names < 2; with_names++) {
            char want[400] = "";
            restart();
            cli.quiet = false;
            sys.counts.failed = (unsigned)failed, sys.counts.expected = 9,
            sys.counts.ok = 9 - (unsigned)failed;
            for (int i = 0; i < failed && with_names; i++) {
                sys.events[i] = (event){names[i], LAP_FAILED, .code = LAP_E_LIMIT};
                strcat(want, lines[i]);
            }
            sys.events[with_names ? failed : 0] =
                (event){"r", LAP_DONE, .code = LAP_OK, .recoded = 1}; /* not named */
            snprintf(want + strlen(want), 60, "%d done, %d failed\n", 9 - failed, failed);
            if (failed > 3 && with_names)
                strcat(want, "first to fail: a\\x1b, b, c\n");
            assert_runs(lap_run_folder, LAP_EXIT_FAILED, "", want);
        }
    restart();
    cli.quiet = false;
    sys.counts.failed = 4, sys.counts.expected = 9; /* the others had vanished */
    sys.counts.ok = 5;
    sys.events[0] = (event){"a", LAP_FAILED, .code = LAP_E_LIMIT};
    assert_runs(lap_run_folder, LAP_EXIT_FAILED, "", L "a: limit: why\n5 done, 4 failed\nfirst to fail: a\n");
}

/* How a run that ended early can be continued. */
static void what_is_to_be_done_again(void **state)
{
    static const struct {
        lap_code code;
        const char *error, *rest;
        int exit;
    } cases[] = {{LAP_OK, "", "the same command continues\n", LAP_EXIT_OK},
        {LAP_E_CANCELLED, L "why\n", "the same command continues\n", LAP_EXIT_FAILED},
        {LAP_E_DISK_FULL, L "disk full: why\n", "once there is room, the same command continues\n",
            LAP_EXIT_FAILED},
        {LAP_E_WRITE, L "why\n", "once the cause is removed, the same command continues\n", LAP_EXIT_FAILED},
        {LAP_E_LIMIT, L "limit: why\n", "once the cause is removed, the same command continues\n",
            LAP_EXIT_LIMIT}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int way = 0; way < 4; way++) {
            char want[300];
            restart();
            cli.quiet = false;
            sys.counts.expected = way == 3 ? 3 : 9;
            cli.rebuild = way == 1, cli.fail_fast = way == 2;
            sys.err = (lap_error){.code = cases[i].code, .message = "why"};
            char error[100];
            snprintf(want, sizeof want, "%s3 done%s\n%s%s",
                cases[i].code == LAP_OK ? ""
                                        : (snprintf(error, sizeof error, L "%s\n",
                                               lap_cli_error_text(&sys.err, want, sizeof want)),
                                              error),
                way == 3 ? "" : ", 6 left", way == 0 ? L : "", way == 0 ? cases[i].rest : "");
            assert_runs(lap_run_folder, cases[i].exit, "", want);
        }
}

static void removed_outputs(void **state)
{
    enum { QUIET = 1, VERBOSE = 2, DRY = 4, JSON = 8 };
    static const struct {
        int flags;
        const char *out, *err;
    } cases[] = {{0, "", L "b: limit: why\n3 done\n"}, {QUIET, "", L "b: limit: why\n"},
        {VERBOSE, "", "removed a\\x1b\n" L "b: limit: why\nremoved c\n3 done\n" BY("")},
        {QUIET | VERBOSE, "", L "b: limit: why\n" BY("")},
        {DRY, "remove a\\x1b\nremove c\n", L "b: limit: why\n3 to be done\n"},
        {DRY | JSON, "", "remove a\\x1b\n" L "b: limit: why\nremove c\n3 to be done\n"},
        {DRY | QUIET, "", L "b: limit: why\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart();
        cli.prune = true;
        cli.json = true;
        sys.removals[0] = (removal){"a\033", LAP_OK};
        sys.removals[1] = (removal){"b", LAP_E_LIMIT};
        sys.removals[2] = (removal){"c", LAP_OK};
        const int flags = cases[i].flags;
        cli.quiet = flags & QUIET, cli.verbose = flags & VERBOSE, cli.dry_run = flags & DRY;
        cli.json = flags & JSON;
        cli.json_file = "j";
        assert_runs(lap_run_folder, LAP_EXIT_OK, cases[i].out, cases[i].err);
        json_t *pruned = json_object_get(sys.json, "pruned");
        assert_object(json_object_get(pruned, "outputs"), "['a\\u001B', 'c']");
    }
    restart(); /* the progress line is hidden before each */
    cli.prune = sys.draws = true;
    sys.removals[0] = (removal){"a", LAP_OK};
    assert_runs(lap_run_folder, LAP_EXIT_OK, "", "[=]]");
}

#define LEFT L "--prune: "

static void outputs_that_are_left(void **state)
{
    static const struct {
        lap_batch_prune prune;
        const char *said, *said_quietly;
        int exit;
    } cases[] = {{{.removed = 0}, "", "", LAP_EXIT_OK}, {{.failed = 1}, "", "", LAP_EXIT_FAILED},
        {{.kept = 1},
            LEFT "1 output left: a folder in the photo's path is empty; its disk may not be mounted\n", "",
            LAP_EXIT_OK},
        {{.kept = 2},
            LEFT "2 outputs left: a folder in the photo's path is empty; its disk may not be mounted\n", "",
            LAP_EXIT_OK},
        {{.hidden = 1, .hidden_by = "a b"},
            LEFT
            "1 output left: its photo may be behind a symbolic link that leads nowhere or is not followed, "
            "'a b'\n",
            NULL, LAP_EXIT_FAILED},
        {{.hidden = 2, .hidden_by = "l"},
            LEFT "2 outputs left: their photos may be behind a symbolic link that leads nowhere or is not "
                 "followed, l\n",
            NULL, LAP_EXIT_FAILED},
        {{.changed = 1}, LEFT "1 output left: changed or copied after lapedge wrote it\n", "", LAP_EXIT_OK},
        {{.changed = 2}, LEFT "2 outputs left: changed or copied after lapedge wrote them\n", "",
            LAP_EXIT_OK},
        {{.elsewhere = 1},
            LEFT
            "1 output left: its photo was in a folder that is not part of this run, and is not there any "
            "more\n",
            "", LAP_EXIT_OK},
        {{.elsewhere = 2},
            LEFT
            "2 outputs left: their photos were in folders that are not part of this run, and are not there "
            "any more\n",
            "", LAP_EXIT_OK},
        {{.others = 1, .others_in = "o"},
            LEFT "1 output left: recorded in o; a run with that OUTDIR and its photos can remove it\n", "",
            LAP_EXIT_OK},
        {{.others = 2, .others_in = "o p"},
            LEFT "2 outputs left: recorded in 'o p'; a run with that OUTDIR and its photos can remove them\n",
            "", LAP_EXIT_OK},
        {{.refused = {.code = LAP_E_LIMIT, .subject = "s", .message = "why"}},
            LEFT "nothing was removed: s: limit: why\n", NULL, LAP_EXIT_FAILED}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int quiet = 0; quiet < 2; quiet++)
            for (int other = 0; other < 2; other++) { /* the exit code of the run itself goes first */
                char want[400];
                restart();
                cli.prune = true;
                cli.quiet = quiet;
                sys.prune = cases[i].prune;
                sys.counts.expected = sys.counts.failed = other ? 3 : 0;
                sys.counts.ok = other ? 0 : 3;
                sys.counts.other_shards = !other;
                snprintf(want, sizeof want, "%s%s",
                    quiet   ? ""
                    : other ? "0 done, 3 failed\n"
                            : "3 done\n",
                    quiet && cases[i].said_quietly ? cases[i].said_quietly : cases[i].said);
                assert_runs(lap_run_folder, other ? LAP_EXIT_NOTHING : cases[i].exit, "", want);
            }
    restart(); /* the cause came up after an output was removed */
    cli.prune = true;
    sys.prune =
        (lap_batch_prune){.removed = 1, .refused = {.code = LAP_E_LIMIT, .subject = "s", .message = "why"}};
    cli.quiet = false;
    assert_runs(lap_run_folder, LAP_EXIT_FAILED, "",
        "3 done, 1 removed (photo gone)\n" LEFT "nothing more was removed: s: limit: why\n");
    restart(); /* what refused the run itself is not told twice */
    cli.prune = true;
    cli.json_file = "j";
    sys.err = (lap_error){.code = LAP_E_BACKEND, .message = "why"};
    sys.prune.refused.code = LAP_E_LIMIT;
    assert_runs(lap_run_folder, LAP_EXIT_BACKEND, "", L "why\n");
    assert_object(json_object_get(json_object_get(sys.json, "pruned"), "refused"),
        "{'kind': 'backend', 'message': 'why'}");
}

static void object_of_a_folder_run(void **state)
{
    static const char object[] =
        "{'schema': 'lapedge.run/1', 'found': 20, 'expected': 19, 'other_shards': 18, 'links': 17, 'ok': 16, "
        "'warned': 15, 'skipped': 14, 'failed': 1, 'recoded': 12, 'pixels': 11, 'bytes_in': 10, 'bytes_out': "
        "9, 'kinds': {'limit': 1}, 'not_taken': {'files': 0, 'kinds': {}, 'apple_doubles': 0, "
        "'output_folders': 0, 'outputs': 0, 'photos_in_outdir': 0, 'left_in': [], 'unused_patterns': []}, "
        "'filtered_before': 8, 'pruned': %s, 'dry_run': %s, 'ms': 7.5, 'error': null, 'work': {'how': 'by "
        "hand', 'jobs': 5, 'devices': [{'device': 3, 'done': 6, 'lost': true}], 'ms': {'read': 1.0, "
        "'decode': "
        "2.0, 'upload': 4.0, 'filter': 8.0, 'download': 16.0, 'encode': 32.0, 'write': 64.0, 'total': "
        "1000.0}}%s}";
    char want[2000];
    (void)state;
    for (int way = 0; way < 3; way++) {
        restart();
        sys.counts = (lap_batch_counts){20, 19, 18, 17, 16, 15, 14, 1, .recoded = 12, .pixels = 11,
            .bytes_in = 10, .bytes_out = 9, .ms = 7.5, .kinds = {[LAP_E_LIMIT] = 1}};
        sys.others.made = 8;
        sys.work = (lap_batch_work){.how = "by hand",
            .jobs = 5,
            .device_count = 1,
            .device = {{.device = 3, .done = 6, .is_lost = true}},
            .busy = {1, 2, 4, 8, 16, 32, 64, 1000}};
        sys.prune = (lap_batch_prune){.removed = 1,
            .failed = 2,
            .kept = 3,
            .hidden = 4,
            .changed = 5,
            .elsewhere = 6,
            .others = 7,
            .refused = {.code = LAP_E_LIMIT, .message = "why"}};
        cli.prune = way == 1, cli.dry_run = way == 2;
        cli.json_file = "j";
        cli.report = "r.html";
        cli.started = 86399;
        assert_int_equal(code_of(lap_run_folder), LAP_EXIT_FAILED);
        for (int in_report = 0; in_report < 2; in_report++) { /* the report has a date */
            snprintf(want, sizeof want, object,
                way == 1
                    ? "{'files': 1, 'failed': 2, 'kept': 3, 'hidden': 4, 'changed': 5, 'elsewhere': 6, "
                      "'others': 7, 'outputs': [], 'refused': {'kind': 'limit', 'message': 'limit: why'}}"
                    : "null",
                way == 2 ? "true" : "false",
                in_report ? "" : ", 'started': '1970-01-01T23:59:59Z', 'exit_code': 1");
            assert_object(in_report ? sys.sheet_json : sys.json, want);
        }
        assert_int_equal(sys.printed, 1);
    }
    restart();
    assert_runs(lap_run_folder, LAP_EXIT_OK, "", "");
    assert_int_equal(sys.printed, 0);
}

/* Which exit code counts, and what is written, when the run or what follows fails. */
static void ends_of_folder_runs(void **state)
{
    static const struct {
        lap_code code;
        uint64_t found;
        int sheet, json, exit;
        bool is_told, is_reported;
        const char *said;
    } cases[] = {{LAP_OK, 3, 0, 0, LAP_EXIT_OK, true, true, ""}, {LAP_OK, 3, 7, 0, 7, true, true, ""},
        {LAP_OK, 3, 0, 1, LAP_EXIT_FAILED, true, true, ""}, {LAP_OK, 3, 7, 1, 7, true, true, ""},
        {LAP_OK, 0, 0, 0, LAP_EXIT_OK, true, true, ""},
        {LAP_E_LIMIT, 3, 7, 1, LAP_EXIT_LIMIT, true, true, L "limit: why\n"},
        {LAP_E_LIMIT, 0, 7, 1, LAP_EXIT_LIMIT, false, false, L "limit: why\n"},
        {LAP_E_MEMORY, 0, 0, 0, LAP_EXIT_FAILED, false, false, L "why\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int quiet = 0; quiet < 2; quiet++) {
            char want[100];
            restart();
            cli.quiet = quiet;
            cli.report = "r.html";
            cli.json = true;
            sys.err = (lap_error){.code = cases[i].code, .message = "why"};
            sys.counts.found = cases[i].found;
            sys.sheet_code = cases[i].sheet, sys.json_code = cases[i].json;
            snprintf(want, sizeof want, "%s%s", cases[i].said, cases[i].is_told && !quiet ? "3 done\n" : "");
            assert_runs(lap_run_folder, cases[i].exit, "", want);
            assert_int_equal(sys.sheet_written, cases[i].is_reported);
            assert_int_equal(sys.printed, 1);
            assert_int_equal(sys.ended, 1);
            const bool json_fails = cases[i].json && !cases[i].sheet;
            assert_int_equal(json_integer_value(json_object_get(sys.json, "exit_code")),
                json_fails ? LAP_EXIT_OK : cases[i].exit);
        }
    restart(); /* not all processors begin */
    sys.begins_not = true;
    cli.json = true;
    sys.err = (lap_error){.code = LAP_E_BACKEND, .message = "why"};
    assert_runs(lap_run_folder, LAP_EXIT_BACKEND, "", L "why\n");
    assert_int_equal(sys.ended + sys.printed + sys.shown, 0);
    for (int way = 0; way < 5; way++) { /* the reader of a timeline has left */
        restart();
        const bool has_left = way == 0;
        sys.err = (lap_error){.code = way == 1 ? LAP_E_DISK_FULL : LAP_E_WRITE, .message = "why"};
        cli.trace = way == 2 ? NULL : way == 3 ? "t" : "-";
        sys.reader_left = way != 4;
        char want[100];
        snprintf(want, sizeof want, L "%s\n", lap_cli_error_text(&sys.err, (char[100]){0}, 100));
        assert_runs(lap_run_folder, has_left ? LAP_EXIT_PIPE : LAP_EXIT_FAILED, "", has_left ? "" : want);
    }
    /* A person asked for details, of a run that ended. */
    for (int way = 0; way < 4; way++) {
        restart();
        cli.verbose = way != 1;
        cli.dry_run = way == 2;
        sys.err.code = way == 3 ? LAP_E_LIMIT : LAP_OK;
        assert_runs(lap_run_folder, way == 3 ? LAP_EXIT_LIMIT : LAP_EXIT_OK, "",
            way == 0   ? BY("")
            : way == 3 ? L "limit: \n"
                       : "");
    }
}

/* The kinds of the lines of a log, one letter for each: the first line, photos, what was not taken. */

static void logs(void **state)
{
    static const logged cases[] = {{LAP_OK, 3, 1, 0, "lf"}, {LAP_OK, 3, 2, 1, "lffn"}, {LAP_OK, 0, 0, 0, "l"},
        {LAP_OK, 0, 0, 1, "ln"}, {LAP_E_LIMIT, 3, 1, 1, "lfn"}, {LAP_E_LIMIT, 0, 1, 1, "lf"},
        {LAP_E_CLASH, 3, 1, 1, "lf"}};
    (void)state;
    assert_int_equal(mkdir("photos", 0777), 0);
    assert_logs(lap_run_folder, restart, cases, COUNT(cases));
    restart(); /* the run makes the folder of the log */
    cli.log = "out/log";
    assert_runs(lap_run_folder, LAP_EXIT_FAILED, "",
        L "out/log: the log could not be written: No such file or directory\n");
    assert_int_equal(sys.ended, 1);
}

static void clashes_keep_off(void **state)
{
    (void)state;
    assert_clash_keeps_off(lap_run_folder, restart);
}

static void memory_is_given_back(void **state)
{
    (void)state;
    assert_gives_back(lap_run_folder, restart);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(operands_of_folders), TEST(what_a_folder_run_asks_for),
        TEST(photos_of_a_folder), TEST(summaries_of_folders), TEST(photos_that_were_recoded),
        TEST(first_to_fail), TEST(what_is_to_be_done_again), TEST(removed_outputs),
        TEST(outputs_that_are_left), TEST(object_of_a_folder_run), TEST(ends_of_folder_runs), TEST(logs),
        TEST(clashes_keep_off), TEST(memory_is_given_back)};
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
