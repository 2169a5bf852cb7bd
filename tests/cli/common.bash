# What the tests of the command line share. The program is $LAPEDGE, or ./lapedge of the repository.
bats_require_minimum_version 1.5.0

repo=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
LAPEDGE=${LAPEDGE:-$repo/lapedge}
# shellcheck disable=SC2034 # the tests use it
photo=$repo/samples/coffee.jpg # 600 x 400

setup()
{
    cd "$BATS_TEST_TMPDIR" || return
    CORPUS=${LAPEDGE_CORPUS:-} # for the tests; the program knows no such variable
    unset NO_COLOR LAPEDGE_CORPUS
}

lapedge()
{
    "$LAPEDGE" "$@"
}

# expect CODE STDOUT STDERR WORD...: runs lapedge WORD... and holds all three against it, exactly.
expect()
{
    local code=$1 out=$2 err=$3
    shift 3
    run --separate-stderr lapedge "$@"
    # shellcheck disable=SC2154 # run sets it
    if [ "$status" -ne "$code" ] || [ "$output" != "$out" ] || [ "$stderr" != "$err" ]; then
        printf 'lapedge %s\n' "$*"
        printf 'code   %s, expected %s\n' "$status" "$code"
        printf 'stdout %q\n    expected %q\nstderr %q\n    expected %q\n' "$output" "$out" "$stderr" "$err"
        return 1
    fi
}

# From now on without the summary of several files, which has a time in it.
without_summary()
{
    lapedge()
    {
        local code=0
        "$LAPEDGE" "$@" 2>stderr || code=$?
        sed -E '/^[0-9]+ (done|to be done)/d' stderr >&2
        rm stderr
        return "$code"
    }
}

# A picture of W x H gray noise, the same each time: pgm W H FILE
pgm()
{
    { printf 'P5\n%d %d\n255\n' "$1" "$2"; seq 1 100000 | head -c $(($1 * $2)); } >"$3"
}

# Skips a test that names backends of x86-64 where the program was built for another processor.
for_x86()
{
    [[ $("$LAPEDGE" backends 2>&1) != *"another processor than x86-64"* ]] || skip "these backends are for x86-64"
}

# Skips a test whose program is to see a terminal where none can be made, as in a tree without /dev/pts.
needs_terminal()
{
    command -v script >/dev/null || skip "script is not installed"
    script -qec true /dev/null >/dev/null 2>&1 || skip "no pseudo-terminal can be had here"
}

# The library tests/cli/limits/NAME.c, for LD_PRELOAD; nothing where a sanitizer wants to be the first library.
preload() # NAME
{
    [ -n "${SANITIZED:-}" ] || (cd "$repo" && realpath -e "${B:-build}/tests/$1.so" 2>/dev/null) || true
}

# The library whose clock is LAP_STEP_NS (1) nanoseconds later at each look at it.
step_clock()
{
    preload step_clock
}

# json FILE EXPRESSION: a Python expression over the object o
json()
{
    python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else "not true: " + sys.argv[2] + "\nin " + json.dumps(o))' "$@"
}

# begun PID: waits until a run in the background has begun to write an output somewhere below this folder; false if
# it ends first.
begun()
{
    until [ -n "$(find . -name '.lapedge-*.tmp')" ]; do
        kill -0 "$1" 2>/dev/null || return
        sleep 0.01
    done
}

# standing PID: stops a run in the background in the middle of its work. True if all its threads stand still and it
# is writing an output somewhere below this folder; false if it was done before. The caller lets it go on, or kills it.
standing()
{
    begun "$1" && kill -STOP "$1" 2>/dev/null || return
    # A call that had begun is still finished, so a name may have been given after the signal.
    while [ -n "$(grep -sL '^State:[[:space:]]*[TZ]' /proc/"$1"/task/*/status)" ]; do
        sleep 0.01
    done
    [ -n "$(find . -name '.lapedge-*.tmp')" ]
}

# struck CODE SIGNAL WORD...: lapedge WORD..., which writes out.jpg, ends with that code if the signal comes while it
# works. What is done before the signal comes is begun again.
struck()
{
    local want=$1 signal=$2 code=0 pid
    shift 2
    for _ in {1..20}; do
        rm -f out.jpg
        env --default-signal="HUP,INT,TERM" "$LAPEDGE" "$@" 2>err &
        pid=$!
        ! standing $pid || kill -"$signal" $pid
        kill -CONT $pid 2>/dev/null || true
        wait $pid && code=0 || code=$?
        [ "$code" -eq 0 ] || break
    done
    [ "$code" -eq "$want" ]
}

# catches PID NUMBER WORD: waits until a run in the background that has WORD in its command line handles signal NUMBER.
# Before it was this run, it was a shell, which may handle the signal, too.
catches()
{
    local caught
    until grep -qszx -- "$3" "/proc/$1/cmdline" && caught=$(sed -n 's/^SigCgt:\t//p' "/proc/$1/status") &&
        ((0x${caught:-0} >> ($2 - 1) & 1)); do
        kill -0 "$1" 2>/dev/null || return
        sleep 0.01
    done
}

# asleep PID: waits until all threads of a run in the background sleep, as they do while it waits for another process.
asleep()
{
    while [ -n "$(grep -sL '^State:[[:space:]]*[SZ]' /proc/"$1"/task/*/status)" ]; do
        sleep 0.01
    done
}

# while_held FUNCTION WORD... OUTDIR: lapedge WORD... OUTDIR, with FUNCTION between its first lines in the records and its
# first rename. Sets status, output and stderr. Calls skip where strace cannot hold a process.
while_held()
{
    local what=$1 outdir=${!#} pid lines
    shift
    [ -z "${EMULATOR:-}" ] || skip "strace holds the emulator, not the run"
    command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null || skip "no strace to hold a run"
    lines=$(cat "$outdir"/.lapedge/*.jsonl 2>/dev/null | wc -l)
    ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null -e trace=syncfs,fdatasync -e inject=syncfs:retval=0 \
        -e inject=fdatasync:retval=0:delay_exit=3000000:when=1 "$LAPEDGE" "$@" >held.out 2>held.err &
    pid=$!
    until [ "$(cat "$outdir"/.lapedge/*.jsonl 2>/dev/null | wc -l)" -gt "$lines" ]; do
        kill -0 $pid 2>/dev/null || return
        sleep 0.05
    done
    "$what"
    kill -0 $pid # it was still held
    wait $pid && status=0 || status=$?
    output=$(<held.out) stderr=$(<held.err)
}

nothing_left() # no output, and no temporary file
{
    [ ! -e "$1" ] || return
    [ -z "$(find . -name '.lapedge-*.tmp')" ]
}

# unprivileged: runs lapedge from here on as a user who is not root, because root may write everywhere. That user can
# read the files that exist now.
unprivileged()
{
    as=()
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv >/dev/null || skip "root, and no setpriv"
        as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        chmod 711 . "$BATS_TEST_TMPDIR"
        "${as[@]}" "$LAPEDGE" --version >/dev/null || skip "nobody cannot reach the program"
    fi
    chmod -R a+rX ./*
    lapedge() { "${as[@]}" "$LAPEDGE" "$@"; }
}
