#!/bin/bash
# The Python module, built against an installed library: in a checkout, LAPEDGE_INSTALLED=1 asks for it.
. tests/support/tap.sh
B=${B:-build}
PROGRAM=$(realpath "${LAPEDGE:-./lapedge}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python=/usr/bin/python3
export PKG_CONFIG_PATH=$scratch/there/lib/pkgconfig LD_LIBRARY_PATH=$scratch/there/lib

installed()
{
    make -s install PREFIX="$scratch/there" B="$B" CC="${CC:-gcc}"
}

# Another make on PATH would be run if the checkout's library were asked for.
built()
{
    mkdir "$scratch/path" && printf '#!/bin/sh\necho "make was run" >&2\nexit 1\n' >"$scratch/path/make" &&
        chmod +x "$scratch/path/make" &&
        PATH=$scratch/path:$PATH LAPEDGE_INSTALLED=1 LAPEDGE_BUILD=$scratch/build \
            tools/release/build-python "$scratch/module"
}

needs_the_library()
{
    readelf -d "$scratch"/module/lapedge/_interface*.so | grep -F 'NEEDED' | grep -F "[liblapedge.so."
}

same_bytes()
{
    PYTHONPATH=$scratch/module "$python" - samples/chelsea.jpg "$scratch/module.jpg" <<'PYTHON' &&
import sys
import lapedge
lapedge.run(*sys.argv[1:3])
PYTHON
        "$PROGRAM" samples/chelsea.jpg "$scratch/program.jpg" && cmp "$scratch/module.jpg" "$scratch/program.jpg"
}

# Without such a library, pip fails and names what is missing; it does not build the checkout's.
missing()
{
    ! PKG_CONFIG_PATH=$scratch PKG_CONFIG_LIBDIR=$scratch LAPEDGE_INSTALLED=1 LAPEDGE_BUILD=$scratch/none \
        tools/release/build-python "$scratch/none/module" >"$scratch/said" 2>&1 &&
        grep -i 'lapedge' "$scratch/said" | grep -i pkg-config
}

if ! have pkg-config; then
    skip "the Python module with an installed library" "no pkg-config"
    finish
fi
check "make install" installed
check "the module is built with LAPEDGE_INSTALLED=1, without make" built
if [ -d "$scratch/module/lapedge" ]; then
    check "it needs the installed library" needs_the_library
    check "it gives the program's bytes" same_bytes
    check "without an installed library, the build fails and says so" missing
else
    skip "the module with the installed library" "what pip needs is not installed"
fi
finish
