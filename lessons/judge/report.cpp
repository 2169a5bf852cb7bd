/* Prints the judge's report. Findings come first, then wrong bytes, then what each line costs: the order
 * in which to fix them. */
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "judge.h"
#include "tests/kernels/cudacpu/control.h"
#include "watch.h"

namespace judge
{

extern bool in_kernel, strict, counting;

namespace
{

constexpr size_t GUARD = 64 * 1024;
constexpr int MOST_SECONDS = 5;
/* File descriptors that lessons/lesson opens: the judge reads the word of this run from one, and repeats
 * it to the other. */
constexpr int WORD_FROM = 3, WORD_TO = 4;

char word[64];

struct {
    int number;
    finding findings[FINDINGS];
    std::string wrong, of;
    int compared, goals_missed;
    bool cpu, launch_failed, never_written; /* never_written: the first wrong value */
    const char *hint;
    std::vector<figure> figures;
    std::vector<std::string> goals, notes;
} r;

struct advice {
    const char *title, *cost, *look;
};

const advice advices[FINDINGS] = {
    {"the kernel broke off", "On a GPU the launch fails, and all later calls with it.",
        "the address that this line computes: which of its terms can be far too large, or negative?"},
    {"a division by zero", "On a GPU nothing stops: the result is some number.",
        "the divisor: for which threads is it 0?"},
    {"an access out of bounds", "On a GPU this ends the program, or silently accesses another array.",
        "which threads have nothing to do here? Is the comparison there, with < and not <=, with the right "
        "size: "
        "are width and height exchanged? In the index too?"},
    {"an address that the width does not allow",
        "On a GPU the launch fails: 8 or 16 bytes at once need an address that is a multiple of 8 or 16.",
        "where does the pointer come from: does each row, and each thread's share, begin on such an "
        "address?"},
    {"a barrier that not all threads reach", "On a GPU the block hangs, or goes on with a tile half filled.",
        "the if, return, continue or break on the way to it: every thread of the block must come to the same "
        "__syncthreads()."},
    {"a warp function that does not fit its lanes", "On a GPU the result is undefined.",
        "is there an if or a loop around this line that not all lanes of the warp enter? The mask must name "
        "exactly the lanes that come here."},
    {"a race", "On a GPU the result depends on which thread is faster: right today, wrong tomorrow.",
        "between the two lines: what makes one thread wait for the other? Or should they touch different "
        "elements?"},
    {"a read of memory that nothing wrote",
        "On a GPU it holds what was left there: another number in each run.",
        "which thread should have written this element, and did its condition let it? Or should nobody read "
        "it: does a loop go too far?"},
    {"a kernel that does not end", "On a GPU it is stopped after some seconds, or never.",
        "the loop around this line: what makes its condition false in the end?"},
};

bool colour()
{
    return isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
}

void heading(const char *text)
{
    printf(colour() ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

/* Prints lines of at most 100 columns. */
void print_wrapped(const std::string &text)
{
    constexpr size_t COLUMNS = 98;
    for (size_t at = 0; at < text.size();) {
        size_t n = text.size() - at;
        if (n > COLUMNS)
            n = text.rfind(' ', at + COLUMNS) - at;
        printf("  %s\n", text.substr(at, n).c_str());
        at += n + 1;
    }
}

void show_line(unsigned line)
{
    if (line)
        printf("    %u | %s\n", line, source_line(line).c_str());
}

/* If both threads are at the same line, the likely cause is an index that does not differ between them,
 * rather than a missing barrier. */
std::string look_of(finding_kind kind)
{
    const finding &f = r.findings[kind];
    if (kind != RACE)
        return f.look ? f.look : advices[kind].look;
    const unsigned line = line_of(f.site), other = line_of(f.other);
    if (line == other && (site_number(f.site).kind == LOAD || site_number(f.other).kind == LOAD))
        return "both run the same line and meet at the same element, which one reads and the other writes: "
               "should its index differ between these two threads, or these two blocks? If not, what orders "
               "them: a barrier in each turn of a loop, or an atomic function?";
    if (line == other)
        return "both run the same line and meet at the same element: which part of its index should differ "
               "between these two threads (threadIdx), or these two blocks (blockIdx)? Or should only one of "
               "them write (an if), or should both add (an atomic function)?";
    if (line > other ? f.earlier_came : f.later_came) {
        const std::string end = std::to_string(std::max(line, other));
        return "the way from line " + end + " round the loop to line " +
               std::to_string(std::min(line, other)) +
               " of its next turn: what makes a thread wait there until the others are done with line " +
               end + "?";
    }
    return advices[kind].look;
}

void print_finding(finding_kind kind)
{
    const finding &f = r.findings[kind];
    const unsigned line = line_of(f.site);
    heading(("FOUND at line " + std::to_string(line) + ": " + advices[kind].title).c_str());
    if (kind == RACE) {
        const unsigned other = line_of(f.other);
        printf("  Two threads touch %s, at least one writes, and nothing orders them:\n", f.what.c_str());
        printf("  %s at line %u,\n  %s at line %u.\n", f.who_other.c_str(), other, f.who.c_str(), line);
        show_line(other);
        if (other != line)
            show_line(line);
    } else {
        print_wrapped(f.who + " " + f.what + ".");
        show_line(line);
    }
    print_wrapped(std::string("What it costs: ") + advices[kind].cost);
    print_wrapped("What to look at: " + look_of(kind));
}

const char *names(const site &s)
{
    if (s.kind == SHUFFLE)
        return "shuffles";
    static const char *const n[2][3] = {{"loads, global", "stores, global", "atomics, global"},
        {"loads, shared", "stores, shared", "atomics, shared"}};
    return n[s.space == SHARED][s.kind];
}

void add(tally &to, const tally &t)
{
    to.requests += t.requests;
    to.lanes += t.lanes;
    to.sectors += t.sectors;
    to.wavefronts += t.wavefronts;
    to.bytes += t.bytes;
}

/* Prints what each line requests from memory, in the order of lines. */
void print_lines()
{
    std::map<std::pair<unsigned, std::string>, std::pair<tally, bool>> rows;
    for (unsigned i = 0; i < sites(); i++)
        if (tally_of(i).requests) {
            const site &s = site_number(i);
            auto &row = rows[{line_of(i), names(s)}];
            add(row.first, tally_of(i));
            row.second = s.space == SHARED;
        }
    if (rows.empty())
        return;
    heading(("What each line asks of memory, " + r.of).c_str());
    printf("  line  what             requests  lanes  a request\n");
    for (const auto &row : rows) {
        const tally &t = row.second.first;
        const double n = (double)t.requests;
        printf("  %4u  %-15s %9llu  %5.1f  %5.2f %s\n", row.first.first, row.first.second.c_str(),
            (unsigned long long)t.requests, (double)t.lanes / n,
            (double)(row.second.second ? t.wavefronts : t.sectors) / n,
            row.second.second ? "wavefronts" : "sectors");
    }
    printf("  (a model: lanes that come to a line the same number of times since they were last together\n"
           "  are one request; arithmetic is not counted)\n");
}

/* Returns what follows "PREDICT name:" in the lesson's file; "?" if there is nothing. */
std::string predicted(const char *name)
{
    std::ifstream in(source_path());
    const std::string key = "PREDICT " + std::string(name) + ":";
    for (std::string line; std::getline(in, line);) {
        const size_t at = line.find(key);
        if (at == std::string::npos)
            continue;
        const size_t first = line.find_first_not_of(" \t\r", at + key.size());
        const size_t end = line.find_first_of(" \t\r*", first);
        if (first != std::string::npos)
            return line.substr(first, end == std::string::npos ? end : end - first);
    }
    return "?";
}

/* A number in a column of the table; "-" if nothing was counted or measured. */
std::string shown(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.2f", value);
    return std::isfinite(value) && value >= 0 ? text : "-";
}

bool is_number(const std::string &p)
{
    char *end;
    const double number = strtod(p.c_str(), &end);
    return end != p.c_str() && !*end && std::isfinite(number);
}

bool is_asked(const figure &f)
{
    return f.name && !is_number(predicted(f.name));
}

/* Asks for the predictions that are missing. Returns whether there are any. */
bool ask()
{
    if (std::none_of(r.figures.begin(), r.figures.end(), is_asked))
        return false;
    heading("PREDICT FIRST");
    for (const figure &f : r.figures) {
        const std::string p = is_asked(f) ? predicted(f.name) : "";
        if (p == "?")
            print_wrapped("PREDICT " + std::string(f.name) + ": write a number for the ? (" + f.text + ").");
        else if (!p.empty())
            print_wrapped(
                std::string(f.name) + ": \"" + p + "\" is not a number; write 3, or 2.5 with a point.");
    }
    print_wrapped("Then check again: what the judge has counted is shown beside your prediction.");
    return true;
}

/* Prints a remark on a prediction. */
void answer(const figure &f, const std::string &p)
{
    if (std::fabs(atof(p.c_str()) - f.counted) <= 0.02 * f.counted)
        print_wrapped(std::string(f.name) + ": as you predicted.");
    else if (std::isfinite(f.counted))
        print_wrapped(std::string(f.name) + ": " + p + " predicted, " + shown(f.counted) + " counted. " +
                      (f.why ? f.why : ""));
}

void print_figures()
{
    if (r.figures.empty())
        return;
    heading("Predicted and counted");
    printf("  %-44s %9s %9s%s\n", "", "predicted", "counted", r.cpu ? "" : "  the H200");
    for (const figure &f : r.figures) {
        const std::string p = f.name ? predicted(f.name) : "";
        printf("  %-44s %9s %9s", f.text, p.c_str(), shown(f.counted).c_str());
        if (!r.cpu)
            printf(" %9s", shown(f.rung ? f.kept : -1).c_str());
        printf("%s%s\n", f.rung && f.kept >= 0 ? "  " : "", f.rung && f.kept >= 0 ? f.rung : "");
    }
    bool later = false;
    for (const figure &f : r.figures) {
        if (!f.name)
            continue;
        if (r.goals_missed && !f.given)
            later = true;
        else
            answer(f, predicted(f.name));
    }
    if (later)
        print_wrapped("The counts are of your kernel as it is now; predictions are answered once the "
                      "lesson is solved.");
}

/* Returns the instruction that caused a signal; if that is in the judge or the engine, the last access. */
unsigned site_of_signal(void *context)
{
    const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    const uintptr_t at = (uintptr_t)machine.gregs[REG_RIP];
#else
    const uintptr_t at = (uintptr_t)machine.pc;
#endif
    const unsigned site = site_of(at + 1, SHUFFLE, NO_MEMORY, 0);
    return line_of(site) ? site : last_site();
}

void crashed(int number, siginfo_t *, void *context)
{
    if (!in_kernel && number == SIGVTALRM)
        return;
    in_kernel = false;
    if (number == SIGVTALRM)
        found(ENDLESS, site_of_signal(context), "A thread",
            "still runs after " + std::to_string(MOST_SECONDS) + " seconds; it is here");
    if (number == SIGFPE)
        found(DIVIDED, site_of_signal(context), "A thread", "divides by zero");
    if (!anything_found())
        found(CRASHED, site_of_signal(context), "A thread", "accesses an address that has no memory");
    stop_here();
}

} // namespace

void launch_may_take_seconds()
{
    const itimerval timer = {{1, 0}, {MOST_SECONDS, 0}};
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

void found(
    finding_kind kind, unsigned site, const std::string &who, const std::string &what, const char *look)
{
    if (!r.findings[kind].there)
        r.findings[kind] = {true, site, 0, false, false, who, "", what, look};
}

void found_race(const finding &race)
{
    if (!r.findings[RACE].there)
        r.findings[RACE] = race;
}

bool anything_found()
{
    for (const finding &f : r.findings)
        if (f.there)
            return true;
    return false;
}

std::string take_finding()
{
    for (int k = 0; k < FINDINGS; k++)
        if (r.findings[k].there) {
            std::string said = advices[k].title + (" " + std::to_string(line_of(r.findings[k].site)));
            if (k == RACE)
                said += " " + std::to_string(line_of(r.findings[k].other));
            for (finding &f : r.findings)
                f.there = false;
            return said;
        }
    return "";
}

bool going()
{
    return !anything_found() && r.wrong.empty();
}

void stop_here()
{
    fflush(stdout);
    const int status = end();
    fflush(stdout);
    _exit(status);
}

void *memory(const char *name, size_t bytes, const void *from)
{
    char *all;
    if (cudaMalloc(&all, bytes + 2 * GUARD) != cudaSuccess) {
        fprintf(stderr, "the judge is out of memory\n");
        give_up(2);
    }
    char *first = all + GUARD;
    first += 256 - (uintptr_t)first % 256;
    if (from)
        memcpy(first, from, bytes);
    add_region(name, first, bytes, from != nullptr);
    return first;
}

unsigned char *given(const char *name, const image &p)
{
    char *first = static_cast<char *>(memory(name, p.bytes.size(), p.bytes.data()));
    region_is_image(first, p);
    return reinterpret_cast<unsigned char *>(first) + p.origin;
}

void launched(cudaError_t error, dim3 grid, dim3 block)
{
    if (error == cudaSuccess)
        return;
    char text[240];
    snprintf(text, sizeof text, "%u x %u blocks of %u x %u threads: %s", grid.x, grid.y, block.x, block.y,
        cudaGetErrorString(error));
    r.wrong = text;
    r.launch_failed = true;
}

/* Says where element i of an image or a list is. */
static std::string place_of(size_t i, int width, int channels)
{
    static const char *const colours[] = {"red", "green", "blue"};
    const std::string row = "row " + std::to_string(i / (size_t)width);
    const size_t column = i % (size_t)width;
    if (channels == 3)
        return std::string(colours[column % 3]) + " of pixel " + std::to_string(column / 3) + " of " + row;
    return width == 1 ? "number " + std::to_string(i) : "column " + std::to_string(column) + " of " + row;
}

template <typename T>
static void compare_as(
    const char *what, const T *got, const std::vector<T> &expected, int width, int channels)
{
    if (!going())
        return;
    r.compared++;
    for (size_t i = 0; i < expected.size(); i++)
        if (memcmp(&got[i], &expected[i], sizeof(T)) != 0) {
            size_t n = 0;
            for (size_t k = i; k < expected.size(); k++)
                n += memcmp(&got[k], &expected[k], sizeof(T)) != 0;
            char text[300], is[60];
            r.never_written = !was_written(&got[i]);
            snprintf(is, sizeof is, r.never_written ? "was never written" : "is %.9g", (double)got[i]);
            snprintf(text, sizeof text, "%s: %zu of %zu values differ. The first, %s, %s and should be %.9g",
                what, n, expected.size(), place_of(i, width, channels).c_str(), is, (double)expected[i]);
            r.wrong = text;
            return;
        }
}

void compare(const char *what, const unsigned char *got, const std::vector<unsigned char> &expected,
    int width, int channels)
{
    compare_as(what, got, expected, width, channels);
}

void compare(const char *what, const float *got, const std::vector<float> &expected, int width)
{
    compare_as(what, got, expected, width, 1);
}

void compare(const char *what, const unsigned *got, const std::vector<unsigned> &expected, int width)
{
    compare_as(what, got, expected, width, 1);
}

void begin_counts(const char *of)
{
    r.of = of;
    forget_counts();
}

counts total(what w)
{
    static const struct {
        access_kind kind;
        memory_space space;
    } of[] = {{LOAD, GLOBAL}, {STORE, GLOBAL}, {ATOMIC, GLOBAL}, {LOAD, SHARED}, {STORE, SHARED},
        {ATOMIC, SHARED}, {SHUFFLE, SHARED}};
    tally t = {};
    for (unsigned i = 0; i < sites(); i++)
        if (site_number(i).kind == of[(int)w].kind && site_number(i).space == of[(int)w].space)
            add(t, tally_of(i));
    return {(double)t.requests, (double)t.lanes, (double)t.sectors, (double)t.wavefronts};
}

void show(const figure &f)
{
    if (going())
        r.figures.push_back(f);
}

/* Returns the number after these names; each is searched for after the name before it. */
static double number_in(const char *file, std::initializer_list<const char *> names)
{
    std::ifstream in(file);
    const std::string all(std::istreambuf_iterator<char>(in), {});
    size_t at = 0;
    for (const char *name : names) {
        at = all.find("\"" + std::string(name) + "\":", at);
        if (at == std::string::npos)
            return -1;
    }
    return atof(all.c_str() + all.find(':', at) + 1);
}

double kept(const char *section, const char *rung, const char *counter)
{
    return number_in("docs/profile/gpu-counters.json", {section, rung, counter});
}

double kept_passes(const char *section, const char *rung)
{
    return number_in("docs/profile/shared-waves.json", {section, rung, "shared_waves_needed"});
}

double kept_instructions(const char *kernel, const char *kind)
{
    return number_in("docs/profile/sass.json", {kernel, kind});
}

void note(const std::string &said)
{
    if (going())
        r.notes.push_back(said);
}

void hint(const char *said)
{
    r.hint = said;
}

void goal(bool met, const std::string &said)
{
    if (!going() || met || std::find(r.goals.begin(), r.goals.end(), said) != r.goals.end())
        return;
    r.goals_missed++;
    r.goals.push_back(said);
}

/* Reads the word of this run. A kernel can end the program with any exit status, but does not know the
 * word. */
static void read_word()
{
    const ssize_t n = read(WORD_FROM, word, sizeof word - 1);
    word[n > 0 ? n : 0] = 0;
    close(WORD_FROM);
}

/* The names of shared variables and the lines of findings are read from the program's own file. */
static void need_own_file()
{
    if (::access("/proc/self/exe", R_OK) == 0)
        return;
    fprintf(stderr, "the judge reads /proc/self/exe, which is not there: is /proc mounted?\n");
    give_up(3);
}

void begin(int number, const char *source)
{
    if (number)
        read_word();
    need_own_file();
    r.number = number;
    set_source(source);
    setenv("LAP_CUDACPU_SEED", "1", 1);
    lap_cudacpu_configure("order=now,seed=1");
    struct sigaction action = {};
    action.sa_sigaction = crashed;
    action.sa_flags = SA_SIGINFO;
    for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGVTALRM})
        sigaction(s, &action, nullptr);
}

/* Prints the report and returns the exit status. early: a kernel is still running. */
static int report(bool early)
{
    printf("Lesson %d: %s\n", r.number, source_path().c_str());
    for (int k = 0; k < FINDINGS; k++)
        if (r.findings[k].there) {
            print_finding((finding_kind)k);
            printf("\nNot solved: fix this first, then check again.\n");
            return 1;
        }
    if (r.launch_failed) {
        heading("THE LAUNCH FAILED");
        print_wrapped(r.wrong + ".");
        print_wrapped(
            "What to look at: a block has at most 1024 threads, and at most 48 KB of shared memory.");
        printf("\nNot solved: fix this first, then check again.\n");
        return 1;
    }
    if (!r.wrong.empty()) {
        heading("WRONG RESULT");
        print_wrapped(r.wrong + ".");
        if (r.hint && !r.never_written)
            print_wrapped(r.hint);
        if (!r.cpu)
            print_wrapped(
                std::string("No access is out of bounds and no thread disturbs another: ") +
                (r.never_written ? "the thread that should have written this does not exist, computed "
                                   "another index, was kept from it by a condition, or returned before."
                                 : "an index or a formula is wrong."));
        printf("\nNot solved: fix this first, then check again.\n");
        return 1;
    }
    if (early) {
        printf("\nNot solved: the kernel called the judge.\n");
        return 1;
    }
    printf("  The results are right (%d of %d).\n", r.compared, r.compared);
    if (!r.cpu)
        print_wrapped("No access out of bounds, no race, every barrier reached by all, nothing read that "
                      "nothing wrote.");
    const bool asked = ask();
    if (!asked) {
        print_lines();
        print_figures();
        for (const std::string &n : r.notes)
            print_wrapped(n);
    }
    for (const std::string &g : r.goals) {
        heading("NOT THERE YET");
        print_wrapped(asked ? "The aim is not met. The judge says why once you have predicted." : g);
        if (asked)
            break;
    }
    const bool solved = !asked && !r.goals_missed;
    printf(solved ? "\nSolved.\n" : "\nRight, but not solved.\n");
    return !solved;
}

/* Repeats the word: lessons/lesson then believes the exit status. */
static void repeat_word()
{
    if (write(WORD_TO, word, strlen(word)) < 0)
        word[0] = 0; /* without lessons/lesson nobody reads it */
}

void give_up(int status)
{
    fflush(stdout);
    if (status == 2 || status == 3)
        repeat_word();
    _exit(status);
}

int end()
{
    const bool early = in_kernel;
    in_kernel = false;
    const int status = report(early);
    fflush(stdout);
    repeat_word();
    return status;
}

void on_cpu()
{
    r.cpu = true;
}

void only_count()
{
    strict = false;
    counting = true;
}

std::vector<unsigned char> noise(size_t n, unsigned seed)
{
    std::vector<unsigned char> bytes(n);
    uint64_t state = seed;
    for (unsigned char &b : bytes) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        b = (unsigned char)(state >> 56);
    }
    return bytes;
}

} // namespace judge
