#!/bin/bash
# make portable-static: a program that runs where there is nothing else, and does the same; for this machine and aarch64.
# STATIC_ALL=1 also builds what other targets of make have not built yet.
. tests/support/tap.sh
B=${B:-build}
PROGRAM=$(realpath "${LAPEDGE:-./lapedge}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
machine=$(uname -m)

needs_nothing()
{
    ! readelf -ld "$1" | grep -E 'INTERP|NEEDED'
}

# no_warnings MAKE'S WORDS...: the linker would warn of functions that need shared libraries all the same.
no_warnings()
{
    rm -f "$program"
    make -s static-here STATIC_PROGRAM="$program" HAVE_CUDA=0 "$@" >"$scratch/said" 2>&1 ||
        { cat "$scratch/said" && return 1; }
    [ -x "$program" ] && ! grep -i warning "$scratch/said"
}

# alone ARGUMENT...: the program in a tree that holds it, photos and nothing else; an emulator that is static comes with it.
alone()
{
    if [ "$(id -u)" -eq 0 ]; then
        chroot "$tree" "${run[@]}" "$@"
    else
        unshare -r --root="$tree" "${run[@]}" "$@"
    fi
}

same_bytes()
{
    local photo
    for photo in astronaut.jpg coffee.jpg; do
        "$PROGRAM" "samples/$photo" "$scratch/program.jpg" && alone "/$photo" "/out-$photo" &&
            cmp "$scratch/program.jpg" "$tree/out-$photo" || return
    done
    "$PROGRAM" "samples/chelsea.jpg" "$scratch/program.png" && alone /chelsea.jpg /out.png &&
        cmp "$scratch/program.png" "$tree/out.png"
}

same_by_openmp()
{
    "$PROGRAM" samples/chelsea.jpg "$scratch/program.jpg" && alone /chelsea.jpg /openmp.jpg --backend=openmp &&
        cmp "$scratch/program.jpg" "$tree/openmp.jpg"
}

whole_folder()
{
    alone /photos /edges && [ "$(find "$tree/edges" -name '*.jpg' | wc -l)" -eq 3 ] &&
        cmp "$tree/edges/coffee.jpg" "$tree/out-coffee.jpg"
}

# look_at PROGRAM WORDS...: all checks; run: how it is run in the tree.
look_at()
{
    program=$1
    shift
    tree=$scratch/tree-${program##*/}
    mkdir -p "$tree/photos"
    cp samples/{astronaut,coffee,chelsea}.jpg "$tree"
    cp samples/{astronaut,coffee,chelsea}.jpg "$tree/photos"
    check "$program is linked, without a warning" no_warnings "$@"
    cp "$program" "$tree/lapedge"
    check "$program names no library and no interpreter" needs_nothing "$program"
    check "$program runs where there is nothing else, with the same bytes" same_bytes
    check "$program: the same by OpenMP" same_by_openmp
    check "$program: a folder" whole_folder
}

missing()
{
    local compiler=$1 name
    for name in c jpeg jansson xxhash png z gomp; do
        [ -e "$("$compiler" -print-file-name=lib$name.a)" ] || echo "lib$name.a"
    done
}

beside=
[ "$B" = build ] || beside=$B/
here=${beside}lapedge-static-$machine there=${beside}lapedge-static-aarch64
if [ "$(id -u)" -ne 0 ] && ! unshare -r true 2>/dev/null; then
    skip "make portable-static" "needs root or user namespaces"
    finish
fi
lacks=$(missing "${CC:-gcc}" | paste -sd' ')
if [ -n "$lacks" ]; then
    skip "$here" "not installed: $lacks"
elif [ -z "${STATIC_ALL:-}" ] && ! grep -q LAP_HAVE_CUDA=0 "$B/flags-C"; then
    skip "$here" "$B is built with CUDA, which a static program cannot have; make test-long builds one without"
elif ! grep -q LAP_HAVE_CUDA=0 "$B/flags-C"; then
    run=(/lapedge)
    look_at "$here" B="$B/nocuda" CC="${CC:-gcc}"
else
    run=(/lapedge)
    look_at "$here" B="$B" CC="${CC:-gcc}"
fi

[ "$machine" != aarch64 ] || finish
emulator=
for name in qemu-aarch64-static qemu-aarch64; do
    path=$(command -v "$name") && needs_nothing "$path" && emulator=$path && break
done
if ! have aarch64-linux-gnu-gcc || [ -n "$(missing aarch64-linux-gnu-gcc)" ]; then
    skip "$there" "the cross compiler or its static libraries are not installed (tools/install-deps arm64)"
elif [ -z "$emulator" ]; then
    skip "$there" "there is no static qemu-aarch64 (qemu-user-static)"
elif [ -z "${STATIC_ALL:-}" ] && [ ! -e build/arm64/liblapedge.a ]; then
    skip "$there" "build/arm64 was not built: make test-arm64 or make test-long"
else
    mkdir -p "$scratch/tree-${there##*/}"
    cp "$emulator" "$scratch/tree-${there##*/}/emulator"
    run=(/emulator /lapedge)
    look_at "$there" B=build/arm64 CC=aarch64-linux-gnu-gcc
fi
finish
