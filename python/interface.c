/* The module's own C code: build_interface.py compiles this into the module. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lapedge.h>

/* ---- device memory ------------------------------------------------------------------------------- */

/* Arrays and capsules of DLPack share it. The last one to release it frees it, in any thread, whether or not the
 * interpreter still runs. */
typedef struct lap_python_memory {
    lap_view view;
    lap_stream *keeper; /* shared by all memory of the device; lives as long as the process */
    pid_t process;      /* a child of fork must not free its parent's memory */
    atomic_int holders;
} lap_python_memory;

static pthread_mutex_t keeper_lock = PTHREAD_MUTEX_INITIALIZER;

static lap_python_memory *lap_python_hold(const lap_view *view, lap_stream *keeper)
{
    lap_python_memory *memory = malloc(sizeof *memory);
    if (memory) {
        memory->view = *view;
        memory->keeper = keeper;
        memory->process = getpid();
        atomic_init(&memory->holders, 1);
    }
    return memory;
}

static void lap_python_let_go(lap_python_memory *memory)
{
    if (atomic_fetch_sub(&memory->holders, 1) != 1)
        return;
    if (memory->process == getpid()) {
        pthread_mutex_lock(&keeper_lock);
        lap_stream_view_destroy(memory->keeper, &memory->view);
        pthread_mutex_unlock(&keeper_lock);
    }
    free(memory);
}

/* ---- DLPack, version 0 (dmlc.github.io/dlpack) --------------------------------------------------- */

typedef struct dl_managed_tensor {
    void *data;
    int32_t device_type, device;
    int32_t dimensions;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
    void *manager;
    void (*deleter)(struct dl_managed_tensor *);
} dl_managed_tensor;

enum { MOST_DIMENSIONS = 4, DL_CUDA = 2, DL_UNSIGNED = 1 };
typedef struct tensor {
    dl_managed_tensor managed;
    int64_t sizes[2 * MOST_DIMENSIONS];
} tensor;

static void delete_tensor(dl_managed_tensor *managed)
{
    lap_python_let_go(managed->manager);
    free(managed);
}

/* Returns a DLManagedTensor, or NULL if memory is short or there are too many dimensions. strides: in samples. */
static void *lap_python_tensor(lap_python_memory *memory, uintptr_t address, int dimensions,
    const int64_t *shape, const int64_t *strides)
{
    tensor *t = calloc(1, sizeof *t);
    if (!t || dimensions > MOST_DIMENSIONS) {
        free(t);
        return NULL;
    }
    memcpy(t->sizes, shape, (size_t)dimensions * sizeof *shape);
    memcpy(t->sizes + MOST_DIMENSIONS, strides, (size_t)dimensions * sizeof *strides);
    t->managed = (dl_managed_tensor){.data = (void *)address,
        .device_type = DL_CUDA,
        .device = memory->view.place,
        .dimensions = dimensions,
        .type_code = DL_UNSIGNED,
        .type_bits = 8,
        .type_lanes = 1,
        .shape = t->sizes,
        .strides = t->sizes + MOST_DIMENSIONS,
        .manager = memory,
        .deleter = delete_tensor};
    atomic_fetch_add(&memory->holders, 1);
    return t;
}

/* The destructor of a capsule. A consumer of the tensor renames the capsule and calls the deleter later. */
static void lap_python_end_capsule(void *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor"))
        return;
    dl_managed_tensor *managed = PyCapsule_GetPointer(capsule, "dltensor");
    managed->deleter(managed);
}

/* ---- many photos --------------------------------------------------------------------------------- */

/* Calls lap_decode_size() for each file, without returning to the interpreter in between. errors[i].code is set for
 * photo i. */
static void lap_python_sizes(lap_context *context, const void *const files[], const size_t sizes[], size_t count,
    const lap_settings *settings, lap_view views[], lap_error errors[])
{
    for (size_t i = 0; i < count; i++) {
        views[i].place = LAP_ON_HOST;
        errors[i].code = LAP_OK;
        lap_decode_size(context, files[i], sizes[i], settings, &views[i], &errors[i]);
    }
}
