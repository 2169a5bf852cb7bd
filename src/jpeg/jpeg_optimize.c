#include "jpeg/jpeg_optimize.h"

#include "jpeg/jpeg_dest.h"

typedef struct recoding {
    struct jpeg_decompress_struct in;
    struct jpeg_compress_struct out;
    lap_jpeg_error error;
    const uint8_t *bytes;
    size_t size;
    lap_jpeg_dest dest;
    lap_chunk *chunk;
} recoding;

static void code_again(void *argument)
{
    recoding *r = argument;
    jpeg_create_decompress(&r->in);
    jpeg_create_compress(&r->out);
    jpeg_mem_src(&r->in, r->bytes, (unsigned long)r->size);
    jpeg_read_header(&r->in, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&r->in);
    jpeg_copy_critical_parameters(&r->in, &r->out);
    r->out.optimize_coding = TRUE;
    if (r->in.progressive_mode)
        jpeg_simple_progression(&r->out);
    lap_jpeg_dest_init(&r->out, &r->dest);
    lap_jpeg_dest_set(&r->out, r->chunk);
    jpeg_write_coefficients(&r->out, coefficients);
    jpeg_finish_compress(&r->out);
    lap_jpeg_dest_flush(&r->out);
    jpeg_finish_decompress(&r->in);
}

lap_code lap_jpeg_optimize(const uint8_t *bytes, size_t size, lap_chunk *out, lap_error *err)
{
    recoding r = {.bytes = bytes, .size = size, .chunk = out}; /* zeroed objects may be destroyed */
    r.in.err = r.out.err = lap_jpeg_error_init(&r.error);
    const lap_code code = lap_jpeg_guard(&r.error, code_again, &r);
    jpeg_destroy_decompress(&r.in);
    jpeg_destroy_compress(&r.out);
    if (code != LAP_OK)
        *err = r.error.cause;
    return code;
}
