/* The verdict on a file at an output's name, from every fact of the records' lines: whether it is up to date,
 * and whether it may be replaced. */
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/manifest.h"
#include "batch/manifest_state.h"

enum { SETTINGS = 7, OTHERS = 8 };

static lap_tree tree;
static lap_settings_mark mark = {.hashes = {1000, SETTINGS, 2000}, .fail_on = LAP_FAIL_TRUNCATED};
static struct stat photo, made;        /* of the two files that are there */
static uint64_t photo_hash, made_hash; /* and their contents */
static lap_manifest *manifest;

/* What stands under the name, and what would be written there. */
static lap_origin origin;
static struct stat seen, read_photo;
static lap_photo_content content;
static char photo_path[128];
static lap_standing standing;

static void begin(void)
{
    lap_manifest_close(manifest);
    assert_int_equal(lap_manifest_open(&tree, &mark, &manifest, NULL), LAP_OK);
    origin = (lap_origin){"/photos", 5, 4711};
    seen = made;
    read_photo = photo;
    content = (lap_photo_content){false, 0};
    snprintf(photo_path, sizeof photo_path, "%s/in.jpg", scratch);
    standing = (lap_standing){"a.jpg", tree.fd, &seen,
        {photo_path, &read_photo, &origin, strlen(photo_path) - strlen("in.jpg"), &content}};
}

/* The line of a run that made the output from the photo. */
static lap_manifest_line line(void)
{
    lap_manifest_line l = lap_manifest_line_of(SETTINGS, "a.jpg", &made, made_hash);
    l.is_done = true;
    l.maker = LAP_MAKER_RUN;
    l.input = "photos/in.jpg";
    l.input_size = photo.st_size;
    l.input_mtime_s = photo.st_mtim.tv_sec;
    l.input_mtime_ns = photo.st_mtim.tv_nsec;
    l.input_ctime_s = photo.st_ctim.tv_sec;
    l.input_ctime_ns = photo.st_ctim.tv_nsec;
    l.has_input_content = true;
    l.input_content = photo_hash;
    l.folder = "/photos";
    l.folder_device = 5;
    l.folder_inode = 4711;
    l.below = strlen("in.jpg");
    return l;
}

static void add(lap_manifest_line l, bool is_believed)
{
    assert_int_equal(lap_manifest_add(manifest, &l, is_believed, IS_NO_RIVAL, NULL), LAP_OK);
}

/* Lines of another output that say the opposite: nothing of them counts. */
static void add_other(void)
{
    lap_manifest_line l = line();
    l.output = "b.jpg";
    l.settings = OTHERS + 1;
    l.content = l.input_content = 1;
    l.inode = l.input_ctime_s = l.input_size = 2;
    l.maker = LAP_MAKER_TRANSFORM;
    l.folder = "/others";
    l.folder_inode = 3;
    add(l, false);
}

/* Returns the verdict. `again` is the content hash to write into a new record, or 0. */
static uint64_t again;
static lap_made find(void)
{
    lap_made verdict = LAP_MADE_UNKNOWN;
    lap_error err = {0};
    again = 1;
    add_other();
    assert_int_equal(lap_manifest_find(manifest, &standing, &verdict, &again, &err), LAP_OK);
    return verdict;
}

static lap_made find_of(lap_manifest_line l)
{
    add(l, true);
    return find();
}

static void other_place(lap_manifest_line *l)
{
    l->folder = "/elsewhere";
    l->folder_inode++;
}

/* ---- up to date --------------------------------------------------------------------------------------- */

static void the_same_photo_is_up_to_date(void **unused)
{
    (void)unused;
    begin();
    standing.folder = -1; /* nothing is read */
    strcpy(photo_path, "/missing/in.jpg");
    standing.input.below = strlen("/missing/");
    add_other();
    assert_int_equal(find_of(line()), LAP_MADE_SAME);
    assert_true(again == 0);
    assert_true(content.is_known && content.hash == photo_hash); /* as recorded */

    begin(); /* the file is in another place: it gets a new record */
    lap_manifest_line l = line();
    other_place(&l);
    assert_int_equal(find_of(l), LAP_MADE_SAME);
    assert_true(again == made_hash);

    begin(); /* one of the lines names the place */
    l = line();
    other_place(&l);
    add(line(), true);
    assert_int_equal(find_of(l), LAP_MADE_SAME);
    assert_true(again == 0);

    begin(); /* only a line that is believed has a hash to record */
    l = line();
    other_place(&l);
    l.content = 3;
    add(l, false);
    lap_manifest_line old = l, other = l;
    old.has_content = false;
    old.size = made.st_size;
    add(old, true);
    other.settings = OTHERS;
    other.content = 4;
    add(other, true);
    l.content = made_hash;
    assert_int_equal(find_of(l), LAP_MADE_SAME);
    assert_true(again == made_hash);
}

/* The change time, or else the content, tells whether a photo of the same size and time is the same. */
static void a_photo_that_may_have_changed(void **unused)
{
    (void)unused;
    begin(); /* chmod */
    lap_manifest_line l = line();
    l.input_ctime_ns++;
    assert_int_equal(find_of(l), LAP_MADE_SAME);
    assert_true(again == made_hash);
    assert_true(content.is_known && content.hash == photo_hash);

    begin(); /* edited, with the old time */
    l.input_content++;
    assert_int_equal(find_of(l), LAP_MADE_OURS);
    assert_true(content.is_known && content.hash == photo_hash);

    begin(); /* what the caller knows is not read again */
    content = (lap_photo_content){true, l.input_content};
    assert_int_equal(find_of(l), LAP_MADE_SAME);
    begin();
    l.input_content = photo_hash;
    content = (lap_photo_content){true, photo_hash + 1};
    assert_int_equal(find_of(l), LAP_MADE_OURS);
    begin();
    standing.input.content = NULL;
    assert_int_equal(find_of(l), LAP_MADE_SAME);

    begin(); /* cannot be read */
    strcpy(photo_path + strlen(scratch), "/no.jpg");
    assert_int_equal(find_of(l), LAP_MADE_OURS);
    assert_false(content.is_known);

    begin(); /* the line does not know the content */
    l.has_input_content = false;
    l.input_content = 0;
    assert_int_equal(find_of(l), LAP_MADE_OURS);
    assert_false(content.is_known);
    begin();
    content = (lap_photo_content){true, 0};
    assert_int_equal(find_of(l), LAP_MADE_OURS);

    begin(); /* other settings: no need to read */
    l = line();
    l.settings = OTHERS;
    assert_int_equal(find_of(l), LAP_MADE_OURS);
    assert_false(content.is_known);

    begin(); /* without a change time, as version 0.1 wrote lines: size and time decide */
    l = line();
    l.input_ctime_s = l.input_ctime_ns = 0;
    l.has_input_content = false;
    assert_int_equal(find_of(l), LAP_MADE_SAME);
    assert_true(again == 0);
    begin(); /* unless another line of this photo has one */
    add(l, true);
    lap_manifest_line dated = line();
    dated.input_ctime_ns++;
    dated.input_content++;
    dated.content++;
    assert_int_equal(find_of(dated), LAP_MADE_OURS);
    begin(); /* or of another photo */
    add(l, true);
    dated.input_size++;
    assert_int_equal(find_of(dated), LAP_MADE_SAME);

    begin(); /* a time of 0 seconds is a time */
    l = line();
    l.input_ctime_s = 0;
    l.input_content++;
    assert_int_equal(find_of(l), LAP_MADE_OURS);
}

/* ---- by its content
 * ---------------------------------------------------------------------------------------- */

/* A file that was copied or restored: another inode. */
static lap_manifest_line moved(void)
{
    lap_manifest_line l = line();
    l.inode++;
    return l;
}

static void another_file_is_known_by_its_content(void **unused)
{
    (void)unused;
    lap_made verdict;
    lap_error err;
    begin();
    assert_int_equal(find_of(moved()), LAP_MADE_SAME);
    assert_true(again == made_hash);

    begin();
    add(moved(), false);
    assert_int_equal(find(), LAP_MADE_SAID);
    assert_true(again == 0);

    begin();
    lap_manifest_line l = moved();
    l.settings = OTHERS;
    add(l, false);
    assert_int_equal(find(), LAP_MADE_UNBELIEVED);
    assert_true(again == 0);

    begin();
    l.content++;
    assert_int_equal(find_of(l), LAP_MADE_CHANGED);
    assert_true(again == 0);

    begin(); /* of another size: it need not be read */
    l = moved();
    l.size++;
    standing.folder = -1;
    assert_int_equal(find_of(l), LAP_MADE_CHANGED);
    begin(); /* unless a record holds too few bits of the size to tell them apart */
    l.size = made.st_size + (1 << 27);
    add(l, true);
    standing.folder = -1;
    assert_int_equal(lap_manifest_find(manifest, &standing, &verdict, &again, &err), LAP_E_UNREADABLE);
    begin(); /* nor if only the size is known */
    l = moved();
    l.has_content = false;
    l.settings = OTHERS;
    standing.folder = -1;
    assert_int_equal(find_of(l), LAP_MADE_UNHASHED);

    begin(); /* it cannot be read; or it is another one by now */
    add(moved(), true);
    standing.folder = -1;
    assert_int_equal(lap_manifest_find(manifest, &standing, &verdict, &again, &err), LAP_E_UNREADABLE);
    standing.folder = tree.fd;
    seen.st_ino += 2;
    assert_int_equal(find(), LAP_MADE_CHANGED);
    assert_true(again == 0);

    begin(); /* in a folder */
    standing.output = "sub/a.jpg";
    l = moved();
    l.output = "sub/a.jpg";
    assert_int_equal(find_of(l), LAP_MADE_SAME);
}

/* Equal names of photos in two folders; and photos that were edited or moved. */
static void an_output_of_another_photo_is_kept(void **unused)
{
    (void)unused;
    lap_manifest_line l = line();
    l.settings = OTHERS;
    l.input_size++; /* another photo */
    lap_manifest_line away = l;
    other_place(&away);
    begin();
    assert_int_equal(find_of(away), LAP_MADE_ELSEWHERE);
    begin(); /* edited */
    assert_int_equal(find_of(l), LAP_MADE_OURS);
    begin(); /* the folder is another one by now */
    lap_manifest_line one = l;
    one.folder_inode++;
    assert_int_equal(find_of(one), LAP_MADE_OURS);
    begin(); /* the folder has another name by now */
    one = l;
    one.folder = "/elsewhere";
    assert_int_equal(find_of(one), LAP_MADE_OURS);
    for (int fact = 0; fact < 3;
         fact++) { /* another folder, though one number is the same; or another photo in it */
        begin();
        one.folder_device = 5 + (fact == 0);
        one.folder_inode = 4711 + (fact == 1);
        one.below = strlen(fact == 2 ? "n.jpg" : "in.jpg");
        assert_int_equal(find_of(one), LAP_MADE_ELSEWHERE);
    }
    begin(); /* the photo was moved */
    one = away;
    one.input_size--;
    assert_int_equal(find_of(one), LAP_MADE_OURS);
    for (int fact = 0; fact < 2; fact++) {
        begin();
        one = away;
        one.input_size--;
        one.input_mtime_s += fact == 0;
        one.input_mtime_ns += fact == 1;
        assert_int_equal(find_of(one), LAP_MADE_ELSEWHERE);
    }
    begin(); /* no place is known */
    one = away;
    one.folder = NULL;
    assert_int_equal(find_of(one), LAP_MADE_OURS);
    begin();
    standing.input.origin = NULL;
    assert_int_equal(find_of(away), LAP_MADE_OURS);
    static char folder[9000]; /* longer than a path can be: no place, either */
    static const size_t lengths[] = {2 * PATH_MAX - 1, 2 * PATH_MAX, sizeof folder - 1};
    for (size_t i = 0; i < 3; i++) {
        begin();
        one = away;
        memset(folder, '/', sizeof folder);
        folder[lengths[i] - strlen("/in.jpg")] = '\0';
        one.folder = folder;
        assert_int_equal(find_of(one), i == 0 ? LAP_MADE_ELSEWHERE : LAP_MADE_OURS);
    }
    begin(); /* the same path, in two parts */
    origin.name = "/";
    standing.input.path = "photos/in.jpg";
    standing.input.below = 0;
    one = l;
    one.folder_inode++;
    assert_int_equal(find_of(one), LAP_MADE_OURS);
    one.folder = "/";
    one.below = strlen("photos/in.jpg");
    begin();
    assert_int_equal(find_of(one), LAP_MADE_OURS);
}

static void each_command_replaces_its_own(void **unused)
{
    (void)unused;
    static const lap_made verdicts[2][3] = {
        {LAP_MADE_OURS, LAP_MADE_OURS, LAP_MADE_TURNED}, {LAP_MADE_OURS, LAP_MADE_FILTERED, LAP_MADE_OURS}};
    for (int turns = 0; turns < 2; turns++)
        for (lap_maker maker = LAP_MAKER_UNKNOWN; maker <= LAP_MAKER_TRANSFORM; maker++) {
            mark.turns = turns;
            begin();
            lap_manifest_line l = line();
            l.settings = OTHERS;
            l.maker = maker;
            assert_int_equal(find_of(l), verdicts[turns][maker]);
        }
    mark.turns = false;
}

/* ---- several lines
 * ------------------------------------------------------------------------------------------ */

static void lines_of_one_file_are_one_record(void **unused)
{
    (void)unused;
    lap_manifest_line begun = line(), done = line();
    begun.is_done = false;
    begun.maker = LAP_MAKER_UNKNOWN;
    begin();
    assert_int_equal(find_of(begun), LAP_MADE_OURS);

    for (int order = 0; order < 2; order++) { /* a later begin line takes nothing back */
        begin();
        add(order ? done : begun, true);
        assert_int_equal(find_of(order ? begun : done), LAP_MADE_SAME);
        assert_true(content.is_known && again == 0);
        assert_int_equal(manifest->count, 2); /* with that of the other output */
    }
    begin(); /* also if another one lies between them */
    add(begun, true);
    add(moved(), true);
    assert_int_equal(find_of(done), LAP_MADE_SAME);
    assert_int_equal(manifest->count, 3);
    begin(); /* the change time, the photo and the place are those of the done line */
    add(begun, true);
    done.input_ctime_ns++;
    assert_int_equal(find_of(done), LAP_MADE_SAME);
    begin();
    add(begun, true);
    done.input_content++;
    assert_int_equal(find_of(done), LAP_MADE_OURS);
    begin();
    add(begun, true);
    done.input_size++;
    other_place(&done);
    assert_int_equal(find_of(done), LAP_MADE_ELSEWHERE);
    begin(); /* and the command */
    add(begun, true);
    done = line();
    done.settings = OTHERS;
    done.maker = LAP_MAKER_TRANSFORM;
    assert_int_equal(find_of(done), LAP_MADE_TURNED);
    begin(); /* a line without a place leaves the known one */
    done = line();
    done.settings = OTHERS;
    done.input_size++;
    other_place(&done);
    add(done, true);
    done.folder = NULL;
    assert_int_equal(find_of(done), LAP_MADE_ELSEWHERE);
}

/* A line of a file that differs in one fact is another record, and the first one still counts. */
static void lines_of_other_files_are_others(void **unused)
{
    (void)unused;
    for (int fact = 0; fact < 4; fact++) {
        lap_manifest_line first = line(), second = line();
        second.settings = OTHERS;
        begin();
        first.inode += fact == 0;
        second.content += fact == 1;
        second.folder = fact == 3 ? "/elsewhere" : second.folder;
        add(first, fact != 2);
        assert_int_equal(find_of(second), fact == 2 ? LAP_MADE_SAID : LAP_MADE_SAME);
        assert_int_equal(manifest->count, 3);
    }
    begin(); /* each of many is found */
    lap_manifest_line l = line();
    l.content = 5;
    for (l.inode = 1000000; l.inode < 1000020; l.inode++) {
        add(l, true);
        add_other();
    }
    add(line(), true);
    for (l.inode = 2000000; l.inode < 2000020; l.inode++)
        add(l, true);
    assert_int_equal(find(), LAP_MADE_SAME);
    begin(); /* an early version's begin line describes no file */
    l = line();
    l.has_content = l.is_done = false;
    assert_int_equal(find_of(l), LAP_MADE_UNKNOWN);
    assert_true(again == 0);
}

static void add_rival(lap_manifest_line l)
{
    assert_int_equal(lap_manifest_add(manifest, &l, true, IS_RIVAL, NULL), LAP_OK);
}

/* An earlier run made the same content; then another run with other settings made this very file. */
static void a_rival_made_what_an_earlier_run_made(void **unused)
{
    (void)unused;
    lap_manifest_line earlier = moved(), rival = line();
    earlier.settings = rival.settings = OTHERS;
    begin();
    add_rival(rival);
    assert_int_equal(find_of(earlier), LAP_MADE_MEANWHILE);

    begin(); /* no rival, if an earlier run says that it made this very file */
    earlier = rival;
    other_place(&rival);
    add_rival(rival);
    assert_int_equal(find_of(earlier), LAP_MADE_OURS);

    lap_manifest_line early = rival; /* a line of version 0.1 does not say which file it made */
    early.has_content = false;
    earlier.inode++;
    begin();
    add_rival(early);
    assert_int_equal(find_of(earlier), LAP_MADE_OURS);
    begin();
    add(early, true);
    assert_int_equal(find_of(earlier), LAP_MADE_OURS);
}

static void refusals_say_why(void **unused)
{
    (void)unused;
    static const char *const messages[] = {[LAP_MADE_UNKNOWN] = "exists and was not made by lapedge",
        [LAP_MADE_CHANGED] = "exists and was changed since lapedge made it",
        [LAP_MADE_UNBELIEVED] = "exists and its record may have been written by somebody else",
        [LAP_MADE_UNHASHED] = "exists and its record is too old to tell whether it was changed",
        [LAP_MADE_TURNED] = "exists and is a photo that lapedge rotated or mirrored, not an edge map",
        [LAP_MADE_FILTERED] = "exists and is an edge map that lapedge made, not a rotated or mirrored photo",
        [LAP_MADE_ELSEWHERE] = "exists and was made from a photo in another folder",
        [LAP_MADE_SPELT] = "exists and is spelt differently: this disk treats both names as one; rename the "
                           "photo, or the file there",
        [LAP_MADE_MEANWHILE] = "exists and was made by another run, with other settings, during this one",
        [LAP_MADE_OURS] = NULL,
        [LAP_MADE_SAID] = "exists and its record does not prove that lapedge made it"};
    for (lap_made verdict = LAP_MADE_UNKNOWN; verdict <= LAP_MADE_SAID; verdict++) {
        lap_error err;
        if (!messages[verdict])
            continue;
        assert_int_equal(lap_made_refuse(verdict, "out/a.jpg", &err), LAP_E_EXISTS);
        assert_string_equal(err.subject, "out/a.jpg");
        assert_string_equal(err.message, messages[verdict]);
        assert_int_equal(err.remedy, verdict == LAP_MADE_ELSEWHERE   ? LAP_REMEDY_OTHER_PHOTO
                                     : verdict == LAP_MADE_SPELT     ? LAP_REMEDY_NONE
                                     : verdict == LAP_MADE_MEANWHILE ? LAP_REMEDY_LATER
                                                                     : LAP_REMEDY_FORCE);
    }
}

static int make_files(void **unused)
{
    (void)unused;
    put(at("in.jpg"), "a photo");
    put(at("a.jpg"), "its edges");
    return lap_tree_open(scratch, &tree, NULL) == LAP_OK && stat(at("in.jpg"), &photo) == 0 &&
                   stat(at("a.jpg"), &made) == 0 &&
                   lap_content_hash_path(at("in.jpg"), &photo, &photo_hash, NULL) == LAP_OK &&
                   lap_content_hash_path(at("a.jpg"), &made, &made_hash, NULL) == LAP_OK
               ? 0
               : -1;
}

static int end_files(void **unused)
{
    lap_manifest_close(manifest);
    lap_tree_close(&tree);
    return remove_scratch(unused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_photo_is_up_to_date),
        cmocka_unit_test(a_photo_that_may_have_changed),
        cmocka_unit_test(another_file_is_known_by_its_content),
        cmocka_unit_test(an_output_of_another_photo_is_kept),
        cmocka_unit_test(each_command_replaces_its_own),
        cmocka_unit_test(lines_of_one_file_are_one_record),
        cmocka_unit_test(lines_of_other_files_are_others),
        cmocka_unit_test(a_rival_made_what_an_earlier_run_made),
        cmocka_unit_test(refusals_say_why),
    };
    if (!make_scratch())
        return 99;
    return cmocka_run_group_tests(tests, make_files, end_files);
}
