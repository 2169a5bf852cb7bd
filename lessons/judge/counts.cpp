/* Counts what a warp's accesses cost. The lanes of a warp run one after the other here. So accesses count as
 * one request if their lanes reach the same instruction for the k-th time since the lanes last converged.
 * This is a model; it is exact if the lanes do not diverge. */
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "judge.h"
#include "watch.h"

namespace judge
{

namespace
{

constexpr unsigned SECTOR = 32, BANKS = 32, WORD = 4;

struct request {
    unsigned lanes; /* bit i: lane i takes part */
    uintptr_t address[LANES];
};

struct visit {
    uint32_t since, number;
};

std::vector<tally> tallies;
std::vector<std::vector<visit>> visits; /* of each site, by thread */
std::unordered_map<uint64_t, request> open;
uint32_t epoch[MAX_THREADS]; /* how often the thread's warp has converged */
unsigned threads;
uint64_t blocks, barriers_passed;

unsigned sectors(const request &r, unsigned size)
{
    uintptr_t seen[LANES * 2];
    unsigned n = 0;
    for (unsigned i = 0; i < LANES; i++)
        if (r.lanes >> i & 1)
            for (uintptr_t s = r.address[i] / SECTOR; s <= (r.address[i] + size - 1) / SECTOR; s++)
                seen[n++] = s;
    std::sort(seen, seen + n);
    return (unsigned)(std::unique(seen, seen + n) - seen);
}

/* Returns the passes of `count` lanes from `first` on: the number of words in the busiest bank or, for
 * atomics, of lanes. */
unsigned passes(const request &r, unsigned first, unsigned count, unsigned size, bool atomic)
{
    std::vector<uintptr_t> words;
    for (unsigned i = first; i < first + count; i++)
        if (r.lanes >> i & 1)
            for (uintptr_t w = r.address[i] / WORD; w <= (r.address[i] + size - 1) / WORD; w++)
                words.push_back(w);
    std::sort(words.begin(), words.end());
    if (!atomic)
        words.erase(std::unique(words.begin(), words.end()), words.end());
    unsigned of_bank[BANKS] = {};
    for (uintptr_t w : words)
        of_bank[w % BANKS]++;
    return *std::max_element(of_bank, of_bank + BANKS);
}

/* A warp that accesses 8 or 16 bytes per lane is processed in halves or quarters. */
unsigned wavefronts(const request &r, unsigned size, bool atomic)
{
    const unsigned together = size <= WORD ? LANES : LANES * WORD / size;
    unsigned n = 0;
    for (unsigned first = 0; first < LANES; first += together)
        n += passes(r, first, together, size, atomic);
    return n;
}

void close(unsigned number, const request &r)
{
    const site &s = site_number(number);
    tally &t = tallies[number];
    const unsigned lanes = (unsigned)__builtin_popcount(r.lanes);
    t.requests += s.kind == SHUFFLE ? s.size / WORD : 1;
    t.lanes += lanes * (s.kind == SHUFFLE ? s.size / WORD : 1);
    t.bytes += (uint64_t)lanes * s.size;
    if (s.kind == SHUFFLE)
        t.wavefronts += s.size / WORD;
    else if (s.space == SHARED)
        t.wavefronts += wavefronts(r, s.size, s.kind == ATOMIC);
    else
        t.sectors += sectors(r, s.size);
}

} // namespace

void count_access(const access &a, memory_space)
{
    if (a.site >= visits.size()) {
        visits.resize(a.site + 1);
        tallies.resize(a.site + 1);
    }
    std::vector<visit> &of_site = visits[a.site];
    if (of_site.size() < MAX_THREADS)
        of_site.resize(MAX_THREADS, {0, 0});
    visit &v = of_site[a.thread];
    if (v.since != epoch[a.thread])
        v = {epoch[a.thread], 0};
    const unsigned warp = a.thread / LANES, lane = a.thread % LANES;
    const uint64_t key = (uint64_t)a.site << 48 | (uint64_t)warp << 42 |
                         (uint64_t)(epoch[a.thread] & 0xfffff) << 22 | (v.number++ & 0x3fffff);
    request &r = open[key];
    r.lanes |= 1u << lane;
    r.address[lane] = (uintptr_t)a.address;
    if (r.lanes == ~0u) {
        close(a.site, r);
        open.erase(key);
    }
}

void count_converge(unsigned first, unsigned lanes)
{
    for (unsigned i = 0; i < LANES; i++)
        if ((lanes >> i & 1) && first + i < threads)
            epoch[first + i]++;
}

void count_block(unsigned of_block)
{
    threads = of_block;
    blocks++;
    const uint32_t last = *std::max_element(epoch, epoch + MAX_THREADS);
    std::fill(epoch, epoch + MAX_THREADS, last + 1);
}

void count_end_block()
{
    for (auto &r : open)
        close((unsigned)(r.first >> 48), r.second);
    open.clear();
}

void count_barrier()
{
    barriers_passed++;
    for (unsigned i = 0; i < threads; i++)
        epoch[i]++;
}

double barriers()
{
    return blocks ? (double)barriers_passed / (double)blocks : 0;
}

const tally &tally_of(unsigned number)
{
    static const tally none = {};
    return number < tallies.size() ? tallies[number] : none;
}

void forget_counts()
{
    tallies.assign(tallies.size(), tally{});
    blocks = barriers_passed = 0;
}

} // namespace judge
