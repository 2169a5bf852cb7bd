#!/bin/bash
# The second examples of docs/library.md and docs/pipeline.md, on the CPU runtime of the CUDA tests: the program's
# files.
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

# The program turns a PPM into the same file, since pixels have no metadata and no sampling.
batch_is_the_program_s()
{
    local program=${LAPEDGE:-./lapedge} photo
    cp samples/chelsea.jpg samples/coffee.jpg "$scratch" && head -c 5000 samples/coffee.jpg >"$scratch/cut.jpg" &&
        ! timeout 100 "${example%views_example}views_batch_example" "$scratch/chelsea.jpg" "$scratch/cut.jpg" \
            "$scratch/coffee.jpg" "$scratch/none.jpg" >"$scratch/said" || return 1
    for photo in chelsea coffee; do
        "$program" -q --kernel=identity "$scratch/$photo.jpg" "$scratch/photo.ppm" -f &&
            "$program" -q "$scratch/photo.ppm" "$scratch/program.jpg" -f &&
            cmp "$scratch/program.jpg" "$scratch/$photo.jpg.edges.jpg" || return 1
    done
    grep -q '/cut.jpg: .*data ends' "$scratch/said" && grep -q '/none.jpg: ' "$scratch/said" &&
        grep -q '^2 of 4 photos done$' "$scratch/said"
}

check "a photo's edges without its pixels leaving the device: the program's file" same_as_the_program
check "a batch: the program's files, and what is wrong with the others" batch_is_the_program_s
check "without a device it says so" says_why
finish
