#!/bin/bash
# On processors without x86's vectors the x86 rungs are left out, and what remains compiles. Checked by
# compiling for aarch64 without linking.
. tests/support/tap.sh
target=aarch64-linux-gnu

sources=$(make -s print-sources MACHINE=aarch64 HAVE_CUDA=0 B="${B:-build}")

no_x86()
{
    [ -n "$sources" ] && ! tr ' ' '\n' <<<"$sources" | grep -E '_(sse|avx)[0-9]*\.c$'
}

# The C library's headers are aarch64's; those of other libraries do not differ where it matters here.
compiles()
{
    clang --target=$target -isystem /usr/$target/include -idirafter "/usr/include/$(gcc -dumpmachine)" \
        -std=c11 -D_GNU_SOURCE -Isrc -I. -DLAP_HAVE_{PNG,STB}"=1" -DLAP_HAVE_OPENMP=0 -DLAP_HAVE_CUDA=0 \
        -DLAP_RUNG_FLAGS='""' -Wall -Wextra -Wshadow -Werror -ffp-contract=off -fsyntax-only "$1"
}

check "x86 rungs are left out" no_x86
for file in $sources; do
    if ! have clang || [ ! -d /usr/$target/include ]; then
        skip "$file compiles for aarch64" "no clang, or no libc6-dev-arm64-cross"
    else
        check "$file compiles for aarch64" compiles "$file"
    fi
done
finish
