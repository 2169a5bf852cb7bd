/* run_in_place.c: what a run in place asks the library for, prints, logs and returns. */
#include "tests/unit/cli/folder_stubs.h"

#include <sys/stat.h>

static void restart(int photos)
{
    start(LAP_COMMAND_RUN, LAP_CLI_IN_PLACE);
    put("a", "x");
    put("b", "x");
    set_operands("a", photos > 1 ? "b" : NULL, NULL);
    cli.in_place = true;
    sys.counts =
        (lap_batch_counts){.found = (unsigned)photos, .expected = (unsigned)photos, .ok = (unsigned)photos};
}

static void one(void)
{
    restart(1);
}

static void two(void)
{
    restart(2);
}

static int begin(void **state)
{
    (void)state;
    empty_scratch();
    restart(1);
    return 0;
}

static void operands_in_place(void **state)
{
    static const struct {
        const char *from, *words[3], *stats, *said;
    } cases[] = {
        {"list", {"a"}, NULL, L "--in-place takes no OUTDIR: with --files-from the list names all photos\n"},
        {NULL, {NULL}, NULL, L "--in-place needs a FILE; see lapedge -h\n"},
        {NULL, {"a", "-"}, NULL, L "--in-place: standard input cannot be replaced\n"},
        {NULL, {"a", "photos"}, NULL, L "--in-place: photos is a folder; name the files in it\n"},
        {NULL, {"a", "b"}, "s", L "--stats needs a single image\n"},
        {"list", {NULL}, "s", L "--stats needs a single image\n"},
        {NULL, {"a", "no"}, NULL,
            L "--in-place: no: no such file; nothing is changed unless every FILE exists; for IN OUT leave "
              "--in-place out\n"},
        {NULL, {"no", "b"}, NULL,
            L "--in-place: no: no such file; nothing is changed unless every FILE exists; for IN OUT leave "
              "--in-place out\n"},
        {NULL, {"a", "b", "a/no"}, NULL,
            L "--in-place: a/no: no such file; nothing is changed unless every FILE exists\n"},
        {"list", {NULL}, NULL, NULL}, {NULL, {"a"}, NULL, NULL}, {NULL, {"a"}, "s", NULL},
        {NULL, {"no"}, NULL, NULL}, {NULL, {"a", "b"}, NULL, NULL}, {NULL, {"a", "loop"}, NULL, NULL}};
    (void)state;
    assert_int_equal(mkdir("photos", 0777) | symlink("loop", "loop"), 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart(1);
        set_operands(cases[i].words[0], cases[i].words[1], cases[i].words[2]);
        cli.files_from = cases[i].from;
        cli.stats = cases[i].stats;
        cli.quiet = true;
        assert_runs(lap_run_in_place, cases[i].said ? LAP_EXIT_USAGE : LAP_EXIT_OK, "",
            cases[i].said ? cases[i].said : "");
        assert_int_equal(sys.ended, !cases[i].said);
        assert_int_equal(sys.one_device, !cases[i].said);
        if (!cases[i].said)
            assert_int_equal(sys.options.input_count, cli.operand_count);
    }
}

static void what_a_run_in_place_asks_for(void **state)
{
    (void)state;
    for (int on = 0; on < 2; on++)
        for (int photos = 1; photos < 3; photos++) {
            restart(photos);
            sys.draws = on;
            cli.filter_again = cli.dry_run = on;
            cli.backup = on ? ".orig" : NULL;
            cli.stats = on && photos == 1 ? "s" : NULL;
            cli.report = on ? "r.html" : NULL;
            assert_int_equal(code_of(lap_run_in_place), LAP_EXIT_OK);
            assert_int_equal(sys.order.again, on);
            assert_ptr_equal(sys.order.backup, cli.backup);
            assert_false(sys.has_devices);
            assert_true(sys.finds_made);
            assert_int_equal(sys.options.dry_run, on);
            assert_int_equal(sys.options.side_count, on ? (photos == 1 ? 3 : 2) : 0);
            for (size_t i = 0; i < sys.options.side_count; i++)
                assert_string_equal(sys.sides[i], i == sys.options.side_count - 1 ? "/dev/stdout"
                                                  : photos == 1 && i == 0         ? "s"
                                                                                  : "r.html");
            assert_int_equal(sys.settings.progress == lap_progress_rows, on && photos == 1);
            assert_int_equal(sys.settings.progress_user != NULL, photos == 1);
            assert_int_equal(sys.settings.stats != NULL, on && photos == 1);
            assert_int_equal(sys.shown, photos == 1 ? 0 : 1);
        }
    restart(1); /* its name is in the progress line */
    sys.draws = true;
    cli.quiet = true;
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", "[]");
    assert_true(sys.is_named);
    restart(2);
    sys.draws = true;
    cli.verbose = true, cli.quiet = true;
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", L "up to 3 photos at once, 3 threads\n[=]");
}

static void photos_in_place(void **state)
{
    enum { QUIET = 1, VERBOSE = 2, DRY = 4, JSON = 8, DRAWS = 16, ONE = 32, BACKUP = 64, THERE = 128 };
    static const struct {
        event what;
        int flags;
        const char *out, *err;
        int exit;
    } cases[] = {{{"a", .status = LAP_DONE}, ONE, "", .err = ""},
        {{"a", .status = LAP_DONE}, DRAWS, "", .err = "[=]=]"},
        {{"a", .status = LAP_DONE}, ONE | VERBOSE, "", .err = "(a to out/a)\n"},
        {{"a", .status = LAP_DONE}, ONE | VERBOSE | QUIET, "", .err = "(a to out/a)\n"},
        {{"a", .status = LAP_DONE}, ONE | DRY, "a -> out/a\n", .err = ""},
        {{"a", .status = LAP_DONE}, ONE | DRY | QUIET, "", .err = ""},
        {{"a", .status = LAP_DONE}, ONE | DRY | JSON, "", .err = "a -> out/a\n"},
        {{"a", .status = LAP_DONE}, ONE | DRY | VERBOSE, "a -> out/a\n", .err = ""},
        {{"a", .status = LAP_WARNED, .warnings = 1}, ONE, "", .err = L "a: warning: odd\n"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, ONE | QUIET, "", .err = ""},
        {{"a", .status = LAP_WARNED, .warnings = 1}, ONE | VERBOSE, "",
            .err = L "a: warning: odd\n(a to out/a)\n"},
        {{"a", .status = LAP_WARNED, .warnings = 1}, ONE | DRY, "", .err = L "a: warning: odd\n"},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, ONE | QUIET, "", .err = L "a: limit: why\n",
            .exit = LAP_EXIT_LIMIT},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, ONE | VERBOSE, "", .err = L "a: limit: why\n(a to out/a)\n",
            .exit = LAP_EXIT_LIMIT},
        {{"a", LAP_FAILED, .code = LAP_E_LIMIT}, QUIET, "", .err = L "a: limit: why\n", .exit = LAP_EXIT_OK},
        {{"a", LAP_FAILED, .code = LAP_E_WRITE}, ONE | QUIET, "", .err = L "a: why\n",
            .exit = LAP_EXIT_NOTHING},
        {{"a", LAP_SKIPPED, .code = LAP_E_EXISTS}, ONE | QUIET, "", .err = L "a: why\n",
            .exit = LAP_EXIT_FAILED},
        {{"a", .status = LAP_SKIPPED}, ONE, "", .err = L "a: up to date\n"},
        {{"a", .status = LAP_SKIPPED}, ONE | QUIET, "", .err = ""},
        {{"a", .status = LAP_SKIPPED}, ONE | VERBOSE, "", .err = L "a: up to date\n"},
        {{"a", .status = LAP_SKIPPED}, 0, "", .err = ""},
        {{"a", .status = LAP_SKIPPED}, VERBOSE | DRAWS, "",
            .err = L "up to 3 photos at once, 3 threads\n[=]" L "a: up to date\n=]"},
        {{"a", .status = LAP_SKIPPED}, VERBOSE | QUIET, "", .err = L "up to 3 photos at once, 3 threads\n"},
        {{"a", .status = LAP_SKIPPED}, ONE | BACKUP, "",
            .err = L "a: up to date, but without a backup: there is no a.orig\n"},
        {{"a", .status = LAP_SKIPPED}, ONE | BACKUP | THERE, "", .err = L "a: up to date\n"},
        {{"no", .status = LAP_SKIPPED}, ONE | BACKUP, "", .err = L "no: up to date\n"},
        {{"link", .status = LAP_SKIPPED}, ONE | BACKUP | THERE, "", .err = L "link: up to date\n"},
        {{"a", .status = LAP_SKIPPED, .note = "it is twice"}, ONE, "", .err = L "a: it is twice\n"},
        {{"a", .status = LAP_SKIPPED, .note = "it is twice"}, 0, "", .err = L "a: it is twice\n"},
        {{"a", .status = LAP_SKIPPED, .note = "it is twice"}, ONE | QUIET, "", .err = ""},
        {{"a", .status = LAP_SKIPPED, .note = "it is twice"}, ONE | DRY, "", .err = L "a: it is twice\n"}};
    (void)state;
    (void)unlink("link");
    assert_int_equal(symlink("a", "link"), 0);
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int json_code = 0; json_code < 2; json_code++) {
            const int flags = cases[i].flags;
            const bool is_one = flags & ONE;
            char want[300];
            restart(is_one ? 1 : 2);
            sys.events[0] = cases[i].what;
            sys.draws = flags & DRAWS;
            sys.counts.ms = 0;
            cli.quiet = flags & QUIET, cli.verbose = flags & VERBOSE, cli.dry_run = flags & DRY;
            cli.json = flags & JSON;
            cli.json_file = json_code ? "j" : NULL;
            sys.json_code = json_code;
            cli.backup = flags & BACKUP ? ".orig" : NULL;
            if (flags & THERE)
                put("a.orig", "x");
            snprintf(want, sizeof want, "%s%s", cases[i].err,
                is_one || flags & QUIET ? ""
                : flags & DRY           ? "2 to be done\n"
                                        : "2 done\n");
            const bool has_json = json_code || flags & JSON;
            const bool is_lost = json_code && (is_one || cases[i].what.code == LAP_OK);
            assert_runs(lap_run_in_place,
                cases[i].exit ? cases[i].exit
                : is_lost     ? LAP_EXIT_FAILED
                              : LAP_EXIT_OK,
                cases[i].out, want);
            assert_int_equal(sys.printed, has_json);
            if (has_json) {
                assert_string_equal(
                    json_string_value(json_object_get(sys.json, "input")), cases[i].what.input);
                assert_string_equal(json_string_value(json_object_get(sys.json, "schema")), "lapedge.file/1");
                assert_string_equal(
                    json_string_value(json_object_get(sys.json, "started")), "1970-01-01T00:00:00Z");
            }
            assert_int_equal(sys.shown, is_one ? 0 : 2);
            (void)unlink("a.orig");
        }
    (void)unlink("link");
}

/* Photos that are up to date, but whose backup is not there, are counted. */
static void photos_without_backups(void **state)
{
    char long_suffix[4200];
    (void)state;
    restart(2);
    cli.backup = ".orig";
    put("b.orig", "x");
    for (int i = 0; i < 3; i++)
        sys.events[i] = (event){i == 1 ? "b" : "a", LAP_SKIPPED, .code = LAP_OK};
    sys.counts = (lap_batch_counts){.found = 3, .expected = 3, .skipped = 3, .kinds = {[LAP_OK] = 3}};
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", "0 done, 3 up to date (2 without a backup)\n");
    restart(1); /* no file can have such a name, and none is looked for */
    memset(long_suffix, 'x', sizeof long_suffix - 1);
    long_suffix[sizeof long_suffix - 1] = '\0';
    cli.backup = long_suffix;
    sys.events[0] = (event){"a", LAP_SKIPPED, .code = LAP_OK};
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", L "a: up to date\n");
    restart(1); /* whether it is there cannot be told */
    cli.backup = "/x";
    sys.events[0] = (event){"a", LAP_SKIPPED, .code = LAP_OK};
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", L "a: up to date\n");
    (void)unlink("b.orig");
}

static void statistics_in_place(void **state)
{
    static const struct {
        lap_status status;
        lap_code code;
        int stats_code, written, exit;
        const char *said;
    } cases[] = {{LAP_DONE, LAP_OK, 0, 1, LAP_EXIT_OK, ""}, {LAP_DONE, LAP_OK, 7, 1, 7, ""},
        {LAP_WARNED, LAP_OK, 0, 1, LAP_EXIT_OK, ""},
        {LAP_FAILED, LAP_E_LIMIT, 0, 0, LAP_EXIT_LIMIT, L "a: limit: why\n"},
        {LAP_SKIPPED, LAP_OK, 0, 0, LAP_EXIT_FAILED, L "s: not written, because a holds its edges already\n"},
        {LAP_SKIPPED, LAP_E_EXISTS, 0, 0, LAP_EXIT_FAILED, L "a: why\n"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart(1);
        cli.stats = "s";
        cli.quiet = true;
        sys.stats_code = cases[i].stats_code;
        sys.events[0] = (event){"a", .status = cases[i].status, .code = cases[i].code};
        assert_runs(lap_run_in_place, cases[i].exit, "", cases[i].said);
        assert_int_equal(sys.stats_written, cases[i].written);
    }
}

static void summaries_in_place(void **state)
{
    static const struct {
        lap_batch_counts counts;
        lap_code code;
        int caught;
        const char *said;
        int exit;
        bool dry, again;
        int told_cancel;
    } cases[] = {{{.found = 1, .expected = 1, .ok = 1, .ms = 9}, .said = ""},
        {{.found = 2, .expected = 2, .ok = 2, .ms = 1500}, .said = "2 done; 1.5 s\n"},
        {{.found = 2, .expected = 2, .ok = 2}, .said = "2 done\n"},
        {{.found = 2, .expected = 2, .ok = 2, .ms = 1500}, .said = "2 to be done\n", .dry = true},
        {{.found = 5, .expected = 5, .ok = 2, .warned = 3}, .said = "5 done (3 with warnings)\n"},
        {{.found = 5, .expected = 5, .ok = 2, .skipped = 3, .kinds = {[LAP_OK] = 3}},
            .said = "2 done, 3 up to date\n"},
        {{.found = 5, .expected = 5, .ok = 2, .skipped = 3, .kinds = {[LAP_E_EXISTS] = 3}},
            .said = "2 done, 3 left alone\n", .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 4, .failed = 1, .kinds = {[LAP_E_LIMIT] = 1}},
            .said = "4 done, 1 failed (1 limit)\n", .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 2, .ms = 9}, .said = "2 done; stopped, 3 left\n"},
        {{.found = 5, .expected = 5, .ok = 2, .ms = 9}, LAP_E_CANCELLED, 15,
            "2 done; cancelled, 3 left; the same command continues\n", .exit = LAP_EXIT_FAILED,
            .told_cancel = 1},
        {{.found = 5, .expected = 5, .ok = 2, .ms = 9}, LAP_E_CANCELLED, 15, "2 done; stopped, 3 left\n",
            .exit = LAP_EXIT_FAILED, .again = true},
        {{.found = 5, .expected = 5, .ok = 2, .ms = 9}, LAP_E_CANCELLED, 0,
            L "why\n2 done; cancelled, 3 left; the same command continues\n", .exit = LAP_EXIT_FAILED,
            .told_cancel = 1},
        {{.found = 5, .expected = 5, .ok = 5, .ms = 100}, LAP_E_CANCELLED, 15, "5 done; 0.1 s\n",
            .exit = LAP_EXIT_FAILED},
        {{.found = 0}, LAP_E_CANCELLED, 15, L "why\n", .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 2}, LAP_E_DISK_FULL, 0,
            L "disk full: why\n2 done; the disk is full, 3 left; once there is room, the same command "
              "continues\n",
            .exit = LAP_EXIT_FAILED},
        {{.found = 5, .expected = 5, .ok = 2}, LAP_E_DISK_FULL, 15,
            L "disk full: why\n2 done; stopped, 3 left\n", .exit = LAP_EXIT_FAILED, .again = true},
        {{.found = 5, .expected = 5, .ok = 2}, LAP_E_LIMIT, 0, L "limit: why\n2 done; stopped, 3 left\n",
            .exit = LAP_EXIT_LIMIT},
        {{.found = 0, .expected = 5}, LAP_E_LIMIT, 0, L "limit: why\n", .exit = LAP_EXIT_LIMIT},
        {{.found = 5, .expected = 5, .ok = 5}, LAP_E_WRITE, 0, "5 done\n", .exit = LAP_EXIT_NOTHING},
        {{.found = 1, .expected = 1, .ok = 1}, LAP_E_WRITE, 0, "", .exit = LAP_EXIT_NOTHING},
        {{.found = 0}, LAP_E_WRITE, 0, L "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n",
            .exit = LAP_EXIT_NOTHING},
        {{.found = 0}, .said = L "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)\n",
            .exit = LAP_EXIT_NOTHING}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart(2);
        sys.counts = cases[i].counts;
        sys.err = (lap_error){.code = cases[i].code, .message = "why"};
        around.caught = cases[i].caught;
        cli.dry_run = cases[i].dry, cli.filter_again = cases[i].again;
        assert_runs(lap_run_in_place, cases[i].exit, "", cases[i].said);
        assert_int_equal(
            sys.told_cancel, cases[i].told_cancel + (strstr(cases[i].said, "cancelled: ") != NULL));
        assert_int_equal(sys.ended, 1);
    }
    for (int way = 0; way < 3; way++) { /* edges of edges */
        restart(2);
        sys.others.made = 1;
        strcpy(sys.others.made_first, "m");
        cli.quiet = way == 1;
        sys.err = (lap_error){.code = way == 2 ? LAP_E_LIMIT : LAP_OK, .message = "why"};
        assert_runs(lap_run_in_place, way == 2 ? LAP_EXIT_LIMIT : LAP_EXIT_OK, "",
            way == 0 ? "2 done\n" L
                       "warning: 1 input was filtered by lapedge before (m): its output is edges of edges\n"
            : way == 1 ? ""
                       : L "limit: why\n2 done\n");
    }
    char want[1000] = "["; /* messages that were left out */
    restart(2);
    sys.draws = true;
    strcat(want, "=");
    for (int i = 0; i < 11; i++) {
        sys.events[i] = (event){"a", LAP_FAILED, .code = LAP_E_LIMIT};
        strcat(want, i < 10 ? "]" L "a: limit: why\n=" : "]=");
    }
    strcat(want, "]2 done\n" L "and 1 more limit: -v prints all, --log=FILE keeps them\n");
    assert_runs(lap_run_in_place, LAP_EXIT_OK, "", want);
}

/* One photo's own exit code counts; of several what was not written does. */
static void exit_codes_in_place(void **state)
{
    static const struct {
        int photos;
        lap_code photo, run;
        int json, exit;
    } cases[] = {{1, LAP_E_LIMIT, LAP_OK, 0, LAP_EXIT_LIMIT}, {1, LAP_E_BACKEND, LAP_OK, 1, LAP_EXIT_BACKEND},
        {1, LAP_OK, LAP_OK, 1, LAP_EXIT_FAILED}, {1, LAP_E_DISK_FULL, LAP_E_DISK_FULL, 0, LAP_EXIT_FAILED},
        {1, LAP_E_BACKEND, LAP_E_USAGE, 0, LAP_EXIT_USAGE},
        {1, LAP_E_BACKEND, LAP_E_WRITE, 0, LAP_EXIT_NOTHING}, {2, LAP_E_LIMIT, LAP_OK, 0, LAP_EXIT_OK},
        {2, LAP_E_LIMIT, LAP_OK, 1, LAP_EXIT_OK}, {2, LAP_OK, LAP_OK, 1, LAP_EXIT_FAILED},
        {2, LAP_OK, LAP_E_USAGE, 1, LAP_EXIT_USAGE}, {2, LAP_OK, LAP_E_DISK_FULL, 0, LAP_EXIT_FAILED},
        {2, LAP_OK, LAP_E_WRITE, 1, LAP_EXIT_NOTHING}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        restart(cases[i].photos);
        cli.quiet = true;
        cli.json_file = "j";
        sys.json_code = cases[i].json;
        sys.events[0] =
            (event){"a", .status = cases[i].photo ? LAP_FAILED : LAP_DONE, .code = cases[i].photo};
        sys.err = (lap_error){.code = cases[i].run, .message = "why"};
        const int code = code_of(lap_run_in_place);
        if (code != cases[i].exit)
            fail_msg("case %zu: %d, %s", i, code, said_err());
        const json_t *known = json_object_get(sys.json, "exit_code");
        if (cases[i].photos > 1) /* the run goes on after each object */
            assert_true(json_is_null(known));
        else
            assert_int_equal(json_integer_value(known),
                cases[i].json && !cases[i].photo && !cases[i].run ? LAP_EXIT_OK : cases[i].exit);
    }
    restart(1); /* the first of several troubles */
    cli.quiet = true;
    sys.events[0] = (event){"a", LAP_FAILED, .code = LAP_E_LIMIT};
    sys.events[1] = (event){"a", LAP_FAILED, .code = LAP_E_BACKEND};
    assert_runs(lap_run_in_place, LAP_EXIT_LIMIT, "", L "a: limit: why\n" L "why\n");
    restart(1);
    sys.begins_not = true;
    sys.err = (lap_error){.code = LAP_E_BACKEND, .message = "why"};
    assert_runs(lap_run_in_place, LAP_EXIT_BACKEND, "", L "why\n");
    assert_int_equal(sys.ended, 0);
}

/* Runs again and again take no more memory. */

static void logs(void **state)
{
    /* A run that was refused writes no last line. */
    static const logged cases[] = {{LAP_OK, 3, 1, 0, "lf"}, {LAP_OK, 3, 2, 1, "lffn"}, {LAP_OK, 0, 0, 0, "l"},
        {LAP_OK, 0, 0, 1, "ln"}, {LAP_E_LIMIT, 3, 1, 1, "lf"}, {LAP_E_WRITE, 3, 1, 1, "lfn"},
        {LAP_E_CLASH, 3, 1, 1, "lf"}};
    (void)state;
    assert_logs(lap_run_in_place, two, cases, COUNT(cases));
}

static void clashes_keep_off(void **state)
{
    (void)state;
    assert_clash_keeps_off(lap_run_in_place, two);
}

static void memory_is_given_back(void **state)
{
    (void)state;
    assert_gives_back(lap_run_in_place, one);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {TEST(operands_in_place), TEST(what_a_run_in_place_asks_for),
        TEST(photos_in_place), TEST(photos_without_backups), TEST(statistics_in_place),
        TEST(summaries_in_place), TEST(exit_codes_in_place), TEST(logs), TEST(clashes_keep_off),
        TEST(memory_is_given_back)};
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
