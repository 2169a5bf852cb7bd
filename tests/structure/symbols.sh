#!/bin/bash
# The libraries define lap_ names only, export exactly what lapedge.h declares, hide what lapedge_program.h declares,
# and call nothing that a library must not call.
. tests/support/tap.sh
B=${B:-build}

# nvcc adds its own registration symbols to the archive, and NVTX's headers weak functions, which all that use them
# share; they never leave the shared library.
only_lap()
{
    ! grep -vE '^(lap_|__(cuda|fatbin|nv|device_stub|sti)|_Z[0-9A-Za-z_]*__device_stub|[A-Za-z0-9_]*[Nn]vtx)' "$1"
}

all_declared()
{
    local declared exported
    exported=$(mktemp)
    declared=$(mktemp)
    trap 'rm -f "$exported" "$declared"' RETURN
    nm -D --defined-only "$B/liblapedge.so" | awk '{ print $NF }' | sort >"$exported"
    "${CC:-gcc}" -E -P -D_GNU_SOURCE src/lapedge.h | tr '\n' ' ' | tr ';' '\n' |
        grep 'visibility' | grep -oE '\blap_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$declared"
    diff "$declared" "$exported"
}

# The functions of lapedge_program.h: the archive has all of them, for the program, and the shared library has none.
program_names()
{
    "${CC:-gcc}" -E -P -D_GNU_SOURCE src/lapedge_program.h | tr '\n' ' ' | tr ';' '\n' |
        grep -vE 'visibility|typedef|\{' | grep -oE '\blap_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u
}

program_is_hidden()
{
    local declared
    declared=$(program_names)
    [ "$(wc -l <<<"$declared")" -ge 25 ] || { echo "only these were looked for: $declared"; return 1; }
    ! grep -vxFf "$names" <<<"$declared" && ! nm -D --defined-only "$B/liblapedge.so" | grep -wF "$declared"
}

# What a user gets says nothing of it.
header_stands_alone()
{
    ! grep -n lapedge_program src/lapedge.h debian/*.install && [ "$(wc -l <src/lapedge.h)" -le 560 ]
}

# A library neither exits nor prints, and keeps no hidden state of libc's: see the head of lapedge.h.
forbidden='^(exit|_exit|_Exit|quick_exit|abort|atexit|printf|vprintf|puts|putchar|perror|signal|sigaction'
forbidden+='|setlocale|strtok|rand|srand|localtime|gmtime|asctime|ctime|tmpnam|tempnam|mktemp|system|popen'
forbidden+='|gets|chdir)$'
calls_nothing_forbidden()
{
    local object bad=0 names
    for object in "$@"; do
        if names=$(nm -u "$object" | awk '{ print $NF }' | sed 's/@.*//' | grep -E "$forbidden"); then
            echo "$object: $names"
            bad=1
        fi
    done
    return $bad
}

names=$(mktemp)
trap 'rm -f "$names"' EXIT
nm -g --defined-only "$B/liblapedge.a" | awk 'NF == 3 { print $3 }' | sort -u >"$names"
check "liblapedge.a defines only lap_ names" only_lap "$names"
check "it has what lapedge_program.h declares, and liblapedge.so hides that" program_is_hidden
nm -D --defined-only "$B/liblapedge.so" | awk '{ print $NF }' | sort -u >"$names"
check "liblapedge.so exports only lap_ names" only_lap "$names"
check "liblapedge.so exports what lapedge.h declares, and nothing else" all_declared
check "lapedge.h knows nothing of it, and has at most 560 lines" header_stands_alone
mapfile -t objects < <(find "$B/src" "$B/cpu_simd" -name '*.o' ! -path '*/cli/*' 2>/dev/null | sort)
check "${#objects[@]} objects are looked at, at least 130" test "${#objects[@]}" -ge 130
check "the library neither exits nor prints" calls_nothing_forbidden "${objects[@]}"
soname=$(readelf -d "$B/liblapedge.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
version=$(sed -n 's/^#define LAP_VERSION "\([0-9]*\).*/\1/p' src/lapedge.h)
check "the SONAME carries the major version" test "$soname" = "liblapedge.so.$version"
finish
