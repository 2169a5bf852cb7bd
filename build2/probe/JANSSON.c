#include <jansson.h>
int main(void) { json_decref(json_object()); return 0; }
