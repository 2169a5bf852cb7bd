/* The interfaces between the judge's parts. Kernels and engine call hooks.cpp, shadow.cpp records which
 * thread accessed which byte, counts.cpp counts what a warp's accesses cost, lines.cpp finds lines of source,
 * report.cpp prints the report. One CPU thread runs, so nothing is locked. */
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

/* Adds device memory that kernels may access. */
void add_region(const char *name, char *first, size_t bytes, bool written);
/* Records the access, and looks for races and for bytes that were never written. */
void shadow_access(const access &a, memory_space space);
/* Returns which memory the address is in; NO_MEMORY: not in the program's memory. */
memory_space space_of(const char *address, unsigned size);
/* Returns whether a kernel, or the exam that made the memory, has written the byte. */
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
/* Returns a hint if a common mistake leads to this address; else null. */
const char *usual_mistake(const char *address);
/* Records that the region that begins at `first` holds this image. */
void region_is_image(const char *first, const image &p);
bool is_shared(const std::string &name);
void shadow_release(void *sync, unsigned thread);
void shadow_acquire(void *sync, unsigned thread);

/* ---- counts (counts.cpp) ------------------------------------------------------------------------- */

/* The sums of all requests of an instruction, or of a line. A request is what a warp's lanes do together
 * at one instruction. */
struct tally {
    uint64_t requests, lanes, sectors, wavefronts, bytes;
};

void count_access(const access &a, memory_space space);
/* Records that lanes of a warp, bit i for thread first + i, have converged. */
void count_converge(unsigned first, unsigned lanes);
void count_block(unsigned threads);
void count_end_block();
/* Records a barrier of the whole block. */
void count_barrier();
const tally &tally_of(unsigned site);
void forget_counts();

/* ---- lines (lines.cpp) --------------------------------------------------------------------------- */

/* Returns the line of the judged source; 0 if the instruction is not in that source. */
unsigned line_of(unsigned site);
std::string source_line(unsigned line);
/* Returns the array that is indexed there; column is the column of a bracket. */
std::string array_at(unsigned line, unsigned column);
void set_source(const char *path);
const std::string &source_path();
bool is_source(const std::string &file);

/* ---- findings (report.cpp) ----------------------------------------------------------------------- */

/* In the order in which one causes the other: if there are several, the first is reported. */
enum finding_kind {
    CRASHED,
    DIVIDED,
    OUT_OF_BOUNDS,
    MISALIGNED,
    BARRIER,
    WARP,
    RACE,
    UNWRITTEN,
    ENDLESS,
    FINDINGS
};

struct finding {
    bool there;
    unsigned site, other; /* other: the earlier access of a race */
    /* For a race: the thread of the earlier access had reached `site` before; that of the later one,
     * `other`. */
    bool earlier_came, later_came;
    std::string who, who_other, what;
    const char *look; /* what to look at; null: the advice for its kind */
};

/* Records a finding if it is the first of its kind. */
void found(finding_kind kind, unsigned site, const std::string &who, const std::string &what,
    const char *look = nullptr);
void found_race(const finding &race);
bool anything_found();
/* Starts the timer of a launch: one that uses up its seconds of processor time is reported as endless. */
void launch_may_take_seconds();
/* For tests: returns the title and the lines of the first finding, "a race 12 14", and forgets it; "" if
 * nothing was found. */
std::string take_finding();
/* Returns the instruction whose access was seen last. */
unsigned last_site();
/* Prints the whole report and ends the program. */
[[noreturn]] void stop_here();
std::string thread_name(uint32_t block, unsigned thread);

} // namespace judge

#endif
