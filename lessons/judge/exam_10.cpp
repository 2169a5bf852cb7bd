/* Lesson 10: images that end within a walk, then one that does not. */
#include "judge.h"

#include LESSON

static void check(int width, int height)
{
    const judge::image p = judge::picture(width, height, 1, 1);
    unsigned char *in = judge::given("in", p);
    unsigned char *out = judge::blank<unsigned char>("out", (size_t)width * height * 1);
    const dim3 block(BLOCK), grid((width + BLOCK - 1) / BLOCK, (height + DEEP - 1) / DEEP);
    judge::launch(grid, block, laplace, in, out, width, height, (int)p.pitch);
    judge::compare("the image", out, judge::laplace(p), width * 1);
}

int main(int, char **argv)
{
    judge::begin(10, argv[1]);
    check(40, 23);
    check(70, 35);
    check(1, 1);
    judge::begin_counts("an image of 128 x 64 pixels");
    check(128, 64);
    const judge::counts loads = judge::total(judge::what::LOADS);
    const double a_pixel = loads.lanes / (128 * 64);
    judge::show({"loads", "loads for each pixel", a_pixel, nullptr, 0,
        "36 rows of 5 loads, and 32 loads of the middle, for 32 pixels: 212 / 32."});
    judge::goal(a_pixel < 7,
        "Rows are added more often than once: keep the five sums, and add only the row that enters.");
    judge::note("Arithmetic is not counted here. In nvcc's machine code the kernel of cuda-slide has " +
                std::to_string((int)judge::kept_instructions("filter cuda-slide", "instructions")) +
                " instructions for its 3 colours, " +
                std::to_string((int)judge::kept_instructions("filter cuda-slide", "LDG")) +
                " of them loads; that of cuda-box-sum, "
                "which adds up each window again, " +
                std::to_string((int)judge::kept_instructions("filter cuda-box-sum", "instructions")) +
                " (kept in docs/profile/sass.json).");
    return judge::end();
}
