#!/usr/bin/env bats
# JPEGs turned without loss, beside jpegtran of libjpeg-turbo.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr, repo and photo
load common

needs_jpegtran()
{
    command -v jpegtran >/dev/null && command -v djpeg >/dev/null || skip "libjpeg-turbo's programs are not installed"
}

turns=("--rotate=90:-rotate 90" "--rotate=180:-rotate 180" "--rotate=270:-rotate 270" "--flip=h:-flip horizontal"
    "--flip=v:-flip vertical" "--transpose:-transpose" "--transverse:-transverse")

# same ONE OTHER: the same pixels, by another program's decoder
same()
{
    cmp <(djpeg "$1") <(djpeg "$2")
}

# note WORD...: what -v of a transform says about how it was done
note()
{
    lapedge transform -v --no-sync "$@" 2>&1 | sed -n 's/^  note  *//p'
}

@test "each turn has jpegtran's pixels: baseline, progressive, arithmetic, gray, restarts, each sampling" {
    needs_jpegtran
    jpegtran -crop 256x192+0+0 "$photo" >444.jpg
    djpeg 444.jpg | cjpeg -sample 2x2 >baseline.jpg
    djpeg 444.jpg | cjpeg -sample 2x1 >422.jpg
    djpeg 444.jpg | cjpeg -sample 1x2 >440.jpg
    djpeg -grayscale 444.jpg | cjpeg >gray.jpg
    jpegtran -progressive baseline.jpg >progressive.jpg
    jpegtran -arithmetic baseline.jpg >arithmetic.jpg
    jpegtran -restart 3B baseline.jpg >restart.jpg
    for kind in baseline 444 422 440 gray progressive arithmetic restart; do
        for turn in "${turns[@]}"; do
            [ "$(note "${turn%%:*}" $kind.jpg ours.jpg)" = "turned without loss" ]
            # shellcheck disable=SC2086 # words
            jpegtran -perfect ${turn#*:} $kind.jpg >theirs.jpg
            same ours.jpg theirs.jpg
        done
    done
    # with the same coding even the same bytes
    lapedge transform --rotate=90 --strip baseline.jpg ours.jpg
    cmp ours.jpg <(jpegtran -copy none -rotate 90 baseline.jpg)
    lapedge transform --rotate=90 --strip --optimize baseline.jpg ours.jpg
    cmp ours.jpg <(jpegtran -copy none -optimize -rotate 90 baseline.jpg)
    cmp <(lapedge transform --rotate=90 --strip --progressive - - <baseline.jpg) \
        <(jpegtran -copy none -progressive -rotate 90 baseline.jpg)
}

@test "four quarters, and two mirrors, are the photo itself" {
    needs_jpegtran
    cp "$photo" a.jpg
    for _ in 1 2 3 4; do
        lapedge transform --perfect --rotate=90 a.jpg b.jpg
        mv b.jpg a.jpg
    done
    same a.jpg "$photo"
    lapedge transform --flip=v "$photo" v.jpg
    lapedge transform --flip=v v.jpg a.jpg
    same a.jpg "$photo"
}

@test "partial MCUs: by pixels unless asked; --trim as jpegtran; --perfect refuses" {
    needs_jpegtran
    local odd=$repo/samples/chelsea.jpg # 451 x 300
    for turn in "${turns[@]}"; do
        lapedge transform --trim "${turn%%:*}" "$odd" ours.jpg
        # shellcheck disable=SC2086 # words
        jpegtran -trim ${turn#*:} "$odd" >theirs.jpg
        same ours.jpg theirs.jpg
        # shellcheck disable=SC2086 # words
        if jpegtran -perfect ${turn#*:} "$odd" >theirs.jpg 2>/dev/null; then
            lapedge transform --perfect "${turn%%:*}" "$odd" ours.jpg
            same ours.jpg theirs.jpg
        else
            rm -f ours.jpg
            run --separate-stderr lapedge transform --perfect "${turn%%:*}" "$odd" ours.jpg
            [ "$status" -eq 1 ]
            [[ $stderr == "lapedge: "*"chelsea.jpg: unsupported: cannot be turned without loss: 451 x 300 has partial MCUs"* ]]
            nothing_left ours.jpg
            [[ $(note "${turn%%:*}" "$odd" ours.jpg) == "decoded and re-encoded: 451 x 300 has partial MCUs"* ]]
            cmp ours.jpg <(lapedge transform "${turn%%:*}" -Q90 "$odd" -) # no pixel lost at any edge
        fi
    done
    # no more than a block: nothing would be left
    { printf 'P6\n7 20\n255\n' && djpeg "$odd" | tail -c 420; } >tiny.ppm
    lapedge --kernel=identity tiny.ppm tiny.jpg
    run --separate-stderr lapedge transform --trim --flip=h tiny.jpg o.jpg
    [ "$status" -eq 1 ]
    [[ $stderr == *"smaller than one MCU" ]]
    lapedge transform --trim --flip=v tiny.jpg o.jpg
    [ "$(djpeg o.jpg | sed -n 2p)" = "7 16" ]
}

# beyond FILE: 8 x 8 gray pixels with an AC coefficient of 1024, which arithmetic and odd Huffman tables can code
beyond()
{
    python3 - "$1" <<'PY'
import struct, sys
def segment(marker, data):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
def table(kind, lengths, symbols):
    return segment(0xC4, bytes([kind]) + bytes(lengths) + b"\0" * (16 - len(lengths)) + bytes(symbols))
bits = "0" + "0" + "10000000000" + "10" # DC 0; no zeros and eleven bits, 1024; the end of the block
bits += "1" * (-len(bits) % 8)
open(sys.argv[1], "wb").write(b"\xff\xd8" + segment(0xDB, b"\0" + b"\1" * 64) +
    segment(0xC0, struct.pack(">BHHB", 8, 8, 8, 1) + b"\1\x11\0") + table(0, [1], [0]) +
    table(0x10, [1, 1], [0x0B, 0]) + segment(0xDA, b"\1\1\0\0\x3f\0") +
    int(bits, 2).to_bytes(len(bits) // 8, "big") + b"\xff\xd9")
PY
}

# stray IN OUT: with three bytes that mean nothing before the quantisation tables
stray()
{
    python3 -c 'import sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"\xff\xdb")
open(sys.argv[2], "wb").write(data[:at] + b"UUU" + data[at:])' "$1" "$2"
}

@test "a harmless warning costs no photo, whatever the sampling" {
    needs_jpegtran
    local sampling edge
    mkdir in
    for sampling in 1x1 2x2 4x1 4x2 3x1 1x3; do
        jpegtran -crop 288x192+0+0 "$photo" | djpeg | cjpeg -sample $sampling >plain.jpg
        stray plain.jpg in/$sampling.jpg
        for edge in "" --trim --perfect; do
            cp "$photo" o.jpg
            # shellcheck disable=SC2086 # a word or none
            run --separate-stderr lapedge transform --rotate=90 --strip $edge in/$sampling.jpg o.jpg
            [ "$status" -eq 0 ]
            [[ $stderr == *"warning: 3 extraneous bytes before marker 0xdb" ]]
            cmp o.jpg <(jpegtran -copy none -perfect -rotate 90 plain.jpg)
        done
    done
    lapedge transform --rotate=90 --strip -q in out
    run --separate-stderr lapedge transform --rotate=90 --strip in out
    [[ $stderr == "0 done, 6 up to date"* ]]
    for sampling in 1x1 2x2 4x1 4x2 3x1 1x3; do cmp out/$sampling.jpg <(jpegtran -copy none -rotate 90 in/$sampling.jpg 2>&-); done
}

@test "memory that runs out after a warning is a failure, and the older output stays" {
    [ -z "${SANITIZED:-}${EMULATOR:-}" ] || skip "a sanitizer and an emulator need all addresses"
    local limit failed=0 done=0
    stray "$photo" in.jpg
    lapedge transform --trim --rotate=90 -q in.jpg whole.jpg
    for ((limit = 8000; limit <= 136000; limit += 4000)); do
        cp "$photo" o.jpg
        if (ulimit -v $limit && exec "$LAPEDGE" transform --threads=1 --trim --rotate=90 in.jpg o.jpg) 2>said; then
            cmp o.jpg whole.jpg
            done=$((done + 1))
        else
            cmp o.jpg "$photo"
            failed=$((failed + 1))
        fi
    done
    [ $failed -gt 0 ]
    [ $done -gt 0 ]
}

@test "coefficients that no Huffman table can hold go by pixels, or nothing is written, into a pipe neither" {
    needs_jpegtran
    beyond in.jpg
    for more in "" --optimize --progressive; do
        # shellcheck disable=SC2086 # a word or none
        said=$(note --rotate=90 $more in.jpg o.jpg)
        # --optimize and --progressive are libjpeg-turbo's, which the note adds; nothing else may follow.
        [ "${said%%; encoded by turbo, not by *}" = "decoded and re-encoded: an AC coefficient is beyond 1023" ]
        [ -n "$more" ] || [[ "$said" != *";"* ]]
        djpeg -strict o.jpg >/dev/null
        # shellcheck disable=SC2086
        cmp o.jpg <(lapedge transform --rotate=90 $more -Q90 in.jpg -)
        # shellcheck disable=SC2086
        cmp o.jpg <(lapedge transform --rotate=90 $more - - <in.jpg) # which cannot be read twice
        for edge in --trim --perfect; do
            # shellcheck disable=SC2086
            expect 1 "" "lapedge: in.jpg: unsupported: cannot be turned without loss: an AC coefficient is beyond 1023" \
                transform --rotate=90 $more $edge in.jpg none.jpg
            nothing_left none.jpg
            # shellcheck disable=SC2086
            lapedge transform --rotate=90 $more $edge in.jpg - >piped 2>said || true
            [ ! -s piped ]
            [ -s said ]
        done
    done
}

@test "three samples to one are trimmed like others; a refusal is not noted as re-encoding" {
    needs_jpegtran
    djpeg "$repo/samples/chelsea.jpg" | cjpeg -sample 3x1 >in.jpg # 451 x 300: MCUs of 24 x 8
    local turn
    for turn in "${turns[@]}"; do
        [ "$(note --trim --strip "${turn%%:*}" in.jpg o.jpg)" = "turned without loss, partial MCUs left out" ] ||
            [ "$(note --trim --strip "${turn%%:*}" in.jpg o.jpg)" = "turned without loss" ]
        # shellcheck disable=SC2086 # words
        cmp o.jpg <(jpegtran -copy none -trim ${turn#*:} in.jpg)
    done
    run --separate-stderr lapedge transform -v --perfect --flip=h in.jpg none.jpg
    [ "$status" -eq 1 ]
    [[ $output$stderr != *"re-encoded"* ]]
    nothing_left none.jpg
}

@test "a limit on memory refuses, and changes no byte" {
    local limit folder
    mkdir in
    cp "$photo" in
    lapedge transform --rotate=90 "$photo" whole.jpg
    for limit in 1M 2M 3M 5M 10M; do
        rm -rf o.jpg folder
        run --separate-stderr lapedge transform --rotate=90 --max-memory=$limit "$photo" o.jpg
        lapedge transform --rotate=90 --max-memory=$limit -q in folder 2>/dev/null || true
        if [ "$status" -eq 0 ]; then
            cmp o.jpg whole.jpg
            cmp folder/coffee.jpg whole.jpg
        else
            [ "$status" -eq 5 ]
            [[ $stderr == *" MB of memory, more than the limit of ${limit%M}.0 MB (--max-memory)" ]]
            nothing_left o.jpg
            [ ! -e folder/coffee.jpg ]
        fi
    done
    [ "$status" -eq 0 ]
}

@test "what asks for re-encoding gets it, and -v says so; --perfect beside it is refused" {
    needs_jpegtran
    [ "$(note --flip=h -Q80 "$photo" o.jpg | cut -d';' -f1)" = "decoded and re-encoded, with a quality of 80" ]
    while read -r option why; do
        [[ $(note --flip=h "$option" "$photo" o.jpg) == "decoded and re-encoded: $why requested"* ]]
        expect 2 "" "lapedge: $photo: the transform must be lossless, but $why requested" \
            transform --perfect --flip=h "$option" "$photo" none.jpg
    done <<<"--restart=on restart markers are"
    [[ $(note --flip=h --subsampling=422 "$photo" o.jpg) == "decoded and re-encoded: another subsampling is requested"* ]]
    expect 1 "" "lapedge: $photo: unsupported: cannot be turned without loss: another subsampling is requested" \
        transform --perfect --flip=h --subsampling=422 "$photo" none.jpg
    [[ $(note --flip=h "$photo" o.png) == "decoded and re-encoded: the output is not a JPEG"* ]]
    [[ $(note --flip=h o.png o.jpg) == "decoded and re-encoded: the input is not a JPEG"* ]]
    expect 1 "" "lapedge: o.png: unsupported: cannot be turned without loss: the input is not a JPEG" \
        transform --trim --flip=h o.png none.jpg
    expect 2 "" "lapedge: --trim applies only to JPEG output, and the output is .png" transform --trim --flip=h "$photo" none.png
    expect 2 "" "lapedge: --trim keeps the coded data; leave out --quality" transform --trim -Q80 --flip=h "$photo" none.jpg
    expect 2 "" "lapedge: --trim and --perfect contradict each other" transform --trim --perfect --flip=h "$photo" none.jpg
    expect 5 "" "lapedge: $photo: limit: 600x400 is 0.24 million pixels, more than the limit of 0.1 million (--max-pixels)" \
        transform --perfect --max-pixels=100K --flip=h "$photo" none.jpg
    run --separate-stderr lapedge transform --perfect --max-memory=1M --flip=h "$photo" none.jpg
    [ "$status" -eq 5 ]
    expect 5 "" "lapedge: $photo: timeout: over the time limit of 1e-09 s (--timeout)" transform --timeout=1e-9 --flip=h "$photo" none.jpg
    nothing_left none.jpg
}

@test "the subsampling that a file has already costs no loss" {
    needs_jpegtran
    local name sampling turn
    for name in 444:1x1 422:2x1 420:2x2; do
        djpeg <(jpegtran -crop 256x192+0+0 "$photo") | cjpeg -sample "${name#*:}" >in.jpg
        for turn in --flip=h --rotate=180 --rotate=90; do
            lapedge transform $turn in.jpg without.jpg
            for sampling in 444 422 420; do
                if [ "$sampling" != "${name%:*}" ] || [ "$sampling$turn" = 422--rotate=90 ]; then
                    [[ $(note $turn --subsampling=$sampling in.jpg o.jpg) == "decoded and re-encoded: another subsampling is requested"* ]]
                else
                    [ "$(note --perfect $turn --subsampling=$sampling in.jpg o.jpg)" = "turned without loss" ]
                    cmp o.jpg without.jpg
                fi
            done
        done
    done
    # a quarter turn makes 4:2:2 of 4:4:0; a gray file has no subsampling
    djpeg <(jpegtran -crop 256x192+0+0 "$photo") | cjpeg -sample 1x2 >in.jpg
    [ "$(note --rotate=90 --subsampling=422 in.jpg o.jpg)" = "turned without loss" ]
    djpeg -grayscale in.jpg | cjpeg >gray.jpg
    [ "$(note --rotate=90 --subsampling=420 gray.jpg o.jpg)" = "turned without loss" ]
}

# tagged IN OUT: with an EXIF segment that says 6, and the profile of a press
tagged()
{
    python3 - "$1" "$2" <<'PY'
import struct, sys
photo = open(sys.argv[1], "rb").read()
def segment(marker, data):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
exif = b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x112, 3, 1, 6, 0, 0)
profile = bytearray(132)
profile[0:4] = struct.pack(">I", 132)
profile[16:20] = b"CMYK"
open(sys.argv[2], "wb").write(photo[:2] + segment(0xE1, exif) +
                              segment(0xE2, b"ICC_PROFILE\0\x01\x01" + profile) + photo[2:])
PY
}

@test "the tag's turn is trimmed like any other; the report has the size of what is written" {
    needs_jpegtran
    tagged "$repo/samples/chelsea.jpg" in.jpg # 451 x 300, 4:4:4
    [[ $(note --auto-orient in.jpg o.jpg) == "decoded and re-encoded: 451 x 300 has partial MCUs"* ]]
    lapedge transform --json --trim --auto-orient in.jpg o.jpg >o.json
    json o.json 'o["width"] == 296 and o["height"] == 451'
    jpegtran -trim -rotate 90 in.jpg >theirs.jpg
    same o.jpg theirs.jpg
}

@test "coded data keeps any profile; pixels keep one that fits them" {
    needs_jpegtran
    jpegtran -crop 256x192+0+0 "$photo" >whole.jpg
    tagged whole.jpg in.jpg
    lapedge transform --flip=h in.jpg ours.jpg
    lapedge info --json ours.jpg >ours.json
    json ours.json 'set(o["metadata"]) == {"EXIF", "ICC"}'
    run --separate-stderr lapedge transform --flip=h -v -Q90 in.jpg pixels.jpg
    [[ $stderr == *"the colour profile is dropped"* ]]
    lapedge info --json pixels.jpg >pixels.json
    json pixels.json 'set(o["metadata"]) == {"EXIF"}'
}

@test "scans are counted although no pixel is decoded" {
    needs_jpegtran
    jpegtran -crop 256x192+0+0 -progressive "$photo" >in.jpg # 10 scans
    lapedge transform --flip=v --max-scans=10 in.jpg o.jpg
    rm o.jpg
    expect 5 "" "lapedge: in.jpg: limit: more scans than the limit of 9 (--max-scans)" \
        transform --flip=v --max-scans=9 in.jpg o.jpg
    nothing_left o.jpg
}

@test "metadata: the tag is reset by --auto-orient alone, colours and density are kept and turned" {
    needs_jpegtran
    command -v convert >/dev/null || skip "ImageMagick is not installed"
    djpeg "$photo" | convert - -density 72x144 -units PixelsPerInch -set comment 'a comment' plain.jpg
    python3 - <<'PY'
import struct
photo = open("plain.jpg", "rb").read()
def segment(marker, data):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
exif = b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x112, 3, 1, 6, 0, 0)
profile = bytearray(132)
profile[0:4] = struct.pack(">I", 132)
profile[16:20] = b"RGB "
icc = b"ICC_PROFILE\0\x01\x01" + profile
open("in.jpg", "wb").write(photo[:20] + segment(0xE1, exif) + segment(0xE2, icc) + photo[20:])
PY
    identify -format '%[EXIF:Orientation] %x %y %c\n' in.jpg | grep -qx '6 72 144 a comment'
    [ "$(note --rotate=180 in.jpg kept.jpg)" = "turned without loss" ]
    identify -format '%[EXIF:Orientation] %x %y %c\n' kept.jpg | grep -qx '6 72 144 a comment'
    [ "$(note --auto-orient in.jpg upright.jpg)" = "turned without loss" ]
    identify -format '%[EXIF:Orientation] %x %y %c %wx%h\n' upright.jpg | grep -qx '1 144 72 a comment 400x600'
    same upright.jpg <(jpegtran -rotate 90 in.jpg)
    [ "$(note --auto-orient upright.jpg again.jpg)" = "turned without loss" ] # nothing is left to turn
    same upright.jpg again.jpg
    for file in kept upright; do
        lapedge info --json $file.jpg >$file.json
        json $file.json 'set(o["metadata"]) == {"EXIF", "ICC", "comment"}'
    done
    lapedge transform --flip=h --keep=icc in.jpg icc.jpg
    lapedge info --json icc.jpg >icc.json
    json icc.json 'set(o["metadata"]) == {"ICC"}'
}

@test "damage is judged as by pixels: the same message, exit code and nothing left" {
    needs_jpegtran
    jpegtran -crop 256x192+0+0 "$photo" >whole.jpg
    jpegtran -progressive whole.jpg >progressive.jpg
    size=$(stat -c %s whole.jpg)
    head -c $((size / 2)) whole.jpg >cut.jpg
    head -c $((size - 2)) whole.jpg >endless.jpg
    head -c 100 whole.jpg >head.jpg
    { head -c $((size / 2)) whole.jpg && head -c 40 /dev/zero && tail -c +$((size / 2 + 41)) whole.jpg; } >zeros.jpg
    head -c 9000 progressive.jpg >scans.jpg
    { head -c 9000 progressive.jpg && printf '\377\331'; } >missing.jpg
    for file in cut endless head zeros scans missing; do
        for more in "" --fail-on=none --fail-on=warning; do
            # shellcheck disable=SC2086 # a word or none
            run --separate-stderr lapedge transform -Q90 --flip=v $more $file.jpg pixels.jpg
            local expected=$status said=$stderr
            # shellcheck disable=SC2086
            run --separate-stderr lapedge transform --flip=v $more $file.jpg ours.jpg
            [ "$status" -eq "$expected" ]
            [ "$stderr" = "$said" ]
            [ "$status" -eq 0 ] || nothing_left ours.jpg
            rm -f pixels.jpg ours.jpg
        done
    done
    [ "$(note --flip=v endless.jpg ours.jpg)" = "turned without loss" ]
    same ours.jpg <(jpegtran -flip vertical whole.jpg)
}

@test "folders: the same files as one by one; other ways to turn are other settings" {
    needs_jpegtran
    mkdir -p in/deep
    cp "$photo" in/a.jpg
    cp "$repo/samples/chelsea.jpg" in/deep/b.jpg
    run --separate-stderr lapedge transform --rotate=90 --log=log.jsonl -j2 in out
    [ "$status" -eq 0 ]
    [[ $stderr == "lapedge: note: 1 JPEG was re-encoded, because a lossless transformation is impossible (in/deep/b.jpg); --trim cuts to whole MCUs, --perfect refuses, -v says why"$'\n'"2 done"* ]]
    grep a.jpg log.jsonl >a.json
    json a.json 'o["note"] == "turned without loss"'
    head -n 1 log.jsonl >first.json
    json first.json 'o["settings"]["lossless"] == "auto"'
    grep b.jpg log.jsonl >b.json
    json b.json 'o["note"].startswith("decoded and re-encoded: 451 x 300") and o["recoded"] is True'
    lapedge transform -q --json --rotate=90 in other >run.json
    json run.json 'o["recoded"] == 1 and o["ok"] == 2'
    for file in a.jpg deep/b.jpg; do cmp out/$file <(lapedge transform --rotate=90 in/$file -); done
    run --separate-stderr lapedge transform --rotate=90 in out
    [[ $stderr == "0 done, 2 up to date"* ]]
    run --separate-stderr lapedge transform --rotate=90 --trim in out
    [[ $stderr == "2 done"* ]]
    run --separate-stderr lapedge transform --rotate=90 --perfect in out
    [ "$status" -eq 1 ]
    [[ $stderr == *"1 done, 1 failed (1 unsupported)"* ]]
    run --separate-stderr lapedge transform --rotate=90 -Q90 in out
    [[ $stderr == "2 done"* ]]
    lapedge transform --rotate=90 --shard=0/2 --no-sync in halves
    lapedge transform --rotate=90 --shard=1/2 --no-sync in halves
    [ "$(find halves -name '*.jpg' | wc -l)" -eq 2 ]
}

@test "a turn that is not lossless is told without -v, unless an option asks for re-encoding" {
    local odd=$repo/samples/chelsea.jpg
    expect 0 "" "lapedge: note: $odd: decoded and re-encoded: 451 x 300 has partial MCUs; trimmed to 451 x 296 it would not; --trim and --perfect never re-encode" \
        transform --rotate=90 "$odd" o.jpg
    expect 0 "" "" -q transform --rotate=90 "$odd" o.jpg
    run --separate-stderr lapedge transform --json --rotate=90 "$odd" o.jpg
    json <(echo "$output") 'o["recoded"] is True and o["status"] == "ok"'
    expect 0 "" "" -f transform --rotate=90 "$photo" o.jpg
    expect 0 "" "" -f transform --rotate=90 --trim "$odd" o.jpg
    expect 0 "" "" -f transform --rotate=90 --quality=80 "$odd" o.jpg
    expect 0 "" "" -f transform --rotate=90 --subsampling=420 "$odd" o.jpg
    expect 0 "" "" transform --rotate=90 "$odd" o.png
    expect 0 "" "" transform --rotate=90 o.png p.jpg
}

@test "a folder run that cannot turn a photo without loss names the photo" {
    mkdir in
    pgm 20 10 a.pgm
    lapedge --kernel=identity a.pgm in/a.png
    run --separate-stderr lapedge transform --perfect --rotate=90 --ext=png in out
    [ "$status" -eq 4 ]
    [[ $stderr == *"lapedge: in/a.png: the transform must be lossless, but the output is not a JPEG"* ]]
}
