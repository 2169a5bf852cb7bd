/* Adds up the times of stages. Thread safe. */
#ifndef LAP_TIMES_H
#define LAP_TIMES_H

#include "lapedge.h"

static inline void lap_times_add(lap_times *sum, const lap_times *ms)
{
    sum->read += ms->read;
    sum->decode += ms->decode;
    sum->upload += ms->upload;
    sum->filter += ms->filter;
    sum->download += ms->download;
    sum->encode += ms->encode;
    sum->write += ms->write;
    sum->total += ms->total;
}

/* Returns one photo's share of the times that `count` photos took together. */
static inline lap_times lap_times_share(const lap_times *ms, int count)
{
    return (lap_times){.read = ms->read / count,
        .decode = ms->decode / count,
        .upload = ms->upload / count,
        .filter = ms->filter / count,
        .download = ms->download / count,
        .encode = ms->encode / count,
        .write = ms->write / count,
        .total = ms->total / count};
}

#endif
