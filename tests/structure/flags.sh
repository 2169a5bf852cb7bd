#!/bin/bash
# Each file of cpu_simd is compiled with the flags of its instruction set and no others: flags hang on file
# names, so a renamed file must not lose them unseen. flags.txt has them as they must be.
. tests/tap.sh

as_listed()
{
    diff tests/structure/flags.txt <(make -s print-flags HAVE_CUDA=0 HAVE_OPENMP=1 B="${B:-build}")
}

if [ "$(uname -m)" = x86_64 ]; then
    check "$(grep -c . tests/structure/flags.txt) files of cpu_simd have the flags of flags.txt" as_listed
else
    skip "files of cpu_simd have the flags of flags.txt" "x86 only"
fi
finish
