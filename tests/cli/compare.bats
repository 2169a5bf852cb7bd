# Rungs compared on one input; lapedge-wrong is lapedge with wrong rungs in its table of filters.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr and photo
load common

wrong()
{
    [ -x "$WRONG" ] || skip "the program with wrong rungs was not built"
    run --separate-stderr "$WRONG" "$@"
}

setup_file()
{
    local build=${B:-build}
    [[ $build == /* ]] || build=$BATS_TEST_DIRNAME/../../$build
    export WRONG=$build/tests/lapedge-wrong
}

@test "every rung of every ladder agrees with c on a photo: 0" {
    run --separate-stderr lapedge compare --json --ops=all "$photo"
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    echo "$output" >o.json
    json o.json 'list(o)[0] == "schema" and o["schema"] == "lapedge.compare/1" and o["equal"] and o["files"] == 1'
    json o.json 'all(list(r)[:12] == "backend resolved available reason identical max_abs mean_abs rmse psnr differing_pixels first_difference ms".split() for r in o["rows"])'
    json o.json 'all((r["resolved"] is not None) == r["available"] == (r["reason"] is None) == (r["identical"] is True) for r in o["rows"])'
    json o.json '[r["op"] for r in o["rows"] if r["backend"] == "c"] == "filter transpose reduce histogram matvec".split()'
    json o.json 'all(r["relative_error"] < 1e-2 for r in o["rows"] if r["available"] and r["op"] in ("reduce", "matvec"))'
    lapedge backends --json >all.json
    python3 -c 'import json
rows = lambda name: [(r["op"], r["backend" if name == "o.json" else "name"], r["reason"] is None)
                     for r in json.load(open(name))["rows"] if r["op"] not in ("encode", "decode")]
assert rows("o.json") == rows("all.json")'
}

@test "as a table" {
    run --separate-stderr lapedge compare --backends=c,simd,auto --border=reflect --range=abs "$photo"
    [ "$status" -eq 0 ]
    [[ $output == "600 x 400, 3 channels"* && $output == *$'\nc '*yes* && $output == *$'\nsimd ('*yes* ]]
    expect 0 "" "" compare -q --backends=c "$photo"
}

@test "all kernels, one channel" {
    for kernel in laplace3-4 log5 opencv5; do
        expect 0 "" "" compare -q --gray --range=abs --border=reflect101 --kernel=$kernel "$photo"
    done
    lapedge compare --json --max-abs=1 --kernel="$(yes 0.1 | head -25 | paste -sd,)" "$photo" >o.json
    json o.json 'o["tolerance"]["max_abs"] == 1 and o["tolerance"]["promised"] == 1 and o["kernel"] == "custom"'
    run lapedge compare --backends=c --max-abs=1 --kernel="$(yes 0.1 | head -25 | paste -sd,)" "$photo"
    [[ $output == *"backends may differ by 1 (--max-abs=1)"* ]]
    run lapedge compare --backends=c --scale=1e9 --kernel="$(yes 0.1 | head -25 | paste -sd,)" "$photo"
    [[ $output == *"differ by any amount"* ]]
}

@test "a rung that is off by one shows at once, with its place and a picture: 1" {
    wrong compare --json --heatmap=map.png --backends=c,off-by-one,auto "$photo"
    [ "$status" -eq 1 ]
    [ "$stderr" = "lapedge: map.png shows off-by-one of $photo" ]
    echo "$output" >o.json
    json o.json 'not o["equal"] and [r["identical"] for r in o["rows"]] == [True, False, True]'
    json o.json '[o["rows"][1][k] for k in ("max_abs", "differing_pixels", "differing_border")] == [1, 1, 0]'
    json o.json 'abs(o["rows"][1]["mean_abs"] - 1 / 720000) < 1e-15 and abs(o["rows"][1]["psnr"] - 106.7) < 0.1'
    json o.json '{k: o["rows"][1]["first_difference"][k] for k in ("x", "y", "channel", "at_border")} == {"x": 101, "y": 37, "channel": 1, "at_border": False}'
    json o.json 'abs(o["rows"][1]["first_difference"]["a"] - o["rows"][1]["first_difference"]["b"]) == 1'
    wrong compare --runs=1 --backends=off-by-one "$photo"
    [[ $output == *"first at x 101, y 37, channel 1: c "*", in the interior" ]]
    if command -v convert >/dev/null; then
        [ "$(convert map.png -crop 600x400+0+0 +repage -fill white +opaque 'rgb(43,43,43)' -format '%[fx:mean*w*h]' info: | cut -c1-4)" != 0 ]
        [ "$(convert map.png -format '%[pixel:p{101,37}]' info:)" != "srgb(43,43,43)" ]
        [ "$(convert map.png -format '%[pixel:p{102,37}]' info:)" = "srgb(43,43,43)" ]
    fi
}

@test "a rung that forgets the border; masks and tolerances" {
    wrong compare --json --backends=no-border "$photo"
    [ "$status" -eq 1 ]
    echo "$output" >o.json
    json o.json 'o["rows"][0]["differing_pixels"] == o["rows"][0]["differing_border"] > 0 and o["rows"][0]["first_difference"]["at_border"]'
    wrong compare -q --backends=no-border --mask-border=2 "$photo"
    [ "$status" -eq 0 ]
    wrong compare -q --backends=off-by-one --max-abs=1 "$photo"
    [ "$status" -eq 0 ]
    wrong compare -q --backends=no-border --max-abs=1 "$photo"
    [ "$status" -eq 1 ]
    wrong compare -q --backends=no-border --max-differing=1% "$photo"
    [ "$status" -eq 0 ]
}

@test "a rung that fails prevents its comparison: 2, and the others are compared" {
    wrong compare --json "$photo"
    [ "$status" -eq 2 ]
    echo "$output" >o.json
    json o.json '[r["backend"] for r in o["rows"] if r["reason"]] == ["fails"] and o["rows"][3]["available"] and o["rows"][3]["identical"] is None'
    json o.json 'o["rows"][1]["identical"] is False and not o["equal"]'
    wrong compare "$photo"
    [[ $output == *$'\nfailed: fails: device'* ]]
}

@test "times are medians of the runs asked for, and of few without asking" {
    lapedge compare --json --runs=7 --backends=c,simd --ops=all "$photo" >o.json
    json o.json 'all(r["runs"] == 7 and r["min_ms"] <= r["ms"] <= r["max_ms"] and r["stddev_ms"] >= 0 for r in o["rows"])'
    # Printed times are rounded to nanoseconds, and the verdict is found before.
    json o.json 'all(r["noisy"] == (r["stddev_ms"] > 0.1 * r["ms"]) or abs(r["stddev_ms"] - 0.1 * r["ms"]) < 1e-6
        for r in o["rows"])'
    lapedge compare --json --backends=c,simd "$photo" >o.json
    json o.json 'all(1 <= r["runs"] <= 5 for r in o["rows"])'
    local step library
    library=$(step_clock)
    if [ -n "$library" ]; then # a clock by which runs are quick, or slow
        for step in 1000:5 200000000:1; do
            LD_PRELOAD=$library LAP_STEP_NS=${step%:*} lapedge compare --json --backends=c,simd "$photo" >o.json
            json o.json "[r['runs'] for r in o['rows']] == [${step#*:}, ${step#*:}]"
        done
    fi
    lapedge compare --json --runs=1 --backends=c,simd "$photo" >o.json
    json o.json 'all(r["runs"] == 1 and r["min_ms"] == r["ms"] == r["max_ms"] and r["stddev_ms"] == 0 and not r["noisy"] for r in o["rows"])'
    lapedge compare --runs=20 "$photo" >table
    [ "$(grep -c ' ~$' table || true)" -eq 0 ] || grep -q '^~ the machine was busy' table
    expect 2 "" 'lapedge: --runs: "0" is not a whole number from 1 to 10000' compare --runs=0 "$photo"
}

@test "Ctrl-C at any moment of a comparison: 130 and no result, or the whole result" {
    local library n code words wanted
    library=$(step_clock)
    [ -n "$library" ] || skip "no clock by steps"
    mkdir in
    pgm 40 30 a.pgm
    lapedge a.pgm in/a.jpg
    cp in/a.jpg in/b.jpg
    # The clock is looked at before and after each run of a backend, so also just before differences are counted.
    for words in "--ops=all in/a.jpg" "--fail-fast in"; do
        code=130
        # shellcheck disable=SC2086 # words
        for ((n = 0; code == 130; n++)); do
            code=0
            LAP_STEP_INT=$((n + 1)) LD_PRELOAD=$library "$LAPEDGE" compare --json --runs=1 --threads=1 \
                --backends=c,simd $words >o.json 2>err || code=$?
            [ "$code" -eq 0 ] || [ ! -s o.json ]
        done
        [[ $code -eq 0 && $n -gt 20 && ! -s err ]]
        json o.json 'o["equal"] and all(r["identical"] for r in o["rows"] if r["available"])'
    done
}

@test "compare lists a device's upload, kernel and download separately" {
    gpu=${B:-build}
    [[ $gpu == /* ]] || gpu=$BATS_TEST_DIRNAME/../../$gpu
    [ -x "$gpu/cudacpu/asan/lapedge" ] || skip "CUDA on CPU was not built"
    printf 'P6\n40 30\n255\n%s' "$(head -c 2700 "$photo" | base64 -w0)" >small.ppm
    run --separate-stderr env "$gpu/cudacpu/asan/lapedge" compare --backends=c,cuda-shared4,cuda-fast small.ppm
    [ "$status" -eq 0 ]
    [[ $output == *"upload    kernel  download"* ]]
    [[ $(grep '^c ' <<<"$output") =~ -\ +-\ +-(\ ~)?$ && $(grep '^cuda-fast ' <<<"$output") =~ [0-9]\ +[0-9.]+\ +[0-9.]+(\ ~)?$ ]]
    needs_terminal
    run script -qec "stty cols 80; ASAN_OPTIONS=detect_leaks=0 TERM=dumb '$gpu/cudacpu/asan/lapedge' compare --runs=2 small.ppm" /dev/null
    [ "$status" -eq 0 ]
    [[ $output == *"upload    kernel  download"* ]]
    for line in "${lines[@]}"; do line=${line%$'\r'} && [ "${#line}" -le 80 ]; done
    run --separate-stderr env "$gpu/cudacpu/asan/lapedge" compare --json --backends=c,cuda-fast small.ppm
    echo "$output" >o.json
    json o.json 'o["rows"][0]["kernel_ms"] is None and 0 < o["rows"][1]["kernel_ms"] <= o["rows"][1]["ms"]'
}

@test "compare in a terminal of 80 columns" {
    needs_terminal
    mkdir in
    cp "$photo" "in/a photo with a name so long that it has no room beside its figures.jpg"
    cp "$photo" in/b.jpg
    for words in "'$photo'" "--ops=all in"; do
        run script -qec "stty cols 80; TERM=dumb '$LAPEDGE' compare --runs=2 $words" /dev/null
        [ "$status" -eq 0 ]
        for line in "${lines[@]}"; do line=${line%$'\r'} && [ "${#line}" -le 80 ]; done
    done
    [[ $output == *"b.jpg "*"600x400  yes "*"2 files together"* ]]
    [ -x "$WRONG" ] || skip "the program with wrong rungs was not built"
    run script -qec "stty cols 80; TERM=dumb '$WRONG' compare --runs=1 --backends=c,no-border,off-by-one in" /dev/null
    [ "$status" -eq 1 ]
    for line in "${lines[@]}"; do line=${line%$'\r'} && [ "${#line}" -le 80 ] || [[ $line == *in/* ]]; done
    [[ $output == *"off-by-one  NO         1"* ]]
}

@test "a folder: a row per backend over all files, and one per photo" {
    mkdir -p in/deep
    cp "$photo" in/a.jpg
    lapedge --quality=70 "$photo" in/deep/b.jpg
    echo text >in/notes.txt
    lapedge compare --json --backends=c,simd in >o.json
    json o.json 'o["files"] == 2 and o["failed"] == 0 and len(o["rows"]) == 2 and o["width"] is None and o["equal"]'
    wrong compare --json --backends=c,off-by-one in
    [ "$status" -eq 1 ]
    echo "$output" >o.json
    json o.json '[(p["input"], p["identical"], p["max_abs"], p["differing_pixels"], p["worst"], p["error"]) for p in sorted(o["photos"], key=lambda p: p["input"])] == [(n, False, 1, 1, "off-by-one", None) for n in ("in/a.jpg", "in/deep/b.jpg")]'
    json o.json 'all(p["width"] == 600 and p["decode_ms"] > 0 and p["c_ms"] >= p["fastest_ms"] > 0 for p in o["photos"])'
    json o.json 'o["rows"][1]["differing_pixels"] == 2 and o["rows"][1]["input"] in ("in/a.jpg", "in/deep/b.jpg")'
    head -c 20000 "$photo" >in/cut.jpg
    run --separate-stderr lapedge compare --json --backends=c,simd in
    [ "$status" -eq 2 ]
    [[ $stderr == "lapedge: in/cut.jpg: truncated"* ]]
    echo "$output" >o.json
    json o.json 'o["files"] == 2 and o["failed"] == 1 and not o["equal"]'
    json o.json '[(p["width"], "truncated" in p["error"]) for p in o["photos"] if p["error"]] == [(None, True)]'
    mkdir empty
    expect 2 "" "lapedge: empty: no photo found" compare empty
    ln -s ../in/deep empty/folder
    ln -s ../in/a.jpg empty/photo.jpg
    cp in/a.jpg empty
    run --separate-stderr lapedge compare --json --backends=c,simd empty
    [ "$status" -eq 0 ]
    [ "$stderr" = "lapedge: 2 symbolic links not followed" ]
    echo "$output" >o.json
    json o.json '[p["input"] for p in o["photos"]] == ["empty/a.jpg"]'
}

@test "a named rung that cannot run: its row, the reason, exit 3" {
    lapedge backends --json >backends.json
    json backends.json 'any(r["name"] == "cuda-fast" and not r["available"] for r in o["rows"])' || skip "cuda-fast runs here"
    run --separate-stderr lapedge compare --json --backends=c,cuda-fast "$photo"
    [ "$status" -eq 3 ]
    [[ $stderr == "lapedge: backend 'cuda-fast' cannot run here: "* ]]
    echo "$output" >o.json
    json o.json 'o["rows"][1]["reason"] and not o["rows"][1]["available"] and o["rows"][1]["max_abs"] is None and o["rows"][1]["ms"] is None'
    run --separate-stderr lapedge compare "$photo"
    [ "$status" -eq 0 ]
    [[ $output == *"cannot run here: "*"cuda-fast"* ]]
}

@test "what prevents the comparison: 2" {
    expect 2 "" "lapedge: IN is missing: lapedge compare IN" compare
    expect 2 "" "lapedge: compare takes one IN, an image or a folder" compare a b
    expect 2 "" "lapedge: no.jpg: no such file" compare no.jpg
    expect 2 "" 'lapedge: --backends: "pairwise" is not a backend of filter' compare --backends=pairwise "$photo"
    expect 2 "" "lapedge: --ops: filter is named twice" compare --ops=filter,filter "$photo"
    expect 2 "" "lapedge: --ops: reduce is named twice" compare --ops=all,reduce "$photo"
    expect 2 "" 'lapedge: --ops: "sum" is not a list of filter, transpose, reduce, histogram, matvec; or all' compare --ops=sum "$photo"
    expect 2 "" "lapedge: --heatmap does not apply to compare of reduce, only to compare of \
filter, compare of transpose" compare --ops=reduce --heatmap=m.png "$photo"
    run --separate-stderr lapedge compare --mask-border=300 "$photo"
    [ "$status" -eq 2 ]
    [[ $stderr == *"covers all of 600x400"* ]]
    cp "$photo" in.png
    expect 2 "" "lapedge: --heatmap: in.png is the input" compare --heatmap=in.png in.png
    cmp "$photo" in.png
}

@test "standard input, and a map where nothing differs" {
    run --separate-stderr lapedge compare -q --backends=simd --heatmap=map.png - <"$photo"
    [ "$status" -eq 0 ]
    [ -s map.png ]
}

@test "bench does not time a wrong rung: 1" {
    wrong bench --json --sizes=200x150 --runs=1 --backends=c,no-border
    [ "$status" -eq 1 ]
    [[ $stderr == "lapedge: filter no-border: refused: at x="* ]]
    echo "$output" >o.json
    json o.json 'o["rows"][-1]["backend"] == "no-border" and o["rows"][-1]["times_ms"] == [] and "refused" in o["rows"][-1]["reason"]'
}

@test "what is missing of a picture is a warning" {
    mkdir photos
    head -c 20000 "$photo" >photos/cut.jpg
    for in in photos/cut.jpg photos; do
        run --separate-stderr lapedge compare --fail-on=none --backends=c,simd --runs=1 --json-file=o.json $in
        [ "$status" -eq 0 ]
        [[ $stderr == "lapedge: photos/cut.jpg: warning: "*" (the first of 2)" ]]
        json o.json 'o["warnings"] == 2 and o["warning"].startswith("photos/cut.jpg: data ends ")'
    done
    json o.json '[p["warnings"] for p in o["photos"]] == [2] and o["warning"] == "photos/cut.jpg: " + o["photos"][0]["warning"]'
    run --separate-stderr lapedge compare -q --fail-on=none --backends=c --runs=1 photos/cut.jpg
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "the table of a folder is aligned whatever letters names have" {
    mkdir in
    for name in a.jpg grün.jpg $'gru\u0308n.jpg' 写真.jpg $'\x1b.jpg'; do cp "$photo" "in/$name"; done
    lapedge compare --backends=c in >table
    python3 - <<'PY'
import unicodedata
lines = open("table", encoding="utf-8").read().split("\n\n")[0].splitlines()
def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) == "W" else 1 for c in text)
assert len(lines) == 6 and lines[0].startswith("photo "), lines
assert {columns(line[:line.index("600x400") + 7]) for line in lines[1:]} == {lines[0].index("size") + 4}, lines
PY
}

@test "--fail-fast: a folder is compared until a photo fails, or a backend differs" {
    mkdir in
    cp "$photo" in/a.jpg
    cp "$photo" in/b.jpg
    wrong compare --fail-fast --runs=1 --json-file=o.json --backends=c,off-by-one in
    [ "$status" -eq 1 ]
    [ "$stderr" = "lapedge: stopped early, 1 left" ]
    json o.json '(o["files"], o["failed"], o["left"], o["equal"]) == (1, 0, 1, False)'
    head -c 20000 "$photo" >in/a.jpg
    run --separate-stderr lapedge compare --fail-fast --runs=1 --backends=c in
    [ "$status" -eq 2 ]
    [[ $stderr == "lapedge: in/a.jpg: truncated"*"lapedge: stopped early, 1 left" ]]
    cp "$photo" in/a.jpg
    run --separate-stderr lapedge compare --fail-fast --runs=1 --json-file=o.json --backends=c,simd in
    [ "$status" -eq 0 ]
    json o.json '(o["files"], o["left"]) == (2, 0)'
}
