#include "exam_row.h"

int main(int, char **argv)
{
    return examine(11, argv[1], "sse4.1", 12,
        "25 loads of 2 instructions are 50 for 8 pixels, 6.25 for one. 25 additions make it 9.4; the middle, "
        "the "
        "result and the loop are the rest.");
}
