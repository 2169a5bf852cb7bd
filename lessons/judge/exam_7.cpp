/* Lesson 7: images that end within a thread's pixels, then one that does not. */
#include "judge.h"

#include LESSON

static void check(int width, int height)
{
    const judge::image p = judge::picture(width, height, 3, 1);
    unsigned char *in = judge::given("in", p);
    unsigned char *out = judge::blank<unsigned char>("out", (size_t)width * height * 3);
    const dim3 block(BLOCK_X, BLOCK_Y), grid((width + BLOCK_X - 1) / BLOCK_X, (height + TALL - 1) / TALL);
    judge::launch(grid, block, laplace, in, out, width, height, (int)p.pitch);
    judge::compare("the image", out, judge::laplace(p), width * 3, 3);
}

int main(int, char **argv)
{
    judge::begin(7, argv[1]);
    judge::hint("Row y of the image is sum[y % 4] of its thread: which of the values should be in that sum, "
                "and which are?");
    check(40, 23);
    check(33, 35);
    judge::begin_counts("an image of 64 x 64 pixels");
    check(64, 64);
    const judge::counts tile = judge::total(judge::what::SHARED_LOADS);
    const double loads = tile.lanes / (64 * 64 * 3);
    const char *of = "filter 4992 3744 3";
    judge::show({"loads", "loads from the tile, a pixel and colour", loads, "cuda-pixels",
        judge::kept(of, "cuda-pixels", "shared_loads") * 32 / (4992.0 * 3744 * 3),
        "8 rows of 5 values for 4 pixels."});
    judge::goal(loads < 10.5,
        "Values are loaded more often than once: load one into a variable, then add it to each window "
        "that it belongs to.");
    return judge::end();
}
