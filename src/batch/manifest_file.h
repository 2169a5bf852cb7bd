/* Reads record files of any kind line by line, and decides whether they can be trusted. */
#ifndef LAP_MANIFEST_FILE_H
#define LAP_MANIFEST_FILE_H

#include <sys/stat.h>

#include "batch/manifest_line.h"

/* Receives a line without its newline. The function may change the text, and write one more byte after it.
 * is_whole: the line had a newline; otherwise it ends the file and may be incomplete. text NULL: the line is
 * longer than lapedge writes. Any result but LAP_OK ends the reading. */
typedef lap_code lap_manifest_text_fn(void *user, char *text, size_t length, bool is_whole, lap_error *err);
/* Continues reading at *from, and moves *from after the last complete line. An incomplete line is also passed
 * on, and read again the next time. shown is the file's name in messages. LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_manifest_read_text(
    int fd, const char *shown, off_t *from, lap_manifest_text_fn *each, void *user, lap_error *err);

/* Returns why another user could have written a record file, judging by its owner and mode; NULL: no other
 * user could. */
const char *lap_manifest_why_not_ours(const struct stat *file);

#endif
