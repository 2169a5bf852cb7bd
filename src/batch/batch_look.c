/* The first walk of a run only looks: how many inputs there are, which of them have the same output name, and
 * what exists at output names. If such files exist, one more walk finds out which of them are inputs. So all
 * this is known before work begins. Data about names without a clash is then freed, so that memory does not
 * grow with the number of files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "batch/batch.h"
#include "io/side.h"

typedef struct claim {
    uint64_t output, input; /* hashes of the output's name, and of the input's device and inode */
} claim;

typedef struct look {
    batch *b;
    lap_side *sides;
    char *out_name; /* name of the output folder without links */
    bool has_out;   /* the output folder exists, so files may exist at output names */
    bool may_clash; /* false: a single folder cannot have clashes, unless extensions change */
    claim *claims;
    uint64_t *standing; /* device and inode of files that exist at output names */
    size_t count, capacity, standing_count, standing_capacity;
} look;

/* Reserves room for one more claim and one more inode. The limit is compared with four times their size,
 * because qsort may copy the arrays, and each name that clashes gets an entry in a table that is half
 * full. */
static lap_code reserve(look *l, lap_error *err)
{
    enum { PEAK = 4 };
    const uint64_t limit = l->b->settings->max_memory;
    char size[LAP_SIZE_TEXT];
    if (limit && PEAK * (l->count * sizeof *l->claims + l->standing_count * sizeof *l->standing) > limit)
        return lap_fail(err, LAP_E_LIMIT, "the names of %zu files need more memory than the limit of %s",
            l->count + l->standing_count, lap_size_text(limit, size));
    claim *claims = lap_grow(l->claims, &l->capacity, l->count + 1, sizeof *claims);
    if (claims)
        l->claims = claims;
    uint64_t *standing =
        lap_grow(l->standing, &l->standing_capacity, l->standing_count + 1, sizeof *standing);
    if (standing)
        l->standing = standing;
    return claims && standing
               ? LAP_OK
               : lap_fail(err, LAP_E_MEMORY, "out of memory for the names of %zu files", l->count + 1);
}

/* Resolves the absolute name of the output folder, and examines the caller's other files. */
static lap_code find_sides(look *l, lap_error *err)
{
    const lap_batch_options *o = l->b->options;
    const char *list = lap_list_path(o);
    char records[PATH_MAX];
    l->sides = calloc(o->side_count + 1, sizeof *l->sides);
    l->out_name = lap_real_name(o->out_dir);
    if (!l->sides || !l->out_name)
        return l->sides && errno != ENOMEM
                   ? lap_fail_at(err, LAP_E_WRITE, o->out_dir, "cannot be reached: %s", strerror(errno))
                   : lap_fail(err, LAP_E_MEMORY, "out of memory");
    const int length = snprintf(records, sizeof records, "%s/.lapedge/", l->out_name);
    for (size_t i = 0; i < o->side_count; i++) {
        lap_code code = lap_side_look(o->sides[i], &l->sides[i], err);
        if (code == LAP_OK)
            code = lap_side_check(o->sides[i], &list, 1, err);
        if (code == LAP_OK && length < (int)sizeof records &&
            strncmp(l->sides[i].name, records, (size_t)length) == 0)
            code = lap_fail_at(err, LAP_E_CLASH, o->sides[i], "lies in the folder of lapedge's own records");
        if (code != LAP_OK)
            return code;
    }
    return LAP_OK;
}

/* Whether one of the caller's files is this input, or would be this output. */
static lap_code check_sides(const look *l, const struct stat *in, const char *relative, lap_error *err)
{
    const size_t length = strlen(l->out_name);
    for (size_t i = 0; i < l->b->options->side_count; i++) {
        const lap_side *side = &l->sides[i];
        if (in && lap_side_is_file(side, in))
            return lap_fail_at(err, LAP_E_CLASH, side->path, "is one of the inputs");
        if (strncmp(side->name, l->out_name, length) == 0 && side->name[length] == '/' &&
            strcmp(side->name + length + 1, relative) == 0)
            return lap_fail_at(err, LAP_E_CLASH, side->path, "is one of the outputs");
    }
    return LAP_OK;
}

static lap_code not_seen(const char *path, lap_error *err)
{
    return lap_fail_at(err, LAP_E_UNREADABLE, path, "cannot be examined: %s", strerror(errno));
}

/* Ends the run if an input may have been overlooked (lap_walk_unseen): the second walk could not know that
 * this input has a clash, or that an output would overwrite it. */
static lap_code look_at(void *user, const lap_walk_entry *entry, lap_error *err)
{
    look *l = user;
    batch *b = l->b;
    struct stat there;
    char relative[PATH_MAX], output[PATH_MAX];
    lap_code code = lap_control_check(&b->jobs.control, err);
    if (code == LAP_OK)
        code = lap_walk_unseen(entry, err);
    if (code != LAP_OK)
        return code;
    if (entry->is_out)
        b->around = b->options->inputs[entry->operand];
    if (entry->link)
        b->jobs.counts->links++;
    if (entry->is_out || entry->link)
        return LAP_OK;
    const bool has_name =
        lap_batch_output_name(b->options, b->settings, entry->relative, relative, sizeof relative);
    code = lap_prune_note(b->prune, entry, has_name ? relative : NULL, err);
    if (code != LAP_OK)
        return code;
    if (entry->is_made)
        code = lap_late_note(&b->late, entry->path, err);
    if (code != LAP_OK)
        return code;
    if (lap_batch_is_ours(b, entry->relative)) {
        b->jobs.counts->expected++;
        if (entry->stat && (uint64_t)entry->stat->st_size > lap_batch_small(&b->load))
            b->load.large_bytes += (uint64_t)entry->stat->st_size;
    } else
        b->jobs.counts->other_shards++;
    if (entry->problem || !has_name)
        return LAP_OK;
    code = l->sides ? check_sides(l, entry->stat, relative, err) : LAP_OK;
    if (code != LAP_OK)
        return code;
    code = reserve(l, err);
    if (code != LAP_OK)
        return code;
    if (l->may_clash)
        l->claims[l->count++] = (claim){lap_batch_key(relative), lap_batch_inode(entry->stat)};
    if (!l->has_out || !lap_batch_output_path(b, relative, output, sizeof output))
        return LAP_OK;
    if (stat(output, &there))
        return lap_walk_may_pass(errno) ? not_seen(output, err) : LAP_OK;
    for (size_t i = 0; i < b->options->side_count; i++)
        if (lap_side_is_file(&l->sides[i], &there)) /* the same file under another name */
            return lap_fail_at(err, LAP_E_CLASH, l->sides[i].path, "is one of the outputs");
    l->standing[l->standing_count++] = lap_batch_inode(&there);
    return LAP_OK;
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_output(const void *a, const void *b)
{
    return order(((const claim *)a)->output, ((const claim *)b)->output);
}

static int by_value(const void *a, const void *b)
{
    return order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Finds output names that several inputs have. */
static lap_code find_clashes(look *l, lap_error *err)
{
    lap_code code = LAP_OK;
    qsort(l->claims, l->count, sizeof *l->claims, by_output);
    for (size_t i = 0, next; i < l->count && code == LAP_OK; i = next) {
        bool differ = false;
        for (next = i + 1; next < l->count && l->claims[next].output == l->claims[i].output; next++)
            differ |= l->claims[next].input != l->claims[i].input;
        if (next > i + 1)
            code = lap_map64_put(&l->b->claims, l->claims[i].output, differ ? next - i : LAP_REPEATED, err);
    }
    return code;
}

/* Finds inputs that exist at an output's name; follows links. */
static lap_code look_at_outputs(void *user, const lap_walk_entry *entry, lap_error *err)
{
    look *l = user;
    lap_code code = lap_control_check(&l->b->jobs.control, err);
    if (code == LAP_OK)
        code = lap_walk_unseen(entry, err);
    if (code != LAP_OK || !entry->stat)
        return code;
    uint64_t inode = lap_batch_inode(entry->stat);
    bool stands = bsearch(&inode, l->standing, l->standing_count, sizeof inode, by_value);
    return stands ? lap_map64_put(&l->b->endangered, inode, 1, err) : LAP_OK;
}

lap_code lap_batch_look(batch *b, lap_list *list, lap_error *err)
{
    const lap_batch_options *o = b->options;
    struct stat st;
    look l = {.b = b,
        .has_out = !stat(o->out_dir, &st),
        .may_clash = list || o->input_count > 1 || b->settings->format || o->flat || o->suffix};
    lap_code code = !l.has_out && lap_walk_may_pass(errno) ? not_seen(o->out_dir, err) : LAP_OK;
    if (code == LAP_OK && o->side_count)
        code = find_sides(&l, err);
    if (code == LAP_OK)
        code = lap_walk(o, list, look_at, &l, err);
    if (code == LAP_OK && l.count)
        code = find_clashes(&l, err);
    free(l.claims);
    lap_batch_options seen = *o;
    seen.others = NULL; /* already counted */
    if (code == LAP_OK && l.standing_count) {
        qsort(l.standing, l.standing_count, sizeof *l.standing, by_value);
        code = lap_walk(&seen, list, look_at_outputs, &l, err);
    }
    free(l.standing);
    for (size_t i = 0; l.sides && i < o->side_count; i++)
        lap_side_free(&l.sides[i]);
    free(l.sides);
    free(l.out_name);
    return code;
}
