/* A batch: the pictures that the decoder or the encoder processes in the same launches. Each launch has a row
 * of thread blocks for each picture, all as long as the largest picture needs: blockIdx.y, or z, is the
 * picture's number. Each kernel is compiled twice, for one picture and for many. */
#ifndef LAP_CUDA_JPEG_PHOTOS_CUH
#define LAP_CUDA_JPEG_PHOTOS_CUH

#include "cuda/device/queue.h"
#include "cuda/device/rung.cuh"
#include "photos.h"

template <typename T>
struct lap_jpeg_one {
    static constexpr bool is_alone = true; /* its launches have no more blocks than it needs */
    T photo;
};

template <typename T>
struct lap_jpeg_many {
    static constexpr bool is_alone = false;
    const T *photo; /* in device memory */
};

template <typename T>
LAP_DEVICE const T &lap_jpeg_photo(const lap_jpeg_one<T> &photos, unsigned)
{
    return photos.photo;
}

template <typename T>
LAP_DEVICE const T &lap_jpeg_photo(const lap_jpeg_many<T> &photos, unsigned i)
{
    return photos.photo[i];
}

/* The same for inner loops: a copy in registers, because a reference would be loaded again after each
 * store. */
template <typename T>
LAP_DEVICE const T &lap_jpeg_photo_copy(const lap_jpeg_one<T> &photos, unsigned)
{
    return photos.photo;
}

template <typename T>
LAP_DEVICE T lap_jpeg_photo_copy(const lap_jpeg_many<T> &photos, unsigned i)
{
    return photos.photo[i];
}

/* Returns byte BYTE of four words as a word, the first in the lowest bits. */
template <unsigned BYTE>
LAP_DEVICE unsigned lap_jpeg_four(unsigned a, unsigned b, unsigned c, unsigned d)
{
    constexpr unsigned two = BYTE | (4 + BYTE) << 4;
    return __byte_perm(__byte_perm(a, b, two), __byte_perm(c, d, two), 0x5410);
}

/* ---- host side ---------------------------------------------------------------------------------- */

template <typename T>
struct lap_jpeg_batch {
    const T *photo; /* on the host */
    unsigned count;
    const T *there; /* the same in device memory; NULL for a single picture */
};

/* Returns the largest value of of(picture) over all pictures. */
template <typename T, typename F>
static inline unsigned lap_jpeg_most(const lap_jpeg_batch<T> &batch, F of)
{
    unsigned most = 0;
    for (unsigned i = 0; i < batch.count; i++) {
        const unsigned value = (unsigned)of(batch.photo[i]);
        most = value > most ? value : most;
    }
    return most;
}

/* Copies the rows of many pictures to the device. */
template <typename T>
static lap_code lap_jpeg_bring_table(
    lap_jpeg_batch<T> *batch, const lap_cuda_table *table, int device, void *stream, lap_error *err)
{
    batch->there = NULL;
    if (batch->count == 1)
        return LAP_OK;
    batch->there = (const T *)table->device;
    return lap_cuda_copy(device, table->device, table->host, batch->count * sizeof(T), stream, err);
}

/* Launches the kernel for one picture or the one for many. Put a template with commas in parentheses. */
#define LAP_JPEG_LAUNCH(launch, batch, one, many) \
    lap_jpeg_launch_one_or_many(launch, batch, #one, __FILE__, __LINE__, one, many)

template <typename T>
static lap_code lap_jpeg_launch_one_or_many(const lap_launch &launch, const lap_jpeg_batch<T> &batch,
    const char *name, const char *file, int line, void (*one)(lap_jpeg_one<T>),
    void (*many)(lap_jpeg_many<T>))
{
    return batch.count == 1 ? lap_cuda_launch(launch, name, file, line, one, lap_jpeg_one<T>{*batch.photo})
                            : lap_cuda_launch(launch, name, file, line, many, lap_jpeg_many<T>{batch.there});
}

#endif
