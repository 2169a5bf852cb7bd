#!/usr/bin/env bats
# Turning pictures, against programs that are not ours.
load common

@test "each turn equals ImageMagick's" {
    command -v convert >/dev/null || skip "ImageMagick is not installed"
    lapedge "$photo" /dev/stdout --kernel=identity --format=ppm >in.ppm
    check() {
        lapedge transform "$1" in.ppm ours.ppm
        # shellcheck disable=SC2086 # words
        convert in.ppm $2 -depth 8 theirs.ppm
        cmp ours.ppm theirs.ppm
    }
    check --flip=h -flop
    check --rotate=180 "-rotate 180"
    check --flip=v -flip
    check --transpose -transpose
    check --rotate=90 "-rotate 90"
    check --transverse -transverse
    check --rotate=270 "-rotate 270"
}

@test "a picture turned four times is itself again" {
    lapedge transform --flip=h "$photo" a.ppm
    cp a.ppm b.ppm
    for _ in 1 2 3 4; do
        lapedge transform --rotate 90 b.ppm c.ppm
        mv c.ppm b.ppm
    done
    cmp a.ppm b.ppm
}

@test "one turn at a time" {
    expect 2 "" "lapedge: --rotate is given twice; use one at a time" transform --rotate=90 --rotate=180 "$photo" o.jpg
    expect 2 "" "lapedge: --flip is given twice; use one at a time" transform --flip=h --flip=v "$photo" o.jpg
    [ ! -e o.jpg ]
}

@test "a quarter turn swaps horizontal and vertical subsampling" {
    lapedge --kernel=identity --subsampling=422 "$photo" across.jpg
    for turn in --rotate=90 --transpose --rotate=180; do
        lapedge transform -Q90 $turn across.jpg turned.jpg
        lapedge info --json turned.jpg >o.json
        [ $turn = --rotate=180 ] && factors='[2, 1]' || factors='[1, 2]'
        json o.json "o['sampling'] == [$factors, [1, 1], [1, 1]]"
    done
}

@test "filter then turn equals turn then filter, for symmetric kernels" {
    for kernel in laplace5 laplace3-4 laplace3-8 log5 npp5 opencv5; do
        for turn in --rotate=90 --flip=v --transverse; do
            lapedge --kernel=$kernel --border=reflect101 "$photo" edges.ppm
            lapedge transform $turn edges.ppm one.ppm
            lapedge transform $turn "$photo" turned.ppm
            lapedge --kernel=$kernel --border=reflect101 turned.ppm two.ppm
            cmp one.ppm two.ppm
        done
    done
}

# oriented N FILE: the photo with an EXIF segment that says N
oriented()
{
    python3 - "$photo" "$1" "$2" <<'END'
import struct, sys
photo = open(sys.argv[1], "rb").read()
exif = b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x112, 3, 1, int(sys.argv[2]), 0, 0)
open(sys.argv[3], "wb").write(photo[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + photo[2:])
END
}

# tag FILE: what its EXIF segment says
tag()
{
    python3 - "$1" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"Exif\0\0") + 6
print(struct.unpack("<H", data[at + 18:at + 20])[0])
END
}

@test "all eight orientations come upright, and the tag is reset" {
    turns=(x --auto-orient --flip=h --rotate=180 --flip=v --transpose --rotate=90 --transverse --rotate=270)
    lapedge --kernel=identity "$photo" 1.ppm
    for i in 2 3 4 5 6 7 8; do lapedge transform "${turns[i]}" "$photo" $i.ppm; done
    for i in 1 2 3 4 5 6 7 8; do
        oriented $i in.jpg
        [ "$(tag in.jpg)" -eq $i ]
        lapedge transform --auto-orient in.jpg ours.ppm
        cmp ours.ppm $i.ppm
        lapedge transform --auto-orient in.jpg ours.jpg
        [ "$(tag ours.jpg)" -eq 1 ]
        # a second time nothing is left to turn
        lapedge transform --auto-orient ours.jpg again.ppm
        lapedge --kernel=identity ours.jpg plain.ppm
        cmp again.ppm plain.ppm
    done
}

@test "all eight orientations of a corpus come as another program turns them" {
    [ -n "${CORPUS:-}" ] || skip "LAPEDGE_CORPUS is not set"
    command -v convert >/dev/null || skip "ImageMagick is not installed"
    for i in 1 2 3 4 5 6 7 8; do
        file=$(find "$CORPUS/exif-orientation-examples" -name "*andscape_$i.jpg")
        lapedge transform --auto-orient "$file" ours.ppm
        convert "$file" -auto-orient -depth 8 theirs.ppm
        cmp ours.ppm theirs.ppm
    done
}

@test "pixels stay as stored and the tag stays, unless --auto-orient is given" {
    oriented 6 in.jpg
    lapedge in.jpg kept.jpg
    [ "$(tag kept.jpg)" -eq 6 ]
    lapedge kept.jpg --kernel=identity kept.ppm
    [ "$(head -n 2 kept.ppm | tail -n 1)" = "600 400" ]
    lapedge --auto-orient in.jpg turned.jpg
    [ "$(tag turned.jpg)" -eq 1 ]
    lapedge turned.jpg --kernel=identity turned.ppm
    [ "$(head -n 2 turned.ppm | tail -n 1)" = "400 600" ]
}

@test "a turn is of the stored pixels, and a warning says what viewers see instead; with --auto-orient it is what they see" {
    python3 -c "import PIL" || skip "Pillow is not installed"
    for i in 1 2 3 4 5 6 7 8; do
        oriented $i in$i.jpg
        for turn in --flip=h --flip=v --rotate=90 --rotate=270 --transpose --transverse; do
            lapedge transform $turn in$i.jpg "stored$i$turn.jpg" 2>"stored$i$turn.txt"
            lapedge transform --auto-orient $turn in$i.jpg "upright$i$turn.jpg" 2>"upright$i$turn.txt"
        done
    done
    python3 - <<'END'
from PIL import Image, ImageOps
ASKED = {"--flip=h": Image.FLIP_LEFT_RIGHT, "--flip=v": Image.FLIP_TOP_BOTTOM, "--rotate=90": Image.ROTATE_270,
         "--rotate=270": Image.ROTATE_90, "--transpose": Image.TRANSPOSE, "--transverse": Image.TRANSVERSE}
SEEN = {"mirrored left to right": "--flip=h", "mirrored top to bottom": "--flip=v", "rotated by 90 degrees": "--rotate=90",
        "rotated by 270 degrees": "--rotate=270", "transposed": "--transpose",
        "transposed along the other diagonal": "--transverse"}
ATTENTION = 0
def near(a, b):
    small = [list(image.convert("L").resize((24, 24)).getdata()) for image in (a, b)]
    return a.size == b.size and sum(abs(x - y) for x, y in zip(*small)) < 3 * 24 * 24
def seen(name):
    return ImageOps.exif_transpose(Image.open(name))
for i in range(1, 9):
    for turn, method in ASKED.items():
        before = seen("in%d.jpg" % i)
        assert near(seen("upright%d%s.jpg" % (i, turn)), before.transpose(method)), (i, turn)
        assert open("upright%d%s.txt" % (i, turn)).read() == ""
        said = open("stored%d%s.txt" % (i, turn)).read()
        after = seen("stored%d%s.jpg" % (i, turn))
        if said:
            what = said.split("and see this ")[1].split(";")[0]
            assert SEEN[what] != turn and said.endswith("; --auto-orient rotates the pixels\n"), said
            assert near(after, before.transpose(ASKED[SEEN[what]])), (i, turn, said)
            ATTENTION += 1
        else:
            assert near(after, before.transpose(method)), (i, turn)
assert ATTENTION == 24, ATTENTION  # of 48; the others are seen as asked
END
    expect 0 "" "lapedge: in6.jpg: warning: viewers apply the orientation tag, and see this mirrored top to bottom; \
--auto-orient rotates the pixels" transform --fail-on=warning --flip=h in6.jpg new.jpg
}

@test "hints name no option that transform refuses" {
    cp "$photo" a.jpg
    expect 2 "" "lapedge: a.jpg: is the input file itself; name another file" transform --flip=h a.jpg a.jpg
    expect 2 "" "lapedge: a.jpg: a .pgm holds one channel: write a .ppm" transform --flip=h a.jpg o.pgm
    expect 2 "" "lapedge: a.jpg: a .pgm holds one channel: give --gray, or write a .ppm" a.jpg o.pgm
    expect 2 "" "lapedge: a.jpg: would be its own output; name another folder" transform --flip=h a.jpg ./
    expect 2 "" "lapedge: OUT is missing: lapedge transform a.jpg OUT" transform --flip=h a.jpg
}

@test "two turns, or none, are refused" {
    expect 2 "" "lapedge: --rotate and --transpose both transform the image; use one at a time" \
        transform --rotate=90 --transpose "$photo" o.jpg
    expect 2 "" "lapedge: --flip and --transverse both transform the image; use one at a time" \
        transform --transverse --flip=h "$photo" o.jpg
    expect 2 "" "lapedge: --transpose and --transverse both transform the image; use one at a time" \
        transform --transverse --transpose "$photo" o.jpg
    expect 2 "" "lapedge: nothing to do: name --rotate, --flip, --transpose, --transverse or --auto-orient" \
        transform "$photo" o.jpg
    expect 2 "" 'lapedge: --rotate: "45" is not one of 90, 180, 270' transform --rotate=45 "$photo" o.jpg
    [ ! -e o.jpg ]
}

@test "filter options are refused by name" {
    run --separate-stderr lapedge transform --rotate=90 --kernel=log5 "$photo" o.jpg
    [ "$status" -eq 2 ]
    [[ $stderr == *--kernel* ]]
}
