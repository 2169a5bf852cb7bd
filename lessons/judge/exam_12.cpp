#include "exam_row.h"

int main(int, char **argv)
{
    return examine(12, argv[1], "avx2", 3,
        "For 16 pixels: 5 loads and 5 additions make 16 sums of columns, which are stored; 5 loads and 5 "
        "additions of "
        "such sums make the box; the middle, the result and the two loops are the rest.");
}
