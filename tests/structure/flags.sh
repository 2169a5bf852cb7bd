#!/bin/bash
# Each file of cpu_simd is compiled with the flags of its instruction set and no others: flags hang on file
# names, so a renamed file must not lose them unseen. flags.txt has them as they must be. A new file needs no line
# there: what its name says must be in its flags.
. tests/support/tap.sh

flags=$(make -s print-flags HAVE_CUDA=0 HAVE_OPENMP=1 B="${B:-build}")

# Lines of flags.txt that the Makefile has otherwise, or no more.
as_listed()
{
    ! grep -vxFf <(cat <<<"$flags") tests/structure/flags.txt
}

# The widest instruction set that the flags allow, as the names of files have it.
as_named()
{
    local file options allowed named bad=0
    while IFS=: read -r file options; do
        case $options in
        *-mavx512vbmi2*) allowed=avx512vbmi2 ;;
        *-mavx512*) allowed=avx512 ;;
        *-mavx2*) allowed=avx2 ;;
        *-msse4.1*) allowed=sse41 ;;
        *) allowed= ;;
        esac
        named=$(grep -oE '_(sse41|avx2|avx512|avx512vbmi2)\.c$' <<<"$file" | tr -d _ | sed 's/\.c//')
        [ "$allowed" = "$named" ] || { echo "$file: compiled for '$allowed'"; bad=1; }
    done <<<"$flags"
    return $bad
}

if [ "$(uname -m)" = x86_64 ]; then
    check "$(grep -c . tests/structure/flags.txt) files of cpu_simd have the flags of flags.txt" as_listed
    check "$(grep -c . <<<"$flags") files of cpu_simd are compiled for the instruction set in their names" as_named
else
    skip "files of cpu_simd have the flags of flags.txt" "x86 only"
fi
finish
