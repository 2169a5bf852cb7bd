#!/bin/bash
# The three examples at the top of lapedge.h: compiled as they stand there, linked with the library, and run.
. tests/support/tap.sh
B=${B:-build}
CC=${CC:-gcc}
PROGRAM=$(realpath "${LAPEDGE:-./lapedge}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The indented lines between the words THREE EXAMPLES and THE FILTER.
code()
{
    sed -n '/^ \* THREE EXAMPLES/,/^ \* THE FILTER/s/^ \*     //p' src/lapedge.h
}

program()
{
    echo '#include <stdio.h>'
    echo '#include <lapedge.h>'
    echo 'int main(void) {'
    code
    echo 'printf("%s: %d %d\n", error.code ? error.message : "filtered", edges[0][0][0], edges[1][1][0]);'
    echo 'lap_context_destroy(context); return error.code; }'
}

three_there()
{
    [ "$(sed -n '/^ \* THREE EXAMPLES/,/^ \* THE FILTER/p' src/lapedge.h | grep -cE '^ \* [123]\. ')" -eq 3 ] &&
        [ "$(code | grep -cE 'lap_(run_file|batch|filter)\(')" -eq 3 ]
}

compile()
{
    local libraries
    read -ra libraries < <(make -s print-libs B="$B")
    program >"$scratch/examples.c"
    "$CC" -std=c11 -Wall -Wextra -Werror -Isrc "$scratch/examples.c" -o "$scratch/examples" \
        "$B/liblapedge.a" "${libraries[@]}"
}

run()
{
    cp samples/chelsea.jpg "$scratch/photo.jpg" && mkdir "$scratch/photos" &&
        cp samples/chelsea.jpg samples/coffee.jpg "$scratch/photos" &&
        (cd "$scratch" && ./examples >said) && cat "$scratch/said"
}

# same_as_the_program PHOTO EDGES
same_as_the_program()
{
    "$PROGRAM" -q "$scratch/$1" "$scratch/program.jpg" && cmp "$scratch/program.jpg" "$scratch/$2"
}

says_what_it_did()
{
    diff "$scratch/said" <(printf '2 photos done, 0 failed\nfiltered: 0 0\n')
}

check "lapedge.h begins with three examples" three_there
check "they compile as they stand, with nothing but the public header" compile
check "they run" run
check "one photo: the program's file" same_as_the_program photo.jpg edges.jpg
check "a folder of photos: the program's files" same_as_the_program photos/coffee.jpg edges/coffee.jpg
check "they say what they did" says_what_it_did
finish
