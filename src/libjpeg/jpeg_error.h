/* An error manager for libjpeg, for reading and writing. It returns errors as codes instead of exiting, and
 * classifies warnings. Only lap_jpeg_guard calls setjmp.
 *
 * Each jpeg_decompress_struct or jpeg_compress_struct needs its own error manager, which one thread at a time
 * may use. */
#ifndef LAP_JPEG_ERROR_H
#define LAP_JPEG_ERROR_H

#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs FILE and size_t, and does not include them */

#include <jpeglib.h>

#include "lapedge.h"

typedef enum lap_jpeg_class {
    LAP_JPEG_HARMLESS,  /* unusual, but no pixel depends on it */
    LAP_JPEG_TRUNCATED, /* the data ends early, and the rest is filled in */
    LAP_JPEG_DAMAGED    /* the data is wrong, and pixels are lost */
} lap_jpeg_class;

typedef struct lap_jpeg_error {
    struct jpeg_error_mgr base; /* first member: cinfo->err points here */
    jmp_buf escape;             /* set by lap_jpeg_guard */
    lap_error cause;            /* why the last lap_jpeg_guard failed; names no file */
    /* Called for each warning; may call lap_jpeg_raise. NULL: warnings are ignored. */
    void (*warn)(void *user, j_common_ptr cinfo, lap_jpeg_class class);
    void *user;
} lap_jpeg_error;

/* Clears *error and returns what to store in cinfo->err. */
struct jpeg_error_mgr *lap_jpeg_error_init(lap_jpeg_error *error);

/* Calls work(argument), which may call libjpeg and lap_jpeg_raise. Returns LAP_OK if work returned, else the
 * code of error->cause. After an error, the locals of work are lost, so they must own nothing; its changes to
 * the caller's memory remain. libjpeg's object is not destroyed; the caller must destroy it. */
lap_code lap_jpeg_guard(lap_jpeg_error *error, void (*work)(void *argument), void *argument);

/* Leaves the work of lap_jpeg_guard. The caller has set error->cause: lap_fail(&error->cause, ...). */
_Noreturn void lap_jpeg_raise(lap_jpeg_error *error);

/* Makes libjpeg keep its arrays in memory and ignore the environment variable JPEGMEM. Call it right after
 * cinfo was created. A run is limited by max_memory instead, which is checked before anything is allocated.
 */
void lap_jpeg_ignore_limit(j_common_ptr cinfo);

/* Writes cinfo's current message to text, in plain words. */
void lap_jpeg_text(j_common_ptr cinfo, char text[JMSG_LENGTH_MAX]);

#endif
