/* Lesson 4: images that end within a tile, then one that does not. */
#include "judge.h"

#include LESSON

static void check(int width, int height)
{
    const judge::image p = judge::picture(width, height, 3, 1);
    unsigned char *in = judge::given("in", p);
    unsigned char *out = judge::blank<unsigned char>("out", (size_t)width * height * 3);
    const dim3 block(BLOCK, BLOCK), grid((width + BLOCK - 1) / BLOCK, (height + BLOCK - 1) / BLOCK);
    judge::launch(grid, block, laplace, in, out, width, height, (int)p.pitch);
    judge::compare("the image", out, judge::laplace(p), width * 3, 3);
}

int main(int, char **argv)
{
    judge::begin(4, argv[1]);
    check(40, 23);
    judge::begin_counts("an image of 64 x 32 pixels");
    check(64, 32);
    judge::show({"barriers", "barriers that a thread passes", judge::barriers(), nullptr, 0,
        "Two for each of three colours are 6; after the last colour nothing is loaded, so 5 are enough."});
    if (judge::barriers() > 5)
        judge::note(
            "After the last colour nothing is loaded, so no thread needs to wait: 5 barriers are enough.");
    judge::goal(judge::barriers() <= 6,
        "There are more barriers than accesses to order: two for each colour are enough.");
    return judge::end();
}
