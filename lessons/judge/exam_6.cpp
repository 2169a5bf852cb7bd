/* Lesson 6: images that end within a tile, then one that does not. */
#include "judge.h"

#include LESSON

static void check(int width, int height, judge::image (*picture)(int, int, int, unsigned))
{
    const judge::image p = picture(width, height, 3, 1);
    unsigned char *in = judge::given("in", p);
    unsigned char *out = judge::blank<unsigned char>("out", (size_t)width * height * 3);
    const dim3 block(BLOCK_X, BLOCK_Y),
        grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    judge::launch(grid, block, laplace, in, out, width, height, (int)p.pitch);
    judge::compare("the image", out, judge::laplace(p), width * 3, 3);
}

int main(int, char **argv)
{
    judge::begin(6, argv[1]);
    judge::hint(
        "The code below the hole is right, so a byte of the tile is wrong. Go through block (0, 0): byte "
        "(0, 0) of its tile belongs to pixel (-2, -2), and a pixel has 3 bytes. Which index of `in` "
        "does your formula give for it, and for the last "
        "byte that the tile needs?");
    check(40, 23, judge::picture_without_gaps);
    check(1, 1, judge::picture);
    judge::begin_counts("an image of 128 x 32 pixels");
    check(128, 32, judge::picture);
    const judge::counts loads = judge::total(judge::what::LOADS), stores = judge::total(judge::what::STORES),
                        tile = judge::total(judge::what::SHARED_LOADS);
    const char *of = "filter 4992 3744 3", *rung = "cuda-shared4-wide";
    judge::show({"sectors-stored", "sectors a store of a warp", stores.sectors / stores.requests, rung,
        judge::kept(of, rung, "store_sectors") / judge::kept(of, rung, "store_requests"),
        "32 bytes that are 3 apart span 94, and a block's row begins at a multiple of 96 bytes, a sector's "
        "begin."});
    judge::show({"passes", "passes a load from the tile", tile.wavefronts / tile.requests, rung,
        judge::kept(of, rung, "shared_waves") / judge::kept(of, rung, "shared_loads"),
        "Lane l reads word 3 * l and a constant: 32 lanes, 32 banks, as 3 and 32 have no divisor in "
        "common."});
    judge::show({nullptr, "sectors a load of a warp", loads.sectors / loads.requests, rung,
        judge::kept(of, rung, "load_sectors") / judge::kept(of, rung, "load_requests"), nullptr});
    judge::goal(loads.sectors / loads.requests < 2.3,
        "A load of the tile touches more sectors than a row's bytes lie in: the lanes of a warp should load "
        "neighbouring bytes, all 32 of one row.");
    judge::goal(loads.lanes <= 12 * 108 * 4 * 4, "Some bytes of the tile are loaded more than once.");
    return judge::end();
}
