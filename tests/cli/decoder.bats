# Our decoders and libjpeg-turbo: who decodes, and that nobody sees who it was.
load common

setup()
{
    cd "$BATS_TEST_TMPDIR" || return 1
    djpeg -ppm -scale 1/4 "$photo" >small.ppm
    cjpeg -restart 1 -sample 2x2 small.ppm >good.jpg
}

# damage N: good.jpg with its N-th restart or end marker made another one, to bad.jpg; fails when there is none.
damage()
{
    python3 - "$1" <<'PY'
import sys
data = bytearray(open("good.jpg", "rb").read())
marks = [i for i in range(len(data) - 1) if data[i] == 0xFF and 0xD0 <= data[i + 1] <= 0xD7] + [len(data) - 2]
if int(sys.argv[1]) >= len(marks):
    sys.exit(1)
data[marks[int(sys.argv[1])] + 1] = 0xD0 + (data[marks[int(sys.argv[1])] + 1] + 3) % 8
open("bad.jpg", "wb").write(data)
PY
}

# outcome NAME ARGUMENT...: status, messages and output of a run, in NAME.*; the output's name does not matter.
outcome()
{
    local name=$1 status=0
    shift
    "$LAPEDGE" "$@" >"$name.out" 2>"$name.err" || status=$?
    echo "$status" >"$name.status"
}

# same NAME NAME
same()
{
    cmp "$1.status" "$2.status" && cmp "$1.out" "$2.out" && cmp "$1.err" "$2.err"
}

# ours: the decoder that auto takes here
ours()
{
    lapedge diff -v good.jpg good.jpg 2>&1 | sed -n 's/.*decoded by \([a-z0-9]*\).*/\1/p'
}

# who_decides: libjpeg-turbo's outcome for bad.jpg is everybody's, wherever the rows go.
who_decides()
{
    local fail_on who with ways=(pipe stats in fifo ppm jpg)
    local -A how=([turbo]=--codec=turbo [c]=--codec=c [auto]=--codec=auto [parts]="--decode=parallel --threads=3")
    [ -p fifo ] || mkfifo fifo
    for fail_on in none truncated; do
        for who in turbo c auto parts; do
            read -ra with <<<"${how[$who]} --fail-on=$fail_on"
            outcome "$who-pipe" run "${with[@]}" bad.jpg -
            outcome "$who-stats" stats "${with[@]}" bad.jpg
            outcome "$who-in" run "${with[@]}" - - < <(cat bad.jpg)
            cat bad.jpg >fifo &
            outcome "$who-fifo" run "${with[@]}" - - <fifo
            wait
            for format in ppm jpg; do
                rm -f "o.$format"
                outcome "$who-$format" run "${with[@]}" bad.jpg "o.$format"
                [ ! -e "o.$format" ] || cp "o.$format" "$who-$format.out"
            done
            for way in "${ways[@]}"; do
                same "turbo-$way" "$who-$way" || { echo "$who, $way, --fail-on=$fail_on"; return 1; }
            done
        done
    done
}

@test "a row of MCUs that our decoder rejects: to a file, to a pipe, from a pipe, a FIFO, for statistics" {
    local n=0
    while damage "$n"; do
        who_decides
        # Without its end marker a file is whole all the same.
        [ "$(cat turbo-ppm.status)" -ne 0 ] || [ "$n" -eq 6 ]
        n=$((n + 1))
    done
    [ "$n" -eq 7 ]
}

@test "a scan of a progressive file that our decoder rejects: everywhere, too" {
    local n=0
    cjpeg -progressive -sample 2x2 small.ppm >whole.jpg
    while python3 - "$n" <<'PY'; do
import sys
data = bytearray(open("whole.jpg", "rb").read())
scans = [i for i in range(len(data) - 1) if data[i:i + 2] == b"\xff\xda"]
if int(sys.argv[1]) >= len(scans):
    sys.exit(1)
at = (scans + [len(data) - 2])[int(sys.argv[1]) + 1] - 40
data[at:at + 2] = b"\xff\xd3"  # a marker where none is due
open("bad.jpg", "wb").write(data)
PY
        who_decides
        n=$((n + 1))
    done
    [ "$n" -eq 10 ]
}

@test "a picture from a pipe that stays open is decoded; bytes behind its end change nothing" {
    local codec
    mkfifo open
    exec 7<>open # so that the pipe never ends
    for codec in turbo c auto; do
        for more in --decode=auto --decode=parallel --threads=1; do
            cat good.jpg >open &
            timeout 100 "$LAPEDGE" "$more" --codec="$codec" - o.jpg <open 7>&-
            wait
            { cat good.jpg; echo behind; cat good.jpg; } | lapedge "$more" --codec="$codec" - behind.jpg
            lapedge --codec=turbo good.jpg t.jpg
            cmp o.jpg t.jpg
            cmp behind.jpg t.jpg
        done
    done
    # Without an end marker there is nothing to know it by: the deadline ends it.
    head -c -2 good.jpg >open &
    run --separate-stderr timeout 100 "$LAPEDGE" --timeout=1 - o.jpg <open 7>&-
    wait
    [ "$status" -eq 5 ]
    exec 7>&-
}

@test "-v names the decoder, and says why it is not the requested one" {
    run --separate-stderr lapedge -v --codec=c good.jpg o.jpg
    [ "$status" -eq 0 ]
    [[ $output$stderr == *"decoded by c; encoded by c"* ]]
    run --separate-stderr lapedge -v --codec=turbo good.jpg t.jpg
    [[ $output$stderr == *"decoded by turbo; encoded by turbo"* ]]
    cmp o.jpg t.jpg
    damage 3
    run --separate-stderr lapedge -v --codec=c --fail-on=none bad.jpg o.jpg
    [[ $output$stderr == *"decoded by turbo, not by c: its data is unusual"* ]]
    cjpeg -progressive small.ppm >p.jpg
    run --separate-stderr lapedge -v --codec=c p.jpg o.jpg
    [[ $output$stderr == *"decoded by c"* ]]
    cjpeg -sample 4x2 small.ppm >s.jpg
    run --separate-stderr lapedge -v --codec=c s.jpg o.jpg
    [[ $output$stderr == *"decoded by turbo, not by c: lapedge's decoder does not support its sampling"* ]]
    run --separate-stderr lapedge -v --codec=c p.jpg o.jpg
    [[ $output$stderr =~ "scan "[0-9]+" of 10, has "[0-9]+" % of the bytes; decoded by c; encoded by c" ]]
    python3 - <<'PY'
data = open("p.jpg", "rb").read()
last = data.rindex(b"\xff\xda")
open("less.jpg", "wb").write(data[:last] + b"\xff\xd9")
open("short.jpg", "wb").write(data[:-40] + b"\xff\xd9")
PY
    run --separate-stderr lapedge -v --codec=c less.jpg o.jpg
    [[ $output$stderr == *"decoded by turbo, not by c: its scans are incomplete, repeated or out of order"* ]]
    run --separate-stderr lapedge -v --codec=c --fail-on=none short.jpg o.jpg
    [[ $output$stderr == *"decoded by turbo, not by c: its data is unusual"* ]]
    python3 - <<'PY'
data = open("good.jpg", "rb").read()
open("good.jpg", "wb").write(data[:2] + 50 * (b"\xff\xe5\xff\xff" + bytes(65533)) + data[2:])
PY
    run --separate-stderr lapedge -v --codec=c --max-memory=8M good.jpg o.jpg
    [ "$status" -eq 0 ]
    [[ $output$stderr == *"decoded by turbo, not by c: the file is too large to be held in memory"* ]]
    run --separate-stderr lapedge -v --codec=c --max-memory=8M - o2.jpg < <(cat good.jpg)
    [ "$status" -eq 0 ]
    [[ $output$stderr == *"decoded by turbo, not by c: the file is too large to be held in memory"* ]]
    cmp o.jpg o2.jpg
    run --separate-stderr lapedge -v --max-memory=8M good.jpg o.jpg # even if no decoder is named
    [ "$status" -eq 0 ]
    [ "$(ours)" = turbo ] ||
        [[ $output$stderr == *"decoded by turbo, not by $(ours): the file is too large to be held in memory"* ]]
    cmp o.jpg o2.jpg
    run --separate-stderr lapedge -v good.jpg o.jpg
    [[ $output$stderr != *"decoded by "* ]]
}

# Fill bytes before the last marker: libjpeg-turbo skips them, and our decoders leave them to it.
@test "a file is held up to 80 MB, and a larger one is decoded as it is read: by name and in a pipe" {
    python3 - <<'PY'
data = open("good.jpg", "rb").read()
for name, size in (("held.jpg", 80 << 20), ("over.jpg", (80 << 20) + 1)):
    open(name, "wb").write(data[:-2] + b"\xff" * (size - len(data)) + data[-2:])
PY
    lapedge --no-sync --codec=turbo good.jpg expected.jpg
    local name reason
    for name in held over; do
        case $name in
        held) reason="its data is unusual" ;;
        over) reason="the file is too large to be held in memory" ;;
        esac
        run --separate-stderr lapedge -v --no-sync --codec=c $name.jpg o.jpg
        [ "$status" -eq 0 ]
        [[ $output$stderr == *"decoded by turbo, not by c: $reason"* ]]
        cmp o.jpg expected.jpg
        run --separate-stderr lapedge -v --no-sync --codec=c - o.jpg < <(cat $name.jpg)
        [ "$status" -eq 0 ]
        [[ $output$stderr == *"decoded by turbo, not by c: $reason"* ]]
        cmp o.jpg expected.jpg
    done
}

@test "backends, explain and bench know the ladder decode" {
    lapedge backends --json >all.json
    json all.json '[r["name"] for r in o["rows"] if r["op"] == "decode"][:2] == ["turbo", "c"]'
    run --separate-stderr lapedge explain avx512
    [[ $output == *"decode avx512"*"docs/decoder.md"* ]]
    lapedge bench codec --image=good.jpg --runs=2 --threads=1 --json >bench.json
    json bench.json '[r["backend"] for r in o["rows"] if r["op"] == "decode"][:2] == ["turbo", "c"]'
    json bench.json 'all(len(r["times_ms"]) == 2 or r["reason"] for r in o["rows"] if r["op"] == "decode")'
}

# What is held makes decoding faster. It never makes a run impossible that works without it.
@test "--max-memory: the least limit that is enough for libjpeg-turbo is enough for all" {
    local run low high middle
    python3 - <<'PY'
rows = b"".join(bytes((x * 7 + y * 13 + (x * y) % 251) % 256 for x in range(3 * 1500)) for y in range(1200))
open("large.ppm", "wb").write(b"P6 1500 1200 255\n" + rows)
PY
    cjpeg -quality 97 -sample 2x2 large.ppm >large.jpg
    for run in "--border=wrap" "--border=wrap --progressive"; do
        low=1000 high=90000 # thousands of bytes
        while [ $((high - low)) -gt 10 ]; do
            middle=$(((low + high) / 2))
            if lapedge -q $run --codec=turbo --threads=1 --max-memory="${middle}000" large.jpg t.jpg 2>/dev/null; then
                high=$middle
            else
                low=$middle
            fi
        done
        [ "$high" -lt 90000 ]
        lapedge -q $run --threads=1 --max-memory="${high}000" large.jpg o.jpg
        cmp o.jpg t.jpg
        lapedge -q $run --max-memory=200M large.jpg o.jpg
        cmp o.jpg t.jpg
    done
}

@test "stats, diff and compare decode with our decoders, alone and in folders" {
    local ours
    # says WHO COMMAND...: -v names WHO as decoder
    says()
    {
        local who=$1
        shift
        run --separate-stderr lapedge "$@"
        [ "$status" -eq 0 ] || { echo "$* ended with $status: $stderr"; return 1; }
        [[ $stderr$output == *"decoded by $who"* ]] || { echo "$*: $stderr"; return 1; }
    }
    ours=$(ours)
    [ -n "$ours" ]
    [ "$ours" != turbo ] || [[ $(uname -m) != x86_64 && $(uname -m) != aarch64 ]] || ! grep -q avx2 /proc/cpuinfo
    mkdir a b
    cp good.jpg a/x.jpg
    cp good.jpg b/x.jpg
    says "$ours" diff -v a b
    says "$ours" compare -v good.jpg
    says "$ours" stats -v --border=wrap --mask-border=9 good.jpg
    says c stats -v --codec=c good.jpg
    says c stats -v --codec=c a
    cjpeg -sample 4x2 small.ppm >q.jpg
    says turbo stats -v --codec=turbo good.jpg
    says turbo diff -v q.jpg q.jpg
}
