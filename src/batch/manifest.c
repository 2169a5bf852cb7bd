#include "batch/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "io/map64.h"

struct lap_manifest {
    char *folder; /* OUTDIR/.lapedge */
    uint64_t settings_hash;
    lap_map64 made; /* hash of an output's path -> fingerprint of what it was made from; 0: only begun */
    int fd;
    char *queue;
    size_t queued, queue_capacity;
    off_t size; /* of the file's whole lines */
};

static uint64_t hash_path(const char *path)
{
    return lap_map64_key(path, strlen(path));
}

/* Size and nanosecond time tell a changed input; its path does not count, so that the same folder named
 * in another way is not done twice. */
static uint64_t fingerprint(
    uint64_t settings, int64_t size, int64_t seconds, int64_t nanoseconds, int64_t out_size)
{
    const int64_t facts[] = {(int64_t)settings, size, seconds, nanoseconds, out_size};
    return lap_map64_key(facts, sizeof facts);
}

/* Paths need not be UTF-8, JSON strings must be: other bytes travel percent-encoded under NAME_raw. */
static void set_path(json_t *line, const char *name, const char *raw_name, const char *path)
{
    json_t *text = json_string(path);
    if (text) {
        json_object_set_new(line, name, text);
        return;
    }
    char *encoded = malloc(3 * strlen(path) + 1), *to = encoded;
    if (!encoded)
        return;
    for (const unsigned char *p = (const unsigned char *)path; *p; p++)
        to += *p < 0x21 || *p > 0x7e || *p == '%' ? sprintf(to, "%%%02X", *p) : sprintf(to, "%c", *p);
    json_object_set_new(line, raw_name, json_string(encoded));
    free(encoded);
}

static bool get_path(const json_t *line, const char *name, const char *raw_name, uint64_t *hash)
{
    const char *path = json_string_value(json_object_get(line, name));
    if (path) {
        *hash = hash_path(path);
        return true;
    }
    const char *raw = json_string_value(json_object_get(line, raw_name));
    char *decoded = raw ? malloc(strlen(raw) + 1) : NULL, *to = decoded;
    if (!decoded)
        return false;
    for (unsigned byte; *raw; raw++)
        if (*raw == '%' && sscanf(raw + 1, "%2x", &byte) == 1 && raw[1] && raw[2]) {
            *to++ = (char)byte;
            raw += 2;
        } else {
            *to++ = *raw;
        }
    *to = 0;
    *hash = hash_path(decoded);
    free(decoded);
    return true;
}

static int64_t integer(const json_t *line, const char *name)
{
    return json_integer_value(json_object_get(line, name));
}

static lap_code read_line(lap_manifest *m, const char *text, size_t length, lap_error *err)
{
    lap_code code = LAP_OK;
    uint64_t output;
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const char *event = json_string_value(json_object_get(line, "event"));
    const char *settings = json_string_value(json_object_get(line, "settings"));
    /* A line that a crash cut short parses as nothing, and says nothing. */
    if (event && settings && get_path(line, "output", "output_raw", &output)) {
        uint64_t made = 0;
        if (!strcmp(event, "done"))
            made = fingerprint(strtoull(settings, NULL, 16), integer(line, "input_size"),
                integer(line, "input_mtime_s"), integer(line, "input_mtime_ns"),
                integer(line, "output_size"));
        code = lap_map64_put(&m->made, output, made, err);
    }
    json_decref(line);
    return code;
}

static lap_code read_file(lap_manifest *m, int folder, const char *name, lap_error *err)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file) {
        lap_code code = lap_fail_at(err, LAP_E_UNREADABLE, m->folder, "%.60s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return code;
    }
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    lap_code code = LAP_OK;
    while (code == LAP_OK && (length = getline(&line, &capacity, file)) > 0)
        code = read_line(m, line, (size_t)length, err);
    if (code == LAP_OK && ferror(file) && errno != EISDIR)
        code = lap_fail_at(err, LAP_E_UNREADABLE, m->folder, "%.60s: %s", name, strerror(errno));
    free(line);
    fclose(file);
    return code;
}

static int is_manifest(const struct dirent *d)
{
    size_t length = strlen(d->d_name);
    return length > 6 && !strcmp(d->d_name + length - 6, ".jsonl");
}

static void close_file(lap_manifest *m)
{
    if (m->fd < 0)
        return;
    if (ftruncate(m->fd, m->size)) /* gives back what was set aside */
        errno = 0;
    close(m->fd); /* its last lines only save work: whoever misses them does it again */
    m->fd = -1;
}

lap_code lap_manifest_open(
    const char *out_dir, uint64_t settings_hash, lap_manifest **manifest, lap_error *err)
{
    lap_code code = LAP_OK;
    struct dirent **names = NULL;
    lap_manifest *m = calloc(1, sizeof *m);
    *manifest = NULL;
    if (!m || asprintf(&m->folder, "%s/.lapedge", out_dir) < 0) {
        free(m);
        return lap_fail(err, LAP_E_MEMORY, "out of memory");
    }
    m->settings_hash = settings_hash;
    m->fd = -1;
    int folder = open(m->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        /* Names begin with the time of their run: later lines overrule earlier ones. */
        int count = scandirat(folder, ".", &names, is_manifest, alphasort);
        if (count < 0)
            code = lap_fail_at(err, LAP_E_UNREADABLE, m->folder, "%s", strerror(errno));
        for (int i = 0; i < count; i++) {
            if (code == LAP_OK)
                code = read_file(m, folder, names[i]->d_name, err);
            free(names[i]);
        }
        free(names);
        close(folder);
    } else if (errno != ENOENT) {
        code = lap_fail_at(err, LAP_E_WRITE, m->folder, "%s", strerror(errno));
    }
    if (code != LAP_OK) {
        lap_manifest_close(m);
        return code;
    }
    *manifest = m;
    return LAP_OK;
}

void lap_manifest_close(lap_manifest *m)
{
    if (!m)
        return;
    close_file(m);
    free(m->folder);
    lap_map64_free(&m->made);
    free(m->queue);
    free(m);
}

lap_made lap_manifest_find(const lap_manifest *m, const char *output, const struct stat *in, off_t out_size)
{
    const uint64_t *made = lap_map64_find(&m->made, hash_path(output));
    if (!made)
        return LAP_MADE_UNKNOWN;
    uint64_t now =
        fingerprint(m->settings_hash, in->st_size, in->st_mtim.tv_sec, in->st_mtim.tv_nsec, out_size);
    return *made == now ? LAP_MADE_SAME : LAP_MADE_OURS;
}

static lap_code queue_line(lap_manifest *m, json_t *line, lap_error *err)
{
    size_t length = line ? json_dumpb(line, NULL, 0, JSON_COMPACT) : 0;
    if (length && m->queued + length + 1 > m->queue_capacity) {
        size_t capacity = 2 * (m->queued + length + 1);
        char *grown = realloc(m->queue, capacity);
        if (grown) {
            m->queue = grown;
            m->queue_capacity = capacity;
        }
    }
    if (!length || m->queued + length + 1 > m->queue_capacity) {
        json_decref(line);
        return lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
    }
    json_dumpb(line, m->queue + m->queued, length, JSON_COMPACT);
    m->queued += length;
    m->queue[m->queued++] = '\n';
    json_decref(line);
    return LAP_OK;
}

static json_t *new_line(const lap_manifest *m, const char *event, const char *output)
{
    char settings[17];
    snprintf(settings, sizeof settings, "%016" PRIx64, m->settings_hash);
    json_t *line = json_pack("{s:s, s:s}", "schema", "lapedge.manifest/1", "event", event);
    if (line) {
        set_path(line, "output", "output_raw", output);
        json_object_set_new(line, "settings", json_string(settings));
    }
    return line;
}

lap_code lap_manifest_begin(lap_manifest *m, const char *output, lap_error *err)
{
    return queue_line(m, new_line(m, "begin", output), err);
}

lap_code lap_manifest_done(lap_manifest *m, const char *output, const char *input, const struct stat *in,
    uint64_t out_size, lap_error *err)
{
    json_t *line = new_line(m, "done", output);
    if (line) {
        set_path(line, "input", "input_raw", input);
        json_object_set_new(line, "input_size", json_integer(in->st_size));
        json_object_set_new(line, "input_mtime_s", json_integer(in->st_mtim.tv_sec));
        json_object_set_new(line, "input_mtime_ns", json_integer(in->st_mtim.tv_nsec));
        json_object_set_new(line, "output_size", json_integer((json_int_t)out_size));
    }
    return queue_line(m, line, err);
}

/* 20261231T235959.123456789-host-pid.jsonl: sorts by time, and no two runs share one. */
static lap_code make_file(lap_manifest *m, lap_error *err)
{
    char name[160], host[64] = "host", stamp[32];
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gethostname(host, sizeof host - 1);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", gmtime_r(&now.tv_sec, &utc));
    for (char *p = host; *p; p++)
        if (*p == '/' || (unsigned char)*p < 0x21)
            *p = '_';
    snprintf(name, sizeof name, "%s.%09ld-%s-%ld.jsonl", stamp, now.tv_nsec, host, (long)getpid());
    if (mkdir(m->folder, 0777) && errno != EEXIST)
        return lap_fail_at(err, LAP_E_WRITE, m->folder, "%s", strerror(errno));
    int folder = open(m->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0)
        m->fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    const int why = errno; /* closing may set it too */
    if (folder >= 0)
        close(folder);
    if (m->fd < 0)
        return lap_fail_at(err, why == ENOSPC || why == EDQUOT ? LAP_E_DISK_FULL : LAP_E_WRITE, m->folder,
            "%s: %s", name, strerror(why));
    m->size = 0;
    return LAP_OK;
}

static lap_code fail_writing(const lap_manifest *m, lap_error *err)
{
    bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    return lap_fail_at(err, full ? LAP_E_DISK_FULL : LAP_E_WRITE, m->folder, "%s", strerror(errno));
}

static lap_code write_queue(lap_manifest *m, lap_error *err)
{
    for (size_t at = 0; at < m->queued;) {
        ssize_t wrote = write(m->fd, m->queue + at, m->queued - at);
        if (wrote < 0 && errno != EINTR) {
            lap_code code = fail_writing(m, err);
            if (ftruncate(m->fd, m->size)) /* half a line would spoil the next one: start a new file */
                close_file(m);
            return code;
        }
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    m->size += (off_t)m->queued;
    return LAP_OK;
}

lap_code lap_manifest_flush(lap_manifest *m, bool sync, size_t ahead, lap_error *err)
{
    lap_code code = m->queued && m->fd < 0 ? make_file(m, err) : LAP_OK;
    if (code == LAP_OK && ahead &&
        fallocate(m->fd, FALLOC_FL_KEEP_SIZE, m->size, (off_t)(m->queued + ahead)) && errno == ENOSPC)
        code = fail_writing(m, err);
    if (code == LAP_OK)
        code = write_queue(m, err);
    m->queued = 0;
    if (code == LAP_OK && sync && m->fd >= 0 && fdatasync(m->fd))
        code = fail_writing(m, err);
    return code;
}
