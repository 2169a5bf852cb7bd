#!/bin/bash
# Each header compiles alone, as C11 and, where C++ includes it, as C++17.
. tests/support/tap.sh
CC=${CC:-gcc}
defines=(-D_GNU_SOURCE -Isrc -I. -DLAP_HAVE_{PNG,STB,OPENMP,CUDA}"=0")

# Headers of vector code ask for an instruction set, or get the vector's size from the file that includes
# them: by name, else AVX2.
vectors_of()
{
    case $("$CC" -dumpmachine):$1 in
    x86_64*:cpu_simd/*avx512vbmi2*)
        echo "-mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512cd -mavx512vbmi -mavx512vbmi2 -mavx512vnni -mbmi -mbmi2 -mlzcnt"
        ;;
    x86_64*:cpu_simd/*avx512*) echo "-mavx512f -mavx512bw -mavx512vl -mavx512dq -mbmi2 -DLAP_VECTOR=64" ;;
    x86_64*:cpu_simd/*neon*) ;;
    x86_64*:cpu_simd/*) echo "-mavx2 -mbmi -mbmi2 -mlzcnt -DLAP_VECTOR=32" ;;
    esac
}

compiles()
{
    local language=$1 standard=$2 header=$3 CC=$CC
    [[ $header != *_neon.h ]] || CC=aarch64-linux-gnu-gcc
    # shellcheck disable=SC2046 # flags are words
    "$CC" -x "$language" -std="$standard" "${defines[@]}" $(vectors_of "$header") -Wall -Wextra -Werror -fsyntax-only \
        -include "$header" /dev/null
}

MIN_HEADERS=110 # fewer means that the search no longer finds them
mapfile -t headers < <(find src cpu_simd cuda -name '*.h' | sort)
check "${#headers[@]} headers are looked at, at least $MIN_HEADERS" test "${#headers[@]}" -ge $MIN_HEADERS
for header in "${headers[@]}"; do
    if [[ $header == *_neon.h ]] && ! have aarch64-linux-gnu-gcc; then
        skip "$header compiles alone" "no cross compiler for aarch64"
        continue
    fi
    check "$header compiles alone" compiles c c11 "$header"
    if grep -q __cplusplus "$header"; then
        if have g++; then
            check "$header compiles alone as C++" compiles c++ c++17 "$header"
        else
            skip "$header compiles alone as C++" "no g++"
        fi
    fi
done
finish
