#!/bin/bash
# The texts of the library name no option of the program, which adds its own (lap_remedy in src/lapedge.h).
. tests/tap.sh

no_option_in_texts()
{
    ! grep -nE '"[^"]*(^|[^-A-Za-z])--[a-z][a-z-]+[^"]*"' $(git ls-files 'src/*.c' 'src/*.h' cuda cpu_simd | grep -v '^src/cli/')
}

check "no text of the library names an option of the program" no_option_in_texts
finish
