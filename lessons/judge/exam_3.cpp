/* Lesson 3: images that end within a tile, then one that does not. */
#include "judge.h"

#include LESSON

static void check(int width, int height, judge::image (*picture)(int, int, int, unsigned))
{
    const judge::image p = picture(width, height, 3, 1);
    unsigned char *in = judge::given("in", p);
    unsigned char *out = judge::blank<unsigned char>("out", (size_t)width * height * 3);
    const dim3 block(BLOCK, BLOCK), grid((width + BLOCK - 1) / BLOCK, (height + BLOCK - 1) / BLOCK);
    judge::launch(grid, block, laplace, in, out, width, height, (int)p.pitch);
    judge::compare("the image", out, judge::laplace(p), width * 3, 3);
}

int main(int, char **argv)
{
    judge::begin(3, argv[1]);
    judge::hint(
        "The code below the hole is right, so a byte of the tile is wrong. Go through block (0, 0): byte "
        "(0, 0) of its tile belongs to pixel (-2, -2), and a pixel has 3 bytes. Which index of `in` "
        "does your formula give for it, and for the last "
        "byte that the tile needs?");
    check(40, 23, judge::picture_without_gaps);
    check(1, 1, judge::picture);
    judge::begin_counts("an image of 128 x 32 pixels");
    check(128, 32, judge::picture);
    const judge::counts loads = judge::total(judge::what::LOADS);
    const double bytes = loads.lanes / (128 * 32);
    const char *of = "filter 4992 3744 3";
    judge::show({"bytes", "bytes loaded for each pixel", bytes, nullptr, 0,
        "A block loads 20 x 20 pixels of 3 bytes, 1200 bytes, for 256 pixels of the result."});
    judge::show({nullptr, "sectors a load of a warp", loads.sectors / loads.requests, "cuda-shared2",
        judge::kept(of, "cuda-shared2", "load_sectors") / judge::kept(of, "cuda-shared2", "load_requests"),
        nullptr});
    judge::goal(bytes < 4.8,
        "More bytes are loaded than the tile has: each should be loaded by one thread of the block, once.");
    judge::goal(loads.lanes / loads.requests >= 8,
        "Few lanes load together while the others wait: let all 256 threads load.");
    judge::goal(loads.sectors / loads.requests < 5, "A load of a warp touches more sectors than it must: "
                                                    "neighbouring threads should load neighbouring bytes.");
    return judge::end();
}
