/* Runs jobs: submit, reap, cancel, close. Threads of a pool do the work; with CUDA devices (device_pool.h)
 * these threads read and write for them. One owner thread calls these functions. */
#ifndef LAP_EXECUTOR_H
#define LAP_EXECUTOR_H

#include <sys/stat.h>

#include "batch/origin.h"
#include "batch/trace.h"
#include "io/sink.h"
#include "lapedge_program.h"

typedef struct lap_job lap_job;
/* Does what the job asks for, on the thread that calls it: fills report, and sink or measurement. */
typedef void lap_job_work(lap_context *context, lap_job *job, const lap_settings *settings);

struct lap_job {
    lap_job_work *work;
    const lap_tree *tree;            /* the output folder; NULL where nothing is written */
    char *input, *output, *relative; /* owned by the job; relative to the output folder */
    const lap_origin *origin;        /* the folder of the input, or NULL; of the batch */
    size_t below;                    /* where in input its name below that begins */
    struct stat stat;                /* of the input, when it was found, later when it was opened */
    bool force;                      /* whatever file stands under the name is replaced */
    struct stat seen;                /* else this one, if there is one: */
    bool is_seen;
    bool only_equal; /* that one only by the same content: no record says what was in it */
    const lap_settings *settings;
    lap_report report; /* filled by the executor */
    int device;      /* likewise: that decoded, filtered and encoded it; -1: not all of this is a device's */
    bool cpu_codes;  /* the executor's own: a device found something odd, or has too little memory */
    uint64_t number; /* likewise: for the trace */
    lap_sink *sink;  /* finished and not published, if report.error.code is LAP_OK */
    const lap_measure_options *measure; /* of a job that only measures its input */
    lap_measurement *measurement;       /* its result, owned by the job */
    uint64_t turn;                      /* the owner's: where it stands among its jobs */
    lap_job *next;
};

/* Input to finished sink. */
void lap_job_write(lap_context *context, lap_job *job, const lap_settings *settings);
/* Input to measurement, which is there. */
void lap_job_measure(lap_context *context, lap_job *job, const lap_settings *settings);
void lap_job_free(lap_job *job); /* closes the sink, which removes what was not published */

typedef struct lap_executor lap_executor;

/* At most jobs run at once, on threads of the context; further ones wait in order. */
lap_code lap_executor_threads(lap_context *context, int jobs, lap_executor **executor, lap_error *err);
/* What is done from now on is kept there, too. Before the first job. */
void lap_executor_trace(lap_executor *executor, lap_trace *trace);
/* Takes the job over. */
lap_code lap_executor_submit(lap_executor *executor, lap_job *job, lap_error *err);
/* If more jobs than this are waiting, the owner is not woken for each finished one: for a thumbnail that
 * would cost as much as opening its file. */
enum { LAP_EXECUTOR_LOW = 16 };
/* A finished job, which becomes the caller's; NULL when none finishes within timeout_ms. */
lap_job *lap_executor_reap(lap_executor *executor, int timeout_ms);
/* A device that was lost since, each once: which, and why. */
bool lap_executor_warning(lap_executor *executor, lap_error *warning);
/* What the devices do now: work->device_count and device. */
void lap_executor_look(lap_executor *executor, lap_batch_work *work);
/* Submitted and not reaped. */
size_t lap_executor_pending(const lap_executor *executor);
/* Jobs that have not begun come back from reap as cancelled; running ones go on unless the context is
 * cancelled too. */
void lap_executor_cancel(lap_executor *executor);
/* Nothing may be pending. NULL is fine. */
void lap_executor_close(lap_executor *executor);

#endif
