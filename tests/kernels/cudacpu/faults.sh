#!/bin/bash
# Checks that the tests of kernels on a CPU can fail: planted faults are detected, and kernels without them pass.
. tests/support/tap.sh
export LAP_CUDACPU=devices=2
dir=${B:-build}/cudacpu

# seen PROGRAM FAULT WORDS: the program ends with an error whose message has these words.
seen()
{
    local output
    if output=$(timeout 200 "$1" "$2" 2>&1); then
        echo "$1 $2 was not seen"
        return 1
    fi
    grep -q -- "$3" <<<"$output" || { echo "$output"; return 1; }
}

check "sound kernels pass under AddressSanitizer" timeout 200 "$dir/asan/faults" none
check "sound kernels pass under ThreadSanitizer" timeout 200 "$dir/tsan/faults" none
check "a read beyond shared memory is seen" seen "$dir/asan/faults" shared 'AddressSanitizer: buffer-overflow\|insufficient space'
check "a read beyond dynamic shared memory is seen" seen "$dir/asan/faults" dynamic 'AddressSanitizer: heap-buffer-overflow'
check "a read beyond device memory is seen" seen "$dir/asan/faults" global 'AddressSanitizer: heap-buffer-overflow'
check "a missing barrier is seen" seen "$dir/tsan/faults" race 'ThreadSanitizer: data race'
check "a missing barrier between two others is seen" seen "$dir/tsan/faults" round 'ThreadSanitizer: data race'
check "a mask that another lane of it does not bring is seen" seen "$dir/asan/faults" mask 'where other lanes of its mask call'
check "an atomic on an odd address is seen" seen "$dir/asan/faults" odd 'misaligned\|does an atomic of 8 bytes'
check "the host at device memory is seen" seen "$dir/asan/faults" host 'AddressSanitizer: use-after-poison'
check "a kernel at memory of another device is seen" seen "$dir/asan/faults" device 'AddressSanitizer: use-after-poison'
check "a kernel with an address of the host is seen" seen "$dir/asan/faults" pageable 'address of the host'
check "a barrier that some threads never reach is seen" seen "$dir/asan/faults" hang 'never reach'
finish
