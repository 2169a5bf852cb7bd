/* The exams of lessons 11 and 12: one row filter for the CPU. */
#include <cstdio>
#include <cstring>

#define LAP_JUDGE
#include "judge.h"

#include LESSON

namespace judge
{

extern bool in_kernel;

}

namespace
{

struct row {
    const unsigned char *in;
    long pitch;
    unsigned char *out;
    int width;
};

void run(void *argument)
{
    const row *r = static_cast<const row *>(argument);
    judge::in_kernel = true;
    filter_row(r->in, r->pitch, r->out, r->width);
    judge::in_kernel = false;
}

/* Returns the instructions per pixel of the last row. */
double check(int width, int height)
{
    constexpr int BEHIND = 64;
    const judge::image p = judge::picture(width, height, 1, 3);
    std::vector<unsigned char> out((size_t)width * height + BEHIND, 0xa5), bytes = p.bytes, tail;
    bytes.resize(bytes.size() + BEHIND);
    double steps = 0;
    for (int y = 0; y < height; y++) {
        row r = {bytes.data() + p.origin + (size_t)y * p.pitch, (long)p.pitch, out.data() + (size_t)y * width,
            width};
        tail.assign(BEHIND, 0xa5);
        memcpy(r.out + width, tail.data(), BEHIND);
        if (y == height - 1)
            steps = judge::instructions(run, &r);
        else
            run(&r);
        judge::goal(memcmp(r.out + width, tail.data(), BEHIND) == 0,
            "Bytes behind the row's last pixel are written.");
    }
    judge::compare("the image", out.data(), judge::laplace(p), width);
    return steps / width;
}

int examine(int number, const char *source, const char *set, double most, const char *why)
{
    judge::begin(number, source);
    judge::on_cpu();
    if (!judge::processor_has(set)) {
        printf("Lesson %d needs a processor with %s: this one has none.\n", number, set);
        judge::give_up(3);
    }
    check(32, 3);
    const double steps = check(320, 2);
    judge::show({"instructions", "instructions a pixel", steps, nullptr, 0, why});
    char said[160];
    snprintf(said, sizeof said,
        "It takes %.1f instructions a pixel; at most %.0f is the aim. How many pixels does each "
        "instruction of the inner loop work on?",
        steps, most);
    judge::goal(steps <= most, said);
    return judge::end();
}

} // namespace
