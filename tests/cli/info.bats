# info, doctor, and the completions of three shells.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

@test "info: the structure of a JPEG, without decoding" {
    lapedge info --json "$photo" >o.json
    json o.json 'o["format"] == "jpeg" and o["width"] == 600 and o["height"] == 400 and o["components"] == 3'
    json o.json 'o["frame"] == "baseline" and o["scans"] == 1 and o["restart_interval"] == 0 and not o["arithmetic"]'
    lapedge --subsampling=420 --restart=on "$photo" a.jpg
    lapedge info --json a.jpg >a.json
    json a.json 'o["sampling"] == [[2, 2], [1, 1], [1, 1]] and o["restart_interval"] > 0 and o["decodes_in_parallel"]'
    json a.json 'o["quantization_tables"] == 2 and o["huffman_tables"] == 4'
    lapedge --progressive "$photo" p.jpg
    lapedge info --json p.jpg >p.json
    json p.json 'o["frame"] == "progressive" and o["scans"] == 10 and o["decodes_in_parallel"]'
    lapedge info p.jpg | grep -q "^  scans        10; scan [0-9]* has [0-9]* % of the bytes"
    # Without its last scan it is libjpeg-turbo's.
    python3 -c 'd = open("p.jpg", "rb").read(); open("less.jpg", "wb").write(d[:d.rindex(b"\xff\xda")] + b"\xff\xd9")'
    lapedge info --json less.jpg >p.json
    json p.json 'o["frame"] == "progressive" and o["scans"] == 9 and not o["decodes_in_parallel"]'
    lapedge info a.jpg >text
    grep -q "4:2:0" text
    grep -q "baseline, Huffman coding" text
    # A JPEG that cannot be decoded still has a structure; a file of another kind has none.
    head -c 3000 a.jpg >cut.jpg
    lapedge info cut.jpg >text
    pgm 7 5 g.pgm
    lapedge info g.pgm | grep -q "7 x 5, 1 component$"
    expect 1 "" "lapedge: none.jpg: no such file" info none.jpg
    expect 2 "" "lapedge: FILE is missing: lapedge info FILE" info
}

@test "info: every kind of metadata, tables and frame" {
    python3 - "$photo" <<'PYTHON'
import sys
jpeg = open(sys.argv[1], "rb").read()
def segment(marker, body):
    return bytes([255, marker]) + (len(body) + 2).to_bytes(2, "big") + body
turned = b"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
kinds = {0xE1: [turned, b"http://ns.adobe.com/xap/1.0/\0<x/>", b"http", b"other"], 0xE2: [b"ICC_PROFILE\0\1\1" + bytes(40)],
         0xED: [b"Photoshop 3.0\x008BIM" + bytes(8)], 0xFE: [b"one", b"two"]}
added = b"".join(segment(marker, body) for marker, bodies in kinds.items() for body in bodies)
open("all.jpg", "wb").write(jpeg[:2] + added + jpeg[2:])
dht, sos = jpeg.index(b"\xff\xc4"), jpeg.index(b"\xff\xda")
# Tables that lie about their length, of 16 bits, and cut; a segment that is longer than the file.
open("wide.jpg", "wb").write(jpeg[:2] + segment(0xDB, b"\x10" + b"\0\1" * 64) + segment(0xDB, b"\1\2") + jpeg[2:])
open("short.jpg", "wb").write(jpeg[:sos] + segment(0xC4, b"\0\1") + b"\xff\xc4\0\1" + jpeg[sos:])
open("long.jpg", "wb").write(jpeg[:sos] + jpeg[sos:sos + 20] + b"\xff\xc4\xff\xff")
PYTHON
    lapedge info --json all.jpg >all.json
    json all.json 'o["orientation"] == 6 and o["metadata"]["comment"] == {"segments": 2, "bytes": 6}'
    json all.json 'set(o["metadata"]) == {"EXIF", "XMP", "ICC", "IPTC", "comment"}'
    lapedge info all.jpg >text
    grep -q "orientation  6 (EXIF; --auto-orient rotates it)" text
    lapedge info --json wide.jpg >wide.json
    json wide.json 'o["quantization_tables"] == 3'
    expect 1 "" "lapedge: short.jpg: damaged: a segment's length is wrong" info short.jpg
    lapedge info --json long.jpg >long.json
    json long.json 'o["huffman_tables"] == 4'
    # A PNG has them, too.
    lapedge -q all.jpg all.png
    lapedge info --json all.png >png.json
    json png.json 'o["format"] == "png" and o["orientation"] == 6 and "EXIF" in o["metadata"]'
}

@test "info: all that it says, of a JPEG and of other files" {
    pgm 7 5 g.pgm
    lapedge --kernel=identity --restart=off g.pgm g.jpg
    # said WORDS: without the backend of this machine
    said() { lapedge info "$@" | sed -E 's/(would run +|"backend": ")[a-z0-9-]+/\1B/'; }
    # document FILE FORMAT FRAME SAMPLING QUANTIZATION HUFFMAN SCANS PARALLEL
    document()
    {
        local bytes
        bytes=$([ "$1" = - ] && echo 0 || stat -c %s "$1")
        python3 -c 'import json, sys; print(json.dumps(json.loads(sys.stdin.read()), indent=2))' <<<"{
            \"schema\": \"lapedge.info/1\", \"input\": \"$1\", \"format\": \"$2\", \"bytes\": $bytes, \"width\": 7,
            \"height\": 5, \"components\": 1, \"frame\": $3, \"arithmetic\": false, \"sampling\": $4,
            \"quantization_tables\": $5, \"huffman_tables\": $6, \"restart_interval\": 0, \"scans\": $7, \"orientation\": 1,
            \"metadata\": {}, \"left_out\": [], \"decodes_in_parallel\": $8, \"backend\": \"B\"}"
    }
    diff <(said --json g.jpg) <(document g.jpg jpeg '"baseline"' '[[1, 1]]' 1 2 1 true)
    diff <(said --json g.pgm) <(document g.pgm pnm null '[]' 0 0 0 false)
    diff <(said --json - <g.pgm) <(document g.pgm pnm null '[]' 0 0 0 false | sed 's/"g.pgm"/"-"/')
    diff <(cat g.pgm | said --json -) <(document - pnm null '[]' 0 0 0 false)
    diff <(said g.jpg) - <<TEXT
g.jpg: jpeg, $(stat -c %s g.jpg) bytes
  size         7 x 5, 1 component
  frame        baseline, Huffman coding
  sampling     1x1
  tables       1 quantization, 2 Huffman
  restart      none
  scans        1
  orientation  1
  metadata     none
  would run    B; can be decoded by several threads
TEXT
    diff <(said g.pgm) - <<TEXT
g.pgm: pnm, $(stat -c %s g.pgm) bytes
  size         7 x 5, 1 component
  orientation  1
  metadata     none
  would run    B
TEXT
    lapedge --kernel=identity g.pgm g.png 2>stderr || skip "this build writes no PNG"
    diff <(said --json g.png) <(document g.png png null '[]' 0 0 0 false)
}

@test "info is safe with any bytes" {
    python3 - "$photo" <<'PYTHON'
import random, sys
data = open(sys.argv[1], "rb").read()[:4000]
for i in range(24):
    random.seed(i)
    odd = bytearray(data)
    for _ in range(20):
        odd[random.randrange(2, len(odd))] = random.randrange(256)
    open("odd%d.jpg" % i, "wb").write(odd if i % 2 else data[:i * 37 + 1])
PYTHON
    for i in $(seq 0 23); do
        run lapedge info "odd$i.jpg"
        [ "$status" -le 5 ]
    done
}

@test "doctor: 0 if everything that was built can run" {
    run --separate-stderr lapedge doctor --json
    printf '%s\n' "$output" >o.json
    json o.json "o['healthy'] == ($status == 0) and $status in (0, 3) and o['threads'] >= 1"
    run --separate-stderr lapedge doctor
    [[ $output == *"machine"*"memory"*"backend"*"auto -> "*"device"*"verdict"* ]]
    # Without any vector unit simd cannot run, which was built.
    if [[ $(uname -m) == x86_64 && -z ${EMULATOR:-} ]]; then
        run env LAP_CPU_MASK=sse41,avx2,avx512,neon "$LAPEDGE" doctor
        [ "$status" -eq 3 ]
        [[ $output == *"filter simd cannot run: SSE4.1 is hidden by LAP_CPU_MASK"* ]]
        run env LAP_CPU_MASK=avx512 "$LAPEDGE" doctor
        [[ $output == *"everything that was built can run, except what LAP_CPU_MASK hides"* || # without a device:
            $output == *"verdict"*"not everything that was built can run"* ]]
        LAP_CPU_MASK=sse41,avx2,avx512 expect 3 "" \
            "lapedge: backend 'simd' cannot run here: SSE4.1 is hidden by LAP_CPU_MASK" --backend=simd "$photo" o.jpg
    fi
}

@test "an unknown word in LAP_CPU_MASK is named" {
    LAP_CPU_MASK=avx2,avx-512 expect 0 "" "lapedge: warning: LAP_CPU_MASK: \"avx-512\" is not known; use sse41, \
avx2, avx512, neon, or a feature such as avx512vnni" "$photo" o.jpg
    LAP_CPU_MASK=avx-512 expect 0 "" "" -q "$photo" o.jpg
    mkdir new
    LAP_CPU_MASK=,avx2,bmi2,scatter,avx512vbmi2,neon, expect 0 "" "" "$photo" new/o.jpg
}

@test "zsh and fish complete from the same table" {
    lapedge __describe stats | grep -q $'^--mask-border=\t'
    if command -v zsh >/dev/null; then zsh -n "$repo/tools/release/completion/_lapedge"; fi
    if command -v fish >/dev/null; then fish -n "$repo/tools/release/completion/lapedge.fish"; fi
    for file in _lapedge lapedge.fish lapedge.bash; do
        grep -q '__complete' "$repo/tools/release/completion/$file"
    done
}

@test "what follows the end of a JPEG is listed, and -v notes that a run leaves it out" {
    lapedge "$photo" plain.jpg
    { cat plain.jpg; printf '\0\0\0\x18ftypmp42'; head -c 988 /dev/zero; } >motion.jpg # as phones write it
    cat plain.jpg plain.jpg >two.jpg
    lapedge info motion.jpg >text
    grep -qx "  left out     other, 1000 bytes: follows the end of the JPEG" text
    lapedge info --json - <motion.jpg >o.json
    json o.json 'o["left_out"] == [{"kind": "other", "place": None, "tag": None, "name": None, "bytes": 1000,
                                    "reason": "follows the end of the JPEG"}]'
    for words in "" "--format=png" "transform --rotate=90" "transform --flip=h --trim"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr lapedge -v $words motion.jpg -
        [[ $status -eq 0 && $stderr == *"note"*"1000 bytes after the end of the JPEG left out"* ]]
        # shellcheck disable=SC2086 # words
        expect 0 "" "" -f ${words/png/jpg} motion.jpg o.jpg
    done
    run --separate-stderr timeout 20 "$LAPEDGE" -v <(cat motion.jpg && exec sleep 40 2>/dev/null 3>&-) o.png
    [ "$status" -eq 0 ]
    run --separate-stderr lapedge -v two.jpg o.jpg
    [[ $stderr == *"$(stat -c %s plain.jpg) bytes after the end"* ]]
    run --separate-stderr lapedge -v plain.jpg o.jpg
    [[ $stderr != *"after the end"* ]]
    lapedge info plain.jpg >text
    [[ $(cat text) != *"follows the end"* ]]
}
