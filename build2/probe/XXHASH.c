#include <xxhash.h>
int main(void) { return XXH3_64bits("", 0) == 0; }
