/* Warp functions. The lanes that a mask names meet, wherever in the code each of them is: the first lane
 * waits for the others. Lanes with other masks do not disturb them. Lanes that have ended need not
 * come. */
#include <cstdio>

#include "engine.h"
#include "state.h"

namespace
{

constexpr unsigned LANES = LAP_CUDACPU_LANES, WARPS = LAP_CUDACPU_MAX_THREADS / LANES;
constexpr char ACTIVE[] = "__activemask";

struct meeting {
    unsigned mask, here, gone;
    bool complete;
    const char *what;
    char *sync;
    uint64_t value[LANES];
};

struct warp {
    unsigned alive;
    unsigned in_use; /* meetings, a bit each; every one has a lane in it */
    meeting meetings[LANES + 1];
    unsigned asking;         /* lanes in __activemask */
    const void *site[LANES]; /* from where they asked */
    unsigned answer[LANES];
};

warp warps[WARPS];
char syncs[1024]; /* used in turn, so that meetings of other lanes are not ordered by accident */
unsigned last_sync;

unsigned lane()
{
    return lap_cudacpu_thread % LANES;
}

warp &own()
{
    return warps[lap_cudacpu_thread / LANES];
}

void close_if_full(warp &w, meeting &m)
{
    if (m.complete || (m.mask & w.alive & ~m.here))
        return;
    m.complete = true;
    const unsigned first = (unsigned)(&w - warps) * LANES;
    lap_cudacpu_watch_meeting(first, m.here, (m.here & w.alive) == w.alive);
    for (unsigned i = 0; i < LANES; i++)
        if ((m.here >> i & 1) && first + i != lap_cudacpu_thread)
            lap_cudacpu_wake(first + i);
}

meeting &open(warp &w, unsigned mask, const char *what)
{
    for (unsigned left = w.in_use; left; left &= left - 1) {
        meeting &m = w.meetings[__builtin_ctz(left)];
        if (m.complete || m.mask != mask)
            continue;
        if (m.what != what) {
            char why[120];
            snprintf(why, sizeof why, "calls %s where other lanes of its mask call %s", what, m.what);
            lap_cudacpu_give_up(why);
        }
        return m;
    }
    const unsigned free = (unsigned)__builtin_ctz(~w.in_use);
    w.in_use |= 1u << free;
    meeting &m = w.meetings[free];
    m.mask = mask;
    m.here = m.gone = 0;
    m.complete = false;
    m.what = what;
    m.sync = &syncs[last_sync++ % sizeof syncs];
    return m;
}

meeting &meet(unsigned mask, const char *what, uint64_t value)
{
    warp &w = own();
    const unsigned bit = 1u << lane();
    if (!(mask & bit))
        lap_cudacpu_give_up("calls a warp function with a mask that leaves it out");
    meeting &m = open(w, mask, what);
    m.value[lane()] = value;
    m.here |= bit;
    lap_cudacpu_release(m.sync);
    close_if_full(w, m);
    if (!m.complete)
        lap_cudacpu_park(what);
    lap_cudacpu_acquire(m.sync);
    return m;
}

void part(meeting &m)
{
    m.gone |= 1u << lane();
    if (m.gone == m.here)
        own().in_use &= ~(1u << (&m - own().meetings));
}

} // namespace

void lap_cudacpu_warps_start(unsigned threads)
{
    for (unsigned w = 0; w * LANES < threads; w++) {
        const unsigned lanes = std::min(LANES, threads - w * LANES);
        warps[w].alive = lanes == LANES ? ~0u : (1u << lanes) - 1;
        warps[w].in_use = warps[w].asking = 0;
    }
}

void lap_cudacpu_warps_leave()
{
    warp &w = own();
    const unsigned bit = 1u << lane();
    w.alive &= ~bit;
    for (unsigned left = w.in_use; left; left &= left - 1)
        if (w.meetings[__builtin_ctz(left)].mask & bit)
            close_if_full(w, w.meetings[__builtin_ctz(left)]);
}

/* Lanes that asked at the same place are together now, as far as they can be. */
void lap_cudacpu_warps_idle(unsigned number)
{
    warp &w = warps[number];
    const unsigned asking = w.asking;
    w.asking = 0;
    for (unsigned i = 0; i < LANES; i++) {
        if (!(asking >> i & 1))
            continue;
        w.answer[i] = 0;
        for (unsigned k = 0; k < LANES; k++)
            if ((asking >> k & 1) && w.site[k] == w.site[i])
                w.answer[i] |= 1u << k;
        lap_cudacpu_wake(number * LANES + i);
    }
}

unsigned __activemask()
{
    warp &w = own();
    w.asking |= 1u << lane();
    w.site[lane()] = __builtin_return_address(0);
    lap_cudacpu_park(ACTIVE);
    return w.answer[lane()];
}

void __syncwarp(unsigned mask)
{
    part(meet(mask, "__syncwarp", 0));
}

uint64_t lap_cudacpu_exchange(unsigned mask, const char *what, uint64_t value, unsigned source)
{
    meeting &m = meet(mask, what, value);
    const uint64_t unknown = lap_cudacpu_poison_word() * 0x100000001u;
    const uint64_t result = source < LANES && (m.here >> source & 1) ? m.value[source] : unknown;
    part(m);
    return result;
}

unsigned lap_cudacpu_gather(unsigned mask, const char *what, uint64_t value, uint64_t (&values)[32])
{
    meeting &m = meet(mask, what, value);
    const unsigned here = m.here;
    for (unsigned left = here; left; left &= left - 1)
        values[__builtin_ctz(left)] = m.value[__builtin_ctz(left)];
    part(m);
    return here;
}

unsigned lap_cudacpu_vote(unsigned mask, const char *what, bool predicate, unsigned *here)
{
    meeting &m = meet(mask, what, predicate);
    unsigned votes = 0;
    for (unsigned left = m.here; left; left &= left - 1)
        votes |= m.value[__builtin_ctz(left)] ? left & -left : 0;
    if (here)
        *here = m.here;
    part(m);
    return votes;
}

unsigned lap_cudacpu_atomics_left = 7;

void lap_cudacpu_atomic_pause()
{
    static uint64_t random = lap_cudacpu_seed();
    lap_cudacpu_atomics_left = (unsigned)(lap_cudacpu_random(&random) % 128);
    lap_cudacpu_yield();
}

void lap_cudacpu_misaligned(const void *address, size_t size)
{
    char why[120];
    snprintf(why, sizeof why, "does an atomic of %zu bytes at address %p", size, address);
    lap_cudacpu_give_up(why);
}
