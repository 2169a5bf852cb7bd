#!/bin/bash
# The library as it is built by default has machine code for each processor that CUDA_ARCHS names, and text for the
# newest, from which drivers make code for later ones.
. tests/support/tap.sh
B=${B:-build}
library=$B/liblapedge.a
name="the library has code for every device of CUDA_ARCHS, and PTX of the newest"

# Beside the nvcc that is found, not always on the PATH itself.
tool=$(command -v cuobjdump || echo "$(dirname "$(realpath "$(command -v "${NVCC:-nvcc}" || echo /nonexistent/nvcc)")")/cuobjdump")
archs=$(sed -n 's/^CUDA_ARCHS ?= //p' Makefile)

built_by_default()
{
    local arch
    for arch in $archs; do
        grep -q "code=sm_$arch " "$B/flags-CUDA" || return
    done
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

if ! have "${NVCC:-nvcc}"; then
    skip "$name" "no nvcc"
elif ! have "$tool"; then
    skip "$name" "no cuobjdump"
elif [ ! -e "$B/flags-CUDA" ] || ! built_by_default; then
    skip "$name" "$library was built without CUDA, or for other devices than the default"
else
    check "$name" library_has_them
fi
finish
