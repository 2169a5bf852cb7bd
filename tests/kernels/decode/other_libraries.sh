#!/bin/bash
# The decoders against libjpeg-turbo without its vectors, and against a libjpeg-turbo 3
# (tests/kernels/encode/libraries.sh says which): pixels and verdicts are the same.
. tests/support/tap.sh
programs=${B:-build}/tests
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The corpus is for the installed library; tests/fuzz/versions runs it with another.
unset LAPEDGE_CORPUS

# agrees GROUPS PROGRAM ENVIRONMENT...: the test program passes, with at least this many groups.
agrees()
{
    local groups=$1 program=$2
    shift 2
    # shellcheck disable=SC2086
    env "$@" "$programs"/$program >"$scratch/said" || { grep -A1 '^not ok' "$scratch/said"; return 1; }
    [ "$(grep -c '^ok' "$scratch/said")" -ge "$groups" ]
}

all_agree()
{
    agrees 30 "decode_check --share=7 --damaged=100" "$@" && agrees 4 "judge_check --damaged=200" "$@" &&
        agrees 4 "stages_check --share=8" "$@"
}

library=$(tests/kernels/encode/libjpeg3)
check "libjpeg-turbo without vectors" all_agree JSIMD_FORCENONE=1
if [ -n "$library" ] && [ "${SANITIZED:-0}" != 1 ]; then
    cp "$library" "$scratch/libjpeg.so.62"
    loaded()
    {
        LD_LIBRARY_PATH=$scratch ldd "$programs/decode_check" | grep -q "$scratch/libjpeg.so.62"
    }
    version=$(grep -aoE 'libjpeg-turbo version [0-9.]+' "$library" | head -n 1)
    check "$version is loaded" loaded
    check "$version" all_agree LD_LIBRARY_PATH="$scratch"
    # Every width with every height, only if asked for: make test-long-decode.
    if [ -n "${ALL_SIZES:-}" ]; then
        check "$version, every width with every height" agrees 30 "decode_check --all" LD_LIBRARY_PATH="$scratch"
    fi
else
    skip "libjpeg-turbo 3" "not found: neither LAPEDGE_LIBJPEG nor Pillow's wheel"
fi
finish
