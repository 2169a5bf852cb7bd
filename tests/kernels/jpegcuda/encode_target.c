#include <stdio.h>

#include <jpeglib.h>

#include "encode_reference.h"

size_t lap_reference_target(const uint8_t *file, size_t size, int channels, lap_cuda_jpeg_target *t)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr error;
    cinfo.err = jpeg_std_error(&error);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, file, size);
    jpeg_read_header(&cinfo, TRUE);
    *t = (lap_cuda_jpeg_target){.width = (int)cinfo.image_width,
        .height = (int)cinfo.image_height,
        .channels = channels,
        .restart_interval = (int)cinfo.restart_interval};
    for (int c = 0; c < cinfo.num_components; c++) {
        t->sample_h[c] = cinfo.comp_info[c].h_samp_factor;
        t->sample_v[c] = cinfo.comp_info[c].v_samp_factor;
    }
    for (int q = 0; q < 2; q++) {
        const JQUANT_TBL *table = cinfo.quant_tbl_ptrs[cinfo.num_components == 3 ? q : 0];
        for (int i = 0; i < 64; i++)
            t->quant[q][i] = table->quantval[i];
    }
    const size_t scan = size - cinfo.src->bytes_in_buffer;
    jpeg_destroy_decompress(&cinfo);
    return scan;
}
