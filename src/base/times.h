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

#endif
