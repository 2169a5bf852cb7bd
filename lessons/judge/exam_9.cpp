/* Lesson 9: noise for the counts, then an image of one value. */
#include "judge.h"

#include LESSON

static void check(const std::vector<unsigned char> &values, const char *name,
    void (*kernel)(const unsigned char *, unsigned *, unsigned))
{
    std::vector<unsigned> expected(256);
    for (unsigned char v : values)
        expected[v]++;
    unsigned char *in = judge::given("in", values);
    unsigned *counts = judge::given("counts", std::vector<unsigned>(256));
    const unsigned n = (unsigned)values.size();
    judge::begin_counts(name);
    judge::launch(dim3((n + BLOCK * PER - 1) / (BLOCK * PER)), dim3(BLOCK), kernel, in, counts, n);
    judge::compare(name, counts, expected, 1);
}

int main(int, char **argv)
{
    judge::begin(9, argv[1]);
    constexpr unsigned N = 4 * BLOCK * PER;
    check(judge::noise(N - 1000, 2), "in_global, noise", in_global);
    judge::hint(
        "Is each value counted once? The values of one thread are BLOCK apart, as in in_global; PER is "
        "their number.");
    check(judge::noise(N - 1000, 2), "in_shared, noise", in_shared);
    check(judge::noise(BLOCK * PER + 100, 2), "in_shared, a block in which threads have no value", in_shared);
    check(std::vector<unsigned char>(N, 7), "in_shared, one value", in_shared);
    const judge::counts flat = judge::total(judge::what::SHARED_ATOMICS);
    check(judge::noise(N, 2), "in_shared, 16384 values of noise", in_shared);
    const judge::counts atomics = judge::total(judge::what::ATOMICS),
                        near = judge::total(judge::what::SHARED_ATOMICS);
    judge::show({"passes-flat", "passes of an atomic, an image of one value", flat.wavefronts / flat.requests,
        nullptr, 0,
        "All 32 lanes add to the same counter, so the atomic takes 32 passes, one for each lane."});
    judge::show(
        {nullptr, "passes of an atomic, noise", near.wavefronts / near.requests, nullptr, 0, nullptr});
    judge::show({"atomics", "atomics on global memory for each value", atomics.lanes / N, nullptr, 0,
        "A block adds its 256 counters once, for 4096 values: 1 / 16."});
    judge::note(
        "Passes of atomics are a model. An H200 takes no longer for an image of one value than for noise: "
        "docs/claims.md, histogram.");
    judge::goal(
        atomics.lanes <= 4 * 256, "Global memory sees more than 256 atomics a block: count in mine[] first.");
    return judge::end();
}
