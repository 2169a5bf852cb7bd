/* What the sanitizers must be told about fibers and memory. The runtime is compiled without sanitizers,
 * and the makefile says which one the program has. */
#ifndef LAP_CUDACPU_SANITIZERS_H
#define LAP_CUDACPU_SANITIZERS_H

#include <cstddef>

#ifndef LAP_CUDACPU_ASAN
#define LAP_CUDACPU_ASAN 0
#endif
#if LAP_CUDACPU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef LAP_CUDACPU_TSAN
#define LAP_CUDACPU_TSAN 0
#endif
#if LAP_CUDACPU_TSAN
constexpr unsigned LAP_CUDACPU_NO_ORDER = 1; /* a switch orders nothing */
extern "C" {
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *sync);
void __tsan_release(void *sync);
}
#endif

#endif
