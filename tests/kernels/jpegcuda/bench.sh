#!/bin/bash
# The decoder's bench on the CPU runtime: several pictures at once, one per stream, in any order that events allow;
# nothing is measured.
. tests/support/tap.sh
bench=${B:-build}/cudacpu/asan/jpeg_bench

pixels_are_equal()
{
    local output
    output=$("$bench" decode samples/chelsea.jpg "$@" 2>&1)
    echo "$output"
    grep -q "^pixels equal" <<<"$output"
}

check "several pictures on several streams" pixels_are_equal --streams=1,3 --photos=7 --runs=2
check "few chain lanes, long groups" pixels_are_equal --streams=2 --photos=2 --runs=1 --subs=128 --groups=16 --lanes=32
finish
