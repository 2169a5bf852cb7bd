/* Lesson 2: both kernels on the same matrix. */
#include "judge.h"

#include LESSON

static double sectors_of(const char *rung, const char *what)
{
    const std::string counter = what;
    return judge::kept("transpose 4992 3744 4", rung, (counter + "_sectors").c_str()) /
           judge::kept("transpose 4992 3744 4", rung, (counter + "_requests").c_str());
}

/* Returns the sectors per request, of loads or stores, since an earlier count. */
static double since(const judge::counts &before, judge::what w)
{
    const judge::counts now = judge::total(w);
    return (now.sectors - before.sectors) / (now.requests - before.requests);
}

static void check(int width, int height)
{
    std::vector<float> values((size_t)width * height), turned(values.size());
    for (size_t i = 0; i < values.size(); i++)
        values[i] = turned[i % width * height + i / width] = (float)i;
    float *in = judge::given("in", values), *out = judge::blank<float>("out", values.size());
    const dim3 block(BLOCK, BLOCK);
    const unsigned across = (width + BLOCK - 1) / BLOCK, down = (height + BLOCK - 1) / BLOCK;
    judge::launch(dim3(across, down), block, transpose_read, in, out, width, height);
    judge::compare("transpose_read", out, turned, height);
    const double stored = since({}, judge::what::STORES);
    const judge::counts loads = judge::total(judge::what::LOADS), stores = judge::total(judge::what::STORES);
    float *again = judge::blank<float>("out", values.size());
    judge::launch(dim3(down, across), block, transpose_write, in, again, width, height);
    judge::compare("transpose_write", again, turned, height);
    if (width % BLOCK || !judge::going())
        return;
    judge::show({"sectors-stored", "sectors a store, transpose_read", stored, "cuda-naive",
        sectors_of("cuda-naive", "store"),
        "A warp is two rows of 16 threads. Its floats go to 16 rows of the result; two threads one above the "
        "other write neighbours, which share a sector.",
        true});
    judge::show({"sectors-loaded", "sectors a load, transpose_write", since(loads, judge::what::LOADS),
        "cuda-naive-write", sectors_of("cuda-naive-write", "load"),
        "The 16 threads of a row read from 16 rows of the source; two threads one above the other read "
        "neighbours, which share a sector."});
    judge::goal(since(stores, judge::what::STORES) < 4.5,
        "transpose_write stores more than 4 sectors a warp: the threads of a row must write neighbouring "
        "floats. Which of its "
        "indices grows by 1 from one thread to the next?");
}

int main(int, char **argv)
{
    judge::begin(2, argv[1]);
    judge::hint(
        "Each element of `in` holds its own index: the wrong value is the index that your kernel read, the "
        "right value is the index that it should have read. How long is a row of the result?");
    check(40, 23);
    judge::begin_counts("a matrix of 128 x 64 floats");
    check(128, 64);
    return judge::end();
}
