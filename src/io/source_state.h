/* What the files of the source share. */
#ifndef LAP_SOURCE_STATE_H
#define LAP_SOURCE_STATE_H

#include "io/source.h"

/* One read(2): small enough to stay in the L2 cache until the entropy decoder has seen it. */
enum { LAP_SOURCE_PIECE = 64 * 1024, LAP_SOURCE_WATCH_MS = 100 };

struct lap_source {
    char name[256]; /* as messages show it: they are one line and must not steer a terminal */
    int fd;         /* -1: memory */
    bool owns_fd, is_regular, ended, started, held;
    struct stat stat;
    const lap_control *control;

    const uint8_t *memory; /* of a memory source, or held of a descriptor: what is left */
    size_t memory_size;
    size_t peeked; /* of held bytes: those that stand in the first piece */

    uint8_t last_pair[2]; /* a stream is held up to them, if has_last_pair */
    size_t looked;        /* at bytes for them */
    bool has_last_pair, saw_last_pair;

    uint8_t *buffer; /* of a descriptor: the peeked bytes, later the current piece */
    size_t capacity, filled;

    uint64_t bytes;
    double ms;
};

/* One read of at most size bytes behind the filled ones; sets ended at the end of the input. */
lap_code lap_source_read_some(lap_source *source, size_t size, lap_error *err);
/* The buffer, with what is filled, of at least this capacity. */
lap_code lap_source_reserve(lap_source *source, size_t capacity, lap_error *err);

#endif
