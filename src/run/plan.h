/* The plan for a photo, made before its first pixel: from the settings, then from its header, then from what
 * the encoder requires. Later steps read only the plan, not the settings. Thread safe. */
#ifndef LAP_PLAN_H
#define LAP_PLAN_H

#include "codec/codec.h"
#include "rungs/backend.h"

typedef struct lap_plan {
    /* from the settings */
    const lap_rung *rung; /* the filter's; NULL: pixels are not filtered */
    lap_params params;
    lap_border border;
    lap_format format;
    const char *backend; /* the backend's name in the settings */
    lap_decode decode;   /* from the settings */
    int threads;         /* maximum number of threads for the photo */
    bool takes_rows;     /* the encoder needs rows in order, one after the other */
    bool filters_whole;  /* the rung filters only whole images, on `device` */
    bool on_device;      /* the device may also decode or encode the photo */
    bool decodes_there;
    bool encodes_there; /* the device is to encode, and can make this kind of file */
    int device;
    const char *no_device; /* if a device filters but does not decode or encode: why; else NULL */
    bool gray;
    uint64_t max_memory; /* 0: no limit */
    lap_progress_fn *progress;
    void *progress_user;
    lap_run_stats *stats; /* where to write statistics; NULL: none */
    bool sync, preserves; /* arguments of lap_sink_finish */

    /* from the header */
    lap_turn turn;
    int width, height, channels; /* of the output, before a lossless transform trims it */
    bool holds_whole;            /* collect all pixels before filtering */
    lap_header from;             /* the input's header for the encoder, with its sampling factors swapped if
                                    the turn transposes */
    lap_write_options write;     /* points to `from`: do not move the plan */

    /* from the encoder: band k begins at row k * band_rows of the output */
    int band_rows, bands;
    bool in_any_order;   /* bands can be encoded independently of each other */
    bool by_parts;       /* each thread decodes adjacent bands, and filters them: lap_plan_part */
    const char *how;     /* why rows are decoded one after the other; NULL: needs no message */
    int strip_rows;      /* rows of a band that are worked on at once */
    bool encodes_strips; /* encode each strip right after filtering, while it is in the cache */
    int cells;           /* of the ring: maximum number of bands in work at once */
    int results;         /* one per thread, or one per cell; 0 if the CPU does not filter */
    int part_bands;      /* the most bands of a part */
    int ahead;
    uint64_t memory; /* the most bytes that the photo uses */
} lap_plan;

/* Plans from the settings alone. LAP_E_BACKEND if they ask for a device that is unavailable, LAP_E_USAGE if
 * backend and codec exclude each other; else as lap_rung_find. rung: the filter's rung, if it is already
 * chosen; NULL: the one that the settings name. threads: the number of threads in the pool. */
lap_code lap_plan_settings(
    lap_plan *plan, const lap_settings *settings, const lap_rung *rung, int threads, lap_error *err);
/* The options to open the decoder with. */
lap_read_options lap_plan_read(
    const lap_plan *plan, const lap_settings *settings, const lap_control *control, lap_pool *pool);
void lap_plan_header(lap_plan *plan, const lap_settings *settings, const lap_decoder *decoder);
/* Chooses cells, results and threads so that the photo stays within the limit; LAP_E_LIMIT if even one thread
 * exceeds it. Neither decoder nor encoder changes. */
lap_code lap_plan_memory(
    lap_plan *plan, const lap_decoder *decoder, const lap_encoder *encoder, lap_error *err);

/* By parts: how many of the `left` unstarted bands (1 or more) the next part gets. A part also decodes up to
 * two MCU rows of its neighbours, so large parts are less work; small ones at the end let all threads finish
 * at about the same time. */
int lap_plan_part(const lap_plan *plan, int left);

static inline int lap_plan_rows(const lap_plan *p, int band)
{
    return p->height - band * p->band_rows < p->band_rows ? p->height - band * p->band_rows : p->band_rows;
}

#endif
