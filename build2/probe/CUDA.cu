#include <cuda_runtime.h>
__global__ void nothing() {}
int main() { int n = 0; return cudaGetDeviceCount(&n) == cudaSuccess && n < 0; }
