/* One line of a record: a flat JSON object. It is read in place and written into a queue, so that reading
 * needs no memory at all: a line is never taken for a bad one because memory ran out. */
#ifndef LAP_MANIFEST_LINE_H
#define LAP_MANIFEST_LINE_H

#include <limits.h>
#include <sys/stat.h>

#include "lapedge.h"

/* Longer lines are not ours: three paths, each byte of which may become three. */
enum { LAP_MANIFEST_LINE = 10 * PATH_MAX };

/* What became of an output, and from which input. A fact that a line does not have is 0 or NULL. */
typedef struct lap_manifest_line {
    bool is_done;      /* else only begun */
    uint64_t settings; /* hash of the settings */
    const char *output;
    int64_t device, inode, size, mtime_s, mtime_ns; /* of the output */
    bool has_content;
    uint64_t content;  /* XXH3 of the output */
    const char *input; /* as it was named */
    int64_t input_size, input_mtime_s, input_mtime_ns;
    const char *folder; /* absolute name, without links, of the folder that the input was found in */
    int64_t folder_device, folder_inode;
    int64_t below; /* so many bytes at the end of input are its path below that folder */
} lap_manifest_line;

/* A line that is begun: the facts of an output. */
lap_manifest_line lap_manifest_line_of(
    uint64_t settings, const char *output, const struct stat *made, uint64_t content);

/* Reads the text of a line, without its newline. The strings of *line point into the text, which is changed
 * and has one more byte of room behind it. False where it is no line of a record: cut short, of another
 * program, without an output. */
bool lap_manifest_line_read(char *text, size_t length, lap_manifest_line *line);

typedef struct lap_manifest_queue { /* zeroed is empty */
    char *bytes;
    size_t used, capacity;
} lap_manifest_queue;

/* Appends a line with its newline, or nothing: LAP_E_MEMORY. */
lap_code lap_manifest_line_write(lap_manifest_queue *queue, const lap_manifest_line *line, lap_error *err);

#endif
