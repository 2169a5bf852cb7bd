/* Which thread touched which byte: races, bytes that nothing wrote, and addresses where there is no memory.
 * Threads of a block are ordered by barriers and warp functions (vector clocks, one number for each thread);
 * threads of different blocks never are, until the launch is over. Atomic against atomic is no race. */
#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "watch.h"

namespace judge
{

namespace
{

struct touch {
    uint32_t clock; /* 0: never */
    uint32_t block;
    uint16_t thread, site;
};

struct cell { /* of a byte */
    touch write, read[2];
    bool atomic, raced; /* the write was atomic; a race was found here */
};

struct region {
    std::string name;
    char *first;
    size_t bytes;
    std::vector<bool> written;
    std::vector<cell> cells;
};

struct unwritten {
    region *of;
    size_t at;
    unsigned site;
    std::string who;
};

constexpr size_t MAX_UNWRITTEN = 64;

std::vector<region *> global, shared;
std::map<char *, region> shared_kept;
std::vector<unwritten> pending_global, pending_shared;
typedef std::vector<uint32_t> clocks;
clocks clock_of[MAX_THREADS];
std::unordered_map<void *, clocks> syncs;
uint32_t block;

region *find(const std::vector<region *> &in, const char *address, size_t size)
{
    for (region *r : in)
        if (address >= r->first && address + size <= r->first + r->bytes)
            return r;
    return nullptr;
}

bool comes_before(const touch &t, unsigned thread)
{
    return t.clock == 0 ||
           (t.block == block && (t.thread == thread || clock_of[thread][t.thread] >= t.clock));
}

/* "tile[17]" counts bytes or words, whichever the access has. */
std::string element(const region &r, size_t at, unsigned size)
{
    return size == 1
               ? r.name + ", byte " + std::to_string(at)
               : r.name + ", element " + std::to_string(at / size) + " of " + std::to_string(size) + " bytes";
}

void race(const access &a, const touch &earlier, const region &r, size_t at)
{
    found_race(a.site, earlier.site, thread_name(block, a.thread), thread_name(earlier.block, earlier.thread),
        element(r, at, a.size));
}

/* Keeps two readers that are not ordered: one of them at least is not the thread that writes later. */
void note_read(cell &c, const touch &now)
{
    touch *slot = &c.read[1];
    for (touch &t : c.read)
        if (comes_before(t, now.thread)) {
            slot = &t;
            break;
        }
    *slot = now;
}

void touch_byte(const access &a, region &r, size_t at, std::vector<unwritten> &pending)
{
    cell &c = r.cells[at];
    const touch now = {clock_of[a.thread][a.thread], block, (uint16_t)a.thread, (uint16_t)a.site};
    const touch *against = nullptr;
    if (!comes_before(c.write, a.thread) && !(c.atomic && a.kind == ATOMIC))
        against = &c.write;
    if (a.kind != LOAD)
        for (const touch &t : c.read)
            if (!against && !comes_before(t, a.thread))
                against = &t;
    if (against) {
        race(a, *against, r, at);
        c.raced = true;
    }
    if (a.kind != STORE && !r.written[at] && pending.size() < MAX_UNWRITTEN)
        pending.push_back({&r, at, a.site, thread_name(block, a.thread)});
    if (a.kind == LOAD) {
        note_read(c, now);
        return;
    }
    c.write = now;
    c.atomic = a.kind == ATOMIC;
    r.written[at] = true;
}

/* A byte for which a race was found may have been written a moment later. */
void report(std::vector<unwritten> &pending)
{
    for (const unwritten &u : pending)
        if (!u.of->cells[u.at].raced)
            found(UNWRITTEN, u.site, u.who,
                "reads " + element(*u.of, u.at, site_number(u.site).size) + ", which nothing has written");
    pending.clear();
}

void join(clocks &to, const clocks &from)
{
    for (size_t i = 0; i < from.size(); i++)
        to[i] = std::max(to[i], from[i]);
}

} // namespace

void add_region(const char *name, char *first, size_t bytes, bool written)
{
    region *r = new region{name, first, bytes, std::vector<bool>(bytes, written), {}};
    global.push_back(r);
}

void add_shared(const std::string &name, char *first, size_t bytes)
{
    region &r = shared_kept[first];
    r.name = name;
    r.first = first;
    r.bytes = bytes;
    r.cells.assign(bytes, cell{});
    r.written.assign(bytes, false);
    shared.push_back(&r);
}

void no_shared()
{
    shared.clear();
}

memory_space space_of(const char *address, unsigned size)
{
    return find(shared, address, size) ? SHARED : find(global, address, size) ? GLOBAL : NO_MEMORY;
}

bool was_written(const void *address)
{
    const char *at = static_cast<const char *>(address);
    const region *r = find(global, at, 1);
    return !r || r->written[(size_t)(at - r->first)];
}

void shadow_access(const access &a, memory_space space)
{
    region *r = find(space == SHARED ? shared : global, a.address, a.size);
    std::vector<unwritten> &pending = space == SHARED ? pending_shared : pending_global;
    for (unsigned i = 0; i < a.size; i++)
        touch_byte(a, *r, (size_t)(a.address - r->first) + i, pending);
}

void shadow_launch()
{
    for (region *r : global)
        r->cells.assign(r->bytes, cell{});
}

void shadow_block(uint32_t number)
{
    block = number;
    syncs.clear();
}

void shadow_thread(unsigned thread)
{
    clock_of[thread].assign(MAX_THREADS, 0);
    clock_of[thread][thread] = 1;
}

void shadow_end_block()
{
    report(pending_shared);
}

void shadow_end_launch()
{
    report(pending_global);
}

void shadow_release(void *sync, unsigned thread)
{
    if (clock_of[thread].empty())
        return;
    clocks &s = syncs[sync];
    s.resize(MAX_THREADS);
    join(s, clock_of[thread]);
    clock_of[thread][thread]++;
}

void shadow_acquire(void *sync, unsigned thread)
{
    auto s = syncs.find(sync);
    if (s != syncs.end() && !clock_of[thread].empty())
        join(clock_of[thread], s->second);
}

/* The memory that the address is nearest to. */
std::string describe(const char *address)
{
    const region *nearest = nullptr;
    size_t distance = 0;
    for (const auto *list : {&shared, &global})
        for (const region *r : *list) {
            const size_t d = address < r->first               ? (size_t)(r->first - address)
                             : address >= r->first + r->bytes ? (size_t)(address - r->first - r->bytes) + 1
                                                              : 0;
            if (!nearest || d < distance) {
                nearest = r;
                distance = d;
            }
        }
    if (!nearest)
        return "no memory that it was given";
    if (distance == 0)
        return "byte " + std::to_string(address - nearest->first) + " of " + nearest->name;
    return std::to_string(distance) + (distance == 1 ? " byte " : " bytes ") +
           (address < nearest->first ? "before the first of " : "beyond the last of ") + nearest->name;
}

} // namespace judge
