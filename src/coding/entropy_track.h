/* Walks over one piece of a scan, from its first bit as a guess, or from a known position. */
#ifndef LAP_ENTROPY_TRACK_H
#define LAP_ENTROPY_TRACK_H

#include "coding/entropy_bytes.h"
#include "coding/entropy_walk.h"

/* How many bytes a walk continues after its piece, to give the walk over the next piece time to synchronise.
 * In 1,275 trials on photos, the slow trials took 1,800 bits on average, and the slowest took 10,172. */
enum { LAP_TRACK_BEHIND = 1536 };

typedef struct lap_track_mark { /* a restart marker in the walk */
    size_t note;                /* the first MCU after it */
    uint32_t end_bit, bit;      /* where the padding before it and the data after it begin */
    int32_t dc[4];              /* DC sums before it, since the walk began or since the marker before */
    uint8_t code;
} lap_track_mark;

typedef struct lap_track { /* zeros: empty */
    lap_notes notes; /* MCUs that begin in the piece or shortly after; after a marker DC sums are absolute */
    lap_track_mark *marks;
    size_t mark_count, mark_room;
    uint32_t own_bits;
    lap_huff_odd odd; /* an error in the last noted MCU, or after it */
    bool ends;        /* the walk reached the end of the scan; then: */
    uint32_t end_bit; /* where the padding begins */
    uint8_t end_code; /* the marker after it */
    int32_t end_dc[4];
} lap_track;

typedef struct lap_track_plan {
    const lap_coded *coded;
    const lap_walk_tables *tables;
    size_t index;         /* of the piece */
    int64_t known;        /* bit of the piece at which an MCU is known to begin; -1: guess, also after an
                             error */
    lap_stretch *stretch; /* used by this walk only */
} lap_track_plan;

typedef struct lap_course { /* a walk over one piece, which may not be finished */
    lap_track *piece;
    const lap_stretch *stretch;
    lap_walk walk;
    uint32_t stop;  /* bit at which the walk ends */
    uint32_t pause; /* bit at which it is interrupted */
    size_t mark;    /* the next restart marker of the stretch */
    bool known;     /* the position is certain, no longer a guess */
    bool is_over;
} lap_course;

/* Begins a walk. The piece must stay where it is until the walk is over. LAP_E_MEMORY. */
lap_code lap_course_begin(lap_course *course, lap_track *piece, const lap_track_plan *plan);
/* Continues walks interleaved, which is faster than one after the other, until at least one is over.
 * LAP_E_MEMORY. */
lap_code lap_courses_go(lap_course *const courses[LAP_WALK_LANES]);
/* Continues one walk until it is over. LAP_E_MEMORY. */
lap_code lap_course_finish(lap_course *course);
/* Walks over one piece. LAP_E_MEMORY. */
lap_code lap_track_make(lap_track *piece, const lap_track_plan *plan);
void lap_track_free(lap_track *piece);

/* Returns whether the DC sums of a note are absolute, since a restart marker comes before it. */
static inline bool lap_track_is_absolute(const lap_track *piece, size_t note)
{
    return piece->mark_count > 0 && note >= piece->marks[0].note;
}

#endif
