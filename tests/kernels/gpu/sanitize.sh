#!/bin/bash
# The CUDA rungs under compute-sanitizer: memory faults, races in shared memory, reads of memory that nothing
# wrote, barriers that not all threads reach. GPU_TESTS: the folder of the harnesses.
. tests/support/tap.sh
folder=${GPU_TESTS:-build/portable}

# clean TOOL COMMAND...: the command passes, and the tool finds nothing.
clean()
{
    local tool=$1
    shift
    timeout "${SANITIZER_TIMEOUT:-600}" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 "$@"
}

for tool in ${TOOLS-memcheck racecheck initcheck synccheck}; do
    if ! have compute-sanitizer; then
        skip "$tool on GPU" "compute-sanitizer is not installed"
        continue
    fi
    if ! "$folder/scaffold" | grep -q '^ok 1 .*name'; then
        skip "$tool on GPU" "no device"
        continue
    fi
    # Every Nth case of the ladder, and the first of each kind; racecheck is by far the slowest.
    every=23 ops=ops
    [ "$tool" = racecheck ] && every=97 ops=ops_few
    check "$tool, filter rungs on GPU" clean "$tool" "$folder/filter_ladder" --rung=cuda --every=$every
    check "$tool, other ladders on GPU" clean "$tool" "$folder/$ops" 1
    check "$tool, scaffold on GPU" clean "$tool" "$folder/scaffold"
    for program in jpeg_check encode_check; do
        [ -x "$folder/$program" ] && check "$tool, $program on GPU" clean "$tool" "$folder/$program" --few
    done
done
finish
