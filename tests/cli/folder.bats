# Many pictures in, a folder of edges out.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# tiny FILE [SHADE]: a small JPEG whose size follows SHADE
tiny()
{
    mkdir -p "$(dirname -- "$1")"
    pgm $((40 + ${2:-0})) 30 "$BATS_TEST_TMPDIR/tiny.pgm"
    lapedge "$BATS_TEST_TMPDIR/tiny.pgm" - >"$1"
}

folder() # CODE WORD...: a run without syncs, its last line of stderr in $last
{
    local code=$1
    shift
    run --separate-stderr lapedge --no-sync "$@"
    last=${stderr##*$'\n'}
    [ "$status" -eq "$code" ] || { printf 'exit %s, expected %s\n%s\n' "$status" "$code" "$stderr"; return 1; }
}

says() { [[ $stderr == *"$1"* ]] || { printf 'not said: %s\nbut: %s\n' "$1" "$stderr"; return 1; }; }

outputs() { (cd "$1" && find . -type f -not -path '*/.lapedge/*' | LC_ALL=C sort | paste -sd' '); }

@test "a tree is mirrored: extensions in any case, others by content, the rest left" {
    tiny in/a.jpg
    tiny in/b.JPEG
    tiny "in/sub dir/c.Jpe"
    tiny in/sub/deep/er/d.jfif
    tiny in/noextension
    tiny in/dot.
    tiny in/.hidden
    tiny in/._e.jpg
    tiny in/photo.png
    echo text >in/notes
    echo text >in/._a.jpg
    folder 0 in out
    [ "$(outputs out)" = "./._e.jpg ./.hidden ./a.jpg ./b.JPEG ./dot. ./noextension ./sub dir/c.Jpe ./sub/deep/er/d.jfif" ]
    lapedge in/a.jpg want.jpg
    cmp want.jpg out/a.jpg
    cmp want.jpg out/noextension
    [[ $last == "8 done; "* ]]
    [ -z "$output" ]
    folder 0 --format=png --suffix=-edge in/dot. named/ # also if it is named
    [ "$(outputs named)" = "./dot-edge.png" ]
}

@test "an extension that names no format is refused, as for one photo" {
    tiny in/a.jpg
    for name in b.pnm c.webp d.jpg.bak; do
        cp in/a.jpg "$name"
    done
    folder 1 in b.pnm c.webp d.jpg.bak out
    says "lapedge: d.jpg.bak: the extension of its output, .bak, names no known format (jpg jpeg png bmp tga ppm pgm tsv); choose one with --format"
    [ "$(outputs out)" = "./a.jpg" ]
    folder 1 -n in b.pnm out2
    folder 0 --format=jpg in b.pnm c.webp d.jpg.bak out3
    [ "$(outputs out3)" = "./a.jpg ./b.jpg ./c.jpg ./d.jpg.jpg" ]
}

@test "several operands, files and folders, into one" {
    tiny one/a.jpg
    tiny two/sub/b.jpg
    tiny c.jpg
    folder 0 one two c.jpg new/out
    [ "$(outputs new/out)" = "./a.jpg ./c.jpg ./sub/b.jpg" ]
    folder 0 c.jpg other/
    [ "$(outputs other)" = "./c.jpg" ]
    ln -s one link
    folder 0 link/ three
    folder 0 link four
    [ "$(outputs three) $(outputs four)" = "./a.jpg ./a.jpg" ]
}

@test "an input that is given twice, through links or not, is done once" {
    mkdir in
    pgm 40 30 t.pgm
    lapedge t.pgm in/a.jpg
    ln -s in link
    folder 0 in link in in/a.jpg in/a.jpg out
    [[ $stderr == *"1 done"* ]]
    [ "$(find out -name '*.jpg')" = out/a.jpg ]
    printf 'in/a.jpg\n./in//a.jpg\nin/a.jpg\n' >list
    folder 0 --files-from=list out2
    [[ $stderr == *"1 done"* ]]
    [ "$(find out2 -name '*.jpg')" = out2/in/a.jpg ]
}

# list_memory LIMIT CODE TEXT LIST: a run over LIST takes less than 70 MB beyond what one over a small list takes.
list_memory()
{
    python3 - "$LAPEDGE" "$@" <<'END'
import os, subprocess, sys
program, limit, code, text, path = sys.argv[1:]
def run(name):
    process = subprocess.Popen([program, "--max-memory=" + limit, "-n", "--files-from=" + name, "out"],
                               stdin=open(path) if name == "-" else None, stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
    said = process.stderr.read()
    status, usage = os.wait4(process.pid, 0)[1:]
    return os.waitstatus_to_exitcode(status), said, usage.ru_maxrss / 1e3
status, said, small = run("small")
status, said, large = run(path)
if status != int(code) or text not in said or large > small + 70:
    sys.exit(f"exit {status}, {large:.0f} MB beside {small:.0f} MB: {said[-500:]}")
END
}

@test "a large list takes no memory beyond the limit" {
    echo none.jpg >small
    pgm 40 30 a.pgm
    lapedge a.pgm a.jpg
    # A hole; one name without an end; many empty names; a photo behind them.
    truncate -s 600M hole
    list_memory 100M 2 "the names of this list are separated by zero bytes" hole
    head -c 100000000 /dev/zero | tr '\0' x >long
    list_memory 100M 4 "" long
    printf '\na.jpg\n' >>long
    list_memory 100M 1 "File name too long" long
    head -c 100000000 /dev/zero | tr '\0' '\n' >lines
    echo a.jpg >>lines
    list_memory 100M 0 "1 to be done" lines
    # What is no file is held, up to half of the limit; so are the names of photos.
    run --separate-stderr bash -c 'head -c 60000000 lines | "$0" --max-memory=100M -n --files-from=- out' "$LAPEDGE"
    [ "$status" -eq 5 ]
    [[ $stderr == "lapedge: standard input: limit: a list that is not in a file is held in memory, and this one has more than 50.0 MB" ]]
    yes a.jpg | head -n 2000000 >many
    run --separate-stderr lapedge --max-memory=20M -n --files-from=many out
    [ "$status" -eq 5 ]
    [[ $stderr == *"files need more memory than the limit of 20.0 MB" ]]
}

@test "--files-from keeps relative folders, and of absolute and climbing paths the name" {
    tiny w/a.jpg
    tiny w/sub/b.jpg
    tiny w/sub/c.jpg
    tiny up.jpg
    tiny abs/d.jpg
    cd w
    printf '%s\n' a.jpg ./sub//b.jpg sub/./c.jpg ../up.jpg "$BATS_TEST_TMPDIR/abs/d.jpg" sub/../../w/a.jpg "" \
        gone.jpg >list
    folder 1 --files-from=list ../out
    says "lapedge: gone.jpg: "
    # a.jpg is listed under two names of one file, and done once
    [ "$(outputs ../out)" = "./a.jpg ./d.jpg ./sub/b.jpg ./sub/c.jpg ./up.jpg" ]
    printf 'a.jpg\nsub/b.jpg\n' >short
    folder 0 --files-from=- ../out2 <short
    [ "$(outputs ../out2)" = "./a.jpg ./sub/b.jpg" ]
}

@test "a file named - in a list is a file, not standard input" {
    mkdir d
    cp "$photo" d/-
    cd d
    printf -- '-\n' >../list
    lapedge "$photo" ../want.jpg
    lapedge transform --flip=h "$photo" ../flipped.jpg
    lapedge -q --format=jpg --files-from=../list ../out <"$repo/samples/astronaut.jpg"
    cmp ../out/-.jpg ../want.jpg
    lapedge transform -q --flip=h --files-from=../list ../turned <"$repo/samples/astronaut.jpg"
    cmp ../turned/- ../flipped.jpg
    lapedge stats -q --json "$photo" >../one.json
    lapedge stats -q --json --files-from=../list <"$repo/samples/astronaut.jpg" | head -1 >../listed.json
    python3 -c 'import json
one, listed = (json.load(open("../" + name)) for name in ("one.json", "listed.json"))
assert one["input"]["channels"] == listed["input"]["channels"]'
    run --separate-stderr lapedge --files-from=../list --in-place <"$repo/samples/astronaut.jpg"
    [ "$status" -eq 0 ]
    cmp ./- ../want.jpg
    head -c 5000 "$photo" >./-
    run --separate-stderr lapedge stats -q --files-from=../list <"$photo"
    [[ $stderr == "lapedge: ./-: truncated"* ]]
}

@test "-0: names with newlines, leading dashes, control characters, bytes that are no UTF-8" {
    names=("in/a b.jpg" $'in/new\nline.jpg' "in/-dash.jpg" $'in/bell\a.jpg' $'in/\xff\xfe.jpg' 'in/%s.jpg' 'in/*.jpg')
    for name in "${names[@]}"; do tiny "$name"; done
    printf '%s\0' "${names[@]}" >list
    folder 0 -0 --files-from=list out --log=log.jsonl
    for name in "${names[@]}"; do [ -f "out/$name" ]; done
    folder 0 -0 --files-from=list out # nothing is done twice, whatever its name
    [[ $last == "0 done, 7 up to date; "* ]]
    folder 0 in mirrored
    [ "$(find mirrored -type f -name '*.jpg' -print0 | tr -cd '\0' | wc -c)" -eq 7 ]
    python3 - <<'PY'
import json, urllib.parse, os
rows = [json.loads(line) for line in open("log.jsonl")][1:]
names = {urllib.parse.unquote_to_bytes(r["input_raw"]) if "input_raw" in r else r["input"].encode() for r in rows}
assert len(rows) == 7 and all(r["schema"] == "lapedge.file/1" and r["status"] == "ok" for r in rows), rows
assert names == {b"in/" + n for n in os.listdir(b"in")}, names
PY
    echo bad >$'in/esc\e[31m.jpg'
    folder 1 in mirrored
    [[ $stderr != *$'\e'* ]]
    cd in
    folder 0 -- -dash.jpg "a b.jpg" ../dashes
    [ "$(outputs ../dashes)" = "./-dash.jpg ./a b.jpg" ]
}

@test "clashes fail these files only, before anything is written to the name" {
    tiny one/x.jpg
    tiny two/x.jpg 1
    tiny one/sub/only.jpg
    folder 1 one two out
    [ "$(outputs out)" = "./sub/only.jpg" ]
    says "one/x.jpg: 2 inputs would be written to out/x.jpg; none was"
    says "two/x.jpg: 2 inputs would be "
    [[ $last == *"2 failed (2 clash)"* ]]
    tiny kinds/a.jpg
    tiny kinds/a.jpeg 1
    tiny kinds/b.jpg
    folder 1 --format=png kinds png
    [ "$(outputs png)" = "./b.png" ]
    folder 0 kinds same
    [ "$(outputs same)" = "./a.jpeg ./a.jpg ./b.jpg" ]
    # A file that cannot be decoded claims a name if it is named, but not if it lies in a named folder.
    tiny raw/a.jpg
    printf 'II*\0' >raw/a.nef
    folder 4 --format=png raw/a.jpg raw/a.nef named
    [ ! -e named/a.png ]
    folder 0 --format=png raw walked
    [ "$(outputs walked)" = "./a.png" ]
}

@test "one file named twice is done once" {
    tiny in/a.jpg
    ln in/a.jpg hard.jpg
    folder 0 in/a.jpg ./in/a.jpg in out
    [[ $last == "1 done; "* ]]
}

@test "symbolic links in folders are not followed, and that is said" {
    tiny elsewhere/a.jpg
    tiny in/b.jpg
    ln -s ../elsewhere in/folder
    ln -s ../elsewhere/a.jpg in/link.jpg
    ln -s nowhere in/dangling.jpg
    ln -s . in/loop
    folder 0 in out
    [ "$(outputs out)" = "./b.jpg" ]
    says "4 symbolic links not followed; --follow does" # to folders, too
    folder 0 in/link.jpg named/ # a named one is
    [ "$(outputs named)" = "./link.jpg" ]
}

@test "the output folder inside an input folder is not walked; equal to it is refused" {
    tiny photos/a.jpg
    folder 0 photos photos/edges
    folder 0 photos photos/edges
    [ "$(outputs photos)" = "./a.jpg ./edges/a.jpg" ]
    expect 2 "" "lapedge: photos: is the input and the output folder; name another one" photos photos
    ln -s photos same
    expect 2 "" "lapedge: photos: is the input and the output folder; name another one" photos same/
    expect 2 "" "lapedge: photos/a.jpg: would be its own output; name another folder, or use --in-place" \
        photos/a.jpg photos/
}

@test "an input is never overwritten, through no kind of link, not even with -f" {
    tiny in/a.jpg
    tiny in/sub/a.jpg 1
    tiny in/sub/b.jpg 2
    cp -r in before
    tiny other/a.jpg 4
    printf '%s\n' in/a.jpg "$PWD/other/a.jpg" >list # to in/in/a.jpg, and to in/a.jpg
    folder 1 -f --files-from=list in
    says "other/a.jpg: would overwrite an input, in/a.jpg"
    cmp in/a.jpg before/a.jpg
    rm -r in && cp -r before in
    mkdir out
    ln in/a.jpg out/a.jpg
    ln -s ../in/sub out/sub
    folder 1 -f in out
    diff -r in before
    says "out/sub: is a symbolic link"
    [[ $last == "0 done, 2 left alone"*"1 failed (1 clash)"* ]]
}

@test "an input is never overwritten, nor two photos written to one name, where a folder could not be looked at" {
    library=$(cd "$repo" && realpath "${B:-build}/tests/nth_call.so")
    [ -e "$library" ] || skip "nth_call.so is not built"
    [ -z "${SANITIZED:-}" ] || skip "a sanitizer wants to be the first library"
    tiny photos/sub/a.jpg
    tiny edges/sub/a.jpg 1 # an input that the output of the other has as its name
    cp -r edges before
    struck=0
    for fault in fdopendir:12 fdopendir:24 open:12 open:23 open:24 open:4 stat:12; do # ENOMEM ENFILE EMFILE EINTR
        call=${fault%:*} number=${fault#*:}
        for n in {1..200}; do # the deeper the folder of the test, the more calls
            rm -rf edges fired flat && cp -r before edges
            run --separate-stderr env LD_PRELOAD="$library" LAP_FAULTS="$call:$n:$number" LAP_FIRED=fired \
                "$LAPEDGE" -f --no-sync --threads=1 photos edges/sub edges
            [ "$status" -eq 1 ] || [ "$status" -eq 4 ] || { echo "$fault, $n: exit $status"; return 1; }
            cmp edges/sub/a.jpg before/sub/a.jpg
            [ -e fired ] || break
            run --separate-stderr env LD_PRELOAD="$library" LAP_FAULTS="$call:$n:$number" LAP_FIRED=fired \
                "$LAPEDGE" -f --no-sync --threads=1 --flat photos before flat
            [ "$status" -ne 0 ]
            [ ! -e flat/a.jpg ]
            struck=$((struck + 1))
        done
        [ "$n" -lt 200 ]
    done
    [ $struck -gt 20 ]
}

@test "outputs that are links, pipes or folders are left alone" {
    for name in link pipe folder good; do tiny in/$name.jpg; done
    echo mine >mine.jpg
    mkdir -p out/folder.jpg
    ln -s ../mine.jpg out/link.jpg
    mkfifo out/pipe.jpg
    folder 1 in out
    [[ $last == "1 done, 3 left alone"* ]]
    folder 1 -f in out
    says "out/pipe.jpg: is not a regular file; remove it first"
    [ "$(cat mine.jpg)" = mine ]
    [ -p out/pipe.jpg ]
}

@test "existing files that lapedge did not write are left alone, unless -f" {
    tiny in/a.jpg
    tiny in/b.jpg
    mkdir out
    echo mine >out/a.jpg
    folder 1 in out --log=log.jsonl
    says "out/a.jpg: exists and was not made by lapedge; -f replaces it"
    [ "$(cat out/a.jpg)" = mine ]
    [[ $last == "1 done, 1 left alone"* ]]
    [ "$(grep -c '"status":"skipped","error":{"kind":"exists"' log.jsonl)" -eq 1 ]
    folder 0 -f in out
    [[ $last == "1 done, 1 up to date; "* ]]
    [ "$(head -c 2 out/a.jpg | od -An -tx1)" = " ff d8" ]
    folder 0 in out
    [[ $last == "0 done, 2 up to date; "* ]]
}

@test "an output that appears during the run: there already, left alone, or not ours" {
    tiny in/a.jpg
    tiny in/b.jpg
    appears() { echo mine >out/a.jpg; }
    for option in --skip-existing --no-clobber --verbose; do
        rm -rf out
        while_held appears $option in out
        [ "$(cat out/a.jpg)" = mine ]
        case $option in
            --skip*) [[ $status -eq 0 && $stderr == "1 done, 1 there already; "* ]] ;;
            --no*) [ "$status" -eq 1 ] && says "out/a.jpg: exists and is left alone" && says "1 left alone (--no-clobber)" ;;
            *) [ "$status" -eq 1 ] && says "out/a.jpg: exists and was not made by lapedge" ;;
        esac
    done
}

@test "a rerun processes changed photos, and nothing else" {
    for name in a b c d; do tiny in/$name.jpg; done
    folder 0 in out
    folder 0 "$PWD/in/" out # another way to the same folder
    [[ $last == "0 done, 4 up to date; "* ]]
    tiny in/a.jpg 3                # other content
    touch -d 2001-02-03 in/b.jpg   # another time
    rm out/c.jpg                   # output gone
    truncate -s 100 out/d.jpg      # no longer what was written
    folder 1 in out
    says "out/d.jpg: exists and was changed since lapedge made it; -f replaces it"
    [[ $last == "3 done, 1 left alone"* ]]
    rm out/d.jpg
    folder 0 in out
    [[ $last == "1 done, 3 up to date; "* ]]
    lapedge in/a.jpg want.jpg
    cmp want.jpg out/a.jpg
    folder 0 in out --threads=1 --backend=c -j1 # do not change bytes
    [[ $last == "0 done, 4 up to date; "* ]]
    folder 0 in out --quality=50
    [[ $last == "4 done; "* ]]
    tiny in/new.jpg
    folder 0 in out --quality=50
    [[ $last == "1 done, 4 up to date; "* ]]
    rm -r out/.lapedge
    folder 1 in out --quality=50
    [[ $last == "0 done, 5 left alone"* ]]
}

@test "a manifest that was cut short, or is no manifest, does no harm" {
    tiny in/a.jpg
    tiny in/b.jpg
    folder 0 in out
    for file in out/.lapedge/*.jsonl; do truncate -s -20 "$file"; done # a done line loses its end
    head -c 3000 /dev/urandom >out/.lapedge/20000101T000000.000000000-x-1.jsonl
    printf '[]\n{}\n{"event":"done"}\n{"event":7,"output":[],"settings":{}}\n\n' >>out/.lapedge/20000101T000001-x.jsonl
    mkdir out/.lapedge/folder.jsonl
    folder 0 in out
    [[ $last == "1 done, 1 up to date; "* ]]
}

@test "-n writes nothing and says what would be done" {
    tiny in/a.jpg
    tiny in/sub/b.jpg
    expect 0 $'in/a.jpg -> out/a.jpg\nin/sub/b.jpg -> out/sub/b.jpg' "2 to be done" -n in out
    [ ! -e out ]
    folder 0 in out
    expect 0 "" "0 to be done, 2 up to date" -n in out
}

@test "a bad file is reported, and the run goes on; all bad is 4; --fail-fast stops" {
    tiny in/a.jpg
    echo text >in/bad.jpg
    tiny in/c.jpg
    head -c 300 in/c.jpg >in/cut.jpg
    : >in/empty.jpg
    mkdir in/folder.jpg
    mkfifo in/pipe.jpg
    folder 1 in out --log=log.jsonl
    [ "$(outputs out)" = "./a.jpg ./c.jpg" ]
    says "lapedge: in/bad.jpg: not a JPEG"
    says "first to fail: "
    first=$(sed -n 's/^lapedge: \(in[^:]*\): .*/\1/p' <<<"$stderr" | head -n 3 | paste -sd, | sed 's/,/, /g')
    [[ $stderr == *$'\n'"first to fail: $first" && $first == in/*,\ in/*,\ in/* ]]
    [[ $stderr == *"2 done, 4 failed (1 unreadable, 2 not_jpeg, 1 truncated)"* ]]
    [ "$(wc -l <log.jsonl)" -eq 7 ]
    folder 4 in/bad.jpg in/cut.jpg out2
    folder 0 -v -j2 in/a.jpg in/c.jpg out4 # what took part in the work
    [[ $stderr == *$'\n  by        '*$'\n  at once   up to '*$'\n  ms        read '* ]]
    folder 1 --fail-fast -j1 in/bad.jpg in/a.jpg in/c.jpg in/cut.jpg out3
    [ "$(grep -c '' <<<"$stderr")" -le 3 ]
    nothing_left none
    mkdir many
    for i in {1..30}; do
        cp in/a.jpg "many/$i.jpg"
    done
    folder 1 --fail-fast -j1 in/bad.jpg many out5 # all of them wait when the first fails
    says "0 done, 1 failed (1 not_jpeg), 30 left"
    [ ! -e out5/1.jpg ]
}

@test "each line of stderr is written whole: programs that share a terminal do not mix theirs" {
    mkdir in
    : >in/empty.jpg
    head -c 3000 "$photo" >in/cut.jpg
    cp "$photo" in/good.jpg
    python3 - "$LAPEDGE" --no-sync in out <<'PYTHON'
import socket, subprocess, sys
own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)  # one write is one packet
process = subprocess.Popen(sys.argv[1:], stderr=other)
process.wait(60)
own.setblocking(False)
packets = []
try:
    while True:
        packets.append(own.recv(65536))
except BlockingIOError:
    pass
assert len(packets) >= 3, packets
assert all(packet.count(b"\n") == 1 and packet.endswith(b"\n") for packet in packets), packets
PYTHON
}

@test "an input that vanishes between listing and reading fails alone" {
    for i in {1..30}; do tiny in/$i.jpg; done
    ls in/*.jpg >list
    mkfifo pipe
    # The list is read before anything else; the files go while the program waits for its end.
    lapedge --no-sync --files-from=pipe out 2>err &
    exec 7>pipe
    cat list >&7
    rm in/7.jpg
    exec 7>&-
    code=0
    wait $! || code=$?
    [ "$code" -eq 1 ]
    [ "$(outputs out | wc -w)" -eq 29 ]
    grep -q 'in/7.jpg: No such file' err || grep -q 'in/7.jpg: .*[Nn]o such file' err
}

@test "photos that vanish before their turn are counted, and no empty names are listed" {
    local i pid code vanished=0
    mkdir -p in/s
    cp "$photo" in/0.jpg
    for i in {1..120}; do ln in/0.jpg in/$i.jpg; done
    for _ in {1..20}; do
        for i in {1..9}; do cp "$photo" in/s/$i.jpg; done
        rm -rf out
        "$LAPEDGE" --no-sync -j1 --threads=1 -b c --log=log in out 2>err &
        pid=$!
        ! standing $pid || { rm in/s/* && vanished=1; }
        kill -CONT $pid 2>/dev/null || true
        wait $pid && code=0 || code=$?
        ! grep "9 photos were found at first" err || break
    done
    [ "$vanished" -eq 1 ]
    [ "$code" -eq 1 ]
    grep -q "9 photos were found at first, but gone when the run reached them" err
    [ "$(grep -c "first to fail" err)" -eq 0 ]
    [ "$(grep -c '"lapedge.file/1"' log)" -eq 121 ]
}

@test "no photo, no folder, no place: 4" {
    mkdir empty
    folder 4 empty out
    says "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content)"
    folder 4 --ext=png --exclude=x* empty out
    says "no photo found (--ext=png), after --exclude"
    mkdir others
    tiny others/a.png && tiny others/b.PGM && echo text >others/c.txt
    folder 4 others out
    says "no photo found (*.jpg *.jpeg *.jpe *.jfif, or JPEG by content); to take the others: --ext=p"
    folder 4 --ext=ppm others out
    says "no photo found (--ext=ppm)"
    [ ! -e out ]
    mkdir out
    folder 4 missing/ out
    says "lapedge: missing/: no such folder"
    folder 4 run missing out
    says "lapedge: missing: no such file"
    folder 2 missing out # a command?
    tiny in/a.jpg
    echo file >file
    folder 4 in file/out
    folder 4 -n in file/out
    # Leaks cannot be looked for in a sandbox.
    run --separate-stderr env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" "$LAPEDGE" --sandbox in file/out
    [ "$status" -eq 3 ] || [[ $status -eq 4 && $stderr == "lapedge: file: is not a folder" ]] # 3: no sandbox here
    folder 0 -n in new/deep
    [ ! -e new ]
    folder 2 in
    folder 2 --files-from=list
    folder 4 --files-from=nolist out
    [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null || {
        mkdir -m 555 closed
        chmod 755 . && chmod -R a+rX in
        run setpriv --reuid=65534 --clear-groups "$LAPEDGE" in closed
        [ "$status" -eq 4 ] || [ "$status" -ge 126 ] # 126: the program itself lies where nobody may go
        for outdir in closed/new closed/new/deep; do
            run setpriv --reuid=65534 --clear-groups "$LAPEDGE" -n in $outdir
            [[ $status -ge 126 || ($status -eq 4 && $output == *": Permission denied") ]]
        done
    }
}

@test "an output folder behind one that cannot be searched: that one is named" {
    tiny in/a.jpg
    mkdir -p closed/out
    unprivileged
    chmod 600 closed
    for outdir in closed/out closed/out/deep closed/new; do
        folder 4 in $outdir
        says "lapedge: closed: cannot search this folder: Permission denied"
        folder 4 -n in $outdir
        says "lapedge: closed: cannot search this folder: Permission denied"
    done
    chmod 555 closed
    folder 4 in closed/new
    says "lapedge: closed/new: cannot create this folder: Permission denied"
    chmod 755 closed
}

@test "a folder without photos makes no output folder, also if JSON goes to a file" {
    mkdir empty
    folder 4 --json empty out
    lapedge --json empty out >r.json || [ $? -eq 4 ]
    [ ! -e out ]
}

@test "a read-only output folder is refused when something is to be written, and by no dry run" {
    tiny in/b.jpg
    unprivileged
    mkdir -m 777 out
    folder 0 in out
    for closed in out out/.lapedge; do
        chmod 555 $closed
        folder 0 in out
        says "0 done, 1 up to date"
        folder 0 -n in out
        [ "$stderr" = "0 to be done, 1 up to date" ]
        cp in/b.jpg in/a.jpg
        cp in/b.jpg in/c.jpg
        folder 4 in out
        [[ $stderr == "lapedge: $closed: cannot create files in this folder: Permission denied"$'\n'"0 done, 1 up to date, 2 left"*$'\n'"lapedge: once the cause is removed, the same command continues" ]]
        folder 4 in/b.jpg in/c.jpg out # the first one is up to date
        says "0 done, 1 up to date, 1 left"
        folder 0 -n in out
        [ "$output" = $'in/a.jpg -> out/a.jpg\nin/c.jpg -> out/c.jpg' ]
        [ "$stderr" = "lapedge: warning: $closed: cannot create files in this folder: Permission denied"$'\n'"2 to be done, 1 up to date" ]
        [ ! -e out/a.jpg ]
        chmod 0 in/c.jpg
        if [ "$closed" = out ]; then
            folder 4 in out
            says "0 done, 1 up to date, 1 failed (1 unreadable), 1 left"
            cp in/b.jpg in/d.jpg
            folder 4 --fail-fast in out # its end does not hide why nothing is made
            says "lapedge: $closed: cannot create files in this folder: Permission denied"
            rm in/d.jpg
            folder 1 -n in out
            says "1 to be done, 1 up to date, 1 failed (1 unreadable)"
        fi
        rm in/[ac].jpg
        chmod 777 $closed
    done
}

@test "-n names each read-only folder below the output folder once, and only if something is to be written there" {
    local name
    for name in top.jpg 1/a.jpg 1/b.jpg 2/a.jpg 3/new/deep/a.jpg 3/new/b.jpg 4/a.jpg; do tiny in/$name; done
    mkdir -m 777 out
    unprivileged
    folder 0 --exclude=1/a.jpg --exclude=1/b.jpg --exclude=top.jpg --exclude=new/ in out
    mkdir -p out/1 out/3
    chmod 555 out/[1-4]
    folder 0 -n in out
    [ "$stderr" = "lapedge: warning: out/1: cannot create files in this folder: Permission denied
lapedge: warning: out/3: cannot create files in this folder: Permission denied
5 to be done, 2 up to date" ]
    folder 1 in out # and so it is
    says "1 done, 2 up to date, 4 failed"
    chmod 777 out/[1-4]
    folder 0 -n in out
    [ "$stderr" = "4 to be done, 3 up to date" ]
}

@test "--json: counts by status and kind, and nothing else on stdout" {
    tiny in/a.jpg
    tiny in/b.jpg
    echo bad >in/bad.jpg
    mkdir out
    echo mine >out/b.jpg
    lapedge --no-sync in out --json --log=log.jsonl >run.json 2>err || [ $? -eq 1 ]
    json run.json 'o["schema"] == "lapedge.run/1" and list(o)[0] == "schema"'
    json run.json '[o[k] for k in ("found","expected","ok","warned","skipped","failed")] == [3, 3, 1, 0, 1, 1]'
    json run.json 'o["kinds"] == {"exists": 1, "not_jpeg": 1} and "rows" not in o'
    json run.json 'o["pixels"] == 1200 and o["bytes_out"] > 0 and o["error"] is None'
    lapedge --no-sync ./missing out --json >run.json 2>err || [ $? -eq 4 ]
    json run.json 'o["error"]["kind"] == "missing"'
}

@test "the log has the settings, then one record an input, skipped ones too" {
    tiny in/a.jpg
    tiny in/b.jpg
    folder 0 in out
    tiny in/c.jpg
    echo bad >in/d.jpg
    folder 1 in out --log=log.jsonl
    python3 - <<'PY'
import json
first, *files = map(json.loads, open("log.jsonl"))
assert list(first)[0] == "schema" and first["schema"] == "lapedge.log/1" and len(first["settings"]["coefficients"]) == 25
rows = {r["input"]: r for r in files}
assert not any("settings" in r for r in files)
assert {k: r["status"] for k, r in rows.items()} == {
    "in/a.jpg": "skipped", "in/b.jpg": "skipped", "in/c.jpg": "ok", "in/d.jpg": "failed"}, rows
assert rows["in/a.jpg"]["error"] is None and rows["in/d.jpg"]["error"]["kind"] == "not_jpeg"
assert rows["in/c.jpg"]["output"] == "out/c.jpg" and rows["in/c.jpg"]["bytes_out"] > 0
assert all(list(r)[0] == "schema" and r["schema"] == "lapedge.file/1" for r in rows.values())
PY
}

@test "shards cover each file once, and stay the same" {
    for i in {1..40}; do tiny in/$((i % 3))/$i.jpg; done
    folder 0 in whole
    for part in 0 1 2; do
        folder 0 --shard=$part/3 in parts
        folder 0 --shard=$part/3 in alone$part
    done
    diff -r --exclude=.lapedge whole parts
    [ "$(for part in 0 1 2; do outputs alone$part; done | tr ' ' '\n' | sort | paste -sd' ')" = \
        "$(outputs whole | tr ' ' '\n' | sort | paste -sd' ')" ]
    folder 0 in parts # any run reads all manifests
    [[ $last == "0 done, 40 up to date; "* ]]
    for spec in 3/3 -1/3 1 /3 1/ 1/0 x/2 auto; do folder 2 --shard=$spec in parts; done
    SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=3 folder 0 --shard=auto in slurm
    diff -r --exclude=.lapedge alone1 slurm
}

@test "a tree deeper than descriptors and wider than names are long" {
    path=in
    for i in {1..60}; do path=$path/$i; done
    tiny "$path/a.jpg"
    long=$(printf 'x%.0s' {1..250})
    tiny "in/$long.jpg"
    (ulimit -n 24; lapedge --no-sync in out 2>err)
    [ -f "out/${path#in/}/a.jpg" ]
    [ -f "out/$long.jpg" ]
}

@test "no progress where stderr is no terminal; one line where it is" {
    for i in {1..20}; do tiny in/$i.jpg; done
    folder 0 in out
    [[ $stderr != *$'\r'* ]]
    needs_terminal
    run script -qec "TERM=xterm '$LAPEDGE' --no-sync --rebuild in out" /dev/null
    [ "$status" -eq 0 ]
    [[ $output == *"/20, "* && $output == *" left"* ]]
    local clock
    clock=$(step_clock)
    if [ -n "$clock" ]; then # drawn at most ten times a second: once if no time passes, and erased
        script -qec "LD_PRELOAD=$clock TERM=xterm '$LAPEDGE' --no-sync --rebuild in out" /dev/null >typed
        [ "$(grep -o $'\r\033\[K' typed | wc -l)" -eq 2 ]
    fi
    run script -qec "TERM=xterm '$LAPEDGE' --no-sync --progress=off --rebuild in out" /dev/null
    [[ $output != *" left"* ]]
}

@test "stats, diff and --in-place say with -v how many at once, and show a terminal how many are done" {
    for i in {1..6}; do tiny other/$i.jpg; done
    local photos="in/1.jpg in/2.jpg in/3.jpg in/4.jpg in/5.jpg in/6.jpg" run jobs
    for run in "files:stats in" "pairs:diff in other" "photos:--in-place --no-sync $photos"; do
        for jobs in 2:-j2 3:-j9 3:; do
            rm -rf in && cp -r other in
            # shellcheck disable=SC2086 # words
            run --separate-stderr lapedge -v ${jobs#*:} --threads=3 ${run#*:}
            [[ $'\n'$stderr$'\n' == *$'\n'"lapedge: up to ${jobs%:*} ${run%%:*} at once, 3 threads"$'\n'* ]]
        done
        rm -rf in && cp -r other in
        # shellcheck disable=SC2086 # words
        run --separate-stderr lapedge ${run#*:}
        [[ $stderr != *"at once"* ]]
    done
    needs_terminal
    for run in "stats in" "diff in other" "--in-place --no-sync $photos"; do
        for _ in {1..20}; do # again if the only line was drawn before the first was done
            rm -rf in && cp -r other in
            script -qec "TERM=xterm '$LAPEDGE' $run" /dev/null | tr '\r' '\n' >typed
            ! grep -q $'^\033\\[K.* [1-6]/6, ' typed || break
        done
        grep -q $'^\033\\[K.* [1-6]/6, ' typed
    done
}

@test "a run that ends early says how many are left" {
    for i in {10..20}; do tiny in/$i.jpg; done
    echo bad >in/bad.jpg
    folder 1 --fail-fast none.jpg in/11.jpg in/12.jpg out
    [[ $stderr == *"0 done, 1 failed (1 missing), 2 left; "* ]]
    [[ $stderr != *continues* ]] # the same command stops at the same photo
    folder 1 in out
    [[ $stderr != *left* ]]
    run --separate-stderr lapedge stats --fail-fast none.jpg in/10.jpg in/11.jpg
    [[ $stderr == *"0 measured, 1 failed (1 missing), 2 left; "* && $stderr != *continues* ]]
    command -v strace >/dev/null && strace -qq -o /dev/null true 2>/dev/null || skip "no strace for a full disk"
    mkdir many
    for i in {100..700}; do ln in/10.jpg many/$i.jpg; done
    local -x ASAN_OPTIONS=detect_leaks=0 # which cannot be done beside strace
    run --separate-stderr strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=INT:when=3 \
        "$LAPEDGE" --no-sync -j1 many out2
    [ "$status" -eq 130 ]
    [[ $stderr == *" left; "*"lapedge: the same command continues"* ]]
    run --separate-stderr strace -f -qq -o /dev/null -e trace=write -e inject=write:error=ENOSPC:when=40..60 \
        "$LAPEDGE" --no-sync -j1 many out3
    [[ $stderr == *" left; "*"lapedge: once there is room, the same command continues"* ]] || { echo "$stderr"; false; }
}

@test "of many errors of a kind a terminal with progress gets ten" {
    needs_terminal
    mkdir in
    for i in {10..49}; do echo bad >in/$i.jpg; done
    for i in 1 2 3; do head -c 20000 "$photo" >in/cut$i.jpg; done
    errors() { script -qec "TERM=xterm '$LAPEDGE' --color=never $1; true" /dev/null | tr '\r' '\n' >typed; }
    errors "in out"
    [ "$(grep -c 'not a JPEG' typed)" -eq 10 ]
    [ "$(grep -c 'truncated: ' typed)" -eq 3 ]
    grep -qx "lapedge: and 30 more not_jpeg: -v prints all, --log=FILE keeps them" typed
    errors "in out --log=log.jsonl"
    grep -qx "lapedge: and 30 more not_jpeg: see log.jsonl" typed
    [ "$(wc -l <log.jsonl)" -eq 44 ]
    errors "stats in"
    grep -qx "lapedge: and 30 more not_jpeg: -v prints all" typed
    local words
    for words in "-v in out" "-q in out" "--progress=off in out"; do
        errors "$words"
        [ "$(grep -c 'not a JPEG' typed)" -eq 40 ]
        run ! grep -q "more not_jpeg" typed
    done
    lapedge in out 2>piped || true
    [ "$(grep -c 'not a JPEG' piped)" -eq 40 ]
}

@test "the progress line is never broken by the terminal, however narrow" {
    needs_terminal
    mkdir in
    for i in {1..12}; do cp "$photo" in/$i.jpg; done
    echo broken >in/0.jpg
    # draws COLUMNS: a run on a terminal that wide; what is drawn between two erasures is in the file drawn.
    draws()
    {
        script -qec "stty cols $1; TERM=xterm '$LAPEDGE' --no-sync --rebuild --threads=1 --backend=c in out; true" /dev/null |
            tr '\r' '\n' | sed -n 's/^\x1b\[K\(.*\/[0-9]*, .*\)/\1/p' >drawn
        [ -s drawn ]
        awk -v most=$(($1 - 1)) 'length($0) > most { exit 1 }' drawn
    }
    draws 24
    draws 40
    draws 80
    local i count=13
    until grep -q "photos/s, .* Mpixel/s, .* left" drawn; do # the run was too short for a rate
        [ $count -lt 2000 ]
        for ((i = count; i < 2 * count; i++)); do ln in/1.jpg in/$i.jpg; done
        count=$i
        draws 80
    done
    script -qec "stty cols 30; '$LAPEDGE' -v --threads=1 in/1.jpg o.jpg" /dev/null | tr -d '\r' >typed
    awk '/^  ms  /, 0 { if (length($0) > 30) exit 1 }' typed
    tr -s '\n ' ' ' <typed | grep -q "wall [0-9.]* $" # the line may be broken between the two
}

@test "temporary files of dead runs are removed, those of running ones stay" {
    [ -z "${EMULATOR:-}" ] || skip "an emulated program sees another start time of itself than others do"
    tiny in/sub/a.jpg
    mkdir -p out/sub
    # A name of this host and of a process that is gone, from a run that is killed.
    printf 'x' >out/sub/.lapedge-mine.txt
    lapedge "$photo" - --format=ppm >/dev/null
    mkfifo slow.ppm
    exec 7<>slow.ppm # held open: the program waits for more
    # The writer reads nothing, so that it ends with the test also if the program was killed before it read all of it.
    { printf 'P5\n600 4000\n255\n'; head -c 1000000 /dev/zero; } >slow.ppm 3>&- 7>&- &
    "$LAPEDGE" --no-sync - out/sub/other.jpg <slow.ppm &
    pid=$!
    begun $pid
    temp=$(find out/sub -name '.lapedge-*.tmp')
    [ -n "$temp" ]
    folder 0 in out
    [ -e "$temp" ]
    kill -9 $pid
    wait $pid || true
    folder 0 in out # has nothing else to do
    [ ! -e "$temp" ]
    [ -e out/sub/.lapedge-mine.txt ]
}

@test "bench codec: the floor of a photo and of a folder" {
    tiny in/a.jpg
    tiny in/sub/b.jpg 60
    lapedge bench codec --image=in --runs=2 --threads=2 --json >bench.json
    json bench.json '[r["backend"] for r in o["rows"]][:7] == ["decode", "filter", "encode", "floor", "run", "scan", "parallel-1"]'
    json bench.json 'all(len(r["times_ms"]) == 2 for r in o["rows"] if r["op"] == "codec")'
    json bench.json '[r["backend"] for r in o["rows"] if r["op"] == "encode"][:2] == ["turbo", "c"]'
    json bench.json 'all(len(r["times_ms"]) == 2 or r["reason"] for r in o["rows"] if r["op"] == "encode")'
    json bench.json 'all(abs(sum(r["times_ms"][i] for r in o["rows"][:3]) / 2 - o["rows"][3]["times_ms"][i]) < 1e-9
        for i in (0, 1))'
    # Sizes of a folder are the pixels of all photos by their number; bytes are what was read, written, or both.
    json bench.json 'all((r["width"], r["height"], r["channels"]) == (2100, 2, 1) for r in o["rows"])'
    sizes=$(($(stat -c %s in/a.jpg) + $(stat -c %s in/sub/b.jpg)))
    json bench.json "{r['op']: round(r['gb_per_s'] * r['median_ms'] * 1e6) - $sizes for r in o['rows'] if r['op'] == 'decode' and r['times_ms']} == {'decode': 0}"
    json bench.json 'len({(r["op"], round(r["gb_per_s"] * r["median_ms"] * 1e6)) for r in o["rows"] if r["gb_per_s"]}) == 3'
    json bench.json '{round(r["mpix_per_s"] * r["median_ms"] * 1e3) for r in o["rows"] if r["mpix_per_s"]} == {4200}'
    json bench.json 'all(abs(r["roof_share"] - next(t["median_ms"] for t in o["rows"] if t["op"] == r["op"]) / r["median_ms"]) < 1e-9
        for r in o["rows"] if r["op"] in ("encode", "decode") and r["times_ms"])'
    run --separate-stderr lapedge bench codec --image="$photo" --runs=1
    [ "$status" -eq 0 ]
    [[ $output == *"600 x 400 x 3"*"of floor"* ]]
    run --separate-stderr lapedge bench codec --image=missing.jpg
    [ "$status" -eq 4 ]
    echo bad >in/c.jpg
    run --separate-stderr lapedge bench codec --image=in
    [ "$status" -eq 4 ]
    says "in/c.jpg: "
}

@test "--max-memory is one budget: files wait for each other, and one that never fits is refused" {
    mkdir in
    for i in 1 2 3 4 5 6 7 8; do
        cp "$photo" in/$i.jpg
    done
    { printf 'P5\n20000 300\n255\n'; head -c 6000000 /dev/zero; } | lapedge - large.jpg
    folder 1 -j8 --threads=8 --max-memory=3M --format=jpg in large.jpg out
    says "lapedge: large.jpg: limit: takes up to "
    says " MB of memory, more than the limit of 3.0 MB (--max-memory)"
    [ "$(outputs out | wc -w)" -eq 8 ]
    folder 0 -j8 --threads=8 --max-memory=0 in large.jpg out
    [ "$(outputs out | wc -w)" -eq 9 ]
    lapedge in/1.jpg one.jpg
    cmp one.jpg out/1.jpg
}

@test "--report of a folder: counts, the slowest, what failed, and a contact sheet" {
    mkdir -p in/deep
    cp "$photo" in/a.jpg
    cp "$repo/samples/chelsea.jpg" in/deep/b.jpg
    head -c 3000 "$photo" >in/cut.jpg
    run --separate-stderr lapedge -q --report=p.html in out
    [ "$status" -eq 1 ]
    page p.html
    json p.json 'o["results"]["schema"] == "lapedge.run/1" and o["results"]["ok"] == 2 and o["results"]["failed"] == 1'
    json p.json '[(r["name"], r["what"]) for r in o["folder"]["failed"]] == [("in/cut.jpg", "truncated")]'
    json p.json 'sorted(r["name"] for r in o["folder"]["slowest"]) == ["in/a.jpg", "in/deep/b.jpg"]'
    json p.json 'all(a["ms"] >= b["ms"] > 0 for a, b in zip(o["folder"]["slowest"], o["folder"]["slowest"][1:]))'
    json p.json '[[u[:22] for u in s["pictures"]] for s in o["folder"]["sheet"]] == [["data:image/jpeg;base64"] * 2] * 2'
    # The outputs are those of a run without it.
    run --separate-stderr lapedge -q in plain
    diff -r out plain --exclude=.lapedge
    # Up to date: shown, and not among the slowest; what was removed meanwhile has no picture.
    rm in/cut.jpg
    expect 0 "" "" -q --report=p.html in out
    page p.html
    json p.json 'o["folder"]["slowest"] == [] and len(o["folder"]["sheet"]) == 2'
    expect 2 "" "lapedge: --dry-run writes nothing; leave out --report" -n --report=q.html in out
    expect 2 "" 'lapedge: --report: "q.png" does not end in .html' --report=q.png in out
    cp "$photo" in/c.html
    run --separate-stderr lapedge -q --ext=jpg,html --report=in/c.html in other
    [ "$status" -eq 2 ]
    cmp "$photo" in/c.html
    [ ! -e q.html ]
    expect 0 "" "" transform -q --rotate=90 --report=turned.html in turned
    page turned.html
    json turned.json 'o["command"] == "transform" and len(o["folder"]["sheet"]) == 2'
    run --separate-stderr lapedge -q --report=none/p.html in out
    [ "$status" -eq 4 ]
    [[ $stderr == "lapedge: --report: none/p.html: cannot create a file in its folder: "* ]]
}

# page FILE.html: what it shows, as FILE.json
page()
{
    sed -n 's|.*<script type="application/json" id="data">\(.*\)</script>.*|\1|p' "$1" >"${1%.html}.json"
}

@test "--report of a folder: 60 photos at most, the same ones whatever finishes first" {
    mkdir in
    for i in $(seq 70); do pgm 40 30 "in/$i.pgm"; done
    expect 0 "" "" -q --ext=pgm -j1 --report=one.html in out
    expect 0 "" "" -q --ext=pgm -f -j4 --report=four.html in out
    page one.html
    page four.html
    json one.json 'len(o["folder"]["sheet"]) == 60 and o["folder"]["shown_of"] == 70 and len(o["folder"]["slowest"]) == 20'
    diff <(python3 -c 'import json; [print(s["name"]) for s in json.load(open("one.json"))["folder"]["sheet"]]') \
        <(python3 -c 'import json; [print(s["name"]) for s in json.load(open("four.json"))["folder"]["sheet"]]')
}

@test "an output and a photo that cannot be read are named with their folders" {
    local as=()
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv >/dev/null || skip "root reads everything"
        as=(setpriv --reuid=65534 --clear-groups)
        chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" && "${as[@]}" "$LAPEDGE" --version >/dev/null 2>&1 ||
            skip "the program lies where nobody may go"
    fi
    tiny in/deep/a.jpg
    tiny place/b.jpg
    [ "$(id -u)" -ne 0 ] || { mkdir out && chown -R 65534 in out place; }
    "${as[@]}" "$LAPEDGE" -q in out
    # A dry run foresees that a photo cannot be read.
    cp in/deep/a.jpg in/closed.jpg
    chmod 0 in/closed.jpg
    run "${as[@]}" "$LAPEDGE" -n in out
    [ "$status" -eq 1 ]
    [[ $output == *"lapedge: in/closed.jpg: cannot be opened: Permission denied"*"0 to be done, 1 up to date, 1 failed (1 unreadable)"* ]]
    rm -f in/closed.jpg
    chmod 0 out/deep/a.jpg
    touch in/deep/a.jpg
    run "${as[@]}" "$LAPEDGE" in out
    [ "$status" -eq 4 ]
    [[ $output == "lapedge: out/deep/a.jpg: cannot be read: Permission denied"* ]]
    "${as[@]}" "$LAPEDGE" -q --in-place place/b.jpg
    chmod 0 place/b.jpg
    run "${as[@]}" "$LAPEDGE" --in-place place/b.jpg
    [ "$status" -eq 1 ]
    [ "$output" = "lapedge: place/b.jpg: cannot be read: Permission denied" ]
}

@test "the exit code tells a failed single image, some failed photos and all failed photos apart" {
    mkdir some all large
    echo nothing | tee some/1.jpg >all/1.jpg
    cp "$photo" some/2.jpg
    cp "$photo" large/1.jpg
    local expected form
    while read -r expected form; do
        run lapedge -q $form
        [ "$status" -eq "$expected" ] || { echo "$form: $status" && return 1; }
    done <<<'1 all/1.jpg out.jpg
1 some out1/
4 all out2/
5 --max-pixels=10 large/1.jpg out.jpg
4 --max-pixels=10 large out3/
1 --max-pixels=10 --in-place all/1.jpg
4 --max-pixels=10 --in-place all/1.jpg large/1.jpg
4 large/1.jpg missing/out.jpg
4 --stats=missing/stats large/1.jpg out.jpg
4 missing/ out4/'
}

@test "no photo found is an error, so -q prints it" {
    mkdir empty
    for words in "empty out" "stats empty" "transform --flip=h empty out" "--include=typo empty out"; do
        # shellcheck disable=SC2086 # words are split
        run --separate-stderr lapedge -q $words
        [ "$status" -eq 4 ]
        [[ $stderr == "lapedge: no photo found "* && $stderr != *$'\n'* ]]
    done
    expect 4 "" "lapedge: no photo found: the list names none" -q --files-from=/dev/null out
}

@test "a disk that ignores case: no output replaces that of a photo whose name differs in case" {
    local library
    library=$(preload fold_case)
    [ -n "$library" ] || skip "no library can be loaded first"
    mkdir -p in/A in/a
    pgm 40 30 tiny.pgm
    lapedge tiny.pgm in/IMG_1.JPG
    lapedge --range=abs tiny.pgm in/img_1.jpg
    cp in/IMG_1.JPG in/A/x.jpg
    cp in/img_1.jpg in/a/x.jpg
    local why="exists and is spelt differently: this disk treats both names as one; rename the photo, or the file there"
    for words in -j1 -f "" -f "-f -j1" --rebuild "-f --rebuild"; do # the output that is finished first stays
        # shellcheck disable=SC2086 # words
        run --separate-stderr env LD_PRELOAD="$library" "$LAPEDGE" -q $words in out
        echo "$status: $stderr"
        [ "$status" -eq 1 ]
        [[ $stderr == *"lapedge: out/a/x.jpg: $why"* && $stderr == *"lapedge: out/img_1.jpg: $why"* ]]
        [ "$(outputs out)" = "./A/x.jpg ./IMG_1.JPG" ]
        lapedge in/IMG_1.JPG one.jpg
        cmp one.jpg out/IMG_1.JPG
        cmp one.jpg out/A/x.jpg
    done
}
