#!/bin/bash
# Each header compiles alone, as C11 and, where C++ includes it, as C++17.
. tests/tap.sh
CC=${CC:-gcc}
defines=(-D_GNU_SOURCE -DLAP_HAVE_{PNG,STB,OPENMP,CUDA}"=0")

compiles()
{
    local language=$1 standard=$2 header=$3
    "$CC" -x "$language" -std="$standard" "${defines[@]}" -Wall -Wextra -Werror -fsyntax-only \
        -include "$header" /dev/null
}

for header in src/*.h src/cli/*.h cpu_simd/*.h cuda/*.h; do
    [ -e "$header" ] || continue
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
