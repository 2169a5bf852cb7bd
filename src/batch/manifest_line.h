/* One line of a record: a flat JSON object. Reading works in place and needs no memory, so that a valid line
 * is never rejected because memory ran out. Writing appends to a queue. */
#ifndef LAP_MANIFEST_LINE_H
#define LAP_MANIFEST_LINE_H

#include <limits.h>
#include <sys/stat.h>

#include "lapedge.h"

/* The longest line that lapedge writes: it has three paths, and each byte of a path may become three
 * (%XX). */
enum { LAP_MANIFEST_LINE = 10 * PATH_MAX };

typedef enum lap_maker { /* the command that made an output */
    LAP_MAKER_UNKNOWN,   /* lines of early versions do not name it */
    LAP_MAKER_RUN,
    LAP_MAKER_TRANSFORM
} lap_maker;

/* What a line says about an output and its input. A fact that the line lacks is 0 or NULL. */
typedef struct lap_manifest_line {
    bool is_done; /* false: a "begin" line */
    lap_maker maker;
    uint64_t settings; /* hash of the settings */
    const char *output;
    int64_t device, inode, size, mtime_s, mtime_ns; /* identity of the output */
    bool has_content;
    uint64_t content;  /* XXH3 of the output */
    const char *input; /* the name as given */
    int64_t input_size, input_mtime_s, input_mtime_ns;
    int64_t input_ctime_s, input_ctime_ns; /* lines of version 0.1 lack these and the next two */
    bool has_input_content;
    uint64_t input_content; /* XXH3 of the input */
    const char *folder;     /* absolute name, without links, of the folder in which the input was found */
    int64_t folder_device, folder_inode;
    int64_t below; /* how many bytes at the end of input are its path below that folder */
} lap_manifest_line;

/* Makes a "begin" line with the facts of an output; the caller adds the maker. */
lap_manifest_line lap_manifest_line_of(
    uint64_t settings, const char *output, const struct stat *made, uint64_t content);

/* Parses a line without its newline. The strings of *line point into text, which is changed and needs one
 * more byte after it. Returns false if this is not a line of a record: it is incomplete, another program
 * wrote it, or it names no output. */
bool lap_manifest_line_read(char *text, size_t length, lap_manifest_line *line);

typedef struct lap_manifest_queue { /* all zero: empty */
    char *bytes;
    size_t used, capacity;
} lap_manifest_queue;

/* Appends a line and a newline, or nothing on failure: LAP_E_MEMORY. */
lap_code lap_manifest_line_write(lap_manifest_queue *queue, const lap_manifest_line *line, lap_error *err);

#endif
