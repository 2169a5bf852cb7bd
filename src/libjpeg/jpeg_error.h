/* libjpeg's error manager, for reading and writing: errors come back as codes instead of an exit,
 * warnings are classified. setjmp is called in one place only, lap_jpeg_guard.
 *
 * One per jpeg_decompress_struct or jpeg_compress_struct; belongs to one thread at a time. */
#ifndef LAP_JPEG_ERROR_H
#define LAP_JPEG_ERROR_H

#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs FILE and size_t, and does not include them */

#include <jpeglib.h>

#include "lapedge.h"

typedef enum lap_jpeg_class {
    LAP_JPEG_HARMLESS,  /* an oddity: no pixel depends on it */
    LAP_JPEG_TRUNCATED, /* data ends early, the rest is filled in */
    LAP_JPEG_DAMAGED    /* data is wrong, pixels are lost */
} lap_jpeg_class;

typedef struct lap_jpeg_error {
    struct jpeg_error_mgr base; /* first member: cinfo->err points here */
    jmp_buf escape;             /* set by lap_jpeg_guard */
    lap_error cause;            /* of the last failed lap_jpeg_guard; no file name in it */
    /* Called for each warning; may lap_jpeg_raise. NULL: warnings are ignored. */
    void (*warn)(void *user, j_common_ptr cinfo, lap_jpeg_class class);
    void *user;
} lap_jpeg_error;

/* Clears *error and returns what to store in cinfo->err. */
struct jpeg_error_mgr *lap_jpeg_error_init(lap_jpeg_error *error);

/* Calls work(argument), which may call libjpeg and raise; LAP_OK if it returned, else the code of
 * error->cause. What work changed in memory of its caller is kept, what it held in its own locals is
 * lost: it must own nothing. libjpeg's object is left as it was and must still be destroyed. */
lap_code lap_jpeg_guard(lap_jpeg_error *error, void (*work)(void *argument), void *argument);

/* Leaves the work with error->cause, which a callback filled: lap_fail(&error->cause, ...). */
_Noreturn void lap_jpeg_raise(lap_jpeg_error *error);

/* Right after cinfo was created: its arrays lie in memory whatever JPEGMEM says, a variable that libjpeg
 * reads. The limit of a run is its max_memory, which is compared before anything is allocated. */
void lap_jpeg_ignore_limit(j_common_ptr cinfo);

/* The pending message of cinfo in plain words. */
void lap_jpeg_text(j_common_ptr cinfo, char text[JMSG_LENGTH_MAX]);

#endif
