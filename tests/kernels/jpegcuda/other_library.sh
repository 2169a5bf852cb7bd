#!/bin/bash
# A JPEG library that rounds differently from the device, in one direction or both: it codes JPEGs, on the CPU,
# in that direction, and -v says why.
. tests/support/tap.sh
program=${B:-build}/cudacpu/asan/lapedge
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# with_it ARGUMENT...: the program with that library.
with_it()
{
    timeout 200 env LD_PRELOAD="$("${CC:-gcc}" -print-file-name=libasan.so) $scratch/other.so" "$program" "$@"
}

# goes NOTE: the file equals the CPU's, and the note is printed.
goes()
{
    "$program" -q samples/chelsea.jpg "$scratch/a.jpg" --backend=cuda-fast --codec=cpu &&
        with_it -v samples/chelsea.jpg "$scratch/b.jpg" --backend=cuda-fast 2>"$scratch/said" &&
        grep -q "$1" "$scratch/said" && cmp "$scratch/a.jpg" "$scratch/b.jpg" ||
        { cat "$scratch/said" && return 1; }
}

is_refused()
{
    local status=0
    with_it samples/chelsea.jpg "$scratch/c.jpg" --codec=cuda 2>"$scratch/said" || status=$?
    [ "$status" -eq 3 ] && grep -q "codec 'cuda' cannot run here: the JPEG library here rounds" "$scratch/said" &&
        [ ! -e "$scratch/c.jpg" ] || { cat "$scratch/said" && return 1; }
}

if "${CC:-gcc}" -shared -fPIC -o "$scratch/other.so" tests/kernels/encode/other_library.c -ldl; then
    check "with a library that rounds differently JPEGs are coded on the CPU, and -v says why" \
        goes "decoded and encoded on the CPU: the JPEG library here rounds differently from lapedge's decoders"
    check "--codec=cuda is refused with it" is_refused
    export OTHER=decodes
    check "where it only decodes otherwise, the device encodes" \
        goes "decoded on the CPU, encoded on the device: the JPEG library here rounds differently from lapedge's decoders"
    check "and --codec=cuda is refused" is_refused
    export OTHER=encodes
    check "where it only encodes otherwise, the device decodes" \
        goes "decoded on the device, encoded on the CPU: the JPEG library here rounds differently from lapedge's encoders"
    check "and --codec=cuda is refused, too" is_refused
else
    skip "a library that rounds differently" "it could not be built"
fi
finish
