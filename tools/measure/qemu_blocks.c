/* A plugin for qemu-user that counts how often each block of instructions runs. At the end it writes a line
 * for each block to the file named by the environment variable BLOCKS: its address, its instructions, its
 * runs. The parts of qemu's interface that it needs are declared here, since qemu-plugin.h comes only with
 * qemu's sources.
 *
 *   cc -shared -fPIC -O2 -o build/qemu_blocks.so tools/measure/qemu_blocks.c
 *   BLOCKS=build/blocks qemu-aarch64 -plugin build/qemu_blocks.so PROGRAM */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct qemu_plugin_tb;
struct qemu_info_t;
enum { ADD_64 };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*each)(uint64_t id, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int what, void *counter, uint64_t by);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*last)(uint64_t id, void *user), void *user);
int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc, char **argv);

int qemu_plugin_version = 1;

typedef struct block {
    uint64_t address, instructions, runs;
    struct block *next;
} block;
static block *blocks;

static void on_block(uint64_t id, struct qemu_plugin_tb *tb)
{
    block *b = calloc(1, sizeof *b);
    (void)id;
    if (!b)
        abort();
    *b = (block){qemu_plugin_tb_vaddr(tb), qemu_plugin_tb_n_insns(tb), 0, blocks};
    blocks = b;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_64, &b->runs, 1);
}

static void on_exit_of_program(uint64_t id, void *user)
{
    const char *path = getenv("BLOCKS");
    FILE *file = path ? fopen(path, "w") : NULL;
    (void)id;
    (void)user;
    if (!file)
        abort();
    for (const block *b = blocks; b; b = b->next)
        fprintf(file, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", b->address, b->instructions, b->runs);
    if (fclose(file) != 0)
        abort();
}

int qemu_plugin_install(uint64_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
    return 0;
}
