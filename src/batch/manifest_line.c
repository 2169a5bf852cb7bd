#include "batch/manifest_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"

/* ---- reading: JSON, in place --------------------------------------------------------------------- */

/* The text ends with a null byte. No function reads past a null byte, there or earlier. */
typedef struct reader {
    char *at;
} reader;

static char next_mark(reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
    return *r->at;
}

static bool take(reader *r, char mark)
{
    if (next_mark(r) != mark)
        return false;
    r->at++;
    return true;
}

static const char hexadecimal[] = "0123456789abcdefABCDEF";

/* Reads four hexadecimal digits; -1: these are not hexadecimal digits. */
static long read_unit(reader *r)
{
    char digits[5] = "";
    memcpy(digits, r->at, strnlen(r->at, 4));
    if (strspn(digits, hexadecimal) < 4)
        return -1;
    r->at += 4;
    return strtol(digits, NULL, 16);
}

/* Reads \uXXXX or a surrogate pair, and writes it as UTF-8. False for NUL and half a pair. */
static bool read_escaped(reader *r, char **to)
{
    long code = read_unit(r);
    if (code >= 0xd800 && code < 0xdc00) {
        if (strncmp(r->at, "\\u", 2) != 0)
            return false;
        r->at += 2;
        const long low = read_unit(r);
        if (low < 0xdc00 || low > 0xdfff)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code <= 0 || (code >= 0xdc00 && code < 0xe000)) {
        return false;
    }
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const int first[] = {0, 0xc0, 0xe0, 0xf0};
    *(*to)++ = (char)(first[more] | (int)(code >> 6 * more));
    for (int i = more; i-- > 0;)
        *(*to)++ = (char)(0x80 | (int)(code >> 6 * i & 0x3f));
    return true;
}

/* Reads a string and removes quotes and escapes in place; NULL: this is not a string. */
static char *read_string(reader *r)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (!take(r, '"'))
        return NULL;
    char *const begin = r->at, *to = begin;
    for (char byte; (byte = *r->at++) != '"';) {
        if ((unsigned char)byte < 0x20)
            return NULL;
        if (byte != '\\') {
            *to++ = byte;
            continue;
        }
        const char escape = *r->at++;
        const char *known = escape ? strchr(escapes, escape) : NULL;
        if (known)
            *to++ = meant[known - escapes];
        else if (escape != 'u' || !read_escaped(r, &to))
            return NULL;
    }
    *to = '\0';
    return begin;
}

static bool read_integer(reader *r, int64_t *value)
{
    char *end;
    if (!strchr("-0123456789", next_mark(r)))
        return false;
    errno = 0;
    *value = strtoll(r->at, &end, 10);
    r->at = end;
    return !errno && *end && strchr(",} \t\r\n", *end);
}

/* Skips a value of an unknown name; checks that brackets match and strings end. */
static bool skip_value(reader *r)
{
    int depth = 0;
    do {
        const char mark = next_mark(r);
        if (mark == '"') {
            if (!read_string(r))
                return false;
            continue;
        }
        if (!mark || (depth == 0 && strchr(",}]", mark)))
            return false;
        depth += mark == '[' || mark == '{';
        depth -= mark == ']' || mark == '}';
        r->at++;
        if (depth == 0 && !strchr("]}", mark))
            r->at += strcspn(r->at, ",]} \t\r\n");
    } while (depth > 0);
    return true;
}

/* ---- reading: a line ----------------------------------------------------------------------------- */

typedef enum fact_kind { TEXT, INTEGER, HEX } fact_kind;

typedef struct fact {
    const char *name;
    fact_kind kind;
    size_t at; /* offset in found_line */
} fact;

typedef struct found_line {
    lap_manifest_line line;
    const char *event, *command, *settings, *content, *input_content;
    char *output_raw, *input_raw, *folder_raw;
} found_line;

static const fact facts[] = {
    {"event", TEXT, offsetof(found_line, event)},
    {"command", TEXT, offsetof(found_line, command)},
    {"settings", TEXT, offsetof(found_line, settings)},
    {"output", TEXT, offsetof(found_line, line.output)},
    {"output_raw", TEXT, offsetof(found_line, output_raw)},
    {"output_device", INTEGER, offsetof(found_line, line.device)},
    {"output_inode", INTEGER, offsetof(found_line, line.inode)},
    {"output_size", INTEGER, offsetof(found_line, line.size)},
    {"output_mtime_s", INTEGER, offsetof(found_line, line.mtime_s)},
    {"output_mtime_ns", INTEGER, offsetof(found_line, line.mtime_ns)},
    {"output_hash", TEXT, offsetof(found_line, content)},
    {"input", TEXT, offsetof(found_line, line.input)},
    {"input_raw", TEXT, offsetof(found_line, input_raw)},
    {"input_size", INTEGER, offsetof(found_line, line.input_size)},
    {"input_mtime_s", INTEGER, offsetof(found_line, line.input_mtime_s)},
    {"input_mtime_ns", INTEGER, offsetof(found_line, line.input_mtime_ns)},
    {"input_ctime_s", INTEGER, offsetof(found_line, line.input_ctime_s)},
    {"input_ctime_ns", INTEGER, offsetof(found_line, line.input_ctime_ns)},
    {"input_hash", TEXT, offsetof(found_line, input_content)},
    {"input_folder", TEXT, offsetof(found_line, line.folder)},
    {"input_folder_raw", TEXT, offsetof(found_line, folder_raw)},
    {"input_folder_device", INTEGER, offsetof(found_line, line.folder_device)},
    {"input_folder_inode", INTEGER, offsetof(found_line, line.folder_inode)},
    {"input_below", INTEGER, offsetof(found_line, line.below)},
};
enum { FACTS = sizeof facts / sizeof *facts };

/* Reads the value of a name. If a name occurs twice, the line is invalid. */
static bool read_value(reader *r, const char *name, found_line *found, uint32_t *seen)
{
    size_t i = 0;
    while (i < FACTS && strcmp(facts[i].name, name) != 0)
        i++;
    if (i == FACTS)
        return skip_value(r);
    if (*seen & 1u << i)
        return false;
    *seen |= 1u << i;
    void *to = (char *)found + facts[i].at;
    if (facts[i].kind == INTEGER)
        return read_integer(r, to);
    char *text = read_string(r);
    memcpy(to, &text, sizeof text);
    return text != NULL;
}

static bool read_object(char *text, size_t length, found_line *found)
{
    reader r = {text};
    uint32_t seen = 0;
    if (!take(&r, '{'))
        return false;
    do {
        const char *name = read_string(&r);
        if (!name || !take(&r, ':') || !read_value(&r, name, found, &seen))
            return false;
    } while (take(&r, ','));
    return take(&r, '}') && next_mark(&r) == '\0' && r.at == text + length;
}

/* The names of the commands in lines, indexed by lap_maker. */
static const char *const makers[] = {NULL, "run", "transform"};

static lap_maker maker_of(const char *command)
{
    lap_maker maker = LAP_MAKER_TRANSFORM;
    while (command && maker != LAP_MAKER_UNKNOWN && strcmp(command, makers[maker]) != 0)
        maker--;
    return command ? maker : LAP_MAKER_UNKNOWN;
}

/* Decodes %XX in place, but not %00, because no path contains a null byte; NULL stays NULL. */
static const char *decoded(char *raw)
{
    char *to = raw;
    for (const char *from = raw; from && *from;) {
        const char digits[3] = {from[1], from[1] ? from[2] : '\0'};
        const long byte = *from == '%' && strspn(digits, hexadecimal) == 2 ? strtol(digits, NULL, 16) : 0;
        *to++ = byte ? (char)byte : *from;
        from += byte ? 3 : 1;
    }
    if (to)
        *to = '\0';
    return raw;
}

bool lap_manifest_line_read(char *text, size_t length, lap_manifest_line *line)
{
    found_line found = {0};
    text[length] = '\0';
    if (!read_object(text, length, &found) || !found.event || !found.settings)
        return false;
    *line = found.line;
    line->is_done = strcmp(found.event, "done") == 0;
    line->maker = maker_of(found.command);
    line->settings = strtoull(found.settings, NULL, 16);
    line->has_content = found.content != NULL;
    line->content = found.content ? strtoull(found.content, NULL, 16) : 0;
    line->has_input_content = found.input_content != NULL;
    line->input_content = found.input_content ? strtoull(found.input_content, NULL, 16) : 0;
    line->output = line->output ? line->output : decoded(found.output_raw);
    line->input = line->input ? line->input : decoded(found.input_raw);
    line->folder = line->folder ? line->folder : decoded(found.folder_raw);
    if (!line->folder || line->folder[0] != '/' || !line->input || line->below <= 0 ||
        (uint64_t)line->below > strlen(line->input))
        line->folder = NULL;
    return line->output && line->output[0];
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Returns the length of a UTF-8 character; 0: the bytes are not valid UTF-8. */
static size_t character(const unsigned char *text)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char byte = text[0]; /* 0xc0 and 0xc1 could only encode values below 0x80 */
    const size_t size = byte < 0x80   ? 1
                        : byte < 0xc2 ? 0
                        : byte < 0xe0 ? 2
                        : byte < 0xf0 ? 3
                        : byte < 0xf8 ? 4
                                      : 0;
    unsigned code = byte & (size == 1 ? 0x7fu : 0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    const bool is_one = code >= least[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return is_one ? size : 0;
}

/* Whether a path can be written to a line if only quotes and backslashes are escaped. */
static bool is_text(const char *path)
{
    const unsigned char *at = (const unsigned char *)path;
    for (size_t size; *at; at += size)
        if (*at < 0x20 || (size = character(at)) == 0)
            return false;
    return true;
}

typedef struct writer {
    lap_manifest_queue *queue;
    bool is_full; /* out of memory: nothing more is written */
} writer;

static void put(writer *w, const char *bytes, size_t size)
{
    lap_manifest_queue *q = w->queue;
    size_t wanted;
    char *grown = NULL;
    if (!w->is_full && lap_add(q->used, size, &wanted))
        grown = lap_grow(q->bytes, &q->capacity, wanted, 1);
    w->is_full = grown == NULL;
    if (w->is_full)
        return;
    q->bytes = grown;
    memcpy(q->bytes + q->used, bytes, size);
    q->used = wanted;
}

__attribute__((format(printf, 2, 3))) static void put_facts(writer *w, const char *format, ...)
{
    char text[400];
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    put(w, text, (size_t)length);
}

/* Paths need not be UTF-8, but JSON strings must be. So a path that is not UTF-8 is percent-encoded under
 * NAME_raw. */
static void put_path(writer *w, const char *name, const char *path)
{
    const bool plain = is_text(path);
    put_facts(w, ",\"%s%s\":\"", name, plain ? "" : "_raw");
    for (const char *p = path; *p; p++) {
        const unsigned char byte = (unsigned char)*p;
        if (plain && (byte == '"' || byte == '\\'))
            put(w, "\\", 1);
        if (!plain && (byte < 0x21 || byte > 0x7e || strchr("%\"\\", byte)))
            put_facts(w, "%%%02X", byte);
        else
            put(w, p, 1);
    }
    put(w, "\"", 1);
}

lap_code lap_manifest_line_write(lap_manifest_queue *queue, const lap_manifest_line *line, lap_error *err)
{
    writer w = {.queue = queue};
    const size_t before = queue->used;
    put_facts(&w, "{\"schema\":\"lapedge.manifest/1\",\"event\":\"%s\"", line->is_done ? "done" : "begin");
    if (line->maker != LAP_MAKER_UNKNOWN)
        put_facts(&w, ",\"command\":\"%s\"", makers[line->maker]);
    put_path(&w, "output", line->output);
    put_facts(&w,
        ",\"settings\":\"%016" PRIx64 "\",\"output_device\":%" PRId64 ",\"output_inode\":%" PRId64
        ",\"output_size\":%" PRId64 ",\"output_mtime_s\":%" PRId64 ",\"output_mtime_ns\":%" PRId64
        ",\"output_hash\":\"%016" PRIx64 "\"",
        line->settings, line->device, line->inode, line->size, line->mtime_s, line->mtime_ns, line->content);
    if (line->is_done) {
        put_path(&w, "input", line->input);
        put_facts(&w, ",\"input_size\":%" PRId64 ",\"input_mtime_s\":%" PRId64 ",\"input_mtime_ns\":%" PRId64,
            line->input_size, line->input_mtime_s, line->input_mtime_ns);
        put_facts(&w, ",\"input_ctime_s\":%" PRId64 ",\"input_ctime_ns\":%" PRId64, line->input_ctime_s,
            line->input_ctime_ns);
    }
    if (line->is_done && line->has_input_content)
        put_facts(&w, ",\"input_hash\":\"%016" PRIx64 "\"", line->input_content);
    if (line->is_done && line->folder) {
        put_path(&w, "input_folder", line->folder);
        put_facts(&w,
            ",\"input_folder_device\":%" PRId64 ",\"input_folder_inode\":%" PRId64
            ",\"input_below\":%" PRId64,
            line->folder_device, line->folder_inode, line->below);
    }
    put(&w, "}\n", 2);
    if (!w.is_full)
        return LAP_OK;
    queue->used = before;
    return lap_fail(err, LAP_E_MEMORY, "out of memory for the manifest");
}

lap_manifest_line lap_manifest_line_of(
    uint64_t settings, const char *output, const struct stat *made, uint64_t content)
{
    return (lap_manifest_line){.settings = settings,
        .output = output,
        .device = (int64_t)made->st_dev,
        .inode = (int64_t)made->st_ino,
        .size = made->st_size,
        .mtime_s = made->st_mtim.tv_sec,
        .mtime_ns = made->st_mtim.tv_nsec,
        .has_content = true,
        .content = content};
}
