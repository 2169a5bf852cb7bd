#include <omp.h>
int main(void) { int n = 0;
#pragma omp parallel reduction(+ : n)
    n += 1;
    return n < 1 || omp_get_max_threads() < 1; }
