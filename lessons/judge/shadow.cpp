/* Records which thread accessed which byte, to find races, reads of bytes that were never written, and
 * addresses outside of all memory. Threads of a block are ordered by barriers and warp functions (vector
 * clocks, one number for each thread); threads of different blocks are not ordered until the launch is over.
 * Two atomics do not race. */
#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "judge.h"
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
    image of; /* rows and pitch of an image; no bytes. pitch 0: there is no image */
};

/* When a thread first reached an instruction since it last waited for others. */
struct visit {
    uint32_t clock, turn;
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
std::vector<visit> visits[MAX_THREADS]; /* by site */
uint32_t turns;
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

/* Names a byte, or an element as wide as the access. */
std::string element(const region &r, size_t at, unsigned size)
{
    return size == 1 ? "byte " + std::to_string(at) + " of " + r.name
                     : "element " + std::to_string(at / size) + " of " + r.name + " (" +
                           std::to_string(size) + " bytes each)";
}

void note_visit(const access &a)
{
    std::vector<visit> &v = visits[a.thread];
    if (v.size() <= a.site)
        v.resize(a.site + 1);
    const uint32_t clock = clock_of[a.thread][a.thread];
    if (v[a.site].clock != clock)
        v[a.site] = {clock, ++turns};
}

/* Returns whether the thread has reached both instructions, in this order, since it last waited for
 * others. */
bool came(unsigned thread, uint32_t clock, unsigned first, unsigned then)
{
    const std::vector<visit> &v = visits[thread];
    return first < v.size() && then < v.size() && v[first].clock == clock && v[then].clock == clock &&
           v[first].turn < v[then].turn;
}

void race(const access &a, const touch &earlier, const region &r, size_t at)
{
    const bool same_block = earlier.block == block;
    const uint32_t now = clock_of[a.thread][a.thread];
    found_race(
        {true, a.site, earlier.site, same_block && came(earlier.thread, earlier.clock, a.site, earlier.site),
            same_block && came(a.thread, now, earlier.site, a.site), thread_name(block, a.thread),
            thread_name(earlier.block, earlier.thread), element(r, at, a.size), nullptr});
}

/* Keeps two readers that are not ordered: at least one of them is not the thread that writes later. */
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

/* Skips bytes with a race: these may have been written a moment later. */
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
    region *r = new region{name, first, bytes, std::vector<bool>(bytes, written), {}, {}};
    global.push_back(r);
}

void region_is_image(const char *first, const image &p)
{
    for (region *r : global)
        if (r->first == first)
            r->of = {p.width, p.height, p.channels, p.pitch, p.origin, {}};
}

bool is_shared(const std::string &name)
{
    return std::any_of(shared.begin(), shared.end(), [&](const region *r) { return r->name == name; });
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
    note_visit(a);
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
    visits[thread].clear();
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

/* Returns the region nearest to the address, and the distance; 0: the address is inside. */
static const region *nearest_to(const char *address, size_t *distance)
{
    const region *nearest = nullptr;
    for (const auto *list : {&shared, &global})
        for (const region *r : *list) {
            const size_t d = address < r->first               ? (size_t)(r->first - address)
                             : address >= r->first + r->bytes ? (size_t)(address - r->first - r->bytes) + 1
                                                              : 0;
            if (!nearest || d < *distance) {
                nearest = r;
                *distance = d;
            }
        }
    return nearest;
}

/* Farther from an array than an index of 32 bits can lead. */
constexpr size_t FAR = (size_t)1 << 36;
constexpr size_t NEAR = (size_t)1 << 24;

/* Says which row and byte of an image that would be. */
static std::string row_of(const region &r, const char *address)
{
    const long pitch = (long)r.of.pitch, margin = 2L * r.of.channels;
    const long at = address - r.first - (long)r.of.origin + margin;
    const long row = (at >= 0 ? at : at - pitch + 1) / pitch;
    const long last = (long)(r.of.width + 2) * r.of.channels - 1;
    return ": row " + std::to_string(row) + ", byte " + std::to_string(at - row * pitch - margin) +
           ", counted from pixel (0, 0); rows go from -2 to " + std::to_string(r.of.height + 1) +
           ", their bytes from " + std::to_string(-margin) + " to " + std::to_string(last);
}

/* For an array that is not an image: says which of its elements that would be. */
static std::string element_beyond(const region &r, const char *address, unsigned size)
{
    const std::string kind = size == 1 ? "byte" : "element";
    return kind + " " + std::to_string((address - r.first) / (long)size) + " of " + r.name + ", whose " +
           kind + "s are 0 to " + std::to_string(r.bytes / size - 1);
}

std::string describe(const char *address, unsigned size)
{
    size_t distance = 0;
    const region *nearest = nearest_to(address, &distance);
    if (!nearest || distance > FAR)
        return "far from all memory that the kernel was given";
    if (distance == 0) {
        const size_t at = (size_t)(address - nearest->first);
        return at + size <= nearest->bytes
                   ? "byte " + std::to_string(at) + " of " + nearest->name
                   : "bytes " + std::to_string(at) + " to " + std::to_string(at + size - 1) + " of " +
                         nearest->name + ", whose last is " + std::to_string(nearest->bytes - 1);
    }
    if (!nearest->of.pitch && distance < NEAR && (address - nearest->first) % (long)size == 0)
        return element_beyond(*nearest, address, size);
    return std::to_string(distance) + (distance == 1 ? " byte " : " bytes ") +
           (address < nearest->first ? "before the first of " : "beyond the last of ") + nearest->name +
           (nearest->of.pitch && distance < NEAR ? row_of(*nearest, address) : "");
}

const char *usual_mistake(const char *address)
{
    size_t distance = 0;
    const region *nearest = nearest_to(address, &distance);
    const size_t beyond = (size_t)1 << 32;
    if (nearest && distance > beyond - NEAR && distance <= beyond && address > nearest->first)
        return "is a variable of this index unsigned? What should be a little below 0 is then 4294967295: "
               "int "
               "holds both.";
    if (nearest && is_shared(nearest->name))
        return "the index of this array: for which threads, or in which turn of the loop, is it below 0 or "
               "beyond the last? Is the comparison there, with < and not <=?";
    return nearest && nearest->of.pitch && distance < NEAR && address > nearest->first
               ? "which comparison keeps a thread from reading this row, or this byte of a row? Is it there "
                 "for rows and for columns, with < and not <=, and does it count from pixel (0, 0), as width "
                 "and height do? A byte beyond the end of a row is one of the next row."
               : nullptr;
}

} // namespace judge
