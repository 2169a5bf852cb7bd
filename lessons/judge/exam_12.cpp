#include "exam_row.h"

int main(int, char **argv)
{
    return examine(12, argv[1], "avx2", 3);
}
