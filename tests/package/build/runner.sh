#!/bin/bash
# tests/run must notice every way in which a test program can go wrong.
. tests/support/tap.sh
unset SUITE # of make check SUITE=..., which is not about the programs here
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# program TEXT: makes a test program out of a few lines of shell.
program()
{
    printf '#!/bin/sh\n%s\n' "$1" >"$scratch/program"
    chmod +x "$scratch/program"
}

# says COUNTS STATUS: what tests/run closes with for the program.
says()
{
    local status=0
    B=$scratch tests/run "$scratch/program" >"$scratch/said" 2>&1 || status=$?
    cat "$scratch/said"
    [ "$(tail -n 1 "$scratch/said")" = "$1" ] && [ $status -eq "$2" ]
}

program 'echo 1..2; echo ok 1 - a; echo ok 2 - b'
check "passed" says "2 passed, 0 failed, 0 skipped" 0
program 'echo 1..2; echo ok 1 - a; echo "not ok 2 - b"; exit 1'
check "failed" says "1 passed, 1 failed, 0 skipped" 1
program 'echo 1..2; echo ok 1 - a; echo "not ok 2 - b"'
check "failed, and exit status 0 all the same" says "1 passed, 1 failed, 0 skipped" 1
program 'echo 1..2; echo ok 1 - a; echo "ok 2 - b # SKIP no such thing"'
check "skipped" says "1 passed, 0 failed, 1 skipped" 0
check "a skip is named" grep -q 'program: b: no such thing' "$scratch/said"
program 'echo 1..2; echo ok 1 - a; echo "not ok 2 # SKIP b"'
check "skipped, as cmocka says it" says "1 passed, 0 failed, 1 skipped" 0
check "that skip is named, too" grep -q 'program: b$' "$scratch/said"
program 'echo 1..3; echo ok 1 - a; echo ok 2 - b'
check "fewer tests than planned" says "2 passed, 1 failed, 0 skipped" 1
program 'echo ok 1 - a'
check "no plan" says "1 passed, 1 failed, 0 skipped" 1
program 'echo 1..1; echo ok 1 - a; exit 3'
check "exit status without a failed test" says "1 passed, 1 failed, 0 skipped" 1
program 'echo 1..1; echo ok 1 - a; kill -SEGV $$'
check "died of a signal" says "1 passed, 1 failed, 0 skipped" 1
check "the signal is named" grep -q 'signal 11' "$scratch/said"
program 'sleep 30'
check "ran out of time" env TEST_TIMEOUT=1 bash -c "$(declare -f says); scratch=$scratch; says '0 passed, 1 failed, 0 skipped' 1"
program 'echo 1..0'
check "nothing passed is no success" says "0 passed, 0 failed, 0 skipped" 1
program 'echo 1..1; echo "ok 1 - cuda-fast # SKIP no device"'
check "all GPU checks skipped" says "0 passed, 0 failed, 1 skipped" 1
check "which is said before the counts" grep -q '^No GPU was used: all 1 checks' "$scratch/said"
rm "$scratch/program"
check "no such program" says "0 passed, 1 failed, 0 skipped" 1
finish
