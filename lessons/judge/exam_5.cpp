/* Lesson 5: three pitches to predict, then the pitch that the student chose. */
#include "judge.h"

#include LESSON

static void check(int width, int height, const char *name,
    void (*kernel)(const unsigned char *, unsigned char *, int, int, int))
{
    const judge::image p = judge::picture(width, height, 3, 1);
    unsigned char *in = judge::given("in", p);
    unsigned char *out = judge::blank<unsigned char>("out", (size_t)width * height * 3);
    const dim3 block(BLOCK, BLOCK), grid((width + BLOCK - 1) / BLOCK, (height + BLOCK - 1) / BLOCK);
    judge::launch(grid, block, kernel, in, out, width, height, (int)p.pitch);
    judge::compare(name, out, judge::laplace(p), width * 3, 3);
}

static double passes()
{
    const judge::counts loads = judge::total(judge::what::SHARED_LOADS);
    return loads.wavefronts / loads.requests;
}

static void figure(const char *name, const char *text, const char *rung, const char *why,
    void (*kernel)(const unsigned char *, unsigned char *, int, int, int))
{
    const char *of = "filter 4992 3744 3";
    judge::begin_counts("");
    check(64, 32, text, kernel);
    judge::show({name, text, passes(), rung,
        rung ? judge::kept(of, rung, "shared_waves") / judge::kept(of, rung, "shared_loads") : 0, why, true});
}

int main(int, char **argv)
{
    static_assert(MY_PITCH >= 60 && MY_PITCH < 128,
        "MY_PITCH must be 60 to 127: a row of the tile has 60 words, and shared memory is small");
    judge::begin(5, argv[1]);
    check(40, 23, "the image", laplace<MY_PITCH>);
    figure("pitch-60", "passes a load, rows of 60 words", "cuda-shared4-conflict",
        "The first row's lanes ask the banks 0, 3 ... 30, 1, 4 ... 13, the second row's 28, 31, 2 ... 29, 0, "
        "3, "
        "6, 9: four banks are asked for two words, and one such bank is enough for a second pass.",
        laplace<60>);
    figure("pitch-65", "passes a load, rows of 65 words", nullptr,
        "The second row begins in bank 1, and meets the first one's banks 1, 4, 7, 10 and 13: an odd pitch "
        "helps a column of words, not two rows whose words are 3 apart.",
        laplace<65>);
    figure("pitch-80", "passes a load, rows of 80 words", "cuda-shared4-pad",
        "Word 80 is in bank 16, where the first row would go on: 3 * 16 = 48 is 16 modulo 32.", laplace<80>);
    judge::begin_counts("an image of 64 x 32 pixels");
    check(64, 32, "the image", laplace<MY_PITCH>);
    judge::goal(passes() < 1.01,
        "With rows of " + std::to_string(MY_PITCH) + " words a load takes " +
            std::to_string(passes()).substr(0, 4) +
            " passes. Write the banks of lanes 0 to 15, 3 * l % 32, in one row, and "
            "those of lanes 16 to 31, (MY_PITCH + 3 * (l - 16)) % 32, below: which banks are in both?");
    return judge::end();
}
