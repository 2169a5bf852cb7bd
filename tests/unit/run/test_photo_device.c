/* The end of a photo's way by a device: its file is there, complete, or nothing is. */
#include "tests/support/scratch.h"

#include "base/status.h"
#include "run/photo_device.h"

static int files_in(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(dir);
    return count;
}

/* If the photo has changed since it was read, nothing is left of its output, and no descriptor open. */
static void what_a_device_did_is_stored(void **unused)
{
    (void)unused;
    static uint8_t header[] = {'h', 'e', 'a', 'd'}, scan[] = {'s', 'c', 'a', 'n'};
    lap_tree tree;
    lap_cuda_jpeg_encoded encoded = {.bytes = sizeof scan};
    lap_device_staging staging = {.scan = {.bytes = scan, .room = sizeof scan}, .encoded = &encoded};
    assert_int_equal(lap_tree_open(scratch, &tree, NULL), LAP_OK);
    for (int changed = 1; changed >= 0; changed--) {
        lap_async_run f = {.in = "in.jpg",
            .staging = &staging,
            .header = {.data = header, .size = sizeof header},
            .began_ms = lap_now_ms()};
        const lap_run_order order = {.in = "in.jpg", .tree = &tree, .out = "o.jpg"};
        lap_sink *sink = NULL;
        lap_report report;
        lap_error err = {0};
        put(at("in.jpg"), "a photo");
        assert_int_equal(lap_source_open(at("in.jpg"), &f.photo.source, NULL), LAP_OK);
        if (changed)
            put(at("in.jpg"), "another photo");
        const int before = files_in("/proc/self/fd");
        const lap_code code = lap_async_run_store(&f, &order, NULL, &sink, &report, &err);
        assert_int_equal(code, changed ? LAP_E_CHANGED : LAP_OK);
        assert_int_equal(report.status, changed ? LAP_FAILED : LAP_DONE);
        assert_int_equal(report.error.code, code);
        if (changed) {
            assert_null(sink);
            assert_int_equal(files_in("/proc/self/fd"), before);
            assert_int_equal(files_in(scratch), 1);
        } else {
            assert_int_equal(report.bytes_out, 10);
            assert_int_equal(lap_sink_publish(sink, NULL), LAP_OK);
            lap_sink_close(sink);
            assert_holds(at("o.jpg"), "headscan\xff\xd9");
        }
        lap_source_close(f.photo.source);
    }
    lap_tree_close(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_device_did_is_stored)};
    if (!make_scratch())
        return 99;
    return cmocka_run_group_tests(tests, NULL, remove_scratch);
}
