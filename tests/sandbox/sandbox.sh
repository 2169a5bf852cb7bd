#!/bin/bash
# --sandbox: what a decoder that was taken over can reach without it and with it, and that a run in it does
# what it does without.
. tests/tap.sh
program=$(realpath "${LAPEDGE:-./lapedge}")
hostile=$(realpath "${B:-build}")/tests/hostile.so
photos=$PWD/samples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir photos edges elsewhere
cp "$photos"/coffee.jpg "$photos"/chelsea.jpg "$photos"/astronaut.jpg photos
tried=18 # by hostile.c

# What the kernel has, asked for without the program: Landlock's version, then whether seccomp knows filters.
kernel=$(python3 -c 'import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(444, 0, 0, 1) >= 1 and libc.prctl(21, 0, 0, 0, 0) >= 0)')
case $(uname -m) in x86_64 | aarch64) ;; *) kernel=False ;; esac

# attack REACHED ARGUMENTS...: the tries of a decoder that was taken over; how many get through
attack()
{
    local want=$1 reached
    shift
    echo mine >elsewhere/secret
    echo mine >elsewhere/victim
    rm -rf elsewhere/new elsewhere/folder elsewhere/link out out.jpg
    LAP_HOSTILE=$work/elsewhere LD_PRELOAD=$hostile "$program" "$@" </dev/null >stdout 2>stderr ||
        { cat stderr; return 1; }
    reached=$(grep -c '^reached' stderr)
    [ "$((reached + $(grep -c '^refused' stderr)))" -eq $tried ] || { cat stderr; return 1; }
    [ "$reached" -eq "$want" ] || { grep -E '^(reached|refused)' stderr; return 1; }
    [ "$want" -ne 0 ] || [ "$(cd elsewhere && echo *)" = "secret victim" ]
}

# same NAME ARGUMENTS...: exit 0, and this output is that of a run without the sandbox
same()
{
    local name=$1
    shift
    rm -rf out out.jpg out.png
    "$program" "$@" >stdout || return 1
    rm -rf want
    cp -r "$name" want || return 1
    rm -rf out out.jpg out.png
    "$program" --sandbox "$@" >stdout || return 1
    diff -r -x .lapedge want "$name"
}

# refused CODE MESSAGE ARGUMENTS...
refused()
{
    local code=$1 message=$2 status=0
    shift 2
    rm -rf out out.jpg
    "$program" "$@" 2>stderr || status=$?
    [ "$status" -eq "$code" ] && [ "$(cat stderr)" = "lapedge: $message" ] && [ ! -e out.jpg ] && return
    echo "exit $status: $(cat stderr)"
    return 1
}

missing() # SYSTEM-CALL MESSAGE
{
    LAP_MISSING=$1 LD_PRELOAD=$hostile refused 3 "$2" --sandbox photos/coffee.jpg out.jpg
}

early_thread()
{
    LAP_EARLY_THREAD=1 LD_PRELOAD=$hostile refused 3 "--sandbox: threads run already" \
        --sandbox photos/coffee.jpg out.jpg
}

starts_another() # [OPTION]: a decoder that runs another program
{
    rm -f out.jpg
    LAP_HOSTILE_EXEC=1 LD_PRELOAD=$hostile "$program" "$@" photos/coffee.jpg out.jpg
}

stopped_exec()
{
    [ "$(starts_another)" = "another program" ] && [ ! -e out.jpg ] || return 1
    [ -z "$(starts_another --sandbox)" ] && [ -s out.jpg ]
}

sides()
{
    mkdir -p sides
    "$program" --sandbox -j4 --log=out/log.jsonl --json-file=sides/run.json --trace=sides/trace.json photos out &&
        [ "$(wc -l <out/log.jsonl)" -eq 3 ] && python3 -c 'import json
assert json.load(open("sides/run.json"))["ok"] == 3
assert json.load(open("sides/trace.json"))["traceEvents"]' &&
        "$program" --sandbox --stats=sides/stats.json --report=sides/page.html photos/coffee.jpg out.jpg &&
        [ -s sides/stats.json ] && grep -q '</html>' sides/page.html
}

again() # a folder, a second time: up to date, and what is left of a dead run goes
{
    rm -rf out
    "$program" --sandbox photos out && touch out/.lapedge-00000001-1-1-1.tmp &&
        touch -d '3 days ago' out/.lapedge-00000001-1-1-1.tmp &&
        "$program" --sandbox photos out 2>&1 | grep -q '3 up to date' && [ ! -e out/.lapedge-00000001-1-1-1.tmp ]
}

in_place()
{
    cp photos/coffee.jpg mine.jpg
    "$program" photos/coffee.jpg want.jpg && "$program" --sandbox --in-place mine.jpg && cmp want.jpg mine.jpg
}

pipes()
{
    "$program" photos/coffee.jpg want.jpg && "$program" --sandbox - - <photos/coffee.jpg | cmp - want.jpg &&
        "$program" --sandbox --format=jpg photos/coffee.jpg /dev/null
}

lists()
{
    rm -rf out
    printf '%s\n' photos/coffee.jpg photos/chelsea.jpg >list
    printf '%s\0' photos/coffee.jpg photos/chelsea.jpg >nulls
    "$program" --sandbox --files-from=list out && "$program" --sandbox -0 --files-from=nulls out &&
        [ -s out/photos/chelsea.jpg ]
}

links_out() # a link that leads out of the inputs is not followed out of the sandbox
{
    mkdir -p linked && ln -sf ../photos/coffee.jpg linked/a.jpg && cp photos/chelsea.jpg linked/b.jpg
    rm -rf out
    "$program" --follow linked out && [ -s out/a.jpg ] && rm -rf out
    "$program" --sandbox --follow linked out 2>stderr
    [ $? -eq 1 ] && [ ! -e out/a.jpg ] && [ -s out/b.jpg ] && grep -q 'Permission denied' stderr
}

reading()
{
    "$program" stats --json photos/coffee.jpg >want.json &&
        "$program" stats --sandbox --json photos/coffee.jpg | cmp - want.json &&
        "$program" info photos/coffee.jpg >want.txt && "$program" info --sandbox photos/coffee.jpg | cmp - want.txt &&
        "$program" diff --sandbox photos/coffee.jpg photos/coffee.jpg >/dev/null
}

if [ "$kernel" = True ]; then
    check "without the sandbox a decoder reaches all $tried" attack $tried photos/coffee.jpg edges/out.jpg
    check "a single run: none" attack 0 --sandbox photos/coffee.jpg edges/out.jpg
    check "a single run, decoded by several threads: none" \
        attack 0 --sandbox --decode=parallel --threads=4 photos/coffee.jpg edges/out.jpg
    check "a folder run: none" attack 0 --sandbox -j4 photos out
    check "stats: none" attack 0 stats --sandbox photos/coffee.jpg
    check "no other program is started" stopped_exec
    check "the same bytes: one image" same out.jpg photos/coffee.jpg out.jpg
    check "the same bytes: PNG" same out.png photos/coffee.jpg out.png
    check "the same bytes: a folder" same out -j4 photos out
    check "the same bytes: a folder in folders that are missing" same out photos out/far/below
    check "the same bytes: transform" same out transform --rotate=90 photos out
    check "--log, --json-file, --trace, --stats, --report" sides
    check "a second run" again
    check "--in-place" in_place
    check "pipes and devices" pipes
    check "--files-from" lists
    check "links that lead out" links_out
    check "stats, info and diff" reading
    check "no Landlock: refused" missing 444 \
        "--sandbox: this kernel has no Landlock; Linux has it from 5.13"
    check "no seccomp: refused" missing "$(python3 -c 'import os
print(317 if os.uname().machine == "x86_64" else 277)')" "--sandbox: this kernel has no seccomp"
    check "threads that stay outside: refused" early_thread
else
    skip "--sandbox" "this kernel has no Landlock or no seccomp"
fi
check "CUDA cannot be confined" refused 2 "--sandbox runs on the CPU alone: a driver of CUDA cannot be confined \
so; leave out --backend=cuda-fast" --sandbox --backend=cuda-fast photos/coffee.jpg out.jpg
check "nor its codec" refused 2 "--sandbox runs on the CPU alone; leave out --codec=cuda" \
    --sandbox --codec=cuda photos/coffee.jpg out.jpg
check "nor are devices used" refused 2 "--sandbox runs on the CPU alone, and --devices names CUDA devices" \
    --sandbox --devices=0 photos/coffee.jpg out.jpg
check "a list that can be read only once" refused 2 \
    "--sandbox: --files-from has to name a file: the list is read twice" --sandbox --files-from=- out
finish
