#!/bin/bash
# --sandbox: what a decoder that was taken over can reach without it and with it, and that a run in it does
# what it does without.
. tests/support/tap.sh
program=$(realpath "${LAPEDGE:-./lapedge}")
hostile=$(realpath "${B:-build}")/tests/hostile.so
photos=$PWD/samples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir photos edges elsewhere
cp "$photos"/coffee.jpg "$photos"/chelsea.jpg "$photos"/astronaut.jpg photos
photo=$work/photos/coffee.jpg
cp "$photo" one.jpg

# What the kernel has, asked for without the program: Landlock's version, 0 where seccomp knows no filters.
landlock=$(python3 -c 'import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(max(0, libc.syscall(444, 0, 0, 1)) if libc.prctl(21, 0, 0, 0, 0) >= 0 else 0)')
case $(uname -m) in x86_64 | aarch64) ;; *) landlock=0 ;; esac

# attack reached|refused VERSION ARGUMENTS...: the tries of a decoder that was taken over end so, on a kernel with that
# version of Landlock: all are refused, nothing has changed, and the run does what it should; or they get through.
attack()
{
    local want=$1 version=$2 status=0 stranger before same
    shift 2
    rm -rf elsewhere out out.jpg && mkdir elsewhere out
    echo mine >elsewhere/secret && echo mine >elsewhere/victim && cp one.jpg "$photo"
    before=$(state "$@")
    sleep 1000 &
    stranger=$!
    disown
    LAP_LANDLOCK=$version LAP_HOSTILE=$work/elsewhere LAP_HOSTILE_OUT=$work/out LAP_HOSTILE_INPUT=$photo \
        LAP_HOSTILE_PROCESS=$stranger LD_PRELOAD=$hostile "$program" "$@" <"$photo" >stdout 2>stderr || status=$?
    kill "$stranger" 2>killed
    same=$?
    if [ "$want" = reached ]; then
        grep '^refused' stderr # what this machine does not have; few kernels have everything
        [ "$(grep -c '^reached' stderr)" -ge 80 ] && return
    elif ! grep '^reached' stderr && [ "$(grep -c '^refused' stderr)" -ge 80 ]; then
        [ $same -eq 0 ] && [ $status -eq 0 ] && [ "$(state "$@")" = "$before" ] && return
    fi
    echo "exit $status, stranger $same" && cat stderr && state "$@"
    return 1
}

state() # ARGUMENTS...: of what a run with these leaves as it is
{
    (cd elsewhere && stat -c '%n %a %s %Y %y %h' -- * && cat secret victim)
    case $* in *--in-place*) stat -c '%a' "$photo" ;; *) stat -c '%a %s %y' "$photo" ;; esac
}

# attacks ARGUMENTS...: all tries get through without the sandbox, and none in it, whatever the kernel's Landlock.
attacks()
{
    local version
    attack reached "$landlock" "$@" || return 1
    for ((version = 1; version <= landlock; version++)); do
        attack refused $version "$@" --sandbox || { echo "Landlock $version"; return 1; }
    done
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
    LAP_EARLY_THREAD=1 LD_PRELOAD=$hostile refused 3 "--sandbox: threads are already running" \
        --sandbox photos/coffee.jpg out.jpg
}

no_keeper()
{
    LAP_NO_FORK=1 LD_PRELOAD=$hostile refused 3 "--sandbox: cannot start the process that sets modes, owners and times: \
Resource temporarily unavailable" --sandbox photos/coffee.jpg out.jpg
}

lost_keeper() # a mode that was not set is no success
{
    LAP_LOST_KEEPER=1 LD_PRELOAD=$hostile refused 1 \
        "out.jpg: cannot set the mode: Input/output error" --sandbox photos/coffee.jpg out.jpg &&
        ! compgen -G '.lapedge-*.tmp' >found
}

deaf() # whoever asks the second process and reads no answer does not leave it behind
{
    local status=0 i
    LAP_DEAF=1 LD_PRELOAD=$hostile "$program" --sandbox photos/coffee.jpg "$work/deaf.jpg" 2>stderr || status=$?
    for ((i = 0; i < 600; i++)); do
        pgrep -f "^$program --sandbox .*$work/deaf.jpg" >found || break
        sleep 0.1
    done
    [ $status -eq 9 ] && [ ! -s found ] && return
    echo "exit $status, left behind: $(cat found)"
    return 1
}

attributes() # [OPTION]: modes, owners and times of outputs, new and replaced
{
    rm -rf out && mkdir out && touch out/coffee.jpg out/new.png && chmod 604 out/coffee.jpg && chmod 640 photos/chelsea.jpg
    [ "$(id -u)" -ne 0 ] || chown 12345:23456 out/coffee.jpg
    list give photos/chelsea.jpg out/new.png || return 1
    touch -d '2001-02-03 04:05:06.789' photos/*.jpg
    "$program" "$@" -f -j2 photos out 2>stderr && "$program" "$@" photos/chelsea.jpg out/b.png || return 1
    case $* in *--preserve*) (cd out && stat -c '%n %a %u:%g %y' -- *.jpg b.png) ;; *) (cd out && stat -c '%n %a %u:%g' -- *) ;; esac
    list show out/*
}

list() # give|show FILE...: an access control list, if the file system has them
{
    python3 - "$@" <<'END'
import os, struct, sys
entries = [(1, 6, -1), (2, 6, 65534), (4, 0, -1), (16, 6, -1), (32, 0, -1)]
value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
for path in sys.argv[2:]:
    try:
        if sys.argv[1] == "give":
            os.setxattr(path, "system.posix_acl_access", value)
        print(path, os.getxattr(path, "system.posix_acl_access").hex())
    except OSError as error:
        print(path, error.strerror)
END
}

same_attributes()
{
    local option
    for option in "" --preserve; do
        attributes $option >plain && attributes $option --sandbox >modes && diff plain modes || return 1
    done
}

leaves_no_process()
{
    python3 - "$program" photos/coffee.jpg out.jpg <<'END'
import ctypes, subprocess, sys, os, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans come to this process, which waits for none of them
subprocess.run([sys.argv[1], "--sandbox", *sys.argv[2:]], check=True)
try:
    raise SystemExit(f"left: {os.waitpid(-1, os.WNOHANG)}")
except ChildProcessError:
    pass
END
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
    rm -rf out sides
    mkdir sides out
    "$program" --sandbox -j4 --log=out/log.jsonl --json-file=sides/run.json --trace=sides/trace.json photos out &&
        [ "$(wc -l <out/log.jsonl)" -eq 4 ] && python3 -c 'import json
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

long_list() # a name without an end is passed over, and takes no memory; rules take memory of the kernel
{
    { head -c 300000000 /dev/zero | tr '\0' x; echo; yes photos/coffee.jpg | head -600; } >list
    (ulimit -v 200000 && refused 5 "--sandbox: limit: rules for this many files would take more memory than \
--max-memory; name fewer in --files-from, or their folder" --sandbox --max-memory=1M --files-from=list out)
}

kernels() # of a file, a pipe, a list, a name; the file is read inside
{
    echo '0 0 0 0 0/0 0 -1 0 0/0 -1 7 -3 0/0 0 -1 0 0/0 0 0 0 0' >kernel
    same out.png --kernel=kernel photos/coffee.jpg out.png && cp out.png want.png &&
        "$program" --sandbox --kernel=<(cat kernel) photos/coffee.jpg out.png && cmp out.png want.png &&
        "$program" --sandbox --kernel="$(cat kernel)" photos/coffee.jpg out.png && cmp out.png want.png &&
        same out.png --kernel=kernel --flip-kernel photos/coffee.jpg out.png && ! cmp -s out.png want.png &&
        refused 2 '--kernel: "laplace4" is not a known kernel; did you mean laplace5?' \
            --sandbox --kernel=laplace4 photos/coffee.jpg out.jpg &&
        refused 2 "--kernel: kernel one.jpg: not a text of 25 or 9 numbers" --sandbox --kernel=one.jpg photos/coffee.jpg out.jpg
}

kernel_attack() # at the first bytes of a file that is no kernel
{
    rm -rf out && mkdir out
    LAP_HOSTILE_READ=1 LAP_HOSTILE=$work/elsewhere LAP_HOSTILE_OUT=$work/out LAP_HOSTILE_INPUT=$photo \
        LAP_HOSTILE_PROCESS=$$ LD_PRELOAD=$hostile "$program" --sandbox --kernel=one.jpg photos/coffee.jpg out/o.jpg 2>stderr
    [ $? -eq 2 ] && ! grep '^reached' stderr && [ "$(grep -c '^refused' stderr)" -ge 80 ]
}

weights()
{
    yes 2 | head -600 >weights
    "$program" stats --profiles --weights=weights photos/coffee.jpg >want.txt &&
        "$program" stats --sandbox --profiles --weights=weights photos/coffee.jpg | cmp - want.txt
}

dash() # in a list, a file
{
    mkdir -p dash && cp photos/coffee.jpg dash/- && printf -- '-\n' >dashes &&
        (cd dash && "$program" stats --sandbox -q --csv --files-from=../dashes </dev/null >../dash.csv) && [ -s dash.csv ]
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

if [ "$landlock" -gt 0 ]; then
    printf '%s\n' photos/coffee.jpg photos/chelsea.jpg >list
    mkdir -p same && cp "$photo" same
    check "attacks: one image" attacks photos/coffee.jpg out/o.jpg
    check "attacks: one image, decoded by several threads" \
        attacks --decode=parallel --threads=4 photos/coffee.jpg out/o.jpg
    check "attacks: --preserve and --report" attacks --preserve --report=out/r.html photos/coffee.jpg out/o.png
    check "attacks: a pipe" attacks - -
    check "attacks: a folder" attacks -j4 photos out
    check "attacks: --files-from" attacks --files-from=list out
    check "attacks: --in-place" attacks --in-place photos/coffee.jpg
    check "attacks: transform" attacks transform --rotate=90 photos/coffee.jpg out/o.jpg
    check "attacks: transform of a folder" attacks transform --flip=h photos out
    check "attacks: stats" attacks stats photos/coffee.jpg
    check "attacks: stats of a folder" attacks stats photos --json-file=out/stats.json
    check "attacks: diff" attacks diff photos/coffee.jpg one.jpg --heatmap=out/h.png
    check "attacks: diff of folders" attacks diff same same
    LAP_HOSTILE_READ=1 check "attacks: info" attacks info photos/coffee.jpg
    check "no other program is started" stopped_exec
    check "the same bytes: one image" same out.jpg photos/coffee.jpg out.jpg
    check "the same bytes: PNG" same out.png photos/coffee.jpg out.png
    check "the same bytes: a folder" same out -j4 photos out
    check "the same bytes: a folder in folders that are missing" same out photos out/far/below
    check "the same bytes: transform" same out transform --rotate=90 photos out
    check "--log, --json-file, --trace, --stats, --report" sides
    check "a second run" again
    check "--in-place" in_place
    check "modes, owners and times" same_attributes
    check "no process is left" leaves_no_process
    check "pipes and devices" pipes
    check "--files-from" lists
    check "a long list" long_list
    check "--kernel" kernels
    check "a kernel's file is read inside" kernel_attack
    check "--weights" weights
    check "a file named -" dash
    check "links that lead out" links_out
    check "stats, info and diff" reading
    check "no Landlock: refused" missing 444 \
        "--sandbox: this kernel has no Landlock; Linux has it from 5.13"
    check "no seccomp: refused" missing "$(python3 -c 'import os
print(317 if os.uname().machine == "x86_64" else 277)')" "--sandbox: this kernel has no seccomp"
    check "threads that stay outside: refused" early_thread
    check "no second process: refused" no_keeper
    check "the second process dies: said" lost_keeper
    check "the second process is asked and not listened to: it ends" deaf
else
    skip "--sandbox" "this kernel has no Landlock or no seccomp"
fi
check "CUDA cannot be confined" refused 2 "--sandbox runs on the CPU only: the CUDA driver cannot be confined; leave \
out --backend=cuda-fast" --sandbox --backend=cuda-fast photos/coffee.jpg out.jpg
check "nor its codec" refused 2 "--sandbox runs on the CPU only; leave out --codec=cuda" \
    --sandbox --codec=cuda photos/coffee.jpg out.jpg
no_devices() # --devices changes nothing then, and -v says so
{
    same out.jpg --devices=0 photos/coffee.jpg out.jpg && "$program" -v --sandbox --devices=0 photos/coffee.jpg out.jpg 2>said &&
        grep -q 'note: --devices applies only to CUDA backends' said
}
check "nor are devices used" no_devices
check "a list that can be read only once" refused 2 \
    "--sandbox: --files-from has to name a file: the list is read twice" --sandbox --files-from=- out
finish
