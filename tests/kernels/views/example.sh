#!/bin/bash
# The second example of docs/library.md, on the CPU runtime of the CUDA tests: the program's file.
. tests/support/tap.sh
example=${B:-build}/cudacpu/asan/views_example
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The PPM in between has no metadata and no sampling, just as pixels have none.
same_as_the_program()
{
    local program=${LAPEDGE:-./lapedge}
    "$program" -q --kernel=identity samples/chelsea.jpg "$scratch/photo.ppm" &&
        "$program" -q "$scratch/photo.ppm" "$scratch/program.jpg" &&
        timeout 100 "$example" samples/chelsea.jpg "$scratch/example.jpg" >"$scratch/said" &&
        cmp "$scratch/program.jpg" "$scratch/example.jpg" &&
        grep -q '^451 x 300, mean of the first channel [0-9.]*$' "$scratch/said"
}

says_why()
{
    ! LAP_CUDACPU=devices=0 "$example" samples/chelsea.jpg "$scratch/none.jpg" 2>"$scratch/said" &&
        grep -q 'CUDA device 0' "$scratch/said" && [ ! -e "$scratch/none.jpg" ]
}

check "a photo's edges without its pixels leaving the device: the program's file" same_as_the_program
check "without a device it says so" says_why
finish
