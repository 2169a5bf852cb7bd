/* Inside the judge: what its parts tell each other. hooks.cpp is called by kernels and engine, shadow.cpp
 * keeps who touched which byte, counts.cpp what a warp's accesses cost, lines.cpp knows lines of source,
 * report.cpp says all of it. One CPU thread runs, so nothing is locked. */
#ifndef LAP_JUDGE_WATCH_H
#define LAP_JUDGE_WATCH_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace judge
{

struct image;

constexpr unsigned LANES = 32, MAX_THREADS = 1024;

enum access_kind : uint8_t { LOAD, STORE, ATOMIC, SHUFFLE };
enum memory_space : uint8_t { GLOBAL, SHARED, NO_MEMORY };

/* An instruction: the place in the program, and through which calls it was reached, since a GPU's compiler
 * writes a function's instructions once for each call. */
struct site {
    std::vector<uintptr_t> places; /* return addresses, the innermost first */
    access_kind kind;
    memory_space space;
    unsigned size; /* bytes a lane */
};

unsigned site_of(uintptr_t pc, access_kind kind, memory_space space, unsigned size);
const site &site_number(unsigned number);
unsigned sites();

/* ---- memory (shadow.cpp) ------------------------------------------------------------------------- */

struct access {
    const char *address;
    unsigned size, site, thread;
    access_kind kind;
};

/* Bytes of the device that kernels may touch. */
void add_region(const char *name, char *first, size_t bytes, bool written);
/* Notes the access, looks for races and for bytes that nothing wrote. */
void shadow_access(const access &a, memory_space space);
/* Where the address lies; NO_MEMORY: in none of the program's memory. */
memory_space space_of(const char *address, unsigned size);
/* Whether a kernel, or the exam that made the memory, has written the byte. */
bool was_written(const void *address);
void shadow_launch();
void shadow_block(uint32_t number);
void shadow_end_block();
void shadow_end_launch();
void shadow_thread(unsigned thread);
void add_shared(const std::string &name, char *first, size_t bytes);
void no_shared();
/* "element 40 of tile, whose elements are 0 to 39"; elements are as wide as the access. */
std::string describe(const char *address, unsigned size);
/* What to look at if the address is one that a usual mistake leads to; else null. */
const char *usual_mistake(const char *address);
/* The region that begins there holds this image. */
void region_is_image(const char *first, const image &p);
bool is_shared(const std::string &name);
void shadow_release(void *sync, unsigned thread);
void shadow_acquire(void *sync, unsigned thread);

/* ---- counts (counts.cpp) ------------------------------------------------------------------------- */

/* Of all requests of an instruction, or of a line. A request: what a warp's lanes do at one instruction at a
 * time. */
struct tally {
    uint64_t requests, lanes, sectors, wavefronts, bytes;
};

void count_access(const access &a, memory_space space);
/* The lanes of a warp, bit i for thread first + i, have come together. */
void count_converge(unsigned first, unsigned lanes);
void count_block(unsigned threads);
void count_end_block();
/* A barrier of the whole block. */
void count_barrier();
const tally &tally_of(unsigned site);
void forget_counts();

/* ---- lines (lines.cpp) --------------------------------------------------------------------------- */

/* Of the source that is judged: 0 if the instruction is in none of its lines. */
unsigned line_of(unsigned site);
std::string source_line(unsigned line);
/* The array that is indexed there: column is that of a bracket. */
std::string array_at(unsigned line, unsigned column);
void set_source(const char *path);
const std::string &source_path();
bool is_source(const std::string &file);

/* ---- findings (report.cpp) ----------------------------------------------------------------------- */

/* In the order in which one causes the other: of several the first is said. */
enum finding_kind { CRASHED, OUT_OF_BOUNDS, MISALIGNED, BARRIER, WARP, RACE, UNWRITTEN, ENDLESS, FINDINGS };

struct finding {
    bool there;
    unsigned site, other; /* other: of a race, the earlier access */
    /* Of a race: the earlier access's thread came to `site` before, or the later one's to `other`. */
    bool earlier_came, later_came;
    std::string who, who_other, what;
    const char *look; /* what to look at; null: what its kind has */
};

/* Keeps the first of its kind. */
void found(finding_kind kind, unsigned site, const std::string &who, const std::string &what,
    const char *look = nullptr);
void found_race(const finding &race);
bool anything_found();
/* Starts the timer of a launch: one that uses up its seconds of processor time is reported as endless. */
void launch_may_take_seconds();
/* For tests: returns the title and the lines of the first finding, "a race 12 14", and forgets it; "" if
 * nothing was found. */
std::string take_finding();
/* The instruction whose access was seen last. */
unsigned last_site();
/* Prints the whole report and ends the program. */
[[noreturn]] void stop_here();
std::string thread_name(uint32_t block, unsigned thread);

} // namespace judge

#endif
