/* Runs jobs: submit, reap, cancel, close. Threads of a pool do the work; with CUDA devices (device_pool.h)
 * the threads read and write for the devices. One owner thread calls these functions. */
#ifndef LAP_EXECUTOR_H
#define LAP_EXECUTOR_H

#include <sys/queue.h>
#include <sys/stat.h>

#include "batch/manifest.h"
#include "batch/trace.h"
#include "io/sink.h"
#include "lapedge_program.h"

typedef struct lap_job lap_job;
/* Does a job's work on the calling thread: fills report, and sink or measurement. */
typedef void lap_job_work(lap_context *context, lap_job *job, const lap_settings *settings);

struct lap_job {
    lap_job_work *work;
    const lap_tree *tree;            /* the output folder; NULL if nothing is written */
    char *input, *output, *relative; /* owned by the job; `relative` is below the output folder */
    const lap_origin *origin;        /* the input's folder, or NULL; owned by the batch */
    size_t below;                    /* offset in input of the part below that folder */
    struct stat stat;                /* the input's state when it was found, later when it was opened */
    bool force; /* replace any file that has the output's name, except one that a run with other settings has
                   made during this run */
    bool skip_existing; /* never replace a file: an existing file counts as the output */
    bool no_clobber;    /* never replace a file, and report it */
    struct stat seen;   /* without `force`: the only file that may be replaced */
    bool is_seen;
    bool only_equal;         /* `seen` may be replaced only by the same content, because no record describes
                                it */
    lap_photo_content photo; /* with sink: the content of the input, if it could be read again */
    bool has_record;         /* with sink: after the input was read, its folder may contain a record of runs
                                in place */
    const lap_settings *settings;
    lap_report report;   /* filled by the executor */
    int device;          /* also filled: device that did all the work; -1: no single device did it */
    bool left_by_device; /* internal: a device cannot process the photo, or has too little memory for it */
    bool is_large;       /* internal: a small file whose photo needs much memory */
    uint64_t number;     /* internal: number in the trace */
    lap_sink *sink;      /* complete but not published if report.error.code is LAP_OK */
    const lap_measure_options *measure; /* set if the job only measures its input */
    lap_measurement *measurement;       /* result, owned by the job */
    const lap_measure_order *order;     /* with measure: formats the result as text; or NULL */
    char *text;                         /* that text, owned by the job */
    uint64_t turn;                      /* for the owner: position of the job among its jobs */
    STAILQ_ENTRY(lap_job) next;         /* internal */
};

/* Reads the input and completes a sink. */
void lap_job_write(lap_context *context, lap_job *job, const lap_settings *settings);
/* After sink and stat are filled: reads the input again for its hash, usually from the page cache, and looks
 * for a record of runs in place. */
void lap_job_look_again(lap_job *job);
/* Reads the input and fills measurement, which must be allocated. */
void lap_job_measure(lap_context *context, lap_job *job, const lap_settings *settings);
/* After measurement is filled, without the executor's mutex: makes the text that the order asks for. */
void lap_job_describe(lap_job *job);
/* Whether the photo was read without a warning. Does not count warnings about properties of a replaced file
 * that could not be kept. */
bool lap_job_is_whole(const lap_job *job);
void lap_job_free(lap_job *job); /* also closes the sink; an unpublished output is removed */

typedef struct lap_executor lap_executor;

/* Returns how many of these jobs can run with the number of files that the process may open. */
int lap_batch_jobs_within_files(int jobs);
/* Returns how many more files the process may have open while it runs this many jobs. */
int lap_batch_files_beside(int jobs);

/* Creates an executor that runs up to `jobs` jobs at once on threads of the context; others wait in order. */
lap_code lap_executor_threads(lap_context *context, int jobs, lap_executor **executor, lap_error *err);
/* Records all further work in trace. Call before the first job. */
void lap_executor_trace(lap_executor *executor, lap_trace *trace);
/* After a finished job for which is_last is true, no other job begins: waiting jobs come back as cancelled.
 * Call before the first job. */
void lap_executor_end_at(lap_executor *executor, bool (*is_last)(const lap_job *job));
/* Returns how many jobs should wait in addition to the running ones: more would only use memory. */
int lap_executor_ahead(const lap_executor *executor);
/* Submits a job. The executor then owns it, also after a failure. */
lap_code lap_executor_submit(lap_executor *executor, lap_job *job, lap_error *err);
/* If more jobs than this are waiting, the owner is not woken for each finished job: for a thumbnail, waking
 * it would take as long as opening the file. */
enum { LAP_EXECUTOR_LOW = 16 };
/* Returns a finished job, which the caller then owns; NULL if no job finishes within timeout_ms. */
lap_job *lap_executor_reap(lap_executor *executor, int timeout_ms);
/* Reports each lost device once: which device, and why. */
bool lap_executor_warning(lap_executor *executor, lap_error *warning);
/* Sets work->device_count and device to the current state of the devices. */
void lap_executor_look(lap_executor *executor, lap_batch_work *work);
/* Returns the number of jobs submitted but not reaped. */
size_t lap_executor_pending(const lap_executor *executor);
/* Ends the queue: lap_executor_reap returns the jobs that have not begun as cancelled, and no other job
 * begins. Running jobs continue unless the context is cancelled too. */
void lap_executor_cancel(lap_executor *executor);
/* No job may be pending. Does nothing for NULL. */
void lap_executor_close(lap_executor *executor);

#endif
