# Two picture files compared.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

# A picture of 8 x 6 that is all 100: flat FILE; and what differs from it: change FILE X Y VALUE TO
flat()
{
    { printf 'P5\n8 6\n255\n'; printf 'd%.0s' {1..48}; } >"$1"
}

change()
{
    cp "$1" "$5"
    # shellcheck disable=SC2059 # an octal escape is made
    printf "\\$(printf %o "$4")" | dd of="$5" bs=1 seek=$((11 + $3 * 8 + $2)) conv=notrunc status=none
}

@test "identical pictures: 0" {
    flat a.pgm
    cp a.pgm b.pgm
    expect 0 $'8 x 6, 1 channel\nidentical' "" diff a.pgm b.pgm
    expect 0 "" "" diff -q a.pgm b.pgm
    lapedge "$photo" e.ppm
    lapedge "$photo" e.png
    expect 0 "" "" diff -q e.ppm e.png
    lapedge diff --json a.pgm b.pgm >o.json
    json o.json 'o["identical"] and o["equal"] and o["psnr"] is None and o["first_difference"] is None and o["max_abs"] == 0'
}

@test "two folders: other files and links are counted, as in a run" {
    mkdir -p a b
    flat a/x.pgm
    cp a/x.pgm b/x.pgm
    echo text >a/notes.txt
    ln -s x.pgm a/y.pgm
    ln -s ../b b/folder
    local said="lapedge: 1 other file not taken: 1 .txt
lapedge: 2 symbolic links not followed; --follow does"
    expect 0 "equal: 1 identical; 1 file not compared" "$said" diff a b
    expect 0 "" "" diff -q a b
    run --separate-stderr lapedge stats --ext=pgm a
    [ "$(grep "^lapedge" <<<"$stderr")" = "lapedge: 1 other file not taken: 1 .txt
lapedge: 1 symbolic link not followed; --follow does" ]
}

@test "different pictures: 1, with every figure" {
    flat a.pgm
    change a.pgm 3 4 103 b.pgm
    change b.pgm 0 1 99 c.pgm
    mv c.pgm b.pgm
    run --separate-stderr lapedge diff a.pgm b.pgm
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    [ "$output" = "8 x 6, 1 channel
largest difference  3
mean difference     0.0833333
RMSE                0.456435
PSNR                54.94 dB
differing pixels    2 of 48 (4.17 %), 2 of them in the border of two
first difference    x 0, y 1, channel 0: A 100, B 99, in the border
different" ]
    run lapedge diff --json a.pgm b.pgm
    [ "$status" -eq 1 ]
    echo "$output" >o.json
    json o.json 'list(o)[0] == "schema" and o["schema"] == "lapedge.diff/1" and not o["equal"] and not o["identical"]'
    json o.json 'o["max_abs"] == 3 and o["mean_abs"] == 4 / 48 and abs(o["rmse"] - (10 / 48) ** 0.5) < 1e-15 and o["differing_pixels"] == 2'
    json o.json 'o["first_difference"] == {"x": 0, "y": 1, "channel": 0, "a": 100, "b": 99, "at_border": True}'
    json o.json 'o["ssim"] is None' # smaller than its window
    expect 1 "" "" diff -q a.pgm b.pgm
}

# shares N FILE: 40 x 25 pixels, N of them other than in shares 0
shares()
{
    { printf 'P5\n40 25\n255\n'; printf "%$1s" "" | tr ' ' y; printf "%$((1000 - $1))s" "" | tr ' ' x; } >"$2"
}

@test "a share allows exactly that many pixels" {
    shares 0 a.pgm
    while read -r share most; do
        shares "$most" b.pgm
        expect 0 "" "" diff -q "--max-differing=$share%" a.pgm b.pgm
        shares $((most + 1)) b.pgm
        expect 1 "" "" diff -q "--max-differing=$share%" a.pgm b.pgm
    done <<<"0.7 7
        5.7 57
        29 290"
}

@test "tolerances: all that are given must hold" {
    flat a.pgm
    change a.pgm 3 4 103 b.pgm
    expect 0 "" "" diff -q --max-abs=3 a.pgm b.pgm
    expect 1 "" "" diff -q --max-abs=2 a.pgm b.pgm
    expect 0 "" "" diff -q --max-differing=1 a.pgm b.pgm
    expect 1 "" "" diff -q --max-differing=0 a.pgm b.pgm
    expect 0 "" "" diff -q --max-differing=2.1% a.pgm b.pgm
    expect 1 "" "" diff -q --max-differing=2% a.pgm b.pgm
    expect 0 "" "" diff -q --min-psnr=55 a.pgm b.pgm
    expect 1 "" "" diff -q --min-psnr=56 a.pgm b.pgm
    expect 1 "" "" diff -q --max-differing=1 --max-abs=2 a.pgm b.pgm
    expect 0 "" "" diff -q --max-differing=1 --max-abs=3 --min-psnr=55 a.pgm b.pgm
    expect 1 "" "" diff -q --mask-border=1 a.pgm b.pgm
    expect 0 "" "" diff -q --mask-border=2 a.pgm b.pgm
    lapedge diff --json --max-differing=50% --mask-border=1 a.pgm b.pgm >o.json
    json o.json 'o["tolerance"] == {"max_abs": None, "max_differing": None, "max_differing_share": 0.5, "min_psnr": None, "mask_border": 1, "threshold_per_pixel": 0, "ignore": []}'
    run lapedge diff --json a.pgm b.pgm
    echo "$output" >o.json
    json o.json 'o["tolerance"]["max_abs"] == 0'
}

@test "what prevents the comparison: 2" {
    flat a.pgm
    pgm 7 6 b.pgm
    expect 2 "" "lapedge: a.pgm and b.pgm: sizes differ: 8x6 and 7x6" diff a.pgm b.pgm
    expect 2 "" "lapedge: no.pgm: no such file" diff a.pgm no.pgm
    expect 2 "" "lapedge: a.pgm and a.pgm: a border of 3 pixels covers all of 8x6" diff --mask-border=3 a.pgm a.pgm
    head -c 20000 "$photo" >cut.jpg
    run --separate-stderr lapedge diff "$photo" cut.jpg
    [ "$status" -eq 2 ]
    [[ $stderr == "lapedge: cut.jpg: truncated"* ]]
    run --separate-stderr lapedge diff --max-pixels=10 a.pgm a.pgm
    [ "$status" -eq 2 ]
    lapedge --gray "$photo" gray.pgm
    expect 2 "" "lapedge: $photo and gray.pgm: channels differ: 3 and 1; --gray compares their luma" diff "$photo" gray.pgm
    expect 2 "" "lapedge: B is missing: lapedge diff a.pgm B" diff a.pgm
    expect 2 "" "lapedge: only one of A and B can be standard input" diff - -
    expect 2 "" 'lapedge: --max-abs: "256" is not a whole number from 0 to 255' diff --max-abs=256 a.pgm a.pgm
    expect 2 "" 'lapedge: --max-differing: "101%" is not a number of pixels, or a share such as 0.1%' diff --max-differing=101% a.pgm a.pgm
}

@test "standard input is one of the two" {
    flat a.pgm
    cp a.pgm b.pgm
    run lapedge diff -q - a.pgm <b.pgm
    [ "$status" -eq 0 ]
}

@test "--gray compares luma" {
    lapedge --kernel=identity "$photo" same.ppm
    lapedge --kernel=identity --gray "$photo" luma.pgm
    expect 0 "" "" diff -q --gray --max-abs=2 "$photo" luma.pgm
}

@test "--heatmap: a picture of that size and more, or no comparison" {
    command -v identify >/dev/null || skip "ImageMagick is missing"
    flat a.pgm
    change a.pgm 3 4 103 b.pgm
    expect 1 "" "" diff -q --heatmap=map.png a.pgm b.pgm
    [ "$(identify -format %m map.png)" = PNG ]
    [ "$(identify -format '%[pixel:p{2,4}]' map.png)" = "srgb(43,43,43)" ]
    [ "$(identify -format '%[pixel:p{3,4}]' map.png)" != "srgb(43,43,43)" ]
    expect 0 "" "" diff -q --heatmap=none.png a.pgm a.pgm
    [ "$(convert none.png -crop 8x6+0+0 -unique-colors -format %w info:)" -eq 1 ]
    expect 2 "" 'lapedge: --heatmap: "map.jpg" is not the name of a .png' diff --heatmap=map.jpg a.pgm b.pgm
    run --separate-stderr lapedge diff --heatmap=no/map.png a.pgm b.pgm
    [ "$status" -eq 2 ]
    [[ $stderr == *no/map.png* ]]
    cp map.png in.png
    expect 2 "" "lapedge: --heatmap: in.png is the input" diff --heatmap=in.png in.png map.png
    cmp map.png in.png
}

@test "measures are those of ImageMagick's compare" {
    command -v compare >/dev/null || skip "ImageMagick is missing"
    convert "$photo" -blur 0x1 blurred.ppm
    convert "$photo" plain.ppm
    run lapedge diff --json plain.ppm blurred.ppm
    [ "$status" -eq 1 ]
    echo "$output" >o.json
    run compare -metric PSNR plain.ppm blurred.ppm null:
    json o.json "abs(o['psnr'] - ${output%% *}) < 1e-3" # ImageMagick 7 says it twice
    run compare -metric AE plain.ppm blurred.ppm null:
    json o.json "o['differing_pixels'] == ${output%% *}"
    run compare -metric MAE plain.ppm blurred.ppm null:
    json o.json "abs(o['mean_abs'] - 255 * ${output#*(} < 1e-3"
    run compare -metric RMSE plain.ppm blurred.ppm null:
    json o.json "abs(o['rmse'] - 255 * ${output#*(} < 1e-3"
    run compare -metric PAE plain.ppm blurred.ppm null:
    json o.json "abs(o['max_abs'] - 255 * ${output#*(} < 1e-3"
}

@test "measures, SSIM too, are NumPy's" {
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "NumPy is not installed"
    for form in "" --gray; do
        lapedge $form --kernel=identity "$photo" a.ppm --format=ppm
        lapedge $form --kernel=identity --quality=20 "$photo" low.jpg
        lapedge $form --kernel=identity low.jpg b.ppm --format=ppm
        run lapedge diff --json --mask-border=3 a.ppm b.ppm
        [ "$status" -eq 1 ]
        echo "$output" >o.json
        /usr/bin/python3 - <<'PY'
import json, math, numpy as np
def pnm(path):
    magic, size, top, data = open(path, "rb").read().split(b"\n", 3)
    w, h = map(int, size.split())
    return np.frombuffer(data, np.uint8).reshape(h, w, 3 if magic == b"P6" else 1).astype(float)[3:-3, 3:-3]
a, b, o = pnm("a.ppm"), pnm("b.ppm"), json.load(open("o.json"))
delta = np.abs(a - b)
assert o["channels"] == a.shape[2] and o["max_abs"] == delta.max()
assert math.isclose(o["mean_abs"], delta.mean(), rel_tol=1e-12)
assert math.isclose(o["rmse"], math.sqrt((delta ** 2).mean()), rel_tol=1e-12)
assert math.isclose(o["psnr"], 10 * math.log10(255 ** 2 / (delta ** 2).mean()), rel_tol=1e-12)
assert o["differing_pixels"] == delta.any(axis=2).sum()
y, x, c = np.argwhere(delta)[0]
first = o["first_difference"]
assert (first["y"], first["x"], first["channel"]) == (y + 3, x + 3, c)
assert (first["a"], first["b"]) == (a[y, x, c], b[y, x, c])
g = np.exp(-np.arange(-5, 6) ** 2 / (2 * 1.5 ** 2))
g = np.outer(g, g) / g.sum() ** 2
def mean(p):
    windows = np.lib.stride_tricks.sliding_window_view(p, (11, 11), axis=(0, 1))
    return np.einsum("yxcij,ij->yxc", windows, g)
ma, mb = mean(a), mean(b)
va, vb, cov = mean(a * a) - ma ** 2, mean(b * b) - mb ** 2, mean(a * b) - ma * mb
c1, c2 = 2.55 ** 2, 7.65 ** 2
ssim = (2 * ma * mb + c1) * (2 * cov + c2) / ((ma ** 2 + mb ** 2 + c1) * (va + vb + c2))
assert math.isclose(o["ssim"], ssim.mean(), rel_tol=1e-9), (o["ssim"], ssim.mean())
PY
    done
}

@test "the details of a report are as large as it says, and lie in the picture" {
    lapedge --kernel=identity --quality=30 "$repo/samples/chelsea.jpg" b.jpg
    run -1 --separate-stderr lapedge diff -q --report=p.html "$repo/samples/chelsea.jpg" b.jpg
    python3 - p.html "$LAPEDGE" <<'PYTHON'
import base64, json, re, subprocess, sys
page = open(sys.argv[1]).read()
pictures = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])["pictures"]
def pixels(uri):
    """Width, height, and rows of samples in gray."""
    png = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    pgm = subprocess.run([sys.argv[2], "--gray", "--kernel=identity", "--format=pgm", "-", "-"], input=png,
                         capture_output=True, check=True).stdout
    width, height = map(int, pgm.split(maxsplit=4)[1:3])
    samples = pgm[-width * height:]
    return width, height, [samples[row * width:(row + 1) * width] for row in range(height)]
(difference,) = pictures["differences"]
whole_width, whole_height, whole = pixels(difference["overview"])
assert (whole_width, whole_height) == (pictures["width"], pictures["height"])
assert len(pictures["crops"]) == len(difference["crops"]) == 3
for crop, same in zip(difference["crops"], pictures["crops"], strict=True):
    x, y, width, height = box = tuple(crop[side] for side in ("x", "y", "width", "height"))
    assert box == tuple(same[side] for side in ("x", "y", "width", "height")), (crop, same)
    assert pixels(crop["difference"]) == (width, height, [row[x:x + width] for row in whole[y:y + height]]), box
    assert pixels(same["photo"])[:2] == pixels(same["edges"])[:2] == (width, height), box
    assert x <= crop["peak"]["x"] < x + width and y <= crop["peak"]["y"] < y + height, crop["peak"]
PYTHON
}

@test "--report: a page, whatever the verdict" {
    lapedge --kernel=identity --quality=60 "$photo" b.jpg
    run --separate-stderr lapedge diff -q --report=p.html "$photo" b.jpg
    [ "$status" -eq 1 ]
    [ -z "$stderr" ]
    grep -q '"schema":"lapedge.diff/1"' p.html
    rm p.html
    expect 0 "" "" diff -q --report=p.html "$photo" "$photo"
    [ -s p.html ]
    expect 2 "" 'lapedge: --report: "p.png" does not end in .html' diff --report=p.png "$photo" b.jpg
    cp "$photo" a.html
    expect 2 "" "lapedge: --report: a.html is the input" diff --report=a.html a.html b.jpg
    cmp "$photo" a.html
}

# Two folders: one.pgm equal, deep/two.pgm by 3 in one pixel, one file on each side alone, others that are no images
folders()
{
    mkdir -p a/deep b/deep
    flat a/one.pgm
    cp a/one.pgm b/one.pgm
    flat a/deep/two.pgm
    change a/deep/two.pgm 3 4 103 b/deep/two.pgm
    flat a/mine.pgm
    cp a/one.pgm b/deep/yours.pgm
    echo text >a/notes.txt
}

@test "two folders: pairs by path, files in only one folder are named, one verdict" {
    folders
    expect 1 "only in a: mine.pgm
deep/two.pgm: different, by up to 3, 1 of 48 pixels, PSNR 55.40 dB
only in b: deep/yours.pgm
not equal: 1 identical, 1 different, 1 only in A, 1 only in B; 1 file not compared" "lapedge: 1 other file not taken: 1 .txt" diff a b
    expect 1 "" "" diff -q a/ b/
    rm a/mine.pgm b/deep/yours.pgm a/notes.txt
    expect 1 "deep/two.pgm: different, by up to 3, 1 of 48 pixels, PSNR 55.40 dB
not equal: 1 identical, 1 different" "" diff a/ b
    expect 0 "equal: 1 identical, 1 equal within the tolerance" "" diff --max-abs=3 a b
    expect 0 "equal: 1 identical" "" diff --exclude=deep a b
    expect 0 "one.pgm: identical
deep/two.pgm: identical
equal: 2 identical" "lapedge: up to 2 pairs at once, 3 threads" diff -v -j2 --threads=3 a a
    expect 0 "equal: 1 identical, 1 equal within the tolerance" "" diff --max-abs=3 --json-file=o.json a b
    json o.json 'o["equal"] and o["outcomes"]["equal"] == 1'
    run --separate-stderr lapedge diff --json a b
    [ "$status" -eq 1 ]
    # every pair as the two files alone, in the same order whatever -j
    for i in 1 2 3 4 5 6 7 8 9; do
        lapedge --kernel=identity --no-sync "$photo" a/p$i.ppm
        lapedge --kernel=identity --no-sync --offset=$((i % 3)) "$photo" b/p$i.png
        mv b/p$i.png b/p$i.ppm # by content
    done
    lapedge diff --json -j1 a b | grep -v '"ms"' >serial.json || true
    for jobs in 2 4; do cmp serial.json <(lapedge diff --json -j$jobs a b | grep -v '"ms"'); done
    for row in $(seq 0 10); do
        path=$(python3 -c 'import json, sys; print(json.load(open("serial.json"))["rows"][int(sys.argv[1])]["path"])' "$row")
        lapedge diff --json a/$path b/$path >alone.json || true
        python3 - "$row" <<'PY'
import json, sys
row, alone = json.load(open("serial.json"))["rows"][int(sys.argv[1])], json.load(open("alone.json"))
assert row["outcome"] == ("identical" if alone["identical"] else "different") and row["error"] is None
for key in ("width", "height", "channels", "identical", "max_abs", "mean_abs", "rmse", "psnr", "differing_pixels",
            "first_difference", "ssim"):
    assert row[key] == alone[key], key
PY
    done
}

@test "two folders: what cannot be compared is 2, as of two files" {
    folders
    head -c 2000 "$photo" >a/cut.jpg
    cp "$photo" b/cut.jpg
    pgm 9 6 b/one.pgm
    run --separate-stderr lapedge diff --json a b
    [ "$status" -eq 2 ]
    printf '%s' "$output" >o.json
    json o.json 'o["schema"] == "lapedge.diff_folders/1" and not o["equal"] and o["outcomes"] == {"identical": 0, "equal": 0, "different": 1, "only_a": 1, "only_b": 1, "failed": 2}'
    json o.json '{r["path"]: r["error"] and r["error"]["kind"] for r in o["rows"]} == {"one.pgm": "different", "mine.pgm": None, "cut.jpg": "truncated", "deep/two.pgm": None, "deep/yours.pgm": None}'
    [[ $stderr == *"one.pgm: sizes differ: 8x6 and 9x6"* && $stderr == *"a/cut.jpg: truncated"* ]]
    mkdir none empty
    expect 2 "" "lapedge: none and empty: no image that lapedge reads (*.jpg *.jpeg *.jpe *.jfif *.png *.ppm *.pgm *.pnm)" diff none empty
    expect 2 "" "lapedge: a is a folder, but a/one.pgm is not" diff a a/one.pgm
    expect 2 "" "lapedge: missing: no such folder" diff missing a
    run --separate-stderr lapedge diff -q --report=p.html a b
    [ "$status" -eq 2 ]
    sed -n 's|.*<script type="application/json" id="data">\(.*\)</script>.*|\1|p' p.html >p.json
    json p.json 'o["results"]["outcomes"]["failed"] == 2 and "rows" not in o["results"]'
    json p.json '{r["name"]: r["what"] for r in o["folder"]["failed"]} == {"one.pgm": "failed", "mine.pgm": "only_a", "cut.jpg": "failed", "deep/two.pgm": "different", "deep/yours.pgm": "only_b"}'
    json p.json '[(s["name"], len(s["pictures"])) for s in o["folder"]["sheet"]] == [("deep/two.pgm", 3)]'
    expect 2 "" 'lapedge: --report: "p.png" does not end in .html' diff --report=p.png a b
    expect 2 "" "lapedge: --heatmap does not apply to diff of folders, only to diff" diff --heatmap=m.png a b
    expect 2 "" "lapedge: --include does not apply to diff, only to diff of folders" diff --include='*' a/one.pgm b/one.pgm
}

# Two images of 8 x 6 that differ by 9 at (1, 1), by 3 at (5, 4).
ignored_pictures()
{
    python3 - <<'PY'
a = bytearray(range(48))
b = bytearray(a)
b[1 * 8 + 1] += 9
b[4 * 8 + 5] += 3
for name, pixels in (("a.pgm", a), ("b.pgm", b)):
    open(name, "wb").write(b"P5\n8 6\n255\n" + pixels)
PY
}

@test "--ignore: pixels of these rectangles count as equal, of two images and of folders" {
    ignored_pictures
    expect 1 "" "" diff -q a.pgm b.pgm
    expect 1 "" "" diff -q --ignore=1,1,1,1 a.pgm b.pgm
    expect 0 "" "" diff -q --ignore=1,1,1,1 --ignore=4,4,9,9 a.pgm b.pgm
    expect 1 "" "" diff -q --ignore=2,1,1,1 --ignore=4,4,9,9 a.pgm b.pgm
    lapedge diff --json --ignore=5,4,1,1 a.pgm b.pgm >o.json || [ $? -eq 1 ]
    json o.json 'o["tolerance"]["ignore"] == [[5, 4, 1, 1]] and o["max_abs"] == 9 and o["differing_pixels"] == 1'
    expect 2 "" "lapedge: --ignore=8,0,1,1 lies outside the image, which has 8 x 6 pixels" diff --ignore=8,0,1,1 a.pgm b.pgm
    for wrong in 1,1,1 1,1,0,1 1,1,1,1,1 -1,0,1,1 1,1,1,x ""; do
        run --separate-stderr lapedge diff --ignore="$wrong" a.pgm b.pgm
        [ "$status" -eq 2 ]
    done
    mkdir a b
    cp a.pgm a/one.pgm
    cp b.pgm b/one.pgm
    expect 1 "" "" diff -q --ignore=1,1,1,1 a b
    expect 0 "" "" diff -q --ignore=1,1,1,1 --ignore=5,4,1,1 --ignore=99,99,1,1 a b
    # The report shows B as it is.
    expect 0 "" "" diff -q --ignore=0,0,8,5 --ignore=1,5,99,99 --report=p.html a.pgm b.pgm # one pixel is left
    for all in "--ignore=0,0,8,6" "--ignore=3,0,99,99 --ignore=0,0,3,2 --ignore=0,2,5,4"; do
        expect 2 "" "lapedge: --ignore covers the whole image: no pixel is left to compare" diff $all a.pgm b.pgm
        run --separate-stderr lapedge diff $all a b
        [ "$status" -eq 2 ]
        [[ $stderr == *"the rectangles to ignore leave no pixel to compare"* ]]
    done
    # With the border that is not compared, either.
    for all in "--ignore=2,2,4,2" "--ignore=2,2,1,2 --ignore=5,0,9,9 --ignore=3,3,2,1 --ignore=3,2,2,1"; do
        expect 2 "" "lapedge: --ignore and --mask-border cover the whole image: no pixel is left to compare" \
            diff --mask-border=2 $all a.pgm b.pgm
        run --separate-stderr lapedge diff --mask-border=2 $all a b
        [ "$status" -eq 2 ]
        [[ $stderr == *"the rectangles to ignore and the border leave no pixel to compare"* ]]
    done
    expect 0 "" "" diff -q --mask-border=2 --ignore=2,2,3,2 a.pgm b.pgm
    sed -n 's|.*<script type="application/json" id="data">\(.*\)</script>.*|\1|p' p.html >p.json
    json p.json 'not o["results"]["identical"] and o["results"]["equal"] and o["pictures"]["photo"] != o["pictures"]["edges"]'
    expect 2 "" "lapedge: --ignore does not apply to compare, only to diff" compare --ignore=0,0,1,1 a.pgm
}

@test "--threshold-per-pixel: pixels that differ by no more count as equal" {
    ignored_pictures
    expect 1 "" "" diff -q --threshold-per-pixel=2 a.pgm b.pgm
    expect 1 "" "" diff -q --threshold-per-pixel=8 a.pgm b.pgm
    expect 0 "" "" diff -q --threshold-per-pixel=9 a.pgm b.pgm
    # They are not identical: only what counts is equal.
    expect 0 $'8 x 6, 1 channel\nequal within the tolerance' "" diff --threshold-per-pixel=9 a.pgm b.pgm
    expect 0 $'8 x 6, 1 channel\nidentical' "" diff --threshold-per-pixel=9 a.pgm a.pgm
    lapedge diff --json --threshold-per-pixel=9 a.pgm b.pgm >o.json
    json o.json 'o["equal"] and not o["identical"] and (o["max_abs"], o["psnr"], o["first_difference"]) == (0, None, None)'
    expect 0 $'8 x 6, 1 channel\nequal within the tolerance' "" diff --ignore=1,1,1,1 --ignore=5,4,1,1 a.pgm b.pgm
    # Of pixels in the masked border nothing is said.
    expect 0 $'8 x 6, 1 channel\nidentical' "" diff --ignore=1,1,1,1 --mask-border=2 a.pgm b.pgm
    expect 0 $'8 x 6, 1 channel\nidentical' "" diff --threshold-per-pixel=9 --mask-border=2 a.pgm b.pgm
    # What --max-abs cannot say: one pixel may differ by more than 3.
    expect 0 "" "" diff -q --threshold-per-pixel=3 --max-differing=1 a.pgm b.pgm
    expect 1 "" "" diff -q --threshold-per-pixel=2 --max-differing=1 a.pgm b.pgm
    lapedge diff --json --threshold-per-pixel=3 a.pgm b.pgm >o.json || [ $? -eq 1 ]
    json o.json 'o["tolerance"]["threshold_per_pixel"] == 3 and o["differing_pixels"] == 1'
    mkdir a b
    cp a.pgm a/one.pgm
    cp b.pgm b/one.pgm
    expect 1 "" "" diff -q --threshold-per-pixel=8 a b
    expect 0 "equal: 1 equal within the tolerance" "" diff --threshold-per-pixel=9 a b
    run --separate-stderr lapedge diff -v --threshold-per-pixel=9 --json-file=o.json a b
    [[ $output == "one.pgm: equal within the tolerance"$'\n'* ]]
    json o.json '[(r["outcome"], r["identical"]) for r in o["rows"]] == [("equal", False)]'
    # All channels of a pixel count: one that differs by more keeps the others in the figures.
    printf 'P6\n1 1\n255\n\1\2\3' >c.ppm
    printf 'P6\n1 1\n255\n\1\3\7' >d.ppm
    lapedge diff --json --threshold-per-pixel=3 c.ppm d.ppm >o.json || [ $? -eq 1 ]
    json o.json 'o["mean_abs"] == 5 / 3'
}

@test "two folders: JPEGs without an extension are compared; the verdict counts what is not" {
    mkdir a b
    lapedge --kernel=identity "$photo" a/x.jpg
    cp a/x.jpg b
    cp a/x.jpg a/plain
    cp "$photo" b/plain
    run --separate-stderr lapedge diff a b
    [ "$status" -eq 1 ]
    [[ $output == "plain: different"*"not equal: 1 identical, 1 different" ]]
    rm b/plain
    echo text >b/plain # not an image
    run --separate-stderr lapedge diff a b
    [ "$status" -eq 2 ]
    [[ $stderr == *"b/plain: "* && $output == *"not equal: 1 identical, 1 could not be compared; 1 file not compared" ]]
    rm a/plain
    expect 0 "equal: 1 identical; 1 file not compared" "lapedge: 1 other file not taken: 1 without extension" diff a b
}

@test "folders without an image that lapedge reads: their kinds of files are named" {
    mkdir a b
    printf BM | tee a/x.bmp >b/x.bmp
    touch b/y.gif
    expect 2 "" "lapedge: a and b: no image that lapedge reads (*.jpg *.jpeg *.jpe *.jfif *.png *.ppm *.pgm *.pnm)
lapedge: 3 other files not taken: 2 .bmp, 1 .gif" diff a b
    expect 2 "" "lapedge: a and b: no image that lapedge reads (*.jpg *.jpeg *.jpe *.jfif *.png *.ppm *.pgm *.pnm)" diff -q a b
    expect 2 "" "lapedge: a and b: no image that lapedge reads (--ext=png,ppm), after --exclude" diff -q --ext=png,ppm --exclude='*.gif' a b
    expect 2 "" "lapedge: a and b: no image that lapedge reads (*.jpg *.jpeg *.jpe *.jfif *.png *.ppm *.pgm *.pnm), after --include" \
        diff -q --include='x*' a b
}

# both_ways STATUS VERDICT STDERR OPTION...: compares a with b, and b with a; VERDICT is the last line of both
both_ways()
{
    local status_both=$1 verdict=$2 message=$3 pair
    shift 3
    for pair in "a b" "b a"; do
        # shellcheck disable=SC2086 # two folders
        run --separate-stderr lapedge diff "$@" $pair
        echo "$pair: exit $status, $output, $stderr"
        [ "$status" -eq "$status_both" ]
        [ "${lines[-1]}" = "$verdict" ]
        [[ $stderr == *"$message"* ]]
    done
}

@test "two folders: what lies in a folder that cannot be searched is not called missing" {
    mkdir -p a/sub b/sub
    cp "$photo" a/sub/p.jpg
    cp "$photo" b/sub/p.jpg
    unprivileged
    chmod 644 b
    run --separate-stderr lapedge diff a b
    chmod 755 b
    echo "$output, $stderr"
    [ "$status" -eq 2 ]
    [[ $output != *"only in"* && $stderr == *"lapedge: b/sub: Permission denied"* ]]
}

@test "two folders: what only one of them takes is listed, whichever comes first" {
    mkdir a b
    lapedge --kernel=identity --no-sync "$photo" a/same.jpg
    cp a/same.jpg b
    # A folder of that name.
    mkdir a/x.jpg
    cp "$photo" b/x.jpg
    both_ways 2 "not equal: 1 identical, 1 could not be compared" "lapedge: a/x.jpg: is a folder"
    rmdir a/x.jpg
    # A link, which may lead to an equal image, and a link to a folder.
    ln -s ../b/x.jpg a/x.jpg
    both_ways 2 "not equal: 1 identical, 1 could not be compared" \
        "lapedge: a/x.jpg: is a symbolic link, which is not followed"
    both_ways 0 "equal: 2 identical" "" --follow
    rm a/x.jpg
    mkdir b/sub
    mv b/x.jpg b/sub
    ln -s ../b/sub a/sub
    both_ways 2 "not equal: 1 identical, 1 could not be compared" "lapedge: a/sub: is a symbolic link"
    both_ways 0 "equal: 2 identical" "" --follow
    rm -r a/sub b/sub
    # A text without an extension.
    echo text >a/plain
    cp "$photo" b/plain
    both_ways 2 "not equal: 1 identical, 1 could not be compared; 1 file not compared" \
        "lapedge: a/plain: does not begin like a JPEG"
    rm a/plain b/plain
    # A file of macOS.
    printf '\0\005\026\007' >a/._p.jpg
    cp "$photo" b/._p.jpg
    both_ways 2 "not equal: 1 identical, 1 could not be compared" "lapedge: a/._p.jpg: does not begin like a JPEG"
    rm a/._p.jpg b/._p.jpg
    # An output of an earlier run.
    mkdir in b/e
    cp "$photo" in/x.jpg
    lapedge --no-sync -q in a/e
    cp a/e/x.jpg b/e
    both_ways 2 "not equal: 1 identical, 1 could not be compared; 1 file not compared" \
        "lapedge: a/e/x.jpg: is an output of an earlier run; to compare it, name its folder"
    rm -r a/e b/e
    # What neither takes has one row.
    mkfifo a/p.jpg b/p.jpg
    both_ways 2 "not equal: 1 identical, 1 could not be compared" "/p.jpg: not a regular file"
    rm a/p.jpg
    both_ways 2 "not equal: 1 identical, 1 could not be compared" "lapedge: b/p.jpg: not a regular file"
    # A file in the way of a folder: none of the two names a pair.
    rm b/p.jpg
    mkdir a/deep b/deep
    cp "$photo" a/deep/x.jpg
    rmdir b/deep
    cp "$photo" b/deep
    run --separate-stderr lapedge diff a b
    [ "$status" -eq 2 ]
    [[ $output == "only in a: deep/x.jpg"*"not equal: 1 identical, 1 only in A, 1 could not be compared" ]]
    [ "$stderr" = "lapedge: a/deep: is a folder" ]
    run --separate-stderr lapedge diff b a
    [ "$status" -eq 2 ]
    [[ $output == "only in a: deep/x.jpg"*"not equal: 1 identical, 1 only in B, 1 could not be compared" ]]
    [ "$stderr" = "lapedge: a/deep: is a folder" ]
}

@test "two folders: many subfolders, of which the other folder lacks some" {
    local folder i
    for folder in a/1 a/1/2 a/10 a/2/3/4 a/2/5 b/1 b/1/2 b/2/3/4 b/2/31 b/2/5 b/3; do
        mkdir -p "$folder"
        for i in 1 2 3; do flat "$folder/$i.pgm"; done
    done
    rm a/2/5/2.pgm
    run --separate-stderr lapedge diff a/ b
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "not equal: 11 identical, 3 only in A, 7 only in B" ]
    run --separate-stderr lapedge diff b a//
    [ "$status" -eq 1 ]
    [ "${lines[-1]}" = "not equal: 11 identical, 7 only in A, 3 only in B" ]
    # With --follow, a folder is read under the first of its names.
    cp -r a c
    ln -s 2 c/22
    run --separate-stderr lapedge diff --follow c a
    [ "$status" -eq 0 ]
    mkdir -p a/22/5
    flat a/22/5/1.pgm
    for pair in "a c" "c a"; do
        # shellcheck disable=SC2086 # two folders
        run --separate-stderr lapedge diff --follow $pair
        [ "$status" -eq 2 ]
        [ "$stderr" = "lapedge: c/22: can be reached under another path, too, and is compared under that one" ]
    done
}

@test "two folders: patterns that name either folder act on the pair" {
    mkdir a b
    for name in one two; do
        flat a/$name.pgm
        change a/$name.pgm 3 4 103 b/$name.pgm
    done
    for folder in a b; do
        both_ways 1 "not equal: 1 different; 2 files not compared" "lapedge: 2 other files not taken: 2 .pgm" \
            "--include=$folder/one.pgm"
        both_ways 1 "not equal: 1 different" "" "--exclude=$folder/one.pgm"
        both_ways 1 "not equal: 2 different" "" "--include=$folder/*"
        expect 0 "equal: 1 equal within the tolerance" "" diff --max-abs=3 "--exclude=$folder/one.pgm" a// b//
    done
}

# png FILE TYPE BITS ROW: a PNG of 1 x 1 pixel; ROW is its filter and samples, in hexadecimal
png()
{
    python3 - "$@" <<'PY'
import struct, sys, zlib
path, kind, bits, row = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), bytes.fromhex(sys.argv[4])
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, bits, kind, 0, 0, 0)) +
                       chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b""))
PY
}

@test "what decoding drops is not compared, and warned of" {
    mkdir a b
    png a/alpha.png 6 8 0001020304
    png b/alpha.png 6 8 00010203ff
    png a/deep.png 2 16 00010002000300
    png b/deep.png 2 16 00010102020301
    png a/both.png 6 16 0001000200030004ff
    png b/both.png 2 8 00010203
    expect 0 $'1 x 1, 3 channels\nidentical' "lapedge: a/alpha.png: warning: transparency is dropped
lapedge: b/alpha.png: warning: transparency is dropped" diff a/alpha.png b/alpha.png
    expect 0 $'1 x 1, 3 channels\nidentical' "lapedge: a/deep.png: warning: reduced from 16 to 8 bits per sample
lapedge: b/deep.png: warning: reduced from 16 to 8 bits per sample" diff a/deep.png b/deep.png
    both="a/both.png: warning: transparency is dropped; reduced from 16 to 8 bits per sample (the first of 2)"
    expect 0 $'1 x 1, 3 channels\nidentical' "lapedge: $both" diff --json-file=o.json a/both.png b/both.png
    json o.json 'o["identical"] and o["warnings"] == 2'
    json o.json 'o["warning"] == "a/both.png: transparency is dropped; reduced from 16 to 8 bits per sample"'
    expect 0 "" "" diff -q a/both.png b/both.png
    run --separate-stderr lapedge diff --json-file=o.json a b
    [ "$status" -eq 0 ]
    [ "$output" = "equal: 3 identical" ]
    [[ $stderr == *"a/alpha.png: warning: transparency is dropped"*"lapedge: $both"*"b/deep.png: warning: reduced"* ]]
    json o.json '[(r["path"], r["warnings"], r["warning"]) for r in o["rows"]][0] == ("alpha.png", 2, "a/alpha.png: transparency is dropped")'
    json o.json '[r["warnings"] for r in o["rows"]] == [2, 2, 2]'
    # Damage that is tolerated.
    head -c 20000 "$photo" >cut.jpg
    run --separate-stderr lapedge diff --fail-on=none cut.jpg cut.jpg
    [ "$status" -eq 0 ]
    [[ $stderr == "lapedge: cut.jpg: warning: "* ]]
}

@test "--fail-fast: two folders are compared until a pair differs or fails" {
    mkdir a b
    for name in 1 2 3 4 5 6; do
        flat a/$name.pgm
        cp a/$name.pgm b
    done
    expect 0 "equal: 6 identical" "" diff --fail-fast a b
    change a/2.pgm 3 4 103 b/2.pgm
    change a/4.pgm 3 4 103 b/4.pgm
    expect 1 "2.pgm: different, by up to 3, 1 of 48 pixels, PSNR 55.40 dB
not equal: 1 identical, 1 different, 4 left" "" diff --fail-fast --json-file=o.json a b
    json o.json 'o["left"] == 4 and not o["equal"] and [r["path"] for r in o["rows"]] == ["1.pgm", "2.pgm"]'
    expect 0 "equal: 4 identical, 2 equal within the tolerance" "" diff --fail-fast --max-abs=3 --json-file=o.json a b
    json o.json 'o["left"] == 0 and len(o["rows"]) == 6'
    rm b/1.pgm
    expect 1 "only in a: 1.pgm
not equal: 1 only in A, 5 left" "" diff --fail-fast a b
    pgm 9 6 b/1.pgm
    expect 2 "not equal: 1 could not be compared, 5 left" "lapedge: 1.pgm: sizes differ: 8x6 and 9x6" diff --fail-fast a b
}
