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
# ends_with_its_tests SIGNAL: tests/run that gets it ends the test, which began a process, and leaves no files.
ends_with_its_tests()
{
    local pid status=0
    mkfifo "$scratch/begun"
    TMPDIR=$scratch B=$scratch tests/run "$scratch/program" >/dev/null 2>&1 &
    pid=$!
    read -r <"$scratch/begun"
    kill -s "$1" $pid
    wait $pid || status=$?
    rm "$scratch/begun"
    [ $status -eq $((128 + $(kill -l "$1"))) ] && [ -z "$(find "$scratch" -name 'lapedge-tests.*')" ] &&
        ! kill -0 "$(cat "$scratch/pid")" 2>/dev/null
}

program "mktemp -d >/dev/null; echo \$\$ >$scratch/pid; echo >$scratch/begun; exec sleep 1000"
for signal in TERM HUP; do
    check "SIG$signal ends the tests, too, and removes their files" ends_with_its_tests $signal
done

# The same if the signal comes before tests/run has noted which process it started.
ends_what_is_not_noted()
{
    local status=0
    echo "trap '[[ \$BASH_COMMAND != number_of* ]] || { until [ -s $scratch/pid ]; do sleep 0.01; done; kill \$\$; }' DEBUG" \
        >"$scratch/env"
    rm "$scratch/pid"
    TMPDIR=$scratch B=$scratch BASH_ENV=$scratch/env tests/run "$scratch/program" >/dev/null 2>&1 || status=$?
    [ $status -eq 143 ] && [ ! -e "$scratch/over" ]
}

program "echo \$\$ >$scratch/pid; sleep 20; echo >$scratch/over"
check "also a test that has only just begun" ends_what_is_not_noted

# What a tests/run that was killed left goes with a later one, unless it is another's that still runs.
leftovers()
{
    local name
    for name in 111111 222222 333333; do mkdir "$scratch/lapedge-tests.$name" || return 1; done
    touch -d '2 hours ago' "$scratch"/lapedge-tests.{111111,222222}
    (
        exec 3<"$scratch/lapedge-tests.222222"
        flock 3
        TMPDIR=$scratch says "1 passed, 0 failed, 0 skipped" 0
    ) || return 1
    [ "$(cd "$scratch" && echo lapedge-tests.*)" = "lapedge-tests.222222 lapedge-tests.333333" ]
}
program "echo 1..1; case \$(mktemp -d) in $scratch/lapedge-tests.*) echo ok 1 - a ;; esac"
check "old files of a tests/run that was killed are removed, no others" leftovers
program 'echo 1..0'
check "nothing passed is no success" says "0 passed, 0 failed, 0 skipped" 1
program 'echo 1..1; echo "ok 1 - cuda-fast # SKIP no device"'
check "all GPU checks skipped" says "0 passed, 0 failed, 1 skipped" 1
check "which is said before the counts" grep -q '^No GPU was used: all 1 checks' "$scratch/said"
rm "$scratch/program"
check "no such program" says "0 passed, 1 failed, 0 skipped" 1
finish
