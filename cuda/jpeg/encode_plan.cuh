/* Shared by the encoder's plan and its stages: the areas of the workspace, and sizes. */
#ifndef LAP_CUDA_JPEG_ENCODE_PLAN_CUH
#define LAP_CUDA_JPEG_ENCODE_PLAN_CUH

#include "encode.cuh"

enum area {
    PLANE0,
    PLANE1,
    PLANE2,
    COEFFICIENTS,
    DC,
    LANE_BITS,
    HEADS,
    AC_BITS,
    STARTS,
    TILES,
    PLACES,
    WORDS,
    STUFFED,
    SCAN,
    RESULT
};

static inline int divide_up(int a, int b)
{
    return (a - 1) / b + 1;
}

static inline int largest(const int *values, int count)
{
    int most = 1;
    for (int i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

/* Returns how many blocks of a component have pixels, across or down. */
static inline int real_blocks(int pixels, int factor, int most)
{
    return divide_up(pixels * factor, most * 8);
}

#endif
