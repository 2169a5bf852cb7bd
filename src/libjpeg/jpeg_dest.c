#include "libjpeg/jpeg_dest.h"

/* A band of a photo needs at least this much, so the first chunk does not grow in small steps. */
enum { FIRST_CAPACITY = 64 * 1024 };

static void point_behind(lap_jpeg_dest *dest)
{
    lap_chunk *chunk = dest->chunk;
    dest->base.next_output_byte = chunk->data + chunk->size;
    dest->base.free_in_buffer = chunk->capacity - chunk->size;
}

static void grow(j_compress_ptr cinfo, size_t more)
{
    lap_jpeg_error *error = (lap_jpeg_error *)cinfo->err;
    lap_jpeg_dest *dest = (lap_jpeg_dest *)cinfo->dest;
    if (lap_chunk_reserve(dest->chunk, more, &error->cause) != LAP_OK)
        lap_jpeg_raise(error);
    point_behind(dest);
}

static void init_destination(j_compress_ptr cinfo)
{
    (void)cinfo; /* lap_jpeg_dest_set has set the buffer */
}

/* libjpeg calls this when the whole buffer is full; next_output_byte is then not reliable. */
static boolean empty_output_buffer(j_compress_ptr cinfo)
{
    lap_chunk *chunk = ((lap_jpeg_dest *)cinfo->dest)->chunk;
    chunk->size = chunk->capacity;
    grow(cinfo, 1);
    return TRUE;
}

static void term_destination(j_compress_ptr cinfo)
{
    lap_jpeg_dest_flush(cinfo);
}

void lap_jpeg_dest_init(j_compress_ptr cinfo, lap_jpeg_dest *dest)
{
    *dest = (lap_jpeg_dest){.base = {.init_destination = init_destination,
                                .empty_output_buffer = empty_output_buffer,
                                .term_destination = term_destination}};
    cinfo->dest = &dest->base;
}

void lap_jpeg_dest_set(j_compress_ptr cinfo, lap_chunk *chunk)
{
    ((lap_jpeg_dest *)cinfo->dest)->chunk = chunk;
    grow(cinfo, FIRST_CAPACITY);
}

void lap_jpeg_dest_flush(j_compress_ptr cinfo)
{
    lap_chunk *chunk = ((lap_jpeg_dest *)cinfo->dest)->chunk;
    chunk->size = (size_t)(cinfo->dest->next_output_byte - chunk->data);
}
