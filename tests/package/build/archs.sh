#!/bin/bash
# The library has machine code for each processor that it was built for, and text for the newest, from which drivers make
# code for later ones. ALL_ARCHS=1 (make test-long): these are all that the Makefile names; make test may build fewer.
# Sources with conditions on the architecture are compiled once for the oldest, to PTX, which takes seconds.
. tests/support/tap.sh
B=${B:-build}
library=$B/liblapedge.a
name="the library has code for every device that it was built for, and PTX of the newest"

# Beside the nvcc that is found, not always on the PATH itself.
tool=$(command -v cuobjdump || echo "$(dirname "$(realpath "$(command -v "${NVCC:-nvcc}" || echo /nonexistent/nvcc)")")/cuobjdump")
archs=$(grep -oE 'code=sm_[0-9]+' "$B/flags-CUDA" 2>/dev/null | cut -d_ -f2 | tr '\n' ' ')
archs=${archs% }

built_for_all()
{
    echo "$archs" && [ "$archs" = "$(sed -n 's/^CUDA_ARCHS ?= //p' Makefile)" ]
}

# named KIND: the architectures in the library, one per line, without duplicates.
named()
{
    "$tool" "--list-$1" "$library" | grep -oE "\.sm_[0-9]+[a-z]*\.(cubin|ptx)" | cut -d. -f2 | sort -u
}

# kernels KIND ARCH: in how many files of the library there is code of that kind for that architecture.
kernels()
{
    "$tool" "--list-$1" "$library" | grep -cE "\.$2\.(cubin|ptx)$"
}

library_has_them()
{
    local arch elf ptx all
    elf=$(named elf) && ptx=$(named ptx) || return
    diff <(printf 'sm_%s\n' $archs | sort) - <<<"$elf" && diff <(echo "sm_${archs##* }") - <<<"$ptx" || return
    all=$(kernels elf "sm_${archs%% *}")
    for arch in $archs; do
        [ "$(kernels elf "sm_$arch")" -eq "$all" ] || { echo "sm_$arch is not in every file" && return 1; }
    done
    [ "$(kernels ptx "sm_${archs##* }")" -eq "$all" ] || { echo "PTX is not in every file" && return 1; }
}

# conditional: a kernel's file for each file of cuda/ that asks for the architecture
conditional()
{
    local file
    for file in $(grep -lr __CUDA_ARCH__ cuda); do
        case $file in
        *.cuh) grep -l "$(basename "$file")" "$(dirname "$file")"/*.cu | head -n 1 ;;
        *) echo "$file" ;;
        esac
    done | sort -u
}

compiles_for_the_oldest()
{
    local file oldest count=0
    oldest=$(sed -n 's/^CUDA_ARCHS ?= \([0-9]*\).*/\1/p' Makefile)
    for file in $(conditional); do
        echo "$file" && count=$((count + 1))
        "${NVCC:-nvcc}" -std=c++17 -Isrc -I. -D_GNU_SOURCE -DLAP_HAVE_CUDA=1 -DLAP_HAVE_OPENMP=0 -arch="compute_$oldest" --ptx \
            -o "$scratch/kernel.ptx" "$file" || return 1
        grep -q "^\.target sm_$oldest" "$scratch/kernel.ptx" || return 1
    done
    [ "$count" -gt 1 ]
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if have "${NVCC:-nvcc}"; then
    check "sources that ask for the architecture compile for the oldest" compiles_for_the_oldest
else
    skip "sources that ask for the architecture compile for the oldest" "no nvcc"
fi
if ! have "${NVCC:-nvcc}"; then
    skip "$name" "no nvcc"
elif ! have "$tool"; then
    skip "$name" "no cuobjdump"
elif [ -z "$archs" ]; then
    skip "$name" "$library was built without CUDA"
else
    check "$name" library_has_them
    [ -z "${ALL_ARCHS:-}" ] || check "it was built for all devices that the Makefile names" built_for_all
fi
finish
