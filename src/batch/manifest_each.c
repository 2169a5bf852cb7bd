/* The manifest once more, line by line, for those who need the names in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "batch/manifest_state.h"

char *lap_manifest_path(const json_t *line, const char *name, const char *raw_name)
{
    const char *path = json_string_value(json_object_get(line, name));
    if (path)
        return strdup(path);
    const char *raw = json_string_value(json_object_get(line, raw_name));
    char *decoded = raw ? malloc(strlen(raw) + 1) : NULL, *to = decoded;
    if (!decoded)
        return NULL;
    for (unsigned byte; *raw; raw++)
        if (*raw == '%' && sscanf(raw + 1, "%2x", &byte) == 1 && raw[1] && raw[2]) {
            *to++ = (char)byte;
            raw += 2;
        } else {
            *to++ = *raw;
        }
    *to = 0;
    return decoded;
}

static int64_t integer(const json_t *line, const char *name)
{
    return json_integer_value(json_object_get(line, name));
}

static lap_code give(const char *text, lap_manifest_fn *each, void *user, lap_error *err)
{
    lap_code code = LAP_OK;
    json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const char *event = json_string_value(json_object_get(line, "event"));
    if (event && strcmp(event, "done") == 0) {
        char *output = lap_manifest_path(line, "output", "output_raw"),
             *input = lap_manifest_path(line, "input", "input_raw");
        const lap_manifest_line found = {output, input, integer(line, "output_inode"),
            integer(line, "output_size"), integer(line, "output_mtime_s"), integer(line, "output_mtime_ns")};
        code = output && input ? each(user, &found, err) : LAP_OK;
        free(output);
        free(input);
    }
    json_decref(line);
    return code;
}

/* Lines that do not fit are none of ours, nor is what follows of them. */
static lap_code read_lines(FILE *file, lap_manifest_fn *each, void *user, lap_error *err)
{
    lap_code code = LAP_OK;
    bool was_whole = true;
    char *text = malloc(LAP_MANIFEST_LINE);
    if (!text)
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
    while (code == LAP_OK && fgets(text, LAP_MANIFEST_LINE, file)) {
        const bool is_whole = strchr(text, '\n') != NULL;
        if (is_whole && was_whole)
            code = give(text, each, user, err);
        was_whole = is_whole;
    }
    free(text);
    return code;
}

/* A stream gives up where a signal interrupts it; reading a record does not. */
static ssize_t read_on(void *fd, char *bytes, size_t size)
{
    ssize_t got;
    do
        got = read(*(const int *)fd, bytes, size);
    while (got < 0 && errno == EINTR);
    return got;
}

lap_code lap_manifest_each(lap_manifest *m, lap_manifest_fn *each, void *user, lap_error *err)
{
    lap_code code = lap_manifest_refresh(m, err);
    for (size_t i = 0; i < m->file_count && code == LAP_OK; i++) {
        int fd = openat(m->folder, m->files[i].name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0 && (errno == ENOENT || errno == ELOOP))
            continue; /* gone meanwhile, or a link: it says nothing */
        FILE *file = fd < 0 ? NULL : fopencookie(&fd, "r", (cookie_io_functions_t){.read = read_on});
        code = file ? read_lines(file, each, user, err) : LAP_OK;
        if (!file || (code == LAP_OK && ferror(file)))
            code =
                lap_fail_at(err, LAP_E_UNREADABLE, m->shown, "%.60s: %s", m->files[i].name, strerror(errno));
        if (file)
            fclose(file);
        if (fd >= 0)
            close(fd);
    }
    return code;
}
