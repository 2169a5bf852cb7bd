#include "cli/folder_others.h"

#include "cli/json.h"
#include "cli/term.h"

void lap_folder_print_others(const lap_batch_others *others)
{
    char text[LAP_OTHER_KINDS * 40] = "";
    uint64_t named = 0;
    size_t at = 0;
    for (size_t i = 0; i < others->kind_count; i++) {
        const char *extension = others->kinds[i].extension;
        named += others->kinds[i].files;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu %s%s", i ? ", " : "",
            (unsigned long long)others->kinds[i].files, *extension ? "." : "without extension", extension);
    }
    if (others->files > 0)
        lap_cli_message("%llu other file%s not taken: %s%s", (unsigned long long)others->files,
            others->files > 1 ? "s" : "", text, named < others->files ? ", ..." : "");
    if (others->outputs > 0)
        lap_cli_message("%llu folder%s of lapedge's outputs not walked; name one to filter it again",
            (unsigned long long)others->outputs, others->outputs > 1 ? "s" : "");
}

json_t *lap_folder_others_json(const lap_batch_others *others)
{
    json_t *object = json_object(), *kinds = json_object();
    for (size_t i = 0; i < others->kind_count; i++) {
        json_t *key = lap_json_text(others->kinds[i].extension); /* UTF-8, whatever the name was */
        json_object_set_new(kinds, json_string_value(key), json_integer((json_int_t)others->kinds[i].files));
        json_decref(key);
    }
    json_object_set_new(object, "files", json_integer((json_int_t)others->files));
    json_object_set_new(object, "kinds", kinds);
    json_object_set_new(object, "output_folders", json_integer((json_int_t)others->outputs));
    return object;
}
