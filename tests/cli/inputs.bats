# Inputs that are no good, and places where nothing can be written: code, message, and nothing left.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# refused CODE MESSAGE IN: as expect, and no output
refused()
{
    expect "$1" "" "$2" "$3" out.jpg
    nothing_left out.jpg
}

@test "a missing file" {
    refused 1 "lapedge: nothing.jpg: no such file" nothing.jpg
}

@test "a text file named .jpg, and an empty one" {
    echo "This is not a photo." >text.jpg
    : >empty.jpg
    refused 1 "lapedge: text.jpg: not a JPEG, PNG or binary PNM image" text.jpg
    refused 1 "lapedge: empty.jpg: the file is empty" empty.jpg
    run --separate-stderr lapedge --json empty.jpg out.jpg
    json <(echo "$output") 'o["error"] == {"kind": "not_jpeg", "message": "empty.jpg: the file is empty"}'
}

@test "a folder, a FIFO and a device as input" {
    mkdir folder
    mkfifo fifo
    run --separate-stderr lapedge - out.jpg <folder
    [ "$status" -eq 1 ]
    for each in fifo /dev/zero; do
        run --separate-stderr timeout 100 "$LAPEDGE" "$each" out.jpg
        [ "$status" -eq 1 ]
        [[ $stderr == "lapedge: $each: is a "*", not a regular file" ]]
    done
    nothing_left out.jpg
}

@test "a photo that was cut off" {
    head -c 20000 "$photo" >cut.jpg
    run --separate-stderr lapedge cut.jpg out.jpg
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: cut.jpg: truncated: data ends "* ]]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    nothing_left out.jpg
    lapedge --range=abs "$photo" old.jpg
    cp old.jpg out.jpg
    run lapedge cut.jpg out.jpg
    [ "$status" -eq 1 ]
    cmp old.jpg out.jpg
    run --separate-stderr lapedge --fail-on=none cut.jpg kept.jpg
    [ "$status" -eq 0 ]
    [[ $stderr == "lapedge: cut.jpg: warning: "* ]]
    expect 0 "" "" -q --fail-on=none cut.jpg kept.jpg
}

# left COUNT FILE: the photo with COUNT more bytes before its end marker
left()
{
    { head -c -2 "$photo"; head -c "$1" <<<"a decoder that lost its place ends too early"; printf '\xff\xd9'; } >"$2"
}

@test "bytes left over at the end of a photo" {
    local lost="bytes of data are left over before the end marker: the decoder lost its place"
    local keep="; --fail-on=none may keep what can be read"
    left 6 few.jpg
    left 7 many.jpg
    expect 0 "" "" --fail-on=truncated -q few.jpg few.out.jpg
    refused 1 "lapedge: many.jpg: damaged: 7 $lost$keep" many.jpg
    expect 0 "" "lapedge: many.jpg: warning: 7 $lost" --fail-on=none many.jpg out.jpg
    { printf '\xff\xd8stray'; tail -c +3 many.jpg; } >two.jpg
    expect 0 "" "lapedge: two.jpg: warning: 5 extraneous bytes before marker 0xe0 (the first of 2)" \
        --fail-on=none two.jpg two.out.jpg
}

@test "a header that promises too much is refused at once" {
    # 65500 x 65500 in a baseline header, and no data
    printf '\xff\xd8\xff\xc0\x00\x11\x08\xff\xdc\xff\xdc\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01' >huge.jpg
    printf '\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00\x00\xff\xd9' >>huge.jpg
    # 4 GB of addresses; a sanitizer alone takes more.
    run --separate-stderr bash -c "${SANITIZED:+#} ulimit -v 4000000
        '$LAPEDGE' huge.jpg out.jpg"
    [ "$status" -eq 5 ]
    [[ $stderr == "lapedge: huge.jpg: limit: 65500x65500 is "* ]]
    nothing_left out.jpg
}

@test "--timeout is a limit" {
    { printf 'P6\n6000 4000\n255\n'; head -c 72000000 /dev/zero; } >slow.ppm
    run --separate-stderr lapedge --timeout=0.001 --backend=c slow.ppm out.jpg
    [ "$status" -eq 5 ]
    [ "$stderr" = "lapedge: slow.ppm: timeout: over the time limit of 0.001 s (--timeout)" ]
    for limit in 0.000001 0.0003 0.003 0.01; do # in each step, the message names the option
        run --separate-stderr lapedge --timeout=$limit --backend=c slow.ppm out.jpg
        [[ $status -eq 5 && $stderr == "lapedge: slow.ppm: timeout: "*" (--timeout)" ]] || break
    done
    [[ $status -eq 5 && $stderr == "lapedge: slow.ppm: timeout: "*" (--timeout)" ]]
    run --separate-stderr lapedge --timeout=0.001 --backend=c - out.jpg <slow.ppm
    [ "$stderr" = "lapedge: standard input: timeout: over the time limit of 0.001 s (--timeout)" ]
    nothing_left out.jpg
}

@test "--timeout ends the wait for a reader that takes nothing" {
    { printf 'P6\n1000 1000\n255\n'; head -c 3000000 /dev/zero; } >large.ppm
    mkfifo pipe
    local limit
    for limit in 0.3 2 10 60; do # on a busy machine a short one may be over before the writing begins
        run --separate-stderr bash -c 'exec 7<>pipe
            exec "$0" --timeout="$1" --format=ppm large.ppm - >pipe' "$LAPEDGE" $limit
        [ "$status" -eq 5 ]
        [[ $stderr == "lapedge: large.ppm: timeout: over the time limit of $limit s (--timeout)" ]] || break
    done
    [ "$stderr" = "lapedge: standard output: timeout: over the time limit of $limit s (--timeout)" ]
    # A reader that takes all of it gets all of it.
    timeout 100 "$LAPEDGE" --timeout=60 --format=ppm large.ppm - | cat >piped.ppm
    lapedge large.ppm file.ppm
    cmp piped.ppm file.ppm
}

@test "--timeout ends the wait for somebody to read a FIFO" {
    mkfifo pipe
    local limit
    for limit in 0.3 2 10 60; do # on a busy machine a short one may be over before the photo is done
        run --separate-stderr timeout -k 5 100 "$LAPEDGE" --timeout=$limit --format=jpg "$photo" pipe
        [ "$status" -eq 5 ]
        [[ $stderr == "lapedge: $photo: timeout: over the time limit of $limit s (--timeout)" ]] || break
    done
    [ "$stderr" = "lapedge: pipe: timeout: over the time limit of $limit s (--timeout)" ]
    [ -p pipe ]
    # A reader that comes gets all of it.
    cat pipe >piped.jpg &
    timeout 100 "$LAPEDGE" --timeout=60 --format=jpg "$photo" pipe
    wait $!
    lapedge "$photo" file.jpg
    cmp piped.jpg file.jpg
}

@test "a side file that is a FIFO without a reader is refused before the work" {
    mkfifo pipe pipe.html
    local side slash name
    for side in --stats --log --json-file --report; do
        slash=$([ $side != --log ] || echo /)
        name=pipe$([ $side != --report ] || echo .html)
        run --separate-stderr timeout -k 5 100 "$LAPEDGE" --timeout=0.1 $side=$name "$photo" "out$slash"
        [ "$status" -eq 4 ]
        [ "$stderr" = "lapedge: $side: $name: no process reads this FIFO" ]
        [ ! -e out ]
    done
    # A reader gets all of it.
    exec 7<>pipe
    lapedge --stats=pipe "$photo" out.jpg
    exec 8<pipe 7>&-
    cat <&8 >piped
    exec 8<&-
    lapedge -f --stats=file "$photo" out.jpg
    cmp piped file
}

@test "one signal ends the wait for a reader" {
    local limit pid code
    { printf 'P6\n1000 1000\n255\n'; head -c 3000000 /dev/zero; } >large.ppm
    mkfifo pipe
    for limit in --threads=2 --timeout=600; do
        exec 7<>pipe # a reader that takes nothing
        "$LAPEDGE" $limit --format=ppm large.ppm - >pipe 2>err 7>&- &
        pid=$!
        python3 -c 'import select, time
while select.select([], [7], [], 0)[1]: # until the pipe is full
    time.sleep(0.01)'
        kill -TERM $pid
        wait $pid && code=0 || code=$?
        exec 7>&-
        [ "$code" -eq 143 ]
        [ "$(cat err)" = "lapedge: cancelled" ]
        env --default-signal=INT "$LAPEDGE" $limit --format=ppm large.ppm pipe 2>err & # none comes
        pid=$!
        catches $pid 2 pipe
        asleep $pid
        kill -INT $pid
        wait $pid && code=0 || code=$?
        [ "$code" -eq 130 ]
        [ "$(cat err)" = "lapedge: cancelled" ]
    done
}

@test "output equal to input, also through links" {
    cp "$photo" a.jpg
    ln a.jpg hard.jpg
    ln -s a.jpg soft.jpg
    mkdir sub
    for out in a.jpg ./a.jpg sub/../a.jpg hard.jpg soft.jpg; do
        run --separate-stderr lapedge a.jpg "$out"
        [ "$status" -eq 2 ]
        [[ $stderr == "lapedge: "*": is the input file itself (use --in-place to replace it)" ]]
    done
    cmp a.jpg "$photo"
}

@test "an output folder that is not there, or cannot be written" {
    run --separate-stderr lapedge "$photo" no/such/out.jpg
    [ "$status" -eq 4 ]
    [[ $stderr == "lapedge: no/such/out.jpg: cannot create a file in its folder: "*"No such file or directory" ]]
    mkdir closed
    chmod 500 closed
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv >/dev/null || skip "root, and no setpriv"
        chmod 711 . "$BATS_TEST_TMPDIR"
        chown nobody closed
        run --separate-stderr setpriv --reuid=nobody --clear-groups "$LAPEDGE" - closed/out.jpg <"$photo"
        [ "$status" -ne 126 ] && [ "$status" -ne 127 ] || skip "nobody cannot reach the program"
    else
        run --separate-stderr lapedge "$photo" closed/out.jpg
    fi
    [ "$status" -eq 4 ]
    [[ $stderr == "lapedge: closed/out.jpg: cannot create a file in its folder: "*"Permission denied" ]]
}

@test "a full disk" {
    [ -w /dev/full ] || skip "no /dev/full"
    run --separate-stderr lapedge --format=ppm "$photo" /dev/full
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: /dev/full: disk full: "* ]]
}

@test "a file size limit is an error, not a death" {
    run --separate-stderr bash -c "ulimit -f 16; '$LAPEDGE' '$photo' out.ppm"
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: out.ppm: "* ]]
    nothing_left out.ppm
}

@test "a backend that cannot run here: code 3, the reason, no other one instead" {
    "$LAPEDGE" backends --json >backends.json
    for backend in cuda-fast cuda-shared4; do # the other one stands for several
        json backends.json "any(r['name'] == '$backend' and not r['available'] for r in o['rows'])" ||
            skip "$backend runs here"
        run --separate-stderr lapedge --backend=$backend "$photo" out.jpg
        [ "$status" -eq 3 ]
        [[ $stderr == "lapedge: backend '$backend' cannot run here: "?* ]]
        nothing_left out.jpg
    done
}

@test "a backend of the CPU never opens CUDA's driver" {
    [[ $("$LAPEDGE" --version) == *CUDA* && $("$LAPEDGE" --version) != *"CUDA: not built in"* ]] || skip "built without CUDA"
    [ "${SANITIZED:-0}" != 1 ] || skip "a sanitizer does not like being traced"
    strace -qq -o /dev/null true || skip "no strace, or it cannot trace here"
    for backend in c simd cuda-fast; do
        strace -f -qq -o "$backend.trace" -e trace=openat,open "$LAPEDGE" --backend=$backend "$photo" out.ppm || true
    done
    grep -q coffee.jpg c.trace
    run ! grep libcuda.so c.trace simd.trace
    grep -q libcuda.so cuda-fast.trace # or the two above prove nothing
}

@test "names cannot talk to the terminal" {
    name=$'a\nb\t\033[31mred\x80.jpg'
    cp "$photo" "$name"
    lapedge "$name" out.jpg
    expect 2 "" "lapedge: OUT is missing: lapedge 'a\x0ab\x09\x1b[31mred\x80.jpg' OUT, or - for standard output" "$name"
    head -c 9000 "$photo" >"$name"
    run --separate-stderr lapedge -v "$name" out2.jpg
    [ "$status" -eq 1 ]
    [[ ${stderr_lines[0]} == 'lapedge: a\x0ab\x09\x1b[31mred\x80.jpg: truncated: data ends '* ]]
    [[ $stderr != *$'\033'* ]]
    nothing_left out2.jpg
    rm "$name"
    expect 1 "" 'lapedge: a\x0ab\x09\x1b[31mred\x80.jpg: no such file' "$name" out.jpg
    expect 1 "" $'lapedge: \u00e9t\u00e9 \xe2\x9c\x93.jpg: no such file' $'\u00e9t\u00e9 \u2713.jpg' out.jpg
    expect 1 "" 'lapedge: %s%n.jpg: no such file' '%s%n.jpg' out.jpg
}

# plain FILE...: no character in them steers a terminal or turns the writing round.
plain()
{
    python3 - "$@" <<'END'
import re, sys
for name in sys.argv[1:]:
    text = open(name, encoding="utf-8").read()
    found = re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)
    sys.exit(f"{name}: {found.group()!a} in {text[max(0, found.start() - 40):found.end() + 20]!a}") if found else None
END
}

@test "a name with bidirectional characters cannot reorder a message, a list, a log or a report" {
    mkdir album
    for name in $'\u202egpj.exe' $'a\u2066b' $'c\u009b31m' $'d\e[31m' $'e\nf'; do
        cp "$photo" "album/$name.jpg"
        head -c 3000 "$photo" >"album/cut$name.jpg"
    done
    lapedge -n album out >list 2>errors || true
    lapedge -v --log=log.jsonl --json album out >json 2>words || true
    lapedge stats --csv album >csv 2>csv.errors || true
    lapedge stats --json --json-file=file.json album >lines 2>/dev/null || true
    lapedge stats album >table 2>/dev/null || true
    lapedge compare --runs=1 --backends=c --report=page.html $'album/\u202egpj.exe.jpg' >compared
    lapedge info $'album/\u202egpj.exe.jpg' >info
    plain list errors json log.jsonl words csv csv.errors lines file.json table compared page.html info
    grep -qF 'album/\xe2\x80\xaegpj.exe.jpg -> out/\xe2\x80\xaegpj.exe.jpg' list
    grep -qF '<title>lapedge compare: album/\xe2\x80\xaegpj.exe.jpg</title>' page.html
    python3 - <<'END' # in JSON names are exact
import json, os
names = {"album/" + name for name in os.listdir("album")}
assert {json.loads(line)["input"] for line in list(open("log.jsonl", encoding="utf-8"))[1:]} == names
lines = [json.loads(line) for line in open("lines", encoding="utf-8")]
assert {o["input"]["path"] for o in lines if o["schema"] == "lapedge.stats/1"} == {n for n in names if "/cut" not in n}
assert open("lines").read() == open("file.json").read()
END
}

@test "a PNG gets the first EXIF of a JPEG, and none that no program could read" {
    python3 - "$photo" <<'PYTHON'
import sys
jpeg = open(sys.argv[1], "rb").read()
def exif(head):
    body = b"Exif\0\0" + head + b"\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
    return b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
for name, segments in {"odd": exif(b"iI*\0"), "short": b"\xff\xe1\0\x0cExif\0\0II*\0", "two": 2 * exif(b"II*\0")}.items():
    open(name + ".jpg", "wb").write(jpeg[:2] + segments + jpeg[2:])
PYTHON
    for name in odd short two; do
        lapedge -q --no-sync "$name.jpg" "$name.png"
        lapedge -q --no-sync --fail-on=warning "$name.png" "$name.ppm"
    done
    [ "$(grep -c eXIf two.png)" -eq 1 ]
    [ "$(grep -c eXIf odd.png)" -eq 0 ]
}
