#!/bin/bash
# Features can be left out, demanded, and are looked for again when the compiler changes; make install keeps what was
# found.
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

# A compiler that only answers, in a folder that root's PATH may lack.
in_path()
{
    mkdir -p "$scratch"/toolkit/{bin,lib64} && cat >"$scratch/toolkit/bin/some-nvcc" <<'SH' &&
#!/bin/sh
[ "$1" != --version ] || echo 'Cuda compilation tools, release 13.0, V13.0.48'
SH
        chmod +x "$scratch/toolkit/bin/some-nvcc" && rm -rf build/kept &&
        PATH=$scratch/toolkit/bin:$PATH dry print-sources >/dev/null && grep -qx 'FOUND_CUDA := 1' build/kept/config.mk
}

dry() # what make would do
{
    env -u MAKEFLAGS -u HAVE_CUDA -u CUDA_HOME make -n B=build/kept NVCC=some-nvcc "$@"
}

# Also if packages were installed since: then config.mk is older than their list.
installs_what_was_built()
{
    local goal
    touch -d 2020-01-01 build/kept/config.mk && cp build/kept/config.mk "$scratch/answers" || return 1
    for goal in install install-strip; do
        PATH=$scratch/toolkit/bin:$PATH dry $goal >"$scratch/user" && dry $goal >"$scratch/root" &&
            cmp "$scratch/answers" build/kept/config.mk && cmp "$scratch/user" "$scratch/root" &&
            grep -q 'some-nvcc .* --compress-mode=size' "$scratch/user" &&
            grep -qF -- "-L$scratch/toolkit/lib64 -lcudart_static" "$scratch/user" || return 1
    done
}

obeys_install()
{
    dry install HAVE_CUDA=0 >"$scratch/root" && ! grep -F some-nvcc "$scratch/root" &&
        cmp "$scratch/answers" build/kept/config.mk
}

asks_if_nobody_did()
{
    rm build/kept/config.mk && dry install >/dev/null && grep -qx 'FOUND_CUDA := 0' build/kept/config.mk
}

asks_again()
{
    PATH=$scratch/toolkit/bin:$PATH dry all >/dev/null && grep -qx 'FOUND_CUDA := 1' build/kept/config.mk &&
        dry all >/dev/null && grep -qx 'FOUND_CUDA := 0' build/kept/config.mk
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
check "an nvcc is found" in_path
check "make install keeps its answers where PATH lacks it" installs_what_was_built
check "and leaves CUDA out if told to" obeys_install
check "make install without a build asks" asks_if_nobody_did
check "make all asks again when nvcc comes or goes" asks_again
if have clang; then
    check "another compiler is asked again" probed_with clang clang
else
    skip "another compiler is asked again" "no clang"
fi
finish
