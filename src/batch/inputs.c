/* Lists the inputs of a folder run for callers that only read them. */
#include "batch/walk.h"
#include "lapedge_program.h"

typedef struct listing {
    lap_inputs_fn *each;
    void *user;
    uint64_t links;
} listing;

static lap_code visit(void *user, const lap_walk_entry *entry, lap_error *err)
{
    listing *l = user;
    l->links += entry->link;
    if (entry->link)
        return LAP_OK;
    return l->each(l->user, entry->path, entry->problem, err);
}

lap_code lap_inputs(const char *const *operands, size_t count, lap_inputs_fn *each, void *user,
    uint64_t *links, lap_error *err)
{
    listing l = {.each = each, .user = user};
    /* No folder has an empty name, so nothing is excluded as an output. */
    const lap_batch_options options = {.inputs = operands, .input_count = count, .out_dir = ""};
    const lap_code code = lap_walk(&options, NULL, visit, &l, err);
    if (links)
        *links = l.links;
    return code;
}
