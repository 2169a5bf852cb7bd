/* Lesson 1: sizes that end within a block, then one that does not, whose counts are shown. */
#include "judge.h"

#include LESSON

static void check(int width, int height)
{
    const judge::image p = judge::picture(width, height, 3, 1);
    unsigned char *in = judge::given("in", p);
    unsigned char *out = judge::blank<unsigned char>("out", (size_t)width * height * 3);
    const dim3 block(BLOCK_X, BLOCK_Y),
        grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    judge::launch(grid, block, laplace, in, out, width, height, (int)p.pitch);
    judge::compare("the image", out, judge::laplace(p), width * 3, 3);
}

int main(int, char **argv)
{
    judge::begin(1, argv[1]);
    check(40, 23);
    check(1, 1);
    judge::begin_counts("an image of 128 x 32 pixels");
    check(128, 32);
    const judge::counts loads = judge::total(judge::what::LOADS);
    const char *of = "filter 4992 3744 3";
    judge::show({"sectors", "sectors a load of a warp", loads.sectors / loads.requests, "cuda-global",
        judge::kept(of, "cuda-global", "load_sectors") / judge::kept(of, "cuda-global", "load_requests"),
        "The 16 bytes of a row span 46 bytes: 2 sectors if they begin in the first 19 bytes of one, else 3; "
        "and a "
        "warp has two such rows."});
    judge::show({nullptr, "loads for each pixel", loads.lanes / (128 * 32), nullptr, 0, nullptr});
    judge::goal(loads.sectors / loads.requests < 6,
        "Every pixel has its thread, but a load of a warp touches more sectors than it must: threadIdx.x is "
        "the number "
        "that grows from one lane to the next, so it belongs to x, along a row.");
    return judge::end();
}
