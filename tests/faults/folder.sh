#!/bin/bash
# Folder runs under faults: kills, interrupts, full disks, size limits, two runs at once; and what is synced when.
# tools/test/kill-campaign N is the long form of the first check.
. tests/support/tap.sh
program=$(realpath "${LAPEDGE:-./lapedge}")
# Disks are mounted where only this script sees them, so that they end with it, even if it is killed.
[ -n "${OWN_MOUNTS:-}" ] || ! unshare -m true 2>/dev/null || OWN_MOUNTS=1 exec unshare -m "$0"
work=$(mktemp -d)
trap 'umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT

# photos FOLDER COUNT: noise of 150 x 100 in two folders
photos()
{
    mkdir -p "$1/sub"
    { printf 'P5\n150 100\n255\n'; seq 1 10000 | head -c 15000; } >"$work/one.pgm"
    "$program" --no-sync --kernel=identity "$work/one.pgm" "$1/0.jpg" || return 1
    local i
    for ((i = 1; i < $2; i++)); do
        if ((i % 2)); then cp "$1/0.jpg" "$1/$i.jpg"; else cp "$1/0.jpg" "$1/sub/$i.jpg"; fi
    done
}

same() # FOLDER FOLDER: the same outputs, apart from manifests
{
    diff -r --exclude=.lapedge "$1" "$2"
}

no_temporary()
{
    [ -z "$(find "$1" -name '.lapedge-*')" ] || { find "$1" -name '.lapedge-*'; return 1; }
}

killed_between_lines()
{
    # The first rename is the last thing that happens: begin lines are there, done lines are not.
    rm -rf "$work/out"
    strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=KILL:when=3 \
        "$program" "$work/in" "$work/out" 2>/dev/null && return 1
    grep -q '"begin"' "$work"/out/.lapedge/*.jsonl || return 1
    ! grep -q '"done"' "$work"/out/.lapedge/*.jsonl || return 1
    "$program" "$work/in" "$work/out" 2>"$work/err" || return 1
    same "$work/want" "$work/out" && no_temporary "$work/out"
}

# A run that takes long enough to be stopped: its input is a large folder of links to one file.
slow_tree()
{
    local i
    mkdir -p "$work/slow"
    for ((i = 0; i < 3000; i++)); do ln "$work/in/0.jpg" "$work/slow/$i.jpg" || return 1; done
}

# begun PID: waits until the run has begun to write an output; false if it ends first.
begun()
{
    until [ -n "$(find "$work/out" -name '*.tmp' 2>/dev/null | head -n 1)" ]; do
        kill -0 "$1" 2>/dev/null || return
        sleep 0.01
    done
}

interrupted() # SIGNAL CODE; a run that is done before the signal comes is begun again
{
    local pid i code=0
    for ((i = 0; i < 20 && code == 0; i++)); do
        rm -rf "$work/out"
        env --default-signal="$1" "$program" "$work/slow" "$work/out" --no-sync -j1 --threads=1 2>"$work/err" &
        pid=$!
        begun $pid && kill -s "$1" $pid
        wait $pid || code=$?
    done
    [ "$code" -eq "$2" ] || { echo "exit $code"; cat "$work/err"; return 1; }
    no_temporary "$work/out" || return 1
    [ "$(find "$work/out" -name '*.jpg' | wc -l)" -lt 3000 ] || { echo "it had ended before"; return 1; }
    "$program" "$work/slow" "$work/out" --no-sync 2>"$work/err" || return 1
    [ "$(find "$work/out" -name '*.jpg' -size +0 | wc -l)" -eq 3000 ] && no_temporary "$work/out"
}

two_at_once() # OPTION...: of the second run
{
    rm -rf "$work/out"
    "$program" "$work/slow" "$work/out" --no-sync -j1 2>"$work/err" &
    local first=$!
    "$program" "$work/slow" "$work/out" --no-sync -j1 "$@" 2>"$work/err2" || { cat "$work/err2"; return 1; }
    # What the other one has made meanwhile is known as ours.
    wait $first || { cat "$work/err"; return 1; }
    [ "$(find "$work/out" -name '*.jpg' | wc -l)" -eq 3000 ] || return 1
    cmp "$work/want/0.jpg" "$work/out/2999.jpg" && no_temporary "$work/out" || return 1
    "$program" "$work/slow" "$work/out" --no-sync 2>"$work/err" || return 1
    grep -q '^0 done, 3000 up to date' "$work/err"
}

# File systems that cannot rename without overwriting: by link, and where they have no links, by a last look.
no_noreplace() # INJECTION...
{
    local words=() injection code=0
    for injection in "$@"; do words+=(-e "inject=$injection"); done
    rm -rf "$work/out"
    strace -f -qq -o "$work/trace" -e trace=renameat2,renameat,linkat "${words[@]}" "$program" --no-sync "$work/in" \
        "$work/out" 2>"$work/err" || { cat "$work/err"; return 1; }
    same "$work/want" "$work/out" && no_temporary "$work/out" || return 1
    [ "$(grep -c INJECTED "$work/trace")" -eq $((40 * $#)) ] || { echo "not injected"; return 1; }
    # A file that appears during the run; of one that is done before, it replaces the output.
    local pid i
    for ((i = 0; i < 20 && code == 0; i++)); do
        rm -rf "$work/out"
        mkdir "$work/out"
        strace -f -qq -o "$work/trace" -e trace=renameat2,renameat,linkat "${words[@]}" "$program" --no-sync \
            --backend=c --threads=1 "$work/large.pgm" "$work/out" 2>"$work/err" &
        pid=$!
        begun $pid
        echo mine >"$work/out/large.pgm"
        wait $pid || code=$?
    done
    [ "$code" -eq 1 ] && [ "$(cat "$work/out/large.pgm")" = mine ] && no_temporary "$work/out" || {
        echo "exit $code"
        cat "$work/err"
        return 1
    }
}

# Groups of 256 files at most, or of two seconds: one syncfs before the begin lines, these synced before the first
# rename; with the first group the names of the manifest and of its folder; and one syncfs when all is done.
traced_order()
{
    local began=$SECONDS
    rm -rf "$work/out"
    strace -f -qq -s 200 -o "$work/trace" -e trace=syncfs,fsync,fdatasync,renameat2,write "$program" "$work/in" "$work/out" \
        2>"$work/err" || return 1
    awk -v seconds=$((SECONDS - began + 1)) '
        /syncfs\(/ { syncs++; synced = 1; begun = 0 }
        /write\(/ && /event.*begin/ { if (!synced) bad = "begin lines before the files were synced"; written = 1 }
        /fdatasync\(/ { if (!written) bad = "synced before the lines"; groups++; begun = 1; written = 0 }
        / fsync\(/ { if (!begun || renames) bad = "names synced at the wrong moment"; names++ }
        /renameat2\(/ {
            renames++
            if (!begun) bad = "renamed before the lines were synced"
            if (names != 2) bad = "renamed before the names of the manifest were synced"
        }
        /write\(/ && /event.*done/ { if (!renames) bad = "done before the renames"; synced = 0 }
        END {
            if (renames != 40) bad = renames " renames"
            if (names != 2) bad = names " calls of fsync"
            if (groups < 1 || groups > 1 + seconds / 2) bad = groups " groups in " seconds " s"
            if (syncs != groups + 1) bad = syncs " syncs of " groups " groups"
            if (bad) { print bad; exit 1 }
        }' "$work/trace"
}

nothing_synced()
{
    rm -rf "$work/out"
    strace -f -qq -o "$work/trace" -e trace=syncfs,fsync,fdatasync,sync,renameat2 "$program" --no-sync "$work/in" \
        "$work/out" 2>"$work/err" || return 1
    [ "$(grep -c 'renameat2(' "$work/trace")" -eq 40 ] || return 1
    ! grep -E 'sync(fs)?\(' "$work/trace" # not of names
}

# full_disk: the output folder on file systems of several sizes, none large enough; then room is made.
sizes=25
full_disk()
{
    local i size code done_now stopped=0
    for ((i = 0; i < sizes; i++)); do
        size=$(((i + 1) * need / (sizes + 1) + 8192))
        mount -t tmpfs -o "size=$size" tmpfs "$work/disk" || return 1
        code=0
        "$program" "$work/in" "$work/disk/out" 2>"$work/err" || code=$?
        done_now=$(find "$work/disk" -name '*.jpg' | wc -l)
        case $code in
        0) ;;
        1) stopped=$((stopped + 1)); [ "$done_now" -gt 0 ] || { echo "exit 1 and nothing done"; return 1; } ;;
        4) stopped=$((stopped + 1)); [ "$done_now" -eq 0 ] || { echo "exit 4 with $done_now done"; return 1; } ;;
        *) echo "size $size: exit $code"; cat "$work/err"; return 1 ;;
        esac
        if [ "$code" -ne 0 ] && ! grep -qE 'No space left' "$work/err"; then cat "$work/err"; return 1; fi
        [ "$code" -eq 0 ] || [ "$done_now" -lt 40 ] || { echo "exit $code and all done"; return 1; }
        no_temporary "$work/disk" || return 1
        [ "$(find "$work/disk" "$work/want/0.jpg" -name '*.jpg' -exec sha256sum {} + | cut -d ' ' -f 1 | sort -u |
            wc -l)" -eq 1 ] || { echo "size $size: an output is not whole"; return 1; }
        mount -o remount,size=$((8 * need)) "$work/disk" || return 1
        "$program" "$work/in" "$work/disk/out" 2>"$work/err" || { cat "$work/err"; return 1; }
        grep -qE "^$((40 - done_now)) done" "$work/err" || { echo "size $size, $done_now done before:"; cat "$work/err"; return 1; }
        same "$work/want" "$work/disk/out" || return 1
        umount "$work/disk"
    done
    [ "$stopped" -ge $((sizes * 9 / 10)) ] || { echo "only $stopped of $sizes were full"; return 1; }
}

# Statistics that do not fit: the old ones stay, and the picture, which lies elsewhere, is there.
full_disk_for_statistics()
{
    local code=0
    local old
    mount -t tmpfs -o size=16k tmpfs "$work/disk" || return 1
    "$program" --no-sync --stats="$work/old.json" "$work/in/0.jpg" "$work/single.jpg" || return 1
    head -c 100 "$work/old.json" >"$work/disk/s.json" # enough to be taken for statistics that lapedge wrote
    old=$(cat "$work/disk/s.json")
    head -c 6000 /dev/zero >"$work/disk/filler"
    "$program" --no-sync --stats="$work/disk/s.json" "$work/in/0.jpg" "$work/single.jpg" 2>"$work/err" || code=$?
    [ "$code" -eq 1 ] && grep -q 'No space left' "$work/err" || { echo "exit $code"; cat "$work/err"; return 1; }
    [ "$(cat "$work/disk/s.json")" = "$old" ] && no_temporary "$work/disk" && cmp "$work/single.jpg" "$work/want/0.jpg" ||
        return 1
    umount "$work/disk"
}

read_only()
{
    mount -t tmpfs tmpfs "$work/disk" && mkdir "$work/disk/out" &&
        mount -o remount,ro "$work/disk" || return 1
    "$program" "$work/in" "$work/disk/out" 2>"$work/err"
    [ $? -eq 4 ] && grep -q 'Read-only file system' "$work/err" || return 1
    "$program" "$work/in" "$work/disk/new" 2>"$work/err"
    [ $? -eq 4 ] && grep -q 'Read-only file system' "$work/err" || return 1
    umount "$work/disk"
}

size_limit()
{
    local code=0
    rm -rf "$work/out"
    (ulimit -f 8; exec "$program" "$work/in" "$work/out" 2>"$work/err") || code=$?
    [ "$code" -eq 1 ] || [ "$code" -eq 4 ] || { echo "exit $code"; return 1; }
    grep -q 'File too large' "$work/err" && no_temporary "$work/out" || return 1
    "$program" "$work/in" "$work/out" 2>"$work/err" && same "$work/want" "$work/out"
}

# Few threads, one heap and no huge pages: how heaps grow as their threads happen to meet is not the question, nor
# whether one more byte takes 2 MB. 41 is PR_SET_THP_DISABLE, which programs inherit.
memory_of() # FOLDER: peak in KiB of a run over it
{
    MALLOC_ARENA_MAX=1 python3 -c 'import ctypes, os, sys
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])' /usr/bin/time -f %M -o "$work/peak" "$program" --no-sync --threads=2 -j2 "$1" "$work/out" \
        2>/dev/null || return 1
    rm -rf "$work/out"
    cat "$work/peak"
}

# Ten times the files; LAPEDGE_MANY=100000 asks for more. A photo that is kept takes more than 256 bytes.
memory_is_flat()
{
    local i many=${LAPEDGE_MANY:-10000} few_kib many_kib
    mkdir -p "$work/few" "$work/many"
    "$program" --no-sync --kernel=identity --format=jpg "$work/tiny.pgm" "$work/few/0.jpg" || return 1
    (cd "$work/few" && for ((i = 1; i < 1000; i++)); do ln 0.jpg $i.jpg; done) || return 1
    (cd "$work/many" && cp ../few/0.jpg . && for ((i = 1; i < many; i++)); do
        ((i % 20000)) && ln 0.jpg $i.jpg || cp 0.jpg $i.jpg
    done) || return 1
    few_kib=$(memory_of "$work/few") && many_kib=$(memory_of "$work/many") || return 1
    echo "# 1000 files: $few_kib KiB, $many files: $many_kib KiB" >&2
    [ $((many_kib - few_kib)) -lt $(((many - 1000) / 4)) ] || { echo "$few_kib KiB, then $many_kib KiB"; return 1; }
}

# Each write takes nothing and reports no error: every form of a run fails, and none waits for better times.
nothing_is_taken()
{
    local words code
    mkdir -p "$work/taken/in" && cp "$work/tiny.pgm" "$work/taken/in/a.pgm" || return 1
    (
        cd "$work/taken" || exit 1
        for words in "in/a.pgm out.jpg" "in/a.pgm - --format=jpg" "in out --include=*" "--log=log in out --include=*" \
            "stats in/a.pgm" "stats --json in/a.pgm" "stats --csv in/a.pgm" "stats --json-file=o.json in/a.pgm" \
            "in/a.pgm out.jpg --stats=s.json" "info in/a.pgm" "compare --runs=1 --backends=c --report=r.html in/a.pgm" \
            backends --help "--files-from=- out --backend=cuda-fast"; do
            # shellcheck disable=SC2086 # words are split
            echo in/a.pgm | strace -f -qq -o /dev/null -e trace=write -e inject=write:retval=0 \
                timeout -s KILL 60 "$program" $words >/dev/null 2>&1
            code=${PIPESTATUS[1]}
            [ "$code" -gt 0 ] && [ "$code" -lt 128 ] || { echo "$words: $code"; exit 1; }
        done
        [ "$(find . -type f)" = ./in/a.pgm ] || { find . -type f; exit 1; }
        # The output is written, and not all of its record.
        strace -f -qq -o /dev/null -e trace=write -e inject=write:retval=0:when=2+ \
            timeout -s KILL 60 "$program" in records --include='*' >/dev/null 2>&1
        code=$?
        [ "$code" -gt 0 ] && [ "$code" -lt 128 ]
    )
}

printf 'P5\n16 16\n255\n' >"$work/tiny.pgm"
seq 1 200 | head -c 256 >>"$work/tiny.pgm"
{ printf 'P5\n5000 3000\n255\n'; head -c 15000000 /dev/zero; } >"$work/large.pgm"
mkdir "$work/disk"
photos "$work/in" 40 && "$program" --no-sync "$work/in" "$work/want" 2>/dev/null
need=$(find "$work/want" -name '*.jpg' -printf '%s\n' | awk '{ sum += int(($1 + 4095) / 4096) * 4096 } END { print sum }')

check "25 kills leave nothing half-written, and every rerun completes" tools/test/kill-campaign 25
check "a tree for slow runs" slow_tree
check "Ctrl-C ends a run cleanly with 130; the next one goes on" interrupted INT 130
check "SIGTERM ends a run cleanly with 143; the next one goes on" interrupted TERM 143
check "two runs into one folder at once: no harm, and no word of foreign files" two_at_once
check "the same where one replaces everything" two_at_once -f --rebuild
check "a file size limit stops the run with a message" size_limit
if strace -qq -o /dev/null true 2>/dev/null; then
    check "writes that take nothing are failures, not for ever" nothing_is_taken
    check "a kill between begin and done lines is repaired" killed_between_lines
    check "files are synced, begin lines written and synced, then come renames, then done lines" traced_order
    check "--no-sync syncs nothing" nothing_synced
    check "without RENAME_NOREPLACE new files are linked" no_noreplace renameat2:error=EINVAL
    check "without links either they are looked for once more" no_noreplace renameat2:error=ENOSYS linkat:error=EPERM
else
    skip "the order of syncs, lines and renames" "strace cannot trace here"
fi
if mount -t tmpfs tmpfs "$work/disk" 2>/dev/null; then
    umount "$work/disk"
    check "a full disk at $sizes sizes: reported, nothing half-written, and completed once there is room" full_disk
    check "a full disk for --stats: reported, and the old file stays" full_disk_for_statistics
    check "a read-only output folder is 4" read_only
else
    skip "full disks and read-only folders" "mounting needs root"
fi
if grep -aq __asan_init "$program"; then
    skip "memory does not follow the number of files" "sanitizers keep what is freed"
elif [ -x /usr/bin/time ]; then
    check "memory does not follow the number of files" memory_is_flat
else
    skip "memory does not follow the number of files" "GNU time is not installed"
fi
finish
