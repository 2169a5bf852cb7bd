#!/bin/bash
# The texts of the library name no option of the program, which adds its own (lap_remedy in src/lapedge.h).
. tests/tap.sh

no_option_in_texts()
{
    local files
    mapfile -t files < <(find src cuda cpu_simd -name '*.[ch]' -not -path 'src/cli/*' -o -name '*.cu' -o -name '*.cuh')
    [ "${#files[@]}" -gt 100 ] && ! grep -nE '"[^"]*--[a-z][a-z-]+[^"]*"' "${files[@]}"
}

check "no text of the library names an option of the program" no_option_in_texts
finish
