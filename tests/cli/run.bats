# One picture in, its edges out: the ways in and out.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

@test "a photo to its edges, silently" {
    expect 0 "" "" "$photo" edges.jpg
    [ "$(head -c 3 edges.jpg | od -An -tx1 | tr -d ' ')" = ffd8ff ]
    expect 0 "" "" edges.jpg again.ppm
    [ "$(head -c 15 again.ppm | tr '\n' ' ')" = "P6 600 400 255 " ]
}

@test "identity gives the pixels back, through every exact format" {
    lapedge --kernel=identity "$photo" a.ppm
    lapedge --kernel=identity a.ppm b.ppm
    cmp a.ppm b.ppm
    for kind in png bmp tga tsv; do lapedge --kernel=identity a.ppm a.$kind; done
    lapedge --kernel=identity a.png b.ppm
    cmp a.ppm b.ppm
    [ "$(wc -l <a.tsv)" -eq 400 ]
}

@test "every CPU rung writes the same file" {
    lapedge --backend=c "$photo" c.jpg
    lapedge backends >backends.txt
    for rung in openmp sse simd auto; do
        grep -qE "^  $rung +no " backends.txt && continue # not built in
        lapedge --backend=$rung "$photo" $rung.jpg
        cmp c.jpg $rung.jpg
    done
}

@test "the output does not depend on the number of threads" {
    lapedge --threads=1 "$photo" one.jpg
    lapedge --threads=5 "$photo" five.jpg
    cmp one.jpg five.jpg
}

@test "stdin to stdout" {
    lapedge "$photo" file.jpg
    lapedge - - <"$photo" >pipe.jpg
    cmp file.jpg pipe.jpg
    # shellcheck disable=SC2002 # a pipe is the point
    cat "$photo" | lapedge - --format=ppm - | cat >pipe.ppm
    lapedge "$photo" file.ppm
    cmp file.ppm pipe.ppm
}

@test "a picture is not written to a terminal" {
    needs_terminal
    run script -qec "'$LAPEDGE' '$photo' -" /dev/null
    [ "$status" -eq 2 ]
    [[ $output == *"refusing to write an image to a terminal"* ]]
}

@test "format by extension in any case, or by --format" {
    lapedge "$photo" a.JPEG
    lapedge "$photo" b.jpg
    cmp a.JPEG b.jpg
    lapedge --format=png "$photo" picture
    [ "$(head -c 4 picture | tail -c 3)" = PNG ]
    expect 2 "" "lapedge: edges.xyz: the extension names no known format (jpg jpeg png bmp tga ppm pgm tsv); \
choose one with --format" "$photo" edges.xyz
    nothing_left edges.xyz
}

@test "gray in, gray out; --gray makes one channel" {
    pgm 33 21 gray.pgm
    lapedge gray.pgm edges.pgm
    [ "$(head -c 3 edges.pgm | tr '\n' ' ')" = "P5 " ]
    lapedge gray.pgm edges.jpg --json >report.json
    json report.json 'o["channels"] == 1 and o["width"] == 33 and o["height"] == 21'
    lapedge --gray "$photo" luma.pgm
    [ "$(head -c 15 luma.pgm | tr '\n' ' ')" = "P5 600 400 255 " ]
}

@test "one pixel, one row, one column" {
    for size in 1x1 1x40 40x1 2x3 5x5; do
        pgm "${size%x*}" "${size#*x}" "$size.pgm"
        for border in zero replicate reflect reflect101; do
            lapedge --backend=c --border=$border $size.pgm c.pgm
            lapedge --backend=simd --border=$border $size.pgm simd.pgm
            cmp c.pgm simd.pgm
        done
        lapedge $size.pgm $size.jpg
    done
    # 24 * 49, clamped; nothing lies around it
    [ "$(lapedge --format=tsv 1x1.pgm - | tr -d '\n')" = 255 ]
    [ "$(lapedge --format=tsv --border=replicate 1x1.pgm - | tr -d '\n')" = 0 ]
}

@test "scale, offset, range, invert and threshold, in their order" {
    printf 'P5\n1 1\n255\n\012' >ten.pgm # 10; the filter gives 240
    tsv() { lapedge --format=tsv "$@" ten.pgm - | tr -d '\n'; }
    [ "$(tsv)" = 240 ]
    [ "$(tsv --scale=0.5 --offset=1)" = 121 ]
    [ "$(tsv --scale=-0.5)" = 0 ]
    [ "$(tsv --scale=-0.5 --range=abs)" = 120 ]
    [ "$(tsv --scale=0.5 --invert)" = 135 ]
    [ "$(tsv --threshold=240)" = 255 ]
    [ "$(tsv --threshold=241)" = 0 ]
    [ "$(tsv --invert --threshold=16)" = 0 ]
    [ "$(tsv --invert --threshold=15)" = 255 ]
    [ "$(tsv --scale=0.00625)" = 2 ] # 1.5 to even
    [ "$(tsv --offset=-239.5)" = 0 ] # 0.5 to even
}

@test "--in-place replaces each file, and goes on after one that fails" {
    without_summary
    cp "$photo" a.jpg
    cp "$photo" b.jpg
    ln -s b.jpg link.jpg
    echo text >bad.jpg
    lapedge "$photo" want.jpg
    expect 1 "" "lapedge: bad.jpg: not a JPEG, PNG or binary PNM image" --in-place a.jpg bad.jpg link.jpg
    cmp a.jpg want.jpg
    cmp b.jpg want.jpg
    [ -L link.jpg ]
    [ "$(cat bad.jpg)" = text ]
    nothing_left none
}

@test "--in-place does a file once, whatever it is called" {
    local same="the same file as an earlier one, and handled once"
    without_summary
    mkdir folder
    cp "$photo" a.jpg
    ln -s a.jpg link.jpg
    ln -s ../link.jpg folder/far.jpg
    ln -s .. folder/up
    lapedge "$photo" want.jpg
    expect 0 "a.jpg -> a.jpg" "lapedge: link.jpg: $same" -n --in-place a.jpg link.jpg
    expect 0 "" "lapedge: a.jpg: $same
lapedge: ./a.jpg: $same
lapedge: link.jpg: $same
lapedge: folder/far.jpg: $same
lapedge: folder/up/a.jpg: $same" --in-place a.jpg a.jpg ./a.jpg link.jpg folder/far.jpg folder/up/a.jpg
    cmp a.jpg want.jpg
    [ -L link.jpg ]
    cp "$photo" a.jpg
    lapedge --in-place --json -q folder/far.jpg a.jpg >lines
    [ "$(python3 -c 'import json; print(*[json.loads(line)["status"] for line in open("lines")])')" = "ok skipped" ]
    cmp a.jpg want.jpg
    # A file that failed, too. Hard links are two names of one photo, and each gets its edges, once.
    echo text >bad.jpg
    expect 4 "" "lapedge: bad.jpg: not a JPEG, PNG or binary PNM image
lapedge: bad.jpg: $same" --in-place bad.jpg bad.jpg
    cp "$photo" a.jpg
    ln a.jpg hard.jpg
    expect 0 "" "lapedge: hard.jpg: $same" --in-place a.jpg hard.jpg hard.jpg
    cmp a.jpg want.jpg
    cmp hard.jpg want.jpg
    nothing_left none
}

@test "--in-place refuses what it cannot replace" {
    expect 2 "" "lapedge: --in-place: standard input cannot be replaced" --in-place -
    expect 2 "" "lapedge: --in-place: . is a folder; name the files in it" --in-place .
    expect 2 "" "lapedge: --in-place needs a FILE; see lapedge -h" --in-place
    cp "$photo" same.jpg && cp same.jpg other.jpg
    lapedge -q --in-place --format=jpeg same.jpg other.jpg
    run ! cmp -s "$photo" same.jpg
    lapedge -q --in-place same.jpg && cmp same.jpg other.jpg # up to date: the option changes no setting
    expect 2 "" "lapedge: --in-place and --format cannot be combined: names keep their extensions" \
        --in-place --format=png a.jpg
}

@test "an existing output is replaced; one that is a link is written through" {
    lapedge --range=abs "$photo" out.jpg
    cp out.jpg target.jpg
    lapedge "$photo" out.jpg
    lapedge "$photo" want.jpg
    cmp out.jpg want.jpg
    ln -s target.jpg link.jpg
    lapedge "$photo" link.jpg
    [ -L link.jpg ]
    cmp target.jpg want.jpg
}

@test "a FIFO as output is written, not replaced" {
    mkfifo fifo
    cat fifo >got.jpg &
    lapedge --format=jpg "$photo" fifo
    wait
    [ -p fifo ]
    lapedge "$photo" want.jpg
    cmp got.jpg want.jpg
}

@test "-v prints backend, size and times on stderr" {
    run --separate-stderr lapedge -v --threads=2 --backend=simd "$photo" e.jpg
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [[ $stderr == *"600 x 400, 3 channels"* ]]
    [[ $stderr == *"backend   simd -> simd-"*", up to 2 threads"* ]]
    [[ $stderr =~ "decode "[0-9.]+", filter "[0-9.]+", encode "[0-9.]+ ]]
}

@test "no progress line without a terminal, one that is erased on a terminal" {
    run --separate-stderr lapedge --max-pixels=0 "$photo" e.jpg
    [ -z "$stderr" ]
    # An input that comes later than the line's patience, on a terminal that forgets nothing.
    needs_terminal
    mkfifo late
    script -qfec "TERM=xterm '$LAPEDGE' --threads=1 --backend=c - large.jpg <late" /dev/null >typed </dev/null &
    local pid=$!
    exec 7>late
    printf 'P6 800 600 255\n' >&7
    local rows=0
    until [ $rows -eq 600 ] || grep -q ' %  -' typed; do # the line appears between two bands of rows
        head -c 2400 /dev/zero >&7
        rows=$((rows + 1))
        sleep 0.02
    done
    head -c $((2400 * (600 - rows))) /dev/zero >&7
    exec 7>&-
    wait $pid
    run cat typed
    [[ $output == *" %  -"* ]]
    [[ $output == *$'\r\033[K' ]]
    printf '{ printf "P6 800 600 255\n"; sleep 0.5; head -c 1440000 /dev/zero; } | "$@"' >late.sh
    run script -qec "TERM=xterm bash late.sh '$LAPEDGE' -q --threads=1 --backend=c - large.jpg" /dev/null
    [ -z "$output" ]
}

@test "a run removes what a killed one left beside its output, and nothing else" {
    { printf 'P6\n8000 6000\n255\n'; head -c 144000000 /dev/zero; } >huge.ppm
    mkdir sub
    cd sub
    struck 137 KILL --threads=1 --backend=c ../huge.ppm out.jpg
    cd ..
    [ "$(find sub -name '.lapedge-*.tmp' | wc -l)" -eq 1 ]
    touch sub/.lapedge-mine.tmp
    lapedge "$photo" other.jpg # in another folder
    [ "$(find sub -name '.lapedge-*.tmp' | wc -l)" -eq 2 ]
    lapedge "$photo" sub/other.jpg
    [ "$(cd sub && echo .lapedge-*)" = .lapedge-mine.tmp ]
}

@test "closed standard streams do not end up in the files" {
    head -c 20000 "$photo" >cut.jpg
    lapedge -q --fail-on=none cut.jpg want.jpg
    lapedge -v --fail-on=none cut.jpg got.jpg <&- >&- 2>&-
    cmp want.jpg got.jpg
    run --separate-stderr bash -c "'$LAPEDGE' '$photo' - >&-"
    [ "$status" -eq 1 ]
    [ "$stderr" = "lapedge: standard output: cannot write: Bad file descriptor" ]
    run --separate-stderr bash -c "'$LAPEDGE' - got.jpg <&-"
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: standard input: "* ]]
    cmp want.jpg got.jpg
    mkdir in
    cp cut.jpg in
    run lapedge in out <&- 2>&-
    run ! grep -r truncated out
}

@test "Ctrl-C and SIGTERM end with 130 and 143, and leave nothing" {
    { printf 'P6\n8000 6000\n255\n'; head -c 144000000 /dev/zero; } >huge.ppm
    for pair in INT:130 TERM:143; do
        struck "${pair#*:}" "${pair%:*}" --threads=1 --backend=c huge.ppm out.jpg
        nothing_left out.jpg
        [ "$(cat err)" = "lapedge: cancelled" ]
    done
}

@test "Ctrl-C ends a bench with 130 before its runs are over" {
    [ -z "${EMULATOR:-}" ] || skip "an emulator catches the signal before the program does"
    env --default-signal=INT "$LAPEDGE" bench filter --sizes=1M --backends=c --runs=9999 >table 2>err &
    local pid=$!
    catches $pid 2 bench
    kill -INT $pid
    wait $pid && code=0 || code=$?
    [ "$code" -eq 130 ]
    [ "$(cat err)" = "lapedge: cancelled" ]
}

@test "Ctrl-C ends diff, compare and stats with 130 and the same message, also with -q" {
    [ -z "${EMULATOR:-}" ] || skip "an emulator catches the signal before the program does"
    { printf 'P6\n8000 6000\n255\n'; head -c 144000000 /dev/zero; } >huge.ppm
    for words in "diff huge.ppm huge.ppm" "-q compare --runs=9999 --backends=c $photo" "stats -q --backend=c huge.ppm"; do
        for _ in {1..20}; do # again if all was done before the signal came
            # shellcheck disable=SC2086 # words are split
            env --default-signal=INT "$LAPEDGE" --threads=1 $words >table 2>err &
            local pid=$!
            ! catches $pid 2 "${words##* }" || kill -INT $pid || true
            wait $pid && code=0 || code=$?
            [ "$code" -eq 0 ] || break
        done
        [ "$code" -eq 130 ]
        [ "$(cat err)" = "lapedge: cancelled" ]
    done
}

@test "Ctrl-C ends a run whose output nobody reads; a slow reader gets whole lines" {
    mkdir in && for i in {1..40}; do ln "$photo" in/$i.jpg 2>/dev/null || cp "$photo" in/$i.jpg; done
    python3 - "$LAPEDGE" <<'END'
import fcntl, os, signal, subprocess, sys, termios, time
F_SETPIPE_SZ = 1031
for words, is_read in (("stats --json in", False), ("--log=- in out", False), ("stats --json in", True)):
    read, write = os.pipe()
    fcntl.fcntl(write, F_SETPIPE_SZ, 4096)
    run = subprocess.Popen([sys.argv[1], "--threads=1", *words.split()], stdout=write, stderr=subprocess.PIPE,
                           text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.close(write)
    deadline = time.monotonic() + 60
    full = bytearray(4)
    while int.from_bytes(full, "little") == 0 and time.monotonic() < deadline:
        fcntl.ioctl(read, termios.FIONREAD, full)
        time.sleep(0.05)
    time.sleep(1)  # more lines than the pipe holds
    assert run.poll() is None, words
    run.send_signal(signal.SIGINT)
    text = b""
    if is_read:
        time.sleep(0.3)
        while piece := os.read(read, 1000):
            text += piece
        assert text.endswith(b"\n"), text[-80:]
    assert run.wait(30) == 130, (words, run.returncode)
    said = run.stderr.read()
    assert "cancelled" in said, said
    os.close(read)
END
}

# density FILE: unit, across and down, of its JFIF header
density() { od -An -tu1 -j13 -N5 "$1" | awk '{print $1, $2 * 256 + $3, $4 * 256 + $5}'; }

@test "the density of a JPEG is kept, and turned with the picture" {
    lapedge "$photo" a.jpg
    [ "$(density "$photo")" = "2 37 37" ]
    [ "$(density a.jpg)" = "2 37 37" ]
    { head -c 14 "$photo"; printf '\x01\x2c\x00\x48'; tail -c +19 "$photo"; } >odd.jpg
    for option in --strip --restart=off --quality=50; do
        lapedge "$option" odd.jpg b.jpg
        [ "$(density b.jpg)" = "2 300 72" ]
    done
    lapedge transform --rotate=90 odd.jpg c.jpg
    [ "$(density c.jpg)" = "2 72 300" ]
    lapedge transform --rotate=180 odd.jpg c.jpg
    [ "$(density c.jpg)" = "2 300 72" ]
    lapedge odd.jpg d.ppm
    lapedge d.ppm d.jpg
    [ "$(density d.jpg)" = "0 1 1" ]
}

@test "--report of a run: a page beside the output; not of a pipe, a dry run, in place" {
    expect 0 "" "" --report=p.html "$photo" out.png
    [ -s out.png ]
    grep -q '"schema":"lapedge.file/1"' p.html
    lapedge "$photo" plain.png
    cmp out.png plain.png
    rm p.html
    expect 2 "" "lapedge: --report applies only to named inputs, and standard input can be read only once" --report=p.html - o.png
    expect 2 "" "lapedge: --dry-run writes nothing; leave out --report" -n --report=p.html "$photo" o.png
    expect 2 "" 'lapedge: --report: "p.jpg" does not end in .html' --report=p.jpg "$photo" o.png
    expect 2 "" "lapedge: --report: o.html is the output" --report=o.html --format=png "$photo" o.html
    mkdir in
    cp "$photo" in
    run --separate-stderr lapedge --in-place --report=p.html in/*.jpg
    [ "$status" -eq 2 ]
    [[ $stderr == *"--report"* ]]
    [ ! -e p.html ]
    [ ! -e o.png ]
    [ ! -e out ]
    cmp "$photo" in/*.jpg
}

@test "XMP after the picture of a PNG is warned of, and --fail-on=warning refuses it where it is asked for" {
    lapedge --kernel=identity --strip "$photo" in.png
    python3 - in.png <<'PYTHON'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
text = b"iTXtXML:com.adobe.xmp\0\0\0\0\0<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>"
chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
open(sys.argv[1], "wb").write(data[:-12] + chunk + data[-12:])
PYTHON
    expect 0 "" "lapedge: in.png: warning: XMP after the picture is left out" in.png out.jpg
    rm out.jpg
    for to in jpg png; do
        expect 1 "" "lapedge: in.png: unsupported: XMP after the picture is left out" --fail-on=warning in.png out.$to
        [ ! -e out.$to ]
        expect 0 "" "" --fail-on=warning --keep=icc in.png out.$to
    done
    expect 0 "" "" --fail-on=warning in.png out.ppm
}

@test "joining bands without restart markers takes no memory that depends on their length" {
    [ -z "${SANITIZED:-}${EMULATOR:-}" ] || skip "a sanitizer takes more, and so does an emulator for translated code"
    python3 - "$LAPEDGE" <<'END'
import ctypes, os, subprocess, sys
PR_SET_THP_DISABLE = 41 # no huge pages, also in the programs started here: one more byte would take 2 MB
ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
W, H = 65500, 384 # three bands; noise, of which a coded band takes more than its pixels
rows = os.urandom(W * 3 * 8)
with open("noise.ppm", "wb") as f:
    f.write(b"P6\n%d %d\n255\n" % (W, H))
    for _ in range(0, H, 8):
        f.write(rows)
def peak(restart):
    process = subprocess.Popen([sys.argv[1], "--threads=2", "--max-memory=67M", "--quality=100", "--no-sync",
                                "--restart=" + restart, "noise.ppm", restart + ".jpg"])
    status, usage = os.wait4(process.pid, 0)[1:]
    assert status == 0, status
    return usage.ru_maxrss / 1e3
apart, joined = peak("auto"), peak("off")
if joined > apart + 10:
    sys.exit(f"{joined:.0f} MB, and {apart:.0f} MB with markers")
END
}

@test "EXIF after the picture of a PNG turns it, and is kept; of a pipe it comes too late, which is told" {
    lapedge -q --format=png "$photo" plain.png
    python3 - <<'END'
import struct, zlib
def chunk(kind, body, broken=0):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body) ^ broken)
data = open("plain.png", "rb").read()
end, exif = data[-12:], lambda turn: b"II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x112, 3, 1, turn, 0, 0)
for name, late in {"late": chunk(b"eXIf", exif(6)), "upright": chunk(b"eXIf", exif(1)),
                   "broken": chunk(b"eXIf", exif(6), 1), "huge": chunk(b"eXIf", exif(6) + bytes(70000)),
                   "lying": b"\x7f\xff\xff\xffeXIf"}.items():
    open(name + ".png", "wb").write(data[:-12] + late + end)
open("early.png", "wb").write(data[:33] + chunk(b"eXIf", exif(6)) + data[33:])
END
    for name in late early; do
        expect 0 "" "" --fail-on=warning --auto-orient $name.png $name.ppm
        expect 0 "" "" --fail-on=warning $name.png $name.jpg
        lapedge info --json $name.png >$name.json
        json $name.json 'o["orientation"] == 6 and o["metadata"]["EXIF"] == {"segments": 1, "bytes": 32}'
    done
    cmp late.ppm early.ppm
    cmp late.jpg early.jpg
    local left="lapedge: -: warning: EXIF after the picture is left out"
    expect 0 "" "$left, and its orientation is not applied" --auto-orient - pipe.ppm < <(cat late.png)
    expect 0 "" "$left" --auto-orient - pipe.ppm < <(cat upright.png)
    run --separate-stderr lapedge --auto-orient broken.png o.ppm
    [[ $status -eq 0 && $stderr == *warning* ]]
    expect 0 "" "lapedge: huge.png: warning: EXIF after the picture is left out, and its orientation is not applied" \
        --auto-orient huge.png o.ppm
    # Newer versions of libpng (1.6.48) ask for no memory: they pass over such a chunk to the end of the file.
    run --separate-stderr lapedge --auto-orient lying.png o.ppm
    [[ ($status -eq 5 && $stderr == *"a chunk asks for 2147.5 MB"*) || ($status -eq 1 && $stderr == *"data ends early"*) ]]
}
