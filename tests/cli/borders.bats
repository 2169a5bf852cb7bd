# Borders beyond the four, kernels turned, several scans, and what metadata is kept.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# reference IN BORDER OUT: laplace3-4 by the definition, pixel by pixel, of a PGM.
reference()
{
    python3 - "$@" <<'PYTHON'
import sys
def tokens(data):
    head = data.split(None, 4)[:4]
    return int(head[1]), int(head[2]), data[-int(head[1]) * int(head[2]):]
w, h, p = tokens(open(sys.argv[1], "rb").read())
def at(y, x):
    if sys.argv[2] == "wrap":
        return p[y % h * w + x % w]
    inside = 0 <= y < h and 0 <= x < w
    return p[y * w + x] if inside else int(sys.argv[2].split(":")[1])
out = bytes(max(0, min(255, 4 * at(y, x) - at(y - 1, x) - at(y + 1, x) - at(y, x - 1) - at(y, x + 1)))
            for y in range(h) for x in range(w))
open(sys.argv[3], "wb").write(b"P5\n%d %d\n255\n" % (w, h) + out)
PYTHON
}

@test "wrap and constant:V work at any size and on every backend" {
    lapedge backends --json >backends.json || [ $? -eq 3 ]
    backends=$(python3 -c 'import json
print(*(row["name"] for row in json.load(open("backends.json"))["rows"] if row["op"] == "filter" and
        row["available"] and row["name"] in ("c", "openmp", "sse", "simd")))')
    [[ $backends == "c "*simd ]]
    for size in "1 1" "2 3" "1 9" "70 5" "300 280"; do
        # shellcheck disable=SC2086 # two words
        pgm $size in.pgm
        for border in wrap constant:200 constant:0; do
            reference in.pgm $border want.pgm
            for backend in $backends; do
                lapedge --kernel=laplace3-4 --border=$border -b $backend in.pgm out.pgm
                cmp want.pgm out.pgm
            done
            lapedge compare -q --border=$border --kernel=laplace3-4 in.pgm
        done
    done
    cmp <(lapedge --border=constant:0 in.pgm - --format=pgm) <(lapedge in.pgm - --format=pgm)
}

@test "a photo wraps alike however it is decoded, turned and spread over threads" {
    lapedge --kernel=identity "$photo" whole.ppm
    lapedge --border=wrap whole.ppm want.ppm
    for words in --decode=serial "--decode=parallel --threads=2" --threads=1 "--timeout=60"; do
        # shellcheck disable=SC2086 # words
        lapedge --border=wrap $words "$photo" out.ppm
        cmp want.ppm out.ppm
    done
    lapedge --border=wrap --threads=2 "$photo" two.jpg
    lapedge --border=wrap --threads=1 "$photo" one.jpg
    cmp one.jpg two.jpg
    lapedge stats --border=wrap --json "$photo" >a.json
    lapedge --border=wrap "$photo" o.jpg --stats=b.json
    cmp <(python3 -c 'import json; print(json.load(open("a.json"))["edges"])') \
        <(python3 -c 'import json; print(json.load(open("b.json"))["edges"])')
    lapedge --json --border=constant:7 "$photo" o.jpg >o.json
    json o.json 'o["border"] == "constant:7"'
    for wrong in constant constant: constant:256 constant:-1 constant:1x wrapped; do
        run lapedge --border=$wrong "$photo" o.jpg
        [ "$status" -eq 2 ]
    done
}

@test "--flip-kernel turns the kernel by 180 degrees" {
    pgm 40 30 in.pgm
    right=$(seq 1 25 | paste -sd,)
    left=$(seq 25 -1 1 | paste -sd,)
    lapedge --scale=0.003 --kernel="$right" --flip-kernel in.pgm a.pgm
    lapedge --scale=0.003 --kernel="$left" in.pgm b.pgm
    cmp a.pgm b.pgm
    run ! cmp a.pgm <(lapedge --scale=0.003 --kernel="$right" in.pgm - --format=pgm)
    lapedge --flip-kernel in.pgm c.pgm
    cmp c.pgm <(lapedge in.pgm - --format=pgm)
}

@test "--progressive and --optimize: the same pixels, other bytes, and the memory is counted" {
    command -v djpeg >/dev/null || skip "no djpeg"
    lapedge "$photo" plain.jpg
    lapedge --progressive "$photo" progressive.jpg
    lapedge --optimize --restart=on "$photo" optimized.jpg
    lapedge --optimize --progressive --gray "$photo" gray.jpg
    cmp <(djpeg -pnm plain.jpg) <(djpeg -pnm progressive.jpg)
    cmp <(djpeg -pnm plain.jpg) <(djpeg -pnm optimized.jpg)
    cmp <(lapedge --gray "$photo" - | djpeg -pnm) <(djpeg -pnm gray.jpg)
    # SOF2 marks a progressive JPEG; optimised tables make the file smaller.
    python3 -c 'import sys; sys.exit(b"\xff\xc2" not in open("progressive.jpg", "rb").read(2000))'
    python3 -c 'import sys; sys.exit(b"\xff\xdd" not in open("optimized.jpg", "rb").read(2000))'
    [ "$(stat -c %s optimized.jpg)" -lt "$(stat -c %s plain.jpg)" ]
    lapedge --max-memory=2M "$photo" o.jpg
    run --separate-stderr lapedge --progressive --max-memory=2M "$photo" o.jpg
    [ "$status" -eq 5 ]
    # A folder is not done again for options that are not given.
    mkdir in
    cp "$photo" in/a.jpg
    lapedge -q in out
    run --separate-stderr lapedge --optimize in out
    [[ $stderr == "1 done; "* ]]
    cmp out/a.jpg <(lapedge --optimize "$photo" -)
}

# A JPEG with EXIF that has a place and a thumbnail, XMP, a profile and a comment: dressed FILE
dressed()
{
    python3 - "$photo" "$1" <<'PYTHON'
import struct, sys
def segment(marker, body):
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body
def entry(tag, kind, count, value):
    return struct.pack(">HHII", tag, kind, count, value)
# IFD0 at 8: orientation, GPS at 60, its text at 92; then IFD1 at 120 with a thumbnail at 160: tables, no pixels.
thumbnail = (b"\xff\xd8" + segment(0xDB, b"\0" + b"THUMBNAIL".ljust(64, b"\1")) + segment(0xDA, b"\1\1\0\0\x3f\0") +
             b"\xff\xd9")
ifd0 = struct.pack(">H", 2) + struct.pack(">HHIHH", 0x112, 3, 1, 6, 0) + entry(0x8825, 4, 1, 60) + struct.pack(">I", 120)
gps = struct.pack(">H", 2) + entry(1, 2, 2, 0x4E000000) + entry(2, 5, 3, 92) + struct.pack(">I", 0)
tiff = bytearray(b"MM\0*" + struct.pack(">I", 8) + ifd0)
tiff += bytes(60 - len(tiff)) + gps
tiff += bytes(92 - len(tiff)) + b"PLACEPLACEPLACEPLACEPLAC"
tiff += bytes(120 - len(tiff))
tiff += struct.pack(">H", 2) + entry(0x201, 4, 1, 160) + entry(0x202, 4, 1, len(thumbnail)) + struct.pack(">I", 0)
tiff += bytes(160 - len(tiff)) + thumbnail
profile = b"ICC_PROFILE\0\x01\x01" + bytes(16) + b"RGB " + bytes(108)
data = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(data[:2] + segment(0xE1, b"Exif\0\0" + bytes(tiff)) +
    segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>") + segment(0xE2, profile) +
    segment(0xED, b"Photoshop 3.0\0" + b"8BIM\4\4\0\0\0\0\0\6\x1c\2\x69\0\1T") + segment(0xFE, b"a comment") + data[2:])
PYTHON
}

@test "--keep keeps what is listed and nothing else" {
    dressed in.jpg
    # kept LIST WORD...: an output with this list has these, and no other of all
    kept()
    {
        lapedge --keep="$1" in.jpg out.jpg
        shift
        for word in Exif PLACE THUMBNAIL xap ICC_PROFILE Photoshop comment; do
            if [[ " $* " == *" $word "* ]]; then
                grep -aq $word out.jpg
            else
                run ! grep -aq $word out.jpg
            fi
        done
    }
    kept exif Exif
    kept exif,icc Exif ICC_PROFILE
    kept exif,gps Exif PLACE
    kept exif,thumbnail Exif THUMBNAIL
    kept xmp,comment xap comment
    kept iptc Photoshop
    kept icc ICC_PROFILE
    kept none
    kept all Exif PLACE THUMBNAIL xap ICC_PROFILE Photoshop comment
    kept exif,gps,xmp,iptc,icc,comment Exif PLACE xap ICC_PROFILE Photoshop comment
    expect 2 "" "lapedge: --keep: \"gps\" is not a whole list: gps and thumbnail are parts of exif; keep exif too" \
        --keep=gps in.jpg o.jpg
    expect 2 "" "lapedge: --keep: \"xmp,thumbnail\" is not a whole list: gps and thumbnail are parts of exif; keep exif too" \
        info --keep=xmp,thumbnail in.jpg
    expect 2 "" "lapedge: --keep and --strip contradict each other" --keep=icc --strip in.jpg o.jpg
    lapedge --strip in.jpg stripped.jpg
    lapedge --strip --keep=none in.jpg none.jpg
    cmp none.jpg stripped.jpg
    expect 2 "" 'lapedge: --keep: "exif,x" is not a list of exif, gps, xmp, iptc, icc, comment, thumbnail; or all, or none' \
        --keep=exif,x in.jpg o.jpg
    # Still EXIF that others can read, the orientation in it.
    lapedge --keep=exif in.jpg out.jpg
    lapedge transform --auto-orient out.jpg turned.ppm
    [ "$(sed -n 2p turned.ppm | head -c 7)" = "400 600" ]
}

# notes IN OUT OPTION...: what -v says of the work, beside what it measured
notes()
{
    lapedge -v --force "${@:3}" "$1" "$2" 2>&1 | sed -nE 's/^ +note +//p'
}

@test "what is said to be left out was there" {
    dressed dressed.jpg
    python3 - dressed.jpg plain.jpg colour.jpg exif.jpg comment.jpg <<'PYTHON'
import sys
data = open(sys.argv[1], "rb").read()
# The segments of dressed(), which come first, by their markers.
segments, at = [], 2
while data[at + 1] in (0xE1, 0xE2, 0xED, 0xFE):
    end = at + 2 + int.from_bytes(data[at + 2:at + 4], "big")
    segments.append(data[at:end])
    at = end
for name, marker in zip(sys.argv[2:], (None, 0xE2, 0xE1, 0xFE), strict=True):
    open(name, "wb").write(data[:2] + b"".join(one for one in segments if one[1] == marker) + data[at:])
PYTHON
    profile="the colour profile is dropped: it is not for gray images"
    tags="metadata left out: 2 EXIF tags" left="metadata left out: .pgm has no place for it"
    [ "$(notes plain.jpg o.jpg --gray)" = "" ]
    [ "$(notes exif.jpg o.jpg --gray)" = "$tags" ]
    [ "$(notes comment.jpg o.jpg --gray)" = "" ]
    [ "$(notes colour.jpg o.jpg --gray)" = "$profile" ]
    [ "$(notes dressed.jpg o.jpg --gray)" = "$profile; $tags" ]
    [ "$(notes colour.jpg o.jpg)" = "" ]
    [ "$(notes colour.jpg o.jpg --gray --strip)" = "metadata left out: 1 part of a profile" ] # said once
    [ "$(notes colour.jpg o.jpg --gray --keep=exif)" = "metadata left out: 1 part of a profile" ]
    [ "$(notes plain.jpg o.pgm --gray)" = "" ]
    for name in colour exif comment dressed; do
        [ "$(notes $name.jpg o.pgm --gray)" = "$left" ]
    done
    [ "$(notes dressed.jpg o.pgm --gray --strip)" = "" ]
}

@test "--gray says that it drops the profile; formats without a tag name --auto-orient" {
    dressed in.jpg
    run --separate-stderr lapedge -v --gray in.jpg out.jpg
    [[ $stderr == *"the colour profile is dropped: it is not for gray images"* ]]
    expect 0 "" "lapedge: in.jpg: warning: .ppm has no place for the orientation tag, so this is shown as stored; \
--auto-orient rotates the pixels" in.jpg out.ppm
    rm out.ppm
    expect 0 "" "" --auto-orient in.jpg out.ppm
    for word in --strip --keep=none --keep=icc; do
        expect 0 "" "lapedge: in.jpg: warning: the orientation tag is removed, so this is shown as stored; --auto-orient \
rotates the pixels" $word in.jpg gone.jpg
        expect 0 "" "" --auto-orient $word in.jpg new.jpg
        rm gone.jpg new.jpg
    done
    expect 0 "" "" in.jpg new.jpg
}

@test "stats --mask-border leaves the frame out of the edges" {
    python3 -c 'open("flat.pgm", "wb").write(b"P5\n40 30\n255\n" + b"\x80" * 1200)'
    lapedge stats --json flat.pgm >plain.json
    json plain.json 'o["edges"]["channels"][0]["max"] == 255 and o["mask_border"] == 0'
    for backend in c simd; do
        lapedge stats --json -b $backend --mask-border=2 flat.pgm >masked.json
        json masked.json 'o["edges"]["channels"][0]["max"] == 0 and o["mask_border"] == 2'
        json masked.json 'sum(o["edges"]["channels"][0]["histogram"]) == 36 * 26 and sum(o["input"]["channels"][0]["histogram"]) == 1200'
    done
    lapedge stats --json --border=replicate flat.pgm >replicate.json
    json replicate.json 'o["edges"]["channels"][0]["max"] == 0'
    lapedge stats --json --mask-border=15 flat.pgm >none.json
    json none.json 'o["edges"] is None and o["mask_border"] == 15'
    lapedge stats --mask-border=15 flat.pgm | grep -qx "edges  none: a border of 15 pixels covers all of .*"
    [ "$(lapedge stats --mask-border=15 flat.pgm | grep -c above)" -eq 0 ]
    needs_terminal
    run script -qec "'$LAPEDGE' stats flat.pgm" /dev/null
    [[ $output == *"The frame that the zero border makes is in these edges; see --mask-border."* ]]
    for words in --mask-border=2 --border=replicate -q; do
        run script -qec "'$LAPEDGE' stats $words flat.pgm" /dev/null
        [[ $output != *"The frame that"* ]]
    done
}
