#!/bin/bash
# The CUDA rungs under compute-sanitizer: memory faults, races in shared memory, reads of memory that nothing
# wrote, barriers that not all threads reach. GPU_TESTS: the folder of the harnesses.
. tests/tap.sh
folder=${GPU_TESTS:-build/portable}
# One case in 23 of the ladder's: all widths and heights come up, at some rung's turn.
filter="$folder/filter_ladder --rung=cuda --every=23"

# clean TOOL COMMAND...: no error, whatever TAP says (the harness fails for its own reasons too).
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
    # shellcheck disable=SC2086 # a command and its arguments
    check "$tool, filter rungs on GPU" clean "$tool" $filter
    check "$tool, other ladders on GPU" clean "$tool" "$folder/ops" 1
    check "$tool, scaffold on GPU" clean "$tool" "$folder/scaffold"
done
finish
