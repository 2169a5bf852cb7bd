#!/bin/bash
# Who may include whom (CONTRIBUTING.md, "The arrows"), and the calls that live in one place only.
. tests/tap.sh

# rank FILE: its place along the arrows; a file includes its own rank and higher ones only.
rank()
{
    case $1 in
    src/cli/*) echo 0 ;;
    src/lapedge.h) echo 9 ;;
    src/batch* | src/commit* | src/manifest* | src/shard*) echo 1 ;;
    src/executor*) echo 2 ;;
    src/run* | src/filter_view.* | src/bench* | src/compare* | src/inputs* | src/heatmap* | src/pixels* | src/measure*) echo 3 ;;
    src/pipeline* | src/flow* | src/settings.*) echo 4 ;;
    src/codec* | src/jpeg* | src/png* | src/pnm* | src/stb* | src/tsv* | src/null_write* | src/exif*) echo 5 ;;
    src/source* | src/sink* | src/control* | src/context.*) echo 6 ;;
    src/orient* | src/transpose* | src/stats* | src/metrics* | src/reduce* | src/matvec* | src/filter* | src/profiles*) echo 6 ;;
    src/backend* | src/table* | src/spread*) echo 7 ;;
    cpu_simd/* | cuda/*) echo 8 ;;
    src/*) echo 9 ;; # status, image, border, kernel5x5, pool: what everybody may use
    esac
}

# resolve FILE NAME: the file that an include of NAME means.
resolve()
{
    local candidate
    for candidate in "$(dirname "$1")/$2" "src/$2" "$2"; do
        if [ -e "$candidate" ]; then
            realpath --relative-to=. "$candidate"
            return
        fi
    done
    echo "missing:$2"
}

sources=()
for file in src/*.[ch] src/cli/*.[ch] cpu_simd/*.[ch] cuda/*.cu cuda/*.cuh cuda/*.h; do
    [ -e "$file" ] && sources+=("$file")
done

includes() # prints "file target" for each quoted include
{
    local file name
    for file in "${sources[@]}"; do
        sed -n 's/^ *# *include "\(.*\)".*/\1/p' "$file" | while IFS= read -r name; do
            echo "$file $(resolve "$file" "$name")"
        done
    done
}

cli_sees_only_the_public_header()
{
    ! awk '$1 ~ "^src/cli/" && $2 !~ "^src/cli/" && $2 != "src/lapedge.h"' <<<"$graph" | grep .
}

no_arrow_back()
{
    local file target bad=0
    while read -r file target; do
        if [ "$(rank "$file")" -gt "$(rank "$target")" ] && ! tables_of_the_device "$file" "$target"; then
            echo "$file includes $target"
            bad=1
        fi
    done <<<"$graph"
    return $bad
}

# Rungs know the types of their row (backend.h), which is an interface, not a part of the tables.
tables_of_the_device()
{
    case $1:$2 in
    cpu_simd/*:src/backend.h | cuda/*:src/backend.h) return 0 ;;
    *) return 1 ;;
    esac
}

# The sources without their comments, under the same names.
bare=$(mktemp -d)
trap 'rm -rf "$bare"' EXIT
for file in "${sources[@]}"; do
    mkdir -p "$bare/$(dirname "$file")"
    "${CC:-gcc}" -fpreprocessed -dD -E -P -x c "$file" >"$bare/$file" 2>/dev/null
done

# only_in PATTERN REGEX: all files that match REGEX have names that match PATTERN.
only_in()
{
    local pattern=$1 regex=$2
    ! (cd "$bare" && grep -rE "$regex" .) | sed 's|^\./||' | grep -vE "$pattern.*:" | grep .
}

# calls FILE PATTERN: what of a file matches, its lines joined and blanks after parentheses taken out.
calls()
{
    tr '\n' ' ' <"$bare/$1" | sed -E 's/\( +/(/g; s/ +/ /g' | grep -oP "$2" | sed "s|^|$1: |"
}

# A result of CUDA that nobody looks at is an error that the next call reports as its own. Rungs call through LAP_CUDA;
# the scaffold may look at a result itself, and throws one away only where it cleans up. What stands before the name
# tells: nothing of an expression, or (void).
cuda_calls_are_checked()
{
    local file bad=0
    for file in "${sources[@]}"; do
        case $file in
        cuda/device.cu | cuda/run.cu | cuda/time.cu | cuda/*.cuh)
            calls "$file" '([;{})]|\belse|\bdo) ?cuda(?!(Free|EventDestroy|StreamDestroy|GetLastError)\()[A-Z]\w*\(' | grep . && bad=1
            ;;
        cuda/*.cu)
            calls "$file" '(?<!LAP_CUDA\()\bcuda(?!(Free|EventDestroy|StreamDestroy)\()[A-Z]\w*\(' | grep . && bad=1
            ;;
        esac
    done
    return $bad
}

graph=$(includes)
check "every quoted include is a file of the tree" bash -c '! grep missing: <<<"$1"' - "$graph"
check "the command line includes lapedge.h and its own headers only" cli_sees_only_the_public_header
check "no include against the arrows" no_arrow_back
check "exit is called in main.c only" only_in '^src/cli/main\.c' '(^|[^a-zA-Z_.>])(exit|abort|quick_exit)[[:space:]]*\('
# A second Ctrl-C ends the program at once.
check "_exit is called in signals.c only" only_in '^src/cli/signals\.c' '(^|[^a-zA-Z_.>])_exit[[:space:]]*\('
# libjpeg and libpng report errors by jumping; nothing else does.
check "setjmp and longjmp in the JPEG and PNG files only" only_in '^src/(jpeg|png)_' '(^|[^a-zA-Z_])_?(sig)?(set|long)jmp[[:space:]]*\('
check "jpeglib.h in the JPEG files and version.c only" only_in '^src/jpeg_|^src/version\.c' 'include *<(jpeglib|jerror)\.h>'
check "kernels are launched by the scaffold, without triple brackets" only_in '^:' '<<<'
check "every call of CUDA is checked" cuda_calls_are_checked
check "no rung reads files or options" only_in '^src/' '(^|[^a-zA-Z_])(fopen|open|getopt_long|fprintf|printf)[[:space:]]*\('
finish
