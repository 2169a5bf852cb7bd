#!/usr/bin/env bats
# Statistics, against NumPy's.
# shellcheck disable=SC2154 # bats and common.bash set status, output, stderr, repo and photo
load common

numpy()
{
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "NumPy is not installed"
    /usr/bin/python3 -
}

@test "every figure equals NumPy's, of the picture and of its edges" {
    lapedge "$photo" in.ppm --kernel=identity
    lapedge "$photo" edges.ppm
    lapedge stats --json --threshold=100 "$photo" >stats.json
    numpy <<'PY'
import json, math, numpy as np
def ppm(path):
    data = open(path, "rb").read().split(b"\n", 3)
    w, h = map(int, data[1].split())
    return np.frombuffer(data[3], np.uint8).reshape(h, w, 3)
stats = json.load(open("stats.json"))
assert stats["schema"] == "lapedge.stats/1" and stats["threshold"] == 100 and stats["profiles"] is None
for name, path in (("input", "in.ppm"), ("edges", "edges.ppm")):
    pixels = ppm(path)
    for c, got in enumerate(stats[name]["channels"]):
        v = pixels[..., c].ravel()
        counts = np.bincount(v, minlength=256)
        share = counts[counts > 0] / v.size
        assert got["histogram"] == counts.tolist()
        assert got["name"] == ("red", "green", "blue")[c]
        assert (got["min"], got["max"], got["sum"]) == (v.min(), v.max(), v.astype(int).sum())
        assert got["mean"] == v.astype(int).sum() / v.size
        assert math.isclose(got["stddev"], v.astype(float).std(), rel_tol=1e-12)
        assert math.isclose(got["entropy"], -(share * np.log2(share)).sum(), rel_tol=1e-12)
        for p in (1, 50, 99):
            assert got[f"p{p}"] == np.percentile(v, p, method="inverted_cdf")
        assert got["above"] == (v >= 100).mean()
PY
}

@test "profiles are the means of rows and columns, or weighted sums" {
    lapedge --gray "$photo" edges.pgm
    seq 1 600 | sed 's/$/e-3/' >w600.txt
    lapedge stats --json --profiles "$photo" >mean.json
    lapedge stats --json --profiles --weights=w600.txt "$photo" >weighted.json
    numpy <<'PY'
import json, numpy as np
data = open("edges.pgm", "rb").read().split(b"\n", 3)
w, h = map(int, data[1].split())
plane = np.frombuffer(data[3], np.uint8).reshape(h, w).astype(float)
mean = json.load(open("mean.json"))["profiles"]
assert np.allclose(mean["rows"], plane.mean(1), rtol=1e-5) and np.allclose(mean["columns"], plane.mean(0), rtol=1e-5)
weighted = json.load(open("weighted.json"))["profiles"]
assert np.allclose(weighted["rows"], plane @ (np.arange(1, 601) * 1e-3), rtol=1e-5)
assert np.allclose(weighted["columns"], plane.mean(0), rtol=1e-5)
PY
}

@test "--stats of a run writes the same numbers" {
    lapedge "$photo" edges.jpg --stats=run.json --threads=3
    lapedge stats --json "$photo" >stats.json
    cmp <(grep -v '"path"' run.json) <(grep -v '"path"' stats.json)
}

@test "statistics name the filter, as compare does" {
    mkdir in
    cp "$photo" in/a.jpg
    for words in "" "--kernel=log5 --border=reflect --range=abs" \
        "--kernel=1,2,3,4,-20,4,3,2,1 --flip-kernel --border=constant:9 --scale=1/8 --offset=-3 --invert"; do
        # shellcheck disable=SC2086 # words
        {
            lapedge stats --json $words "$photo" >one.json
            lapedge $words "$photo" edges.png --stats=run.json
            lapedge stats --json $words --threshold=30 in 2>/dev/null >lines.jsonl
            lapedge compare --json --backends=c $words "$photo" >compare.json
        }
        head -1 lines.jsonl >first.json
        tail -1 lines.jsonl >last.json
        for name in one run first last; do
            python3 - $name.json <<'PY'
import json, sys
got, want = json.load(open(sys.argv[1])), json.load(open("compare.json"))
for key in "kernel border range coefficients scale offset invert".split():
    assert got[key] == want[key], key
assert got["threshold"] == (30 if sys.argv[1] in ("first.json", "last.json") else None)
PY
        done
    done
}

@test "plain text without a terminal, and a line a figure with --csv" {
    run lapedge stats "$photo"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 9 ]
    [[ ${lines[1]} == input*stddev*p99 ]]
    lapedge stats --csv "$photo" >out.csv
    [ "$(head -1 out.csv)" = "image,channel,figure,index,value" ]
    [ "$(grep -c ',histogram,' out.csv)" -eq 1536 ]
}

@test "fits the terminal" {
    needs_terminal
    for width in 60 80 200; do
        run script -qec "stty cols $width; TERM=dumb LC_ALL=C '$LAPEDGE' stats --profiles --threshold=9 '$photo'" /dev/null
        [ "$status" -eq 0 ]
        [ "${#lines[@]}" -gt 30 ]
        for line in "${lines[@]:1}"; do line=${line%$'\r'} && [ "${#line}" -le $width ]; done
        [[ $output == *entropy* ]] || [ $width -lt 80 ]
    done
}

# two photos, a grey one in a folder, and a file that is not a photo
album()
{
    mkdir -p album/deep
    cp "$photo" album/a.jpg
    cp "$repo/samples/chelsea.jpg" album/b.jpg
    lapedge --kernel=identity --gray --no-sync "$photo" album/deep/c.jpg
    echo text >album/notes.txt
}

@test "a folder: a line a photo as of the photo alone, then totals that are their sums" {
    album
    lapedge stats --json --threshold=100 -j2 album >lines 2>messages
    [ "$(wc -l <lines)" -eq 4 ]
    [[ $(tail -1 messages) == "3 measured;"* ]]
    grep -q "1 other file not taken: 1 .txt" messages
    # in the order of the walk, whatever -j
    for jobs in 1 4; do cmp <(head -3 lines) <(lapedge stats -q --json --threshold=100 -j$jobs album | head -3); done
    numpy <<'PY'
import json, subprocess, os
import numpy as np
lines = [json.loads(line) for line in open("lines")]
photos, totals = lines[:3], lines[3]
for photo in photos:
    alone = subprocess.run([os.environ["LAPEDGE"], "stats", "--json", "--threshold=100", photo["input"]["path"]],
                           capture_output=True, check=True)
    assert json.loads(alone.stdout) == photo
assert [p["input"]["path"] for p in photos][2] == "album/deep/c.jpg"
assert totals["schema"] == "lapedge.stats_totals/1" and totals["ok"] == totals["expected"] == 3 and totals["failed"] == 0
assert totals["pixels"] == 600 * 400 * 2 + 451 * 300 and totals["not_taken"]["kinds"] == {"txt": 1}
for key, of in (("color", photos[:2]), ("gray", photos[2:])):
    assert totals[key]["photos"] == len(of)
    for part in ("input", "edges"):
        for c, channel in enumerate(totals[key][part]["channels"]):
            counts = sum(np.array(p[part]["channels"][c]["histogram"]) for p in of)
            assert channel["histogram"] == counts.tolist()
            assert channel["mean"] == (counts * np.arange(256)).sum() / counts.sum()
            assert channel["above"] == counts[100:].sum() / counts.sum()
PY
}

@test "of several files: a table, CSV with the file before each row, patterns, a list" {
    album
    mv album/b.jpg 'album/b,".jpg'
    lapedge stats album >table 2>/dev/null
    [ "$(grep -c 'album/' table)" -eq 3 ]
    grep -q "^2 photos in colour together" table
    grep -q "^1 photo in gray together" table
    lapedge stats --csv album >out.csv 2>/dev/null
    python3 - <<'PY'
import csv
rows = list(csv.reader(open("out.csv", newline="")))
assert rows[0] == ["file", "image", "channel", "figure", "index", "value"] and all(len(row) == 6 for row in rows)
files = {row[0] for row in rows[1:]}
assert files == {"album/a.jpg", 'album/b,".jpg', "album/deep/c.jpg", ""}, files
def sums(file):
    return {(row[1], row[2]): int(row[5]) for row in rows if row[0] == file and row[3] == "sum"}
for key, total in sums("").items():
    assert total == sum(sums(file).get(key, 0) for file in files - {""})
PY
    [ "$(lapedge stats -q --json --exclude=deep album | wc -l)" -eq 3 ]
    echo bad >album/bad.png
    [ "$(lapedge stats -q --json --ext=png,jpg album 2>/dev/null | grep -c stats_failed)" -eq 1 ]
    lapedge stats -q --json "$photo" album/a.jpg >two
    [ "$(wc -l <two)" -eq 3 ]
    printf '%s\0' album/a.jpg album/deep/c.jpg | lapedge stats -q --json -0 --files-from=- >listed
    [ "$(wc -l <listed)" -eq 3 ]
    lapedge stats -q --json-file=lines.jsonl album
    [ "$(wc -l <lines.jsonl)" -eq 4 ]
}

@test "a photo that is named twice is measured once, however it is named; hard links are two photos" {
    album
    lapedge stats -q --json album >once
    ln -s album alias
    find album -name '*.jpg' >list && cat list list >twice
    for words in "album album" "album album/a.jpg" "album ./album/deep" "album $PWD/album/deep/c.jpg alias" --files-from=twice; do
        # shellcheck disable=SC2086 # words
        lapedge stats -q --json $words >more.json
        diff <(head -3 once | sort) <(head -3 more.json | sort)
        [ "$(wc -l <more.json)" -eq 4 ]
        json <(tail -1 more.json) 'o["expected"] == o["ok"] == 3'
    done
    mkdir other && ln album/a.jpg other/a.jpg && ln album/a.jpg other/b.jpg
    lapedge stats -q --json album other >more.json
    json <(tail -1 more.json) 'o["ok"] == 5'
    # What is missing is an error each time.
    run --separate-stderr lapedge stats -q --json album none.jpg none.jpg
    [ "$(grep -c 'none.jpg: no such file' <<<"$stderr")" -eq 2 ]
}

@test "of several files: errors are named, and the exit code is that of a folder run" {
    album
    head -c 20000 "$photo" >album/cut.jpg
    run --separate-stderr lapedge stats -q --json album
    [ "$status" -eq 1 ]
    [ "$(grep -c '"lapedge.stats/1"' <<<"$output")" -eq 3 ]
    grep '"lapedge.stats_failed/1"' <<<"$output" >failed.json
    json failed.json 'o["input"] == "album/cut.jpg" and o["error"]["kind"] == "truncated"'
    tail -1 <<<"$output" >totals.json
    json totals.json 'o["failed"] == 1 and o["kinds"] == {"truncated": 1} and o["expected"] == 4'
    [[ $stderr == "lapedge: album/cut.jpg: truncated"* ]]
    mkdir broken empty
    cp album/cut.jpg broken
    run lapedge stats -q broken
    [ "$status" -eq 4 ]
    run lapedge stats empty
    [ "$status" -eq 4 ]
    [[ $output == *"no photo found"* ]]
    run lapedge stats -q --fail-fast -j1 broken/cut.jpg album
    [ "$status" -eq 1 ]
    [[ $output != *deep* ]]
    expect 2 "" "lapedge: - cannot be used with folders or several files" stats - album
    expect 2 "" "lapedge: --null needs --files-from" stats -0 album
    expect 2 "" "lapedge: --report does not apply to stats of folders, only to stats" stats --report=p.html album
    expect 2 "" "lapedge: --include does not apply to stats, only to stats of folders" stats --include='*' "$photo"
}

@test "wrong words are refused" {
    expect 2 "" "lapedge: IN is missing: lapedge stats IN" stats
    expect 2 "" "lapedge: --json and --csv cannot be combined" stats --json --csv "$photo"
    expect 2 "" "lapedge: --weights needs --profiles" stats --weights=w "$photo"
    echo 1 2 3 >w
    expect 2 "" "lapedge: $photo: 3 weights: expected 600 (for rows), 400 (for columns) or 1000 (both)" \
        stats --profiles --weights=w "$photo"
    run --separate-stderr lapedge stats --profiles --weights=w "$photo" "$repo/samples/chelsea.jpg"
    [ "$status" -eq 4 ]
    [[ $stderr == *"$repo/samples/chelsea.jpg: 3 weights: expected 451 "* ]]
    for word in x nan inf 1e400 1e39 -1e39 1e-400 0x10 1x ","; do
        echo "1, $word" >w
        expect 2 "" "lapedge: --weights: w: number 2 is not a decimal number, or out of range" stats --profiles --weights=w "$photo"
    done
    : >w
    expect 2 "" "lapedge: --weights: w: has no numbers" stats --profiles --weights=w "$photo"
    expect 2 "" "lapedge: --weights: .: cannot be read: Is a directory" stats --profiles --weights=. "$photo"
    { seq -s ';' 599; echo 1e-30; } >w
    lapedge stats -q --profiles --weights=w "$photo"
}

@test "a broken picture has no statistics" {
    head -c 20000 "$photo" >cut.jpg
    run --separate-stderr lapedge stats --json cut.jpg
    [ "$status" -eq 1 ]
    grep -q "lapedge.error/1" <<<"$output"
    [[ $stderr == "lapedge: cut.jpg: truncated"* ]]
}

@test "--csv: no name is a formula, and numbers are numbers" {
    mkdir album
    cd album
    for name in '=1+1' '+1' '@a' '-1' "'=1" '=a,"b"' $'\uff1dA1' 'a=b' plain; do
        cp "$photo" "./$name.jpg"
    done
    lapedge stats --csv -- *.jpg >../out.csv 2>/dev/null
    python3 - <<'END'
import csv, os
rows = list(csv.DictReader(open("../out.csv", newline="", encoding="utf-8")))
cells = {row["file"] for row in rows} - {""}
assert not [cell for cell in cells if cell[0] in "=+-@\t\r\uff1d"], cells
assert {cell[1:] if cell[0] == "'" else cell for cell in cells} == set(os.listdir(".")), cells
assert "a=b.jpg" in cells and "plain.jpg" in cells
assert all(float(row["value"]) >= 0 for row in rows)
END
}

@test "a folder that cannot be examined once does not change the form of the output" {
    strace -qq -o /dev/null true 2>/dev/null || skip "strace cannot trace here"
    mkdir album
    cp "$photo" album
    lapedge stats --json album >want 2>/dev/null
    local nth
    for nth in 1 2 3 4 5; do
        strace -f -qq -o /dev/null -P album -e trace=newfstatat -e inject=newfstatat:error=EIO:when=$nth \
            "$LAPEDGE" stats --json album >got 2>/dev/null || true
        if grep -q lapedge.error/1 got; then
            json got 'o["error"]["kind"] == "unreadable" and o["exit_code"] == 1'
        else
            [ "$(wc -l <got)" -eq "$(wc -l <want)" ]
            # Some C libraries read the folder a second time, which prints a second line.
            [ "$(head -1 got)" = "$(head -1 want)" ] || head -1 got | grep -q '"lapedge.stats_failed/1".*"kind":"unreadable"'
        fi
    done
    strace -f -qq -o /dev/null -P album -e trace=newfstatat -e inject=newfstatat:error=EIO \
        "$LAPEDGE" stats album 2>said && return 1
    grep -q "album: cannot be examined: Input/output error" said
}

@test "photos of whose edges a mask leaves nothing are counted" {
    pgm 40 30 a.pgm
    pgm 400 300 b.pgm
    run --separate-stderr lapedge stats --mask-border=15 a.pgm b.pgm
    [ "$status" -eq 0 ]
    [[ $stderr == *"lapedge: --mask-border covers all edges of 1 photo" ]]
    lapedge stats --json --mask-border=15 a.pgm b.pgm 2>/dev/null | tail -n 1 >totals.json
    json totals.json 'o["masked_out"] == 1 and o["gray"]["photos"] == 2'
}

@test "what is missing of a picture is a warning, of one image as of a folder" {
    mkdir photos
    head -c 20000 "$photo" >photos/cut.jpg
    run --separate-stderr lapedge stats --fail-on=none photos
    [ "$status" -eq 0 ]
    warning=$(grep warning <<<"$stderr")
    [[ $warning == "lapedge: photos/cut.jpg: warning: "* ]]
    for option in "" --csv --mask-border=2 "--json-file=o.json"; do
        # shellcheck disable=SC2086 # an option, or none
        run --separate-stderr lapedge stats --fail-on=none $option photos/cut.jpg
        [ "$status" -eq 0 ]
        [ "$stderr" = "$warning" ]
        [ -n "$output" ]
    done
    json o.json 'o["warnings"] == 2 and o["warning"] in """'"$warning"'"""'
    run --separate-stderr lapedge stats --fail-on=none --mask-border=2 photos
    [[ $stderr == *"$warning"* ]]
    run --separate-stderr lapedge stats -q --csv --fail-on=none photos/cut.jpg
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    lapedge stats --json "$photo" >o.json
    json o.json 'o["warnings"] == 0 and o["warning"] is None'
}
