/* What becomes of a photo, decided before its first pixel: from the settings, then from its header, then from
 * what the encoder asks for. The work reads the plan and asks the settings no more. Thread safe. */
#ifndef LAP_PLAN_H
#define LAP_PLAN_H

#include "codec/codec.h"
#include "rungs/backend.h"

typedef struct lap_plan {
    /* from the settings */
    const lap_rung *rung; /* of the filter; NULL: pixels pass */
    lap_params params;
    lap_border border;
    lap_format format;
    const char *backend; /* by its name in the settings */
    lap_decode decode;   /* as asked for */
    int threads;         /* that work on the photo at most */
    bool takes_rows;     /* the output asks for rows in order, one after the other */
    bool filters_whole;  /* the rung takes no bands: it runs on `device` */
    bool on_device;      /* there the photo is decoded or encoded too, as far as it takes it */
    bool decodes_there;
    bool encodes_there; /* and makes such a file */
    int device;
    const char *no_device; /* why a device that filters does not code, or not both ways; NULL else */
    bool gray;
    uint64_t max_memory; /* 0: any */
    lap_progress_fn *progress;
    void *progress_user;
    lap_run_stats *stats; /* statistics are wanted there; or NULL */
    bool sync, preserves; /* how the output is finished */

    /* and from the header */
    lap_turn turn;
    int width, height, channels; /* after the turn */
    bool holds_whole;            /* all pixels are collected before any is filtered */
    lap_header from;             /* what the encoder keeps of the input, sampling turned too */
    lap_write_options write;     /* refers to `from`: the plan stays where it is */

    /* and from the encoder: band k has rows k * band_rows and up of the output */
    int band_rows, bands;
    bool in_any_order;   /* bands are encoded independently of each other */
    bool by_parts;       /* threads decode the bands that they filter, part_bands below each other */
    const char *how;     /* why rows are decoded one after the other; NULL: not worth a message */
    int strip_rows;      /* of a band: worked on at once */
    bool encodes_strips; /* each strip is encoded when it is filtered, while it is in the cache */
    int cells;           /* of the ring: bands under way, at most */
    int results;         /* one per thread, or one per cell; 0: without a rung of the host */
    int part_bands, ahead;
    uint64_t memory; /* bytes that the photo takes at most */
} lap_plan;

/* What the settings say by themselves, whatever the file is. LAP_E_BACKEND where a device is asked for that
 * cannot be had, LAP_E_USAGE where backend and codec do not go together; else as lap_rung_find. rung: of
 * the filter, where it has been chosen; NULL: as the settings name it. threads: of the pool. */
lap_code lap_plan_settings(
    lap_plan *plan, const lap_settings *settings, const lap_rung *rung, int threads, lap_error *err);
/* What the decoder is opened with. */
lap_read_options lap_plan_read(
    const lap_plan *plan, const lap_settings *settings, const lap_control *control, lap_pool *pool);
void lap_plan_header(lap_plan *plan, const lap_settings *settings, const lap_decoder *decoder);
/* Chooses cells, results and threads so that all that the photo takes is within the limit; LAP_E_LIMIT where
 * one thread takes more. Neither decoder nor encoder changes. */
lap_code lap_plan_memory(
    lap_plan *plan, const lap_decoder *decoder, const lap_encoder *encoder, lap_error *err);

/* Rows of this band. */
static inline int lap_plan_rows(const lap_plan *p, int band)
{
    return p->height - band * p->band_rows < p->band_rows ? p->height - band * p->band_rows : p->band_rows;
}

#endif
