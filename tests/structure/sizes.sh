#!/bin/bash
# Files and functions that read in one sitting (CONTRIBUTING.md, "Sizes and style").
. tests/tap.sh

# at_most LINES FILE...
at_most()
{
    local limit=$1 file lines bad=0
    shift
    for file in "$@"; do
        [ -e "$file" ] || continue
        lines=$(wc -l <"$file")
        if [ "$lines" -gt "$limit" ]; then
            echo "$file: $lines lines"
            bad=1
        fi
    done
    return $bad
}

# functions LINES FILE...: with the house style a body is what stands between a lone { and a lone }.
functions()
{
    local limit=$1 file
    shift
    ! for file in "$@"; do
        [ -e "$file" ] || continue
        awk -v limit="$limit" '/^[a-z].*\(/ { name = $0 } /^{$/ { start = NR }
            /^}$/ && start { if (NR - start - 1 > limit) print FILENAME ": " NR - start - 1 " lines: " name; start = 0 }' \
            "$file"
    done | grep .
}

# no_wide COLUMNS FILE...: the style's limit, which clang-format cannot enforce in comments and strings.
no_wide()
{
    local limit=$1
    shift
    ! awk -v limit="$limit" 'length > limit { print FILENAME ":" FNR ": " length " columns" }' "$@" | grep .
}

# The two things that clang-format 14 leaves to the writer.
postfix()
{
    ! grep -nE '^ *(\+\+|--)[A-Za-z_][][A-Za-z_0-9.>-]*;|^ *for .*[;,] *(\+\+|--)[A-Za-z_][][A-Za-z_0-9.>-]*(\)|, )' "$@"
}

# Braces around one line: a comment in it, or an else after it, may need them.
no_lone_braces()
{
    ! awk 'FNR == 1 { two = one = "" }
        two ~ /^ *(if|for|while) \(.*\) \{$/ && /^ *}$/ && one ~ /;( \/\*.*\*\/)?$/ && one !~ /^ *(\/\*|\*)/ {
            print FILENAME ":" FNR - 2 ":" two
        }
        { two = one; one = $0 }' "$@" | grep .
}

inner=()
for header in $(find src -name '*.h' | sort); do
    # lapedge.h is the manual of the library; codec.h and rung.h hold one interface each, args.h every option.
    case $header in
    src/lapedge.h | src/codec/codec.h | src/base/rung.h | src/cli/args.h) ;;
    *) inner+=("$header") ;;
    esac
done
mapfile -t all < <(find src cpu_simd cuda -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)
mapfile -t c_files < <(find src cpu_simd -name '*.c' | sort)
mapfile -t kernels < <(find cuda -name '*.cu' -o -name '*.cuh' | sort)
mapfile -t vector_headers < <(find cpu_simd -name '*.h' | sort)
# Fewer than this means that the search no longer finds them.
check "${#c_files[@]} C files are looked at, at least 160" test "${#c_files[@]}" -ge 160
check "${#kernels[@]} CUDA files are looked at, at least 50" test "${#kernels[@]}" -ge 50
check "C files have at most 350 lines" at_most 350 "${c_files[@]}"
check "kernel files have at most 200 lines" at_most 200 "${kernels[@]}" "${vector_headers[@]}"
check "inner headers have at most 80 lines" at_most 80 "${inner[@]}"
check "test files have at most 500 lines" at_most 500 tests/*/*.c tests/*/*.sh tests/cli/*.bats
check "functions have at most 60 lines" functions 60 "${c_files[@]}"
check "device functions have at most 90 lines" functions 90 "${kernels[@]}"
check "no line of C and CUDA is wider than 110 columns" no_wide 110 "${all[@]}"
mapfile -t written < <(find src cpu_simd cuda tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)
check "a statement increments as in i++" postfix "${written[@]}"
check "no braces around a single line" no_lone_braces "${written[@]}"
mapfile -t others < <(find Makefile tools -type f | sort)
check "no line of the Makefile and the tools is wider than 120 columns" no_wide 120 "${others[@]}"
finish
