# Options whose effect shows in the file that is written, and limits.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# Of several devices one is used; without any, that is said instead.
one_warning()
{
    local what="only device 0 is used"
    if lapedge doctor --json | grep -q '"devices": \[\]'; then
        what=".*(CUDA|NVIDIA)"
    fi
    grep -Eqe "^lapedge: warning: --devices: $what" <<<"$stderr"
    [ "$(grep -c -e --devices <<<"$stderr")" -eq 1 ]
}

@test "--devices: one is used, with a warning where more are named; none where the backend uses none" {
    pgm 20 10 in.pgm
    expect 0 "" "" --backend=c --devices=1,2 in.pgm out.pgm # tuning of what is not there
    run --separate-stderr lapedge -v --backend=c --devices=1 in.pgm out.pgm
    [[ $stderr == "lapedge: note: --devices applies only to CUDA backends, and none is named"* ]]
    expect 0 "" "" -q --devices=0,1 in.pgm out.pgm
    run --separate-stderr lapedge --devices=0,1 in.pgm out.pgm
    [ "$status" -eq 0 ]
    one_warning
    if lapedge doctor --json | grep -q '"devices": \[\]'; then # nothing to use: said, too
        [[ $stderr == "lapedge: warning: --devices: "*@(CUDA|NVIDIA)* ]]
        run --separate-stderr lapedge --device-memory=1G -n in.pgm out/
        [[ $stderr == "lapedge: warning: --device-memory: "*@(CUDA|NVIDIA)* ]]
    fi
    cp in.pgm again.pgm
    run --separate-stderr lapedge --devices=all --in-place in.pgm again.pgm
    one_warning
    run --separate-stderr lapedge stats -q --devices=0,1 in.pgm
    [[ $stderr != *"only device"* ]]
    run --separate-stderr lapedge stats --devices=0,1 in.pgm
    one_warning
    mkdir in
    lapedge --no-sync --format=jpg in.pgm in/a.jpg
    run --separate-stderr lapedge stats --devices=0,1 in
    [[ $status == 0 && $stderr != *"only device"* ]] # a folder uses all
    run --separate-stderr lapedge bench --devices=0,1 --sizes=64x48 --runs=1 --backends=c,auto
    [ "$status" -eq 0 ]
    one_warning
}

# segments FILE: a line for each marker segment before the data: its marker in hexadecimal, its name, its size;
# then "RST n", the restart markers in the data.
segments()
{
    python3 - "$1" <<'PYTHON'
import re, sys
data, at = open(sys.argv[1], "rb").read(), 2
while data[at + 1] != 0xDA:
    size = int.from_bytes(data[at + 2:at + 4], "big")
    body = data[at + 4:at + 2 + size]
    name = re.match(rb"[ -~]*", body)[0].decode()
    sampling = "".join("%x" % body[7 + 3 * i] for i in range(body[5])) if 0xC0 <= data[at + 1] <= 0xC2 else ""
    print("%02X" % data[at + 1], sampling or name, size)
    at += 2 + size
print("RST", len(re.findall(rb"\xff[\xd0-\xd7]", data[at:])))
PYTHON
}

# The photo with a comment, EXIF, XMP, a gray ICC profile's head, IPTC and a multi-picture index before its tables.
dressed()
{
    python3 - "$photo" "$1" "$2" <<'PYTHON'
import sys
def segment(marker, body):
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body
exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
profile = b"ICC_PROFILE\0\x01\x01" + bytes(16) + sys.argv[3].encode() + bytes(108)
data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(data[:2] + segment(0xE1, exif) +
    segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>") + segment(0xE2, profile) + segment(0xE2, b"MPF\0MM\0*") +
    segment(0xED, b"Photoshop 3.0\0") + segment(0xFE, b"a comment") + data[2:])
PYTHON
}

@test "metadata is kept, multi-picture data is not; --strip drops all" {
    dressed dressed.jpg "RGB "
    lapedge dressed.jpg out.jpg
    segments out.jpg >kept
    grep -qx "E1 Exif 34" kept
    grep -qx "E1 http://ns.adobe.com/xap/1.0/ 35" kept
    grep -qx "E2 ICC_PROFILE 144" kept
    grep -qx "ED Photoshop 3.0 16" kept
    grep -qx "FE a comment 11" kept
    run ! grep -q MPF kept
    lapedge --strip dressed.jpg out.jpg
    run ! grep -qE "^(E1|E2|ED|FE)" <(segments out.jpg)
}

@test "a colour profile is kept where it fits the output" {
    dressed rgb.jpg "RGB "
    dressed gray.jpg GRAY
    dressed ink.jpg CMYK
    for case in "rgb 1" "gray 0" "ink 0" "rgb 0 --gray" "gray 1 --gray"; do
        read -r kind expected option <<<"$case"
        # shellcheck disable=SC2086 # none, or one word
        lapedge $option $kind.jpg out.jpg
        [ "$(segments out.jpg | grep -c ICC_PROFILE)" -eq "$expected" ]
    done
}

@test "--preserve keeps time and mode; without it the umask rules" {
    cp "$photo" in.jpg
    chmod 640 in.jpg
    touch -d "2001-02-03 04:05:06" in.jpg
    lapedge --preserve in.jpg out.jpg
    [ "$(stat -c '%a %Y' out.jpg)" = "$(stat -c '%a %Y' in.jpg)" ]
    (umask 027 && lapedge in.jpg other.jpg)
    [ "$(stat -c %a other.jpg)" = 640 ]
    [ "$(stat -c %Y other.jpg)" != "$(stat -c %Y in.jpg)" ]
}

@test "pixels are djpeg's; --gray takes the luma that is stored" {
    command -v djpeg >/dev/null || skip "no djpeg"
    lapedge --kernel=identity "$photo" colour.ppm
    djpeg -dct int -pnm "$photo" | cmp - colour.ppm
    lapedge --kernel=identity --gray "$photo" gray.pgm
    djpeg -dct int -grayscale -pnm "$photo" | cmp - gray.pgm
}

@test "--subsampling: as in the input, or as asked for" {
    for pair in 444:111111 422:211111 420:221111; do
        lapedge --subsampling="${pair%:*}" "$photo" "${pair%:*}.jpg"
        segments "${pair%:*}.jpg" | grep -q "^C0 ${pair#*:} "
    done
    for sampling in 444 422 420; do
        lapedge $sampling.jpg out.jpg
        cmp <(segments $sampling.jpg | grep ^C0) <(segments out.jpg | grep ^C0)
    done
    lapedge --kernel=identity "$photo" in.ppm
    lapedge in.ppm out.jpg
    segments out.jpg | grep -q "^C0 111111 "
}

@test "--restart: one interval a band, where there are several" {
    pgm 64 300 tall.pgm
    pgm 64 100 low.pgm
    for case in "tall auto 2" "tall off 0" "low auto 0" "tall on 2"; do
        read -r picture restart expected <<<"$case"
        lapedge --restart="$restart" "$picture.pgm" out.jpg
        [ "$(segments out.jpg | grep RST)" = "RST $expected" ]
    done
    lapedge --restart=on low.pgm out.jpg
    segments out.jpg | grep -q ^DD
}

@test "--quality: the default is 90" {
    lapedge "$photo" default.jpg
    lapedge -Q 90 "$photo" ninety.jpg
    cmp default.jpg ninety.jpg
    lapedge --quality=30 "$photo" thirty.jpg
    [ "$(stat -c %s thirty.jpg)" -lt "$(stat -c %s ninety.jpg)" ]
}

@test "--fail-on: lost data, oddities, nothing" {
    head -c -2 "$photo" >endless.jpg # no end marker: nothing is lost
    head -c 20000 "$photo" >cut.jpg
    lapedge endless.jpg out.jpg
    lapedge --fail-on=none cut.jpg out.jpg
    rm out.jpg
    for case in "warning endless" "warning cut" "truncated cut"; do
        read -r level picture <<<"$case"
        run --separate-stderr lapedge --fail-on="$level" "$picture.jpg" out.jpg
        [ "$status" -eq 1 ]
        [[ $stderr == "lapedge: $picture.jpg: truncated: "* ]]
        nothing_left out.jpg
    done
}

@test "limits name their option" {
    expect 5 "" "lapedge: $photo: limit: 600x400 is 0.24 million pixels, more than the limit of 0.1 million \
(--max-pixels)" --max-pixels=100K "$photo" out.jpg
    run --separate-stderr lapedge --max-memory=100K "$photo" out.jpg
    [ "$status" -eq 5 ]
    [[ $stderr == "lapedge: $photo: limit: "*memory* ]]
    nothing_left out.jpg
    command -v jpegtran >/dev/null || skip "no jpegtran for a file of many scans"
    jpegtran -progressive "$photo" >many.jpg
    expect 5 "" "lapedge: many.jpg: limit: more scans than the limit of 3 (--max-scans)" --max-scans=3 many.jpg out.jpg
    nothing_left out.jpg
    lapedge --max-scans=0 many.jpg many-edges.jpg
    lapedge "$photo" edges.jpg
    cmp edges.jpg many-edges.jpg
}

@test "--decode: the same bytes, and -v says how it went" {
    for picture in "$photo" "$repo/samples/seeding.jpg"; do
        lapedge --decode=serial "$picture" serial.jpg
        lapedge --decode=parallel --threads=3 "$picture" parallel.jpg
        cmp serial.jpg parallel.jpg
        lapedge --decode=parallel - - <"$picture" | cmp serial.jpg -
        cmp <(lapedge stats --json --decode=serial "$picture") <(lapedge stats --json --decode=parallel "$picture")
        lapedge transform --rotate=90 --decode=serial "$picture" serial.jpg
        lapedge transform --rotate=90 --decode=parallel "$picture" parallel.jpg
        cmp serial.jpg parallel.jpg
    done
    run --separate-stderr lapedge -v --decode=parallel "$photo" out.jpg
    grep -q "note *decoded in parallel" <<<"$stderr"
    run --separate-stderr lapedge -v "$photo" out.jpg
    [[ $stderr != *decoded* ]]
    run --separate-stderr lapedge -v --decode=parallel "$photo" out.ppm
    grep -q "note *decoded serially: this output needs rows in order" <<<"$stderr"
    jpegtran -progressive "$photo" >progressive.jpg
    run --separate-stderr lapedge -v --decode=parallel progressive.jpg out.jpg
    [ "$status" -eq 0 ]
    grep -q "note *decoded in parallel; several scans at once: the largest, scan " <<<"$stderr"
    run --separate-stderr lapedge -v --decode=parallel --codec=turbo progressive.jpg out.jpg
    [ "$status" -eq 0 ]
    grep -q "note *decoded serially: it is progressive" <<<"$stderr"
    run lapedge --decode=quick "$photo" out.jpg
    [ "$status" -eq 2 ]
}

# suffices FILE WORD...: each limit that is too small names a memory that is enough, at once
suffices()
{
    local file=$1 limit need
    shift
    for limit in 20K 1M; do
        run --separate-stderr lapedge "$@" --max-memory=$limit "$file" -
        [ "$status" -eq 5 ] || continue
        [[ $stderr =~ \ takes\ up\ to\ ([0-9.]+)\ (MB|kB|bytes)\ of\ memory ]]
        need=${BASH_REMATCH[1]}${BASH_REMATCH[2]%bytes}
        run --separate-stderr lapedge "$@" --max-memory="$need" "$file" -
        if [ "$status" -ne 0 ]; then
            printf '%s: %s\n%s\n' "$*" "$need" "$stderr"
            return 1
        fi
    done
}

@test "--max-memory: the memory that a message names is enough" {
    lapedge -q --progressive "$repo/samples/chelsea.jpg" many.jpg
    lapedge -q --format=png "$photo" a.png
    lapedge -q --format=pgm --gray "$photo" a.pgm
    python3 "$repo/tests/cli/limits/interlaced.py" a.pgm between.png
    for file in "$photo" many.jpg a.png a.pgm between.png; do
        suffices "$file"
        suffices "$file" --threads=1 --codec=turbo
        suffices "$file" --progressive
        suffices "$file" --gray --optimize --decode=parallel
        suffices "$file" --border=wrap --format=png
        suffices "$file" --format=tsv --auto-orient
        suffices "$file" transform --rotate=90
        suffices "$file" transform --flip=h --perfect --progressive
    done
    # A file that needs 1.7 MB to be decoded, and more for the rest.
    run --separate-stderr lapedge --max-memory=1M --optimize many.jpg -
    [[ $stderr != *"decoding takes"* ]]
    for size in 4.1M 2.01M 1.001G 4.35MB; do # 4.1 * 1e6 is no whole number for the processor
        expect 0 "" "" --no-sync -f --max-memory=$size "$photo" o.jpg
    done
}

@test "--keep is refused for an output that holds no metadata" {
    mkdir in && cp "$photo" in/a.jpg
    for format in bmp tga ppm pgm tsv; do
        for words in "$photo o.$format" "--format=$format $photo -" "--format=$format in out" "transform --flip=h $photo o.$format"; do
            # shellcheck disable=SC2086 # words
            expect 2 "" "lapedge: --keep applies only to JPEG and PNG output, and the output is .$format" --keep=exif,gps $words
        done
        expect 0 "" "" --keep=none --gray "$photo" o.$format # is what happens anyway
        expect 0 "" "" --strip --gray "$photo" o.$format -f
    done
    expect 0 "" "" --keep=exif "$photo" o.png
    expect 0 "" "" --keep=exif --format=jpg "$photo" o
    lapedge -q --keep=exif in out
    lapedge -q --keep=exif info "$photo" >/dev/null
}
