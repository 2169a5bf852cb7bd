#include "stream_case.h"

#include <stdlib.h>
#include <string.h>

#include "../encode/encode_case.h"
#include "coding/jpeg_script.h"

enum { PARTS = 4, BAND = 64, MOST_SCANS = 90, NO_BITS = 15, MOST_CODES = 256 };

typedef struct code { /* a Huffman table: its entries in the order of the file */
    int count;
    uint8_t symbol[MOST_CODES], length[MOST_CODES];
    uint16_t bits[MOST_CODES];
} code;

typedef struct part { /* a component */
    int id, h, v;
    int wide, high; /* blocks that a scan of only this component has */
    int across;     /* blocks in a row, padded to whole MCUs */
    int quant[BAND];
    int missing[BAND]; /* low bits not yet coded; NO_BITS: all */
    uint64_t *nonzero; /* one for each block: bit k for coefficient k */
    int *spent;        /* one for each block: sum of the magnitudes of its AC values */
} part;

typedef struct scan {
    int parts, part[PARTS];
    int first, last, high, low;
} scan;

typedef enum oddity {
    NOTHING_ODD,
    BYTES_LEFT,        /* after the last symbol of an interval */
    RUNS_TOO_LONG,     /* of ended blocks: beyond the interval */
    PAST_THE_END,      /* a value behind its band, or an EOB run in a sequential file */
    LATE_COLOURS,      /* segments between scans that change the colour space; unknown ones */
    LATE_SEGMENTS,     /* after the last scan; the height is one of them */
    NO_END,            /* marker */
    SCANS_IN_DISORDER, /* AC before DC, or twice */
    SCANS_MISSING,
    ODDITIES
} oddity;

typedef struct maker {
    uint8_t *data;
    size_t size, room;
    uint64_t seed;
    unsigned window, count; /* bits not yet written */
    bool is_progressive, has_fill;
    bool is_wild; /* values of any size */
    oddity odd;   /* what the standard does not allow */
    bool is_left; /* to libjpeg-turbo: by what it consists of */
    int width, height, parts, mcus, mcu_rows;
    part part[PARTS];
    int interval; /* of the scan */
    /* the scan in progress */
    code dc[PARTS], ac[PARTS];
    int kept;          /* what table 0 for AC can be used for again: 1 + is it for refinements; 0: nothing */
    int before[PARTS]; /* DC of the block before */
    int ended;         /* blocks left in the EOB run */
    int left;          /* blocks left in the interval, this one included */
} maker;

/* ---- chance -------------------------------------------------------------------------------------- */

static int some(maker *m, int count)
{
    return (int)(case_random(&m->seed) % (unsigned)count);
}

static bool chance(maker *m, int one_in)
{
    return some(m, one_in) == 0;
}

/* ---- bytes and bits ------------------------------------------------------------------------------ */

static void put(maker *m, int byte)
{
    if (m->size == m->room) {
        m->room = 2 * m->room + 4096;
        m->data = realloc(m->data, m->room);
        if (!m->data)
            abort();
    }
    m->data[m->size++] = (uint8_t)byte;
}

static void put_two(maker *m, int word)
{
    put(m, word >> 8);
    put(m, word);
}

static void put_marker(maker *m, int marker)
{
    for (int fill = m->has_fill && chance(m, 8) ? 1 + some(m, 5) : 0; fill > 0; fill--)
        put(m, 0xFF);
    put(m, 0xFF);
    put(m, marker);
}

/* Writes the length of a segment that began at `begin`, at its length. */
static void end_segment(maker *m, size_t begin)
{
    m->data[begin] = (uint8_t)((m->size - begin) >> 8);
    m->data[begin + 1] = (uint8_t)(m->size - begin);
}

static size_t begin_segment(maker *m, int marker)
{
    put_marker(m, marker);
    put_two(m, 0);
    return m->size - 2;
}

static void put_bits(maker *m, unsigned bits, unsigned length)
{
    for (unsigned i = length; i-- > 0;) {
        m->window = m->window << 1 | (bits >> i & 1);
        if (++m->count % 8 != 0)
            continue;
        put(m, (int)(m->window & 255));
        if ((m->window & 255) == 255)
            put(m, 0);
    }
}

/* Pads the last byte; now and then a byte too many follows. */
static void end_bits(maker *m)
{
    const bool is_odd = chance(m, 16);
    while (m->count % 8 != 0)
        put_bits(m, is_odd ? (unsigned)some(m, 2) : 1, 1);
    if (m->odd == BYTES_LEFT && chance(m, 8))
        put(m, some(m, 255));
}

static void put_entry(maker *m, const code *c, int entry)
{
    put_bits(m, c->bits[entry], c->length[entry]);
}

/* ---- tables -------------------------------------------------------------------------------------- */

/* Lengths by chance, as far as all codes fit; the code of 16 ones stays free. */
static void set_lengths(maker *m, int count, int lengths[MOST_CODES])
{
    const int longest = 4 + some(m, 13);
    int left = 65535;
    for (int i = 0; i < count; i++) {
        int length = 1 + some(m, longest);
        while (length < 16 && 1 << (16 - length) > left - (count - i - 1))
            length++;
        left -= 1 << (16 - length);
        lengths[i] = length;
    }
}

static void make_code(maker *m, const uint8_t *symbols, int count, code *c)
{
    int lengths[MOST_CODES];
    unsigned next = 0;
    set_lengths(m, count, lengths);
    c->count = 0;
    for (int length = 1; length <= 16; length++, next <<= 1)
        for (int i = 0; i < count; i++) {
            if (lengths[i] != length)
                continue;
            c->symbol[c->count] = symbols[i];
            c->length[c->count] = (uint8_t)length;
            c->bits[c->count++] = (uint16_t)next++;
        }
}

static void put_code(maker *m, const code *c, int number)
{
    put(m, number);
    for (int length = 1; length <= 16; length++) {
        int count = 0;
        for (int i = 0; i < c->count; i++)
            count += c->length[i] == length;
        put(m, count);
    }
    for (int i = 0; i < c->count; i++)
        put(m, c->symbol[i]);
}

static void make_dc(maker *m, code *c)
{
    uint8_t symbols[40] = {0};
    const int count = 1 + some(m, 30), most = m->is_wild ? 16 : 12;
    for (int i = 1; i < count; i++)
        symbols[i] = (uint8_t)some(m, most);
    make_code(m, symbols, count, c);
}

/* Symbol 0 ends a block, and always has a code. Some scans are full of values, some of long EOB runs. */
static void make_ac(maker *m, const scan *s, code *c)
{
    uint8_t symbols[MOST_CODES] = {0};
    const bool is_dense = chance(m, 6), is_sparse = chance(m, 4);
    const int count = 1 + some(m, chance(m, 8) ? MOST_CODES : 60);
    const int most = s->high > 0 || is_dense ? 1 : m->is_wild ? 15 : 1 + some(m, 8);
    const int ends = is_dense ? 100 : is_sparse ? 1 : 4;
    for (int i = 1; i < count; i++) {
        const bool is_end = m->is_progressive ? chance(m, ends) : m->odd == PAST_THE_END && chance(m, 60);
        const int run = is_dense ? 0 : is_sparse || chance(m, 2) ? some(m, 16) : some(m, 3);
        const int size = is_end ? 0 : 1 + some(m, most);
        symbols[i] = (uint8_t)(!is_dense && chance(m, 12) ? 0xF0 : run << 4 | size);
    }
    make_code(m, symbols, count, c);
}

/* ---- blocks -------------------------------------------------------------------------------------- */

enum { MOST_DC = 700, MOST_AC = 1400 }; /* dequantised, in a block: our decoders must take these */

/* Returns whether the block may have `value` more; then it has. */
static bool spend(maker *m, part *p, int block, int64_t value)
{
    if (!m->is_wild && p->spent[block] + value > MOST_AC)
        return false;
    p->spent[block] += (int)(value & 0xFFFF);
    return true;
}

static int entry_of(const code *c, int symbol)
{
    int i = 0;
    while (c->symbol[i] != symbol)
        i++;
    return i;
}

/* The bits of a value of that size. */
static unsigned bits_of(int value, int size)
{
    return (unsigned)(value < 0 ? value + (1 << size) - 1 : value);
}

static void put_dc(maker *m, const scan *s, int i)
{
    const code *c = &m->dc[i];
    const int64_t scale = (int64_t)m->part[s->part[i]].quant[0] << s->low;
    for (int tries = 0; tries < 8; tries++) {
        const int entry = some(m, c->count), size = c->symbol[entry];
        const int magnitude = size ? 1 << (size - 1) | some(m, 1 << (size - 1)) : 0;
        const int difference = m->before[i] > 0 ? -magnitude : magnitude;
        const int64_t dc = m->before[i] + difference;
        if (!m->is_wild && llabs(dc) * scale > MOST_DC)
            continue;
        put_entry(m, c, entry);
        put_bits(m, bits_of(difference, size), (unsigned)size);
        m->before[i] = (int)dc;
        return;
    }
    put_entry(m, c, entry_of(c, 0));
}

/* An EOB run of 2^size blocks or more. False: too long for the interval. */
static bool put_end(maker *m, const code *c, int entry)
{
    const int size = c->symbol[entry] >> 4, least = 1 << size;
    const int room = m->odd == RUNS_TOO_LONG && chance(m, 20) ? 1 << 15 : m->left - least + 1;
    if (room <= 0)
        return false;
    const int more = some(m, room < least ? room : least);
    put_entry(m, c, entry);
    put_bits(m, (unsigned)more, (unsigned)size);
    m->ended = least + more;
    return true;
}

/* A value after a run of zeros, or 16 zeros. Returns the next coefficient, or 0 if the symbol does not fit.
 */
static int put_value(maker *m, const scan *s, int block, int k, int entry)
{
    const code *c = &m->ac[0];
    part *p = &m->part[s->part[0]];
    const int at = k + (c->symbol[entry] >> 4), size = c->symbol[entry] & 15;
    if (at > s->last && !(m->odd == PAST_THE_END && chance(m, 200)))
        return 0;
    const int magnitude = size ? 1 << (size - 1) | some(m, 1 << (size - 1)) : 0;
    const int value = chance(m, 2) ? -magnitude : magnitude;
    if (size && !spend(m, p, block, ((int64_t)(magnitude + (s->low > 0)) << s->low) * p->quant[at & 63]))
        return 0;
    put_entry(m, c, entry);
    put_bits(m, bits_of(value, size), (unsigned)size);
    if (size && at < BAND)
        p->nonzero[block] |= (uint64_t)1 << at;
    return at + 1;
}

/* The AC coefficients of a block of a first scan; in a sequential file, too. */
static void put_ac(maker *m, const scan *s, int block)
{
    const code *c = &m->ac[0];
    const int begin = s->first ? s->first : 1;
    if (m->ended > 0) {
        m->ended--;
        return;
    }
    for (int k = begin, tries = 0; k <= s->last; tries++) {
        const int entry = tries < 12 ? some(m, c->count) : entry_of(c, 0), symbol = c->symbol[entry];
        const bool is_end = (symbol & 15) == 0 && symbol != 0xF0;
        if (is_end && (tries >= 12 || chance(m, 3)) && put_end(m, c, entry)) {
            m->ended--;
            return;
        }
        const int next = is_end ? 0 : put_value(m, s, block, k, entry);
        if (next)
            k = next, tries = 0;
    }
}

static void put_corrections(maker *m, const part *p, int block, int from, int to)
{
    for (int k = from; k < to; k++)
        if (p->nonzero[block] >> k & 1)
            put_bits(m, (unsigned)some(m, 2), 1);
}

/* Finds the zero after `run` zeros from coefficient k on; last + 1: there are too few. */
static int zero_after(const part *p, const scan *s, int block, int k, int run)
{
    for (; k <= s->last; k++)
        if (!(p->nonzero[block] >> k & 1) && run-- == 0)
            break;
    return k;
}

static void put_refinement(maker *m, const scan *s, int block)
{
    const code *c = &m->ac[0];
    part *p = &m->part[s->part[0]];
    int k = s->first;
    for (int tries = 0; m->ended == 0 && k <= s->last; tries++) {
        const int entry = tries < 12 ? some(m, c->count) : entry_of(c, 0), symbol = c->symbol[entry];
        const bool has_value = (symbol & 15) != 0;
        if (!has_value && symbol != 0xF0) {
            if (tries >= 12 || chance(m, 3))
                put_end(m, c, entry);
            continue;
        }
        const int at = zero_after(p, s, block, k, symbol >> 4);
        if ((at > s->last && !(m->odd == PAST_THE_END && chance(m, 200))) ||
            (has_value && !spend(m, p, block, (int64_t)p->quant[at & 63] << (s->low + (s->low > 0)))))
            continue;
        put_entry(m, c, entry);
        if (has_value)
            put_bits(m, (unsigned)some(m, 2), 1);
        put_corrections(m, p, block, k, at);
        if (has_value && at < BAND)
            p->nonzero[block] |= (uint64_t)1 << at;
        k = at + 1;
        tries = 0;
    }
    if (m->ended > 0) {
        put_corrections(m, p, block, k, s->last + 1);
        m->ended--;
    }
}

static void put_block(maker *m, const scan *s, int i, int block)
{
    if (s->first == 0 && s->high > 0)
        put_bits(m, (unsigned)some(m, 2), 1);
    else if (s->first == 0)
        put_dc(m, s, i);
    else if (s->high > 0)
        put_refinement(m, s, block);
    else
        put_ac(m, s, block);
    if (!m->is_progressive) { /* put_ac takes part 0 of a scan */
        const scan ac = {.parts = 1, .part = {s->part[i]}, .first = 0, .last = BAND - 1};
        const code kept = m->ac[0];
        m->ac[0] = m->ac[i];
        put_ac(m, &ac, block);
        m->ac[0] = kept;
    }
}

/* ---- scans --------------------------------------------------------------------------------------- */

static void put_mcu(maker *m, const scan *s, int mcu)
{
    const part *p = &m->part[s->part[0]];
    if (s->parts == 1) {
        put_block(m, s, 0, mcu / p->wide * p->across + mcu % p->wide);
        return;
    }
    for (int i = 0; i < s->parts; i++) {
        p = &m->part[s->part[i]];
        for (int b = 0; b < p->h * p->v; b++) {
            const int x = mcu % m->mcus * p->h + b % p->h, y = mcu / m->mcus * p->v + b / p->h;
            put_block(m, s, i, y * p->across + x);
        }
    }
}

static void put_data(maker *m, const scan *s)
{
    const part *p = &m->part[s->part[0]];
    const int total = s->parts == 1 ? p->wide * p->high : m->mcus * m->mcu_rows;
    const int interval = m->interval ? m->interval : total;
    m->window = m->count = 0;
    for (int mcu = 0; mcu < total; mcu++) {
        if (mcu % interval == 0) {
            if (mcu > 0) {
                end_bits(m);
                put_marker(m, 0xD0 + (mcu / interval - 1) % 8);
            }
            memset(m->before, 0, sizeof m->before);
            m->ended = 0;
        }
        const int there = interval - mcu % interval;
        m->left = there < total - mcu ? there : total - mcu;
        if (!m->is_progressive)
            m->left = 1;
        put_mcu(m, s, mcu);
    }
    end_bits(m);
}

static void put_text(maker *m, int marker, const char *bytes, int count)
{
    const size_t begin = begin_segment(m, marker);
    for (int i = 0; i < count; i++)
        put(m, bytes[i]);
    end_segment(m, begin);
}

static void put_colours(maker *m)
{
    if (chance(m, 2))
        put_text(m, 0xE0, "JFIF\0\1\1\0\0\1\0\1\0\0", 14);
    if (chance(m, 4)) {
        const int ycc = m->parts == 4 ? 2 : 1, usual = chance(m, 2) ? 0 : ycc;
        const int transform = m->odd == LATE_COLOURS ? some(m, 3) : usual;
        char adobe[] = "Adobe\0d\0\0\0\0\0";
        adobe[11] = (char)transform;
        put_text(m, 0xEE, adobe, 12);
    }
}

/* Segments that say nothing. */
static void put_remark(maker *m)
{
    while (chance(m, 3)) {
        const int marker = 0xE1 + some(m, 13);
        if (m->odd == LATE_COLOURS && chance(m, 8))
            put_colours(m);
        const size_t begin = begin_segment(m, chance(m, 2) ? 0xFE : marker);
        for (int i = some(m, 40); i > 0; i--)
            put(m, chance(m, 4) ? 0xFF : some(m, 256));
        end_segment(m, begin);
    }
}

/* Quantisers that come too late: every component has had a scan. */
static void put_late_quant(maker *m)
{
    for (int i = 0; i < m->parts; i++)
        if (m->part[i].missing[0] == NO_BITS)
            return;
    const size_t begin = begin_segment(m, 0xDB);
    put(m, some(m, 4));
    for (int k = 0; k < BAND; k++)
        put(m, 1 + some(m, 4));
    end_segment(m, begin);
}

/* A table that no scan uses, which may have any lengths. */
static void put_unused(maker *m)
{
    int count = 0;
    const size_t begin = begin_segment(m, 0xC4);
    put(m, 3 | some(m, 2) << 4);
    for (int length = 1; length <= 16; length++) {
        const int codes = some(m, 16);
        count += codes;
        put(m, codes);
    }
    while (count-- > 0)
        put(m, some(m, 256));
    end_segment(m, begin);
}

static void put_interval(maker *m)
{
    const int before = m->interval;
    if (m->is_progressive || before == 0)
        m->interval = chance(m, 2) ? before : chance(m, 3) ? 0 : 1 + some(m, chance(m, 4) ? 300 : 12);
    if (m->interval == before && !chance(m, 10))
        return;
    const size_t begin = begin_segment(m, 0xDD);
    put_two(m, m->interval);
    end_segment(m, begin);
}

/* Gives each component of a scan its own tables, 0 to 2, or table 0 to all. Returns the number of tables. */
static int put_codes(maker *m, const scan *s)
{
    const int count = chance(m, 3) || s->parts > 3 ? 1 : s->parts, use = 1 + (s->high > 0);
    const bool has_ac = !m->is_progressive || s->first > 0;
    size_t begin = 0;
    if (s->first > 0 && m->kept == use && chance(m, 3))
        return 1; /* those of an earlier scan */
    for (int i = 0; i < count; i++) {
        if (begin == 0 || chance(m, 2)) {
            if (begin)
                end_segment(m, begin);
            begin = begin_segment(m, 0xC4);
        }
        make_dc(m, &m->dc[i]);
        put_code(m, &m->dc[i], i);
        if (!has_ac)
            continue;
        make_ac(m, s, &m->ac[i]);
        put_code(m, &m->ac[i], 0x10 | i);
        m->kept = i == 0 ? use : m->kept;
    }
    end_segment(m, begin);
    for (int i = count; i < s->parts; i++) {
        m->dc[i] = m->dc[0];
        m->ac[i] = m->ac[0];
    }
    return count;
}

static void put_scan(maker *m, const scan *s)
{
    put_remark(m);
    put_interval(m);
    if (chance(m, 10))
        put_unused(m);
    const int count = put_codes(m, s);
    put_remark(m);
    const size_t begin = begin_segment(m, 0xDA);
    put(m, s->parts);
    for (int i = 0; i < s->parts; i++) {
        put(m, m->part[s->part[i]].id);
        put(m, (i < count ? i : 0) * 0x11);
    }
    put(m, s->first);
    put(m, s->last);
    put(m, s->high << 4 | s->low);
    end_segment(m, begin);
    put_data(m, s);
}

static bool is_whole(const maker *m)
{
    for (int i = 0; i < m->parts; i++)
        for (int k = 0; k < BAND; k++)
            if (m->part[i].missing[k] > 0)
                return false;
    return true;
}

static int low_after(maker *m, int missing, bool is_late)
{
    return missing < NO_BITS ? missing - 1 : is_late ? 0 : some(m, 4);
}

/* DC of some components that have the same bits missing. */
static scan dc_scan(maker *m, int first, bool is_late)
{
    const int missing = m->part[first].missing[0];
    scan s = {.high = missing < NO_BITS ? missing : 0, .low = low_after(m, missing, is_late)};
    for (int i = first; i < m->parts; i++)
        if (i == first || (m->part[i].missing[0] == missing && (is_late || !chance(m, 3))))
            s.part[s.parts++] = i;
    for (int i = 0; i < s.parts; i++)
        m->part[s.part[i]].missing[0] = s.low;
    return s;
}

/* AC of a component, from a random coefficient on as far as the same bits are missing. */
static scan ac_scan(maker *m, int i, bool is_late)
{
    part *p = &m->part[i];
    int k = is_late ? 1 : 1 + some(m, BAND - 1);
    while (p->missing[k] == 0)
        k = k % (BAND - 1) + 1;
    const int missing = p->missing[k], low = low_after(m, missing, is_late);
    scan s = {.parts = 1, .part = {i}, .first = k, .high = missing < NO_BITS ? missing : 0, .low = low};
    const int shortest = k + (chance(m, 3) ? 0 : some(m, BAND));
    for (; k < BAND && p->missing[k] == missing && (is_late || k <= shortest || !chance(m, 8)); k++)
        p->missing[k] = low;
    s.last = k - 1;
    return s;
}

static bool has_all_ac(const part *p)
{
    for (int k = 1; k < BAND; k++)
        if (p->missing[k] > 0)
            return false;
    return true;
}

static void put_script(maker *m)
{
    int count = 0;
    for (; count < MOST_SCANS && !is_whole(m); count++) {
        const bool is_late = count > 12;
        int i = some(m, m->parts);
        while (m->part[i].missing[0] == 0 && has_all_ac(&m->part[i]))
            i = (i + 1) % m->parts;
        const part *p = &m->part[i];
        const bool begins = p->missing[0] == NO_BITS && !(m->odd == SCANS_IN_DISORDER && chance(m, 2));
        const bool is_dc = begins || has_all_ac(p) || (p->missing[0] > 0 && chance(m, 3));
        const scan s = is_dc ? dc_scan(m, i, is_late) : ac_scan(m, i, is_late);
        put_scan(m, &s);
        if (chance(m, 10) && (m->odd == LATE_SEGMENTS || !is_whole(m)))
            put_late_quant(m);
        if (m->odd == SCANS_MISSING && chance(m, 10))
            return; /* unfinished */
        if (m->odd == SCANS_IN_DISORDER && chance(m, 16))
            put_scan(m, &s); /* twice */
    }
    m->is_left |= count > LAP_SCRIPT_SCANS;
}

static void put_sequential(maker *m)
{
    scan s = {.last = BAND - 1};
    const bool is_apart = chance(m, 12);
    for (int i = 0; i < m->parts; i++) {
        s.part[s.parts++] = i;
        if (is_apart && i + 1 < m->parts && chance(m, 2)) {
            m->is_left = true;
            put_scan(m, &s);
            s.parts = 0;
        }
    }
    if (s.parts > 0)
        put_scan(m, &s);
}

/* ---- the header ---------------------------------------------------------------------------------- */

static void choose_sampling(maker *m)
{
    static const int usual[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};
    const int pick = some(m, 5);
    const bool is_odd = chance(m, 12);
    m->is_left |= is_odd && m->parts > 1;
    for (int i = 0; i < m->parts; i++) {
        part *p = &m->part[i];
        p->h = is_odd ? 1 + some(m, 4) : i % 3 ? 1 : usual[pick][0];
        p->v = is_odd ? 1 + some(m, 4) : i % 3 ? 1 : usual[pick][1];
    }
}

static int divided(int a, int b)
{
    return (a + b - 1) / b;
}

static void choose_blocks(maker *m)
{
    int h = 1, v = 1;
    for (int i = 0; i < m->parts; i++) {
        h = m->part[i].h > h ? m->part[i].h : h;
        v = m->part[i].v > v ? m->part[i].v : v;
    }
    m->mcus = divided(m->width, 8 * h);
    m->mcu_rows = divided(m->height, 8 * v);
    for (int i = 0; i < m->parts; i++) {
        part *p = &m->part[i];
        p->wide = divided(m->width * p->h, 8 * h);
        p->high = divided(m->height * p->v, 8 * v);
        p->across = m->mcus * p->h;
        const size_t blocks = (size_t)p->across * (size_t)(m->mcu_rows * p->v);
        p->nonzero = calloc(blocks, sizeof *p->nonzero);
        p->spent = calloc(blocks, sizeof *p->spent);
        if (!p->nonzero || !p->spent)
            abort();
        for (int k = 0; k < BAND; k++)
            p->missing[k] = NO_BITS;
    }
}

static void choose_names(maker *m)
{
    const int way = some(m, 4);
    for (int i = 0; i < m->parts; i++)
        m->part[i].id = way == 0 ? i : way == 1 && m->parts > 1 ? "RGBK"[i] : way == 2 ? 255 - 7 * i : i + 1;
}

/* Each component has its own quantisers. */
static void put_quant(maker *m)
{
    size_t begin = 0;
    for (int i = 0; i < m->parts; i++) {
        const bool is_wide = chance(m, 4);
        const int most = chance(m, 3) ? 60 : 4;
        if (begin == 0 || chance(m, 2)) {
            if (begin)
                end_segment(m, begin);
            begin = begin_segment(m, 0xDB);
        }
        put(m, is_wide << 4 | i);
        for (int k = 0; k < BAND; k++) {
            const int value = 1 + some(m, is_wide && k > 0 && chance(m, 8) ? 65535 : most);
            m->part[i].quant[k] = value;
            if (is_wide)
                put(m, value >> 8);
            put(m, value);
        }
    }
    end_segment(m, begin);
}

static void put_frame(maker *m, bool lacks_height)
{
    const size_t begin = begin_segment(m, m->is_progressive ? 0xC2 : 0xC0 + some(m, 2));
    put(m, 8);
    put_two(m, lacks_height ? 0 : m->height);
    put_two(m, m->width);
    put(m, m->parts);
    for (int i = 0; i < m->parts; i++) {
        put(m, m->part[i].id);
        put(m, m->part[i].h << 4 | m->part[i].v);
        put(m, i);
    }
    end_segment(m, begin);
}

static void put_end_of_file(maker *m)
{
    if (m->odd != NO_END)
        put_marker(m, 0xD9);
    for (int junk = chance(m, 8) ? some(m, 30) : 0; junk > 0; junk--)
        put(m, some(m, 256));
}

uint8_t *stream_file(uint64_t seed, size_t *size, bool *is_ours)
{
    static const int counts[] = {1, 3, 3, 3, 4};
    maker *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->seed = seed;
    m->is_wild = chance(m, 6);
    m->odd = chance(m, 4) ? (oddity)(1 + some(m, ODDITIES - 1)) : NOTHING_ODD;
    m->has_fill = chance(m, 4);
    m->is_progressive = chance(m, 2);
    m->parts = counts[some(m, 5)];
    m->width = 1 + some(m, chance(m, 3) ? 400 : 70);
    m->height = 1 + some(m, chance(m, 4) ? 200 : 70);
    const bool lacks_height = m->odd == LATE_SEGMENTS && chance(m, 4);
    choose_sampling(m);
    choose_blocks(m);
    choose_names(m);
    put(m, 0xFF);
    put(m, 0xD8);
    put_colours(m);
    put_remark(m);
    put_quant(m);
    put_frame(m, lacks_height);
    if (m->is_progressive)
        put_script(m);
    else
        put_sequential(m);
    if (lacks_height || (m->odd == LATE_SEGMENTS && chance(m, 2))) {
        const char height[2] = {(char)(m->height >> 8), (char)m->height};
        put_text(m, 0xDC, height, 2);
    }
    put_end_of_file(m);
    uint8_t *data = m->data;
    *size = m->size;
    *is_ours = !m->is_left && m->odd == NOTHING_ODD && !m->is_wild && !m->has_fill;
    for (int i = 0; i < m->parts; i++) {
        free(m->part[i].nonzero);
        free(m->part[i].spent);
    }
    free(m);
    return data;
}
