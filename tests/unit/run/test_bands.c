/* The bands of a photo, from a simulated decoder to a simulated encoder: each arrives once and in order, the
 * first failure counts, and no pixels are held twice. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/pool.h"
#include "base/status.h"
#include "run/bands.h"

enum { WIDTH = 5, HEIGHT = 50, CHANNELS = 3, ROWS = 8, BANDS = (HEIGHT + ROWS - 1) / ROWS, CELLS = 3 };
enum { NONE = -1 };

typedef enum { IN_ORDER, BY_PARTS, FROM_WHOLE, FROM_RESULT, KINDS } kind;
typedef enum { DECODER, ENCODER, OUTPUT } part;

static struct {
    int images;              /* created during the run */
    int appended;            /* number of bands */
    part failing;            /* fails at band `fail_band` */
    int fail_band;           /* NONE: nothing fails */
    bool is_silent;          /* the failure has no message */
    bool second;             /* another thread encodes band 0, and fails after the first has left */
    sem_t encodes, has_left; /* that thread encodes; a thread has left the team */
    lap_job_fn *member;
} made;

lap_code __real_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err);
lap_code __wrap_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err);
lap_code __wrap_lap_image_create(
    lap_image *image, int width, int height, int channels, int apron, lap_error *err)
{
    made.images++;
    return __real_lap_image_create(image, width, height, channels, apron, err);
}

static void work_and_tell(void *argument)
{
    made.member(argument);
    if (made.second)
        assert_int_equal(sem_post(&made.has_left), 0);
}

void __real_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument);
void __wrap_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument);
void __wrap_lap_pool_team(lap_pool *pool, int members, lap_job_fn *fn, void *argument)
{
    made.member = fn;
    __real_lap_pool_team(pool, members, work_and_tell, argument);
}

static uint8_t sample(int i, int y)
{
    return (uint8_t)(i * 7 + y * 13);
}

static void write_samples(const lap_view *rows, int first)
{
    for (int y = 0; y < rows->height; y++)
        for (int i = 0; i < rows->width * rows->channels; i++)
            rows->base[y * rows->stride + i] = sample(i, first + y);
}

static lap_code at(part now, int band, lap_error *err)
{
    if (now != made.failing || band != made.fail_band)
        return LAP_OK;
    if (made.second)
        assert_int_equal(sem_wait(&made.encodes), 0);
    return made.is_silent ? LAP_E_DAMAGED : lap_fail(err, LAP_E_TRUNCATED, "band %d", band);
}

static lap_code open_at(lap_decoder *decoder, lap_error *err)
{
    (void)decoder, (void)err;
    return LAP_OK;
}

static lap_code read_rows(lap_decoder *decoder, const lap_view *rows, lap_error *err)
{
    const int first = decoder->next_row;
    write_samples(rows, first);
    return at(DECODER, (first + rows->height - 1) / ROWS, err);
}

static lap_code finish_rows(lap_decoder *decoder, lap_error *err)
{
    (void)decoder, (void)err;
    return LAP_OK;
}

static void close_rows(lap_decoder *decoder)
{
    (void)decoder;
}

static const lap_decoder_ops at_ops = {.open = open_at, .rows = read_rows, .close = close_rows};
static const lap_decoder_ops decoder_ops = {
    .rows = read_rows, .finish = finish_rows, .close = close_rows, .at = &at_ops};

static lap_code encode_band(
    lap_encoder *encoder, int index, const lap_view *rows, lap_chunk *chunk, lap_error *err)
{
    (void)encoder, (void)chunk;
    for (int y = 0; y < rows->height; y++)
        for (int i = 0; i < rows->width * rows->channels; i++)
            assert_int_equal(rows->base[y * rows->stride + i], sample(i, index * ROWS + y));
    if (!made.second || index > 0)
        return at(ENCODER, index, err);
    assert_int_equal(sem_post(&made.encodes), 0);
    assert_int_equal(sem_wait(&made.has_left), 0);
    return lap_fail(err, LAP_E_MEMORY, "later");
}

static lap_code append_band(lap_encoder *encoder, int index, const lap_chunk *chunk, lap_error *err)
{
    (void)encoder, (void)chunk;
    const lap_code code = at(OUTPUT, index, err);
    made.appended += code == LAP_OK;
    return code;
}

static const lap_encoder_ops encoder_ops = {.band = encode_band, .append = append_band};

static lap_pool *pool;
static lap_source *source;

static lap_code run(kind how, lap_error *err)
{
    const bool by_parts = how == BY_PARTS;
    const lap_plan plan = {.format = LAP_FORMAT_PPM,
        .threads = 2,
        .turn = LAP_TURN_NONE,
        .width = WIDTH,
        .height = HEIGHT,
        .channels = CHANNELS,
        .band_rows = ROWS,
        .bands = BANDS,
        .in_any_order = true,
        .by_parts = by_parts,
        .strip_rows = ROWS,
        .cells = by_parts ? BANDS : CELLS,
        .results = by_parts ? 2 : 0,
        .part_bands = 2,
        .ahead = CELLS};
    lap_decoder decoder = {.ops = &decoder_ops,
        .source = source,
        .header = {.width = WIDTH, .height = HEIGHT, .channels = CHANNELS},
        .end_row = HEIGHT,
        .opens = by_parts ? LAP_AT_ANY_ROW : LAP_AT_FIRST_ROW};
    lap_encoder encoder = {.ops = &encoder_ops,
        .options = {.width = WIDTH, .height = HEIGHT, .channels = CHANNELS},
        .band_rows = ROWS,
        .bands = BANDS};
    lap_times ms = {0};
    lap_image image;
    assert_int_equal(__real_lap_image_create(&image, WIDTH, HEIGHT, CHANNELS, 0, err), LAP_OK);
    write_samples(&image.view, 0);
    made.images = made.appended = 0;
    const lap_bands_job job = {.plan = &plan,
        .pool = pool,
        .decoder = &decoder,
        .encoder = &encoder,
        .whole = how == FROM_WHOLE ? &image.view : NULL,
        .result = how == FROM_RESULT ? &image.view : NULL,
        .ms = &ms};
    const lap_code code = lap_bands_run(&job, err);
    lap_image_destroy(&image);
    return code;
}

/* Decoding in order creates one image for each cell, decoding by parts one for the results; pixels that are
 * there already need none. */
static void pixels_are_held_once(void **state)
{
    (void)state;
    static const int images[KINDS] = {[IN_ORDER] = CELLS, [BY_PARTS] = 1};
    for (kind how = 0; how < KINDS; how++) {
        lap_error err = {0};
        made.fail_band = NONE;
        assert_int_equal(run(how, &err), LAP_OK);
        assert_int_equal(made.appended, BANDS);
        assert_int_equal(made.images, images[how]);
    }
}

static void the_first_failure_counts(void **state)
{
    (void)state;
    for (kind how = 0; how < KINDS; how++)
        for (part failing = how < FROM_WHOLE ? DECODER : ENCODER; failing <= OUTPUT; failing++)
            for (int is_silent = 0; is_silent < 2; is_silent++) {
                lap_error err = {0};
                made.failing = failing;
                made.fail_band = 4;
                made.is_silent = is_silent;
                const lap_code wanted = is_silent ? LAP_E_DAMAGED : LAP_E_TRUNCATED;
                assert_int_equal(run(how, &err), wanted);
                assert_int_equal(err.code, wanted);
                assert_string_equal(err.message, is_silent ? "" : "band 4");
                assert_true(made.appended <= 4);
                assert_true(failing != OUTPUT || made.appended == 4);
            }
}

/* Two threads fail: the second one only after the first has left the team. */
static void a_later_failure_does_not_count(void **state)
{
    (void)state;
    lap_error err = {0};
    made.failing = DECODER;
    made.fail_band = CELLS - 1;
    made.is_silent = false;
    made.second = true;
    assert_int_equal(run(IN_ORDER, &err), LAP_E_TRUNCATED);
    made.second = false;
    assert_int_equal(err.code, LAP_E_TRUNCATED);
    assert_string_equal(err.message, "band 2");
    assert_int_equal(made.appended, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_held_once),
        cmocka_unit_test(the_first_failure_counts),
        cmocka_unit_test(a_later_failure_does_not_count),
    };
    if (lap_source_memory("", 0, "given", &source, NULL) != LAP_OK)
        return 99;
    pool = lap_pool_create(2, NULL);
    if (!pool || sem_init(&made.encodes, 0, 0) != 0 || sem_init(&made.has_left, 0, 0) != 0)
        return 99;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    lap_pool_destroy(pool);
    lap_source_close(source);
    return failed;
}
