#!/bin/bash
# Functions that read in one sitting, and the style's limits (CONTRIBUTING.md, "Sizes and style"). The longest files
# are printed, for whoever looks for a file with two subjects; their length fails nothing.
. tests/support/tap.sh

# longest WHAT LINES FILE...: those with more lines than that, the longest first, as a comment.
longest()
{
    local what=$1 advice=$2
    shift 2
    wc -l "$@" | awk -v what="$what" -v advice="$advice" \
        '$2 != "total" && $1 > advice { print "# " what " of more than " advice " lines: " $2 " (" $1 ")" }' |
        sort -t'(' -k2 -rn | head -n 10
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

mapfile -t all < <(find src cpu_simd cuda -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)
mapfile -t c_files < <(find src cpu_simd -name '*.c' | sort)
mapfile -t kernels < <(find cuda -name '*.cu' -o -name '*.cuh' | sort)
mapfile -t vector_headers < <(find cpu_simd -name '*.h' | sort)
# Fewer than this means that the search no longer finds them.
check "${#c_files[@]} C files are looked at, at least 160" test "${#c_files[@]}" -ge 160
check "${#kernels[@]} CUDA files are looked at, at least 50" test "${#kernels[@]}" -ge 50
longest "C files" 350 "${c_files[@]}"
longest "kernel files" 200 "${kernels[@]}" "${vector_headers[@]}"
check "functions have at most 60 lines" functions 60 "${c_files[@]}"
check "device functions have at most 90 lines" functions 90 "${kernels[@]}"
check "no line of C and CUDA is wider than 110 columns" no_wide 110 "${all[@]}"
mapfile -t written < <(find src cpu_simd cuda tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)
check "a statement increments as in i++" postfix "${written[@]}"
check "no braces around a single line" no_lone_braces "${written[@]}"
mapfile -t others < <(find Makefile tools -name __pycache__ -prune -o -type f -print | sort)
check "no line of the Makefile and the tools is wider than 120 columns" no_wide 120 "${others[@]}"
finish
