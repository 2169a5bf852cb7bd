#include "exam_row.h"

int main(int, char **argv)
{
    return examine(11, argv[1], "sse4.1", 12);
}
