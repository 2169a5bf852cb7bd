/* The plans of the JPEG decoder and encoder: what they accept, and how they divide their memory. */
#include "plans.h"

#include "coding/standard_codes.h"
#include "coding/zigzag.h"

enum { MOST_SIDE = 65500 };

/* One of the standard's tables; `longer`: with one code less of 16 bits, so that the table is another one. */
static lap_huff_code code_of(bool is_dc, int chroma, int shorter)
{
    lap_standard_code symbols[LAP_STANDARD_AC];
    uint8_t bits[17] = {0}, values[256] = {0};
    lap_huff_code code;
    const int count = lap_standard_codes(is_dc, chroma, symbols) - shorter;
    for (int i = 0; i < count; i++) {
        bits[symbols[i].bits]++;
        values[i] = symbols[i].symbol;
    }
    need(lap_huff_make(bits, values, is_dc, &code) == LAP_HUFF_FINE, "a table");
    return code;
}

lap_jpeg_frame frame_of(int width, int height, int h, int v)
{
    lap_jpeg_frame f = {.width = width, .height = height, .components = h ? 3 : 1, .is_ycc = true};
    for (int c = 0; c < f.components; c++) {
        const int k = c > 0;
        f.sample_h[c] = c || !h ? 1 : h;
        f.sample_v[c] = c || !h ? 1 : v;
        for (int i = 0; i < 64; i++)
            f.quant[c][i] = (uint16_t)(1 + 64 * c + i);
        need(lap_huff_layout_add(&f.huffman, f.sample_h[c] * f.sample_v[c], k, 4 + k), "a component");
    }
    for (int k = 0; k < 2; k++) {
        f.huffman.codes[k] = code_of(true, k, 0);
        f.huffman.codes[4 + k] = code_of(false, k, 0);
    }
    f.huffman.codes[2] = f.huffman.codes[3] = code_of(true, 1, 1);
    f.huffman.codes[6] = code_of(false, 1, 1);
    return f;
}

/* ---- the decoder ----------------------------------------------------------------------------------- */

static bool takes(const lap_jpeg_frame *f, size_t bytes, const lap_cuda_jpeg_tuning *tuning)
{
    lap_cuda_jpeg_plan plan;
    return lap_cuda_jpeg_decode_plan(f, false, bytes, tuning, &plan);
}

static bool at_limit(int *field, int least, int most, const lap_jpeg_frame *f)
{
    const int before = *field;
    bool good = true;
    const int tries[] = {least - 1, least, most, most + 1};
    for (int i = 0; i < 4; i++) {
        *field = tries[i];
        if (takes(f, 1000, NULL) != (i == 1 || i == 2)) {
            printf("# %d of %d to %d\n", tries[i], least, most);
            good = false;
        }
    }
    *field = before;
    return good;
}

static void check_frames(void)
{
    lap_jpeg_frame f = frame_of(100, 50, 2, 2), gray = frame_of(100, 50, 0, 0);
    bool good = takes(&f, 1000, NULL) && takes(&gray, 1000, NULL);
    good = at_limit(&f.width, 1, MOST_SIDE, &f) && at_limit(&f.height, 1, MOST_SIDE, &f) && good;
    good = at_limit(&f.restart_interval, 0, 65535, &f) && good;
    good = !takes(&f, 1, NULL) && takes(&f, 2, NULL) && takes(&f, (size_t)1 << 28, NULL) && good;
    good = !takes(&f, ((size_t)1 << 28) + 1, NULL) && good;
    check(good, "a frame's size, its restart intervals and its bytes");
    good = true;
    for (int i = 0; i < 3 * 64; i++) {
        f.quant[i / 64][i % 64] = 0;
        good = good && !takes(&f, 1000, NULL);
        f.quant[i / 64][i % 64] = 255;
    }
    f.quant[3][0] = 0; /* there is no fourth component */
    check(good && takes(&f, 1000, NULL), "a quantiser of 0 is refused");
    good = at_limit(&f.components, 3, 3, &f) && at_limit(&f.huffman.components, 3, 3, &f) &&
           at_limit(&f.huffman.blocks, 6, 6, &f);
    good = at_limit(&gray.huffman.components, 1, 1, &gray) && at_limit(&gray.huffman.blocks, 1, 1, &gray) &&
           good;
    for (int c = 1; c < 3; c++)
        good = at_limit(&f.sample_h[c], 1, 1, &f) && at_limit(&f.sample_v[c], 1, 1, &f) && good;
    gray.huffman.component[0] = 1;
    good = !takes(&gray, 1000, NULL) && good;
    f.is_ycc = false;
    good = !takes(&f, 1000, NULL) && good;
    f.is_ycc = true;
    for (int i = 0; i < 6; i++) {
        f.huffman.component[i] = (uint8_t)(f.huffman.component[i] + 1);
        good = !takes(&f, 1000, NULL) && good;
        f.huffman.component[i] = (uint8_t)(f.huffman.component[i] - 1);
    }
    for (int h = 0; h <= 4; h++)
        for (int v = 0; v <= 4; v++) {
            if (h * v > 8)
                continue; /* more blocks than an MCU may have */
            lap_jpeg_frame sampled = frame_of(100, 50, h ? h : 1, v ? v : 1);
            sampled.sample_h[0] = h;
            sampled.sample_v[0] = v;
            good = takes(&sampled, 1000, NULL) == (h >= 1 && h <= 2 && v >= 1 && v <= 2) && good;
        }
    check(good, "components and samplings");
}

static void check_tuning(void)
{
    static const struct {
        lap_cuda_jpeg_tuning tuning;
        bool is_fine;
        int longest;
    } cases[] = {{{0, 0, 0, 0}, true, 4096}, {{128, 1, 1, 0}, true, 8192},
        {{8192, 64, 1 << 20, 0}, true, 128}, {{512, 8, 5, 17}, true, 17}, {{64, 0, 0, 0}, false, 0},
        {{127, 0, 0, 0}, false, 0}, {{192, 0, 0, 0}, false, 0}, {{16384, 0, 0, 0}, false, 0},
        {{8191, 0, 0, 0}, false, 0}, {{0, -1, 0, 0}, false, 0}, {{0, 65, 0, 0}, false, 0},
        {{0, 0, -1, 0}, false, 0}};
    const lap_jpeg_frame f = frame_of(100, 50, 2, 1);
    lap_cuda_jpeg_plan plan;
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const lap_cuda_jpeg_tuning *t = &cases[i].tuning;
        const bool is_fine = lap_cuda_jpeg_decode_plan(&f, false, 1000, t, &plan);
        good = good && is_fine == cases[i].is_fine;
        if (is_fine)
            good = good && plan.tuning.sub_bits == (t->sub_bits ? t->sub_bits : 256) &&
                   plan.tuning.group == (t->group ? t->group : 8) &&
                   plan.tuning.chain_lanes == (t->chain_lanes ? t->chain_lanes : 16384) &&
                   plan.tuning.longest_chain == cases[i].longest &&
                   plan.subs == parts(1000, (unsigned)plan.tuning.sub_bits / 8);
    }
    good = lap_cuda_jpeg_decode_plan(&f, false, 1000, NULL, &plan) && plan.tuning.sub_bits == 256 &&
           plan.tuning.longest_chain == 4096 && good;
    check(good, "the decoder's tuning: defaults and limits");
}

static void check_codes(void)
{
    static const struct {
        uint8_t dc[3], ac[3];
        unsigned count, ac_count;
    } cases[] = {{{0, 0, 0}, {4, 4, 4}, 2, 1}, {{0, 1, 1}, {4, 5, 5}, 4, 2}, {{0, 1, 2}, {4, 5, 6}, 6, 3},
        {{1, 0, 1}, {5, 5, 4}, 4, 2}, {{2, 2, 2}, {4, 5, 6}, 4, 3}};
    lap_cuda_jpeg_plan plan;
    bool good = true;
    size_t two = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_jpeg_frame f = frame_of(100, 50, 2, 2);
        memcpy(f.huffman.dc, cases[i].dc, 3);
        memcpy(f.huffman.ac, cases[i].ac, 3);
        good = good && lap_cuda_jpeg_decode_plan(&f, i % 2, 1000, NULL, &plan) &&
               plan.code_count == cases[i].count && plan.ac_count == cases[i].ac_count &&
               plan.codes[0] == cases[i].ac[0] && plan.codes[plan.ac_count] == cases[i].dc[0] &&
               plan.channels == (i % 2 ? 1 : 3) && plan.scan_bytes == 1000;
        two = i == 0 ? plan.staging_bytes : two;
        good = good && plan.staging_bytes == two + (plan.code_count - 2) * 8192;
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < 3; k++) { /* a table of the other kind, or none */
                static const uint8_t wrong[] = {7, 8, 255}, wrong_ac[] = {3, 8, 255};
                f.huffman.dc[c] = wrong[k];
                good = good && !takes(&f, 1000, NULL);
                f.huffman.dc[c] = cases[i].dc[c];
                f.huffman.ac[c] = wrong_ac[k];
                good = good && !takes(&f, 1000, NULL);
                f.huffman.ac[c] = cases[i].ac[c];
            }
        }
    }
    lap_jpeg_frame gray = frame_of(100, 50, 0, 0);
    good = lap_cuda_jpeg_decode_plan(&gray, false, 1000, NULL, &plan) && plan.channels == 1 &&
           plan.code_count == 2 && good;
    check(good, "each table is there once, those for AC first");
}

static bool is_laid_out(const size_t *offset, const size_t *bytes, int count, size_t all)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        if (offset[i] != at) {
            printf("# area %d is at %zu, expected %zu\n", i, offset[i], at);
            return false;
        }
        at += (bytes[i] + 255) / 256 * 256;
    }
    if (all != at)
        printf("# %zu bytes, expected %zu\n", all, at);
    return all == at;
}

/* Some areas begin just where 256 bytes end, so that a byte more is a step more. */
static void check_decoder_memory(void)
{
    static const struct {
        int width, height, h, v, restart;
        size_t bytes;
        unsigned mcus_across, mcus_down;
    } cases[] = {{1, 1, 0, 0, 0, 2, 1, 1}, {8, 8, 0, 0, 1, 32, 1, 1}, {9, 17, 0, 0, 4, 33, 2, 3},
        {16, 16, 2, 2, 0, 4096, 1, 1}, {17, 16, 2, 2, 1, 4097, 2, 1}, {17, 33, 2, 1, 7, 100000, 2, 5},
        {33, 17, 1, 2, 8, 65536, 5, 2}, {33, 17, 1, 1, 9, 8192, 5, 3},
        {65500, 65500, 2, 2, 3, 1 << 28, 4094, 4094}, {1000, 1000, 1, 1, 65535, 99, 125, 125},
        {512, 8, 0, 0, 1, 240, 64, 1}, {8, 8, 0, 0, 0, 192, 1, 1}};
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_jpeg_frame f = frame_of(cases[i].width, cases[i].height, cases[i].h, cases[i].v);
        lap_cuda_jpeg_plan p;
        const size_t bytes = cases[i].bytes;
        f.restart_interval = cases[i].restart;
        need(lap_cuda_jpeg_decode_plan(&f, false, bytes, NULL, &p), "a plan");
        const unsigned mcus = cases[i].mcus_across * cases[i].mcus_down, subs = parts(bytes, 32);
        const unsigned blocks = mcus * (cases[i].h ? (unsigned)(cases[i].h * cases[i].v + 2) : 1);
        const unsigned segments = cases[i].restart ? parts(mcus, (unsigned)cases[i].restart) : 1;
        unsigned tiles = 2 * parts(bytes, 4096);
        tiles = parts(subs, 256) > tiles ? parts(subs, 256) : tiles;
        tiles = parts(blocks, 2048) > tiles ? parts(blocks, 2048) : tiles;
        const size_t areas[] = {p.staging_bytes, bytes + 16, bytes + 64, tiles * 4ul, (segments + 1) * 4ul,
            subs * 8ul, subs * 4ul, blocks * 4ul, blocks * 4ul, blocks * 64ul};
        if (p.mcus != mcus || p.mcus_across != cases[i].mcus_across || p.blocks != blocks || p.subs != subs ||
            !is_laid_out(p.offset, areas, 10, p.workspace_bytes)) {
            printf("# case %zu: %u MCUs, %u blocks, %u subsequences\n", i, p.mcus, p.blocks, p.subs);
            good = false;
        }
    }
    check(good, "the decoder's memory");
}

/* Staged tables begin with 32 bytes of zeros; then come the quantisers and the number of tables that are
 * there. */
static void check_staging(void)
{
    enum { QUANT = 32, FILLED = QUANT + 4 * 192, KEPT = 4 };
    lap_cuda_jpeg_plan plans[KEPT];
    bool good = true;
    size_t most = 0;
    for (int i = 0; i < KEPT; i++) {
        lap_jpeg_frame f = frame_of(100, 50, i == 1 ? 0 : 2, 2);
        f.huffman.dc[2] = i == 2 ? 2 : 1;
        f.huffman.ac[1] = i == 3 ? 6 : 5;
        need(lap_cuda_jpeg_decode_plan(&f, false, 1000, NULL, &plans[i]), "a plan");
        most = plans[i].staging_bytes > most ? plans[i].staging_bytes : most;
    }
    unsigned *kept = calloc(1, most), *fresh = malloc(most), filled = 0;
    need(kept && fresh, "memory");
    for (int i = 0; i < 3 * KEPT; i++) {
        const lap_cuda_jpeg_plan *p = &plans[i * 7 % 5 % KEPT];
        const size_t tables = FILLED + 4;
        memset(fresh, 0xFF, most);
        lap_cuda_jpeg_decode_stage_tables(p, fresh, false);
        memset(kept, 0xFF, QUANT); /* the device has reported something */
        lap_cuda_jpeg_decode_stage_tables(p, kept, i > 0);
        filled = p->code_count > filled ? p->code_count : filled;
        for (int k = 0; k < QUANT / 4; k++)
            good = good && fresh[k] == 0 && kept[k] == 0;
        for (int k = 0; k < 192; k++) {
            const int c = k / 64;
            const unsigned quant =
                c < p->frame.components ? p->frame.quant[c][k % 64] | (unsigned)lap_zigzag[k % 64] << 16 : 0;
            good = good && fresh[QUANT / 4 + k] == quant &&
                   (c >= p->frame.components || kept[QUANT / 4 + k] == quant);
        }
        good = good && fresh[FILLED / 4] == p->code_count && kept[FILLED / 4] == filled;
        /* Alignment and what is behind the last code differ, so only whole codes are compared. */
        const size_t first = p->staging_bytes - p->code_count * 8192;
        good = good && memcmp((char *)fresh + first, (char *)kept + first, p->code_count * 8192ul) == 0 &&
               first > tables;
        for (unsigned k = 0; k < p->code_count; k++) {
            const size_t at = first - (6 * sizeof(lap_huff_code) + 15) / 16 * 16 + k * sizeof(lap_huff_code);
            good = good && memcmp((char *)kept + at, &p->frame.huffman.codes[p->codes[k]],
                               sizeof(lap_huff_code)) == 0;
            unsigned look[2048];
            lap_huff_fill(&p->frame.huffman.codes[p->codes[k]], 11, look);
            good = good && memcmp((char *)kept + first + k * 8192ul, look, sizeof look) == 0;
        }
    }
    free(kept);
    free(fresh);
    check(good, "staged tables are those of the picture, though others were there before");
}

/* ---- the encoder ----------------------------------------------------------------------------------- */

lap_cuda_jpeg_target target_of(int width, int height, int channels, int h, int v)
{
    lap_cuda_jpeg_target t = {.width = width, .height = height, .channels = channels};
    for (int c = 0; c < 3; c++)
        t.sample_h[c] = t.sample_v[c] = 1;
    t.sample_h[0] = h;
    t.sample_v[0] = v;
    for (int i = 0; i < 128; i++)
        t.quant[i / 64][i % 64] = (uint16_t)(1 + i);
    return t;
}

static bool encodes(const lap_cuda_jpeg_target *t, size_t capacity)
{
    lap_cuda_jpeg_encode_plan plan;
    return lap_cuda_jpeg_encode_plan_make(t, capacity, &plan);
}

static bool target_at_limit(int *field, int least, int most, const lap_cuda_jpeg_target *t)
{
    const int before = *field;
    bool good = true;
    const int tries[] = {least - 1, least, most, most + 1};
    for (int i = 0; i < 4; i++) {
        *field = tries[i];
        if (encodes(t, 0) != (i == 1 || i == 2)) {
            printf("# %d of %d to %d\n", tries[i], least, most);
            good = false;
        }
    }
    *field = before;
    return good;
}

static void check_targets(void)
{
    lap_cuda_jpeg_target t = target_of(100, 50, 3, 2, 2), gray = target_of(100, 50, 1, 1, 1);
    bool good = target_at_limit(&t.width, 1, MOST_SIDE, &t) && target_at_limit(&t.height, 1, MOST_SIDE, &t);
    good = target_at_limit(&t.channels, 3, 4, &t) && target_at_limit(&gray.channels, 1, 1, &gray) && good;
    t.restart_interval = -1;
    good = !encodes(&t, 0) && good;
    t.restart_interval = 1 << 30;
    good = encodes(&t, 0) && good;
    for (int i = 0; i < 128; i++) {
        uint16_t *q = &t.quant[i / 64][i % 64];
        for (int k = 0; k < 4; k++) {
            static const uint16_t tries[] = {0, 1, 255, 256};
            *q = tries[k];
            good = encodes(&t, 0) == (k == 1 || k == 2) && good;
        }
        *q = 16;
    }
    check(good, "what the encoder takes: sizes, channels, restarts, quantisers");
    good = true;
    for (int h = 0; h <= 5; h++)
        for (int v = 0; v <= 5; v++)
            for (int c = 0; c < 3; c++) { /* the others have factors of 1, so a ratio is whole */
                lap_cuda_jpeg_target s = target_of(100, 50, 3, 1, 1);
                s.sample_h[c] = h;
                s.sample_v[c] = v;
                good = encodes(&s, 0) == (h >= 1 && h <= 4 && v >= 1 && v <= 4 && h * v + 2 <= 10) && good;
                s.sample_h[(c + 1) % 3] = 2;
                s.sample_v[c] = 1;
                good = encodes(&s, 0) == (h == 1 || h == 2 || h == 4) && good;
                s.sample_v[(c + 1) % 3] = 2;
                s.sample_h[c] = 1;
                s.sample_v[c] = v;
                good = encodes(&s, 0) == ((v == 1 || v == 2 || v == 4) && (v + 4 + 1 <= 10)) && good;
            }
    gray.sample_h[1] = 3; /* of a component that there is not */
    good = encodes(&gray, 0) && good;
    check(good, "sampling factors whose ratios are whole, and at most ten blocks in an MCU");
    t = target_of(65500, 2424, 1, 1, 1); /* 8188 x 303 blocks; 2^32 bits are 2485513 blocks */
    good = encodes(&t, 0);
    t.height++;
    good = !encodes(&t, 0) && good;
    t = target_of(100, 50, 3, 1, 1);
    good = !encodes(&t, 15) && encodes(&t, 16) && encodes(&t, (1 << 30) + 15) &&
           !encodes(&t, (1 << 30) + 16) && good;
    check(good, "the largest picture, the least and the greatest capacity");
}

static void check_encoder_memory(void)
{
    static const struct {
        int width, height, channels, h, v, restart;
        size_t capacity;
        unsigned mcus_across, mcus_down;
    } cases[] = {{1, 1, 1, 1, 1, 0, 0, 1, 1}, {8, 8, 1, 1, 1, 1, 16, 1, 1}, {9, 17, 1, 1, 1, 4, 4096, 2, 3},
        {16, 16, 3, 2, 2, 0, 31, 1, 1}, {17, 16, 4, 2, 2, 1, 0, 2, 1}, {17, 33, 3, 2, 1, 7, 4112, 2, 5},
        {33, 17, 3, 1, 2, 8, 0, 5, 2}, {33, 17, 3, 4, 1, 9, 65536, 2, 3},
        {256, 256, 1, 1, 1, 1024, 0, 32, 32}, {264, 248, 1, 1, 1, 1023, 0, 33, 31},
        {1000, 1000, 3, 1, 1, 15625, 0, 125, 125}, {168, 8, 1, 1, 1, 1, 0, 21, 1},
        {512, 8, 1, 1, 1, 0, 0, 64, 1}, {2048, 2048, 1, 1, 1, 0, 0, 256, 256}};
    bool good = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lap_cuda_jpeg_target t =
            target_of(cases[i].width, cases[i].height, cases[i].channels, cases[i].h, cases[i].v);
        lap_cuda_jpeg_encode_plan p;
        t.restart_interval = cases[i].restart;
        need(lap_cuda_jpeg_encode_plan_make(&t, cases[i].capacity, &p), "a plan");
        const unsigned mcus = cases[i].mcus_across * cases[i].mcus_down, w = (unsigned)cases[i].width,
                       height = (unsigned)cases[i].height;
        const int components = cases[i].channels == 1 ? 1 : 3,
                  in_mcu = cases[i].h * cases[i].v + components - 1;
        const unsigned blocks = mcus * (unsigned)in_mcu;
        const unsigned intervals = cases[i].restart ? parts(mcus, (unsigned)cases[i].restart) : 1;
        const size_t luma = 64ul * parts(w, 8) * parts(height, 8),
                     chroma = components == 1 ? 0
                                              : 64ul * parts(w, 8 * (unsigned)cases[i].h) *
                                                    parts(height, 8 * (unsigned)cases[i].v);
        const size_t wanted =
                         cases[i].capacity ? cases[i].capacity : luma + 2 * chroma + 16 * intervals + 256,
                     capacity = wanted / 16 * 16;
        const size_t areas[] = {luma, chroma, chroma, blocks * 128ul, blocks * 2ul, blocks * 8ul,
            blocks * 4ul, blocks * 2ul, (blocks + 1) * 4ul, (blocks / 1024 + 1) * 4ul, (intervals + 1) * 12ul,
            capacity, parts(capacity, 4096) * 4ul, capacity, 16};
        if (p.mcus_x != (int)cases[i].mcus_across || p.mcus_y != (int)cases[i].mcus_down ||
            p.components != components || p.mcu_blocks != in_mcu || p.blocks != blocks ||
            p.intervals != intervals || p.capacity != capacity || memcmp(&p.target, &t, sizeof t) != 0 ||
            !is_laid_out(p.offset, areas, 15, p.workspace_bytes)) {
            printf("# case %zu: %dx%d MCUs of %d blocks, %u intervals, capacity %zu\n", i, p.mcus_x, p.mcus_y,
                p.mcu_blocks, p.intervals, p.capacity);
            good = false;
        }
        char *memory = NULL;
        good = (const char *)lap_cuda_jpeg_encode_scan(&p, memory + 4096) == memory + 4096 + p.offset[13] &&
               good;
    }
    check(good, "the encoder's memory");
}

void check_plans(void)
{
    check_frames();
    check_tuning();
    check_codes();
    check_decoder_memory();
    check_staging();
    check_targets();
    check_encoder_memory();
}
