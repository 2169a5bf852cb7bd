#!/bin/bash
# A JPEG library that rounds otherwise than the device: JPEGs are coded by it, on the CPU, and -v says why.
. tests/tap.sh
program=${B:-build}/cudacpu/asan/lapedge
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# with_it ARGUMENT...: the program with that library.
with_it()
{
    timeout 60 env LD_PRELOAD="$("${CC:-gcc}" -print-file-name=libasan.so) $scratch/other.so" "$program" "$@"
}

goes_by_the_cpu()
{
    "$program" -q samples/chelsea.jpg "$scratch/a.jpg" --backend=cuda-fast --codec=cpu &&
        with_it -v samples/chelsea.jpg "$scratch/b.jpg" --backend=cuda-fast 2>"$scratch/said" &&
        grep -q 'decoded and encoded on the CPU: the JPEG library here rounds otherwise' "$scratch/said" &&
        cmp "$scratch/a.jpg" "$scratch/b.jpg" || { cat "$scratch/said" && return 1; }
}

is_refused()
{
    local status=0
    with_it samples/chelsea.jpg "$scratch/c.jpg" --codec=cuda 2>"$scratch/said" || status=$?
    [ "$status" -eq 3 ] && grep -q "codec 'cuda' cannot run here: the JPEG library here rounds" "$scratch/said" &&
        [ ! -e "$scratch/c.jpg" ] || { cat "$scratch/said" && return 1; }
}

if "${CC:-gcc}" -shared -fPIC -o "$scratch/other.so" tests/jpegcuda/other_library.c -ldl; then
    check "with a library that rounds otherwise JPEGs are coded on the CPU, and -v says why" goes_by_the_cpu
    check "--codec=cuda is refused with it" is_refused
else
    skip "a library that rounds otherwise" "it could not be built"
fi
finish
