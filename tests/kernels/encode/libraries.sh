#!/bin/bash
# The encoders against libjpeg-turbo without its vectors, and against a libjpeg-turbo 3, if Pillow's wheel has brought
# one (LAPEDGE_LIBJPEG names another): the bytes are the same.
. tests/support/tap.sh
check_program=${B:-build}/tests/encode_check
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# agrees ENVIRONMENT...: all groups of encode_check pass, at least nine, and lapedge finds no different rounding.
agrees()
{
    env "$@" "${LAPEDGE:-./lapedge}" doctor >"$scratch/said" 2>&1
    ! grep 'rounds differently' "$scratch/said" || return 1
    env "$@" "$check_program" --cases=100 >"$scratch/said" || { grep -A1 '^not ok' "$scratch/said"; return 1; }
    [ "$(grep -c '^ok' "$scratch/said")" -ge 9 ]
}

library=$(tests/kernels/encode/libjpeg3)

check "libjpeg-turbo without vectors" agrees JSIMD_FORCENONE=1
if [ -n "$library" ] && [ "${SANITIZED:-0}" != 1 ]; then
    cp "$library" "$scratch/libjpeg.so.62"
    version=$(grep -aoE 'libjpeg-turbo version [0-9.]+' "$library" | head -n 1)
    loaded()
    {
        LD_LIBRARY_PATH=$scratch ldd "$check_program" | grep -q "$scratch/libjpeg.so.62"
    }
    check "$version is loaded" loaded
    check "$version" agrees LD_LIBRARY_PATH="$scratch"
    check "$version without vectors" agrees LD_LIBRARY_PATH="$scratch" JSIMD_FORCENONE=1
else
    skip "libjpeg-turbo 3" "not found: neither LAPEDGE_LIBJPEG nor Pillow's wheel"
fi
finish
