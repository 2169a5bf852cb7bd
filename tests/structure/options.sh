#!/bin/bash
# The texts of the library name no option and no command of the program, which adds its own (lap_remedy in
# src/lapedge.h).
. tests/support/tap.sh

# Strings with --option, with -o as a word (but that of another program), or with a command of the program.
pattern='"[^"]*(--[a-z][a-z-]+|(^|[ (='\''])-[a-zA-Z0]([^a-zA-Z0-9"][^"]*)?"|'
pattern+='\blapedge (run|transform|stats|compare|diff|bench|backends|info|doctor|explain|help)\b)'

names_options() # FILE...
{
    grep -nE "$pattern" "$@" | grep -v -e '#pragma' -e 'tr -d'
}

no_option_in_texts()
{
    local files
    mapfile -t files < <(find src cuda cpu_simd -name '*.[ch]' -not -path 'src/cli/*' -o -name '*.cu' -o -name '*.cuh')
    [ "${#files[@]}" -gt 100 ] && ! names_options "${files[@]}"
}

planted_are_found()
{
    local text
    for text in 'too large (--max-pixels)' 'exists; -f replaces it' 'give -0' "'lapedge backends' lists all"; do
        printf 'return lap_fail(err, LAP_E_USAGE, "%s");\n' "$text" >"$work/planted.c"
        names_options "$work/planted.c" >"$work/found" || { echo "not found: $text"; return 1; }
    done
    echo 'lap_fail(err, LAP_E_LIMIT, "a - b: -1 of %d, lapedge-made")' >"$work/planted.c"
    ! names_options "$work/planted.c"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check "no text of the library names an option or a command of the program" no_option_in_texts
check "planted names of options and commands are found" planted_are_found
finish
