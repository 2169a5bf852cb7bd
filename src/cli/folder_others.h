/* What a folder run did not take: for its summary and its JSON. */
#ifndef LAP_CLI_FOLDER_OTHERS_H
#define LAP_CLI_FOLDER_OTHERS_H

#include <jansson.h>

#include "lapedge.h"

/* "3 other files not taken: 2 .heic, 1 .mov" on stderr; nothing where there are none. */
void lap_folder_print_others(const lap_batch_others *others);
json_t *lap_folder_others_json(const lap_batch_others *others);

#endif
