/* Files of records, whatever they record: read line by line, and whether they are to be trusted. */
#ifndef LAP_MANIFEST_FILE_H
#define LAP_MANIFEST_FILE_H

#include <sys/stat.h>

#include "batch/manifest_line.h"

/* A line without its newline; the text may be changed, and has one more byte of room behind it. is_whole: its
 * newline is there; else it is the end of the file, which may have been cut short. text NULL: a line that is
 * longer than any of ours. Anything but LAP_OK ends the reading. */
typedef lap_code lap_manifest_text_fn(void *user, char *text, size_t length, bool is_whole, lap_error *err);
/* Reads on from *from, which moves behind the last whole line: what has no newline yet is given too, and read
 * again the next time. shown names the file in messages. LAP_E_UNREADABLE, LAP_E_MEMORY. */
lap_code lap_manifest_read_text(
    int fd, const char *shown, off_t *from, lap_manifest_text_fn *each, void *user, lap_error *err);

/* Why the owner and the mode of a file of records allow that somebody else wrote it; NULL: they do not. */
const char *lap_manifest_why_not_ours(const struct stat *file);

#endif
