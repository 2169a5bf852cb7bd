#!/bin/bash
# Features can be left out, demanded, and are looked for again when the compiler changes.
. tests/support/tap.sh
built=${B:-build}
B=build/bare
bare="HAVE_PNG=0 HAVE_STB=0 HAVE_OPENMP=0 HAVE_CUDA=0"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make_bare()
{
    # shellcheck disable=SC2086 # words
    env -u MAKEFLAGS make -s -j2 B=$B OPT=-O1 $bare "$@"
}

# What no feature changes is not compiled again: objects for which no source and no header asks for one are the built
# ones.
copy_the_rest()
{
    local deps copied=0
    grep -rlE 'LAP_HAVE_|_OPENMP' src cpu_simd cuda --include='*.[ch]' >"$scratch/asking" && make_bare $B/flags-C || return 1
    while read -r deps; do
        [[ $deps != *_openmp.d && $deps != *_sse.d ]] || continue
        ! tr -s ' \\' '\n' <"$built/$deps" | grep -qxFf "$scratch/asking" || continue
        mkdir -p "$B/${deps%/*}" && sed "1s|^$built/|$B/|" "$built/$deps" >"$B/$deps" && cp "$built/${deps%.d}.o" "$B/${deps%.d}.o" || return 1
        copied=$((copied + 1))
    done < <(cd "$built" && find src cpu_simd -name '*.d')
    echo "$copied objects are those of $built"
}

builds()
{
    copy_the_rest && make_bare all
}

demanded()
{
    local status=0
    env -u MAKEFLAGS make -s B=build/demanded NVCC=/nonexistent/nvcc HAVE_CUDA=1 >"$scratch/said" 2>&1 || status=$?
    cat "$scratch/said"
    [ $status -ne 0 ] && grep -q 'HAVE_CUDA=1, and it was not found' "$scratch/said"
}

refused() # OUT of a format that is not built in: exit 3, and the reason
{
    local status=0
    $B/lapedge samples/chelsea.jpg "$scratch/edges.png" 2>"$scratch/said" || status=$?
    cat "$scratch/said"
    [ $status -eq 3 ] && [ ! -e "$scratch/edges.png" ]
}

same_bytes()
{
    $B/lapedge samples/chelsea.jpg "$scratch/bare.jpg" && "${LAPEDGE:-./lapedge}" samples/chelsea.jpg "$scratch/full.jpg" &&
        cmp "$scratch/bare.jpg" "$scratch/full.jpg"
}

page_of_jpegs() # where PNG was left out
{
    $B/lapedge compare -q --backends=c --report="$scratch/page.html" samples/chelsea.jpg &&
        grep -q '"photo": *"data:image/jpeg;base64,' "$scratch/page.html" &&
        ! grep -q 'data:image/png;base64,' "$scratch/page.html"
}

probed_with()
{
    env -u MAKEFLAGS make -s B=build/probed CC="$1" NVCC=/nonexistent/nvcc print-sources >/dev/null &&
        head -n 1 build/probed/config.mk | grep -q "$2"
}

# Python's module is built by pip, which may call make while make is at work.
asked_at_once()
{
    rm -rf build/asked
    for _ in 1 2 3 4 5 6; do
        env -u MAKEFLAGS make -s B=build/asked NVCC=/nonexistent/nvcc print-sources >/dev/null 2>>"$scratch/asked" &
    done
    wait
    cat "$scratch/asked"
    diff <(grep FOUND build/probed/config.mk) <(grep FOUND build/asked/config.mk) && [ ! -s "$scratch/asked" ] &&
        ! compgen -G 'build/asked/probe-*'
}

fast_in() # FOLDER HAVE_CUDA: where check-fast builds
{
    env -u MAKEFLAGS make -n check-fast HAVE_CUDA="$2" 2>&1 | grep -q -- "HAVE_CUDA=0 B=$1 run-fast"
}

check "builds without PNG, stb, OpenMP and CUDA" builds
check "links none of them" bash -c "! ldd $B/lapedge | grep -E 'png|gomp|cuda'"
check "gives the same bytes" same_bytes
check "a format that was left out is refused" refused
check "the pictures of a report are JPEGs" page_of_jpegs
check "the OpenMP rung is listed as not built" bash -c "$B/lapedge backends | grep -q 'not built.*OpenMP'"
check "a feature that is demanded and missing stops the build" demanded
check "check-fast builds where ./lapedge has no CUDA" fast_in build 0
if have nvcc; then
    check "and leaves a ./lapedge with CUDA alone" fast_in build/nocuda 1
else
    skip "and leaves a ./lapedge with CUDA alone" "no nvcc"
fi
check "the compiler is asked" probed_with gcc gcc
check "six makes that ask at once get its answers, each whole" asked_at_once
if have clang; then
    check "another compiler is asked again" probed_with clang clang
else
    skip "another compiler is asked again" "no clang"
fi
finish
