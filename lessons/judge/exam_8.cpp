/* Lesson 8: the given kernels for their counts, then the kernel to write; half as many blocks as
 * groups. */
#include "judge.h"

#include LESSON

static std::vector<float> values, expected;

static void check(const char *name, void (*kernel)(const float *, float *, unsigned))
{
    float *in = judge::given("in", values), *sums = judge::blank<float>("sums", expected.size());
    judge::begin_counts(name);
    const unsigned groups = (unsigned)expected.size();
    judge::launch(dim3(groups / 2), dim3(BLOCK), kernel, in, sums, groups);
    judge::compare(name, sums, expected, 1);
}

int main(int, char **argv)
{
    judge::begin(8, argv[1]);
    const char *of = "reduce 100000000 4";
    constexpr unsigned GROUPS = 16;
    for (unsigned char b : judge::noise(GROUPS * BLOCK, 1))
        values.push_back(b);
    expected.assign(GROUPS, 0);
    for (unsigned i = 0; i < values.size(); i++)
        expected[i / BLOCK] += values[i];
    check("divergent", divergent);
    judge::counts tile = judge::total(judge::what::SHARED_LOADS);
    judge::show({"lanes-divergent", "lanes that take part in a load, divergent", tile.lanes / tile.requests,
        nullptr, 0,
        "Of each of the 4 warps 16, 8, 4, 2 and 1 lanes take part, then one lane of two warps, at last one "
        "of one: 127 lanes in 23 turns, and thread 0's last load."});
    check("interleaved", interleaved);
    tile = judge::total(judge::what::SHARED_LOADS);
    judge::show({"passes-interleaved", "passes of a load, interleaved", tile.wavefronts / tile.requests,
        "cuda-interleaved",
        judge::kept(of, "cuda-interleaved", "shared_waves") /
            judge::kept(of, "cuda-interleaved", "shared_loads"),
        "In the first step two warps take 2 passes each; then one warp takes 4, 4, 4, 4, 2 and 1, as fewer "
        "and "
        "fewer of its lanes are left to meet."});
    judge::hint(
        "After the shuffles lane 0 of each warp should hold the sum of its warp. __shfl_down_sync returns "
        "a value and changes none: does each of the five steps, n = 16 to 1, add what it returns? It "
        "does not leave the warp, so n is below 32.");
    check("shuffled, 16 groups of 128 values", shuffled);
    tile = judge::total(judge::what::SHARED_LOADS);
    judge::show({nullptr, "loads from shared memory for a group, shuffled", tile.requests / GROUPS, nullptr,
        0, nullptr});
    judge::goal(judge::total(judge::what::SHUFFLES).requests >= 4 * 5 * GROUPS,
        "The lanes of a warp do not add by shuffles yet: five of them, and every lane takes part.");
    judge::goal(
        tile.requests <= 8 * GROUPS, "Shared memory is read more than is needed for four sums of warps.");
    judge::goal(judge::barriers() <= 4,
        "One barrier in the hole is enough: between the four writes and thread 0's reads.");
    judge::note("The H200's figure is higher: nvcc loads both values of the first step at once, which leaves "
                "fewer requests.");
    return judge::end();
}
