"""Builds lapedge._interface from the public header, the only place with the declarations: comments and preprocessor
lines are removed, and cffi reads the rest. The compiler checks every struct and function against the header.

In a checkout, make builds the library, which is linked statically, so that the module needs no installed lapedge.
Outside of a checkout, or with LAPEDGE_INSTALLED=1, pkg-config finds the installed library, and the module needs it.
Other environment variables, for a checkout's library: LAPEDGE_BUILD, the build folder (default: build); LAPEDGE_MAKE,
more arguments for make; LAPEDGE_LIBRARIES, libraries to link with an existing liblapedge.a, without running make;
LAPEDGE_ARCHIVE, empty if those libraries already include lapedge."""
import os
import re
import shlex
import subprocess
from pathlib import Path

from cffi import FFI

CHECKOUT = Path(__file__).resolve().parent.parent


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def is_checkout():
    return (CHECKOUT / "Makefile").exists() and (CHECKOUT / "src" / "lapedge.h").exists()


def is_installed():
    return not is_checkout() or os.environ.get("LAPEDGE_INSTALLED", "0") not in ("", "0")


def header():
    if not is_installed():
        return CHECKOUT / "src" / "lapedge.h"
    return Path(output("pkg-config", "--variable=includedir", "lapedge").strip()) / "lapedge.h"


def version():
    return re.search(r'#define LAP_VERSION "(.*)"', header().read_text(encoding="utf-8")).group(1)


def declarations():
    text = re.sub(r"/\*.*?\*/", "", header().read_text(encoding="utf-8"), flags=re.S)
    text = text.split('extern "C" {\n#endif', 1)[1].rsplit("#ifdef __cplusplus", 1)[0]
    numbers = re.findall(r"^#define (LAP_\w+) \(?(-?\d+)\)?\s*$", text, flags=re.M)
    sides = "#define LAP_MAX_SIDE ...\n" # an expression, which the compiler works out
    text = re.sub(r"^#.*$", "", text, flags=re.M).replace("LAP_API ", "")
    return "".join(f"#define {name} {value}\n" for name, value in numbers) + sides + text + "\nvoid free(void *);\n" + CALLBACKS


def linking():
    """Arguments of set_source that say where the library is."""
    if is_installed():
        words = shlex.split(output("pkg-config", "--cflags", "--libs", "lapedge"))
        return {"extra_compile_args": [w for w in words if not w.startswith(("-l", "-L"))],
                "extra_link_args": [w for w in words if w.startswith(("-l", "-L"))]}
    folder = os.environ.get("LAPEDGE_BUILD", "build")
    libraries = os.environ.get("LAPEDGE_LIBRARIES")
    if not libraries:
        print("lapedge: make builds the library; without CUDA: LAPEDGE_MAKE=HAVE_CUDA=0", flush=True)
        make = ["make", "-C", str(CHECKOUT), f"B={folder}", *shlex.split(os.environ.get("LAPEDGE_MAKE", ""))]
        subprocess.run([*make, f"{folder}/liblapedge.a"], check=True)
        libraries = output(*make, "-s", "--no-print-directory", "print-libs")
    archive = CHECKOUT / folder / "liblapedge.a"
    is_own = not os.environ.get("LAPEDGE_ARCHIVE", "1")
    hidden = [] if is_own else [f"-Wl,--version-script={CHECKOUT / 'python' / 'interface.map'}"]
    return {"include_dirs": [str(CHECKOUT / "src")], "depends": [str(archive), str(header())],
            "extra_objects": [] if is_own else [str(archive)],
            "extra_link_args": shlex.split(libraries.splitlines()[-1]) + hidden}


CALLBACKS = """
extern "Python" void lap_python_each(void *user, const lap_batch_file *file, const lap_batch_counts *counts);
"""
OWN = """
void lap_python_sizes(lap_context *context, const void *const files[], const size_t sizes[], size_t count,
    const lap_settings *settings, lap_view views[], lap_error errors[]);
typedef struct lap_python_memory lap_python_memory;
lap_python_memory *lap_python_hold(const lap_view *view, lap_stream *keeper);
void lap_python_let_go(lap_python_memory *memory);
void *lap_python_tensor(lap_python_memory *memory, uintptr_t address, int dimensions, const int64_t *shape,
    const int64_t *strides);
void lap_python_end_capsule(void *capsule);
"""
ffi = FFI()
ffi.cdef(declarations() + OWN)
ffi.set_source("lapedge._interface", (Path(__file__).parent / "interface.c").read_text(encoding="utf-8"), py_limited_api=True, **linking())

if __name__ == "__main__":
    ffi.compile(verbose=True)
