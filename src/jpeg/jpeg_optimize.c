#include "jpeg/jpeg_optimize.h"

#include <stdlib.h>

#include "jpeg/jpeg_error.h"

typedef struct recoding {
    struct jpeg_decompress_struct in;
    struct jpeg_compress_struct out;
    lap_jpeg_error error;
    const uint8_t *bytes;
    size_t size;
    unsigned char *made;
    unsigned long made_size;
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
    jpeg_mem_dest(&r->out, &r->made, &r->made_size);
    jpeg_write_coefficients(&r->out, coefficients);
    jpeg_finish_compress(&r->out);
    jpeg_finish_decompress(&r->in);
}

lap_code lap_jpeg_optimize(const uint8_t *bytes, size_t size, uint8_t **out, size_t *out_size, lap_error *err)
{
    recoding r = {.bytes = bytes, .size = size}; /* zeroed objects may be destroyed */
    r.in.err = r.out.err = lap_jpeg_error_init(&r.error);
    const lap_code code = lap_jpeg_guard(&r.error, code_again, &r);
    jpeg_destroy_decompress(&r.in);
    jpeg_destroy_compress(&r.out);
    if (code != LAP_OK) {
        free(r.made);
        *err = r.error.cause;
        return code;
    }
    *out = r.made;
    *out_size = r.made_size;
    return LAP_OK;
}
