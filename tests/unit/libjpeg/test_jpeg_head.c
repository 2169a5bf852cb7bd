/* A JPEG whose scan is made elsewhere, and the yardstick of the codec bench: the bytes of the encoder, which
 * are libjpeg's own (test_jpeg_write.c). */
#include "tests/support/encode_help.h"

#include "libjpeg/jpeg_floor.h"
#include "libjpeg/jpeg_head.h"

/* The head of a file: its header is that of the whole file, and says what the head says. */
static void the_head_is_that_of_the_file(void **unused)
{
    (void)unused;
    for (int k = 0; k < 3; k++)
        for (int restart = LAP_RESTART_AUTO; restart <= LAP_RESTART_OFF; restart++) {
            help_image image = help_make(70, 300, k ? 3 : 1, 9);
            lap_write_options o = help_options(&image.view);
            lap_jpeg_head head;
            uint8_t *bytes;
            size_t size;
            lap_error err;
            o.subsampling = (lap_subsampling)(LAP_SUB_444 + k);
            o.restart = (lap_restart)restart;
            assert_int_equal(help_encode(&image.view, "jpg", &o, &bytes, &size, &err), LAP_OK);
            assert_int_equal(lap_jpeg_head_make(&o, &head, &err), LAP_OK);
            assert_in_range(head.header.size, 100, size);
            assert_memory_equal(bytes, head.header.data, head.header.size);
            assert_int_equal(head.interval, help_restart_interval(bytes, size));
            assert_int_equal(head.interval != 0, restart != LAP_RESTART_OFF);
            assert_int_equal(head.components, k ? 3 : 1);
            assert_int_equal(head.h[0] * 10 + head.v[0], k == 2 ? 22 : k == 1 ? 21 : 11);
            assert_int_equal(head.band_rows, 128);
            assert_int_equal(head.quant[0][0], 3); /* T.81, K.1, at quality 90: (16 * 20 + 50) / 100 */
            lap_chunk_free(&head.header);
            o.quality = 0;
            assert_int_equal(lap_jpeg_head_make(&o, &head, &err), LAP_E_USAGE);
            free(bytes);
            free(image.memory);
        }
}

/* The codec bench's yardstick writes what libjpeg writes, and reads it; damage is an error, oddities are
 * none. */
static void the_yardstick_is_libjpeg(void **unused)
{
    (void)unused;
    help_image image = help_make(67, 45, 3, 11), back = help_make(67, 45, 3, 12);
    uint8_t *theirs;
    size_t their_size;
    const unsigned char *ours;
    size_t size;
    int shape[3];
    lap_error err;
    lap_jpeg_floor *yardstick;
    lap_write_options o = help_options(&image.view);
    o.subsampling = LAP_SUB_420;
    assert_int_equal(help_encode(&image.view, "jpg", &o, &theirs, &their_size, &err), LAP_OK);
    assert_int_equal(lap_jpeg_floor_create(&yardstick, &err), LAP_OK);
    for (int i = 0; i < 2; i++) { /* the second time into the buffer that grew */
        assert_int_equal(lap_jpeg_floor_encode(yardstick, &image.view, 90, &ours, &size, &err), LAP_OK);
        assert_int_equal(size, their_size);
        assert_memory_equal(ours, theirs, size);
    }
    uint8_t *odd = malloc(their_size + 3);
    memcpy(odd, theirs, 2);
    memcpy(odd + 2, "\1\2\3", 3); /* stray bytes before the first segment */
    memcpy(odd + 5, theirs + 2, their_size - 2);
    assert_int_equal(lap_jpeg_floor_open(yardstick, odd, their_size + 3, shape, &err), LAP_OK);
    assert_int_equal(shape[0] * 1000 + shape[1] * 10 + shape[2], 67453);
    assert_int_equal(lap_jpeg_floor_decode(yardstick, &back.view, &err), LAP_OK);
    long difference = 0;
    for (int y = 0; y < 45; y++)
        for (int x = 0; x < 3 * 67; x++)
            difference += labs((long)image.view.base[y * image.view.stride + x] -
                               (long)back.view.base[y * back.view.stride + x]);
    assert_in_range(difference, 1, 3 * 67 * 45 * 16);
    assert_int_equal(lap_jpeg_floor_open(yardstick, theirs, their_size / 2, shape, &err), LAP_OK);
    assert_int_equal(lap_jpeg_floor_decode(yardstick, &back.view, &err), LAP_E_DAMAGED);
    assert_int_equal(lap_jpeg_floor_open(yardstick, theirs, 300, shape, &err), LAP_E_DAMAGED);
    lap_jpeg_floor_destroy(yardstick);
    free(odd);
    free(theirs);
    free(back.memory);
    free(image.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_is_that_of_the_file),
        cmocka_unit_test(the_yardstick_is_libjpeg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
