/* A file of records in OUTDIR/.lapedge with any bytes: read without harm, and new lines behind it are
 * understood. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch/manifest.h"
#include "fuzz.h"
#include "tests/support/temporary.h"

#define LINE(event, name)                                                                    \
    "{\"event\":\"" event "\",\"settings\":\"0000000000000007\",\"output\":\"" name          \
    "\",\"output_device\":5,\"output_inode\":7,"                                             \
    "\"output_size\":9,\"output_mtime_s\":1700000000,\"output_mtime_ns\":1,\"output_hash\":" \
    "\"0000000000000063\","                                                                  \
    "\"input\":\"in/" name "\",\"input_folder\":\"/"                                         \
    "in\",\"input_folder_inode\":9,\"input_below\":5,\"input_size\":1000,\"input_"           \
    "mtime_s\":1700000000,\"input_mtime_ns\":123}\n"

const char *const fuzz_texts[] = {LINE("begin", "a.jpg") LINE("done", "a.jpg"),
    LINE("done", "caf\\u00e9.jpg"), "{\"event\":\"done\"}\n[]\n{}\nnull\n\n\"x\"\n",
    LINE("begin", "sub/b.jpg") "{\"event\":\"do", NULL};

static lap_tree tree;
static char folder[TEMPORARY_PATH], file[TEMPORARY_PATH + 64];

static void remove_folder(void)
{
    char command[TEMPORARY_PATH + 64];
    lap_tree_close(&tree);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    FUZZ_REQUIRE(system(command) == 0);
}

static void make_folder(void)
{
    char inner[TEMPORARY_PATH + 64];
    FUZZ_REQUIRE(mkdtemp(temporary(folder, "fuzz")));
    snprintf(inner, sizeof inner, "%s/.lapedge", folder);
    snprintf(file, sizeof file, "%s/.lapedge/20200101T000000.jsonl", folder);
    FUZZ_REQUIRE(mkdir(inner, 0700) == 0 && lap_tree_open(folder, &tree, NULL) == LAP_OK);
    atexit(remove_folder);
}

/* What is understood is understood again from what is written of it. */
static lap_code each_line(void *user, const lap_manifest_line *line, lap_error *err)
{
    lap_manifest_queue queue = {0};
    lap_manifest_line again;
    (void)user;
    FUZZ_REQUIRE(line->output[0] && line->input && line->is_done);
    FUZZ_REQUIRE(lap_manifest_line_write(&queue, line, err) == LAP_OK);
    FUZZ_REQUIRE(lap_manifest_line_read(queue.bytes, queue.used - 1, &again));
    FUZZ_REQUIRE(strcmp(again.output, line->output) == 0 && strcmp(again.input, line->input) == 0);
    FUZZ_REQUIRE(again.size == line->size && again.inode == line->inode && again.content == line->content);
    FUZZ_REQUIRE(
        (again.folder == NULL) == (line->folder == NULL) && again.below == (line->folder ? line->below : 0));
    free(queue.bytes);
    return LAP_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct stat input = {.st_size = 1000, .st_mtim = {.tv_sec = 1700000000, .tv_nsec = 123}};
    static const struct stat there = {.st_dev = 5,
        .st_ino = 7,
        .st_size = 9,
        .st_mtim = {.tv_sec = 1700000000, .tv_nsec = 1},
        .st_mode = S_IFREG};
    static const char *const names[] = {"a.jpg", "caf\xc3\xa9.jpg", "sub/b.jpg", "never.jpg"};
    if (!file[0])
        make_folder();
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    FUZZ_REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0);
    lap_manifest *manifest = NULL;
    lap_error err = {0};
    const lap_settings_mark mark = {.hashes = {6, 7, 8}, .fail_on = LAP_FAIL_TRUNCATED};
    lap_code code = lap_manifest_open(&tree, &mark, &manifest, &err);
    FUZZ_REQUIRE((code == LAP_OK) == (manifest != NULL));
    if (code != LAP_OK)
        return 0;
    uint64_t content;
    lap_made made;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const lap_standing standing = {names[i], AT_FDCWD, &there, {"in.jpg", &input, NULL, 0, NULL}};
        FUZZ_REQUIRE(lap_manifest_find(manifest, &standing, &made, &content, &err) == LAP_OK);
        FUZZ_REQUIRE(made <= LAP_MADE_SAME && content == 0);
    }
    FUZZ_REQUIRE(lap_manifest_each(manifest, each_line, NULL, &err) == LAP_OK);
    FUZZ_REQUIRE(lap_manifest_refresh(manifest, &err) == LAP_OK);
    lap_manifest_close(manifest);
    return 0;
}
