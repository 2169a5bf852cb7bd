/* Shared by the transpose rungs: elements of 1, 3, 4 and 8 bytes, and the launch over tiles. */
#ifndef LAP_CUDA_TRANSPOSE_CUH
#define LAP_CUDA_TRANSPOSE_CUH

#include "cuda/device/rung.cuh"

struct lap_rgb {
    uint8_t r, g, b;
};
static_assert(sizeof(lap_rgb) == 3, "pixels of three bytes lie side by side");

/* Width and height of the input; strides in bytes. */
struct lap_transpose_geometry {
    int width, height;
    ptrdiff_t in_stride, out_stride;
};

template <typename T>
LAP_DEVICE const T *lap_in(const uint8_t *in, const lap_transpose_geometry &g, int x, int y)
{
    return reinterpret_cast<const T *>(in + y * g.in_stride) + x;
}

template <typename T>
LAP_DEVICE T *lap_out(uint8_t *out, const lap_transpose_geometry &g, int x, int y)
{
    return reinterpret_cast<T *>(out + y * g.out_stride) + x;
}

typedef void lap_transpose_kernel(const uint8_t *in, uint8_t *out, lap_transpose_geometry g);

/* One kernel for each element size. */
struct lap_transpose_kernels {
    lap_transpose_kernel *bytes1, *bytes3, *bytes4, *bytes8;
};

/* Launches blocks of threads over tiles of tile x tile elements. A grid has at most 65535 rows of blocks, so
 * taller images take several launches. They are cut so that the result's columns of each launch still begin
 * on 128-byte boundaries. */
static lap_code lap_transpose_launch(const char *name, lap_transpose_kernel *kernel, int tile, dim3 threads,
    const lap_view *in, const lap_view *out, const lap_exec *exec)
{
    const int max_rows = 65535 / 128 * 128 * tile;
    for (int y = 0; y < in->height; y += max_rows) {
        lap_transpose_geometry g = {
            in->width, in->height - y < max_rows ? in->height - y : max_rows, in->stride, out->stride};
        lap_launch launch = {in->place,
            dim3(lap_blocks((size_t)g.width, tile), lap_blocks((size_t)g.height, tile)), threads, 0,
            exec->stream, exec->err};
        lap_code code = lap_cuda_launch(launch, name, __FILE__, __LINE__, kernel, in->base + y * in->stride,
            out->base + (ptrdiff_t)y * in->channels, g);
        if (code)
            return code;
        if (in->height - y <= max_rows)
            break;
    }
    return LAP_OK;
}

static inline lap_transpose_kernel *lap_transpose_pick(const lap_transpose_kernels &kernels, int size)
{
    return size == 1   ? kernels.bytes1
           : size == 3 ? kernels.bytes3
           : size == 4 ? kernels.bytes4
                       : kernels.bytes8;
}

#endif
